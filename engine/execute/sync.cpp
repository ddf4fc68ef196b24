/// Start conditions and effects of synchronisation. Source: language 3.4, 4.2 to 4.6; hardware 2.3 to 2.6.
#include "engine/execute/block.hpp"

#include <algorithm>

namespace pto::execute {
namespace {

using isa::Semantics;
constexpr int s_pipe = int(isa::Pipe::s);

std::int64_t id_of(const Item& item, Key k) {
    const int at = item.site->keys[std::size_t(k)];
    return at >= 0 && at < int(item.op.attributes.size()) ? item.op.attributes[std::size_t(at)].scalar.integer : 0;
}
/// The task, or the iteration of the outermost loop; -1 outside.
std::int64_t outermost(const Item& item) {
    return item.op.task >= 0 ? item.op.task : item.op.iterations.count ? item.op.iterations.at[0] : -1;
}
void check_id(const Item& item, std::int64_t id, std::int64_t limit, const char* what) {
    if (id < 0 || id >= limit)
        throw Stop{Status::refused,
                   std::string(what) + " id " + std::to_string(id) + " is not one of 0 to " + std::to_string(limit - 1),
                   item.site->at};
}

} // namespace

SetEvent BlockRun::set_event(const CoreRun& c, int pipe, const Item& item) const {
    SetEvent e;
    e.clock = c.pipes[std::size_t(pipe)].clock;
    e.pipe = std::int16_t(pipe_slot(c.place, isa::Pipe(pipe)));
    e.tick = item.tick;
    e.clock.at[std::size_t(e.pipe)] = item.tick; // takes effect after everything earlier on its pipe
    return e;
}

Counter& BlockRun::counter(int vector_side, int mode, int subblock, std::int64_t id) {
    auto& side = vector_side ? m_sync.to_vector : m_sync.to_cube;
    // On a 950 an INTRA_BLOCK set of the cube raises the flags id and id + 16: the same ones that UNICAST_BLOCK names
    // (language 4.4).
    if (m_launch.chip.arch == "a5") mode = 0;
    return side[std::size_t(mode)][std::size_t(subblock)][std::size_t(id)];
}

std::size_t BlockRun::participant(const CoreRun& c, bool among_all) const {
    const GridState& g = m_launch.grid;
    if (c.name.kind == isa::Core::cube) return std::size_t(m_block);
    const std::size_t at = std::size_t(m_block) * std::size_t(g.subblocks) + std::size_t(c.name.subblock);
    return among_all && g.has_cube ? std::size_t(g.blocks) + at : at;
}

Clock BlockRun::everything_done(const CoreRun& c) const {
    Clock all = c.pipes[s_pipe].clock;
    for (int p = 0; p < pipes_per_core; ++p) {
        join(all, c.pipes[std::size_t(p)].clock, const_cast<GridArena&>(m_launch.grid.arena));
        std::uint32_t& mine = all.at[std::size_t(pipe_slot(c.place, isa::Pipe(p)))];
        mine = std::max(mine, p == s_pipe ? c.pipes[std::size_t(p)].issued : c.pipes[std::size_t(p)].done);
    }
    return all;
}
void BlockRun::set_all_clocks(CoreRun& c, const Clock& clock) {
    for (PipeRun& p : c.pipes) p.clock = clock;
    ++c.scalar_version;
}

void BlockRun::learn_grid(CoreRun& c, int pipe, const GridKnowledge* g) {
    Clock& k = c.pipes[std::size_t(pipe)].clock;
    k.grid = k.grid ? m_launch.grid.arena.join(k.grid, g) : g;
    for (std::size_t i = 0; i < std::size_t(pipes_per_block); ++i)
        k.at[i] = std::max(k.at[i], g->ticks[std::size_t(m_block) * pipes_per_block + i]);
}

std::pair<std::size_t, std::size_t> BlockRun::unit_range(const Item& item, const CoreRun& c) const {
    const program::OperandInstance& o = item.op.operands[item.site->semantics == Semantics::store ? 1 : 0];
    const TileValue& t = o.tile;
    const std::size_t size = m_sync.unit[std::size_t(c.place)].raised.size();
    const std::size_t first = std::size_t(std::max<std::int64_t>(t.address, 0) / 512);
    const std::size_t last = std::size_t((t.address + t.type->byte_size() + 511) / 512);
    return {std::min(first, size), std::min(last, size)};
}
bool BlockRun::unit_flag_allows(const CoreRun& c, const Item& item) const {
    const bool wanted = item.site->semantics == Semantics::store; // the fixpipe waits for 1, the matrix unit for 0
    const UnitFlags& u = m_sync.unit[std::size_t(c.place)];
    const auto [first, last] = unit_range(item, c);
    for (std::size_t i = first; i < last; ++i)
        if (bool(u.raised[i]) != wanted) return false;
    return true;
}

/// Follows sets and waits of a flag in program order, before anything runs.
void BlockRun::pair_flags(CoreRun& c, Item& item) {
    const bool sets = item.site->semantics == Semantics::flag_set;
    if (!sets && item.site->semantics != Semantics::flag_wait) return;
    const std::int64_t id = id_of(item, Key::event_id);
    if (id < 0 || id >= m_sync.event_ids) return; // refused when it runs
    Flag& f = m_sync.flag(c.place, item.site->set_pipe, item.site->wait_pipe, id);
    item.repeats = sets && f.unpaired;
    f.unpaired = sets;
}

/// Phased and unphased use of one accumulator, in program order: only phased ends see the unit flag.
void BlockRun::follow_unit(CoreRun& c, const Item& item) {
    if (c.name.kind != isa::Core::cube || !m_launch.options.hazards) return;
    UnitFlags& u = m_sync.unit[std::size_t(c.place)];
    if (item.site->phase) {
        const bool store = item.site->semantics == Semantics::store;
        u.phased = true;
        const auto [first, last] = unit_range(item, c);
        bool told = false;
        for (std::size_t i = first; i < last; ++i) {
            if (store) {
                if (item.site->phase == 2) u.issued[i] = 0;
                continue;
            }
            if (u.issued[i] == 2 && !told) {
                told = true;
                say(HazardKind::unit_flag, false, c, int(item.op.pipe), item,
                    item.site->name + " begins on an accumulator" +
                        (item.op.iterations.count ? " (iteration " + text(item.op.iterations) + ")" : "") +
                        " whose Final product no store with phase=Final has taken",
                    "store with phase=Final first, or make the earlier product Partial", "in every order");
            }
            u.issued[i] = item.site->phase;
            u.issued_by[i] = item.site;
        }
        return;
    }
    if (!u.phased) return;
    for (const program::OperandInstance& o : item.op.operands) {
        if (o.kind != program::OperandInstance::Kind::tile || o.tile.type->memory != MemorySpace::acc) continue;
        const std::size_t first = std::size_t(std::max<std::int64_t>(o.tile.address, 0) / 512);
        const std::size_t last = std::min(u.issued.size(), std::size_t((o.tile.address + o.tile.type->byte_size() + 511) / 512));
        for (std::size_t i = first; i < last; ++i) {
            if (!u.issued[i]) continue;
            say(HazardKind::unit_flag, false, c, int(item.op.pipe), item,
                item.site->name + " has no phase=, and the accumulator holds what " + u.issued_by[i]->name +
                    " with a phase left there" +
                    (item.op.iterations.count ? " (iteration " + text(item.op.iterations) + ")" : "") +
                    ": the unit flag stays raised and nothing makes this wait for it",
                "give a phase to both sides (Final on the last product and on the last store), or to neither",
                "in every order");
            return;
        }
    }
}

bool BlockRun::can_start(CoreRun& c, int pipe, Item& item) {
    for (int i = 0; i < item.lock_count; ++i) {
        const Lock& l = m_sync.locks[std::size_t(c.place)][std::size_t(item.locks[std::size_t(i)])];
        const auto& need = item.need[std::size_t(i)];
        for (std::size_t q = 0; q < std::size_t(pipes_per_core); ++q)
            if (l.released[q] < need[q]) return false;
    }
    if (item.site->phase && !unit_flag_allows(c, item)) return false;
    return can_start_sync(c, pipe, item);
}

bool BlockRun::can_start_sync(CoreRun& c, int, Item& item) {
    switch (item.site->semantics) {
    case Semantics::flag_wait: {
        const std::int64_t id = id_of(item, Key::event_id);
        check_id(item, id, m_sync.event_ids, "event");
        return m_sync.flag(c.place, item.site->set_pipe, item.site->wait_pipe, id).raised;
    }
    case Semantics::barrier: return item.op.pipe != isa::Pipe::all || c.idle();
    case Semantics::cross_wait: return cross_ready(c, item);
    case Semantics::sync_all: {
        if (!c.idle()) return false;
        Meeting& m = m_launch.grid.sync_all[item.site->core_type];
        const std::size_t me = participant(c, item.site->core_type == std::uint8_t(isa::SyncCoreType::mix));
        if (!item.arrived) {
            if (me >= m.sets.size())
                throw Stop{Status::refused, "sync_all names a kind of core that this program does not run on",
                           item.site->at};
            item.arrived = true;
            flush_gm_log();
            m.sets[me].push_back(everything_done(c));
            ++m_version; // others may have waited for this one
            m_moved = true;
        }
        return m.complete(std::int64_t(m.sets[me].size()));
    }
    default: return true;
    }
}

bool BlockRun::cross_ready(CoreRun& c, const Item& item) {
    const std::int64_t id = id_of(item, Key::event_id);
    const bool cube = c.name.kind == isa::Core::cube;
    switch (isa::CrossCoreSyncMode(item.site->sync_mode)) {
    case isa::CrossCoreSyncMode::intra_block:
        check_id(item, id, m_sync.cross_ids, "cross-core");
        if (!cube) return counter(1, 0, c.name.subblock, id).count() > 0;
        return counter(0, 0, 0, id).count() > 0 && (m_launch.grid.subblocks < 2 || counter(0, 0, 1, id).count() > 0);
    case isa::CrossCoreSyncMode::unicast_block:
        check_id(item, id, cube ? 2 * m_sync.cross_ids : m_sync.cross_ids, "cross-core");
        if (!cube) return counter(1, 1, c.name.subblock, id).count() > 0;
        return counter(0, 1, int(id / m_sync.cross_ids), id % m_sync.cross_ids).count() > 0;
    case isa::CrossCoreSyncMode::inter_subblock: {
        check_id(item, id, m_sync.cross_ids, "cross-core");
        Meeting& m = m_sync.subblocks[std::size_t(id)];
        return m.complete(m.waits[std::size_t(c.name.subblock)] + 1);
    }
    case isa::CrossCoreSyncMode::inter_block: {
        check_id(item, id, m_sync.cross_ids, "cross-core");
        Meeting& m = m_launch.grid.inter_block[cube ? 0 : 1][std::size_t(id)];
        return m.complete(m.waits[participant(c, false)] + 1);
    }
    }
    return true;
}

void BlockRun::set_cross(CoreRun& c, int pipe, Item& item) {
    const std::int64_t id = id_of(item, Key::event_id);
    const bool cube = c.name.kind == isa::Core::cube;
    const SetEvent e = set_event(c, pipe, item);
    auto post = [&](Counter& k, std::int64_t shown) {
        k.setter = item.site;
        k.raised(outermost(item));
        const std::int64_t outstanding = k.post(e);
        if (outstanding > m_launch.chip.cross_core_limit && m_launch.options.hazards)
            say(HazardKind::counter_overflow, true, c, pipe, item,
                "cross-core id " + std::to_string(shown) + " may have " + std::to_string(outstanding) +
                    " sets that nobody has awaited" +
                    (item.op.iterations.count ? " (iteration " + text(item.op.iterations) + ")" : "") +
                    "; the counter holds " + std::to_string(m_launch.chip.cross_core_limit),
                "let the setter wait for the other side, so that it stays at most " +
                    std::to_string(m_launch.chip.cross_core_limit) + " ahead",
                "nothing makes " + text(c.name) + " " + std::string(isa::name(isa::Pipe(pipe))) +
                    " wait for the waits of the other side; early(" + text(c.name) + "." +
                    std::string(isa::name(isa::Pipe(pipe))) + ") runs ahead");
    };
    switch (isa::CrossCoreSyncMode(item.site->sync_mode)) {
    case isa::CrossCoreSyncMode::intra_block:
        check_id(item, id, m_sync.cross_ids, "cross-core");
        if (cube)
            for (int sub = 0; sub < 2; ++sub) post(counter(1, 0, sub, id), id);
        else
            post(counter(0, 0, c.name.subblock, id), id);
        break;
    case isa::CrossCoreSyncMode::unicast_block:
        check_id(item, id, cube ? 2 * m_sync.cross_ids : m_sync.cross_ids, "cross-core");
        if (cube)
            post(counter(1, 1, int(id / m_sync.cross_ids), id % m_sync.cross_ids), id);
        else
            post(counter(0, 1, c.name.subblock, id), id);
        break;
    case isa::CrossCoreSyncMode::inter_subblock:
        check_id(item, id, m_sync.cross_ids, "cross-core");
        m_sync.subblocks[std::size_t(id)].sets[std::size_t(c.name.subblock)].push_back(e.clock);
        break;
    case isa::CrossCoreSyncMode::inter_block:
        check_id(item, id, m_sync.cross_ids, "cross-core");
        flush_gm_log();
        m_launch.grid.inter_block[cube ? 0 : 1][std::size_t(id)].sets[participant(c, false)].push_back(e.clock);
        break;
    }
}

void BlockRun::wait_cross(CoreRun& c, int pipe, Item& item) {
    const std::int64_t id = id_of(item, Key::event_id);
    const bool cube = c.name.kind == isa::Core::cube;
    Clock& clock = c.pipes[std::size_t(pipe)].clock;
    const auto slot = std::int16_t(pipe_slot(c.place, isa::Pipe(pipe)));
    GridArena& arena = m_launch.grid.arena;
    const auto take = [&](Counter& k) {
        k.awaited(outermost(item));
        k.take(clock, slot, item.tick, arena);
    };
    switch (isa::CrossCoreSyncMode(item.site->sync_mode)) {
    case isa::CrossCoreSyncMode::intra_block:
        if (!cube)
            take(counter(1, 0, c.name.subblock, id));
        else
            for (int sub = 0; sub < m_launch.grid.subblocks; ++sub)
                take(counter(0, 0, sub, id));
        break;
    case isa::CrossCoreSyncMode::unicast_block:
        if (!cube)
            take(counter(1, 1, c.name.subblock, id));
        else
            take(counter(0, 1, int(id / m_sync.cross_ids), id % m_sync.cross_ids));
        break;
    case isa::CrossCoreSyncMode::inter_subblock: {
        Meeting& m = m_sync.subblocks[std::size_t(id)];
        const std::size_t k = std::size_t(m.waits[std::size_t(c.name.subblock)]++);
        for (const auto& sets : m.sets) join(clock, sets[k], arena);
        break;
    }
    case isa::CrossCoreSyncMode::inter_block: {
        Meeting& m = m_launch.grid.inter_block[cube ? 0 : 1][std::size_t(id)];
        learn_grid(c, pipe, m.snapshot(++m.waits[participant(c, false)], arena));
        break;
    }
    }
    if (c.stopped_by == pipe) c.stopped_by = -1;
}

bool BlockRun::run_sync(CoreRun& c, int pipe, Item& item) {
    PipeRun& p = c.pipes[std::size_t(pipe)];
    const auto slot = std::size_t(pipe_slot(c.place, isa::Pipe(pipe)));
    const bool check = m_launch.options.hazards;
    bool scalar_learned = pipe == s_pipe;
    switch (item.site->semantics) {
    case Semantics::flag_set: {
        const std::int64_t id = id_of(item, Key::event_id);
        check_id(item, id, m_sync.event_ids, "event");
        Flag& f = m_sync.flag(c.place, item.site->set_pipe, item.site->wait_pipe, id);
        const SetEvent e = set_event(c, pipe, item);
        const int waiter = pipe_slot(c.place, item.site->wait_pipe);
        // The published rule forbids two sets without a wait between them in the program. Where the program has the
        // wait, and only time keeps the pipes from meeting, the finding is a warning: a hostile order shows the hang.
        if (check && (item.repeats || f.raised || (f.waits > 0 && !e.clock.covers(waiter, f.last_wait))))
            say(HazardKind::flag_twice, item.repeats, c, pipe, item,
                "flag " + std::string(isa::name(item.site->set_pipe)) + " to " +
                    std::string(isa::name(item.site->wait_pipe)) + " id " + std::to_string(id) +
                    (item.repeats ? " is set again and no wait stands between: a flag is one bit"
                                  : " may be set again before the wait has cleared it: a flag is one bit") +
                    (item.op.iterations.count ? " (iteration " + text(item.op.iterations) + ")" : ""),
                "let " + std::string(isa::name(item.site->set_pipe)) + " wait for a flag that " +
                    std::string(isa::name(item.site->wait_pipe)) + " sets after its wait, or use another id",
                item.repeats ? "in every order: the program sets it twice"
                             : "nothing makes " + std::string(isa::name(item.site->set_pipe)) + " wait until " +
                                   std::string(isa::name(item.site->wait_pipe)) + " has cleared it; late(" +
                                   text(c.name) + "." + std::string(isa::name(item.site->wait_pipe)) +
                                   ") sets it twice");
        if (f.raised)
            join(f.set.clock, e.clock, m_launch.grid.arena);
        else
            f.set = e;
        f.raised = true;
        f.setter = item.site;
        ++f.sets;
        return true;
    }
    case Semantics::flag_wait: {
        Flag& f = m_sync.flag(c.place, item.site->set_pipe, item.site->wait_pipe, id_of(item, Key::event_id));
        join(p.clock, f.set.clock, m_launch.grid.arena);
        f.raised = false;
        f.awaited_at = item.op.iterations;
        f.last_wait = item.tick;
        ++f.waits;
        if (scalar_learned) ++c.scalar_version;
        return true;
    }
    case Semantics::barrier:
        if (item.op.pipe == isa::Pipe::all)
            set_all_clocks(c, everything_done(c));
        else
            p.clock.at[slot] = item.tick;
        return true;
    case Semantics::cross_set: set_cross(c, pipe, item); return true;
    case Semantics::cross_wait:
        wait_cross(c, pipe, item);
        if (scalar_learned) ++c.scalar_version;
        return true;
    case Semantics::sync_all: {
        Meeting& m = m_launch.grid.sync_all[item.site->core_type];
        const std::size_t me = participant(c, item.site->core_type == std::uint8_t(isa::SyncCoreType::mix));
        set_all_clocks(c, everything_done(c));
        learn_grid(c, s_pipe, m.snapshot(++m.waits[me], m_launch.grid.arena));
        set_all_clocks(c, c.pipes[s_pipe].clock);
        return true;
    }
    case Semantics::mutex_lock: return true; // the ticket was taken at issue; the wait is in can_start
    case Semantics::mutex_unlock: {
        const std::int64_t id = id_of(item, Key::mutex_id);
        check_id(item, id, m_launch.chip.mutex_ids, "mutex");
        Lock& l = m_sync.locks[std::size_t(c.place)][std::size_t(id)];
        if (l.released[std::size_t(pipe)] >= l.acquired[std::size_t(pipe)]) {
            if (check)
                say(HazardKind::lock_unbalanced, false, c, pipe, item,
                    "lock " + std::to_string(id) + " is released by " + std::string(isa::name(isa::Pipe(pipe))) +
                        ", which does not hold it",
                    "lock and unlock on the same pipe", "in every order");
            return true;
        }
        ++l.released[std::size_t(pipe)];
        l.release[std::size_t(pipe)] = set_event(c, pipe, item).clock;
        return true;
    }
    case Semantics::cache:
    case Semantics::layout_transform:
    case Semantics::set_validshape:
    case Semantics::set_stride:
    case Semantics::trap: return true; // no data: the sequencer has done what they do
    default: return false;
    }
}

void BlockRun::start(CoreRun& c, int pipe, Item& item, bool split) {
    PipeRun& p = c.pipes[std::size_t(pipe)];
    if (item.has_issue_clock) join(p.clock, item.issue_clock, m_launch.grid.arena);
    for (int i = 0; i < item.lock_count; ++i) {
        const Lock& l = m_sync.locks[std::size_t(c.place)][std::size_t(item.locks[std::size_t(i)])];
        const auto& need = item.need[std::size_t(i)];
        for (std::size_t q = 0; q < std::size_t(pipes_per_core); ++q)
            if (need[q]) join(p.clock, l.release[q], m_launch.grid.arena);
    }
    if (item.site->phase) {
        const UnitFlags& u = m_sync.unit[std::size_t(c.place)];
        const auto [first, last] = unit_range(item, c);
        std::int32_t seen = -1;
        for (std::size_t i = first; i < last; ++i)
            if (u.last[i] >= 0 && u.last[i] != seen)
                join(p.clock, u.events[std::size_t(seen = u.last[i])].clock, m_launch.grid.arena);
    }
    if (!run_sync(c, pipe, item)) run_data(c, pipe, item, split);
}

void BlockRun::complete(CoreRun& c, int pipe, Item& item) {
    PipeRun& p = c.pipes[std::size_t(pipe)];
    const auto slot = std::size_t(pipe_slot(c.place, isa::Pipe(pipe)));
    p.done = item.tick;
    // S and V finish one item before they start the next (language 4.3: there is no bar_v).
    if (pipe == s_pipe || pipe == int(isa::Pipe::v)) p.clock.at[slot] = std::max(p.clock.at[slot], item.tick);
    if (item.lock_count && item.site->semantics != Semantics::mutex_lock) {
        const Clock clock = set_event(c, pipe, item).clock;
        for (int i = 0; i < item.lock_count; ++i) {
            Lock& l = m_sync.locks[std::size_t(c.place)][std::size_t(item.locks[std::size_t(i)])];
            ++l.released[std::size_t(pipe)];
            l.release[std::size_t(pipe)] = clock;
        }
        ++m_version;
    }
    if (item.site->phase) {
        UnitFlags& u = m_sync.unit[std::size_t(c.place)];
        const auto [first, last] = unit_range(item, c);
        if (u.events.size() > 4096) { // keep what is still referred to
            std::vector<SetEvent> kept;
            std::vector<std::int32_t> moved(u.events.size(), -1);
            for (std::int32_t& l : u.last)
                if (l >= 0) {
                    if (moved[std::size_t(l)] < 0) {
                        moved[std::size_t(l)] = std::int32_t(kept.size());
                        kept.push_back(u.events[std::size_t(l)]);
                    }
                    l = moved[std::size_t(l)];
                }
            u.events = std::move(kept);
        }
        if (item.site->phase == 2) {
            u.events.push_back(set_event(c, pipe, item));
            for (std::size_t i = first; i < last; ++i) {
                u.raised[i] = item.site->semantics != Semantics::store;
                u.last[i] = std::int32_t(u.events.size()) - 1;
            }
        }
        ++m_version;
    }
    switch (item.site->semantics) { // what may let others go on
    case Semantics::flag_set:
    case Semantics::cross_set:
    case Semantics::cross_wait:
    case Semantics::mutex_unlock: ++m_version; break;
    default: break;
    }
    // bar_all and sync_all look at queues that have just become empty; the held operation is the only one that waits
    // for that.
    if (c.holding && (c.held.op.pipe == isa::Pipe::all || c.held.site->semantics == Semantics::sync_all))
        c.pipes[s_pipe].blocked_at = ~std::uint64_t(0);
    track_done(c, item);
}

void BlockRun::say(HazardKind kind, bool is_error, const CoreRun& c, int pipe, const Item& item, std::string message,
                   std::string repair, std::string order) {
    m_launch.findings.say(kind, is_error, Findings::place_of(self_of(c, pipe, item)), std::move(message),
                          std::move(repair), std::move(order));
}

LoggedAccess BlockRun::self_of(const CoreRun& c, int pipe, const Item& item) const {
    LoggedAccess a;
    a.site = item.site;
    a.core = c.name;
    a.stages = &c.code->stages;
    a.pipe = std::int16_t(pipe_slot(c.place, isa::Pipe(pipe)));
    a.stage = std::int16_t(item.op.stage);
    a.tick = item.tick;
    a.task = item.op.task;
    a.sequence = item.op.sequence;
    a.iterations = item.op.iterations;
    a.grid = c.pipes[std::size_t(pipe)].clock.grid;
    return a;
}

} // namespace pto::execute
