#include "engine/execute/numerics/cast.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/elementary.hpp"
#include "engine/execute/numerics/tile_copy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pto::numerics {
namespace {

constexpr std::size_t chunk = 256;

bool is_integer(DType t) { return isa::is_int(t) || t == DType::boolean; }

/// Integral value of x under a mode; exact functions only.
double to_integral(double x, Rounding mode) {
    switch (mode) {
    case Rounding::rint: return std::nearbyint(x);
    case Rounding::round:
    case Rounding::hybrid: return std::round(x);
    case Rounding::floor: return std::floor(x);
    case Rounding::ceil: return std::ceil(x);
    case Rounding::trunc: return std::trunc(x);
    case Rounding::odd: {
        const double t = std::trunc(x);
        return t == x || std::fmod(t, 2.0) != 0 ? t : t + (x < 0 ? -1.0 : 1.0);
    }
    }
    return x;
}

/// Range of an integer type as doubles; the upper end of 64-bit types is 2^63 or 2^64, just outside.
struct Range {
    double low, high;
    std::uint64_t lowest, highest;
};
Range range_of(DType t) {
    const int bits = t == DType::boolean ? 8 : isa::bits(t);
    const std::uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (isa::is_signed_int(t)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1), ~(all >> 1), all >> 1};
    return {0.0, std::ldexp(1.0, bits), 0, all};
}

/// Low 64 bits of an integral double in two's complement.
std::uint64_t low_bits(double v) {
    if (v >= -0x1p63 && v < 0x1p63) return std::uint64_t(std::int64_t(v));
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(v);
    const int shift = int((bits >> 52) & 0x7FF) - 1075; // at least 11 here
    const std::uint64_t magnitude = shift >= 64 ? 0 : ((bits & 0xFFFFFFFFFFFFFull) | (1ull << 52)) << shift;
    return (bits >> 63) != 0 ? 0 - magnitude : magnitude;
}

std::uint64_t float_to_int(double x, const Range& range, CastRule rule) {
    if (x != x) return 0;
    const double v = to_integral(x, rule.rounding);
    if (std::isinf(v)) return v < 0 ? range.lowest : range.highest;
    if (!rule.saturate) return low_bits(v);
    if (v < range.low) return range.lowest;
    if (v >= range.high) return range.highest;
    return v >= 0x1p63 ? std::uint64_t(v) : std::uint64_t(std::int64_t(v));
}

std::uint64_t sign_extend(DType t, std::uint64_t pattern) {
    const int shift = 64 - (t == DType::boolean ? 8 : isa::bits(t));
    return isa::is_signed_int(t) ? std::uint64_t(std::int64_t(pattern << shift) >> shift) : pattern;
}

std::uint64_t int_to_int(DType from, std::uint64_t pattern, DType to, bool saturate) {
    const std::uint64_t value = sign_extend(from, pattern);
    if (!saturate) return value;
    const Range range = range_of(to);
    const bool negative = isa::is_signed_int(from) && std::int64_t(value) < 0;
    if (negative) {
        if (!isa::is_signed_int(to)) return 0;
        return std::int64_t(value) < std::int64_t(range.lowest) ? range.lowest : value;
    }
    return std::min(value, range.highest);
}

std::uint64_t int_to_float(DType from, std::uint64_t pattern, DType to, CastRule rule) {
    const std::uint64_t value = sign_extend(from, pattern);
    const bool negative = isa::is_signed_int(from) && std::int64_t(value) < 0;
    return encode_exact(to, negative, negative ? 0 - value : value, 0, rule.rounding, rule.saturate);
}

