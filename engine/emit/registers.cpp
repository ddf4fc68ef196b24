/// Vector functions: one __VEC_SCOPE__ a call. Source: codegen 1.11, 2.6.
#include "engine/emit/writer.hpp"

#include "engine/ir/walk.hpp"

#include <algorithm>

namespace pto::emit {

using S = isa::Semantics;

namespace {

std::string b_width(isa::DType t) { return "b" + std::to_string(std::clamp(isa::bits(t), 8, 32)); }

} // namespace

ir::TileVarId Writer::through_aliases(ir::TileVarId t) const {
    for (auto a = m_aliases.find(t.index); a != m_aliases.end(); a = m_aliases.find(t.index)) t = ir::TileVarId{a->second};
    return t;
}

isa::DType Writer::register_type(const ir::OperandValue& v) const {
    const auto* r = std::get_if<ir::RegId>(&v);
    return r ? m_f[*r].dtype : memory_type(v);
}
bool Writer::is_mask(const ir::OperandValue& v) const {
    const auto* r = std::get_if<ir::RegId>(&v);
    return r && m_f[*r].kind == ir::RegKind::mask;
}
isa::DType Writer::result_type(const ir::Op& op) const { return op.registers.empty() ? isa::DType::fp32 : m_f[op.registers[0]].dtype; }
std::string Writer::merge_mode(const ir::Op& op) const {
    const std::string mode = attribute(op, "mode");
    return ", MODE_" + (mode.empty() ? std::string("ZEROING") : mode);
}
std::string Writer::all_lanes(isa::DType t) const { return "pset_" + b_width(t) + "(PAT_ALL)"; }
std::string Writer::named(const ir::Op& op, std::string_view name) const {
    for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i)
        if (op.row->operands[i].name == name) return operand(op.operands[i]);
    return "";
}

void Writer::vector_call(const ir::VectorCall& call) {
    if (!m_a5) return missing("the vector function " + call.name + " on this chip", {});
    const std::int32_t number = m_call++;
    locks(call.locks, isa::Pipe::v, true);
    open("{ // vector function " + ascii(call.name));
    std::set<std::int32_t> seen, cursors;
    m_aliases.clear();
    ir::for_each_statement(call.body, [&](const ir::Stmt& s) {
        if (const auto* bind = std::get_if<ir::TileBind>(&s.what))
            if (const auto* alias = std::get_if<ir::AliasOf>(&bind->source)) m_aliases[bind->var.index] = alias->tile.index;
    });
    auto refer = [&](const ir::MemoryRef& m, bool cursor) {
        const ir::TileVarId t = through_aliases(m.tile);
        const std::string type = "__ubuf__ " + c_type(m_f[t].type.dtype) + "*", name = handle(t) + "_ub";
        if (seen.insert(t.index).second) line(type + " " + name + " = (" + type + ")" + method(t) + "data();");
        if (cursor && cursors.insert(t.index).second) line(type + " " + handle(t) + "_cursor = " + name + (m.offset.valid() ? " + (" + expr(m.offset) + ")" : "") + ";");
    };
    ir::for_each_op(call.body, [&](const ir::Stmt&, const ir::Op& op) {
        const bool moves = moves_cursor(op);
        for (const ir::OperandValue& o : op.operands)
            if (const auto* m = std::get_if<ir::MemoryRef>(&o)) refer(*m, moves);
    });
    open("__VEC_SCOPE__ {");
    for (std::size_t i = 0; i < m_f.vars.size(); ++i)
        if (m_facts.vars[i].home == Facts::Home::vector && m_facts.vars[i].call == number) line(c_type(m_f.vars[i].dtype) + " " + var({std::int32_t(i)}) + " = 0;");
    declare_registers(call.body);
    m_in_vector = true;
    statements(call.body);
    m_in_vector = false;
    close();
    close();
    locks(call.locks, isa::Pipe::v, false);
}

