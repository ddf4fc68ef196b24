/// From dependencies to event ids: declared, borrowed from a channel, or allocated for address reuse. Pipeline reference, 14;
/// K44 to K47, S7.

#include "engine/sync/graph.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace pto::sync {
namespace {

std::string ids_text(const std::vector<std::int32_t>& ids) {
    std::string out;
    for (std::size_t i = 0; i < ids.size(); ++i) out += (i ? "," : "") + std::to_string(ids[i]);
    return out;
}

class Choosing {
  public:
    Choosing(Graph& g, std::vector<Edge>& edges, LoopPlan& plan, std::int32_t& overlap_lists) : m_g(g), m_edges(edges), m_plan(plan), m_lists(overlap_lists) {}

    void run() {
        declared_lists();
        for (Edge& e : m_edges)
            if (e.from.core == e.to.core) e.silent = Silent::same_core;
        borrow();
        for (Edge& e : m_edges) {
            if (e.silent != Silent::no || e.borrowed) continue;
            if (e.kind == EdgeKind::raw || (e.kind == EdgeKind::waw && e.task_offset == 0)) take(e, e.to.buffer, true);
            else if (e.from.buffer == e.to.buffer) take(e, e.to.buffer, false);
            else if (redundant(e)) e.silent = Silent::redundant;
            else e.allocated = true;
        }
        allocate();
        check_skews();
        if (!m_g.ok()) return;
        place();
        check_unique();
        check_permits();
    }

  private:
    Graph& m_g;
    std::vector<Edge>& m_edges;
    LoopPlan& m_plan;
    std::int32_t& m_lists;

    static std::string list_name(const pipeline::Buffer& b, bool forward) {
        const pipeline::IdList& l = forward ? b.fwd : b.bwd;
        return !l.name.empty() ? l.name : std::string(forward ? "_pl_fwd_ids_" : "_pl_bwd_ids_") + b.name;
    }

    void declared_lists() {
        for (BufferId id : m_g.loop.declared_channels) {
            const pipeline::Buffer& b = m_g.model[id];
            for (bool forward : {true, false}) {
                const pipeline::IdList& l = forward ? b.fwd : b.bwd;
                if (l.given && l.name.empty()) m_plan.lists.push_back({list_name(b, forward), l.ids});
            }
        }
    }

    void take(Edge& e, BufferId buffer, bool forward) {
        const pipeline::Buffer& b = m_g.model[buffer];
        const pipeline::IdList& l = forward ? b.fwd : b.bwd;
        if (!l.given) {
            e.silent = Silent::no_ids;
            return;
        }
        e.ids_of = buffer, e.forward = forward, e.ids = l.ids, e.list = list_name(b, forward);
    }

    /// Reference 14.2: readers of local copies of one batch borrow the channel's own ids.
    void borrow() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Edge*>> groups;
        for (Edge& e : m_edges)
            if (e.kind == EdgeKind::war) groups[{e.to.seq, e.task_offset}].push_back(&e);
        for (auto& [key, group] : groups) {
            std::set<std::int32_t> sources, lenders;
            for (const Edge* e : group) {
                sources.insert(e->from.buffer.index);
                if (m_g.model[e->from.buffer].channel()) lenders.insert(e->from.buffer.index);
            }
            // [S] A channel alone is no lender to another channel: its own permits and these would mix on one id.
            if (group.size() < 2 || lenders.size() != 1 || (sources.size() == 1 && *lenders.begin() != group.front()->to.buffer.index)) continue;
            for (Edge* e : group) {
                if (e->silent != Silent::no) continue;
                take(*e, BufferId{*lenders.begin()}, false);
                e->borrowed = e->from.buffer.index != *lenders.begin() || e->to.buffer.index != *lenders.begin();
                if (e->silent == Silent::no_ids) e->borrowed = true;
            }
        }
    }

    bool forward_chain(StageId from, StageId to) const {
        for (std::int32_t k = from.index; k < to.index; ++k) {
            bool linked = false;
            for (const Edge& e : m_edges)
                linked |= e.kind == EdgeKind::raw && e.from.stage.index == k && e.to.stage.index == k + 1 && e.from.buffer == e.to.buffer && m_g.model[e.to.buffer].fwd.given;
            if (!linked) return false;
        }
        return true;
    }

