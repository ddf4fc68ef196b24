#pragma once
/// The language's tables as Python values: what the language module, completion and help are made of.

#include <pybind11/pybind11.h>

namespace xpto {
void bind_tables(pybind11::module_& m);
void bind_compile(pybind11::module_& m);
void bind_launch(pybind11::module_& m);
void bind_backend(pybind11::module_& m);
} // namespace xpto
