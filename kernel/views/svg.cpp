#include "kernel/views/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace xpto::views {

namespace {

std::size_t next(std::string_view s, std::size_t i) {
    ++i;
    while (i < s.size() && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80) ++i;
    return i;
}

struct TypeRow {
    std::string_view cls;
    double size;
    bool bold, mono;
};
constexpr TypeRow types[] = {{"th", 16, true, false},   {"tv", 12.5, false, false}, {"tt", 11.5, false, false}, {"ts", 10.5, false, false},
                             {"tg", 13, true, false},   {"tn", 11, false, true},    {"tl", 10.5, true, false},  {"tb", 11.5, true, false}};

constexpr std::string_view sans = "system-ui,-apple-system,'Segoe UI','Noto Sans','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif";
constexpr std::string_view mono_fonts = "ui-monospace,'SF Mono',Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace";

/// Advance widths of ASCII in thousandths of an em, of a wide-running sans (DejaVu Sans); narrower fonts only leave more room.
constexpr std::uint16_t advance[95] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};

} // namespace

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (char c : text) switch (c) {
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '&': out += "&amp;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
        }
    return out;
}

std::string number(double v) {
    char b[32];
    const double r = std::round(v * 10) / 10;
    std::snprintf(b, sizeof b, r == std::floor(r) ? "%.0f" : "%.1f", r == 0 ? 0.0 : r);
    return b;
}

double text_width(std::string_view s, double size, bool bold, bool mono) {
    double em = 0;
    for (std::size_t i = 0; i < s.size(); i = next(s, i)) {
        const auto c = static_cast<unsigned char>(s[i]);
        if (c >= 0xE2 && !(c == 0xE2 && i + 1 < s.size() && static_cast<unsigned char>(s[i + 1]) < 0xBA)) em += 1.0;   // CJK and beyond
        else if (c >= 0x80) em += 0.8;
        else em += mono ? 0.602 : (c >= 32 && c < 127 ? advance[c - 32] / 1000.0 : 0.6);
    }
    return em * size * (bold ? 1.1 : 1.0);
}

std::string clip_middle(std::string_view s, std::size_t most) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < s.size(); i = next(s, i)) at.push_back(i);
    if (at.size() <= most) return std::string(s);
    const std::size_t head = most / 2, tail = most - head - 1;
    return std::string(s.substr(0, at[head])) + "…" + (tail ? std::string(s.substr(at[at.size() - tail])) : std::string{});
}

std::string clip_to(std::string_view s, double width, double size, bool bold, bool mono) {
    std::string out(s);
    std::size_t n = 0;
    for (std::size_t i = 0; i < s.size(); i = next(s, i)) ++n;
    n = std::min<std::size_t>(n, 400);
    if (n < s.size()) out = clip_middle(s, n);
    while (n > 1 && text_width(out, size, bold, mono) > width) out = clip_middle(s, --n);
    return out;
}

std::string content_hash(std::string_view bytes) {
    std::uint64_t h = 14695981039346656037ull;
    for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    char b[24];
    std::snprintf(b, sizeof b, "%016llx", static_cast<unsigned long long>(h));
    return b;
}

Svg::Svg(double width, std::string title, std::string description)
    : m_width(width), m_title(std::move(title)), m_description(std::move(description)) {}

void Svg::use(std::string_view classes) {
    for (std::size_t i = 0; i < classes.size();) {
        std::size_t end = std::min(classes.find(' ', i), classes.size());
        if (end > i) m_classes.emplace(classes.substr(i, end - i));
        i = end + 1;
    }
}

namespace {
std::string tail(std::string_view cls, std::string_view attributes, std::string_view hover, std::string_view tag) {
    std::string s;
    if (!cls.empty()) s += " class=\"" + std::string(cls) + "\"";
    if (!attributes.empty()) s += " " + std::string(attributes);
    if (hover.empty()) return s + "/>\n";
    return s + "><title>" + escape(hover) + "</title></" + std::string(tag) + ">\n";
}
std::string at(std::string_view name, double v) { return " " + std::string(name) + "=\"" + number(v) + "\""; }
} // namespace

