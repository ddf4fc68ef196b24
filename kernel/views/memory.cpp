#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <map>

namespace xpto::views {

using namespace pto::report;

namespace {

constexpr double x0 = 120, bar_width = 716, bar_height = 26;

class Map {
  public:
    Map(const MemoryMap& map, const std::vector<PlanStage>& stages, const ViewOptions& options, Svg& svg) : m_map(map), m_zh(options.language == Language::zh), m_svg(svg) {
        std::vector<pto::isa::Core> cores;
        for (const PlanStage& s : stages) cores.push_back(s.core);
        const std::vector<StageHue> hues = stage_hues(cores);
        for (std::size_t i = 0; i < stages.size(); ++i) {
            m_hue[stages[i].name] = hues[i].hue;
            m_delay[stages[i].name] = stages[i].delay;
            m_beats = std::max(m_beats, stages[i].delay + 1);
        }
    }

    void draw() {
        const Status s = status(m_map);
        std::string stamp = std::string(glyph(s)) + " " + std::string(word(s));
        const double w = text_width(stamp, 10.5, true) * 1.1 + 24;
        const Tone t = tone(s);
        m_svg.rect(882 - w, 15, w, 23, 11.5, t == Tone::good ? "fgood" : t == Tone::bad ? "fbad" : "fwarn");
        m_svg.text(882 - w / 2, 31, Type::label, stamp, Anchor::middle, "oncard");
        m_svg.title_text(20, 31, m_zh ? "内存" : "Memory", clip_to(clip_middle(m_map.kernel) + ", " + m_map.target, 600, 12.5));
        double y = 54;
        if (m_map.memories.empty()) m_svg.text(20, y, Type::body, m_zh ? "没有声明任何 tile" : "no tile is declared");
        for (const MemorySpaceMap& m : m_map.memories) y = memory(m, y);
    }

  private:
    std::string say(std::string_view en, std::string_view zh) const { return std::string(m_zh ? zh : en); }

