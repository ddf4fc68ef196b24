#pragma once
/// Hand-built report values that tests of the reports and of the views share. relu_matmul is the example the drawings were
/// designed on: its slots, beats, ids and sites follow from the rules, its durations are invented.

#include "engine/report/code_diff.hpp"
#include "engine/report/hang.hpp"
#include "engine/report/memory_map.hpp"
#include "engine/report/panel.hpp"
#include "engine/report/precision.hpp"
#include "engine/report/race.hpp"
#include "engine/report/refusal.hpp"
#include "engine/report/sweep.hpp"
#include "engine/report/sync_plan.hpp"
#include "engine/report/timeline.hpp"

namespace pto::report::examples {

SyncPlan relu_matmul_plan();
Timeline relu_matmul_timeline();
/// A chain of `stages` stages alternating from cube, two slots a channel, preload 2, tasks unknown.
SyncPlan chain_plan(int stages, std::int64_t tasks = -1);
/// relu_matmul with one id for both slots of p; with p's bwd_ids missing; with out on the bytes of mm1.
SyncPlan shared_id_plan();
SyncPlan forward_only_plan();
SyncPlan address_reuse_plan();
/// `tasks` periodic tasks on six lanes; every 7th task a little longer when `jitter`.
Timeline long_timeline(int tasks, bool jitter);


MemoryMap relu_matmul_memory();
/// left ends beyond L0A, and d lies on b under other locks.
MemoryMap bad_memory();
/// p has two slots, preload 3 needs three: caret, label on the line, labels elsewhere, a fix, an alternative.
Refusal slots_refusal();
CodeDiff small_diff();
Panel relu_matmul_panel();
Hang lost_set_hang();
Race slot_race();
Precision matching();
Precision different();
Sweep preload_sweep();

} // namespace pto::report::examples
