#include "tests/unit/check/helper.hpp"

using namespace pto;
using namespace pto::check;
using E = ir::ExprOp;
using isa::Pipe;

TEST_CASE("sync ids exist on the chip", "[check]") {
    auto flag = [](std::int64_t id, const char* on) {
        FunctionBuilder b(isa::Core::vector);
        b.flag_set(Pipe::mte2, Pipe::v, id);
        b.flag_wait(Pipe::mte2, Pipe::v, id);
        return findings(b, on);
    };
    CHECK(flag(7, "ascend950").empty());
    CHECK(count(flag(8, "ascend950"), Code::event_id_high) == 2);
    CHECK(flag(8, "ascend950")[0].severity == Severity::warning);
    CHECK(count(flag(16, "ascend950"), Code::event_id_range) == 2);
    CHECK(says(flag(8, "ascend910b"), Code::event_id_range, "event id 8; ascend910b has ids 0 to 7"));
    FunctionBuilder b(isa::Core::vector);
    b.flag_set(Pipe::v, Pipe::v, 0);
    b.flag_wait(Pipe::v, Pipe::v, 0);
    CHECK(says(findings(b), Code::flag_one_pipe, "from V to itself"));
}

TEST_CASE("cross-core flags need both sides and an id below 16", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.cross_set(Pipe::v, b.num(3));
    Diagnostics found = findings(b);
    CHECK(only(found, Code::one_sided_sync, "the kernel has no cube section"));
    CHECK(found[0].severity == Severity::error);
    FunctionBuilder cube(isa::Core::cube), vector(isa::Core::vector);
    vector.cross_set(Pipe::v, vector.num(16));
    cube.cross_wait(Pipe::m, cube.num(3));
    ir::Kernel k;
    k.cube = cube.f;
    k.vector = vector.f;
    CHECK(only(check::check(k, chip()), Code::cross_core_id_range, "cross-core id 16"));
}

TEST_CASE("flags are paired on every path", "[check]") {
    auto run = [](auto fill) {
        FunctionBuilder b(isa::Core::vector);
        fill(b);
        return findings(b);
    };
    auto condition = [](FunctionBuilder& b) { return b.binary(E::lt, b.query(E::block_idx), b.num(4)); };
    CHECK(run([](FunctionBuilder& b) { b.flag_set(Pipe::mte2, Pipe::v, 0), b.flag_wait(Pipe::mte2, Pipe::v, 0); }).empty());
    CHECK(only(run([](FunctionBuilder& b) { b.flag_wait(Pipe::mte2, Pipe::v, 0); }), Code::flag_unpaired, "flag MTE2 to V id 0: 1 wait has no set in this program"));
    CHECK(only(run([](FunctionBuilder& b) { b.flag_set(Pipe::mte2, Pipe::v, 0); }), Code::flag_unpaired, "1 set is never awaited"));
    CHECK(count(run([](FunctionBuilder& b) { b.flag_set(Pipe::mte2, Pipe::v, 0), b.flag_wait(Pipe::mte2, Pipe::v, 1); }), Code::flag_unpaired) == 2);
    // SYN-02: the set inside a condition, the wait outside.
    Diagnostics half = run([&](FunctionBuilder& b) {
        b.when(condition(b), [&] { b.flag_set(Pipe::mte2, Pipe::v, 0); });
        b.flag_wait(Pipe::mte2, Pipe::v, 0);
    });
    INFO(all(half));
    CHECK(only(half, Code::flag_unpaired, "is set on one path of a condition and not on the other"));
    // Both inside one condition, both arms alike, or two conditions that are the same: fine.
    CHECK(run([&](FunctionBuilder& b) { b.when(condition(b), [&] { b.flag_set(Pipe::mte2, Pipe::v, 0), b.flag_wait(Pipe::mte2, Pipe::v, 0); }); }).empty());
    CHECK(run([&](FunctionBuilder& b) {
              b.when(condition(b), [&] { b.flag_set(Pipe::mte2, Pipe::v, 0); }, [&] { b.flag_set(Pipe::mte2, Pipe::v, 0); });
              b.flag_wait(Pipe::mte2, Pipe::v, 0);
          }).empty());
    CHECK(run([&](FunctionBuilder& b) {
              b.when(condition(b), [&] { b.flag_set(Pipe::mte2, Pipe::v, 0); });
              b.when(condition(b), [&] { b.flag_wait(Pipe::mte2, Pipe::v, 0); });
          }).empty());
    // Primed before a loop, drained after it.
    CHECK(run([](FunctionBuilder& b) {
              b.flag_set(Pipe::v, Pipe::mte2, 0);
              b.loop(b.var("i"), b.num(8), [&] { b.flag_wait(Pipe::v, Pipe::mte2, 0), b.flag_set(Pipe::v, Pipe::mte2, 0); });
              b.flag_wait(Pipe::v, Pipe::mte2, 0);
          }).empty());
}

