#pragma once
/// Walkers over kernel IR: every statement, every expression of a statement, every access of an operation.

#include "engine/ir/kernel.hpp"

namespace pto::ir {

/// Calls f(stmt) for each statement and everything nested in it (loops, branches, scopes, vector and SIMT bodies), parents first.
template <class F> void for_each_statement(const Body& body, F&& f) {
    for (const Stmt& s : body) {
        f(s);
        std::visit(on{
                       [&](const Loop& l) { for_each_statement(l.body, f); },
                       [&](const Forever& l) { for_each_statement(l.body, f); },
                       [&](const Branch& b) {
                           for_each_statement(b.then, f);
                           for_each_statement(b.otherwise, f);
                       },
                       [&](const VectorCall& c) { for_each_statement(c.body, f); },
                       [&](const SimtLaunch& l) { for_each_statement(l.body, f); },
                       [&](const StageScope& c) { for_each_statement(c.body, f); },
                       [&](const HelperScope& c) { for_each_statement(c.body, f); },
                       [&](const Assign&) {}, [&](const FieldAssign&) {}, [&](const TileBind&) {}, [&](const TensorBind&) {}, [&](const Op&) {},
                       [&](const Break&) {}, [&](const Continue&) {}, [&](const Return&) {},
                   },
                   s.what);
    }
}

/// Calls f(body) for the bodies directly inside a statement that its core's scalar unit runs: not those of vector and SIMT functions.
template <class F> void for_each_body(const Stmt& s, F&& f) {
    std::visit(on{
                   [&](const Loop& l) { f(l.body); },
                   [&](const Forever& l) { f(l.body); },
                   [&](const Branch& b) { f(b.then), f(b.otherwise); },
                   [&](const StageScope& c) { f(c.body); },
                   [&](const HelperScope& c) { f(c.body); },
                   [](const auto&) {},
               },
               s.what);
}

/// Calls f(id) for each expression the statement itself holds (not those of nested statements), operands of an expression not
/// included: follow Expr::a, b, c for these.
template <class F> void for_each_expression(const Stmt& s, F&& f) {
    auto put = [&](ExprId e) {
        if (e.valid()) f(e);
    };
    auto all = [&](const ExprList& l) {
        for (ExprId e : l) put(e);
    };
    std::visit(on{
                   [&](const Assign& a) { put(a.value); },
                   [&](const FieldAssign& a) { put(a.target.index), put(a.element), put(a.value); },
                   [&](const TileBind& b) {
                       if (const auto* slot = std::get_if<SlotOf>(&b.source)) put(slot->index);
                       if (const auto* v = std::get_if<SubviewOf>(&b.source)) put(v->row_begin), put(v->row_end), put(v->col_begin), put(v->col_end);
                       if (const auto* c = std::get_if<ChoiceOf>(&b.source)) put(c->condition);
                   },
                   [&](const TensorBind& b) { put(b.address), all(b.shape), all(b.strides); },
                   [&](const Op& op) {
                       for (const OperandValue& o : op.operands) {
                           if (const auto* e = std::get_if<ExprId>(&o)) put(*e);
                           if (const auto* l = std::get_if<ExprList>(&o)) all(*l);
                           if (const auto* r = std::get_if<StructRef>(&o)) put(r->index);
                           if (const auto* m = std::get_if<MemoryRef>(&o)) put(m->offset);
                       }
                       for (const AttributeValue& a : op.attributes) {
                           if (const auto* e = std::get_if<ExprId>(&a)) put(*e);
                           if (const auto* l = std::get_if<ExprList>(&a)) all(*l);
                       }
                   },
                   [&](const Loop& l) { put(l.start), put(l.stop), put(l.step); },
                   [&](const Branch& b) { put(b.condition); },
                   [&](const SimtLaunch& l) { put(l.x), put(l.y), put(l.z); },
                   [&](const StageScope& c) { put(c.task); },
                   [&](const Forever&) {}, [&](const VectorCall&) {}, [&](const HelperScope&) {}, [&](const Break&) {}, [&](const Continue&) {},
                   [&](const Return&) {},
               },
               s.what);
}

/// Calls f(stmt, op) for each operation, those inside vector calls included.
template <class F> void for_each_op(const Body& body, F&& f) {
    for_each_statement(body, [&](const Stmt& s) {
        if (const auto* op = std::get_if<Op>(&s.what)) f(s, *op);
    });
}

/// Calls f(expr) for an expression and everything below it, parents first.
template <class F> void for_each_below(const Function& fn, ExprId root, F&& f) {
    if (!root.valid()) return;
    f(fn[root]);
    const ExprId parts[] = {fn[root].a, fn[root].b, fn[root].c};
    for (ExprId part : parts) for_each_below(fn, part, f);
}

struct TileAccess {
    TileVarId tile;
    isa::Role role = isa::Role::none;
};

/// Tiles an operation or a vector call touches, in operand order; operands without role are left out.
inline std::vector<TileAccess> tile_accesses(const Stmt& s) {
    std::vector<TileAccess> out;
    if (const auto* op = std::get_if<Op>(&s.what)) {
        for (std::size_t i = 0; i < op->operands.size(); ++i) {
            isa::Role role = i < op->row->operands.size() ? op->row->operands[i].role : isa::Role::none;
            if (role == isa::Role::none) continue;
            if (const auto* t = std::get_if<TileVarId>(&op->operands[i])) out.push_back({*t, role});
            if (const auto* m = std::get_if<MemoryRef>(&op->operands[i])) out.push_back({m->tile, role});
        }
        for (const AttributeValue& a : op->attributes)
            if (const auto* t = std::get_if<TileVarId>(&a)) out.push_back({*t, isa::Role::read});
    } else if (const auto* call = std::get_if<VectorCall>(&s.what)) {
        for (std::size_t i = 0; i < call->tiles.size(); ++i) out.push_back({call->tiles[i], i < call->roles.size() ? call->roles[i] : isa::Role::read_write});
    }
    return out;
}

} // namespace pto::ir
