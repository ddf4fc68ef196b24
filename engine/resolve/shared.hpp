#pragma once
/// What both core targets of one resolve() share: look-ups are asked once, findings are collected in one list.

#include "engine/resolve/resolve.hpp"
#include "engine/resolve/value.hpp"

#include <unordered_map>

namespace pto::resolve {

struct Shared {
    const syntax::KernelSource& source;
    syntax::Environment& environment;
    const SourceMap& sources;
    const ResolveOptions& options;
    const isa::Catalogue& catalogue;
    Diagnostics diagnostics;
    std::map<std::string, syntax::Constant> constants_used;
    std::vector<std::unordered_map<std::string_view, Value>> outside; // [scope]: answers of the environment, keyed by tree text
    std::unordered_map<std::string_view, Value> specialised;          // tiling key fields and datatype variables
    std::vector<ir::Param> params;
    std::vector<std::unique_ptr<std::string>> key_storage;            // owns text of keys that no tree owns
    bool sees_cube = false, sees_vector = false;                      // sections met

    /// The value of a name outside every function being resolved; unbound when there is none.
    const Value& look_up(syntax::ScopeId scope, const std::string& name);
};

} // namespace pto::resolve
