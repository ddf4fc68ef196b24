/// The sync plan: three bands in one picture, its table, its text.
#include "kernel/views/plan_drawing.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;
using pto::isa::Core;

PlanDrawing::PlanDrawing(const SyncPlan& plan, const PlanLoop& loop, const ViewOptions& options, Svg& svg)
    : m_plan(plan), m_loop(loop), m_zh(options.language == Language::zh), m_language(options.language), m_svg(svg) {
    std::vector<Core> cores;
    for (const PlanStage& s : loop.stages) cores.push_back(s.core);
    m_hues = stage_hues(cores);
}

void PlanDrawing::draw() {
    head();
    double y = 74;
    y = hand_overs(y);
    y = legend(y + 4);
    y = reuse(y);
    y = notes(y);
    m_svg.line(20, y, 880, y, "gridline");
    y = beats(y);
    m_svg.line(20, y, 880, y, "gridline");
    ids(y);
}

std::string PlanDrawing::hover(const HandOver& e) const {
    std::string s = e.buffer + " " + (e.direction == Direction::ready ? "ready" : "free") + ": " + e.from + " sets on " + e.set_pipe;
    if (e.set_after.valid()) s += " after " + text_of(e.set_after);
    s += ", " + e.to + " waits on " + e.wait_pipe;
    if (e.wait_before.valid()) s += " before " + text_of(e.wait_before);
    if (!e.enforced) return s + "; " + (e.note.empty() ? "not enforced" : e.note);
    s += "; ids " + id_list(e.ids) + " by task mod " + std::to_string(e.ids.size());
    s += e.direction == Direction::ready ? "; without it " + e.to + " may read before the write" : "; without it " + e.to + " may overwrite what " + e.from + " still reads";
    return s + (e.note.empty() ? "" : "; " + e.note);
}

void PlanDrawing::head() {
    const PlanCounts n = counts(m_loop);
    const Status s = status(m_loop, m_plan.provenance);
    std::string words = std::string(glyph(s)) + " " + std::string(word(s));
    if (s == Status::proven) words = m_zh ? "✔ 已证明，任意迭代次数" : words + ", any trip count";
    else words += ": " + clip_middle(first_open(m_loop.proof, m_language), 44);
    const double w = text_width(words, 10.5, true) * 1.08 + 24;
    m_svg.rect(882 - w, 15, w, 23, 11.5, s == Status::proven ? "fgood" : "fwarn");
    m_svg.text(882 - w / 2, 31, Type::label, words, Anchor::middle, "oncard");
    std::string rest = clip_middle(m_plan.kernel) + ", " + say("loop ", "循环 ") + clip_middle(m_loop.name, 12) + ", preload " + std::to_string(m_loop.preload) +
                       say(", ring depth ", "，环深 ") + std::to_string(m_loop.ring_depth) + (m_plan.target.empty() ? "" : ", " + m_plan.target);
    const std::string name = say("Sync plan", "同步计划");
    const double room = 882 - w - 20 - 32 - text_width(name, 16, true);
    m_svg.title_text(20, 31, name, clip_to(rest, room, 12.5));
    const std::string line =
        m_zh ? std::to_string(m_loop.buffers.size()) + " 个 buffer，" + std::to_string(n.hand_overs) + " 次交接。循环内 " + std::to_string(n.waits) + " 次 wait、" +
                   std::to_string(n.sets) + " 次 set；循环前 " + std::to_string(n.prefire) + " 次 set（预释放），循环后 " + std::to_string(n.drain) + " 次 wait（排空）。"
             : plural(std::int64_t(m_loop.buffers.size()), "buffer", "buffers") + ", " + plural(n.hand_overs, "hand-over", "hand-overs") + ". In the loop " +
                   plural(n.waits, "wait", "waits") + " and " + plural(n.sets, "set", "sets") + "; " + plural(n.prefire, "set", "sets") +
                   " before it (prefire), " + plural(n.drain, "wait", "waits") + " after it (drain).";
    m_svg.text(20, 54, Type::verdict, line);
}

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

} // namespace

Svg draw(const SyncPlan& plan, const PlanLoop& loop, const ViewOptions& options) {
    const PlanCounts n = counts(loop);
    const Status s = status(loop, plan.provenance);
    Svg svg(900, std::string(word(s)) + ": sync plan of " + plan.kernel + ", loop " + loop.name + ", preload " + std::to_string(loop.preload),
            plural(std::int64_t(loop.stages.size()), "stage", "stages") + ", " + plural(std::int64_t(loop.buffers.size()), "buffer", "buffers") + ", " +
                std::to_string(n.waits + n.sets) + " in-loop sites, " + std::to_string(n.prefire) + " prefire, " + std::to_string(n.drain) + " drain, " +
                std::to_string(n.ids_used) + " of " + std::to_string(loop.ids.size()) + " event ids");
    PlanDrawing(plan, loop, options, svg).draw();
    return svg;
}

std::string html(const SyncPlan& plan, const ViewOptions& options, bool with_verdict) {
    if (plan.loops.empty()) return escape(first_line(to_text(plan, options.language))) + "\n";
    std::string out;
    for (const PlanLoop& loop : plan.loops) {
        const SyncPlan one{plan.provenance, plan.kernel, plan.target, {loop}};
        const std::string text = to_text(one, options.language);
        const std::string line = first_line(text);
        if (with_verdict) {
            const Status s = status(loop, plan.provenance);
            const std::string w(word(s));
            out += verdict_html(s, line.rfind(w, 0) == 0 ? line.substr(std::min(line.size(), w.size() + 2)) : line) + "<br>\n" +
                   font(page_muted, first_line(text.substr(std::min(text.size(), line.size() + 1)))) + "<br>\n";
        }
        out += figure(draw(plan, loop, options), line, options);
        const PlanCounts n = counts(loop);
        std::vector<std::vector<std::string>> rows;
        for (const PlanSite& s : loop.sites)
            rows.push_back({s.stage, s.is_wait ? "wait" : "set", s.pipe, s.buffer, s.direction == Direction::ready ? "ready" : "free", id_list(s.ids),
                            s.ids.empty() ? "" : "task mod " + std::to_string(s.ids.size()), s.generated_line > 0 ? "line " + std::to_string(s.generated_line) : ""});
        const std::string summary = options.language == Language::zh
                                        ? "全部同步点：循环内 " + std::to_string(n.waits + n.sets) + "，预释放 " + std::to_string(n.prefire) + "，排空 " + std::to_string(n.drain)
                                        : "All sites: " + std::to_string(n.waits + n.sets) + " in the loop, " + std::to_string(n.prefire) + " prefire, " + std::to_string(n.drain) + " drain";
        out += details(summary, table({"stage", "op", "pipe", "buffer", "", "ids", "index", "generated"}, rows) + pre(text), false);
    }
    return out;
}

nl::json mime_bundle(const SyncPlan& plan, const ViewOptions& options) { return bundle(to_text(plan, options.language), html(plan, options)); }

} // namespace xpto::views
