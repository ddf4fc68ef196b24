/// Conversion, quantisation, padding, transposition of Vec tiles. Source: language 3.8.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/float_formats.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace pto::execute {
namespace {

bool empty(const TileView& v) { return v.rows <= 0 || v.cols <= 0; }
TileView over(TileView v, std::int64_t rows, std::int64_t cols) {
    v.rows = rows;
    v.cols = cols;
    return v;
}

// ---------------------------------------------------------------- cast

std::int64_t integer_of(DType t, std::uint64_t pattern) {
    const int shift = 64 - isa::bits(t);
    return isa::is_signed_int(t) ? std::int64_t(pattern << shift) >> shift : std::int64_t(pattern);
}
double rounded(double v, num::Rounding mode) {
    switch (mode) {
    case num::Rounding::rint: return std::nearbyint(v);
    case num::Rounding::round: return std::round(v);
    case num::Rounding::floor: return std::floor(v);
    case num::Rounding::ceil: return std::ceil(v);
    default: return std::trunc(v);
    }
}
/// Pairs that keep the low bits instead of clamping (language 3.8).
bool wraps(DType from, DType to) {
    using D = DType;
    if (from == D::fp16 && (to == D::int8 || to == D::uint8)) return true;
    if ((from == D::fp16 || from == D::fp32) && to == D::int16) return true;
    return (from == D::int64 && to == D::int32) || (from == D::int32 && to == D::int16);
}
std::uint64_t clamped(double v, DType to) {
    const int bits = isa::bits(to);
    if (isa::is_signed_int(to)) {
        const double limit = std::ldexp(1.0, bits - 1);
        if (v >= limit) return (std::uint64_t(1) << (bits - 1)) - 1;
        if (v < -limit) return std::uint64_t(1) << (bits - 1);
        return std::uint64_t(std::int64_t(v));
    }
    if (v <= 0) return 0;
    if (v >= std::ldexp(1.0, bits)) return bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
    return std::uint64_t(v);
}
std::uint64_t low_bits(double v, DType to) { // of the infinite-precision integer; infinities clamp
    if (std::isinf(v)) return clamped(v, to);
    return std::uint64_t(std::int64_t(std::fmod(v, 18446744073709551616.0) >= 9223372036854775808.0 ? std::fmod(v, 18446744073709551616.0) - 18446744073709551616.0
                                      : std::fmod(v, 18446744073709551616.0) < -9223372036854775808.0 ? std::fmod(v, 18446744073709551616.0) + 18446744073709551616.0
                                                                                                     : std::fmod(v, 18446744073709551616.0)));
}
std::uint64_t cast_element(DType from, std::uint64_t pattern, DType to, isa::RoundMode mode) {
    const bool from_real = isa::is_float(from), to_real = isa::is_float(to);
    if (!from_real && !to_real) {
        const std::int64_t v = integer_of(from, pattern);
        if (wraps(from, to)) return std::uint64_t(v);
        const int bits = isa::bits(to);
        if (isa::is_signed_int(to)) {
            if (bits == 64) return from == DType::uint64 && v < 0 ? std::uint64_t(INT64_MAX) : std::uint64_t(v);
            const std::int64_t high = (std::int64_t(1) << (bits - 1)) - 1;
            if (from == DType::uint64 && v < 0) return std::uint64_t(high);
            return std::uint64_t(std::min(std::max(v, -high - 1), high));
        }
        if (from != DType::uint64 && v < 0) return 0;
        if (bits == 64) return std::uint64_t(v);
        return std::min(std::uint64_t(v), (std::uint64_t(1) << bits) - 1);
    }
    const num::Rounding rounding = num::rounding_of(mode);
    if (!from_real) { // exact magnitude, one rounding
        const std::int64_t v = integer_of(from, pattern);
        const bool negative = v < 0 && from != DType::uint64;
        return num::encode_exact(to, negative, negative ? 0 - std::uint64_t(v) : std::uint64_t(v), 0, rounding, false);
    }
    const double v = from == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(pattern))) : double(num::decode(from, std::uint32_t(pattern)));
    if (to_real) {
        const bool wide = to == DType::fp16 || to == DType::bf16 || to == DType::fp32;
        return num::encode(to, v, rounding, !wide);
    }
    if (v != v) return 0;
    const double r = rounded(v, mode == isa::RoundMode::none ? num::Rounding::trunc : rounding);
    return wraps(from, to) ? low_bits(r, to) : clamped(r, to);
}

