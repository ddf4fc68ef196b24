/// Event ids, who sets them, and what was proven.
#include "kernel/views/plan_drawing.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;
using pto::isa::Core;

void PlanDrawing::ids(double y) {
    const PlanCounts n = counts(m_loop);
    const double top = y + 16;
    m_svg.text(20, top + 16, Type::name, say("Event ids", "事件 id"));
    const std::string used = m_zh ? "已用 " + std::to_string(n.ids_used) + "/" + std::to_string(m_loop.ids.size())
                                  : std::to_string(n.ids_used) + " of " + std::to_string(m_loop.ids.size()) + " used";
    m_svg.text(20, top + 32, Type::small, used);
    const double pitch = m_loop.ids.size() > 16 ? 768.0 / double(m_loop.ids.size()) : 48, w = pitch - 4;
    double x = 114;
    for (const IdUse& u : m_loop.ids) {
        if (u.buffer.empty()) {
            m_svg.rect(x, top, w, 42, 3, "dash", "data-id=\"" + std::to_string(u.id) + "\"");
            m_svg.text(x + w / 2, top + 11, Type::label, std::to_string(u.id), Anchor::middle, "xmuted");
            m_svg.text(x + w / 2, top + 32, Type::small, say("unused", "空闲"), Anchor::middle);
        } else {
            const int s = std::max(0, stage_index(u.setter));
            const std::string what = u.direction == Direction::ready ? "ready" : "free";
            std::string words = "id " + std::to_string(u.id) + ": " + u.buffer + ", " + what + ", set by " + u.setter + ", ";
            words += u.max_pending < 0 ? "no bound known" : "at most " + std::to_string(u.max_pending) + " pending of " + std::to_string(m_loop.proof.limit);
            if (u.sharers) words += ", shared with " + plural(u.sharers, "more hand-over", "more hand-overs");
            std::string edge;
            for (const HandOver& e : m_loop.edges)
                if (edge.empty() && std::find(e.ids.begin(), e.ids.end(), u.id) != e.ids.end()) edge = key(e);
            m_svg.open(edge, words);
            m_svg.rect(x, top, w, 42, 3, cls('p', s), "data-id=\"" + std::to_string(u.id) + "\"" + (u.chosen ? " stroke-dasharray=\"3 2\"" : ""));
            m_svg.path("M" + number(x) + " " + number(top + 15) + "v-12a3 3 0 0 1 3-3h" + number(w - 6) + "a3 3 0 0 1 3 3v12z", cls('q', s));
            const std::string pending = u.max_pending < 0 ? "?" : u.max_pending > 1 ? "≤" + std::to_string(u.max_pending) : std::string{};
            if (pending.empty()) m_svg.text(x + w / 2, top + 11, Type::label, std::to_string(u.id), Anchor::middle, cls('c', s));
            else {
                m_svg.text(x + 4, top + 11, Type::label, std::to_string(u.id), Anchor::start, cls('c', s));
                m_svg.text(x + w - 3, top + 11, Type::label, pending, Anchor::end, cls('c', s));
            }
            m_svg.text(x + w / 2, top + 26, Type::small, clip_to(u.buffer, w - 5, 10.5), Anchor::middle, "plain");
            std::string second = m_zh ? (u.direction == Direction::ready ? "就绪" : "释放") : what;
            if (u.sharers) second += " +" + std::to_string(u.sharers);
            m_svg.text(x + w / 2, top + 38, Type::small, clip_to(second, w + 1, 10.5), Anchor::middle);
            m_svg.close();
        }
        x += pitch;
    }
    const Proof& p = m_loop.proof;
    const std::string counter = p.max_pending < 0 ? say("every counter bounded", "计数器有上限")
                                : m_zh ? "每个计数器至多 " + std::to_string(p.max_pending) + "（上限 " + std::to_string(p.limit) + "）"
                                       : "every counter at most " + std::to_string(p.max_pending) + " of " + std::to_string(p.limit);
    const std::pair<bool, std::string> ticks[] = {{p.no_hang, p.no_hang ? say("no hang", "不会挂死") : say("may hang", "可能挂死")},
                                                  {p.no_race, p.no_race ? say("no race", "没有竞争") : say("a race is possible", "可能有竞争")},
                                                  {p.bounded, p.bounded ? counter : say("a counter may pass its limit", "计数器可能超限")},
                                                  {p.balanced, p.balanced ? say("as many waits as sets", "wait 与 set 数相等") : say("waits and sets differ in number", "wait 与 set 数不等")}};
    const bool holds = p.no_hang && p.no_race && p.bounded && p.balanced;
    x = 20;
    for (const auto& [good, words] : ticks) {
        m_svg.text(x, top + 64, Type::bold, good ? "✔" : "▲", Anchor::start, good ? "xgood" : "xwarn");
        m_svg.text(x + 15, top + 64, Type::body, words);
        x += 15 + text_width(words, 11.5) * 1.15 + 20;
    }
    std::string scope;
    if (m_plan.provenance.checked_by.empty()) scope = say("Nobody checked this plan.", "该计划未经检查。");
    else if (p.checked_tasks >= 0) scope = m_zh ? "已检查到 " + std::to_string(p.checked_tasks) + " 个任务。" : "Checked to T = " + std::to_string(p.checked_tasks) + " tasks.";
    else if (holds) scope = say("Holds for every number of tasks, 0 included.", "对任意任务数成立（包括 0）。");
    else scope = say("Looked at for every number of tasks, 0 included.", "已对任意任务数检查（包括 0）。");
    if (!p.assumes.empty()) scope += m_zh ? "前提：" + said(p.assumes, Language::zh) : " Assumes " + p.assumes + ".";
    m_svg.text(20, top + 83, Type::small, clip_to(scope, 740, 10.5));
}

} // namespace xpto::views
