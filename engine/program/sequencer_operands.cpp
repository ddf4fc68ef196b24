/// The other half of the sequencer: handles, views, descriptors and the operands of an issue.

#include "engine/program/prepared.hpp"

#include <algorithm>
#include <bit>

namespace pto::program {
namespace {

Scalar scalar_of(const Cell& c, isa::DType type) {
    Scalar s;
    s.dtype = type;
    s.known = c.known;
    if (is_real(type)) s.real = c.real;
    else s.integer = c.integer;
    return s;
}

std::uint64_t field_bits(const Cell& c, isa::DType type) {
    if (!is_real(type)) return std::uint64_t(c.integer);
    const std::uint32_t u = std::bit_cast<std::uint32_t>(float(c.real));
    if (type == isa::DType::bf16) return u >> 16;
    if (type != isa::DType::fp16) return u;
    const std::uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7FFFFFFFu;
    if (magnitude >= 0x7F800000u) return sign | 0x7C00u | (magnitude > 0x7F800000u ? 0x200u : 0u);
    if (magnitude < 0x38800000u) return sign | std::uint32_t(std::bit_cast<float>(magnitude) * 16777216.0f); // exact: the value is a half already
    return sign | ((magnitude - 0x38000000u) >> 13);
}
Cell field_cell(std::uint64_t bits, isa::DType type) {
    Cell c;
    if (!is_real(type)) {
        c.integer = wrap_integer(std::int64_t(bits), type);
        return c;
    }
    if (type == isa::DType::bf16) c.real = std::bit_cast<float>(std::uint32_t(bits) << 16);
    else if (type != isa::DType::fp16) c.real = std::bit_cast<float>(std::uint32_t(bits));
    else {
        const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16, e = (bits >> 10) & 31, m = bits & 1023;
        float v = e == 31 ? std::bit_cast<float>(0x7F800000u | (m << 13)) : e == 0 ? float(m) / 16777216.0f : std::bit_cast<float>(((e + 112) << 23) | (m << 13));
        c.real = std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) | sign);
    }
    return c;
}

} // namespace

std::int64_t field_offset(const ir::Struct& s, std::int32_t field) {
    std::int64_t at = 0;
    for (std::int32_t k = 0; k <= field; ++k) {
        const std::int64_t size = isa::bytes(s.fields[std::size_t(k)].dtype);
        at = (at + size - 1) / size * size;
        if (k < field) at += size * std::max(1, s.fields[std::size_t(k)].length);
    }
    return at;
}

std::int64_t struct_bytes(const ir::Struct& s) {
    std::int64_t align = 1;
    for (const ir::Field& f : s.fields) align = std::max<std::int64_t>(align, isa::bytes(f.dtype));
    if (s.fields.empty()) return 0;
    const auto last = std::int32_t(s.fields.size()) - 1;
    const std::int64_t end = field_offset(s, last) + std::int64_t(isa::bytes(s.fields.back().dtype)) * std::max(1, s.fields.back().length);
    return (end + align - 1) / align * align;
}

// ---------------------------------------------------------------- tiles

std::int32_t Sequencer::fresh_valid_cell(std::int32_t own, ir::TileVarId target) {
    // A rebound view keeps its cell unless another name still holds the previous view.
    const auto used = [&](std::int32_t cell) {
        for (std::size_t t = 0; t < m_tiles.size(); ++t)
            if (std::int32_t(t) != target.index && m_tiles[t].bound && m_tiles[t].value.valid_cell == cell) return true;
        return false;
    };
    if (!used(own)) return own;
    for (std::int32_t cell : m_free_valid)
        if (!used(cell)) return cell;
    m_valid.emplace_back();
    m_free_valid.push_back(std::int32_t(m_valid.size()) - 1);
    return m_free_valid.back();
}

void Sequencer::read_tile(ir::TileVarId t, TileValue& out) const {
    out = m_tiles[std::size_t(t.index)].value;
    const ValidCell& v = m_valid[std::size_t(out.valid_cell)];
    // Without data an unknown extent stands for the whole tile: every element may be touched.
    out.valid_rows = v.known ? v.rows : out.type->shape[0];
    out.valid_cols = v.known ? v.cols : out.type->shape[1];
}

