/// One statement an operation: the row's template, or the routine of its semantics. Source: codegen 2.
#include "engine/emit/writer.hpp"

#include <cstdlib>

namespace pto::emit {

using S = isa::Semantics;

std::string Writer::operand(const ir::OperandValue& v) const {
    return std::visit(on{
                          [&](std::monostate) -> std::string { return ""; },
                          [&](ir::TileVarId t) -> std::string { return tile(t); },
                          [&](ir::TensorId t) -> std::string { return tensor(t); },
                          [&](ir::ExprId e) -> std::string { return expr(e); },
                          [&](const ir::ExprList& l) -> std::string { return l.empty() ? "" : expr(l[0]); },
                          [&](ir::RegId r) -> std::string { return reg(r); },
                          [&](const ir::StructRef& s) -> std::string { return record(s); },
                          [&](const ir::MemoryRef&) -> std::string { return memory(v, false); },
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
    const int i = op.row->keyword_index(name);
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
                          [&](ir::TileVarId t) { return tile(t); },
                          [&](ir::TensorId t) { return tensor(t); },
                          [&](const ir::ExprList& l) { return l.empty() ? std::string{} : expr(l[0]); },
                          [](const std::string& s) { return s; },
                      },
                      *a);
}

std::int64_t Writer::number(const ir::Op& op, std::string_view name, std::int64_t otherwise) const {
    const ir::AttributeValue* a = given(op, name);
    if (!a) return otherwise;
    if (const auto* i = std::get_if<std::int64_t>(a)) return *i;
    if (const auto* b = std::get_if<bool>(a)) return *b;
    if (const auto* v = std::get_if<isa::EnumValue>(a)) return v->ordinal;
    if (const auto* e = std::get_if<ir::ExprId>(a)) return m_f.constant(*e).value_or(otherwise);
    return otherwise;
}

/// A scalar operand in the element type it is combined with.
std::string Writer::scalar(const ir::Op& op, ir::ExprId e) const {
    const bool first = op.row->semantics == S::fill || op.row->semantics == S::fill_index || op.row->semantics == S::select;
    const std::size_t at = first || op.row->family == "registers" ? 0 : 1;
    isa::DType t = m_f[e].dtype;
    if (at < op.operands.size()) {
        if (const auto* x = std::get_if<ir::TileVarId>(&op.operands[at])) t = m_f[*x].type.dtype;
        if (const auto* x = std::get_if<ir::RegId>(&op.operands[at])) t = m_f[*x].dtype;
    }
    return expr_as(e, t);
}

/// Fills a row's template: {0}, {0.1}, {T0}, {RT0}, {r0}, {keyword}; '|' separates the two forms of an operand that may be a scalar.
/// Empty when there is no form for these operands.
std::string Writer::form(const ir::Op& op) const {
    std::string_view text = op.row->emit;
    if (const std::size_t bar = text.find('|'); bar != std::string_view::npos) {
        bool second = false;
        for (std::size_t i = 0; i < op.row->operands.size() && i < op.operands.size(); ++i) {
            const isa::OperandKind k = op.row->operands[i].kind;
            if (k == isa::OperandKind::tile_or_scalar || k == isa::OperandKind::reg_or_scalar) second = std::holds_alternative<ir::ExprId>(op.operands[i]);
            if (k == isa::OperandKind::reg_or_mask) second = is_mask(op.operands[i]);
        }
        if (op.row->keyword("dim")) second = number(op, "dim", 0) == 1;
        text = second ? text.substr(bar + 1) : text.substr(0, bar);
    }
    static const ir::OperandValue none;
    auto at = [&](std::size_t n) -> const ir::OperandValue& {
        if (n < op.operands.size() && !std::holds_alternative<std::monostate>(op.operands[n])) return op.operands[n];
        // a 950 leaves a reduction's scratch untouched, so the source may stand in for one that was left out
        return m_a5 && n == 2 && op.row->semantics == S::reduce ? op.operands[1] : none;
    };
    const bool typed_scalars = op.row->family == "vector" || op.row->family == "registers";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '{') {
            out += text[i];
            continue;
        }
        const std::size_t end = text.find('}', i);
        const std::string key(text.substr(i + 1, end - i - 1));
        i = end;
        auto index = [&](std::size_t from) { return std::size_t(std::strtoul(key.c_str() + from, nullptr, 10)); };
        if (key[0] >= '0' && key[0] <= '9') {
            const std::size_t dot = key.find('.');
            const ir::OperandValue& v = at(index(0));
            if (std::holds_alternative<std::monostate>(v)) return {}; // an operand that the C++ needs was left out
            if (dot != std::string::npos) out += list_item(v, index(dot + 1));
            else if (const auto* e = std::get_if<ir::ExprId>(&v); e && typed_scalars) out += scalar(op, *e);
            else out += operand(v);
        } else if (key.rfind("RT", 0) == 0) {
            out += type_of(operand(at(index(2))));
        } else if (key[0] == 'T' && key.size() > 1 && key[1] <= '9') {
            if (const auto* t = std::get_if<ir::TileVarId>(&at(index(1)))) out += c_type(m_f[*t].type.dtype);
            if (const auto* t = std::get_if<ir::TensorId>(&at(index(1)))) out += c_type(m_f[*t].dtype);
        } else if (key[0] == 'r' && key.size() > 1 && key[1] >= '0' && key[1] <= '9') {
            const std::size_t n = index(1);
            out += n < op.registers.size() ? reg(op.registers[n]) : n < op.results.size() ? var(op.results[n]) : "";
        } else if (key == "layout") {
            static constexpr std::string_view parts[] = {"EVEN", "ODD", "P2", "P3"};
            out += parts[number(op, "layout", 0) & 3];
        } else if (key == "mode" && attribute(op, "mode").empty()) {
            out += op.row->family == "registers" ? (op.row->semantics == S::reg_barrier ? "VST_VLD" : "ZEROING") : "CAST_ROUND";
        } else if (key == "block_len" || key == "mutex_id") {
            out += attribute(op, key);
        } else {
            out += attribute(op, key);
        }
    }
    return out;
}

