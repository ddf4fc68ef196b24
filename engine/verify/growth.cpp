#include "engine/verify/growth.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pto::verify {
namespace {

using program::Instr;
using program::InstrKind;

Growth join(Growth a, Growth b) { return std::max(a, b); }
bool raise(Growth& g, Growth to) {
    if (to <= g) return false;
    g = to;
    return true;
}
ir::ExprId value(const Instr& in) {
    return in.kind == InstrKind::assign ? in.expr : std::get<ir::FieldAssign>(in.stmt->what).value;
}

} // namespace

Growths::Growths(const program::CoreCode& core, const std::vector<std::int32_t>& counters) : m_core(core), m_f(*core.function) {
    m_vars.assign(m_f.vars.size(), Growth::none);
    for (const ir::Struct& s : m_f.structs) m_fields.emplace_back(s.fields.size(), Growth::none);
    for (std::size_t i = 0; i < core.code.size(); ++i)
        if (core.code[i].kind == InstrKind::loop_enter && std::find(counters.begin(), counters.end(), core.code[i].loop) != counters.end()) {
            m_vars[std::size_t(core.code[i].var.index)] = Growth::linear;
            m_ranges.emplace_back(std::int32_t(i), core.code[i].target);
        }
    // Self-dependence inside the loop: x = x + step counts; anything stronger is wild.
    for (const auto& [begin, end] : m_ranges)
        for (std::int32_t i = begin; i < end; ++i) self_dependence(core.code[std::size_t(i)], begin, end);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Instr& in : core.code) {
            if (in.kind == InstrKind::assign) changed |= raise(m_vars[std::size_t(in.var.index)], of(in.expr));
            if (in.kind == InstrKind::field_assign) {
                const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
                changed |= raise(field(a.target.structure, a.field), of(a.value));
            }
            if (in.kind == InstrKind::loop_enter) {
                const auto& l = std::get<ir::Loop>(in.stmt->what);
                changed |= raise(m_vars[std::size_t(in.var.index)], join(of(l.start), of(l.step)));
            }
        }
    }
}

Growth Growths::of(ir::ExprId id) const {
    if (!id.valid()) return Growth::none;
    const ir::Expr& e = m_f[id];
    using E = ir::ExprOp;
    switch (e.op) {
    case E::var: return m_vars[std::size_t(e.var.index)];
    case E::field: // which record is chosen by a remainder; its content has the field's growth
        return join(of(e.a) == Growth::none && of(e.b) == Growth::none ? Growth::none : Growth::wild, m_fields[std::size_t(e.structure.index)][std::size_t(e.integer)]);
    case E::add:
    case E::sub: return join(of(e.a), of(e.b));
    case E::negate: return of(e.a);
    case E::cast: return isa::bits(e.dtype) == 64 && !isa::is_float(e.dtype) ? of(e.a) : of(e.a) == Growth::none ? Growth::none : Growth::wild;
    case E::mul: {
        const Growth a = of(e.a), b = of(e.b);
        return a != Growth::none && b != Growth::none ? Growth::wild : join(a, b);
    }
    case E::mod:
        if (m_f.constant(e.b) && *m_f.constant(e.b) > 0) return of(e.a) == Growth::wild ? Growth::wild : Growth::none;
        [[fallthrough]];
    default: return join(join(of(e.a), of(e.b)), of(e.c)) == Growth::none ? Growth::none : Growth::wild;
    }
}

void Growths::raw_reads(ir::ExprId id, std::set<Node>& out) const {
    if (!id.valid()) return;
    const ir::Expr& e = m_f[id];
    if (e.op == ir::ExprOp::mod && m_f.constant(e.b) && *m_f.constant(e.b) > 0) return;
    if (e.op == ir::ExprOp::var) out.insert({e.var.index, -1, -1});
    if (e.op == ir::ExprOp::field) out.insert({-1, e.structure.index, std::int32_t(e.integer)});
    else raw_reads(e.a, out), raw_reads(e.b, out);
    raw_reads(e.c, out);
}
std::optional<Growths::Node> Growths::target(const Instr& in) {
    if (in.kind == InstrKind::assign) return Node{in.var.index, -1, -1};
    if (in.kind == InstrKind::field_assign) {
        const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
        return Node{-1, a.target.structure.index, a.field};
    }
    return std::nullopt;
}
void Growths::self_dependence(const Instr& in, std::int32_t begin, std::int32_t end) {
    const auto node = target(in);
    if (!node) return;
    std::set<Node> seen, front;
    raw_reads(value(in), front);
    bool direct = front.count(*node) > 0, any = direct;
    while (!front.empty() && !any) {
        std::set<Node> next;
        for (const Node& n : front) {
            if (!seen.insert(n).second) continue;
            for (std::int32_t i = begin; i < end; ++i)
                if (auto t = target(m_core.code[std::size_t(i)]); t && *t == n) raw_reads(value(m_core.code[std::size_t(i)]), next);
        }
        any = next.count(*node) > 0;
        front = std::move(next);
    }
    if (!any) return;
    // x = x + e with e free of counters is a counter; other recurrences are not sums.
    Growth g = Growth::wild;
    if (direct && in.kind == InstrKind::assign) {
        const ir::Expr& e = m_f[in.expr];
        const auto is_self = [&](ir::ExprId id) { return id.valid() && m_f[id].op == ir::ExprOp::var && m_f[id].var.index == node->var; };
        if (e.op == ir::ExprOp::add && (is_self(e.a) || is_self(e.b)) && m_f.constant(is_self(e.a) ? e.b : e.a)) g = Growth::linear;
        if (e.op == ir::ExprOp::sub && is_self(e.a) && m_f.constant(e.b)) g = Growth::linear;
        if (e.op == ir::ExprOp::var) g = Growth::none; // x = x
    }
    if (node->var >= 0) raise(m_vars[std::size_t(node->var)], g);
    else raise(field({node->structure}, node->field), g);
}