bool Sequencer::bind_slot(const PreparedInstr& p, std::int64_t slot) {
    const auto& bind = std::get<ir::TileBind>(p.instr->stmt->what);
    const ir::Function& f = *m_code->core.function;
    const ir::TileDeclId id = std::get<ir::SlotOf>(bind.source).decl;
    const ir::TileDecl& d = f[id];
    if (slot < 0 || slot >= d.slots())
        return fail(p.instr->at, "slot " + std::to_string(slot) + " of the " + std::to_string(d.slots()) + " slots of " + d.name);
    Handle& h = m_tiles[std::size_t(bind.var.index)];
    h.bound = true;
    h.value.type = &f[bind.var].type;
    h.value.decl = id;
    h.value.slot = std::int32_t(slot);
    h.value.address = d.addresses[std::size_t(slot)];
    h.value.row_stride = d.type.shape[d.type.layout == isa::Layout::dn ? 0 : 1];
    h.value.valid_cell = m_code->slot_cells[std::size_t(id.index)] + std::int32_t(slot);
    return true;
}

bool Sequencer::bind_choice(const PreparedInstr& p, bool first) {
    const auto& bind = std::get<ir::TileBind>(p.instr->stmt->what);
    const auto& choice = std::get<ir::ChoiceOf>(bind.source);
    const ir::TileVarId from = first ? choice.then : choice.otherwise;
    const Handle& h = m_tiles[std::size_t(from.index)];
    if (!h.bound) return fail(p.instr->at, "tile " + (*m_code->core.function)[from].name + " is used before it is bound");
    m_tiles[std::size_t(bind.var.index)] = h;
    return true;
}

bool Sequencer::do_tile_bind(const PreparedInstr& p) {
    const auto& bind = std::get<ir::TileBind>(p.instr->stmt->what);
    const ir::Function& f = *m_code->core.function;
    const ir::TileVarId base = std::visit(on{[](const ir::AliasOf& s) { return s.tile; }, [](const ir::SubviewOf& s) { return s.base; },
                                             [](const ir::ViewOf& s) { return s.base; }, [](const auto&) { return ir::TileVarId{}; }},
                                          bind.source);
    const Handle from = m_tiles[std::size_t(base.index)];
    if (!from.bound) return fail(p.instr->at, "tile " + f[base].name + " is used before it is bound");
    Handle to = from;
    if (std::holds_alternative<ir::SubviewOf>(bind.source)) {
        const isa::TileType& t = *from.value.type;
        Cell begin_r, end_r, begin_c, end_c;
        begin_r.integer = 0, end_r.integer = t.shape[0], begin_c.integer = 0, end_c.integer = t.shape[1];
        if ((p.a.cell >= 0 && !evaluate(p.a, begin_r)) || (p.b.cell >= 0 && !evaluate(p.b, end_r)) || (p.c.cell >= 0 && !evaluate(p.c, begin_c)) ||
            (p.d.cell >= 0 && !evaluate(p.d, end_c)))
            return false;
        const ValidCell outer = m_valid[std::size_t(from.value.valid_cell)];
        ValidCell inner;
        inner.known = begin_r.known && end_r.known && begin_c.known && end_c.known && outer.known;
        // An unknown window may lie anywhere in the base tile: the view then stands for all of it.
        if (begin_r.known && begin_c.known) {
            if (begin_r.integer < 0 || begin_r.integer > t.shape[0] || begin_c.integer < 0 || begin_c.integer > t.shape[1])
                return fail(p.instr->at, "a sub-view starts at [" + std::to_string(begin_r.integer) + ", " + std::to_string(begin_c.integer) + "] of a tile of " +
                                             std::to_string(t.shape[0]) + " x " + std::to_string(t.shape[1]));
            const std::int64_t elements = t.layout == isa::Layout::dn ? begin_c.integer * from.value.row_stride + begin_r.integer
                                                                      : begin_r.integer * from.value.row_stride + begin_c.integer;
            to.value.address += elements * isa::bits(t.dtype) / 8;
        }
        const auto extent = [](std::int64_t begin, std::int64_t end, std::int64_t shape, std::int64_t valid) {
            return std::int32_t(std::max<std::int64_t>(0, std::min(std::min(end, shape) - begin, valid - begin)));
        };
        inner.rows = extent(begin_r.integer, end_r.integer, t.shape[0], outer.rows);
        inner.cols = extent(begin_c.integer, end_c.integer, t.shape[1], outer.cols);
        to.value.type = begin_r.known && begin_c.known ? &f[bind.var].type : from.value.type;
        to.value.valid_cell = fresh_valid_cell(p.bind_cell, bind.var);
        m_valid[std::size_t(to.value.valid_cell)] = inner;
    } else if (std::holds_alternative<ir::ViewOf>(bind.source)) {
        const isa::TileType& t = f[bind.var].type;
        to.value.type = &t;
        to.value.row_stride = t.shape[t.layout == isa::Layout::dn ? 0 : 1];
        to.value.valid_cell = fresh_valid_cell(p.bind_cell, bind.var);
        m_valid[std::size_t(to.value.valid_cell)] = {t.fixed_valid ? t.valid[0] : t.shape[0], t.fixed_valid ? t.valid[1] : t.shape[1], true};
    }
    m_tiles[std::size_t(bind.var.index)] = to;
    return true;
}

