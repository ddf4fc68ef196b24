#include "engine/time/replay.hpp"

#include "engine/time/cache.hpp"
#include "engine/time/signals.hpp"

#include <algorithm>
#include <limits>
#include <queue>

// How it works. Every core has a scalar unit that issues its rows in order into the queues of its pipes, and pipes that take their queues in
// order. Each instruction's start is the largest of a few times that are known once earlier rows ran, so a core is advanced as far as it
// can go, and again when another core raised something it waits for; no clock ticks and nothing is polled. Only transfers to and from
// global memory share something: they are handed to the memory system in order of their start, the earliest first, when no core can
// advance without one (so no earlier request can appear later). Ties are broken by (time, core, pipe).

namespace pto::time {
namespace {

using execute::SyncKind;
using isa::Pipe;

constexpr int pipe_count = 8; // isa::Pipe; `all` is unused here
constexpr Ticks never = -1;
constexpr std::int64_t piece_bytes = 16384; // of a transfer, that the memory system serves without a break

/// An instruction in a pipe's queue.
struct Entry {
    std::int32_t row = -1;
    std::int32_t scalar_cause = -1;        // global row that last held the scalar unit up
    Ticks issue = 0;
    std::int32_t after[pipe_count];        // lock tickets: the last earlier holder's row on each other pipe, -1 none
    std::int32_t tickets[4] = {-1, -1, -1, -1}; // explicit locks of this core that must be released first
};

struct PipeState {
    std::vector<Entry> queue;              // ring
    std::size_t head = 0, count = 0;
    std::vector<Ticks> left;               // when entry number n left the queue, [n % depth]
    std::int64_t pushed = 0;
    Ticks free = 0;                        // the pipe can begin its next item
    Ticks visible = 0;                     // everything it did is complete and visible
    std::int32_t last = -1;                // last row that ran
    std::vector<std::size_t> open_waits;   // waits since the last operation: their paid part is not known yet
    bool requested = false;                // its head asked for a transfer that is not granted yet
    Ticks request_start = 0, request_floor = 0;
    std::int32_t request_cause = -1;
    std::int64_t request_bytes = 0;        // that the memory system has served
    Ticks request_done = 0;
    bool request_late = false;
};

/// An explicit mutex_lock until its mutex_unlock.
struct Ticket {
    Pipe pipe = Pipe::s;
    std::int32_t lock_row = -1, unlock_row = -1;
    Ticks released = never;
};

struct CoreState {
    std::int32_t index = 0;
    const execute::CoreRecord* record = nullptr;
    CoreTimes* times = nullptr;
    std::int64_t base = 0;
    PipeState pipes[pipe_count];
    bool started = false, finished = false, queued = false;
    std::size_t next = 0;                  // next row the scalar unit issues
    Ticks scalar = 0;
    std::int32_t scalar_cause = -1;
    Ticks scalar_wait_from = never;        // set while the scalar unit is blocked by the row at `next`
    bool issued_cost = false;              // the cost of `next` has been added
    bool arrived = false;                  // sync_all: this core has announced itself
    CoreSignals signals;
    struct Holder {
        std::int32_t row = -1, ticket = -1;
        Pipe pipe = Pipe::s;
    };
    Holder holder[32];                     // last ticket of each mutex id in program order
    std::vector<Ticket> tickets;
    std::int32_t open_ticket[32];
    std::vector<UnitFlag> unit_flags;
};

struct Request {
    Ticks start = 0;
    std::int32_t core = 0; // or -1 - block: a block may begin
    std::int32_t pipe = 0;
    bool operator>(const Request& o) const { return std::tie(start, core, pipe) > std::tie(o.start, o.core, o.pipe); }
};

class Replay {
  public:
    Replay(const execute::Record& record, const machine::Chip& chip, const ReplayOptions& options)
        : m_record(record), m_chip(chip), m_options(options), m_costs(record, chip, options.changes), m_memory(record, chip), m_grid(record) {}

    Timeline run();

  private:
    // the whole launch
    void place_blocks();
    void begin_block(std::size_t block, Ticks at);
    void wake(std::int32_t core);
    void grant(const Request& request);
    void core_finished(CoreState& c);

    // one core
    void advance(CoreState& c);
    bool scalar_step(CoreState& c);
    bool run_pipe(CoreState& c, int pipe);
    void push(CoreState& c, int pipe, const execute::Row& row);
    bool drained(const CoreState& c) const;
    Ticks drain_time(const CoreState& c, std::int32_t& cause) const;

