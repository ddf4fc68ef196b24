/// Is a dependency that carries no id kept by the others? Stages are taken as whole here: a "no" is certain, a "yes" still has to be
/// proven on the program, pipe by pipe.

#include "engine/sync/graph.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace pto::sync {

namespace {

/// `from` of a task comes before `to` of the task `tasks` later.
struct Arc {
    std::size_t from, to;
    std::int32_t tasks;
    bool handed; // by a set and its wait: these two tasks and no earlier one
};

/// For every node the smallest u such that `start` of task t comes before it in task t + u, through events of the tasks t ... t + within
/// only: the last task of a loop has no later one that could hold it, and the first has no earlier one.
std::vector<std::optional<std::int32_t>> reach(std::size_t nodes, const std::vector<Arc>& arcs, std::size_t start, std::int32_t within) {
    std::vector<std::optional<std::int32_t>> at(nodes);
    at[start] = 0;
    for (bool moved = true; moved;) { // ends: what is held only falls, and never below 0
        moved = false;
        for (const Arc& a : arcs) {
            if (!at[a.from]) continue;
            // Program order holds towards every later task too, so an arc that leads before task t leads to task t.
            const std::int32_t there = a.handed ? *at[a.from] + a.tasks : std::max(0, *at[a.from] + a.tasks);
            if (there < 0 || there > within || (at[a.to] && *at[a.to] <= there)) continue;
            at[a.to] = there, moved = true;
        }
    }
    return at;
}

/// How many tasks later stage `b` is surely behind stage `a` when one core runs both.
std::int32_t later(const schedule::LoopSchedule& schedule, std::size_t a, std::size_t b) { return schedule.delays[a] - schedule.delays[b] + (b > a ? 0 : 1); }

/// Stages as wholes, in program order on each core and by the hand-overs.
class StageOrder {
public:
    StageOrder(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const std::vector<Edge>& edges) : m_stages(loop.stages.size()) {
        for (std::size_t a = 0; a < m_stages; ++a)
            for (std::size_t b = 0; b < m_stages; ++b)
                if (loop.stages[a].core == loop.stages[b].core) m_arcs.push_back({a, b, later(schedule, a, b), false});
        for (const Edge& e : edges)
            if (e.emitted()) m_arcs.push_back({std::size_t(e.from.stage.index), std::size_t(e.to.stage.index), e.task_offset, true});
        for (const Arc& a : m_arcs) m_far += std::max(a.tasks, 0);
    }

    /// Does `from` of task t come before `to` of task t + tasks, whatever the number of tasks?
    bool ordered(std::size_t from, std::size_t to, std::int32_t tasks) const { return earliest(from, to, tasks).has_value(); }

    /// The tasks that `to` is behind while the loop goes on, however many tasks the way needs; empty when nothing orders them.
    std::optional<std::int32_t> in_the_middle(std::size_t from, std::size_t to) const { return earliest(from, to, m_far); }

    /// The latest task, counted from t, whose events the shortest way needs that orders `to` of task t + tasks.
    std::int32_t needs_task(std::size_t from, std::size_t to, std::int32_t tasks) const {
        std::int32_t within = tasks;
        for (std::optional<std::int32_t> u; within < m_far && (!(u = earliest(from, to, within)) || *u > tasks);) ++within;
        return within;
    }

private:
    std::optional<std::int32_t> earliest(std::size_t from, std::size_t to, std::int32_t within) const { return reach(m_stages, m_arcs, from, within)[to]; }

    std::size_t m_stages;
    std::vector<Arc> m_arcs;
    std::int32_t m_far = 0;
};

} // namespace

