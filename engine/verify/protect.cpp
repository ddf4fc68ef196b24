#include "engine/verify/protect.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace pto::verify {
namespace {

using program::CoreCode;
using program::Instr;
using program::InstrKind;

/// One slot or tensor that one instruction may touch.
struct Touch {
    std::size_t side = 0;
    std::int32_t instr = 0;
    isa::Pipe pipe = isa::Pipe::s;
    bool write = false, shared = false; // shared: the two vector cores of a block both reach it
    std::int64_t first = 0, last = 0;
    std::uint32_t locks = 0;
    std::int32_t part = 0;              // full barriers passed before it
};

/// Tensor parameter behind a tensor of the program; -1 when it may be any (made from an address).
std::int32_t root_of(const ir::Function& f, ir::TensorId t) { return f[t].param.valid() ? f[t].param.index : -1; }

bool full_barrier(const Instr& in) {
    const auto* op = in.kind == InstrKind::issue ? std::get_if<ir::Op>(&in.stmt->what) : nullptr;
    if (!op || !op->row || op->row->semantics != isa::Semantics::sync_all) return false;
    const int type = op->row->keyword_index("core_type");
    const auto* e = type < 0 || std::size_t(type) >= op->attributes.size() ? nullptr : std::get_if<isa::EnumValue>(&op->attributes[std::size_t(type)]);
    return !e || isa::SyncCoreType(e->ordinal) == isa::SyncCoreType::mix;
}

/// Per instruction: how many full barriers its core has passed. Counted when every one stands outside loops and conditions and all cores
/// have as many; else 0 throughout.
std::vector<std::vector<std::int32_t>> parts_of(const program::Program& p) {
    std::vector<std::vector<std::int32_t>> parts;
    bool countable = true;
    for (const CoreCode& core : p.cores) {
        auto& list = parts.emplace_back(core.code.size(), 0);
        std::int32_t passed = 0, free_from = 0;
        for (std::size_t i = 0; i < core.code.size(); ++i) {
            const Instr& in = core.code[i];
            if (full_barrier(in)) countable = countable && std::int32_t(i) >= free_from, ++passed;
            if (in.kind == InstrKind::branch || in.kind == InstrKind::jump || in.kind == InstrKind::loop_enter) free_from = std::max(free_from, in.target);
            list[i] = passed;
        }
        countable = countable && list.empty() == parts.front().empty() && (list.empty() || list.back() == parts.front().back());
    }
    if (!countable)
        for (auto& list : parts) std::fill(list.begin(), list.end(), 0);
    return parts;
}

class Table {
  public:
    explicit Table(const program::Program& p) : m_mix(p.kernel->is_mix()), m_parts(parts_of(p)) {
        for (std::size_t side = 0; side < p.cores.size(); ++side) {
            const CoreCode& core = p.cores[side];
            const ir::Function& f = *core.function;
            std::vector<std::int32_t> roots(f.tensors.size(), -1);
            for (std::size_t t = 0; t < f.tensors.size(); ++t) roots[t] = root_of(f, ir::TensorId{std::int32_t(t)});
            for (std::size_t i = 0; i < core.code.size(); ++i) {
                if (core.code[i].kind != InstrKind::issue) continue;
                std::visit(on{[&](const ir::Op& op) {
                                  if (!op.row || op.row->descriptor_only) return;
                                  for (std::size_t k = 0; k < op.operands.size(); ++k) {
                                      const isa::Role role = k < op.row->operands.size() ? op.row->operands[k].role : isa::Role::read;
                                      if (auto t = std::get_if<ir::TileVarId>(&op.operands[k])) tile(side, core, i, op.pipe, *t, role, op.locks);
                                      if (auto t = std::get_if<ir::TensorId>(&op.operands[k])) tensor(side, i, op.pipe, roots[std::size_t(t->index)], role);
                                  }
                                  for (const auto& a : op.attributes)
                                      if (auto t = std::get_if<ir::TileVarId>(&a)) tile(side, core, i, op.pipe, *t, isa::Role::read, op.locks);
                              },
                              [&](const ir::VectorCall& c) {
                                  for (std::size_t k = 0; k < c.tiles.size(); ++k)
                                      tile(side, core, i, isa::Pipe::v, c.tiles[k], k < c.roles.size() ? c.roles[k] : isa::Role::read_write, c.locks);
                              },
                              [&](const ir::SimtLaunch& l) {
                                  for (const auto& o : l.arguments) {
                                      if (auto t = std::get_if<ir::TileVarId>(&o)) tile(side, core, i, isa::Pipe::v, *t, isa::Role::read_write, l.locks);
                                      if (auto t = std::get_if<ir::TensorId>(&o)) tensor(side, i, isa::Pipe::v, roots[std::size_t(t->index)], isa::Role::read_write);
                                  }
                              },
                              [](const auto&) {}},
                           core.code[i].stmt->what);
            }
        }
    }

