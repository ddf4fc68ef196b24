#pragma once
/// Register intrinsics of vector functions. Source: codegen 2.6.

#include "types.hpp"

template <class T> struct RegTensor {
    using type = T;
    static constexpr int lanes = 256 / int(sizeof(T));
};
struct MaskReg {};
struct UnalignReg {};
struct AddrReg {};

enum MergeModeDeclared { MODE_ZEROING, MODE_MERGING };
enum PatternDeclared { PAT_ALL, PAT_ALLF, PAT_VL1, PAT_VL2, PAT_VL3, PAT_VL4, PAT_VL8, PAT_VL16, PAT_VL32, PAT_VL64, PAT_VL128, PAT_M3, PAT_M4, PAT_H, PAT_Q };
enum UpdateDeclared { POST_UPDATE };
enum LoadDeclared {
    NORM, US, DS, BLK, BRC_B8, BRC_B16, BRC_B32, US_B8, US_B16, DS_B8, DS_B16, UNPK_B8, UNPK_B16, UNPK_B32, UNPK4_B8, E2B_B16, E2B_B32, DINTLV_B8, DINTLV_B16, DINTLV_B32
};
enum StoreDeclared {
    NORM_B8, NORM_B16, NORM_B32, ONEPT_B8, ONEPT_B16, ONEPT_B32, PK_B16, PK_B32, PK_B64, PK4_B32, INTLV_B8, INTLV_B16, INTLV_B32
};
enum PackDeclared { PK };
enum PositionDeclared { POS_LOWEST, POS_HIGHEST };
enum OrderDeclared { INC_ORDER, DEC_ORDER };
enum HalfDeclared { LOWER, HIGHER };
enum PartDeclared { PART_EVEN, PART_ODD };
enum QuarterDeclared { PART_P0, PART_P1, PART_P2, PART_P3 };
enum RoundDeclared { ROUND_R, ROUND_A, ROUND_F, ROUND_C, ROUND_Z, ROUND_O, ROUND_H };
enum SaturateDeclared { RS_ENABLE, RS_DISABLE };
enum StoredDeclared { MODE_STORED, MODE_NO_STORED };
enum BinDeclared { Bin_N0, Bin_N1 };
enum SpecialDeclared { SPR_AR };
enum BarrierDeclared { VST_VLD, VLD_VST, VST_VST, VST_LD, VST_ST, VLD_ST, ST_VLD, ST_VST, LD_VST, VV_ALL, VS_ALL, SV_ALL };

// masks
MaskReg pset_b8(PatternDeclared);
MaskReg pset_b16(PatternDeclared);
MaskReg pset_b32(PatternDeclared);
MaskReg plt_b8(std::uint32_t& left, UpdateDeclared);
MaskReg plt_b16(std::uint32_t& left, UpdateDeclared);
MaskReg plt_b32(std::uint32_t& left, UpdateDeclared);
MaskReg movp_b16();
MaskReg movp_b32();
template <std::unsigned_integral T> requires(sizeof(T) == 2 || sizeof(T) == 4) void movvp(MaskReg&, RegTensor<T>&, int part);
void pmov(MaskReg&, MaskReg);
void pmov(MaskReg&, MaskReg, MaskReg);
void pand(MaskReg&, MaskReg, MaskReg, MaskReg);
void por(MaskReg&, MaskReg, MaskReg, MaskReg);
void pxor(MaskReg&, MaskReg, MaskReg, MaskReg);
void pnot(MaskReg&, MaskReg, MaskReg);
void psel(MaskReg&, MaskReg, MaskReg, MaskReg);
void ppack(MaskReg&, MaskReg, HalfDeclared);
void punpack(MaskReg&, MaskReg, HalfDeclared);
void pintlv_b8(MaskReg&, MaskReg&, MaskReg, MaskReg);
void pintlv_b16(MaskReg&, MaskReg&, MaskReg, MaskReg);
void pintlv_b32(MaskReg&, MaskReg&, MaskReg, MaskReg);
void pdintlv_b8(MaskReg&, MaskReg&, MaskReg, MaskReg);
void pdintlv_b16(MaskReg&, MaskReg&, MaskReg, MaskReg);
void pdintlv_b32(MaskReg&, MaskReg&, MaskReg, MaskReg);

