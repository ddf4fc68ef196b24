#pragma once
/// Two texts line against line: the source of a kernel and pipeline_generated.py, or generated code before and after an edit.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

struct DiffLine {
    enum class Kind : std::uint8_t { same, removed, added, changed } kind = Kind::same;
    std::int32_t old_line = 0, new_line = 0;   // from 1; 0: not on that side. A changed pair has both.
    std::string old_text, new_text;
    bool operator==(const DiffLine&) const = default;
};

struct CodeDiff {
    std::string old_name, new_name;
    std::int32_t added = 0, removed = 0;
    std::vector<DiffLine> lines;               // in order
    bool operator==(const CodeDiff&) const = default;
};

/// Shortest edit script (Myers), then neighbouring removed and added lines that resemble each other become pairs.
///   cost O((n + m) * edits); beyond 1,500 edits the rest counts as replaced
CodeDiff diff(std::string old_name, std::string_view old_text, std::string new_name, std::string_view new_text);
/// Unified form with `context` lines; complete lines, as long as they are.
std::string unified(const CodeDiff& d, int context = 3);
nlohmann::json json_of(const CodeDiff& d);
CodeDiff code_diff_from_json(const nlohmann::json& j);

} // namespace pto::report