bool Sequencer::do_tensor_bind(const PreparedInstr& p) {
    const auto& bind = std::get<ir::TensorBind>(p.instr->stmt->what);
    const ir::Function& f = *m_code->core.function;
    const auto target = std::size_t(bind.tensor.index);
    TensorValue& out = m_tensors[target];
    bool known = true;
    if (bind.alias_of.valid()) {
        out = m_tensors[std::size_t(bind.alias_of.index)];
        known = m_tensor_known[std::size_t(bind.alias_of.index)];
        out.tensor = m_tensors[std::size_t(bind.alias_of.index)].tensor;
    } else {
        out.tensor = bind.tensor;
    }
    Cell c;
    if (p.has_a) {
        if (!evaluate(p.expr, c)) return false;
        out.address = c.integer, known = known && c.known;
        out.dtype = f[bind.tensor].dtype, out.layout = f[bind.tensor].layout;
    }
    if (!p.list.empty()) {
        out.rank = std::int32_t(std::min(p.list.size(), out.shape.size()));
        out.window_stride = {-1, -1};
        for (std::int32_t k = 0; k < out.rank; ++k) {
            if (!evaluate(p.list[std::size_t(k)], c)) return false;
            out.shape[std::size_t(k)] = c.known ? c.integer : -1;
        }
        std::int64_t stride = 1;
        for (std::int32_t k = out.rank; k-- > 0;) {
            out.stride[std::size_t(k)] = stride;
            if (stride < 0 && p.list2.empty()) known = false;
            stride = out.shape[std::size_t(k)] < 0 || stride < 0 ? -1 : stride * out.shape[std::size_t(k)];
        }
    }
    for (std::size_t k = 0; k < p.list2.size() && k < out.stride.size(); ++k) {
        if (!evaluate(p.list2[k], c)) return false;
        out.stride[k] = c.integer, known = known && c.known;
    }
    m_tensor_known[target] = known;
    return true;
}

bool Sequencer::do_descriptor(const PreparedInstr& p) {
    const auto& op = std::get<ir::Op>(p.instr->stmt->what);
    const ir::Function& f = *m_code->core.function;
    if (op.operands.size() < 2 || p.operands[1].list.size() < 2) return true;
    Cell a, b;
    if (!evaluate(p.operands[1].list[0], a) || !evaluate(p.operands[1].list[1], b)) return false;
    if (auto tensor = std::get_if<ir::TensorId>(&op.operands[0])) {
        TensorValue& t = m_tensors[std::size_t(tensor->index)];
        t.window_stride = {a.integer, b.integer};
        if (!a.known || !b.known) m_tensor_known[std::size_t(tensor->index)] = false;
        return true;
    }
    const auto set = [&](std::int32_t cell, const isa::TileType& type, const std::string& name) {
        // For the cube a tile of UB is the half of a split move that one vector core receives: its valid shape is the whole's.
        const std::int64_t halves = m_code->core.core == isa::Core::cube && type.memory == isa::MemorySpace::vec ? 2 : 1;
        if (a.known && b.known && (a.integer < 0 || b.integer < 0 || a.integer > halves * type.shape[0] || b.integer > halves * type.shape[1]))
            return fail(p.instr->at, "valid shape [" + std::to_string(a.integer) + ", " + std::to_string(b.integer) + "] of " + name + ", a tile of " +
                                         std::to_string(type.shape[0]) + " x " + std::to_string(type.shape[1]));
        m_valid[std::size_t(cell)] = {std::int32_t(a.integer), std::int32_t(b.integer), a.known && b.known};
        return true;
    };
    if (auto tile = std::get_if<ir::TileVarId>(&op.operands[0])) {
        const Handle& h = m_tiles[std::size_t(tile->index)];
        if (!h.bound) return fail(p.instr->at, "tile " + f[*tile].name + " is used before it is bound");
        return set(h.value.valid_cell, *h.value.type, f[*tile].name);
    }
    if (auto group = std::get_if<ir::GroupRef>(&op.operands[0])) {
        const ir::TileDecl& d = f[group->decl];
        for (std::int32_t s = 0; s < d.slots(); ++s)
            if (!set(m_code->slot_cells[std::size_t(group->decl.index)] + s, d.type, d.name)) return false;
    }
    return true;
}

