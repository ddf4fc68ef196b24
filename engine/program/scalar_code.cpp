#include "engine/program/scalar_code.hpp"

#include <bit>
#include <cmath>

namespace pto::program {
namespace {

using ir::ExprOp;
using isa::DType;

float round_half(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = u & 0x80000000u, magnitude = u & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return x;
    const float a = std::bit_cast<float>(magnitude);
    float r;
    if (a >= 65520.0f) r = INFINITY;
    else if (a < 6.103515625e-05f) r = std::nearbyintf(a * 16777216.0f) / 16777216.0f; // subnormals: multiples of 2^-24
    else { // keep 10 fraction bits, ties to even
        const std::uint32_t bias = 0xFFFu + ((magnitude >> 13) & 1u);
        r = std::bit_cast<float>((magnitude + bias) & ~0x1FFFu);
    }
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(r) | sign);
}
float round_brain(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) return x;
    return std::bit_cast<float>((u + 0x7FFFu + ((u >> 16) & 1u)) & 0xFFFF0000u);
}

/// Type in which mixed operands meet: reals as FP32, integers by width, the left one on ties.
DType common_type(DType a, DType b) {
    if (a == DType::boolean) a = DType::int64;
    if (b == DType::boolean) b = DType::int64;
    if (is_real(a) != is_real(b)) return DType::fp32;
    return isa::bits(b) > isa::bits(a) ? b : a;
}
bool is_unsigned64(DType t) { return t == DType::uint64; }

bool is_comparison(ExprOp op) { return op >= ExprOp::eq && op <= ExprOp::ge; }

void mark_assigned(const ir::Body& body, std::vector<bool>& vars, std::vector<bool>& tensors) {
    for (const ir::Stmt& s : body)
        std::visit(on{[&](const ir::Assign& a) { vars[std::size_t(a.var.index)] = true; },
                      [&](const ir::TensorBind& b) { tensors[std::size_t(b.tensor.index)] = true; },
                      [&](const ir::Op& op) {
                          for (ir::VarId v : op.results) vars[std::size_t(v.index)] = true;
                          if (op.row && op.row->semantics == isa::Semantics::set_stride)
                              for (const auto& o : op.operands)
                                  if (auto t = std::get_if<ir::TensorId>(&o)) tensors[std::size_t(t->index)] = true;
                      },
                      [&](const ir::Loop& l) { vars[std::size_t(l.var.index)] = true, mark_assigned(l.body, vars, tensors); },
                      [&](const ir::Forever& l) { mark_assigned(l.body, vars, tensors); },
                      [&](const ir::Branch& b) { mark_assigned(b.then, vars, tensors), mark_assigned(b.otherwise, vars, tensors); },
                      [&](const ir::StageScope& g) { mark_assigned(g.body, vars, tensors); },
                      [&](const ir::HelperScope& g) { mark_assigned(g.body, vars, tensors); },
                      [](const auto&) {}}, // a vector function's own assignments are private to its item
                   s.what);
}

} // namespace

std::int64_t wrap_integer(std::int64_t v, DType type) {
    switch (type) {
    case DType::boolean: return v != 0;
    case DType::int8: return std::int8_t(v);
    case DType::int16: return std::int16_t(v);
    case DType::int32: return std::int32_t(v);
    case DType::uint8: return std::uint8_t(v);
    case DType::uint16: return std::uint16_t(v);
    case DType::uint32: return std::uint32_t(v);
    default: return v;
    }
}

double round_real(double v, DType type) {
    const float f = float(v); // fp32 first: exact enough for the 16-bit types too (24 >= 2 * 11 + 2)
    if (type == DType::fp16) return round_half(f);
    if (type == DType::bf16) return round_brain(f);
    return f;
}

ScalarCode::ScalarCode(const CoreCode& core) : m_f(*core.function) {
    m_assigned.assign(m_f.vars.size(), false);
    m_bound_tensors.assign(m_f.tensors.size(), false);
    mark_assigned(m_f.body, m_assigned, m_bound_tensors);
    // A variable that no code assigns and no parameter fills never changes either: it stays at its initial value.
    std::int32_t next = std::int32_t(m_f.vars.size());
    for (const ir::Struct& s : m_f.structs) {
        std::vector<FieldPlace> places;
        std::int32_t cells = 0;
        for (const ir::Field& field : s.fields) {
            places.push_back({next + cells, 0});
            cells += std::max(1, field.length);
        }
        for (FieldPlace& p : places) p.record = cells;
        next += cells * std::max(1, s.count);
        m_fields.push_back(std::move(places));
    }
    literals.resize(std::size_t(next));
    temps_begin = next;
}

std::int32_t ScalarCode::new_constant() {
    literals.emplace_back();
    return std::int32_t(literals.size() - 1);
}
std::int32_t ScalarCode::new_temp() {
    if (m_next_temp == m_temps.size()) m_temps.push_back(new_constant());
    return m_temps[m_next_temp++];
}

ScalarCode::Value ScalarCode::literal_integer(std::int64_t i, DType t) {
    auto [at, inserted] = m_integers.emplace(std::pair{i, int(t)}, -1);
    if (inserted) {
        at->second = new_constant();
        literals[std::size_t(at->second)].integer = wrap_integer(i, t);
    }
    return {at->second, true, t};
}

