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
