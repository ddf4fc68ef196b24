/// Times of the pipeline transform without the Python parser, and how they grow: 2 to 16 stages, 1 to 64 loops. Prints medians in
/// microseconds and the time per stage or loop against the smallest case; nothing here is asserted.

#include "tests/support/pipeline_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace pto;
using namespace pto::test;

namespace {

/// A chain of `stages` stages in each of `loops` loops, channels of three slots with one id a direction.
std::string chain(int stages, int loops) {
    std::string out = "import pypto_pro.language as pl\n";
    for (int i = 0; i < stages; ++i) {
        const bool cube = i % 2 == 0;
        out += "\n\n@pl.pipeline.stage\ndef s" + std::to_string(i) + "(i, src, dst, tmp):\n";
        if (i > 0) out += std::string("    s = src.next()\n    t = tmp.next()\n    pl.move(t, s)\n");
        if (i == 0) out += "    t = tmp.next()\n";
        if (i + 1 < stages) out += std::string("    d = dst.next()\n    pl.") + (cube ? "move(d, t)\n" : "insert(d, t, [0, 0])\n");
    }
    out += "\n\n@pl.jit(pipeline=pl.pipeline.PipelineConfig(preload=2))\ndef k(x: pl.Tensor[[64, 16], pl.DT_FP32]):\n";
    out += "    ub = pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)\n";
    out += "    l1 = pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat)\n";
    out += "    left = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[30])\n";
    out += "    acc = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[31])\n";
    out += "    tmp = pl.make_tile_group(type=ub, addrs=0x30000, mutex_ids=[29])\n";
    for (int i = 0; i + 1 < stages; ++i) // ids repeat by direction: 8 hand-overs set from each core at most
        out += "    c" + std::to_string(i) + " = pl.make_tile_group(type=" + (i % 2 ? "l1" : "ub") + ", addrs=" + std::to_string(i * 0xC00) + ", mutex_ids=[" + std::to_string(i % 9 * 3) + ", " + std::to_string(i % 9 * 3 + 1) + ", " +
               std::to_string(i % 9 * 3 + 2) + "], fwd_ids=[" + std::to_string(i / 2) + "], bwd_ids=[" + std::to_string(8 + i / 2) + "])\n";
    for (int l = 0; l < loops; ++l) {
        if (l > 0) out += "    pl.system.sync_all()\n";
        out += "    for i in pl.range(0, 8):\n";
        for (int i = 0; i < stages; ++i)
            out += std::string("        with pl.section_") + (i % 2 == 0 ? "cube" : "vector") + "():\n            s" + std::to_string(i) + "(i, " + (i ? "c" + std::to_string(i - 1) : "x") + ", " +
                   (i + 1 < stages ? "c" + std::to_string(i) : "x") + ", " + (i % 2 ? "tmp" : i ? "left" : "acc") + ")\n";
    }
    return out;
}

struct Times {
    double analyse = 0, plan = 0, rewrite = 0, all = 0;
    bool accepted = false;
};

Times measure(const std::string& text, int rounds) {
    SourceMap sources;
    std::unique_ptr<PythonFile> file = read_python(sources, "bench.py", text);
    const syntax::KernelSource kernel = file->kernel();
    const pipeline::Facts facts = guess_facts(kernel, *file);
    const pipeline::AnalyseOptions options = pipeline::options_of(kernel.options);
    std::vector<std::array<double, 4>> samples;
    Times t;
    for (int r = 0; r < rounds; ++r) {
        using clock = std::chrono::steady_clock;
        const auto a = clock::now();
        Result<pipeline::Model> model = pipeline::analyse(kernel, *file, facts, options);
        const auto b = clock::now();
        if (!model) {
            std::printf("  refused: %s\n", model.diagnostics.front().message.c_str());
            return t;
        }
        Result<schedule::Schedule> s = schedule::plan_schedule(*model);
        Result<sync::SyncPlan> plan = sync::plan_sync(*model, *s);
        const auto c = clock::now();
        if (!plan) {
            std::printf("  refused: %s\n", plan.diagnostics.front().message.c_str());
            return t;
        }
        Result<rewrite::Generated> g = rewrite::rewrite(sources, *file, *model, *s, *plan);
        const auto d = clock::now();
        t.accepted = g && !has_errors(plan.diagnostics);
        auto us = [](auto x, auto y) { return std::chrono::duration<double, std::micro>(y - x).count(); };
        samples.push_back({us(a, b), us(b, c), us(c, d), us(a, d)});
    }
    auto median = [&](int k) {
        std::vector<double> v;
        for (const auto& s : samples) v.push_back(s[std::size_t(k)]);
        std::nth_element(v.begin(), v.begin() + std::ptrdiff_t(v.size() / 2), v.end());
        return v[v.size() / 2];
    };
    t.analyse = median(0), t.plan = median(1), t.rewrite = median(2), t.all = median(3);
    return t;
}

void print(const std::string& what, int n, const Times& t, double& first) {
    if (first == 0) first = t.all / n;
    std::printf("%-24s analyse %8.0f  plan %8.0f  rewrite %8.0f  all %8.0f us   each %7.1f us  x%.2f%s\n", what.c_str(), t.analyse, t.plan, t.rewrite, t.all, t.all / n, t.all / n / first,
                t.accepted ? "" : "  (refused)");
}

} // namespace

int main() {
    std::ifstream in("share/xpto/examples/relu_matmul.py");
    std::ostringstream text;
    text << in.rdbuf();
    double first = 0;
    print("relu_matmul.py", 1, measure(text.str(), 101), first);
    first = 0;
    for (int stages : {2, 4, 8, 16}) print(std::to_string(stages) + " stages", stages, measure(chain(stages, 1), 51), first);
    first = 0;
    for (int loops : {1, 4, 16, 64}) print(std::to_string(loops) + " loops of 4 stages", loops, measure(chain(4, loops), 21), first);
}
