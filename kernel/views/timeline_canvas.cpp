/// Slices packed for the canvas script (share/xpto/views/timeline.js). Times are core cycles.
///
/// Raw: per lane the intervals by start, each as varint(start - end of the one before), varint(length), a byte kind << 5 | stage + 1, and
/// for bars zigzag varint(task - task before). Binned: three levels, per lane and bin the two stages with the most time and their shares,
/// the share of everything busy and of paid waits, a byte each.
#include "kernel/views/timeline_chart.hpp"
#include "kernel/views/timeline_extras.hpp"

#include "kernel/views/scripts.hpp"

namespace xpto::views {

using namespace pto::report;
using namespace timeline;

namespace {

constexpr std::size_t most_raw = 100'000;
constexpr int levels[] = {1024, 4096, 16384};
enum Kind : std::uint8_t { bar_kind, paid_kind, free_kind, core_kind };

void varint(std::string& out, std::uint64_t v) {
    for (; v >= 128; v >>= 7) out += char((v & 127) | 128);
    out += char(v);
}

struct Interval {
    std::int64_t start, end;
    Kind kind;
    std::int32_t stage, task;
};

/// Everything one lane shows, by start. Stages beyond 30 share the last code.
std::vector<Interval> intervals(const Lane& l, const std::vector<Bar>& bars) {
    std::vector<Interval> out;
    for (const Bar& b : bars) out.push_back({cycles(b.start), cycles(b.end), bar_kind, b.stage, b.task});
    for (const Wait& w : l.waits) {
        const Ticks paid_from = w.end - w.paid;
        if (paid_from > w.start) out.push_back({cycles(w.start), cycles(paid_from), free_kind, w.for_stage, w.task});
        if (w.paid > 0) out.push_back({cycles(paid_from), cycles(w.end), paid_kind, w.for_stage, w.task});
    }
    for (const Gap& g : l.gaps) out.push_back({cycles(g.start), cycles(g.end), core_kind, g.stage, g.task});
    std::stable_sort(out.begin(), out.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
    return out;
}

std::string packed(const std::vector<Interval>& all) {
    std::string out;
    std::int64_t at = 0, task = 0;
    for (const Interval& i : all) {
        const std::int64_t start = std::max(i.start, at);
        varint(out, std::uint64_t(start - at));
        varint(out, std::uint64_t(std::max<std::int64_t>(i.end - start, 0)));
        out += char(i.kind << 5 | std::clamp(i.stage + 1, 0, 31));
        if (i.kind == bar_kind) {
            const std::int64_t d = i.task - task;
            varint(out, std::uint64_t(d < 0 ? -2 * d - 1 : 2 * d));
            task = i.task;
        }
        at = std::max(start, i.end);
    }
    return out;
}

std::string binned(const Lane& l, std::size_t stages, Ticks total, int n) {
    std::string out;
    const double whole = double(total) / n;
    const auto share = [&](Ticks v) { return char(std::uint8_t(std::clamp<double>(double(v) / whole * 255 + 0.5, 0, 255))); };
    for (const Bin& b : bins(l, stages, 0, total, n)) {
        Ticks busy = 0, paid = 0;
        std::size_t most = 0, second = stages;
        for (std::size_t s = 0; s <= stages; ++s) {
            busy += b.busy[s], paid += b.paid[s];
            if (b.busy[s] > b.busy[most]) second = most, most = s;
            else if (s != most && b.busy[s] >= b.busy[second]) second = s;
        }
        for (std::size_t s : {most, second}) {
            out += char(s == stages ? 0 : std::min<std::size_t>(s + 1, 31));
            out += share(s == second && second == most ? 0 : b.busy[s]);
        }
        out += share(busy);
        out += share(paid);
    }
    return out;
}

} // namespace

nl::json canvas_data(const Timeline& t, const ViewOptions& options) {
    nl::json data{{"kernel", t.kernel}, {"total", cycles(t.total)}, {"rate", t.cycles_per_us}, {"zh", options.language == Language::zh}};
    std::vector<pto::isa::Core> cores;
    for (const StageTime& s : t.stages) cores.push_back(s.core);
    const std::vector<StageHue> hues = stage_hues(cores);
    data["stages"] = nl::json::array();
    for (std::size_t i = 0; i < t.stages.size(); ++i)
        data["stages"].push_back({t.stages[i].name, hue_colour(hues[i].hue, Theme::light), hue_colour(hues[i].hue, Theme::dark)});
    for (Theme theme : {Theme::light, Theme::dark}) {
        const Roles& r = roles(theme);
        data[theme == Theme::light ? "light" : "dark"] = {r.card, r.lane, r.ink, r.muted, r.faint, r.border, r.grid};
    }
    std::vector<std::vector<Bar>> all;
    std::size_t n = 0;
    for (const Lane& l : t.lanes) {
        all.push_back(bars(l));
        n += all.back().size() + 2 * l.waits.size() + l.gaps.size();
    }
    data["slices"] = n;
    data["lanes"] = nl::json::array();
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        const Lane& l = t.lanes[i];
        nl::json lane{{"core", l.core}, {"pipe", l.pipe}, {"tall", l.computes}, {"busy", double(l.totals.busy) / double(std::max<Ticks>(1, t.total))}};
        if (n <= most_raw) lane["raw"] = base64(packed(intervals(l, all[i])));
        else
            for (int level : levels) lane["bins"].push_back(base64(binned(l, t.stages.size(), t.total, level)));
        data["lanes"].push_back(std::move(lane));
    }
    return data;
}

std::string timeline_canvas(const Timeline& t, const ViewOptions& options) {
    if (!options.scripts || t.total <= 0) return {};
    std::size_t n = 0;
    for (const Lane& l : t.lanes) n += bars(l).size() + l.waits.size();
    if (n <= most_bars) return {};
    const std::string data = script_json(canvas_data(t, options)), key = "c" + content_hash(data);
    return "<div data-xpto=\"" + key + "\"></div>\n<script>(function(key,data){" + std::string(timeline_script()) + "})(\"" + key + "\"," + data + ")</script>\n";
}

} // namespace xpto::views
