#pragma once
/// What several uses of one operand amount to.

#include "engine/isa/op_row.hpp"

namespace pto::isa {

/// Read, write or both: two uses of one tile together.
inline Role unite(Role a, Role b) {
    if (a == Role::none || a == b) return b;
    return b == Role::none ? a : Role::read_write;
}

} // namespace pto::isa
