#include "engine/time/replay.hpp"

#include "engine/time/replay_state.hpp"

#include <algorithm>
#include <limits>

namespace pto::time {

void Replay::place_blocks() {
    bool cube = false, vector = false;
    std::vector<std::int32_t> numbers;
    for (const execute::CoreRecord& c : m_record.cores) {
        (c.core == isa::Core::cube ? cube : vector) = true;
        numbers.push_back(c.block);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    m_blocks.resize(numbers.size());
    m_block_of.resize(m_record.cores.size());
    for (std::size_t i = 0; i < m_record.cores.size(); ++i) {
        auto at = std::lower_bound(numbers.begin(), numbers.end(), m_record.cores[i].block) - numbers.begin();
        m_blocks[std::size_t(at)].push_back(std::int32_t(i));
        m_block_of[i] = std::int32_t(at);
    }
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        m_timeline.blocks.push_back({numbers[b], 0, 0});
        m_unfinished.push_back(std::int32_t(m_blocks[b].size()));
    }
    std::size_t places = std::size_t(m_chip.cube_cores) * (vector && !cube ? 2 : 1);
    m_timeline.waves = m_blocks.empty() ? 1 : std::int32_t((m_blocks.size() + places - 1) / places);
    for (; m_next_block < m_blocks.size() && m_next_block < places; ++m_next_block) begin_block(m_next_block, 0);
}

void Replay::begin_block(std::size_t block, Ticks at) {
    m_timeline.blocks[block].begin = at;
    for (std::int32_t i : m_blocks[block]) {
        CoreState& c = m_cores[std::size_t(i)];
        c.started = true;
        c.scalar = at;
        c.times->begin = at;
        for (PipeState& p : c.pipes) p.free = p.visible = at;
        wake(i);
    }
}

void Replay::wake(std::int32_t core) {
    CoreState& c = m_cores[std::size_t(core)];
    if (c.queued || !c.started || c.finished) return;
    c.queued = true;
    m_ready.push_back(core);
}

void Replay::core_finished(CoreState& c) {
    c.finished = true;
    std::int32_t cause = -1;
    c.times->finish = std::max(c.scalar, drain_time(c, cause));
    std::size_t block = std::size_t(m_block_of[std::size_t(c.index)]);
    BlockTimes& times = m_timeline.blocks[block];
    times.finish = std::max(times.finish, c.times->finish);
    m_timeline.total = std::max(m_timeline.total, c.times->finish);
    if (--m_unfinished[block] == 0 && m_next_block < m_blocks.size()) m_requests.push({times.finish, -1, 0});
}

Timeline Replay::run() {
    m_timeline.chip = m_chip.name;
    m_timeline.cycles_per_us = m_chip.clock_mhz;
    m_timeline.launch = Ticks(m_chip.constant("launch_us") * m_chip.clock_mhz * double(ticks_per_cycle));
    m_hbm_latency = ticks_of_cycles(m_chip.constant("hbm_latency_cycles"));
    m_cross_latency = ticks_of_cycles(m_chip.constant("cross_core_latency_cycles"));
    m_all_latency = ticks_of_cycles(m_chip.constant("sync_all_latency_cycles"));
    m_dispatch = ticks_of_cycles(m_chip.constant("block_dispatch_cycles"));

    m_timeline.cores.resize(m_record.cores.size());
    m_cores.resize(m_record.cores.size());
    std::int64_t base = 0;
    for (std::size_t i = 0; i < m_record.cores.size(); ++i) {
        const execute::CoreRecord& record = m_record.cores[i];
        CoreTimes& times = m_timeline.cores[i];
        times.start.assign(record.rows.size(), never);
        times.end.assign(record.rows.size(), never);
        times.tail.assign(record.rows.size(), 0);
        times.cause.assign(record.rows.size(), -1);
        CoreState& c = m_cores[i];
        c.index = std::int32_t(i);
        c.record = &record;
        c.times = &times;
        c.base = base;
        c.signals.prepare(record.core);
        for (const MoreSlots& more : m_options.more_slots)
            if (more.waiter == record.core) c.signals.join(more.ids, m_grid.vectors_of(c.index));
        std::fill(std::begin(c.open_ticket), std::end(c.open_ticket), -1);
        for (PipeState& p : c.pipes) {
            p.queue.resize(std::size_t(m_chip.queue_depth));
            p.left.assign(std::size_t(m_chip.queue_depth), 0);
        }
        m_timeline.base.push_back(base);
        base += std::int64_t(record.rows.size());
    }
    m_timeline.base.push_back(base);
    place_blocks();
    for (;;) {
        while (!m_ready.empty()) {
            CoreState& c = m_cores[std::size_t(m_ready.back())];
            m_ready.pop_back();
            c.queued = false;
            advance(c);
        }
        if (m_requests.empty()) break;
        Request earliest = m_requests.top();
        m_requests.pop();
        grant(earliest);
    }
    for (CoreState& c : m_cores) {
        for (PipeState& p : c.pipes)
            if (!p.open_more.empty()) settle_waits(c, p, -1, std::numeric_limits<Ticks>::max()); // delayed nothing
        if (c.finished) continue;
        for (int p = 0; p < pipe_count; ++p)
            if (const PipeState& pipe = c.pipes[p]; pipe.count > 0) m_timeline.stuck.push_back({{c.index, pipe.queue[pipe.head].row}, Pipe(p)});
        if (c.next < c.record->rows.size()) m_timeline.stuck.push_back({{c.index, std::int32_t(c.next)}, Pipe::s});
        m_timeline.total = std::max({m_timeline.total, c.scalar});
    }
    m_timeline.hbm_read = m_memory.hbm_read;
    m_timeline.hbm_written = m_memory.hbm_written;
    m_timeline.l2_bytes = m_memory.l2_bytes;
    return std::move(m_timeline);
}

std::string_view name(WaitKind k) {
    switch (k) {
    case WaitKind::flag: return "flag";
    case WaitKind::cross_core: return "cross-core flag";
    case WaitKind::lock: return "lock";
    case WaitKind::barrier: return "barrier";
    case WaitKind::grid: return "grid barrier";
    case WaitKind::unit_flag: return "unit flag";
    }
    return "";
}

RowRef Timeline::ref(std::int64_t global_row) const {
    auto after = std::upper_bound(base.begin(), base.end() - 1, global_row);
    std::int32_t core = std::int32_t(after - base.begin()) - 1;
    return {core, std::int32_t(global_row - base[std::size_t(core)])};
}

Timeline replay(const execute::Record& record, const machine::Chip& chip, const ReplayOptions& options) { return Replay(record, chip, options).run(); }

} // namespace pto::time
