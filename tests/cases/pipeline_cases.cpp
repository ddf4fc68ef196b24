/// Runs tests/cases/pipeline/*.case: `pipeline_cases [--update] [name part ...]`. Exit code 1 when a section differs.

#include "engine/sync/advice.hpp"
#include "tests/support/case_file.hpp"
#include "tests/support/pipeline_run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>

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
    bool update = false;
    std::vector<std::string> only;
    for (int i = 1; i < argc; ++i)
        if (std::string(argv[i]) == "--update") update = true;
        else only.push_back(argv[i]);
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator("tests/cases/pipeline"))
        if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    int failed = 0, ran = 0;
    for (const std::string& path : paths) {
        if (!only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string& o) { return path.find(o) != std::string::npos; })) continue;
        ++ran;
        CaseFile c = CaseFile::read(path);
        bool bad = false;
        try {
            const std::string* source = c.find("source");
            if (!source) throw std::runtime_error("no source section");
            const std::string* options = c.find("options");
            std::unique_ptr<PipelineRun> run = run_pipeline(*source, options ? read_options(*options) : RunOptions{});
            if (!has_section(c, "diagnostics")) c.sections.push_back({"diagnostics", "(none)\n"});
            if (run->generated)
                if (std::string wrong = read_back(*run); !wrong.empty()) throw std::runtime_error("the generated text " + wrong);
            for (CaseFile::Section& s : c.sections) {
                if (s.name == "source" || s.name == "options") continue;
                const std::string now = actual(s.name, *run);
                if (now == s.text) continue;
                bad = true;
                if (!update) std::cout << path << ": " << s.name << "\n--- expected\n" << s.text << "--- actual\n" << now;
                s.text = now;
            }
        } catch (const std::exception& e) {
            std::cout << path << ": " << e.what() << "\n";
            ++failed;
            continue;
        }
        if (!bad) continue;
        if (update) {
            c.write();
            std::cout << "updated " << path << "\n";
        } else {
            ++failed;
        }
    }
    std::cout << ran << " cases, " << failed << " failed\n";
    return failed == 0 && ran > 0 ? 0 : 1;
}