std::vector<bool> ordered_by_pipes(const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const std::vector<Edge>& edges, const std::vector<bool>& skip) {
    constexpr std::size_t pipes = std::size_t(isa::Pipe::all);
    const std::size_t n = loop.stages.size(), nodes = n * pipes * 2;
    // Two points for each stage and pipe: the sets behind the stage, the waits in front of it.
    auto set = [&](std::int32_t stage, isa::Pipe p) { return std::size_t(stage) * pipes + std::size_t(p); };
    auto wait = [&](std::int32_t stage, isa::Pipe p) { return n * pipes + set(stage, p); };
    std::vector<Arc> arcs;
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (edges[i].emitted() && !skip[i]) arcs.push_back({set(edges[i].from.stage.index, edges[i].from.pipe), wait(edges[i].to.stage.index, edges[i].to.pipe), edges[i].task_offset, true});
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
            if (loop.stages[a].core != loop.stages[b].core) continue;
            const std::int32_t behind = later(schedule, a, b);
            for (std::size_t p = 0; p < pipes; ++p) {
                arcs.push_back({set(std::int32_t(a), isa::Pipe(p)), set(std::int32_t(b), isa::Pipe(p)), behind, false});
                arcs.push_back({wait(std::int32_t(a), isa::Pipe(p)), wait(std::int32_t(b), isa::Pipe(p)), behind, false});
            }
        }
        // Inside a stage: the sets of a pipe come after what another pipe did, when each of its operations shares a slot with a later one there.
        const std::vector<pipeline::StageOp>& ops = loop.stages[a].ops;
        for (std::size_t p = 0; p < pipes; ++p) {
            std::optional<std::set<isa::Pipe>> behind;
            for (std::size_t first = 0; first < ops.size(); ++first) {
                if (ops[first].pipe != isa::Pipe(p)) continue;
                std::set<std::int32_t> held(ops[first].slots.begin(), ops[first].slots.end());
                std::set<isa::Pipe> reached;
                for (std::size_t k = first + 1; k < ops.size(); ++k) {
                    if (ops[k].conditional || std::none_of(ops[k].slots.begin(), ops[k].slots.end(), [&](std::int32_t s) { return held.count(s) > 0; })) continue;
                    held.insert(ops[k].slots.begin(), ops[k].slots.end());
                    reached.insert(ops[k].pipe);
                }
                if (behind) std::erase_if(*behind, [&](isa::Pipe q) { return !reached.count(q); });
                else behind = reached;
            }
            if (behind)
                for (isa::Pipe q : *behind) arcs.push_back({set(std::int32_t(a), isa::Pipe(p)), set(std::int32_t(a), q), 0, false});
        }
        // And a wait holds back its pipe, and through shared slots the pipes that use them later.
        for (std::size_t p = 0; p < pipes; ++p) {
            std::set<std::int32_t> held;
            std::set<isa::Pipe> reached{isa::Pipe(p)};
            for (const pipeline::StageOp& op : ops) {
                if (op.conditional) continue;
                const bool touched = reached.count(op.pipe) || std::any_of(op.slots.begin(), op.slots.end(), [&](std::int32_t s) { return held.count(s) > 0; });
                if (!touched) continue;
                held.insert(op.slots.begin(), op.slots.end());
                reached.insert(op.pipe);
            }
            for (isa::Pipe q : reached) arcs.push_back({wait(std::int32_t(a), isa::Pipe(p)), set(std::int32_t(a), q), 0, false});
        }
    }
    std::vector<bool> out(edges.size(), false);
    std::map<std::pair<std::size_t, std::int32_t>, std::vector<std::optional<std::int32_t>>> reached;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const std::size_t start = set(edges[i].from.stage.index, edges[i].from.pipe);
        auto [from, fresh] = reached.try_emplace({start, edges[i].task_offset});
        if (fresh) from->second = reach(nodes, arcs, start, edges[i].task_offset);
        out[i] = from->second[wait(edges[i].to.stage.index, edges[i].to.pipe)].has_value();
    }
    return out;
}

namespace {

/// Does a wait of `pipe` in front of a stage hold back its operation at `at`: on that pipe, or through slots that operations share?
bool holds_back(const std::vector<pipeline::StageOp>& ops, isa::Pipe pipe, Span at) {
    std::set<std::int32_t> held;
    std::set<isa::Pipe> reached{pipe};
    for (const pipeline::StageOp& op : ops) {
        const bool touched = reached.count(op.pipe) || std::any_of(op.slots.begin(), op.slots.end(), [&](std::int32_t s) { return held.count(s) > 0; });
        if (op.at == at) return touched;
        if (!touched || op.conditional) continue;
        held.insert(op.slots.begin(), op.slots.end());
        reached.insert(op.pipe);
    }
    return false;
}

/// Pipe by pipe: does what stage `a` did with x come before what stage `b` of the same task does with y?
bool handed_over(const Graph& g, const std::vector<Edge>& edges, std::size_t a, const pipeline::LocalAccess& x, std::size_t b, const pipeline::LocalAccess& y) {
    std::vector<Edge> probes = edges;
    for (int p = 0; p < int(isa::Pipe::all); ++p) {
        Edge e;
        e.silent = Silent::no_ids;
        e.from.stage = StageId{std::int32_t(a)}, e.from.pipe = x.pipe;
        e.to.stage = StageId{std::int32_t(b)}, e.to.pipe = isa::Pipe(p);
        probes.push_back(e);
    }
    const std::vector<bool> ordered = ordered_by_pipes(g.loop, g.schedule, probes, std::vector<bool>(probes.size(), false));
    for (int p = 0; p < int(isa::Pipe::all); ++p)
        if (ordered[edges.size() + std::size_t(p)] && (g.limits.wait_stops_core || holds_back(g.loop.stages[b].ops, isa::Pipe(p), y.at))) return true;
    return false;
}

std::string tasks(std::int32_t n) { return std::to_string(n) + (n == 1 ? " task" : " tasks"); }

std::string unprotected(const Graph& g, const Edge& e, const StageOrder& order) {
    const std::string &from = g.stage(e.from.stage).name, &to = g.stage(e.to.stage).name, &buffer = g.model[e.to.buffer].name;
    const char* direction = e.kind == EdgeKind::raw ? "fwd_ids" : "bwd_ids";
    std::string out = "`" + buffer + "` has no " + direction + ", and nothing else keeps `" + to + "` of task t";
    if (e.task_offset > 0) out += "+" + std::to_string(e.task_offset);
    out += " behind `" + from + "` of task t";
    const auto a = std::size_t(e.from.stage.index), b = std::size_t(e.to.stage.index);
    const std::optional<std::int32_t> middle = order.in_the_middle(a, b);
    if (middle && *middle > e.task_offset) out += "; what is ordered is task t+" + std::to_string(*middle);
    else if (middle) out += " at the end of the loop: elsewhere a wait of task t+" + std::to_string(order.needs_task(a, b, e.task_offset)) + " does, which the last tasks do not have";
    return out;
}

} // namespace

