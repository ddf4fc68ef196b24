#include "engine/verify/trace.hpp"

#include "engine/verify/growth.hpp"

#include <algorithm>
#include <unordered_map>

namespace pto::verify {
namespace {

using isa::Semantics;

std::int64_t attribute(const program::OpInstance& op, std::string_view name, std::int64_t otherwise, bool* known = nullptr) {
    const int k = op.row ? op.row->keyword_index(name) : -1;
    if (k < 0 || std::size_t(k) >= op.attributes.size() || op.attributes[std::size_t(k)].kind != program::OperandInstance::Kind::scalar) return otherwise;
    const program::Scalar& s = op.attributes[std::size_t(k)].scalar;
    if (known) *known = *known && s.known;
    return s.integer;
}

std::size_t hash_of(std::int8_t owner, isa::MemorySpace memory, bool exact, const isa::Footprint& fp) {
    std::size_t h = std::size_t(owner + 2) * 1000003u + std::size_t(memory) * 31 + exact;
    const auto mix = [&](std::int64_t x) { h = (h ^ std::size_t(x)) * 0x9E3779B97F4A7C15ull, h ^= h >> 29; };
    for (const isa::Strided& s : fp) {
        mix(s.base), mix(s.run_bytes);
        for (int k = 0; k < 3; ++k) mix(s.counts[std::size_t(k)]), mix(s.strides[std::size_t(k)]);
    }
    return h;
}
bool same(const isa::Footprint& a, const isa::Footprint& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
        if (!(a.pieces[std::size_t(i)] == b.pieces[std::size_t(i)])) return false;
    return true;
}

class Tracer {
  public:
    Tracer(const std::vector<TraceCore>& cores, const LoopPlan& loops, const Policy& policy, std::int64_t limit) : m_loops(loops), m_policy(policy), m_limit(limit) {
        m_out.cores = cores;
    }

    Trace run(const program::Program& program, program::CoreSetup setup) {
        m_out.guesses.resize(program.cores.size());
        for (std::size_t c = 0; c < m_out.cores.size(); ++c) {
            TraceCore& core = m_out.cores[c];
            core.first_event = std::int32_t(m_out.events.size());
            setup.subblock = core.subblock;
            const std::size_t side = m_side = std::size_t(core.code - program.cores.data());
            walk(std::int8_t(c), program::Sequencer(core.prepared, setup), m_loops.class_of[side]);
            core.last_event = std::int32_t(m_out.events.size());
        }
        return std::move(m_out);
    }

  private:
    void stop(std::string why) {
        if (m_out.complete) m_out.problem = std::move(why);
        m_out.complete = false;
    }
    void guess(std::int32_t& counter, std::int32_t instr) {
        m_out.guesses[m_side].insert(instr);
        ++counter;
    }

    /// Where each instruction stands in the sequence of task loops. A core without one of the loops passes it early.
    void lay_out(const program::CoreCode& code, const std::map<std::int32_t, std::int32_t>& classes) {
        m_segment.assign(code.code.size() + 1, 0);
        m_task_loops.assign(m_loops.sequence.size(), -1);
        for (std::size_t k = 0; k < m_loops.sequence.size(); ++k)
            for (const auto& [loop, cls] : classes)
                if (cls == m_loops.sequence[k]) m_task_loops[k] = loop;
        for (const program::Instr& i : code.code) {
            if (i.kind != program::InstrKind::loop_enter) continue;
            const auto k = std::find(m_task_loops.begin(), m_task_loops.end(), i.loop) - m_task_loops.begin();
            if (std::size_t(k) == m_task_loops.size()) continue;
            const auto enter = std::size_t(&i - code.code.data());
            for (std::size_t n = enter + 1; n < m_segment.size(); ++n) m_segment[n] = std::int16_t(2 * k + (n < std::size_t(i.target) ? 1 : 2));
        }
    }

