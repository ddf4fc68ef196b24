#include "engine/time/replay_state.hpp"

#include <algorithm>

namespace pto::time {

void Replay::advance(CoreState& c) {
    bool changed = true;
    while (changed && !c.finished) {
        changed = scalar_step(c);
        for (int p = 0; p < pipe_count; ++p)
            if (c.pipes[p].count > 0 && !c.pipes[p].requested) changed |= run_pipe(c, p);
    }
}

bool Replay::drained(const CoreState& c) const {
    for (const PipeState& p : c.pipes)
        if (p.count > 0) return false;
    return true;
}

Ticks Replay::drain_time(const CoreState& c, std::int32_t& cause) const {
    Ticks t = 0;
    for (const PipeState& p : c.pipes)
        if (Ticks d = std::max(p.free, p.visible); d > t) {
            t = d;
            if (p.last >= 0) cause = std::int32_t(c.base + p.last);
        }
    return t;
}

/// Issues rows until a queue is full, or the scalar unit itself must wait.
bool Replay::scalar_step(CoreState& c) {
    bool progressed = false;
    while (c.next < c.record->rows.size()) {
        const execute::Row& row = c.record->rows[c.next];
        std::int32_t index = std::int32_t(c.next);
        if (!c.issued_cost) {
            Ticks cost = m_costs.issue(row);
            c.scalar += cost;
            c.times->scalar_busy += cost;
            c.issued_cost = true;
        }
        bool own = row.pipe == Pipe::s || row.pipe == Pipe::all || (row.sync == SyncKind::cross_wait && m_chip.wait_stops_all_pipes);
        if (!own) {
            PipeState& p = c.pipes[int(row.pipe)];
            if (p.count == p.queue.size()) return progressed;
            Ticks room = p.pushed >= std::int64_t(p.queue.size()) ? p.left[std::size_t(p.pushed % std::int64_t(p.queue.size()))] : 0;
            if (room > c.scalar) { // the queue was full: the entry that left it decides
                c.scalar = room;
                c.scalar_cause = p.last >= 0 ? std::int32_t(c.base + p.last) : -1;
            }
            push(c, int(row.pipe), row);
        } else {
            // Executed by the scalar unit itself: it goes on when the row is complete.
            PipeState& s = c.pipes[int(Pipe::s)];
            Ticks arrived = c.scalar, go = c.scalar;
            std::int32_t cause = c.scalar_cause;
            std::int64_t setter = -1;
            WaitKind kind = WaitKind::barrier;
            Ticks busy = 0, visible = 0;
            if (row.sync == SyncKind::barrier) {
                if (row.pipe == Pipe::all) {
                    if (!drained(c)) return progressed;
                    std::int32_t last = -1;
                    if (Ticks d = drain_time(c, last); d > go) go = d, setter = last;
                }
            } else if (row.sync == SyncKind::sync_all) {
                if (!drained(c)) return progressed;
                kind = WaitKind::grid;
                std::int32_t last = -1;
                const Ticks done = drain_time(c, last), ready = std::max(c.scalar, done);
                if (!c.arrived) {
                    c.arrived = true;
                    if (m_grid.arrive_all(c.index, row.sync_mode, ready, std::int32_t(c.base + index)))
                        for (CoreState& other : m_cores) wake(other.index);
                }
                Arrival a;
                if (!m_grid.all_there(c.index, row.sync_mode, a)) return progressed;
                c.arrived = false;
                m_grid.pass_all(c.index, row.sync_mode);
                go = std::max(go, a.at + m_all_latency);
                setter = a.row;
                if (setter == c.base + index) { // the last one to come: it waited for its own work alone
                    setter = -1;
                    if (done > c.scalar) cause = last;
                }
            } else if (row.sync == SyncKind::flag_wait || row.sync == SyncKind::cross_wait) {
                Arrival a;
                if (!signal_ready(c, row, a)) return progressed;
                kind = row.sync == SyncKind::flag_wait ? WaitKind::flag : WaitKind::cross_core;
                if (a.at > go) go = a.at, setter = a.row;
                busy = m_costs.sync_cycle();
            } else if (row.sync == SyncKind::mutex_lock || row.locks || row.sync == SyncKind::none) {
                Entry e;
                e.row = index;
                e.issue = c.scalar;
                std::uint32_t ids = row.sync == SyncKind::mutex_lock ? 1u << (row.sync_id & 31) : row.locks;
                // The tickets are taken once the row can run: nothing else of this core is issued in between.
                CoreState::Holder before[32];
                std::copy(std::begin(c.holder), std::end(c.holder), before);
                std::size_t tickets = c.tickets.size();
                take_tickets(c, int(Pipe::s), index, ids, e);
                kind = WaitKind::lock;
                std::int32_t holder = -1;
                Ticks at = go;
                if (!locks_ready(c, e, int(Pipe::s), at, holder)) {
                    std::copy(std::begin(before), std::end(before), c.holder);
                    c.tickets.resize(tickets);
                    return progressed;
                }
                if (row.sync == SyncKind::mutex_lock) {
                    c.open_ticket[row.sync_id & 31] = std::int32_t(c.tickets.size());
                    c.tickets.push_back({Pipe::s, index, -1, never});
                    c.holder[row.sync_id & 31].ticket = c.open_ticket[row.sync_id & 31];
                }
                if (at > go) go = at, setter = holder;
                if (row.sync == SyncKind::none) {
                    Cost cost = m_costs.of(*c.record, row);
                    busy = cost.busy;
                    visible = cost.latency;
                }
            }
            Ticks end = go + busy;
            if (go > arrived) {
                add_wait(c, int(Pipe::s), index, kind, arrived, go, setter);
                settle_waits(c, s, -1, arrived); // nothing else held the scalar unit back
                if (setter >= 0) cause = std::int32_t(setter);
                c.scalar_cause = std::int32_t(c.base + index);
            } else if (busy > 0) {
                c.scalar_cause = std::int32_t(c.base + index);
            }
            c.scalar = end;
            s.free = end;
            if (row.sync == SyncKind::flag_set || row.sync == SyncKind::cross_set) raise(c, row, end, std::int32_t(c.base + index));
            if (row.sync == SyncKind::mutex_unlock && c.open_ticket[row.sync_id & 31] >= 0) {
                c.tickets[std::size_t(c.open_ticket[row.sync_id & 31])].released = end;
                c.tickets[std::size_t(c.open_ticket[row.sync_id & 31])].unlock_row = index;
                c.open_ticket[row.sync_id & 31] = -1;
            }
            finish_row(c, int(Pipe::s), index, go, end, std::max(s.visible, end + visible), cause);
        }
        ++c.next;
        c.issued_cost = false;
        progressed = true;
    }
    if (drained(c)) {
        core_finished(c);
        return false;
    }
    return progressed;
}

void Replay::push(CoreState& c, int pipe, const execute::Row& row) {
    PipeState& p = c.pipes[pipe];
    Entry& e = p.queue[(p.head + p.count) % p.queue.size()];
    e.row = std::int32_t(c.next);
    e.issue = c.scalar;
    e.scalar_cause = c.scalar_cause;
    std::fill(std::begin(e.after), std::end(e.after), -1);
    std::fill(std::begin(e.tickets), std::end(e.tickets), -1);
    if (row.sync == SyncKind::mutex_lock) {
        int id = row.sync_id & 31;
        take_tickets(c, pipe, e.row, 1u << id, e);
        c.open_ticket[id] = std::int32_t(c.tickets.size());
        c.tickets.push_back({row.pipe, e.row, -1, never});
        c.holder[id].ticket = c.open_ticket[id];
    } else if (row.sync == SyncKind::mutex_unlock) {
        int id = row.sync_id & 31;
        if (c.open_ticket[id] >= 0) c.tickets[std::size_t(c.open_ticket[id])].unlock_row = e.row;
        c.open_ticket[id] = -1;
    } else if (row.locks) {
        take_tickets(c, pipe, e.row, row.locks, e);
    }
    ++p.count;
    ++p.pushed;
}

} // namespace pto::time
