/// Why nothing can move: who waits for which set, whether one is left anywhere, and what is only a consequence. Source:
/// views 8.
#include "engine/execute/block.hpp"

#include <algorithm>

namespace pto::execute {
namespace {

using isa::Semantics;
constexpr int s_pipe = int(isa::Pipe::s);

/// A set that could release a wait.
struct Wanted {
    Semantics semantics = Semantics::flag_set;
    isa::Core kind = isa::Core::cube;
    std::int32_t subblock = -1;                                  // -1: any
    isa::Pipe set_pipe = isa::Pipe::s, wait_pipe = isa::Pipe::s; // flags
    std::int64_t id = 0;
    std::int64_t unicast_id = 0; // as the cube would write it
};

class Explainer {
  public:
    Explainer(std::vector<BlockRun*> blocks, const Launch& launch) : m_blocks(std::move(blocks)), m_launch(launch) {}

    HangReport explain(std::int32_t waiting_to_start) {
        for (std::size_t b = 0; b < m_blocks.size(); ++b)
            for (CoreRun& c : m_blocks[b]->cores()) {
                if (!c.finished && c.holding) add(b, c, s_pipe, c.held);
                for (int p = 0; p < pipes_per_core; ++p)
                    if (c.pipes[std::size_t(p)].size) add(b, c, p, c.pipes[std::size_t(p)].front());
            }
        for (std::size_t i = 0; i < m_report.stuck.size(); ++i) reason(i);
        bool any_cause = false;
        for (const StuckPipe& s : m_report.stuck) any_cause |= s.is_cause;
        m_report.circle = !any_cause;
        if (waiting_to_start > 0)
            m_report.summary = std::to_string(waiting_to_start) + " blocks wait for a free core while " +
                               std::to_string(m_blocks.size()) +
                               " blocks wait for all of them: the chip runs at most " +
                               std::to_string(m_blocks.size()) + " at a time";
        else
            m_report.summary = std::to_string(m_report.stuck.size()) + " pipes wait, nothing can run" +
                               (m_report.circle ? ": every set still exists, but each waits for another" : "");
        causes_first();
        return std::move(m_report);
    }

  private:
    struct Who {
        std::size_t block;
        int place, pipe;
    };

    /// Causes first, links kept.
    void causes_first() {
        std::vector<std::int32_t> order(m_report.stuck.size()), place(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::int32_t(i);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return m_report.stuck[std::size_t(a)].is_cause > m_report.stuck[std::size_t(b)].is_cause;
        });
        std::vector<StuckPipe> sorted;
        for (std::size_t i = 0; i < order.size(); ++i) place[std::size_t(order[i])] = std::int32_t(i);
        for (std::int32_t i : order) {
            sorted.push_back(std::move(m_report.stuck[std::size_t(i)]));
            if (sorted.back().circle_next >= 0)
                sorted.back().circle_next = place[std::size_t(sorted.back().circle_next)];
        }
        m_report.stuck = std::move(sorted);
    }
    void add(std::size_t b, CoreRun& c, int pipe, const Item& item) {
        StuckPipe s;
        s.core = c.name;
        s.pipe = isa::Pipe(pipe);
        s.at = Findings::place_of(m_blocks[b]->self_of(c, pipe, item));
        s.queued = pipe == s_pipe ? 0 : c.pipes[std::size_t(pipe)].size - 1;
        m_report.stuck.push_back(std::move(s));
        m_who.push_back({b, c.place, pipe});
    }
    int find_stuck(std::size_t block, int place, int pipe) const {
        for (std::size_t i = 0; i < m_who.size(); ++i)
            if (m_who[i].block == block && m_who[i].place == place && m_who[i].pipe == pipe) return int(i);
        return -1;
    }

