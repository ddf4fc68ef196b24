#include "engine/ir/read_parts.hpp"

#include <cstdlib>

namespace pto::ir {

ExprId ExpressionReader::expr() {
    skip();
    if (peek() == '-' && !word_char(peek(1))) {
        ++m_at;
        return {};
    }
    Expr e = primary();
    if (peek() == ':' && word_char(peek(1))) {
        std::size_t before = m_at++;
        std::string w = peek_word();
        if (auto t = isa::find_dtype(w)) {
            m_at += w.size();
            e.dtype = *t;
        } else {
            m_at = before; // the colon of a sub-view
        }
    }
    return m_f->add(std::move(e));
}

Expr ExpressionReader::primary() {
    Expr e;
    char c = peek();
    if (c == '(') return parenthesised();
    if (digit(c) || (c == '-' && word_char(peek(1)))) return literal();
    std::string w = peek_word();
    if (w == "inf" || w == "nan") return literal();
    word();
    if (w[0] == '%') { // %u.0.valid[0]
        std::size_t dot = w.rfind('.');
        if (w.substr(dot) != ".valid") fail("`" + w + "` is no expression");
        e.op = ExprOp::valid_dim;
        e.tile = TileVarId{last_number(w.substr(0, dot))};
        eat("[");
        e.integer = number();
        eat("]");
        return e;
    }
    if (w[0] == '&') {
        e.op = ExprOp::address;
        e.tensor = TensorId{std::atoi(w.c_str() + 2)};
        return e;
    }
    if (w == "true" || w == "false") {
        e.dtype = isa::DType::boolean;
        e.integer = w == "true";
        return e;
    }
    static constexpr std::pair<std::string_view, ExprOp> queries[] = {{"block_idx", ExprOp::block_idx}, {"block_num", ExprOp::block_num},
                                                                      {"subblock_idx", ExprOp::subblock_idx}, {"subblock_num", ExprOp::subblock_num}, {"spr", ExprOp::spr}};
    for (const auto& [text, op] : queries)
        if (w == text) {
            e.op = op;
            return e;
        }
    if (std::int32_t v = last_number(w); v >= 0) {
        e.op = ExprOp::var;
        e.var = VarId{v};
        e.dtype = m_f->vars.at(std::size_t(v)).dtype;
        return e;
    }
    if (peek() == '(') {
        ++m_at;
        if (w == "min" || w == "max") {
            e.op = w == "min" ? ExprOp::min : ExprOp::max;
            e.a = expr();
            eat(",");
            e.b = expr();
            e.dtype = type_of(e.a);
        } else {
            auto t = isa::find_dtype(w);
            if (!t) fail("`" + w + "` is no cast");
            e.op = ExprOp::cast;
            e.dtype = *t;
            e.a = expr();
        }
        eat(")");
        return e;
    }
    if (w[0] == 'g' && w.size() > 6 && w.substr(w.size() - 6) == ".shape") {
        e.op = ExprOp::dim;
        e.tensor = TensorId{std::atoi(w.c_str() + 1)};
        eat("[");
        e.integer = number();
        eat("]");
        return e;
    }
    if (w[0] == 's' && w.size() > 1 && digit(w[1])) return field(w);
    fail("`" + w + "` is no expression");
}

Expr ExpressionReader::field(const std::string& w) {
    Expr e;
    e.op = ExprOp::field;
    e.structure = StructId{std::atoi(w.c_str() + 1)};
    std::string member;
    if (std::size_t dot = w.find('.'); dot != std::string::npos) {
        member = w.substr(dot + 1);
    } else {
        eat("[");
        e.a = expr();
        eat("]");
        std::string rest = word(); // .name
        member = rest.substr(1);
    }
    const auto& fields = m_f->structs.at(std::size_t(e.structure.index)).fields;
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (fields[i].name == member) {
            e.integer = std::int64_t(i);
            e.dtype = fields[i].dtype;
            if (fields[i].length > 0 && peek() == '[') {
                eat("[");
                e.b = expr();
                eat("]");
            }
            return e;
        }
    fail("no field `" + member + "`");
}

Expr ExpressionReader::literal() {
    Expr e;
    std::string rest(m_line.substr(m_at, 60));
    char *end = nullptr, *real_end = nullptr;
    e.integer = std::strtoll(rest.c_str(), &end, 10);
    double real = std::strtod(rest.c_str(), &real_end);
    if (real_end > end) {
        e.op = ExprOp::real;
        e.dtype = isa::DType::fp32;
        e.integer = 0;
        e.real = real;
        end = real_end;
    }
    if (end == rest.c_str()) fail("expected a number at `" + rest + "`");
    m_at += std::size_t(end - rest.c_str());
    return e;
}

Expr ExpressionReader::parenthesised() {
    Expr e;
    eat("(");
    skip();
    if ((peek() == '-' || peek() == '~') && peek(1) == ' ') {
        e.op = peek() == '-' ? ExprOp::negate : ExprOp::bit_not;
        ++m_at;
        e.a = expr();
        e.dtype = type_of(e.a);
        eat(")");
        return e;
    }
    if (accept("not")) {
        e.op = ExprOp::logical_not;
        e.a = expr();
        e.dtype = isa::DType::boolean;
        eat(")");
        return e;
    }
    ExprId a = expr();
    static constexpr std::pair<std::string_view, ExprOp> signs[] = {
        {"//", ExprOp::floor_div}, {"<<", ExprOp::shl}, {">>", ExprOp::shr}, {"==", ExprOp::eq}, {"!=", ExprOp::ne}, {"<=", ExprOp::le}, {">=", ExprOp::ge},
        {"<", ExprOp::lt}, {">", ExprOp::gt}, {"+", ExprOp::add}, {"-", ExprOp::sub}, {"*", ExprOp::mul}, {"/", ExprOp::div}, {"%", ExprOp::mod},
        {"&", ExprOp::bit_and}, {"|", ExprOp::bit_or}, {"^", ExprOp::bit_xor}, {"and", ExprOp::logical_and}, {"or", ExprOp::logical_or}};
    if (accept("if")) {
        e.op = ExprOp::select;
        e.b = a;
        e.a = expr();
        eat("else");
        e.c = expr();
        e.dtype = type_of(e.b);
        eat(")");
        return e;
    }
    for (const auto& [text, op] : signs)
        if (accept(text)) {
            e.op = op;
            e.a = a;
            e.b = expr();
            bool truth = op >= ExprOp::eq && op <= ExprOp::logical_or;
            e.dtype = truth ? isa::DType::boolean : type_of(a);
            eat(")");
            return e;
        }
    eat(")"); // a number in brackets
    return (*m_f)[a];
}

ExprList ExpressionReader::list() {
    ExprList out;
    eat("[");
    while (!accept("]")) {
        out.push_back(expr());
        accept(",");
    }
    return out;
}

} // namespace pto::ir
