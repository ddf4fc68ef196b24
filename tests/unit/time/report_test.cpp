#include "tests/support/catch.hpp"

#include "engine/report/from_time.hpp"
#include "tests/support/record_builder.hpp"
#include "tests/unit/time/test_chip.hpp"

#include <set>

using namespace pto;
using isa::Core;
using isa::Pipe;
using support::RecordBuilder;

namespace {

/// Cube stage, vector stage, two slots, `tasks` tasks in each of `loops` loops: 100 cycles each, 30 cycles between the cores.
execute::Record two_stages(int tasks, int loops = 1) {
    RecordBuilder b("pair");
    b.core(Core::cube);
    for (int n = 0; n < tasks * loops; ++n) {
        const int task = n % tasks;
        b.no_stage();
        if (n >= 2) b.cross_wait(Pipe::m, 2 + task % 2);
        b.stage("produce", task).matmul(16, 16, 16);
        b.no_stage();
        b.cross_set(Pipe::m, task % 2);
    }
    for (int v = 0; v < 2; ++v) {
        b.core(Core::vector, 0, v);
        for (int n = 0; n < tasks * loops; ++n) {
            const int task = n % tasks;
            b.no_stage();
            b.cross_wait(Pipe::v, task % 2);
            b.stage("consume", task).vector("vector.add", 256);
            b.no_stage();
            b.cross_set(Pipe::v, 2 + task % 2);
        }
    }
    return std::move(b.record);
}

} // namespace

TEST_CASE("loops that call the same stages count their tasks on", "[time][report]") {
    machine::Chip chip = time::round_chip();
    const execute::Record once = two_stages(4), twice = two_stages(4, 2);
    report::Timeline one = report::report_timeline(once, time::replay(once, chip), chip, {}), two = report::report_timeline(twice, time::replay(twice, chip), chip, {});
    CHECK(report::inconsistencies(two).empty());
    CHECK(one.tasks == 4);
    CHECK(two.tasks == 8);
    REQUIRE(two.stages.size() == 2);
    for (std::size_t s = 0; s < 2; ++s) {
        CHECK(two.stages[s].tasks == 8);
        CHECK(two.stages[s].compute == one.stages[s].compute); // one task's work, not two loops' tasks of one number
        CHECK(two.stages[s].span < 2 * one.stages[s].span);
    }
    std::set<std::int32_t> seen;
    for (const report::Slice& x : two.lanes.front().slices) seen.insert(x.task);
    CHECK(seen.size() == 8);
}

TEST_CASE("a replay becomes the timeline that views draw", "[time][report]") {
    machine::Chip chip = time::round_chip();
    execute::Record record = two_stages(8);
    time::Timeline times = time::replay(record, chip);
    report::SyncPlan plan{report::Provenance("nothing was run", "", {})};
    report::PlanLoop loop;
    report::IdUse ready;
    ready.id = 0;
    ready.buffer = "mm1";
    ready.setter = "produce";
    loop.ids.push_back(ready);
    plan.loops.push_back(loop);
    report::FromTime options;
    options.plan = &plan;
    options.preload = "1";
    report::Timeline t = report::report_timeline(record, times, chip, options);

    CHECK(report::inconsistencies(t).empty());
    CHECK(t.kernel == "pair");
    CHECK(t.total == times.total);
    CHECK(t.tasks == 8);
    REQUIRE(t.stages.size() == 2);
    CHECK(t.stages[0].name == "produce");
    CHECK(t.stages[0].core == Core::cube);
    CHECK(t.stages[0].tasks == 8);
    CHECK(t.stages[0].compute == 100 * report::ticks_per_cycle);
    CHECK(t.stages[1].compute == 100 * report::ticks_per_cycle);
    REQUIRE(t.lanes.size() == 2);
    CHECK(t.lanes[0].core == "AIC");
    CHECK(t.lanes[0].pipe == "M");
    CHECK(t.lanes[1].core == "AIV0");
    CHECK(t.folded == "AIV1 the same");
    CHECK(t.lanes[1].slices.size() == 8);
    // The first wait of a stage is fill; it is drawn and names who ended it.
    REQUIRE_FALSE(t.lanes[1].waits.empty());
    const report::Wait& first = t.lanes[1].waits[0];
    CHECK(first.fill);
    CHECK(first.stage == 1);
    CHECK(first.for_stage == 0);
    CHECK(first.for_task == 0);
    CHECK(first.buffer == "mm1");
    CHECK(first.end - first.start == 130 * report::ticks_per_cycle);
    CHECK_FALSE(t.critical.empty());
    report::Ticks critical = 0;
    for (const report::CriticalShare& c : t.critical_shares) critical += c.ticks;
    CHECK(critical == t.total);
    CHECK(t.bound.text == "cube side, produce, cube.fp16");
    REQUIRE(t.roofline.points.size() == 2);
    CHECK(t.roofline.points[0].side == "cube");
    CHECK(t.roofline.points[0].operations == 8 * 2 * 16 * 16 * 16);
    CHECK(t.roofline.points[0].achieved < t.roofline.points[0].peak);
    CHECK(t.provenance.estimated.size() == 1);
    CHECK(t.provenance.stated_percent + t.provenance.derived_percent + t.provenance.guessed_percent >= 99);
    REQUIRE(t.what_if.size() == 1);
    CHECK_FALSE(t.what_if[0].changes.empty());
    CHECK(report::status(t) == report::Status::predicted);
    CHECK(report::to_text(t).find("PREDICTED  pair") == 0);
}

