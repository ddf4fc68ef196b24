#include "engine/program/sequencer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/ir_builder.hpp"

using namespace pto;
using namespace pto::testing;
using program::Sequencer;
using program::Step;
using M = isa::MemorySpace;
using E = ir::ExprOp;

namespace {

struct Run {
    program::Program program;
    std::unique_ptr<Sequencer> sequencer;
    explicit Run(FunctionBuilder& b, program::CoreSetup setup = {}) {
        ir::Kernel k;
        (b.f.core == isa::Core::cube ? k.cube : k.vector) = std::move(b.f);
        program = program::assemble(std::move(k), machine::Chip{});
        sequencer = std::make_unique<Sequencer>(program::prepare(program, program.cores.front()), setup);
    }
    Step next() { return sequencer->next(100000); }
    std::int64_t value(ir::VarId v) const { return sequencer->variable(v).integer; }
};

std::int64_t compute(E op, std::int64_t a, std::int64_t b, isa::DType t) {
    FunctionBuilder f(isa::Core::vector);
    const auto x = f.var("x", t), r = f.var("r", op >= E::eq && op <= E::ge ? isa::DType::boolean : t);
    f.assign(x, f.num(a, t)); // a run-time value: not folded into a launch constant
    f.assign(r, f.binary(op, f.get(x), f.num(b, t)));
    Run run(f);
    REQUIRE(run.next() == Step::finished);
    return run.value(r);
}

} // namespace

TEST_CASE("scalar arithmetic has C semantics and wraps to its type") {
    using D = isa::DType;
    CHECK(compute(E::floor_div, -7, 2, D::index) == -3);
    CHECK(compute(E::mod, -7, 2, D::index) == -1);
    CHECK(compute(E::floor_div, INT64_MIN, -1, D::index) == INT64_MIN);
    CHECK(compute(E::mod, INT64_MIN, -1, D::index) == 0);
    CHECK(compute(E::add, INT64_MAX, 1, D::index) == INT64_MIN);
    CHECK(compute(E::mul, INT64_MAX, 2, D::index) == -2);
    CHECK(compute(E::add, 127, 1, D::int8) == -128);
    CHECK(compute(E::sub, 0, 1, D::uint8) == 255);
    CHECK(compute(E::add, 2147483647, 1, D::int32) == -2147483648LL);
    CHECK(compute(E::sub, 0, 1, D::uint32) == 4294967295LL);
    CHECK(compute(E::floor_div, -1, 2, D::uint64) == INT64_MAX);
    CHECK(compute(E::lt, -1, 2, D::uint64) == 0);
    CHECK(compute(E::lt, -1, 2, D::int64) == 1);
    CHECK(compute(E::shr, -8, 1, D::int32) == -4);
    CHECK(compute(E::shr, -8, 1, D::uint32) == 0x7FFFFFFC);
    CHECK(compute(E::shl, 1, 64, D::index) == 0);
    CHECK(compute(E::min, -3, 4, D::index) == -3);
}

TEST_CASE("reals round to their type, integers mixed in become FP32") {
    FunctionBuilder b(isa::Core::vector);
    using D = isa::DType;
    const auto h = b.var("h", D::fp16), f = b.var("f", D::fp32), g = b.var("g", D::bf16), q = b.var("q", D::fp32), i = b.var("i"), t = b.var("t");
    b.assign(h, b.real(2048.0, D::fp16));
    b.assign(h, b.binary(E::add, b.get(h), b.real(1.0, D::fp16)));                    // a tie: to even
    b.assign(f, b.real(16777216.0));
    b.assign(f, b.binary(E::add, b.get(f), b.real(1.0)));
    b.assign(g, b.real(1.01171875, D::bf16));
    b.assign(i, b.num(7));
    b.assign(q, b.binary(E::div, b.get(i), b.num(2), D::fp32));
    b.assign(t, b.f.add({.op = E::cast, .dtype = D::index, .a = b.binary(E::mul, b.get(q), b.real(-1.0)), .at = {}}));
    Run run(b);
    REQUIRE(run.next() == Step::finished);
    CHECK(run.sequencer->variable(h).real == 2048.0);
    CHECK(run.sequencer->variable(f).real == 16777216.0);
    CHECK(run.sequencer->variable(g).real == 1.015625);
    CHECK(run.sequencer->variable(q).real == 3.5);
    CHECK(run.value(t) == -3);
}