void for_each_use(const program::CoreCode& core, const program::Prepared& prepared, const std::vector<std::int32_t>& counters,
                  const std::function<void(ir::ExprId, const char*)>& use) {
    for (std::size_t i = 0; i < core.code.size(); ++i) {
        const Instr& in = core.code[i];
        switch (in.kind) {
        case InstrKind::branch:
            if (prepared.instrs[i].guard_loop < 0) use(in.expr, "a condition depends on the number of the task");
            break;
        case InstrKind::loop_enter: {
            if (std::find(counters.begin(), counters.end(), in.loop) != counters.end()) break;
            const auto& l = std::get<ir::Loop>(in.stmt->what);
            for (ir::ExprId e : {l.start, l.stop, l.step}) use(e, "the length of an inner loop depends on the number of the task");
            break;
        }
        case InstrKind::tile_bind: {
            const char* why = "a slot or a view is chosen by the number of the task itself, not by a remainder";
            std::visit(on{[&](const ir::SlotOf& s) { use(s.index, why); },
                          [&](const ir::SubviewOf& s) { use(s.row_begin, why), use(s.row_end, why), use(s.col_begin, why), use(s.col_end, why); },
                          [&](const ir::ChoiceOf& c) { use(c.condition, why); }, [](const auto&) {}},
                       std::get<ir::TileBind>(in.stmt->what).source);
            break;
        }
        case InstrKind::issue: {
            const auto* op = std::get_if<ir::Op>(&in.stmt->what);
            if (!op || !op->row) break;
            using S = isa::Semantics;
            const S s = op->row->semantics;
            const bool sync = s == S::cross_set || s == S::cross_wait || s == S::flag_set || s == S::flag_wait || s == S::mutex_lock || s == S::mutex_unlock;
            const bool on_chip = s == S::move || s == S::insert || s == S::set_validshape || s == S::set_stride;
            if (sync)
                for (const auto& a : op->attributes)
                    if (auto e = std::get_if<ir::ExprId>(&a)) use(*e, "an id depends on the number of the task itself, not on a remainder");
            const bool element_of_tile = (s == S::getval || s == S::setval) && !op->operands.empty() && std::holds_alternative<ir::TileVarId>(op->operands[0]);
            if (on_chip || element_of_tile)
                for (std::size_t k = 1; k < op->operands.size() && k < 3; ++k) {
                    if (element_of_tile && k > 1) break;
                    if (auto e = std::get_if<ir::ExprId>(&op->operands[k])) use(*e, "an on-chip offset grows with the number of the task");
                    if (auto l = std::get_if<ir::ExprList>(&op->operands[k]))
                        for (ir::ExprId e : *l) use(e, "a valid shape, stride or on-chip offset grows with the number of the task");
                }
            break;
        }
        default: break;
        }
    }
}

namespace {

/// Modulo what a value has to be known so that every use comes out the same: 1 not at all, 0 itself.
class Needs {
  public:
    Needs(const program::CoreCode& core, const program::Prepared& prepared, const std::vector<std::int32_t>& counters) : m_f(*core.function) {
        m_vars.assign(m_f.vars.size(), 1);
        for (const ir::Struct& s : m_f.structs) m_fields.emplace_back(s.fields.size(), 1);
        for_each_use(core, prepared, counters, [&](ir::ExprId e, const char*) { need(e, 0); });
        do {
            m_changed = false;
            for (const Instr& in : core.code) {
                if (in.kind == InstrKind::assign) need(in.expr, m_vars[std::size_t(in.var.index)]);
                if (in.kind == InstrKind::field_assign) {
                    const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
                    const std::int64_t m = m_fields[std::size_t(a.target.structure.index)][std::size_t(a.field)];
                    need(a.value, m);
                    if (m != 1) need(a.target.index, 0), need(a.element, 0);
                }
                if (in.kind == InstrKind::loop_enter) {
                    const auto& l = std::get<ir::Loop>(in.stmt->what);
                    const std::int64_t m = m_vars[std::size_t(in.var.index)];
                    need(l.start, m), need(l.step, m);
                }
            }
        } while (m_changed);
    }
    std::int64_t of_var(std::int32_t v) const { return m_vars[std::size_t(v)]; }
    std::int64_t of_field(std::int32_t s, std::int32_t k) const { return m_fields[std::size_t(s)][std::size_t(k)]; }

