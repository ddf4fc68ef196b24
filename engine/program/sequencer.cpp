#include "engine/program/sequencer.hpp"

#include "engine/program/prepared.hpp"

#include <algorithm>

namespace pto::program {
namespace {

constexpr std::int64_t wrap_add(std::int64_t a, std::int64_t b) { return std::int64_t(std::uint64_t(a) + std::uint64_t(b)); }

Cell integer_cell(std::int64_t v, bool known = true) {
    Cell c;
    c.integer = v;
    c.known = known;
    return c;
}
Cell cell_of(const Scalar& s, isa::DType type) {
    Cell c;
    c.known = s.known;
    if (is_real(type)) c.real = round_real(is_real(s.dtype) ? s.real : double(s.integer), type);
    else c.integer = wrap_integer(is_real(s.dtype) ? std::int64_t(s.real) : s.integer, type);
    return c;
}
Scalar scalar_of(const Cell& c, isa::DType type) {
    Scalar s;
    s.dtype = type;
    s.known = c.known;
    if (is_real(type)) s.real = c.real;
    else s.integer = c.integer;
    return s;
}
std::int64_t trips_of(std::int64_t start, std::int64_t stop, std::int64_t step) {
    const __int128 distance = step > 0 ? __int128(stop) - start : __int128(start) - stop;
    const __int128 stride = step > 0 ? __int128(step) : -__int128(step);
    return distance <= 0 ? 0 : std::int64_t((distance + stride - 1) / stride);
}

} // namespace

Sequencer::Sequencer(std::shared_ptr<const Prepared> code, const CoreSetup& setup) : m_code(std::move(code)), m_setup(setup) {
    const ir::Function& f = *m_code->core.function;
    m_frame = m_code->scalars.literals;
    m_tiles.resize(f.tiles.size());
    m_valid.resize(std::size_t(m_code->valid_cells));
    for (std::size_t d = 0; d < f.decls.size(); ++d) {
        const isa::TileType& t = f.decls[d].type;
        for (std::int32_t s = 0; s < f.decls[d].slots(); ++s)
            m_valid[std::size_t(m_code->slot_cells[d] + s)] = {t.fixed_valid ? t.valid[0] : t.shape[0], t.fixed_valid ? t.valid[1] : t.shape[1], true};
    }
    for (const ir::TileDecl& d : f.decls)
        if (d.cursor.valid()) m_frame[std::size_t(d.cursor.index)] = integer_cell(d.slots() - 1);
    m_loops.resize(std::size_t(m_code->core.loops));
    m_forced.assign(std::size_t(m_code->core.loops), -1);
    m_watched.assign(std::size_t(m_code->core.loops), false);
    m_stage_entries.assign(m_code->core.stages.size(), 0);
    m_instances.resize(m_code->core.code.size());

    static const ParamValue nothing;
    const auto param = [&](ir::ParamId p) -> const ParamValue& {
        return std::size_t(p.index) < m_setup.params.size() ? m_setup.params[std::size_t(p.index)] : nothing;
    };
    for (std::size_t v = 0; v < f.vars.size(); ++v) {
        if (!f.vars[v].param.valid()) continue;
        const ParamValue& p = param(f.vars[v].param);
        m_frame[v] = p.known ? f.vars[v].is_pointer ? integer_cell(p.address) : cell_of(p.scalar, f.vars[v].dtype) : integer_cell(0, false);
    }
    m_tensors.resize(f.tensors.size());
    m_tensor_known.assign(f.tensors.size(), false);
    for (std::size_t t = 0; t < f.tensors.size(); ++t) {
        const ir::Tensor& decl = f.tensors[t];
        TensorValue& out = m_tensors[t];
        out.dtype = decl.dtype, out.layout = decl.layout, out.tensor = ir::TensorId{std::int32_t(t)};
        out.rank = std::int32_t(std::min<std::size_t>(decl.dims.size(), out.shape.size()));
        if (!decl.is_parameter()) continue;
        const ParamValue& p = param(decl.param);
        m_tensor_known[t] = p.known;
        out.address = p.address;
        std::int64_t stride = 1;
        for (std::int32_t k = out.rank; k-- > 0;) {
            const auto axis = std::size_t(k);
            out.shape[axis] = p.known && axis < p.shape.size() ? p.shape[axis] : decl.dims[axis].dynamic ? -1 : decl.dims[axis].size;
            out.stride[axis] = stride;
            if (stride < 0) m_tensor_known[t] = false;
            stride = out.shape[axis] < 0 || stride < 0 ? -1 : stride * out.shape[axis];
        }
    }
    for (std::size_t s = 0; s < f.structs.size(); ++s) {
        if (!f.structs[s].param.valid()) continue;
        const ParamValue& p = param(f.structs[s].param);
        for (std::size_t k = 0; k < f.structs[s].fields.size(); ++k) {
            const ir::Field& field = f.structs[s].fields[k];
            const FieldPlace at = m_code->scalars.field_place(ir::StructId{std::int32_t(s)}, std::int32_t(k));
            for (std::int32_t e = 0; e < std::max(1, field.length); ++e) {
                const bool given = p.known && k < p.fields.size() && std::size_t(e) < p.fields[k].size();
                m_frame[std::size_t(at.base + e)] = given ? cell_of(p.fields[k][std::size_t(e)], field.dtype) : integer_cell(0, false);
            }
        }
    }
    fill_prelude();
}

Sequencer::~Sequencer() = default;
Sequencer::Sequencer(Sequencer&&) noexcept = default;

void Sequencer::fill_prelude() {
    const bool mix = m_code->kernel->is_mix();
    const bool vector = m_code->core.core == isa::Core::vector;
    const ir::Function& f = *m_code->core.function;
    for (const ScalarCode::Query& q : m_code->scalars.queries) {
        Cell& c = m_frame[std::size_t(q.cell)];
        switch (q.op) {
        case ir::ExprOp::block_idx:
            c = integer_cell(vector && mix ? std::int64_t(m_setup.block) * 2 + m_setup.subblock : m_setup.block, m_setup.block_known);
            break;
        case ir::ExprOp::block_num: c = integer_cell(m_setup.block_num, m_setup.block_known); break;
        case ir::ExprOp::subblock_idx: c = integer_cell(vector ? m_setup.subblock : 0); break;
        case ir::ExprOp::subblock_num: c = integer_cell(vector && mix ? 2 : 1); break;
        case ir::ExprOp::dim: {
            const ir::Dim& d = f[q.tensor].dims[std::size_t(q.axis)];
            const std::int64_t given = m_tensors[std::size_t(q.tensor.index)].shape[std::size_t(q.axis)];
            c = d.dynamic ? integer_cell(given, given >= 0) : integer_cell(d.size);
            break;
        }
        case ir::ExprOp::address: {
            const bool param_known = f[q.tensor].is_parameter() && std::size_t(f[q.tensor].param.index) < m_setup.params.size() &&
                                     m_setup.params[std::size_t(f[q.tensor].param.index)].known;
            c = integer_cell(m_tensors[std::size_t(q.tensor.index)].address, param_known);
            break;
        }
        default: c = integer_cell(0); break; // spr: nothing squeezed yet
        }
    }
    if (!run(m_code->scalars.prelude)) m_waiting = Waiting::finish; // a fault in a launch constant: reported by the first next()
}

void Sequencer::set_spr(std::int64_t value, bool known) {
    for (const ScalarCode::Query& q : m_code->scalars.queries)
        if (q.op == ir::ExprOp::spr) m_frame[std::size_t(q.cell)] = integer_cell(value, known);
}

bool Sequencer::fail(Span at, std::string message) {
    m_fault = {std::move(message), at};
    return false;
}

Step Sequencer::ask(Question::Kind kind, std::int32_t loop, std::int32_t slots, Span at) {
    m_question = {kind, m_pc, loop, slots, at};
    m_waiting = Waiting::answer;
    return Step::question;
}

void Sequencer::force_trips(std::int32_t loop, std::int64_t trips) { m_forced.at(std::size_t(loop)) = trips; }
std::int64_t Sequencer::loop_trip(std::int32_t loop) const {
    const LoopState& s = m_loops[std::size_t(loop)];
    return s.running ? s.done : -1;
}
std::int64_t Sequencer::bound_trips(std::int32_t loop) const { return m_loops[std::size_t(loop)].bound; }
const CoreCode& Sequencer::core() const { return m_code->core; }
Scalar Sequencer::variable(ir::VarId v) const { return scalar_of(m_frame[std::size_t(v.index)], (*m_code->core.function)[v].dtype); }
Scalar Sequencer::field(ir::StructId s, std::int32_t record, std::int32_t field, std::int32_t element) const {
    const FieldPlace at = m_code->scalars.field_place(s, field);
    return scalar_of(m_frame[std::size_t(at.base + record * at.record + element)], (*m_code->core.function)[s].fields[std::size_t(field)].dtype);
}

std::size_t Sequencer::tiles_digest(std::span<const ir::TileVarId> handles, std::span<const ir::TileDeclId> declarations) const {
    std::size_t h = 0;
    const auto mix = [&](std::int64_t v) { h = (h ^ std::size_t(v)) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
    const auto mix_valid = [&](const ValidCell& v) { mix(v.known ? std::int64_t(v.rows) << 32 | v.cols : -1); };
    for (ir::TileVarId id : handles) {
        const Handle& t = m_tiles[std::size_t(id.index)];
        mix(t.bound);
        if (!t.bound) continue;
        mix(t.value.address), mix(t.value.decl.index), mix(t.value.slot), mix(t.value.row_stride), mix(std::int64_t(reinterpret_cast<std::intptr_t>(t.value.type)));
        mix_valid(m_valid[std::size_t(t.value.valid_cell)]);
    }
    for (ir::TileDeclId d : declarations)
        for (std::int32_t s = 0; s < (*m_code->core.function)[d].slots(); ++s) mix_valid(m_valid[std::size_t(m_code->slot_cells[std::size_t(d.index)] + s)]);
    return h;
}

const OpInstance& Sequencer::current() const { return *m_instances.at(std::size_t(m_issued)); }
bool Sequencer::needs_value() const { return m_waiting == Waiting::value || m_waiting == Waiting::words; }

// ---------------------------------------------------------------- loops

void Sequencer::set_loop_var(const Instr& i, const LoopState& s) {
    m_frame[std::size_t(i.var.index)] = integer_cell(wrap_integer(s.value, (*m_code->core.function)[i.var].dtype), s.known);
}

void Sequencer::start_loop(const PreparedInstr& p, std::int64_t trips) {
    const Instr& i = *p.instr;
    LoopState& s = m_loops[std::size_t(i.loop)];
    s.trips = trips, s.done = 0, s.running = trips > 0;
    // An unknown end that is a plain variable or size now has a value: conditions on it agree with the count.
    if (p.b.begin == p.b.end && !m_frame[std::size_t(p.b.cell)].known && s.known) m_frame[std::size_t(p.b.cell)] = integer_cell(wrap_add(s.value, trips * s.step));
    if (trips <= 0) {
        m_pc = i.target;
        return;
    }
    set_loop_var(i, s);
    if (m_watched[std::size_t(i.loop)]) m_begun = i.loop;
    ++m_pc;
}

// ---------------------------------------------------------------- the walk

Step Sequencer::next(std::int64_t budget) {
    if (m_waiting == Waiting::finish) return m_fault.message.empty() ? Step::finished : Step::fault;
    if (m_waiting != Waiting::nothing) throw InternalError{"the sequencer waits for a value or an answer"};
    const Prepared& code = *m_code;
    const std::int64_t limit = m_scalar_total + budget;
    const auto fault = [&] {
        m_waiting = Waiting::finish;
        return Step::fault;
    };
    m_begun = -1;
    for (;;) {
        if (m_scalar_total >= limit || m_begun >= 0) return Step::budget;
        const PreparedInstr& p = code.instrs[std::size_t(m_pc)];
        const Instr& i = *p.instr;
        ++m_scalar_total, ++m_scalar_since;
        Cell value;
        switch (i.kind) {
        case InstrKind::assign:
            if (!evaluate(p.expr, value)) return fault();
            {
                const ir::Function& f = *code.core.function;
                const isa::DType from = f[i.expr].dtype, to = f[i.var].dtype;
                m_frame[std::size_t(i.var.index)] = from == to ? value : cell_of(scalar_of(value, from), to);
            }
            ++m_pc;
            break;
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(i.stmt->what);
            const ir::Function& f = *code.core.function;
            const ir::Struct& s = f[a.target.structure];
            Cell record = integer_cell(0), element = integer_cell(0);
            if ((p.has_a && !evaluate(p.a, record)) || (p.has_b && !evaluate(p.b, element)) || !evaluate(p.expr, value)) return fault();
            const ir::Field& field = s.fields[std::size_t(a.field)];
            const FieldPlace at = code.scalars.field_place(a.target.structure, a.field);
            const Cell typed = cell_of(scalar_of(value, f[a.value].dtype), field.dtype);
            if (!record.known || !element.known) { // somewhere in the field: nothing of it is known any more
                for (std::int32_t r = 0; r < std::max(1, s.count); ++r)
                    for (std::int32_t e = 0; e < std::max(1, field.length); ++e) m_frame[std::size_t(at.base + r * at.record + e)].known = false;
                ++m_pc;
                break;
            }
            if (record.integer < 0 || record.integer >= std::max(1, s.count))
                return fail(i.at, "index " + std::to_string(record.integer) + " of the " + std::to_string(s.count) + " records of " + s.name), fault();
            if (element.integer < 0 || element.integer >= std::max(1, field.length))
                return fail(i.at, "index " + std::to_string(element.integer) + " of the " + std::to_string(field.length) + " elements of " + s.name + "." + field.name), fault();
            m_frame[std::size_t(at.base + record.integer * at.record + element.integer)] = typed;
            ++m_pc;
            break;
        }
        case InstrKind::jump: m_pc = i.target; break;
        case InstrKind::branch:
            if (!evaluate(p.expr, value)) return fault();
            if (!value.known) {
                if (p.guard_loop < 0) return ask(Question::Kind::branch, -1, 0, i.at);
                value.integer = 1;
            } else if (is_real((*code.core.function)[i.expr].dtype)) value.integer = value.real != 0;
            m_pc = value.integer ? m_pc + 1 : i.target;
            break;
        case InstrKind::loop_enter: {
            Cell start, stop, step;
            if (!evaluate(p.a, start) || !evaluate(p.b, stop) || !evaluate(p.c, step)) return fault();
            LoopState& s = m_loops[std::size_t(i.loop)];
            if (step.known && step.integer == 0) return fail(i.at, "the step of the loop is 0"), fault();
            s.known = start.known && step.known;
            s.value = start.integer, s.step = step.integer;
            const bool bounded = s.known && stop.known;
            s.bound = bounded ? trips_of(start.integer, stop.integer, step.integer) : -1;
            const std::int64_t forced = m_forced[std::size_t(i.loop)];
            if (forced < 0 && !bounded) return ask(Question::Kind::trips, i.loop, 0, i.at);
            start_loop(p, forced >= 0 ? forced : s.bound);
            break;
        }
        case InstrKind::loop_next: {
            LoopState& s = m_loops[std::size_t(i.loop)];
            if (++s.done < s.trips) {
                s.value = wrap_add(s.value, s.step);
                set_loop_var(i, s);
                if (m_watched[std::size_t(i.loop)]) m_begun = i.loop;
                m_pc = i.target;
            } else {
                s.running = false;
                ++m_pc;
            }
            break;
        }
        case InstrKind::stage_enter: {
            StageFrame frame{i.stage, m_stage_entries[std::size_t(i.stage)]++};
            if (p.has_a) {
                if (!evaluate(p.expr, value)) return fault();
                frame.task = value.known ? value.integer : -1;
            }
            m_stages.push_back(frame);
            ++m_pc;
            break;
        }
        case InstrKind::stage_leave:
            m_stages.pop_back();
            ++m_pc;
            break;
        case InstrKind::tile_bind: {
            const auto& bind = std::get<ir::TileBind>(i.stmt->what);
            if (auto slot = std::get_if<ir::SlotOf>(&bind.source)) {
                Cell index = integer_cell(0);
                if (p.has_a && !evaluate(p.expr, index)) return fault();
                const std::int32_t slots = (*code.core.function)[slot->decl].slots();
                if (!index.known && slots > 1) return ask(Question::Kind::slot, -1, slots, i.at);
                if (!bind_slot(p, index.known ? index.integer : 0)) return fault();
            } else if (std::holds_alternative<ir::ChoiceOf>(bind.source)) {
                if (!evaluate(p.expr, value)) return fault();
                if (!value.known) return ask(Question::Kind::choice, -1, 0, i.at);
                if (!bind_choice(p, value.integer != 0)) return fault();
            } else if (!do_tile_bind(p)) return fault();
            ++m_pc;
            break;
        }
        case InstrKind::tensor_bind:
            if (!do_tensor_bind(p)) return fault();
            ++m_pc;
            break;
        case InstrKind::issue: {
            const auto* op = std::get_if<ir::Op>(&i.stmt->what);
            if (op && op->row && (op->row->semantics == isa::Semantics::set_validshape || op->row->semantics == isa::Semantics::set_stride)) {
                if (!do_descriptor(p)) return fault();
                ++m_pc;
                break;
            }
            if (!do_issue(p)) return fault();
            m_issued = m_pc++;
            if (op && op->row && op->row->semantics == isa::Semantics::trap) m_waiting = Waiting::finish;
            else if (op && op->row && op->row->semantics == isa::Semantics::ssbuf_load) m_waiting = Waiting::words;
            else if (op && !op->results.empty()) m_waiting = Waiting::value;
            return Step::issue;
        }
        case InstrKind::finish: m_waiting = Waiting::finish; return Step::finished;
        }
    }
}

void Sequencer::answer(std::int64_t value) {
    if (m_waiting != Waiting::answer) throw InternalError{"no question was asked"};
    m_waiting = Waiting::nothing;
    const PreparedInstr& p = m_code->instrs[std::size_t(m_pc)];
    switch (m_question.kind) {
    case Question::Kind::branch: m_pc = value ? m_pc + 1 : p.instr->target; break;
    case Question::Kind::trips: start_loop(p, value); break;
    case Question::Kind::slot:
        if (bind_slot(p, value)) ++m_pc;
        else m_waiting = Waiting::finish;
        break;
    case Question::Kind::choice:
        if (bind_choice(p, value != 0)) ++m_pc;
        else m_waiting = Waiting::finish;
        break;
    }
}

// ---------------------------------------------------------------- results

void Sequencer::supply(const Scalar& value) {
    if (m_waiting != Waiting::value) throw InternalError{"no value was asked for"};
    m_waiting = Waiting::nothing;
    const auto& op = std::get<ir::Op>(m_code->core.code[std::size_t(m_issued)].stmt->what);
    const ir::Function& f = *m_code->core.function;
    for (ir::VarId v : op.results) m_frame[std::size_t(v.index)] = cell_of(value, f[v].dtype);
}

void Sequencer::supply_unknown() {
    if (m_waiting == Waiting::value) {
        Scalar s;
        s.known = false;
        return supply(s);
    }
    if (m_waiting != Waiting::words) throw InternalError{"no value was asked for"};
    m_waiting = Waiting::nothing;
    const auto& op = std::get<ir::Op>(m_code->core.code[std::size_t(m_issued)].stmt->what);
    for (const ir::OperandValue& o : op.operands)
        if (auto ref = std::get_if<ir::StructRef>(&o)) {
            const ir::Struct& s = (*m_code->core.function)[ref->structure];
            const FieldPlace at = m_code->scalars.field_place(ref->structure, 0);
            for (std::int32_t c = 0; c < at.record * std::max(1, s.count); ++c) m_frame[std::size_t(at.base + c)].known = false;
        }
}

// ---------------------------------------------------------------- locks

bool Sequencer::take_locks(OpInstance& out, const std::vector<ir::TileVarId>& tiles, Span at) {
    const ir::Function& f = *m_code->core.function;
    out.lock_count = 0;
    for (ir::TileVarId t : tiles) {
        const Handle& h = m_tiles[std::size_t(t.index)];
        if (!h.bound) return fail(at, "tile " + f[t].name + " is used before it is bound");
        const ir::TileDecl& d = f[h.value.decl];
        if (d.mutex.empty()) continue;
        for (std::int32_t id : d.mutex[std::size_t(h.value.slot)]) {
            auto* const end = out.locks.data() + out.lock_count;
            auto* const place = std::lower_bound(out.locks.data(), end, id);
            if (place != end && *place == id) continue;
            if (out.lock_count == out.locks.size()) throw InternalError{"more mutex ids in one operation than the checker lets through"};
            std::copy_backward(place, end, end + 1);
            *place = id;
            ++out.lock_count;
        }
    }
    return true;
}

} // namespace pto::program
