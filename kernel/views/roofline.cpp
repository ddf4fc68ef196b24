/// Roofline and what-if: two short answers about what would help.
#include "kernel/views/timeline_chart.hpp"
#include "kernel/views/timeline_extras.hpp"

#include "engine/report/chinese.hpp"

namespace xpto::views {

using namespace pto::report;
using namespace timeline;

namespace {

std::string percent(double share) { return fixed(100 * share, share < 0.1 ? 1 : 0) + " %"; }

/// Operations a microsecond are millions a second: "12.3 T/s".
std::string rate(double per_us) {
    if (per_us >= 1e6) return fixed(per_us / 1e6, per_us >= 1e8 ? 0 : 1) + " T/s";
    return fixed(per_us / 1e3, per_us >= 1e5 ? 0 : 1) + " G/s";
}

double share_of_roof(const RoofPoint& p) { return p.roof > 0 ? p.achieved / p.roof : 0; }

/// The hue family of a side: cool for the cube, warm for the vector cores.
int side_hue(const RoofPoint& p) { return p.side.rfind("cube", 0) == 0 ? 0 : 4; }

std::string power(int exponent) {
    if (exponent >= 0 && exponent <= 3) return std::to_string(int(std::pow(10, exponent)));
    if (exponent < 0 && exponent >= -2) return fixed(std::pow(10.0, exponent), -exponent);
    return "1e" + std::to_string(exponent);
}

} // namespace

std::string roofline_summary(const Timeline& t, Language language) {
    const bool zh = language == Language::zh;
    std::string out;
    for (const RoofPoint& p : t.roofline.points) {
        const std::string limit = zh ? (p.limit == "memory" ? "受限于访存" : "受限于计算") : p.limit == "memory" ? "memory" : "compute";
        out += (out.empty() ? "" : zh ? "；" : "; ") + (zh ? (p.side == "cube" ? std::string("cube") : p.side) + " 达到上限的 " + percent(share_of_roof(p)) + "（" + limit + "）"
                                                           : p.side + " reaches " + percent(share_of_roof(p)) + " of its roof (" + limit + ")");
    }
    return out;
}

Svg draw_roofline(const Timeline& t, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const Roofline& r = t.roofline;
    Svg svg(900, "roofline of " + t.kernel, roofline_summary(t, Language::en));
    const double left = 90, right = 690, top = 66, bottom = 316;
    double low_x = 1e30, high_x = 0, low_y = 1e30, high_y = 0;
    for (const RoofPoint& p : r.points) {
        if (p.intensity <= 0 || p.achieved <= 0 || p.peak <= 0) continue;
        const double ridge = r.hbm_bytes_per_us > 0 ? p.peak / r.hbm_bytes_per_us : p.intensity;
        low_x = std::min({low_x, p.intensity, ridge}), high_x = std::max({high_x, p.intensity, ridge});
        low_y = std::min(low_y, p.achieved), high_y = std::max(high_y, p.peak);
    }
    svg.title_text(20, 31, clip_middle(t.kernel), zh ? "屋顶线：每字节运算数与每微秒运算数" : "roofline: operations for a byte of global memory against operations a second");
    if (high_x <= 0) return svg;
    const int x_from = int(std::floor(std::log10(low_x) - 0.3)), x_to = int(std::ceil(std::log10(high_x) + 0.3));
    const int y_from = int(std::floor(std::log10(low_y) - 0.2)), y_to = int(std::ceil(std::log10(high_y) + 0.1));
    const auto x = [&](double v) { return left + (std::log10(v) - x_from) / std::max(1, x_to - x_from) * (right - left); };
    const auto y = [&](double v) { return bottom - (std::log10(v) - y_from) / std::max(1, y_to - y_from) * (bottom - top); };
    svg.rect(left, top, right - left, bottom - top, 0, "lane");
    for (int e = x_from; e <= x_to; ++e) {
        svg.line(x(std::pow(10.0, e)), top, x(std::pow(10.0, e)), bottom, "gridline");
        svg.text(x(std::pow(10.0, e)), bottom + 16, Type::small, power(e), Anchor::middle);
    }
    for (int e = y_from; e <= y_to; ++e) {
        svg.line(left, y(std::pow(10.0, e)), right, y(std::pow(10.0, e)), "gridline");
        svg.text(left - 8, y(std::pow(10.0, e)) + 4, Type::small, rate(std::pow(10.0, e)), Anchor::end);
    }
    svg.text((left + right) / 2, bottom + 34, Type::small, zh ? "每字节运算数" : "operations for a byte", Anchor::middle);
    const auto inside = [&](double v) { return std::clamp(v, top, bottom); };
    double row = top + 6;
    for (std::size_t i = 0; i < r.points.size(); ++i) {
        const RoofPoint& p = r.points[i];
        if (p.intensity <= 0 || p.achieved <= 0 || p.peak <= 0) continue;
        const std::string hue = std::to_string(side_hue(p));
        const double ridge = r.hbm_bytes_per_us > 0 ? p.peak / r.hbm_bytes_per_us : std::pow(10.0, x_from);
        // The roof: memory slope up to the ridge, then the peak.
        const double start = std::max(std::pow(10.0, x_from), std::pow(10.0, y_from) / std::max(1e-9, r.hbm_bytes_per_us));
        if (ridge > start) svg.path("M" + number(x(start)) + " " + number(inside(y(start * r.hbm_bytes_per_us))) + "L" + number(x(ridge)) + " " + number(y(p.peak)) + "H" + number(right), "t" + hue, "fill=\"none\"");
        const double px = x(p.intensity), py = y(p.achieved);
        svg.line(px, py, px, inside(y(std::max(p.roof, 1e-9))), "e" + hue);
        svg.circle(px, py, 5, "h" + hue, "data-k=\"r" + std::to_string(i) + "\"", p.side + ": " + rate(p.achieved) + " of " + rate(p.roof) + ", " + fixed(p.intensity, 1) + " operations for a byte");
        svg.text(px + 9, py + 14, Type::label, p.side);
        // The words beside the chart.
        svg.rect(706, row, 12, 12, 2, "h" + hue);
        svg.text(724, row + 10, Type::bold, p.side);
        svg.text(706, row + 28, Type::small, rate(p.achieved) + (zh ? "，上限 " : " of ") + rate(p.roof));
        svg.text(706, row + 43, Type::small, percent(share_of_roof(p)) + (zh ? (p.limit == "memory" ? "，受限于访存" : "，受限于计算") : p.limit == "memory" ? ", limited by memory" : ", limited by compute"));
        svg.text(706, row + 58, Type::small, fixed(p.intensity, 1) + (zh ? " 次运算/字节" : " operations a byte"));
        row += 84;
    }
    if (r.hbm_bytes_per_us > 0) svg.text(706, bottom - 4, Type::small, (zh ? "斜线：HBM " : "slope: HBM ") + rate(r.hbm_bytes_per_us).substr(0, rate(r.hbm_bytes_per_us).find('/')) + "B/s");
    svg.grow(bottom + 44);
    return svg;
}

std::string roofline_html(const Timeline& t, const ViewOptions& options) {
    if (t.roofline.points.empty()) return {};
    const bool zh = options.language == Language::zh;
    const std::string summary = roofline_summary(t, options.language);
    std::vector<std::vector<std::string>> rows;
    for (const RoofPoint& p : t.roofline.points)
        rows.push_back({p.side, grouped(std::int64_t(p.operations + 0.5)), fixed(p.intensity, 2), rate(p.achieved), rate(p.roof), rate(p.peak), percent(share_of_roof(p)), zh ? (p.limit == "memory" ? "访存" : "计算") : p.limit});
    return details((zh ? "屋顶线：" : "Roofline: ") + summary,
                   figure(draw_roofline(t, options), "roofline: " + summary, options) +
                       table(zh ? std::vector<std::string>{"", "运算数", "每字节", "达到", "屋顶", "峰值", "占屋顶", "受限于"} : std::vector<std::string>{"", "operations", "a byte", "reached", "roof", "peak", "of roof", "limit"}, rows, "lrrrrrrl"),
                   false);
}

std::string what_if_html(const Timeline& t, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    std::vector<std::vector<std::string>> rows;
    const WhatIf* best = nullptr;
    double most = 1e-9;
    std::size_t lines = 0;
    for (const WhatIfGroup& g : t.what_if)
        for (const WhatIf& w : g.changes) {
            most = std::max(most, std::abs(w.percent)), ++lines;
            if (g.label.empty() && (!best || w.percent < best->percent)) best = &w;
        }
    if (!lines) return {};
    Svg svg(900, "what would help " + t.kernel, "Change of the total time by re-timing the same run");
    double y = 16;
    const double zero = 560, scale = 230 / most;
    svg.line(zero, 8, zero, 8 + 22.0 * double(lines + t.what_if.size()), "axis");
    for (const WhatIfGroup& g : t.what_if) {
        svg.text(20, y + 11, Type::bold, g.label.empty() ? (zh ? "本次运行" : "this run") : clip_to(g.label, 300, 11.5, true));
        y += 20;
        for (const WhatIf& w : g.changes) {
            const double width = std::abs(w.percent) * scale;
            const bool faster = w.percent < 0;
            svg.text(30, y + 11, Type::body, clip_to(said(w.change, options.language), 280, 11.5));
            svg.rect(faster ? zero - width : zero, y, std::max(width, 1.0), 14, 1, std::abs(w.percent) < 0.05 ? "neutral" : faster ? "fgood" : "fwarn");
            svg.text(880, y + 11, Type::mono, (w.percent > 0 ? "+" : w.percent < 0 ? "−" : "") + fixed(std::abs(w.percent), 1) + " %", Anchor::end);
            rows.push_back({g.label, said(w.change, options.language), (w.percent > 0 ? "+" : w.percent < 0 ? "-" : "") + fixed(std::abs(w.percent), 1) + " %"});
            y += 22;
        }
    }
    svg.text(zero - 8, y + 12, Type::small, zh ? "更快" : "faster", Anchor::end);
    svg.text(zero + 8, y + 12, Type::small, zh ? "更慢" : "slower");
    svg.grow(y + 22);
    std::string summary = zh ? "如果：" : "What if: ";
    summary += best ? said(best->change, options.language) + " " + (best->percent > 0 ? "+" : best->percent < 0 ? "−" : "") + fixed(std::abs(best->percent), 1) + " %" : plural(std::int64_t(lines), "change", "changes");
    return details(summary, figure(svg, summary, options) + table(zh ? std::vector<std::string>{"", "改动", "总时间"} : std::vector<std::string>{"", "change", "total time"}, rows, "llr"), false);
}

} // namespace xpto::views
