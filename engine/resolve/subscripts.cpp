/// What stands in brackets: tuple elements, group slots, struct records, element access, sub-views.

#include "engine/resolve/target.hpp"

#include <algorithm>
#include <array>

namespace pto::resolve {

using ir::ExprOp;
using isa::DType;
using syntax::Expr;
using syntax::ExprKind;

Value Target::eval_subscript(const Expr& e) {
    // valid_shape[i] alone reads one extent.
    const Expr& owner = e.args[0];
    if (owner.kind == ExprKind::attribute && owner.text == "valid_shape") {
        Value tile = eval(owner.args[0]);
        if (tile.is(Kind::error)) return tile;
        if (tile.is(Kind::tile) || tile.is(Kind::memory)) {
            auto i = constant_integer(e.args[1], "the index of valid_shape");
            if (!i) return error_value();
            if (*i < -2 || *i > 1) return fail(Code::shape_index, e.args[1].at, "index " + std::to_string(*i) + " of valid_shape, which has 2 entries");
            ir::Expr x;
            x.op = ExprOp::valid_dim;
            x.tile = ir::TileVarId{tile.id};
            x.integer = *i < 0 ? *i + 2 : *i;
            x.at = e.at;
            return scalar_value(leaf(std::move(x)), DType::index);
        }
    }
    Value base = eval(owner);
    if (base.is(Kind::error)) return base;
    switch (base.kind) {
    case Kind::tuple: return subscript_tuple(base, e);
    case Kind::tile:
    case Kind::memory:
    case Kind::tensor: return subscript_tile(base, e);
    case Kind::group: {
        Value index = eval(e.args[1]);
        if (index.is(Kind::error)) return index;
        return group_slot(base, index, e.at);
    }
    case Kind::struct_array: {
        if (e.args[1].kind == ExprKind::slice) return fail(Code::slice_form, e.args[1].at, "a struct array cannot be sliced");
        Value index = eval(e.args[1]);
        if (index.is(Kind::error)) return index;
        std::int32_t count = m_fn.structs[std::size_t(base.id)].count;
        if (!index.is_scalar() || isa::is_float(index.dtype)) return fail(Code::struct_index, e.args[1].at, "a struct array is indexed by " + describe(index));
        if (index.is_number() && (index.integer < 0 || index.integer >= count))
            return fail(Code::struct_index, e.args[1].at, "index " + std::to_string(index.integer) + " of a struct array of " + std::to_string(count));
        Value v = id_value(Kind::structure, base.id);
        v.expr = expr_as(index, DType::index, e.args[1].at);
        return v;
    }
    case Kind::array_field: {
        Value index = eval(e.args[1]);
        if (index.is(Kind::error)) return index;
        const ir::Field f = m_fn.structs[std::size_t(base.id)].fields[std::size_t(base.field)];
        if (!index.is_scalar() || isa::is_float(index.dtype)) return fail(Code::struct_index, e.args[1].at, "`" + f.name + "` is indexed by " + describe(index));
        if (index.is_number() && (index.integer < 0 || index.integer >= f.length))
            return fail(Code::struct_index, e.args[1].at, "index " + std::to_string(index.integer) + " of `" + f.name + "`, which has " + std::to_string(f.length) + " elements");
        ir::Expr x;
        x.op = ExprOp::field;
        x.dtype = f.dtype;
        x.structure = ir::StructId{base.id};
        x.a = base.expr;
        x.b = expr_as(index, DType::index, e.args[1].at);
        x.integer = base.field;
        x.at = e.at;
        return scalar_value(leaf(std::move(x)), f.dtype);
    }
    case Kind::structure:
        return fail(Code::struct_index, e.at, "`" + std::string(text(owner.at)) + "` is one struct, not an array");
    default: return fail(Code::unsupported_expression, e.at, describe(base) + " has no elements");
    }
}

Value Target::subscript_tuple(const Value& base, const Expr& e) {
    const Expr& index = e.args[1];
    bool is_shape = e.args[0].kind == ExprKind::attribute && e.args[0].text == "shape";
    if (index.kind == ExprKind::tuple) return fail(Code::tuple_index, index.at, "a tuple takes one index, not " + std::to_string(index.args.size()));
    if (index.kind == ExprKind::slice) {
        std::int64_t n = std::int64_t(base.size()), begin = 0, end = n;
        for (int part = 0; part < 2; ++part) {
            if (index.args[std::size_t(part)].kind == ExprKind::absent) continue;
            auto c = constant_integer(index.args[std::size_t(part)], "the bound of a slice");
            if (!c) return error_value();
            (part ? end : begin) = std::clamp<std::int64_t>(*c < 0 ? *c + n : *c, 0, n);
        }
        std::vector<Value> part;
        for (std::int64_t i = begin; i < end; ++i) part.push_back(base[std::size_t(i)]);
        return tuple_value(std::move(part), base.is_list);
    }
    Value i = eval(index);
    if (i.is(Kind::error)) return i;
    if (i.is(Kind::integer) || i.is(Kind::boolean)) {
        std::int64_t n = std::int64_t(base.size()), at = i.integer;
        bool outside_constant = e.args[0].kind == ExprKind::name && !m_frame->index.count(e.args[0].text);
        if (at < 0 && (is_shape || outside_constant)) at += n; // shapes and Python's own lists count from the end too
        if (at < 0 || at >= n)
            return fail(is_shape ? Code::shape_index : Code::tuple_index, index.at, "index " + std::to_string(i.integer) + " of " + std::to_string(n) + " elements");
        return base[std::size_t(at)];
    }
    if (!i.is(Kind::scalar) || isa::is_float(i.dtype)) return fail(Code::tuple_index, index.at, "an index is " + describe(i));
    if (is_shape) return fail(Code::shape_index, index.at, "an axis of a shape is not known at compile time");
    return choose_element(base, i, e.at);
}

Value Target::choose_element(const Value& list, const Value& index, Span at) {
    std::size_t n = list.size();
    if (n == 0) return fail(Code::tuple_index, at, "an element of an empty list");
    if (n == 1) return list[0];
    auto select = [&](ir::ExprId c, ir::ExprId a, ir::ExprId b, DType t) {
        ir::Expr x;
        x.op = ExprOp::select;
        x.dtype = t;
        x.a = c;
        x.b = a;
        x.c = b;
        x.at = at;
        return m_fn.add(std::move(x));
    };
    auto is_index = [&](std::size_t i) {
        return make(ExprOp::eq, DType::boolean, expr_as(index, DType::index, at), literal(std::int64_t(i), DType::index, at), at);
    };
    bool scalars = true, integers = true, tiles = true;
    for (const Value& v : list.more->elements) {
        scalars &= v.is_scalar() && v.dtype == list[0].dtype;
        integers &= v.is(Kind::integer) && v.dtype == list[0].dtype;
        tiles &= v.is(Kind::tile);
    }
    if (integers) {
        // Id lists are nearly always consecutive: base + index * step reads as what it is and costs nothing.
        std::int64_t base = list[0].integer, step = list[1].integer - base;
        bool even = true;
        for (std::size_t i = 2; i < n; ++i) even &= list[i].integer - list[i - 1].integer == step;
        if (even) {
            Value v = step == 0 ? list[0] : index;
            if (step == 0) return v;
            if (step != 1) v = binary("*", v, integer_value(step), at);
            return base == 0 ? v : binary("+", v, integer_value(base), at);
        }
    }
    if (scalars) {
        DType t = list[0].dtype;
        ir::ExprId e = expr_of(list[n - 1], at);
        for (std::size_t i = n - 1; i-- > 0;) e = select(is_index(i), expr_of(list[i], at), e, t);
        return scalar_value(e, t);
    }
    if (tiles) {
        Value chosen = list[n - 1];
        const isa::TileType type = m_fn.tiles[std::size_t(chosen.id)].type;
        std::vector<ir::TileDeclId> may_be = m_fn.tiles[std::size_t(chosen.id)].may_be;
        for (std::size_t i = n - 1; i-- > 0;) {
            const ir::TileVar& t = m_fn.tiles[std::size_t(list[i].id)];
            if (!(t.type == type)) return fail(Code::tuple_index, at, "a run-time index needs tiles of one type");
            may_be.insert(may_be.end(), t.may_be.begin(), t.may_be.end());
            std::sort(may_be.begin(), may_be.end());
            may_be.erase(std::unique(may_be.begin(), may_be.end()), may_be.end());
            ir::TileVarId var = new_tile("", type, may_be, at);
            emit(ir::TileBind{var, ir::ChoiceOf{is_index(i), ir::TileVarId{list[i].id}, ir::TileVarId{chosen.id}}}, at);
            chosen = id_value(Kind::tile, var.index);
        }
        return chosen;
    }
    return fail(Code::tuple_index, at, "a run-time index needs elements of one type");
}

// ---------------------------------------------------------------- groups

Value Target::group_slot(const Value& group, const Value& index, Span at) {
    ir::TileDeclId decl{group.id};
    const ir::TileDecl& d = m_fn[decl];
    if (!index.is_scalar() || isa::is_float(index.dtype)) return fail(Code::group_index, at, "a tile group is indexed by " + describe(index));
    if (index.is_number() && (index.integer < 0 || index.integer >= d.slots()))
        return fail(Code::group_index, at, "slot " + std::to_string(index.integer) + " of a group of " + std::to_string(d.slots()));
    isa::TileType type = d.type;
    ir::TileVarId slot = new_tile("", type, {decl}, at);
    emit(ir::TileBind{slot, ir::SlotOf{decl, expr_as(index, DType::index, at)}}, at);
    if (!group.more) return id_value(Kind::tile, slot.index);
    ir::TileVarId view = new_tile("", group.more->type, {decl}, at);
    emit(ir::TileBind{view, ir::ViewOf{slot}}, at);
    return id_value(Kind::tile, view.index);
}

Value Target::group_method(const Value& group, std::string_view method, const Expr& call) {
    if (call.args.size() != 1 || !call.keywords.empty()) return fail(Code::operand_count, call.at, "`" + std::string(method) + "` takes no arguments");
    ir::TileDeclId decl{group.id};
    std::int32_t slots = m_fn[decl].slots();
    ir::VarId cursor = m_fn[decl].cursor;
    auto number = [&](std::int64_t i) { return literal(i, DType::index, call.at); };
    auto slot = [&](ir::ExprId e) { return group_slot(group, scalar_value(make(ExprOp::mod, DType::index, e, number(slots), call.at), DType::index), call.at); };
    if (slots == 1) return group_slot(group, integer_value(0), call.at);
    if (method == "next")
        emit(ir::Assign{cursor, make(ExprOp::add, DType::index, read(cursor, call.at), number(1), call.at)}, call.at);
    if (method == "previous") return slot(make(ExprOp::add, DType::index, read(cursor, call.at), number(slots - 1), call.at));
    return slot(read(cursor, call.at));
}

// ---------------------------------------------------------------- elements and sub-views

Value Target::subscript_tile(const Value& base, const Expr& e) {
    const Expr& index = e.args[1];
    bool slices = index.kind == ExprKind::slice;
    bool all_slices = slices;
    if (index.kind == ExprKind::tuple) {
        all_slices = !index.args.empty();
        for (const Expr& a : index.args) {
            slices |= a.kind == ExprKind::slice;
            all_slices &= a.kind == ExprKind::slice;
        }
    }
    if (m_before_vector) {
        Diagnostic& d = report(Code::slice_form, e.at, "a tile is subscripted inside a vector function");
        d.fix = Fix{"use `tile + offset`, or the offset argument of the load or store", {}};
        return error_value();
    }
    if (!slices) return element_read(base, e);
    if (base.is(Kind::tensor)) return fail(Code::slice_form, e.at, "a tensor cannot be sliced; load a window of it with offsets");
    if (index.kind != ExprKind::tuple || index.args.size() != 2 || !all_slices)
        return fail(Code::slice_form, index.at, "a sub-view of a tile takes two slices, `t[a:b, c:d]`");
    return subview(base, e);
}

Value Target::subview(const Value& base, const Expr& e) {
    const isa::TileType type = m_fn.tiles[std::size_t(base.id)].type;
    if (type.memory != isa::MemorySpace::vec)
        return fail(Code::slice_form, e.at, "a sub-view of a tile in " + std::string(isa::name(type.memory)) + "; only Vec tiles have them");
    if (type.layout != isa::Layout::nd && type.layout != isa::Layout::dn)
        return fail(Code::slice_form, e.at, "a sub-view of a tile in layout " + std::string(isa::name(type.layout)));
    ir::SubviewOf view;
    view.base = ir::TileVarId{base.id};
    std::array<ir::ExprId*, 4> parts{&view.row_begin, &view.row_end, &view.col_begin, &view.col_end};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const Expr& slice = e.args[1].args[axis];
        if (slice.args[2].kind != ExprKind::absent) return fail(Code::slice_form, slice.at, "a sub-view has no step");
        for (std::size_t end = 0; end < 2; ++end) {
            const Expr& bound = slice.args[end];
            Value v = bound.kind == ExprKind::absent ? integer_value(end ? type.shape[axis] : 0) : eval(bound);
            if (v.is(Kind::error)) return v;
            if (!v.is_scalar() || isa::is_float(v.dtype)) return fail(Code::slice_form, bound.at, "a bound of a sub-view is " + describe(v));
            std::int32_t limit = type.fixed_valid ? type.valid[axis] : type.shape[axis];
            if (v.is_number() && end == 0 && (v.integer < 0 || v.integer > limit))
                return fail(Code::slice_form, bound.at, "a sub-view starts at " + std::to_string(v.integer) + " of " + std::to_string(limit));
            *parts[axis * 2 + end] = expr_as(v, DType::index, slice.at);
        }
    }
    isa::TileType own = type;
    own.fixed_valid = false;
    own.valid = {};
    ir::TileVarId t = new_tile("", own, m_fn.tiles[std::size_t(base.id)].may_be, e.at);
    emit(ir::TileBind{t, view}, e.at);
    return id_value(Kind::tile, t.index);
}

