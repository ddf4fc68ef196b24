#include "engine/program/prepared.hpp"

namespace pto::program {

std::shared_ptr<const Prepared> prepare(const Program& program, const CoreCode& core) { return std::make_shared<const Prepared>(program, core); }

Prepared::Prepared(const Program& program, const CoreCode& code) : kernel(program.kernel), core(code), scalars(core) {
    const ir::Function& f = *core.function;
    for (const ir::TileDecl& d : f.decls) {
        slot_cells.push_back(valid_cells);
        valid_cells += d.slots();
    }
    instrs.resize(core.code.size());
    for (std::size_t i = 0; i < core.code.size(); ++i) prepare_instr(i);
    for (std::size_t i = 0; i < core.code.size(); ++i) {
        const Instr& enter = core.code[i];
        if (enter.kind != InstrKind::loop_enter) continue;
        for (std::size_t k = i + 1; k < std::size_t(enter.target) && k < instrs.size(); ++k)
            if (core.code[k].kind == InstrKind::issue && instrs[k].loops.size() < std::size_t(Iterations::most)) instrs[k].loops.push_back(enter.loop);
    }
}

OperandRecipe Prepared::recipe(const ir::OperandValue& v) {
    const ir::Function& f = *core.function;
    OperandRecipe r;
    std::visit(on{
                   [](std::monostate) {},
                   [&](ir::TileVarId t) { r.kind = OperandRecipe::Kind::tile, r.tile = t; },
                   [&](ir::TensorId t) { r.kind = OperandRecipe::Kind::tensor, r.tensor = t; },
                   [&](ir::ExprId e) {
                       if (!e.valid()) return;
                       r.kind = OperandRecipe::Kind::scalar, r.expr = scalars.compile(e), r.dtype = f[e].dtype;
                   },
                   [&](const ir::ExprList& list) {
                       r.kind = OperandRecipe::Kind::list;
                       for (ir::ExprId e : list) r.list.push_back(scalars.compile(e)), r.list_types.push_back(f[e].dtype);
                   },
                   [&](const ir::StructRef& s) {
                       r.kind = OperandRecipe::Kind::structure, r.structure = s;
                       if (s.index.valid()) r.expr = scalars.compile(s.index);
                   },
                   [&](const ir::MixedList& m) { r.kind = OperandRecipe::Kind::mixed, r.mixed = &m; },
                   [&](const std::string&) { r.kind = OperandRecipe::Kind::attribute_text; },
                   [](const auto&) {}, // registers and memory references occur inside vector functions; groups in descriptor operations
               },
               v);
    return r;
}

OperandRecipe Prepared::recipe(const ir::AttributeValue& v) {
    OperandRecipe r;
    const auto constant = [&](std::int64_t i, double d, isa::DType t) {
        r.kind = OperandRecipe::Kind::constant;
        r.constant = {i, d, t, true};
    };
    std::visit(on{
                   [](std::monostate) {},
                   [&](isa::EnumValue e) { constant(e.ordinal, 0, isa::DType::index); },
                   [&](isa::DType t) { constant(std::int64_t(t), 0, isa::DType::index); },
                   [&](std::int64_t i) { constant(i, 0, isa::DType::index); },
                   [&](double d) { constant(0, d, isa::DType::fp32); },
                   [&](bool b) { constant(b, 0, isa::DType::boolean); },
                   [&](const std::string&) { r.kind = OperandRecipe::Kind::attribute_text; },
                   [&](const auto& x) { r = recipe(ir::OperandValue(x)); },
               },
               v);
    return r;
}

bool Prepared::same_expr(ir::ExprId a, ir::ExprId b) const {
    if (a == b) return true;
    if (!a.valid() || !b.valid()) return false;
    const ir::Function& f = *core.function;
    const ir::Expr &x = f[a], &y = f[b];
    return x.op == y.op && x.dtype == y.dtype && x.integer == y.integer && x.real == y.real && x.var == y.var && x.tensor == y.tensor &&
           x.structure == y.structure && x.tile == y.tile && same_expr(x.a, y.a) && same_expr(x.b, y.b) && same_expr(x.c, y.c);
}

/// `v < stop` inside `for v in range(start, stop, step)` holds by construction when neither side changes in the body.
std::int32_t Prepared::find_guard(std::size_t index) const {
    const ir::Function& f = *core.function;
    const Instr& test = core.code[index];
    const ir::Expr& cond = f[test.expr];
    if (cond.op != ir::ExprOp::lt || !cond.a.valid() || f[cond.a].op != ir::ExprOp::var) return -1;
    const ir::VarId var = f[cond.a].var;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < index; ++i) {
        if (core.code[i].kind == InstrKind::loop_enter) open.push_back(i);
        else if (core.code[i].kind == InstrKind::loop_next) open.pop_back();
    }
    for (std::size_t k = open.size(); k-- > 0;) {
        const Instr& enter = core.code[open[k]];
        if (enter.var != var) continue;
        const ir::ExprId stop = std::get<ir::Loop>(enter.stmt->what).stop;
        if (!same_expr(cond.b, stop)) return -1;
        std::vector<ir::VarId> read{var};
        const std::function<bool(ir::ExprId)> collect = [&](ir::ExprId e) {
            if (!e.valid()) return true;
            if (f[e].op == ir::ExprOp::field || f[e].op == ir::ExprOp::valid_dim) return false;
            if (f[e].tensor.valid() && !f[f[e].tensor].is_parameter()) return false;
            if (f[e].op == ir::ExprOp::var) read.push_back(f[e].var);
            return collect(f[e].a) && collect(f[e].b) && collect(f[e].c);
        };
        if (!collect(stop)) return -1;
        for (std::size_t i = open[k] + 1; i < std::size_t(enter.target) - 1; ++i) {
            const Instr& inner = core.code[i];
            for (ir::VarId v : read) {
                if ((inner.kind == InstrKind::assign || inner.kind == InstrKind::loop_enter) && inner.var == v) return -1;
                if (inner.kind == InstrKind::issue)
                    if (auto op = std::get_if<ir::Op>(&inner.stmt->what))
                        for (ir::VarId w : op->results)
                            if (w == v) return -1;
            }
        }
        return enter.loop;
    }
    return -1;
}

