#pragma once
/// One block running: its cores' scalar units, pipe queues and memories, moved one event at a time under an order
/// policy.
///
/// Events of a pipe are start and completion of its items, one item at a time; the scalar unit fetches, places into
/// queues (it stalls when one is full) and runs what belongs to pipe S. docs: design 3.

#include "engine/execute/call.hpp"
#include "engine/execute/sync_state.hpp"
#include "engine/program/sequencer.hpp"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pto::execute {

/// What all blocks of a launch share.
class BlockRun;
struct Launch {
    const program::Program& program;
    const machine::Chip& chip;
    const ExecuteOptions& options;
    InstructionTable table;
    std::vector<std::shared_ptr<const program::Prepared>> prepared; // aligned with program.cores
    std::vector<program::ParamValue> params;
    GlobalMemory gm;
    GridState grid;
    Findings findings;
    Statistics statistics;
    Scratch scratch;
    std::vector<CoreRecord> records;
    std::vector<std::string> texts;        // printed, by block
    std::vector<LoggedAccess> gm_accesses; // of finished stretches, for the check between blocks
    std::vector<StageProgress> stages;
    std::int64_t work_since_poll = 0;
    std::vector<CallWork> calls; // Record::calls
    std::map<const Instruction*, std::vector<std::int32_t>> calls_of;
    /// The number of an equal CallWork of this instruction.
    std::int32_t call_index(const Instruction& in, CallWork work);

    Launch(const program::Program& p, const machine::Chip& c, const LaunchArguments& a, const ExecuteOptions& o);
    /// Asks the sink now and then; throws Stop when the user interrupts.
    void work(std::int64_t units) {
        if ((work_since_poll += units) >= 8'000'000) poll();
    }
    void poll();
};

/// An operation in a queue.
struct Item {
    OpInstance op;
    const Instruction* site = nullptr;
    std::uint32_t tick = 0;
    std::int32_t row = -1; // in the core's record
    std::uint8_t lock_count = 0;
    std::array<std::int32_t, machine::most_locks> locks{};
    std::array<std::array<std::uint32_t, pipes_per_core>, machine::most_locks> need{}; // releases required of the other pipes
    bool has_issue_clock = false;
    Clock issue_clock;    // what the scalar unit had waited for when it issued this
    bool arrived = false; // sync_all: this core has been counted
    bool repeats = false; // flag set: in program order no wait stands between it and the set before
};

/// Result of an operation that has started and not completed, when the policy separates the two.
struct Pending {
    struct Piece {
        std::byte* at;
        std::byte* known;
        std::int64_t bytes, saved;
    };
    std::vector<Piece> pieces;
    std::vector<std::byte> data;
    void clear() {
        pieces.clear();
        data.clear();
    }
};

struct PipeRun {
    std::vector<Item> ring;
    std::int32_t head = 0, size = 0;
    bool started = false;
    std::uint32_t issued = 0, done = 0; // ticks
    Clock clock;
    std::uint64_t blocked_at = ~std::uint64_t(0); // block version at which the head could not start
    std::uint64_t issue_version = 0;              // scalar clock version last sent along
    Pending pending;
    Item& front() { return ring[std::size_t(head)]; }
};

struct CoreRun {
    CoreName name;
    int place = 0;
    const program::CoreCode* code = nullptr;
    std::unique_ptr<program::Sequencer> sequencer;
    std::unique_ptr<CoreMemory> memory;
    std::array<PipeRun, pipes_per_core> pipes; // pipe S uses clock and ticks only
    bool finished = false, holding = false;
    Item held; // fetched, not placed yet; or the S operation at hand
    std::int64_t next_sequence = 0;
    std::uint64_t scalar_version = 1; // changes when the scalar unit learns something
    std::int32_t stopped_by = -1;     // pipe whose cross-core wait stops this core's issue (A2, A3)
    CoreRegisters registers;
    std::vector<std::pair<std::int64_t, std::string>> prints; // by sequence
    CoreRecord record;
    struct Task {
        std::int64_t task;
        std::int64_t open;
    };
    struct Stage {
        std::int64_t entered = 0, finished = 0;
        std::deque<Task> tasks;
    };
    std::vector<Stage> stages;
    bool idle() const {
        for (const PipeRun& p : pipes)
            if (p.size) return false;
        return true;
    }
};

