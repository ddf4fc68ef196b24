/// What an operation's operands and keywords are in C++, and the row's template filled with them. Source: codegen 2.
#include "engine/emit/writer.hpp"

#include <cstdlib>
#include <iterator>

namespace pto::emit {

using S = isa::Semantics;

namespace {
constexpr std::string_view relations[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
}

std::string Writer::operand(const ir::OperandValue& v) const {
    return std::visit(on{
                          [&](std::monostate) -> std::string { return ""; },
                          [&](ir::TileVarId t) -> std::string { return tile(t); },
                          [&](ir::TensorId t) -> std::string { return tensor(t); },
                          [&](ir::ExprId e) -> std::string { return expr(e); },
                          [&](const ir::ExprList& l) -> std::string { return l.empty() ? "" : expr(l[0]); },
                          [&](ir::RegId r) -> std::string { return reg(r); },
                          [&](const ir::StructRef& s) -> std::string { return record(s); },
                          [&](const ir::MemoryRef&) -> std::string { return memory(v, false); },
                          [&](const ir::GroupRef& g) -> std::string { return decl(g.decl); },
                          [&](const ir::MixedList&) -> std::string { return ""; },
                          [&](const std::string& s) -> std::string { return s; },
                      },
                      v);
}

std::string Writer::list_item(const ir::OperandValue& v, std::size_t i) const {
    if (const auto* l = std::get_if<ir::ExprList>(&v); l && i < l->size()) return expr((*l)[i]);
    return "0";
}

const ir::AttributeValue* Writer::given(const ir::Op& op, std::string_view name) const {
    const int i = op.row->keyword_index(name);
    if (i < 0 || std::size_t(i) >= op.attributes.size() || std::holds_alternative<std::monostate>(op.attributes[std::size_t(i)])) return nullptr;
    return &op.attributes[std::size_t(i)];
}

std::string Writer::attribute(const ir::Op& op, std::string_view name) const {
    const ir::AttributeValue* a = given(op, name);
    if (!a) return "";
    return std::visit(on{
                          [](std::monostate) -> std::string { return ""; },
                          [](const isa::EnumValue& e) { return std::string(isa::name(e)); },
                          [](isa::DType t) { return c_type(t); },
                          [](std::int64_t v) { return std::to_string(v); },
                          [](double v) { return real_literal(v); },
                          [](bool v) -> std::string { return v ? "true" : "false"; },
                          [&](ir::ExprId e) { return expr(e); },
                          [&](ir::TileVarId t) { return tile(t); },
                          [&](ir::TensorId t) { return tensor(t); },
                          [&](const ir::ExprList& l) { return l.empty() ? std::string{} : expr(l[0]); },
                          [](const std::string& s) { return s; },
                      },
                      *a);
}

std::int64_t Writer::number(const ir::Op& op, std::string_view name, std::int64_t otherwise) const {
    const ir::AttributeValue* a = given(op, name);
    if (!a) return otherwise;
    if (const auto* i = std::get_if<std::int64_t>(a)) return *i;
    if (const auto* b = std::get_if<bool>(a)) return *b;
    if (const auto* v = std::get_if<isa::EnumValue>(a)) return v->ordinal;
    if (const auto* e = std::get_if<ir::ExprId>(a)) return m_f.constant(*e).value_or(otherwise);
    return otherwise;
}

/// A scalar operand in the element type it is combined with.
std::string Writer::scalar(const ir::Op& op, ir::ExprId e) const {
    const bool first = op.row->semantics == S::fill || op.row->semantics == S::fill_index || op.row->semantics == S::select;
    const std::size_t at = first || op.row->family == "registers" ? 0 : 1;
    isa::DType t = m_f[e].dtype;
    if (at < op.operands.size()) {
        if (const auto* x = std::get_if<ir::TileVarId>(&op.operands[at])) t = m_f[*x].type.dtype;
        if (const auto* x = std::get_if<ir::RegId>(&op.operands[at])) t = m_f[*x].dtype;
    }
    return expr_as(e, t);
}

/// Fills a row's template: {0}, {0.1}, {T0}, {RT0}, {r0}, {keyword}; '|' separates the two forms of an operand that may be a scalar, of an
/// optional operand (left out, given) or of dim=.
/// Empty when there is no form for these operands.
std::string Writer::form(const ir::Op& op) const {
    std::string_view text = op.row->emit;
    if (const std::size_t bar = text.find('|'); bar != std::string_view::npos) {
        bool second = false;
        for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i) {
            const isa::OperandKind k = op.row->operands[i].kind;
            if (k == isa::OperandKind::tile_or_scalar || k == isa::OperandKind::reg_or_scalar) second = std::holds_alternative<ir::ExprId>(op.operands[i]);
            if (k == isa::OperandKind::reg_or_mask) second = is_mask(op.operands[i]);
            if (op.row->operands[i].optional) second = !std::holds_alternative<std::monostate>(op.operands[i]);
        }
        if (op.row->keyword("dim")) second = number(op, "dim", 0) == 1;
        text = second ? text.substr(bar + 1) : text.substr(0, bar);
    }
    static const ir::OperandValue none;
    auto at = [&](std::size_t n) -> const ir::OperandValue& {
        if (n < op.operands.size() && !std::holds_alternative<std::monostate>(op.operands[n])) return op.operands[n];
        const int instead = m_a5 && n < op.row->operands.size() ? op.row->operands[n].stand_in : -1; // a 950 leaves such scratch untouched
        return instead >= 0 ? op.operands[std::size_t(instead)] : none;
    };
    const bool typed_scalars = op.row->family == "vector" || op.row->family == "registers";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '{') {
            out += text[i];
            continue;
        }
        const std::size_t end = text.find('}', i);
        const std::string key(text.substr(i + 1, end - i - 1));
        i = end;
        auto index = [&](std::size_t from) { return std::size_t(std::strtoul(key.c_str() + from, nullptr, 10)); };
        if (key[0] >= '0' && key[0] <= '9') {
            const std::size_t dot = key.find('.');
            const ir::OperandValue& v = at(index(0));
            if (std::holds_alternative<std::monostate>(v)) return {}; // an operand that the C++ needs was left out
            if (dot != std::string::npos) out += list_item(v, index(dot + 1));
            else if (const auto* e = std::get_if<ir::ExprId>(&v); e && typed_scalars) out += scalar(op, *e);
            else out += operand(v);
        } else if (key.rfind("RT", 0) == 0) {
            out += type_of(operand(at(index(2))));
        } else if (key[0] == 'T' && key.size() > 1 && key[1] <= '9') {
            if (const auto* t = std::get_if<ir::TileVarId>(&at(index(1)))) out += c_type(m_f[*t].type.dtype);
            if (const auto* t = std::get_if<ir::TensorId>(&at(index(1)))) out += c_type(m_f[*t].dtype);
        } else if (key[0] == 'r' && key.size() > 1 && key[1] >= '0' && key[1] <= '9') {
            const std::size_t n = index(1);
            out += n < op.registers.size() ? reg(op.registers[n]) : n < op.results.size() ? var(op.results[n]) : "";
        } else if (key == "layout") {
            static constexpr std::string_view parts[] = {"EVEN", "ODD", "P2", "P3"};
            out += parts[number(op, "layout", 0) & 3];
        } else if (key == "mode" && attribute(op, "mode").empty()) {
            out += op.row->family == "registers" ? (op.row->semantics == S::reg_barrier ? "VST_VLD" : "ZEROING") : "CAST_ROUND";
        } else if (key == "cmp_type") { // a relation as a number
            const std::int64_t type = number(op, key, 0);
            if (type < 0 || type >= std::int64_t(std::size(relations))) return {};
            out += relations[type];
        } else {
            out += attribute(op, key);
        }
    }
    return out;
}

} // namespace pto::emit
