/// Step 6: what every stage touches, in which role, on which pipe; K27 to K35 and S2. Pipeline reference, 9.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {

using Names = Scan::Names;

isa::Role unite(isa::Role a, isa::Role b) {
    const bool r = isa::reads(a) || isa::reads(b), w = isa::writes(a) || isa::writes(b);
    return r && w ? isa::Role::read_write : r ? isa::Role::read : w ? isa::Role::write : isa::Role::none;
}

/// Names of the language that take a group or a tile without touching its bytes.
bool only_names_memory(std::string_view op) {
    return op == "make_tuple" || op == "struct" || op == "struct_array" || op == "reinterpret" || op == "make_tile" || op == "make_tile_group";
}

/// Reference 9.3: the pipe of a copy follows (source memory -> destination memory).
isa::Pipe pipe_of_path(isa::MemorySpace from, isa::MemorySpace to) {
    using M = isa::MemorySpace;
    if (from == M::acc && (to == M::vec || to == M::mat)) return isa::Pipe::fix;
    if (from == M::mat) {
        if (to == M::left || to == M::right || to == M::bias || to == M::scale_left || to == M::scale_right) return isa::Pipe::mte1;
        return to == M::vec ? isa::Pipe::v : isa::Pipe::fix;
    }
    return from == M::vec && to == M::mat ? isa::Pipe::mte3 : isa::Pipe::v;
}

struct Count {
    std::int32_t least = 0, most = 0;
    Span first, second;
    std::int32_t other = 0, subscripts = 0;
    void add(const Count& c) {
        least += c.least, most += c.most, other += c.other, subscripts += c.subscripts;
        if (!first.valid()) first = c.first, second = c.second;
        else if (!second.valid()) second = c.first;
    }
};
using Counts = std::map<std::int32_t, Count>; // by buffer

/// Walks one stage, or (stage == null) the statements of a pipeline loop around its stages.
class Walk {
  public:
    Walk(Scan& s, Stage* stage, isa::Core core) : m_s(s), m_stage(stage), m_core(core), m_locals(stage ? &stage->locals : nullptr) {}
    Walk(Scan& s, isa::Core core, std::vector<LocalAccess>& zone) : m_s(s), m_stage(nullptr), m_core(core), m_locals(&zone) {}

    void run_stage() {
        const syntax::Function& f = *m_stage->function.function;
        Names parameters;
        std::map<std::string, std::int32_t> roots;
        bind_arguments(m_stage->call, f, m_s.kernel_memory[int(m_core)], m_s.kernel.scope, parameters, roots, {});
        Frame frame{&m_stage->function, m_stage->function.scope, m_s.bind_function(f, m_stage->function.scope, std::move(parameters)), std::move(roots)};
        walk(frame, f.body);
        for (auto& [buffer, c] : m_counts) m_stage->rotations.push_back({BufferId{buffer}, c.least, c.most, c.other, c.subscripts, c.first, c.second});
    }

    void run_zone(const std::vector<const Stmt*>& statements) {
        Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
        for (const Stmt* st : statements) walk(frame, *st);
    }
    /// The body of the outer loop in front of the pipeline loop: once an outer iteration. Nothing here is refused, only noted.
    void run_outer(const Body& body, const Stmt* loop) {
        m_refuse = false;
        Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
        outer(frame, body, loop);
    }
    /// K33 for a slot taken in the argument list of a stage call.
    void run_arguments(const Expr& call) {
        Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
        for (std::size_t i = 1; i < call.args.size(); ++i) expr(frame, call.args[i]);
    }

  private:
    struct Frame {
        const FunctionRef* function;
        ScopeId scope;
        Names names;
        std::map<std::string, std::int32_t> roots; // which picked slot a name holds, for "read before written"
        bool conditional = false;                  // inside a branch or loop
        bool behind_return = false;                // an early return may have ended the function
    };
    Scan& m_s;
    Stage* m_stage;
    isa::Core m_core;
    std::vector<LocalAccess>* m_locals;
    bool m_refuse = true; // K33, K34 for what stands around stages

    bool outer(Frame& frame, const Body& body, const Stmt* loop) {
        for (const Stmt& st : body) {
            if (&st == loop) return false;
            if (Scan::inside(st, *loop)) return outer(frame, st.body, loop) && outer(frame, st.orelse, loop);
            walk(frame, st);
        }
        return true;
    }

    std::vector<std::pair<const syntax::Function*, Span>> m_chain; // helpers being walked
    Counts m_counts;
    std::int32_t m_next_root = 1;
    std::map<std::string, std::int32_t> m_object_roots; // slots named without a pick: "g[3]", tiles
    std::set<std::int32_t> m_written, m_written_groups;
    std::set<std::int32_t> m_fresh; // slots picked by next()

    std::vector<Span> via() const {
        std::vector<Span> out;
        for (const auto& [f, at] : m_chain) out.push_back(at);
        return out;
    }
    void label_chain(Diagnostic& d) const {
        for (const auto& [f, at] : m_chain) d.labels.push_back({at, "`" + f->name + "` is called here"});
    }

