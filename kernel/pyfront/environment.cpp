#include "kernel/pyfront/environment.hpp"

#include <pybind11/stl.h>

namespace xpto::pyfront {

using namespace pto;
using namespace pto::syntax;

namespace {

py::object attribute(const py::handle& object, const char* name) {
    PyObject* found = PyObject_GetAttrString(object.ptr(), name);
    if (!found) PyErr_Clear();
    return py::reinterpret_steal<py::object>(found ? found : nullptr);
}

std::string text_or(const py::object& object, std::string fallback) {
    return object && py::isinstance<py::str>(object) ? object.cast<std::string>() : std::move(fallback);
}

std::string type_name(const py::handle& object) { return Py_TYPE(object.ptr())->tp_name; }

/// "pl", "pl.system" ... for modules of the language, real or stand-in; empty otherwise.
std::string language_module(const std::string& name) {
    if (name == "xpto.language" || name == "pypto_pro.language") return "pl";
    for (std::string_view prefix : {"pypto_pro.language.", "xpto.language."})
        if (name.rfind(prefix, 0) == 0) return "pl." + name.substr(prefix.size());
    return {};
}

// A session may define kernels for days; an old one that is asked for again is read again.
constexpr std::size_t most_functions = 256;

FunctionRef::Kind kind_of(const py::handle& function) {
    std::string mark = text_or(attribute(function, "__xpto_kind__"), "");
    if (mark == "stage") return FunctionRef::Kind::stage;
    if (mark == "vector") return FunctionRef::Kind::vector;
    if (mark == "simt") return FunctionRef::Kind::simt;
    if (mark == "kernel") return FunctionRef::Kind::kernel;
    return FunctionRef::Kind::plain;
}

} // namespace

void Sources::name_file(const std::string& filename, std::string shown, std::int32_t first_line) {
    m_shown[filename] = {std::move(shown), first_line};
}

void Sources::forget() {
    m_by_code.clear();
    m_reader.forget();
}

FunctionRef Sources::read(const py::handle& function) {
    FunctionRef ref;
    ref.name = text_or(attribute(function, "__name__"), "?");
    ref.kind = kind_of(function);
    if (py::object threads = attribute(function, "__xpto_max_threads__"); threads && PyLong_Check(threads.ptr()))
        ref.max_threads = threads.cast<std::int64_t>();
    py::object code = attribute(function, "__code__");
    if (!code) {
        ref.missing = "it is not a Python function but a " + type_name(function);
        return ref;
    }
    if (auto known = m_by_code.find(code.ptr()); known != m_by_code.end()) {
        known->second.used = ++m_clock;
        ref.function = known->second.function.function;
        ref.missing = known->second.function.missing;
        return ref;
    }
    std::string filename = code.attr("co_filename").cast<std::string>();
    std::int32_t line = code.attr("co_firstlineno").cast<std::int32_t>();
    py::list lines = py::module_::import("linecache").attr("getlines")(filename, function.attr("__globals__"));
    if (lines.empty()) {
        ref.missing = "cannot read source of " + ref.name + ": no text is kept for " + filename;
    } else {
        std::string text = py::str("").attr("join")(lines).cast<std::string>();
        auto shown = m_shown.find(filename);
        FileId file = shown == m_shown.end() ? m_map.add(filename, std::move(text))
                                             : m_map.add(shown->second.name, std::move(text), shown->second.first_line);
        ref.function = m_reader.function_at(m_map, file, line, code.attr("co_name").cast<std::string>());
        if (!ref.function)
            ref.missing = "cannot read source of " + ref.name + ": " + filename + " has no such function at line " +
                          std::to_string(line) + " any more";
    }
    m_by_code.emplace(code.ptr(), Known{code, ref, ++m_clock});
    forget_oldest(m_by_code, most_functions);
    return ref;
}

ScopeId LiveEnvironment::scope_of(const py::handle& function) {
    if (auto known = m_scope_of.find(function.ptr()); known != m_scope_of.end()) return ScopeId{known->second};
    Scope s;
    s.function = py::reinterpret_borrow<py::object>(function);
    s.globals = attribute(function, "__globals__");
    s.snapshot = attribute(function, "__xpto_locals__");
    py::object closure = attribute(function, "__closure__"), code = attribute(function, "__code__");
    if (closure && !closure.is_none() && code) {
        py::tuple names = code.attr("co_freevars"), cells = closure;
        for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i)
            if (py::object value = attribute(cells[i], "cell_contents")) s.cells[names[i].cast<std::string>()] = value;
    }
    m_scopes.push_back(std::move(s));
    std::int32_t id = std::int32_t(m_scopes.size() - 1);
    m_scope_of.emplace(function.ptr(), id);
    return ScopeId{id};
}

