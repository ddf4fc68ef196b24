#include "tests/unit/check/helper.hpp"

using namespace pto;
using namespace pto::check;

namespace {

struct Cube {
    FunctionBuilder b{isa::Core::cube};
    ir::TileVarId left, right, acc;
    Cube(isa::TileType l = tile_type(64, 64, M::left, D::fp16), isa::TileType r = tile_type(64, 64, M::right, D::fp16), isa::TileType a = tile_type(64, 64, M::acc)) {
        left = b.slot(b.group("left", l, {0}));
        right = b.slot(b.group("right", r, {0}));
        acc = b.slot(b.group("acc", a, {0}));
    }
};
ir::AttributeValue phase(isa::AccPhase p) { return isa::enum_value(p); }
ir::AttributeValue phase(isa::StPhase p) { return isa::enum_value(p); }

} // namespace

TEST_CASE("the tiles of a matmul agree", "[check]") {
    Cube good;
    good.b.op("matmul", {good.acc, good.left, good.right});
    CHECK(findings(good.b).empty());
    Cube k(tile_type(64, 32, M::left, D::fp16));
    k.b.op("matmul", {k.acc, k.left, k.right});
    CHECK(only(findings(k.b), Code::matmul_shape, "`left` has 32 columns, `right` has 64 rows; K is one number"));
    Cube small(tile_type(64, 64, M::left, D::fp16), tile_type(64, 64, M::right, D::fp16), tile_type(32, 64, M::acc));
    small.b.op("matmul", {small.acc, small.left, small.right});
    CHECK(only(findings(small.b), Code::matmul_shape, "`acc` is 32x64; the product of `left` and `right` is 64x64"));
    Cube types(tile_type(64, 64, M::left, D::fp16), tile_type(64, 64, M::right, D::bf16));
    types.b.op("matmul", {types.acc, types.left, types.right});
    CHECK(only(findings(types.b), Code::type_mismatch, "`left` has dtype DT_FP16, `right` has DT_BF16"));
    Cube int8(tile_type(64, 64, M::left, D::int8), tile_type(64, 64, M::right, D::int8));
    int8.b.op("matmul", {int8.acc, int8.left, int8.right});
    CHECK(only(findings(int8.b), Code::type_mismatch, "products of DT_INT8 accumulate in DT_INT32"));
    Cube fp8(tile_type(64, 64, M::left, D::fp8e4m3), tile_type(64, 64, M::right, D::fp8e5m2));
    fp8.b.op("matmul", {fp8.acc, fp8.left, fp8.right});
    CHECK(findings(fp8.b).empty());
    for (D type : {D::fp32, D::fp16}) {
        Cube biased;
        const auto bias = biased.b.slot(biased.b.group("bias", tile_type(1, 64, M::bias, type), {0}));
        biased.b.op("matmul", {biased.acc, biased.left, biased.right, bias});
        const auto list = findings(biased.b);
        const bool refused = std::any_of(list.begin(), list.end(), [](const Diagnostic& d) { return d.severity == Severity::error && d.code == Code::type_mismatch; });
        CHECK(refused == (type == D::fp16)); // the bias table holds 32-bit words only
    }
}

TEST_CASE("an accumulator is started before anything is added", "[check]") {
    Cube never;
    never.b.op("matmul_acc", {never.acc, never.acc, never.left, never.right});
    CHECK(only(findings(never.b), Code::accumulator_unwritten, "`acc` is added to, but no matmul ever starts its sum"));
    Cube both;
    auto k = both.b.var("k");
    both.b.loop(k, both.b.num(4), [&] {
        both.b.when(both.b.binary(ir::ExprOp::eq, both.b.get(k), both.b.num(0)), [&] { both.b.op("matmul", {both.acc, both.left, both.right}); },
                    [&] { both.b.op("matmul_acc", {both.acc, both.acc, both.left, both.right}); });
    });
    CHECK(findings(both.b).empty());
    // Another tile on the same bytes may have started it.
    Cube alias;
    auto other = alias.b.slot(alias.b.group("other", tile_type(64, 64, M::acc), {0}));
    alias.b.op("matmul", {other, alias.left, alias.right});
    alias.b.op("matmul_acc", {alias.acc, alias.acc, alias.left, alias.right});
    CHECK(findings(alias.b).empty());
}

TEST_CASE("phases come in pairs", "[check]") {
    auto run = [](std::optional<isa::AccPhase> matmul, std::optional<isa::StPhase> store) {
        Cube c;
        auto x = c.b.tensor("x", {64, 64});
        FunctionBuilder::Keywords m, s;
        if (matmul) m.emplace_back("phase", phase(*matmul));
        if (store) s.emplace_back("phase", phase(*store));
        c.b.op("matmul", {c.acc, c.left, c.right}, m);
        c.b.op("store", {x, c.acc, ir::ExprList{c.b.num(0), c.b.num(0)}}, s);
        return findings(c.b);
    };
    CHECK(run({}, {}).empty());
    CHECK(run(isa::AccPhase::final, isa::StPhase::final).empty());
    CHECK(says(run(isa::AccPhase::partial, isa::StPhase::final), Code::phase_pairing, "waits for a final matmul into `acc`; there is none"));
    CHECK(says(run(isa::AccPhase::final, {}), Code::phase_pairing, "is read without phase="));
    CHECK(says(run({}, isa::StPhase::final), Code::phase_pairing, "while no matmul into it has one"));
}

TEST_CASE("MX matmul: shapes, types, K and the addresses of scales", "[check]") {
    auto run = [](std::int32_t k, std::int64_t left_address, std::int64_t scale_address, D type = D::fp8e4m3) {
        FunctionBuilder b(isa::Core::cube);
        isa::TileType sa = tile_type(32, k / 32, M::scale_left, D::fp8e8m0), sb = tile_type(k / 32, 64, M::scale_right, D::fp8e8m0);
        sa.layout = isa::Layout::zz;
        sa.fractal = sb.fractal = 32;
        sb.layout = isa::Layout::nn;
        auto l = b.slot(b.group("left", tile_type(32, k, M::left, type), {left_address})), r = b.slot(b.group("right", tile_type(k, 64, M::right, D::fp8e5m2), {0}));
        auto a = b.slot(b.group("scale_a", sa, {scale_address})), s = b.slot(b.group("scale_b", sb, {0}));
        auto acc = b.slot(b.group("acc", tile_type(32, 64, M::acc), {0}));
        b.op("matmul_mx", {acc, l, r, a, s});
        return findings(b);
    };
    CHECK(run(128, 0x800, 0x80).empty());
    Diagnostics address = run(128, 0x800, 0x100);
    INFO(all(address));
    CHECK(only(address, Code::mx_rule, "`scale_a` lies at 0x100; the hardware reads the scales of `left` (0x800) at 0x80"));
    CHECK(address[0].severity == Severity::error);
    CHECK(says(run(96, 0, 0), Code::mx_rule, "K is 96, not a multiple of 64"));
    CHECK(says(run(128, 0, 0, D::fp4e2m1), Code::mx_rule, "MX takes two FP8 or two FP4 operands"));
}
