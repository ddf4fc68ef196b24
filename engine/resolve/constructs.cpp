/// Words of the language that are no operations: tile types, tiles, groups, structs, tensors, pointers, queries.

#include "engine/resolve/target.hpp"
#include "engine/resolve/tile_types.hpp"

#include <algorithm>
#include <array>

namespace pto::resolve {

using ir::ExprOp;
using isa::DType;
using syntax::Expr;
using syntax::ExprKind;

Value Target::construct(std::string_view name, const Expr& e, bool& known) {
    known = true;
    auto query = [&](ExprOp op) {
        if (e.args.size() != 1 || !e.keywords.empty()) return fail(Code::operand_count, e.at, "`pl." + std::string(name) + "` takes no arguments");
        ir::Expr x;
        x.op = op;
        x.at = e.at;
        return scalar_value(leaf(std::move(x)), DType::index);
    };
    switch (name.empty() ? '\0' : name[0]) {
    case 'T':
        if (name == "TileType") return make_tile_type(e);
        break;
    case 'a':
        if (name == "addptr") {
            if (e.args.size() != 3 || !e.keywords.empty()) return fail(Code::operand_count, e.at, "`pl.addptr` takes a pointer and an offset");
            Value p = eval(e.args[1]), offset = eval(e.args[2]);
            if (p.is(Kind::error) || offset.is(Kind::error)) return error_value();
            return add_pointer(p, offset, e.at);
        }
        break;
    case 'c':
        if (name == "const") return typed_constant(e);
        if (name == "constexpr") return fail(Code::constexpr_condition, e.at, "`pl.constexpr` stands outside the test of an if or a conditional expression");
        break;
    case 'g':
        if (name == "get_block_idx") return query(ExprOp::block_idx);
        if (name == "get_block_num") return query(ExprOp::block_num);
        if (name == "get_subblock_idx") return query(ExprOp::subblock_idx);
        if (name == "get_subblock_num") return query(ExprOp::subblock_num);
        if (name == "get_spr") return query(ExprOp::spr);
        break;
    case 'm':
        if (name == "min" || name == "max") {
            if (e.args.size() != 3 || !e.keywords.empty())
                return fail(Code::operand_count, e.at, "`pl." + std::string(name) + "` takes two scalars, here " + std::to_string(e.args.size() - 1));
            Value a = eval(e.args[1]), b = eval(e.args[2]);
            return min_max(name == "max", a, b, e.at);
        }
        if (name == "make_tile") return make_tile(e);
        if (name == "make_tile_group") return make_tile_group(e);
        if (name == "make_tuple") return make_record(e);
        if (name == "make_tensor") return make_tensor(e);
        if (name == "make_ptr") return make_pointer(e);
        break;
    case 'r':
        if (name == "range") return fail(Code::loop_iterator, e.at, "`pl.range` stands outside a for");
        if (name == "reinterpret") return reinterpret(e);
        break;
    case 's':
        if (name == "struct") return make_struct(e, false);
        if (name == "struct_array") return make_struct(e, true);
        if (name == "section_cube" || name == "section_vector") return fail(Code::with_form, e.at, "a section stands outside a with");
        if (name.substr(0, 5) == "simt.") {
            m_final = true;
            return fail(Code::simt_unsupported, e.at, "`pl." + std::string(name) + "` belongs to SIMT functions, which do not compile here: write the loop as a @pl.vector_function or with tile operations");
        }
        break;
    default: break;
    }
    known = false;
    return {};
}

bool Target::only_keywords(const Expr& e, std::initializer_list<std::string_view> allowed, std::string_view what) {
    bool good = true;
    for (const syntax::Keyword& k : e.keywords) {
        if (std::find(allowed.begin(), allowed.end(), k.name) != allowed.end()) continue;
        std::string have;
        for (std::string_view a : allowed) have += (have.empty() ? "" : ", ") + std::string(a);
        report(Code::keyword_unknown, k.name_at.valid() ? k.name_at : e.at, "`" + std::string(what) + "` has no keyword `" + (k.name.empty() ? "**" : k.name) + "`; it has " + have);
        good = false;
    }
    if (!good) m_final = true;
    return good;
}

std::optional<std::vector<std::int64_t>> Target::integer_list(const Value& v) const {
    if (!v.is(Kind::tuple)) return std::nullopt;
    std::vector<std::int64_t> out;
    for (const Value& e : v.more->elements) {
        if (!e.is(Kind::integer)) return std::nullopt;
        out.push_back(e.integer);
    }
    return out;
}

Value Target::make_tile_type(const Expr& e) {
    TileTypeArguments arguments;
    std::array<Span, 8> at;
    at.fill(e.at);
    if (e.args.size() > 9) return fail(Code::operand_count, e.at, "`pl.TileType` takes at most 8 arguments");
    bool bad = !only_keywords(e, {"shape", "dtype", "target_memory", "valid_shape", "layout", "fractal", "pad", "compact"}, "pl.TileType");
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        arguments.values[i - 1] = eval(e.args[i]);
        at[i - 1] = e.args[i].at;
    }
    for (const syntax::Keyword& k : e.keywords)
        for (std::size_t i = 0; i < TileTypeArguments::names.size(); ++i)
            if (k.name == TileTypeArguments::names[i]) {
                arguments.values[i] = eval(k.value[0]);
                at[i] = k.value[0].at;
            }
    for (const Value& v : arguments.values) bad |= v.is(Kind::error);
    m_final = true;
    if (bad) return error_value();
    std::size_t wrong = 0;
    std::string why;
    auto type = build_tile_type(arguments, wrong, why);
    if (!type) return fail(Code::tile_type, at[wrong], why);
    return tile_type_value(*type);
}

