#include "engine/time/signals.hpp"

#include <algorithm>

namespace pto::time {
namespace {

int flag_key(const execute::Row& row) {
    bool sets = row.sync == execute::SyncKind::flag_set;
    int set = sets ? int(row.pipe) : row.sync_pipe, wait = sets ? row.sync_pipe : int(row.pipe);
    return (set * 8 + wait) * 64 + (row.sync_id & 63);
}

bool take(Arrivals& list, Arrival& a) {
    if (list.empty()) return false;
    a = list.front();
    list.pop();
    return true;
}

} // namespace

void CoreSignals::prepare(isa::Core core) {
    m_core = core;
    m_counters.resize(32);
    m_flag_slot.assign(8 * 8 * 64, -1);
    for (int i = 0; i < 32; ++i) m_alias[i] = std::int8_t(i);
}

void CoreSignals::join(const std::vector<int>& ids, int vectors) {
    if (ids.empty()) return;
    for (int v = 0; v < (m_core == isa::Core::cube ? vectors : 1); ++v) {
        auto counter = [&](int id) { return (id & 15) + 16 * v; };
        for (int id : ids) m_alias[counter(id)] = std::int8_t(counter(ids[0]));
        m_counters[std::size_t(counter(ids[0]))].add({0, -1});
    }
}

Arrivals& CoreSignals::flag(const execute::Row& row) {
    std::int16_t& slot = m_flag_slot[std::size_t(flag_key(row))];
    if (slot < 0) {
        slot = std::int16_t(m_flags.size());
        m_flags.emplace_back();
    }
    return m_flags[std::size_t(slot)];
}

void CoreSignals::set_flag(const execute::Row& row, Arrival a) { flag(row).add(a); }

bool CoreSignals::take_flag(const execute::Row& row, Arrival& a) { return take(flag(row), a); }

bool CoreSignals::take_counter(int counter, Arrival& a) { return counter >= 0 && counter < 32 && take(m_counters[std::size_t(m_alias[counter])], a); }

bool CoreSignals::take_intra(int id, int vectors, Arrival& a) {
    if (id < 0 || id > 15) return false;
    if (m_core == isa::Core::vector) return take(m_counters[std::size_t(m_alias[id])], a);
    for (int v = 0; v < vectors; ++v)
        if (m_counters[std::size_t(m_alias[id + 16 * v])].empty()) return false;
    for (int v = 0; v < vectors; ++v) {
        Arrival one;
        take(m_counters[std::size_t(m_alias[id + 16 * v])], one);
        if (v == 0 || one.at > a.at) a = one;
    }
    return vectors > 0;
}

GridSignals::GridSignals(const execute::Record& record) {
    std::map<std::int32_t, std::vector<std::int32_t>> blocks;
    for (std::size_t i = 0; i < record.cores.size(); ++i) {
        const execute::CoreRecord& c = record.cores[i];
        Member m;
        m.kind = c.core;
        m.block = c.block;
        m.subblock = c.subblock;
        m_members.push_back(m);
        blocks[c.block].push_back(std::int32_t(i));
        ++(c.core == isa::Core::cube ? m_cubes : m_vectors);
    }
    for (Member& m : m_members) {
        m.same_block = blocks[m.block];
        for (std::int32_t i : m.same_block) m.vectors += m_members[std::size_t(i)].kind == isa::Core::vector;
    }
}

void GridSignals::each_partner(std::int32_t core, int id, bool unicast, const std::function<void(std::int32_t, int)>& f) const {
    const Member& me = m_members[std::size_t(core)];
    for (std::int32_t i : me.same_block) {
        const Member& other = m_members[std::size_t(i)];
        if (other.kind == me.kind) continue;
        if (me.kind == isa::Core::vector) {
            if (id >= 0 && id < 16) f(i, id + 16 * me.subblock); // the hardware routes AIV1's flags to id + 16
        } else if (!unicast) {
            if (id >= 0 && id < 16) f(i, id);
        } else if (id >= 0 && id / 16 == other.subblock) {
            f(i, id % 16);
        }
    }
}

void GridSignals::each_member(std::int32_t core, int mode, const std::function<void(std::int32_t)>& f) const {
    const Member& me = m_members[std::size_t(core)];
    for (std::size_t i = 0; i < m_members.size(); ++i)
        if (m_members[i].kind == me.kind && (mode == int(isa::CrossCoreSyncMode::inter_block) || m_members[i].block == me.block)) f(std::int32_t(i));
}

std::int64_t GridSignals::group_key(std::int32_t core, int mode, int id) const {
    const Member& me = m_members[std::size_t(core)];
    std::int64_t scope = mode == int(isa::CrossCoreSyncMode::inter_subblock) ? me.block + 1 : 0;
    return (scope * 2 + int(me.kind)) * 4096 + mode * 1024 + (id & 1023);
}

std::int32_t GridSignals::group_size(std::int32_t core, int mode) const {
    const Member& me = m_members[std::size_t(core)];
    if (mode == int(isa::CrossCoreSyncMode::inter_subblock)) return me.kind == isa::Core::vector ? me.vectors : 1;
    return me.kind == isa::Core::cube ? m_cubes : m_vectors;
}

bool GridSignals::arrive(Group& g, std::int32_t core, std::int32_t size, Arrival a) {
    std::size_t round = std::size_t(g.sets[core]++);
    if (g.rounds.size() <= round) g.rounds.resize(round + 1);
    Round& r = g.rounds[round];
    if (r.arrived == 0 || a.at > r.last.at) r.last = a;
    return ++r.arrived == size;
}

bool GridSignals::complete(const Group& g, std::int32_t core, std::int32_t size, Arrival& a) const {
    auto passed = g.waits.find(core);
    std::size_t round = passed == g.waits.end() ? 0 : std::size_t(passed->second);
    if (round >= g.rounds.size() || g.rounds[round].arrived < size) return false;
    a = g.rounds[round].last;
    return true;
}

bool GridSignals::set(std::int32_t core, int mode, int id, Arrival a) { return arrive(m_groups[group_key(core, mode, id)], core, group_size(core, mode), a); }

bool GridSignals::take(std::int32_t core, int mode, int id, Arrival& a) {
    Group& g = m_groups[group_key(core, mode, id)];
    if (!complete(g, core, group_size(core, mode), a)) return false;
    ++g.waits[core];
    return true;
}

std::int32_t GridSignals::all_size(int type) const {
    switch (isa::SyncCoreType(type)) {
    case isa::SyncCoreType::aiv_only: return m_vectors;
    case isa::SyncCoreType::aic_only: return m_cubes;
    default: return m_vectors + m_cubes;
    }
}

bool GridSignals::arrive_all(std::int32_t core, int type, Ticks at, std::int64_t row) { return arrive(m_all[type], core, all_size(type), {at, row}); }

bool GridSignals::all_there(std::int32_t core, int type, Arrival& a) const {
    auto found = m_all.find(type);
    return found != m_all.end() && complete(found->second, core, all_size(type), a);
}

void GridSignals::pass_all(std::int32_t core, int type) { ++m_all[type].waits[core]; }

namespace {

UnitFlag& flag_of(std::vector<UnitFlag>& flags, const execute::Row& row, bool matmul) {
    std::uint16_t region = matmul ? row.ub[2] : row.ub[0];
    for (UnitFlag& f : flags)
        if (f.region == region) return f;
    flags.push_back({});
    flags.back().region = region;
    return flags.back();
}

} // namespace

bool unit_flag_ready(std::vector<UnitFlag>& flags, const execute::Row& row, bool matmul, Ticks busy, const CoreTimes& times, Ticks& start, Ticks& floor,
                     std::int32_t& decided_by) {
    UnitFlag& f = flag_of(flags, row, matmul);
    // One block of 512 bytes out of the region's is what the follower is behind at the end.
    std::int64_t blocks = std::max<std::int64_t>(1, (std::int64_t(row.m) * row.n * 4 + 511) / 512);
    if (matmul) {
        if (f.raised > f.cleared) return false; // the region waits for its final store
        if (f.final_store < 0) return true;
        // Blocks become free from the first one the fixpipe has read: after the matmul that filled them, where the store waited for it.
        std::int32_t store = f.final_store;
        Ticks begun = std::max(times.start[std::size_t(store)], f.final_matmul >= 0 ? times.start[std::size_t(f.final_matmul)] : 0);
        if (begun > start) start = begun, decided_by = store;
        floor = times.end[std::size_t(store)] + busy / blocks;
    } else {
        if (f.raised == f.cleared) return false;
        // Only the final matmul raises the blocks, the first of them soon after its start: whatever the store does comes after that.
        floor = std::max(times.end[std::size_t(f.final_matmul)] + busy / blocks, times.start[std::size_t(f.final_matmul)] + busy);
    }
    return true;
}

void note_unit_flag(std::vector<UnitFlag>& flags, const execute::Row& row, bool matmul, std::int32_t index) {
    if (row.phase != 2) return;
    UnitFlag& f = flag_of(flags, row, matmul);
    if (matmul) {
        ++f.raised;
        f.final_matmul = index;
    } else {
        ++f.cleared;
        f.final_store = index;
    }
}

} // namespace pto::time
