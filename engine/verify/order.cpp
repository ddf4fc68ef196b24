#include "engine/verify/order.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace pto::verify {
namespace {

constexpr std::int8_t scalar_pipe = std::int8_t(isa::Pipe::s);

void join(Clock& into, const Clock& other) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], other[k]);
}

} // namespace

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

namespace {

class Runner {
  public:
    Runner(const SyncIndex& x, bool clocks, std::array<std::int32_t, 2> held, std::int32_t until) : m_x(x), m_t(x.trace), m_clocks(clocks), m_held(held), m_until(until) {
        const std::size_t n = m_t.events.size();
        m_out.fired.assign(n, 0);
        m_out.order.reserve(n);
        m_out.counter_sets.assign(x.counters.size(), 0), m_out.counter_waits = m_out.counter_sets;
        m_out.flag_sets.assign(x.flags.size(), 0), m_out.flag_waits = m_out.flag_sets;
        m_next_ticket.resize(x.locks.size());
        for (std::size_t l = 0; l < x.locks.size(); ++l) m_released.emplace_back(x.locks[l].tickets.size(), 0);
        if (clocks) {
            m_out.start.assign(n, Clock{});
            m_post.assign(n, Clock{});
            m_counter_clocks.resize(x.counters.size());
            m_flag_clocks.resize(x.flags.size());
            m_lock_clocks.resize(x.locks.size());
        }
    }

    Firing run(bool reverse) {
        advance(reverse, false);
        m_out.finished = m_out.order.size() == m_t.events.size();
        return std::move(m_out);
    }
    /// Fires until nothing more can; `leave_rivals` stops at waits that compete.
    void advance(bool reverse, bool leave_rivals) {
        for (bool moved = true; moved;) {
            moved = false;
            for (int k = 0; k < lane_count; ++k) {
                const int lane = reverse ? lane_count - 1 - k : k;
                while (m_out.head[std::size_t(lane)] < std::int32_t(m_x.lanes[std::size_t(lane)].size())) {
                    const std::int32_t i = m_x.lanes[std::size_t(lane)][std::size_t(m_out.head[std::size_t(lane)])];
                    if (leave_rivals && m_x.rival[std::size_t(i)]) break;
                    if (m_t.events[std::size_t(i)].act == Act::sync_all ? !meet(i) : !can_fire(i)) break;
                    if (m_t.events[std::size_t(i)].act != Act::sync_all) act(i, nullptr);
                    moved = true;
                    if (i == m_until) return;
                }
            }
        }
    }
    std::vector<std::int32_t> enabled_rivals() {
        std::vector<std::int32_t> list;
        for (int lane = 0; lane < lane_count; ++lane) {
            if (m_out.head[std::size_t(lane)] >= std::int32_t(m_x.lanes[std::size_t(lane)].size())) continue;
            const std::int32_t i = m_x.lanes[std::size_t(lane)][std::size_t(m_out.head[std::size_t(lane)])];
            if (m_x.rival[std::size_t(i)] && can_fire(i)) list.push_back(i);
        }
        return list;
    }
    void choose(std::int32_t i) { act(i, nullptr); }
    const Firing& state() const { return m_out; }
    bool finished() const { return m_out.order.size() == m_t.events.size(); }
    const std::vector<std::vector<Clock>>& counter_clocks() const { return m_counter_clocks; }
    void expect(std::vector<std::vector<Clock>> all_sets) { m_expected = std::move(all_sets); }
    void demand(std::vector<std::int32_t> sets) { m_demanded = std::move(sets); } // per event: sets of its counters before it passes

