// The inner product kernel, once per Highway target.
#define HWY_DISABLED_TARGETS                                                                                           \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/matmul_kernel.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/numerics/matmul.hpp"
#include "engine/execute/numerics/matmul_kernel.hpp"
#include "hwy/highway.h"

#include <cmath>

// old may be dst, row by row: a loop over one row carries nothing from lane to lane.
#ifndef PTO_LANES
#if defined(__clang__)
#define PTO_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTO_LANES _Pragma("GCC ivdep")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace pto::numerics {
namespace HWY_NAMESPACE {

#if HWY_NATIVE_FMA
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
// 32 registers (AVX-512, NEON) hold 24 accumulators, 16 registers (AVX2) hold 12.
#if HWY_TARGET == HWY_AVX2
constexpr int block_rows = 6;
#else
constexpr int block_rows = 12;
#endif
std::int64_t PanelWidth() { return std::int64_t(2 * hn::Lanes(D())); }

template <int Rows>
HWY_INLINE void Block(const float* HWY_RESTRICT a, std::int64_t lda, const float* HWY_RESTRICT b, std::int64_t k,
                      float* HWY_RESTRICT p, std::int64_t ldp) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    hn::Vec<D> sum0[Rows], sum1[Rows];
    for (int r = 0; r < Rows; ++r) sum0[r] = sum1[r] = hn::Zero(d);
    for (std::int64_t i = 0; i < k; ++i) {
        const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
        b += 2 * lanes;
        for (int r = 0; r < Rows; ++r) {
            const auto x = hn::Set(d, a[r * lda + i]);
            sum0[r] = hn::MulAdd(x, b0, sum0[r]);
            sum1[r] = hn::MulAdd(x, b1, sum1[r]);
        }
    }
    for (int r = 0; r < Rows; ++r) {
        hn::StoreU(sum0[r], d, p + r * ldp);
        hn::StoreU(sum1[r], d, p + r * ldp + lanes);
    }
}
#else
constexpr int block_rows = 4, width = 16;
std::int64_t PanelWidth() { return width; }

template <int Rows>
void Block(const float* a, std::int64_t lda, const float* b, std::int64_t k, float* p, std::int64_t ldp) {
    float sum[Rows][width] = {};
    for (std::int64_t i = 0; i < k; ++i, b += width)
        for (int r = 0; r < Rows; ++r)
            for (int j = 0; j < width; ++j) sum[r][j] = std::fma(a[r * lda + i], b[j], sum[r][j]);
    for (int r = 0; r < Rows; ++r)
        for (int j = 0; j < width; ++j) p[r * ldp + j] = sum[r][j];
}
#endif

template <int Rows>
void Rest(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t k, float* p,
          std::int64_t ldp) {
    if constexpr (Rows > 0) {
        if (rows == Rows) return Block<Rows>(a, lda, b, k, p, ldp);
        Rest<Rows - 1>(rows, a, lda, b, k, p, ldp);
    }
}

void Product(const float* a, std::int64_t lda, const float* b, std::int64_t panel_stride, std::int64_t m,
             std::int64_t panels, std::int64_t k, float* p, std::int64_t ldp) {
    const std::int64_t columns = PanelWidth();
    for (std::int64_t j = 0; j < panels; ++j, b += panel_stride, p += columns) {
        std::int64_t i = 0;
        // A remainder of a few rows wastes issue slots; blocks of nearly equal height do not.
        const std::int64_t blocks = (m + block_rows - 1) / block_rows;
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::int64_t rows = (m - i) / (blocks - block);
            if (rows == block_rows)
                Block<block_rows>(a + i * lda, lda, b, k, p + i * ldp, ldp);
            else
                Rest<block_rows - 1>(rows, a + i * lda, lda, b, k, p + i * ldp, ldp);
            i += rows;
        }
    }
}

