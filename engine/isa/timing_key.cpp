#include "engine/isa/timing_key.hpp"

namespace pto::isa {

std::string_view path_name(MemorySpace memory) {
    switch (memory) {
    case MemorySpace::ddr: return "gm";
    case MemorySpace::vec: return "vec";
    case MemorySpace::mat: return "mat";
    case MemorySpace::left: return "left";
    case MemorySpace::right: return "right";
    case MemorySpace::acc: return "acc";
    case MemorySpace::bias: return "bias";
    case MemorySpace::scaling: return "scaling";
    case MemorySpace::scale_left: return "scale_left";
    case MemorySpace::scale_right: return "scale_right";
    }
    return "";
}

std::string timing_key(const OpRow& row, const TimingFacts& facts) {
    auto path = [](MemorySpace from, MemorySpace to) { return "path." + std::string(path_name(from)) + "_" + std::string(path_name(to)); };
    switch (row.semantics) {
    case Semantics::load: return path(MemorySpace::ddr, facts.destination);
    case Semantics::store: return path(facts.source, MemorySpace::ddr);
    case Semantics::insert: return path(MemorySpace::vec, MemorySpace::mat);
    case Semantics::move: return path(facts.source, facts.destination) + (facts.dual ? "_dual" : "");
    case Semantics::matmul:
    case Semantics::matmul_acc:
    case Semantics::matmul_mx:
    case Semantics::matmul_mx_acc: return "cube." + std::string(name(facts.dtype));
    case Semantics::elementwise:
        // One source tile less: fewer loads a line, so these two keep rows of their own.
        if (facts.scalar && (row.timing == "vector.add" || row.timing == "vector.div")) return std::string(row.timing) + "_scalar";
        return std::string(row.timing);
    default: return std::string(row.timing);
    }
}

} // namespace pto::isa
