/// Vector work on whole tiles. Source: language 3.5 to 3.9, hidden names 3.11; codegen 2.3.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;
namespace {

constexpr std::uint32_t arithmetic = i8_to_64 | f16_b16_32;
constexpr std::uint32_t wide = i16_to_64 | f16_b16_32;
constexpr std::uint32_t packed_mask = bit_set({D::uint8});

Operand right(std::uint32_t types, std::string_view name = "rhs") { return {name, K::tile_or_scalar, Role::read, false, vec, types}; }

OpRow v(std::string_view name, std::vector<Operand> operands, Semantics semantics, LaneFn lane, ShapeRule shape, std::string_view timing,
        std::string_view emit, std::string_view doc, std::string_view source) {
    OpRow r;
    r.name = name;
    r.family = "vector";
    r.operands = std::move(operands);
    r.pipe = PipeRule::v;
    r.semantics = semantics;
    r.lane = lane;
    r.shape = shape;
    r.timing = timing;
    r.emit = emit;
    r.doc = doc;
    r.source = source;
    return r;
}

OpRow with(OpRow r, std::vector<Keyword> keywords) {
    r.keywords = std::move(keywords);
    return r;
}
OpRow hidden(OpRow r, std::string_view instead) {
    r.hidden_for = instead;
    return r;
}
OpRow fixed(OpRow r, int dim) {
    r.fixed_dim = dim;
    return r;
}
OpRow form(OpRow r, Form f) {
    r.form = f;
    return r;
}

constexpr std::string_view arithmetic_source = "language 3.5; codegen 2.3";
constexpr std::string_view hidden_source = "language 3.11; codegen 2.3";

void add_elementwise(Catalogue& c) {
    auto binary = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(types), in("lhs", types), right(types)}, Semantics::elementwise, lane, ShapeRule::same, timing, emit, doc, arithmetic_source));
    };
    binary("add", LaneFn::add, arithmetic, "vector.add", "TADD({0}, {1}, {2})|TADDS({0}, {1}, {2})", "out = lhs + rhs; rhs is a tile or a scalar. Integers wrap.");
    binary("sub", LaneFn::sub, arithmetic, "vector.add", "TSUB({0}, {1}, {2})|TSUBS({0}, {1}, {2})", "out = lhs - rhs; rhs is a tile or a scalar.");
    binary("mul", LaneFn::mul, wide, "vector.add", "TMUL({0}, {1}, {2})|TMULS({0}, {1}, {2})", "out = lhs * rhs; rhs is a tile or a scalar.");
    binary("div", LaneFn::div, wide & ~bit_set({D::bf16}), "vector.div", "TDIV({0}, {1}, {2})|TDIVS({0}, {1}, {2})",
           "out = lhs / rhs; integers truncate toward zero and must not be divided by zero.");
    binary("maximum", LaneFn::max, arithmetic, "vector.add", "TMAX({0}, {1}, {2})|TMAXS({0}, {1}, {2})",
           "out = the larger of lhs and rhs. With dim= it reduces instead: maximum(out, src, tmp, dim=0 or 1).");
    binary("minimum", LaneFn::min, arithmetic, "vector.add", "TMIN({0}, {1}, {2})|TMINS({0}, {1}, {2})",
           "out = the smaller of lhs and rhs. With dim= it reduces instead: minimum(out, src, tmp, dim=0 or 1).");
    binary("and_", LaneFn::bit_and, i8_16_32, "vector.add", "TAND({0}, {1}, {2})|TANDS({0}, {1}, {2})", "Bitwise and; rhs is a tile or a scalar.");
    auto shift = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(i8_to_64), in("lhs", i8_to_64), in("rhs", i8_to_64)}, Semantics::elementwise, lane, ShapeRule::same, "vector.add", emit, doc, arithmetic_source));
    };
    shift("shl", LaneFn::shl, "TSHL({0}, {1}, {2})", "Shifts lhs left by rhs bits, lane by lane; amounts lie between 0 and the width.");
    shift("shr", LaneFn::shr, "TSHR({0}, {1}, {2})", "Shifts lhs right by rhs bits: arithmetically for signed types, logically for unsigned ones.");
    c.add(v("xor", {out(i8_16_32), in("lhs", i8_16_32), in("rhs", i8_16_32), scratch()}, Semantics::elementwise, LaneFn::bit_xor, ShapeRule::same,
            "vector.add", "TXOR({0}, {1}, {2}, {3})", "Bitwise exclusive or; tmp is a tile of the same type that overlaps no operand.", arithmetic_source));

    auto unary = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(types), in("src", types)}, Semantics::elementwise, lane, ShapeRule::same, timing, emit, doc, arithmetic_source));
    };
    unary("neg", LaneFn::neg, wide, "vector.unary", "TNEG({0}, {1})", "out = -src; the smallest integer stays as it is.");
    unary("abs", LaneFn::abs, bit_set({D::int8, D::int16, D::int32}) | f16_32, "vector.unary", "TABS({0}, {1})",
          "out = |src|; the smallest integer stays as it is.");
    unary("relu", LaneFn::relu, f16_32 | bit_set({D::int32}), "vector.unary", "TRELU({0}, {1})", "out = max(src, 0).");
    unary("exp", LaneFn::exp, f16_32, "vector.special", "TEXP({0}, {1})", "out = e to the power src.");
    unary("log", LaneFn::log, f16_32, "vector.special", "TLOG({0}, {1})", "Natural logarithm.");
    unary("sqrt", LaneFn::sqrt, f16_32, "vector.special", "TSQRT({0}, {1})", "Square root.");
    unary("recip", LaneFn::recip, f16_32, "vector.recip", "TRECIP({0}, {1})", "out = 1 / src. On A3 out and src must differ.");
    unary("rsqrt", LaneFn::rsqrt, f16_32, "vector.rsqrt", "TRSQRT({0}, {1})", "out = 1 / sqrt(src).");

    c.add(v("expands", {out(arithmetic, "out", vec_mat), number("scalar")}, Semantics::fill, LaneFn::copy, ShapeRule::none, "vector.fill",
            "TEXPANDS({0}, {1})", "Fills the valid region with one value; an integer given for a float tile is converted.", arithmetic_source));
    c.add(v("fill_index", {out(i8_to_64 | f16_b16_32), number("start")}, Semantics::fill_index, LaneFn::none, ShapeRule::none, "vector.fill",
            "", "Writes start + column number into every row.", arithmetic_source));

    // Fused forms keep an intermediate in their first input: it is clobbered (language 9.1 #21).
    auto fused = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(types), in_out("lhs", types), in("rhs", types)}, Semantics::clobbering, lane, ShapeRule::same, "vector.fused2", emit, doc, arithmetic_source));
    };
    fused("add_relu", LaneFn::add_relu, f16_32 | bit_set({D::int32}), "TADD({1}, {1}, {2}); TRELU({0}, {1})",
          "out = relu(lhs + rhs). lhs is overwritten with lhs + rhs.");
    fused("sub_relu", LaneFn::sub_relu, f16_32, "TSUB({1}, {1}, {2}); TRELU({0}, {1})", "out = relu(lhs - rhs). lhs is overwritten with lhs - rhs.");
    auto fused_cast = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view doc) {
        c.add(with(v(name, {out(), in_out("lhs", types), in("rhs", types)}, Semantics::clobbering, lane, ShapeRule::same_shape, timing, emit, doc, arithmetic_source),
                   {key("target_type", KeywordKind::dtype, {}, true), choice("mode", EnumKind::RoundMode, "CAST_ROUND")}));
    };
    fused_cast("add_relu_cast", LaneFn::add_relu, f16_32, "vector.fused3", "TADD({1}, {1}, {2}); TRELU({1}, {1}); TCVT({0}, {1}, RoundMode::{mode})",
               "out = relu(lhs + rhs) converted to target_type, which must be out's dtype. lhs is overwritten.");
    fused_cast("sub_relu_cast", LaneFn::sub_relu, f16_32, "vector.fused3", "TSUB({1}, {1}, {2}); TRELU({1}, {1}); TCVT({0}, {1}, RoundMode::{mode})",
               "out = relu(lhs - rhs) converted to target_type, which must be out's dtype. lhs is overwritten.");
    fused_cast("mul_cast", LaneFn::mul, wide, "vector.fused2", "TMUL({1}, {1}, {2}); TCVT({0}, {1}, RoundMode::{mode})",
               "out = lhs * rhs converted to target_type, which must be out's dtype. lhs is overwritten with the product.");
    c.add(v("addc", {out(b16_b32), in("a", b16_b32), in("b", b16_b32), in("c", b16_b32)}, Semantics::elementwise, LaneFn::addc, ShapeRule::same,
            "vector.fused2", "TADDC({0}, {1}, {2}, {3})", "out = (a + b) + c.", arithmetic_source));
    auto accumulate = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view first, std::string_view second,
                          std::string_view emit, std::string_view doc) {
        c.add(v(name, {in_out("out", types), in_out(first, types), in(second, types)}, Semantics::clobbering, lane, ShapeRule::same, timing, emit, doc, arithmetic_source));
    };
    accumulate("mul_add_dst", LaneFn::mul_add_dst, wide, "vector.fused2", "lhs", "rhs", "TMUL({1}, {1}, {2}); TADD({0}, {1}, {0})",
               "out = out + lhs * rhs, the product rounded before the sum. lhs is overwritten with the product.");
    accumulate("fused_mul_add", LaneFn::fused_mul_add, b16_b32, "vector.fused2", "lhs", "rhs", "TMUL({1}, {1}, {0}); TADD({0}, {1}, {2})",
               "out = lhs * out + rhs with two roundings. lhs is overwritten with the product.");
    accumulate("fused_mul_add_relu", LaneFn::fused_mul_add_relu, b16_b32, "vector.fused3", "a", "b",
               "TMUL({1}, {1}, {0}); TADD({1}, {1}, {2}); TRELU({0}, {1})", "out = relu(out * a + b). a is overwritten.");
    c.add(v("axpy", {in_out("out", f16_32), in("src", f16_32), number("alpha")}, Semantics::axpy_like, LaneFn::axpy, ShapeRule::same_shape, "vector.add",
            "TAXPY({0}, {1}, {2})", "out = out + alpha * src; src may be FP16 while out is FP32.", arithmetic_source));

    auto part = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(types), in("src0", types), in("src1", types)}, Semantics::part, lane, ShapeRule::none, "vector.add", emit, doc, arithmetic_source));
    };
    part("partadd", LaneFn::add, arithmetic, "TPARTADD({0}, {1}, {2})", "Adds where both inputs are valid and copies the valid one elsewhere.");
    part("partmax", LaneFn::max, arithmetic, "TPARTMAX({0}, {1}, {2})", "Takes the larger where both inputs are valid and copies the valid one elsewhere.");
    part("partmin", LaneFn::min, arithmetic, "TPARTMIN({0}, {1}, {2})", "Takes the smaller where both inputs are valid and copies the valid one elsewhere.");
    part("partmul", LaneFn::mul, i8_16_32 | f16_b16_32, "TPARTMUL({0}, {1}, {2})", "Multiplies where both inputs are valid and copies the valid one elsewhere.");
}

