/// Two runs of one kernel: the same lanes on one axis, then what each stage and pipe gained or lost.
#include "kernel/views/timeline_chart.hpp"
#include "kernel/views/timeline_extras.hpp"

namespace xpto::views {

using namespace pto::report;
using namespace timeline;

namespace {

std::string signed_cycles(Ticks d) { return d == 0 ? "0" : (d > 0 ? "+" : "−") + grouped(cycles(d > 0 ? d : -d)); }

std::string name_of(const Timeline& t, bool zh) { return t.preload.empty() ? (zh ? "串行" : "no pipeline") : "preload " + t.preload; }

Ticks paid(const StageTime& s) {
    Ticks sum = 0;
    for (const WaitPart& w : s.paid) sum += w.ticks;
    return sum;
}

const StageTime* find(const Timeline& t, const std::string& name) {
    for (const StageTime& s : t.stages)
        if (s.name == name) return &s;
    return nullptr;
}
const Lane* find(const Timeline& t, const Lane& like) {
    for (const Lane& l : t.lanes)
        if (l.core == like.core && l.pipe == like.pipe) return &l;
    return nullptr;
}

/// One row a lane, both runs above each other on the longer one's axis; bins keep it small however many slices there are.
class Pair {
  public:
    Pair(const Timeline& now, const Timeline& then, bool zh, Svg& svg) : m_now(now), m_then(then), m_zh(zh), m_svg(svg) {
        for (const Timeline* t : {&now, &then})
            for (const StageTime& s : t->stages)
                if (std::find(m_names.begin(), m_names.end(), s.name) == m_names.end()) m_names.push_back(s.name), m_cores.push_back(s.core);
        m_hues = stage_hues(m_cores);
        m_span = std::max<Ticks>(1, std::max(now.total / std::max(1e-9, now.cycles_per_us), then.total / std::max(1e-9, then.cycles_per_us)));
    }

    double lanes(double y) {
        for (const Lane& l : m_now.lanes) {
            const Lane* before = find(m_then, l);
            m_svg.text(20, y + 15, Type::mono, clip_to(l.core + " " + l.pipe, 74, 11, false, true));
            half(m_then, before, y, m_zh ? "之前" : "then");
            half(m_now, &l, y + 13, m_zh ? "现在" : "now");
            y += 32;
        }
        return y;
    }

    double axis(double y) {
        m_svg.line(x0 + 28, y, x1, y, "axis");
        for (const auto& [t, label] : {std::pair{&m_then, m_zh ? "之前 " : "then "}, std::pair{&m_now, m_zh ? "现在 " : "now "}}) {
            const double at = x(*t, t->total);
            m_svg.line(at, y - 6, at, y + 6, "axis");
            m_svg.text(std::min(at, 880.0), y + (t == &m_then ? 18 : 32), Type::small, label + fixed(us(*t, t->total), 2) + " µs", Anchor::end);
        }
        return y + 44;
    }

