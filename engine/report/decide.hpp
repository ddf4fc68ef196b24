#pragma once
/// What decided the time of a timeline: its bound, the shares of the critical path, the roof, the period the plan allows.

#include "engine/report/timeline.hpp"
#include "engine/time/timeline.hpp"

namespace pto::report {

/// Fills bound, critical_shares and plan_period of a summarised timeline.
///   in    plan     null: no period
///         latency  from a set on one core to the wait of another
///   rule  the bound is the busiest pipe, in it the stage, in it the operation with the most time
///         the period is the largest mean of a cycle in the graph whose nodes are (stage, pipe) with the mean work of a task, and whose edges are
///         the order of each pipe, the flow inside a stage, and the plan's hand-overs (ready: the same task; free: as many tasks back as slots)
///   cost  O(slices + nodes * edges * 40)
void decide(Timeline& t, const SyncPlan* plan, Ticks latency);

/// The launch's work and traffic against the peak of the cores that ran and the chip's memory.
Roofline roofline_of(const execute::Record& record, const time::Timeline& times, const machine::Chip& chip);

} // namespace pto::report
