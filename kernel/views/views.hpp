#pragma once
/// Doors of the views: report value -> MIME bundle {text/plain, text/html}. Nothing is computed here that the value does not hold.

#include "kernel/views/html.hpp"

#include "engine/report/advice.hpp"
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

namespace xpto::views {

namespace report = pto::report;

nl::json mime_bundle(const report::Panel& panel, const ViewOptions& options = {});
/// The kernels of one cell, in order: a panel each.
nl::json mime_bundle(const std::vector<report::Panel>& panels, const ViewOptions& options = {});
nl::json mime_bundle(const report::SyncPlan& plan, const ViewOptions& options = {});
nl::json mime_bundle(const report::Advice& advice, const ViewOptions& options = {});
nl::json mime_bundle(const report::Timeline& timeline, const ViewOptions& options = {});
/// `stages` gives the hues (those of the plan's loops, in order); empty draws everything neutral.
nl::json mime_bundle(const report::MemoryMap& map, const std::vector<report::PlanStage>& stages, const ViewOptions& options = {});
nl::json mime_bundle(const report::Precision& precision, const ViewOptions& options = {});
nl::json mime_bundle(const report::Sweep& sweep, const ViewOptions& options = {});
nl::json mime_bundle(const report::Refusal& refusal, const ViewOptions& options = {});
/// `plan` adds the hand-overs with the stuck pipes marked; null leaves them out.
nl::json mime_bundle(const report::Hang& hang, const report::SyncPlan* plan = nullptr, const ViewOptions& options = {});
nl::json mime_bundle(const report::Race& race, const std::vector<report::PlanStage>& stages = {}, const ViewOptions& options = {});
nl::json mime_bundle(const report::CodeDiff& diff, const ViewOptions& options = {});
enum class CodeKind : std::uint8_t { python, cpp };
/// Code with colours that sanitizers keep; text/plain is the code itself.
nl::json code_bundle(const std::string& name, const std::string& code, CodeKind kind, const ViewOptions& options = {});

/// Parts, for panels and tests.
Svg draw(const report::SyncPlan& plan, const report::PlanLoop& loop, const ViewOptions& options);
Svg draw(const report::Timeline& timeline, const ViewOptions& options);
Svg draw(const report::MemoryMap& map, const std::vector<report::PlanStage>& stages, const ViewOptions& options);
Svg draw(const report::Precision& precision, const ViewOptions& options);
Svg draw(const report::Sweep& sweep, const ViewOptions& options);
Svg draw(const report::Hang& hang, const std::vector<report::PlanStage>& stages, const ViewOptions& options);
Svg draw(const report::Race& race, const std::vector<report::PlanStage>& stages, const ViewOptions& options);
std::string html(const report::Panel& panel, const ViewOptions& options);
std::string html(const report::SyncPlan& plan, const ViewOptions& options, bool with_verdict = true);
std::string html(const report::Timeline& timeline, const ViewOptions& options, bool with_verdict = true);
std::string html(const report::MemoryMap& map, const std::vector<report::PlanStage>& stages, const ViewOptions& options, bool with_verdict = true);
std::string html(const report::Refusal& refusal, const ViewOptions& options);
std::string html(const report::CodeDiff& diff, const ViewOptions& options);
std::string highlighted(std::string_view code, CodeKind kind);

} // namespace xpto::views
