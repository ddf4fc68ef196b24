#include "engine/report/common.hpp"

#include <array>

namespace pto::report {

namespace {

struct Row {
    std::string_view word, glyph;
    Tone tone;
};
constexpr std::array<Row, 17> rows{{
    {"PROVEN", "✔", Tone::good},      {"MATCH", "✔", Tone::good},     {"RIGHT", "✔", Tone::good},
    {"BITWISE", "✔", Tone::good},     {"FITS", "✔", Tone::good},      {"WARNED", "▲", Tone::warn},
    {"ROUNDING", "▲", Tone::warn},    {"ORDER", "▲", Tone::warn},     {"NOT PROVEN", "▲", Tone::warn},
    {"REFUSED", "✖", Tone::bad},      {"HANG", "✖", Tone::bad},       {"RACE", "✖", Tone::bad},
    {"DIFFERENT", "✖", Tone::bad},    {"NO ANSWER", "✖", Tone::bad},  {"PREDICTED", "○", Tone::muted},
    {"MEASURED", "●", Tone::muted},   {"STALE", "⟳", Tone::muted},
}};

} // namespace

std::string_view word(Status s) { return rows[std::size_t(s)].word; }
std::string_view glyph(Status s) { return rows[std::size_t(s)].glyph; }
Tone tone(Status s) { return rows[std::size_t(s)].tone; }

std::string provenance_line(const Provenance& p, Language language) {
    std::string line = p.computed_by;
    if (language == Language::zh && line == "nothing was run") line = "未运行";
    if (p.stated_percent + p.derived_percent + p.guessed_percent > 0) {
        auto n = [](std::int32_t v) { return std::to_string(v); };
        line += language == Language::zh
                    ? "，时序行 " + n(p.stated_percent) + " % 手册 " + n(p.derived_percent) + " % 推导 " + n(p.guessed_percent) + " % 猜测"
                    : ", timing rows " + n(p.stated_percent) + " % stated " + n(p.derived_percent) + " % derived " +
                          n(p.guessed_percent) + " % guessed";
    }
    return line;
}

Status honest(Status wanted, const Provenance& p) {
    const bool checked = !p.checked_by.empty();
    const bool on_card = p.computed_by.rfind("npu:", 0) == 0;
    switch (wanted) {
    case Status::proven: return checked ? wanted : Status::not_proven;
    case Status::match:
    case Status::right:
    case Status::bitwise: return checked ? wanted : Status::warned;
    case Status::measured: return on_card ? wanted : Status::predicted;
    default: return wanted;
    }
}

std::string text_of(const Place& p, bool with_column) {
    if (!p.valid()) return {};
    std::string s = p.file + ":" + std::to_string(p.line);
    if (with_column && p.column > 0) s += ":" + std::to_string(p.column);
    return s;
}

} // namespace pto::report
