/// Statements and expressions of a walk: names, slots taken (S2 counts them), branches and loops.

#include "engine/resolve/pipeline/walk.hpp"

#include <algorithm>

namespace pto::pipeline {

void Walk::run_stage() {
    const syntax::Function& f = *m_stage->function.function;
    Names parameters;
    std::map<std::string, std::int32_t> roots;
    bind_arguments(m_stage->call, f, m_s.kernel_memory[int(m_core)], m_s.kernel.scope, parameters, roots, {});
    Frame frame{&m_stage->function, m_stage->function.scope, m_s.bind_function(f, m_stage->function.scope, std::move(parameters)), std::move(roots)};
    walk(frame, f.body);
    for (auto& [buffer, c] : m_counts) m_stage->rotations.push_back({BufferId{buffer}, c.least, c.most, c.other, c.subscripts, c.first, c.second});
}

void Walk::run_zone(const std::vector<const Stmt*>& statements) {
    Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
    for (const Stmt* st : statements) walk(frame, *st);
}

void Walk::run_outer(const Body& body, const Stmt* loop) {
    m_refuse = false;
    Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
    outer(frame, body, loop);
}

void Walk::run_arguments(const Expr& call) {
    Frame frame{nullptr, m_s.kernel.scope, m_s.kernel_memory[int(m_core)], {}};
    for (std::size_t i = 1; i < call.args.size(); ++i) expr(frame, call.args[i]);
}

bool Walk::outer(Frame& frame, const Body& body, const Stmt* loop) {
    for (const Stmt& st : body) {
        if (&st == loop) return false;
        if (Scan::inside(st, *loop)) return outer(frame, st.body, loop) && outer(frame, st.orelse, loop);
        walk(frame, st);
    }
    return true;
}

void Walk::walk(Frame& frame, const Body& body) {
    for (const Stmt& st : body) walk(frame, st);
}

void Walk::walk(Frame& frame, const Stmt& st) {
    switch (st.kind) {
    case StmtKind::function: return;
    case StmtKind::assign:
    case StmtKind::annotated: assign(frame, st); return;
    case StmtKind::augmented:
        expr(frame, st.value);
        element(frame, st.targets[0], isa::Role::read_write);
        return;
    case StmtKind::branch: branch(frame, st); return;
    case StmtKind::loop:
    case StmtKind::while_loop: repeat(frame, st); return;
    case StmtKind::with:
        if (m_stage == nullptr) {
            std::optional<isa::Core> core = core_of(st);
            if (core && *core != m_core) return;
        }
        for (const Expr& item : st.targets) expr(frame, item);
        walk(frame, st.body);
        return;
    case StmtKind::ret: returned(frame, st); return;
    default:
        expr(frame, st.value);
        for (const Expr& t : st.targets) expr(frame, t);
        walk(frame, st.body);
        walk(frame, st.orelse);
    }
}

/// What a body counts that does not always run.
Counts Walk::sometimes(Frame& frame, const Body& body) {
    Counts inside;
    std::swap(inside, m_counts);
    const bool was = frame.conditional;
    frame.conditional = true;
    walk(frame, body);
    frame.conditional = was;
    std::swap(inside, m_counts);
    return inside;
}

/// Both ways of a branch: the fewest and the most slots that one of them takes.
void Walk::branch(Frame& frame, const Stmt& st) {
    expr(frame, st.value);
    Counts a = sometimes(frame, st.body), b = sometimes(frame, st.orelse);
    for (auto& [buffer, c] : b) a[buffer];
    for (auto& [buffer, c] : a) {
        const Count& o = b[buffer];
        Count joined = c.first.valid() ? c : o;
        joined.least = std::min(c.least, o.least), joined.most = std::max(c.most, o.most), joined.other = std::max(c.other, o.other), joined.subscripts = std::max(c.subscripts, o.subscripts);
        m_counts[buffer].add(joined);
    }
    bool returns = false;
    walk_here(st.body, [&](const Stmt& x) { returns |= x.kind == StmtKind::ret; });
    walk_here(st.orelse, [&](const Stmt& x) { returns |= x.kind == StmtKind::ret; });
    if (returns) frame.behind_return = true;
}

/// A loop body may run never, once or often.
void Walk::repeat(Frame& frame, const Stmt& st) {
    expr(frame, st.value);
    for (const Body* body : {&st.body, &st.orelse})
        for (auto& [buffer, c] : sometimes(frame, *body)) {
            c.least = 0;
            if (c.most > 0) c.most = 2;
            m_counts[buffer].add(c);
        }
}

void Walk::returned(Frame& frame, const Stmt& st) {
    expr(frame, st.value);
    if (m_chain.empty() || !m_stage) return;
    Memory m = m_s.memory_of(st.value, frame.names, frame.scope);
    if (m.kind != Memory::Kind::tile && m.kind != Memory::Kind::group) return;
    Diagnostic& d = m_s.report(Code::helper_returns_tile, st.at, "`" + m_chain.back().first->name + "`, called by stage `" + m_stage->name + "`, returns a " +
                                                                      (m.kind == Memory::Kind::tile ? "tile" : "tile group"));
    label_chain(d);
    d.advice.push_back("take the slot in the stage and pass it to the helper");
}

void Walk::assign(Frame& frame, const Stmt& st) {
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

void Walk::pick(Frame& frame, const std::string& name, const Expr& value, const Memory& group) {
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

void Walk::refuse_pick_in_loop(BufferId g, Span at) {
    const Buffer& b = m_s.model[g];
    for (const Diagnostic& d : m_s.diagnostics)
        if (d.code == Code::channel_pick_in_loop && d.at == at) return;
    Diagnostic& d = m_s.report(Code::channel_pick_in_loop, at, "a slot of " + std::string(b.channel() ? "cross-core buffer `" : "`") + b.name + "`" + (b.channel() ? "" : ", which shares bytes with a cross-core buffer,") +
                                                                   " is taken in the pipeline loop outside a stage");
    d.labels.push_back({b.name_at, "declared here"});
    label_chain(d);
    d.advice.push_back("take the slot inside the stage: a slot belongs to a task");
}

void Walk::element(Frame& frame, const Expr& target, isa::Role role) {
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

void Walk::expr(Frame& frame, const Expr& e) {
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

void Walk::inline_pick(Frame& frame, const Expr& e, const Memory& group) {
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

} // namespace pto::pipeline
