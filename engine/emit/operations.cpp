#include "engine/emit/writer.hpp"

namespace pto::emit {

std::string Writer::operand(const ir::OperandValue& v) const {
    return std::visit(on{
                          [&](std::monostate) -> std::string { return ""; },
                          [&](ir::TileVarId t) -> std::string { return "(*" + tile(t) + ")"; },
                          [&](ir::TensorId t) -> std::string { return tensor(t); },
                          [&](ir::ExprId e) -> std::string { return expr(e); },
                          [&](const ir::ExprList& l) -> std::string { return l.empty() ? "" : expr(l[0]); },
                          [&](ir::RegId r) -> std::string { return reg(r); },
                          [&](const ir::StructRef& s) -> std::string { return record(s); },
                          [&](const ir::MemoryRef& m) -> std::string { return memory(m); },
                          [&](const ir::GroupRef& g) -> std::string { return decl(g.decl); },
                          [&](const ir::MixedList&) -> std::string { return ""; },
                          [&](const std::string& s) -> std::string { return s; },
                      },
                      v);
}

std::string Writer::list_item(const ir::OperandValue& v, std::size_t i) const {
    if (const auto* l = std::get_if<ir::ExprList>(&v); l && i < l->size()) return expr((*l)[i]);
    return "0";
}

const ir::AttributeValue* Writer::given(const ir::Op& op, std::string_view name) const {
    int i = op.row->keyword_index(name);
    if (i < 0 || std::size_t(i) >= op.attributes.size() || std::holds_alternative<std::monostate>(op.attributes[std::size_t(i)])) return nullptr;
    return &op.attributes[std::size_t(i)];
}

std::string Writer::attribute(const ir::Op& op, std::string_view name) const {
    const ir::AttributeValue* a = given(op, name);
    if (!a) return "";
    return std::visit(on{
                          [](std::monostate) -> std::string { return ""; },
                          [](const isa::EnumValue& e) { return std::string(isa::name(e)); },
                          [](isa::DType t) { return c_type(t); },
                          [](std::int64_t v) { return std::to_string(v); },
                          [](double v) { return real_literal(v); },
                          [](bool v) -> std::string { return v ? "true" : "false"; },
                          [&](ir::ExprId e) { return expr(e); },
                          [&](ir::TileVarId t) { return "(*" + tile(t) + ")"; },
                          [&](ir::TensorId t) { return tensor(t); },
                          [&](const ir::ExprList& l) { return l.empty() ? std::string{} : expr(l[0]); },
                          [](const std::string& s) { return s; },
                      },
                      *a);
}

/// Fills a row's template: {0}, {0.1}, {T0}, {RT0}, {r0}, {keyword}; '|' separates the two forms of an operand that may be a scalar.
std::string Writer::form(const ir::Op& op) const {
    std::string_view text = op.row->emit;
    if (std::size_t bar = text.find('|'); bar != std::string_view::npos) {
        bool second = false;
        for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i) {
            isa::OperandKind k = op.row->operands[i].kind;
            if (k == isa::OperandKind::tile_or_scalar || k == isa::OperandKind::reg_or_scalar) second = std::holds_alternative<ir::ExprId>(op.operands[i]);
            if (k == isa::OperandKind::reg_or_mask)
                if (const auto* r = std::get_if<ir::RegId>(&op.operands[i])) second = m_f[*r].kind == ir::RegKind::mask;
        }
        if (op.row->keyword("dim")) second = attribute(op, "dim") == "1";
        text = second ? text.substr(bar + 1) : text.substr(0, bar);
    }
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '{') {
            out += text[i];
            continue;
        }
        std::size_t end = text.find('}', i);
        std::string key(text.substr(i + 1, end - i - 1));
        i = end;
        auto number = [&](std::size_t from) { return std::size_t(std::stoul(key.substr(from))); };
        auto at = [&](std::size_t n) -> const ir::OperandValue& {
            static const ir::OperandValue none;
            return n < op.operands.size() ? op.operands[n] : none;
        };
        if (key[0] >= '0' && key[0] <= '9') {
            std::size_t dot = key.find('.');
            out += dot == std::string::npos ? operand(at(number(0))) : list_item(at(number(0)), std::size_t(std::stoul(key.substr(dot + 1))));
        } else if (key.rfind("RT", 0) == 0) {
            out += "std::remove_reference_t<decltype(" + operand(at(number(2))) + ")>";
        } else if (key[0] == 'T' && key.size() > 1 && key[1] <= '9') {
            if (const auto* t = std::get_if<ir::TileVarId>(&at(number(1)))) out += c_type(m_f[*t].type.dtype);
            if (const auto* t = std::get_if<ir::TensorId>(&at(number(1)))) out += c_type(m_f[*t].dtype);
        } else if (key[0] == 'r' && key.size() > 1 && key[1] >= '0' && key[1] <= '9') {
            std::size_t n = number(1);
            out += n < op.registers.size() ? reg(op.registers[n]) : n < op.results.size() ? var(op.results[n]) : "";
        } else if (key == "layout") {
            static constexpr std::string_view parts[] = {"EVEN", "ODD", "P2", "P3"};
            const ir::AttributeValue* a = given(op, "layout");
            const auto* e = a ? std::get_if<isa::EnumValue>(a) : nullptr;
            out += parts[e ? e->ordinal & 3 : 0];
        } else if (key == "mode" && attribute(op, "mode").empty()) {
            out += "ZEROING";
        } else {
            out += attribute(op, key);
        }
    }
    return out;
}

