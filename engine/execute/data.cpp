/// An operation that touches data: range check, happens-before check, effect. Source: design 3; views 9.
#include "engine/execute/block.hpp"

#include <algorithm>
#include <cstring>

namespace pto::execute {
namespace {

constexpr int s_pipe = int(isa::Pipe::s);

std::string core_and_pipe(const Place& p, bool several) {
    return text(p.core, several) + " " + std::string(isa::name(p.pipe));
}

std::string who(const Place& p) {
    std::string s = p.stage.empty() ? p.operation : p.stage;
    return s + when(p);
}

std::string hex(std::int64_t v) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "0x%05llX", static_cast<unsigned long long>(v));
    return buffer;
}

} // namespace

Call BlockRun::call_of(CoreRun& c, int pipe, Item& item) {
    Row* row = item.row >= 0 ? &c.record.rows[std::size_t(item.row)] : nullptr;
    return Call{m_machine,
                m_launch.gm,
                m_launch.scratch,
                *item.site,
                item.op,
                c.place,
                row,
                m_launch.options.hazards ? &m_launch.findings : nullptr,
                self_of(c, pipe, item),
                m_launch.statistics,
                c.registers};
}

void BlockRun::check_ranges(const Call& call) {
    for (const Access& a : m_accesses.items) {
        if (a.space == MemorySpace::ddr) {
            if (a.core < 0) continue; // SSBUF: checked by its meaning
            GlobalMemory::Range* r = m_launch.gm.find(a.first, a.last);
            if (r) {
                r->written |= a.write;
                continue;
            }
            const TensorValue* t = call.is_tensor(a.operand) ? &call.tensor(a.operand) : nullptr;
            GlobalMemory::Range* near = t ? m_launch.gm.find(t->address) : m_launch.gm.find(a.first);
            std::string message = call.site.name + ": " + (a.write ? "writes" : "reads") + " bytes ";
            if (near)
                message += std::to_string(a.first - near->address) + " to " + std::to_string(a.last - near->address) +
                           " of " + near->name + ", which has " + std::to_string(near->bytes);
            else if (t && t->address == 0)
                message += "of " + call.operand_name(a.operand) + ", which is None";
            else
                message += hex(a.first) + " to " + hex(a.last) + " of global memory, where no argument lies";
            throw Stop{Status::out_of_range, message, call.operand_span(a.operand)};
        }
        const std::int64_t size = (*m_machine.memory[std::size_t(a.core)])[a.space].bytes;
        if (a.first >= 0 && a.last <= size) continue;
        throw Stop{Status::out_of_range,
                   call.site.name + ": " + call.operand_name(a.operand) + " covers bytes " + hex(a.first) + " to " +
                       hex(a.last) + ", " + std::string(isa::name(a.space)) + " has " + hex(size),
                   call.operand_span(a.operand)};
    }
}

void BlockRun::check_accesses(const Call& call, const Clock& clock) {
    LoggedAccess now = call.self;
    for (const Access& a : m_accesses.items) {
        now.access = a;
        AccessLog* log;
        if (a.space != MemorySpace::ddr) {
            log = &m_logs[std::size_t(a.core)][std::size_t(a.space)];
        } else if (a.core < 0) {
            log = &m_shared_log;
        } else {
            const GlobalMemory::Range* r = m_launch.gm.find(a.first, a.last);
            log = &m_gm_logs[std::size_t(r - m_launch.gm.ranges().data())];
        }
        log->add(now, clock, [&](const LoggedAccess& old) {
            if (old.pipe == now.pipe && old.tick == now.tick) return; // two operands of one operation
            conflict(call, old, now);
        });
    }
}

namespace {

/// Does `a` come after `b` in the order the program means? A finding is told that way whichever of the two a run met first, so that
/// every order tells the same one.
bool comes_later(const LoggedAccess& a, const LoggedAccess& b) {
    if (a.task >= 0 && b.task >= 0 && a.task != b.task) return a.task > b.task;
    if (a.core == b.core) return a.sequence > b.sequence;
    for (int i = 0; i < std::min(a.iterations.count, b.iterations.count); ++i)
        if (auto x = a.iterations.at[std::size_t(i)], y = b.iterations.at[std::size_t(i)]; x != y) return x > y;
    if (a.access.write != b.access.write) return b.access.write; // of one iteration, who writes comes first
    return b.core < a.core;
}

} // namespace

