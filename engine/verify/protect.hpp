#pragma once
/// Operations that locks alone put in order, whatever the control flow (docs/model/sync.md, section 5).

#include "engine/machine/chip.hpp"
#include "engine/program/program.hpp"

#include <set>
#include <vector>

namespace pto::verify {

/// An operation is protected when every operation that may touch the same bytes from another pipe (or core), one of both writing,
/// holds a common lock or stands on the other side of a full barrier. All others, and everything that synchronises, are exposed.
struct Protection {
    /// Operands of an exposed operation that another pipe or core may meet. None for synchronisation.
    struct Meeting {
        std::set<std::int32_t> tiles;
        bool tensor = false;
    };
    std::vector<std::vector<char>> exposed; // [program cores][instructions]
    std::vector<std::vector<Meeting>> meeting;
    std::vector<std::vector<char>> outputs; // stores that only meet stores of the other vector core
    bool any = false;                       // some operation is exposed or an output
};
/// Tiles whose mutex ids an operation takes; null for statements that take none.
const std::vector<ir::TileVarId>* locks_of(const ir::Stmt& stmt);
Protection protect(const program::Program& program);

} // namespace pto::verify