  private:
    /// Is the event, and with it everything earlier on its pipe, complete once it fired?
    bool completes(const Event& e) const {
        for (std::int32_t k : m_held)
            if (k >= 0 && e.lane() == m_t.events[std::size_t(k)].lane() && e.index >= m_t.events[std::size_t(k)].index) return false;
        return true;
    }
    bool drained(const Event& e) const { // everything earlier on its core is complete
        if (m_fired_on[std::size_t(e.core)] < e.order) return false;
        for (std::int32_t k : m_held)
            if (k >= 0 && m_t.events[std::size_t(k)].core == e.core && m_t.events[std::size_t(k)].order <= e.order && m_out.fired[std::size_t(k)]) return false;
        return true;
    }
    bool gate_open(std::int32_t i) const {
        const std::int32_t g = m_x.gate[std::size_t(i)];
        return g < 0 || (m_out.fired[std::size_t(g)] && g != m_held[0] && g != m_held[1]);
    }
    bool can_fire(std::int32_t i) {
        const Event& e = m_t.events[std::size_t(i)];
        if (!gate_open(i)) return false;
        for (std::int32_t k : m_held) {
            if (k < 0) continue;
            const Event& h = m_t.events[std::size_t(k)];
            const bool in_order = e.pipe == scalar_pipe || (m_x.in_order_v && e.pipe == std::int8_t(isa::Pipe::v)) || e.act == Act::barrier;
            if (in_order && e.lane() == h.lane() && e.index > h.index && m_out.fired[std::size_t(k)]) return false;
        }
        switch (e.act) {
        case Act::barrier_all: return drained(e);
        case Act::flag_wait: {
            const auto f = std::size_t(m_x.flag_of[std::size_t(i)]);
            if (m_out.flag_sets[f] <= m_out.flag_waits[f]) return false;
            break;
        }
        case Act::cross_wait:
            for (std::int32_t k : m_x.counters_of[std::size_t(i)]) {
                if (k < 0) continue;
                if (m_out.counter_sets[std::size_t(k)] <= m_out.counter_waits[std::size_t(k)]) return false;
                if (!m_demanded.empty() && m_out.counter_sets[std::size_t(k)] < m_demanded[std::size_t(i)]) return false;
            }
            break;
        default: break;
        }
        for (std::int32_t r = m_x.ticket_begin[std::size_t(i)]; r < m_x.ticket_begin[std::size_t(i) + 1]; ++r) {
            const auto [lock, ticket] = m_x.tickets[std::size_t(r)];
            const auto& tickets = m_x.locks[std::size_t(lock)].tickets;
            std::int32_t& first = m_next_ticket[std::size_t(lock)];
            while (first < ticket && m_released[std::size_t(lock)][std::size_t(first)]) ++first;
            for (std::int32_t k = first; k < ticket; ++k)
                if (!m_released[std::size_t(lock)][std::size_t(k)] && m_t.events[std::size_t(tickets[std::size_t(k)].acquire)].pipe != e.pipe) return false;
        }
        if (e.unit_matmul && m_units[{e.core, e.unit}].stores < m_x.finals_before[std::size_t(i)]) return false;
        if (e.unit_store && m_units[{e.core, e.unit}].matmuls <= m_x.finals_before[std::size_t(i)]) return false;
        return true;
    }

    /// sync_all: fires on all participants at once.
    bool meet(std::int32_t i) {
        const Event& e = m_t.events[std::size_t(i)];
        const auto type = isa::SyncCoreType(e.mode);
        const auto takes_part = [&](const TraceCore& c) {
            return type == isa::SyncCoreType::mix || (type == isa::SyncCoreType::aiv_only) == (c.kind == isa::Core::vector);
        };
        if (!gate_open(i)) return false;
        if (!takes_part(m_t.cores[std::size_t(e.core)])) return act(i, nullptr), true;
        std::vector<std::int32_t> meeting;
        for (std::size_t c = 0; c < m_t.cores.size(); ++c) {
            if (!takes_part(m_t.cores[c])) continue;
            const auto lane = c * pipe_count + std::size_t(scalar_pipe);
            if (m_out.head[lane] >= std::int32_t(m_x.lanes[lane].size())) return false;
            const std::int32_t other = m_x.lanes[lane][std::size_t(m_out.head[lane])];
            const Event& o = m_t.events[std::size_t(other)];
            if (o.act != Act::sync_all || o.mode != e.mode || !gate_open(other) || !drained(o)) return false;
            meeting.push_back(other);
        }
        Clock all{};
        if (m_clocks)
            for (std::int32_t o : meeting) join(all, core_clock(m_t.events[std::size_t(o)].core));
        for (std::int32_t o : meeting) act(o, &all);
        return true;
    }