Value Target::make_tile(const Expr& e) {
    bool bad = !only_keywords(e, {"tile_type", "type", "addr", "size"}, "pl.make_tile");
    const Expr* type_at = e.args.size() > 1 ? &e.args[1] : e.keyword("tile_type");
    if (!type_at) type_at = e.keyword("type");
    const Expr* addr_at = e.keyword("addr");
    if (e.args.size() > 2) {
        m_final = true;
        return fail(Code::make_tile, e.args[2].at, "`pl.make_tile` takes its type by position and `addr=` by name");
    }
    if (!type_at || !addr_at) {
        m_final = true;
        return fail(Code::make_tile, e.at, std::string("`pl.make_tile` misses ") + (type_at ? "`addr=`" : "its tile type"));
    }
    Value type = eval(*type_at);
    auto addr = constant_integer(*addr_at, "`addr`");
    std::optional<std::int64_t> size;
    if (const Expr* s = e.keyword("size"); s && s->kind != ExprKind::none) {
        size = constant_integer(*s, "`size`");
        if (!size) bad = true;
        else if (*size <= 0) {
            report(Code::make_tile, s->at, "the size " + std::to_string(*size) + " is not positive");
            bad = true;
        }
    }
    m_final = true;
    if (type.is(Kind::error) || !addr || bad) return error_value();
    if (!type.is(Kind::tile_type)) return fail(Code::make_tile, type_at->at, "the type of a tile is " + describe(type));
    std::int64_t alignment = address_alignment(type.more->type.memory);
    if (*addr < 0 || *addr % alignment != 0)
        return fail(Code::address_alignment, addr_at->at, "address " + std::to_string(*addr) + " in " + std::string(isa::name(type.more->type.memory)) +
                                                              (*addr < 0 ? " is negative" : " is no multiple of " + std::to_string(alignment)));
    ir::TileDecl d;
    d.type = type.more->type;
    d.addresses = {*addr};
    d.slot_bytes = size.value_or(d.type.byte_size());
    d.at = e.at;
    m_fn.decls.push_back(std::move(d));
    ir::TileDeclId id{std::int32_t(m_fn.decls.size() - 1)};
    ir::TileVarId t = new_tile("", type.more->type, {id}, e.at);
    emit(ir::TileBind{t, ir::SlotOf{id, literal(0, DType::index, e.at)}}, e.at);
    return id_value(Kind::tile, t.index);
}

