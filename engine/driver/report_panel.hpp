#pragma once
/// The result panel of a compilation and the parts of it that only it fills.

#include "engine/driver/predict.hpp"
#include "engine/report/code_diff.hpp"
#include "engine/report/memory_map.hpp"
#include "engine/report/panel.hpp"

namespace pto::driver {

report::MemoryMap report_memory_map(const Compiled& c, const SourceMap& sources);
/// Source against generated text; empty lines without a generated text.
std::optional<report::CodeDiff> report_code_diff(const Compiled& c, const SourceMap& sources);

struct PanelInput {
    const Prediction* prediction = nullptr;
    std::string cpp;       // generated C++; empty: not made
    std::string since;
    std::string version;   // "xpto 0.1.0"
};
report::Panel report_panel(const Compiled& c, const SourceMap& sources, const PanelInput& input);

} // namespace pto::driver
