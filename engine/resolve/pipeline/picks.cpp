/// Step 5: slots taken between the outer loop and the pipeline loop, whose index has to travel with the task, and cursors of
/// cross-core buffers moved at kernel level. Pipeline reference, 12.3; K24 to K26, S3.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {

/// Calls f(statement) for each statement of `body` that is not inside `hole`.
template <class F> void walk_around(const Body& body, const Stmt* hole, F&& f) {
    for (const Stmt& st : body) {
        if (&st == hole) continue;
        f(st);
        walk_around(st.body, hole, f);
        walk_around(st.orelse, hole, f);
    }
}

const Scan::Names& names_at(Scan& s, const Stmt& st) { return s.kernel_memory[s.place_of(st.at) == Place::vector ? 1 : 0]; }

bool single_name(const Stmt& st) {
    return (st.kind == StmtKind::assign || st.kind == StmtKind::annotated) && st.targets.size() == 1 && st.targets[0].kind == ExprKind::name;
}

void picks_of(Scan& s, Loop& loop, const LoopNode& node) {
    if (node.outer == node.loop) return;
    std::vector<std::pair<const Stmt*, Memory>> found;
    walk_around(node.outer->body, node.loop, [&](const Stmt& st) {
        const Scan::Names& here = names_at(s, st);
        if (single_name(st))
            if (Memory g = s.picked(st.value, here, s.kernel.scope); g.kind == Memory::Kind::group) {
                found.emplace_back(&st, std::move(g));
                return;
            }
        walk_exprs(st, [&](const Expr& e) {
            if (s.picked(e, here, s.kernel.scope).kind != Memory::Kind::group) return;
            Diagnostic& d = s.report(Code::outer_pick_form, st.kind == StmtKind::loop || st.kind == StmtKind::with || st.kind == StmtKind::branch ? e.at : st.at,
                                     "a slot is taken inside a larger statement between the outer loop and the pipeline loop");
            d.labels.push_back({e.at, "the slot is taken here"});
            d.advice.push_back("take the slot by a statement of its own: `x = " + spell(e) + "`");
        });
    });

    // Names that reach a stage, followed backwards through renames.
    std::set<std::string> wanted;
    for (const LoopNode::StageNode& st : node.stages)
        for (std::size_t i = 1; i < st.statement->value.args.size(); ++i)
            if (st.statement->value.args[i].kind == ExprKind::name) wanted.insert(st.statement->value.args[i].text);
    for (bool grew = true; grew;) {
        grew = false;
        walk_around(node.outer->body, node.loop, [&](const Stmt& st) {
            if (single_name(st) && st.value.kind == ExprKind::name && wanted.count(st.targets[0].text)) grew |= wanted.insert(st.value.text).second;
        });
    }

    std::map<std::int32_t, std::vector<std::size_t>> by_group; // carried picks of each group
    std::set<std::string> variables;
    for (auto& [st, group] : found) {
        const std::string& variable = st->targets[0].text;
        if (!wanted.count(variable)) continue;
        if (!variables.insert(variable).second) {
            Diagnostic& d = s.report(Code::outer_pick_twice, st->at, "`" + variable + "` takes a second slot");
            for (const auto& [other, g] : found)
                if (other != st && other->targets[0].text == variable) {
                    d.labels.push_back({other->at, "the first slot"});
                    break;
                }
            d.advice.push_back("use two variables: one index travels for each");
            continue;
        }
        if (group.groups.size() != 1) continue;
        const Buffer& b = s.model[group.groups.front()];
        if (b.slots <= 0) {
            Diagnostic& d = s.report(Code::outer_pick_slots, b.at, "the slot count of `" + b.name + "` is not static");
            d.labels.push_back({st->at, "a slot is taken here and reaches a stage"});
            d.advice.push_back("give a literal depth, or one mutex id a slot");
            continue;
        }
        by_group[group.groups.front().index];
    }
    for (auto& [st, group] : found) {
        if (group.groups.size() != 1 || !by_group.count(group.groups.front().index)) continue;
        const std::string how = accessor(st->value);
        OuterPick p;
        p.carried = wanted.count(st->targets[0].text) > 0;
        if (!p.carried && how.empty()) continue; // a subscript neither moves nor reads the cursor
        p.how = how == "next" ? OuterPick::How::next : how == "current" ? OuterPick::How::current : how == "previous" ? OuterPick::How::previous : OuterPick::How::index;
        p.variable = st->targets[0].text;
        p.group = group.groups.front();
        p.at = st->at, p.value_at = st->value.at;
        if (p.how == OuterPick::How::index) p.index_at = st->value.args[1].at;
        p.place = s.model[p.group].place;
        p.counter = "_pl_idx_" + s.model[p.group].name;
        by_group[p.group.index].push_back(loop.picks.size());
        loop.picks.push_back(std::move(p));
    }
    // One index a variable; alone in its group, a variable shares its index with the counter.
    for (auto& [group, indices] : by_group)
        for (std::size_t i : indices) {
            OuterPick& p = loop.picks[i];
            const bool alone = indices.size() == 1 && p.how != OuterPick::How::previous;
            p.index = alone || !p.carried ? p.counter : p.counter + "_" + p.variable;
        }
}

