#pragma once
/// What a compiled kernel occupies, memory by memory, and the proof in short; from the IR and the chip, nothing was run.

#include "engine/driver/compile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::driver {

/// One declaration in one memory; both core programs' declarations, equal ones once.
struct Occupied {
    std::string name;
    isa::TileType type;
    std::vector<std::int64_t> addresses; // one a slot
    std::int64_t slot_bytes = 0;
    std::vector<std::vector<std::int32_t>> mutex;
    std::vector<std::int32_t> fwd_ids, bwd_ids;
    Span at;
    bool in_cube = false, in_vector = false; // used by an operation of that core's program
};
struct MemoryUse {
    isa::MemorySpace memory = isa::MemorySpace::vec;
    std::int64_t capacity = 0, used = 0, top = 0; // bytes; used counts shared bytes once
    std::vector<Occupied> tiles;                  // by first address
};
std::vector<MemoryUse> memory_use(const ir::Kernel& kernel, const machine::Chip& chip);

nlohmann::ordered_json memory_json(const Compiled& c);
nlohmann::ordered_json verdict_json(const Compiled& c);

} // namespace pto::driver
