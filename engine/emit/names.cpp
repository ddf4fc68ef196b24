#include "engine/emit/writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace pto::emit {

std::string c_type(isa::DType t) {
    using D = isa::DType;
    switch (t) {
    case D::boolean: return "bool";
    case D::int4: return "int4b_t";
    case D::int8: return "int8_t";
    case D::int16: return "int16_t";
    case D::int32: return "int32_t";
    case D::int64: case D::index: return "int64_t";
    case D::uint4: case D::uint8: return "uint8_t";
    case D::uint16: return "uint16_t";
    case D::uint32: return "uint32_t";
    case D::uint64: return "uint64_t";
    case D::fp16: return "half";
    case D::bf16: return "bfloat16_t";
    case D::fp32: return "float";
    case D::fp8e4m3: return "float8_e4m3_t";
    case D::fp8e5m2: return "float8_e5m2_t";
    case D::fp8e8m0: return "float8_e8m0_t";
    case D::fp4: case D::fp4e2m1: return "float4_e2m1x2_t";
    case D::fp4e1m2: return "float4_e1m2x2_t";
    case D::hf8: case D::hf4: return "hifloat8_t";
    }
    return "?";
}

bool same_c_type(isa::DType a, isa::DType b) {
    auto key = [](isa::DType t) { return t == isa::DType::index ? isa::DType::int64 : t; };
    return key(a) == key(b);
}

std::string tile_type(const isa::TileType& t, bool dynamic) {
    static constexpr std::string_view spaces[] = {"?", "Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling", "ScaleLeft", "ScaleRight"};
    static constexpr std::string_view pads[] = {"Null", "Zero", "Max", "Min"};
    std::string_view block = "RowMajor", sub = "NoneBox";
    switch (t.layout) {
    case isa::Layout::nd: break;
    case isa::Layout::dn: block = "ColMajor"; break;
    case isa::Layout::nz: block = "ColMajor", sub = "RowMajor"; break;
    case isa::Layout::zn: block = "RowMajor", sub = "ColMajor"; break;
    case isa::Layout::zz: block = "RowMajor", sub = "RowMajor"; break;
    case isa::Layout::nn: block = "ColMajor", sub = "ColMajor"; break;
    }
    const bool column = t.shape[1] == 1; // one column is column-major without boxes, whatever was declared
    int fractal = t.fractal;
    if (column) block = "ColMajor", sub = "NoneBox", fractal = 512;
    std::string out = "Tile<TileType::";
    out.append(spaces[std::size_t(t.memory)]).append(", ").append(c_type(t.dtype)).append(", ").append(std::to_string(t.shape[0]));
    out.append(", ").append(std::to_string(t.shape[1])).append(", BLayout::").append(block).append(", ");
    out += dynamic ? std::string("-1, -1") : std::to_string(t.valid[0]) + ", " + std::to_string(t.valid[1]);
    out.append(", SLayout::").append(sub).append(", ").append(std::to_string(fractal));
    if (!column) {
        out.append(", PadValue::").append(pads[std::size_t(t.pad)]);
        if (t.compact) out += t.compact == 1 ? ", CompactMode::Normal" : ", CompactMode::RowPlusOne";
    }
    return out + ">";
}

std::string real_literal(double v) {
    const float f = float(v);
    if (std::isnan(f)) return "__builtin_nanf(\"\")";
    if (std::isinf(f)) return f > 0 ? "__builtin_inff()" : "(-__builtin_inff())";
    char text[40];
    for (int digits = 6; digits <= 9; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, double(f));
        if (std::strtof(text, nullptr) == f) break;
    }
    std::string s = text;
    if (s.find_first_of(".e") == std::string::npos) s += ".0";
    return std::signbit(f) ? "(" + s + "f)" : s + "f";
}

std::string integer_literal(std::int64_t v, isa::DType t) {
    if (t == isa::DType::boolean) return v ? "true" : "false";
    if (isa::is_float(t)) return real_literal(double(v));
    if (t == isa::DType::uint64 && v < 0) return std::to_string(std::uint64_t(v)) + "ULL";
    if (v == INT64_MIN) return "(-9223372036854775807LL - 1)";
    std::string s = std::to_string(v);
    return v < 0 ? "(" + s + ")" : s;
}

std::string pipe_name(isa::Pipe p) { return "PIPE_" + std::string(isa::name(p)); }

