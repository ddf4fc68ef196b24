/// Between on-chip memories. Source: language 3.1 (insert), 3.3 (move).
#include "engine/execute/movement.hpp"

#include "engine/execute/numerics/convert.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pto::execute {
namespace {

/// One rectangular copy: dst(dst_row + i, dst_col + j) = src(src_row + i, src_col + j).
struct Transfer {
    TileView dst, src;
    num::TileMap from; // src's map, transposed when the move exchanges rows and columns
    std::int64_t dst_row = 0, dst_col = 0, src_row = 0, src_col = 0, rows = 0, cols = 0;
};
struct Plan {
    Transfer part[2];
    int count = 0;
    bool fixpipe = false; // conversion keywords apply
};

void add_part(Plan& plan, const TileView& dst, const TileView& src, bool transposed, std::int64_t dr, std::int64_t dc,
              std::int64_t sr, std::int64_t sc, std::int64_t rows, std::int64_t cols) {
    if (rows <= 0 || cols <= 0) return;
    Transfer& t = plan.part[plan.count++];
    t.dst = dst;
    t.src = src;
    t.from = transposed ? src.map.transposed() : src.map;
    t.dst_row = dr, t.dst_col = dc, t.src_row = sr, t.src_col = sc, t.rows = rows, t.cols = cols;
}

Plan insert_plan(const Call& c, const TileView& dst, std::int64_t row, std::int64_t col) {
    Plan plan;
    const TileView src = c.view(1);
    const bool transposed = src.value->type->layout == isa::Layout::nz && dst.value->type->layout == isa::Layout::zn;
    const std::int64_t rows = transposed ? src.cols : src.rows, cols = transposed ? src.rows : src.cols;
    // The destination is seen as the NZ tile whose bytes it has: the offset counts in the source's rows and columns.
    if (transposed) std::swap(row, col);
    const auto& shape = dst.value->type->shape;
    if (row < 0 || col < 0 || row + rows > shape[0] || col + cols > shape[1])
        throw Stop{Status::out_of_range,
                   c.site.name + ": rows " + std::to_string(row) + " to " + std::to_string(row + rows) + ", columns " +
                       std::to_string(col) + " to " + std::to_string(col + cols) + " do not fit the destination of " +
                       std::to_string(shape[0]) + " x " + std::to_string(shape[1]),
                   c.site.at};
    add_part(plan, dst, src, transposed, row, col, 0, 0, rows, cols);
    return plan;
}

/// The destination in the UB of one of the block's vector cores.
TileView vector_view(const Call& c, int subblock) {
    const int place = c.machine.vector(subblock);
    if (place < 0) c.refuse("the block has no AIV" + std::to_string(subblock) + " program to receive the tile");
    return c.view(c.tile(0), place);
}

Plan acc_to_vec(const Call& c, const TileView& src, std::int64_t row, std::int64_t col, bool extract) {
    Plan plan;
    const TileValue& d = c.tile(0);
    const auto mode = isa::AccToVecMode(c.choice(Key::acc_to_vec_mode, int(isa::AccToVecMode::single_vec0)));
    auto vec = [&](int subblock) { return vector_view(c, subblock); };
    const std::int64_t m = extract ? d.valid_rows : src.rows, n = extract ? d.valid_cols : src.cols;
    if (mode == isa::AccToVecMode::single_vec0 || mode == isa::AccToVecMode::single_vec1) {
        plan.fixpipe = true;
        add_part(plan, vec(mode == isa::AccToVecMode::single_vec1), src, false, 0, 0, row, col, m, n);
        return plan;
    }
    plan.fixpipe = true; // relu applies to both halves
    if (c.given(Key::scale)) c.refuse("a split move does not scale");
    if (d.type->dtype != src.dtype)
        c.refuse("a split move does not convert: the tile has " + std::string(isa::name(d.type->dtype)) +
                 ", the accumulator " + std::string(isa::name(src.dtype)));
    if (mode == isa::AccToVecMode::split_m) {
        const std::int64_t first = (m + 1) / 2;
        add_part(plan, vec(0), src, false, 0, 0, row, col, first, n);
        add_part(plan, vec(1), src, false, 0, 0, row + first, col, m - first, n);
    } else {
        const std::int64_t first = n <= 16 ? n : (n + 31) / 32 * 32 / 2;
        add_part(plan, vec(0), src, false, 0, 0, row, col, m, std::min(first, n));
        add_part(plan, vec(1), src, false, 0, 0, row, col + first, m, n - first);
    }
    return plan;
}

Plan move_plan(const Call& c) {
    const bool has_offset = c.has(2) && !c.operand(2).list.empty();
    const std::int64_t row = has_offset ? c.operand(2).list[0].integer : 0,
                       col = has_offset ? c.operand(2).list[1].integer : 0;
    const isa::TileType& d = *c.tile(0).type;
    const isa::TileType& s = *c.tile(1).type;
    const bool from_acc = s.memory == MemorySpace::acc;
    const bool flipped_pair = (s.layout == isa::Layout::nz && d.layout == isa::Layout::zn) ||
                              (s.layout == isa::Layout::zn && d.layout == isa::Layout::nz);
    const bool to_l0 = d.memory == MemorySpace::left || d.memory == MemorySpace::right;
    bool extract = has_offset && d.shape[0] <= s.shape[0] && d.shape[1] <= s.shape[1];
    if (from_acc && d.memory == MemorySpace::vec) {
        if (!has_offset || extract) return acc_to_vec(c, c.view(1), row, col, extract);
        // The whole accumulator lands inside a larger tile of AIV0; it converts on the way like one that lands alone.
        Plan plan = insert_plan(c, vector_view(c, 0), row, col);
        plan.fixpipe = true;
        return plan;
    }
    if (has_offset && !extract) return insert_plan(c, c.view(0), row, col);
    if (s.memory == MemorySpace::vec && d.memory == MemorySpace::mat && !extract) return insert_plan(c, c.view(0), 0, 0);

    const TileView src = c.view(1);
    Plan plan;
    const TileView dst = c.view(0);
    // Shapes that are each other's transpose: the same bytes under exchanged axes.
    const bool transposed = !has_offset && s.shape != d.shape && s.shape[0] == d.shape[1] && s.shape[1] == d.shape[0] &&
                            (flipped_pair || d.memory != s.memory);
    std::int64_t rows = dst.rows, cols = dst.cols;
    if (to_l0 && d.compact == 0 && !has_offset) { // the whole tile travels
        rows = d.shape[0];
        cols = d.shape[1];
    }
    add_part(plan, dst, src, transposed, 0, 0, row, col, rows, cols);
    return plan;
}

num::Footprint source_bytes(const Transfer& t) {
    return num::footprint(t.from, t.src.value->address, t.src_row, t.src_col, t.rows, t.cols);
}
num::Footprint target_bytes(const Transfer& t) { return t.dst.footprint(t.dst_row, t.dst_col, t.rows, t.cols); }

void access(const Call& c, AccessList& list, const Plan& plan) {
    for (int i = 0; i < plan.count; ++i) {
        add_tile(list, plan.part[i].src, 1, false, source_bytes(plan.part[i]));
        add_tile(list, plan.part[i].dst, 0, true, target_bytes(plan.part[i]));
    }
    if (plan.fixpipe)
        if (const OperandInstance* scale = c.runtime(Key::scale); scale && scale->kind == OperandInstance::Kind::tile) {
            const TileView v = c.view(scale->tile);
            add_tile(list, v, -1, false, v.footprint());
        }
}

void run(Call& c, const Plan& plan) {
    std::int64_t bytes = 0;
    for (int i = 0; i < plan.count; ++i) {
        const Transfer& t = plan.part[i];
        const num::Place to{t.dst.map, t.dst_row, t.dst_col}, from{t.from, t.src_row, t.src_col};
        bytes += t.rows * t.cols * t.dst.map.bits / 8;
        if (plan.fixpipe) {
            fixpipe(c, t.src, t.src_row, t.src_col,
                    {t.dst.data, t.dst.known, t.dst.map, t.dst_row, t.dst_col, t.dst.dtype}, t.rows, t.cols, false);
        } else if (t.dst.map.bits == t.from.bits) {
            num::copy_window(t.dst.data, to, t.src.data, from, t.rows, t.cols);
            num::copy_window(t.dst.known, to, t.src.known, from, t.rows, t.cols);
        } else if (t.dst.dtype == DType::fp32 &&
                   (t.src.dtype == DType::fp16 || t.src.dtype == DType::bf16)) { // bias table
            for (std::int64_t r = 0; r < t.rows; ++r)
                for (std::int64_t j = 0; j < t.cols; ++j) {
                    const std::int64_t at = t.from.byte_offset(t.src_row + r, t.src_col + j),
                                       out = t.dst.map.byte_offset(t.dst_row + r, t.dst_col + j);
                    float value;
                    num::to_fp32(t.src.dtype, t.src.data + at, &value, 1);
                    std::memcpy(t.dst.data + out, &value, 4);
                    std::memset(t.dst.known + out, int(t.src.known[at]), 4);
                }
        } else {
            c.refuse("the move does not convert " + std::string(isa::name(t.src.dtype)) + " to " +
                     std::string(isa::name(t.dst.dtype)));
        }
    }
    if (c.row) {
        c.row->m = plan.count ? std::int32_t(plan.part[0].rows) : 0;
        c.row->n = plan.count ? std::int32_t(plan.part[0].cols) : 0;
        c.row->bytes = bytes;
    }
}

Plan insert_of(const Call& c) {
    const auto& at = c.operand(2).list;
    if (at.size() != 2) c.refuse("insert takes two offsets");
    return insert_plan(c, c.view(0), at[0].integer, at[1].integer);
}

} // namespace

const Meaning move_meaning{[](const Call& c, AccessList& list) { access(c, list, move_plan(c)); },
                           [](Call& c) { run(c, move_plan(c)); }};
const Meaning insert_meaning{[](const Call& c, AccessList& list) { access(c, list, insert_of(c)); },
                             [](Call& c) { run(c, insert_of(c)); }};

} // namespace pto::execute