/// Who waits for whom in blocks that cannot move.
HangReport explain_hang(std::vector<BlockRun*> blocks, const Launch& launch, std::int32_t waiting_to_start);

class BlockRun {
  public:
    BlockRun(Launch& launch, std::int32_t block);
    enum class State : std::uint8_t { finished, blocked };
    /// Moves until nothing in this block can.
    State run();
    bool moved() const { return m_moved; }
    /// Findings about what is left over, record and text into the launch; called once, after the last event.
    void finish();
    std::int32_t block() const { return m_block; }

    // ---- for the hang report
    std::vector<CoreRun>& cores() { return m_cores; }
    BlockSync& sync() { return m_sync; }
    Launch& launch() { return m_launch; }

    LoggedAccess self_of(const CoreRun& c, int pipe, const Item& item) const;
    bool unit_flag_allows(const CoreRun& c, const Item& item) const;
    /// Index of a core among those that meet.
    std::size_t participant(const CoreRun& c, bool among_all) const;
    /// The counter that cores of one side wait on: set by the cube for a vector core, or the other way round.
    Counter& counter(int vector_side, int mode, int subblock, std::int64_t id);

  private:
    struct Event {
        int core = -1, pipe = -1; // pipe S: the scalar unit
        std::int64_t sequence = 0;
    };
    bool choose(Event& out);
    bool enabled(CoreRun& c, int pipe);
    bool scalar_enabled(CoreRun& c);
    void step(const Event& e);
    void scalar_step(CoreRun& c);
    void fetch(CoreRun& c);
    void place(CoreRun& c);
    void record(CoreRun& c, Item& item);
    void take_tickets(CoreRun& c, Item& item);
    void pair_flags(CoreRun& c, Item& item);
    void follow_unit(CoreRun& c, const Item& item);
    bool can_start(CoreRun& c, int pipe, Item& item);
    bool can_start_sync(CoreRun& c, int pipe, Item& item);
    void start(CoreRun& c, int pipe, Item& item, bool split);
    void complete(CoreRun& c, int pipe, Item& item);
    bool run_sync(CoreRun& c, int pipe, Item& item); // true when the item was synchronisation
    void run_data(CoreRun& c, int pipe, Item& item, bool split);
    Call call_of(CoreRun& c, int pipe, Item& item);
    void check_ranges(const Call& call);
    void check_accesses(const Call& call, const Clock& clock);
    void note_contents(const CoreRun& c);
    void conflict(const Call& call, const LoggedAccess& old, const LoggedAccess& now);
    void supply_result(CoreRun& c, Item& item, Call& call);
    void hold_back(PipeRun& p);
    void release_pending(PipeRun& p);
    void flush_gm_log();
    void learn(CoreRun& c, int pipe, const Clock& clock) {
        join(c.pipes[std::size_t(pipe)].clock, clock, m_launch.grid.arena);
    }
    void learn_grid(CoreRun& c, int pipe, const GridKnowledge* g);
    SetEvent set_event(const CoreRun& c, int pipe, const Item& item) const;
    std::pair<std::size_t, std::size_t> unit_range(const Item& item, const CoreRun& c) const;
    Clock everything_done(const CoreRun& c) const;
    void set_all_clocks(CoreRun& c, const Clock& clock);
    void set_cross(CoreRun& c, int pipe, Item& item);
    void wait_cross(CoreRun& c, int pipe, Item& item);
    bool cross_ready(CoreRun& c, const Item& item);
    void track_issue(CoreRun& c, const Item& item);
    void track_done(CoreRun& c, const Item& item);
    void say(HazardKind kind, bool is_error, const CoreRun& c, int pipe, const Item& item, std::string message,
             std::string repair = {}, std::string order = {});

    Launch& m_launch;
    std::int32_t m_block;
    std::vector<CoreRun> m_cores;
    Machine m_machine;
    BlockSync m_sync;
    AccessList m_accesses;
    std::array<std::array<AccessLog, 10>, cores_per_block> m_logs;
    std::vector<AccessLog> m_gm_logs;                       // by GM range
    AccessLog m_shared_log;                                 // SSBUF
    std::array<std::uint32_t, pipes_per_block> m_flushed{}; // ticks already handed to the launch
    std::uint64_t m_version = 1;
    std::uint64_t m_random = 0;
    bool m_moved = false;
};

} // namespace pto::execute