ScalarCode::Value ScalarCode::emit(ScalarOp op, bool constant, DType dtype) {
    op.dtype = dtype;
    op.dst = constant ? new_constant() : new_temp();
    (constant ? prelude : ops).push_back(op);
    return {op.dst, constant, dtype};
}

ScalarCode::Value ScalarCode::convert(Value v, DType to, Span at) {
    if (v.dtype == to) return v;
    const bool from_real = is_real(v.dtype), to_is_real = is_real(to);
    ScalarOp op{.a = v.cell, .aux = std::int32_t(v.dtype), .at = at};
    if (from_real != to_is_real) op.kind = to_is_real ? ScalarKind::to_real : ScalarKind::to_integer;
    else if (!to_is_real) {
        // Widening keeps the normalised 64-bit form; INDEX and INT64 are one representation.
        const bool fits = to == DType::index || to == DType::int64 || to == DType::uint64 ||
                          (isa::bits(to) > isa::bits(v.dtype) && (isa::is_signed_int(to) || isa::is_unsigned_int(v.dtype))) || v.dtype == DType::boolean;
        if (fits && to != DType::boolean) return {v.cell, v.constant, to};
    } else if (to == DType::fp32) return {v.cell, v.constant, to};
    return emit(op, v.constant, to);
}

ScalarCode::Value ScalarCode::binary(const ir::Expr& e) {
    Value a = value(e.a), b = value(e.b);
    if (e.op == ExprOp::logical_and || e.op == ExprOp::logical_or)
        return emit({.kind = e.op == ExprOp::logical_and ? ScalarKind::land : ScalarKind::lor, .a = a.cell, .b = b.cell,
                     .c = (is_real(a.dtype) ? 1 : 0) | (is_real(b.dtype) ? 2 : 0), .at = e.at},
                    a.constant && b.constant, DType::boolean);
    const bool shift = e.op == ExprOp::shl || e.op == ExprOp::shr;
    const DType work = is_comparison(e.op) ? common_type(a.dtype, b.dtype) : e.dtype == DType::boolean ? common_type(a.dtype, b.dtype) : e.dtype;
    a = convert(a, work, e.at);
    if (!shift) b = convert(b, work, e.at);
    const bool real = is_real(work), u = is_unsigned64(work);
    using K = ScalarKind;
    K kind = K::move;
    bool swap = false;
    switch (e.op) {
    case ExprOp::add: kind = real ? K::add_f : K::add_i; break;
    case ExprOp::sub: kind = real ? K::sub_f : K::sub_i; break;
    case ExprOp::mul: kind = real ? K::mul_f : K::mul_i; break;
    case ExprOp::div: kind = real ? K::div_f : u ? K::div_u : K::div_s; break;
    case ExprOp::floor_div: kind = real ? K::floor_f : u ? K::div_u : K::div_s; break;
    case ExprOp::mod: kind = real ? K::mod_f : u ? K::mod_u : K::mod_s; break;
    case ExprOp::bit_and: kind = K::bit_and; break;
    case ExprOp::bit_or: kind = K::bit_or; break;
    case ExprOp::bit_xor: kind = K::bit_xor; break;
    case ExprOp::shl: kind = K::shl; break;
    case ExprOp::shr: kind = isa::is_unsigned_int(work) ? K::shr_u : K::shr_s; break;
    case ExprOp::min: kind = real ? K::min_f : u ? K::min_u : K::min_s; break;
    case ExprOp::max: kind = real ? K::max_f : u ? K::max_u : K::max_s; break;
    case ExprOp::eq: kind = real ? K::eq_f : K::eq_i; break;
    case ExprOp::ne: kind = real ? K::ne_f : K::ne_i; break;
    case ExprOp::lt: kind = real ? K::lt_f : u ? K::lt_u : K::lt_s; break;
    case ExprOp::le: kind = real ? K::le_f : u ? K::le_u : K::le_s; break;
    case ExprOp::gt: kind = real ? K::lt_f : u ? K::lt_u : K::lt_s, swap = true; break;
    case ExprOp::ge: kind = real ? K::le_f : u ? K::le_u : K::le_s, swap = true; break;
    default: throw InternalError{"not a binary scalar operation"};
    }
    if (swap) std::swap(a, b);
    // A division that may fail is computed where it stands, not at the launch: a branch may keep the program away from it.
    bool constant = a.constant && b.constant;
    if (kind == K::div_s || kind == K::div_u || kind == K::mod_s || kind == K::mod_u)
        constant = constant && (m_f.constant(e.b).value_or(0) != 0 || m_f[e.b].op == ExprOp::block_num || m_f[e.b].op == ExprOp::subblock_num);
    return emit({.kind = kind, .a = a.cell, .b = b.cell, .at = e.at}, constant, is_comparison(e.op) ? DType::boolean : e.dtype);
}