    // ------------------------------------------------------------ statements

    void walk(Frame& frame, const Body& body) {
        for (const Stmt& st : body) walk(frame, st);
    }

    void walk(Frame& frame, const Stmt& st) {
        switch (st.kind) {
        case StmtKind::function: return;
        case StmtKind::assign:
        case StmtKind::annotated: assign(frame, st); return;
        case StmtKind::augmented:
            expr(frame, st.value);
            element(frame, st.targets[0], isa::Role::read_write);
            return;
        case StmtKind::branch: {
            expr(frame, st.value);
            Counts base;
            std::swap(base, m_counts);
            const bool was = frame.conditional;
            frame.conditional = true;
            walk(frame, st.body);
            Counts a;
            std::swap(a, m_counts);
            walk(frame, st.orelse);
            Counts b;
            std::swap(b, m_counts);
            frame.conditional = was;
            for (auto& [buffer, c] : b) a[buffer];
            for (auto& [buffer, c] : a) {
                const Count& o = b[buffer];
                Count joined = c.first.valid() ? c : o;
                joined.least = std::min(c.least, o.least), joined.most = std::max(c.most, o.most), joined.other = std::max(c.other, o.other), joined.subscripts = std::max(c.subscripts, o.subscripts);
                base[buffer].add(joined);
            }
            std::swap(base, m_counts);
            bool returns = false;
            walk_here(st.body, [&](const Stmt& x) { returns |= x.kind == StmtKind::ret; });
            walk_here(st.orelse, [&](const Stmt& x) { returns |= x.kind == StmtKind::ret; });
            if (returns) frame.behind_return = true;
            return;
        }
        case StmtKind::loop:
        case StmtKind::while_loop: {
            expr(frame, st.value);
            Counts base;
            std::swap(base, m_counts);
            const bool was = frame.conditional;
            frame.conditional = true;
            walk(frame, st.body);
            walk(frame, st.orelse);
            frame.conditional = was;
            for (auto& [buffer, c] : m_counts) {
                c.least = 0;
                if (c.most > 0) c.most = 2;
                base[buffer].add(c);
            }
            std::swap(base, m_counts);
            return;
        }
        case StmtKind::with:
            if (m_stage == nullptr) {
                std::optional<isa::Core> core = core_of(st);
                if (core && *core != m_core) return;
            }
            for (const Expr& item : st.targets) expr(frame, item);
            walk(frame, st.body);
            return;
        case StmtKind::ret: {
            expr(frame, st.value);
            if (m_chain.empty() || !m_stage) return;
            Memory m = m_s.memory_of(st.value, frame.names, frame.scope);
            if (m.kind != Memory::Kind::tile && m.kind != Memory::Kind::group) return;
            Diagnostic& d = m_s.report(Code::helper_returns_tile, st.at, "`" + m_chain.back().first->name + "`, called by stage `" + m_stage->name + "`, returns a " +
                                                                              (m.kind == Memory::Kind::tile ? "tile" : "tile group"));
            label_chain(d);
            d.advice.push_back("take the slot in the stage and pass it to the helper");
            return;
        }
        default:
            expr(frame, st.value);
            for (const Expr& t : st.targets) expr(frame, t);
            walk(frame, st.body);
            walk(frame, st.orelse);
        }
    }

    void assign(Frame& frame, const Stmt& st) {
        const bool single = st.targets.size() == 1 && st.targets[0].kind == ExprKind::name;
        Memory group = single ? m_s.picked(st.value, frame.names, frame.scope) : Memory{};
        if (single && group.kind == Memory::Kind::group) {
            if (st.value.kind == ExprKind::subscript) expr(frame, st.value.args[1]);
            pick(frame, st.targets[0].text, st.value, group);
            return;
        }
        expr(frame, st.value);
        if (single) {
            // A rename or a sub-view stands for the slot its source holds.
            const Expr* base = &st.value;
            while (base->kind == ExprKind::subscript || base->kind == ExprKind::attribute) base = &base->args.front();
            if (base->kind == ExprKind::name) {
                auto root = frame.roots.find(base->text);
                if (root != frame.roots.end()) frame.roots[st.targets[0].text] = root->second;
            }
            return;
        }
        for (const Expr& t : st.targets) element(frame, t, isa::Role::write);
    }

