/// printf, pto_assert and dump_data. Source: codegen 2.5; language 6.
#include "engine/emit/writer.hpp"

namespace pto::emit {
namespace {

constexpr std::size_t most_arguments = 8; // of one device print

} // namespace

std::string Writer::place_prefix(const ir::Op& op, Span at) const {
    if (!number(op, "loc", 0) || !m_options.sources || !at.valid()) return "";
    std::string place = m_options.sources->place(at);
    if (const std::size_t slash = place.find_last_of('/'); slash != std::string::npos) place = place.substr(slash + 1);
    return "[" + place + "] ";
}

/// One call, or several when the device's print takes fewer arguments: the format is cut in front of a conversion.
void Writer::print_call(const std::string& format, const std::vector<std::string>& arguments) {
    m_out.prints = true;
    std::size_t begin = 0, argument = 0;
    while (true) {
        std::size_t end = begin, taken = 0;
        for (; end < format.size(); ++end)
            if (format[end] == '%' && end + 1 < format.size() && format[end + 1] == '%') ++end;
            else if (format[end] == '%' && taken++ == most_arguments) break;
        taken = std::min(taken, most_arguments);
        std::string call = "cce::printf(\"" + quoted(std::string_view(format).substr(begin, end - begin)) + "\"";
        for (std::size_t i = 0; i < taken && argument < arguments.size(); ++i) call += ", " + arguments[argument++];
        line(call + ");");
        if (end >= format.size()) return;
        begin = end;
    }
}

void Writer::debug_print(const ir::Op& op, Span at) {
    const bool assertion = op.row->semantics == isa::Semantics::assertion;
    const std::size_t text_at = assertion ? 1 : 0;
    std::string text;
    if (text_at < op.operands.size())
        if (const auto* s = std::get_if<std::string>(&op.operands[text_at])) text = *s;
    std::vector<std::string> arguments;
    auto add = [&](ir::ExprId e) {
        const ir::Expr& x = m_f[e];
        const bool is_pointer = x.op == ir::ExprOp::var && m_f[x.var].is_pointer;
        arguments.push_back(is_pointer ? "(__gm__ void*)" + expr(e) : expr(e));
    };
    for (std::size_t i = text_at + 1; i < op.operands.size(); ++i) {
        if (const auto* e = std::get_if<ir::ExprId>(&op.operands[i])) add(*e);
        if (const auto* list = std::get_if<ir::ExprList>(&op.operands[i]))
            for (ir::ExprId e : *list) add(e);
    }
    if (!assertion) return print_call(place_prefix(op, at) + text, arguments);
    std::string condition = "?";
    if (m_options.sources && !op.operand_spans.empty() && op.operand_spans[0].valid()) condition = std::string(m_options.sources->text(op.operand_spans[0]));
    std::string shown;
    for (char c : condition) shown += c == '%' ? std::string("%%") : std::string(1, c);
    open("if (!(" + operand(op.operands[0]) + ")) {");
    print_call(place_prefix(op, at) + "Assertion failed: " + shown + "\n", {});
    if (!arguments.empty()) print_call(text, arguments);
    close();
}

bool Writer::dump(const ir::Op& op) {
    m_out.prints = true;
    const bool window = op.operands.size() > 2 && std::holds_alternative<ir::ExprList>(op.operands[1]) && std::holds_alternative<ir::ExprList>(op.operands[2]) &&
                        !std::get<ir::ExprList>(op.operands[2]).empty();
    if (const std::string flag = attribute(op, "flag"); !flag.empty()) print_call("[" + flag + "] ", {});
    auto size = [&](ir::TensorId g, std::size_t a) { return window ? list_item(op.operands[2], a) : dim_of(g, a); };
    auto print_tensor = [&](ir::TensorId g, bool whole) {
        const ir::Tensor& t = m_f[g];
        const std::size_t rank = t.dims.size();
        if (rank == 0 || rank > 5) return false;
        std::string shape, stride, offset;
        for (std::size_t k = 0; k < 5; ++k) {
            const bool has = k >= 5 - rank;
            const std::size_t a = k - (5 - rank);
            shape += (k ? ", " : "") + (has ? (whole ? dim_of(g, a) : size(g, a)) : std::string("1"));
            stride += (k ? ", " : "") + (has ? declared_stride(g, int(a)) : std::string("1"));
        }
        if (!whole && window)
            for (std::size_t a = 0; a < rank; ++a) offset += (a ? " + (" : "(") + list_item(op.operands[1], a) + ") * (" + declared_stride(g, int(a)) + ")";
        const std::string v = temporary("dumped_"), any = "<-1, -1, -1, -1, -1>";
        line("GlobalTensor<" + c_type(t.dtype) + ", pto::Shape" + any + ", pto::Stride" + any + (t.layout == isa::Layout::dn ? ", Layout::DN" : "") + "> " + v + "(" + tensor(g) + "_ptr" +
             (offset.empty() ? "" : " + " + offset) + ", pto::Shape" + any + "(" + shape + "), pto::Stride" + any + "(" + stride + "));");
        line("TPRINT(" + v + ");");
        return true;
    };
    if (const auto* g = std::get_if<ir::TensorId>(&op.operands[0])) return m_f[*g].layout != isa::Layout::nz && print_tensor(*g, !window);
    const ir::TileVarId t = std::get<ir::TileVarId>(op.operands[0]);
    const isa::TileType& type = m_f[t].type;
    if (type.memory == isa::MemorySpace::acc) { // only global memory can be read back: through the workspace
        const ir::AttributeValue* w = given(op, "workspace");
        const auto* g = w ? std::get_if<ir::TensorId>(w) : nullptr;
        if (!g) return false;
        const std::string v = temporary("whole_"), rows = std::to_string(type.shape[0]), cols = std::to_string(type.shape[1]);
        open("{");
        line("const unsigned rows = " + method(t) + "GetValidRow(), cols = " + method(t) + "GetValidCol();");
        line(method(t) + "SetValidShape(" + rows + ", " + cols + ");");
        line("GlobalTensor<" + c_type(m_f[*g].dtype) + ", pto::Shape<1, 1, 1, " + rows + ", " + cols + ">, pto::Stride<1, 1, 1, " + cols + ", 1>> " + v + "(" + tensor(*g) + "_ptr);");
        line("pipe_barrier(PIPE_ALL);");
        line("TSTORE(" + v + ", " + tile(t) + ");");
        line("pipe_barrier(PIPE_ALL);");
        line(method(t) + "SetValidShape(rows, cols);");
        line("TPRINT(" + v + ");");
        close();
        return true;
    }
    if (!window) {
        line("TPRINT(" + tile(t) + ");");
        return true;
    }
    if (type.layout != isa::Layout::nd && type.layout != isa::Layout::dn) return false;
    const std::string i = temporary("row_"), j = temporary("col_"), r0 = list_item(op.operands[1], 0), c0 = list_item(op.operands[1], 1);
    const bool dn = type.layout == isa::Layout::dn;
    const std::string at = dn ? "(" + j + ") * " + std::to_string(type.shape[0]) + " + " + i : "(" + i + ") * " + std::to_string(type.shape[1]) + " + " + j;
    line("pipe_barrier(PIPE_ALL);");
    open("for (int64_t " + i + " = " + r0 + "; " + i + " < (" + r0 + ") + (" + list_item(op.operands[2], 0) + "); ++" + i + ") {");
    open("for (int64_t " + j + " = " + c0 + "; " + j + " < (" + c0 + ") + (" + list_item(op.operands[2], 1) + "); ++" + j + ") {");
    if (isa::is_float(type.dtype)) print_call("%f ", {"(float)" + method(t) + "GetValue(" + at + ")"});
    else print_call("%d ", {"(int64_t)" + method(t) + "GetValue(" + at + ")"});
    close();
    print_call("\n", {});
    close();
    return true;
}

} // namespace pto::emit
