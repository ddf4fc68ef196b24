#pragma once
/// Vector clocks. A clock says, for every pipe of a block, up to which instruction everything is known to be complete.

#include "engine/isa/enums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace pto::execute {

/// Pipes of one core, by isa::Pipe (without `all`).
inline constexpr int pipes_per_core = 7;
/// Cores of one block: AIC, AIV0, AIV1 (or a single core at place 0).
inline constexpr int cores_per_block = 3;
inline constexpr int pipes_per_block = pipes_per_core * cores_per_block;

inline int pipe_slot(int core, isa::Pipe pipe) { return core * pipes_per_core + int(pipe); }

/// What is known about other blocks: ticks of every pipe of every block, joined at grid-wide synchronisation. Immutable
/// once shared.
struct GridKnowledge {
    std::vector<std::uint32_t> ticks; // [blocks * pipes_per_block]
};

struct Clock {
    std::array<std::uint32_t, 24> at{}; // [pipes_per_block], padded for the vector unit
    const GridKnowledge* grid = nullptr;

    bool covers(int pipe, std::uint32_t tick) const { return at[std::size_t(pipe)] >= tick; }
    /// Componentwise maximum inside the block; the grid part is the caller's business when both sides have one.
    void join(const Clock& other) {
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = std::max(at[i], other.at[i]);
    }
};

} // namespace pto::execute
