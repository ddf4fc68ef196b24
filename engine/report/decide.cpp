#include "engine/report/decide.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace pto::report {
namespace {

/// Equal vector cores are drawn once: what AIV1 does counts for AIV0's lane.
std::int32_t drawn_lane(const Timeline& t, std::int32_t lane) {
    const Lane& l = t.lanes[std::size_t(lane)];
    if (l.core != "AIV1") return lane;
    for (std::size_t i = 0; i < t.lanes.size(); ++i)
        if (t.lanes[i].core == "AIV0" && t.lanes[i].pipe == l.pipe) return std::int32_t(i);
    return lane;
}

Bound bound_of(const Timeline& t) {
    Bound b;
    Ticks most = 0;
    for (std::size_t i = 0; i < t.lanes.size(); ++i)
        if (t.lanes[i].totals.busy > most) most = t.lanes[i].totals.busy, b.lane = std::int32_t(i);
    if (b.lane < 0 || t.total <= 0) return {};
    const Lane& lane = t.lanes[std::size_t(b.lane)];
    b.share = double(most) / double(t.total);
    std::map<std::int32_t, Ticks> stages;
    std::map<std::pair<std::int32_t, std::string>, std::pair<Ticks, std::int32_t>> operations; // by the first word: sizes do not matter
    auto word_of = [&](std::int32_t op) {
        const std::string& name = t.ops[std::size_t(op)].name;
        return name.substr(0, name.find(' '));
    };
    Ticks drawn = 0; // of a long run, less than the busy time
    for (const Slice& s : lane.slices) {
        drawn += s.end - s.start;
        stages[s.stage] += s.end - s.start;
        auto& entry = operations[{s.stage, word_of(s.op)}];
        entry.first += s.end - s.start;
        entry.second = s.op;
    }
    Ticks stage_most = -1, op_most = -1;
    for (const auto& [stage, ticks] : stages)
        if (ticks > stage_most) stage_most = ticks, b.stage = stage;
    for (const auto& [key, entry] : operations)
        if (key.first == b.stage && entry.first > op_most) op_most = entry.first, b.op = entry.second;
    b.op_share = double(op_most) / double(std::max<Ticks>(1, drawn));
    b.lane = drawn_lane(t, b.lane);
    b.text = std::string(lane.core == "AIC" ? "cube" : "vector") + " side";
    if (b.stage >= 0) b.text += ", " + t.stages[std::size_t(b.stage)].name;
    b.text += ", " + word_of(b.op);
    // A pipe that is idle for more than half of the time sets no pace: latency and hand-overs do.
    if (b.share < 0.5) b.text = "waits: no pipe is busy for more than " + fixed(100 * b.share, 0) + " % of the time (" + b.text + ")";
    return b;
}

std::vector<CriticalShare> shares_of(const Timeline& t) {
    std::map<std::pair<std::int32_t, std::int32_t>, Ticks> parts;
    Ticks from = 0;
    std::pair<std::int32_t, std::int32_t> who{-1, -1};
    for (const CriticalStep& c : t.critical) {
        const Slice& s = t.lanes[std::size_t(c.lane)].slices[std::size_t(c.slice)];
        if (t.left_out_from >= 0 && s.start > t.left_out_from && from <= t.left_out_from) { // what is not drawn has no lane
            if (t.left_out_from > from) parts[who] += t.left_out_from - from;
            from = std::max(from, t.left_out_from);
            who = {-1, -1};
        }
        if (s.start > from) parts[who] += s.start - from, from = s.start;
        who = {drawn_lane(t, c.lane), s.stage};
    }
    if (t.total > from) parts[who] += t.total - from;
    std::vector<CriticalShare> out;
    for (const auto& [key, ticks] : parts) out.push_back({key.first, key.second, ticks});
    std::stable_sort(out.begin(), out.end(), [](const CriticalShare& a, const CriticalShare& b) { return a.ticks > b.ticks; });
    return out;
}

// ---------------------------------------------------------------- period of the plan

struct Edge {
    std::size_t from = 0, to = 0;
    double weight = 0;                // ticks from the start of one to the start of the other
    std::int32_t tasks = 0;           // how many tasks further on `to` is
};

class Graph {
  public:
    Graph(const Timeline& t, const PlanLoop& loop, Ticks latency) : m_t(t) {
        nodes();
        pipe_order(loop);
        flow_and_rings(loop, latency);
    }

    /// The largest weight / tasks over all cycles, by bisection: a cycle of positive weight exists exactly below it.
    PlanPeriod period() const {
        PlanPeriod p;
        if (m_nodes.empty() || m_edges.empty()) return p;
        double low = 0, high = 1;
        for (const Edge& e : m_edges) high += e.weight;
        std::vector<std::size_t> cycle;
        for (int i = 0; i < 40; ++i) {
            double middle = (low + high) / 2;
            std::vector<std::size_t> found = positive_cycle(middle);
            if (found.empty()) high = middle;
            else low = middle, cycle = std::move(found);
        }
        if (cycle.empty()) return p;
        p.ticks = Ticks(low + 0.5);
        for (std::size_t e : cycle) {
            const Node& n = m_nodes[m_edges[e].from];
            p.cycle.push_back(m_t.stages[std::size_t(n.stage)].name + " " + n.pipe);
            p.tasks += m_edges[e].tasks;
        }
        return p;
    }

  private:
    struct Node {
        std::int32_t stage = 0;
        std::string core, pipe;
        double work = 0;              // busy time of a task
        std::map<std::int32_t, std::pair<Ticks, Ticks>> spans; // by task: first start, last visible
    };

