/// What was found, in words: places, the missing order, a repair, and an order in which it happens.

#include "engine/verify/findings.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

std::string pipe_name(int pipe) { return std::string(isa::name(isa::Pipe(pipe))); }

std::string operation_name(const Event& e) {
    if (auto call = std::get_if<ir::VectorCall>(&e.stmt->what)) return call->name;
    if (auto launch = std::get_if<ir::SimtLaunch>(&e.stmt->what)) return launch->name;
    std::string name = e.row ? std::string(e.row->name) : "?";
    if (const auto dot = name.find('.'); dot != std::string::npos) name = name.substr(dot + 1);
    return name;
}

/// Steps of a run, one line a stage and task (or a bare operation), in the order they happen.
std::vector<std::string> steps(const SyncIndex& x, const Firing& clocks, std::int32_t held, std::int32_t until) {
    const Trace& t = x.trace;
    const Firing run = fire(x, false, held, until);
    const auto needed = [&](std::int32_t i, std::int32_t target) {
        const Event &e = t.events[std::size_t(i)], &b = t.events[std::size_t(target)];
        return i == target || (e.lane() == b.lane() && e.index < b.index) || clocks.start[std::size_t(target)][std::size_t(e.lane())] >= e.index;
    };
    std::vector<std::string> lines;
    for (std::int32_t i : run.order) {
        if (!needed(i, held) && !needed(i, until)) continue;
        const Event& e = t.events[std::size_t(i)];
        const TraceCore& core = t.cores[std::size_t(e.core)];
        std::string line = core_name(core) + " ";
        if (e.stage >= 0) line += core.code->stages[std::size_t(e.stage)] + (e.task >= 0 ? " of task " + std::to_string(e.task) : "");
        else line += pipe_name(e.pipe) + " " + operation_name(e);
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
    constexpr std::size_t shown = 8;
    if (lines.size() > shown) {
        std::vector<std::string> tail{"... " + std::to_string(lines.size() - shown) + " steps before"};
        tail.insert(tail.end(), lines.end() - shown, lines.end());
        lines = std::move(tail);
    }
    return lines;
}

} // namespace

std::string place_key(const Trace& t, std::int32_t event, std::int16_t operand) {
    const Event& e = t.events[std::size_t(event)];
    const TraceCore& core = t.cores[std::size_t(e.core)];
    std::string key = core.kind == isa::Core::cube ? "c" : "v";
    if (e.stage >= 0) return key + core.code->stages[std::size_t(e.stage)] + " " + operation_name(e) + " " + std::to_string(operand);
    return key + std::to_string(e.stmt->at.file.index) + ":" + std::to_string(e.stmt->at.begin) + ":" + std::to_string(e.stmt->at.end) + " " + operation_name(e) + " " + std::to_string(operand);
}

std::string core_name(const TraceCore& c) { return c.kind == isa::Core::cube ? "AIC" : "AIV" + std::to_string(c.subblock); }

Place place_of(const Trace& t, std::int32_t event) {
    const Event& e = t.events[std::size_t(event)];
    const TraceCore& core = t.cores[std::size_t(e.core)];
    Place p;
    p.at = e.stmt->at;
    p.operation = operation_name(e);
    p.core = core.kind, p.subblock = core.subblock;
    p.pipe = isa::Pipe(e.pipe);
    if (e.stage >= 0) p.stage = core.code->stages[std::size_t(e.stage)];
    p.task = e.task, p.sequence = e.order;
    return p;
}

Place place_of(const Trace& t, const Access& a) {
    Place p = place_of(t, a.event);
    const Event& e = t.events[std::size_t(a.event)];
    p.writes = a.write;
    p.slot = a.slot;
    const ir::Function& f = *t.cores[std::size_t(e.core)].code->function;
    if (a.decl.valid()) p.operand = f[a.decl].name;
    else if (a.tensor.valid()) p.operand = f[a.tensor].name;
    if (auto op = std::get_if<ir::Op>(&e.stmt->what))
        if (a.operand >= 0 && std::size_t(a.operand) < op->operand_spans.size() && op->operand_spans[std::size_t(a.operand)].valid())
            p.at = op->operand_spans[std::size_t(a.operand)];
    return p;
}

std::string what_name(const Trace& t, const Access& a) {
    const ir::Function& f = *t.cores[std::size_t(t.events[std::size_t(a.event)].core)].code->function;
    if (a.decl.valid()) return f[a.decl].name + (f[a.decl].slots() > 1 ? " slot " + std::to_string(a.slot) : "");
    if (a.tensor.valid()) return "tensor " + f[a.tensor].name;
    return "memory";
}

std::string text(const Place& p) {
    std::string s = p.core == isa::Core::cube ? "AIC" : "AIV" + std::to_string(p.subblock);
    s += " " + std::string(isa::name(p.pipe)) + " " + p.operation;
    if (!p.stage.empty()) s += " in " + p.stage;
    if (p.task >= 0) s += " (task " + std::to_string(p.task) + ")";
    return s;
}

