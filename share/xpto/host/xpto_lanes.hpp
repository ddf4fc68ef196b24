#pragma once
/// What registers compute: the simulator's own lane functions, asked of the process (xpto_host_table.h); selections, permutations, reductions and
/// conversions around them.

namespace xpto_host {
template <class T> void keep(RegTensor<T>& d, const unsigned char* result, const MaskReg& m, XptoMode mode) {
    for (int k = 0; k < RegTensor<T>::lanes; ++k) {
        unsigned char* at = d.bytes + k * sizeof(T);
        if (m.lane(k, sizeof(T))) std::memcpy(at, result + k * sizeof(T), sizeof(T));
        else if (mode != MODE_MERGING) std::memset(at, 0, sizeof(T));
    }
}
template <class T> RegTensor<T> filled(T x) {
    RegTensor<T> r;
    for (int k = 0; k < RegTensor<T>::lanes; ++k) r.set(k, x);
    return r;
}
template <class T> void unary(const void* f, RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode mode) {
    alignas(64) unsigned char out[vector_bytes];
    reinterpret_cast<void (*)(void*, const void*, size_t)>(const_cast<void*>(f))(out, a.bytes, RegTensor<T>::lanes);
    keep(d, out, m, mode);
}
template <class T> void binary(const void* f, RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m, XptoMode mode) {
    alignas(64) unsigned char out[vector_bytes];
    reinterpret_cast<void (*)(void*, const void*, const void*, size_t)>(const_cast<void*>(f))(out, a.bytes, b.bytes, RegTensor<T>::lanes);
    keep(d, out, m, mode);
}
template <class T> void ternary(const void* f, RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const RegTensor<T>& c, const MaskReg& m, XptoMode mode) {
    alignas(64) unsigned char out[vector_bytes];
    reinterpret_cast<void (*)(void*, const void*, const void*, const void*, size_t)>(const_cast<void*>(f))(out, a.bytes, b.bytes, c.bytes, RegTensor<T>::lanes);
    keep(d, out, m, mode);
}
template <class T> void compare(const void* f, MaskReg& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m) {
    unsigned char out[vector_bytes];
    reinterpret_cast<void (*)(unsigned char*, const void*, const void*, size_t)>(const_cast<void*>(f))(out, a.bytes, b.bytes, RegTensor<T>::lanes);
    MaskReg r;
    for (int k = 0; k < RegTensor<T>::lanes; ++k) r.on[k * sizeof(T)] = m.lane(k, sizeof(T)) && out[k];
    d = r;
}
} // namespace xpto_host

#define XPTO_LANE(arity, function) static const void* const f = xpto_host::lane_or_throw(arity, function, xpto_host::type_name<T>())
#define XPTO_UNARY(name, function)                                                                                 \
    template <class T> void name(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode mode) {         \
        XPTO_LANE(1, function);                                                                                    \
        xpto_host::unary(f, d, a, m, mode);                                                                        \
    }
#define XPTO_BINARY(name, function)                                                                                                     \
    template <class T> void name(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m, XptoMode mode) {       \
        XPTO_LANE(2, function);                                                                                                         \
        xpto_host::binary(f, d, a, b, m, mode);                                                                                         \
    }
#define XPTO_SCALAR(name, function)                                                                                \
    template <class T, class X> void name(RegTensor<T>& d, const RegTensor<T>& a, X x, const MaskReg& m, XptoMode mode) { \
        XPTO_LANE(2, function);                                                                                    \
        xpto_host::binary(f, d, a, xpto_host::filled(T(x)), m, mode);                                              \
    }
#define XPTO_COMPARE(word)                                                                                                       \
    template <class T> void vcmp_##word(MaskReg& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m) {            \
        XPTO_LANE(4, #word);                                                                                                     \
        xpto_host::compare(f, d, a, b, m);                                                                                       \
    }                                                                                                                            \
    template <class T, class X> void vcmps_##word(MaskReg& d, const RegTensor<T>& a, X x, const MaskReg& m) {                    \
        XPTO_LANE(4, #word);                                                                                                     \
        xpto_host::compare(f, d, a, xpto_host::filled(T(x)), m);                                                                 \
    }
