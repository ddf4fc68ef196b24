#pragma once
/// A refusal or a warning as the user sees it: what is wrong, exactly where, why it is a rule, what to type.

#include "engine/base/diagnostics.hpp"
#include "engine/base/source_map.hpp"
#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

/// A mark under the shown line; columns from 1 in code points of the user's line, end exclusive.
struct Mark {
    std::int32_t column = 0, end = 0;
    std::string note;                 // "2 slots"; empty for the main caret
    bool operator==(const Mark&) const = default;
};
struct Also {
    Place place;
    std::string message;
    bool operator==(const Also&) const = default;
};
/// One changed piece of text: whole lines, indentation removed.
struct FixLine {
    std::string removed, added;       // either may be empty
    Place place;
    bool operator==(const FixLine&) const = default;
};

struct Finding {
    std::string code;                 // "PTO-K41"
    std::string rule_en, rule_zh;     // the rule, one sentence
    Severity severity = Severity::error;
    std::string message;              // what was seen, with the numbers
    Place place;
    std::int32_t end_column = 0;      // of the main caret; same line
    std::string source;               // the whole line, without its line end
    std::vector<Mark> marks;          // the main caret first
    std::vector<Also> also;
    std::vector<std::string> why;     // lines; empty: the rule itself is the reason
    std::vector<FixLine> fix;
    std::string fix_message;
    std::vector<std::string> alternatives;   // "or" lines
    bool operator==(const Finding&) const = default;
};

struct Refusal {
    Provenance provenance;
    std::string kernel;               // empty when the text did not get as far as a kernel
    std::vector<Finding> findings;    // source order, errors and warnings
    bool operator==(const Refusal&) const = default;
};

inline constexpr std::size_t findings_shown = 5;

/// Turns diagnostics into findings.
///   in   list     any order; notes are left out
///        sources  the texts the spans point into
///   out  findings in source order; a label on the main line becomes a mark, others become `also`
///   cost O(size of list and of the lines shown)
Refusal refusal_of(const Diagnostics& list, const SourceMap& sources, std::string kernel, Provenance provenance);

/// Refused when an error is among the findings, else warned.
Status status(const Refusal& r);
/// "K41" for PTO-K41, "load-offset-range" for PTO-load-offset-range.
std::string short_code(const std::string& code);
/// The shown line cut to `width` columns around the marks, and the caret line under it (may be two lines when notes collide).
struct Excerpt {
    std::string source;
    std::vector<std::string> carets;
};
Excerpt excerpt(const Finding& f, int width);

std::string to_text(const Finding& f, const std::string& kernel, Language language = Language::en);
std::string to_text(const Refusal& r, Language language = Language::en);
nlohmann::json json_of(const Refusal& r);
Refusal refusal_from_json(const nlohmann::json& j);

} // namespace pto::report
