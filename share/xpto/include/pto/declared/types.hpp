#pragma once
/// Keywords of the device compiler as nothing, element types, enumerations. Source: codegen 1.3, 1.6, 2.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#define __aicore__
#define __global__
#define AICORE
#define __gm__
#define __ubuf__
#define __ssbuf__ volatile
#define __simt_vf__
#define __simt_callee__
#define __launch_bounds__(n)
#define __VEC_SCOPE__

/// Stored in fewer bits than it is computed in.
template <int Bits, int Id> struct StoredFloat {
    StoredFloat() = default;
    constexpr StoredFloat(float) {}
    constexpr operator float() const { return 0; }
    unsigned char bytes[(Bits + 7) / 8];
};
using half = StoredFloat<16, 0>;
using bfloat16_t = StoredFloat<16, 1>;
using float8_e4m3_t = StoredFloat<8, 2>;
using float8_e5m2_t = StoredFloat<8, 3>;
using float8_e8m0_t = StoredFloat<8, 4>;
using hifloat8_t = StoredFloat<8, 5>;
using float4_e2m1x2_t = StoredFloat<8, 6>; // two values
using float4_e1m2x2_t = StoredFloat<8, 7>;
using int4b_t = StoredFloat<8, 8>;

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class PadValue { Null, Zero, Max, Min };
enum class CompactMode { Null, Normal, RowPlusOne };
enum class Layout { ND, DN, NZ, MX_A_ND, MX_A_DN, MX_B_ND, MX_B_DN };
enum class AccPhase { Unspecified, Partial, Final };
enum class STPhase { Unspecified, Partial, Final };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class ReluPreMode { NoRelu, NormalRelu };
enum class AccToVecMode { SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class MaskPattern { P0101, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class HistByte { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class QuantType { INT8_SYM, INT8_ASYM };
enum class SyncCoreType { AIVOnly, AICOnly, Mix };
enum class SyncAllMode { Hard, Soft };
enum class GlobalTensorDim { DIM_0, DIM_1, DIM_2, DIM_3, DIM_4 };

template <class T> concept Number = std::is_arithmetic_v<T> || std::convertible_to<T, float>;

} // namespace pto
