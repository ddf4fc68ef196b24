#pragma once
/// Conversions and comparisons of tiles, selection by a packed mask, and the one fused product. The CPU simulator's headers round to nearest whatever the mode where the result is a floating type, and leave a number
/// that does not fit to the compiler. Here: the language's rules, for half, float and whole numbers; other types stay the headers' matter.

#include <cmath>

namespace xpto_host {

using Wide = long double; // holds every half, float and 64-bit whole number exactly

template <class T> constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, half>;
template <class T> constexpr bool is_plain = is_real<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>);

inline Wide whole(Wide x, pto::RoundMode mode) {
    using M = pto::RoundMode;
    switch (mode) {
    case M::CAST_RINT: return std::rint(x);
    case M::CAST_ROUND: return std::round(x);
    case M::CAST_FLOOR: return std::floor(x);
    case M::CAST_CEIL: return std::ceil(x);
    default: return std::trunc(x);
    }
}

/// The neighbour of x in a direction; x itself is finite or the infinity that the other neighbour of the largest number is.
template <class T> T neighbour(T x, bool up) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    constexpr Bits sign = Bits(Bits(1) << (sizeof(T) * 8 - 1));
    Bits bits;
    std::memcpy(&bits, &x, sizeof x);
    const bool negative = bits & sign;
    if (Bits(bits & ~sign) == 0) bits = Bits((up ? 0 : sign) | 1);
    else bits = negative == up ? Bits(bits - 1) : Bits(bits + 1);
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
template <class T> bool odd(T x) {
    unsigned char low;
    std::memcpy(&low, &x, 1); // little-endian
    return low & 1;
}

template <class T> T real(Wide x, pto::RoundMode mode) {
    using M = pto::RoundMode;
    const T near = static_cast<T>(x);
    const Wide got = static_cast<Wide>(near);
    if (x != x || std::isinf(x) || got == x) return near;
    const T low = got < x ? near : neighbour(near, false), high = got < x ? neighbour(near, true) : near;
    switch (mode) {
    case M::CAST_FLOOR: return low;
    case M::CAST_CEIL: return high;
    case M::CAST_TRUNC: return x < 0 ? high : low;
    case M::CAST_ODD: return odd(low) ? low : high;
    case M::CAST_ROUND:
        if (x - Wide(low) == Wide(high) - x) return x < 0 ? low : high;
        return near;
    default: return near;
    }
}

/// Pairs that keep the low bits instead of the nearest number that fits.
template <class S, class D>
constexpr bool keeps_low_bits = (std::is_same_v<S, half> && sizeof(D) == 1) || (is_real<S> && std::is_same_v<D, int16_t>) ||
                                (std::is_same_v<S, int64_t> && std::is_same_v<D, int32_t>) || (std::is_same_v<S, int32_t> && std::is_same_v<D, int16_t>);

template <class D, class S> D convert_one(S value, pto::RoundMode mode) {
    using M = pto::RoundMode;
    if (mode == M::CAST_ODD && !(std::is_same_v<S, float> && std::is_same_v<D, half>)) mode = M::CAST_NONE;
    Wide x = static_cast<Wide>(value);
    if constexpr (is_real<D>) {
        return real<D>(std::is_same_v<S, D> && mode != M::CAST_NONE ? whole(x, mode) : x, mode);
    } else {
        if (x != x) return D(0);
        x = whole(x, mode);
        constexpr Wide least = Wide(std::numeric_limits<D>::min()), most = Wide(std::numeric_limits<D>::max());
        if (keeps_low_bits<S, D> && !std::isinf(x)) return std::fabs(x) < 0x1p63L ? D(int64_t(x)) : D(0); // a float beyond that has no low bits
        return x <= least ? std::numeric_limits<D>::min() : x >= most ? std::numeric_limits<D>::max() : D(x);
    }
}

template <class D, class S> void convert_tile(D& d, S& s, pto::RoundMode mode) {
    using To = typename D::DType;
    using From = typename S::DType;
    if constexpr (is_plain<To> && is_plain<From>) {
        for (int r = 0; r < int(d.GetValidRow()); ++r)
            for (int c = 0; c < int(d.GetValidCol()); ++c)
                d.data()[pto::GetTileElementOffset<D>(r, c)] = convert_one<To, From>(s.data()[pto::GetTileElementOffset<S>(r, c)], mode);
    } else {
        pto::TCVT(d, s, mode);
    }
}

/// out = out + factor * src with one rounding.
template <class D, class S> void axpy(D& d, S& s, typename S::DType factor) {
    using To = typename D::DType;
    for (int r = 0; r < int(d.GetValidRow()); ++r)
        for (int c = 0; c < int(d.GetValidCol()); ++c) {
            To& at = d.data()[pto::GetTileElementOffset<D>(r, c)];
            const auto x = s.data()[pto::GetTileElementOffset<S>(r, c)];
            if constexpr (std::is_same_v<To, float>) at = __builtin_fmaf(float(x), float(factor), at);
            else at = static_cast<To>(double(x) * double(factor) + double(at)); // product and sum of halves are exact in double
        }
}

/// Bit j of a row is bit j % 8 of its byte j / 8. The headers place the bytes of the scalar form by the mask's valid columns, take numbers nearer
/// than 1e-9 for equal there, and know three types in the other.
template <class D, class S, class Right> void compare_tile(D& d, S& s, pto::CmpMode mode, const Right& right) {
    using M = pto::CmpMode;
    const int rows = int(s.GetValidRow()), cols = int(s.GetValidCol());
    for (int r = 0; r < rows; ++r)
        for (int first = 0; first < cols; first += 8) {
            unsigned bits = 0;
            for (int c = first; c < cols && c < first + 8; ++c) {
                const auto a = s.data()[pto::GetTileElementOffset<S>(r, c)];
                const auto b = right(r, c);
                const bool holds = mode == M::EQ ? a == b : mode == M::NE ? a != b : mode == M::LT ? a < b : mode == M::LE ? a <= b : mode == M::GT ? a > b : a >= b;
                bits |= unsigned(holds) << (c - first);
            }
            d.data()[pto::GetTileElementOffset<D>(r, first / 8)] = static_cast<typename D::DType>(bits);
        }
}
template <class D, class S, class Right> void compare(D& d, S& s, Right& right, pto::CmpMode mode) {
    compare_tile(d, s, mode, [&](int r, int c) { return right.data()[pto::GetTileElementOffset<Right>(r, c)]; });
}
template <class D, class S> void compare_scalar(D& d, S& s, typename S::DType right, pto::CmpMode mode) {
    compare_tile(d, s, mode, [&](int, int) { return right; });
}
/// Where the mask has a one, else the other. The headers read the mask as one stream of bits over all rows.
template <class D, class Mask, class A, class B, class Scratch> void select(D& d, Mask& mask, A& a, B& b, Scratch&) {
    for (int r = 0; r < int(d.GetValidRow()); ++r)
        for (int c = 0; c < int(d.GetValidCol()); ++c) {
            const bool first = unsigned(mask.data()[pto::GetTileElementOffset<Mask>(r, c / 8)]) >> (c % 8) & 1;
            d.data()[pto::GetTileElementOffset<D>(r, c)] = first ? a.data()[pto::GetTileElementOffset<A>(r, c)] : b.data()[pto::GetTileElementOffset<B>(r, c)];
        }
}

} // namespace xpto_host