    /// Does the static instruction raise what is wanted? Run-time ids may.
    bool matches(const Instruction& in, const Wanted& w) const {
        if (in.semantics != w.semantics) return false;
        if (w.semantics == Semantics::flag_set && (in.set_pipe != w.set_pipe || in.wait_pipe != w.wait_pipe))
            return false;
        const int at = in.keys[std::size_t(Key::event_id)];
        if (at < 0 || !in.op || at >= int(in.op->attributes.size())) return true;
        const ir::AttributeValue& v = in.op->attributes[std::size_t(at)];
        std::optional<std::int64_t> id;
        if (auto* i = std::get_if<std::int64_t>(&v))
            id = *i;
        else if (auto* x = std::get_if<ir::ExprId>(&v))
            id = in.function->constant(*x);
        return !id || raises(in, *id, w);
    }
    /// Does a set of this id raise what is wanted? INTRA_BLOCK and UNICAST_BLOCK reach the same counters.
    static bool raises(const Instruction& in, std::int64_t id, const Wanted& w) {
        if (w.semantics != Semantics::cross_set) return id == w.id;
        const auto mode = isa::CrossCoreSyncMode(in.sync_mode);
        if (mode == isa::CrossCoreSyncMode::unicast_block)
            return id == (w.kind == isa::Core::cube ? w.unicast_id : w.id);
        return mode == isa::CrossCoreSyncMode::intra_block && id == w.id;
    }
    static bool item_matches(const Item& item, const Wanted& w) {
        if (item.site->semantics != w.semantics) return false;
        if (w.semantics == Semantics::flag_set &&
            (item.site->set_pipe != w.set_pipe || item.site->wait_pipe != w.wait_pipe))
            return false;
        const int at = item.site->keys[std::size_t(Key::event_id)];
        return at >= 0 && raises(*item.site, item.op.attributes[std::size_t(at)].scalar.integer, w);
    }
    /// Can the scalar unit still reach instruction `index`? Forward, or through a loop that has not ended.
    static bool reachable(const CoreRun& c, std::size_t index) {
        if (c.finished) return false;
        const std::size_t pc = std::size_t(c.sequencer->instruction_pointer());
        if (index >= pc) return true;
        for (std::size_t i = pc; i < c.code->code.size(); ++i) {
            const program::Instr& in = c.code->code[i];
            const bool back = in.kind == program::InstrKind::jump || in.kind == program::InstrKind::loop_next;
            if (back && std::size_t(in.target) <= index) return true;
        }
        return false;
    }

    /// Fills in who could set it; the wait is a cause when no core still can.
    void look_for(StuckPipe& s, std::size_t block, const Wanted& w) {
        bool left = false;
        for (CoreRun& c : m_blocks[block]->cores()) {
            if (c.name.kind != w.kind || (w.subblock >= 0 && c.name.subblock != w.subblock)) continue;
            for (std::size_t i = 0; i < c.code->code.size(); ++i) {
                const program::Instr& in = c.code->code[i];
                if (in.kind != program::InstrKind::issue) continue;
                const Instruction& site = m_launch.table.of(in.stmt);
                if (!matches(site, w)) continue;
                if (s.setters.size() < 4) {
                    Place p;
                    p.at = site.at;
                    p.operation = site.name;
                    p.core = c.name;
                    if (site.op) p.pipe = site.op->pipe;
                    if (in.stage >= 0) p.stage = c.code->stages[std::size_t(in.stage)];
                    s.setters.push_back(std::move(p));
                }
                if (reachable(c, i)) {
                    left = true;
                    if (s.circle_next < 0) s.circle_next = find_stuck(block, c.place, s_pipe);
                }
            }
            if (c.holding && item_matches(c.held, w)) {
                left = true;
                s.circle_next = find_stuck(block, c.place, s_pipe);
            }
            for (int p = 0; p < pipes_per_core; ++p) {
                PipeRun& q = c.pipes[std::size_t(p)];
                for (std::int32_t i = 0; i < q.size; ++i)
                    if (item_matches(q.ring[std::size_t((q.head + i) % std::int32_t(q.ring.size()))], w)) {
                        left = true;
                        s.circle_next = find_stuck(block, c.place, p);
                    }
            }
        }
        s.is_cause = !left;
        const std::string counts =
            "set " + std::to_string(s.raised) + " times, awaited " + std::to_string(s.awaited) + " times";
        if (s.setters.empty())
            s.expected = counts + "; no program sets it";
        else if (!left)
            s.expected = counts + "; no set is left in any program";
        else
            s.expected = counts + "; a set is left, behind another wait";
    }

