#pragma once
/// What else a kernel could be: every preload with what it needs, how deep it may go, which id lists could go or shrink. Advice is
/// read off the same plan; nothing here changes one.

#include "engine/sync/plan_sync.hpp"

namespace pto::sync {

/// What one execution of a stage asks of one pipe, in core cycles.
struct PipeTime {
    isa::Pipe pipe = isa::Pipe::v;
    double busy = 0;   // the pipe is occupied
    double flight = 0; // until the last data has landed, beyond that
};
/// By stage of a loop, pipes in the order in which the stage's data passes them.
using StageTimes = std::vector<std::vector<PipeTime>>;

struct AdviceOptions {
    std::int32_t max_preload = 4;
    SyncLimits limits;
    std::vector<StageTimes> times;          // [loops]; empty: no prediction
};

/// Slots a channel needs at one preload.
struct SlotNeed {
    std::int32_t loop = 0;
    BufferId buffer;
    std::int32_t has = 0, needs = 0;
};

/// One preload for all loops.
struct SweepRow {
    std::int32_t preload = 0;
    bool accepted = false;
    Diagnostics why_not;                    // the errors, in the order of the rules
    std::vector<std::int32_t> ring_depths;  // [loops]
    std::vector<SlotNeed> slots;            // every channel of every loop
    std::int32_t ids = 0;                   // event ids the plan uses, over both directions; 0 when refused
    std::vector<double> cycles_per_task;    // [loops]; empty without times or when refused
};

/// An id list whose hand-overs other ones already order, pipe by pipe, as far as auto_mutex keeps the order inside a core. Found one
/// after the other: all of them can go together.
struct RedundantList {
    std::int32_t loop = 0;
    BufferId buffer;
    bool forward = false;
};

/// A list that could use one id for all its slots.
struct ShareChoice {
    std::int32_t loop = 0;
    BufferId buffer;
    bool forward = false;
    std::int32_t saves = 0;   // ids
    std::int32_t pending = 0; // unmatched sets that one id may then hold
};

struct Advice {
    std::optional<std::int32_t> largest_preload; // nothing: none up to max_preload is accepted
    std::vector<SweepRow> sweep;                 // preload 0 .. max_preload
    std::vector<RedundantList> redundant;        // at the preload the model asks for
    std::vector<ShareChoice> share;              // largest saving first
};

/// Sweeps the preload over one model.
///   in     model    accepted by pipeline::analyse
///   out    a row per preload, and what the plan at the model's own preload could do without
///   fails  never
///   cost   one plan per preload; the prediction is O(stages^3) a loop
Advice advise(const pipeline::Model& model, const AdviceOptions& options = {});

/// Steady-state cycles per task of one loop: the largest mean over the cycles of the order in which each pipe takes the stages, the
/// way of a task through the pipes of a stage, and the hand-overs. Slots of buffers that stay on one core are not in the graph, so what
/// only they hold back is not seen.
double cycles_per_task(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const std::vector<Edge>& edges, const StageTimes& times);

/// The edits that give a channel `slots` slots: mutex ids, event ids and bytes that nothing else uses. Empty when one of the three is
/// not surely free.
std::vector<Edit> grow_slots(const pipeline::Model& model, BufferId buffer, std::int32_t slots, const SyncLimits& limits);

/// The sweep and the lists as text.
std::string print(const pipeline::Model& model, const Advice& advice);

} // namespace pto::sync