    void walk(std::int8_t core, program::Sequencer s, const std::map<std::int32_t, std::int32_t>& classes) {
        for (const auto& [loop, cls] : classes)
            if (m_loops.trips[std::size_t(cls)] >= 0) s.force_trips(loop, m_loops.trips[std::size_t(cls)]);
        lay_out(s.core(), classes);
        const Watch* watch = m_loops.watches ? &(*m_loops.watches)[m_side] : nullptr;
        if (watch)
            for (std::int32_t loop : m_task_loops)
                if (loop >= 0) s.watch_loop(loop);
        m_out.marks.emplace_back();
        auto& marks = m_out.marks.back();
        std::map<Span, std::int64_t> asked; // branches are decided by place and occurrence, so both cores decide alike
        std::array<std::int32_t, pipe_count> on_pipe{};
        const std::int64_t first = std::int64_t(m_out.events.size());
        std::int64_t quiet = 0, unanswered = 0; // scalar instructions, and choices made for unknown values, since the last operation
        for (;;) {
            switch (s.next(1'000'000)) {
            case program::Step::budget:
                if (s.begun_loop() >= 0) {
                    const auto k = std::find(m_task_loops.begin(), m_task_loops.end(), s.begun_loop()) - m_task_loops.begin();
                    marks.push_back({{std::int16_t(2 * k + 1), s.loop_trip(s.begun_loop())}, std::int32_t(m_out.events.size()), false, watch->digest(s)});
                    if (marks.size() >= std::size_t(m_limit)) return stop("more iterations than the limit of one run");
                } else if (++quiet >= 20) return stop("a scalar loop does not end");
                break;
            case program::Step::finished: return note_bounds(s, classes);
            case program::Step::fault:
                m_out.faults.push_back(s.fault());
                return stop(s.fault().message);
            case program::Step::question: {
                // A choice that keeps a loop going would keep it going for ever.
                if (++unanswered > m_limit) return stop("a scalar loop does not end when its condition is never met");
                const program::Question& q = s.question();
                switch (q.kind) {
                case program::Question::Kind::branch:
                case program::Question::Kind::choice: {
                    guess(m_out.guessed_branches, q.instr);
                    const std::int64_t n = asked[q.at]++;
                    using B = Policy::Branch;
                    s.answer(m_policy.branch == B::taken || (m_policy.branch == B::even && n % 2 == 0) || (m_policy.branch == B::odd && n % 2 == 1));
                    break;
                }
                case program::Question::Kind::trips:
                    guess(m_out.guessed_trips, q.instr);
                    s.answer(m_policy.inner_trips);
                    break;
                case program::Question::Kind::slot:
                    guess(m_out.guessed_slots, q.instr);
                    s.answer(0);
                    break;
                }
                break;
            }
            case program::Step::issue: {
                quiet = unanswered = 0;
                if (std::int64_t(m_out.events.size()) - first >= m_limit) return stop("more operations than the limit of one run");
                const std::int16_t segment = m_segment[std::size_t(s.instruction_pointer() - 1)];
                const Position at{segment, segment % 2 ? s.loop_trip(m_task_loops[std::size_t(segment / 2)]) : -1};
                issue(core, s, on_pipe, at);
                const bool barrier = segment % 2 == 0 && m_out.events.back().act == Act::sync_all;
                if (watch && segment % 2 == 0 && (barrier || marks.empty() || marks.back().at != at))
                    marks.push_back({at, std::int32_t(m_out.events.size()) - 1, barrier, watch->digest(s)});
                if (s.needs_value()) s.supply_unknown();
                break;
            }
            }
        }
    }

    void note_bounds(const program::Sequencer& s, const std::map<std::int32_t, std::int32_t>& classes) {
        for (const auto& [loop, cls] : classes)
            if (s.bound_trips(loop) >= 0) m_out.bounds[cls] = std::max(m_out.bounds[cls], s.bound_trips(loop));
    }

    void issue(std::int8_t core, const program::Sequencer& s, std::array<std::int32_t, pipe_count>& on_pipe, const Position& at) {
        const program::OpInstance& op = s.current();
        const std::int32_t core_first = m_out.cores[std::size_t(core)].first_event;
        Event e;
        e.stmt = op.stmt, e.row = op.row, e.core = core;
        e.pipe = std::int8_t(op.pipe == isa::Pipe::all ? isa::Pipe::s : op.pipe);
        e.order = std::int32_t(m_out.events.size()) - core_first;
        e.stage = op.stage, e.task = op.task, e.segment = at.segment, e.iteration = at.iteration;
        e.lock_count = op.lock_count;
        for (int k = 0; k < op.lock_count; ++k) e.locks[std::size_t(k)] = std::int8_t(op.locks[std::size_t(k)]);
        bool known = true;
        const Semantics what = op.row ? op.row->semantics : Semantics::none;
        switch (what) {
        case Semantics::flag_set:
        case Semantics::flag_wait:
            e.act = what == Semantics::flag_set ? Act::flag_set : Act::flag_wait;
            e.set_pipe = std::int8_t(attribute(op, "set_pipe", 0)), e.wait_pipe = std::int8_t(attribute(op, "wait_pipe", 0));
            e.id = std::int16_t(attribute(op, "event_id", 0, &known));
            break;
        case Semantics::cross_set:
        case Semantics::cross_wait:
            e.act = what == Semantics::cross_set ? Act::cross_set : Act::cross_wait;
            e.mode = std::uint8_t(attribute(op, "sync_mode", std::int64_t(isa::CrossCoreSyncMode::intra_block)));
            e.id = std::int16_t(attribute(op, "event_id", 0, &known));
            break;
        case Semantics::barrier: e.act = op.pipe == isa::Pipe::all ? Act::barrier_all : Act::barrier; break;
        case Semantics::sync_all:
            e.act = Act::sync_all;
            e.mode = std::uint8_t(attribute(op, "core_type", std::int64_t(isa::SyncCoreType::mix)));
            break;
        case Semantics::mutex_lock:
        case Semantics::mutex_unlock:
            e.act = what == Semantics::mutex_lock ? Act::lock : Act::unlock;
            e.id = std::int16_t(attribute(op, "mutex_id", 0, &known));
            break;
        case Semantics::matmul:
        case Semantics::matmul_acc:
        case Semantics::matmul_mx:
        case Semantics::matmul_mx_acc:
        case Semantics::store: {
            const std::int64_t phase = attribute(op, "phase", 0);
            const std::size_t acc = what == Semantics::store ? 1 : 0;
            if (phase != 0 && op.operands.size() > acc && op.operands[acc].kind == program::OperandInstance::Kind::tile &&
                op.operands[acc].tile.type->memory == isa::MemorySpace::acc) {
                (what == Semantics::store ? e.unit_store : e.unit_matmul) = true;
                e.unit_final = phase == std::int64_t(isa::AccPhase::final);
                e.unit = op.operands[acc].tile.address;
            }
            break;
        }
        default: break;
        }
        if (!known) guess(m_out.guessed_slots, s.instruction_pointer() - 1); // an id nobody knows: 0 stands for it
        e.index = ++on_pipe[std::size_t(e.pipe)];
        e.first_access = std::int32_t(m_out.accesses.size());
        if (e.act == Act::work) accesses(core, op, *s.core().function);
        e.access_count = std::int32_t(m_out.accesses.size()) - e.first_access;
        m_out.events.push_back(e);
    }

