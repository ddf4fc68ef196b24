/// Whole launches: meeting points, debug output, scalars, limits, and the catalogue's promise that a row is enough.
#include "launch.hpp"
#include "tests/support/catch.hpp"

#include "engine/base/source_map.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace pto;
using namespace pto::testing;
using M = isa::MemorySpace;
using P = isa::Pipe;
using execute::HazardKind;
using execute::Status;

TEST_CASE("sync_all orders blocks; without it the same exchange races") {
    for (bool meet : {true, false}) {
        KernelBuilder k;
        std::vector<float> x(4 * 64, 0.0f), y(4 * 64, -1.0f);
        const auto tx = k.tensor("x", x, {4, 64}), ty = k.tensor("y", y, {4, 64});
        auto& b = k.vector;
        const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
        const auto me = b.query(ir::ExprOp::block_idx);
        b.op("fill_index", {t, b.real(1.0)});
        b.op("store", {tx, t, ir::ExprList{me, b.num(0)}});
        if (meet) b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::aiv_only)}});
        b.op("load", {t, tx, ir::ExprList{b.mod(b.add(me, b.num(1)), 4), b.num(0)}});
        b.op("store", {ty, t, ir::ExprList{me, b.num(0)}});
        execute::ExecuteOptions o;
        o.block_dim = 4;
        const auto out = run(k.build(false, true), k.arguments, o);
        INFO(all_messages(out));
        CHECK(out.status == (meet ? Status::done : Status::race));
        CHECK(found(out, HazardKind::block_race) == !meet);
        if (meet) CHECK(y[3 * 64 + 5] == 6.0f);
    }
}

TEST_CASE("blocks that store the same values at the same place are warned, different values race") {
    for (bool same : {true, false}) {
        KernelBuilder k;
        std::vector<float> y(64, -1.0f);
        const auto ty = k.tensor("y", y, {1, 64});
        auto& b = k.vector;
        const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
        b.op("fill_index", {t, same ? b.num(3) : b.query(ir::ExprOp::block_idx)});
        b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
        execute::ExecuteOptions o;
        o.block_dim = 3;
        const auto out = run(k.build(false, true), k.arguments, o);
        INFO(all_messages(out));
        CHECK(out.status == (same ? Status::done : Status::race));
        REQUIRE(found(out, HazardKind::block_race));
        CHECK(out.has_races() == !same);
        if (same) CHECK(y[4] == 7.0f);
    }
}

TEST_CASE("set_stride changes how a window walks, not where it starts") {
    KernelBuilder k;
    std::vector<float> x = numbers(16 * 64), y(2 * 64);
    const auto tx = k.tensor("x", x, {16, 64}), ty = k.tensor("y", y, {2, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(2, 64, M::vec), {0}, {0}));
    b.op("set_stride", {tx, ir::ExprList{b.num(5 * 64), b.num(1)}});
    b.op("load", {t, tx, ir::ExprList{b.num(3), b.num(0)}});
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    CHECK(y[7] == x[3 * 64 + 7]);
    CHECK(y[64 + 7] == x[8 * 64 + 7]);
}

TEST_CASE("a vector INTRA_BLOCK set is what a cube UNICAST_BLOCK wait sees; the other subcore's set is left") {
    KernelBuilder k;
    std::vector<float> x(64);
    k.tensor("x", x, {1, 64});
    k.vector.cross_set(P::v, k.vector.num(5));
    k.cube.op("system.wait_cross_core", {},
              {{"pipe", isa::enum_value(P::m)},
               {"event_id", std::int64_t(5)},
               {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode::unicast_block)}});
    const auto out = run(k.build(true, true), k.arguments);
    INFO(all_messages(out));
    CHECK(out.status == Status::done);
    REQUIRE(out.hazards.size() == 1);
    CHECK(out.hazards[0].kind == HazardKind::counter_left);
    CHECK(out.hazards[0].message.find("from AIV1 is 1 at the end") != std::string::npos);
}

