#include "engine/report/json_fields.hpp"
#include "engine/report/timeline.hpp"

namespace pto::report {

NLOHMANN_JSON_SERIALIZE_ENUM(Direction, {{Direction::ready, "ready"}, {Direction::free, "free"}})

/// Slices are rows of numbers, not objects: a run has 100,000 of them. Order: start, end, landed, op, task, stage.
inline void to_json(nlohmann::json& j, const Slice& s) { j = {s.start, s.end, s.landed, s.op, s.task, s.stage}; }
inline void from_json(const nlohmann::json& j, Slice& s) {
    s = {j.at(0), j.at(1), j.at(2), j.at(3), j.at(4), j.at(5)};
}
/// Order: start, end, stage, task, 1 for a lock.
inline void to_json(nlohmann::json& j, const Gap& g) { j = {g.start, g.end, g.stage, g.task, g.lock ? 1 : 0}; }
inline void from_json(const nlohmann::json& j, Gap& g) { g = {j.at(0), j.at(1), j.at(2), j.at(3), j.size() > 4 && j.at(4) == 1}; }

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimelineOp, name, label, place, grade)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Wait, start, end, paid, stage, task, for_stage, for_task, buffer, direction, id, fill)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaneTotals, busy, paid, free, in_core, idle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Lane, core, pipe, role, computes, slices, waits, gaps, predicted, totals, overview)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WaitPart, for_stage, ticks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTime, name, core, place, tasks, compute, move, in_core, span, lock, paid, predicted_span)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PaidTotal, stage, buffer, direction, ticks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CriticalStep, lane, slice)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bound, lane, stage, op, share, op_share, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CriticalShare, lane, stage, ticks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RoofPoint, side, operations, intensity, achieved, peak, roof, limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Roofline, hbm_bytes, l2_bytes, hbm_bytes_per_us, l2_bytes_per_us, points)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlanPeriod, ticks, cycle, tasks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WhatIf, change, percent)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WhatIfGroup, label, changes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockTime, block, total, busy)
PTO_JSON_FIELDS(Timeline, kernel, target, preload, tasks, blocks, block, total, cycles_per_us, serial_total, fill, drain, steady, steady_is_floor,
                pace_core, pace_pipe, ops, lanes, folded, stages, paid_most, critical, critical_shares, bound, roofline, plan_period, what_if, block_times, runs, fastest, slowest,
                predicted_total, left_out_from, left_out_to, note)

nlohmann::json json_of(const Timeline& t) {
    nlohmann::json j = head(t.provenance);
    j["status"] = word(status(t));
    j["ticks_per_cycle"] = ticks_per_cycle;
    j["us"] = us(t, t.total);
    json_put(j, t);
    return j;
}

Timeline timeline_from_json(const nlohmann::json& j) {
    Timeline t{provenance_of(j)};
    json_take(j, t);
    return t;
}

} // namespace pto::report
