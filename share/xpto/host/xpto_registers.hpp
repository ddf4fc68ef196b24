#pragma once
/// Vector functions on the host: registers of 256 bytes, masks with a bit a byte. Arithmetic, comparison and conversion are the
/// simulator's own lane functions, asked of the process; what is written here only moves bytes (engine/execute/registers does the same).
/// Not here: unaligned streams, address registers, squeezing, histograms, 4-bit values; a kernel that needs them does not compile.

namespace xpto_host {

constexpr int vector_bytes = 256;

template <class T> constexpr const char* type_name() {
    if constexpr (std::is_same_v<T, float>) return "fp32";
    else if constexpr (std::is_same_v<T, half>) return "fp16";
    else if constexpr (std::is_same_v<T, bool>) return "bool";
    else if constexpr (std::is_integral_v<T>) {
        constexpr bool s = std::is_signed_v<T>;
        return sizeof(T) == 1 ? (s ? "int8" : "uint8") : sizeof(T) == 2 ? (s ? "int16" : "uint16") : sizeof(T) == 4 ? (s ? "int32" : "uint32") : (s ? "int64" : "uint64");
    } else return "?";
}

inline const void* lane_or_throw(int arity, const char* function, const char* type) {
    const void* found = core->table->lane ? core->table->lane(arity, function, type) : nullptr;
    if (!found) throw std::logic_error(std::string("no lane function ") + function + " of " + type + " in this process");
    return found;
}

} // namespace xpto_host

template <class T> struct RegTensor {
    static constexpr int lanes = xpto_host::vector_bytes / int(sizeof(T));
    alignas(64) unsigned char bytes[xpto_host::vector_bytes] = {};
    T get(int i) const {
        T v;
        std::memcpy(&v, bytes + i * sizeof(T), sizeof v);
        return v;
    }
    void set(int i, T v) { std::memcpy(bytes + i * sizeof(T), &v, sizeof v); }
};
struct MaskReg {
    bool on[xpto_host::vector_bytes] = {};
    bool lane(int i, int width) const { return on[i * width]; }
};

enum XptoMode { MODE_ZEROING, MODE_MERGING, MODE_UNKNOWN };
enum XptoPost { POST_UPDATE, NO_POST_UPDATE };
enum XptoPart { PART_EVEN = 0, PART_ODD = 1, PART_P0 = 0, PART_P1 = 1, PART_P2 = 2, PART_P3 = 3 };
enum XptoRound { ROUND_R, ROUND_A, ROUND_F, ROUND_C, ROUND_Z, ROUND_O, ROUND_H };
enum XptoSaturation { RS_DISABLE, RS_ENABLE };
enum XptoPosition { POS_LOWEST, POS_HIGHEST };
enum XptoOrder { INC_ORDER, DEC_ORDER };
enum XptoBarrier { VST_VLD, VLD_VST, VST_VST, VV_ALL, VST_LD, VST_ST, VLD_ST, ST_VLD, ST_VST, LD_VST };
enum XptoPattern { PAT_ALL, PAT_ALLF, PAT_VL1, PAT_VL2, PAT_VL3, PAT_VL4, PAT_VL8, PAT_VL16, PAT_VL32, PAT_VL64, PAT_VL128, PAT_M3, PAT_M4, PAT_H, PAT_Q };
// distributions: what is done, and the width it is done in
struct XptoDist {
    enum What { norm, broadcast, up, down, unpack, unpack4, block, expand, deinterleave, first, pack, pack4, interleave } what;
    int size;
};
#define XPTO_DIST(name, what, size) inline constexpr XptoDist name{XptoDist::what, size}
XPTO_DIST(NORM, norm, 0);
XPTO_DIST(NORM_B8, norm, 1);
XPTO_DIST(NORM_B16, norm, 2);
XPTO_DIST(NORM_B32, norm, 4);
XPTO_DIST(BRC_B8, broadcast, 1);
XPTO_DIST(BRC_B16, broadcast, 2);
XPTO_DIST(BRC_B32, broadcast, 4);
XPTO_DIST(US_B8, up, 1);
XPTO_DIST(US_B16, up, 2);
XPTO_DIST(DS_B8, down, 1);
XPTO_DIST(DS_B16, down, 2);
XPTO_DIST(UNPK_B8, unpack, 1);
XPTO_DIST(UNPK_B16, unpack, 2);
XPTO_DIST(UNPK_B32, unpack, 4);
XPTO_DIST(UNPK4_B8, unpack4, 1);
XPTO_DIST(BLK, block, 0);
XPTO_DIST(E2B_B16, expand, 2);
XPTO_DIST(E2B_B32, expand, 4);
XPTO_DIST(DINTLV_B8, deinterleave, 1);
XPTO_DIST(DINTLV_B16, deinterleave, 2);
XPTO_DIST(DINTLV_B32, deinterleave, 4);
XPTO_DIST(ONEPT_B8, first, 1);
XPTO_DIST(ONEPT_B16, first, 2);
XPTO_DIST(ONEPT_B32, first, 4);
XPTO_DIST(PK_B16, pack, 2);
XPTO_DIST(PK_B32, pack, 4);
XPTO_DIST(PK_B64, pack, 8);
XPTO_DIST(PK4_B32, pack4, 4);
XPTO_DIST(INTLV_B8, interleave, 1);
XPTO_DIST(INTLV_B16, interleave, 2);
XPTO_DIST(INTLV_B32, interleave, 4);
#undef XPTO_DIST