// 4 x 4 in registers: two rounds of interleaving. Copies `depth` values of each of `count` columns, column after column
// in memory, to rows.
void TransposePanel(const float* HWY_RESTRICT from, std::int64_t depth, std::int64_t count, float* HWY_RESTRICT out,
                    std::int64_t out_stride, std::int64_t kept) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    const hwy::HWY_NAMESPACE::FixedTag<float, 4> d;
    namespace h = hwy::HWY_NAMESPACE;
    for (; i + 4 <= kept; i += 4) {
        std::int64_t j = 0;
        for (; j + 4 <= count; j += 4) {
            const float* s = from + j * depth + i;
            const auto r0 = h::LoadU(d, s), r1 = h::LoadU(d, s + depth), r2 = h::LoadU(d, s + 2 * depth),
                       r3 = h::LoadU(d, s + 3 * depth);
            const auto low02 = h::InterleaveLower(d, r0, r2), low13 = h::InterleaveLower(d, r1, r3);
            const auto high02 = h::InterleaveUpper(d, r0, r2), high13 = h::InterleaveUpper(d, r1, r3);
            float* o = out + i * out_stride + j;
            h::StoreU(h::InterleaveLower(d, low02, low13), d, o);
            h::StoreU(h::InterleaveUpper(d, low02, low13), d, o + out_stride);
            h::StoreU(h::InterleaveLower(d, high02, high13), d, o + 2 * out_stride);
            h::StoreU(h::InterleaveUpper(d, high02, high13), d, o + 3 * out_stride);
        }
        for (; j < count; ++j)
            for (std::int64_t x = i; x < i + 4; ++x) out[x * out_stride + j] = from[j * depth + x];
    }
#endif
    for (; i < kept; ++i)
        for (std::int64_t j = 0; j < count; ++j) out[i * out_stride + j] = from[j * depth + i];
}

template <int Fixed>
void DeliverColumns(float* dst, std::int64_t dst_stride, const float* HWY_RESTRICT product, std::int64_t ldp,
                    const float* old, std::int64_t old_stride, std::int64_t m, std::int64_t count) {
    const std::int64_t n = Fixed > 0 ? Fixed : count;
    for (std::int64_t i = 0; i < m; ++i, dst += dst_stride, product += ldp) {
        if (old != nullptr) {
            PTO_LANES
            for (std::int64_t j = 0; j < n; ++j) dst[j] = canonical(old[j] + product[j]);
            old += old_stride;
        } else {
            for (std::int64_t j = 0; j < n; ++j) dst[j] = canonical(product[j]);
        }
    }
}
void Deliver(float* dst, std::int64_t dst_stride, const float* product, std::int64_t ldp, const float* old,
             std::int64_t old_stride, std::int64_t m, std::int64_t count) {
    if (count == 16)
        DeliverColumns<16>(dst, dst_stride, product, ldp, old, old_stride, m, count);
    else
        DeliverColumns<0>(dst, dst_stride, product, ldp, old, old_stride, m, count);
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(PanelWidth);
HWY_EXPORT(Product);
HWY_EXPORT(TransposePanel);
HWY_EXPORT(Deliver);
} // namespace

std::int64_t product_panel_width() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }
void product_fp32(const float* a, std::int64_t lda, const float* b, std::int64_t panel_stride, std::int64_t m,
                  std::int64_t panels, std::int64_t k, float* p, std::int64_t ldp) {
    HWY_DYNAMIC_DISPATCH(Product)(a, lda, b, panel_stride, m, panels, k, p, ldp);
}
void transpose_panel(const float* from, std::int64_t depth, std::int64_t count, float* out, std::int64_t out_stride,
                     std::int64_t kept) {
    HWY_DYNAMIC_DISPATCH(TransposePanel)(from, depth, count, out, out_stride, kept);
}
void deliver_columns(float* dst, std::int64_t dst_stride, const float* product, std::int64_t ldp, const float* old,
                     std::int64_t old_stride, std::int64_t m, std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(Deliver)(dst, dst_stride, product, ldp, old, old_stride, m, count);
}

} // namespace pto::numerics
#endif