/// Accesses that advance the tile's running pointer.
bool Writer::moves_cursor(const ir::Op& op) const {
    if (op.row->semantics == S::reg_load_unaligned || op.row->semantics == S::reg_store_unaligned) return true;
    return number(op, "post_update", 0) != 0;
}

bool Writer::register_mask(const ir::Op& op) {
    const std::string r = op.registers.empty() ? "" : reg(op.registers[0]);
    switch (op.row->semantics) {
    case S::reg_mask_create: {
        const std::string pattern = attribute(op, "pattern");
        line(r + " = pset_" + b_width(result_type(op)) + "(PAT_" + (pattern.empty() ? "ALL" : pattern) + ");");
        return true;
    }
    case S::reg_mask_update: { // the instruction counts its argument down: on a copy
        const std::string n = temporary("lanes_");
        line("uint32_t " + n + " = (uint32_t)max((int64_t)0, (int64_t)(" + operand(op.operands[0]) + "));");
        line(r + " = plt_" + b_width(result_type(op)) + "(" + n + ", POST_UPDATE);");
        return true;
    }
    case S::reg_mask_other:
        if (op.row->operands.empty()) { // out of the special register
            line(r + " = movp_" + (attribute(op, "width") == "B16" ? "b16" : "b32") + "();");
        } else {
            const isa::DType t = register_type(op.operands[0]);
            line("movvp(" + r + ", (RegTensor<uint" + std::to_string(isa::bits(t)) + "_t>&)" + operand(op.operands[0]) + ", " + std::to_string(number(op, "offset", 0)) + ");");
        }
        return true;
    default: return false;
    }
}

