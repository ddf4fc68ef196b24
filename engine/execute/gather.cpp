/// Elements picked by index, comparison or pattern. Source: language 3.9.
#include "engine/execute/families.hpp"
#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/float_formats.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace pto::execute {
namespace {

bool empty(const TileView& v) { return v.rows <= 0 || v.cols <= 0; }
TileView over(TileView v, std::int64_t rows, std::int64_t cols) {
    v.rows = rows;
    v.cols = cols;
    return v;
}
/// Any byte of the tile: what an index may reach when it stays inside.
void add_whole(AccessList& list, const TileView& v, int operand, bool write) {
    num::Footprint f;
    f.count = 1;
    f.pieces[0].base = v.value->address;
    f.pieces[0].run_bytes = v.value->type->byte_size();
    add_tile(list, v, operand, write, f);
}
std::int64_t signed_element(const TileView& v, std::int64_t r, std::int64_t j) {
    const std::uint64_t p = num::read_element(v.data, v.map.bits, v.map.offset(r, j));
    const int shift = 64 - v.map.bits;
    return isa::is_signed_int(v.dtype) ? std::int64_t(p << shift) >> shift : std::int64_t(p);
}
/// The byte in the memory that an index names, checked.
std::int64_t reached(const Call& c, const TileView& base, std::int64_t byte, std::int64_t bytes, std::int64_t row,
                     std::int64_t col) {
    const std::int64_t at = base.value->address + byte;
    if (at < 0 || at + bytes > base.memory->bytes)
        throw Stop{Status::out_of_range,
                   c.site.name + ": index at [" + std::to_string(row) + ", " + std::to_string(col) + "] reaches byte " +
                       std::to_string(at) + " of a memory of " + std::to_string(base.memory->bytes),
                   c.site.at};
    return at;
}
void require_bytes(const Call& c, const TileView& v, std::int64_t at, std::int64_t n, int operand) {
    num::Footprint f;
    f.count = 1;
    f.pieces[0].base = at;
    f.pieces[0].run_bytes = n;
    c.require_known(v, f, operand, "the gather");
}

void access_gather(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    add_whole(list, c.view(1), 1, false);
    const TileView index = over(c.view(2), out.rows, out.cols);
    add_tile(list, index, 2, false, index.footprint());
    add_tile(list, out, 0, true, out.footprint());
}
void run_gather(Call& c) {
    const TileView out = c.view(0), src = c.view(1);
    if (empty(out)) return;
    const TileView index = over(c.view(2), out.rows, out.cols);
    c.require_known(index, 2, "the gather");
    const int bytes = isa::bytes(out.dtype);
    if (src.map.bits != out.map.bits) c.refuse("source and destination have elements of different width");
    std::byte* picked = c.scratch.room(1, out.rows * out.cols * bytes);
    for (std::int64_t i = 0; i < out.rows; ++i)
        for (std::int64_t j = 0; j < out.cols; ++j) {
            const std::int64_t at = reached(c, src, signed_element(index, i, j) * bytes, bytes, i, j);
            if (c.findings && src.memory->known[std::size_t(at)] == std::byte{0}) require_bytes(c, src, at, bytes, 1);
            std::memcpy(picked + (i * out.cols + j) * bytes, src.memory->data.get() + at, std::size_t(bytes));
        }
    num::copy_window(out.data, {out.map, 0, 0}, picked, {num::window_map(out.cols, 1, out.map.bits), 0, 0}, out.rows,
                     out.cols);
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// out, src, kvalue, cdst: per row, the columns whose element compares with kvalue[row]; cdst[row] = bytes written.
void access_gather_compare(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    for (int i : {2, 3}) {
        const TileView v = c.view(i);
        num::Footprint f;
        f.count = 1;
        f.pieces[0].base = v.value->address;
        f.pieces[0].run_bytes = src.rows * isa::bytes(v.dtype);
        add_tile(list, v, i, i == 3, f);
    }
    const TileView out = over(c.view(0), src.rows, c.tile(0).type->shape[1]);
    add_tile(list, out, 0, true, out.footprint());
}
std::int64_t truncated(const TileView& v, std::uint64_t pattern) {
    if (isa::is_float(v.dtype)) {
        const double x = v.dtype == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(pattern)))
                                                : double(num::decode(v.dtype, std::uint32_t(pattern)));
        if (!(std::fabs(x) < 9e18)) return x > 0 ? INT64_MAX : INT64_MIN;
        return std::int64_t(x);
    }
    const int shift = 64 - isa::bits(v.dtype);
    return isa::is_signed_int(v.dtype) ? std::int64_t(pattern << shift) >> shift : std::int64_t(pattern);
}
void run_gather_compare(Call& c) {
    const TileView out = c.view(0), src = c.view(1), wanted = c.view(2), counts = c.view(3);
    if (empty(src)) return;
    c.require_known(src, 1, "the comparison");
    const auto mode = isa::CompareMode(c.number(Key::cmp_mode, 0));
    const std::int64_t offset = c.number(Key::offset, 0);
    const TileView values = copied(c, src, 1);
    for (std::int64_t i = 0; i < src.rows; ++i) {
        const std::int64_t k = truncated(wanted, num::read_element(wanted.data, isa::bits(wanted.dtype), i));
        std::int64_t n = 0;
        for (std::int64_t j = 0; j < src.cols; ++j) {
            const std::int64_t x =
                truncated(src, num::read_element(values.data, values.map.bits, values.map.offset(i, j)));
            bool take = false;
            switch (mode) {
            case isa::CompareMode::eq: take = x == k; break;
            case isa::CompareMode::ne: take = x != k; break;
            case isa::CompareMode::lt: take = x < k; break;
            case isa::CompareMode::le: take = x <= k; break;
            case isa::CompareMode::gt: take = x > k; break;
            case isa::CompareMode::ge: take = x >= k; break;
            }
            if (!take) continue;
            if (n >= out.value->type->shape[1])
                c.refuse("row " + std::to_string(i) + " has more matches than the destination has columns", 0);
            num::write_element(out.data, out.map.bits, out.map.offset(i, n), std::uint64_t(offset + j));
            ++n;
        }
        num::write_element(counts.data, isa::bits(counts.dtype), i, std::uint64_t(n * isa::bytes(out.dtype)));
        num::Footprint f;
        f.count = 1;
        f.pieces[0].base = counts.value->address + i * isa::bytes(counts.dtype);
        f.pieces[0].run_bytes = isa::bytes(counts.dtype);
        Call::mark_known(counts, f);
        if (n) Call::mark_known(out, out.footprint(i, 0, 1, n));
    }
    note_work(c, src);
}

