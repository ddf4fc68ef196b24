#include "engine/verify/periodic.hpp"

#include "engine/program/prepared.hpp"
#include "engine/verify/growth.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

/// The lengths of the task loops as seen by scalar code: variables and sizes that stand alone as an end.
struct Lengths {
    std::set<std::int32_t> vars;
    std::set<std::pair<std::int32_t, std::int64_t>> sizes; // tensor, axis
    bool read_by(const ir::Function& f, ir::ExprId id) const {
        if (!id.valid()) return false;
        const ir::Expr& e = f[id];
        if (e.op == ir::ExprOp::var) return vars.count(e.var.index) > 0;
        if (e.op == ir::ExprOp::dim) return sizes.count({e.tensor.index, e.integer}) > 0;
        return read_by(f, e.a) || read_by(f, e.b) || read_by(f, e.c);
    }
};

std::vector<std::int32_t> loops_of(const Loops& loops, std::size_t side, const std::vector<std::int32_t>& sequence) {
    std::vector<std::int32_t> out;
    for (const auto& [loop, cls] : loops.class_of[side])
        if (std::find(sequence.begin(), sequence.end(), cls) != sequence.end()) out.push_back(loop);
    return out;
}

Lengths lengths_of(const program::CoreCode& core, const std::vector<std::int32_t>& counters) {
    Lengths out;
    const ir::Function& f = *core.function;
    for (const program::Instr& in : core.code) {
        if (in.kind != program::InstrKind::loop_enter || std::find(counters.begin(), counters.end(), in.loop) == counters.end()) continue;
        const ir::ExprId stop = std::get<ir::Loop>(in.stmt->what).stop;
        if (!stop.valid()) continue;
        if (f[stop].op == ir::ExprOp::var) out.vars.insert(f[stop].var.index);
        if (f[stop].op == ir::ExprOp::dim) out.sizes.emplace(f[stop].tensor.index, f[stop].integer);
    }
    for (bool changed = true; changed;) { // variables made from them
        changed = false;
        for (const program::Instr& in : core.code)
            if (in.kind == program::InstrKind::assign && out.read_by(f, in.expr)) changed |= out.vars.insert(in.var.index).second;
    }
    return out;
}

std::vector<std::size_t> hashes_of(const Trace& t) {
    std::vector<std::size_t> bytes(t.bytes.size());
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        std::size_t h = std::size_t(t.bytes[k].owner + 2) * 31 + std::size_t(t.bytes[k].memory);
        for (const isa::Strided& s : t.bytes[k].set)
            for (std::int64_t x : {s.base, s.run_bytes, s.counts[0], s.counts[1], s.counts[2], s.strides[0], s.strides[1], s.strides[2]})
                h = (h ^ std::size_t(x)) * 0x9E3779B97F4A7C15ull, h ^= h >> 31;
        bytes[k] = h;
    }
    return bytes;
}

std::size_t hash_of(const Trace& t, const Event& e, const std::vector<std::size_t>& bytes) {
    std::size_t key = std::size_t(reinterpret_cast<std::uintptr_t>(e.stmt)) * 0x9E3779B97F4A7C15ull + std::size_t(e.id + 2) * 131 + std::size_t(e.mode);
    for (int k = 0; k < e.lock_count; ++k) key = key * 131 + std::size_t(e.locks[std::size_t(k)]) + 1;
    key = key * 131 + std::size_t(e.unit + 1);
    for (std::int32_t a = e.first_access; a < e.first_access + e.access_count; ++a) {
        const Access& x = t.accesses[std::size_t(a)];
        // Positions in global memory move on; the windows' own checks look after them.
        key = key * 1000003 + (t.bytes[std::size_t(x.footprint)].owner < 0 ? 7 : bytes[std::size_t(x.footprint)]) * 2 + x.write;
    }
    return key;
}

/// How one core's values depend on the number of the task, in any of these task loops.
struct Steadiness {
    Steadiness(const program::Program& program, std::size_t side, const Loops& loops, const std::vector<std::int32_t>& sequence)
        : core(program.cores[side]), counters(loops_of(loops, side, sequence)), growths(core, counters), lengths(lengths_of(core, counters)), prepared(program, core) {}
    bool reads_length(ir::ExprId e) const { return lengths.read_by(*core.function, e); }
    const program::CoreCode& core;
    std::vector<std::int32_t> counters;
    Growths growths;
    Lengths lengths;
    program::Prepared prepared;
};

} // namespace

std::set<std::int32_t> unsteady_branches(const program::Program& program, std::size_t side, const Loops& loops, const std::vector<std::int32_t>& sequence) {
    const Steadiness s(program, side, loops, sequence);
    const auto& code = s.core.code;
    std::set<std::int32_t> out;
    for (std::size_t i = 0; i < code.size(); ++i)
        if (code[i].kind == program::InstrKind::branch && s.prepared.instrs[i].guard_loop < 0 && (s.growths.of(code[i].expr) != Growth::none || s.reads_length(code[i].expr)))
            out.insert(std::int32_t(i));
    return out;
}

