#pragma once
/// Chips of the user: a file instead of a name as the target (docs/targets.md).

#include "engine/machine/chip.hpp"

#include <memory>

namespace pto::driver {

/// True when a target names a file: "my-chip.json", "cards/my-chip.json".
bool is_chip_file(const std::string& target);

/// The chip of a file.
///   in     path         as the user wrote it, relative to the working directory
///   out    the chip, as the file says it now; whoever compiles for it keeps it
///          diagnostics  why there is none: no such file, or what the file has wrong
///   fails  null
///   cost   reads and checks the file
std::shared_ptr<const machine::Chip> chip_of_file(const std::string& path, Diagnostics& diagnostics);

} // namespace pto::driver
