#include "engine/check/context.hpp"

#include <algorithm>
#include <cstdio>

namespace pto::check {

Context::Context(const ir::Kernel& kernel, const ir::Function& function, const machine::Chip& chip, Diagnostics& out)
    : kernel(kernel), f(function), chip(chip), m_out(out) {
    ir::for_each_statement(f.body, [&](const ir::Stmt& s) {
        if (const auto* op = std::get_if<ir::Op>(&s.what); op && op->row->semantics == isa::Semantics::set_validshape && !op->operands.empty()) {
            if (const auto* t = std::get_if<ir::TileVarId>(&op->operands[0])) {
                m_set_tiles.insert(t->index);
                for (ir::TileDeclId d : f[*t].may_be) m_set_decls.insert(d.index);
            }
            if (const auto* g = std::get_if<ir::GroupRef>(&op->operands[0])) m_set_decls.insert(g->decl.index);
        }
        if (const auto* bind = std::get_if<ir::TileBind>(&s.what))
            if (std::holds_alternative<ir::SubviewOf>(bind->source) || std::holds_alternative<ir::ViewOf>(bind->source)) m_views.insert(bind->var.index);
    });
}

Diagnostic& Context::report(Code code, Span at, std::string message) {
    for (Diagnostic& d : m_out)
        if (d.code == code && d.at == at && d.message == message) return d;
    m_out.push_back(diagnose(code, at, std::move(message)));
    return m_out.back();
}

const ir::TileVar* Context::tile(const ir::Op& op, std::size_t operand) const {
    if (operand >= op.operands.size()) return nullptr;
    const auto* t = std::get_if<ir::TileVarId>(&op.operands[operand]);
    return t && t->valid() ? &f[*t] : nullptr;
}

const ir::TileVar* Context::tile(const ir::Op& op, std::string_view operand) const {
    for (std::size_t i = 0; i < op.row->operands.size(); ++i)
        if (op.row->operands[i].name == operand) return tile(op, i);
    return nullptr;
}

const ir::Tensor* Context::tensor(const ir::Op& op, std::size_t operand) const {
    if (operand >= op.operands.size()) return nullptr;
    const auto* t = std::get_if<ir::TensorId>(&op.operands[operand]);
    return t && t->valid() ? &f[*t] : nullptr;
}

const ir::ExprList* Context::list(const ir::Op& op, std::size_t operand) const {
    return operand < op.operands.size() ? std::get_if<ir::ExprList>(&op.operands[operand]) : nullptr;
}

Span Context::at(const ir::Op& op, const ir::Stmt& stmt, std::size_t operand) const {
    return operand < op.operand_spans.size() && op.operand_spans[operand].valid() ? op.operand_spans[operand] : stmt.at;
}

const ir::AttributeValue* Context::attribute(const ir::Op& op, std::string_view keyword) const {
    int i = op.row->keyword_index(keyword);
    return i >= 0 && std::size_t(i) < op.attributes.size() ? &op.attributes[std::size_t(i)] : nullptr;
}

bool Context::given(const ir::Op& op, std::string_view keyword) const {
    const ir::AttributeValue* a = attribute(op, keyword);
    return a && !std::holds_alternative<std::monostate>(*a);
}

std::optional<std::int64_t> Context::integer(const ir::Op& op, std::string_view keyword) const {
    const ir::AttributeValue* a = attribute(op, keyword);
    if (!a) return std::nullopt;
    if (const auto* i = std::get_if<std::int64_t>(a)) return *i;
    if (const auto* e = std::get_if<ir::ExprId>(a)) return constant(*e);
    return std::nullopt;
}

std::optional<std::array<std::int32_t, 2>> Context::known_valid(ir::TileVarId id) const {
    const ir::TileVar& t = f[id];
    if (m_views.count(id.index)) return std::nullopt;
    if (t.type.fixed_valid) return t.type.valid;
    if (m_set_tiles.count(id.index)) return std::nullopt;
    for (ir::TileDeclId d : t.may_be)
        if (m_set_decls.count(d.index)) return std::nullopt;
    return t.type.shape;
}

std::optional<std::array<std::int32_t, 2>> Context::known_valid(const ir::Op& op, std::size_t operand) const {
    if (!tile(op, operand)) return std::nullopt;
    return known_valid(std::get<ir::TileVarId>(op.operands[operand]));
}

std::string hex(std::int64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string shape_text(std::int64_t rows, std::int64_t columns) {
    std::string text = std::to_string(rows);
    text += 'x';
    text += std::to_string(columns);
    return text;
}

} // namespace pto::check