    double memory(const MemorySpaceMap& m, double y) {
        const MemoryUse u = use_of(m);
        std::int64_t physical = std::max(m.physical, m.usable);
        // On the memory's own scale, cut above 1.25 times the used top so that small tiles stay readable.
        const std::int64_t whole = std::max(physical, u.top);
        const bool cut = u.top > 0 && double(u.top) * 1.25 < double(whole);
        const double shown = cut ? double(u.top) * 1.25 : double(std::max<std::int64_t>(1, whole));
        const double scale = bar_width / shown;
        const auto x = [&](std::int64_t a) { return x0 + std::min(double(a), shown) * scale; };
        m_svg.text(20, y + 17, Type::name, m.name);
        m_svg.text(20, y + 32, Type::small, std::to_string(u.used / 1024) + say(" of ", " / ") + std::to_string(m.usable / 1024) + " KiB");
        if (!m.note.empty()) m_svg.text(20, y + 45, Type::small, m.note);
        // Rows: groups whose bytes are shared are stacked on a second row.
        std::vector<std::vector<const MemoryGroup*>> rows(1);
        for (const MemoryGroup& g : m.groups) {
            std::size_t r = 0;
            const auto free_in = [&](std::size_t k) {
                return std::none_of(rows[k].begin(), rows[k].end(), [&](const MemoryGroup* o) { return o->address < g.end() && g.address < o->end(); });
            };
            while (r < rows.size() && !free_in(r)) ++r;
            if (r == rows.size()) rows.emplace_back();
            rows[r].push_back(&g);
        }
        const double bottom = y + double(rows.size()) * (bar_height + 2) - 2;
        m_svg.rect(x0, y, x(std::int64_t(shown)) - x0, bottom - y, 0, "lane");
        if (physical > m.usable && double(m.usable) < shown) {
            m_svg.rect(x(m.usable), y, x(physical) - x(m.usable), bottom - y, 0, "reserved", {}, "reserved");
            m_svg.text((x(m.usable) + x(physical)) / 2, bottom - 9, Type::small, clip_to(say("reserved", "保留"), x(physical) - x(m.usable), 10.5), Anchor::middle);
        }
        for (const auto& [from, to] : u.gaps) {
            m_svg.rect(x(from), y + 1, x(to) - x(from), bar_height - 2, 0, "dash");
            const std::string size = kib(to - from);
            if (text_width(size, 10.5) * 1.15 < x(to) - x(from)) m_svg.text((x(from) + x(to)) / 2, y + 17, Type::small, size, Anchor::middle);
        }
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (const MemoryGroup* g : rows[r]) group(m, *g, y + double(r) * (bar_height + 2), x);
        if (double(m.usable) <= shown) m_svg.line(x(m.usable), y - 3, x(m.usable), bottom + 3, "inkline");
        if (cut) m_svg.path("M" + number(x0 + bar_width + 3) + " " + number(y) + "l5 5l-5 5l5 5l-5 5l5 6", "axis");
        double under = bottom + 13;
        // Under the cells: locks, for channels ids. Narrow cells leave them to the hover line and the table.
        double right = 0;
        for (const MemoryGroup& g : m.groups) {
            const double a = x(g.address), w = x(g.end()) - a;
            if (a < right) continue;
            std::string s = g.locks.empty() ? say("no lock", "无锁") : say(g.locks.size() == 1 ? "lock " : "locks ", "锁 ") + (g.locks.size() > 3 ? id_ranges(g.locks) : id_list(g.locks));
            if (g.channel) s += " ids " + id_list(g.ready_ids) + "/" + id_list(g.free_ids);
            if (text_width(s, 10.5) * 1.15 > w) s = g.locks.size() > 3 ? id_ranges(g.locks) : id_list(g.locks);
            if (text_width(s, 10.5) * 1.15 > w) continue;
            m_svg.text(a + w / 2, under, Type::small, s, Anchor::middle);
            right = a + w;
        }
        double tick = under + 13;
        std::int64_t step = 1;
        while (double(step) * scale < 110) step *= 2;
        for (std::int64_t a = 0; double(a) <= shown && a <= whole; a += step) m_svg.text(std::min(x(a), x0 + bar_width - 18), tick, Type::small, hex(a), a == 0 ? Anchor::start : Anchor::middle);
        double next = tick + 8;
        if (std::any_of(m.overlaps.begin(), m.overlaps.end(), [](const MemoryOverlap& o) { return o.lawful; })) next = beats(m, next, x);
        for (const MemoryOverlap& o : m.overlaps) {
            m_svg.path("M" + number(x(o.from)) + " " + number(next) + "v5H" + number(std::max(x(o.to), x(o.from) + 2)) + "v-5", o.lawful ? "axis" : "sbad");
            std::string s = clip_middle(o.first) + say(" and ", " 与 ") + clip_middle(o.second) + say(" share ", " 共用 ") + hex(o.from) + "–" + hex(o.to) + (o.note.empty() ? "" : ", " + o.note);
            if (!o.lawful) s = "✖ " + s;
            m_svg.text(x0, next + 18, Type::small, clip_to(s, bar_width / 1.1, 10.5), Anchor::start, o.lawful ? "" : "xbad");
            next += 24;
        }
        for (const MemoryGroup* g : beyond(m)) {
            m_svg.text(x0, next + 10, Type::small, clip_to("✖ " + clip_middle(g->name) + say(" ends at ", " 结束于 ") + hex(g->end()) + ", " + m.name + say(" has ", " 只到 ") + hex(m.usable), bar_width / 1.1, 10.5), Anchor::start, "xbad");
            next += 16;
        }
        return next + 14;
    }

    /// One line a beat of the steady loop: which task holds which slot, from the beat of its producer to that of its last user.
    template <class X> double beats(const MemorySpaceMap& m, double y, const X& x) {
        const int lines = std::min(m_beats, 8);
        if (lines < 2) return y;
        for (int b = 0; b < lines; ++b, y += 13) {
            m_svg.text(x0 - 8, y + 10, Type::small, say("beat b", "拍 b") + (b ? "+" + std::to_string(b) : ""), Anchor::end);
            m_svg.rect(x0, y, bar_width, 11, 0, "lane");
            for (const MemoryGroup& g : m.groups) {
                int first = -1, last = -1;
                std::string holder;
                for (const std::string& s : g.stages) {
                    const auto d = m_delay.find(s);
                    if (d == m_delay.end()) continue;
                    if (first < 0 || d->second < first) first = d->second, holder = s;
                    last = std::max(last, d->second);
                }
                if (first < 0) continue;
                for (int task = b - last; task <= b - first; ++task) { // counted from task b
                    const std::int32_t slot = ((task % g.slots) + g.slots) % g.slots;
                    const std::int64_t from = g.address + slot * (g.stride > 0 ? g.stride : g.slot_bytes);
                    const double a = x(from), w = x(from + g.slot_bytes) - a - 1;
                    const std::string when = task == 0 ? "b" : task > 0 ? "b+" + std::to_string(task) : "b" + std::to_string(task);
                    m_svg.rect(a, y, w, 11, 0, hue(holder) >= 0 ? "q" + std::to_string(hue(holder)) : "neutral", {}, g.name + " " + std::to_string(slot) + say(" holds task ", " 持有任务 ") + when);
                    const std::string label = clip_middle(g.name, 10) + " " + when;
                    if (w > text_width(label, 10.5) * 1.1 + 2) m_svg.text(a + w / 2, y + 9.5, Type::small, label, Anchor::middle, hue(holder) >= 0 ? "c" + std::to_string(hue(holder)) : "");
                }
            }
        }
        return y + 6;
    }

