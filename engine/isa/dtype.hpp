#pragma once
/// Element types of the language (pl.DT_*) and their facts. Source: language reference, section 2.1.

#include <cstdint>
#include <optional>
#include <string_view>

namespace pto::isa {

enum class DType : std::uint8_t {
    boolean, int4, int8, int16, int32, int64, index, // index: the 64-bit integer of loop variables and int literals
    uint4, uint8, uint16, uint32, uint64,
    fp16, bf16, fp32,
    fp8e4m3, fp8e5m2, fp8e8m0, fp4, fp4e2m1, fp4e1m2, hf8, hf4,
};
inline constexpr int dtype_count = int(DType::hf4) + 1;

/// Bits of one element; 4-bit types are stored two to a byte, first element in the low nibble.
int bits(DType t);
/// Bytes of one element rounded up (1 for 4-bit types).
inline int bytes(DType t) { return (bits(t) + 7) / 8; }
/// Bytes of n consecutive elements, rounded up.
inline std::int64_t bytes(DType t, std::int64_t n) { return (n * bits(t) + 7) / 8; }
bool is_float(DType t);        // every floating kind, storage-only ones included
bool is_signed_int(DType t);   // index included
bool is_unsigned_int(DType t); // boolean excluded
inline bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }
/// False for types that exist in memory only (FP8, FP4, HF8, INT4 ...).
bool is_scalar(DType t);
/// "fp32", "int8", "index" ...: the IR's spelling.
std::string_view name(DType t);
/// "DT_FP32"; empty for index.
std::string_view language_name(DType t);
/// Accepts both spellings.
std::optional<DType> find_dtype(std::string_view text);

} // namespace pto::isa
