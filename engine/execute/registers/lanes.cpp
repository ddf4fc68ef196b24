/// Arithmetic, logic, comparison on registers. Source: language 5.5.
#include "engine/execute/registers/code.hpp"

#include "engine/execute/numerics/cast.hpp"
#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/rows.hpp"

#include <bit>
#include <cstring>

namespace pto::execute::registers {
namespace {

using isa::LaneFn;

std::uint64_t element_of(const Cell& c, DType t) {
    if (t == DType::fp32) return std::bit_cast<std::uint32_t>(num::canonical(float(c.real)));
    Scalar s;
    if (isa::is_float(t))
        s.dtype = DType::fp32, s.real = c.real;
    else
        s.integer = c.integer;
    return pattern_of(s, t);
}

void known_by_byte(Frame& f, const Instr& i, int width, std::initializer_list<const Vector*> sources) {
    Vector& d = f.vectors[std::size_t(i.d0)];
    std::uint8_t chosen[vector_bytes];
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], width, chosen);
    for (int b = 0; b < vector_bytes; ++b) {
        bool known = true;
        if (i.m < 0 || chosen[b / width]) {
            for (const Vector* s : sources) known &= s->full || s->known[b] != std::byte{0};
        } else if (i.merging) {
            known = d.full || d.known[b] != std::byte{0};
        }
        d.known[b] = std::byte(known);
    }
    d.full = false;
}

/// Shadow of a lane result: known where every source is, or where the lane was not selected (zero, or the old lane).
inline void known_of(Frame& f, const Instr& i, int width, std::initializer_list<const Vector*> sources) {
    Vector& d = f.vectors[std::size_t(i.d0)];
    bool full = !(i.merging && i.m >= 0) || d.full;
    for (const Vector* s : sources) full &= s->full;
    if (full || !f.check)
        d.full = true;
    else
        known_by_byte(f, i, width, sources);
}

void say_unwritten(Frame& f, const Instr& i) {
    Place p = Findings::place_of(f.call->self);
    p.at = i.at;
    f.call->findings->say(HazardKind::uninitialised_register, false, p,
                          f.call->site.name + ": " + std::string(i.row->name) + " reads a register that nothing has written",
                          "assign the register first");
}
inline const Vector& source(Frame& f, const Instr& i, std::int16_t place) {
    const Vector& v = f.vectors[std::size_t(place)];
    if (!v.written && f.check) say_unwritten(f, i);
    return v;
}

