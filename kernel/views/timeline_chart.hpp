#pragma once
/// The swim lanes of a timeline as one static picture: what stands around them (timeline_frame.cpp) and in them (timeline_lanes.cpp).

#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <cmath>

namespace xpto::views {

using namespace pto::report;

namespace timeline {

inline constexpr double x0 = 116, x1 = 832, drawn_width = 711;
inline constexpr std::size_t most_bars = 1500; // beyond: a periodic middle is left out, or time is binned

inline std::int64_t cycles(Ticks t) { return (t + ticks_per_cycle / 2) / ticks_per_cycle; }

} // namespace timeline

/// Draws one timeline; `draw` is called once.
class TimelineChart {
  public:
    TimelineChart(const Timeline& t, const ViewOptions& options, Svg& svg);
    void draw();

  private:
    static constexpr double break_width = 34;

    std::string say(std::string_view en, std::string_view zh) const { return std::string(m_zh ? zh : en); }
    bool hidden(Ticks t) const { return m_cut.found && t >= m_cut.from && t < m_cut.to; }
    double x(Ticks t) const {
        if (!m_cut.found || t <= m_cut.from) return timeline::x0 + double(t) * m_scale;
        if (t < m_cut.to) return timeline::x0 + double(m_cut.from) * m_scale;
        return timeline::x0 + double(t - (m_cut.to - m_cut.from)) * m_scale + break_width;
    }
    int hue(std::int32_t stage) const { return stage >= 0 && std::size_t(stage) < m_hues.size() ? m_hues[std::size_t(stage)].hue : 0; }
    std::string cls(char kind, std::int32_t stage) const { return kind + std::to_string(hue(stage)); }
    std::string stage_name(std::int32_t s) const { return s >= 0 && std::size_t(s) < m_t.stages.size() ? m_t.stages[std::size_t(s)].name : "?"; }
    std::string us_text(Ticks t) const { return fixed(us(m_t, t), 2); }
    double bar_height(const Lane& l) const { return l.computes ? 24 : 14; }
    double lane_height(const Lane& l) const { return l.computes ? 32 : 22; }
    std::string who(const std::string& core) const { return core.rfind("AIC", 0) == 0 ? "cube" : core.rfind("AIV", 0) == 0 ? "vector" : core; }

    void head();
    void bracket(double a, double b, std::initializer_list<std::string> candidates);
    void brackets();
    double place_lanes();
    double major_step() const;
    Ticks ticks_of(double microseconds) const { return Ticks(microseconds * m_t.cycles_per_us * double(ticks_per_cycle)); }

    void grid(double bottom);
    void lane(std::size_t i);
    std::string arrows(std::string s) const;
    void wait(const Lane& l, const Wait& w, double mid);
    void bar(const Lane& l, const Bar& b, double y);
    /// 2 px bins: each a stack of the stages' shares, then paid waiting; one path per hue.
    void binned(const Lane& l, double y, double h);
    void critical();
    void break_mark(double bottom);
    double axis(double y);
    double legend(double y);
    void stages(double y);

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

} // namespace xpto::views
