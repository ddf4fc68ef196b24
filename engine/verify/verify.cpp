/// The verdict: what is looked at, and what it says.

#include "engine/verify/verifier.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

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

} // namespace

Verifier::Verifier(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options)
    : m_program(program), m_chip(chip), m_options(options), m_findings(options.hazard_limit), m_cores(block_cores(program)), m_loops(find_loops(program)),
      m_setup(setup_of(program, options)), m_left(options.event_limit) {}

Verdict Verifier::run() {
    m_plan.class_of = m_loops.class_of;
    m_plan.trips.assign(m_loops.classes.size(), -1);
    const Trace first = trace_once({});
    m_guesses.resize(m_program.cores.size());
    add_guesses(first);
    m_protection = protect(m_program);
    // Classes whose length nobody knows, or that follows from another one's.
    std::vector<std::int32_t> open;
    const Trace second = first.guessed_trips > 0 ? trace_once({Policy::Branch::taken, 3}) : first;
    for (std::size_t c = 0; c < m_loops.classes.size(); ++c) {
        const auto a = first.bounds.find(std::int32_t(c)), b = second.bounds.find(std::int32_t(c));
        if (a == first.bounds.end() || b == second.bounds.end() || a->second != b->second) open.push_back(std::int32_t(c));
    }
    const bool cut = !first.complete && first.faults.empty();
    if (!m_protection.any && first.faults.empty()) protected_by_locks(first);
    else if (open.empty() && !cut) single(first);
    else if (!first.faults.empty()) judge(first, 0), m_reason = "the scalar code fails: " + first.problem;
    else sweep(open, first, cut);
    return finish();
}

// ---------------------------------------------------------------- runs

Trace Verifier::trace_once(const Policy& policy) {
    Trace t = trace(m_program, m_cores, m_plan, m_setup, policy, std::min(one_run_limit, std::max<std::int64_t>(m_left, 1)));
    m_left -= std::int64_t(t.events.size());
    return t;
}
/// Traces, fires and checks one run.
Trace Verifier::look(const Policy& policy, std::int64_t tasks, const Seen& seen) {
    Trace t = trace_once(policy);
    judge(t, tasks, seen);
    return t;
}
void Verifier::judge(const Trace& t, std::int64_t tasks, const Seen& seen) {
    ++m_runs, m_events += std::int64_t(t.events.size());
    for (const program::Fault& f : t.faults) {
        if (t.guessed_branches + t.guessed_slots + t.guessed_trips > 0) continue; // a guess may have led there
        if (Hazard* h = m_findings.open(HazardKind::scalar_fault, f.message, "", f.at.begin))
            h->first.at = f.at, h->first.sequence = 0, h->message = f.message, h->tasks = tasks;
    }
    const SyncIndex index(t, m_chip);
    const Firing f = fire(index, true);
    check_sync(index, f, m_chip, tasks, m_findings);
    if (m_sometimes && m_in_order && f.finished) m_in_order = finishes_in_program_order(index);
    if (f.ordered) check_races(index, f, tasks, m_options.same_pipe, m_findings);
    else rivals(index, f, tasks);
    note(t, index, f);
    if (seen) seen(index, f);
}

/// Waits of several pipes compete for one id's sets. Clocks give bounds (H10); where these leave something open, every choice is followed (A6).
void Verifier::rivals(const SyncIndex& index, const Firing& f, std::int64_t tasks) {
    m_ordered = false;
    Findings bounds(1);
    if (f.finished) check_races(index, f, tasks, false, bounds);
    const bool counts = std::all_of(index.counters.begin(), index.counters.end(), [&](const Counter& c) { return max_pending(index, f, c) <= m_chip.cross_core_limit; });
    const bool bounded = f.finished && counts && bounds.list().empty() && finishes_in_every_order(index, f);
    if (!bounded && !follow_choices(index, f, tasks)) m_explored_all = false;
    if (m_explored_all) m_explored = std::max(m_explored, tasks);
}

