/// Runs tests/cases/pipeline/*.case: `pipeline_cases [--update] [name part ...]`. Exit code 1 when a section differs.

#include "engine/sync/advice.hpp"
#include "tests/support/case_runner.hpp"
#include "tests/support/pipeline_run.hpp"

#include <cstdio>
#include <iostream>

using namespace pto;
using namespace pto::test;

namespace {

RunOptions read_options(const std::string& text) {
    RunOptions o;
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string key, equals, value;
        words >> key >> equals;
        std::getline(words, value);
        if (key == "preload") {
            o.preload_is_sequence = value.find('[') != std::string::npos;
            std::vector<std::int64_t> list;
            for (char& c : value)
                if (c == '[' || c == ']' || c == ',') c = ' ';
            std::istringstream numbers(value);
            std::int64_t n;
            while (numbers >> n) list.push_back(n);
            o.preload = list;
        } else if (key == "layout") {
            if (value.find("whole_file") != std::string::npos) o.layout = rewrite::Layout::whole_file;
        } else if (key == "check") {
            o.go_on = value.find("warn") != std::string::npos;
        } else if (!key.empty()) {
            throw std::runtime_error("unknown option " + key);
        }
    }
    return o;
}

bool has_section(const CaseFile& c, const std::string& n) { return c.find(n) != nullptr; }

/// A generated text must mean one thing: read again it has no pipeline= and parses.
std::string read_back(const PipelineRun& run) {
    SourceMap again;
    std::unique_ptr<PythonFile> file = read_python(again, "pipeline_generated.py", run.generated->text);
    if (file->kernel().options.has_pipeline) return "still asks for a pipeline\n";
    if (rewrite::unchanged(again, file->file).text != run.generated->text) return "is not a fixed point\n";
    return {};
}

std::string actual(const std::string& section, const PipelineRun& run) {
    if (section == "model") return run.model ? print(*run.model) : "(none)\n";
    if (section == "schedule") return print_schedule(run);
    if (section == "edges") return print_edges(run);
    if (section == "sites") return print_sites(run);
    if (section == "prefire") return print_permits(run, true);
    if (section == "drain") return print_permits(run, false);
    if (section == "generated") return run.generated ? run.generated->text : "(none)\n";
    if (section == "diagnostics") return print_diagnostics(run);
    if (section == "advice") return run.model ? sync::print(*run.model, sync::advise(*run.model)) : "(none)\n";
    if (section == "after the fix") {
        const std::string fixed = apply_first_fix(run);
        if (fixed.empty()) return "no fix\n";
        return print_diagnostics(*run_pipeline(fixed));
    }
    throw std::runtime_error("unknown section " + section);
}

} // namespace

int main(int argc, char** argv) {
    return run_case_files("tests/cases/pipeline", argc, argv, [](CaseRun& c) {
        const std::string* options = c.file.find("options");
        std::unique_ptr<PipelineRun> run = run_pipeline(c.need("source"), options ? read_options(*options) : RunOptions{});
        if (!has_section(c.file, "diagnostics")) c.file.sections.push_back({"diagnostics", "(none)\n"});
        if (run->generated)
            if (std::string wrong = read_back(*run); !wrong.empty()) throw std::runtime_error("the generated text " + wrong);
        for (CaseFile::Section& s : c.file.sections)
            if (s.name != "source" && s.name != "options") c.compare(s, actual(s.name, *run));
    });
}
