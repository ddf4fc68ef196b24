#include "engine/isa/tile_map.hpp"

#include <utility>

namespace pto::isa {
namespace {

constexpr std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

/// Levels of the address of one piece, before sorting and merging.
struct Level {
    std::int64_t count, stride;
};

Strided make_piece(std::int64_t base, std::int64_t element_bytes, std::array<Level, 4> levels) {
    std::stable_sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.stride > b.stride; });
    Strided out;
    out.base = base;
    out.run_bytes = element_bytes;
    std::array<Level, 4> kept{};
    int n = 0;
    for (int i = 3; i >= 0; --i) { // innermost first: swallow what continues the run
        const Level l = levels[std::size_t(i)];
        if (l.count == 1) continue;
        if (n == 0 && l.stride == out.run_bytes) out.run_bytes *= l.count;
        else if (n > 0 && kept[std::size_t(n - 1)].count * kept[std::size_t(n - 1)].stride == l.stride) kept[std::size_t(n - 1)].count *= l.count;
        else kept[std::size_t(n++)] = l;
    }
    // Four levels survive only for a region of single elements in a doubly blocked layout; callers split by block, so three suffice.
    for (int i = 0; i < n && i < 3; ++i) {
        out.counts[std::size_t(2 - i)] = kept[std::size_t(i)].count;
        out.strides[std::size_t(2 - i)] = kept[std::size_t(i)].stride;
    }
    return out;
}

struct Part { // of one direction: `blocks` blocks, `inside` elements in each
    std::int64_t start, blocks, inside;
};

/// Splits [start, start + n) at block borders into head, whole blocks, tail; at most two parts when start is block aligned.
int split(std::int64_t start, std::int64_t n, std::int32_t block, std::array<Part, 3>& out) {
    int k = 0;
    if (n <= 0) return 0;
    if (block == TileMap::unblocked) {
        out[0] = {start, 1, n};
        return 1;
    }
    const std::int64_t head = std::min<std::int64_t>(n, (block - start % block) % block);
    if (head > 0) out[std::size_t(k++)] = {start, 1, head}, start += head, n -= head;
    if (n / block > 0) {
        out[std::size_t(k++)] = {start, n / block, block};
        start += n / block * block;
        n %= block;
    }
    if (n > 0) out[std::size_t(k++)] = {start, 1, n};
    return k;
}

bool meets(std::int64_t first, std::int64_t last, const Strided& b, int level, std::int64_t base) {
    if (level == 3) return first < base + b.run_bytes && base < last;
    std::int64_t inner = b.run_bytes;
    for (int i = level + 1; i < 3; ++i) inner += (b.counts[std::size_t(i)] - 1) * b.strides[std::size_t(i)];
    const std::int64_t n = b.counts[std::size_t(level)], s = b.strides[std::size_t(level)];
    if (n == 1 || s == 0) return meets(first, last, b, level + 1, base);
    // Index i can matter only if base + i*s < last and base + i*s + inner > first.
    std::int64_t low = first - inner - base + 1;
    low = low <= 0 ? 0 : (low + s - 1) / s;
    std::int64_t high = last - base - 1;
    if (high < 0) return false;
    high = std::min(high / s, n - 1);
    if (low > high) return false;
    if (high > low && inner <= s) return true; // the first byte of item low + 1 lies inside
    for (std::int64_t i = low; i <= high; ++i)
        if (meets(first, last, b, level + 1, base + i * s)) return true;
    return false;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a % b < 0); } // b > 0

/// Two sets whose levels have the same strides meet iff some difference of their indices brings two runs together:
/// difference = b.base - a.base + sum of d * stride with d from -(a's count - 1) to b's count - 1, level by level.
struct Difference {
    std::int64_t before = 0, after = 0; // run lengths: of b, of a
    std::array<std::int64_t, 3> low{}, high{}, stride{};
    bool reaches(int level, std::int64_t offset) const {
        if (level == 3) return offset < after && offset > -before;
        std::int64_t inner_low = 0, inner_high = 0;
        for (std::size_t i = std::size_t(level) + 1; i < 3; ++i) inner_low += low[i] * stride[i], inner_high += high[i] * stride[i];
        const std::size_t l = std::size_t(level);
        if (stride[l] == 0) return reaches(level + 1, offset);
        const std::int64_t from = std::max(low[l], floor_div(-before - inner_high - offset, stride[l]) + 1);
        const std::int64_t to = std::min(high[l], -floor_div(-(after - inner_low - offset), stride[l]) - 1);
        for (std::int64_t d = from; d <= to; ++d)
            if (reaches(level + 1, offset + d * stride[l])) return true;
        return false;
    }
};

/// False when the strides differ on some level.
bool same_strides(const Strided& a, const Strided& b, Difference& out) {
    out.before = b.run_bytes, out.after = a.run_bytes;
    for (std::size_t i = 0; i < 3; ++i) {
        if (a.counts[i] > 1 && b.counts[i] > 1 && a.strides[i] != b.strides[i]) return false;
        out.low[i] = -(a.counts[i] - 1), out.high[i] = b.counts[i] - 1;
        out.stride[i] = a.counts[i] > 1 ? a.strides[i] : b.counts[i] > 1 ? b.strides[i] : 0;
    }
    return true;
}

} // namespace

