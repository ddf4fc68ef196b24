#include "tests/support/catch.hpp"

#include "engine/time/folds.hpp"
#include "tests/support/record_builder.hpp"
#include "tests/unit/time/test_chip.hpp"

#include <cstdint>

using namespace pto;
using namespace pto::time;
using isa::Core;
using isa::Pipe;
using support::RecordBuilder;

// Laws of any lawful record on any chip, over random programs.

namespace {

/// A small generator of its own: the standard distributions differ between libraries.
struct Random {
    std::uint64_t state;
    int below(int n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return int((state >> 33) % std::uint64_t(n));
    }
};

/// A block of one cube and two vector cores that hand tiles over and back, with in-core flags, locks and barriers strewn in.
execute::Record random_record(std::uint64_t seed) {
    Random random{seed};
    int tasks = 1 + random.below(12), slots = 1 + random.below(3), blocks = 1 + random.below(3);
    RecordBuilder b;
    for (int block = 0; block < blocks; ++block) {
        b.core(Core::cube, block);
        for (int task = 0; task < tasks; ++task) {
            b.no_stage();
            if (task >= slots) b.cross_wait(Pipe::fix, 4 + task % slots);
            b.stage("cube", task);
            b.locks({task % 2}).load(true, std::int64_t(block) << 20 | random.below(64) * 1024, 512 + random.below(4) * 512, 256, 2048).scalar_before = random.below(20);
            b.locks({task % 2}).move(Pipe::mte1, "path.mat_left", 1024).scalar_before = random.below(5);
            b.set(Pipe::mte1, Pipe::m, task % 4);
            b.wait(Pipe::mte1, Pipe::m, task % 4);
            b.matmul(16 * (1 + random.below(4)), 32, 64);
            if (random.below(3) == 0) b.barrier(Pipe::m);
            b.set(Pipe::m, Pipe::fix, 1);
            b.wait(Pipe::m, Pipe::fix, 1);
            execute::Row& out = b.op(Pipe::fix, "path.acc_vec_dual");
            out.m = 32;
            out.n = 32;
            out.bytes = 4096;
            b.no_stage();
            b.cross_set(Pipe::fix, task % slots);
        }
        for (int v = 0; v < 2; ++v) {
            b.core(Core::vector, block, v);
            for (int task = 0; task < tasks; ++task) {
                b.no_stage();
                b.cross_wait(Pipe::v, task % slots);
                b.stage("vector", task);
                b.locks({5}).vector("vector.special", 2048 + random.below(4) * 1024);
                b.no_stage();
                b.cross_set(Pipe::v, 4 + task % slots);
                b.stage("vector", task);
                b.locks({5}).store((std::int64_t(1) << 30) + random.below(64) * 2048, 2048);
                if (random.below(4) == 0) b.barrier(Pipe::all);
            }
        }
    }
    return std::move(b.record);
}

} // namespace

TEST_CASE("laws of time hold on random programs", "[time]") {
    for (const char* name : {"ascend950pr", "ascend950pr-28"})
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            INFO(name << " seed " << seed);
            const machine::Chip& chip = *machine::find_chip(name);
            execute::Record record = random_record(seed);
            Timeline t = replay(record, chip);
            REQUIRE(t.complete());
            for (std::size_t c = 0; c < record.cores.size(); ++c) {
                const CoreTimes& times = t.cores[c];
                Ticks free[8] = {};
                for (std::size_t i = 0; i < record.cores[c].rows.size(); ++i) {
                    const execute::Row& r = record.cores[c].rows[i];
                    // Every row ran, forwards, in the order of its pipe, inside the core's life.
                    CHECK(times.start[i] >= times.begin);
                    CHECK(times.end[i] >= times.start[i]);
                    CHECK(times.start[i] >= free[int(r.pipe)]);
                    CHECK(times.end[i] + Ticks(times.tail[i]) <= times.finish);
                    free[int(r.pipe)] = times.end[i];
                    // A cause lies before its effect.
                    if (times.cause[i] >= 0) {
                        RowRef cause = t.ref(times.cause[i]);
                        CHECK(t.cores[std::size_t(cause.core)].start[std::size_t(cause.row)] <= times.end[i]);
                    }
                }
                for (const Wait& w : times.waits) {
                    CHECK(w.end > w.start);
                    CHECK(w.paid >= 0);
                    CHECK(w.paid <= w.end - w.start);
                    // No wait ends before what it waits for was done.
                    if (w.setter.valid()) CHECK(w.end >= t.cores[std::size_t(w.setter.core)].end[std::size_t(w.setter.row)]);
                }
            }
            // Busy, waiting and idle time of a pipe fit into the total.
            for (const PipeUse& u : pipe_use(record, t)) {
                CHECK(u.busy > 0);
                CHECK(u.busy + u.paid + u.free + u.in_core <= t.total);
                CHECK(u.landed <= t.total);
            }
            std::vector<RowRef> path = critical_path(record, t);
            REQUIRE_FALSE(path.empty());
            for (std::size_t i = 1; i < path.size(); ++i)
                CHECK(t.cores[std::size_t(path[i - 1].core)].start[std::size_t(path[i - 1].row)] <= t.cores[std::size_t(path[i].core)].end[std::size_t(path[i].row)]);
            // The same input gives the same ticks.
            Timeline again = replay(record, chip);
            CHECK(again.total == t.total);
            for (std::size_t c = 0; c < record.cores.size(); ++c) CHECK(again.cores[c].start == t.cores[c].start);
        }
}

TEST_CASE("more cost never makes it faster without shared memory", "[time]") {
    // Max-plus without contention is monotone: with a memory system that serves at once, slowing anything down cannot help.
    machine::Chip chip = round_chip();
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        execute::Record record = random_record(seed);
        Ticks total = replay(record, chip).total;
        for (const char* key : {"cube", "vector.special", "path.acc_vec_dual"}) {
            ReplayOptions slower;
            slower.changes = {{.timing = key, .percent = 130}};
            INFO(seed << " " << key);
            CHECK(replay(record, chip, slower).total >= total);
        }
    }
}

TEST_CASE("the pace of a long pipeline is its busiest pipe", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    for (int task = 0; task < 50; ++task) {
        b.stage("only", task);
        b.locks({task % 8}).load(false, task * 4096, 500);
        b.locks({task % 8}).vector("vector.add", 256);
        b.locks({task % 8}).store((1 << 24) + task * 4096, 800);
    }
    Timeline t = replay(b.record, round_chip());
    Pace p = pace(b.record, t, 0);
    CHECK(p.tasks == 50);
    CHECK(p.steady == 100 * ticks_per_cycle);
    CHECK(p.spread_percent == 0);
    CHECK(p.floor == 100 * ticks_per_cycle);
    CHECK(p.floor_pipe == Pipe::v);
    Bound bd = bound(b.record, t);
    CHECK(bd.pipe == Pipe::v);
    CHECK(bd.stage == "only");
    CHECK(bd.operation == "vector.add");
    std::vector<WhatIf> answers = what_if(b.record, round_chip(), t);
    REQUIRE(answers.size() == 3);
    bool found = false;
    for (const WhatIf& w : answers)
        if (w.change.name == "vector.add") {
            found = true;
            CHECK(w.percent < -15);
        }
    CHECK(found);
}

TEST_CASE("a short pipeline has no steady pace", "[time]") {
    execute::Record record = random_record(3);
    CHECK(pace(record, replay(record, *machine::find_chip("a5")), 7).steady == -1);
}
