#include "engine/emit/facts.hpp"

#include "engine/ir/walk.hpp"

#include <algorithm>

namespace pto::emit {
namespace {

using isa::Semantics;

class Finder {
  public:
    explicit Finder(const ir::Function& f) : m_f(f) {
        m_out.vars.resize(f.vars.size());
        m_out.tiles.resize(f.tiles.size());
        m_out.decls.resize(f.decls.size());
        m_out.tensors.resize(f.tensors.size());
        m_out.shared.resize(f.structs.size());
        m_sites.resize(f.vars.size());
    }

    Facts find() {
        body(m_f.body);
        settle_vars();
        settle_tiles();
        m_out.vector_calls = std::size_t(m_calls);
        return std::move(m_out);
    }

  private:
    /// How a variable is met: enough to decide where it may be declared.
    struct Sites {
        bool in_function = false, assigned = false, outside_its_loop = false, is_loop = false;
        std::int32_t call = -2; // -2 never met, -3 in several calls
    };

    void meet(ir::VarId v) {
        Sites& s = m_sites[std::size_t(v.index)];
        m_out.vars[std::size_t(v.index)].used = true;
        if (m_call < 0) s.in_function = true;
        else s.call = s.call == -2 || s.call == m_call ? m_call : -3;
        if (std::find(m_loops.begin(), m_loops.end(), v.index) == m_loops.end()) s.outside_its_loop = true;
    }
    void write(ir::VarId v) {
        meet(v);
        m_sites[std::size_t(v.index)].assigned = true;
    }
    void tile(ir::TileVarId t) {
        if (t.valid()) m_out.tiles[std::size_t(t.index)].used = true;
    }
    void expression(ir::ExprId id) {
        ir::for_each_below(m_f, id, [&](const ir::Expr& e) {
            if (e.op == ir::ExprOp::var) meet(e.var);
            if (e.op == ir::ExprOp::valid_dim) tile(e.tile);
            if (e.op == ir::ExprOp::address || e.op == ir::ExprOp::dim) m_out.tensors[std::size_t(e.tensor.index)].used = true;
        });
    }

