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
/// holds a common lock. All others, and everything that synchronises, are exposed.
struct Protection {
    std::vector<std::vector<char>> exposed; // [program cores][instructions]
    bool any = false;                       // some operation is exposed
};
Protection protect(const program::Program& program);

/// Control that was guessed: instruction indices per program core.
using Guesses = std::vector<std::set<std::int32_t>>;

/// Guessed branches, loops and slots cannot change the verdict: their regions hold protected operations only, and nothing they assign
/// reaches an exposed one. Returns why not.
std::optional<std::string> guesses_are_harmless(const program::Program& program, const Protection& protection, const Guesses& guesses);

} // namespace pto::verify
