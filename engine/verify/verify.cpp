/// The verdict: which task counts are run, and when they stand for all.

#include "engine/verify/verify.hpp"

#include "engine/verify/findings.hpp"
#include "engine/verify/periodic.hpp"
#include "engine/verify/protect.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

constexpr std::int64_t one_run_limit = 20'000; // operations of one core in one run
constexpr std::int64_t tensor_spacing = std::int64_t(1) << 40;

program::CoreSetup setup_of(const program::Program& program, const VerifyOptions& options) {
    program::CoreSetup s;
    s.block_num = options.block_num > 0 ? options.block_num : 1;
    s.params = options.params;
    s.params.resize(program.kernel->params.size());
    for (std::size_t k = 0; k < s.params.size(); ++k) {
        program::ParamValue& p = s.params[k];
        const ir::Param& decl = program.kernel->params[k];
        const bool memory = decl.kind == ir::ParamKind::tensor || decl.kind == ir::ParamKind::pointer;
        if (p.known || !memory) continue;
        // A tensor's place is unknown but its own (A4): any address far from the others stands for it.
        p.known = true;
        p.address = tensor_spacing * std::int64_t(k + 1);
        for (const ir::Dim& d : decl.dims) p.shape.push_back(d.dynamic ? -1 : d.size);
    }
    return s;
}

class Verifier {
  public:
    Verifier(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options)
        : m_program(program), m_chip(chip), m_options(options), m_findings(options.hazard_limit), m_cores(block_cores(program)), m_loops(find_loops(program)),
          m_setup(setup_of(program, options)), m_left(options.event_limit) {}

    Verdict run() {
        m_plan.class_of = m_loops.class_of;
        m_plan.trips.assign(m_loops.classes.size(), -1);
        const Trace first = trace_once({});
        m_guesses.resize(m_program.cores.size());
        add_guesses(first);
        m_protection = protect(m_program);
        std::vector<std::int32_t> open; // classes whose length nobody knows
        for (std::size_t c = 0; c < m_loops.classes.size(); ++c)
            if (!first.bounds.count(std::int32_t(c))) open.push_back(std::int32_t(c));
        const bool cut = !first.complete && first.faults.empty();
        if (!m_protection.any && first.faults.empty()) protected_by_locks(first);
        else if (open.empty() && !cut) single(first);
        else if (!first.faults.empty()) judge(first, 0), m_reason = "the scalar code fails: " + first.problem;
        else sweep(open, first, cut);
        return finish();
    }

  private:
    // ---------------------------------------------------------------- runs

    Trace trace_once(const Policy& policy) {
        Trace t = trace(m_program, m_cores, m_plan, m_setup, policy, std::min(one_run_limit, std::max<std::int64_t>(m_left, 1)));
        m_left -= std::int64_t(t.events.size());
        return t;
    }
    /// Traces, fires and checks one run.
    Trace look(const Policy& policy, std::int64_t tasks) {
        Trace t = trace_once(policy);
        judge(t, tasks);
        return t;
    }
    void judge(const Trace& t, std::int64_t tasks) {
        ++m_runs, m_events += std::int64_t(t.events.size());
        for (const program::Fault& f : t.faults) {
            if (t.guessed_branches + t.guessed_slots + t.guessed_trips > 0) continue; // a guess may have led there
            if (Hazard* h = m_findings.open(HazardKind::scalar_fault, f.message, "", f.at.begin))
                h->first.at = f.at, h->first.sequence = 0, h->message = f.message, h->tasks = tasks;
        }
        const SyncIndex index(t, m_chip);
        const Firing f = fire(index, true);
        check_sync(index, f, m_chip, tasks, m_findings);
        if (index.persistent) check_races(index, f, tasks, m_options.same_pipe, m_findings);
        else rivals(index, f, tasks);
        note(t, index, f);
    }

