#include "engine/verify/alternatives.hpp"

#include <algorithm>
#include <set>

namespace pto::verify {
namespace {

using program::Instr;
using program::InstrKind;

/// Tiles an instruction is given, with what it does to each.
template <class F> void for_each_tile(const Instr& in, F&& f) {
    if (auto op = std::get_if<ir::Op>(&in.stmt->what)) {
        for (std::size_t k = 0; k < op->operands.size(); ++k)
            if (auto t = std::get_if<ir::TileVarId>(&op->operands[k])) f(*t, op->row && k < op->row->operands.size() ? op->row->operands[k].role : isa::Role::read);
        for (const auto& a : op->attributes)
            if (auto t = std::get_if<ir::TileVarId>(&a)) f(*t, isa::Role::read);
    }
    if (auto call = std::get_if<ir::VectorCall>(&in.stmt->what))
        for (std::size_t k = 0; k < call->tiles.size(); ++k) f(call->tiles[k], k < call->roles.size() ? call->roles[k] : isa::Role::read_write);
}

isa::Pipe pipe_of(const Instr& in) {
    auto op = std::get_if<ir::Op>(&in.stmt->what);
    return op ? op->pipe : isa::Pipe::v;
}

ir::ExprOp opposite(ir::ExprOp op) {
    using E = ir::ExprOp;
    switch (op) {
    case E::eq: return E::ne;
    case E::ne: return E::eq;
    case E::lt: return E::ge;
    case E::ge: return E::lt;
    case E::gt: return E::le;
    case E::le: return E::gt;
    default: return E::integer; // has none
    }
}

} // namespace

Alternatives::Alternatives(const program::CoreCode& core, const std::vector<char>& exposed, const std::vector<Protection::Meeting>& meeting)
    : m_core(core), m_f(*core.function), m_exposed(exposed), m_meeting(meeting), m_assigned(m_f.vars.size(), 0), m_bound(m_f.tiles.size(), 0), m_bind(m_f.tiles.size(), nullptr) {
    for (std::size_t v = 0; v < m_f.vars.size(); ++v)
        if (m_f.vars[v].param.valid()) ++m_assigned[v];
    for (const Instr& in : core.code) {
        if (in.kind == InstrKind::assign) ++m_assigned[std::size_t(in.var.index)];
        if (in.kind == InstrKind::loop_enter) m_assigned[std::size_t(in.var.index)] += 2;
        if (in.kind == InstrKind::issue)
            if (auto op = std::get_if<ir::Op>(&in.stmt->what))
                for (ir::VarId v : op->results) ++m_assigned[std::size_t(v.index)];
        if (in.kind != InstrKind::tile_bind) continue;
        const auto& bind = std::get<ir::TileBind>(in.stmt->what);
        ++m_bound[std::size_t(bind.var.index)], m_bind[std::size_t(bind.var.index)] = &bind;
    }
}

ir::TileVarId Alternatives::named(ir::TileVarId t) const {
    for (std::size_t hops = 0; hops < m_bind.size(); ++hops) {
        const ir::TileBind* bind = m_bind[std::size_t(t.index)];
        const auto* alias = bind && m_bound[std::size_t(t.index)] == 1 ? std::get_if<ir::AliasOf>(&bind->source) : nullptr;
        if (!alias) break;
        t = alias->tile;
    }
    return t;
}

std::optional<Choice> Alternatives::way(std::int32_t begin, std::int32_t end) const {
    Choice out;
    out.begin = begin, out.end = end;
    for (std::int32_t i = begin; i < end; ++i) {
        const Instr& in = m_core.code[std::size_t(i)];
        switch (in.kind) {
        case InstrKind::issue: {
            const auto* op = std::get_if<ir::Op>(&in.stmt->what);
            if (op && !op->results.empty()) return std::nullopt;
            if (!m_exposed[std::size_t(i)]) {
                out.left_out.push_back(i);
                break;
            }
            const Protection::Meeting& m = m_meeting[std::size_t(i)];
            if (m.tensor || m.tiles.empty()) return std::nullopt; // windows of tensors move, and synchronisation is never a choice
            out.standing.push_back(i);
            break;
        }
        case InstrKind::branch: {
            std::optional<Choice> inner = at(i);
            if (!inner || inner->end > end) return std::nullopt;
            out.taken.merge(inner->taken);
            out.left_out.insert(out.left_out.end(), inner->left_out.begin(), inner->left_out.end());
            out.unused.insert(out.unused.end(), inner->unused.begin(), inner->unused.end());
            out.standing.insert(out.standing.end(), inner->standing.begin(), inner->standing.end());
            i = inner->end - 1;
            break;
        }
        case InstrKind::loop_enter: { // any number of times: nothing that others notice
            std::optional<Choice> body = in.target <= end ? way(i + 1, in.target) : std::nullopt;
            if (!body || !body->standing.empty()) return std::nullopt;
            out.left_out.insert(out.left_out.end(), body->left_out.begin(), body->left_out.end());
            i = in.target - 1;
            break;
        }
        case InstrKind::jump:
        case InstrKind::finish:
        case InstrKind::stage_enter:
        case InstrKind::stage_leave: return std::nullopt;
        case InstrKind::loop_next:
        case InstrKind::assign:
        case InstrKind::field_assign:
        case InstrKind::tile_bind:
        case InstrKind::tensor_bind: break;
        }
    }
    return out;
}

std::optional<Choice> Alternatives::at(std::int32_t branch) const {
    const Instr& in = m_core.code[std::size_t(branch)];
    if (in.kind != InstrKind::branch || in.target <= branch) return std::nullopt;
    const Instr& last = m_core.code[std::size_t(in.target - 1)];
    const bool both = in.target - 1 > branch && last.kind == InstrKind::jump && last.stmt == in.stmt && last.target >= in.target;
    const std::int32_t then_end = both ? in.target - 1 : in.target, end = both ? last.target : in.target;
    std::optional<Choice> then = way(branch + 1, then_end), otherwise = way(in.target, end);
    if (!then || !otherwise) return std::nullopt;
    // `stands` for itself and for `goes`.
    const auto join = [&](Choice stands, const Choice& goes, std::int32_t to) {
        stands.left_out.insert(stands.left_out.end(), goes.left_out.begin(), goes.left_out.end());
        stands.unused.emplace_back(goes.begin, goes.end);
        stands.begin = branch, stands.end = to;
        return stands;
    };
    if (covers(*then, *otherwise)) {
        Choice c = join(*then, *otherwise, end);
        c.taken[branch] = true;
        return c;
    }
    if (covers(*otherwise, *then)) {
        Choice c = join(*otherwise, *then, end);
        c.taken[branch] = false;
        return c;
    }
    // `if a: ...` and at once `if not a: ...` are two ways of one choice.
    if (both || std::size_t(end) >= m_core.code.size()) return std::nullopt;
    const Instr& next = m_core.code[std::size_t(end)];
    if (next.kind != InstrKind::branch || !complementary(in.expr, next.expr) || written_in(branch, end, in.expr)) return std::nullopt;
    const Instr& tail = m_core.code[std::size_t(next.target - 1)];
    if (tail.kind == InstrKind::jump && tail.stmt == next.stmt) return std::nullopt;
    std::optional<Choice> second = way(end + 1, next.target);
    if (!second) return std::nullopt;
    const bool first_stands = covers(*then, *second);
    if (!first_stands && !covers(*second, *then)) return std::nullopt;
    Choice c = first_stands ? join(*then, *second, next.target) : join(*second, *then, next.target);
    c.taken[branch] = first_stands, c.taken[end] = !first_stands;
    return c;
}

/// Does operation a touch at least what b touches, where others may meet it, on the same pipe and under the same locks?
bool Alternatives::covers(std::int32_t a, std::int32_t b) const {
    const Instr &x = m_core.code[std::size_t(a)], &y = m_core.code[std::size_t(b)];
    if (pipe_of(x) != pipe_of(y)) return false;
    const auto locked = [&](const Instr& in) {
        std::set<std::int32_t> out;
        if (auto list = locks_of(*in.stmt))
            for (ir::TileVarId t : *list) out.insert(named(t).index);
        return out;
    };
    const auto met = [&](const Instr& in, std::int32_t i) {
        std::set<std::pair<std::int32_t, bool>> out; // tile, written
        for_each_tile(in, [&](ir::TileVarId t, isa::Role r) {
            if (!m_meeting[std::size_t(i)].tiles.count(t.index)) return;
            if (isa::reads(r)) out.emplace(named(t).index, false);
            if (isa::writes(r)) out.emplace(named(t).index, true);
        });
        return out;
    };
    if (locked(x) != locked(y)) return false;
    const auto mine = met(x, a), other = met(y, b);
    if (!std::includes(mine.begin(), mine.end(), other.begin(), other.end())) return false;
    if (std::holds_alternative<ir::VectorCall>(x.stmt->what)) return true; // the whole of every tile
    // Two operations of one kind on the same operands touch the same bytes.
    const auto *p = std::get_if<ir::Op>(&x.stmt->what), *q = std::get_if<ir::Op>(&y.stmt->what);
    if (!p || !q || p->row != q->row || p->operands.size() != q->operands.size() || p->attributes.size() != q->attributes.size()) return false;
    const auto equal = [&](const auto& u, const auto& v) {
        if (u.index() != v.index()) return false;
        if (auto t = std::get_if<ir::TileVarId>(&u)) return named(*t) == named(std::get<ir::TileVarId>(v));
        if (auto e = std::get_if<ir::ExprId>(&u)) return same(*e, std::get<ir::ExprId>(v));
        if (auto l = std::get_if<ir::ExprList>(&u)) {
            const auto& m = std::get<ir::ExprList>(v);
            return l->size() == m.size() && std::equal(l->begin(), l->end(), m.begin(), [&](ir::ExprId s, ir::ExprId t) { return same(s, t); });
        }
        if (auto t = std::get_if<ir::TensorId>(&u)) return *t == std::get<ir::TensorId>(v);
        return std::holds_alternative<std::monostate>(u);
    };
    for (std::size_t k = 0; k < p->operands.size(); ++k)
        if (!equal(p->operands[k], q->operands[k])) return false;
    for (std::size_t k = 0; k < p->attributes.size(); ++k) {
        const auto &u = p->attributes[k], &v = q->attributes[k];
        const bool plain = u.index() == v.index() && std::visit(on{[&](const isa::EnumValue& e) { return e.ordinal == std::get<isa::EnumValue>(v).ordinal; },
                                                                   [&](isa::DType d) { return d == std::get<isa::DType>(v); }, [&](std::int64_t n) { return n == std::get<std::int64_t>(v); },
                                                                   [&](double n) { return n == std::get<double>(v); }, [&](bool n) { return n == std::get<bool>(v); },
                                                                   [&](const std::string& n) { return n == std::get<std::string>(v); }, [](const auto&) { return false; }},
                                                                u);
        if (!plain && !equal(u, v)) return false;
    }
    return true;
}

bool Alternatives::covers(const Choice& a, const Choice& b) const {
    return a.standing.size() == b.standing.size() && std::equal(a.standing.begin(), a.standing.end(), b.standing.begin(), [&](std::int32_t x, std::int32_t y) { return covers(x, y); });
}

bool Alternatives::same(ir::ExprId a, ir::ExprId b) const {
    if (a == b || !a.valid() || !b.valid()) return a == b;
    const ir::Expr &x = m_f[a], &y = m_f[b];
    return x.op == y.op && x.dtype == y.dtype && x.integer == y.integer && x.real == y.real && x.var == y.var && x.tensor == y.tensor && x.structure == y.structure &&
           x.tile == y.tile && same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c);
}

