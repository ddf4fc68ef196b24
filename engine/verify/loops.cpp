#include "engine/verify/loops.hpp"

#include <algorithm>
#include <numeric>

namespace pto::verify {
namespace {

using program::CoreCode;
using program::Instr;
using program::InstrKind;

constexpr std::int64_t longest_period = 48;

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

void collect_moduli(const ir::Function& f, std::vector<std::int64_t>& out) {
    for (const ir::Expr& e : f.exprs)
        if (e.op == ir::ExprOp::mod)
            if (auto c = f.constant(e.b); c && *c > 1 && *c <= longest_period) out.push_back(*c);
    for (const ir::TileDecl& d : f.decls)
        if (d.slots() > 1) out.push_back(d.slots());
}

} // namespace

Loops find_loops(const program::Program& program) {
    Loops out;
    out.class_of.resize(program.cores.size());
    std::vector<std::int64_t> moduli;
    for (std::size_t side = 0; side < program.cores.size(); ++side) {
        const CoreCode& core = program.cores[side];
        collect_moduli(*core.function, moduli);
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
            std::string signature = f[loop.var].name + " " + text_of(f, loop.start) + " " + text_of(f, loop.stop) + " " + text_of(f, loop.step);
            signature += " #" + std::to_string(seen[signature]++);
            auto known = std::find_if(out.classes.begin(), out.classes.end(), [&](const LoopClass& c) { return c.signature == signature; });
            if (known == out.classes.end()) {
                LoopClass c;
                c.signature = std::move(signature);
                c.parent = open.empty() ? -1 : open.back().first;
                c.at = in.at;
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
    for (std::int64_t m : moduli) {
        out.reach = std::max(out.reach, m);
        const std::int64_t next = std::lcm(out.period, m);
        if (next > longest_period) out.period_capped = true;
        else out.period = next;
    }
    return out;
}

} // namespace pto::verify