// ------------------------------------------------------------------ masks

namespace xpto_host {
inline MaskReg pattern(XptoPattern p, int width) {
    const int lanes = vector_bytes / width;
    static constexpr int counts[] = {0, 0, 1, 2, 3, 4, 8, 16, 32, 64, 128};
    int first = p == PAT_ALL || p == PAT_M3 || p == PAT_M4 ? lanes : p == PAT_H ? lanes / 2 : p == PAT_Q ? lanes / 4 : counts[p];
    int step = p == PAT_M3 ? 3 : p == PAT_M4 ? 4 : 1;
    MaskReg m;
    for (int k = 0; k < first && k < lanes; k += step) m.on[k * width] = true;
    return m;
}
inline MaskReg counted(uint32_t& n, int width) {
    const uint32_t lanes = vector_bytes / width, now = n < lanes ? n : lanes;
    MaskReg m;
    for (uint32_t k = 0; k < now; ++k) m.on[k * width] = true;
    n -= now;
    return m;
}
template <class F> void combined(MaskReg& d, const MaskReg& a, const MaskReg& b, const MaskReg& m, F f) {
    MaskReg out;
    for (int k = 0; k < vector_bytes; ++k) out.on[k] = m.on[k] && f(a.on[k], b.on[k]);
    d = out;
}
} // namespace xpto_host

inline MaskReg pset_b8(XptoPattern p) { return xpto_host::pattern(p, 1); }
inline MaskReg pset_b16(XptoPattern p) { return xpto_host::pattern(p, 2); }
inline MaskReg pset_b32(XptoPattern p) { return xpto_host::pattern(p, 4); }
inline MaskReg plt_b8(uint32_t& n, XptoPost) { return xpto_host::counted(n, 1); }
inline MaskReg plt_b16(uint32_t& n, XptoPost) { return xpto_host::counted(n, 2); }
inline MaskReg plt_b32(uint32_t& n, XptoPost) { return xpto_host::counted(n, 4); }
inline void pand(MaskReg& d, const MaskReg& a, const MaskReg& b, const MaskReg& m) { xpto_host::combined(d, a, b, m, [](bool x, bool y) { return x && y; }); }
inline void por(MaskReg& d, const MaskReg& a, const MaskReg& b, const MaskReg& m) { xpto_host::combined(d, a, b, m, [](bool x, bool y) { return x || y; }); }
inline void pxor(MaskReg& d, const MaskReg& a, const MaskReg& b, const MaskReg& m) { xpto_host::combined(d, a, b, m, [](bool x, bool y) { return x != y; }); }
inline void pnot(MaskReg& d, const MaskReg& a, const MaskReg& m) { xpto_host::combined(d, a, a, m, [](bool x, bool) { return !x; }); }
inline void pmov(MaskReg& d, const MaskReg& a, const MaskReg& m) { xpto_host::combined(d, a, a, m, [](bool x, bool) { return x; }); }
inline void pmov(MaskReg& d, const MaskReg& a) { d = a; }
inline void psel(MaskReg& d, const MaskReg& a, const MaskReg& b, const MaskReg& m) {
    MaskReg out;
    for (int k = 0; k < xpto_host::vector_bytes; ++k) out.on[k] = m.on[k] ? a.on[k] : b.on[k];
    d = out;
}

// ------------------------------------------------------------------ memory

