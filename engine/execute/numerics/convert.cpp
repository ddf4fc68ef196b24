// Plain loops, compiled once per Highway target: the compiler vectorises them, Highway chooses at run time.
#define HWY_DISABLED_TARGETS                                                                                           \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/convert.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/convert.hpp"
#include "hwy/highway.h"

#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace pto::numerics {
namespace HWY_NAMESPACE {

void Fp16ToFp32(const std::uint16_t* HWY_RESTRICT src, float* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = fp16_to_fp32(src[i]);
}
void Fp32ToFp16(const float* HWY_RESTRICT src, std::uint16_t* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = fp32_to_fp16(src[i]);
}
void Bf16ToFp32(const std::uint16_t* HWY_RESTRICT src, float* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = bf16_to_fp32(src[i]);
}
void Fp32ToBf16(const float* HWY_RESTRICT src, std::uint16_t* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = fp32_to_bf16(src[i]);
}
void Fp32ToFp16Away(const float* HWY_RESTRICT src, std::uint16_t* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = fp32_to_fp16_away(src[i]);
}
void Fp32ToBf16Away(const float* HWY_RESTRICT src, std::uint16_t* HWY_RESTRICT dst, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) dst[i] = fp32_to_bf16_away(src[i]);
}

template <class Round>
void ToInt32(const float* HWY_RESTRICT src, std::int32_t* HWY_RESTRICT dst, std::size_t n, double low, double high,
             Round) {
    for (std::size_t i = 0; i < n; ++i) {
        double v = Round::run(double(src[i]));
        v = v < low ? low : v;
        v = v > high ? high : v;
        v = v == v ? v : 0.0;
        dst[i] = std::int32_t(v);
    }
}
struct Nearest {
    static double run(double x) { return std::nearbyint(x); }
};
struct Away {
    static double run(double x) { return std::trunc(x + std::copysign(0.5, x)); }
}; // an fp32 plus a half is exact in double while it matters
struct Down {
    static double run(double x) { return std::floor(x); }
};
struct Up {
    static double run(double x) { return std::ceil(x); }
};
struct Toward {
    static double run(double x) { return std::trunc(x); }
};
void Fp32ToInt32(const float* src, std::int32_t* dst, std::size_t n, Rounding mode, double low, double high) {
    switch (mode) {
    case Rounding::rint: return ToInt32(src, dst, n, low, high, Nearest());
    case Rounding::floor: return ToInt32(src, dst, n, low, high, Down());
    case Rounding::ceil: return ToInt32(src, dst, n, low, high, Up());
    case Rounding::trunc: return ToInt32(src, dst, n, low, high, Toward());
    default: return ToInt32(src, dst, n, low, high, Away());
    }
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(Fp16ToFp32);
HWY_EXPORT(Fp32ToFp16);
HWY_EXPORT(Bf16ToFp32);
HWY_EXPORT(Fp32ToBf16);
HWY_EXPORT(Fp32ToFp16Away);
HWY_EXPORT(Fp32ToBf16Away);
HWY_EXPORT(Fp32ToInt32);
} // namespace

void fp16_to_fp32(const std::uint16_t* src, float* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Fp16ToFp32)(src, dst, n);
}
void fp32_to_fp16(const float* src, std::uint16_t* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Fp32ToFp16)(src, dst, n);
}
void bf16_to_fp32(const std::uint16_t* src, float* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Bf16ToFp32)(src, dst, n);
}
void fp32_to_bf16(const float* src, std::uint16_t* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Fp32ToBf16)(src, dst, n);
}
void fp32_to_fp16_away(const float* src, std::uint16_t* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Fp32ToFp16Away)(src, dst, n);
}
void fp32_to_bf16_away(const float* src, std::uint16_t* dst, std::size_t n) {
    HWY_DYNAMIC_DISPATCH(Fp32ToBf16Away)(src, dst, n);
}
void fp32_to_int32(const float* src, std::int32_t* dst, std::size_t n, Rounding mode, double low, double high) {
    HWY_DYNAMIC_DISPATCH(Fp32ToInt32)(src, dst, n, mode, low, high);
}

void to_fp32(DType from, const void* src, float* dst, std::size_t n, std::size_t first) {
    if (from == DType::fp32) {
        std::memcpy(dst, src, n * sizeof(float));
    } else if (from == DType::fp16) {
        fp16_to_fp32(static_cast<const std::uint16_t*>(src), dst, n);
    } else if (from == DType::bf16) {
        bf16_to_fp32(static_cast<const std::uint16_t*>(src), dst, n);
    } else if (const float* table = decode_table(from)) {
        const auto* bytes = static_cast<const std::uint8_t*>(src);
        if (isa::bits(from) == 8)
            for (std::size_t i = 0; i < n; ++i) dst[i] = table[bytes[i]];
        else
            for (std::size_t i = 0; i < n; ++i) dst[i] = table[bytes[(first + i) / 2] >> ((first + i) % 2 * 4) & 0xF];
    }
}

} // namespace pto::numerics
#endif
