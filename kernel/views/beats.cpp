/// Beats: which stage works on which task when; prefire and drain at the ends.
#include "kernel/views/plan_drawing.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;
using pto::isa::Core;

/// Pipe names and id chips, left to right, wrapping in a box of `width`. Returns the height used.
double PlanDrawing::permit_box(const std::vector<PermitGroup>& groups, Core core, std::string_view verb, double x, double width, double y, bool draw) {
    double at = x + 6, line = y;
    int n = 0;
    double whole = 6;
    for (const PermitGroup& g : groups)
        if (g.core == core) ++n, whole += text_width(g.pipe, 10.5) + 14 + 21 * double(g.ids.size());
    // Two groups of two ids fit in one line when the chips stand a little closer.
    const double chip = whole > width ? 17 : 19, pitch = whole > width ? 18.5 : 21;
    for (const PermitGroup& g : groups) {
        if (g.core != core) continue;
        const std::string word = g.pipe + (n == 1 ? " " + std::string(verb) : "");
        const double w = text_width(word, 10.5) * (whole > width ? 1.02 : 1.12) + 5;
        if (at + w + chip > x + width && at > x + 6) at = x + 6, line += 20;
        if (draw) m_svg.text(at, line + 19, Type::small, word);
        at += w;
        for (int id : g.ids) {
            if (at + chip > x + width - 1) at = x + 6, line += 20;
            if (draw) {
                int setter = 0;
                for (const IdUse& u : m_loop.ids)
                    if (u.id == id) setter = std::max(0, stage_index(u.setter));
                m_svg.rect(at, line + 7, chip, 16, 3, cls('h', setter));
                m_svg.text(at + chip / 2, line + 19, Type::label, std::to_string(id), Anchor::middle, cls('c', setter));
            }
            at += pitch;
        }
        at += 4;
    }
    return line - y + 30;
}

