#pragma once
/// The checks on one fired trace, and the words for what they find.

#include "engine/verify/order.hpp"
#include "engine/verify/verify.hpp"

#include <set>
#include <tuple>

namespace pto::verify {

/// Collects hazards of all runs, one per pair of source places; the smallest run that shows it wins.
class Findings {
  public:
    explicit Findings(std::int32_t limit) : m_limit(limit) {}
    /// Null when the same finding is known already (its count grew) or the limit is reached.
    Hazard* open(HazardKind kind, const std::string& first, const std::string& second, std::int64_t detail);
    std::vector<Hazard>& list() { return m_list; }
    const std::vector<Hazard>& list() const { return m_list; }
    std::int64_t pairs = 0;

  private:
    std::int32_t m_limit;
    std::vector<Hazard> m_list;
    std::map<std::tuple<int, std::string, std::string, std::int64_t>, std::size_t> m_known;
};

/// Largest number of unmatched sets of a counter in any order (clocks of a finished run; one setting pipe).
std::int64_t max_pending(const SyncIndex& index, const Firing& firing, const Counter& counter);

void check_races(const SyncIndex& index, const Firing& firing, std::int64_t tasks, bool same_pipe, Findings& out);
void check_sync(const SyncIndex& index, const Firing& firing, const machine::Chip& chip, std::int64_t tasks, Findings& out);

/// What one end of a finding is called: a stage's operation is one place however often the pipeline emits it; elsewhere its span.
std::string place_key(const Trace& t, std::int32_t event, std::int16_t operand = -1);

// ---- words
Place place_of(const Trace& t, std::int32_t event);
Place place_of(const Trace& t, const Access& a);
std::string core_name(const TraceCore& c);
std::string what_name(const Trace& t, const Access& a);
void describe_race(const SyncIndex& index, const Firing& firing, const Access& a, const Access& b, std::int64_t tasks, Hazard& h);
void describe_hang(const SyncIndex& index, const Firing& firing, std::int64_t tasks, Findings& out);

} // namespace pto::verify
