#include "engine/execute/sync_state.hpp"

namespace pto::execute {

const GridKnowledge* GridArena::join(const GridKnowledge* a, const GridKnowledge* b) {
    bool a_covers = true, b_covers = true;
    for (std::size_t i = 0; i < m_size; ++i) {
        a_covers &= a->ticks[i] >= b->ticks[i];
        b_covers &= b->ticks[i] >= a->ticks[i];
    }
    if (a_covers) return a;
    if (b_covers) return b;
    GridKnowledge* both = make();
    for (std::size_t i = 0; i < m_size; ++i) both->ticks[i] = std::max(a->ticks[i], b->ticks[i]);
    return both;
}

std::int64_t Counter::post(const SetEvent& e) {
    ++sets;
    open.push_back(e);
    while (!waits_open.empty() && e.clock.covers(waits_open.front().first, waits_open.front().second)) {
        waits_open.pop_front();
        ++waits_covered;
    }
    return sets - waits_covered;
}

void Counter::take(Clock& clock, std::int16_t pipe, std::uint32_t tick, GridArena& arena) {
    const std::int64_t k = ++waits;
    // A set must have happened before this wait iff without it, and what follows it, fewer than k sets remain.
    std::size_t kept = 0;
    const std::int64_t joined_before = joined;
    const std::vector<SetEvent>& all = open;
    std::vector<bool> certain(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::int64_t others = joined_before;
        for (std::size_t j = 0; j < all.size() && others < k; ++j)
            others += j != i && !all[j].clock.covers(all[i].pipe, all[i].tick);
        certain[i] = others < k;
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
        if (certain[i]) {
            execute::join(clock, open[i].clock, arena);
            ++joined;
        } else {
            if (kept != i) open[kept] = open[i];
            ++kept;
        }
    }
    open.resize(kept);
    waits_open.emplace_back(pipe, tick);
}

const GridKnowledge* Meeting::snapshot(std::int64_t k, GridArena& arena) {
    if (std::int64_t(snapshots.size()) < k) snapshots.resize(std::size_t(k), nullptr);
    const GridKnowledge*& made = snapshots[std::size_t(k - 1)];
    if (made) return made;
    GridKnowledge* all = arena.make();
    for (std::size_t p = 0; p < sets.size(); ++p) {
        const Clock& c = sets[p][std::size_t(k - 1)];
        if (c.grid)
            for (std::size_t i = 0; i < all->ticks.size(); ++i)
                all->ticks[i] = std::max(all->ticks[i], c.grid->ticks[i]);
        for (std::size_t i = 0; i < std::size_t(pipes_per_block); ++i) {
            std::uint32_t& t = all->ticks[std::size_t(block_of[p]) * pipes_per_block + i];
            t = std::max(t, c.at[i]);
        }
    }
    return made = all;
}

GridState::GridState(std::int32_t blocks_, std::int32_t subblocks_, bool cube, bool vector)
    : arena(blocks_), blocks(blocks_), subblocks(subblocks_), has_cube(cube), has_vector(vector) {
    auto prepare = [&](Meeting& m, bool cubes, bool vectors) {
        for (std::int32_t b = 0; cubes && b < blocks; ++b) m.block_of.push_back(b);
        for (std::int32_t b = 0; vectors && b < blocks * subblocks; ++b) m.block_of.push_back(b / subblocks);
        m.sets.resize(m.block_of.size());
        m.waits.assign(m.block_of.size(), 0);
    };
    for (int kind = 0; kind < 2; ++kind) {
        inter_block[std::size_t(kind)].resize(16);
        for (Meeting& m : inter_block[std::size_t(kind)]) prepare(m, kind == 0 && has_cube, kind == 1 && has_vector);
    }
    prepare(sync_all[std::size_t(isa::SyncCoreType::aiv_only)], false, has_vector);
    prepare(sync_all[std::size_t(isa::SyncCoreType::aic_only)], has_cube, false);
    prepare(sync_all[std::size_t(isa::SyncCoreType::mix)], has_cube, has_vector);
}

BlockSync::BlockSync(const machine::Chip& chip, int cores, std::int32_t block)
    : event_ids(chip.event_ids), cross_ids(chip.cross_core_ids) {
    for (int c = 0; c < cores; ++c) {
        flags[std::size_t(c)].resize(std::size_t(pipes_per_core * pipes_per_core * event_ids));
        locks[std::size_t(c)].resize(std::size_t(chip.mutex_ids));
        UnitFlags& u = unit[std::size_t(c)];
        const std::size_t blocks = std::size_t(chip.of(isa::MemorySpace::acc).bytes / 512);
        u.raised.assign(blocks, 0);
        u.last.assign(blocks, -1);
        u.issued.assign(blocks, 0);
        u.issued_by.assign(blocks, nullptr);
    }
    subblocks.resize(std::size_t(cross_ids));
    for (Meeting& m : subblocks) {
        m.sets.resize(2);
        m.waits.assign(2, 0);
        m.block_of = {block, block};
    }
    for (auto* side : {&to_vector, &to_cube})
        for (auto& mode : *side)
            for (auto& ids : mode) ids.resize(std::size_t(cross_ids));
}

} // namespace pto::execute