std::string Writer::linear_offset(const ir::Tensor& t, const ir::Op& op, std::size_t list) const {
    const auto* offsets = std::get_if<ir::ExprList>(&op.operands[list]);
    std::string out;
    bool whole_tiles = op.row->operands[list].name == "idx";
    const isa::TileType* type = nullptr;
    for (const ir::OperandValue& o : op.operands)
        if (const auto* v = std::get_if<ir::TileVarId>(&o)) type = &m_f[*v].type;
    std::size_t rank = offsets ? offsets->size() : 0;
    std::string n = tensor({std::int32_t(&t - m_f.tensors.data())});
    for (std::size_t a = 0; a < rank; ++a) {
        std::string stride = t.is_parameter() ? stride_of(t, a) : n + "_stride" + std::to_string(a);
        std::string factor = whole_tiles && type && a + 2 >= rank ? std::to_string(type->shape[a + 2 - rank]) + " * " : "";
        out += (out.empty() ? "" : " + ") + std::string("(") + factor + expr((*offsets)[a]) + ") * (" + stride + ")";
    }
    return out.empty() ? "0" : out;
}

void Writer::transfer(const ir::Op& op, std::size_t tensor_at, std::size_t tile_at, bool store) {
    ir::TensorId g = std::get<ir::TensorId>(op.operands[tensor_at]);
    ir::TileVarId t = std::get<ir::TileVarId>(op.operands[tile_at]);
    const ir::Tensor& view = m_f[g];
    std::string n = tensor(g), d = "(*" + tile(t) + ")", typed = "std::remove_reference_t<decltype(" + d + ")>";
    if (view.layout != isa::Layout::nz)
        line(n + ".template SetShape<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>(static_cast<int64_t>(" + tile(t) + "->GetValidRow()), static_cast<int64_t>(" +
             tile(t) + "->GetValidCol()));");
    line("TASSIGN(" + n + ", " + n + "_ptr + (" + linear_offset(view, op, 2) + "));");
    if (!store) {
        const ir::AttributeValue* order = given(op, "order");
        const auto* axes = order ? std::get_if<ir::ExprList>(order) : nullptr;
        if (axes && axes->size() == 2 && m_f.constant((*axes)[0]).value_or(0) > m_f.constant((*axes)[1]).value_or(0)) {
            std::string dn = "view_" + std::to_string(m_temporaries++); // a descending order reads the transposed window
            std::size_t rank = view.dims.size();
            std::string row = view.is_parameter() ? stride_of(view, rank - 2) : n + "_stride" + std::to_string(rank - 2);
            line("GlobalTensor<" + c_type(view.dtype) + ", " + n + "Shape, " + n + "Stride, Layout::DN> " + dn + "(" + n + "_ptr + (" + linear_offset(view, op, 2) + "), " + n +
                 "Shape(" + tile(t) + "->GetValidRow(), " + tile(t) + "->GetValidCol()), " + n + "Stride(1, 1, 1, 1, " + row + "));");
            line("TLOAD(" + d + ", " + dn + ");");
            return;
        }
        line("TLOAD(" + d + ", " + n + ");");
        return;
    }
    std::string phase = attribute(op, "phase"), relu = attribute(op, "relu_pre_mode"), atomic = attribute(op, "atomic");
    bool adds = atomic == "AtomicAdd", phased = !phase.empty() && phase != "Unspecified";
    std::string scale;
    if (const ir::AttributeValue* s = given(op, "scale")) {
        if (std::holds_alternative<ir::TileVarId>(*s)) {
            line("TSTORE_FP(" + n + ", " + d + ", " + attribute(op, "scale") + ");");
            return;
        }
        bool whole = std::holds_alternative<ir::ExprId>(*s) && !isa::is_float(m_f[std::get<ir::ExprId>(*s)].dtype);
        scale = whole ? ", static_cast<uint64_t>(" + attribute(op, "scale") + ")"
                      : ", static_cast<uint64_t>(__builtin_bit_cast(uint32_t, (float)(" + attribute(op, "scale") + ")))";
        if (view.dtype == isa::DType::int8) scale += " | (1ULL << 46)";
    }
    if (adds) {
        static const std::map<isa::DType, std::string> widths = {{isa::DType::fp32, "f32"}, {isa::DType::fp16, "f16"}, {isa::DType::bf16, "bf16"},
                                                                 {isa::DType::int32, "s32"}, {isa::DType::int16, "s16"}, {isa::DType::int8, "s8"}};
        auto w = widths.find(view.dtype);
        line("set_atomic_" + (w == widths.end() ? "f32" : w->second) + "();");
        line("set_atomic_add();");
    }
    std::string arguments;
    if (phased || !relu.empty())
        arguments = "<" + (phased ? "STPhase::" + phase + ", " : std::string()) + typed + ", decltype(" + n + ")" +
                    (relu.empty() ? "" : ", AtomicType::AtomicNone, ReluPreMode::" + relu) + ">";
    line("TSTORE" + arguments + "(" + n + ", " + d + scale + ");");
    if (adds) line("set_atomic_none();");
}

