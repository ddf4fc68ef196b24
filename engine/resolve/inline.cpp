/// Calls of the user's functions: helpers and stages become scopes, vector functions one item of pipe V.

#include "engine/ir/walk.hpp"
#include "engine/isa/roles.hpp"
#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

using isa::DType;
using syntax::Expr;
using syntax::ExprKind;
using syntax::FunctionRef;

bool Target::check_annotation(const syntax::Parameter& p, const Value& v, Frame& callee, Span at) {
    const Expr& a = p.annotation;
    if (a.kind == ExprKind::absent || v.is(Kind::error)) return true;
    Frame* caller = m_frame;
    m_frame = &callee; // annotations are read in the function's own scope
    bool good = true;
    auto wrong = [&](std::string needs) {
        m_frame = caller;
        report(Code::helper_annotation, at, "`" + p.name + "` is annotated as " + needs + ", this is " + describe(v)).labels.push_back({a.at, "annotated here"});
        m_frame = &callee;
        good = false;
    };
    if (a.kind == ExprKind::subscript) {
        std::string path = path_of(a.args[0]);
        if (path == "pl.Tensor") {
            if (!v.is(Kind::tensor)) {
                wrong("a tensor");
            } else {
                const ir::Tensor t = m_fn.tensors[std::size_t(v.id)];
                const Expr& parts = a.args[1];
                const Expr* dims = parts.kind == ExprKind::tuple && !parts.args.empty() ? &parts.args[0] : nullptr;
                if (dims && (dims->kind == ExprKind::list || dims->kind == ExprKind::tuple)) {
                    bool open = !dims->args.empty() && dims->args.back().kind == ExprKind::ellipsis;
                    std::size_t rank = dims->args.size() - open;
                    if (open ? t.dims.size() < rank : t.dims.size() != rank) wrong("a tensor of " + std::to_string(rank) + " axes");
                    for (std::size_t i = 0; good && i < rank; ++i) {
                        std::string dim = path_of(dims->args[i]);
                        if (dim == "pl.DYNAMIC") continue;
                        if (dim == "pl.STATIC") {
                            if (t.dims[i].dynamic) wrong("a tensor whose axis " + std::to_string(i) + " is known");
                            continue;
                        }
                        Value d = eval(dims->args[i]);
                        if (d.is(Kind::integer) && (t.dims[i].dynamic || t.dims[i].size != d.integer)) wrong("a tensor of size " + std::to_string(d.integer) + " in axis " + std::to_string(i));
                    }
                    if (good && parts.args.size() > 1) {
                        Value d = eval(parts.args[1]);
                        if (d.is(Kind::dtype) && d.dtype != t.dtype) wrong("a tensor of " + std::string(isa::language_name(d.dtype)));
                    }
                }
            }
        } else if (path == "pl.Ptr") {
            if (!v.is(Kind::pointer) && !v.is(Kind::none)) wrong("a pointer");
        } else if (path == "pl.Tile") {
            if (!v.is(Kind::tile) && !v.is(Kind::memory)) wrong("a tile");
        }
    } else if (std::string path = path_of(a); path.rfind("pl.DT_", 0) == 0) {
        auto t = isa::find_dtype(path.substr(3));
        if (t && (!v.is_scalar() || isa::is_float(*t) != isa::is_float(v.dtype))) wrong("a scalar of " + std::string(isa::language_name(*t)));
    }
    m_frame = caller;
    return good;
}

bool Target::bind_parameters(Frame& frame, const syntax::Function& f, const Expr& e, std::vector<Value>& arguments) {
    for (const syntax::Parameter& p : f.parameters)
        if (p.starred || p.keyword_only) {
            report(Code::helper_arguments, p.at, "`" + f.name + "` takes `" + (p.starred ? "*" : "keyword-only ") + p.name + "`");
            return false;
        }
    std::size_t given = arguments.size();
    if (given > f.parameters.size()) {
        report(Code::helper_arguments, e.at, "`" + f.name + "` takes " + std::to_string(f.parameters.size()) + " arguments, here " + std::to_string(given)).labels.push_back({f.name_at, "defined here"});
        return false;
    }
    for (std::size_t i = given; i < f.parameters.size(); ++i) {
        const syntax::Parameter& p = f.parameters[i];
        if (p.fallback.kind == ExprKind::absent) {
            report(Code::helper_arguments, e.at, "`" + f.name + "` misses `" + p.name + "`").labels.push_back({f.name_at, "defined here"});
            return false;
        }
        Frame* caller = m_frame;
        m_frame = &frame;
        arguments.push_back(eval(p.fallback));
        m_frame = caller;
    }
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
        if (!check_annotation(f.parameters[i], arguments[i], frame, i < given ? e.args[i + 1].at : e.at)) return false;
    return true;
}