std::optional<ir::ExprId> Target::linear_index(const Value& base, const Expr& subscript) {
    const Expr& index = subscript.args[1];
    std::vector<const Expr*> parts;
    if (index.kind == ExprKind::tuple)
        for (const Expr& a : index.args) parts.push_back(&a);
    else parts.push_back(&index);
    std::vector<Value> sizes;
    if (base.is(Kind::tensor)) {
        for (std::size_t i = 0; i < m_fn.tensors[std::size_t(base.id)].dims.size(); ++i) {
            const ir::Dim& d = m_fn.tensors[std::size_t(base.id)].dims[i];
            if (!d.dynamic) {
                sizes.push_back(integer_value(d.size));
                continue;
            }
            ir::Expr x;
            x.op = ExprOp::dim;
            x.tensor = ir::TensorId{base.id};
            x.integer = std::int64_t(i);
            x.at = subscript.at;
            sizes.push_back(scalar_value(leaf(std::move(x)), DType::index));
        }
    } else {
        for (std::int32_t s : m_fn.tiles[std::size_t(base.id)].type.shape) sizes.push_back(integer_value(s));
    }
    if (parts.size() != sizes.size()) {
        report(Code::index_count, index.at, std::to_string(parts.size()) + " indices for " + std::to_string(sizes.size()) + " axes");
        return std::nullopt;
    }
    Value sum;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Value v = eval(*parts[i]);
        if (v.is(Kind::error)) return std::nullopt;
        if (!v.is_scalar() || isa::is_float(v.dtype)) {
            report(Code::tuple_index, parts[i]->at, "an index is " + describe(v));
            return std::nullopt;
        }
        if (i == 0) {
            sum = v;
            continue;
        }
        if (!(sum.is_number() && sum.integer == 0)) sum = binary("*", sum, sizes[i], subscript.at);
        if (sum.is_number() && sum.integer == 0) sum = v;
        else if (!(v.is_number() && v.integer == 0)) sum = binary("+", sum, v, subscript.at);
    }
    return expr_as(sum, DType::index, index.at);
}

Value Target::element_read(const Value& base, const Expr& e) {
    auto linear = linear_index(base, e);
    const isa::OpRow* row = m_shared.catalogue.find("getval");
    if (!linear || !row) return error_value();
    DType t = base.is(Kind::tile) ? m_fn.tiles[std::size_t(base.id)].type.dtype : m_fn.tensors[std::size_t(base.id)].dtype;
    if (!isa::is_scalar(t)) return fail(Code::storage_only, e.at, std::string(isa::language_name(t)) + " elements cannot be read one by one");
    ir::Op op;
    op.row = row;
    if (base.is(Kind::tile)) op.operands.emplace_back(ir::TileVarId{base.id});
    else op.operands.emplace_back(ir::TensorId{base.id});
    op.operands.emplace_back(*linear);
    op.operand_spans = {e.args[0].at, e.args[1].at};
    for (const isa::Keyword& k : row->keywords) op.attributes.push_back(fallback(k));
    ir::VarId result = new_variable("", t, e.at);
    op.results.push_back(result);
    settle_pipe(op);
    emit(std::move(op), e.at);
    Value v = scalar_value({}, t);
    v.id = result.index;
    return v;
}

} // namespace pto::resolve
