/// Step 7: which stage arguments travel with the task, under which field, with which typed zero. Pipeline reference, 11; S8.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {

class Classifier {
  public:
    Classifier(Scan& s, Loop& loop, const LoopNode& node) : m_s(s), m_loop(loop), m_node(node) {}

    void run() {
        find_structs();
        for (std::size_t i = 0; i < m_loop.stages.size(); ++i) {
            Stage& st = m_loop.stages[i];
            for (std::size_t a = 1; a < st.call.args.size(); ++a) st.arguments.push_back(classify(st, i, st.call.args[a], a - 1));
        }
        for (auto& [name, f] : m_fields) m_loop.fields.push_back(f);
    }

  private:
    Scan& m_s;
    Loop& m_loop;
    const LoopNode& m_node;
    std::map<std::string, CtxField> m_fields; // sorted by name
    std::set<std::string> m_struct_fields;
    std::set<std::string> m_structs; // passed by name

    ValueKind kind(const std::string& name) const {
        auto found = m_s.facts.names.find(name);
        return found == m_s.facts.names.end() ? ValueKind::unknown : found->second.kind;
    }

    const Stmt* struct_binding(const std::string& name) const {
        auto found = m_s.assigned.find(name);
        if (found == m_s.assigned.end()) return nullptr;
        for (const Stmt* st : found->second)
            if (st->value.kind == ExprKind::call && m_s.operation(m_s.kernel.scope, st->value.args.front()) == "struct") return st;
        return nullptr;
    }

    std::string zero(isa::DType d) const {
        if (d == isa::DType::index || d == isa::DType::int64) return "0";
        if (d == isa::DType::boolean) return "False";
        if (d == isa::DType::fp32) return "0.0";
        return m_s.model.language + ".const(" + (isa::is_float(d) ? "0.0" : "0") + ", " + m_s.model.language + "." + std::string(isa::language_name(d)) + ")";
    }

    void add(CtxField f) { m_fields.emplace(f.name, std::move(f)); }

    /// Sections in which a name is bound: both when any binding stands outside sections.
    void place_by_bindings(const std::string& name, CtxField& f) const {
        bool cube = false, vector = false;
        auto found = m_s.assigned.find(name);
        if (found == m_s.assigned.end()) return;
        for (const syntax::Parameter& p : m_s.kernel.function->parameters)
            if (p.name == name) return;
        for (const Stmt* st : found->second) {
            const Place p = m_s.place_of(st->at);
            if (p == Place::both) return;
            (p == Place::cube ? cube : vector) = true;
        }
        f.in_both_sections = cube && vector;
        f.place = cube && vector ? Place::both : cube ? Place::cube : Place::vector;
    }

    void find_structs() {
        std::map<std::string, std::string> owner;
        for (const Stage& st : m_loop.stages)
            for (std::size_t a = 1; a < st.call.args.size(); ++a) {
                const Expr& e = st.call.args[a];
                if (e.kind != ExprKind::name || m_structs.count(e.text)) continue;
                const Stmt* made = struct_binding(e.text);
                if (!made) continue;
                m_structs.insert(e.text);
                auto facts = m_s.facts.structs.find(e.text);
                for (const syntax::Keyword& k : made->value.keywords) {
                    auto [here, inserted] = owner.emplace(k.name, e.text);
                    if (!inserted && here->second != e.text) { // S8
                        Diagnostic d = diagnose(Code::struct_fields_clash, k.name_at.valid() ? k.name_at : made->at, "structs `" + here->second + "` and `" + e.text + "` both have a field `" + k.name + "`");
                        d.labels.push_back({struct_binding(here->second)->at, "`" + here->second + "` is made here"});
                        d.labels.push_back({e.at, "`" + e.text + "` is passed to stage `" + st.name + "`"});
                        d.advice.push_back("rename one of the two fields: both would travel in one field of the task's slot");
                        m_loop.when_pipelined.push_back(std::move(d));
                    }
                    CtxField f;
                    f.name = k.name, f.value = e.text + "." + k.name, f.from = k.name_at.valid() ? k.name_at : made->at;
                    f.zero = "0";
                    if (!k.value.empty()) {
                        const Expr& v = k.value.front();
                        if (v.kind == ExprKind::real) f.zero = "0.0";
                        else if (v.kind == ExprKind::boolean) f.zero = "False";
                        else if (v.kind == ExprKind::name && kind(v.text) == ValueKind::scalar) f.zero = zero(m_s.facts.names.at(v.text).dtype);
                        else if (v.kind == ExprKind::list || v.kind == ExprKind::tuple) {
                            f.length = std::int32_t(v.args.size());
                            if (!v.args.empty() && v.args.front().kind == ExprKind::real) f.zero = "0.0";
                        }
                    }
                    if (facts != m_s.facts.structs.end())
                        for (const FieldFact& field : facts->second)
                            if (field.name == k.name) f.zero = zero(field.dtype), f.length = field.length;
                    if (f.length > 0) {
                        std::string list = "[";
                        for (std::int32_t i = 0; i < f.length; ++i) list += (i ? ", " : "") + f.zero;
                        f.zero = list + "]";
                    }
                    place_by_bindings(e.text, f);
                    m_struct_fields.insert(k.name);
                    add(std::move(f));
                }
                refuse_writes(st, a - 1, e);
            }
    }