void Svg::rect(double x, double y, double w, double h, double rx, std::string_view cls, std::string_view attributes, std::string_view hover) {
    use(cls);
    ++m_rectangles;
    m_body += "<rect" + at("x", x) + at("y", y) + at("width", std::max(0.0, w)) + at("height", std::max(0.0, h)) + (rx > 0 ? at("rx", rx) : "") +
              tail(cls, attributes, hover, "rect");
    grow(y + h);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view cls, std::string_view attributes) {
    use(cls);
    m_body += "<line" + at("x1", x1) + at("y1", y1) + at("x2", x2) + at("y2", y2) + tail(cls, attributes, {}, "line");
    grow(std::max(y1, y2));
}

void Svg::path(std::string_view d, std::string_view cls, std::string_view attributes, std::string_view hover) {
    use(cls);
    m_body += "<path d=\"" + std::string(d) + "\"" + tail(cls, attributes, hover, "path");
}

void Svg::circle(double x, double y, double r, std::string_view cls, std::string_view attributes, std::string_view hover) {
    use(cls);
    m_body += "<circle" + at("cx", x) + at("cy", y) + at("r", r) + tail(cls, attributes, hover, "circle");
    grow(y + r);
}

void Svg::text(double x, double y, Type type, std::string_view s, Anchor anchor, std::string_view cls, std::string_view hover) {
    if (s.empty()) return;
    const TypeRow& t = types[std::size_t(type)];
    std::string classes(t.cls);
    if (!cls.empty()) classes += " " + std::string(cls);
    use(classes);
    m_body += "<text" + at("x", x) + at("y", y) + " class=\"" + classes + "\"";
    if (anchor != Anchor::start) m_body += anchor == Anchor::middle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
    m_body += ">" + (hover.empty() ? std::string{} : "<title>" + escape(hover) + "</title>") + escape(s) + "</text>\n";
    const double w = text_width(s, t.size, t.bold, t.mono);
    const double left = anchor == Anchor::start ? x : anchor == Anchor::middle ? x - w / 2 : x - w;
    m_labels.push_back({left, y - t.size * 0.78, left + w, y + t.size * 0.2, std::string(s)});
    grow(y + 4);
}

void Svg::title_text(double x, double y, std::string_view name, std::string_view rest) {
    use("th tv");
    m_body += "<text" + at("x", x) + at("y", y) + " class=\"tv\"><tspan class=\"th\">" + escape(name) + "</tspan><tspan dx=\"12\">" + escape(rest) + "</tspan></text>\n";
    const double w = text_width(name, 16, true) + 12 + text_width(rest, 12.5);
    m_labels.push_back({x, y - 13, x + w, y + 3, std::string(name) + " " + std::string(rest)});
    grow(y + 4);
}

void Svg::open(std::string_view key, std::string_view hover) {
    m_body += "<g";
    if (!key.empty()) m_body += " data-k=\"" + escape(key) + "\"";
    m_body += ">";
    if (!hover.empty()) m_body += "<title>" + escape(hover) + "</title>";
    m_body += "\n";
}
void Svg::close() { m_body += "</g>\n"; }

namespace {
std::string hue_tag(int hue) { return hue < 0 ? "x" : std::to_string(hue); }
} // namespace

// Ids must differ between figures of one page and repeat for equal input: finish() replaces the mark by a content hash.
std::string Svg::id(std::string_view what) const { return std::string(what) + "-@@"; }
std::string Svg::arrow(int hue) {
    m_arrows.insert(hue);
    return "marker-end=\"url(#" + id("a" + hue_tag(hue)) + ")\"";
}
std::string Svg::hatch(int hue) {
    m_hatches.insert(hue);
    return "fill=\"url(#" + id("w" + hue_tag(hue)) + ")\"";
}

