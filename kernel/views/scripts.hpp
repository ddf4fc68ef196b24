#pragma once
/// The scripts under share/xpto/views, built in: every output carries its own, so a saved notebook needs no files.

#include <string_view>

namespace xpto::views {

std::string_view figure_script();   // share/xpto/views/figure.js
std::string_view timeline_script(); // share/xpto/views/timeline.js

} // namespace xpto::views
