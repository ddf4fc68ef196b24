#include "launch.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace pto;
using namespace pto::testing;
using M = isa::MemorySpace;
using P = isa::Pipe;
using execute::HazardKind;
using execute::Status;

namespace {

/// y = x + x over four row tiles, hand-synchronised; each flag can be left out.
struct AddKernel {
    std::vector<float> x = numbers(64 * 64), y = std::vector<float>(64 * 64, -1.0f);
    KernelBuilder k;
    program::Program program;
    AddKernel(bool load_to_add = true, bool add_to_store = true, bool store_to_load = true) {
        auto& b = k.vector;
        const auto tx = k.tensor("x", x, {64, 64}), ty = k.tensor("y", y, {64, 64});
        const auto type = tile_type(16, 64, M::vec);
        const auto in = b.group("in", type, {0}), out = b.group("out", type, {4096});
        const auto i = b.var("i");
        const auto ti = b.slot(in), to = b.slot(out);
        if (store_to_load) b.flag_set(P::mte3, P::mte2, 0);
        b.loop(i, b.num(4), [&] {
            const auto row = b.binary(ir::ExprOp::mul, b.get(i), b.num(16));
            if (store_to_load) b.flag_wait(P::mte3, P::mte2, 0);
            b.op("load", {ti, tx, ir::ExprList{row, b.num(0)}});
            if (load_to_add) {
                b.flag_set(P::mte2, P::v, 0);
                b.flag_wait(P::mte2, P::v, 0);
            }
            b.op("add", {to, ti, ti});
            if (add_to_store) {
                b.flag_set(P::v, P::mte3, 0);
                b.flag_wait(P::v, P::mte3, 0);
            }
            b.op("store", {ty, to, ir::ExprList{row, b.num(0)}});
            if (store_to_load) b.flag_set(P::mte3, P::mte2, 0);
        });
        if (store_to_load) b.flag_wait(P::mte3, P::mte2, 0);
        program = k.build(false, true, false);
    }
    bool right() const {
        for (std::size_t n = 0; n < y.size(); ++n)
            if (y[n] != x[n] + x[n]) return false;
        return true;
    }
};

} // namespace

TEST_CASE("a synchronised vector kernel is right, and clean, under every order") {
    AddKernel k;
    for (const execute::OrderPolicy& order : execute::hostile_orders(k.program)) {
        std::fill(k.y.begin(), k.y.end(), -1.0f);
        execute::ExecuteOptions o;
        o.order = order;
        const auto out = run(k.program, k.k.arguments, o);
        INFO(execute::text(order) << "\n" << all_messages(out));
        CHECK(out.status == Status::done);
        CHECK(out.hazards.empty());
        CHECK(k.right());
    }
    for (int seed = 0; seed < 20; ++seed) {
        std::fill(k.y.begin(), k.y.end(), -1.0f);
        const auto out = run(k.program, k.k.arguments, under("random(" + std::to_string(seed) + ")"));
        INFO(all_messages(out));
        CHECK(out.status == Status::done);
        CHECK(k.right());
    }
}

TEST_CASE("a missing flag is a race in program order, found by order and not by luck") {
    AddKernel k(true, false, true);
    const auto out = run(k.program, k.k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::race);
    CHECK(k.y[0] == -1.0f); // the user's buffers stay as they were
    REQUIRE(found(out, HazardKind::race));
    const execute::Hazard& h = out.hazards.front();
    CHECK(h.first.operation == "add");
    CHECK(h.second.operation == "store");
    CHECK(h.memory == M::vec);
    CHECK(h.begin == 4096);
    CHECK(h.end == 8192);
    CHECK(h.count == 4);
}

TEST_CASE("a missing flag shows as a wrong value in a hostile order") {
    AddKernel k(false, true, false);
    execute::ExecuteOptions warn = under("program");
    warn.strict = false;
    CHECK(run(k.program, k.k.arguments, warn).status == Status::done);
    CHECK(k.right());
    warn.order = *execute::parse_order("late(AIV0.MTE2)");
    const auto out = run(k.program, k.k.arguments, warn);
    INFO(all_messages(out));
    CHECK(out.status == Status::done);
    CHECK(found(out, HazardKind::race));
    CHECK_FALSE(k.right());
}

