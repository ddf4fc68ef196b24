#pragma once
/// When each stage runs: stage s handles task b - delay(s) in beat b. Source: pipeline reference, 10.

#include <cstdint>
#include <vector>

namespace pto::schedule {

struct LoopSchedule {
    std::int32_t preload = 0;          // 0: serial order, synchronisation only
    std::vector<std::int32_t> delays;  // beats, [stages]
    std::int32_t ring_depth = 1;       // tasks alive at once: largest delay + 1
    std::int32_t drain_beats = 0;      // ring_depth - 1
    std::int32_t delay(std::int32_t stage) const { return delays[std::size_t(stage)]; }
};

struct Schedule {
    std::vector<LoopSchedule> loops;   // aligned with Model::loops
};

} // namespace pto::schedule
