/// The extension module `xpto._engine`.
#include "engine/base/diagnostics.hpp"
#include "kernel/binding/tables.hpp"

PYBIND11_MODULE(_engine, m) {
    m.doc() = "The engine of xeus-pto";
    m.def("version", [] { return XPTO_VERSION; });
    // a broken promise of the engine reaches Python with its sentence, never as "unknown exception"
    pybind11::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const pto::InternalError& e) {
            PyErr_SetString(PyExc_RuntimeError, ("a fault inside xeus-pto, not in the kernel: " + e.message).c_str());
        }
    });
    xpto::bind_tables(m);
    xpto::bind_compile(m);
    xpto::bind_launch(m);
    xpto::bind_backend(m);
}