TEST_CASE("cursors start at the last slot, valid shapes belong to slots, views have their own") {
    FunctionBuilder b(isa::Core::vector);
    const auto type = tile_type(16, 64, M::vec);
    const auto g = b.group("g", type, {0, 4096}, {4, 3});
    const auto x = b.tensor("x", {64, 64}, {});
    const auto i = b.var("i");
    b.op("relu", {b.slot(g, b.get(b.f[g].cursor)), b.slot(g, b.num(0))}); // current() before next(): the last slot
    b.loop(i, b.num(3), [&] {
        const auto t = b.next(g);
        b.op("set_validshape", {t, ir::ExprList{b.add(b.get(i), b.num(1)), b.num(32)}});
        b.op("load", {t, x, ir::ExprList{b.binary(E::mul, b.get(i), b.num(16)), b.num(0)}});
        const auto v = b.tile("v", tile_type(8, 16, M::vec), {g});
        b.emit(ir::TileBind{v, ir::SubviewOf{t, b.num(2), b.num(10), b.num(8), b.num(24)}});
        b.op("relu", {v, v});
    });
    Run run(b);
    REQUIRE(run.next() == Step::issue);
    CHECK(run.sequencer->current().operands[0].tile.address == 4096);
    for (int k = 0; k < 3; ++k) {
        REQUIRE(run.next() == Step::issue);
        const auto& load = run.sequencer->current();
        CHECK(load.operands[0].tile.slot == k % 2);
        CHECK(load.operands[0].tile.valid_rows == k + 1);
        CHECK(load.operands[0].tile.valid_cols == 32);
        CHECK(load.operands[2].list[0].integer == 16 * k);
        REQUIRE(load.lock_count == 1);
        CHECK(load.locks[0] == (k % 2 ? 3 : 4));
        REQUIRE(run.next() == Step::issue);
        const auto& view = run.sequencer->current().operands[0].tile;
        CHECK(view.address == (k % 2) * 4096 + (2 * 64 + 8) * 4);
        CHECK(view.valid_rows == std::max(0, k + 1 - 2));
        CHECK(view.valid_cols == 16);
        CHECK(view.row_stride == 64);
    }
    CHECK(run.next() == Step::finished);
}

TEST_CASE("structures, dynamic sizes, element reads and a bounded walk") {
    FunctionBuilder b(isa::Core::vector);
    const auto x = b.tensor("x", {-1, 8}, ir::ParamId{0});
    const auto n = b.var("n"), i = b.var("i"), v = b.var("v", isa::DType::fp32), sum = b.var("sum");
    const auto ring = b.structure("ring", {{"valid", isa::DType::int32}, {"a", isa::DType::index, 3}}, 4);
    b.assign(n, b.dim(x, 0));
    b.loop(i, b.get(n), [&] {
        b.set_field({ring, b.mod(b.get(i), 4)}, 1, b.binary(E::mul, b.get(i), b.num(10)), b.num(2));
        b.assign(sum, b.add(b.get(sum), b.field({ring, b.mod(b.add(b.get(i), b.num(3)), 4)}, 1, b.num(2))));
    });
    b.op("getval", {x, b.num(5)}).results = {v};
    b.when(b.binary(E::gt, b.get(v), b.real(1.0)), [&] { b.assign(n, b.num(-1)); });
    program::CoreSetup setup;
    setup.params.push_back({.known = true, .address = 0x1000, .shape = {6, 8}});
    Run run(b, setup);
    int budgets = 0;
    Step s;
    while ((s = run.sequencer->next(10)) == Step::budget) ++budgets;
    CHECK(budgets > 2);
    REQUIRE(s == Step::issue);
    CHECK(run.sequencer->needs_value());
    CHECK(run.sequencer->current().operands[0].tensor.address == 0x1000);
    run.sequencer->supply({0, 1.5, isa::DType::fp32, true});
    REQUIRE(run.next() == Step::finished);
    CHECK(run.value(n) == -1);
    CHECK(run.value(sum) == 0 + 0 + 10 + 20 + 30 + 40); // the record of the previous iteration
    CHECK(program::struct_bytes(run.sequencer->core().function->structs[0]) == 32);
}

