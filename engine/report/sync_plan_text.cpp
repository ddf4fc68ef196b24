#include "engine/report/sync_plan.hpp"

#include "engine/report/chinese.hpp"
#include "engine/report/text.hpp"

#include <algorithm>
#include <map>

namespace pto::report {

namespace {

std::string core_word(isa::Core c) { return std::string(isa::name(c)); }
std::string direction_word(Direction d) { return d == Direction::ready ? "ready" : "free"; }

std::string runs(std::int32_t delay) { return delay ? "b-" + std::to_string(delay) : "b"; }

std::string verdict(const SyncPlan& plan, const PlanLoop& loop, Language language) {
    const Status s = status(loop, plan.provenance);
    const std::string numbers[] = {std::to_string(loop.preload), std::to_string(loop.ring_depth), std::to_string(loop.drain_beats)};
    if (language == Language::zh) {
        std::string line = s == Status::proven ? "已证明 " : "未证明 ";
        line += plan.kernel + " 的同步计划，循环 " + loop.name + "，preload " + numbers[0] + "：环深 " + numbers[1] + "，排空拍 " + numbers[2];
        if (s != Status::proven && !first_open(loop.proof, language).empty()) line += "；" + first_open(loop.proof, language);
        return line;
    }
    std::string line = std::string(word(s)) + "  sync plan of " + plan.kernel + ", loop " + loop.name + ", preload " + numbers[0];
    const std::string open = s == Status::proven ? std::string{} : first_open(loop.proof, language);
    if (!open.empty()) return line + ": " + open;
    return line + ": ring depth " + numbers[1] + ", drain beats " + numbers[2];
}

std::string scope(const SyncPlan& plan, const PlanLoop& loop, Language language) {
    const Proof& p = loop.proof;
    const bool zh = language == Language::zh;
    std::string line;
    if (plan.provenance.checked_by.empty()) line = zh ? "未经检查" : "nobody checked this plan";
    else if (p.checked_tasks >= 0)
        line = zh ? "已检查到 " + std::to_string(p.checked_tasks) + " 个任务" : "checked to T = " + std::to_string(p.checked_tasks) + " tasks";
    else line = zh ? "对任意任务数成立（包括 0）" : "for every number of tasks, 0 included";
    if (!p.assumes.empty()) line += (zh ? "；前提：" : "; assumes ") + said(p.assumes, zh ? Language::zh : Language::en);
    return line;
}

std::string site_cell(const PlanSite& s, int pipe_width, int item_width) {
    return std::string(s.is_wait ? "wait " : "set ") + pad(s.pipe, pipe_width) +
           pad(s.buffer + " " + direction_word(s.direction), item_width) + id_list(s.ids);
}

std::string site_table(const PlanLoop& loop) {
    int name = 8, pipe = 6, item = 11, id = 5;
    for (const PlanStage& s : loop.stages) name = std::max(name, columns(s.name) + 2);
    for (const PlanSite& s : loop.sites) {
        pipe = std::max(pipe, columns(s.pipe) + 1);
        item = std::max(item, columns(s.buffer) + 8);
        id = std::max(id, columns(id_list(s.ids)));
    }
    const int before = 5 + pipe + item + id + 6;
    std::string out = pad("stage", name) + pad("core", 8) + pad("runs", 7) + pad("before it", before) + "after it\n";
    for (const PlanStage& stage : loop.stages) {
        std::vector<std::string> waits, sets;
        for (const PlanSite& s : loop.sites)
            if (s.stage == stage.name) (s.is_wait ? waits : sets).push_back(site_cell(s, pipe, item));
        for (std::size_t i = 0; i < std::max<std::size_t>({waits.size(), sets.size(), 1}); ++i) {
            std::string line = i ? std::string(std::size_t(name + 15), ' ')
                                 : pad(stage.name, name) + pad(core_word(stage.core), 8) + pad(runs(stage.delay), 7);
            line += pad(i < waits.size() ? waits[i] : "", before);
            if (i < sets.size()) line += sets[i];
            out += without_trailing_blanks(line) + "\n";
        }
    }
    return out;
}

std::string permits(std::string_view label, const std::vector<PermitGroup>& groups, std::string_view verb) {
    std::string cells;
    std::vector<int> all;
    for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
        std::string cell;
        for (const PermitGroup& g : groups) {
            if (g.core != core) continue;
            cell += (cell.empty() ? core_word(core) + " " : ", ") + g.pipe + " " + id_list(g.ids, " ");
            all.insert(all.end(), g.ids.begin(), g.ids.end());
        }
        if (!cell.empty()) cells += core == isa::Core::cube ? pad(cell, std::max(22, columns(cell) + 3)) : cell;
    }
    std::string tail = "none";
    if (!all.empty()) {
        std::vector<int> unique = all;
        std::sort(unique.begin(), unique.end());
        unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
        tail = plural(std::int64_t(all.size()), std::string(verb), std::string(verb) + "s");
        if (unique.size() == all.size()) tail += ", one per id";
        else tail += " on " + plural(std::int64_t(unique.size()), "id", "ids");
    }
    if (cells.empty()) return pad(label, 10) + tail + "\n";
    return pad(label, 10) + pad(cells, 66) + tail + "\n";
}

std::string hand_over_cell(const HandOver* e) {
    if (!e) return "-";
    std::string s = e->from + " -> " + e->to;
    if (!e->enforced) return s + ", not enforced" + (e->racy ? " (!)" : "");
    s += ", " + plural(e->distance, "beat", "beats");
    if (e->task_offset) s += ", " + plural(e->task_offset, "task", "tasks") + " on";
    return s;
}

std::string buffer_table(const PlanLoop& loop) {
    if (loop.buffers.empty()) return "buffers   none is handed from core to core\n";
    int name = 8, where = 13, ready = 30;
    struct Line { std::string name, where, slots, ready, free; };
    std::vector<Line> lines;
    for (const PlanBuffer& b : loop.buffers) {
        std::vector<const HandOver*> ready_edges, free_edges;
        for (const HandOver& e : loop.edges)
            if (e.buffer == b.name && e.shares_with.empty()) (e.direction == Direction::ready ? ready_edges : free_edges).push_back(&e);
        for (std::size_t i = 0; i < std::max<std::size_t>({ready_edges.size(), free_edges.size(), 1}); ++i) {
            Line l;
            if (i == 0) l = {b.name, b.memory + " " + hex(b.address), std::to_string(b.slots), {}, {}};
            l.ready = hand_over_cell(i < ready_edges.size() ? ready_edges[i] : nullptr);
            l.free = hand_over_cell(i < free_edges.size() ? free_edges[i] : nullptr);
            name = std::max(name, columns(l.name) + 2);
            where = std::max(where, columns(l.where) + 2);
            ready = std::max(ready, columns(l.ready) + 2);
            lines.push_back(std::move(l));
        }
    }
    std::string out = pad("buffer", name) + pad("where", where) + pad("slots", 7) + pad("ready: producer -> consumer", ready) +
                      "free: consumer -> producer\n";
    for (const Line& l : lines)
        out += without_trailing_blanks(pad(l.name, name) + pad(l.where, where) + pad(l.slots, 7) + pad(l.ready, ready) + l.free) + "\n";
    for (const HandOver& e : loop.edges)
        if (!e.note.empty()) out += wrapped(pad("note", name) + e.buffer + " " + direction_word(e.direction) + ": " + e.note, name);
    for (const HandOver& e : loop.edges)
        if (!e.shares_with.empty()) {
            out += e.buffer + " shares bytes with " + e.shares_with + ": " + hand_over_cell(&e);
            if (!e.ids.empty()) out += std::string(", ") + (e.chosen ? "chosen for you: " : "ids ") + id_list(e.ids);
            out += "\n";
        }
    return out;
}

std::string chip_word(const PlanLoop& loop, const BeatChip& c, Beat::Kind kind) {
    std::size_t n = 0;
    while (n < loop.stages.size() && loop.stages[n].name != c.stage) ++n;
    std::string task = std::to_string(c.task);
    if (c.symbolic) {
        const std::string base = kind == Beat::Kind::drain ? "T" : "b";
        task = c.task == 0 ? base : base + task;
    }
    return std::to_string(n + 1) + ":" + task;
}

std::string beat_table(const PlanLoop& loop) {
    if (loop.beats.empty()) return "beats     none: the loop has no task\n";
    const std::string labels[3] = {pad("beat", 10), pad("cube", 10), pad("vector", 10)};
    std::string out, rows[3] = {labels[0], labels[1], labels[2]};
    const auto flush = [&] {
        for (int r = 0; r < 3; ++r) out += without_trailing_blanks(rows[r]) + "\n", rows[r] = labels[r];
    };
    for (std::size_t i = 0; i < loop.beats.size(); ++i) {
        const Beat& beat = loop.beats[i];
        std::string cells[3] = {beat.kind == Beat::Kind::gap ? "..." : beat.label, {}, {}};
        for (const BeatChip& chip : beat.chips)
            for (const PlanStage& s : loop.stages)
                if (s.name == chip.stage) {
                    std::string& cell = cells[s.core == isa::Core::cube ? 1 : 2];
                    if (!cell.empty()) cell += ' ';
                    cell += chip_word(loop, chip, beat.kind);
                }
        int width = 3;
        for (const std::string& c : cells) width = std::max(width, columns(c));
        const bool drains_next = i + 1 < loop.beats.size() && loop.beats[i + 1].kind == Beat::Kind::drain && beat.kind != Beat::Kind::drain;
        if (columns(rows[0]) + width + 3 > text_columns && columns(rows[0]) > 10) flush();
        for (int r = 0; r < 3; ++r) {
            rows[r] += pad(cells[r], width + (drains_next ? 2 : 3));
            if (drains_next) rows[r] += r ? "| " : "  ";
        }
    }
    std::size_t modulus = 0;
    for (const PlanSite& s : loop.sites) modulus = std::max(modulus, s.ids.size());
    std::string legend = "stage:task";
    if (modulus > 0) legend += modulus == 1 ? "; one id a hand-over" : "; id = list[task mod " + std::to_string(modulus) + "]";
    const bool fits = out.empty() && columns(rows[0]) + columns(legend) <= text_columns;
    if (fits) rows[0] += legend;
    flush();
    if (!fits) out += "          " + legend + "\n";
    return out;
}

std::string id_line(const PlanLoop& loop) {
    std::vector<int> used, unused;
    std::vector<std::string> unknown;
    std::map<std::int32_t, std::vector<int>> deep;   // ids by how many sets may be pending
    for (const IdUse& u : loop.ids) {
        (u.buffer.empty() ? unused : used).push_back(u.id);
        if (u.buffer.empty()) continue;
        if (u.max_pending < 0) unknown.push_back(std::to_string(u.id));
        else if (u.max_pending > 1) deep[u.max_pending].push_back(u.id);
    }
    if (used.empty()) return "ids       none used, " + id_ranges(unused) + " unused\n";
    std::string line = "ids       " + id_ranges(used) + " used";
    if (!unknown.empty()) line += ", no bound known for " + join(unknown, ",");
    else if (loop.proof.max_pending >= 0)
        line += ", at most " + std::to_string(loop.proof.max_pending) + " pending each (" + std::to_string(loop.proof.limit) + " allowed)";
    if (!unused.empty()) line += "; " + id_ranges(unused) + " unused";
    line += "\n";
    if (deep.size() > 1 || (!deep.empty() && deep.begin()->second.size() < used.size()))
        for (const auto& [pending, ids] : deep)
            line += "          " + id_ranges(ids) + (ids.size() == 1 ? " holds" : " hold") + " up to " + std::to_string(pending) + "\n";
    return line;
}

} // namespace

std::string to_text(const SyncPlan& plan, Language language) {
    if (plan.loops.empty())
        return fit(language == Language::zh ? plan.kernel + "：没有流水循环，因此没有同步计划\n"
                                            : "no pipeline loop in " + plan.kernel + ", so there is no sync plan\n");
    std::string out;
    for (const PlanLoop& loop : plan.loops) {
        if (!out.empty()) out += "\n";
        out += verdict(plan, loop, language) + "\n" + scope(plan, loop, language) + "\n";
        const auto& open = loop.proof.open;
        for (std::size_t i = 1; i < open.size(); ++i) out += "open      " + open[i] + "\n";
        out += site_table(loop);
        out += permits("prefire", loop.prefire, "set");
        out += permits("drain", loop.drain, "wait");
        out += buffer_table(loop);
        out += beat_table(loop);
        out += id_line(loop);
    }
    return fit(out);
}

} // namespace pto::report