    void body(const ir::Body& b) {
        for (const ir::Stmt& s : b) {
            ir::for_each_expression(s, [&](ir::ExprId e) { expression(e); });
            statement(s);
        }
    }
    void statement(const ir::Stmt& s) {
        std::visit(on{
                       [&](const ir::Assign& a) { write(a.var); },
                       [&](const ir::TileBind& b) { bind(b); },
                       [&](const ir::TensorBind& b) {
                           if (b.alias_of.valid()) m_out.tensors[std::size_t(b.alias_of.index)].used = true;
                       },
                       [&](const ir::Op& op) { operation(op); },
                       [&](const ir::Loop& l) {
                           m_sites[std::size_t(l.var.index)].is_loop = true;
                           m_loops.push_back(l.var.index);
                           meet(l.var);
                           body(l.body);
                           m_loops.pop_back();
                       },
                       [&](const ir::Forever& l) { body(l.body); },
                       [&](const ir::Branch& b) { body(b.then), body(b.otherwise); },
                       [&](const ir::VectorCall& c) {
                           for (ir::TileVarId t : c.tiles) tile(t);
                           lock(c.locks);
                           inside(c.body);
                       },
                       [&](const ir::SimtLaunch& l) {
                           for (const ir::OperandValue& o : l.arguments) operand(o);
                           lock(l.locks);
                           inside(l.body);
                       },
                       [&](const ir::StageScope& c) { body(c.body); },
                       [&](const ir::HelperScope& c) { body(c.body); },
                       [](const auto&) {},
                   },
                   s.what);
    }
    void inside(const ir::Body& b) {
        m_call = m_calls++;
        body(b);
        m_call = -1;
    }
    void lock(const std::vector<ir::TileVarId>& tiles) {
        for (ir::TileVarId t : tiles) m_out.tiles[std::size_t(t.index)].mutex = true;
    }
    void operand(const ir::OperandValue& o) {
        std::visit(on{
                       [&](ir::TileVarId t) { tile(t); },
                       [&](ir::TensorId t) { m_out.tensors[std::size_t(t.index)].used = true; },
                       [&](const ir::MemoryRef& m) { tile(m.tile); },
                       [&](const ir::GroupRef& g) { m_out.decls[std::size_t(g.decl.index)].used = true; },
                       [&](const ir::MixedList& l) {
                           for (ir::TileVarId t : l.tiles) tile(t);
                           for (ir::TensorId t : l.tensors) m_out.tensors[std::size_t(t.index)].used = true;
                       },
                       [](const auto&) {},
                   },
                   o);
    }
    void operation(const ir::Op& op) {
        for (const ir::OperandValue& o : op.operands) operand(o);
        for (const ir::AttributeValue& a : op.attributes) {
            if (const auto* t = std::get_if<ir::TileVarId>(&a)) tile(*t);
            if (const auto* t = std::get_if<ir::TensorId>(&a)) m_out.tensors[std::size_t(t->index)].used = true;
        }
        for (ir::VarId v : op.results) write(v);
        lock(op.locks);
        if (Facts::by_columns(m_f, op))
            for (const ir::OperandValue& o : op.operands)
                if (const auto* t = std::get_if<ir::TileVarId>(&o)) m_out.tiles[std::size_t(t->index)].address = true;
        auto tile_at = [&](std::size_t i) { return i < op.operands.size() ? std::get_if<ir::TileVarId>(&op.operands[i]) : nullptr; };
        switch (op.row->semantics) {
        case Semantics::set_validshape:
            if (const auto* t = tile_at(0)) m_reshaped.push_back(*t);
            if (const auto* g = std::get_if<ir::GroupRef>(&op.operands[0])) m_out.decls[std::size_t(g->decl.index)].dynamic = true;
            break;
        case Semantics::set_stride:
            if (const auto* t = std::get_if<ir::TensorId>(&op.operands[0])) {
                m_out.tensors[std::size_t(t->index)].restrided = m_out.tensors[std::size_t(t->index)].object = true;
            }
            break;
        case Semantics::move: // a split move rounds its source up
            if (const auto* t = tile_at(1); t && m_f[*t].type.memory == isa::MemorySpace::acc) m_reshaped.push_back(*t);
            break;
        case Semantics::fillpad: // a padded source is read through an alias without padding
            if (const auto* t = tile_at(1); t && m_f[*t].type.pad != isa::TilePad::null) m_out.tiles[std::size_t(t->index)].address = true;
            break;
        case Semantics::dump:
            if (const auto* t = tile_at(0); t && m_f[*t].type.memory == isa::MemorySpace::acc) m_reshaped.push_back(*t);
            break;
        case Semantics::ssbuf_store:
        case Semantics::ssbuf_load:
            if (const auto* r = std::get_if<ir::StructRef>(&op.operands[0])) m_out.shared[std::size_t(r->structure.index)] = true;
            break;
        default: break;
        }
    }
    void bind(const ir::TileBind& b) {
        m_binds.push_back(&b);
        Facts::Tile& to = m_out.tiles[std::size_t(b.var.index)];
        to.written = true;
        if (const auto* v = std::get_if<ir::SubviewOf>(&b.source)) {
            to.own = to.dynamic = true;
            m_out.tiles[std::size_t(v->base.index)].address = true;
        }
        if (const auto* v = std::get_if<ir::ViewOf>(&b.source)) {
            to.own = true;
            m_out.tiles[std::size_t(v->base.index)].address = true;
        }
    }

    void settle_vars() {
        for (std::size_t i = 0; i < m_sites.size(); ++i) {
            const Sites& s = m_sites[i];
            Facts::Var& v = m_out.vars[i];
            if (s.is_loop && !s.assigned && !s.outside_its_loop) v.home = Facts::Home::loop;
            else if (!s.in_function && s.call >= 0 && s.assigned) v.home = Facts::Home::vector, v.call = s.call;
            else if (!s.in_function && s.call >= 0 && s.is_loop) v.home = Facts::Home::vector, v.call = s.call;
        }
        for (const ir::TileDecl& d : m_f.decls) // a cursor starts at its last slot
            if (d.cursor.valid()) m_out.vars[std::size_t(d.cursor.index)].home = Facts::Home::function;
    }

    static std::vector<ir::TileVarId> sources(const ir::TileBind& b) {
        return std::visit(on{[](const ir::AliasOf& a) { return std::vector{a.tile}; }, [](const ir::SubviewOf& v) { return std::vector{v.base}; },
                             [](const ir::ViewOf& v) { return std::vector{v.base}; }, [](const ir::ChoiceOf& c) { return std::vector{c.then, c.otherwise}; },
                             [](const ir::SlotOf&) { return std::vector<ir::TileVarId>{}; }},
                          b.source);
    }

