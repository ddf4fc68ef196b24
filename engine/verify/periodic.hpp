#pragma once
/// Why a handful of task counts stands for all of them: the instruction streams repeat (docs/model/sync.md, section 4).

#include "engine/verify/loops.hpp"
#include "engine/verify/order.hpp"

#include <optional>

namespace pto::verify {

/// Static half (P1): values that count tasks reach control, ids, slots, valid shapes and on-chip offsets through remainders by
/// constants only. Returns why not.
std::optional<std::string> counters_stay_modular(const program::Program& program, const Loops& loops, std::int32_t sweeping);

/// What one run's streams look like: a hash per core before the loop, of each iteration, and after it.
struct StreamShape {
    struct Core {
        std::size_t before = 0, after = 0;
        std::vector<std::size_t> iterations;
    };
    std::vector<Core> cores;
};
StreamShape shape_of(const Trace& trace);

/// P3: every pairing of a set with its wait goes forward in iterations.
bool pairings_go_forward(const SyncIndex& index);

/// P4: global-memory windows of different pipes move at one speed and meet within a period. Returns why not.
std::optional<std::string> windows_stay_close(const Trace& trace, std::int64_t warm_up, std::int64_t period);

} // namespace pto::verify
