#pragma once
/// Pieces that rows are put together from: type sets, memories, operands and keywords. Used by the family files only.

#include "engine/isa/catalogue.hpp"

namespace pto::isa::parts {

using D = DType;
using M = MemorySpace;
using K = OperandKind;

// Type sets of the tables of language 3.5 to 3.9.
inline constexpr std::uint32_t i8_16_32 = bit_set({D::int8, D::int16, D::int32, D::uint8, D::uint16, D::uint32});
inline constexpr std::uint32_t i16_32 = bit_set({D::int16, D::int32, D::uint16, D::uint32});
inline constexpr std::uint32_t i64 = bit_set({D::int64, D::uint64});
inline constexpr std::uint32_t i8_to_64 = i8_16_32 | i64;
inline constexpr std::uint32_t i16_to_64 = i16_32 | i64;
inline constexpr std::uint32_t f16_32 = bit_set({D::fp16, D::fp32});
inline constexpr std::uint32_t f16_b16_32 = bit_set({D::fp16, D::bf16, D::fp32});
inline constexpr std::uint32_t fp32_only = bit_set({D::fp32});
inline constexpr std::uint32_t b16_b32 = i16_32 | f16_b16_32;
inline constexpr std::uint32_t indices = i16_32;

inline constexpr std::uint32_t vec = bit_set({M::vec});
inline constexpr std::uint32_t mat = bit_set({M::mat});
inline constexpr std::uint32_t vec_mat = bit_set({M::vec, M::mat});
inline constexpr std::uint32_t vec_acc = bit_set({M::vec, M::acc});

/// A tile that is written / read / both / only required by the signature.
constexpr Operand out(std::uint32_t dtypes = any_set, std::string_view name = "out", std::uint32_t memories = vec) {
    return {name, K::tile, Role::write, false, memories, dtypes};
}
constexpr Operand in(std::string_view name, std::uint32_t dtypes = any_set, std::uint32_t memories = vec) {
    return {name, K::tile, Role::read, false, memories, dtypes};
}
constexpr Operand in_out(std::string_view name, std::uint32_t dtypes = any_set, std::uint32_t memories = vec) {
    return {name, K::tile, Role::read_write, false, memories, dtypes};
}
/// Scratch operands are required by the signature and untouched at this snapshot (language 3.7, 9.1 #28).
constexpr Operand scratch(std::string_view name = "tmp", bool optional = false) { return {name, K::tile, Role::none, optional, vec, any_set}; }
constexpr Operand number(std::string_view name, bool optional = false) { return {name, K::scalar, Role::read, optional}; }
constexpr Operand numbers(std::string_view name, bool optional = false) { return {name, K::scalar_list, Role::read, optional}; }

constexpr Keyword choice(std::string_view name, EnumKind kind, std::string_view fallback = {}, bool required = false) {
    return {name, KeywordKind::enumeration, kind, fallback, required};
}
constexpr Keyword key(std::string_view name, KeywordKind kind, std::string_view fallback = {}, bool required = false) {
    return {name, kind, EnumKind::count, fallback, required};
}

} // namespace pto::isa::parts
