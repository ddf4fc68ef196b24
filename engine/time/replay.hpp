#pragma once
/// Replays a record through the queues, pipes, flags and memory of a chip. Source: hardware reference 2 and 3.

#include "engine/time/cost.hpp"

namespace pto::time {

/// A ring of one more slot: the cores of a kind that wait for its free slots find one permit more. Its ids are used in turn, a slot each, so
/// they become one counter: the k-th wait then meets the set for the task one slot further back.
struct MoreSlots {
    isa::Core waiter = isa::Core::cube;
    std::vector<int> ids;
    std::string name;             // "3 slots of out"
};

struct ReplayOptions {
    std::vector<Change> changes;  // what-if
    bool keep_waits = true;       // CoreTimes::waits; without them a long record needs less memory
    std::vector<MoreSlots> more_slots;
    std::size_t most_waits = 100'000; // of a core, that are kept one by one; later ones are summed up
};

/// When each row of the record runs.
///   in     record   rows in issue order per core; blocks beyond the chip's places run in waves
///          chip     timing rows and constants
///   out    start, end, visibility and cause of every row; what each pipe waited for; totals. The same input gives the same ticks
///   fails  never; a record that hangs leaves `stuck` non-empty and rows that never ran with start = end = -1
///   cost   O(rows + lines of GM touched); transfers of different cores are ordered by a heap of at most one request a pipe
///   model  docs/model/time.md, assumptions T1 to T12
Timeline replay(const execute::Record& record, const machine::Chip& chip, const ReplayOptions& options = {});

} // namespace pto::time
