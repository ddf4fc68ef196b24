#pragma once
/// One verification at work; private to the room. verify.cpp looks at runs and writes the verdict, sweep.cpp chooses the runs.

#include "engine/verify/findings.hpp"
#include "engine/verify/growth.hpp"
#include "engine/verify/choices.hpp"
#include "engine/verify/periodic.hpp"
#include "engine/verify/protect.hpp"

#include <functional>

namespace pto::verify {

inline constexpr std::int64_t one_run_limit = 20'000; // operations of one core in one run

class Verifier {
  public:
    Verifier(const program::Program& program, const machine::Chip& chip, const VerifyOptions& options);
    Verdict run();

  private:
    using Seen = std::function<void(const SyncIndex&, const Firing&)>;

    // Runs.
    Trace trace_once(const Policy& policy);
    Trace look(const Policy& policy, std::int64_t tasks, const Seen& seen = {}); // traces, fires and checks one run
    void judge(const Trace& t, std::int64_t tasks, const Seen& seen = {});
    void rivals(const SyncIndex& index, const Firing& f, std::int64_t tasks);
    bool follow_choices(const SyncIndex& index, const Firing& f, std::int64_t tasks);
    static bool share_lock(const Event& a, const Event& b);
    void note(const Trace& t, const SyncIndex& index, const Firing& f);
    void add_guesses(const Trace& t);
    /// Why the verdict on the runs looked at is not the verdict on every outcome of what is not settled; empty when it is.
    std::string not_for_all(const Settled& settled);
    bool guessed() const;
    void other_choices(std::int64_t tasks);
    bool stop_early() const { return m_findings.list().size() >= std::size_t(m_options.hazard_limit); }

    // What kind of program it is.
    void protected_by_locks(const Trace& first);
    void single(const Trace& first);
    Guesses unsteady(const std::vector<std::int32_t>& tasks) const;
    void sweep(std::vector<std::int32_t> open, const Trace& first, bool cut);
    Verdict finish();

    // sweep.cpp
    struct Arrangement; // the task loops as a sequence
    struct Group;       // neighbouring task loops that no full barrier separates
    Arrangement arrange(const std::vector<std::int32_t>& open) const;
    std::vector<Around> code_around(const std::vector<std::int32_t>& open, std::int32_t inner) const;
    std::optional<std::string> find_rhythms(const Arrangement& a, const Policy& policy, std::vector<Rhythm>& rhythms, std::vector<Group>& groups);
    std::optional<std::string> prove(const Arrangement& a, const Policy& policy);
    std::optional<std::string> starts_over(const Arrangement& a, const Policy& policy, const std::vector<Rhythm>& rhythms);
    std::optional<std::string> sweep_group(const Arrangement& a, const Policy& policy, const std::vector<Rhythm>& rhythms, const std::vector<Group>& groups, std::size_t which,
                                           const std::vector<std::vector<std::int64_t>>& entries, std::map<std::size_t, std::vector<std::int64_t>>& exits, bool& unsettled);
    std::int64_t all_phases() const;
    void try_counts(const std::vector<std::int32_t>& open, const Policy& policy);
    void nested(const std::vector<std::int32_t>& open);
    void growing_ids(std::int64_t tasks);

    const program::Program& m_program;
    const machine::Chip& m_chip;
    const VerifyOptions& m_options;
    Findings m_findings;
    std::vector<TraceCore> m_cores;
    Loops m_loops;
    LoopPlan m_plan;
    program::CoreSetup m_setup;
    std::int64_t m_left, m_runs = 0, m_events = 0, m_checked = 0, m_period = 1, m_warm_up = 0, m_loops_proven = 1;
    std::set<std::int64_t> m_tasks;
    std::map<std::pair<std::int32_t, bool>, IdFacts> m_ids;
    std::string m_reason;
    std::string m_text;
    Protection m_protection;
    Guesses m_guesses;
    std::vector<Watch> m_watches;                            // per program core
    Streams m_streams;
    std::set<std::pair<std::int32_t, bool>> m_unsettled;    // ids, to the vector cores
    bool m_standing = false;                                 // this program stands for all outcomes of another one
    bool m_sometimes = false, m_in_order = true;             // there are operations that are not always there; runs finish in program order
    bool m_ordered = true, m_explored_all = true, m_outputs_move = false, m_grid = false;
    std::int64_t m_explored = 0, m_choice_work = 1'500'000; // events fired to follow competing waits
};

} // namespace pto::verify
