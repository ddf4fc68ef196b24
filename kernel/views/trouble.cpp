/// Race: what nothing orders.
#include "kernel/views/trouble.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;

Svg draw(const Race& r, const std::vector<PlanStage>& stages, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string verdict = first_line(to_text(r));
    Svg svg(900, verdict, "The two accesses on their lanes and the bytes they share");
    if (r.pairs.empty()) return svg;
    const RacePair& p = r.pairs.front();
    const auto hues = hues_of(stages);
    const Status s = status(r);
    const std::string stamp = std::string(glyph(s)) + " " + std::string(word(s));
    const double w = text_width(stamp, 10.5, true) * 1.1 + 24;
    svg.rect(882 - w, 15, w, 23, 11.5, tone(s) == Tone::bad ? "fbad" : "fwarn");
    svg.text(882 - w / 2, 31, Type::label, stamp, Anchor::middle, "oncard");
    svg.title_text(20, 31, clip_middle(p.buffer) + (p.slot >= 0 ? (zh ? " 槽 " : " slot ") + std::to_string(p.slot) : ""),
                   clip_to(clip_middle(r.kernel) + (r.preload.empty() ? "" : ", preload " + r.preload), 480, 12.5));
    // Each access on its own lane at its nominal time; without a run side by side.
    const RaceAccess* all[2] = {&p.first, &p.second};
    const bool timed = p.first.start_cycles >= 0 && p.second.start_cycles >= 0;
    double x[2] = {300, 520}, width[2] = {90, 90};
    if (timed) {
        const double low = double(std::min(p.first.start_cycles, p.second.start_cycles)), high = double(std::max(p.first.end_cycles, p.second.end_cycles));
        const double scale = 480 / std::max(1.0, high - low);
        for (int i = 0; i < 2; ++i) {
            x[i] = 260 + (double(all[i]->start_cycles) - low) * scale;
            width[i] = std::max(24.0, double(all[i]->end_cycles - all[i]->start_cycles) * scale);
            if (x[i] + width[i] > 780) x[i] = 780 - width[i];
        }
    }
    const double y[2] = {64, 142};
    for (int i = 0; i < 2; ++i) {
        const RaceAccess& a = *all[i];
        const auto f = hues.find(a.stage);
        svg.rect(160, y[i], 720, 40, 3, "lane");
        svg.text(24, y[i] + 16, Type::bold, clip_to(a.core + " " + a.pipe, 128, 11.5, true));
        svg.text(24, y[i] + 31, Type::small, clip_to(std::string(a.writes ? (zh ? "写 " : "write, ") : (zh ? "读 " : "read, ")) + text_of(a.place), 128, 10.5));
        svg.rect(x[i], y[i] + 8, width[i], 24, 2, f == hues.end() ? "neutral" : "h" + std::to_string(f->second), {}, a.text);
        std::string label = clip_middle(a.stage) + (a.task >= 0 ? (zh ? " 任务 " : " task ") + std::to_string(a.task) : "");
        if (label.empty() && !a.iteration.empty()) label = zh ? "第 " + a.iteration + " 次迭代" : "iteration " + a.iteration;
        if (label.empty() && a.block >= 0) label = "block " + std::to_string(a.block);
        if (text_width(label, 10.5, true) * 1.1 <= width[i]) svg.text(x[i] + width[i] / 2, y[i] + 24, Type::label, label, Anchor::middle, f == hues.end() ? "" : "c" + std::to_string(f->second));
        else if (x[i] > 420) svg.text(x[i] - 6, y[i] + 24, Type::label, clip_to(label, 230, 10.5, true), Anchor::end);
        else svg.text(x[i] + width[i] + 6, y[i] + 24, Type::label, clip_to(label, 230, 10.5, true));
        if (!a.awaited.empty()) svg.text(160, i ? y[1] + 53 : y[0] - 4, Type::small, clip_to((zh ? "此前等到：" : "waited for: ") + join(a.awaited, ", "), 700, 10.5));
    }
    const double a = x[0] + width[0] / 2, b = x[1] + width[1] / 2;
    svg.path("M" + number(a) + " 104L" + number(b) + " 142", "sbad", "stroke-dasharray=\"5 4\"");
    std::string gap = zh ? "两者之间没有任何次序" : "nothing orders these";
    if (timed) gap += ", " + grouped(std::abs(p.first.start_cycles - p.second.end_cycles)) + (zh ? " 周期" : " cycles apart");
    const double middle = std::clamp((a + b) / 2, 300.0, 740.0), gw = text_width(gap, 10.5, true) * 1.12 + 12;
    svg.rect(middle - gw / 2, 114, gw, 18, 3, "card");
    svg.text(middle, 127, Type::label, gap, Anchor::middle, "xbad");
    if (p.from >= 0) {
        svg.text(24, 230, Type::bold, p.memory);
        svg.text(24, 245, Type::small, clip_to(clip_middle(p.buffer), 120, 10.5));
        svg.rect(160, 218, 720, 30, 0, "wbad", svg.hatch(-1), "common bytes");
        svg.text(160, 262, Type::small, hex(p.from));
        svg.text(880, 262, Type::small, hex(p.to), Anchor::end);
        const std::string note = clip_to(p.bytes_note.empty() ? (zh ? "共同字节" : "common bytes") : p.bytes_note, 520, 10.5);
        svg.text(520, 262, Type::small, note, Anchor::middle);
    }
    return svg;
}

nl::json mime_bundle(const Race& r, const std::vector<PlanStage>& stages, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    const std::string text = to_text(r, options.language);
    if (r.pairs.empty()) return bundle(text, escape(text));
    std::string body = heading(status(r), text) + figure(draw(r, stages, options), first_line(text), options);
    body += pre(text.substr(std::min(text.size(), first_line(text).size() + 1)));
    std::string clocks;
    for (const RaceAccess* a : {&r.pairs.front().first, &r.pairs.front().second}) clocks += (a->writes ? "write  " : "read   ") + join(a->clock, ", ") + "\n";
    body += details(zh ? "两端的向量时钟" : "Vector clocks of both ends", pre(clocks), false);
    return bundle(text, std::move(body));
}

} // namespace xpto::views
