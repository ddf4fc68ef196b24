#pragma once
/// Door of the schedule.

#include "engine/ir/pipeline.hpp"
#include "engine/schedule/schedule.hpp"

namespace pto::schedule {

/// Delays of one chain of stages that alternate between the cores: the first stage of each core starts as early as it can, every
/// later one runs `preload` beats behind the previous stage of its core. Preload 0 gives zeros.
std::vector<std::int32_t> delays(std::int32_t stages, std::int32_t preload);

LoopSchedule schedule_loop(std::int32_t stages, std::int32_t preload);

/// Assigns delays to every loop.
///   in     model    accepted by pipeline::analyse
///          preload  one value a loop; the overload without it takes what the model was analysed with
///   out    one schedule a loop
///   fails  never; what a schedule breaks is said by check_retiming, which plan_sync calls
///   source pipeline reference, 6, 10, 11, 12.3
Result<Schedule> plan_schedule(const pipeline::Model& model, const std::vector<std::int32_t>& preload);
Result<Schedule> plan_schedule(const pipeline::Model& model);

/// What only binds when stages are delayed: PTO-pipeline-body-pick, -mixed-argument, -cursor-mix, -carried-state, PTO-S8. Nothing for
/// a serial schedule. O(stages^2 * local accesses^2), no task is unrolled.
void check_retiming(const pipeline::Model& model, const pipeline::Loop& loop, const LoopSchedule& schedule, Diagnostics& out);

/// Memory without event ids that stages (or the statements around them) of one core hand to each other: does the new order keep
/// what the serial order meant?
void check_carried_state(const pipeline::Model& model, const pipeline::Loop& loop, const LoopSchedule& schedule, Diagnostics& out);

} // namespace pto::schedule