void BlockRun::conflict(const Call& call, const LoggedAccess& old, const LoggedAccess& now) {
    const bool one_pipe = old.pipe == now.pipe;
    if (one_pipe && isa::Pipe(now.pipe % pipes_per_core) == isa::Pipe::m && now.access.space == MemorySpace::acc &&
        old.access.first == now.access.first) {
        // The matrix unit orders accumulations into one tile itself unless the tile is small (hardware 2.2).
        if (now.access.bytes.bytes() >= 10 * 1024 && old.access.bytes.bytes() >= 10 * 1024) return;
    }
    const bool swapped = !one_pipe && comes_later(old, now);
    const LoggedAccess &earlier = swapped ? now : old, &later = swapped ? old : now;
    Place first = Findings::place_of(earlier), second = Findings::place_of(later);
    first.writes = earlier.access.write;
    second.writes = later.access.write;
    bool fresh = false;
    Hazard* h = m_launch.findings.find(one_pipe ? HazardKind::same_pipe : HazardKind::race, first, second,
                                       now.access.space, fresh);
    // A dump only looks: it may print a stale value, it changes none.
    const bool looks = old.site->semantics == isa::Semantics::dump || now.site->semantics == isa::Semantics::dump;
    const bool harmless = looks || same_write(old.access, now.access);
    if (h && swapped) h->second_ran_first = true;
    if (!h || (!fresh && (one_pipe || harmless || h->is_error))) return; // told already, unless it turns out worse now
    const bool several = m_launch.findings.several_blocks();
    h->is_error = !one_pipe && !harmless;
    h->owner = now.access.space == MemorySpace::ddr ? now.core : m_cores[std::size_t(now.access.core)].name;
    h->begin = std::max(old.access.first, now.access.first);
    h->end = std::min(old.access.last, now.access.last);
    const num::Strided& piece = now.access.bytes.pieces[0];
    h->pieces = piece.runs();
    h->piece_bytes = piece.run_bytes;
    for (int i = 2; i >= 0; --i)
        if (piece.counts[std::size_t(i)] > 1) {
            h->piece_stride = piece.strides[std::size_t(i)];
            break;
        }
    h->what = call.operand_name(now.access.operand);
    (swapped ? h->first : h->second).operand = h->what;
    if (now.access.space == MemorySpace::ddr) {
        if (const GlobalMemory::Range* r = m_launch.gm.find(now.access.first, now.access.last)) {
            if (h->what.empty()) h->what = r->name;
            h->begin -= r->address;
            h->end -= r->address;
            if (call.is_tensor(now.access.operand)) {
                const TensorValue& t = call.tensor(now.access.operand);
                const std::int64_t row_bytes =
                    t.rank >= 2 ? t.stride[std::size_t(t.rank - 2)] * isa::bits(t.dtype) / 8 : 0;
                if (row_bytes > 0) {
                    h->row_begin = (h->begin + r->address - t.address) / row_bytes;
                    h->row_end = (h->end + r->address - t.address + row_bytes - 1) / row_bytes;
                }
            }
        }
    }
    const std::string a = who(h->first), b = who(h->second);
    const std::string verb = later.access.write
                                 ? (earlier.access.write ? "may overwrite what " + a + " is still writing"
                                                         : "may overwrite what " + a + " still reads")
                                 : "may read before " + a + " has written";
    const std::string result = looks      ? "; the dump may show a stale value"
                               : harmless ? "; both write the same values"
                                          : "";
    h->message =
        (h->what.empty() ? std::string(isa::name(now.access.space)) : h->what) + ": " + b + " " + verb + result;
    if (one_pipe) {
        h->order = "both run on " + core_and_pipe(h->second, several) +
                   ", where the second may start before the first is complete";
        h->repair = "put a barrier of pipe " + std::string(isa::name(second.pipe)) + " between them";
    } else if (h->first.core == h->second.core) {
        h->order = "nothing makes " + core_and_pipe(h->second, several) + " wait for " +
                   core_and_pipe(h->first, several) + " after this " + (earlier.access.write ? "write" : "read");
        h->repair = "set a flag " + std::string(isa::name(first.pipe)) + " to " + std::string(isa::name(second.pipe)) +
                    " after the first and wait for it before the second" +
                    (now.access.space == MemorySpace::ddr ? "" : ", or give both tiles the same mutex id");
    } else {
        h->order = "no cross-core flag leads from " + core_and_pipe(h->first, several) + " to " +
                   core_and_pipe(h->second, several);
        h->repair = "set a cross-core flag on " + core_and_pipe(h->first, several) +
                    " after the first and wait for it on " + core_and_pipe(h->second, several) + " before the second";
    }
}

