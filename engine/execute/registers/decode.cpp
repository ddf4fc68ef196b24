/// From the body of a vector function to its flat list.
#include "engine/execute/registers/scalars.hpp"

#include <algorithm>

namespace pto::execute::registers {
namespace {

using isa::Semantics;

class Decoder {
  public:
    Decoder(const ir::Function& f, std::string name, std::vector<ir::TileVarId> tiles)
        : m_f(f), m_name(std::move(name)), m_tiles(std::move(tiles)), m_code(std::make_shared<Code>()),
          m_scalars(f, *m_code) {}

    std::shared_ptr<const Code> vector_function(const ir::VectorCall& call) {
        m_code->tiles = std::int32_t(m_tiles.size());
        return finish(call.captures, call.body);
    }
    std::shared_ptr<const Code> threads(const ir::SimtLaunch& launch) {
        m_launch = &launch;
        for (ir::VarId v : {launch.thread_x, launch.thread_y, launch.thread_z})
            m_code->thread_cells.push_back(v.valid() ? m_scalars.cell_of(v) : -1);
        return finish(launch.captures, launch.body);
    }

  private:
    std::shared_ptr<const Code> finish(const std::vector<ir::VarId>& captures, const ir::Body& statements) {
        for (ir::VarId v : captures) {
            m_code->capture_cells.push_back(m_scalars.cell_of(v));
            m_code->capture_real.push_back(isa::is_float(m_f[v].dtype));
        }
        body(statements);
        for (std::size_t at : m_returns) patch(at, here());
        Instr end;
        end.control = Control::finish;
        push(end);
        return m_code;
    }
    struct LoopContext {
        std::vector<std::size_t> breaks, continues;
    };

    // ---- places
    std::int16_t place(ir::RegId r) {
        std::int16_t& p = m_places.try_emplace(r.index, std::int16_t(-1)).first->second;
        if (p >= 0) return p;
        switch (m_f[r].kind) {
        case ir::RegKind::vector: return p = std::int16_t(m_code->vectors++);
        case ir::RegKind::mask: return p = std::int16_t(m_code->masks++);
        case ir::RegKind::address: return p = std::int16_t(m_code->addresses++);
        default: return p = std::int16_t(m_code->streams++);
        }
    }
    std::int16_t tile_number(ir::TileVarId t, Span at) const {
        for (auto alias = m_aliases.find(t.index); alias != m_aliases.end(); alias = m_aliases.find(t.index))
            t = ir::TileVarId{alias->second};
        for (std::size_t i = 0; i < m_tiles.size(); ++i)
            if (m_tiles[i] == t) return std::int16_t(i);
        throw Stop{Status::refused, "tile " + m_f[t].name + " is no argument of the vector function " + m_name, at};
    }
    std::int16_t cursor(std::int16_t tile, std::int32_t base) {
        for (std::size_t i = 0; i < m_code->cursors.size(); ++i)
            if (m_code->cursors[i].tile == tile && m_code->cursors[i].base == base) return std::int16_t(i);
        m_code->cursors.push_back({tile, base});
        return std::int16_t(m_code->cursors.size() - 1);
    }
    std::int32_t timing(std::string_view key) {
        for (std::size_t i = 0; i < m_code->timing.size(); ++i)
            if (m_code->timing[i] == key) return std::int32_t(i);
        m_code->timing.emplace_back(key);
        return std::int32_t(m_code->timing.size()) - 1;
    }

    // ---- emission: scalar code compiled since the last instruction runs before the next one
    std::size_t push(Instr i) {
        i.scalars_begin = m_scalars_from;
        i.scalars_end = m_scalars_from = std::int32_t(m_code->scalars.size());
        m_code->instrs.push_back(i);
        return m_code->instrs.size() - 1;
    }
    std::int32_t here() const { return std::int32_t(m_code->instrs.size()); }
    void patch(std::size_t at, std::int32_t target) { m_code->instrs[at].target = target; }
    std::size_t jump(Control control, std::int32_t condition, Span at) {
        Instr i;
        i.control = control;
        i.s0 = condition;
        i.at = at;
        return push(i);
    }

