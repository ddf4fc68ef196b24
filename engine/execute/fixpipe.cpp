/// The way out of an accumulator: relu, scale, conversion, atomic addition. Source: language 3.2; hardware 5.2.
#include "engine/execute/movement.hpp"

#include "engine/execute/numerics/convert.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace pto::execute {
namespace {

/// A 64-bit factor: fp32 bits of which sign, exponent and 10 mantissa bits count, a 9-bit signed offset at bit 37.
struct Factor {
    float scale = 1;
    int offset = 0;
};
Factor factor_of(std::uint64_t word) {
    Factor f;
    f.scale = std::bit_cast<float>(std::uint32_t(word) & 0xFFFFE000u);
    f.offset = int((word >> 37) & 0x1FF);
    if (f.offset > 255) f.offset -= 512;
    return f;
}

std::uint64_t quantised(float value, const Factor& f, DType to) {
    const float scaled = value * f.scale;
    switch (to) {
    case DType::fp32: return std::bit_cast<std::uint32_t>(num::canonical(scaled));
    case DType::int8:
    case DType::uint8: {
        if (scaled != scaled) return 0;
        const double r = std::nearbyint(double(scaled)) + f.offset;
        const double low = to == DType::int8 ? -128 : 0, high = to == DType::int8 ? 127 : 255;
        return std::uint64_t(std::int64_t(r < low ? low : r > high ? high : r)) & 0xFF;
    }
    case DType::hf8: return num::encode(to, scaled, num::Rounding::round, true);
    default: return num::encode(to, scaled, num::Rounding::rint, true);
    }
}

template <class T, class Add> void add_elements(std::byte* dst, const num::Place& to, const std::byte* src, const num::Place& from, std::int64_t rows, std::int64_t cols, Add add) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
            T a, b;
            std::byte* at = dst + to.map.byte_offset(to.row + r, to.col + c);
            std::memcpy(&a, at, sizeof a);
            std::memcpy(&b, src + from.map.byte_offset(from.row + r, from.col + c), sizeof b);
            a = add(a, b);
            std::memcpy(at, &a, sizeof a);
        }
}

} // namespace

void add_window(Call& c, std::byte* dst, const num::Place& to, const std::byte* src, const num::Place& from, std::int64_t rows, std::int64_t cols,
                DType dtype) {
    switch (dtype) {
    case DType::fp32: add_elements<float>(dst, to, src, from, rows, cols, [](float a, float b) { return num::canonical(a + b); }); break;
    case DType::fp16:
        add_elements<std::uint16_t>(dst, to, src, from, rows, cols, [](std::uint16_t a, std::uint16_t b) { return num::fp32_to_fp16(num::fp16_to_fp32(a) + num::fp16_to_fp32(b)); });
        break;
    case DType::bf16:
        add_elements<std::uint16_t>(dst, to, src, from, rows, cols, [](std::uint16_t a, std::uint16_t b) { return num::fp32_to_bf16(num::bf16_to_fp32(a) + num::bf16_to_fp32(b)); });
        break;
    case DType::int32:
    case DType::uint32: add_elements<std::uint32_t>(dst, to, src, from, rows, cols, [](std::uint32_t a, std::uint32_t b) { return a + b; }); break;
    case DType::int16:
    case DType::uint16: add_elements<std::uint16_t>(dst, to, src, from, rows, cols, [](std::uint16_t a, std::uint16_t b) { return std::uint16_t(a + b); }); break;
    case DType::int8:
    case DType::uint8: add_elements<std::uint8_t>(dst, to, src, from, rows, cols, [](std::uint8_t a, std::uint8_t b) { return std::uint8_t(a + b); }); break;
    default: c.refuse("no atomic addition for " + std::string(isa::name(dtype)));
    }
}