int LiveEnvironment::traverse(visitproc visit, void* arg) const {
    for (const Scope& s : m_scopes) {
        for (const py::object* o : {&s.function, &s.globals, &s.snapshot}) Py_VISIT(o->ptr());
        for (const auto& [name, value] : s.cells) Py_VISIT(value.ptr());
    }
    return 0;
}

void LiveEnvironment::clear() {
    std::vector<Scope> gone;
    gone.swap(m_scopes); // what goes away may run Python code that comes back here
    m_scope_of.clear();
}

py::object LiveEnvironment::find(ScopeId scope, const std::string& name) const {
    if (!scope.valid() || std::size_t(scope.index) >= m_scopes.size()) return {};
    const Scope& s = m_scopes[std::size_t(scope.index)];
    py::str key(name);
    if (s.snapshot && PyDict_Check(s.snapshot.ptr()))
        if (PyObject* found = PyDict_GetItem(s.snapshot.ptr(), key.ptr())) return py::reinterpret_borrow<py::object>(found);
    if (auto cell = s.cells.find(name); cell != s.cells.end()) return cell->second;
    if (s.globals && PyDict_Check(s.globals.ptr()))
        if (PyObject* found = PyDict_GetItem(s.globals.ptr(), key.ptr())) return py::reinterpret_borrow<py::object>(found);
    return {};
}

std::optional<Constant> LiveEnvironment::look_up(ScopeId scope, const std::string& name) {
    py::object found = find(scope, name);
    if (!found) return std::nullopt;
    return to_constant(found);
}

std::optional<Constant> LiveEnvironment::member(ScopeId scope, const std::string& dotted) {
    std::size_t dot = dotted.find('.');
    py::object object = find(scope, dotted.substr(0, dot));
    while (object && dot != std::string::npos) {
        std::size_t next = dotted.find('.', dot + 1);
        object = attribute(object, dotted.substr(dot + 1, next == std::string::npos ? next : next - dot - 1).c_str());
        dot = next;
    }
    if (!object) return std::nullopt;
    return to_constant(object);
}

Constant LiveEnvironment::class_constant(const py::handle& type) {
    std::string name = text_or(attribute(type, "__name__"), "?");
    if (py::object fields = attribute(type, "__dataclass_fields__")) {
        TilingClass c{name, {}, {}};
        auto wrong = [&](const std::string& what) { c.error += (c.error.empty() ? "" : "; ") + what; };
        for (auto item : py::reinterpret_borrow<py::dict>(fields)) {
            TilingField f;
            f.name = item.first.cast<std::string>();
            py::object annotation = item.second.attr("type");
            std::string text = py::isinstance<py::str>(annotation) ? annotation.cast<std::string>() : text_or(attribute(annotation, "__name__"), "?");
            std::string base = text.substr(0, text.find('['));
            if (base == "int") f.dtype = isa::DType::index;
            else if (base == "float") f.dtype = isa::DType::fp32;
            else if (base == "bool") f.dtype = isa::DType::boolean;
            else wrong("field " + f.name + " has type " + text + ", not int, float, bool or an array of them (int[4])");
            bool known = base == "int" || base == "float" || base == "bool";
            if (std::size_t open = text.find('['); known && open != std::string::npos) {
                std::string inside = text.substr(open + 1, text.find(']', open) - open - 1);
                bool digits = !inside.empty() && inside.find_first_not_of("0123456789") == std::string::npos && inside.size() < 9;
                f.length = digits ? std::stoll(inside) : -1;
                if (f.length < 1 || f.length > 2048)
                    wrong("field " + f.name + ": an array has 1 to 2048 elements, written as a literal, not [" + inside + "]");
            }
            c.fields.push_back(std::move(f));
        }
        return {std::move(c)};
    }
    TilingKeyClass key{name, {}, py::hasattr(type, "is_valid")};
    py::object members = attribute(type, "__dict__");
    if (members)
        for (py::handle item : members.attr("items")()) {
            py::tuple pair = py::reinterpret_borrow<py::tuple>(item);
            if (type_name(pair[1]).find("TilingKeyField") == std::string::npos) continue;
            KeyField f;
            f.name = pair[0].cast<std::string>();
            f.bits = py::object(pair[1].attr("bits")).cast<int>();
            f.values = py::object(pair[1].attr("values")).cast<std::vector<std::int64_t>>();
            key.fields.push_back(std::move(f));
        }
    if (!key.fields.empty()) return {std::move(key)};
    return {Opaque{"class " + name}};
}

