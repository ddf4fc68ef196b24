#include "engine/verify/periodic.hpp"

#include "engine/program/prepared.hpp"
#include "engine/verify/findings.hpp"

#include <algorithm>
#include <functional>

namespace pto::verify {
namespace {

using program::Instr;
using program::InstrKind;

/// How a value depends on the number of the task: not at all or through remainders; as a sum of counters; in any other way.
enum class Growth : std::uint8_t { none, linear, wild };
Growth join(Growth a, Growth b) { return std::max(a, b); }

class Growths {
  public:
    Growths(const program::CoreCode& core, const std::vector<std::int32_t>& counters) : m_core(core), m_f(*core.function) {
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

    Growth of(ir::ExprId id) const {
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

  private:
    static bool raise(Growth& g, Growth to) {
        if (to <= g) return false;
        g = to;
        return true;
    }
    Growth& field(ir::StructId s, std::int32_t k) { return m_fields[std::size_t(s.index)][std::size_t(k)]; }

    /// Nodes: variables and fields. Does `from`'s value reach `node` outside a remainder, following assignments inside the loop?
    struct Node {
        std::int32_t var = -1, structure = -1, field = -1;
        auto operator<=>(const Node&) const = default;
    };
    void raw_reads(ir::ExprId id, std::set<Node>& out) const {
        if (!id.valid()) return;
        const ir::Expr& e = m_f[id];
        if (e.op == ir::ExprOp::mod && m_f.constant(e.b) && *m_f.constant(e.b) > 0) return;
        if (e.op == ir::ExprOp::var) out.insert({e.var.index, -1, -1});
        if (e.op == ir::ExprOp::field) out.insert({-1, e.structure.index, std::int32_t(e.integer)});
        else raw_reads(e.a, out), raw_reads(e.b, out);
        raw_reads(e.c, out);
    }
    static std::optional<Node> target(const Instr& in) {
        if (in.kind == InstrKind::assign) return Node{in.var.index, -1, -1};
        if (in.kind == InstrKind::field_assign) {
            const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
            return Node{-1, a.target.structure.index, a.field};
        }
        return std::nullopt;
    }
    static ir::ExprId value(const Instr& in) {
        return in.kind == InstrKind::assign ? in.expr : std::get<ir::FieldAssign>(in.stmt->what).value;
    }
    void self_dependence(const Instr& in, std::int32_t begin, std::int32_t end) {
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

    const program::CoreCode& m_core;
    const ir::Function& m_f;
    std::vector<Growth> m_vars;
    std::vector<std::vector<Growth>> m_fields;
    std::vector<std::pair<std::int32_t, std::int32_t>> m_ranges;
};

} // namespace

std::optional<std::string> counters_stay_modular(const program::Program& program, const Loops& loops, std::int32_t sweeping) {
    for (std::size_t side = 0; side < program.cores.size(); ++side) {
        const program::CoreCode& core = program.cores[side];
        std::vector<std::int32_t> counters;
        for (const auto& [loop, cls] : loops.class_of[side])
            if (cls == sweeping) counters.push_back(loop);
        const Growths g(core, counters);
        const program::Prepared prepared(program, core);
        const auto grows = [&](ir::ExprId e) { return g.of(e) != Growth::none; };
        for (std::size_t i = 0; i < core.code.size(); ++i) {
            const Instr& in = core.code[i];
            switch (in.kind) {
            case InstrKind::branch:
                if (grows(in.expr) && prepared.instrs[i].guard_loop < 0) return "a condition depends on the number of the task";
                break;
            case InstrKind::loop_enter: {
                const auto& l = std::get<ir::Loop>(in.stmt->what);
                if (std::find(counters.begin(), counters.end(), in.loop) == counters.end() && (grows(l.start) || grows(l.stop) || grows(l.step)))
                    return "the length of an inner loop depends on the number of the task";
                break;
            }
            case InstrKind::tile_bind: {
                bool bad = false;
                std::visit(on{[&](const ir::SlotOf& s) { bad = grows(s.index); },
                              [&](const ir::SubviewOf& s) { bad = grows(s.row_begin) || grows(s.row_end) || grows(s.col_begin) || grows(s.col_end); },
                              [&](const ir::ChoiceOf& c) { bad = grows(c.condition); }, [](const auto&) {}},
                           std::get<ir::TileBind>(in.stmt->what).source);
                if (bad) return "a slot or a view is chosen by the number of the task itself, not by a remainder";
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
                        if (auto e = std::get_if<ir::ExprId>(&a); e && grows(*e)) return "an id depends on the number of the task itself, not on a remainder";
                const bool element_of_tile = (s == S::getval || s == S::setval) && !op->operands.empty() && std::holds_alternative<ir::TileVarId>(op->operands[0]);
                if (on_chip || element_of_tile)
                    for (std::size_t k = 1; k < op->operands.size() && k < 3; ++k) {
                        if (element_of_tile && k > 1) break;
                        if (auto e = std::get_if<ir::ExprId>(&op->operands[k]); e && grows(*e)) return "an on-chip offset grows with the number of the task";
                        if (auto l = std::get_if<ir::ExprList>(&op->operands[k]))
                            for (ir::ExprId e : *l)
                                if (grows(e)) return "a valid shape, stride or on-chip offset grows with the number of the task";
                    }
                break;
            }
            default: break;
            }
        }
    }
    return std::nullopt;
}

StreamShape shape_of(const Trace& t) {
    StreamShape out;
    std::vector<std::size_t> bytes(t.bytes.size());
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        std::size_t h = std::size_t(t.bytes[k].owner + 2) * 31 + std::size_t(t.bytes[k].memory);
        for (const isa::Strided& s : t.bytes[k].set)
            for (std::int64_t x : {s.base, s.run_bytes, s.counts[0], s.counts[1], s.counts[2], s.strides[0], s.strides[1], s.strides[2]})
                h = (h ^ std::size_t(x)) * 0x9E3779B97F4A7C15ull, h ^= h >> 31;
        bytes[k] = h;
    }
    for (const TraceCore& core : t.cores) {
        StreamShape::Core c;
        for (std::int32_t i = core.first_event; i < core.last_event; ++i) {
            const Event& e = t.events[std::size_t(i)];
            std::size_t key = std::size_t(reinterpret_cast<std::uintptr_t>(e.stmt)) * 0x9E3779B97F4A7C15ull + std::size_t(e.id + 2) * 131 + std::size_t(e.mode);
            for (int k = 0; k < e.lock_count; ++k) key = key * 131 + std::size_t(e.locks[std::size_t(k)]) + 1;
            key = key * 131 + std::size_t(e.unit + 1);
            for (std::int32_t a = e.first_access; a < e.first_access + e.access_count; ++a) {
                const Access& x = t.accesses[std::size_t(a)];
                // Positions in global memory move on; windows_stay_close() looks after them.
                key = key * 1000003 + (t.bytes[std::size_t(x.footprint)].owner < 0 ? 7 : bytes[std::size_t(x.footprint)]) * 2 + x.write;
            }
            std::size_t* into = &c.before;
            if (e.iteration == after_loop) into = &c.after;
            else if (e.iteration >= 0) {
                if (c.iterations.size() <= std::size_t(e.iteration)) c.iterations.resize(std::size_t(e.iteration) + 1, 0);
                into = &c.iterations[std::size_t(e.iteration)];
            }
            *into = (*into ^ key) * 0x100000001B3ull + 1;
        }
        out.cores.push_back(std::move(c));
    }
    return out;
}

bool pairings_go_forward(const SyncIndex& x) {
    const Trace& t = x.trace;
    const auto when = [&](std::int32_t i) { return t.events[std::size_t(i)].iteration; };
    const auto forward = [&](const std::vector<std::int32_t>& sets, const std::vector<std::int32_t>& waits) {
        std::vector<std::int64_t> set_at;
        for (std::int32_t s : sets) set_at.push_back(when(s));
        std::sort(set_at.begin(), set_at.end()); // several pipes may set in turn
        for (std::size_t k = 0; k < waits.size() && k < set_at.size(); ++k)
            if (set_at[k] > when(waits[k])) return false;
        return true;
    };
    for (const Counter& c : x.counters)
        if (!forward(c.sets, c.waits)) return false;
    for (const Flag& f : x.flags)
        if (!forward(f.sets, f.waits)) return false;
    return true;
}

std::optional<std::string> windows_stay_close(const Trace& t, std::int64_t warm_up, std::int64_t period) {
    // One moving window: a statement's operand on one core and its n-th execution inside an iteration.
    struct Window {
        int lane;
        bool write, atomic;
        std::int64_t first, last, delta;
    };
    std::map<std::tuple<std::int32_t, std::int64_t, const ir::Stmt*, std::int16_t, bool, std::int32_t>, const Bytes*> at; // core, iteration, ...
    std::map<std::tuple<std::int32_t, std::int64_t, const ir::Stmt*, std::int16_t, bool>, std::int32_t> nth;
    for (const Access& a : t.accesses) {
        const Bytes& b = t.bytes[std::size_t(a.footprint)];
        const Event& e = t.events[std::size_t(a.event)];
        if (b.owner >= 0 || !b.exact || e.iteration < warm_up || e.iteration == after_loop) continue;
        const std::int32_t n = nth[{e.core, e.iteration, e.stmt, a.operand, a.write}]++;
        at[{e.core, e.iteration, e.stmt, a.operand, a.write, n}] = &b;
    }
    std::vector<Window> windows;
    for (const auto& [key, b] : at) {
        auto [core, iteration, stmt, operand, write, n] = key;
        if (iteration >= warm_up + period) continue;
        auto later = at.find({core, iteration + period, stmt, operand, write, n});
        if (later == at.end()) return "a transfer to global memory does not repeat";
        const Event* e = nullptr;
        for (const Access& a : t.accesses)
            if (&t.bytes[std::size_t(a.footprint)] == b && t.events[std::size_t(a.event)].stmt == stmt && t.events[std::size_t(a.event)].core == core) {
                e = &t.events[std::size_t(a.event)];
                windows.push_back({e->lane(), write, a.atomic, b->first, b->last, later->second->first - b->first});
                break;
            }
    }
    for (const Window& a : windows)
        for (const Window& b : windows) {
            if (a.lane == b.lane || !a.write || (a.atomic && b.atomic)) continue;
            const bool near = a.first - (std::int64_t(1) << 38) < b.last && b.first - (std::int64_t(1) << 38) < a.last; // one tensor's range
            if (!near) continue;
            if (a.delta != b.delta) return "windows of global memory move at different speeds";
            if (a.delta == 0) continue;
            const std::int64_t hull = std::max(a.last, b.last) - std::min(a.first, b.first);
            if (hull > 2 * std::abs(a.delta)) return "windows of global memory meet over more than one period";
        }
    return std::nullopt;
}

} // namespace pto::verify
