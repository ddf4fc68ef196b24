/// Calls of operations: arguments are matched to the operands and keywords of the catalogue's row. No operation is known by name here.

#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

using isa::DType;
using isa::KeywordKind;
using isa::OperandKind;
using isa::OpRow;
using syntax::Expr;
using syntax::ExprKind;

namespace {

std::string_view wanted(OperandKind k) {
    switch (k) {
    case OperandKind::tile: return "a tile";
    case OperandKind::tensor: return "a tensor";
    case OperandKind::tile_or_tensor: return "a tile or tensor";
    case OperandKind::tile_or_scalar: return "a tile or scalar";
    case OperandKind::tile_or_group: return "a tile or tile group";
    case OperandKind::scalar: return "a scalar";
    case OperandKind::scalar_list: return "a list of scalars";
    case OperandKind::structure: return "a struct";
    case OperandKind::text: return "a string literal";
    case OperandKind::scalars: return "a scalar";
    case OperandKind::list: return "a list of tiles and tensors";
    case OperandKind::memory: return "a tile address";
    case OperandKind::reg: return "a vector register";
    case OperandKind::mask: return "a mask register";
    case OperandKind::reg_or_scalar: return "a register or scalar";
    case OperandKind::reg_or_mask: return "a register or mask";
    case OperandKind::unaligned: return "an unaligned-access register";
    case OperandKind::offset: return "an offset";
    case OperandKind::memory_or_reg: return "a tile address or register";
    default: return "a value";
    }
}

bool scalar_tuple(const Value& v) {
    return v.is(Kind::tuple) && std::all_of(v.more->elements.begin(), v.more->elements.end(), [](const Value& e) { return e.is_scalar(); });
}

std::string shown(const OpRow& row) {
    std::string_view n = row.call_name();
    return n.substr(0, 3) == "vf." ? std::string(n) : "pl." + std::string(n);
}

/// Does the alternative of a result specification have as many results?
std::size_t result_count(std::string_view alternative) {
    return alternative.empty() ? 0 : 1 + std::size_t(std::count(alternative.begin(), alternative.end(), ','));
}

} // namespace

OperandKind Target::shape_of(const Value& v) const {
    switch (v.kind) {
    case Kind::tile: return m_before_vector ? OperandKind::memory : OperandKind::tile;
    case Kind::memory: return OperandKind::memory;
    case Kind::group: return OperandKind::tile_or_group;
    case Kind::tensor: return OperandKind::tensor;
    case Kind::structure: return OperandKind::structure;
    case Kind::text: return OperandKind::text;
    case Kind::tuple: return scalar_tuple(v) ? OperandKind::scalar_list : OperandKind::list;
    case Kind::reg:
        switch (m_fn.regs[std::size_t(v.id)].kind) {
        case ir::RegKind::mask: return OperandKind::mask;
        case ir::RegKind::vector: return OperandKind::reg;
        case ir::RegKind::address: return OperandKind::offset;
        default: return OperandKind::unaligned;
        }
    default: return v.is_scalar() ? OperandKind::scalar : OperandKind::value;
    }
}

bool Target::accepts(OperandKind kind, const Value& v) const {
    OperandKind have = shape_of(v);
    switch (kind) {
    case OperandKind::tile_or_tensor: return have == OperandKind::tile || have == OperandKind::tensor;
    case OperandKind::tile_or_scalar: return have == OperandKind::tile || have == OperandKind::scalar;
    case OperandKind::tile_or_group: return have == OperandKind::tile || have == OperandKind::tile_or_group;
    case OperandKind::scalars: return have == OperandKind::scalar || v.is(Kind::pointer);
    case OperandKind::list: return have == OperandKind::list || have == OperandKind::scalar_list;
    case OperandKind::reg_or_scalar: return have == OperandKind::reg || have == OperandKind::scalar;
    case OperandKind::reg_or_mask: return have == OperandKind::reg || have == OperandKind::mask;
    case OperandKind::memory_or_reg: return have == OperandKind::memory || have == OperandKind::reg;
    case OperandKind::offset: return have == OperandKind::scalar || have == OperandKind::scalar_list || have == OperandKind::offset;
    case OperandKind::value: return true;
    default: return have == kind;
    }
}