    void reason(std::size_t i) {
        StuckPipe& s = m_report.stuck[i];
        const Who who = m_who[i];
        BlockRun& block = *m_blocks[who.block];
        CoreRun& c = block.cores()[std::size_t(who.place)];
        const Item& item = who.pipe == s_pipe ? c.held : c.pipes[std::size_t(who.pipe)].front();
        const isa::Pipe target = item.op.pipe;
        if (who.pipe == s_pipe && target != isa::Pipe::s && target != isa::Pipe::all) {
            s.waits_for = "room in the queue of " + std::string(isa::name(target)) + ", which holds " +
                          std::to_string(m_launch.chip.queue_depth);
            s.circle_next = find_stuck(who.block, who.place, int(target));
            return;
        }
        BlockSync& sync = block.sync();
        for (int k = 0; k < item.lock_count; ++k) {
            const std::int32_t id = item.locks[std::size_t(k)];
            const Lock& l = sync.locks[std::size_t(who.place)][std::size_t(id)];
            for (std::size_t q = 0; q < std::size_t(pipes_per_core); ++q) {
                if (l.released[q] >= item.need[std::size_t(k)][q]) continue;
                s.waits_for = "lock " + std::to_string(id) + ", held by " + std::string(isa::name(isa::Pipe(int(q))));
                s.id = id;
                s.awaited = item.need[std::size_t(k)][q];
                s.raised = l.released[q];
                if (l.holder[q]) {
                    Place p;
                    p.at = l.holder[q]->at;
                    p.operation = l.holder[q]->name;
                    p.core = c.name;
                    p.pipe = isa::Pipe(int(q));
                    s.setters.push_back(p);
                }
                s.circle_next = find_stuck(who.block, who.place, int(q));
                if (s.circle_next < 0 && !c.finished) s.circle_next = find_stuck(who.block, who.place, s_pipe);
                s.is_cause = s.circle_next < 0;
                s.expected = s.is_cause ? "the holder has run and never releases it" : "the holder has not finished";
                return;
            }
        }
        const int at = item.site->keys[std::size_t(Key::event_id)];
        const std::int64_t id =
            at >= 0 && at < int(item.op.attributes.size()) ? item.op.attributes[std::size_t(at)].scalar.integer : -1;
        const bool cube = c.name.kind == isa::Core::cube;
        switch (item.site->semantics) {
        case Semantics::flag_wait: {
            const Flag& f = sync.flag(who.place, item.site->set_pipe, item.site->wait_pipe, id);
            s.waits_for = "flag " + std::string(isa::name(item.site->set_pipe)) + " to " +
                          std::string(isa::name(item.site->wait_pipe)) + " id " + std::to_string(id);
            s.id = std::int32_t(id);
            s.awaited = f.waits + 1;
            s.raised = f.sets;
            look_for(
                s, who.block,
                {Semantics::flag_set, c.name.kind, c.name.subblock, item.site->set_pipe, item.site->wait_pipe, id, id});
            return;
        }
        case Semantics::cross_wait: {
            s.waits_for = "cross-core id " + std::to_string(id) + " (" +
                          std::string(isa::name(isa::CrossCoreSyncMode(item.site->sync_mode))) + ")";
            s.id = std::int32_t(id);
            const auto mode = isa::CrossCoreSyncMode(item.site->sync_mode);
            if (mode == isa::CrossCoreSyncMode::intra_block || mode == isa::CrossCoreSyncMode::unicast_block) {
                const int m = mode == isa::CrossCoreSyncMode::unicast_block;
                const std::int64_t plain = m ? id % sync.cross_ids : id;
                std::int32_t missing = m && cube ? std::int32_t(id / sync.cross_ids) : 0;
                if (!m && cube && block.counter(0, 0, 0, id).count() > 0) missing = 1; // AIV0 has set, AIV1 has not
                const Counter& k =
                    cube ? block.counter(0, m, missing, plain) : block.counter(1, m, c.name.subblock, plain);
                if (cube) s.waits_for += " from AIV" + std::to_string(missing);
                s.awaited = k.waits + 1;
                s.raised = k.sets;
                Wanted w{Semantics::cross_set,
                         cube ? isa::Core::vector : isa::Core::cube,
                         cube ? missing : 0,
                         {},
                         {},
                         plain,
                         plain};
                if (!cube) w.unicast_id = plain + c.name.subblock * sync.cross_ids;
                look_for(s, who.block, w);
            } else {
                Meeting& meet = mode == isa::CrossCoreSyncMode::inter_subblock
                                    ? sync.subblocks[std::size_t(id)]
                                    : block.launch().grid.inter_block[cube ? 0 : 1][std::size_t(id)];
                const std::size_t me = mode == isa::CrossCoreSyncMode::inter_subblock ? std::size_t(c.name.subblock)
                                                                                      : block.participant(c, false);
                meeting(s, meet, meet.waits[me] + 1, cube ? "AIC" : "AIV");
            }
            return;
        }
        case Semantics::sync_all: {
            for (int p = 0; p < pipes_per_core; ++p)
                if (c.pipes[std::size_t(p)].size) {
                    s.waits_for = "its own pipe " + std::string(isa::name(isa::Pipe(p)));
                    s.circle_next = find_stuck(who.block, who.place, p);
                    return;
                }
            s.waits_for = "sync_all";
            Meeting& meet = block.launch().grid.sync_all[item.site->core_type];
            meeting(s, meet,
                    std::int64_t(
                        meet.sets[block.participant(c, item.site->core_type == std::uint8_t(isa::SyncCoreType::mix))]
                            .size()),
                    "core");
            return;
        }
        case Semantics::barrier:
            for (int p = 0; p < pipes_per_core; ++p)
                if (c.pipes[std::size_t(p)].size) {
                    s.waits_for = "pipe " + std::string(isa::name(isa::Pipe(p))) + " to drain";
                    s.circle_next = find_stuck(who.block, who.place, p);
                    return;
                }
            return;
        default: break;
        }
        if (item.site->phase) {
            const bool store = item.site->semantics == Semantics::store;
            s.waits_for =
                store ? "the unit flag of its accumulator to be 1" : "the unit flag of its accumulator to be 0";
            s.expected = store ? "a matmul with phase Final raises it" : "a store with phase Final clears it";
            s.circle_next = find_stuck(who.block, who.place, int(store ? isa::Pipe::m : isa::Pipe::fix));
            if (s.circle_next < 0 && !c.finished) s.circle_next = find_stuck(who.block, who.place, s_pipe);
            s.is_cause = s.circle_next < 0;
        }
    }

    static void meeting(StuckPipe& s, const Meeting& m, std::int64_t round, const std::string& kind) {
        s.awaited = std::int64_t(m.sets.size());
        s.raised = m.arrived(round);
        s.expected = "waits for " + std::to_string(s.awaited) + " " + kind + (s.awaited == 1 ? "" : "s") + ", " +
                     std::to_string(s.raised) + " came";
        s.is_cause = true;
    }

    std::vector<BlockRun*> m_blocks;
    const Launch& m_launch;
    HangReport m_report;
    std::vector<Who> m_who;
};

} // namespace

HangReport explain_hang(std::vector<BlockRun*> blocks, const Launch& launch, std::int32_t waiting_to_start) {
    return Explainer(std::move(blocks), launch).explain(waiting_to_start);
}

} // namespace pto::execute
