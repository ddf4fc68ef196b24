#pragma once
/// What the rows of copies say about their windows.

#include "engine/isa/op_row.hpp"

namespace pto::isa {

/// True when the indices of the two selected axes count whole tiles: rows whose place is called `idx` (load_tile, store_tile).
inline bool counts_whole_tiles(const OpRow& row) { return row.shape == ShapeRule::window && row.operand("idx") != nullptr; }

/// True when the way out of Acc may convert: rows with the fixpipe's keywords.
inline bool has_fixpipe_options(const OpRow& row) { return row.keyword("relu_pre_mode") != nullptr; }

} // namespace pto::isa
