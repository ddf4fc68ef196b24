#pragma once
/// A run as a Chrome trace-event file: one process a core, one thread a pipe, stages and tasks in the names.

#include "engine/driver/run.hpp"

#include <string>

namespace pto::driver {

/// JSON text; times in microseconds of the chip's clock. Open it in a trace viewer.
std::string chrome_trace(const Compiled& c, const Run& run);

} // namespace pto::driver