void add_compare(Catalogue& c) {
    auto compare = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        c.add(v(name, {out(packed_mask), in("lhs", arithmetic), right(arithmetic)}, Semantics::compare, lane, ShapeRule::none, "vector.compare", emit, doc,
                "language 3.6; codegen 2.3"));
    };
    compare("eq", LaneFn::eq, "TCMP({0}, {1}, {2}, CmpMode::EQ)|TCMPS({0}, {1}, {2}, CmpMode::EQ)", "Bit-packed mask of lhs == rhs: bit j of a row is bit j % 8 of its byte j / 8.");
    compare("ne", LaneFn::ne, "TCMP({0}, {1}, {2}, CmpMode::NE)|TCMPS({0}, {1}, {2}, CmpMode::NE)", "Bit-packed mask of lhs != rhs.");
    compare("lt", LaneFn::lt, "TCMP({0}, {1}, {2}, CmpMode::LT)|TCMPS({0}, {1}, {2}, CmpMode::LT)", "Bit-packed mask of lhs < rhs.");
    compare("le", LaneFn::le, "TCMP({0}, {1}, {2}, CmpMode::LE)|TCMPS({0}, {1}, {2}, CmpMode::LE)", "Bit-packed mask of lhs <= rhs.");
    compare("gt", LaneFn::gt, "TCMP({0}, {1}, {2}, CmpMode::GT)|TCMPS({0}, {1}, {2}, CmpMode::GT)", "Bit-packed mask of lhs > rhs.");
    compare("ge", LaneFn::ge, "TCMP({0}, {1}, {2}, CmpMode::GE)|TCMPS({0}, {1}, {2}, CmpMode::GE)", "Bit-packed mask of lhs >= rhs.");
    c.add(v("select", {out(arithmetic), in("mask", packed_mask), in("lhs", arithmetic), right(arithmetic), scratch()}, Semantics::select, LaneFn::none,
            ShapeRule::none, "vector.select", "TSEL({0}, {1}, {2}, {3}, {4})|TSELS({0}, {1}, {2}, {4}, {3})",
            "Takes lhs where the packed mask has a one, else rhs (a tile or a scalar).", "language 3.6; codegen 2.3"));
}