bool Target::fill_operand(const OpRow& row, const isa::Operand& o, const Argument& a, ir::OperandValue& out) {
    const Value& v = a.value;
    if (o.optional && v.is(Kind::none)) return true;
    if (!accepts(o.kind, v)) {
        Diagnostic& d = report(Code::operand_kind, a.at, "`" + shown(row) + "` takes " + std::string(wanted(o.kind)) + " as `" + std::string(o.name) + "`, this is " + describe(v));
        if (v.is(Kind::group)) d.fix = Fix{"pick a slot: .next(), .current(), .previous() or [i]", {}};
        if (v.is(Kind::tile_type)) d.fix = Fix{"make a tile of this type with pl.make_tile or pl.make_tile_group", {}};
        if (o.kind == OperandKind::scalar_list && v.is_scalar()) d.fix = Fix{"write a list, `[" + std::string(text(a.at)) + "]`", {}};
        return false;
    }
    auto list = [&] {
        ir::ExprList l;
        l.reserve(v.size());
        for (const Value& e : v.more->elements) l.push_back(expr_of(e, a.at));
        return l;
    };
    auto element_spans = [&](ir::ExprList& l) { // each number of a literal list is its own place
        if (!a.expr || (a.expr->kind != ExprKind::list && a.expr->kind != ExprKind::tuple) || a.expr->args.size() != l.size()) return;
        for (std::size_t i = 0; i < l.size(); ++i)
            if (v[i].is_number() || (v[i].id >= 0 && !v[i].expr.valid())) m_fn.exprs[std::size_t(l[i].index)].at = a.expr->args[i].at;
    };
    switch (shape_of(v)) {
    case OperandKind::tile:
        out = ir::TileVarId{v.id};
        return true;
    case OperandKind::memory: {
        ir::MemoryRef m;
        m.tile = ir::TileVarId{v.id};
        m.offset = v.expr;
        out = m;
        return true;
    }
    case OperandKind::tile_or_group: out = ir::GroupRef{ir::TileDeclId{v.id}}; return true;
    case OperandKind::tensor: out = ir::TensorId{v.id}; return true;
    case OperandKind::structure: out = ir::StructRef{ir::StructId{v.id}, v.expr}; return true;
    case OperandKind::text: out = v.more->text; return true;
    case OperandKind::scalar: out = expr_of(v, a.at); return true;
    case OperandKind::reg:
    case OperandKind::mask:
    case OperandKind::unaligned: out = ir::RegId{v.id}; return true;
    case OperandKind::offset: out = ir::RegId{v.id}; return true;
    case OperandKind::scalar_list:
        if (o.kind != OperandKind::list) {
            for (std::size_t i = 0; i < v.size(); ++i) {
                if (!isa::is_float(v[i].dtype)) continue;
                bool literal = a.expr && (a.expr->kind == ExprKind::list || a.expr->kind == ExprKind::tuple) && a.expr->args.size() == v.size();
                report(Code::operand_kind, literal ? a.expr->args[i].at : a.at,
                       "`" + std::string(o.name) + "` of `" + shown(row) + "` holds integers, this is " + describe(v[i]));
                return false;
            }
            ir::ExprList l = list();
            element_spans(l);
            out = std::move(l);
            return true;
        }
        [[fallthrough]];
    case OperandKind::list: {
        ir::MixedList mixed;
        for (const Value& e : v.more->elements) {
            if (e.is(Kind::tile)) mixed.tiles.push_back(ir::TileVarId{e.id});
            else if (e.is(Kind::tensor)) mixed.tensors.push_back(ir::TensorId{e.id});
            else if (!e.is(Kind::integer)) {
                report(Code::operand_kind, a.at, "`" + shown(row) + "` takes tiles and tensors in `" + std::string(o.name) + "`, this holds " + describe(e));
                return false;
            }
        }
        out = std::move(mixed);
        return true;
    }
    default:
        if (v.is(Kind::pointer)) out = expr_of(v, a.at);
        return true;
    }
}

