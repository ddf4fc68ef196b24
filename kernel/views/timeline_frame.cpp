/// What stands around the lanes: title, brackets, axis, legend, one bar per stage.
#include "kernel/views/timeline_chart.hpp"

#include "engine/report/chinese.hpp"

namespace xpto::views {

using namespace timeline;

TimelineChart::TimelineChart(const Timeline& t, const ViewOptions& options, Svg& svg) : m_t(t), m_zh(options.language == Language::zh), m_svg(svg) {
    std::vector<pto::isa::Core> cores;
    for (const StageTime& s : t.stages) cores.push_back(s.core);
    m_hues = stage_hues(cores);
    std::size_t n = 0;
    for (const Lane& l : t.lanes) {
        m_bars.push_back(bars(l));
        n += m_bars.back().size() + l.waits.size();
    }
    if (n > most_bars) {
        m_cut = periodic_middle(t);
        std::size_t left = 0;
        for (std::size_t i = 0; i < t.lanes.size(); ++i) {
            for (const Bar& b : m_bars[i]) left += !hidden(b.start);
            for (const Wait& w : t.lanes[i].waits) left += !hidden(w.start);
        }
        if (!m_cut.found || left > most_bars) m_cut = {}, m_binned = true;
    }
    const Ticks shown = std::max<Ticks>(1, t.total - (m_cut.found ? m_cut.to - m_cut.from : 0));
    m_scale = (drawn_width - (m_cut.found ? break_width : 0)) / double(shown);
}

void TimelineChart::draw() {
    head();
    if (m_t.lanes.empty() || m_t.total <= 0) {
        m_svg.text(20, 84, Type::body, say("nothing ran, so there is no chart", "没有运行任何操作，因此没有图"));
        return;
    }
    brackets();
    double y = place_lanes();
    grid(y);
    for (std::size_t i = 0; i < m_t.lanes.size(); ++i) lane(i);
    if (!m_binned) critical();
    if (m_cut.found) break_mark(y);
    y = axis(y);
    y = legend(y);
    stages(y);
}

void TimelineChart::head() {
    const Status s = status(m_t);
    const bool measured = s == Status::measured;
    std::string stamp = std::string(glyph(s)) + " " + std::string(word(s));
    if (m_zh) stamp = measured ? "● 实测" : "○ 预测";
    if (measured) stamp += " " + m_t.provenance.computed_by.substr(0, m_t.provenance.computed_by.find(' '));
    else if (m_t.provenance.guessed_percent > 0) stamp += m_zh ? "，" + std::to_string(m_t.provenance.guessed_percent) + " % 为猜测值" : ", " + std::to_string(m_t.provenance.guessed_percent) + " % guessed rows";
    const double w = text_width(stamp, 10.5, true) * 1.08 + 24;
    m_svg.rect(882 - w, 16, w, 22, 11, "pmuted", measured ? "style=\"stroke-dasharray:none\"" : "");
    m_svg.text(882 - w / 2, 31, Type::label, stamp, Anchor::middle, "xmuted");
    std::string rest = m_t.preload.empty() ? "" : "preload " + m_t.preload + ", ";
    rest += m_zh ? std::to_string(m_t.tasks) + " 个任务，" + std::to_string(m_t.blocks) + " 个 block" : plural(m_t.tasks, "task", "tasks") + ", " + plural(m_t.blocks, "block", "blocks");
    if (m_t.blocks > 1) rest += m_zh ? "，画出 block " + std::to_string(m_t.block) : ", block " + std::to_string(m_t.block) + " drawn";
    if (!m_t.target.empty()) rest += ", " + m_t.target;
    const std::string name = clip_middle(m_t.kernel);
    m_svg.title_text(20, 31, name, clip_to(rest, 882 - w - 52 - text_width(name, 16, true), 12.5));
    std::string line = us_text(m_t.total) + " µs";
    if (m_t.serial_total > 0)
        line += m_zh ? "，相对 preload 0（" + us_text(m_t.serial_total) + " µs）×" + fixed(double(m_t.serial_total) / double(std::max<Ticks>(1, m_t.total)), 2)
                     : ", ×" + fixed(double(m_t.serial_total) / double(std::max<Ticks>(1, m_t.total)), 2) + " against preload 0 (" + us_text(m_t.serial_total) + " µs)";
    if (measured && m_t.runs > 0) line += m_zh ? "，" + std::to_string(m_t.runs) + " 次中位数" : ", median of " + std::to_string(m_t.runs) + (m_t.fastest >= 0 ? ", " + us_text(m_t.fastest) + "–" + us_text(m_t.slowest) : "");
    line += m_zh ? "。" : ". ";
    if (m_t.steady >= 0) {
        const bool short_run = (m_t.fill > 0 || m_t.drain > 0) && m_t.fill + m_t.drain >= m_t.total - m_t.total / 20;
        const std::string pace = std::to_string(cycles(m_t.steady)), pipe = who(m_t.pace_core) + " " + m_t.pace_pipe;
        if (short_run) line += m_zh ? std::to_string(m_t.tasks) + " 个任务全是填充与排空；" : " " + plural(m_t.tasks, "task is", "tasks are") + " all fill and drain; ";
        if (m_zh) line += "节奏由 " + pipe + " 决定：每任务 " + (m_t.steady_is_floor ? "至少 " : "") + pace + " 周期";
        else line += (short_run ? "the steady pace would be " : " Steady pace: ") + std::string(m_t.steady_is_floor ? "at least " : "") + pace + " cycles a task (" + pipe + ").";
    }
    m_svg.text(20, 54, Type::verdict, clip_to(line, 860, 12.5));
    if (!m_t.note.empty()) m_svg.text(20, 70, Type::small, clip_to(m_t.note, 740, 10.5), Anchor::start, "xwarn");
}

void TimelineChart::bracket(double a, double b, std::initializer_list<std::string> candidates) {
    if (b - a < 3) return;
    m_svg.path("M" + number(a) + " 84V77H" + number(b) + "V84", "axis");
    for (const std::string& s : candidates) {
        const double w = text_width(s, 10.5) * 1.1 + 12;
        if (w > b - a - 8) continue;
        m_svg.rect((a + b - w) / 2, 70, w, 13, 0, "card");
        m_svg.text((a + b) / 2, 80.5, Type::small, s, Anchor::middle);
        break;
    }
}

void TimelineChart::brackets() {
    if (!m_t.note.empty()) return;
    if (m_t.fill <= 0 && m_t.drain <= 0) return;
    const std::string f = us_text(m_t.fill) + " µs", d = us_text(m_t.drain) + " µs", s = us_text(m_t.total - m_t.fill - m_t.drain) + " µs";
    const double a = x(m_t.fill), b = x(m_t.total - m_t.drain);
    if (b >= a) {
        bracket(x(0), a, {say("fill ", "填充 ") + f + say(": later stages have no task yet", "：后面的 stage 还没有任务"), say("fill ", "填充 ") + f, f});
        bracket(a + 2, b - 2, {say("steady ", "稳态 ") + s, s});
        bracket(b, x(m_t.total), {say("drain ", "排空 ") + d, d});
    } else {
        bracket(x(0), b, {say("fill ", "填充 ") + f, f});   // the drain begins before the fill ends: fewer tasks than stages
        bracket(b + 2, x(m_t.total), {say("drain ", "排空 ") + d, d});
    }
}

double TimelineChart::place_lanes() {
    double y = 113;
    std::string core;
    for (std::size_t i = 0; i < m_t.lanes.size(); ++i) {
        const Lane& l = m_t.lanes[i];
        if (l.core != core) {
            if (i) y += 27;
            std::string line = l.core;
            if (!m_t.folded.empty() && l.core == "AIV0") line += " (" + said(m_t.folded, m_zh ? Language::zh : Language::en) + say(", folded)", "，已合并)");
            const std::string name = who(l.core);
            m_svg.text(20, y - 5, Type::bold, name == l.core ? l.core : name);
            if (name != l.core) m_svg.text(20 + text_width(name, 11.5, true) * 1.1 + 6, y - 5, Type::body, line);
            if (i == 0) m_svg.text(880, y - 5, Type::small, say("busy", "占用"), Anchor::end);
            core = l.core;
        }
        m_y.push_back(y);
        y += lane_height(l) + 2;
    }
    return y;
}

double TimelineChart::major_step() const {
    const double span = us(m_t, m_t.total - (m_cut.found ? m_cut.to - m_cut.from : 0));
    double step = std::pow(10.0, std::floor(std::log10(std::max(span, 1e-6))));
    while (span / step > 6) step *= 2;
    for (double next : {step / 2, step / 4, step / 5, step / 10})
        if (span / next <= 6) step = next;
    return step;
}

void TimelineChart::grid(double bottom) {
    const double step = major_step();
    for (int i = 0; m_y.size() && i < 2000; ++i) {
        const Ticks t = ticks_of(step * i);
        if (t > m_t.total) break;
        if (m_cut.found && t > m_cut.from) break;
        m_svg.line(x(t), 112, x(t), bottom, "gridline");
    }
}

void TimelineChart::break_mark(double bottom) {
    const double a = x(m_cut.from) + 5, w = break_width - 10;
    m_svg.rect(a, 112, w, bottom - 112, 0, "card");
    std::string d1, d2;
    for (double y = 112; y < bottom - 4; y += 8) {
        const std::string step = y == 112 ? "M" : "L";
        d1 += step + number(a + (int(y / 8) % 2 ? 4 : 0)) + " " + number(y);
        d2 += step + number(a + w - (int(y / 8) % 2 ? 0 : 4)) + " " + number(y);
    }
    m_svg.path(d1, "axis");
    m_svg.path(d2, "axis");
}

double TimelineChart::axis(double y) {
    const double base = y + 4;
    m_svg.line(x0, base, x1, base, "axis");
    const double step = major_step();
    int places = 0;
    for (double v = step; places < 4 && std::abs(v - std::round(v)) > 1e-6; v *= 10) ++places;
    if (step < 1) places = std::max(places, 1);
    for (int i = 0; i < 2000; ++i) {
        const Ticks t = ticks_of(step * i / 5);
        if (t > m_t.total || (m_cut.found && t > m_cut.from)) break;
        m_svg.line(x(t), base, x(t), base + (i % 5 ? 3 : 6), "axis");
        if (i % 5 == 0) m_svg.text(x(t), base + 18, Type::small, fixed(step * (i / 5), places) + (i ? "" : " µs"), Anchor::middle);
    }
    if (m_cut.found) {
        std::string s = "× " + grouped(m_cut.beats) + say(" beats, ", " 拍，每拍 ") + std::to_string(cycles(m_cut.period)) + say(" cycles each (±", " 周期（±") + fixed(m_cut.spread_percent, 1) + say(" %)", " %）");
        m_svg.text(x(m_cut.to) - break_width / 2, base + 34, Type::label, s, Anchor::middle);
        m_svg.text(x(m_t.total), base + 18, Type::small, us_text(m_t.total), Anchor::end);
        return base + 46;
    }
    return base + 30;
}

double TimelineChart::legend(double y) {
    double at = 20;
    for (std::size_t i = 0; i < m_t.stages.size(); ++i) {
        const std::string name = clip_middle(m_t.stages[i].name);
        const double w = 19 + text_width(name, 11.5) * 1.05 + 12;
        if (at + w > 880) at = 20, y += 20;
        m_svg.rect(at, y, 14, 13, 2, cls('h', std::int32_t(i)), "data-k=\"s" + std::to_string(i) + "\"");
        m_svg.text(at + 19, y + 11, Type::body, name);
        at += w;
    }
    const std::string hint = m_t.stages.empty() ? "" : "1:0 = " + clip_middle(m_t.stages[0].name) + say(", task 0", "，任务 0");
    const std::string form = m_binned ? say("each column: shares of 2 px of time, pale: paid waiting", "每列为 2 px 时间内的占比，浅色为付出代价的等待")
                                      : say("tall bar computes, low bar moves data, thin tail = in flight until it lands", "高条计算，矮条搬运，细线 = 数据在途");
    for (const std::string& s : {m_binned ? std::string{} : hint, form}) {
        if (s.empty()) continue;
        const double w = text_width(s, 10.5) + 16;
        if (at + w > 884) at = 20, y += 20;
        m_svg.text(at + 4, y + 11, Type::small, s);
        at += w;
    }
    y += 21;
    if (m_binned) return y + 4;
    const std::int32_t first = m_t.stages.empty() ? -1 : 0;
    at = 20;
    const auto item = [&](double mark, const std::string& s, auto&& draw_mark) {
        const double w = mark + 6 + text_width(s, 11.5) * 1.12 + 22;
        if (at + w > 890) at = 20, y += 20;
        draw_mark(at, y);
        m_svg.text(at + mark + 6, y + 11, Type::body, s);
        at += w;
    };
    item(26, say("waits for the stage of that colour, and pays", "等待该颜色的 stage，且拖慢自己"), [&](double a, double b) { m_svg.rect(a, b, 26, 13, 0, cls('w', first), m_svg.hatch(hue(first))); });
    item(26, say("waits, costs nothing", "等待，无代价"), [&](double a, double b) { m_svg.rect(a, b + 1, 26, 11, 0, cls('e', first)); });
    item(26, say("waits inside the core", "核内等待"), [&](double a, double b) { m_svg.line(a, b + 6, a + 26, b + 6, "dots"); });
    if (!m_t.critical.empty()) item(26, say("critical path", "关键路径"), [&](double a, double b) { m_svg.line(a, b + 7, a + 26, b + 7, "critical"); });
    return y + 30;
}

void TimelineChart::stages(double y) {
    if (m_t.stages.empty()) return;
    m_svg.line(20, y, 880, y, "gridline");
    const std::string title = say("One task of each stage, on average", "每个 stage 的单任务平均");
    m_svg.text(20, y + 20, Type::bold, title);
    m_svg.text(20 + text_width(title, 11.5, true) + 12, y + 20, Type::small, say("cycles, without the fill", "周期，不含填充"));
    m_svg.text(630, y + 20, Type::small, say("compute", "计算"), Anchor::end);
    m_svg.text(684, y + 20, Type::small, say("move", "搬运"), Anchor::end);
    m_svg.text(784, y + 20, Type::small, say("waits, other core", "等待另一核"), Anchor::end);
    m_svg.text(880, y + 20, Type::small, say("waits, in core", "核内等待"), Anchor::end);
    Ticks most = 1;
    for (const StageTime& s : m_t.stages) most = std::max(most, s.span);
    const double scale = 430.0 / double(most);
    double row = y + 32;
    for (std::size_t i = 0; i < m_t.stages.size(); ++i, row += 22) {
        const StageTime& s = m_t.stages[i];
        const auto stage = std::int32_t(i);
        m_svg.text(28, row + 12, Type::body, clip_to(clip_middle(s.name), 78, 11.5));
        double a = x0;
        Ticks paid = 0;
        if (s.compute > 0) m_svg.rect(a, row, double(s.compute) * scale, 15, 0, cls('h', stage), {}, s.name + ": compute " + std::to_string(cycles(s.compute)) + " cycles");
        a += double(s.compute) * scale;
        if (s.move > 0) m_svg.rect(a, row + 3, double(s.move) * scale, 9, 0, cls('h', stage), {}, s.name + ": move " + std::to_string(cycles(s.move)) + " cycles");
        a += double(s.move) * scale;
        for (const WaitPart& w : s.paid) {
            m_svg.rect(a, row + 1, double(w.ticks) * scale, 13, 0, cls('w', w.for_stage), m_svg.hatch(hue(w.for_stage)), s.name + " waits for " + stage_name(w.for_stage) + ": " + std::to_string(cycles(w.ticks)) + " cycles");
            a += double(w.ticks) * scale;
            paid += w.ticks;
        }
        if (double(s.in_core) * scale > 4) m_svg.line(a + 2, row + 7.5, a + double(s.in_core) * scale, row + 7.5, "dots");
        const auto cell = [&](double at, Ticks v) { m_svg.text(at, row + 12, Type::mono, v == 0 ? "–" : std::to_string(cycles(v)), Anchor::end); };
        cell(630, s.compute);
        cell(684, s.move);
        cell(784, paid);
        cell(880, s.in_core);
    }
}

} // namespace xpto::views
