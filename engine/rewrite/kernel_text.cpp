/// One pipeline loop: declarations and prefire in front of its outer loop, delayed stages inside, drain behind. Pipeline reference,
/// 16 (pipelined) and 17 (serial).

#include "engine/rewrite/kernel_text.hpp"

#include <algorithm>

namespace pto::rewrite {
namespace {

using syntax::Body;
using syntax::Expr;
using syntax::Stmt;
using syntax::StmtKind;

std::string step(const std::string& indent) { return indent + (indent.find('\t') != std::string::npos ? "\t" : "    "); }

const Stmt* find_loop(const Body& body, const Span& at) {
    for (const Stmt& st : body) {
        if (st.kind == StmtKind::loop && st.at == at) return &st;
        if (st.at.begin > at.begin || st.at.end < at.end) continue;
        if (const Stmt* found = find_loop(st.body, at)) return found;
        if (const Stmt* found = find_loop(st.orelse, at)) return found;
    }
    return nullptr;
}

class Emission {
  public:
    Emission(KernelEdits& k, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const sync::LoopPlan& plan)
        : m_k(k), m_loop(loop), m_schedule(schedule), m_plan(plan), m_pl(k.model.language), m_sigma(loop.suffix), m_pipelined(schedule.preload > 0) {
        m_array = "_pl_ctx_arr" + m_sigma, m_task = (m_pipelined ? "_pl_task_id" : "_pl_sync_id") + m_sigma;
        m_depth = std::to_string(schedule.ring_depth);
        m_outer_indent = k.text.indent(loop.outer.begin);
        const Stmt* tree = find_loop(k.model.source.function->body, loop.at);
        m_body_indent = k.text.indent(tree->body.front().at.begin);
    }

    void run() {
        before_outer();
        if (m_pipelined) {
            edit_outer_picks(m_k, m_loop);
            start_of_body();
            fills();
        }
        for (std::size_t i = 0; i < m_loop.stages.size(); ++i) stage(i);
        m_k.insert(m_k.text.next_line(m_loop.at.end), m_body_indent + m_task + " = " + m_task + " + 1\n", m_loop.header);
        behind_outer();
    }

  private:
    KernelEdits& m_k;
    const pipeline::Loop& m_loop;
    const schedule::LoopSchedule& m_schedule;
    const sync::LoopPlan& m_plan;
    const std::string m_pl, m_sigma;
    const bool m_pipelined;
    std::string m_array, m_task, m_depth, m_outer_indent, m_body_indent;

    std::string context(std::int32_t delay) const { return (delay == 0 ? std::string("_pl_ctx_0") : "_pl_ctx_neg" + std::to_string(delay)) + m_sigma; }
    std::string section(isa::Core core) const { return "with " + m_pl + (core == isa::Core::cube ? ".section_cube():" : ".section_vector():"); }
    std::string flag(bool wait, isa::Pipe pipe, const std::string& id) const {
        return m_pl + ".system." + (wait ? "wait" : "set") + "_cross_core(pipe=" + m_pl + ".PipeType." + std::string(isa::name(pipe)) + ", event_id=" + id + ")\n";
    }
    static std::string list(const std::vector<std::int32_t>& ids) {
        std::string out = "[";
        for (std::size_t i = 0; i < ids.size(); ++i) out += (i ? ", " : "") + std::to_string(ids[i]);
        return out + "]";
    }
    Span cause(std::int32_t edge) const { return m_plan.edges[std::size_t(edge)].to.at; }

    // ------------------------------------------------------------ around the outer loop

    void before_outer() {
        const std::int32_t at = m_k.text.line_start(m_loop.outer.begin);
        const std::string& in = m_outer_indent;
        std::string out;
        if (m_pipelined) {
            out += in + m_array + " = " + m_pl + ".struct_array(" + m_depth + ", \"PipeCtx" + m_sigma + "\", _pl_is_valid=0";
            for (const pipeline::CtxField& f : m_loop.fields) out += ", " + f.name + "=" + f.zero;
            out += ", _pl_task_id=0)\n" + in + m_task + " = 0\n";
        }
        for (const sync::DeclaredList& l : m_plan.lists) out += in + l.name + " = " + list(l.ids) + "\n";
        if (m_pipelined) out += outer_pick_counters(m_k.model, m_loop, in);
        else out += in + m_task + " = 0\n";
        m_k.insert(at, std::move(out), m_loop.header);
        permits(at, m_plan.prefire, false);
    }

