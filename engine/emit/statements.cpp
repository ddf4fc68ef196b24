#include "engine/emit/writer.hpp"

namespace pto::emit {

Writer::Writer(const ir::Kernel& kernel, const ir::Function& f, const EmitOptions& options, Emitted& out, bool a5)
    : m_kernel(kernel), m_f(f), m_options(options), m_out(out), m_a5(a5), m_facts(facts_of(f)) {}

void Writer::line(std::string_view text) { m_text.append(std::size_t(m_indent) * 4, ' ').append(text).append("\n"); }

void Writer::warn(std::string message, Span at) { m_out.diagnostics.push_back(diagnose(Code::emit_form, at, std::move(message))); }

void Writer::missing(std::string_view what, Span at) {
    line("// no C++ form here: " + std::string(what));
    warn(std::string(what) + " has no C++ form here; the generated text leaves it out and must not be built", at);
    m_out.complete = false;
}

std::vector<LaunchParameter> Writer::parameters(const ir::Kernel& kernel, bool ffts) {
    std::vector<LaunchParameter> out;
    for (const ir::Param& p : kernel.params) {
        const std::string n = safe(p.name);
        switch (p.kind) {
        case ir::ParamKind::tensor: out.push_back({n + "_0_ptr", "__gm__ " + c_type(p.dtype) + "*", "tensor", p.name, -1}); break;
        case ir::ParamKind::pointer: out.push_back({n + "_0", "__gm__ " + c_type(p.dtype) + "*", "pointer", p.name, -1}); break;
        case ir::ParamKind::scalar: out.push_back({n + "_0", c_type(p.dtype), "scalar", p.name, -1}); break;
        case ir::ParamKind::tiling: out.push_back({n + "_0_ptr", "__gm__ uint8_t*", "tiling", p.name, -1}); break;
        }
    }
    for (const ir::Param& p : kernel.params)
        if (p.kind == ir::ParamKind::tensor)
            for (std::size_t a = 0; a < p.dims.size(); ++a)
                if (p.dims[a].dynamic) out.push_back({"__pypto_dyn_" + safe(p.name) + "_" + std::to_string(a), "int32_t", "dim", p.name, int(a)});
    if (ffts) out.push_back({"ffts_addr", "__gm__ int64_t*", "ffts", "", -1});
    return out;
}

std::string Writer::body() {
    m_text.reserve(16384);
    prologue();
    declare_structs();
    declare_variables();
    declare_tensors();
    declare_decls();
    declare_tiles();
    statements(m_f.body);
    return m_text;
}

void Writer::statements(const ir::Body& body) {
    for (const ir::Stmt& s : body) statement(s);
}

/// "// 41: the line as the user wrote it", once a line.
void Writer::source_comment(Span at) {
    if (!m_options.sources || !at.valid() || std::size_t(at.file.index) >= m_options.sources->size()) return;
    const Position p = m_options.sources->begin(at);
    if (m_last_source.file == at.file && m_last_line == p.line) return;
    m_last_source = at;
    m_last_line = p.line;
    std::string_view source = m_options.sources->line_text(at.file, p.line);
    const std::size_t first = source.find_first_not_of(" \t");
    source = first == std::string_view::npos ? std::string_view() : source.substr(first);
    line("// " + std::to_string(p.line) + ": " + ascii(source));
}

void Writer::loop(const ir::Loop& l) {
    const auto start = m_f.constant(l.start), stop = m_f.constant(l.stop), step = m_f.constant(l.step);
    const bool own = m_facts.vars[std::size_t(l.var.index)].home == Facts::Home::loop;
    const std::string v = var(l.var);
    // The hardware loop of a vector function wants a 16-bit counter and a bound that does not change.
    const bool hardware = m_in_vector && own && start && *start >= 0 && *start < 65536 && step && *step > 0 && (!stop || (*stop >= 0 && *stop < 65536));
    const std::string type = hardware ? "uint16_t" : "int64_t";
    std::string i = own ? v : temporary("i_"), bound = stop ? std::to_string(*stop) : temporary("stop_"), by = step ? std::to_string(*step) : temporary("step_");
    if (hardware && stop) bound = temporary("stop_");
    if (hardware) line("const uint16_t " + bound + " = (uint16_t)" + (stop ? std::to_string(*stop) : "max((int64_t)0, (int64_t)(" + expr(l.stop) + "))") + ";");
    else if (!stop) line("const int64_t " + bound + " = (int64_t)(" + expr(l.stop) + ");");
    if (!step) line("const int64_t " + by + " = (int64_t)(" + expr(l.step) + ");");
    const std::string up = i + " < " + bound, down = i + " > " + bound;
    const std::string test = step ? (*step > 0 ? up : down) : "(" + by + " > 0 ? " + up + " : " + down + ")";
    const std::string next = step && *step < 0 ? i + " -= " + std::to_string(-*step) : i + " += " + by;
    open("for (" + type + " " + i + " = " + (start ? std::to_string(*start) : "(int64_t)(" + expr(l.start) + ")") + "; " + test + "; " + next + ") {");
    if (!own) line(v + " = " + i + ";");
    statements(l.body);
    close();
}

void Writer::statement(const ir::Stmt& s) {
    if (!std::holds_alternative<ir::StageScope>(s.what) && !std::holds_alternative<ir::HelperScope>(s.what)) source_comment(s.at);
    std::visit(on{
                   [&](const ir::Assign& a) { line(var(a.var) + " = " + (m_f[a.var].dtype == isa::DType::boolean ? expr(a.value) : expr_as(a.value, m_f[a.var].dtype)) + ";"); },
                   [&](const ir::FieldAssign& a) {
                       const ir::Field& field = m_f[a.target.structure].fields[std::size_t(a.field)];
                       std::string target = record(a.target) + "." + field_name(field.name);
                       if (a.element.valid()) target += "[" + expr(a.element) + "]";
                       line(target + " = " + (field.dtype == isa::DType::boolean ? expr(a.value) : expr_as(a.value, field.dtype)) + ";");
                   },
                   [&](const ir::TileBind& b) {
                       const auto* alias = std::get_if<ir::AliasOf>(&b.source);
                       if (m_in_vector && alias) m_aliases[b.var.index] = alias->tile.index; // a second name of a tile argument
                       else tile_bind(b);
                   },
                   [&](const ir::TensorBind& b) { tensor_bind(b); },
                   [&](const ir::Op& op) { operation(op, s.at); },
                   [&](const ir::Loop& l) { loop(l); },
                   [&](const ir::Forever& l) {
                       open("while (true) {");
                       statements(l.body);
                       close();
                   },
                   [&](const ir::Branch& b) {
                       open("if (" + expr(b.condition) + ") {");
                       statements(b.then);
                       if (!b.otherwise.empty()) {
                           --m_indent;
                           open("} else {");
                           statements(b.otherwise);
                       }
                       close();
                   },
                   [&](const ir::Break&) { line("break;"); },
                   [&](const ir::Continue&) { line("continue;"); },
                   [&](const ir::Return&) { line("return;"); },
                   [&](const ir::VectorCall& c) { vector_call(c); },
                   [&](const ir::SimtLaunch& l) { simt_launch(l); },
                   [&](const ir::StageScope& c) {
                       open("{ // stage " + ascii(c.stage));
                       statements(c.body);
                       close();
                   },
                   [&](const ir::HelperScope& c) {
                       open("{ // " + ascii(c.helper));
                       statements(c.body);
                       close();
                   },
               },
               s.what);
}

} // namespace pto::emit
