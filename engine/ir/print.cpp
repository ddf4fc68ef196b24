#include "engine/ir/kernel.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace pto::ir {
namespace {

class Printer {
  public:
    explicit Printer(const Function& f) : m_f(f) {}

    std::string all() {
        line(std::string(isa::name(m_f.core)) + ":");
        ++m_depth;
        for (std::size_t i = 0; i < m_f.tensors.size(); ++i) {
            const Tensor& t = m_f.tensors[i];
            line("tensor g" + std::to_string(i) + " " + named(t.name) + dims_text(t.dims) + " " + std::string(isa::name(t.dtype)) + " " + std::string(isa::name(t.layout)) +
                 param(t.param));
        }
        for (std::size_t i = 0; i < m_f.structs.size(); ++i) {
            const Struct& s = m_f.structs[i];
            line("struct s" + std::to_string(i) + " " + named(s.name) + " " + named(s.type_name) + " x" + std::to_string(s.count) + " " + fields_text(s.fields) + param(s.param));
        }
        for (std::size_t i = 0; i < m_f.decls.size(); ++i) {
            const TileDecl& d = m_f.decls[i];
            std::string at, locks;
            for (std::int64_t a : d.addresses) at += (at.empty() ? "" : ", ") + hex(a);
            for (const auto& ids : d.mutex) {
                std::string one;
                for (std::int32_t id : ids) one += (one.empty() ? "" : "+") + std::to_string(id);
                locks += (locks.empty() ? "" : ", ") + one;
            }
            std::string text = "tiles d" + std::to_string(i) + " " + named(d.name) + " " + type(d.type) + " at " + at;
            if (d.slot_bytes != d.type.byte_size()) text += " size " + std::to_string(d.slot_bytes);
            if (!locks.empty()) text += " locks " + locks;
            if (!d.fwd_ids.empty()) text += " fwd " + numbers(d.fwd_ids);
            if (!d.bwd_ids.empty()) text += " bwd " + numbers(d.bwd_ids);
            if (d.is_group) text += " group";
            if (d.cursor.valid()) text += " cursor " + var(d.cursor);
            line(text);
        }
        list_of("vars", m_f.vars.size(), [&](std::size_t i) {
            const Variable& v = m_f.vars[i];
            return var(VarId{std::int32_t(i)}) + ": " + std::string(isa::name(v.dtype)) + (v.is_pointer ? " pointer" : "") + param(v.param);
        });
        list_of("handles", m_f.tiles.size(), [&](std::size_t i) {
            const TileVar& t = m_f.tiles[i];
            std::string text = tile(TileVarId{std::int32_t(i)}) + ":";
            for (TileDeclId d : t.may_be) text += " d" + std::to_string(d.index);
            bool usual = !t.may_be.empty() && m_f[t.may_be[0]].type == t.type;
            return usual ? text : text + " as " + type(t.type);
        });
        list_of("registers", m_f.regs.size(), [&](std::size_t i) {
            static constexpr const char* kinds[] = {"", "mask ", "load ", "store ", "address "};
            const Register& r = m_f.regs[i];
            return reg(RegId{std::int32_t(i)}) + ": " + kinds[int(r.kind)] + std::string(isa::name(r.dtype));
        });
        statements(m_f.body);
        return m_out;
    }