void Writer::move(const ir::Op& op) {
    ir::TileVarId to = std::get<ir::TileVarId>(op.operands[0]), from = std::get<ir::TileVarId>(op.operands[1]);
    const isa::TileType &d = m_f[to].type, &s = m_f[from].type;
    std::string dn = "(*" + tile(to) + ")", sn = "(*" + tile(from) + ")";
    auto typed = [](const std::string& x) { return "std::remove_reference_t<decltype(" + x + ")>"; };
    bool has_offset = op.operands.size() > 2 && std::holds_alternative<ir::ExprList>(op.operands[2]);
    std::string mode = attribute(op, "acc_to_vec_mode"), relu = attribute(op, "relu_pre_mode");
    if (has_offset && (s.shape[0] < d.shape[0] || s.shape[1] < d.shape[1])) {
        line("TINSERT(" + dn + ", " + sn + ", " + list_item(op.operands[2], 0) + ", " + list_item(op.operands[2], 1) + ");");
        return;
    }
    if (s.memory == isa::MemorySpace::vec && d.memory == isa::MemorySpace::mat && s.layout != d.layout) {
        line("TINSERT(" + dn + ", " + sn + ", 0, 0);");
        return;
    }
    if (s.memory == isa::MemorySpace::acc && d.memory == isa::MemorySpace::vec) {
        if (mode.empty()) mode = "SingleModeVec0";
        if (mode == "DualModeSplitM") line(tile(from) + "->SetValidShape((" + tile(from) + "->GetValidRow() + 1) / 2 * 2, " + tile(from) + "->GetValidCol());");
        if (mode == "DualModeSplitN") line(tile(from) + "->SetValidShape(" + tile(from) + "->GetValidRow(), (" + tile(from) + "->GetValidCol() + 31) / 32 * 32);");
    }
    std::string scale;
    if (const ir::AttributeValue* x = given(op, "scale")) {
        if (std::holds_alternative<ir::TileVarId>(*x)) {
            line("TMOV_FP<" + typed(dn) + ", " + typed(sn) + ", " + typed(attribute(op, "scale")) + ">(" + dn + ", " + sn + ", " + attribute(op, "scale") + ");");
            return;
        }
        scale = ", static_cast<uint64_t>(__builtin_bit_cast(uint32_t, (float)(" + attribute(op, "scale") + ")))";
        if (d.dtype == isa::DType::int8) scale += " | (1ULL << 46)";
    }
    std::string arguments = typed(dn) + ", " + typed(sn);
    if (!mode.empty()) arguments += ", AccToVecMode::" + mode;
    if (!relu.empty()) arguments += ", ReluPreMode::" + relu;
    if (has_offset) line("TEXTRACT<" + arguments + ">(" + dn + ", " + sn + ", " + list_item(op.operands[2], 0) + ", " + list_item(op.operands[2], 1) + scale + ");");
    else line("TMOV<" + arguments + ">(" + dn + ", " + sn + scale + ");");
}

