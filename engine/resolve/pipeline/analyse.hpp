#pragma once
/// Door of the pipeline analysis: a kernel's text becomes a pipeline model, or the rules it breaks.

#include "engine/base/source_map.hpp"
#include "engine/ir/pipeline.hpp"
#include "engine/isa/catalogue.hpp"

namespace pto::pipeline {

struct AnalyseOptions {
    /// One value: for every loop; a sequence: one a loop.
    std::vector<std::int64_t> preload{2};
    bool preload_is_sequence = false;
    bool auto_mutex = true;
    Span preload_at;
    const isa::Catalogue* ops = nullptr; // null: the builtin catalogue
    const SourceMap* sources = nullptr;  // lets fixes that insert a line indent it
};

/// The preload that applies: the decorator's, or an override; sync_only means 0.
AnalyseOptions options_of(const syntax::KernelOptions& kernel);

/// Analyses one kernel that asks for the pipeline transform.
///   in     kernel   the untransformed kernel, its scope and options
///          names    what names outside the kernel mean
///          facts    joined probe of both core targets
///          options  preload as asked for, op catalogue
///   out    loops with stages, accesses, buffers, argument classes: everything later steps need
///   fails  PTO-K0 ... K36, PTO-S1 ... S8, PTO-pipeline-*; all findings of a step are listed in the order of the rules, a step that
///          cannot go on ends the list. Warnings, and errors of stricter rules (pipeline::is_stricter), accompany a value
///   cost   linear in the text of the kernel and of every function its stages reach
///   source pipeline reference, 3 to 9, 11, 12
Result<Model> analyse(const syntax::KernelSource& kernel, syntax::Environment& names, const Facts& facts, const AnalyseOptions& options);

} // namespace pto::pipeline
