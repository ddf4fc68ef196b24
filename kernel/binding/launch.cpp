/// Launching from Python: argument memory in, what happened out. The GIL is free while the simulator runs.

#include "engine/driver/run.hpp"
#include "kernel/binding/session.hpp"
#include "kernel/binding/tables.hpp"
#include "kernel/binding/views.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <fstream>

namespace xpto {

using namespace pto;

namespace {

/// Asks Python for pending signals every 20 ms; an interrupt ends the run and is raised when the GIL is back.
class SignalSink final : public Sink {
  public:
    void write(std::string_view) override {}
    void poll() override {
        double now = now_s();
        if (now - m_last < 0.02) return;
        m_last = now;
        py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            PyErr_Fetch(&m_type, &m_value, &m_trace);
            cancelled = true;
        }
    }
    /// Raises what arrived while the run was going on.
    void raise() {
        if (m_type) {
            PyErr_Restore(m_type, m_value, m_trace);
            m_type = nullptr;
            throw py::error_already_set();
        }
    }

  private:
    double m_last = now_s();
    PyObject *m_type = nullptr, *m_value = nullptr, *m_trace = nullptr;
};

struct RunHandle {
    std::shared_ptr<const driver::Compiled> compiled;
    std::shared_ptr<driver::Run> run;
};

execute::LaunchArguments arguments_of(const py::list& given) {
    execute::LaunchArguments out;
    for (py::handle item : given) {
        py::dict d = py::reinterpret_borrow<py::dict>(item);
        std::string kind = d["kind"].cast<std::string>();
        execute::Argument a;
        if (kind == "tensor" || kind == "pointer") {
            a.buffer.data = reinterpret_cast<void*>(d["address"].cast<std::uintptr_t>());
            a.buffer.bytes = d["bytes"].cast<std::int64_t>();
            a.shape = d["shape"].cast<std::vector<std::int64_t>>();
        } else if (kind == "scalar") {
            if (d.contains("real")) {
                a.real = d["real"].cast<double>();
            } else { // any 64-bit pattern, signed or not
                a.integer = std::int64_t(PyLong_AsUnsignedLongLongMask(py::object(d["integer"]).ptr()));
                if (PyErr_Occurred()) throw py::error_already_set();
            }
        } else {
            for (py::handle field : d["fields"]) {
                execute::Argument::Field f;
                for (py::handle v : field) {
                    f.reals.push_back(v.cast<double>());
                    f.integers.push_back(PyFloat_Check(v.ptr()) ? std::int64_t(v.cast<double>()) : v.cast<std::int64_t>());
                }
                a.fields.push_back(std::move(f));
            }
        }
        out.arguments.push_back(std::move(a));
    }
    return out;
}

execute::OrderPolicy order_of(const std::string& text) {
    auto order = execute::parse_order(text);
    if (!order)
        throw py::value_error("unknown order '" + text + "'; known: program, early(CORE.PIPE), late(CORE.PIPE), random(SEED), with CORE one of "
                              "AIC, AIV0, AIV1");
    return *order;
}

std::vector<execute::OrderPolicy> hostile_of(const std::string& text, const program::Program& program, std::uint64_t seed) {
    if (text.empty()) return {};
    std::vector<execute::OrderPolicy> all = execute::hostile_orders(program);
    if (text == "all") return all;
    if (text == "random") {
        std::vector<execute::OrderPolicy> some;
        for (std::uint64_t i = 0; i < 4; ++i) some.push_back({execute::OrderPolicy::Kind::random, isa::Core::cube, 0, isa::Pipe::s, seed + i});
        return some;
    }
    std::size_t colon = text.find(':');
    if (colon != std::string::npos) { // late:MTE3 names the pipe on every core that has it
        std::vector<execute::OrderPolicy> some;
        for (const execute::OrderPolicy& o : all)
            if ((o.kind == execute::OrderPolicy::Kind::late) == (text.substr(0, colon) == "late") && o.kind != execute::OrderPolicy::Kind::program &&
                isa::name(o.pipe) == text.substr(colon + 1))
                some.push_back(o);
        if (some.empty()) throw py::value_error("hostile=" + text + ": the program uses no such pipe");
        return some;
    }
    return {order_of(text)};
}

RunHandle launch(const CompilationHandle& h, const py::list& given, std::int32_t block_dim, const py::dict& options) {
    if (!h.compiled->ok()) throw py::value_error("the kernel was refused");
    execute::LaunchArguments arguments = arguments_of(given);
    driver::RunOptions o;
    o.block_dim = block_dim;
    o.clock = &now_s;
    auto text = [&](const char* key) { return options.contains(key) && !options[key].is_none() ? py::str(options[key]).cast<std::string>() : std::string{}; };
    std::uint64_t seed = options.contains("seed") && !options["seed"].is_none() ? options["seed"].cast<std::uint64_t>() : 0;
    if (std::string check = text("check"); !check.empty()) o.strictness = check == "warn" ? driver::Strictness::warn : driver::Strictness::strict;
    if (h.compiled->strictness == driver::Strictness::warn && !options.contains("check")) o.strictness = driver::Strictness::warn;
    if (std::string order = text("order"); !order.empty()) o.order = order_of(order);
    else if (options.contains("seed") && text("hostile").empty()) o.order = {execute::OrderPolicy::Kind::random, isa::Core::cube, 0, isa::Pipe::s, seed};
    o.hostile = hostile_of(text("hostile"), *h.compiled->program, seed);
    SignalSink sink;
    o.sink = &sink;
    o.source = &Session::get().sources;
    RunHandle r{h.compiled, nullptr};
    {
        py::gil_scoped_release free;
        r.run = std::make_shared<driver::Run>(driver::run(*h.compiled, arguments, o));
    }
    sink.raise();
    if (!r.run->outcome.text.empty()) py::print(r.run->outcome.text, py::arg("end") = "");
    return r;
}

} // namespace

void bind_launch(py::module_& m) {
    py::class_<RunHandle>(m, "RunResult")
        .def_property_readonly("status", [](const RunHandle& r) { return r.run->status(); })
        .def_property_readonly("refused", [](const RunHandle& r) { return r.run->refused(); })
        .def_property_readonly("launch_warnings", [](const RunHandle& r) {
            std::vector<std::string> out;
            for (const Diagnostic& d : r.run->launch) out.push_back(d.message);
            return out;
        })
        .def_property_readonly("printed", [](const RunHandle& r) { return r.run->outcome.text; })
        .def_property_readonly("seconds", [](const RunHandle& r) { return r.run->seconds; })
        .def_property_readonly("verdict", [](const RunHandle& r) {
            std::string text = view_of(*r.compiled, *r.run, "run", "en").text;
            return text.substr(0, text.find('\n'));
        })
        .def("to_json", [](const RunHandle& r) { return view_of(*r.compiled, *r.run, "run", "en").json; })
        .def("save_trace", [](const RunHandle& r, const std::string& path) { std::ofstream(path) << view_of(*r.compiled, *r.run, "trace", "en").json; })
        .def("view", [](const RunHandle& r, const std::string& name, const std::string& lang) {
            View v = view_of(*r.compiled, *r.run, name, lang);
            return py::make_tuple(v.text, v.html, v.json);
        });
    m.attr("CompiledKernel").attr("launch") = py::cpp_function(&launch, py::name("launch"), py::is_method(m.attr("CompiledKernel")));
}

} // namespace xpto
