#include "engine/report/sync_plan.hpp"

#include <algorithm>

namespace pto::report {

Status status(const PlanLoop& loop, const Provenance& provenance) {
    const Proof& p = loop.proof;
    const bool all = p.no_hang && p.no_race && p.bounded && p.balanced && p.open.empty() && p.checked_tasks < 0;
    return honest(all ? Status::proven : Status::not_proven, provenance);
}

Status status(const SyncPlan& plan) {
    for (const PlanLoop& loop : plan.loops)
        if (status(loop, plan.provenance) != Status::proven) return Status::not_proven;
    return honest(Status::proven, plan.provenance);
}

std::string first_open(const Proof& p, Language language) {
    const bool zh = language == Language::zh;
    if (!p.open.empty()) return p.open.front();
    if (!p.no_hang) return zh ? "未证明不会挂死" : "it may hang";
    if (!p.no_race) return zh ? "未证明没有竞争" : "two accesses may race";
    if (!p.bounded) return zh ? "未证明计数器有上限" : "a counter may exceed " + std::to_string(p.limit);
    if (!p.balanced) return zh ? "wait 与 set 数不等" : "waits and sets differ in number";
    if (p.checked_tasks >= 0)
        return zh ? "只检查到 " + std::to_string(p.checked_tasks) + " 个任务"
                  : "checked to T = " + std::to_string(p.checked_tasks) + " tasks only";
    return {};
}

void fill_ids(PlanLoop& loop, int ids_available, const std::vector<std::int32_t>& max_pending) {
    loop.ids.assign(std::size_t(ids_available), {});
    for (int i = 0; i < ids_available; ++i) loop.ids[std::size_t(i)].id = i;
    for (const HandOver& e : loop.edges) {
        std::vector<int> seen;
        for (int id : e.ids) {
            // A list may name an id twice; that is still one user.
            if (id < 0 || id >= ids_available || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
            seen.push_back(id);
            IdUse& use = loop.ids[std::size_t(id)];
            if (!use.buffer.empty()) {
                ++use.sharers;
                continue;
            }
            use.buffer = e.buffer;
            use.direction = e.direction;
            use.setter = e.from;
            use.chosen = e.chosen;
            use.max_pending = std::size_t(id) < max_pending.size() ? max_pending[std::size_t(id)] : -1;
        }
    }
}

void fill_beats(PlanLoop& loop, int limit) {
    loop.beats.clear();
    const auto chips = [&](auto task_of, bool symbolic, std::int64_t low, std::int64_t high) {
        std::vector<BeatChip> out;
        for (const PlanStage& s : loop.stages) {
            const std::int64_t task = task_of(s);
            if (task >= low && task < high) out.push_back({s.name, task, symbolic});
        }
        return out;
    };
    const std::int64_t tasks = loop.tasks;
    const auto at = [&](std::int64_t beat) { return [beat](const PlanStage& s) { return beat - s.delay; }; };
    if (tasks >= 0 && tasks + loop.drain_beats <= limit) {
        for (std::int64_t b = 0; b < tasks + loop.drain_beats; ++b)
            loop.beats.push_back({b < tasks ? Beat::Kind::loop : Beat::Kind::drain, std::to_string(b), chips(at(b), false, 0, tasks)});
        return;
    }
    const std::int64_t first = tasks >= 0 ? std::min<std::int64_t>(loop.ring_depth, tasks) : loop.ring_depth;
    for (std::int64_t b = 0; b < first; ++b)
        loop.beats.push_back({Beat::Kind::loop, std::to_string(b), chips(at(b), false, 0, first)});
    if (tasks < 0 || tasks > first) {
        loop.beats.push_back({Beat::Kind::gap, {}, {}});
        loop.beats.push_back({Beat::Kind::steady, "b", chips(at(0), true, -loop.ring_depth, 1)});
    }
    for (std::int64_t k = 0; k < loop.drain_beats; ++k)   // relative to T: task T-1 is the last
        loop.beats.push_back({Beat::Kind::drain, k == 0 ? "T" : "T+" + std::to_string(k),
                              chips(at(k), true, -std::int64_t(loop.ring_depth), 0)});
}

PlanCounts counts(const PlanLoop& loop) {
    PlanCounts c;
    for (const PlanSite& s : loop.sites) ++(s.is_wait ? c.waits : c.sets);
    for (const PermitGroup& g : loop.prefire) c.prefire += int(g.ids.size());
    for (const PermitGroup& g : loop.drain) c.drain += int(g.ids.size());
    for (const IdUse& u : loop.ids) c.ids_used += !u.buffer.empty();
    for (const HandOver& e : loop.edges) c.hand_overs += e.enforced;
    return c;
}

} // namespace pto::report
