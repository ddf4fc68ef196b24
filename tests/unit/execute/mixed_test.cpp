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

constexpr int tile = 64, tasks = 4;

/// out = relu(a @ b) @ d, a row tile a task: cube, vector, cube, vector, two slots each, ids as the pipeline transform
/// hands them out.
struct ReluMatmul {
    std::vector<float> a = numbers(tasks * tile * tile, 1), b = numbers(tile * tile, 2), d = numbers(tile * tile, 3),
                       out = std::vector<float>(tasks * tile * tile, -7.0f);
    KernelBuilder k;
    program::Program program;

    /// `drop` names a sync site to leave out: 0 none, 1 the set after relu, 2 the wait before the second product, 3 the
    /// slot-free wait of relu.
    explicit ReluMatmul(int drop = 0) {
        using S = isa::AccToVecMode;
        const auto ta = k.tensor("a", a, {tasks * tile, tile}), tb = k.tensor("b", b, {tile, tile}),
                   td = k.tensor("d", d, {tile, tile}), to = k.tensor("out", out, {tasks * tile, tile});
        const auto half = tile_type(tile / 2, tile, M::vec), nz_half = [] {
            auto t = tile_type(tile / 2, tile, M::vec);
            t.layout = isa::Layout::nz;
            return t;
        }();
        const std::int64_t bytes = tile * tile * 4, half_bytes = bytes / 2;
        { // cube
            auto& c = k.cube;
            const auto mat = tile_type(tile, tile, M::mat), left = tile_type(tile, tile, M::left),
                       right = tile_type(tile, tile, M::right), acc = tile_type(tile, tile, M::acc);
            const auto p = c.group("p", mat, {0x20000, 0x24000}), ga = c.group("a", mat, {0, 0x4000}, {0, 1}),
                       gb = c.group("b", mat, {0x8000}, {2}), gd = c.group("d", mat, {0xC000}, {3});
            const auto gl = c.group("l", left, {0, 0x4000}, {4, 5}), gr = c.group("r", right, {0, 0x4000}, {6, 7}),
                       gacc = c.group("acc", acc, {0, 0x4000}, {8, 9});
            const auto mm = c.group("mm", half, {0, half_bytes}),
                       res = c.group("res", half, {4 * half_bytes, 5 * half_bytes});
            const auto i = c.var("i");
            const auto pb = c.slot(gb), pd = c.slot(gd);
            c.op("load", {pb, tb, ir::ExprList{c.num(0), c.num(0)}});
            c.op("load", {pd, td, ir::ExprList{c.num(0), c.num(0)}});
            // One beat an iteration: stage1 of task i, then stage3 of task i - 2.
            c.loop(i, c.num(tasks + 2), [&] {
                c.when(c.binary(ir::ExprOp::lt, c.get(i), c.num(tasks)), [&] {
                    const auto slot = c.mod(c.get(i), 2);
                    c.stage("stage1", c.get(i), [&] {
                        const auto ma = c.next(ga), l = c.next(gl), r = c.next(gr), x = c.next(gacc);
                        c.op("load",
                             {ma, ta, ir::ExprList{c.binary(ir::ExprOp::mul, c.get(i), c.num(tile)), c.num(0)}});
                        c.op("move", {l, ma});
                        c.op("move", {r, pb});
                        c.op("matmul", {x, l, r});
                        c.cross_wait(P::fix, c.pick({2, 3}, slot)); // mm free
                        // As an extracting split move needs it: the valid shape of both halves together.
                        c.op("set_validshape", {c.slot(mm, slot), ir::ExprList{c.num(tile), c.num(tile)}});
                        c.op("move", {c.slot(mm, slot), x}, {{"acc_to_vec_mode", isa::enum_value(S::split_m)}});
                        c.cross_set(P::fix, c.pick({0, 1}, slot)); // mm ready
                    });
                });
                c.when(c.binary(ir::ExprOp::ge, c.get(i), c.num(2)), [&] {
                    const auto task = c.binary(ir::ExprOp::sub, c.get(i), c.num(2));
                    const auto slot = c.mod(task, 2);
                    c.stage("stage3", task, [&] {
                        const auto l = c.next(gl), r = c.next(gr), x = c.next(gacc);
                        if (drop != 2) c.cross_wait(P::mte1, c.pick({4, 5}, slot)); // p ready
                        c.op("move", {l, c.slot(p, slot)});
                        c.cross_set(P::mte1, c.pick({6, 7}, slot)); // p free
                        c.op("move", {r, pd});
                        c.op("matmul", {x, l, r});
                        c.cross_wait(P::fix, c.pick({10, 11}, slot)); // res free
                        c.op("move", {c.slot(res, slot), x}, {{"acc_to_vec_mode", isa::enum_value(S::split_m)}});
                        c.cross_set(P::fix, c.pick({8, 9}, slot)); // res ready
                    });
                });
            });
        }
        { // vector
            auto& v = k.vector;
            const auto mat = tile_type(tile, tile, M::mat);
            const auto p = v.group("p", mat, {0x20000, 0x24000}), mm = v.group("mm", half, {0, half_bytes}),
                       nz = v.group("nz", nz_half, {2 * half_bytes, 3 * half_bytes}, {10, 11}),
                       relu = v.group("relu", half, {6 * half_bytes, 7 * half_bytes}, {12, 13}),
                       res = v.group("res", half, {4 * half_bytes, 5 * half_bytes});
            const auto i = v.var("i");
            const auto sub_rows = v.binary(ir::ExprOp::mul, v.query(ir::ExprOp::subblock_idx), v.num(tile / 2));
            for (int id : {2, 3}) v.cross_set(P::v, v.num(id));
            for (int id : {10, 11}) v.cross_set(P::mte3, v.num(id));
            // One beat an iteration: stage2 of task i, then stage4 of task i - 2.
            v.loop(i, v.num(tasks + 2), [&] {
                v.when(v.binary(ir::ExprOp::lt, v.get(i), v.num(tasks)), [&] {
                    const auto slot = v.mod(v.get(i), 2);
                    v.stage("stage2", v.get(i), [&] {
                        const auto r = v.next(relu), n = v.next(nz);
                        v.cross_wait(P::v, v.pick({0, 1}, slot)); // mm ready
                        v.op("relu", {r, v.slot(mm, slot)});
                        v.cross_set(P::v, v.pick({2, 3}, slot)); // mm free
                        v.op("move", {n, r});
                        if (drop != 3) v.cross_wait(P::mte3, v.pick({6, 7}, slot)); // p free
                        v.op("insert", {v.slot(p, slot), n, ir::ExprList{sub_rows, v.num(0)}});
                        if (drop != 1) v.cross_set(P::mte3, v.pick({4, 5}, slot)); // p ready
                    });
                });
                v.when(v.binary(ir::ExprOp::ge, v.get(i), v.num(2)), [&] {
                    const auto task = v.binary(ir::ExprOp::sub, v.get(i), v.num(2));
                    const auto slot = v.mod(task, 2);
                    v.stage("stage4", task, [&] {
                        v.cross_wait(P::mte3, v.pick({8, 9}, slot)); // res ready
                        v.op("store",
                             {to, v.slot(res, slot),
                              ir::ExprList{v.add(v.binary(ir::ExprOp::mul, task, v.num(tile)), sub_rows), v.num(0)}});
                        v.cross_set(P::mte3, v.pick({10, 11}, slot)); // res free
                    });
                });
            });
        }
        if (drop != 3) { // p starts free; its last two releases are drained by the vector side
            auto& c = k.cube;
            ir::Body first;
            std::swap(first, c.f.body);
            for (int id : {6, 7}) c.cross_set(P::mte1, c.num(id));
            c.f.body.insert(c.f.body.end(), first.begin(), first.end());
            for (int id : {6, 7}) k.vector.cross_wait(P::mte3, k.vector.num(id));
        }
        for (int id : {2, 3}) k.cube.cross_wait(P::fix, k.cube.num(id));
        for (int id : {10, 11}) k.cube.cross_wait(P::fix, k.cube.num(id));
        program = k.build(true, true);
    }