    static std::string named(const std::string& name) { return name.empty() ? "-" : name; }
    static std::string param(ParamId p) { return p.valid() ? " param " + std::to_string(p.index) : ""; }
    static std::string dims_text(const std::vector<Dim>& dims) {
        std::string out;
        for (const Dim& d : dims) out += (out.empty() ? "" : ", ") + (d.dynamic ? std::string("?") : std::to_string(d.size));
        return "[" + out + "]";
    }
    static std::string fields_text(const std::vector<Field>& fields) {
        std::string out;
        for (const Field& f : fields)
            out += (out.empty() ? "" : ", ") + f.name + ": " + std::string(isa::name(f.dtype)) + (f.length ? "[" + std::to_string(f.length) + "]" : "");
        return "{" + out + "}";
    }
    /// Shortest digits that read back to the same double; never looks like an integer.
    static std::string real(double v) {
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
        char text[40];
        for (int digits : {6, 9, 17}) {
            std::snprintf(text, sizeof text, "%.*g", digits, v);
            if (std::strtod(text, nullptr) == v) break;
        }
        std::string out = text;
        return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
    }
    static std::string quoted(const std::string& s) {
        std::string out = "\"";
        for (char c : s)
            if (c == '"' || c == '\\') out += std::string("\\") + c;
            else if (c == '\n') out += "\\n";
            else out += c;
        return out + "\"";
    }

  private:
    static std::string hex(std::int64_t v) {
        char text[24];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
        return text;
    }
    static std::string numbers(const std::vector<std::int32_t>& list) {
        std::string out;
        for (std::int32_t i : list) out += (out.empty() ? "" : ", ") + std::to_string(i);
        return out;
    }
    template <class F> void list_of(const char* what, std::size_t count, F&& text) {
        std::string row;
        for (std::size_t i = 0; i < count; ++i) {
            std::string one = text(i);
            if (!row.empty() && row.size() + one.size() > 118) {
                line(std::string(what) + " " + row);
                row.clear();
            }
            row += (row.empty() ? "" : ", ") + one;
        }
        if (!row.empty()) line(std::string(what) + " " + row);
    }
    static std::string type(const isa::TileType& t) {
        std::string out = std::string(isa::name(t.memory)) + " " + std::to_string(t.shape[0]) + "x" + std::to_string(t.shape[1]) + " " + std::string(isa::name(t.dtype)) + " " +
                          std::string(isa::name(t.layout));
        if (t.fractal != 512) out += " fractal " + std::to_string(t.fractal);
        if (t.pad != isa::TilePad::null) out += " pad " + std::string(isa::name(t.pad));
        if (t.compact) out += " compact " + std::to_string(t.compact);
        if (t.fixed_valid || t.valid != t.shape) out += (t.fixed_valid ? " fixed " : " valid ") + std::to_string(t.valid[0]) + "x" + std::to_string(t.valid[1]);
        return out;
    }
    void line(const std::string& text) { m_out.append(std::size_t(m_depth) * 2, ' ').append(text).append("\n"); }
    std::string var(VarId v) const { return m_f[v].name + "." + std::to_string(v.index); }
    std::string tile(TileVarId t) const { return "%" + m_f[t].name + "." + std::to_string(t.index); }

    std::string reg(RegId r) const { return "$" + m_f[r].name + "." + std::to_string(r.index); }