std::string Svg::style(Theme theme) const {
    const Roles& r = roles(theme);
    std::string s;
    const auto rule = [&](std::string_view name, std::string_view body) {
        if (m_classes.count(std::string(name))) s += ".xp ." + std::string(name) + "{" + std::string(body) + "}";
    };
    s += ".xp text{font-family:" + std::string(sans) + ";fill:" + r.ink + "}";
    rule("th", "font-size:16px;font-weight:700");
    rule("tv", "font-size:12.5px");
    rule("tt", "font-size:11.5px");
    rule("ts", "font-size:10.5px;fill:" + r.muted);
    rule("tg", "font-size:13px;font-weight:700");
    rule("tn", "font-size:11px;font-family:" + std::string(mono_fonts));
    rule("tl", "font-size:10.5px;font-weight:600");
    rule("tb", "font-size:11.5px;font-weight:600");
    rule("card", "fill:" + r.card);
    rule("edge", "fill:" + r.card + ";stroke:" + r.border);
    rule("lane", "fill:" + r.lane);
    rule("cell", "fill:" + r.lane + ";stroke:" + r.faint + ";stroke-width:.9");
    rule("box", "fill:" + r.card + ";stroke:" + r.faint);
    rule("dash", "fill:none;stroke:" + r.faint + ";stroke-dasharray:3 3");
    rule("frame", "fill:" + r.card + ";stroke:" + r.border + ";stroke-dasharray:3 2");
    rule("gridline", "stroke:" + r.grid + ";fill:none");
    rule("axis", "stroke:" + r.faint + ";fill:none");
    rule("inkline", "stroke:" + r.ink + ";stroke-width:2;fill:none");
    rule("critical", "stroke:" + r.ink + ";stroke-width:2.4;fill:none");
    rule("thin", "stroke:" + r.ink + ";stroke-width:.9;fill:none");
    rule("dots", "stroke:" + r.faint + ";stroke-width:1.6;stroke-dasharray:1.6 3.2;fill:none");
    rule("ink", "fill:" + r.ink);
    rule("faintfill", "fill:" + r.faint);
    rule("neutral", "fill:" + css(mix(rgb(r.faint), rgb(r.card), 0.55)) + ";stroke:" + r.muted + ";stroke-width:.7");
    rule("neutralline", "stroke:" + r.faint + ";stroke-width:1.4;fill:none");
    rule("reserved", "fill:" + css(mix(rgb(r.card), rgb(r.faint), 0.35)));
    for (auto [name, colour] : {std::pair<const char*, const std::string*>{"good", &r.good}, {"warn", &r.warn}, {"bad", &r.bad}, {"muted", &r.muted}}) {
        const std::string n(name), c(*colour);
        rule("f" + n, "fill:" + c);
        rule("s" + n, "stroke:" + c + ";stroke-width:1.6;fill:none");
        rule("p" + n, "fill:none;stroke:" + c + ";stroke-dasharray:4 3");
        if (m_classes.count("x" + n)) s += ".xp text.x" + n + ",.xp tspan.x" + n + "{fill:" + c + "}";
    }
    if (m_classes.count("oncard")) s += ".xp text.oncard{fill:" + r.card + "}";
    if (m_classes.count("plain")) s += ".xp text.plain{fill:" + r.ink + "}";
    for (int h = 0; h < hue_count; ++h) {
        const std::string n = std::to_string(h), &c = hue_colour(h, theme), line = outline(c, theme);
        rule("h" + n, "fill:" + c + ";stroke:" + line + ";stroke-width:.7");                    // bar, chip
        rule("H" + n, "fill:" + c + ";stroke:" + c + ";stroke-width:1.5");                      // set pill, brick head
        rule("p" + n, "fill:" + r.card + ";stroke:" + line + ";stroke-width:1.3");              // wait pill, id box
        rule("b" + n, "fill:" + r.card + ";stroke:" + c + ";stroke-width:1.6");                 // brick
        rule("l" + n, "stroke:" + line + ";stroke-width:2;fill:none");                          // arrow
        rule("d" + n, "stroke:" + line + ";stroke-width:2;fill:none;stroke-dasharray:6 4");     // arrow "slot free"
        rule("t" + n, "stroke:" + c + ";stroke-width:1.4;fill:none");                           // in flight
        rule("w" + n, "stroke:" + c + ";stroke-width:.8");                                      // frame of a paid wait
        rule("e" + n, "fill:none;stroke:" + c + ";stroke-dasharray:3 2");                       // free wait
        rule("q" + n, "fill:" + c);                                                             // bin
        rule("u" + n, "fill:" + c + ";fill-opacity:.45");                                       // bin of paid waiting
        rule("A" + n, "fill:" + line);                                                          // arrow head
        rule("B" + n, "fill:" + css(mix(rgb(r.card), rgb(c), 0.14)));                           // under the hatch
        if (m_classes.count("c" + n)) s += ".xp text.c" + n + ",.xp tspan.c" + n + "{fill:" + label_on(c) + "}";
        rule("n" + n, "stroke:" + label_on(c) + ";stroke-opacity:.6;stroke-width:.9;fill:none"); // seam
    }
    rule("hatchbad", "fill:" + r.bad);
    rule("underbad", "fill:" + css(mix(rgb(r.card), rgb(r.bad), 0.14)));
    rule("wbad", "stroke:" + r.bad + ";stroke-width:1");
    return s;
}

