#include "tests/support/catch.hpp"
#include "tests/unit/verify/two_sides.hpp"

using namespace pto;
using namespace pto::testing;
using verify::HazardKind;
using verify::Status;
using M = isa::MemorySpace;
using P = isa::Pipe;
using E = ir::ExprOp;

namespace {

ir::ExprList at(FunctionBuilder& b, ir::ExprId row) { return {row, b.num(0)}; }

const verify::Hazard* find(const verify::Verdict& v, HazardKind kind) {
    for (const auto& h : v.hazards)
        if (h.kind == kind) return &h;
    return nullptr;
}

} // namespace

TEST_CASE("a wait that nothing sets hangs, and says so") {
    const auto v = judge([](FunctionBuilder& b) { b.cross_set(P::fix, b.num(1)); }, [](FunctionBuilder& b) { b.cross_wait(P::v, b.num(2)), b.cross_wait(P::v, b.num(1)); });
    INFO(verify::print(v));
    CHECK(v.status == Status::refused);
    const auto* h = find(v, HazardKind::hang);
    REQUIRE(h);
    CHECK(h->message == "AIV0 V wait_cross_core waits for event id 2 from AIC for the 1. time, set 0 times: nothing ever sets it");
    CHECK(h->id == 2);
}

TEST_CASE("a circle of waits names every pipe on it") {
    const auto v = judge([](FunctionBuilder& b) { b.cross_wait(P::fix, b.num(1)), b.cross_set(P::fix, b.num(2)); },
                         [](FunctionBuilder& b) { b.cross_wait(P::v, b.num(2)), b.cross_set(P::v, b.num(1)); });
    INFO(verify::print(v));
    const auto* h = find(v, HazardKind::hang);
    REQUIRE(h);
    CHECK(h->message.find("in a circle") != std::string::npos);
    CHECK(h->witness.size() == 2);
}

TEST_CASE("one vector core that does not set hangs the cube: INTRA_BLOCK joins both") {
    const auto v = judge([](FunctionBuilder& b) { b.cross_wait(P::fix, b.num(3)); },
                         [](FunctionBuilder& b) {
                             b.when(b.binary(E::eq, b.query(E::subblock_idx), b.num(0)), [&] { b.cross_set(P::v, b.num(3)); });
                         });
    INFO(verify::print(v));
    const auto* h = find(v, HazardKind::hang);
    REQUIRE(h);
    CHECK(h->message.find("from AIV1") != std::string::npos);
}

TEST_CASE("a producer that nothing holds back overflows its counter") {
    const auto v = judge(
        [](FunctionBuilder& b) {
            const auto x = x_of(b);
            const auto i = b.var("i");
            b.loop(i, b.dim(x, 0), [&] { b.cross_set(P::fix, b.num(0)); });
        },
        [](FunctionBuilder& b) {
            const auto x = x_of(b);
            const auto i = b.var("i");
            b.loop(i, b.dim(x, 0), [&] { b.cross_wait(P::v, b.num(0)); });
        });
    INFO(verify::print(v));
    CHECK(v.status == Status::refused);
    REQUIRE(find(v, HazardKind::counter_overflow));
    REQUIRE(v.ids.size() == 1);
    CHECK(v.ids[0].growing);
    // Fifteen sets are the most a counter holds.
    for (std::int64_t trips : {15, 16}) {
        const auto exact = judge([&](FunctionBuilder& b) { b.loop(b.var("i"), b.num(trips), [&] { b.cross_set(P::fix, b.num(0)); }); },
                                 [&](FunctionBuilder& b) { b.loop(b.var("i"), b.num(trips), [&] { b.cross_wait(P::v, b.num(0)); }); });
        CHECK(exact.safe() == (trips == 15));
    }
}

TEST_CASE("a set nobody consumes is left over") {
    const auto v = judge([](FunctionBuilder& b) { b.cross_set(P::fix, b.num(0)), b.cross_set(P::fix, b.num(0)); }, [](FunctionBuilder& b) { b.cross_wait(P::v, b.num(0)); });
    const auto* h = find(v, HazardKind::counter_left);
    REQUIRE(h);
    CHECK(h->message.find("set 2 times and awaited 1 times") != std::string::npos);
}