    void pick(Frame& frame, const std::string& name, const Expr& value, const Memory& group) {
        const std::string how = accessor(value);
        for (BufferId g : group.groups) {
            if (!m_stage) {
                if (m_s.model[g].tracked && m_refuse) refuse_pick_in_loop(g, value.at);
                continue;
            }
            Count c;
            c.first = value.at;
            if (how == "next") c.least = frame.behind_return ? 0 : 1, c.most = 1; // branches and loops lower `least` when they close
            else if (how.empty()) c.subscripts = 1;
            else c.other = 1;
            m_counts[g.index].add(c);
        }
        if (how == "next") {
            frame.roots[name] = m_next_root++;
            m_fresh.insert(frame.roots[name]);
            for (BufferId g : group.groups) m_object_roots["current " + std::to_string(g.index)] = frame.roots[name];
        } else {
            std::string key = how.empty() ? "slot " + spell(value.args[1]) : how;
            for (BufferId g : group.groups) key += " " + std::to_string(g.index);
            auto [here, inserted] = m_object_roots.try_emplace(key, 0);
            if (inserted) here->second = m_next_root++;
            frame.roots[name] = here->second;
        }
        m_choice[frame.roots[name]] = how.empty() ? (value.args[1].kind == ExprKind::integer ? SlotChoice::fixed : SlotChoice::by_value) : SlotChoice::rotating;
    }
    std::map<std::int32_t, SlotChoice> m_choice;

    void refuse_pick_in_loop(BufferId g, Span at) {
        const Buffer& b = m_s.model[g];
        for (const Diagnostic& d : m_s.diagnostics)
            if (d.code == Code::channel_pick_in_loop && d.at == at) return;
        Diagnostic& d = m_s.report(Code::channel_pick_in_loop, at, "a slot of " + std::string(b.channel() ? "cross-core buffer `" : "`") + b.name + "`" + (b.channel() ? "" : ", which shares bytes with a cross-core buffer,") +
                                                                       " is taken in the pipeline loop outside a stage");
        d.labels.push_back({b.name_at, "declared here"});
        label_chain(d);
        d.advice.push_back("take the slot inside the stage: a slot belongs to a task");
    }

    // ------------------------------------------------------------ expressions

    void element(Frame& frame, const Expr& target, isa::Role role) {
        if (target.kind == ExprKind::tuple || target.kind == ExprKind::list) {
            for (const Expr& t : target.args) element(frame, t, role);
            return;
        }
        if (target.kind == ExprKind::subscript) {
            Memory base = m_s.memory_of(target.args[0], frame.names, frame.scope);
            expr(frame, target.args[1]);
            if (base.tile_like() && !has_slice(target.args[1])) record(frame, base, role, isa::Pipe::s, "element access", target.at, target.args[0]);
            return;
        }
        expr(frame, target);
    }

    void expr(Frame& frame, const Expr& e) {
        if (e.kind == ExprKind::subscript) {
            Memory base = m_s.memory_of(e.args[0], frame.names, frame.scope);
            if (base.kind == Memory::Kind::group) inline_pick(frame, e, base);
            else expr(frame, e.args[0]);
            expr(frame, e.args[1]);
            if (base.tile_like() && !has_slice(e.args[1])) record(frame, base, isa::Role::read, isa::Pipe::s, "element access", e.at, e.args[0]);
            return;
        }
        if (e.kind == ExprKind::call) {
            if (!accessor(e).empty()) {
                Memory base = m_s.memory_of(e.args.front().args.front(), frame.names, frame.scope);
                if (base.kind == Memory::Kind::group) return inline_pick(frame, e, base);
            }
            if (e.args.front().kind != ExprKind::name && e.args.front().kind != ExprKind::attribute) expr(frame, e.args.front());
            else if (e.args.front().kind == ExprKind::attribute && e.args.front().args.front().kind == ExprKind::call) expr(frame, e.args.front().args.front());
            for (std::size_t i = 1; i < e.args.size(); ++i) expr(frame, e.args[i]);
            for (const syntax::Keyword& k : e.keywords)
                for (const Expr& v : k.value) expr(frame, v);
            call(frame, e);
            return;
        }
        for (const Expr& a : e.args) expr(frame, a);
    }

    void inline_pick(Frame& frame, const Expr& e, const Memory& group) {
        if (!m_stage) {
            for (BufferId g : group.groups)
                if (m_s.model[g].tracked && m_refuse) refuse_pick_in_loop(g, e.at);
            return;
        }
        for (const Diagnostic& d : m_s.diagnostics)
            if (d.code == Code::inline_pick && d.at == e.at) return;
        const std::string base = e.kind == ExprKind::call ? spell(e.args.front().args.front()) : spell(e.args.front());
        Diagnostic& d = m_s.report(Code::inline_pick, e.at, "a slot of `" + base + "` is taken inside a larger expression");
        label_chain(d);
        // Hoisting is sure when a plain statement of its own holds the pick: find it.
        const syntax::Function* f = frame.function ? frame.function->function.get() : nullptr;
        const Stmt* holder = nullptr;
        if (f)
            walk_here(f->body, [&](const Stmt& st) {
                if (st.at.file == e.at.file && st.at.begin <= e.at.begin && e.at.end <= st.at.end && st.body.empty()) holder = &st;
            });
        std::string name = base;
        for (char& c : name)
            if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_')) c = '_';
        name += "_slot";
        if (holder) {
            std::set<std::string> used;
            walk_here(f->body, [&](const Stmt& st) { walk_exprs(st, [&](const Expr& x) { if (x.kind == ExprKind::name) used.insert(x.text); }); });
            for (const syntax::Parameter& p : f->parameters) used.insert(p.name);
            std::string free = name;
            // Several inline picks of one group in one function get different names.
            std::int32_t n = 2;
            for (const Diagnostic& other : m_s.diagnostics)
                if (&other != &d && other.code == Code::inline_pick && other.fix)
                    for (const Edit& edit : other.fix->edits) used.insert(edit.replacement);
            while (used.count(free)) free = name + std::to_string(n++);
            Fix fix{"take the slot in a line of its own", {}};
            std::string separator = "; ";
            if (m_s.options.sources) { // a statement that begins its line gets a line in front of it
                const std::string& text = m_s.options.sources->file(holder->at.file).text;
                std::size_t line = text.rfind('\n', std::size_t(holder->at.begin));
                line = holder->at.begin == 0 || line == std::string::npos ? 0 : line + 1;
                const std::string before = text.substr(line, std::size_t(holder->at.begin) - line);
                if (before.find_first_not_of(" \t") == std::string::npos) separator = "\n" + before;
            }
            fix.edits.push_back({{holder->at.file, holder->at.begin, holder->at.begin}, free + " = " + spell(e) + separator});
            fix.edits.push_back({e.at, free});
            d.fix = std::move(fix);
        }
        d.advice.push_back("write `" + name + " = " + spell(e) + "` in front of the statement and use `" + name + "` in it");
    }

