#pragma once
/// A small kernel around each operation of the catalogue and around each form it has: what emission is tested on.

#include "engine/program/program.hpp"
#include "tests/support/ir_builder.hpp"

#include <string>
#include <vector>

namespace pto::testing {

struct RowKernel {
    std::string name; // "r12_load_nz": the kernel's name, and the file's
    std::string row;  // the catalogue row it holds
    program::Program program;
};

/// Every row that is an instruction, at least once; constructs are left out.
std::vector<RowKernel> row_kernels();

const machine::Chip& ascend950();

} // namespace pto::testing
