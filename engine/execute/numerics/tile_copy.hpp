#pragma once
/// Moves bytes between two maps: the data half of load, store, move, insert, transpose and fillpad. No element is
/// converted. Memory spans start where their map's offset 0 is; the caller has checked that every touched byte is
/// inside.

#include "engine/execute/numerics/tile_map.hpp"

namespace pto::numerics {

struct Place {
    TileMap map;
    std::int64_t row = 0, col = 0; // where the window starts
};

/// dst(dst.row + i, dst.col + j) = src(src.row + i, src.col + j) for i < rows, j < cols. Both maps have equal `bits`.
///   cost  memcpy per contiguous run when both sides share a contiguous direction, else one element at a time in blocks
/// The windows may not overlap in memory unless they are the same bytes in the same order.
void copy_window(std::byte* dst, const Place& to, const std::byte* src, const Place& from, std::int64_t rows,
                 std::int64_t cols);

/// Writes the element `value` (its low bytes(dtype) bytes, or low nibble) to the window.
void fill_window(std::byte* dst, const Place& to, std::uint64_t value, std::int64_t rows, std::int64_t cols);

/// The 32-byte tail of a fractal load: fills columns [cols, next multiple of the fractal width) of rows [0, rows) with
/// `value`. With a ZN map (transposed load) the same for rows. Nothing happens for layouts without fractals. Returns
/// the window that was written, empty when there was none, as {row, col, rows, cols}.
std::array<std::int64_t, 4> fill_fractal_tail(std::byte* dst, const TileMap& map, std::uint64_t value,
                                              std::int64_t rows, std::int64_t cols);

/// The bits of a pad value. null and zero give 0; min is -inf, INT_MIN or 0; max is +inf, INT_MAX or all ones.
/// E4M3FN and FP4, which have no infinity, give their largest finite magnitude; E8M0 gives its smallest and largest
/// scale.
std::uint64_t pad_value(isa::DType type, isa::TilePad pad);

/// One element at an element offset of a memory span, zero-extended; 4-bit types address nibbles.
std::uint64_t read_element(const std::byte* memory, int bits, std::int64_t element);
void write_element(std::byte* memory, int bits, std::int64_t element, std::uint64_t value);

} // namespace pto::numerics