    // ------------------------------------------------------------ calls

    void bind_arguments(const Expr& call, const syntax::Function& f, const Names& here, ScopeId scope, Names& parameters, std::map<std::string, std::int32_t>& roots,
                        const std::map<std::string, std::int32_t>& outer_roots) {
        for (std::size_t i = 1; i < call.args.size(); ++i) {
            std::size_t p = i - 1;
            if (!f.parameters.empty() && f.parameters.front().name == "self") ++p;
            if (p >= f.parameters.size()) break;
            Memory m = m_s.memory_of(call.args[i], here, scope);
            if (m.kind != Memory::Kind::none) parameters[f.parameters[p].name] = std::move(m);
            const Expr* base = &call.args[i];
            while (base->kind == ExprKind::subscript || base->kind == ExprKind::attribute) base = &base->args.front();
            if (base->kind == ExprKind::name)
                if (auto root = outer_roots.find(base->text); root != outer_roots.end()) roots[f.parameters[p].name] = root->second;
        }
        for (const syntax::Keyword& k : call.keywords)
            if (!k.value.empty())
                if (Memory m = m_s.memory_of(k.value.front(), here, scope); m.kind != Memory::Kind::none) parameters[k.name] = std::move(m);
    }

    void call(Frame& frame, const Expr& e) {
        const Expr& callee = e.args.front();
        if (callee.kind == ExprKind::name) {
            if (const FunctionRef* f = m_s.function(frame.scope, callee.text)) {
                FunctionRef copy = *f;
                if (copy.kind == FunctionRef::Kind::vector) return vector_call(frame, e, copy);
                if (copy.kind == FunctionRef::Kind::plain && copy.function) return helper_call(frame, e, copy);
                return assume_written(frame, e);
            }
        }
        const std::string op = m_s.operation(frame.scope, callee);
        if (op.empty()) return assume_written(frame, e);
        if (op == "make_tile_group" && m_stage) {
            Diagnostic& d = m_s.report(Code::helper_declares_group, e.at, m_chain.empty() ? "stage `" + m_stage->name + "` declares a tile group" : "`" + m_chain.back().first->name + "`, called by stage `" + m_stage->name + "`, declares a tile group");
            label_chain(d);
            d.advice.push_back("declare the group in the kernel body and pass it to the stage");
            return;
        }
        block_op(frame, e, op);
    }

    /// Nobody knows what this call does: what it was given counts as written, so that no later read looks carried over.
    void assume_written(Frame& frame, const Expr& e) {
        for (std::size_t i = 1; i < e.args.size(); ++i) {
            Memory m = m_s.memory_of(e.args[i], frame.names, frame.scope);
            if (m.kind == Memory::Kind::tile || m.kind == Memory::Kind::aggregate) wrote(root_of(frame, m, e.args[i]), m);
        }
    }

    void helper_call(Frame& frame, const Expr& e, const FunctionRef& f) {
        for (const auto& [walked, at] : m_chain)
            if (walked == f.function.get()) return; // recursion: the front end reports it
        Names parameters;
        std::map<std::string, std::int32_t> roots;
        bind_arguments(e, *f.function, frame.names, frame.scope, parameters, roots, frame.roots);
        Frame inner{&f, f.scope, m_s.bind_function(*f.function, f.scope, std::move(parameters)), std::move(roots), frame.conditional, frame.behind_return};
        m_chain.emplace_back(f.function.get(), e.at);
        walk(inner, f.function->body);
        m_chain.pop_back();
    }

    struct Touched {
        Memory memory;
        isa::Role role;
        const Expr* argument;
        bool known = true;
    };

