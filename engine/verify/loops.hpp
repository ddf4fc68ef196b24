#pragma once
/// Which loops carry synchronisation, and which loops of the two cores are one loop of the source.

#include "engine/verify/trace.hpp"

namespace pto::verify {

struct LoopClass {
    std::string signature;       // variable and bounds as text
    std::string length;          // bounds as text when they cannot change during a run, else empty: equal text, equal length
    std::int32_t parent = -1;    // enclosing class
    bool innermost = true;       // no class inside
    Span at;
    std::vector<std::pair<std::size_t, std::int32_t>> members; // (program core, loop)
};

struct Loops {
    std::vector<LoopClass> classes;
    std::vector<std::map<std::int32_t, std::int32_t>> class_of; // per program core: loop -> class
    bool contains(std::int32_t outer, std::int32_t inner) const; // strictly
};

/// Loops whose body holds cross-core sync, flags, sync_all or a stage. Loops of the two cores with equal variable and bounds are paired
/// in order of appearance.
Loops find_loops(const program::Program& program);

} // namespace pto::verify
