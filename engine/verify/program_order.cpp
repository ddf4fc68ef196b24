#include "engine/verify/order.hpp"

#include <set>

namespace pto::verify {

bool finishes_in_program_order(const SyncIndex& x) {
    const Trace& t = x.trace;
    std::vector<std::int32_t> at, counter_sets(x.counters.size(), 0), counter_waits(x.counters.size(), 0), flag_sets(x.flags.size(), 0), flag_waits(x.flags.size(), 0);
    std::set<std::pair<std::int8_t, std::int16_t>> held;
    for (const TraceCore& c : t.cores) at.push_back(c.first_event);
    const auto meets = [&](const Event& e, std::size_t core) { // sync_all takes part of its kinds
        return isa::SyncCoreType(e.mode) == isa::SyncCoreType::mix || t.cores[core].kind == t.cores[std::size_t(e.core)].kind;
    };
    const auto passes = [&](std::int32_t i) {
        const Event& e = t.events[std::size_t(i)];
        switch (e.act) {
        case Act::cross_set:
            for (std::int32_t k : x.counters_of[std::size_t(i)])
                if (k >= 0) ++counter_sets[std::size_t(k)];
            return true;
        case Act::cross_wait:
            for (std::int32_t k : x.counters_of[std::size_t(i)])
                if (k >= 0 && counter_sets[std::size_t(k)] <= counter_waits[std::size_t(k)]) return false;
            for (std::int32_t k : x.counters_of[std::size_t(i)])
                if (k >= 0) ++counter_waits[std::size_t(k)];
            return true;
        case Act::flag_set: ++flag_sets[std::size_t(x.flag_of[std::size_t(i)])]; return true;
        case Act::flag_wait: {
            const auto f = std::size_t(x.flag_of[std::size_t(i)]);
            return flag_sets[f] > flag_waits[f] && (++flag_waits[f], true);
        }
        case Act::lock: return held.emplace(e.core, e.id).second;
        case Act::unlock: held.erase({e.core, e.id}); return true;
        case Act::sync_all: {
            for (std::size_t c = 0; c < t.cores.size(); ++c) {
                if (!meets(e, c) || std::int32_t(c) == e.core) continue;
                const bool there = at[c] < t.cores[c].last_event && t.events[std::size_t(at[c])].act == Act::sync_all && t.events[std::size_t(at[c])].mode == e.mode;
                if (!there) return false;
            }
            for (std::size_t c = 0; c < t.cores.size(); ++c)
                if (meets(e, c) && std::int32_t(c) != e.core) ++at[c];
            return true;
        }
        default: return true;
        }
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t c = 0; c < t.cores.size(); ++c)
            while (at[c] < t.cores[c].last_event && passes(at[c])) ++at[c], moved = true;
    }
    for (std::size_t c = 0; c < t.cores.size(); ++c)
        if (at[c] < t.cores[c].last_event) return false;
    return true;
}

} // namespace pto::verify
