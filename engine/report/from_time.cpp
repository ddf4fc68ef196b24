#include "engine/report/from_time.hpp"

#include "engine/report/decide.hpp"

#include <algorithm>
#include <map>

namespace pto::report {
namespace {

using execute::SyncKind;
using isa::Pipe;

constexpr Pipe cube_lanes[] = {Pipe::mte2, Pipe::mte1, Pipe::m, Pipe::fix, Pipe::mte3};
constexpr Pipe vector_lanes[] = {Pipe::mte2, Pipe::v, Pipe::mte3};

std::string core_name(const execute::CoreRecord& c) { return c.core == isa::Core::cube ? "AIC" : "AIV" + std::to_string(c.subblock); }

Place place_of(const SourceMap* sources, Span at) {
    if (!sources || !at.valid()) return {};
    Position p = sources->begin(at);
    return {sources->file(at.file).name, p.line, p.column};
}

std::string op_name(const execute::Site& site, const execute::Row& row) {
    std::string text = site.name;
    auto size = [&](std::initializer_list<std::int32_t> dims) {
        char between = ' ';
        for (std::int32_t d : dims) {
            text += between;
            text += std::to_string(d);
            between = 'x';
        }
    };
    if (row.pipe == Pipe::m) size({row.m, row.n, row.k});
    else if (row.m > 0 && row.n > 0) size({row.m, row.n});
    if (site.op) text += " " + std::string(name(site.dtype));
    return text;
}

/// Collects one block: the mapping from record rows to lanes and slices.
class Collector {
  public:
    Collector(const execute::Record& record, const time::Timeline& times, const machine::Chip& chip, const FromTime& options, Timeline& out)
        : m_record(record), m_times(times), m_chip(chip), m_options(options), m_out(out) {}

    void run(std::int32_t block) {
        number_tasks(block);
        stages(block);
        for (std::size_t c = 0; c < m_record.cores.size(); ++c)
            if (m_record.cores[c].block == block) core(std::int32_t(c));
        critical(block);
    }

  private:
    /// Every pipeline loop numbers its tasks from 0. Here the loops of a kernel go on where the one before ended, so that a stage that
    /// several loops call has each of its tasks once.
    void number_tasks(std::int32_t block) {
        std::vector<std::int32_t> tasks_of; // by loop
        each_loop(block, [&](std::size_t, std::size_t, std::int32_t loop, std::int32_t task) {
            if (loop < 0) return;
            if (tasks_of.size() <= std::size_t(loop)) tasks_of.resize(std::size_t(loop) + 1, 0);
            tasks_of[std::size_t(loop)] = std::max(tasks_of[std::size_t(loop)], task + 1);
        });
        m_task.resize(m_record.cores.size());
        if (tasks_of.size() < 2) return; // the record's own numbers
        std::vector<std::int32_t> before{0};
        for (std::int32_t n : tasks_of) before.push_back(before.back() + n);
        for (std::size_t c = 0; c < m_task.size(); ++c)
            if (m_record.cores[c].block == block) m_task[c].reserve(m_record.cores[c].rows.size());
        each_loop(block, [&](std::size_t c, std::size_t, std::int32_t loop, std::int32_t task) { m_task[c].push_back(loop < 0 ? task : task + before[std::size_t(loop)]); });
    }
    std::int32_t task_of(std::size_t core, std::size_t row) const {
        return m_task[core].empty() ? m_record.cores[core].rows[row].task : m_task[core][row];
    }
    /// Calls f(core, row, loop, task) for each row of the block; loop is -1 outside of loops.
    template <class F> void each_loop(std::int32_t block, F f) const {
        for (std::size_t c = 0; c < m_record.cores.size(); ++c) {
            const execute::CoreRecord& core = m_record.cores[c];
            if (core.block != block) continue;
            struct Seen {
                std::int32_t last = -1, restarts = 0;
            };
            std::map<std::int32_t, Seen> seen; // by stage
            std::size_t i = 0;
            for (const execute::Row& r : core.rows) {
                std::int32_t loop = -1;
                if (r.stage >= 0 && r.task >= 0) {
                    Seen& s = seen[r.stage];
                    if (r.task < s.last) ++s.restarts;
                    s.last = r.task;
                    loop = loop_of_stage(core.stages[std::size_t(r.stage)], s.restarts);
                }
                f(c, i++, loop, r.task);
            }
        }
    }
    /// The loop that calls the stage for the n-th time round.
    std::int32_t loop_of_stage(const std::string& stage, std::int32_t n) const {
        std::int32_t found = n;
        if (m_options.plan)
            for (std::size_t l = 0, k = 0; l < m_options.plan->loops.size(); ++l)
                for (const PlanStage& s : m_options.plan->loops[l].stages)
                    if (s.name == stage && std::int32_t(k++) <= n) found = std::int32_t(l);
        return found;
    }

