#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"
#include "engine/report/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace pto::report {

namespace {

std::int64_t cycles(Ticks t) { return (t + ticks_per_cycle / 2) / ticks_per_cycle; }
std::string us_text(const Timeline& t, Ticks ticks) { return fixed(us(t, ticks), 2); }
std::string core_word(const std::string& core) { return core.rfind("AIC", 0) == 0 ? "cube" : core.rfind("AIV", 0) == 0 ? "vector" : core; }
std::string stage_name(const Timeline& t, std::int32_t i) {
    return i >= 0 && std::size_t(i) < t.stages.size() ? t.stages[std::size_t(i)].name : "?";
}
std::string direction_word(Direction d) { return d == Direction::ready ? "ready" : "free"; }
std::string cells(Ticks ticks) { return ticks == 0 ? "-" : std::to_string(cycles(ticks)); }
std::string percent(double v) { return (v > 0 ? "+" : "") + fixed(v, std::abs(v) < 10 ? 1 : 0) + " %"; }

std::string verdict(const Timeline& t, Language language) {
    const bool zh = language == Language::zh, measured = status(t) == Status::measured;
    const std::string who = t.kernel + (t.preload.empty() ? "" : " preload " + t.preload);
    std::string line;
    if (zh) line = std::string(measured ? "实测 " : "预测 ") + who + "：" + us_text(t, t.total) + " us（" + std::to_string(cycles(t.total)) + " 周期）";
    else line = std::string(word(status(t))) + "  " + who + ": " + us_text(t, t.total) + " us (" + std::to_string(cycles(t.total)) + " cycles)";
    if (t.serial_total > 0) {
        const std::string ratio = fixed(double(t.serial_total) / double(std::max<Ticks>(1, t.total)), 2);
        line += zh ? "，相对 preload 0 提速 " + ratio + " 倍（" + us_text(t, t.serial_total) + " us）"
                   : ", " + ratio + " times faster than preload 0 (" + us_text(t, t.serial_total) + " us)";
    }
    if (measured && t.predicted_total > 0) {
        const std::string ratio = fixed(double(t.total) / double(t.predicted_total), 2);
        line += zh ? "，为预测的 " + ratio + " 倍" : "; " + ratio + " times the prediction";
    }
    for (const StageTime& s : t.stages)
        if (s.predicted_span > 0 && std::abs(double(s.span) / double(s.predicted_span) - 1) > 0.25)
            line += zh ? "；" + s.name + " 偏差超过 25 %" : "; " + s.name + " is off by more than 25 %";
    return line;
}

std::string where(const Timeline& t, Language language) {
    const bool zh = language == Language::zh;
    std::string line = t.provenance.computed_by;
    line += zh ? "，" + std::to_string(t.blocks) + " 个 block，" + std::to_string(t.tasks) + " 个任务"
               : ", " + plural(t.blocks, "block", "blocks") + ", " + plural(t.tasks, "task", "tasks");
    if (t.runs > 0)
        line += (zh ? "，" + std::to_string(t.runs) + " 次中位数" : ", median of " + std::to_string(t.runs)) +
                (t.fastest >= 0 ? ", " + us_text(t, t.fastest) + "-" + us_text(t, t.slowest) : "");
    if (t.provenance.stated_percent + t.provenance.derived_percent + t.provenance.guessed_percent > 0)
        line += zh ? "；时序行 " + std::to_string(t.provenance.guessed_percent) + " % 是猜测值"
                   : "; timing rows " + std::to_string(t.provenance.guessed_percent) + " % guessed";
    line += std::string(zh ? "；" : "; ") + fixed(t.cycles_per_us, t.cycles_per_us == std::floor(t.cycles_per_us) ? 0 : 1) +
            (zh ? " 周期 = 1 us" : " cycles = 1 us");
    return line;
}

std::string pace_line(const Timeline& t) {
    if (t.steady < 0) return {};
    std::string steady = std::string("steady: ") + (t.steady_is_floor ? "at least " : "") + std::to_string(cycles(t.steady)) + " cycles a task (" +
                         core_word(t.pace_core) + " " + t.pace_pipe + ")";
    if (t.fill == 0 && t.drain == 0) return wrapped(pad("pace", 10) + steady, 10);
    if (t.fill + t.drain >= t.total - t.total / 20)   // a middle of less than 5 % is no steady state
        return wrapped(pad("pace", 10) + plural(t.tasks, "task is", "tasks are") + " all fill (" + us_text(t, t.fill) + " us) and drain (" +
                           us_text(t, t.drain) + "); " + steady, 10);
    return wrapped(pad("pace", 10) + "fill " + us_text(t, t.fill) + ", steady " + us_text(t, t.total - t.fill - t.drain) + ", drain " +
                       us_text(t, t.drain) + " us; " + steady, 10);
}

/// "; the plan allows 520 cycles a task (stage1 M, stage2 V: 2 tasks at once)".
std::string period_words(const Timeline& t) {
    if (t.plan_period.ticks < 0) return {};
    std::string words = "; the plan allows " + std::to_string(cycles(t.plan_period.ticks)) + " cycles a task (";
    words += join(t.plan_period.cycle, ", ");
    if (t.plan_period.tasks > 1) words += ": " + std::to_string(t.plan_period.tasks) + " tasks at once";
    return words + ")";
}

/// Which sign stands for a column: whatever took most of it; among equals work before paid before free before in-core.
char sign(const Bin& b) {
    char c = ' ';
    Ticks best = 0;
    const auto offer = [&](Ticks v, char s) {
        if (v > best) best = v, c = s;
    };
    for (std::size_t i = 0; i + 1 < b.busy.size(); ++i) offer(b.busy[i], i < 9 ? char('1' + i) : char('a' + (i - 9) % 26));
    offer(b.busy.back(), '*');
    Ticks paid = 0;
    for (Ticks v : b.paid) paid += v;
    offer(paid, 'w');
    offer(b.free, '-');
    offer(b.in_core, '.');
    return c;
}

std::string chart(const Timeline& t) {
    if (t.lanes.empty() || t.total <= 0) return {};
    int core = 5, pipe = 5;
    for (const Lane& l : t.lanes) {
        core = std::max(core, columns(l.core) + 1);
        pipe = std::max(pipe, columns(l.pipe) + 1);
    }
    const int most = std::min(73, text_columns - core - pipe - 9);
    const std::int64_t total = (t.total + ticks_per_cycle - 1) / ticks_per_cycle;
    const std::int64_t step = std::max<std::int64_t>(1, (total + most - 1) / most);
    const int n = int((total + step - 1) / step);
    std::string out;
    for (const Lane& l : t.lanes) {
        out += pad(l.core, core) + pad(l.pipe, pipe) + "|";
        for (const Bin& b : bins(l, t.stages.size(), 0, Ticks(n) * step * ticks_per_cycle, n)) out += sign(b);
        out += "| " + pad_left(std::to_string(int(std::lround(100.0 * double(l.totals.busy) / double(t.total)))), 2) + " %\n";
    }
    std::string note = "one column = " + std::to_string(step) + " cycles";
    if (!t.folded.empty()) note += ", " + (t.folded == "AIV1 the same" ? std::string("AIV1 as AIV0") : t.folded);
    const std::string end = us_text(t, t.total);
    std::string axis = std::string(std::size_t(core + pipe), ' ') + " 0 us";
    axis += pad_left(note, std::max(columns(note) + 2, (n - 6 + columns(note)) / 2));
    axis += pad_left(end, std::max(columns(end) + 2, core + pipe + 1 + n - columns(axis)));
    out += axis + "\n";
    return out + std::string(std::size_t(core + pipe + 1), ' ') +
           "digit stage  * before the loop  w waits, paid  - waits, free  . waits inside the core\n";
}

std::string stage_table(const Timeline& t) {
    if (t.stages.empty()) return {};
    int name = 10;
    for (const StageTime& s : t.stages) name = std::max(name, columns(s.name) + 2);
    std::vector<std::string> waits;
    int wide = 28;
    bool predicted = false;
    int tasks = 0;
    for (const StageTime& s : t.stages) {
        Ticks sum = 0;
        std::vector<std::string> parts;
        for (const WaitPart& w : s.paid) {
            sum += w.ticks;
            parts.push_back(stage_name(t, w.for_stage) + (s.paid.size() > 1 ? " " + std::to_string(cycles(w.ticks)) : ""));
        }
        waits.push_back(sum == 0 ? std::string{} : pad_left(std::to_string(cycles(sum)), 4) + "  (" + join(parts, ", ") + ")");
        wide = std::max(wide, columns(waits.back()) + 2);
        predicted = predicted || s.predicted_span > 0;
        tasks = std::max(tasks, s.tasks);
    }
    const std::string tail = predicted ? "predicted  ratio" : "mean of " + std::to_string(tasks) + ", without fill";
    std::string out = pad("per task", name) + "compute   move   " + pad("waits for the other core", wide) + "waits in core    " + tail + "\n";
    for (std::size_t i = 0; i < t.stages.size(); ++i) {
        const StageTime& s = t.stages[i];
        std::string line = pad(s.name, name) + pad_left(cells(s.compute), 5) + "    " + pad_left(cells(s.move), 5) + "  ";
        line += pad(waits[i], wide + 1) + pad_left(cells(s.in_core), 4);
        if (s.predicted_span > 0)
            line += pad_left(cells(s.predicted_span), 16) + pad_left(fixed(double(s.span) / double(s.predicted_span), 2), 9);
        out += without_trailing_blanks(line) + "\n";
    }
    return out;
}

std::string critical_line(const Timeline& t) {
    std::vector<std::string> words;
    std::string last;
    for (const CriticalStep& c : t.critical) {
        if (c.lane < 0 || std::size_t(c.lane) >= t.lanes.size()) continue;
        const Lane& lane = t.lanes[std::size_t(c.lane)];
        if (c.slice < 0 || std::size_t(c.slice) >= lane.slices.size()) continue;
        const Slice& s = lane.slices[std::size_t(c.slice)];
        const std::string name = std::size_t(s.op) < t.ops.size() ? t.ops[std::size_t(s.op)].name : "?";
        const std::string tag = s.stage >= 0 ? std::to_string(s.stage + 1) + ":" + std::to_string(s.task) : "";
        if (tag.empty()) words.push_back(name);
        else if (!words.empty() && last == tag) words.back() += ", " + name;
        else words.push_back(tag + " " + name);
        last = tag;
    }
    if (words.empty()) return {};
    constexpr std::size_t most = 16;
    if (words.size() > most) {
        const std::size_t left = words.size() - most;
        words.erase(words.begin() + most / 2, words.end() - most / 2);
        words.insert(words.begin() + most / 2, "... " + std::to_string(left) + " more ...");
    }
    return listed("critical", words, "; ", 11);
}

} // namespace

