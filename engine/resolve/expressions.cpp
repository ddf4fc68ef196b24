/// Expressions: names, attributes, conditions, and what Python computes for us while compiling.

#include "engine/base/spelling.hpp"
#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

using ir::ExprOp;
using isa::DType;
using syntax::Expr;
using syntax::ExprKind;

namespace {

/// Values an expression evaluated by Python may bring back into the program.
bool usable(const Value& v) {
    switch (v.kind) {
    case Kind::opaque:
    case Kind::function:
    case Kind::language:
    case Kind::unbound:
    case Kind::error: return false;
    case Kind::tuple: return std::all_of(v.more->elements.begin(), v.more->elements.end(), usable);
    default: return true;
    }
}

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80); }
bool name_part(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

/// Calls f(name) for every identifier of a Python text that is not an attribute; strings are skipped.
template <class F> void each_name(std::string_view text, F&& f) {
    for (std::size_t i = 0; i < text.size();) {
        char c = text[i];
        if (c == '"' || c == '\'') {
            std::size_t end = i + 1;
            while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
            i = std::min(end, text.size()) + 1;
        } else if (c == '#') {
            while (i < text.size() && text[i] != '\n') ++i;
        } else if (name_start(c)) {
            std::size_t end = i;
            while (end < text.size() && name_part(text[end])) ++end;
            bool attribute = i > 0 && text[i - 1] == '.';
            bool number = i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9'; // 0x10, 1e3
            if (!attribute && !number) f(text.substr(i, end - i));
            i = end;
        } else {
            ++i;
        }
    }
}

} // namespace

Value Target::eval(const Expr& e) {
    std::size_t before = m_shared.diagnostics.size();
    Value v = eval_node(e);
    // What the language cannot read may still be plain Python over constants: len(SHAPE), [x * 2 for x in DIMS], dtype methods.
    if (v.is(Kind::error) && m_shared.diagnostics.size() > before && !m_final && e.kind != ExprKind::name) {
        std::string error;
        if (auto p = by_python(e, error)) {
            m_shared.diagnostics.resize(before);
            return *p;
        }
        if (!error.empty()) m_shared.diagnostics.back().advice = {"as a compile-time expression Python answers: " + error};
    }
    return v;
}

std::optional<Value> Target::by_python(const Expr& e, std::string& error) {
    std::map<std::string, syntax::Constant> names;
    bool known = true;
    std::string_view source = text(e.at);
    each_name(source, [&](std::string_view name) {
        auto found = m_frame->index.find(name);
        if (found == m_frame->index.end()) {
            auto special = m_shared.specialised.find(name);
            if (special != m_shared.specialised.end())
                if (auto c = constant_of(special->second)) names.emplace(std::string(name), std::move(*c));
            return;
        }
        const Value& v = m_frame->names[std::size_t(found->second)].state.value;
        if (v.is(Kind::unbound)) return;
        auto c = constant_of(v);
        if (!c || v.is(Kind::function) || v.is(Kind::language)) known = known && bool(c);
        if (c) names.emplace(std::string(name), std::move(*c));
    });
    if (!known || source.empty() || source.find(":=") != std::string_view::npos) return std::nullopt; // `:=` would bind a name nowhere
    auto c = m_shared.environment.evaluate(m_frame->scope, "(" + std::string(source) + ")", names, error);
    if (!c) return std::nullopt;
    Value v = value_of(*c);
    if (!usable(v)) return std::nullopt;
    // The names Python looked up itself are part of what the result depends on.
    each_name(source, [&](std::string_view name) {
        if (!names.count(std::string(name))) m_shared.look_up(m_frame->scope, std::string(name));
    });
    return v;
}

