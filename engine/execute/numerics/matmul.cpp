#include "engine/execute/numerics/matmul.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/matmul_kernel.hpp"

#include <cstring>
#include <limits>

namespace pto::numerics {
namespace {

constexpr std::int64_t mx_group = 32;

bool cube_float(isa::DType t) {
    return t == isa::DType::fp32 || t == isa::DType::fp16 || t == isa::DType::bf16 ||
           (isa::is_float(t) && decode_table(t) != nullptr && t != isa::DType::fp8e8m0);
}

void grow(std::vector<float>& v, std::int64_t n) {
    if (std::int64_t(v.size()) < n) v.resize(std::size_t(n));
}

/// Elements offset .. offset + n of the operand as fp32.
void decode_run(const MatmulOperand& x, std::int64_t offset, float* out, std::int64_t n) {
    to_fp32(x.dtype, x.data + offset * x.map.bits / 8, out, std::size_t(n), std::size_t(offset % 2));
}

/// m rows of `width` floats, packed, to the columns of a matrix; only the first `kept` of each row.
template <std::size_t Fixed>
void copy_block(const float* from, std::int64_t width, float* to, std::int64_t stride, std::int64_t m) {
    for (std::int64_t r = 0; r < m; ++r) std::memcpy(to + r * stride, from + r * width, Fixed * sizeof(float));
}
void copy_block(const float* from, std::int64_t width, float* to, std::int64_t stride, std::int64_t m,
                std::int64_t kept) {
    if (kept == 8) return copy_block<8>(from, width, to, stride, m);
    if (kept == 16) return copy_block<16>(from, width, to, stride, m);
    if (kept == 32) return copy_block<32>(from, width, to, stride, m);
    for (std::int64_t r = 0; r < m; ++r)
        std::memcpy(to + r * stride, from + r * width, std::size_t(kept) * sizeof(float));
}

/// lhs as m rows of k floats.
void unpack_lhs(const MatmulOperand& x, std::int64_t m, std::int64_t k, float* out, std::vector<float>& staging) {
    const TileMap& map = x.map;
    if (map.col_near == 1 && map.col_block != TileMap::unblocked && map.row_block == TileMap::unblocked &&
        map.row_near == map.col_block) { // NZ
        const std::int64_t width = map.col_block;
        if (x.dtype != isa::DType::fp32) grow(staging, m * width);
        for (std::int64_t c = 0; c < k; c += width) {
            const float* from = reinterpret_cast<const float*>(x.data) + c / width * map.col_far;
            if (x.dtype != isa::DType::fp32) {
                decode_run(x, c / width * map.col_far, staging.data(), m * width);
                from = staging.data();
            }
            copy_block(from, width, out + c, k, m, std::min(width, k - c));
        }
        return;
    }
    for_each_run(map, 0, 0, m, k, [&](std::int64_t, std::int64_t r, std::int64_t c, std::int64_t n, bool along) {
        if (along && map.col_near == 1) return decode_run(x, map.offset(r, c), out + r * k + c, n);
        for (std::int64_t i = 0; i < n; ++i)
            decode_run(x, along ? map.offset(r, c + i) : map.offset(r + i, c),
                       out + (along ? r * k + c + i : (r + i) * k + c), 1);
    });
}

/// rhs in panels of `width` columns, each k rows; columns from n on are zero.
void pack_rhs(const MatmulOperand& x, std::int64_t n, std::int64_t k, std::int64_t width, float* out,
              std::vector<float>& staging) {
    const std::int64_t panels = (n + width - 1) / width;
    if (n % width != 0) { // the last panel's padding
        float* last = out + (panels - 1) * k * width;
        for (std::int64_t i = 0; i < k; ++i) std::fill(last + i * width + n % width, last + (i + 1) * width, 0.0f);
    }
    const TileMap& map = x.map;
    if (map.row_near == 1 && map.row_block != TileMap::unblocked && map.col_block == TileMap::unblocked &&
        map.col_near == map.row_block) { // ZN
        const std::int64_t depth = map.row_block;
        if (x.dtype != isa::DType::fp32) grow(staging, n * depth);
        for (std::int64_t r = 0; r < k; r += depth) {
            const float* from = reinterpret_cast<const float*>(x.data) + r / depth * map.row_far;
            if (x.dtype != isa::DType::fp32) {
                decode_run(x, r / depth * map.row_far, staging.data(), n * depth);
                from = staging.data();
            }
            const std::int64_t kept = std::min(depth, k - r);
            for (std::int64_t j = 0; j < panels; ++j)
                transpose_panel(from + j * width * depth, depth, std::min(width, n - j * width),
                                out + j * k * width + r * width, width, kept);
        }
        return;
    }
    if (map.col_near == 1) { // row-major or NZ
        for (std::int64_t r = 0; r < k; ++r)
            for (std::int64_t c = 0; c < n;) {
                std::int64_t count = std::min(n - c, width - c % width);
                if (map.col_block != TileMap::unblocked) count = std::min(count, map.col_block - c % map.col_block);
                decode_run(x, map.offset(r, c), out + c / width * k * width + r * width + c % width, count);
                c += count;
            }
        return;
    }
    for (std::int64_t c = 0; c < n; ++c)
        for (std::int64_t r = 0; r < k; ++r)
            decode_run(x, map.offset(r, c), out + c / width * k * width + r * width + c % width, 1);
}

/// dst = product (+ addend), one fp32 addition an element; a NaN becomes the canonical one.
void deliver(std::byte* dst, const TileMap& map, const float* product, std::int64_t ldp, std::int64_t m, std::int64_t n,
             const MatmulAddend& addend) {
    const auto* added = reinterpret_cast<const float*>(addend.data);
    const bool plain = map.col_near == 1 && map.row_block == TileMap::unblocked; // NZ and row-major: the accumulator
    const bool alike =
        added == nullptr || (addend.map.col_near == 1 && addend.map.row_block == TileMap::unblocked &&
                             (addend.map.col_block == TileMap::unblocked || addend.map.col_block == map.col_block));
    if (plain && alike) {
        for (std::int64_t c = 0; c < n;) {
            const std::int64_t count =
                map.col_block == TileMap::unblocked ? n : std::min<std::int64_t>(n - c, map.col_block);
            deliver_columns(reinterpret_cast<float*>(dst) + map.offset(0, c), map.row_near, product + c, ldp,
                            added == nullptr ? nullptr : added + addend.map.offset(0, c), addend.map.row_near, m,
                            count);
            c += count;
        }
        return;
    }
    for_each_run(map, 0, 0, m, n, [&](std::int64_t at, std::int64_t r, std::int64_t c, std::int64_t count, bool along) {
        float row[64];
        for (std::int64_t done = 0; done < count; done += 64) {
            const std::int64_t some = std::min<std::int64_t>(64, count - done);
            const std::int64_t i0 = along ? r : r + done, j0 = along ? c + done : c;
            if (along)
                for (std::int64_t i = 0; i < some; ++i) row[i] = product[i0 * ldp + j0 + i];
            else
                for (std::int64_t i = 0; i < some; ++i) row[i] = product[(i0 + i) * ldp + j0];
            if (added != nullptr)
                for (std::int64_t i = 0; i < some; ++i)
                    row[i] = added[addend.map.offset(along ? i0 : i0 + i, along ? j0 + i : j0)] + row[i];
            for (std::int64_t i = 0; i < some; ++i) row[i] = canonical(row[i]);
            std::memcpy(dst + at + done * 4, row, std::size_t(some) * 4);
        }
    });
}

std::int32_t saturating_add(std::int32_t a, std::int32_t b) {
    const std::int64_t sum = std::int64_t(a) + b;
    return std::int32_t(std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                 std::numeric_limits<std::int32_t>::max()));
}

template <class T>
void matmul_int(MatmulScratch& s, std::byte* dst, const TileMap& map, const MatmulOperand& a, const MatmulOperand& b,
                std::int64_t m, std::int64_t n, std::int64_t k, const MatmulAddend& addend) {
    const auto* left = reinterpret_cast<const T*>(a.data);
    const auto* right = reinterpret_cast<const T*>(b.data);
    // At most 4095 products below 2^16: no sum can leave int32, so the order is free.
    s.product_int.assign(std::size_t((m + k) * n), 0);
    std::int32_t* product = s.product_int.data();
    std::int32_t* rows = product + m * n;
    for (std::int64_t r = 0; r < k; ++r)
        for (std::int64_t c = 0; c < n; ++c) rows[r * n + c] = right[b.map.offset(r, c)];
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t r = 0; r < k; ++r) {
            const std::int32_t x = left[a.map.offset(i, r)];
            std::int32_t* out = product + i * n;
            const std::int32_t* in = rows + r * n;
            for (std::int64_t c = 0; c < n; ++c) out[c] += x * in[c];
        }
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t c = 0; c < n; ++c) {
            std::int32_t value = product[i * n + c];
            if (addend.data != nullptr)
                value =
                    saturating_add(reinterpret_cast<const std::int32_t*>(addend.data)[addend.map.offset(i, c)], value);
            std::memcpy(dst + map.byte_offset(i, c), &value, 4);
        }
}

} // namespace