    /// Calls found(a, b) for touches that neither a lock nor a full barrier orders.
    /// output(a, b): both are stores of the two vector cores.
    template <class F, class G> void conflicts(F&& found, G&& output) const {
        for (const auto& [memory, list] : m_on_chip)
            for (std::size_t a = 0; a < list.size(); ++a)
                for (std::size_t b = a; b < list.size(); ++b) {
                    const Touch &x = list[a], &y = list[b];
                    if (!(x.write || y.write) || x.part != y.part || x.first >= y.last || y.first >= x.last) continue;
                    const bool one_lane = x.side == y.side && x.pipe == y.pipe && !x.shared;
                    const bool locked = x.side == y.side && !x.shared && (x.locks & y.locks);
                    if (!one_lane && !locked) found(x, y);
                }
        for (std::size_t a = 0; a < m_global.size(); ++a)
            for (std::size_t b = a; b < m_global.size(); ++b) {
                const Touch &x = m_global[a], &y = m_global[b];
                if (!(x.write || y.write) || x.part != y.part || (x.first >= 0 && y.first >= 0 && x.first != y.first)) continue;
                if (x.side == y.side && x.pipe == y.pipe && !x.shared) continue;
                if (x.write && y.write && x.shared && y.shared) output(x, y);
                else found(x, y);
            }
    }

  private:
    void tile(std::size_t side, const CoreCode& core, std::size_t i, isa::Pipe pipe, ir::TileVarId t, isa::Role role, const std::vector<ir::TileVarId>& locks) {
        if (role == isa::Role::none) return;
        const ir::Function& f = *core.function;
        const bool locked = std::find(locks.begin(), locks.end(), t) != locks.end();
        for (ir::TileDeclId d : f[t].may_be) {
            const ir::TileDecl& decl = f[d];
            // UB belongs to the vector cores, everything else on chip to the cube, whoever reaches it.
            const bool foreign = (decl.type.memory == isa::MemorySpace::vec) != (core.core == isa::Core::vector);
            for (std::int32_t s = 0; s < decl.slots(); ++s) {
                Touch x{side, std::int32_t(i), pipe, isa::writes(role), m_mix && foreign && core.core == isa::Core::vector};
                x.first = decl.addresses[std::size_t(s)];
                x.part = m_parts[side][i];
                x.last = x.first + std::max(decl.slot_bytes, decl.type.byte_size());
                if (locked && !decl.mutex.empty())
                    for (std::int32_t id : decl.mutex[std::size_t(s)]) x.locks |= 1u << id;
                m_on_chip[decl.type.memory].push_back(x);
            }
        }
    }
    void tensor(std::size_t side, std::size_t i, isa::Pipe pipe, std::int32_t root, isa::Role role) {
        if (role == isa::Role::none) return;
        Touch x{side, std::int32_t(i), pipe, isa::writes(role), m_mix && side == 1};
        x.first = root, x.part = m_parts[side][i];
        m_global.push_back(x);
    }

