#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;

namespace {

std::string loop_table(const PlanLoop& loop, bool zh) {
    std::vector<std::vector<std::string>> rows;
    for (const PlanStage& s : loop.stages) {
        std::string waits, sets;
        for (const PlanSite& site : loop.sites) {
            if (site.stage != s.name) continue;
            std::string& cell = site.is_wait ? waits : sets;
            cell += (cell.empty() ? "" : "; ") + site.pipe + " " + site.buffer + (site.direction == Direction::ready ? " ready " : " free ") + id_list(site.ids);
        }
        rows.push_back({s.name, std::string(pto::isa::name(s.core)), "b" + (s.delay ? "-" + std::to_string(s.delay) : std::string{}), text_of(s.place), waits, sets});
    }
    return table(zh ? std::vector<std::string>{"stage", "核", "任务", "行", "之前 wait", "之后 set"} : std::vector<std::string>{"stage", "core", "runs", "line", "waits before", "sets after"}, rows);
}

std::string lines_summary(const std::string& text, bool zh) {
    const auto n = std::int64_t(std::count(text.begin(), text.end(), '\n')) + (text.empty() || text.back() == '\n' ? 0 : 1);
    return zh ? std::to_string(n) + " 行" : plural(n, "line", "lines");
}

} // namespace

std::string html(const Panel& p, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const Status s = status(p);
    std::string out = verdict_html(s, headline(p, options.language)) + "<br>\n" + font(page_muted, second_line(p, options.language)) + "<br>\n";
    if (!p.stale.empty()) return out;
    if (!p.since.empty()) out += escape((zh ? "与上次相比：" : "since last run: ") + p.since) + "<br>\n";
    if (!p.decorator_line.empty()) out += escape(zh ? "写入装饰器：" : "to keep it, write: ") + "<code>" + escape(p.decorator_line) + "</code><br>\n";
    if (p.findings && !p.findings->findings.empty()) out += "<br>\n" + html(*p.findings, options) + "<br>\n";
    if (s == Status::refused && p.findings && !p.findings->findings.empty()) return out;
    std::vector<PlanStage> stages;
    if (p.plan) {
        for (const PlanLoop& loop : p.plan->loops) {
            out += "<b>" + escape((zh ? "循环 " : "loop ") + loop.name + (loop.place.valid() ? ", " + text_of(loop.place) : "")) + "</b>\n" + loop_table(loop, zh);
            stages.insert(stages.end(), loop.stages.begin(), loop.stages.end());
        }
        for (const PlanLoop& loop : p.plan->loops) {
            const SyncPlan one{p.plan->provenance, p.plan->kernel, p.plan->target, {loop}};
            const PlanCounts n = counts(loop);
            const Status state = status(loop, p.plan->provenance);
            const std::string name = p.plan->loops.size() > 1 ? " " + loop.name : "";
            const std::string state_word = state == Status::proven ? (zh ? "已证明" : "proven") : (zh ? "未证明" : "NOT PROVEN");
            out += details(zh ? "同步计划" + name + "：" + state_word + "，" + std::to_string(n.hand_overs) + " 次交接，id 已用 " + std::to_string(n.ids_used) + "/" + std::to_string(loop.ids.size())
                              : "Sync plan" + name + ": " + state_word + ", " + plural(n.hand_overs, "hand-over", "hand-overs") + ", ids " + std::to_string(n.ids_used) + " of " + std::to_string(loop.ids.size()),
                           html(one, options, false), options.plan_changed || state != Status::proven);
        }
        if (p.plan->loops.empty()) out += escape(zh ? "没有流水循环，因此没有同步计划" : "no pipeline loop, so there is no sync plan") + "<br>\n";
    }
    if (p.timeline) {
        const Timeline& t = *p.timeline;
        std::string summary = (zh ? "预测 " : "Predicted ") + fixed(us(t, t.total), 2) + " µs";
        if (t.total > 0 && t.fill > 0) summary += (zh ? "：填充 " : ": fill ") + fixed(100.0 * double(t.fill) / double(t.total), 0) + " %";
        const Lane* busiest = nullptr;
        for (const Lane& l : t.lanes)
            if (!busiest || l.totals.busy > busiest->totals.busy) busiest = &l;
        if (busiest && t.total > 0) summary += ", " + busiest->pipe + (zh ? " 占用 " : " busy ") + fixed(100.0 * double(busiest->totals.busy) / double(t.total), 0) + " %";
        if (t.serial_total > 0 && t.total > 0) summary += ", " + fixed(double(t.serial_total) / double(t.total), 2) + (zh ? "× 于 preload 0" : "× preload 0");
        out += details(summary, html(t, options, false), !stages.empty());
    }
    if (p.memory) {
        const Status fits = status(*p.memory);
        const std::string text = to_text(*p.memory, options.language);
        std::string summary = text.substr(0, text.find('\n'));
        if (const std::size_t colon = summary.find(": "); !zh && fits == Status::fits && colon != std::string::npos) summary = "fits, " + summary.substr(colon + 2);
        out += details((zh ? "内存：" : "Memory: ") + summary, html(*p.memory, stages, options, false), fits != Status::fits);
    }
    if (p.code)
        out += details(p.code->new_name + (zh ? "：+" : ": +") + std::to_string(p.code->added) + " −" + std::to_string(p.code->removed) + (zh ? " 行" : " lines"), html(*p.code, options), false);
    if (!p.cpp.empty()) out += details(p.cpp_name + ": " + lines_summary(p.cpp, zh), "<pre>" + highlighted(p.cpp, CodeKind::cpp) + "</pre>\n", false);
    for (const auto& [part, why] : p.missing) out += escape(part + (zh ? "：未显示，" : ": not shown, ") + why) + "<br>\n";
    if (!p.checks.empty()) out += details(zh ? std::to_string(p.checks.size()) + " 项检查通过" : plural(std::int64_t(p.checks.size()), "check passed", "checks passed"), pre(join(p.checks, "\n")), false);
    if (!p.versions.empty()) out += details(p.versions.front(), pre(join(p.versions, "\n")), false);
    return out;
}

nl::json mime_bundle(const Panel& p, const ViewOptions& options) { return bundle(to_text(p, options.language), html(p, options)); }

nl::json mime_bundle(const std::vector<Panel>& panels, const ViewOptions& options) {
    if (panels.size() == 1) return mime_bundle(panels[0], options);
    // One panel each; open is the first with a problem, else the last, which is "the last kernel". The others show their verdict line.
    std::size_t open = panels.empty() ? 0 : panels.size() - 1;
    for (std::size_t i = panels.size(); i-- > 0;)
        if (tone(status(panels[i])) != Tone::good) open = i;
    std::string text, body;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        if (i) text += "\n", body += "<hr>\n";
        text += to_text(panels[i], options.language);
        const std::string summary = std::string(glyph(status(panels[i]))) + " " + std::string(word(status(panels[i]))) + " " + headline(panels[i], options.language);
        body += i == open ? html(panels[i], options) : details(summary, html(panels[i], options), false);
    }
    return bundle(std::move(text), std::move(body));
}

} // namespace xpto::views