    /// Everything a core has fired is complete.
    Clock core_clock(std::int8_t core) const {
        Clock c{};
        for (int p = 0; p < pipe_count; ++p) {
            const auto lane = std::size_t(core * pipe_count + p);
            join(c, m_gate_clock[lane]);
            c[lane] = std::max(c[lane], m_out.head[lane]);
        }
        return c;
    }

    void act(std::int32_t i, const Clock* joined) {
        const Event& e = m_t.events[std::size_t(i)];
        const auto lane = std::size_t(e.lane());
        const bool complete = completes(e);
        if (m_clocks) {
            Clock& c = m_gate_clock[lane];
            if (m_x.gate[std::size_t(i)] >= 0) join(c, m_post[std::size_t(m_x.gate[std::size_t(i)])]);
            if (joined) join(c, *joined);
            if (e.act == Act::barrier_all) join(c, core_clock(e.core));
            if (e.act == Act::flag_wait) {
                const auto f = std::size_t(m_x.flag_of[std::size_t(i)]);
                join(c, m_flag_clocks[f][std::size_t(m_out.flag_waits[f])]);
            }
            if (e.act == Act::cross_wait) join_sets(i, c);
            for (std::int32_t r = m_x.ticket_begin[std::size_t(i)]; r < m_x.ticket_begin[std::size_t(i) + 1]; ++r) {
                const auto& by_pipe = m_lock_clocks[std::size_t(m_x.tickets[std::size_t(r)].lock)];
                for (int p = 0; p < pipe_count; ++p)
                    if (p != e.pipe) join(c, by_pipe[std::size_t(p)]);
            }
            if (e.unit_matmul && m_x.finals_before[std::size_t(i)] > 0) join(c, m_units[{e.core, e.unit}].store_clock);
            if (e.unit_store) join(c, m_units[{e.core, e.unit}].matmul_clock);
            m_out.start[std::size_t(i)] = c;
            if (e.act == Act::barrier || e.pipe == scalar_pipe) c[lane] = e.act == Act::barrier ? e.index - 1 : e.index;
            if (m_x.in_order_v && e.pipe == std::int8_t(isa::Pipe::v)) c[lane] = e.index;
            m_post[std::size_t(i)] = c;
        }
        m_out.fired[std::size_t(i)] = 1;
        m_out.order.push_back(i);
        ++m_out.head[lane];
        ++m_fired_on[std::size_t(e.core)];
        if (e.act == Act::flag_wait) ++m_out.flag_waits[std::size_t(m_x.flag_of[std::size_t(i)])];
        if (e.act == Act::cross_wait)
            for (std::int32_t k : m_x.counters_of[std::size_t(i)])
                if (k >= 0) ++m_out.counter_waits[std::size_t(k)];
        if (!complete) return;
        Clock done{};
        if (m_clocks) done = m_gate_clock[lane], done[lane] = e.index;
        switch (e.act) {
        case Act::flag_set: {
            const auto f = std::size_t(m_x.flag_of[std::size_t(i)]);
            ++m_out.flag_sets[f];
            if (m_clocks) m_flag_clocks[f].push_back(done);
            break;
        }
        case Act::cross_set:
            for (std::int32_t k : m_x.counters_of[std::size_t(i)]) {
                if (k < 0) continue;
                ++m_out.counter_sets[std::size_t(k)];
                if (m_clocks) m_counter_clocks[std::size_t(k)].push_back(done);
            }
            break;
        case Act::unlock:
            if (m_x.unlock_of[std::size_t(i)] >= 0) release(m_x.unlocks[std::size_t(m_x.unlock_of[std::size_t(i)])], e, done);
            break;
        case Act::work:
            for (std::int32_t r = m_x.ticket_begin[std::size_t(i)]; r < m_x.ticket_begin[std::size_t(i) + 1]; ++r) release(m_x.tickets[std::size_t(r)], e, done);
            break;
        default: break;
        }
        if (e.unit_final) {
            Unit& u = m_units[{e.core, e.unit}];
            if (e.unit_matmul) ++u.matmuls, join(u.matmul_clock, done);
            else ++u.stores, join(u.store_clock, done);
        }
    }
    void release(SyncIndex::TicketRef ref, const Event& e, const Clock& done) {
        m_released[std::size_t(ref.lock)][std::size_t(ref.ticket)] = 1;
        if (m_clocks) join(m_lock_clocks[std::size_t(ref.lock)][std::size_t(e.pipe)], done);
    }
    /// H7 and H10: a wait that knows k - 1 others of its id comes after k sets; these may tell it of more waits.
    void join_sets(std::int32_t i, Clock& c) {
        const auto& mine = m_x.counters_of[std::size_t(i)];
        if (!m_x.rival[std::size_t(i)]) {
            for (std::int32_t k : mine)
                if (k >= 0) join(c, awaited(k, std::size_t(m_out.counter_waits[std::size_t(k)])));
            return;
        }
        for (std::int32_t k : mine) {
            if (k < 0) continue;
            const auto& waits = m_x.counters[std::size_t(k)].waits;
            const auto at = std::lower_bound(waits.begin(), waits.end(), i);
            if (at != waits.begin() && !knows_wait(c, i, *(at - 1))) m_out.ordered = false;
        }
        for (Clock before = c;; before = c) {
            for (std::int32_t k : mine) {
                if (k < 0) continue;
                const auto& waits = m_x.counters[std::size_t(k)].waits;
                join(c, awaited(k, std::size_t(std::count_if(waits.begin(), waits.end(), [&](std::int32_t w) { return w != i && knows_wait(before, i, w); }))));
            }
            if (c == before) return;
        }
    }
    bool knows_wait(const Clock& c, std::int32_t i, std::int32_t w) const {
        const Event &mine = m_t.events[std::size_t(i)], &other = m_t.events[std::size_t(w)];
        return mine.lane() == other.lane() ? other.index < mine.index : c[std::size_t(other.lane())] >= other.index;
    }
    /// What follows nth sets and one more: with one setting pipe the set after nth; with several, per pipe the nth smallest of what they know.
    Clock awaited(std::int32_t k, std::size_t nth) const {
        const bool several = m_x.counters[std::size_t(k)].set_lanes.count() > 1;
        const auto& clocks = several && !m_expected.empty() ? m_expected[std::size_t(k)] : m_counter_clocks[std::size_t(k)];
        if (!several) return clocks[nth];
        Clock c{};
        std::vector<std::int32_t> column(clocks.size());
        for (std::size_t lane = 0; lane < c.size(); ++lane) {
            for (std::size_t s = 0; s < clocks.size(); ++s) column[s] = clocks[s][lane];
            std::nth_element(column.begin(), column.begin() + std::ptrdiff_t(nth), column.end());
            c[lane] = column[nth];
        }
        return c;
    }

