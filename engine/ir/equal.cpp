#include "engine/ir/read.hpp"

#include <algorithm>

namespace pto::ir {
namespace {

/// Two functions side by side; expressions are compared as trees.
struct Both {
    const Function &a, &b;

    bool expr(ExprId x, ExprId y) const {
        if (!x.valid() || !y.valid()) return x.valid() == y.valid();
        const Expr &p = a[x], &q = b[y];
        bool reals = p.real == q.real || (p.real != p.real && q.real != q.real);
        return p.op == q.op && p.dtype == q.dtype && p.integer == q.integer && reals && p.var == q.var && p.tensor == q.tensor && p.structure == q.structure &&
               p.tile == q.tile && expr(p.a, q.a) && expr(p.b, q.b) && expr(p.c, q.c);
    }
    bool list(const ExprList& x, const ExprList& y) const {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](ExprId p, ExprId q) { return expr(p, q); });
    }
    // values of operands and attributes: the same alternative, then by kind
    bool same(std::monostate, std::monostate) const { return true; }
    bool same(ExprId x, ExprId y) const { return expr(x, y); }
    bool same(const ExprList& x, const ExprList& y) const { return list(x, y); }
    bool same(const StructRef& x, const StructRef& y) const { return x.structure == y.structure && expr(x.index, y.index); }
    bool same(const MemoryRef& x, const MemoryRef& y) const { return x.tile == y.tile && expr(x.offset, y.offset); }
    bool same(const GroupRef& x, const GroupRef& y) const { return x.decl == y.decl; }
    template <class T> bool same(const T& x, const T& y) const { return x == y; }
    template <class V> bool variants(const V& x, const V& y) const {
        if (x.index() != y.index()) return false;
        return std::visit([&](const auto& p) { return same(p, std::get<std::decay_t<decltype(p)>>(y)); }, x);
    }
    template <class V> bool all(const std::vector<V>& x, const std::vector<V>& y) const {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const V& p, const V& q) { return variants(p, q); });
    }
    // statements
    bool same(const Assign& x, const Assign& y) const { return x.var == y.var && expr(x.value, y.value); }
    bool same(const FieldAssign& x, const FieldAssign& y) const {
        return same(x.target, y.target) && x.field == y.field && expr(x.element, y.element) && expr(x.value, y.value);
    }
    bool same(const SlotOf& x, const SlotOf& y) const { return x.decl == y.decl && expr(x.index, y.index); }
    bool same(const AliasOf& x, const AliasOf& y) const { return x.tile == y.tile; }
    bool same(const SubviewOf& x, const SubviewOf& y) const {
        return x.base == y.base && expr(x.row_begin, y.row_begin) && expr(x.row_end, y.row_end) && expr(x.col_begin, y.col_begin) && expr(x.col_end, y.col_end);
    }
    bool same(const ViewOf& x, const ViewOf& y) const { return x.base == y.base; }
    bool same(const ChoiceOf& x, const ChoiceOf& y) const { return expr(x.condition, y.condition) && x.then == y.then && x.otherwise == y.otherwise; }
    bool same(const TileBind& x, const TileBind& y) const { return x.var == y.var && variants(x.source, y.source); }
    bool same(const TensorBind& x, const TensorBind& y) const {
        return x.tensor == y.tensor && x.alias_of == y.alias_of && expr(x.address, y.address) && list(x.shape, y.shape) && list(x.strides, y.strides);
    }
    bool same(const Op& x, const Op& y) const {
        return x.row == y.row && x.results == y.results && x.registers == y.registers && x.pipe == y.pipe && x.locks == y.locks && all(x.operands, y.operands) &&
               all(x.attributes, y.attributes);
    }
    bool same(const Loop& x, const Loop& y) const {
        return x.var == y.var && expr(x.start, y.start) && expr(x.stop, y.stop) && expr(x.step, y.step) && body(x.body, y.body);
    }
    bool same(const Forever& x, const Forever& y) const { return body(x.body, y.body); }
    bool same(const Branch& x, const Branch& y) const { return expr(x.condition, y.condition) && body(x.then, y.then) && body(x.otherwise, y.otherwise); }
    bool same(const Break&, const Break&) const { return true; }
    bool same(const Continue&, const Continue&) const { return true; }
    bool same(const Return&, const Return&) const { return true; }
    bool same(const VectorCall& x, const VectorCall& y) const {
        return x.name == y.name && x.tiles == y.tiles && x.roles == y.roles && x.captures == y.captures && x.locks == y.locks && body(x.body, y.body);
    }
    bool same(const SimtLaunch& x, const SimtLaunch& y) const {
        return x.name == y.name && all(x.arguments, y.arguments) && expr(x.x, y.x) && expr(x.y, y.y) && expr(x.z, y.z) && x.captures == y.captures &&
               x.thread_x == y.thread_x && x.thread_y == y.thread_y && x.thread_z == y.thread_z && x.locks == y.locks && body(x.body, y.body);
    }
    bool same(const StageScope& x, const StageScope& y) const { return x.stage == y.stage && expr(x.task, y.task) && body(x.body, y.body); }
    bool same(const HelperScope& x, const HelperScope& y) const { return x.helper == y.helper && body(x.body, y.body); }
    bool body(const Body& x, const Body& y) const {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const Stmt& p, const Stmt& q) { return variants(p.what, q.what); });
    }
};