ir::AttributeValue Target::fallback(const isa::Keyword& k) const {
    if (k.fallback.empty()) return {};
    switch (k.kind) {
    case KeywordKind::enumeration:
        if (auto e = isa::find_enum(isa::name(k.enumeration), k.fallback)) return *e;
        return {};
    case KeywordKind::boolean: return k.fallback == "True";
    case KeywordKind::dtype:
        if (auto t = isa::find_dtype(k.fallback)) return *t;
        return {};
    case KeywordKind::real: return std::stod(std::string(k.fallback));
    case KeywordKind::text: return std::string(k.fallback);
    default: return std::int64_t(std::stoll(std::string(k.fallback)));
    }
}

bool Target::fill_keyword(const OpRow& row, const isa::Keyword& k, const Argument& a, ir::AttributeValue& out) {
    const Value& v = a.value;
    auto wrong = [&](std::string_view needs) {
        report(Code::keyword_value, a.at, "`" + std::string(k.name) + "` of `" + shown(row) + "` takes " + std::string(needs) + ", this is " + describe(v));
        m_final = true;
        return false;
    };
    if (v.is(Kind::none)) {
        if (k.required) return wrong("a value");
        out = {};
        return true;
    }
    auto constants_or_exprs = [&] {
        ir::ExprList l;
        for (const Value& e : v.more->elements) l.push_back(expr_of(e, a.at));
        return l;
    };
    switch (k.kind) {
    case KeywordKind::enumeration:
        if (!v.is(Kind::enumeration) || isa::EnumKind(v.field) != k.enumeration) return wrong("a member of pl." + std::string(isa::name(k.enumeration)));
        out = isa::EnumValue{k.enumeration, std::uint8_t(v.integer)};
        return true;
    case KeywordKind::integer:
        if (!v.is(Kind::integer) && !v.is(Kind::boolean)) return wrong("a constant integer");
        out = v.integer;
        return true;
    case KeywordKind::boolean:
        if (!v.is(Kind::boolean) && !v.is(Kind::integer)) return wrong("True or False");
        out = v.integer != 0;
        return true;
    case KeywordKind::real:
        if (!v.is_number()) return wrong("a constant number");
        out = v.is(Kind::real) ? v.real : double(v.integer);
        return true;
    case KeywordKind::dtype:
        if (!v.is(Kind::dtype)) return wrong("a type, pl.DT_...");
        out = v.dtype;
        return true;
    case KeywordKind::scalar:
    case KeywordKind::scalar_or_list:
        if (v.is(Kind::integer) || v.is(Kind::boolean)) out = v.integer;
        else if (v.is(Kind::real)) out = v.real;
        else if (v.is(Kind::scalar)) out = expr_of(v, a.at);
        else if (k.kind == KeywordKind::scalar_or_list && scalar_tuple(v)) out = constants_or_exprs();
        else return wrong("a scalar");
        return true;
    case KeywordKind::integer_list:
        if (!scalar_tuple(v)) return wrong("a list of integers");
        for (const Value& e : v.more->elements)
            if (!e.is(Kind::integer)) return wrong("a list of constant integers");
        out = constants_or_exprs();
        return true;
    case KeywordKind::scale:
        if (v.is(Kind::real) || v.is(Kind::integer)) out = v.is(Kind::real) ? v.real : double(v.integer);
        else if (v.is(Kind::scalar)) out = expr_of(v, a.at);
        else if (v.is(Kind::tile)) out = ir::TileVarId{v.id};
        else return wrong("a number, a scalar or a tile in Scaling");
        return true;
    case KeywordKind::text:
        if (!v.is(Kind::text)) return wrong("a string");
        out = v.more->text;
        return true;
    case KeywordKind::tensor:
        if (!v.is(Kind::tensor)) return wrong("a tensor");
        out = ir::TensorId{v.id};
        return true;
    }
    return true;
}

