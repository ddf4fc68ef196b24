#pragma once
/// What one instruction costs on a chip, before contention. Source: hardware reference 3.1 and 3.3.

#include "engine/time/timeline.hpp"

namespace pto::time {

/// Speeds something up or down: every matching instruction takes `percent` of its busy time. Empty members match all.
struct Change {
    std::string timing;   // timing key, or its beginning up to a dot: "cube", "cube.fp16", "path.acc_vec"
    std::string name;     // operation or vector function: "matmul"
    std::string stage;
    int percent = 100;    // 80: 20 % less time
};

/// Busy time and latency of one row. GM transfers carry their bytes separately: the memory system adds to them (cache.hpp).
struct Cost {
    Ticks busy = 0;
    Ticks latency = 0;
    bool gm = false;      // goes through L2 and HBM
    bool writes_gm = false;
};

/// The chip's rows compiled against one record: no text is looked at while replaying.
class Costs {
  public:
    /// fails  never: an instruction without a row (a hand-made key) costs nothing and counts as guessed
    Costs(const execute::Record& record, const machine::Chip& chip, const std::vector<Change>& changes = {});

    Cost of(const execute::CoreRecord& core, const execute::Row& row) const;
    machine::Grade grade(const execute::Row& row) const { return m_sites[std::size_t(row.site)].grade; }
    /// Scalar unit: what dispatching this row takes, its locks included.
    Ticks issue(const execute::Row& row) const;
    Ticks sync_cycle() const { return m_sync; }

  private:
    enum class Kind : std::uint8_t { fixed, load, store, fix_store, transfer, fix_move, cube, vector_tile, reduction, vector_call };
    struct SiteCost {
        Kind kind = Kind::fixed;
        machine::Grade grade = machine::Grade::guessed;
        Ticks startup = 0, latency = 0, each_row = 0;
        std::int64_t numerator = 0, denominator = 1; // ticks per unit
        std::int32_t block_m = 16, block_n = 16, block_k = 16, k_pad = 1;
        std::int32_t elements_per_cycle = 64;
        bool by_element = false;
        std::int64_t combine_numerator = 0, combine_denominator = 1; // reductions: ticks for every further line of a row
    };
    Ticks scaled(const SiteCost& s, std::int64_t units) const { return s.startup + (units * s.numerator + s.denominator - 1) / s.denominator; }
    Ticks vector_tile(const SiteCost& s, const execute::Row& row) const;

    std::vector<SiteCost> m_sites;
    std::vector<Ticks> m_calls;              // per CallWork, start-up excluded
    Ticks m_issue = 0, m_scalar = 0, m_lock = 0, m_sync = 0, m_vector_row = 0, m_partial = 0;
    std::int64_t m_clash_sources = 1024, m_clash_destination = 1024; // in 1/1024
    std::vector<std::vector<int>> m_percent; // [site][stage + 1] of each distinct stage list; empty: no change
    std::vector<const std::vector<std::string>*> m_stage_lists;
};

} // namespace pto::time
