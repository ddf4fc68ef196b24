#include "engine/report/chinese.hpp"
#include "engine/report/json_fields.hpp"
#include "engine/report/refusal.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace pto::report {

namespace {

struct Words {
    std::string_view also, why, fix, alternative;
};
constexpr Words english{"also", "why", "fix", "or"}, chinese{"另见", "原因", "修改", "或者"};

/// Two nearly equal lines cut to what differs, with some of what is around it.
std::pair<std::string, std::string> cut_alike(const std::string& a, const std::string& b, std::size_t width) {
    if (a.size() <= width && b.size() <= width) return {a, b};
    const auto boundary = [](const std::string& s, std::size_t i) { return i >= s.size() || (static_cast<unsigned char>(s[i]) & 0xC0) != 0x80; };
    std::size_t head = 0;
    while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
    std::size_t tail = 0;
    while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
    std::size_t from = head > 24 ? head - 16 : 0;
    while (from > 0 && !boundary(a, from)) --from;
    const auto cut = [&](const std::string& s) {
        std::size_t end = std::min(s.size(), std::max(s.size() - tail + 12, from));
        if (end - from > width) end = from + width;
        while (end < s.size() && !boundary(s, end)) ++end;
        return (from ? "..." : "") + s.substr(from, end - from) + (end < s.size() ? "..." : "");
    };
    return {cut(a), cut(b)};
}

} // namespace

std::string to_text(const Finding& f, const std::string& kernel, Language language) {
    const bool zh = language == Language::zh;
    const Words& w = zh ? chinese : english;
    const bool error = f.severity == Severity::error;
    std::string head = zh ? (error ? "已拒绝  " : "警告  ") : std::string(word(error ? Status::refused : Status::warned)) + "  ";
    if (!kernel.empty()) head += kernel + ": ";
    std::string out = wrapped(head + said(f.message, language) + "   [" + short_code(f.code) + "]", 4);
    if (f.place.valid()) {
        out += text_of(f.place, true) + "\n";
        const std::string number = std::to_string(f.place.line);
        const int gutter = std::max(4, columns(number) + 2);
        const Excerpt e = excerpt(f, text_columns - gutter - 3);
        out += pad_left(number, gutter) + " | " + e.source + "\n";
        for (const std::string& c : e.carets) out += std::string(std::size_t(gutter), ' ') + " | " + c + "\n";
    }
    bool first = true;
    for (const Also& a : f.also) {
        std::string where;
        if (a.place.valid()) where = a.place.file == f.place.file ? std::to_string(a.place.line) : text_of(a.place);
        out += wrapped(pad(first ? w.also : "", 5) + (where.empty() ? "" : pad(where, 4)) + said(a.message, language), 9);
        first = false;
    }
    if (f.why.empty()) {
        const std::string& rule = zh && !f.rule_zh.empty() ? f.rule_zh : f.rule_en;
        if (!rule.empty()) out += wrapped(pad(w.why, 5) + rule, 5);
    }
    for (std::size_t i = 0; i < f.why.size(); ++i) out += without_trailing_blanks(pad(i ? "" : w.why, 5) + f.why[i]) + "\n";
    first = true;
    for (const FixLine& l : f.fix) {
        const auto [before, after] = cut_alike(l.removed, l.added, 85);
        if (!l.removed.empty()) out += pad(first ? w.fix : "", 5) + "- " + before + "\n", first = false;
        if (!l.added.empty()) out += pad(first ? w.fix : "", 5) + "+ " + after + "\n", first = false;
    }
    if (!f.fix.empty() && !f.fix_message.empty()) out += wrapped(pad("", 5) + said(f.fix_message, language), 5);
    first = true;
    for (const std::string& a : f.alternatives) {
        out += wrapped(pad(!first ? "" : f.fix.empty() ? w.fix : w.alternative, 5) + said(a, language), 5);
        first = false;
    }
    return fit(out);
}

std::string to_text(const Refusal& r, Language language) {
    std::string out;
    const std::size_t shown = std::min(r.findings.size(), findings_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i) out += "\n";
        out += to_text(r.findings[i], r.kernel, language);
    }
    if (r.findings.size() > shown) {
        const std::string n = std::to_string(r.findings.size() - shown);
        out += language == Language::zh ? "\n另有 " + n + " 条\n" : "\nand " + n + " more\n";
    }
    return out;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mark, column, end, note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FixLine, removed, added, place)

namespace {
constexpr std::string_view severities[] = {"note", "warning", "error"};
}

nlohmann::json json_of(const Refusal& r) {
    nlohmann::json j = head(r.provenance);
    j["kernel"] = r.kernel;
    j["status"] = r.findings.empty() ? nlohmann::json(nullptr) : nlohmann::json(word(status(r)));
    nlohmann::json& list = j["diagnostics"] = nlohmann::json::array();
    for (const Finding& f : r.findings) {
        nlohmann::json labels = nlohmann::json::array();
        for (const Also& a : f.also)
            labels.push_back({{"file", a.place.file}, {"line", a.place.line}, {"column", a.place.column}, {"message", a.message}});
        list.push_back({{"code", f.code},
                        {"severity", severities[std::size_t(f.severity)]},
                        {"message", f.message},
                        {"rule", f.rule_en},
                        {"rule_zh", f.rule_zh},
                        {"file", f.place.file},
                        {"line", f.place.line},
                        {"column", f.place.column},
                        {"end", f.end_column},
                        {"source", f.source},
                        {"marks", f.marks},
                        {"labels", labels},
                        {"why", f.why},
                        {"fix", {{"message", f.fix_message}, {"lines", f.fix}}},
                        {"or", f.alternatives}});
    }
    return j;
}

Refusal refusal_from_json(const nlohmann::json& j) {
    Refusal r{provenance_of(j), j.at("kernel"), {}};
    for (const auto& d : j.at("diagnostics")) {
        Finding f;
        d.at("code").get_to(f.code);
        for (std::size_t i = 0; i < 3; ++i)
            if (d.at("severity") == severities[i]) f.severity = Severity(i);
        d.at("message").get_to(f.message);
        d.at("rule").get_to(f.rule_en);
        d.at("rule_zh").get_to(f.rule_zh);
        f.place = {d.at("file"), d.at("line"), d.at("column")};
        d.at("end").get_to(f.end_column);
        d.at("source").get_to(f.source);
        d.at("marks").get_to(f.marks);
        for (const auto& l : d.at("labels")) f.also.push_back({{l.at("file"), l.at("line"), l.at("column")}, l.at("message")});
        d.at("why").get_to(f.why);
        d.at("fix").at("message").get_to(f.fix_message);
        d.at("fix").at("lines").get_to(f.fix);
        d.at("or").get_to(f.alternatives);
        r.findings.push_back(std::move(f));
    }
    return r;
}

} // namespace pto::report
