/// Locks (language 4.6, codegen 3) and flattening: structured bodies become one list of instructions per core.

#include "engine/program/program.hpp"

#include "engine/base/diagnostics.hpp"

#include <algorithm>
#include <set>

namespace pto::program {
namespace {

// ---------------------------------------------------------------- locks

/// Every mutex id the tile variable may stand for.
std::set<std::int32_t> candidate_ids(const ir::Function& f, ir::TileVarId tile) {
    std::set<std::int32_t> ids;
    for (ir::TileDeclId d : f[tile].may_be)
        for (const auto& slot : f[d].mutex) ids.insert(slot.begin(), slot.end());
    return ids;
}

std::int64_t attribute_integer(const ir::Function& f, const ir::Op& op, std::string_view name, std::int64_t otherwise) {
    const int k = op.row ? op.row->keyword_index(name) : -1;
    if (k < 0 || std::size_t(k) >= op.attributes.size()) return otherwise;
    const ir::AttributeValue& a = op.attributes[std::size_t(k)];
    if (auto i = std::get_if<std::int64_t>(&a)) return *i;
    if (auto e = std::get_if<isa::EnumValue>(&a)) return e->ordinal;
    if (auto x = std::get_if<ir::ExprId>(&a))
        if (auto c = f.constant(*x)) return *c;
    return otherwise;
}

bool is_phased(const ir::Function& f, const ir::Op& op) {
    switch (op.row->semantics) {
    case isa::Semantics::matmul:
    case isa::Semantics::matmul_acc:
    case isa::Semantics::matmul_mx:
    case isa::Semantics::matmul_mx_acc:
    case isa::Semantics::store: return attribute_integer(f, op, "phase", 0) != 0;
    default: return false;
    }
}

/// Walks statements that issue to a pipe, vector bodies excluded.
template <class F> void for_each_issue(ir::Body& body, F&& f) {
    for (ir::Stmt& s : body)
        std::visit(on{[&](ir::Op&) { f(s); }, [&](ir::VectorCall&) { f(s); }, [&](ir::SimtLaunch&) { f(s); },
                      [&](ir::Loop& l) { for_each_issue(l.body, f); }, [&](ir::Forever& l) { for_each_issue(l.body, f); },
                      [&](ir::Branch& b) { for_each_issue(b.then, f), for_each_issue(b.otherwise, f); },
                      [&](ir::StageScope& g) { for_each_issue(g.body, f); }, [&](ir::HelperScope& g) { for_each_issue(g.body, f); },
                      [](auto&) {}},
                   s.what);
}

void add_tile(const ir::Function& f, ir::TileVarId tile, std::vector<ir::TileVarId>& locks) {
    if (std::find(locks.begin(), locks.end(), tile) != locks.end()) return;
    if (!candidate_ids(f, tile).empty()) locks.push_back(tile);
}

void insert_locks(ir::Function& f, const machine::Chip& chip) {
    struct Site {
        std::vector<ir::TileVarId>* locks;
        isa::Pipe pipe;
    };
    std::vector<Site> sites;
    std::map<std::int32_t, std::set<isa::Pipe>> users; // pipes that lock an id anywhere in this core's program
    for_each_issue(f.body, [&](ir::Stmt& s) {
        std::visit(on{[&](ir::Op& op) {
                          op.locks.clear();
                          if (!op.row) return;
                          if (op.row->semantics == isa::Semantics::mutex_lock) {
                              const auto pipe = isa::Pipe(attribute_integer(f, op, "pipe", std::int64_t(isa::Pipe::s)));
                              const std::int64_t id = attribute_integer(f, op, "mutex_id", -1);
                              for (std::int32_t i = 0; i < chip.mutex_ids; ++i)
                                  if (id < 0 || id == i) users[i].insert(pipe);
                          }
                          if (op.row->descriptor_only) return;
                          const bool phased = is_phased(f, op);
                          for (const ir::OperandValue& o : op.operands)
                              if (auto t = std::get_if<ir::TileVarId>(&o))
                                  if (!(phased && f[*t].type.memory == isa::MemorySpace::acc)) add_tile(f, *t, op.locks);
                          for (const ir::AttributeValue& a : op.attributes) // factors and offsets that are given by keyword
                              if (auto t = std::get_if<ir::TileVarId>(&a)) add_tile(f, *t, op.locks);
                          sites.push_back({&op.locks, op.pipe});
                      },
                      [&](ir::VectorCall& call) {
                          call.locks.clear();
                          for (ir::TileVarId t : call.tiles) add_tile(f, t, call.locks);
                          sites.push_back({&call.locks, isa::Pipe::v});
                      },
                      [&](ir::SimtLaunch& launch) {
                          launch.locks.clear();
                          for (const ir::OperandValue& o : launch.arguments)
                              if (auto t = std::get_if<ir::TileVarId>(&o)) add_tile(f, *t, launch.locks);
                          sites.push_back({&launch.locks, isa::Pipe::v});
                      },
                      [](auto&) {}},
                   s.what);
    });
    for (const Site& site : sites)
        for (ir::TileVarId t : *site.locks)
            for (std::int32_t id : candidate_ids(f, t)) users[id].insert(site.pipe);
    // Elision: pipe V is in order, so ids that only V ever locks order nothing.
    for (const Site& site : sites) {
        if (site.pipe != isa::Pipe::v) continue;
        std::erase_if(*site.locks, [&](ir::TileVarId t) {
            for (std::int32_t id : candidate_ids(f, t))
                if (users[id].size() > 1) return false;
            return true;
        });
    }
}

void remove_locks(ir::Function& f) {
    for_each_issue(f.body, [](ir::Stmt& s) {
        std::visit(on{[](ir::Op& op) { op.locks.clear(); }, [](ir::VectorCall& c) { c.locks.clear(); },
                      [](ir::SimtLaunch& l) { l.locks.clear(); }, [](auto&) {}},
                   s.what);
    });
}

// ---------------------------------------------------------------- flattening

class Flattener {
  public:
    CoreCode flatten(const ir::Function& f) {
        m_out.core = f.core;
        m_out.function = &f;
        body(f.body);
        for (std::size_t at : m_returns) m_out.code[at].target = here();
        emit({.kind = InstrKind::finish});
        return std::move(m_out);
    }