void Target::settle_pipe(ir::Op& op) const {
    using isa::MemorySpace;
    using isa::Pipe;
    auto memory = [&](std::size_t i) {
        if (i < op.operands.size())
            if (const auto* t = std::get_if<ir::TileVarId>(&op.operands[i]); t && t->valid()) return m_fn[*t].type.memory;
        return MemorySpace::ddr;
    };
    switch (op.row->pipe) {
    case isa::PipeRule::s: op.pipe = Pipe::s; return;
    case isa::PipeRule::v:
    case isa::PipeRule::in_vector: op.pipe = Pipe::v; return;
    case isa::PipeRule::m: op.pipe = Pipe::m; return;
    case isa::PipeRule::mte1: op.pipe = Pipe::mte1; return;
    case isa::PipeRule::mte2: op.pipe = Pipe::mte2; return;
    case isa::PipeRule::mte3: op.pipe = Pipe::mte3; return;
    case isa::PipeRule::fix: op.pipe = Pipe::fix; return;
    case isa::PipeRule::all: op.pipe = Pipe::all; return;
    case isa::PipeRule::by_source: op.pipe = memory(1) == MemorySpace::acc ? Pipe::fix : Pipe::mte3; return;
    case isa::PipeRule::by_path: {
        MemorySpace to = memory(0), from = memory(1);
        if (from == MemorySpace::acc) op.pipe = Pipe::fix;
        else if (from == MemorySpace::mat)
            op.pipe = to == MemorySpace::vec ? Pipe::v : to == MemorySpace::scaling || to == MemorySpace::mat ? Pipe::fix : Pipe::mte1;
        else op.pipe = from == MemorySpace::vec && to == MemorySpace::mat ? Pipe::mte3 : Pipe::v;
        return;
    }
    case isa::PipeRule::by_keyword: {
        std::string_view names[] = {"pipe", op.row->semantics == isa::Semantics::flag_wait ? "wait_pipe" : "set_pipe"};
        for (std::string_view n : names)
            if (int i = op.row->keyword_index(n); i >= 0)
                if (const auto* e = std::get_if<isa::EnumValue>(&op.attributes[std::size_t(i)])) {
                    op.pipe = e->as<Pipe>();
                    return;
                }
        return;
    }
    }
}

