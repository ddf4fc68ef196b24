/// The matrix unit. Source: language 3.4; codegen 2.2.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;
namespace {

constexpr std::uint32_t cube_in = bit_set({D::fp16, D::bf16, D::fp32, D::int8, D::fp8e4m3, D::fp8e5m2, D::hf8});
constexpr std::uint32_t cube_out = bit_set({D::fp32, D::int32});
constexpr std::uint32_t mx_in = bit_set({D::fp8e4m3, D::fp8e5m2, D::fp4e2m1, D::fp4e1m2});
constexpr std::uint32_t mx_scale = bit_set({D::fp8e8m0});

Operand acc_out() { return out(cube_out, "dst", bit_set({M::acc})); }
Operand acc_in() { return in_out("acc", cube_out, bit_set({M::acc})); }
Operand lhs(std::uint32_t types) { return in("lhs", types, bit_set({M::left})); }
Operand rhs(std::uint32_t types) { return in("rhs", types, bit_set({M::right})); }
Operand bias(bool optional) {
    Operand o = in("bias", fp32_only, bit_set({M::bias}));
    o.optional = optional;
    return o;
}
Operand scale_a() { return in("scale_a", mx_scale, bit_set({M::scale_left})); }
Operand scale_b() { return in("scale_b", mx_scale, bit_set({M::scale_right})); }
Keyword phase() { return choice("phase", EnumKind::AccPhase); }

} // namespace

void add_cube(Catalogue& c) {
    c.add({.name = "matmul", .family = "cube", .operands = {acc_out(), lhs(cube_in), rhs(cube_in), bias(true)}, .keywords = {phase()},
           .pipe = PipeRule::m, .semantics = Semantics::matmul, .shape = ShapeRule::matmul, .timing = "matmul", .emit = "TMATMUL({0}, {1}, {2})|TMATMUL_BIAS({0}, {1}, {2}, {3})",
           .doc = "dst = lhs * rhs, plus a bias row when a fourth tile is given; overwrites the accumulator. Sizes are the valid rows and columns "
                  "of lhs and rhs. `phase` hands the accumulator to the fixpipe through the unit flag instead of a lock.",
           .source = "language 3.4"});
    c.add({.name = "matmul_acc", .family = "cube", .operands = {acc_out(), acc_in(), lhs(cube_in), rhs(cube_in)}, .keywords = {phase()},
           .pipe = PipeRule::m, .semantics = Semantics::matmul_acc, .shape = ShapeRule::matmul, .timing = "matmul",
           .emit = "TMATMUL_ACC({0}, {1}, {2}, {3})",
           .doc = "dst = acc + lhs * rhs; normally dst and acc are one tile, which an earlier matmul has written.",
           .source = "language 3.4"});
    c.add({.name = "matmul_mx", .family = "cube", .operands = {acc_out(), lhs(mx_in), rhs(mx_in), scale_a(), scale_b()}, .keywords = {phase()},
           .pipe = PipeRule::m, .semantics = Semantics::matmul_mx, .shape = ShapeRule::matmul_mx, .timing = "matmul",
           .emit = "TMATMUL_MX_IMPL({0}, {1}, {3}, {2}, {4})",
           .doc = "Product of FP8 or FP4 operands whose groups of 32 along K carry E8M0 scales; K must be a multiple of 64 and each scale lies at its "
                  "data address divided by 16.",
           .source = "language 3.4"});
    c.add({.name = "matmul_mx_acc", .family = "cube", .operands = {acc_out(), acc_in(), lhs(mx_in), rhs(mx_in), scale_a(), scale_b()},
           .keywords = {phase()}, .pipe = PipeRule::m, .semantics = Semantics::matmul_mx_acc, .shape = ShapeRule::matmul_mx, .timing = "matmul",
           .emit = "TMATMUL_MX_IMPL({0}, {1}, {2}, {4}, {3}, {5})",
           .doc = "As matmul_mx, added to the accumulator.",
           .source = "language 3.4"});

    c.add({.name = "gemv", .family = "cube", .operands = {acc_out(), lhs(cube_in), rhs(cube_in)}, .keywords = {phase()}, .pipe = PipeRule::m,
           .semantics = Semantics::matmul, .shape = ShapeRule::matmul, .timing = "matmul", .emit = "TGEMV({0}, {1}, {2})",
           .doc = "Matmul with one row on the left.", .source = "language 3.11; codegen 2.2", .hidden_for = "matmul"});
    c.add({.name = "gemv_acc", .family = "cube", .operands = {acc_out(), acc_in(), lhs(cube_in), rhs(cube_in)}, .keywords = {phase()},
           .pipe = PipeRule::m, .semantics = Semantics::matmul_acc, .shape = ShapeRule::matmul, .timing = "matmul",
           .emit = "TGEMV_ACC({0}, {1}, {2}, {3})",
           .doc = "Accumulating matmul with one row on the left.", .source = "language 3.11; codegen 2.2", .hidden_for = "matmul_acc"});
    c.add({.name = "gemv_bias", .family = "cube", .operands = {acc_out(), lhs(cube_in), rhs(cube_in), bias(false)}, .keywords = {phase()},
           .pipe = PipeRule::m, .semantics = Semantics::matmul, .shape = ShapeRule::matmul, .timing = "matmul",
           .emit = "TGEMV_BIAS({0}, {1}, {2}, {3})",
           .doc = "Biased matmul with one row on the left.", .source = "language 3.11; codegen 2.2", .hidden_for = "matmul"});
}

} // namespace pto::isa