    bool redundant(const Edge& e) {
        if (e.task_offset != 0) return false;
        if (e.from.stage.index < e.to.stage.index) return forward_chain(e.from.stage, e.to.stage); // [S] not without forward ids
        Diagnostic& d = m_g.report(Code::reuse_against_order, e.to.at, "`" + m_g.stage(e.to.stage).name + "` writes `" + m_g.model[e.to.buffer].name + "` over bytes of `" + m_g.model[e.from.buffer].name + "` that `" + m_g.stage(e.from.stage).name + "` of the same task reads later in the chain");
        d.labels.push_back({e.from.at, "read here"});
        d.advice.push_back("stop sharing the address, or reorder the stages");
        return true;
    }

    /// Reference 14.3.
    void allocate() {
        struct Group {
            std::vector<Edge*> edges;
            std::int32_t want = 0;
            bool degraded = false;
        };
        std::vector<Group> groups;
        std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;
        for (Edge& e : m_edges) {
            if (!e.allocated) continue;
            auto [here, inserted] = known.try_emplace({e.from.seq, e.to.seq}, groups.size());
            if (inserted) groups.push_back({{}, e.slots, false});
            groups[here->second].edges.push_back(&e);
        }
        if (groups.empty()) return;
        std::set<std::int32_t> used;
        for (BufferId id : m_g.loop.declared_channels)
            for (const pipeline::IdList* l : {&m_g.model[id].fwd, &m_g.model[id].bwd}) used.insert(l->ids.begin(), l->ids.end());
        std::vector<std::int32_t> free;
        for (std::int32_t id = 0; id < m_g.limits.event_ids; ++id)
            if (!used.count(id)) free.push_back(id);
        std::int32_t sum = 0;
        for (const Group& group : groups) sum += group.want;
        std::vector<Group*> by_slots;
        for (Group& group : groups) by_slots.push_back(&group);
        std::stable_sort(by_slots.begin(), by_slots.end(), [](const Group* a, const Group* b) { return a->want < b->want; });
        for (Group* group : by_slots) {
            if (sum <= std::int32_t(free.size())) break;
            if (group->want <= 1) continue;
            sum -= group->want - 1;
            const Edge& e = *group->edges.front();
            Diagnostic& d = m_g.report(Code::pipeline_ids_degraded, e.to.at, "event ids run short: the reuse of `" + m_g.model[e.from.buffer].name + "` by `" + m_g.model[e.to.buffer].name + "` gets one id for its " + std::to_string(group->want) + " slots");
            d.labels.push_back({e.from.at, "the earlier use"});
            d.advice.push_back("hand-overs queue up on one counter; let another list use one id to give this one its own");
            group->want = 1, group->degraded = true;
        }
        if (sum > std::int32_t(free.size())) {
            std::vector<std::int32_t> list(used.begin(), used.end());
            const Edge& e = *groups.front().edges.front();
            Diagnostic& d = m_g.report(Code::ids_exhausted, e.to.at, "address reuse needs " + std::to_string(sum) + (sum == 1 ? " more event id" : " more event ids") + ", " + std::to_string(free.size()) + " are free; this loop declares " + ids_text(list));
            d.labels.push_back({e.from.at, "`" + m_g.model[e.from.buffer].name + "` is read here, its bytes are written again by `" + m_g.stage(e.to.stage).name + "`"});
            d.advice.push_back("let a channel use one id for all its slots (a list of one), or stop sharing the address");
            for (Group& group : groups)
                for (Edge* e : group.edges) e->silent = Silent::no_ids;
            return;
        }
        std::size_t next = 0;
        for (Group& group : groups) {
            DeclaredList list{"_pl_overlap_ids_" + std::to_string(m_lists++), {}};
            for (std::int32_t k = 0; k < group.want; ++k) list.ids.push_back(free[next++]);
            for (Edge* e : group.edges) e->ids = list.ids, e->list = list.name, e->degraded = group.degraded;
            m_plan.lists.push_back(list);
            m_plan.auto_ids.push_back(std::move(list));
        }
    }

    std::int32_t skew(const Edge& e) const { return e.kind == EdgeKind::raw ? 0 : e.task_offset; }

    void check_skews() {
        for (const Edge& e : m_edges) {
            if (!e.emitted() || e.ids.empty()) continue;
            const std::string &from = m_g.stage(e.from.stage).name, &to = m_g.stage(e.to.stage).name;
            if (skew(e) < 0) {
                Diagnostic& d = m_g.report(Code::negative_skew, e.to.at, "`" + to + "` writes `" + m_g.model[e.to.buffer].name + "` over `" + m_g.model[e.from.buffer].name + "`, which `" + from + "` reads " + std::to_string(-skew(e)) + (skew(e) == -1 ? " task" : " tasks") + " later at preload " + std::to_string(m_g.schedule.preload));
                d.labels.push_back({e.from.at, "`" + from + "` reads it here"});
                d.advice.push_back("lower the preload, or stop sharing the address");
            } else if (skew(e) % std::int32_t(e.ids.size()) != 0) {
                Diagnostic& d = m_g.report(Code::skew_multiple, e.to.at, "`" + to + "` waits for `" + from + "` " + std::to_string(skew(e)) + " tasks back with " + std::to_string(e.ids.size()) + " ids: the same task would not meet the same id");
                d.labels.push_back({e.from.at, "`" + from + "`"});
                d.advice.push_back("give one id, or a number of ids that divides " + std::to_string(skew(e)));
            }
        }
    }

