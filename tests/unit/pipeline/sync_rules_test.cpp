/// Rules of the planner that no kernel can be written for: they guard its own arithmetic, so they are shown on graphs made by hand.

#include "engine/sync/advice.hpp"
#include "engine/sync/graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pipeline_run.hpp"

#include <algorithm>
#include <cmath>

using namespace pto;
using namespace pto::sync;

namespace {

/// A loop of n stages, cube first, with one channel of two slots between each pair of neighbours.
struct Hand {
    pipeline::Model model;
    schedule::LoopSchedule schedule;
    SyncLimits limits;
    std::int32_t lists = 0;

    explicit Hand(std::int32_t stages, std::int32_t preload = 1) : schedule(schedule::schedule_loop(stages, preload)) {
        pipeline::Loop loop;
        for (std::int32_t i = 0; i < stages; ++i) {
            pipeline::Stage s;
            s.name = "s" + std::to_string(i);
            s.core = i % 2 ? isa::Core::vector : isa::Core::cube;
            if (i > 0) s.accesses.push_back({BufferId{i - 1}, isa::Role::read, i % 2 ? isa::Pipe::v : isa::Pipe::mte1, "read", false, {}, {}});
            if (i + 1 < stages) s.accesses.push_back({BufferId{i}, isa::Role::write, i % 2 ? isa::Pipe::mte3 : isa::Pipe::fix, "write", false, {}, {}});
            loop.stages.push_back(std::move(s));
        }
        for (std::int32_t i = 0; i + 1 < stages; ++i) {
            pipeline::Buffer b;
            b.name = "c" + std::to_string(i);
            b.slots = 2, b.tracked = true;
            b.memory = i % 2 ? isa::MemorySpace::mat : isa::MemorySpace::vec;
            b.mutex_ids = {{2 * i}, {2 * i + 1}};
            b.fwd = {true, {i % 8}, "", {}};
            b.bwd = {true, {8 + i % 8}, "", {}};
            model.buffers.push_back(std::move(b));
            loop.declared_channels.push_back({i});
        }
        model.loops.push_back(std::move(loop));
    }
    Graph graph() {
        Graph g{model, model.loops[0], schedule, limits, {}, {}, {}, {}};
        build_nodes(g);
        return g;
    }
};

bool told(const Graph& g, Code code) {
    return std::any_of(g.diagnostics.begin(), g.diagnostics.end(), [&](const Diagnostic& d) { return d.code == code; });
}

} // namespace

TEST_CASE("K43: a cycle that gains no beat is found, one that gains one is not") {
    Hand hand(2);
    Graph g = hand.graph();
    std::vector<Edge> edges = draw_edges(g);
    check_cycles(g, edges);
    CHECK(g.ok());
    for (Edge& e : edges) e.distance = e.kind == EdgeKind::raw ? 1 : -1; // sum 0
    check_cycles(g, edges);
    REQUIRE(told(g, Code::sync_cycle));
    CHECK(g.diagnostics.back().message.find("0 beats around") != std::string::npos);
}

TEST_CASE("K45: a reuse inside one task against the chain") {
    Hand hand(4);
    Graph g = hand.graph();
    std::vector<Edge> edges = draw_edges(g);
    Edge bad;
    bad.kind = EdgeKind::war, bad.task_offset = 0, bad.slots = 2;
    for (const Node& n : g.nodes) {
        if (n.end.stage.index == 3) bad.from = n.end; // s3 reads c2
        if (n.end.stage.index == 0) bad.to = n.end;   // s0 writes c0
    }
    edges.push_back(bad);
    LoopPlan plan;
    choose_ids(g, edges, plan, hand.lists);
    CHECK(told(g, Code::reuse_against_order));
}

TEST_CASE("K47: an offset that is no multiple of the id count") {
    Hand hand(2);
    hand.model.buffers[0].bwd.ids = {8, 9};
    Graph g = hand.graph();
    std::vector<Edge> edges = draw_edges(g);
    for (Edge& e : edges)
        if (e.kind == EdgeKind::war) e.task_offset = 3;
    LoopPlan plan;
    choose_ids(g, edges, plan, hand.lists);
    CHECK(told(g, Code::skew_multiple));
}

TEST_CASE("permits beyond the counter are refused") {
    Hand hand(2);
    hand.model.buffers[0].slots = 16;
    Graph g = hand.graph();
    std::vector<Edge> edges = draw_edges(g);
    LoopPlan plan;
    choose_ids(g, edges, plan, hand.lists);
    CHECK(told(g, Code::pipeline_permits));
    hand.limits.max_pending = 16;
    Graph wider = hand.graph();
    edges = draw_edges(wider);
    LoopPlan second;
    choose_ids(wider, edges, second, hand.lists);
    CHECK_FALSE(told(wider, Code::pipeline_permits));
}