    std::optional<isa::MemorySpace> space_of(const Memory& m) const {
        if (m.kind == Memory::Kind::tensor) return isa::MemorySpace::ddr;
        if (!m.groups.empty()) return m_s.model[m.groups.front()].memory;
        return m.space;
    }
    bool tracked(const Memory& m) const {
        return (m.kind == Memory::Kind::tile || m.kind == Memory::Kind::group) &&
               std::any_of(m.groups.begin(), m.groups.end(), [&](BufferId g) { return m_s.model[g].tracked; });
    }
    std::string tracked_name(const Memory& m) const {
        for (BufferId g : m.groups)
            if (m_s.model[g].tracked) return m_s.model[g].name;
        return m.object;
    }

    void block_op(Frame& frame, const Expr& e, const std::string& op) {
        const isa::OpRow* row = m_s.ops.find(op);
        if (only_names_memory(op) || (row && row->descriptor_only)) return;
        std::vector<Touched> touched;
        auto touch = [&](const Expr& argument, const isa::Operand* operand, bool is_scale) {
            Memory m = m_s.memory_of(argument, frame.names, frame.scope);
            if (m.kind == Memory::Kind::aggregate) {
                for (auto& [name, member] : m.members)
                    if (member.kind == Memory::Kind::tile) touched.push_back({member, operand ? operand->role : isa::Role::read, &argument, row != nullptr});
                return;
            }
            if (argument.kind == ExprKind::list || m.kind == Memory::Kind::none) return;
            isa::Role role = operand ? operand->role : is_scale ? isa::Role::read : isa::Role::none;
            touched.push_back({std::move(m), role, &argument, row && (operand || is_scale)});
        };
        for (std::size_t i = 1; i < e.args.size(); ++i) {
            const isa::Operand* operand = nullptr;
            if (row && i - 1 < row->operands.size()) operand = &row->operands[i - 1];
            else if (row && !row->operands.empty() && (row->operands.back().kind == isa::OperandKind::scalars || row->operands.back().kind == isa::OperandKind::list)) operand = &row->operands.back();
            touch(e.args[i], operand, row && i - 1 >= row->operands.size());
        }
        for (const syntax::Keyword& k : e.keywords)
            for (const Expr& v : k.value) touch(v, row ? row->operand(k.name) : nullptr, true);

        // fillpad in place also keeps what it does not pad.
        if (row && row->semantics == isa::Semantics::fillpad)
            if (const Expr* mode = e.keyword("mode"); mode && m_s.operation(frame.scope, *mode) == "FillPadMode.INPLACE" && !touched.empty()) touched.front().role = isa::Role::read_write;

        const auto first = std::find_if(touched.begin(), touched.end(), [&](const Touched& t) { return tracked(t.memory); });
        const bool any = first != touched.end();
        if (!row) {
            if (!any) return assume_written(frame, e);
            Diagnostic& d = m_s.report(Code::unknown_roles, e.at, "what `" + spell(e.args.front()) + "` does to `" + tracked_name(first->memory) + "` is not known");
            label_chain(d);
            d.advice.push_back("copy the slot into a local tile first, or copy the result out of one");
            return;
        }
        isa::Pipe pipe = isa::Pipe::s;
        switch (row->pipe) {
        case isa::PipeRule::s: pipe = isa::Pipe::s; break;
        case isa::PipeRule::v:
        case isa::PipeRule::in_vector: pipe = isa::Pipe::v; break;
        case isa::PipeRule::m: pipe = isa::Pipe::m; break;
        case isa::PipeRule::mte1: pipe = isa::Pipe::mte1; break;
        case isa::PipeRule::mte2: pipe = isa::Pipe::mte2; break;
        case isa::PipeRule::mte3: pipe = isa::Pipe::mte3; break;
        case isa::PipeRule::fix: pipe = isa::Pipe::fix; break;
        case isa::PipeRule::by_path:
        case isa::PipeRule::by_source: {
            auto memory_at = [&](std::size_t i) -> std::optional<isa::MemorySpace> {
                const Expr* a = i + 1 < e.args.size() ? &e.args[i + 1] : i < row->operands.size() ? e.keyword(row->operands[i].name) : nullptr;
                return a ? space_of(m_s.memory_of(*a, frame.names, frame.scope)) : std::nullopt;
            };
            std::optional<isa::MemorySpace> dst = memory_at(0), src = memory_at(1);
            if (src && (row->pipe == isa::PipeRule::by_source || dst)) {
                pipe = row->pipe == isa::PipeRule::by_path ? pipe_of_path(*src, *dst) : *src == isa::MemorySpace::acc ? isa::Pipe::fix : isa::Pipe::mte3;
                break;
            }
            if (!any) return;
            const std::size_t missing = src ? 0 : 1;
            const Expr* a = missing + 1 < e.args.size() ? &e.args[missing + 1] : nullptr;
            Diagnostic& d = m_s.report(Code::unknown_pipe, e.at, "the pipe of `" + op + "` on `" + tracked_name(first->memory) + "` depends on the memory of `" + (a ? spell(*a) : "?") + "`, which cannot be traced to a declaration");
            if (a) d.labels.push_back({a->at, "which memory is this tile in?"});
            label_chain(d);
            d.advice.push_back("take the tile from a group of the kernel body whose tile type names its memory");
            return;
        }
        case isa::PipeRule::by_keyword:
        case isa::PipeRule::all: return; // synchronisation touches no tile
        }
        for (std::size_t i = 0; i < touched.size(); ++i) {
            Touched& t = touched[i];
            if (t.role == isa::Role::none) continue;
            // One buffer at several positions is one access with the roles united.
            for (std::size_t j = i + 1; j < touched.size(); ++j)
                if (touched[j].memory == t.memory) t.role = unite(t.role, touched[j].role), touched[j].role = isa::Role::none;
            record(frame, t.memory, t.role, pipe, op, e.at, *t.argument);
        }
    }