bool Writer::cross_core(const ir::Op& op) {
    const bool set = op.row->semantics == S::cross_set, cube = m_f.core == isa::Core::cube;
    const std::string id = attribute(op, "event_id"), pipe = "PIPE_" + attribute(op, "pipe");
    const auto mode = isa::CrossCoreSyncMode(number(op, "sync_mode", int(isa::CrossCoreSyncMode::intra_block)));
    const bool in_block = mode == isa::CrossCoreSyncMode::intra_block || mode == isa::CrossCoreSyncMode::unicast_block;
    if (in_block && m_a5) {
        const std::string call = set ? "set_intra_block(" : "wait_intra_block(";
        line(call + pipe + ", " + id + ");");
        if (cube && mode == isa::CrossCoreSyncMode::intra_block) line(call + pipe + ", " + constant_plus(id, 16) + ");"); // the second vector core's copy
        return true;
    }
    m_ffts = true;
    if (set) line("ffts_cross_core_sync(" + pipe + ", getFFTSMsg(" + std::to_string(int(mode)) + ", " + id + "));");
    else line(m_a5 ? "wait_flag_dev(" + pipe + ", " + id + ");" : "wait_flag_dev(" + id + ");");
    return true;
}

/// Element access, exchange buffer, cache, masks: the scalar unit's work on memory.
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