void add_reductions(Catalogue& c) {
    constexpr std::string_view source = "language 3.7; codegen 2.3";
    Keyword dim = key("dim", KeywordKind::integer, "0");
    Keyword required_dim = key("dim", KeywordKind::integer, {}, true);
    auto reduce = [&](std::string_view name, std::uint32_t types, LaneFn lane, std::string_view emit, std::string_view doc) {
        return v(name, {out(types), in("src", types), scratch()}, Semantics::reduce, lane, ShapeRule::row_reduce, "vector.reduce", emit, doc, source);
    };
    // Row sums exist for fewer types than column sums; the checker refines by dim (language 3.7).
    c.add(with(reduce("sum", arithmetic, LaneFn::sum, "TROWSUM({0}, {1}, {2})|TCOLSUM({0}, {1}, {2}, false)",
                      "Sums rows (dim=0, one value per row) or columns (dim=1, one value per column). tmp is required and untouched."), {dim}));
    c.add(form(with(reduce("maximum.reduce", arithmetic, LaneFn::max, "TROWMAX({0}, {1}, {2})|TCOLMAX({0}, {1})",
                           "Largest value of every row (dim=0) or column (dim=1)."), {required_dim}), {.of = "maximum", .keyword = "dim"}));
    c.add(form(with(reduce("minimum.reduce", arithmetic, LaneFn::min, "TROWMIN({0}, {1}, {2})|TCOLMIN({0}, {1})",
                           "Smallest value of every row (dim=0) or column (dim=1)."), {required_dim}), {.of = "minimum", .keyword = "dim"}));
    auto arg = [&](std::string_view name, LaneFn lane, std::string_view emit, std::string_view doc) {
        return v(name, {out(bit_set({D::int32, D::uint32})), in("src", i8_16_32 | f16_b16_32), scratch()}, Semantics::arg_reduce, lane, ShapeRule::row_reduce,
                 "vector.reduce", emit, doc, source);
    };
    c.add(with(arg("argmax", LaneFn::argmax, "TROWARGMAX({0}, {1}, {2})|TCOLARGMAX({0}, {1}, {2})", "Index of the first largest value per row (dim=0) or column (dim=1)."), {dim}));
    c.add(with(arg("argmin", LaneFn::argmin, "TROWARGMIN({0}, {1}, {2})|TCOLARGMIN({0}, {1}, {2})", "Index of the first smallest value per row (dim=0) or column (dim=1)."), {dim}));

    constexpr std::uint32_t expandable = i8_16_32 | f16_b16_32;
    auto expand = [&](std::string_view name, LaneFn lane, std::string_view timing, std::string_view emit, std::string_view doc, std::string_view from) {
        return v(name, {out(expandable), in("src", expandable), in("vec", expandable)}, Semantics::expand, lane, ShapeRule::expand, timing, emit, doc, from);
    };
    struct Names {
        std::string_view name, row, col;
        LaneFn lane;
        std::string_view timing, emit, row_emit, col_emit, doc;
        bool advertised;
    };
    constexpr Names names[] = {
        {"expand_max", "row_expand_max", "col_expand_max", LaneFn::max, "vector.expand", "TROWEXPANDMAX({0}, {1}, {2})|TCOLEXPANDMAX({0}, {1}, {2})",
         "TROWEXPANDMAX({0}, {1}, {2})", "TCOLEXPANDMAX({0}, {1}, {2})", "Larger of src and a column vector (dim=0) or row vector (dim=1).", true},
        {"expand_min", "row_expand_min", "col_expand_min", LaneFn::min, "vector.expand", "TROWEXPANDMIN({0}, {1}, {2})|TCOLEXPANDMIN({0}, {1}, {2})",
         "TROWEXPANDMIN({0}, {1}, {2})", "TCOLEXPANDMIN({0}, {1}, {2})", "Smaller of src and a column vector (dim=0) or row vector (dim=1).", true},
        {"expand_mul", "row_expand_mul", "col_expand_mul", LaneFn::mul, "vector.expand", "TROWEXPANDMUL({0}, {1}, {2})|TCOLEXPANDMUL({0}, {1}, {2})",
         "TROWEXPANDMUL({0}, {1}, {2})", "TCOLEXPANDMUL({0}, {1}, {2})", "src times a column vector (dim=0) or row vector (dim=1).", true},
        {"expand_sub", "row_expand_sub", "col_expand_sub", LaneFn::sub, "vector.expand", "TROWEXPANDSUB({0}, {1}, {2})|TCOLEXPANDSUB({0}, {1}, {2})",
         "TROWEXPANDSUB({0}, {1}, {2})", "TCOLEXPANDSUB({0}, {1}, {2})", "src minus a column vector (dim=0) or row vector (dim=1).", true},
        {"expand_div", "row_expand_div", "col_expand_div", LaneFn::div, "vector.expand_special", "TROWEXPANDDIV({0}, {1}, {2})|TCOLEXPANDDIV({0}, {1}, {2})",
         "TROWEXPANDDIV({0}, {1}, {2})", "TCOLEXPANDDIV({0}, {1}, {2})", "src divided by a column vector (dim=0) or row vector (dim=1).", true},
        {"", "row_expand_add", "col_expand_add", LaneFn::add, "vector.expand", "", "TROWEXPANDADD({0}, {1}, {2})", "TCOLEXPANDADD({0}, {1}, {2})",
         "src plus a column or row vector.", false},
        {"", "row_expand_expdif", "col_expand_expdif", LaneFn::exp_dif, "vector.expand_special", "", "TROWEXPANDEXPDIF({0}, {1}, {2})",
         "TCOLEXPANDEXPDIF({0}, {1}, {2})", "e to the power (src minus a column or row vector).", false},
    };
    for (const Names& n : names) {
        if (n.advertised) c.add(with(expand(n.name, n.lane, n.timing, n.emit, n.doc, source), {dim}));
        std::string_view instead = n.advertised ? n.name : std::string_view("expand_sub");
        c.add(hidden(fixed(expand(n.row, n.lane, n.timing, n.row_emit, n.doc, hidden_source), 0), instead));
        c.add(hidden(fixed(expand(n.col, n.lane, n.timing, n.col_emit, n.doc, hidden_source), 1), instead));
    }
    auto broadcast = [&](std::string_view name, int dim_of_name, std::string_view emit, std::string_view doc) {
        c.add(hidden(fixed(v(name, {out(expandable), in("vec", expandable)}, Semantics::expand, LaneFn::copy, ShapeRule::expand, "vector.expand", emit, doc,
                             hidden_source), dim_of_name), "expand_mul"));
    };
    broadcast("row_expand", 0, "TROWEXPAND({0}, {1})", "Repeats a column vector over all columns.");
    broadcast("col_expand", 1, "TCOLEXPAND({0}, {1})", "Repeats a row vector over all rows.");

    auto one_dim = [&](std::string_view name, LaneFn lane, int dim_of_name, std::string_view emit, std::string_view doc, std::string_view instead) {
        OpRow r = reduce(name, arithmetic, lane, emit, doc);
        r.operands.back().optional = true; // scratch that nothing touches; the older spelling is met without it
        r.operands.back().stand_in = 1;
        r.source = hidden_source;
        c.add(hidden(fixed(std::move(r), dim_of_name), instead));
    };
    one_dim("row_sum", LaneFn::sum, 0, "TROWSUM({0}, {1}, {2})", "Sum of every row: sum with dim=0.", "sum");
    one_dim("row_max", LaneFn::max, 0, "TROWMAX({0}, {1}, {2})", "Largest value of every row.", "maximum");
    one_dim("row_min", LaneFn::min, 0, "TROWMIN({0}, {1}, {2})", "Smallest value of every row.", "minimum");
    one_dim("row_prod", LaneFn::prod, 0, "TROWPROD({0}, {1}, {2})", "Product of every row.", "sum");
    one_dim("col_sum", LaneFn::sum, 1, "TCOLSUM({0}, {1}, {2}, false)", "Sum of every column: sum with dim=1.", "sum");
    one_dim("col_max", LaneFn::max, 1, "TCOLMAX({0}, {1})", "Largest value of every column.", "maximum");
    one_dim("col_min", LaneFn::min, 1, "TCOLMIN({0}, {1})", "Smallest value of every column.", "minimum");
    one_dim("col_prod", LaneFn::prod, 1, "TCOLPROD({0}, {1})", "Product of every column.", "sum");
    auto one_arg = [&](std::string_view name, LaneFn lane, int dim_of_name, std::string_view emit, std::string_view doc, std::string_view instead) {
        OpRow r = arg(name, lane, emit, doc);
        r.source = hidden_source;
        c.add(hidden(fixed(std::move(r), dim_of_name), instead));
    };
    one_arg("row_argmax", LaneFn::argmax, 0, "TROWARGMAX({0}, {1}, {2})", "Column of the first largest value of every row.", "argmax");
    one_arg("row_argmin", LaneFn::argmin, 0, "TROWARGMIN({0}, {1}, {2})", "Column of the first smallest value of every row.", "argmin");
    one_arg("col_argmax", LaneFn::argmax, 1, "TCOLARGMAX({0}, {1}, {2})", "Row of the first largest value of every column.", "argmax");
    one_arg("col_argmin", LaneFn::argmin, 1, "TCOLARGMIN({0}, {1}, {2})", "Row of the first smallest value of every column.", "argmin");
}

