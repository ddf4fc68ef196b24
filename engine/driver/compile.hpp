#pragma once
/// The one place that knows the order: text to tree, IR, checks, schedule, plan, generated text, program, proof. Every stage's
/// value is kept, so that views, tests and people can look at it.

#include "engine/base/source_map.hpp"
#include "engine/ir/pipeline.hpp"
#include "engine/machine/chip.hpp"
#include "engine/program/program.hpp"
#include "engine/resolve/resolve.hpp"
#include "engine/rewrite/rewrite.hpp"
#include "engine/schedule/schedule.hpp"
#include "engine/sync/plan_sync.hpp"
#include "engine/syntax/source_reader.hpp"
#include "engine/verify/verify.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pto::driver {

/// strict: what is not proven is refused. warn: compiled, marked, hazards reported.
enum class Strictness : std::uint8_t { strict, warn };

struct CompileOptions {
    std::optional<std::vector<std::int64_t>> preload;      // overrides the decorator's; one value: for every loop
    bool preload_is_sequence = false;
    std::string target;                                    // "" = the decorator's arch, else `default_target`
    std::string default_target = "ascend950";
    std::string default_origin = "default";                // "default", "PYPTOPRO_JIT_ARCH"
    Strictness strictness = Strictness::strict;
    bool unchecked = false;                                // makes what PTO-K41 ... K47 refuse, to run it and look for a witness
    resolve::ResolveOptions specialisation;
    std::int64_t source_line = 0;
    /// Runs the half of a compilation that needs neither names nor texts (checks, assembly, proof): the caller may let other compilations
    /// that share both go on meanwhile. Empty: simply runs it.
    std::function<void(const std::function<void()>&)> apart;
};

/// Seconds spent, filled by the caller's clock (the engine has none).
struct Timings {
    double parse_s = 0, frontend_s = 0, verify_s = 0, total_s = 0;
};

struct Compiled {
    std::string name;
    const machine::Chip* chip = nullptr;                   // null when the target is unknown
    std::shared_ptr<const machine::Chip> own_chip;         // the same of a chip file; null for a built-in one
    std::string target_origin;                             // "target=", "arch=", "PYPTOPRO_JIT_ARCH", "default"
    Strictness strictness = Strictness::strict;
    std::vector<std::int64_t> preload;                     // as applied, one a loop
    std::string preload_origin;                            // "override", "decorator"; empty without a pipeline
    syntax::KernelSource source;
    Diagnostics diagnostics;                               // by position, spans in the user's text
    std::optional<resolve::Resolved> serial;               // the kernel as written
    std::optional<pipeline::Model> model;                  // kernels that ask for the pipeline
    std::optional<schedule::Schedule> schedule;
    std::optional<sync::SyncPlan> plan;
    std::optional<rewrite::Generated> generated;
    FileId generated_file;
    std::optional<resolve::Resolved> piped;                // the generated text, read back
    std::optional<program::Program> program;
    std::optional<verify::Verdict> verdict;
    Timings timings;

    bool ok() const { return program.has_value() && !has_errors(diagnostics); }
    /// The kernel that runs: the generated text's when there is one.
    const ir::Kernel* kernel() const {
        if (piped) return &piped->kernel;
        return serial ? &serial->kernel : nullptr;
    }
};

/// Now in seconds; the only clock the driver may look at, given by whoever calls it.
using Clock = double (*)();

/// Compiles one variant of a kernel.
///   in     source   tree, scope and decorator options
///          names    what names outside mean
///          reader   reads the generated text back
///          sources  receives the generated text as a file
///   out    everything that was reached; `ok()` when it may run
///   fails  through Compiled::diagnostics; InternalError for broken promises (a generated text that does not read back)
Compiled compile(const syntax::KernelSource& source, syntax::Environment& names, syntax::SourceReader& reader, SourceMap& sources,
                 const CompileOptions& options, Clock clock = nullptr);

/// What a chip offers a sync plan.
sync::SyncLimits sync_limits(const machine::Chip& chip, bool auto_mutex);

/// Fields of each tensor parameter the kernel may write, by parameter index.
std::vector<bool> written_parameters(const ir::Kernel& kernel);

} // namespace pto::driver
