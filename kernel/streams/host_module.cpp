/// The built-in Python module `_xpto_host`: what only the kernel's own process can do. Absent in plain scripts.
#include "kernel/host.hpp"
#include "kernel/streams/descriptors.hpp"

#include "kernel/adapter.hpp"

#include <xeus/xinput.hpp>

namespace {

/// A stream message. Text that is not Unicode (lone surrogates) is repaired by the caller in Python.
void publish_stream(const std::string& name, const std::string& text) {
    xeus::get_interpreter().publish_stream(name, text);
}

/// Asks the front-end for a line. The GIL is free meanwhile: other threads go on. An interrupt makes the wait inside
/// ZeroMQ fail; whether that was an interrupt is Python's to say.
std::string input(const std::string& prompt, bool password) {
    std::string problem;
    {
        pybind11::gil_scoped_release free;
        try {
            return xeus::blocking_input_request(prompt, password);
        } catch (const std::exception& e) { problem = e.what(); }
    }
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    throw std::runtime_error("input failed: " + problem);
}

} // namespace

PYBIND11_EMBEDDED_MODULE(_xpto_host, m) {
    const xpto::Layout& layout = xpto::layout();
    m.attr("version") = XPTO_VERSION;
    m.attr("executable") = layout.executable.string();
    m.attr("share") = layout.share.string();
    m.attr("xeus_python_version") = XPYT_VERSION;
    m.def("publish_stream", publish_stream);
    m.def("input", input);
    m.def("capture_descriptors", xpto::streams::capture);
    m.def("pending", xpto::streams::pending);
    m.def("terminal", xpto::streams::terminal);
    m.def("take", [](int descriptor) {
        xpto::streams::Taken taken = xpto::streams::take(descriptor);
        return pybind11::make_tuple(pybind11::bytes(taken.bytes), taken.dropped);
    });
}
