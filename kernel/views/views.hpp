#pragma once
/// Doors of the views: report value -> MIME bundle {text/plain, text/html}. Nothing is computed here that the value does not hold.

#include "kernel/views/html.hpp"

#include "engine/report/refusal.hpp"
#include "engine/report/sync_plan.hpp"
#include "engine/report/timeline.hpp"

namespace xpto::views {

namespace report = pto::report;

nl::json mime_bundle(const report::SyncPlan& plan, const ViewOptions& options = {});
nl::json mime_bundle(const report::Timeline& timeline, const ViewOptions& options = {});
nl::json mime_bundle(const report::Refusal& refusal, const ViewOptions& options = {});

/// Parts, for panels and tests.
Svg draw(const report::SyncPlan& plan, const report::PlanLoop& loop, const ViewOptions& options);
Svg draw(const report::Timeline& timeline, const ViewOptions& options);
std::string html(const report::SyncPlan& plan, const ViewOptions& options, bool with_verdict = true);
std::string html(const report::Timeline& timeline, const ViewOptions& options, bool with_verdict = true);
std::string html(const report::Refusal& refusal, const ViewOptions& options);

} // namespace xpto::views
