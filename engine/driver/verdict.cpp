#include "engine/driver/memory.hpp"
#include "engine/driver/report_sync.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace pto::driver {

using json = nlohmann::ordered_json;

namespace {

bool open(const verify::Verdict& v, std::initializer_list<verify::HazardKind> kinds) {
    return std::any_of(v.hazards.begin(), v.hazards.end(), [&](const verify::Hazard& h) {
        return h.is_error && std::find(kinds.begin(), kinds.end(), h.kind) != kinds.end();
    });
}

} // namespace

json verdict_json(const Compiled& c) {
    if (!c.verdict) return {{"status", "not run"}, {"checked_by", ""}};
    const verify::Verdict& v = *c.verdict;
    json hazards = json::array(), ids = json::array();
    for (const verify::Hazard& h : v.hazards)
        hazards.push_back({{"kind", verify::name(h.kind)},
                           {"severity", h.is_error ? "error" : "warning"},
                           {"message", h.message},
                           {"missing", h.missing},
                           {"repair", h.repair},
                           {"what", h.what},
                           {"count", h.count},
                           {"tasks", h.tasks},
                           {"witness", h.witness}});
    for (const verify::IdFacts& i : v.ids)
        ids.push_back({{"id", i.id},
                       {"direction", i.to_vector ? "cube to vector" : "vector to cube"},
                       {"sets", i.sets},
                       {"waits", i.waits},
                       {"max_pending", i.max_pending},
                       {"growing", i.growing}});
    return {{"status", verify::name(v.status)},
            {"checked_by", "verifier"},
            {"summary", verify::summary(v)},
            {"reason", v.reason},
            {"checked_tasks", v.status == verify::Status::checked ? json(v.checked_tasks) : json(nullptr)},
            {"assumptions", v.assumptions},
            {"coverage", v.coverage.text},
            {"ids", std::move(ids)},
            {"hazards", std::move(hazards)}};
}

void fill_proof(const Compiled& c, report::Proof& p) {
    p.limit = c.chip ? c.chip->cross_core_limit : 15;
    if (!c.verdict) {
        p.open.push_back("the verifier did not run");
        return;
    }
    using K = verify::HazardKind;
    const verify::Verdict& v = *c.verdict;
    bool growing = std::any_of(v.ids.begin(), v.ids.end(), [](const verify::IdFacts& i) { return i.growing; });
    p.no_hang = !open(v, {K::hang, K::lock_unbalanced, K::scalar_fault});
    p.no_race = !open(v, {K::race});
    p.bounded = !open(v, {K::counter_overflow, K::flag_twice}) && !growing;
    p.balanced = !open(v, {K::counter_left, K::lock_left});
    p.max_pending = 0;
    for (const verify::IdFacts& i : v.ids) p.max_pending = std::max<std::int32_t>(p.max_pending, std::int32_t(i.max_pending));
    p.checked_tasks = v.status == verify::Status::checked ? std::int32_t(v.checked_tasks) : -1;
    p.assumes = c.kernel() && c.kernel()->auto_mutex ? "auto_mutex keeps the order inside each core" : "explicit flags inside each core";
    for (const verify::Hazard& h : v.hazards)
        if (h.is_error) p.open.push_back(h.message);
    if (!v.reason.empty()) p.open.push_back(v.reason);
}

std::vector<std::int32_t> max_pending(const Compiled& c) {
    std::vector<std::int32_t> out;
    if (!c.verdict) return out;
    for (const verify::IdFacts& i : c.verdict->ids) {
        if (i.id < 0 || i.id > 31) continue;
        if (out.size() <= std::size_t(i.id)) out.resize(std::size_t(i.id) + 1, 0);
        out[std::size_t(i.id)] = std::max(out[std::size_t(i.id)], std::int32_t(i.max_pending));
    }
    return out;
}

} // namespace pto::driver
