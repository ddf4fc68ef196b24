#include "kernel/views/views.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <map>

namespace xpto::views {

using namespace pto::report;
using pto::isa::Core;

namespace {

constexpr double left = 96, column_width = 250, column_pitch = 262;
constexpr int columns_in_row = 3;

/// One hand-over channel: both arrows of one buffer between one pair of stages. Without a buffer: a stage that hands nothing over.
struct Column {
    const PlanBuffer* buffer = nullptr;
    const HandOver *ready = nullptr, *free = nullptr;
    int producer = -1, consumer = -1;
};

class Drawing {
  public:
    Drawing(const SyncPlan& plan, const PlanLoop& loop, const ViewOptions& options, Svg& svg)
        : m_plan(plan), m_loop(loop), m_zh(options.language == Language::zh), m_language(options.language), m_svg(svg) {
        std::vector<Core> cores;
        for (const PlanStage& s : loop.stages) cores.push_back(s.core);
        m_hues = stage_hues(cores);
    }

    void draw() {
        head();
        double y = 74;
        find_columns();
        m_drawn.assign(m_loop.stages.size(), false);
        const std::size_t rows = (m_columns.size() + columns_in_row - 1) / columns_in_row;
        for (std::size_t r = 0; r < rows; ++r) {
            row(r, y);
            y += 284;
        }
        y = legend(y + 4);
        y = reuse(y);
        y = notes(y);
        m_svg.line(20, y, 880, y, "gridline");
        y = beats(y);
        m_svg.line(20, y, 880, y, "gridline");
        ids(y);
    }

  private:
    std::string say(std::string_view en, std::string_view zh) const { return std::string(m_zh ? zh : en); }
    int stage_index(std::string_view name) const {
        for (std::size_t i = 0; i < m_loop.stages.size(); ++i)
            if (m_loop.stages[i].name == name) return int(i);
        return -1;
    }
    int hue(int stage) const { return stage >= 0 ? m_hues[std::size_t(stage)].hue : 0; }
    std::string cls(char kind, int stage) const { return kind + std::to_string(hue(stage)); }
    std::string key(const HandOver& e) const { return "e" + std::to_string(&e - m_loop.edges.data()); }
    std::string direction(Direction d) const { return d == Direction::ready ? say("data ready", "数据已就绪") : say("slot free", "槽位已释放"); }
    std::string runs(const PlanStage& s) const {
        const std::string b = s.delay ? "b−" + std::to_string(s.delay) : "b";
        return m_zh ? "执行任务 " + b : "runs task " + b;
    }

    std::string hover(const HandOver& e) const {
        std::string s = e.buffer + " " + (e.direction == Direction::ready ? "ready" : "free") + ": " + e.from + " sets on " + e.set_pipe;
        if (e.set_after.valid()) s += " after " + text_of(e.set_after);
        s += ", " + e.to + " waits on " + e.wait_pipe;
        if (e.wait_before.valid()) s += " before " + text_of(e.wait_before);
        if (!e.enforced) return s + "; " + (e.note.empty() ? "not enforced" : e.note);
        s += "; ids " + id_list(e.ids) + " by task mod " + std::to_string(e.ids.size());
        s += e.direction == Direction::ready ? "; without it " + e.to + " may read before the write" : "; without it " + e.to + " may overwrite what " + e.from + " still reads";
        return s + (e.note.empty() ? "" : "; " + e.note);
    }

