#include "engine/emit/writer.hpp"

#include <algorithm>

namespace pto::emit {

Writer::Writer(const ir::Kernel& kernel, const ir::Function& f, const EmitOptions& options, Emitted& out)
    : m_kernel(kernel), m_f(f), m_options(options), m_out(out) {}

void Writer::line(std::string text) { m_text.append(std::size_t(m_indent) * 4, ' ').append(text).append("\n"); }

void Writer::missing(const ir::Op& op, Span at) {
    line("// no C++ form here: " + std::string(op.row->name));
    m_out.diagnostics.push_back(diagnose(Code::emit_form, at, std::string(op.row->name) + " has no C++ form here; the generated text leaves it out"));
}

std::vector<LaunchParameter> Writer::parameters(const ir::Kernel& kernel) {
    std::vector<LaunchParameter> out;
    for (const ir::Param& p : kernel.params) {
        std::string n = safe(p.name);
        switch (p.kind) {
        case ir::ParamKind::tensor: out.push_back({n + "_0_ptr", "__gm__ " + c_type(p.dtype) + "*", "tensor"}); break;
        case ir::ParamKind::pointer: out.push_back({n + "_0_base", "__gm__ " + c_type(p.dtype) + "*", "pointer"}); break;
        case ir::ParamKind::scalar: out.push_back({n + "_0", c_type(p.dtype), "scalar"}); break;
        case ir::ParamKind::tiling: out.push_back({n + "_0_ptr", "__gm__ uint8_t*", "tiling"}); break;
        }
    }
    for (const ir::Param& p : kernel.params)
        if (p.kind == ir::ParamKind::tensor)
            for (std::size_t a = 0; a < p.dims.size(); ++a)
                if (p.dims[a].dynamic) out.push_back({"__pypto_dyn_" + safe(p.name) + "_" + std::to_string(a), "int32_t", "dim"});
    return out;
}

std::string Writer::body() {
    for (const ir::Param& p : m_kernel.params) // pointer arithmetic is in bytes on 64-bit addresses
        if (p.kind == ir::ParamKind::pointer) line("int64_t " + safe(p.name) + "_0 = (int64_t)" + safe(p.name) + "_0_base;");
    declare_structs();
    declare_variables();
    declare_tensors();
    declare_tiles();
    statements(m_f.body);
    return m_text;
}

void Writer::statements(const ir::Body& body) {
    for (const ir::Stmt& s : body) statement(s);
}

void Writer::locks(const std::vector<ir::TileVarId>& tiles, isa::Pipe pipe, bool take) {
    std::string call = take ? "get_buf(" : "rls_buf(";
    std::vector<std::pair<std::string, std::vector<std::int32_t>>> seen; // expression, ids it may be
    for (ir::TileVarId t : tiles) {
        std::vector<std::int32_t> possible;
        std::size_t per_slot = 0;
        for (ir::TileDeclId d : m_f[t].may_be)
            for (const auto& slot : m_f[d].mutex) {
                per_slot = std::max(per_slot, slot.size());
                possible.insert(possible.end(), slot.begin(), slot.end());
            }
        for (std::size_t k = 0; k < per_slot; ++k) {
            std::string id = tile(t) + "_mutex" + std::to_string(k);
            std::string guard;
            bool again = false;
            for (const auto& [other, ids] : seen) {
                if (other == id) again = true;
                bool meet = std::any_of(ids.begin(), ids.end(), [&](std::int32_t i) { return std::find(possible.begin(), possible.end(), i) != possible.end(); });
                if (meet && other != id) guard += (guard.empty() ? "" : " && ") + id + " != " + other; // one token is never taken twice
            }
            if (again) continue;
            seen.emplace_back(id, possible);
            line((guard.empty() ? "" : "if (" + guard + ") ") + call + pipe_name(pipe) + ", " + id + ", 0);");
        }
    }
}

void Writer::tile_bind(const ir::TileBind& b) {
    std::string n = tile(b.var);
    auto copy_ids = [&](const std::string& from, ir::TileVarId source) {
        std::size_t ids = 0;
        for (ir::TileDeclId d : m_f[source].may_be) ids = std::max(ids, m_f[d].mutex.empty() ? 0 : m_f[d].mutex[0].size());
        for (std::size_t k = 0; k < ids; ++k) line(n + "_mutex" + std::to_string(k) + " = " + from + "_mutex" + std::to_string(k) + ";");
    };
    std::visit(on{
                   [&](const ir::SlotOf& s) {
                       const ir::TileDecl& d = m_f[s.decl];
                       std::string index = d.slots() == 1 ? "0" : expr(s.index), at = decl(s.decl) + "[" + index + "]";
                       line(n + " = &" + at + ";");
                       if (d.slots() == 1) line(n + "_address = " + std::to_string(d.addresses[0]) + ";");
                       else line(n + "_address = (int64_t)" + at + ".data();");
                       std::size_t ids = d.mutex.empty() ? 0 : d.mutex[0].size();
                       for (std::size_t k = 0; k < ids; ++k)
                           line(n + "_mutex" + std::to_string(k) + " = " + decl(s.decl) + "_mutex" + std::to_string(k) + "[" + index + "];");
                   },
                   [&](const ir::AliasOf& a) {
                       line(n + " = " + tile(a.tile) + ";");
                       line(n + "_address = " + tile(a.tile) + "_address;");
                       copy_ids(tile(a.tile), a.tile);
                   },
                   [&](const ir::SubviewOf& v) {
                       const isa::TileType& t = m_f[v.base].type;
                       std::string offset = t.layout == isa::Layout::dn ? "(" + expr(v.col_begin) + ") * " + std::to_string(t.shape[0]) + " + (" + expr(v.row_begin) + ")"
                                                                        : "(" + expr(v.row_begin) + ") * " + std::to_string(t.shape[1]) + " + (" + expr(v.col_begin) + ")";
                       line(n + "_address = " + tile(v.base) + "_address + (" + offset + ") * " + std::to_string(isa::bytes(t.dtype)) + ";");
                       line("TASSIGN(" + n + "_own, " + n + "_address);");
                       auto extent = [&](ir::ExprId begin, ir::ExprId end, int size, const char* valid) {
                           return "min(min((int64_t)(" + expr(end) + "), (int64_t)" + std::to_string(size) + ") - (" + expr(begin) + "), (int64_t)" + tile(v.base) +
                                  "->" + valid + "() - (" + expr(begin) + "))";
                       };
                       line(n + "_own.SetValidShape(" + extent(v.row_begin, v.row_end, t.shape[0], "GetValidRow") + ", " +
                            extent(v.col_begin, v.col_end, t.shape[1], "GetValidCol") + ");");
                       line(n + " = &" + n + "_own;");
                       copy_ids(tile(v.base), v.base);
                   },
                   [&](const ir::ViewOf& v) {
                       line(n + "_address = " + tile(v.base) + "_address;");
                       line("TASSIGN(" + n + "_own, " + n + "_address);");
                       line(n + " = &" + n + "_own;");
                       copy_ids(tile(v.base), v.base);
                   },
                   [&](const ir::ChoiceOf& c) {
                       std::string t = "choice_" + std::to_string(m_temporaries++);
                       line("const bool " + t + " = " + expr(c.condition) + ";");
                       line(n + " = " + t + " ? " + tile(c.then) + " : " + tile(c.otherwise) + ";");
                       line(n + "_address = " + t + " ? " + tile(c.then) + "_address : " + tile(c.otherwise) + "_address;");
                       std::size_t ids = 0;
                       for (ir::TileDeclId d : m_f[c.then].may_be) ids = std::max(ids, m_f[d].mutex.empty() ? 0 : m_f[d].mutex[0].size());
                       for (std::size_t k = 0; k < ids; ++k) {
                           std::string m = "_mutex" + std::to_string(k);
                           line(n + m + " = " + t + " ? " + tile(c.then) + m + " : " + tile(c.otherwise) + m + ";");
                       }
                   },
               },
               b.source);
}

void Writer::tensor_bind(const ir::TensorBind& b) {
    const ir::Tensor& t = m_f[b.tensor];
    std::string n = tensor(b.tensor);
    if (b.alias_of.valid()) line(n + "_ptr = " + tensor(b.alias_of) + "_ptr;");
    else line(n + "_ptr = (__gm__ " + c_type(t.dtype) + "*)(" + expr(b.address) + ");");
    for (std::size_t a = 0; a < b.shape.size(); ++a)
        if (a < t.dims.size() && t.dims[a].dynamic) line(safe(t.name) + "_shape" + std::to_string(a) + " = " + expr(b.shape[a]) + ";");
    std::size_t rank = t.dims.size();
    for (std::size_t a = 0; a < rank; ++a) {
        std::string value = a < b.strides.size() ? expr(b.strides[a]) : stride_of(t, a);
        line(n + "_stride" + std::to_string(a) + " = " + value + ";");
    }
    if (rank >= 1)
        line(n + ".template SetStride<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>(" + (rank > 1 ? n + "_stride" + std::to_string(rank - 2) : std::string("1")) + ", " + n +
             "_stride" + std::to_string(rank - 1) + ");");
}

void Writer::statement(const ir::Stmt& s) {
    if (m_options.sources && s.at.valid() && !m_in_vector) {
        Position p = m_options.sources->begin(s.at);
        std::string source(m_options.sources->line_text(s.at.file, p.line));
        std::size_t first = source.find_first_not_of(" \t");
        source = first == std::string::npos ? "" : source.substr(first);
        // a comment must end with its line: a trailing backslash or a trigraph would continue it
        while (!source.empty() && (source.back() == '\\' || source.back() == '\r')) source.pop_back();
        std::string comment = "// " + std::to_string(p.line) + ": " + source;
        if (comment != m_last_comment) line(comment);
        m_last_comment = comment;
    }
    auto block = [&](const ir::Body& body) {
        ++m_indent;
        statements(body);
        --m_indent;
    };
    std::visit(on{
                   [&](const ir::Assign& a) { line(var(a.var) + " = " + expr(a.value) + ";"); },
                   [&](const ir::FieldAssign& a) {
                       std::string target = record(a.target) + "." + safe(m_f[a.target.structure].fields[std::size_t(a.field)].name);
                       if (a.element.valid()) target += "[" + expr(a.element) + "]";
                       line(target + " = " + expr(a.value) + ";");
                   },
                   [&](const ir::TileBind& b) { tile_bind(b); },
                   [&](const ir::TensorBind& b) { tensor_bind(b); },
                   [&](const ir::Op& op) { operation(op, s.at); },
                   [&](const ir::Loop& l) {
                       std::string n = std::to_string(m_temporaries++), i = "i_" + n, type = m_in_vector ? "uint16_t" : "int64_t";
                       auto step = m_f.constant(l.step);
                       line("const " + type + " stop_" + n + " = (" + type + ")(" + expr(l.stop) + ");");
                       std::string by = step ? std::to_string(*step) : "step_" + n;
                       if (!step) line("const " + type + " step_" + n + " = (" + type + ")(" + expr(l.step) + ");");
                       std::string test = step ? (*step > 0 ? i + " < stop_" + n : i + " > stop_" + n) : "step_" + n + " > 0 ? " + i + " < stop_" + n + " : " + i + " > stop_" + n;
                       line("for (" + type + " " + i + " = (" + type + ")(" + expr(l.start) + "); " + test + "; " + i + " += " + by + ") {");
                       ++m_indent;
                       line(var(l.var) + " = " + i + ";");
                       statements(l.body);
                       --m_indent;
                       line("}");
                   },
                   [&](const ir::Forever& l) {
                       line("while (true) {");
                       block(l.body);
                       line("}");
                   },
                   [&](const ir::Branch& b) {
                       line("if (" + expr(b.condition) + ") {");
                       block(b.then);
                       if (!b.otherwise.empty()) {
                           line("} else {");
                           block(b.otherwise);
                       }
                       line("}");
                   },
                   [&](const ir::Break&) { line("break;"); },
                   [&](const ir::Continue&) { line("continue;"); },
                   [&](const ir::Return&) { line("return;"); },
                   [&](const ir::VectorCall& c) { vector_call(c); },
                   [&](const ir::SimtLaunch& l) {
                       line("// no C++ form here: simt.launch of " + l.name);
                       m_out.diagnostics.push_back(diagnose(Code::emit_form, s.at, "simt.launch has no C++ form here; the generated text leaves it out"));
                   },
                   [&](const ir::StageScope& c) {
                       line("{ // stage " + c.stage);
                       block(c.body);
                       line("}");
                   },
                   [&](const ir::HelperScope& c) {
                       line("{ // " + c.helper);
                       block(c.body);
                       line("}");
                   },
               },
               s.what);
}

} // namespace pto::emit
