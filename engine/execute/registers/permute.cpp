/// Masks, fills, selections, permutations and reductions of registers. Source: language 5.3, 5.6.
#include "engine/execute/registers/code.hpp"

#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/reduce.hpp"
#include "engine/execute/rows.hpp"

#include <cmath>
#include <cstring>

namespace pto::execute::registers {
namespace {

using isa::LaneFn;
using isa::Semantics;

/// 8-bit types other than the integers are masked like 32-bit lanes (language 5.3).
int mask_width(DType t) {
    const int w = lane_width(t);
    return w == 1 && t != DType::int8 && t != DType::uint8 ? 4 : w;
}
Vector& result(Frame& f, std::int16_t place, bool full) {
    Vector& d = f.vectors[std::size_t(place)];
    d.written = true;
    d.full = full || !f.check;
    return d;
}
Scalar scalar_of(const Cell& c, DType t) {
    Scalar s;
    if (isa::is_float(t))
        s.dtype = DType::fp32, s.real = c.real;
    else
        s.integer = c.integer;
    return s;
}

// ---------------------------------------------------------------- masks

void mask_create(Frame& f, const Instr& i) {
    const int width = mask_width(i.type), lanes = vector_bytes / width;
    int first = 0, step = 1;
    switch (isa::MaskPattern(i.mode)) {
    case isa::MaskPattern::all: first = lanes; break;
    case isa::MaskPattern::allf: first = 0; break;
    case isa::MaskPattern::vl1: first = 1; break;
    case isa::MaskPattern::vl2: first = 2; break;
    case isa::MaskPattern::vl3: first = 3; break;
    case isa::MaskPattern::vl4: first = 4; break;
    case isa::MaskPattern::vl8: first = 8; break;
    case isa::MaskPattern::vl16: first = 16; break;
    case isa::MaskPattern::vl32: first = 32; break;
    case isa::MaskPattern::vl64: first = 64; break;
    case isa::MaskPattern::vl128: first = 128; break;
    case isa::MaskPattern::m3: first = lanes, step = 3; break;
    case isa::MaskPattern::m4: first = lanes, step = 4; break;
    case isa::MaskPattern::h: first = lanes / 2; break;
    case isa::MaskPattern::q: first = lanes / 4; break;
    }
    Mask m;
    m.written = true;
    for (int k = 0; k < std::min(first, lanes); k += step) m.set(k * width);
    f.masks[std::size_t(i.d0)] = m;
}
void mask_update(Frame& f, const Instr& i) {
    const int width = mask_width(i.type), lanes = vector_bytes / width;
    const std::int64_t n = std::min<std::int64_t>(f.cells[std::size_t(i.s0)].integer, lanes);
    Mask m;
    m.written = true;
    for (int k = 0; k < n; ++k) m.set(k * width);
    f.masks[std::size_t(i.d0)] = m;
}
void mask_special(Frame& f, const Instr& i) {
    Mask m;
    m.written = true;
    const CoreRegisters& r = f.call->registers;
    const bool wide = isa::MaskWidth(i.mode) == isa::MaskWidth::b32;
    const int lanes = wide ? 64 : 128;
    for (int k = 0; k < lanes; ++k) {
        const bool on =
            r.count_mode ? std::uint64_t(k) < r.mask[0] : (r.mask[std::size_t(k / 64)] >> (k % 64) & 1) != 0;
        if (on) m.set(k * (wide ? 4 : 2));
    }
    f.masks[std::size_t(i.d0)] = m;
}
void mask_from_register(Frame& f, const Instr& i) {
    const Vector& v = f.vectors[std::size_t(i.a)];
    const int width = lane_width(i.type), lanes = vector_bytes / width, block = lanes / 8;
    const std::int64_t at = i.s0 >= 0 ? f.cells[std::size_t(i.s0)].integer : 0;
    if (at < 0 || (at + 1) * block > vector_bytes)
        throw Stop{Status::refused,
                   std::string(i.row->name) + ": block " + std::to_string(at) + " lies outside the register", i.at};
    Mask m;
    m.written = true;
    for (int k = 0; k < lanes; ++k)
        if (unsigned(v.data[at * block + k / 8]) >> (k % 8) & 1) m.set(k * width);
    f.masks[std::size_t(i.d0)] = m;
}

// ---------------------------------------------------------------- fills, moves, selections

void fill(Frame& f, const Instr& i) {
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    alignas(64) std::byte out[vector_bytes];
    bool full = true;
    if (i.scalar) {
        num::splat(i.type, out, pattern_of(scalar_of(f.cells[std::size_t(i.s0)], i.type), i.type), std::size_t(lanes));
    } else {
        const Vector& v = f.vectors[std::size_t(i.a)];
        const int lane = isa::DuplicatePos(i.mode) == isa::DuplicatePos::lowest ? 0 : lanes - 1;
        for (int k = 0; k < lanes; ++k) std::memcpy(out + k * width, v.data + lane * width, std::size_t(width));
        full = v.full || v.known[lane * width] != std::byte{0};
    }
    Vector& d = f.vectors[std::size_t(i.d0)];
    const bool old_full = !i.merging || i.m < 0 || d.full;
    settle(f, i, out, width);
    result(f, i.d0, full && old_full);
    if (!d.full) std::memset(d.known, full, vector_bytes);
}
void arange(Frame& f, const Instr& i) {
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    const Scalar start = scalar_of(f.cells[std::size_t(i.s0)], i.type);
    const bool falling = isa::IndexOrder(i.mode) == isa::IndexOrder::decrease;
    Vector& d = result(f, i.d0, true);
    for (int k = 0; k < lanes; ++k) {
        const int step = !falling ? k : width == 8 ? -k : lanes - 1 - k;
        Scalar s = start;
        s.integer += step;
        s.real += step;
        const std::uint64_t p = pattern_of(s, i.type);
        std::memcpy(d.data + k * width, &p, std::size_t(width));
    }
}
void move(Frame& f, const Instr& i) {
    if (i.mask_form) {
        Mask m = f.masks[std::size_t(i.a)];
        if (i.m >= 0)
            for (std::size_t w = 0; w < 4; ++w) m.bits[w] &= f.masks[std::size_t(i.m)].bits[w];
        m.written = true;
        f.masks[std::size_t(i.d0)] = m;
        return;
    }
    const Vector v = f.vectors[std::size_t(i.a)];
    Vector& d = f.vectors[std::size_t(i.d0)];
    const int width = lane_width(i.type);
    const bool merges = i.merging && i.m >= 0;
    const bool full = v.full && (!merges || d.full);
    if (!full && f.check) {
        std::uint8_t chosen[vector_bytes];
        std::memset(chosen, 1, sizeof chosen);
        if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], width, chosen);
        for (int b = 0; b < vector_bytes; ++b)
            d.known[b] = std::byte(chosen[b / width] ? v.full || v.known[b] != std::byte{0}
                                                     : !merges || d.full || d.known[b] != std::byte{0});
    }
    settle(f, i, v.data, width);
    result(f, i.d0, full);
}
void select(Frame& f, const Instr& i) {
    const Mask& m = f.masks[std::size_t(i.m)];
    if (i.mask_form) {
        const Mask a = f.masks[std::size_t(i.a)], b = f.masks[std::size_t(i.b)];
        Mask out;
        out.written = true;
        for (std::size_t w = 0; w < 4; ++w) out.bits[w] = (a.bits[w] & m.bits[w]) | (b.bits[w] & ~m.bits[w]);
        f.masks[std::size_t(i.d0)] = out;
        return;
    }
    const Vector &a = f.vectors[std::size_t(i.a)], &b = f.vectors[std::size_t(i.b)];
    const int width = lane_width(i.type);
    std::uint8_t chosen[vector_bytes];
    lanes_of(m, width, chosen);
    alignas(64) std::byte out[vector_bytes];
    num::select_lanes(out, chosen, a.data, b.data, width, std::size_t(vector_bytes / width));
    const bool full = a.full && b.full;
    std::byte known[vector_bytes];
    if (!full)
        for (int k = 0; k < vector_bytes; ++k) {
            const Vector& from = chosen[k / width] ? a : b;
            known[k] = from.full ? std::byte{1} : from.known[k];
        }
    Vector& d = result(f, i.d0, full);
    std::memcpy(d.data, out, vector_bytes);
    if (!d.full) std::memcpy(d.known, known, vector_bytes);
}
void bit_cast_register(Frame& f, const Instr& i) {
    if (i.a != i.d0) f.vectors[std::size_t(i.d0)] = f.vectors[std::size_t(i.a)];
    f.vectors[std::size_t(i.d0)].written = true;
}