void add_conversion(Catalogue& c) {
    c.add(with(v("cast", {out(), in("src")}, Semantics::cast, LaneFn::none, ShapeRule::same_shape, "vector.cast", "TCVT({0}, {1}, RoundMode::{mode})",
                 "Converts to out's dtype; rounds ties away from zero unless mode says otherwise, and saturates except in the pairs that wrap.",
                 "language 3.8; codegen 2.3"),
               {choice("mode", EnumKind::RoundMode, "CAST_ROUND")}));
    c.add(with(v("quant", {out(bit_set({D::int8, D::uint8})), in("src", fp32_only), in("scale", fp32_only)}, Semantics::quant, LaneFn::none, ShapeRule::same_shape,
                 "vector.fused3", "", "Quantises FP32 rows by a scale per row: SYM to INT8, ASYM (with offset) to UINT8.", "language 3.8; codegen 2.3"),
               {choice("mode", EnumKind::QuantMode, "SYM"), key("offset", KeywordKind::scale)}));
    c.add(v("dequant", {out(fp32_only), in("src", bit_set({D::int8, D::int16})), in("scale", fp32_only), in("offset", fp32_only)}, Semantics::dequant,
            LaneFn::none, ShapeRule::same_shape, "vector.fused3", "TDEQUANT({0}, {1}, {2}, {3})", "out = (src - offset) * scale with a scale and offset per row.",
            "language 3.8; codegen 2.3"));
    c.add(with(v("fillpad", {out(any_set, "out", vec_mat), in("src", any_set, vec_mat)}, Semantics::fillpad, LaneFn::none, ShapeRule::none, "vector.copy", "",
                 "Copies the valid region and fills what lies beyond it with out's pad value. EXPAND allows a larger out, INPLACE works on one tile.",
                 "language 3.8; codegen 2.1"),
               {choice("mode", EnumKind::FillPadMode, "NORMAL")}));
    c.add(v("transpose", {out(i8_16_32 | f16_b16_32), in("src", i8_16_32 | f16_b16_32)}, Semantics::transpose, LaneFn::none, ShapeRule::transpose,
            "vector.transpose", "TTRANS({0}, {1}, {1})", "out(j, i) = src(i, j); out and src must differ.", "language 3.8; codegen 2.1"));
}