XPTO_UNARY(vneg, "neg")
XPTO_UNARY(vabs, "abs")
XPTO_UNARY(vrelu, "relu")
XPTO_UNARY(vexp, "exp")
XPTO_UNARY(vln, "log")
XPTO_UNARY(vsqrt, "sqrt")
XPTO_UNARY(vnot, "bit_not")
XPTO_BINARY(vadd, "add")
XPTO_BINARY(vsub, "sub")
XPTO_BINARY(vmul, "mul")
XPTO_BINARY(vdiv, "div")
XPTO_BINARY(vmax, "max")
XPTO_BINARY(vmin, "min")
XPTO_BINARY(vand, "bit_and")
XPTO_BINARY(vor, "bit_or")
XPTO_BINARY(vxor, "bit_xor")
XPTO_BINARY(vshl, "shl")
XPTO_BINARY(vshr, "shr")
XPTO_BINARY(vabsdif, "abs_sub")
XPTO_BINARY(vprelu, "prelu")
XPTO_SCALAR(vadds, "add")
XPTO_SCALAR(vmuls, "mul")
XPTO_SCALAR(vmaxs, "max")
XPTO_SCALAR(vmins, "min")
XPTO_SCALAR(vlrelu, "leaky_relu")
XPTO_SCALAR(vshls, "shl")
XPTO_SCALAR(vshrs, "shr")
XPTO_COMPARE(eq)
XPTO_COMPARE(ne)
XPTO_COMPARE(lt)
XPTO_COMPARE(le)
XPTO_COMPARE(gt)
XPTO_COMPARE(ge)
#undef XPTO_UNARY
#undef XPTO_BINARY
#undef XPTO_SCALAR
#undef XPTO_COMPARE

template <class T> void vmula(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m, XptoMode mode) {
    XPTO_LANE(3, "mul_add_dst");
    xpto_host::ternary(f, d, a, b, d, m, mode);
}
template <class T> void vmadd(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m, XptoMode mode) {
    XPTO_LANE(3, "mul_dst_add");
    xpto_host::ternary(f, d, d, a, b, m, mode);
}
template <class T, class X> void vaxpy(RegTensor<T>& d, const RegTensor<T>& a, X x, const MaskReg& m, XptoMode mode) {
    XPTO_LANE(3, "axpy");
    xpto_host::ternary(f, d, a, xpto_host::filled(T(x)), d, m, mode);
}
template <class T> void vexpdif(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m, XptoPart) {
    XPTO_LANE(2, "exp_sub");
    xpto_host::binary(f, d, a, b, m, MODE_ZEROING);
}
#undef XPTO_LANE

// ------------------------------------------------------------------ fills, selections, permutations

template <class T, class X> void vbr(RegTensor<T>& d, X x) { d = xpto_host::filled(T(x)); }
template <class T, class X> void vdup(RegTensor<T>& d, X x, const MaskReg& m, XptoMode mode) { xpto_host::keep(d, xpto_host::filled(T(x)).bytes, m, mode); }
template <class T> void vdup(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoPosition where, XptoMode mode) {
    xpto_host::keep(d, xpto_host::filled(a.get(where == POS_LOWEST ? 0 : RegTensor<T>::lanes - 1)).bytes, m, mode);
}
template <class T> void vmov(RegTensor<T>& d, const RegTensor<T>& a) { d = a; }
template <class T> void vmov(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode mode) { xpto_host::keep(d, RegTensor<T>(a).bytes, m, mode); }
template <class T> void vsel(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& m) {
    RegTensor<T> out;
    for (int k = 0; k < RegTensor<T>::lanes; ++k) out.set(k, m.lane(k, sizeof(T)) ? a.get(k) : b.get(k));
    d = out;
}
template <class T, class X> void vci(RegTensor<T>& d, X start, XptoOrder order) {
    for (int k = 0; k < RegTensor<T>::lanes; ++k) d.set(k, T(start + T(order == INC_ORDER ? k : RegTensor<T>::lanes - 1 - k)));
}
template <class T> void vintlv(RegTensor<T>& d, RegTensor<T>& e, const RegTensor<T>& a, const RegTensor<T>& b) {
    constexpr int lanes = RegTensor<T>::lanes;
    RegTensor<T> low, high;
    for (int k = 0; k < lanes; ++k) {
        RegTensor<T>& to = k < lanes / 2 ? low : high;
        to.set(2 * k % lanes, a.get(k));
        to.set(2 * k % lanes + 1, b.get(k));
    }
    d = low, e = high;
}
template <class T> void vdintlv(RegTensor<T>& d, RegTensor<T>& e, const RegTensor<T>& a, const RegTensor<T>& b) {
    constexpr int lanes = RegTensor<T>::lanes;
    RegTensor<T> even, odd;
    for (int k = 0; k < lanes; ++k) {
        const RegTensor<T>& from = k < lanes / 2 ? a : b;
        even.set(k, from.get(2 * k % lanes));
        odd.set(k, from.get(2 * k % lanes + 1));
    }
    d = even, e = odd;
}
template <class T, class I> void vselr(RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<I>& index) {
    RegTensor<T> out;
    for (int k = 0; k < RegTensor<T>::lanes; ++k) out.set(k, a.get(int(uint64_t(index.get(k)) % RegTensor<T>::lanes)));
    d = out;
}