// ---------------------------------------------------------------- permutations: one byte mapping for data and shadow

/// Applies map(byte of result) = byte of source, or -1 for a zero byte.
template <class Map>
void permute(Frame& f, std::int16_t place, const Vector& from, Map&& map) {
    Vector out;
    for (int k = 0; k < vector_bytes; ++k) {
        const int at = map(k);
        out.data[k] = at < 0 ? std::byte{0} : from.data[at];
        out.known[k] = at < 0 || from.full ? std::byte{1} : from.known[at];
    }
    out.full = from.full;
    out.written = true;
    f.vectors[std::size_t(place)] = out;
}

void interleave(Frame& f, const Instr& i) {
    const bool weave = i.lane == LaneFn::interleave;
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    if (i.mask_form) {
        std::uint8_t a[vector_bytes], b[vector_bytes], all[2 * vector_bytes], out[2 * vector_bytes];
        lanes_of(f.masks[std::size_t(i.a)], width, a);
        lanes_of(f.masks[std::size_t(i.b)], width, b);
        std::memcpy(all, a, std::size_t(lanes));
        std::memcpy(all + lanes, b, std::size_t(lanes));
        for (int k = 0; k < lanes; ++k) {
            if (weave)
                out[2 * k] = a[k], out[2 * k + 1] = b[k];
            else
                out[k] = all[2 * k], out[lanes + k] = all[2 * k + 1];
        }
        f.masks[std::size_t(i.d0)] = mask_of_lanes(out, width);
        f.masks[std::size_t(i.d1)] = mask_of_lanes(out + lanes, width);
        return;
    }
    const Vector a = f.vectors[std::size_t(i.a)], b = f.vectors[std::size_t(i.b)];
    Vector& low = result(f, i.d0, a.full && b.full);
    Vector& high = result(f, i.d1, a.full && b.full);
    auto run = [&](const std::byte* x, const std::byte* y, std::byte* l, std::byte* h) {
        const std::size_t half = std::size_t(lanes / 2), middle = vector_bytes / 2;
        if (weave) {
            num::weave_lanes(l, x, y, width, half);
            num::weave_lanes(h, x + middle, y + middle, width, half);
        } else {
            for (bool odd : {false, true}) {
                num::every_second_lane(odd ? h : l, x, odd, width, half);
                num::every_second_lane((odd ? h : l) + middle, y, odd, width, half);
            }
        }
    };
    run(a.data, b.data, low.data, high.data);
    if (low.full) return;
    std::byte ka[vector_bytes], kb[vector_bytes];
    if (a.full)
        std::memset(ka, 1, vector_bytes);
    else
        std::memcpy(ka, a.known, vector_bytes);
    if (b.full)
        std::memset(kb, 1, vector_bytes);
    else
        std::memcpy(kb, b.known, vector_bytes);
    run(ka, kb, low.known, high.known);
}

