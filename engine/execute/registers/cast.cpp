/// astype and muls_cast. Source: language 5.7.
#include "engine/execute/registers/code.hpp"

#include "engine/execute/numerics/cast.hpp"

#include <cstring>

namespace pto::execute::registers {
namespace {

num::CastRule rule_of(const Instr& i) {
    return i.scalar ? num::CastRule{num::Rounding::round, false}
                    : num::astype_rule(i.type, i.to, isa::VfRoundMode(i.rounding), isa::SaturateMode(i.saturate));
}

/// The common case, by whole registers: types of 8 bits and more, every byte known, every value selected. False: not
/// this case.
bool cast_whole(Frame& f, const Instr& i) {
    const Vector& a = f.vectors[std::size_t(i.a)];
    if (i.scalar || isa::bits(i.type) < 8 || isa::bits(i.to) < 8 || !(a.full || !f.check)) return false;
    const int from = lane_width(i.type), to = lane_width(i.to), wide = std::max(from, to), narrow = std::min(from, to);
    const int place = i.mode % (wide / narrow), values = vector_bytes / wide;
    if (i.m >= 0 && !all_lanes(f.masks[std::size_t(i.m)], wide, from < to ? place * from : 0)) return false;
    alignas(64) std::byte rooms[2][vector_bytes], converted[vector_bytes];
    const std::byte* source = a.data;
    for (int width = wide, p = place, room = 0; from < to && width > from; width /= 2, p /= 2, room ^= 1) {
        num::every_second_lane(rooms[room], source, p % 2 != 0, from, std::size_t(vector_bytes / wide * width / from / 2));
        source = rooms[room];
    }
    num::cast_lanes(i.type, source, i.to, converted, std::size_t(values), rule_of(i));
    Vector& d = f.vectors[std::size_t(i.d0)];
    const std::byte* result = converted;
    alignas(64) static const std::byte zeros[vector_bytes] = {};
    for (int width = to, p = place, room = 0; to < from && width < wide; width *= 2, p /= 2, room ^= 1) {
        const bool odd = p % 2 != 0;
        num::weave_lanes(rooms[room], odd ? zeros : result, odd ? result : zeros, width, std::size_t(values));
        result = rooms[room];
    }
    std::memcpy(d.data, result, vector_bytes);
    d.full = d.written = true;
    return true;
}

/// Values travel between lanes of two widths: the wider type says how many there are; of each group of narrow lanes the
/// one at the layout's place takes part, the other narrow result lanes are zero. 4-bit values come in pairs, one byte a
/// pair.
void cast(Frame& f, const Instr& i) {
    if (cast_whole(f, i)) return;
    const Vector a = f.vectors[std::size_t(i.a)];
    const int from_bits = isa::bits(i.type), to_bits = isa::bits(i.to);
    const int from_width = lane_width(i.type), to_width = lane_width(i.to);
    const int wide = std::max(from_width, to_width), narrow = std::min(from_width, to_width);
    const bool nibbles = from_bits == 4 || to_bits == 4;
    // With 4-bit values a byte holds two: the wide side holds them as neighbours.
    const int group = nibbles ? 2 * wide : wide;
    const int count = vector_bytes / group;             // groups
    const int places = nibbles ? group : wide / narrow; // narrow lanes of a group (bytes, for nibbles)
    const int place = places > 1 ? i.mode % places : 0;
    const num::CastRule rule = rule_of(i);
    alignas(64) std::byte source[vector_bytes], converted[vector_bytes];
    const bool from_narrow = nibbles ? from_bits == 4 : from_width < to_width;
    const bool to_narrow = nibbles ? to_bits == 4 : to_width < from_width;
    const int from_step = nibbles ? group : from_width == wide ? from_width : wide; // bytes between source values
    const int from_at = from_narrow ? place * (nibbles ? 1 : from_width) : 0;
    const int from_unit = nibbles ? (from_bits == 4 ? 1 : 2 * from_width) : from_width;
    for (int k = 0; k < count; ++k)
        std::memcpy(source + k * from_unit, a.data + k * from_step + from_at, std::size_t(from_unit));
    const std::size_t values = std::size_t(nibbles ? 2 * count : count);
    if (i.scalar) { // src * s first
        const float s = float(f.cells[std::size_t(i.s0)].real);
        for (std::size_t k = 0; k < values; ++k) {
            float x;
            std::memcpy(&x, source + 4 * k, 4);
            x = num::canonical(x * s);
            std::memcpy(source + 4 * k, &x, 4);
        }
    }
    num::cast_lanes(i.type, source, i.to, converted, values, rule);

    const int to_unit = nibbles ? (to_bits == 4 ? 1 : 2 * to_width) : to_width;
    const int to_at = to_narrow ? place * (nibbles ? 1 : to_width) : 0;
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    const int mask_lane = nibbles ? (from_bits == 4 ? 1 : from_width) : from_width; // the mask selects source elements
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], mask_lane, chosen);
    const bool full = a.full || !f.check;
    Vector out;
    std::memset(out.data, 0, vector_bytes);
    std::memset(out.known, 1, vector_bytes);
    for (int k = 0; k < count; ++k) {
        const int source_byte = k * from_step + from_at;
        const int lane = source_byte / mask_lane;
        if (!chosen[lane]) continue;
        std::memcpy(out.data + k * group + to_at, converted + k * to_unit, std::size_t(to_unit));
        if (!full && a.known[source_byte] == std::byte{0})
            std::memset(out.known + k * group + to_at, 0, std::size_t(to_unit));
    }
    Vector& d = f.vectors[std::size_t(i.d0)];
    std::memcpy(d.data, out.data, vector_bytes);
    if (!full) std::memcpy(d.known, out.known, vector_bytes);
    d.full = full;
    d.written = true;
}

} // namespace

Handler cast_handler(const Instr&) { return cast; }

} // namespace pto::execute::registers