    // ------------------------------------------------------------ vector functions

    void vector_call(Frame& frame, const Expr& e, const FunctionRef& f) {
        if (!f.function) return;
        std::vector<Memory> arguments;
        std::vector<bool> is_tile;
        for (std::size_t i = 0; i < f.function->parameters.size(); ++i) {
            Memory m = i + 1 < e.args.size() ? m_s.memory_of(e.args[i + 1], frame.names, frame.scope) : Memory{};
            is_tile.push_back(m.kind == Memory::Kind::tile);
            arguments.push_back(std::move(m));
        }
        std::vector<isa::Role> roles(arguments.size(), isa::Role::none);
        std::vector<const syntax::Function*> chain;
        std::vector<bool> watched;
        for (const Memory& m : arguments) watched.push_back(tracked(m));
        vector_roles(f, is_tile, watched, roles, chain, e.at);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (!is_tile[i] || roles[i] == isa::Role::none) continue;
            for (std::size_t j = i + 1; j < arguments.size(); ++j)
                if (is_tile[j] && arguments[j] == arguments[i]) roles[i] = unite(roles[i], roles[j]), roles[j] = isa::Role::none;
            record(frame, arguments[i], roles[i], isa::Pipe::v, f.name, e.at, e.args[i + 1]);
        }
    }

    void vector_roles(const FunctionRef& f, const std::vector<bool>& is_tile, const std::vector<bool>& watched, std::vector<isa::Role>& roles,
                      std::vector<const syntax::Function*>& chain, Span call_at) {
        if (!f.function || std::find(chain.begin(), chain.end(), f.function.get()) != chain.end()) return;
        chain.push_back(f.function.get());
        // Local names that stand for a parameter: `name = parameter`, `name = parameter + offset`; chains resolve.
        std::map<std::string, std::size_t> stands_for;
        for (std::size_t i = 0; i < f.function->parameters.size(); ++i)
            if (i < is_tile.size() && is_tile[i]) stands_for[f.function->parameters[i].name] = i;
        auto leftmost = [](const Expr* e) {
            while (e->kind == ExprKind::binary && e->text == "+") e = &e->args[0];
            return e;
        };
        for (bool grew = true; grew;) {
            grew = false;
            walk_here(f.function->body, [&](const Stmt& st) {
                if (st.kind != StmtKind::assign || st.targets.size() != 1 || st.targets[0].kind != ExprKind::name) return;
                const Expr* base = leftmost(&st.value);
                if (base->kind != ExprKind::name) return;
                auto found = stands_for.find(base->text);
                if (found != stands_for.end()) grew |= stands_for.emplace(st.targets[0].text, found->second).second;
            });
        }
        walk_here(f.function->body, [&](const Stmt& st) {
            walk_exprs(st, [&](const Expr& e) {
                if (e.kind != ExprKind::call) return;
                const Expr& callee = e.args.front();
                const FunctionRef* inner = callee.kind == ExprKind::name ? m_s.function(f.scope, callee.text) : nullptr;
                if (inner && inner->kind == FunctionRef::Kind::vector && inner->function) {
                    FunctionRef copy = *inner;
                    const std::size_t n = copy.function->parameters.size();
                    std::vector<bool> tiles(n), watch(n);
                    std::vector<std::size_t> from(n, std::size_t(-1));
                    for (std::size_t i = 0; i < n && i + 1 < e.args.size(); ++i) {
                        const Expr* base = leftmost(&e.args[i + 1]);
                        auto found = base->kind == ExprKind::name ? stands_for.find(base->text) : stands_for.end();
                        if (found == stands_for.end()) continue;
                        tiles[i] = true, watch[i] = watched[found->second], from[i] = found->second;
                    }
                    std::vector<isa::Role> inner_roles(n, isa::Role::none);
                    vector_roles(copy, tiles, watch, inner_roles, chain, call_at);
                    for (std::size_t i = 0; i < n; ++i)
                        if (from[i] != std::size_t(-1)) roles[from[i]] = unite(roles[from[i]], inner_roles[i]);
                    return;
                }
                const std::string op = m_s.operation(f.scope, callee);
                if (op.rfind("vf.", 0) != 0) return;
                const isa::OpRow* row = m_s.ops.find(op);
                for (std::size_t i = 1; i < e.args.size(); ++i) {
                    const Expr* base = leftmost(&e.args[i]);
                    auto found = base->kind == ExprKind::name ? stands_for.find(base->text) : stands_for.end();
                    if (found == stands_for.end()) continue;
                    const isa::Operand* operand = row && i - 1 < row->operands.size() ? &row->operands[i - 1] : nullptr;
                    if (operand && operand->kind == isa::OperandKind::memory) {
                        roles[found->second] = unite(roles[found->second], operand->role);
                    } else if (watched[found->second]) {
                        Diagnostic& d = m_s.report(Code::unknown_vector_roles, e.at, "what `" + op + "` does to cross-core buffer parameter `" + f.function->parameters[found->second].name + "` is not known");
                        d.labels.push_back({call_at, "the vector function is called here"});
                        label_chain(d);
                        d.advice.push_back("load the tile with vf.load_align, store it with vf.store_align");
                    }
                }
            });
        });
        chain.pop_back();
    }

    // ------------------------------------------------------------ records

    void record(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, const std::string& op, Span at, const Expr& argument) {
        if (!m_stage) {
            for (BufferId g : m.groups)
                if (m_s.model[g].tracked && m_refuse) {
                    const Buffer& b = m_s.model[g];
                    for (const Diagnostic& d : m_s.diagnostics)
                        if (d.code == Code::channel_touched_in_loop && d.at == at) return;
                    Diagnostic& d = m_s.report(Code::channel_touched_in_loop, at, "`" + b.name + "` is touched in the pipeline loop outside a stage");
                    d.labels.push_back({b.name_at, "declared here"});
                    label_chain(d);
                    d.advice.push_back("move the statement into a stage: nobody synchronises it here");
                }
            record_local(frame, m, role, pipe, at, argument);
            return;
        }
        for (BufferId g : m.groups) {
            if (!m_s.model[g].tracked) continue;
            const bool maybe = frame.conditional || frame.behind_return;
            auto known = std::find_if(m_stage->accesses.begin(), m_stage->accesses.end(),
                                      [&](const Access& a) { return a.buffer == g && a.role == role && a.pipe == pipe; });
            if (known == m_stage->accesses.end()) m_stage->accesses.push_back({g, role, pipe, op, maybe, at, via()});
            else known->conditional = known->conditional && maybe;
        }
        record_local(frame, m, role, pipe, at, argument);
    }
    /// Slots the operation locks; operands recorded at one place are one operation.
    void note_op(const Frame& frame, const Memory& m, isa::Pipe pipe, Span at, std::int32_t root) {
        if (!m_stage) return;
        if (m_stage->ops.empty() || m_last_op != at) m_stage->ops.push_back({pipe, {}, frame.conditional || frame.behind_return}), m_last_op = at;
        for (BufferId g : m.groups)
            if (m_s.model[g].mutex_auto || !m_s.model[g].mutex_ids.empty()) {
                m_stage->ops.back().slots.push_back(root);
                break;
            }
    }
    Span m_last_op;

    /// Number of the slot an operand names: what its variable was picked as, else the object itself.
    std::int32_t root_of(const Frame& frame, const Memory& m, const Expr& argument) {
        const Expr* base = &argument;
        while (base->kind == ExprKind::subscript || base->kind == ExprKind::attribute) base = &base->args.front();
        std::int32_t root = 0;
        if (base->kind == ExprKind::name)
            if (auto found = frame.roots.find(base->text); found != frame.roots.end()) root = found->second;
        if (root == 0) {
            std::string key = "object " + m.object;
            for (BufferId g : m.groups) key += " " + std::to_string(g.index);
            auto [here, inserted] = m_object_roots.try_emplace(key, 0);
            if (inserted) here->second = m_next_root++;
            root = here->second;
        }
        return root;
    }
    void wrote(std::int32_t root, const Memory& m) {
        m_written.insert(root);
        for (BufferId g : m.groups) m_written_groups.insert(g.index);
    }

    void record_local(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, Span at, const Expr& argument) {
        const std::int32_t root = root_of(frame, m, argument);
        note_op(frame, m, pipe, at, root);
        // A slot named anew (previous(), a subscript) may be one this stage has written under another name.
        bool exposed = isa::reads(role) && !m_written.count(root);
        if (!m_fresh.count(root))
            for (BufferId g : m.groups) exposed = exposed && !m_written_groups.count(g.index);
        if (isa::writes(role)) wrote(root, m);
        auto choice = m_choice.find(root);
        LocalAccess local;
        local.is_tensor = m.kind == Memory::Kind::tensor;
        local.role = role, local.pipe = pipe, local.exposed = exposed, local.conditional = frame.conditional, local.at = at;
        local.slot = choice != m_choice.end() ? choice->second : m.slots > 1 ? SlotChoice::by_value : SlotChoice::fixed;
        local.slots = m.slots;
        auto keep = [&](LocalAccess a) {
            for (const LocalAccess& o : *m_locals)
                if (o.buffer == a.buffer && o.name == a.name && o.role == a.role && o.exposed == a.exposed && o.slot == a.slot) return;
            m_locals->push_back(std::move(a));
        };
        for (BufferId g : m.groups) {
            if (m_s.model[g].tracked) continue;
            LocalAccess a = local;
            a.buffer = g, a.slots = m_s.model[g].slots;
            keep(a);
        }
        if (m.groups.empty() && !m.object.empty()) {
            LocalAccess a = local;
            a.name = m.object;
            keep(a);
        }
    }
};

