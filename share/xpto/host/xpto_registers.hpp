#pragma once
/// Registers of 256 bytes, masks with a bit a byte, and their way to memory: only bytes are moved here (engine/execute/registers does the
/// same); xpto_lanes.hpp computes.
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
