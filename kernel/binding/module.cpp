/// The extension module `xpto._engine`.
#include "kernel/binding/tables.hpp"

PYBIND11_MODULE(_engine, m) {
    m.doc() = "The engine of xeus-pto";
    m.def("version", [] { return XPTO_VERSION; });
    xpto::bind_tables(m);
    xpto::bind_compile(m);
    xpto::bind_launch(m);
}
