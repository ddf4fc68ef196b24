/// The way out of an accumulator: relu, scale, conversion, atomic addition. Source: language 3.2; hardware 5.2.
#include "engine/execute/movement.hpp"

#include "engine/execute/numerics/cast.hpp"

#include <bit>
#include <cstring>

namespace pto::execute {
namespace {

/// A per-channel factor: fp32 bits in the low word; the 9-bit offset at bit 37 must be zero here.
float factor_of(const Call& c, std::uint64_t word) {
    if ((word >> 37) & 0x1FF) c.refuse("per-channel factors with an offset are not simulated");
    return num::fixpipe_scale(std::uint32_t(word));
}

template <class T, class Add>
void add_elements(std::byte* dst, const num::Place& to, const std::byte* src, const num::Place& from, std::int64_t rows,
                  std::int64_t cols, Add add) {
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

void add_window(Call& c, std::byte* dst, const num::Place& to, const std::byte* src, const num::Place& from,
                std::int64_t rows, std::int64_t cols, DType dtype) {
    switch (dtype) {
    case DType::fp32:
        add_elements<float>(dst, to, src, from, rows, cols, [](float a, float b) { return num::canonical(a + b); });
        break;
    case DType::fp16:
        add_elements<std::uint16_t>(dst, to, src, from, rows, cols, [](std::uint16_t a, std::uint16_t b) {
            return num::fp32_to_fp16(num::fp16_to_fp32(a) + num::fp16_to_fp32(b));
        });
        break;
    case DType::bf16:
        add_elements<std::uint16_t>(dst, to, src, from, rows, cols, [](std::uint16_t a, std::uint16_t b) {
            return num::fp32_to_bf16(num::bf16_to_fp32(a) + num::bf16_to_fp32(b));
        });
        break;
    case DType::int32:
    case DType::uint32:
        add_elements<std::uint32_t>(dst, to, src, from, rows, cols,
                                    [](std::uint32_t a, std::uint32_t b) { return a + b; });
        break;
    case DType::int16:
    case DType::uint16:
        add_elements<std::uint16_t>(dst, to, src, from, rows, cols,
                                    [](std::uint16_t a, std::uint16_t b) { return std::uint16_t(a + b); });
        break;
    case DType::int8:
    case DType::uint8:
        add_elements<std::uint8_t>(dst, to, src, from, rows, cols,
                                   [](std::uint8_t a, std::uint8_t b) { return std::uint8_t(a + b); });
        break;
    default: c.refuse("no atomic addition for " + std::string(isa::name(dtype)));
    }
}

void fixpipe(Call& c, const TileView& src, std::int64_t row, std::int64_t col, const FixpipeTarget& target,
             std::int64_t rows, std::int64_t cols, bool atomic) {
    const bool relu = c.given(Key::relu_pre_mode);
    const bool scaled = c.given(Key::scale);
    const num::Place to{target.map, target.row, target.col}, from{src.map, row, col};
    if (!relu && !scaled && target.dtype == src.dtype) {
        if (atomic)
            add_window(c, target.data, to, src.data, from, rows, cols, target.dtype);
        else
            num::copy_window(target.data, to, src.data, from, rows, cols);
        if (target.known) num::copy_window(target.known, to, src.known, from, rows, cols);
        return;
    }
    const bool legal = src.dtype == DType::fp32 ? (scaled || target.dtype == DType::fp32 ||
                                                   target.dtype == DType::fp16 || target.dtype == DType::bf16)
                                                : (scaled || target.dtype == DType::int32);
    if (!legal)
        c.refuse("the fixpipe does not convert " + std::string(isa::name(src.dtype)) + " to " +
                 std::string(isa::name(target.dtype)) + " without scale");

    // A contiguous image of the accumulator, converted, then one windowed copy. Per-channel factors take it column by
    // column.
    const std::int64_t n = rows * cols;
    const int bits = isa::bits(target.dtype);
    const OperandInstance* r = scaled ? c.runtime(Key::scale) : nullptr;
    const bool per_channel = r && r->kind == OperandInstance::Kind::tile;
    std::byte* values = c.scratch.room(0, n * 4);
    std::byte* out = c.scratch.room(1, n * 4);
    num::TileMap flat = per_channel ? num::window_map(1, rows, 32) : num::window_map(cols, 1, 32);
    num::copy_window(values, {flat, 0, 0}, src.data, from, rows, cols);
    num::FixpipeRule rule{relu, scaled, 1.0f};
    if (per_channel) {
        const TileView factors = c.view(r->tile);
        c.require_known(factors, -1, "the per-channel scale");
        for (std::int64_t j = 0; j < cols; ++j) {
            rule.scale = factor_of(c, num::read_element(factors.data, 64, factors.map.offset(0, col + j)));
            num::fixpipe_lanes(src.dtype, values + j * rows * 4, target.dtype, out + j * rows * bits / 8,
                               std::size_t(rows), rule);
        }
    } else {
        if (scaled) {
            const bool encoded = r && !isa::is_float(r->scalar.dtype); // an integer scalar already holds the bits
            rule.scale = num::fixpipe_scale(encoded ? std::uint32_t(r->scalar.integer)
                                                    : std::bit_cast<std::uint32_t>(float(c.real(Key::scale, 1))));
        }
        num::fixpipe_lanes(src.dtype, values, target.dtype, out, std::size_t(n), rule);
    }
    flat.bits = bits;
    if (atomic)
        add_window(c, target.data, to, out, {flat, 0, 0}, rows, cols, target.dtype);
    else
        num::copy_window(target.data, to, out, {flat, 0, 0}, rows, cols);
    if (target
            .known) // a result element is known when its source element is: the first byte of an element stands for it
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < cols; ++j)
                std::memset(target.known + target.map.byte_offset(target.row + r, target.col + j),
                            int(src.known[src.map.byte_offset(row + r, col + j)]), std::size_t(std::max(1, bits / 8)));
}

} // namespace pto::execute