enum XptoHalf { LOWER, HIGHER };
template <class N, class W> void vpack(RegTensor<N>& d, const RegTensor<W>& a, XptoHalf half) {
    RegTensor<N> out;
    for (int k = 0; k < RegTensor<W>::lanes; ++k) std::memcpy(out.bytes + (half == HIGHER ? 128 : 0) + k * sizeof(N), a.bytes + k * sizeof(W), sizeof(N));
    d = out;
}
template <class W, class N> void vunpack(RegTensor<W>& d, const RegTensor<N>& a, XptoHalf half) {
    RegTensor<W> out;
    for (int k = 0; k < RegTensor<W>::lanes; ++k) out.set(k, W(a.get(k + (half == HIGHER ? RegTensor<W>::lanes : 0))));
    d = out;
}
namespace xpto_host {
template <bool minus, class T> void with_carry(MaskReg& carry, RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& in, const MaskReg& m) {
    static_assert(sizeof(T) == 4);
    MaskReg out;
    RegTensor<T> result;
    for (int k = 0; k < RegTensor<T>::lanes; ++k) {
        const uint64_t x = uint32_t(a.get(k)), y = uint32_t(b.get(k)), c = in.lane(k, 4), sum = minus ? x - y - c : x + y + c;
        if (!m.lane(k, 4)) continue;
        result.set(k, T(uint32_t(sum)));
        out.on[4 * k] = (sum >> 32) != 0;
    }
    d = result, carry = out;
}
} // namespace xpto_host
template <class T> void vaddcs(MaskReg& carry, RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& in, const MaskReg& m) { xpto_host::with_carry<false>(carry, d, a, b, in, m); }
template <class T> void vsubcs(MaskReg& carry, RegTensor<T>& d, const RegTensor<T>& a, const RegTensor<T>& b, const MaskReg& in, const MaskReg& m) { xpto_host::with_carry<true>(carry, d, a, b, in, m); }

// ------------------------------------------------------------------ reductions, conversions

namespace xpto_host {
template <class T> T reduced_sum(const RegTensor<T>& a, const MaskReg& m, int begin, int count) {
    if constexpr (std::is_integral_v<T>) {
        uint64_t sum = 0;
        for (int k = begin; k < begin + count; ++k)
            if (m.lane(k, sizeof(T))) sum += uint64_t(a.get(k));
        return T(sum);
    } else {
        float values[vector_bytes / 2];
        for (int k = 0; k < count; ++k) values[k] = m.lane(begin + k, sizeof(T)) ? float(a.get(begin + k)) : 0.0f;
        return T(core->table->tree_sum(values, size_t(count)));
    }
}
/// The extreme of the selected lanes and where it stands; NaN wins, +0 is above -0, the first of equals counts.
template <bool largest, class T> T extreme(const RegTensor<T>& a, const MaskReg& m, int begin, int count, int64_t* where) {
    bool any = false;
    double best = largest ? -__builtin_inf() : __builtin_inf();
    T found = std::is_integral_v<T> ? (largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max()) : T(best);
    for (int k = begin; k < begin + count; ++k) {
        if (!m.lane(k, sizeof(T))) continue;
        const double x = double(a.get(k));
        const bool nan = x != x, better = !any || nan || (largest ? x > best || (x == best && __builtin_signbit(best) && !__builtin_signbit(x))
                                                                  : x < best || (x == best && !__builtin_signbit(best) && __builtin_signbit(x)));
        if (!better) continue;
        if (!(any && x == best) && where) *where = k - begin;
        best = x, any = true, found = a.get(k);
        if (nan) break;
    }
    return found;
}
template <class T> void with_index(RegTensor<T>& d, T value, int64_t index) {
    d = RegTensor<T>();
    d.set(0, value);
    std::memcpy(d.bytes + sizeof(T), &index, sizeof(T));
}
template <class T, class F> void by_block(RegTensor<T>& d, F f) {
    RegTensor<T> out;
    for (int b = 0; b < 8; ++b) out.set(b, f(b * int(32 / sizeof(T)), int(32 / sizeof(T))));
    d = out;
}
inline const char* word(XptoRound r) {
    static constexpr const char* words[] = {"R", "A", "F", "C", "Z", "O", "H"};
    return words[r];
}
template <class To, class From> void convert(RegTensor<To>& d, const RegTensor<From>& a, const MaskReg& m, XptoRound round, bool saturate, int place) {
    constexpr int wide = sizeof(To) > sizeof(From) ? sizeof(To) : sizeof(From), count = vector_bytes / wide;
    alignas(64) unsigned char source[vector_bytes] = {}, result[vector_bytes] = {};
    const int from_at = sizeof(From) < wide ? place * int(sizeof(From)) : 0, to_at = sizeof(To) < wide ? place * int(sizeof(To)) : 0;
    for (int k = 0; k < count; ++k) std::memcpy(source + k * sizeof(From), a.bytes + k * wide + from_at, sizeof(From));
    if (!core->table->convert || !core->table->convert(type_name<From>(), source, type_name<To>(), result, count, word(round), saturate))
        throw std::logic_error(std::string("no conversion of ") + type_name<From>() + " to " + type_name<To>() + " in this process");
    RegTensor<To> out;
    for (int k = 0; k < count; ++k)
        if (m.on[(k * wide + from_at) / int(sizeof(From)) * int(sizeof(From))]) std::memcpy(out.bytes + k * wide + to_at, result + k * sizeof(To), sizeof(To));
    d = out;
}
} // namespace xpto_host