/// One of both holds, never both.
bool Alternatives::complementary(ir::ExprId a, ir::ExprId b) const {
    const ir::Expr &x = m_f[a], &y = m_f[b];
    if (!x.a.valid() || !y.a.valid() || !same(x.a, y.a) || !same(x.b, y.b)) return false;
    if (opposite(x.op) == y.op && y.op != ir::ExprOp::integer) return true;
    // `x == c` and `x > c` for a value that never falls below c.
    const bool first = x.op == ir::ExprOp::eq && y.op == ir::ExprOp::gt, second = x.op == ir::ExprOp::gt && y.op == ir::ExprOp::eq;
    if (!first && !second) return false;
    const auto limit = m_f.constant(x.b);
    const auto lowest = least(x.a);
    return limit && lowest && *lowest >= *limit;
}

/// A bound below: constants, loops that count up from a constant, variables and fields that only ever take such values.
std::optional<std::int64_t> Alternatives::least(ir::ExprId id, int depth) const {
    if (!id.valid() || depth > 8) return std::nullopt;
    if (auto c = m_f.constant(id)) return *c;
    const ir::Expr& e = m_f[id];
    if (e.op == ir::ExprOp::cast) return least(e.a, depth + 1);
    if (e.op != ir::ExprOp::var && e.op != ir::ExprOp::field) return std::nullopt;
    if (e.op == ir::ExprOp::var && m_f[e.var].param.valid()) return std::nullopt;
    if (e.op == ir::ExprOp::field && m_f[e.structure].param.valid()) return std::nullopt;
    std::optional<std::int64_t> lowest = e.op == ir::ExprOp::field ? std::optional<std::int64_t>(0) : std::nullopt; // fields start at zero
    const auto take = [&](std::optional<std::int64_t> v) {
        if (v) lowest = lowest ? std::min(*lowest, *v) : *v;
        return v.has_value();
    };
    for (const Instr& in : m_core.code) {
        if (e.op == ir::ExprOp::var && in.kind == InstrKind::assign && in.var == e.var && !take(least(in.expr, depth + 1))) return std::nullopt;
        if (in.kind == InstrKind::issue)
            if (auto op = std::get_if<ir::Op>(&in.stmt->what)) {
                if (e.op == ir::ExprOp::var && std::find(op->results.begin(), op->results.end(), e.var) != op->results.end()) return std::nullopt;
                for (const auto& o : op->operands)
                    if (auto r = std::get_if<ir::StructRef>(&o); r && e.op == ir::ExprOp::field && r->structure == e.structure) return std::nullopt;
            }
        if (in.kind == InstrKind::loop_enter && e.op == ir::ExprOp::var && in.var == e.var) {
            const auto& l = std::get<ir::Loop>(in.stmt->what);
            const auto step = l.step.valid() ? m_f.constant(l.step) : std::optional<std::int64_t>(1);
            if (!step || *step <= 0) return std::nullopt;
            if (!take(l.start.valid() ? least(l.start, depth + 1) : std::optional<std::int64_t>(0))) return std::nullopt;
        }
        if (in.kind == InstrKind::field_assign && e.op == ir::ExprOp::field) {
            const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
            if (a.target.structure == e.structure && a.field == std::int32_t(e.integer) && !take(least(a.value, depth + 1))) return std::nullopt;
        }
    }
    return lowest;
}

bool Alternatives::written_in(std::int32_t begin, std::int32_t end, ir::ExprId id) const {
    if (!id.valid()) return false;
    const ir::Expr& e = m_f[id];
    for (std::int32_t i = begin; i < end; ++i) {
        const Instr& in = m_core.code[std::size_t(i)];
        if (e.op == ir::ExprOp::var && (in.kind == InstrKind::assign || in.kind == InstrKind::loop_enter) && in.var == e.var) return true;
        if (e.op == ir::ExprOp::field && in.kind == InstrKind::field_assign && std::get<ir::FieldAssign>(in.stmt->what).target.structure == e.structure) return true;
        if (e.op == ir::ExprOp::valid_dim) return true;
    }
    return written_in(begin, end, e.a) || written_in(begin, end, e.b) || written_in(begin, end, e.c);
}

} // namespace pto::verify