void fixpipe(Call& c, const TileView& src, std::int64_t row, std::int64_t col, const FixpipeTarget& target, std::int64_t rows, std::int64_t cols,
             bool atomic) {
    const bool relu = c.given(Key::relu_pre_mode);
    const bool scaled = c.given(Key::scale);
    const num::Place to{target.map, target.row, target.col}, from{src.map, row, col};
    if (!relu && !scaled && target.dtype == src.dtype) {
        if (atomic) add_window(c, target.data, to, src.data, from, rows, cols, target.dtype);
        else num::copy_window(target.data, to, src.data, from, rows, cols);
        if (target.known) num::copy_window(target.known, to, src.known, from, rows, cols);
        return;
    }
    const bool legal = src.dtype == DType::fp32 ? (scaled || target.dtype == DType::fp32 || target.dtype == DType::fp16 || target.dtype == DType::bf16)
                                                 : (scaled || target.dtype == DType::int32);
    if (!legal) c.refuse("the fixpipe does not convert " + std::string(isa::name(src.dtype)) + " to " + std::string(isa::name(target.dtype)) + " without scale");

    // A row-major image of the accumulator as fp32, then of the result, then one windowed copy.
    float* values = c.scratch.reals(0, rows * cols);
    num::TileMap flat = num::window_map(cols, 1, 32);
    num::copy_window(reinterpret_cast<std::byte*>(values), {flat, 0, 0}, src.data, from, rows, cols);
    const std::int64_t n = rows * cols;
    if (src.dtype == DType::int32 && target.dtype == DType::int32 && !scaled) {
        for (std::int64_t i = 0; i < n; ++i)
            if (auto v = std::bit_cast<std::int32_t>(values[i]); v < 0) values[i] = 0;
    } else {
        if (src.dtype == DType::int32)
            for (std::int64_t i = 0; i < n; ++i) values[i] = float(std::bit_cast<std::int32_t>(values[i]));
        if (relu)
            for (std::int64_t i = 0; i < n; ++i) values[i] = values[i] > 0 ? values[i] : values[i] != values[i] ? values[i] : 0.f;
    }
    const int bits = isa::bits(target.dtype);
    std::byte* out = c.scratch.room(0, n * 4);
    if (scaled) {
        const OperandInstance* r = c.runtime(Key::scale);
        if (r && r->kind == OperandInstance::Kind::tile) {
            const TileView factors = c.view(r->tile);
            c.require_known(factors, -1, "the per-channel scale");
            for (std::int64_t j = 0; j < cols; ++j) {
                const Factor f = factor_of(num::read_element(factors.data, 64, factors.map.offset(0, col + j)));
                for (std::int64_t i = 0; i < rows; ++i) num::write_element(out, bits, i * cols + j, quantised(values[i * cols + j], f, target.dtype));
            }
        } else {
            std::uint64_t word;
            if (r && !isa::is_float(r->scalar.dtype)) word = std::uint64_t(r->scalar.integer);
            else word = std::bit_cast<std::uint32_t>(float(c.real(Key::scale, 1)));
            const Factor f = factor_of(word);
            for (std::int64_t i = 0; i < n; ++i) num::write_element(out, bits, i, quantised(values[i], f, target.dtype));
        }
    } else if (target.dtype == DType::fp16) {
        num::fp32_to_fp16(values, reinterpret_cast<std::uint16_t*>(out), std::size_t(n));
    } else if (target.dtype == DType::bf16) {
        num::fp32_to_bf16(values, reinterpret_cast<std::uint16_t*>(out), std::size_t(n));
    } else {
        std::memcpy(out, values, std::size_t(n) * 4);
    }
    flat.bits = bits;
    if (atomic) add_window(c, target.data, to, out, {flat, 0, 0}, rows, cols, target.dtype);
    else num::copy_window(target.data, to, out, {flat, 0, 0}, rows, cols);
    if (target.known) // a result element is known when its source element is: the first byte of an element stands for it
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < cols; ++j)
                std::memset(target.known + target.map.byte_offset(target.row + r, target.col + j), int(src.known[src.map.byte_offset(row + r, col + j)]),
                            std::size_t(std::max(1, bits / 8)));
}

} // namespace pto::execute
