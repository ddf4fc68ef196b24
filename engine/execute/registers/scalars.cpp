#include "engine/execute/registers/scalars.hpp"

#include "engine/program/scalar_code.hpp"

#include <cmath>

namespace pto::execute::registers {

using ir::ExprOp;

std::int32_t ScalarCompiler::fresh() {
    m_code.cells.emplace_back();
    return std::int32_t(m_code.cells.size()) - 1;
}
std::int32_t ScalarCompiler::cell_of(ir::VarId v) {
    auto [it, made] = m_vars.try_emplace(v.index, -1);
    if (made) it->second = fresh();
    return it->second;
}
std::int32_t ScalarCompiler::literal(std::int64_t integer, double real) {
    auto [it, made] = m_literals.try_emplace({integer, real}, -1);
    if (made) {
        it->second = fresh();
        m_code.cells.back() = {integer, real};
    }
    return it->second;
}
std::int32_t ScalarCompiler::emit(ExprOp op, bool real, DType type, std::int32_t a, std::int32_t b, std::int32_t c) {
    ScalarOp s;
    s.op = op;
    s.real = real;
    s.dtype = type;
    s.dst = fresh();
    s.a = a, s.b = b, s.c = c;
    m_code.scalars.push_back(s);
    return s.dst;
}
std::int32_t ScalarCompiler::convert(std::int32_t cell, bool from_real, DType to) {
    return emit(ExprOp::cast, from_real, to, cell);
}

std::int32_t ScalarCompiler::compile_as(ir::ExprId id, bool real) {
    const std::int32_t cell = compile(id);
    if (is_real(id) == real) return cell;
    return convert(cell, !real, real ? DType::fp32 : DType::index);
}

std::int32_t ScalarCompiler::compile(ir::ExprId id) {
    const ir::Expr& e = m_f[id];
    switch (e.op) {
    case ExprOp::integer: return literal(e.integer, isa::is_float(e.dtype) ? double(e.integer) : 0.0);
    case ExprOp::real: return literal(0, e.real);
    case ExprOp::var: return cell_of(e.var);
    case ExprOp::block_idx:
    case ExprOp::block_num:
    case ExprOp::subblock_idx:
    case ExprOp::subblock_num: {
        for (const Code::Query& q : m_code.queries)
            if (q.op == e.op) return q.cell;
        const std::int32_t cell = fresh();
        m_code.queries.push_back({e.op, cell, -1, 0});
        return cell;
    }
    case ExprOp::negate:
    case ExprOp::bit_not:
    case ExprOp::logical_not:
    case ExprOp::cast: return emit(e.op, is_real(e.a), e.dtype, compile(e.a));
    case ExprOp::select: {
        const std::int32_t condition = compile(e.a);
        const bool real = isa::is_float(e.dtype);
        return emit(ExprOp::select, real, e.dtype, condition, compile_as(e.b, real), compile_as(e.c, real));
    }
    case ExprOp::dim:
    case ExprOp::valid_dim: {
        const std::int32_t id = e.op == ExprOp::dim ? e.tensor.index : e.tile.index;
        for (const Code::Query& q : m_code.queries)
            if (q.op == e.op && q.id == id && q.axis == e.integer) return q.cell;
        const std::int32_t cell = fresh();
        m_code.queries.push_back({e.op, cell, id, std::int32_t(e.integer)});
        return cell;
    }
    case ExprOp::address:
    case ExprOp::field:
    case ExprOp::spr: throw Stop{Status::refused, "a vector function reads a value that is not known inside it", e.at};
    default: {
        const bool real = is_real(e.a) || is_real(e.b) || (e.op == ExprOp::div && isa::is_float(e.dtype));
        return emit(e.op, real, e.dtype, compile_as(e.a, real), compile_as(e.b, real));
    }
    }
}

void ScalarCompiler::assign(ir::VarId v, ir::ExprId value) {
    const std::int32_t from = compile(value);
    ScalarOp s;
    s.op = ExprOp::cast;
    s.real = is_real(value);
    s.dtype = m_f[v].dtype;
    s.dst = cell_of(v);
    s.a = from;
    m_code.scalars.push_back(s);
}

void run_scalars(const ScalarOp* begin, const ScalarOp* end, Cell* cells, Span at) {
    auto u = [](std::int64_t x) { return std::uint64_t(x); };
    for (const ScalarOp* s = begin; s != end; ++s) {
        const Cell a = cells[s->a], b = cells[s->b];
        const bool is_unsigned = isa::is_unsigned_int(s->dtype);
        std::int64_t i = 0;
        double r = 0;
        bool real_result = s->real;
        switch (s->op) {
        case ExprOp::negate: i = std::int64_t(0 - u(a.integer)), r = -a.real; break;
        case ExprOp::bit_not: i = ~a.integer; break;
        case ExprOp::logical_not: i = s->real ? a.real == 0 : a.integer == 0, real_result = false; break;
        case ExprOp::cast:
            real_result = isa::is_float(s->dtype);
            if (real_result)
                r = s->real ? a.real : double(a.integer);
            else if (!s->real)
                i = a.integer;
            else
                i = a.real != a.real    ? 0
                    : a.real >= 9.2e18  ? INT64_MAX
                    : a.real <= -9.2e18 ? INT64_MIN
                                        : std::int64_t(a.real);
            break;
        case ExprOp::add: i = std::int64_t(u(a.integer) + u(b.integer)), r = a.real + b.real; break;
        case ExprOp::sub: i = std::int64_t(u(a.integer) - u(b.integer)), r = a.real - b.real; break;
        case ExprOp::mul: i = std::int64_t(u(a.integer) * u(b.integer)), r = a.real * b.real; break;
        case ExprOp::div:
        case ExprOp::floor_div:
        case ExprOp::mod:
            if (s->real) {
                r = s->op == ExprOp::mod   ? std::fmod(a.real, b.real)
                    : s->op == ExprOp::div ? a.real / b.real
                                           : std::trunc(a.real / b.real);
                break;
            }
            if (!b.integer) throw Stop{Status::refused, "division by zero in a vector function", at};
            if (s->op == ExprOp::mod)
                i = is_unsigned       ? std::int64_t(u(a.integer) % u(b.integer))
                    : b.integer == -1 ? 0
                                      : a.integer % b.integer;
            else
                i = is_unsigned       ? std::int64_t(u(a.integer) / u(b.integer))
                    : b.integer == -1 ? std::int64_t(0 - u(a.integer))
                                      : a.integer / b.integer;
            break;
        case ExprOp::bit_and: i = a.integer & b.integer; break;
        case ExprOp::bit_or: i = a.integer | b.integer; break;
        case ExprOp::bit_xor: i = a.integer ^ b.integer; break;
        case ExprOp::shl: i = u(b.integer) > 63 ? 0 : std::int64_t(u(a.integer) << b.integer); break;
        case ExprOp::shr:
            i = is_unsigned         ? (u(b.integer) > 63 ? 0 : std::int64_t(u(a.integer) >> b.integer))
                : u(b.integer) > 63 ? (a.integer < 0 ? -1 : 0)
                                    : a.integer >> b.integer;
            break;
        case ExprOp::min: i = std::min(a.integer, b.integer), r = std::fmin(a.real, b.real); break;
        case ExprOp::max: i = std::max(a.integer, b.integer), r = std::fmax(a.real, b.real); break;
        case ExprOp::eq: i = s->real ? a.real == b.real : a.integer == b.integer, real_result = false; break;
        case ExprOp::ne: i = s->real ? a.real != b.real : a.integer != b.integer, real_result = false; break;
        case ExprOp::lt: i = s->real ? a.real < b.real : a.integer < b.integer, real_result = false; break;
        case ExprOp::le: i = s->real ? a.real <= b.real : a.integer <= b.integer, real_result = false; break;
        case ExprOp::gt: i = s->real ? a.real > b.real : a.integer > b.integer, real_result = false; break;
        case ExprOp::ge: i = s->real ? a.real >= b.real : a.integer >= b.integer, real_result = false; break;
        case ExprOp::logical_and:
            i = s->real ? a.real != 0 && b.real != 0 : a.integer && b.integer, real_result = false;
            break;
        case ExprOp::logical_or:
            i = s->real ? a.real != 0 || b.real != 0 : a.integer || b.integer, real_result = false;
            break;
        case ExprOp::select:
            i = a.integer ? b.integer : cells[s->c].integer, r = a.integer ? b.real : cells[s->c].real;
            break;
        default: break;
        }
        Cell& out = cells[s->dst];
        if (real_result) {
            out.real = s->dtype == DType::fp32 ? double(float(r)) : program::round_real(r, s->dtype);
            out.integer = 0;
        } else {
            out.integer = s->dtype == DType::index || s->dtype == DType::int64 ? i : program::wrap_integer(i, s->dtype);
            out.real = 0;
        }
    }
}

} // namespace pto::execute::registers