void unary(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const Vector& a = source(f, i, i.a);
    known_of(f, i, width, {&a});
    settle_computed(f, i, width, [&](std::byte* out) { i.kernel.unary(out, a.data, std::size_t(vector_bytes / width)); });
}
void binary(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const Vector &a = source(f, i, i.a), &b = source(f, i, i.b);
    known_of(f, i, width, {&a, &b});
    settle_computed(f, i, width,
                    [&](std::byte* out) { i.kernel.binary(out, a.data, b.data, std::size_t(vector_bytes / width)); });
}
void binary_scalar(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const Vector& a = source(f, i, i.a);
    const std::uint64_t scalar = element_of(f.cells[std::size_t(i.s0)], i.type);
    known_of(f, i, width, {&a});
    settle_computed(f, i, width, [&](std::byte* out) {
        num::apply_scalar(i.kernel.binary, i.type, out, a.data, &scalar, std::size_t(vector_bytes / width));
    });
}
/// dst op= ...: reads the register it is assigned to. Order of the kernel's operands: (a, b, dst) or (dst, a, b).
void destination(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const Vector& d = source(f, i, i.d0);
    const Vector& a = source(f, i, i.a);
    alignas(64) std::byte out[vector_bytes];
    const std::size_t lanes = std::size_t(vector_bytes / width);
    if (i.scalar) {
        const std::uint64_t scalar = element_of(f.cells[std::size_t(i.s0)], i.type);
        num::apply_scalar(i.kernel.ternary, i.type, out, a.data, &scalar, d.data, lanes);
        known_of(f, i, width, {&a, &d});
    } else {
        const Vector& b = source(f, i, i.b);
        if (i.lane == LaneFn::mul_dst_add)
            i.kernel.ternary(out, d.data, a.data, b.data, lanes);
        else
            i.kernel.ternary(out, a.data, b.data, d.data, lanes);
        known_of(f, i, width, {&a, &b, &d});
    }
    settle(f, i, out, width);
}
void truncate(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const Vector& a = source(f, i, i.a);
    alignas(64) std::byte out[vector_bytes];
    num::cast_lanes(i.type, a.data, i.type, out, std::size_t(vector_bytes / width),
                    {num::rounding_of(isa::VfRoundMode(i.rounding)), false});
    known_of(f, i, width, {&a});
    settle(f, i, out, width);
}
/// e^(a - b) in fp32; fp16 sources are widened from the even or the odd lanes, and the mask selects source lanes.
void exp_sub(Frame& f, const Instr& i) {
    const Vector &a = source(f, i, i.a), &b = source(f, i, i.b);
    if (i.type == DType::fp32) {
        known_of(f, i, 4, {&a, &b});
        settle_computed(f, i, 4, [&](std::byte* out) { i.kernel.binary(out, a.data, b.data, 64); });
        return;
    }
    alignas(64) std::byte out[vector_bytes];
    alignas(64) std::uint16_t x[64], y[64];
    alignas(64) float wide_x[64], wide_y[64];
    const int odd = i.mode & 1;
    for (int k = 0; k < 64; ++k) {
        std::memcpy(&x[k], a.data + (2 * k + odd) * 2, 2);
        std::memcpy(&y[k], b.data + (2 * k + odd) * 2, 2);
    }
    num::fp16_to_fp32(x, wide_x, 64);
    num::fp16_to_fp32(y, wide_y, 64);
    i.kernel.binary(out, wide_x, wide_y, 64);
    Vector& d = f.vectors[std::size_t(i.d0)];
    const bool full = a.full && b.full;
    std::uint8_t chosen[vector_bytes];
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], 2, chosen);
    std::byte known[vector_bytes];
    for (int k = 0; k < 64; ++k) {
        const bool take = i.m < 0 || chosen[2 * k + odd];
        if (!take) std::memset(out + 4 * k, 0, 4);
        const int at = (2 * k + odd) * 2;
        const bool k_known =
            !take || full || ((a.full || a.known[at] != std::byte{0}) && (b.full || b.known[at] != std::byte{0}));
        std::memset(known + 4 * k, k_known, 4);
    }
    std::memcpy(d.data, out, vector_bytes);
    d.written = true;
    d.full = full || !f.check;
    if (!d.full) std::memcpy(d.known, known, vector_bytes);
}
void mull(Frame& f, const Instr& i) {
    const Vector &a = source(f, i, i.a), &b = source(f, i, i.b);
    Vector low, high;
    for (int k = 0; k < 64; ++k) {
        std::uint32_t x, y;
        std::memcpy(&x, a.data + 4 * k, 4);
        std::memcpy(&y, b.data + 4 * k, 4);
        const std::uint64_t p = i.type == DType::int32 ? std::uint64_t(std::int64_t(std::int32_t(x)) * std::int32_t(y))
                                                       : std::uint64_t(x) * y;
        const std::uint32_t l = std::uint32_t(p), h = std::uint32_t(p >> 32);
        std::memcpy(low.data + 4 * k, &l, 4);
        std::memcpy(high.data + 4 * k, &h, 4);
    }
    Instr second = i;
    second.d0 = i.d1;
    known_of(f, i, 4, {&a, &b});
    known_of(f, second, 4, {&a, &b});
    settle(f, i, low.data, 4);
    settle(f, second, high.data, 4);
}

// ---------------------------------------------------------------- masks