    template <class X> void group(const MemorySpaceMap& m, const MemoryGroup& g, double y, const X& x) {
        std::string hover = g.name + ": " + hex(g.address) + "-" + hex(g.end()) + ", " + std::to_string(g.slots) + " x " + kib(g.slot_bytes) + ", " + g.shape + " " + g.dtype +
                            (g.layout.empty() ? "" : " " + g.layout) + (g.lifetime.empty() ? "" : ", " + g.lifetime) + (g.place.valid() ? ", " + text_of(g.place) : "") +
                            (g.stages.empty() ? "" : "; " + join(g.stages, g.channel ? " > " : ", "));
        const bool bad = std::any_of(m.overlaps.begin(), m.overlaps.end(), [&](const MemoryOverlap& o) { return !o.lawful && (o.first == g.name || o.second == g.name); });
        for (std::int32_t i = 0; i < g.slots; ++i) {
            const std::int64_t from = g.address + i * (g.stride > 0 ? g.stride : g.slot_bytes), to = from + g.slot_bytes;
            const double a = x(from), w = std::max(1.0, x(to) - a - 1);
            // Two stages of two cores share a channel: producer above, consumer below. Several of one core: neutral.
            const int first = g.stages.empty() ? -1 : hue(g.stages[0]), second = g.stages.size() > 1 ? hue(g.stages[1]) : -1;
            if (g.channel && first >= 0 && second >= 0) {
                m_svg.rect(a, y, w, bar_height / 2, 0, "q" + std::to_string(first));
                m_svg.rect(a, y + bar_height / 2, w, bar_height / 2, 0, "q" + std::to_string(second));
            } else m_svg.rect(a, y, w, bar_height, 0, g.stages.size() == 1 && first >= 0 ? "q" + std::to_string(first) : "neutral");
            if (bad || to > m.usable) m_svg.rect(a, y, w, bar_height, 0, "wbad", m_svg.hatch(-1) + " fill-opacity=\".8\"");
            m_svg.rect(a, y, w, bar_height, 0, "axis", "data-cell=\"1\"", hover);
            std::string label = clip_middle(g.name) + (g.slots > 1 ? " " + std::to_string(i) : "");
            if (text_width(label, 10.5, true) * 1.1 + 4 > w) label = clip_to(clip_middle(g.name), (w - 4) / 1.1, 10.5, true);   // the number goes first
            const double lw = text_width(label, 10.5, true) * 1.1 + 6;
            if (w < 18) continue;
            m_svg.rect(a + (w - lw) / 2, y + 6, lw, 14, 3, "card");
            m_svg.text(a + w / 2, y + 17, Type::label, label, Anchor::middle);
        }
    }
    int hue(const std::string& stage) const {
        const auto f = m_hue.find(stage);
        return f == m_hue.end() ? -1 : f->second;
    }

    const MemoryMap& m_map;
    const bool m_zh;
    Svg& m_svg;
    std::map<std::string, int> m_hue, m_delay;
    int m_beats = 0;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

} // namespace

Svg draw(const MemoryMap& map, const std::vector<PlanStage>& stages, const ViewOptions& options) {
    Svg svg(900, first_line(to_text(map)), "One row per memory, cells at their addresses, capacity as a line");
    Map(map, stages, options, svg).draw();
    return svg;
}

std::string html(const MemoryMap& map, const std::vector<PlanStage>& stages, const ViewOptions& options, bool with_verdict) {
    const std::string text = to_text(map, options.language), line = first_line(text);
    std::string out;
    if (with_verdict) {
        const std::string w(word(status(map)));
        out += verdict_html(status(map), line.rfind(w, 0) == 0 ? line.substr(std::min(line.size(), w.size() + 2)) : line) + "<br>\n";
    }
    return out + figure(draw(map, stages, options), line, options) + details(options.language == Language::zh ? "表" : "Table", pre(text), false);
}

nl::json mime_bundle(const MemoryMap& map, const std::vector<PlanStage>& stages, const ViewOptions& options) {
    return bundle(to_text(map, options.language), html(map, stages, options));
}

} // namespace xpto::views
