#include "kernel/views/views.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;

namespace {

/// Old and new text as table rows that survive every sanitizer: bgcolor, and a sign in front for who cannot see colours.
std::string fix_table(const Finding& f) {
    std::string out = "<table cellspacing=\"0\" cellpadding=\"2\">\n";
    const auto row = [&](std::string_view sign, std::string_view background, const std::string& text) {
        out += "<tr><td bgcolor=\"" + std::string(background) + "\" align=\"left\" style=\"text-align:left\" nowrap><code><font color=\"#14181D\">" + std::string(sign) + " " + escape(text) + "</font></code></td></tr>\n";
    };
    for (const FixLine& l : f.fix) {
        if (!l.removed.empty()) row("-", "#FBE3E1", l.removed);
        if (!l.added.empty()) row("+", "#DDF3E2", l.added);
    }
    return out + "</table>\n";
}

std::string finding_html(const Finding& f, const std::string& kernel, bool open, const ViewOptions& options) {
    const bool zh = options.language == Language::zh, error = f.severity == pto::Severity::error;
    const Status s = error ? Status::refused : Status::warned;
    const std::string& colour = tone_colour(tone(s), Theme::light);
    std::string out = verdict_html(s, (kernel.empty() ? "" : kernel + ": ") + said(f.message, options.language) + "   [" + short_code(f.code) + "]") + "<br>\n";
    if (f.place.valid()) {
        const std::string line = std::to_string(f.place.line);
        const int gutter = std::max(4, columns(line) + 2);
        const Excerpt e = excerpt(f, text_columns - gutter - 3);
        out += escape(text_of(f.place, true)) + "\n<pre>" + font(page_muted, pad_left(line, gutter) + " | ") + escape(e.source) + "\n";
        for (const std::string& c : e.carets) out += font(page_muted, std::string(std::size_t(gutter), ' ') + " | ") + "<b>" + font(colour, c) + "</b>\n";
        out += "</pre>\n";
    }
    if (!f.also.empty()) {
        out += "<pre>";
        for (std::size_t i = 0; i < f.also.size(); ++i)
            out += escape(pad(i ? "" : zh ? "另见" : "also", 5) + text_of(f.also[i].place) + "  " + said(f.also[i].message, options.language)) + "\n";
        out += "</pre>\n";
    }
    std::string why;
    for (const std::string& l : f.why) why += l + "\n";
    const std::string& rule = zh && !f.rule_zh.empty() ? f.rule_zh : f.rule_en;
    out += details((zh ? "原因：" : "why: ") + rule, why.empty() ? "<pre>" + escape(f.code + ": " + rule) + "</pre>\n" : pre(why), open);
    if (!f.fix.empty()) {
        out += "<b>" + std::string(zh ? "修改" : "fix") + "</b> " + escape(said(f.fix_message, options.language)) + "\n" + fix_table(f);
    }
    bool only = f.fix.empty();
    for (const std::string& a : f.alternatives) {
        out += "<b>" + std::string(only ? (zh ? "修改" : "fix") : zh ? "或者" : "or") + "</b> " + escape(said(a, options.language)) + "<br>\n";
        only = false;
    }
    return out;
}

} // namespace

std::string html(const Refusal& r, const ViewOptions& options) {
    std::string out;
    const std::size_t shown = std::min(r.findings.size(), findings_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i) out += "<br>\n";
        out += finding_html(r.findings[i], r.kernel, i == 0, options);
    }
    if (r.findings.size() > shown) {
        const std::string n = std::to_string(r.findings.size() - shown);
        out += "<br><b>" + (options.language == Language::zh ? "另有 " + n + " 条" : "and " + n + " more") + "</b>\n";
    }
    return out;
}

nl::json mime_bundle(const Refusal& r, const ViewOptions& options) { return bundle(to_text(r, options.language), html(r, options)); }

} // namespace xpto::views
