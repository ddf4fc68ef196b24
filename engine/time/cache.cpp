#include "engine/time/cache.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace pto::time {
namespace {

constexpr std::int64_t most_lines = std::int64_t(1) << 24; // 64 MiB of stamps; coarser lines beyond

/// Calls f(address, bytes) for each contiguous run of a transfer; the record keeps the distance of runs in k.
template <class F> void each_run(const execute::Row& row, F f) {
    std::int64_t run = row.row_bytes > 0 && row.row_bytes < row.bytes ? row.row_bytes : row.bytes;
    std::int64_t stride = row.k > 0 ? row.k : run;
    if (run <= 0) return;
    std::int64_t runs = (row.bytes + run - 1) / run;
    if (stride == run) {
        f(row.gm_address, row.bytes);
        return;
    }
    for (std::int64_t i = 0; i < runs; ++i) f(row.gm_address + i * stride, std::min(run, row.bytes - i * run));
}

bool is_gm(const execute::Row& row) { return row.gm_address >= 0 && row.bytes > 0 && row.sync == execute::SyncKind::none; }

} // namespace

MemorySystem::MemorySystem(const execute::Record& record, const machine::Chip& chip) {
    m_ticks_per_us = std::int64_t(chip.clock_mhz * double(ticks_per_cycle));
    m_hbm = std::max<std::int64_t>(1, std::int64_t(chip.constant("hbm_bytes_per_us")));
    m_l2 = std::max<std::int64_t>(1, std::int64_t(chip.constant("l2_bytes_per_us")));
    m_l2_write = std::max<std::int64_t>(1, std::int64_t(chip.constant("l2_write_bytes_per_us")));
    m_hbm_row = std::int64_t(chip.constant("hbm_row_bytes"));
    m_most_backlog = std::int64_t(chip.constant("l2_write_backlog_bytes"));
    m_hbm_latency = ticks_of_cycles(chip.constant("hbm_latency_cycles"));
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
    for (const execute::CoreRecord& core : record.cores)
        for (const execute::Row& row : core.rows) {
            if (!is_gm(row)) continue;
            std::int64_t run = row.row_bytes > 0 ? std::min<std::int64_t>(row.row_bytes, row.bytes) : row.bytes;
            std::int64_t runs = run > 0 ? (row.bytes + run - 1) / run : 1;
            std::int64_t stride = row.k > 0 ? row.k : run;
            low = std::min(low, row.gm_address);
            high = std::max(high, row.gm_address + (runs - 1) * stride + run);
        }
    if (high <= low) return;
    std::int64_t line = std::max<std::int64_t>(32, std::int64_t(chip.constant("l2_line_bytes")));
    m_shift = 5;
    while ((std::int64_t(1) << m_shift) < line || ((high - low) >> m_shift) >= most_lines) ++m_shift;
    m_origin = low >> m_shift << m_shift;
    m_last.reset(static_cast<std::uint32_t*>(std::calloc(std::size_t(((high - m_origin) >> m_shift) + 1), sizeof(std::uint32_t))));
    if (!m_last) throw std::bad_alloc();
    m_capacity = std::max<std::int64_t>(1, std::int64_t(chip.constant("l2_bytes")) >> m_shift);
    m_ways.resize(std::size_t(1) << 15);
    m_spills = high - low > std::int64_t(chip.constant("l2_bytes"));
}

/// Bytes of the lines that were not in L2; `on_its_way` grows to when the last line that others asked for is there.
std::int64_t MemorySystem::touch(std::int64_t address, std::int64_t bytes, Ticks& on_its_way) {
    if (!m_last) return 0;
    std::int64_t first = (address - m_origin) >> m_shift, last = (address + bytes - 1 - m_origin) >> m_shift, missed = 0;
    for (std::int64_t i = first; i <= last; ++i) {
        std::uint32_t& stamp = m_last[std::size_t(i)];
        if (stamp == 0 || m_brought - std::int64_t(stamp) > m_capacity) {
            ++m_brought;
            ++missed;
            m_fresh.push_back(i);
        } else if (const OnItsWay& w = way_of(i); w.line == i) {
            on_its_way = std::max(on_its_way, w.done);
        }
        stamp = std::uint32_t(m_brought);
    }
    return missed << m_shift;
}

Ticks MemorySystem::serve(Ticks& free, std::int64_t bytes, std::int64_t rate, Ticks start) const {
    if (bytes <= 0) return start;
    free = std::max(free, start) + (bytes * m_ticks_per_us + rate - 1) / rate;
    return free;
}

MemorySystem::Service MemorySystem::transfer(const execute::Row& row, bool writes, Ticks start) {
    Service s;
    std::int64_t missed = 0;
    Ticks on_its_way = 0;
    m_fresh.clear();
    if (row.gm_address >= 0) each_run(row, [&](std::int64_t address, std::int64_t bytes) { missed += touch(address, bytes, on_its_way); });
    l2_bytes += row.bytes;
    s.done = serve(m_l2_free, row.bytes, writes ? m_l2_write : m_l2, start);
    std::int64_t to_hbm = 0;
    if (!writes) {
        // A line that is longer than a row brings more than was asked for; what is used of it later hits.
        hbm_read += missed;
        to_hbm = missed;
    } else if (m_spills) {
        // Written lines leave L2 in the end; a line that is still there is overwritten in place, as a ring of slots is.
        to_hbm = std::min(missed, row.bytes);
        hbm_written += to_hbm;
    }
    // The bytes that separate rows cost beyond their own: as many rows as the bytes brought in would hold.
    std::int64_t run = row.row_bytes > 0 && row.k > row.row_bytes ? std::min<std::int64_t>(row.row_bytes, row.bytes) : row.bytes;
    if (run > 0) to_hbm += to_hbm / run * m_hbm_row;
    // Written lines wait in L2 until HBM has nothing to read, unless too many wait.
    if (start > m_hbm_free) m_backlog = std::max<std::int64_t>(0, m_backlog - (start - m_hbm_free) * m_hbm / m_ticks_per_us);
    if (writes) {
        m_backlog += to_hbm;
        if (m_backlog > m_most_backlog) {
            s.done = std::max(s.done, serve(m_hbm_free, m_backlog - m_most_backlog, m_hbm, start));
            m_backlog = m_most_backlog;
        }
        return s;
    }
    Ticks hbm_done = serve(m_hbm_free, to_hbm, m_hbm, start);
    s.late = missed > 0 || on_its_way + m_hbm_latency > start;
    s.done = std::max({s.done, hbm_done, on_its_way});
    for (std::int64_t line : m_fresh) way_of(line) = {line, hbm_done};
    return s;
}

} // namespace pto::time