TEST_CASE("flags order pipes of one core; without the way back the flag and the tile are overrun") {
    const auto kernel = [](bool back) {
        return [back](FunctionBuilder& b) {
            const auto x = x_of(b), y = y_of(b);
            const auto type = tile_type(16, 64, M::vec);
            const auto t = b.group("t", type, {0}), u = b.group("u", type, {4096});
            const auto i = b.var("i");
            if (back) b.flag_set(P::v, P::mte2, 0), b.flag_set(P::mte3, P::v, 0);
            b.loop(i, b.dim(x, 0), [&] {
                if (back) b.flag_wait(P::v, P::mte2, 0);
                const auto a = b.slot(t), c = b.slot(u);
                b.op("load", {a, x, at(b, b.binary(E::mul, b.get(i), b.num(16)))});
                b.flag_set(P::mte2, P::v, 0);
                b.flag_wait(P::mte2, P::v, 0);
                if (back) b.flag_wait(P::mte3, P::v, 0);
                b.op("relu", {c, a});
                if (back) b.flag_set(P::v, P::mte2, 0);
                b.flag_set(P::v, P::mte3, 0);
                b.flag_wait(P::v, P::mte3, 0);
                b.op("store", {y, c, at(b, b.num(0))});
                if (back) b.flag_set(P::mte3, P::v, 0);
            });
            if (back) b.flag_wait(P::v, P::mte2, 0), b.flag_wait(P::mte3, P::v, 0);
        };
    };
    const auto good = judge({}, kernel(true));
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    const auto bad = judge({}, kernel(false));
    INFO(verify::print(bad));
    CHECK(bad.status == Status::refused);
    REQUIRE(find(bad, HazardKind::flag_twice));
    CHECK_FALSE(find(bad, HazardKind::flag_twice)->is_error); // the program has a wait between two sets; only time decides
    const auto twice = judge({}, [](FunctionBuilder& b) { b.flag_set(P::v, P::mte2, 0), b.flag_set(P::v, P::mte2, 0), b.flag_wait(P::v, P::mte2, 0); });
    REQUIRE(find(twice, HazardKind::flag_twice));
    CHECK(find(twice, HazardKind::flag_twice)->is_error);
    CHECK(twice.status == Status::refused);
    const auto* race = find(bad, HazardKind::race);
    REQUIRE(race);
    CHECK(race->repair.find("mutex id") != std::string::npos);
}

TEST_CASE("a scalar write that every core repeats is told and left to the run") {
    const auto write = [](FunctionBuilder& b) { b.op("setval", {y_of(b), b.num(3), b.num(1)}); };
    const auto v = judge(write, write);
    INFO(verify::print(v));
    REQUIRE(find(v, HazardKind::race));
    CHECK_FALSE(find(v, HazardKind::race)->is_error);
    CHECK(v.status == Status::checked);
    const auto store = [](FunctionBuilder& b) { b.cross_wait(P::mte3, b.num(1)), b.op("store", {y_of(b), b.slot(b.group("t", tile_type(16, 64, M::vec), {0}, {1})), at(b, b.num(0))}); };
    const auto both = judge([](FunctionBuilder& b) { b.cross_set(P::fix, b.num(1)); }, store); // AIV0 and AIV1 store the same rows: no scalar write
    REQUIRE(find(both, HazardKind::race));
    CHECK(find(both, HazardKind::race)->is_error);
}

TEST_CASE("two loads into one tile without a reader are a warning of one pipe") {
    const auto v = judge({}, [](FunctionBuilder& b) {
        const auto x = x_of(b);
        const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {0}, {1}));
        b.op("load", {t, x, at(b, b.num(0))});
        b.op("load", {t, x, at(b, b.num(16))});
        b.op("relu", {t, t});
    });
    INFO(verify::print(v));
    CHECK(v.status == Status::proven);
    REQUIRE(find(v, HazardKind::same_pipe));
    CHECK_FALSE(find(v, HazardKind::same_pipe)->is_error);
}

