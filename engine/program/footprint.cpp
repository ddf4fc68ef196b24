#include "engine/program/footprint.hpp"

#include "engine/isa/windows.hpp"

#include <algorithm>

namespace pto::program {
namespace {

using isa::Layout;
using isa::MemorySpace;
using isa::Role;
using isa::Semantics;

class Regions {
  public:
    Regions(const OpInstance& op, const ir::Function& f, std::vector<ByteRegion>& out) : m_op(op), m_f(f), m_out(out) {}

    void operation() {
        if (auto call = std::get_if<ir::VectorCall>(&m_op.stmt->what)) {
            for (std::size_t k = 0; k < call->tiles.size(); ++k)
                whole(k, m_op.operands[k].tile, k < call->roles.size() ? call->roles[k] : Role::read_write);
            return;
        }
        if (std::holds_alternative<ir::SimtLaunch>(m_op.stmt->what)) {
            for (std::size_t k = 0; k < m_op.operands.size(); ++k) {
                if (m_op.operands[k].kind == OperandInstance::Kind::tile) whole(k, m_op.operands[k].tile, Role::read_write);
                if (m_op.operands[k].kind == OperandInstance::Kind::tensor) tensor_whole(k, m_op.operands[k].tensor, Role::read_write);
            }
            return;
        }
        const isa::OpRow* row = m_op.row;
        if (!row || row->descriptor_only) return;
        switch (row->semantics) {
        case Semantics::load: transfer(0, 1, false); break;
        case Semantics::store: transfer(1, 0, true); break;
        case Semantics::move:
        case Semantics::insert: move(); break;
        case Semantics::matmul:
        case Semantics::matmul_acc:
        case Semantics::matmul_mx:
        case Semantics::matmul_mx_acc: matmul(); break;
        case Semantics::getval:
        case Semantics::setval: element(row->semantics == Semantics::setval); break;
        case Semantics::gather:
        case Semantics::gather_compare:
        case Semantics::gather_blocks:
        case Semantics::gather_mask:
        case Semantics::scatter:
        case Semantics::sort32:
        case Semantics::merge_sort:
        case Semantics::merge_sort_lists:
        case Semantics::histogram:
        case Semantics::fillpad:
        case Semantics::none: by_roles(true); break;
        default: by_roles(false); break;
        }
        // Per-channel factors and other tiles given by keyword are read.
        for (const OperandInstance& a : m_op.attributes)
            if (a.kind == OperandInstance::Kind::tile) tile(std::size_t(-1), a.tile, false);
    }

  private:
    ByteRegion& add(std::size_t operand, MemorySpace memory, bool write, const isa::Footprint& bytes) {
        ByteRegion r;
        r.memory = memory, r.write = write, r.operand = std::int16_t(operand), r.bytes = bytes;
        m_out.push_back(r);
        return m_out.back();
    }
    static isa::Footprint run(std::int64_t first, std::int64_t bytes) {
        isa::Footprint fp;
        fp.count = 1;
        fp.pieces[0].base = first, fp.pieces[0].run_bytes = std::max<std::int64_t>(bytes, 1);
        return fp;
    }
    ByteRegion& of(ByteRegion& r, const TileValue& t) {
        r.decl = t.decl, r.slot = t.slot;
        return r;
    }
    /// The map of a tile handle: sub-views keep their parent's row stride.
    static isa::TileMap map_of(const TileValue& t) {
        isa::TileMap m = isa::tile_map(*t.type, {t.valid_rows, t.valid_cols});
        if (t.type->layout == Layout::nd && t.type->shape[1] != 1) m.row_near = t.row_stride;
        if (t.type->layout == Layout::dn) m.col_near = t.row_stride;
        return m;
    }
    void window(std::size_t operand, const TileValue& t, bool write, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
        if (rows <= 0 || cols <= 0) return;
        of(add(operand, t.type->memory, write, isa::footprint(map_of(t), t.address, row, col, rows, cols)), t);
    }
    void tile(std::size_t operand, const TileValue& t, bool write) { window(operand, t, write, 0, 0, t.valid_rows, t.valid_cols); }
    /// Every byte a handle may reach: to the end of its slot, at least its type's size.
    void whole(std::size_t operand, const TileValue& t, Role role) {
        std::int64_t bytes = t.type->byte_size();
        if (t.decl.valid()) {
            const ir::TileDecl& d = m_f[t.decl];
            const std::int64_t end = d.addresses[std::size_t(t.slot)] + d.slot_bytes;
            bytes = std::max(bytes, end - t.address);
        }
        if (isa::reads(role)) of(add(operand, t.type->memory, false, run(t.address, bytes)), t);
        if (isa::writes(role)) of(add(operand, t.type->memory, true, run(t.address, bytes)), t);
    }
    void tensor_whole(std::size_t operand, const TensorValue& t, Role role) {
        std::int64_t elements = 1;
        bool known = true;
        for (std::int32_t k = 0; k < t.rank; ++k) {
            if (t.shape[std::size_t(k)] < 0) known = false;
            else elements += (t.shape[std::size_t(k)] - 1) * std::max<std::int64_t>(t.stride[std::size_t(k)], 0);
        }
        const std::int64_t bytes = known ? elements * isa::bits(t.dtype) / 8 + 1 : std::int64_t(1) << 39;
        for (bool write : {false, true}) {
            if (write ? !isa::writes(role) : !isa::reads(role)) continue;
            ByteRegion& r = add(operand, MemorySpace::ddr, write, run(t.address, bytes));
            r.exact = false, r.tensor = t.tensor;
        }
    }