/// Operations on whole tiles whose C++ depends on more than their operands.
bool Writer::vector_tiles(const ir::Op& op, Span at) {
    auto o = [&](std::size_t i) { return i < op.operands.size() ? operand(op.operands[i]) : std::string(); };
    switch (op.row->semantics) {
    case S::fillpad: {
        const std::string mode = attribute(op, "mode");
        const std::string name = mode == "INPLACE" ? "TFILLPAD_INPLACE" : mode == "EXPAND" ? "TFILLPAD_EXPAND" : "TFILLPAD";
        const ir::TileVarId from = std::get<ir::TileVarId>(op.operands[1]);
        isa::TileType type = m_f[from].type;
        if (type.pad == isa::TilePad::null || type.memory == isa::MemorySpace::mat) {
            line(name + "(" + o(0) + ", " + o(1) + ");");
            return true;
        }
        type.pad = isa::TilePad::null; // the source's own padding must not be taken for data
        const std::string alias = temporary("unpadded_");
        open("{");
        line(tile_type(type, true) + " " + alias + "(" + method(from) + "GetValidRow(), " + method(from) + "GetValidCol());");
        line("TASSIGN(" + alias + ", " + address(from) + ");");
        line(name + "(" + o(0) + ", " + alias + ");");
        close();
        return true;
    }
    case S::gather_compare: {
        static constexpr const char* modes[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
        const std::int64_t mode = number(op, "cmp_mode", 0);
        if (mode != 0 && mode != 4) return false; // the library selects by equality and by greater only
        line("TGATHER<" + type_of(o(0)) + ", " + type_of(o(1)) + ", " + type_of(o(2)) + ", " + type_of(o(3)) + ", " + type_of(o(4)) + ", CmpMode::" + modes[mode] + ">(" + o(0) + ", " + o(1) +
             ", " + o(2) + ", " + o(3) + ", " + o(4) + ", " + (attribute(op, "offset").empty() ? "0" : "(int)(" + attribute(op, "offset") + ")") + ");");
        return true;
    }
    case S::gather_mask: {
        static constexpr const char* patterns[] = {"", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"};
        const std::int64_t pattern = number(op, "pattern_mode", 7);
        if (pattern < 1 || pattern > 7) return false;
        line("TGATHER<" + type_of(o(0)) + ", " + type_of(o(1)) + ", MaskPattern::" + patterns[pattern] + ">(" + o(0) + ", " + o(1) + ");");
        return true;
    }
    case S::sort32:
        line("TSORT32(" + o(0) + ", " + o(1) + ", " + o(2) + (o(3).empty() ? "" : ", " + o(3)) + ");");
        return true;
    case S::merge_sort: line("TMRGSORT(" + o(0) + ", " + o(1) + ", (uint32_t)(" + attribute(op, "block_len") + "));"); return true;
    case S::merge_sort_lists: { // src0, src1, dst, tmp, src2, src3 as documented
        std::vector<std::string> sources{o(0), o(1)};
        for (std::size_t i : {4u, 5u})
            if (!o(i).empty()) sources.push_back(o(i));
        const std::string done = temporary("executed_");
        std::string types = type_of(o(2)) + ", " + type_of(o(3)), list;
        for (const std::string& s : sources) types += ", " + type_of(s), list += ", " + s;
        line("MrgSortExecutedNumList " + done + ";");
        line("TMRGSORT<" + types + ", " + (number(op, "exhausted", 0) ? "true" : "false") + ">(" + o(2) + ", " + done + ", " + o(3) + list + ");");
        warn("the positions of mrgsort2's tiles are the documented ones (src0, src1, dst, tmp); the published generator reads dst, src0, tmp, src1", at);
        return true;
    }
    case S::histogram: {
        const auto* src = std::get_if<ir::TileVarId>(&op.operands[1]);
        const int bytes = src ? isa::bytes(m_f[*src].type.dtype) : 2; // the counted byte: the top one, or the lowest with the others as filter
        line("THISTOGRAM<HistByte::BYTE_" + std::to_string(number(op, "is_msb", 0) ? bytes - 1 : 0) + ">(" + o(0) + ", " + o(1) + ", " + o(2) + ");");
        return true;
    }
    case S::quant: {
        const bool asym = number(op, "mode", 0) == int(isa::QuantMode::asym);
        line("TQUANT<QuantType::INT8_" + std::string(asym ? "ASYM" : "SYM") + ">(" + o(0) + ", " + o(1) + ", " + o(2) + (asym && given(op, "offset") ? ", &" + attribute(op, "offset") : "") + ");");
        return true;
    }
    default: return false;
    }
}

/// cmp and cmps with the relation as a number; the reductions and broadcasts with a numbered operation are not documented anywhere.
bool Writer::generic_spelling(const ir::Op& op) {
    static constexpr const char* modes[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    const bool scalar_form = op.row->name == "cmps";
    if (op.row->name != "cmp" && !scalar_form) return false;
    const std::int64_t type = number(op, "cmp_type", 0);
    if (type < 0 || type > 5) return false;
    const auto* e = std::get_if<ir::ExprId>(&op.operands[2]);
    line(std::string(scalar_form ? "TCMPS(" : "TCMP(") + operand(op.operands[0]) + ", " + operand(op.operands[1]) + ", " + (e ? scalar(op, *e) : operand(op.operands[2])) + ", CmpMode::" +
         modes[type] + ");");
    return true;
}

bool Writer::special(const ir::Op& op, Span at) {
    switch (op.row->semantics) {
    case S::load: load(op, at); return true;
    case S::store: store(op, at); return true;
    case S::move: move(op); return true;
    case S::matmul:
    case S::matmul_acc:
    case S::matmul_mx:
    case S::matmul_mx_acc: {
        std::string phase = attribute(op, "phase"), text = form(op);
        const bool bias = op.row->name == "matmul" && op.operands.size() > 3 && std::holds_alternative<ir::TileVarId>(op.operands[3]);
        if (bias) text = "TMATMUL_BIAS(" + operand(op.operands[0]) + ", " + operand(op.operands[1]) + ", " + operand(op.operands[2]) + ", " + operand(op.operands[3]) + ")";
        if (!phase.empty() && phase != "Unspecified") text.insert(text.find('('), "<AccPhase::" + phase + ">");
        line(text + ";");
        return true;
    }
    case S::cross_set:
    case S::cross_wait: return cross_core(op);
    case S::flag_set:
    case S::flag_wait: {
        const std::string id = attribute(op, "event_id");
        const bool constant = !id.empty() && id.size() < 2 && id[0] >= '0' && id[0] <= '7';
        line(std::string(op.row->semantics == S::flag_set ? "set_flag" : "wait_flag") + "(PIPE_" + attribute(op, "set_pipe") + ", PIPE_" + attribute(op, "wait_pipe") + ", " +
             (constant ? "EVENT_ID" + id : "(event_t)(" + id + ")") + ");");
        return true;
    }
    case S::barrier: line("pipe_barrier(" + pipe_name(op.pipe) + ");"); return true;
    case S::sync_all: {
        const std::string kind = attribute(op, "core_type");
        const std::string word = kind == "AIV_ONLY" ? "AIVOnly" : kind == "AIC_ONLY" ? "AICOnly" : "Mix";
        if (attribute(op, "mode") != "SOFT") {
            line("SYNCALL<SyncCoreType::" + word + ">();");
            return true;
        }
        const auto* list = op.operands.empty() ? nullptr : std::get_if<ir::MixedList>(&op.operands[0]);
        if (!list || list->tensors.empty()) return false;
        line("SYNCALL<SyncAllMode::Soft, SyncCoreType::" + word + ">(" + tensor(list->tensors[0]) + ", (int32_t)get_block_num());"); // its counter lies in global memory
        return true;
    }
    case S::print:
    case S::assertion: debug_print(op, at); return true;
    case S::dump: return dump(op);
    case S::trap: line("return;"); return true;
    default: break;
    }
    if (op.row->name == "store_fp") return store_fp(op), true;
    return scalar_memory(op) || vector_tiles(op, at) || generic_spelling(op);
}

/// Column-major tiles as the row-major tiles that their bytes are.
void Writer::open_row_views(const ir::Op& op) {
    open("{");
    for (const ir::OperandValue& o : op.operands) {
        const auto* t = std::get_if<ir::TileVarId>(&o);
        if (!t || m_row_views.count(t->index)) continue;
        isa::TileType type = m_f[*t].type;
        std::swap(type.shape[0], type.shape[1]);
        type.layout = isa::Layout::nd;
        const std::string v = temporary("rows_");
        line(tile_type(type, true) + " " + v + "(" + method(*t) + "GetValidCol(), " + method(*t) + "GetValidRow());");
        line("TASSIGN(" + v + ", " + address(*t) + ");");
        m_row_views[t->index] = v;
    }
}

void Writer::operation(const ir::Op& op, Span at) {
    if (m_in_simt) {
        if (!simt_operation(op)) missing(op.row->name, at);
        return;
    }
    if (m_in_vector) {
        if (!register_operation(op)) missing(op.row->name, at);
        return;
    }
    if (!m_a5 && !op.locks.empty()) warn("the chip has no buffer locks; order " + std::string(op.row->name) + " by flags", at);
    if (m_a5) locks(op.locks, op.pipe, true);
    const bool by_columns = Facts::by_columns(m_f, op);
    if (by_columns) open_row_views(op);
    if (!special(op, at)) {
        const std::string text = form(op);
        if (text.empty()) missing(op.row->name, at);
        for (std::size_t begin = 0; begin < text.size();) { // fused forms are several instructions
            const std::size_t end = std::min(text.find("; ", begin), text.size());
            line(text.substr(begin, end - begin) + ";");
            begin = end + 2;
            if (!m_a5 && op.pipe == isa::Pipe::v && begin < text.size()) line("pipe_barrier(PIPE_V);");
        }
    }
    if (by_columns) {
        m_row_views.clear();
        close();
    }
    if (!m_a5 && op.pipe == isa::Pipe::v && !op.row->descriptor_only) line("pipe_barrier(PIPE_V);"); // that vector unit does not wait for its own results
    if (m_a5) locks(op.locks, op.pipe, false);
}

} // namespace pto::emit
