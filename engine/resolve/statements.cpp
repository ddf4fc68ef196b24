/// Statements: assignment in its forms, sections, returns. Control flow has its own file.

#include "engine/resolve/target.hpp"

namespace pto::resolve {

using syntax::Expr;
using syntax::ExprKind;
using syntax::Stmt;
using syntax::StmtKind;

Flow Target::run(const syntax::Body& body) {
    for (const Stmt& s : body)
        if (run(s) == Flow::ends) return Flow::ends; // the rest can never run
    return Flow::next;
}

Flow Target::run(const Stmt& s) {
    m_final = false;
    switch (s.kind) {
    case StmtKind::expression: run_expression(s); return Flow::next;
    case StmtKind::assign:
    case StmtKind::annotated:
    case StmtKind::augmented: run_assign(s); return Flow::next;
    case StmtKind::loop: return run_for(s);
    case StmtKind::while_loop: return run_while(s);
    case StmtKind::branch: return run_branch(s);
    case StmtKind::with: return run_with(s);
    case StmtKind::ret: return run_return(s);
    case StmtKind::break_:
    case StmtKind::continue_:
        if (m_frame->loops == 0) {
            report(Code::jump_outside_loop, s.at, std::string(text(s.at)) + " stands in no loop");
            return Flow::ends;
        }
        if (s.kind == StmtKind::break_) emit(ir::Break{}, s.at);
        else emit(ir::Continue{}, s.at);
        return Flow::ends;
    case StmtKind::pass: return Flow::next;
    case StmtKind::function:
        report(Code::unsupported_statement, s.at, "the function `" + s.text + "` is defined inside a kernel").fix =
            Fix{"define it outside; a kernel may call functions of its module", {}};
        return Flow::next;
    case StmtKind::other:
        report_statement(s);
        return Flow::next;
    }
    return Flow::next;
}

void Target::report_statement(const Stmt& s) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> instead{{
        {"assert", "use pl.pto_assert(condition), which prints and goes on"},
        {"raise", "a kernel has no exceptions; pl.trap() ends this core's program"},
        {"try", "a kernel has no exceptions; test the values beforehand"},
        {"import", "import at the top of the module; kernels see its names"},
        {"from", "import at the top of the module; kernels see its names"},
        {"match", "write if / elif / else"},
        {"del", "leave it out; a name may be bound again"},
        {"global", "kernels do not change module variables; results go to a tensor parameter"},
    }};
    std::string_view all = text(s.at);
    std::string_view word = all.substr(0, all.find_first_of(" \t:(\n"));
    Diagnostic& d = report(Code::unsupported_statement, s.at, "`" + std::string(word) + "` is no statement of the language");
    for (const auto& [what, use] : instead)
        if (word == what) d.fix = Fix{std::string(use), {}};
}

void Target::run_expression(const Stmt& s) {
    if (s.is_docstring || s.value.kind == ExprKind::string || s.value.kind == ExprKind::ellipsis) return;
    if (s.value.kind == ExprKind::call) eval_call(s.value);
    else eval(s.value);
}

void Target::run_assign(const Stmt& s) {
    if (s.targets.size() != 1) {
        report(Code::assign_target, s.at, "this assigns to " + std::to_string(s.targets.size()) + " targets at once").fix =
            Fix{"write one assignment per line", {}};
        return;
    }
    const Expr& target = s.targets[0];
    if (s.kind == StmtKind::annotated && s.value.kind == ExprKind::absent) {
        report(Code::annotation_without_value, s.at, "`" + std::string(text(target.at)) + "` is annotated but gets no value");
        return;
    }
    if (s.kind == StmtKind::augmented) { // x += e is x = x + e
        Value left = eval(target), right = eval(s.value);
        assign_to(target, binary(s.text, left, right, s.at), s.at);
        return;
    }
    Value v;
    if (s.value.kind == ExprKind::call) {
        Targets targets{&target, target.kind == ExprKind::tuple || target.kind == ExprKind::list ? target.args.size() : 1};
        v = eval_call(s.value, targets);
        if (v.is(Kind::unbound)) { // an operation or helper without a result
            report(Code::void_result, s.value.at, "`" + std::string(text(s.value.args[0].at)) + "` gives no value");
            v = error_value();
        }
    } else {
        v = eval(s.value);
    }
    assign_to(target, v, s.at);
}