void Writer::cross_core(const ir::Op& op) {
    bool set = op.row->semantics == isa::Semantics::cross_set, cube = m_f.core == isa::Core::cube;
    std::string mode = attribute(op, "sync_mode"), id = attribute(op, "event_id"), pipe = "PIPE_" + attribute(op, "pipe");
    if (mode.empty() || mode == "INTRA_BLOCK" || mode == "UNICAST_BLOCK") {
        std::string call = set ? "set_intra_block(" : "wait_intra_block(";
        line(call + pipe + ", " + id + ");");
        if (cube && mode != "UNICAST_BLOCK") line(call + pipe + ", (" + id + ") + 16);"); // the second vector core's copy
        return;
    }
    std::string number = mode == "INTER_BLOCK" ? "0" : "1";
    if (set) line("ffts_cross_core_sync(" + pipe + ", getFFTSMsg(" + number + ", " + id + "));");
    else line("wait_flag_dev(" + pipe + ", " + id + ");");
}

void Writer::debug_print(const ir::Op& op) {
    m_out.prints = true;
    std::string arguments;
    std::size_t text_at = op.operands.size();
    for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (std::holds_alternative<std::string>(op.operands[i])) {
            text_at = i;
            break;
        }
    std::string text = text_at < op.operands.size() ? std::get<std::string>(op.operands[text_at]) : "";
    std::string quoted;
    for (unsigned char c : text) {
        if (c == '\n') quoted += "\\n";
        else if (c == '"' || c == '\\') quoted += std::string("\\") + char(c);
        else if (c < 0x20 || c >= 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\%03o", c);
            quoted += escape;
        } else quoted += char(c);
    }
    for (std::size_t i = text_at + 1; i < op.operands.size(); ++i) {
        if (const auto* list = std::get_if<ir::ExprList>(&op.operands[i]))
            for (ir::ExprId e : *list) arguments += ", " + expr(e);
        else if (std::string value = operand(op.operands[i]); !value.empty()) arguments += ", " + value;
    }
    if (op.row->semantics == isa::Semantics::assertion) {
        line("if (!(" + operand(op.operands[0]) + ")) {");
        ++m_indent;
        line("cce::printf(\"Assertion failed\\n\");");
        if (!text.empty()) line("cce::printf(\"" + quoted + "\"" + arguments + ");");
        --m_indent;
        line("}");
    } else {
        line("cce::printf(\"" + quoted + "\"" + arguments + ");");
    }
}

