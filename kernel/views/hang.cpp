/// Hang: how far every stage came, who waits for whom, and what is missing.
#include "kernel/views/trouble.hpp"

namespace xpto::views {

namespace {

/// Every stage's tasks as chips: done at full strength, what never ran dimmed, the one a pipe is stuck before in red.
double progress(const Hang& h, const std::map<std::string, int>& hues, bool zh, Svg& svg, double y) {
    if (h.progress.empty()) return y;
    svg.text(20, y + 10, Type::bold, zh ? "各 stage 的任务" : "Tasks of each stage");
    svg.text(170, y + 10, Type::small, zh ? "实色：已完成；淡色：没有运行；红框：停在这里" : "solid: done; pale: never ran; red frame: stopped here");
    y += 22;
    std::int64_t tasks = 1;
    for (const StageProgress& p : h.progress) tasks = std::max(tasks, p.tasks);
    const std::int64_t shown = std::min<std::int64_t>(tasks, 24);
    for (const StageProgress& p : h.progress) {
        const auto f = hues.find(p.stage);
        const std::string hue = f == hues.end() ? "" : std::to_string(f->second);
        svg.text(28, y + 14, Type::body, clip_to(clip_middle(p.stage), 120, 11.5));
        // A long run shows the tasks around where it stopped.
        const std::int64_t first = tasks > shown ? std::clamp<std::int64_t>(p.done - shown / 2, 0, tasks - shown) : 0;
        const double width = std::min(44.0, 620.0 / double(shown));
        for (std::int64_t k = 0; k < shown; ++k) {
            const std::int64_t task = first + k;
            const bool done = task < p.done;
            const bool stuck = std::any_of(h.stuck.begin(), h.stuck.end(), [&](const StuckPipe& s) { return s.stage == p.stage && s.task == task; });
            const double a = 160 + double(k) * width;
            svg.rect(a, y, width - 3, 20, 2, hue.empty() ? "neutral" : "h" + hue, done ? "" : "opacity=\".35\"", p.stage + (zh ? " 任务 " : " task ") + std::to_string(task) + (done ? (zh ? "：已完成" : ": done") : (zh ? "：没有运行完" : ": did not finish")));
            if (stuck) svg.rect(a, y, width - 3, 20, 2, "sbad");
            if (done && width > 20) svg.text(a + (width - 3) / 2, y + 14, Type::label, std::to_string(task), Anchor::middle, hue.empty() ? "" : "c" + hue);
            else if (width > 20) svg.text(a + (width - 3) / 2, y + 14, Type::small, std::to_string(task), Anchor::middle);
        }
        svg.text(880, y + 14, Type::mono, std::to_string(p.done) + (zh ? " / " : " of ") + std::to_string(p.tasks), Anchor::end);
        y += 26;
    }
    return y + 8;
}

/// One row a stuck pipe, causes first, an arrow to the row it waits for.
double waiting(const Hang& h, const std::map<std::string, int>& hues, bool zh, Svg& svg, double y) {
    svg.text(20, y + 10, Type::bold, zh ? "谁在等谁" : "Who waits for whom");
    y += 22;
    const double row = 44, left = 40;
    const std::size_t shown = std::min<std::size_t>(h.stuck.size(), 12);
    for (std::size_t i = 0; i < shown; ++i) {
        const StuckPipe& s = h.stuck[i];
        const double top = y + row * double(i);
        const auto f = hues.find(s.stage);
        svg.rect(left, top, 210, 34, 3, s.cause ? "sbad" : f == hues.end() ? "box" : "p" + std::to_string(f->second), {}, s.waits_for);
        svg.text(left + 8, top + 14, Type::bold, clip_to(s.cores + " " + s.pipe, 194, 11.5, true));
        svg.text(left + 8, top + 28, Type::small, clip_to(s.before.empty() ? "" : (zh ? "在 " : "before ") + s.before + (zh ? " 之前" : ""), 194, 10.5));
        svg.text(270, top + 14, Type::body, clip_to((zh ? "等待 " : "waits for ") + s.waits_for, 400, 11.5), Anchor::start, s.cause ? "xbad" : "");
        const std::string counts = s.id >= 0 ? std::to_string(s.sets) + (zh ? " 次 set，第 " : " sets, wait number ") + std::to_string(s.waits) + (zh ? " 次 wait" : "") : "";
        const std::string why = s.cause ? s.expected : s.because;
        svg.text(270, top + 28, Type::small, clip_to(counts.empty() || !why.empty() ? why : counts, 420, 10.5));
        if (s.cause) { // the set that does not exist
            const std::string missing = zh ? "缺少 set" : "missing set";
            const double w = text_width(missing, 10.5, true) * 1.1 + 20;
            svg.rect(868 - w, top + 6, w, 20, 10, "pbad");
            svg.text(868 - w / 2, top + 20, Type::label, missing, Anchor::middle, "xbad");
            svg.line(868 - w - 26, top + 16, 868 - w - 4, top + 16, "sbad", "stroke-dasharray=\"5 4\"");
        }
        if (s.waits_on >= 0 && std::size_t(s.waits_on) < shown && std::size_t(s.waits_on) != i) {
            // A bow on the left: from this row to the one it waits for.
            const double to = y + row * double(s.waits_on) + (std::size_t(s.waits_on) > i ? 10 : 24), from = top + 17, bow = 6.0 + 5.0 * double(i % 4);
            svg.path("M" + number(left) + " " + number(from) + "H" + number(left - bow) + "V" + number(to) + "H" + number(left - 1), "thin", svg.arrow(-1));
        }
    }
    if (h.stuck.size() > shown) svg.text(left, y + row * double(shown) + 10, Type::small, (zh ? "另有 " : "and ") + std::to_string(h.stuck.size() - shown) + (zh ? " 条" : " more"));
    return y + row * double(shown) + (h.stuck.size() > shown ? 20 : 4);
}

} // namespace

Svg draw(const Hang& h, const std::vector<PlanStage>& stages, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    Svg svg(900, first_line(to_text(h)), "How far each stage came, and the pipes that wait with an arrow to what they wait for");
    const Status s = status(h);
    const std::string stamp = std::string(glyph(s)) + " " + std::string(word(s));
    const double w = text_width(stamp, 10.5, true) * 1.1 + 24;
    svg.rect(882 - w, 15, w, 23, 11.5, "fbad");
    svg.text(882 - w / 2, 31, Type::label, stamp, Anchor::middle, "oncard");
    svg.title_text(20, 31, clip_middle(h.kernel), clip_to(h.preload.empty() ? h.provenance.computed_by : "preload " + h.preload + ", " + h.provenance.computed_by, 480, 12.5));
    if (!h.missing_cores.empty()) svg.text(20, 52, Type::body, clip_to(h.missing_cores, 860, 11.5), Anchor::start, "xbad");
    const auto hues = hues_of(stages);
    double y = progress(h, hues, zh, svg, 58);
    if (!h.stuck.empty()) y = waiting(h, hues, zh, svg, y);
    svg.grow(y);
    return svg;
}

nl::json mime_bundle(const Hang& h, const SyncPlan* plan, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string text = to_text(h, options.language);
    std::string body = heading(status(h), text);
    const std::string rest = text.substr(std::min(text.size(), first_line(text).size() + 1));
    body += pre(rest);
    if (!h.stuck.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const StuckPipe& s : h.stuck)
            rows.push_back({s.cause ? (zh ? "原因" : "cause") : (zh ? "后果" : "follows"), s.cores + " " + s.pipe, s.waits_for, s.before, s.id >= 0 ? std::to_string(s.sets) + (zh ? " / " : " of ") + std::to_string(s.waits) : "", text_of(s.place)});
        body += table(zh ? std::vector<std::string>{"", "流水", "等待", "之前", "set / wait", "位置"} : std::vector<std::string>{"", "pipe", "waits for", "before", "sets of waits", "place"}, rows);
    }
    if (!h.stuck.empty()) {
        std::vector<PlanStage> stages;
        if (plan)
            for (const PlanLoop& loop : plan->loops) stages.insert(stages.end(), loop.stages.begin(), loop.stages.end());
        body = heading(status(h), text) + figure(draw(h, stages, options), first_line(text), options) + body.substr(heading(status(h), text).size());
    }
    if (plan)
        for (const PlanLoop& loop : plan->loops) body += details(zh ? "同步计划" : "Sync plan", figure(draw(*plan, loop, options), "sync plan of " + h.kernel, options), false);
    std::vector<std::vector<std::string>> counters;
    for (const CounterState& c : h.counters) counters.push_back({std::to_string(c.id), c.what, std::to_string(c.sets), std::to_string(c.waits), c.awaited ? (zh ? "等待中" : "awaited") : ""});
    if (!counters.empty()) body += details(zh ? "非零或被等待的计数器" : "Counters that are not zero or are awaited", table({"id", "", "sets", "waits", ""}, counters, "rlrrl"), false);
    std::string queues;
    for (const StuckPipe& s : h.stuck)
        if (!s.queue.empty()) queues += s.cores + " " + s.pipe + ": " + join(s.queue, "; ") + "\n";
    if (!queues.empty()) body += details(zh ? "各流水后面排队的指令" : "What queues behind each pipe", pre(queues), false);
    return bundle(text, std::move(body));
}

} // namespace xpto::views