Constant LiveEnvironment::to_constant(const py::handle& o) {
    PyObject* p = o.ptr();
    if (p == Py_None) return {NoneValue{}};
    if (PyBool_Check(p)) return {p == Py_True};
    if (PyLong_Check(p)) {
        int overflow = 0;
        std::int64_t v = PyLong_AsLongLongAndOverflow(p, &overflow);
        if (overflow) return {Opaque{"int wider than 64 bits"}};
        return {v};
    }
    if (PyFloat_Check(p)) return {PyFloat_AS_DOUBLE(p)};
    if (PyUnicode_Check(p)) return {o.cast<std::string>()};
    if (PyList_Check(p) || PyTuple_Check(p)) {
        Constant c{ConstantList{}, PyTuple_Check(p) != 0, {}};
        ConstantList& list = std::get<ConstantList>(c.value);
        for (py::handle item : o) list.push_back(to_constant(item));
        return c;
    }
    if (PyModule_Check(p)) {
        std::string path = language_module(text_or(attribute(o, "__name__"), ""));
        if (!path.empty()) return {LanguageName{path}};
        return {Opaque{"module"}};
    }
    if (PyFunction_Check(p)) {
        py::object plain = py::reinterpret_borrow<py::object>(o);
        while (py::object inner = attribute(plain, "__wrapped__")) plain = inner;
        FunctionRef ref = m_sources.read(plain);
        if (kind_of(o) != FunctionRef::Kind::plain) ref.kind = kind_of(o);
        ref.scope = scope_of(plain);
        return {std::move(ref)};
    }
    std::string type = type_name(o);
    if (type == "DType" || type == "DataType") {
        if (auto t = isa::find_dtype(text_or(attribute(o, "name"), ""))) return {*t};
        return {Opaque{"dtype"}};
    }
    if (PyType_Check(p)) {
        std::string name = text_or(attribute(o, "__name__"), "");
        std::string module = text_or(attribute(o, "__module__"), "");
        if (!language_module(module).empty() || module.rfind("xpto.language", 0) == 0) return {LanguageName{"pl." + name}};
        return class_constant(o);
    }
    if (type == "Name" || type == "_Hint" || type == "VectorNamespace")
        if (py::object path = attribute(o, "path")) return {LanguageName{path.cast<std::string>()}};
    if (type == "TileType")
        if (py::object arguments = attribute(o, "arguments"); arguments && PyDict_Check(arguments.ptr())) {
            auto call = std::make_shared<LanguageCall>();
            call->path = "pl.TileType";
            for (auto item : py::reinterpret_borrow<py::dict>(arguments)) call->keywords[item.first.cast<std::string>()] = to_constant(item.second);
            return {std::shared_ptr<const LanguageCall>(std::move(call))};
        }
    if (py::object ordinal = attribute(o, "name"); ordinal && py::isinstance<py::str>(ordinal)) {
        std::string enumeration = type.substr(type.rfind('.') == std::string::npos ? 0 : type.rfind('.') + 1);
        if (auto value = isa::find_enum(enumeration, ordinal.cast<std::string>())) return {*value};
    }
    if (py::object function = attribute(o, "__xpto_function__")) return to_constant(function); // an OperatorKernel
    // numpy scalars and whatever else counts like a number
    if (PyIndex_Check(p)) {
        if (py::object as_int = py::reinterpret_steal<py::object>(PyNumber_Index(p))) return to_constant(as_int);
        PyErr_Clear();
    }
    return {Opaque{type}};
}