ir::ExprId Target::stage_task(Span at) {
    if (!m_guards.empty() && m_guards.back().is(Kind::structure)) {
        const Value& slot = m_guards.back();
        const auto& fields = m_fn.structs[std::size_t(slot.id)].fields;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].name != "_pl_task_id") continue;
            ir::Expr x;
            x.op = ir::ExprOp::field;
            x.dtype = fields[i].dtype;
            x.structure = ir::StructId{slot.id};
            x.a = slot.expr;
            x.integer = std::int64_t(i);
            x.at = at;
            return m_fn.add(std::move(x));
        }
    }
    if (!m_counters.empty()) {
        const Value* counter = find_local(m_counters.back());
        if (counter && counter->is_scalar()) return expr_of(*counter, at);
    }
    return {};
}

Value Target::call_function(const Value& f, const Expr& e) {
    const FunctionRef& ref = f.more->function;
    m_final = true; // errors below belong to the function, not to Python
    switch (ref.kind) {
    case FunctionRef::Kind::vector: return call_vector(f, e);
    case FunctionRef::Kind::kernel: return fail(Code::not_callable, e.args[0].at, "`" + ref.name + "` is a kernel; a kernel cannot call another");
    case FunctionRef::Kind::simt: return fail(Code::simt_unsupported, e.args[0].at, "`" + ref.name + "` is a SIMT function; those do not compile here: write it as a @pl.vector_function or with tile operations");
    default: break;
    }
    if (!ref.function) {
        m_final = false; // a builtin without source may still be Python's: len, round, isinstance
        return fail(Code::no_source, e.args[0].at, "the source of `" + ref.name + "` cannot be read" + (ref.missing.empty() ? "" : ": " + ref.missing));
    }
    if (m_before_vector) return fail(Code::tile_op_in_vector, e.args[0].at, "`" + ref.name + "` is called in a vector function and is none itself");
    if (!e.keywords.empty()) return fail(Code::helper_arguments, e.keywords[0].name_at, "`" + ref.name + "` is called with a keyword");
    const syntax::Function& function = *ref.function;
    for (const Frame* up = m_frame; up; up = up->caller)
        if (up->function == &function) return fail(Code::recursion, e.at, "`" + function.name + "` calls itself" + (up == m_frame ? "" : " through `" + m_frame->function->name + "`"));
    bool stage = ref.kind == FunctionRef::Kind::stage;
    std::vector<Value> arguments;
    bool bad = false;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        if (e.args[i].kind == ExprKind::starred) return fail(Code::helper_arguments, e.args[i].at, "`" + ref.name + "` is called with `*`");
        m_final = false;
        arguments.push_back(eval(e.args[i]));
        m_final = true;
        bad |= arguments.back().is(Kind::error);
        if (stage && arguments.back().is_scalar()) m_facts.argument_dtypes[e.args[i].at] = arguments.back().dtype;
    }
    Frame frame;
    frame.kind = stage ? FrameKind::stage : FrameKind::helper;
    frame.function = &function;
    frame.scope = ref.scope;
    frame.caller = m_frame;
    frame.call = e.at;
    frame.names.reserve(32);
    if (!bind_parameters(frame, function, e, arguments)) return error_value();
    ir::ExprId task = stage ? stage_task(e.at) : ir::ExprId{};
    ir::Body body;
    ir::Body* out = m_out;
    std::vector<Undo> undo = std::move(m_undo);
    m_undo.clear();
    m_frame = &frame;
    m_out = &body;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) bind_argument(function.parameters[i].name, arguments[i], e.at);
    std::size_t before = m_shared.diagnostics.size();
    Flow flow = run(function.body);
    m_final = true;
    if (flow == Flow::next && frame.nested_return && frame.has_result && !frame.result.is(Kind::none) && !frame.result.is(Kind::error))
        report(Code::return_types, frame.result_at, "`" + function.name + "` returns " + describe(frame.result) + " here and nothing on another path");
    Value result = frame.has_result ? frame.result : none_value();
    // An expression that reads what the body wrote is taken now; later its parts may have changed.
    if (result.is(Kind::scalar) && result.expr.valid() && !body.empty()) {
        Value slot = slots_like(result, function.name, false, frame.result_at);
        store(slot, result, frame.result_at);
        result = slot;
    }
    m_frame = frame.caller;
    m_out = out;
    m_undo = std::move(undo);
    if (frame.nested_return) { // a return in the middle leaves a loop that runs once
        if (flow == Flow::next || body.empty() || !std::holds_alternative<ir::Break>(body.back().what)) body.push_back(ir::Stmt{ir::Break{}, e.at});
        if (frame.return_flag.valid()) {
            m_fn.exprs.reserve(m_fn.exprs.size() + 1);
            body.insert(body.begin(), ir::Stmt{ir::Assign{frame.return_flag, literal(0, DType::boolean, e.at)}, e.at});
        }
        ir::Forever once;
        once.body = std::move(body);
        body = {};
        body.push_back(ir::Stmt{std::move(once), e.at});
    }
    if (stage) emit(ir::StageScope{function.name, task, e.at, std::move(body)}, e.at);
    else if (!body.empty()) emit(ir::HelperScope{function.name, e.at, std::move(body)}, e.at);
    if (bad && m_shared.diagnostics.size() == before) return error_value();
    return result.is(Kind::none) ? Value{} : result;
}