    /// One section block per core, in order of first appearance.
    void permits(std::int32_t at, const std::vector<sync::Permit>& list, bool wait) {
        std::optional<isa::Core> open;
        for (const sync::Permit& p : list) {
            if (open != p.core) m_k.insert(at, m_outer_indent + section(p.core) + "\n", cause(p.edge));
            open = p.core;
            m_k.insert(at, step(m_outer_indent) + flag(wait, p.pipe, p.list + "[" + std::to_string(p.index) + "]"), cause(p.edge));
        }
    }

    void behind_outer() {
        const std::int32_t at = m_k.text.next_line(m_loop.outer.end);
        if (m_pipelined && m_schedule.drain_beats > 0) {
            const std::string in = m_outer_indent, in1 = step(in), c = context(0);
            m_k.insert(at, in + "for _pl_drain" + m_sigma + " in " + m_pl + ".range(0, " + std::to_string(m_schedule.drain_beats) + "):\n" + in1 + c + " = " + m_array + "[" + m_task + " % " + m_depth + "]\n" + in1 + c +
                               "._pl_is_valid = 0\n" + in1 + c + "._pl_task_id = " + m_task + "\n",
                       m_loop.header);
            for (std::size_t i = 0; i < m_loop.stages.size(); ++i) {
                if (m_schedule.delays[i] == 0) continue;
                m_k.insert(at, look_up(i, in1), m_loop.stages[i].statement);
                m_k.insert(at, in1 + section(m_loop.stages[i].core) + "\n", m_loop.stages[i].section_header);
                const std::string in2 = step(in1), in3 = step(in2);
                m_k.insert(at, in2 + "if " + context(m_schedule.delays[i]) + "._pl_is_valid:\n", m_loop.stages[i].statement);
                sites(at, i, true, in3);
                m_k.insert(at, in3 + m_loop.stages[i].name + "(" + arguments(m_loop.stages[i]) + ")\n", m_loop.stages[i].statement);
                sites(at, i, false, in3);
            }
            m_k.insert(at, in1 + m_task + " = " + m_task + " + 1\n", m_loop.header);
        }
        permits(at, m_plan.drain, true);
    }

    // ------------------------------------------------------------ the body

    std::string look_up(std::size_t i, const std::string& indent) const {
        const std::int32_t d = m_schedule.delays[i];
        return indent + context(d) + " = " + m_array + "[(" + m_task + " + " + std::to_string(m_schedule.ring_depth - d) + ") % " + m_depth + "]\n";
    }

    void start_of_body() {
        const Stmt* tree = find_loop(m_k.model.source.function->body, m_loop.at);
        const Expr& range = tree->value;
        const Expr& stop = range.args.size() == 2 ? range.args[1] : range.args[2];
        std::string end = m_k.text.one_line(stop.at);
        using K = syntax::ExprKind;
        if (stop.kind == K::conditional || stop.kind == K::logical || stop.kind == K::compare || stop.kind == K::chain || (stop.kind == K::unary && stop.text == "not")) end = "(" + end + ")";
        const std::string &in = m_body_indent, c = context(0);
        m_k.insert(m_k.text.next_line(m_loop.header.end),
                   in + c + " = " + m_array + "[" + m_task + " % " + m_depth + "]\n" + in + "if " + m_loop.variable + " < " + end + ":\n" + step(in) + c + "._pl_is_valid = 1\n" + in + "else:\n" + step(in) + c +
                       "._pl_is_valid = 0\n",
                   m_loop.header);
    }

    void fill(std::int32_t at, const pipeline::CtxField& f, const std::string& indent) {
        const std::string target = context(0) + "." + f.name;
        if (f.length > 0) {
            std::string out;
            for (std::int32_t i = 0; i < f.length; ++i) out += indent + target + "[" + std::to_string(i) + "] = " + f.value + "[" + std::to_string(i) + "]\n";
            m_k.insert(at, std::move(out), f.from);
        } else {
            m_k.insert(at, indent + target + " = " + (f.value.empty() ? m_k.text.one_line(f.expression) : f.value) + "\n", f.from);
        }
    }

