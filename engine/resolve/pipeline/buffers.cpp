/// Step 4: tile groups with their memory, slots, bytes and ids; which of them share bytes. Pipeline reference, 8; K19 to K23, S1.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>
#include <deque>

namespace pto::pipeline {
namespace {

struct Reader {
    Scan& s;
    const ScopeId scope;

    void declare(const Stmt& st) {
        const Expr& call = st.value;
        for (const Expr& target : st.targets) {
            if (target.kind != ExprKind::name) continue;
            Buffer b;
            b.name = target.text, b.at = st.at, b.name_at = target.at, b.place = s.place_of(st.at);
            read(b, call);
            s.model.buffers.push_back(std::move(b));
        }
    }

    FixedTile fixed_tile(const Stmt& st) {
        FixedTile t;
        t.name = spell(st.targets.front());
        Buffer b;
        const Expr* type = st.value.args.size() > 1 ? &st.value.args[1] : st.value.keyword("type");
        bool literal = false;
        if (type) t.memory = s.memory_of_type(scope, *type, literal), read_size(b, *type);
        const Expr* addr = st.value.keyword("addr");
        std::optional<std::int64_t> at = addr ? s.integer(scope, *addr, true) : std::nullopt;
        if (const Expr* size = st.value.keyword("size"))
            if (std::optional<std::int64_t> n = s.integer(scope, *size, true)) b.slot_bytes = *n;
        if (at && b.slot_bytes > 0) t.range = ByteRange{*at, *at + b.slot_bytes};
        return t;
    }

    void read(Buffer& b, const Expr& call) {
        if (const Expr* type = call.keyword("type")) {
            b.type_at = type->at;
            b.memory = s.memory_of_type(scope, *type, b.memory_literal);
            read_size(b, *type);
        }
        read_mutex(b, call);
        read_slots(b, call);
        if (const Expr* addrs = call.keyword("addrs")) {
            b.addrs_at = addrs->at;
            read_ranges(b, *addrs);
        }
        read_ids(b.fwd, call, "fwd_ids");
        read_ids(b.bwd, call, "bwd_ids");
    }

    void read_size(Buffer& b, const Expr& type) {
        const Expr* t = s.tile_type(scope, type);
        if (!t) return;
        const Expr* shape = t->keyword("shape");
        if (!shape && t->args.size() > 1) shape = &t->args[1];
        const Expr* dtype = t->keyword("dtype");
        if (!dtype && t->args.size() > 2) dtype = &t->args[2];
        if (!shape || !dtype || (shape->kind != ExprKind::list && shape->kind != ExprKind::tuple)) return;
        std::optional<isa::DType> d = s.dtype(scope, *dtype, true);
        if (!d) return;
        std::int64_t size = isa::bytes(*d);
        for (const Expr& dim : shape->args) {
            std::optional<std::int64_t> n = s.integer(scope, dim, true);
            if (!n || *n <= 0) return;
            size *= *n;
        }
        b.slot_bytes = size;
    }

    std::optional<std::vector<std::int32_t>> ints(const Expr& list) {
        if (list.kind != ExprKind::list && list.kind != ExprKind::tuple) return std::nullopt;
        std::vector<std::int32_t> out;
        for (const Expr& e : list.args) {
            std::optional<std::int64_t> v = s.integer(scope, e, true);
            if (!v) return std::nullopt;
            out.push_back(std::int32_t(*v));
        }
        return out;
    }

