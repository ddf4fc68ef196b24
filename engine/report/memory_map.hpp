#pragma once
/// What lies where in the memories of one core pair, and what that leaves.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

/// A tile, or the tiles of a group: `slots` cells of `slot_bytes`, `stride` apart, from `address`.
struct MemoryGroup {
    std::string name;
    std::int64_t address = 0, slot_bytes = 0, stride = 0;   // stride 0: as slot_bytes
    std::int32_t slots = 1;
    std::string shape, dtype, layout;  // "32x64", "fp32", "NZ" or empty
    std::vector<int> locks;            // mutex ids, one a slot
    std::vector<std::string> stages;   // who uses it; a channel names the producer first
    bool channel = false;
    std::vector<int> ready_ids, free_ids;
    std::string lifetime;              // "beats 0-1"; may be empty
    Place place;
    bool operator==(const MemoryGroup&) const = default;
    std::int64_t end() const { return address + (slots - 1) * (stride > 0 ? stride : slot_bytes) + slot_bytes; }
};

struct MemoryOverlap {
    std::string first, second;         // names of groups
    std::int64_t from = 0, to = 0;     // the shared bytes
    bool lawful = false;               // same locks, or reuse that something else orders
    std::string note;                  // "same locks", "locks 12,13 and 16,17", "reuse ordered by ids 12,13"
    bool operator==(const MemoryOverlap&) const = default;
};

struct MemorySpaceMap {
    std::string name;                  // "UB", "L1", "L0A", "L0B", "L0C"
    std::string note;                  // "each AIV"
    std::int64_t usable = 0, physical = 0;
    std::vector<MemoryGroup> groups;   // by address
    std::vector<MemoryOverlap> overlaps;
    bool operator==(const MemorySpaceMap&) const = default;
};

struct MemoryMap {
    Provenance provenance;
    std::string kernel, target;
    std::vector<MemorySpaceMap> memories;   // cube memories first, then UB; unused ones may be left out
    std::int32_t lock_limit = 32;
    std::int32_t cube_locks = 0, vector_locks = 0;
    std::vector<std::string> room;     // advice: "a third slot for p: move it to 0x18000 (16 KiB more, ...)"
    bool operator==(const MemoryMap&) const = default;
};

struct MemoryUse {
    std::int64_t used = 0;             // bytes covered by cells, shared bytes once
    std::int64_t top = 0;              // end of the last cell
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;   // below top
};
MemoryUse use_of(const MemorySpaceMap& m);
/// The groups that end beyond what the chip has, largest excess first.
std::vector<const MemoryGroup*> beyond(const MemorySpaceMap& m);

/// FITS, WARNED (above 90 %), or REFUSED (something ends beyond, or overlaps unlawfully).
Status status(const MemoryMap& m);
std::string to_text(const MemoryMap& m, Language language = Language::en);
nlohmann::json json_of(const MemoryMap& m);
MemoryMap memory_map_from_json(const nlohmann::json& j);

} // namespace pto::report
