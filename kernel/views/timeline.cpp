#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace xpto::views {

using namespace pto::report;

namespace {

constexpr double x0 = 116, x1 = 832, drawn_width = 711;
constexpr std::size_t most_bars = 1500;

std::int64_t cycles(Ticks t) { return (t + ticks_per_cycle / 2) / ticks_per_cycle; }

class Chart {
  public:
    Chart(const Timeline& t, const ViewOptions& options, Svg& svg) : m_t(t), m_zh(options.language == Language::zh), m_svg(svg) {
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

    void draw() {
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

  private:
    static constexpr double break_width = 34;

    std::string say(std::string_view en, std::string_view zh) const { return std::string(m_zh ? zh : en); }
    bool hidden(Ticks t) const { return m_cut.found && t >= m_cut.from && t < m_cut.to; }
    double x(Ticks t) const {
        if (!m_cut.found || t <= m_cut.from) return x0 + double(t) * m_scale;
        if (t < m_cut.to) return x0 + double(m_cut.from) * m_scale;
        return x0 + double(t - (m_cut.to - m_cut.from)) * m_scale + break_width;
    }
    int hue(std::int32_t stage) const { return stage >= 0 && std::size_t(stage) < m_hues.size() ? m_hues[std::size_t(stage)].hue : 0; }
    std::string cls(char kind, std::int32_t stage) const { return kind + std::to_string(hue(stage)); }
    std::string stage_name(std::int32_t s) const { return s >= 0 && std::size_t(s) < m_t.stages.size() ? m_t.stages[std::size_t(s)].name : "?"; }
    std::string us_text(Ticks t) const { return fixed(us(m_t, t), 2); }
    double bar_height(const Lane& l) const { return l.computes ? 24 : 14; }
    double lane_height(const Lane& l) const { return l.computes ? 32 : 22; }
    std::string who(const std::string& core) const { return core.rfind("AIC", 0) == 0 ? "cube" : core.rfind("AIV", 0) == 0 ? "vector" : core; }

    void head() {
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

    void bracket(double a, double b, std::initializer_list<std::string> candidates) {
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

    void brackets() {
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

    double place_lanes() {
        double y = 113;
        std::string core;
        for (std::size_t i = 0; i < m_t.lanes.size(); ++i) {
            const Lane& l = m_t.lanes[i];
            if (l.core != core) {
                if (i) y += 27;
                std::string line = l.core;
                if (!m_t.folded.empty() && l.core == "AIV0") line += " (" + m_t.folded + say(", folded)", "，已合并)");
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

    double major_step() const {
        const double span = us(m_t, m_t.total - (m_cut.found ? m_cut.to - m_cut.from : 0));
        double step = std::pow(10.0, std::floor(std::log10(std::max(span, 1e-6))));
        while (span / step > 6) step *= 2;
        for (double next : {step / 2, step / 4, step / 5, step / 10})
            if (span / next <= 6) step = next;
        return step;
    }
    Ticks ticks_of(double microseconds) const { return Ticks(microseconds * m_t.cycles_per_us * double(ticks_per_cycle)); }

    void grid(double bottom) {
        const double step = major_step();
        for (int i = 0; m_y.size() && i < 2000; ++i) {
            const Ticks t = ticks_of(step * i);
            if (t > m_t.total) break;
            if (m_cut.found && t > m_cut.from) break;
            m_svg.line(x(t), 112, x(t), bottom, "gridline");
        }
    }

    void lane(std::size_t i) {
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

    std::string arrows(std::string s) const {
        if (const auto i = s.find(" to "); i != std::string::npos) s.replace(i, 4, "→");
        return s;
    }

    void wait(const Lane& l, const Wait& w, double mid) {
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

    void bar(const Lane& l, const Bar& b, double y) {
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

    /// 2 px bins: each a stack of the stages' shares, then paid waiting; one path per hue.
    void binned(const Lane& l, double y, double h) {
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

    void critical() {
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

    void break_mark(double bottom) {
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

    double axis(double y) {
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

    double legend(double y) {
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

    void stages(double y) {
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

    const Timeline& m_t;
    const bool m_zh;
    Svg& m_svg;
    std::vector<StageHue> m_hues;
    std::vector<std::vector<Bar>> m_bars;
    std::vector<double> m_y;
    Periodic m_cut;
    bool m_binned = false;
    double m_scale = 1;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// One row a block, coloured by the pacing pipe's busy share.
Svg block_strip(const Timeline& t) {
    Svg svg(900, "blocks of " + t.kernel, plural(std::int64_t(t.block_times.size()), "block", "blocks") + ", length is time, colour the busy share of the pacing pipe");
    Ticks most = 1;
    for (const BlockTime& b : t.block_times) most = std::max(most, b.total);
    const std::size_t n = std::min<std::size_t>(t.block_times.size(), 256);
    double y = 14;
    for (std::size_t i = 0; i < n; ++i, y += 4) {
        const BlockTime& b = t.block_times[i];
        svg.rect(x0, y, drawn_width * double(b.total) / double(most), 3.4, 0, {}, "fill=\"" + cividis(b.busy) + "\"",
                 "block " + std::to_string(b.block) + ": " + fixed(us(t, b.total), 2) + " us, busy " + fixed(100 * b.busy, 0) + " %");
        if (i % 8 == 0) svg.text(x0 - 8, y + 6, Type::small, std::to_string(b.block), Anchor::end);
    }
    return svg;
}

} // namespace

Svg draw(const Timeline& t, const ViewOptions& options) {
    const Status s = status(t);
    std::string title = std::string(word(s)) + ": timeline of " + t.kernel + (t.preload.empty() ? "" : ", preload " + t.preload) + ", " + plural(t.tasks, "task", "tasks") + ", " + fixed(us(t, t.total), 2) + " us";
    Svg svg(900, title, "Swim lanes per core and pipe, then one additive bar per stage. " + provenance_line(t.provenance, Language::en));
    Chart(t, options, svg).draw();
    return svg;
}

std::string html(const Timeline& t, const ViewOptions& options, bool with_verdict) {
    const bool zh = options.language == Language::zh;
    const std::string text = to_text(t, options.language), line = first_line(text);
    std::string out;
    if (with_verdict) {
        const std::string w(word(status(t)));
        out += verdict_html(status(t), line.rfind(w, 0) == 0 ? line.substr(std::min(line.size(), w.size() + 2)) : line) + "<br>\n" +
               font(page_muted, first_line(text.substr(std::min(text.size(), line.size() + 1)))) + "<br>\n";
    }
    out += figure(draw(t, options), line, options);
    std::vector<std::vector<std::string>> rows;
    const auto cell = [](Ticks v) { return grouped(cycles(v)); };
    for (const Lane& l : t.lanes) rows.push_back({l.core, l.pipe, cell(l.totals.busy), cell(l.totals.paid), cell(l.totals.free), cell(l.totals.in_core), cell(l.totals.idle), cell(t.total)});
    if (!rows.empty())
        out += details(zh ? "每条流水的周期" : "Cycles per lane",
                       table(zh ? std::vector<std::string>{"核", "流水", "占用", "等待（拖慢）", "等待（无代价）", "核内等待", "空闲", "总计"}
                                : std::vector<std::string>{"core", "pipe", "busy", "waits, paid", "waits, free", "in core", "nothing queued", "total"},
                             rows, "llrrrrrr"),
                       false);
    if (t.block_times.size() > 1) {
        std::string summary = plural(std::int64_t(t.block_times.size()), "block", "blocks");
        const std::size_t at = text.rfind("\nblocks");
        if (at != std::string::npos) summary = without_trailing_blanks(first_line(text.substr(at + 12)));
        out += details(summary, figure(block_strip(t), summary, options), false);
    }
    out += details(zh ? "文本" : "Text, critical path, what if", pre(text), false);
    return out;
}

nl::json mime_bundle(const Timeline& t, const ViewOptions& options) { return bundle(to_text(t, options.language), html(t, options)); }

} // namespace xpto::views