Value Target::make_tile_group(const Expr& e) {
    auto give_up = [&](Code code, Span at, std::string why) {
        m_final = true;
        return fail(code, at, std::move(why));
    };
    if (e.args.size() > 1) return give_up(Code::tile_group, e.args[1].at, "`pl.make_tile_group` takes its arguments by name");
    bool bad = !only_keywords(e, {"type", "addrs", "mutex_ids", "depth", "fwd_ids", "bwd_ids"}, "pl.make_tile_group");
    auto value = [&](std::string_view name, Span& at) {
        const Expr* x = e.keyword(name);
        if (!x) return none_value();
        at = x->at;
        Value v = eval(*x);
        bad |= v.is(Kind::error);
        return v;
    };
    Span type_at = e.at, addrs_at = e.at, mutex_at = e.at, depth_at = e.at, fwd_at = e.at, bwd_at = e.at;
    Value type = value("type", type_at), addrs = value("addrs", addrs_at), mutex = value("mutex_ids", mutex_at), depth = value("depth", depth_at),
          fwd = value("fwd_ids", fwd_at), bwd = value("bwd_ids", bwd_at);
    m_final = true;
    if (bad) return error_value();
    if (!type.is(Kind::tile_type)) return fail(Code::tile_group, type_at, type.is(Kind::none) ? "`pl.make_tile_group` misses `type=`" : "the type of a group is " + describe(type));
    if (addrs.is(Kind::none)) return fail(Code::tile_group, e.at, "`pl.make_tile_group` misses `addrs=`");
    ir::TileDecl d;
    d.type = type.more->type;
    d.slot_bytes = d.type.byte_size();
    d.is_group = true;
    d.at = e.at;
    std::size_t slots = 0;
    const bool automatic = mutex.is(Kind::text) && mutex.more->text == "auto"; // of newer versions: ids are given when all groups are known
    if (mutex.is(Kind::tuple)) {
        for (const Value& m : mutex.more->elements) {
            std::vector<std::int32_t> ids;
            auto take = [&](const Value& v) {
                if (!v.is(Kind::integer) || v.integer < 0 || v.integer > 31) {
                    report(Code::mutex_ids, mutex_at, "a mutex id is " + describe(v) + ", not an integer from 0 to 31");
                    return false;
                }
                ids.push_back(std::int32_t(v.integer));
                return true;
            };
            if (m.is(Kind::tuple)) {
                if (m.size() == 0) return fail(Code::mutex_ids, mutex_at, "a slot has an empty list of mutex ids");
                for (const Value& id : m.more->elements)
                    if (!take(id)) return error_value();
                auto sorted = ids;
                std::sort(sorted.begin(), sorted.end());
                if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return fail(Code::mutex_ids, mutex_at, "a slot names one mutex id twice");
            } else if (!take(m)) {
                return error_value();
            }
            if (!d.mutex.empty() && d.mutex.front().size() != ids.size())
                return fail(Code::mutex_ids, mutex_at, "one slot has " + std::to_string(d.mutex.front().size()) + " mutex ids, another " + std::to_string(ids.size()));
            d.mutex.push_back(std::move(ids));
        }
        slots = d.mutex.size();
    } else if (!mutex.is(Kind::none) && !automatic) {
        return fail(Code::mutex_ids, mutex_at, "`mutex_ids` is " + describe(mutex) + ", not a list or \"auto\"");
    }
    if (!depth.is(Kind::none)) {
        if (!depth.is(Kind::integer) || depth.integer <= 0) return fail(Code::tile_group, depth_at, "`depth` is " + describe(depth) + ", not a positive constant");
        if (slots && std::int64_t(slots) != depth.integer)
            return fail(Code::tile_group, depth_at, "`depth` is " + std::to_string(depth.integer) + ", `mutex_ids` has " + std::to_string(slots) + " entries");
        slots = std::size_t(depth.integer);
    }
    if (!slots && automatic && addrs.is(Kind::tuple)) slots = addrs.size();
    if (!slots) return fail(Code::tile_group, e.at, automatic ? "a group with automatic mutex ids needs `depth=`" : "a group without mutex ids needs `depth=`");
    if (automatic) d.mutex.assign(slots, {-1});
    if (slots > 4096) return fail(Code::tile_group, depth_at, "a group of " + std::to_string(slots) + " slots");
    if (addrs.is(Kind::integer)) {
        for (std::size_t i = 0; i < slots; ++i) d.addresses.push_back(addrs.integer + std::int64_t(i) * d.slot_bytes);
    } else if (auto list = integer_list(addrs)) {
        if (list->size() != slots) return fail(Code::tile_group, addrs_at, "`addrs` has " + std::to_string(list->size()) + " entries for " + std::to_string(slots) + " slots");
        d.addresses = *list;
    } else {
        return fail(Code::tile_group, addrs_at, "`addrs` is " + describe(addrs) + ", not a constant address or a list of them");
    }
    std::int64_t alignment = address_alignment(d.type.memory);
    for (std::int64_t a : d.addresses)
        if (a < 0 || a % alignment != 0)
            return fail(Code::address_alignment, addrs_at, "slot address " + std::to_string(a) + " in " + std::string(isa::name(d.type.memory)) +
                                                               (a < 0 ? " is negative" : " is no multiple of " + std::to_string(alignment)));
    auto ids = [&](const Value& v, Span at, std::string_view name, std::vector<std::int32_t>& into) {
        if (v.is(Kind::none)) return true;
        auto list = integer_list(v);
        if (!list) {
            report(Code::event_ids, at, "`" + std::string(name) + "` is " + describe(v) + ", not a list of constants");
            return false;
        }
        for (std::int64_t i : *list) into.push_back(std::int32_t(i)); // range and count are rules of the pipeline transform
        return true;
    };
    if (!ids(fwd, fwd_at, "fwd_ids", d.fwd_ids) || !ids(bwd, bwd_at, "bwd_ids", d.bwd_ids)) return error_value();
    if (slots > 1) d.cursor = new_variable("", DType::index, e.at);
    m_fn.decls.push_back(std::move(d));
    return id_value(Kind::group, std::int32_t(m_fn.decls.size() - 1));
}

