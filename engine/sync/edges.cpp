/// Dependencies read off an unrolled timeline of every slot. Pipeline reference, 13; K42.

#include "engine/sync/graph.hpp"

#include <algorithm>
#include <map>

namespace pto::sync {
namespace {

struct Event {
    std::int32_t beat = 0, task = 0, node = 0;
    bool operator<(const Event& o) const { return beat != o.beat ? beat < o.beat : node < o.node; }
};

class Drawing {
  public:
    explicit Drawing(Graph& g) : m_g(g) {}

    std::vector<Edge> draw() {
        std::int32_t M = 0, S = 1;
        for (std::int32_t d : m_g.schedule.delays) M = std::max(M, d);
        for (std::int32_t n : m_g.region_slots) S = std::max(S, n);
        const std::int32_t warm = M + S, cool = S, tasks = warm + 2 * S + cool + 2;
        for (std::size_t r = 0; r < m_g.regions.size(); ++r) {
            std::vector<std::int32_t> nodes;
            for (std::size_t i = 0; i < m_g.nodes.size(); ++i)
                if (m_g.nodes[i].region == std::int32_t(r)) nodes.push_back(std::int32_t(i));
            const std::int32_t slots = m_g.region_slots[r];
            for (std::int32_t slot = 0; slot < slots; ++slot) {
                m_lane.clear();
                for (std::int32_t t = slot; t < tasks; t += slots)
                    for (std::int32_t n : nodes) m_lane.push_back({t + m_g.delay(m_g.nodes[std::size_t(n)].end.stage), t, n});
                std::sort(m_lane.begin(), m_lane.end());
                for (std::size_t i = 0; i < m_lane.size(); ++i)
                    if (m_lane[i].task >= warm && m_lane[i].task < tasks - cool) event(i, slots);
            }
        }
        return std::move(m_edges);
    }

  private:
    Graph& m_g;
    std::vector<Event> m_lane;
    std::vector<Edge> m_edges;
    std::map<std::tuple<EdgeKind, std::int32_t, std::int32_t>, std::size_t> m_known;
    std::map<std::size_t, bool> m_unstable;

    const Node& node(const Event& e) const { return m_g.nodes[std::size_t(e.node)]; }
    bool reads(const Event& e) const { return isa::reads(node(e).end.role); }
    bool writes(const Event& e) const { return isa::writes(node(e).end.role); }

    void add(EdgeKind kind, const Event& from, const Event& to, std::int32_t slots, bool ours) {
        const std::int32_t distance = to.beat - from.beat, offset = to.task - from.task;
        auto [here, inserted] = m_known.try_emplace({kind, from.node, to.node}, m_edges.size());
        if (inserted) {
            Edge e;
            e.kind = kind, e.from = node(from).end, e.to = node(to).end;
            e.distance = distance, e.task_offset = offset, e.added_by_us = ours, e.slots = slots;
            m_edges.push_back(std::move(e));
            return;
        }
        const Edge& e = m_edges[here->second];
        if ((e.distance == distance && e.task_offset == offset) || m_unstable[here->second]) return;
        m_unstable[here->second] = true;
        Diagnostic& d = m_g.report(Code::unstable_distance, e.to.at, "the distance between these two accesses of `" + m_g.model[e.to.buffer].name + "` changes from task to task");
        d.labels.push_back({e.from.at, "the earlier access"});
        d.advice.push_back("stop sharing the address, or use another preload or number of slots: what shares bytes runs a whole rotation apart here");
    }

    /// Accesses of one core to one tile keep their source order only if the tile has a mutex and the access certainly happens.
    bool certain(const Event& e) const {
        const pipeline::Buffer& b = m_g.model[node(e).end.buffer];
        return !node(e).conditional && m_g.limits.auto_mutex && (b.mutex_auto || !b.mutex_ids.empty());
    }

    void event(std::size_t i, std::int32_t slots) {
        const Event& e = m_lane[i];
        if (reads(e)) after_writes(i, slots);
        if (writes(e)) after_readers(i, slots, reads(e));
        if (writes(e) && !reads(e)) after_producer(i, slots);
    }

