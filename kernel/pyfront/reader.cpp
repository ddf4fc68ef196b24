#include "kernel/pyfront/reader.hpp"

#include "kernel/pyfront/convert.hpp"

#include <chrono>

namespace xpto::pyfront {

using namespace pto;

namespace {

// Parsed modules are large: a hundred lines take a good half megabyte.
constexpr std::size_t most_texts = 32;

/// Collects every function definition of a tree with the line it starts on, nested ones too.
void collect(const py::handle& node, std::vector<std::pair<std::int32_t, py::object>>& out) {
    static const char* const lists[] = {"body", "orelse", "finalbody", "handlers"};
    for (const char* name : lists) {
        if (!py::hasattr(node, name)) continue;
        py::object list = node.attr(name);
        if (!py::isinstance<py::list>(list)) continue;
        for (py::handle child : list) {
            if (std::string(Py_TYPE(child.ptr())->tp_name).find("FunctionDef") != std::string::npos) {
                py::list decorators = child.attr("decorator_list");
                std::int32_t line = decorators.empty() ? child.attr("lineno").cast<std::int32_t>()
                                                       : decorators[0].attr("lineno").cast<std::int32_t>();
                out.emplace_back(line, py::reinterpret_borrow<py::object>(child));
            }
            collect(child, out);
        }
    }
}

Diagnostic syntax_error(const SourceMap& sources, FileId file, const py::error_already_set& e) {
    std::int32_t line = 1, column = 1;
    std::string message = "the text does not parse";
    try {
        py::object value = e.value();
        if (!value.attr("lineno").is_none()) line = value.attr("lineno").cast<std::int32_t>();
        if (!value.attr("offset").is_none()) column = value.attr("offset").cast<std::int32_t>();
        message = py::str(value.attr("msg")).cast<std::string>();
    } catch (const py::error_already_set&) { message = e.what(); }
    const SourceFile& f = sources.file(file);
    std::int32_t begin = sources.offset(file, line + f.first_line - 1, 0);
    for (std::int32_t i = 1; i < column && std::size_t(begin) < f.text.size() && f.text[std::size_t(begin)] != '\n'; ++i) {
        ++begin; // the offset counts code points
        while (std::size_t(begin) < f.text.size() && (static_cast<unsigned char>(f.text[std::size_t(begin)]) & 0xC0) == 0x80) ++begin;
    }
    return diagnose(Code::syntax, {file, begin, std::min<std::int32_t>(begin + 1, std::int32_t(f.text.size()))}, message);
}

} // namespace

Reader::Reader() : m_parse(py::module_::import("ast").attr("parse")) {}

Reader::Parsed& Reader::parsed(const SourceMap& sources, FileId file) {
    auto found = m_files.find(file.index);
    if (found != m_files.end()) {
        found->second.used = ++m_clock;
        return found->second;
    }
    Parsed p;
    p.used = ++m_clock;
    ++m_parses;
    auto begin = std::chrono::steady_clock::now();
    auto parse = [&] {
        py::object tree = m_parse(py::str(sources.file(file).text));
        m_parse_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return tree;
    };
    try {
        p.tree = parse();
        collect(p.tree, p.defs);
    } catch (const py::error_already_set& e) {
        if (!e.matches(PyExc_SyntaxError) && !e.matches(PyExc_ValueError)) throw; // an interrupt is no fault of the text
        p.tree = py::none();
        p.errors.push_back(syntax_error(sources, file, e));
    }
    Parsed& kept = m_files.emplace(file.index, std::move(p)).first->second;
    forget_oldest(m_files, most_texts);
    return kept;
}

const Diagnostics& Reader::errors(FileId file) const {
    static const Diagnostics none;
    auto found = m_files.find(file.index);
    return found == m_files.end() ? none : found->second.errors;
}

std::shared_ptr<const syntax::Function> Reader::function_at(const SourceMap& sources, FileId file, std::int32_t line,
                                                            const std::string& name) {
    Parsed& p = parsed(sources, file);
    if (auto known = p.functions.find(line); known != p.functions.end() && known->second->name == name) return known->second;
    for (const auto& [first, node] : p.defs)
        if (first == line && py::str(node.attr("name")).cast<std::string>() == name) {
            auto made = std::make_shared<const syntax::Function>(Converter(sources, file).function(node.ptr()));
            p.functions[line] = made;
            return made;
        }
    return nullptr;
}

Result<syntax::Module> Reader::read(const SourceMap& sources, FileId file) {
    Parsed& p = parsed(sources, file);
    if (p.tree.is_none()) return {std::nullopt, p.errors};
    syntax::Module m;
    m.file = file;
    Converter convert(sources, file);
    for (py::handle node : p.tree.attr("body")) {
        std::string type = Py_TYPE(node.ptr())->tp_name;
        if (std::size_t dot = type.rfind('.'); dot != std::string::npos) type.erase(0, dot + 1);
        if (type == "FunctionDef") {
            m.functions.push_back(std::make_shared<const syntax::Function>(convert.function(node.ptr())));
        } else if (type == "Import" || type == "ImportFrom") {
            std::string from = type == "ImportFrom" && !node.attr("module").is_none() ? py::str(node.attr("module")).cast<std::string>() : "";
            for (py::handle alias : node.attr("names")) {
                std::string name = py::str(alias.attr("name"));
                std::string bound = alias.attr("asname").is_none() ? name.substr(0, name.find('.')) : py::str(alias.attr("asname")).cast<std::string>();
                m.imports[bound] = from.empty() ? name : from + "." + name;
            }
        } else {
            m.statements.push_back(convert.statement(node.ptr()));
        }
    }
    return {std::move(m), {}};
}

} // namespace xpto::pyfront
