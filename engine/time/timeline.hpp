#pragma once
/// When each recorded instruction ran on a chip: columns beside the record's rows, and what every pipe waited for.

#include "engine/execute/record.hpp"
#include "engine/machine/chip.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto::time {

/// 1/1024 of a core cycle. Microseconds appear in reports only.
using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_cycle = 1024;
/// Rounds up: a cost is never less than the chip's row says.
Ticks ticks_of_cycles(double cycles);

/// A row of the whole record: core index and row index in one number; -1 is none.
struct RowRef {
    std::int32_t core = -1, row = -1;
    bool valid() const { return core >= 0; }
    auto operator<=>(const RowRef&) const = default;
};

enum class WaitKind : std::uint8_t { flag, cross_core, lock, barrier, grid, unit_flag };
std::string_view name(WaitKind k);

/// A pipe that could not go on. Only waits that took time are kept.
struct Wait {
    std::int32_t row = -1;       // the wait itself, or the operation whose locks or unit flag were missing
    isa::Pipe pipe = isa::Pipe::s;
    WaitKind kind = WaitKind::flag;
    Ticks start = 0, end = 0;
    /// How much later the pipe's next operation started because of this wait: the last `paid` ticks. The rest was free.
    Ticks paid = 0;
    RowRef setter;               // the row that ended it
    std::int32_t next = -1;      // the operation it delayed; -1 when none followed on this pipe
};

/// Aligned with CoreRecord::rows.
struct CoreTimes {
    std::vector<Ticks> start;            // the pipe began; waits: the pipe arrived at it
    std::vector<Ticks> end;              // the pipe is free again; waits: passed
    std::vector<std::uint32_t> tail;     // end + tail: everything up to here on this pipe is visible to others
    std::vector<std::int32_t> cause;     // the row (global index) whose end or effect decided `start`; -1 none
    std::vector<Wait> waits;             // in order of their end on each pipe; at most ReplayOptions::most_waits
    struct More {
        Ticks paid = 0, free = 0, in_core = 0;
    };
    More more[8];                        // by pipe: waits that were counted and not kept
    Ticks begin = 0, finish = 0;         // of this core's program
    Ticks scalar_busy = 0;               // time the scalar unit spent issuing
};

struct BlockTimes {
    std::int32_t block = 0;
    Ticks begin = 0, finish = 0;
};

/// A pipe that never went on: the record hangs. Only hand-made records do; execute reports hangs itself.
struct Stuck {
    RowRef at;
    isa::Pipe pipe = isa::Pipe::s;
};

struct Timeline {
    std::string chip;
    double cycles_per_us = 0;
    Ticks total = 0;                     // first issue to last byte visible; the launch is not in it
    Ticks launch = 0;                    // what a launch costs beside it
    std::int32_t waves = 1;              // blocks / places for them, rounded up
    std::vector<CoreTimes> cores;        // as Record::cores
    std::vector<BlockTimes> blocks;      // in order of block number
    std::vector<std::int64_t> base;      // global index of row 0 of each core, then the number of rows
    std::int64_t hbm_read = 0, hbm_written = 0, l2_bytes = 0;
    Ticks grade_busy[3] = {0, 0, 0};     // busy time by grade of the row used: stated, derived, guessed
    std::vector<Stuck> stuck;            // empty: every row ran
    bool complete() const { return stuck.empty(); }
    double us(Ticks t) const { return double(t) / double(ticks_per_cycle) / cycles_per_us; }
    RowRef ref(std::int64_t global) const;
    std::int64_t global(RowRef r) const { return base[std::size_t(r.core)] + r.row; }
};

} // namespace pto::time
