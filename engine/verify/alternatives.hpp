#pragma once
/// Conditions that decide nothing another pipe or core could notice (docs/model/sync.md, section 5): whichever way they go, the same
/// operations meet others in the same order, with the same locks.

#include "engine/program/program.hpp"
#include "engine/verify/protect.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace pto::verify {

/// Instructions [begin, end) of which one way runs, and the way that stands for all.
struct Choice {
    std::int32_t begin = 0, end = 0;
    std::map<std::int32_t, bool> taken;     // per branch of the standing way
    std::vector<std::int32_t> left_out;     // operations of any way that only locks order
    std::vector<std::pair<std::int32_t, std::int32_t>> unused; // regions of the other ways
    std::vector<std::int32_t> standing;     // exposed operations of the standing way
};

class Alternatives {
  public:
    Alternatives(const program::CoreCode& core, const std::vector<char>& exposed, const std::vector<Protection::Meeting>& meeting);

    /// The choice that begins with this branch; empty when its ways differ in what others may notice.
    std::optional<Choice> at(std::int32_t branch) const;

    /// Bound once, as another name of a tile: the tile it stands for.
    ir::TileVarId named(ir::TileVarId t) const;
    /// Assigned once in the whole program: whoever reads it is on the same way.
    bool assigned_once(ir::VarId v) const { return m_assigned[std::size_t(v.index)] == 1; }
    bool bound_once(ir::TileVarId t) const { return m_bound[std::size_t(t.index)] == 1; }

  private:
    std::optional<Choice> way(std::int32_t begin, std::int32_t end) const;
    bool covers(std::int32_t a, std::int32_t b) const;
    bool covers(const Choice& a, const Choice& b) const;
    bool same(ir::ExprId a, ir::ExprId b) const;
    bool complementary(ir::ExprId a, ir::ExprId b) const;
    std::optional<std::int64_t> least(ir::ExprId e, int depth = 0) const;
    bool written_in(std::int32_t begin, std::int32_t end, ir::ExprId e) const;

    const program::CoreCode& m_core;
    const ir::Function& m_f;
    const std::vector<char>& m_exposed;
    const std::vector<Protection::Meeting>& m_meeting;
    std::vector<std::int32_t> m_assigned, m_bound;              // per variable, per tile name: how often
    std::vector<const ir::TileBind*> m_bind;                    // per tile name: the last one seen
};

} // namespace pto::verify