    const OperandInstance* attribute(std::string_view name) const {
        const int k = m_op.row->keyword_index(name);
        return k >= 0 && std::size_t(k) < m_op.attributes.size() && m_op.attributes[std::size_t(k)].kind != OperandInstance::Kind::none ? &m_op.attributes[std::size_t(k)] : nullptr;
    }
    std::int64_t attribute_value(std::string_view name, std::int64_t otherwise) const {
        const OperandInstance* a = attribute(name);
        return a && a->kind == OperandInstance::Kind::scalar ? a->scalar.integer : otherwise;
    }

    void transfer(std::size_t tile_at, std::size_t tensor_at, bool is_store) {
        const TileValue& t = m_op.operands[tile_at].tile;
        const OperandInstance& g = m_op.operands[tensor_at];
        std::int64_t rows = t.valid_rows, cols = t.valid_cols;
        std::int64_t written_rows = rows, written_cols = cols;
        if (!is_store && t.type->memory == MemorySpace::mat) { // the tail of the last fractal is filled
            const std::int64_t width = isa::fractal_width(t.type->fractal, isa::bits(t.type->dtype));
            const auto up = [&](std::int64_t x) { return (x + width - 1) / width * width; };
            if (t.type->layout == Layout::nz || t.type->layout == Layout::zz) written_cols = up(cols);
            if (t.type->layout == Layout::zn || t.type->layout == Layout::nn) written_rows = up(rows);
        }
        window(tile_at, t, !is_store, 0, 0, written_rows, written_cols);
        if (rows <= 0 || cols <= 0) return;

        const TensorValue& x = g.tensor;
        std::int32_t p = x.rank - 2, q = x.rank - 1;
        if (const OperandInstance* order = attribute("order"); order && order->list.size() == 2)
            p = std::int32_t(order->list[0].integer), q = std::int32_t(order->list[1].integer);
        const OperandInstance* offsets = m_op.operands.size() > 2 ? &m_op.operands[2] : nullptr;
        const bool by_tile = isa::counts_whole_tiles(*m_op.row);
        bool known = g.scalar.known && x.rank >= 1 && q >= 0 && q < x.rank && p < x.rank;
        std::int64_t element = 0, row = 0, col = 0;
        if (offsets)
            for (std::size_t k = 0; k < offsets->list.size() && k < std::size_t(x.rank); ++k) {
                std::int64_t off = offsets->list[k].integer;
                known = known && offsets->list[k].known;
                if (by_tile && std::int32_t(k) == p) off *= t.type->shape[0];
                if (by_tile && std::int32_t(k) == q) off *= t.type->shape[1];
                if (x.layout == Layout::nz && std::int32_t(k) == p) row = off;
                else if (x.layout == Layout::nz && std::int32_t(k) == q) col = off;
                else element += off * x.stride[k];
            }
        ByteRegion* r = nullptr;
        if (!known) {
            tensor_whole(tensor_at, x, is_store ? Role::write : Role::read);
            r = &m_out.back();
        } else {
            const int bits = isa::bits(x.dtype);
            const std::int64_t base = x.address + element * bits / 8;
            const auto walk = [&](std::int32_t axis, std::size_t direction) { // set_stride changes how the window walks, not where it starts
                if (x.window_stride[direction] >= 0) return x.window_stride[direction];
                return axis < 0 ? 0 : x.stride[std::size_t(axis)];
            };
            const isa::TileMap map = x.layout == Layout::nz && p >= 0 ? isa::gm_nz_map(x.shape[std::size_t(p)], bits) : isa::window_map(walk(p, 0), walk(q, 1), bits);
            r = &add(tensor_at, MemorySpace::ddr, is_store, isa::footprint(map, base, row, col, rows, cols));
        }
        r->tensor = x.tensor;
        r->atomic = is_store && attribute_value("atomic", 0) == std::int64_t(isa::AtomicType::add);
    }