void mask_logic(Frame& f, const Instr& i) {
    const Mask a = f.masks[std::size_t(i.a)], b = i.b >= 0 ? f.masks[std::size_t(i.b)] : Mask{};
    Mask out;
    out.written = true;
    for (std::size_t w = 0; w < 4; ++w) {
        std::uint64_t r = 0;
        switch (i.lane) {
        case LaneFn::bit_and: r = a.bits[w] & b.bits[w]; break;
        case LaneFn::bit_or: r = a.bits[w] | b.bits[w]; break;
        case LaneFn::bit_xor: r = a.bits[w] ^ b.bits[w]; break;
        default: r = ~a.bits[w]; break;
        }
        out.bits[w] = i.m >= 0 ? r & f.masks[std::size_t(i.m)].bits[w] : r;
    }
    f.masks[std::size_t(i.d0)] = out;
}

void compare(Frame& f, const Instr& i) {
    const int width = lane_width(i.type);
    const std::size_t lanes = std::size_t(vector_bytes / width);
    const Vector& a = source(f, i, i.a);
    alignas(64) std::uint8_t chosen[vector_bytes];
    if (i.scalar) {
        const std::uint64_t scalar = element_of(f.cells[std::size_t(i.s0)], i.type);
        num::apply_scalar(i.kernel.compare, i.type, chosen, a.data, &scalar, lanes);
    } else {
        i.kernel.compare(chosen, a.data, source(f, i, i.b).data, lanes);
    }
    Mask out = mask_of_lanes(chosen, width);
    if (i.m >= 0)
        for (std::size_t w = 0; w < 4; ++w) out.bits[w] &= f.masks[std::size_t(i.m)].bits[w];
    f.masks[std::size_t(i.d0)] = out;
}

} // namespace

Handler lane_handler(Instr& i) {
    if (i.mask_form && i.row->semantics == isa::Semantics::reg_lane) return mask_logic;
    if (i.row->semantics == isa::Semantics::reg_compare) {
        i.kernel.compare = num::compare_kernel(i.lane, i.type);
        return i.kernel.compare ? compare : nullptr;
    }
    if (i.row->semantics == isa::Semantics::reg_lane_destination) {
        i.kernel.ternary = num::ternary_kernel(i.lane, i.type, true);
        return i.kernel.ternary ? destination : nullptr;
    }
    switch (i.lane) {
    case LaneFn::mull: return i.type == DType::int32 || i.type == DType::uint32 ? mull : nullptr;
    case LaneFn::truncate: return truncate;
    case LaneFn::exp_sub:
        i.kernel.binary = num::binary_kernel(LaneFn::exp_sub, DType::fp32);
        return i.kernel.binary && (i.type == DType::fp32 || i.type == DType::fp16) ? exp_sub : nullptr;
    default: break;
    }
    if (i.a < 0) return nullptr;
    if (i.scalar || i.b >= 0) {
        // FP8, HF8 registers know logic only: their bits are those of a plain integer.
        i.kernel.binary = num::binary_kernel(i.lane, i.type);
        if (!i.kernel.binary && isa::is_float(i.type) &&
            (i.lane == LaneFn::bit_and || i.lane == LaneFn::bit_or || i.lane == LaneFn::bit_xor))
            i.kernel.binary = num::binary_kernel(i.lane, lane_width(i.type) == 1   ? DType::uint8
                                                         : lane_width(i.type) == 2 ? DType::uint16
                                                                                   : DType::uint32);
        return i.kernel.binary ? (i.scalar ? binary_scalar : binary) : nullptr;
    }
    i.kernel.unary = num::unary_kernel(i.lane, i.type);
    if (!i.kernel.unary && i.lane == LaneFn::bit_not)
        i.kernel.unary = num::unary_kernel(i.lane, lane_width(i.type) == 1   ? DType::uint8
                                                   : lane_width(i.type) == 2 ? DType::uint16
                                                                             : DType::uint32);
    return i.kernel.unary ? unary : nullptr;
}

} // namespace pto::execute::registers
