// Comparisons: one byte a lane.
#define HWY_DISABLED_TARGETS                                                                                           \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/lanes_compare.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/numerics/lanes_tables.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pto::numerics {
namespace HWY_NAMESPACE {
#include "engine/execute/numerics/lanes_loops.inc"

struct Eq {
    template <class T>
    static bool run(T a, T b) {
        return a == b;
    }
};
struct Ne {
    template <class T>
    static bool run(T a, T b) {
        return a != b;
    }
};
struct Lt {
    template <class T>
    static bool run(T a, T b) {
        return a < b;
    }
};
struct Le {
    template <class T>
    static bool run(T a, T b) {
        return a <= b;
    }
};
struct Gt {
    template <class T>
    static bool run(T a, T b) {
        return a > b;
    }
};
struct Ge {
    template <class T>
    static bool run(T a, T b) {
        return a >= b;
    }
};

template <class L>
CompareTable Fill() {
    return {Compare<L, Eq>, Compare<L, Ne>, Compare<L, Lt>, Compare<L, Le>, Compare<L, Gt>, Compare<L, Ge>};
}

CompareTable CompareLanes(DType type) {
    switch (type) {
    case DType::fp32: return Fill<Fp32>();
    case DType::fp16: return Fill<Fp16>();
    case DType::bf16: return Fill<Bf16>();
    case DType::boolean:
    case DType::uint8: return Fill<Int<std::uint8_t>>();
    case DType::int8: return Fill<Int<std::int8_t>>();
    case DType::uint16: return Fill<Int<std::uint16_t>>();
    case DType::int16: return Fill<Int<std::int16_t>>();
    case DType::uint32: return Fill<Int<std::uint32_t>>();
    case DType::int32: return Fill<Int<std::int32_t>>();
    case DType::uint64: return Fill<Int<std::uint64_t>>();
    case DType::index:
    case DType::int64: return Fill<Int<std::int64_t>>();
    default: return {};
    }
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(CompareLanes);
}
CompareTable compare_lanes(DType type) { return HWY_DYNAMIC_DISPATCH(CompareLanes)(type); }
} // namespace pto::numerics
#endif