/// False when not every choice could be followed.
bool Verifier::follow_choices(const SyncIndex& index, const Firing& f, std::int64_t tasks) {
    const Trace& t = index.trace;
    const auto follow = [&](std::int32_t a, std::int32_t b) {
        Choices c = explore(index, a, b, m_choice_work);
        m_choice_work -= c.work;
        return c;
    };
    if (m_choice_work <= 0) return false;
    const Choices all = follow(-1, -1);
    if (all.stuck && t.complete) describe_hang(index, all.stuck_run, tasks, m_findings);
    bool complete = all.complete;
    const auto ordered = [&](const Access& x, const Access& y) {
        const Event &ex = t.events[std::size_t(x.event)], &ey = t.events[std::size_t(y.event)];
        return f.fired[std::size_t(x.event)] && f.fired[std::size_t(y.event)] &&
               (f.start[std::size_t(y.event)][std::size_t(ex.lane())] >= ex.index || f.start[std::size_t(x.event)][std::size_t(ey.lane())] >= ey.index);
    };
    std::set<std::pair<std::string, std::string>> found;
    for (std::size_t a = 0; a < t.accesses.size(); ++a)
        for (std::size_t b = a + 1; b < t.accesses.size(); ++b) {
            const Access &x = t.accesses[a], &y = t.accesses[b];
            if (!(x.write || y.write) || (x.atomic && y.atomic) || x.event == y.event) continue;
            const Bytes &bx = t.bytes[std::size_t(x.footprint)], &by = t.bytes[std::size_t(y.footprint)];
            if (bx.owner != by.owner || bx.memory != by.memory || bx.last <= by.first || by.last <= bx.first || !bx.exact || !by.exact) continue;
            const Event &ex = t.events[std::size_t(x.event)], &ey = t.events[std::size_t(y.event)];
            if (ex.lane() == ey.lane() || share_lock(ex, ey) || ordered(x, y) || !isa::overlap(bx.set, by.set)) continue;
            auto places = std::pair{place_key(t, x.event, x.operand), place_key(t, y.event, y.operand)};
            if (found.count(places)) continue;
            if (m_choice_work <= 0) return false;
            const Choices both = follow(x.event, y.event);
            complete = complete && (both.complete || both.both_start);
            if (!both.both_start) continue;
            found.insert(places);
            if (Hazard* h = m_findings.open(HazardKind::race, places.first, places.second, std::int64_t(bx.memory))) describe_race(index, f, x, y, tasks, *h);
        }
    return complete;
}
bool Verifier::share_lock(const Event& a, const Event& b) {
    if (a.core != b.core) return false;
    for (int k = 0; k < a.lock_count; ++k)
        for (int j = 0; j < b.lock_count; ++j)
            if (a.locks[std::size_t(k)] == b.locks[std::size_t(j)]) return true;
    return false;
}

