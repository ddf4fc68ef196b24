#pragma once
/// Reductions in their documented order (language 3.7, 5.6) and sorting records (3.9).

#include "engine/execute/numerics/lanes.hpp"

namespace pto::numerics {

/// Bytes of one vector register: the piece of a row that is reduced by one balanced tree.
inline constexpr std::size_t chunk_bytes = 256;

/// Balanced tree over neighbours, ((x0+x1)+(x2+x3))+...; the span is padded with +0 to the chunk (64 fp32, or 128 lanes
/// widened to fp32).
float tree_sum(const float* x, std::size_t n, std::size_t chunk_lanes);

/// One row to one element.
///   sum   each 256-byte chunk by tree_sum (fp16: in fp32, then rounded to fp16), chunk results added left to right in
///   the type from 0 prod  the same with products, from 1       max, min  NaN wins, max(-0, +0) = +0
/// Integers wrap; INT16 sums are the low 16 bits of the exact sum.
/// Returns false for a function or type without meaning.
bool reduce_row(LaneFn fn, DType type, const void* row, std::size_t n, void* out);
/// Index of the row's extreme, the first of equals; the first NaN if there is one. fn is argmax or argmin.
bool arg_row(LaneFn fn, DType type, const void* row, std::size_t n, std::int32_t* index);

/// All columns at once: `rows` rows of `cols` elements, row_bytes apart, to one row.
///   sum   row 0, then the pairs (r1 + r2), (r3 + r4) ... added one after the other, a last single row alone; each step
///   rounds to the type
bool reduce_columns(LaneFn fn, DType type, const void* base, std::size_t rows, std::int64_t row_bytes, std::size_t cols,
                    void* out);
bool arg_columns(LaneFn fn, DType type, const void* base, std::size_t rows, std::int64_t row_bytes, std::size_t cols,
                 std::int32_t* indices);

/// Sort records: eight bytes. FP32: value, index; FP16: value, a zero half, index.
inline constexpr std::size_t record_bytes = 8;
/// Groups of 32 values, each group descending, equal values in their old order (a NaN counts as the largest). A last
/// group may be shorter. type is fp32 or fp16.
bool sort32(DType type, const void* values, const std::uint32_t* index, std::size_t n, void* records);
/// Merges sorted lists of records; equal values: earlier list first. Stops after `limit` records, and with `exhausted`
/// when a list ends. Returns the number of records written and how many each list gave.
struct RecordList {
    const void* records;
    std::size_t count;
};
std::size_t merge_records(DType type, const RecordList* lists, std::size_t list_count, std::size_t limit,
                          bool exhausted, void* out, std::size_t* taken);

} // namespace pto::numerics
