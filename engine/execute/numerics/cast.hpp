#pragma once
/// Conversion of elements: `pl.cast` (language 3.8), `vf.astype` (5.7), quantisation and the fixpipe (3.2,
/// hardware 5.2). One routine converts; a rule, derived from the pair of types and the modes, says how.

#include "engine/execute/numerics/float_formats.hpp"

namespace pto::numerics {

struct CastRule {
    Rounding rounding = Rounding::rint;
    /// Integers: clamp to the range, otherwise keep the low bits of the infinite-precision integer (an infinity gives
    /// the range's end). Floats: overflow gives the largest finite value and NaN gives 0, otherwise infinity and NaN.
    /// NaN to an integer is always 0.
    bool saturate = true;
};

/// `pl.cast`: integers clamp except FP16->INT8/UINT8, FP32/FP16->INT16, INT64->INT32, INT32->INT16; FP16, BF16 and FP32
/// overflow to infinity; FP8, HF8, FP4 saturate. NONE truncates float to integer and is rint elsewhere; ODD outside
/// FP32->FP16 is NONE.
CastRule tile_cast_rule(DType from, DType to, isa::RoundMode mode);
/// `vf.astype`: OFF keeps low bits, infinities and NaN. Exceptions: FP32 to FP8 and any HF8 saturate always, HF8 knows
/// ROUND and HYBRID only, INT16->UINT32 clamps.
CastRule astype_rule(DType from, DType to, isa::VfRoundMode mode, isa::SaturateMode saturate);

/// n elements; 4-bit types are packed from the low nibble. Equal floating types round to an integral value under the
/// rule's mode. `dst` may be `src` only when both types have the same size.
void cast_lanes(DType from, const void* src, DType to, void* dst, std::size_t n, CastRule rule);
/// One element given and returned as bits.
std::uint64_t cast_element(DType from, std::uint64_t pattern, DType to, CastRule rule);

/// fp32 words of the fixpipe keep sign, exponent and ten significand bits.
float fixpipe_scale(std::uint32_t word);
/// Acc -> destination. Without `scaled` FP32 -> FP32 / FP16 / BF16 (nearest even) and INT32 -> INT32; with it value *
/// scale, rounded to fp32, then converted to nearest even (HF8: ties away) with saturation. relu comes first.
struct FixpipeRule {
    bool relu = false, scaled = false;
    float scale = 1;
};
void fixpipe_lanes(DType from, const void* src, DType to, void* dst, std::size_t n, const FixpipeRule& rule);

/// quant: INT8 = sat(rne(x * scale)), UINT8 = sat(rne(x * scale + offset)); dequant: (x - offset) * scale. Every step
/// rounds to fp32.
void quant_sym(const float* src, std::int8_t* dst, std::size_t n, float scale);
void quant_asym(const float* src, std::uint8_t* dst, std::size_t n, float scale, float offset);
void dequant(DType from, const void* src, float* dst, std::size_t n, float scale, float offset);

} // namespace pto::numerics