    void read_mutex(Buffer& b, const Expr& call) {
        const Expr* m = call.keyword("mutex_ids");
        if (!m) return;
        b.mutex_at = m->at;
        if (m->kind == ExprKind::string && m->text == "auto") {
            b.mutex_auto = true;
            return;
        }
        if (m->kind == ExprKind::name && !s.bound.count(m->text)) {
            const syntax::Constant* c = s.outer(scope, m->text);
            const auto* list = c ? std::get_if<syntax::ConstantList>(&c->value) : nullptr;
            if (!list) return;
            for (const syntax::Constant& item : *list) {
                if (const auto* i = std::get_if<std::int64_t>(&item.value)) {
                    b.mutex_ids.push_back({std::int32_t(*i)});
                } else if (const auto* inner = std::get_if<syntax::ConstantList>(&item.value)) {
                    std::vector<std::int32_t> ids;
                    for (const syntax::Constant& x : *inner)
                        if (const auto* i2 = std::get_if<std::int64_t>(&x.value)) ids.push_back(std::int32_t(*i2));
                    b.mutex_ids.push_back(std::move(ids));
                } else {
                    b.mutex_ids.clear();
                    return;
                }
            }
            return;
        }
        if (m->kind == ExprKind::name) {
            auto found = s.assigned.find(m->text);
            if (found != s.assigned.end() && found->second.size() == 1) m = &found->second.front()->value;
        }
        if (m->kind != ExprKind::list && m->kind != ExprKind::tuple) return;
        for (const Expr& e : m->args) {
            if (auto list = ints(e)) {
                b.mutex_ids.push_back(std::move(*list));
            } else if (std::optional<std::int64_t> v = s.integer(scope, e, true)) {
                b.mutex_ids.push_back({std::int32_t(*v)});
            } else {
                b.mutex_ids.clear();
                return;
            }
        }
    }

    void read_slots(Buffer& b, const Expr& call) {
        const Expr* depth = call.keyword("depth");
        if (depth && depth->kind != ExprKind::none) {
            b.depth_at = depth->at;
            std::optional<std::int64_t> n = s.integer(scope, *depth, true);
            if (!n || *n <= 0 || depth->kind == ExprKind::boolean) return;
            if (!b.mutex_ids.empty() && std::int64_t(b.mutex_ids.size()) != *n) return; // the front end reports it
            b.slots = std::int32_t(*n);
        } else {
            b.slots = std::int32_t(b.mutex_ids.size());
        }
    }

    void read_ranges(Buffer& b, const Expr& addrs) {
        if (b.slots <= 0 || b.slot_bytes <= 0) return;
        if (std::optional<std::int64_t> base = s.integer(scope, addrs, true)) {
            b.addrs_is_base = true;
            for (std::int32_t j = 0; j < b.slots; ++j) b.ranges.push_back({*base + j * b.slot_bytes, *base + (j + 1) * b.slot_bytes});
        } else if (addrs.kind == ExprKind::list || addrs.kind == ExprKind::tuple) {
            if (std::int32_t(addrs.args.size()) != b.slots) return;
            for (const Expr& e : addrs.args) {
                std::optional<std::int64_t> a = s.integer(scope, e, true);
                if (!a) {
                    b.ranges.clear();
                    return;
                }
                b.ranges.push_back({*a, *a + b.slot_bytes});
            }
        } else if (addrs.kind == ExprKind::name && !s.bound.count(addrs.text)) {
            const syntax::Constant* c = s.outer(scope, addrs.text);
            const auto* list = c ? std::get_if<syntax::ConstantList>(&c->value) : nullptr;
            if (!list || std::int32_t(list->size()) != b.slots) return;
            for (const syntax::Constant& item : *list) {
                const auto* i = std::get_if<std::int64_t>(&item.value);
                if (!i) {
                    b.ranges.clear();
                    return;
                }
                b.ranges.push_back({*i, *i + b.slot_bytes});
            }
        }
    }

    void bad_form(const Expr& at, const std::string& keyword, const std::string& seen) {
        Diagnostic& d = s.report(Code::id_list_form, at.at, keyword + " " + seen);
        d.advice.push_back("write the ids as a list of int literals, or name a list of ints bound outside the kernel");
    }