TEST_CASE("the unit flag orders the matrix unit and the fixpipe, and hangs when its ends do not pair") {
    const auto kernel = [](std::int64_t store_phase) {
        return [store_phase](FunctionBuilder& b) {
            const auto y = y_of(b);
            const auto l = b.slot(b.group("l", tile_type(16, 16, M::left), {0})), r = b.slot(b.group("r", tile_type(16, 16, M::right), {0}));
            const auto acc = b.slot(b.group("acc", tile_type(16, 16, M::acc), {0}));
            b.loop(b.var("i"), b.num(3), [&] {
                b.op("matmul", {acc, l, r}, {{"phase", isa::enum_value(isa::AccPhase::partial)}});
                b.op("matmul_acc", {acc, acc, l, r}, {{"phase", isa::enum_value(isa::AccPhase::final)}});
                b.op("store", {y, acc, at(b, b.num(0))}, {{"phase", isa::EnumValue{isa::EnumKind::StPhase, std::uint8_t(store_phase)}}});
            });
        };
    };
    const auto good = judge(kernel(2), {});
    INFO(verify::print(good));
    CHECK(good.safe());
    const auto stuck = judge(kernel(1), {});
    INFO(verify::print(stuck));
    REQUIRE(find(stuck, HazardKind::hang));
    CHECK(find(stuck, HazardKind::hang)->message.find("unit flag") != std::string::npos);
    const auto unphased = judge(kernel(0), {});
    CHECK(find(unphased, HazardKind::race));
}

TEST_CASE("a hand-over through global memory needs both directions") {
    const auto run = [](bool there) {
        return judge(
            [=](FunctionBuilder& b) {
                const auto y = y_of(b);
                const auto acc = b.slot(b.group("acc", tile_type(64, 64, M::acc), {0}, {0}));
                b.op("store", {y, acc, at(b, b.num(0))});
                if (there) b.cross_set(P::fix, b.num(0));
            },
            [=](FunctionBuilder& b) {
                const auto y = y_of(b);
                const auto t = b.slot(b.group("t", tile_type(64, 64, M::vec), {0}, {0}));
                if (there) b.cross_wait(P::mte2, b.num(0));
                b.op("load", {t, y, at(b, b.num(0))});
            });
    };
    CHECK(run(true).status == Status::proven);
    const auto v = run(false);
    const auto* h = find(v, HazardKind::race);
    REQUIRE(h);
    CHECK(h->memory == M::ddr);
    CHECK(h->message.find("or not have written it yet") != std::string::npos);
}

TEST_CASE("sync_all joins both kinds of core") {
    const auto run = [](bool barrier) {
        const auto meet = [=](FunctionBuilder& b) {
            if (barrier) b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}});
        };
        return judge(
            [&](FunctionBuilder& b) {
                b.op("store", {y_of(b), b.slot(b.group("acc", tile_type(64, 64, M::acc), {0}, {0})), at(b, b.num(0))});
                meet(b);
            },
            [&](FunctionBuilder& b) {
                meet(b);
                b.op("load", {b.slot(b.group("t", tile_type(64, 64, M::vec), {0}, {0})), y_of(b), at(b, b.num(0))});
            });
    };
    CHECK(run(true).safe());
    CHECK_FALSE(run(false).safe());
    const auto alone = judge([](FunctionBuilder& b) { b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}}); }, [](FunctionBuilder&) {});
    CHECK(find(alone, HazardKind::hang));
}

TEST_CASE("sync under a condition on data is checked, not proven; on known values it is decided") {
    const auto side = [](bool set) {
        return [set](FunctionBuilder& b) {
            const auto n = b.var("n", isa::DType::int32, ir::ParamId{2});
            b.when(b.binary(E::gt, b.get(n), b.num(3, isa::DType::int32)), [&] { set ? b.cross_set(P::fix, b.num(0)) : b.cross_wait(P::v, b.num(0)); });
        };
    };
    const auto v = judge(side(true), side(false));
    INFO(verify::print(v));
    CHECK(v.status == Status::checked);
    CHECK(v.reason == "a condition depends on values that are unknown before the launch");
    verify::VerifyOptions known;
    known.params.resize(3);
    known.params[2] = {.known = true, .scalar = {7, 0, isa::DType::int32, true}};
    CHECK(judge(side(true), side(false), known).status == Status::proven);
    // One side only: some value hangs.
    CHECK(find(judge([&](FunctionBuilder&) {}, side(false)), HazardKind::hang));
}

