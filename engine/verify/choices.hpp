#pragma once
/// Control that differs from run to run, and the program that stands for all of it (docs/model/sync.md, section 5).

#include "engine/program/program.hpp"
#include "engine/verify/protect.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pto::verify {

/// Branches, loops and slots whose outcome is not settled: instruction indices per program core.
using Guesses = std::vector<std::set<std::int32_t>>;

/// Instructions [begin, end) of one core's program without [inner_begin, inner_end): the code around a loop.
struct Around {
    std::size_t side = 0;
    std::int32_t begin = 0, inner_begin = 0, inner_end = 0, end = 0;
};

/// The program without what is not settled: choices go their standing way, operations that only locks order and that are not always
/// there, or not always on one slot, are left out.
///   out    why       empty when the verdict on `program` is the verdict on the whole one; otherwise the first thing in the way
///          changed   something was left out: `program` is another one
///          outputs_move  an output's place depends on it: windows of different tasks are taken to differ (A9)
struct Settled {
    program::Program program;
    bool changed = false, outputs_move = false;
    std::string why;
};
///   unsteady  branches that depend on the number of the task
Settled settle(const program::Program& program, const Protection& protection, const Guesses& guesses, const Guesses& unsteady, const std::vector<Around>& around);

} // namespace pto::verify