py::object LiveEnvironment::to_python(const Constant& c) {
    py::module_ language = py::module_::import("xpto.language");
    return std::visit(on{
                          [](const NoneValue&) -> py::object { return py::none(); },
                          [](bool v) -> py::object { return py::bool_(v); },
                          [](std::int64_t v) -> py::object { return py::int_(v); },
                          [](double v) -> py::object { return py::float_(v); },
                          [](const std::string& v) -> py::object { return py::str(v); },
                          [&](isa::DType v) -> py::object {
                              std::string name(isa::language_name(v));
                              return name.empty() ? py::object(py::none()) : py::object(language.attr(name.c_str()));
                          },
                          [&](const isa::EnumValue& v) -> py::object {
                              return language.attr(std::string(isa::name(v.kind)).c_str()).attr(std::string(isa::name(v)).c_str());
                          },
                          [&](const ConstantList& list) -> py::object {
                              py::list out;
                              for (const Constant& item : list) out.append(to_python(item));
                              return c.is_tuple ? py::object(py::tuple(out)) : py::object(out);
                          },
                          [](const auto&) -> py::object { return {}; },
                      },
                      c.value);
}

std::optional<Constant> LiveEnvironment::evaluate(ScopeId scope, const std::string& text, const std::map<std::string, Constant>& names,
                                                  std::string& error) {
    if (!scope.valid()) return std::nullopt;
    static const char* const allowed[] = {"len",  "max",   "min",  "abs",   "sum",   "round",      "int",   "float",
                                          "bool", "list",  "tuple", "range", "isinstance", "type", "True", "False"};
    try {
        const Scope& s = m_scopes[std::size_t(scope.index)];
        py::dict space;
        if (s.globals) PyDict_Update(space.ptr(), s.globals.ptr());
        for (const auto& [name, value] : s.cells) space[py::str(name)] = value;
        if (s.snapshot && PyDict_Check(s.snapshot.ptr())) PyDict_Update(space.ptr(), s.snapshot.ptr());
        for (const auto& [name, value] : names)
            if (py::object o = to_python(value)) space[py::str(name)] = o;
        py::module_ builtins = py::module_::import("builtins");
        py::dict restricted;
        for (const char* name : allowed)
            if (py::hasattr(builtins, name)) restricted[name] = builtins.attr(name);
        space["__builtins__"] = restricted;
        py::object code = builtins.attr("compile")("(" + text + ")", "<compile-time expression>", "eval");
        PyObject* value = PyEval_EvalCode(code.ptr(), space.ptr(), space.ptr());
        if (!value) throw py::error_already_set();
        return to_constant(py::reinterpret_steal<py::object>(value));
    } catch (py::error_already_set& e) {
        error = type_name(e.value()) + std::string(": ") + py::str(e.value()).cast<std::string>();
        return std::nullopt;
    }
}

KernelOptions kernel_options(const py::handle& function, const py::dict& options, LiveEnvironment& environment) {
    KernelOptions k;
    k.name = text_or(attribute(function, "__name__"), "kernel");
    auto get = [&](const char* key) -> py::object {
        if (!options.contains(key)) return py::none();
        return options[key];
    };
    if (py::object name = get("name"); !name.is_none()) k.name = name.cast<std::string>();
    if (py::object arch = get("arch"); !arch.is_none()) k.arch = arch.cast<std::string>();
    if (py::object mutex = get("auto_mutex"); !mutex.is_none()) k.auto_mutex = mutex.cast<bool>();
    if (py::object pipeline = get("pipeline"); !pipeline.is_none()) {
        k.has_pipeline = true;
        k.sync_only = py::object(pipeline.attr("sync_only")).cast<bool>();
        py::object preload = pipeline.attr("preload");
        k.preload_is_sequence = py::isinstance<py::tuple>(preload) || py::isinstance<py::list>(preload);
        if (k.preload_is_sequence) k.preload = preload.cast<std::vector<std::int64_t>>();
        else k.preload = {preload.cast<std::int64_t>()};
    }
    if (py::object key = get("tiling_key"); !key.is_none()) {
        Constant c = environment.to_constant(key);
        if (auto* known = std::get_if<TilingKeyClass>(&c.value)) k.tiling_key = *known;
        else throw py::type_error("tiling_key must be a class with TilingKeyField attributes");
    }
    if (py::object types = get("datatype"); !types.is_none())
        for (auto item : py::reinterpret_borrow<py::dict>(types)) k.datatype[item.first.cast<std::string>()] = item.second.cast<std::string>();
    return k;
}

} // namespace xpto::pyfront