Value Target::eval_node(const Expr& e) {
    switch (e.kind) {
    case ExprKind::name: return eval_name(e);
    case ExprKind::integer: return integer_value(e.integer);
    case ExprKind::real: return real_value(e.real);
    case ExprKind::boolean: return boolean_value(e.integer != 0);
    case ExprKind::string: return text_value(Kind::text, e.text);
    case ExprKind::none: return none_value();
    case ExprKind::attribute: return eval_attribute(e);
    case ExprKind::subscript: return eval_subscript(e);
    case ExprKind::call: {
        Value v = eval_call(e);
        if (v.is(Kind::unbound)) return fail(Code::void_result, e.at, "`" + std::string(text(e.args[0].at)) + "` gives no value");
        return v;
    }
    case ExprKind::binary: {
        Value a = eval(e.args[0]), b = eval(e.args[1]);
        return binary(e.text, a, b, e.at);
    }
    case ExprKind::unary: return unary(e.text, eval(e.args[0]), e.at);
    case ExprKind::compare: {
        if (e.text == "in" || e.text == "not in") return eval_membership(e);
        Value a = eval(e.args[0]), b = eval(e.args[1]);
        if (e.text == "is" || e.text == "is not") {
            if (a.is(Kind::error) || b.is(Kind::error)) return error_value();
            bool wanted = e.text == "is";
            if (!b.is(Kind::none)) return fail(Code::identity_test, e.at, "`" + e.text + "` compares with " + describe(b));
            if (a.is(Kind::pointer)) {
                ir::ExprId zero = literal(0, DType::index, e.at);
                return scalar_value(make(wanted ? ExprOp::eq : ExprOp::ne, DType::boolean, expr_of(a, e.at), zero, e.at), DType::boolean);
            }
            return boolean_value(a.is(Kind::none) == wanted);
        }
        return compare(e.text, a, b, e.at);
    }
    case ExprKind::chain: return fail(Code::chained_comparison, e.at, "`" + std::string(text(e.at)) + "` compares more than two values");
    case ExprKind::logical: return eval_logical(e);
    case ExprKind::conditional: return eval_conditional(e);
    case ExprKind::tuple:
    case ExprKind::list: {
        std::vector<Value> elements;
        elements.reserve(e.args.size());
        for (const Expr& a : e.args) {
            if (a.kind == ExprKind::starred) {
                Value inner = eval(a.args[0]);
                if (inner.is(Kind::error)) return inner;
                if (!inner.is(Kind::tuple)) return fail(Code::unsupported_expression, a.at, "`*` on " + describe(inner));
                elements.insert(elements.end(), inner.more->elements.begin(), inner.more->elements.end());
                continue;
            }
            elements.push_back(eval(a));
            if (elements.back().is(Kind::error)) return error_value();
        }
        return tuple_value(std::move(elements), e.kind == ExprKind::list);
    }
    case ExprKind::slice: return fail(Code::slice_form, e.at, "a slice stands here");
    default:
        return fail(Code::unsupported_expression, e.at,
                    "`" + std::string(text(e.at)) + "`" + (e.text.empty() ? "" : " (" + e.text + ")") + " is no expression of the language");
    }
}

Value Target::eval_name(const Expr& e) {
    if (const Value* local = find_local(e.text)) {
        if (local->is(Kind::conflict)) {
            Value v = *local;
            Diagnostic& d = report(Code::merge_types, e.at, "`" + e.text + "` is " + v.more->text);
            d.fix = Fix{"use another name for the second value", {}};
            return error_value();
        }
        return *local;
    }
    if (m_before_vector && e.text == "vf") return text_value(Kind::language, "vf");
    const Value& outside = m_shared.look_up(m_frame->scope, e.text);
    if (!outside.is(Kind::unbound)) return outside;
    if (e.text == "min" || e.text == "max") return text_value(Kind::language, "pl." + e.text);
    return unknown_name(e);
}