    void accesses(std::int8_t core, const program::OpInstance& op, const ir::Function& f) {
        m_regions.clear();
        program::append_regions(op, f, m_regions);
        for (const program::ByteRegion& r : m_regions) {
            if (r.bytes.count == 0) continue;
            if (r.vector_cores && m_out.cores.size() > 1) {
                for (std::size_t c = 0; c < m_out.cores.size(); ++c)
                    if (m_out.cores[c].kind == isa::Core::vector && (r.vector_cores >> m_out.cores[c].subblock) & 1) add(std::int8_t(c), r);
            } else if (r.memory == isa::MemorySpace::ddr) add(-1, r);
            else if (r.memory != isa::MemorySpace::vec) add(cube_or(core), r); // a vector core reaches the L1 of its block's cube
            else add(core, r);
        }
    }
    std::int8_t cube_or(std::int8_t core) const {
        for (std::size_t c = 0; c < m_out.cores.size(); ++c)
            if (m_out.cores[c].kind == isa::Core::cube) return std::int8_t(c);
        return core;
    }
    void add(std::int8_t owner, const program::ByteRegion& r) {
        Access a;
        a.event = std::int32_t(m_out.events.size());
        a.write = r.write, a.atomic = r.atomic, a.operand = r.operand, a.slot = std::int16_t(r.decl.valid() ? r.slot : -1);
        a.tensor = r.tensor, a.decl = r.decl;
        a.footprint = intern(owner, r);
        m_out.accesses.push_back(a);
    }
    std::int32_t intern(std::int8_t owner, const program::ByteRegion& r) {
        const std::size_t h = hash_of(owner, r.memory, r.exact, r.bytes);
        auto [begin, end] = m_interned.equal_range(h);
        for (auto it = begin; it != end; ++it) {
            const Bytes& b = m_out.bytes[std::size_t(it->second)];
            if (b.owner == owner && b.memory == r.memory && b.exact == r.exact && same(b.set, r.bytes)) return it->second;
        }
        m_out.bytes.push_back({owner, r.memory, r.exact, r.bytes, r.bytes.first(), r.bytes.last()});
        m_interned.emplace(h, std::int32_t(m_out.bytes.size()) - 1);
        return std::int32_t(m_out.bytes.size()) - 1;
    }

    const LoopPlan& m_loops;
    const Policy& m_policy;
    std::int64_t m_limit;
    Trace m_out;
    std::size_t m_side = 0;
    std::vector<std::int32_t> m_task_loops; // loop of each class in the sequence, -1 when this core has none
    std::vector<std::int16_t> m_segment;    // per instruction
    std::vector<program::ByteRegion> m_regions;
    std::unordered_multimap<std::size_t, std::int32_t> m_interned;
};

} // namespace

std::vector<TraceCore> block_cores(const program::Program& program) {
    std::vector<TraceCore> cores;
    for (const program::CoreCode& code : program.cores) {
        const auto prepared = program::prepare(program, code);
        const int copies = code.core == isa::Core::vector ? program.kernel->subblocks() : 1;
        for (int s = 0; s < copies; ++s) cores.push_back({code.core, s, &code, prepared});
    }
    return cores;
}

Trace trace(const program::Program& program, const std::vector<TraceCore>& cores, const LoopPlan& loops, const program::CoreSetup& setup, const Policy& policy,
            std::int64_t event_limit) {
    return Tracer(cores, loops, policy, event_limit).run(program, setup);
}

} // namespace pto::verify
