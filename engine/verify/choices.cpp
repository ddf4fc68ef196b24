#include "engine/verify/choices.hpp"

#include "engine/verify/alternatives.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

using program::CoreCode;
using program::Instr;
using program::InstrKind;

/// What unsettled code assigns, and where that leads.
class Reach {
  public:
    Reach(const CoreCode& core, const std::vector<char>& exposed, const std::vector<Protection::Meeting>& meeting, const std::vector<char>& outputs, const std::set<std::int32_t>& guesses, const std::set<std::int32_t>& unsteady)
        : m_core(core), m_f(*core.function), m_exposed(exposed), m_meeting(meeting), m_outputs(outputs), m_unsteady(unsteady), m_ways(core, exposed, meeting) {
        m_vars.assign(m_f.vars.size(), 0), m_tiles.assign(m_f.tiles.size(), 0), m_tensors.assign(m_f.tensors.size(), 0);
        for (const ir::Struct& s : m_f.structs) m_fields.emplace_back(s.fields.size(), 0);
        m_pending = guesses;
        m_pending.insert(unsteady.begin(), unsteady.end());
    }

    std::optional<std::string> around(const Around& a) {
        for (std::int32_t k = a.begin; k < a.end; ++k) {
            if (k >= a.inner_begin && k < a.inner_end) continue;
            const Instr& x = m_core.code[std::size_t(k)];
            if (x.kind == InstrKind::issue && m_exposed[std::size_t(k)]) return "operations around the task loop need synchronisation of their own";
            if (x.kind == InstrKind::issue && m_outputs[std::size_t(k)]) outputs_move = true;
            assign(x);
        }
        return std::nullopt;
    }

    std::optional<std::string> run() {
        for (;;) {
            while (!m_pending.empty()) {
                const std::int32_t i = *m_pending.begin(); // a choice holds what stands behind its first branch
                m_pending.erase(m_pending.begin());
                if (!m_seen.insert(i).second) continue;
                if (auto why = region(i)) return why;
            }
            bool changed = false;
            for (std::size_t i = 0; i < m_core.code.size(); ++i) changed |= flow(std::int32_t(i));
            if (!changed && m_pending.empty()) break;
        }
        for (std::size_t i = 0; i < m_core.code.size(); ++i)
            if (m_core.code[i].kind == InstrKind::issue && m_outputs[i] && reads_guess(m_core.code[i])) outputs_move = true;
        for (std::size_t i = 0; i < m_core.code.size(); ++i)
            if (m_core.code[i].kind == InstrKind::issue && m_exposed[i])
                if (reads_guess(m_core.code[i], true, i)) return "an operation that only synchronisation orders works on values that unknown control changes";
        // A lock of a slot that is not settled may be another one.
        for (std::size_t i = 0; i < m_core.code.size(); ++i)
            if (m_core.code[i].kind == InstrKind::issue && !m_exposed[i] && locks_guess(m_core.code[i]))
                if (auto why = leave_out(std::int32_t(i))) return why;
        return std::nullopt;
    }
    bool outputs_move = false;

    /// The core's program as it stands for all runs; true when that is another one.
    bool write(CoreCode& core) const {
        const auto skip = [&](std::int32_t i) {
            Instr& in = core.code[std::size_t(i)];
            in.kind = InstrKind::jump, in.target = i + 1, in.loop = -1;
        };
        for (std::int32_t i : m_left_out) skip(i);
        for (const Choice& c : m_choices) {
            for (const auto& [begin, end] : c.unused)
                for (std::int32_t i = begin; i < end; ++i) skip(i);
            for (const auto& [branch, taken] : c.taken) {
                Instr& in = core.code[std::size_t(branch)];
                in.kind = InstrKind::jump;
                if (taken) in.target = branch + 1;
            }
        }
        return !m_left_out.empty() || !m_choices.empty();
    }

