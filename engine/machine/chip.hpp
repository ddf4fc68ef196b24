#pragma once
/// A chip as a value: cores, memories, ids, data paths and timing rows. Source: hardware reference; data under share/xpto/targets.

#include "engine/isa/enums.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pto::machine {

/// Where a number comes from.
enum class Grade : std::uint8_t { stated, derived, guessed };

/// A rational; cycles per unit. Rounded up per instruction, in 1/1024 cycle.
struct Rate {
    std::int64_t numerator = 0, denominator = 1;
};

/// Cost of one class of operation: start-up, per-unit rate and latency until the result is visible. All in core cycles.
struct TimingRow {
    std::string key;      // "vector.add", "path.acc_vec", "cube.fp16"
    double startup_cycles = 0;
    double latency_cycles = 0;
    Rate per_unit;        // cycles per `unit`
    std::string unit;     // "line" (256 B), "byte", "element", "fractal", "call"
    Grade grade = Grade::guessed;
    std::string source;   // "hardware 3.1", measurement ids
};

struct MemoryRow {
    std::int64_t bytes = 0;        // usable
    std::int64_t physical = 0;     // 0 = as usable
    std::int32_t alignment = 1;    // of tile addresses, bytes
};

struct Chip {
    std::string name;              // "ascend950pr"
    std::string arch;              // "a5", "a3", "a2"
    std::int32_t cube_cores = 0;   // vector cores are twice as many
    double clock_mhz = 0;
    std::array<MemoryRow, 10> memory{}; // by isa::MemorySpace
    std::int32_t event_ids = 16;        // in-core ids per pipe pair
    std::int32_t safe_event_ids = 8;    // above: warned
    std::int32_t cross_core_ids = 16;
    std::int32_t cross_core_limit = 15; // unmatched sets of one id
    std::int32_t mutex_ids = 32;
    std::int32_t safe_mutex_ids = 28;   // above: reserved, warned
    std::int32_t queue_depth = 32;      // instructions waiting per pipe
    bool has_mutex = true;
    bool wait_stops_all_pipes = false;  // A2/A3: a pending cross-core wait stops issue to every pipe of the core
    std::map<std::string, TimingRow> timing;
    std::map<std::string, double> constants; // named model constants: "hbm_bytes_per_us", "l2_line_bytes" ...

    const MemoryRow& of(isa::MemorySpace m) const { return memory[std::size_t(m)]; }
    const TimingRow* row(const std::string& key) const {
        auto f = timing.find(key);
        return f == timing.end() ? nullptr : &f->second;
    }
};

/// "ascend950", "ascend950pr", "a5", "ascend950pr-28", "ascend950dt", "ascend910b", "a3" ...; null when unknown.
const Chip* find_chip(const std::string& name);
std::vector<std::string> chip_names();

} // namespace pto::machine
