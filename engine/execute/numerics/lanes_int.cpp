// Integer lanes. Operations that do not see the sign are compiled for unsigned types only.
#define HWY_DISABLED_TARGETS                                                                                           \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/lanes_int.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/numerics/lanes_tables.hpp"
#include "hwy/highway.h"

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace pto::numerics {
namespace HWY_NAMESPACE {
#include "engine/execute/numerics/lanes_loops.inc"

/// Wide enough that promotion never makes a signed overflow.
template <class T>
using Work = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct Add {
    template <class T>
    static T run(T a, T b) {
        return T(Work<T>(a) + Work<T>(b));
    }
};
struct Sub {
    template <class T>
    static T run(T a, T b) {
        return T(Work<T>(a) - Work<T>(b));
    }
};
struct Mul {
    template <class T>
    static T run(T a, T b) {
        return T(Work<T>(a) * Work<T>(b));
    }
};
struct And {
    template <class T>
    static T run(T a, T b) {
        return T(a & b);
    }
};
struct Or {
    template <class T>
    static T run(T a, T b) {
        return T(a | b);
    }
};
struct Xor {
    template <class T>
    static T run(T a, T b) {
        return T(a ^ b);
    }
};
struct Not {
    template <class T>
    static T run(T a) {
        return T(~a);
    }
};
struct Neg {
    template <class T>
    static T run(T a) {
        return T(Work<T>(0) - Work<T>(a));
    }
};
struct Copy {
    template <class T>
    static T run(T a) {
        return a;
    }
};
struct Abs {
    template <class T>
    static T run(T a) {
        return a < 0 ? T(Work<T>(0) - Work<T>(a)) : a;
    }
};
struct Relu {
    template <class T>
    static T run(T a) {
        return a > 0 ? a : T(0);
    }
};
struct Max {
    template <class T>
    static T run(T a, T b) {
        return a > b ? a : b;
    }
};
struct Min {
    template <class T>
    static T run(T a, T b) {
        return a < b ? a : b;
    }
};
struct Div {
    template <class T>
    static T run(T a, T b) {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == T(-1)) return Neg::run(a); // MIN / -1 wraps
        }
        return T(a / b);
    }
};
struct Rem {
    template <class T>
    static T run(T a, T b) {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == T(-1)) return 0;
        }
        return T(a % b);
    }
};
struct Shl { // unsigned view: a negative count is a large one
    template <class T>
    static T run(T a, T b) {
        constexpr unsigned width = 8 * sizeof(T);
        return b < width ? T(Work<T>(a) << b) : T(0);
    }
};
struct Shr {
    template <class T>
    static T run(T a, T b) {
        using U = std::make_unsigned_t<T>;
        constexpr unsigned width = 8 * sizeof(T);
        const unsigned count = U(b) < width ? unsigned(U(b)) : width - 1;
        if constexpr (std::is_signed_v<T>)
            return T(a >> count);
        else
            return U(b) < width ? T(a >> count) : T(0);
    }
};
struct AddRelu {
    template <class T>
    static T run(T a, T b) {
        return Relu::run(Add::run(a, b));
    }
};
struct SubRelu {
    template <class T>
    static T run(T a, T b) {
        return Relu::run(Sub::run(a, b));
    }
};
struct AbsSub {
    template <class T>
    static T run(T a, T b) {
        return Abs::run(Sub::run(a, b));
    }
};
struct AddAdd {
    template <class, class T>
    static T run(T a, T b, T c) {
        return Add::run(Add::run(a, b), c);
    }
};
struct SubAdd {
    template <class, class T>
    static T run(T a, T b, T c) {
        return Add::run(Sub::run(a, b), c);
    }
};
struct MulAdd {
    template <class, class T>
    static T run(T a, T b, T c) {
        return Add::run(Mul::run(a, b), c);
    }
};
struct MulAddRelu {
    template <class, class T>
    static T run(T a, T b, T c) {
        return Relu::run(Add::run(Mul::run(a, b), c));
    }
};

/// Sign does not matter.
template <class U>
void FillUnsigned(IntTable& t) {
    using L = Int<U>;
    t.copy = Unary<L, Copy>, t.bit_not = Unary<L, Not>, t.neg = Unary<L, Neg>;
    t.add = Binary<L, Add>, t.sub = Binary<L, Sub>, t.mul = Binary<L, Mul>, t.shl = Binary<L, Shl>;
    t.bit_and = Binary<L, And>, t.bit_or = Binary<L, Or>, t.bit_xor = Binary<L, Xor>;
    t.addc = Ternary<L, AddAdd>, t.subc = Ternary<L, SubAdd>, t.mul_add = Ternary<L, MulAdd>;
}
template <class T>
void Fill(IntTable& t) {
    using L = Int<T>;
    FillUnsigned<std::make_unsigned_t<T>>(t);
    t.div = Binary<L, Div>, t.rem = Binary<L, Rem>, t.max = Binary<L, Max>, t.min = Binary<L, Min>,
    t.shr = Binary<L, Shr>;
    if constexpr (std::is_signed_v<T>) {
        t.abs = Unary<L, Abs>, t.relu = Unary<L, Relu>;
        t.add_relu = Binary<L, AddRelu>, t.sub_relu = Binary<L, SubRelu>, t.abs_sub = Binary<L, AbsSub>;
        t.mul_add_relu = Ternary<L, MulAddRelu>;
    } else {
        t.abs = t.relu = t.copy;
        t.add_relu = t.add, t.sub_relu = t.sub, t.mul_add_relu = t.mul_add;
    }
}

IntTable IntLanes(DType type) {
    IntTable t;
    switch (type) {
    case DType::boolean:
    case DType::uint8: Fill<std::uint8_t>(t); break;
    case DType::int8: Fill<std::int8_t>(t); break;
    case DType::uint16: Fill<std::uint16_t>(t); break;
    case DType::int16: Fill<std::int16_t>(t); break;
    case DType::uint32: Fill<std::uint32_t>(t); break;
    case DType::int32: Fill<std::int32_t>(t); break;
    case DType::uint64: Fill<std::uint64_t>(t); break;
    case DType::index:
    case DType::int64: Fill<std::int64_t>(t); break;
    default: break;
    }
    return t;
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(IntLanes);
}
IntTable int_lanes(DType type) { return HWY_DYNAMIC_DISPATCH(IntLanes)(type); }
} // namespace pto::numerics
#endif
