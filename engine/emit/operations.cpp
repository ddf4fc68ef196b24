/// One statement an operation: the row's template, or the routine of its semantics. Source: codegen 2.
#include "engine/emit/writer.hpp"

namespace pto::emit {

using S = isa::Semantics;

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
    if (op.row->semantics == S::none && op.row->operand("scale") && op.row->operands[0].kind == isa::OperandKind::tensor) return store_fp(op), true;
    return scalar_memory(op) || vector_tiles(op, at);
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
