#pragma once
/// Type of an on-chip tile: what pl.TileType(...) describes. Source: language reference 2.3, 2.4.

#include "engine/isa/dtype.hpp"
#include "engine/isa/enums.hpp"

#include <array>
#include <cstdint>

namespace pto::isa {

struct TileType {
    std::array<std::int32_t, 2> shape{};             // physical rows, columns
    DType dtype = DType::fp32;
    MemorySpace memory = MemorySpace::vec;
    Layout layout = Layout::nd;
    std::int32_t fractal = 512;                      // bytes of a fractal; 1024 for 4-byte Acc, 32 for E8M0 scales
    TilePad pad = TilePad::null;
    std::uint8_t compact = 0;                        // 0 none, 1 strides follow the valid rows, 2 one spare row
    bool fixed_valid = false;                        // valid_shape was given as constants
    std::array<std::int32_t, 2> valid{};             // initial valid rows, columns (shape when not fixed)
    bool operator==(const TileType&) const = default;

    /// Bytes a slot occupies: rows * cols * ceil(bits / 8), the language's default size (no spare row counted).
    std::int64_t byte_size() const { return std::int64_t(shape[0]) * shape[1] * bytes(dtype); }
};

} // namespace pto::isa
