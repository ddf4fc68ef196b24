/// Synchronisation as it can be read off the text: ids, pairing on every path, what runs on one vector core only. Whether a program hangs or
/// races is the verifier's and the executor's to prove. Source: language 4, 8.3.
#include "engine/check/context.hpp"

#include "engine/ir/kernel.hpp"

#include <iterator>
#include <map>
#include <tuple>

namespace pto::check {
namespace {

using isa::Pipe;
using isa::Semantics;
using Mode = isa::CrossCoreSyncMode;

// ---------------------------------------------------------------- ids and arguments

void ids(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    Semantics s = op.row->semantics;
    if (s == Semantics::flag_set || s == Semantics::flag_wait) {
        auto set = c.enumerator<Pipe>(op, "set_pipe"), wait = c.enumerator<Pipe>(op, "wait_pipe");
        if (set && wait && *set == *wait)
            c.report(Code::flag_one_pipe, stmt.at, "the flag goes from " + std::string(name(*set)) + " to itself; a pipe is ordered by a barrier");
        auto id = c.integer(op, "event_id");
        if (!id) return;
        if (*id < 0 || *id >= c.chip.event_ids)
            c.report(Code::event_id_range, stmt.at, "event id " + std::to_string(*id) + "; " + c.chip.name + " has ids 0 to " + std::to_string(c.chip.event_ids - 1) + " for each pair of pipes");
        else if (*id >= c.chip.safe_event_ids)
            c.report(Code::event_id_high, stmt.at,
                     "event id " + std::to_string(*id) + " is accepted, but libraries name ids 0 to " + std::to_string(c.chip.safe_event_ids - 1) + " only");
    } else if (s == Semantics::cross_set || s == Semantics::cross_wait) {
        if (!c.kernel.is_mix()) {
            auto mode = c.enumerator<Mode>(op, "sync_mode").value_or(Mode::intra_block);
            if (mode == Mode::intra_block || mode == Mode::unicast_block)
                c.report(Code::one_sided_sync, stmt.at, std::string("the kernel has no ") + (c.kernel.cube ? "vector" : "cube") + " section: nobody is on the other side of this flag");
        }
        auto id = c.integer(op, "event_id");
        if (id && (*id < 0 || *id >= c.chip.cross_core_ids))
            c.report(Code::cross_core_id_range, stmt.at, "cross-core id " + std::to_string(*id) + "; ids are 0 to " + std::to_string(c.chip.cross_core_ids - 1));
    } else if (s == Semantics::mutex_lock || s == Semantics::mutex_unlock) {
        if (!c.chip.has_mutex) c.report(Code::mutex_id_range, stmt.at, c.chip.name + " has no buffer locks; use flags");
        auto id = c.integer(op, "mutex_id");
        if (id && c.chip.has_mutex && (*id < 0 || *id >= c.chip.mutex_ids))
            c.report(Code::mutex_id_range, stmt.at, "mutex id " + std::to_string(*id) + "; ids are 0 to " + std::to_string(c.chip.mutex_ids - 1));
    } else if (s == Semantics::sync_all) {
        auto type = c.enumerator<isa::SyncCoreType>(op, "core_type").value_or(isa::SyncCoreType::mix);
        auto mode = c.enumerator<isa::SyncAllMode>(op, "mode").value_or(isa::SyncAllMode::hard);
        const auto* list = op.operands.empty() ? nullptr : std::get_if<ir::MixedList>(&op.operands[0]);
        bool any = list && !(list->tiles.empty() && list->tensors.empty());
        if (mode == isa::SyncAllMode::hard && any) c.report(Code::sync_all_arguments, stmt.at, "mode HARD takes no workspaces");
        if (mode == isa::SyncAllMode::soft && !any) c.report(Code::sync_all_arguments, stmt.at, "mode SOFT needs its workspaces");
        if (!c.kernel.cube && type != isa::SyncCoreType::aiv_only)
            c.report(Code::sync_all_arguments, stmt.at, "a kernel without cube section passes core_type=AIV_ONLY; " + std::string(name(type)) + " would wait for cube cores");
        Diagnostic& d = c.report(Code::grid_barrier_launch, stmt.at,
                                 "sync_all: launch as many blocks as run at a time on " + c.chip.name + " (" +
                                     std::to_string(c.chip.cube_cores * (c.kernel.vector && !c.kernel.cube ? 2 : 1)) + "), never more");
        d.severity = Severity::note;
    }
}

void declared_locks(Context& c) {
    if (!c.chip.has_mutex) return; // the locks are dropped on such a chip; its kernels carry flags
    for (const ir::TileDecl& d : c.f.decls) {
        std::set<std::int32_t> missing, reserved; // said once a declaration, however many slots
        for (const auto& slot : d.mutex)
            for (std::int32_t id : slot) {
                if (id < 0 || id >= c.chip.mutex_ids) missing.insert(id);
                else if (id >= c.chip.safe_mutex_ids) reserved.insert(id);
            }
        auto list = [](const std::set<std::int32_t>& ids) {
            std::string text = ids.size() > 1 ? "mutex ids " : "mutex id ";
            for (auto at = ids.begin(); at != ids.end(); ++at) {
                if (at != ids.begin()) text += std::next(at) == ids.end() ? " and " : ", ";
                text += std::to_string(*at);
            }
            return text;
        };
        if (!missing.empty())
            c.report(Code::mutex_id_range, d.at, list(missing) + " of " + ticked(d.name) + "; ids are 0 to " + std::to_string(c.chip.mutex_ids - 1));
        if (!reserved.empty())
            c.report(Code::mutex_id_reserved, d.at,
                     list(reserved) + " of " + ticked(d.name) + "; " + std::to_string(c.chip.safe_mutex_ids) + " to " + std::to_string(c.chip.mutex_ids - 1) +
                         " are reserved for the system");
    }
}

// ---------------------------------------------------------------- pairing

/// A flag of this core, or a cross-core flag; ids that are chosen at run time fall together.
struct Key {
    bool cross = false;
    Pipe set = Pipe::s, wait = Pipe::s;
    std::int64_t id = -1;
    auto operator<=>(const Key&) const = default;
};

std::string text(const Key& k) {
    std::string id = k.id < 0 ? std::string("an id chosen at run time") : "id " + std::to_string(k.id);
    return k.cross ? "cross-core " + id : "flag " + std::string(name(k.set)) + " to " + std::string(name(k.wait)) + " " + id;
}

/// Sets minus waits of a stretch, and where they stand.
struct Net {
    std::map<Key, int> count;
    std::map<Key, const ir::Stmt*> where;
    void add(const Key& k, int n, const ir::Stmt* at) {
        count[k] += n;
        where.emplace(k, at);
    }
    int of(const Key& k) const {
        auto f = count.find(k);
        return f == count.end() ? 0 : f->second;
    }
};

bool leaves(const ir::Body& body) {
    for (const ir::Stmt& s : body) {
        if (std::holds_alternative<ir::Break>(s.what) || std::holds_alternative<ir::Continue>(s.what) || std::holds_alternative<ir::Return>(s.what)) return true;
        if (const auto* b = std::get_if<ir::Branch>(&s.what); b && (leaves(b->then) || leaves(b->otherwise))) return true;
    }
    return false;
}

class Pairing {
  public:
    explicit Pairing(Context& c) : c(c) {
        // Where one pair of pipes uses run-time ids, which of them is meant cannot be read off: count the pair as a whole.
        ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
            if (const auto* op = std::get_if<ir::Op>(&s.what); op && is_flag(*op) && !c.integer(*op, "event_id")) m_dynamic.insert(pipes(*op));
        });
    }

