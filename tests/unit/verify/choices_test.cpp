/// Conditions on the number of the task, or on unknown values, that decide nothing another pipe could notice (docs/model/sync.md, 5).

#include "tests/support/catch.hpp"
#include "tests/unit/verify/two_sides.hpp"

using namespace pto;
using namespace pto::testing;
using verify::Status;
using M = isa::MemorySpace;
using P = isa::Pipe;
using E = ir::ExprOp;

namespace {

/// What the vector side of a two-slot channel does with the slot of task i; `given`: an int32 parameter.
struct Task {
    FunctionBuilder& b;
    ir::VarId i, given;
    ir::TileVarId slot, result, other; // result and other: one lock each, stored behind the stage
    ir::ExprId is_first() { return b.binary(E::eq, b.get(i), b.num(0)); }
    ir::ExprId is_later() { return b.binary(E::gt, b.get(i), b.num(0)); }
    ir::ExprId is_given() { return b.binary(E::gt, b.get(given), b.num(3, isa::DType::int32)); }
    void take() { b.op("move", {result, slot}); }
    /// This core's half of the rows of task i.
    void store(ir::TileVarId tile, ir::TensorId to) {
        const ir::ExprId half = b.binary(E::mul, b.f.add({.op = E::subblock_idx}), b.num(32));
        b.op("store", {to, tile, ir::ExprList{b.add(b.binary(E::mul, b.get(i), b.num(64)), half), b.num(0)}});
    }
    void polish() { b.op("relu", {other, other}); }
};

verify::Verdict judge(const std::function<void(Task&)>& consume) {
    ir::Kernel k;
    k.name = "k";
    k.params = parameters(1, isa::DType::int32, true);
    const auto side = [&](bool cube) {
        FunctionBuilder b(cube ? isa::Core::cube : isa::Core::vector);
        const auto x = b.tensor("x", {-1, 64}, ir::ParamId{0});
        const auto i = b.var("i");
        const auto given = b.var("n", isa::DType::int32, ir::ParamId{2});
        const auto channel = b.group("channel", tile_type(32, 64, M::vec), {0, 0x2000}, {5, 6});
        const auto fwd = [&] { return b.pick({0, 1}, b.mod(b.get(i), 2)); };
        const auto bwd = [&] { return b.pick({2, 3}, b.mod(b.get(i), 2)); };
        if (cube) {
            const auto acc = b.slot(b.group("acc", tile_type(64, 64, M::acc), {0}, {3}));
            b.loop(i, b.dim(x, 0), [&] {
                b.cross_wait(P::fix, bwd());
                b.op("move", {b.slot(channel, b.mod(b.get(i), 2)), acc}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
                b.cross_set(P::fix, fwd());
            });
            b.cross_wait(P::fix, b.num(2)), b.cross_wait(P::fix, b.num(3));
        } else {
            const auto result = b.slot(b.group("result", tile_type(32, 64, M::vec), {0x8000}, {7}));
            const auto other = b.slot(b.group("other", tile_type(32, 64, M::vec), {0xc000}, {8}));
            b.cross_set(P::v, b.num(2)), b.cross_set(P::v, b.num(3));
            b.loop(i, b.dim(x, 0), [&] {
                b.cross_wait(P::v, fwd());
                Task t{b, i, given, b.slot(channel, b.mod(b.get(i), 2)), result, other};
                consume(t);
                b.cross_set(P::v, bwd());
                t.store(result, x);
            });
        }
        (cube ? k.cube : k.vector) = std::move(b.f);
    };
    side(true), side(false);
    return verify::verify(program::assemble(std::move(k), chip()), chip(), {});
}

} // namespace

TEST_CASE("ways that take the slot alike are proven, whatever else one of them does under locks") {
    const std::function<void(Task&)> bodies[] = {
        [](Task& t) { t.take(); },
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }, [&] { t.take(), t.polish(); }); },
        [](Task& t) { t.b.when(t.is_given(), [&] { t.take(); }, [&] { t.take(), t.polish(); }); },
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }), t.b.when(t.is_later(), [&] { t.polish(), t.take(); }); },
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }, [&] { t.b.when(t.is_given(), [&] { t.take(); }, [&] { t.take(), t.polish(); }); }); },
        [](Task& t) { t.take(), t.b.when(t.is_first(), [&] { t.polish(); }); },
    };
    for (const auto& body : bodies) {
        const auto v = judge(body);
        INFO(verify::print(v));
        CHECK(v.status == Status::proven);
    }
}

TEST_CASE("ways that another pipe could tell apart are checked, and the reason is the condition") {
    const std::function<void(Task&)> bodies[] = {
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }); },                                         // sometimes not at all
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }, [&] { t.b.op("move", {t.other, t.slot}); }); }, // another lock
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }, [&] { t.take(), t.take(); }); },             // twice
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }), t.b.when(t.b.binary(E::ge, t.b.get(t.i), t.b.num(0)), [&] { t.take(); }); }, // both at once
        [](Task& t) { t.b.when(t.is_first(), [&] { t.take(); }), t.polish(), t.b.when(t.is_later(), [&] { t.take(); }); }, // on either side of another
    };
    for (const auto& body : bodies) {
        const auto v = judge(body);
        INFO(verify::print(v));
        CHECK(v.status == Status::checked);
        CHECK(v.reason == "a condition depends on the number of the task");
    }
}

TEST_CASE("a value that a way assigns takes the proof when it decides about the slot") {
    const auto v = judge([](Task& t) {
        const auto k = t.b.var("k");
        t.b.assign(k, t.b.num(0));
        t.b.when(t.is_given(), [&] { t.polish(), t.b.assign(k, t.b.num(0)); });
        t.b.op("move", {t.result, t.b.slot(t.b.group("channel again", tile_type(32, 64, M::vec), {0, 0x2000}, {5, 6}), t.b.get(k))});
    });
    INFO(verify::print(v));
    CHECK(v.status != Status::proven);
}

TEST_CASE("an order that rests on operations that are not always the same is no proof") {
    // u is written on V and stored on MTE3 without a lock. Each way has an operation between them whose lock orders both, not the same one.
    const auto run = [](bool one_operation) {
        return judge([=](Task& t) {
            const auto u = t.b.slot(t.b.group("u", tile_type(32, 64, M::vec), {0x10000}));
            const auto y = t.b.tensor("y", {-1, 64}, ir::ParamId{1}), z = t.b.tensor("x again", {-1, 64}, ir::ParamId{0});
            t.take();
            t.b.op("relu", {u, t.result});
            if (one_operation) t.polish();
            else t.b.when(t.is_given(), [&] { t.polish(); }, [&] { t.polish(), t.polish(); });
            t.store(t.other, y), t.store(u, z);
            t.b.flag_set(P::mte3, P::v, 0), t.b.flag_wait(P::mte3, P::v, 0);
        });
    };
    const auto always = run(true);
    INFO(verify::print(always));
    CHECK(always.status == Status::proven);
    const auto sometimes = run(false);
    INFO(verify::print(sometimes));
    CHECK(sometimes.status == Status::checked);
}
