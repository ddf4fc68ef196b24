/// How fast a record is replayed: rows a second and core, the cost of ten times as many tasks, the memory of a run of ten million rows.
///   replay_bench [--long]
#include "engine/report/from_time.hpp"
#include "tests/support/record_builder.hpp"

#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <ctime>

using namespace pto;
using isa::Core;
using isa::Pipe;

namespace {

/// Of this process: the machine may have other work.
double seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

/// A pipeline as the compiler makes it: load, move, matmul and hand-over on the cube; vector work and a store on two vector cores; two slots.
execute::Record pipeline(int tasks) {
    support::RecordBuilder b("bench");
    b.record.cores.reserve(3); // a deque is copied when its vector grows
    b.core(Core::cube);
    for (int s = 0; s < 2; ++s) b.set(Pipe::mte1, Pipe::mte2, s), b.set(Pipe::m, Pipe::mte1, s), b.set(Pipe::fix, Pipe::m, s);
    for (int t = 0; t < tasks; ++t) {
        const int s = t % 2;
        b.no_stage();
        b.wait(Pipe::mte1, Pipe::mte2, s);
        b.stage("multiply", t).load(true, std::int64_t(t % 4096) * 16384, 16384);
        b.no_stage();
        b.set(Pipe::mte2, Pipe::mte1, s);
        b.wait(Pipe::mte2, Pipe::mte1, s);
        b.wait(Pipe::m, Pipe::mte1, s);
        b.stage("multiply", t).move(Pipe::mte1, "path.mat_left", 16384);
        b.move(Pipe::mte1, "path.mat_right", 16384);
        b.no_stage();
        b.set(Pipe::mte1, Pipe::mte2, s);
        b.set(Pipe::mte1, Pipe::m, s);
        b.wait(Pipe::mte1, Pipe::m, s);
        b.wait(Pipe::fix, Pipe::m, s);
        b.stage("multiply", t).matmul(128, 64, 64);
        b.no_stage();
        b.set(Pipe::m, Pipe::mte1, s);
        b.set(Pipe::m, Pipe::fix, s);
        b.wait(Pipe::m, Pipe::fix, s);
        if (t >= 2) b.cross_wait(Pipe::fix, 2 + s);
        b.stage("multiply", t).move(Pipe::fix, "path.acc_vec_dual", 32768);
        b.no_stage();
        b.set(Pipe::fix, Pipe::m, s);
        b.cross_set(Pipe::fix, s);
    }
    for (int v = 0; v < 2; ++v) {
        b.core(Core::vector, 0, v);
        for (int s = 0; s < 2; ++s) b.set(Pipe::mte3, Pipe::v, s);
        for (int t = 0; t < tasks; ++t) {
            const int s = t % 2;
            b.no_stage();
            b.cross_wait(Pipe::v, s);
            b.wait(Pipe::mte3, Pipe::v, s);
            b.stage("finish", t).vector("vector.add", 16384);
            b.vector("vector.special", 16384);
            b.no_stage();
            b.cross_set(Pipe::v, 2 + s);
            b.set(Pipe::v, Pipe::mte3, s);
            b.wait(Pipe::v, Pipe::mte3, s);
            b.stage("finish", t).store((std::int64_t(1) << 30) + std::int64_t(2 * (t % 4096) + v) * 8192, 8192);
            b.no_stage();
            b.set(Pipe::mte3, Pipe::v, s);
        }
    }
    return std::move(b.record);
}

std::int64_t rows_of(const execute::Record& r) {
    std::int64_t n = 0;
    for (const execute::CoreRecord& c : r.cores) n += std::int64_t(c.rows.size());
    return n;
}

} // namespace

int main(int argc, char** argv) {
    const machine::Chip& chip = *machine::find_chip("ascend950");
    if (argc > 1 && !std::strcmp(argv[1], "--long")) {
        execute::Record record = pipeline(270500);
        double before = peak_mib(), begin = seconds();
        time::Timeline t = time::replay(record, chip);
        double replayed = seconds();
        report::FromTime options;
        report::Timeline drawn = report::report_timeline(record, t, chip, options);
        std::size_t slices = 0;
        for (const report::Lane& lane : drawn.lanes) slices += lane.slices.size();
        std::printf("{\"rows\": %lld, \"record_mib\": %.0f, \"peak_mib\": %.0f, \"replay_s\": %.2f, \"report_s\": %.2f, \"slices\": %zu, \"laws\": %zu}\n", (long long)rows_of(record), before,
                    peak_mib(), replayed - begin, seconds() - replayed, slices, report::inconsistencies(drawn).size());
        return 0;
    }
    double each[2] = {0, 0}, rate = 0; // the first replay of a process pays for its memory: the best of several counts
    const int tasks[2] = {10000, 100000};
    for (int i = 0; i < 2; ++i) {
        execute::Record record = pipeline(tasks[i]);
        double best = 1e9;
        for (int run = 0; run < 4; ++run) {
            double begin = seconds();
            time::Timeline t = time::replay(record, chip);
            best = std::min(best, seconds() - begin);
            if (!t.complete()) return 1;
        }
        each[i] = best / tasks[i];
        rate = double(rows_of(record)) / best;
    }
    std::printf("{\"tasks\": %d, \"rows_per_s\": %.0f, \"rows_per_s_and_core\": %.0f, \"cost_of_a_task_at_10x\": %.3f}\n", tasks[1], rate, rate / 3, each[1] / each[0]);
}