    bool m_mix;
    std::vector<std::vector<std::int32_t>> m_parts;
    std::map<isa::MemorySpace, std::vector<Touch>> m_on_chip;
    std::vector<Touch> m_global; // first: parameter, -1 any
};

bool synchronises(const Instr& in) {
    const auto* op = in.kind == InstrKind::issue ? std::get_if<ir::Op>(&in.stmt->what) : nullptr;
    if (!op || !op->row) return false;
    using S = isa::Semantics;
    switch (op->row->semantics) {
    case S::flag_set:
    case S::flag_wait:
    case S::cross_set:
    case S::cross_wait:
    case S::sync_all:
    case S::mutex_lock:
    case S::mutex_unlock:
    case S::trap: return true;
    default: break;
    }
    const int phase = op->row->keyword_index("phase"); // the unit flag synchronises M with FIX
    if (phase < 0 || std::size_t(phase) >= op->attributes.size()) return false;
    auto e = std::get_if<isa::EnumValue>(&op->attributes[std::size_t(phase)]);
    return e && e->ordinal != 0;
}

/// What guessed code assigns, and where that leads.
class Reach {
  public:
    Reach(const CoreCode& core, const std::vector<char>& exposed, const std::vector<char>& outputs, const std::set<std::int32_t>& guesses)
        : m_core(core), m_f(*core.function), m_exposed(exposed), m_outputs(outputs) {
        m_vars.assign(m_f.vars.size(), 0), m_tiles.assign(m_f.tiles.size(), 0), m_tensors.assign(m_f.tensors.size(), 0);
        for (const ir::Struct& s : m_f.structs) m_fields.emplace_back(s.fields.size(), 0);
        m_pending.assign(guesses.begin(), guesses.end());
    }

    std::optional<std::string> around(const Around& a) {
        for (std::int32_t k = a.begin; k < a.end; ++k) {
            if (k >= a.inner_begin && k < a.inner_end) continue;
            const Instr& x = m_core.code[std::size_t(k)];
            if (x.kind == InstrKind::issue && m_exposed[std::size_t(k)]) return "operations around the task loop need synchronisation of their own";
            if (x.kind == InstrKind::issue && m_outputs[std::size_t(k)]) outputs_move = true;
            assign(x);
        }
        return std::nullopt;
    }

    std::optional<std::string> run() {
        for (;;) {
            while (!m_pending.empty()) {
                const std::int32_t i = m_pending.back();
                m_pending.pop_back();
                if (!m_seen.insert(i).second) continue;
                if (auto why = region(i)) return why;
            }
            bool changed = false;
            for (std::size_t i = 0; i < m_core.code.size(); ++i) changed |= flow(std::int32_t(i));
            if (!changed && m_pending.empty()) break;
        }
        for (std::size_t i = 0; i < m_core.code.size(); ++i)
            if (m_core.code[i].kind == InstrKind::issue && m_outputs[i] && reads_guess(m_core.code[i])) outputs_move = true;
        for (std::size_t i = 0; i < m_core.code.size(); ++i)
            if (m_core.code[i].kind == InstrKind::issue && m_exposed[i])
                if (reads_guess(m_core.code[i])) return "an operation that only synchronisation orders works on values that unknown control changes";
        return std::nullopt;
    }
    bool outputs_move = false;