TileMap tile_map(const TileType& type, std::array<std::int32_t, 2> valid) {
    TileMap m;
    m.bits = isa::bits(type.dtype);
    const std::int64_t rows = type.shape[0], cols = type.shape[1];
    const std::int32_t c0 = fractal_width(type.fractal, m.bits);
    if (cols == 1 || type.layout == Layout::dn) {
        m.row_near = 1, m.col_near = rows;
        return m;
    }
    // L1 keeps its physical strides: loads, inserts and moves out of it count in declared rows whatever `compact` says.
    const bool follow_valid = (type.compact == 1 && type.memory != MemorySpace::mat) || (type.memory == MemorySpace::acc && !type.fixed_valid);
    // In UB the declared rows are the stride as they stand: 65 rows keep the column blocks off the same bank.
    const auto extent = [&](std::int64_t physical, std::int32_t valid_extent) {
        if (type.compact == 2) return round_up(valid_extent, 16) + 1;
        if (follow_valid) return round_up(valid_extent, 16);
        return type.memory == MemorySpace::vec || physical == 1 ? physical : round_up(physical, 16); // one row is a plain run: a bias, scales
    };
    const std::int64_t row_extent = extent(rows, valid[0]), col_extent = extent(cols, valid[1]);
    switch (type.layout) {
    case Layout::nd:
    case Layout::dn: m.row_near = cols, m.col_near = 1; break;
    case Layout::nz: m.row_near = c0, m.col_block = c0, m.col_far = row_extent * c0, m.col_near = 1; break;
    case Layout::zn: m.col_near = c0, m.row_block = c0, m.row_far = col_extent * c0, m.row_near = 1; break;
    case Layout::zz:
        m.row_block = 16, m.row_far = 16 * cols, m.row_near = c0;
        m.col_block = c0, m.col_far = std::int64_t(16) * c0, m.col_near = 1;
        break;
    case Layout::nn:
        m.col_block = 16, m.col_far = 16 * rows, m.col_near = c0;
        m.row_block = c0, m.row_far = std::int64_t(16) * c0, m.row_near = 1;
        break;
    }
    return m;
}

TileMap window_map(std::int64_t row_stride, std::int64_t col_stride, int bits) {
    TileMap m;
    m.bits = bits;
    m.row_near = row_stride;
    m.col_near = col_stride;
    return m;
}

TileMap gm_nz_map(std::int64_t rows, int bits) {
    TileMap m;
    m.bits = bits;
    const std::int32_t c0 = fractal_width(512, bits);
    m.row_near = c0, m.col_block = c0, m.col_far = rows * c0, m.col_near = 1;
    return m;
}

std::int64_t Footprint::first() const {
    std::int64_t at = count > 0 ? pieces[0].first() : 0;
    for (const Strided& s : *this) at = std::min(at, s.first());
    return at;
}
std::int64_t Footprint::last() const {
    std::int64_t at = 0;
    for (const Strided& s : *this) at = std::max(at, s.last());
    return at;
}
std::int64_t Footprint::bytes() const {
    std::int64_t sum = 0;
    for (const Strided& s : *this) sum += s.bytes();
    return sum;
}

Footprint footprint(const TileMap& map, std::int64_t base_bytes, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
    Footprint fp;
    std::array<Part, 3> by_row{}, by_col{};
    const int nr = split(row, rows, map.row_block, by_row), nc = split(col, cols, map.col_block, by_col);
    // More than four pieces (a region that starts and ends inside blocks in both directions of ZZ or NN): fall back to the
    // hull of the pieces of one direction. No operation of the language forms such a region.
    const bool too_many = nr * nc > 4;
    for (int i = 0; i < nr; ++i)
        for (int j = 0; j < nc; ++j) {
            const Part r = by_row[std::size_t(i)], c = by_col[std::size_t(j)];
            std::int64_t first = map.offset(r.start, c.start), element_bytes = map.bits / 8;
            std::array<Level, 4> levels{Level{r.blocks, map.row_far}, {r.inside, map.row_near}, {c.blocks, map.col_far}, {c.inside, map.col_near}};
            std::int64_t base = 0;
            if (map.bits == 4) { // pairs of nibbles: the contiguous direction becomes bytes
                base = first / 2;
                for (Level& l : levels) {
                    if (l.stride == 1) l.count = (first % 2 + l.count + 1) / 2;
                    else l.stride /= 2;
                }
                element_bytes = 1;
            } else {
                base = first * element_bytes;
                for (Level& l : levels) l.stride *= element_bytes;
            }
            const Strided piece = make_piece(base_bytes + base, element_bytes, levels);
            if (too_many && fp.count == 4) {
                Strided& hull = fp.pieces[3];
                const std::int64_t low = std::min(hull.first(), piece.first()), high = std::max(hull.last(), piece.last());
                hull = Strided{low, high - low};
            } else {
                fp.pieces[std::size_t(fp.count++)] = piece;
            }
        }
    return fp;
}

bool overlap(std::int64_t first, std::int64_t last, const Strided& b) {
    if (first >= b.last() || b.first() >= last) return false;
    return b.contiguous() || meets(first, last, b, 0, b.base);
}

bool overlap(const Strided& a, const Strided& b) {
    if (a.first() >= b.last() || b.first() >= a.last()) return false;
    if (Difference d; same_strides(a, b, d)) return d.reaches(0, b.base - a.base);
    const Strided& few = a.runs() <= b.runs() ? a : b;
    const Strided& many = a.runs() <= b.runs() ? b : a;
    for (std::int64_t i = 0; i < few.counts[0]; ++i)
        for (std::int64_t j = 0; j < few.counts[1]; ++j)
            for (std::int64_t k = 0; k < few.counts[2]; ++k) {
                const std::int64_t at = few.base + i * few.strides[0] + j * few.strides[1] + k * few.strides[2];
                if (overlap(at, at + few.run_bytes, many)) return true;
            }
    return false;
}

bool overlap(const Footprint& a, const Footprint& b) {
    for (const Strided& x : a)
        for (const Strided& y : b)
            if (overlap(x, y)) return true;
    return false;
}

} // namespace pto::isa