    // ---- statements
    void body(const ir::Body& b) {
        for (const ir::Stmt& s : b) statement(s);
    }
    void statement(const ir::Stmt& s) {
        std::visit(on{[&](const ir::Assign& a) {
                          m_scalars.assign(a.var, a.value);
                          Instr i;
                          i.control = Control::assign;
                          i.at = s.at;
                          push(i);
                      },
                      [&](const ir::Op& op) { operation(op, s.at); }, [&](const ir::Loop& l) { loop(l, s.at); },
                      [&](const ir::Forever& l) {
                          m_loops.push_back({});
                          const std::int32_t start = here();
                          body(l.body);
                          patch(jump(Control::jump, -1, s.at), start);
                          close_loop(start);
                      },
                      [&](const ir::Branch& b) {
                          const std::int32_t condition = m_scalars.compile(b.condition);
                          const std::size_t skip = jump(Control::branch, condition, s.at);
                          m_code->instrs[skip].scalar = m_scalars.is_real(b.condition);
                          body(b.then);
                          if (b.otherwise.empty()) return patch(skip, here());
                          const std::size_t over = jump(Control::jump, -1, s.at);
                          patch(skip, here());
                          body(b.otherwise);
                          patch(over, here());
                      },
                      [&](const ir::Break&) { m_loops.back().breaks.push_back(jump(Control::jump, -1, s.at)); },
                      [&](const ir::Continue&) { m_loops.back().continues.push_back(jump(Control::jump, -1, s.at)); },
                      [&](const ir::Return&) {
                          if (!m_launch) refuse("a vector function cannot return early", s.at);
                          m_returns.push_back(jump(Control::jump, -1, s.at));
                      },
                      [&](const ir::HelperScope& h) { body(h.body); }, [&](const ir::StageScope& h) { body(h.body); },
                      [&](const ir::TileBind& t) {
                          if (auto* alias = std::get_if<ir::AliasOf>(&t.source))
                              m_aliases[t.var.index] = alias->tile.index;
                          else
                              refuse("a vector function cannot choose tiles", s.at);
                      },
                      [&](const auto&) { refuse("this statement has no place in a vector function", s.at); }},
                   s.what);
    }
    [[noreturn]] void refuse(std::string message, Span at) const {
        throw Stop{Status::refused, m_name + ": " + std::move(message), at};
    }

    void close_loop(std::int32_t continue_target) {
        for (std::size_t at : m_loops.back().continues) patch(at, continue_target);
        for (std::size_t at : m_loops.back().breaks) patch(at, here());
        m_loops.pop_back();
    }
    void loop(const ir::Loop& l, Span at) {
        Instr enter;
        enter.control = Control::loop_enter;
        enter.at = at;
        enter.loop = m_code->loops++;
        enter.s0 = m_scalars.compile_as(l.start, false);
        enter.s1 = m_scalars.compile_as(l.stop, false);
        enter.s2 = m_scalars.compile_as(l.step, false);
        enter.s3 = m_scalars.cell_of(l.var);
        const std::size_t head = push(enter);
        m_loops.push_back({});
        const std::int32_t start = here();
        body(l.body);
        Instr next = enter;
        next.control = Control::loop_next;
        next.target = start;
        const std::int32_t step = here();
        push(next);
        patch(head, here());
        close_loop(step);
    }