  private:
    /// [begin, end) that the guessed instruction decides about.
    std::optional<std::string> region(std::int32_t i) {
        const Instr& in = m_core.code[std::size_t(i)];
        if (in.kind == InstrKind::tile_bind) {
            m_tiles[std::size_t(std::get<ir::TileBind>(in.stmt->what).var.index)] = 1;
            return std::nullopt;
        }
        if (in.kind == InstrKind::issue) return "an event id is unknown before the launch";
        std::int32_t begin = i + 1, end = in.target;
        if (in.kind == InstrKind::branch && end > begin) {
            const Instr& last = m_core.code[std::size_t(end - 1)];
            if (last.kind == InstrKind::jump && last.stmt == in.stmt && last.target > end) end = last.target;
        }
        for (std::int32_t k = begin; k < end; ++k) {
            const Instr& x = m_core.code[std::size_t(k)];
            if (x.kind == InstrKind::issue && m_exposed[std::size_t(k)])
                return in.kind == InstrKind::branch ? "a condition depends on values that are unknown before the launch" : "the length of an inner loop is unknown before the launch";
            if (x.kind == InstrKind::issue && m_outputs[std::size_t(k)]) outputs_move = true;
            if ((x.kind == InstrKind::jump || x.kind == InstrKind::branch) && (x.target < begin || x.target > end)) return "unknown control leaves its loop";
            if (x.kind == InstrKind::finish) return "unknown control ends the program";
            assign(x);
        }
        return std::nullopt;
    }
    void assign(const Instr& x) {
        switch (x.kind) {
        case InstrKind::assign:
        case InstrKind::loop_enter: m_vars[std::size_t(x.var.index)] = 1; break;
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(x.stmt->what);
            m_fields[std::size_t(a.target.structure.index)][std::size_t(a.field)] = 1;
            break;
        }
        case InstrKind::tile_bind: m_tiles[std::size_t(std::get<ir::TileBind>(x.stmt->what).var.index)] = 1; break;
        case InstrKind::tensor_bind: m_tensors[std::size_t(std::get<ir::TensorBind>(x.stmt->what).tensor.index)] = 1; break;
        case InstrKind::issue:
            if (auto op = std::get_if<ir::Op>(&x.stmt->what)) {
                for (ir::VarId v : op->results) m_vars[std::size_t(v.index)] = 1;
                if (op->row && op->row->semantics == isa::Semantics::set_stride)
                    for (const auto& o : op->operands)
                        if (auto t = std::get_if<ir::TensorId>(&o)) m_tensors[std::size_t(t->index)] = 1;
            }
            break;
        default: break;
        }
    }
    bool guessed(ir::ExprId id) const {
        if (!id.valid()) return false;
        const ir::Expr& e = m_f[id];
        switch (e.op) {
        case ir::ExprOp::var: return m_vars[std::size_t(e.var.index)];
        case ir::ExprOp::field:
            if (m_fields[std::size_t(e.structure.index)][std::size_t(e.integer)]) return true;
            break;
        case ir::ExprOp::valid_dim: return m_tiles[std::size_t(e.tile.index)];
        default: break;
        }
        return guessed(e.a) || guessed(e.b) || guessed(e.c);
    }
    static bool raise(char& flag) { return flag ? false : (flag = 1, true); }
    bool flow(std::int32_t i) {
        const Instr& in = m_core.code[std::size_t(i)];
        switch (in.kind) {
        case InstrKind::assign: return guessed(in.expr) && raise(m_vars[std::size_t(in.var.index)]);
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(in.stmt->what);
            return (guessed(a.value) || guessed(a.element) || guessed(a.target.index)) && raise(m_fields[std::size_t(a.target.structure.index)][std::size_t(a.field)]);
        }
        case InstrKind::branch:
            if (guessed(in.expr) && !m_seen.count(i)) return m_pending.push_back(i), true;
            return false;
        case InstrKind::loop_enter: {
            const auto& l = std::get<ir::Loop>(in.stmt->what);
            if ((guessed(l.start) || guessed(l.stop) || guessed(l.step)) && !m_seen.count(i)) return m_pending.push_back(i), true;
            return false;
        }
        case InstrKind::tile_bind: {
            const auto& bind = std::get<ir::TileBind>(in.stmt->what);
            const bool bad = std::visit(on{[&](const ir::SlotOf& s) { return guessed(s.index); }, [&](const ir::AliasOf& s) { return bool(m_tiles[std::size_t(s.tile.index)]); },
                                           [&](const ir::SubviewOf& s) {
                                               return m_tiles[std::size_t(s.base.index)] || guessed(s.row_begin) || guessed(s.row_end) || guessed(s.col_begin) || guessed(s.col_end);
                                           },
                                           [&](const ir::ViewOf& s) { return bool(m_tiles[std::size_t(s.base.index)]); },
                                           [&](const ir::ChoiceOf& s) { return m_tiles[std::size_t(s.then.index)] || m_tiles[std::size_t(s.otherwise.index)] || guessed(s.condition); }},
                                        bind.source);
            return bad && raise(m_tiles[std::size_t(bind.var.index)]);
        }
        case InstrKind::tensor_bind: {
            const auto& bind = std::get<ir::TensorBind>(in.stmt->what);
            bool bad = guessed(bind.address) || (bind.alias_of.valid() && m_tensors[std::size_t(bind.alias_of.index)]);
            for (ir::ExprId e : bind.strides) bad = bad || guessed(e);
            return bad && raise(m_tensors[std::size_t(bind.tensor.index)]);
        }
        default: return false;
        }
    }
    bool reads_guess(const Instr& in) const {
        const auto value = [&](const auto& v) {
            return std::visit(on{[&](ir::TileVarId t) { return bool(m_tiles[std::size_t(t.index)]); }, [&](ir::TensorId t) { return bool(m_tensors[std::size_t(t.index)]); },
                                 [&](ir::ExprId e) { return guessed(e); },
                                 [&](const ir::ExprList& l) { return std::any_of(l.begin(), l.end(), [&](ir::ExprId e) { return guessed(e); }); },
                                 [](const auto&) { return false; }},
                              v);
        };
        return std::visit(on{[&](const ir::Op& op) {
                                 return std::any_of(op.operands.begin(), op.operands.end(), value) || std::any_of(op.attributes.begin(), op.attributes.end(), value);
                             },
                             [&](const ir::VectorCall& c) { return std::any_of(c.tiles.begin(), c.tiles.end(), [&](ir::TileVarId t) { return bool(m_tiles[std::size_t(t.index)]); }); },
                             [&](const ir::SimtLaunch& l) { return std::any_of(l.arguments.begin(), l.arguments.end(), value); }, [](const auto&) { return false; }},
                          in.stmt->what);
    }

    const CoreCode& m_core;
    const ir::Function& m_f;
    const std::vector<char>& m_exposed;
    const std::vector<char>& m_outputs;
    std::vector<char> m_vars, m_tiles, m_tensors;
    std::vector<std::vector<char>> m_fields;
    std::vector<std::int32_t> m_pending;
    std::set<std::int32_t> m_seen;
};

} // namespace