ScalarCode::Value ScalarCode::value(ir::ExprId id) {
    const ir::Expr& e = m_f[id];
    switch (e.op) {
    case ExprOp::integer:
        if (is_real(e.dtype)) {
            const std::int32_t cell = new_constant();
            literals[std::size_t(cell)].real = round_real(double(e.integer), e.dtype);
            return {cell, true, e.dtype};
        }
        return literal_integer(e.integer, e.dtype);
    case ExprOp::real: {
        const std::int32_t cell = new_constant();
        if (is_real(e.dtype)) literals[std::size_t(cell)].real = round_real(e.real, e.dtype);
        else literals[std::size_t(cell)].integer = wrap_integer(std::int64_t(e.real), e.dtype);
        return {cell, true, e.dtype};
    }
    case ExprOp::var: return {var_cell(e.var), !is_assigned(e.var), m_f[e.var].dtype};
    case ExprOp::field: {
        const ir::Struct& s = m_f[e.structure];
        const ir::Field& field = s.fields[std::size_t(e.integer)];
        const FieldPlace place = field_place(e.structure, std::int32_t(e.integer));
        const bool fixed = s.param.valid(); // a tiling parameter is never written
        const auto record = e.a.valid() ? m_f.constant(e.a) : std::optional<std::int64_t>(0);
        const auto element = e.b.valid() ? m_f.constant(e.b) : std::optional<std::int64_t>(0);
        if (record && element && *record >= 0 && *record < std::max(1, s.count) && *element >= 0 && *element < std::max(1, field.length))
            return {place.base + std::int32_t(*record) * place.record + std::int32_t(*element), fixed, field.dtype};
        const Value r = e.a.valid() ? value(e.a) : literal_integer(0, DType::index);
        const Value x = e.b.valid() ? value(e.b) : literal_integer(0, DType::index);
        return emit({.kind = ScalarKind::load_field, .a = r.cell, .b = x.cell, .c = std::int32_t(e.integer), .aux = e.structure.index, .at = e.at},
                    false, field.dtype);
    }
    case ExprOp::dim:
    case ExprOp::address:
        if (m_bound_tensors[std::size_t(e.tensor.index)])
            return emit({.kind = e.op == ExprOp::dim ? ScalarKind::dim : ScalarKind::address, .c = std::int32_t(e.integer), .aux = e.tensor.index, .at = e.at},
                        false, e.dtype);
        [[fallthrough]];
    case ExprOp::block_idx:
    case ExprOp::block_num:
    case ExprOp::subblock_idx:
    case ExprOp::subblock_num: {
        for (const Query& q : queries)
            if (q.op == e.op && q.tensor == e.tensor && q.axis == e.integer) return {q.cell, true, DType::index};
        const std::int32_t cell = new_constant();
        queries.push_back({e.op, e.tensor, e.integer, cell});
        return {cell, true, DType::index};
    }
    case ExprOp::spr: {
        // Written by vector functions: the owner of the core knows it. Read as a variable that set_spr() fills.
        for (const Query& q : queries)
            if (q.op == e.op) return {q.cell, false, e.dtype};
        const std::int32_t cell = new_constant();
        queries.push_back({e.op, {}, 0, cell});
        return {cell, false, e.dtype};
    }
    case ExprOp::valid_dim:
        return emit({.kind = ScalarKind::valid_dim, .c = std::int32_t(e.integer), .aux = e.tile.index, .at = e.at}, false, e.dtype);
    case ExprOp::negate: {
        const Value a = convert(value(e.a), e.dtype, e.at);
        return emit({.kind = is_real(e.dtype) ? ScalarKind::neg_f : ScalarKind::neg_i, .a = a.cell, .at = e.at}, a.constant, e.dtype);
    }
    case ExprOp::bit_not: {
        const Value a = convert(value(e.a), e.dtype, e.at);
        return emit({.kind = ScalarKind::bit_not, .a = a.cell, .at = e.at}, a.constant, e.dtype);
    }
    case ExprOp::logical_not: {
        const Value a = value(e.a);
        return emit({.kind = ScalarKind::lnot, .a = a.cell, .c = is_real(a.dtype), .at = e.at}, a.constant, DType::boolean);
    }
    case ExprOp::cast: return convert(value(e.a), e.dtype, e.at);
    case ExprOp::select: {
        const Value c = value(e.a), a = convert(value(e.b), e.dtype, e.at), b = convert(value(e.c), e.dtype, e.at);
        return emit({.kind = ScalarKind::select, .a = c.cell, .b = a.cell, .c = b.cell, .aux = is_real(c.dtype), .at = e.at},
                    a.constant && b.constant && c.constant, e.dtype);
    }
    default: return binary(e);
    }
}

CompiledExpr ScalarCode::compile(ir::ExprId id) {
    auto found = m_compiled.find(id.index);
    if (found != m_compiled.end()) return found->second;
    m_next_temp = 0; // results are read before the next expression runs
    CompiledExpr c;
    c.begin = std::int32_t(ops.size());
    const Value v = convert(value(id), m_f[id].dtype, m_f[id].at);
    c.end = std::int32_t(ops.size());
    c.cell = v.cell;
    c.constant = v.constant;
    m_compiled.emplace(id.index, c);
    return c;
}

} // namespace pto::program
