/// Loads, stores, gathers and scatters of registers. Source: language 5.4.
#include "engine/execute/registers/code.hpp"

#include <cstring>

namespace pto::execute::registers {
namespace {

using isa::LoadDist;
using isa::Semantics;
using isa::StoreDist;

const std::byte* known_at(const Frame& f, std::int64_t address) { return f.ub->known.get() + address; }

/// Bytes of UB with their shadow, for the distributions that rearrange.
struct Bytes {
    alignas(64) std::byte data[512];
    std::byte known[512];
    bool full = true;
};
void fetch(Frame& f, const Instr& i, std::int64_t address, std::int64_t n, Bytes& out) {
    std::memcpy(out.data, f.at(i, address, n, false), std::size_t(n));
    out.full = !f.check || !std::memchr(known_at(f, address), 0, std::size_t(n));
    if (!out.full) std::memcpy(out.known, known_at(f, address), std::size_t(n));
}
Vector& destination(Frame& f, std::int16_t place, bool full) {
    Vector& d = f.vectors[std::size_t(place)];
    d.written = true;
    d.full = full;
    return d;
}

int granularity(LoadDist d, DType type) {
    switch (d) {
    case LoadDist::brc_b8:
    case LoadDist::us_b8:
    case LoadDist::ds_b8:
    case LoadDist::unpk_b8:
    case LoadDist::dintlv_b8: return 1;
    case LoadDist::brc_b16:
    case LoadDist::us_b16:
    case LoadDist::ds_b16:
    case LoadDist::unpk_b16:
    case LoadDist::e2b_b16:
    case LoadDist::dintlv_b16: return 2;
    case LoadDist::brc_b32:
    case LoadDist::unpk_b32:
    case LoadDist::e2b_b32:
    case LoadDist::dintlv_b32: return 4;
    default: return lane_width(type);
    }
}
/// How many bytes a distribution reads.
std::int64_t source_bytes(LoadDist d, int size) {
    switch (d) {
    case LoadDist::brc:
    case LoadDist::brc_b8:
    case LoadDist::brc_b16:
    case LoadDist::brc_b32: return size;
    case LoadDist::us:
    case LoadDist::us_b8:
    case LoadDist::us_b16: return 128;
    case LoadDist::ds:
    case LoadDist::ds_b8:
    case LoadDist::ds_b16: return 512;
    case LoadDist::unpk:
    case LoadDist::unpk_b8:
    case LoadDist::unpk_b16:
    case LoadDist::unpk_b32: return 128;
    case LoadDist::unpk4: return 64;
    case LoadDist::blk: return 32;
    case LoadDist::e2b:
    case LoadDist::e2b_b16:
    case LoadDist::e2b_b32: return 8 * size;
    case LoadDist::dintlv_b8:
    case LoadDist::dintlv_b16:
    case LoadDist::dintlv_b32: return 512;
    default: return 256;
    }
}
/// One element in every lane.
void broadcast(std::byte* to, const std::byte* from, int size) {
    std::uint64_t pattern = 0;
    std::memcpy(&pattern, from, std::size_t(size));
    static constexpr DType by_log2[] = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
    num::splat(by_log2[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3], to, pattern, std::size_t(vector_bytes / size));
}
/// The same rearrangement for data and for shadows; `fill` is what appears where no source byte goes.
void arrange(LoadDist d, int size, const std::byte* from, std::byte* to, std::byte* second, std::byte fill) {
    const int lanes = vector_bytes / size;
    switch (d) {
    case LoadDist::brc:
    case LoadDist::brc_b8:
    case LoadDist::brc_b16:
    case LoadDist::brc_b32:
        broadcast(to, from, size);
        break;
    case LoadDist::us:
    case LoadDist::us_b8:
    case LoadDist::us_b16:
        num::weave_lanes(to, from, from, size, std::size_t(lanes / 2));
        break;
    case LoadDist::ds:
    case LoadDist::ds_b8:
    case LoadDist::ds_b16:
        num::every_second_lane(to, from, false, size, std::size_t(lanes));
        break;
    case LoadDist::unpk:
    case LoadDist::unpk_b8:
    case LoadDist::unpk_b16:
    case LoadDist::unpk_b32:
        std::memset(to, int(fill), vector_bytes);
        for (int k = 0; k < lanes / 2; ++k) std::memcpy(to + 2 * k * size, from + k * size, std::size_t(size));
        break;
    case LoadDist::unpk4:
        std::memset(to, int(fill), vector_bytes);
        for (int k = 0; k < 64; ++k) to[4 * k] = from[k];
        break;
    case LoadDist::blk:
        for (int k = 0; k < 8; ++k) std::memcpy(to + 32 * k, from, 32);
        break;
    case LoadDist::e2b:
    case LoadDist::e2b_b16:
    case LoadDist::e2b_b32:
        for (int k = 0; k < lanes; ++k) std::memcpy(to + k * size, from + k * size / 32 * size, std::size_t(size));
        break;
    case LoadDist::dintlv_b8:
    case LoadDist::dintlv_b16:
    case LoadDist::dintlv_b32:
        num::every_second_lane(to, from, false, size, std::size_t(lanes));
        num::every_second_lane(second, from, true, size, std::size_t(lanes));
        break;
    default: std::memcpy(to, from, vector_bytes); break;
    }
}

void load_plain(Frame& f, const Instr& i) {
    const std::int64_t address = f.address_of(i);
    const std::byte* from = f.at(i, address, vector_bytes, false);
    const bool full = !f.check || !std::memchr(known_at(f, address), 0, vector_bytes);
    Vector& d = destination(f, i.d0, full);
    std::memcpy(d.data, from, vector_bytes);
    if (!full) std::memcpy(d.known, known_at(f, address), vector_bytes);
}
void load_arranged(Frame& f, const Instr& i) {
    const auto dist = LoadDist(i.mode);
    const int size = granularity(dist, i.type);
    Bytes bytes;
    fetch(f, i, f.address_of(i), source_bytes(dist, size), bytes);
    Vector& d = destination(f, i.d0, bytes.full);
    Vector& e = i.d1 >= 0 ? destination(f, i.d1, bytes.full) : d;
    arrange(dist, size, bytes.data, d.data, e.data, std::byte{0});
    if (!bytes.full) arrange(dist, size, bytes.known, d.known, e.known, std::byte{1});
}
/// Eight 32-byte blocks, block_stride blocks apart; a block without a selected bit becomes zero.
void load_blocks(Frame& f, const Instr& i) {
    std::int64_t address = f.address_of(i);
    const std::int64_t stride = i.s0 >= 0 ? f.cells[std::size_t(i.s0)].integer : 1;
    Vector& d = destination(f, i.d0, true);
    for (int k = 0; k < 8; ++k) {
        const bool on =
            i.m < 0 || (f.masks[std::size_t(i.m)].bits[std::size_t(k / 2)] >> (k % 2 * 32) & 0xFFFFFFFFu) != 0;
        if (!on) {
            std::memset(d.data + 32 * k, 0, 32);
            std::memset(d.known + 32 * k, 1, 32);
            continue;
        }
        const std::int64_t at = address + k * stride * 32;
        std::memcpy(d.data + 32 * k, f.at(i, at, 32, false), 32);
        std::memcpy(d.known + 32 * k, known_at(f, at), 32);
        d.full &= !f.check || !std::memchr(known_at(f, at), 0, 32);
    }
    if (i.post_update && i.s1 >= 0 && i.offset < 0)
        f.cursors[std::size_t(i.cursor)] += f.cells[std::size_t(i.s1)].integer * 32;
}
void load_mask(Frame& f, const Instr& i) {
    const std::int64_t address = f.address_of(i);
    Mask m;
    m.written = true;
    auto bit = [](const std::byte* p, int k) { return (unsigned(p[k / 8]) >> (k % 8) & 1) != 0; };
    const auto dist = LoadDist(i.mode);
    if (dist == LoadDist::us || dist == LoadDist::us_b8 || dist == LoadDist::us_b16) {
        const std::byte* p = f.at(i, address, 16, false);
        for (int k = 0; k < 256; ++k)
            if (bit(p, k / 2)) m.set(k);
    } else if (dist == LoadDist::ds || dist == LoadDist::ds_b8 || dist == LoadDist::ds_b16) {
        const std::byte* p = f.at(i, address, 64, false);
        for (int k = 0; k < 256; ++k)
            if (bit(p, 2 * k)) m.set(k);
    } else {
        std::memcpy(m.bits.data(), f.at(i, address, 32, false), 32);
    }
    f.masks[std::size_t(i.d0)] = m;
}

// ---------------------------------------------------------------- stores

/// Writes bytes and their shadow.
void put(Frame& f, const Instr& i, std::int64_t address, const std::byte* data, const std::byte* known, bool full,
         std::int64_t n) {
    std::memcpy(f.at(i, address, n, true), data, std::size_t(n));
    if (!f.check) return;
    if (full)
        std::memset(f.ub->known.get() + address, 1, std::size_t(n));
    else
        std::memcpy(f.ub->known.get() + address, known, std::size_t(n));
}

/// Lane k of width `from` lands at address + k * to; only selected lanes, only the low `to` bytes.
void store_lanes(Frame& f, const Instr& i, std::int64_t address, const Vector& v, int from, int to) {
    const int lanes = vector_bytes / from;
    const bool all = i.m < 0 || all_lanes(f.masks[std::size_t(i.m)], from);
    if (all && from == to) return put(f, i, address, v.data, v.known, v.full, vector_bytes);
    std::uint8_t chosen[vector_bytes];
    if (!all) lanes_of(f.masks[std::size_t(i.m)], from, chosen);
    for (int k = 0; k < lanes;) { // maximal runs of selected lanes
        if (!all && !chosen[k]) {
            ++k;
            continue;
        }
        int end = k + 1;
        while (end < lanes && (all || chosen[end])) ++end;
        if (from == to) {
            put(f, i, address + k * from, v.data + k * from, v.known + k * from, v.full, std::int64_t(end - k) * from);
        } else {
            std::byte data[vector_bytes], known[vector_bytes];
            for (int j = k; j < end; ++j) {
                std::memcpy(data + (j - k) * to, v.data + j * from, std::size_t(to));
                std::memcpy(known + (j - k) * to, v.known + j * from, std::size_t(to));
            }
            put(f, i, address + k * to, data, known, v.full, std::int64_t(end - k) * to);
        }
        k = end;
    }
}
void store(Frame& f, const Instr& i) {
    const std::int64_t address = f.address_of(i);
    const Vector& v = f.vectors[std::size_t(i.a)];
    const int width = lane_width(i.type);
    const auto dist =
        i.address >= 0 ? StoreDist::norm : StoreDist(i.mode); // the address register form always stores NORM
    switch (dist) {
    case StoreDist::first_element: put(f, i, address, v.data, v.known, v.full, width); break;
    case StoreDist::norm_b16: store_lanes(f, i, address, v, 2, 2); break;
    case StoreDist::pack: store_lanes(f, i, address, v, width, width > 1 ? width / 2 : 1); break;
    case StoreDist::pack4: store_lanes(f, i, address, v, 4, 1); break;
    default: store_lanes(f, i, address, v, width, width); break;
    }
}
void store_pair(Frame& f, const Instr& i) {
    const std::int64_t address = f.address_of(i);
    const Vector &a = f.vectors[std::size_t(i.a)], &b = f.vectors[std::size_t(i.b)];
    const int size = StoreDist(i.mode) == StoreDist::intlv_b32 ? 4 : lane_width(i.type), lanes = vector_bytes / size;
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], size, chosen);
    for (int k = 0; k < lanes; ++k) {
        if (!chosen[k]) continue;
        put(f, i, address + 2 * k * size, a.data + k * size, a.known + k * size, a.full, size);
        put(f, i, address + (2 * k + 1) * size, b.data + k * size, b.known + k * size, b.full, size);
    }
}
void store_blocks(Frame& f, const Instr& i) {
    const std::int64_t address = f.address_of(i);
    const std::int64_t stride = i.s0 >= 0 ? f.cells[std::size_t(i.s0)].integer : 1;
    const Vector& v = f.vectors[std::size_t(i.a)];
    for (int k = 0; k < 8; ++k) {
        const bool on =
            i.m < 0 || (f.masks[std::size_t(i.m)].bits[std::size_t(k / 2)] >> (k % 2 * 32) & 0xFFFFFFFFu) != 0;
        if (on) put(f, i, address + k * stride * 32, v.data + 32 * k, v.known + 32 * k, v.full, 32);
    }
    if (i.post_update && i.s1 >= 0 && i.offset < 0)
        f.cursors[std::size_t(i.cursor)] += f.cells[std::size_t(i.s1)].integer * 32;
}
void store_mask(Frame& f, const Instr& i) {
    // A plain integer offset of a mask store is ignored by the generated code (language 9.1 #41).
    Instr plain = i;
    if (!i.post_update && i.address < 0) plain.offset = -1, plain.column_stride = 0;
    const std::int64_t address = f.address_of(plain);
    const Mask& m = f.masks[std::size_t(i.a)];
    std::byte bytes[32] = {};
    if (StoreDist(i.mode) == StoreDist::pack) {
        for (int k = 0; k < 128; ++k)
            if (m.at(2 * k)) bytes[k / 8] |= std::byte(1 << (k % 8));
        put(f, i, address, bytes, bytes, true, 16);
    } else {
        std::memcpy(bytes, m.bits.data(), 32);
        put(f, i, address, bytes, bytes, true, 32);
    }
}

