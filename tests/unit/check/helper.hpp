#pragma once
/// Kernels of one program and the findings on them.

#include "tests/support/catch.hpp"

#include "engine/check/check.hpp"
#include "tests/support/ir_builder.hpp"

#include <string>

namespace pto::check {

using testing::FunctionBuilder;
using testing::tile_type;
using M = isa::MemorySpace;
using D = isa::DType;

inline ir::Kernel kernel_of(FunctionBuilder& b) {
    ir::Kernel k;
    k.name = "k";
    for (ir::TileVar& t : b.f.tiles) // the builder numbers its handles; people read the names they wrote
        if (t.may_be.size() == 1) t.name = b.f[t.may_be[0]].name;
    (b.f.core == isa::Core::cube ? k.cube : k.vector) = b.f;
    return k;
}
inline const machine::Chip& chip(const char* name = "ascend950") { return *machine::find_chip(name); }
inline Diagnostics findings(FunctionBuilder& b, const char* on = "ascend950") { return check(kernel_of(b), chip(on)); }

inline std::string all(const Diagnostics& list) {
    std::string text;
    for (const Diagnostic& d : list) text += std::string(row(d.code).text) + ": " + d.message + "\n";
    return text;
}
inline int count(const Diagnostics& list, Code code) {
    int n = 0;
    for (const Diagnostic& d : list) n += d.code == code;
    return n;
}
inline bool says(const Diagnostics& list, Code code, const std::string& part) {
    for (const Diagnostic& d : list)
        if (d.code == code && d.message.find(part) != std::string::npos) return true;
    return false;
}
/// The one finding is of this code and says this.
inline bool only(const Diagnostics& list, Code code, const std::string& part) { return list.size() == 1 && says(list, code, part); }

} // namespace pto::check
