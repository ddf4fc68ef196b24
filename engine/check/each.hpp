#pragma once
/// Visits of a program's statements, expressions and tile accesses, as the checks need them. Private to this room.

#include "engine/ir/kernel.hpp"

namespace pto::check {

/// Calls f(stmt) for each statement and everything nested in it, parents first.
template <class F> void each_statement(const ir::Body& body, F&& f) {
    for (const ir::Stmt& s : body) {
        f(s);
        std::visit(
            [&](const auto& what) {
                if constexpr (requires { what.then; }) {
                    if constexpr (requires { what.then.size(); }) {
                        each_statement(what.then, f);
                        each_statement(what.otherwise, f);
                    }
                } else if constexpr (requires { what.body.size(); }) {
                    each_statement(what.body, f);
                }
            },
            s.what);
    }
}

/// Calls f(id) for each expression that the statement itself evaluates; nested statements and parts of expressions are not visited.
template <class F> void each_expression(const ir::Stmt& stmt, F&& f) {
    auto put = [&](ir::ExprId e) {
        if (e.valid()) f(e);
    };
    auto value = on{[&](ir::ExprId e) { put(e); },
                    [&](const ir::ExprList& list) {
                        for (ir::ExprId e : list) put(e);
                    },
                    [&](const ir::StructRef& r) { put(r.index); }, [&](const ir::MemoryRef& m) { put(m.offset); }, [](const auto&) {}};
    std::visit(on{[&](const ir::Assign& a) { put(a.value); },
                  [&](const ir::FieldAssign& a) { put(a.target.index), put(a.element), put(a.value); },
                  [&](const ir::TileBind& b) {
                      std::visit(on{[&](const ir::SlotOf& s) { put(s.index); },
                                    [&](const ir::SubviewOf& v) { put(v.row_begin), put(v.row_end), put(v.col_begin), put(v.col_end); },
                                    [&](const ir::ChoiceOf& c) { put(c.condition); }, [](const auto&) {}},
                                 b.source);
                  },
                  [&](const ir::TensorBind& b) { put(b.address), value(b.shape), value(b.strides); },
                  [&](const ir::Op& op) {
                      for (const ir::OperandValue& o : op.operands) std::visit(value, o);
                      for (const ir::AttributeValue& a : op.attributes) std::visit(value, a);
                  },
                  [&](const ir::Loop& l) { put(l.start), put(l.stop), put(l.step); }, [&](const ir::Branch& b) { put(b.condition); },
                  [&](const ir::SimtLaunch& l) { put(l.x), put(l.y), put(l.z); }, [&](const ir::StageScope& s) { put(s.task); }, [](const auto&) {}},
               stmt.what);
}

struct TileAccess {
    ir::TileVarId tile;
    isa::Role role = isa::Role::none;
};
/// Tiles whose bytes an operation or vector call touches; a tile in a keyword is read.
inline std::vector<TileAccess> tile_accesses(const ir::Stmt& stmt) {
    std::vector<TileAccess> found;
    if (const auto* op = std::get_if<ir::Op>(&stmt.what)) {
        for (std::size_t i = 0; i < op->operands.size() && i < op->row->operands.size(); ++i) {
            isa::Role role = op->row->operands[i].role;
            if (role == isa::Role::none) continue;
            if (const auto* t = std::get_if<ir::TileVarId>(&op->operands[i])) found.push_back({*t, role});
            if (const auto* m = std::get_if<ir::MemoryRef>(&op->operands[i])) found.push_back({m->tile, role});
        }
        for (const ir::AttributeValue& a : op->attributes)
            if (const auto* t = std::get_if<ir::TileVarId>(&a)) found.push_back({*t, isa::Role::read});
    } else if (const auto* call = std::get_if<ir::VectorCall>(&stmt.what)) {
        for (std::size_t i = 0; i < call->tiles.size(); ++i) found.push_back({call->tiles[i], i < call->roles.size() ? call->roles[i] : isa::Role::read_write});
    }
    return found;
}

} // namespace pto::check