void pack(Frame& f, const Instr& i) {
    const bool upper = isa::PackPart(i.part) == isa::PackPart::upper;
    if (i.mask_form) {
        const Mask a = f.masks[std::size_t(i.a)];
        Mask out;
        out.written = true;
        if (i.lane == LaneFn::pack) {
            for (int k = 0; k < 128; ++k)
                if (a.at(2 * k)) out.set(k + (upper ? 128 : 0));
        } else {
            for (int k = 0; k < 128; ++k)
                if (a.at(k + (upper ? 128 : 0))) out.set(2 * k), out.set(2 * k + 1);
        }
        f.masks[std::size_t(i.d0)] = out;
        return;
    }
    const Vector a = f.vectors[std::size_t(i.a)];
    const int width = lane_width(i.type);
    if (i.lane == LaneFn::pack) {
        const int half = width / 2;
        permute(f, i.d0, a, [&](int k) {
            const int at = k - (upper ? 128 : 0);
            return at < 0 || at >= 128 ? -1 : at / half * width + at % half;
        });
        return;
    }
    const int wide = 2 * width, from = upper ? 128 : 0;
    permute(f, i.d0, a, [&](int k) { return k % wide < width ? from + k / wide * width + k % wide : -1; });
    if (isa::is_signed_int(i.type)) {
        Vector& d = f.vectors[std::size_t(i.d0)];
        for (int k = 0; k < vector_bytes; k += wide)
            if (unsigned(d.data[k + width - 1]) & 0x80) std::memset(d.data + k + width, 0xFF, std::size_t(width));
    }
}

