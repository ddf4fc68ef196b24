/// Precision verdict and sweep: pictures over numbers that a run produced.
#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace xpto::views {

using namespace pto::report;

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string stamp_line(Status s, const std::string& text) {
    const std::string line = first_line(text), w(word(s));
    return verdict_html(s, line.rfind(w, 0) == 0 ? line.substr(std::min(line.size(), w.size() + 2)) : line) + "<br>\n";
}

void stamp(Svg& svg, Status s) {
    const std::string words = std::string(glyph(s)) + " " + std::string(word(s));
    const double w = text_width(words, 10.5, true) * 1.1 + 24;
    const Tone t = tone(s);
    svg.rect(882 - w, 15, w, 23, 11.5, t == Tone::good ? "fgood" : t == Tone::bad ? "fbad" : "fwarn");
    svg.text(882 - w / 2, 31, Type::label, words, Anchor::middle, "oncard");
}

/// At most 64 x 64 cells are drawn: the largest value of what falls together.
void error_map(Svg& svg, const ErrorMap& m, double x0, double y0, double w, double h) {
    const int rows = std::min(64, m.rows), cols = std::min(64, m.columns);
    if (rows <= 0 || cols <= 0) return;
    std::array<std::string, 18> paths;   // 0..15 cividis 0-6 sigma, 16 above 6, 17 above the limit
    const double cw = w / cols, ch = h / rows;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
            double z = 0;
            for (int rr = r * m.rows / rows; rr < std::max((r + 1) * m.rows / rows, r * m.rows / rows + 1); ++rr)
                for (int cc = c * m.columns / cols; cc < std::max((c + 1) * m.columns / cols, c * m.columns / cols + 1); ++cc)
                    z = std::max(z, m.z[std::size_t(rr) * std::size_t(m.columns) + std::size_t(cc)]);
            const std::size_t level = !std::isfinite(z) ? 17 : z > 6 ? 16 : std::min<std::size_t>(15, std::size_t(z / 6 * 16));
            paths[level] += "M" + number(x0 + c * cw) + " " + number(y0 + r * ch) + "h" + number(cw) + "v" + number(ch) + "h-" + number(cw) + "z";
        }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (paths[i].empty()) continue;
        const std::string colour = i == 17 ? "#B3261E" : i == 16 ? "#E0B04A" : cividis(double(i) / 16);
        svg.path(paths[i], {}, "fill=\"" + colour + "\" shape-rendering=\"crispEdges\"");
    }
    for (std::size_t i = 0; i < m.task_rows.size(); ++i) {
        const double y = y0 + h * double(m.task_rows[i]) / double(std::max<std::int64_t>(1, m.element_rows));
        svg.line(x0 - 4, y, x0 + w, y, "gridline", "stroke-opacity=\".5\"");
        if (i < m.task_labels.size() && m.task_rows.size() <= 14) svg.text(x0 - 8, y + 12, Type::small, clip_to(m.task_labels[i], 92, 10.5), Anchor::end);
    }
}

} // namespace

