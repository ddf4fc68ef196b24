#pragma once
/// Door of check: what is wrong with a kernel before anything runs, on a given chip.

#include "engine/base/diagnostics.hpp"
#include "engine/ir/kernel.hpp"
#include "engine/machine/chip.hpp"

namespace pto::check {

/// The rules of the language that the resolver cannot see from one expression: memories, types, shapes, capacities, addresses, sync ids.
///   in     kernel  resolved; both programs are checked, what both say is said once
///          chip    capacities, alignments, ids, data paths
///   out    errors for rules marked *must* and for what certainly cannot run; warnings for contracts. Sorted by position
///   fails  never
///   cost   O(statements + declarations log declarations)
///   source language reference 2.2, 3, 4, 8.2, 8.3
Diagnostics check(const ir::Kernel& kernel, const machine::Chip& chip);

/// What only a launch shows: more blocks than cores with a grid barrier, a partial grid.
Diagnostics check_launch(const ir::Kernel& kernel, const machine::Chip& chip, std::int32_t block_dim);

} // namespace pto::check