Value Target::unknown_name(const Expr& e) {
    if (e.text == "vf") return fail(Code::register_outside_vector, e.at, "`vf` is used outside a vector function");
    for (std::string_view builtin : {"len", "abs", "sum", "round", "int", "float", "bool", "list", "tuple", "isinstance", "type"})
        if (e.text == builtin) return fail(Code::constant_required, e.at, "`" + e.text + "` is Python's and works on compile-time constants only");
    if (e.text == "print") {
        Diagnostic& d = report(Code::undefined_name, e.at, "`print` is Python's; the device does not have it");
        d.fix = Fix{"write pl.printf(\"%d\", value), with a conversion for each value", {}};
        return error_value();
    }
    // Nearest name the user may have meant.
    std::string best;
    std::size_t best_distance = suggestion_limit(e.text) + 1;
    for (const Name& n : m_frame->names) {
        if (n.state.value.is(Kind::unbound)) continue;
        if (std::size_t distance = edit_distance(e.text, n.text); distance < best_distance) {
            best_distance = distance;
            best = n.text;
        }
    }
    Diagnostic& d = report(Code::undefined_name, e.at, "`" + e.text + "` is not defined here");
    if (!best.empty()) d.fix = Fix{"did you mean `" + best + "`?", {{e.at, best}}};
    if (m_frame->index.count(e.text)) d.advice.push_back("it is bound in the other core's section, or further down");
    return error_value();
}

std::string Target::path_of(const Expr& callee) {
    if (callee.kind == ExprKind::name) {
        if (const Value* local = find_local(callee.text)) return local->is(Kind::language) ? local->more->text : std::string();
        if (m_before_vector && callee.text == "vf") return "vf";
        const Value& outside = m_shared.look_up(m_frame->scope, callee.text);
        if (outside.is(Kind::language)) return outside.more->text;
        if (outside.is(Kind::unbound) && (callee.text == "min" || callee.text == "max")) return "pl." + callee.text;
        return {};
    }
    if (callee.kind != ExprKind::attribute) return {};
    std::string base = path_of(callee.args[0]);
    return base.empty() ? base : base + "." + callee.text;
}

Value Target::eval_attribute(const Expr& e) {
    if (std::string path = path_of(e); !path.empty()) {
        Value v = language_value(path);
        if (v.is(Kind::language) && path.rfind("pl.DT_", 0) == 0) return fail(Code::unknown_operation, e.at, "there is no type `" + path + "`");
        if (v.is(Kind::language))
            for (int k = 0; k < int(isa::EnumKind::count); ++k) {
                std::string type = "pl." + std::string(isa::name(isa::EnumKind(k)));
                if (path.size() > type.size() + 1 && path.compare(0, type.size(), type) == 0 && path[type.size()] == '.')
                    return fail(Code::enum_member, e.at, "`" + type + "` has no member `" + path.substr(type.size() + 1) + "`");
            }
        return v;
    }
    // A module or class outside the kernel: the environment knows its members.
    std::string dotted = e.dotted();
    if (!dotted.empty()) {
        std::string root = dotted.substr(0, dotted.find('.'));
        if (!find_local(root)) {
            const Value& outside = m_shared.look_up(m_frame->scope, root);
            if (outside.is(Kind::opaque) || outside.is(Kind::tiling_class)) {
                if (auto c = m_shared.environment.member(m_frame->scope, dotted)) {
                    m_shared.constants_used.emplace(dotted, *c);
                    return value_of(*c);
                }
            }
        }
    }
    Value base = eval(e.args[0]);
    if (base.is(Kind::error)) return base;
    return attribute_of(base, e);
}

