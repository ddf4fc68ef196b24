/// Hangs, overflowing and leftover counters, flags and locks of one fired trace.

#include "engine/verify/findings.hpp"

#include <algorithm>

namespace pto::verify {

std::int64_t max_pending(const SyncIndex& x, const Firing& f, const Counter& c) {
    if (f.start.empty()) return 0;
    const Trace& t = x.trace;
    // taken[k]: sets that know exactly k waits to be complete. With the (k+1)-th wait held back, all sets that know at most k can act.
    std::vector<std::int64_t> taken(c.waits.size() + 1, 0);
    for (std::int32_t s : c.sets) {
        if (!f.fired[std::size_t(s)]) continue;
        std::int64_t known_waits = 0;
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            if (!c.wait_lanes[lane]) continue;
            const std::int32_t known = f.start[std::size_t(s)][lane];
            known_waits += std::partition_point(c.waits.begin(), c.waits.end(), [&](std::int32_t w) { return t.events[std::size_t(w)].index <= known; }) - c.waits.begin();
        }
        ++taken[std::size_t(std::min(known_waits, std::int64_t(c.waits.size())))]; // several awaiting pipes: at most all of them
    }
    std::int64_t most = 0, sets = 0;
    for (std::size_t k = 0; k < taken.size(); ++k) {
        sets += taken[k];
        most = std::max(most, sets - std::int64_t(k));
    }
    return most;
}

namespace {

std::string id_name(const Trace& t, const Counter& c) {
    const bool to_vector = t.cores[std::size_t(c.to)].kind == isa::Core::vector && t.cores[std::size_t(c.from)].kind == isa::Core::cube;
    std::string s = "event id " + std::to_string(c.id);
    if (t.cores[std::size_t(c.from)].kind == t.cores[std::size_t(c.to)].kind) return s + " (" + std::string(isa::name(isa::CrossCoreSyncMode(c.mode))) + ")";
    return s + (to_vector ? " from AIC to " : " from ") + (to_vector ? core_name(t.cores[std::size_t(c.to)]) : core_name(t.cores[std::size_t(c.from)]) + " to AIC");
}

/// When both vector cores set one id and the cube waits for one of them: which one it does not wait for, and from when on.
std::string half_awaited(const SyncIndex& x, const Counter& c) {
    const Trace& t = x.trace;
    for (const Counter& other : x.counters)
        if (other.id == c.id && other.to == c.to && other.from != c.from && t.cores[std::size_t(c.from)].kind != t.cores[std::size_t(c.to)].kind && other.waits.size() > c.waits.size())
            return "; " + core_name(t.cores[std::size_t(other.from)]) + " sets the same id and is awaited " + std::to_string(other.waits.size()) +
                   " times, 2 sets for 1 wait: from its " + std::to_string(c.waits.size() + 1) + ". turn on the wait passes without " +
                   core_name(t.cores[std::size_t(c.from)]);
    return {};
}

} // namespace

