/// Several pipes of one core that await one id (docs/model/sync.md, P5 and H10), and how far a check without a proof looks.

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

/// Both tensors have as many rows as a launch gives them.
verify::Verdict judge_open(const Side& cube, const Side& vector) { return judge(cube, vector, {}, chip(), true); }
ir::TensorId y_open(FunctionBuilder& b) { return b.tensor("y", {-1, 64}, ir::ParamId{1}); }
/// A tile of UB that the cube fills.
ir::TileVarId tile_of(FunctionBuilder& b) { return b.slot(b.group("c", tile_type(32, 64, M::vec), {0})); }
void fill(FunctionBuilder& b, ir::TileVarId c) {
    b.op("move", {c, b.slot(b.group("acc", tile_type(64, 64, M::acc), {0}, {31}))}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
}
void store(FunctionBuilder& b, ir::TileVarId c) { b.op("store", {y_open(b), c, ir::ExprList{b.binary(E::mul, b.query(E::subblock_idx), b.num(32)), b.num(0)}}); }

bool has(const verify::Verdict& v, HazardKind kind) {
    for (const auto& h : v.hazards)
        if (h.kind == kind && h.is_error) return true;
    return false;
}

} // namespace

TEST_CASE("two loops that await one id on different pipes are proven when a barrier stands between them") {
    const auto run = [](bool barrier) {
        const auto between = [=](FunctionBuilder& b) {
            if (barrier) b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}});
        };
        return judge_open(
            [=](FunctionBuilder& b) {
                const auto c = tile_of(b);
                for (int loop = 0; loop < 2; ++loop) {
                    b.loop(b.var("i" + std::to_string(loop)), b.dim(loop ? y_open(b) : x_of(b), 0), [&] { b.cross_wait(P::fix, b.num(2)), fill(b, c), b.cross_set(P::fix, b.num(0)); });
                    b.cross_wait(P::fix, b.num(2));
                    if (!loop) between(b);
                }
            },
            [=](FunctionBuilder& b) {
                const auto c = tile_of(b);
                for (int loop = 0; loop < 2; ++loop) {
                    const P pipe = loop ? P::v : P::mte3;
                    b.cross_set(pipe, b.num(2));
                    b.loop(b.var("i" + std::to_string(loop)), b.dim(loop ? y_open(b) : x_of(b), 0), [&] {
                        b.cross_wait(pipe, b.num(0));
                        if (loop) b.op("muls", {c, c, b.real(2.0)});
                        else store(b, c);
                        b.cross_set(pipe, b.num(2));
                    });
                    if (!loop) between(b);
                }
            });
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    // Without it V of the second loop takes what was set for MTE3 of the first.
    const auto bad = run(false);
    INFO(verify::print(bad));
    CHECK(bad.status == Status::refused);
    CHECK(has(bad, HazardKind::race));
}