// ---------------------------------------------------------------- unaligned streams

std::int64_t stream_address(Frame& f, const Instr& i) {
    std::int64_t address = f.tile_address[std::size_t(i.tile)];
    if (i.base >= 0) address += f.cells[std::size_t(i.base)].integer * lane_width(i.memory_type);
    return address;
}
void nothing(Frame&, const Instr&) {}

void load_unaligned(Frame& f, const Instr& i) {
    std::int64_t address = stream_address(f, i);
    std::int64_t& cursor = f.cursors[std::size_t(i.cursor)];
    if (i.s0 >= 0 || i.post_update) {
        if (cursor < 0) cursor = address;
        address = cursor;
        if (i.s0 >= 0) cursor += f.cells[std::size_t(i.s0)].integer * lane_width(i.memory_type);
    }
    // A stream may end less than a register before the end of the memory: what lies beyond is never used.
    std::int64_t n = vector_bytes;
    if (i.s1 >= 0)
        n = std::min<std::int64_t>(
            n, std::max<std::int64_t>(0, f.cells[std::size_t(i.s1)].integer * lane_width(i.memory_type)));
    n = std::min(n, std::max<std::int64_t>(f.ub->bytes - address, 1));
    Bytes bytes;
    fetch(f, i, address, n, bytes);
    Vector& d = destination(f, i.d0, bytes.full);
    std::memcpy(d.data, bytes.data, std::size_t(n));
    std::memset(d.data + n, 0, std::size_t(vector_bytes - n));
    if (!bytes.full) {
        std::memcpy(d.known, bytes.known, std::size_t(n));
        std::memset(d.known + n, 1, std::size_t(vector_bytes - n));
    }
}
void store_unaligned(Frame& f, const Instr& i) {
    std::int64_t& cursor = f.cursors[std::size_t(i.cursor)];
    if (cursor < 0) cursor = stream_address(f, i);
    if (i.mask_form) { // packed lanes of a mask: 32, 16 or 8 bytes
        const int width = lane_width(i.type);
        std::uint8_t chosen[vector_bytes];
        lanes_of(f.masks[std::size_t(i.a)], width, chosen);
        std::byte bytes[32] = {};
        const int lanes = vector_bytes / width;
        for (int k = 0; k < lanes; ++k)
            if (chosen[k]) bytes[k / 8] |= std::byte(1 << (k % 8));
        put(f, i, cursor, bytes, bytes, true, lanes / 8);
        cursor += lanes / 8;
    } else {
        const Vector& v = f.vectors[std::size_t(i.a)];
        const std::int32_t given = i.s0 >= 0 ? i.s0 : i.s1;
        std::int64_t n = vector_bytes;
        if (given >= 0)
            n = f.cells[std::size_t(given)].integer * lane_width(i.type);
        else if (i.stream >= 0)
            n = f.call->registers.spr; // bytes that the last squeeze kept
        if (n < 0 || n > vector_bytes)
            throw Stop{Status::refused,
                       std::string(i.row->name) + ": " + std::to_string(n) + " bytes do not fit a register of 256",
                       i.at};
        if (n) put(f, i, cursor, v.data, v.known, v.full, n);
        cursor += n;
    }
    if (i.stream >= 0) f.stream_open[std::size_t(i.stream)] = true;
}
void store_post(Frame& f, const Instr& i) {
    if (i.stream >= 0) f.stream_open[std::size_t(i.stream)] = false;
}

