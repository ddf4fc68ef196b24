#pragma once
/// Report values filled from a compilation: what the views show, nothing shown here.

#include "engine/driver/compile.hpp"
#include "engine/report/refusal.hpp"
#include "engine/report/sync_plan.hpp"

namespace pto::driver {

report::Place place_of(const Span& at, const SourceMap& sources);
report::Provenance compile_provenance(const Compiled& c);
/// What the verifier showed, tick by tick.
void fill_proof(const Compiled& c, report::Proof& proof);
/// Largest number of unmatched sets by event id.
std::vector<std::int32_t> max_pending(const Compiled& c);
report::SyncPlan report_sync_plan(const Compiled& c, const SourceMap& sources);
report::Refusal report_refusal(const Compiled& c, const SourceMap& sources);

} // namespace pto::driver
