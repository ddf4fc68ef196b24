#pragma once
/// The cube side of a blocked matmul, tile by tile; what becomes of a finished tile is the caller's.

#include "tests/support/record_builder.hpp"
#include "tools/validate/programs.hpp"

#include <algorithm>

namespace pto::validate {

inline constexpr int scalar_work = 2; // scalar instructions before an operation: counters and addresses

class GemmCore {
  public:
    GemmCore(support::RecordBuilder& b, const Gemm& g, const machine::Chip& chip);

    /// Where the operands lie in global memory.
    std::int64_t a_at = 0, b_at = 0, c_at = 0, scale_at = 0, end = 0;
    int acc_slots = 1;
    /// Raises the flags that mean "buffer free", on the builder's last core.
    void prime();
    /// Loads, moves and multiplies one tile of C; then out(acc slot) stands for the fixpipe's work, between its two hand-overs.
    template <class F> void tile(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width, F&& out) {
        multiply(row, column, height, width);
        int acc = int(m_tile % acc_slots);
        if (!m_g.unit_flag) {
            m_b.set(isa::Pipe::m, isa::Pipe::fix, acc);
            m_b.wait(isa::Pipe::m, isa::Pipe::fix, acc);
        }
        out(acc);
        if (!m_g.unit_flag) m_b.set(isa::Pipe::fix, isa::Pipe::m, acc);
        ++m_tile;
    }
    /// The part of K that a tile covers: its beginning; the depth is g.k / g.k_parts.
    std::int64_t k_begin = 0;
    std::uint16_t acc_address(int slot) const { return std::uint16_t(std::int64_t(slot) * m_g.base_m * m_g.base_n * 4 / 32); }

  private:
    void multiply(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width);
    void load_image(std::int64_t row, std::int64_t k0, std::int64_t height, std::int64_t depth);
    void load_b(std::int64_t at, std::int64_t k0, std::int64_t depth, std::int64_t column, std::int64_t width);
    std::int64_t bytes(std::int64_t elements) const { return elements * isa::bits(m_g.dtype) / 8; }

    support::RecordBuilder& m_b;
    const Gemm& m_g;
    std::int64_t m_loads = 0, m_a_loads = 0, m_steps = 0, m_tile = 0, m_kept_row = -1;
};

/// Whole blocks of `base` dealt out to `places`; the last places get what is left.
inline std::int64_t share_of(std::int64_t total, std::int64_t base, int places, int at, std::int64_t& first) {
    std::int64_t blocks = (total + base - 1) / base, each = (blocks + places - 1) / places;
    first = std::min(blocks, each * at);
    return std::min(blocks, first + each) - first;
}

} // namespace pto::validate