double PlanDrawing::beats(double y) {
    const double base = y + 22;
    m_svg.text(20, base, Type::name, say("Beats", "节拍"));
    if (m_loop.beats.empty()) {
        m_svg.text(96, base, Type::small, say("none: the loop has no task", "没有任务，因此没有节拍"));
        return base + 14;
    }
    const double x0 = 226, x1 = 716;
    const std::size_t n = m_loop.beats.size();
    std::size_t most[2] = {1, 1}, gaps = 0;
    for (const Beat& b : m_loop.beats) {
        gaps += b.kind == Beat::Kind::gap;
        std::size_t here[2] = {0, 0};
        for (const BeatChip& c : b.chips)
            if (const int s = stage_index(c.stage); s >= 0) ++here[m_loop.stages[std::size_t(s)].core == Core::cube ? 0 : 1];
        for (int k = 0; k < 2; ++k) most[k] = std::max(most[k], here[k]);
    }
    const double gap_width = 18, pitch = std::min(70.0, (x1 - x0 - gap_width * double(gaps)) / double(std::max<std::size_t>(1, n - gaps)));
    const double cell = pitch - 3, chip_width = std::min(29.0, cell - 4);
    const bool numbers = chip_width >= 25;     // narrower: the stage's number only, the task in the hover line
    const std::size_t across = std::max<std::size_t>(1, std::size_t((cell - 3) / (chip_width + 3) + 0.01));
    // A stage keeps its place in every beat, so the eye can follow it down the diagonal.
    std::vector<std::size_t> place(m_loop.stages.size());
    std::size_t of_core[2] = {0, 0};
    for (std::size_t i = 0; i < m_loop.stages.size(); ++i) place[i] = of_core[m_loop.stages[i].core == Core::cube ? 0 : 1]++;
    double top = base + 24;
    double height[2];
    for (int k = 0; k < 2; ++k) {
        const Core core = k ? Core::vector : Core::cube;
        const std::size_t lines = std::max<std::size_t>(1, (of_core[k] + across - 1) / across);
        height[k] = std::max({30.0, 8 + 22.0 * double(lines), permit_box(m_loop.prefire, core, "sets", 78, 143, 0, false), permit_box(m_loop.drain, core, "waits", 724, 156, 0, false)});
    }
    m_svg.text(149, base, Type::label, say("prefire", "预释放"), Anchor::middle);
    m_svg.text(802, base, Type::label, say("drain", "排空"), Anchor::middle);
    double x = x0, loop_end = x0, drain_begin = -1;
    std::string last_loop;
    for (const Beat& b : m_loop.beats) {
        const double w = b.kind == Beat::Kind::gap ? gap_width : pitch;
        const bool drain = b.kind == Beat::Kind::drain;
        if (drain && drain_begin < 0) drain_begin = x;
        if (!drain) loop_end = x + w;
        if (b.kind == Beat::Kind::loop) last_loop = b.label;
        if (b.kind == Beat::Kind::gap) m_svg.text(x + gap_width / 2 - 1, top + height[0] / 2 + 4, Type::label, "…", Anchor::middle);
        else m_svg.text(x + cell / 2, base + 19, Type::small, b.label, Anchor::middle);
        double y2 = top;
        for (int k = 0; k < 2; ++k) {
            if (b.kind != Beat::Kind::gap) m_svg.rect(x, y2, cell, height[k], 3, drain ? "frame" : "lane");
            for (const BeatChip& c : b.chips) {
                const int s = stage_index(c.stage);
                if (s < 0 || (m_loop.stages[std::size_t(s)].core == Core::cube) != (k == 0)) continue;
                const std::size_t p = place[std::size_t(s)];
                const double cx = x + 3 + double(p % across) * (chip_width + 3), cy = y2 + 5 + 22 * double(p / across);
                std::string task = std::to_string(c.task);
                if (c.symbolic) task = (drain ? "T" : "b") + (c.task == 0 ? std::string{} : "−" + std::to_string(-c.task));
                std::string words = (m_zh ? "拍 " : "beat ") + b.label + ": " + c.stage + (m_zh ? " 任务 " : " on task ") + task;
                for (const PlanBuffer& buffer : m_loop.buffers)
                    if (!c.symbolic && touches(s, buffer)) words += ", " + buffer.name + " slot " + std::to_string(c.task % std::max(1, buffer.slots));
                m_svg.rect(cx, cy, chip_width, 20, 3, cls('h', s), "data-k=\"s" + std::to_string(s) + "\"", words);
                const std::string label = numbers && !c.symbolic ? std::to_string(s + 1) + ":" + task : std::to_string(s + 1);
                m_svg.text(cx + chip_width / 2, cy + 14, Type::label, clip_to(label, chip_width, 10.5, true), Anchor::middle, cls('c', s));
            }
            y2 += height[k] + 3;
        }
        x += w;
    }
    std::string loop_label = say("loop", "循环");
    if (!last_loop.empty()) loop_label += say(", beats 0 to ", "，拍 0–") + last_loop;
    if (gaps) loop_label += " …";
    if (loop_end - x0 > text_width(loop_label, 10.5, true) * 1.1) m_svg.text((x0 + loop_end) / 2, base, Type::label, loop_label, Anchor::middle);
    else if (loop_end > x0) m_svg.text((x0 + std::max(loop_end, x0 + 40)) / 2, base, Type::label, say("loop", "循环"), Anchor::middle);
    if (drain_begin >= 0) m_svg.text((std::max(drain_begin, loop_end + 30) + std::max(x, drain_begin + 60)) / 2, base, Type::label, say("drain beats", "排空拍"), Anchor::middle);
    double y2 = top;
    for (int k = 0; k < 2; ++k) {
        const Core core = k ? Core::vector : Core::cube;
        m_svg.text(30, y2 + 19, Type::bold, k ? "vector" : "cube");
        m_svg.rect(78, y2, 143, height[k], 3, "lane");
        m_svg.rect(724, y2, 156, height[k], 3, "lane");
        permit_box(m_loop.prefire, core, "sets", 78, 143, y2, true);
        permit_box(m_loop.drain, core, "waits", 724, 156, y2, true);
        y2 += height[k] + 3;
    }
    return y2 + 15;
}

bool PlanDrawing::touches(int stage, const PlanBuffer& b) const {
    const std::string& name = m_loop.stages[std::size_t(stage)].name;
    for (const HandOver& e : m_loop.edges)
        if (e.buffer == b.name && (e.from == name || e.to == name)) return true;
    return false;
}

} // namespace xpto::views
