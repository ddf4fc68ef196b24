#include "engine/sync/advice.hpp"

#include "engine/schedule/plan_schedule.hpp"
#include "engine/sync/graph.hpp"

#include <algorithm>
#include <set>

namespace pto::sync {
namespace {

/// Channels of a loop with their two stages; empty where a rule is broken.
std::vector<SlotNeed> slot_needs(const pipeline::Model& model, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule) {
    std::vector<SlotNeed> out;
    for (BufferId id : loop.declared_channels) {
        std::int32_t first = -1, last = -1;
        for (std::size_t i = 0; i < loop.stages.size(); ++i)
            for (const pipeline::Access& a : loop.stages[i].accesses)
                if (a.buffer == id) first = first < 0 ? std::int32_t(i) : first, last = std::int32_t(i);
        if (first >= 0) out.push_back({loop.index, id, model[id].slots, schedule.delay(last) - schedule.delay(first) + 1});
    }
    return out;
}

struct List {
    BufferId buffer;
    bool forward;
    auto operator<=>(const List&) const = default;
};

std::vector<RedundantList> redundant_lists(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const LoopPlan& plan) {
    std::vector<RedundantList> out;
    std::set<List> lists;
    for (const Edge& e : plan.edges)
        if (e.emitted() && e.ids_of.valid()) lists.insert({e.ids_of, e.forward});
    std::vector<bool> skip(plan.edges.size(), false);
    const std::vector<bool> before = ordered_by_pipes(loop, schedule, plan.edges, skip);
    for (const List& l : lists) {
        std::vector<bool> without = skip; // lists found so far stay out: they are redundant together
        for (std::size_t i = 0; i < plan.edges.size(); ++i) without[i] = without[i] || (plan.edges[i].emitted() && plan.edges[i].ids_of == l.buffer && plan.edges[i].forward == l.forward);
        // Whatever the whole plan orders, pipe by pipe, the smaller one has to order too.
        const std::vector<bool> now = ordered_by_pipes(loop, schedule, plan.edges, without);
        bool kept = true;
        for (std::size_t i = 0; i < plan.edges.size(); ++i)
            if (plan.edges[i].silent != Silent::same_core && before[i] && !now[i]) kept = false;
        if (!kept) continue;
        skip = without;
        out.push_back({loop.index, l.buffer, l.forward});
    }
    return out;
}

std::vector<ShareChoice> share_choices(const pipeline::Model& model, const pipeline::Loop& loop, const LoopPlan& plan, const SyncLimits& limits) {
    std::vector<ShareChoice> out;
    for (BufferId id : loop.declared_channels)
        for (bool forward : {true, false}) {
            const pipeline::IdList& l = forward ? model[id].fwd : model[id].bwd;
            if (!l.given || l.ids.size() < 2) continue;
            std::int32_t edges = 0;
            for (const Edge& e : plan.edges) edges += e.emitted() && e.ids_of == id && e.forward == forward;
            const std::int32_t pending = std::max(1, edges) * model[id].slots;
            if (pending <= limits.max_pending) out.push_back({loop.index, id, forward, std::int32_t(l.ids.size()) - 1, pending});
        }
    return out;
}

} // namespace

double cycles_per_task(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const std::vector<Edge>& edges, const StageTimes& times) {
    struct Arc {
        std::size_t from, to;
        std::int32_t tokens;
        double cycles;
    };
    // One node for each stage and pipe it uses.
    struct Node {
        std::size_t stage;
        PipeTime time;
    };
    std::vector<Node> nodes;
    std::vector<std::size_t> first_of;
    for (std::size_t s = 0; s < times.size(); ++s) {
        first_of.push_back(nodes.size());
        for (const PipeTime& t : times[s]) nodes.push_back({s, t});
    }
    first_of.push_back(nodes.size());
    const std::size_t n = nodes.size();
    std::vector<Arc> arcs;
    for (std::size_t a = 0; a < n; ++a) // a pipe takes the stages of its core in the order of a beat
        for (std::size_t b = 0; b < n; ++b) {
            const std::size_t s = nodes[a].stage, u = nodes[b].stage;
            if (nodes[a].time.pipe != nodes[b].time.pipe || loop.stages[s].core != loop.stages[u].core) continue;
            arcs.push_back({a, b, schedule.delays[s] - schedule.delays[u] + (u > s ? 0 : 1), nodes[a].time.busy});
        }
    for (std::size_t s = 0; s < times.size(); ++s)
        for (std::size_t k = first_of[s]; k + 1 < first_of[s + 1]; ++k) arcs.push_back({k, k + 1, 0, nodes[k].time.busy + nodes[k].time.flight});
    const auto node = [&](const EdgeEnd& e, bool set) {
        const auto s = std::size_t(e.stage.index);
        for (std::size_t k = first_of[s]; k < first_of[s + 1]; ++k)
            if (nodes[k].time.pipe == e.pipe) return k;
        return set ? first_of[s + 1] - 1 : first_of[s]; // a pipe without time: the whole stage before a set, all of it behind a wait
    };
    for (const Edge& e : edges) {
        const auto from = std::size_t(e.from.stage.index), to = std::size_t(e.to.stage.index);
        if (!e.emitted() || times[from].empty() || times[to].empty()) continue;
        const std::size_t a = node(e.from, true);
        arcs.push_back({a, node(e.to, false), e.task_offset, nodes[a].time.busy + nodes[a].time.flight});
    }
    // Raise the estimate to the mean of any cycle that beats it until none does.
    double best = 0;
    for (int round = 0; round < 64; ++round) {
        std::vector<double> at(n, 0);
        std::vector<std::int32_t> by(n, -1);
        std::int32_t moved = -1;
        for (std::size_t k = 0; k <= n; ++k) {
            moved = -1;
            for (std::size_t i = 0; i < arcs.size(); ++i) {
                const double there = at[arcs[i].from] + arcs[i].cycles - best * arcs[i].tokens;
                if (there > at[arcs[i].to] + 1e-9) at[arcs[i].to] = there, by[arcs[i].to] = std::int32_t(i), moved = std::int32_t(arcs[i].to);
            }
            if (moved < 0) break;
        }
        if (moved < 0) break;
        std::size_t x = std::size_t(moved);
        for (std::size_t k = 0; k < n; ++k) x = arcs[std::size_t(by[x])].from;
        double cost = 0;
        std::int32_t tokens = 0;
        std::size_t y = x;
        do {
            const Arc& a = arcs[std::size_t(by[y])];
            cost += a.cycles, tokens += a.tokens;
            y = a.from;
        } while (y != x);
        if (tokens <= 0 || cost / tokens <= best) break;
        best = cost / tokens;
    }
    return best;
}

Advice advise(const pipeline::Model& model, const AdviceOptions& options) {
    Advice out;
    for (std::int32_t p = 0; p <= options.max_preload; ++p) {
        SweepRow row;
        row.preload = p;
        Result<schedule::Schedule> s = schedule::plan_schedule(model, std::vector<std::int32_t>(model.loops.size(), p));
        Result<SyncPlan> plan = plan_sync(model, *s, options.limits);
        row.accepted = plan && !has_errors(plan.diagnostics);
        for (const Diagnostic& d : plan.diagnostics)
            if (d.severity == Severity::error) row.why_not.push_back(d);
        std::set<std::int32_t> ids;
        for (std::size_t l = 0; l < model.loops.size(); ++l) {
            row.ring_depths.push_back(s->loops[l].ring_depth);
            for (const SlotNeed& need : slot_needs(model, model.loops[l], s->loops[l])) row.slots.push_back(need);
            if (!row.accepted) continue;
            for (const Edge& e : plan->loops[l].edges)
                if (e.emitted()) ids.insert(e.ids.begin(), e.ids.end());
            if (l < options.times.size()) row.cycles_per_task.push_back(cycles_per_task(model.loops[l], s->loops[l], plan->loops[l].edges, options.times[l]));
        }
        row.ids = std::int32_t(ids.size());
        if (row.accepted) out.largest_preload = p;
        out.sweep.push_back(std::move(row));
    }
    Result<schedule::Schedule> s = schedule::plan_schedule(model);
    std::int32_t lists = 0;
    for (std::size_t l = 0; l < model.loops.size(); ++l) {
        Result<LoopPlan> plan = plan_loop(model, model.loops[l], s->loops[l], options.limits, lists);
        const LoopPlan none;
        if (plan)
            for (const RedundantList& r : redundant_lists(model.loops[l], s->loops[l], *plan)) out.redundant.push_back(r);
        for (const ShareChoice& c : share_choices(model, model.loops[l], plan ? *plan : none, options.limits)) out.share.push_back(c);
    }
    std::stable_sort(out.share.begin(), out.share.end(), [](const ShareChoice& a, const ShareChoice& b) { return std::pair(-a.saves, a.pending) < std::pair(-b.saves, b.pending); });
    return out;
}

std::string print(const pipeline::Model& model, const Advice& a) {
    std::string out = "largest preload " + (a.largest_preload ? std::to_string(*a.largest_preload) : std::string("none")) + "\n";
    for (const SweepRow& r : a.sweep) {
        out += "preload " + std::to_string(r.preload) + (r.accepted ? " accepted" : " refused " + std::string(row(r.why_not.front().code).text)) + " depth";
        for (std::int32_t d : r.ring_depths) out += " " + std::to_string(d);
        if (r.accepted) out += " ids " + std::to_string(r.ids);
        for (double c : r.cycles_per_task) out += " cycles " + std::to_string(std::int64_t(c + 0.5));
        for (const SlotNeed& n : r.slots) out += " " + model[n.buffer].name + " " + std::to_string(n.has) + "/" + std::to_string(n.needs);
        out += "\n";
    }
    for (const RedundantList& r : a.redundant) out += std::string("could drop ") + (r.forward ? "fwd_ids" : "bwd_ids") + " of " + model[r.buffer].name + "\n";
    for (const ShareChoice& c : a.share)
        out += std::string("could share ") + (c.forward ? "fwd_ids" : "bwd_ids") + " of " + model[c.buffer].name + ": saves " + std::to_string(c.saves) + ", up to " + std::to_string(c.pending) + " pending\n";
    return out;
}

} // namespace pto::sync
