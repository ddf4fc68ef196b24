#include "tests/support/catch.hpp"

#include "engine/time/folds.hpp"
#include "tests/support/record_builder.hpp"
#include "tools/validate/programs.hpp"

#include <cmath>

using namespace pto;
using namespace pto::time;

// The worked examples of the hardware reference, 3.5, through the real rows of the chips. Tolerances are the deviations given there.

namespace {

double busy_us(const execute::Record& record, const Timeline& t, isa::Pipe pipe) {
    double sum = 0;
    for (const PipeUse& u : pipe_use(record, t))
        if (u.pipe == pipe) sum += t.us(u.busy);
    return sum / double(record.cores.size());
}
double off_percent(double predicted, double measured) { return 100 * std::abs(predicted - measured) / measured; }

} // namespace

TEST_CASE("example 1: fp16 GEMM 7680^3 on A3 is bound by its loads", "[time]") {
    const machine::Chip& chip = *machine::find_chip("a3");
    execute::Record record = validate::gemm({.m = 7680, .n = 7680, .k = 7680, .cores = 24, .grid_m = 4, .grid_n = 6}, chip);
    Timeline t = replay(record, chip, {.keep_waits = false});
    REQUIRE(t.complete());
    CHECK(off_percent(busy_us(record, t, isa::Pipe::m), 2553) < 0.5);
    CHECK(off_percent(busy_us(record, t, isa::Pipe::mte1), 1996) < 9);
    CHECK(off_percent(busy_us(record, t, isa::Pipe::mte2), 3117) < 6);
    CHECK(off_percent(t.us(t.total + t.launch), 3168) < 6);
    CHECK(bound(record, t).pipe == isa::Pipe::mte2);
    // Each byte of A and B comes from HBM once: the rest is found in L2.
    CHECK(off_percent(double(t.hbm_read), 2.0 * 7680 * 7680 * 2) < 1);
}

TEST_CASE("example 2: fp16 GEMM 8192^3 on 950PR is bound by its matmuls", "[time]") {
    const machine::Chip& chip = *machine::find_chip("a5");
    execute::Record record = validate::gemm({.m = 8192, .n = 8192, .k = 8192, .base_m = 256, .cores = 32, .grid_m = 4, .grid_n = 8}, chip);
    Timeline t = replay(record, chip, {.keep_waits = false});
    REQUIRE(t.complete());
    CHECK(off_percent(busy_us(record, t, isa::Pipe::m), 2547) < 0.5);
    CHECK(off_percent(busy_us(record, t, isa::Pipe::mte1), 834) < 7);
    CHECK(off_percent(t.us(t.total + t.launch), 2591.4) < 1.5);
    CHECK(bound(record, t).pipe == isa::Pipe::m);
}

TEST_CASE("example 3: an fp16 add whose sources share a bank group", "[time]") {
    const machine::Chip& chip = *machine::find_chip("a2");
    support::RecordBuilder b;
    b.core(isa::Core::vector);
    // 16384 elements a call, 128 repeats; 85 calls and a third of one.
    for (int call = 0; call < 85; ++call) {
        execute::Row& r = b.vector("vector.add", 16384 * 2, isa::DType::fp16);
        r.ub[0] = 0;
        r.ub[1] = 0x8000 / 32;
        r.ub[2] = 0x10000 / 32;
    }
    execute::Row& rest = b.vector("vector.add", 16384 * 2 / 3 / 256 * 256, isa::DType::fp16);
    rest.ub[0] = 0;
    rest.ub[1] = 0x8000 / 32;
    rest.ub[2] = 0x10000 / 32;
    Timeline t = replay(b.record, chip);
    double us = 0;
    for (const PipeUse& u : pipe_use(b.record, t)) us += t.us(u.busy);
    CHECK(off_percent(us, 12.846) < 0.5);
}