// 32-byte blocks at byte offsets.
TileView block_offsets(const Call& c, const TileView& out) {
    return over(c.view(2), out.rows, (out.cols * out.map.bits / 8 + 31) / 32);
}
void access_blocks(const Call& c, AccessList& list) {
    const TileView out = c.view(0);
    if (empty(out)) return;
    add_whole(list, c.view(1), 1, false);
    const TileView offsets = block_offsets(c, out);
    add_tile(list, offsets, 2, false, offsets.footprint());
    add_tile(list, out, 0, true, out.footprint());
}
void run_blocks(Call& c) {
    const TileView out = c.view(0), src = c.view(1);
    if (empty(out)) return;
    const TileView offsets = block_offsets(c, out);
    c.require_known(offsets, 2, "the gather");
    const std::int64_t row_bytes = out.cols * out.map.bits / 8;
    std::byte* picked = c.scratch.room(1, out.rows * offsets.cols * 32);
    for (std::int64_t i = 0; i < out.rows; ++i)
        for (std::int64_t b = 0; b < offsets.cols; ++b) {
            const std::int64_t at = reached(c, src, signed_element(offsets, i, b), 32, i, b);
            if (c.findings) require_bytes(c, src, at, std::min<std::int64_t>(32, row_bytes - b * 32), 1);
            std::memcpy(picked + (i * offsets.cols + b) * 32, src.memory->data.get() + at, 32);
        }
    num::copy_window(out.data, {out.map, 0, 0}, picked,
                     {num::window_map(offsets.cols * 256 / out.map.bits, 1, out.map.bits), 0, 0}, out.rows, out.cols);
    Call::mark_known(out, out.footprint());
    note_work(c, out);
}