    void move() {
        const TileValue& dst = m_op.operands[0].tile;
        const TileValue& src = m_op.operands[1].tile;
        std::int64_t row = 0, col = 0;
        bool offset = false, known = true;
        if (m_op.operands.size() > 2 && m_op.operands[2].kind == OperandInstance::Kind::list && m_op.operands[2].list.size() == 2) {
            offset = true;
            row = m_op.operands[2].list[0].integer, col = m_op.operands[2].list[1].integer;
            known = m_op.operands[2].list[0].known && m_op.operands[2].list[1].known;
        }
        if (src.type->memory == MemorySpace::acc && dst.type->memory == MemorySpace::vec) return fixpipe(dst, src);
        const auto& ds = dst.type->shape;
        const auto& ss = src.type->shape;
        const bool flips = (dst.type->layout == Layout::zn) != (src.type->layout == Layout::zn) && dst.type->memory == MemorySpace::mat;
        const bool insert = m_op.row->semantics == Semantics::insert ||
                            (offset && (flips ? ss[1] <= ds[0] && ss[0] <= ds[1] : ss[0] <= ds[0] && ss[1] <= ds[1]) && (flips ? ss[1] < ds[0] || ss[0] < ds[1] : ss[0] < ds[0] || ss[1] < ds[1]));
        if (!known) {
            whole(0, dst, Role::write);
            whole(1, src, Role::read);
            m_out[m_out.size() - 2].exact = m_out.back().exact = false;
            return;
        }
        if (insert) {
            tile(1, src, false);
            if (flips) window(0, dst, true, col, row, src.valid_cols, src.valid_rows); // the offset counts in the source's rows and columns
            else window(0, dst, true, row, col, src.valid_rows, src.valid_cols);
            return;
        }
        // compact 0 into L0 moves the whole tile; elsewhere the destination's valid region.
        const bool l0 = dst.type->memory == MemorySpace::left || dst.type->memory == MemorySpace::right;
        const std::int64_t rows = l0 && dst.type->compact == 0 ? ds[0] : dst.valid_rows, cols = l0 && dst.type->compact == 0 ? ds[1] : dst.valid_cols;
        window(0, dst, true, 0, 0, rows, cols);
        const bool transposed = !offset && ds[0] == ss[1] && ds[1] == ss[0] && ds[0] != ds[1];
        if (transposed) window(1, src, false, 0, 0, std::min<std::int64_t>(cols, ss[0]), std::min<std::int64_t>(rows, ss[1]));
        else window(1, src, false, row, col, std::min<std::int64_t>(rows, ss[0] - row), std::min<std::int64_t>(cols, ss[1] - col));
    }

    /// Acc to the Vec memory of one or both vector cores.
    void fixpipe(const TileValue& dst, const TileValue& src) {
        tile(1, src, false);
        const auto mode = isa::AccToVecMode(attribute_value("acc_to_vec_mode", 0));
        const std::int64_t m = src.valid_rows, n = src.valid_cols;
        std::array<std::int64_t, 2> rows{m, m}, cols{n, n};
        std::array<bool, 2> reached{true, true};
        switch (mode) {
        case isa::AccToVecMode::single_vec0: reached = {true, false}; break;
        case isa::AccToVecMode::single_vec1: reached = {false, true}; break;
        case isa::AccToVecMode::split_m: rows = {(m + 1) / 2, m / 2}; break;
        case isa::AccToVecMode::split_n: cols[0] = n <= 16 ? n : (n + 31) / 32 * 16, cols[1] = n - cols[0]; break;
        }
        for (int s = 0; s < 2; ++s) {
            if (!reached[std::size_t(s)]) continue;
            const std::size_t before = m_out.size();
            window(0, dst, true, 0, 0, std::min<std::int64_t>(rows[std::size_t(s)], dst.type->shape[0]), std::min<std::int64_t>(cols[std::size_t(s)], dst.type->shape[1]));
            if (m_out.size() > before) m_out.back().vector_cores = std::uint8_t(1 << s);
        }
    }

