/// What waits for what in a trace, before anything fires: counters, flags, locks, and the pipes they tie.

#include "engine/verify/order.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace pto::verify {

SyncIndex::SyncIndex(const Trace& t, const machine::Chip& chip) : trace(t) {
    in_order_v = chip.arch == "a5" || chip.arch.empty();
    wait_stops_core = chip.wait_stops_all_pipes;
    const std::size_t n = t.events.size();
    gate.assign(n, -1);
    counters_of.assign(n, {-1, -1});
    flag_of.assign(n, -1);
    ticket_begin.assign(n + 1, 0);
    unlock_of.assign(n, -1);
    finals_before.assign(n, 0);

    std::map<std::tuple<int, int, int, int>, std::int32_t> counter_at; // mode, id, from, to
    std::map<std::tuple<int, int, int, int>, std::int32_t> flag_at;    // core, set, wait, id
    std::map<std::pair<int, int>, std::int32_t> lock_at;               // core, id
    std::map<std::pair<int, int>, std::vector<std::int32_t>> open;     // lock, pipe -> tickets of hand-written locks not yet released
    std::map<std::tuple<int, std::int64_t, bool>, std::int32_t> finals; // core, unit, is store

    std::array<std::int32_t, max_cores> vector_core{-1, -1, -1};
    std::int32_t cube_core = -1;
    for (std::size_t c = 0; c < t.cores.size(); ++c) {
        if (t.cores[c].kind == isa::Core::cube) cube_core = std::int32_t(c);
        else vector_core[std::size_t(t.cores[c].subblock)] = std::int32_t(c);
    }
    const auto counter = [&](int mode, int id, int from, int to) {
        auto [it, fresh] = counter_at.emplace(std::tuple{mode, id, from, to}, std::int32_t(counters.size()));
        if (fresh) counters.push_back({std::int16_t(id), std::uint8_t(mode), std::int8_t(from), std::int8_t(to), {}, {}, {}, {}});
        return it->second;
    };
    const auto lock_index = [&](int core, int id) {
        auto [it, fresh] = lock_at.emplace(std::pair{core, id}, std::int32_t(locks.size()));
        if (fresh) locks.push_back({std::int8_t(core), std::int16_t(id), {}});
        return it->second;
    };

    for (std::size_t c = 0; c < t.cores.size(); ++c) {
        std::int32_t last_gate = -1;
        for (std::int32_t i = t.cores[c].first_event; i < t.cores[c].last_event; ++i) {
            const Event& e = t.events[std::size_t(i)];
            gate[std::size_t(i)] = last_gate;
            if (is_gate(e)) last_gate = i;
            lanes[std::size_t(e.lane())].push_back(i);
            ticket_begin[std::size_t(i)] = std::int32_t(tickets.size());
            const bool from_cube = t.cores[c].kind == isa::Core::cube;

            if (e.act == Act::cross_set || e.act == Act::cross_wait) {
                using Mode = isa::CrossCoreSyncMode;
                const bool set = e.act == Act::cross_set;
                std::array<std::int32_t, 2> mine{-1, -1};
                const auto peer = [&](int slot, int vector, int id) {
                    if (vector < 0) return;
                    const int cube = cube_core < 0 ? int(c) : cube_core;
                    // A set of the cube goes to the vector core; a wait of the cube comes from it.
                    const bool to_vector = from_cube == set;
                    mine[std::size_t(slot)] = to_vector ? counter(int(Mode::intra_block), id, cube, vector) : counter(int(Mode::intra_block), id, vector, cube);
                };
                switch (Mode(e.mode)) {
                case Mode::intra_block:
                    if (from_cube) peer(0, vector_core[0], e.id), peer(1, vector_core[1], e.id);
                    else peer(0, int(c), e.id);
                    break;
                case Mode::unicast_block:
                    if (from_cube) peer(0, vector_core[e.id >= 16], e.id % 16);
                    else peer(0, int(c), e.id % 16);
                    break;
                default: { // a set reaches every core of the kind, each wait needs a set of all of them; other blocks do the same (A8)
                    int slot = 0;
                    for (std::size_t o = 0; o < t.cores.size(); ++o)
                        if (t.cores[o].kind == t.cores[c].kind && slot < 2) mine[std::size_t(slot++)] = set ? counter(e.mode, e.id, int(c), int(o)) : counter(e.mode, e.id, int(o), int(c));
                }
                }
                counters_of[std::size_t(i)] = mine;
                for (std::int32_t k : mine) {
                    if (k < 0) continue;
                    Counter& x = counters[std::size_t(k)];
                    (set ? x.sets : x.waits).push_back(i);
                    (set ? x.set_lanes : x.wait_lanes).set(std::size_t(e.lane()));
                }
            }
            if (e.act == Act::flag_set || e.act == Act::flag_wait) {
                auto [it, fresh] = flag_at.emplace(std::tuple{int(c), int(e.set_pipe), int(e.wait_pipe), int(e.id)}, std::int32_t(flags.size()));
                if (fresh) flags.push_back({std::int8_t(c), e.set_pipe, e.wait_pipe, e.id, {}, {}});
                flag_of[std::size_t(i)] = it->second;
                (e.act == Act::flag_set ? flags[std::size_t(it->second)].sets : flags[std::size_t(it->second)].waits).push_back(i);
            }
            for (int k = 0; k < e.lock_count; ++k) {
                const std::int32_t l = lock_index(int(c), e.locks[std::size_t(k)]);
                tickets.push_back({l, std::int32_t(locks[std::size_t(l)].tickets.size())});
                locks[std::size_t(l)].tickets.push_back({i, i});
            }
            if (e.act == Act::lock) {
                const std::int32_t l = lock_index(int(c), e.id);
                const auto ticket = std::int32_t(locks[std::size_t(l)].tickets.size());
                tickets.push_back({l, ticket});
                locks[std::size_t(l)].tickets.push_back({i, -1});
                open[{l, e.pipe}].push_back(ticket);
            }
            if (e.act == Act::unlock) {
                const std::int32_t l = lock_index(int(c), e.id);
                auto& held = open[{l, e.pipe}];
                if (held.empty()) stray_unlocks.push_back(i);
                else {
                    unlock_of[std::size_t(i)] = std::int32_t(unlocks.size());
                    unlocks.push_back({l, held.back()});
                    locks[std::size_t(l)].tickets[std::size_t(held.back())].release = i;
                    held.pop_back();
                }
            }
            if (e.unit_matmul || e.unit_store) {
                std::int32_t& count = finals[{int(c), e.unit, e.unit_store}];
                finals_before[std::size_t(i)] = count;
                if (e.unit_final) ++count;
            }
        }
    }
    ticket_begin[n] = std::int32_t(tickets.size());
    for (std::size_t i = n; i-- > 0;) ticket_begin[i] = std::min(ticket_begin[i], ticket_begin[i + 1]);
    rival.assign(n, 0);
    for (const Counter& c : counters)
        if (c.wait_lanes.count() > 1)
            for (std::int32_t w : c.waits) rival[std::size_t(w)] = 1;
}

} // namespace pto::verify