TEST_CASE("a binary flag that is set twice loses one, which hangs in a hostile order") {
    AddKernel k(true, false, true); // loads run ahead of the vector unit
    const auto out = run(k.program, k.k.arguments, under("late(AIV0.V)"));
    INFO(all_messages(out));
    CHECK(out.status == Status::hang);
    CHECK(found(out, HazardKind::flag_twice));
}

TEST_CASE("only time between two sets is a warning; two sets without a wait in the program are an error") {
    AddKernel waits(true, false, true); // set, wait, set, wait: nothing keeps the loads from running ahead
    const auto told = run(waits.program, waits.k.arguments, under("program"));
    INFO(all_messages(told));
    const execute::Hazard* h = find_hazard(told, HazardKind::flag_twice);
    REQUIRE(h);
    CHECK_FALSE(h->is_error);

    KernelBuilder k;
    std::vector<float> x = numbers(256), y(256, 7.0f);
    const auto tx = k.tensor("x", x, {4, 64}), ty = k.tensor("y", y, {4, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(4, 64, M::vec), {0}));
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.flag_set(P::mte2, P::mte3, 3);
    b.flag_set(P::mte2, P::mte3, 3);
    b.flag_wait(P::mte2, P::mte3, 3);
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto refused = run(k.build(false, true, false), k.arguments);
    h = find_hazard(refused, HazardKind::flag_twice);
    REQUIRE(h);
    CHECK(h->is_error);
}

TEST_CASE("a wait without a set is a hang with its reason") {
    KernelBuilder k;
    std::vector<float> x = numbers(256), y(256, 7.0f);
    const auto tx = k.tensor("x", x, {4, 64}), ty = k.tensor("y", y, {4, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(4, 64, M::vec), {0}));
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.flag_wait(P::mte2, P::mte3, 3);
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto program = k.build(false, true, false);
    const auto out = run(program, k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::hang);
    REQUIRE(out.hang.stuck.size() == 1);
    const execute::StuckPipe& s = out.hang.stuck[0];
    CHECK(s.is_cause);
    CHECK(s.pipe == P::mte3);
    CHECK(s.id == 3);
    CHECK(s.queued == 1);
    CHECK(s.waits_for == "flag MTE2 to MTE3 id 3");
    CHECK(s.expected == "set 0 times, awaited 1 times; no program sets it");
    CHECK(y[0] == 7.0f);
}

TEST_CASE("two waits for each other are a circle") {
    KernelBuilder k;
    std::vector<float> x = numbers(256);
    const auto tx = k.tensor("x", x, {4, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(4, 64, M::vec), {0}));
    b.flag_wait(P::v, P::mte2, 0);
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.flag_set(P::mte2, P::v, 0);
    b.flag_wait(P::mte2, P::v, 0);
    b.op("add", {t, t, t});
    b.flag_set(P::v, P::mte2, 0);
    const auto out = run(k.build(false, true, false), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::hang);
    CHECK(out.hang.circle);
    REQUIRE(out.hang.stuck.size() == 2);
    CHECK(out.hang.stuck[0].circle_next == 1);
    CHECK(out.hang.stuck[1].circle_next == 0);
}

TEST_CASE("locks of tile groups order the pipes; the same program without them races") {
    for (bool auto_mutex : {true, false}) {
        KernelBuilder k;
        std::vector<float> x = numbers(64 * 64), y(64 * 64);
        const auto tx = k.tensor("x", x, {64, 64}), ty = k.tensor("y", y, {64, 64});
        auto& b = k.vector;
        const auto group = b.group("t", tile_type(16, 64, M::vec), {0, 4096}, {0, 1});
        const auto i = b.var("i");
        b.loop(i, b.num(4), [&] {
            const auto row = b.binary(ir::ExprOp::mul, b.get(i), b.num(16));
            const auto t = b.next(group);
            b.op("load", {t, tx, ir::ExprList{row, b.num(0)}});
            b.op("mul", {t, t, b.real(2.0)});
            b.op("store", {ty, t, ir::ExprList{row, b.num(0)}});
        });
        const auto program = k.build(false, true, auto_mutex);
        for (const execute::OrderPolicy& order : execute::hostile_orders(program)) {
            execute::ExecuteOptions o;
            o.order = order;
            const auto out = run(program, k.arguments, o);
            INFO(execute::text(order) << "\n" << all_messages(out));
            CHECK(out.status == (auto_mutex ? Status::done : Status::race));
            if (auto_mutex) CHECK(out.hazards.empty());
        }
        if (auto_mutex)
            for (std::size_t n = 0; n < y.size(); ++n) REQUIRE(y[n] == x[n] * 2.0f);
    }
}