// A pattern of columns: 1 even, 2 odd, 3 to 6 every fourth from 0 to 3, 7 all.
struct Pattern {
    std::int64_t first = 0, step = 1;
    std::int64_t count(std::int64_t cols) const { return cols > first ? (cols - first + step - 1) / step : 0; }
};
Pattern pattern(const Call& c) {
    const std::int64_t mode = c.number(Key::pattern_mode, 7);
    if (mode < 1 || mode > 7) c.refuse("pattern_mode is " + std::to_string(mode) + ", not one of 1 to 7");
    if (mode <= 2) return {mode - 1, 2};
    if (mode <= 6) return {mode - 3, 4};
    return {0, 1};
}
void access_mask(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    const TileView out = over(c.view(0), src.rows, pattern(c).count(src.cols));
    if (!empty(out)) add_tile(list, out, 0, true, out.footprint());
}
void run_mask(Call& c) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    const Pattern p = pattern(c);
    const TileView out = over(c.view(0), src.rows, p.count(src.cols));
    if (empty(out)) return;
    if (src.map.bits != out.map.bits) c.refuse("source and destination have elements of different width");
    c.require_known(src, 1, "the gather");
    const TileView values = copied(c, src, 1);
    num::TileMap strided = values.map;
    strided.col_near = p.step;
    num::copy_window(out.data, {out.map, 0, 0}, values.data + p.first * values.map.bits / 8, {strided, 0, 0}, out.rows,
                     out.cols);
    Call::mark_known(out, out.footprint());
    note_work(c, src);
}

void access_scatter(const Call& c, AccessList& list) {
    const TileView src = c.view(1);
    if (empty(src)) return;
    add_tile(list, src, 1, false, src.footprint());
    const TileView index = over(c.view(2), src.rows, src.cols);
    add_tile(list, index, 2, false, index.footprint());
    add_whole(list, c.view(0), 0, true);
}
void run_scatter(Call& c) {
    const TileView out = c.view(0), src = c.view(1);
    if (empty(src)) return;
    const TileView index = over(c.view(2), src.rows, src.cols);
    if (src.map.bits != out.map.bits) c.refuse("source and destination have elements of different width");
    c.require_known(src, 1, "the scatter");
    c.require_known(index, 2, "the scatter");
    const TileView values = copied(c, src, 1);
    const int bytes = isa::bytes(src.dtype);
    std::int64_t* places = c.scratch.words(0, src.rows * src.cols);
    for (std::int64_t i = 0; i < src.rows; ++i)
        for (std::int64_t j = 0; j < src.cols; ++j)
            places[i * src.cols + j] = reached(c, out, signed_element(index, i, j) * bytes, bytes, i, j);
    for (std::int64_t k = 0; k < src.rows * src.cols; ++k) {
        std::memcpy(out.memory->data.get() + places[k], values.data + k * bytes, std::size_t(bytes));
        std::memset(out.memory->known.get() + places[k], 1, std::size_t(bytes));
    }
    note_work(c, src);
}

} // namespace

const Meaning gather_meaning{access_gather, run_gather};
const Meaning gather_compare_meaning{access_gather_compare, run_gather_compare};
const Meaning gather_blocks_meaning{access_blocks, run_blocks};
const Meaning gather_mask_meaning{access_mask, run_mask};
const Meaning scatter_meaning{access_scatter, run_scatter};

} // namespace pto::execute
