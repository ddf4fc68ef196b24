#include "engine/driver/report_words.hpp"

namespace pto::driver {

std::string_view memory_word(isa::MemorySpace memory) {
    switch (memory) {
    case isa::MemorySpace::ddr: return "GM";
    case isa::MemorySpace::vec: return "UB";
    case isa::MemorySpace::mat: return "L1";
    case isa::MemorySpace::left: return "L0A";
    case isa::MemorySpace::right: return "L0B";
    case isa::MemorySpace::acc: return "L0C";
    case isa::MemorySpace::bias: return "BT";
    case isa::MemorySpace::scaling: return "FB";
    case isa::MemorySpace::scale_left: return "L0A scales";
    case isa::MemorySpace::scale_right: return "L0B scales";
    }
    return isa::name(memory);
}

std::string preload_text(const Compiled& c) {
    std::string out;
    for (std::int64_t p : c.preload) out += (out.empty() ? "" : ",") + std::to_string(p);
    return out;
}

const ir::TileDecl* declaration(const Compiled& c, const std::string& name) {
    const ir::Kernel* k = c.kernel();
    if (!k) return nullptr;
    for (const std::optional<ir::Function>* side : {&k->cube, &k->vector})
        if (*side)
            for (const ir::TileDecl& d : (*side)->decls)
                if (d.name == name) return &d;
    return nullptr;
}

} // namespace pto::driver
