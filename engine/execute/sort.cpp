/// Sorting records, merging sorted rows, byte histograms. Source: language 3.9.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/reduce.hpp"

#include <cstring>

namespace pto::execute {
namespace {

bool empty(const TileView& v) { return v.rows <= 0 || v.cols <= 0; }
TileView over(TileView v, std::int64_t rows, std::int64_t cols) {
    v.rows = rows;
    v.cols = cols;
    return v;
}
std::int64_t record_columns(DType t) { return std::int64_t(num::record_bytes) / isa::bytes(t); }

// ---------------------------------------------------------------- sort32

/// One row of indices may serve all rows.
TileView index_row(const Call& c, const TileView& src, std::int64_t row) {
    TileView v = over(c.view(2), 1, src.cols);
    if (v.value->type->shape[0] > 1) v.data += v.map.byte_offset(row, 0);
    return v;
}
void access_sort32(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    const TileView index = over(c.view(2), c.tile(2).type->shape[0] > 1 ? src.rows : 1, src.cols);
    add_tile(list, index, 2, false, index.footprint());
    const TileView out = over(c.view(0), src.rows, src.cols * record_columns(src.dtype));
    add_tile(list, out, 0, true, out.footprint());
}
void run_sort32(Call& c) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    const TileView out = over(c.view(0), src.rows, src.cols * record_columns(src.dtype));
    if (out.dtype != src.dtype) c.refuse("the records have the type of the values", 0);
    c.require_known(src, 1, "the sort");
    const TileView index = over(c.view(2), c.tile(2).type->shape[0] > 1 ? src.rows : 1, src.cols);
    c.require_known(index, 2, "the sort");
    const TileView values = copied(c, src, 1);
    std::byte* records = c.scratch.room(0, src.cols * std::int64_t(num::record_bytes));
    std::byte* numbers = c.scratch.room(2, src.cols * 4);
    for (std::int64_t r = 0; r < src.rows; ++r) {
        const TileView row = index_row(c, src, r);
        num::copy_window(numbers, {num::window_map(src.cols, 1, 32), 0, 0}, row.data, {row.map, 0, 0}, 1, src.cols);
        if (!num::sort32(src.dtype, values.data + values.map.byte_offset(r, 0),
                         reinterpret_cast<const std::uint32_t*>(numbers), std::size_t(src.cols), records))
            c.refuse("sorts fp32 and fp16, not " + std::string(isa::name(src.dtype)));
        num::copy_window(out.data, {out.map, r, 0}, records, {num::window_map(out.cols, 1, out.map.bits), 0, 0}, 1,
                         out.cols);
    }
    Call::mark_known(out, out.footprint());
    note_work(c, src);
}

// ---------------------------------------------------------------- merging

void access_merge(const Call& c, AccessList& list) {
    const TileView src = over(c.view(1), 1, c.tile(1).valid_cols), out = over(c.view(0), 1, c.tile(1).valid_cols);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    add_tile(list, out, 0, true, out.footprint());
}
void run_merge(Call& c) {
    const TileView src = over(c.view(1), 1, c.tile(1).valid_cols), out = over(c.view(0), 1, c.tile(1).valid_cols);
    if (empty(src)) return;
    const std::int64_t block = c.number(Key::block_len, 0);
    if (block <= 0 || block % 64) c.refuse("block_len is " + std::to_string(block) + ", not a positive multiple of 64");
    if (src.cols % (4 * block))
        c.refuse(std::to_string(src.cols) + " columns are no multiple of 4 blocks of " + std::to_string(block));
    c.require_known(src, 1, "the merge");
    const TileView values = copied(c, src, 1);
    const std::int64_t bytes = isa::bytes(src.dtype);
    const std::size_t records = std::size_t(block * bytes) / num::record_bytes;
    std::byte* merged = c.scratch.room(0, src.cols * bytes);
    for (std::int64_t at = 0; at < src.cols; at += 4 * block) {
        num::RecordList lists[4];
        for (int k = 0; k < 4; ++k) lists[k] = {values.data + (at + k * block) * bytes, records};
        std::size_t taken[4] = {};
        num::merge_records(src.dtype, lists, 4, 4 * records, false, merged + at * bytes, taken);
    }
    num::copy_window(out.data, {out.map, 0, 0}, merged, {num::window_map(src.cols, 1, src.map.bits), 0, 0}, 1,
                     src.cols);
    Call::mark_known(out, out.footprint());
    note_work(c, src);
}

// Documented order of arguments: src0, src1, dst, tmp, [src2, src3].
void access_lists(const Call& c, AccessList& list) {
    for (int i : {0, 1, 4, 5})
        if (c.is_tile(i)) {
            const TileView v = over(c.view(i), 1, c.tile(i).valid_cols);
            if (!empty(v)) add_tile(list, v, i, false, v.footprint());
        }
    const TileView out = over(c.view(2), 1, c.tile(2).valid_cols);
    if (!empty(out)) add_tile(list, out, 2, true, out.footprint());
}
void run_lists(Call& c) {
    const TileView out = over(c.view(2), 1, c.tile(2).valid_cols);
    if (empty(out)) return;
    c.warn(HazardKind::contract, 2,
           "the documented order of arguments is used; generated device code reads the positions as (dst, src0, tmp, "
           "src1, ...)");
    num::RecordList lists[4];
    std::size_t count = 0;
    std::int64_t total = 0;
    for (int i : {0, 1, 4, 5})
        if (c.is_tile(i)) total += c.tile(i).valid_cols;
    std::byte* at = c.scratch.room(1, total * 8);
    for (int i : {0, 1, 4, 5}) {
        if (!c.is_tile(i)) continue;
        const TileView v = over(c.view(i), 1, c.tile(i).valid_cols);
        c.require_known(v, i, "the merge");
        if (!empty(v))
            num::copy_window(at, {num::window_map(v.cols, 1, v.map.bits), 0, 0}, v.data, {v.map, 0, 0}, 1, v.cols);
        lists[count++] = {at, std::size_t(v.cols * isa::bytes(v.dtype)) / num::record_bytes};
        at += v.cols * isa::bytes(v.dtype);
    }
    const std::size_t limit = std::size_t(out.cols * isa::bytes(out.dtype)) / num::record_bytes;
    std::byte* merged = c.scratch.room(0, out.cols * isa::bytes(out.dtype));
    std::size_t taken[4] = {};
    const std::size_t n =
        num::merge_records(out.dtype, lists, count, limit, c.number(Key::exhausted, 0) != 0, merged, taken);
    const std::int64_t cols = std::int64_t(n * num::record_bytes) / isa::bytes(out.dtype);
    if (!cols) return;
    num::copy_window(out.data, {out.map, 0, 0}, merged, {num::window_map(cols, 1, out.map.bits), 0, 0}, 1, cols);
    Call::mark_known(out, out.footprint(0, 0, 1, cols));
    note_work(c, over(out, 1, cols));
}

// ---------------------------------------------------------------- histogram

constexpr std::int64_t bins = 256;

void access_histogram(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    if (!c.number(Key::is_msb, 0) && c.is_tile(2)) {
        const TileView filter = src.map.bits == 16 ? over(c.view(2), src.rows, 1) : over(c.view(2), 3, 1);
        add_tile(list, filter, 2, false, filter.footprint());
    }
    const TileView out = over(c.view(0), src.rows, bins);
    add_tile(list, out, 0, true, out.footprint());
}
void run_histogram(Call& c) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    const TileView out = over(c.view(0), src.rows, bins);
    if (out.value->type->shape[1] < bins) c.refuse("the destination needs 256 columns", 0);
    c.require_known(src, 1, "the histogram");
    const bool top = c.number(Key::is_msb, 0) != 0;
    const int bits = src.map.bits;
    const TileView filter = c.view(2);
    if (!top)
        c.require_known(filter, bits == 16 ? filter.footprint(0, 0, src.rows, 1) : filter.footprint(0, 0, 3, 1), 2,
                        "the histogram");
    for (std::int64_t r = 0; r < src.rows; ++r) {
        std::uint64_t above = 0; // the bytes above the counted one that an element must have
        if (!top && bits == 16) above = num::read_element(filter.data, 8, filter.map.offset(r, 0));
        if (!top && bits == 32)
            for (int k = 0; k < 3; ++k) above = above << 8 | num::read_element(filter.data, 8, filter.map.offset(k, 0));
        std::uint32_t counts[bins] = {};
        for (std::int64_t j = 0; j < src.cols; ++j) {
            const std::uint64_t x = num::read_element(src.data, bits, src.map.offset(r, j));
            if (top)
                ++counts[x >> (bits - 8)];
            else if (x >> 8 == above)
                ++counts[x & 0xFF];
        }
        std::uint32_t sum = 0;
        for (std::int64_t b = 0; b < bins; ++b)
            num::write_element(out.data, out.map.bits, out.map.offset(r, b), sum += counts[b]);
    }
    Call::mark_known(out, out.footprint());
    note_work(c, src);
}

} // namespace

const Meaning sort32_meaning{access_sort32, run_sort32};
const Meaning merge_sort_meaning{access_merge, run_merge};
const Meaning merge_lists_meaning{access_lists, run_lists};
const Meaning histogram_meaning{access_histogram, run_histogram};

} // namespace pto::execute
