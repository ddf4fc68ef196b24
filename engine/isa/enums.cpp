#include "engine/isa/enums.hpp"

namespace pto::isa {
namespace {

struct Member {
    EnumKind kind;
    std::uint8_t ordinal;
    std::string_view type, text;
};

constexpr std::string_view kind_names[] = {
#define PTO_ENUM(Type, text) text,
#include "engine/isa/enums.def"
};

constexpr Member members[] = {
#define PTO_MEMBER(Type, name, text) Member{EnumKind::Type, std::uint8_t(Type::name), kind_names[int(EnumKind::Type)], text},
#include "engine/isa/enums.def"
};

} // namespace

std::string_view name(EnumKind kind) { return kind_names[int(kind)]; }

std::string_view name(EnumValue value) {
    for (const Member& m : members)
        if (m.kind == value.kind && m.ordinal == value.ordinal) return m.text;
    return "?";
}

std::optional<EnumValue> find_enum(std::string_view type, std::string_view member) {
    for (const Member& m : members)
        if (m.type == type && m.text == member) return EnumValue{m.kind, m.ordinal};
    return std::nullopt;
}

#define PTO_ENUM(Type, text)                                                                                           \
    std::string_view name(Type value) { return name(enum_value(value)); }
#include "engine/isa/enums.def"

} // namespace pto::isa