    void place() {
        std::vector<Permit> prefire, drain;
        for (std::size_t i = 0; i < m_edges.size(); ++i) {
            const Edge& e = m_edges[i];
            if (!e.emitted()) continue;
            const std::int32_t m = std::int32_t(e.ids.size());
            m_plan.sites.push_back({e.to.stage, true, true, e.to.pipe, e.ids, m, e.list, std::int32_t(i)});
            m_plan.sites.push_back({e.from.stage, false, false, e.from.pipe, e.ids, m, e.list, std::int32_t(i)});
            for (std::int32_t k = 0; k < skew(e); ++k) {
                prefire.push_back({e.from.core, e.from.pipe, e.ids[std::size_t(k % m)], k % m, e.list, std::int32_t(i)});
                drain.push_back({e.to.core, e.to.pipe, e.ids[std::size_t(k % m)], k % m, e.list, std::int32_t(i)});
            }
        }
        std::stable_sort(m_plan.sites.begin(), m_plan.sites.end(), [](const Site& a, const Site& b) {
            return std::pair(a.stage.index, !a.before) < std::pair(b.stage.index, !b.before);
        });
        m_plan.prefire = by_core(prefire), m_plan.drain = by_core(drain);
    }

    static std::vector<Permit> by_core(const std::vector<Permit>& list) {
        std::vector<Permit> out;
        if (list.empty()) return out;
        const isa::Core first = list.front().core;
        for (const Permit& p : list)
            if (p.core == first) out.push_back(p);
        for (const Permit& p : list)
            if (p.core != first) out.push_back(p);
        return out;
    }

    /// S7: one counter for each id and setting core.
    void check_unique() {
        std::map<std::pair<isa::Core, std::int32_t>, const Edge*> owner;
        std::set<std::pair<std::string, std::string>> told;
        for (const Edge& e : m_edges) {
            if (!e.emitted()) continue;
            for (std::int32_t id : e.ids) {
                auto [here, inserted] = owner.try_emplace({e.from.core, id}, &e);
                if (inserted || here->second->list == e.list) continue;
                const Edge& o = *here->second;
                if (!told.insert({o.list, e.list}).second) continue;
                const pipeline::Buffer &a = m_g.model[o.ids_of.valid() ? o.ids_of : o.to.buffer], &b = m_g.model[e.ids_of.valid() ? e.ids_of : e.to.buffer];
                Diagnostic& d = m_g.report(Code::id_twice, e.forward ? b.fwd.at : b.bwd.at, "event id " + std::to_string(id) + " is set by the " + std::string(isa::name(e.from.core)) + " core for `" + b.name + "` and for `" + a.name + "`: the permits of one would let the other pass");
                d.labels.push_back({o.forward ? a.fwd.at : a.bwd.at, "`" + a.name + "` uses it here"});
                d.advice.push_back("give every list of one direction ids of its own");
            }
        }
    }

    void check_permits() {
        std::map<std::pair<isa::Core, std::int32_t>, std::int32_t> count;
        std::set<std::pair<isa::Core, std::int32_t>> told;
        for (const Permit& p : m_plan.prefire) {
            const std::pair key{p.core, p.id};
            if (++count[key] <= m_g.limits.max_pending || !told.insert(key).second) continue;
            const Edge& e = m_edges[std::size_t(p.edge)];
            const pipeline::Buffer& b = m_g.model[e.to.buffer];
            Diagnostic& d = m_g.report(Code::pipeline_permits, b.bwd.given ? b.bwd.at : b.name_at, "event id " + std::to_string(p.id) + " would hold more than " + std::to_string(m_g.limits.max_pending) + " sets before the loop starts: one for each slot and reader of `" + b.name + "`");
            d.advice.push_back("give one id for each slot");
        }
    }
};

} // namespace

void choose_ids(Graph& g, std::vector<Edge>& edges, LoopPlan& plan, std::int32_t& overlap_lists) { Choosing(g, edges, plan, overlap_lists).run(); }

} // namespace pto::sync