    /// A field a stage assigns would be written into this task's slot and lost with it.
    void refuse_writes(const Stage& st, std::size_t position, const Expr& argument) {
        const syntax::Function& f = *st.function.function;
        if (position >= f.parameters.size()) return;
        const std::string& parameter = f.parameters[position].name;
        walk_here(f.body, [&](const Stmt& w) {
            if (w.kind != StmtKind::assign && w.kind != StmtKind::augmented) return;
            for (const Expr& t : w.targets) {
                const Expr* base = &t;
                bool field = false;
                while (base->kind == ExprKind::attribute || base->kind == ExprKind::subscript) field |= base->kind == ExprKind::attribute, base = &base->args.front();
                if (!field || base->kind != ExprKind::name || base->text != parameter) continue;
                Diagnostic d = diagnose(Code::pipeline_carried_state, t.at, "stage `" + st.name + "` assigns a field of struct `" + argument.text + "`: the value stays in this task's slot and no later task sees it");
                d.labels.push_back({argument.at, "passed here"});
                d.advice.push_back("assign the field in the loop body, in front of the first stage or behind the last one");
                m_loop.when_pipelined.push_back(std::move(d));
            }
        });
    }

    /// The carried pick a name stands for, through renames.
    PickId pick_of(std::string name) const {
        for (int hops = 0; hops < 16; ++hops) {
            for (std::size_t i = 0; i < m_loop.picks.size(); ++i)
                if (m_loop.picks[i].carried && m_loop.picks[i].variable == name) return {std::int32_t(i)};
            auto found = m_s.assigned.find(name);
            if (found == m_s.assigned.end() || found->second.size() != 1 || found->second.front()->value.kind != ExprKind::name) break;
            name = found->second.front()->value.text;
        }
        return {};
    }

    /// `tensor.shape[k]`, `tile.valid_shape[k]`, a struct field: a scalar although a handle is named.
    bool scalar_of_handle(const Expr& e) const {
        if (e.kind == ExprKind::subscript && e.args[0].kind == ExprKind::attribute && (e.args[0].text == "shape" || e.args[0].text == "valid_shape")) return true;
        const Expr* base = &e;
        bool field = false;
        while (base->kind == ExprKind::attribute || base->kind == ExprKind::subscript) field |= base->kind == ExprKind::attribute, base = &base->args.front();
        return field && base->kind == ExprKind::name && (kind(base->text) == ValueKind::structure || kind(base->text) == ValueKind::structure_array || struct_binding(base->text));
    }
    static bool is_shape(const Expr& e) { return e.kind == ExprKind::subscript && e.args[0].kind == ExprKind::attribute && e.args[0].text == "shape"; }

    struct Parts {
        bool live = false;       // mentions something that may change from task to task
        const Expr* handle = nullptr; // a handle used as such
    };
    void parts(const Expr& e, Parts& out) const {
        if (scalar_of_handle(e)) {
            if (!is_shape(e)) out.live = true; // a shape never changes; fields and valid shapes do
            if (e.kind == ExprKind::subscript) parts(e.args[1], out);
            return;
        }
        if (e.kind == ExprKind::name) {
            switch (kind(e.text)) {
            case ValueKind::scalar: out.live = true; break;
            case ValueKind::unknown: break;
            default: if (!out.handle) out.handle = &e;
            }
            return;
        }
        if (e.kind == ExprKind::call) {
            if (e.args.front().kind == ExprKind::attribute) parts(e.args.front().args.front(), out);
        } else {
            if (!e.args.empty()) parts(e.args.front(), out);
        }
        for (std::size_t i = 1; i < e.args.size(); ++i) parts(e.args[i], out);
        for (const syntax::Keyword& k : e.keywords)
            for (const Expr& v : k.value) parts(v, out);
    }

    isa::DType dtype_of(const Expr& e) const {
        if (auto found = m_s.facts.argument_dtypes.find(e.at); found != m_s.facts.argument_dtypes.end()) return found->second;
        std::optional<isa::DType> widest;
        bool division = false;
        syntax::walk(e, [&](const Expr& x) {
            if (x.kind == ExprKind::real) widest = widest && isa::is_float(*widest) ? widest : isa::DType::fp32;
            if (x.kind == ExprKind::binary && x.text == "/") division = true;
            std::optional<isa::DType> d;
            if (x.kind == ExprKind::name && kind(x.text) == ValueKind::scalar) d = m_s.facts.names.at(x.text).dtype;
            if (x.kind == ExprKind::attribute && x.args[0].kind == ExprKind::name)
                if (auto st = m_s.facts.structs.find(x.args[0].text); st != m_s.facts.structs.end())
                    for (const FieldFact& f : st->second)
                        if (f.name == x.text) d = f.dtype;
            if (!d) return;
            if (!widest || (isa::is_float(*d) && !isa::is_float(*widest)) || (isa::is_float(*d) == isa::is_float(*widest) && isa::bits(*d) > isa::bits(*widest))) widest = d;
        });
        const bool compares = e.kind == ExprKind::compare || e.kind == ExprKind::logical || (e.kind == ExprKind::unary && e.text == "not");
        if (compares) return isa::DType::boolean;
        if (division && (!widest || !isa::is_float(*widest))) return isa::DType::fp32;
        return widest.value_or(isa::DType::index);
    }