    void run() {
        Net total = body(c.f.body);
        for (const auto& [key, n] : total.count) {
            if (n == 0 || m_said.count(key)) continue;
            const ir::Stmt* at = total.where.at(key);
            if (n > 0)
                c.report(Code::flag_unpaired, at->at, text(key) + ": " + std::to_string(n) + (n == 1 ? " set is" : " sets are") + " never awaited; the flag is still raised when the next launch begins");
            else
                c.report(Code::flag_unpaired, at->at, text(key) + ": " + std::to_string(-n) + (n == -1 ? " wait has" : " waits have") + " no set in this program; it would wait for ever");
        }
    }

  private:
    static bool is_flag(const ir::Op& op) { return op.row->semantics == Semantics::flag_set || op.row->semantics == Semantics::flag_wait; }
    std::pair<Pipe, Pipe> pipes(const ir::Op& op) const {
        return {c.enumerator<Pipe>(op, "set_pipe").value_or(Pipe::s), c.enumerator<Pipe>(op, "wait_pipe").value_or(Pipe::s)};
    }

    Net body(const ir::Body& stmts) {
        Net net;
        // Branches on one condition may make up for each other: their differences are added before anything is said.
        std::map<std::pair<std::string, Key>, int> differences;
        std::map<std::pair<std::string, Key>, const ir::Stmt*> places;
        for (const ir::Stmt& s : stmts) {
            if (const auto* op = std::get_if<ir::Op>(&s.what)) {
                if (!is_flag(*op)) continue;
                auto pair = pipes(*op);
                Key k{false, pair.first, pair.second, m_dynamic.count(pair) ? -1 : c.integer(*op, "event_id").value_or(-1)};
                net.add(k, op->row->semantics == Semantics::flag_set ? 1 : -1, &s);
            } else if (const auto* branch = std::get_if<ir::Branch>(&s.what)) {
                Net then = body(branch->then), otherwise = body(branch->otherwise);
                bool then_leaves = leaves(branch->then), otherwise_leaves = leaves(branch->otherwise);
                std::set<Key> keys;
                for (const auto& [k, n] : then.count) keys.insert(k);
                for (const auto& [k, n] : otherwise.count) keys.insert(k);
                for (const Key& k : keys) {
                    int a = then.of(k), b = otherwise.of(k);
                    const ir::Stmt* at = then.where.count(k) ? then.where.at(k) : otherwise.where.at(k);
                    if (a != b && !then_leaves && !otherwise_leaves) {
                        auto id = std::make_pair(condition(branch->condition), k);
                        differences[id] += a - b;
                        places.emplace(id, at);
                    }
                    net.add(k, then_leaves ? b : a, at);
                }
            } else if (const auto* loop = std::get_if<ir::Loop>(&s.what)) {
                repeated(net, loop->body, s);
            } else if (const auto* endless = std::get_if<ir::Forever>(&s.what)) {
                repeated(net, endless->body, s);
            } else if (const auto* stage = std::get_if<ir::StageScope>(&s.what)) {
                merge(net, body(stage->body));
            } else if (const auto* helper = std::get_if<ir::HelperScope>(&s.what)) {
                merge(net, body(helper->body));
            }
        }
        for (const auto& [id, difference] : differences) {
            if (difference == 0) continue;
            m_said.insert(id.second);
            c.report(Code::flag_unpaired, places.at(id)->at,
                     text(id.second) + (difference > 0 ? " is set" : " is awaited") + " on one path of a condition and not on the other; the other side of the pair stands outside it");
        }
        return net;
    }

