#pragma once
/// relu(A_i B) D in four stages, pipelined as pipeline 23.2 writes it, as IR for both cores. Sync and slots are parameters, so that
/// tests can weaken them one by one.

#include "tests/support/ir_builder.hpp"

#include <optional>
#include <set>

namespace pto::testing {

/// Edges of the example, in the order edges() lists them when all are there.
enum EdgeName { x_bwd, x_fwd, y_bwd, y_fwd, z_bwd, z_fwd, edge_count };
inline constexpr const char* edge_names[] = {"x.bwd", "x.fwd", "y.bwd", "y.fwd", "z.bwd", "z.fwd"};

/// What a mutant does to one edge.
struct EdgeTweak {
    bool drop_set = false, drop_wait = false, drop_main_wait = false; // ... in the main loop only
    bool wait_behind = false, set_before = false;
    std::int32_t drop_prefire = 0, drop_drain = 0;
    std::int32_t skew = 0;                      // added to prefire and drain alike
    std::optional<isa::Pipe> set_pipe, wait_pipe;
    std::optional<isa::Pipe> late_pipe;         // of the waits behind the main loop: two pipes await one id
    std::optional<std::vector<std::int32_t>> set_ids, wait_ids;
};

struct ChannelSpec {
    std::int32_t slots = 2;
    std::vector<std::int32_t> fwd, bwd; // empty: no sync in that direction
};

struct ReluMatmulSpec {
    std::int32_t preload = 2;           // 0: serial order with sync
    std::int64_t trips = -1;            // constant; -1: the size of a dynamic axis
    ChannelSpec x{2, {0, 1}, {2, 3}}, y{2, {4, 5}, {6, 7}}, z{2, {8, 9}, {10, 11}};
    std::int32_t result_slots = 2;      // q2's local tile
    bool mutexes = true;
    std::array<EdgeTweak, edge_count> tweaks{};
    std::set<std::string> unlocked;     // "cube.acc": groups without mutex ids
};

class ReluMatmul {
  public:
    explicit ReluMatmul(ReluMatmulSpec spec) : m(std::move(spec)) {}

    ir::Kernel kernel() {
        ir::Kernel k;
        k.name = "relu_matmul";
        for (const char* name : {"a", "b", "d", "out"}) {
            ir::Param p;
            p.name = name, p.kind = ir::ParamKind::tensor;
            const bool by_rows = std::string(name) == "a" || std::string(name) == "out";
            p.dims = {{by_rows && m.trips < 0, by_rows ? std::max<std::int64_t>(m.trips, 0) * 64 : 64}, {false, 64}};
            k.params.push_back(std::move(p));
        }
        k.cube = side(isa::Core::cube);
        k.vector = side(isa::Core::vector);
        return k;
    }

  private:
    using M = isa::MemorySpace;
    using P = isa::Pipe;
    using E = ir::ExprOp;

    struct Edge { // one id list between two stages
        std::vector<std::int32_t> ids;
        int from = 0, to = 0; // stages; sets after `from`, waits before `to`
        P set_pipe, wait_pipe;
        std::int32_t skew = 0; // sets up front
        int name = 0;
    };
    std::vector<Edge> edges() const {
        std::vector<Edge> list;
        const auto channel = [&](const ChannelSpec& c, int producer, P produce, P consume) {
            const int name = producer * 2;
            if (!c.bwd.empty()) list.push_back({c.bwd, producer + 1, producer, tweak(name).set_pipe.value_or(consume), tweak(name).wait_pipe.value_or(produce), c.slots + tweak(name).skew, name});
            if (!c.fwd.empty()) list.push_back({c.fwd, producer, producer + 1, tweak(name + 1).set_pipe.value_or(produce), tweak(name + 1).wait_pipe.value_or(consume), tweak(name + 1).skew, name + 1});
        };
        channel(m.x, 0, P::fix, P::v);
        channel(m.y, 1, P::mte3, P::mte1);
        channel(m.z, 2, P::fix, P::mte3);
        return list;
    }
    const EdgeTweak& tweak(int name) const { return m.tweaks[std::size_t(name)]; }
    static isa::Core core_of(int stage) { return stage % 2 ? isa::Core::vector : isa::Core::cube; }
    std::int32_t delay(int stage) const { return m.preload == 0 ? 0 : stage / 2 * m.preload + stage % 2; }

