#pragma once
/// The cube's product, bit for bit repeatable. Order (docs/model/numerics.md, "Cube"): every element of the product is
/// p = fma(a[k], b[k], p) for k ascending from p = +0; then one fp32 addition joins the old accumulator or the bias.
/// Highway targets without a fused multiply-add use std::fma, so the bits agree everywhere.

#include "engine/execute/numerics/tile_map.hpp"

#include <vector>

namespace pto::numerics {

struct MatmulOperand {
    const std::byte* data = nullptr; // where the map's offset 0 is
    isa::DType dtype = isa::DType::fp32;
    TileMap map;
};

/// Working memory, kept between calls so that a launch allocates only while its largest product is first seen.
struct MatmulScratch {
    std::vector<float> lhs, rhs, product, staging;
    std::vector<std::int32_t> product_int;
};

/// What the product is added to.
struct MatmulAddend {
    const std::byte* data = nullptr; // null: nothing, the product overwrites
    TileMap map;                     // of the accumulator; for a bias a map whose row strides are 0
};

/// dst[i, j] = addend[i, j] + sum over k of lhs[i, k] * rhs[k, j].
///   in     lhs, rhs  fp32, fp16, bf16, any FP8, HF8, FP4 (dst fp32), or both int8 / uint8 (dst int32, the addition
///   saturates)
///          m, n, k   effective sizes, each at least 1
///   out    dst, 4-byte elements under dst_map; it may be the addend's memory when the maps are equal
///   fails  returns false for a pair of types the cube does not have; nothing is written
bool matmul(MatmulScratch& scratch, std::byte* dst, const TileMap& dst_map, const MatmulOperand& lhs,
            const MatmulOperand& rhs, std::int64_t m, std::int64_t n, std::int64_t k, const MatmulAddend& addend = {});

/// MX product: groups of 32 along k. Each group's product g is an fma chain from +0; t = fp32(g * 2^(sa-127) *
/// 2^(sb-127)), rounded once; p = p + t for groups ascending from p = +0; then the addend. A scale of 0xFF is NaN.
///   in   scale_lhs [m, k/32], scale_rhs [k/32, n]  E8M0 bytes under their maps; k is a multiple of 32
bool matmul_mx(MatmulScratch& scratch, std::byte* dst, const TileMap& dst_map, const MatmulOperand& lhs,
               const MatmulOperand& rhs, const MatmulOperand& scale_lhs, const MatmulOperand& scale_rhs, std::int64_t m,
               std::int64_t n, std::int64_t k, const MatmulAddend& addend = {});

/// The inner kernel, for the bench and tests: p (m x n padded to the panel width, row stride ldp) = a (m x k, row
/// stride lda) times b in panels: panel j holds columns [j*width, (j+1)*width) as k rows of `width` floats, panels
/// `panel_stride` floats apart.
std::int64_t product_panel_width();
void product_fp32(const float* a, std::int64_t lda, const float* b, std::int64_t panel_stride, std::int64_t m,
                  std::int64_t panels, std::int64_t k, float* p, std::int64_t ldp);

} // namespace pto::numerics
