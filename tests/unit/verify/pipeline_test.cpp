#include "engine/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/relu_matmul.hpp"

using namespace pto;
using namespace pto::testing;
using verify::HazardKind;
using verify::Status;

namespace {

machine::Chip chip() {
    machine::Chip c;
    c.arch = "a5";
    return c;
}
verify::Verdict judge(const ReluMatmulSpec& spec) { return verify::verify(program::assemble(ReluMatmul(spec).kernel(), chip()), chip()); }
bool has(const verify::Verdict& v, HazardKind kind) {
    for (const auto& h : v.hazards)
        if (h.kind == kind && h.is_error) return true;
    return false;
}

} // namespace

TEST_CASE("the four-stage example is proven for every number of tasks at preloads 0, 1, 2") {
    for (std::int32_t preload : {0, 1, 2}) {
        ReluMatmulSpec spec;
        spec.preload = preload;
        const auto v = judge(spec);
        INFO("preload " << preload << "\n" << verify::print(v));
        CHECK(v.status == Status::proven);
        CHECK(v.hazards.empty());
        CHECK(v.ids.size() == 12);
        for (const auto& id : v.ids) CHECK(id.max_pending <= 1);
    }
}

TEST_CASE("constant trip counts are proven by their own run") {
    for (std::int64_t trips : {0, 1, 3, 4, 9}) {
        ReluMatmulSpec spec;
        spec.trips = trips;
        const auto v = judge(spec);
        INFO("trips " << trips << "\n" << verify::print(v));
        CHECK(v.status == Status::proven);
        CHECK(v.hazards.empty());
    }
}

TEST_CASE("a missing direction races, with a witness") {
    ReluMatmulSpec spec;
    spec.y.bwd.clear();
    const auto v = judge(spec);
    INFO(verify::print(v));
    CHECK(v.status == Status::refused);
    REQUIRE(has(v, HazardKind::race));
    const auto& h = v.hazards.front();
    CHECK(h.message == "AIV0 MTE3 insert in q2 (task 2) writes y slot 0 (Mat, bytes 131072 to 146432) while AIC MTE1 move in q3 (task 0) may still be reading it");
    CHECK(h.missing == "completion of AIC MTE1 move in q3 (task 0) before the start of AIV0 MTE3 insert in q2 (task 2)");
    CHECK(h.tasks == 3);
    REQUIRE(h.witness.size() > 2);
    CHECK(h.witness.back() == "AIV0 MTE3 insert in q2 (task 2) starts now and writes y slot 0");
}

TEST_CASE("a middle channel of three slots with forward ids only is safe to preload 2 and races at 3") {
    for (std::int32_t preload : {1, 2, 3}) {
        ReluMatmulSpec spec;
        spec.preload = preload;
        spec.y = {3, {4, 5, 12}, {}};
        const auto v = judge(spec);
        INFO("preload " << preload << "\n" << verify::print(v));
        if (preload <= 2) CHECK(v.status == Status::proven);
        else {
            CHECK(v.status == Status::refused);
            REQUIRE(has(v, HazardKind::race));
            CHECK(v.hazards.front().first.operand == "y");
        }
    }
}

TEST_CASE("preload 3 needs a third slot in the middle") {
    ReluMatmulSpec spec;
    spec.preload = 3;
    spec.y = {3, {4, 5, 12}, {6, 7, 13}};
    INFO(verify::print(judge(spec)));
    CHECK(judge(spec).status == Status::proven);
}