    struct Unit {
        std::int32_t matmuls = 0, stores = 0; // finals complete
        Clock matmul_clock{}, store_clock{};
    };

    const SyncIndex& m_x;
    const Trace& m_t;
    bool m_clocks;
    std::array<std::int32_t, 2> m_held;
    std::int32_t m_until;
    Firing m_out;
    std::array<std::int32_t, max_cores> m_fired_on{};
    std::vector<std::int32_t> m_next_ticket;
    std::vector<std::vector<char>> m_released;
    std::array<Clock, lane_count> m_gate_clock{}; // everything later on the pipe starts after this
    std::vector<Clock> m_post;
    std::vector<std::vector<Clock>> m_counter_clocks, m_flag_clocks;
    std::vector<std::int32_t> m_demanded;
    std::vector<std::vector<Clock>> m_expected; // of an earlier pass: what every set of a counter has behind it
    std::vector<std::array<Clock, pipe_count>> m_lock_clocks;
    std::map<std::pair<std::int8_t, std::int64_t>, Unit> m_units;
};

} // namespace

Firing fire(const SyncIndex& index, bool clocks, std::int32_t held, std::int32_t until, bool reverse_lanes) {
    const bool several = clocks && std::any_of(index.counters.begin(), index.counters.end(), [](const Counter& c) { return c.set_lanes.count() > 1; });
    if (!several) return Runner(index, clocks, {held, -1}, until).run(reverse_lanes);
    // Several pipes set one id: a wait is after e iff without e fewer than k sets remain, later sets included. Their clocks depend on
    // the wait's in turn, so passes repeat until nothing changes; every fixed point is sound (docs/model/sync.md, section 2).
    std::vector<std::vector<Clock>> expected;
    for (;;) {
        Runner r(index, true, {held, -1}, until);
        r.expect(expected);
        Firing f = r.run(reverse_lanes);
        if (r.counter_clocks() == expected) return f;
        expected = r.counter_clocks();
    }
}