Value Target::results_of(ir::Op& op, const Expr& e, Targets targets) {
    const OpRow& row = *op.row;
    if (row.result.empty()) return {};
    // The first operand that has an element type.
    DType first = DType::fp32;
    bool has_first = false, first_is_mask = false;
    for (const ir::OperandValue& o : op.operands) {
        if (const auto* t = std::get_if<ir::TileVarId>(&o)) first = m_fn[*t].type.dtype, has_first = true;
        else if (const auto* x = std::get_if<ir::TensorId>(&o)) first = m_fn[*x].dtype, has_first = true;
        else if (const auto* m = std::get_if<ir::MemoryRef>(&o)) first = m_fn[m->tile].type.dtype, has_first = true;
        else if (const auto* r = std::get_if<ir::RegId>(&o)) {
            first = m_fn[*r].dtype;
            has_first = true;
            first_is_mask = m_fn[*r].kind == ir::RegKind::mask;
        }
        if (has_first) break;
    }
    if (row.result == "scalar") {
        ir::VarId v = new_variable("", has_first ? first : DType::index, e.at);
        op.results.push_back(v);
        Value out = scalar_value({}, m_fn[v].dtype);
        out.id = v.index;
        return out;
    }
    // Which form of result: by the names it is assigned to, else as the first operand.
    std::vector<std::string_view> names;
    if (targets.target) {
        if (targets.target->kind == ExprKind::name) names.push_back(targets.target->text);
        else if (targets.target->kind == ExprKind::tuple || targets.target->kind == ExprKind::list)
            for (const Expr& t : targets.target->args) names.push_back(t.kind == ExprKind::name ? std::string_view(t.text) : std::string_view());
        else return fail(Code::register_target, targets.target->at, "a register is assigned to `" + std::string(text(targets.target->at)) + "`");
    } else if (row.semantics != isa::Semantics::reg_bit_cast) {
        return fail(Code::register_target, e.at, "`" + shown(row) + "` gives a register that no name takes");
    } else {
        names.push_back("");
    }
    std::vector<std::string_view> alternatives;
    for (std::string_view rest = row.result; !rest.empty();) {
        std::size_t bar = rest.find('|');
        alternatives.push_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    }
    bool by_name = row.result.find('|') != row.result.rfind('|'); // three alternatives: the assigned names decide
    bool mask = first_is_mask;
    if (by_name && names.size() == 1) {
        const Value* now = names[0].empty() ? nullptr : find_local(names[0]);
        mask = now && now->is(Kind::reg) && m_fn.regs[std::size_t(now->id)].kind == ir::RegKind::mask;
    }
    std::string_view chosen;
    for (std::string_view a : alternatives) {
        if (result_count(a) != names.size()) continue;
        bool all_masks = a.substr(0, 4) == "mask" && a.find("reg") == std::string_view::npos;
        if (chosen.empty() || (alternatives.size() > 1 && all_masks == mask)) chosen = a;
    }
    if (chosen.empty())
        return fail(Code::unpack_count, e.at, "`" + shown(row) + "` gives " + std::to_string(result_count(alternatives[0])) + " registers, " + std::to_string(names.size()) + " names take them");
    // Element type.
    DType type = first;
    auto keyword_type = [&](std::string_view n) -> std::optional<DType> {
        int i = row.keyword_index(n);
        if (i < 0) return std::nullopt;
        if (const auto* t = std::get_if<DType>(&op.attributes[std::size_t(i)])) return *t;
        return std::nullopt;
    };
    std::optional<DType> given = keyword_type("dtype");
    if (!given) given = keyword_type("cmp_dtype");
    switch (row.result_type) {
    case isa::ResultType::keyword: type = given.value_or(has_first ? first : DType::fp32); break;
    case isa::ResultType::keyword_or_first:
        type = given.value_or(has_first ? first : DType::fp32); // vf.full of a scalar without dtype= fills FP32
        break;
    case isa::ResultType::fp32: type = DType::fp32; break;
    case isa::ResultType::fp16: type = DType::fp16; break;
    case isa::ResultType::uint16: type = DType::uint16; break;
    case isa::ResultType::index: type = DType::index; break;
    default: break;
    }
    if (row.semantics == isa::Semantics::reg_gather && isa::bits(type) == 8 && std::holds_alternative<ir::MemoryRef>(op.operands[0]))
        type = isa::is_signed_int(type) ? DType::int16 : DType::uint16; // bytes are gathered into 16-bit lanes
    std::vector<Value> values;
    std::string_view rest = chosen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::size_t comma = rest.find(',');
        std::string_view kind_name = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        ir::RegKind kind = kind_name == "mask" ? ir::RegKind::mask
                           : kind_name == "unaligned" ? (row.semantics == isa::Semantics::reg_store_unaligned ? ir::RegKind::unaligned_store : ir::RegKind::unaligned_load)
                           : kind_name == "address" ? ir::RegKind::address
                                                    : ir::RegKind::vector;
        Value v;
        Name* n = nullptr;
        if (!names[i].empty() && names[i] != "_") n = &m_frame->names[std::size_t(intern(*m_frame, names[i]))];
        // Assigning to a register's name overwrites that very register.
        if (n && n->slots.is(Kind::reg) && n->state.value.is(Kind::reg) && n->state.value.id == n->slots.id) {
            const ir::Register& r = m_fn.regs[std::size_t(n->slots.id)];
            if (r.kind == kind && (r.dtype == type || kind == ir::RegKind::mask)) v = n->slots; // a mask is 256 bits, whatever wrote it
        }
        if (v.is(Kind::unbound)) {
            m_fn.regs.push_back(ir::Register{std::string(names[i]), kind, type});
            v = id_value(Kind::reg, std::int32_t(m_fn.regs.size() - 1));
            if (n) n->slots = v;
        }
        op.registers.push_back(ir::RegId{v.id});
        values.push_back(v);
    }
    return values.size() == 1 ? values[0] : tuple_value(std::move(values), false);
}

