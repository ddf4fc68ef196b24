#pragma once
/// Vector items of a tile on the builder's last core.

#include "tests/support/record_builder.hpp"
#include "tools/validate/programs.hpp"

namespace pto::validate {

/// Appends the items to pipe V; `bytes` is the tile, a vector function's work counts its 256-byte lines; `scalar_before`: instructions of the
/// scalar unit before each beyond those of a plain loop.
void add_items(support::RecordBuilder& b, const std::vector<Item>& items, std::int64_t bytes, isa::DType dtype, int scalar_before = 0);

} // namespace pto::validate
