/// Where tiles lie: capacity, alignment, shortage of declared bytes, overlap without a shared lock. Source: language 2.2, 2.5, 4.6; hardware 1.2.
#include "engine/check/context.hpp"

#include "engine/isa/tile_map.hpp"

#include <algorithm>

namespace pto::check {
namespace {

using isa::MemorySpace;

/// Bytes that a tile of this type needs, the spare row behind each of its column blocks included.
std::int64_t needed_bytes(const isa::TileType& type) {
    std::array<std::int32_t, 2> used = type.shape;
    if (type.compact == 2 && used[0] % 16 == 1) --used[0]; // the spare row is declared: 65 rows for 64
    std::int64_t last = isa::footprint(isa::tile_map(type, used), 0, 0, 0, used[0], used[1]).last();
    return type.compact == 2 ? last + 32 : last;
}

struct Slot {
    std::int32_t decl = 0, slot = 0;
    std::int64_t begin = 0, end = 0;
};

std::string range(std::int64_t begin, std::int64_t end) { return hex(begin) + "-" + hex(end); }
std::string slot_name(const ir::TileDecl& d, std::int32_t slot) { return d.slots() > 1 ? ticked(d.name) + " slot " + std::to_string(slot) : ticked(d.name); }

void capacity(Context& c, const ir::TileDecl& d) {
    const machine::MemoryRow& row = c.chip.of(d.type.memory);
    std::string space(name(d.type.memory));
    if (row.bytes == 0 && d.type.memory != MemorySpace::ddr) {
        c.report(Code::memory_capacity, d.at, c.chip.name + " has no " + space + " memory for " + ticked(d.name));
        return;
    }
    for (std::int32_t i = 0; i < d.slots(); ++i) {
        std::int64_t begin = d.addresses[std::size_t(i)], end = begin + d.slot_bytes;
        if (begin < 0) {
            c.report(Code::memory_capacity, d.at, slot_name(d, i) + " begins at " + std::to_string(begin));
        } else if (end > row.physical) {
            c.report(Code::memory_capacity, d.at, slot_name(d, i) + ": end " + hex(end) + " > " + std::to_string(row.physical) + " bytes of " + space + " on " + c.chip.name);
        } else if (end > row.bytes) {
            c.report(Code::memory_reserved, d.at,
                     slot_name(d, i) + ": end " + hex(end) + " > " + std::to_string(row.bytes) + " bytes of " + space + " that programs may use on " + c.chip.name + "; the rest up to " +
                         std::to_string(row.physical) + " is reserved");
        }
    }
}

void alignment(Context& c, const ir::TileDecl& d) {
    // The language checks these spaces; Bias and Scaling are left to the user (language 2.2).
    if (d.type.memory == MemorySpace::bias || d.type.memory == MemorySpace::scaling || d.type.memory == MemorySpace::ddr) return;
    std::int32_t unit = c.chip.of(d.type.memory).alignment;
    for (std::int32_t i = 0; i < d.slots(); ++i)
        if (std::int64_t a = d.addresses[std::size_t(i)]; a >= 0 && a % unit != 0) {
            std::int64_t up = (a + unit - 1) / unit * unit;
            c.report(Code::memory_alignment, d.at,
                     slot_name(d, i) + " begins at " + hex(a) + "; addresses in " + std::string(name(d.type.memory)) + " are multiples of " + std::to_string(unit))
                .advice.push_back("the next multiple is " + hex(up));
        }
}

void shortage(Context& c, const ir::TileDecl& d) {
    std::int64_t need = needed_bytes(d.type);
    if (need <= d.slot_bytes) return;
    std::string why;
    if (d.type.compact == 2) {
        int width = std::max(1, 32 * 8 / isa::bits(d.type.dtype)); // elements in a 32-byte row of a fractal
        why = ": compact=2 keeps one spare row of 32 bytes in each of its " + std::to_string((d.type.shape[1] + width - 1) / width) + " column blocks";
    }
    c.report(Code::tile_bytes, d.at,
             ticked(d.name) + " of " + shape_text(d.type.shape[0], d.type.shape[1]) + " " + std::string(language_name(d.type.dtype)) + " needs " + std::to_string(need) +
                 " bytes, " + std::to_string(need - d.slot_bytes) + " more than the " + std::to_string(d.slot_bytes) + " of a slot" + why)
        .advice.push_back("leave " + std::to_string(need) + " bytes before the next tile");
}

bool share_lock(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
    return std::any_of(a.begin(), a.end(), [&](std::int32_t id) { return std::find(b.begin(), b.end(), id) != b.end(); });
}

/// Two slots on common bytes are ordered by their locks only when they share one. Tiles without ids are the user's own business (language
/// 4.6): they are used with hand-written flags, and reuse of their bytes is proven or refuted by the verifier.
void overlaps(Context& c) {
    if (!c.kernel.auto_mutex) return;
    for (int m = 1; m < 10; ++m) {
        std::vector<Slot> slots;
        for (std::size_t i = 0; i < c.f.decls.size(); ++i) {
            const ir::TileDecl& d = c.f.decls[i];
            if (int(d.type.memory) != m || d.mutex.empty()) continue;
            std::int64_t bytes = std::max(d.slot_bytes, needed_bytes(d.type));
            for (std::int32_t s = 0; s < d.slots(); ++s) slots.push_back({std::int32_t(i), s, d.addresses[std::size_t(s)], d.addresses[std::size_t(s)] + bytes});
        }
        std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return std::tie(a.begin, a.decl, a.slot) < std::tie(b.begin, b.decl, b.slot); });
        for (std::size_t i = 0; i < slots.size(); ++i)
            for (std::size_t j = i + 1; j < slots.size() && slots[j].begin < slots[i].end; ++j) {
                const ir::TileDecl &a = c.f.decls[std::size_t(slots[i].decl)], &b = c.f.decls[std::size_t(slots[j].decl)];
                const auto &ids_a = a.mutex[std::size_t(slots[i].slot) % a.mutex.size()], &ids_b = b.mutex[std::size_t(slots[j].slot) % b.mutex.size()];
                if (ids_a.empty() || ids_b.empty() || share_lock(ids_a, ids_b)) continue;
                auto list = [](const std::vector<std::int32_t>& ids) {
                    std::string text;
                    for (std::int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
                    return text;
                };
                const ir::TileDecl& later = b.at.begin >= a.at.begin ? b : a;
                const ir::TileDecl& earlier = &later == &b ? a : b;
                Diagnostic& d = c.report(Code::overlap_without_lock, later.at,
                                         slot_name(a, slots[i].slot) + " (" + range(slots[i].begin, slots[i].end) + ", lock " + list(ids_a) + ") and " +
                                             slot_name(b, slots[j].slot) + " (" + range(slots[j].begin, slots[j].end) + ", lock " + list(ids_b) + ") share " +
                                             range(slots[j].begin, std::min(slots[i].end, slots[j].end)) + " of " + std::string(name(a.type.memory)) + " and no lock");
                if (d.labels.empty()) d.labels.push_back({earlier.at, "the other tile on these bytes"});
                if (d.advice.empty()) {
                    d.advice.push_back("give slots on the same bytes the same mutex id");
                    d.advice.push_back("or move " + later.name + " to where nothing lies");
                }
            }
    }
}

void high_water(Context& c) {
    for (int m = 1; m < 10; ++m) {
        const machine::MemoryRow& row = c.chip.memory[std::size_t(m)];
        if (row.high_water == 0) continue;
        std::int64_t top = 0;
        const ir::TileDecl* highest = nullptr;
        for (const ir::TileDecl& d : c.f.decls)
            if (int(d.type.memory) == m)
                for (std::int64_t a : d.addresses)
                    if (a + d.slot_bytes > top) top = a + d.slot_bytes, highest = &d;
        if (highest && top > row.high_water && top <= row.bytes)
            c.report(Code::memory_high_water, highest->at,
                     std::string(name(isa::MemorySpace(m))) + " is used up to " + hex(top) + " (" + std::to_string(top / 1024) + " of " + std::to_string(row.bytes / 1024) +
                         " KiB); wrong results have been reported on " + c.chip.arch + " above " + std::to_string(row.high_water / 1024) + " KiB");
    }
}

} // namespace

void check_memory(Context& c) {
    for (const ir::TileDecl& d : c.f.decls) {
        capacity(c, d);
        alignment(c, d);
        shortage(c, d);
    }
    overlaps(c);
    high_water(c);
}

} // namespace pto::check
