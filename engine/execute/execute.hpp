#pragma once
/// The untimed meaning of a program: values, hazards and the instruction record. Order, not time, decides values.
/// docs: an operation reads its sources at its start and writes at its completion; an order policy places both.

#include "engine/base/sink.hpp"
#include "engine/execute/hazard.hpp"
#include "engine/execute/order.hpp"
#include "engine/execute/record.hpp"
#include "engine/program/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto {
class SourceMap;
}

namespace pto::execute {

/// Host memory of one argument. Two buffers that share host bytes share GM addresses too.
struct Buffer {
    void* data = nullptr; // null: the argument is None (address 0)
    std::int64_t bytes = 0;
};

/// One launch argument; which members count follows the parameter's kind.
struct Argument {
    Buffer buffer;                   // tensor, pointer
    std::vector<std::int64_t> shape; // tensor: sizes of every axis, contiguous row-major
    std::int64_t integer = 0;        // scalar of an integer type
    double real = 0;                 // scalar of a floating type
    struct Field {
        std::vector<std::int64_t> integers; // one value, or one per array element
        std::vector<double> reals;
    };
    std::vector<Field> fields; // tiling: one per Param::fields
};

/// Aligned with Kernel::params.
struct LaunchArguments {
    std::vector<Argument> arguments;
};

struct ExecuteOptions {
    std::int32_t block_dim = 1;
    OrderPolicy order;
    bool record = true;  // fill Outcome::record
    bool hazards = true; // happens-before and initialised-ness
    bool strict = true;  // a race keeps the user's buffers as they were
    Sink* sink =
        nullptr; // poll, cancel; text is returned in Outcome::text and written here as well when the launch completes
    const SourceMap* source = nullptr;         // texts of printed places and conditions; null leaves them out
    std::int64_t scalar_limit = 2'000'000'000; // scalar instructions of one core before a loop counts as endless
    std::int32_t hazard_limit = 64;            // distinct findings kept
};

enum class Status : std::uint8_t {
    done,
    hang,         // no pipe can move
    race,         // strict: finished, but two accesses are unordered; buffers untouched
    out_of_range, // an access outside its memory; refused before it happened
    refused,      // arguments do not fit the kernel, or an operation has no meaning for its operands
    interrupted,  // Sink::poll threw or set cancelled
    limit,        // a scalar loop did not end within scalar_limit
};
std::string_view name(Status s);

/// What one pipe waits for when nothing can move.
struct StuckPipe {
    CoreName core;
    isa::Pipe pipe = isa::Pipe::s;
    Place at;                   // the instruction at its head
    std::string waits_for;      // "cross-core id 8 (INTRA_BLOCK)", "flag MTE2->V id 3", "lock 12 held by MTE1"
    std::int32_t id = -1;       // id waited for, -1 when none
    std::string expected;       // who should have come: "AIC FIX sets it: 0 of 1 done, none is left"
    std::vector<Place> setters; // the instructions that could still raise it, or that raised it before
    std::int64_t awaited = 0, raised = 0; // how often
    bool is_cause = false;                // nothing left can release it
    std::int32_t queued = 0;              // instructions behind it
    std::int32_t circle_next = -1;        // index of the stuck pipe this one waits for, -1 unknown
};

struct HangReport {
    std::vector<StuckPipe> stuck;
    bool circle = false; // every set still exists but each waits for another
    std::string summary; // one sentence
};

struct Statistics {
    std::int64_t operations = 0, scalar_instructions = 0, vector_calls = 0, register_operations = 0;
    std::int64_t gm_bytes_read = 0, gm_bytes_written = 0;
    std::int32_t cores = 0;
};

/// How many operations of a stage finished, for the hang report ("stage1 4 of 4").
struct StageProgress {
    CoreName core;
    std::string stage;
    std::int64_t entered = 0;  // tasks whose first instruction was issued
    std::int64_t finished = 0; // tasks whose instructions are all done
};

struct Outcome {
    Status status = Status::done;
    std::string message;         // why, when not done; one sentence with the numbers
    Span at;                     // where, when not done and known
    std::vector<Hazard> hazards; // one per pair of source places
    HangReport hang;
    Record record;
    std::string text; // printed text, ordered by (block, core, sequence)
    std::vector<StageProgress> stages;
    Statistics statistics;
    bool has_races() const; // any finding of severity error
};

/// Runs a program on data.
///   in     program    assembled kernel; kept alive by the caller while it runs
///          chip       memory sizes, ids, queue depth
///          arguments  one per kernel parameter; buffers are written only when the status is done
///          options    blocks, order, what to check
///   out    the outcome; equal inputs give equal bytes on every machine
///   fails  never throws for the user's mistakes: see Status
///   cost   O(elements touched); hazards add a constant per operation and live access
Outcome execute(const program::Program& program, const machine::Chip& chip, const LaunchArguments& arguments,
                const ExecuteOptions& options);

} // namespace pto::execute