std::string Svg::finish() const {
    std::string defs;
    auto* self = const_cast<Svg*>(this);   // the classes of the definitions belong to the style sheet as well
    for (int h : m_arrows) {
        const std::string cls = h < 0 ? "ink" : "A" + std::to_string(h);
        self->use(cls);
        defs += "<marker id=\"" + id("a" + hue_tag(h)) + "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"" + (h < 0 ? "6" : "8") + "\" markerHeight=\"" +
                (h < 0 ? "6" : "8") + "\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 .5L8 4L0 7.5z\" class=\"" + cls + "\"/></marker>";
    }
    for (int h : m_hatches) {
        const std::string under = h < 0 ? "underbad" : "B" + std::to_string(h), over = h < 0 ? "hatchbad" : "q" + std::to_string(h);
        self->use(under + " " + over);
        defs += "<pattern id=\"" + id("w" + hue_tag(h)) + "\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                "<rect width=\"5\" height=\"5\" class=\"" + under + "\"/><rect width=\"2.1\" height=\"5\" class=\"" + over + "\"/></pattern>";
    }
    self->use("edge");
    const double height = std::ceil(m_height) + 12;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"xp\" viewBox=\"0 0 " + number(m_width) + " " + number(height) + "\" width=\"" + number(m_width) +
                      "\" height=\"" + number(height) + "\" role=\"img\">\n<title>" + escape(m_title) + "</title>\n<desc>" + escape(m_description) + "</desc>\n<style>" +
                      style(Theme::light) + "</style>\n";
    if (!defs.empty()) out += "<defs>" + defs + "</defs>\n";
    out += "<rect x=\"0.5\" y=\"0.5\" width=\"" + number(m_width - 1) + "\" height=\"" + number(height - 1) + "\" rx=\"8\" class=\"edge\"/>\n" + m_body + "</svg>";
    const std::string hash = content_hash(out).substr(0, 8);
    for (std::size_t i = out.find("-@@"); i != std::string::npos; i = out.find("-@@", i)) {
        // Only inside ids of ours: "#a0-@@" and "id="a0-@@""; a user's text has its quotes and hashes escaped or is no attribute.
        const std::size_t close = i + 3;
        if (close < out.size() && (out[close] == '"' || out[close] == ')')) out.replace(i + 1, 2, hash);
        i += 3;
    }
    return out;
}

} // namespace xpto::views