bool Writer::special(const ir::Op& op) {
    using S = isa::Semantics;
    switch (op.row->semantics) {
    case S::load: transfer(op, 1, 0, false); return true;
    case S::store: transfer(op, 0, 1, true); return true;
    case S::move:
        if (op.row->name == op.row->call_name() && op.row->keyword("acc_to_vec_mode")) {
            move(op);
            return true;
        }
        return false;
    case S::matmul:
    case S::matmul_acc:
    case S::matmul_mx:
    case S::matmul_mx_acc: {
        std::string phase = attribute(op, "phase"), text = form(op);
        if (text.empty()) return false;
        bool bias = op.row->semantics == S::matmul && op.operands.size() > 3 && std::holds_alternative<ir::TileVarId>(op.operands[3]);
        if (bias) text = "TMATMUL_BIAS(" + operand(op.operands[0]) + ", " + operand(op.operands[1]) + ", " + operand(op.operands[2]) + ", " + operand(op.operands[3]) + ")";
        if (!phase.empty() && phase != "Unspecified") text.insert(text.find('('), "<AccPhase::" + phase + ">");
        line(text + ";");
        return true;
    }
    case S::cross_set:
    case S::cross_wait: cross_core(op); return true;
    case S::flag_set:
    case S::flag_wait: {
        std::string id = attribute(op, "event_id");
        bool constant = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
        line(std::string(op.row->semantics == S::flag_set ? "set_flag" : "wait_flag") + "(PIPE_" + attribute(op, "set_pipe") + ", PIPE_" + attribute(op, "wait_pipe") + ", " +
             (constant ? "EVENT_ID" + id : "(event_t)(" + id + ")") + ");");
        return true;
    }
    case S::barrier: line("pipe_barrier(" + pipe_name(op.pipe) + ");"); return true;
    case S::sync_all: {
        std::string kind = attribute(op, "core_type");
        const char* word = kind == "AIV_ONLY" ? "AIVOnly" : kind == "AIC_ONLY" ? "AICOnly" : "Mix";
        if (attribute(op, "mode") == "SOFT") return false;
        line("SYNCALL<SyncCoreType::" + std::string(word) + ">();");
        return true;
    }
    case S::set_validshape: {
        std::string rows = list_item(op.operands[1], 0), cols = list_item(op.operands[1], 1);
        if (const auto* g = std::get_if<ir::GroupRef>(&op.operands[0])) {
            for (std::int32_t i = 0; i < m_f[g->decl].slots(); ++i) line(decl(g->decl) + "[" + std::to_string(i) + "].SetValidShape(" + rows + ", " + cols + ");");
        } else {
            line(tile(std::get<ir::TileVarId>(op.operands[0])) + "->SetValidShape(" + rows + ", " + cols + ");");
        }
        return true;
    }
    case S::getval: {
        std::string offset = operand(op.operands.size() > 1 ? op.operands[1] : ir::OperandValue{});
        if (offset.empty()) offset = "0";
        std::string value;
        if (const auto* t = std::get_if<ir::TileVarId>(&op.operands[0])) value = tile(*t) + "->GetValue(" + offset + ")";
        else value = "*(" + tensor(std::get<ir::TensorId>(op.operands[0])) + "_ptr + " + offset + ")";
        if (!op.results.empty()) line(var(op.results[0]) + " = " + value + ";");
        return true;
    }
    case S::setval: {
        std::string offset = operand(op.operands[1]), value = operand(op.operands[2]);
        if (const auto* t = std::get_if<ir::TileVarId>(&op.operands[0])) line(tile(*t) + "->SetValue(" + offset + ", " + value + ");");
        else line("*(" + tensor(std::get<ir::TensorId>(op.operands[0])) + "_ptr + " + offset + ") = " + value + ";");
        return true;
    }
    case S::ssbuf_store:
    case S::ssbuf_load: {
        std::string s = operand(op.operands[0]), offset = operand(op.operands[1]), i = "w_" + std::to_string(m_temporaries++);
        line("{");
        ++m_indent;
        line("auto* words = reinterpret_cast<uint32_t*>(&" + s + ");");
        line("auto* shared = reinterpret_cast<__ssbuf__ uint32_t*>((uint64_t)(" + offset + "));");
        line("#pragma unroll");
        line("for (uint32_t " + i + " = 0; " + i + " < sizeof(" + s + ") / 4; ++" + i + ") " +
             (op.row->semantics == S::ssbuf_store ? "shared[" + i + "] = words[" + i + "];" : "words[" + i + "] = shared[" + i + "];"));
        --m_indent;
        line("}");
        return true;
    }
    case S::fillpad: {
        std::string mode = attribute(op, "mode");
        line(std::string(mode == "INPLACE" ? "TFILLPAD_INPLACE" : mode == "EXPAND" ? "TFILLPAD_EXPAND" : "TFILLPAD") + "(" + operand(op.operands[0]) + ", " +
             operand(op.operands[1]) + ");");
        return true;
    }
    case S::layout_transform: line(std::string("set_ctrl(sbitset") + (attribute(op, "enabled") == "true" ? "1" : "0") + "(get_ctrl(), 51));"); return true;
    case S::print:
    case S::assertion: debug_print(op); return true;
    case S::trap: line("return;"); return true;
    default: return false;
    }
}

void Writer::operation(const ir::Op& op, Span at) {
    if (m_in_vector) {
        if (!register_operation(op)) missing(op, at);
        return;
    }
    locks(op.locks, op.pipe, true);
    if (!special(op)) {
        std::string text = form(op);
        if (text.empty()) missing(op, at);
        else line(text + ";");
    }
    locks(op.locks, op.pipe, false);
}

} // namespace pto::emit