    void matmul() {
        const auto& roles = m_op.row->operands;
        const OperandInstance *lhs = nullptr, *rhs = nullptr;
        for (std::size_t k = 0; k < roles.size() && k < m_op.operands.size(); ++k) {
            if (roles[k].name == "lhs") lhs = &m_op.operands[k];
            if (roles[k].name == "rhs") rhs = &m_op.operands[k];
        }
        for (std::size_t k = 0; k < m_op.operands.size(); ++k) {
            const OperandInstance& o = m_op.operands[k];
            if (o.kind != OperandInstance::Kind::tile) continue;
            const Role role = k < roles.size() ? roles[k].role : Role::read;
            if (o.tile.type->memory == MemorySpace::acc && lhs && rhs) {
                TileValue t = o.tile; // its size is the operands'; its valid shape is for the read-out
                t.valid_rows = lhs->tile.valid_rows, t.valid_cols = rhs->tile.valid_cols;
                if (isa::reads(role)) tile(k, t, false);
                if (isa::writes(role)) tile(k, t, true);
            } else {
                if (isa::reads(role)) tile(k, o.tile, false);
                if (isa::writes(role)) tile(k, o.tile, true);
            }
        }
    }

    void element(bool write) {
        const OperandInstance& c = m_op.operands[0];
        const OperandInstance* off = m_op.operands.size() > 1 ? &m_op.operands[1] : nullptr;
        std::int64_t index = 0;
        bool known = off != nullptr;
        if (off && off->kind == OperandInstance::Kind::scalar) index = off->scalar.integer, known = off->scalar.known;
        else if (off && off->kind == OperandInstance::Kind::list) {
            for (std::size_t k = 0; k < off->list.size(); ++k) {
                const std::int64_t extent = c.kind == OperandInstance::Kind::tile ? (k < 2 ? c.tile.type->shape[k] : 1) : c.tensor.shape[k];
                index = index * extent + off->list[k].integer;
                known = known && off->list[k].known && extent >= 0;
            }
        }
        if (c.kind == OperandInstance::Kind::tile) {
            if (!known) return whole(0, c.tile, write ? Role::write : Role::read);
            const int bits = isa::bits(c.tile.type->dtype);
            of(add(0, c.tile.type->memory, write, run(c.tile.address + index * bits / 8, (bits + 7) / 8)), c.tile);
        } else if (c.kind == OperandInstance::Kind::tensor) {
            if (!known || !c.scalar.known) return tensor_whole(0, c.tensor, write ? Role::write : Role::read);
            const int bits = isa::bits(c.tensor.dtype);
            add(0, MemorySpace::ddr, write, run(c.tensor.address + index * bits / 8, (bits + 7) / 8)).tensor = c.tensor.tensor;
        }
    }

    void by_roles(bool physical) {
        const auto& roles = m_op.row->operands;
        for (std::size_t k = 0; k < m_op.operands.size(); ++k) {
            const OperandInstance& o = m_op.operands[k];
            const Role role = k < roles.size() ? roles[k].role : Role::read;
            if (o.kind == OperandInstance::Kind::tensor && role != Role::none) tensor_whole(k, o.tensor, role);
            if (o.kind != OperandInstance::Kind::tile) continue;
            if (physical) {
                whole(k, o.tile, role);
                continue;
            }
            if (isa::reads(role)) tile(k, o.tile, false);
            if (isa::writes(role)) tile(k, o.tile, true);
        }
    }

    const OpInstance& m_op;
    const ir::Function& m_f;
    std::vector<ByteRegion>& m_out;
};

} // namespace

void append_regions(const OpInstance& op, const ir::Function& function, std::vector<ByteRegion>& out) { Regions(op, function, out).operation(); }

} // namespace pto::program