Value Target::attribute_of(const Value& base, const Expr& e) {
    auto unknown_field = [&](const std::vector<std::string>& have, std::string_view what) {
        std::string list;
        for (const std::string& h : have) list += (list.empty() ? "" : ", ") + h;
        return fail(Code::struct_field, e.at, std::string(what) + " has no field `" + e.text + "`; it has " + (list.empty() ? "none" : list));
    };
    auto shape_of_type = [&](const isa::TileType& t) {
        return tuple_value({integer_value(t.shape[0]), integer_value(t.shape[1])}, true);
    };
    auto dtype_of = [&](DType t) {
        Value v;
        v.kind = Kind::dtype;
        v.dtype = t;
        return v;
    };
    switch (base.kind) {
    case Kind::tensor: {
        if (e.text == "dtype") return dtype_of(m_fn.tensors[std::size_t(base.id)].dtype);
        if (e.text != "shape") break;
        std::vector<Value> dims;
        std::size_t rank = m_fn.tensors[std::size_t(base.id)].dims.size();
        for (std::size_t i = 0; i < rank; ++i) {
            const ir::Dim& d = m_fn.tensors[std::size_t(base.id)].dims[i];
            if (!d.dynamic) {
                dims.push_back(integer_value(d.size));
                continue;
            }
            ir::Expr x;
            x.op = ExprOp::dim;
            x.tensor = ir::TensorId{base.id};
            x.integer = std::int64_t(i);
            x.at = e.at;
            dims.push_back(scalar_value(leaf(std::move(x)), DType::index));
        }
        return tuple_value(std::move(dims), false);
    }
    case Kind::tile:
    case Kind::memory: {
        const isa::TileType& type = m_fn.tiles[std::size_t(base.id)].type;
        if (e.text == "shape") return shape_of_type(type);
        if (e.text == "dtype") return dtype_of(type.dtype);
        if (e.text != "valid_shape") break;
        std::vector<Value> dims;
        for (int i = 0; i < 2; ++i) {
            ir::Expr x;
            x.op = ExprOp::valid_dim;
            x.tile = ir::TileVarId{base.id};
            x.integer = i;
            x.at = e.at;
            dims.push_back(scalar_value(leaf(std::move(x)), DType::index));
        }
        return tuple_value(std::move(dims), true);
    }
    case Kind::group:
        if (e.text == "shape") return shape_of_type(base.more ? base.more->type : m_fn.decls[std::size_t(base.id)].type);
        if (e.text == "dtype") return dtype_of(base.more ? base.more->type.dtype : m_fn.decls[std::size_t(base.id)].type.dtype);
        break;
    case Kind::tile_type:
        if (e.text == "shape") return shape_of_type(base.more->type);
        if (e.text == "dtype") return dtype_of(base.more->type.dtype);
        break;
    case Kind::structure: {
        const auto& fields = m_fn.structs[std::size_t(base.id)].fields;
        std::vector<std::string> have;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].name != e.text) {
                have.push_back(fields[i].name);
                continue;
            }
            if (fields[i].length > 0) {
                Value v = id_value(Kind::array_field, base.id);
                v.field = std::int32_t(i);
                v.expr = base.expr;
                v.read_only = base.read_only;
                return v;
            }
            DType t = fields[i].dtype;
            ir::Expr x;
            x.op = ExprOp::field;
            x.dtype = t;
            x.structure = ir::StructId{base.id};
            x.a = base.expr;
            x.integer = std::int64_t(i);
            x.at = e.at;
            return scalar_value(leaf(std::move(x)), t);
        }
        return unknown_field(have, "struct `" + m_fn.structs[std::size_t(base.id)].type_name + "`");
    }
    case Kind::record: {
        for (std::size_t i = 0; i < base.size(); ++i)
            if (base.more->names[i] == e.text) return base[i];
        return unknown_field(base.more->names, "this make_tuple");
    }
    default: break;
    }
    return fail(Code::unknown_attribute, e.at, describe(base) + " has no attribute `" + e.text + "`");
}

bool Target::only_computes(const ir::Body& body) const {
    auto cursor = [&](ir::VarId v) {
        return std::any_of(m_fn.decls.begin(), m_fn.decls.end(), [&](const ir::TileDecl& d) { return d.cursor.valid() && d.cursor == v; });
    };
    return std::all_of(body.begin(), body.end(), [&](const ir::Stmt& s) {
        if (const auto* assign = std::get_if<ir::Assign>(&s.what)) return !cursor(assign->var);
        if (const auto* branch = std::get_if<ir::Branch>(&s.what)) return only_computes(branch->then) && only_computes(branch->otherwise);
        return std::holds_alternative<ir::TileBind>(s.what);
    });
}