    void repeated(Net& net, const ir::Body& inside, const ir::Stmt& stmt) {
        Net once = body(inside);
        for (const auto& [k, n] : once.count) {
            net.where.emplace(k, once.where.at(k));
            if (n == 0) continue;
            // Sets of one loop may be awaited in another one of as many turns (prime before, drain after): only a loop that is alone is wrong.
            net.add(k, n, once.where.at(k));
            (void)stmt;
        }
    }
    static void merge(Net& into, const Net& from) {
        for (const auto& [k, n] : from.count) into.add(k, n, from.where.at(k));
    }
    /// Conditions are the same when they are written the same.
    std::string condition(ir::ExprId e) const {
        if (!e.valid()) return "-";
        const ir::Expr& x = c.f[e];
        std::string text = "(" + std::to_string(int(x.op)) + ":" + std::to_string(x.integer) + ":" + std::to_string(x.var.index) + ":" + std::to_string(x.tensor.index) + ":" +
                           std::to_string(x.structure.index);
        for (ir::ExprId k : {x.a, x.b, x.c})
            if (k.valid()) text += condition(k);
        return text + ")";
    }

    Context& c;
    std::set<std::pair<Pipe, Pipe>> m_dynamic;
    std::set<Key> m_said;
};

// ---------------------------------------------------------------- one vector core only

class Subcores {
  public:
    explicit Subcores(Context& c) : c(c) {}