    // pieces of an instruction
    bool locks_ready(CoreState& c, const Entry& e, int pipe, Ticks& at, std::int32_t& cause) const;
    void take_tickets(CoreState& c, int pipe, std::int32_t row, std::uint32_t ids, Entry& e);
    bool signal_ready(CoreState& c, const execute::Row& row, Arrival& arrival);
    void raise(CoreState& c, const execute::Row& row, Ticks effect, std::int32_t cause);
    void finish_row(CoreState& c, int pipe, std::int32_t row, Ticks start, Ticks end, Ticks visible, std::int32_t cause);
    void leave_queue(PipeState& p, Ticks at);
    std::size_t add_wait(CoreState& c, int pipe, std::int32_t row, WaitKind kind, Ticks start, Ticks end, std::int64_t setter);
    void settle_waits(CoreState& c, PipeState& p, std::int32_t row, Ticks other);

    const execute::Record& m_record;
    const machine::Chip& m_chip;
    const ReplayOptions& m_options;
    Costs m_costs;
    MemorySystem m_memory;
    GridSignals m_grid;
    Timeline m_timeline;
    Ticks m_hbm_latency = 0, m_cross_latency = 0, m_all_latency = 0, m_dispatch = 0;
    std::vector<CoreState> m_cores;
    std::vector<std::vector<std::int32_t>> m_blocks;         // cores of each block
    std::vector<std::int32_t> m_unfinished;                  // cores of each block that still run
    std::vector<std::int32_t> m_block_of;                    // by core
    std::size_t m_next_block = 0;
    std::vector<std::int32_t> m_ready;
    std::priority_queue<Request, std::vector<Request>, std::greater<>> m_requests;
};

// ---------------------------------------------------------------- launch

void Replay::place_blocks() {
    bool cube = false, vector = false;
    std::vector<std::int32_t> numbers;
    for (const execute::CoreRecord& c : m_record.cores) {
        (c.core == isa::Core::cube ? cube : vector) = true;
        numbers.push_back(c.block);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    m_blocks.resize(numbers.size());
    m_block_of.resize(m_record.cores.size());
    for (std::size_t i = 0; i < m_record.cores.size(); ++i) {
        auto at = std::lower_bound(numbers.begin(), numbers.end(), m_record.cores[i].block) - numbers.begin();
        m_blocks[std::size_t(at)].push_back(std::int32_t(i));
        m_block_of[i] = std::int32_t(at);
    }
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        m_timeline.blocks.push_back({numbers[b], 0, 0});
        m_unfinished.push_back(std::int32_t(m_blocks[b].size()));
    }
    std::size_t places = std::size_t(m_chip.cube_cores) * (vector && !cube ? 2 : 1);
    m_timeline.waves = m_blocks.empty() ? 1 : std::int32_t((m_blocks.size() + places - 1) / places);
    for (; m_next_block < m_blocks.size() && m_next_block < places; ++m_next_block) begin_block(m_next_block, 0);
}

void Replay::begin_block(std::size_t block, Ticks at) {
    m_timeline.blocks[block].begin = at;
    for (std::int32_t i : m_blocks[block]) {
        CoreState& c = m_cores[std::size_t(i)];
        c.started = true;
        c.scalar = at;
        c.times->begin = at;
        for (PipeState& p : c.pipes) p.free = p.visible = at;
        wake(i);
    }
}

void Replay::wake(std::int32_t core) {
    CoreState& c = m_cores[std::size_t(core)];
    if (c.queued || !c.started || c.finished) return;
    c.queued = true;
    m_ready.push_back(core);
}

void Replay::core_finished(CoreState& c) {
    c.finished = true;
    std::int32_t cause = -1;
    c.times->finish = std::max(c.scalar, drain_time(c, cause));
    std::size_t block = std::size_t(m_block_of[std::size_t(c.index)]);
    BlockTimes& times = m_timeline.blocks[block];
    times.finish = std::max(times.finish, c.times->finish);
    m_timeline.total = std::max(m_timeline.total, c.times->finish);
    if (--m_unfinished[block] == 0 && m_next_block < m_blocks.size()) m_requests.push({times.finish, -1, 0});
}

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

Timeline Replay::run() {
    m_timeline.chip = m_chip.name;
    m_timeline.cycles_per_us = m_chip.clock_mhz;
    m_timeline.launch = Ticks(m_chip.constant("launch_us") * m_chip.clock_mhz * double(ticks_per_cycle));
    m_hbm_latency = ticks_of_cycles(m_chip.constant("hbm_latency_cycles"));
    m_cross_latency = ticks_of_cycles(m_chip.constant("cross_core_latency_cycles"));
    m_all_latency = ticks_of_cycles(m_chip.constant("sync_all_latency_cycles"));
    m_dispatch = ticks_of_cycles(m_chip.constant("block_dispatch_cycles"));

    m_timeline.cores.resize(m_record.cores.size());
    m_cores.resize(m_record.cores.size());
    std::int64_t base = 0;
    for (std::size_t i = 0; i < m_record.cores.size(); ++i) {
        const execute::CoreRecord& record = m_record.cores[i];
        CoreTimes& times = m_timeline.cores[i];
        times.start.assign(record.rows.size(), never);
        times.end.assign(record.rows.size(), never);
        times.tail.assign(record.rows.size(), 0);
        times.cause.assign(record.rows.size(), -1);
        CoreState& c = m_cores[i];
        c.index = std::int32_t(i);
        c.record = &record;
        c.times = &times;
        c.base = base;
        c.signals.prepare(record.core);
        for (const MoreSlots& more : m_options.more_slots)
            if (more.waiter == record.core) c.signals.join(more.ids, m_grid.vectors_of(c.index));
        std::fill(std::begin(c.open_ticket), std::end(c.open_ticket), -1);
        for (PipeState& p : c.pipes) {
            p.queue.resize(std::size_t(m_chip.queue_depth));
            p.left.assign(std::size_t(m_chip.queue_depth), 0);
        }
        m_timeline.base.push_back(base);
        base += std::int64_t(record.rows.size());
    }
    m_timeline.base.push_back(base);
    place_blocks();
    for (;;) {
        while (!m_ready.empty()) {
            CoreState& c = m_cores[std::size_t(m_ready.back())];
            m_ready.pop_back();
            c.queued = false;
            advance(c);
        }
        if (m_requests.empty()) break;
        Request earliest = m_requests.top();
        m_requests.pop();
        grant(earliest);
    }
    for (CoreState& c : m_cores) {
        if (c.finished) continue;
        for (int p = 0; p < pipe_count; ++p)
            if (const PipeState& pipe = c.pipes[p]; pipe.count > 0) m_timeline.stuck.push_back({{c.index, pipe.queue[pipe.head].row}, Pipe(p)});
        if (c.next < c.record->rows.size()) m_timeline.stuck.push_back({{c.index, std::int32_t(c.next)}, Pipe::s});
        m_timeline.total = std::max({m_timeline.total, c.scalar});
    }
    m_timeline.hbm_read = m_memory.hbm_read;
    m_timeline.hbm_written = m_memory.hbm_written;
    m_timeline.l2_bytes = m_memory.l2_bytes;
    return std::move(m_timeline);
}

// ---------------------------------------------------------------- one core

void Replay::advance(CoreState& c) {
    bool changed = true;
    while (changed && !c.finished) {
        changed = scalar_step(c);
        for (int p = 0; p < pipe_count; ++p) changed |= run_pipe(c, p);
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
                if (!c.arrived) {
                    std::int32_t last = -1;
                    Ticks ready = std::max(c.scalar, drain_time(c, last));
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
                std::size_t w = add_wait(c, int(Pipe::s), index, kind, arrived, go, setter);
                if (m_options.keep_waits) c.times->waits[w].paid = go - arrived, s.open_waits.clear();
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

std::size_t Replay::add_wait(CoreState& c, int pipe, std::int32_t row, WaitKind kind, Ticks start, Ticks end, std::int64_t setter) {
    if (!m_options.keep_waits) return 0;
    Wait w;
    w.row = row;
    w.pipe = Pipe(pipe);
    w.kind = kind;
    w.start = start;
    w.end = end;
    if (setter >= 0) w.setter = m_timeline.ref(setter);
    c.times->waits.push_back(w);
    c.pipes[pipe].open_waits.push_back(c.times->waits.size() - 1);
    return c.times->waits.size() - 1;
}

/// The pipe's next operation is known: of each wait before it, only what lies after `other` (when it could have begun otherwise) was paid.
void Replay::settle_waits(CoreState& c, PipeState& p, std::int32_t row, Ticks other) {
    for (std::size_t i : p.open_waits) {
        Wait& w = c.times->waits[i];
        w.paid = std::max<Ticks>(0, w.end - std::max(w.start, other));
        w.next = row;
    }
    p.open_waits.clear();
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

} // namespace

std::string_view name(WaitKind k) {
    switch (k) {
    case WaitKind::flag: return "flag";
    case WaitKind::cross_core: return "cross-core flag";
    case WaitKind::lock: return "lock";
    case WaitKind::barrier: return "barrier";
    case WaitKind::grid: return "grid barrier";
    case WaitKind::unit_flag: return "unit flag";
    }
    return "";
}

RowRef Timeline::ref(std::int64_t global_row) const {
    auto after = std::upper_bound(base.begin(), base.end() - 1, global_row);
    std::int32_t core = std::int32_t(after - base.begin()) - 1;
    return {core, std::int32_t(global_row - base[std::size_t(core)])};
}

Timeline replay(const execute::Record& record, const machine::Chip& chip, const ReplayOptions& options) { return Replay(record, chip, options).run(); }

} // namespace pto::time
