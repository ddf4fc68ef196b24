#pragma once
/// A replayed record as the timeline value that views draw.

#include "engine/base/source_map.hpp"
#include "engine/report/timeline.hpp"
#include "engine/time/folds.hpp"

namespace pto::report {

struct FromTime {
    std::int32_t block = -1;              // which block to draw; -1: the slowest
    std::string target;                   // as the user knows it; empty: the chip's name
    std::string preload;
    Ticks serial_total = -1;              // of preload 0
    const SourceMap* sources = nullptr;   // places; null leaves them out
    const SyncPlan* plan = nullptr;       // stage order, and which buffer an id hands over
    bool ask_what_if = true;
    std::size_t most_rows = 200'000;      // of a core, that are drawn one by one; of a longer one the first and the last quarter of this
};

/// Lanes, waits, stages, critical path, pace and what-if of one block.
///   in     record, times  of the same replay; chip as there
///          checked_by     for the provenance; the prediction itself is marked as estimated, with the share of each grade
///   out    a value that satisfies inconsistencies(); of a long run totals and overview are exact, slices, waits, gaps and the stage table are
///          those of its beginning and its end, and nothing is asked. AIV1 is folded into AIV0 when they agree within 1 %
///   cost   O(rows), plus one replay for each what-if question
Timeline report_timeline(const execute::Record& record, const time::Timeline& times, const machine::Chip& chip, const FromTime& options);

} // namespace pto::report
