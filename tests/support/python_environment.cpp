#include "tests/support/python_environment.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace pto::test {

using namespace syntax;

namespace {

/// Runs tests/support/python_evaluate.py over the file's text; the expression goes in through a second file.
std::string run(const std::string& text, const std::string& request) {
    char source[] = "/tmp/python_source_XXXXXX", ask[] = "/tmp/python_request_XXXXXX";
    auto write = [](char* path, const std::string& s) {
        int fd = mkstemp(path);
        if (fd < 0) throw std::runtime_error("no temporary file");
        std::FILE* f = fdopen(fd, "wb");
        std::fwrite(s.data(), 1, s.size(), f);
        std::fclose(f);
    };
    write(source, text);
    write(ask, request);
    std::string command = std::string("/usr/bin/python3 tests/support/python_evaluate.py ") + source + " " + ask + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    std::array<char, 4096> buffer;
    while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), n);
    pclose(pipe);
    std::remove(source);
    std::remove(ask);
    return out;
}

std::string quoted(const std::string& s) {
    std::string out = "'";
    for (char c : s)
        if (c == '\n') out += "\\n";
        else if (c == '\'' || c == '\\') out += std::string("\\") + c;
        else out += c;
    return out + "'";
}

/// Python text of a constant; empty when there is none.
std::string python(const Constant& c) {
    return std::visit(on{[](const NoneValue&) { return std::string("None"); }, [](bool b) { return std::string(b ? "True" : "False"); },
                         [](std::int64_t i) { return std::to_string(i); },
                         [](double d) {
                             char text[40];
                             std::snprintf(text, sizeof text, "%.17g", d);
                             return "float('" + std::string(text) + "')";
                         },
                         [](const std::string& s) { return quoted(s); }, [](isa::DType t) { return "pl." + std::string(isa::language_name(t)); },
                         [](isa::EnumValue e) { return "pl." + std::string(isa::name(e.kind)) + "." + std::string(isa::name(e)); },
                         [](const LanguageName& n) { return n.path; },
                         [&](const ConstantList& list) {
                             std::string out = c.is_tuple ? "(" : "[";
                             for (const Constant& e : list) out += python(e) + ", ";
                             return out + (c.is_tuple ? ")" : "]");
                         },
                         [](const auto&) { return std::string(); }},
                      c.value);
}

Constant parse(std::istringstream& in) {
    Constant c;
    std::string kind, word;
    in >> kind;
    if (kind == "none") c.value = NoneValue{};
    else if (kind == "bool") c.value = (in >> word, word == "1");
    else if (kind == "int") c.value = std::int64_t((in >> word, std::stoll(word)));
    else if (kind == "real") c.value = (in >> word, std::strtod(word.c_str(), nullptr));
    else if (kind == "str") {
        std::getline(in >> std::ws, word);
        c.value = word;
    } else if (kind == "lang") {
        in >> word;
        c = Constant{LanguageName{word}, false, {}};
    } else if (kind == "call") {
        auto call = std::make_shared<LanguageCall>();
        std::size_t n;
        in >> call->path >> n;
        for (std::size_t i = 0; i < n; ++i) {
            in >> word;
            call->keywords[word] = parse(in);
        }
        c.value = std::shared_ptr<const LanguageCall>(std::move(call));
    } else if (kind == "list") {
        std::size_t n;
        in >> word >> n;
        c.is_tuple = word == "1";
        ConstantList list;
        for (std::size_t i = 0; i < n; ++i) list.push_back(parse(in));
        c.value = std::move(list);
    } else if (kind == "tiling") {
        TilingClass t;
        std::size_t n;
        in >> t.name >> n;
        for (std::size_t i = 0; i < n; ++i) {
            TilingField f;
            std::string type;
            in >> f.name >> type >> f.length;
            f.dtype = type == "int" ? isa::DType::index : type == "float" ? isa::DType::fp32 : isa::DType::boolean;
            t.fields.push_back(f);
        }
        std::getline(in >> std::ws, t.error);
        if (t.error == "-") t.error.clear();
        c.value = std::move(t);
    } else if (kind == "key") {
        TilingKeyClass k;
        std::size_t n;
        in >> k.name >> n;
        for (std::size_t i = 0; i < n; ++i) {
            KeyField f;
            std::size_t values;
            in >> f.name >> f.bits >> values;
            for (std::size_t v = 0; v < values; ++v) {
                std::int64_t x;
                in >> x;
                f.values.push_back(x);
            }
            k.fields.push_back(std::move(f));
        }
        c.value = std::move(k);
    } else {
        in >> word;
        c.value = Opaque{word};
    }
    return c;
}

} // namespace

PythonEnvironment::PythonEnvironment(SourceMap& sources, const std::string& name, const std::string& text)
    : m_text(text), m_file(read_python(sources, name, text)) {}

KernelSource PythonEnvironment::kernel(const std::string& name) {
    KernelSource k = m_file->kernel(name);
    for (const Expr& d : k.function->decorators) {
        if (const Expr* key = d.keyword("tiling_key")) {
            auto c = look_up(ScopeId{0}, key->text);
            if (c)
                if (auto* cls = std::get_if<TilingKeyClass>(&c->value)) k.options.tiling_key = *cls;
        }
        if (const Expr* types = d.keyword("datatype")) { // {"x": "T"}: key and value strings alternate, whatever the reader made of the dict
            std::string error;
            auto c = evaluate(ScopeId{0}, "[y for x in " + m_text.substr(std::size_t(types->at.begin), std::size_t(types->at.end - types->at.begin)) + ".items() for y in x]", {}, error);
            if (c)
                if (auto* list = std::get_if<ConstantList>(&c->value))
                    for (std::size_t i = 0; i + 1 < list->size(); i += 2) k.options.datatype[std::get<std::string>((*list)[i].value)] = std::get<std::string>((*list)[i + 1].value);
        }
    }
    return k;
}

std::optional<Constant> PythonEnvironment::look_up(ScopeId scope, const std::string& name) {
    auto found = m_file->look_up(scope, name);
    if (!found || !std::holds_alternative<Opaque>(found->value)) return found;
    std::string error; // classes and modules: ask what they mean
    auto better = evaluate(scope, name, {}, error);
    return better ? better : found;
}

std::optional<Constant> PythonEnvironment::member(ScopeId scope, const std::string& dotted) {
    if (auto found = m_file->member(scope, dotted)) return found;
    std::string error;
    return evaluate(scope, dotted, {}, error);
}

std::optional<Constant> PythonEnvironment::evaluate(ScopeId, const std::string& text, const std::map<std::string, Constant>& names, std::string& error) {
    std::string request;
    for (const auto& [name, value] : names)
        if (std::string p = python(value); !p.empty()) request += name + " = " + p + "\n";
    request += "----\n" + text;
    if (auto known = m_evaluated.find(request); known != m_evaluated.end()) return known->second;
    std::string out = run(m_text, request);
    std::optional<Constant> value;
    if (out.rfind("error ", 0) == 0 || out.empty()) {
        error = out.empty() ? "no answer" : out.substr(6, out.find_last_not_of('\n') - 5);
    } else {
        std::istringstream in(out);
        value = parse(in);
    }
    m_evaluated[request] = value;
    return value;
}

} // namespace pto::test
