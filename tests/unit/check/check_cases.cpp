/// Runs tests/cases/check/*.case: `check_cases [--update] [name part ...]`; exit code 1 when a section differs.
/// Sections: source, whose kernel breaks rules; diagnostics, what is said about it; accepted, a neighbour of the same kind about which
/// nothing may be said; target, the chip (ascend950 when absent).

#include "engine/check/check.hpp"
#include "engine/resolve/resolve.hpp"
#include "tests/support/case_runner.hpp"
#include "tests/support/print_diagnostics.hpp"
#include "tests/support/python_environment.hpp"

#include <algorithm>

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

} // namespace

int main(int argc, char** argv) {
    return run_case_files("tests/cases/check", argc, argv, [](CaseRun& c) {
        const machine::Chip* chip = machine::find_chip(word(c.file.find("target"), "ascend950"));
        if (!chip) throw std::runtime_error("no such target");
        if (const std::string* accepted = c.file.find("accepted"))
            if (std::string said = said_about(*accepted, *chip); said != "(none)\n") c.problems += "accepted, but this is said:\n" + said;
        const std::string now = said_about(c.need("source"), *chip);
        if (now == "(none)\n") c.problems += "nothing is said about the source\n";
        if (!c.file.find("diagnostics")) c.file.sections.push_back({"diagnostics", ""});
        for (CaseFile::Section& s : c.file.sections)
            if (s.name == "diagnostics") c.compare(s, now);
    });
}