    Argument classify(const Stage& st, std::size_t chain, const Expr& e, std::size_t position) {
        Argument a;
        a.at = e.at;
        if (e.kind == ExprKind::name) {
            if (m_structs.count(e.text)) {
                a.kind = Argument::Kind::structure;
                return a;
            }
            if (PickId p = pick_of(e.text); p.valid()) {
                a.kind = Argument::Kind::pick, a.pick = p;
                const OuterPick& pick = m_loop.picks[std::size_t(p.index)];
                CtxField f;
                f.name = pick.index, f.zero = "0", f.value = pick.index, f.place = pick.place, f.from = pick.at;
                add(std::move(f));
                return a;
            }
            if (kind(e.text) == ValueKind::scalar) {
                a.kind = Argument::Kind::scalar;
                a.field = m_struct_fields.count(e.text) ? "_pl_" + e.text : e.text;
                CtxField f;
                f.name = a.field, f.zero = zero(m_s.facts.names.at(e.text).dtype), f.value = e.text, f.from = e.at;
                place_by_bindings(e.text, f);
                add(std::move(f));
                return a;
            }
            if (kind(e.text) != ValueKind::unknown && chain > 0) refuse_rebinding(st, e);
            return a;
        }
        Parts p;
        parts(e, p);
        if (p.live && !p.handle) {
            a.kind = Argument::Kind::expression;
            a.field = "_pl_arg_" + st.name + "_" + std::to_string(position);
            CtxField f;
            f.name = a.field, f.zero = zero(dtype_of(e)), f.expression = e.at, f.from = e.at;
            f.place = st.core == isa::Core::cube ? Place::cube : Place::vector;
            add(std::move(f));
        } else if (p.live && chain > 0) {
            Diagnostic d = diagnose(Code::pipeline_mixed_argument, e.at, "`" + spell(e) + "` mixes `" + p.handle->text + "` with a value that changes from task to task; delayed stage `" + st.name + "` would see another task's value");
            d.labels.push_back({p.handle->at, "a handle: it does not travel with the task"});
            d.advice.push_back("pass `" + p.handle->text + "` and the value as two arguments and combine them in the stage");
            m_loop.when_pipelined.push_back(std::move(d));
        } else if (chain > 0 && p.handle) {
            refuse_rebinding(st, e);
        }
        return a;
    }

    /// True when an expression has one value for all tasks.
    bool invariant(const Expr& e, int depth = 0) const {
        bool yes = depth < 8;
        syntax::walk(e, [&](const Expr& x) {
            if (!yes || x.kind != ExprKind::name) {
                if (!accessor(x).empty()) yes = false;
                return;
            }
            if (x.text == m_loop.variable) { yes = false; return; }
            auto found = m_s.assigned.find(x.text);
            if (found == m_s.assigned.end()) {
                // Targets of outer loops and tuple targets: bound, yet never by a single-name assignment.
                bool parameter = false;
                for (const syntax::Parameter& p : m_s.kernel.function->parameters) parameter |= p.name == x.text;
                if (m_s.bound.count(x.text) && !parameter) yes = false;
                return;
            }
            for (const Stmt* st : found->second)
                if (Scan::inside(*m_node.outer, *st) && !invariant(st->value, depth + 1)) yes = false;
        });
        return yes;
    }

    /// [S] A handle bound inside the outer loop reaches a delayed stage as the current beat's.
    void refuse_rebinding(const Stage& st, const Expr& e) {
        bool done = false;
        syntax::walk(e, [&](const Expr& x) {
            if (done || x.kind != ExprKind::name) return;
            auto found = m_s.assigned.find(x.text);
            if (found == m_s.assigned.end()) return;
            for (const Stmt* b : found->second) {
                if (done || !Scan::inside(*m_node.outer, *b) || invariant(b->value)) continue;
                done = true;
                Diagnostic d = diagnose(Code::pipeline_body_pick, b->at, "`" + x.text + "` is bound anew inside the loop and reaches delayed stage `" + st.name + "` as another task's");
                d.labels.push_back({e.at, "passed here"});
                d.advice.push_back(Scan::inside(*m_node.loop, *b) ? "take the slot inside the stage, or in front of the pipeline loop" : "bind it inside the stage, from the values it depends on");
                m_loop.when_pipelined.push_back(std::move(d));
            }
        });
    }
};

} // namespace

bool Scan::classify_arguments() {
    for (std::size_t l = 0; l < nodes.size(); ++l) Classifier(*this, model.loops[l], nodes[l]).run();
    note_cursor_mix(*this);
    return !blocks(diagnostics);
}

} // namespace pto::pipeline