TEST_CASE("uninitialised bytes are found at arithmetic, once per place") {
    KernelBuilder k;
    std::vector<float> x = numbers(16 * 64), y(16 * 64);
    const auto tx = k.tensor("x", x, {16, 64}), ty = k.tensor("y", y, {16, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {0}, {0})),
               u = b.slot(b.group("u", tile_type(16, 64, M::vec), {4096}, {1}));
    b.op("set_validshape", {t, ir::ExprList{b.num(16), b.num(60)}});
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.op("set_validshape", {t, ir::ExprList{b.num(16), b.num(64)}});
    const auto i = b.var("i");
    b.loop(i, b.num(3), [&] { b.op("add", {u, t, t}); });
    b.op("store", {ty, u, ir::ExprList{b.num(0), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(found(out, HazardKind::uninitialised));
    REQUIRE(out.hazards.size() == 1);
    CHECK(out.hazards[0].count == 3); // once an iteration, however many operands
    CHECK(out.hazards[0].begin == 60 * 4);
    CHECK(out.hazards[0].message.find("[0, 60]") != std::string::npos);
    CHECK(std::isnan(y[60]));
}

TEST_CASE("accesses outside their memory are refused before anything is copied") {
    SECTION("global memory") {
        KernelBuilder k;
        std::vector<float> x = numbers(16 * 64);
        const auto tx = k.tensor("x", x, {16, 64});
        auto& b = k.vector;
        const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {0}));
        b.op("load", {t, tx, ir::ExprList{b.num(8), b.num(0)}});
        const auto out = run(k.build(false, true), k.arguments);
        CHECK(out.status == Status::out_of_range);
        CHECK(out.message == "load: reads bytes 2048 to 6144 of x, which has 4096");
        CHECK(found(out, HazardKind::beyond_shape));
    }
    SECTION("a tile past the end of UB") {
        KernelBuilder k;
        std::vector<float> x = numbers(16 * 64);
        const auto tx = k.tensor("x", x, {16, 64});
        auto& b = k.vector;
        const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {253952 - 2048}));
        b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
        const auto out = run(k.build(false, true), k.arguments);
        CHECK(out.status == Status::out_of_range);
        CHECK(out.message.find("Vec has 0x3E000") != std::string::npos);
    }
}

TEST_CASE("blocks that write common rows race, with block ids and the row range") {
    for (bool overlapping : {false, true}) {
        KernelBuilder k;
        std::vector<float> y(64 * 64);
        const auto ty = k.tensor("y", y, {64, 64});
        auto& b = k.vector;
        const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {0}, {0}));
        const auto step = b.num(overlapping ? 8 : 16);
        const auto row = b.binary(ir::ExprOp::mul, b.query(ir::ExprOp::block_idx), step);
        b.op("expands", {t, b.real(1.0)});
        b.op("store", {ty, t, ir::ExprList{row, b.num(0)}});
        execute::ExecuteOptions o;
        o.block_dim = 4;
        const auto out = run(k.build(false, true), k.arguments, o);
        INFO(all_messages(out));
        CHECK(out.status == (overlapping ? Status::race : Status::done));
        if (!overlapping) continue;
        REQUIRE(found(out, HazardKind::block_race));
        const execute::Hazard& h = out.hazards[0];
        CHECK(h.first.core.block == 0);
        CHECK(h.second.core.block == 1);
        CHECK(h.row_begin == 8);
        CHECK(h.row_end == 16);
        CHECK(h.count == 3);
    }
}
