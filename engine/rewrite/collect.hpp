#pragma once
/// Private: what a kernel needs around it to run alone.

#include "engine/rewrite/pieces.hpp"

#include <map>
#include <set>

namespace pto::rewrite {

struct CollectedFunction {
    syntax::FunctionRef ref;
    std::map<std::string, std::string> renamed; // free names that had to give way to another one of the same spelling
};

struct CollectedLine {
    std::string text; // without line end; several lines for classes
    Span origin;
};

struct Collected {
    bool future_annotations = false, dataclasses = false;
    std::vector<std::string> imports;
    std::vector<CollectedLine> constants;
    std::vector<CollectedFunction> functions; // callees first; the kernel is not among them
    std::map<std::string, std::string> kernel_renamed;
};

/// Follows every free name of the kernel and of the functions it reaches.
Collected collect(const SourceMap& sources, syntax::Environment& names, const pipeline::Model& model, Diagnostics& diagnostics);

/// A constant spelled as Python; empty when it has no spelling. `pl`: the language module's name.
std::string spell_constant(const syntax::Constant& c, const std::string& pl);

/// The comment block on top of the file.
std::string header(const SourceMap& sources, const pipeline::Model& model, const schedule::Schedule& schedule, const sync::SyncPlan& plan);

} // namespace pto::rewrite