std::optional<std::string> counters_stay_modular(const program::Program& program, const Loops& loops, const std::vector<std::int32_t>& sequence) {
    for (std::size_t side = 0; side < program.cores.size(); ++side) {
        const Steadiness s(program, side, loops, sequence);
        std::optional<std::string> why;
        for_each_use(s.core, s.prepared, s.counters, [&](ir::ExprId e, const char* meaning) {
            if (why) return;
            if (s.growths.of(e) != Growth::none) why = meaning;
            else if (s.reads_length(e)) why = "the number of tasks decides what is issued in more than one way";
        });
        if (why) return why;
    }
    return std::nullopt;
}

std::optional<Rhythm> rhythm_of(const Trace& t, std::int16_t segment) {
    std::vector<std::size_t> states; // by iteration, all cores together
    for (std::size_t c = 0; c < t.marks.size(); ++c)
        for (const Mark& m : t.marks[c]) {
            if (m.at.segment != segment) continue;
            if (states.size() <= std::size_t(m.at.iteration)) states.resize(std::size_t(m.at.iteration) + 1, 0);
            std::size_t& s = states[std::size_t(m.at.iteration)];
            s = (s * 0x9E3779B97F4A7C15ull + c + 1) ^ m.state;
        }
    std::map<std::size_t, std::int64_t> first;
    for (std::size_t i = 0; i < states.size(); ++i) {
        auto [it, fresh] = first.emplace(states[i], std::int64_t(i));
        if (!fresh) return Rhythm{it->second, std::int64_t(i) - it->second};
    }
    return std::nullopt;
}

std::optional<std::string> Streams::add(const Trace& t) {
    const std::vector<std::size_t> bytes = hashes_of(t);
    for (std::size_t c = 0; c < t.cores.size(); ++c) {
        std::size_t mark = 0;
        const auto& marks = t.marks[c];
        for (std::int32_t i = t.cores[c].first_event; i < t.cores[c].last_event;) {
            // One segment after the other; a loop's state is the one before its first iteration.
            const std::int16_t segment = t.events[std::size_t(i)].segment;
            while (mark < marks.size() && marks[mark].at.segment < segment) ++mark;
            const std::size_t state = mark < marks.size() && marks[mark].at.segment == segment ? marks[mark].state : 0;
            std::vector<std::size_t> hashes;
            for (; i < t.cores[c].last_event && t.events[std::size_t(i)].segment == segment; ++i) {
                const Event& e = t.events[std::size_t(i)];
                const auto at = std::size_t(std::max<std::int64_t>(e.iteration, 0));
                if (hashes.size() <= at) hashes.resize(at + 1, 0);
                hashes[at] = (hashes[at] ^ hash_of(t, e, bytes)) * 0x100000001B3ull + 1;
            }
            std::vector<std::size_t>& seen = m_seen[{c, segment, state}];
            for (std::size_t k = 0; k < hashes.size() && k < seen.size(); ++k)
                if (hashes[k] != seen[k]) return segment % 2 ? "an iteration depends on the number of tasks" : "what stands around the loop depends on the number of tasks";
            if (hashes.size() > seen.size()) seen = std::move(hashes);
        }
    }
    return std::nullopt;
}

bool pairings_go_forward(const SyncIndex& x) {
    const Trace& t = x.trace;
    const auto when = [&](std::int32_t i) { return t.events[std::size_t(i)].position(); };
    const auto forward = [&](const std::vector<std::int32_t>& sets, const std::vector<std::int32_t>& waits) {
        std::vector<Position> set_at;
        for (std::int32_t s : sets) set_at.push_back(when(s));
        std::sort(set_at.begin(), set_at.end()); // several pipes may set in turn
        for (std::size_t k = 0; k < waits.size() && k < set_at.size(); ++k)
            if (set_at[k] > when(waits[k])) return false;
        return true;
    };
    for (const Counter& c : x.counters)
        if (!forward(c.sets, c.waits)) return false;
    for (const Flag& f : x.flags)
        if (!forward(f.sets, f.waits)) return false;
    std::map<int, std::vector<std::vector<Position>>> meetings; // by core type, per core that takes part
    for (std::size_t c = 0; c < t.cores.size(); ++c)
        for (const auto type : {isa::SyncCoreType::mix, isa::SyncCoreType::aiv_only, isa::SyncCoreType::aic_only}) {
            if (type != isa::SyncCoreType::mix && (type == isa::SyncCoreType::aiv_only) != (t.cores[c].kind == isa::Core::vector)) continue;
            auto& list = meetings[int(type)].emplace_back();
            for (std::int32_t i = t.cores[c].first_event; i < t.cores[c].last_event; ++i)
                if (t.events[std::size_t(i)].act == Act::sync_all && t.events[std::size_t(i)].mode == std::uint8_t(type)) list.push_back(when(i));
        }
    for (const auto& [type, lists] : meetings)
        for (const auto& list : lists)
            if (list != lists.front()) return false;
    return true;
}

