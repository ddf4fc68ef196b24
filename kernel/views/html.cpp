#include "kernel/views/html.hpp"

#include "kernel/views/scripts.hpp"

namespace xpto::views {

using namespace pto::report;

std::string base64(std::string_view s) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((s.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < s.size(); i += 3) {
        std::uint32_t v = 0;
        for (std::size_t k = 0; k < 3; ++k) v = v << 8 | (i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0u);
        out += digits[v >> 18];
        out += digits[v >> 12 & 63];
        out += i + 1 < s.size() ? digits[v >> 6 & 63] : '=';
        out += i + 2 < s.size() ? digits[v & 63] : '=';
    }
    return out;
}

std::string font(std::string_view colour, std::string_view text) {
    return "<font color=\"" + std::string(colour) + "\">" + escape(text) + "</font>";
}

std::string verdict_html(Status status, std::string_view rest) {
    return "<b>" + font(tone_colour(tone(status), Theme::light), std::string(glyph(status)) + " " + std::string(word(status))) + "</b>&nbsp; " + escape(rest);
}

std::string details(std::string_view summary, std::string_view body, bool open) {
    return std::string("<details") + (open ? " open" : "") + "><summary>" + escape(summary) + "</summary>\n" + std::string(body) + "</details>\n";
}

std::string pre(std::string_view text) { return "<pre>" + escape(text) + "</pre>\n"; }

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows, std::string_view align) {
    const auto cell = [&](std::string_view tag, std::size_t i, const std::string& s) {
        const bool right = i < align.size() && align[i] == 'r';
        const std::string side = right ? "right" : "left"; // JupyterLab's own style beats the attribute, a sanitizer may take the style
        return "<" + std::string(tag) + " align=\"" + side + "\" style=\"text-align:" + side + "\">" + escape(s) + "</" + std::string(tag) + ">";
    };
    std::string out = "<table>\n<tr>";
    for (std::size_t i = 0; i < header.size(); ++i) out += cell("th", i, header[i]);
    out += "</tr>\n";
    for (const auto& row : rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) out += cell("td", i, row[i]);
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

std::string script_json(const nl::json& j) {
    std::string s = j.dump(-1, ' ', true, nl::json::error_handler_t::replace), out;
    for (char c : s) c == '<' ? out += "\\u003c" : out += c;
    return out;
}

std::string figure(const Svg& svg, std::string_view alt, const ViewOptions& options) {
    const std::string picture = svg.finish(), key = "x" + content_hash(picture);
    std::string out = "<div data-xpto=\"" + key + "\"><img alt=\"" + escape(alt) + "\" style=\"max-width:100%\" src=\"data:image/svg+xml;base64," + base64(picture) + "\"></div>\n";
    if (!options.scripts) return out;
    const nl::json data = {{"dark", svg.style(Theme::dark)}, {"zh", options.language == Language::zh}};
    return out + "<script>(function(key,data){" + std::string(figure_script()) + "})(\"" + key + "\"," + script_json(data) + ")</script>\n";
}

nl::json bundle(std::string text, std::string html) { return {{"text/plain", std::move(text)}, {"text/html", std::move(html)}}; }

} // namespace xpto::views
