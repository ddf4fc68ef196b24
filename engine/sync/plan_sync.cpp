#include "engine/sync/plan_sync.hpp"

#include "engine/schedule/plan_schedule.hpp"
#include "engine/sync/graph.hpp"

namespace pto::sync {

std::string_view name(EdgeKind k) { return k == EdgeKind::raw ? "RAW" : k == EdgeKind::war ? "WAR" : "WAW"; }

Result<LoopPlan> plan_loop(const pipeline::Model& model, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const SyncLimits& limits,
                           std::int32_t& overlap_lists) {
    Graph g{model, loop, schedule, limits, {}, {}, {}, {}};
    LoopPlan plan;
    schedule::check_retiming(model, loop, schedule, g.diagnostics);
    build_nodes(g);
    check_channels(g);
    if (g.ok()) {
        plan.edges = draw_edges(g);
        check_cycles(g, plan.edges);
    }
    if (g.ok()) choose_ids(g, plan.edges, plan, overlap_lists);
    if (g.ok()) check_ordering(g, plan.edges);
    Result<LoopPlan> result;
    result.diagnostics = std::move(g.diagnostics);
    if (!pipeline::blocks(result.diagnostics)) result.value = std::move(plan);
    return result;
}

Result<SyncPlan> plan_sync(const pipeline::Model& model, const schedule::Schedule& schedule, const SyncLimits& limits) {
    Result<SyncPlan> result;
    SyncPlan plan;
    std::int32_t overlap_lists = 0;
    for (std::size_t i = 0; i < model.loops.size(); ++i) {
        Result<LoopPlan> one = plan_loop(model, model.loops[i], schedule.loops[i], limits, overlap_lists);
        result.diagnostics.insert(result.diagnostics.end(), one.diagnostics.begin(), one.diagnostics.end());
        if (one) plan.loops.push_back(std::move(*one.value));
    }
    if (pipeline::blocks(result.diagnostics)) return result;
    check_barriers(model, plan, result.diagnostics);
    if (!pipeline::blocks(result.diagnostics)) result.value = std::move(plan);
    return result;
}

} // namespace pto::sync
