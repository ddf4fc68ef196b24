#pragma once
/// Premise P4 of docs/model/sync.md: windows of global memory move with the task, and the runs looked at show every place where two of
/// them can meet.

#include "engine/verify/periodic.hpp"

namespace pto::verify {

/// Inside one task loop: windows of different pipes, one of them writing, move at one speed and meet within a period. Returns why not.
///   requires  two periods after the warm-up in this run
std::optional<std::string> windows_stay_close(const Trace& trace, std::int16_t segment, const Rhythm& rhythm);

/// Between segments first .. last, which no full barrier separates: accesses to one tensor are ordered wherever they lie, or do not
/// move, or what follows a loop goes on as the loop did.
class OpenWindows {
  public:
    OpenWindows(std::int16_t first, std::int16_t last) : m_first(first), m_last(last) {}
    /// Notes what one finished run leaves unordered.
    void add(const SyncIndex& index, const Firing& firing);
    /// longest, shorter: runs whose task loops differ by one period each. Returns why not.
    std::optional<std::string> stay_apart(const Trace& longest, const Trace& shorter, const std::vector<Rhythm>& rhythms, const std::vector<std::int64_t>& trips) const;

  private:
    std::int16_t m_first, m_last;
    using Stretch = std::tuple<std::int16_t, int, std::int32_t>; // segment, pipe, full barriers passed since the segment began
    std::set<std::pair<Stretch, Stretch>> m_unordered;           // the second one in a later segment, on another pipe
};

} // namespace pto::verify
