#pragma once
/// Where the element (row, column) of a tile or of a window of global memory lives, for every layout, as one form:
/// offset = (r / row_block) * row_far + (r % row_block) * row_near + (c / col_block) * col_far + (c % col_block) * col_near.
/// Offsets count elements; 4-bit elements are nibbles, the low nibble first. Source: language 2.3, codegen 1.6.

#include "engine/isa/tile_type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pto::isa {

struct TileMap {
    /// Block sizes; `unblocked` when the direction has one stride only.
    static constexpr std::int32_t unblocked = 0x7FFFFFFF;
    std::int32_t row_block = unblocked, col_block = unblocked;
    std::int64_t row_far = 0, row_near = 0, col_far = 0, col_near = 1;
    std::int32_t bits = 32; // of one element

    std::int64_t offset(std::int64_t r, std::int64_t c) const {
        std::int64_t at = 0;
        at += row_block == unblocked ? r * row_near : (r / row_block) * row_far + (r % row_block) * row_near;
        at += col_block == unblocked ? c * col_near : (c / col_block) * col_far + (c % col_block) * col_near;
        return at;
    }
    /// First byte of the element; a 4-bit element with an odd offset is that byte's high nibble.
    std::int64_t byte_offset(std::int64_t r, std::int64_t c) const { return offset(r, c) * bits / 8; }
    /// The same bytes seen with rows and columns exchanged: the map of NZ[N,K] transposed is the map of ZN[K,N].
    TileMap transposed() const { return {col_block, row_block, col_far, col_near, row_far, row_near, bits}; }
    bool operator==(const TileMap&) const = default;
};

/// Columns (NZ, ZZ) or rows (ZN, NN) of one fractal: fractal_bytes / 16 / element size.
inline std::int32_t fractal_width(std::int32_t fractal_bytes, int bits) { return fractal_bytes * 8 / 16 / bits; }

/// The map of a tile.
///   in   type    physical shape, layout, fractal, compact
///        valid   current valid rows and columns. They matter for compact = 1 outside Mat, for compact = 2 and for Acc tiles whose valid shape
///                is not fixed: there the stride between fractal columns follows the valid rows, rounded up to 16 (one row more for 2), not
///                the physical ones. Vec tiles are not rounded: 65 rows are a stride of 65
/// A tile of one column is column-major without fractals whatever its type says.
TileMap tile_map(const TileType& type, std::array<std::int32_t, 2> valid);
/// The map under the physical shape.
inline TileMap tile_map(const TileType& type) { return tile_map(type, type.shape); }
/// A window of global memory: strides in elements of tile rows and tile columns.
TileMap window_map(std::int64_t row_stride, std::int64_t col_stride, int bits);
/// A fractal (NZ) image in global memory of a matrix with `rows` physical rows.
TileMap gm_nz_map(std::int64_t rows, int bits);

/// A set of equal runs of bytes: base + i*stride[0] + j*stride[1] + k*stride[2], i < count[0] ...; outermost level first.
struct Strided {
    std::int64_t base = 0, run_bytes = 0;
    std::array<std::int64_t, 3> counts{1, 1, 1}, strides{0, 0, 0};
    std::int64_t runs() const { return counts[0] * counts[1] * counts[2]; }
    std::int64_t bytes() const { return runs() * run_bytes; }
    /// Half-open hull. Strides of ours are never negative.
    std::int64_t first() const { return base; }
    std::int64_t last() const {
        return base + (counts[0] - 1) * strides[0] + (counts[1] - 1) * strides[1] + (counts[2] - 1) * strides[2] + run_bytes;
    }
    bool contiguous() const { return runs() == 1; }
    bool operator==(const Strided&) const = default;
};

/// The exact bytes of a region: at most four pieces (whole blocks, right edge, bottom edge, corner).
struct Footprint {
    std::array<Strided, 4> pieces{};
    int count = 0;
    const Strided* begin() const { return pieces.data(); }
    const Strided* end() const { return pieces.data() + count; }
    std::int64_t first() const;
    std::int64_t last() const;
    std::int64_t bytes() const;
};

/// Bytes of the region [row, row + rows) x [col, col + cols), shifted by base_bytes. Adjacent runs are merged.
/// 4-bit regions are rounded outwards to whole bytes.
Footprint footprint(const TileMap& map, std::int64_t base_bytes, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols);

/// Exact: true when a byte belongs to both. Cost is constant when either side is contiguous and nested, else the smaller side's runs.
bool overlap(const Strided& a, const Strided& b);
bool overlap(const Footprint& a, const Footprint& b);
/// Does [first, last) meet the set?
bool overlap(std::int64_t first, std::int64_t last, const Strided& b);

/// Calls f(byte_offset, row, col, elements, along_columns) for maximal contiguous runs inside blocks, row by row (or column by column when
/// the columns are the contiguous direction). A run advances by columns if along_columns, else by rows.
template <class F>
void for_each_run(const TileMap& m, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols, F&& f) {
    if (m.col_near == 1 || m.row_near != 1) {
        const std::int64_t step = m.col_near == 1 ? m.col_block : 1;
        for (std::int64_t r = row; r < row + rows; ++r)
            for (std::int64_t c = col; c < col + cols;) {
                const std::int64_t n = std::min(col + cols - c, step - c % step);
                f(m.byte_offset(r, c), r, c, n, true);
                c += n;
            }
        return;
    }
    for (std::int64_t c = col; c < col + cols; ++c)
        for (std::int64_t r = row; r < row + rows;) {
            const std::int64_t n = std::min(row + rows - r, std::int64_t(m.row_block) - r % m.row_block);
            f(m.byte_offset(r, c), r, c, n, false);
            r += n;
        }
}

/// Calls f(first_byte, byte_count) for every run of the footprint, in increasing nesting order.
template <class F> void for_each_interval(const Footprint& fp, F&& f) {
    for (const Strided& s : fp)
        for (std::int64_t i = 0; i < s.counts[0]; ++i)
            for (std::int64_t j = 0; j < s.counts[1]; ++j)
                for (std::int64_t k = 0; k < s.counts[2]; ++k)
                    f(s.base + i * s.strides[0] + j * s.strides[1] + k * s.strides[2], s.run_bytes);
}

} // namespace pto::isa
