#pragma once
/// Shared JSON rules of the report values; for the .cpp files of this folder only.

#include "engine/isa/enums.hpp"
#include "engine/report/common.hpp"

#include <nlohmann/json.hpp>

namespace pto::isa {
NLOHMANN_JSON_SERIALIZE_ENUM(Core, {{Core::cube, "cube"}, {Core::vector, "vector"}})
} // namespace pto::isa

namespace pto::report {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Place, file, line, column)

inline void to_json(nlohmann::json& j, Status s) { j = word(s); }
inline void from_json(const nlohmann::json& j, Status& s) {
    for (int i = 0; i <= int(Status::stale); ++i)
        if (j == word(Status(i))) s = Status(i);
}

/// Every report object begins with the same four members.
inline nlohmann::json head(const Provenance& p) {
    return {{"schema", 1},
            {"computed_by", p.computed_by},
            {"checked_by", p.checked_by},
            {"estimated", p.estimated},
            {"timing_rows", {{"stated", p.stated_percent}, {"derived", p.derived_percent}, {"guessed", p.guessed_percent}}}};
}
inline Provenance provenance_of(const nlohmann::json& j) {
    Provenance p(j.at("computed_by"), j.at("checked_by"), j.at("estimated"));
    const auto& rows = j.at("timing_rows");
    p.stated_percent = rows.at("stated");
    p.derived_percent = rows.at("derived");
    p.guessed_percent = rows.at("guessed");
    return p;
}

/// The names of a value's members, once: json_put writes them beside what is there, json_take reads them back.
#define PTO_JSON_PUT(member) j[#member] = v.member;
#define PTO_JSON_TAKE(member) j.at(#member).get_to(v.member);
#define PTO_JSON_FIELDS(Type, ...)                                                                                     \
    inline void json_put(nlohmann::json& j, const Type& v) {                                                           \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(PTO_JSON_PUT, __VA_ARGS__))                                           \
    }                                                                                                                  \
    inline void json_take(const nlohmann::json& j, Type& v) {                                                          \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(PTO_JSON_TAKE, __VA_ARGS__))                                          \
    }

} // namespace pto::report