    /// All fills of a beat stand together in front of the first stage.
    void fills() {
        const std::int32_t at = m_k.text.line_start(m_loop.stages.front().section.begin);
        const std::string in = m_k.text.indent(m_loop.stages.front().section.begin);
        for (const pipeline::CtxField& f : m_loop.fields)
            if (f.place == pipeline::Place::both && !f.in_both_sections) fill(at, f, in);
        m_k.insert(at, in + context(0) + "._pl_task_id = " + m_task + "\n", m_loop.header);
        for (auto [place, core] : {std::pair{pipeline::Place::cube, isa::Core::cube}, std::pair{pipeline::Place::vector, isa::Core::vector}}) {
            bool open = false;
            for (const pipeline::CtxField& f : m_loop.fields) {
                if (f.place != place && !f.in_both_sections) continue;
                if (!open) m_k.insert(at, in + section(core) + "\n", f.from);
                open = true;
                fill(at, f, step(in));
            }
        }
    }

    std::string argument(const pipeline::Stage& st, const pipeline::Argument& a) const {
        const std::string c = context(m_schedule.delays[std::size_t(&st - m_loop.stages.data())]);
        switch (a.kind) {
        case pipeline::Argument::Kind::unchanged: break;
        case pipeline::Argument::Kind::structure: return c;
        case pipeline::Argument::Kind::scalar:
        case pipeline::Argument::Kind::expression: return c + "." + a.field;
        case pipeline::Argument::Kind::pick: {
            const pipeline::OuterPick& p = m_loop.picks[std::size_t(a.pick.index)];
            return m_k.model[p.group].name + "[" + c + "." + p.index + "]";
        }
        }
        return {};
    }

    /// The argument list on one line, for the drain.
    std::string arguments(const pipeline::Stage& st) const {
        std::string out;
        for (const pipeline::Argument& a : st.arguments) {
            std::string text = argument(st, a);
            out += (out.empty() ? "" : ", ") + (text.empty() ? m_k.text.one_line(a.at) : text);
        }
        return out;
    }

    void sites(std::int32_t at, std::size_t i, bool before, const std::string& indent) {
        const std::string task = m_pipelined ? context(m_schedule.delays[i]) + "._pl_task_id" : m_task;
        for (const sync::Site& s : m_plan.sites)
            if (s.stage.index == std::int32_t(i) && s.before == before)
                m_k.insert(at, indent + flag(s.is_wait, s.pipe, s.list + "[" + task + " % " + std::to_string(s.slot_count) + "]"), cause(s.edge));
    }

    void stage(std::size_t i) {
        const pipeline::Stage& st = m_loop.stages[i];
        const Text& t = m_k.text;
        const std::int32_t d = m_schedule.delays[i];
        if (m_pipelined && d > 0) m_k.insert(t.line_start(st.section.begin), look_up(i, t.indent(st.section.begin)), st.statement);
        // A section on one line with its call gets a block of its own.
        const bool one_line = t.line_start(st.statement.begin) <= st.section_header.end - 1;
        const std::string in = one_line ? step(t.indent(st.section.begin)) : t.indent(st.statement.begin);
        const std::int32_t line_end = t.line_end(st.statement.end);
        const std::int32_t begin = one_line ? st.section_header.end : t.line_start(st.statement.begin);
        if (one_line) m_k.add(begin, st.statement.begin, "\n", st.statement);
        const std::int32_t at = one_line ? st.statement.begin : begin;
        if (!m_pipelined) {
            sites(at, i, true, in);
            if (one_line) m_k.insert(at, in, st.statement);
            std::int32_t behind = t.next_line(st.statement.end);
            sites(behind, i, false, in);
            return;
        }
        const std::string in1 = step(in);
        m_k.insert(at, in + "if " + context(d) + "._pl_is_valid:\n", st.statement);
        sites(at, i, true, in1);
        // The call keeps its bytes but for the arguments that travel; its lines move one step in.
        const std::int32_t extra = std::int32_t(in1.size() - in.size());
        if (one_line) m_k.insert(at, in1, st.statement);
        else m_k.insert(at, in1.substr(0, std::size_t(extra)), st.statement);
        for (const pipeline::Argument& a : st.arguments) {
            std::string text = argument(st, a);
            if (!text.empty()) m_k.add(a.at.begin, a.at.end, std::move(text), a.at);
        }
        for (std::int32_t line = t.next_line(st.statement.begin); line <= st.statement.end && line < line_end; line = t.next_line(line))
            m_k.insert(line, in1.substr(0, std::size_t(extra)), st.statement);
        sites(t.next_line(st.statement.end), i, false, in1);
    }
};

} // namespace

void edit_loop(KernelEdits& k, const pipeline::Loop& loop, const schedule::LoopSchedule& schedule, const sync::LoopPlan& plan) { Emission(k, loop, schedule, plan).run(); }

} // namespace pto::rewrite
