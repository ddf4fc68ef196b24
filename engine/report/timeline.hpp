#pragma once
/// Where each core's pipes spend their time, for one block: a prediction or a run on a card.

#include "engine/isa/enums.hpp"
#include "engine/report/common.hpp"
#include "engine/report/sync_plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

/// 1/1024 of a core cycle; microseconds appear in text and pictures only.
using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_cycle = 1024;

struct TimelineOp {
    std::string name;                 // "matmul 64x64x64 fp32"
    std::string label;                // short word for what runs before the loop: "B"; may be empty
    Place place;
    std::string grade;                // "stated", "derived", "guessed"
    bool operator==(const TimelineOp&) const = default;
};

struct Slice {
    Ticks start = 0, end = 0;         // the pipe is occupied
    Ticks landed = 0;                 // data in flight until then; = end when nothing is
    std::int32_t op = 0;              // index into Timeline::ops
    std::int32_t task = -1;
    std::int32_t stage = -1;          // index into Timeline::stages; -1: outside the loop
    bool operator==(const Slice&) const = default;
};

/// A pipe that waits for the other core. The last `paid` ticks delayed its next operation, the rest was free.
struct Wait {
    Ticks start = 0, end = 0, paid = 0;
    std::int32_t stage = -1, task = -1;          // who waits
    std::int32_t for_stage = -1, for_task = -1;  // who sets; of several the later setter
    std::string buffer;
    Direction direction = Direction::ready;
    std::int32_t id = -1;
    bool fill = false;                // before the stage's first task: drawn, not counted in the stage table
    bool operator==(const Wait&) const = default;
};

/// A pipe whose next operation waits inside its own core.
struct Gap {
    Ticks start = 0, end = 0;
    std::int32_t stage = -1, task = -1;
    bool lock = false;                // for a lock; else for a flag, a barrier or a unit flag
    bool operator==(const Gap&) const = default;
};

struct LaneTotals {
    Ticks busy = 0, paid = 0, free = 0, in_core = 0, idle = 0;   // add up to Timeline::total
    bool operator==(const LaneTotals&) const = default;
};

/// What a lane does, in two words: ("AIC", "FIX") gives "L0C out". Empty for a pipe that nobody knows.
std::string_view lane_role(std::string_view core, std::string_view pipe);

struct Lane {
    std::string core;                 // "AIC", "AIV0"
    std::string pipe;                 // "MTE2"
    std::string role;                 // "loads", "L1 to L0", "matmul"
    bool computes = false;            // tall bar: M and V
    std::vector<Slice> slices;        // by start; never overlapping
    std::vector<Wait> waits;
    std::vector<Gap> gaps;
    std::vector<Slice> predicted;     // of the same lane, when this is a run on a card
    LaneTotals totals;
    /// Of a long run, whose middle has no slices: busy time in equal parts of [0, total), exact.
    std::vector<Ticks> overview;
    bool operator==(const Lane&) const = default;
};

struct WaitPart {
    std::int32_t for_stage = -1;
    Ticks ticks = 0;
    bool operator==(const WaitPart&) const = default;
};
/// Mean of one task. compute + paid waits + move + in-core waits = span.
struct StageTime {
    std::string name;
    isa::Core core = isa::Core::cube;
    Place place;
    std::int32_t tasks = 0;
    Ticks compute = 0, move = 0, in_core = 0, span = 0;
    Ticks lock = 0;                   // the part of in_core in which a lock of its own core was missing
    std::vector<WaitPart> paid;
    Ticks predicted_span = -1;        // of a run on a card; -1 none
    bool operator==(const StageTime&) const = default;
};

/// What one stage paid in all for one buffer and direction, fill left out.
struct PaidTotal {
    std::int32_t stage = -1;
    std::string buffer;
    Direction direction = Direction::ready;
    Ticks ticks = 0;
    bool operator==(const PaidTotal&) const = default;
};

struct CriticalStep {
    std::int32_t lane = 0, slice = 0;
    bool operator==(const CriticalStep&) const = default;
};

struct WhatIf {
    std::string change;               // "20 % faster matmul", "3 slots of out", "preload 1"
    double percent = 0;               // of the total time; negative is faster
    bool operator==(const WhatIf&) const = default;
};
struct WhatIfGroup {
    std::string label;                // empty, or "at 64 tasks (21.8 us)"
    std::vector<WhatIf> changes;
    bool operator==(const WhatIfGroup&) const = default;
};

struct BlockTime {
    std::int32_t block = 0;
    Ticks total = 0;
    double busy = 0;                  // share of the pacing pipe, 0..1
    bool operator==(const BlockTime&) const = default;
};

/// What sets the pace, in a sentence: the busiest pipe, in it the stage and the operation with the most time.
struct Bound {
    std::int32_t lane = -1, stage = -1, op = -1;
    double share = 0;                 // of the total, 0..1
    double op_share = 0;              // of the pipe's busy time
    std::string text;                 // "vector side, stage 2, exp"; empty when nothing ran
    bool operator==(const Bound&) const = default;
};

/// How much of the critical path runs through one pipe for one stage. All parts add up to the total.
struct CriticalShare {
    std::int32_t lane = -1, stage = -1;  // lane -1: before the first operation, or on a core that is not drawn
    Ticks ticks = 0;
    bool operator==(const CriticalShare&) const = default;
};

