// Floating lanes: fp32, and fp16 and bf16 through fp32.
#define HWY_DISABLED_TARGETS                                                                                           \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/lanes_float.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/elementary.hpp"
#include "engine/execute/numerics/lanes_tables.hpp"
#include "hwy/highway.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace pto::numerics {
namespace HWY_NAMESPACE {
#include "engine/execute/numerics/lanes_loops.inc"

inline float Positive(float x) { return max_fp32(x, 0.0f); } // NaN stays, -0 becomes +0

struct Neg {
    static float run(float a) { return -a; }
};
struct Abs {
    static float run(float a) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7FFFFFFFu); }
};
struct Relu {
    static float run(float a) { return Positive(a); }
};
struct Exp {
    static float run(float a) { return exp_fp32(a); }
};
struct Log {
    static float run(float a) { return ln_fp32(a); }
};
struct Log2 {
    static float run(float a) { return ln_fp32(a) * 1.4426950408889634f; }
}; // the library's own composition
struct Log10 {
    static float run(float a) { return ln_fp32(a) * 0.4342944819032518f; }
};
struct Sqrt {
    static float run(float a) { return sqrt_fp32(a); }
};
struct Recip {
    static float run(float a) { return recip_fp32(a); }
};
struct Rsqrt {
    static float run(float a) { return rsqrt_fp32(a); }
};
struct Trunc {
    static float run(float a) { return std::trunc(a); }
};
struct Rint {
    static float run(float a) { return std::nearbyint(a); }
};
struct Floor {
    static float run(float a) { return std::floor(a); }
};
struct Ceil {
    static float run(float a) { return std::ceil(a); }
};
struct Add {
    static float run(float a, float b) { return a + b; }
};
struct Sub {
    static float run(float a, float b) { return a - b; }
};
struct Mul {
    static float run(float a, float b) { return a * b; }
};
struct Div {
    static float run(float a, float b) { return div_fp32(a, b); }
};
struct Rem {
    static float run(float a, float b) { return std::fmod(a, b); }
}; // exact by definition
struct Max {
    static float run(float a, float b) { return max_fp32(a, b); }
};
struct Min {
    static float run(float a, float b) { return min_fp32(a, b); }
};
struct AbsSub {
    static float run(float a, float b) { return Abs::run(a - b); }
};
struct ExpSub {
    static float run(float a, float b) { return exp_fp32(a - b); }
};
struct Slope {
    static float run(float a, float b) { return a >= 0.0f ? a : b * a; }
};

/// A value as the element type would keep it between two instructions.
template <class L>
float Kept(float x) {
    return L::load(L::store(x));
}
template <class L>
struct AddRelu {
    static float run(float a, float b) { return Positive(Kept<L>(a + b)); }
};
template <class L>
struct SubRelu {
    static float run(float a, float b) { return Positive(Kept<L>(a - b)); }
};
struct AddAdd {
    template <class L>
    static float run(float a, float b, float c) {
        return Kept<L>(a + b) + c;
    }
};
struct SubAdd {
    template <class L>
    static float run(float a, float b, float c) {
        return Kept<L>(a - b) + c;
    }
};
struct MulAdd {
    template <class L>
    static float run(float a, float b, float c) {
        return Kept<L>(a * b) + c;
    }
};
struct MulAddRelu {
    template <class L>
    static float run(float a, float b, float c) {
        return Positive(Kept<L>(Kept<L>(a * b) + c));
    }
};
struct Fused {
    template <class L>
    static float run(float a, float b, float c) {
        if constexpr (std::is_same_v<L, Fp32>)
            return std::fma(a, b, c);
        else
            return fma_16(a, b, c);
    }
};
struct FusedRelu {
    template <class L>
    static float run(float a, float b, float c) {
        return Positive(Fused::run<L>(a, b, c));
    }
};

template <class L>
FloatTable Fill() {
    FloatTable t;
    t.neg = Unary<L, Neg>, t.abs = Unary<L, Abs>, t.relu = Unary<L, Relu>, t.exp = Unary<L, Exp>, t.log = Unary<L, Log>,
    t.log2 = Unary<L, Log2>;
    t.log10 = Unary<L, Log10>, t.sqrt = Unary<L, Sqrt>, t.recip = Unary<L, Recip>, t.rsqrt = Unary<L, Rsqrt>;
    t.truncate = Unary<L, Trunc>, t.rint = Unary<L, Rint>, t.floor = Unary<L, Floor>, t.ceil = Unary<L, Ceil>;
    t.add = Binary<L, Add>, t.sub = Binary<L, Sub>, t.mul = Binary<L, Mul>, t.div = Binary<L, Div>,
    t.rem = Binary<L, Rem>;
    t.max = Binary<L, Max>, t.min = Binary<L, Min>, t.abs_sub = Binary<L, AbsSub>, t.exp_sub = Binary<L, ExpSub>,
    t.slope = Binary<L, Slope>;
    t.add_relu = Binary<L, AddRelu<L>>, t.sub_relu = Binary<L, SubRelu<L>>;
    t.addc = Ternary<L, AddAdd>, t.subc = Ternary<L, SubAdd>, t.mul_add = Ternary<L, MulAdd>,
    t.mul_add_relu = Ternary<L, MulAddRelu>;
    t.fused = Ternary<L, Fused>, t.fused_relu = Ternary<L, FusedRelu>;
    return t;
}

FloatTable FloatLanes(DType type) {
    switch (type) {
    case DType::fp32: return Fill<Fp32>();
    case DType::fp16: return Fill<Fp16>();
    case DType::bf16: return Fill<Bf16>();
    default: return {};
    }
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(FloatLanes);
}
FloatTable float_lanes(DType type) { return HWY_DYNAMIC_DISPATCH(FloatLanes)(type); }
} // namespace pto::numerics
#endif