template <class T> void vcadd(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    const T sum = xpto_host::reduced_sum(a, m, 0, RegTensor<T>::lanes);
    d = RegTensor<T>();
    d.set(0, sum);
}
template <class T> void vcmax(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    int64_t at = 0;
    const T best = xpto_host::extreme<true>(a, m, 0, RegTensor<T>::lanes, &at);
    xpto_host::with_index(d, best, at);
}
template <class T> void vcmin(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    int64_t at = 0;
    const T best = xpto_host::extreme<false>(a, m, 0, RegTensor<T>::lanes, &at);
    xpto_host::with_index(d, best, at);
}
template <class T> void vcgadd(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    xpto_host::by_block(d, [&](int begin, int count) { return xpto_host::reduced_sum(a, m, begin, count); });
}
template <class T> void vcgmax(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    xpto_host::by_block(d, [&](int begin, int count) { return xpto_host::extreme<true>(a, m, begin, count, nullptr); });
}
template <class T> void vcgmin(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    xpto_host::by_block(d, [&](int begin, int count) { return xpto_host::extreme<false>(a, m, begin, count, nullptr); });
}

template <class T> void vcpadd(RegTensor<T>& d, const RegTensor<T>& a, const MaskReg& m, XptoMode) {
    RegTensor<T> out;
    for (int k = 0; k < RegTensor<T>::lanes / 2; ++k) {
        const float x = m.lane(2 * k, sizeof(T)) ? float(a.get(2 * k)) : 0.0f, y = m.lane(2 * k + 1, sizeof(T)) ? float(a.get(2 * k + 1)) : 0.0f;
        out.set(k, T(x + y));
    }
    d = out;
}

// the argument lists of vcvt say which conversion it is: [rounding,] [saturation,] [part,] mode
template <class D, class S, class... O> void vcvt(RegTensor<D>& d, const RegTensor<S>& a, const MaskReg& m, O... options) {
    XptoRound round = ROUND_R;
    bool saturate = false;
    int place = 0;
    auto look = [&](auto o) {
        if constexpr (std::is_same_v<decltype(o), XptoRound>) round = o;
        else if constexpr (std::is_same_v<decltype(o), XptoSaturation>) saturate = o == RS_ENABLE;
        else if constexpr (std::is_same_v<decltype(o), XptoPart>) place = int(o);
    };
    (look(options), ...);
    xpto_host::convert(d, a, m, round, saturate, place);
}
template <class T> void vtrc(RegTensor<T>& d, const RegTensor<T>& a, XptoRound round, const MaskReg& m, XptoMode mode) {
    RegTensor<T> whole;
    xpto_host::convert(whole, a, pset_b8(PAT_ALL), round, false, 0);
    xpto_host::keep(d, whole.bytes, m, mode);
}
