/// Hand-overs: cube lane on top, vector lane below, the buffers between them.
#include "kernel/views/plan_drawing.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace xpto::views {

using namespace pto::report;
using pto::isa::Core;

namespace {

constexpr double left = 96, column_width = 250, column_pitch = 262;
constexpr int columns_in_row = 3;

std::string hex_range(const PlanBuffer& b) { return hex(b.address); }
std::string times(std::string shape) {
    for (std::size_t i = shape.find('x'); i != std::string::npos; i = shape.find('x', i)) shape.replace(i, 1, "×");
    return shape;
}

} // namespace

double PlanDrawing::hand_overs(double y) {
    find_columns();
    m_drawn.assign(m_loop.stages.size(), false);
    const std::size_t rows = (m_columns.size() + columns_in_row - 1) / columns_in_row;
    for (std::size_t r = 0; r < rows; ++r) {
        row(r, y);
        y += 284;
    }
    return y;
}

void PlanDrawing::find_columns() {
    std::vector<bool> touched(m_loop.stages.size(), false);
    for (const PlanBuffer& b : m_loop.buffers) {
        std::vector<PlanColumn> mine;
        for (const HandOver& e : m_loop.edges)
            if (e.buffer == b.name && e.shares_with.empty() && e.direction == Direction::ready) mine.push_back({&b, &e, nullptr, stage_index(e.from), stage_index(e.to)});
        for (const HandOver& e : m_loop.edges) {
            if (e.buffer != b.name || !e.shares_with.empty() || e.direction != Direction::free) continue;
            const int producer = stage_index(e.to), consumer = stage_index(e.from);
            auto pair = std::find_if(mine.begin(), mine.end(), [&](const PlanColumn& c) { return !c.free && c.producer == producer && c.consumer == consumer; });
            if (pair == mine.end()) mine.push_back({&b, nullptr, &e, producer, consumer});
            else pair->free = &e;
        }
        for (const PlanColumn& c : mine) {
            if (c.producer < 0 || c.consumer < 0) continue;
            touched[std::size_t(c.producer)] = touched[std::size_t(c.consumer)] = true;
            m_columns.push_back(c);
        }
    }
    for (std::size_t i = 0; i < touched.size(); ++i)
        if (!touched[i]) m_columns.push_back({nullptr, nullptr, nullptr, int(i), -1});
    std::stable_sort(m_columns.begin(), m_columns.end(), [](const PlanColumn& a, const PlanColumn& b) { return a.producer < b.producer; });
}

int PlanDrawing::stage_in(const PlanColumn& c, Core core) const {
    for (int s : {c.producer, c.consumer})
        if (s >= 0 && m_loop.stages[std::size_t(s)].core == core) return s;
    return -1;
}

void PlanDrawing::row(std::size_t r, double y) {
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

void PlanDrawing::brick(int stage, double x, double w, double y, Core core) {
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

void PlanDrawing::pill(const HandOver& e, bool is_wait, double centre, double y) {
    const int stage = stage_index(is_wait ? e.to : e.from);
    const std::string& pipe = is_wait ? e.wait_pipe : e.set_pipe;
    m_svg.rect(centre - 40, y, 80, 18, 9, cls(is_wait ? 'p' : 'H', stage), is_wait ? "data-pill=\"wait\"" : "data-pill=\"set\"");
    m_svg.text(centre, y + 13, Type::label, std::string(is_wait ? "wait " : "set ") + clip_middle(pipe, 6), Anchor::middle, is_wait ? "plain" : cls('c', stage));
}

/// Id chips centred at x; long lists become one chip with ranges.
void PlanDrawing::chips(const std::vector<int>& list, double centre, double y, int stage, bool dashed) {
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

void PlanDrawing::dots(int n, double centre, double y) {
    const double pitch = n <= 5 ? 12 : 58.0 / double(n - 1), r = n <= 5 ? 3.6 : 2.2;
    for (int i = 0; i < n; ++i) m_svg.circle(centre + (i - double(n - 1) / 2) * pitch, y, r, "ink", "data-dot=\"1\"");
}

void PlanDrawing::arrow(const HandOver& e, double centre, double y) {
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

void PlanDrawing::channel(const PlanColumn& c, double x, double y) {
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

void PlanDrawing::slots(const PlanBuffer& b, double centre, double y) {
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

double PlanDrawing::legend(double y) {
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
double PlanDrawing::reuse(double y) {
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

double PlanDrawing::notes(double y) {
    for (const HandOver& e : m_loop.edges) {
        if (e.note.empty() || !e.shares_with.empty()) continue;
        const std::string line = (e.racy ? "▲ " : "") + clip_middle(e.buffer) + " " + direction(e.direction) + ": " + e.note;
        m_svg.text(96, y + 8, Type::small, clip_to(line, 680, 10.5), Anchor::start, e.racy ? "xwarn" : "");
        y += 16;
    }
    return y;
}

} // namespace xpto::views
