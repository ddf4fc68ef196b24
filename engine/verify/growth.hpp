#pragma once
/// How scalar values depend on the number of the task (docs/model/sync.md, premise P1), and which of them decide what is issued.

#include "engine/program/prepared.hpp"
#include "engine/verify/loops.hpp"

#include <functional>
#include <set>

namespace pto::verify {

/// Not at all or through remainders by constants; as a sum of counters; in any other way.
enum class Growth : std::uint8_t { none, linear, wild };

class Growths {
  public:
    /// counters: the task loops of this core.
    Growths(const program::CoreCode& core, const std::vector<std::int32_t>& counters);
    Growth of(ir::ExprId id) const;
    Growth of_var(std::int32_t var) const { return m_vars[std::size_t(var)]; }
    Growth of_field(std::int32_t structure, std::int32_t field) const { return m_fields[std::size_t(structure)][std::size_t(field)]; }
    /// Instructions of the task loops, half-open.
    const std::vector<std::pair<std::int32_t, std::int32_t>>& ranges() const { return m_ranges; }

  private:
    /// A variable or a field.
    struct Node {
        std::int32_t var = -1, structure = -1, field = -1;
        auto operator<=>(const Node&) const = default;
    };
    Growth& field(ir::StructId s, std::int32_t k) { return m_fields[std::size_t(s.index)][std::size_t(k)]; }
    void raw_reads(ir::ExprId id, std::set<Node>& out) const;
    static std::optional<Node> target(const program::Instr& in);
    void self_dependence(const program::Instr& in, std::int32_t begin, std::int32_t end);

    const program::CoreCode& m_core;
    const ir::Function& m_f;
    std::vector<Growth> m_vars;
    std::vector<std::vector<Growth>> m_fields;
    std::vector<std::pair<std::int32_t, std::int32_t>> m_ranges;
};

/// Calls use(expression, what it would mean if that grew with the task) for every expression that selects an instruction, a slot, an
/// id, a valid shape or on-chip bytes. The guard of a task loop is true by construction and left out.
void for_each_use(const program::CoreCode& core, const program::Prepared& prepared, const std::vector<std::int32_t>& counters,
                  const std::function<void(ir::ExprId, const char*)>& use);

/// The part of a core's scalar state that decides what it will still issue: what the task loops assign, counters as far as remainders
/// look at them, and the tiles. Equal digests before an iteration, equal instructions from there on.
class Watch {
  public:
    Watch(const program::CoreCode& core, const program::Prepared& prepared, const std::vector<std::int32_t>& counters);
    std::size_t digest(const program::Sequencer& s) const;

  private:
    struct Item {
        std::int32_t var = -1, structure = -1, field = -1, records = 1, elements = 1;
        std::int64_t modulus = 0; // 0: the value itself
    };
    std::vector<Item> m_items;
    std::vector<ir::TileVarId> m_handles;
    std::vector<ir::TileDeclId> m_declarations;
};

} // namespace pto::verify
