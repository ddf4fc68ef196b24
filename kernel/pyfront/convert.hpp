#pragma once
/// One CPython ast node to one of ours, positions turned into byte offsets of the text.

#include "engine/base/source_map.hpp"
#include "engine/syntax/tree.hpp"

#include <pybind11/pybind11.h>

#include <string_view>

namespace xpto::pyfront {

/// Converts nodes of one text. Needs the GIL.
class Converter {
  public:
    Converter(const pto::SourceMap& sources, pto::FileId file);
    pto::syntax::Expr expression(PyObject* node) const;
    pto::syntax::Stmt statement(PyObject* node) const;
    pto::syntax::Body body(PyObject* list) const;
    pto::syntax::Function function(PyObject* node) const;

  private:
    pto::Span span(PyObject* node) const;
    std::int32_t offset(PyObject* node, PyObject* line_name, PyObject* column_name) const;
    void arguments(PyObject* node, pto::syntax::Function& f) const;

    const std::vector<std::int32_t>& m_lines;
    pto::FileId m_file;
    std::string_view m_text;
};

} // namespace xpto::pyfront
