/// Programs for any number of tasks: which lengths of the task loops are run, and why these stand for all (docs/model/sync.md, section 4).

#include "engine/verify/verifier.hpp"
#include "engine/verify/windows.hpp"

#include <algorithm>
#include <numeric>

namespace pto::verify {

struct Verifier::Arrangement {
    std::string why;                    // why the task loops are no sequence
    std::vector<std::int32_t> tasks;    // classes in program order
    std::vector<std::int32_t> outers;   // what stands around them: run once
    std::vector<Around> around;
    std::vector<std::int32_t> length_of; // per task loop: loops that always have one length share a number
    std::int32_t lengths = 0;
};

struct Verifier::Group {
    std::size_t first = 0, last = 0;     // task loops, both included
    std::vector<std::int32_t> lengths;   // what is swept
};

namespace {

using Lengths = std::vector<std::int64_t>;

/// Calls f on every vector with 0 <= v[k] <= limits[k], those with a smaller largest entry first. f returns false to stop.
template <class F> void by_largest(const Lengths& limits, F&& f) {
    const std::int64_t most = limits.empty() ? 0 : *std::max_element(limits.begin(), limits.end());
    for (std::int64_t shell = 0; shell <= most; ++shell) {
        Lengths v(limits.size(), 0);
        for (;;) {
            if ((v.empty() ? 0 : *std::max_element(v.begin(), v.end())) == shell && !f(v, shell)) return;
            std::size_t k = 0;
            while (k < v.size() && v[k] == std::min(limits[k], shell)) v[k++] = 0;
            if (k == v.size()) break;
            ++v[k];
        }
    }
}

} // namespace

// ---------------------------------------------------------------- what kind of sequence it is

/// On each core, the outermost open loop without the task loop.
std::vector<Around> Verifier::code_around(const std::vector<std::int32_t>& open, std::int32_t inner) const {
    std::vector<Around> list;
    for (std::size_t side = 0; side < m_program.cores.size(); ++side) {
        Around a{side, INT32_MAX, INT32_MAX, 0, 0};
        const auto& code = m_program.cores[side].code;
        for (std::size_t i = 0; i < code.size(); ++i) {
            if (code[i].kind != program::InstrKind::loop_enter || !m_loops.class_of[side].count(code[i].loop)) continue;
            const std::int32_t cls = m_loops.class_of[side].at(code[i].loop);
            if (cls == inner) a.inner_begin = std::int32_t(i), a.inner_end = code[i].target;
            else if (std::find(open.begin(), open.end(), cls) != open.end()) a.begin = std::min(a.begin, std::int32_t(i)), a.end = std::max(a.end, code[i].target);
        }
        if (a.begin < a.end) list.push_back(a);
    }
    return list;
}

Verifier::Arrangement Verifier::arrange(const std::vector<std::int32_t>& open) const {
    Arrangement a;
    const auto is_task = [&](std::int32_t c) {
        return std::find(open.begin(), open.end(), c) != open.end() && std::none_of(open.begin(), open.end(), [&](std::int32_t o) { return m_loops.contains(c, o); });
    };
    // Both cores pass the loops in one order; a core may lack some of them.
    std::vector<std::vector<std::int32_t>> orders;
    for (std::size_t side = 0; side < m_program.cores.size(); ++side) {
        orders.emplace_back();
        for (const program::Instr& in : m_program.cores[side].code)
            if (in.kind == program::InstrKind::loop_enter)
                if (auto cls = m_loops.class_of[side].find(in.loop); cls != m_loops.class_of[side].end() && is_task(cls->second)) orders.back().push_back(cls->second);
    }
    const auto has = [](const std::vector<std::int32_t>& list, std::int32_t c) { return std::find(list.begin(), list.end(), c) != list.end(); };
    if (orders.size() == 1) a.tasks = orders[0];
    else
        for (std::size_t i = 0, j = 0; i < orders[0].size() || j < orders[1].size();) {
            if (i < orders[0].size() && !has(orders[1], orders[0][i])) a.tasks.push_back(orders[0][i++]);
            else if (j < orders[1].size() && !has(orders[0], orders[1][j])) a.tasks.push_back(orders[1][j++]);
            else if (i < orders[0].size() && j < orders[1].size() && orders[0][i] == orders[1][j]) a.tasks.push_back(orders[0][i++]), ++j;
            else {
                a.why = "the two cores pass the loops of unknown length in different orders";
                return a;
            }
        }
    std::map<std::string, std::int32_t> known;
    for (std::int32_t t : a.tasks) {
        std::vector<std::int32_t> mine; // around this loop
        for (std::size_t c = 0; c < m_loops.classes.size(); ++c)
            if (m_loops.contains(std::int32_t(c), t)) mine.push_back(std::int32_t(c));
        for (std::int32_t o : mine)
            if (has(a.outers, o)) a.why = "two loops of unknown length stand inside one other loop";
        for (const Around& x : code_around(mine, t)) a.around.push_back(x);
        a.outers.insert(a.outers.end(), mine.begin(), mine.end());
        const std::string& length = m_loops.classes[std::size_t(t)].length;
        if (length.empty() || !mine.empty()) a.length_of.push_back(a.lengths++);
        else {
            auto [it, fresh] = known.emplace(length, a.lengths);
            a.lengths += fresh;
            a.length_of.push_back(it->second);
        }
    }
    return a;
}

std::optional<std::string> Verifier::find_rhythms(const Arrangement& a, const Policy& policy, std::vector<Rhythm>& rhythms, std::vector<Group>& groups) {
    std::optional<Trace> probe;
    for (std::int64_t n : {24, 120, 720}) {
        for (std::int32_t t : a.tasks) m_plan.trips[std::size_t(t)] = n;
        probe = trace(m_program, m_cores, m_plan, m_setup, policy, 5 * one_run_limit);
        if (!probe->complete) break;
        rhythms.clear();
        for (std::size_t k = 0; k < a.tasks.size(); ++k)
            if (auto r = rhythm_of(*probe, std::int16_t(2 * k + 1))) rhythms.push_back(*r);
        if (rhythms.size() == a.tasks.size()) break;
    }
    if (rhythms.size() < a.tasks.size() && !probe->complete) return "a run of that many tasks cannot be followed: " + probe->problem;
    if (rhythms.size() < a.tasks.size()) return "the slots, ids and rings repeat together only after more tasks than are looked at";
    // Neighbours that no full barrier separates, or that share a length, are swept together.
    for (std::size_t k = 0; k < a.tasks.size(); ++k) {
        if (k == 0 || full_barrier(*probe, std::int16_t(2 * k)).empty()) {
            if (k == 0) groups.push_back({0, 0, {}});
            groups.back().last = k;
        } else groups.push_back({k, k, {}});
    }
    for (bool merged = true; merged;) {
        merged = false;
        for (std::size_t g = 0; g < groups.size() && !merged; ++g)
            for (std::size_t h = g + 1; h < groups.size() && !merged; ++h)
                for (std::size_t i = groups[g].first; i <= groups[g].last; ++i)
                    for (std::size_t j = groups[h].first; j <= groups[h].last; ++j) merged = merged || a.length_of[i] == a.length_of[j];
        if (!merged) break;
        for (std::size_t g = 0; g + 1 < groups.size(); ++g) { // widen the earliest group that shares a length with a later one
            std::size_t to = g;
            for (std::size_t h = g + 1; h < groups.size(); ++h)
                for (std::size_t i = groups[g].first; i <= groups[g].last; ++i)
                    for (std::size_t j = groups[h].first; j <= groups[h].last; ++j)
                        if (a.length_of[i] == a.length_of[j]) to = h;
            if (to == g) continue;
            groups[g].last = groups[to].last;
            groups.erase(groups.begin() + std::ptrdiff_t(g) + 1, groups.begin() + std::ptrdiff_t(to) + 1);
            break;
        }
    }
    for (Group& g : groups)
        for (std::size_t k = g.first; k <= g.last; ++k)
            if (std::find(g.lengths.begin(), g.lengths.end(), a.length_of[k]) == g.lengths.end()) g.lengths.push_back(a.length_of[k]);
    return std::nullopt;
}

/// Inside other loops the task loop starts over: its iterations then have to go on from the state that one long loop would have.
std::optional<std::string> Verifier::starts_over(const Arrangement& a, const Policy& policy, const std::vector<Rhythm>& rhythms) {
    for (std::size_t k = 0; k < a.tasks.size(); ++k) {
        std::vector<std::int32_t> mine;
        for (std::int32_t o : a.outers)
            if (m_loops.contains(o, a.tasks[k])) mine.push_back(o);
        if (mine.empty()) continue;
        const auto states = [&](std::int64_t inner, std::int64_t outer) {
            for (std::int32_t t : a.tasks) m_plan.trips[std::size_t(t)] = 0;
            m_plan.trips[std::size_t(a.tasks[k])] = inner;
            for (std::int32_t o : mine) m_plan.trips[std::size_t(o)] = 1;
            m_plan.trips[std::size_t(mine.back())] = outer;
            std::vector<std::vector<std::size_t>> out; // per core, in order of execution
            for (const auto& marks : trace(m_program, m_cores, m_plan, m_setup, policy, one_run_limit).marks) {
                out.emplace_back();
                for (const Mark& m : marks)
                    if (m.at.segment == std::int16_t(2 * k + 1)) out.back().push_back(m.state);
            }
            return out;
        };
        const std::int64_t last = rhythms[k].warm_up + rhythms[k].period;
        const auto straight = states(last + 1, 1);
        for (std::int64_t inner = 1; inner <= last; ++inner) {
            const auto twice = states(inner, 2);
            for (std::size_t c = 0; c < twice.size(); ++c)
                if (twice[c].size() > std::size_t(inner) && twice[c][std::size_t(inner)] != straight[c][std::size_t(inner)])
                    return "the task loop starts over in another state when an outer loop enters it again";
        }
        for (std::int32_t o : mine) m_plan.trips[std::size_t(o)] = 1;
    }
    return std::nullopt;
}

// ---------------------------------------------------------------- the runs

std::optional<std::string> Verifier::sweep_group(const Arrangement& a, const Policy& policy, const std::vector<Rhythm>& rhythms, const std::vector<Group>& groups,
                                                 std::size_t which, const std::vector<Lengths>& entries, std::map<std::size_t, Lengths>& exits, bool& unsettled) {
    const Group& g = groups[which];
    const bool last_group = which + 1 == groups.size();
    // One length for loops that share it: the longest warm-up, the common period.
    Lengths limits, warm_up, period;
    for (std::int32_t l : g.lengths) {
        Rhythm r{0, 1};
        for (std::size_t k = g.first; k <= g.last; ++k)
            if (a.length_of[k] == l) r = {std::max(r.warm_up, rhythms[k].warm_up), std::lcm(r.period, rhythms[k].period)};
        warm_up.push_back(r.warm_up), period.push_back(r.period), limits.push_back(r.warm_up + 3 * r.period);
    }
    Lengths trips(a.tasks.size(), 0);
    const auto set = [&](const Lengths& entry, const Lengths& v) {
        for (std::size_t k = 0; k < a.tasks.size(); ++k) {
            trips[k] = k < g.first ? entry[k] : 0; // later loops have a turn of their own
            if (k >= g.first && k <= g.last) trips[k] = v[std::size_t(std::find(g.lengths.begin(), g.lengths.end(), a.length_of[k]) - g.lengths.begin())];
            m_plan.trips[std::size_t(a.tasks[k])] = trips[k];
        }
    };
    std::optional<std::string> why;
    OpenWindows windows(std::int16_t(2 * g.first), std::int16_t(2 * g.last + 2));
    std::int64_t finished = -1;
    for (const Lengths& entry : entries) {
        std::map<Lengths, std::size_t> keys;
        by_largest(limits, [&](const Lengths& v, std::int64_t shell) {
            set(entry, v);
            const Trace t = look(policy, shell, [&](const SyncIndex& index, const Firing& f) {
                if (why || !f.finished) return;
                if (!f.ordered) { // P5
                    why = "several pipes await one event id, and nothing orders their waits";
                    return;
                }
                if ((why = m_streams.add(index.trace))) return;
                if (!pairings_go_forward(index)) why = "a wait is served by a set of a later iteration";
                for (const auto& id : unsettled_counters(index, f, rhythms, trips)) unsettled = true, m_unsettled.insert(id);
                windows.add(index, f);
                if (last_group) return;
                const std::vector<std::int32_t> barrier = full_barrier(index.trace, std::int16_t(2 * g.last + 2));
                if (barrier.empty()) {
                    why = "the barrier between two loops is not passed in every run";
                    return;
                }
                const std::size_t key = keys[v] = state_at(index, barrier);
                exits.emplace(key, trips);
                for (std::size_t c = 0; c < v.size(); ++c)
                    if (Lengths before = v; (before[c] -= period[c]) >= warm_up[c])
                        if (auto b = keys.find(before); b != keys.end() && b->second != key) why = "what follows the loop does not repeat with the period";
            });
            m_tasks.insert(shell);
            if (t.complete) finished = std::max(finished, shell);
            else why = why ? why : "the work limit ended the search: " + t.problem;
            if (m_left <= 0 && v != limits)
                why = why ? why
                      : g.lengths.size() > 1 ? "loops without a barrier between them need more combinations of lengths than the work limit allows"
                                             : "the work limit ended the search";
            return m_left > 0 && !stop_early();
        });
        if (m_left <= 0 || stop_early()) break;
    }
    m_checked = m_checked < 0 ? finished : std::min(m_checked, finished);
    if (why || m_left <= 0 || stop_early()) return why;

    Lengths shorter = limits;
    for (std::size_t c = 0; c < shorter.size(); ++c) shorter[c] -= period[c];
    set(entries.front(), shorter);
    const Trace less = trace_once(policy);
    set(entries.front(), limits);
    const Trace most = trace_once(policy);
    for (std::size_t k = g.first; k <= g.last; ++k)
        if (auto far = windows_stay_close(most, std::int16_t(2 * k + 1), rhythms[k])) return far;
    std::vector<Rhythm> common = rhythms;
    for (std::size_t k = g.first; k <= g.last; ++k)
        common[k].period = period[std::size_t(std::find(g.lengths.begin(), g.lengths.end(), a.length_of[k]) - g.lengths.begin())];
    return windows.stay_apart(most, less, common, trips);
}

std::optional<std::string> Verifier::prove(const Arrangement& a, const Policy& policy) {
    if (!a.why.empty()) return a.why;
    m_plan.sequence = a.tasks;
    for (std::int32_t o : a.outers) m_plan.trips[std::size_t(o)] = 1;
    for (std::size_t side = 0; side < m_program.cores.size(); ++side) {
        std::vector<std::int32_t> counters;
        for (const auto& [loop, cls] : m_loops.class_of[side])
            if (std::find(a.tasks.begin(), a.tasks.end(), cls) != a.tasks.end()) counters.push_back(loop);
        m_watches.emplace_back(m_program.cores[side], program::Prepared(m_program, m_program.cores[side]), counters);
    }
    m_plan.watches = &m_watches;
    if (auto why = counters_stay_modular(m_program, m_loops, a.tasks)) return why;
    std::vector<Rhythm> rhythms;
    std::vector<Group> groups;
    if (auto why = find_rhythms(a, policy, rhythms, groups)) return why;
    if (auto why = starts_over(a, policy, rhythms)) return why;
    for (;;) {
        m_unsettled.clear();
        bool unsettled = false;
        std::vector<Lengths> entries{{}};
        std::optional<std::string> why;
        for (std::size_t g = 0; g < groups.size() && !why && m_left > 0 && !stop_early(); ++g) {
            std::map<std::size_t, Lengths> exits;
            why = sweep_group(a, policy, rhythms, groups, g, entries, exits, unsettled);
            entries.clear();
            for (auto& [key, trips] : exits) entries.push_back(trips);
            std::sort(entries.begin(), entries.end()); // keys are hashes: their order would decide what the work limit cuts
        }
        m_period = 1, m_warm_up = 0;
        for (const Rhythm& r : rhythms) m_period = std::max(m_period, r.period), m_warm_up = std::max(m_warm_up, r.warm_up);
        const bool longest = std::all_of(rhythms.begin(), rhythms.end(), [&](const Rhythm& r) { return r.period > m_chip.cross_core_limit; });
        const bool hazards = std::any_of(m_findings.list().begin(), m_findings.list().end(), [](const Hazard& h) { return h.is_error; });
        if (!unsettled || longest || why || hazards || m_left <= 0) {
            for (auto id : m_unsettled)
                if (auto i = m_ids.find(id); i != m_ids.end()) i->second.growing = true;
            if (!why && unsettled) why = "unmatched sets of an id pile up over more tasks than are looked at";
            return why;
        }
        // Sets run further ahead of their waits than one period: several periods are a period too.
        for (Rhythm& r : rhythms)
            if (r.period <= m_chip.cross_core_limit) r.period *= 2;
    }
}

void Verifier::sweep(std::vector<std::int32_t> open, const Trace& first, bool cut) {
    if (open.empty()) // all lengths are known but too long: shorter runs stand for them
        for (std::size_t c = 0; c < m_loops.classes.size(); ++c) open.push_back(std::int32_t(c));
    if (open.empty()) {
        m_reason = "one run is cut short: " + first.problem;
        return;
    }
    const Arrangement a = arrange(open);
    m_loops_proven = std::int64_t(a.tasks.size());
    // Guessed code that only holds protected operations is left out: what it adds is ordered by locks, and it orders nothing (A7).
    const Settled settled = settle(m_program, m_protection, m_guesses, unsteady(a.tasks), a.around);
    m_sometimes = m_sometimes || guessed() || settled.changed || !a.around.empty();
    Policy primary;
    if (guessed() && settled.why.empty()) primary = {Policy::Branch::skipped, 0};
    m_checked = -1;
    std::optional<std::string> why = prove(a, primary);
    m_plan.sequence.clear(), m_plan.watches = nullptr;
    if (m_checked < 0) try_counts(open, primary);
    if (!stop_early()) {
        growing_ids(m_checked);
        if (open.size() > 1 || !a.outers.empty()) nested(open);
        if (guessed()) {
            for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = m_loops.classes[std::size_t(c)].innermost ? std::min<std::int64_t>(m_checked, m_warm_up + 3) : 1;
            other_choices(std::min<std::int64_t>(m_checked, m_warm_up + 3));
        }
    }
    const bool hazards = std::any_of(m_findings.list().begin(), m_findings.list().end(), [](const Hazard& h) { return h.is_error; });
    if (cut) m_reason = "the loops are longer than the work limit";
    else if (!m_ordered) m_reason = "several pipes await one event id, and nothing orders their waits";
    else if (!a.why.empty()) m_reason = a.why;
    else if (!hazards && settled.changed) m_reason = not_for_all(settled); // its runs count, these only looked for hazards
    else if (why) m_reason = *why;
    else m_reason = not_for_all(settled);
}

// ---------------------------------------------------------------- runs that only look for hazards

/// Tasks until every slot has been met by every stage and every phase of the rotation by the last task: the rings fill, the slots turn
/// three times together.
std::int64_t Verifier::all_phases() const {
    std::int64_t depth = 1, turn = 1;
    constexpr std::int64_t least = 16, most = 96;
    for (const program::CoreCode& core : m_program.cores) {
        for (const ir::Struct& s : core.function->structs) depth = std::max<std::int64_t>(depth, s.count);
        for (const ir::TileDecl& d : core.function->decls)
            if (d.slots() > 0 && std::lcm(turn, std::int64_t(d.slots())) <= most / 3) turn = std::lcm(turn, std::int64_t(d.slots()));
    }
    return std::clamp(depth + 3 * turn, least, most);
}

/// All loops with the same count, one after the other.
void Verifier::try_counts(const std::vector<std::int32_t>& open, const Policy& policy) {
    const std::int64_t last = all_phases(), half = last / 2;
    std::map<std::pair<std::int32_t, bool>, std::int64_t> before;
    for (std::int64_t tasks = 0; tasks <= last && m_left > 0 && !stop_early(); ++tasks) {
        for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = m_loops.classes[std::size_t(c)].innermost ? tasks : 1;
        if (tasks == half + 1)
            for (const auto& [key, i] : m_ids) before[key] = i.max_pending;
        const Trace t = look(policy, tasks);
        m_tasks.insert(tasks);
        if (t.complete) m_checked = tasks;
    }
    if (m_checked == last)
        for (auto& [key, i] : m_ids)
            if (auto b = before.find(key); b != before.end() && i.max_pending > b->second) i.growing = true;
}

/// A bound that grows with every period passes any limit.
void Verifier::growing_ids(std::int64_t tasks) {
    for (auto& [key, i] : m_ids) {
        if (!i.growing || i.max_pending > m_chip.cross_core_limit) continue;
        if (Hazard* h = m_findings.open(HazardKind::counter_overflow, "growing", "", i.id * 2 + i.to_vector)) {
            h->id = i.id, h->tasks = tasks;
            h->message = "event id " + std::to_string(i.id) + (i.to_vector ? " from the cube" : " from the vector cores") + " can hold " + std::to_string(i.max_pending) +
                         " unmatched sets after " + std::to_string(tasks) + " tasks and more with every task; the counter ends at " + std::to_string(m_chip.cross_core_limit);
            h->missing = "nothing holds the setting side back";
            h->repair = "let it wait for the other side's return (bwd_ids)";
        }
    }
}

/// Short nests and sequences of different lengths.
void Verifier::nested(const std::vector<std::int32_t>& open) {
    const auto go = [&](std::int64_t tasks) {
        if (m_left <= 0 || stop_early()) return;
        look({}, tasks);
        m_tasks.insert(tasks);
    };
    for (auto [inner, outer] : {std::pair<std::int64_t, std::int64_t>{1, 6}, {0, 2}, {3, 3}, {2, 0}, {1, 2}, {2, 5}}) {
        for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = m_loops.classes[std::size_t(c)].innermost ? inner : outer;
        go(inner * outer);
    }
}

} // namespace pto::verify
