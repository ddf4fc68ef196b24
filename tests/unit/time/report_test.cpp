#include "tests/support/catch.hpp"

#include "engine/report/from_time.hpp"
#include "tests/support/record_builder.hpp"
#include "tests/unit/time/test_chip.hpp"

using namespace pto;
using isa::Core;
using isa::Pipe;
using support::RecordBuilder;

namespace {

/// Cube stage, vector stage, two slots, `tasks` tasks: 100 cycles each, 30 cycles between the cores.
execute::Record two_stages(int tasks) {
    RecordBuilder b("pair");
    b.core(Core::cube);
    for (int task = 0; task < tasks; ++task) {
        b.no_stage();
        if (task >= 2) b.cross_wait(Pipe::m, 2 + task % 2);
        b.stage("produce", task).matmul(16, 16, 16);
        b.no_stage();
        b.cross_set(Pipe::m, task % 2);
    }
    for (int v = 0; v < 2; ++v) {
        b.core(Core::vector, 0, v);
        for (int task = 0; task < tasks; ++task) {
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
