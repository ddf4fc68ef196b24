#pragma once
/// L2 and HBM as all cores share them: which bytes of a transfer miss, and when the memory system is through with it.
///
/// L2: a line is present when fewer bytes than L2 holds have been brought in since it was last used (least recently used, with the bytes
/// brought in standing for the distinct bytes used). HBM and L2 serve one request after the other at their achieved rates; asked in time
/// order, so cores that pull together share them. A line on its way from HBM serves later readers when it is there, not before. Rows that do
/// not follow each other cost HBM some bytes more. What is written waits in L2 for HBM to be free, up to a limit. Source: hardware reference 3.3.

#include "engine/time/timeline.hpp"

#include <cstdlib>
#include <memory>

namespace pto::time {

class MemorySystem {
  public:
    MemorySystem(const execute::Record& record, const machine::Chip& chip);

    struct Service {
        Ticks done = 0;          // when the last byte has passed
        bool late = false;       // some of it came from HBM, or was still on its way for somebody else
    };
    /// A transfer that starts at `start`; calls come in order of start.
    Service transfer(const execute::Row& row, bool writes, Ticks start);

    std::int64_t hbm_read = 0, hbm_written = 0, l2_bytes = 0;

  private:
    struct OnItsWay {
        std::int64_t line = -1;
        Ticks done = 0;
    };
    std::int64_t touch(std::int64_t address, std::int64_t bytes, Ticks& on_its_way);
    OnItsWay& way_of(std::int64_t line) { return m_ways[std::size_t(line) & (m_ways.size() - 1)]; }
    Ticks serve(Ticks& free, std::int64_t bytes, std::int64_t rate_denominator, Ticks start) const;

    std::int64_t m_origin = 0;
    int m_shift = 7;                       // log2 of the line
    std::int64_t m_capacity = 0;           // lines of L2
    std::int64_t m_brought = 1;            // lines brought in so far; 0 in m_last means never used
    struct Free {
        void operator()(std::uint32_t* p) const { std::free(p); }
    };
    std::unique_ptr<std::uint32_t[], Free> m_last; // per line: m_brought when it was last used; pages nobody touches take no memory
    bool m_spills = false;                 // the launch touches more than L2 holds: what is written goes to HBM in the end
    std::vector<OnItsWay> m_ways;          // the youngest misses, by the line's low bits
    std::vector<std::int64_t> m_fresh;     // lines that the current transfer misses
    std::int64_t m_backlog = 0, m_most_backlog = 0; // written bytes that HBM has not taken yet
    std::int64_t m_hbm_row = 0;            // bytes of HBM time for each separate row
    Ticks m_hbm_latency = 0;
    std::int64_t m_ticks_per_us = 0, m_hbm = 1, m_l2 = 1, m_l2_write = 1;
    Ticks m_hbm_free = 0, m_l2_free = 0;
};

} // namespace pto::time