// ---------------------------------------------------------------- operands

void Sequencer::fill_words(const ir::StructRef& ref, std::int64_t record, std::vector<Scalar>& words) const {
    const ir::Struct& s = (*m_code->core.function)[ref.structure];
    words.assign(std::size_t((struct_bytes(s) + 3) / 4), Scalar{0, 0, isa::DType::uint32, true});
    for (std::size_t k = 0; k < s.fields.size(); ++k) {
        const ir::Field& field = s.fields[k];
        const FieldPlace at = m_code->scalars.field_place(ref.structure, std::int32_t(k));
        const std::int64_t offset = field_offset(s, std::int32_t(k)), size = isa::bytes(field.dtype);
        for (std::int32_t e = 0; e < std::max(1, field.length); ++e) {
            const Cell& c = m_frame[std::size_t(at.base + record * at.record + e)];
            const std::uint64_t bits = field_bits(c, field.dtype);
            for (std::int64_t b = 0; b < size; ++b) {
                const std::int64_t byte = offset + e * size + b;
                Scalar& w = words[std::size_t(byte / 4)];
                w.integer |= std::int64_t((bits >> (8 * b)) & 0xFF) << (8 * (byte % 4));
                w.known = w.known && c.known;
            }
        }
    }
}

void Sequencer::supply_words(std::span<const std::uint32_t> words) {
    if (m_waiting != Waiting::words) throw InternalError{"no structure was asked for"};
    m_waiting = Waiting::nothing;
    const ir::Function& f = *m_code->core.function;
    const PreparedInstr& p = m_code->instrs[std::size_t(m_issued)];
    for (const OperandRecipe& r : p.operands) {
        if (r.kind != OperandRecipe::Kind::structure) continue;
        const ir::Struct& s = f[r.structure.structure];
        const std::int64_t record = m_word_record;
        for (std::size_t k = 0; k < s.fields.size(); ++k) {
            const ir::Field& field = s.fields[k];
            const FieldPlace at = m_code->scalars.field_place(r.structure.structure, std::int32_t(k));
            const std::int64_t offset = field_offset(s, std::int32_t(k)), size = isa::bytes(field.dtype);
            for (std::int32_t e = 0; e < std::max(1, field.length); ++e) {
                std::uint64_t bits = 0;
                for (std::int64_t b = 0; b < size; ++b) {
                    const std::int64_t byte = offset + e * size + b;
                    if (std::size_t(byte / 4) < words.size()) bits |= std::uint64_t((words[std::size_t(byte / 4)] >> (8 * (byte % 4))) & 0xFF) << (8 * b);
                }
                m_frame[std::size_t(at.base + record * at.record + e)] = field_cell(bits, field.dtype);
            }
        }
    }
}

