#include "engine/time/replay_state.hpp"

#include <algorithm>
#include <limits>

namespace pto::time {

void Replay::grant(const Request& request) {
    if (request.core < 0) { // a place is free
        if (m_next_block < m_blocks.size()) begin_block(m_next_block++, request.start + m_dispatch);
        return;
    }
    CoreState& c = m_cores[std::size_t(request.core)];
    PipeState& p = c.pipes[request.pipe];
    const Entry& e = p.queue[p.head];
    const execute::Row& row = c.record->rows[std::size_t(e.row)];
    Cost cost = m_costs.of(*c.record, row);
    // Piece by piece, so that cores which ask together get through together, as the hardware's bursts do.
    bool rows_apart = row.row_bytes > 0 && row.k > row.row_bytes && row.row_bytes < row.bytes;
    execute::Row piece = row;
    std::int64_t left = row.bytes - p.request_bytes, each = rows_apart ? std::max<std::int64_t>(1, piece_bytes / row.row_bytes) * row.row_bytes : piece_bytes;
    piece.bytes = left <= each ? left : each;
    if (row.gm_address >= 0) piece.gm_address += rows_apart ? p.request_bytes / row.row_bytes * row.k : p.request_bytes;
    MemorySystem::Service service = m_memory.transfer(piece, cost.writes_gm, request.start);
    p.request_bytes += piece.bytes;
    p.request_done = std::max(p.request_done, service.done);
    p.request_late |= service.late;
    if (p.request_bytes < row.bytes) {
        m_requests.push({std::max(request.start, service.done), request.core, request.pipe});
        return;
    }
    Ticks end = std::max({p.request_start + cost.busy, p.request_done, p.request_floor});
    Ticks latency = cost.latency + (p.request_late ? m_hbm_latency : 0);
    std::int32_t row_index = e.row;
    p.requested = false;
    leave_queue(p, p.request_start);
    finish_row(c, request.pipe, row_index, p.request_start, end, std::max(p.visible, end + latency), p.request_cause);
    if (row.phase != 0) note_unit_flag(c.unit_flags, row, request.pipe == int(Pipe::m), row_index);
    wake(request.core);
}

void Replay::leave_queue(PipeState& p, Ticks at) {
    // Entry number (pushed - count) leaves; a later entry of that ring place may enter from then on.
    p.left[std::size_t((p.pushed - std::int64_t(p.count)) % std::int64_t(p.queue.size()))] = at;
    p.head = (p.head + 1) % p.queue.size();
    --p.count;
}

void Replay::finish_row(CoreState& c, int pipe, std::int32_t row, Ticks start, Ticks end, Ticks visible, std::int32_t cause) {
    PipeState& p = c.pipes[pipe];
    c.times->start[std::size_t(row)] = start;
    c.times->end[std::size_t(row)] = end;
    c.times->tail[std::size_t(row)] = std::uint32_t(std::min<Ticks>(std::max<Ticks>(0, visible - end), std::numeric_limits<std::uint32_t>::max()));
    c.times->cause[std::size_t(row)] = cause;
    p.free = end;
    p.visible = std::max(p.visible, visible);
    p.last = row;
    const execute::Row& r = c.record->rows[std::size_t(row)];
    if (r.sync == SyncKind::none) m_timeline.grade_busy[int(m_costs.grade(r))] += end - start;
}

void Replay::add_wait(CoreState& c, int pipe, std::int32_t row, WaitKind kind, Ticks start, Ticks end, std::int64_t setter) {
    if (!m_options.keep_waits) return;
    Wait w;
    w.row = row;
    w.pipe = Pipe(pipe);
    w.kind = kind;
    w.start = start;
    w.end = end;
    if (c.times->waits.size() >= m_options.most_waits) {
        c.pipes[pipe].open_more.push_back(w);
        return;
    }
    if (setter >= 0) w.setter = m_timeline.ref(setter);
    c.times->waits.push_back(w);
    c.pipes[pipe].open_waits.push_back(c.times->waits.size() - 1);
}

/// The pipe's next operation is known: of each wait before it, only what lies after `other` (when it could have begun otherwise) was paid.
void Replay::settle_waits(CoreState& c, PipeState& p, std::int32_t row, Ticks other) {
    for (std::size_t i : p.open_waits) {
        Wait& w = c.times->waits[i];
        w.paid = std::max<Ticks>(0, w.end - std::max(w.start, other));
        w.next = row;
    }
    p.open_waits.clear();
    for (const Wait& w : p.open_more) {
        CoreTimes::More& more = c.times->more[int(w.pipe)];
        const Ticks paid = std::max<Ticks>(0, w.end - std::max(w.start, other));
        if (w.kind == WaitKind::cross_core || w.kind == WaitKind::grid) more.paid += paid, more.free += w.end - w.start - paid;
        else more.in_core += w.end - w.start;
    }
    p.open_more.clear();
}

/// Runs the pipe's queue as far as it can go.
bool Replay::run_pipe(CoreState& c, int pipe) {
    PipeState& p = c.pipes[pipe];
    bool progressed = false;
    while (p.count > 0 && !p.requested) {
        const Entry& e = p.queue[p.head]; // its place is not reused before this core issues again
        const execute::Row& row = c.record->rows[std::size_t(e.row)];
        std::int32_t before = p.last >= 0 ? std::int32_t(c.base + p.last) : -1;
        Ticks ready = std::max(p.free, e.issue);
        std::int32_t cause = p.free >= e.issue ? before : e.scalar_cause;
        std::int32_t global_row = std::int32_t(c.base + e.row);
        switch (row.sync) {
        case SyncKind::flag_set:
        case SyncKind::cross_set: {
            Ticks end = ready + m_costs.sync_cycle(), effect = std::max(end, p.visible);
            leave_queue(p, ready);
            finish_row(c, pipe, e.row, ready, end, effect, cause);
            raise(c, row, effect, global_row);
            break;
        }
        case SyncKind::flag_wait:
        case SyncKind::cross_wait: {
            Arrival a;
            if (!signal_ready(c, row, a)) return progressed;
            Ticks go = std::max(ready, a.at);
            if (a.at > ready) {
                add_wait(c, pipe, e.row, row.sync == SyncKind::flag_wait ? WaitKind::flag : WaitKind::cross_core, ready, go, a.row);
                cause = std::int32_t(a.row);
            }
            Ticks end = go + m_costs.sync_cycle();
            leave_queue(p, go);
            finish_row(c, pipe, e.row, ready, end, p.visible, cause);
            break;
        }
        case SyncKind::barrier: {
            Ticks go = std::max(ready, p.visible);
            if (go > ready) add_wait(c, pipe, e.row, WaitKind::barrier, ready, go, before);
            leave_queue(p, go);
            finish_row(c, pipe, e.row, ready, go + m_costs.sync_cycle(), p.visible, cause);
            break;
        }
        case SyncKind::mutex_lock: {
            std::int32_t holder = -1;
            Ticks go = ready;
            if (!locks_ready(c, e, pipe, go, holder)) return progressed;
            if (go > ready) {
                add_wait(c, pipe, e.row, WaitKind::lock, ready, go, holder);
                cause = holder;
            }
            leave_queue(p, go);
            finish_row(c, pipe, e.row, ready, go + m_costs.sync_cycle(), p.visible, cause);
            break;
        }
        case SyncKind::mutex_unlock: {
            Ticks end = ready + m_costs.sync_cycle(), effect = std::max(end, p.visible);
            leave_queue(p, ready);
            finish_row(c, pipe, e.row, ready, end, effect, cause);
            for (std::size_t i = c.tickets.size(); i-- > 0;) // the youngest tickets are the likely ones
                if (c.tickets[i].unlock_row == e.row) {
                    c.tickets[i].released = effect;
                    break;
                }
            break;
        }
        case SyncKind::sync_all: // issued by the scalar unit only
        case SyncKind::none: {
            std::int32_t holder = -1;
            Ticks go = ready;
            if (!locks_ready(c, e, pipe, go, holder)) return progressed;
            Cost cost = m_costs.of(*c.record, row);
            Ticks unlocked = go, floor = 0; // the end may not come before floor
            std::int32_t leader = -1;
            if (row.phase != 0 && !unit_flag_ready(c.unit_flags, row, pipe == int(Pipe::m), cost.busy, *c.times, go, floor, leader)) return progressed;
            if (unlocked > ready) {
                add_wait(c, pipe, e.row, WaitKind::lock, ready, unlocked, holder);
                cause = holder;
            }
            if (go > unlocked) {
                cause = std::int32_t(c.base + leader);
                add_wait(c, pipe, e.row, WaitKind::unit_flag, unlocked, go, cause);
            }
            // What a wait cost is what lies after everything else that held the operation back.
            if (m_options.keep_waits) settle_waits(c, p, e.row, e.issue);
            if (cost.gm) {
                p.requested = true;
                p.request_start = go;
                p.request_floor = floor;
                p.request_cause = cause;
                p.request_bytes = 0;
                p.request_done = 0;
                p.request_late = false;
                m_requests.push({go, c.index, pipe});
                return true;
            }
            Ticks end = std::max(go + cost.busy, floor);
            leave_queue(p, go);
            finish_row(c, pipe, e.row, go, end, std::max(p.visible, end + cost.latency), cause);
            if (row.phase != 0) note_unit_flag(c.unit_flags, row, pipe == int(Pipe::m), e.row);
            break;
        }
        }
        progressed = true;
    }
    return progressed;
}

} // namespace pto::time
