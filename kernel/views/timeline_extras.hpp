#pragma once
/// What a timeline adds to its lanes: the canvas for many slices, the roofline, what would help, two runs against each other.

#include "kernel/views/views.hpp"

namespace xpto::views {

/// Lanes that zoom and pan, for timelines whose picture had to leave out or bin; empty when the picture holds every slice or scripts
/// are off. Stands behind the picture, which stays for readers without scripts.
///   cost   5 to 7 bytes a slice up to 10^5 of them, then three binned levels of fixed size
std::string timeline_canvas(const report::Timeline& t, const ViewOptions& options);
/// Which of slices and levels the canvas of a timeline carries, for tests.
nl::json canvas_data(const report::Timeline& t, const ViewOptions& options);

/// Operations for a byte against operations in a microsecond, both logarithmic: one roof a side, a point each.
Svg draw_roofline(const report::Timeline& t, const ViewOptions& options);
/// "cube 34 % of its roof (compute), vector 12 % (memory)"; empty when no side worked.
std::string roofline_summary(const report::Timeline& t, report::Language language);
std::string roofline_html(const report::Timeline& t, const ViewOptions& options);

/// Changes by re-timing as a table and bars around zero.
std::string what_if_html(const report::Timeline& t, const ViewOptions& options);

/// Two runs on one axis and the difference per stage and lane.
Svg draw_comparison(const report::Timeline& now, const report::Timeline& then, const ViewOptions& options);
nl::json mime_bundle(const report::Timeline& now, const report::Timeline& then, const ViewOptions& options);

} // namespace xpto::views
