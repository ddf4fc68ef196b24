#pragma once
/// Tiles as rows of contiguous elements, whatever their layout: what the vector families loop over.

#include "engine/execute/call.hpp"

namespace pto::execute {

/// A scalar as one element of a type: integers wrap, reals round to nearest even.
std::uint64_t pattern_of(const Scalar& s, DType type);

/// Equal-shaped tiles walked row by row. Rows are direct pointers where the layout allows it, otherwise copies in
/// scratch. Partly overlapping inputs are copied first, so that sources are read before anything is written.
class Rows {
  public:
    /// `out` may be null (nothing is written, compare).
    Rows(Call& c, const TileView* out, std::initializer_list<const TileView*> inputs, std::int64_t rows,
         std::int64_t cols);

    std::int64_t count() const { return m_rows; }
    std::int64_t length() const { return m_cols; }
    const void* in(int input, std::int64_t row);
    /// Where the result row goes; finish(row) writes it back when it is a copy.
    void* out(std::int64_t row);
    void finish(std::int64_t row);

  private:
    struct Side {
        std::byte* data = nullptr;
        num::TileMap map;
        bool direct = false;
        std::byte* staging = nullptr;
        std::int64_t row_bytes(std::int64_t cols) const { return (cols * map.bits + 7) / 8; }
    };
    void gather(Side& s, std::int64_t row);
    Side m_out, m_in[3];
    int m_inputs = 0;
    bool m_has_out = false;
    std::int64_t m_rows, m_cols;
};

/// The tile's valid region as row-major elements in scratch buffer `slot`.
TileView copied(Call& c, const TileView& v, int slot);

} // namespace pto::execute