void Verifier::note(const Trace& t, const SyncIndex& index, const Firing& f) {
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

void Verifier::add_guesses(const Trace& t) {
    for (std::size_t side = 0; side < t.guesses.size(); ++side)
        for (std::int32_t i : t.guesses[side]) {
            const program::Instr& in = m_program.cores[side].code[std::size_t(i)];
            if (in.kind != program::InstrKind::loop_enter || !m_loops.class_of[side].count(in.loop)) m_guesses[side].insert(i);
        }
}
/// The branches that break P1 for these task loops.
Guesses Verifier::unsteady(const std::vector<std::int32_t>& tasks) const {
    Guesses out(m_program.cores.size());
    for (std::size_t side = 0; side < out.size() && !tasks.empty(); ++side) out[side] = unsteady_branches(m_program, side, m_loops, tasks);
    return out;
}
std::string Verifier::not_for_all(const Settled& settled) {
    if (!settled.why.empty()) return settled.why;
    m_outputs_move |= settled.outputs_move;
    if (!m_in_order) return "a circle of waits could close through an operation that is not always there";
    if (!settled.changed) return {};
    if (m_standing) return "its conditions depend on one another";
    Verifier all(settled.program, m_chip, m_options);
    all.m_standing = all.m_sometimes = true;
    const Verdict v = all.run();
    m_runs += all.m_runs, m_events += all.m_events, m_outputs_move |= all.m_outputs_move;
    if (v.status == Status::refused) return "an order that holds on every way rests on operations that are not always there";
    if (v.status == Status::proven) m_checked = all.m_checked, m_period = all.m_period, m_warm_up = all.m_warm_up, m_tasks.insert(all.m_tasks.begin(), all.m_tasks.end());
    return v.reason;
}
bool Verifier::guessed() const {
    return std::any_of(m_guesses.begin(), m_guesses.end(), [](const auto& g) { return !g.empty(); });
}
/// Other decisions of what is unknown: they find hazards, the argument never rests on them.
void Verifier::other_choices(std::int64_t tasks) {
    for (auto b : {Policy::Branch::taken, Policy::Branch::skipped, Policy::Branch::even, Policy::Branch::odd})
        if (m_left > 0) look({b, 2}, tasks);
    for (std::int64_t n : {0, 1, 3, 8})
        if (m_left > 0) look({Policy::Branch::taken, n}, tasks);
}

// ---------------------------------------------------------------- programs that locks alone put in order

void Verifier::protected_by_locks(const Trace& first) {
    judge(first, 0);
    if (guessed()) other_choices(0);
    m_text = "on every control path, operations that share bytes share a lock or a pipe";
}

// ---------------------------------------------------------------- programs whose lengths are known

void Verifier::single(const Trace& first) {
    m_sometimes = m_sometimes || guessed();
    judge(first, 0);
    if (guessed()) {
        other_choices(0);
        look({Policy::Branch::skipped, 0}, 0);
        m_reason = not_for_all(settle(m_program, m_protection, m_guesses, {}, {}));
    }
    if (!m_ordered && !m_explored_all) m_reason = "several pipes await one event id, nothing orders their waits, and not every choice could be followed";
    m_text = "this program, " + std::to_string(m_events) + " operations of one block";
}

// ---------------------------------------------------------------- the verdict

Verdict Verifier::finish() {
    Verdict v;
    v.hazards = std::move(m_findings.list());
    std::stable_sort(v.hazards.begin(), v.hazards.end(), [](const Hazard& a, const Hazard& b) { return a.is_error > b.is_error; });
    for (auto& [key, i] : m_ids) v.ids.push_back(i);
    v.coverage.runs = m_runs, v.coverage.events = m_events, v.coverage.pairs = m_findings.pairs;
    v.coverage.task_counts.assign(m_tasks.begin(), m_tasks.end());
    v.coverage.period = m_period, v.coverage.warm_up = m_warm_up;
    v.checked_tasks = std::max<std::int64_t>(m_ordered ? m_checked : std::min(m_checked, m_explored), 0);
    if (m_reason.empty() && std::any_of(v.hazards.begin(), v.hazards.end(), [](const Hazard& h) { return h.kind == HazardKind::flag_twice; }))
        m_reason = "a flag may be set again before its wait has cleared it, and a flag is one bit";
    if (m_reason.empty() && std::any_of(v.hazards.begin(), v.hazards.end(), [](const Hazard& h) { return h.kind == HazardKind::race; }))
        m_reason = "several cores write one element; a run sees whether they write the same";
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
    v.coverage.text = !m_text.empty() ? m_text
                                      : "every number of tasks" + (m_loops_proven > 1 ? " in each of " + std::to_string(m_loops_proven) + " loops" : std::string()) + ", by task counts 0 to " +
                                            std::to_string(v.checked_tasks) + " (period " + std::to_string(m_period) + ")";
    return v;
}

Verdict verify(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options) { return Verifier(program, chip, options).run(); }

} // namespace pto::verify
