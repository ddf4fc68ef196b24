#pragma once
/// HTML that untrusted notebooks keep: b, font, table with bgcolor, pre, details, img. Scripts only add.

#include "kernel/views/svg.hpp"

#include "engine/report/common.hpp"

#include <nlohmann/json.hpp>

namespace xpto::views {

namespace nl = nlohmann;

struct ViewOptions {
    pto::report::Language language = pto::report::Language::en;
    bool scripts = true;             // false: the static picture only
    bool plan_changed = true;        // panel: the plan differs from the last run of this cell, so it is shown open
};

/// Grey that reads on a light and on a dark page: a font tag cannot know which it is on.
inline constexpr std::string_view page_muted = "#707A86";

std::string base64(std::string_view bytes);
/// A JSON text that may stand inside <script>: no "</", no "<!--".
std::string script_json(const nl::json& j);
/// "✔ PROVEN" in its colour, then the rest of the line escaped.
std::string verdict_html(pto::report::Status status, std::string_view rest);
std::string font(std::string_view colour, std::string_view text);   // escaped
std::string details(std::string_view summary, std::string_view body, bool open);   // summary escaped, body HTML
std::string pre(std::string_view text);                              // escaped
/// A table of escaped cells with a header row; right-aligned columns by 'r' in `align`.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows, std::string_view align = {});

/// The picture as an <img>; with scripts a small one replaces it by the same picture with hover, linked marks and the page's theme.
std::string figure(const Svg& svg, std::string_view alt, const ViewOptions& options);
nl::json bundle(std::string text, std::string html);

} // namespace xpto::views
