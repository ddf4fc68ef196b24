#include "engine/time/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace pto::time {
namespace {

using execute::SyncKind;

bool is_work(const execute::Row& r) { return r.sync == SyncKind::none; }

const std::string& stage_of(const execute::CoreRecord& core, const execute::Row& row) {
    static const std::string none;
    return row.stage >= 0 && std::size_t(row.stage) < core.stages.size() ? core.stages[std::size_t(row.stage)] : none;
}

} // namespace

std::vector<PipeUse> pipe_use(const execute::Record& record, const Timeline& timeline) {
    std::vector<PipeUse> all;
    for (std::size_t c = 0; c < record.cores.size(); ++c) {
        PipeUse use[8];
        const CoreTimes& t = timeline.cores[c];
        for (std::size_t i = 0; i < record.cores[c].rows.size(); ++i) {
            const execute::Row& r = record.cores[c].rows[i];
            if (!is_work(r) || t.start[i] < 0) continue;
            PipeUse& u = use[int(r.pipe)];
            ++u.operations;
            u.busy += t.end[i] - t.start[i];
            u.landed = std::max(u.landed, t.end[i] + Ticks(t.tail[i]));
        }
        for (const Wait& w : t.waits) {
            PipeUse& u = use[int(w.pipe)];
            if (w.kind == WaitKind::cross_core || w.kind == WaitKind::grid) {
                u.paid += w.paid;
                u.free += w.end - w.start - w.paid;
            } else {
                u.in_core += w.end - w.start;
            }
        }
        for (int p = 0; p < 8; ++p) {
            use[p].paid += t.more[p].paid;
            use[p].free += t.more[p].free;
            use[p].in_core += t.more[p].in_core;
            if (use[p].operations == 0) continue;
            use[p].core = std::int32_t(c);
            use[p].pipe = isa::Pipe(p);
            all.push_back(use[p]);
        }
    }
    return all;
}

void walk_critical_path(const execute::Record& record, const Timeline& timeline, const std::function<void(RowRef)>& step) {
    // The last thing to become visible ends the launch.
    std::int64_t at = -1;
    Ticks latest = -1;
    for (std::size_t c = 0; c < record.cores.size(); ++c)
        for (std::size_t i = 0; i < record.cores[c].rows.size(); ++i) {
            const CoreTimes& t = timeline.cores[c];
            if (!is_work(record.cores[c].rows[i]) || t.start[i] < 0) continue;
            if (Ticks landed = t.end[i] + Ticks(t.tail[i]); landed > latest) {
                latest = landed;
                at = timeline.base[c] + std::int64_t(i);
            }
        }
    while (at >= 0) {
        RowRef r = timeline.ref(at);
        step(r);
        std::int64_t before = timeline.cores[std::size_t(r.core)].cause[std::size_t(r.row)];
        if (before == at) break;
        at = before;
    }
}

std::vector<RowRef> critical_path(const execute::Record& record, const Timeline& timeline) {
    std::vector<RowRef> path;
    walk_critical_path(record, timeline, [&](RowRef r) { path.push_back(r); });
    std::reverse(path.begin(), path.end());
    return path;
}

Bound bound(const execute::Record& record, const Timeline& timeline) {
    Bound b;
    Ticks most = 0;
    for (const PipeUse& u : pipe_use(record, timeline))
        if (u.busy > most) {
            most = u.busy;
            b.core = u.core;
            b.pipe = u.pipe;
        }
    if (b.core < 0) return b;
    b.share = timeline.total > 0 ? double(most) / double(timeline.total) : 0;
    const execute::CoreRecord& core = record.cores[std::size_t(b.core)];
    const CoreTimes& t = timeline.cores[std::size_t(b.core)];
    std::map<std::string, Ticks> stages;
    std::map<std::pair<std::string, std::string>, Ticks> operations;
    for (std::size_t i = 0; i < core.rows.size(); ++i) {
        const execute::Row& r = core.rows[i];
        if (!is_work(r) || r.pipe != b.pipe || t.start[i] < 0) continue;
        stages[stage_of(core, r)] += t.end[i] - t.start[i];
        operations[{stage_of(core, r), record.sites[std::size_t(r.site)].name}] += t.end[i] - t.start[i];
    }
    Ticks stage_most = -1, operation_most = -1;
    for (const auto& [stage, ticks] : stages)
        if (ticks > stage_most) stage_most = ticks, b.stage = stage;
    for (const auto& [key, ticks] : operations)
        if (key.first == b.stage && ticks > operation_most) operation_most = ticks, b.operation = key.second;
    b.operation_share = double(operation_most) / double(most);
    return b;
}