    // ---- operations
    const ir::AttributeValue* attribute(const ir::Op& op, std::string_view name) const {
        const int k = op.row->keyword_index(name);
        if (k < 0 || k >= int(op.attributes.size()) ||
            std::holds_alternative<std::monostate>(op.attributes[std::size_t(k)]))
            return nullptr;
        return &op.attributes[std::size_t(k)];
    }
    int choice(const ir::Op& op, std::string_view name, int fallback) const {
        if (auto* v = attribute(op, name)) {
            if (auto* e = std::get_if<isa::EnumValue>(v)) return e->ordinal;
            if (auto* i = std::get_if<std::int64_t>(v)) return int(*i);
            if (auto* b = std::get_if<bool>(v)) return *b;
            if (auto* x = std::get_if<ir::ExprId>(v)) return int(m_f.constant(*x).value_or(fallback));
        }
        return fallback;
    }
    DType type_of(const ir::Op& op, std::string_view name, DType fallback) const {
        if (auto* v = attribute(op, name))
            if (auto* t = std::get_if<DType>(v)) return *t;
        return fallback;
    }
    /// Cell of a scalar keyword, -1 when absent.
    std::int32_t scalar_keyword(const ir::Op& op, std::string_view name) {
        if (auto* v = attribute(op, name)) {
            if (auto* x = std::get_if<ir::ExprId>(v)) return m_scalars.compile_as(*x, false);
            if (auto* i = std::get_if<std::int64_t>(v)) return m_scalars.literal(*i, 0);
        }
        return -1;
    }
    const ir::RegId* reg(const ir::Op& op, std::size_t k) const {
        return k < op.operands.size() ? std::get_if<ir::RegId>(&op.operands[k]) : nullptr;
    }
    bool is_mask(const ir::Op& op, std::size_t k) const {
        auto* r = reg(op, k);
        return r && r->valid() && m_f[*r].kind == ir::RegKind::mask;
    }
    bool is_vector(const ir::Op& op, std::size_t k) const {
        auto* r = reg(op, k);
        return r && r->valid() && m_f[*r].kind == ir::RegKind::vector;
    }
    /// The place of a scalar operand's cell, as the class that `type` needs; -1 when there is none.
    std::int32_t scalar(const ir::Op& op, std::size_t k, bool real) {
        if (k >= op.operands.size()) return -1;
        auto* x = std::get_if<ir::ExprId>(&op.operands[k]);
        return x && x->valid() ? m_scalars.compile_as(*x, real) : -1;
    }

    void memory_operand(const ir::Op& op, std::size_t k, Instr& i) {
        ir::TileVarId tile;
        ir::ExprId base;
        if (auto* m = std::get_if<ir::MemoryRef>(&op.operands.at(k)))
            tile = m->tile, base = m->offset;
        else if (auto* t = std::get_if<ir::TileVarId>(&op.operands.at(k)))
            tile = *t;
        else
            refuse("the memory operand is no tile", i.at);
        i.tile = tile_number(tile, i.at);
        i.memory_type = m_f[m_tiles[std::size_t(i.tile)]].type.dtype;
        if (base.valid()) i.base = m_scalars.compile_as(base, false);
        i.cursor = cursor(i.tile, base.valid() ? base.index : -1);
        i.run_index = m_code->memory_sites++;
    }
    void offset_operand(const ir::Op& op, std::size_t k, Instr& i) {
        if (k >= op.operands.size()) return;
        if (auto* list = std::get_if<ir::ExprList>(&op.operands[k]); list && list->size() == 2) {
            i.s2 = m_scalars.compile_as((*list)[0], false);
            i.s3 = m_scalars.compile_as((*list)[1], false);
            i.column_stride = 1;
        } else if (list && list->size() == 1) {
            i.offset = m_scalars.compile_as((*list)[0], false);
        } else if (auto* r = std::get_if<ir::RegId>(&op.operands[k]);
                   r && r->valid() && m_f[*r].kind == ir::RegKind::address) {
            i.address = place(*r);
            i.part = std::uint8_t(lane_width(m_f[*r].dtype));
        } else if (auto* x = std::get_if<ir::ExprId>(&op.operands[k]); x && x->valid()) {
            i.offset = m_scalars.compile_as(*x, false);
        }
    }

