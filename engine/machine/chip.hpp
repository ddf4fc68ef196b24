#pragma once
/// A chip as a value: cores, memories, ids, data paths and timing rows. Source: hardware reference; data under share/xpto/targets.

#include "engine/base/diagnostics.hpp"
#include "engine/isa/enums.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pto::machine {

/// Where a number comes from.
enum class Grade : std::uint8_t { stated, derived, guessed };
std::string_view name(Grade g);

/// A rational; cycles per unit. Rounded up per instruction, in 1/1024 cycle.
struct Rate {
    std::int64_t numerator = 0, denominator = 1;
    bool operator==(const Rate&) const = default;
};

/// Cost of one class of operation: start-up, per-unit rate and latency until the result is visible. All in core cycles.
/// `unit` says what per_unit counts:
///   "byte", "element", "line" (256 B of UB), "call"       data movement and vector work
///   "16x16x16"                                            a block of a matmul, M x N x K
///   "dual", "single"                                      register operations: issue slots, two or one a cycle
///   "exp", "div", "gather", ...                           register operations: cycles on a unit of that name
struct TimingRow {
    std::string key;      // isa::timing_key: "vector.add", "path.acc_vec", "cube.fp16"
    double startup_cycles = 0;
    double latency_cycles = 0;
    Rate per_unit;        // cycles per `unit`
    std::string unit = "call";
    Grade grade = Grade::guessed;
    std::string source;   // "hardware 3.1", measurement ids
};

/// A named number of the timing model: "hbm_bytes_per_us", "l2_bytes" ...
struct Constant {
    double value = 0;
    Grade grade = Grade::guessed;
    std::string source;
};

struct MemoryRow {
    std::int64_t bytes = 0;        // usable; 0: this chip has no such memory
    std::int64_t physical = 0;     // as usable when the file says nothing
    std::int32_t alignment = 1;    // of tile addresses, bytes
    std::int64_t high_water = 0;   // above: warned; 0 = none
};

struct Chip {
    std::string name;              // "ascend950pr"
    std::vector<std::string> aliases;
    std::string arch;              // "a5", "a3", "a2"
    std::int32_t cube_cores = 0;   // vector cores are twice as many
    double clock_mhz = 0;
    std::array<MemoryRow, 10> memory{}; // by isa::MemorySpace; ddr: the device's HBM
    std::int32_t event_ids = 16;        // in-core ids per pipe pair
    std::int32_t safe_event_ids = 8;    // above: warned
    std::int32_t cross_core_ids = 16;
    std::int32_t cross_core_limit = 15; // unmatched sets of one id
    std::int32_t mutex_ids = 32;        // 0: the chip has no mutex
    std::int32_t safe_mutex_ids = 28;   // above: reserved, warned
    std::int32_t queue_depth = 32;      // instructions waiting per pipe
    bool has_mutex = true;
    bool wait_stops_all_pipes = false;  // A2/A3: a pending cross-core wait stops issue to every pipe of the core
    std::map<std::string, TimingRow> timing;
    std::map<std::string, Constant> constants;

    const MemoryRow& of(isa::MemorySpace m) const { return memory[std::size_t(m)]; }
    const TimingRow* row(const std::string& key) const {
        auto f = timing.find(key);
        return f == timing.end() ? nullptr : &f->second;
    }
    /// The value of a constant that every chip has (constant_names()).
    double constant(const std::string& key) const { return constants.at(key).value; }
    /// Whether data can go that way: "path.acc_vec". Paths are timing rows.
    bool has_path(const std::string& key) const { return timing.count(key) > 0; }
};

/// Constants that the timing model reads; a chip file must give each.
const std::vector<std::string_view>& constant_names();
/// Timing keys that a chip of this architecture must have: every operation has a cost.
std::vector<std::string> required_timing_keys(std::string_view arch);

/// "ascend950", "ascend950pr", "a5", "ascend950pr-28", "ascend950dt", "ascend910b", "a3" ...; null when unknown.
const Chip* find_chip(const std::string& name);
/// Names of the chips that are built in, default first.
std::vector<std::string> chip_names();
/// The text of a built-in chip's file; empty when unknown.
std::string_view chip_text(const std::string& name);

/// Reads a chip file (docs/targets.md).
///   in     text   JSON; `based_on` names a built-in chip whose numbers hold where the file says nothing
///          file   for the places of diagnostics; may be invalid
///   out    a chip that passed every check
///   fails  PTO-chip-file with what was seen: no JSON, an unknown or missing key, a number out of its range, an operation without cost
Result<Chip> read_chip(std::string_view text, FileId file = {});

} // namespace pto::machine
