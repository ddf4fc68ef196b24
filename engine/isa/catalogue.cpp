#include "engine/isa/catalogue.hpp"

#include "engine/base/spelling.hpp"
#include "engine/isa/families.hpp"

#include <algorithm>
#include <stdexcept>

namespace pto::isa {

const Operand* OpRow::operand(std::string_view wanted) const {
    for (const Operand& o : operands)
        if (o.name == wanted) return &o;
    return nullptr;
}
const Keyword* OpRow::keyword(std::string_view wanted) const {
    int i = keyword_index(wanted);
    return i < 0 ? nullptr : &keywords[std::size_t(i)];
}
int OpRow::keyword_index(std::string_view wanted) const {
    for (std::size_t i = 0; i < keywords.size(); ++i)
        if (keywords[i].name == wanted) return int(i);
    return -1;
}

const OpRow& Catalogue::add(OpRow row) {
    if (m_by_name.count(row.name)) throw std::invalid_argument("two rows for " + std::string(row.name));
    m_rows.push_back(std::move(row));
    const OpRow& stored = m_rows.back();
    m_by_name.emplace(stored.name, &stored);
    if (!stored.form.of.empty()) m_forms.emplace(stored.form.of, &stored);
    return stored;
}

const OpRow* Catalogue::find(std::string_view name) const {
    auto found = m_by_name.find(name);
    return found == m_by_name.end() ? nullptr : found->second;
}

const OpRow* Catalogue::choose(std::string_view name, const CallShape& call) const {
    auto fits = [&](const Form& f) {
        if (!f.keyword.empty() && std::find(call.keywords.begin(), call.keywords.end(), f.keyword) == call.keywords.end()) return false;
        if (f.positional >= 0 && call.positional.size() != std::size_t(f.positional)) return false;
        return f.at < 0 || (std::size_t(f.at) < call.positional.size() && call.positional[std::size_t(f.at)] == f.kind);
    };
    auto [first, last] = m_forms.equal_range(name);
    for (auto at = first; at != last; ++at)
        if (fits(at->second->form)) return at->second;
    return find(name);
}

std::vector<std::string_view> Catalogue::nearest(std::string_view name) const {
    std::vector<std::pair<std::size_t, std::string_view>> scored;
    for (const OpRow& r : m_rows)
        if (r.hidden_for.empty() && r.form.of.empty())
            if (std::size_t d = edit_distance(name, r.name); d <= suggestion_limit(name)) scored.emplace_back(d, r.name);
    std::sort(scored.begin(), scored.end());
    std::vector<std::string_view> best;
    for (std::size_t i = 0; i < scored.size() && i < 3; ++i) best.push_back(scored[i].second);
    return best;
}

const Catalogue& Catalogue::builtin() {
    static const Catalogue all = copy_of_builtin();
    return all;
}

Catalogue Catalogue::copy_of_builtin() {
    Catalogue c;
    add_movement(c);
    add_cube(c);
    add_vector(c);
    add_scalar(c);
    add_sync(c);
    add_debug(c);
    add_registers(c);
    add_constructs(c);
    return c;
}

} // namespace pto::isa
