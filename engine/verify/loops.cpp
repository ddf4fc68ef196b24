#include "engine/verify/loops.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

using program::CoreCode;
using program::Instr;
using program::InstrKind;

std::string text_of(const ir::Function& f, ir::ExprId id) {
    if (!id.valid()) return "-";
    const ir::Expr& e = f[id];
    switch (e.op) {
    case ir::ExprOp::integer: return std::to_string(e.integer);
    case ir::ExprOp::var: return f[e.var].name;
    case ir::ExprOp::dim: return f[e.tensor].name + "." + std::to_string(e.integer);
    case ir::ExprOp::field: return f[e.structure].name + "[" + text_of(f, e.a) + "]." + std::to_string(e.integer) + "[" + text_of(f, e.b) + "]";
    default: return std::to_string(int(e.op)) + "(" + text_of(f, e.a) + "," + text_of(f, e.b) + "," + text_of(f, e.c) + ")";
    }
}

bool carries_sync(const Instr& i) {
    if (i.kind == InstrKind::stage_enter) return true;
    if (i.kind != InstrKind::issue) return false;
    const auto* op = std::get_if<ir::Op>(&i.stmt->what);
    if (!op || !op->row) return false;
    using S = isa::Semantics;
    switch (op->row->semantics) {
    case S::cross_set:
    case S::cross_wait:
    case S::flag_set:
    case S::flag_wait:
    case S::sync_all: return true;
    default: return false;
    }
}

/// As text_of, but equal only when it is the same parameter, or the same variable of one core.
std::string identity_of(const ir::Function& f, std::size_t side, ir::ExprId id) {
    if (!id.valid()) return "-";
    const ir::Expr& e = f[id];
    const auto own = [&](std::int32_t index) { return " of core " + std::to_string(side) + " " + std::to_string(index); };
    switch (e.op) {
    case ir::ExprOp::integer: return std::to_string(e.integer);
    case ir::ExprOp::var: return f[e.var].param.valid() ? "parameter " + std::to_string(f[e.var].param.index) : "variable" + own(e.var.index);
    case ir::ExprOp::dim: return "axis " + std::to_string(e.integer) + (f[e.tensor].param.valid() ? " of " + std::to_string(f[e.tensor].param.index) : own(e.tensor.index));
    default:
        return std::to_string(int(e.op)) + "(" + identity_of(f, side, e.a) + "," + identity_of(f, side, e.b) + "," + identity_of(f, side, e.c) + ")";
    }
}

/// Bounds that hold one value during the whole run: constants, sizes and parameters.
bool fixed(const ir::Function& f, const std::vector<char>& assigned, ir::ExprId id) {
    if (!id.valid()) return true;
    const ir::Expr& e = f[id];
    switch (e.op) {
    case ir::ExprOp::var: return !assigned[std::size_t(e.var.index)];
    case ir::ExprOp::field:
    case ir::ExprOp::valid_dim:
    case ir::ExprOp::spr: return false;
    default: return fixed(f, assigned, e.a) && fixed(f, assigned, e.b) && fixed(f, assigned, e.c);
    }
}
std::vector<char> assigned_twice(const CoreCode& core) {
    std::vector<char> once(core.function->vars.size(), 0), twice(once);
    const auto write = [&](ir::VarId v, bool again) {
        if (again || once[std::size_t(v.index)]) twice[std::size_t(v.index)] = 1;
        once[std::size_t(v.index)] = 1;
    };
    std::int32_t loop_end = 0; // behind the outermost loop around the instruction
    for (std::size_t i = 0; i < core.code.size(); ++i) {
        const Instr& in = core.code[i];
        const bool inside = std::int32_t(i) < loop_end;
        if (in.kind == InstrKind::loop_enter) write(in.var, true), loop_end = std::max(loop_end, in.target);
        if (in.kind == InstrKind::assign) write(in.var, inside);
        if (in.kind == InstrKind::issue)
            if (const auto* op = std::get_if<ir::Op>(&in.stmt->what))
                for (ir::VarId v : op->results) write(v, true);
    }
    for (std::size_t v = 0; v < once.size(); ++v)
        if (core.function->vars[v].param.valid() && once[v]) twice[v] = 1;
    return twice;
}

} // namespace

Loops find_loops(const program::Program& program) {
    Loops out;
    out.class_of.resize(program.cores.size());
    for (std::size_t side = 0; side < program.cores.size(); ++side) {
        const CoreCode& core = program.cores[side];
        const std::vector<char> varying = assigned_twice(core);
        std::map<std::string, int> seen;
        std::vector<std::pair<std::int32_t, std::int32_t>> open; // class, end
        for (std::size_t i = 0; i < core.code.size(); ++i) {
            while (!open.empty() && open.back().second <= std::int32_t(i)) open.pop_back();
            const Instr& in = core.code[i];
            if (in.kind != InstrKind::loop_enter) continue;
            bool sync = false;
            for (std::size_t k = i + 1; k < std::size_t(in.target) && !sync; ++k) sync = carries_sync(core.code[k]);
            if (!sync) continue;
            const auto& loop = std::get<ir::Loop>(in.stmt->what);
            const ir::Function& f = *core.function;
            const std::string bounds = text_of(f, loop.start) + " " + text_of(f, loop.stop) + " " + text_of(f, loop.step);
            std::string signature = f[loop.var].name + " " + bounds;
            signature += " #" + std::to_string(seen[signature]++);
            auto known = std::find_if(out.classes.begin(), out.classes.end(), [&](const LoopClass& c) { return c.signature == signature; });
            if (known == out.classes.end()) {
                LoopClass c;
                c.signature = std::move(signature);
                c.parent = open.empty() ? -1 : open.back().first;
                c.at = in.at;
                if (fixed(f, varying, loop.start) && fixed(f, varying, loop.stop) && fixed(f, varying, loop.step))
                    c.length = identity_of(f, side, loop.start) + " " + identity_of(f, side, loop.stop) + " " + identity_of(f, side, loop.step);
                out.classes.push_back(std::move(c));
                known = out.classes.end() - 1;
            }
            known->members.emplace_back(side, in.loop);
            const auto cls = std::int32_t(known - out.classes.begin());
            out.class_of[side][in.loop] = cls;
            open.emplace_back(cls, in.target);
        }
    }
    for (const LoopClass& c : out.classes)
        if (c.parent >= 0) out.classes[std::size_t(c.parent)].innermost = false;
    return out;
}

bool Loops::contains(std::int32_t outer, std::int32_t inner) const {
    for (inner = classes[std::size_t(inner)].parent; inner >= 0; inner = classes[std::size_t(inner)].parent)
        if (inner == outer) return true;
    return false;
}

} // namespace pto::verify