    /// The type an expression has unless its text says otherwise.
    isa::DType usual(const Expr& e) const {
        switch (e.op) {
        case ExprOp::real: return isa::DType::fp32;
        case ExprOp::var: return m_f[e.var].dtype;
        case ExprOp::field: return m_f[e.structure].fields[std::size_t(e.integer)].dtype;
        case ExprOp::cast: return e.dtype;
        case ExprOp::integer: return e.dtype == isa::DType::boolean ? e.dtype : isa::DType::index;
        case ExprOp::logical_not:
        case ExprOp::logical_and:
        case ExprOp::logical_or:
        case ExprOp::eq:
        case ExprOp::ne:
        case ExprOp::lt:
        case ExprOp::le:
        case ExprOp::gt:
        case ExprOp::ge: return isa::DType::boolean;
        case ExprOp::select: return m_f[e.b].dtype;
        default: return e.a.valid() ? m_f[e.a].dtype : isa::DType::index;
        }
    }
    std::string expr(ExprId id) const {
        if (!id.valid()) return "-";
        const Expr& e = m_f[id];
        return e.dtype == usual(e) ? untyped(id) : untyped(id) + ":" + std::string(isa::name(e.dtype));
    }
    std::string untyped(ExprId id) const {
        const Expr& e = m_f[id];
        auto two = [&](const char* sign) { return "(" + expr(e.a) + " " + sign + " " + expr(e.b) + ")"; };
        switch (e.op) {
        case ExprOp::integer: return e.dtype == isa::DType::boolean ? (e.integer ? "true" : "false") : std::to_string(e.integer);
        case ExprOp::real: return real(e.real);
        case ExprOp::var: return var(e.var);
        case ExprOp::field:
            return "s" + std::to_string(e.structure.index) + (e.a.valid() ? "[" + expr(e.a) + "]" : "") + "." +
                   m_f[e.structure].fields[std::size_t(e.integer)].name + (e.b.valid() ? "[" + expr(e.b) + "]" : "");
        case ExprOp::dim: return "g" + std::to_string(e.tensor.index) + ".shape[" + std::to_string(e.integer) + "]";
        case ExprOp::address: return "&g" + std::to_string(e.tensor.index);
        case ExprOp::block_idx: return "block_idx";
        case ExprOp::block_num: return "block_num";
        case ExprOp::subblock_idx: return "subblock_idx";
        case ExprOp::subblock_num: return "subblock_num";
        case ExprOp::spr: return "spr";
        case ExprOp::valid_dim: return tile(e.tile) + ".valid[" + std::to_string(e.integer) + "]";
        case ExprOp::negate: return "(- " + expr(e.a) + ")";
        case ExprOp::bit_not: return "(~ " + expr(e.a) + ")";
        case ExprOp::logical_not: return "(not " + expr(e.a) + ")";
        case ExprOp::cast: return std::string(isa::name(e.dtype)) + "(" + expr(e.a) + ")";
        case ExprOp::add: return two("+");
        case ExprOp::sub: return two("-");
        case ExprOp::mul: return two("*");
        case ExprOp::div: return two("/");
        case ExprOp::floor_div: return two("//");
        case ExprOp::mod: return two("%");
        case ExprOp::bit_and: return two("&");
        case ExprOp::bit_or: return two("|");
        case ExprOp::bit_xor: return two("^");
        case ExprOp::shl: return two("<<");
        case ExprOp::shr: return two(">>");
        case ExprOp::min: return "min(" + expr(e.a) + ", " + expr(e.b) + ")";
        case ExprOp::max: return "max(" + expr(e.a) + ", " + expr(e.b) + ")";
        case ExprOp::eq: return two("==");
        case ExprOp::ne: return two("!=");
        case ExprOp::lt: return two("<");
        case ExprOp::le: return two("<=");
        case ExprOp::gt: return two(">");
        case ExprOp::ge: return two(">=");
        case ExprOp::logical_and: return two("and");
        case ExprOp::logical_or: return two("or");
        case ExprOp::select: return "(" + expr(e.b) + " if " + expr(e.a) + " else " + expr(e.c) + ")";
        }
        return "?";
    }
    std::string list(const ExprList& l) const {
        std::string out;
        for (ExprId e : l) out += (out.empty() ? "" : ", ") + expr(e);
        return "[" + out + "]";
    }
    std::string operand(const OperandValue& v) const {
        return std::visit(on{
                              [](std::monostate) -> std::string { return "-"; },
                              [&](TileVarId t) { return tile(t); },
                              [&](TensorId t) { return "g" + std::to_string(t.index); },
                              [&](ExprId e) { return expr(e); },
                              [&](const ExprList& l) { return list(l); },
                              [&](RegId r) { return reg(r); },
                              [&](const StructRef& r) { return "s" + std::to_string(r.structure.index) + (r.index.valid() ? "[" + expr(r.index) + "]" : ""); },
                              [&](const MemoryRef& m) { return tile(m.tile) + (m.offset.valid() ? " + " + expr(m.offset) : ""); },
                              [&](const GroupRef& g) { return "d" + std::to_string(g.decl.index); },
                              [&](const MixedList& l) {
                                  std::string out;
                                  for (TileVarId t : l.tiles) out += (out.empty() ? "" : ", ") + tile(t);
                                  for (TensorId t : l.tensors) out += (out.empty() ? "" : ", ") + ("g" + std::to_string(t.index));
                                  return "{" + out + "}";
                              },
                              [](const std::string& s) { return quoted(s); },
                          },
                          v);
    }
    std::string attribute(const AttributeValue& v) const {
        return std::visit(on{
                              [](std::monostate) -> std::string { return ""; },
                              [](const isa::EnumValue& e) { return std::string(isa::name(e)); },
                              [](isa::DType t) { return std::string(isa::name(t)); },
                              [](std::int64_t i) { return std::to_string(i); },
                              [](double d) { return real(d); },
                              [](bool b) -> std::string { return b ? "true" : "false"; },
                              [&](ExprId e) { // a bare number is a number, not an expression
                                  bool bare = e.valid() && (m_f[e].op == ExprOp::integer || m_f[e].op == ExprOp::real);
                                  return bare ? "(" + expr(e) + ")" : expr(e);
                              },
                              [&](TileVarId t) { return tile(t); },
                              [&](TensorId t) { return "g" + std::to_string(t.index); },
                              [&](const ExprList& l) { return list(l); },
                              [](const std::string& s) { return quoted(s); },
                          },
                          v);
    }
    std::string operation(const Op& op) const {
        std::string out;
        for (VarId v : op.results) out += (out.empty() ? "" : ", ") + var(v);
        for (RegId r : op.registers) out += (out.empty() ? "" : ", ") + reg(r);
        if (!out.empty()) out += " = ";
        out += std::string(op.row->name);
        for (std::size_t i = 0; i < op.operands.size(); ++i) out += (i ? ", " : " ") + operand(op.operands[i]);
        for (std::size_t i = 0; i < op.attributes.size(); ++i)
            if (std::string a = attribute(op.attributes[i]); !a.empty() && i < op.row->keywords.size()) out += " " + std::string(op.row->keywords[i].name) + "=" + a;
        if (op.row->pipe != isa::PipeRule::in_vector) out += " @" + std::string(isa::name(op.pipe));
        return out + locks(op.locks);
    }
    std::string locks(const std::vector<TileVarId>& tiles) const {
        std::string out;
        for (std::size_t i = 0; i < tiles.size(); ++i) out += (i ? ", " : " locks ") + tile(tiles[i]);
        return out;
    }
    std::string bind(const TileBind& b) const {
        return tile(b.var) + " = " +
               std::visit(on{
                              [&](const SlotOf& s) { return "d" + std::to_string(s.decl.index) + "[" + expr(s.index) + "]"; },
                              [&](const AliasOf& a) { return tile(a.tile); },
                              [&](const SubviewOf& v) {
                                  return tile(v.base) + "[" + expr(v.row_begin) + ":" + expr(v.row_end) + ", " + expr(v.col_begin) + ":" + expr(v.col_end) + "]";
                              },
                              [&](const ViewOf& v) { return tile(v.base) + " as " + type(m_f[b.var].type); },
                              [&](const ChoiceOf& c) { return tile(c.then) + " if " + expr(c.condition) + " else " + tile(c.otherwise); },
                          },
                          b.source);
    }
    void nested(const std::string& head, const Body& body) {
        line(head + " {");
        ++m_depth;
        statements(body);
        --m_depth;
        line("}");
    }
    void statements(const Body& body) {
        for (const Stmt& s : body)
            std::visit(on{
                           [&](const Assign& a) { line(var(a.var) + " = " + expr(a.value)); },
                           [&](const FieldAssign& a) {
                               line("s" + std::to_string(a.target.structure.index) + (a.target.index.valid() ? "[" + expr(a.target.index) + "]" : "") + "." +
                                    m_f[a.target.structure].fields[std::size_t(a.field)].name + (a.element.valid() ? "[" + expr(a.element) + "]" : "") + " = " + expr(a.value));
                           },
                           [&](const TileBind& b) { line(bind(b)); },
                           [&](const TensorBind& b) {
                               std::string text = "g" + std::to_string(b.tensor.index) + " = ";
                               if (b.alias_of.valid()) text += "g" + std::to_string(b.alias_of.index);
                               else text += "at " + expr(b.address) + " shape " + list(b.shape) + " strides " + list(b.strides);
                               line(text);
                           },
                           [&](const Op& op) { line(operation(op)); },
                           [&](const Loop& l) { nested("for " + var(l.var) + " in " + expr(l.start) + ", " + expr(l.stop) + ", " + expr(l.step), l.body); },
                           [&](const Forever& l) { nested("forever", l.body); },
                           [&](const Branch& b) {
                               nested("if " + expr(b.condition), b.then);
                               if (!b.otherwise.empty()) nested("else", b.otherwise);
                           },
                           [&](const Break&) { line("break"); },
                           [&](const Continue&) { line("continue"); },
                           [&](const Return&) { line("return"); },
                           [&](const VectorCall& c) {
                               std::string tiles;
                               for (std::size_t i = 0; i < c.tiles.size(); ++i) {
                                   static constexpr const char* roles[] = {"", "R ", "W ", "RW "};
                                   tiles += (i ? ", " : "") + std::string(i < c.roles.size() ? roles[int(c.roles[i])] : "") + tile(c.tiles[i]);
                               }
                               for (VarId v : c.captures) tiles += ", " + var(v);
                               if (c.tiles.empty() && !c.captures.empty()) tiles.erase(0, 2);
                               nested("vector " + c.name + "(" + tiles + ")" + locks(c.locks), c.body);
                           },
                           [&](const SimtLaunch& l) {
                               std::string arguments;
                               for (const OperandValue& a : l.arguments) arguments += (arguments.empty() ? "" : ", ") + operand(a);
                               std::string text = "simt " + l.name + "(" + arguments + ") threads " + expr(l.x) + ", " + expr(l.y) + ", " + expr(l.z);
                               if (l.thread_x.valid()) text += " ids " + var(l.thread_x) + ", " + var(l.thread_y) + ", " + var(l.thread_z);
                               for (std::size_t i = 0; i < l.captures.size(); ++i) text += (i ? ", " : " captures ") + var(l.captures[i]);
                               nested(text + locks(l.locks), l.body);
                           },
                           [&](const StageScope& c) { nested("stage " + c.stage + (c.task.valid() ? " task " + expr(c.task) : ""), c.body); },
                           [&](const HelperScope& c) { nested("inlined " + c.helper, c.body); },
                       },
                       s.what);
    }

