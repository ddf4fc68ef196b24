/// Lane by lane work on Vec tiles. Source: language 3.5, 3.6, 3.7 (broadcasts), 3.11.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/lanes.hpp"

#include <cstring>

namespace pto::execute {
namespace {

using isa::LaneFn;

[[noreturn]] void no_lane(const Call& c, DType type) {
    c.refuse("no such operation for " + std::string(isa::name(type)));
}
void same_type(const Call& c, const TileView& out, const TileView& in, int operand) {
    if (out.dtype != in.dtype)
        c.refuse("operand " + c.operand_name(operand) + " is " + std::string(isa::name(in.dtype)) +
                     ", the destination " + std::string(isa::name(out.dtype)),
                 operand);
}
/// A view limited to another's valid region: sources are read where the destination is valid.
TileView over(TileView v, std::int64_t rows, std::int64_t cols) {
    v.rows = rows;
    v.cols = cols;
    return v;
}
bool empty(const TileView& v) { return v.rows <= 0 || v.cols <= 0; }

// ---------------------------------------------------------------- elementwise

void access_elementwise(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const auto& declared = c.site.row->operands;
    for (std::size_t i = 0; i < declared.size() && i < c.op.operands.size(); ++i) {
        if (!c.is_tile(int(i))) continue;
        const TileView v = over(c.view(int(i)), out.rows, out.cols);
        if (isa::reads(declared[i].role)) add_tile(list, v, int(i), false, v.footprint());
        if (isa::writes(declared[i].role)) add_tile(list, v, int(i), true, v.footprint());
    }
}

void apply(Call& c, LaneFn fn, const TileView& out, const TileView& a) {
    const num::UnaryKernel kernel = num::unary_kernel(fn, a.dtype);
    if (!kernel) no_lane(c, a.dtype);
    Rows rows(c, &out, {&a}, out.rows, out.cols);
    for (std::int64_t r = 0; r < rows.count(); ++r) {
        kernel(rows.out(r), rows.in(0, r), std::size_t(rows.length()));
        rows.finish(r);
    }
}
void apply(Call& c, LaneFn fn, const TileView& out, const TileView& a, const TileView& b) {
    const num::BinaryKernel kernel = num::binary_kernel(fn, a.dtype);
    if (!kernel) no_lane(c, a.dtype);
    Rows rows(c, &out, {&a, &b}, out.rows, out.cols);
    for (std::int64_t r = 0; r < rows.count(); ++r) {
        kernel(rows.out(r), rows.in(0, r), rows.in(1, r), std::size_t(rows.length()));
        rows.finish(r);
    }
}
void apply(Call& c, LaneFn fn, const TileView& out, const TileView& a, std::uint64_t scalar) {
    const num::BinaryKernel kernel = num::binary_kernel(fn, a.dtype);
    if (!kernel) no_lane(c, a.dtype);
    Rows rows(c, &out, {&a}, out.rows, out.cols);
    for (std::int64_t r = 0; r < rows.count(); ++r) {
        num::apply_scalar(kernel, a.dtype, rows.out(r), rows.in(0, r), &scalar, std::size_t(rows.length()));
        rows.finish(r);
    }
}

void run_elementwise(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const Instruction& in = c.site;
    if (in.input_count < 1 || in.input_count > 3) c.refuse("an elementwise operation has one to three inputs");
    TileView views[3];
    std::uint64_t scalars[3] = {};
    bool is_tile[3] = {};
    const int first = in.inputs[0];
    if (!c.is_tile(first)) c.refuse("the first input must be a tile", first);
    for (int i = 0; i < in.input_count; ++i) {
        const int at = in.inputs[std::size_t(i)];
        is_tile[i] = c.is_tile(at);
        if (is_tile[i]) {
            views[i] = over(c.view(at), out.rows, out.cols);
            same_type(c, out, views[i], at);
            c.require_known(views[i], at, "arithmetic");
        } else {
            scalars[i] = pattern_of(c.operand(at).scalar, out.dtype);
        }
    }
    switch (in.input_count) {
    case 1: apply(c, in.lane, out, views[0]); break;
    case 2:
        if (is_tile[1])
            apply(c, in.lane, out, views[0], views[1]);
        else
            apply(c, in.lane, out, views[0], scalars[1]);
        break;
    default: {
        const num::TernaryKernel kernel = num::ternary_kernel(in.lane, out.dtype, false);
        if (!kernel || !is_tile[2]) no_lane(c, out.dtype);
        if (is_tile[1]) {
            Rows rows(c, &out, {&views[0], &views[1], &views[2]}, out.rows, out.cols);
            for (std::int64_t r = 0; r < rows.count(); ++r) {
                kernel(rows.out(r), rows.in(0, r), rows.in(1, r), rows.in(2, r), std::size_t(rows.length()));
                rows.finish(r);
            }
        } else {
            Rows rows(c, &out, {&views[0], &views[2]}, out.rows, out.cols);
            for (std::int64_t r = 0; r < rows.count(); ++r) {
                num::apply_scalar(kernel, out.dtype, rows.out(r), rows.in(0, r), &scalars[1], rows.in(1, r),
                                  std::size_t(rows.length()));
                rows.finish(r);
            }
        }
    }
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- fused forms

void run_clobbering(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView lhs = over(c.view(1), out.rows, out.cols), rhs = over(c.view(2), out.rows, out.cols);
    same_type(c, lhs, rhs, 2);
    c.require_known(lhs, 1, "arithmetic");
    c.require_known(rhs, 2, "arithmetic");
    const bool casts = c.site.keys[std::size_t(Key::target_type)] >= 0;
    if (!casts) same_type(c, out, lhs, 1);
    switch (c.site.lane) {
    case LaneFn::add_relu:
    case LaneFn::sub_relu: {
        apply(c, c.site.lane == LaneFn::add_relu ? LaneFn::add : LaneFn::sub, lhs, lhs, rhs);
        if (casts) {
            apply(c, LaneFn::relu, lhs, lhs);
            convert_tile(c, out, lhs, c.choice(Key::mode, int(isa::RoundMode::round)));
        } else {
            apply(c, LaneFn::relu, out, lhs);
        }
        break;
    }
    case LaneFn::mul:
        apply(c, LaneFn::mul, lhs, lhs, rhs);
        convert_tile(c, out, lhs, c.choice(Key::mode, int(isa::RoundMode::round)));
        break;
    case LaneFn::mul_add_dst:
        c.require_known(out, 0, "arithmetic");
        apply(c, LaneFn::mul, lhs, lhs, rhs);
        apply(c, LaneFn::add, out, lhs, out);
        break;
    case LaneFn::fused_mul_add:
        c.require_known(out, 0, "arithmetic");
        apply(c, LaneFn::mul, lhs, lhs, out);
        apply(c, LaneFn::add, out, lhs, rhs);
        break;
    case LaneFn::fused_mul_add_relu:
        c.require_known(out, 0, "arithmetic");
        apply(c, LaneFn::mul, lhs, lhs, out);
        apply(c, LaneFn::add, lhs, lhs, rhs);
        apply(c, LaneFn::relu, out, lhs);
        break;
    default: c.refuse("no such fused operation");
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

void run_axpy(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView src = over(c.view(1), out.rows, out.cols);
    c.require_known(src, 1, "arithmetic");
    c.require_known(out, 0, "arithmetic");
    const num::TernaryKernel kernel = num::ternary_kernel(c.site.lane, out.dtype, true);
    if (!kernel) no_lane(c, out.dtype);
    // The factor has the source's type, whatever the destination's.
    std::uint64_t alpha = pattern_of(c.operand(2).scalar, src.dtype);
    const bool widen = src.dtype != out.dtype;
    if (widen && !(src.dtype == DType::fp16 && out.dtype == DType::fp32)) same_type(c, out, src, 1);
    float* wide = nullptr;
    if (widen) {
        const float factor = num::fp16_to_fp32(std::uint16_t(alpha));
        std::memcpy(&alpha, &factor, 4);
        wide = c.scratch.reals(0, out.rows * out.cols);
    }
    Rows rows(c, &out, {&src, &out}, out.rows, out.cols);
    for (std::int64_t r = 0; r < rows.count(); ++r) {
        const void* x = rows.in(0, r);
        const void* old = rows.in(1, r);
        if (widen) {
            num::fp16_to_fp32(static_cast<const std::uint16_t*>(x), wide, std::size_t(rows.length()));
            x = wide;
        }
        num::apply_scalar(kernel, out.dtype, rows.out(r), x, &alpha, old, std::size_t(rows.length()));
        rows.finish(r);
    }
    note_work(c, out);
}

// ---------------------------------------------------------------- fills

void access_out(const Call& c, AccessList& list) { add_tile(c, list, 0, true); }

void run_fill(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    num::fill_window(out.data, {out.map, 0, 0}, pattern_of(c.operand(1).scalar, out.dtype), out.rows, out.cols);
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}
void run_fill_index(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    Scalar value = c.operand(1).scalar;
    for (std::int64_t j = 0; j < out.cols; ++j) {
        const std::uint64_t pattern = pattern_of(value, out.dtype);
        for (std::int64_t i = 0; i < out.rows; ++i)
            num::write_element(out.data, out.map.bits, out.map.offset(i, j), pattern);
        ++value.integer;
        value.real += 1;
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- compare and select

TileView packed_view(const Call& c, int operand, std::int64_t rows, std::int64_t cols) {
    TileView v = c.view(operand);
    v.rows = rows;
    v.cols = (cols + 7) / 8;
    return v;
}
void access_compare(const Call& c, AccessList& list) {
    const TileView lhs = c.view(1);
    if (empty(lhs)) return;
    add_tile(list, lhs, 1, false, lhs.footprint());
    if (c.is_tile(2)) {
        const TileView rhs = over(c.view(2), lhs.rows, lhs.cols);
        add_tile(list, rhs, 2, false, rhs.footprint());
    }
    const TileView out = packed_view(c, 0, lhs.rows, lhs.cols);
    add_tile(list, out, 0, true, out.footprint());
}
void run_compare(Call& c) {
    const TileView lhs = c.view(1);
    if (empty(lhs)) return;
    const TileView out = packed_view(c, 0, lhs.rows, lhs.cols);
    const num::CompareKernel kernel = num::compare_kernel(c.site.lane, lhs.dtype);
    if (!kernel) no_lane(c, lhs.dtype);
    c.require_known(lhs, 1, "the comparison");
    auto* lanes = reinterpret_cast<std::uint8_t*>(c.scratch.room(3, lhs.cols + 8));
    const bool tile = c.is_tile(2);
    TileView rhs;
    std::uint64_t scalar = 0;
    if (tile) {
        rhs = over(c.view(2), lhs.rows, lhs.cols);
        same_type(c, lhs, rhs, 2);
        c.require_known(rhs, 2, "the comparison");
    } else {
        scalar = pattern_of(c.operand(2).scalar, lhs.dtype);
    }
    // The mask may lie over an input (common in place use): every row of the inputs is read before its mask row is
    // written.
    const TileView a = out.memory == lhs.memory && out.footprint().first() < lhs.footprint().last() &&
                               lhs.footprint().first() < out.footprint().last()
                           ? copied(c, lhs, 1)
                           : lhs;
    const TileView b = tile ? copied(c, rhs, 2) : rhs;
    for (std::int64_t r = 0; r < lhs.rows; ++r) {
        std::byte* line = c.scratch.room(0, lhs.cols * 8);
        num::copy_window(line, {num::window_map(lhs.cols, 1, lhs.map.bits), 0, 0}, a.data, {a.map, r, 0}, 1, lhs.cols);
        if (tile)
            kernel(lanes, line, b.data + b.map.byte_offset(r, 0), std::size_t(lhs.cols));
        else
            num::apply_scalar(kernel, lhs.dtype, lanes, line, &scalar, std::size_t(lhs.cols));
        num::pack_bits(reinterpret_cast<std::uint8_t*>(out.data + out.map.byte_offset(r, 0)), lanes,
                       std::size_t(lhs.cols));
    }
    Call::mark_known(out, out.footprint());
    note_work(c, lhs);
}

void access_select(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView mask = packed_view(c, 1, out.rows, out.cols);
    add_tile(list, mask, 1, false, mask.footprint());
    for (int i = 2; i <= 3; ++i)
        if (c.is_tile(i)) {
            const TileView v = over(c.view(i), out.rows, out.cols);
            add_tile(list, v, i, false, v.footprint());
        }
    add_tile(list, out, 0, true, out.footprint());
}
void run_select(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const TileView mask = packed_view(c, 1, out.rows, out.cols);
    c.require_known(mask, 1, "the selection");
    const int bytes = isa::bytes(out.dtype);
    TileView sides[2];
    for (int i = 0; i < 2; ++i) {
        if (c.is_tile(2 + i)) {
            sides[i] = over(c.view(2 + i), out.rows, out.cols);
            same_type(c, out, sides[i], 2 + i);
            c.require_known(sides[i], 2 + i, "the selection");
            sides[i] = copied(c, sides[i], i);
        } else {
            sides[i] = out;
            sides[i].data = c.scratch.room(i, out.rows * out.cols * bytes);
            sides[i].map = num::window_map(out.cols, 1, out.map.bits);
            num::fill_window(sides[i].data, {sides[i].map, 0, 0}, pattern_of(c.operand(2 + i).scalar, out.dtype),
                             out.rows, out.cols);
        }
    }
    auto* lanes = reinterpret_cast<std::uint8_t*>(c.scratch.room(3, out.cols + 8 + out.cols * bytes));
    std::byte* line = reinterpret_cast<std::byte*>(lanes) + out.cols + 8 - (out.cols % 8);
    for (std::int64_t r = 0; r < out.rows; ++r) {
        num::unpack_bits(lanes, reinterpret_cast<const std::uint8_t*>(mask.data + mask.map.byte_offset(r, 0)),
                         std::size_t(out.cols));
        num::select_lanes(line, lanes, sides[0].data + sides[0].map.byte_offset(r, 0),
                          sides[1].data + sides[1].map.byte_offset(r, 0), bytes, std::size_t(out.cols));
        num::copy_window(out.data, {out.map, r, 0}, line, {num::window_map(out.cols, 1, out.map.bits), 0, 0}, 1,
                         out.cols);
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- broadcasts

int dim_of(const Call& c) { return c.site.row->fixed_dim >= 0 ? c.site.row->fixed_dim : int(c.number(Key::dim, 0)); }

TileView vector_view(const Call& c, int operand, std::int64_t rows, std::int64_t cols) {
    return dim_of(c) == 0 ? over(c.view(operand), rows, 1) : over(c.view(operand), 1, cols);
}
void access_expand(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const int count = c.site.input_count;
    for (int i = 0; i < count; ++i) {
        const int at = c.site.inputs[std::size_t(i)];
        const TileView v =
            i == count - 1 ? vector_view(c, at, out.rows, out.cols) : over(c.view(at), out.rows, out.cols);
        add_tile(list, v, at, false, v.footprint());
    }
    add_tile(list, out, 0, true, out.footprint());
}
void run_expand(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    const int last = c.site.inputs[std::size_t(c.site.input_count - 1)];
    const TileView vec = vector_view(c, last, out.rows, out.cols);
    same_type(c, out, vec, last);
    c.require_known(vec, last, "the broadcast");
    const bool columns = dim_of(c) == 1;
    const TileView values = copied(c, vec, 3);
    const int bytes = isa::bytes(out.dtype);
    if (c.site.input_count == 1) {
        for (std::int64_t r = 0; r < out.rows; ++r)
            for (std::int64_t j = 0; j < out.cols; ++j)
                std::memcpy(out.data + out.map.byte_offset(r, j), values.data + (columns ? j : r) * bytes,
                            std::size_t(bytes));
    } else {
        const int at = c.site.inputs[0];
        const TileView src = over(c.view(at), out.rows, out.cols);
        same_type(c, out, src, at);
        c.require_known(src, at, "the broadcast");
        const num::BinaryKernel kernel = num::binary_kernel(c.site.lane, out.dtype);
        if (!kernel) no_lane(c, out.dtype);
        const TileView a = out.data == src.data && out.map == src.map ? src : copied(c, src, 1);
        std::byte* line = c.scratch.room(0, 2 * out.cols * 8);
        std::byte* result = line + out.cols * 8;
        const num::TileMap flat = num::window_map(out.cols, 1, out.map.bits);
        const bool direct = out.map.col_near == 1 && out.map.col_block == num::TileMap::unblocked;
        for (std::int64_t r = 0; r < out.rows; ++r) {
            const std::byte* x = a.data + a.map.byte_offset(r, 0);
            std::byte* y = result;
            if (direct) y = out.data + out.map.byte_offset(r, 0);
            if (!direct || a.map.col_near != 1 || a.map.col_block != num::TileMap::unblocked) {
                num::copy_window(line, {flat, 0, 0}, a.data, {a.map, r, 0}, 1, out.cols);
                x = line;
            }
            if (columns)
                kernel(y, x, values.data, std::size_t(out.cols));
            else
                num::apply_scalar(kernel, out.dtype, y, x, values.data + r * bytes, std::size_t(out.cols));
            if (!direct) num::copy_window(out.data, {out.map, r, 0}, result, {flat, 0, 0}, 1, out.cols);
        }
    }
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// ---------------------------------------------------------------- partial operands

void access_part(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    for (int i = 1; i <= 2; ++i) add_tile(c, list, i, false);
    add_tile(list, out, 0, true, out.footprint());
}
void run_part(Call& c) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    TileView a = c.view(1), b = c.view(2);
    same_type(c, out, a, 1);
    same_type(c, out, b, 2);
    c.require_known(a, 1, "arithmetic");
    c.require_known(b, 2, "arithmetic");
    a = copied(c, a, 1);
    b = copied(c, b, 2);
    const num::BinaryKernel kernel = num::binary_kernel(c.site.lane, out.dtype);
    if (!kernel) no_lane(c, out.dtype);
    const int bytes = isa::bytes(out.dtype);
    std::byte* line = c.scratch.room(0, out.cols * bytes);
    for (std::int64_t r = 0; r < out.rows; ++r) {
        const std::int64_t na = r < a.rows ? std::min(a.cols, out.cols) : 0,
                           nb = r < b.rows ? std::min(b.cols, out.cols) : 0;
        const std::int64_t both = std::min(na, nb), either = std::max(na, nb);
        const std::byte* x = a.data + a.map.byte_offset(r, 0);
        const std::byte* y = b.data + b.map.byte_offset(r, 0);
        if (both) kernel(line, x, y, std::size_t(both));
        if (either > both)
            std::memcpy(line + both * bytes, (na > nb ? x : y) + both * bytes, std::size_t((either - both) * bytes));
        if (either)
            num::copy_window(out.data, {out.map, r, 0}, line, {num::window_map(out.cols, 1, out.map.bits), 0, 0}, 1,
                             either);
        if (either) Call::mark_known(out, out.footprint(r, 0, 1, either));
    }
    note_work(c, out);
}

} // namespace

const Meaning elementwise_meaning{access_elementwise, run_elementwise};
const Meaning clobbering_meaning{access_elementwise, run_clobbering};
const Meaning axpy_meaning{access_elementwise, run_axpy};
const Meaning fill_meaning{access_out, run_fill};
const Meaning fill_index_meaning{access_out, run_fill_index};
const Meaning compare_meaning{access_compare, run_compare};
const Meaning select_meaning{access_select, run_select};
const Meaning expand_meaning{access_expand, run_expand};
const Meaning part_meaning{access_part, run_part};

} // namespace pto::execute
