#pragma once
/// Why a handful of task counts stands for all of them: the instruction streams repeat (docs/model/sync.md, section 4).

#include "engine/verify/loops.hpp"
#include "engine/verify/order.hpp"

#include <optional>

namespace pto::verify {

/// P1: values that count tasks reach control, ids, slots, valid shapes and on-chip offsets through remainders by constants only; the
/// lengths of the task loops (they are numbers of tasks too) not at all. Returns why not.
/// Branches of one core that break P1: instruction indices.
std::set<std::int32_t> unsteady_branches(const program::Program& program, std::size_t side, const Loops& loops, const std::vector<std::int32_t>& sequence);
std::optional<std::string> counters_stay_modular(const program::Program& program, const Loops& loops, const std::vector<std::int32_t>& sequence);

/// P2: from iteration warm_up on, the state before iteration i + period is the one before iteration i, on every core.
struct Rhythm {
    std::int64_t warm_up = 0, period = 1;
};
std::optional<Rhythm> rhythm_of(const Trace& trace, std::int16_t segment);

/// P2: what is issued follows from the state alone, whatever the lengths of the task loops. Collects every run.
class Streams {
  public:
    /// Why the run contradicts an earlier one.
    std::optional<std::string> add(const Trace& trace);

  private:
    std::map<std::tuple<std::size_t, std::int16_t, std::size_t>, std::vector<std::size_t>> m_seen; // core, segment, state: one hash per iteration
};

/// P3: every pairing of a set with its wait goes forward, and full barriers meet at one position on every core.
bool pairings_go_forward(const SyncIndex& index);

/// Lemma 3: the first barrier of a segment that every core of the block passes; per core its event, empty when there is none.
std::vector<std::int32_t> full_barrier(const Trace& trace, std::int16_t segment);
/// What the part behind that barrier depends on: scalar state of every core, unmatched sets, held locks.
std::size_t state_at(const SyncIndex& index, const std::vector<std::int32_t>& barrier);

/// P6: a set knows every wait of its id that a whole period of some task loop separates from it. Returns ids where it does not, and
/// whether they go to the vector cores.
std::set<std::pair<std::int32_t, bool>> unsettled_counters(const SyncIndex& index, const Firing& firing, const std::vector<Rhythm>& rhythms,
                                                           const std::vector<std::int64_t>& trips);

} // namespace pto::verify
