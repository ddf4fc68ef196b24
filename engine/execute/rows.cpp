#include "engine/execute/rows.hpp"

#include "engine/execute/numerics/float_formats.hpp"

#include <cstring>

namespace pto::execute {

std::uint64_t pattern_of(const Scalar& s, DType type) {
    const bool real = isa::is_float(s.dtype);
    if (isa::is_float(type)) {
        const double value = real ? s.real : double(s.integer);
        return num::encode(type, value);
    }
    const std::int64_t value = real ? std::int64_t(s.real) : s.integer;
    const int bits = isa::bits(type);
    return bits == 64 ? std::uint64_t(value) : std::uint64_t(value) & ((std::uint64_t(1) << bits) - 1);
}

TileView copied(Call& c, const TileView& v, int slot) {
    TileView copy = v;
    copy.map = num::window_map(v.cols, 1, v.map.bits);
    copy.data = c.scratch.room(slot, v.rows * v.cols * 8);
    num::copy_window(copy.data, {copy.map, 0, 0}, v.data, {v.map, 0, 0}, v.rows, v.cols);
    return copy;
}

namespace {

bool by_rows(const num::TileMap& m) {
    return m.col_near == 1 && m.col_block == num::TileMap::unblocked && m.row_block == num::TileMap::unblocked &&
           m.bits >= 8;
}
bool by_columns(const num::TileMap& m) { return by_rows(m.transposed()); }

/// Different places over common bytes: an element would be overwritten before it is read.
bool clobbers(const TileView& out, const TileView& in) {
    if (out.memory != in.memory) return false;
    if (out.data == in.data && out.map == in.map) return false;
    const num::Footprint a = out.footprint(), b = in.footprint();
    return a.first() < b.last() && b.first() < a.last();
}

} // namespace

Rows::Rows(Call& c, const TileView* out, std::initializer_list<const TileView*> inputs, std::int64_t rows,
           std::int64_t cols)
    : m_rows(rows), m_cols(cols) {
    bool all_rows = true, all_columns = true;
    auto add = [&](Side& s, const TileView& v) {
        s.data = v.data;
        s.map = v.map;
        all_rows &= by_rows(v.map);
        all_columns &= by_columns(v.map);
    };
    if (out) {
        m_has_out = true;
        add(m_out, *out);
    }
    int slot = 1;
    for (const TileView* v : inputs) {
        Side& s = m_in[m_inputs++];
        if (out && clobbers(*out, *v))
            add(s, copied(c, *v, slot++));
        else
            add(s, *v);
    }
    if ((!all_rows || (cols == 1 && rows > 1)) && all_columns) { // columns are contiguous everywhere: walk those
        std::swap(m_rows, m_cols);
        m_out.map = m_out.map.transposed();
        for (int i = 0; i < m_inputs; ++i) m_in[i].map = m_in[i].map.transposed();
        all_rows = true;
    }
    bool dense = all_rows && (!m_has_out || m_out.map.row_near == m_cols);
    for (int i = 0; i < m_inputs; ++i) dense &= m_in[i].map.row_near == m_cols;
    if (dense) {
        m_cols *= m_rows;
        m_rows = m_rows ? 1 : 0;
    }
    std::int64_t room = 0;
    auto prepare = [&](Side& s) {
        s.direct = by_rows(s.map);
        if (!s.direct) room += (m_cols * 8 + 63) / 64 * 64;
    };
    if (m_has_out) prepare(m_out);
    for (int i = 0; i < m_inputs; ++i) prepare(m_in[i]);
    if (room) {
        std::byte* at = c.scratch.room(0, room);
        auto place = [&](Side& s) {
            if (s.direct) return;
            s.staging = at;
            at += (m_cols * 8 + 63) / 64 * 64;
        };
        if (m_has_out) place(m_out);
        for (int i = 0; i < m_inputs; ++i) place(m_in[i]);
    }
}

void Rows::gather(Side& s, std::int64_t row) {
    num::copy_window(s.staging, {num::window_map(m_cols, 1, s.map.bits), 0, 0}, s.data, {s.map, row, 0}, 1, m_cols);
}
const void* Rows::in(int input, std::int64_t row) {
    Side& s = m_in[input];
    if (s.direct) return s.data + s.map.byte_offset(row, 0);
    gather(s, row);
    return s.staging;
}
void* Rows::out(std::int64_t row) {
    if (m_out.direct) return m_out.data + m_out.map.byte_offset(row, 0);
    return m_out.staging;
}
void Rows::finish(std::int64_t row) {
    if (!m_out.direct)
        num::copy_window(m_out.data, {m_out.map, row, 0}, m_out.staging,
                         {num::window_map(m_cols, 1, m_out.map.bits), 0, 0}, 1, m_cols);
}

} // namespace pto::execute
