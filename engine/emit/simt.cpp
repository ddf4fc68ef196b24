/// SIMT launches: the body becomes an entry of its own, called once with the number of threads. Source: codegen 1.10.
#include "engine/emit/writer.hpp"

namespace pto::emit {

void Writer::simt_launch(const ir::SimtLaunch& l) {
    if (!m_a5) return missing("the SIMT launch of " + l.name + " on this chip", {});
    const std::int32_t number = m_call++;
    const std::string entry = m_kernel.name + "_simt_" + safe(l.name) + "_" + std::to_string(number);
    std::string parameters, arguments;
    auto add = [&](const std::string& type, const std::string& name, const std::string& value) {
        parameters += (parameters.empty() ? "" : ", ") + type + " " + name;
        arguments += ", " + value;
    };
    std::set<std::int32_t> tiles, tensors;
    for (const ir::OperandValue& o : l.arguments) {
        if (const auto* t = std::get_if<ir::TileVarId>(&o); t && tiles.insert(t->index).second) {
            const std::string n = handle(*t), type = "__ubuf__ " + c_type(m_f[*t].type.dtype) + "*";
            add(type, n + "_ub", "(" + type + ")" + method(*t) + "data()");
            add("uint32_t", n + "_valid_row", "(uint32_t)" + method(*t) + "GetValidRow()");
            add("uint32_t", n + "_valid_col", "(uint32_t)" + method(*t) + "GetValidCol()");
        }
        if (const auto* t = std::get_if<ir::TensorId>(&o); t && tensors.insert(t->index).second)
            add("__gm__ " + c_type(m_f[*t].dtype) + "*", tensor(*t) + "_ptr", tensor(*t) + "_ptr");
    }
    for (ir::VarId v : l.captures) add(c_type(m_f[v].dtype), var(v), var(v));
    std::string inner;
    std::swap(inner, m_text);
    const int indent = m_indent;
    m_indent = 1;
    for (std::size_t i = 0; i < m_f.vars.size(); ++i)
        if (m_facts.vars[i].home == Facts::Home::vector && m_facts.vars[i].call == number) {
            const ir::VarId v{std::int32_t(i)};
            const char* index = v == l.thread_x ? "threadIdx.x" : v == l.thread_y ? "threadIdx.y" : v == l.thread_z ? "threadIdx.z" : "0";
            line(c_type(m_f[v].dtype) + " " + var(v) + " = " + index + ";");
        }
    for (ir::VarId v : {l.thread_x, l.thread_y, l.thread_z}) // read only: it has no assignment to be found by
        if (v.valid() && m_facts.vars[std::size_t(v.index)].home != Facts::Home::vector && m_facts.vars[std::size_t(v.index)].used)
            line("const " + c_type(m_f[v].dtype) + " " + var(v) + " = threadIdx." + (v == l.thread_x ? "x" : v == l.thread_y ? "y" : "z") + ";");
    m_in_simt = true;
    statements(l.body);
    m_in_simt = false;
    const auto x = m_f.constant(l.x), y = l.y.valid() ? m_f.constant(l.y) : 1, z = l.z.valid() ? m_f.constant(l.z) : 1;
    const std::int64_t bound = x && y && z ? *x * *y * *z : 2048;
    m_functions += "__simt_vf__ __launch_bounds__(" + std::to_string(bound) + ") inline void " + entry + "(" + parameters + ") {\n" + m_text + "}\n\n";
    std::swap(inner, m_text);
    m_indent = indent;
    locks(l.locks, isa::Pipe::v, true);
    auto count = [&](ir::ExprId e) { return e.valid() ? "(uint32_t)(" + expr(e) + ")" : std::string("1"); };
    line("cce::async_invoke<" + entry + ">(cce::dim3{" + count(l.x) + ", " + count(l.y) + ", " + count(l.z) + "}" + arguments + ");");
    locks(l.locks, isa::Pipe::v, false);
}

/// Element access; everything else is refused by the language.
bool Writer::simt_operation(const ir::Op& op) {
    using S = isa::Semantics;
    auto element = [&](const std::string& offset) {
        if (const auto* t = std::get_if<ir::TileVarId>(&op.operands[0])) return handle(through_aliases(*t)) + "_ub[" + offset + "]";
        return tensor(std::get<ir::TensorId>(op.operands[0])) + "_ptr[" + offset + "]";
    };
    if (op.row->semantics == S::getval) {
        if (!op.results.empty()) line(var(op.results[0]) + " = " + element(operand(op.operands[1])) + ";");
        return true;
    }
    if (op.row->semantics == S::setval) {
        isa::DType t = isa::DType::fp32;
        if (const auto* x = std::get_if<ir::TileVarId>(&op.operands[0])) t = m_f[*x].type.dtype;
        if (const auto* x = std::get_if<ir::TensorId>(&op.operands[0])) t = m_f[*x].dtype;
        line(element(operand(op.operands[1])) + " = " + expr_as(std::get<ir::ExprId>(op.operands[2]), t) + ";");
        return true;
    }
    if (op.row->semantics == S::trap) return line("return;"), true;
    return false;
}

} // namespace pto::emit
