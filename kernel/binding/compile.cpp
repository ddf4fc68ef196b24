/// Compiling from Python: an operator kernel's function and options in, a handle with every view out.

#include "engine/driver/json.hpp"
#include "engine/driver/memory.hpp"
#include "kernel/binding/session.hpp"
#include "kernel/binding/tables.hpp"
#include "kernel/binding/views.hpp"

#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace xpto {

using namespace pto;

namespace {

py::object get(const py::dict& d, const char* key) {
    if (!d.contains(key)) return py::none();
    return d[key];
}

driver::CompileOptions compile_options(const py::dict& overrides) {
    driver::CompileOptions o;
    if (const char* arch = std::getenv("PYPTOPRO_JIT_ARCH"); arch && *arch) {
        o.default_target = arch;
        o.default_origin = "PYPTOPRO_JIT_ARCH";
    }
    if (py::object preload = get(overrides, "preload"); !preload.is_none()) {
        o.preload_is_sequence = !py::isinstance<py::int_>(preload);
        o.preload = o.preload_is_sequence ? preload.cast<std::vector<std::int64_t>>() : std::vector<std::int64_t>{preload.cast<std::int64_t>()};
    }
    if (py::object target = get(overrides, "target"); !target.is_none()) o.target = target.cast<std::string>();
    if (py::object check = get(overrides, "check"); !check.is_none())
        o.strictness = check.cast<std::string>() == "warn" ? driver::Strictness::warn : driver::Strictness::strict;
    if (py::object key = get(overrides, "tiling_key"); !key.is_none()) o.specialisation.tiling_key = key.cast<std::map<std::string, std::int64_t>>();
    if (py::object types = get(overrides, "datatype"); !types.is_none())
        for (auto& [name, type] : types.cast<std::map<std::string, std::string>>()) {
            auto found = isa::find_dtype(type);
            if (!found) throw py::value_error("unknown dtype " + type);
            o.specialisation.datatype[name] = *found;
        }
    if (py::object shapes = get(overrides, "static_shapes"); !shapes.is_none())
        o.specialisation.static_shapes = shapes.cast<std::vector<std::vector<std::int64_t>>>();
    return o;
}

CompilationHandle make(const py::object& function, const py::dict& options, const py::dict& overrides, bool unchecked) {
    Session& session = Session::get();
    double begin = now_s(), parsed = session.texts.reader().parse_seconds();
    auto environment = std::make_shared<pyfront::LiveEnvironment>(session.texts);
    syntax::KernelSource source;
    source.options = pyfront::kernel_options(function, options, *environment);
    syntax::FunctionRef ref = session.texts.read(function);
    auto made = std::make_shared<driver::Compiled>();
    if (!ref.function) {
        made->name = source.options.name;
        made->diagnostics.push_back(diagnose(Code::no_source, {}, ref.missing));
        return {made, environment, {}};
    }
    source.function = ref.function;
    source.scope = environment->scope_of(function);
    driver::CompileOptions chosen = compile_options(overrides);
    chosen.unchecked = unchecked;
    chosen.apart = [](const std::function<void()>& work) { // other threads may compile meanwhile: a release does, a key each
        py::gil_scoped_release free;
        work();
    };
    *made = driver::compile(source, *environment, session.texts.reader(), session.sources, chosen, &now_s);
    made->timings.total_s = now_s() - begin;
    made->timings.parse_s = session.texts.reader().parse_seconds() - parsed;
    CompilationHandle handle{made, environment, {}};
    if (source.options.has_pipeline)
        handle.serial = [source, environment, chosen]() mutable {
            Session& s = Session::get();
            chosen.preload = std::vector<std::int64_t>{0};
            chosen.preload_is_sequence = false;
            return driver::compile(source, *environment, s.texts.reader(), s.sources, chosen, &now_s);
        };
    return handle;
}

py::list params(const CompilationHandle& h) {
    py::list out;
    const ir::Kernel* kernel = h.compiled->kernel();
    if (!kernel) return out;
    std::vector<bool> written = driver::written_parameters(*kernel);
    static constexpr const char* kinds[] = {"tensor", "pointer", "scalar", "tiling"};
    for (std::size_t i = 0; i < kernel->params.size(); ++i) {
        const ir::Param& p = kernel->params[i];
        py::dict d;
        d["name"] = p.name;
        d["kind"] = kinds[int(p.kind)];
        d["dtype"] = std::string(isa::name(p.dtype));
        d["layout"] = std::string(isa::name(p.layout));
        d["written"] = i < written.size() && written[i];
        py::list dims, fields;
        for (std::size_t a = 0; a < p.dims.size(); ++a) {
            py::dict dim;
            dim["dynamic"] = p.dims[a].dynamic;
            dim["size"] = p.dims[a].size;
            dim["static"] = a < p.is_static.size() && p.is_static[a];
            dims.append(dim);
        }
        for (const ir::Field& f : p.fields) {
            py::dict field;
            field["name"] = f.name;
            field["dtype"] = std::string(isa::name(f.dtype));
            field["length"] = f.length;
            fields.append(field);
        }
        d["dims"] = dims;
        d["fields"] = fields;
        d["class_name"] = p.class_name;
        out.append(d);
    }
    return out;
}

bool same(const syntax::Constant& a, const syntax::Constant& b) {
    if (a.value.index() != b.value.index()) return false;
    return std::visit(on{
                          [&](const syntax::FunctionRef& f) { // the same place of the same text, even when it was read twice
                              const auto& o = std::get<syntax::FunctionRef>(b.value);
                              return f.function == o.function || (f.function && o.function && f.function->at == o.function->at);
                          },
                          [&](const syntax::ConstantList& l) {
                              const auto& o = std::get<syntax::ConstantList>(b.value);
                              if (l.size() != o.size()) return false;
                              for (std::size_t i = 0; i < l.size(); ++i)
                                  if (!same(l[i], o[i])) return false;
                              return true;
                          },
                          [&](bool v) { return v == std::get<bool>(b.value); },
                          [&](std::int64_t v) { return v == std::get<std::int64_t>(b.value); },
                          [&](double v) { return v == std::get<double>(b.value) || (v != v && std::get<double>(b.value) != std::get<double>(b.value)); },
                          [&](const std::string& v) { return v == std::get<std::string>(b.value); },
                          [&](const isa::DType& v) { return v == std::get<isa::DType>(b.value); },
                          [&](const isa::EnumValue& v) { return v == std::get<isa::EnumValue>(b.value); },
                          [](const auto&) { return true; },
                      },
                      a.value);
}

std::string show(const syntax::Constant& c) {
    return std::visit(on{[](bool v) -> std::string { return v ? "True" : "False"; }, [](std::int64_t v) { return std::to_string(v); },
                         [](double v) { return py::str(py::float_(v)).cast<std::string>(); }, [](const std::string& v) { return "'" + v + "'"; },
                         [](const isa::DType& v) { return "pl." + std::string(isa::language_name(v)); },
                         [](const isa::EnumValue& v) { return std::string(isa::name(v)); },
                         [](const syntax::FunctionRef&) -> std::string { return "another text"; },
                         [](const auto&) -> std::string { return "another value"; }},
                      c.value);
}

/// What a name was and is now; empty while everything the compilation used is unchanged.
std::string stale(const CompilationHandle& h) {
    if (!h.compiled->serial) return {};
    pyfront::LiveEnvironment now(Session::get().texts);
    // scopes are numbered in the order functions are met: ask through the kernel's own function
    for (const auto& [name, was] : h.compiled->serial->constants_used) {
        std::optional<syntax::Constant> is = h.environment->member(h.compiled->source.scope, name);
        if (!is) continue;
        if (!same(was, *is)) {
            if (std::holds_alternative<syntax::FunctionRef>(was.value)) return name + " was defined again";
            return name + " was " + show(was) + ", is " + show(*is) + " now";
        }
    }
    return {};
}

py::dict save(const CompilationHandle& h, const std::string& folder) {
    namespace fs = std::filesystem;
    fs::create_directories(folder);
    py::dict out;
    auto write = [&](const char* name, const std::string& text) {
        fs::path path = fs::path(folder) / name;
        std::ofstream(path, std::ios::binary) << text;
        out[name] = path.string();
    };
    const driver::Compiled& c = *h.compiled;
    const SourceMap& sources = Session::get().sources;
    if (c.source.function) write("source.py", sources.file(c.source.function->at.file).text);
    if (c.generated) write("pipeline_generated.py", c.generated->text);
    write("report.json", json_with_prediction(h).dump(1));
    write("panel.txt", view_of(h, "panel", "en", "").text);
    if (c.kernel()) write("kernel.ir", ir::print(*c.kernel()));
    return out;
}

/// A compilation holds the kernel's globals, which may hold the kernel: Python's collector has to see through.
void collected(PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        const auto held = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
        if (!held.holder_constructed()) return 0;
        const auto& environment = static_cast<CompilationHandle*>(held.value_ptr())->environment;
        return environment ? environment->traverse(visit, arg) : 0;
    };
    type->ht_type.tp_clear = [](PyObject* self) {
        if (const auto& environment = py::cast<CompilationHandle&>(py::handle(self)).environment) environment->clear();
        return 0;
    };
}

} // namespace