Value Target::unknown_op(std::string_view path, const Expr& e) {
    std::string name(path.substr(0, 3) == "pl." ? path.substr(3) : path);
    Diagnostic& d = report(Code::unknown_operation, e.args[0].at, "there is no operation `" + std::string(path) + "`");
    std::string near;
    for (std::string_view n : m_shared.catalogue.nearest(name)) {
        std::string spelled = n.substr(0, 3) == "vf." ? std::string(n) : "pl." + std::string(n);
        near += (near.empty() ? "`" : ", `") + spelled + "`";
    }
    if (!near.empty()) d.fix = Fix{"nearest: " + near, {}};
    m_final = true;
    return error_value();
}

Value Target::call_language(std::string_view path, const Expr& e, Targets targets) {
    std::string_view name = path.substr(0, 3) == "pl." ? path.substr(3) : path;
    bool known = false;
    Value v = construct(name, e, known);
    if (known) return v;
    const OpRow* row = m_shared.catalogue.find(name);
    if (!row) return unknown_op(path, e);
    if (row->construct) return fail(Code::unsupported_expression, e.at, "`" + std::string(path) + "` cannot be called here");
    bool of_vector = row->pipe == isa::PipeRule::in_vector;
    if (of_vector && !m_before_vector) {
        fail(Code::register_outside_vector, e.args[0].at, "`" + std::string(path) + "` stands outside a vector function");
        m_final = true;
        return error_value();
    }
    if (!of_vector && m_before_vector) {
        fail(Code::tile_op_in_vector, e.args[0].at, "`" + std::string(path) + "` works on tiles and stands in a vector function");
        m_final = true;
        return error_value();
    }
    return call_op(name, *row, e, targets);
}

