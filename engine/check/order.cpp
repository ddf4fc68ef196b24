/// Orders of statements that do something else than they seem to: a valid shape that comes after the load it was meant for, a valid shape
/// set on one path only, an input that a fused operation has overwritten. Source: language 3.5, 8.3.
#include "engine/check/context.hpp"

namespace pto::check {
namespace {

bool binds(const ir::Stmt& s, ir::TileVarId tile) {
    const auto* b = std::get_if<ir::TileBind>(&s.what);
    return b && b->var == tile;
}

/// What a statement and everything inside does with a tile variable.
struct Use {
    bool reads = false, writes = false, shapes = false, binds = false;
};
Use use_of(const Context& c, const ir::Stmt& stmt, ir::TileVarId tile) {
    Use u;
    ir::Body one{stmt};
    ir::for_each_statement(one, [&](const ir::Stmt& s) {
        u.binds = u.binds || binds(s, tile);
        if (const auto* op = std::get_if<ir::Op>(&s.what); op && op->row->semantics == isa::Semantics::set_validshape && !op->operands.empty())
            if (const auto* t = std::get_if<ir::TileVarId>(&op->operands[0])) u.shapes = u.shapes || *t == tile;
        for (const ir::TileAccess& a : ir::tile_accesses(s))
            if (a.tile == tile) {
                u.reads = u.reads || isa::reads(a.role);
                u.writes = u.writes || isa::writes(a.role);
            }
    });
    (void)c;
    return u;
}

/// Whether a body sets the valid shape of a tile directly in it, and where.
const ir::Stmt* sets_shape(const ir::Body& body, ir::TileVarId tile) {
    for (const ir::Stmt& s : body)
        if (const auto* op = std::get_if<ir::Op>(&s.what); op && op->row->semantics == isa::Semantics::set_validshape && !op->operands.empty())
            if (const auto* t = std::get_if<ir::TileVarId>(&op->operands[0]); t && *t == tile) return &s;
    return nullptr;
}

class Order {
  public:
    explicit Order(Context& c) : c(c) {}

    void body(const ir::Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            const ir::Stmt& s = stmts[i];
            if (const auto* op = std::get_if<ir::Op>(&s.what)) {
                if (op->row->semantics == isa::Semantics::load) late_shape(stmts, i, *op);
                if (op->row->semantics == isa::Semantics::clobbering) clobbered(stmts, i, *op);
            }
            if (const auto* branch = std::get_if<ir::Branch>(&s.what)) one_path(stmts, i, *branch);
            ir::for_each_body(s, [&](const ir::Body& inside) { body(inside); });
        }
    }

  private:
    const ir::TileVarId* tile_of(const ir::Op& op, std::size_t operand) const {
        return operand < op.operands.size() ? std::get_if<ir::TileVarId>(&op.operands[operand]) : nullptr;
    }

    /// load(t) and then set_validshape(t) with nothing in between that uses t: the load moved the old window.
    void late_shape(const ir::Body& stmts, std::size_t at, const ir::Op& load) {
        const ir::TileVarId* tile = tile_of(load, 0);
        if (!tile) return;
        for (std::size_t i = at; i-- > 0;) {
            if (binds(stmts[i], *tile)) break;
            if (use_of(c, stmts[i], *tile).shapes) return; // it was set for this load, and is set again for what follows
        }
        for (std::size_t i = at + 1; i < stmts.size(); ++i) {
            Use u = use_of(c, stmts[i], *tile);
            if (u.binds || u.reads || u.writes) return;
            if (!u.shapes) continue;
            const auto* set = std::get_if<ir::Op>(&stmts[i].what);
            if (!set) return;
            const ir::ExprList* shape = c.list(*set, 1);
            const isa::TileType& type = c.f[*tile].type;
            bool constant = shape && shape->size() == 2 && c.constant((*shape)[0]) && c.constant((*shape)[1]);
            if (constant && *c.constant((*shape)[0]) == type.shape[0] && *c.constant((*shape)[1]) == type.shape[1]) return;
            if (constant) return; // a fixed smaller shape for the work that follows is a choice, a computed one is a tail
            Diagnostic& d = c.report(Code::valid_shape_late, stmts[i].at,
                                     "the valid shape of " + ticked(c.f[*tile].name) + " is set after the load: that one moved the shape the slot had before, up to " +
                                         shape_text(type.shape[0], type.shape[1]));
            if (d.labels.empty()) d.labels.push_back({stmts[at].at, "the load"});
            if (d.advice.empty()) d.advice.push_back("set the valid shape before the load");
            return;
        }
    }

    /// A valid shape set in one arm only, with the tile picked before and used after.
    void one_path(const ir::Body& stmts, std::size_t at, const ir::Branch& branch) {
        for (const ir::Body* arm : {&branch.then, &branch.otherwise}) {
            const ir::Body& other = arm == &branch.then ? branch.otherwise : branch.then;
            for (const ir::Stmt& s : *arm) {
                const auto* op = std::get_if<ir::Op>(&s.what);
                if (!op || op->row->semantics != isa::Semantics::set_validshape) continue;
                const ir::TileVarId* tile = tile_of(*op, 0);
                if (!tile || sets_shape(other, *tile)) continue;
                bool used_in_arm = false, bound = false, shaped = false, used_after = false;
                for (const ir::Stmt& inside : *arm) {
                    Use u = use_of(c, inside, *tile);
                    used_in_arm = used_in_arm || u.reads || u.writes || u.binds;
                }
                for (std::size_t i = at; i-- > 0 && !bound;) {
                    shaped = shaped || use_of(c, stmts[i], *tile).shapes;
                    bound = binds(stmts[i], *tile);
                }
                for (std::size_t i = at + 1; i < stmts.size() && !used_after; ++i) {
                    Use u = use_of(c, stmts[i], *tile);
                    if (u.binds || u.shapes) break;
                    used_after = u.reads || u.writes;
                }
                // A slot of a ring keeps what an earlier turn set: the other path works with that, not with the full shape.
                if (!bound || shaped || used_in_arm || !used_after) continue;
                bool ring = false;
                for (ir::TileDeclId d : c.f[*tile].may_be) ring = ring || c.f[d].slots() > 1;
                c.report(Code::valid_shape_path, s.at,
                         "the valid shape of " + ticked(c.f[*tile].name) + " is set on this path only; on the other one it is what " +
                             (ring ? "an earlier turn left in the slot" : "was set before, in an earlier turn"))
                    .advice.push_back("set it on both paths");
            }
        }
    }

    /// After a fused operation its first input holds an intermediate: reading it next is most likely a mistake.
    void clobbered(const ir::Body& stmts, std::size_t at, const ir::Op& op) {
        const ir::TileVarId *input = tile_of(op, 1), *out = tile_of(op, 0);
        if (!input || (out && *out == *input)) return;
        for (std::size_t i = at + 1; i < stmts.size(); ++i) {
            Use u = use_of(c, stmts[i], *input);
            if (u.reads) {
                Diagnostic& d = c.report(Code::clobbered_input, stmts[i].at,
                                         ticked(c.f[*input].name) + " is read here, but " + std::string(op.row->call_name()) + " has overwritten it with its intermediate result");
                if (d.labels.empty()) d.labels.push_back({stmts[at].at, "overwritten here"});
                return;
            }
            if (u.binds || u.writes) return;
        }
    }

    Context& c;
};

} // namespace

void check_order(Context& c) { Order(c).body(c.f.body); }

} // namespace pto::check