TEST_CASE("the drawn block is the slowest one unless another is asked for", "[time][report]") {
    RecordBuilder b;
    b.core(Core::vector, 0).vector("vector.add", 256);
    b.core(Core::vector, 1).vector("vector.add", 256);
    b.vector("vector.add", 256);
    machine::Chip chip = time::round_chip();
    time::Timeline times = time::replay(b.record, chip);
    report::Timeline t = report::report_timeline(b.record, times, chip, {});
    CHECK(t.block == 1);
    CHECK(t.blocks == 2);
    REQUIRE(t.block_times.size() == 2);
    CHECK(t.block_times[0].total == 100 * report::ticks_per_cycle);
    report::FromTime options;
    options.block = 0;
    CHECK(report::report_timeline(b.record, times, chip, options).lanes.at(0).slices.size() == 1);
}

namespace {

/// The plan of two_stages(): ready and free hand-overs of a buffer with two slots, an id a slot.
report::SyncPlan pair_plan(int slots) {
    report::SyncPlan plan{report::Provenance("nothing was run", "", {})};
    report::PlanLoop loop;
    report::PlanStage produce, consume;
    produce.name = "produce";
    consume.name = "consume";
    consume.core = Core::vector;
    consume.delay = 1;
    loop.stages = {produce, consume};
    report::HandOver ready, free;
    ready.from = free.to = "produce";
    ready.to = free.from = "consume";
    ready.buffer = free.buffer = "mm1";
    ready.set_pipe = free.wait_pipe = "M";
    ready.wait_pipe = free.set_pipe = "V";
    ready.ids = {0, 1};
    free.direction = report::Direction::free;
    free.ids = {2, 3};
    free.task_offset = slots;
    loop.edges = {ready, free};
    plan.loops = {loop};
    return plan;
}

} // namespace

TEST_CASE("the period that the plan allows is the pace that the replay reaches", "[time][report]") {
    machine::Chip chip = time::round_chip();
    execute::Record record = two_stages(40);
    time::Timeline times = time::replay(record, chip);
    report::SyncPlan plan = pair_plan(2);
    report::FromTime options;
    options.plan = &plan;
    report::Timeline t = report::report_timeline(record, times, chip, options);
    // Two slots go round a ring of 100 + 30 + 100 + 30 cycles and the hand-overs' own cycles: 130 and a little a task.
    REQUIRE(t.plan_period.ticks > 0);
    CHECK(t.plan_period.tasks == 2);
    CHECK(t.plan_period.cycle.size() == 2);
    CHECK(t.plan_period.ticks == 130 * report::ticks_per_cycle);
    CHECK(t.steady >= t.plan_period.ticks);
    CHECK(double(t.steady) < 1.05 * double(t.plan_period.ticks));
    // One more slot takes the ring out of the way: then a pipe's 100 cycles decide.
    REQUIRE(t.what_if.size() == 1);
    const report::WhatIf& more = t.what_if[0].changes.back();
    CHECK(more.change == "3 slots of mm1");
    CHECK(more.percent < -15);
    plan.loops[0].edges[1].task_offset = 3;
    report::Timeline wide = report::report_timeline(record, times, chip, options);
    CHECK(wide.plan_period.ticks == 100 * report::ticks_per_cycle);
    CHECK(wide.plan_period.tasks == 1);
}

TEST_CASE("of a long run the ends are drawn and the totals are whole", "[time][report]") {
    machine::Chip chip = time::round_chip();
    execute::Record record = two_stages(400);
    time::Timeline times = time::replay(record, chip, {.most_waits = 50});
    report::FromTime options;
    report::Timeline whole = report::report_timeline(record, time::replay(record, chip), chip, options);
    options.most_rows = 200;
    report::Timeline ends = report::report_timeline(record, times, chip, options);
    CHECK(report::inconsistencies(ends).empty());
    REQUIRE(ends.lanes.size() == whole.lanes.size());
    for (std::size_t i = 0; i < ends.lanes.size(); ++i) {
        CHECK(ends.lanes[i].totals == whole.lanes[i].totals);
        CHECK(ends.lanes[i].slices.size() < 60);
        report::Ticks sum = 0;
        for (report::Ticks part : ends.lanes[i].overview) sum += part;
        CHECK(sum == ends.lanes[i].totals.busy);
    }
    CHECK(ends.left_out_from > 0);
    CHECK(ends.left_out_to > ends.left_out_from);
    CHECK(ends.tasks == 400);
    CHECK(ends.steady == whole.steady);
    CHECK(ends.what_if.empty());
    report::Ticks critical = 0;
    for (const report::CriticalShare& c : ends.critical_shares) critical += c.ticks;
    CHECK(critical == ends.total);
    CHECK_FALSE(ends.note.empty());
}
