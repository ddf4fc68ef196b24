/// Re-timing reorders stages of one core against each other: with delays d1 < d2 the earlier stage of task t + (d2 - d1) runs before
/// the later stage of task t. Memory they hand to each other needs a slot for every task in between. Pipeline reference, 6 and 10.4.

#include "engine/schedule/plan_schedule.hpp"

#include <algorithm>

namespace pto::schedule {
namespace {

using pipeline::LocalAccess;
using pipeline::SlotChoice;

/// A stage, or the statements in front of or behind the stages: they run once a beat for the newest task.
struct Actor {
    std::string name;
    std::int32_t delay = 0;
    const std::vector<LocalAccess>* accesses = nullptr;
};

const char* times(std::int32_t n) { return n == 1 ? " task" : " tasks"; }

struct Check {
    const pipeline::Model& model;
    Diagnostics& out;

    std::string name(const LocalAccess& a) const { return a.buffer.valid() ? model[a.buffer].name : a.name; }

    bool same_memory(const LocalAccess& a, const LocalAccess& b) const {
        if (a.is_tensor || b.is_tensor) return false; // whether windows meet is seen on the program, not here
        if (!a.buffer.valid() || !b.buffer.valid()) return !a.buffer.valid() && !b.buffer.valid() && a.name == b.name;
        if (a.buffer == b.buffer) return true;
        const pipeline::Buffer &x = model[a.buffer], &y = model[b.buffer];
        if (!x.memory || x.memory != y.memory) return false;
        for (const pipeline::ByteRange& r : x.ranges)
            for (const pipeline::ByteRange& s : y.ranges)
                if (r.overlaps(s)) return true;
        return false;
    }

    /// Slots the two agree on by task: 1 when either does not choose by task or both move one cursor.
    std::int32_t slots_by_task(const LocalAccess& a, const LocalAccess& b) const {
        if (a.slot == SlotChoice::fixed || b.slot == SlotChoice::fixed) return 1;
        if (a.buffer.valid() && a.buffer == b.buffer && (a.slot == SlotChoice::rotating || b.slot == SlotChoice::rotating)) return 1;
        return std::min(a.slots, b.slots) <= 0 ? 1 : std::min(a.slots, b.slots);
    }

    static std::string have(const LocalAccess& a, const LocalAccess& b, std::int32_t by_task) {
        const std::int32_t all = std::min(a.slots, b.slots);
        if (all > by_task) return "its " + std::to_string(all) + " are not: both stages move one cursor, or one names a fixed slot";
        return "has " + std::to_string(by_task);
    }

    /// What the outer body leaves in one place is overwritten by the next outer iteration while delayed stages still work for this one.
    void outer_body(const std::vector<LocalAccess>& outer, const Actor& stage) {
        if (stage.delay == 0) return;
        for (const LocalAccess& a : outer)
            for (const LocalAccess& b : *stage.accesses) {
                if (!isa::writes(a.role) || !b.exposed || !same_memory(a, b)) continue;
                if (a.slot != SlotChoice::fixed && a.slots > 1) continue; // another slot next time; whether enough of them is seen on the program
                Diagnostic& d = add(b.at, stage.name + " reads `" + name(b) + "` " + std::to_string(stage.delay) + times(stage.delay) + " late: the next outer iteration has overwritten it by then");
                d.labels.push_back({a.at, "written once an outer iteration"});
                d.advice.push_back("give it two slots and take one by next() in the outer body, so that its index travels with the task");
                d.advice.push_back("write it in the stage");
                return;
            }
    }

    /// `first` comes first in the serial order of one task. `shift` = beats by which the new order moves `second` of a task behind
    /// `first` of the same task.
    void pair(const Actor& first, const Actor& second) {
        const std::int32_t shift = second.delay - first.delay;
        if (shift == 0) return;
        for (const LocalAccess& a : *first.accesses)
            for (const LocalAccess& b : *second.accesses) {
                if (!same_memory(a, b)) continue;
                if (shift > 0 && isa::writes(a.role) && b.exposed) {
                    const std::int32_t slots = slots_by_task(a, b);
                    if (slots >= shift + 1) continue;
                    Diagnostic& d = add(b.at, second.name + " reads `" + name(b) + "` " + std::to_string(shift) + times(shift) + " behind " + first.name + ", which writes it: it needs " +
                                                  std::to_string(shift + 1) + " slots chosen by task and " + have(a, b, slots));
                    d.labels.push_back({a.at, "written here; task " + std::to_string(slots) + " overwrites it before task 0 is read"});
                    d.advice.push_back("a smaller preload keeps the two stages closer");
                    d.advice.push_back("give it " + std::to_string(shift + 1) + " slots chosen by the task number");
                    return;
                }
                if (shift > 0 && isa::writes(b.role) && a.exposed) {
                    Diagnostic& d = add(a.at, first.name + " reads `" + name(a) + "` as " + second.name + " of the task before left it, and now runs " + std::to_string(shift) + times(shift) + " ahead of it");
                    d.labels.push_back({b.at, "written here; task 1 reads before task 0 writes"});
                    d.advice.push_back("preload=0 keeps the serial order; or keep the state inside one stage");
                    return;
                }
                if (shift < 0 && isa::writes(a.role) && b.exposed) {
                    Diagnostic& d = add(b.at, second.name + " reads `" + name(b) + "` in the beat in which a task starts, " + std::to_string(-shift) + (shift == -1 ? " beat" : " beats") + " before " + first.name + " of that task writes it");
                    d.labels.push_back({a.at, "written here"});
                    d.advice.push_back("move the statement into the last stage of that core, or use preload=0");
                    return;
                }
                if (shift < 0 && isa::writes(b.role) && a.exposed) {
                    const std::int32_t slots = slots_by_task(a, b);
                    if (slots >= -shift + 1) continue;
                    Diagnostic& d = add(a.at, first.name + " reads `" + name(a) + "`, which " + second.name + " overwrites for the next task " + std::to_string(-shift) + (shift == -1 ? " beat" : " beats") + " earlier");
                    d.labels.push_back({b.at, "overwritten here"});
                    d.advice.push_back("move the statement into a stage, or use preload=0");
                    return;
                }
            }
    }

    Diagnostic& add(Span at, std::string message) {
        out.push_back(diagnose(Code::pipeline_carried_state, at, std::move(message)));
        return out.back();
    }
};

} // namespace

void check_retiming(const pipeline::Model& model, const pipeline::Loop& loop, const LoopSchedule& schedule, Diagnostics& out) {
    if (schedule.preload == 0) return;
    out.insert(out.end(), loop.when_pipelined.begin(), loop.when_pipelined.end());
    check_carried_state(model, loop, schedule, out);
}

void check_carried_state(const pipeline::Model& model, const pipeline::Loop& loop, const LoopSchedule& schedule, Diagnostics& out) {
    Check check{model, out};
    for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
        std::vector<Actor> actors{{"the code in front of the stages", 0, &loop.zone1_locals[int(core)]}};
        for (std::size_t i = 0; i < loop.stages.size(); ++i)
            if (loop.stages[i].core == core) {
                actors.push_back({"`" + loop.stages[i].name + "`", schedule.delays[i], &loop.stages[i].locals});
                check.outer_body(loop.outer_locals[int(core)], actors.back());
            }
        actors.push_back({"the code behind the stages", 0, &loop.zone3_locals[int(core)]});
        for (std::size_t i = 0; i < actors.size(); ++i)
            for (std::size_t j = i + 1; j < actors.size(); ++j) check.pair(actors[i], actors[j]);
    }
}

} // namespace pto::schedule
