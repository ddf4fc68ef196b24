#include "engine/emit/writer.hpp"

namespace pto::emit {

std::string Writer::binary(const ir::Expr& e, const char* sign) const { return "(" + expr(e.a) + " " + sign + " " + expr(e.b) + ")"; }

std::string Writer::record(const ir::StructRef& r) const {
    const ir::Struct& s = m_f[r.structure];
    std::string name = structure(r.structure);
    if (s.count > 1 || r.index.valid()) name += "[" + (r.index.valid() ? expr(r.index) : std::string("0")) + "]";
    return name;
}

std::string Writer::expr(ir::ExprId id) const {
    const ir::Expr& e = m_f[id];
    using Op = ir::ExprOp;
    auto query = [&](const char* text) { return "((int64_t)(" + std::string(text) + "))"; };
    bool vector = m_f.core == isa::Core::vector;
    switch (e.op) {
    case Op::integer:
        if (e.dtype == isa::DType::boolean) return e.integer ? "true" : "false";
        if (isa::is_float(e.dtype)) return real_literal(double(e.integer));
        if (e.integer == INT64_MIN) return "INT64_MIN";
        return std::to_string(e.integer);
    case Op::real: return e.dtype == isa::DType::fp32 ? real_literal(e.real) : "((" + c_type(e.dtype) + ")" + real_literal(e.real) + ")";
    case Op::var: return var(e.var);
    case Op::field: {
        std::string out = record({e.structure, e.a}) + "." + safe(m_f[e.structure].fields[std::size_t(e.integer)].name);
        if (e.b.valid()) out += "[" + expr(e.b) + "]";
        return out;
    }
    case Op::dim: return dim_of(m_f[e.tensor], std::size_t(e.integer));
    case Op::address: return "((int64_t)(" + tensor(e.tensor) + "_ptr))";
    case Op::block_idx:
        return vector && m_kernel.is_mix() ? query("get_block_idx() * get_subblockdim() + get_subblockid()") : query("get_block_idx()");
    case Op::block_num: return query("get_block_num()");
    case Op::subblock_idx: return vector && m_kernel.is_mix() ? query("get_subblockid()") : "((int64_t)0)";
    case Op::subblock_num: return vector && m_kernel.is_mix() ? query("get_subblockdim()") : "((int64_t)1)";
    case Op::spr: return query("get_ar()");
    case Op::valid_dim: return "((int64_t)(" + tile(e.tile) + (e.integer == 0 ? "->GetValidRow()))" : "->GetValidCol()))");
    case Op::negate: return "(-" + expr(e.a) + ")";
    case Op::bit_not: return "(~" + expr(e.a) + ")";
    case Op::logical_not: return "(!" + expr(e.a) + ")";
    case Op::cast: return "((" + c_type(e.dtype) + ")" + expr(e.a) + ")";
    case Op::add: return binary(e, "+");
    case Op::sub: return binary(e, "-");
    case Op::mul: return binary(e, "*");
    case Op::div: return binary(e, "/");
    case Op::floor_div: return binary(e, "/");
    case Op::mod: return binary(e, "%");
    case Op::bit_and: return binary(e, "&");
    case Op::bit_or: return binary(e, "|");
    case Op::bit_xor: return binary(e, "^");
    case Op::shl: return binary(e, "<<");
    case Op::shr: return binary(e, ">>");
    case Op::eq: return binary(e, "==");
    case Op::ne: return binary(e, "!=");
    case Op::lt: return binary(e, "<");
    case Op::le: return binary(e, "<=");
    case Op::gt: return binary(e, ">");
    case Op::ge: return binary(e, ">=");
    case Op::logical_and: return binary(e, "&&");
    case Op::logical_or: return binary(e, "||");
    case Op::min:
    case Op::max: {
        std::string t = c_type(e.dtype);
        return std::string(e.op == Op::min ? "min" : "max") + "((" + t + ")(" + expr(e.a) + "), (" + t + ")(" + expr(e.b) + "))";
    }
    case Op::select: return "(" + expr(e.a) + " ? " + expr(e.b) + " : " + expr(e.c) + ")";
    }
    return "?";
}

} // namespace pto::emit