TEST_CASE("two pipes that wait for one id are followed through every choice") {
    const auto run = [](bool two_sets) {
        return judge([=](FunctionBuilder& b) { b.cross_set(P::fix, b.num(0)); if (two_sets) b.cross_set(P::fix, b.num(0)); },
                     [](FunctionBuilder& b) { b.cross_wait(P::v, b.num(0)), b.cross_wait(P::mte3, b.num(0)); });
    };
    CHECK(run(true).safe());
    CHECK(find(run(false), HazardKind::hang));
}

TEST_CASE("A2 and A3 stop the whole core at a cross-core wait, which orders more") {
    machine::Chip old = chip();
    old.arch = "a2", old.wait_stops_all_pipes = true;
    const auto cube = [](FunctionBuilder& b) {
        b.op("store", {y_of(b), b.slot(b.group("acc", tile_type(64, 64, M::acc), {0})), at(b, b.num(0))});
        b.cross_set(P::fix, b.num(0));
    };
    const auto vector = [](FunctionBuilder& b) {
        b.cross_wait(P::v, b.num(0)); // not the pipe that loads
        b.op("load", {b.slot(b.group("t", tile_type(64, 64, M::vec), {0})), y_of(b), at(b, b.num(0))});
    };
    CHECK_FALSE(judge(cube, vector).safe());
    CHECK(judge(cube, vector, {}, old).safe());
}

