#pragma once
/// The JSON contract of scripts and CI: one object a compilation (share/xpto/schema/compile.schema.json).

#include "engine/driver/compile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::driver {

/// Positions are the user's: lines as shown (a magic's line is 1), columns from 1 in code points, end exclusive.
nlohmann::ordered_json json_of(const Diagnostic& d, const SourceMap& sources);
nlohmann::ordered_json json_of(const Compiled& c, const SourceMap& sources);

} // namespace pto::driver
