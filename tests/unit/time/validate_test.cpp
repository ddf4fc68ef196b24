#include "tests/support/catch.hpp"

#include "tools/validate/predict.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

using namespace pto::validate;
using Json = nlohmann::json;

namespace {

/// Predicted kernel time, launch excluded, of one published row.
double predicted_us(const std::string& id) {
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
        return p->us;
    }
    FAIL("no row " << id);
    return 0;
}

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
