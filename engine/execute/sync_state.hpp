#pragma once
/// Flags, counters, locks and unit flags of one block, and what is shared by the grid. Source: language 3.4, 4.2
/// to 4.5; hardware 2.3 to 2.6.

#include "engine/execute/clock.hpp"
#include "engine/execute/hazard.hpp"
#include "engine/machine/chip.hpp"
#include "engine/program/instance.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace pto::execute {

struct Instruction;

/// Knowledge about other blocks. Snapshots live as long as the launch.
class GridArena {
  public:
    explicit GridArena(std::int32_t blocks) : m_size(std::size_t(blocks) * pipes_per_block) {}
    GridKnowledge* make() {
        m_all.push_back(std::make_unique<GridKnowledge>());
        m_all.back()->ticks.assign(m_size, 0);
        return m_all.back().get();
    }
    /// The join of two snapshots: one of them when it covers the other.
    const GridKnowledge* join(const GridKnowledge* a, const GridKnowledge* b);

  private:
    std::vector<std::unique_ptr<GridKnowledge>> m_all;
    std::size_t m_size;
};
inline void join(Clock& into, const Clock& other, GridArena& arena) {
    into.join(other);
    if (other.grid != into.grid && other.grid) into.grid = into.grid ? arena.join(into.grid, other.grid) : other.grid;
}

/// One raised flag or posted count, as a clock.
struct SetEvent {
    Clock clock;
    std::int16_t pipe = 0;
    std::uint32_t tick = 0;
};

/// A binary flag (set_pipe, wait_pipe, id) of one core.
struct Flag {
    bool raised = false;
    bool unpaired = false; // in program order: the last set has no wait yet
    std::int64_t sets = 0, waits = 0;
    SetEvent set;
    std::uint32_t last_wait = 0; // tick of the last wait on the waiting pipe
    program::Iterations set_at, awaited_at; // when both happened last
    const Instruction* setter = nullptr;
};

/// A counting flag between cores.
struct Counter {
    std::int64_t sets = 0, waits = 0;
    std::int64_t joined = 0;                                       // sets known to precede every later wait
    std::vector<SetEvent> open;                                    // sets that are not, in the order they happened
    std::deque<std::pair<std::int16_t, std::uint32_t>> waits_open; // waits that no set is known to follow yet
    std::int64_t waits_covered = 0;
    const Instruction* setter = nullptr;
    std::deque<std::int64_t> raised_in; // outermost iteration, or task, of each outstanding set; the oldest few
    std::int64_t fell_through = -1;     // iteration of the first wait that an earlier iteration's set let pass
    std::int64_t fell_by = -1;          // ... and the iteration of that set
    std::int64_t count() const { return sets - waits; }
    void raised(std::int64_t iteration) {
        if (raised_in.size() < 64) raised_in.push_back(iteration);
    }
    void awaited(std::int64_t iteration) {
        if (raised_in.empty()) return;
        const std::int64_t set = raised_in.front();
        raised_in.pop_front();
        if (fell_through < 0 && set >= 0 && set < iteration) fell_through = iteration, fell_by = set;
    }
    /// Records a set; returns how many may be outstanding after it.
    std::int64_t post(const SetEvent& e);
    /// Consumes one; joins every set that must have happened before.
    void take(Clock& clock, std::int16_t pipe, std::uint32_t tick, GridArena& arena);
};

/// Buffer lock: a ticket is how many acquisitions each pipe had issued before, in program order.
struct Lock {
    std::array<std::uint32_t, pipes_per_core> acquired{}, released{};
    std::array<Clock, pipes_per_core> release;
    std::array<const Instruction*, pipes_per_core> holder{};
};

/// All cores of one kind meet: k-th wait passes after everybody's k-th set.
struct Meeting {
    std::vector<std::vector<Clock>> sets;        // by participant
    std::vector<std::int64_t> waits;             // passed, by participant
    std::vector<std::int32_t> block_of;          // by participant
    std::vector<const GridKnowledge*> snapshots; // of the k-th meeting, made on first use
    /// Has everybody set for the k-th time (from 1)?
    bool complete(std::int64_t k) const {
        for (const auto& s : sets)
            if (std::int64_t(s.size()) < k) return false;
        return !sets.empty();
    }
    std::int64_t arrived(std::int64_t k) const {
        std::int64_t n = 0;
        for (const auto& s : sets) n += std::int64_t(s.size()) >= k;
        return n;
    }
    const GridKnowledge* snapshot(std::int64_t k, GridArena& arena);
};

struct GridState {
    GridArena arena; // first: snapshots outlive the meetings
    std::int32_t blocks = 1;
    std::int32_t subblocks = 1; // vector cores per block
    bool has_cube = false, has_vector = false;
    std::array<std::vector<Meeting>, 2> inter_block; // [cube, vector][id]
    std::array<Meeting, 3> sync_all;                 // by SyncCoreType
    GridState(std::int32_t blocks_, std::int32_t subblocks_, bool cube, bool vector);
    std::int32_t participants(isa::Core kind) const {
        return kind == isa::Core::cube ? (has_cube ? blocks : 0) : (has_vector ? blocks * subblocks : 0);
    }
};

/// One flag for each 512 bytes of the accumulator memory.
struct UnitFlags {
    bool phased = false;                 // some operation of this core had a phase
    std::vector<std::uint8_t> raised;
    std::vector<std::int32_t> last; // index into events: who changed it last, -1 never
    std::vector<std::uint8_t> issued;            // in program order: phase of the product here that no Final store has taken
    std::vector<const Instruction*> issued_by;   // ... and the last of them
    std::vector<SetEvent> events;
};

/// Synchronisation inside one block.
struct BlockSync {
    BlockSync(const machine::Chip& chip, int cores, std::int32_t block);
    std::int32_t event_ids, cross_ids;
    std::array<std::vector<Flag>, cores_per_block> flags;                  // [(set * pipes + wait) * ids + id]
    std::array<std::vector<Lock>, cores_per_block> locks;                  // by mutex id, made on first use
    std::array<std::array<std::vector<Counter>, 2>, 2> to_vector, to_cube; // [INTRA, UNICAST][subblock], by id
    std::vector<Meeting> subblocks;                                        // INTER_SUBBLOCK, by id
    std::array<UnitFlags, cores_per_block> unit;
    Flag& flag(int core, isa::Pipe set, isa::Pipe wait, std::int64_t id) {
        return flags[std::size_t(core)][std::size_t((int(set) * pipes_per_core + int(wait)) * event_ids + id)];
    }
};

} // namespace pto::execute