    /// Several pipes set or await one id: clocks do not decide; every choice does, for small counts (A6).
    void rivals(const SyncIndex& index, const Firing& f, std::int64_t tasks) {
        m_persistent = false;
        const Trace& t = index.trace;
        if (m_choice_work <= 0) {
            m_explored_all = false;
            return;
        }
        const auto follow = [&](std::int32_t a, std::int32_t b) {
            Choices c = explore(index, a, b, m_choice_work);
            m_choice_work -= c.work;
            return c;
        };
        const Choices all = follow(-1, -1);
        if (all.stuck && t.complete) describe_hang(index, all.stuck_run, tasks, m_findings);
        bool complete = all.complete;
        std::set<std::pair<std::string, std::string>> found;
        for (std::size_t a = 0; a < t.accesses.size(); ++a)
            for (std::size_t b = a + 1; b < t.accesses.size(); ++b) {
                const Access &x = t.accesses[a], &y = t.accesses[b];
                if (!(x.write || y.write) || (x.atomic && y.atomic) || x.event == y.event) continue;
                const Bytes &bx = t.bytes[std::size_t(x.footprint)], &by = t.bytes[std::size_t(y.footprint)];
                if (bx.owner != by.owner || bx.memory != by.memory || bx.last <= by.first || by.last <= bx.first || !bx.exact || !by.exact) continue;
                const Event &ex = t.events[std::size_t(x.event)], &ey = t.events[std::size_t(y.event)];
                if (ex.lane() == ey.lane() || share_lock(ex, ey) || !isa::overlap(bx.set, by.set)) continue;
                auto places = std::pair{place_key(t, x.event, x.operand), place_key(t, y.event, y.operand)};
                if (found.count(places)) continue;
                const Choices both = follow(x.event, y.event);
                complete = complete && both.complete;
                if (m_choice_work <= 0) {
                    m_explored_all = false;
                    return;
                }
                if (!both.both_start) continue;
                found.insert(places);
                if (Hazard* h = m_findings.open(HazardKind::race, places.first, places.second, std::int64_t(bx.memory))) describe_race(index, f, x, y, tasks, *h);
            }
        if (complete) m_explored = std::max(m_explored, tasks);
        else m_explored_all = false;
    }
    static bool share_lock(const Event& a, const Event& b) {
        if (a.core != b.core) return false;
        for (int k = 0; k < a.lock_count; ++k)
            for (int j = 0; j < b.lock_count; ++j)
                if (a.locks[std::size_t(k)] == b.locks[std::size_t(j)]) return true;
        return false;
    }

    void note(const Trace& t, const SyncIndex& index, const Firing& f) {
        add_guesses(t);
        for (const Event& e : t.events)
            m_grid = m_grid || e.act == Act::sync_all || ((e.act == Act::cross_set || e.act == Act::cross_wait) && e.mode == std::uint8_t(isa::CrossCoreSyncMode::inter_block));
        for (const Counter& c : index.counters) {
            const bool to_vector = t.cores[std::size_t(c.to)].kind == isa::Core::vector;
            if (c.from != c.to && t.cores[std::size_t(to_vector ? c.to : c.from)].subblock != 0) continue;
            auto [it, fresh] = m_ids.emplace(std::pair{c.id, to_vector}, IdFacts{});
            IdFacts& i = it->second;
            i.id = c.id, i.to_vector = to_vector;
            const std::int64_t pending = f.finished ? max_pending(index, f, c) : 0;
            if (std::int64_t(c.sets.size()) >= i.sets) {
                i.sets = std::int64_t(c.sets.size()), i.waits = std::int64_t(c.waits.size());
                if (!c.sets.empty()) i.set_pipe = isa::name(isa::Pipe(t.events[std::size_t(c.sets.front())].pipe));
                if (!c.waits.empty()) i.wait_pipe = isa::name(isa::Pipe(t.events[std::size_t(c.waits.front())].pipe));
            }
            i.max_pending = std::max(i.max_pending, pending);
        }
    }

