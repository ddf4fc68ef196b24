/// A program as text: one numbered instruction a line, for tests, notebooks and diffs.

#include "engine/program/program.hpp"

#include <charconv>

namespace pto::program {
namespace {

class Printer {
  public:
    explicit Printer(const CoreCode& core) : m_core(core), m_f(*core.function) {}

    std::string text() {
        m_out += m_core.core == isa::Core::cube ? "cube:\n" : "vector:\n";
        for (std::size_t i = 0; i < m_core.code.size(); ++i) {
            std::string number = std::to_string(i);
            m_out += std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') + number + "  ";
            instr(m_core.code[i]);
            m_out += "\n";
        }
        return std::move(m_out);
    }

  private:
    static std::string_view symbol(ir::ExprOp op) {
        using E = ir::ExprOp;
        switch (op) {
        case E::add: return "+";
        case E::sub: return "-";
        case E::mul: return "*";
        case E::div: return "/";
        case E::floor_div: return "//";
        case E::mod: return "%";
        case E::bit_and: return "&";
        case E::bit_or: return "|";
        case E::bit_xor: return "^";
        case E::shl: return "<<";
        case E::shr: return ">>";
        case E::eq: return "==";
        case E::ne: return "!=";
        case E::lt: return "<";
        case E::le: return "<=";
        case E::gt: return ">";
        case E::ge: return ">=";
        case E::logical_and: return "and";
        case E::logical_or: return "or";
        default: return {};
        }
    }
    static std::string real(double x) {
        char buffer[40];
        auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
        return std::string(buffer, end);
    }
    std::string expr(ir::ExprId id, bool nested = false) const {
        if (!id.valid()) return "-";
        const ir::Expr& e = m_f[id];
        using E = ir::ExprOp;
        switch (e.op) {
        case E::integer: return std::to_string(e.integer);
        case E::real: return real(e.real);
        case E::var: return m_f[e.var].name;
        case E::field: {
            std::string s = m_f[e.structure].name;
            if (e.a.valid()) s += "[" + expr(e.a) + "]";
            s += "." + m_f[e.structure].fields[std::size_t(e.integer)].name;
            return e.b.valid() ? s + "[" + expr(e.b) + "]" : s;
        }
        case E::dim: return m_f[e.tensor].name + ".shape[" + std::to_string(e.integer) + "]";
        case E::address: return "address(" + m_f[e.tensor].name + ")";
        case E::block_idx: return "block_idx()";
        case E::block_num: return "block_num()";
        case E::subblock_idx: return "subblock_idx()";
        case E::subblock_num: return "subblock_num()";
        case E::spr: return "spr()";
        case E::valid_dim: return m_f[e.tile].name + ".valid_shape[" + std::to_string(e.integer) + "]";
        case E::negate: return "-" + expr(e.a, true);
        case E::bit_not: return "~" + expr(e.a, true);
        case E::logical_not: return "not " + expr(e.a, true);
        case E::cast: return std::string(isa::name(e.dtype)) + "(" + expr(e.a) + ")";
        case E::min: return "min(" + expr(e.a) + ", " + expr(e.b) + ")";
        case E::max: return "max(" + expr(e.a) + ", " + expr(e.b) + ")";
        case E::select: {
            std::string s = expr(e.b, true) + " if " + expr(e.a, true) + " else " + expr(e.c, true);
            return nested ? "(" + s + ")" : s;
        }
        default: {
            std::string s = expr(e.a, true) + " " + std::string(symbol(e.op)) + " " + expr(e.b, true);
            return nested ? "(" + s + ")" : s;
        }
        }
    }
    std::string list(const ir::ExprList& l) const {
        std::string s = "[";
        for (std::size_t i = 0; i < l.size(); ++i) s += (i ? ", " : "") + expr(l[i]);
        return s + "]";
    }
    template <class V> std::string value(const V& v) const {
        return std::visit(on{
                              [](std::monostate) { return std::string(); },
                              [&](ir::TileVarId t) { return m_f[t].name; },
                              [&](ir::TensorId t) { return m_f[t].name; },
                              [&](ir::ExprId e) { return expr(e); },
                              [&](const ir::ExprList& l) { return list(l); },
                              [&](const std::string& s) { return "\"" + s + "\""; },
                              [&](const ir::StructRef& s) { return m_f[s.structure].name + (s.index.valid() ? "[" + expr(s.index) + "]" : ""); },
                              [&](const ir::GroupRef& g) { return m_f[g.decl].name; },
                              [&](isa::EnumValue e) { return std::string(isa::name(e)); },
                              [&](isa::DType t) { return std::string(isa::name(t)); },
                              [&](std::int64_t i) { return std::to_string(i); },
                              [&](double d) { return real(d); },
                              [&](bool b) { return std::string(b ? "True" : "False"); },
                              [&](const ir::MixedList& m) {
                                  std::string s = "[";
                                  for (auto t : m.tensors) s += (s.size() > 1 ? ", " : "") + m_f[t].name;
                                  for (auto t : m.tiles) s += (s.size() > 1 ? ", " : "") + m_f[t].name;
                                  return s + "]";
                              },
                              [](const auto&) { return std::string("?"); },
                          },
                          v);
    }
    void locks(const std::vector<ir::TileVarId>& tiles) {
        if (tiles.empty()) return;
        m_out += "  lock";
        for (ir::TileVarId t : tiles) m_out += " " + m_f[t].name;
    }
    void operation(const ir::Op& op) {
        m_out += std::string(isa::name(op.pipe)) + " ";
        for (std::size_t i = 0; i < op.results.size(); ++i) m_out += m_f[op.results[i]].name + (i + 1 < op.results.size() ? ", " : " = ");
        m_out += std::string(op.row ? op.row->name : "?") + "(";
        bool first = true;
        for (const auto& o : op.operands) {
            const std::string text = value(o);
            if (text.empty()) continue;
            m_out += (first ? "" : ", ") + text;
            first = false;
        }
        for (std::size_t k = 0; k < op.attributes.size(); ++k) {
            const std::string text = value(op.attributes[k]);
            if (text.empty()) continue;
            m_out += std::string(first ? "" : ", ") + (op.row && k < op.row->keywords.size() ? std::string(op.row->keywords[k].name) : "?") + "=" + text;
            first = false;
        }
        m_out += ")";
        locks(op.locks);
    }
    void bind(const ir::TileBind& b) {
        m_out += m_f[b.var].name + " = ";
        std::visit(on{[&](const ir::SlotOf& s) { m_out += m_f[s.decl].name + (s.index.valid() ? "[" + expr(s.index) + "]" : ""); },
                      [&](const ir::AliasOf& s) { m_out += m_f[s.tile].name; },
                      [&](const ir::SubviewOf& s) {
                          m_out += m_f[s.base].name + "[" + expr(s.row_begin) + ":" + expr(s.row_end) + ", " + expr(s.col_begin) + ":" + expr(s.col_end) + "]";
                      },
                      [&](const ir::ViewOf& s) { m_out += "view(" + m_f[s.base].name + ")"; },
                      [&](const ir::ChoiceOf& s) { m_out += m_f[s.then].name + " if " + expr(s.condition, true) + " else " + m_f[s.otherwise].name; }},
                   b.source);
    }
    void instr(const Instr& i) {
        const std::string target = " -> " + std::to_string(i.target);
        switch (i.kind) {
        case InstrKind::assign: m_out += m_f[i.var].name + " = " + expr(i.expr); break;
        case InstrKind::field_assign: {
            const auto& a = std::get<ir::FieldAssign>(i.stmt->what);
            const ir::Struct& s = m_f[a.target.structure];
            m_out += s.name + (a.target.index.valid() ? "[" + expr(a.target.index) + "]" : "") + "." + s.fields[std::size_t(a.field)].name +
                     (a.element.valid() ? "[" + expr(a.element) + "]" : "") + " = " + expr(i.expr);
            break;
        }
        case InstrKind::tile_bind: bind(std::get<ir::TileBind>(i.stmt->what)); break;
        case InstrKind::tensor_bind: {
            const auto& b = std::get<ir::TensorBind>(i.stmt->what);
            m_out += m_f[b.tensor].name + " = " + (b.alias_of.valid() ? m_f[b.alias_of].name : "tensor at " + expr(b.address) + " shape " + list(b.shape));
            if (!b.strides.empty()) m_out += " strides " + list(b.strides);
            break;
        }
        case InstrKind::issue:
            std::visit(on{[&](const ir::Op& op) { operation(op); },
                          [&](const ir::VectorCall& c) {
                              m_out += "V call " + c.name + "(";
                              for (std::size_t k = 0; k < c.tiles.size(); ++k) m_out += (k ? ", " : "") + m_f[c.tiles[k]].name;
                              m_out += ")";
                              locks(c.locks);
                          },
                          [&](const ir::SimtLaunch& l) {
                              m_out += "V launch " + l.name + "[" + expr(l.x) + ", " + expr(l.y) + ", " + expr(l.z) + "](";
                              for (std::size_t k = 0; k < l.arguments.size(); ++k) m_out += (k ? ", " : "") + value(l.arguments[k]);
                              m_out += ")";
                              locks(l.locks);
                          },
                          [](const auto&) {}},
                       i.stmt->what);
            break;
        case InstrKind::jump: m_out += "jump" + target; break;
        case InstrKind::branch: m_out += "unless " + expr(i.expr) + target; break;
        case InstrKind::loop_enter: {
            const auto& l = std::get<ir::Loop>(i.stmt->what);
            m_out += "loop " + std::to_string(i.loop) + ": " + m_f[i.var].name + " in range(" + expr(l.start) + ", " + expr(l.stop) + ", " + expr(l.step) + ")" + target;
            break;
        }
        case InstrKind::loop_next: m_out += "next " + std::to_string(i.loop) + target; break;
        case InstrKind::stage_enter:
            m_out += "stage " + m_core.stages[std::size_t(i.stage)] + (i.expr.valid() ? " task " + expr(i.expr) : "");
            break;
        case InstrKind::stage_leave: m_out += "leave " + m_core.stages[std::size_t(i.stage)]; break;
        case InstrKind::finish: m_out += "finish"; break;
        }
    }

    const CoreCode& m_core;
    const ir::Function& m_f;
    std::string m_out;
};

} // namespace

std::string print(const Program& program) {
    std::string out;
    for (const CoreCode& core : program.cores) out += Printer(core).text();
    return out;
}

} // namespace pto::program