void Target::assign_to(const Expr& target, const Value& v, Span at) {
    switch (target.kind) {
    case ExprKind::name: bind(target.text, v, at); return;
    case ExprKind::tuple:
    case ExprKind::list: {
        if (v.is(Kind::error)) {
            for (const Expr& t : target.args)
                if (t.kind == ExprKind::name) bind(t.text, v, at);
            return;
        }
        if (!v.is(Kind::tuple) || v.size() != target.args.size()) {
            report(Code::unpack_count, at, std::to_string(target.args.size()) + " names on the left, " + describe(v) + " on the right");
            for (const Expr& t : target.args)
                if (t.kind == ExprKind::name) bind(t.text, error_value(), at);
            return;
        }
        // All values are taken before the first name changes: a, b = b, a swaps.
        Value taken = v;
        bool crosses = false;
        for (const Value& e : v.more->elements) crosses |= e.is(Kind::scalar) || e.is(Kind::tile);
        if (crosses && v.size() > 1) {
            taken = slots_like(v, "", false, at);
            store(taken, v, at);
            taken = known(v, taken);
        }
        for (std::size_t i = 0; i < target.args.size(); ++i) {
            if (target.args[i].kind != ExprKind::name) {
                report(Code::assign_target, target.args[i].at, "an unpacked value goes to a plain name");
                continue;
            }
            if (target.args[i].text != "_") bind(target.args[i].text, taken[i], at);
        }
        return;
    }
    case ExprKind::attribute:
    case ExprKind::subscript: assign_element(target, v, at); return;
    default: report(Code::assign_target, target.at, "`" + std::string(text(target.at)) + "` cannot be assigned to");
    }
}

void Target::assign_element(const Expr& target, const Value& v, Span at) {
    Value base = eval(target.args[0]);
    if (base.is(Kind::error) || v.is(Kind::error)) return;
    auto write_field = [&](const Value& ref, std::int32_t field, ir::ExprId element, const Value& what) {
        const ir::Field& f = m_fn.structs[std::size_t(ref.id)].fields[std::size_t(field)];
        if (!what.is_scalar()) {
            report(Code::not_a_scalar, at, "field `" + f.name + "` gets " + describe(what));
            return;
        }
        ir::StructRef r{ir::StructId{ref.id}, ref.expr};
        ir::ExprId value = expr_as(what, f.dtype, at);
        emit(ir::FieldAssign{r, field, element, value}, at);
    };
    if (target.kind == ExprKind::attribute) {
        if (base.is(Kind::record)) {
            report(Code::record_assign, target.at, "`" + target.text + "` belongs to a make_tuple, which cannot change").fix = Fix{"use pl.struct for values that change", {}};
            return;
        }
        if (!base.is(Kind::structure)) {
            report(Code::assign_target, target.at, "`" + std::string(text(target.args[0].at)) + "` is " + describe(base) + " and has no fields to assign");
            return;
        }
        if (base.read_only) {
            report(Code::record_assign, target.at, "tiling data cannot change inside a kernel");
            return;
        }
        const auto& fields = m_fn.structs[std::size_t(base.id)].fields;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].name != target.text) continue;
            if (fields[i].length == 0) return write_field(base, std::int32_t(i), {}, v);
            if (!v.is(Kind::tuple) || v.size() != std::size_t(fields[i].length)) {
                report(Code::struct_form, at, "`" + target.text + "` holds " + std::to_string(fields[i].length) + " elements, this is " + describe(v));
                return;
            }
            for (std::size_t e = 0; e < v.size(); ++e) write_field(base, std::int32_t(i), literal(std::int64_t(e), isa::DType::index, at), v[e]);
            return;
        }
        attribute_of(base, target); // reports the unknown field
        return;
    }
    if (base.is(Kind::array_field)) {
        Value index = eval(target.args[1]);
        if (index.is(Kind::error)) return;
        const ir::Field& f = m_fn.structs[std::size_t(base.id)].fields[std::size_t(base.field)];
        if (base.read_only) {
            report(Code::record_assign, target.at, "tiling data cannot change inside a kernel");
            return;
        }
        if (!index.is_scalar() || isa::is_float(index.dtype)) {
            report(Code::struct_index, target.args[1].at, "the index of `" + f.name + "` is " + describe(index));
            return;
        }
        if (index.is_number() && (index.integer < 0 || index.integer >= f.length)) {
            report(Code::struct_index, target.args[1].at, "index " + std::to_string(index.integer) + " of `" + f.name + "`, which has " + std::to_string(f.length) + " elements");
            return;
        }
        return write_field(base, base.field, expr_as(index, isa::DType::index, at), v);
    }
    if (base.is(Kind::tile) || base.is(Kind::tensor)) {
        auto linear = linear_index(base, target);
        const isa::OpRow* row = m_shared.catalogue.find("setval");
        if (!linear || !row) return;
        if (!v.is_scalar()) {
            report(Code::not_a_scalar, at, "an element gets " + describe(v));
            return;
        }
        isa::DType t = base.is(Kind::tile) ? m_fn.tiles[std::size_t(base.id)].type.dtype : m_fn.tensors[std::size_t(base.id)].dtype;
        if (!isa::is_scalar(t)) {
            report(Code::storage_only, target.at, std::string(isa::language_name(t)) + " elements cannot be written one by one");
            return;
        }
        ir::Op op;
        op.row = row;
        if (base.is(Kind::tile)) op.operands.emplace_back(ir::TileVarId{base.id});
        else op.operands.emplace_back(ir::TensorId{base.id});
        op.operands.emplace_back(*linear);
        op.operands.emplace_back(expr_as(v, t, at));
        op.operand_spans = {target.args[0].at, target.args[1].at, at};
        for (const isa::Keyword& k : row->keywords) op.attributes.push_back(fallback(k));
        settle_pipe(op);
        emit(std::move(op), at);
        return;
    }
    report(Code::assign_target, target.at, describe(base) + " has no elements to assign");
}