Value Target::make_struct(const Expr& e, bool array) {
    std::string_view word = array ? "pl.struct_array" : "pl.struct";
    auto give_up = [&](Span at, std::string why) {
        m_final = true;
        return fail(Code::struct_form, at, std::move(why));
    };
    std::size_t first = array ? 2 : 1;
    std::int64_t count = 1;
    if (array) {
        if (e.args.size() < 2) return give_up(e.at, "`pl.struct_array` needs a count and a name");
        auto n = constant_integer(e.args[1], "the count of a struct array");
        if (!n) return error_value();
        if (*n <= 0) return give_up(e.args[1].at, "a struct array of " + std::to_string(*n));
        count = *n;
    }
    if (e.args.size() != first + 1 || e.args[first].kind != ExprKind::string) return give_up(e.at, "`" + std::string(word) + "` needs its name as a string literal");
    if (e.keywords.empty()) return give_up(e.at, "`" + std::string(word) + "` has no fields");
    ir::Struct s;
    s.type_name = e.args[first].text;
    s.count = std::int32_t(count);
    s.at = e.at;
    std::vector<Value> initial;
    for (const syntax::Keyword& k : e.keywords) {
        if (k.name.empty()) return give_up(k.value[0].at, "`**` in the fields of a struct");
        Value v = eval(k.value[0]);
        if (v.is(Kind::error)) return v;
        ir::Field f;
        f.name = k.name;
        if (v.is(Kind::tuple)) {
            if (v.size() == 0) return give_up(k.value[0].at, "the array field `" + k.name + "` has no elements");
            for (const Value& element : v.more->elements)
                if (!element.is_scalar()) return give_up(k.value[0].at, "the array field `" + k.name + "` holds " + describe(element));
            f.length = std::int32_t(v.size());
            f.dtype = v[0].dtype;
            for (const Value& element : v.more->elements)
                if (isa::is_float(element.dtype) && !isa::is_float(f.dtype)) f.dtype = element.dtype;
        } else if (v.is_scalar()) {
            f.dtype = v.dtype;
        } else {
            return give_up(k.value[0].at, "field `" + k.name + "` is " + describe(v) + "; a struct holds scalars");
        }
        s.fields.push_back(std::move(f));
        initial.push_back(std::move(v));
    }
    m_fn.structs.push_back(std::move(s));
    ir::StructId id{std::int32_t(m_fn.structs.size() - 1)};
    bool once = true; // fields start at zero, so a statement that runs once need not write zeros
    for (const Frame* f = m_frame; f; f = f->caller) once &= f->loops == 0;
    for (std::int64_t r = 0; r < count; ++r) {
        ir::StructRef ref{id, array ? literal(r, DType::index, e.at) : ir::ExprId{}};
        for (std::size_t f = 0; f < initial.size(); ++f) {
            DType t = m_fn[id].fields[f].dtype;
            auto write = [&](const Value& v, ir::ExprId element) {
                if (once && v.is_number() && v.integer == 0 && v.real == 0) return;
                emit(ir::FieldAssign{ref, std::int32_t(f), element, expr_as(v, t, e.keywords[f].value[0].at)}, e.at);
            };
            if (!initial[f].is(Kind::tuple)) write(initial[f], {});
            else
                for (std::size_t i = 0; i < initial[f].size(); ++i) write(initial[f][i], literal(std::int64_t(i), DType::index, e.at));
        }
    }
    return id_value(array ? Kind::struct_array : Kind::structure, id.index);
}

