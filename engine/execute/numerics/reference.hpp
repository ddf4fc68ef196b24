#pragma once
/// The same meanings as plain scalar loops on decoded values, slow and obvious: the oracle of the tests, and of anyone
/// who doubts a result. Shares only decode() and encode() with the fast code.

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/isa/op_row.hpp"

#include <optional>

namespace pto::numerics::reference {

/// c (m x n) = [c +] a (m x k) * b (k x n), row-major fp32: p = fma(a, b, p), k ascending from +0, then one addition.
void matmul(float* c, const float* a, const float* b, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulate);

/// One lane on bit patterns; nothing when the function has no meaning for the type. Unary and binary functions ignore
/// the later operands. exp, log, log2, log10 are computed by the C library in double and rounded once: equal within one
/// ulp, not bit for bit.
std::optional<std::uint64_t> lane(isa::LaneFn fn, DType type, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0,
                                  bool fused = false);

/// Row sum of fp32 values in the documented order.
float row_sum(const float* x, std::size_t n);

} // namespace pto::numerics::reference