void access_two(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    for (int i = 1; i < int(c.op.operands.size()); ++i) {
        if (!c.is_tile(i)) continue;
        const TileView v = c.tile(i).type->shape == c.tile(0).type->shape || i == 1 ? over(c.view(i), out.rows, out.cols) : over(c.view(i), out.rows, 1);
        add_tile(list, v, i, false, v.footprint());
    }
    add_tile(list, out, 0, true, out.footprint());
}

void run_cast(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView src = over(c.view(1), out.rows, out.cols);
    c.require_known(src, 1, "the conversion");
    convert_tile(c, out, src, c.choice(Key::mode, int(isa::RoundMode::round)));
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- quantisation

/// Value r of a per-row vector: physical element r of the tile.
float row_value(const TileView& v, std::int64_t r) { return std::bit_cast<float>(std::uint32_t(num::read_element(v.data, 32, r))); }
num::Footprint first_elements(const TileView& v, std::int64_t n) {
    num::Footprint f;
    f.count = 1;
    f.pieces[0].base = v.value->address;
    f.pieces[0].run_bytes = n * 4;
    return f;
}
const TileView per_row(const Call& c, const OperandInstance& o) {
    if (o.kind != OperandInstance::Kind::tile) c.refuse("the per-row factor must be a tile");
    return c.view(o.tile);
}
void access_quant(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView src = over(c.view(1), out.rows, out.cols);
    add_tile(list, src, 1, false, src.footprint());
    for (int i = 2; i < int(c.op.operands.size()); ++i)
        if (c.is_tile(i)) add_tile(list, c.view(i), i, false, first_elements(c.view(i), out.rows));
    if (const OperandInstance* o = c.runtime(Key::offset); o && o->kind == OperandInstance::Kind::tile)
        add_tile(list, c.view(o->tile), -1, false, first_elements(c.view(o->tile), out.rows));
    add_tile(list, out, 0, true, out.footprint());
}
void run_quant(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView src = over(c.view(1), out.rows, out.cols), scale = c.view(2);
    c.require_known(src, 1, "the quantisation");
    c.require_known(scale, first_elements(scale, out.rows), 2, "the quantisation");
    const bool asymmetric = c.choice(Key::mode, 0) == int(isa::QuantMode::asym);
    const OperandInstance* o = c.runtime(Key::offset);
    if (asymmetric && !o) c.refuse("ASYM needs offset=");
    TileView offset;
    if (asymmetric) {
        offset = per_row(c, *o);
        c.require_known(offset, first_elements(offset, out.rows), -1, "the quantisation");
    }
    const TileView values = out.memory == src.memory ? copied(c, src, 1) : src;
    for (std::int64_t i = 0; i < out.rows; ++i) {
        const float s = row_value(scale, i), z = asymmetric ? row_value(offset, i) : 0.0f;
        for (std::int64_t j = 0; j < out.cols; ++j) {
            float x;
            std::memcpy(&x, values.data + values.map.byte_offset(i, j), 4);
            float y = x * s;
            if (asymmetric) y = y + z;
            num::write_element(out.data, 8, out.map.offset(i, j), y != y ? 0 : clamped(std::nearbyint(double(y)), asymmetric ? DType::uint8 : DType::int8));
        }
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}
void run_dequant(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView src = over(c.view(1), out.rows, out.cols), scale = c.view(2), offset = c.view(3);
    c.require_known(src, 1, "the dequantisation");
    c.require_known(scale, first_elements(scale, out.rows), 2, "the dequantisation");
    c.require_known(offset, first_elements(offset, out.rows), 3, "the dequantisation");
    const TileView values = copied(c, src, 1);
    for (std::int64_t i = 0; i < out.rows; ++i) {
        const float s = row_value(scale, i), z = row_value(offset, i);
        for (std::int64_t j = 0; j < out.cols; ++j) {
            const float x = float(integer_of(src.dtype, num::read_element(values.data, values.map.bits, values.map.offset(i, j))));
            const float y = num::canonical((x - z) * s);
            std::memcpy(out.data + out.map.byte_offset(i, j), &y, 4);
        }
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- padding, transposition

struct Padding {
    TileView out, src;
    bool in_place = false;
    std::int64_t rows = 0, cols = 0; // of out that are filled or copied, in all
};
Padding padding_of(const Call& c) {
    Padding p;
    p.out = c.view(0);
    p.src = c.view(1);
    const auto mode = isa::FillPadMode(c.choice(Key::mode, 0));
    p.in_place = mode == isa::FillPadMode::inplace || p.out.value->address == p.src.value->address;
    if (p.out.value->type->pad == isa::TilePad::null) c.refuse("the destination's tile type has no pad value", 0);
    p.rows = std::max(p.out.rows, p.src.rows);
    p.cols = p.out.value->type->shape[1];
    return p;
}
void access_fillpad(const Call& c, AccessList& list) {
    const Padding p = padding_of(c);
    if (!p.in_place && p.src.rows > 0 && p.src.cols > 0) add_tile(list, p.src, 1, false, p.src.footprint());
    if (p.in_place) {
        if (p.src.cols < p.cols && p.src.rows > 0) add_tile(list, p.out, 0, true, p.out.footprint(0, p.src.cols, p.src.rows, p.cols - p.src.cols));
        if (p.src.rows < p.rows) add_tile(list, p.out, 0, true, p.out.footprint(p.src.rows, 0, p.rows - p.src.rows, p.cols));
    } else if (p.rows > 0) {
        add_tile(list, p.out, 0, true, p.out.footprint(0, 0, p.rows, p.cols));
    }
}
void run_fillpad(Call& c) {
    const Padding p = padding_of(c);
    const std::uint64_t pad = num::pad_value(p.out.dtype, p.out.value->type->pad);
    if (!p.in_place && p.src.rows > 0 && p.src.cols > 0) {
        num::copy_window(p.out.data, {p.out.map, 0, 0}, p.src.data, {p.src.map, 0, 0}, p.src.rows, p.src.cols);
        num::copy_window(p.out.known, {p.out.map, 0, 0}, p.src.known, {p.src.map, 0, 0}, p.src.rows, p.src.cols);
    }
    auto fill = [&](std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
        if (rows <= 0 || cols <= 0) return;
        num::fill_window(p.out.data, {p.out.map, row, col}, pad, rows, cols);
        Call::mark_known(p.out, p.out.footprint(row, col, rows, cols));
    };
    fill(0, p.src.cols, p.src.rows, p.cols - p.src.cols);
    fill(p.src.rows, 0, p.rows - p.src.rows, p.cols);
    note_work(c, over(p.out, p.rows, p.cols));
}

void access_transpose(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    const TileView out = c.view(0);
    add_tile(list, out, 0, true, out.footprint(0, 0, src.cols, src.rows));
}
void run_transpose(Call& c) {
    const TileView src = c.view(1), out = c.view(0);
    if (empty(src)) return;
    if (out.map.bits != src.map.bits) c.refuse("source and destination have elements of different width");
    c.require_known(src, 1, "the transposition");
    const TileView values = copied(c, src, 1);
    num::copy_window(out.data, {out.map, 0, 0}, values.data, {values.map.transposed(), 0, 0}, src.cols, src.rows);
    Call::mark_known(out, out.footprint(0, 0, src.cols, src.rows));
    note_work(c, src);
}

} // namespace

void convert_tile(Call& c, const TileView& out, const TileView& src, int round_mode) {
    const auto mode = isa::RoundMode(round_mode);
    const TileView values = out.memory == src.memory && out.data == src.data && out.map == src.map ? src : copied(c, src, 1);
    for (std::int64_t i = 0; i < out.rows; ++i)
        for (std::int64_t j = 0; j < out.cols; ++j)
            num::write_element(out.data, out.map.bits, out.map.offset(i, j),
                               cast_element(src.dtype, num::read_element(values.data, values.map.bits, values.map.offset(i, j)), out.dtype, mode));
}

const Meaning cast_meaning{access_two, run_cast};
const Meaning quant_meaning{access_quant, run_quant};
const Meaning dequant_meaning{access_quant, run_dequant};
const Meaning fillpad_meaning{access_fillpad, run_fillpad};
const Meaning transpose_meaning{access_transpose, run_transpose};

} // namespace pto::execute
