/// Memories and element types, as the catalogue's rows say. Source: language 3, 8.2.
#include "engine/check/context.hpp"

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

void check_op(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    if (op.row->pipe == isa::PipeRule::in_vector) return; // registers carry their own types; the resolver checked them
    for (std::size_t i = 0; i < op.row->operands.size(); ++i) {
        const isa::Operand& rule = op.row->operands[i];
        if (const ir::TileVar* t = c.tile(op, i)) {
            if (!(rule.memories >> unsigned(t->type.memory) & 1u)) {
                c.report(Code::operand_memory, c.at(op, stmt, i),
                         ticked(t->name) + " lies in " + std::string(name(t->type.memory)) + "; `" + std::string(rule.name) + "` of " + std::string(op.row->call_name()) +
                             " lies in " + memories_text(rule.memories));
                continue;
            }
            if (!(rule.dtypes >> unsigned(t->type.dtype) & 1u))
                c.report(Code::operand_type, c.at(op, stmt, i),
                         ticked(t->name) + " has dtype " + std::string(language_name(t->type.dtype)) + "; `" + std::string(rule.name) + "` of " +
                             std::string(op.row->call_name()) + " takes " + types_text(rule.dtypes));
        } else if (const ir::Tensor* x = c.tensor(op, i)) {
            if (!(rule.dtypes >> unsigned(x->dtype) & 1u))
                c.report(Code::operand_type, c.at(op, stmt, i),
                         ticked(x->name) + " has dtype " + std::string(language_name(x->dtype)) + "; " + std::string(op.row->call_name()) + " takes " +
                             types_text(rule.dtypes));
        }
    }
}

} // namespace

void check_operands(Context& c) {
    each_statement(c.f.body, [&](const ir::Stmt& s) {
        if (const auto* op = std::get_if<ir::Op>(&s.what)) check_op(c, *op, s);
    });
}

} // namespace pto::check