  private:
    struct LoopFrame {
        std::vector<std::size_t> breaks, continues; // jumps to patch
        std::size_t stages;                         // open stage scopes outside the loop
    };

    std::int32_t here() const { return std::int32_t(m_out.code.size()); }
    std::size_t emit(Instr i) {
        if (i.stage < 0 && !m_stages.empty()) i.stage = m_stages.back();
        m_out.code.push_back(i);
        return m_out.code.size() - 1;
    }
    std::size_t emit(InstrKind kind, const ir::Stmt& s) { return emit({.kind = kind, .stmt = &s, .at = s.at}); }
    /// A jump out of stage scopes leaves them first.
    std::size_t jump_out(const ir::Stmt& s, std::size_t keep) {
        for (std::size_t i = m_stages.size(); i > keep; --i) emit({.kind = InstrKind::stage_leave, .stmt = &s, .stage = m_stages[i - 1], .at = s.at});
        return emit(InstrKind::jump, s);
    }
    std::int32_t stage_index(const std::string& name) {
        auto f = std::find(m_out.stages.begin(), m_out.stages.end(), name);
        if (f == m_out.stages.end()) return m_out.stages.push_back(name), std::int32_t(m_out.stages.size() - 1);
        return std::int32_t(f - m_out.stages.begin());
    }
    void body(const ir::Body& b) {
        for (const ir::Stmt& s : b) statement(s);
    }
    void patch(const std::vector<std::size_t>& jumps, std::int32_t target) {
        for (std::size_t j : jumps) m_out.code[j].target = target;
    }
    void statement(const ir::Stmt& s) {
        std::visit(on{
                       [&](const ir::Assign& a) { emit({.kind = InstrKind::assign, .expr = a.value, .var = a.var, .stmt = &s, .at = s.at}); },
                       [&](const ir::FieldAssign& a) { emit({.kind = InstrKind::field_assign, .expr = a.value, .stmt = &s, .at = s.at}); },
                       [&](const ir::TileBind&) { emit(InstrKind::tile_bind, s); },
                       [&](const ir::TensorBind&) { emit(InstrKind::tensor_bind, s); },
                       [&](const ir::Op&) { emit(InstrKind::issue, s); },
                       [&](const ir::VectorCall&) { emit(InstrKind::issue, s); },
                       [&](const ir::SimtLaunch&) { emit(InstrKind::issue, s); },
                       [&](const ir::Loop& l) {
                           const std::int32_t state = m_out.loops++;
                           const std::size_t enter = emit({.kind = InstrKind::loop_enter, .loop = state, .var = l.var, .stmt = &s, .at = s.at});
                           const std::int32_t start = here();
                           m_loops.push_back({{}, {}, m_stages.size()});
                           body(l.body);
                           LoopFrame frame = std::move(m_loops.back());
                           m_loops.pop_back();
                           patch(frame.continues, here());
                           emit({.kind = InstrKind::loop_next, .target = start, .loop = state, .var = l.var, .stmt = &s, .at = s.at});
                           m_out.code[enter].target = here();
                           patch(frame.breaks, here());
                       },
                       [&](const ir::Forever& l) {
                           const std::int32_t start = here();
                           m_loops.push_back({{}, {}, m_stages.size()});
                           body(l.body);
                           LoopFrame frame = std::move(m_loops.back());
                           m_loops.pop_back();
                           patch(frame.continues, start);
                           emit({.kind = InstrKind::jump, .target = start, .stmt = &s, .at = s.at});
                           patch(frame.breaks, here());
                       },
                       [&](const ir::Branch& b) {
                           const std::size_t test = emit({.kind = InstrKind::branch, .expr = b.condition, .stmt = &s, .at = s.at});
                           body(b.then);
                           if (b.otherwise.empty()) {
                               m_out.code[test].target = here();
                               return;
                           }
                           const std::size_t skip = emit(InstrKind::jump, s);
                           m_out.code[test].target = here();
                           body(b.otherwise);
                           m_out.code[skip].target = here();
                       },
                       [&](const ir::Break&) {
                           if (m_loops.empty()) throw InternalError{"break outside a loop"};
                           m_loops.back().breaks.push_back(jump_out(s, m_loops.back().stages));
                       },
                       [&](const ir::Continue&) {
                           if (m_loops.empty()) throw InternalError{"continue outside a loop"};
                           m_loops.back().continues.push_back(jump_out(s, m_loops.back().stages));
                       },
                       [&](const ir::Return&) { m_returns.push_back(jump_out(s, 0)); },
                       [&](const ir::StageScope& g) {
                           const std::int32_t stage = stage_index(g.stage);
                           emit({.kind = InstrKind::stage_enter, .expr = g.task, .stmt = &s, .stage = stage, .at = s.at});
                           m_stages.push_back(stage);
                           body(g.body);
                           m_stages.pop_back();
                           emit({.kind = InstrKind::stage_leave, .stmt = &s, .stage = stage, .at = s.at});
                       },
                       [&](const ir::HelperScope& g) { body(g.body); },
                   },
                   s.what);
    }

    CoreCode m_out;
    std::vector<LoopFrame> m_loops;
    std::vector<std::int32_t> m_stages;
    std::vector<std::size_t> m_returns;
};

} // namespace

Program assemble(ir::Kernel kernel, const machine::Chip& chip) {
    auto owned = std::make_shared<ir::Kernel>(std::move(kernel));
    for (std::optional<ir::Function>* side : {&owned->cube, &owned->vector}) {
        if (!*side) continue;
        if (owned->auto_mutex && chip.has_mutex) insert_locks(**side, chip);
        else remove_locks(**side);
    }
    Program program;
    program.kernel = owned;
    for (const std::optional<ir::Function>* side : {&owned->cube, &owned->vector})
        if (*side) program.cores.push_back(Flattener{}.flatten(**side));
    return program;
}

} // namespace pto::program
