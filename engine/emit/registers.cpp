/// Vector functions: one __VEC_SCOPE__ a call. Source: codegen 1.11, 2.6.
#include "engine/emit/writer.hpp"

namespace pto::emit {

int Writer::width_bits(isa::DType t) { return std::max(8, std::min(32, isa::bits(t))); }

std::string Writer::memory(const ir::MemoryRef& m) const {
    std::string n = tile(m.tile) + "_ub";
    return m.offset.valid() ? "(" + n + " + (" + expr(m.offset) + "))" : n;
}

void Writer::vector_call(const ir::VectorCall& call) {
    locks(call.locks, isa::Pipe::v, true);
    line("{ // vector function " + call.name);
    ++m_indent;
    std::set<std::int32_t> seen;
    for (ir::TileVarId t : call.tiles)
        if (seen.insert(t.index).second) {
            std::string type = "__ubuf__ " + c_type(m_f[t].type.dtype) + "*";
            line(type + " " + tile(t) + "_ub = (" + type + ")" + tile(t) + "->data();");
            line("[[maybe_unused]] " + type + " " + tile(t) + "_cursor = " + tile(t) + "_ub;");
        }
    line("__VEC_SCOPE__ {");
    ++m_indent;
    declare_registers(call.body);
    m_in_vector = true;
    statements(call.body);
    m_in_vector = false;
    --m_indent;
    line("}");
    --m_indent;
    line("}");
    locks(call.locks, isa::Pipe::v, false);
}

bool Writer::register_operation(const ir::Op& op) {
    using S = isa::Semantics;
    auto reg_type = [&](const ir::OperandValue& v) {
        const auto* r = std::get_if<ir::RegId>(&v);
        return r ? m_f[*r].dtype : isa::DType::fp32;
    };
    auto result_type = [&] { return op.registers.empty() ? isa::DType::fp32 : m_f[op.registers[0]].dtype; };
    auto mask_of = [&](const char* name) {
        for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i)
            if (op.row->operands[i].name == name) return operand(op.operands[i]);
        return std::string();
    };
    auto b = [&](isa::DType t) { return "b" + std::to_string(width_bits(t)); };
    std::string post = attribute(op, "post_update") == "true" ? ", POST_UPDATE" : "";
    auto pointer = [&](const ir::OperandValue& v) { // post-update accesses share the tile's running cursor
        if (const auto* m = std::get_if<ir::MemoryRef>(&v); m && !post.empty()) return tile(m->tile) + "_cursor";
        return operand(v);
    };
    switch (op.row->semantics) {
    case S::reg_mask_create: line(reg(op.registers.at(0)) + " = pset_" + b(result_type()) + "(PAT_" + attribute(op, "pattern") + ");"); return true;
    case S::reg_mask_update: {
        std::string n = "n_" + std::to_string(m_temporaries++);
        line("uint32_t " + n + " = (uint32_t)(" + operand(op.operands[0]) + ");");
        line(reg(op.registers.at(0)) + " = plt_" + b(result_type()) + "(" + n + ", POST_UPDATE);");
        return true;
    }
    case S::reg_full: {
        std::string mask = mask_of("preg"), x = operand(op.operands[0]), r = reg(op.registers.at(0));
        bool lane = std::holds_alternative<ir::RegId>(op.operands[0]);
        std::string mode = attribute(op, "mode").empty() ? "ZEROING" : attribute(op, "mode");
        if (lane) {
            if (mask.empty()) mask = "pset_" + b(result_type()) + "(PAT_ALL)";
            line("vdup(" + r + ", " + x + ", " + mask + ", POS_" + (attribute(op, "pos").empty() ? "LOWEST" : attribute(op, "pos")) + ", MODE_" + mode + ");");
        } else if (mask.empty()) line("vbr(" + r + ", (" + c_type(result_type()) + ")(" + x + "));");
        else line("vdup(" + r + ", (" + c_type(result_type()) + ")(" + x + "), " + mask + ", MODE_" + mode + ");");
        return true;
    }
    case S::reg_load: {
        std::string dist = attribute(op, "dist"), p = pointer(op.operands[0]);
        isa::DType t = result_type();
        bool unsuffixed = dist == "BRC" || dist == "US" || dist == "DS" || dist == "UNPK" || dist == "E2B";
        if (dist.empty()) dist = "NORM";
        if (unsuffixed) dist += "_B" + std::to_string(width_bits(t));
        std::string offset = op.operands.size() > 1 ? operand(op.operands[1]) : "";
        if (const auto* l = op.operands.size() > 1 ? std::get_if<ir::ExprList>(&op.operands[1]) : nullptr; l && l->size() == 2)
            if (const auto* m = std::get_if<ir::MemoryRef>(&op.operands[0]))
                offset = "(" + expr((*l)[0]) + ") * " + std::to_string(m_f[m->tile].type.shape[1]) + " + (" + expr((*l)[1]) + ")";
        if (!attribute(op, "block_stride").empty()) {
            line("vsldb(" + reg(op.registers.at(0)) + ", " + p + ", ((" + attribute(op, "block_stride") + ") << 16u)" +
                 (attribute(op, "repeat_stride").empty() ? "" : " | ((" + attribute(op, "repeat_stride") + ") & 0xFFFFU)") + ", " + offset + post + ");");
            return true;
        }
        if (offset.empty()) offset = "0";
        if (op.registers.size() == 2) line("vlds(" + reg(op.registers[0]) + ", " + reg(op.registers[1]) + ", " + p + ", " + offset + ", " + dist + post + ");");
        else if (m_f[op.registers.at(0)].kind == ir::RegKind::mask) line("plds(" + reg(op.registers[0]) + ", (__ubuf__ uint32_t*)" + p + ", " + offset + ", " + dist + post + ");");
        else line("vlds(" + reg(op.registers[0]) + ", " + p + ", " + offset + ", " + dist + post + ");");
        return true;
    }
    case S::reg_store: {
        std::string dist = attribute(op, "dist"), p = pointer(op.operands[0]);
        isa::DType t = reg_type(op.operands[1]);
        if (dist.empty() || dist == "NORM") dist = "NORM_B" + std::to_string(width_bits(t));
        else if (dist == "FIRST_ELEMENT") dist = "ONEPT_B" + std::to_string(width_bits(t));
        else if (dist == "PACK") dist = "PK_B" + std::to_string(isa::bits(t));
        else if (dist == "PACK4") dist = "PK4_B32";
        else if (dist == "INTLV") dist = "INTLV_B" + std::to_string(width_bits(t));
        std::string mask = mask_of("preg"), offset = mask_of("offset");
        if (!attribute(op, "block_stride").empty()) {
            line("vsstb(" + operand(op.operands[1]) + ", " + p + ", ((" + attribute(op, "block_stride") + ") << 16u) | ((" +
                 (attribute(op, "repeat_stride").empty() ? "0" : attribute(op, "repeat_stride")) + ") & 0xFFFFU), " + mask + post + ");");
            return true;
        }
        if (offset.empty()) offset = "0";
        if (mask.empty()) mask = "pset_" + b(t) + "(PAT_ALL)";
        line("vsts(" + operand(op.operands[1]) + ", " + p + ", " + offset + ", " + dist + ", " + mask + post + ");");
        return true;
    }
    case S::reg_barrier: line("mem_bar(" + (attribute(op, "mode").empty() ? std::string("VST_VLD") : attribute(op, "mode")) + ");"); return true;
    case S::reg_bit_cast: line(reg(op.registers.at(0)) + " = (RegTensor<" + c_type(result_type()) + ">&)" + operand(op.operands[0]) + ";"); return true;
    case S::reg_cast: {
        static const std::map<std::string, std::string> rounds = {{"CAST_RINT", "ROUND_R"}, {"CAST_ROUND", "ROUND_A"}, {"CAST_FLOOR", "ROUND_F"}, {"CAST_CEIL", "ROUND_C"},
                                                                  {"CAST_TRUNC", "ROUND_Z"}, {"CAST_ODD", "ROUND_O"}, {"CAST_HYBRID", "ROUND_H"}};
        isa::DType from = reg_type(op.operands[0]), to = result_type();
        int fb = isa::bits(from), tb = isa::bits(to), layout = 0;
        if (const ir::AttributeValue* a = given(op, "layout"))
            if (const auto* e = std::get_if<isa::EnumValue>(a)) layout = e->ordinal;
        auto r = rounds.find(attribute(op, "round_mode"));
        std::string round = r == rounds.end() ? "ROUND_R" : r->second;
        std::string sat = attribute(op, "saturate") == "ON" ? "RS_ENABLE" : "RS_DISABLE";
        std::string part = std::max(fb, tb) / std::min(fb, tb) == 4 ? "PART_P" + std::to_string(layout) : layout == 0 ? "PART_EVEN" : "PART_ODD";
        bool widen = tb > fb, f_from = isa::is_float(from), f_to = isa::is_float(to);
        std::string tail;
        if (widen && !(f_from && !f_to)) tail = part;
        else if (fb == tb) tail = f_to ? round : round + ", " + sat;
        else if (widen) tail = round + ", " + part;
        else if (!f_from && !f_to) tail = sat + ", " + part;
        else if (from == isa::DType::fp32 && tb == 8) tail = round + ", RS_ENABLE, " + part;
        else if (!f_from) tail = round + ", " + part;
        else tail = round + ", " + sat + ", " + part;
        std::string mask = mask_of("preg");
        line("vcvt(" + reg(op.registers.at(0)) + ", " + operand(op.operands[0]) + ", " + mask + ", " + tail + ", MODE_ZEROING);");
        return true;
    }
    case S::reg_reduce: {
        static const std::map<isa::LaneFn, std::string> names = {{isa::LaneFn::sum, "add"}, {isa::LaneFn::max, "max"}, {isa::LaneFn::min, "min"}};
        auto n = names.find(op.row->lane);
        if (!op.row->emit.empty() || n == names.end()) break;
        line("vc" + std::string(attribute(op, "datablock") == "true" ? "g" : "") + n->second + "(" + reg(op.registers.at(0)) + ", " + operand(op.operands[0]) + ", " + mask_of("preg") +
             ", MODE_ZEROING);");
        return true;
    }
    case S::reg_arange:
        line("vci(" + reg(op.registers.at(0)) + ", (" + c_type(result_type()) + ")(" + operand(op.operands[0]) + "), " +
             (attribute(op, "index_order") == "DECREASE_ORDER" ? "DEC_ORDER" : "INC_ORDER") + ");");
        return true;
    default: break;
    }
    std::string text = form(op);
    if (text.empty()) return false;
    line(text + ";");
    return true;
}

} // namespace pto::emit