    ir::Function side(isa::Core core) {
        FunctionBuilder b(core);
        const bool cube = core == isa::Core::cube;
        const std::int64_t rows = m.trips < 0 ? -1 : m.trips * 64;
        a = b.tensor("a", {rows, 64}, ir::ParamId{0});
        const auto bt = b.tensor("b", {64, 64}, ir::ParamId{1}), dt = b.tensor("d", {64, 64}, ir::ParamId{2});
        out = b.tensor("out", {rows, 64}, ir::ParamId{3});
        const auto ids = [&](std::int32_t first, std::int32_t n) {
            std::vector<std::int32_t> list;
            for (std::int32_t k = 0; k < n && m.mutexes; ++k) list.push_back(first + k);
            return list;
        };
        const auto group = [&](const char* name, isa::TileType type, std::vector<std::int64_t> at, std::vector<std::int32_t> mutex) {
            if (m.unlocked.count(std::string(cube ? "cube." : "vector.") + name)) mutex.clear();
            return b.group(name, type, std::move(at), std::move(mutex));
        };
        const auto addresses = [](std::int64_t base, std::int64_t bytes, std::int32_t n) {
            std::vector<std::int64_t> list;
            for (std::int32_t k = 0; k < n; ++k) list.push_back(base + k * bytes);
            return list;
        };
        constexpr std::int64_t full = 64 * 64 * 4, half = 32 * 64 * 4;
        x = group("x", tile_type(32, 64, M::vec), addresses(0, half, m.x.slots), ids(0, m.x.slots));
        z = group("z", tile_type(32, 64, M::vec), addresses(0x10000, half, m.z.slots), ids(4, m.z.slots));
        y = group("y", tile_type(64, 64, M::mat), addresses(0x20000, full, m.y.slots), ids(8, m.y.slots));
        if (cube) {
            a1 = group("a1", tile_type(64, 64, M::mat), addresses(0, full, 2), ids(12, 2));
            w1 = group("w1", tile_type(64, 64, M::mat), {0x40000}, ids(16, 1));
            w2 = group("w2", tile_type(64, 64, M::mat), {0x48000}, ids(17, 1));
            left = group("left", tile_type(64, 64, M::left), addresses(0, full, 2), ids(18, 2));
            right = group("right", tile_type(64, 64, M::right), addresses(0, full, 2), ids(20, 2));
            acc = group("acc", tile_type(64, 64, M::acc), addresses(0, full, 2), ids(22, 2));
            b.op("load", {b.slot(w1), bt, ir::ExprList{b.num(0), b.num(0)}});
            b.op("load", {b.slot(w2), dt, ir::ExprList{b.num(0), b.num(0)}});
        } else {
            auto staged = tile_type(32, 64, M::vec);
            staged.layout = isa::Layout::nz;
            r = group("r", staged, addresses(0x18000, half, m.result_slots), ids(12, m.result_slots));
        }
        const auto sub = b.var("sub"), n = b.var("n"), i = b.var("i");
        if (!cube) b.assign(sub, b.query(E::subblock_idx));
        if (m.trips < 0) b.assign(n, b.binary(E::floor_div, b.dim(a, 0), b.num(64)));
        else b.assign(n, b.num(m.trips));
        const auto task = b.var("_pl_task_id");
        b.assign(task, b.num(0));

        for (const Edge& e : edges())
            if (core_of(e.from) == core)
                for (std::int32_t k = 0; k < e.skew - tweak(e.name).drop_prefire; ++k) b.cross_set(e.set_pipe, b.num(set_ids(e)[std::size_t(k) % e.ids.size()]));

        const std::int32_t depth = delay(3) + 1;
        const auto ring = b.structure("ring", {{"valid", isa::DType::index}, {"i", isa::DType::index}, {"task", isa::DType::index}}, depth);
        const auto slot = [&](std::int32_t back) { return ir::StructRef{ring, b.mod(b.add(b.get(task), b.num(depth - back)), depth)}; };
        const auto stages = [&](bool draining) {
            for (int s = 0; s < 4; ++s) {
                if (core_of(s) != core || (draining && delay(s) == 0)) continue;
                const ir::StructRef ctx = slot(delay(s));
                b.when(b.field(ctx, 0), [&] {
                    const auto id = [&](const std::vector<std::int32_t>& list) {
                        return list.size() == 1 ? b.num(list[0]) : b.pick(list, b.mod(b.field(ctx, 2), std::int64_t(list.size())));
                    };
                    const auto waits = [&](bool behind) {
                        for (const Edge& e : edges())
                            if (e.to == s && tweak(e.name).wait_behind == behind && !tweak(e.name).drop_wait && (draining || !tweak(e.name).drop_main_wait))
                                b.cross_wait(draining ? late_pipe(e) : e.wait_pipe, id(wait_ids(e)));
                    };
                    const auto sets = [&](bool before) {
                        for (const Edge& e : edges())
                            if (e.from == s && tweak(e.name).set_before == before && !tweak(e.name).drop_set) b.cross_set(e.set_pipe, id(set_ids(e)));
                    };
                    waits(false), sets(true);
                    b.stage("q" + std::to_string(s + 1), b.field(ctx, 2), [&] { body(b, s, b.field(ctx, 1), sub); });
                    waits(true), sets(false);
                });
            }
        };
        b.loop(i, b.get(n), [&] {
            const ir::StructRef ctx = slot(0);
            b.when(b.binary(E::lt, b.get(i), b.get(n)), [&] { b.set_field(ctx, 0, b.num(1)); }, [&] { b.set_field(ctx, 0, b.num(0)); });
            b.set_field(ctx, 1, b.get(i));
            b.set_field(ctx, 2, b.get(task));
            stages(false);
            b.assign(task, b.add(b.get(task), b.num(1)));
        });
        if (depth > 1) {
            const auto drain = b.var("_pl_drain");
            b.loop(drain, b.num(depth - 1), [&] {
                const ir::StructRef ctx = slot(0);
                b.set_field(ctx, 0, b.num(0));
                b.set_field(ctx, 2, b.get(task));
                stages(true);
                b.assign(task, b.add(b.get(task), b.num(1)));
            });
        }
        for (const Edge& e : edges())
            if (core_of(e.to) == core)
                for (std::int32_t k = 0; k < e.skew - tweak(e.name).drop_drain; ++k) b.cross_wait(late_pipe(e), b.num(wait_ids(e)[std::size_t(k) % e.ids.size()]));
        return std::move(b.f);
    }