void squeeze(Frame& f, const Instr& i) {
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], width, chosen);
    if (i.mask_form) { // exclusive prefix count
        Vector& d = result(f, i.d0, true);
        std::uint64_t count = 0;
        for (int k = 0; k < lanes; ++k) {
            std::uint64_t p = count;
            if (isa::is_float(i.type)) {
                Scalar s;
                s.integer = std::int64_t(count);
                p = pattern_of(s, i.type);
            }
            std::memcpy(d.data + k * width, &p, std::size_t(width));
            count += chosen[k];
        }
        return;
    }
    const Vector a = f.vectors[std::size_t(i.a)];
    int sources[vector_bytes], n = 0;
    for (int k = 0; k < lanes; ++k)
        if (chosen[k]) sources[n++] = k;
    permute(f, i.d0, a, [&](int k) { return k / width < n ? sources[k / width] * width + k % width : -1; });
    if (isa::SqueezeMode(i.mode) == isa::SqueezeMode::store_reg) f.call->registers.spr = n * width;
}

// ---------------------------------------------------------------- reductions

double extreme_start(DType t, bool largest) {
    if (isa::is_float(t)) return largest ? -HUGE_VAL : HUGE_VAL;
    const int bits = isa::bits(t);
    if (isa::is_signed_int(t)) return largest ? -std::ldexp(1.0, bits - 1) : std::ldexp(1.0, bits - 1) - 1;
    return largest ? 0 : std::ldexp(1.0, bits) - 1;
}
double lane_real(const std::byte* p, DType t) {
    std::uint64_t word = 0;
    const int width = lane_width(t);
    std::memcpy(&word, p, std::size_t(width));
    if (isa::is_float(t))
        return t == DType::fp32 ? double(std::bit_cast<float>(std::uint32_t(word)))
                                : double(num::decode(t, std::uint32_t(word)));
    const int shift = 64 - 8 * width;
    return isa::is_signed_int(t) ? double(std::int64_t(word << shift) >> shift) : double(word);
}
/// One group of lanes to one element; unselected lanes do not take part.
void reduce_group(const Instr& i, const std::byte* lanes, const std::uint8_t* chosen, int count, std::byte* out,
                  std::int64_t* index) {
    const int width = lane_width(i.type);
    if (i.lane == LaneFn::sum) {
        if (isa::is_float(i.type)) {
            float values[128];
            for (int k = 0; k < count; ++k) values[k] = chosen[k] ? float(lane_real(lanes + k * width, i.type)) : 0.0f;
            const float s = num::canonical(num::tree_sum(values, std::size_t(count), std::size_t(count)));
            const std::uint32_t p = i.type == DType::fp32 ? std::bit_cast<std::uint32_t>(s) : num::fp32_to_fp16(s);
            std::memcpy(out, &p, std::size_t(width));
        } else {
            std::uint64_t s = 0;
            for (int k = 0; k < count; ++k)
                if (chosen[k]) {
                    std::uint64_t p = 0;
                    std::memcpy(&p, lanes + k * width, std::size_t(width));
                    s += p;
                }
            std::memcpy(out, &s, std::size_t(width));
        }
        return;
    }
    // Every 8-, 16- and 32-bit value is exact in double.
    const bool largest = i.lane == LaneFn::max;
    double best = extreme_start(i.type, largest);
    std::int64_t at = 0;
    bool any = false;
    const std::byte* from = nullptr;
    for (int k = 0; k < count; ++k) {
        if (!chosen[k]) continue;
        const double x = lane_real(lanes + k * width, i.type);
        const bool nan = x != x;
        const bool better = !any || nan ||
                            (largest ? x > best || (x == best && std::signbit(best) && !std::signbit(x))
                                     : x < best || (x == best && !std::signbit(best) && std::signbit(x)));
        if (!better) continue;
        if (!(any && x == best)) at = k; // -0 and +0 are equal: the first index stays
        best = x;
        any = true;
        from = lanes + k * width;
        if (nan) break;
    }
    Scalar s;
    s.dtype = isa::is_float(i.type) ? DType::fp32 : DType::int64;
    s.real = best;
    s.integer = std::int64_t(best);
    std::uint64_t p = pattern_of(s, i.type);
    if (from && best == best) std::memcpy(&p, from, std::size_t(width));
    std::memcpy(out, &p, std::size_t(width));
    if (index) *index = at;
}
void reduce(Frame& f, const Instr& i) {
    const Vector a = f.vectors[std::size_t(i.a)];
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], width, chosen);
    bool known = a.full;
    if (!known) {
        known = true;
        for (int k = 0; k < lanes; ++k) known &= !chosen[k] || a.known[k * width] != std::byte{0};
    }
    Vector& d = result(f, i.d0, known);
    std::memset(d.data, 0, vector_bytes);
    if (!d.full) {
        std::memset(d.known, 1, vector_bytes);
        std::memset(d.known, 0, std::size_t(i.datablock ? 8 * width : 2 * width));
    }
    if (i.datablock) {
        const int block = 32 / width;
        for (int b = 0; b < 8; ++b)
            reduce_group(i, a.data + 32 * b, chosen + b * block, block, d.data + b * width, nullptr);
        return;
    }
    std::int64_t index = 0;
    reduce_group(i, a.data, chosen, lanes, d.data, &index);
    if (i.lane != LaneFn::sum) std::memcpy(d.data + width, &index, std::size_t(width));
}
void pair_sum(Frame& f, const Instr& i) {
    const Vector a = f.vectors[std::size_t(i.a)];
    const int width = lane_width(i.type), lanes = vector_bytes / width;
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], width, chosen);
    Vector& d = result(f, i.d0, a.full);
    std::memset(d.data, 0, vector_bytes);
    if (!d.full) std::memset(d.known, 1, vector_bytes);
    for (int k = 0; k < lanes / 2; ++k) {
        const float x = chosen[2 * k] ? float(lane_real(a.data + 2 * k * width, i.type)) : 0.0f;
        const float y = chosen[2 * k + 1] ? float(lane_real(a.data + (2 * k + 1) * width, i.type)) : 0.0f;
        const float s = num::canonical(x + y);
        const std::uint32_t p = i.type == DType::fp32 ? std::bit_cast<std::uint32_t>(s) : num::fp32_to_fp16(s);
        std::memcpy(d.data + k * width, &p, std::size_t(width));
        if (!d.full)
            for (int b = 0; b < width; ++b)
                d.known[k * width + b] =
                    std::byte((!chosen[2 * k] || a.known[2 * k * width] != std::byte{0}) &&
                              (!chosen[2 * k + 1] || a.known[(2 * k + 1) * width] != std::byte{0}));
    }
}

