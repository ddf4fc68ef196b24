/// Which event happens next, and what a core's scalar unit does. Source: design 3; language 4.1; hardware 2.2.
#include "engine/execute/block.hpp"

#include <algorithm>
#include <stdexcept>

namespace pto::execute {
namespace {

constexpr int s_pipe = int(isa::Pipe::s);

} // namespace

void Launch::poll() {
    work_since_poll = 0;
    if (!options.sink) return;
    try {
        options.sink->poll();
    } catch (...) { // the sink keeps what it threw; here it only means "stop"
        throw Stop{Status::interrupted, "interrupted", {}};
    }
    if (options.sink->cancelled.load(std::memory_order_relaxed)) throw Stop{Status::interrupted, "interrupted", {}};
}

std::int32_t Launch::call_index(const Instruction& in, CallWork work) {
    std::vector<std::int32_t>& known = calls_of[&in];
    for (auto it = known.rbegin(); it != known.rend(); ++it) // the latest is the likeliest
        if (calls[std::size_t(*it)] == work) return *it;
    calls.push_back(std::move(work));
    known.push_back(std::int32_t(calls.size()) - 1);
    return known.back();
}

BlockRun::BlockRun(Launch& launch, std::int32_t block)
    : m_launch(launch), m_block(block),
      m_sync(launch.chip, int(launch.grid.has_cube) + (launch.grid.has_vector ? launch.grid.subblocks : 0), block) {
    m_random = launch.options.order.seed * 0x2545F4914F6CDD1Dull + std::uint64_t(block);
    m_gm_logs.resize(launch.gm.ranges().size());
    for (std::size_t i = 0; i < launch.program.cores.size(); ++i) {
        const program::CoreCode& code = launch.program.cores[i];
        const std::int32_t copies = code.core == isa::Core::vector ? launch.grid.subblocks : 1;
        for (std::int32_t sub = 0; sub < copies; ++sub) {
            CoreRun c;
            c.name = {code.core, block, sub};
            c.place = int(m_cores.size());
            c.code = &code;
            program::CoreSetup setup;
            setup.block = block;
            setup.subblock = sub;
            setup.block_num = launch.grid.blocks;
            setup.params = launch.params;
            c.sequencer = std::make_unique<program::Sequencer>(launch.prepared[i], setup);
            c.memory = std::make_unique<CoreMemory>(launch.chip, code.core);
            c.record.core = code.core;
            c.record.block = block;
            c.record.subblock = sub;
            c.record.stages = code.stages;
            c.stages.resize(code.stages.size());
            m_machine.memory[std::size_t(c.place)] = c.memory.get();
            m_machine.kind[std::size_t(c.place)] = code.core;
            m_cores.push_back(std::move(c));
        }
    }
    m_machine.cores = int(m_cores.size());
}

bool BlockRun::enabled(CoreRun& c, int pipe) {
    PipeRun& p = c.pipes[std::size_t(pipe)];
    if (!p.size) return false;
    if (p.started) return true;
    if (p.blocked_at == m_version) return false;
    if (can_start(c, pipe, p.front())) return true;
    p.blocked_at = m_version;
    return false;
}

bool BlockRun::scalar_enabled(CoreRun& c) {
    if (c.finished) return false;
    if (!c.holding) return c.stopped_by < 0;
    const isa::Pipe target = c.held.op.pipe;
    if (target != isa::Pipe::s && target != isa::Pipe::all)
        return c.pipes[std::size_t(target)].size < m_launch.chip.queue_depth;
    PipeRun& p = c.pipes[s_pipe];
    if (p.blocked_at == m_version) return false;
    if (can_start(c, s_pipe, c.held)) return true;
    p.blocked_at = m_version;
    return false;
}

bool BlockRun::choose(Event& out) {
    const OrderPolicy& order = m_launch.options.order;
    const bool named = order.kind == OrderPolicy::Kind::early || order.kind == OrderPolicy::Kind::late;
    Event best, favoured;
    std::int32_t count = 0;
    for (CoreRun& c : m_cores) {
        const bool named_core =
            named && c.name.kind == order.core && (order.core == isa::Core::cube || c.name.subblock == order.subblock);
        for (int pipe = 0; pipe < pipes_per_core; ++pipe) {
            Event e{c.place, pipe, 0};
            if (pipe == s_pipe) {
                if (!scalar_enabled(c)) continue;
                e.sequence = c.holding ? c.held.op.sequence : c.next_sequence;
            } else {
                if (!c.pipes[std::size_t(pipe)].size || !enabled(c, pipe)) continue;
                e.sequence = c.pipes[std::size_t(pipe)].front().op.sequence;
            }
            if (named_core && pipe == int(order.pipe)) {
                favoured = e;
                continue;
            }
            ++count;
            if (order.kind == OrderPolicy::Kind::random) {
                // Reservoir of one: every enabled event has the same chance.
                if (next_random(m_random) % std::uint64_t(count) == 0) best = e;
            } else if (best.core < 0 || e.sequence < best.sequence) {
                best = e;
            }
        }
    }
    if (favoured.core >= 0 && (order.kind == OrderPolicy::Kind::early || best.core < 0)) best = favoured;
    out = best;
    return best.core >= 0;
}

BlockRun::State BlockRun::run() {
    m_moved = false;
    ++m_version; // other blocks may have come to a meeting
    Event e;
    while (choose(e)) {
        m_moved = true;
        step(e);
        m_launch.work(256);
    }
    for (const CoreRun& c : m_cores)
        if (!c.finished || !c.idle()) return State::blocked;
    return State::finished;
}

void BlockRun::step(const Event& e) {
    CoreRun& c = m_cores[std::size_t(e.core)];
    if (e.pipe == s_pipe) return scalar_step(c);
    PipeRun& p = c.pipes[std::size_t(e.pipe)];
    Item& item = p.front();
    if (!p.started) {
        const bool split = m_launch.options.order.kind == OrderPolicy::Kind::random;
        start(c, e.pipe, item, split);
        if (p.started) return; // completes as an event of its own
    } else {
        release_pending(p);
        p.started = false;
    }
    complete(c, e.pipe, item);
    p.head = (p.head + 1) % std::int32_t(p.ring.size());
    --p.size;
}

void BlockRun::scalar_step(CoreRun& c) {
    if (!c.holding) return fetch(c);
    if (c.held.op.pipe != isa::Pipe::s && c.held.op.pipe != isa::Pipe::all) return place(c);
    start(c, s_pipe, c.held, false);
    complete(c, s_pipe, c.held);
    c.holding = false;
}

void BlockRun::fetch(CoreRun& c) {
    constexpr std::int64_t budget = 100'000;
    const std::int64_t before = c.sequencer->scalar_instructions();
    const program::Step s = c.sequencer->next(budget);
    const std::int64_t spent = c.sequencer->scalar_instructions() - before;
    m_launch.statistics.scalar_instructions += spent;
    m_launch.work(spent * 16);
    if (c.sequencer->scalar_instructions() > m_launch.options.scalar_limit)
        throw Stop{Status::limit,
                   text(c.name, m_launch.grid.blocks > 1) + " ran " + std::to_string(m_launch.options.scalar_limit) +
                       " scalar instructions without end",
                   c.code->code[std::size_t(c.sequencer->instruction_pointer())].at};
    switch (s) {
    case program::Step::budget: return;
    case program::Step::finished:
        c.finished = true;
        ++m_version;
        return;
    case program::Step::fault: throw Stop{Status::refused, c.sequencer->fault().message, c.sequencer->fault().at};
    case program::Step::question:
        throw Stop{Status::refused, "the program depends on a value that nobody knows", c.sequencer->question().at};
    case program::Step::issue: break;
    }
    Item& item = c.held;
    item.op = c.sequencer->current();
    item.site = &m_launch.table.of(item.op.stmt);
    item.arrived = false;
    item.has_issue_clock = false;
    item.repeats = false;
    c.next_sequence = item.op.sequence + 1;
    c.holding = true;
    ++m_launch.statistics.operations;
    take_tickets(c, item);
    pair_flags(c, item);
    follow_unit(c, item);
    record(c, item);
    track_issue(c, item);
    const isa::Pipe target = item.op.pipe;
    if (target == isa::Pipe::s || target == isa::Pipe::all) {
        item.tick = ++c.pipes[s_pipe].issued;
        c.pipes[s_pipe].blocked_at = ~std::uint64_t(0);
        return;
    }
    if (c.pipes[std::size_t(target)].size < m_launch.chip.queue_depth) place(c);
}

void BlockRun::place(CoreRun& c) {
    const int target = int(c.held.op.pipe);
    PipeRun& p = c.pipes[std::size_t(target)];
    if (p.ring.empty()) p.ring.resize(std::size_t(std::max(m_launch.chip.queue_depth, 1)));
    Item& slot = p.ring[std::size_t((p.head + p.size) % std::int32_t(p.ring.size()))];
    std::swap(slot, c.held); // both keep their storage
    slot.tick = ++p.issued;
    // What the scalar unit waited for precedes everything it issues later; what it wrote itself needs a flag.
    if (p.issue_version != c.scalar_version) {
        slot.has_issue_clock = true;
        slot.issue_clock = c.pipes[s_pipe].clock;
        slot.issue_clock.at[std::size_t(pipe_slot(c.place, isa::Pipe::s))] = 0;
        p.issue_version = c.scalar_version;
    }
    if (!p.size) p.blocked_at = ~std::uint64_t(0);
    ++p.size;
    c.holding = false;
    if (m_launch.chip.wait_stops_all_pipes && slot.site->semantics == isa::Semantics::cross_wait) c.stopped_by = target;
}

void BlockRun::take_tickets(CoreRun& c, Item& item) {
    item.lock_count = item.op.lock_count;
    for (int i = 0; i < item.lock_count; ++i) item.locks[std::size_t(i)] = item.op.locks[std::size_t(i)];
    if (item.site->semantics == isa::Semantics::mutex_lock) {
        const int at = item.site->keys[std::size_t(Key::mutex_id)];
        item.locks[0] = std::int32_t(item.op.attributes[std::size_t(at)].scalar.integer);
        item.lock_count = 1;
    }
    const int mine = item.op.pipe == isa::Pipe::all ? s_pipe : int(item.op.pipe);
    for (int i = 0; i < item.lock_count; ++i) {
        const std::int32_t id = item.locks[std::size_t(i)];
        auto& locks = m_sync.locks[std::size_t(c.place)];
        if (id < 0 || id >= std::int32_t(locks.size()))
            throw Stop{Status::refused,
                       "mutex id " + std::to_string(id) + " is not one of 0 to " + std::to_string(locks.size() - 1),
                       item.site->at};
        Lock& l = locks[std::size_t(id)];
        item.need[std::size_t(i)] = l.acquired;
        item.need[std::size_t(i)][std::size_t(mine)] = 0; // its own pipe runs in order anyway
        ++l.acquired[std::size_t(mine)];
        l.holder[std::size_t(mine)] = item.site;
    }
}

void BlockRun::record(CoreRun& c, Item& item) {
    item.row = -1;
    if (!m_launch.options.record) return;
    item.row = std::int32_t(c.record.rows.size());
    c.record.rows.emplace_back();
    Row& r = c.record.rows.back();
    const Instruction& in = *item.site;
    r.site = in.record_site;
    r.task = std::int32_t(item.op.task);
    r.scalar_before = item.op.scalar_instructions;
    r.stage = std::int16_t(item.op.stage);
    r.pipe = item.op.pipe;
    r.phase = in.phase;
    for (int i = 0; i < item.op.lock_count; ++i) r.locks |= 1u << (unsigned(item.op.locks[std::size_t(i)]) & 31u);
    auto id_of = [&](Key k) {
        const int at = in.keys[std::size_t(k)];
        return std::int16_t(
            at >= 0 && at < int(item.op.attributes.size()) ? item.op.attributes[std::size_t(at)].scalar.integer : -1);
    };
    switch (in.semantics) {
    case isa::Semantics::flag_set:
        r.sync = SyncKind::flag_set;
        r.sync_pipe = std::uint8_t(in.wait_pipe);
        r.sync_id = id_of(Key::event_id);
        break;
    case isa::Semantics::flag_wait:
        r.sync = SyncKind::flag_wait;
        r.sync_pipe = std::uint8_t(in.set_pipe);
        r.sync_id = id_of(Key::event_id);
        break;
    case isa::Semantics::barrier: r.sync = SyncKind::barrier; break;
    case isa::Semantics::cross_set:
        r.sync = SyncKind::cross_set;
        r.sync_mode = in.sync_mode;
        r.sync_id = id_of(Key::event_id);
        break;
    case isa::Semantics::cross_wait:
        r.sync = SyncKind::cross_wait;
        r.sync_mode = in.sync_mode;
        r.sync_id = id_of(Key::event_id);
        break;
    case isa::Semantics::sync_all:
        r.sync = SyncKind::sync_all;
        r.pipe = isa::Pipe::all;
        r.sync_mode = in.core_type;
        break;
    case isa::Semantics::mutex_lock:
        r.sync = SyncKind::mutex_lock;
        r.sync_id = id_of(Key::mutex_id);
        break;
    case isa::Semantics::mutex_unlock:
        r.sync = SyncKind::mutex_unlock;
        r.sync_id = id_of(Key::mutex_id);
        break;
    default: break;
    }
}

void BlockRun::track_issue(CoreRun& c, const Item& item) {
    if (item.op.stage < 0) return;
    CoreRun::Stage& s = c.stages[std::size_t(item.op.stage)];
    if (s.tasks.empty() || s.tasks.back().task != item.op.task) {
        // The last task stays listed after it is complete, so that one task counts once.
        while (s.tasks.size() == 1 && s.tasks.front().open == 0) {
            ++s.finished;
            s.tasks.pop_front();
        }
        s.tasks.push_back({item.op.task, 0});
        ++s.entered;
    }
    ++s.tasks.back().open;
}
void BlockRun::track_done(CoreRun& c, const Item& item) {
    if (item.op.stage < 0) return;
    CoreRun::Stage& s = c.stages[std::size_t(item.op.stage)];
    for (auto t = s.tasks.rbegin(); t != s.tasks.rend(); ++t)
        if (t->task == item.op.task) {
            --t->open;
            break;
        }
    while (s.tasks.size() > 1 && s.tasks.front().open == 0) {
        ++s.finished;
        s.tasks.pop_front();
    }
}

} // namespace pto::execute
