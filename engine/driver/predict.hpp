#pragma once
/// Predicted time: a record replayed on the chip, from a run of the user's or from a run on zeros when every size is a constant.

#include "engine/driver/run.hpp"
#include "engine/report/timeline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace pto::driver {

struct Prediction {
    std::optional<report::Timeline> timeline;
    std::string missing;                  // why there is none
    std::vector<std::string> input_notes; // "zeroed inputs: data-dependent loops may look short"
};

struct PredictOptions {
    std::int32_t block_dim = 1;
    report::Ticks serial_total = -1;      // preload 0 of the same kernel; -1 unknown
    bool what_if = true;
    std::int64_t operation_limit = 300'000; // a run without a user must not take long: a kernel with more is not predicted
};

/// The timeline of a finished run.
report::Timeline timeline_of(const Compiled& c, const Run& run, const SourceMap& sources, const PredictOptions& options);
/// Runs the kernel on zeros where all sizes are constants.
Prediction predict(const Compiled& c, const SourceMap& sources, const PredictOptions& options);

nlohmann::ordered_json prediction_json(const Prediction& p);

} // namespace pto::driver