    std::vector<float> expected() const {
        std::vector<float> p(a.size()), r(a.size());
        auto product = [](const float* x, const float* y, float* z, int rows) {
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < tile; ++j) {
                    float s = 0;
                    for (int n = 0; n < tile; ++n) s = std::fma(x[i * tile + n], y[n * tile + j], s);
                    z[i * tile + j] = s;
                }
        };
        product(a.data(), b.data(), p.data(), tasks * tile);
        for (float& v : p) v = std::max(v, 0.0f);
        product(p.data(), d.data(), r.data(), tasks * tile);
        return r;
    }
};

} // namespace

TEST_CASE("relu_matmul over two cores: right to the bit and clean under every order") {
    ReluMatmul k;
    const std::vector<float> expected = k.expected();
    auto orders = execute::hostile_orders(k.program);
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        orders.push_back({execute::OrderPolicy::Kind::random, {}, 0, {}, seed});
    CHECK(orders.size() == 1 + 2 * 5 + 2 * 2 * 3 + 6);
    for (const execute::OrderPolicy& order : orders) {
        std::fill(k.out.begin(), k.out.end(), -7.0f);
        execute::ExecuteOptions o;
        o.order = order;
        const auto out = run(k.program, k.k.arguments, o);
        INFO(execute::text(order) << "\n" << all_messages(out));
        REQUIRE(out.status == Status::done);
        CHECK(out.hazards.empty());
        CHECK((k.out == expected)); // not printed element by element
    }
}