// ---------------------------------------------------------------- counting, carries

void histogram(Frame& f, const Instr& i) {
    const Vector& a = f.vectors[std::size_t(i.a)];
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], 1, chosen);
    std::uint32_t counts[256] = {};
    for (int k = 0; k < vector_bytes; ++k)
        if (chosen[k]) ++counts[unsigned(a.data[k])];
    const bool cumulative = isa::HistType(i.part) == isa::HistType::accumulate;
    if (cumulative)
        for (int k = 1; k < 256; ++k) counts[k] += counts[k - 1];
    const int base = isa::BinType(i.mode) == isa::BinType::bin1 ? 128 : 0;
    Vector& d = f.vectors[std::size_t(i.d0)];
    for (int k = 0; k < 128; ++k) {
        std::uint16_t old;
        std::memcpy(&old, d.data + 2 * k, 2);
        old = std::uint16_t(old + counts[base + k]);
        std::memcpy(d.data + 2 * k, &old, 2);
    }
    result(f, i.d0, a.full && d.full);
    if (!d.full) std::memset(d.known, 0, vector_bytes);
}
void carry(Frame& f, const Instr& i) {
    const Vector a = f.vectors[std::size_t(i.a)], b = f.vectors[std::size_t(i.b)];
    const Mask in = i.m2 >= 0 ? f.masks[std::size_t(i.m2)] : Mask{};
    std::uint8_t incoming[vector_bytes], chosen[vector_bytes], outgoing[vector_bytes] = {};
    lanes_of(in, 4, incoming);
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], 4, chosen);
    Vector& d = result(f, i.d1, a.full && b.full);
    for (int k = 0; k < 64; ++k) {
        std::uint32_t x, y;
        std::memcpy(&x, a.data + 4 * k, 4);
        std::memcpy(&y, b.data + 4 * k, 4);
        const std::uint64_t sum =
            i.lane == LaneFn::add ? std::uint64_t(x) + y + incoming[k] : std::uint64_t(x) - y - incoming[k];
        const std::uint32_t low = chosen[k] ? std::uint32_t(sum) : 0;
        outgoing[k] = chosen[k] && (sum >> 32) != 0;
        std::memcpy(d.data + 4 * k, &low, 4);
    }
    if (!d.full)
        for (int k = 0; k < vector_bytes; ++k)
            d.known[k] = std::byte((a.full || a.known[k] != std::byte{0}) && (b.full || b.known[k] != std::byte{0}));
    f.masks[std::size_t(i.d0)] = mask_of_lanes(outgoing, 4);
}
void clear_special(Frame& f, const Instr&) { f.call->registers.spr = 0; }

} // namespace

Handler permute_handler(const Instr& i, Semantics s) {
    switch (s) {
    case Semantics::reg_mask_create: return mask_create;
    case Semantics::reg_mask_update: return mask_update;
    case Semantics::reg_mask_other: return i.scalar ? mask_special : mask_from_register;
    case Semantics::reg_full: return fill;
    case Semantics::reg_arange: return arange;
    case Semantics::reg_move: return move;
    case Semantics::reg_select: return i.m >= 0 ? select : nullptr;
    case Semantics::reg_bit_cast: return bit_cast_register;
    case Semantics::reg_interleave: return i.d0 >= 0 && i.d1 >= 0 ? interleave : nullptr;
    case Semantics::reg_pack: return pack;
    case Semantics::reg_squeeze: return squeeze;
    case Semantics::reg_reduce: return i.lane == LaneFn::add ? pair_sum : reduce;
    case Semantics::reg_histogram: return histogram;
    case Semantics::reg_carry: return carry;
    case Semantics::reg_spr: return clear_special;
    default: return nullptr;
    }
}

} // namespace pto::execute::registers