  private:
    void raise(std::int64_t& have, std::int64_t m) {
        const std::int64_t both = have == 0 || m == 0 ? 0 : std::lcm(have, m);
        m_changed = m_changed || both != have;
        have = both;
    }
    void need(ir::ExprId id, std::int64_t m) {
        if (!id.valid() || m == 1) return;
        const ir::Expr& e = m_f[id];
        using E = ir::ExprOp;
        switch (e.op) {
        case E::var: return raise(m_vars[std::size_t(e.var.index)], m);
        case E::field:
            raise(m_fields[std::size_t(e.structure.index)][std::size_t(e.integer)], m);
            need(e.a, 0), need(e.b, 0);
            return;
        case E::add:
        case E::sub:
        case E::mul:
        case E::negate: need(e.a, m), need(e.b, m); return;
        case E::cast: return need(e.a, isa::bits(e.dtype) == 64 && !isa::is_float(e.dtype) ? m : 0);
        case E::mod:
            if (auto c = m_f.constant(e.b); c && *c > 0) return need(e.a, *c);
            [[fallthrough]];
        default: need(e.a, 0), need(e.b, 0), need(e.c, 0);
        }
    }

    const ir::Function& m_f;
    std::vector<std::int64_t> m_vars;
    std::vector<std::vector<std::int64_t>> m_fields;
    bool m_changed = false;
};

} // namespace

Watch::Watch(const program::CoreCode& core, const program::Prepared& prepared, const std::vector<std::int32_t>& counters) {
    const Growths growths(core, counters);
    const Needs needs(core, prepared, counters);
    const ir::Function& f = *core.function;
    std::set<std::int32_t> vars;
    std::set<std::pair<std::int32_t, std::int32_t>> fields;
    std::set<std::int32_t> handles, declarations; // bound in the loops, or their valid shape is set there
    const auto handle = [&](ir::TileVarId t) {
        if (!handles.insert(t.index).second) return;
        for (ir::TileDeclId d : f[t].may_be) declarations.insert(d.index);
    };
    for (const auto& [begin, end] : growths.ranges())
        for (std::int32_t i = begin; i < end; ++i) {
            const Instr& in = core.code[std::size_t(i)];
            if (in.kind == InstrKind::assign || in.kind == InstrKind::loop_enter) vars.insert(in.var.index);
            if (in.kind == InstrKind::field_assign) {
                const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
                fields.emplace(a.target.structure.index, a.field);
            }
            if (in.kind == InstrKind::tile_bind) handle(std::get<ir::TileBind>(in.stmt->what).var);
            if (in.kind != InstrKind::issue) continue;
            if (const auto* op = std::get_if<ir::Op>(&in.stmt->what)) {
                for (ir::VarId v : op->results) vars.insert(v.index);
                for (const ir::OperandValue& o : op->operands)
                    if (auto t = std::get_if<ir::TileVarId>(&o); t && op->row && op->row->semantics == isa::Semantics::set_validshape) handle(*t);
                    else if (auto r = std::get_if<ir::StructRef>(&o))
                        for (std::size_t k = 0; k < f[r->structure].fields.size(); ++k) fields.emplace(r->structure.index, std::int32_t(k));
            }
        }
    for (std::int32_t t : handles) m_handles.push_back(ir::TileVarId{t});
    for (std::int32_t d : declarations) m_declarations.push_back(ir::TileDeclId{d});
    // A value with no growth is looked at as it is, unless nothing looks at it; a counter as far as remainders do.
    for (std::int32_t v : vars)
        if (needs.of_var(v) != 1) m_items.push_back({v, -1, -1, 1, 1, growths.of_var(v) == Growth::none ? 0 : needs.of_var(v)});
    for (auto [s, k] : fields)
        if (needs.of_field(s, k) != 1) {
            const ir::Struct& st = f.structs[std::size_t(s)];
            m_items.push_back({-1, s, k, std::max(1, st.count), std::max(1, st.fields[std::size_t(k)].length), growths.of_field(s, k) == Growth::none ? 0 : needs.of_field(s, k)});
        }
}

std::size_t Watch::digest(const program::Sequencer& s) const {
    std::size_t h = s.tiles_digest(m_handles, m_declarations);
    const auto mix = [&](const program::Scalar& v, std::int64_t modulus) {
        std::int64_t x = v.integer;
        if (!v.known) x = INT64_MIN;
        else if (isa::is_float(v.dtype)) x = std::bit_cast<std::int64_t>(v.real);
        else if (modulus > 0) x = (x % modulus + modulus) % modulus;
        h = (h ^ std::size_t(x)) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
    };
    for (const Item& i : m_items) {
        if (i.var >= 0) mix(s.variable(ir::VarId{i.var}), i.modulus);
        else
            for (std::int32_t r = 0; r < i.records; ++r)
                for (std::int32_t e = 0; e < i.elements; ++e) mix(s.field(ir::StructId{i.structure}, r, i.field, e), i.modulus);
    }
    return h;
}

} // namespace pto::verify
