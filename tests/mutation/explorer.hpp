#pragma once
/// Every interleaving of a small program, by brute force over states: the oracle that mutation tests hold verify against.
///
/// Shares nothing with engine/verify: it walks the cores itself, keeps bytes as bit sets, and visits every reachable state of the pipes.
/// One operation of a pipe is in flight at a time: what a pipe starts behind an unfinished operation cannot reach another pipe,
/// because sets and releases act after everything earlier. The second vector core is left out where it mirrors the first.

#include "engine/program/footprint.hpp"
#include "engine/program/sequencer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace pto::testing {

struct Exploration {
    bool complete = true;   // every state was visited
    std::size_t states = 0;
    bool race = false, hang = false, overflow = false, left = false;
    std::string what;       // first violation
    bool safe() const { return !race && !hang && !overflow && !left; }
};

class Explorer {
  public:
    explicit Explorer(const program::Program& program) {
        for (const program::CoreCode& code : program.cores) walk(program, code);
        find_conflicts();
    }

    Exploration run(std::size_t state_limit) {
        Exploration out;
        if (m_lanes.size() > 8) return out.complete = false, out;
        std::unordered_set<State, Hash> seen{State{}};
        std::vector<State> open{State{}};
        while (!open.empty()) {
            if (!out.safe()) return out; // one violation is enough
            const State s = open.back();
            open.pop_back();
            ++out.states;
            bool moved = false;
            for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) {
                State next = s;
                if (s.flying[lane]) next.flying[lane] = 0, ++next.head[lane]; // completes
                else if (s.head[lane] < m_lanes[lane].size() && can_start(s, m_lanes[lane][s.head[lane]])) {
                    const Op& op = m_ops[m_lanes[lane][s.head[lane]]];
                    if (op.touches) {
                        next.flying[lane] = 1;
                        for (std::size_t other = 0; other < m_lanes.size(); ++other)
                            if (other != lane && s.flying[other] && m_conflict.count({std::min(m_lanes[lane][s.head[lane]], m_lanes[other][s.head[other]]),
                                                                                      std::max(m_lanes[lane][s.head[lane]], m_lanes[other][s.head[other]])})) {
                                if (out.safe()) out.what = op.name + " with " + m_ops[m_lanes[other][s.head[other]]].name;
                                out.race = true;
                            }
                    } else ++next.head[lane];
                } else continue;
                moved = true;
                if (seen.insert(next).second) {
                    for (const auto& [id, sets] : m_sets)
                        if (sets.size() > 15 && done_count(next, sets) - done_count(next, m_waits[id]) > 15) out.overflow = true;
                    if (seen.size() >= state_limit) return out.complete = false, out;
                    open.push_back(next);
                }
            }
            if (moved) continue;
            bool all = true;
            for (std::size_t lane = 0; lane < m_lanes.size(); ++lane) all = all && s.head[lane] == m_lanes[lane].size();
            if (!all) out.hang = true;
            else
                for (const auto& [id, sets] : m_sets)
                    if (sets.size() != m_waits[id].size()) out.left = true;
        }
        return out;
    }
    std::size_t operations() const { return m_ops.size(); }

  private:
    struct Op {
        std::size_t lane = 0, at = 0; // position on its lane
        int core = 0, pipe = 0;
        std::string name;
        int wait = -1, set = -1;      // counter: id, or id + 100 for the other direction
        std::size_t nth = 0;          // of its waits
        std::vector<int> locks;
        struct Touch {
            isa::MemorySpace memory;
            bool write;
            std::vector<std::pair<std::int64_t, std::int64_t>> runs; // sorted, half-open
        };
        std::vector<Touch> bytes;
        bool touches = false;
    };
    struct State {
        std::array<std::uint16_t, 8> head{}; // operations complete on each lane
        std::array<std::uint8_t, 8> flying{};
        bool operator==(const State&) const = default;
    };
    struct Hash {
        std::size_t operator()(const State& s) const {
            std::size_t h = 0;
            for (std::size_t i = 0; i < 8; ++i) h = (h ^ (std::size_t(s.head[i]) * 2 + s.flying[i])) * 0x9E3779B97F4A7C15ull, h ^= h >> 31;
            return h;
        }
    };
    bool done(const State& s, std::size_t op) const { return m_ops[op].at < s.head[m_ops[op].lane]; }
    std::size_t done_count(const State& s, const std::vector<std::size_t>& ops) const {
        std::size_t n = 0;
        for (std::size_t o : ops) n += done(s, o);
        return n;
    }
    bool can_start(const State& s, std::size_t i) {
        const Op& op = m_ops[i];
        if (op.wait >= 0 && done_count(s, m_sets[op.wait]) <= done_count(s, m_waits[op.wait])) return false;
        for (int id : op.locks)
            for (std::size_t other : m_holders[{op.core, id}]) {
                if (other == i) break; // program order
                if (m_ops[other].pipe != op.pipe && !done(s, other)) return false;
            }
        return true;
    }

    void walk(const program::Program& program, const program::CoreCode& code) {
        const int core = code.core == isa::Core::cube ? 0 : 1;
        program::CoreSetup setup;
        for (std::size_t k = 0; k < program.kernel->params.size(); ++k) {
            program::ParamValue p;
            p.known = true, p.address = std::int64_t(k + 1) << 32;
            for (const ir::Dim& d : program.kernel->params[k].dims) p.shape.push_back(d.size);
            setup.params.push_back(p);
        }
        program::Sequencer s(program::prepare(program, code), setup);
        while (s.next(1 << 20) == program::Step::issue) {
            const program::OpInstance& in = s.current();
            Op op;
            op.core = core, op.pipe = int(in.pipe);
            auto [lane, fresh] = m_lane_of.emplace(std::pair{core, op.pipe}, m_lanes.size());
            if (fresh) m_lanes.emplace_back();
            op.lane = lane->second, op.at = m_lanes[op.lane].size();
            op.name = std::string(core ? "vector " : "cube ") + std::string(in.row ? in.row->name : "call") + " task " + std::to_string(in.task);
            const std::size_t self = m_ops.size();
            const auto semantics = in.row ? in.row->semantics : isa::Semantics::none;
            if (semantics == isa::Semantics::cross_set || semantics == isa::Semantics::cross_wait) {
                const int id = int(in.attributes[std::size_t(in.row->keyword_index("event_id"))].scalar.integer);
                const bool set = semantics == isa::Semantics::cross_set;
                const int counter = id + ((core == 0) == set ? 0 : 100);
                (set ? op.set : op.wait) = counter;
                (set ? m_sets : m_waits)[counter].push_back(self);
                m_sets[counter], m_waits[counter];
            } else {
                for (int k = 0; k < in.lock_count; ++k) op.locks.push_back(in.locks[std::size_t(k)]), m_holders[{core, in.locks[std::size_t(k)]}].push_back(self);
                std::vector<program::ByteRegion> regions;
                program::append_regions(in, *code.function, regions);
                for (const auto& r : regions) {
                    if (r.memory == isa::MemorySpace::vec && core == 0 && !(r.vector_cores & 1)) continue; // the other vector core
                    Op::Touch touch{r.memory, r.write, {}};
                    isa::for_each_interval(r.bytes, [&](std::int64_t first, std::int64_t n) { touch.runs.emplace_back(first, first + n); });
                    std::sort(touch.runs.begin(), touch.runs.end());
                    op.bytes.push_back(std::move(touch));
                }
            }
            m_lanes[op.lane].push_back(self);
            m_ops.push_back(std::move(op));
            if (s.needs_value()) s.supply_unknown();
        }
    }
    void find_conflicts() {
        for (std::size_t a = 0; a < m_ops.size(); ++a)
            for (std::size_t b = a + 1; b < m_ops.size(); ++b) {
                if (m_ops[a].lane == m_ops[b].lane || !share(m_ops[a], m_ops[b])) continue;
                m_conflict.insert({a, b});
                m_ops[a].touches = m_ops[b].touches = true;
            }
    }
    static bool share(const Op& a, const Op& b) {
        for (const Op::Touch& x : a.bytes)
            for (const Op::Touch& y : b.bytes) {
                if (x.memory != y.memory || !(x.write || y.write)) continue;
                for (std::size_t i = 0, j = 0; i < x.runs.size() && j < y.runs.size();) {
                    if (x.runs[i].second <= y.runs[j].first) ++i;
                    else if (y.runs[j].second <= x.runs[i].first) ++j;
                    else return true;
                }
            }
        return false;
    }

    std::vector<Op> m_ops;
    std::vector<std::vector<std::size_t>> m_lanes;
    std::map<std::pair<int, int>, std::size_t> m_lane_of;
    std::map<int, std::vector<std::size_t>> m_sets, m_waits;
    std::map<std::pair<int, int>, std::vector<std::size_t>> m_holders;
    std::set<std::pair<std::size_t, std::size_t>> m_conflict;
};

} // namespace pto::testing