Value Target::call_op(std::string_view name, const OpRow& by_name, const Expr& e, Targets targets) {
    std::vector<Argument> positional, named;
    positional.reserve(e.args.size());
    bool bad = false;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        const Expr& a = e.args[i];
        if (a.kind == ExprKind::starred) {
            Value inner = eval(a.args[0]);
            if (!inner.is(Kind::tuple)) {
                if (!inner.is(Kind::error)) report(Code::unsupported_expression, a.at, "`*` on " + describe(inner));
                bad = true;
                continue;
            }
            for (const Value& v : inner.more->elements) positional.push_back({nullptr, v, a.at});
            continue;
        }
        positional.push_back({&a, eval(a), a.at});
        bad |= positional.back().value.is(Kind::error);
    }
    for (const syntax::Keyword& k : e.keywords) {
        if (k.name.empty()) {
            report(Code::keyword_unknown, k.value[0].at, "`**` in a call of `" + std::string(name) + "`");
            bad = true;
            continue;
        }
        named.push_back({&k.value[0], eval(k.value[0]), k.value[0].at});
        bad |= named.back().value.is(Kind::error);
    }
    m_final = true; // from here on the call was understood; Python has nothing to add
    if (bad) return error_value();

    isa::CallShape shape;
    for (const Argument& a : positional) shape.positional.push_back(shape_of(a.value));
    for (const syntax::Keyword& k : e.keywords) shape.keywords.push_back(k.name);
    const OpRow* chosen = m_shared.catalogue.choose(name, shape);
    const OpRow& row = chosen ? *chosen : by_name;

    ir::Op op;
    op.row = &row;
    op.operands.resize(row.operands.size());
    op.operand_spans.resize(row.operands.size(), e.at);
    op.attributes.reserve(row.keywords.size());
    std::size_t next = 0;
    std::vector<Argument> rest; // variadic
    for (std::size_t i = 0; i < row.operands.size(); ++i) {
        const isa::Operand& o = row.operands[i];
        if (o.kind == OperandKind::scalars) {
            for (; next < positional.size(); ++next) rest.push_back(positional[next]);
            if (!rest.empty()) {
                op.operand_spans[i] = rest[0].at;
                bad |= !fill_operand(row, o, rest[0], op.operands[i]);
            }
            continue;
        }
        Argument* a = nullptr;
        if (next < positional.size()) {
            a = &positional[next];
            if (o.optional && !accepts(o.kind, a->value) && !a->value.is(Kind::none)) {
                // Left out: the argument belongs to a later operand or keyword.
                bool later = row.positional_keywords;
                for (std::size_t j = i + 1; j < row.operands.size(); ++j) later |= accepts(row.operands[j].kind, a->value);
                if (later) a = nullptr;
            }
            if (a) ++next;
        }
        if (!a)
            for (std::size_t k = 0, n = 0; k < e.keywords.size(); ++k) {
                if (e.keywords[k].name.empty()) continue;
                if (e.keywords[k].name == o.name && row.keyword_index(o.name) < 0) a = &named[n];
                ++n;
            }
        if (!a) {
            if (o.optional) continue;
            report(Code::operand_count, e.at, "`" + shown(row) + "` misses `" + std::string(o.name) + "`, " + std::string(wanted(o.kind)));
            bad = true;
            break;
        }
        a->used = true;
        op.operand_spans[i] = a->at;
        bad |= !fill_operand(row, o, *a, op.operands[i]);
    }
    for (std::size_t i = 1; i < rest.size(); ++i) {
        op.operands.emplace_back();
        op.operand_spans.push_back(rest[i].at);
        bad |= !fill_operand(row, row.operands.back(), rest[i], op.operands.back());
    }
    // Keywords: by name, then (register operations) by position after the operands.
    std::vector<const Argument*> keyword_arguments(row.keywords.size(), nullptr);
    std::size_t n = 0;
    for (const syntax::Keyword& k : e.keywords) {
        if (k.name.empty()) continue;
        Argument& a = named[n++];
        if (a.used) continue;
        int at = row.keyword_index(k.name);
        if (at < 0 && k.name == "merge_mode") // the longer spelling of the same enumeration
            for (std::size_t i = 0; i < row.keywords.size(); ++i)
                if (row.keywords[i].kind == KeywordKind::enumeration && row.keywords[i].enumeration == isa::EnumKind::MergeMode) at = int(i);
        if (at < 0) {
            std::string have;
            for (const isa::Keyword& known : row.keywords) have += (have.empty() ? "" : ", ") + std::string(known.name);
            report(Code::keyword_unknown, k.name_at, "`" + shown(row) + "` has no keyword `" + k.name + "`; it has " + (have.empty() ? "none" : have));
            bad = true;
            continue;
        }
        keyword_arguments[std::size_t(at)] = &a;
    }
    if (next < positional.size() && row.positional_keywords) {
        for (std::size_t k = 0; k < row.keywords.size() && next < positional.size(); ++k)
            if (!keyword_arguments[k]) keyword_arguments[k] = &positional[next++];
    }
    if (next < positional.size()) {
        Diagnostic& d = report(Code::operand_count, positional[next].at, "`" + shown(row) + "` takes at most " + std::to_string(row.operands.size()) + " positional arguments");
        if (!row.keywords.empty()) d.fix = Fix{"options are passed by name, `" + std::string(row.keywords[0].name) + "=...`", {}};
        bad = true;
    }
    for (std::size_t k = 0; k < row.keywords.size(); ++k) {
        op.attributes.push_back(fallback(row.keywords[k]));
        if (keyword_arguments[k]) bad |= !fill_keyword(row, row.keywords[k], *keyword_arguments[k], op.attributes.back());
        else if (row.keywords[k].required && !bad) {
            bool type = row.keywords[k].kind == KeywordKind::dtype && row.pipe == isa::PipeRule::in_vector;
            report(type ? Code::register_type : Code::keyword_missing, e.at, "`" + shown(row) + "` needs `" + std::string(row.keywords[k].name) + "=`");
            bad = true;
        }
    }
    if (bad) return error_value();
    if (row.semantics == isa::Semantics::setval) {
        ir::ExprId& value = std::get<ir::ExprId>(op.operands.back());
        const auto* tile = std::get_if<ir::TileVarId>(&op.operands[0]);
        value = cast(value, tile ? m_fn[*tile].type.dtype : m_fn[std::get<ir::TensorId>(op.operands[0])].dtype, op.operand_spans.back());
    }
    if (row.semantics == isa::Semantics::getval || row.semantics == isa::Semantics::setval) {
        const auto* tile = std::get_if<ir::TileVarId>(&op.operands[0]);
        DType t = tile ? m_fn[*tile].type.dtype : m_fn[std::get<ir::TensorId>(op.operands[0])].dtype;
        if (!isa::is_scalar(t)) return fail(Code::storage_only, e.at, std::string(isa::language_name(t)) + " elements cannot be read or written one by one");
    }
    settle_pipe(op);
    Value result = results_of(op, e, targets);
    if (result.is(Kind::error)) return result;
    emit(std::move(op), e.at);
    return result;
}