TEST_CASE("text printed before a refusal is kept") {
    KernelBuilder k;
    std::vector<float> x(64);
    const auto tx = k.tensor("x", x, {1, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
    b.op("printf", {std::string("before\n")});
    b.op("load", {t, tx, ir::ExprList{b.num(1), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    CHECK(out.status == Status::out_of_range);
    CHECK(out.text == "before\n");
}

TEST_CASE("sync_all with more blocks than cores hangs and says both numbers") {
    KernelBuilder k;
    std::vector<float> x(64);
    k.tensor("x", x, {1, 64});
    k.vector.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::aiv_only)}});
    execute::ExecuteOptions o;
    o.block_dim = 2 * KernelBuilder::chip().cube_cores + 1;
    const auto out = run(k.build(false, true), k.arguments, o);
    REQUIRE(out.status == Status::hang);
    CHECK(out.message == "1 blocks wait for a free core while " + std::to_string(2 * KernelBuilder::chip().cube_cores) +
                             " blocks wait for all of them: the chip runs at most " +
                             std::to_string(2 * KernelBuilder::chip().cube_cores) + " at a time");
}

TEST_CASE("printf, assertions and dumps, ordered by block") {
    KernelBuilder k;
    SourceMap source;
    const FileId file = source.add("/some/where/kernel.py", "pl.printf('x')\ncheck(a > 1)\n");
    std::vector<float> x = {1.5f, 2.0f, -3.25f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f};
    const auto tx = k.tensor("x", x, {1, 8});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 8, M::vec), {0}, {0}));
    b.op("set_validshape", {t, ir::ExprList{b.num(1), b.num(3)}});
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.op("printf",
         {std::string("%d|%+08.3f|%#08x|%-4u|\n"), b.query(ir::ExprOp::block_idx), b.real(3.14), b.num(0x1234),
          b.num(7)},
         {{"loc", true}});
    auto& assertion = b.op("pto_assert", {b.num(0, isa::DType::boolean), std::string("got %d\n"), b.num(5)});
    assertion.operand_spans[0] = {file, 21, 26};
    b.op("dump_data", {t}, {{"flag", std::string("mine")}});
    const auto program = k.build(false, true);
    // Fake spans of the builder lie in file 0, which is the text above.
    execute::ExecuteOptions o;
    o.block_dim = 2;
    o.source = &source;
    const auto out = run(program, k.arguments, o);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    auto block = [](int n) {
        return "[kernel.py:1] " + std::to_string(n) +
               "|+003.140|0x001234|7   |\nAssertion failed: a > 1\ngot 5\n"
               "=== [mine] [dump_tile] dtype: float32, shape=[1, 8], valid=[1, 3], Layout: ND ===\n"
               "1.500000 2.000000 -3.250000 | nan nan nan nan nan \n--------\n";
    };
    std::string text = out.text;
    for (std::size_t at; (at = text.find("-nan")) != std::string::npos;) text.erase(at, 1); // the poison's sign
    CHECK(text == block(0) + block(1));
}

