#pragma once
/// One run of one block: what each core issues, in program order, with the bytes it touches. Untimed and without data.

#include "engine/program/footprint.hpp"
#include "engine/program/sequencer.hpp"

#include <map>
#include <set>

namespace pto::verify {

class Watch; // growth.hpp

inline constexpr int pipe_count = 7;       // isa::Pipe without `all`
inline constexpr int max_cores = 3;        // AIC, AIV0, AIV1
inline constexpr int lane_count = pipe_count * max_cores;

enum class Act : std::uint8_t { work, flag_set, flag_wait, barrier, barrier_all, cross_set, cross_wait, sync_all, lock, unlock };

struct Event {
    const ir::Stmt* stmt = nullptr;
    const isa::OpRow* row = nullptr;
    Act act = Act::work;
    std::int8_t core = 0;          // index into Trace::cores
    std::int8_t pipe = 0;
    std::int8_t set_pipe = 0, wait_pipe = 0; // flags
    std::uint8_t mode = 0;         // cross-core mode, or the core type of sync_all
    std::uint8_t lock_count = 0;
    std::array<std::int8_t, machine::most_locks> locks{};
    std::int16_t id = -1;          // event, flag or lock id
    bool unit_matmul = false, unit_store = false, unit_final = false; // unit flag users
    std::int64_t unit = -1;        // its Acc address
    std::int32_t index = 0;        // from 1 on its pipe
    std::int32_t order = 0;        // from 0 on its core
    std::int32_t stage = -1;
    std::int64_t task = -1;
    std::int16_t segment = 0;      // 2k + 1 inside the k-th task loop, 2k between the loops before and behind it
    std::int64_t iteration = -1;   // trip of that task loop
    std::int32_t first_access = 0, access_count = 0;
    int lane() const { return core * pipe_count + pipe; }
    struct Position position() const;
};

/// Where in the sequence of task loops: positions only grow along a core's program.
struct Position {
    std::int16_t segment = 0;
    std::int64_t iteration = -1;
    auto operator<=>(const Position&) const = default;
};

inline Position Event::position() const { return {segment, iteration}; }

/// The scalar state of one core where a position begins, or at a full barrier between task loops (Watch::digest).
struct Mark {
    Position at;
    std::int32_t event = 0;        // the next event
    bool barrier = false;
    std::size_t state = 0;
};

struct Access {
    std::int32_t event = 0, footprint = 0;
    bool write = false, atomic = false;
    std::int16_t operand = -1, slot = -1;
    ir::TensorId tensor;
    ir::TileDeclId decl;
};

/// Distinct sets of bytes: accesses share them.
struct Bytes {
    std::int8_t owner = -1;        // core whose memory it is, -1 for global memory
    isa::MemorySpace memory = isa::MemorySpace::ddr;
    bool exact = true;
    isa::Footprint set;
    std::int64_t first = 0, last = 0;
};

struct TraceCore {
    isa::Core kind = isa::Core::cube;
    std::int32_t subblock = 0;
    const program::CoreCode* code = nullptr;
    std::shared_ptr<const program::Prepared> prepared;
    std::int32_t first_event = 0, last_event = 0; // half-open
};

struct Trace {
    std::vector<TraceCore> cores;
    std::vector<Event> events;
    std::vector<Access> accesses;
    std::vector<Bytes> bytes;
    std::vector<std::vector<Mark>> marks; // per core, when states were asked for
    // What happened on the way.
    bool complete = true;          // false: the event limit or an endless scalar loop cut it
    std::string problem;           // why not complete
    std::vector<program::Fault> faults;
    std::int32_t guessed_branches = 0, guessed_slots = 0, guessed_trips = 0;
    std::vector<std::set<std::int32_t>> guesses; // per program core: instructions whose outcome was guessed
    std::map<std::int32_t, std::int64_t> bounds; // per loop class: trips the bounds ask for, when known
};

/// How unknown control is decided.
struct Policy {
    enum class Branch : std::uint8_t { taken, skipped, even, odd } branch = Branch::taken;
    std::int64_t inner_trips = 2;  // loops of unknown length that no class forces
};

/// Loops of both cores that run together: one class per loop of the source.
struct LoopPlan {
    std::vector<std::map<std::int32_t, std::int32_t>> class_of; // per program core: loop -> class
    std::vector<std::int64_t> trips;                            // per class; negative: as the bounds say
    std::vector<std::int32_t> sequence;                         // classes of the task loops in program order: they number Event::segment
    std::vector<Watch> const* watches = nullptr;                // per program core: states to record
};

/// Cores of one block.
std::vector<TraceCore> block_cores(const program::Program& program);
Trace trace(const program::Program& program, const std::vector<TraceCore>& cores, const LoopPlan& loops, const program::CoreSetup& setup, const Policy& policy,
            std::int64_t event_limit);

} // namespace pto::verify