Value Target::make_record(const Expr& e) {
    if (e.args.size() > 1) {
        m_final = true;
        return fail(Code::struct_form, e.args[1].at, "`pl.make_tuple` names its members, `pl.make_tuple(f=v)`");
    }
    auto more = std::make_shared<More>();
    for (const syntax::Keyword& k : e.keywords) {
        if (k.name.empty()) return fail(Code::struct_form, k.value[0].at, "`**` in the members of a make_tuple");
        more->elements.push_back(eval(k.value[0]));
        if (more->elements.back().is(Kind::error)) return error_value();
        more->names.push_back(k.name);
    }
    Value v;
    v.kind = Kind::record;
    v.more = std::move(more);
    return v;
}

Value Target::make_tensor(const Expr& e) {
    static constexpr std::string_view names[] = {"src", "shape", "stride", "dtype", "layout"};
    if (!only_keywords(e, {"src", "shape", "stride", "dtype", "layout"}, "pl.make_tensor")) return error_value();
    Value given[5];
    Span at[5] = {e.at, e.at, e.at, e.at, e.at};
    if (e.args.size() > 5) return fail(Code::operand_count, e.at, "`pl.make_tensor` takes a source, a shape and a stride");
    for (std::size_t i = 1; i < e.args.size(); ++i) given[i - 1] = eval(e.args[i]), at[i - 1] = e.args[i].at;
    for (const syntax::Keyword& k : e.keywords)
        for (std::size_t i = 0; i < 5; ++i)
            if (k.name == names[i]) given[i] = eval(k.value[0]), at[i] = k.value[0].at;
    m_final = true;
    for (const Value& v : given)
        if (v.is(Kind::error)) return v;
    const Value &src = given[0], &shape = given[1], &stride = given[2], &dtype = given[3], &layout = given[4];
    bool has_stride = !stride.is(Kind::unbound) && !stride.is(Kind::none);
    auto scalars = [&](const Value& v) {
        return v.is(Kind::tuple) && v.size() > 0 && v.size() <= 8 &&
               std::all_of(v.more->elements.begin(), v.more->elements.end(), [](const Value& x) { return x.is_scalar() && !isa::is_float(x.dtype); });
    };
    if (!src.is(Kind::tensor) && !src.is(Kind::pointer)) return fail(Code::operand_kind, at[0], "`pl.make_tensor` views a tensor or pointer, this is " + describe(src));
    if (!scalars(shape)) return fail(Code::operand_kind, at[1], "the shape is a list of 1 to 8 integers, this is " + describe(shape));
    if (has_stride && (!scalars(stride) || stride.size() != shape.size()))
        return fail(Code::operand_kind, at[2], "the stride has one integer per axis, this is " + describe(stride));
    ir::Tensor t;
    t.dtype = src.is(Kind::tensor) ? m_fn.tensors[std::size_t(src.id)].dtype : src.dtype;
    if (dtype.is(Kind::dtype)) t.dtype = dtype.dtype;
    else if (!dtype.is(Kind::unbound) && !dtype.is(Kind::none)) return fail(Code::keyword_value, at[3], "`dtype` is " + describe(dtype));
    if (layout.is(Kind::enumeration) && isa::EnumKind(layout.field) == isa::EnumKind::Layout) t.layout = isa::Layout(layout.integer);
    t.at = e.at;
    ir::TensorBind bind;
    if (src.is(Kind::tensor)) {
        ir::Expr x;
        x.op = ExprOp::address;
        x.tensor = ir::TensorId{src.id};
        x.at = at[0];
        bind.address = leaf(std::move(x));
    } else {
        bind.address = expr_of(src, at[0]);
    }
    for (const Value& d : shape.more->elements) {
        t.dims.push_back(d.is_number() ? ir::Dim{false, d.integer} : ir::Dim{true, 0});
        bind.shape.push_back(expr_as(d, DType::index, at[1]));
    }
    if (has_stride) {
        for (const Value& d : stride.more->elements) bind.strides.push_back(expr_as(d, DType::index, at[2]));
    } else { // row-major, contiguous
        Value step = integer_value(1);
        bind.strides.resize(shape.size());
        for (std::size_t i = shape.size(); i-- > 0;) {
            bind.strides[i] = expr_as(step, DType::index, at[1]);
            step = binary("*", step, shape[i], at[1]);
        }
    }
    m_fn.tensors.push_back(std::move(t));
    bind.tensor = ir::TensorId{std::int32_t(m_fn.tensors.size() - 1)};
    std::int32_t id = bind.tensor.index;
    emit(std::move(bind), e.at);
    return id_value(Kind::tensor, id);
}

