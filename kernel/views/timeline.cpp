#include "kernel/views/timeline_chart.hpp"
#include "kernel/views/timeline_extras.hpp"

namespace xpto::views {

using namespace pto::report;
using namespace timeline;

namespace {

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
    TimelineChart(t, options, svg).draw();
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
    out += figure(draw(t, options), line, options) + timeline_canvas(t, options);
    out += what_if_html(t, options) + roofline_html(t, options);
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
    out += details(zh ? "文本" : "Text, critical path", pre(text), false);
    return out;
}

nl::json mime_bundle(const Timeline& t, const ViewOptions& options) { return bundle(to_text(t, options.language), html(t, options)); }

} // namespace xpto::views
