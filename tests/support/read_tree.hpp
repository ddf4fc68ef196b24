#pragma once
/// Reads Python text for tests of the pipeline: trees by tests/support/python_tree.py in a child process, an environment of the
/// file's own constants and functions, and a guess at the facts that the resolver's probe gives in the product.

#include "engine/base/source_map.hpp"
#include "engine/ir/pipeline_facts.hpp"
#include "engine/syntax/environment.hpp"

#include <map>
#include <memory>
#include <string>

namespace pto::test {

struct PythonFile : syntax::Environment {
    FileId file;
    std::map<std::string, std::shared_ptr<const syntax::Function>> functions;
    std::map<std::string, syntax::Constant> constants;

    std::optional<syntax::Constant> look_up(syntax::ScopeId, const std::string& name) override;
    std::optional<syntax::Constant> member(syntax::ScopeId, const std::string& dotted) override;
    std::optional<syntax::Constant> evaluate(syntax::ScopeId, const std::string& text, const std::map<std::string, syntax::Constant>&, std::string& error) override;
    /// The first function decorated with pl.jit, or the named one, with its options.
    syntax::KernelSource kernel(const std::string& name = {}) const;
};

/// Reads a text; throws std::runtime_error with CPython's message when it does not parse.
std::unique_ptr<PythonFile> read_python(SourceMap& sources, const std::string& name, const std::string& text);

/// What a probe would say, from declarations and literals alone.
pipeline::Facts guess_facts(const syntax::KernelSource& kernel, PythonFile& file);

} // namespace pto::test