// memory
template <std::integral... N> requires(sizeof...(N) >= 1 && sizeof...(N) <= 4) AddrReg vag_b8(N...);
template <std::integral... N> requires(sizeof...(N) >= 1 && sizeof...(N) <= 4) AddrReg vag_b16(N...);
template <std::integral... N> requires(sizeof...(N) >= 1 && sizeof...(N) <= 4) AddrReg vag_b32(N...);
template <class T> void vlds(RegTensor<T>&, T*, std::int64_t, LoadDeclared);
template <class T> void vlds(RegTensor<T>&, T*&, std::int64_t, LoadDeclared, UpdateDeclared);
template <class T> void vlds(RegTensor<T>&, RegTensor<T>&, T*, std::int64_t, LoadDeclared);
template <class T> void vlds(RegTensor<T>&, RegTensor<T>&, T*&, std::int64_t, LoadDeclared, UpdateDeclared);
template <class T> void vld(RegTensor<T>&, T*, AddrReg, LoadDeclared);
template <class T> void vld(RegTensor<T>&, RegTensor<T>&, T*, AddrReg, LoadDeclared);
template <class T> void vsldb(RegTensor<T>&, T*, std::uint32_t, MaskReg);
template <class T> void vsldb(RegTensor<T>&, T*&, std::uint32_t, MaskReg, UpdateDeclared);
void plds(MaskReg&, std::uint32_t*, std::int64_t, LoadDeclared);
void plds(MaskReg&, std::uint32_t*&, std::int64_t, LoadDeclared, UpdateDeclared);
void pld(MaskReg&, std::uint32_t*, AddrReg, LoadDeclared);
template <class T> void vsts(RegTensor<T>&, T*, std::int64_t, StoreDeclared, MaskReg);
template <class T> void vsts(RegTensor<T>&, T*&, std::int64_t, StoreDeclared, MaskReg, UpdateDeclared);
template <class T> void vsts(RegTensor<T>&, RegTensor<T>&, T*, std::int64_t, StoreDeclared, MaskReg);
template <class T> void vst(RegTensor<T>&, T*, AddrReg, StoreDeclared, MaskReg);
template <class T> void vsstb(RegTensor<T>&, T*, std::uint32_t, MaskReg);
template <class T> void vsstb(RegTensor<T>&, T*&, std::uint32_t, MaskReg, UpdateDeclared);
void psts(MaskReg&, std::uint32_t*, std::int64_t, LoadDeclared);
void psts(MaskReg&, std::uint32_t*, std::int64_t, PackDeclared);
void psts(MaskReg&, std::uint32_t*&, std::int64_t, LoadDeclared, UpdateDeclared);
void psts(MaskReg&, std::uint32_t*&, std::int64_t, PackDeclared, UpdateDeclared);
void pst(MaskReg&, std::uint32_t*, AddrReg, LoadDeclared);
void pst(MaskReg&, std::uint32_t*, AddrReg, PackDeclared);
template <class T> void vldas(UnalignReg&, T*);
template <class T> void vldus(RegTensor<T>&, UnalignReg&, T*);
template <class T> void vldus(RegTensor<T>&, UnalignReg&, T*&, std::int64_t, UpdateDeclared);
template <class T> void vstus(UnalignReg&, std::int64_t, RegTensor<T>&, T*&, UpdateDeclared);
template <class T> void vstas(UnalignReg&, T*&, std::int64_t, UpdateDeclared);
template <class T> void vstur(UnalignReg&, RegTensor<T>&, T*&, UpdateDeclared);
template <class T> void vstar(UnalignReg&, T*);
template <std::unsigned_integral T> void pstu(UnalignReg&, MaskReg, T*&);
template <class T, std::unsigned_integral I> void vgather2(RegTensor<T>&, T*, RegTensor<I>&, MaskReg);
template <class T, class S, std::unsigned_integral I> requires(sizeof(S) == 1 && sizeof(T) == 2) void vgather2(RegTensor<T>&, S*, RegTensor<I>&, MaskReg);
template <class T, class S> requires(sizeof(S) == 2) void vgather2_bc(RegTensor<T>&, S*, RegTensor<std::uint32_t>&, MaskReg);
template <class T> void vgatherb(RegTensor<T>&, T*, RegTensor<std::uint32_t>&, MaskReg);
template <class T, class I> void vscatter(RegTensor<T>&, T*, RegTensor<I>&, MaskReg);
template <std::unsigned_integral T> void vselr(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&);
void mem_bar(BarrierDeclared);
void sprclr(SpecialDeclared);