    std::size_t find(std::int32_t stage, const std::string& pipe) const {
        for (std::size_t i = 0; i < m_nodes.size(); ++i)
            if (m_nodes[i].stage == stage && m_nodes[i].pipe == pipe) return i;
        return m_nodes.size();
    }

    void nodes() {
        for (const Lane& lane : m_t.lanes) {
            if (lane.core == "AIV1") continue;
            std::map<std::int32_t, Node> by_stage;
            for (const Slice& s : lane.slices) {
                if (s.stage < 0 || s.task < 0) continue;
                Node& n = by_stage[s.stage];
                n.work += double(s.end - s.start);
                auto [at, fresh] = n.spans.emplace(s.task, std::pair{s.start, std::max(s.end, s.landed)});
                if (!fresh) at->second = {std::min(at->second.first, s.start), std::max({at->second.second, s.end, s.landed})};
            }
            for (auto& [stage, n] : by_stage) {
                n.stage = stage;
                n.core = lane.core;
                n.pipe = lane.pipe;
                n.work /= double(std::max<std::size_t>(1, n.spans.size()));
                m_nodes.push_back(std::move(n));
            }
        }
    }

    /// The generated loop runs, beat by beat, each stage with its task; a pipe takes them in that order.
    void pipe_order(const PlanLoop& loop) {
        auto delay = [&](std::int32_t stage) {
            for (const PlanStage& s : loop.stages)
                if (s.name == m_t.stages[std::size_t(stage)].name) return s.delay;
            return 0;
        };
        std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> pipes;
        for (std::size_t i = 0; i < m_nodes.size(); ++i) pipes[{m_nodes[i].core, m_nodes[i].pipe}].push_back(i);
        for (auto& [key, list] : pipes) {
            std::sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) { return m_nodes[a].stage < m_nodes[b].stage; });
            for (std::size_t i = 0; i < list.size(); ++i) {
                std::size_t next = (i + 1) % list.size();
                std::int32_t a = m_nodes[list[i]].stage, b = m_nodes[list[next]].stage;
                m_edges.push_back({list[i], list[next], m_nodes[list[i]].work, delay(a) - delay(b) + (next == 0 ? 1 : 0)});
            }
        }
    }

    /// The shortest lag seen between two pipes for one task: what data flow alone needs.
    static double lag(const Node& a, const Node& b, bool whole) {
        double best = -1;
        for (const auto& [task, span] : a.spans) {
            double v = 0;
            if (whole) v = double(span.second - span.first);
            else if (auto other = b.spans.find(task); other != b.spans.end()) v = double(other->second.first - span.first);
            else continue;
            if (best < 0 || v < best) best = v;
        }
        return std::max(0.0, best);
    }

    void flow_and_rings(const PlanLoop& loop, Ticks latency) {
        auto stage_index = [&](const std::string& name) {
            for (std::size_t i = 0; i < m_t.stages.size(); ++i)
                if (m_t.stages[i].name == name) return std::int32_t(i);
            return std::int32_t(-1);
        };
        for (std::size_t a = 0; a < m_nodes.size(); ++a)
            for (std::size_t b = 0; b < m_nodes.size(); ++b)
                if (a != b && m_nodes[a].stage == m_nodes[b].stage && lag(m_nodes[a], m_nodes[b], false) > 0)
                    m_edges.push_back({a, b, lag(m_nodes[a], m_nodes[b], false), 0});
        for (const HandOver& e : loop.edges) {
            if (!e.enforced) continue;
            std::size_t from = find(stage_index(e.from), e.set_pipe), to = find(stage_index(e.to), e.wait_pipe);
            if (from == m_nodes.size() || to == m_nodes.size()) continue;
            m_edges.push_back({from, to, lag(m_nodes[from], m_nodes[from], true) + double(latency), e.task_offset});
        }
    }

    /// Edges of a cycle whose weight is more than `period` for each of its tasks; empty when there is none.
    std::vector<std::size_t> positive_cycle(double period) const {
        std::vector<double> best(m_nodes.size(), 0);
        std::vector<std::int64_t> by(m_nodes.size(), -1);
        std::int64_t changed = -1;
        for (std::size_t round = 0; round <= m_nodes.size(); ++round) {
            changed = -1;
            for (std::size_t i = 0; i < m_edges.size(); ++i) {
                const Edge& e = m_edges[i];
                if (double v = best[e.from] + e.weight - period * e.tasks; v > best[e.to] + 1e-6) best[e.to] = v, by[e.to] = std::int64_t(i), changed = std::int64_t(e.to);
            }
            if (changed < 0) return {};
        }
        std::size_t at = std::size_t(changed);
        for (std::size_t i = 0; i < m_nodes.size(); ++i) at = m_edges[std::size_t(by[at])].from; // now inside the cycle
        std::vector<std::size_t> cycle;
        std::size_t node = at;
        do {
            cycle.push_back(std::size_t(by[node]));
            node = m_edges[std::size_t(by[node])].from;
        } while (node != at);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
    }

    const Timeline& m_t;
    std::vector<Node> m_nodes;
    std::vector<Edge> m_edges;
};

} // namespace

void decide(Timeline& t, const SyncPlan* plan, Ticks latency) {
    t.bound = bound_of(t);
    t.critical_shares = shares_of(t);
    t.plan_period = {};
    if (plan && plan->loops.size() == 1 && t.tasks >= 4) t.plan_period = Graph(t, plan->loops[0], latency).period();
}

} // namespace pto::report
