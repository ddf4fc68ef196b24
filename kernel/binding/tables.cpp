#include "kernel/binding/tables.hpp"

#include "engine/isa/catalogue.hpp"
#include "engine/machine/chip.hpp"

#include <pybind11/stl.h>

#include <map>
#include <string>
#include <vector>

namespace xpto {

namespace py = pybind11;
using namespace pto;

namespace {

py::dict language_table() {
    py::dict table;
    py::list dtypes;
    for (int i = 0; i < isa::dtype_count; ++i)
        if (std::string name(isa::language_name(isa::DType(i))); !name.empty()) dtypes.append(py::make_tuple(name, isa::bits(isa::DType(i))));
    table["dtypes"] = dtypes;
    py::list enums;
    for (int k = 0; k < int(isa::EnumKind::count); ++k) {
        py::list members;
        for (int i = 0; i < 64; ++i) {
            std::string_view name = isa::name(isa::EnumValue{isa::EnumKind(k), std::uint8_t(i)});
            if (name == "?") break;
            members.append(std::string(name));
        }
        enums.append(py::make_tuple(std::string(isa::name(isa::EnumKind(k))), members));
    }
    table["enums"] = enums;
    py::list operations, constructs;
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows()) {
        if (!row.form.of.empty()) continue; // one of several forms of a name that has its own row
        std::string name(row.name);
        if (row.construct) constructs.append(name);
        else operations.append(name);
    }
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows())
        if (!row.form.of.empty() && !isa::Catalogue::builtin().find(row.form.of)) operations.append(std::string(row.form.of));
    table["operations"] = operations;
    table["constructs"] = constructs;
    return table;
}

/// One operation for help: signature parts, documentation, where the rule comes from.
py::object operation(const std::string& name) {
    const isa::OpRow* row = isa::Catalogue::builtin().find(name);
    if (!row) return py::none();
    py::dict d;
    d["name"] = std::string(row->name);
    d["family"] = std::string(row->family);
    d["doc"] = std::string(row->doc);
    d["source"] = std::string(row->source);
    d["hidden_for"] = std::string(row->hidden_for);
    py::list operands, keywords;
    for (const isa::Operand& o : row->operands) operands.append(py::make_tuple(std::string(o.name), int(o.role), o.optional));
    for (const isa::Keyword& k : row->keywords) keywords.append(py::make_tuple(std::string(k.name), std::string(k.fallback), k.required));
    d["operands"] = operands;
    d["keywords"] = keywords;
    return d;
}

} // namespace

void bind_tables(py::module_& m) {
    m.def("language_table", &language_table, "dtypes, enums, operations and constructs of the language");
    m.def("operation", &operation, "one operation's row for help, or None");
    m.def("nearest_operation", [](const std::string& name) {
        auto best = isa::Catalogue::builtin().nearest(name);
        return best.empty() ? std::string{} : std::string(best.front());
    });
    m.def("chips", [] { return machine::chip_names(); });
    m.def("chip_text", [](const std::string& name) {
        const machine::Chip* chip = machine::find_chip(name);
        return std::string(chip ? machine::chip_text(chip->name) : std::string_view());
    }, "the file of a built-in chip by name or alias; empty when unknown");
    m.def("chip_rows", [](const std::string& name) {
        py::dict rows;
        if (const machine::Chip* chip = machine::find_chip(name))
            for (const auto& [key, row] : chip->timing) rows[py::str(key)] = py::make_tuple(row.startup_cycles, row.latency_cycles, row.unit);
        return rows;
    }, "timing rows of a built-in chip: start-up, latency, unit");
    m.def("chip_constants", [] { return std::vector<std::string>(machine::constant_names().begin(), machine::constant_names().end()); });
    m.def("check_chip", [](const std::string& text) {
        Result<machine::Chip> chip = machine::read_chip(text);
        return chip ? std::string() : chip.diagnostics.front().message;
    }, "why a chip file is refused; empty when it is not");
}

} // namespace xpto
