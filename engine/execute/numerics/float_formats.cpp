#include "engine/execute/numerics/float_formats.hpp"

#include <array>
#include <cmath>

namespace pto::numerics {
namespace {

/// An IEEE-like format: `infinity` is the pattern of +inf (0: none), `largest` of the largest finite value, `nan` of
/// NaN (0: none).
struct Format {
    int mantissa_bits, bias;
    std::uint32_t largest, infinity, nan, sign;
};
constexpr Format format_fp16{10, 15, 0x7BFF, 0x7C00, nan_fp16, 0x8000};
constexpr Format format_bf16{7, 127, 0x7F7F, 0x7F80, nan_bf16, 0x8000};
constexpr Format format_fp32{23, 127, 0x7F7FFFFF, 0x7F800000, nan_fp32, 0x80000000};
constexpr Format format_e4m3{3, 7, 0x7E, 0, 0x7F, 0x80};
constexpr Format format_e5m2{2, 15, 0x7B, 0x7C, 0x7E, 0x80};
constexpr Format format_e2m1{1, 1, 0x7, 0, 0, 0x8};
constexpr Format format_e1m2{2, 1, 0x7, 0, 0, 0x8};

const Format* ieee_like(DType t) {
    switch (t) {
    case DType::fp16: return &format_fp16;
    case DType::bf16: return &format_bf16;
    case DType::fp32: return &format_fp32;
    case DType::fp8e4m3: return &format_e4m3;
    case DType::fp8e5m2: return &format_e5m2;
    case DType::fp4:
    case DType::fp4e2m1: return &format_e2m1;
    case DType::fp4e1m2: return &format_e1m2;
    default: return nullptr;
    }
}

constexpr float power_of_two(int e) { // exact down to the subnormals
    if (e >= -126) return std::bit_cast<float>(std::uint32_t(e + 127) << 23);
    return e < -149 ? 0.0f : std::bit_cast<float>(1u << (e + 149));
}

float decode_ieee_like(const Format& f, std::uint32_t pattern) {
    const std::uint32_t magnitude = pattern & (f.sign - 1);
    if (f.infinity != 0 ? magnitude > f.infinity : magnitude > f.largest) return canonical_nan();
    const float sign = (pattern & f.sign) != 0 ? -1.0f : 1.0f;
    if (f.infinity != 0 && magnitude == f.infinity) return sign * std::bit_cast<float>(0x7F800000u);
    const std::uint32_t hidden = 1u << f.mantissa_bits, fraction = magnitude & (hidden - 1);
    const int biased = int(magnitude >> f.mantissa_bits);
    const std::uint32_t significand = biased != 0 ? hidden | fraction : fraction;
    const int exponent = (biased != 0 ? biased : 1) - f.bias - f.mantissa_bits;
    return sign * float(std::ldexp(double(significand), exponent));
}

// HiFloat8: sign, a prefix-coded "dot" field that gives the width of the exponent, a sign-magnitude exponent with
// hidden leading one, and what is left as mantissa. 0000 is the subnormal range 2^-22 .. 2^-16; 0x80 is NaN; +-1.5 *
// 2^15 is infinity; there is one zero.
float decode_hf8(std::uint32_t p) {
    if (p == 0x00) return 0.0f;
    if (p == 0x80) return canonical_nan();
    const float sign = (p & 0x80) != 0 ? -1.0f : 1.0f;
    const std::uint32_t m = p & 0x7F;
    if (m == 0x6F) return sign * std::bit_cast<float>(0x7F800000u);
    if (m < 0x08) return sign * power_of_two(int(m) - 23);
    int exponent = 0, width = 3;
    bool down = false;
    if (m >= 0x60) {
        exponent = 8 + int((m >> 1) & 7), down = (m & 0x10) != 0, width = 1;
    } else if (m >= 0x40) {
        exponent = 4 + int((m >> 2) & 3), down = (m & 0x10) != 0, width = 2;
    } else if (m >= 0x20) {
        exponent = 2 + int((m >> 3) & 1), down = (m & 0x10) != 0;
    } else if (m >= 0x10) {
        exponent = 1, down = (m & 0x08) != 0;
    }
    const std::uint32_t fraction = m & ((1u << width) - 1);
    const float significand = 1.0f + float(fraction) / float(1u << width);
    return sign * significand * power_of_two(down ? -exponent : exponent);
}

std::array<float, 256> table_of(DType t, int patterns) {
    std::array<float, 256> out{};
    for (int i = 0; i < patterns; ++i) {
        if (t == DType::hf8)
            out[std::size_t(i)] = decode_hf8(std::uint32_t(i));
        else if (t == DType::fp8e8m0)
            out[std::size_t(i)] = i == 0xFF ? canonical_nan() : power_of_two(i - 127);
        else
            out[std::size_t(i)] = decode_ieee_like(*ieee_like(t), std::uint32_t(i));
    }
    return out;
}

/// magnitude / 2^shift as an integer under `mode`; *inexact tells whether bits were lost.
std::uint64_t shift_round(std::uint64_t magnitude, int shift, bool negative, Rounding mode, bool* inexact = nullptr) {
    if (shift <= 0) return magnitude << -shift;
    const std::uint64_t kept = shift < 64 ? magnitude >> shift : 0;
    const std::uint64_t lost = shift < 64 ? magnitude & ((std::uint64_t(1) << shift) - 1) : magnitude;
    if (inexact != nullptr) *inexact = lost != 0;
    if (lost == 0) return kept;
    int against_half = -1; // sign of lost - half
    if (shift <= 64) {
        const std::uint64_t half = std::uint64_t(1) << (shift - 1);
        against_half = lost < half ? -1 : lost > half ? 1 : 0;
    }
    bool up = false;
    switch (mode) {
    case Rounding::rint: up = against_half > 0 || (against_half == 0 && (kept & 1) != 0); break;
    case Rounding::round:
    case Rounding::hybrid: up = against_half >= 0; break;
    case Rounding::floor: up = negative; break;
    case Rounding::ceil: up = !negative; break;
    case Rounding::trunc: up = false; break;
    case Rounding::odd: up = (kept & 1) == 0; break;
    }
    return kept + (up ? 1 : 0);
}

bool overflows_to_largest(bool negative, Rounding mode) {
    return mode == Rounding::trunc || mode == Rounding::odd || (mode == Rounding::floor && !negative) ||
           (mode == Rounding::ceil && negative);
}

std::uint32_t overflow_pattern(const Format& f, bool negative, bool to_largest) {
    const std::uint32_t sign = negative ? f.sign : 0;
    if (to_largest || (f.infinity == 0 && f.nan == 0)) return sign | f.largest;
    return f.infinity != 0 ? sign | f.infinity : f.nan;
}

/// The threshold of HYBRID for |E| >= 4: the 14 bits after the last kept one against the 14 lowest bits of the fp32
/// significand. An estimate of the published description; hardware's rule is not documented bit by bit.
bool hybrid_up(std::uint64_t magnitude, int msb, int kept_bits) {
    const std::uint64_t fp32 = msb >= 23 ? magnitude >> (msb - 23) : magnitude << (23 - msb);
    const int lost_bits = 23 - kept_bits;
    const std::uint64_t lost = fp32 & ((std::uint64_t(1) << lost_bits) - 1);
    const std::uint64_t head = lost >> (lost_bits - 14), threshold = fp32 & 0x3FFF;
    return lost != 0 && head >= threshold;
}

std::uint32_t encode_hf8(bool negative, std::uint64_t magnitude, int exponent, Rounding mode, bool saturate) {
    if (magnitude == 0) return 0;
    const std::uint32_t sign = negative ? 0x80 : 0;
    const int msb = 63 - std::countl_zero(magnitude);
    int e = msb + exponent;
    const int size = e < 0 ? -e : e;
    int width = size <= 3 ? 3 : size <= 7 ? 2 : size <= 15 ? 1 : 0;
    if (e > 15) return sign | (saturate || overflows_to_largest(negative, mode) ? 0x6Eu : 0x6Fu);
    std::uint64_t q = 0;
    if (e < -22) { // between 0 and 2^-22
        q = shift_round(magnitude, -22 - exponent, negative, mode);
        if (q == 0) return 0;
        return sign | 0x01u;
    }
    if (mode == Rounding::hybrid && size > 3) {
        q = msb >= width ? magnitude >> (msb - width) : magnitude << (width - msb);
        if (hybrid_up(magnitude, msb, width)) ++q;
    } else {
        q = shift_round(magnitude, msb - width, negative, mode);
    }
    if ((q >> (width + 1)) != 0) {
        ++e;
        q = 0;
        const int grown = e < 0 ? -e : e;
        width = grown <= 3 ? 3 : grown <= 7 ? 2 : grown <= 15 ? 1 : 0;
    }
    const std::uint32_t fraction = std::uint32_t(q) & ((1u << width) - 1);
    if (e > 15 || (e == 15 && fraction != 0))
        return sign | (saturate || overflows_to_largest(negative, mode) ? 0x6Eu : 0x6Fu);
    const std::uint32_t down = e < 0 ? 1 : 0, a = std::uint32_t(e < 0 ? -e : e);
    if (a == 0) return sign | 0x08u | fraction;
    if (a == 1) return sign | 0x10u | down << 3 | fraction;
    if (a <= 3) return sign | 0x20u | down << 4 | (a - 2) << 3 | fraction;
    if (a <= 7) return sign | 0x40u | down << 4 | (a - 4) << 2 | fraction;
    if (a <= 15) return sign | 0x60u | down << 4 | (a - 8) << 1 | fraction;
    return sign | std::uint32_t(e + 23);
}

std::uint32_t encode_e8m0(std::uint64_t magnitude, int exponent,
                          Rounding mode) { // the sign is dropped: a scale is positive
    if (magnitude == 0) return 0;
    const int msb = 63 - std::countl_zero(magnitude);
    int e = msb + exponent;
    if (e < -127) return 0;
    const std::uint64_t top = shift_round(magnitude, msb, false, mode == Rounding::odd ? Rounding::trunc : mode);
    if (top == 2) ++e; // a tie goes up under rint, too: no even neighbour is documented for scales
    return std::uint32_t(e > 127 ? 0xFE : e + 127);
}

} // namespace

Rounding rounding_of(isa::RoundMode mode) {
    switch (mode) {
    case isa::RoundMode::none:
    case isa::RoundMode::rint: return Rounding::rint;
    case isa::RoundMode::round: return Rounding::round;
    case isa::RoundMode::floor: return Rounding::floor;
    case isa::RoundMode::ceil: return Rounding::ceil;
    case isa::RoundMode::trunc: return Rounding::trunc;
    case isa::RoundMode::odd: return Rounding::odd;
    }
    return Rounding::rint;
}

Rounding rounding_of(isa::VfRoundMode mode) {
    switch (mode) {
    case isa::VfRoundMode::round: return Rounding::round;
    case isa::VfRoundMode::rint: return Rounding::rint;
    case isa::VfRoundMode::floor: return Rounding::floor;
    case isa::VfRoundMode::ceil: return Rounding::ceil;
    case isa::VfRoundMode::trunc: return Rounding::trunc;
    case isa::VfRoundMode::odd: return Rounding::odd;
    case isa::VfRoundMode::hybrid: return Rounding::hybrid;
    }
    return Rounding::rint;
}

const float* decode_table(DType format) {
    static const std::array<float, 256> e4m3 = table_of(DType::fp8e4m3, 256), e5m2 = table_of(DType::fp8e5m2, 256),
                                        e8m0 = table_of(DType::fp8e8m0, 256), hf8 = table_of(DType::hf8, 256),
                                        e2m1 = table_of(DType::fp4e2m1, 16), e1m2 = table_of(DType::fp4e1m2, 16);
    switch (format) {
    case DType::fp8e4m3: return e4m3.data();
    case DType::fp8e5m2: return e5m2.data();
    case DType::fp8e8m0: return e8m0.data();
    case DType::hf8: return hf8.data();
    case DType::fp4:
    case DType::fp4e2m1: return e2m1.data();
    case DType::fp4e1m2: return e1m2.data();
    default: return nullptr;
    }
}

float decode(DType format, std::uint32_t pattern) {
    switch (format) {
    case DType::fp32: return canonical(std::bit_cast<float>(pattern));
    case DType::fp16: return fp16_to_fp32(std::uint16_t(pattern));
    case DType::bf16: return bf16_to_fp32(std::uint16_t(pattern));
    default: break;
    }
    const float* table = decode_table(format);
    return table == nullptr ? canonical_nan() : table[pattern & (isa::bits(format) == 4 ? 0xFu : 0xFFu)];
}

std::uint32_t encode_exact(DType format, bool negative, std::uint64_t magnitude, int exponent, Rounding mode,
                           bool saturate) {
    if (format == DType::hf8) return encode_hf8(negative, magnitude, exponent, mode, saturate);
    if (format == DType::fp8e8m0) return encode_e8m0(magnitude, exponent, mode);
    const Format* f = ieee_like(format);
    if (f == nullptr) return 0;
    const std::uint32_t sign = negative ? f->sign : 0;
    if (magnitude == 0) return sign;
    const int msb = 63 - std::countl_zero(magnitude);
    const int value_exponent = msb + exponent, smallest = 1 - f->bias;
    if (value_exponent > 1 - f->bias + 300)
        return overflow_pattern(*f, negative, saturate || overflows_to_largest(negative, mode));
    const bool subnormal = value_exponent < smallest;
    const int ulp_exponent = (subnormal ? smallest : value_exponent) - f->mantissa_bits;
    const std::uint64_t q = shift_round(magnitude, ulp_exponent - exponent, negative, mode);
    // A carry out of the significand moves into the exponent field by itself.
    const std::uint64_t base =
        subnormal ? 0 : (std::uint64_t(value_exponent + f->bias) << f->mantissa_bits) - (1ull << f->mantissa_bits);
    const std::uint64_t pattern = base + q;
    if (pattern > f->largest)
        return overflow_pattern(*f, negative,
                                (saturate && format != DType::fp32) || overflows_to_largest(negative, mode));
    return sign | std::uint32_t(pattern);
}

std::uint32_t encode(DType format, double x, Rounding mode, bool saturate) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const bool negative = (bits >> 63) != 0;
    const int biased = int((bits >> 52) & 0x7FF);
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    const Format* f = ieee_like(format);
    if (format == DType::fp32) saturate = false;
    if (biased == 0x7FF) {
        if (fraction != 0) {
            if (format == DType::fp8e8m0) return 0xFF;
            if (saturate) return 0;
            return format == DType::hf8 ? 0x80 : f != nullptr ? f->nan : 0;
        }
        if (format == DType::fp8e8m0) return 0xFE;
        if (format == DType::hf8) return (negative ? 0x80u : 0u) | (saturate ? 0x6Eu : 0x6Fu);
        return f != nullptr ? overflow_pattern(*f, negative, saturate) : 0;
    }
    const std::uint64_t magnitude = biased == 0 ? fraction : fraction | (1ull << 52);
    return encode_exact(format, negative, magnitude, (biased == 0 ? 1 : biased) - 1075, mode, saturate);
}

} // namespace pto::numerics
