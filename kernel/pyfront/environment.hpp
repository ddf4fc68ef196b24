#pragma once
/// Names outside a kernel, answered from live Python objects: closure snapshots taken by the decorators, then live globals.
/// The command line's static reading of a file builds the same kind of objects, so there is one environment for both.

#include "engine/base/source_map.hpp"
#include "engine/syntax/environment.hpp"
#include "kernel/pyfront/reader.hpp"

#include <pybind11/pybind11.h>

#include <unordered_map>

namespace xpto::pyfront {

namespace py = pybind11;

/// Finds the text of Python functions; lives as long as the session and keeps a bounded number of trees. Needs the GIL.
class Sources {
  public:
    explicit Sources(pto::SourceMap& map) : m_map(map) {}
    /// How a code object's file is shown ("In[4]") and the number of its first line.
    void name_file(const std::string& filename, std::string shown, std::int32_t first_line);
    /// Reads a function's tree; `missing` of the result says why there is none.
    pto::syntax::FunctionRef read(const py::handle& function);
    /// Forgets parsed trees and code objects; the names of files stay.
    void forget();
    pto::SourceMap& map() { return m_map; }
    Reader& reader() { return m_reader; }

  private:
    struct Shown {
        std::string name;
        std::int32_t first_line = 1;
    };
    pto::SourceMap& m_map;
    Reader m_reader;
    std::map<std::string, Shown> m_shown;
    struct Known {
        py::object code; // kept, so that its address stays its own
        pto::syntax::FunctionRef function;
        std::int64_t used = 0;
    };
    std::unordered_map<PyObject*, Known> m_by_code; // the most recently used ones
    std::int64_t m_clock = 0;
};

class LiveEnvironment final : public pto::syntax::Environment {
  public:
    explicit LiveEnvironment(Sources& sources) : m_sources(sources) {}

    /// The scope a function's free names are looked up in.
    pto::syntax::ScopeId scope_of(const py::handle& function);
    /// What a Python object means to the language.
    pto::syntax::Constant to_constant(const py::handle& object);

    std::optional<pto::syntax::Constant> look_up(pto::syntax::ScopeId scope, const std::string& name) override;
    std::optional<pto::syntax::Constant> member(pto::syntax::ScopeId scope, const std::string& dotted) override;
    std::optional<pto::syntax::Constant> evaluate(pto::syntax::ScopeId scope, const std::string& text,
                                                  const std::map<std::string, pto::syntax::Constant>& names, std::string& error) override;

    /// For Python's garbage collector: every object held here, and letting go of them all.
    int traverse(visitproc visit, void* arg) const;
    void clear();

  private:
    struct Scope {
        py::object function, globals, snapshot; // snapshot: dict of the enclosing function's locals, or None
        std::map<std::string, py::object> cells;
    };
    py::object find(pto::syntax::ScopeId scope, const std::string& name) const; // null object when unbound
    py::object to_python(const pto::syntax::Constant& value);
    pto::syntax::Constant class_constant(const py::handle& type);

    Sources& m_sources;
    std::vector<Scope> m_scopes;
    std::unordered_map<PyObject*, std::int32_t> m_scope_of;
};

/// The options of an OperatorKernel (a Python dict of @pl.jit's keywords) as the engine wants them. Throws py::error_already_set
/// on values of the wrong type.
pto::syntax::KernelOptions kernel_options(const py::handle& function, const py::dict& options, LiveEnvironment& environment);

} // namespace xpto::pyfront
