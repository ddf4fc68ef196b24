#pragma once
/// User mistakes are values: collected, sorted by position, printed by whoever shows them.

#include "engine/base/span.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pto {

enum class Severity : std::uint8_t { note, warning, error };

/// One enumerator per row of codes.def.
enum class Code : std::uint16_t {
#define PTO_CODE(name, text, severity, english, chinese) name,
#include "engine/base/codes.def"
#undef PTO_CODE
    count
};

struct CodeRow {
    std::string_view name;     // enumerator
    std::string_view text;     // "PTO-K41" or a slug, "PTO-load-offset-range"
    Severity severity;         // default severity
    std::string_view english;  // one sentence: the rule
    std::string_view chinese;
};

const CodeRow& row(Code code);
/// Finds "PTO-K41" (or "K41"); nothing for unknown text.
std::optional<Code> find_code(std::string_view text);

struct Label {
    Span at;
    std::string message;
};

/// A rewrite we are sure of: replace `at` by `replacement`. Applying all edits of a fix makes the check pass.
struct Edit {
    Span at;
    std::string replacement;
};
struct Fix {
    std::string message;      // "give p a third slot"
    std::vector<Edit> edits;  // may be empty: then the message is advice ("or" line)
};

struct Diagnostic {
    Code code{};
    Span at;                    // the narrowest text that is wrong
    std::string message;        // what was seen, with the numbers, no final period
    std::vector<Label> labels;  // the other places to look at
    std::optional<Fix> fix;
    std::vector<std::string> advice; // "or" lines: alternatives, largest first
    Severity severity = Severity::error;
};

using Diagnostics = std::vector<Diagnostic>;

/// A diagnostic with its row's default severity.
Diagnostic diagnose(Code code, Span at, std::string message);
bool has_errors(const Diagnostics& list);
/// Stable order: file, begin, code.
void sort_by_position(Diagnostics& list);

/// A value, what was said about it, or both; no value means at least one error.
template <class T> struct Result {
    std::optional<T> value;
    Diagnostics diagnostics;
    explicit operator bool() const { return value.has_value(); }
    T& operator*() { return *value; }
    const T& operator*() const { return *value; }
    T* operator->() { return &*value; }
    const T* operator->() const { return &*value; }
};

/// A broken promise inside the engine; stops at the driver, never a user's mistake.
struct InternalError {
    std::string message;
};

} // namespace pto
