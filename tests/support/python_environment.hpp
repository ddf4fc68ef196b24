#pragma once
/// A Python file as an environment for tests of the resolver: read_tree's names plus compile-time expressions evaluated by CPython in
/// a child process, tiling dataclasses and tiling keys.

#include "tests/support/read_tree.hpp"

namespace pto::test {

class PythonEnvironment final : public syntax::Environment {
  public:
    /// Throws std::runtime_error with CPython's message when the text does not parse.
    PythonEnvironment(SourceMap& sources, const std::string& name, const std::string& text);

    /// The first kernel of the text, or the named one, with its decorator's options.
    syntax::KernelSource kernel(const std::string& name = {});
    std::optional<syntax::Constant> look_up(syntax::ScopeId scope, const std::string& name) override;
    std::optional<syntax::Constant> member(syntax::ScopeId scope, const std::string& dotted) override;
    std::optional<syntax::Constant> evaluate(syntax::ScopeId scope, const std::string& text, const std::map<std::string, syntax::Constant>& names,
                                             std::string& error) override;

  private:
    std::string m_text;
    std::unique_ptr<PythonFile> m_file;
    std::map<std::string, std::optional<syntax::Constant>> m_evaluated; // expression with its names -> value
};

} // namespace pto::test