std::string to_text(const Timeline& t, Language language) {
    std::string out = verdict(t, language) + "\n" + where(t, language) + "\n";
    if (!t.note.empty()) out += wrapped(pad("note", 10) + t.note, 10);
    out += pace_line(t) + chart(t);
    if (t.lanes.empty() || t.total <= 0) out += "nothing ran, so there is no chart\n";
    out += stage_table(t);
    if (!t.paid_most.empty()) {
        std::vector<std::string> items;
        for (std::size_t i = 0; i < std::min<std::size_t>(3, t.paid_most.size()); ++i) {
            const PaidTotal& p = t.paid_most[i];
            items.push_back(stage_name(t, p.stage) + " for " + p.buffer + " " + direction_word(p.direction) + " " + grouped(cycles(p.ticks)));
        }
        items[0] = "cycles: " + items[0];
        out += listed("paid most", items, ", ", 11);
    }
    if (!t.bound.text.empty()) out += wrapped(pad("bound", 11) + t.bound.text + period_words(t), 11);
    out += critical_line(t);
    bool first = true;
    for (const WhatIfGroup& g : t.what_if) {
        std::vector<std::string> items;
        for (const WhatIf& w : g.changes) items.push_back(w.change + " " + (w.percent == 0 ? "0" : percent(w.percent)));
        if (items.empty()) continue;
        if (!g.label.empty()) items[0] = g.label + ": " + items[0];
        out += listed(first ? "what if" : "", items, ", ", 11);
        first = false;
    }
    if (t.block_times.size() > 1) {
        std::vector<Ticks> totals;
        const BlockTime* slowest = &t.block_times[0];
        for (const BlockTime& b : t.block_times) {
            totals.push_back(b.total);
            if (b.total > slowest->total) slowest = &b;
        }
        std::sort(totals.begin(), totals.end());
        const double median = double(totals[totals.size() / 2]);
        out += pad("blocks", 11) + plural(std::int64_t(totals.size()), "block", "blocks") + ", slowest block " + std::to_string(slowest->block) + ": " +
               fixed(median > 0 ? 100.0 * (double(slowest->total) / median - 1) : 0, 0) + " % over the median\n";
    }
    return fit(out);
}

} // namespace pto::report
