#pragma once
/// Door of the sync plan.

#include "engine/schedule/schedule.hpp"
#include "engine/sync/sync_plan.hpp"

namespace pto::sync {

/// What the chip offers between the cores of a block.
struct SyncLimits {
    std::int32_t event_ids = 16;   // ids 0 .. event_ids-1, one counter a direction
    std::int32_t max_pending = 15; // unmatched sets a counter holds
    std::int64_t vec_bytes = 253952, mat_bytes = 524288; // UB of a vector core, L1: where a fix may place another slot
    bool auto_mutex = true;
    bool wait_stops_core = false;  // a pending wait stops every pipe of its core
    /// For those who look for a witness: K41 ... K47 are warnings and the plan is made all the same, as far as there are ids.
    bool unchecked = false;
};

/// Chooses a set/wait pair for every hand-over between the cores.
///   in     model     accepted by pipeline::analyse
///          schedule  delays per stage, aligned with the model's loops; all zeros means serial
///          limits    event ids per direction, permits per id
///   out    per loop: edges, sites in stage order, permits set before and awaited after the outer loop, lists to declare
///   fails  PTO-K37 ... K47, PTO-S4, PTO-S7, PTO-pipeline-unprotected, -gm-handover, -permits, and
///          what schedule::check_retiming says. Errors of stricter rules
///          accompany a plan, any other error leaves none
///   cost   O(accesses * slots) events a loop; the cycle test is O(accesses * edges)
///   source pipeline reference, 13, 14; its [S] additions are marked added_by_us
Result<SyncPlan> plan_sync(const pipeline::Model& model, const schedule::Schedule& schedule, const SyncLimits& limits = {});

/// As plan_sync for one loop of the kernel; `overlap_lists` counts allocated lists over the kernel.
Result<LoopPlan> plan_loop(const pipeline::Model& model, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const SyncLimits& limits,
                           std::int32_t& overlap_lists);

} // namespace pto::sync