bool same_dims(const std::vector<Dim>& x, const std::vector<Dim>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Dim& p, const Dim& q) { return p.dynamic == q.dynamic && (p.dynamic || p.size == q.size); });
}
bool same_fields(const std::vector<Field>& x, const std::vector<Field>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Field& p, const Field& q) { return p.name == q.name && p.dtype == q.dtype && p.length == q.length; });
}
template <class T, class F> bool each(const std::vector<T>& x, const std::vector<T>& y, F&& f) { return std::equal(x.begin(), x.end(), y.begin(), y.end(), f); }

} // namespace

bool equal(const Function& x, const Function& y) {
    return x.core == y.core &&
           each(x.vars, y.vars, [](const Variable& p, const Variable& q) { return p.name == q.name && p.dtype == q.dtype && p.is_pointer == q.is_pointer && p.param == q.param; }) &&
           each(x.decls, y.decls,
                [](const TileDecl& p, const TileDecl& q) {
                    return p.name == q.name && p.type == q.type && p.addresses == q.addresses && p.slot_bytes == q.slot_bytes && p.mutex == q.mutex &&
                           p.fwd_ids == q.fwd_ids && p.bwd_ids == q.bwd_ids && p.is_group == q.is_group && p.cursor == q.cursor;
                }) &&
           each(x.tiles, y.tiles, [](const TileVar& p, const TileVar& q) { return p.name == q.name && p.type == q.type && p.may_be == q.may_be; }) &&
           each(x.tensors, y.tensors,
                [](const Tensor& p, const Tensor& q) { return p.name == q.name && p.dtype == q.dtype && p.layout == q.layout && same_dims(p.dims, q.dims) && p.param == q.param; }) &&
           each(x.structs, y.structs,
                [](const Struct& p, const Struct& q) {
                    return p.name == q.name && p.type_name == q.type_name && same_fields(p.fields, q.fields) && p.count == q.count && p.param == q.param;
                }) &&
           each(x.regs, y.regs, [](const Register& p, const Register& q) { return p.name == q.name && p.kind == q.kind && p.dtype == q.dtype; }) &&
           Both{x, y}.body(x.body, y.body);
}

bool equal(const Kernel& x, const Kernel& y) {
    bool params = each(x.params, y.params, [](const Param& p, const Param& q) {
        return p.name == q.name && p.kind == q.kind && (p.kind == ParamKind::tiling || p.dtype == q.dtype) && p.layout == q.layout && same_dims(p.dims, q.dims) &&
               p.is_static == q.is_static && same_fields(p.fields, q.fields) && p.class_name == q.class_name && p.fallback == q.fallback;
    });
    auto side = [](const std::optional<Function>& p, const std::optional<Function>& q) { return bool(p) == bool(q) && (!p || equal(*p, *q)); };
    return x.name == y.name && x.auto_mutex == y.auto_mutex && params && side(x.cube, y.cube) && side(x.vector, y.vector);
}

} // namespace pto::ir
