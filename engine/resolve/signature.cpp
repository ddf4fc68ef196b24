/// Parameters of a kernel. Source: language reference 1.4, 7.

#include "engine/resolve/target.hpp"

namespace pto::resolve {

using isa::DType;
using syntax::Expr;
using syntax::ExprKind;

namespace {

/// What stands for a type of Python in a signature.
const char* scalar_for(std::string_view python) {
    return python == "int" ? "pl.DT_INT64" : python == "float" ? "pl.DT_FP32" : python == "bool" ? "pl.DT_BOOL" : nullptr;
}

} // namespace

void Target::bind_signature() {
    const syntax::Function& f = *m_frame->function;
    const syntax::KernelOptions& options = m_shared.source.options;
    std::vector<ir::Param> params;
    std::size_t tensor_count = 0;
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
        const syntax::Parameter& p = f.parameters[i];
        const Expr& a = p.annotation;
        ir::Param param;
        param.name = p.name;
        param.at = p.at;
        param.fallback = p.fallback.kind == ExprKind::absent ? std::string() : std::string(text(p.fallback.at));
        ir::ParamId id{std::int32_t(params.size())};
        Value v = error_value();
        auto wrong = [&](Code code, Span at, std::string why) { report(code, at, std::move(why)); };
        if (p.starred || p.keyword_only) {
            wrong(Code::parameter_annotation, p.at, "`" + p.name + "` is no plain parameter");
        } else if (a.kind == ExprKind::absent) {
            report(Code::missing_annotation, p.at, "`" + p.name + "` has no annotation").fix = Fix{"annotate it: pl.Tensor[[...], dtype], pl.Ptr[dtype], pl.DT_... or a tiling dataclass", {}};
        } else if (a.kind == ExprKind::tuple) {
            wrong(Code::parameter_annotation, a.at, "a kernel takes no tuple");
        } else if ((a.kind == ExprKind::subscript || a.kind == ExprKind::call) && path_of(a.args[0]) == "pl.Tensor") {
            param.kind = ir::ParamKind::tensor;
            // pl.Tensor[[dims], dtype] or pl.Tensor([dims], dtype)
            std::size_t first = a.kind == ExprKind::call ? 1 : 0;
            const Expr& parts = a.kind == ExprKind::call ? a : a.args[1];
            bool good = (first || parts.kind == ExprKind::tuple) && parts.args.size() >= first + 2 &&
                        (parts.args[first].kind == ExprKind::list || parts.args[first].kind == ExprKind::tuple);
            if (!good) {
                wrong(Code::parameter_annotation, a.at, "a tensor is annotated as pl.Tensor[[dims], dtype]");
            } else {
                const std::vector<std::int64_t>* sizes = tensor_count < m_shared.options.static_shapes.size() ? &m_shared.options.static_shapes[tensor_count] : nullptr;
                const Expr& dims = parts.args[first];
                auto fixed_by_launch = [&](std::size_t axis) {
                    bool known = sizes && axis < sizes->size();
                    param.dims.push_back(known ? ir::Dim{false, (*sizes)[axis]} : ir::Dim{true, 0});
                    param.is_static.push_back(true);
                };
                for (std::size_t axis = 0; good && axis < dims.args.size(); ++axis) {
                    const Expr& d = dims.args[axis];
                    if (d.kind == ExprKind::ellipsis) {
                        if (axis + 1 != dims.args.size()) wrong(Code::tensor_dims, d.at, "`...` stands before other dimensions"), good = false;
                        if (sizes)
                            for (std::size_t rest = axis; rest < sizes->size(); ++rest) fixed_by_launch(rest);
                        else fixed_by_launch(axis);
                        break;
                    }
                    std::string path = path_of(d);
                    if (path == "pl.DYNAMIC") {
                        param.dims.push_back({true, 0});
                        param.is_static.push_back(false);
                        continue;
                    }
                    if (path == "pl.STATIC") {
                        fixed_by_launch(axis);
                        continue;
                    }
                    Value size = eval(d);
                    good = !size.is(Kind::error);
                    if (good && !size.is(Kind::integer)) wrong(Code::tensor_dims, d.at, "a dimension is " + describe(size)), good = false;
                    else if (good && size.integer <= 0) wrong(Code::tensor_dims, d.at, "a dimension is " + std::to_string(size.integer)), good = false;
                    if (good) {
                        param.dims.push_back({false, size.integer});
                        param.is_static.push_back(false);
                    }
                }
                Value t = eval(parts.args[first + 1]);
                if (t.is(Kind::dtype)) param.dtype = t.dtype;
                else if (!t.is(Kind::error)) wrong(Code::parameter_annotation, parts.args[first + 1].at, "the element type is " + describe(t)), good = false;
                else good = false;
                for (std::size_t k = first + 2; k < parts.args.size(); ++k) {
                    if (parts.args[k].kind == ExprKind::call && path_of(parts.args[k].args[0]) == "pl.MemRef") continue; // an address fixed by IR tests
                    Value l = eval(parts.args[k]);
                    if (l.is(Kind::enumeration) && isa::EnumKind(l.field) == isa::EnumKind::Layout && (l.integer <= int(isa::Layout::nz))) param.layout = isa::Layout(l.integer);
                    else if (!l.is(Kind::error)) wrong(Code::parameter_annotation, parts.args[k].at, "a tensor's layout is " + describe(l)), good = false;
                }
                if (auto variable = options.datatype.find(p.name); variable != options.datatype.end())
                    if (auto given = m_shared.options.datatype.find(p.name); given != m_shared.options.datatype.end()) param.dtype = given->second;
            }
            ++tensor_count;
            ir::Tensor t;
            t.name = p.name;
            t.dtype = param.dtype;
            t.layout = param.layout;
            t.dims = param.dims;
            t.param = id;
            t.at = p.at;
            m_fn.tensors.push_back(std::move(t));
            if (good) v = id_value(Kind::tensor, std::int32_t(m_fn.tensors.size() - 1));
        } else if (a.kind == ExprKind::subscript && path_of(a.args[0]) == "pl.Ptr") {
            param.kind = ir::ParamKind::pointer;
            Value t = eval(a.args[1]);
            if (t.is(Kind::dtype)) {
                param.dtype = t.dtype;
                ir::VarId var = new_variable(p.name, DType::index, p.at, true);
                m_fn.vars.back().param = id;
                v = Value{};
                v.kind = Kind::pointer;
                v.dtype = t.dtype;
                v.id = var.index;
            } else if (!t.is(Kind::error)) {
                wrong(Code::parameter_annotation, a.at, "a pointer is annotated as pl.Ptr[dtype]");
            }
        } else if (a.kind == ExprKind::subscript) {
            std::string path = path_of(a.args[0]);
            wrong(Code::parameter_annotation, a.at, path.empty() ? "`" + std::string(text(a.at)) + "` is no parameter annotation" : "`" + path + "` annotates no kernel parameter");
        } else if (const char* type = a.kind == ExprKind::name ? scalar_for(a.text) : nullptr; type && m_shared.look_up(m_frame->scope, a.text).is(Kind::unbound)) {
            Diagnostic& d = report(Code::parameter_annotation, a.at, "`" + p.name + "` is annotated with Python's `" + a.text + "`");
            d.fix = Fix{std::string("write ") + type, {{a.at, type}}};
        } else {
            Value t = eval(a);
            if (t.is(Kind::dtype)) {
                param.kind = ir::ParamKind::scalar;
                param.dtype = t.dtype;
                if (!isa::is_scalar(t.dtype)) {
                    wrong(Code::storage_only, a.at, std::string(isa::language_name(t.dtype)) + " cannot be a scalar");
                } else {
                    ir::VarId var = new_variable(p.name, t.dtype, p.at);
                    m_fn.vars.back().param = id;
                    v = scalar_value({}, t.dtype);
                    v.id = var.index;
                }
            } else if (t.is(Kind::tiling_class)) {
                param.kind = ir::ParamKind::tiling;
                param.class_name = t.more->tiling.name;
                if (!t.more->tiling.error.empty()) wrong(Code::tiling_class, a.at, "`" + param.class_name + "`: " + t.more->tiling.error);
                bool last = i + 1 == f.parameters.size();
                bool first_of_kind = true;
                for (const ir::Param& other : params) first_of_kind &= other.kind != ir::ParamKind::tiling;
                if (!last) wrong(Code::tiling_position, p.at, "the tiling parameter `" + p.name + "` is not the last one");
                if (!first_of_kind) wrong(Code::tiling_position, p.at, "`" + p.name + "` is the second tiling parameter");
                ir::Struct s;
                s.name = p.name;
                s.type_name = param.class_name;
                for (const syntax::TilingField& field : t.more->tiling.fields) s.fields.push_back({field.name, field.dtype, std::int32_t(field.length)});
                param.fields = s.fields;
                s.param = id;
                s.at = p.at;
                m_fn.structs.push_back(std::move(s));
                v = id_value(Kind::structure, std::int32_t(m_fn.structs.size() - 1));
                v.read_only = true;
                if (!t.more->tiling.error.empty()) v = error_value(); // what its fields are is unknown: no second finding
            } else if (!t.is(Kind::error)) {
                wrong(Code::parameter_annotation, a.at, "`" + p.name + "` is annotated with " + describe(t));
            }
        }
        params.push_back(std::move(param));
        int index = intern(*m_frame, p.name);
        Name& n = m_frame->names[std::size_t(index)];
        n.state.value = v;
        n.state.at = p.at;
        n.state.in_slot = true;
        if (v.is(Kind::scalar) || v.is(Kind::pointer)) n.slots = v;
    }
    if (f.returns.kind != ExprKind::absent && f.returns.kind != ExprKind::none)
        report(Code::return_annotation, f.returns.at, "a kernel is annotated to return `" + std::string(text(f.returns.at)) + "`");
    m_shared.params = std::move(params);
}

} // namespace pto::resolve
