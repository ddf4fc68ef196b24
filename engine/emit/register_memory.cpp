/// Between UB and registers. Source: codegen 2.6; language 5.4.
#include "engine/emit/writer.hpp"

#include <algorithm>

namespace pto::emit {

using S = isa::Semantics;

namespace {

int width(isa::DType t) { return std::clamp(isa::bits(t), 8, 32); }
bool is_address_register(const ir::Function& f, const ir::OperandValue& v) {
    const auto* r = std::get_if<ir::RegId>(&v);
    return r && f[*r].kind == ir::RegKind::address;
}
/// "(block_stride << 16) | repeat_stride" as the instructions take it.
std::string strides_text(const std::string& block, const std::string& repeat) {
    std::string out = "((uint32_t)(" + block + ") << 16u)";
    if (!repeat.empty()) out += " | ((uint32_t)(" + repeat + ") & 0xFFFFU)";
    return out;
}

} // namespace

std::string Writer::memory(const ir::OperandValue& v, bool cursor) const {
    const auto* m = std::get_if<ir::MemoryRef>(&v);
    if (!m) return operand(v);
    const std::string n = handle(through_aliases(m->tile));
    if (cursor) return n + "_cursor";
    return m->offset.valid() ? "(" + n + "_ub + (" + expr(m->offset) + "))" : n + "_ub";
}

isa::DType Writer::memory_type(const ir::OperandValue& v) const {
    const auto* m = std::get_if<ir::MemoryRef>(&v);
    return m ? m_f[through_aliases(m->tile)].type.dtype : isa::DType::fp32;
}

/// Offset operand `at`, in elements of the tile's own type; [row, col] by the tile's physical columns.
std::string Writer::memory_offset(const ir::Op& op, std::size_t at) const {
    if (at >= op.operands.size()) return "";
    const ir::OperandValue& v = op.operands[at];
    if (const auto* l = std::get_if<ir::ExprList>(&v); l && l->size() == 2) {
        const auto* m = std::get_if<ir::MemoryRef>(&op.operands[0]);
        const int columns = m ? m_f[through_aliases(m->tile)].type.shape[1] : 1;
        return "(" + expr((*l)[0]) + ") * " + std::to_string(columns) + " + (" + expr((*l)[1]) + ")";
    }
    return operand(v);
}

bool Writer::register_load(const ir::Op& op) {
    if (op.row->semantics != S::reg_load) return false;
    const bool post = number(op, "post_update", 0) != 0, to_mask = m_f[op.registers.at(0)].kind == ir::RegKind::mask;
    const isa::DType t = result_type(op);
    const std::string r = reg(op.registers[0]), update = post ? ", POST_UPDATE" : "";
    std::string p = memory(op.operands[0], post), dist = attribute(op, "dist"), offset = memory_offset(op, 1);
    // The offset counts elements of the tile; a register of another type reads the same bytes.
    const isa::DType from = memory_type(op.operands[0]);
    if (!to_mask && !same_c_type(from, t)) {
        if (!offset.empty() && !post && !is_address_register(m_f, op.operands.size() > 1 ? op.operands[1] : ir::OperandValue{}) && !is_mask(op.operands[1]))
            p = "(" + p + " + (" + offset + "))", offset = "0";
        p = (post ? "(__ubuf__ " + c_type(t) + "*&)" : "(__ubuf__ " + c_type(t) + "*)") + p;
    }
    if (const std::string block = attribute(op, "block_stride"); !block.empty()) {
        line("vsldb(" + r + ", " + p + ", " + strides_text(block, attribute(op, "repeat_stride")) + ", " + offset + update + ");");
        return true;
    }
    const bool unsuffixed = dist == "BRC" || dist == "US" || dist == "DS" || dist == "UNPK" || dist == "E2B" || dist == "UNPK4" || dist == "DINTLV";
    if (dist.empty()) dist = op.registers.size() == 2 ? "DINTLV_B" + std::to_string(width(t)) : "NORM";
    else if (dist == "UNPK4") dist = "UNPK4_B8";
    else if (dist == "UNPK") dist = "UNPK_B" + std::to_string(std::max(8, std::min(32, isa::bits(t) / 2)));
    else if (unsuffixed && !to_mask) dist += "_B" + std::to_string(width(t));
    if (offset.empty()) offset = "0";
    const bool by_register = op.operands.size() > 1 && is_address_register(m_f, op.operands[1]);
    if (to_mask) line(std::string(by_register ? "pld(" : "plds(") + r + ", (__ubuf__ uint32_t*" + (post ? "&" : "") + ")" + p + ", " + offset + ", " + dist + update + ");");
    else if (op.registers.size() == 2) line(std::string(by_register ? "vld(" : "vlds(") + r + ", " + reg(op.registers[1]) + ", " + p + ", " + offset + ", " + dist + update + ");");
    else line(std::string(by_register ? "vld(" : "vlds(") + r + ", " + p + ", " + offset + ", " + dist + update + ");");
    return true;
}

bool Writer::register_store(const ir::Op& op) {
    if (op.row->semantics != S::reg_store) return false;
    const bool post = number(op, "post_update", 0) != 0;
    const std::string update = post ? ", POST_UPDATE" : "", src = operand(op.operands[1]);
    const isa::DType t = register_type(op.operands[1]), to = memory_type(op.operands[0]);
    std::string p = memory(op.operands[0], post), dist = attribute(op, "dist");
    std::size_t offset_at = 0;
    for (std::size_t i = 0; i < op.row->operands.size(); ++i)
        if (op.row->operands[i].name == "offset") offset_at = i;
    const bool by_register = offset_at && offset_at < op.operands.size() && is_address_register(m_f, op.operands[offset_at]);
    std::string offset = offset_at ? memory_offset(op, offset_at) : "";
    if (is_mask(op.operands[1])) { // a plain offset of a mask store is ignored by the language
        if (!post && !by_register) offset = "0";
        const std::string d = dist == "PACK" ? "PK" : "NORM";
        line(std::string(by_register ? "pst(" : "psts(") + src + ", (__ubuf__ uint32_t*" + (post ? "&" : "") + ")" + p + ", " + (offset.empty() ? "0" : offset) + ", " + d + update + ");");
        return true;
    }
    const bool narrows = dist == "PACK" || dist == "PACK4";
    if (!same_c_type(to, t) && !narrows) {
        if (!offset.empty() && !post && !by_register) p = "(" + p + " + (" + offset + "))", offset = "0";
        p = (post ? "(__ubuf__ " + c_type(t) + "*&)" : "(__ubuf__ " + c_type(t) + "*)") + p;
    }
    std::string mask = named(op, "preg");
    if (mask.empty()) mask = all_lanes(t);
    if (offset.empty()) offset = "0";
    if (const std::string block = attribute(op, "block_stride"); !block.empty()) {
        const std::string repeat = attribute(op, "repeat_stride");
        line("vsstb(" + src + ", " + p + ", " + strides_text(block, repeat.empty() ? "0" : repeat) + ", " + mask + update + ");");
        return true;
    }
    if (op.row->operand("odd")) { // two registers, interleaved
        line("vsts(" + src + ", " + operand(op.operands[2]) + ", " + p + ", 0, INTLV_B" + std::to_string(dist == "INTLV_B32" ? 32 : width(t)) + ", " + operand(op.operands[3]) + ");");
        return true;
    }
    if (dist.empty() || dist == "NORM") dist = "NORM_B" + std::to_string(width(t));
    else if (dist == "FIRST_ELEMENT") dist = "ONEPT_B" + std::to_string(width(t));
    else if (dist == "PACK") dist = "PK_B" + std::to_string(std::max(16, isa::bits(t)));
    else if (dist == "PACK4") dist = "PK4_B32";
    else if (dist == "INTLV") dist = "INTLV_B" + std::to_string(width(t));
    if (narrows && isa::bits(to) != isa::bits(t) && !same_c_type(to, t)) { // the pointer has the register's type, the bytes are the tile's
        if (!offset.empty() && !post && !by_register) p = "(" + p + " + (" + offset + "))", offset = "0";
        p = (post ? "(__ubuf__ " + c_type(t) + "*&)" : "(__ubuf__ " + c_type(t) + "*)") + p;
    }
    line(std::string(by_register ? "vst(" : "vsts(") + src + ", " + p + ", " + offset + ", " + dist + ", " + mask + update + ");");
    return true;
}

bool Writer::register_unaligned(const ir::Op& op) {
    if (op.row->result == "unaligned") return true; // the register's declaration is all
    bool streams = false; // a carry register goes along; without one the access is whole by itself
    for (const isa::Operand& o : op.row->operands) streams = streams || o.kind == isa::OperandKind::unaligned;
    if (op.row->semantics == S::reg_load_unaligned) {
        const bool carry_first = streams && op.row->operands[0].kind == isa::OperandKind::unaligned;
        if (!streams) { // prime and load in one
            const std::string u = temporary("carry_"), p = memory(op.operands[0], true), stride = attribute(op, "stride");
            line("UnalignReg " + u + ";");
            line("vldas(" + u + ", " + p + ");");
            line("vldus(" + reg(op.registers.at(0)) + ", " + u + ", " + p + (stride.empty() ? "" : ", " + stride + ", POST_UPDATE") + ");");
            return true;
        }
        const std::string p = memory(op.operands[carry_first ? 1 : 0], true), u = operand(op.operands[carry_first ? 0 : 1]);
        if (op.row->result.empty()) { // primes the carry register
            line("vldas(" + u + ", " + p + ");");
            return true;
        }
        const std::string stride = op.operands.size() > 2 ? operand(op.operands[2]) : "";
        line("vldus(" + reg(op.registers.at(0)) + ", " + u + ", " + p + (stride.empty() ? "" : ", " + stride + ", POST_UPDATE") + ");");
        return true;
    }
    if (op.row->semantics != S::reg_store_unaligned) return false;
    const std::string p = memory(op.operands[0], true);
    if (!streams) {
        const std::string u = temporary("carry_"), given_count = attribute(op, "count");
        const std::string count = given_count.empty() ? std::to_string(256 * 8 / std::max(8, isa::bits(register_type(op.operands[1])))) : given_count;
        line("UnalignReg " + u + ";");
        line("vstus(" + u + ", " + count + ", " + operand(op.operands[1]) + ", " + p + ", POST_UPDATE);");
        line("vstas(" + u + ", " + p + ", 0, POST_UPDATE);");
        return true;
    }
    if (op.row->operand("src")) {
        const std::string src = operand(op.operands[1]), u = operand(op.operands[2]), stride = op.operands.size() > 3 ? operand(op.operands[3]) : "";
        if (is_mask(op.operands[1])) line("pstu(" + u + ", " + src + ", (__ubuf__ uint" + (isa::bits(register_type(op.operands[1])) == 16 ? "16" : "32") + "_t*&)" + p + ");");
        else if (stride.empty()) line("vstur(" + u + ", " + src + ", " + p + ", POST_UPDATE);"); // as many bytes as the squeeze left in AR
        else line("vstus(" + u + ", " + stride + ", " + src + ", " + p + ", POST_UPDATE);");
        return true;
    }
    const std::string u = operand(op.operands[1]), stride = op.operands.size() > 2 ? operand(op.operands[2]) : "";
    line(stride.empty() ? "vstar(" + u + ", " + p + ");" : "vstas(" + u + ", " + p + ", 0, POST_UPDATE);");
    return true;
}

bool Writer::register_gather(const ir::Op& op) {
    if (op.row->semantics != S::reg_gather) return false;
    const std::string r = reg(op.registers.at(0)), index = operand(op.operands[1]);
    const isa::DType t = result_type(op), index_type = register_type(op.operands[1]);
    if (std::holds_alternative<ir::RegId>(op.operands[0])) {
        const std::string cast = "(RegTensor<uint" + std::to_string(isa::bits(t)) + "_t>&)"; // a lane permutation does not look at the type
        line("vselr(" + cast + r + ", " + cast + operand(op.operands[0]) + ", " + cast + index + ");");
        return true;
    }
    std::string mask = named(op, "preg");
    if (mask.empty()) mask = all_lanes(index_type);
    const std::string p = memory(op.operands[0], false), i = "(RegTensor<uint" + std::to_string(isa::bits(index_type)) + "_t>&)" + index;
    if (attribute(op, "data_copy_mode") == "DATA_BLOCK_LOAD") line("vgatherb(" + r + ", " + p + ", " + i + ", " + mask + ");");
    else line(std::string(isa::bits(memory_type(op.operands[0])) == 16 && isa::bits(index_type) == 32 ? "vgather2_bc(" : "vgather2(") + r + ", " + p + ", " + i + ", " + mask + ");");
    return true;
}

} // namespace pto::emit
