#pragma once
/// Private to the room: the steps of one loop's plan, in order.

#include "engine/sync/plan_sync.hpp"

namespace pto::sync {

/// One node of the graph: a distinct access of a stage, with its place in the loop.
struct Node {
    EdgeEnd end;
    std::int32_t region = 0;
    bool conditional = false;
};

struct Graph {
    const pipeline::Model& model;
    const pipeline::Loop& loop;
    const schedule::LoopSchedule& schedule;
    const SyncLimits& limits;
    std::vector<Node> nodes;                     // chain order, then source order
    std::vector<std::int32_t> region_slots;      // [regions], regions in order of their first access
    std::vector<std::vector<BufferId>> regions;
    Diagnostics diagnostics;

    const pipeline::Stage& stage(StageId id) const { return loop.stages[std::size_t(id.index)]; }
    std::int32_t delay(StageId id) const { return schedule.delay(id.index); }
    Diagnostic& report(Code code, Span at, std::string message);
    bool ok() const { return !pipeline::blocks(diagnostics); }
};

void build_nodes(Graph& g);                                      // channels.cpp
void check_channels(Graph& g);                                   // channels.cpp   K37 ... K41
std::vector<Edge> draw_edges(Graph& g);                          // edges.cpp      K42
void check_cycles(Graph& g, const std::vector<Edge>& edges);     // cycles.cpp     K43
void choose_ids(Graph& g, std::vector<Edge>& edges, LoopPlan& plan, std::int32_t& overlap_lists); // event_ids.cpp  K44 ... K47, S7
void check_ordering(Graph& g, std::vector<Edge>& edges);         // ordering.cpp   unprotected, gm hand-over
void check_barriers(const pipeline::Model& model, const SyncPlan& plan, Diagnostics& out); // barriers.cpp S4

/// For every edge: do the others (and program order, pipe by pipe, and the locks inside stages) order its two accesses, in the first and
/// the last tasks too? What holds here holds on the program as far as auto_mutex keeps its promise.
std::vector<bool> ordered_by_pipes(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const std::vector<Edge>& edges, const std::vector<bool>& skip);

} // namespace pto::sync