void add_permutation(Catalogue& c) {
    constexpr std::string_view source = "language 3.9; codegen 2.3";
    std::vector<Keyword> compare_keywords{key("cmp_mode", KeywordKind::scalar, "0"), key("offset", KeywordKind::scalar, "0")};
    c.add(with(v("gather", {out(arithmetic), in("src", arithmetic), in("idx", indices), scratch()}, Semantics::gather, LaneFn::none, ShapeRule::none,
                 "vector.gather", "TGATHER({0}, {1}, {2}, {3})",
                 "out(i, j) = element idx(i, j) of src counted row by row. With five tiles it selects by comparison instead.", source),
               compare_keywords));
    c.add(form(with(v("gather.compare",
                      {out(bit_set({D::int32, D::uint32, D::int16, D::uint16})), in("src", arithmetic), in("kvalue", arithmetic), out(any_set, "cdst"), scratch()},
                      Semantics::gather_compare, LaneFn::none, ShapeRule::none, "vector.gather", "",
                      "Appends offset + column of every element of a row that compares with kvalue; cdst receives the bytes written per row.", source),
                    compare_keywords),
               {.of = "gather", .positional = 5}));
    c.add(v("gatherb", {out(), in("src"), in("offs", bit_set({D::uint32}))}, Semantics::gather_blocks, LaneFn::none, ShapeRule::none, "vector.gather_block",
            "TGATHERB({0}, {1}, {2})", "Collects 32-byte blocks of src at byte offsets.", source));
    c.add(with(v("gathermask", {out(), in("src")}, Semantics::gather_mask, LaneFn::none, ShapeRule::none, "vector.gather_mask", "",
                 "Keeps a pattern of columns: 1 even, 2 odd, 3 to 6 every fourth from 0 to 3, 7 all.", source),
               {key("pattern_mode", KeywordKind::integer, {}, true)}));
    c.add(v("scatter", {out(), in("src"), in("idx", indices)}, Semantics::scatter, LaneFn::none, ShapeRule::none, "vector.gather",
            "TSCATTER({0}, {1}, {2})", "Element idx(i, j) of out, counted row by row, becomes src(i, j); equal indices leave one of the values.", source));
    c.add(v("sort32", {out(f16_32, "dst"), in("src", f16_32), in("idx", bit_set({D::uint32})), scratch("tmp", true)}, Semantics::sort32, LaneFn::none,
            ShapeRule::none, "vector.sort", "TSORT32({0}, {1}, {2}, {3})",
            "Sorts every group of 32 values in falling order into records of value and index; tmp is needed for a ragged last group.", source));
    c.add(with(v("mrgsort", {out(f16_32, "dst"), in("src", f16_32)}, Semantics::merge_sort, LaneFn::none, ShapeRule::none, "vector.merge_sort",
                 "TMRGSORT({0}, {1}, {block_len})", "Merges every four sorted blocks of records in a row into one.", source),
               {key("block_len", KeywordKind::scalar, {}, true)}));
    Operand src2 = in("src2", f16_32), src3 = in("src3", f16_32);
    src2.optional = src3.optional = true;
    c.add(with(v("mrgsort2", {in("src0", f16_32), in("src1", f16_32), out(f16_32, "dst"), scratch(), src2, src3}, Semantics::merge_sort_lists, LaneFn::none,
                 ShapeRule::none, "vector.merge_sort", "",
                 "Merges two to four sorted rows of records. The order of arguments is the documented one; the device code reads the positions differently.",
                 "language 3.9, 9.1 #6"),
               {key("exhausted", KeywordKind::boolean, "False")}));
    c.add(with(v("histogram", {out(bit_set({D::uint32}), "dst"), in("src", bit_set({D::uint16, D::uint32})), in("idx", bit_set({D::uint8}))}, Semantics::histogram,
                 LaneFn::none, ShapeRule::none, "vector.histogram", "",
                 "Cumulative histogram of one byte of the elements of each row, optionally filtered by the bytes above it.", "language 3.9, 9.1 #31"),
               {key("is_msb", KeywordKind::boolean, {}, true)}));
}