std::vector<std::int32_t> full_barrier(const Trace& t, std::int16_t segment) {
    const bool cube = std::any_of(t.cores.begin(), t.cores.end(), [](const TraceCore& c) { return c.kind == isa::Core::cube; });
    const bool vector = std::any_of(t.cores.begin(), t.cores.end(), [](const TraceCore& c) { return c.kind == isa::Core::vector; });
    std::vector<std::int32_t> out;
    for (std::size_t c = 0; c < t.cores.size() && c < t.marks.size(); ++c)
        for (const Mark& m : t.marks[c]) {
            if (!m.barrier || m.at.segment != segment) continue;
            const auto type = isa::SyncCoreType(t.events[std::size_t(m.event)].mode);
            if (type != isa::SyncCoreType::mix && (type == isa::SyncCoreType::aiv_only ? cube : vector)) continue;
            out.push_back(m.event);
            break;
        }
    if (out.size() != t.cores.size()) out.clear();
    return out;
}

std::size_t state_at(const SyncIndex& x, const std::vector<std::int32_t>& barrier) {
    const Trace& t = x.trace;
    std::size_t h = 0;
    const auto mix = [&](std::size_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
    const auto before = [&](std::int32_t event) { return event < barrier[std::size_t(t.events[std::size_t(event)].core)]; };
    const auto count = [&](const std::vector<std::int32_t>& list) { return std::size_t(std::count_if(list.begin(), list.end(), before)); };
    for (std::size_t c = 0; c < t.marks.size(); ++c)
        for (const Mark& m : t.marks[c])
            if (m.barrier && m.event == barrier[c]) mix(m.state);
    std::map<std::tuple<int, int, int, int>, std::size_t> pending; // an id that only one of the runs has used counts as none pending
    for (const Counter& c : x.counters)
        if (const std::size_t n = count(c.sets) - count(c.waits)) pending[{c.mode, c.id, c.from, c.to}] = n;
    for (const Flag& f : x.flags)
        if (const std::size_t n = count(f.sets) - count(f.waits)) pending[{100 + f.core, f.id, f.set_pipe, f.wait_pipe}] = n;
    for (const Lock& l : x.locks) {
        std::size_t held = 0;
        for (const Ticket& k : l.tickets) held += before(k.acquire) && (k.release < 0 || !before(k.release));
        if (held) pending[{200, l.id, l.core, 0}] = held;
    }
    for (std::size_t i = 0; i < t.events.size(); ++i) {
        const Event& e = t.events[i];
        if (e.unit_final && before(std::int32_t(i))) pending[{300, e.core, int(e.unit), 0}] += e.unit_matmul ? std::size_t(1) : std::size_t(-1);
    }
    std::erase_if(pending, [](const auto& p) { return p.second == 0; });
    for (const auto& [key, n] : pending) mix(std::size_t(std::get<0>(key)) * 1000003 + std::size_t(std::get<1>(key)) * 8191 + std::size_t(std::get<2>(key)) * 131 + std::size_t(std::get<3>(key))), mix(n);
    return h;
}

std::set<std::pair<std::int32_t, bool>> unsettled_counters(const SyncIndex& x, const Firing& f, const std::vector<Rhythm>& rhythms, const std::vector<std::int64_t>& trips) {
    const Trace& t = x.trace;
    std::set<std::pair<std::int32_t, bool>> out;
    for (const Counter& c : x.counters) {
        for (std::int32_t s : c.sets) {
            // Waits before `limit` are a whole period away from this set.
            const Position at = t.events[std::size_t(s)].position();
            std::optional<Position> limit;
            std::int32_t k = at.segment / 2; // loops before k are passed
            if (at.segment % 2 && at.iteration - rhythms[std::size_t(k)].period >= rhythms[std::size_t(k)].warm_up)
                limit = Position{at.segment, at.iteration - rhythms[std::size_t(k)].period};
            for (--k; !limit && k >= 0; --k)
                if (trips[std::size_t(k)] - rhythms[std::size_t(k)].period >= rhythms[std::size_t(k)].warm_up)
                    limit = Position{std::int16_t(2 * k + 1), trips[std::size_t(k)] - rhythms[std::size_t(k)].period};
            if (!limit) continue;
            const Clock& known = f.start[std::size_t(s)];
            for (std::int32_t w : c.waits) {
                const Event& e = t.events[std::size_t(w)];
                if (!(e.position() < *limit)) break;
                if (known[std::size_t(e.lane())] >= e.index) continue;
                out.emplace(c.id, t.cores[std::size_t(c.to)].kind == isa::Core::vector);
                break;
            }
        }
    }
    return out;
}

} // namespace pto::verify
