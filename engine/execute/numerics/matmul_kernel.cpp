// The inner product kernel, once per Highway target.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/execute/numerics/matmul_kernel.cpp"
#include "hwy/foreach_target.h"

#include "engine/execute/numerics/matmul.hpp"
#include "hwy/highway.h"

#include <cmath>

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
HWY_INLINE void Block(const float* HWY_RESTRICT a, std::int64_t lda, const float* HWY_RESTRICT b, std::int64_t k, float* HWY_RESTRICT p,
                      std::int64_t ldp) {
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
void Rest(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t k, float* p, std::int64_t ldp) {
    if constexpr (Rows > 0) {
        if (rows == Rows) return Block<Rows>(a, lda, b, k, p, ldp);
        Rest<Rows - 1>(rows, a, lda, b, k, p, ldp);
    }
}

void Product(const float* a, std::int64_t lda, const float* b, std::int64_t panel_stride, std::int64_t m, std::int64_t panels, std::int64_t k, float* p,
             std::int64_t ldp) {
    const std::int64_t columns = PanelWidth();
    for (std::int64_t j = 0; j < panels; ++j, b += panel_stride, p += columns) {
        std::int64_t i = 0;
        // A remainder of a few rows wastes issue slots; blocks of nearly equal height do not.
        const std::int64_t blocks = (m + block_rows - 1) / block_rows;
        for (std::int64_t block = 0; block < blocks; ++block) {
            const std::int64_t rows = (m - i) / (blocks - block);
            if (rows == block_rows) Block<block_rows>(a + i * lda, lda, b, k, p + i * ldp, ldp);
            else Rest<block_rows - 1>(rows, a + i * lda, lda, b, k, p + i * ldp, ldp);
            i += rows;
        }
    }
}

} // namespace HWY_NAMESPACE
} // namespace pto::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pto::numerics {
namespace {
HWY_EXPORT(PanelWidth);
HWY_EXPORT(Product);
} // namespace

std::int64_t product_panel_width() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }
void product_fp32(const float* a, std::int64_t lda, const float* b, std::int64_t panel_stride, std::int64_t m, std::int64_t panels, std::int64_t k,
                  float* p, std::int64_t ldp) {
    HWY_DYNAMIC_DISPATCH(Product)(a, lda, b, panel_stride, m, panels, k, p, ldp);
}

} // namespace pto::numerics
#endif
