#include "engine/base/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace pto {
namespace {

constexpr std::array<CodeRow, std::size_t(Code::count)> rows{{
#define PTO_CODE(name, text, severity, english, chinese) CodeRow{#name, text, Severity::severity, english, chinese},
#include "engine/base/codes.def"
#undef PTO_CODE
}};

} // namespace

const CodeRow& row(Code code) { return rows[std::size_t(code)]; }

std::optional<Code> find_code(std::string_view text) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].text == text || rows[i].text.substr(4) == text) return Code(i);
    return std::nullopt;
}

Diagnostic diagnose(Code code, Span at, std::string message) {
    Diagnostic d;
    d.code = code;
    d.at = at;
    d.message = std::move(message);
    d.severity = row(code).severity;
    return d;
}

bool has_errors(const Diagnostics& list) {
    return std::any_of(list.begin(), list.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void sort_by_position(Diagnostics& list) {
    std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.at.file, a.at.begin, a.code) < std::tie(b.at.file, b.at.begin, b.code);
    });
}

} // namespace pto