void check_ordering(Graph& g, std::vector<Edge>& edges) {
    const StageOrder order(g.loop, g.schedule, edges);
    std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> told;
    for (Edge& e : edges) {
        if (e.silent != Silent::no_ids && e.silent != Silent::redundant) continue;
        e.ordered = order.ordered(std::size_t(e.from.stage.index), std::size_t(e.to.stage.index), e.task_offset);
        if (e.ordered || !told.insert({e.from.stage.index, e.to.stage.index, e.to.buffer.index}).second) continue;
        const pipeline::Buffer& b = g.model[e.to.buffer];
        Diagnostic& d = g.report(Code::pipeline_unprotected, e.to.at, unprotected(g, e, order));
        d.labels.push_back({e.from.at, "`" + g.stage(e.from.stage).name + "` " + (isa::writes(e.from.role) ? "writes" : "reads") + " it here"});
        d.labels.push_back({b.name_at, std::string("`") + b.name + "` declares " + (b.fwd.given ? "fwd_ids only" : "bwd_ids only")});
        d.advice.push_back(std::string("declare ") + (e.kind == EdgeKind::raw ? "fwd_ids" : "bwd_ids") + "=[...] for `" + b.name + "`, one id for each slot or one for all");
        if (g.schedule.preload > 1) d.advice.push_back("lower the preload");
    }

    // Memory without ids that stages of different cores hand to each other.
    struct Use {
        std::size_t stage;
        const pipeline::LocalAccess* access;
    };
    std::map<std::pair<std::int32_t, std::string>, std::vector<Use>> uses;
    for (std::size_t i = 0; i < g.loop.stages.size(); ++i)
        for (const pipeline::LocalAccess& a : g.loop.stages[i].locals) uses[{a.buffer.index, a.name}].push_back({i, &a});
    std::set<std::pair<std::size_t, std::size_t>> reported;
    for (const auto& [key, list] : uses)
        for (const Use& a : list)
            for (const Use& b : list) {
                if (a.stage >= b.stage || g.loop.stages[a.stage].core == g.loop.stages[b.stage].core) continue;
                if (!isa::writes(a.access->role) && !isa::writes(b.access->role)) continue;
                const std::string name = key.first >= 0 ? g.model[BufferId{key.first}].name : key.second;
                const bool there = order.ordered(a.stage, b.stage, 0);
                const std::string &an = g.loop.stages[a.stage].name, &bn = g.loop.stages[b.stage].name;
                if (a.access->is_tensor) {
                    // Only a value handed down the chain is certain to meet; windows of other tasks are seen on the program.
                    if (!isa::writes(a.access->role) || !isa::reads(b.access->role) || (there && handed_over(g, edges, a.stage, *a.access, b.stage, *b.access))) continue;
                    if (!reported.insert({a.stage, b.stage}).second) continue;
                    const std::string how = there ? "; event ids order the two stages, but not " + std::string(isa::name(a.access->pipe)) + " of the one before " + std::string(isa::name(b.access->pipe)) + " of the other"
                                                  : ", and no event id orders them";
                    Diagnostic& d = g.report(Code::pipeline_gm_handover, b.access->at, "`" + bn + "` reads tensor `" + name + "`, which `" + an + "` of the same task writes on the other core" + how);
                    d.labels.push_back({a.access->at, "written here"});
                    d.advice.push_back("hand the data over through a cross-core buffer with fwd_ids and bwd_ids");
                    continue;
                }
                const auto space = key.first >= 0 ? g.model[BufferId{key.first}].memory : std::optional<isa::MemorySpace>();
                if (key.first < 0 || !space || (*space != isa::MemorySpace::vec && *space != isa::MemorySpace::mat)) continue;
                const std::int32_t slots = std::max(g.model[BufferId{key.first}].slots, 1);
                if ((there && order.ordered(b.stage, a.stage, slots)) || !reported.insert({a.stage, b.stage}).second) continue;
                Diagnostic& d = g.report(Code::pipeline_unprotected, b.access->at, "`" + an + "` and `" + bn + "` share `" + name + "` across the cores, and it declares no event ids");
                d.labels.push_back({a.access->at, "`" + an + "` uses it here"});
                d.labels.push_back({g.model[BufferId{key.first}].name_at, "declared here"});
                if (there) d.labels.push_back({g.loop.stages[a.stage].statement, "nothing holds `" + an + "` back for " + tasks(slots)});
                d.advice.push_back("declare fwd_ids and bwd_ids for `" + name + "`");
            }
}

} // namespace pto::sync
