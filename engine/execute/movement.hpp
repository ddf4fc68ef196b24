#pragma once
/// Windows of global memory, and the fixpipe's way out of an accumulator: shared by load, store and move.

#include "engine/execute/call.hpp"

namespace pto::execute {

/// The part of a tensor that a load or store touches, as a map over GM bytes.
struct Window {
    std::int64_t address = 0; // GM address of the map's offset 0
    num::TileMap map;
    std::int64_t at_row = 0, at_col = 0; // where the window starts in the map (fractal tensors only)
    int bits = 32, row_axis = 0, col_axis = 0;
    std::int64_t row_at = 0, col_at = 0; // place in the tensor, for checks
    std::int64_t row_limit = 0, col_limit = 0;
    num::Footprint footprint(std::int64_t rows, std::int64_t cols) const;
    /// Length of one contiguous run in GM.
    std::int32_t row_bytes(std::int64_t rows, std::int64_t cols) const;
};
Window window_of(const Call& c, int tensor_operand, int tile_operand, int offsets_operand);

/// Where a fixpipe result lands.
struct FixpipeTarget {
    std::byte* data = nullptr;
    std::byte* known = nullptr; // shadow with the same offsets, null for GM
    num::TileMap map;
    std::int64_t row = 0, col = 0;
    DType dtype = DType::fp32;
};
/// Converts rows x cols elements of an accumulator, starting at (row, col) of src, and writes them: relu, scale,
/// conversion, atomic addition as the call's keywords say. Source: language 3.2; hardware 5.2.
void fixpipe(Call& c, const TileView& src, std::int64_t row, std::int64_t col, const FixpipeTarget& target,
             std::int64_t rows, std::int64_t cols, bool atomic);
/// dst += src, element by element in the element's own type.
void add_window(Call& c, std::byte* dst, const num::Place& to, const std::byte* src, const num::Place& from,
                std::int64_t rows, std::int64_t cols, DType dtype);

extern const Meaning load_meaning, store_meaning, move_meaning, insert_meaning;

} // namespace pto::execute
