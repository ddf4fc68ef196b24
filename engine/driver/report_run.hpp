#pragma once
/// Report values of a run: what it found, why it hangs, or that it is done.

#include "engine/driver/run.hpp"
#include "engine/report/hang.hpp"
#include "engine/report/race.hpp"
#include "engine/report/refusal.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::driver {

report::Provenance run_provenance(const Run& r);
/// Races found by a run; empty `pairs` when there are none.
report::Race report_race(const Compiled& c, const Run& r, const SourceMap& sources);
/// Requires a run that hangs.
report::Hang report_hang(const Compiled& c, const Run& r, const SourceMap& sources);
/// Everything else a run said: uninitialised reads, accesses out of range, contracts. Empty findings when nothing.
report::Refusal report_findings(const Compiled& c, const Run& r, const SourceMap& sources);
/// What the kept run and the further orders did, when nothing refuses it.
std::string done_text(const Compiled& c, const Run& r);
nlohmann::ordered_json run_json(const Compiled& c, const Run& r, const SourceMap& sources);

} // namespace pto::driver
