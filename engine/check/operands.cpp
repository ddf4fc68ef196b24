/// Memories and element types, as the catalogue's rows say. Source: language 3, 8.2.
#include "engine/check/context.hpp"

#include "engine/machine/limits.hpp"

#include <cmath>

namespace pto::check {
namespace {

std::string memories_text(std::uint32_t set) {
    std::string text;
    for (int i = 0; i < 10; ++i)
        if (set >> i & 1u) {
            if (!text.empty()) text += " or ";
            text += name(isa::MemorySpace(i));
        }
    return text;
}

std::string types_text(std::uint32_t set) {
    std::string text;
    for (int i = 0; i < isa::dtype_count; ++i)
        if (isa::DType t = isa::DType(i); (set >> i & 1u) && !language_name(t).empty()) {
            if (!text.empty()) text += ", ";
            text += language_name(t);
        }
    return text;
}

/// A number with a fraction meets elements without one.
void check_scalar(Context& c, const ir::Op& op, const ir::Stmt& stmt, std::size_t i) {
    const auto* value = std::get_if<ir::ExprId>(&op.operands[i]);
    const ir::TileVar* out = c.tile(op, 0);
    if (!value || !value->valid() || !out || op.pipe != isa::Pipe::v || !isa::is_int(out->type.dtype)) return;
    const isa::OperandKind kind = op.row->operands[i].kind;
    if (kind != isa::OperandKind::tile_or_scalar && op.row->semantics != isa::Semantics::elementwise && op.row->semantics != isa::Semantics::fill) return;
    const ir::Expr& e = c.f[*value];
    if (!isa::is_float(e.dtype)) return;
    if (e.op == ir::ExprOp::real && e.real == std::trunc(e.real)) return;
    if (e.op == ir::ExprOp::integer) return;
    c.report(Code::type_mismatch, c.at(op, stmt, i),
             "the scalar is a float and " + ticked(out->name) + " has dtype " + std::string(language_name(out->type.dtype)) + ": its fraction is lost")
        .fix = Fix{"write an integer, or work in a float tile", {}};
}

void check_op(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    if (op.row->pipe == isa::PipeRule::in_vector) return; // registers carry their own types; the resolver checked them
    // A copy that does not know the type is refused; arithmetic on it is what the device library has no form for.
    const bool copies = op.row->semantics == isa::Semantics::load || op.row->semantics == isa::Semantics::store;
    bool told = false;
    for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i) {
        const isa::Operand& rule = op.row->operands[i];
        if (const ir::TileVar* t = c.tile(op, i)) {
            if (!(rule.memories >> unsigned(t->type.memory) & 1u)) {
                c.report(Code::operand_memory, c.at(op, stmt, i),
                         ticked(t->name) + " lies in " + std::string(name(t->type.memory)) + "; `" + std::string(rule.name) + "` of " + std::string(op.row->call_name()) +
                             " lies in " + memories_text(rule.memories));
                continue;
            }
            if (!(rule.dtypes >> unsigned(t->type.dtype) & 1u) && !told) {
                Diagnostic& d = c.report(Code::operand_type, c.at(op, stmt, i),
                                         ticked(t->name) + " has dtype " + std::string(language_name(t->type.dtype)) + "; `" + std::string(rule.name) + "` of " +
                                             std::string(op.row->call_name()) + " takes " + types_text(rule.dtypes));
                if (copies) d.severity = Severity::error, told = true;
            }
        } else if (const ir::Tensor* x = c.tensor(op, i)) {
            if (!(rule.dtypes >> unsigned(x->dtype) & 1u) && !told) {
                c.report(Code::operand_type, c.at(op, stmt, i),
                         ticked(x->name) + " has dtype " + std::string(language_name(x->dtype)) + "; " + std::string(op.row->call_name()) + " takes " +
                             types_text(rule.dtypes))
                    .severity = Severity::error;
                told = true;
            }
        } else {
            check_scalar(c, op, stmt, i);
        }
    }
}

/// Every id that the tiles of one statement may carry is taken before it runs.
void check_locks(Context& c, const ir::Stmt& stmt, const std::vector<ir::TileVarId>& tiles) {
    if (!c.kernel.auto_mutex || tiles.size() <= 1) return;
    std::set<std::int32_t> ids;
    std::size_t most = 0; // a tile that may lie in several slots carries one slot's ids
    for (ir::TileVarId t : tiles) {
        std::size_t carries = 0;
        for (ir::TileDeclId d : c.f[t].may_be)
            for (const auto& slot : c.f[d].mutex) {
                carries = std::max(carries, slot.size());
                ids.insert(slot.begin(), slot.end());
            }
        most += carries;
    }
    most = std::min(most, ids.size());
    if (most <= machine::most_locks) return;
    c.report(Code::mutex_ids, stmt.at, "the tiles of this call carry up to " + std::to_string(most) + " mutex ids; one operation holds at most " + std::to_string(machine::most_locks)).fix =
        Fix{"give tiles that are used together one id, or pass fewer of them", {}};
}

} // namespace

void check_operands(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        std::vector<ir::TileVarId> tiles;
        if (const auto* op = std::get_if<ir::Op>(&s.what)) {
            check_op(c, *op, s);
            for (const ir::OperandValue& o : op->operands) {
                if (const auto* t = std::get_if<ir::TileVarId>(&o); t && t->valid()) tiles.push_back(*t);
                if (const auto* l = std::get_if<ir::MixedList>(&o)) tiles.insert(tiles.end(), l->tiles.begin(), l->tiles.end());
            }
        } else if (const auto* call = std::get_if<ir::VectorCall>(&s.what)) {
            tiles = call->tiles;
        }
        check_locks(c, s, tiles);
    });
}

} // namespace pto::check
