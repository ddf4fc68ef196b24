/// What stands in the lanes: bars, waits, bins, the critical path.
#include "kernel/views/timeline_chart.hpp"

namespace xpto::views {

using namespace timeline;

void TimelineChart::lane(std::size_t i) {
    const Lane& l = m_t.lanes[i];
    const double y = m_y[i], h = lane_height(l), mid = y + h / 2;
    m_svg.rect(x0, y, x1 - x0, h, 0, "lane", "data-lane=\"" + std::to_string(i) + "\"");
    m_svg.text(28, mid + 4, Type::mono, clip_to(l.pipe, 34, 11, false, true));
    m_svg.text(66, mid + 4, Type::small, clip_to(arrows(l.role), 46, 10.5));
    const std::int64_t share = std::llround(100.0 * double(l.totals.busy) / double(m_t.total));
    m_svg.text(880, mid + 4, Type::mono, std::to_string(share) + " %", Anchor::end);
    if (m_binned) return binned(l, y, h);
    for (const Gap& g : l.gaps) {
        if (hidden(g.start)) continue;
        if (x(g.end) - x(g.start) > 6) m_svg.line(x(g.start) + 2, mid, x(g.end) - 1.5, mid, "dots");
    }
    for (const Wait& w : l.waits)
        if (!hidden(w.start)) wait(l, w, mid);
    for (const Bar& b : m_bars[i])
        if (!hidden(b.start)) bar(l, b, y);
    if (!l.predicted.empty()) {
        for (const Slice& s : l.predicted)
            if (!hidden(s.start)) m_svg.rect(x(s.start), y + h - 4, std::max(0.5, x(s.end) - x(s.start)), 3.5, 0, s.stage < 0 ? "neutral" : cls('q', s.stage), "opacity=\".35\"");
    }
}

std::string TimelineChart::arrows(std::string s) const {
    if (const auto i = s.find(" to "); i != std::string::npos) s.replace(i, 4, "→");
    return s;
}

void TimelineChart::wait(const Lane& l, const Wait& w, double mid) {
    const double a = x(w.start), m = x(w.end - w.paid), b = x(w.end);
    std::string words = l.core + " " + l.pipe + " waits for " + stage_name(w.for_stage) + (w.task >= 0 ? ", task " + std::to_string(w.task) : "") + ": " +
                        std::to_string(cycles(w.end - w.start)) + " cycles, of which " + std::to_string(cycles(w.paid)) + " delay it";
    if (!w.buffer.empty()) words += "; " + w.buffer + (w.direction == Direction::ready ? " ready" : " free") + (w.id >= 0 ? ", id " + std::to_string(w.id) : "");
    if (m - a > 0.5) m_svg.rect(a, mid - 6, m - a, 12, 0, cls('e', w.for_stage), {}, w.paid == 0 ? words : std::string{});
    if (w.paid <= 0) return;
    m_svg.rect(m, mid - 7, std::max(0.6, b - m), 14, 0, cls('w', w.for_stage), m_svg.hatch(hue(w.for_stage)), words);
    if (b - m < 60) return;
    const std::string name = clip_middle(stage_name(w.for_stage));
    for (const std::string& s : {say("waits for ", "等待 ") + name + (w.fill ? say(" (fill)", "（填充）") : ""), say("waits for ", "等待 ") + name, name}) {
        const double width = text_width(s, 10.5) * 1.12 + 14;
        if (width > b - m - 6) continue;
        m_svg.rect((m + b - width) / 2, mid - 7.5, width, 15, 3, cls('p', w.for_stage), "style=\"stroke-width:.8\"");
        m_svg.text((m + b) / 2, mid + 4, Type::small, s, Anchor::middle, "plain");
        break;
    }
}

void TimelineChart::bar(const Lane& l, const Bar& b, double y) {
    const double h = bar_height(l), top = y + 4, a = x(b.start), w = std::max(0.8, x(b.end) - a);
    const std::string fill = b.stage < 0 ? "neutral" : cls('h', b.stage);
    if (b.landed > b.end) {
        const double land = x(b.landed);
        const std::string c = b.stage < 0 ? "neutralline" : cls('t', b.stage);
        m_svg.line(a + w, y + 2, land, y + 2, c);
        m_svg.line(land, y + 0.2, land, y + 5.5, c);
    }
    std::string words;
    for (std::size_t k = b.first; k < std::min(b.first + b.count, b.first + 4); ++k) {
        const Slice& s = l.slices[k];
        const TimelineOp* op = s.op >= 0 && std::size_t(s.op) < m_t.ops.size() ? &m_t.ops[std::size_t(s.op)] : nullptr;
        if (!words.empty()) words += "; ";
        words += (s.stage < 0 ? say("before the loop", "循环之外") : stage_name(s.stage) + " " + l.pipe + " task " + std::to_string(s.task)) + ": " + (op ? op->name : "?") + ", " +
                 std::to_string(cycles(s.end - s.start)) + " cycles from " + std::to_string(cycles(s.start));
        if (op && op->place.valid()) words += ", " + text_of(op->place);
        if (op && !op->grade.empty()) words += ", " + op->grade + " row";
    }
    m_svg.rect(a, top, w, h, w > 5 ? 2 : 0, fill, b.stage < 0 ? "" : "data-k=\"s" + std::to_string(b.stage) + "\"", words);
    if (b.stage >= 0 && w > 8) {
        std::string seams;
        for (std::size_t k = b.first + 1; k < b.first + b.count; ++k) {
            const double s = x(l.slices[k].start);
            if (s - a < 2 || a + w - s < 2) continue;
            // In a tall bar the label sits between the notches.
            const double notch = l.computes ? 4 : 6;
            seams += "M" + number(s) + " " + number(top + 0.5) + "v" + number(notch) + "M" + number(s) + " " + number(top + h - 0.5) + "v" + number(-notch);
            if (seams.size() > 2000) break;
        }
        if (!seams.empty()) m_svg.path(seams, cls('n', b.stage));
    }
    if (w < 22) return;
    std::string label = b.stage >= 0 ? std::to_string(b.stage + 1) + ":" + std::to_string(b.task) : std::string{};
    if (b.stage < 0 && b.first < l.slices.size()) {
        const std::int32_t op = l.slices[b.first].op;
        if (op >= 0 && std::size_t(op) < m_t.ops.size()) label = clip_middle(m_t.ops[std::size_t(op)].label, 8);
    }
    const bool seams = b.count > 1 && !l.computes;
    if (!label.empty() && !seams && text_width(label, 10.5, true) <= w) m_svg.text(a + w / 2, top + h / 2 + 4, Type::label, label, Anchor::middle, b.stage < 0 ? "" : cls('c', b.stage));
}

void TimelineChart::binned(const Lane& l, double y, double h) {
    const std::size_t n_stages = m_t.stages.size();
    const int n = int(drawn_width / 2);
    const std::vector<Bin> parts = bins(l, n_stages, 0, m_t.total, n);
    const double usable = h - 2;
    std::vector<std::string> busy(n_stages + 1), paid(n_stages + 1);
    for (int k = 0; k < n; ++k) {
        const double whole = double(m_t.total) / n;
        double top = y + h - 1;
        const auto stack = [&](Ticks v, std::string& d) {
            const double height = double(v) / whole * usable;
            if (height < 0.25) return;
            top -= height;
            d += "M" + std::to_string(int(x0) + 2 * k) + " " + number(top) + "h2v" + number(height) + "h-2z";
        };
        for (std::size_t s = 0; s <= n_stages; ++s) stack(parts[std::size_t(k)].busy[s], busy[s]);
        for (std::size_t s = 0; s <= n_stages; ++s) stack(parts[std::size_t(k)].paid[s], paid[s]);
    }
    for (std::size_t s = 0; s <= n_stages; ++s) {
        const std::string what = s < n_stages ? m_t.stages[s].name : say("before the loop", "循环之外");
        if (!busy[s].empty()) m_svg.path(busy[s], s < n_stages ? cls('q', std::int32_t(s)) : "faintfill", {}, l.core + " " + l.pipe + ": " + what);
        if (!paid[s].empty()) m_svg.path(paid[s], cls('u', std::int32_t(std::min(s, n_stages - 1))), {}, l.core + " " + l.pipe + " waits for " + what);
    }
}

void TimelineChart::critical() {
    const Slice* before = nullptr;
    std::size_t before_lane = 0;
    if (m_t.critical.size() > 400) return;
    for (const CriticalStep& c : m_t.critical) {
        if (c.lane < 0 || std::size_t(c.lane) >= m_t.lanes.size()) continue;
        const Lane& l = m_t.lanes[std::size_t(c.lane)];
        if (c.slice < 0 || std::size_t(c.slice) >= l.slices.size()) continue;
        const Slice& s = l.slices[std::size_t(c.slice)];
        if (hidden(s.start)) {
            before = nullptr;
            continue;
        }
        const std::size_t i = std::size_t(c.lane);
        const double y = m_y[i] + lane_height(l) - 1.4;
        m_svg.line(x(s.start), y, std::max(x(s.end), x(s.start) + 1), y, "critical", "data-critical=\"1\"");
        if (before && before_lane != i) {
            const bool down = m_y[i] > m_y[before_lane];
            const double from = m_y[before_lane] + lane_height(m_t.lanes[before_lane]) - 1.4;
            const double to = down ? m_y[i] + 3 : m_y[i] + 4 + bar_height(l) + 4;
            m_svg.path("M" + number(x(before->end)) + " " + number(from) + "H" + number(std::max(x(s.start), x(before->end))) + "V" + number(to), "thin", m_svg.arrow(-1));
        }
        before = &s;
        before_lane = i;
    }
}

} // namespace xpto::views