bool matmul(MatmulScratch& scratch, std::byte* dst, const TileMap& dst_map, const MatmulOperand& lhs,
            const MatmulOperand& rhs, std::int64_t m, std::int64_t n, std::int64_t k, const MatmulAddend& addend) {
    if (lhs.dtype == rhs.dtype && lhs.dtype == isa::DType::int8) {
        matmul_int<std::int8_t>(scratch, dst, dst_map, lhs, rhs, m, n, k, addend);
        return true;
    }
    if (lhs.dtype == rhs.dtype && lhs.dtype == isa::DType::uint8) {
        matmul_int<std::uint8_t>(scratch, dst, dst_map, lhs, rhs, m, n, k, addend);
        return true;
    }
    if (!cube_float(lhs.dtype) || !cube_float(rhs.dtype)) return false;
    const std::int64_t width = product_panel_width(), panels = (n + width - 1) / width, ldp = panels * width;
    grow(scratch.lhs, m * k);
    grow(scratch.rhs, ldp * k);
    grow(scratch.product, m * ldp);
    unpack_lhs(lhs, m, k, scratch.lhs.data(), scratch.staging);
    pack_rhs(rhs, n, k, width, scratch.rhs.data(), scratch.staging);
    product_fp32(scratch.lhs.data(), k, scratch.rhs.data(), k * width, m, panels, k, scratch.product.data(), ldp);
    deliver(dst, dst_map, scratch.product.data(), ldp, m, n, addend);
    return true;
}

