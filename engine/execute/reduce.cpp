/// Rows or columns to one value each. Source: language 3.7.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/reduce.hpp"

#include <cstring>

namespace pto::execute {
namespace {

int dim_of(const Call& c) { return c.site.row->fixed_dim >= 0 ? c.site.row->fixed_dim : int(c.number(Key::dim, 0)); }

/// The result: [R, 1] or [1, C], as many as the source has.
TileView result_view(const Call& c, const TileView& src) {
    TileView out = c.view(0);
    out.rows = dim_of(c) == 0 ? src.rows : 1;
    out.cols = dim_of(c) == 0 ? 1 : src.cols;
    return out;
}

void access(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (src.rows <= 0 || src.cols <= 0) return;
    const TileView out = result_view(c, src);
    add_tile(list, src, 1, false, src.footprint());
    add_tile(list, out, 0, true, out.footprint());
}

bool rows_are_contiguous(const num::TileMap& m) {
    return m.col_near == 1 && m.col_block == num::TileMap::unblocked && m.row_block == num::TileMap::unblocked;
}

void run(Call& c, bool arg) {
    TileView src = c.view(1);
    if (src.rows <= 0 || src.cols <= 0) return;
    const TileView out = result_view(c, src);
    c.require_known(src, 1, "the reduction");
    if (!arg && out.dtype != src.dtype)
        c.refuse("the destination is " + std::string(isa::name(out.dtype)) + ", the source " +
                     std::string(isa::name(src.dtype)),
                 0);
    if (arg && isa::bits(out.dtype) != 32) c.refuse("the destination holds 32-bit indices", 0);
    const TileView region = src;
    if (!rows_are_contiguous(src.map) ||
        (out.memory == src.memory && out.footprint().first() < src.footprint().last() &&
         src.footprint().first() < out.footprint().last()))
        src = copied(c, src, 1);
    const int bytes = isa::bytes(out.dtype);
    bool known;
    if (dim_of(c) == 0) {
        known = true;
        for (std::int64_t r = 0; r < src.rows && known; ++r) {
            std::byte* to = out.data + out.map.byte_offset(r, 0);
            const std::byte* from = src.data + src.map.byte_offset(r, 0);
            if (arg) {
                std::int32_t index = 0;
                known = num::arg_row(c.site.lane, src.dtype, from, std::size_t(src.cols), &index);
                std::memcpy(to, &index, 4);
            } else {
                known = num::reduce_row(c.site.lane, src.dtype, from, std::size_t(src.cols), to);
            }
        }
    } else {
        std::byte* line = c.scratch.room(0, src.cols * 8);
        const std::int64_t row_bytes = src.map.row_near * src.map.bits / 8;
        if (arg)
            known = num::arg_columns(c.site.lane, src.dtype, src.data, std::size_t(src.rows), row_bytes,
                                     std::size_t(src.cols), reinterpret_cast<std::int32_t*>(line));
        else
            known = num::reduce_columns(c.site.lane, src.dtype, src.data, std::size_t(src.rows), row_bytes,
                                        std::size_t(src.cols), line);
        if (known)
            num::copy_window(out.data, {out.map, 0, 0}, line, {num::window_map(src.cols, 1, bytes * 8), 0, 0}, 1,
                             src.cols);
    }
    if (!known) c.refuse("no such reduction for " + std::string(isa::name(src.dtype)));
    Call::mark_known(out, out.footprint());
    note_work(c, region);
}

} // namespace

const Meaning reduce_meaning{access, [](Call& c) { run(c, false); }};
const Meaning arg_reduce_meaning{access, [](Call& c) { run(c, true); }};

} // namespace pto::execute
