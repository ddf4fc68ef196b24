#pragma once
/// Names of one self-contained file, read from its tree alone: imports of the language, literal constants, functions. Generated
/// text comes back through this door; what it cannot answer it asks the environment behind it.

#include "engine/syntax/environment.hpp"
#include "engine/syntax/source_reader.hpp"

namespace pto::syntax {

class ModuleEnvironment final : public Environment {
  public:
    /// `behind` may be null; `behind_scope` is the scope asked there (evaluation of compile-time expressions).
    ModuleEnvironment(Module module, Environment* behind, ScopeId behind_scope);

    static constexpr ScopeId module_scope{0};

    std::optional<Constant> look_up(ScopeId scope, const std::string& name) override;
    std::optional<Constant> member(ScopeId scope, const std::string& dotted) override;
    std::optional<Constant> evaluate(ScopeId scope, const std::string& text, const std::map<std::string, Constant>& names,
                                     std::string& error) override;

    const Module& module() const { return m_module; }

  private:
    std::optional<Constant> literal(const Expr& e);

    Module m_module;
    Environment* m_behind;
    ScopeId m_behind_scope;
    std::map<std::string, Constant> m_names; // answered before
    std::map<std::string, const Expr*> m_bindings;
};

/// "pl.MemorySpace.Vec", "pl.DT_FP32", "pl.load": what a dotted path of the language means.
Constant language_constant(const std::string& path);

} // namespace pto::syntax
