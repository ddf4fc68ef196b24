#include "engine/verify/protect.hpp"

#include <algorithm>
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
    ir::TileVarId tile;                 // the operand that may reach it; none for a tensor
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
                x.first = decl.addresses[std::size_t(s)], x.tile = t;
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

} // namespace

const std::vector<ir::TileVarId>* locks_of(const ir::Stmt& stmt) {
    return std::visit(on{[](const ir::Op& op) { return &op.locks; }, [](const ir::VectorCall& c) { return &c.locks; }, [](const ir::SimtLaunch& l) { return &l.locks; },
                         [](const auto&) { return static_cast<const std::vector<ir::TileVarId>*>(nullptr); }},
                      stmt.what);
}

Protection protect(const program::Program& program) {
    Protection out;
    for (const CoreCode& core : program.cores) {
        out.exposed.emplace_back(core.code.size(), 0);
        out.meeting.emplace_back(core.code.size());
        out.outputs.emplace_back(core.code.size(), 0);
        for (std::size_t i = 0; i < core.code.size(); ++i)
            if (synchronises(core.code[i])) out.exposed.back()[i] = 1, out.any = true;
    }
    Table(program).conflicts(
        [&](const Touch& a, const Touch& b) {
            for (const Touch* x : {&a, &b}) {
                out.exposed[x->side][std::size_t(x->instr)] = 1;
                if (x->tile.valid()) out.meeting[x->side][std::size_t(x->instr)].tiles.insert(x->tile.index);
                else out.meeting[x->side][std::size_t(x->instr)].tensor = true;
            }
            out.any = true;
        },
        [&](const Touch& a, const Touch& b) {
            out.outputs[a.side][std::size_t(a.instr)] = out.outputs[b.side][std::size_t(b.instr)] = 1;
            out.any = true;
        });
    return out;
}

} // namespace pto::verify