    void settle_tiles() {
        auto& tiles = m_out.tiles;
        for (bool again = true; again;) { // what a tile needs, the tiles it comes from need too
            again = false;
            for (const ir::TileBind* b : m_binds) {
                const Facts::Tile to = tiles[std::size_t(b->var.index)];
                for (ir::TileVarId s : sources(*b)) {
                    Facts::Tile& from = tiles[std::size_t(s.index)];
                    const Facts::Tile before = from;
                    from.used = from.used || to.used || to.mutex;
                    from.mutex = from.mutex || to.mutex;
                    from.address = from.address || to.address;
                    again = again || before.used != from.used || before.mutex != from.mutex || before.address != from.address;
                }
            }
        }
        std::vector<bool> several(tiles.size());
        std::vector<ir::TileDeclId> only(tiles.size());
        for (const ir::TileBind* b : m_binds) {
            const auto i = std::size_t(b->var.index);
            const auto* slot = std::get_if<ir::SlotOf>(&b->source);
            if (!slot || m_f[slot->decl].slots() != 1 || (only[i].valid() && only[i] != slot->decl) || !(m_f[slot->decl].type == m_f[b->var].type)) several[i] = true;
            else only[i] = slot->decl;
            if (slot && tiles[i].used) m_out.decls[std::size_t(slot->decl.index)].used = true;
            if (slot && tiles[i].address) m_out.decls[std::size_t(slot->decl.index)].addresses = true;
        }
        for (std::size_t i = 0; i < tiles.size(); ++i)
            if (only[i].valid() && !several[i]) tiles[i].direct = only[i];
        // Whose valid shape changes has it at run time; handles of one variable agree on it.
        for (ir::TileVarId t : m_reshaped) tiles[std::size_t(t.index)].dynamic = true;
        for (std::size_t i = 0; i < m_out.decls.size(); ++i)
            if (!m_f.decls[i].type.fixed_valid) m_out.decls[i].dynamic = true;
        for (bool again = true; again;) {
            again = false;
            auto raise = [&](bool& flag) {
                again = again || !flag;
                flag = true;
            };
            for (std::size_t i = 0; i < tiles.size(); ++i) {
                bool any = tiles[i].dynamic || !m_f.tiles[i].type.fixed_valid;
                for (ir::TileDeclId d : m_f.tiles[i].may_be) any = any || m_out.decls[std::size_t(d.index)].dynamic;
                if (!any) continue;
                if (!tiles[i].dynamic) raise(tiles[i].dynamic);
                for (ir::TileDeclId d : m_f.tiles[i].may_be)
                    if (!m_out.decls[std::size_t(d.index)].dynamic) raise(m_out.decls[std::size_t(d.index)].dynamic);
            }
            for (const ir::TileBind* b : m_binds)
                if (!std::holds_alternative<ir::ViewOf>(b->source))
                    for (ir::TileVarId s : sources(*b)) {
                        bool &from = tiles[std::size_t(s.index)].dynamic, &to = tiles[std::size_t(b->var.index)].dynamic;
                        if (from != to) raise(from ? to : from);
                    }
        }
    }

    const ir::Function& m_f;
    Facts m_out;
    std::vector<Sites> m_sites;
    std::vector<std::int32_t> m_loops;
    std::vector<const ir::TileBind*> m_binds;
    std::vector<ir::TileVarId> m_reshaped;
    std::int32_t m_call = -1, m_calls = 0;
};

} // namespace

bool Facts::by_columns(const ir::Function& f, const ir::Op& op) {
    switch (op.row->semantics) {
    case Semantics::elementwise:
    case Semantics::axpy_like:
    case Semantics::clobbering:
    case Semantics::fill:
    case Semantics::cast:
    case Semantics::part: break;
    default: return false;
    }
    if (op.row->pipe != isa::PipeRule::v) return false;
    bool any = false;
    for (const ir::OperandValue& o : op.operands)
        if (const auto* t = std::get_if<ir::TileVarId>(&o)) {
            const isa::TileType& type = f[*t].type;
            if (type.memory != isa::MemorySpace::vec || (type.layout != isa::Layout::dn && type.shape[1] != 1)) return false;
            any = true;
        }
    return any;
}

std::size_t Facts::ids_per_slot(const ir::Function& f, ir::TileVarId t) {
    std::size_t n = 0;
    for (ir::TileDeclId d : f[t].may_be)
        for (const auto& slot : f[d].mutex) n = std::max(n, slot.size());
    return n;
}

Facts facts_of(const ir::Function& f) { return Finder(f).find(); }

} // namespace pto::emit