void BlockRun::run_data(CoreRun& c, int pipe, Item& item, bool split) {
    const Instruction& in = *item.site;
    if (!in.meaning || !in.meaning->run)
        throw Stop{Status::refused, in.name + " has no meaning on the simulator", in.at};
    PipeRun& p = c.pipes[std::size_t(pipe)];
    Call call = call_of(c, pipe, item);
    std::string printed;
    call.print = &printed;
    call.source = m_launch.options.source;
    call.launch = &m_launch;
    call.block_num = m_launch.grid.blocks;
    m_accesses.clear();
    bool atomic = false;
    if (in.meaning->access) {
        in.meaning->access(call, m_accesses);
        check_ranges(call);
        for (const Access& a : m_accesses.items) atomic |= a.atomic;
    }
    // An atomic addition reads and writes its destination as one event; scalar operations are over when they return.
    split = split && pipe != s_pipe && !atomic && !in.simt;
    std::vector<std::byte> before; // a vector call writes where its registers say: all of UB is kept
    if (split && (in.call || in.simt)) {
        const Memory& ub = (*m_machine.memory[std::size_t(c.place)])[MemorySpace::vec];
        before.assign(ub.data.get(), ub.data.get() + ub.bytes);
        before.insert(before.end(), ub.known.get(), ub.known.get() + ub.bytes);
    } else if (split) {
        hold_back(p);
    }
    in.meaning->run(call);
    if (in.call || in.simt) {
        std::swap(m_accesses, call.late_accesses);
        check_ranges(call); // marks GM ranges as written
        if (call.row && in.call) call.row->k = m_launch.call_index(*item.site, std::move(call.call_work));
    }
    if (m_launch.options.hazards) {
        note_contents(c);
        check_accesses(call, p.clock);
    }
    if (in.call || in.simt) {
        if (split) {
            hold_back(p);
            const Memory& ub = (*m_machine.memory[std::size_t(c.place)])[MemorySpace::vec];
            for (const Pending::Piece& piece :
                 p.pending.pieces) { // what was there before the call, in place of what is there now
                const std::int64_t at = piece.at - ub.data.get();
                std::memcpy(p.pending.data.data() + piece.saved, before.data() + at, std::size_t(piece.bytes));
                std::memcpy(p.pending.data.data() + piece.saved + piece.bytes, before.data() + ub.bytes + at,
                            std::size_t(piece.bytes));
            }
        }
    }
    if (split) {
        release_pending(p); // swaps: the old bytes come back, the result waits
        p.started = true;
    }
    std::int64_t touched = 0;
    for (const Access& a : m_accesses.items) touched += a.bytes.bytes();
    m_launch.work(touched + (call.row ? std::int64_t(call.row->m) * call.row->n * call.row->k / 8 : 0));
    if (!printed.empty()) c.prints.emplace_back(item.op.sequence, std::move(printed));
    if (in.semantics == isa::Semantics::none && in.call) c.sequencer->set_spr(c.registers.spr);
    supply_result(c, item, call);
}

