#include "engine/emit/writer.hpp"

namespace pto::emit {
namespace {

bool is_comparison(ir::ExprOp op) { return op >= ir::ExprOp::eq && op <= ir::ExprOp::ge; }

} // namespace

/// An operand of an expression of type t: converted where C++ would compute in another type.
std::string Writer::expr_as(ir::ExprId id, isa::DType t) const {
    const ir::Expr& e = m_f[id];
    if (e.op == ir::ExprOp::integer && (isa::is_float(t) || isa::is_int(t))) {
        if (t == isa::DType::fp32 || isa::is_int(t)) return integer_literal(e.integer, t);
        return "((" + c_type(t) + ")" + real_literal(double(e.integer)) + ")";
    }
    if (same_c_type(e.dtype, t)) return expr(id);
    if ((t == isa::DType::fp16 || t == isa::DType::bf16) && isa::is_int(e.dtype)) return "((" + c_type(t) + ")(float)" + expr(id) + ")";
    return "((" + c_type(t) + ")" + expr(id) + ")";
}

std::string Writer::binary(const ir::Expr& e, const char* sign) const {
    std::string out = "(";
    if (is_comparison(e.op) || e.op == ir::ExprOp::logical_and || e.op == ir::ExprOp::logical_or) {
        out.append(expr(e.a)).append(" ").append(sign).append(" ").append(expr(e.b));
    } else if (e.op == ir::ExprOp::shl || e.op == ir::ExprOp::shr) { // a literal on the left is an int, whatever it was
        std::string left = m_f[e.a].op == ir::ExprOp::integer ? "(" + c_type(e.dtype) + ")" + expr(e.a) : expr_as(e.a, e.dtype);
        out.append(left).append(" ").append(sign).append(" ").append(expr(e.b));
    } else {
        out.append(expr_as(e.a, e.dtype)).append(" ").append(sign).append(" ").append(expr_as(e.b, e.dtype));
    }
    return out + ")";
}

std::string Writer::record(const ir::StructRef& r) const {
    const ir::Struct& s = m_f[r.structure];
    std::string name = structure(r.structure);
    if (s.count > 1 || r.index.valid()) name += "[" + (r.index.valid() ? expr(r.index) : std::string("0")) + "]";
    return name;
}

std::string Writer::constant_plus(const std::string& e, int n) const {
    if (!e.empty() && e.find_first_not_of("0123456789") == std::string::npos) return std::to_string(std::stol(e) + n);
    return "(" + e + ") + " + std::to_string(n);
}

std::string Writer::expr(ir::ExprId id) const {
    const ir::Expr& e = m_f[id];
    using Op = ir::ExprOp;
    auto query = [&](const char* text) { return "((int64_t)(" + std::string(text) + "))"; };
    const bool split = m_f.core == isa::Core::vector; // alone, a vector core is the only one of its block: dimension 1, number 0
    switch (e.op) {
    case Op::integer: return integer_literal(e.integer, e.dtype);
    case Op::real: return e.dtype == isa::DType::fp32 ? real_literal(e.real) : "((" + c_type(e.dtype) + ")" + real_literal(e.real) + ")";
    case Op::var: return var(e.var);
    case Op::field: {
        std::string out = record({e.structure, e.a}) + "." + field_name(m_f[e.structure].fields[std::size_t(e.integer)].name);
        if (e.b.valid()) out += "[" + expr(e.b) + "]";
        return out;
    }
    case Op::dim: return dim_of(e.tensor, std::size_t(e.integer));
    case Op::address: return "((int64_t)(" + tensor(e.tensor) + "_ptr))";
    case Op::block_idx: return query(split ? "get_block_idx() * get_subblockdim() + get_subblockid()" : "get_block_idx()");
    case Op::block_num: return query("get_block_num()");
    case Op::subblock_idx: return split ? query("get_subblockid()") : "((int64_t)0)";
    case Op::subblock_num: return split ? query("get_subblockdim()") : "((int64_t)1)";
    case Op::spr: return query("get_ar()");
    case Op::valid_dim:
        if (m_in_simt) return "((int64_t)" + handle(e.tile) + (e.integer == 0 ? "_valid_row)" : "_valid_col)");
        return "((int64_t)(" + method(e.tile) + (e.integer == 0 ? "GetValidRow()))" : "GetValidCol()))");
    case Op::negate: return "(-" + expr_as(e.a, e.dtype) + ")";
    case Op::bit_not: return "(~" + expr_as(e.a, e.dtype) + ")";
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
        const std::string t = c_type(e.dtype);
        return std::string(e.op == Op::min ? "min" : "max") + "((" + t + ")(" + expr(e.a) + "), (" + t + ")(" + expr(e.b) + "))";
    }
    case Op::select: return "(" + expr(e.a) + " ? " + expr_as(e.b, e.dtype) + " : " + expr_as(e.c, e.dtype) + ")";
    }
    return "?";
}

} // namespace pto::emit
