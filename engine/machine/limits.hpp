#pragma once
/// Limits of the model that no chip file states.

#include <cstddef>

namespace pto::machine {

/// Mutex ids that one operation holds at once. The checker refuses more, so that programs find room for them in every instance.
inline constexpr std::size_t most_locks = 16;

} // namespace pto::machine
