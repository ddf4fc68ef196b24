#pragma once
/// Door of emission: a program as the C++ that a card's compiler takes. Text only; nothing here compiles or runs it.

#include "engine/base/diagnostics.hpp"
#include "engine/base/source_map.hpp"
#include "engine/program/program.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pto::emit {

struct EmitOptions {
    const SourceMap* sources = nullptr; // for the source line of every statement, as a comment; null: no comments
};

struct File {
    std::string name; // "kernel.cpp"
    std::string text;
};

struct LaunchParameter {
    std::string name, type; // "a_0_ptr", "__gm__ float*"
    std::string kind;       // "tensor", "pointer", "scalar", "tiling", "dim", "ffts"
    std::string source;     // the kernel's own parameter
    int axis = -1;          // kind dim: which size of it
};

struct Emitted {
    std::vector<File> files;                 // kernel.cpp first, then call_kernel.cpp, headers, launch_args.json
    std::string symbol;                      // the entry's C++ name
    std::vector<LaunchParameter> parameters; // the entry's ABI: source order, dynamic sizes last
    std::vector<std::string> command;        // arguments of the device compiler, the program's name first
    bool prints = false;                     // the kernel writes to the device's debug output
    bool complete = true;                    // every statement has its C++ form; otherwise the text must not be built
    Diagnostics diagnostics;                 // warnings: operations that have no C++ form, or mean something else on the card

    const File* file(std::string_view name) const {
        for (const File& f : files)
            if (f.name == name) return &f;
        return nullptr;
    }
};

/// Writes the translation unit, the launcher and the headers of an assembled program.
///   in     program  locks inserted
///          chip     arch a5 (ascend950); arch a3 and a2 as far as their data paths go: no locks, no vector functions, flags of the FFTS
///   out    same program, same bytes
///   fails  PTO-emit-form (a warning) per operation without a C++ form: its statement is left out, `complete` is false
///   cost   linear in the statements
///   source codegen reference, 1 to 4
Emitted emit(const program::Program& program, const machine::Chip& chip, const EmitOptions& options = {});

} // namespace pto::emit
