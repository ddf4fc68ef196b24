#pragma once
/// What a run found: unordered accesses, broken sync, uninitialised data. One finding per pair of source places.

#include "engine/base/span.hpp"
#include "engine/execute/order.hpp"
#include "engine/isa/enums.hpp"
#include "engine/program/instance.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto::execute {

enum class HazardKind : std::uint8_t {
    race,             // two accesses of one block that nothing orders
    block_race,       // two blocks touch the same GM bytes
    same_pipe,        // warning: one pipe, the second access may start before the first is complete
    flag_twice,       // a flag is set again although nothing orders this after the wait
    flag_left,        // a flag is still raised at the end
    counter_left,     // a cross-core counter is not zero at the end
    counter_overflow, // more than the chip's limit of unmatched sets can be outstanding
    lock_left,        // a lock is still held at the end
    lock_unbalanced,  // released without being held
    unit_flag,        // phased and unphased use of one accumulator
    uninitialised,    // arithmetic, store or branch on bytes nobody wrote
    beyond_shape,     // warning: a window leaves the tensor's shape, still inside its buffer
    register_order,   // warning: store then load of one UB range in a vector function without mem_bar
    uninitialised_register,
    contract,     // warning: operands break a documented rule that hardware does not check
};
std::string_view name(HazardKind kind);

/// One end of a finding.
struct Place {
    Span at;
    std::string operation; // "move", the vector function's name
    CoreName core;
    isa::Pipe pipe = isa::Pipe::s;
    std::string stage; // empty outside stages
    std::int64_t task = -1;
    std::int64_t sequence = -1; // program order on its core
    program::Iterations iterations; // of the loops around it, outermost first
    bool writes = false;
    std::string operand; // name of the tile or tensor
};

/// "1", "0, 3" for nested loops, empty outside.
std::string text(const program::Iterations& iterations);
/// " (task 2)", " (iteration 1)", " (iteration 0, 3)" for nested loops; empty for what happens once.
std::string when(const Place& p);

struct Hazard {
    HazardKind kind = HazardKind::race;
    bool is_error = true;
    Place first, second; // in the order this run had; second invalid where there is one place only
    isa::MemorySpace memory = isa::MemorySpace::ddr;
    CoreName owner;                  // core whose memory it is; meaningless for ddr
    std::int64_t begin = 0, end = 0; // hull of the common bytes
    std::int64_t pieces = 1, piece_bytes = 0,
                 piece_stride = 0;             // first common strided set, for "8 pieces of 1 KiB every 2 KiB"
    std::string what;                          // tensor or tile name; slot as "p slot 0"
    std::int64_t row_begin = -1, row_end = -1; // tensors: rows touched in common
    std::string message;                       // one sentence: what may happen
    std::string order;                         // the edges each side has, why they do not join
    std::string repair;                        // what to add
    std::int64_t count = 1;                    // occurrences folded into this one
    std::int64_t last_first = -1, last_second = -1; // the latest occurrence, as numbers: both ends
    bool second_ran_first = false;             // in the run that found it
    std::vector<std::pair<std::int64_t, std::int64_t>> tasks; // task pairs seen, at most 8
    std::vector<std::pair<std::string, std::string>> times;   // the same for loops: iterations of both ends, "1", "0, 3"
};

} // namespace pto::execute
