#pragma once
/// Operations that locks alone put in order, whatever the control flow (docs/model/sync.md, section 5).

#include "engine/machine/chip.hpp"
#include "engine/program/program.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pto::verify {

/// An operation is protected when every operation that may touch the same bytes from another pipe (or core), one of both writing,
/// holds a common lock or stands on the other side of a full barrier. All others, and everything that synchronises, are exposed.
struct Protection {
    std::vector<std::vector<char>> exposed; // [program cores][instructions]
    std::vector<std::vector<char>> outputs; // stores that only meet stores of the other vector core
    bool any = false;                       // some operation is exposed or an output
};
Protection protect(const program::Program& program);

/// Control that was guessed: instruction indices per program core.
using Guesses = std::vector<std::set<std::int32_t>>;

/// Instructions [begin, end) of one core's program without [inner_begin, inner_end): the code around a loop.
struct Around {
    std::size_t side = 0;
    std::int32_t begin = 0, inner_begin = 0, inner_end = 0, end = 0;
};

/// Guessed branches, loops and slots cannot change the verdict: their regions hold protected operations only, and nothing they assign
/// reaches an exposed one. The same for `around`, code that runs any number of times between iterations. Returns why not.
///   outputs_move  set when an output's place depends on them: then windows of different tasks are taken to differ (A9)
std::optional<std::string> guesses_are_harmless(const program::Program& program, const Protection& protection, const Guesses& guesses,
                                                const std::vector<Around>& around, bool& outputs_move);

} // namespace pto::verify
