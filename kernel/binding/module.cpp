/// The extension module `xpto._engine`.
#include <pybind11/pybind11.h>

PYBIND11_MODULE(_engine, m) {
    m.doc() = "The engine of xeus-pto";
    m.def("version", [] { return XPTO_VERSION; });
}
