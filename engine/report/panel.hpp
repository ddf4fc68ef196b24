#pragma once
/// What a %%pto_kernel cell shows about one kernel: is it accepted, is it safe, what will it cost, what changed.

#include "engine/report/code_diff.hpp"
#include "engine/report/memory_map.hpp"
#include "engine/report/refusal.hpp"
#include "engine/report/sync_plan.hpp"
#include "engine/report/timeline.hpp"

#include <optional>

namespace pto::report {

struct Panel {
    Provenance provenance;
    std::string kernel;
    std::string target;                    // "ascend950pr", with its origin when not the default: "ascend950pr (decorator)"
    std::string preload;                   // "2", "1,2"
    double compile_ms = -1;                // measured by the caller; -1 unknown
    std::optional<Refusal> findings;       // warnings, or the errors that refused it
    std::optional<SyncPlan> plan;          // present without loops: "no pipeline loop"
    std::optional<Timeline> timeline;
    std::optional<MemoryMap> memory;
    std::optional<CodeDiff> code;          // source against pipeline_generated.py
    std::string cpp_name = "kernel.cpp";
    std::string cpp;                       // generated C++; empty: not made
    std::string since;                     // "preload 1 -> 2, predicted 3.09 -> 2.86 us, plan redrawn"; empty on the first run
    std::string stale;                     // "TILE was 64, is 32 now"; empty: up to date
    std::string decorator_line;            // the line to paste there when an option overrode it
    std::vector<std::string> checks;       // what was checked, one sentence each
    std::vector<std::string> versions;     // "xpto 0.1.0", seeds
    std::vector<std::pair<std::string, std::string>> missing;   // part and why it is not there: {"timeline", "no pipeline loop"}
    bool operator==(const Panel&) const = default;
};

/// STALE, REFUSED, else the plan's status, WARNED, or PROVEN when a verifier checked a kernel without a loop.
Status status(const Panel& p);
/// Line 1 without the status word.
std::string headline(const Panel& p, Language language);
/// Line 2.
std::string second_line(const Panel& p, Language language);

std::string to_text(const Panel& p, Language language = Language::en);
nlohmann::json json_of(const Panel& p);

} // namespace pto::report