TEST_CASE("sets and waits balance for every chain, slot count and preload") {
    for (std::int32_t stages = 2; stages <= 9; ++stages)
        for (std::int32_t preload = 0; preload <= 4; ++preload)
            for (std::int32_t slots = 1; slots <= 5; ++slots) {
                Hand hand(stages, preload);
                for (pipeline::Buffer& b : hand.model.buffers) {
                    b.slots = slots;
                    b.mutex_ids.assign(std::size_t(slots), {0});
                }
                std::int32_t lists = 0;
                Result<LoopPlan> plan = plan_loop(hand.model, hand.model.loops[0], hand.schedule, hand.limits, lists);
                std::int32_t needed = 1;
                for (std::int32_t j = 0; j + 1 < stages; ++j) needed = std::max(needed, hand.schedule.delays[std::size_t(j + 1)] - hand.schedule.delays[std::size_t(j)] + 1);
                CAPTURE(stages, preload, slots);
                REQUIRE(bool(plan) == (slots >= needed));
                if (!plan) {
                    CHECK(plan.diagnostics.front().code == Code::too_few_slots);
                    continue;
                }
                CHECK(plan->edges.size() == 2 * std::size_t(stages - 1));
                CHECK(plan->sites.size() == 4 * std::size_t(stages - 1));
                CHECK(plan->prefire.size() == std::size_t(slots) * std::size_t(stages - 1));
                CHECK(plan->drain.size() == plan->prefire.size());
                // Run T tasks of every id: sets and waits are equal, whatever T is.
                for (std::int32_t T : {0, 1, 2, 7}) {
                    std::map<std::pair<isa::Core, std::int32_t>, std::int32_t> balance; // setting core, id
                    for (const Permit& p : plan->prefire) ++balance[{p.core, p.id}];
                    for (const Permit& p : plan->drain) --balance[{p.core == isa::Core::cube ? isa::Core::vector : isa::Core::cube, p.id}];
                    for (const Site& s : plan->sites) {
                        const isa::Core core = hand.model.loops[0].stages[std::size_t(s.stage.index)].core;
                        for (std::int32_t t = 0; t < T; ++t) {
                            const std::int32_t id = s.ids[std::size_t(t % s.slot_count)];
                            if (s.is_wait) --balance[{core == isa::Core::cube ? isa::Core::vector : isa::Core::cube, id}];
                            else ++balance[{core, id}];
                        }
                    }
                    for (const auto& [key, left] : balance) CHECK(left == 0);
                }
            }
}

namespace {

/// Steady cycles per task by playing the tasks: every stage starts when its core is free and its hand-overs have arrived.
double played(const Hand& hand, const std::vector<double>& cycles) {
    const std::int32_t n = std::int32_t(cycles.size()), slots = hand.model.buffers[0].slots, tasks = 200;
    std::vector<std::vector<double>> end(std::size_t(n), std::vector<double>(std::size_t(tasks), 0));
    double free[2] = {0, 0};
    for (std::int32_t beat = 0; beat < tasks + hand.schedule.ring_depth; ++beat)
        for (std::int32_t s = 0; s < n; ++s) {
            const std::int32_t t = beat - hand.schedule.delays[std::size_t(s)];
            if (t < 0 || t >= tasks) continue;
            double at = free[s % 2];
            if (s > 0) at = std::max(at, end[std::size_t(s - 1)][std::size_t(t)]);
            if (s + 1 < n && t >= slots) at = std::max(at, end[std::size_t(s + 1)][std::size_t(t - slots)]);
            free[s % 2] = end[std::size_t(s)][std::size_t(t)] = at + cycles[std::size_t(s)];
        }
    return (end[0][tasks - 40] - end[0][tasks - 100]) / 60;
}

} // namespace

TEST_CASE("predicted cycles per task are those of a played run") {
    const std::vector<std::vector<double>> costs{{100, 50, 300, 20}, {10, 10, 10, 10}, {5, 400, 7, 3}, {90, 100, 80, 120}, {1, 2, 3, 4}};
    for (std::int32_t preload : {0, 1, 2})
        for (std::int32_t slots : {1, 2, 3})
            for (const std::vector<double>& cycles : costs) {
                Hand hand(4, preload);
                for (pipeline::Buffer& b : hand.model.buffers) b.slots = slots, b.mutex_ids.assign(std::size_t(slots), {0});
                std::int32_t lists = 0;
                Result<LoopPlan> plan = plan_loop(hand.model, hand.model.loops[0], hand.schedule, hand.limits, lists);
                if (!plan) continue;
                CAPTURE(preload, slots, cycles);
                StageTimes whole; // each stage on one pipe: the core takes one after the other, as the played run does
                for (double c : cycles) whole.push_back({{isa::Pipe::v, c, 0}});
                CHECK(std::abs(cycles_per_task(hand.model.loops[0], hand.schedule, plan->edges, whole) - played(hand, cycles)) < 1e-6);
            }
}