Value Target::make_pointer(const Expr& e) {
    if (!only_keywords(e, {"dtype"}, "pl.make_ptr")) return error_value();
    if (e.args.size() < 2 || e.args.size() > 3) return fail(Code::operand_count, e.at, "`pl.make_ptr` takes a tensor or pointer");
    Value src = eval(e.args[1]);
    const Expr* t = e.args.size() > 2 ? &e.args[2] : e.keyword("dtype");
    Value dtype = t ? eval(*t) : none_value();
    if (src.is(Kind::error) || dtype.is(Kind::error)) return error_value();
    if (!dtype.is(Kind::none) && !dtype.is(Kind::dtype)) return fail(Code::keyword_value, t->at, "`dtype` is " + describe(dtype));
    Value p;
    p.kind = Kind::pointer;
    if (src.is(Kind::tensor)) {
        ir::Expr x;
        x.op = ExprOp::address;
        x.tensor = ir::TensorId{src.id};
        x.at = e.at;
        p.expr = leaf(std::move(x));
        p.dtype = m_fn.tensors[std::size_t(src.id)].dtype;
    } else if (src.is(Kind::pointer)) {
        p = src;
    } else {
        return fail(Code::operand_kind, e.args[1].at, "`pl.make_ptr` takes a tensor or pointer, this is " + describe(src));
    }
    if (dtype.is(Kind::dtype)) p.dtype = dtype.dtype;
    return p;
}

Value Target::add_pointer(const Value& p, const Value& offset, Span at) {
    if (!p.is(Kind::pointer)) return fail(Code::pointer_arithmetic, at, "an offset is added to " + describe(p));
    if (!offset.is_scalar() || isa::is_float(offset.dtype)) return fail(Code::pointer_arithmetic, at, "the offset of a pointer is " + describe(offset));
    if (isa::bits(p.dtype) < 8) return fail(Code::pointer_arithmetic, at, "a pointer to " + std::string(isa::language_name(p.dtype)) + " cannot be advanced: elements are smaller than a byte");
    Value bytes = isa::bytes(p.dtype) == 1 ? offset : binary("*", offset, integer_value(isa::bytes(p.dtype)), at);
    Value out = p;
    out.id = -1;
    out.expr = make(ExprOp::add, DType::index, expr_of(p, at), expr_as(bytes, DType::index, at), at);
    return out;
}

