#pragma once
/// The machine while a record is replayed; for the replay_*.cpp files of this folder only.

#include "engine/time/cache.hpp"
#include "engine/time/replay.hpp"
#include "engine/time/signals.hpp"

#include <queue>
#include <tuple>

// How it works. Every core has a scalar unit that issues its rows in order into the queues of its pipes, and pipes that take their queues in
// order. Each instruction's start is the largest of a few times that are known once earlier rows ran, so a core is advanced as far as it
// can go, and again when another core raised something it waits for; no clock ticks and nothing is polled. Only transfers to and from
// global memory share something: they are handed to the memory system in order of their start, the earliest first, when no core can
// advance without one (so no earlier request can appear later). Ties are broken by (time, core, pipe).

namespace pto::time {

using execute::SyncKind;
using isa::Pipe;

inline constexpr int pipe_count = 8; // isa::Pipe; `all` is unused here
inline constexpr Ticks never = -1;
inline constexpr std::int64_t piece_bytes = 16384; // of a transfer, that the memory system serves without a break

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
    std::vector<Wait> open_more;           // the same, of waits that are only summed up
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

/// One replay of one record. The parts stand in files of their own: replay.cpp the launch, replay_scalar.cpp the scalar unit, replay_pipe.cpp the
/// pipes and their transfers, replay_sync.cpp locks and signals.
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
    void add_wait(CoreState& c, int pipe, std::int32_t row, WaitKind kind, Ticks start, Ticks end, std::int64_t setter);
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

} // namespace pto::time