TEST_CASE("a set that nobody makes hangs, with the stages done and who should have come") {
    ReluMatmul k(1);
    const auto out = run(k.program, k.k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::hang);
    CHECK(k.out[0] == -7.0f);
    REQUIRE_FALSE(out.hang.stuck.empty());
    const execute::StuckPipe& cause = out.hang.stuck[0];
    CHECK(cause.is_cause);
    CHECK(cause.core.kind == isa::Core::cube);
    CHECK(cause.pipe == P::mte1);
    CHECK(cause.at.stage == "stage3");
    CHECK(cause.at.task == 0);
    CHECK(cause.waits_for == "cross-core id 4 (INTRA_BLOCK) from AIV0");
    CHECK(cause.expected == "set 0 times, awaited 1 times; no set is left in any program");
    CHECK_FALSE(out.hang.circle);
    for (std::size_t i = 1; i < out.hang.stuck.size(); ++i) CHECK_FALSE(out.hang.stuck[i].is_cause);
    bool seen = false;
    for (const auto& s : out.stages)
        if (s.stage == "stage3") {
            seen = true;
            CHECK(s.finished == 0);
        }
    CHECK(seen);
}

TEST_CASE("a wait that is left out is a race between the cores") {
    ReluMatmul k(2);
    const auto out = run(k.program, k.k.arguments);
    INFO(all_messages(out));
    REQUIRE(out.status == Status::race);
    bool seen = false;
    for (const auto& h : out.hazards)
        if (h.kind == HazardKind::race && h.memory == M::mat &&
            (h.first.operation == "insert") != (h.second.operation == "insert")) {
            seen = true;
            CHECK(h.owner.kind == isa::Core::cube);
            CHECK(h.what.substr(0, 6) == "p slot");
        }
    CHECK(seen);
    CHECK(found(out, HazardKind::counter_left)); // the sets that nobody awaits
}

TEST_CASE("overwriting a slot that is still read names both tasks, and some order computes the right value") {
    ReluMatmul k(3);
    const std::vector<float> expected = k.expected();
    execute::ExecuteOptions o;
    o.strict = false;
    const auto out = run(k.program, k.k.arguments, o);
    INFO(all_messages(out));
    CHECK(out.status == Status::done);
    CHECK_FALSE((k.out == expected)); // program order lets the vector side run ahead
    bool seen = false;
    for (const auto& h : out.hazards)
        if (h.kind == HazardKind::race && h.first.operation == "move" && h.second.operation == "insert") {
            seen = true;
            CHECK(h.first.task == 0);
            CHECK(h.second.task == 2);
            CHECK(h.message == "p slot 0: stage2 (task 2) may overwrite what stage3 (task 0) still reads");
        }
    CHECK(seen);
    o.order = *execute::parse_order("early(AIC.MTE1)");
    CHECK(found(run(k.program, k.k.arguments, o), HazardKind::race));
    o.order = *execute::parse_order("late(AIV0.MTE3)");
    CHECK(run(k.program, k.k.arguments, o).status == Status::done);
}

TEST_CASE("the record lists every instruction with its work") {
    ReluMatmul k;
    const auto out = run(k.program, k.k.arguments);
    REQUIRE(out.status == Status::done);
    REQUIRE(out.record.cores.size() == 3);
    const auto& cube = out.record.cores[0];
    CHECK(cube.core == isa::Core::cube);
    int products = 0;
    for (const auto& row : cube.rows)
        if (out.record.sites[std::size_t(row.site)].name == "matmul") {
            ++products;
            CHECK(row.m == tile);
            CHECK(row.n == tile);
            CHECK(row.k == tile);
            CHECK(out.record.sites[std::size_t(row.site)].timing == "cube.fp32");
        }
    CHECK(products == 2 * tasks);
    CHECK(cube.stages == std::vector<std::string>{"stage1", "stage3"});
}
