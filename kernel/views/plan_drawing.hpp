#pragma once
/// The drawing of one loop's sync plan, band by band; private to the folder. sync_plan.cpp lays out, hand_overs.cpp draws who waits for
/// whom, beats.cpp when, event_id_band.cpp with which ids and on what proof.

#include "kernel/views/views.hpp"

namespace xpto::views {

/// One hand-over channel: both arrows of one buffer between one pair of stages. Without a buffer: a stage that hands nothing over.
struct PlanColumn {
    const report::PlanBuffer* buffer = nullptr;
    const report::HandOver *ready = nullptr, *free = nullptr;
    int producer = -1, consumer = -1;
};

class PlanDrawing {
  public:
    PlanDrawing(const report::SyncPlan& plan, const report::PlanLoop& loop, const ViewOptions& options, Svg& svg);
    void draw();

  private:
    // Words and hues.
    std::string say(std::string_view en, std::string_view zh) const { return std::string(m_zh ? zh : en); }
    int stage_index(std::string_view name) const {
        for (std::size_t i = 0; i < m_loop.stages.size(); ++i)
            if (m_loop.stages[i].name == name) return int(i);
        return -1;
    }
    int hue(int stage) const { return stage >= 0 ? m_hues[std::size_t(stage)].hue : 0; }
    std::string cls(char kind, int stage) const { return kind + std::to_string(hue(stage)); }
    std::string key(const report::HandOver& e) const { return "e" + std::to_string(&e - m_loop.edges.data()); }
    std::string direction(report::Direction d) const { return d == report::Direction::ready ? say("data ready", "数据已就绪") : say("slot free", "槽位已释放"); }
    std::string runs(const report::PlanStage& s) const {
        const std::string b = s.delay ? "b−" + std::to_string(s.delay) : "b";
        return m_zh ? "执行任务 " + b : "runs task " + b;
    }
    std::string hover(const report::HandOver& e) const;
    void head();

    // Hand-overs.
    double hand_overs(double y);
    void find_columns();
    int stage_in(const PlanColumn& c, pto::isa::Core core) const;
    void row(std::size_t r, double y);
    void brick(int stage, double x, double w, double y, pto::isa::Core core);
    void pill(const report::HandOver& e, bool is_wait, double centre, double y);
    /// Id chips centred at x; long lists become one chip with ranges.
    void chips(const std::vector<int>& list, double centre, double y, int stage, bool dashed);
    void dots(int n, double centre, double y);
    void arrow(const report::HandOver& e, double centre, double y);
    void channel(const PlanColumn& c, double x, double y);
    void slots(const report::PlanBuffer& b, double centre, double y);
    double legend(double y);
    /// Address reuse: the later buffer's writer waits until the earlier buffer on the same bytes was read.
    double reuse(double y);
    double notes(double y);

    // Beats.
    /// Pipe names and id chips, left to right, wrapping in a box of `width`. Returns the height used.
    double permit_box(const std::vector<report::PermitGroup>& groups, pto::isa::Core core, std::string_view verb, double x, double width, double y, bool draw);
    double beats(double y);
    bool touches(int stage, const report::PlanBuffer& b) const;

    // Event ids and the proof.
    void ids(double y);

    const report::SyncPlan& m_plan;
    const report::PlanLoop& m_loop;
    const bool m_zh;
    const report::Language m_language;
    Svg& m_svg;
    std::vector<StageHue> m_hues;
    std::vector<PlanColumn> m_columns;
    std::vector<bool> m_drawn;
};

} // namespace xpto::views