Pace pace(const execute::Record& record, const Timeline& timeline, std::int32_t block) {
    Pace p;
    std::vector<Ticks> done; // by task: its last operation of any stage; -1: never seen
    std::size_t stages = 0;
    for (std::size_t c = 0; c < record.cores.size(); ++c) {
        const execute::CoreRecord& core = record.cores[c];
        if (core.block != block) continue;
        if (core.subblock == 0) stages += core.stages.size();
        Ticks busy[8] = {};
        std::vector<bool> tasks;
        for (std::size_t i = 0; i < core.rows.size(); ++i) {
            const execute::Row& r = core.rows[i];
            if (!is_work(r) || r.stage < 0 || r.task < 0 || timeline.cores[c].start[i] < 0) continue;
            busy[int(r.pipe)] += timeline.cores[c].end[i] - timeline.cores[c].start[i];
            const std::size_t task = std::size_t(r.task);
            if (tasks.size() <= task) tasks.resize(task + 1);
            if (done.size() <= task) done.resize(task + 1, -1);
            tasks[task] = true;
            done[task] = std::max(done[task], timeline.cores[c].end[i]);
        }
        const auto seen = std::count(tasks.begin(), tasks.end(), true);
        if (seen == 0) continue;
        for (int pipe = 0; pipe < 8; ++pipe)
            if (Ticks each = busy[pipe] / Ticks(seen); each > p.floor) {
                p.floor = each;
                p.floor_core = std::int32_t(c);
                p.floor_pipe = isa::Pipe(pipe);
            }
    }
    done.erase(std::remove(done.begin(), done.end(), Ticks(-1)), done.end());
    p.tasks = std::int64_t(done.size());
    std::int64_t margin = std::max<std::int64_t>(2, std::int64_t(stages));
    if (p.tasks < 2 * margin + 4) return p;
    std::vector<Ticks> gaps;
    Ticks previous = -1;
    std::int64_t n = 0;
    for (const Ticks t : done) {
        if (n >= margin && n < p.tasks - margin && previous >= 0) gaps.push_back(t - previous);
        previous = t;
        ++n;
    }
    // The mean, not the median: a ring of two slots may go 100, 160, 100, 160.
    Ticks sum = 0;
    for (Ticks g : gaps) sum += g;
    p.steady = sum / Ticks(gaps.size());
    for (Ticks g : gaps)
        if (p.steady > 0) p.spread_percent = std::max(p.spread_percent, 100.0 * std::abs(double(g - p.steady)) / double(p.steady));
    return p;
}

std::vector<WhatIf> what_if(const execute::Record& record, const machine::Chip& chip, const Timeline& timeline, int most) {
    std::map<std::string, Ticks> names, stages;
    for (std::size_t c = 0; c < record.cores.size(); ++c)
        for (std::size_t i = 0; i < record.cores[c].rows.size(); ++i) {
            const execute::Row& r = record.cores[c].rows[i];
            if (!is_work(r) || timeline.cores[c].start[i] < 0) continue;
            Ticks busy = timeline.cores[c].end[i] - timeline.cores[c].start[i];
            names[record.sites[std::size_t(r.site)].name] += busy;
            if (const std::string& stage = stage_of(record.cores[c], r); !stage.empty()) stages[stage] += busy;
        }
    auto largest = [&](const std::map<std::string, Ticks>& from) {
        std::vector<std::pair<Ticks, std::string>> list;
        for (const auto& [n, t] : from) list.emplace_back(-t, n);
        std::sort(list.begin(), list.end());
        if (list.size() > std::size_t(most)) list.resize(std::size_t(most));
        return list;
    };
    std::vector<WhatIf> answers;
    auto ask = [&](Change change, std::string text) {
        ReplayOptions options;
        options.keep_waits = false;
        options.changes = {change};
        Ticks total = replay(record, chip, options).total;
        double percent = timeline.total > 0 ? 100.0 * double(total - timeline.total) / double(timeline.total) : 0;
        answers.push_back({std::move(change), std::move(text), percent});
    };
    for (const auto& [ticks, n] : largest(names)) ask({.name = n, .percent = 80}, "20 % faster " + n);
    for (const auto& [ticks, n] : largest(stages)) ask({.stage = n, .percent = 80}, "20 % faster " + n);
    return answers;
}

double with_more_slots(const execute::Record& record, const machine::Chip& chip, const Timeline& timeline, const MoreSlots& more) {
    ReplayOptions options;
    options.keep_waits = false;
    options.more_slots = {more};
    Ticks total = replay(record, chip, options).total;
    return timeline.total > 0 ? 100.0 * double(total - timeline.total) / double(timeline.total) : 0;
}

} // namespace pto::time