void describe_race(const SyncIndex& x, const Firing& f, const Access& a, const Access& b, std::int64_t tasks, Hazard& h) {
    const Trace& t = x.trace;
    const Event &ea = t.events[std::size_t(a.event)], &eb = t.events[std::size_t(b.event)];
    const Bytes &ba = t.bytes[std::size_t(a.footprint)], &bb = t.bytes[std::size_t(b.footprint)];
    h.first = place_of(t, a), h.second = place_of(t, b);
    h.memory = ba.memory, h.tasks = tasks;
    if (ba.owner >= 0) h.owner = t.cores[std::size_t(ba.owner)].kind, h.owner_subblock = t.cores[std::size_t(ba.owner)].subblock;
    h.begin = std::max(ba.first, bb.first), h.end = std::min(ba.last, bb.last);
    const std::string wa = what_name(t, a), wb = what_name(t, b);
    h.what = wa == wb ? wa : wa + " and " + wb;
    const std::string where = h.memory == isa::MemorySpace::ddr ? "" : " (" + std::string(isa::name(h.memory)) + ", bytes " + std::to_string(h.begin) + " to " + std::to_string(h.end) + ")";
    const auto verb = [](const Access& y) { return y.write ? "writes " : "reads "; };
    if (h.kind == HazardKind::same_pipe) {
        h.message = text(h.second) + " " + verb(b) + wb + where + " and may start before " + text(h.first) + " has " + (a.write ? "written" : "read") + " it: one pipe starts items in order but may overlap them";
        h.missing = "a barrier on " + pipe_name(ea.pipe) + " between them";
        h.repair = "pl.system.bar_" + std::string(ea.pipe == int(isa::Pipe::mte2) ? "mte2" : ea.pipe == int(isa::Pipe::mte3) ? "mte3" : ea.pipe == int(isa::Pipe::mte1) ? "mte1" : ea.pipe == int(isa::Pipe::fix) ? "fix" : "m") + "() between them";
        return;
    }
    h.message = text(h.second) + " " + verb(b) + wb + where + " while " + text(h.first) + " may still " + (a.write ? "be writing it" : "be reading it") +
                (a.write && !b.write ? " or not have written it yet" : "");
    h.missing = "completion of " + text(h.first) + " before the start of " + text(h.second);
    if (ea.core == eb.core) {
        h.repair = "give the tiles one mutex id, or set a flag after the first and wait for it before the second (sync_src/sync_dst, " + pipe_name(ea.pipe) + " to " + pipe_name(eb.pipe) + ")";
    } else if (a.write && !b.write) {
        h.repair = "set_cross_core(pipe=" + pipe_name(ea.pipe) + ") after the write and wait_cross_core(pipe=" + pipe_name(eb.pipe) + ") before the read, with an id of their own (fwd_ids)";
    } else {
        h.repair = "hand the buffer back: set_cross_core(pipe=" + pipe_name(ea.pipe) + ") after the first, wait_cross_core(pipe=" + pipe_name(eb.pipe) +
                   ") before the write, and one set up front per slot (bwd_ids)";
    }
    // An order that shows it: one side starts, never mind completes, and the other still starts.
    const Firing hold = fire(x, false, a.event, b.event);
    const bool first_held = hold.fired[std::size_t(b.event)];
    const std::int32_t held = first_held ? a.event : b.event, until = first_held ? b.event : a.event;
    h.witness = steps(x, f, held, until);
    const Place &started = first_held ? h.first : h.second, &starts = first_held ? h.second : h.first;
    const Access &ha = first_held ? a : b, &hb = first_held ? b : a;
    h.witness.push_back(text(started) + " has started and " + verb(ha) + (first_held ? wa : wb));
    h.witness.push_back(text(starts) + " starts now and " + verb(hb) + (first_held ? wb : wa));
}

