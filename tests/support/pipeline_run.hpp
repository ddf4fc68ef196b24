#pragma once
/// The pipeline transform from a text to everything it makes, for tests.

#include "engine/resolve/pipeline/analyse.hpp"
#include "engine/rewrite/rewrite.hpp"
#include "engine/schedule/plan_schedule.hpp"
#include "engine/sync/plan_sync.hpp"
#include "tests/support/read_tree.hpp"

namespace pto::test {

struct PipelineRun {
    SourceMap sources;
    std::unique_ptr<PythonFile> python;
    syntax::KernelSource kernel;
    std::optional<pipeline::Model> model;
    std::optional<schedule::Schedule> schedule;
    std::optional<sync::SyncPlan> plan;
    std::optional<rewrite::Generated> generated;
    Diagnostics diagnostics;
};

struct RunOptions {
    std::optional<std::vector<std::int64_t>> preload; // overrides the decorator
    bool preload_is_sequence = false;
    rewrite::Layout layout = rewrite::Layout::self_contained;
    const isa::Catalogue* ops = nullptr;
    std::string name = "case.py";
    bool go_on = false; // as a caller that only warns: stricter rules do not stop the run
};

std::unique_ptr<PipelineRun> run_pipeline(const std::string& text, const RunOptions& options = {});

std::string print_schedule(const PipelineRun& run);
std::string print_edges(const PipelineRun& run);
std::string print_sites(const PipelineRun& run);
std::string print_permits(const PipelineRun& run, bool prefire);
std::string print_diagnostics(const PipelineRun& run);
/// The text with the edits of the first fix applied; empty when there is none.
std::string apply_first_fix(const PipelineRun& run);

} // namespace pto::test