    double stages(double y) {
        m_svg.line(20, y, 880, y, "gridline");
        m_svg.text(20, y + 20, Type::bold, m_zh ? "每个 stage 单任务的变化（周期）" : "One task of each stage, change in cycles");
        const std::pair<double, const char*> heads[] = {{560, m_zh ? "计算" : "compute"}, {640, m_zh ? "搬运" : "move"}, {750, m_zh ? "等待另一核" : "waits, other core"}, {880, m_zh ? "核内等待" : "waits, in core"}};
        for (const auto& [at, word] : heads) m_svg.text(at, y + 20, Type::small, word, Anchor::end);
        y += 30;
        Ticks most = 1;
        for (const std::string& n : m_names) most = std::max(most, std::abs(change(n, [](const StageTime& s) { return s.span; })));
        for (std::size_t i = 0; i < m_names.size(); ++i, y += 20) {
            const std::string& n = m_names[i];
            m_svg.text(28, y + 12, Type::body, clip_to(clip_middle(n), 92, 11.5));
            const Ticks span = change(n, [](const StageTime& s) { return s.span; });
            const double zero = 300, width = double(std::abs(span)) / double(most) * 150;
            m_svg.line(zero, y, zero, y + 16, "axis");
            if (span) m_svg.rect(span < 0 ? zero - width : zero, y + 1, width, 13, 1, "h" + std::to_string(m_hues[i].hue), {}, n + ": span " + signed_cycles(span) + " cycles");
            const bool only = !find(m_now, n) || !find(m_then, n);
            if (only) {
                m_svg.text(880, y + 12, Type::small, find(m_now, n) ? (m_zh ? "新增" : "new") : (m_zh ? "已没有" : "gone"), Anchor::end);
                continue;
            }
            m_svg.text(560, y + 12, Type::mono, signed_cycles(change(n, [](const StageTime& s) { return s.compute; })), Anchor::end);
            m_svg.text(640, y + 12, Type::mono, signed_cycles(change(n, [](const StageTime& s) { return s.move; })), Anchor::end);
            m_svg.text(750, y + 12, Type::mono, signed_cycles(change(n, [](const StageTime& s) { return paid(s); })), Anchor::end);
            m_svg.text(880, y + 12, Type::mono, signed_cycles(change(n, [](const StageTime& s) { return s.in_core; })), Anchor::end);
        }
        m_svg.text(292, y + 12, Type::small, m_zh ? "更快" : "faster", Anchor::end);
        m_svg.text(308, y + 12, Type::small, m_zh ? "更慢" : "slower");
        m_svg.grow(y + 22);
        return y;
    }

    template <class F> Ticks change(const std::string& stage, F&& part) const {
        const StageTime *a = find(m_now, stage), *b = find(m_then, stage);
        return (a ? part(*a) : 0) - (b ? part(*b) : 0);
    }
    const std::vector<std::string>& names() const { return m_names; }

  private:
    double x(const Timeline& t, Ticks ticks) const { return x0 + 28 + double(ticks) / t.cycles_per_us / double(m_span) * (x1 - x0 - 28); }

    void half(const Timeline& t, const Lane* l, double y, const std::string& word) {
        m_svg.text(x0 + 22, y + 10, Type::small, word, Anchor::end);
        m_svg.rect(x0 + 28, y, x1 - x0 - 28, 12, 0, "lane");
        if (!l) {
            m_svg.text(x0 + 34, y + 10, Type::small, m_zh ? "没有这条流水" : "this pipe did nothing");
            return;
        }
        const double width = x(t, t.total) - x0 - 28;
        const int n = std::max(1, int(width / 2));
        const std::vector<Bin> parts = bins(*l, t.stages.size(), 0, t.total, n);
        const double whole = double(t.total) / n, step = width / n;
        std::vector<std::string> busy(t.stages.size() + 1), waits(t.stages.size() + 1);
        for (int k = 0; k < n; ++k) {
            double top = y + 12;
            const auto stack = [&](Ticks v, std::string& d) {
                const double h = double(v) / whole * 12;
                if (h < 0.25) return;
                top -= h;
                d += "M" + number(x0 + 28 + step * k) + " " + number(top) + "h" + number(step) + "v" + number(h) + "h-" + number(step) + "z";
            };
            for (std::size_t s = 0; s <= t.stages.size(); ++s) stack(parts[std::size_t(k)].busy[s], busy[s]);
            for (std::size_t s = 0; s <= t.stages.size(); ++s) stack(parts[std::size_t(k)].paid[s], waits[s]);
        }
        for (std::size_t s = 0; s <= t.stages.size(); ++s) {
            const std::string hue = s < t.stages.size() ? std::to_string(hue_of(t.stages[s].name)) : "";
            if (!busy[s].empty()) m_svg.path(busy[s], s < t.stages.size() ? "q" + hue : "faintfill", {}, l->core + " " + l->pipe + ": " + (s < t.stages.size() ? t.stages[s].name : "outside the loop"));
            if (!waits[s].empty() && s < t.stages.size()) m_svg.path(waits[s], "u" + hue, {}, l->core + " " + l->pipe + " waits for " + t.stages[s].name);
        }
        m_svg.text(880, y + 10, Type::mono, std::to_string(std::llround(100.0 * double(l->totals.busy) / double(std::max<Ticks>(1, t.total)))) + " %", Anchor::end);
    }
    int hue_of(const std::string& name) const {
        for (std::size_t i = 0; i < m_names.size(); ++i)
            if (m_names[i] == name) return m_hues[i].hue;
        return 0;
    }

