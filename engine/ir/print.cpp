#include "engine/ir/kernel.hpp"

#include <cstdio>

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
            std::string dims;
            for (const Dim& d : t.dims) dims += (dims.empty() ? "" : ", ") + (d.dynamic ? std::string("?") : std::to_string(d.size));
            line("tensor g" + std::to_string(i) + " " + t.name + "[" + dims + "] " + std::string(isa::name(t.dtype)) + " " + std::string(isa::name(t.layout)) +
                 (t.is_parameter() ? " param " + std::to_string(t.param.index) : ""));
        }
        for (std::size_t i = 0; i < m_f.structs.size(); ++i) {
            const Struct& s = m_f.structs[i];
            std::string fields;
            for (const Field& f : s.fields)
                fields += (fields.empty() ? "" : ", ") + f.name + ": " + std::string(isa::name(f.dtype)) + (f.length ? "[" + std::to_string(f.length) + "]" : "");
            line("struct s" + std::to_string(i) + " " + s.name + " " + s.type_name + " x" + std::to_string(s.count) + " {" + fields + "}");
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
            line("tiles d" + std::to_string(i) + " " + d.name + " " + type(d.type) + " at " + at + (locks.empty() ? "" : " locks " + locks));
        }
        statements(m_f.body);
        return m_out;
    }

  private:
    static std::string hex(std::int64_t v) {
        char text[24];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
        return text;
    }
    static std::string type(const isa::TileType& t) {
        return std::string(isa::name(t.memory)) + " " + std::to_string(t.shape[0]) + "x" + std::to_string(t.shape[1]) + " " + std::string(isa::name(t.dtype)) + " " +
               std::string(isa::name(t.layout));
    }
    void line(const std::string& text) { m_out.append(std::size_t(m_depth) * 2, ' ').append(text).append("\n"); }
    std::string var(VarId v) const { return m_f[v].name + "." + std::to_string(v.index); }
    std::string tile(TileVarId t) const { return "%" + m_f[t].name + "." + std::to_string(t.index); }

    std::string expr(ExprId id) const {
        if (!id.valid()) return "-";
        const Expr& e = m_f[id];
        auto two = [&](const char* sign) { return "(" + expr(e.a) + " " + sign + " " + expr(e.b) + ")"; };
        switch (e.op) {
        case ExprOp::integer: return e.dtype == isa::DType::boolean ? (e.integer ? "true" : "false") : std::to_string(e.integer);
        case ExprOp::real: {
            char text[40];
            std::snprintf(text, sizeof text, "%.9g", e.real);
            return text;
        }
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
        case ExprOp::negate: return "(-" + expr(e.a) + ")";
        case ExprOp::bit_not: return "(~" + expr(e.a) + ")";
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
                              [&](RegId r) { return "$" + m_f[r].name + "." + std::to_string(r.index); },
                              [&](const StructRef& r) { return "s" + std::to_string(r.structure.index) + (r.index.valid() ? "[" + expr(r.index) + "]" : ""); },
                              [&](const MemoryRef& m) { return tile(m.tile) + (m.offset.valid() ? " + " + expr(m.offset) : ""); },
                              [&](const GroupRef& g) { return "d" + std::to_string(g.decl.index); },
                              [&](const MixedList& l) {
                                  std::string out;
                                  for (TileVarId t : l.tiles) out += (out.empty() ? "" : ", ") + tile(t);
                                  for (TensorId t : l.tensors) out += (out.empty() ? "" : ", ") + ("g" + std::to_string(t.index));
                                  return "{" + out + "}";
                              },
                              [](const std::string& s) { return "\"" + s + "\""; },
                          },
                          v);
    }
    std::string attribute(const AttributeValue& v) const {
        return std::visit(on{
                              [](std::monostate) -> std::string { return ""; },
                              [](const isa::EnumValue& e) { return std::string(isa::name(e)); },
                              [](isa::DType t) { return std::string(isa::name(t)); },
                              [](std::int64_t i) { return std::to_string(i); },
                              [](double d) {
                                  char text[40];
                                  std::snprintf(text, sizeof text, "%.9g", d);
                                  return std::string(text);
                              },
                              [](bool b) -> std::string { return b ? "true" : "false"; },
                              [&](ExprId e) { return expr(e); },
                              [&](TileVarId t) { return tile(t); },
                              [&](TensorId t) { return "g" + std::to_string(t.index); },
                              [&](const ExprList& l) { return list(l); },
                              [](const std::string& s) { return "\"" + s + "\""; },
                          },
                          v);
    }
    std::string operation(const Op& op) const {
        std::string out;
        for (VarId v : op.results) out += (out.empty() ? "" : ", ") + var(v);
        for (RegId r : op.registers) out += (out.empty() ? "" : ", ") + ("$" + m_f[r].name + "." + std::to_string(r.index));
        if (!out.empty()) out += " = ";
        out += std::string(op.row->name);
        for (std::size_t i = 0; i < op.operands.size(); ++i) out += (i ? ", " : " ") + operand(op.operands[i]);
        for (std::size_t i = 0; i < op.attributes.size(); ++i)
            if (std::string a = attribute(op.attributes[i]); !a.empty() && i < op.row->keywords.size()) out += " " + std::string(op.row->keywords[i].name) + "=" + a;
        if (op.row->pipe != isa::PipeRule::in_vector) out += " @" + std::string(isa::name(op.pipe));
        for (std::size_t i = 0; i < op.locks.size(); ++i) out += (i ? ", " : " locks ") + tile(op.locks[i]);
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
                               line("g" + std::to_string(b.tensor.index) + " = " + (b.alias_of.valid() ? "g" + std::to_string(b.alias_of.index) : "at " + expr(b.address)) + " shape " +
                                    list(b.shape) + " strides " + list(b.strides));
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
                               nested("vector " + c.name + "(" + tiles + ")", c.body);
                           },
                           [&](const SimtLaunch& l) { nested("simt " + l.name + " " + expr(l.x) + ", " + expr(l.y) + ", " + expr(l.z), l.body); },
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
    if (kernel.cube) out += print(*kernel.cube);
    if (kernel.vector) out += print(*kernel.vector);
    return out;
}

} // namespace pto::ir