/// Hashes what was written where another core can write too: equal bytes at equal places are no race.
void BlockRun::note_contents(const CoreRun& c) {
    for (Access& a : m_accesses.items) {
        const bool shared = a.space == MemorySpace::ddr
                                ? a.core >= 0 && (m_launch.grid.blocks > 1 || m_cores.size() > 1)
                                : a.core != c.place;
        if (!a.write || !shared) continue;
        const std::byte* base = a.space == MemorySpace::ddr
                                    ? m_launch.gm.at(a.first) - a.first
                                    : (*m_machine.memory[std::size_t(a.core)])[a.space].data.get();
        // Four sums side by side: one alone would wait for its multiplication at every word.
        std::uint64_t hash[4] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull, 0x94D049BB133111EBull, 0xD6E8FEB86659FD93ull};
        const auto mix = [](std::uint64_t& h, std::uint64_t word) {
            h = (h ^ word) * 0xFF51AFD7ED558CCDull;
            h ^= h >> 32;
        };
        num::for_each_interval(a.bytes, [&](std::int64_t first, std::int64_t n) {
            const std::byte* at = base + first;
            std::uint64_t words[4] = {};
            for (; n >= 32; n -= 32, at += 32) {
                std::memcpy(words, at, 32);
                for (int k = 0; k < 4; ++k) mix(hash[k], words[k]);
            }
            for (; n > 0; n -= 8, at += 8) {
                words[0] = 0;
                std::memcpy(words, at, std::size_t(std::min<std::int64_t>(n, 8)));
                mix(hash[0], words[0]);
            }
        });
        for (int k = 1; k < 4; ++k) mix(hash[0], hash[k]);
        a.content = hash[0] | 1;
    }
}

/// Notes the bytes that are about to change, so that the change can be taken back until the completion event.
void BlockRun::hold_back(PipeRun& p) {
    p.pending.clear();
    for (const Access& a : m_accesses.items) {
        if (!a.write) continue;
        std::byte* base;
        std::byte* known = nullptr;
        if (a.space == MemorySpace::ddr) {
            if (a.core < 0) continue;
            base = m_launch.gm.at(a.first) - a.first;
        } else {
            Memory& m = (*m_machine.memory[std::size_t(a.core)])[a.space];
            base = m.data.get();
            known = m.known.get();
        }
        num::for_each_interval(a.bytes, [&](std::int64_t first, std::int64_t n) {
            const std::int64_t saved = std::int64_t(p.pending.data.size());
            p.pending.data.resize(std::size_t(saved + (known ? 2 * n : n)));
            std::memcpy(p.pending.data.data() + saved, base + first, std::size_t(n));
            if (known) std::memcpy(p.pending.data.data() + saved + n, known + first, std::size_t(n));
            p.pending.pieces.push_back({base + first, known ? known + first : nullptr, n, saved});
        });
    }
}
/// Exchanges what is in memory with what was kept.
void BlockRun::release_pending(PipeRun& p) {
    for (const Pending::Piece& piece : p.pending.pieces) {
        std::byte* saved = p.pending.data.data() + piece.saved;
        std::swap_ranges(saved, saved + piece.bytes, piece.at);
        if (piece.known) std::swap_ranges(saved + piece.bytes, saved + 2 * piece.bytes, piece.known);
    }
}

void BlockRun::supply_result(CoreRun& c, Item& item, Call& call) {
    if (!c.sequencer->needs_value() || item.op.pipe != isa::Pipe::s) return;
    if (item.site->semantics == isa::Semantics::ssbuf_load)
        c.sequencer->supply_words(call.words);
    else
        c.sequencer->supply(call.result);
}

void BlockRun::flush_gm_log() {
    if (m_launch.grid.blocks < 2 || !m_launch.options.hazards) return;
    for (const AccessLog& log : m_gm_logs)
        log.for_each([&](const LoggedAccess& a) {
            if (a.tick > m_flushed[std::size_t(a.pipe)]) m_launch.gm_accesses.push_back(a);
        });
    for (const CoreRun& c : m_cores)
        for (int p = 0; p < pipes_per_core; ++p)
            m_flushed[std::size_t(pipe_slot(c.place, isa::Pipe(p)))] =
                p == s_pipe ? c.pipes[std::size_t(p)].issued : c.pipes[std::size_t(p)].done;
}

