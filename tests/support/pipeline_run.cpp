#include "tests/support/pipeline_run.hpp"

#include <algorithm>

namespace pto::test {

std::unique_ptr<PipelineRun> run_pipeline(const std::string& text, const RunOptions& options) {
    auto run = std::make_unique<PipelineRun>();
    run->python = read_python(run->sources, options.name, text);
    run->kernel = run->python->kernel();
    pipeline::AnalyseOptions analyse = pipeline::options_of(run->kernel.options);
    if (options.preload) analyse.preload = *options.preload, analyse.preload_is_sequence = options.preload_is_sequence;
    analyse.ops = options.ops;
    analyse.sources = &run->sources;
    const pipeline::Facts facts = guess_facts(run->kernel, *run->python);
    auto take = [&](auto& into, auto result) {
        run->diagnostics.insert(run->diagnostics.end(), result.diagnostics.begin(), result.diagnostics.end());
        into = std::move(result.value);
        return into.has_value() && (options.go_on || !has_errors(run->diagnostics));
    };
    sync::SyncLimits limits;
    limits.auto_mutex = analyse.auto_mutex;
    take(run->model, pipeline::analyse(run->kernel, *run->python, facts, analyse)) && take(run->schedule, schedule::plan_schedule(*run->model)) &&
        take(run->plan, sync::plan_sync(*run->model, *run->schedule, limits)) &&
        take(run->generated, rewrite::rewrite(run->sources, *run->python, *run->model, *run->schedule, *run->plan, {options.layout}));
    return run;
}

namespace {

std::string join(const std::vector<std::int32_t>& v, const char* separator) {
    std::string out;
    for (std::size_t i = 0; i < v.size(); ++i) out += (i ? separator : "") + std::to_string(v[i]);
    return out;
}

/// One part of sync::print, under a loop heading when there are several.
std::string part(const PipelineRun& run, const std::string& from) {
    if (!run.plan) return "(none)\n";
    std::string out;
    for (std::size_t l = 0; l < run.plan->loops.size(); ++l) {
        if (run.plan->loops.size() > 1) out += "loop " + std::to_string(l) + "\n";
        const std::string all = sync::print(*run.model, run.model->loops[l], run.plan->loops[l]);
        std::size_t at = all.find(from + "\n");
        at = all.find('\n', at) + 1;
        while (at < all.size() && all[at] == ' ') {
            std::size_t end = all.find('\n', at) + 1;
            out += all.substr(at + 2, end - at - 2);
            at = end;
        }
        if (from == "edges")
            for (const sync::DeclaredList& a : run.plan->loops[l].auto_ids) out += "auto " + a.name + " " + join(a.ids, ",") + "\n";
    }
    return out.empty() ? "(none)\n" : out;
}

} // namespace

std::string print_schedule(const PipelineRun& run) {
    if (!run.schedule) return "(none)\n";
    std::string out;
    for (std::size_t l = 0; l < run.schedule->loops.size(); ++l) {
        const schedule::LoopSchedule& s = run.schedule->loops[l];
        out += "loop " + std::to_string(l) + " preload " + std::to_string(s.preload) + " delays " + join(s.delays, " ") + " ring " + std::to_string(s.ring_depth) + " drain " + std::to_string(s.drain_beats) + "\n";
    }
    return out;
}
std::string print_edges(const PipelineRun& run) { return part(run, "edges"); }
std::string print_sites(const PipelineRun& run) { return part(run, "sites"); }
std::string print_permits(const PipelineRun& run, bool prefire) { return part(run, prefire ? "prefire" : "drain"); }

std::string print_diagnostics(const PipelineRun& run) {
    auto place = [&](const Span& at) {
        if (!at.valid()) return std::string("-");
        const Position b = run.sources.begin(at), e = run.sources.end(at);
        std::string text(run.sources.text(at));
        if (std::size_t line = text.find('\n'); line != std::string::npos) text = text.substr(0, line) + "...";
        return std::to_string(b.line) + ":" + std::to_string(b.column) + "-" + std::to_string(e.line) + ":" + std::to_string(e.column) + " [" + text + "]";
    };
    std::string out;
    for (const Diagnostic& d : run.diagnostics) {
        out += std::string(row(d.code).text) + (d.severity == Severity::error ? "" : d.severity == Severity::warning ? " warning" : " note") + " " + place(d.at) + "\n  " + d.message + "\n";
        for (const Label& l : d.labels) out += "  at " + place(l.at) + " " + l.message + "\n";
        if (d.fix) {
            out += "  fix " + d.fix->message + "\n";
            for (const Edit& e : d.fix->edits) {
                std::string r = e.replacement;
                for (std::size_t n; (n = r.find('\n')) != std::string::npos;) r.replace(n, 1, "\\n");
                out += "    " + place(e.at) + " -> [" + r + "]\n";
            }
        }
        for (const std::string& a : d.advice) out += "  or " + a + "\n";
    }
    return out.empty() ? "(none)\n" : out;
}

std::string apply_first_fix(const PipelineRun& run) {
    for (const Diagnostic& d : run.diagnostics) {
        if (!d.fix || d.fix->edits.empty()) continue;
        std::vector<Edit> edits = d.fix->edits;
        std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at.begin > b.at.begin; });
        std::string text = run.sources.file(edits.front().at.file).text;
        for (const Edit& e : edits) text.replace(std::size_t(e.at.begin), std::size_t(e.at.end - e.at.begin), e.replacement);
        return text;
    }
    return {};
}

} // namespace pto::test