    void run() {
        if (!c.kernel.is_mix() || c.f.core != isa::Core::vector) return;
        // What the cube does in INTRA_BLOCK mode: only that joins both vector cores. A unicast wait takes one of them, and may be met by a
        // set in either mode.
        Context cube(c.kernel, *c.kernel.cube, c.chip, m_unused);
        ir::for_each_statement(c.kernel.cube->body, [&](const ir::Stmt& s) {
            const auto* op = std::get_if<ir::Op>(&s.what);
            if (!op || (op->row->semantics != Semantics::cross_set && op->row->semantics != Semantics::cross_wait)) return;
            if (cube.enumerator<Mode>(*op, "sync_mode").value_or(Mode::intra_block) != Mode::intra_block) return;
            m_cube.insert({op->row->semantics == Semantics::cross_set, cube.integer(*op, "event_id").value_or(-1)});
        });
        // Variables that hold something derived from the subcore's number.
        for (bool grown = true; grown;) {
            grown = false;
            ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
                if (const auto* a = std::get_if<ir::Assign>(&s.what); a && depends(a->value)) grown = m_tainted.insert(a->var.index).second || grown;
            });
        }
        body(c.f.body);
    }

  private:
    bool depends(ir::ExprId e) const {
        if (!e.valid()) return false;
        const ir::Expr& x = c.f[e];
        if (x.op == ir::ExprOp::subblock_idx) return true;
        // In a mixed kernel the vector program's block index is block * 2 + subcore; halved again it is the block.
        if (x.op == ir::ExprOp::block_idx) return true;
        if (x.op == ir::ExprOp::floor_div && c.f[x.a].op == ir::ExprOp::block_idx &&
            (c.constant(x.b) == 2 || (x.b.valid() && c.f[x.b].op == ir::ExprOp::subblock_num)))
            return false;
        if (x.op == ir::ExprOp::var && m_tainted.count(x.var.index)) return true;
        return depends(x.a) || depends(x.b) || depends(x.c);
    }

    /// Sets and waits in INTRA_BLOCK mode, by id and direction.
    std::map<std::pair<bool, std::int64_t>, std::pair<int, const ir::Stmt*>> flags(const ir::Body& inside) const {
        std::map<std::pair<bool, std::int64_t>, std::pair<int, const ir::Stmt*>> found;
        ir::for_each_statement(inside, [&](const ir::Stmt& s) {
            const auto* op = std::get_if<ir::Op>(&s.what);
            if (!op || (op->row->semantics != Semantics::cross_set && op->row->semantics != Semantics::cross_wait)) return;
            if (c.enumerator<Mode>(*op, "sync_mode").value_or(Mode::intra_block) != Mode::intra_block) return;
            auto& entry = found[{op->row->semantics == Semantics::cross_set, c.integer(*op, "event_id").value_or(-1)}];
            ++entry.first;
            if (!entry.second) entry.second = &s;
        });
        return found;
    }

    void body(const ir::Body& stmts) {
        for (const ir::Stmt& s : stmts) {
            if (const auto* branch = std::get_if<ir::Branch>(&s.what); branch && depends(branch->condition)) compare(*branch);
            ir::for_each_body(s, [&](const ir::Body& inside) { body(inside); });
        }
    }

    void compare(const ir::Branch& branch) {
        auto then = flags(branch.then), otherwise = flags(branch.otherwise);
        for (const auto* side : {&then, &otherwise})
            for (const auto& [key, value] : *side) {
                const auto& other = side == &then ? otherwise : then;
                auto match = other.find(key);
                if (match != other.end() && match->second.first == value.first) continue;
                if (!m_cube.count({!key.first, key.second}) && !m_cube.count({!key.first, -1}) && key.second >= 0) continue;
                c.report(Code::intra_block_condition, value.second->at,
                         std::string(key.first ? "this set" : "this wait") + " in INTRA_BLOCK mode depends on which vector core runs it; the cube " +
                             (key.first ? "waits for both" : "signals both") + ", so the other core's counter runs out of step")
                    .advice.push_back("move it out of the condition, or use UNICAST_BLOCK");
            }
    }

    Context& c;
    Diagnostics m_unused;
    std::set<std::pair<bool, std::int64_t>> m_cube; // (sets, id)
    std::set<std::int32_t> m_tainted;
};

} // namespace

void check_flags(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        if (const auto* op = std::get_if<ir::Op>(&s.what)) ids(c, *op, s);
    });
    declared_locks(c);
    Pairing(c).run();
    Subcores(c).run();
}

} // namespace pto::check
