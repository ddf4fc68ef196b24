#pragma once
/// The language's enumerations as C++ enums, plus one numbering of their types for attributes and look-up by name.

#include <cstdint>
#include <optional>
#include <string_view>

namespace pto::isa {

#define PTO_ENUM(Type, text) enum class Type : std::uint8_t {
#define PTO_MEMBER(Type, name, text) name,
#define PTO_ENUM_END(Type) };
#include "engine/isa/enums.def"

/// Which enumeration an enum value belongs to.
enum class EnumKind : std::uint8_t {
#define PTO_ENUM(Type, text) Type,
#include "engine/isa/enums.def"
    count
};

/// An enum argument whose type is known at run time only.
struct EnumValue {
    EnumKind kind{};
    std::uint8_t ordinal = 0;
    bool operator==(const EnumValue&) const = default;
    template <class E> E as() const { return E(ordinal); }
};

/// "MemorySpace", "TensorLayout" ...: the name under pl.
std::string_view name(EnumKind kind);
/// "Vec", "CAST_RINT" ...: the member's name.
std::string_view name(EnumValue value);
/// find_enum("MemorySpace", "Vec"); nothing when either is unknown.
std::optional<EnumValue> find_enum(std::string_view type, std::string_view member);

#define PTO_ENUM(Type, text)                                                                                           \
    std::string_view name(Type value);                                                                                 \
    inline EnumValue enum_value(Type value) { return {EnumKind::Type, std::uint8_t(value)}; }
#include "engine/isa/enums.def"

/// The two kinds of core of a block.
enum class Core : std::uint8_t { cube, vector };
inline std::string_view name(Core c) { return c == Core::cube ? "cube" : "vector"; }

} // namespace pto::isa
