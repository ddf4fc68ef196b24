#pragma once
/// The verdict on a program: proven, checked up to a number of tasks, or refused with every hazard left open.
///
/// Looks at what will run (locks after elision, hand-written flags, edited text) and never at a plan; shares no helper with the planner.
/// The argument, with the numbered assumptions this header names, is docs/model/sync.md.

#include "engine/base/diagnostics.hpp"
#include "engine/program/sequencer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto::verify {

struct VerifyOptions {
    std::vector<program::ParamValue> params; // launch values; empty: any launch
    std::int32_t block_num = 0;              // 0: any
    std::int64_t event_limit = 400'000;      // operations traced in all runs together; what it cuts is said in Verdict::reason
    std::int32_t hazard_limit = 32;          // distinct findings kept
    bool same_pipe = true;                   // also warn of one pipe's unordered accesses
};

enum class Status : std::uint8_t { proven, checked, refused };
std::string_view name(Status s);

enum class HazardKind : std::uint8_t {
    race,             // two accesses of one block that nothing orders
    same_pipe,        // warning: one pipe, the second access may start before the first is complete
    hang,             // some pipe never finishes
    counter_overflow, // more unmatched sets of one id than the chip counts
    counter_left,     // sets of an id that nothing consumes
    flag_twice,       // a binary flag may be set again before its wait
    flag_left,        // warning: a flag still raised at the end
    lock_unbalanced,  // released without being held
    lock_left,        // still held at the end
    scalar_fault,     // the scalar code itself fails: slot out of range, division by zero
};
std::string_view name(HazardKind k);

/// One end of a finding.
struct Place {
    Span at;
    std::string operation;      // "move", a vector function's name, "wait_cross_core"
    isa::Core core = isa::Core::cube;
    std::int32_t subblock = 0;
    isa::Pipe pipe = isa::Pipe::s;
    std::string stage;          // empty outside stages
    std::int64_t task = -1;
    std::int64_t sequence = -1; // program order on its core
    bool writes = false;
    std::string operand;        // tile or tensor
    std::int32_t slot = -1;     // of the operand's declaration
    bool valid() const { return sequence >= 0; }
};
/// "AIC MTE1 move in q3 (task 0)"
std::string text(const Place& p);

struct Hazard {
    HazardKind kind = HazardKind::race;
    bool is_error = true;
    Place first, second;        // second invalid where there is one place only
    isa::MemorySpace memory = isa::MemorySpace::ddr; // races
    isa::Core owner = isa::Core::cube;               // whose memory; meaningless for ddr
    std::int32_t owner_subblock = 0;
    std::int64_t begin = 0, end = 0;                 // hull of the first common bytes
    std::int32_t id = -1;       // event, flag or lock id
    std::string what;           // "p slot 0", "tensor out"
    std::string message;        // what can happen, one sentence
    std::string missing;        // the order that is missing
    std::string repair;         // what to add
    std::vector<std::string> witness; // an order in which it happens, step by step
    std::int64_t tasks = 0;     // task count of the smallest run that shows it
    std::int64_t count = 1;     // occurrences folded into this one
};

/// One cross-core event id.
struct IdFacts {
    std::int32_t id = 0;
    bool to_vector = true;      // direction: cube to vector cores, or back
    std::int64_t sets = 0, waits = 0; // in the longest run, of AIV0's copy
    std::int64_t max_pending = 0;     // largest number of unmatched sets in any order of the longest run
    bool growing = false;             // ... and it grows with the number of tasks
    std::string set_pipe, wait_pipe;
};

struct Coverage {
    std::int64_t runs = 0, events = 0, pairs = 0;  // pairs of conflicting accesses compared
    std::vector<std::int64_t> task_counts;         // distinct task counts tried
    std::int64_t period = 1, warm_up = 0;          // tasks
    std::string text;                              // one sentence
};

struct Verdict {
    Status status = Status::checked;
    std::int64_t checked_tasks = 0; // checked: every task count up to this one
    std::string reason;             // why there is no proof; empty when proven
    std::vector<Hazard> hazards;    // errors first, in a fixed order
    std::vector<std::int32_t> assumptions; // numbers in docs/model/sync.md
    std::vector<IdFacts> ids;
    Coverage coverage;
    bool safe() const;              // no finding of severity error
};

/// Checks one block's cores against each other for every number of tasks.
///   in     program  assembled; chip gives the limits (15 unmatched sets) and which pipes are in order
///          options  known launch values make the answer sharper, never weaker
///   out    the verdict; equal inputs give equal verdicts
///   fails  never; what was not looked at is said
///   cost   O(events * pipes) a run, about 2 * (warm-up + period) runs; bounded by event_limit
///   model  docs/model/sync.md
Verdict verify(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options = {});

/// The sentence a view prints under a plan: "proven for every number of tasks", "checked to 24 tasks: ...".
std::string summary(const Verdict& verdict);
std::string print(const Verdict& verdict);
/// Errors and warnings with labels at the other ends.
Diagnostics diagnostics(const Verdict& verdict);

} // namespace pto::verify