// lanes
template <class T> void vbr(RegTensor<T>&, std::type_identity_t<T>);
template <class T> void vdup(RegTensor<T>&, std::type_identity_t<T>, MaskReg, MergeModeDeclared);
template <class T> void vdup(RegTensor<T>&, RegTensor<T>&, MaskReg, PositionDeclared, MergeModeDeclared);
template <class T> void vmov(RegTensor<T>&, RegTensor<T>&);
template <class T> void vmov(RegTensor<T>&, RegTensor<T>&, MaskReg, MergeModeDeclared);
template <class T> requires(!std::unsigned_integral<T>) void vci(RegTensor<T>&, std::type_identity_t<T>, OrderDeclared);
#define PTO_DECLARED_BINARY(NAME) template <class T> void NAME(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, MaskReg, MergeModeDeclared)
#define PTO_DECLARED_SCALAR(NAME) template <class T> void NAME(RegTensor<T>&, RegTensor<T>&, std::type_identity_t<T>, MaskReg, MergeModeDeclared)
#define PTO_DECLARED_UNARY(NAME) template <class T> void NAME(RegTensor<T>&, RegTensor<T>&, MaskReg, MergeModeDeclared)
PTO_DECLARED_BINARY(vadd); PTO_DECLARED_BINARY(vsub); PTO_DECLARED_BINARY(vmul); PTO_DECLARED_BINARY(vdiv); PTO_DECLARED_BINARY(vmax); PTO_DECLARED_BINARY(vmin);
PTO_DECLARED_BINARY(vand); PTO_DECLARED_BINARY(vor); PTO_DECLARED_BINARY(vxor); PTO_DECLARED_BINARY(vabsdif); PTO_DECLARED_BINARY(vprelu);
PTO_DECLARED_BINARY(vmula); PTO_DECLARED_BINARY(vmadd);
PTO_DECLARED_SCALAR(vadds); PTO_DECLARED_SCALAR(vmuls); PTO_DECLARED_SCALAR(vmaxs); PTO_DECLARED_SCALAR(vmins); PTO_DECLARED_SCALAR(vlrelu); PTO_DECLARED_SCALAR(vaxpy);
PTO_DECLARED_UNARY(vabs); PTO_DECLARED_UNARY(vneg); PTO_DECLARED_UNARY(vrelu); PTO_DECLARED_UNARY(vexp); PTO_DECLARED_UNARY(vln); PTO_DECLARED_UNARY(vsqrt);
PTO_DECLARED_UNARY(vnot); PTO_DECLARED_UNARY(vcadd); PTO_DECLARED_UNARY(vcmax); PTO_DECLARED_UNARY(vcmin); PTO_DECLARED_UNARY(vcgadd); PTO_DECLARED_UNARY(vcgmax);
PTO_DECLARED_UNARY(vcgmin); PTO_DECLARED_UNARY(vcpadd);
#undef PTO_DECLARED_UNARY
#undef PTO_DECLARED_SCALAR
#undef PTO_DECLARED_BINARY
inline constexpr int __sqrt_high_precision_mode = 0;
template <class T, auto Mode> void vsqrt(RegTensor<T>&, RegTensor<T>&, MaskReg);
template <class T> void vtrc(RegTensor<T>&, RegTensor<T>&, RoundDeclared, MaskReg, MergeModeDeclared);
template <std::integral T, std::signed_integral N> requires(sizeof(T) == sizeof(N)) void vshl(RegTensor<T>&, RegTensor<T>&, RegTensor<N>&, MaskReg, MergeModeDeclared);
template <std::integral T, std::signed_integral N> requires(sizeof(T) == sizeof(N)) void vshr(RegTensor<T>&, RegTensor<T>&, RegTensor<N>&, MaskReg, MergeModeDeclared);
template <std::integral T> void vshls(RegTensor<T>&, RegTensor<T>&, std::int16_t, MaskReg, MergeModeDeclared);
template <std::integral T> void vshrs(RegTensor<T>&, RegTensor<T>&, std::int16_t, MaskReg, MergeModeDeclared);
template <class T> void vexpdif(RegTensor<float>&, RegTensor<T>&, RegTensor<T>&, MaskReg, PartDeclared);
void vmulscvt(RegTensor<half>&, RegTensor<float>&, float, MaskReg, PartDeclared);
template <class T> requires(sizeof(T) == 4) void vmull(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, MaskReg);
template <class T> requires(sizeof(T) == 4) void vaddcs(MaskReg&, RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, MaskReg, MaskReg);
template <class T> requires(sizeof(T) == 4) void vsubcs(MaskReg&, RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, MaskReg, MaskReg);
#define PTO_DECLARED_COMPARE(NAME)                                                          \
    template <class T> void vcmp_##NAME(MaskReg&, RegTensor<T>&, RegTensor<T>&, MaskReg);   \
    template <class T> void vcmps_##NAME(MaskReg&, RegTensor<T>&, std::type_identity_t<T>, MaskReg)