void describe_hang(const SyncIndex& x, const Firing& f, std::int64_t tasks, Findings& out) {
    const Trace& t = x.trace;
    struct Stuck {
        std::int32_t event, waits_for = -1; // the event that must come first; -1: nothing can
        std::string reason;
        std::int16_t id = -1;
        bool cause = false;
    };
    std::vector<Stuck> stuck;
    std::map<int, std::size_t> by_lane;
    for (int lane = 0; lane < lane_count; ++lane) {
        const auto& events = x.lanes[std::size_t(lane)];
        const auto head = std::size_t(f.head[std::size_t(lane)]);
        if (head >= events.size()) continue;
        Stuck s{events[head], -1, "", -1, false};
        const Event& e = t.events[std::size_t(s.event)];
        const auto needs_set = [&](const std::vector<std::int32_t>& sets, std::int64_t raised, std::int64_t taken, const std::string& name) {
            if (raised > taken) return false;
            s.id = e.id;
            s.reason = "waits for " + name + " for the " + std::to_string(taken + 1) + ". time, set " + std::to_string(raised) + " times";
            if (std::size_t(taken) < sets.size()) s.waits_for = sets[std::size_t(taken)];
            else {
                s.cause = true;
                s.reason += sets.empty() ? ": nothing ever sets it" : ": the program sets it only " + std::to_string(sets.size()) + " times";
            }
            return true;
        };
        const std::int32_t g = x.gate[std::size_t(s.event)];
        if (g >= 0 && !f.fired[std::size_t(g)]) s.waits_for = g, s.reason = "is issued after " + text(place_of(t, g));
        if (s.reason.empty() && e.act == Act::flag_wait) {
            const auto k = std::size_t(x.flag_of[std::size_t(s.event)]);
            needs_set(x.flags[k].sets, f.flag_sets[k], f.flag_waits[k], "flag " + pipe_name(e.set_pipe) + "->" + pipe_name(e.wait_pipe) + " id " + std::to_string(e.id));
        }
        if (s.reason.empty() && e.act == Act::cross_wait)
            for (std::int32_t k : x.counters_of[std::size_t(s.event)]) {
                if (k < 0) continue;
                const Counter& c = x.counters[std::size_t(k)];
                if (needs_set(c.sets, f.counter_sets[std::size_t(k)], f.counter_waits[std::size_t(k)], "event id " + std::to_string(c.id) + " from " + core_name(t.cores[std::size_t(c.from)]))) break;
            }
        if (s.reason.empty() && e.act == Act::sync_all) s.reason = "meets the other cores in sync_all, and some never come", s.cause = true;
        if (s.reason.empty() && e.act == Act::barrier_all) s.reason = "drains every pipe of its core";
        if (s.reason.empty() && (e.unit_matmul || e.unit_store)) {
            s.reason = e.unit_store ? "waits for the unit flag of the accumulator: no final matmul raises it" : "waits for the unit flag of the accumulator to be cleared by a final store";
            for (int other = 0; other < lane_count; ++other)
                for (std::int32_t o : x.lanes[std::size_t(other)]) {
                    const Event& u = t.events[std::size_t(o)];
                    if (s.waits_for < 0 && !f.fired[std::size_t(o)] && u.core == e.core && u.unit == e.unit && u.unit_final && u.unit_store == e.unit_matmul) s.waits_for = o;
                }
            s.cause = s.waits_for < 0;
        }
        if (s.reason.empty())
            for (std::int32_t r = x.ticket_begin[std::size_t(s.event)]; r < x.ticket_begin[std::size_t(s.event) + 1] && s.waits_for < 0; ++r) {
                const auto [lock, ticket] = x.tickets[std::size_t(r)];
                const auto& tickets = x.locks[std::size_t(lock)].tickets;
                for (std::int32_t k = 0; k < ticket; ++k) {
                    const Ticket& earlier = tickets[std::size_t(k)];
                    if (t.events[std::size_t(earlier.acquire)].pipe == e.pipe || (earlier.release >= 0 && f.fired[std::size_t(earlier.release)])) continue;
                    s.id = x.locks[std::size_t(lock)].id;
                    s.reason = "waits for lock " + std::to_string(s.id) + " behind " + text(place_of(t, earlier.acquire));
                    s.waits_for = earlier.release >= 0 ? earlier.release : earlier.acquire;
                    s.cause = earlier.release < 0;
                    break;
                }
            }
        if (s.reason.empty()) s.reason = "cannot start";
        by_lane[lane] = stuck.size();
        stuck.push_back(std::move(s));
    }
    if (stuck.empty()) return;
    // Follow who waits for whom from the first stuck pipe: a cause, or a circle.
    std::vector<std::size_t> path;
    std::size_t at = 0;
    for (std::size_t k = 0; k < stuck.size(); ++k)
        if (t.events[std::size_t(stuck[k].event)].act == Act::cross_wait || t.events[std::size_t(stuck[k].event)].act == Act::flag_wait) {
            at = k;
            break;
        }
    bool circle = false;
    for (;;) {
        if (auto seen = std::find(path.begin(), path.end(), at); seen != path.end()) {
            path.erase(path.begin(), seen);
            circle = true;
            break;
        }
        path.push_back(at);
        if (stuck[at].waits_for < 0) break;
        const auto next = by_lane.find(t.events[std::size_t(stuck[at].waits_for)].lane());
        if (next == by_lane.end()) break;
        at = next->second;
    }
    for (std::size_t k = 0; k < stuck.size() && !circle && !stuck[path.back()].cause; ++k)
        if (stuck[k].cause) path.push_back(k);
    const Stuck& s = stuck[path[circle ? 0 : path.size() - 1]];
    Hazard* h = out.open(HazardKind::hang, place_key(t, s.event), "", s.id);
    if (!h) return;
    h->tasks = tasks, h->id = s.id;
    h->first = place_of(t, s.event);
    if (s.waits_for >= 0) h->second = place_of(t, s.waits_for);
    h->message = text(h->first) + " " + s.reason;
    if (circle) {
        h->message += "; " + std::to_string(path.size()) + " pipes wait for each other in a circle";
        h->missing = "a set that comes before the circle";
        h->repair = "move one set before its wait, or set once up front";
    } else {
        h->missing = s.waits_for < 0 ? "the set it waits for" : "progress of " + text(h->second);
        h->repair = s.waits_for < 0 ? "add the missing set, or remove the wait" : "";
    }
    for (std::size_t k : path) h->witness.push_back(text(place_of(t, stuck[k].event)) + " " + stuck[k].reason);
}

} // namespace pto::verify