void check_sync(const SyncIndex& x, const Firing& f, const machine::Chip& chip, std::int64_t tasks, Findings& out) {
    const Trace& t = x.trace;
    if (!f.finished && t.complete) describe_hang(x, f, tasks, out);
    for (std::size_t k = 0; k < x.counters.size(); ++k) {
        const Counter& c = x.counters[k];
        if (c.sets.empty()) continue;
        const std::int64_t pending = max_pending(x, f, c);
        if (pending > chip.cross_core_limit && f.ordered) {
            if (Hazard* h = out.open(HazardKind::counter_overflow, place_key(t, c.sets.front()), "", c.id)) {
                h->first = place_of(t, c.sets[std::size_t(std::min<std::int64_t>(chip.cross_core_limit, std::int64_t(c.sets.size()) - 1))]);
                if (!c.waits.empty()) h->second = place_of(t, c.waits.front());
                h->id = c.id, h->tasks = tasks;
                h->message = id_name(t, c) + " can hold " + std::to_string(pending) + " unmatched sets; the counter ends at " + std::to_string(chip.cross_core_limit);
                h->missing = "nothing holds the setting side back";
                h->repair = "let it wait for the other side's return (bwd_ids), or spread the sets over more ids";
            }
        }
        if (!f.finished || !t.complete) continue;
        const auto left = std::int64_t(c.sets.size()) - std::int64_t(c.waits.size());
        if (left > 0) {
            if (Hazard* h = out.open(HazardKind::counter_left, place_key(t, c.sets.back()), "", c.id)) {
                h->first = place_of(t, c.sets.back());
                if (!c.waits.empty()) h->second = place_of(t, c.waits.back());
                h->id = c.id, h->tasks = tasks;
                h->message = id_name(t, c) + " is set " + std::to_string(c.sets.size()) + " times and awaited " + std::to_string(c.waits.size()) + " times: " +
                             std::to_string(left) + " left at the end let the next wait fall through" + half_awaited(x, c);
                h->missing = std::to_string(left) + " wait" + (left > 1 ? "s" : "");
                h->repair = "wait for the remaining sets after the loop (drain)";
            }
        }
    }
    for (const Flag& g : x.flags) {
        const auto name = "flag " + std::string(isa::name(isa::Pipe(g.set_pipe))) + "->" + std::string(isa::name(isa::Pipe(g.wait_pipe))) + " id " + std::to_string(g.id);
        for (std::size_t k = 0; k + 1 < g.sets.size() && !f.start.empty(); ++k) {
            const std::int32_t set = g.sets[k + 1];
            if (!f.fired[std::size_t(set)]) break;
            const bool awaited = k < g.waits.size();
            if (awaited && f.start[std::size_t(set)][std::size_t(g.core * pipe_count + g.wait_pipe)] >= t.events[std::size_t(g.waits[k])].index) continue;
            // The published rule is about the program: a wait stands between two sets. Where one does, only time decides; that is told, not refused.
            const bool between = awaited && t.events[std::size_t(g.waits[k])].order < t.events[std::size_t(set)].order;
            if (Hazard* h = out.open(HazardKind::flag_twice, place_key(t, g.sets[k]), place_key(t, set), g.id)) {
                h->is_error = !between;
                h->first = place_of(t, g.sets[k]), h->second = place_of(t, set);
                h->id = g.id, h->tasks = tasks;
                h->message = name + " may be set again before " + (awaited ? "the wait for the first set" : "anything waited for the first set") + ": a flag is one bit";
                h->missing = "the wait before the second set";
                h->repair = "use one id per buffer, or make " + std::string(isa::name(isa::Pipe(g.set_pipe))) + " wait for a flag that " + std::string(isa::name(isa::Pipe(g.wait_pipe))) + " sets back";
            }
            if (!between) break;
        }
        if (f.finished && t.complete && g.sets.size() > g.waits.size()) {
            if (Hazard* h = out.open(HazardKind::flag_left, place_key(t, g.sets.back()), "", g.id)) {
                h->is_error = false;
                h->first = place_of(t, g.sets.back());
                h->id = g.id, h->tasks = tasks;
                h->message = name + " is still raised at the end";
                h->missing = "a wait";
                h->repair = "wait for it after the loop";
            }
        }
    }
    for (std::int32_t i : x.stray_unlocks)
        if (Hazard* h = out.open(HazardKind::lock_unbalanced, place_key(t, i), "", t.events[std::size_t(i)].id)) {
            h->first = place_of(t, i);
            h->id = t.events[std::size_t(i)].id, h->tasks = tasks;
            h->message = "lock " + std::to_string(h->id) + " is released on " + std::string(isa::name(h->first.pipe)) + " without being held there";
            h->repair = "take it first, on the same pipe";
        }
    if (!f.finished || !t.complete) return;
    for (const Lock& l : x.locks)
        for (const Ticket& ticket : l.tickets) {
            if (ticket.release >= 0) continue;
            if (Hazard* h = out.open(HazardKind::lock_left, place_key(t, ticket.acquire), "", l.id)) {
                h->first = place_of(t, ticket.acquire);
                h->id = l.id, h->tasks = tasks;
                h->message = "lock " + std::to_string(l.id) + " is still held at the end";
                h->repair = "release it on " + std::string(isa::name(h->first.pipe));
            }
        }
}

} // namespace pto::verify
