#include "engine/execute/numerics/tile_copy.hpp"

#include <cstring>

namespace pto::numerics {
namespace {

void write_nibble(std::byte* memory, std::int64_t element, unsigned value) {
    std::byte& b = memory[element / 2];
    const unsigned shift = element % 2 != 0 ? 4 : 0;
    b = std::byte((unsigned(b) & ~(0xFu << shift)) | (value & 0xF) << shift);
}
unsigned read_nibble(const std::byte* memory, std::int64_t element) {
    return unsigned(memory[element / 2]) >> (element % 2 != 0 ? 4 : 0) & 0xF;
}

void copy_nibbles(std::byte* dst, const Place& to, const std::byte* src, const Place& from, std::int64_t rows,
                  std::int64_t cols) {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j)
            write_nibble(dst, to.map.offset(to.row + i, to.col + j),
                         read_nibble(src, from.map.offset(from.row + i, from.col + j)));
}

/// Both sides contiguous along columns (a stride of 1 inside col_block). Segments end where either side's block ends.
template <std::size_t Fixed>
void copy_rows_fixed(std::byte* dst, const std::byte* src, std::int64_t rows, std::int64_t dst_stride,
                     std::int64_t src_stride) {
    for (std::int64_t i = 0; i < rows; ++i) std::memcpy(dst + i * dst_stride, src + i * src_stride, Fixed);
}

void copy_rows(std::byte* dst, const std::byte* src, std::int64_t rows, std::int64_t dst_stride,
               std::int64_t src_stride, std::int64_t run) {
    if (run == dst_stride && run == src_stride) {
        std::memcpy(dst, src, std::size_t(run * rows));
        return;
    }
    switch (run) {
    case 16: copy_rows_fixed<16>(dst, src, rows, dst_stride, src_stride); break;
    case 32: copy_rows_fixed<32>(dst, src, rows, dst_stride, src_stride); break;
    case 64: copy_rows_fixed<64>(dst, src, rows, dst_stride, src_stride); break;
    default:
        for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(dst + i * dst_stride, src + i * src_stride, std::size_t(run));
    }
}

/// Length of the piece of [at, at + left) that stays inside one block of both maps.
std::int64_t piece(std::int64_t left, std::int64_t a, std::int32_t a_block, std::int64_t b, std::int32_t b_block) {
    if (a_block != TileMap::unblocked) left = std::min(left, a_block - a % a_block);
    if (b_block != TileMap::unblocked) left = std::min(left, b_block - b % b_block);
    return left;
}

/// Calls f(row, col, rows, cols) for pieces in which both maps are plain strides.
template <class F>
void for_each_piece(const Place& to, const Place& from, std::int64_t rows, std::int64_t cols, F&& f) {
    for (std::int64_t j = 0; j < cols;) {
        const std::int64_t nj = piece(cols - j, to.col + j, to.map.col_block, from.col + j, from.map.col_block);
        for (std::int64_t i = 0; i < rows;) {
            const std::int64_t ni = piece(rows - i, to.row + i, to.map.row_block, from.row + i, from.map.row_block);
            f(i, j, ni, nj);
            i += ni;
        }
        j += nj;
    }
}

/// Plain strided element copy in cache-sized squares.
template <class T>
void copy_elements(std::byte* dst, std::int64_t dr, std::int64_t dc, const std::byte* src, std::int64_t sr,
                   std::int64_t sc, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t square = 32;
    for (std::int64_t i0 = 0; i0 < rows; i0 += square)
        for (std::int64_t j0 = 0; j0 < cols; j0 += square) {
            const std::int64_t i1 = std::min(rows, i0 + square), j1 = std::min(cols, j0 + square);
            for (std::int64_t i = i0; i < i1; ++i)
                for (std::int64_t j = j0; j < j1; ++j) {
                    T value;
                    std::memcpy(&value, src + (i * sr + j * sc) * std::int64_t(sizeof(T)), sizeof(T));
                    std::memcpy(dst + (i * dr + j * dc) * std::int64_t(sizeof(T)), &value, sizeof(T));
                }
        }
}

template <class T>
void fill_run(std::byte* dst, std::int64_t count, std::uint64_t value) {
    const T v = T(value);
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(dst + i * std::int64_t(sizeof(T)), &v, sizeof(T));
}

} // namespace

std::uint64_t read_element(const std::byte* memory, int bits, std::int64_t element) {
    if (bits == 4) return read_nibble(memory, element);
    std::uint64_t out = 0;
    std::memcpy(&out, memory + element * bits / 8, std::size_t(bits / 8));
    return out;
}

void write_element(std::byte* memory, int bits, std::int64_t element, std::uint64_t value) {
    if (bits == 4) return write_nibble(memory, element, unsigned(value));
    std::memcpy(memory + element * bits / 8, &value, std::size_t(bits / 8));
}