    void stages(std::int32_t block) {
        std::vector<std::tuple<Ticks, std::string, isa::Core, Span>> found; // by first start
        for (std::size_t c = 0; c < m_record.cores.size(); ++c) {
            const execute::CoreRecord& core = m_record.cores[c];
            if (core.block != block) continue;
            for (std::size_t i = 0; i < core.rows.size(); ++i) {
                const execute::Row& r = core.rows[i];
                Ticks start = m_times.cores[c].start[i];
                if (r.stage < 0 || r.sync != SyncKind::none || start < 0) continue;
                count_task(r.task);
                if (std::size_t end = m_options.most_rows / 4; core.rows.size() > m_options.most_rows && i >= end && i + end < core.rows.size()) continue;
                const std::string& n = core.stages[std::size_t(r.stage)];
                auto same = std::find_if(found.begin(), found.end(), [&](const auto& f) { return std::get<1>(f) == n; });
                if (same == found.end()) found.emplace_back(start, n, core.core, m_record.sites[std::size_t(r.site)].at);
                else if (start < std::get<0>(*same)) std::get<0>(*same) = start;
                count_task(task_of(c, i));
            }
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
        if (m_options.plan)
            for (const PlanLoop& loop : m_options.plan->loops)
                for (const PlanStage& s : loop.stages) add_stage(s.name, s.core, s.place);
        for (const auto& [start, n, core, at] : found) add_stage(n, core, place_of(m_options.sources, at));
        m_out.tasks = std::int64_t(std::count(m_tasks.begin(), m_tasks.end(), true));
    }

    void count_task(std::int32_t task) {
        if (m_tasks.size() < std::size_t(task) + 2) m_tasks.resize(std::size_t(task) + 2);
        m_tasks[std::size_t(task + 1)] = true;
    }

    void add_stage(const std::string& n, isa::Core core, const Place& place) {
        if (m_stage.count(n)) return;
        m_stage[n] = std::int32_t(m_out.stages.size());
        StageTime s;
        s.name = n;
        s.core = core;
        s.place = place;
        m_out.stages.push_back(std::move(s));
    }

    std::int32_t stage_of(const execute::CoreRecord& core, const execute::Row& r) const {
        if (r.stage < 0) return -1;
        auto found = m_stage.find(core.stages[std::size_t(r.stage)]);
        return found == m_stage.end() ? -1 : found->second;
    }

    std::int32_t op_of(const execute::Row& row) {
        const execute::Site& site = m_record.sites[std::size_t(row.site)];
        std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t> key{row.site, row.m, row.n, row.pipe == Pipe::m ? row.k : 0};
        auto found = m_ops.find(key);
        if (found != m_ops.end()) return found->second;
        TimelineOp op;
        op.name = op_name(site, row);
        op.place = place_of(m_options.sources, site.at);
        const machine::TimingRow* timing = m_chip.row(site.timing);
        op.grade = std::string(name(timing ? timing->grade : machine::Grade::guessed));
        m_out.ops.push_back(std::move(op));
        return m_ops[key] = std::int32_t(m_out.ops.size() - 1);
    }

    /// Sets stand between stages; who set is the stage that used this pipe last.
    std::pair<std::int32_t, std::int32_t> setter_stage(time::RowRef r) const {
        if (!r.valid()) return {-1, -1};
        const execute::CoreRecord& core = m_record.cores[std::size_t(r.core)];
        Pipe pipe = core.rows[std::size_t(r.row)].pipe;
        for (std::int32_t i = r.row; i >= 0 && i > r.row - 256; --i) {
            const execute::Row& row = core.rows[std::size_t(i)];
            if (row.stage >= 0 && (row.pipe == pipe || row.sync == SyncKind::none)) return {stage_of(core, row), task_of(std::size_t(r.core), std::size_t(i))};
        }
        return {-1, -1};
    }

    void name_hand_over(Wait& w) const {
        if (!m_options.plan || w.id < 0) return;
        for (const PlanLoop& loop : m_options.plan->loops)
            for (const IdUse& use : loop.ids) {
                if (use.id != w.id || use.buffer.empty()) continue;
                auto setter = m_stage.find(use.setter);
                if (w.for_stage >= 0 && setter != m_stage.end() && setter->second != w.for_stage) continue;
                w.buffer = use.buffer;
                w.direction = use.direction;
                if (w.for_stage < 0 && setter != m_stage.end()) w.for_stage = setter->second;
                return;
            }
    }

    void core(std::int32_t c) {
        const execute::CoreRecord& record = m_record.cores[std::size_t(c)];
        const time::CoreTimes& times = m_times.cores[std::size_t(c)];
        bool cube = record.core == isa::Core::cube;
        std::map<Pipe, std::int32_t> lane_of;
        auto add_lanes = [&](const Pipe* first, const Pipe* last) {
            for (; first != last; ++first) {
                bool used = false;
                for (const execute::Row& r : record.rows) used = used || (r.pipe == *first && r.sync == SyncKind::none);
                if (!used) continue;
                lane_of[*first] = std::int32_t(m_out.lanes.size());
                Lane lane;
                lane.core = core_name(record);
                lane.pipe = std::string(name(*first));
                lane.role = std::string(lane_role(lane.core, lane.pipe));
                lane.computes = *first == Pipe::m || *first == Pipe::v;
                m_out.lanes.push_back(std::move(lane));
            }
        };
        cube ? add_lanes(std::begin(cube_lanes), std::end(cube_lanes)) : add_lanes(std::begin(vector_lanes), std::end(vector_lanes));

        std::map<std::int32_t, std::int32_t> first_task; // of each stage
        const std::size_t rows = record.rows.size(), end = m_options.most_rows / 4;
        const bool long_run = rows > m_options.most_rows;
        if (long_run)
            for (auto& [pipe, lane] : lane_of) m_out.lanes[std::size_t(lane)].overview.assign(overview_parts, 0);
        for (std::size_t i = 0; i < rows; ++i) {
            const execute::Row& r = record.rows[i];
            auto lane = lane_of.find(r.pipe);
            if (r.sync != SyncKind::none || lane == lane_of.end() || times.start[i] < 0) continue;
            if (long_run) {
                overview(m_out.lanes[std::size_t(lane->second)], times.start[i], times.end[i]);
                if (i >= end && i + end < rows) continue;
                Ticks& edge = i < end ? m_out.left_out_from : m_out.left_out_to;
                if (i < end) edge = std::max(edge, times.end[i]);
                else edge = edge < 0 ? times.start[i] : std::min(edge, times.start[i]);
            }
            Slice s;
            s.start = times.start[i];
            s.end = times.end[i];
            s.landed = s.end + Ticks(times.tail[i]);
            s.op = op_of(r);
            s.task = task_of(std::size_t(c), i);
            s.stage = stage_of(record, r);
            if (s.stage >= 0) {
                auto [at, fresh] = first_task.emplace(s.stage, s.task);
                if (!fresh) at->second = std::min(at->second, s.task);
            }
            m_slice[{c, std::int32_t(i)}] = {lane->second, std::int32_t(m_out.lanes[std::size_t(lane->second)].slices.size())};
            m_out.lanes[std::size_t(lane->second)].slices.push_back(s);
        }
        for (const time::Wait& w : times.waits) {
            auto lane = lane_of.find(w.pipe);
            if (lane == lane_of.end()) continue;
            std::int32_t row = w.next >= 0 ? w.next : w.row;
            if (long_run && std::size_t(row) >= end && std::size_t(row) + end < rows) continue;
            std::int32_t stage = stage_of(record, record.rows[std::size_t(row)]), task = task_of(std::size_t(c), std::size_t(row));
            if (w.kind != time::WaitKind::cross_core && w.kind != time::WaitKind::grid) {
                m_out.lanes[std::size_t(lane->second)].gaps.push_back({w.start, w.end, stage, task, w.kind == time::WaitKind::lock});
                continue;
            }
            Wait out;
            out.start = w.start;
            out.end = w.end;
            out.paid = w.paid;
            out.stage = stage;
            out.task = task;
            std::tie(out.for_stage, out.for_task) = setter_stage(w.setter);
            out.id = record.rows[std::size_t(w.row)].sync_id;
            name_hand_over(out);
            auto first = first_task.find(stage);
            out.fill = first != first_task.end() && first->second == task;
            m_out.lanes[std::size_t(lane->second)].waits.push_back(std::move(out));
        }
    }

    static constexpr std::size_t overview_parts = 512;
    /// Adds [start, end) to the parts it lies in.
    void overview(Lane& lane, Ticks start, Ticks end) const {
        const Ticks total = std::max<Ticks>(1, m_times.total);
        auto part = [&](Ticks t) { return std::min<std::size_t>(overview_parts - 1, std::size_t(double(t) * double(overview_parts) / double(total))); };
        auto begin_of = [&](std::size_t i) { return Ticks(double(i) * double(total) / double(overview_parts)); };
        const std::size_t last = part(end);
        for (std::size_t i = part(start); i <= last && start < end; ++i) {
            const Ticks until = i == last ? end : std::min(end, std::max(start, begin_of(i + 1)));
            lane.overview[i] += until - start;
            start = until;
        }
    }

    void critical(std::int32_t block) {
        time::walk_critical_path(m_record, m_times, [&](time::RowRef r) {
            if (m_record.cores[std::size_t(r.core)].block != block) return;
            if (auto found = m_slice.find({r.core, r.row}); found != m_slice.end()) m_out.critical.push_back({found->second.first, found->second.second});
        });
        std::reverse(m_out.critical.begin(), m_out.critical.end());
    }

    const execute::Record& m_record;
    const time::Timeline& m_times;
    const machine::Chip& m_chip;
    const FromTime& m_options;
    Timeline& m_out;
    std::map<std::string, std::int32_t> m_stage;
    std::vector<bool> m_tasks; // by number + 1: seen
    std::vector<std::vector<std::int32_t>> m_task; // by core and row; empty where the record's own numbers hold
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>, std::int32_t> m_ops;
    std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int32_t>> m_slice; // (core, row) -> (lane, slice)
};

/// Rings that one more slot would change: hand-overs that wait for a free slot and whose ids belong to nobody else.
std::vector<time::MoreSlots> rings_of(const SyncPlan& plan) {
    std::vector<time::MoreSlots> rings;
    for (const PlanLoop& loop : plan.loops)
        for (const HandOver& e : loop.edges) {
            if (e.direction != Direction::free || !e.enforced || e.ids.empty() || e.task_offset <= 0) continue;
            bool shared = false;
            for (const HandOver& other : loop.edges)
                for (int id : other.ids) shared = shared || (&other != &e && other.to == e.to && std::find(e.ids.begin(), e.ids.end(), id) != e.ids.end());
            for (const IdUse& use : loop.ids) shared = shared || (use.sharers > 0 && std::find(e.ids.begin(), e.ids.end(), use.id) != e.ids.end());
            auto to = std::find_if(loop.stages.begin(), loop.stages.end(), [&](const PlanStage& s) { return s.name == e.to; });
            if (shared || to == loop.stages.end()) continue;
            rings.push_back({to->core, e.ids, std::to_string(e.task_offset + 1) + " slots of " + e.buffer});
        }
    return rings;
}

} // namespace

Timeline report_timeline(const execute::Record& record, const time::Timeline& times, const machine::Chip& chip, const FromTime& options) {
    Ticks busy = times.grade_busy[0] + times.grade_busy[1] + times.grade_busy[2];
    auto percent = [&](machine::Grade g) { return busy > 0 ? std::int32_t((times.grade_busy[int(g)] * 100 + busy / 2) / busy) : 0; };
    std::int32_t guessed = percent(machine::Grade::guessed);
    Provenance provenance("simulator (" + chip.name + ")", "", {"time: " + std::to_string(guessed) + " % guessed rows"});
    provenance.stated_percent = percent(machine::Grade::stated);
    provenance.derived_percent = percent(machine::Grade::derived);
    provenance.guessed_percent = guessed;
    Timeline t{provenance};
    t.kernel = record.kernel;
    t.target = options.target.empty() ? chip.name : options.target;
    t.preload = options.preload;
    t.serial_total = options.serial_total;
    t.cycles_per_us = times.cycles_per_us;
    t.blocks = std::int32_t(times.blocks.size());
    t.total = times.total;
    std::int32_t slowest = times.blocks.empty() ? 0 : times.blocks.front().block;
    Ticks longest = -1;
    for (const time::BlockTimes& b : times.blocks)
        if (b.finish > longest) longest = b.finish, slowest = b.block;
    t.block = options.block >= 0 ? options.block : slowest;
    Collector(record, times, chip, options, t).run(t.block);

    time::Pace pace = time::pace(record, times, t.block);
    if (pace.steady >= 0) {
        t.steady = pace.steady;
        t.pace_core = core_name(record.cores[std::size_t(pace.floor_core)]);
        t.pace_pipe = std::string(name(pace.floor_pipe));
    }
    summarise(t);
    if (t.left_out_from >= 0) { // what was left out counts in the totals
        std::map<std::pair<std::string, std::string>, time::PipeUse> use;
        for (const time::PipeUse& u : time::pipe_use(record, times))
            if (record.cores[std::size_t(u.core)].block == t.block) use[{core_name(record.cores[std::size_t(u.core)]), std::string(name(u.pipe))}] = u;
        for (Lane& lane : t.lanes) {
            const time::PipeUse& u = use[{lane.core, lane.pipe}];
            lane.totals = {u.busy, u.paid, u.free, u.in_core, t.total - u.busy - u.paid - u.free - u.in_core};
        }
        t.note = "a long run: each core's first and last " + std::to_string(options.most_rows / 4) + " instructions are drawn; totals are of all of them";
    }
    for (const Lane& lane : t.lanes) // stages count on the first vector core
        if (lane.core != "AIV1")
            for (const Gap& g : lane.gaps)
                if (g.lock && g.stage >= 0) t.stages[std::size_t(g.stage)].lock += g.end - g.start;
    for (StageTime& s : t.stages) s.lock = std::min(s.in_core, s.lock / std::max(1, s.tasks));
    t.roofline = roofline_of(record, times, chip);
    decide(t, options.plan, Ticks(chip.constant("cross_core_latency_cycles") * double(ticks_per_cycle)));
    Ticks total = std::max<Ticks>(1, times.total);
    for (const time::BlockTimes& b : times.blocks) {
        BlockTime one;
        one.block = b.block;
        one.total = b.finish - b.begin;
        t.block_times.push_back(one);
    }
    for (const time::PipeUse& u : time::pipe_use(record, times)) {
        std::int32_t block = record.cores[std::size_t(u.core)].block;
        for (BlockTime& b : t.block_times)
            if (b.block == block) b.busy = std::max(b.busy, double(u.busy) / double(total));
    }
    if (options.ask_what_if && t.left_out_from < 0) {
        WhatIfGroup group;
        for (const time::WhatIf& w : time::what_if(record, chip, times)) group.changes.push_back({w.text, w.percent});
        if (options.plan)
            for (const time::MoreSlots& more : rings_of(*options.plan)) group.changes.push_back({more.name, time::with_more_slots(record, chip, times, more)});
        if (!group.changes.empty()) t.what_if.push_back(std::move(group));
    }
    fold_equal_cores(t);
    if (!times.complete()) t.note = "the record hangs: not every instruction ran";
    return t;
}

} // namespace pto::report
