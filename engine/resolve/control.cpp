/// Branches and loops: which names change, what is known after them, where joins find their values.

#include "engine/resolve/target.hpp"

#include <algorithm>
#include <array>

namespace pto::resolve {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;

Value Target::condition(const Expr& e) {
    const Expr* test = &e;
    bool forced = e.kind == ExprKind::call && path_of(e.args[0]) == "pl.constexpr";
    if (forced && e.args.size() == 2) test = &e.args[1];
    Value v = eval(*test);
    if (!v.is(Kind::error)) v = truth(v, test->at);
    if (forced && !v.is(Kind::error) && !v.is_number()) v = fail(Code::constexpr_condition, test->at, "`" + std::string(text(test->at)) + "` is not known at compile time");
    if (v.is(Kind::error)) return v;
    m_facts.if_const[e.at] = v.is_number() ? std::optional(v.integer != 0) : std::nullopt;
    return v;
}

// ---------------------------------------------------------------- branches

std::vector<std::pair<int, State>> Target::roll_back(std::size_t mark) {
    std::vector<std::pair<int, State>> after;
    for (std::size_t i = m_undo.size(); i-- > mark;) {
        int index = m_undo[i].index;
        State& now = m_frame->names[std::size_t(index)].state;
        if (std::none_of(after.begin(), after.end(), [&](const auto& a) { return a.first == index; })) after.emplace_back(index, now);
        bool read = now.header_read;
        now = std::move(m_undo[i].old);
        now.header_read |= read;
    }
    m_undo.resize(mark);
    return after;
}

Value Target::meeting_slots(Name& n, const State& a, const State& b) {
    // Integers of different types meet in the wider one.
    const State& wide = a.value.is_scalar() && b.value.is_scalar() && isa::is_int(a.value.dtype) && isa::is_int(b.value.dtype) &&
                                isa::bits(b.value.dtype) > isa::bits(a.value.dtype)
                            ? b
                            : a;
    const State& narrow = &wide == &a ? b : a;
    if (compatible(n.slots, wide.value, Match::type) && compatible(n.slots, narrow.value, Match::convertible)) return n.slots;
    if (wide.value.is_scalar()) {
        bool integers = isa::is_int(wide.value.dtype) && isa::is_int(narrow.value.dtype);
        if (!narrow.value.is_scalar() || (!integers && wide.value.dtype != narrow.value.dtype)) return {};
    } else if (!wide.value.is(Kind::tuple) && !wide.value.is(Kind::record) && !compatible(wide.value, narrow.value, Match::convertible)) {
        return {};
    }
    Value slots = slots_like(wide.value, n.text, true, wide.at);
    return compatible(slots, narrow.value, Match::convertible) ? slots : Value{};
}

void Target::merge(std::vector<std::pair<int, State>>& then, std::vector<std::pair<int, State>>& other, ir::Body& then_body, ir::Body& other_body) {
    auto take = [](std::vector<std::pair<int, State>>& list, int index) -> State* {
        for (auto& [i, s] : list)
            if (i == index) return &s;
        return nullptr;
    };
    std::vector<int> touched;
    for (auto& [i, s] : then) touched.push_back(i);
    for (auto& [i, s] : other)
        if (!take(then, i)) touched.push_back(i);
    std::sort(touched.begin(), touched.end());
    ir::Body* out = m_out;
    for (int index : touched) {
        Name& n = m_frame->names[std::size_t(index)];
        State before = n.state;
        State a = take(then, index) ? *take(then, index) : before;
        State b = take(other, index) ? *take(other, index) : before;
        State joined;
        joined.at = take(then, index) ? a.at : b.at;
        joined.in_slot = true;
        if (a.value.is(Kind::error) || b.value.is(Kind::error)) {
            joined.value = error_value();
        } else if (a.value.is(Kind::conflict) || b.value.is(Kind::conflict)) {
            joined.value = a.value.is(Kind::conflict) ? a.value : b.value;
        } else if (a.value.is(Kind::unbound) || b.value.is(Kind::unbound)) {
            // Bound on one path only: the name leaks, its constant does not.
            State& s = a.value.is(Kind::unbound) ? b : a;
            m_out = a.value.is(Kind::unbound) ? &other_body : &then_body;
            Value slots = compatible(n.slots, s.value, Match::type) ? n.slots : slots_like(s.value, n.text, true, s.at);
            store(slots, s.value, s.at);
            joined.value = n.slots = slots;
        } else if (Value slots = meeting_slots(n, a, b); !slots.is(Kind::unbound)) {
            if (a.value.is(Kind::tile) && mutex_count(a.value) != mutex_count(b.value))
                report(Code::merge_mutex, joined.at, "`" + std::string(n.text) + "` carries " + std::to_string(mutex_count(a.value)) + " mutex ids on one path and " +
                                                         std::to_string(mutex_count(b.value)) + " on the other")
                    .labels.push_back({b.at, "the other path"});
            m_out = &then_body;
            if (!(a.in_slot && a.value.is_number() && same(slots, n.slots))) store(slots, a.value, a.at);
            m_out = &other_body;
            if (!(b.in_slot && b.value.is_number() && same(slots, n.slots))) store(slots, b.value, b.at);
            joined.value = n.slots = slots;
        } else {
            joined.value = text_value(Kind::conflict, describe(a.value) + " on one path and " + describe(b.value) + " on the other");
        }
        m_out = out;
        bool header = a.header && b.header;
        set_state(index, std::move(joined));
        n.state.header = header;
        n.state.header_read |= a.header_read || b.header_read;
    }
    m_out = out;
}

Flow Target::run_branch(const Stmt& s) {
    // A ring slot's flag guards a stage of the generated text: the slot also says which task the stage works on.
    const Expr& test = s.value;
    bool guard = test.kind == ExprKind::attribute && test.text == "_pl_is_valid";
    if (guard) m_guards.push_back(eval(test.args[0]));
    Value c = condition(test);
    Flow flow = Flow::next;
    if (c.is(Kind::error)) {
        // What the condition meant is unknown; both arms are read for what they say on their own.
        c = scalar_value(literal(1, isa::DType::boolean, test.at), isa::DType::boolean);
    }
    if (c.is_number()) {
        flow = run(c.integer ? s.body : s.orelse);
    } else {
        ir::Branch branch;
        branch.condition = expr_of(c, test.at);
        ir::Body* out = m_out;
        std::size_t mark = m_undo.size();
        ++m_frame->branches;
        m_out = &branch.then;
        Flow then_flow = run(s.body);
        auto then = roll_back(mark);
        m_out = &branch.otherwise;
        Flow other_flow = run(s.orelse);
        auto other = roll_back(mark);
        --m_frame->branches;
        m_out = out;
        if (then_flow == Flow::ends || other_flow == Flow::ends) {
            // Only one path goes on: what it knows stays true. A write there is still a write for enclosing joins.
            auto& alive = then_flow == Flow::ends ? other : then;
            for (auto& [i, state] : alive) {
                State next = state;
                set_state(i, std::move(next));
                m_frame->names[std::size_t(i)].state.header = state.header;
            }
            flow = then_flow == Flow::ends && other_flow == Flow::ends ? Flow::ends : Flow::next;
        } else {
            merge(then, other, branch.then, branch.otherwise);
        }
        if (!branch.then.empty() || !branch.otherwise.empty()) emit(std::move(branch), s.at);
    }
    if (guard) m_guards.pop_back();
    return flow;
}

// ---------------------------------------------------------------- loops

void Target::collect_written(const syntax::Body& body, Written& out) {
    auto add = [&](std::string_view name) {
        if (std::find(out.names.begin(), out.names.end(), name) == out.names.end()) out.names.push_back(name);
    };
    auto add_target = [&](const Expr& t, auto& self) -> void {
        if (t.kind == ExprKind::name) add(t.text);
        else if (t.kind == ExprKind::tuple || t.kind == ExprKind::list)
            for (const Expr& e : t.args) self(e, self);
    };
    for (const Stmt& s : body) {
        switch (s.kind) {
        case StmtKind::assign:
        case StmtKind::annotated:
        case StmtKind::augmented:
            for (const Expr& t : s.targets) add_target(t, add_target);
            break;
        case StmtKind::loop:
        case StmtKind::while_loop: {
            const Written& inner = written(s);
            for (std::string_view n : inner.names) add(n);
            for (const Expr& t : s.targets) add_target(t, add_target);
            out.jumps |= inner.jumps;
            break;
        }
        case StmtKind::branch:
            collect_written(s.body, out);
            collect_written(s.orelse, out);
            break;
        case StmtKind::with: {
            const Expr* item = s.targets.empty() ? nullptr : &s.targets[0];
            std::string path = item && item->kind == ExprKind::call ? item->args[0].dotted() : std::string();
            std::string_view other = m_core == isa::Core::cube ? ".section_vector" : ".section_cube";
            bool skipped = path.size() > other.size() && std::string_view(path).substr(path.size() - other.size()) == other;
            if (!skipped) collect_written(s.body, out);
            break;
        }
        case StmtKind::break_:
        case StmtKind::continue_:
        case StmtKind::ret: out.jumps = true; break;
        default: break;
        }
    }
}

const Written& Target::written(const Stmt& loop) {
    auto found = m_written.find(&loop);
    if (found != m_written.end()) return found->second;
    Written w;
    collect_written(loop.body, w);
    return m_written.emplace(&loop, std::move(w)).first->second;
}

std::vector<Target::LoopEntry> Target::enter_loop(const Written& w, Span at) {
    std::vector<LoopEntry> entries;
    entries.reserve(w.names.size());
    for (std::string_view name : w.names) {
        int i = intern(*m_frame, name);
        Name& n = m_frame->names[std::size_t(i)];
        LoopEntry e{i, {}, false, n.state.header, n.state.header_read};
        const Value v = n.state.value;
        if (!v.is(Kind::unbound) && !v.is(Kind::error) && !v.is(Kind::conflict)) {
            e.bound = true;
            // What the name holds may change, so the constant becomes a run-time value in its slot.
            Value slots = compatible(n.slots, v, Match::type) ? n.slots : slots_like(v, name, true, at);
            if (!(n.state.in_slot && v.is_number())) store(slots, v, at);
            State s;
            s.value = e.slots = slots;
            s.at = n.state.at;
            s.in_slot = true;
            m_frame->names[std::size_t(i)].slots = slots;
            set_state(i, std::move(s));
            State& now = m_frame->names[std::size_t(i)].state;
            now.header = true;
            now.header_read = false;
        }
        entries.push_back(std::move(e));
    }
    ++m_frame->loops;
    m_frame->jumpy_loops += w.jumps;
    return entries;
}

void Target::close_iteration(const std::vector<LoopEntry>& entries, Span) {
    for (const LoopEntry& e : entries) {
        Name& n = m_frame->names[std::size_t(e.index)];
        State& now = n.state;
        if (!e.bound || now.header || now.value.is(Kind::error)) continue;
        if (now.value.is(Kind::conflict)) continue;
        if (compatible(e.slots, now.value, Match::convertible)) {
            if (!(now.in_slot && now.value.is_number() && same(n.slots, e.slots))) store(e.slots, now.value, now.at);
            continue;
        }
        std::string what = describe(e.slots) + " before the loop and " + describe(now.value) + " after one round of it";
        if (now.header_read) {
            report(Code::merge_types, now.at, "`" + std::string(n.text) + "` is " + what);
            now.value = error_value();
        } else {
            now.value = text_value(Kind::conflict, what);
        }
    }
}

void Target::leave_loop(const std::vector<LoopEntry>& entries) {
    for (const LoopEntry& e : entries) {
        Name& n = m_frame->names[std::size_t(e.index)];
        State now = n.state;
        bool untouched = now.header;
        if (!now.value.is(Kind::error) && !now.value.is(Kind::conflict)) {
            if (e.bound) {
                now.value = n.slots = e.slots;
                now.in_slot = true;
            } else if (now.in_slot && !now.value.is(Kind::unbound) && !n.slots.is(Kind::unbound) && compatible(n.slots, now.value, Match::type)) {
                now.value = n.slots; // no constant survives a loop that may have run no round
            }
        }
        bool read = now.header_read;
        set_state(e.index, std::move(now));
        State& s = m_frame->names[std::size_t(e.index)].state;
        s.header = e.header && (untouched || e.bound);
        s.header_read = e.header_read || (e.header && read);
    }
}

void Target::after_loop_return() {
    // A return inside the loop broke out of it; it has to leave what surrounds the loop as well.
    ir::Branch leave;
    leave.condition = read(m_frame->return_flag, {});
    leave.then.push_back(ir::Stmt{ir::Break{}, {}});
    emit(std::move(leave), {});
}

bool Target::range_bounds(const Expr& call, Value& start, Value& stop, Value& step) {
    if (!call.keywords.empty()) {
        report(Code::loop_arguments, call.keywords[0].name_at, "pl.range takes its bounds by position");
        return false;
    }
    std::size_t n = call.args.size() - 1;
    if (n < 1 || n > 3) {
        report(Code::loop_arguments, call.at, "pl.range with " + std::to_string(n) + " arguments");
        return false;
    }
    start = integer_value(0);
    step = integer_value(1);
    std::array<Value*, 3> into = n == 1 ? std::array<Value*, 3>{&stop, nullptr, nullptr} : std::array<Value*, 3>{&start, &stop, &step};
    for (std::size_t i = 0; i < n; ++i) {
        Value v = eval(call.args[i + 1]);
        if (v.is(Kind::error)) return false;
        if (!v.is_scalar() || isa::is_float(v.dtype)) {
            report(Code::loop_arguments, call.args[i + 1].at, "a bound of pl.range is " + describe(v));
            return false;
        }
        *into[i] = v;
    }
    if (step.is_number() && step.integer == 0) {
        report(Code::loop_step, call.args[3].at, "the step is 0");
        return false;
    }
    return true;
}

Flow Target::run_for(const Stmt& s) {
    const Expr& target = s.targets[0];
    const Expr& iterator = s.value;
    std::string path = iterator.kind == ExprKind::call ? path_of(iterator.args[0]) : std::string();
    bool good = path == "pl.range";
    if (!good) {
        Diagnostic& d = report(Code::loop_iterator, iterator.at, "a loop runs over `" + std::string(text(iterator.at)) + "`");
        if (iterator.kind == ExprKind::call && iterator.args[0].kind == ExprKind::name && iterator.args[0].text == "range")
            d.fix = Fix{"write pl.range", {{iterator.args[0].at, "pl.range"}}};
    }
    if (target.kind != ExprKind::name) report(Code::loop_target, target.at, "the loop variable is `" + std::string(text(target.at)) + "`");
    Value start = integer_value(0), stop = integer_value(0), step = integer_value(1);
    if (good) good = range_bounds(iterator, start, stop, step);
    ir::Loop loop;
    auto index = [&](const Value& v) { return expr_as(v, isa::DType::index, iterator.at); };
    loop.start = index(start);
    loop.stop = index(stop);
    loop.step = index(step);
    const Written& w = written(s);
    auto entries = enter_loop(w, s.header);
    std::string_view name = target.kind == ExprKind::name ? std::string_view(target.text) : std::string_view();
    bool rewritten = std::find(w.names.begin(), w.names.end(), name) != w.names.end();
    loop.var = new_variable(rewritten ? "" : name, isa::DType::index, target.at);
    ir::Body* out = m_out;
    m_out = &loop.body;
    Value v = scalar_value({}, isa::DType::index);
    v.id = loop.var.index;
    if (rewritten) { // the body's own copy: assigning it does not steer the loop
        bind(name, v, target.at);
    } else if (!name.empty()) {
        int i = intern(*m_frame, name);
        State state;
        state.value = good ? v : error_value();
        state.at = target.at;
        state.in_slot = true;
        m_frame->names[std::size_t(i)].slots = v;
        set_state(i, std::move(state));
    }
    if (name.empty()) // reported above; its names are no second finding
        for (const Expr& t : target.args)
            if (t.kind == ExprKind::name) bind(t.text, error_value(), t.at);
    bool outer_return = m_frame->return_in_loop;
    m_frame->return_in_loop = false;
    // Generated serial text counts its tasks in a variable that the loop's last statement advances.
    const Stmt* last = s.body.empty() ? nullptr : &s.body.back();
    bool counts = last && (last->kind == StmtKind::assign || last->kind == StmtKind::augmented) && last->targets[0].kind == ExprKind::name &&
                  last->targets[0].text.rfind("_pl_sync_id", 0) == 0;
    if (counts) m_counters.push_back(last->targets[0].text);
    Flow flow = run(s.body);
    if (counts) m_counters.pop_back();
    if (flow == Flow::next) close_iteration(entries, s.at);
    m_out = out;
    m_frame->jumpy_loops -= w.jumps;
    --m_frame->loops;
    leave_loop(entries);
    emit(std::move(loop), s.at);
    if (m_frame->return_in_loop) after_loop_return();
    m_frame->return_in_loop |= outer_return;
    return Flow::next;
}

Flow Target::run_while(const Stmt& s) {
    const Written& w = written(s);
    auto entries = enter_loop(w, s.header);
    ir::Forever loop;
    ir::Body* out = m_out;
    m_out = &loop.body;
    Value c = condition(s.value);
    bool never = c.is_number() && !c.integer;
    if (!c.is_number() && !c.is(Kind::error)) {
        ir::Branch leave;
        leave.condition = expr_of(unary("not", c, s.value.at), s.value.at);
        leave.then.push_back(ir::Stmt{ir::Break{}, s.value.at});
        emit(std::move(leave), s.value.at);
    }
    bool outer_return = m_frame->return_in_loop;
    m_frame->return_in_loop = false;
    if (!never) {
        Flow flow = run(s.body);
        if (flow == Flow::next) close_iteration(entries, s.at);
    }
    m_out = out;
    m_frame->jumpy_loops -= w.jumps;
    --m_frame->loops;
    leave_loop(entries);
    if (!never) emit(std::move(loop), s.at);
    if (m_frame->return_in_loop) after_loop_return();
    m_frame->return_in_loop |= outer_return;
    return Flow::next;
}

} // namespace pto::resolve