Svg draw(const Precision& p, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    Svg svg(900, first_line(to_text(p)), "Left: largest error over sigma per cell. Right: how often which error occurs");
    stamp(svg, status(p));
    svg.title_text(20, 31, clip_middle(p.output), clip_to(p.shape + " " + p.dtype + (zh ? "，参考 " : ", reference ") + p.reference + ", " + p.provenance.computed_by, 560, 12.5));
    svg.text(124, 62, Type::label, zh ? "误差 / σ，每格最大值" : "error / sigma, largest per cell");
    error_map(svg, p.map, 124, 70, 330, 190);
    double x = 124;
    for (int i = 0; i < 16; ++i) svg.rect(x + 9.0 * i, 270, 9, 8, 0, {}, "fill=\"" + cividis(i / 16.0) + "\"");
    svg.text(124, 292, Type::small, "0");
    svg.text(268, 292, Type::small, "6 σ", Anchor::middle);
    svg.rect(300, 270, 9, 8, 0, {}, "fill=\"#E0B04A\"");
    svg.text(313, 278, Type::small, zh ? "超过 6 σ" : "above 6");
    svg.rect(380, 270, 9, 8, 0, {}, "fill=\"#B3261E\"");
    svg.text(393, 278, Type::small, zh ? "超过上限" : "above limit");
    // Histogram, counts on a log scale; bars beyond 6 sigma stand apart.
    const double hx = 520, hw = 350, hy = 250, hh = 170;
    svg.text(hx, 62, Type::label, zh ? "元素个数（对数），按误差 / σ" : "elements (log), by error / sigma");
    double most = 1, far = 8;
    for (const HistogramBar& b : p.histogram) {
        most = std::max(most, double(b.count));
        if (b.count > 0 && std::isfinite(b.to)) far = std::max(far, b.to);
    }
    const bool log_axis = far > 24;
    const auto at = [&](double z) { return hx + hw * (log_axis ? std::log1p(z) / std::log1p(far) : z / far); };
    for (const HistogramBar& b : p.histogram) {
        if (b.count <= 0) continue;
        const double height = hh * std::log1p(double(b.count)) / std::log1p(most), to = std::isfinite(b.to) ? b.to : far;
        svg.rect(at(b.from), hy - height, std::max(1.0, at(to) - at(b.from) - 1), height, 0, b.from >= 6 ? "fwarn" : "q0", {}, fixed(b.from, 1) + " to " + fixed(b.to, 1) + " sigma: " + grouped(b.count));
    }
    svg.line(hx, hy, hx + hw, hy, "axis");
    svg.line(at(6), hy - hh - 6, at(6), hy + 4, "swarn", "stroke-dasharray=\"4 3\"");
    svg.text(at(6), hy + 16, Type::small, "6 σ", Anchor::middle);
    svg.text(hx, hy + 16, Type::small, "0", Anchor::middle);
    if (at(far) - at(6) > 50) svg.text(hx + hw, hy + 16, Type::small, grouped(std::llround(far)), Anchor::end);
    svg.text(hx, 286, Type::small, (zh ? "超过 6 σ：" : "above 6 sigma: ") + grouped(p.above_sigma) + (zh ? "，超过上限：" : ", above the limit: ") + grouped(p.above_limit) + (zh ? "，共 " : ", of ") + grouped(p.elements),
             Anchor::start, p.above_limit ? "xbad" : p.above_sigma ? "xwarn" : "");
    return svg;
}

nl::json mime_bundle(const Precision& p, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string text = to_text(p, options.language);
    const Status s = status(p);
    std::string body = stamp_line(s, text);
    if (p.map.rows > 0) body += figure(draw(p, options), first_line(text), options);
    const auto number_text = [](double v) {
        char b[40];
        std::snprintf(b, sizeof b, "%.6g", v);
        return std::string(b);
    };
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min<std::size_t>(10, p.worst.size()); ++i) {
        const ElementError& e = p.worst[i];
        std::string index;
        for (std::size_t k = 0; k < e.index.size(); ++k) index += (k ? "," : "") + std::to_string(e.index[k]);
        rows.push_back({index, number_text(e.got), number_text(e.expected), e.sigma > 0 ? fixed(std::abs(e.error) / e.sigma, 1) : "", e.task < 0 ? "" : std::to_string(e.task), e.subblock < 0 ? "" : "AIV" + std::to_string(e.subblock)});
    }
    const bool good = tone(s) == Tone::good;
    if (!rows.empty())
        body += details(zh ? "误差最大的元素" : "Worst elements",
                        table(zh ? std::vector<std::string>{"下标", "结果", "期望", "误差 / σ", "任务", ""} : std::vector<std::string>{"index", "got", "expected", "error / sigma", "task", ""}, rows, "lrrrrl"), !good);
    body += details(zh ? "推导与文本" : "Derivation and text", pre(text), !good);
    return bundle(text, std::move(body));
}