    P late_pipe(const Edge& e) const { return tweak(e.name).late_pipe.value_or(e.wait_pipe); }
    const std::vector<std::int32_t>& set_ids(const Edge& e) const { return tweak(e.name).set_ids ? *tweak(e.name).set_ids : e.ids; }
    const std::vector<std::int32_t>& wait_ids(const Edge& e) const { return tweak(e.name).wait_ids ? *tweak(e.name).wait_ids : e.ids; }

    void body(FunctionBuilder& b, int stage, ir::ExprId i, ir::VarId sub) {
        const auto split = FunctionBuilder::Keywords{{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}};
        const auto product = [&](ir::TileVarId from, ir::TileDeclId weights, ir::TileDeclId to) {
            const auto l = b.next(left), rt = b.next(right), c = b.next(acc);
            b.op("move", {l, from});
            b.op("move", {rt, b.slot(weights)});
            b.op("matmul", {c, l, rt});
            b.op("move", {b.next(to), c}, split);
        };
        switch (stage) {
        case 0: {
            const auto t = b.next(a1);
            b.op("load", {t, a, ir::ExprList{b.binary(E::mul, i, b.num(64)), b.num(0)}});
            product(t, w1, x);
            break;
        }
        case 1: {
            const auto from = b.next(x), t = b.next(r);
            b.op("relu", {t, from});
            b.op("insert", {b.next(y), t, ir::ExprList{b.binary(E::mul, b.get(sub), b.num(32)), b.num(0)}});
            break;
        }
        case 2: product(b.next(y), w2, z); break;
        case 3: {
            const auto t = b.next(z);
            b.op("store", {out, t, ir::ExprList{b.add(b.binary(E::mul, i, b.num(64)), b.binary(E::mul, b.get(sub), b.num(32))), b.num(0)}});
            break;
        }
        }
    }

    ReluMatmulSpec m;
    ir::TensorId a, out;
    ir::TileDeclId x, y, z, a1, w1, w2, left, right, acc, r;
};

} // namespace pto::testing
