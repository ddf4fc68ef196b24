/// Generated C++ for Python: the files, the entry's parameters and the device compiler's arguments of one compilation.

#include "engine/emit/emit.hpp"
#include "engine/report/timeline.hpp"
#include "kernel/binding/session.hpp"
#include "kernel/binding/tables.hpp"

#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

namespace xpto {

using namespace pto;

namespace {

py::dict emitted(const CompilationHandle& h) {
    const driver::Compiled& c = *h.compiled;
    if (!c.program) throw py::value_error("the kernel was refused");
    emit::EmitOptions options;
    options.sources = &Session::get().sources;
    emit::Emitted made = emit::emit(*c.program, *c.chip, options);
    py::dict files, out;
    for (const emit::File& f : made.files) files[py::str(f.name)] = f.text;
    py::list parameters, lacking;
    for (const emit::LaunchParameter& p : made.parameters) parameters.append(py::make_tuple(p.name, p.type, p.kind));
    for (const Diagnostic& d : made.diagnostics) lacking.append(d.message);
    out["files"] = files;
    out["parameters"] = parameters;
    out["command"] = made.command;
    out["prints"] = made.prints;
    out["lacking"] = lacking;
    out["name"] = c.kernel()->name;
    out["cube"] = c.kernel()->cube.has_value();
    out["vector"] = c.kernel()->vector.has_value();
    out["chip"] = c.chip->name;
    out["arch"] = c.chip->arch;
    return out;
}

} // namespace

void bind_backend(py::module_& m) {
    m.attr("CompiledKernel").attr("emitted") = py::cpp_function(&emitted, py::name("emitted"), py::is_method(m.attr("CompiledKernel")));
    // A timeline with nothing in it, for timelines that were measured elsewhere: every field a view reads is there.
    m.def("lane_role", [](const std::string& core, const std::string& pipe) { return std::string(report::lane_role(core, pipe)); });
    m.def("empty_timeline", [](const std::string& computed_by) { return report::json_of(report::Timeline{report::Provenance(computed_by, "", {})}).dump(); });
}

} // namespace xpto