Value Target::eval_logical(const Expr& e) {
    // Both sides are read, and what they do is done; a side that only computes is computed when the one before does not decide.
    bool is_and = e.text == "and";
    Value so_far = boolean_value(is_and);
    bool failed = false;
    for (const Expr& a : e.args) {
        if (so_far.is_number() && (so_far.integer != 0) != is_and) break; // decided by what is known
        ir::Branch go_on;
        ir::Body* out = m_out;
        m_out = &go_on.then;
        Value v = eval(a);
        if (!v.is(Kind::error)) v = truth(v, a.at);
        m_out = out;
        bool guarded = so_far.is(Kind::scalar) && v.is(Kind::scalar) && only_computes(go_on.then) && (may_stop(v) || !go_on.then.empty());
        if (!guarded) std::move(go_on.then.begin(), go_on.then.end(), std::back_inserter(*m_out));
        if (v.is(Kind::error)) {
            failed = true;
        } else if (guarded) {
            Value slot = scalar_value({}, DType::boolean);
            slot.id = new_variable("", DType::boolean, a.at).index;
            store(slot, so_far, a.at);
            go_on.condition = expr_of(is_and ? slot : unary("not", slot, a.at), a.at);
            m_out = &go_on.then;
            store(slot, v, a.at);
            m_out = out;
            emit(std::move(go_on), a.at);
            so_far = slot;
        } else if (so_far.is_number()) {
            so_far = v;
        } else if (v.is_number()) {
            so_far = (v.integer != 0) == is_and ? so_far : v;
        } else {
            so_far = scalar_value(make(is_and ? ExprOp::logical_and : ExprOp::logical_or, DType::boolean, expr_of(so_far, a.at), expr_of(v, a.at), e.at), DType::boolean);
        }
    }
    return failed ? error_value() : so_far;
}

Value Target::eval_conditional(const Expr& e) {
    Value c = condition(e.args[0]);
    if (c.is(Kind::error)) return c;
    if (c.is_number()) return eval(e.args[c.integer ? 1 : 2]);
    // Only the chosen side runs, as in Python: what it emits (a cursor that moves, an element that is read) goes under the condition.
    ir::Branch sides;
    ir::Body* out = m_out;
    ++m_frame->branches;
    std::size_t mark = m_undo.size();
    m_out = &sides.then;
    Value a = eval(e.args[1]);
    roll_back(mark);
    m_out = &sides.otherwise;
    Value b = eval(e.args[2]);
    roll_back(mark);
    --m_frame->branches;
    m_out = out;
    if (a.is(Kind::error) || b.is(Kind::error)) return error_value();
    auto only_names = [](const ir::Body& body) { // naming a slot does nothing: it may stand before the choice
        return std::all_of(body.begin(), body.end(), [](const ir::Stmt& s) { return std::holds_alternative<ir::TileBind>(s.what); });
    };
    bool conditional = !only_names(sides.then) || !only_names(sides.otherwise) || may_stop(a) || may_stop(b);
    if (!conditional)
        for (ir::Body* side : {&sides.then, &sides.otherwise}) std::move(side->begin(), side->end(), std::back_inserter(*m_out));
    auto under_condition = [&](const Value& slots) {
        m_out = &sides.then;
        store(slots, a, e.args[1].at);
        m_out = &sides.otherwise;
        store(slots, b, e.args[2].at);
        m_out = out;
        sides.condition = expr_of(c, e.args[0].at);
        emit(std::move(sides), e.at);
        return slots;
    };
    if (a.is_scalar() && b.is_scalar()) {
        DType t = a.dtype;
        bool fa = isa::is_float(a.dtype), fb = isa::is_float(b.dtype);
        if (fa != fb || ((a.dtype == DType::boolean) != (b.dtype == DType::boolean)))
            return fail(Code::conditional_types, e.at, "one side is " + describe(a) + ", the other " + describe(b));
        if (isa::bits(b.dtype) > isa::bits(t)) t = b.dtype;
        if (conditional) {
            Value slots = scalar_value({}, t);
            slots.id = new_variable("", t, e.at).index;
            return under_condition(slots);
        }
        ir::Expr x;
        x.op = ExprOp::select;
        x.dtype = t;
        x.a = expr_of(c, e.args[0].at);
        x.b = expr_as(a, t, e.args[1].at);
        x.c = expr_as(b, t, e.args[2].at);
        x.at = e.at;
        return scalar_value(m_fn.add(std::move(x)), t);
    }
    if (a.is(Kind::tile) && b.is(Kind::tile)) {
        const ir::TileVar ta = m_fn.tiles[std::size_t(a.id)], tb = m_fn.tiles[std::size_t(b.id)];
        if (!(ta.type == tb.type)) return fail(Code::conditional_types, e.at, "the two tiles have different types");
        if ((mutex_count(a) != 0) != (mutex_count(b) != 0))
            return fail(Code::merge_mutex, e.at, "one of the two tiles carries mutex ids, the other none");
        std::vector<ir::TileDeclId> may_be = ta.may_be;
        may_be.insert(may_be.end(), tb.may_be.begin(), tb.may_be.end());
        std::sort(may_be.begin(), may_be.end());
        may_be.erase(std::unique(may_be.begin(), may_be.end()), may_be.end());
        ir::TileVarId t = new_tile("", ta.type, std::move(may_be), e.at);
        if (conditional) return under_condition(id_value(Kind::tile, t.index));
        emit(ir::TileBind{t, ir::ChoiceOf{expr_of(c, e.args[0].at), ir::TileVarId{a.id}, ir::TileVarId{b.id}}}, e.at);
        return id_value(Kind::tile, t.index);
    }
    if (!same(a, b)) return fail(Code::conditional_types, e.at, "one side is " + describe(a) + ", the other " + describe(b));
    return conditional ? under_condition(a) : a;
}