TEST_CASE("ids chosen at run time are counted together", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    auto i = b.var("i");
    auto flag = [&](const char* name) {
        b.op(name, {}, {{"set_pipe", isa::enum_value(Pipe::mte2)}, {"wait_pipe", isa::enum_value(Pipe::v)}, {"event_id", b.mod(b.get(i), 2)}});
    };
    b.loop(i, b.num(8), [&] { flag("system.sync_src"), flag("system.sync_dst"); });
    CHECK(findings(b).empty());
}

TEST_CASE("both vector cores run the same INTRA_BLOCK flags", "[check]") {
    auto run = [](auto fill) {
        FunctionBuilder cube(isa::Core::cube), vector(isa::Core::vector);
        cube.cross_wait(Pipe::m, cube.num(0));
        fill(vector);
        ir::Kernel k;
        k.cube = cube.f;
        k.vector = vector.f;
        return check::check(k, chip());
    };
    Diagnostics one = run([](FunctionBuilder& b) {
        auto sub = b.var("sub");
        b.assign(sub, b.query(E::subblock_idx));
        b.when(b.binary(E::eq, b.get(sub), b.num(0)), [&] { b.cross_set(Pipe::v, b.num(0)); });
    });
    INFO(all(one));
    CHECK(only(one, Code::intra_block_condition, "this set in INTRA_BLOCK mode depends on which vector core runs it; the cube waits for both"));
    CHECK(run([](FunctionBuilder& b) {
              b.when(b.binary(E::eq, b.query(E::subblock_idx), b.num(0)), [&] { b.cross_set(Pipe::v, b.num(0)); }, [&] { b.cross_set(Pipe::v, b.num(0)); });
          }).empty());
    // The cube waits for one of them in unicast mode: that is what unicast is for.
    FunctionBuilder cube(isa::Core::cube), vector(isa::Core::vector);
    cube.op("system.wait_cross_core", {}, {{"pipe", isa::enum_value(Pipe::s)}, {"event_id", std::int64_t(15)}, {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode::unicast_block)}});
    vector.when(vector.binary(E::eq, vector.query(E::subblock_idx), vector.num(0)), [&] { vector.cross_set(Pipe::s, vector.num(15)); });
    ir::Kernel unicast;
    unicast.cube = cube.f;
    unicast.vector = vector.f;
    CHECK(check::check(unicast, chip()).empty());
    // The block's number does not tell the cores apart.
    CHECK(run([](FunctionBuilder& b) {
              auto block = b.var("block");
              b.assign(block, b.binary(E::floor_div, b.query(E::block_idx), b.query(E::subblock_num)));
              b.when(b.binary(E::lt, b.get(block), b.num(3)), [&] { b.cross_set(Pipe::v, b.num(0)); });
          }).empty());
}

TEST_CASE("sync_all and its launch", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.op("system.sync_all", {std::monostate{}}, {{"core_type", isa::enum_value(isa::SyncCoreType::aiv_only)}, {"mode", isa::enum_value(isa::SyncAllMode::hard)}});
    ir::Kernel k = kernel_of(b);
    Diagnostics found = check::check(k, chip());
    CHECK(only(found, Code::grid_barrier_launch, "launch as many blocks as run at a time on ascend950pr (64)"));
    CHECK(found[0].severity == Severity::note);
    // SYN-04, both directions.
    CHECK(check_launch(k, chip(), 64).empty());
    Diagnostics few = check_launch(k, chip(), 8), many = check_launch(k, chip(), 65);
    CHECK(only(few, Code::grid_barrier_launch, "sync_all with 8 of 64 blocks"));
    CHECK(few[0].severity == Severity::warning);
    CHECK(only(many, Code::grid_barrier_launch, "waits for all 65 blocks, but only 64 run at a time"));
    CHECK(many[0].severity == Severity::error);
    FunctionBuilder mix(isa::Core::vector);
    mix.op("system.sync_all", {std::monostate{}}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}, {"mode", isa::enum_value(isa::SyncAllMode::soft)}});
    Diagnostics wrong = findings(mix);
    CHECK(says(wrong, Code::sync_all_arguments, "passes core_type=AIV_ONLY"));
    CHECK(says(wrong, Code::sync_all_arguments, "mode SOFT needs its workspaces"));
    FunctionBuilder none(isa::Core::vector);
    CHECK(check_launch(kernel_of(none), chip(), 1000).empty());
}