Value Target::eval_call(const Expr& e, Targets targets) {
    std::size_t before = m_shared.diagnostics.size();
    bool outer_final = m_final;
    m_final = false;
    const Expr& callee = e.args[0];
    Value v;
    if (std::string path = path_of(callee); !path.empty()) {
        v = call_language(path, e, targets);
    } else {
        Value f;
        bool done = false;
        if (callee.kind == ExprKind::attribute) {
            bool slot = callee.text == "next" || callee.text == "current" || callee.text == "previous";
            std::string dotted = callee.dotted();
            std::string root = dotted.substr(0, dotted.find('.'));
            if (dotted.empty() || find_local(root) || slot || m_shared.look_up(m_frame->scope, root).is(Kind::dtype)) {
                Value base = eval(callee.args[0]);
                if (base.is(Kind::error)) {
                    v = base;
                    done = true;
                } else if (base.is(Kind::group) && slot) {
                    v = group_method(base, callee.text, e);
                    done = true;
                } else if (slot) {
                    v = fail(Code::unknown_attribute, callee.at, "`." + callee.text + "()` belongs to a tile group, this is " + describe(base));
                    done = true;
                } else if (base.is(Kind::dtype)) {
                    DType t = base.dtype;
                    const std::string& m = callee.text;
                    done = true;
                    if (m == "get_bit" || m == "bits") v = integer_value(isa::bits(t));
                    else if (m == "is_float") v = boolean_value(isa::is_float(t));
                    else if (m == "is_int") v = boolean_value(isa::is_int(t));
                    else if (m == "is_signed_int" || m == "is_signed") v = boolean_value(isa::is_signed_int(t));
                    else if (m == "is_unsigned_int" || m == "is_unsigned") v = boolean_value(isa::is_unsigned_int(t));
                    else if (m == "to_string") v = text_value(Kind::text, std::string(isa::name(t)));
                    else done = false;
                }
            }
        }
        if (!done) {
            f = eval(callee);
            if (f.is(Kind::error)) v = f;
            else if (f.is(Kind::function)) v = call_function(f, e);
            else v = fail(Code::not_callable, callee.at, describe(f) + " is called");
        }
    }
    bool final = m_final;
    m_final = outer_final;
    if (v.is(Kind::error) && !final && m_shared.diagnostics.size() > before) {
        std::string error;
        if (auto p = by_python(e, error)) {
            m_shared.diagnostics.resize(before);
            return *p;
        }
        if (!error.empty()) m_shared.diagnostics.back().advice = {"as a compile-time expression Python answers: " + error};
    }
    if (final && v.is(Kind::error)) m_final = true;
    return v;
}

} // namespace pto::resolve