/// fp32 values to any destination, elements first .. first + n of dst. `integral`: a floating type to itself, rounded
/// to whole numbers.
void float_to(const float* values, bool integral, DType to, std::byte* dst, std::size_t first, std::size_t n,
              CastRule rule) {
    const int bits = isa::bits(to);
    std::byte* at = dst + first * std::size_t(bits) / 8;
    if (is_integer(to)) {
        const Range range = range_of(to);
        const bool within_int32 = bits >= 8 && (bits < 32 || to == DType::int32);
        if (rule.saturate && within_int32 && rule.rounding != Rounding::odd) { // clamping pairs, the usual ones
            std::int32_t whole[chunk];
            fp32_to_int32(values, whole, n, rule.rounding, range.low, range.high - 1.0);
            if (bits == 32)
                std::memcpy(at, whole, n * 4);
            else
                for (std::size_t i = 0; i < n; ++i) write_element(at, bits, std::int64_t(i), std::uint32_t(whole[i]));
            return;
        }
        for (std::size_t i = 0; i < n; ++i)
            write_element(at, bits, std::int64_t(i), float_to_int(double(values[i]), range, rule));
        return;
    }
    if (integral) {
        for (std::size_t i = 0; i < n; ++i)
            write_element(at, bits, std::int64_t(i),
                          encode(to, canonical(to_integral(double(values[i]), rule.rounding))));
        return;
    }
    auto* halves = reinterpret_cast<std::uint16_t*>(at);
    if (to == DType::fp32) { // exact from every narrower format
        std::memcpy(at, values, n * sizeof(float));
    } else if (to == DType::fp16 && !rule.saturate && rule.rounding == Rounding::rint) {
        fp32_to_fp16(values, halves, n);
    } else if (to == DType::fp16 && !rule.saturate && rule.rounding == Rounding::round) {
        fp32_to_fp16_away(values, halves, n);
    } else if (to == DType::bf16 && !rule.saturate && rule.rounding == Rounding::rint) {
        fp32_to_bf16(values, halves, n);
    } else if (to == DType::bf16 && !rule.saturate && rule.rounding == Rounding::round) {
        fp32_to_bf16_away(values, halves, n);
    } else {
        for (std::size_t i = 0; i < n; ++i)
            write_element(at, bits, std::int64_t(i), encode(to, double(values[i]), rule.rounding, rule.saturate));
    }
}

} // namespace

CastRule tile_cast_rule(DType from, DType to, isa::RoundMode mode) {
    CastRule rule;
    if (mode == isa::RoundMode::odd && !(from == DType::fp32 && to == DType::fp16)) mode = isa::RoundMode::none;
    rule.rounding = rounding_of(mode);
    if (is_integer(to)) {
        if (mode == isa::RoundMode::none && isa::is_float(from)) rule.rounding = Rounding::trunc;
        const bool wraps = (from == DType::fp16 && (to == DType::int8 || to == DType::uint8)) ||
                           ((from == DType::fp32 || from == DType::fp16) && to == DType::int16) ||
                           (from == DType::int64 && to == DType::int32) || (from == DType::int32 && to == DType::int16);
        rule.saturate = !wraps;
    } else {
        rule.saturate = !(to == DType::fp16 || to == DType::bf16 || to == DType::fp32);
    }
    return rule;
}

CastRule astype_rule(DType from, DType to, isa::VfRoundMode mode, isa::SaturateMode saturate) {
    CastRule rule{rounding_of(mode), saturate == isa::SaturateMode::on};
    if (to == DType::hf8 && rule.rounding != Rounding::hybrid) rule.rounding = Rounding::round;
    if (to == DType::fp32) rule.saturate = false;
    if (to == DType::hf8 || (from == DType::fp32 && (to == DType::fp8e4m3 || to == DType::fp8e5m2)))
        rule.saturate = true;
    if (isa::is_int(from) && isa::is_int(to) && isa::bits(to) > isa::bits(from)) rule.saturate = true;
    return rule;
}

std::uint64_t cast_element(DType from, std::uint64_t pattern, DType to, CastRule rule) {
    const std::uint64_t mask = isa::bits(to) == 64 ? ~0ull : (1ull << isa::bits(to)) - 1;
    if (is_integer(from))
        return (is_integer(to) ? int_to_int(from, pattern, to, rule.saturate) : int_to_float(from, pattern, to, rule)) &
               mask;
    const float value = decode(from, std::uint32_t(pattern));
    if (is_integer(to)) return float_to_int(double(value), range_of(to), rule) & mask;
    if (from == to) return encode(to, canonical(to_integral(double(value), rule.rounding)));
    return encode(to, double(value), rule.rounding, rule.saturate) & mask;
}