    void add_guesses(const Trace& t) {
        for (std::size_t side = 0; side < t.guesses.size(); ++side)
            for (std::int32_t i : t.guesses[side]) {
                const program::Instr& in = m_program.cores[side].code[std::size_t(i)];
                if (in.kind != program::InstrKind::loop_enter || !m_loops.class_of[side].count(in.loop)) m_guesses[side].insert(i);
            }
    }
    std::optional<std::string> harmless(const std::vector<Around>& around) { return guesses_are_harmless(m_program, m_protection, m_guesses, around, m_outputs_move); }
    bool encloses(std::int32_t outer, std::int32_t inner) const {
        for (inner = m_loops.classes[std::size_t(inner)].parent; inner >= 0; inner = m_loops.classes[std::size_t(inner)].parent)
            if (inner == outer) return true;
        return false;
    }
    /// On each core, the outermost open loop without the task loop.
    std::vector<Around> code_around(const std::vector<std::int32_t>& open, std::int32_t inner) const {
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
    bool guessed() const {
        return std::any_of(m_guesses.begin(), m_guesses.end(), [](const auto& g) { return !g.empty(); });
    }
    /// Other decisions of what is unknown: they find hazards, the argument never rests on them.
    void other_choices(std::int64_t tasks) {
        for (auto b : {Policy::Branch::taken, Policy::Branch::skipped, Policy::Branch::even, Policy::Branch::odd})
            if (m_left > 0) look({b, 2}, tasks);
        for (std::int64_t n : {std::int64_t(0), std::int64_t(1), std::int64_t(3), 2 * std::min<std::int64_t>(m_loops.period, 8)})
            if (m_left > 0) look({Policy::Branch::taken, n}, tasks);
    }

    // ---------------------------------------------------------------- programs that locks alone put in order

    void protected_by_locks(const Trace& first) {
        judge(first, 0);
        if (guessed()) other_choices(0);
        m_text = "on every control path, operations that share bytes share a lock or a pipe";
    }

    // ---------------------------------------------------------------- programs whose lengths are known

    void single(const Trace& first) {
        judge(first, 0);
        if (guessed()) {
            other_choices(0);
            look({Policy::Branch::skipped, 0}, 0);
            if (auto why = harmless({})) m_reason = *why;
        }
        if (!m_persistent && !m_explored_all) m_reason = "several pipes await one event id, and not every order could be followed";
        m_text = "this program, " + std::to_string(m_events) + " operations of one block";
    }

    // ---------------------------------------------------------------- programs for any number of tasks

    void sweep(const std::vector<std::int32_t>& open_classes, const Trace& first, bool cut) {
        std::vector<std::int32_t> open = open_classes;
        if (open.empty()) // all lengths are known but too long: shorter runs stand for them
            for (std::size_t c = 0; c < m_loops.classes.size(); ++c) open.push_back(std::int32_t(c));
        if (open.empty()) {
            m_reason = "one run is cut short: " + first.problem;
            return;
        }
        // One task loop, perhaps inside others: what stands around it may run any number of times between its iterations.
        std::int32_t inner = open.front();
        for (std::int32_t c : open)
            if (m_loops.classes[std::size_t(c)].innermost) inner = c;
        bool one = !cut;
        for (std::int32_t c : open) one = one && (c == inner || encloses(c, inner));
        const std::vector<Around> around = one ? code_around(open, inner) : std::vector<Around>{};
        const std::int64_t period = m_loops.period, warm_up = m_loops.reach + 2, last = warm_up + 2 * period;
        m_plan.sweeping = one ? inner : -1;
        const auto set_all = [&](std::int64_t inner, std::int64_t outer) {
            for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = m_loops.classes[std::size_t(c)].innermost ? inner : outer;
        };
        // Guessed code that only holds protected operations is left out: what it adds is ordered by locks, and it orders nothing (A7).
        Policy primary;
        if (guessed() && !harmless(around)) primary = {Policy::Branch::skipped, 0};
        std::vector<StreamShape> shapes;
        std::optional<std::string> open_windows;
        bool complete = true, forward = true;
        std::int64_t tried = -1;
        std::map<std::pair<std::int32_t, bool>, std::int64_t> pending_before;
        for (std::int64_t tasks = 0; tasks <= last && m_left > 0; ++tasks) {
            set_all(tasks, 1);
            if (tasks == last - period + 1) for (const auto& [key, i] : m_ids) pending_before[key] = i.max_pending;
            const Trace t = look(primary, tasks);
            m_tasks.insert(tasks);
            complete = complete && t.complete;
            if (t.complete) tried = tasks;
            if (one) {
                shapes.push_back(shape_of(t));
                forward = forward && pairings_go_forward(SyncIndex(t, m_chip));
                if (tasks == last) open_windows = windows_stay_close(t, warm_up, period);
            }
            if (stop_early()) break;
        }
        m_checked = tried;
        if (!stop_early()) {
            for (auto& [key, i] : m_ids)
                if (auto p = pending_before.find(key); p != pending_before.end() && i.max_pending > p->second) i.growing = true;
            growing_ids(tried);
            if (open.size() > 1) nested(open, warm_up);
            if (guessed()) set_all(std::min(tried, warm_up + 1), 1), other_choices(std::min(tried, warm_up + 1));
        }
        m_period = period, m_warm_up = warm_up;

        if (cut) m_reason = "the loops are longer than the work limit";
        else if (!complete || tried < last) m_reason = "the work limit ended the search";
        else if (!one) m_reason = "more than one loop of unknown length carries synchronisation";
        else if (!m_persistent) m_reason = "several pipes await one event id";
        else if (auto why = harmless(around)) m_reason = *why;
        else if (m_loops.period_capped) m_reason = "the slots, ids and rings repeat together only after more tasks than are run";
        else if (auto why = counters_stay_modular(m_program, m_loops, m_plan.sweeping)) m_reason = *why;
        else if (!forward) m_reason = "a wait is served by a set of a later iteration";
        else if (auto why = repeats(shapes, warm_up, period)) m_reason = *why;
        else if (open_windows) m_reason = *open_windows;
    }

    bool stop_early() const { return m_findings.list().size() >= std::size_t(m_options.hazard_limit); }

    /// Iterations repeat with the period, and what stands before and after the loop depends on the count only through it.
    static std::optional<std::string> repeats(const std::vector<StreamShape>& shapes, std::int64_t warm_up, std::int64_t period) {
        const StreamShape& longest = shapes.back();
        for (std::size_t c = 0; c < longest.cores.size(); ++c) {
            const auto& l = longest.cores[c];
            for (std::size_t n = 0; n < shapes.size(); ++n) {
                const auto& s = shapes[n].cores[c];
                if (s.before != l.before) return "what precedes the loop depends on the number of tasks";
                for (std::size_t i = 0; i < s.iterations.size() && i < l.iterations.size(); ++i)
                    if (s.iterations[i] != l.iterations[i]) return "an iteration depends on the number of tasks";
                if (std::int64_t(n) >= warm_up && n + std::size_t(period) < shapes.size() && s.after != shapes[n + std::size_t(period)].cores[c].after)
                    return "what follows the loop does not repeat with the period";
            }
            for (std::size_t i = std::size_t(warm_up); i + std::size_t(period) < l.iterations.size(); ++i)
                if (l.iterations[i] != l.iterations[i + std::size_t(period)]) return "iterations do not repeat with the period";
        }
        return std::nullopt;
    }

    /// A bound that grows with every period passes any limit.
    void growing_ids(std::int64_t tasks) {
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

    /// Several loops: short nests and sequences of them.
    void nested(const std::vector<std::int32_t>& open, std::int64_t warm_up) {
        const auto go = [&](std::int64_t tasks) {
            if (m_left <= 0 || stop_early()) return;
            look({}, tasks);
            m_tasks.insert(tasks);
        };
        for (auto [inner, outer] : {std::pair<std::int64_t, std::int64_t>{1, warm_up}, {0, 2}, {3, 3}, {2, 0}, {1, 2}, {2, 5}}) {
            for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = m_loops.classes[std::size_t(c)].innermost ? inner : outer;
            go(inner * outer);
        }
        for (std::int32_t odd : open) {
            for (std::int32_t c : open) m_plan.trips[std::size_t(c)] = c == odd ? 0 : 3;
            go(3);
        }
    }

    // ---------------------------------------------------------------- the verdict

    Verdict finish() {
        Verdict v;
        v.hazards = std::move(m_findings.list());
        std::stable_sort(v.hazards.begin(), v.hazards.end(), [](const Hazard& a, const Hazard& b) { return a.is_error > b.is_error; });
        for (auto& [key, i] : m_ids) v.ids.push_back(i);
        v.coverage.runs = m_runs, v.coverage.events = m_events, v.coverage.pairs = m_findings.pairs;
        v.coverage.task_counts.assign(m_tasks.begin(), m_tasks.end());
        v.coverage.period = m_period, v.coverage.warm_up = m_warm_up;
        v.checked_tasks = std::max<std::int64_t>(m_persistent ? m_checked : std::min(m_checked, m_explored), 0);
        if (m_reason.empty() && std::any_of(v.hazards.begin(), v.hazards.end(), [](const Hazard& h) { return h.kind == HazardKind::flag_twice; }))
            m_reason = "a flag may be set again before its wait has cleared it, and a flag is one bit";
        if (!v.safe()) v.status = Status::refused;
        else if (m_reason.empty()) v.status = Status::proven;
        else v.status = Status::checked;
        v.reason = m_reason;
        v.assumptions = {1, 2, 3, 4};
        if (m_options.block_num != 1) v.assumptions.push_back(5);
        if (!v.ids.empty() || !m_loops.classes.empty()) v.assumptions.push_back(6);
        if (guessed()) v.assumptions.push_back(7);
        if (m_grid) v.assumptions.push_back(8);
        if (m_outputs_move) v.assumptions.push_back(9);
        v.coverage.text = !m_text.empty() ? m_text : "every number of tasks, by task counts 0 to " + std::to_string(v.checked_tasks) + " (period " + std::to_string(m_period) + ")";
        return v;
    }

    const program::Program& m_program;
    const machine::Chip& m_chip;
    const VerifyOptions& m_options;
    Findings m_findings;
    std::vector<TraceCore> m_cores;
    Loops m_loops;
    LoopPlan m_plan;
    program::CoreSetup m_setup;
    std::int64_t m_left, m_runs = 0, m_events = 0, m_checked = 0, m_period = 1, m_warm_up = 0;
    std::set<std::int64_t> m_tasks;
    std::map<std::pair<std::int32_t, bool>, IdFacts> m_ids;
    std::string m_reason;
    std::string m_text;
    Protection m_protection;
    Guesses m_guesses;
    bool m_persistent = true, m_explored_all = true, m_outputs_move = false, m_grid = false;
    std::int64_t m_explored = 0, m_choice_work = 1'500'000; // events fired to follow competing waits
};

} // namespace

Verdict verify(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options) { return Verifier(program, chip, options).run(); }

} // namespace pto::verify
