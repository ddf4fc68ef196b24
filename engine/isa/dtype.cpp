#include "engine/isa/dtype.hpp"

#include <array>

namespace pto::isa {
namespace {

enum class Kind : std::uint8_t { boolean, sint, uint, real, storage_int, storage_real };
struct Row {
    std::string_view name, language;
    int bits;
    Kind kind;
};
constexpr std::array<Row, dtype_count> rows{{
    {"bool", "DT_BOOL", 8, Kind::boolean},
    {"int4", "DT_INT4", 4, Kind::storage_int},
    {"int8", "DT_INT8", 8, Kind::sint},
    {"int16", "DT_INT16", 16, Kind::sint},
    {"int32", "DT_INT32", 32, Kind::sint},
    {"int64", "DT_INT64", 64, Kind::sint},
    {"index", "", 64, Kind::sint},
    {"uint4", "DT_UINT4", 4, Kind::storage_int},
    {"uint8", "DT_UINT8", 8, Kind::uint},
    {"uint16", "DT_UINT16", 16, Kind::uint},
    {"uint32", "DT_UINT32", 32, Kind::uint},
    {"uint64", "DT_UINT64", 64, Kind::uint},
    {"fp16", "DT_FP16", 16, Kind::real},
    {"bf16", "DT_BF16", 16, Kind::real},
    {"fp32", "DT_FP32", 32, Kind::real},
    {"fp8e4m3", "DT_FP8E4M3FN", 8, Kind::storage_real},
    {"fp8e5m2", "DT_FP8E5M2", 8, Kind::storage_real},
    {"fp8e8m0", "DT_FP8E8M0", 8, Kind::storage_real},
    {"fp4", "DT_FP4", 4, Kind::storage_real},
    {"fp4e2m1", "DT_FP4E2M1", 4, Kind::storage_real},
    {"fp4e1m2", "DT_FP4E1M2", 4, Kind::storage_real},
    {"hf8", "DT_HF8", 8, Kind::storage_real},
    {"hf4", "DT_HF4", 4, Kind::storage_real},
}};
const Row& row(DType t) { return rows[std::size_t(t)]; }

} // namespace

int bits(DType t) { return row(t).bits; }
bool is_float(DType t) { return row(t).kind == Kind::real || row(t).kind == Kind::storage_real; }
bool is_signed_int(DType t) { return row(t).kind == Kind::sint || t == DType::int4; }
bool is_unsigned_int(DType t) { return row(t).kind == Kind::uint || t == DType::uint4; }
bool is_scalar(DType t) { return row(t).kind != Kind::storage_int && row(t).kind != Kind::storage_real; }
std::string_view name(DType t) { return row(t).name; }
std::string_view language_name(DType t) { return row(t).language; }

std::optional<DType> find_dtype(std::string_view text) {
    for (int i = 0; i < dtype_count; ++i)
        if (!text.empty() && (rows[std::size_t(i)].name == text || rows[std::size_t(i)].language == text)) return DType(i);
    return std::nullopt;
}

} // namespace pto::isa
