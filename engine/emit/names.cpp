#include "engine/emit/writer.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace pto::emit {

std::string c_type(isa::DType t) {
    using D = isa::DType;
    switch (t) {
    case D::boolean: return "bool";
    case D::int4: case D::int8: return "int8_t";
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

std::string tile_type(const isa::TileType& t) {
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
    bool column = t.shape[1] == 1; // one column is column-major without boxes, whatever was declared
    int fractal = t.fractal;
    if (column) block = "ColMajor", sub = "NoneBox", fractal = 512;
    std::string out = "Tile<TileType::" + std::string(spaces[std::size_t(t.memory)]) + ", " + c_type(t.dtype) + ", " + std::to_string(t.shape[0]) + ", " +
                      std::to_string(t.shape[1]) + ", BLayout::" + std::string(block) + ", ";
    out += t.fixed_valid ? std::to_string(t.valid[0]) + ", " + std::to_string(t.valid[1]) : std::string("-1, -1");
    out += ", SLayout::" + std::string(sub) + ", " + std::to_string(fractal);
    if (!column) {
        out += ", PadValue::" + std::string(pads[std::size_t(t.pad)]);
        if (t.compact) out += t.compact == 1 ? ", CompactMode::Normal" : ", CompactMode::RowPlusOne";
    }
    return out + ">";
}

std::string real_literal(double v) {
    float f = float(v);
    if (std::isnan(f)) return "__builtin_nanf(\"\")";
    if (std::isinf(f)) return f > 0 ? "__builtin_inff()" : "(-__builtin_inff())";
    char text[40];
    for (int digits = 6; digits <= 9; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, double(f));
        if (std::strtof(text, nullptr) == f) break;
    }
    std::string s = text;
    if (s.find_first_of(".e") == std::string::npos) s += ".0";
    return s + "f";
}

std::string pipe_name(isa::Pipe p) { return "PIPE_" + std::string(isa::name(p)); }

std::string Writer::safe(const std::string& name) {
    std::string out;
    for (char c : name) out += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ? c : '_';
    if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "n" + out;
    return out;
}

std::string Writer::var(ir::VarId v) const {
    const ir::Variable& x = m_f[v];
    if (x.param.valid()) return safe(m_kernel.params[std::size_t(x.param.index)].name) + "_0";
    return safe(x.name) + "_v" + std::to_string(v.index);
}
std::string Writer::tile(ir::TileVarId t) const { return safe(m_f[t].name) + "_t" + std::to_string(t.index); }
std::string Writer::tensor(ir::TensorId t) const { return safe(m_f[t].name) + (m_f[t].is_parameter() ? "_0" : "_g" + std::to_string(t.index)); }
std::string Writer::decl(ir::TileDeclId d) const { return safe(m_f[d].name) + "_d" + std::to_string(d.index); }
std::string Writer::reg(ir::RegId r) const { return safe(m_f[r].name) + "_r" + std::to_string(r.index); }
std::string Writer::structure(ir::StructId s) const { return safe(m_f[s].name) + "_s" + std::to_string(s.index); }

} // namespace pto::emit