void BlockRun::finish() {
    flush_gm_log();
    for (CoreRun& c : m_cores) {
        std::stable_sort(c.prints.begin(), c.prints.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto& [sequence, text] : c.prints) m_launch.texts[std::size_t(m_block)] += text;
        for (std::size_t s = 0; s < c.stages.size(); ++s) {
            CoreRun::Stage& stage = c.stages[s];
            std::int64_t finished = stage.finished;
            for (const CoreRun::Task& t : stage.tasks) finished += t.open == 0;
            m_launch.stages.push_back({c.name, c.code->stages[s], stage.entered, finished});
        }
        if (m_launch.options.record) m_launch.records.push_back(std::move(c.record));
        if (!m_launch.options.hazards || !c.finished || !c.idle()) continue;
        auto left = [&](HazardKind kind, const Instruction* setter, std::string message, std::string order = {}) {
            Place p;
            if (setter) {
                p.at = setter->at;
                p.operation = setter->name;
            }
            p.core = c.name;
            m_launch.findings.say(kind, false, p, std::move(message),
                                  kind == HazardKind::lock_left
                                      ? "release it on the pipe that took it"
                                      : "await it before the end: the next launch would find it raised",
                                  order.empty() ? "in every order" : std::move(order));
        };
        for (int set = 0; set < pipes_per_core; ++set)
            for (int wait = 0; wait < pipes_per_core; ++wait)
                for (std::int32_t id = 0; id < m_sync.event_ids; ++id)
                    if (const Flag& f = m_sync.flag(c.place, isa::Pipe(set), isa::Pipe(wait), id); f.raised)
                        left(HazardKind::flag_left, f.setter,
                             "flag " + std::string(isa::name(isa::Pipe(set))) + " to " +
                                 std::string(isa::name(isa::Pipe(wait))) + " id " + std::to_string(id) +
                                 " is still raised at the end: set " + std::to_string(f.sets) + " times, awaited " +
                                 std::to_string(f.waits));
        const UnitFlags& unit = m_sync.unit[std::size_t(c.place)];
        for (std::size_t i = 0; unit.phased && i < unit.raised.size(); ++i)
            if (unit.raised[i] && (i == 0 || unit.issued_by[i] != unit.issued_by[i - 1] || !unit.raised[i - 1]))
                left(HazardKind::unit_flag, unit.issued_by[i],
                     "the unit flag of the accumulator from " + hex(std::int64_t(i) * 512) +
                         " on is still raised at the end: no store with phase=Final took it");
        for (std::size_t id = 0; id < m_sync.locks[std::size_t(c.place)].size(); ++id) {
            const Lock& l = m_sync.locks[std::size_t(c.place)][id];
            for (std::size_t q = 0; q < std::size_t(pipes_per_core); ++q)
                if (l.acquired[q] > l.released[q])
                    left(HazardKind::lock_left, l.holder[q],
                         "lock " + std::to_string(id) + " is still held by " +
                             std::string(isa::name(isa::Pipe(int(q)))) + " at the end");
        }
        const int modes = m_launch.chip.arch == "a5" ? 1 : 2; // INTRA and UNICAST share their counters there
        for (int mode = 0; mode < modes; ++mode)
            for (std::int32_t id = 0; id < m_sync.cross_ids; ++id) {
                auto check = [&](const Counter& k, const std::string& side, const Counter* twin = nullptr) {
                    if (k.count() <= 0) return;
                    std::string order = "in every order";
                    if (k.fell_through >= 0)
                        order += "; the wait of iteration " + std::to_string(k.fell_through) +
                                 " falls through: the set of iteration " + std::to_string(k.fell_by) +
                                 " is still there";
                    else if (twin && twin->waits > k.waits)
                        order += "; from the first wait on the cube goes on with one vector core's set: 2 sets for 1 wait";
                    left(HazardKind::counter_left, k.setter,
                         "cross-core id " + std::to_string(id) + side + " is " + std::to_string(k.count()) +
                             " at the end: set " + std::to_string(k.sets) + " times, awaited " +
                             std::to_string(k.waits),
                         std::move(order));
                };
                // Each counter once: at the core that should have waited.
                if (c.name.kind == isa::Core::vector)
                    check(counter(1, mode, c.name.subblock, id), " towards AIV" + std::to_string(c.name.subblock));
                else
                    for (int sub = 0; sub < 2; ++sub)
                        check(counter(0, mode, sub, id), " from AIV" + std::to_string(sub),
                              &counter(0, mode, 1 - sub, id));
            }
    }
}

} // namespace pto::execute
