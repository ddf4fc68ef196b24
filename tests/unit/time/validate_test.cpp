#include "tests/support/catch.hpp"

#include "tools/validate/compare.hpp"

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

// Any file of the schema: other sizes, another order, optional fields missing or of another type, names that nobody knows.
TEST_CASE("every row of a foreign file is predicted or named with a reason", "[time][validate]") {
    auto row = [](const char* id, const char* chip, const char* kernel, Json params, Json more = Json::object()) {
        Json r{{"id", id}, {"table", "X1"}, {"chip", chip}, {"kernel", kernel}, {"params", std::move(params)}, {"measured_us", 20.0}};
        r.update(more);
        return r;
    };
    Json file{{"rows",
               {row("tile", "A5", "TEXP", {{"dtype", "fp32"}, {"vr", 24}, {"vc", 96}}, {{"measured_us", nullptr}, {"measured_cycles", 150}}),
                row("add", "950PR", "add_fp16", {{"shape", {1024, 3072}}, {"tile_elems", 6144}, {"variant", "double buffer"}}, {{"busy_pct", nullptr}, {"pipe_us", 3}}),
                row("gemm", "A3 (910C die, 24 AIC)", "gemm_fp16", {{"m", 640}, {"n", 768}, {"k", 512}, {"grid", "3x3"}, {"cores", 24}}),
                row("ring", "950PR", "quant_group_matmul_gelu", {{"tokens", 2048}, {"k", 512}, {"n", 2048}, {"groups", 4}, {"mix", "1:2"}, {"pipeline_depth", 3}, {"aic", 16}}),
                row("attention", "910B2", "fa_fwd_pto", {{"S0", 384}, {"S1", 1536}, {"head", 128}}),
                row("rate", "A5 (device variant not named; >3 TB/s)", "device_copy", {{"elems", 3e6}}, {{"measured_us", nullptr}, {"gbps", 2500}}),
                // and those that cannot be
                row("unheard", "950PR", "unheard_of", Json::object()), row("chip", "B200", "gemm_fp16", {{"m", 64}, {"n", 64}, {"k", 64}}),
                row("zero", "A3", "gemm_fp16", {{"m", 64}, {"n", 64}, {"k", 64}, {"cores", 0}}), row("missing", "A5", "TEXP", Json::object()),
                row("wrong", "A2", "add_fp16", {{"shape", "big"}}), row("untimed", "A5", "TEXP", {{"dtype", "fp32"}, {"vr", 1}, {"vc", 64}}, {{"measured_us", "fast"}}),
                row("huge", "A3", "gemm_fp16", {{"m", 1000000}, {"n", 1000000}, {"k", 64}}), Json{{"id", "bare"}}, Json(3), Json(nullptr)}}};
    const Comparison c = compare(file);
    std::vector<std::string> predicted;
    for (const Line& l : c.lines) {
        predicted.push_back(l.measured.id);
        CHECK(l.predicted_us > 0);
        CHECK(l.measured_us > 0);
        CHECK_FALSE(cause(l.measured).empty());
    }
    CHECK(predicted == std::vector<std::string>{"tile", "add", "gemm", "ring", "attention", "rate"});
    CHECK(c.skipped.size() == 10);
    for (const Skipped& s : c.skipped) {
        INFO(s.id);
        CHECK_FALSE(s.id.empty());
        CHECK_FALSE(s.why.empty());
    }
    const Json out = to_json(c);
    for (const Json& r : out["rows"]) {
        CHECK(r["id"].is_string());
        CHECK(r["predicted_us"].is_number());
        CHECK(r["measured_us"].is_number());
    }
    // The order of rows changes nothing.
    std::reverse(file["rows"].begin(), file["rows"].end());
    const Comparison again = compare(file);
    REQUIRE(again.lines.size() == c.lines.size());
    for (std::size_t i = 0; i < c.lines.size(); ++i) CHECK(again.lines[c.lines.size() - 1 - i].predicted_us == c.lines[i].predicted_us);
}

// A matmul too deep to be replayed is continued from shorter ones.
TEST_CASE("the time of a deep matmul grows with its depth", "[time][validate]") {
    auto us = [](int k) {
        Json row{{"id", "X"}, {"table", "new"}, {"chip", "A3"}, {"kernel", "gemm_fp16"}, {"params", {{"m", 512}, {"n", 1536}, {"k", k}, {"baseK", 16}, {"cores", 24}}}};
        std::string why;
        std::optional<Predicted> p = predict(Measured{"X", "new", "A3", "gemm_fp16", 1, -1, &row}, why);
        REQUIRE(p);
        return p->us;
    };
    const double exact = us(1 << 18), continued = us(1 << 20);
    CHECK(std::abs(continued - 4 * exact) < 0.02 * continued);
}
