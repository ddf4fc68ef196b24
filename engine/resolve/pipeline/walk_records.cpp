/// What a walk records: accesses of channels in the stage, everything else as local memory.

#include "engine/resolve/pipeline/walk.hpp"

#include <algorithm>

namespace pto::pipeline {

void Count::add(const Count& c) {
    least += c.least, most += c.most, other += c.other, subscripts += c.subscripts;
    if (!first.valid()) first = c.first, second = c.second;
    else if (!second.valid()) second = c.first;
}

void Walk::record(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, const std::string& op, Span at, const Expr& argument) {
    if (!m_stage) {
        for (BufferId g : m.groups)
            if (m_s.model[g].tracked && m_refuse) {
                const Buffer& b = m_s.model[g];
                for (const Diagnostic& d : m_s.diagnostics)
                    if (d.code == Code::channel_touched_in_loop && d.at == at) return;
                Diagnostic& d = m_s.report(Code::channel_touched_in_loop, at, "`" + b.name + "` is touched in the pipeline loop outside a stage");
                d.labels.push_back({b.name_at, "declared here"});
                label_chain(d);
                d.advice.push_back("move the statement into a stage: nobody synchronises it here");
            }
        record_local(frame, m, role, pipe, at, argument);
        return;
    }
    for (BufferId g : m.groups) {
        if (!m_s.model[g].tracked) continue;
        const bool maybe = frame.conditional || frame.behind_return;
        auto known = std::find_if(m_stage->accesses.begin(), m_stage->accesses.end(),
                                  [&](const Access& a) { return a.buffer == g && a.role == role && a.pipe == pipe; });
        if (known == m_stage->accesses.end()) m_stage->accesses.push_back({g, role, pipe, op, maybe, at, via()});
        else known->conditional = known->conditional && maybe;
    }
    record_local(frame, m, role, pipe, at, argument);
}

void Walk::note_op(const Frame& frame, const Memory& m, isa::Pipe pipe, Span at, std::int32_t root) {
    if (!m_stage) return;
    if (m_stage->ops.empty() || m_last_op != at) m_stage->ops.push_back({pipe, {}, frame.conditional || frame.behind_return, at}), m_last_op = at;
    for (BufferId g : m.groups)
        if (m_s.model[g].mutex_auto || !m_s.model[g].mutex_ids.empty()) {
            m_stage->ops.back().slots.push_back(root);
            break;
        }
}

std::int32_t Walk::root_of(const Frame& frame, const Memory& m, const Expr& argument) {
    const Expr* base = &argument;
    while (base->kind == ExprKind::subscript || base->kind == ExprKind::attribute) base = &base->args.front();
    std::int32_t root = 0;
    if (base->kind == ExprKind::name)
        if (auto found = frame.roots.find(base->text); found != frame.roots.end()) root = found->second;
    if (root == 0) {
        std::string key = "object " + m.object;
        for (BufferId g : m.groups) key += " " + std::to_string(g.index);
        auto [here, inserted] = m_object_roots.try_emplace(key, 0);
        if (inserted) here->second = m_next_root++;
        root = here->second;
    }
    return root;
}

void Walk::wrote(std::int32_t root, const Memory& m) {
    m_written.insert(root);
    for (BufferId g : m.groups) m_written_groups.insert(g.index);
}

void Walk::record_local(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, Span at, const Expr& argument) {
    const std::int32_t root = root_of(frame, m, argument);
    note_op(frame, m, pipe, at, root);
    // A slot named anew (previous(), a subscript) may be one this stage has written under another name.
    bool exposed = isa::reads(role) && !m_written.count(root);
    if (!m_fresh.count(root))
        for (BufferId g : m.groups) exposed = exposed && !m_written_groups.count(g.index);
    if (isa::writes(role)) wrote(root, m);
    auto choice = m_choice.find(root);
    LocalAccess local;
    local.is_tensor = m.kind == Memory::Kind::tensor;
    local.role = role, local.pipe = pipe, local.exposed = exposed, local.conditional = frame.conditional, local.at = at;
    local.slot = choice != m_choice.end() ? choice->second : m.slots > 1 ? SlotChoice::by_value : SlotChoice::fixed;
    local.slots = m.slots;
    auto keep = [&](LocalAccess a) {
        for (const LocalAccess& o : *m_locals)
            if (o.buffer == a.buffer && o.name == a.name && o.role == a.role && o.exposed == a.exposed && o.slot == a.slot) return;
        m_locals->push_back(std::move(a));
    };
    for (BufferId g : m.groups) {
        if (m_s.model[g].tracked) continue;
        LocalAccess a = local;
        a.buffer = g, a.slots = m_s.model[g].slots;
        keep(a);
    }
    if (m.groups.empty() && !m.object.empty()) {
        LocalAccess a = local;
        a.name = m.object;
        keep(a);
    }
}

} // namespace pto::pipeline