TEST_CASE("unknown values travel, ask where control needs them, and respect forced trips") {
    FunctionBuilder b(isa::Core::vector);
    const auto x = b.tensor("x", {-1, -1}, ir::ParamId{0});
    const auto i = b.var("i"), n = b.var("n"), m = b.var("m"), hits = b.var("hits"), guarded = b.var("guarded");
    b.assign(n, b.dim(x, 0));
    b.assign(m, b.dim(x, 1));
    b.loop(i, b.get(n), [&] {
        b.when(b.binary(E::lt, b.get(i), b.get(n)), [&] { b.assign(guarded, b.add(b.get(guarded), b.num(1))); });
        b.when(b.binary(E::gt, b.get(m), b.num(3)), [&] { b.assign(hits, b.add(b.get(hits), b.num(1))); });
        b.when(b.binary(E::logical_and, b.binary(E::gt, b.get(m), b.num(3)), b.num(0, isa::DType::boolean)), [&] { b.assign(hits, b.num(100)); });
    });
    Run run(b);
    REQUIRE(run.next() == Step::question);
    CHECK(run.sequencer->question().kind == program::Question::Kind::trips);
    run.sequencer->answer(2);
    REQUIRE(run.next() == Step::question);
    CHECK(run.sequencer->question().kind == program::Question::Kind::branch);
    run.sequencer->answer(1);
    REQUIRE(run.next() == Step::question);
    run.sequencer->answer(0);
    REQUIRE(run.next() == Step::finished);
    CHECK(run.value(hits) == 1);
    CHECK(run.value(guarded) == 2); // i < n: n took the value that gives two trips
    CHECK(run.value(n) == 2);
    FunctionBuilder c(isa::Core::vector);
    const auto k = c.var("k"), total = c.var("total");
    c.loop(k, c.num(100), [&] { c.assign(total, c.add(c.get(total), c.get(k))); });
    Run forced(c);
    forced.sequencer->force_trips(0, 5);
    REQUIRE(forced.next() == Step::finished);
    CHECK(forced.value(total) == 10);
    CHECK(forced.sequencer->bound_trips(0) == 100);
}

TEST_CASE("scalar faults name the place") {
    FunctionBuilder b(isa::Core::vector);
    const auto g = b.group("g", tile_type(16, 64, M::vec), {0, 4096});
    const auto i = b.var("i");
    b.assign(i, b.num(2));
    b.slot(g, b.get(i));
    Run run(b);
    REQUIRE(run.next() == Step::fault);
    CHECK(run.sequencer->fault().message == "slot 2 of the 2 slots of g");
    CHECK(run.next() == Step::fault);
    FunctionBuilder d(isa::Core::vector);
    const auto z = d.var("z");
    d.assign(z, d.num(0));
    d.assign(z, d.mod(d.num(4), 3));
    d.assign(z, d.binary(E::floor_div, d.num(1), d.binary(E::sub, d.get(z), d.num(1))));
    Run zero(d);
    REQUIRE(zero.next() == Step::fault);
    CHECK(zero.sequencer->fault().message == "division by zero");
}
