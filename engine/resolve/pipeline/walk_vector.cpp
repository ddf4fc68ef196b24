/// Vector functions of a walk: the role of each tile parameter follows from the register operations in the body.

#include "engine/isa/roles.hpp"
#include "engine/resolve/pipeline/walk.hpp"

#include <algorithm>

namespace pto::pipeline {

void Walk::vector_call(Frame& frame, const Expr& e, const FunctionRef& f) {
    if (!f.function) return;
    std::vector<Memory> arguments;
    std::vector<bool> is_tile;
    for (std::size_t i = 0; i < f.function->parameters.size(); ++i) {
        Memory m = i + 1 < e.args.size() ? m_s.memory_of(e.args[i + 1], frame.names, frame.scope) : Memory{};
        is_tile.push_back(m.kind == Memory::Kind::tile);
        arguments.push_back(std::move(m));
    }
    std::vector<isa::Role> roles(arguments.size(), isa::Role::none);
    std::vector<const syntax::Function*> chain;
    std::vector<bool> watched;
    for (const Memory& m : arguments) watched.push_back(tracked(m));
    vector_roles(f, is_tile, watched, roles, chain, e.at);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!is_tile[i] || roles[i] == isa::Role::none) continue;
        for (std::size_t j = i + 1; j < arguments.size(); ++j)
            if (is_tile[j] && arguments[j] == arguments[i]) roles[i] = isa::unite(roles[i], roles[j]), roles[j] = isa::Role::none;
        record(frame, arguments[i], roles[i], isa::Pipe::v, f.name, e.at, e.args[i + 1]);
    }
}

void Walk::vector_roles(const FunctionRef& f, const std::vector<bool>& is_tile, const std::vector<bool>& watched, std::vector<isa::Role>& roles,
                  std::vector<const syntax::Function*>& chain, Span call_at) {
    if (!f.function || std::find(chain.begin(), chain.end(), f.function.get()) != chain.end()) return;
    chain.push_back(f.function.get());
    // Local names that stand for a parameter: `name = parameter`, `name = parameter + offset`; chains resolve.
    std::map<std::string, std::size_t> stands_for;
    for (std::size_t i = 0; i < f.function->parameters.size(); ++i)
        if (i < is_tile.size() && is_tile[i]) stands_for[f.function->parameters[i].name] = i;
    auto leftmost = [](const Expr* e) {
        while (e->kind == ExprKind::binary && e->text == "+") e = &e->args[0];
        return e;
    };
    for (bool grew = true; grew;) {
        grew = false;
        walk_here(f.function->body, [&](const Stmt& st) {
            if (st.kind != StmtKind::assign || st.targets.size() != 1 || st.targets[0].kind != ExprKind::name) return;
            const Expr* base = leftmost(&st.value);
            if (base->kind != ExprKind::name) return;
            auto found = stands_for.find(base->text);
            if (found != stands_for.end()) grew |= stands_for.emplace(st.targets[0].text, found->second).second;
        });
    }
    walk_here(f.function->body, [&](const Stmt& st) {
        walk_exprs(st, [&](const Expr& e) {
            if (e.kind != ExprKind::call) return;
            const Expr& callee = e.args.front();
            const FunctionRef* inner = callee.kind == ExprKind::name ? m_s.function(f.scope, callee.text) : nullptr;
            if (inner && inner->kind == FunctionRef::Kind::vector && inner->function) {
                FunctionRef copy = *inner;
                const std::size_t n = copy.function->parameters.size();
                std::vector<bool> tiles(n), watch(n);
                std::vector<std::size_t> from(n, std::size_t(-1));
                for (std::size_t i = 0; i < n && i + 1 < e.args.size(); ++i) {
                    const Expr* base = leftmost(&e.args[i + 1]);
                    auto found = base->kind == ExprKind::name ? stands_for.find(base->text) : stands_for.end();
                    if (found == stands_for.end()) continue;
                    tiles[i] = true, watch[i] = watched[found->second], from[i] = found->second;
                }
                std::vector<isa::Role> inner_roles(n, isa::Role::none);
                vector_roles(copy, tiles, watch, inner_roles, chain, call_at);
                for (std::size_t i = 0; i < n; ++i)
                    if (from[i] != std::size_t(-1)) roles[from[i]] = isa::unite(roles[from[i]], inner_roles[i]);
                return;
            }
            const std::string op = m_s.operation(f.scope, callee);
            if (op.rfind("vf.", 0) != 0) return;
            const isa::OpRow* row = m_s.ops.find(op);
            for (std::size_t i = 1; i < e.args.size(); ++i) {
                const Expr* base = leftmost(&e.args[i]);
                auto found = base->kind == ExprKind::name ? stands_for.find(base->text) : stands_for.end();
                if (found == stands_for.end()) continue;
                const isa::Operand* operand = row && i - 1 < row->operands.size() ? &row->operands[i - 1] : nullptr;
                if (operand && operand->kind == isa::OperandKind::memory) {
                    roles[found->second] = isa::unite(roles[found->second], operand->role);
                } else if (watched[found->second]) {
                    Diagnostic& d = m_s.report(Code::unknown_vector_roles, e.at, "what `" + op + "` does to cross-core buffer parameter `" + f.function->parameters[found->second].name + "` is not known");
                    d.labels.push_back({call_at, "the vector function is called here"});
                    label_chain(d);
                    d.advice.push_back("load the tile with vf.load_align, store it with vf.store_align");
                }
            }
        });
    });
    chain.pop_back();
}

} // namespace pto::pipeline
