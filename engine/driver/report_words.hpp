#pragma once
/// What the reports call things: one word per memory, the preload as applied, a buffer's declaration by its name.

#include "engine/driver/compile.hpp"

namespace pto::driver {

/// "UB", "L1", "L0A" ...: the words of the chip's manual.
std::string_view memory_word(isa::MemorySpace memory);
/// "2", or "1,2" for several loops.
std::string preload_text(const Compiled& c);
/// The declaration called `name` in the kernel that runs, cube side first; null when there is none.
const ir::TileDecl* declaration(const Compiled& c, const std::string& name);

} // namespace pto::driver
