#pragma once
/// Shared by the views of what went wrong.

#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <map>

namespace xpto::views {

using namespace pto::report;

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

inline std::string heading(Status s, const std::string& text) {
    const std::string line = first_line(text), w(word(s));
    return verdict_html(s, line.rfind(w, 0) == 0 ? line.substr(std::min(line.size(), w.size() + 2)) : line) + "<br>\n";
}

inline std::map<std::string, int> hues_of(const std::vector<PlanStage>& stages) {
    std::vector<pto::isa::Core> cores;
    for (const PlanStage& s : stages) cores.push_back(s.core);
    const std::vector<StageHue> hues = stage_hues(cores);
    std::map<std::string, int> out;
    for (std::size_t i = 0; i < stages.size(); ++i) out[stages[i].name] = hues[i].hue;
    return out;
}

} // namespace xpto::views