TEST_CASE("scalars: elements of tiles and tensors, structs through the shared buffer, early exit") {
    KernelBuilder k;
    std::vector<float> x = numbers(64), y(64, 0.0f);
    const auto tx = k.tensor("x", x, {1, 64}), ty = k.tensor("y", y, {1, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
    const auto v = b.var("v", isa::DType::fp32), w = b.var("w", isa::DType::fp32);
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.op("getval", {t, b.num(3)}).results = {v};
    b.op("getval", {tx, b.num(4)}).results = {w};
    b.op("setval", {t, b.num(0), b.binary(ir::ExprOp::add, b.get(v), b.get(w))});
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    b.when(b.binary(ir::ExprOp::ge, b.num(1), b.num(0)), [&] { b.op("trap", {}); });
    b.op("expands", {t, b.real(0.0)});
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    CHECK(y[0] == x[3] + x[4]);
    CHECK(y[1] == x[1]);
}

TEST_CASE("an endless scalar loop reaches its limit; an interrupt ends a launch and leaves the buffers") {
    KernelBuilder k;
    std::vector<float> y(64, 5.0f);
    const auto ty = k.tensor("y", y, {1, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
    b.op("expands", {t, b.real(1.0)});
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto i = b.var("i");
    b.forever([&] { b.assign(i, b.add(b.get(i), b.num(1))); });
    const auto program = k.build(false, true);
    execute::ExecuteOptions o;
    o.scalar_limit = 1'000'000;
    const auto limited = run(program, k.arguments, o);
    CHECK(limited.status == Status::limit);
    CHECK(limited.message.find("1000000 scalar instructions") != std::string::npos);
    struct Stopper : Sink {
        int polls = 0;
        void write(std::string_view) override {}
        void poll() override {
            if (++polls == 3) cancelled = true;
        }
    } sink;
    o.scalar_limit = INT64_MAX;
    o.sink = &sink;
    CHECK(run(program, k.arguments, o).status == Status::interrupted);
    CHECK(sink.polls == 3);
    CHECK(y[0] == 5.0f);
}

TEST_CASE("host buffers that share memory share addresses") {
    KernelBuilder k;
    std::vector<float> x = numbers(128);
    const std::vector<float> before = x;
    const auto tx = k.tensor("x", x, {2, 64});
    const auto ty = k.tensor("y", x, {2, 64});
    k.arguments.arguments[1].buffer = {x.data() + 64, 64 * 4};
    k.arguments.arguments[1].shape = {1, 64};
    k.kernel.params[1].dims[0].size = 1;
    k.vector.f.tensors[1].dims[0].size = 1;
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0}));
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.op("store", {ty, t, ir::ExprList{b.num(0), b.num(0)}});
    b.op("system.bar_all", {});
    b.op("load", {t, tx, ir::ExprList{b.num(1), b.num(0)}});
    b.op("add", {t, t, t});
    b.op("store", {tx, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    CHECK(x[64 + 7] == before[7]);
    CHECK(x[7] == before[7] + before[7]);
}

TEST_CASE("a SIMT launch runs its body once per thread") {
    KernelBuilder k;
    std::vector<float> x = numbers(64), y(64, 0.0f);
    const auto tx = k.tensor("x", x, {1, 64}), ty = k.tensor("y", y, {1, 64});
    auto& b = k.vector;
    ir::SimtLaunch launch;
    launch.name = "reverse";
    launch.arguments = {tx, ty};
    launch.x = b.num(8), launch.y = b.num(8), launch.z = b.num(1);
    launch.thread_x = b.var("tx"), launch.thread_y = b.var("ty");
    const auto n = b.add(b.get(launch.thread_x), b.binary(ir::ExprOp::mul, b.get(launch.thread_y), b.num(8)));
    const auto v = b.var("v", isa::DType::fp32);
    ir::Op get, set;
    get.row = isa::Catalogue::builtin().find("getval");
    get.operands = {tx, n};
    get.results = {v};
    set.row = isa::Catalogue::builtin().find("setval");
    set.operands = {ty, b.binary(ir::ExprOp::sub, b.num(63), n),
                    b.binary(ir::ExprOp::mul, b.get(v), b.real(2.0), isa::DType::fp32)};
    launch.body.push_back({get, {}});
    launch.body.push_back({set, {}});
    b.emit(std::move(launch));
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    for (int c = 0; c < 64; ++c) REQUIRE(y[std::size_t(63 - c)] == x[std::size_t(c)] * 2.0f);
}

TEST_CASE("a row added to a copy of the catalogue runs without a change here") {
    isa::Catalogue catalogue = isa::Catalogue::copy_of_builtin();
    isa::OpRow row = *catalogue.find("add");
    row.name = "gentle_difference";
    row.lane = isa::LaneFn::abs_sub;
    const isa::OpRow& added = catalogue.add(row);
    KernelBuilder k;
    std::vector<float> x = numbers(64), y = numbers(64, 9), z(64);
    const auto tx = k.tensor("x", x, {1, 64}), ty = k.tensor("y", y, {1, 64}), tz = k.tensor("z", z, {1, 64});
    auto& b = k.vector;
    const auto t = b.slot(b.group("t", tile_type(1, 64, M::vec), {0}, {0})),
               u = b.slot(b.group("u", tile_type(1, 64, M::vec), {256}, {1}));
    b.op("load", {t, tx, ir::ExprList{b.num(0), b.num(0)}});
    b.op("load", {u, ty, ir::ExprList{b.num(0), b.num(0)}});
    b.op("add", {t, t, u}).row = &added;
    b.op("store", {tz, t, ir::ExprList{b.num(0), b.num(0)}});
    const auto out = run(k.build(false, true), k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::done);
    for (std::size_t c = 0; c < 64; ++c) REQUIRE(z[c] == std::abs(x[c] - y[c]));
}

TEST_CASE("nothing in this room looks at an operation's name") {
    // Quoted row names of at least two letters may not appear in the sources, except where a name is also a keyword's
    // or the language's.
    std::vector<std::string> names;
    for (const isa::OpRow& r : isa::Catalogue::builtin().rows()) names.push_back("\"" + std::string(r.name) + "\"");
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("engine/execute")) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
        std::ifstream in(entry.path());
        std::stringstream text;
        text << in.rdbuf();
        ++files;
        for (const std::string& n : names) {
            INFO(entry.path().string() << " mentions " << n);
            CHECK(text.str().find("== " + n) == std::string::npos);
            CHECK(text.str().find("find(" + n) == std::string::npos);
        }
    }
    CHECK(files > 20);
}
