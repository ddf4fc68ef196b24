#include "engine/schedule/plan_schedule.hpp"

#include <algorithm>

namespace pto::schedule {

std::vector<std::int32_t> delays(std::int32_t stages, std::int32_t preload) {
    std::vector<std::int32_t> d(std::size_t(std::max(stages, 0)), 0);
    if (preload > 0)
        for (std::int32_t j = 1; j < stages; ++j) d[std::size_t(j)] = j == 1 ? 1 : d[std::size_t(j - 2)] + preload;
    return d;
}

LoopSchedule schedule_loop(std::int32_t stages, std::int32_t preload) {
    LoopSchedule s;
    s.preload = preload;
    s.delays = delays(stages, preload);
    s.ring_depth = s.delays.empty() ? 1 : *std::max_element(s.delays.begin(), s.delays.end()) + 1;
    s.drain_beats = s.ring_depth - 1;
    return s;
}

Result<Schedule> plan_schedule(const pipeline::Model& model, const std::vector<std::int32_t>& preload) {
    Result<Schedule> result;
    Schedule s;
    for (const pipeline::Loop& loop : model.loops) {
        const std::int32_t p = std::size_t(loop.index) < preload.size() ? preload[std::size_t(loop.index)] : preload.empty() ? loop.preload : preload.back();
        s.loops.push_back(schedule_loop(std::int32_t(loop.stages.size()), p));
    }
    result.value = std::move(s);
    return result;
}

Result<Schedule> plan_schedule(const pipeline::Model& model) {
    std::vector<std::int32_t> preload;
    for (const pipeline::Loop& loop : model.loops) preload.push_back(loop.preload);
    return plan_schedule(model, preload);
}

} // namespace pto::schedule
