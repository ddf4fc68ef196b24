/// Step 6: what every stage touches, in which role, on which pipe; K27 to K35 and S2. Pipeline reference, 9.

#include "engine/resolve/pipeline/walk.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {

/// S2: ids are indexed by task, slots by the cursor: they agree only if the cursor moves once a task.
void check_rotations(Scan& s, Loop& loop) {
    for (Stage& st : loop.stages) {
        std::set<std::int32_t> touched;
        for (const Access& a : st.accesses)
            if (s.model[a.buffer].channel()) touched.insert(a.buffer.index);
        for (std::int32_t index : touched) {
            const Buffer& b = s.model.buffers[std::size_t(index)];
            if (b.slots <= 1) continue;
            const Rotation* r = nullptr;
            for (const Rotation& x : st.rotations)
                if (x.buffer.index == index) r = &x;
            if (r && r->least == 1 && r->most == 1) continue;
            Access* at = nullptr;
            for (Access& a : st.accesses)
                if (a.buffer.index == index && !at) at = &a;
            const Span where = r && r->at.valid() ? r->at : at->at;
            const std::string who = "stage `" + st.name + "`", what = "`" + b.name + "`";
            if (r && r->most >= 2 && r->least != 0) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " takes a slot of " + what + " " + std::to_string(r->least) + (r->least == r->most ? "" : " or more") + " times a task: slot and event id drift apart, and task 1 meets the slots of task 0");
                if (r->second_at.valid()) d.labels.push_back({r->second_at, "taken again here"});
                d.advice.push_back("call next() once a task and keep the tile in a variable");
            } else if (r && r->most >= 1) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " does not take a slot of " + what + " in every task: after the first task without it, producer and consumer are on different slots");
                d.advice.push_back("call next() unconditionally at the top of the stage");
            } else if (r && r->subscripts > 0) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " chooses the slot of " + what + " itself; that it is task mod " + std::to_string(b.slots) + " is not shown");
                d.severity = Severity::warning;
                d.advice.push_back("take the slot with next()");
            } else {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " uses " + what + " without moving its cursor: the slot stays while the event id advances");
                d.advice.push_back("take the slot with next() inside the stage");
            }
        }
    }
}

} // namespace

bool Scan::scan_accesses() {
    for (std::size_t l = 0; l < model.loops.size(); ++l)
        for (Stage& st : model.loops[l].stages) Walk(*this, &st, st.core).run_stage();
    for (std::size_t l = 0; l < nodes.size(); ++l) {
        std::vector<const Stmt*> before, behind;
        std::size_t seen = 0;
        for (const Stmt& st : nodes[l].loop->body) {
            const bool is_stage = std::any_of(nodes[l].stages.begin(), nodes[l].stages.end(), [&](const auto& n) { return n.section == &st || n.statement == &st; });
            if (is_stage) ++seen;
            else (seen == 0 ? before : behind).push_back(&st);
        }
        for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
            Walk(*this, core, model.loops[l].zone1_locals[int(core)]).run_zone(before);
            Walk(*this, core, model.loops[l].zone3_locals[int(core)]).run_zone(behind);
            if (nodes[l].outer != nodes[l].loop) Walk(*this, core, model.loops[l].outer_locals[int(core)]).run_outer(nodes[l].outer->body, nodes[l].loop);
        }
        for (const Stage& st : model.loops[l].stages) Walk(*this, nullptr, st.core).run_arguments(st.call);
    }
    for (std::size_t i = 0; i < model.buffers.size(); ++i) {
        const Buffer& b = model.buffers[i];
        if (!b.channel()) continue;
        bool used = false;
        for (const Loop& l : model.loops)
            for (const Stage& st : l.stages)
                for (const Access& a : st.accesses) used |= a.buffer.index == std::int32_t(i);
        if (used) continue;
        Diagnostic& d = report(Code::channel_unused, b.name_at, "no stage touches cross-core buffer `" + b.name + "`");
        d.advice.push_back("remove its fwd_ids and bwd_ids, or pass it to a stage");
    }
    if (blocks(diagnostics)) return false;
    for (Loop& l : model.loops) {
        check_rotations(*this, l);
        for (std::size_t i = 0; i < model.buffers.size(); ++i) {
            bool used = false;
            for (const Stage& st : l.stages)
                for (const Access& a : st.accesses) used |= a.buffer.index == std::int32_t(i);
            if (used && model.buffers[i].channel()) l.declared_channels.push_back({std::int32_t(i)});
        }
    }
    return !blocks(diagnostics);
}

} // namespace pto::pipeline