void copy_window(std::byte* dst, const Place& to, const std::byte* src, const Place& from, std::int64_t rows,
                 std::int64_t cols) {
    const int bits = to.map.bits;
    if (rows <= 0 || cols <= 0) return;
    if (bits == 4) {
        const bool even = to.map.col_near == 1 && from.map.col_near == 1 && to.col % 2 == 0 && from.col % 2 == 0 &&
                          cols % 2 == 0 && to.map.row_near % 2 == 0 && from.map.row_near % 2 == 0;
        if (!even) return copy_nibbles(dst, to, src, from, rows, cols);
        auto halved = [](Place p) { // pairs of nibbles as bytes
            p.map.bits = 8, p.col /= 2, p.map.row_near /= 2, p.map.row_far /= 2, p.map.col_far /= 2;
            if (p.map.col_block != TileMap::unblocked) p.map.col_block /= 2;
            return p;
        };
        return copy_window(dst, halved(to), src, halved(from), rows, cols / 2);
    }
    if (to.map.col_near != 1 || from.map.col_near != 1) {
        if (to.map.row_near == 1 &&
            from.map.row_near == 1) // contiguous along rows on both sides: the same job, transposed
            return copy_window(dst, {to.map.transposed(), to.col, to.row}, src,
                               {from.map.transposed(), from.col, from.row}, cols, rows);
        for_each_piece(to, from, rows, cols, [&](std::int64_t i, std::int64_t j, std::int64_t ni, std::int64_t nj) {
            std::byte* d = dst + to.map.byte_offset(to.row + i, to.col + j);
            const std::byte* s = src + from.map.byte_offset(from.row + i, from.col + j);
            const std::int64_t dr = to.map.row_near, dc = to.map.col_near, sr = from.map.row_near,
                               sc = from.map.col_near;
            switch (bits) {
            case 8: copy_elements<std::uint8_t>(d, dr, dc, s, sr, sc, ni, nj); break;
            case 16: copy_elements<std::uint16_t>(d, dr, dc, s, sr, sc, ni, nj); break;
            case 32: copy_elements<std::uint32_t>(d, dr, dc, s, sr, sc, ni, nj); break;
            default: copy_elements<std::uint64_t>(d, dr, dc, s, sr, sc, ni, nj); break;
            }
        });
        return;
    }
    const std::int64_t bytes = bits / 8;
    for_each_piece(to, from, rows, cols, [&](std::int64_t i, std::int64_t j, std::int64_t ni, std::int64_t nj) {
        copy_rows(dst + to.map.byte_offset(to.row + i, to.col + j),
                  src + from.map.byte_offset(from.row + i, from.col + j), ni, to.map.row_near * bytes,
                  from.map.row_near * bytes, nj * bytes);
    });
}

void fill_window(std::byte* dst, const Place& to, std::uint64_t value, std::int64_t rows, std::int64_t cols) {
    const int bits = to.map.bits;
    if (bits == 4) {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < cols; ++j)
                write_nibble(dst, to.map.offset(to.row + i, to.col + j), unsigned(value));
        return;
    }
    for_each_run(to.map, to.row, to.col, rows, cols,
                 [&](std::int64_t at, std::int64_t, std::int64_t, std::int64_t n, bool) {
                     switch (bits) {
                     case 8: std::memset(dst + at, int(value & 0xFF), std::size_t(n)); break;
                     case 16: fill_run<std::uint16_t>(dst + at, n, value); break;
                     case 32: fill_run<std::uint32_t>(dst + at, n, value); break;
                     default: fill_run<std::uint64_t>(dst + at, n, value); break;
                     }
                 });
}

std::array<std::int64_t, 4> fill_fractal_tail(std::byte* dst, const TileMap& map, std::uint64_t value,
                                              std::int64_t rows, std::int64_t cols) {
    if (rows <= 0 || cols <= 0) return {};
    if (map.col_block != TileMap::unblocked && map.col_near == 1 && cols % map.col_block != 0) {
        const std::int64_t tail = map.col_block - cols % map.col_block;
        fill_window(dst, {map, 0, cols}, value, rows, tail);
        return {0, cols, rows, tail};
    }
    if (map.row_block != TileMap::unblocked && map.row_near == 1 && rows % map.row_block != 0) {
        const std::int64_t tail = map.row_block - rows % map.row_block;
        fill_window(dst, {map, rows, 0}, value, tail, cols);
        return {rows, 0, tail, cols};
    }
    return {};
}

std::uint64_t pad_value(isa::DType type, isa::TilePad pad) {
    if (pad == isa::TilePad::null || pad == isa::TilePad::zero) return 0;
    const bool least = pad == isa::TilePad::min;
    switch (type) {
    case isa::DType::fp32: return least ? 0xFF800000u : 0x7F800000u;
    case isa::DType::fp16: return least ? 0xFC00u : 0x7C00u;
    case isa::DType::bf16: return least ? 0xFF80u : 0x7F80u;
    case isa::DType::fp8e4m3: return least ? 0xFEu : 0x7Eu;
    case isa::DType::fp8e5m2: return least ? 0xFCu : 0x7Cu;
    case isa::DType::hf8: return least ? 0xEFu : 0x6Fu;
    case isa::DType::fp8e8m0: return least ? 0x00u : 0xFEu;
    case isa::DType::fp4:
    case isa::DType::fp4e2m1:
    case isa::DType::fp4e1m2:
    case isa::DType::hf4: return least ? 0xFu : 0x7u;
    default: break;
    }
    const int bits = isa::bits(type);
    const std::uint64_t all = bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
    if (isa::is_signed_int(type)) return least ? (all >> 1) + 1 : all >> 1;
    return least ? 0 : all;
}

} // namespace pto::numerics