    /// A thread touches single elements of its arguments.
    void element(const ir::Op& op, Span at) {
        Instr i;
        i.at = at;
        i.row = op.row;
        i.timing = timing(op.row->timing);
        const bool write = op.row->semantics == Semantics::setval;
        const auto& container = op.operands.at(0);
        for (std::size_t k = 0; k < m_launch->arguments.size() && i.tile < 0; ++k) {
            const auto& argument = m_launch->arguments[k];
            const auto* tile = std::get_if<ir::TileVarId>(&argument);
            const auto* tensor = std::get_if<ir::TensorId>(&argument);
            const auto* used_tile = std::get_if<ir::TileVarId>(&container);
            const auto* used_tensor = std::get_if<ir::TensorId>(&container);
            if ((tile && used_tile && *tile == *used_tile) || (tensor && used_tensor && *tensor == *used_tensor)) {
                i.tile = std::int16_t(k);
                i.memory_type = tile ? m_f[*tile].type.dtype : m_f[*tensor].dtype;
            }
        }
        if (i.tile < 0) refuse("a thread touches a tile or tensor that is no argument of its launch", at);
        i.run_index = m_code->memory_sites++;
        i.s0 = m_scalars.compile_as(std::get<ir::ExprId>(op.operands.at(1)), false);
        if (write) {
            i.s1 = m_scalars.compile_as(std::get<ir::ExprId>(op.operands.at(2)), isa::is_float(i.memory_type));
        } else {
            if (op.results.empty()) refuse("an element is read and its value goes nowhere", at);
            i.s1 = m_scalars.cell_of(op.results[0]);
            i.type = m_f[op.results[0]].dtype;
        }
        i.run = element_handler(write);
        push(i);
    }
    void operation(const ir::Op& op, Span at) {
        if (m_launch) {
            if (op.row->semantics != Semantics::getval && op.row->semantics != Semantics::setval)
                refuse(std::string(op.row->name) + " has no place in a thread", at);
            return element(op, at);
        }
        Instr i;
        i.at = at;
        i.row = op.row;
        i.lane = op.row->lane;
        i.timing = timing(op.row->timing);
        const Semantics s = op.row->semantics;
        if (!op.registers.empty() && op.registers[0].valid()) {
            i.d0 = place(op.registers[0]);
            i.to = m_f[op.registers[0]].dtype;
            if (m_f[op.registers[0]].kind == ir::RegKind::mask) i.mask_form = true;
        }
        if (op.registers.size() > 1 && op.registers[1].valid()) i.d1 = place(op.registers[1]);
        // Sources in order; the mask that selects lanes is the operand the row calls preg, wherever it stands.
        std::size_t first = op.operands.size();
        for (std::size_t k = 0; k < op.operands.size(); ++k) {
            const auto* r = reg(op, k);
            if (!r || !r->valid()) continue;
            const bool selects = k < op.row->operands.size() && op.row->operands[k].name == "preg";
            const bool carry = k < op.row->operands.size() && op.row->operands[k].name == "carry";
            const ir::RegKind kind = m_f[*r].kind;
            if (kind == ir::RegKind::unaligned_load || kind == ir::RegKind::unaligned_store)
                i.stream = place(*r);
            else if (kind == ir::RegKind::address)
                continue;
            else if (selects)
                i.m = place(*r);
            else if (carry)
                i.m2 = place(*r);
            else if (i.a < 0)
                i.a = place(*r), first = k;
            else if (i.b < 0)
                i.b = place(*r);
        }
        i.type = first < op.operands.size() ? m_f[*reg(op, first)].dtype : i.to;
        i.merging = choice(op, "mode", int(isa::MergeMode::zeroing)) == int(isa::MergeMode::merging);
        i.post_update = choice(op, "post_update", 0) != 0;
        const bool real = isa::is_float(i.type);
        switch (s) {
        case Semantics::reg_mask_create:
            i.type = type_of(op, "dtype", DType::fp32);
            i.mode = std::uint8_t(choice(op, "pattern", int(isa::MaskPattern::all)));
            break;
        case Semantics::reg_mask_update:
            i.type = type_of(op, "dtype", DType::fp32);
            i.s0 = scalar(op, 0, false);
            break;
        case Semantics::reg_mask_other:
            i.scalar = i.a < 0; // from the special register
            i.mode = std::uint8_t(choice(op, "width", int(isa::MaskWidth::b32)));
            i.s0 = scalar_keyword(op, "offset");
            break;
        case Semantics::reg_full:
            i.scalar = !is_vector(op, 0);
            i.type = i.scalar ? type_of(op, "dtype", i.to) : i.type;
            i.s0 = i.scalar ? scalar(op, 0, isa::is_float(i.type)) : -1;
            i.mode = std::uint8_t(choice(op, "pos", int(isa::DuplicatePos::lowest)));
            break;
        case Semantics::reg_arange:
            i.type = type_of(op, "dtype", i.to);
            i.s0 = scalar(op, 0, isa::is_float(i.type));
            i.mode = std::uint8_t(choice(op, "index_order", 0));
            break;
        case Semantics::reg_move:
            i.merging = choice(op, "mode", int(isa::MergeMode::merging)) == int(isa::MergeMode::merging);
            break;
        case Semantics::reg_barrier: i.mode = std::uint8_t(choice(op, "mode", 0)); break;
        case Semantics::reg_address: {
            // Sum of index times stride.
            std::int32_t sum = m_scalars.literal(0, 0);
            for (std::size_t k = 0; k + 1 < op.operands.size() && k < 8; k += 2) {
                const std::int32_t index = scalar(op, k, false), stride = scalar(op, k + 1, false);
                if (index < 0 || stride < 0) break;
                sum = add(sum, multiply(index, stride));
            }
            i.s0 = sum;
            break;
        }
        case Semantics::reg_load:
        case Semantics::reg_store: {
            memory_operand(op, 0, i);
            const bool store = s == Semantics::reg_store;
            i.mode = std::uint8_t(store ? choice(op, "dist", int(isa::StoreDist::norm))
                                        : choice(op, "dist", int(isa::LoadDist::norm)));
            i.copy_mode = std::uint8_t(choice(op, "data_copy_mode", 0));
            i.s0 = scalar_keyword(op, "block_stride");
            i.s1 = scalar_keyword(op, "repeat_stride");
            if (store) {
                i.scalar = false;
                i.mask_form = is_mask(op, 1);
                i.type = i.mask_form ? DType::uint8 : i.type;
            } else {
                i.type = type_of(op, "dtype", i.to);
                if (is_mask(op, 1)) { // blocks selected by a mask: the operand stands where offsets stand
                    i.m = place(*reg(op, 1));
                    i.a = -1;
                }
            }
            for (std::size_t k = 1; k < op.row->operands.size(); ++k)
                if (op.row->operands[k].kind == isa::OperandKind::offset) offset_operand(op, k, i);
            if (i.column_stride) {
                const ir::TileVar& t = m_f[m_tiles[std::size_t(i.tile)]];
                i.column_stride = t.type.shape[1];
            }
            break;
        }
        case Semantics::reg_load_unaligned:
        case Semantics::reg_store_unaligned: {
            for (std::size_t k = 0; k < op.operands.size(); ++k)
                if (std::holds_alternative<ir::MemoryRef>(op.operands[k]) ||
                    std::holds_alternative<ir::TileVarId>(op.operands[k]))
                    memory_operand(op, k, i);
            if (i.stream < 0 && !op.registers.empty() && m_f[op.registers[0]].kind != ir::RegKind::vector) { // creates the carry register
                i.stream = i.d0;
                i.d0 = -1;
            }
            for (std::size_t k = 0; k < op.row->operands.size() && k < op.operands.size(); ++k)
                if (op.row->operands[k].name == "stride") i.s0 = scalar(op, k, false);
            if (i.s0 < 0) i.s0 = scalar_keyword(op, "stride");
            i.s1 = scalar_keyword(op, "count");
            i.mask_form = i.a >= 0 && first < op.operands.size() && is_mask(op, first);
            if (s == Semantics::reg_load_unaligned && i.d0 >= 0) i.type = i.to;
            break;
        }
        case Semantics::reg_gather:
            i.copy_mode = std::uint8_t(choice(op, "data_copy_mode", 0));
            if (is_vector(op, 0)) {
                i.scalar = false;
            } else {
                memory_operand(op, 0, i);
                i.b = i.a; // the index register
                i.a = -1;
                i.to = !op.registers.empty() ? m_f[op.registers[0]].dtype : i.to;
            }
            i.type = i.b >= 0 && reg(op, 1) ? m_f[*reg(op, 1)].dtype : i.type; // of the indices
            break;
        case Semantics::reg_scatter:
            memory_operand(op, 0, i);
            i.to = m_f[*reg(op, 2)].dtype; // of the indices
            break;
        case Semantics::reg_lane:
        case Semantics::reg_lane_destination:
            i.mask_form = first < op.operands.size() && is_mask(op, first);
            if (i.b < 0 && op.row->operands.size() > 1 && op.operands.size() > 1 &&
                std::holds_alternative<ir::ExprId>(op.operands[1])) {
                i.scalar = true;
                i.s0 = scalar(op, 1, real);
            }
            i.mode = std::uint8_t(choice(op, "layout", 0));
            i.rounding = std::uint8_t(choice(op, "round_mode", int(isa::VfRoundMode::trunc)));
            break;
        case Semantics::reg_compare:
            i.type = type_of(op, "cmp_dtype", i.type);
            i.scalar = i.b < 0;
            if (i.scalar) i.s0 = scalar(op, 1, isa::is_float(i.type));
            break;
        case Semantics::reg_select: i.mask_form = first < op.operands.size() && is_mask(op, first); break;
        case Semantics::reg_cast:
            i.to = type_of(op, "dtype", i.to);
            i.mode = std::uint8_t(choice(op, "layout", 0));
            i.rounding = std::uint8_t(choice(op, "round_mode", int(isa::VfRoundMode::rint)));
            i.saturate = std::uint8_t(choice(op, "saturate", 0));
            i.scalar = op.operands.size() > 1 && std::holds_alternative<ir::ExprId>(op.operands[1]);
            if (i.scalar) i.s0 = scalar(op, 1, true);
            break;
        case Semantics::reg_reduce: i.datablock = choice(op, "datablock", 0) != 0; break;
        case Semantics::reg_interleave:
            i.mask_form = first < op.operands.size() && is_mask(op, first);
            i.type = type_of(op, "dtype", i.type);
            break;
        case Semantics::reg_pack:
            i.mask_form = first < op.operands.size() && is_mask(op, first);
            i.part = std::uint8_t(choice(op, "part", 0));
            break;
        case Semantics::reg_squeeze:
            i.mode = std::uint8_t(choice(op, "gather_mode", int(isa::SqueezeMode::store_reg)));
            i.mask_form = first < op.operands.size() && is_mask(op, first);
            if (i.mask_form) { // the exclusive prefix count of a mask
                i.m = i.a;
                i.type = type_of(op, "dtype", i.to);
            } else if (const DType named = type_of(op, "dtype", i.type); lane_width(named) != lane_width(i.type)) {
                refuse(std::string(op.row->name) + ": dtype=" + std::string(isa::name(named)) + " is not as wide as the source's " +
                           std::string(isa::name(i.type)) + "; convert with vf.astype first",
                       i.at);
            }
            break;
        case Semantics::reg_histogram:
            i.mode = std::uint8_t(choice(op, "bin_type", 0));
            i.part = std::uint8_t(choice(op, "hist_type", 0));
            break;
        case Semantics::reg_bit_cast:
        case Semantics::reg_carry:
        case Semantics::reg_spr: break;
        default: refuse(std::string(op.row->name) + " has no place in a vector function", at);
        }
        i.run = memory_handler(i, s);
        if (!i.run) i.run = permute_handler(i, s);
        if (!i.run && s == Semantics::reg_cast) i.run = cast_handler(i);
        if (!i.run && (s == Semantics::reg_lane || s == Semantics::reg_lane_destination || s == Semantics::reg_compare))
            i.run = lane_handler(i);
        if (!i.run) refuse(std::string(op.row->name) + " does not exist for " + std::string(isa::name(i.type)), at);
        push(i);
    }
    std::int32_t add(std::int32_t a, std::int32_t b) { return arithmetic(ir::ExprOp::add, a, b); }
    std::int32_t multiply(std::int32_t a, std::int32_t b) { return arithmetic(ir::ExprOp::mul, a, b); }
    std::int32_t arithmetic(ir::ExprOp op, std::int32_t a, std::int32_t b) {
        ScalarOp s;
        s.op = op;
        m_code->cells.emplace_back();
        s.dst = std::int32_t(m_code->cells.size()) - 1;
        s.a = a, s.b = b;
        m_code->scalars.push_back(s);
        return s.dst;
    }

    const ir::Function& m_f;
    std::string m_name;
    std::vector<ir::TileVarId> m_tiles;
    const ir::SimtLaunch* m_launch = nullptr;
    std::vector<std::size_t> m_returns;
    std::shared_ptr<Code> m_code;
    ScalarCompiler m_scalars;
    std::map<std::int32_t, std::int16_t> m_places;
    std::map<std::int32_t, std::int32_t> m_aliases;
    std::vector<LoopContext> m_loops;
    std::int32_t m_scalars_from = 0;
};

} // namespace

std::shared_ptr<const Code> decode(const ir::Function& f, const ir::VectorCall& call) {
    return Decoder(f, call.name, call.tiles).vector_function(call);
}
std::shared_ptr<const Code> decode(const ir::Function& f, const ir::SimtLaunch& launch) {
    return Decoder(f, launch.name, {}).threads(launch);
}

} // namespace pto::execute::registers