void add_hidden(Catalogue& c) {
    auto scalar_form = [&](std::string_view name, LaneFn lane, std::uint32_t types, std::string_view timing, std::string_view emit, std::string_view instead) {
        c.add(hidden(v(name, {out(types), in("lhs", types), number("scalar")}, Semantics::elementwise, lane, ShapeRule::same, timing, emit,
                       "Tile with scalar, in the spelling of the intermediate form.", hidden_source), instead));
    };
    scalar_form("adds", LaneFn::add, arithmetic, "vector.add_scalar", "TADDS({0}, {1}, {2})", "add");
    scalar_form("subs", LaneFn::sub, arithmetic, "vector.add_scalar", "TSUBS({0}, {1}, {2})", "sub");
    scalar_form("muls", LaneFn::mul, wide, "vector.add_scalar", "TMULS({0}, {1}, {2})", "mul");
    scalar_form("divs", LaneFn::div, wide, "vector.div_scalar", "TDIVS({0}, {1}, {2})", "div");
    scalar_form("rems", LaneFn::rem, wide, "vector.div_scalar", "TFMODS({0}, {1}, {2})", "div");
    scalar_form("ands", LaneFn::bit_and, i8_16_32, "vector.add_scalar", "TANDS({0}, {1}, {2})", "and_");
    scalar_form("ors", LaneFn::bit_or, i8_16_32, "vector.add_scalar", "TORS({0}, {1}, {2})", "and_");
    scalar_form("shls", LaneFn::shl, i8_to_64, "vector.add_scalar", "TSHLS({0}, {1}, {2})", "shl");
    scalar_form("shrs", LaneFn::shr, i8_to_64, "vector.add_scalar", "TSHRS({0}, {1}, {2})", "shr");
    scalar_form("maxs", LaneFn::max, arithmetic, "vector.add_scalar", "TMAXS({0}, {1}, {2})", "maximum");
    scalar_form("mins", LaneFn::min, arithmetic, "vector.add_scalar", "TMINS({0}, {1}, {2})", "minimum");
    c.add(hidden(v("xors", {out(i8_16_32), in("lhs", i8_16_32), number("scalar"), scratch()}, Semantics::elementwise, LaneFn::bit_xor, ShapeRule::same, "vector.add_scalar",
                   "TXORS({0}, {1}, {2}, {3})", "Bitwise exclusive or with a scalar.", hidden_source), "xor"));
    c.add(hidden(v("rem", {out(wide), in("lhs", wide), in("rhs", wide)}, Semantics::elementwise, LaneFn::rem, ShapeRule::same, "vector.div",
                   "TFMOD({0}, {1}, {2})", "Remainder of lhs by rhs.", hidden_source), "div"));
    c.add(hidden(v("or", {out(i8_16_32), in("lhs", i8_16_32), in("rhs", i8_16_32)}, Semantics::elementwise, LaneFn::bit_or, ShapeRule::same, "vector.add",
                   "TOR({0}, {1}, {2})", "Bitwise or of two tiles.", hidden_source), "and_"));
    c.add(hidden(v("not", {out(i8_16_32), in("src", i8_16_32)}, Semantics::elementwise, LaneFn::bit_not, ShapeRule::same, "vector.unary", "TNOT({0}, {1})",
                   "Bitwise complement.", hidden_source), "and_"));
    c.add(hidden(v("subc", {out(b16_b32), in("a", b16_b32), in("b", b16_b32), in("c", b16_b32)}, Semantics::elementwise, LaneFn::subc, ShapeRule::same,
                   "vector.fused2", "TSUBC({0}, {1}, {2}, {3})", "out = (a - b) + c.", hidden_source), "addc"));
    c.add(hidden(v("addsc", {out(b16_b32), in("a", b16_b32), number("x"), in("c", b16_b32)}, Semantics::elementwise, LaneFn::addc, ShapeRule::same,
                   "vector.fused2", "TADDSC({0}, {1}, {2}, {3})", "out = (a + x) + c.", hidden_source), "addc"));
    c.add(hidden(v("subsc", {out(b16_b32), in("a", b16_b32), number("x"), in("c", b16_b32)}, Semantics::elementwise, LaneFn::subc, ShapeRule::same,
                   "vector.fused2", "TSUBSC({0}, {1}, {2}, {3})", "out = (a - x) + c.", hidden_source), "addc"));
    c.add(hidden(v("full", {out(arithmetic, "out", vec_mat), number("scalar")}, Semantics::fill, LaneFn::copy, ShapeRule::none, "vector.fill",
                   "TEXPANDS({0}, {1})", "Fills the valid region: expands.", hidden_source), "expands"));
    // Generic spellings whose operation is a keyword: emitted by the frontends of old kernels only, not simulated.
    auto generic = [&](std::string_view name, std::vector<Operand> operands, Keyword keyword, std::string_view emit, std::string_view doc, std::string_view instead) {
        c.add(hidden(with(v(name, std::move(operands), Semantics::none, LaneFn::none, ShapeRule::none, "vector.add", emit, doc, hidden_source), {keyword}), instead));
    };
    Keyword op_type = key("op_type", KeywordKind::scalar, {}, true);
    generic("cmp", {out(packed_mask), in("lhs"), in("rhs")}, key("cmp_type", KeywordKind::scalar, "0"), "TCMP({0}, {1}, {2}, CmpMode::{cmp_type})", "Compare with the relation as a keyword. Not simulated.", "eq");
    generic("cmps", {out(packed_mask), in("lhs"), number("scalar")}, key("cmp_type", KeywordKind::scalar, "0"), "TCMPS({0}, {1}, {2}, CmpMode::{cmp_type})", "Compare with a scalar. Not simulated.", "eq");
    generic("row_reduce", {out(), in("src"), scratch()}, op_type, "", "Reduction with the operation as a keyword. Not simulated.", "sum");
    generic("col_reduce", {out(), in("src"), scratch()}, op_type, "", "Reduction with the operation as a keyword. Not simulated.", "sum");
    generic("row_expand_binop", {out(), in("src"), in("vec")}, op_type, "", "Broadcast with the operation as a keyword. Not simulated.", "expand_sub");
    generic("col_expand_binop", {out(), in("src"), in("vec")}, op_type, "", "Broadcast with the operation as a keyword. Not simulated.", "expand_sub");
    c.add(hidden(v("sel", {out(arithmetic), in("mask", packed_mask), in("lhs", arithmetic), in("rhs", arithmetic), scratch()}, Semantics::select, LaneFn::none,
                   ShapeRule::none, "vector.select", "TSEL({0}, {1}, {2}, {3}, {4})", "Select between two tiles.", hidden_source), "select"));
    c.add(hidden(v("sels", {out(arithmetic), in("mask", packed_mask), in("lhs", arithmetic), number("scalar"), scratch()}, Semantics::select, LaneFn::none,
                   ShapeRule::none, "vector.select", "TSELS({0}, {1}, {2}, {4}, {3})", "Select between a tile and a scalar.", hidden_source), "select"));
}

} // namespace

void add_vector(Catalogue& c) {
    add_elementwise(c);
    add_compare(c);
    add_reductions(c);
    add_conversion(c);
    add_permutation(c);
    add_hidden(c);
    c.add([] {
        OpRow r = v("simt.launch", {{"f", K::value, Role::none}}, Semantics::simt_launch, LaneFn::none, ShapeRule::none, "vector.simt", "",
                    "Runs a SIMT function once per thread, asynchronously on V: threads= one to three counts, args= a tuple.", "language 5.8; codegen 1.10");
        r.keywords = {key("threads", KeywordKind::scalar_or_list, {}, true), key("args", KeywordKind::scalar_or_list, {}, true)};
        return r;
    }());
}

} // namespace pto::isa