// LAY-02: the valid shape set after the load.
TEST_CASE("a tail's valid shape is set before its load", "[check]") {
    auto run = [](bool late) {
        FunctionBuilder b(isa::Core::vector);
        auto x = b.tensor("x", {-1, 64});
        auto d = b.group("t", tile_type(32, 64, M::vec), {0, 0x2000}, {0, 1});
        auto r = b.var("r");
        b.loop(r, b.num(0), b.dim(x, 0), b.num(32), [&] {
            auto t = b.next(d);
            auto rows = b.binary(E::min, b.num(32), b.binary(E::sub, b.dim(x, 0), b.get(r)));
            auto shape = [&] { b.op("set_validshape", {t, ir::ExprList{rows, b.num(64)}}); };
            auto load = [&] { b.op("load", {t, x, ir::ExprList{b.get(r), b.num(0)}}); };
            late ? (load(), shape()) : (shape(), load());
            b.op("store", {x, t, ir::ExprList{b.get(r), b.num(0)}});
        });
        return findings(b);
    };
    CHECK(run(false).empty());
    Diagnostics found = run(true);
    INFO(all(found));
    REQUIRE(only(found, Code::valid_shape_late, "is set after the load: that one moved the shape the slot had before, up to 32x64"));
    CHECK(found[0].labels.size() == 1);
}

// PRE-05: set in the `if` arm only, stored after the join.
TEST_CASE("a valid shape is set on every path", "[check]") {
    auto run = [](bool both, bool before) {
        FunctionBuilder b(isa::Core::vector);
        auto x = b.tensor("x", {-1, 64});
        auto d = b.group("t", tile_type(32, 64, M::vec), {0, 0x2000}, {0, 1});
        auto n = b.var("n");
        b.assign(n, b.dim(x, 0));
        auto t = b.next(d);
        auto shape = [&](std::int64_t rows) { b.op("set_validshape", {t, ir::ExprList{b.num(rows), b.num(64)}}); };
        if (before) shape(32);
        auto condition = b.binary(E::lt, b.get(n), b.num(32));
        if (both) b.when(condition, [&] { shape(8); }, [&] { shape(32); });
        else b.when(condition, [&] { shape(8); });
        b.op("store", {x, t, ir::ExprList{b.num(0), b.num(0)}});
        return findings(b);
    };
    CHECK(run(true, false).empty());
    CHECK(run(false, true).empty());
    CHECK(only(run(false, false), Code::valid_shape_path, "is set on this path only; on the other one it is what an earlier turn left in the slot"));
}

TEST_CASE("a clobbered input is not read again", "[check]") {
    auto run = [](bool again) {
        FunctionBuilder b(isa::Core::vector);
        auto tile = [&](const char* name, std::int64_t at) { return b.slot(b.group(name, tile_type(32, 64, M::vec), {at})); };
        auto out = tile("out", 0), x = tile("x", 0x2000), y = tile("y", 0x4000), z = tile("z", 0x6000);
        b.op("add_relu", {out, x, y});
        b.op("exp", {z, again ? x : y});
        return findings(b);
    };
    CHECK(run(false).empty());
    CHECK(only(run(true), Code::clobbered_input, "`x` is read here, but add_relu has overwritten it"));
}

TEST_CASE("integer division of what may be negative", "[check]") {
    auto run = [](auto make) {
        FunctionBuilder b(isa::Core::vector);
        auto x = b.tensor("x", {-1, 64});
        auto v = b.var("v"), i = b.var("i"), n = b.var("n");
        b.assign(n, b.dim(x, 0));
        b.loop(i, b.num(0), b.get(n), b.num(1), [&] { b.assign(v, make(b, i, n)); });
        return findings(b);
    };
    auto mod = [](FunctionBuilder& b, ir::ExprId e) { return b.mod(e, 4); };
    CHECK(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) { return mod(b, b.get(i)); }).empty());
    Diagnostics found = run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) { return mod(b, b.binary(E::sub, b.get(i), b.num(1))); });
    CHECK(only(found, Code::negative_division, "an operand of % may be negative here"));
    CHECK(found[0].severity == Severity::warning);
    CHECK(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) { return mod(b, b.binary(E::sub, b.add(b.get(i), b.num(4)), b.num(1))); }).empty());
    // What is left of a loop that ends at n is positive inside it.
    CHECK(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId n) { return mod(b, b.binary(E::sub, b.get(n), b.get(i))); }).empty());
    CHECK(count(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId n) { return mod(b, b.binary(E::sub, b.get(i), b.get(n))); }), Code::negative_division) == 1);
    CHECK(count(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) { return b.binary(E::floor_div, b.binary(E::sub, b.get(i), b.num(8)), b.num(2)); }), Code::negative_division) == 1);
    // i >= 6 and (i - 6) % 4 == 0
    CHECK(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) {
              return b.binary(E::logical_and, b.binary(E::ge, b.get(i), b.num(6)), b.binary(E::eq, mod(b, b.binary(E::sub, b.get(i), b.num(6))), b.num(0)));
          }).empty());
    CHECK(run([&](FunctionBuilder& b, ir::VarId i, ir::VarId) { return mod(b, b.binary(E::max, b.num(0), b.binary(E::sub, b.get(i), b.num(8)))); }).empty());
}

TEST_CASE("findings come in source order", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.flag_wait(Pipe::mte2, Pipe::v, 0);
    b.flag_set(Pipe::v, Pipe::v, 20);
    Diagnostics found = findings(b);
    REQUIRE(found.size() >= 3);
    for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i - 1].at.begin <= found[i].at.begin);
}