// ---------------------------------------------------------------- gather and scatter

std::int64_t lane_integer(const Vector& v, DType t, int k) {
    const int width = lane_width(t);
    std::uint64_t p = 0;
    std::memcpy(&p, v.data + k * width, std::size_t(width));
    if (!isa::is_signed_int(t) || width == 8) return std::int64_t(p);
    const int shift = 64 - 8 * width;
    return std::int64_t(p << shift) >> shift;
}
void gather_memory(Frame& f, const Instr& i) {
    const Vector index = f.vectors[std::size_t(i.b)];
    const std::int64_t address = stream_address(f, i);
    Vector& d = destination(f, i.d0, true);
    std::memset(d.data, 0, vector_bytes);
    std::memset(d.known, 1, vector_bytes);
    if (isa::DataCopyMode(i.copy_mode) == isa::DataCopyMode::data_block_load) {
        for (int k = 0; k < 8; ++k) {
            const bool on =
                i.m < 0 || (f.masks[std::size_t(i.m)].bits[std::size_t(k / 2)] >> (k % 2 * 32) & 0xFFFFFFFFu) != 0;
            if (!on) continue;
            const std::int64_t at = address + lane_integer(index, i.type, k);
            std::memcpy(d.data + 32 * k, f.at(i, at, 32, false), 32);
            std::memcpy(d.known + 32 * k, known_at(f, at), 32);
        }
    } else {
        const int size = lane_width(i.memory_type), index_width = lane_width(i.type);
        const int out = size == 1                       ? 2
                        : size == 2 && index_width == 4 ? 4
                                                        : size; // narrow sources are zero-extended to the lane
        const int lanes = std::min(vector_bytes / index_width, vector_bytes / out);
        std::uint8_t chosen[vector_bytes];
        std::memset(chosen, 1, sizeof chosen);
        if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], out, chosen);
        for (int k = 0; k < lanes; ++k) {
            if (!chosen[k]) continue;
            const std::int64_t at = address + lane_integer(index, i.type, k) * size;
            std::memcpy(d.data + out * k, f.at(i, at, size, false), std::size_t(size));
            std::memcpy(d.known + out * k, known_at(f, at), std::size_t(size));
        }
    }
    d.full = !f.check || !std::memchr(d.known, 0, vector_bytes);
}
void gather_register(Frame& f, const Instr& i) {
    const Vector from = f.vectors[std::size_t(i.a)], index = f.vectors[std::size_t(i.b)];
    const int width = lane_width(i.to), lanes = vector_bytes / width, indices = vector_bytes / lane_width(i.type);
    Vector& d = destination(f, i.d0, from.full);
    std::memset(d.data, 0, vector_bytes);
    std::memset(d.known, 1, vector_bytes);
    for (int k = 0; k < std::min(lanes, indices); ++k) {
        const int at = int(std::uint64_t(lane_integer(index, i.type, k)) % std::uint64_t(lanes));
        std::memcpy(d.data + k * width, from.data + at * width, std::size_t(width));
        if (!from.full) std::memcpy(d.known + k * width, from.known + at * width, std::size_t(width));
    }
}
void scatter(Frame& f, const Instr& i) {
    const Vector &v = f.vectors[std::size_t(i.a)], &index = f.vectors[std::size_t(i.b)];
    const std::int64_t address = stream_address(f, i);
    const int size = lane_width(i.type), index_width = lane_width(i.to),
              step = size == 1 ? 2 : 1; // 8-bit values: even lanes only
    const int lanes = std::min(vector_bytes / index_width, vector_bytes / (size * step));
    std::uint8_t chosen[vector_bytes];
    std::memset(chosen, 1, sizeof chosen);
    if (i.m >= 0) lanes_of(f.masks[std::size_t(i.m)], index_width, chosen);
    for (int k = 0; k < lanes; ++k)
        if (chosen[k])
            put(f, i, address + lane_integer(index, i.to, k) * size, v.data + k * step * size,
                v.known + k * step * size, v.full, size);
}

