#pragma once
/// Flags, counters and barriers while a record is replayed: who raised what and when.

#include "engine/time/timeline.hpp"

#include <functional>
#include <map>

namespace pto::time {

/// Something raised: when it can be seen, and the global row that raised it.
struct Arrival {
    Ticks at = 0;
    std::int64_t row = -1;
};

/// The k-th wait takes the k-th arrival.
class Arrivals {
  public:
    void add(Arrival a) { m_items.push_back(a); }
    bool empty() const { return m_head == m_items.size(); }
    const Arrival& front() const { return m_items[m_head]; }
    void pop() {
        if (++m_head == m_items.size()) m_items.clear(), m_head = 0;
        else if (m_head > 256) m_items.erase(m_items.begin(), m_items.begin() + std::ptrdiff_t(m_head)), m_head = 0;
    }

  private:
    std::vector<Arrival> m_items;
    std::size_t m_head = 0;
};

/// What one core receives: its in-core flags and its cross-core counters. A cube counts ids 0 to 15 from AIV0 and 16 to 31 from AIV1.
class CoreSignals {
  public:
    void prepare(isa::Core core);
    void set_flag(const execute::Row& row, Arrival a);
    bool take_flag(const execute::Row& row, Arrival& a);
    void add(int counter, Arrival a) { m_counters[std::size_t(m_alias[counter])].add(a); }
    /// The ids become one counter that holds one arrival more.
    void join(const std::vector<int>& ids, int vectors);
    bool take_counter(int counter, Arrival& a);
    /// INTRA_BLOCK: a cube takes one of each of its `vectors` vector cores, the later one decides.
    bool take_intra(int id, int vectors, Arrival& a);

  private:
    isa::Core m_core = isa::Core::cube;
    Arrivals& flag(const execute::Row& row);
    std::vector<std::int16_t> m_flag_slot; // by (set pipe, wait pipe, id): index into m_flags, -1 unused
    std::vector<Arrivals> m_flags;
    std::vector<Arrivals> m_counters;
    std::int8_t m_alias[32];
};

/// What more than two cores share: barrier-like counters (INTER_BLOCK, INTER_SUBBLOCK) and sync_all.
class GridSignals {
  public:
    explicit GridSignals(const execute::Record& record);

    /// Number of vector cores in the block of a core.
    int vectors_of(std::int32_t core) const { return m_members[std::size_t(core)].vectors; }
    /// Calls f(core, counter) for every core that a set reaches.
    void each_partner(std::int32_t core, int id, bool unicast, const std::function<void(std::int32_t, int)>& f) const;
    /// Calls f(core) for every core that takes part in a barrier-like counter with this one.
    void each_member(std::int32_t core, int mode, const std::function<void(std::int32_t)>& f) const;

    /// A set of a barrier-like counter; true when it completes a round.
    bool set(std::int32_t core, int mode, int id, Arrival a);
    /// The core's next wait: false until every member has set as often.
    bool take(std::int32_t core, int mode, int id, Arrival& a);

    /// sync_all; `type` is a SyncCoreType. True when this core was the last of the round.
    bool arrive_all(std::int32_t core, int type, Ticks at, std::int64_t row);
    bool all_there(std::int32_t core, int type, Arrival& a) const;
    void pass_all(std::int32_t core, int type);

  private:
    struct Member {
        isa::Core kind = isa::Core::cube;
        std::int32_t block = 0, subblock = 0, vectors = 0;
        std::vector<std::int32_t> same_block; // cores of the block, itself included
    };
    struct Round {
        std::int32_t arrived = 0;
        Arrival last;
    };
    struct Group {
        std::vector<Round> rounds;
        std::map<std::int32_t, std::int32_t> sets, waits; // rounds each core has set, passed
    };
    std::int64_t group_key(std::int32_t core, int mode, int id) const;
    std::int32_t group_size(std::int32_t core, int mode) const;
    bool arrive(Group& g, std::int32_t core, std::int32_t size, Arrival a);
    bool complete(const Group& g, std::int32_t core, std::int32_t size, Arrival& a) const;
    std::int32_t all_size(int type) const;

    std::vector<Member> m_members;
    std::int32_t m_cubes = 0, m_vectors = 0;
    std::map<std::int64_t, Group> m_groups;
    std::map<int, Group> m_all;
};

/// The unit flag of one L0C region: M raises it with a final matmul, FIX clears it with a final store (hardware 2.4).
struct UnitFlag {
    std::uint16_t region = 0xFFFF;
    std::int32_t final_matmul = -1, final_store = -1; // rows
    std::int32_t raised = 0, cleared = 0;
};
/// Whether a phased row may run, from when, and before when it cannot end: M and FIX overlap block by block. A store is issued before the
/// matmul is done and waits inside the fixpipe, block after block (its busy time contains the wait, hardware 2.4): it ends one block after the
/// final matmul. The next matmul may start once the store has begun and ends one block after it.
bool unit_flag_ready(std::vector<UnitFlag>& flags, const execute::Row& row, bool matmul, Ticks busy, const CoreTimes& times, Ticks& start, Ticks& floor,
                     std::int32_t& decided_by);
void note_unit_flag(std::vector<UnitFlag>& flags, const execute::Row& row, bool matmul, std::int32_t index);

} // namespace pto::time