void bind_compile(py::module_& m) {
    py::class_<CompilationHandle>(m, "CompiledKernel", py::custom_type_setup(&collected))
        .def_property_readonly("ok", [](const CompilationHandle& h) { return h.compiled->ok(); })
        .def_property_readonly("name", [](const CompilationHandle& h) { return h.compiled->name; })
        .def_property_readonly("generated", [](const CompilationHandle& h) { return h.compiled->generated ? h.compiled->generated->text : std::string{}; })
        .def("params", &params)
        .def("stale", &stale)
        .def("save", &save)
        .def("timings", [](const CompilationHandle& h) {
            const driver::Timings& t = h.compiled->timings;
            py::dict d;
            d["parse_s"] = t.parse_s;
            d["frontend_s"] = t.frontend_s;
            d["verify_s"] = t.verify_s;
            d["total_s"] = t.total_s;
            return d;
        })
        .def("to_json", [](const CompilationHandle& h) { return json_with_prediction(h).dump(); })
        .def("ir", [](const CompilationHandle& h) { return h.compiled->kernel() ? ir::print(*h.compiled->kernel()) : std::string{}; })
        .def("changes_since", [](const CompilationHandle& h, const CompilationHandle& before) { return changes_since(*before.compiled, *h.compiled); })
        .def("refusal", [](const CompilationHandle& h, const std::string& lang) { return refusal_text(*h.compiled, lang); })
        .def("view", [](const CompilationHandle& h, const std::string& name, const std::string& lang, const std::string& since) {
            View v = view_of(h, name, lang, since);
            return py::make_tuple(v.text, v.html, v.json);
        });
    m.def("compile", [](const py::object& f, const py::dict& options, const py::dict& overrides) { return make(f, options, overrides, false); }, py::arg("function"),
          py::arg("options"), py::arg("overrides"));
    // The suites make refused programs all the same, to look for an order that breaks them. No option, magic or command leads here.
    py::module_ suites = m.def_submodule("_for_suites");
    suites.def("compile_unchecked", [](const py::object& f, const py::dict& options, const py::dict& overrides) { return make(f, options, overrides, true); });
    m.def("name_file", [](const std::string& filename, const std::string& shown, int first_line) {
        Session::get().texts.name_file(filename, shown, first_line);
    });
    m.def("render", [](const std::string& kind, const std::string& json_text, const std::string& lang) {
        View v = render(kind, json_text, lang);
        return py::make_tuple(v.text, v.html);
    });
    m.def("forget_sources", [] { Session::get().forget(); });
}

} // namespace xpto
