#include "engine/execute/numerics/lanes.hpp"

#include "engine/execute/numerics/lanes_tables.hpp"

#include <algorithm>
#include <cstring>

namespace pto::numerics {
namespace {

bool lane_float(DType t) { return t == DType::fp32 || t == DType::fp16 || t == DType::bf16; }

/// Repeats an element in a buffer of at most this many bytes, so that scalar forms reuse the span kernels.
constexpr std::size_t broadcast_bytes = 1024;
struct Broadcast {
    alignas(64) std::byte bytes[broadcast_bytes];
    std::size_t count, size;
    Broadcast(DType type, const void* scalar, std::size_t n) : size(std::size_t(isa::bytes(type))) {
        count = std::min(n, broadcast_bytes / size);
        std::uint64_t pattern = 0;
        std::memcpy(&pattern, scalar, size);
        splat(type, bytes, pattern, count);
    }
};

template <class T>
void select_as(T* out, const std::uint8_t* chosen, const T* a, const T* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = chosen[i] != 0 ? a[i] : b[i];
}
template <class T>
void weave_as(void* out, const void* a, const void* b, std::size_t n) {
    auto* __restrict o = static_cast<T*>(out);
    const auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
    for (std::size_t i = 0; i < n; ++i) o[2 * i] = x[i], o[2 * i + 1] = y[i];
}
template <class T>
void second_as(void* out, const void* in, bool odd, std::size_t n) {
    auto* __restrict o = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(in) + odd;
    for (std::size_t i = 0; i < n; ++i) o[i] = x[2 * i];
}
template <class T>
void splat_as(void* out, std::uint64_t pattern, std::size_t n) {
    std::fill_n(static_cast<T*>(out), n, T(pattern));
}

} // namespace

UnaryKernel unary_kernel(LaneFn fn, DType type) {
    if (fn == LaneFn::copy) {
        static constexpr DType by_size[] = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
        if (isa::bits(type) < 8) return nullptr;
        return int_lanes(by_size[isa::bytes(type) == 1   ? 0
                                 : isa::bytes(type) == 2 ? 1
                                 : isa::bytes(type) == 4 ? 2
                                                         : 3])
            .copy;
    }
    if (lane_float(type)) {
        const FloatTable t = float_lanes(type);
        switch (fn) {
        case LaneFn::neg: return t.neg;
        case LaneFn::abs: return t.abs;
        case LaneFn::relu: return t.relu;
        case LaneFn::exp: return t.exp;
        case LaneFn::log: return t.log;
        case LaneFn::log2: return t.log2;
        case LaneFn::log10: return t.log10;
        case LaneFn::sqrt: return t.sqrt;
        case LaneFn::recip: return t.recip;
        case LaneFn::rsqrt: return t.rsqrt;
        case LaneFn::truncate: return t.truncate;
        case LaneFn::bit_not: return int_lanes(type == DType::fp32 ? DType::uint32 : DType::uint16).bit_not;
        default: return nullptr;
        }
    }
    const IntTable t = int_lanes(type);
    switch (fn) {
    case LaneFn::neg: return t.neg;
    case LaneFn::abs: return t.abs;
    case LaneFn::relu: return t.relu;
    case LaneFn::bit_not: return t.bit_not;
    default: return nullptr;
    }
}

BinaryKernel binary_kernel(LaneFn fn, DType type) {
    const bool logic = fn == LaneFn::bit_and || fn == LaneFn::bit_or || fn == LaneFn::bit_xor;
    if (logic && isa::bits(type) >= 8 && isa::is_float(type)) // registers take bitwise operations on any pattern
        type = isa::bits(type) == 8 ? DType::uint8 : isa::bits(type) == 16 ? DType::uint16 : DType::uint32;
    if (lane_float(type)) {
        const FloatTable t = float_lanes(type);
        switch (fn) {
        case LaneFn::add: return t.add;
        case LaneFn::sub: return t.sub;
        case LaneFn::mul: return t.mul;
        case LaneFn::div: return t.div;
        case LaneFn::rem: return t.rem;
        case LaneFn::max: return t.max;
        case LaneFn::min: return t.min;
        case LaneFn::add_relu: return t.add_relu;
        case LaneFn::sub_relu: return t.sub_relu;
        case LaneFn::abs_sub: return t.abs_sub;
        case LaneFn::exp_sub:
        case LaneFn::exp_dif: return t.exp_sub;
        case LaneFn::leaky_relu:
        case LaneFn::prelu: return t.slope;
        default: return nullptr;
        }
    }
    const IntTable t = int_lanes(type);
    switch (fn) {
    case LaneFn::add: return t.add;
    case LaneFn::sub: return t.sub;
    case LaneFn::mul: return t.mul;
    case LaneFn::div: return t.div;
    case LaneFn::rem: return t.rem;
    case LaneFn::max: return t.max;
    case LaneFn::min: return t.min;
    case LaneFn::bit_and: return t.bit_and;
    case LaneFn::bit_or: return t.bit_or;
    case LaneFn::bit_xor: return t.bit_xor;
    case LaneFn::shl: return t.shl;
    case LaneFn::shr: return t.shr;
    case LaneFn::add_relu: return t.add_relu;
    case LaneFn::sub_relu: return t.sub_relu;
    case LaneFn::abs_sub: return t.abs_sub;
    default: return nullptr;
    }
}

TernaryKernel ternary_kernel(LaneFn fn, DType type, bool fused) {
    const bool product =
        fn == LaneFn::mul_add_dst || fn == LaneFn::mul_dst_add || fn == LaneFn::fused_mul_add || fn == LaneFn::axpy;
    if (lane_float(type)) {
        const FloatTable t = float_lanes(type);
        if (fn == LaneFn::addc) return t.addc;
        if (fn == LaneFn::subc) return t.subc;
        if (fn == LaneFn::fused_mul_add_relu) return fused ? t.fused_relu : t.mul_add_relu;
        return product ? (fused ? t.fused : t.mul_add) : nullptr;
    }
    const IntTable t = int_lanes(type);
    if (fn == LaneFn::addc) return t.addc;
    if (fn == LaneFn::subc) return t.subc;
    if (fn == LaneFn::fused_mul_add_relu) return t.mul_add_relu;
    return product ? t.mul_add : nullptr;
}

CompareKernel compare_kernel(LaneFn fn, DType type) {
    const CompareTable t = compare_lanes(type);
    switch (fn) {
    case LaneFn::eq: return t.eq;
    case LaneFn::ne: return t.ne;
    case LaneFn::lt: return t.lt;
    case LaneFn::le: return t.le;
    case LaneFn::gt: return t.gt;
    case LaneFn::ge: return t.ge;
    default: return nullptr;
    }
}

void apply_scalar(BinaryKernel kernel, DType type, void* out, const void* a, const void* scalar, std::size_t n) {
    const Broadcast b(type, scalar, n);
    for (std::size_t i = 0; i < n; i += b.count)
        kernel(static_cast<std::byte*>(out) + i * b.size, static_cast<const std::byte*>(a) + i * b.size, b.bytes,
               std::min(b.count, n - i));
}
void apply_scalar(CompareKernel kernel, DType type, std::uint8_t* out, const void* a, const void* scalar,
                  std::size_t n) {
    const Broadcast b(type, scalar, n);
    for (std::size_t i = 0; i < n; i += b.count)
        kernel(out + i, static_cast<const std::byte*>(a) + i * b.size, b.bytes, std::min(b.count, n - i));
}
void apply_scalar(TernaryKernel kernel, DType type, void* out, const void* a, const void* scalar, const void* c,
                  std::size_t n) {
    const Broadcast b(type, scalar, n);
    for (std::size_t i = 0; i < n; i += b.count)
        kernel(static_cast<std::byte*>(out) + i * b.size, static_cast<const std::byte*>(a) + i * b.size, b.bytes,
               static_cast<const std::byte*>(c) + i * b.size, std::min(b.count, n - i));
}

void select_lanes(void* out, const std::uint8_t* chosen, const void* a, const void* b, int bytes, std::size_t n) {
    switch (bytes) {
    case 1:
        select_as(static_cast<std::uint8_t*>(out), chosen, static_cast<const std::uint8_t*>(a),
                  static_cast<const std::uint8_t*>(b), n);
        break;
    case 2:
        select_as(static_cast<std::uint16_t*>(out), chosen, static_cast<const std::uint16_t*>(a),
                  static_cast<const std::uint16_t*>(b), n);
        break;
    case 4:
        select_as(static_cast<std::uint32_t*>(out), chosen, static_cast<const std::uint32_t*>(a),
                  static_cast<const std::uint32_t*>(b), n);
        break;
    default:
        select_as(static_cast<std::uint64_t*>(out), chosen, static_cast<const std::uint64_t*>(a),
                  static_cast<const std::uint64_t*>(b), n);
        break;
    }
}

void weave_lanes(void* out, const void* a, const void* b, int bytes, std::size_t n) {
    switch (bytes) {
    case 1: return weave_as<std::uint8_t>(out, a, b, n);
    case 2: return weave_as<std::uint16_t>(out, a, b, n);
    case 4: return weave_as<std::uint32_t>(out, a, b, n);
    default: return weave_as<std::uint64_t>(out, a, b, n);
    }
}
void every_second_lane(void* out, const void* in, bool odd, int bytes, std::size_t n) {
    switch (bytes) {
    case 1: return second_as<std::uint8_t>(out, in, odd, n);
    case 2: return second_as<std::uint16_t>(out, in, odd, n);
    case 4: return second_as<std::uint32_t>(out, in, odd, n);
    default: return second_as<std::uint64_t>(out, in, odd, n);
    }
}
void pack_bits(std::uint8_t* bits, const std::uint8_t* lanes, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 8) {
        unsigned byte = 0;
        for (std::size_t j = i; j < std::min(n, i + 8); ++j) byte |= unsigned(lanes[j] & 1) << (j - i);
        bits[i / 8] = std::uint8_t(byte);
    }
}
void unpack_bits(std::uint8_t* lanes, const std::uint8_t* bits, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) lanes[i] = std::uint8_t(bits[i / 8] >> (i % 8) & 1);
}

void splat(DType type, void* out, std::uint64_t pattern, std::size_t n) {
    switch (isa::bits(type)) {
    case 4: std::memset(out, int((pattern & 0xF) * 0x11), (n + 1) / 2); break;
    case 8: std::memset(out, int(pattern & 0xFF), n); break;
    case 16: splat_as<std::uint16_t>(out, pattern, n); break;
    case 32: splat_as<std::uint32_t>(out, pattern, n); break;
    default: splat_as<std::uint64_t>(out, pattern, n); break;
    }
}

} // namespace pto::numerics