Value Target::call_vector(const Value& f, const Expr& e) {
    const FunctionRef& ref = f.more->function;
    if (!ref.function)
        return fail(Code::no_source, e.args[0].at, "the source of `" + ref.name + "` cannot be read" + (ref.missing.empty() ? "" : ": " + ref.missing));
    if (m_core == isa::Core::cube) return fail(Code::vector_call_on_cube, e.args[0].at, "`" + ref.name + "` is a vector function and is called by the cube program");
    if (!e.keywords.empty()) return fail(Code::helper_arguments, e.keywords[0].name_at, "`" + ref.name + "` is called with a keyword");
    const syntax::Function& function = *ref.function;
    for (const Frame* up = m_frame; up; up = up->caller)
        if (up->function == &function) return fail(Code::recursion, e.at, "`" + function.name + "` calls itself");
    bool outermost = m_before_vector == nullptr;
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        m_final = false;
        arguments.push_back(eval(e.args[i]));
        m_final = true;
        if (arguments.back().is(Kind::error)) return arguments.back();
    }
    Frame frame;
    frame.kind = FrameKind::vector;
    frame.function = &function;
    frame.scope = ref.scope;
    frame.caller = m_frame;
    frame.call = e.at;
    if (!bind_parameters(frame, function, e, arguments)) return error_value();
    ir::VectorCall call;
    call.name = function.name;
    auto prepare = [&](Value& v, const std::string& name, auto& self) -> bool {
        switch (v.kind) {
        case Kind::tile:
            if (std::find(call.tiles.begin(), call.tiles.end(), ir::TileVarId{v.id}) == call.tiles.end()) call.tiles.push_back(ir::TileVarId{v.id});
            v.kind = Kind::memory; // inside, a tile is an address
            v.expr = {};
            return true;
        case Kind::scalar:
            if (outermost && v.expr.valid() && m_fn[v.expr].op != ir::ExprOp::var) { // computed by the scalar unit before the call
                Value slot = slots_like(v, name, false, e.at);
                store(slot, v, e.at);
                v = slot;
            }
            return true;
        case Kind::tuple:
        case Kind::record: {
            auto more = std::make_shared<More>(*v.more);
            for (Value& element : more->elements)
                if (!self(element, name, self)) return false;
            v.more = std::move(more);
            return true;
        }
        case Kind::group:
            report(Code::operand_kind, e.at, "`" + function.name + "` gets a tile group as `" + name + "`").fix = Fix{"pick a slot: .next(), .current(), .previous() or [i]", {}};
            return false;
        case Kind::tensor:
        case Kind::pointer:
            report(Code::operand_kind, e.at, "`" + function.name + "` gets " + describe(v) + " as `" + name + "`; a vector function works on tiles in UB");
            return false;
        default: return true;
        }
    };
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (!prepare(arguments[i], function.parameters[i].name, prepare)) return error_value();
    std::int32_t first_variable = std::int32_t(m_fn.vars.size());
    ir::Body* out = m_out;
    std::vector<Undo> undo = std::move(m_undo);
    m_undo.clear();
    if (outermost) {
        m_before_vector = m_out;
        m_hoisted.clear();
        m_out = &call.body;
    }
    m_frame = &frame;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) bind_argument(function.parameters[i].name, arguments[i], e.at);
    run(function.body);
    m_final = true;
    m_frame = frame.caller;
    m_undo = std::move(undo);
    if (!outermost) return {};
    m_before_vector = nullptr;
    m_out = out;
    finish_vector_call(call, first_variable);
    emit(std::move(call), e.at);
    return {};
}

void Target::finish_vector_call(ir::VectorCall& call, std::int32_t first_variable) {
    // Roles: what the register operations do to each argument, all together.
    call.roles.assign(call.tiles.size(), isa::Role::none);
    ir::for_each_op(call.body, [&](const ir::Stmt& s, const ir::Op&) {
        for (const ir::TileAccess& use : ir::tile_accesses(s))
            for (std::size_t i = 0; i < call.tiles.size(); ++i)
                if (call.tiles[i] == use.tile) call.roles[i] = isa::unite(call.roles[i], use.role);
    });
    // Captures: variables assigned outside that the body reads. The item runs later than the scalar unit, so they are taken at issue.
    auto capture = [&](ir::VarId v) {
        bool outside = v.index < first_variable || std::find(m_hoisted.begin(), m_hoisted.end(), v) != m_hoisted.end();
        if (outside && std::find(call.captures.begin(), call.captures.end(), v) == call.captures.end()) call.captures.push_back(v);
    };
    ir::for_each_statement(call.body, [&](const ir::Stmt& s) {
        ir::for_each_expression(s, [&](ir::ExprId root) {
            ir::for_each_below(m_fn, root, [&](const ir::Expr& x) {
                if (x.op == ir::ExprOp::var) capture(x.var);
            });
        });
    });
    std::sort(call.captures.begin(), call.captures.end());
}

} // namespace pto::resolve
