#pragma once
/// Happens-before of one trace. Firing follows the rules of docs/model/sync.md (H1 to H9): pipes start in issue order, sets and
/// releases act after everything earlier on their pipe, waits and acquires precede everything later, locks are tickets in program
/// order, flags pair k-th set with k-th wait. Clocks say how many operations of each pipe are complete when an event starts.

#include "engine/machine/chip.hpp"
#include "engine/verify/trace.hpp"

#include <bitset>

namespace pto::verify {

/// Per pipe of each core: all operations up to this one are complete.
using Clock = std::array<std::int32_t, lane_count>;

/// One counter of one id: from one core to another; in a barrier-like mode also to itself.
struct Counter {
    std::int16_t id = 0;
    std::uint8_t mode = 0;              // isa::CrossCoreSyncMode; UNICAST counts with INTRA_BLOCK, whose hardware flags it shares
    std::int8_t from = 0, to = 0;       // cores
    std::vector<std::int32_t> sets, waits; // program order
    std::bitset<lane_count> set_lanes, wait_lanes;
};
struct Flag {
    std::int8_t core = 0, set_pipe = 0, wait_pipe = 0;
    std::int16_t id = 0;
    std::vector<std::int32_t> sets, waits;
};
struct Ticket {
    std::int32_t acquire = -1, release = -1; // events; one and the same for an operation, -1 when a hand-written lock is never released
};
struct Lock {
    std::int8_t core = 0;
    std::int16_t id = 0;
    std::vector<Ticket> tickets; // program order
};

/// What never changes while a trace is fired in different orders.
class SyncIndex {
  public:
    SyncIndex(const Trace& trace, const machine::Chip& chip);

    std::vector<Counter> counters;
    std::vector<Flag> flags;
    std::vector<Lock> locks;
    std::array<std::vector<std::int32_t>, lane_count> lanes;   // events of each pipe, in order
    std::vector<std::int32_t> gate;                            // per event: the last event before it that stops the scalar unit, -1 none
    struct TicketRef { std::int32_t lock, ticket; };
    std::vector<std::array<std::int32_t, 2>> counters_of;      // per event: the counters it sets or waits for, -1 none
    std::vector<std::int32_t> flag_of;                         // per event
    std::vector<std::int32_t> ticket_begin;                    // per event: first of its refs; the next event's is the end
    std::vector<TicketRef> tickets;
    std::vector<TicketRef> unlocks;                            // by event, for hand-written unlocks
    std::vector<std::int32_t> unlock_of;                       // per event: index into unlocks, -1
    std::vector<std::int32_t> finals_before;                   // per event with a unit flag: finals of its own side earlier
    std::vector<std::int32_t> stray_unlocks;                   // events that release what is not held
    std::vector<char> rival;       // per event: a wait of a counter that several pipes await
    bool in_order_v = false, wait_stops_core = false;
    bool is_gate(const Event& e) const { return e.pipe == std::int8_t(isa::Pipe::s) || (wait_stops_core && e.act == Act::cross_wait); }
    const Trace& trace;
};

/// One maximal run.
struct Firing {
    std::vector<char> fired;               // started
    std::vector<Clock> start;              // per event, when clocks were asked for
    std::vector<std::int32_t> order;       // events as they fired
    std::array<std::int32_t, lane_count> head{}; // events fired of each pipe
    std::vector<std::int32_t> counter_sets, counter_waits, flag_sets, flag_waits; // how often each took effect
    bool finished = false;
    bool ordered = true;                   // P5: every wait of an id knew the one before it in program order, apart from what its own set told it
    bool decides() const { return finished && ordered; } // all maximal runs equal this one up to order
};

/// Fires everything that can fire.
///   held   event that starts but never completes, -1 for none: what still starts is not ordered after it
///   until  stops as soon as this event has fired, -1 for never
Firing fire(const SyncIndex& index, bool clocks, std::int32_t held = -1, std::int32_t until = -1, bool reverse_lanes = false);

/// H10: does every run finish when each competing wait gets the last set that it may be left with? `clocks` is a firing with clocks.
bool finishes_in_every_order(const SyncIndex& index, const Firing& clocks);

/// Does the trace finish when every core works one operation at a time, in program order? Within a core all edges go forward in that
/// order, so whatever operations that only locks order are added, no circle closes.
bool finishes_in_program_order(const SyncIndex& index);

/// Waits of several pipes that nothing orders compete for the sets of their id: every choice is followed (A6).
struct Choices {
    bool complete = true;     // every choice within the limit
    std::int64_t work = 0;    // events fired in all choices
    bool both_start = false;  // in some run both held events are in flight at once
    bool stuck = false;       // some run does not finish
    Firing stuck_run;
};
Choices explore(const SyncIndex& index, std::int32_t held_a, std::int32_t held_b, std::int64_t work_limit);

} // namespace pto::verify