// ---------------------------------------------------------------- the rest of the memory side

void barrier(Frame& f, const Instr& i) {
    const auto mode = isa::MemBarMode(i.mode);
    if (mode == isa::MemBarMode::vst_vld || mode == isa::MemBarMode::vv_all) f.stored_first = f.stored_last = 0;
}
void address_register(Frame& f, const Instr& i) { f.addresses[std::size_t(i.d0)] = f.cells[std::size_t(i.s0)].integer; }

} // namespace

Handler memory_handler(const Instr& i, Semantics s) {
    switch (s) {
    case Semantics::reg_load:
        if (i.mask_form) return load_mask;
        if (isa::DataCopyMode(i.copy_mode) == isa::DataCopyMode::data_block_copy || i.m >= 0) return load_blocks;
        return LoadDist(i.mode) == LoadDist::norm ? load_plain : load_arranged;
    case Semantics::reg_store:
        if (i.mask_form) return store_mask;
        if (i.b >= 0) return store_pair;
        if (isa::DataCopyMode(i.copy_mode) == isa::DataCopyMode::data_block_copy) return store_blocks;
        return store;
    case Semantics::reg_load_unaligned: return i.d0 >= 0 ? load_unaligned : nothing;
    case Semantics::reg_store_unaligned: return i.tile < 0 ? nothing : i.a >= 0 ? store_unaligned : store_post;
    case Semantics::reg_gather: return i.tile >= 0 ? gather_memory : gather_register;
    case Semantics::reg_scatter: return scatter;
    case Semantics::reg_barrier: return barrier;
    case Semantics::reg_address: return address_register;
    default: return nullptr;
    }
}

} // namespace pto::execute::registers
