/// The scalar unit's work on memory: elements, shapes, the exchange buffer, caches. Source: codegen 2.5.
#include "engine/emit/writer.hpp"

namespace pto::emit {

using S = isa::Semantics;

bool Writer::scalar_memory(const ir::Op& op) {
    switch (op.row->semantics) {
    case S::set_validshape: {
        const std::string shape = ".SetValidShape(" + list_item(op.operands[1], 0) + ", " + list_item(op.operands[1], 1) + ");";
        if (const auto* g = std::get_if<ir::GroupRef>(&op.operands[0])) {
            const std::int32_t slots = m_f[g->decl].slots();
            for (std::int32_t i = 0; i < slots; ++i) line(decl(g->decl) + (slots == 1 ? "" : "[" + std::to_string(i) + "]") + shape);
        } else {
            line(tile(std::get<ir::TileVarId>(op.operands[0])) + shape);
        }
        return true;
    }
    case S::set_stride:
        line(operand(op.operands[0]) + ".SetStride<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>(" + list_item(op.operands[1], 0) + ", " + list_item(op.operands[1], 1) + ");");
        return true;
    case S::getval: {
        std::string offset = op.operands.size() > 1 ? operand(op.operands[1]) : "";
        if (offset.empty()) offset = "0";
        if (op.results.empty()) return true;
        const auto* t = std::get_if<ir::TileVarId>(&op.operands[0]);
        const std::string value = t ? method(*t) + "GetValue(" + offset + ")" : "*(" + tensor(std::get<ir::TensorId>(op.operands[0])) + "_ptr + " + offset + ")";
        line(var(op.results[0]) + " = " + value + ";");
        return true;
    }
    case S::setval: {
        const auto* t = std::get_if<ir::TileVarId>(&op.operands[0]);
        const ir::ExprId e = std::get<ir::ExprId>(op.operands[2]);
        const std::string offset = operand(op.operands[1]);
        if (t) line(method(*t) + "SetValue(" + offset + ", " + expr_as(e, m_f[*t].type.dtype) + ");");
        else {
            const ir::TensorId g = std::get<ir::TensorId>(op.operands[0]);
            line("*(" + tensor(g) + "_ptr + " + offset + ") = " + expr_as(e, m_f[g].dtype) + ";");
        }
        return true;
    }
    case S::ssbuf_store:
    case S::ssbuf_load: {
        const std::string s = operand(op.operands[0]), offset = operand(op.operands[1]), i = temporary("w_");
        open("{");
        line("auto* words = reinterpret_cast<uint32_t*>(&" + s + ");");
        line("auto* shared = reinterpret_cast<__ssbuf__ uint32_t*>((uint64_t)(" + offset + "));");
        line("#pragma unroll");
        line("for (uint32_t " + i + " = 0; " + i + " < sizeof(" + s + ") / 4; ++" + i + ") " +
             (op.row->semantics == S::ssbuf_store ? "shared[" + i + "] = words[" + i + "];" : "words[" + i + "] = shared[" + i + "];"));
        close();
        return true;
    }
    case S::cache: {
        const std::string offset = op.operands.size() > 1 ? operand(op.operands[1]) : "";
        const auto* t = std::get_if<ir::TileVarId>(&op.operands[0]);
        std::string at = t ? "reinterpret_cast<__ubuf__ void*>((__ubuf__ " + c_type(m_f[*t].type.dtype) + "*)" + method(*t) + "data()" : "";
        if (!t) {
            const ir::TensorId g = std::get<ir::TensorId>(op.operands[0]);
            at = "reinterpret_cast<__gm__ void*>(" + tensor(g) + "_ptr";
            std::string sum = offset;
            if (const auto* list = op.operands.size() > 1 ? std::get_if<ir::ExprList>(&op.operands[1]) : nullptr) {
                sum.clear();
                for (std::size_t a = 0; a < list->size() && a < m_f[g].dims.size(); ++a) sum += (a ? " + (" : "(") + expr((*list)[a]) + ") * (" + declared_stride(g, int(a)) + ")";
            }
            if (!sum.empty()) at += " + (" + sum + ")";
        } else if (!offset.empty()) {
            at += " + (" + offset + ")";
        }
        const std::string lines = attribute(op, "cache_line").empty() ? "ENTIRE_DATA_CACHE" : attribute(op, "cache_line"), dst = attribute(op, "dst");
        line("dcci(" + at + "), cache_line_t::" + lines + (dst.empty() || dst == "AUTO" ? "" : ", dcci_dst_t::" + dst) + ");");
        return true;
    }
    case S::layout_transform: line(std::string("set_ctrl(sbitset") + (number(op, "enabled", 0) ? "1" : "0") + "(get_ctrl(), 51));"); return true;
    default: return false;
    }
}

} // namespace pto::emit
