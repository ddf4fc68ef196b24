#include "engine/execute/findings.hpp"

#include <algorithm>

namespace pto::execute {

std::string_view name(HazardKind kind) {
    switch (kind) {
    case HazardKind::race: return "race";
    case HazardKind::block_race: return "block race";
    case HazardKind::same_pipe: return "same pipe";
    case HazardKind::flag_twice: return "flag set twice";
    case HazardKind::flag_left: return "flag left";
    case HazardKind::counter_left: return "counter left";
    case HazardKind::counter_overflow: return "counter overflow";
    case HazardKind::lock_left: return "lock left";
    case HazardKind::lock_unbalanced: return "lock unbalanced";
    case HazardKind::unit_flag: return "unit flag";
    case HazardKind::uninitialised: return "uninitialised";
    case HazardKind::beyond_shape: return "beyond shape";
    case HazardKind::register_order: return "register order";
    case HazardKind::uninitialised_register: return "uninitialised register";
    case HazardKind::contract: return "contract";
    }
    return "?";
}

std::string text(const program::Iterations& iterations) {
    std::string s;
    for (int i = 0; i < iterations.count; ++i)
        s += (i ? ", " : "") + std::to_string(iterations.at[std::size_t(i)]);
    return s;
}
std::string when(const Place& p) {
    if (p.task >= 0) return " (task " + std::to_string(p.task) + ")";
    return p.iterations.count ? " (iteration " + text(p.iterations) + ")" : "";
}

namespace {

/// One operation of one core, as a number.
std::int64_t occurrence(const Place& p) {
    const std::int64_t core = p.core.kind == isa::Core::cube ? 0 : 1 + p.core.subblock;
    return (p.sequence << 18) + std::int64_t(p.core.block) * 4 + core;
}

} // namespace

Hazard* Findings::find(HazardKind kind, const Place& first, const Place& second, isa::MemorySpace memory, bool& fresh) {
    fresh = false;
    KeyType key{kind, first.at, first.operation, second.at, second.operation, memory};
    auto found = m_index.find(key);
    if (found == m_index.end()) {
        if (std::int32_t(m_list.size()) >= m_limit) return nullptr;
        fresh = true;
        found = m_index.emplace(std::move(key), m_list.size()).first;
        Hazard h;
        h.kind = kind;
        h.first = first;
        h.second = second;
        h.memory = memory;
        m_list.push_back(std::move(h));
    } else {
        Hazard& known = m_list[found->second];
        // Two operands of one operation are one occurrence.
        if (known.last_first != occurrence(first) || known.last_second != occurrence(second)) ++known.count;
    }
    Hazard& h = m_list[found->second];
    h.last_first = occurrence(first);
    h.last_second = occurrence(second);
    if (h.times.size() < 8 && (first.iterations.count || second.iterations.count)) {
        std::pair<std::string, std::string> pair{text(first.iterations), text(second.iterations)};
        if (std::find(h.times.begin(), h.times.end(), pair) == h.times.end()) h.times.push_back(std::move(pair));
    }
    if (h.tasks.size() < 8 && (first.task >= 0 || second.task >= 0)) {
        std::pair<std::int64_t, std::int64_t> pair{first.task, second.task};
        if (std::find(h.tasks.begin(), h.tasks.end(), pair) == h.tasks.end()) h.tasks.push_back(pair);
    }
    return &h;
}

void Findings::say(HazardKind kind, bool is_error, const Place& at, std::string message, std::string repair,
                   std::string order) {
    bool fresh = false;
    if (Hazard* h = find(kind, at, isa::MemorySpace::ddr, fresh); h && fresh) {
        h->is_error = is_error;
        h->message = std::move(message);
        h->repair = std::move(repair);
        h->order = std::move(order);
    }
}

Place Findings::place_of(const LoggedAccess& a) {
    Place p;
    if (a.site) {
        p.at = a.site->at;
        p.operation = a.site->name;
    }
    p.core = a.core;
    p.pipe = isa::Pipe(a.pipe % pipes_per_core);
    if (a.stages && a.stage >= 0) p.stage = (*a.stages)[std::size_t(a.stage)];
    p.task = a.task;
    p.sequence = a.sequence;
    p.iterations = a.iterations;
    p.writes = a.access.write;
    return p;
}

bool Findings::has_errors() const {
    return std::any_of(m_list.begin(), m_list.end(), [](const Hazard& h) { return h.is_error; });
}

std::vector<Hazard> Findings::take() { return std::move(m_list); }

} // namespace pto::execute