bool Sequencer::fill(const OperandRecipe& r, OperandInstance& out, bool first, Span at) {
    using K = OperandInstance::Kind;
    const ir::Function& f = *m_code->core.function;
    Cell c;
    switch (r.kind) {
    case OperandRecipe::Kind::none: return true;
    case OperandRecipe::Kind::attribute_text: out.kind = K::text; return true;
    case OperandRecipe::Kind::constant:
        if (first) out.kind = K::scalar, out.scalar = r.constant;
        return true;
    case OperandRecipe::Kind::scalar:
        if (r.expr.constant && !first) return true;
        if (!evaluate(r.expr, c)) return false;
        out.kind = K::scalar;
        out.scalar = scalar_of(c, r.dtype);
        return true;
    case OperandRecipe::Kind::tile:
        if (!m_tiles[std::size_t(r.tile.index)].bound) return fail(at, "tile " + f[r.tile].name + " is used before it is bound");
        out.kind = K::tile;
        read_tile(r.tile, out.tile);
        return true;
    case OperandRecipe::Kind::tensor:
        out.kind = K::tensor;
        out.tensor = m_tensors[std::size_t(r.tensor.index)];
        out.scalar.known = m_tensor_known[std::size_t(r.tensor.index)];
        return true;
    case OperandRecipe::Kind::list:
        out.kind = K::list;
        if (first) out.list.resize(r.list.size());
        for (std::size_t k = 0; k < r.list.size(); ++k) {
            if (r.list[k].constant && !first) continue;
            if (!evaluate(r.list[k], c)) return false;
            out.list[k] = scalar_of(c, r.list_types[k]);
        }
        return true;
    case OperandRecipe::Kind::structure: {
        out.kind = K::structure;
        std::int64_t record = 0;
        if (r.expr.cell >= 0) {
            if (!evaluate(r.expr, c)) return false;
            const std::int32_t count = std::max(1, f[r.structure.structure].count);
            if (c.known && (c.integer < 0 || c.integer >= count))
                return fail(at, "index " + std::to_string(c.integer) + " of the " + std::to_string(count) + " records of " + f[r.structure.structure].name);
            record = c.known ? c.integer : 0;
        }
        m_word_record = record;
        fill_words(r.structure, record, out.list);
        return true;
    }
    case OperandRecipe::Kind::mixed:
        out.kind = K::mixed;
        out.tiles.resize(r.mixed->tiles.size());
        out.tensors.resize(r.mixed->tensors.size());
        for (std::size_t k = 0; k < r.mixed->tiles.size(); ++k) {
            if (!m_tiles[std::size_t(r.mixed->tiles[k].index)].bound) return fail(at, "tile " + f[r.mixed->tiles[k]].name + " is used before it is bound");
            read_tile(r.mixed->tiles[k], out.tiles[k]);
        }
        for (std::size_t k = 0; k < r.mixed->tensors.size(); ++k) out.tensors[k] = m_tensors[std::size_t(r.mixed->tensors[k].index)];
        return true;
    }
    return true;
}

bool Sequencer::do_issue(const PreparedInstr& p) {
    std::unique_ptr<OpInstance>& place = m_instances[std::size_t(m_pc)];
    const bool first = !place;
    if (first) {
        place = std::make_unique<OpInstance>();
        place->stmt = p.instr->stmt;
        place->pipe = isa::Pipe::v;
        if (auto op = std::get_if<ir::Op>(&p.instr->stmt->what)) place->row = op->row, place->pipe = op->pipe;
        place->operands.resize(p.operands.size());
        place->attributes.resize(p.attributes.size());
    }
    OpInstance& out = *place;
    const ir::Stmt& stmt = *p.instr->stmt;
    const auto* op = std::get_if<ir::Op>(&stmt.what);
    for (std::size_t k = 0; k < p.operands.size(); ++k)
        if (!fill(p.operands[k], out.operands[k], first, op && k < op->operand_spans.size() ? op->operand_spans[k] : stmt.at)) return false;
    for (std::size_t k = 0; k < p.attributes.size(); ++k)
        if (!fill(p.attributes[k], out.attributes[k], first, stmt.at)) return false;
    const std::vector<ir::TileVarId>* locks = std::visit(on{[](const ir::Op& o) { return &o.locks; }, [](const ir::VectorCall& o) { return &o.locks; },
                                                           [](const ir::SimtLaunch& o) { return &o.locks; },
                                                           [](const auto&) -> const std::vector<ir::TileVarId>* { return nullptr; }},
                                                        stmt.what);
    if (locks && !take_locks(out, *locks, stmt.at)) return false;
    out.stage = m_stages.empty() ? -1 : m_stages.back().stage;
    out.task = m_stages.empty() ? -1 : m_stages.back().task;
    out.sequence = m_sequence++;
    out.iterations.count = std::int32_t(p.loops.size());
    for (std::size_t k = 0; k < p.loops.size(); ++k) out.iterations.at[k] = std::int32_t(m_loops[std::size_t(p.loops[k])].done);
    out.scalar_instructions = std::int32_t(std::min<std::int64_t>(m_scalar_since - 1, 0x7FFFFFFF));
    m_scalar_since = 0;
    return true;
}

} // namespace pto::program
