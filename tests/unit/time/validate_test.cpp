#include "tests/support/catch.hpp"

#include "tools/validate/predict.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace pto::validate;
using Json = nlohmann::json;

namespace {

/// The prediction of one published row, launch excluded.
Predicted prediction(const std::string& id) {
    static const Json data = [] {
        std::ifstream file("tests/data/measurements.json");
        return Json::parse(file);
    }();
    for (const Json& row : data["rows"]) {
        if (row["id"] != id) continue;
        Measured m{id, row["table"], row["chip"], row["kernel"], row.value("measured_us", -1.0), row.value("measured_cycles", -1.0), &row};
        std::string why;
        std::optional<Predicted> p = predict(m, why);
        INFO(id << ": " << why);
        REQUIRE(p);
        return *p;
    }
    FAIL("no row " << id);
    return {};
}
double predicted_us(const std::string& id) { return prediction(id).us; }

} // namespace

// The depth autotuner rests on this: what a kernel gains from slots, vector cores and buffers comes out of flags and slots alone.
TEST_CASE("variants of a mixed kernel come out in the measured order", "[time][validate]") {
    double one_vector = predicted_us("T28-01"), two_vectors = predicted_us("T28-03"), double_buffer = predicted_us("T28-04");
    CHECK(one_vector > 1.5 * two_vectors);
    CHECK(two_vectors > double_buffer);
    CHECK(predicted_us("T14-02") > predicted_us("T14-03")); // depth 1, depth 4
}

TEST_CASE("small published kernels are predicted closely", "[time][validate]") {
    CHECK(std::abs(predicted_us("T1-02") - (206.7 - 10)) < 0.05 * 206.7);
    CHECK(std::abs(predicted_us("T19b-04") - 47.78) < 0.04 * 47.78);
    CHECK(std::abs(predicted_us("T19b-03") - 83.34) < 0.04 * 83.34); // the same add, sources in one bank group
    CHECK(std::abs(predicted_us("T18-11") - 188.52) < 0.02 * 188.52);
}

TEST_CASE("a row that no program stands for says why", "[time][validate]") {
    Json row = {{"id", "X"}, {"params", Json::object()}};
    std::string why;
    CHECK_FALSE(predict(Measured{"X", "T24", "A3", "sparse_fa", 1, -1, &row}, why));
    CHECK_FALSE(why.empty());
    // A row of another shape than its table's is the tool's to report, not to crash on.
    CHECK_THROWS_AS(predict(Measured{"X", "T1", "A3", "gemm_fp16", 1, -1, &row}, why), std::exception);
}

// T = longer side + x * shorter side (hardware 3.4): x comes out of slots, flags and buffers, nothing assumes it.
TEST_CASE("the gain of depth is the measured one", "[time][validate]") {
    auto gain = [](const std::string& id, double launch_us) {
        Predicted p = prediction(id);
        REQUIRE(p.cube_us > 0);
        return (p.us + launch_us - std::max(p.cube_us, p.vector_us)) / std::min(p.cube_us, p.vector_us);
    };
    CHECK(std::abs(gain("T14-02", 1) - 0.50) < 0.1); // 950, depth 1
    CHECK(std::abs(gain("T14-03", 1) - 0.21) < 0.1); // 950, depth 4
    CHECK(std::abs(gain("T14-04", 10) - 0.58) < 0.1); // A2, depth 1, one vector core
    CHECK(std::abs(gain("T14-05", 10) - 0.61) < 0.1); // A2, depth 1, two
}

TEST_CASE("rows of other sizes than the published ones are predicted from their parameters", "[time][validate]") {
    std::string why;
    auto us = [&](const Json& row) {
        Measured m{row["id"], row["table"], row["chip"], row["kernel"], -1, -1, &row};
        std::optional<Predicted> p = predict(m, why);
        INFO(row.dump() << ": " << why);
        REQUIRE(p);
        CHECK(p->us > 0);
        return p->us;
    };
    auto gemm = [&](const char* chip, int m, int cores, const char* dtype) {
        return us({{"id", "X"}, {"table", "new"}, {"chip", chip}, {"kernel", "gemm_any"}, {"params", {{"m", m}, {"n", 2048}, {"k", 1024}, {"dtype", dtype}, {"cores", cores}}}});
    };
    const double base = gemm("A3", 2048, 24, "fp16");
    CHECK(gemm("A3", 4096, 24, "fp16") > 1.5 * base);
    CHECK(gemm("A3", 2048, 6, "fp16") > 2.5 * base);
    CHECK(gemm("A3", 2048, 24, "int8") < base);
    CHECK(gemm("A3", 2048, 24, "fp32") > 2 * base);
    CHECK(gemm("910B4", 2048, 20, "fp16") > base); // a slower clock
    CHECK(gemm("950PR", 2048, 32, "fp16") < base);
    auto tile = [&](int columns) {
        return us({{"id", "X"}, {"table", "new"}, {"chip", "A5"}, {"kernel", "TADD"}, {"params", {{"dtype", "fp32"}, {"vr", 1}, {"vc", columns}}}});
    };
    CHECK(tile(6400) > 3 * tile(640));
}
