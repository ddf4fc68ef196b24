#pragma once
/// exp, ln and fused multiply-add with one meaning on every machine: only +, -, *, / and bit operations in double, no
/// library call, no branch, so loops over them vectorise and scalar and vector code agree bit for bit. Error before the
/// final rounding to fp32 is below 2^-40 relative, so results are within 0.501 ulp.

#include "engine/execute/numerics/float_formats.hpp"

#include <cmath>

namespace pto::numerics {

/// e^x. exp(-inf) = 0, exp(+inf) = inf, overflow from 88.72..., results below the smallest subnormal are 0.
inline float exp_fp32(float argument) {
    double x = double(argument);
    x = x > 90.0 ? 90.0 : x; // past the ends fp32 has overflowed or vanished; NaN fails both comparisons and stays
    x = x < -110.0 ? -110.0 : x;
    constexpr double to_integer = 0x1.8p52; // adding it leaves round(x * log2(e)) in the low bits
    const double shifted = x * 0x1.71547652b82fep0 + to_integer;
    const double n = shifted - to_integer;
    const double r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40; // |r| <= ln(2) / 2
    double p = 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::uint64_t steps = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(to_integer);
    return float(p * std::bit_cast<double>((steps + 1023) << 52));
}

/// ln x. ln(+-0) = -inf (subnormal inputs count as 0), ln(inf) = inf, ln of a negative number is NaN.
inline float ln_fp32(float argument) {
    const float x = flushed(argument);
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(double(x));
    constexpr std::uint64_t one = 0x3FF0000000000000ull, sqrt_half = 0x3FE6A09E667F3BCDull;
    const std::uint64_t biased = (bits + (one - sqrt_half)) >> 52; // exponent of the power of two nearest in ratio
    const double m = std::bit_cast<double>(bits - ((biased - 1023) << 52)); // in [sqrt(1/2), sqrt(2))
    constexpr double to_integer = 0x1.8p52;
    const double e = std::bit_cast<double>(std::bit_cast<std::uint64_t>(to_integer) + biased - 1023) - to_integer;
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s; // ln m = 2 artanh(s), |s| < 0.172
    double p = 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z + 1.0;
    float y = float(e * 0x1.62e42fefa39efp-1 + 2.0 * s * p);
    y = x == 0.0f ? -HUGE_VALF : y;
    y = x < 0.0f ? canonical_nan() : y;
    y = x == HUGE_VALF ? HUGE_VALF : y;
    return x != x ? canonical_nan() : y;
}

inline float div_fp32(float a, float b) { return flushed(a) / flushed(b); }
inline float sqrt_fp32(float x) { return std::sqrt(flushed(x)); } // correctly rounded by IEEE 754
inline float recip_fp32(float x) { return 1.0f / flushed(x); }
inline float rsqrt_fp32(float x) { return 1.0f / std::sqrt(flushed(x)); }

/// NaN wins; max(-0, +0) = +0, min(-0, +0) = -0.
inline float max_fp32(float a, float b) {
    float r = a > b ? a : b;
    r = a == b ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & std::bit_cast<std::uint32_t>(b)) : r;
    return a != a ? a : r;
}
inline float min_fp32(float a, float b) {
    float r = a < b ? a : b;
    r = a == b ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) | std::bit_cast<std::uint32_t>(b)) : r;
    return a != a ? a : r;
}

/// A double rounded to fp32 by von Neumann's rule: a later rounding to fewer bits is then as good as one rounding.
inline float to_odd_fp32(double s) {
    const float f = float(s);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const double back = double(f), size = back < 0 ? -back : back, wanted = s < 0 ? -s : s;
    const std::uint32_t toward_zero = bits - (size > wanted ? 1u : 0u);
    return std::bit_cast<float>(back != s && s == s ? toward_zero | 1u : bits);
}
/// a * b + c of fp16 or bf16 values with enough sticky information that the following rounding to 16 bits is the only
/// one.
inline float fma_16(float a, float b, float c) {
    const double p = double(a) * double(b), z = double(c), s = p + z; // p is exact
    const double part = s - p, lost = (p - (s - part)) + (z - part);  // s + lost is exact
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
    const bool fix = lost != 0.0 && (bits & 1) == 0 && (bits & 0x7FF0000000000000ull) != 0x7FF0000000000000ull;
    const std::uint64_t step = (lost > 0.0) == (s > 0.0) ? 1ull : ~0ull;
    return to_odd_fp32(std::bit_cast<double>(fix ? bits + step : bits));
}

} // namespace pto::numerics
