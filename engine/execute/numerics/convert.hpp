#pragma once
/// Bulk conversions between storage formats and fp32, exact towards fp32 and nearest-even back. Vectorised, and equal
/// element by element to the scalar functions of float_formats.hpp on every machine.

#include "engine/execute/numerics/float_formats.hpp"

namespace pto::numerics {

void fp16_to_fp32(const std::uint16_t* src, float* dst, std::size_t n);
void fp32_to_fp16(const float* src, std::uint16_t* dst, std::size_t n);
void bf16_to_fp32(const std::uint16_t* src, float* dst, std::size_t n);
void fp32_to_bf16(const float* src, std::uint16_t* dst, std::size_t n);
/// Ties away from zero.
void fp32_to_fp16_away(const float* src, std::uint16_t* dst, std::size_t n);
void fp32_to_bf16_away(const float* src, std::uint16_t* dst, std::size_t n);
/// Rounds to an integer, then clamps to [low, high], which lies within int32; NaN gives 0. Every mode but odd and
/// hybrid.
void fp32_to_int32(const float* src, std::int32_t* dst, std::size_t n, Rounding mode, double low, double high);

/// n consecutive elements of any floating type to fp32; 4-bit types start at nibble `first` of src. fp32 is copied, NaN
/// patterns included.
void to_fp32(DType from, const void* src, float* dst, std::size_t n, std::size_t first = 0);

} // namespace pto::numerics
