/// Matrix products. Source: language 3.4.
#include "engine/execute/families.hpp"

namespace pto::execute {
namespace {

/// Operand places by semantics: dst, [acc], lhs, rhs, [scale_a, scale_b | bias].
struct Places {
    int dst = 0, acc = -1, lhs = 1, rhs = 2, scale_lhs = -1, scale_rhs = -1, bias = -1;
};
Places places_of(const Call& c) {
    switch (c.site.semantics) {
    case isa::Semantics::matmul_acc: return {0, 1, 2, 3, -1, -1, -1};
    case isa::Semantics::matmul_mx: return {0, -1, 1, 2, 3, 4, -1};
    case isa::Semantics::matmul_mx_acc: return {0, 1, 2, 3, 4, 5, -1};
    default: return {0, -1, 1, 2, -1, -1, c.is_tile(3) ? 3 : -1};
    }
}
struct Sizes {
    std::int64_t m, n, k;
};
Sizes sizes_of(const Call& c, const Places& p) {
    return {c.tile(p.lhs).valid_rows, c.tile(p.rhs).valid_cols, c.tile(p.lhs).valid_cols};
}

/// The accumulator over the product's own rows and columns; a compact one is strided by them.
TileView accumulator(const Call& c, int operand, const Sizes& s) {
    TileView v = c.view(operand);
    v.rows = s.m;
    v.cols = s.n;
    v.map = map_of(*v.value->type, {std::int32_t(s.m), std::int32_t(s.n)});
    return v;
}

void access(const Call& c, AccessList& list) {
    const Places p = places_of(c);
    const Sizes s = sizes_of(c, p);
    if (s.m <= 0 || s.n <= 0 || s.k <= 0)
        c.refuse("empty product: M " + std::to_string(s.m) + ", N " + std::to_string(s.n) + ", K " +
                 std::to_string(s.k));
    if (c.tile(p.rhs).valid_rows != s.k)
        c.warn(HazardKind::contract, p.rhs,
               "the left tile has K = " + std::to_string(s.k) + " valid columns, the right tile " +
                   std::to_string(c.tile(p.rhs).valid_rows) + " valid rows; K follows the left tile",
               "set both valid shapes to the same K");
    const TileView dst = accumulator(c, p.dst, s), lhs = c.view(p.lhs), rhs = c.view(p.rhs);
    add_tile(list, lhs, p.lhs, false, lhs.footprint(0, 0, s.m, s.k));
    add_tile(list, rhs, p.rhs, false, rhs.footprint(0, 0, s.k, s.n));
    if (p.scale_lhs >= 0) {
        add_tile(list, c.view(p.scale_lhs), p.scale_lhs, false, c.view(p.scale_lhs).footprint(0, 0, s.m, s.k / 32));
        add_tile(list, c.view(p.scale_rhs), p.scale_rhs, false, c.view(p.scale_rhs).footprint(0, 0, s.k / 32, s.n));
    }
    if (p.bias >= 0) add_tile(list, c.view(p.bias), p.bias, false, c.view(p.bias).footprint(0, 0, 1, s.n));
    if (p.acc >= 0) add_tile(list, accumulator(c, p.acc, s), p.acc, false, accumulator(c, p.acc, s).footprint());
    add_tile(list, dst, p.dst, true, dst.footprint());
}

void run(Call& c) {
    const Places p = places_of(c);
    const Sizes s = sizes_of(c, p);
    const TileView dst = accumulator(c, p.dst, s), lhs = c.view(p.lhs), rhs = c.view(p.rhs);
    c.require_known(lhs, lhs.footprint(0, 0, s.m, s.k), p.lhs, "the product");
    c.require_known(rhs, rhs.footprint(0, 0, s.k, s.n), p.rhs, "the product");
    num::MatmulAddend addend;
    if (p.acc >= 0) {
        const TileView acc = accumulator(c, p.acc, s);
        c.require_known(acc, p.acc, "the accumulation");
        addend = {acc.data, acc.map};
    } else if (p.bias >= 0) {
        const TileView bias = c.view(p.bias);
        c.require_known(bias, bias.footprint(0, 0, 1, s.n), p.bias, "the biased product");
        addend = {bias.data, bias.map};
        addend.map.row_block = num::TileMap::unblocked;
        addend.map.row_near = addend.map.row_far = 0;
    }
    bool known_types;
    if (p.scale_lhs >= 0) {
        if (s.k % 64) c.refuse("K is " + std::to_string(s.k) + ", an MX product needs a multiple of 64");
        const TileView sa = c.view(p.scale_lhs), sb = c.view(p.scale_rhs);
        c.require_known(sa, sa.footprint(0, 0, s.m, s.k / 32), p.scale_lhs, "the MX product");
        c.require_known(sb, sb.footprint(0, 0, s.k / 32, s.n), p.scale_rhs, "the MX product");
        known_types = num::matmul_mx(c.scratch.matmul, dst.data, dst.map, {lhs.data, lhs.dtype, lhs.map},
                                     {rhs.data, rhs.dtype, rhs.map}, {sa.data, sa.dtype, sa.map},
                                     {sb.data, sb.dtype, sb.map}, s.m, s.n, s.k, addend);
    } else {
        known_types = num::matmul(c.scratch.matmul, dst.data, dst.map, {lhs.data, lhs.dtype, lhs.map},
                                  {rhs.data, rhs.dtype, rhs.map}, s.m, s.n, s.k, addend);
    }
    if (!known_types)
        c.refuse("the cube does not multiply " + std::string(isa::name(lhs.dtype)) + " by " +
                 std::string(isa::name(rhs.dtype)));
    Call::mark_known(dst, dst.footprint());
    if (c.row) {
        c.row->m = std::int32_t(s.m);
        c.row->n = std::int32_t(s.n);
        c.row->k = std::int32_t(s.k);
    }
}

} // namespace

const Meaning matmul_meaning{access, run};

} // namespace pto::execute