  private:
    /// A choice whose ways only differ in what locks order: its values are not settled, the rest of it is.
    bool choice(std::int32_t branch) {
        for (const Choice& c : m_choices)
            if (branch >= c.begin && branch < c.end) return true;
        std::optional<Choice> c = m_ways.at(branch);
        if (!c) return false;
        for (std::int32_t k = c->begin; k < c->end; ++k) {
            const Instr& x = m_core.code[std::size_t(k)];
            if (x.kind == InstrKind::issue && m_outputs[std::size_t(k)]) outputs_move = true;
            if (!settled_inside(x)) assign(x);
        }
        m_left_out.insert(c->left_out.begin(), c->left_out.end());
        m_choices.push_back(std::move(*c));
        return true;
    }
    /// Written once in the whole program: who reads it is on the same way.
    bool settled_inside(const Instr& x) const {
        if (x.kind == InstrKind::assign) return m_ways.assigned_once(x.var);
        if (x.kind != InstrKind::tile_bind) return false;
        const auto& bind = std::get<ir::TileBind>(x.stmt->what);
        return std::holds_alternative<ir::AliasOf>(bind.source) && m_ways.bound_once(bind.var);
    }
    std::optional<std::string> leave_out(std::int32_t i) {
        const auto* op = std::get_if<ir::Op>(&m_core.code[std::size_t(i)].stmt->what);
        if (op && !op->results.empty()) return "the scalar unit reads a tile only where unknown control says so";
        m_left_out.insert(i);
        return std::nullopt;
    }
    /// [begin, end) that the guessed instruction decides about.
    std::optional<std::string> region(std::int32_t i) {
        const Instr& in = m_core.code[std::size_t(i)];
        if (in.kind == InstrKind::tile_bind) {
            m_tiles[std::size_t(std::get<ir::TileBind>(in.stmt->what).var.index)] = 1;
            return std::nullopt;
        }
        if (in.kind == InstrKind::issue) return "an event id is unknown before the launch";
        if (in.kind == InstrKind::branch && choice(i)) return std::nullopt;
        std::int32_t begin = i + 1, end = in.target;
        if (in.kind == InstrKind::branch && end > begin) {
            const Instr& last = m_core.code[std::size_t(end - 1)];
            if (last.kind == InstrKind::jump && last.stmt == in.stmt && last.target > end) end = last.target;
        }
        for (std::int32_t k = begin; k < end; ++k) {
            const Instr& x = m_core.code[std::size_t(k)];
            if (x.kind == InstrKind::issue && m_exposed[std::size_t(k)])
return in.kind != InstrKind::branch ? "the length of an inner loop is unknown before the launch"
                       : m_unsteady.count(i)        ? "a condition depends on the number of the task"
                                                    : "a condition depends on values that are unknown before the launch";
            if (x.kind == InstrKind::issue && m_outputs[std::size_t(k)]) outputs_move = true;
            if ((x.kind == InstrKind::jump || x.kind == InstrKind::branch) && (x.target < begin || x.target > end)) return "unknown control leaves its loop";
            if (x.kind == InstrKind::finish) return "unknown control ends the program";
            if (x.kind == InstrKind::issue)
                if (auto why = leave_out(k)) return why;
            assign(x);
        }
        return std::nullopt;
    }
    void assign(const Instr& x) {
        switch (x.kind) {
        case InstrKind::assign:
        case InstrKind::loop_enter: m_vars[std::size_t(x.var.index)] = 1; break;
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(x.stmt->what);
            m_fields[std::size_t(a.target.structure.index)][std::size_t(a.field)] = 1;
            break;
        }
        case InstrKind::tile_bind: m_tiles[std::size_t(std::get<ir::TileBind>(x.stmt->what).var.index)] = 1; break;
        case InstrKind::tensor_bind: m_tensors[std::size_t(std::get<ir::TensorBind>(x.stmt->what).tensor.index)] = 1; break;
        case InstrKind::issue:
            if (auto op = std::get_if<ir::Op>(&x.stmt->what)) {
                for (ir::VarId v : op->results) m_vars[std::size_t(v.index)] = 1;
                if (op->row && op->row->semantics == isa::Semantics::set_stride)
                    for (const auto& o : op->operands)
                        if (auto t = std::get_if<ir::TensorId>(&o)) m_tensors[std::size_t(t->index)] = 1;
            }
            break;
        default: break;
        }
    }
    bool guessed(ir::ExprId id) const {
        if (!id.valid()) return false;
        const ir::Expr& e = m_f[id];
        switch (e.op) {
        case ir::ExprOp::var: return m_vars[std::size_t(e.var.index)];
        case ir::ExprOp::field:
            if (m_fields[std::size_t(e.structure.index)][std::size_t(e.integer)]) return true;
            break;
        case ir::ExprOp::valid_dim: return m_tiles[std::size_t(e.tile.index)];
        default: break;
        }
        return guessed(e.a) || guessed(e.b) || guessed(e.c);
    }
    static bool raise(char& flag) { return flag ? false : (flag = 1, true); }
    bool flow(std::int32_t i) {
        const Instr& in = m_core.code[std::size_t(i)];
        switch (in.kind) {
        case InstrKind::assign: return guessed(in.expr) && raise(m_vars[std::size_t(in.var.index)]);
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
            return (guessed(a.value) || guessed(a.element) || guessed(a.target.index)) && raise(m_fields[std::size_t(a.target.structure.index)][std::size_t(a.field)]);
        }
        case InstrKind::branch:
            if (guessed(in.expr) && !m_seen.count(i)) return m_pending.insert(i), true;
            return false;
        case InstrKind::loop_enter: {
            const auto& l = std::get<ir::Loop>(in.stmt->what);
            if ((guessed(l.start) || guessed(l.stop) || guessed(l.step)) && !m_seen.count(i)) return m_pending.insert(i), true;
            return false;
        }
        case InstrKind::tile_bind: {
            const auto& bind = std::get<ir::TileBind>(in.stmt->what);
            const bool bad = std::visit(on{[&](const ir::SlotOf& s) { return guessed(s.index); }, [&](const ir::AliasOf& s) { return bool(m_tiles[std::size_t(s.tile.index)]); },
                                           [&](const ir::SubviewOf& s) {
                                               return m_tiles[std::size_t(s.base.index)] || guessed(s.row_begin) || guessed(s.row_end) || guessed(s.col_begin) || guessed(s.col_end);
                                           },
                                           [&](const ir::ViewOf& s) { return bool(m_tiles[std::size_t(s.base.index)]); },
                                           [&](const ir::ChoiceOf& s) { return m_tiles[std::size_t(s.then.index)] || m_tiles[std::size_t(s.otherwise.index)] || guessed(s.condition); }},
                                        bind.source);
            return bad && raise(m_tiles[std::size_t(bind.var.index)]);
        }
        case InstrKind::tensor_bind: {
            const auto& bind = std::get<ir::TensorBind>(in.stmt->what);
            bool bad = guessed(bind.address) || (bind.alias_of.valid() && m_tensors[std::size_t(bind.alias_of.index)]);
            for (ir::ExprId e : bind.strides) bad = bad || guessed(e);
            return bad && raise(m_tensors[std::size_t(bind.tensor.index)]);
        }
        default: return false;
        }
    }
    /// met: of tiles only those count that others may meet, or whose locks the operation takes.
    bool reads_guess(const Instr& in, bool met = false, std::size_t i = 0) const {
        const auto tile = [&](ir::TileVarId t) { return m_tiles[std::size_t(t.index)] && (!met || m_meeting[i].tiles.empty() || m_meeting[i].tiles.count(t.index)); };
        if (met && locks_guess(in)) return true;
        const auto value = [&](const auto& v) {
            return std::visit(on{tile, [&](ir::TensorId t) { return bool(m_tensors[std::size_t(t.index)]); },
                                 [&](ir::ExprId e) { return guessed(e); },
                                 [&](const ir::ExprList& l) { return std::any_of(l.begin(), l.end(), [&](ir::ExprId e) { return guessed(e); }); },
                                 [](const auto&) { return false; }},
                              v);
        };
        return std::visit(on{[&](const ir::Op& op) {
                                 return std::any_of(op.operands.begin(), op.operands.end(), value) || std::any_of(op.attributes.begin(), op.attributes.end(), value);
                             },
                             [&](const ir::VectorCall& c) { return std::any_of(c.tiles.begin(), c.tiles.end(), tile); },
                             [&](const ir::SimtLaunch& l) { return std::any_of(l.arguments.begin(), l.arguments.end(), value); }, [](const auto&) { return false; }},
                          in.stmt->what);
    }

    bool locks_guess(const Instr& in) const {
        const std::vector<ir::TileVarId>* locks = locks_of(*in.stmt);
        return locks && std::any_of(locks->begin(), locks->end(), [&](ir::TileVarId t) { return bool(m_tiles[std::size_t(t.index)]); });
    }

    const CoreCode& m_core;
    const ir::Function& m_f;
    const std::vector<char>& m_exposed;
    const std::vector<Protection::Meeting>& m_meeting;
    const std::vector<char>& m_outputs;
    const std::set<std::int32_t>& m_unsteady;
    Alternatives m_ways;
    std::vector<Choice> m_choices;
    std::set<std::int32_t> m_left_out;
    std::vector<char> m_vars, m_tiles, m_tensors;
    std::vector<std::vector<char>> m_fields;
    std::set<std::int32_t> m_pending, m_seen;
};

} // namespace

Settled settle(const program::Program& program, const Protection& protection, const Guesses& guesses, const Guesses& unsteady, const std::vector<Around>& around) {
    const std::set<std::int32_t> none;
    Settled out{program, false, false, {}};
    for (std::size_t side = 0; side < program.cores.size() && side < guesses.size(); ++side) {
        Reach reach(program.cores[side], protection.exposed[side], protection.meeting[side], protection.outputs[side], guesses[side], side < unsteady.size() ? unsteady[side] : none);
        std::optional<std::string> why;
        for (const Around& a : around)
            if (a.side == side && !why) why = reach.around(a);
        if (!why) why = reach.run();
        if (why) {
            out.why = *why;
            return out;
        }
        out.outputs_move |= reach.outputs_move;
        out.changed |= reach.write(out.program.cores[side]);
    }
    return out;
}

} // namespace pto::verify