void cast_lanes(DType from, const void* src, DType to, void* dst, std::size_t n, CastRule rule) {
    auto* out = static_cast<std::byte*>(dst);
    const auto* in = static_cast<const std::byte*>(src);
    if (!is_integer(from)) {
        float values[chunk];
        for (std::size_t i = 0; i < n; i += chunk) {
            const std::size_t some = std::min(chunk, n - i);
            to_fp32(from, in + i * std::size_t(isa::bits(from)) / 8, values, some);
            if (from != DType::fp32 || to == DType::fp32)
                for (std::size_t j = 0; j < some; ++j) values[j] = canonical(values[j]);
            float_to(values, from == to, to, out, i, some, rule);
        }
        return;
    }
    const int from_bits = isa::bits(from), to_bits = isa::bits(to);
    if (to == DType::fp32 && rule.rounding == Rounding::rint &&
        (from == DType::int32 || from == DType::int16 || from == DType::int8)) {
        auto* values = static_cast<float*>(dst);
        if (from == DType::int32)
            for (std::size_t i = 0; i < n; ++i) values[i] = float(static_cast<const std::int32_t*>(src)[i]);
        else if (from == DType::int16)
            for (std::size_t i = 0; i < n; ++i) values[i] = float(static_cast<const std::int16_t*>(src)[i]);
        else
            for (std::size_t i = 0; i < n; ++i) values[i] = float(static_cast<const std::int8_t*>(src)[i]);
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        write_element(out, to_bits, std::int64_t(i),
                      cast_element(from, read_element(in, from_bits, std::int64_t(i)), to, rule));
}

float fixpipe_scale(std::uint32_t word) { return std::bit_cast<float>(word & 0xFFFFE000u); }

void fixpipe_lanes(DType from, const void* src, DType to, void* dst, std::size_t n, const FixpipeRule& rule) {
    if (!rule.scaled && from == DType::int32) {
        const auto* in = static_cast<const std::int32_t*>(src);
        auto* out = static_cast<std::int32_t*>(dst);
        for (std::size_t i = 0; i < n; ++i) out[i] = rule.relu ? std::max(in[i], 0) : in[i];
        return;
    }
    float values[chunk];
    const CastRule cast{to == DType::hf8 ? Rounding::round : Rounding::rint, rule.scaled};
    for (std::size_t i = 0; i < n; i += chunk) {
        const std::size_t some = std::min(chunk, n - i);
        if (from == DType::int32)
            for (std::size_t j = 0; j < some; ++j) values[j] = float(static_cast<const std::int32_t*>(src)[i + j]);
        else
            for (std::size_t j = 0; j < some; ++j) values[j] = canonical(static_cast<const float*>(src)[i + j]);
        if (rule.relu)
            for (std::size_t j = 0; j < some; ++j) values[j] = max_fp32(values[j], 0.0f);
        if (rule.scaled)
            for (std::size_t j = 0; j < some; ++j) values[j] = canonical(values[j] * rule.scale);
        float_to(values, false, to, static_cast<std::byte*>(dst), i, some, cast);
    }
}

void quant_sym(const float* src, std::int8_t* dst, std::size_t n, float scale) {
    const Range range = range_of(DType::int8);
    for (std::size_t i = 0; i < n; ++i)
        dst[i] = std::int8_t(float_to_int(double(src[i] * scale), range, {Rounding::rint, true}));
}
void quant_asym(const float* src, std::uint8_t* dst, std::size_t n, float scale, float offset) {
    const Range range = range_of(DType::uint8);
    for (std::size_t i = 0; i < n; ++i)
        dst[i] = std::uint8_t(float_to_int(double(src[i] * scale + offset), range, {Rounding::rint, true}));
}
void dequant(DType from, const void* src, float* dst, std::size_t n, float scale, float offset) {
    const int bits = isa::bits(from);
    for (std::size_t i = 0; i < n; ++i) {
        const auto value =
            std::int64_t(sign_extend(from, read_element(static_cast<const std::byte*>(src), bits, std::int64_t(i))));
        dst[i] = canonical((float(value) - offset) * scale);
    }
}

} // namespace pto::numerics