Protection protect(const program::Program& program) {
    Protection out;
    for (const CoreCode& core : program.cores) {
        out.exposed.emplace_back(core.code.size(), 0);
        out.outputs.emplace_back(core.code.size(), 0);
        for (std::size_t i = 0; i < core.code.size(); ++i)
            if (synchronises(core.code[i])) out.exposed.back()[i] = 1, out.any = true;
    }
    Table(program).conflicts(
        [&](const Touch& a, const Touch& b) {
            out.exposed[a.side][std::size_t(a.instr)] = out.exposed[b.side][std::size_t(b.instr)] = 1;
            out.any = true;
        },
        [&](const Touch& a, const Touch& b) {
            out.outputs[a.side][std::size_t(a.instr)] = out.outputs[b.side][std::size_t(b.instr)] = 1;
            out.any = true;
        });
    return out;
}

std::optional<std::string> guesses_are_harmless(const program::Program& program, const Protection& protection, const Guesses& guesses,
                                                const std::vector<Around>& around, bool& outputs_move) {
    for (std::size_t side = 0; side < program.cores.size() && side < guesses.size(); ++side) {
        Reach reach(program.cores[side], protection.exposed[side], protection.outputs[side], guesses[side]);
        for (const Around& a : around)
            if (a.side == side)
                if (auto why = reach.around(a)) return why;
        if (auto why = reach.run()) return why;
        outputs_move |= reach.outputs_move;
    }
    return std::nullopt;
}

} // namespace pto::verify
