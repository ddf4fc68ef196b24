#pragma once
/// One launch on the simulator: program order first, then whatever other orders were asked for, on snapshots of the same memory.

#include "engine/driver/compile.hpp"
#include "engine/execute/execute.hpp"

#include <string>
#include <vector>

namespace pto::driver {

struct RunOptions {
    std::int32_t block_dim = 1;
    Strictness strictness = Strictness::strict;
    execute::OrderPolicy order;                    // of the run whose values are kept
    std::vector<execute::OrderPolicy> hostile;     // further orders: values must be bit-identical, none may hang or race
    bool record = true;
    Sink* sink = nullptr;
    double (*clock)() = nullptr;
    const SourceMap* source = nullptr;             // texts of printed places and of assertions that fail
};

/// One further order and what it did.
struct HostileRun {
    execute::OrderPolicy order;
    execute::Status status = execute::Status::done;
    bool identical = true;                         // same bytes in every argument as the kept run
    std::string message;
};

/// What an order that turns the two ends of a race round does to the values.
struct Exposure {
    std::string order;        // "late(AIV0.MTE3)"; empty: none of those tried turns them round
    std::int64_t tried = 0;
    std::int64_t bytes = 0;   // that differ from the kept run, in all arguments
    std::string arguments;    // "y, z"
    bool hangs = false;
};

struct Run {
    std::string kernel;
    std::string computed_by;                       // "simulator (ascend950pr)"
    std::int32_t block_dim = 1;
    Strictness strictness = Strictness::strict;
    execute::OrderPolicy order;
    Diagnostics launch;                            // what this launch's grid makes wrong; an error: nothing ran
    execute::Outcome outcome;
    std::vector<HostileRun> hostile;
    std::vector<Exposure> exposures;               // of the first races, by index into Outcome::hazards; shorter when there are no more
    double seconds = 0;

    /// "done", "warned", "race", "hang", "differs", ...
    std::string status() const;
    /// True when the user's buffers are as they were before the launch.
    bool refused() const;
};

/// Runs a compiled kernel.
///   requires  compiled.ok()
///   in        arguments  one per parameter; buffers are written only when the run completes and nothing refuses it
///   fails     through Run::outcome, never by throwing for the user's mistakes
Run run(const Compiled& compiled, const execute::LaunchArguments& arguments, const RunOptions& options);

/// Sizes for a run without a user: every tensor with constant sizes gets zeroed memory of its own. Empty when a parameter's size
/// is only known at a launch, with the reason.
struct SyntheticArguments {
    execute::LaunchArguments arguments;
    std::vector<std::vector<std::byte>> memory;
    std::string missing;
};
SyntheticArguments synthetic_arguments(const ir::Kernel& kernel);

} // namespace pto::driver