    const Timeline &m_now, &m_then;
    const bool m_zh;
    Svg& m_svg;
    std::vector<std::string> m_names;
    std::vector<pto::isa::Core> m_cores;
    std::vector<StageHue> m_hues;
    double m_span = 1;
};

std::string verdict(const Timeline& now, const Timeline& then, bool zh) {
    const double a = us(now, now.total), b = us(then, then.total), percent = b > 0 ? 100 * (a - b) / b : 0;
    const std::string change = (percent > 0 ? "+" : percent < 0 ? "−" : "") + fixed(std::abs(percent), 1) + " %";
    if (zh) return now.kernel + "：" + name_of(then, zh) + " " + fixed(b, 2) + " µs → " + name_of(now, zh) + " " + fixed(a, 2) + " µs（" + change + "）";
    return now.kernel + ": " + name_of(then, zh) + " " + fixed(b, 2) + " us -> " + name_of(now, zh) + " " + fixed(a, 2) + " us (" + change + ")";
}

} // namespace

Svg draw_comparison(const Timeline& now, const Timeline& then, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    Svg svg(900, "two runs of " + now.kernel, verdict(now, then, false));
    svg.title_text(20, 31, clip_middle(now.kernel), clip_to(name_of(then, zh) + (zh ? " 对比 " : " against ") + name_of(now, zh), 400, 12.5));
    svg.text(880, 31, Type::label, std::string(glyph(status(now))) + " " + std::string(word(status(now))), Anchor::end, "xmuted");
    svg.text(20, 54, Type::verdict, clip_to(verdict(now, then, zh), 860, 12.5));
    Pair pair(now, then, zh, svg);
    pair.stages(pair.axis(pair.lanes(70) + 4));
    return svg;
}

nl::json mime_bundle(const Timeline& now, const Timeline& then, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string line = verdict(now, then, false);
    std::string text = std::string(word(status(now))) + "  " + line + "\n" + provenance_line(now.provenance, options.language) + "\n";
    Svg unused(900, "", "");
    const Pair pair(now, then, zh, unused);
    text += pad("a task of", 12) + pad("compute", 12) + pad("move", 12) + pad("waits, other", 14) + "waits in core   change in cycles\n";
    for (const std::string& n : pair.names()) {
        const auto cell = [&](auto part, int width) {
            const Ticks d = pair.change(n, part);
            return pad(d == 0 ? "0" : (d > 0 ? "+" : "-") + grouped(cycles(std::abs(d))), width);
        };
        std::string row = pad(clip_middle(n, 11), 12) + cell([](const StageTime& s) { return s.compute; }, 12) + cell([](const StageTime& s) { return s.move; }, 12) +
                          cell([](const StageTime& s) { return paid(s); }, 14) + cell([](const StageTime& s) { return s.in_core; }, 12);
        if (!find(now, n) || !find(then, n)) row = pad(clip_middle(n, 11), 12) + (find(now, n) ? "new" : "gone");
        text += without_trailing_blanks(row) + "\n";
    }
    if (now.bound.text != then.bound.text) text += pad("bound", 12) + then.bound.text + " -> " + now.bound.text + "\n";
    std::string body = verdict_html(status(now), verdict(now, then, zh)) + "<br>\n" + font(page_muted, provenance_line(now.provenance, options.language)) + "<br>\n";
    body += figure(draw_comparison(now, then, options), line, options) + details(zh ? "文本" : "Text", pre(text), false);
    return bundle(fit(text), std::move(body));
}

} // namespace xpto::views
