#pragma once
/// Is a difference a bug, where does it start, of what kind, and by what right is the threshold what it is.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

/// Noise sigma: every rounding as an independent error, carried with squared weights. Limit: the worst case.
struct ElementError {
    std::vector<std::int64_t> index;
    std::int32_t task = -1, subblock = -1;
    double got = 0, expected = 0, error = 0, sigma = 0, limit = 0;
    bool operator==(const ElementError&) const = default;
};

/// Largest |error| / sigma per cell of a grid laid over the (flattened to two dimensions) output.
struct ErrorMap {
    std::int32_t rows = 0, columns = 0;              // cells
    std::int64_t element_rows = 0, element_columns = 0;
    std::vector<double> z;                           // [rows * columns]; infinity above the limit
    std::vector<std::int64_t> task_rows;             // first element row of each task tile
    std::vector<std::string> task_labels;            // "task 0, AIV0"
    bool operator==(const ErrorMap&) const = default;
};

struct HistogramBar {
    double from = 0, to = 0;                         // |error| / sigma
    std::int64_t count = 0;
    bool operator==(const HistogramBar&) const = default;
};

struct StageCheck {
    std::string stage, what;                         // "stage3", "read of p[slot 0], task 0"
    bool right = true;
    std::string note;
    bool operator==(const StageCheck&) const = default;
};

struct Precision {
    Provenance provenance;
    Status verdict = Status::different;              // bitwise, match, rounding, different, order
    std::string output, shape, dtype;                // "out", "256x64", "fp32"
    std::string reference;                           // "numpy float64"
    std::int64_t elements = 0, above_sigma = 0, above_limit = 0;
    double worst_sigma = 0, median_sigma = 0, p99_sigma = 0;
    double sigma_low = 0, sigma_high = 0, limit_low = 0, limit_high = 0;
    std::string derivation;                          // "K=64 twice, fp32 sums, relu between"
    std::string tolerance;                           // "rtol=0.01 atol=0.01 also holds"
    std::string where, scope;                        // "out[0:64, 0:64] = one whole task tile", "tasks 1-3 are within 2.7 sigma"
    std::string first_wrong_stage;
    std::int32_t first_wrong_task = -1;
    std::string kind, see;                           // "overtaken slot: ..."; the report that explains it
    std::vector<StageCheck> stages;
    std::vector<ElementError> worst;                 // by error / sigma
    std::vector<ElementError> largest;               // by absolute error
    ErrorMap map;
    std::vector<HistogramBar> histogram;
    bool operator==(const Precision&) const = default;
};

Status status(const Precision& p);
std::string to_text(const Precision& p, Language language = Language::en);
nlohmann::json json_of(const Precision& p);
Precision precision_from_json(const nlohmann::json& j);

} // namespace pto::report