Value Target::reinterpret(const Expr& e) {
    if (!only_keywords(e, {"dtype", "shape", "layout"}, "pl.reinterpret")) return error_value();
    if (e.args.size() != 2 || e.keywords.empty()) return fail(Code::operand_count, e.at, "`pl.reinterpret` takes a tile or group and at least one of dtype=, shape=, layout=");
    Value src = eval(e.args[1]);
    if (src.is(Kind::error)) return src;
    if (!src.is(Kind::tile) && !src.is(Kind::group)) return fail(Code::operand_kind, e.args[1].at, "`pl.reinterpret` views a tile or group, this is " + describe(src));
    isa::TileType old = src.is(Kind::tile) ? m_fn.tiles[std::size_t(src.id)].type : src.more ? src.more->type : m_fn.decls[std::size_t(src.id)].type;
    isa::TileType type = old;
    m_final = true;
    if (const Expr* d = e.keyword("dtype")) {
        Value v = eval(*d);
        if (!v.is(Kind::dtype)) return v.is(Kind::error) ? v : fail(Code::keyword_value, d->at, "`dtype` is " + describe(v));
        type.dtype = v.dtype;
        if (type.dtype != old.dtype && !e.keyword("shape")) return fail(Code::tile_type, d->at, "a new type needs `shape=` as well");
    }
    if (const Expr* s = e.keyword("shape")) {
        Value v = eval(*s);
        auto list = integer_list(v);
        if (!list || list->size() != 2 || (*list)[0] <= 0 || (*list)[1] <= 0) return v.is(Kind::error) ? v : fail(Code::tile_type, s->at, "`shape` is " + describe(v));
        type.shape = {std::int32_t((*list)[0]), std::int32_t((*list)[1])};
    }
    if (const Expr* l = e.keyword("layout")) {
        Value v = eval(*l);
        if (!v.is(Kind::enumeration) || isa::EnumKind(v.field) != isa::EnumKind::Layout) return v.is(Kind::error) ? v : fail(Code::keyword_value, l->at, "`layout` is " + describe(v));
        type.layout = isa::Layout(v.integer);
    }
    if (type.byte_size() > old.byte_size())
        return fail(Code::tile_type, e.at, "the view needs " + std::to_string(type.byte_size()) + " bytes, the tile has " + std::to_string(old.byte_size()));
    type.fixed_valid = false;
    type.valid = type.shape;
    if (src.is(Kind::group)) {
        Value v = src;
        auto more = std::make_shared<More>();
        more->type = type;
        v.more = std::move(more);
        return v;
    }
    ir::TileVarId t = new_tile("", type, m_fn.tiles[std::size_t(src.id)].may_be, e.at);
    emit(ir::TileBind{t, ir::ViewOf{ir::TileVarId{src.id}}}, e.at);
    return id_value(Kind::tile, t.index);
}

Value Target::typed_constant(const Expr& e) {
    m_final = true;
    if (e.args.size() != 3 || !e.keywords.empty()) return fail(Code::operand_count, e.at, "`pl.const` takes a number and a type");
    const Expr& number = e.args[1];
    const Expr& digits = number.kind == ExprKind::unary && (number.text == "-" || number.text == "+") ? number.args[0] : number;
    if (digits.kind != ExprKind::integer && digits.kind != ExprKind::real && digits.kind != ExprKind::boolean)
        return fail(Code::constant_required, number.at, "`pl.const` takes a literal, this is `" + std::string(text(number.at)) + "`");
    Value v = eval(number), type = eval(e.args[2]);
    if (v.is(Kind::error) || type.is(Kind::error)) return error_value();
    if (!type.is(Kind::dtype)) return fail(Code::keyword_value, e.args[2].at, "the type of a constant is " + describe(type));
    if (isa::is_float(type.dtype)) return real_value(v.is(Kind::real) ? v.real : double(v.integer), type.dtype);
    if (v.is(Kind::real)) return fail(Code::constant_required, number.at, "a fraction cannot be " + std::string(isa::language_name(type.dtype)));
    if (type.dtype == DType::boolean) return boolean_value(v.integer != 0);
    return integer_value(v.integer, type.dtype);
}

} // namespace pto::resolve
