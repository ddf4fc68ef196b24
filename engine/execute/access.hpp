#pragma once
/// Which bytes an operation touches, and the happens-before check over them.
///
/// An access log keeps, per memory, the accesses that can still race with something: a write drops what it covers and is ordered after, a
/// read drops an earlier equal read of its own pipe. A pair races iff bytes overlap, one writes, not both are atomic,
/// and the clock at the later start does not cover the earlier completion.

#include "engine/execute/clock.hpp"
#include "engine/execute/numerics/tile_map.hpp"
#include "engine/execute/order.hpp"
#include "engine/program/instance.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace pto::execute {

struct Instruction;

/// Bytes of one operand. `core` is the place in the block whose memory it is; global memory has space ddr.
struct Access {
    isa::MemorySpace space = isa::MemorySpace::ddr;
    std::int8_t core = 0;
    bool write = false, atomic = false;
    std::int16_t operand = -1;        // position in the operation, for names
    std::int64_t first = 0, last = 0; // hull
    std::uint64_t content = 0;        // writes that others may repeat: a hash of the bytes, 0 unknown
    numerics::Footprint bytes;        // absolute addresses in the memory
};

/// Accesses of one operation; reused between events.
struct AccessList {
    std::vector<Access> items;
    void clear() { items.clear(); }
    Access& add(isa::MemorySpace space, int core, bool write, int operand, const numerics::Footprint& bytes);
};

/// A past access with what a report needs to name it.
struct LoggedAccess {
    Access access;
    const Instruction* site = nullptr;
    CoreName core;
    const std::vector<std::string>* stages = nullptr; // names of its core's stages
    std::int16_t pipe = 0;                            // pipe_slot
    std::int16_t stage = -1;
    std::uint32_t tick = 0;
    std::int64_t task = -1, sequence = -1;
    program::Iterations iterations;
    const GridKnowledge* grid = nullptr;
};

/// Live accesses of one memory of one core, or of one GM range.
class AccessLog {
  public:
    /// Calls conflict(old) for every live access that overlaps `now` and is not covered by `clock`, then records `now`.
    /// `ordered(old)` may accept pairs by a rule of its own (same pipe).
    template <class Conflict>
    void add(const LoggedAccess& now, const Clock& clock, Conflict&& conflict) {
        scan(m_writes, now, clock, conflict);
        if (now.access.write) scan(m_reads, now, clock, conflict);
        record(now, clock);
    }
    void clear() {
        m_writes.clear();
        m_reads.clear();
        m_longest[0] = m_longest[1] = 0;
    }
    template <class F>
    void for_each(F&& f) const {
        for (const auto& e : m_writes) f(e.second);
        for (const auto& e : m_reads) f(e.second);
    }

  private:
    using Live = std::multimap<std::int64_t, LoggedAccess>; // by first byte
    Live m_writes, m_reads;
    std::int64_t m_longest[2] = {0, 0}; // longest hull ever, [writes, reads]

    template <class Conflict>
    void scan(Live& live, const LoggedAccess& now, const Clock& clock, Conflict& conflict) {
        const std::int64_t longest = m_longest[&live == &m_reads];
        for (auto it = live.lower_bound(now.access.first - longest + 1);
             it != live.end() && it->first < now.access.last; ++it) {
            const LoggedAccess& old = it->second;
            if (old.access.last <= now.access.first || clock.covers(old.pipe, old.tick)) continue;
            if (!(old.access.write || now.access.write) || (old.access.atomic && now.access.atomic)) continue;
            if (numerics::overlap(old.access.bytes, now.access.bytes)) conflict(old);
        }
    }
    void record(const LoggedAccess& now, const Clock& clock);
    void drop_covered(Live& live, const LoggedAccess& now, const Clock& clock);
};

/// Two writes of the same bytes with the same values: whoever comes last, memory is the same.
bool same_write(const Access& a, const Access& b);
/// Is every byte of `inner` one of `outer`? May answer false when it is not obvious.
bool covers(const Access& outer, const Access& inner);

} // namespace pto::execute