Svg draw(const Sweep& s, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    using State = SweepPoint::State;
    Svg svg(900, first_line(to_text(s)), "Time of each setting; refused ones on the top rail");
    stamp(svg, status(s));
    svg.title_text(20, 31, clip_middle(s.kernel), clip_to(s.swept + (s.provenance.computed_by.empty() ? "" : ", " + s.provenance.computed_by), 560, 12.5));
    const double x0 = 70, x1 = 870, y0 = 96, y1 = 300;
    double most = 0;
    for (const SweepPoint& p : s.points) most = std::max({most, p.us, p.slowest_us});
    if (most <= 0) most = 1;
    double step = std::pow(10.0, std::floor(std::log10(most)));
    for (double next : {step / 2, step / 5})
        if (most / step < 3) step = next;
    const auto y = [&](double us) { return y1 - (y1 - y0) * us / (most * 1.08); };
    for (double v = 0; v <= most * 1.08; v += step) {
        svg.line(x0, y(v), x1, y(v), "gridline");
        svg.text(x0 - 8, y(v) + 4, Type::small, fixed(v, step < 1 ? 1 : 0) + (v == 0 ? " µs" : ""), Anchor::end);
    }
    if (s.floor_us > 0) {
        svg.line(x0, y(s.floor_us), x1, y(s.floor_us), "axis", "stroke-dasharray=\"6 4\"");
        svg.text(x1, y(s.floor_us) - 4, Type::small, zh ? "只有最忙流水的下限" : "floor: the pacing pipe alone", Anchor::end);
    }
    svg.text(20, 70, Type::small, zh ? "已拒绝" : "refused");
    // Grouped by preload; the line joins the best of each.
    std::vector<std::int32_t> preloads;
    for (const SweepPoint& p : s.points)
        if (preloads.empty() || preloads.back() != p.preload) preloads.push_back(p.preload);
    const double column = (x1 - x0) / double(std::max<std::size_t>(1, s.points.size()));
    std::string line;
    double last_label = -1e9;
    for (std::size_t i = 0; i < s.points.size();) {
        std::size_t end = i;
        while (end < s.points.size() && s.points[end].preload == s.points[i].preload) ++end;
        const double left = x0 + column * double(i), right = x0 + column * double(end);
        svg.text((left + right) / 2, y1 + 34, Type::label, (column * double(end - i) > 70 ? "preload " : "") + std::to_string(s.points[i].preload), Anchor::middle);
        if (end < s.points.size()) svg.line(right, y0 - 30, right, y1 + 8, "gridline");
        double best = -1, best_x = 0;
        for (std::size_t k = i; k < end; ++k) {
            const SweepPoint& p = s.points[k];
            const double cx = x0 + column * (double(k) + 0.5);
            std::string setting = "preload " + std::to_string(p.preload);
            std::string below;
            for (const auto& [name, v] : p.setting) {
                setting += ", " + name + " " + v;
                below += (below.empty() ? "" : " ") + name + " " + v;
            }
            if (!below.empty() && text_width(below, 10.5) * 1.15 < column) svg.text(cx, y1 + 18, Type::small, below, Anchor::middle);
            const std::string hover = setting + (p.us >= 0 ? ": " + fixed(p.us, 2) + " us" : "") + (p.reason.empty() ? "" : ", " + p.reason);
            if (p.state == State::refused) {
                svg.text(cx, 72, Type::bold, "✖", Anchor::middle, "xmuted", hover);
                std::string reason = p.reason;
                if (const std::size_t colon = reason.find(": "); colon != std::string::npos) reason = reason.substr(colon + 2);
                reason = clip_to(reason, (column - 6) / 1.12, 10.5);
                if (column > 40) svg.text(cx, 86, Type::small, reason, Anchor::middle);
                continue;
            }
            if (p.us < 0) continue;
            if (p.slowest_us > p.fastest_us && p.fastest_us >= 0) svg.rect(cx - 5, y(p.slowest_us), 10, y(p.fastest_us) - y(p.slowest_us), 0, "p0", {}, hover);
            if (p.state == State::wrong || p.state == State::hang) {
                svg.text(cx, y(p.us) + 4, Type::bold, "✖", Anchor::middle, "xbad", hover);
                continue;
            }
            svg.circle(cx, y(p.us), 5, p.state == State::right ? "H0" : "p0", {}, hover);
            if (s.best >= 0 && std::size_t(s.best) == k) svg.circle(cx, y(p.us), 9, "sgood");
            const std::string label = fixed(p.us, 2);
            if (cx - last_label > text_width(label, 10.5, true) * 1.2) {
                svg.text(cx, y(p.us) - 13, Type::label, label, Anchor::middle);
                last_label = cx;
            }
            if (p.state == State::right && (best < 0 || p.us < best)) best = p.us, best_x = cx;
        }
        if (best >= 0) line += (line.empty() ? "M" : "L") + number(best_x) + " " + number(y(best));
        i = end;
    }
    if (line.find('L') != std::string::npos) svg.path(line, "thin", "opacity=\".5\"");
    svg.grow(y1 + 40);
    return svg;
}

nl::json mime_bundle(const Sweep& s, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string text = to_text(s, options.language);
    std::string body = stamp_line(status(s), text);
    if (!s.points.empty()) body += figure(draw(s, options), first_line(text), options);
    if (!s.advice.empty()) body += "<b>" + std::string(zh ? "建议" : "advice") + "</b> " + escape(s.advice) + "<br>\n";
    body += details(zh ? "表" : "Table", pre(text), s.points.size() <= 12);
    return bundle(text, std::move(body));
}

} // namespace xpto::views
