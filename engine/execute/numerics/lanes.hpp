#pragma once
/// The lane functions of the catalogue on contiguous spans, by element type. A kernel is looked up once and called per
/// run.
///   NaN      a float result that is NaN is the canonical NaN of its type
///   fp16     and bf16: computed in fp32 from the exact values, rounded to nearest even once (elementary functions:
///   fp32 result, then once more) ints     wrap modulo 2^bits; x / 0 and x % 0 are 0; shifts by the width or more (or
///   negative ones) give 0, or -1 for a negative signed >> in place `out` may be one of the inputs, exactly; any other
///   overlap is not allowed
/// Null means that the function has no meaning for the type. Source: language 3.5, 5.5; hardware 5.3.

#include "engine/isa/op_row.hpp"

#include <cstddef>
#include <cstdint>

namespace pto::numerics {

using isa::DType;
using isa::LaneFn;

using UnaryKernel = void (*)(void* out, const void* a, std::size_t n);
using BinaryKernel = void (*)(void* out, const void* a, const void* b, std::size_t n);
using TernaryKernel = void (*)(void* out, const void* a, const void* b, const void* c, std::size_t n);
/// Writes one byte a lane, 0 or 1.
using CompareKernel = void (*)(std::uint8_t* out, const void* a, const void* b, std::size_t n);

/// neg abs relu bit_not exp log log2 log10 sqrt recip rsqrt truncate copy
UnaryKernel unary_kernel(LaneFn fn, DType type);
/// add sub mul div rem max min bit_and bit_or bit_xor shl shr add_relu sub_relu abs_sub exp_sub exp_dif leaky_relu
/// prelu. leaky_relu and prelu take (x, slope). exp_sub and exp_dif are e^(a - b), the difference rounded to fp32
/// first. Shift counts have the type of the shifted lane.
BinaryKernel binary_kernel(LaneFn fn, DType type);
/// addc (a + b) + c, subc (a - b) + c, and a * b + c under the names that differ in who the destination is:
/// mul_add_dst (lhs, rhs, dst), mul_dst_add (dst, a, b), fused_mul_add (lhs, dst, rhs), axpy (src, alpha, dst),
/// fused_mul_add_relu.
///   fused  one rounding (registers and axpy); otherwise the product is rounded first (the tile-level composites)
TernaryKernel ternary_kernel(LaneFn fn, DType type, bool fused);
/// eq ne lt le gt ge; NaN compares false except under ne.
CompareKernel compare_kernel(LaneFn fn, DType type);

/// The same kernels with one element instead of a span for b.
void apply_scalar(BinaryKernel kernel, DType type, void* out, const void* a, const void* scalar, std::size_t n);
void apply_scalar(CompareKernel kernel, DType type, std::uint8_t* out, const void* a, const void* scalar,
                  std::size_t n);
void apply_scalar(TernaryKernel kernel, DType type, void* out, const void* a, const void* scalar, const void* c,
                  std::size_t n);

/// out = chosen[i] ? a : b for elements of `bytes` bytes; chosen holds one byte a lane.
void select_lanes(void* out, const std::uint8_t* chosen, const void* a, const void* b, int bytes, std::size_t n);
/// out = a0 b0 a1 b1 ...: n lanes of each; out overlaps neither.
void weave_lanes(void* out, const void* a, const void* b, int bytes, std::size_t n);
/// out = every second lane of 2n, from the first or (odd) the second on; out does not overlap.
void every_second_lane(void* out, const void* in, bool odd, int bytes, std::size_t n);
/// Bits in memory order, least significant first; the last byte's unused bits become 0.
void pack_bits(std::uint8_t* bits, const std::uint8_t* lanes, std::size_t n);
void unpack_bits(std::uint8_t* lanes, const std::uint8_t* bits, std::size_t n);

/// n copies of an element.
void splat(DType type, void* out, std::uint64_t pattern, std::size_t n);

} // namespace pto::numerics