    const Function& m_f;
    std::string m_out;
    int m_depth = 0;
};

} // namespace

std::string print(const Function& f) { return Printer(f).all(); }

std::string print(const Kernel& kernel) {
    std::string out = "kernel " + kernel.name + (kernel.auto_mutex ? "" : " without auto_mutex") + "\n";
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
        const Param& p = kernel.params[i];
        out += "  param " + Printer::named(p.name) + " ";
        switch (p.kind) {
        case ParamKind::tensor:
            out += "tensor " + std::string(isa::name(p.dtype)) + " " + std::string(isa::name(p.layout)) + " " + Printer::dims_text(p.dims);
            for (std::size_t a = 0; a < p.is_static.size(); ++a)
                if (p.is_static[a]) out += " static " + std::to_string(a);
            break;
        case ParamKind::pointer: out += "pointer " + std::string(isa::name(p.dtype)); break;
        case ParamKind::scalar: out += "scalar " + std::string(isa::name(p.dtype)); break;
        case ParamKind::tiling: out += "tiling " + Printer::named(p.class_name) + " " + Printer::fields_text(p.fields); break;
        }
        if (!p.fallback.empty()) out += " = " + Printer::quoted(p.fallback);
        out += "\n";
    }
    if (kernel.cube) out += print(*kernel.cube);
    if (kernel.vector) out += print(*kernel.vector);
    return out;
}

} // namespace pto::ir