TEST_CASE("two pipes that take turns at one id are proven for any number of tasks, and race when nothing makes them") {
    // The cube sets twice a task; V works in place, then MTE3 stores. A flag each way keeps their waits in turn.
    const auto run = [](bool turns) {
        return judge_open(
            [](FunctionBuilder& b) {
                const auto c = tile_of(b);
                b.loop(b.var("i"), b.dim(x_of(b), 0), [&] {
                    b.cross_wait(P::fix, b.num(2)), b.cross_wait(P::fix, b.num(2));
                    fill(b, c);
                    b.cross_set(P::fix, b.num(0)), b.cross_set(P::fix, b.num(0));
                });
                b.cross_wait(P::fix, b.num(2)), b.cross_wait(P::fix, b.num(2));
            },
            [=](FunctionBuilder& b) {
                const auto c = tile_of(b);
                b.cross_set(P::v, b.num(2)), b.cross_set(P::mte3, b.num(2));
                if (turns) b.flag_set(P::mte3, P::v, 0);
                b.loop(b.var("i"), b.dim(x_of(b), 0), [&] {
                    if (turns) b.flag_wait(P::mte3, P::v, 0);
                    b.cross_wait(P::v, b.num(0));
                    b.op("muls", {c, c, b.real(2.0)});
                    b.flag_set(P::v, P::mte3, 1);
                    if (turns) b.flag_wait(P::v, P::mte3, 1);
                    b.cross_wait(P::mte3, b.num(0));
                    if (!turns) b.flag_wait(P::v, P::mte3, 1);
                    store(b, c);
                    b.cross_set(P::v, b.num(2)), b.cross_set(P::mte3, b.num(2));
                    if (turns) b.flag_set(P::mte3, P::v, 0);
                });
                if (turns) b.flag_wait(P::mte3, P::v, 0);
            });
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    CHECK(good.reason.empty());
    const auto bad = run(false);
    INFO(verify::print(bad));
    CHECK(bad.status == Status::refused);
}

TEST_CASE("waits that compete are proven without following choices when every share of the sets will do") {
    // More choices than can be followed: any of them takes one of fourteen sets that are there from the start.
    const auto run = [](int sets) {
        return judge_open([=](FunctionBuilder& b) { for (int k = 0; k < sets; ++k) b.cross_set(P::fix, b.num(0)); },
                     [](FunctionBuilder& b) { for (int k = 0; k < 7; ++k) b.cross_wait(P::v, b.num(0)), b.cross_wait(P::mte3, b.num(0)); });
    };
    const auto good = run(14);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    CHECK(has(run(13), HazardKind::hang));
}

TEST_CASE("a pipe that may take the other one's set hangs only in some orders, and is refused") {
    // MTE3 holds V's turn until V has waited; when MTE3 takes the only set first, V waits for ever.
    const auto v = judge_open([](FunctionBuilder& b) { b.cross_set(P::fix, b.num(0)), b.cross_wait(P::fix, b.num(1)), b.cross_set(P::fix, b.num(0)); },
                         [](FunctionBuilder& b) {
                             b.cross_wait(P::v, b.num(0)), b.cross_set(P::v, b.num(1));
                             b.cross_wait(P::mte3, b.num(0));
                         });
    INFO(verify::print(v));
    CHECK(v.status == Status::refused);
    CHECK(has(v, HazardKind::hang));
}

TEST_CASE("a check without a proof goes on until the slots have turned") {
    // A condition on the number of tasks takes the proof; seventeen slots without a way back are overrun by task 18 only.
    const auto run = [](bool returns) {
        std::vector<std::int64_t> at;
        for (int s = 0; s < 17; ++s) at.push_back(0x2000 * s);
        const auto body = [=](FunctionBuilder& b, bool cube) {
            const auto c = b.group("c", tile_type(32, 64, M::vec), at);
            const auto i = b.var("i");
            if (!cube && returns) b.cross_set(P::mte3, b.num(2));
            b.loop(i, b.dim(x_of(b), 0), [&] {
                const auto t = b.slot(c, b.mod(b.get(i), 17));
                if (cube) {
                    if (returns) b.cross_wait(P::fix, b.num(2));
                    b.when(b.binary(E::gt, b.get(i), b.num(1000)), [&] { fill(b, t); });
                    fill(b, t), b.cross_set(P::fix, b.num(0));
                } else {
                    b.cross_wait(P::mte3, b.num(0)), store(b, t);
                    if (returns) b.cross_set(P::mte3, b.num(2));
                }
            });
            if (cube && returns) b.cross_wait(P::fix, b.num(2));
        };
        return judge_open([=](FunctionBuilder& b) { body(b, true); }, [=](FunctionBuilder& b) { body(b, false); });
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::checked);
    CHECK(good.checked_tasks >= 3 * 17);
    const auto bad = run(false);
    INFO(verify::print(bad));
    REQUIRE(has(bad, HazardKind::race));
    for (const auto& h : bad.hazards)
        if (h.kind == HazardKind::race) CHECK(h.tasks == 18);
}

TEST_CASE("the two vector cores meet: each wait takes its own core's share of every set") {
    const auto run = [](bool both) {
        return judge_open([](FunctionBuilder&) {},
                     [=](FunctionBuilder& b) {
                         const auto cross = [&](const char* name, P pipe) {
                             b.op(name, {}, {{"pipe", isa::enum_value(pipe)}, {"event_id", std::int64_t(4)}, {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode::inter_subblock)}});
                         };
                         b.loop(b.var("i"), b.dim(x_of(b), 0), [&] {
                             if (both) cross("system.set_cross_core", P::mte3);
                             cross("system.wait_cross_core", P::mte3);
                             if (!both) cross("system.set_cross_core", P::mte3);
                         });
                     });
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::proven);
    CHECK(has(run(false), HazardKind::hang));
}

TEST_CASE("two loops of unknown length in one outer loop are checked, and the verdict says why there is no proof") {
    const auto run = [](bool returns) {
        const auto side = [=](FunctionBuilder& b, bool cube) {
            const auto c = tile_of(b);
            if (!cube && returns) b.cross_set(P::mte3, b.num(2));
            b.loop(b.var("o"), b.dim(x_of(b), 0), [&] {
                for (const char* name : {"i", "j"})
                    b.loop(b.var(name), b.dim(y_open(b), 0), [&] {
                        if (cube && returns) b.cross_wait(P::fix, b.num(2));
                        if (cube) fill(b, c), b.cross_set(P::fix, b.num(0));
                        else b.cross_wait(P::mte3, b.num(0)), store(b, c);
                        if (!cube && returns) b.cross_set(P::mte3, b.num(2));
                    });
            });
            if (cube && returns) b.cross_wait(P::fix, b.num(2));
        };
        return judge_open([=](FunctionBuilder& b) { side(b, true); }, [=](FunctionBuilder& b) { side(b, false); });
    };
    const auto good = run(true);
    INFO(verify::print(good));
    CHECK(good.status == Status::checked);
    CHECK(good.reason == "two loops of unknown length stand inside one other loop");
    CHECK(good.checked_tasks >= 16);
    CHECK(has(run(false), HazardKind::race));
}
