/// Tables of the reference and laws that hold for every schedule, without text.

#include "engine/schedule/plan_schedule.hpp"
#include "engine/ir/pipeline_facts.hpp"
#include "tests/support/catch.hpp"

using namespace pto;

TEST_CASE("delays are the table of the reference") {
    using V = std::vector<std::int32_t>;
    CHECK(schedule::delays(1, 3) == V{0});
    CHECK(schedule::delays(2, 4) == V{0, 1});
    CHECK(schedule::delays(3, 1) == V{0, 1, 1});
    CHECK(schedule::delays(3, 4) == V{0, 1, 4});
    CHECK(schedule::delays(4, 0) == V{0, 0, 0, 0});
    CHECK(schedule::delays(4, 1) == V{0, 1, 1, 2});
    CHECK(schedule::delays(4, 2) == V{0, 1, 2, 3});
    CHECK(schedule::delays(4, 3) == V{0, 1, 3, 4});
    CHECK(schedule::delays(5, 4) == V{0, 1, 4, 5, 8});
    CHECK(schedule::delays(6, 3) == V{0, 1, 3, 4, 6, 7});
}

TEST_CASE("ring depth follows the closed form") {
    for (std::int32_t n = 1; n <= 16; ++n)
        for (std::int32_t p = 1; p <= 6; ++p) {
            const schedule::LoopSchedule s = schedule::schedule_loop(n, p);
            const std::int32_t deepest = n == 1 ? 0 : n % 2 == 0 ? (n / 2 - 1) * p + 1 : (n - 1) / 2 * p;
            CAPTURE(n, p);
            CHECK(s.ring_depth == std::max(deepest, n > 1 ? 1 : 0) + 1);
            CHECK(s.drain_beats == s.ring_depth - 1);
            for (std::int32_t j = 0; j < n; ++j) CHECK(s.delays[std::size_t(j)] == j / 2 * p + j % 2);
        }
}

TEST_CASE("two probes join into one") {
    const FileId f{0};
    pipeline::Facts a, b;
    const Span one{f, 0, 1}, two{f, 2, 3}, three{f, 4, 5};
    a.if_const = {{one, true}, {two, std::nullopt}};
    b.if_const = {{one, false}, {two, true}, {three, false}};
    a.names["x"] = {};
    b.names["x"] = {pipeline::ValueKind::tensor, isa::DType::index};
    const pipeline::Facts joined = pipeline::merge(a, b);
    CHECK(joined.if_const.at(one) == std::nullopt); // two different constants are not constant
    CHECK(joined.if_const.at(two) == true);         // a verdict beats "unknown"
    CHECK(joined.if_const.at(three) == false);      // and "never met"
    CHECK(joined.names.at("x").kind == pipeline::ValueKind::tensor);
}
