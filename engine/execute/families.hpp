#pragma once
/// The meanings, one family a file.

#include "engine/execute/call.hpp"

namespace pto::execute {

extern const Meaning load_meaning, store_meaning;  // movement.cpp
extern const Meaning move_meaning, insert_meaning; // move.cpp
extern const Meaning matmul_meaning;               // cube.cpp
extern const Meaning elementwise_meaning, clobbering_meaning, axpy_meaning, fill_meaning, fill_index_meaning,
    compare_meaning, select_meaning, expand_meaning, part_meaning;                                     // vector.cpp
extern const Meaning reduce_meaning, arg_reduce_meaning;                                               // reduce.cpp
extern const Meaning cast_meaning, quant_meaning, dequant_meaning, fillpad_meaning, transpose_meaning; // convert.cpp
extern const Meaning gather_meaning, gather_compare_meaning, gather_blocks_meaning, gather_mask_meaning,
    scatter_meaning;                                                                             // gather.cpp
extern const Meaning sort32_meaning, merge_sort_meaning, merge_lists_meaning, histogram_meaning; // sort.cpp
extern const Meaning getval_meaning, setval_meaning, ssbuf_store_meaning, ssbuf_load_meaning,
    vector_mask_meaning;                                             // scalar.cpp
extern const Meaning print_meaning, assertion_meaning, dump_meaning; // debug.cpp

/// out = src converted under a RoundMode ordinal, over out's valid region: cast and the fused forms that end in one.
void convert_tile(Call& c, const TileView& out, const TileView& src, int round_mode);

} // namespace pto::execute