/// S2: ids are indexed by task, slots by the cursor: they agree only if the cursor moves once a task.
void check_rotations(Scan& s, Loop& loop) {
    for (Stage& st : loop.stages) {
        std::set<std::int32_t> touched;
        for (const Access& a : st.accesses)
            if (s.model[a.buffer].channel()) touched.insert(a.buffer.index);
        for (std::int32_t index : touched) {
            const Buffer& b = s.model.buffers[std::size_t(index)];
            if (b.slots <= 1) continue;
            const Rotation* r = nullptr;
            for (const Rotation& x : st.rotations)
                if (x.buffer.index == index) r = &x;
            if (r && r->least == 1 && r->most == 1) continue;
            Access* at = nullptr;
            for (Access& a : st.accesses)
                if (a.buffer.index == index && !at) at = &a;
            const Span where = r && r->at.valid() ? r->at : at->at;
            const std::string who = "stage `" + st.name + "`", what = "`" + b.name + "`";
            if (r && r->most >= 2 && r->least != 0) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " takes a slot of " + what + " " + std::to_string(r->least) + (r->least == r->most ? "" : " or more") + " times a task: slot and event id drift apart, and task 1 meets the slots of task 0");
                if (r->second_at.valid()) d.labels.push_back({r->second_at, "taken again here"});
                d.advice.push_back("call next() once a task and keep the tile in a variable");
            } else if (r && r->most >= 1) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " does not take a slot of " + what + " in every task: after the first task without it, producer and consumer are on different slots");
                d.advice.push_back("call next() unconditionally at the top of the stage");
            } else if (r && r->subscripts > 0) {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " chooses the slot of " + what + " itself; that it is task mod " + std::to_string(b.slots) + " is not shown");
                d.severity = Severity::warning;
                d.advice.push_back("take the slot with next()");
            } else {
                Diagnostic& d = s.report(Code::channel_rotation, where, who + " uses " + what + " without moving its cursor: the slot stays while the event id advances");
                d.advice.push_back("take the slot with next() inside the stage");
            }
        }
    }
}

} // namespace