TEST_CASE("a task loop inside another loop is proven when locks order what stands around it") {
    const auto run = [](bool locked) {
        const auto cube = [=](FunctionBuilder& b) {
            const auto x = x_of(b);
            const auto o = b.var("o"), i = b.var("i"), n = b.var("n"), m = b.var("m"), task = b.var("task");
            b.assign(n, b.dim(x, 0));
            b.assign(m, b.binary(E::floor_div, b.dim(x, 0), b.num(2)));
            const auto q = b.group("q", tile_type(64, 64, M::mat), {0, 0x4000}, locked ? std::vector<std::int32_t>{0, 1} : std::vector<std::int32_t>{});
            const auto l = b.group("l", tile_type(64, 64, M::left), {0}, {2}), acc = b.group("acc", tile_type(64, 64, M::acc), {0}, {3});
            const auto r = b.slot(b.group("r", tile_type(64, 64, M::right), {0}, {4}));
            const auto c = b.group("c", tile_type(32, 64, M::vec), {0, 0x2000}, {5, 6});
            b.assign(task, b.num(0));
            b.loop(o, b.get(n), [&] {
                const auto t = b.next(q);
                b.op("load", {t, x, at(b, b.binary(E::mul, b.get(o), b.num(64)))});
                b.loop(i, b.get(m), [&] {
                    b.cross_wait(P::fix, b.pick({2, 3}, b.mod(b.get(task), 2)));
                    const auto left = b.slot(l), a = b.slot(acc);
                    b.op("move", {left, t});
                    b.op("matmul", {a, left, r});
                    b.op("move", {b.slot(c, b.mod(b.get(task), 2)), a}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
                    b.cross_set(P::fix, b.pick({0, 1}, b.mod(b.get(task), 2)));
                    b.assign(task, b.add(b.get(task), b.num(1)));
                });
            });
            b.cross_wait(P::fix, b.num(2)), b.cross_wait(P::fix, b.num(3));
        };
        const auto vector = [](FunctionBuilder& b) {
            const auto x = x_of(b), y = y_of(b);
            const auto o = b.var("o"), i = b.var("i"), n = b.var("n"), m = b.var("m"), task = b.var("task");
            b.assign(n, b.dim(x, 0));
            b.assign(m, b.binary(E::floor_div, b.dim(x, 0), b.num(2)));
            const auto c = b.group("c", tile_type(32, 64, M::vec), {0, 0x2000}, {5, 6});
            b.cross_set(P::mte3, b.num(2)), b.cross_set(P::mte3, b.num(3));
            b.assign(task, b.num(0));
            b.loop(o, b.get(n), [&] {
                b.loop(i, b.get(m), [&] {
                    b.cross_wait(P::mte3, b.pick({0, 1}, b.mod(b.get(task), 2)));
                    b.op("store", {y, b.slot(c, b.mod(b.get(task), 2)), at(b, b.binary(E::mul, b.query(E::subblock_idx), b.num(32)))});
                    b.cross_set(P::mte3, b.pick({2, 3}, b.mod(b.get(task), 2)));
                    b.assign(task, b.add(b.get(task), b.num(1)));
                });
            });
        };
        return judge(cube, vector);
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    const auto bad = run(false);
    INFO(verify::print(bad));
    CHECK(find(bad, HazardKind::race));
}

TEST_CASE("scalar faults are findings of their own") {
    const auto v = judge({}, [](FunctionBuilder& b) {
        const auto g = b.group("g", tile_type(16, 64, M::vec), {0, 4096}, {0, 1});
        const auto i = b.var("i");
        b.assign(i, b.num(2));
        b.op("relu", {b.slot(g, b.get(i)), b.slot(g, b.num(0))});
    });
    const auto* h = find(v, HazardKind::scalar_fault);
    REQUIRE(h);
    CHECK(h->message == "slot 2 of the 2 slots of g");
    CHECK(verify::diagnostics(v).size() == 1);
}

TEST_CASE("a condition on the task number beyond a remainder is checked, not proven") {
    const auto side = [](bool set) {
        return [set](FunctionBuilder& b) {
            const auto x = x_of(b);
            const auto i = b.var("i");
            b.loop(i, b.dim(x, 0), [&] {
                b.when(b.binary(E::ne, b.get(i), b.num(1000)), [&] { set ? b.cross_set(P::fix, b.num(0)) : b.cross_wait(P::v, b.num(0)); });
                // hand back, so that the counter stays bounded
                set ? b.cross_wait(P::fix, b.num(1)) : b.cross_set(P::v, b.num(1));
            });
        };
    };
    const auto v = judge(side(true), side(false));
    INFO(verify::print(v));
    CHECK(v.status == Status::checked);
    CHECK(v.reason == "a condition depends on the number of the task");
}

TEST_CASE("an id that two pipes set and one awaits: k waits need k sets, whoever makes them") {
    // The consumer works in place on V, then stores on MTE3; both hand the slot back over one id, and the producer waits twice.
    const auto run = [](std::int32_t waits) {
        return judge(
            [=](FunctionBuilder& b) {
                const auto x = x_of(b);
                const auto c = b.slot(b.group("c", tile_type(32, 64, M::vec), {0}, {5})), acc = b.slot(b.group("acc", tile_type(64, 64, M::acc), {0}, {3}));
                b.loop(b.var("i"), b.dim(x, 0), [&] {
                    for (std::int32_t k = 0; k < waits; ++k) b.cross_wait(P::fix, b.num(2));
                    b.op("move", {c, acc}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
                    b.cross_set(P::fix, b.num(0));
                    for (std::int32_t k = waits; k < 2; ++k) b.cross_wait(P::fix, b.num(2));
                });
                b.cross_wait(P::fix, b.num(2)), b.cross_wait(P::fix, b.num(2));
            },
            [](FunctionBuilder& b) {
                const auto x = x_of(b), y = y_of(b);
                const auto c = b.slot(b.group("c", tile_type(32, 64, M::vec), {0}, {5}));
                b.cross_set(P::v, b.num(2)), b.cross_set(P::mte3, b.num(2));
                b.loop(b.var("i"), b.dim(x, 0), [&] {
                    b.cross_wait(P::v, b.num(0));
                    b.op("muls", {c, c, b.real(2.0)});
                    b.op("store", {y, c, at(b, b.binary(E::mul, b.query(E::subblock_idx), b.num(32)))});
                    b.cross_set(P::v, b.num(2));
                    b.cross_set(P::mte3, b.num(2));
                });
            });
    };
    const auto good = run(2);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    for (const auto& id : good.ids)
        if (id.id == 2) CHECK(id.max_pending == 2);
    const auto bad = run(1); // one return is enough to go on: the other pipe may still work on the tile
    INFO(verify::print(bad));
    CHECK(find(bad, HazardKind::race));
}
