#include "engine/execute/instruction.hpp"

#include "engine/execute/call.hpp"
#include "engine/execute/registers/code.hpp"
#include "engine/isa/timing_key.hpp"

namespace pto::execute {

std::string_view name(Key k) {
    static constexpr std::string_view names[key_count] = {
        "order",    "relu_pre_mode", "scale",     "atomic",   "phase",        "acc_to_vec_mode", "mode",
        "dim",      "target_type",   "offset",    "cmp_mode", "pattern_mode", "block_len",       "exhausted",
        "is_msb",   "set_pipe",      "wait_pipe", "pipe",     "event_id",     "sync_mode",       "core_type",
        "mutex_id", "workspace",     "loc",       "flag",     "op_type"};
    return names[std::size_t(k)];
}

namespace {

Instruction instruction_of(const ir::Function& f, const ir::Stmt& stmt) {
    Instruction in;
    in.stmt = &stmt;
    in.function = &f;
    in.at = stmt.at;
    in.keys.fill(-1);
    if (auto* op = std::get_if<ir::Op>(&stmt.what)) {
        in.op = op;
        in.row = op->row;
        in.semantics = op->row->semantics;
        in.lane = op->row->lane;
        in.name = op->row->name;
        for (int k = 0; k < key_count; ++k) in.keys[std::size_t(k)] = std::int8_t(op->row->keyword_index(name(Key(k))));
        if (int at = in.keys[std::size_t(Key::order)]; at >= 0 && at < int(op->attributes.size()))
            if (auto* list = std::get_if<ir::ExprList>(&op->attributes[std::size_t(at)]))
                for (std::size_t i = 0; i < list->size() && i < 2; ++i)
                    in.order[i] = std::int32_t(f.constant((*list)[i]).value_or(-1));
        auto ordinal = [&](Key k, int fallback) {
            const int at = in.keys[std::size_t(k)];
            if (at >= 0 && at < int(op->attributes.size()))
                if (auto* e = std::get_if<isa::EnumValue>(&op->attributes[std::size_t(at)])) return int(e->ordinal);
            return fallback;
        };
        in.phase = std::uint8_t(ordinal(Key::phase, 0));
        in.set_pipe = isa::Pipe(ordinal(Key::set_pipe, int(isa::Pipe::s)));
        in.wait_pipe = isa::Pipe(ordinal(Key::wait_pipe, int(isa::Pipe::s)));
        in.sync_mode = std::uint8_t(ordinal(Key::sync_mode, int(isa::CrossCoreSyncMode::intra_block)));
        in.core_type = std::uint8_t(ordinal(Key::core_type, int(isa::SyncCoreType::mix)));
        for (std::size_t i = 0; i < op->row->operands.size() && i < op->operands.size(); ++i)
            if (isa::reads(op->row->operands[i].role) && in.input_count < 8)
                in.inputs[std::size_t(in.input_count++)] = std::int8_t(i);
    } else if (auto* call = std::get_if<ir::VectorCall>(&stmt.what)) {
        in.call = call;
        in.name = call->name;
        in.code = registers::decode(f, *call);
        in.meaning = &registers::call_meaning;
        return in;
    } else if (auto* simt = std::get_if<ir::SimtLaunch>(&stmt.what)) {
        in.simt = simt;
        in.name = simt->name;
        in.semantics = isa::Semantics::simt_launch;
        in.code = registers::decode(f, *simt);
        in.meaning = &registers::threads_meaning;
        return in;
    }
    in.meaning = &meaning_of(in.semantics);
    return in;
}

} // namespace

InstructionTable::InstructionTable(const program::Program& program) {
    for (const program::CoreCode& core : program.cores)
        for (const program::Instr& instr : core.code) {
            if (instr.kind != program::InstrKind::issue || m_by_stmt.count(instr.stmt)) continue;
            m_sites.push_back(instruction_of(*core.function, *instr.stmt));
            m_sites.back().record_site = std::int32_t(m_sites.size()) - 1;
            m_by_stmt.emplace(instr.stmt, &m_sites.back());
        }
}

namespace {

isa::TimingFacts timing_facts(const Instruction& in) {
    isa::TimingFacts facts;
    const ir::Op& op = *in.op;
    auto tile = [&](std::size_t i) -> const isa::TileType* {
        if (i >= op.operands.size()) return nullptr;
        auto* t = std::get_if<ir::TileVarId>(&op.operands[i]);
        return t && t->valid() ? &(*in.function)[*t].type : nullptr;
    };
    int widest = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (i < in.row->operands.size() && in.row->operands[i].role == isa::Role::none) continue;
        if (const isa::TileType* t = tile(i); t && isa::bits(t->dtype) > widest) {
            widest = isa::bits(t->dtype);
            facts.dtype = t->dtype;
        }
        if (i < in.row->operands.size() && in.row->operands[i].kind == isa::OperandKind::tile_or_scalar)
            facts.scalar = std::holds_alternative<ir::ExprId>(op.operands[i]);
    }
    const isa::TileType* first = tile(0);
    const isa::TileType* second = tile(1);
    facts.destination = first ? first->memory : MemorySpace::ddr;
    facts.source = second ? second->memory : MemorySpace::ddr;
    switch (in.semantics) {
    case isa::Semantics::matmul:
    case isa::Semantics::matmul_mx:
        if (second) facts.dtype = second->dtype;
        break;
    case isa::Semantics::matmul_acc:
    case isa::Semantics::matmul_mx_acc:
        if (const isa::TileType* lhs = tile(2)) facts.dtype = lhs->dtype;
        break;
    default: break;
    }
    const int mode = in.keys[std::size_t(Key::acc_to_vec_mode)];
    if (mode >= 0 && mode < int(op.attributes.size()))
        if (auto* e = std::get_if<isa::EnumValue>(&op.attributes[std::size_t(mode)]))
            facts.dual = e->ordinal >= std::uint8_t(isa::AccToVecMode::split_m);
    return facts;
}

} // namespace

std::vector<Site> InstructionTable::record_sites() const {
    std::vector<Site> out;
    for (const Instruction& in : m_sites) {
        Site s;
        s.op = in.row;
        s.name = in.name;
        s.at = in.at;
        if (in.op) {
            const isa::TimingFacts facts = timing_facts(in);
            s.dtype = facts.dtype;
            s.timing = isa::timing_key(*in.row, facts);
        } else {
            s.timing = in.simt ? "vector.simt" : "vector_function";
        }
        out.push_back(std::move(s));
    }
    return out;
}

} // namespace pto::execute
