/// Scalar arithmetic: folding of constants, types of mixed operands, explicit casts. Source: language reference 1.9.

#include "engine/resolve/target.hpp"

#include <cmath>

namespace pto::resolve {

using isa::DType;
using ir::ExprOp;

namespace {

bool wide(DType t) { return t == DType::index || t == DType::int64; }

/// Type in which two operands meet. int/int and float/float: the wider, left on a tie; int with float: fp32.
DType common_type(DType a, DType b) {
    if (a == DType::boolean) a = DType::int64;
    if (b == DType::boolean) b = DType::int64;
    if (isa::is_float(a) != isa::is_float(b)) return DType::fp32;
    return isa::bits(b) > isa::bits(a) ? b : a;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    if (b == -1) return std::int64_t(0 - std::uint64_t(a));
    std::int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
    if (b == -1) return 0;
    std::int64_t r = a % b;
    return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

std::optional<ExprOp> arithmetic_op(std::string_view op) {
    if (op == "+") return ExprOp::add;
    if (op == "-") return ExprOp::sub;
    if (op == "*") return ExprOp::mul;
    if (op == "/") return ExprOp::div;
    if (op == "//") return ExprOp::floor_div;
    if (op == "%") return ExprOp::mod;
    if (op == "&") return ExprOp::bit_and;
    if (op == "|") return ExprOp::bit_or;
    if (op == "^") return ExprOp::bit_xor;
    if (op == "<<") return ExprOp::shl;
    if (op == ">>") return ExprOp::shr;
    return std::nullopt;
}
bool integers_only(ExprOp op) {
    return op == ExprOp::bit_and || op == ExprOp::bit_or || op == ExprOp::bit_xor || op == ExprOp::shl || op == ExprOp::shr;
}

double as_real(const Value& v) { return v.is(Kind::real) ? v.real : double(v.integer); }

} // namespace

ir::ExprId Target::make(ExprOp op, DType t, ir::ExprId a, ir::ExprId b, Span at) {
    ir::Expr e;
    e.op = op;
    e.dtype = t;
    e.a = a;
    e.b = b;
    e.at = at;
    return m_fn.add(std::move(e));
}

ir::ExprId Target::expr_of(const Value& v, Span at) {
    switch (v.kind) {
    case Kind::boolean:
    case Kind::integer: return literal(v.integer, v.dtype, at);
    case Kind::real: {
        ir::Expr e;
        e.op = ExprOp::real;
        e.dtype = v.dtype;
        e.real = v.real;
        e.at = at;
        return m_fn.add(std::move(e));
    }
    case Kind::scalar:
    case Kind::pointer: return v.expr.valid() ? v.expr : read(ir::VarId{v.id}, at);
    default: return literal(0, DType::index, at); // reported by the caller
    }
}

ir::ExprId Target::cast(ir::ExprId e, DType t, Span at) {
    const ir::Expr& x = m_fn[e];
    if (x.dtype == t || (wide(x.dtype) && wide(t))) return e;
    if (x.op == ExprOp::integer && isa::is_int(t)) return literal(x.integer, t, at);
    if (x.op == ExprOp::integer && isa::is_float(t)) return expr_of(real_value(double(x.integer), t), at);
    if (x.op == ExprOp::real && isa::is_float(t)) return expr_of(real_value(x.real, t), at);
    return make(ExprOp::cast, t, e, {}, at);
}

ir::ExprId Target::expr_as(const Value& v, DType t, Span at) { return cast(expr_of(v, at), t, at); }

Value Target::fold(std::string_view op, const Value& a, const Value& b, Span at) {
    bool real = a.is(Kind::real) || b.is(Kind::real);
    DType t = common_type(a.dtype, b.dtype);
    if (op == "/" || real) {
        double x = as_real(a), y = as_real(b);
        if (!isa::is_float(t)) t = DType::fp32;
        if (op == "+") return real_value(x + y, t);
        if (op == "-") return real_value(x - y, t);
        if (op == "*") return real_value(x * y, t);
        if (y == 0) return fail(Code::division_by_zero, at, "this divides by zero");
        if (op == "/") return real_value(x / y, t);
        if (op == "//") return real_value(std::floor(x / y), t);
        return real_value(x - std::floor(x / y) * y, t);
    }
    std::int64_t x = a.integer, y = b.integer;
    auto wrap = [](std::uint64_t u) { return std::int64_t(u); };
    if (op == "+") return integer_value(wrap(std::uint64_t(x) + std::uint64_t(y)), t);
    if (op == "-") return integer_value(wrap(std::uint64_t(x) - std::uint64_t(y)), t);
    if (op == "*") return integer_value(wrap(std::uint64_t(x) * std::uint64_t(y)), t);
    if (op == "&") return integer_value(x & y, t);
    if (op == "|") return integer_value(x | y, t);
    if (op == "^") return integer_value(x ^ y, t);
    if (op == "<<" || op == ">>") {
        if (y < 0) return fail(Code::shift_count, at, "the shift count " + std::to_string(y) + " is negative");
        if (op == "<<") return integer_value(y > 63 ? 0 : wrap(std::uint64_t(x) << y), t);
        return integer_value(x >> std::min<std::int64_t>(y, 63), t);
    }
    if (y == 0) return fail(Code::division_by_zero, at, "this divides by zero");
    return integer_value(op == "//" ? floor_div(x, y) : floor_mod(x, y), t);
}

Value Target::binary(std::string_view op, const Value& a, const Value& b, Span at) {
    if (a.is(Kind::error) || b.is(Kind::error)) return error_value();
    if (a.is(Kind::pointer) || b.is(Kind::pointer)) {
        if (op == "+" && a.is(Kind::pointer)) return add_pointer(a, b, at);
        if (op == "+" && a.is_scalar()) return add_pointer(b, a, at);
        return fail(Code::pointer_arithmetic, at, "`" + std::string(op) + "` on a pointer");
    }
    if (m_before_vector && (a.is(Kind::tile) || a.is(Kind::memory)) && op == "+") {
        Value m = id_value(Kind::memory, a.id);
        if (!b.is_scalar() || isa::is_float(b.dtype)) return fail(Code::pointer_arithmetic, at, "the offset of a tile address is " + describe(b));
        ir::ExprId offset = expr_as(b, DType::index, at);
        m.expr = a.is(Kind::memory) && a.expr.valid() ? make(ExprOp::add, DType::index, a.expr, offset, at) : offset;
        return m;
    }
    auto ir_op = arithmetic_op(op);
    if (!ir_op) return fail(Code::unsupported_expression, at, "`" + std::string(op) + "` is no operator of scalars");
    if (!a.is_scalar() || !b.is_scalar()) {
        const Value& wrong = a.is_scalar() ? b : a;
        Diagnostic& d = report(Code::not_a_scalar, at, "`" + std::string(op) + "` on " + describe(wrong));
        if (wrong.is(Kind::tile)) d.fix = Fix{"use a tile operation: pl.add(out, a, b), pl.mul(out, a, b) ...", {}};
        return error_value();
    }
    if (integers_only(*ir_op) && (isa::is_float(a.dtype) || isa::is_float(b.dtype)))
        return fail(Code::integers_only, at, "`" + std::string(op) + "` on " + describe(isa::is_float(a.dtype) ? a : b));
    if (a.is_number() && b.is_number()) return fold(op, a, b, at);
    if ((op == "//" || op == "%") && b.is_number() && b.dtype != DType::fp32 && b.integer == 0)
        return fail(Code::division_by_zero, at, "this divides by zero");
    DType t = common_type(a.dtype, b.dtype);
    if (op == "/" && !isa::is_float(t)) t = DType::fp32;
    return scalar_value(make(*ir_op, t, expr_as(a, t, at), expr_as(b, t, at), at), t);
}

Value Target::min_max(bool is_max, const Value& a, const Value& b, Span at) {
    if (a.is(Kind::error) || b.is(Kind::error)) return error_value();
    if (!a.is_scalar() || !b.is_scalar())
        return fail(Code::not_a_scalar, at, std::string(is_max ? "`max`" : "`min`") + " of " + describe(a.is_scalar() ? b : a));
    DType t = common_type(a.dtype, b.dtype);
    if (a.is_number() && b.is_number()) {
        if (!isa::is_float(t)) return integer_value(is_max ? std::max(a.integer, b.integer) : std::min(a.integer, b.integer), t);
        double x = as_real(a), y = as_real(b);
        return real_value(is_max ? std::max(x, y) : std::min(x, y), t);
    }
    return scalar_value(make(is_max ? ExprOp::max : ExprOp::min, t, expr_as(a, t, at), expr_as(b, t, at), at), t);
}

Value Target::compare(std::string_view op, const Value& a, const Value& b, Span at) {
    if (a.is(Kind::error) || b.is(Kind::error)) return error_value();
    bool equality = op == "==" || op == "!=";
    if (a.is_scalar() && b.is_scalar()) {
        if (a.is_number() && b.is_number()) {
            bool real = a.is(Kind::real) || b.is(Kind::real);
            auto test = [&](auto x, auto y) {
                if (op == "==") return x == y;
                if (op == "!=") return x != y;
                if (op == "<") return x < y;
                if (op == "<=") return x <= y;
                if (op == ">") return x > y;
                return x >= y;
            };
            return boolean_value(real ? test(as_real(a), as_real(b)) : test(a.integer, b.integer));
        }
        ExprOp ir_op = op == "==" ? ExprOp::eq : op == "!=" ? ExprOp::ne : op == "<" ? ExprOp::lt : op == "<=" ? ExprOp::le : op == ">" ? ExprOp::gt : ExprOp::ge;
        DType t = common_type(a.dtype, b.dtype);
        return scalar_value(make(ir_op, DType::boolean, expr_as(a, t, at), expr_as(b, t, at), at), DType::boolean);
    }
    if (a.is_constant() && b.is_constant() && equality) return boolean_value(same(a, b) == (op == "=="));
    if (a.is(Kind::tuple) && b.is(Kind::tuple) && equality && constant_of(a) && constant_of(b)) return boolean_value(same(a, b) == (op == "=="));
    if (a.is_constant() && b.is_constant() && !equality)
        return fail(Code::enum_order, at, "`" + std::string(op) + "` between " + describe(a) + " and " + describe(b));
    return fail(Code::not_a_scalar, at, "`" + std::string(op) + "` between " + describe(a) + " and " + describe(b));
}

bool Target::may_stop(const Value& v) const {
    if (!v.is(Kind::scalar) || !v.expr.valid()) return false;
    auto look = [&](ir::ExprId id, auto& self) -> bool {
        const ir::Expr& x = m_fn[id];
        auto known = [&](ir::ExprId e) { return !e.valid() || m_fn.constant(e); };
        bool divides = (x.op == ir::ExprOp::div || x.op == ir::ExprOp::floor_div || x.op == ir::ExprOp::mod) && !isa::is_float(x.dtype);
        if (divides && m_fn.constant(x.b).value_or(0) == 0) return true;
        if (x.op == ir::ExprOp::field && !(known(x.a) && known(x.b))) return true;
        for (ir::ExprId part : {x.a, x.b, x.c})
            if (part.valid() && self(part, self)) return true;
        return false;
    };
    return look(v.expr, look);
}

Value Target::truth(const Value& v, Span at) {
    switch (v.kind) {
    case Kind::error: return v;
    case Kind::boolean: return v;
    case Kind::integer: return boolean_value(v.integer != 0);
    case Kind::real: return boolean_value(v.real != 0);
    case Kind::none: return boolean_value(false);
    case Kind::text: return boolean_value(!v.more->text.empty());
    case Kind::tuple: return boolean_value(v.size() != 0);
    case Kind::scalar: {
        if (v.dtype == DType::boolean) return v;
        ir::ExprId zero = isa::is_float(v.dtype) ? expr_of(real_value(0, v.dtype), at) : literal(0, v.dtype, at);
        return scalar_value(make(ExprOp::ne, DType::boolean, expr_of(v, at), zero, at), DType::boolean);
    }
    default: return fail(Code::not_a_scalar, at, describe(v) + " as a condition");
    }
}

Value Target::unary(std::string_view op, const Value& a, Span at) {
    if (a.is(Kind::error)) return a;
    if (op == "not") {
        Value t = truth(a, at);
        if (t.is(Kind::error)) return t;
        if (t.is_number()) return boolean_value(!t.integer);
        return scalar_value(make(ExprOp::logical_not, DType::boolean, expr_of(t, at), {}, at), DType::boolean);
    }
    if (!a.is_scalar()) return fail(Code::not_a_scalar, at, "`" + std::string(op) + "` on " + describe(a));
    DType t = a.dtype == DType::boolean ? DType::int64 : a.dtype;
    if (op == "+") return a;
    if (op == "-") {
        if (a.is(Kind::real)) return real_value(-a.real, t);
        if (a.is_number()) return integer_value(std::int64_t(0 - std::uint64_t(a.integer)), t);
        return scalar_value(make(ExprOp::negate, t, expr_as(a, t, at), {}, at), t);
    }
    if (isa::is_float(t)) return fail(Code::integers_only, at, "`~` on " + describe(a));
    if (a.is_number()) return integer_value(~a.integer, t);
    return scalar_value(make(ExprOp::bit_not, t, expr_as(a, t, at), {}, at), t);
}

} // namespace pto::resolve
