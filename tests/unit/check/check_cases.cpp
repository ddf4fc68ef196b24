/// Runs tests/cases/check/*.case: `check_cases [--update] [name part ...]`; exit code 1 when a section differs.
/// Sections: source, whose kernel breaks rules; diagnostics, what is said about it; accepted, a neighbour of the same kind about which
/// nothing may be said; target, the chip (ascend950 when absent).

#include "engine/check/check.hpp"
#include "engine/resolve/resolve.hpp"
#include "tests/support/case_file.hpp"
#include "tests/support/print_diagnostics.hpp"
#include "tests/support/python_environment.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

using namespace pto;
using namespace pto::test;

namespace {

std::string word(const std::string* text, const std::string& otherwise) {
    if (!text) return otherwise;
    std::string out = *text;
    out.erase(std::remove_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == ' '; }), out.end());
    return out;
}

std::string said_about(const std::string& text, const machine::Chip& chip) {
    SourceMap sources;
    PythonEnvironment environment(sources, "case.py", text);
    auto resolved = resolve::resolve(environment.kernel(), environment, sources, {});
    Diagnostics all = resolved.diagnostics;
    if (resolved) {
        Diagnostics checked = check::check(resolved->kernel, chip);
        std::copy_if(checked.begin(), checked.end(), std::back_inserter(all), [](const Diagnostic& d) { return d.severity != Severity::note; });
    }
    return print_diagnostics(sources, all);
}

/// Problems of one case; empty when it holds. `update` takes what is said now as the expectation.
std::string run(CaseFile& c, bool update) {
    const std::string* source = c.find("source");
    const std::string* accepted = c.find("accepted");
    if (!source) throw std::runtime_error("no source section");
    const machine::Chip* chip = machine::find_chip(word(c.find("target"), "ascend950"));
    if (!chip) throw std::runtime_error("no such target");
    std::string problems;
    if (accepted)
        if (std::string said = said_about(*accepted, *chip); said != "(none)\n") problems += "accepted, but this is said:\n" + said;
    std::string now = said_about(*source, *chip);
    if (now == "(none)\n") problems += "nothing is said about the source\n";
    if (!c.find("diagnostics")) c.sections.push_back({"diagnostics", ""});
    for (CaseFile::Section& s : c.sections) {
        if (s.name != "diagnostics" || s.text == now) continue;
        if (!update) problems += "--- expected\n" + s.text + "--- actual\n" + now;
        s.text = now;
    }
    return problems;
}

} // namespace

int main(int argc, char** argv) {
    bool update = false;
    std::vector<std::string> only, paths;
    for (int i = 1; i < argc; ++i)
        if (std::string a = argv[i]; a == "--update") update = true;
        else only.push_back(a);
    for (const auto& entry : std::filesystem::directory_iterator("tests/cases/check"))
        if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    int failed = 0, ran = 0;
    for (const std::string& path : paths) {
        if (!only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string& o) { return path.find(o) != std::string::npos; })) continue;
        ++ran;
        CaseFile c = CaseFile::read(path);
        try {
            if (std::string problems = run(c, update); !problems.empty()) {
                ++failed;
                std::cout << path << ": " << problems;
            }
            if (update) c.write();
        } catch (const std::exception& e) {
            ++failed;
            std::cout << path << ": " << e.what() << "\n";
        }
    }
    std::cout << ran << " cases, " << failed << " failed\n";
    return failed == 0 && ran > 0 ? 0 : 1;
}
