#pragma once
/// Private to the product: the parts of packing and delivery that gain from vector registers.

#include <cstdint>

namespace pto::numerics {

/// out[i * out_stride + j] = from[j * depth + i] for i < kept, j < count.
void transpose_panel(const float* from, std::int64_t depth, std::int64_t count, float* out, std::int64_t out_stride,
                     std::int64_t kept);

/// dst = canonical([old +] product) for m rows of `count` contiguous columns; old may be dst, or null, or have stride
/// 0.
void deliver_columns(float* dst, std::int64_t dst_stride, const float* product, std::int64_t ldp, const float* old,
                     std::int64_t old_stride, std::int64_t m, std::int64_t count);

} // namespace pto::numerics
