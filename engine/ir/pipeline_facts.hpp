#pragma once
/// What the pipeline transform has to know about a kernel that its text alone does not say. The resolver runs once per core
/// target over the untransformed kernel (the probe) and fills one of these; merge() joins the two. Source: pipeline reference, 2.

#include "engine/base/span.hpp"
#include "engine/isa/dtype.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pto::pipeline {

enum class ValueKind : std::uint8_t {
    unknown,         // no typed binding: module constants, enums, names the probe never met
    scalar,          // dtype says which
    tile,
    tensor,
    tuple,           // tile groups, tuples of tiles, make_tuple
    structure,       // pl.struct
    structure_array, // pl.struct_array
    pointer,
};

struct NameFact {
    ValueKind kind = ValueKind::unknown;
    isa::DType dtype = isa::DType::index; // scalars
};

struct FieldFact {
    std::string name;
    isa::DType dtype = isa::DType::index;
    std::int32_t length = 0; // 0 scalar, otherwise elements of a fixed array
};

struct Facts {
    /// For every `if` (and conditional expression) met: span of its condition -> the value it folds to, or nothing when it is not
    /// constant. A condition that is not in the map was never met.
    std::map<Span, std::optional<bool>> if_const;
    /// Names bound inside the kernel, parameters and loop variables included. When bindings differ in kind, the last one met.
    std::map<std::string, NameFact> names;
    /// Fields of every struct variable, in declaration order.
    std::map<std::string, std::vector<FieldFact>> structs;
    /// Type of each argument expression of a stage call, by its span; the transform infers it from the names when absent.
    std::map<Span, isa::DType> argument_dtypes;
};

/// Joins the probes of the two targets: a constant verdict beats "never met" and beats "not constant"; two different constants
/// are not constant; a typed name beats an unknown one.
inline Facts merge(Facts a, const Facts& b) {
    for (const auto& [at, value] : b.if_const) {
        auto [here, inserted] = a.if_const.emplace(at, value);
        if (inserted || !value) continue;
        if (!here->second) here->second = value;
        else if (*here->second != *value) here->second.reset();
    }
    for (const auto& [name, fact] : b.names) {
        auto [here, inserted] = a.names.emplace(name, fact);
        if (!inserted && here->second.kind == ValueKind::unknown) here->second = fact;
    }
    a.structs.insert(b.structs.begin(), b.structs.end());
    a.argument_dtypes.insert(b.argument_dtypes.begin(), b.argument_dtypes.end());
    return a;
}

} // namespace pto::pipeline