PTO_DECLARED_COMPARE(eq); PTO_DECLARED_COMPARE(ne); PTO_DECLARED_COMPARE(lt); PTO_DECLARED_COMPARE(le); PTO_DECLARED_COMPARE(gt); PTO_DECLARED_COMPARE(ge);
#undef PTO_DECLARED_COMPARE
template <class T> void vsel(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, MaskReg);
template <class T> void vintlv(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, RegTensor<T>&);
template <class T> void vdintlv(RegTensor<T>&, RegTensor<T>&, RegTensor<T>&, RegTensor<T>&);
template <std::unsigned_integral T, std::integral S> requires(sizeof(S) == 2 * sizeof(T)) void vpack(RegTensor<T>&, RegTensor<S>&, HalfDeclared);
template <std::integral T, std::integral S> requires(sizeof(T) == 2 * sizeof(S)) void vunpack(RegTensor<T>&, RegTensor<S>&, HalfDeclared);
template <class T> void vsqz(RegTensor<T>&, RegTensor<T>&, MaskReg, StoredDeclared);
template <class T> void vusqz(RegTensor<T>&, MaskReg);
void dhistv2(RegTensor<std::uint16_t>&, RegTensor<std::uint8_t>&, MaskReg, BinDeclared);
void chistv2(RegTensor<std::uint16_t>&, RegTensor<std::uint8_t>&, MaskReg, BinDeclared);

// conversions, by class
template <class D, class S> concept Twice = sizeof(D) == 2 * sizeof(S) || sizeof(S) == 2 * sizeof(D);
template <class D, class S> concept FourTimes = sizeof(D) >= 4 * sizeof(S) || sizeof(S) >= 4 * sizeof(D) || (sizeof(D) == 2 && sizeof(S) == 1) || (sizeof(D) == 1 && sizeof(S) == 2);
template <class D, class S> requires Twice<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, PartDeclared, MergeModeDeclared);
template <class D, class S> requires FourTimes<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, QuarterDeclared, MergeModeDeclared);
template <class D, class S> requires(sizeof(D) == sizeof(S)) void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, MergeModeDeclared);
template <class D, class S> requires(sizeof(D) == sizeof(S)) && std::integral<D> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, SaturateDeclared, MergeModeDeclared);
template <class D, class S> requires Twice<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, PartDeclared, MergeModeDeclared);
template <class D, class S> requires Twice<D, S> && std::integral<D> && std::integral<S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, SaturateDeclared, PartDeclared, MergeModeDeclared);
template <class D, class S> requires FourTimes<D, S> && std::integral<D> && std::integral<S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, SaturateDeclared, QuarterDeclared, MergeModeDeclared);
template <class D, class S> requires FourTimes<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, QuarterDeclared, MergeModeDeclared);
template <class D, class S> requires FourTimes<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, SaturateDeclared, QuarterDeclared, MergeModeDeclared);
template <class D, class S> requires Twice<D, S> void vcvt(RegTensor<D>&, RegTensor<S>&, MaskReg, RoundDeclared, SaturateDeclared, PartDeclared, MergeModeDeclared);
void vcvt_s42f16(RegTensor<half>&, RegTensor<int4b_t>&, MaskReg, QuarterDeclared, MergeModeDeclared);
void vcvt_s42bf16(RegTensor<bfloat16_t>&, RegTensor<int4b_t>&, MaskReg, QuarterDeclared, MergeModeDeclared);
void vcvt_s42s16(RegTensor<std::int16_t>&, RegTensor<int4b_t>&, MaskReg, QuarterDeclared, MergeModeDeclared);
void vcvt_f162s4(RegTensor<int4b_t>&, RegTensor<half>&, MaskReg, RoundDeclared, SaturateDeclared, QuarterDeclared, MergeModeDeclared);
