#pragma once
/// Private to the lane sources: the kernels of one type, as the target-specific files hand them to lanes.cpp.

#include "engine/execute/numerics/lanes.hpp"

namespace pto::numerics {

struct IntTable {
    UnaryKernel copy = nullptr, bit_not = nullptr, neg = nullptr, abs = nullptr, relu = nullptr;
    BinaryKernel add = nullptr, sub = nullptr, mul = nullptr, div = nullptr, rem = nullptr, max = nullptr,
                 min = nullptr, shl = nullptr, shr = nullptr, bit_and = nullptr, bit_or = nullptr, bit_xor = nullptr,
                 add_relu = nullptr, sub_relu = nullptr, abs_sub = nullptr;
    TernaryKernel addc = nullptr, subc = nullptr, mul_add = nullptr, mul_add_relu = nullptr;
};
struct FloatTable {
    UnaryKernel neg = nullptr, abs = nullptr, relu = nullptr, exp = nullptr, log = nullptr, log2 = nullptr,
                log10 = nullptr, sqrt = nullptr, recip = nullptr, rsqrt = nullptr, truncate = nullptr, rint = nullptr,
                floor = nullptr, ceil = nullptr;
    BinaryKernel add = nullptr, sub = nullptr, mul = nullptr, div = nullptr, rem = nullptr, max = nullptr,
                 min = nullptr, add_relu = nullptr, sub_relu = nullptr, abs_sub = nullptr, exp_sub = nullptr,
                 slope = nullptr;
    TernaryKernel addc = nullptr, subc = nullptr, mul_add = nullptr, mul_add_relu = nullptr, fused = nullptr,
                  fused_relu = nullptr;
};
struct CompareTable {
    CompareKernel eq = nullptr, ne = nullptr, lt = nullptr, le = nullptr, gt = nullptr, ge = nullptr;
};

IntTable int_lanes(DType type);
FloatTable float_lanes(DType type);
CompareTable compare_lanes(DType type);

} // namespace pto::numerics
