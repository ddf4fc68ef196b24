/// Conversion, quantisation, padding, transposition of Vec tiles. Source: language 3.8.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/cast.hpp"

#include <bit>
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

void access_two(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    for (int i = 1; i < int(c.op.operands.size()); ++i) {
        if (!c.is_tile(i)) continue;
        const TileView v = c.tile(i).type->shape == c.tile(0).type->shape || i == 1
                               ? over(c.view(i), out.rows, out.cols)
                               : over(c.view(i), out.rows, 1);
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
float row_value(const TileView& v, std::int64_t r) {
    return std::bit_cast<float>(std::uint32_t(num::read_element(v.data, 32, r)));
}
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
    if (src.dtype != DType::fp32 || out.dtype != (asymmetric ? DType::uint8 : DType::int8))
        c.refuse("quantises fp32 to int8 (SYM) or uint8 (ASYM), not " + std::string(isa::name(src.dtype)) + " to " +
                 std::string(isa::name(out.dtype)));
    const TileView values = copied(c, src, 1);
    std::byte* line = c.scratch.room(0, out.cols);
    for (std::int64_t i = 0; i < out.rows; ++i) {
        const auto* x = reinterpret_cast<const float*>(values.data) + i * out.cols;
        if (asymmetric)
            num::quant_asym(x, reinterpret_cast<std::uint8_t*>(line), std::size_t(out.cols), row_value(scale, i),
                            row_value(offset, i));
        else
            num::quant_sym(x, reinterpret_cast<std::int8_t*>(line), std::size_t(out.cols), row_value(scale, i));
        num::copy_window(out.data, {out.map, i, 0}, line, {num::window_map(out.cols, 1, 8), 0, 0}, 1, out.cols);
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
    if (out.dtype != DType::fp32) c.refuse("dequantises to fp32, not " + std::string(isa::name(out.dtype)), 0);
    const TileView values = copied(c, src, 1);
    float* line = c.scratch.reals(0, out.cols);
    for (std::int64_t i = 0; i < out.rows; ++i) {
        num::dequant(src.dtype, values.data + values.map.byte_offset(i, 0), line, std::size_t(out.cols),
                     row_value(scale, i), row_value(offset, i));
        num::copy_window(out.data, {out.map, i, 0}, reinterpret_cast<std::byte*>(line),
                         {num::window_map(out.cols, 1, 32), 0, 0}, 1, out.cols);
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
        if (p.src.cols < p.cols && p.src.rows > 0)
            add_tile(list, p.out, 0, true, p.out.footprint(0, p.src.cols, p.src.rows, p.cols - p.src.cols));
        if (p.src.rows < p.rows)
            add_tile(list, p.out, 0, true, p.out.footprint(p.src.rows, 0, p.rows - p.src.rows, p.cols));
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
    const num::CastRule rule = num::tile_cast_rule(src.dtype, out.dtype, isa::RoundMode(round_mode));
    Rows rows(c, &out, {&src}, out.rows, out.cols);
    for (std::int64_t r = 0; r < rows.count(); ++r) {
        num::cast_lanes(src.dtype, rows.in(0, r), out.dtype, rows.out(r), std::size_t(rows.length()), rule);
        rows.finish(r);
    }
}

const Meaning cast_meaning{access_two, run_cast};
const Meaning quant_meaning{access_quant, run_quant};
const Meaning dequant_meaning{access_quant, run_dequant};
const Meaning fillpad_meaning{access_fillpad, run_fillpad};
const Meaning transpose_meaning{access_transpose, run_transpose};

} // namespace pto::execute
