/// Runs tests/cases/resolve/*.case: `resolve_cases [--update] [name part ...]`; `resolve_cases --print FILE.py` shows one file's IR.
/// Exit code 1 when a section differs. Sections: source, options (key NAME = N, type NAME = DT_X, static N = [..]), ir,
/// facts, constants (outside names the result depends on), diagnostics.

#include "engine/base/source_map.hpp"
#include "engine/ir/read.hpp"
#include "engine/resolve/resolve.hpp"
#include "tests/support/case_runner.hpp"
#include "tests/support/print_diagnostics.hpp"
#include "tests/support/python_environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace pto;
using namespace pto::test;

namespace {

resolve::ResolveOptions read_options(const std::string& text) {
    resolve::ResolveOptions o;
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
        for (char& c : line)
            if (c == '[' || c == ']' || c == ',' || c == '=') c = ' ';
        std::istringstream words(line);
        std::string what, name;
        if (!(words >> what)) continue;
        words >> name;
        if (what == "key") {
            words >> o.tiling_key[name];
        } else if (what == "type") {
            std::string type;
            words >> type;
            auto t = isa::find_dtype(type);
            if (!t) throw std::runtime_error("unknown type " + type);
            o.datatype[name] = *t;
        } else if (what == "static") {
            std::size_t at = std::stoul(name);
            if (o.static_shapes.size() <= at) o.static_shapes.resize(at + 1);
            std::int64_t n;
            while (words >> n) o.static_shapes[at].push_back(n);
        } else {
            throw std::runtime_error("unknown option " + what);
        }
    }
    return o;
}

std::string print_facts(const SourceMap& sources, const pipeline::Facts& facts) {
    static constexpr const char* kinds[] = {"unknown", "scalar", "tile", "tensor", "tuple", "struct", "struct array", "pointer"};
    std::string out;
    for (const auto& [at, value] : facts.if_const) out += "if " + std::string(sources.text(at)) + ": " + (value ? *value ? "true" : "false" : "?") + "\n";
    for (const auto& [name, fact] : facts.names) {
        out += name + ": " + kinds[int(fact.kind)];
        if (fact.kind == pipeline::ValueKind::scalar) out += " " + std::string(isa::name(fact.dtype));
        out += "\n";
    }
    for (const auto& [name, fields] : facts.structs) {
        out += name + " {";
        for (const auto& f : fields) out += " " + f.name + ": " + std::string(isa::name(f.dtype)) + (f.length ? "[" + std::to_string(f.length) + "]" : "") + ";";
        out += " }\n";
    }
    for (const auto& [at, t] : facts.argument_dtypes) out += "argument " + std::string(sources.text(at)) + ": " + std::string(isa::name(t)) + "\n";
    return out;
}

/// What resolve() made must survive its own text.
void check_round_trip(const ir::Kernel& kernel) {
    const std::string text = ir::print(kernel);
    const ir::Kernel again = ir::read(text, isa::Catalogue::builtin());
    if (ir::print(again) != text) throw std::runtime_error("the printed IR reads back to another text:\n" + ir::print(again));
    if (!ir::equal(again, kernel)) throw std::runtime_error("the printed IR reads back to another value");
}

int print_file(const std::string& path, const std::string& kernel, int repeat) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    SourceMap sources;
    PythonEnvironment environment(sources, path, text.str());
    syntax::KernelSource source = environment.kernel(kernel);
    auto result = resolve::resolve(source, environment, sources);
    std::cout << print_diagnostics(sources, result.diagnostics);
    if (result) {
        std::cout << ir::print(result->kernel);
        check_round_trip(result->kernel);
    }
    if (repeat > 0) {
        auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < repeat; ++i) resolve::resolve(source, environment, sources);
        double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / repeat;
        std::cout << "resolve, both targets: " << us << " us\n";
    }
    return result ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 2 && std::string(argv[1]) == "--print") return print_file(argv[2], argc > 3 ? argv[3] : "", argc > 4 ? std::stoi(argv[4]) : 0);
    return run_case_files("tests/cases/resolve", argc, argv, [](CaseRun& c) {
        const std::string* options = c.file.find("options");
        SourceMap sources;
        PythonEnvironment environment(sources, "case.py", c.need("source"));
        auto result = resolve::resolve(environment.kernel(), environment, sources, options ? read_options(*options) : resolve::ResolveOptions{});
        if (result) check_round_trip(result->kernel);
        if (!c.file.find("diagnostics")) c.file.sections.push_back({"diagnostics", ""});
        for (CaseFile::Section& s : c.file.sections) {
            std::string now;
            if (s.name == "ir") now = result ? ir::print(result->kernel) : "(none)\n";
            else if (s.name == "facts") now = result ? print_facts(sources, result->facts) : "(none)\n";
            else if (s.name == "constants") {
                if (result)
                    for (const auto& used : result->constants_used) now += used.first + "\n";
            } else if (s.name == "diagnostics") now = print_diagnostics(sources, result.diagnostics);
            else continue;
            c.compare(s, now);
        }
    });
}