    /// RAW: the nearest earlier write of the same buffer; [S] and every other pipe that may have written it.
    void after_writes(std::size_t i, std::int32_t slots) {
        const Event& e = m_lane[i];
        const BufferId buffer = node(e).end.buffer;
        std::optional<Event> nearest;
        std::vector<isa::Pipe> seen;
        for (std::size_t k = i; k-- > 0;) {
            const Event& w = m_lane[k];
            if (!writes(w) || node(w).end.buffer != buffer) continue;
            if (!nearest) {
                nearest = w;
                seen.push_back(node(w).end.pipe);
                add(EdgeKind::raw, w, e, slots, false);
                if (certain(w) || node(w).end.core == node(e).end.core) return;
                continue;
            }
            // A write of the same stage and task on another pipe: the set behind the nearest one does not cover it.
            if (w.task != nearest->task || node(w).end.stage != node(*nearest).end.stage) return;
            if (std::find(seen.begin(), seen.end(), node(w).end.pipe) != seen.end()) continue;
            seen.push_back(node(w).end.pipe);
            add(EdgeKind::raw, w, e, slots, true);
            if (certain(w)) return;
        }
    }

    /// WAR: for each buffer of the region, everything that reads what its nearest earlier write left.
    void after_readers(std::size_t i, std::int32_t slots, bool in_place) {
        const Event& e = m_lane[i];
        const EdgeEnd& to = node(e).end;
        std::vector<BufferId> met;
        if (in_place) // [S] An access that also reads is drawn only where it opens the task: later ones follow someone who has waited.
            for (std::size_t k = 0; k < i; ++k)
                if (writes(m_lane[k]) && node(m_lane[k]).end.buffer == to.buffer && m_lane[k].task == e.task) return;
        for (std::size_t k = i; k-- > 0;) {
            const Event& w = m_lane[k];
            if (!writes(w)) continue;
            const BufferId b = node(w).end.buffer;
            if (std::find(met.begin(), met.end(), b) != met.end()) continue;
            // [S] An earlier write of this very task leads nowhere: its readers belong to this task too. When it is certain it waits
            // on behalf of this one; otherwise look at the task before.
            if (b == to.buffer && w.task == e.task && node(w).end.stage == to.stage) {
                if (certain(w)) met.push_back(b);
                continue;
            }
            met.push_back(b);
            std::map<isa::Pipe, Event> latest;
            std::vector<std::size_t> order;
            for (std::size_t r = 0; r < m_lane.size(); ++r) {
                const Event& x = m_lane[r];
                if (!reads(x) || node(x).end.buffer != b || x.task != w.task) continue;
                if (b == to.buffer && x.task == e.task && r > i) continue;
                if (x.node == e.node && x.task == e.task) continue;
                auto [here, inserted] = latest.try_emplace(node(x).end.pipe, x);
                if (!inserted) here->second = x; // the lane is sorted: later is later
            }
            std::vector<Event> sources;
            for (const auto& [pipe, x] : latest) sources.push_back(x);
            std::sort(sources.begin(), sources.end());
            for (const Event& x : sources) add(EdgeKind::war, x, e, slots, in_place);
            if (b == to.buffer) late_writes(i, w, latest, slots);
        }
    }

    /// [S] WAW: a pure write of the other core that no reader's pipe covers (it cleared the tile after storing it).
    void late_writes(std::size_t i, const Event& nearest, const std::map<isa::Pipe, Event>& readers, std::int32_t slots) {
        const Event& e = m_lane[i];
        std::map<isa::Pipe, Event> latest;
        for (std::size_t r = 0; r < i; ++r) {
            const Event& x = m_lane[r];
            if (!writes(x) || reads(x) || node(x).end.buffer != node(e).end.buffer || x.task != nearest.task || x.task == e.task) continue;
            if (node(x).end.core == node(e).end.core || readers.count(node(x).end.pipe)) continue;
            auto [here, inserted] = latest.try_emplace(node(x).end.pipe, x);
            if (!inserted) here->second = x;
        }
        for (const auto& [pipe, x] : latest) add(EdgeKind::waw, x, e, slots, true);
    }

    /// [S] WAW forward: the consumer's first access is a pure write, so no read of it waits for the producer.
    void after_producer(std::size_t i, std::int32_t slots) {
        const Event& e = m_lane[i];
        for (const Node& n : m_g.nodes)
            if (n.end.buffer == node(e).end.buffer && n.end.stage == node(e).end.stage && n.end.seq < node(e).end.seq) return;
        for (std::size_t k = i; k-- > 0;) {
            const Event& w = m_lane[k];
            if (!writes(w) || node(w).end.buffer != node(e).end.buffer) continue;
            if (w.task == e.task && node(w).end.core != node(e).end.core) add(EdgeKind::waw, w, e, slots, true);
            return;
        }
    }
};

} // namespace

std::vector<Edge> draw_edges(Graph& g) { return Drawing(g).draw(); }

} // namespace pto::sync