bool Scan::scan_accesses() {
    for (std::size_t l = 0; l < model.loops.size(); ++l)
        for (Stage& st : model.loops[l].stages) Walk(*this, &st, st.core).run_stage();
    for (std::size_t l = 0; l < nodes.size(); ++l) {
        std::vector<const Stmt*> before, behind;
        std::size_t seen = 0;
        for (const Stmt& st : nodes[l].loop->body) {
            const bool is_stage = std::any_of(nodes[l].stages.begin(), nodes[l].stages.end(), [&](const auto& n) { return n.section == &st || n.statement == &st; });
            if (is_stage) ++seen;
            else (seen == 0 ? before : behind).push_back(&st);
        }
        for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
            Walk(*this, core, model.loops[l].zone1_locals[int(core)]).run_zone(before);
            Walk(*this, core, model.loops[l].zone3_locals[int(core)]).run_zone(behind);
            if (nodes[l].outer != nodes[l].loop) Walk(*this, core, model.loops[l].outer_locals[int(core)]).run_outer(nodes[l].outer->body, nodes[l].loop);
        }
        for (const Stage& st : model.loops[l].stages) Walk(*this, nullptr, st.core).run_arguments(st.call);
    }
    for (std::size_t i = 0; i < model.buffers.size(); ++i) {
        const Buffer& b = model.buffers[i];
        if (!b.channel()) continue;
        bool used = false;
        for (const Loop& l : model.loops)
            for (const Stage& st : l.stages)
                for (const Access& a : st.accesses) used |= a.buffer.index == std::int32_t(i);
        if (used) continue;
        Diagnostic& d = report(Code::channel_unused, b.name_at, "no stage touches cross-core buffer `" + b.name + "`");
        d.advice.push_back("remove its fwd_ids and bwd_ids, or pass it to a stage");
    }
    if (blocks(diagnostics)) return false;
    for (Loop& l : model.loops) {
        check_rotations(*this, l);
        for (std::size_t i = 0; i < model.buffers.size(); ++i) {
            bool used = false;
            for (const Stage& st : l.stages)
                for (const Access& a : st.accesses) used |= a.buffer.index == std::int32_t(i);
            if (used && model.buffers[i].channel()) l.declared_channels.push_back({std::int32_t(i)});
        }
    }
    return !blocks(diagnostics);
}

} // namespace pto::pipeline
