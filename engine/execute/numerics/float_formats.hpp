#pragma once
/// The floating formats of the language: exact decoding, and encoding under every rounding mode.
/// Everything is integer arithmetic, so a pattern is the same on every machine. A NaN has one pattern per format.

#include "engine/isa/dtype.hpp"
#include "engine/isa/enums.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pto::numerics {

using isa::DType;

/// Union of the rounding modes of tiles and registers. `hybrid` exists for HF8 targets only.
enum class Rounding : std::uint8_t { rint, round, floor, ceil, trunc, odd, hybrid };
/// CAST_NONE becomes rint; float to integer truncates under CAST_NONE, which cast.hpp decides.
Rounding rounding_of(isa::RoundMode mode);
Rounding rounding_of(isa::VfRoundMode mode);

/// The one NaN that arithmetic produces, as bits.
inline constexpr std::uint32_t nan_fp32 = 0x7FC00000u;
inline constexpr std::uint16_t nan_fp16 = 0x7E00u;
inline constexpr std::uint16_t nan_bf16 = 0x7FC0u;
inline float canonical_nan() { return std::bit_cast<float>(nan_fp32); }
/// Machines disagree about sign and payload of a computed NaN; this removes the difference.
inline float canonical(float x) { return x == x ? x : canonical_nan(); }
inline double canonical(double x) { return x == x ? x : std::bit_cast<double>(0x7FF8000000000000ull); }

/// fp16 pattern to fp32, exact. Branch-free: loops over it vectorise.
inline float fp16_to_fp32(std::uint16_t h) {
    const std::uint32_t magnitude = std::uint32_t(h & 0x7FFFu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f; // rebias; also right for subnormals
    const std::uint32_t special = magnitude > 0x0F800000u ? nan_fp32 : 0x7F800000u;
    const std::uint32_t bits = magnitude >= 0x0F800000u ? special : std::bit_cast<std::uint32_t>(scaled);
    const std::uint32_t sign = magnitude > 0x0F800000u ? 0u : std::uint32_t(h & 0x8000u) << 16;
    return std::bit_cast<float>(bits | sign);
}
/// fp32 to fp16, nearest even, overflow to infinity. Branch-free.
inline std::uint16_t fp32_to_fp16(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f; // the ulp of [0.5, 1) is fp16's subnormal ulp
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
    std::uint32_t out = magnitude < 0x38800000u ? subnormal : normal;
    out = magnitude >= 0x47800000u ? 0x7C00u : out;
    out |= sign;
    return std::uint16_t(magnitude > 0x7F800000u ? nan_fp16 : out);
}
/// Ties away from zero, the default of tile casts.
inline std::uint16_t fp32_to_fp16_away(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0x1000u) >> 13;
    const float scaled =
        std::bit_cast<float>(magnitude < 0x38800000u ? magnitude : 0u) * 0x1p24f; // exact, in subnormal ulps
    const std::int32_t whole = std::int32_t(scaled);
    const std::uint32_t subnormal = std::uint32_t(whole) + (scaled - float(whole) >= 0.5f ? 1u : 0u);
    std::uint32_t out = magnitude < 0x38800000u ? subnormal : normal;
    out = magnitude >= 0x47800000u ? 0x7C00u : out;
    out |= sign;
    return std::uint16_t(magnitude > 0x7F800000u ? nan_fp16 : out);
}
inline std::uint16_t fp32_to_bf16_away(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    return std::uint16_t((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan_bf16 : (bits + 0x8000u) >> 16);
}
inline float bf16_to_fp32(std::uint16_t h) { return canonical(std::bit_cast<float>(std::uint32_t(h) << 16)); }
/// fp32 to bf16, nearest even, overflow to infinity. Branch-free.
inline std::uint16_t fp32_to_bf16(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    return std::uint16_t((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan_bf16 : rounded);
}

/// Exact value of a pattern of any floating type (4-bit patterns in the low nibble).
float decode(DType format, std::uint32_t pattern);
/// A table of all patterns of an 8-bit (256 entries) or 4-bit (16 entries) floating type; null for wider types.
const float* decode_table(DType format);

/// Rounds (-1)^negative * magnitude * 2^exponent, an exact number, to a pattern of `format`.
///   saturate  overflow gives the largest finite value; otherwise infinity, or NaN where the format has no infinity
///   (E4M3FN), or the
///             largest value where it has neither (FP4). Directed modes overflow as IEEE 754 says: to the largest
///             finite value on the side they round away from, and so does `odd`.
std::uint32_t encode_exact(DType format, bool negative, std::uint64_t magnitude, int exponent, Rounding mode,
                           bool saturate);
/// Rounds x; infinities saturate like an overflow; NaN is NaN, or 0 when saturating or when the format has none.
/// FP32 and BF16->E8M0 targets ignore `saturate`: fp32 keeps infinity and NaN, E8M0 gives 0xFE for an overflow and 0xFF
/// for NaN.
std::uint32_t encode(DType format, double x, Rounding mode = Rounding::rint, bool saturate = false);

/// A fp32 operand of exp, ln, sqrt, div: the vector unit does not support subnormal inputs there (hardware 5.3).
inline constexpr bool flush_subnormal_inputs = true;
inline float flushed(float x) {
    if constexpr (!flush_subnormal_inputs) return x;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits);
}

} // namespace pto::numerics