Flow Target::run_with(const Stmt& s) {
    if (s.targets.size() != 1) {
        report(Code::with_form, s.header, "`with` holds " + std::to_string(s.targets.size()) + " items, the language one");
        return run(s.body);
    }
    const Expr& item = s.targets[0];
    std::string path = item.kind == ExprKind::call ? path_of(item.args[0]) : std::string();
    bool cube = path == "pl.section_cube", vector = path == "pl.section_vector";
    if (!cube && !vector) {
        report(Code::with_form, item.at, "`" + std::string(text(item.at)) + "` is no section").fix = Fix{"use pl.section_cube() or pl.section_vector()", {}};
        return run(s.body);
    }
    if (item.args.size() != 1 || !item.keywords.empty()) report(Code::with_form, item.at, "a section takes no arguments");
    if (s.header.end > item.at.end && s.header.file == item.at.file)
        if (std::string_view rest = text(Span{item.at.file, item.at.end, s.header.end}); rest.find("as ") != std::string_view::npos)
            report(Code::with_form, s.header, "a section gives nothing to name with `as`");
    (cube ? m_shared.sees_cube : m_shared.sees_vector) = true;
    if (cube != (m_core == isa::Core::cube)) return Flow::next; // the other core's
    return run(s.body);
}

Flow Target::run_return(const Stmt& s) {
    Frame& f = *m_frame;
    bool has_value = s.value.kind != ExprKind::absent && s.value.kind != ExprKind::none;
    if (f.kind == FrameKind::kernel) {
        if (has_value) report(Code::return_value, s.value.at, "a kernel returns `" + std::string(text(s.value.at)) + "`").fix = Fix{"write results to a tensor parameter", {}};
        emit(ir::Return{}, s.at);
        return Flow::ends;
    }
    if (f.kind == FrameKind::vector) {
        report(Code::vector_return, s.at, "a vector function returns");
        return Flow::ends;
    }
    if (f.kind == FrameKind::stage && has_value) {
        report(Code::stage_returns, s.value.at, "stage `" + f.function->name + "` returns `" + std::string(text(s.value.at)) + "`");
        return Flow::ends;
    }
    Value v = has_value ? eval(s.value) : none_value();
    bool tail = f.branches == 0 && f.loops == 0 && !f.nested_return;
    if (tail) {
        f.result = v;
        f.has_result = true;
        f.result_at = s.at;
        return Flow::ends;
    }
    // A return from inside a branch or loop: the value goes to slots, the rest of the function is skipped.
    if (!v.is(Kind::error)) {
        m_copy_structs = true;
        if (!f.has_result) {
            bool integer = v.is_scalar() && isa::is_int(v.dtype) && v.dtype != isa::DType::uint64; // the next return may be wider
            f.result = integer ? slots_like(integer_value(0), f.function->name, true, s.at) : slots_like(v, f.function->name, true, s.at);
            f.has_result = true;
            f.result_at = s.at;
        } else if (!f.result.is(Kind::error) && !compatible(f.result, v, Match::convertible)) {
            report(Code::return_types, s.at, "`" + f.function->name + "` returns " + describe(v) + " here and " + describe(f.result) + " elsewhere")
                .labels.push_back({f.result_at, "the other return"});
            f.result = error_value();
        }
        if (!f.result.is(Kind::error)) store(f.result, v, s.at);
        m_copy_structs = false;
    }
    f.nested_return = true;
    if (f.loops > 0) {
        if (!f.return_flag.valid()) f.return_flag = new_variable(f.function->name + "_returned", isa::DType::boolean, s.at);
        f.return_in_loop = true;
        emit(ir::Assign{f.return_flag, literal(1, isa::DType::boolean, s.at)}, s.at);
    }
    emit(ir::Break{}, s.at);
    return Flow::ends;
}

} // namespace pto::resolve