/// One side of the launch against what the chip could do. Rates in operations per microsecond.
struct RoofPoint {
    std::string side;                 // "cube": multiply and add count two; "vector": one an element
    double operations = 0;            // of the whole launch
    double intensity = 0;             // operations for a byte of global memory
    double achieved = 0, peak = 0;    // peak of the cores that ran, at the types used
    double roof = 0;                  // min(peak, intensity * memory rate)
    std::string limit;                // "compute" or "memory": which of the two makes the roof
    bool operator==(const RoofPoint&) const = default;
};
struct Roofline {
    double hbm_bytes = 0, l2_bytes = 0;                   // moved by the whole launch
    double hbm_bytes_per_us = 0, l2_bytes_per_us = 0;     // of the chip
    std::vector<RoofPoint> points;    // sides that worked
    bool operator==(const Roofline&) const = default;
};

/// The shortest time from task to task that the plan's hand-overs and in-order pipes allow: the largest mean of a cycle.
struct PlanPeriod {
    Ticks ticks = -1;                 // -1: no plan, or too few tasks
    std::vector<std::string> cycle;   // "stage1 M", "stage2 V", ...: the cycle that decides
    std::int32_t tasks = 0;           // tasks that go round it at once: slots for a ring, 1 for a pipe
    bool operator==(const PlanPeriod&) const = default;
};

struct Timeline {
    Provenance provenance;
    std::string kernel, target;
    std::string preload;              // "2"; empty without a pipeline loop
    std::int64_t tasks = 0;
    std::int32_t blocks = 1, block = 0;          // how many ran, which is drawn
    Ticks total = 0;
    double cycles_per_us = 1650;
    Ticks serial_total = -1;          // preload 0; -1 unknown
    Ticks fill = 0, drain = 0;
    Ticks steady = -1;                // ticks a task in the steady state; -1 unknown
    bool steady_is_floor = false;     // only the busiest pipe's work, nothing was simulated that long
    std::string pace_core, pace_pipe; // "AIC", "M"
    std::vector<TimelineOp> ops;
    std::vector<Lane> lanes;          // AIC: MTE2, MTE1, M, FIX; AIV: MTE2, V, MTE3; unused pipes left out
    std::string folded;               // "AIV1 within 0.1 %"; empty: nothing folded
    std::vector<StageTime> stages;
    std::vector<PaidTotal> paid_most; // largest first
    std::vector<CriticalStep> critical;
    std::vector<CriticalShare> critical_shares; // largest first
    Bound bound;
    Roofline roofline;
    PlanPeriod plan_period;           // against `steady`
    std::vector<WhatIfGroup> what_if;
    std::vector<BlockTime> block_times;
    std::int32_t runs = 0;            // on a card
    Ticks fastest = -1, slowest = -1; // of the runs
    Ticks predicted_total = -1;       // of a run on a card
    Ticks left_out_from = -1, left_out_to = -1;  // of a long run: between these no slices, waits and gaps are kept
    std::string note;                 // "this capture has no pipes"
    bool operator==(const Timeline&) const = default;
};

Status status(const Timeline& t);
double us(const Timeline& t, Ticks ticks);

/// Folds what the lanes say: lane totals, stage table, paid_most, fill, drain, and the pace when none was given.
///   in   stages need name, core, place; lanes need slices, waits, gaps in time order
///   rule a stage's span of one task runs from its first slice or paid wait to its last slice landed; each instant counts
///        once by priority compute, paid wait, move, and what is left is waiting inside the core
///   cost O(n log n) in the number of intervals
void summarise(Timeline& t);
/// Drops the lanes of AIV1 when every one is within `percent` of AIV0's, and says so in `folded`.
void fold_equal_cores(Timeline& t, double percent = 1.0);
/// Laws that do not hold: a lane whose parts do not add up or overlap, a stage whose parts are not its span. Empty is right.
std::vector<std::string> inconsistencies(const Timeline& t);

/// Neighbouring slices of one stage and task as one bar.
struct Bar {
    Ticks start = 0, end = 0, landed = 0;
    std::int32_t stage = -1, task = -1;
    std::size_t first = 0, count = 1; // slices of the lane
};
std::vector<Bar> bars(const Lane& lane);

/// Shares of one lane in `n` equal parts of [from, to): per part the ticks of each stage, then the paid waits by stage waited for.
struct Bin {
    std::vector<Ticks> busy, paid;    // [stages + 1], last: outside the loop or unknown
    Ticks free = 0, in_core = 0;
};
std::vector<Bin> bins(const Lane& lane, std::size_t stages, Ticks from, Ticks to, int n);

/// A middle in which every task takes the same time: what a picture may leave out.
struct Periodic {
    bool found = false;
    Ticks from = 0, to = 0;           // after two drawn periods; until the last periodic task
    std::int64_t beats = 0;           // left out
    Ticks period = 0;
    double spread_percent = 0;
};
Periodic periodic_middle(const Timeline& t);

std::string to_text(const Timeline& t, Language language = Language::en);
nlohmann::json json_of(const Timeline& t);
Timeline timeline_from_json(const nlohmann::json& j);

} // namespace pto::report
