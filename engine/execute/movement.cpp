/// Windows of global memory to tiles and back. Source: language 3.1, 3.2.
#include "engine/execute/movement.hpp"

#include "engine/isa/windows.hpp"

#include <algorithm>

namespace pto::execute {
namespace {

bool is_scale_pair(const TensorValue& t, const isa::TileType& tile) {
    return tile.dtype == DType::fp8e8m0 && tile.fractal == 32 && t.rank >= 3 && t.shape[std::size_t(t.rank - 1)] == 2 &&
           (tile.layout == isa::Layout::zz || tile.layout == isa::Layout::nn);
}

} // namespace

Window window_of(const Call& c, int tensor_operand, int tile_operand, int offsets_operand) {
    const TensorValue& t = c.tensor(tensor_operand);
    const isa::TileType& tile = *c.tile(tile_operand).type;
    const auto& offsets = c.operand(offsets_operand).list;
    if (int(offsets.size()) != t.rank)
        c.refuse(std::to_string(offsets.size()) + " offsets for a tensor of rank " + std::to_string(t.rank),
                 offsets_operand);
    const bool whole_tiles = isa::counts_whole_tiles(*c.site.row);
    const bool pair = is_scale_pair(t, tile);

    Window w;
    w.bits = isa::bits(t.dtype);
    w.row_axis = t.rank - 2 - (pair ? 1 : 0);
    w.col_axis = t.rank - 1 - (pair ? 1 : 0);
    if (c.site.order[0] >= 0) {
        w.row_axis = c.site.order[0];
        w.col_axis = c.site.order[1];
    }
    if (w.row_axis >= t.rank || w.col_axis >= t.rank) c.refuse("order names an axis the tensor does not have");
    auto stride = [&](int axis) -> std::int64_t {
        if (axis < 0) return 0;
        if (t.layout == isa::Layout::dn && t.rank >= 2) { // column-major in the last two axes
            if (axis == t.rank - 2) return 1;
            if (axis == t.rank - 1) return t.shape[std::size_t(t.rank - 2)];
        }
        return t.stride[std::size_t(axis)];
    };
    // How the window walks: as set_stride says, for the tile's rows and columns whichever axes they are, in logical
    // elements; the declared strides of packed 4-bit tensors count bytes.
    auto walk = [&](int axis, std::size_t direction) -> std::int64_t {
        if (t.window_stride[direction] >= 0) return t.window_stride[direction];
        if (w.bits < 8 && axis >= 0) return axis == t.rank - 1 ? 1 : stride(axis) * 2;
        return stride(axis);
    };
    const std::int64_t unit = w.bits < 8 ? 8 : w.bits; // of declared offsets and strides
    const std::int64_t pair_rows = pair && tile.layout == isa::Layout::nn ? 2 : 1,
                       pair_cols = pair && tile.layout == isa::Layout::zz ? 2 : 1;
    std::int64_t row_at = 0, col_at = 0, base = 0;
    for (int axis = 0; axis < t.rank; ++axis) {
        std::int64_t at = offsets[std::size_t(axis)].integer;
        if (whole_tiles && axis == w.row_axis) at *= tile.shape[0] / pair_rows;
        if (whole_tiles && axis == w.col_axis) at *= tile.shape[1] / pair_cols;
        if (axis == w.row_axis)
            row_at = at;
        else if (axis == w.col_axis)
            col_at = at;
        else
            base += at * stride(axis);
    }
    w.row_at = row_at;
    w.col_at = col_at;
    w.row_limit = w.row_axis < 0 ? 1 : t.shape[std::size_t(w.row_axis)] * pair_rows;
    w.col_limit = t.shape[std::size_t(w.col_axis)] * pair_cols;
    if (t.layout == isa::Layout::nz) {
        // The image of a matrix: fractal columns, each of all rows rounded up to 16.
        const std::int64_t rows16 = (t.shape[std::size_t(w.row_axis)] + 15) / 16 * 16;
        w.map = num::gm_nz_map(rows16, w.bits);
        w.at_row = row_at;
        w.at_col = col_at;
        w.address = t.address + base * unit / 8;
        return w;
    }
    if (pair) {
        w.map = num::window_map(stride(w.row_axis), stride(w.col_axis), w.bits);
        const std::int64_t phase = t.stride[std::size_t(t.rank - 1)];
        if (pair_cols == 2) {
            w.map.col_block = 2;
            w.map.col_far = stride(w.col_axis);
            w.map.col_near = phase;
        } else {
            w.map.row_block = 2;
            w.map.row_far = stride(w.row_axis);
            w.map.row_near = phase;
        }
        base += row_at * stride(w.row_axis) + col_at * stride(w.col_axis);
        w.row_at *= pair_rows;
        w.col_at *= pair_cols;
    } else {
        w.map = num::window_map(walk(w.row_axis, 0), walk(w.col_axis, 1), w.bits);
        base += row_at * stride(w.row_axis) + col_at * stride(w.col_axis);
    }
    w.address = t.address + base * unit / 8;
    return w;
}

namespace {

void check_shape(const Call& c, const Window& w, int tensor_operand, std::int64_t rows, std::int64_t cols) {
    if (!c.findings || w.bits < 8) return; // the declared last dimension of packed 4-bit tensors counts bytes
    if (w.row_at >= 0 && w.col_at >= 0 && w.row_at + rows <= w.row_limit && w.col_at + cols <= w.col_limit) return;
    c.warn(HazardKind::beyond_shape, tensor_operand,
           "the window covers rows " + std::to_string(w.row_at) + " to " + std::to_string(w.row_at + rows) +
               " and columns " + std::to_string(w.col_at) + " to " + std::to_string(w.col_at + cols) + " of " +
               c.operand_name(tensor_operand) + ", whose shape is " + std::to_string(w.row_limit) + " x " +
               std::to_string(w.col_limit),
           "set the tile's valid shape to what is left before this operation");
}

void access_load(const Call& c, AccessList& list) {
    const TileView dst = c.view(0);
    if (dst.rows <= 0 || dst.cols <= 0) return;
    const Window w = window_of(c, 1, 0, 2);
    if (w.bits != dst.map.bits) c.refuse("tile and tensor have elements of different width");
    list.add(MemorySpace::ddr, 0, false, 1, w.footprint(dst.rows, dst.cols));
    // A load into Mat completes the last fractal with the pad value.
    std::int64_t rows = dst.rows, cols = dst.cols;
    if (dst.space() == MemorySpace::mat) {
        const std::int64_t width = num::fractal_width(dst.value->type->fractal, dst.map.bits);
        const isa::Layout layout = dst.value->type->layout;
        if (layout == isa::Layout::nz || layout == isa::Layout::zz) cols = (cols + width - 1) / width * width;
        if (layout == isa::Layout::zn || layout == isa::Layout::nn) rows = (rows + width - 1) / width * width;
    }
    add_tile(list, dst, 0, true, dst.footprint(0, 0, rows, cols));
    check_shape(c, w, 1, dst.rows, dst.cols);
}

void run_load(Call& c) {
    const TileView dst = c.view(0);
    if (dst.rows <= 0 || dst.cols <= 0) return;
    const Window w = window_of(c, 1, 0, 2);
    num::copy_window(dst.data, {dst.map, 0, 0}, c.gm.at(w.address), {w.map, w.at_row, w.at_col}, dst.rows, dst.cols);
    Call::mark_known(dst, dst.footprint());
    if (dst.space() == MemorySpace::mat) {
        const std::uint64_t pad = num::pad_value(dst.dtype, dst.value->type->pad);
        const auto tail = num::fill_fractal_tail(dst.data, dst.map, pad, dst.rows, dst.cols);
        if (tail[2] > 0 && tail[3] > 0) Call::mark_known(dst, dst.footprint(tail[0], tail[1], tail[2], tail[3]));
    }
    const std::int64_t bytes = dst.rows * dst.cols * w.bits / 8;
    c.statistics.gm_bytes_read += bytes;
    if (c.row) {
        c.row->m = std::int32_t(dst.rows);
        c.row->n = std::int32_t(dst.cols);
        c.row->bytes = bytes;
        c.row->row_bytes = w.row_bytes(dst.rows, dst.cols);
        c.row->gm_address = w.address;
    }
}

void access_store(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (src.rows <= 0 || src.cols <= 0) return;
    const Window w = window_of(c, 0, 1, 2);
    add_tile(list, src, 1, false, src.footprint());
    list.add(MemorySpace::ddr, 0, true, 0, w.footprint(src.rows, src.cols)).atomic =
        c.choice(Key::atomic, 0) == int(isa::AtomicType::add);
    if (src.space() == MemorySpace::scaling) c.refuse("only Vec and Acc tiles can be stored");
    if (const OperandInstance* scale = c.runtime(Key::scale); scale && scale->kind == OperandInstance::Kind::tile) {
        const TileView v = c.view(scale->tile);
        add_tile(list, v, -1, false, v.footprint());
    }
    check_shape(c, w, 0, src.rows, src.cols);
}

void run_store(Call& c) {
    const TileView src = c.view(1);
    if (src.rows <= 0 || src.cols <= 0) return;
    const Window w = window_of(c, 0, 1, 2);
    c.require_known(src, 1, "the store");
    const bool atomic = c.choice(Key::atomic, 0) == int(isa::AtomicType::add);
    if (src.space() == MemorySpace::acc) {
        fixpipe(c, src, 0, 0, {c.gm.at(w.address), nullptr, w.map, w.at_row, w.at_col, c.tensor(0).dtype}, src.rows,
                src.cols, atomic);
    } else {
        if (w.bits != src.map.bits)
            c.refuse("tile and tensor have elements of different width: a store from Vec does not convert");
        if (atomic)
            add_window(c, c.gm.at(w.address), {w.map, w.at_row, w.at_col}, src.data, {src.map, 0, 0}, src.rows,
                       src.cols, src.dtype);
        else
            num::copy_window(c.gm.at(w.address), {w.map, w.at_row, w.at_col}, src.data, {src.map, 0, 0}, src.rows,
                             src.cols);
    }
    const std::int64_t bytes = src.rows * src.cols * w.bits / 8;
    c.statistics.gm_bytes_written += bytes;
    if (c.row) {
        c.row->m = std::int32_t(src.rows);
        c.row->n = std::int32_t(src.cols);
        c.row->bytes = bytes;
        c.row->row_bytes = w.row_bytes(src.rows, src.cols);
        c.row->gm_address = w.address;
    }
}

} // namespace

const Meaning load_meaning{access_load, run_load}, store_meaning{access_store, run_store};

num::Footprint Window::footprint(std::int64_t rows, std::int64_t cols) const {
    return num::footprint(map, address, at_row, at_col, rows, cols);
}
std::int32_t Window::row_bytes(std::int64_t rows, std::int64_t cols) const {
    if (map.col_block != num::TileMap::unblocked) return std::int32_t(map.col_block) * bits / 8;
    return std::int32_t((map.col_near == 1 ? cols : map.row_near == 1 ? rows : 1) * bits / 8);
}

} // namespace pto::execute