namespace xpto_host {
/// The address of an access; with POST_UPDATE the offset is where the cursor goes afterwards.
template <class P, class... U> unsigned char* access(P& p, int64_t offset, U...) {
    auto* at = reinterpret_cast<unsigned char*>(p);
    if constexpr (sizeof...(U) == 1) p += offset;
    else at += offset * int64_t(sizeof(*p));
    return at;
}
template <class T> void load(RegTensor<T>& d, RegTensor<T>* second, const unsigned char* from, XptoDist dist) {
    const int size = dist.size ? dist.size : int(sizeof(T)), lanes = vector_bytes / size;
    unsigned char out[vector_bytes] = {}, other[vector_bytes] = {};
    for (int k = 0; k < lanes; ++k)
        switch (dist.what) {
        case XptoDist::broadcast: std::memcpy(out + k * size, from, size); break;
        case XptoDist::up: std::memcpy(out + k * size, from + k / 2 * size, size); break;
        case XptoDist::down: std::memcpy(out + k * size, from + 2 * k * size, size); break;
        case XptoDist::unpack:
            if (k < lanes / 2) std::memcpy(out + 2 * k * size, from + k * size, size);
            break;
        case XptoDist::unpack4:
            if (k < 64) out[4 * k] = from[k];
            break;
        case XptoDist::block: std::memcpy(out + k * size, from + k * size % 32, size); break;
        case XptoDist::expand: std::memcpy(out + k * size, from + k * size / 32 * size, size); break;
        case XptoDist::deinterleave:
            std::memcpy(out + k * size, from + 2 * k * size, size);
            std::memcpy(other + k * size, from + (2 * k + 1) * size, size);
            break;
        default: std::memcpy(out + k * size, from + k * size, size);
        }
    std::memcpy(d.bytes, out, vector_bytes);
    if (second) std::memcpy(second->bytes, other, vector_bytes);
}
template <class T> void store(const RegTensor<T>& r, unsigned char* to, XptoDist dist, const MaskReg& m) {
    constexpr int width = sizeof(T);
    if (dist.what == XptoDist::first) {
        std::memcpy(to, r.bytes, width);
        return;
    }
    const int from = dist.what == XptoDist::pack4 ? 4 : dist.what == XptoDist::norm && dist.size == 2 ? 2 : width;
    const int part = dist.what == XptoDist::pack4 ? 1 : dist.what == XptoDist::pack ? (width > 1 ? width / 2 : 1) : from;
    for (int k = 0; k < vector_bytes / from; ++k)
        if (m.lane(k, from)) std::memcpy(to + k * part, r.bytes + k * from, part);
}
} // namespace xpto_host

template <class T, class P, class... U> void vlds(RegTensor<T>& d, P&& p, int64_t offset, XptoDist dist, U... update) {
    xpto_host::load<T>(d, nullptr, xpto_host::access(p, offset, update...), dist);
}
template <class T, class P, class... U> void vlds(RegTensor<T>& d, RegTensor<T>& e, P&& p, int64_t offset, XptoDist dist, U... update) {
    xpto_host::load<T>(d, &e, xpto_host::access(p, offset, update...), dist);
}
template <class T, class P, class... U> void vsts(const RegTensor<T>& r, P&& p, int64_t offset, XptoDist dist, const MaskReg& m, U... update) {
    xpto_host::store(r, xpto_host::access(p, offset, update...), dist, m);
}
template <class T, class P> void vsts(const RegTensor<T>& a, const RegTensor<T>& b, P&& p, int64_t offset, XptoDist, const MaskReg& m) {
    unsigned char* to = xpto_host::access(p, offset);
    for (int k = 0; k < RegTensor<T>::lanes; ++k)
        if (m.lane(k, sizeof(T))) {
            std::memcpy(to + 2 * k * sizeof(T), a.bytes + k * sizeof(T), sizeof(T));
            std::memcpy(to + (2 * k + 1) * sizeof(T), b.bytes + k * sizeof(T), sizeof(T));
        }
}
template <class T, class I, class P> void vgather2(RegTensor<T>& d, P&& p, const RegTensor<I>& index, const MaskReg& m) {
    RegTensor<T> out;
    for (int k = 0; k < RegTensor<T>::lanes && k < RegTensor<I>::lanes; ++k)
        if (m.lane(k, sizeof(T))) out.set(k, T(p[index.get(k)]));
    d = out;
}
template <class T, class I, class P> void vscatter(const RegTensor<T>& r, P&& p, const RegTensor<I>& index, const MaskReg& m) {
    for (int k = 0; k < RegTensor<T>::lanes && k < RegTensor<I>::lanes; ++k)
        if (m.lane(k, sizeof(T))) p[index.get(k)] = r.get(k);
}
inline void mem_bar(XptoBarrier) {}

// eight blocks of 32 bytes, the stride between them in blocks in the word's upper half, the step of the cursor in its lower
namespace xpto_host {
inline bool block_on(const MaskReg& m, int block) {
    for (int k = 32 * block; k < 32 * block + 32; ++k)
        if (m.on[k]) return true;
    return false;
}
} // namespace xpto_host
template <class T, class P, class... U> void vsldb(RegTensor<T>& d, P&& p, uint32_t strides, const MaskReg& m, U... update) {
    auto* from = reinterpret_cast<unsigned char*>(p);
    for (int b = 0; b < 8; ++b) {
        if (xpto_host::block_on(m, b)) std::memcpy(d.bytes + 32 * b, from + 32 * int64_t(strides >> 16) * b, 32);
        else std::memset(d.bytes + 32 * b, 0, 32);
    }
    if constexpr (sizeof...(U) == 1) p += int64_t(strides & 0xFFFF) * 32 / int64_t(sizeof(*p));
}
template <class T, class P, class... U> void vsstb(const RegTensor<T>& r, P&& p, uint32_t strides, const MaskReg& m, U... update) {
    auto* to = reinterpret_cast<unsigned char*>(p);
    for (int b = 0; b < 8; ++b)
        if (xpto_host::block_on(m, b)) std::memcpy(to + 32 * int64_t(strides >> 16) * b, r.bytes + 32 * b, 32);
    if constexpr (sizeof...(U) == 1) p += int64_t(strides & 0xFFFF) * 32 / int64_t(sizeof(*p));
}

// ------------------------------------------------------------------ lanes

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