bool matmul_mx(MatmulScratch& scratch, std::byte* dst, const TileMap& dst_map, const MatmulOperand& lhs,
               const MatmulOperand& rhs, const MatmulOperand& scale_lhs, const MatmulOperand& scale_rhs, std::int64_t m,
               std::int64_t n, std::int64_t k, const MatmulAddend& addend) {
    if (!cube_float(lhs.dtype) || !cube_float(rhs.dtype) || k % mx_group != 0) return false;
    const std::int64_t width = product_panel_width(), panels = (n + width - 1) / width, ldp = panels * width;
    grow(scratch.lhs, m * k);
    grow(scratch.rhs, ldp * k);
    grow(scratch.product, 2 * m * ldp + n);
    unpack_lhs(lhs, m, k, scratch.lhs.data(), scratch.staging);
    pack_rhs(rhs, n, k, width, scratch.rhs.data(), scratch.staging);
    float* sum = scratch.product.data();
    float* group = sum + m * ldp;
    float* right = group + m * ldp;
    std::fill(sum, group, 0.0f);
    const float* scales = decode_table(isa::DType::fp8e8m0);
    for (std::int64_t g = 0; g < k / mx_group; ++g) {
        product_fp32(scratch.lhs.data() + g * mx_group, k, scratch.rhs.data() + g * mx_group * width, k * width, m,
                     panels, mx_group, group, ldp);
        for (std::int64_t j = 0; j < n; ++j)
            right[j] = scales[std::uint8_t(scale_rhs.data[scale_rhs.map.offset(g, j)])];
        for (std::int64_t i = 0; i < m; ++i) {
            const double left = double(scales[std::uint8_t(scale_lhs.data[scale_lhs.map.offset(i, g)])]);
            for (std::int64_t j = 0; j < n; ++j) // powers of two: exact in double, so one rounding to fp32
                sum[i * ldp + j] += float(double(group[i * ldp + j]) * (left * double(right[j])));
        }
    }
    deliver(dst, dst_map, sum, ldp, m, n, addend);
    return true;
}

} // namespace pto::numerics