Value Target::eval_membership(const Expr& e) {
    bool wanted = e.text == "in";
    Value x = eval(e.args[0]);
    if (x.is(Kind::error)) return x;
    Value any;
    const Expr& container = e.args[1];
    if (container.kind == ExprKind::call && path_of(container.args[0]) == "pl.range") {
        Value start, stop, step;
        if (!range_bounds(container, start, stop, step)) return error_value();
        if (!step.is_number()) return fail(Code::membership, container.at, "the step of this range is not known");
        Value low = compare(step.integer > 0 ? ">=" : "<=", x, start, e.at), high = compare(step.integer > 0 ? "<" : ">", x, stop, e.at);
        Value on = compare("==", binary("%", binary("-", x, start, e.at), step, e.at), integer_value(0), e.at);
        any = boolean_value(true);
        for (const Value& v : {low, high, on}) {
            if (v.is(Kind::error)) return v;
            if (any.is_number() && any.integer) any = v;
            else if (v.is_number()) any = v.integer ? any : v;
            else if (!any.is_number())
                any = scalar_value(make(ExprOp::logical_and, DType::boolean, expr_of(any, e.at), expr_of(v, e.at), e.at), DType::boolean);
        }
    } else {
        Value list = eval(container);
        if (list.is(Kind::error)) return list;
        if (!list.is(Kind::tuple)) return fail(Code::membership, container.at, "`in` looks into " + describe(list));
        any = boolean_value(false);
        for (const Value& element : list.more->elements) {
            Value v = compare("==", x, element, e.at);
            if (v.is(Kind::error)) return v;
            if (v.is_number()) {
                if (v.integer) any = v;
            } else if (any.is_number()) {
                if (!any.integer) any = v;
            } else {
                any = scalar_value(make(ExprOp::logical_or, DType::boolean, expr_of(any, e.at), expr_of(v, e.at), e.at), DType::boolean);
            }
            if (any.is_number() && any.integer) break;
        }
    }
    return wanted ? any : unary("not", any, e.at);
}

std::optional<std::int64_t> Target::constant_integer(const Expr& e, std::string_view what) {
    Value v = eval(e);
    if (v.is(Kind::error)) return std::nullopt;
    if (v.is(Kind::integer) || v.is(Kind::boolean)) return v.integer;
    report(Code::constant_required, e.at, std::string(what) + " is " + describe(v) + ", not a constant integer");
    m_final = true;
    return std::nullopt;
}

} // namespace pto::resolve