    void head() {
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

    void find_columns() {
        std::vector<bool> touched(m_loop.stages.size(), false);
        for (const PlanBuffer& b : m_loop.buffers) {
            std::vector<Column> mine;
            for (const HandOver& e : m_loop.edges)
                if (e.buffer == b.name && e.shares_with.empty() && e.direction == Direction::ready) mine.push_back({&b, &e, nullptr, stage_index(e.from), stage_index(e.to)});
            for (const HandOver& e : m_loop.edges) {
                if (e.buffer != b.name || !e.shares_with.empty() || e.direction != Direction::free) continue;
                const int producer = stage_index(e.to), consumer = stage_index(e.from);
                auto pair = std::find_if(mine.begin(), mine.end(), [&](const Column& c) { return !c.free && c.producer == producer && c.consumer == consumer; });
                if (pair == mine.end()) mine.push_back({&b, nullptr, &e, producer, consumer});
                else pair->free = &e;
            }
            for (const Column& c : mine) {
                if (c.producer < 0 || c.consumer < 0) continue;
                touched[std::size_t(c.producer)] = touched[std::size_t(c.consumer)] = true;
                m_columns.push_back(c);
            }
        }
        for (std::size_t i = 0; i < touched.size(); ++i)
            if (!touched[i]) m_columns.push_back({nullptr, nullptr, nullptr, int(i), -1});
        std::stable_sort(m_columns.begin(), m_columns.end(), [](const Column& a, const Column& b) { return a.producer < b.producer; });
    }

    int stage_in(const Column& c, Core core) const {
        for (int s : {c.producer, c.consumer})
            if (s >= 0 && m_loop.stages[std::size_t(s)].core == core) return s;
        return -1;
    }

    void row(std::size_t r, double y) {
        const std::size_t first = r * columns_in_row, last = std::min(m_columns.size(), first + columns_in_row);
        m_svg.rect(20, y, 860, 66, 4, "lane");
        m_svg.rect(20, y + 206, 860, 66, 4, "lane");
        m_svg.text(30, y + 30, Type::name, "cube");
        m_svg.text(30, y + 46, Type::small, "AIC");
        m_svg.text(30, y + 236, Type::name, "vector");
        m_svg.text(30, y + 252, Type::small, "AIV0, AIV1");
        if (m_zh) m_svg.text(30, y + 132, Type::small, "共享内存");
        else {
            m_svg.text(30, y + 132, Type::small, "shared");
            m_svg.text(30, y + 146, Type::small, "memory");
        }
        for (Core core : {Core::cube, Core::vector})
            for (std::size_t k = first; k < last;) {
                const int s = stage_in(m_columns[k], core);
                std::size_t end = k + 1;
                while (end < last && s >= 0 && stage_in(m_columns[end], core) == s) ++end;
                if (s >= 0) brick(s, left + column_pitch * double(k - first), column_pitch * double(end - k) - 12, y, core);
                k = end;
            }
        for (std::size_t k = first; k < last; ++k) channel(m_columns[k], left + column_pitch * double(k - first), y);
    }

    void brick(int stage, double x, double w, double y, Core core) {
        const PlanStage& s = m_loop.stages[std::size_t(stage)];
        const bool again = m_drawn[std::size_t(stage)];
        m_drawn[std::size_t(stage)] = true;
        const std::string dashed = again ? "stroke-dasharray=\"5 3\"" : "";
        const bool up = core == Core::cube;
        const double top = up ? y + 6 : y + 206;
        m_svg.open("s" + std::to_string(stage), s.name + ", " + std::string(pto::isa::name(core)) + ", " + runs(s) + (s.place.valid() ? ", " + text_of(s.place) : ""));
        m_svg.rect(x, top, w, 60, 5, cls('b', stage), dashed);
        const std::string cut = m_hues[std::size_t(stage)].notched ? "l6 6" : "a5 5 0 0 1 5 5";
        const double flat = m_hues[std::size_t(stage)].notched ? w - 11 : w - 10;
        if (up) m_svg.path("M" + number(x) + " " + number(top + 22) + "v-17a5 5 0 0 1 5-5h" + number(flat) + cut + "v" + (m_hues[std::size_t(stage)].notched ? "16" : "17") + "z",
                           cls('H', stage), dashed);
        else m_svg.path("M" + number(x) + " " + number(top + 38) + "v17a5 5 0 0 0 5 5h" + number(flat) + (m_hues[std::size_t(stage)].notched ? "l6-6v-16z" : "a5 5 0 0 0 5-5v-17z"),
                        cls('H', stage), dashed);
        const double base = up ? top + 16 : top + 54;
        std::string line = s.place.valid() ? (m_zh ? std::to_string(s.place.line) + " 行" : "line " + std::to_string(s.place.line)) : std::string{};
        const double line_width = text_width(line, 11.5), runs_width = text_width(runs(s), 11.5);
        double room = w - 20 - (line.empty() ? 0 : line_width + 14) - (runs_width + 10) * 1.1;
        const std::string name = clip_to(clip_middle(s.name), room / 1.12, 13, true);
        m_svg.text(x + 10, base, Type::name, name, Anchor::start, cls('c', stage));
        m_svg.text(x + 10 + text_width(name, 13, true) * 1.02 + 8, base, Type::body, runs(s), Anchor::start, cls('c', stage));
        m_svg.text(x + w - 10, base, Type::body, line, Anchor::end, cls('c', stage));
        if (!s.summary.empty()) m_svg.text(x + 10, up ? top + 36 : top + 32, Type::small, clip_to(s.summary, (w - 12) / 1.08, 10.5));
        else if (again) m_svg.text(x + 10, up ? top + 36 : top + 32, Type::small, say("drawn again", "重复画出"));
        m_svg.close();
    }

    void pill(const HandOver& e, bool is_wait, double centre, double y) {
        const int stage = stage_index(is_wait ? e.to : e.from);
        const std::string& pipe = is_wait ? e.wait_pipe : e.set_pipe;
        m_svg.rect(centre - 40, y, 80, 18, 9, cls(is_wait ? 'p' : 'H', stage), is_wait ? "data-pill=\"wait\"" : "data-pill=\"set\"");
        m_svg.text(centre, y + 13, Type::label, std::string(is_wait ? "wait " : "set ") + clip_middle(pipe, 6), Anchor::middle, is_wait ? "plain" : cls('c', stage));
    }

    /// Id chips centred at x; long lists become one chip with ranges.
    void chips(const std::vector<int>& list, double centre, double y, int stage, bool dashed) {
        const double w = list.size() <= 3 ? 19 : 16, pitch = list.size() <= 3 ? 21 : 17;
        const std::string attributes = dashed ? "stroke-dasharray=\"3 2\" style=\"stroke-width:1.4\"" : "";
        if (list.size() > 4) {
            m_svg.rect(centre - 34, y, 68, 16, 3, cls('h', stage), attributes);
            m_svg.text(centre, y + 12, Type::label, clip_to(id_ranges(list), 60, 10.5, true), Anchor::middle, cls('c', stage));
            return;
        }
        double x = centre - (pitch * double(list.size() - 1) + w) / 2;
        for (int id : list) {
            m_svg.rect(x, y, w, 16, 3, cls('h', stage), attributes);
            m_svg.text(x + w / 2, y + 12, Type::label, std::to_string(id), Anchor::middle, cls('c', stage));
            x += pitch;
        }
    }

    void dots(int n, double centre, double y) {
        const double pitch = n <= 5 ? 12 : 58.0 / double(n - 1), r = n <= 5 ? 3.6 : 2.2;
        for (int i = 0; i < n; ++i) m_svg.circle(centre + (i - double(n - 1) / 2) * pitch, y, r, "ink", "data-dot=\"1\"");
    }

    void arrow(const HandOver& e, double centre, double y) {
        const int from = stage_index(e.from);
        const bool down = from >= 0 && m_loop.stages[std::size_t(from)].core == Core::cube;
        m_svg.open(key(e), hover(e));
        const double top = y + 78, bottom = y + 194;
        const double y1 = down ? top : bottom, y2 = down ? bottom - 1 : top + 1;
        if (!e.enforced) {
            m_svg.line(centre, y1, centre, y2, "axis", "stroke-width=\"2\" stroke-dasharray=\"1.5 4\" " + m_svg.arrow(-1));
            m_svg.rect(centre - 36, y + 106, 72, 60, 4, "card");
            m_svg.text(centre, y + 119, Type::label, direction(e.direction), Anchor::middle);
            m_svg.text(centre, y + 136, Type::small, e.racy ? say("▲ not", "▲ 未") : say("not", "未"), Anchor::middle, e.racy ? "xwarn" : "");
            m_svg.text(centre, y + 150, Type::small, say("enforced", "强制"), Anchor::middle, e.racy ? "xwarn" : "");
            m_svg.close();
            return;
        }
        m_svg.line(centre, y1, centre, y2, cls(e.direction == Direction::ready ? 'l' : 'd', from), m_svg.arrow(hue(from)));
        pill(e, false, centre, down ? y + 57 : y + 197);
        pill(e, true, centre, down ? y + 197 : y + 57);
        m_svg.rect(centre - 34, y + 106, 68, 60, 4, "card");
        m_svg.text(centre, y + 119, Type::label, direction(e.direction), Anchor::middle);
        chips(e.ids, centre, y + 126, from, e.chosen);
        if (e.permits > 0) dots(e.permits, centre, y + 153);
        else m_svg.text(centre, y + 157, Type::small, e.task_offset == 0 ? say("same task", "同一任务") : m_zh ? "隔 " + std::to_string(e.task_offset) + " 个任务" : plural(e.task_offset, "task", "tasks") + " on", Anchor::middle);
        m_svg.close();
    }

    void channel(const Column& c, double x, double y) {
        if (!c.buffer) {
            m_svg.text(x + column_width / 2, y + 138, Type::small, say("hands nothing to the other core", "不与另一核交接"), Anchor::middle);
            return;
        }
        if (c.ready) arrow(*c.ready, x + 208, y);
        if (c.free) arrow(*c.free, x + 42, y);
        const PlanBuffer& b = *c.buffer;
        const double centre = x + 125;
        m_svg.open("b" + b.name, b.name + ", " + b.memory + " " + hex_range(b) + ", " + b.shape + " " + b.dtype + (b.layout.empty() ? "" : " " + b.layout) + ", " +
                                     plural(b.slots, "slot", "slots") + (b.place.valid() ? ", " + text_of(b.place) : ""));
        m_svg.rect(centre - 47, y + 90, 94, 92, 6, "box");
        m_svg.text(centre, y + 107, Type::name, clip_to(clip_middle(b.name), 78, 13, true), Anchor::middle);
        m_svg.text(centre, y + 122, Type::mono, clip_to(b.memory + " " + hex(b.address), 88, 11, false, true), Anchor::middle);
        m_svg.text(centre, y + 137, Type::small, clip_to(times(b.shape) + " " + b.dtype + (b.layout.empty() ? "" : " " + b.layout), 86, 10.5), Anchor::middle);
        slots(b, centre, y + 145);
        m_svg.text(centre, y + 176, Type::small, clip_to(m_zh && b.index_rule.rfind("task mod", 0) == 0 ? "任务号" + b.index_rule.substr(4) : b.index_rule, 84, 10.5), Anchor::middle);
        m_svg.close();
    }

    static std::string hex_range(const PlanBuffer& b) { return hex(b.address); }
    static std::string times(std::string shape) {
        for (std::size_t i = shape.find('x'); i != std::string::npos; i = shape.find('x', i)) shape.replace(i, 1, "×");
        return shape;
    }

    void slots(const PlanBuffer& b, double centre, double y) {
        if (b.slots > 4) {
            m_svg.rect(centre - 40, y, 80, 18, 2, "cell");
            m_svg.text(centre, y + 13, Type::small, std::to_string(b.slots) + say(" slots", " 个槽位"), Anchor::middle);
            return;
        }
        const double w = (82.0 - 2.0 * double(b.slots - 1)) / double(std::max(1, b.slots));
        for (int i = 0; i < b.slots; ++i) {
            const double x = centre - 40 + (w + 2) * i - 0;
            m_svg.rect(x, y, w - 1, 18, 2, "cell");
            m_svg.text(x + (w - 1) / 2, y + 13, Type::small, b.slots <= 2 ? say("slot ", "槽 ") + std::to_string(i) : std::to_string(i), Anchor::middle);
        }
    }

    double legend(double y) {
        bool any = false;
        std::int32_t offset = -1;
        for (const HandOver& e : m_loop.edges) {
            any = true;
            if (e.direction == Direction::free && e.shares_with.empty()) offset = offset == -1 || offset == e.task_offset ? e.task_offset : 0;
        }
        if (!any) return y + 4;
        m_svg.line(96, y, 124, y, "inkline");
        m_svg.text(130, y + 4, Type::small, say("consumer may read", "消费者可读"));
        m_svg.line(256, y, 284, y, "inkline", "stroke-dasharray=\"6 4\"");
        std::string overwrite = say("producer may overwrite", "生产者可覆写");
        if (offset > 0) overwrite += m_zh ? "（隔 " + std::to_string(offset) + " 个任务）" : ", " + plural(offset, "task", "tasks") + " on";
        m_svg.text(290, y + 4, Type::small, overwrite);
        m_svg.circle(524, y, 3.6, "ink");
        m_svg.circle(535, y, 3.6, "ink");
        m_svg.text(543, y + 4, Type::small, say("set before the loop, awaited after it", "循环前 set，循环后 wait"));
        m_svg.rect(784, y - 8, 17, 15, 3, "faintfill");
        m_svg.text(792.5, y + 4, Type::label, "n", Anchor::middle);
        m_svg.text(807, y + 4, Type::small, say("event id n", "事件 id n"));
        return y + 22;
    }

    /// Address reuse: the later buffer's writer waits until the earlier buffer on the same bytes was read.
    double reuse(double y) {
        for (const HandOver& e : m_loop.edges) {
            if (e.shares_with.empty()) continue;
            m_svg.open(key(e), hover(e));
            const int from = stage_index(e.from), to = stage_index(e.to);
            m_svg.text(96, y + 13, Type::small, clip_to(m_zh ? clip_middle(e.buffer) + " 与 " + clip_middle(e.shares_with) + " 共用地址" : clip_middle(e.buffer) + " shares bytes with " + clip_middle(e.shares_with), 190, 10.5));
            if (!e.enforced) {
                m_svg.text(330, y + 13, Type::small, clip_to(e.note.empty() ? say("not enforced", "未强制") : e.note, 400, 10.5), Anchor::start, e.racy ? "xwarn" : "");
            } else {
                m_svg.text(372, y + 13, Type::small, clip_to(clip_middle(e.from, 10), 58, 10.5), Anchor::end);
                pill(e, false, 420, y);
                m_svg.line(464, y + 9, 690, y + 9, cls('l', from), "stroke-dasharray=\"1.5 4\" " + m_svg.arrow(hue(from)));
                m_svg.rect(480, y - 2, 190, 22, 3, "card");
                chips(e.ids, 506, y + 1, from, e.chosen);
                dots(e.permits, 552, y + 9);
                m_svg.text(572, y + 13, Type::small, e.chosen ? say("chosen for you", "自动分配") : "");
                pill(e, true, 734, y);
                m_svg.text(782, y + 13, Type::small, clip_to(clip_middle(e.to, 12), 90, 10.5));
                (void)to;
            }
            m_svg.close();
            y += 26;
        }
        return y;
    }

    double notes(double y) {
        for (const HandOver& e : m_loop.edges) {
            if (e.note.empty() || !e.shares_with.empty()) continue;
            const std::string line = (e.racy ? "▲ " : "") + clip_middle(e.buffer) + " " + direction(e.direction) + ": " + e.note;
            m_svg.text(96, y + 8, Type::small, clip_to(line, 680, 10.5), Anchor::start, e.racy ? "xwarn" : "");
            y += 16;
        }
        return y;
    }

    /// Pipe names and id chips, left to right, wrapping in a box of `width`. Returns the height used.
    double permit_box(const std::vector<PermitGroup>& groups, Core core, std::string_view verb, double x, double width, double y, bool draw) {
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

    double beats(double y) {
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

    bool touches(int stage, const PlanBuffer& b) const {
        const std::string& name = m_loop.stages[std::size_t(stage)].name;
        for (const HandOver& e : m_loop.edges)
            if (e.buffer == b.name && (e.from == name || e.to == name)) return true;
        return false;
    }

    void ids(double y) {
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
        const std::pair<bool, std::string> ticks[] = {{p.no_hang, say("no hang", "不会挂死")}, {p.no_race, say("no race", "没有竞争")}, {p.bounded, counter},
                                                      {p.balanced, say("as many waits as sets", "wait 与 set 数相等")}};
        x = 20;
        for (const auto& [good, words] : ticks) {
            m_svg.text(x, top + 64, Type::bold, good ? "✔" : "▲", Anchor::start, good ? "xgood" : "xwarn");
            m_svg.text(x + 15, top + 64, Type::body, words);
            x += 15 + text_width(words, 11.5) * 1.15 + 20;
        }
        std::string scope;
        if (m_plan.provenance.checked_by.empty()) scope = say("Nobody checked this plan.", "该计划未经检查。");
        else if (p.checked_tasks >= 0) scope = m_zh ? "已检查到 " + std::to_string(p.checked_tasks) + " 个任务。" : "Checked to T = " + std::to_string(p.checked_tasks) + " tasks.";
        else scope = say("Holds for every number of tasks, 0 included.", "对任意任务数成立（包括 0）。");
        if (!p.assumes.empty()) scope += m_zh ? "前提：" + p.assumes : " Assumes " + p.assumes + ".";
        m_svg.text(20, top + 83, Type::small, clip_to(scope, 740, 10.5));
    }

    const SyncPlan& m_plan;
    const PlanLoop& m_loop;
    const bool m_zh;
    const Language m_language;
    Svg& m_svg;
    std::vector<StageHue> m_hues;
    std::vector<Column> m_columns;
    std::vector<bool> m_drawn;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

} // namespace

Svg draw(const SyncPlan& plan, const PlanLoop& loop, const ViewOptions& options) {
    const PlanCounts n = counts(loop);
    const Status s = status(loop, plan.provenance);
    Svg svg(900, std::string(word(s)) + ": sync plan of " + plan.kernel + ", loop " + loop.name + ", preload " + std::to_string(loop.preload),
            plural(std::int64_t(loop.stages.size()), "stage", "stages") + ", " + plural(std::int64_t(loop.buffers.size()), "buffer", "buffers") + ", " +
                std::to_string(n.waits + n.sets) + " in-loop sites, " + std::to_string(n.prefire) + " prefire, " + std::to_string(n.drain) + " drain, " +
                std::to_string(n.ids_used) + " of " + std::to_string(loop.ids.size()) + " event ids");
    Drawing(plan, loop, options, svg).draw();
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