void Prepared::prepare_instr(std::size_t index) {
    const ir::Function& f = *core.function;
    const Instr& in = core.code[index];
    PreparedInstr& p = instrs[index];
    p.instr = &in;
    const auto optional = [&](ir::ExprId e, CompiledExpr& out) { return e.valid() ? (out = scalars.compile(e), true) : false; };
    switch (in.kind) {
    case InstrKind::assign: p.expr = scalars.compile(in.expr); break;
    case InstrKind::branch:
        p.expr = scalars.compile(in.expr);
        p.guard_loop = find_guard(index);
        break;
    case InstrKind::stage_enter: p.has_a = optional(in.expr, p.expr); break;
    case InstrKind::field_assign: {
        const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
        p.expr = scalars.compile(a.value);
        p.has_a = optional(a.target.index, p.a);
        p.has_b = optional(a.element, p.b);
        break;
    }
    case InstrKind::loop_enter: {
        const auto& l = std::get<ir::Loop>(in.stmt->what);
        p.a = scalars.compile(l.start), p.b = scalars.compile(l.stop), p.c = scalars.compile(l.step);
        break;
    }
    case InstrKind::tile_bind: {
        const auto& bind = std::get<ir::TileBind>(in.stmt->what);
        std::visit(on{[&](const ir::SlotOf& s) { p.has_a = optional(s.index, p.expr); }, [](const ir::AliasOf&) {},
                      [&](const ir::SubviewOf& s) {
                          optional(s.row_begin, p.a), optional(s.row_end, p.b), optional(s.col_begin, p.c), optional(s.col_end, p.d);
                          p.bind_cell = valid_cells++;
                      },
                      [&](const ir::ViewOf&) { p.bind_cell = valid_cells++; }, [&](const ir::ChoiceOf& c) { p.expr = scalars.compile(c.condition); }},
                   bind.source);
        break;
    }
    case InstrKind::tensor_bind: {
        const auto& bind = std::get<ir::TensorBind>(in.stmt->what);
        p.has_a = optional(bind.address, p.expr);
        for (ir::ExprId e : bind.shape) p.list.push_back(scalars.compile(e));
        for (ir::ExprId e : bind.strides) p.list2.push_back(scalars.compile(e));
        break;
    }
    case InstrKind::issue:
        std::visit(on{[&](const ir::Op& op) {
                          for (const auto& o : op.operands) p.operands.push_back(recipe(o));
                          for (const auto& a : op.attributes) p.attributes.push_back(recipe(a));
                      },
                      [&](const ir::VectorCall& call) {
                          for (ir::TileVarId t : call.tiles) p.operands.push_back(recipe(ir::OperandValue(t)));
                          for (ir::VarId v : call.captures) {
                              OperandRecipe r;
                              r.kind = OperandRecipe::Kind::scalar, r.dtype = f[v].dtype, r.expr.cell = scalars.var_cell(v);
                              p.operands.push_back(r);
                          }
                      },
                      [&](const ir::SimtLaunch& l) {
                          for (const auto& o : l.arguments) p.operands.push_back(recipe(o));
                          for (ir::ExprId e : {l.x, l.y, l.z}) p.operands.push_back(recipe(ir::OperandValue(e)));
                          for (ir::VarId v : l.captures) {
                              OperandRecipe r;
                              r.kind = OperandRecipe::Kind::scalar, r.dtype = f[v].dtype, r.expr.cell = scalars.var_cell(v);
                              p.operands.push_back(r);
                          }
                      },
                      [](const auto&) {}},
                   in.stmt->what);
        break;
    default: break;
    }
}

} // namespace pto::program
