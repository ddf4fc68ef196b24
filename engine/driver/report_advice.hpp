#pragma once
/// Advice on a pipelined kernel, accepted or refused by its plan.

#include "engine/driver/compile.hpp"
#include "engine/report/advice.hpp"
#include "engine/report/timeline.hpp"

namespace pto::driver {

/// Nothing where there is no pipeline to advise on: no pipeline asked for, or refused before its stages were known.
///   timeline  gives the stages' times for the predicted cycles; null: none, and `missing` says why
///   cost      one plan per preload up to the deepest tried
std::optional<report::Advice> report_advice(const Compiled& c, const report::Timeline* timeline, const std::string& missing);

} // namespace pto::driver