bool finishes_in_every_order(const SyncIndex& x, const Firing& clocks) {
    const Trace& t = x.trace;
    std::vector<std::int32_t> sets(t.events.size(), 0);
    for (const Counter& c : x.counters) {
        if (c.wait_lanes.count() < 2) continue;
        for (std::int32_t w : c.waits) {
            const Event& e = t.events[std::size_t(w)];
            const auto behind = std::count_if(c.waits.begin(), c.waits.end(), [&](std::int32_t o) {
                const Event& other = t.events[std::size_t(o)];
                return other.lane() == e.lane() ? other.index > e.index : clocks.start[std::size_t(o)][std::size_t(e.lane())] >= e.index;
            });
            sets[std::size_t(w)] = std::max(sets[std::size_t(w)], std::int32_t(std::ptrdiff_t(c.waits.size()) - behind));
        }
    }
    Runner r(x, false, {-1, -1}, -1);
    r.demand(std::move(sets));
    return r.run(false).finished;
}

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

Choices explore(const SyncIndex& index, std::int32_t held_a, std::int32_t held_b, std::int64_t work_limit) {
    // Everything but a competing wait only adds possibilities, so it fires at once; each competing wait is a choice.
    Choices out;
    std::vector<Runner> open{Runner(index, false, {held_a, held_b}, -1)};
    std::set<std::array<std::int32_t, lane_count>> seen;
    while (!open.empty()) {
        Runner r = std::move(open.back());
        open.pop_back();
        const std::size_t before = r.state().order.size();
        r.advance(false, true);
        out.work += std::int64_t(r.state().order.size() - before) + std::int64_t(index.trace.events.size()) + 100; // a copied run costs its size
        if (!seen.insert(r.state().head).second) continue;
        if (out.work > work_limit) return out.complete = false, out;
        if (held_a >= 0 && held_b >= 0 && r.state().fired[std::size_t(held_a)] && r.state().fired[std::size_t(held_b)]) return out.both_start = true, out;
        const auto choices = r.enabled_rivals();
        if (choices.empty() && held_a < 0 && !r.finished() && !out.stuck) out.stuck = true, out.stuck_run = r.state();
        for (std::int32_t i : choices) {
            open.push_back(r);
            open.back().choose(i);
        }
    }
    return out;
}

} // namespace pto::verify
