/// K43: no cycle of dependencies whose beats sum to zero or less. Distances are scaled so that such a cycle, and only such a one, is
/// negative: each edge weighs distance * (n + 1) - 1 in a graph of n nodes.

#include "engine/sync/graph.hpp"

#include <algorithm>

namespace pto::sync {

void check_cycles(Graph& g, const std::vector<Edge>& edges) {
    const std::size_t n = g.nodes.size();
    std::vector<std::int64_t> at(n, 0);
    std::vector<std::int32_t> by(n, -1);
    std::int32_t last = -1;
    for (std::size_t round = 0; round <= n; ++round) {
        last = -1;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const std::size_t from = std::size_t(edges[i].from.seq), to = std::size_t(edges[i].to.seq);
            const std::int64_t there = at[from] + std::int64_t(edges[i].distance) * std::int64_t(n + 1) - 1;
            if (there < at[to]) at[to] = there, by[to] = std::int32_t(i), last = std::int32_t(to);
        }
        if (last < 0) return;
    }
    // Still moving after n rounds: walk back until a node repeats.
    std::size_t x = std::size_t(last);
    for (std::size_t k = 0; k < n; ++k) x = std::size_t(edges[std::size_t(by[x])].from.seq);
    std::vector<const Edge*> cycle;
    std::int32_t total = 0;
    for (std::size_t y = x;;) {
        const Edge& e = edges[std::size_t(by[y])];
        cycle.push_back(&e);
        total += e.distance;
        y = std::size_t(e.from.seq);
        if (y == x) break;
    }
    std::reverse(cycle.begin(), cycle.end());
    std::string path;
    for (const Edge* e : cycle) path += "`" + g.stage(e->from.stage).name + "` on `" + g.model[e->from.buffer].name + "` before ";
    path += "`" + g.stage(cycle.front()->from.stage).name + "`";
    Diagnostic& d = g.report(Code::sync_cycle, cycle.front()->from.at, "these accesses wait for each other, " + std::to_string(total) + (total == -1 || total == 1 ? " beat" : " beats") + " around: " + path);
    for (const Edge* e : cycle) d.labels.push_back({e->to.at, std::string(name(e->kind)) + " after `" + g.stage(e->from.stage).name + "`, " + std::to_string(e->distance) + (e->distance == 1 ? " beat" : " beats")});
    d.advice.push_back("lower the preload, or stop sharing the address");
}

} // namespace pto::sync