bool Writer::register_operation(const ir::Op& op) {
    auto o = [&](std::size_t i) { return i < op.operands.size() ? operand(op.operands[i]) : std::string(); };
    const std::string r = op.registers.empty() ? "" : reg(op.registers[0]), mask = named(op, "preg");
    switch (op.row->semantics) {
    case S::reg_full: {
        const isa::DType t = result_type(op);
        if (std::holds_alternative<ir::RegId>(op.operands[0])) {
            const std::string pos = attribute(op, "pos");
            line("vdup(" + r + ", " + o(0) + ", " + (mask.empty() ? all_lanes(t) : mask) + ", POS_" + (pos.empty() ? "LOWEST" : pos) + merge_mode(op) + ");");
        } else {
            const std::string x = expr_as(std::get<ir::ExprId>(op.operands[0]), t);
            line(mask.empty() ? "vbr(" + r + ", " + x + ");" : "vdup(" + r + ", " + x + ", " + mask + merge_mode(op) + ");");
        }
        return true;
    }
    case S::reg_move: {
        if (is_mask(op.operands[0])) line("pmov(" + r + ", " + o(0) + (mask.empty() ? "" : ", " + mask) + ");");
        else line("vmov(" + r + ", " + o(0) + (mask.empty() ? "" : ", " + mask + ", MODE_MERGING") + ");");
        return true;
    }
    case S::reg_arange: {
        const isa::DType t = result_type(op);
        const bool real = isa::is_float(t);
        const isa::DType as = real || isa::is_signed_int(t) ? t : t == isa::DType::uint8 ? isa::DType::int8 : t == isa::DType::uint16 ? isa::DType::int16 : isa::DType::int32;
        const std::string order = attribute(op, "index_order") == "DECREASE_ORDER" ? "DEC_ORDER" : "INC_ORDER";
        const std::string start = expr_as(std::get<ir::ExprId>(op.operands[0]), as);
        line("vci(" + (as == t ? r : "(RegTensor<" + c_type(as) + ">&)" + r) + ", " + start + ", " + order + ");");
        return true;
    }
    case S::reg_address: {
        std::string strides;
        for (std::size_t i = 1; i < op.operands.size(); i += 2)
            if (!o(i).empty()) strides += (strides.empty() ? "" : ", ") + o(i);
        const int bits = std::clamp(isa::bits(result_type(op)), 8, 32);
        line("AddrReg " + r + " = vag_b" + std::to_string(bits) + "(" + strides + ");");
        return true;
    }
    case S::reg_lane:
        if (op.row->lane == isa::LaneFn::truncate) {
            static const std::map<std::string, std::string> rounds = {{"CAST_RINT", "R"}, {"CAST_ROUND", "A"}, {"CAST_FLOOR", "F"}, {"CAST_CEIL", "C"}};
            const auto round = rounds.find(attribute(op, "round_mode"));
            line("vtrc(" + r + ", " + o(0) + ", ROUND_" + (round == rounds.end() ? "Z" : round->second) + ", " + mask + merge_mode(op) + ");");
            return true;
        }
        if (op.row->lane == isa::LaneFn::sqrt && !attribute(op, "precision").empty() && result_type(op) == isa::DType::fp32) {
            line("vsqrt<float, &__sqrt_high_precision_mode>(" + r + ", " + o(0) + ", " + mask + ");");
            return true;
        }
        break;
    case S::reg_reduce: {
        static const std::map<isa::LaneFn, std::string> names = {{isa::LaneFn::sum, "add"}, {isa::LaneFn::max, "max"}, {isa::LaneFn::min, "min"}};
        const auto n = names.find(op.row->lane);
        if (!op.row->emit.empty() || n == names.end()) break;
        line("vc" + std::string(number(op, "datablock", 0) ? "g" : "") + n->second + "(" + r + ", " + o(0) + ", " + mask + merge_mode(op) + ");");
        return true;
    }
    case S::reg_interleave: {
        const bool split = op.row->lane == isa::LaneFn::de_interleave;
        const std::string pair = r + ", " + reg(op.registers.at(1)) + ", " + o(0) + ", " + o(1) + ");";
        if (is_mask(op.operands[0])) line((split ? "pdintlv_" : "pintlv_") + b_width(register_type(op.operands[0])) + "(" + pair);
        else line((split ? "vdintlv(" : "vintlv(") + pair);
        return true;
    }
    case S::reg_squeeze:
        if (!op.row->emit.empty()) break;
        line("vsqz(" + r + ", " + (result_type(op) == register_type(op.operands[0]) ? "" : "(RegTensor<" + c_type(result_type(op)) + ">&)") + o(0) + ", " + mask + (attribute(op, "gather_mode") == "NO_STORE_REG" ? ", MODE_NO_STORED);" : ", MODE_STORED);"));
        return true;
    case S::reg_histogram:
        line(std::string(attribute(op, "hist_type") == "FREQUENCY" ? "dhistv2(" : "chistv2(") + r + ", " + o(0) + ", " + mask + (attribute(op, "bin_type") == "BIN1" ? ", Bin_N1);" : ", Bin_N0);"));
        return true;
    case S::reg_carry: // carry out, sum, operands, carry in, mask
        line((op.row->lane == isa::LaneFn::sub ? "vsubcs(" : "vaddcs(") + r + ", " + reg(op.registers.at(1)) + ", " + o(0) + ", " + o(1) + ", " + o(2) + ", " +
             (mask.empty() ? all_lanes(register_type(op.operands[0])) : mask) + ");");
        return true;
    case S::reg_bit_cast: line(r + " = (RegTensor<" + c_type(result_type(op)) + ">&)" + o(0) + ";"); return true;
    default: break;
    }
    if (register_mask(op) || register_load(op) || register_store(op) || register_unaligned(op) || register_gather(op) || register_cast(op) || register_pack(op)) return true;
    const std::string text = form(op);
    if (text.empty()) return false;
    for (std::size_t begin = 0; begin < text.size();) { // log2 and log10 are two instructions
        const std::size_t end = std::min(text.find("; ", begin), text.size());
        line(text.substr(begin, end - begin) + ";");
        begin = end + 2;
    }
    return true;
}

} // namespace pto::emit
