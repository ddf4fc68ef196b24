#include "engine/time/replay_state.hpp"

#include <algorithm>

namespace pto::time {

/// Locks are tickets in program order. It suffices to wait for the last holder when it sits on another pipe: a holder on the same pipe has
/// itself waited for those before it, and pipes are in order.
void Replay::take_tickets(CoreState& c, int pipe, std::int32_t row, std::uint32_t ids, Entry& e) {
    std::fill(std::begin(e.after), std::end(e.after), -1);
    std::fill(std::begin(e.tickets), std::end(e.tickets), -1);
    int explicit_count = 0;
    for (; ids; ids &= ids - 1) {
        int id = __builtin_ctz(ids);
        CoreState::Holder& h = c.holder[id];
        if (h.row >= 0 && int(h.pipe) != pipe) {
            if (h.ticket >= 0) {
                if (explicit_count < 4) e.tickets[explicit_count++] = h.ticket;
            } else {
                e.after[int(h.pipe)] = std::max(e.after[int(h.pipe)], h.row);
            }
        }
        // An operation under its own pipe's explicit lock changes nothing: the unlock is what others wait for.
        std::int32_t open = c.open_ticket[id];
        h = {row, open >= 0 && int(c.tickets[std::size_t(open)].pipe) == pipe ? open : -1, Pipe(pipe)};
    }
}

bool Replay::locks_ready(CoreState& c, const Entry& e, int, Ticks& at, std::int32_t& cause) const {
    for (int q = 0; q < pipe_count; ++q) {
        std::int32_t row = e.after[q];
        if (row < 0) continue;
        if (c.pipes[q].last < row) return false;
        Ticks released = c.times->end[std::size_t(row)] + c.times->tail[std::size_t(row)];
        if (released > at) at = released, cause = std::int32_t(c.base + row);
    }
    for (std::int32_t t : e.tickets) {
        if (t < 0) continue;
        const Ticket& ticket = c.tickets[std::size_t(t)];
        if (ticket.released == never) return false;
        if (ticket.released > at) at = ticket.released, cause = std::int32_t(c.base + ticket.unlock_row);
    }
    return true;
}

bool Replay::signal_ready(CoreState& c, const execute::Row& row, Arrival& arrival) {
    if (row.sync == SyncKind::flag_wait) return c.signals.take_flag(row, arrival);
    using Mode = isa::CrossCoreSyncMode;
    switch (Mode(row.sync_mode)) {
    case Mode::intra_block: return c.signals.take_intra(row.sync_id, m_grid.vectors_of(c.index), arrival);
    case Mode::unicast_block: return c.signals.take_counter(row.sync_id, arrival);
    default: return m_grid.take(c.index, row.sync_mode, row.sync_id, arrival);
    }
}

void Replay::raise(CoreState& c, const execute::Row& row, Ticks effect, std::int32_t global_row) {
    if (row.sync == SyncKind::flag_set) {
        c.signals.set_flag(row, {effect, global_row});
        return;
    }
    using Mode = isa::CrossCoreSyncMode;
    Arrival a{effect + m_cross_latency, global_row};
    Mode mode = Mode(row.sync_mode);
    if (mode == Mode::intra_block || mode == Mode::unicast_block) {
        m_grid.each_partner(c.index, row.sync_id, mode == Mode::unicast_block, [&](std::int32_t core, int counter) {
            m_cores[std::size_t(core)].signals.add(counter, a);
            wake(core);
        });
    } else if (m_grid.set(c.index, row.sync_mode, row.sync_id, a)) {
        m_grid.each_member(c.index, row.sync_mode, [&](std::int32_t core) { wake(core); });
    }
}

} // namespace pto::time