/// The rewritten next() leaves the group's own cursor where it was: nobody else may look at it. Binds when pipelined.
void cursor_mix(Scan& s, Loop& loop, const LoopNode& node) {
    std::set<std::int32_t> groups;
    for (const OuterPick& p : loop.picks)
        if (p.how != OuterPick::How::index) groups.insert(p.group.index);
    if (groups.empty()) return;
    auto refuse = [&](std::int32_t g, Span at, const std::string& where) {
        const Buffer& b = s.model.buffers[std::size_t(g)];
        Diagnostic d = diagnose(Code::pipeline_cursor_mix, at, "the cursor of `" + b.name + "` is used " + where + " and between the outer loop and the pipeline loop");
        for (const OuterPick& p : loop.picks)
            if (p.group.index == g) {
                d.labels.push_back({p.at, "this slot's index travels with the task"});
                break;
            }
        d.advice.push_back("use a second group over the same bytes, or pass the tile that was picked");
        loop.when_pipelined.push_back(std::move(d));
    };
    for (const Stage& st : loop.stages)
        for (const Rotation& r : st.rotations)
            if (groups.count(r.buffer.index) && (r.most > 0 || r.other > 0)) refuse(r.buffer.index, r.at, "in stage `" + st.name + "`");
    syntax::walk(s.body, [&](const Stmt& st) {
        if (Scan::inside(*node.outer, st) && !Scan::inside(*node.loop, st)) return;
        walk_exprs(st, [&](const Expr& e) {
            if (accessor(e).empty()) return;
            Memory g = s.picked(e, names_at(s, st), s.kernel.scope);
            for (BufferId id : g.groups) {
                if (!groups.count(id.index)) continue;
                // The outer bodies of other pipeline loops start their own counter.
                bool other_outer = false;
                for (const Loop& l : s.model.loops) other_outer |= l.index != loop.index && l.outer.begin <= e.at.begin && e.at.end <= l.outer.end;
                if (!other_outer) refuse(id.index, e.at, "elsewhere in the kernel");
            }
        });
    });
}

} // namespace

Place Scan::place_of(const Span& at) const {
    Place place = Place::both;
    for (const auto& [section, p] : sections)
        if (section.begin <= at.begin && at.end <= section.end) place = p;
    return place;
}

bool Scan::read_outer_picks() {
    for (std::size_t l = 0; l < nodes.size(); ++l) picks_of(*this, model.loops[l], nodes[l]);

    // S3: a cursor that moves on one core only.
    syntax::walk(body, [&](const Stmt& st) {
        const Place place = place_of(st.at);
        if (place == Place::both || st.kind == StmtKind::with) return;
        for (const LoopNode& n : nodes)
            if (inside(*n.loop, st)) return; // K33's business
        walk_exprs(st, [&](const Expr& e) {
            if (accessor(e) != "next") return;
            Memory g = picked(e, kernel_memory[place == Place::vector ? 1 : 0], kernel.scope);
            for (BufferId id : g.groups) {
                if (!model[id].channel() || model[id].slots == 1) continue;
                Diagnostic& d = report(Code::channel_cursor_one_core, e.at, "the cursor of cross-core buffer `" + model[id].name + "` moves on the " + (place == Place::cube ? "cube" : "vector") + " core only");
                d.labels.push_back({model[id].name_at, "declared here"});
                d.advice.push_back("producer and consumer would meet on different slots: take slots of it inside stages");
            }
        });
    });
    return !blocks(diagnostics);
}

void note_cursor_mix(Scan& s) {
    for (std::size_t l = 0; l < s.nodes.size(); ++l) cursor_mix(s, s.model.loops[l], s.nodes[l]);
}

} // namespace pto::pipeline