std::string safe(const std::string& name) {
    std::string out;
    for (unsigned char c : name) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (plain) {
            out += char(c);
        } else if (c == '.' || c == ' ') {
            out += '_';
        } else {
            char hex[4];
            std::snprintf(hex, sizeof hex, "x%02X", c);
            out += hex;
        }
    }
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "n" + out;
    return out;
}

std::string field_name(const std::string& name) {
    static constexpr std::array words{
        "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "concept", "const", "constexpr", "continue",
        "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
        "half", "if", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long", "max", "min", "mutable", "namespace", "new", "noexcept", "not",
        "nullptr", "operator", "or", "private", "protected", "pto", "public", "register", "requires", "return", "short", "signed", "sizeof", "static",
        "std", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid", "typename", "uint16_t", "uint32_t", "uint64_t",
        "uint8_t", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor"};
    std::string out = safe(name);
    return std::binary_search(words.begin(), words.end(), out) ? out + "_" : out;
}

std::string struct_class(const std::string& name, const std::vector<ir::Field>& fields, bool shared) {
    std::string out = "class " + field_name(name) + " {\npublic:\n";
    for (const ir::Field& f : fields) {
        out += "    ";
        if (shared) out += "volatile ";
        out.append(c_type(f.dtype)).append(" ").append(field_name(f.name));
        if (f.length) out.append("[").append(std::to_string(f.length)).append("]");
        out += ";\n";
    }
    return out + "};\n";
}

std::string quoted(std::string_view text) {
    std::string out;
    for (unsigned char c : text) {
        if (c == '\n') out += "\\n";
        else if (c == '"' || c == '\\') out += '\\', out += char(c);
        else if (c < 0x20 || c >= 0x7F || c == '?') { // '?': no trigraphs
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\%03o", c);
            out += escape;
        } else out += char(c);
    }
    return out;
}

std::string ascii(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        if (c < 0x80) {
            out += c < 0x20 || c == 0x7F ? ' ' : char(c);
            ++i;
            continue;
        }
        const int length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        std::uint32_t point = length == 1 ? c : c & (0xFFu >> (length + 1));
        std::size_t end = i + 1;
        for (; end < text.size() && end < i + std::size_t(length) && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++end)
            point = point << 6 | (static_cast<unsigned char>(text[end]) & 0x3F);
        char shown[16];
        std::snprintf(shown, sizeof shown, "<U+%04X>", unsigned(point));
        out += shown;
        i = end;
    }
    // A comment ends with its line: a trailing backslash, or the trigraph that means one, would take the next line in.
    while (!out.empty() && (out.back() == '\\' || out.back() == ' ' || (out.back() == '/' && out.size() >= 3 && out.compare(out.size() - 3, 3, "?\?/") == 0))) out.pop_back();
    return out;
}

std::string Writer::var(ir::VarId v) const {
    const ir::Variable& x = m_f[v];
    if (x.param.valid()) return safe(m_kernel.params[std::size_t(x.param.index)].name) + (m_kernel.params[std::size_t(x.param.index)].kind == ir::ParamKind::pointer ? "_0_address" : "_0");
    return safe(x.name) + "_v" + std::to_string(v.index);
}
std::string Writer::handle(ir::TileVarId t) const { return safe(m_f[t].name) + "_t" + std::to_string(t.index); }
std::string Writer::tile(ir::TileVarId t) const {
    if (!m_row_views.empty())
        if (auto v = m_row_views.find(t.index); v != m_row_views.end()) return v->second;
    if (fact(t).direct.valid()) return decl(fact(t).direct);
    return "(*" + handle(t) + ")";
}
std::string Writer::pointer(ir::TileVarId t) const {
    if (fact(t).direct.valid()) return "&" + decl(fact(t).direct);
    return handle(t);
}
std::string Writer::method(ir::TileVarId t) const { return fact(t).direct.valid() ? decl(fact(t).direct) + "." : handle(t) + "->"; }
std::string Writer::tensor(ir::TensorId t) const { return safe(m_f[t].name) + (m_f[t].is_parameter() ? "_0" : "_g" + std::to_string(t.index)); }
std::string Writer::decl(ir::TileDeclId d) const { return safe(m_f[d].name) + "_d" + std::to_string(d.index); }
std::string Writer::reg(ir::RegId r) const { return safe(m_f[r].name) + "_r" + std::to_string(r.index); }
std::string Writer::structure(ir::StructId s) const { return safe(m_f[s].name) + "_s" + std::to_string(s.index); }

} // namespace pto::emit