    /// K20 and K21: the list is emitted verbatim and indexed at run time.
    void read_ids(IdList& out, const Expr& call, const std::string& keyword) {
        const Expr* e = call.keyword(keyword);
        if (!e || e->kind == ExprKind::none) return;
        out.given = true, out.at = e->at;
        if (e->kind == ExprKind::list || e->kind == ExprKind::tuple) {
            for (const Expr& item : e->args) {
                if (item.kind == ExprKind::integer) out.ids.push_back(std::int32_t(item.integer));
                else if (item.kind == ExprKind::unary && item.text == "-" && item.args[0].kind == ExprKind::integer) out.ids.push_back(-std::int32_t(item.args[0].integer));
                else return bad_form(item, keyword, "holds `" + spell(item) + "`, which is not an int literal");
            }
        } else if (e->kind == ExprKind::name) {
            if (s.bound.count(e->text)) return bad_form(*e, keyword, "is `" + e->text + "`, a name bound inside the kernel");
            const syntax::Constant* c = s.outer(scope, e->text);
            const auto* list = c ? std::get_if<syntax::ConstantList>(&c->value) : nullptr;
            if (!list) return bad_form(*e, keyword, "is `" + e->text + "`, which is not a list of ints");
            for (const syntax::Constant& item : *list) {
                const auto* i = std::get_if<std::int64_t>(&item.value);
                if (!i) return bad_form(*e, keyword, "is `" + e->text + "`, which is not a list of ints");
                out.ids.push_back(std::int32_t(*i));
            }
            out.name = e->text;
        } else {
            return bad_form(*e, keyword, "is `" + spell(*e) + "`, an expression");
        }
        if (out.ids.empty()) {
            s.report(Code::id_range, e->at, keyword + " is empty").advice.push_back("give one id, or one per slot");
            return;
        }
        for (std::int32_t id : out.ids)
            if (id < 0 || id > 15) {
                s.report(Code::id_range, e->at, keyword + " holds event id " + std::to_string(id) + "; the hardware has ids 0 to 15").advice.push_back("use ids 0 to 15, each once in a direction");
                return;
            }
    }
};

std::string hex(std::int64_t v) {
    static const char digits[] = "0123456789abcdef";
    std::string out;
    do out.insert(out.begin(), digits[v & 15]), v >>= 4; while (v > 0);
    return "0x" + out;
}

std::string bytes_of(const Buffer& b) {
    if (b.ranges.empty()) return {};
    std::int64_t lo = b.ranges.front().begin, hi = b.ranges.front().end;
    for (const ByteRange& r : b.ranges) lo = std::min(lo, r.begin), hi = std::max(hi, r.end);
    return hex(lo) + ".." + hex(hi);
}

bool overlap(const Buffer& a, const Buffer& b) {
    if (!a.memory || !b.memory || *a.memory != *b.memory || !(a.channel() || b.channel())) return false;
    for (const ByteRange& x : a.ranges)
        for (const ByteRange& y : b.ranges)
            if (x.overlaps(y)) return true;
    return false;
}

} // namespace

bool Scan::read_buffers() {
    Reader reader{*this, kernel.scope};
    std::deque<const Stmt*> queue;
    for (const Stmt& s : body) queue.push_back(&s);
    std::vector<const Stmt*> aliases;
    while (!queue.empty()) {
        const Stmt& st = *queue.front();
        queue.pop_front();
        if ((st.kind == StmtKind::assign || st.kind == StmtKind::annotated) && st.value.kind == ExprKind::call &&
            operation(kernel.scope, st.value.args.front()) == "make_tile_group")
            reader.declare(st);
        if (st.kind == StmtKind::assign && st.value.kind == ExprKind::call && operation(kernel.scope, st.value.args.front()) == "make_tile")
            model.tiles.push_back(reader.fixed_tile(st));
        if (st.kind == StmtKind::assign && st.targets.size() == 1 && st.targets[0].kind == ExprKind::name && st.value.kind == ExprKind::name)
            aliases.push_back(&st);
        for (const Stmt& b : st.body) queue.push_back(&b);
        for (const Stmt& b : st.orelse) queue.push_back(&b);
    }

    for (const Buffer& b : model.buffers)
        if (b.channel() && !b.memory_literal) {
            Diagnostic& d = report(Code::channel_memory, b.type_at.valid() ? b.type_at : b.at, "the memory of cross-core buffer `" + b.name + "` cannot be read from its tile type");
            d.labels.push_back({b.name_at, "declared here"});
            d.advice.push_back("write `target_memory=" + model.language + ".MemorySpace.Vec` (or Mat) in a TileType(...) call, directly or through one variable");
        }

    std::vector<BufferId> overlaps_with(model.buffers.size());
    for (std::size_t i = 0; i < model.buffers.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            Buffer &a = model.buffers[j], &b = model.buffers[i];
            if (!overlap(a, b)) continue;
            if (a.at == b.at) { // one declaration, two names
                Diagnostic& d = report(Code::pipeline_channel_alias, b.name_at, "cross-core buffer `" + a.name + "` is declared under a second name, `" + b.name + "`");
                d.labels.push_back({a.name_at, "the first name"});
                continue;
            }
            if (a.slots != b.slots) {
                Diagnostic& d = report(Code::overlap_slots, b.at, "`" + b.name + "` (" + std::to_string(b.slots) + " slots, " + bytes_of(b) + ") shares bytes with `" + a.name + "` (" +
                                                                      std::to_string(a.slots) + " slots, " + bytes_of(a) + ")");
                d.labels.push_back({a.at, "`" + a.name + "` is declared here"});
                d.advice.push_back("give both the same number of slots, or move one to other bytes");
            }
            for (auto [self, other] : {std::pair{i, j}, std::pair{j, i}}) {
                Buffer& x = model.buffers[self];
                if (x.partner.valid()) {
                    const Buffer& first = model[x.partner];
                    Diagnostic& d = report(Code::overlap_pairs, x.at, "`" + x.name + "` shares bytes with both `" + first.name + "` and `" + model.buffers[other].name + "`");
                    d.labels.push_back({first.at, "`" + first.name + "`, " + bytes_of(first)});
                    d.labels.push_back({model.buffers[other].at, "`" + model.buffers[other].name + "`, " + bytes_of(model.buffers[other])});
                    d.advice.push_back("let at most two buffers share an address");
                } else {
                    x.partner = BufferId{std::int32_t(other)};
                }
            }
        }
    for (Buffer& b : model.buffers) b.tracked = b.channel() || b.partner.valid();

    for (const Buffer& b : model.buffers) {
        if (!b.channel()) continue;
        if (b.memory && *b.memory != isa::MemorySpace::vec && *b.memory != isa::MemorySpace::mat) {
            Diagnostic& d = report(Code::channel_space, b.type_at, "cross-core buffer `" + b.name + "` lives in " + std::string(isa::name(*b.memory)) + ", which the cores do not share");
            d.advice.push_back("cross-core buffers live in Vec (UB) or Mat (L1)");
        }
        if (b.ranges.empty() && b.slots > 0 && b.memory) {
            Diagnostic& d = report(Code::pipeline_channel_address, b.addrs_at.valid() ? b.addrs_at : b.at, "the address of cross-core buffer `" + b.name + "` does not evaluate: bytes it shares with another buffer are not protected");
            d.advice.push_back("use literals and module constants for shape, dtype and addrs");
        }
    }
    for (const Stmt* st : aliases)
        for (const Buffer& b : model.buffers)
            if (b.channel() && b.name == st->value.text) {
                Diagnostic& d = report(Code::pipeline_channel_alias, st->at, "cross-core buffer `" + b.name + "` gets a second name, `" + st->targets[0].text + "`");
                d.labels.push_back({b.name_at, "declared here"});
                d.advice.push_back("use `" + b.name + "` itself");
                break;
            }
    return !blocks(diagnostics);
}

} // namespace pto::pipeline
