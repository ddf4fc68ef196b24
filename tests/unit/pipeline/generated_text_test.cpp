/// The generated text against the user's: untouched lines, the way back, running alone.

#include "tests/support/case_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pipeline_run.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace pto;
using namespace pto::test;

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::vector<std::string> sources() {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator("tests/cases/pipeline"))
        if (entry.path().extension() == ".case") out.push_back(*CaseFile::read(entry.path().string()).find("source"));
    std::sort(out.begin(), out.end());
    return out;
}

std::string example() {
    std::ifstream in("share/xpto/examples/relu_matmul.py");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("every line of the kernel that carries no rewritten call is in the generated text, in order") {
    std::size_t kernels = 0;
    for (const std::string& source : sources()) {
        std::unique_ptr<PipelineRun> run = run_pipeline(source);
        if (!run->generated || !run->model->folded.empty()) continue;
        ++kernels;
        const syntax::Function& f = *run->kernel.function;
        const std::string text = run->sources.file(f.at.file).text.substr(std::size_t(f.at.begin), std::size_t(f.at.end - f.at.begin));
        std::set<std::string> rewritten; // lines of stage calls and outer picks, and the decorator
        auto mark = [&](const Span& at) {
            for (std::int32_t line = run->sources.begin(at).line; line <= run->sources.end(at).line; ++line) rewritten.insert(std::string(run->sources.line_text(at.file, line)));
        };
        for (const pipeline::Loop& l : run->model->loops) {
            for (const pipeline::Stage& s : l.stages) mark(s.statement);
            for (const pipeline::OuterPick& p : l.picks) mark(p.at);
        }
        mark(run->kernel.options.pipeline_at);
        const std::vector<std::string> generated = lines(run->generated->text);
        auto at = generated.begin();
        for (const std::string& line : lines(text)) {
            if (rewritten.count(line)) continue;
            at = std::find(at, generated.end(), line);
            CAPTURE(line);
            REQUIRE(at != generated.end());
            ++at;
        }
    }
    CHECK(kernels >= 40);
}

TEST_CASE("segments cover the text, and copied bytes are the user's bytes") {
    std::unique_ptr<PipelineRun> run = run_pipeline(example());
    REQUIRE(run->generated);
    const rewrite::Generated& g = *run->generated;
    std::int32_t at = 0;
    for (const rewrite::Segment& s : g.segments) {
        CHECK(s.begin == at);
        at = s.end;
        if (s.verbatim) CHECK(run->sources.text(s.origin) == std::string_view(g.text).substr(std::size_t(s.begin), std::size_t(s.end - s.begin)));
    }
    CHECK(at == std::int32_t(g.text.size()));
    // A copied operation leads to itself, a generated wait to the access it guards.
    const std::size_t relu = g.text.find("pl.relu(relu_slot, mm1_slot)");
    REQUIRE(relu != std::string::npos);
    CHECK(run->sources.text(g.origin(std::int32_t(relu), std::int32_t(relu) + 28)) == "pl.relu(relu_slot, mm1_slot)");
    const std::size_t wait = g.text.find("pl.system.wait_cross_core(pipe=pl.PipeType.V");
    REQUIRE(wait != std::string::npos);
    CHECK(run->sources.text(g.origin(std::int32_t(wait), std::int32_t(wait) + 4)) == "pl.relu(relu_slot, mm1_slot)");
    // The rewritten argument of a delayed call leads to the user's argument.
    const std::size_t argument = g.text.find("_pl_ctx_neg3.ki");
    REQUIRE(argument != std::string::npos);
    CHECK(run->sources.text(g.origin(std::int32_t(argument), std::int32_t(argument) + 4)) == "ki");
}

TEST_CASE("the generated text reads back without anything around it, and the same text comes out again") {
    for (std::int64_t preload : {0, 1, 2}) {
        RunOptions options;
        options.preload = std::vector<std::int64_t>{preload};
        std::unique_ptr<PipelineRun> run = run_pipeline(example(), options), twice = run_pipeline(example(), options);
        REQUIRE(run->generated);
        CHECK(run->generated->text == twice->generated->text);
        SourceMap sources; // python_tree.py executes the module: a missing name would end it
        std::unique_ptr<PythonFile> again = read_python(sources, "pipeline_generated.py", run->generated->text);
        CHECK_FALSE(again->kernel().options.has_pipeline);
        CHECK(rewrite::unchanged(sources, again->file).text == run->generated->text);
        for (const char* name : {"stage1", "stage2", "stage3", "stage4", "relu_matmul"}) CHECK(again->functions.count(name) == 1);
    }
}

TEST_CASE("names of two scopes that mean different things are kept apart") {
    // Two files, one spelling: the helper sees 7, the kernel's stage sees 64.
    struct Two : syntax::Environment {
        PythonFile *here, *there;
        std::optional<syntax::Constant> look_up(syntax::ScopeId scope, const std::string& name) override {
            if (scope.index == 1) return there->look_up({0}, name);
            std::optional<syntax::Constant> c = here->look_up({0}, name);
            if (!c && name == "shift") {
                c = there->look_up({0}, name);
                if (c) std::get<syntax::FunctionRef>(c->value).scope = {1};
            }
            return c;
        }
        std::optional<syntax::Constant> member(syntax::ScopeId, const std::string& dotted) override { return here->member({0}, dotted); }
        std::optional<syntax::Constant> evaluate(syntax::ScopeId, const std::string&, const std::map<std::string, syntax::Constant>&, std::string&) override { return std::nullopt; }
    } names;
    SourceMap sources;
    std::string text = example();
    text.replace(text.find("[ki * TILE, 0]"), 14, "[shift(ki), 0]");
    auto here = read_python(sources, "cell.py", text);
    auto there = read_python(sources, "other.py", "TILE = 7\n\n\ndef shift(k):\n    return k * TILE\n");
    names.here = here.get(), names.there = there.get();
    const syntax::KernelSource kernel = here->kernel();
    Result<pipeline::Model> model = pipeline::analyse(kernel, names, guess_facts(kernel, *here), pipeline::options_of(kernel.options));
    REQUIRE(model);
    Result<schedule::Schedule> s = schedule::plan_schedule(*model);
    Result<sync::SyncPlan> plan = sync::plan_sync(*model, *s);
    REQUIRE(plan);
    Result<rewrite::Generated> g = rewrite::rewrite(sources, names, *model, *s, *plan);
    REQUIRE(g);
    CHECK(g->text.find("return k * TILE_2\n") != std::string::npos);
    CHECK(g->text.find("TILE_2 = 7  # other.py:1") != std::string::npos);
    CHECK(g->text.find("TILE = 64") != std::string::npos);
}

TEST_CASE("a text without an end of line at its end") {
    std::string text = example();
    text = text.substr(0, text.find("\n\nif __name__"));
    while (text.back() == '\n') text.pop_back();
    std::unique_ptr<PipelineRun> run = run_pipeline(text);
    REQUIRE(run->generated);
    CHECK(run->generated->text.find("stage4(_pl_ctx_neg3.ki, _pl_ctx_neg3.sub, out, y)\n") != std::string::npos);
    CHECK(run->generated->text.back() == '\n');
}

TEST_CASE("columns are right behind Chinese text") {
    std::string text = example();
    const std::string line = "    for ki in pl.range(TASKS):";
    text.replace(text.find(line), line.size(), "    标记 = 1  # 每个任务\n" + line);
    text.replace(text.find("stage2(sub, mm1, relu, nz, p)\n"), 30, "pl.load(p, \"中文\", 标记); stage2(sub, mm1, relu, nz, p)\n");
    std::unique_ptr<PipelineRun> run = run_pipeline(text);
    REQUIRE_FALSE(run->generated);
    CHECK(run->diagnostics.front().code == Code::extra_in_section);
    CHECK(run->sources.text(run->diagnostics.front().at) == "pl.load(p, \"中文\", 标记)");
    CHECK(run->sources.end(run->diagnostics.front().at).column == 33);
}
