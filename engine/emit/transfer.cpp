/// Between global memory and tiles, and between tiles. Source: codegen 1.5, 2.1; language 3.1 to 3.3.
#include "engine/emit/writer.hpp"

namespace pto::emit {
namespace {

constexpr const char* dims = "<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>";

std::string times(const std::string& a, const std::string& b) { return b == "1" ? "(" + a + ")" : "(" + a + ") * (" + b + ")"; }
void plus(std::string& sum, const std::string& term) { sum += (sum.empty() ? "" : " + ") + term; }

bool is_scale_pair(const ir::Tensor& t, const isa::TileType& tile) {
    return tile.dtype == isa::DType::fp8e8m0 && tile.fractal == 32 && t.dims.size() >= 3 && !t.dims.back().dynamic && t.dims.back().size == 2 &&
           (tile.layout == isa::Layout::zz || tile.layout == isa::Layout::nn);
}

} // namespace

Window Writer::window(const ir::Op& op, ir::TensorId g, ir::TileVarId t, std::size_t list) const {
    const ir::Tensor& x = m_f[g];
    const isa::TileType& type = m_f[t].type;
    const bool pair = is_scale_pair(x, type);
    const int rank = int(x.dims.size());
    Window w;
    w.row_axis = rank - 2 - (pair ? 1 : 0);
    w.col_axis = rank - 1 - (pair ? 1 : 0);
    if (const ir::AttributeValue* order = given(op, "order"))
        if (const auto* axes = std::get_if<ir::ExprList>(order); axes && axes->size() == 2) {
            const int p = int(m_f.constant((*axes)[0]).value_or(w.row_axis)), q = int(m_f.constant((*axes)[1]).value_or(w.col_axis));
            w.usual = p == w.row_axis && q == w.col_axis;
            w.transposed = p > q;
            w.row_axis = p, w.col_axis = q;
        }
    w.usual = w.usual && !pair && x.layout != isa::Layout::nz;
    const bool narrow = isa::bits(x.dtype) == 4; // declared sizes of packed types count bytes, windows walk in elements
    auto walk = [&](int axis) -> std::string {
        if (axis < 0) return "1";
        if (m_facts.tensors[std::size_t(g.index)].restrided && axis >= rank - 2)
            return tensor(g) + ".GetStride(pto::GlobalTensorDim::" + (axis == rank - 2 ? "DIM_3)" : "DIM_4)");
        if (narrow) return axis == rank - 1 ? "1" : "(" + declared_stride(g, axis) + ") * 2";
        return declared_stride(g, axis);
    };
    w.row_stride = walk(w.row_axis);
    w.col_stride = walk(w.col_axis);
    const auto* offsets = std::get_if<ir::ExprList>(&op.operands[list]);
    const bool tiles = op.row->operands[list].name == "idx"; // load_tile, store_tile: whole tiles
    const int pair_rows = pair && type.layout == isa::Layout::nn ? 2 : 1, pair_cols = pair && type.layout == isa::Layout::zz ? 2 : 1;
    for (int a = 0; offsets && a < rank && a < int(offsets->size()); ++a) {
        if (m_f.constant((*offsets)[std::size_t(a)]) == 0) continue;
        std::string at = expr((*offsets)[std::size_t(a)]);
        if (tiles && a == w.row_axis) at = at + " * " + std::to_string(type.shape[0] / pair_rows);
        if (tiles && a == w.col_axis) at = at + " * " + std::to_string(type.shape[1] / pair_cols);
        if (x.layout == isa::Layout::nz && (a == w.row_axis || a == w.col_axis)) {
            const std::string c0 = std::to_string(32 / isa::bytes(x.dtype)), rows16 = "(" + dim_of(g, std::size_t(w.row_axis)) + " + 15) / 16 * 16";
            if (a == w.row_axis) plus(w.offset, "(" + at + ") * " + c0);
            else plus(w.offset, "(" + at + ") / " + c0 + " * (" + rows16 + " * " + c0 + ")");
            continue;
        }
        plus(w.offset, times(at, declared_stride(g, a)));
    }
    if (w.offset.empty()) w.offset = "0";
    return w;
}

std::string Writer::view(const ir::Op& op, ir::TensorId g, ir::TileVarId t, std::size_t list, Span at) {
    const ir::Tensor& x = m_f[g];
    const isa::TileType& type = m_f[t].type;
    const Window w = window(op, g, t, list);
    const std::string n = tensor(g), rows = method(t) + "GetValidRow()", cols = method(t) + "GetValidCol()", from = n + "_ptr + " + w.offset;
    const bool one_column = type.shape[1] == 1, dn = x.layout == isa::Layout::dn;
    if (w.usual && (!one_column || dn)) {
        line(n + ".SetShape" + dims + "(static_cast<int64_t>(" + rows + "), static_cast<int64_t>(" + cols + "));");
        line("TASSIGN(" + n + ", " + from + ");");
        return n;
    }
    const std::string v = temporary("view_"), element = c_type(x.dtype);
    if (x.layout == isa::Layout::nz) {
        const std::string c0 = std::to_string(32 / isa::bytes(x.dtype)), rows16 = "(" + dim_of(g, std::size_t(w.row_axis)) + " + 15) / 16 * 16";
        line("using " + v + "Shape = pto::Shape<1, -1, -1, 16, " + c0 + ">;");
        line("using " + v + "Stride = pto::Stride<-1, -1, " + std::to_string(16 * (32 / isa::bytes(x.dtype))) + ", " + c0 + ", 1>;");
        line("GlobalTensor<" + element + ", " + v + "Shape, " + v + "Stride, Layout::NZ> " + v + "(" + from + ", " + v + "Shape((" + cols + " + " + c0 + " - 1) / " + c0 + ", (" + rows +
             " + 15) / 16), " + v + "Stride(" + rows16 + " * " + dim_of(g, std::size_t(w.col_axis)) + ", " + rows16 + " * " + c0 + "));");
        return v;
    }
    if (is_scale_pair(x, type)) { // E8M0 scales: the trailing axis holds the two phases of 64
        const bool left = type.layout == isa::Layout::zz;
        const std::string layout = std::string(left ? "MX_A_" : "MX_B_") + (w.transposed ? "DN" : "ND");
        std::string first = left ? rows : rows + " / 2", second = left ? cols + " / 2" : cols, major = w.row_stride, minor = w.col_stride;
        if (w.transposed) std::swap(first, second), std::swap(major, minor);
        line("using " + v + "Shape = pto::Shape<1, 1, -1, -1, 2>;");
        line("using " + v + "Stride = pto::Stride<-1, -1, -1, -1, 1>;");
        line("GlobalTensor<" + element + ", " + v + "Shape, " + v + "Stride, Layout::" + layout + "> " + v + "(" + from + ", " + v + "Shape(" + first + ", " + second + "), " + v +
             "Stride(1, 1, " + major + ", " + minor + "));");
        return v;
    }
    const bool column_major = dn != w.transposed || one_column;
    if (one_column && w.row_stride != "1" && !w.transposed)
        warn("a tile of one column is loaded and stored contiguously by the device, but the rows of " + x.name + " lie " + w.row_stride + " elements apart", at);
    line("using " + v + "Shape = pto::Shape<1, 1, 1, -1, -1>;");
    line("using " + v + "Stride = pto::Stride<-1, -1, -1, -1, -1>;");
    line("GlobalTensor<" + element + ", " + v + "Shape, " + v + "Stride" + (column_major ? ", Layout::DN" : "") + "> " + v + "(" + from + ", " + v + "Shape(" + rows + ", " + cols + "), " + v +
         "Stride(1, 1, 1, " + w.row_stride + ", " + w.col_stride + "));");
    return v;
}

void Writer::load(const ir::Op& op, Span at) {
    const ir::TileVarId t = std::get<ir::TileVarId>(op.operands[0]);
    const std::string v = view(op, std::get<ir::TensorId>(op.operands[1]), t, 2, at);
    line("TLOAD(" + tile(t) + ", " + v + ");");
}

std::string Writer::quantisation(const ir::Op& op, isa::DType destination) const {
    const ir::AttributeValue* s = given(op, "scale");
    if (!s || std::holds_alternative<ir::TileVarId>(*s)) return "";
    const auto* e = std::get_if<ir::ExprId>(s);
    const bool bits = e && !isa::is_float(m_f[*e].dtype); // a run-time integer already holds the pattern
    std::string out = bits ? "static_cast<uint64_t>((uint32_t)(" + expr(*e) + "))"
                           : "static_cast<uint64_t>(__builtin_bit_cast(uint32_t, " + (e ? expr_as(*e, isa::DType::fp32) : attribute(op, "scale")) + "))";
    if (destination == isa::DType::int8) out += " | (1ULL << 46)";
    return ", " + out;
}

void Writer::store(const ir::Op& op, Span at) {
    const ir::TensorId g = std::get<ir::TensorId>(op.operands[0]);
    const ir::TileVarId t = std::get<ir::TileVarId>(op.operands[1]);
    const isa::DType element = m_f[g].dtype;
    const std::string v = view(op, g, t, 2, at), s = tile(t);
    const std::string phase = attribute(op, "phase"), relu = attribute(op, "relu_pre_mode"), atomic = attribute(op, "atomic");
    const bool adds = atomic == "AtomicAdd", phased = !phase.empty() && phase != "Unspecified";
    if (adds) {
        static const std::map<isa::DType, std::string> widths = {{isa::DType::fp32, "f32"},  {isa::DType::fp16, "f16"},  {isa::DType::bf16, "bf16"},
                                                                 {isa::DType::int32, "s32"}, {isa::DType::int16, "s16"}, {isa::DType::int8, "s8"}};
        auto w = widths.find(element);
        if (w == widths.end()) return missing("an atomic store to " + std::string(isa::name(element)), at);
        line("set_atomic_" + w->second + "();");
        line("set_atomic_add();");
    }
    const ir::AttributeValue* scale = given(op, "scale");
    if (scale && std::holds_alternative<ir::TileVarId>(*scale)) {
        line("TSTORE_FP(" + v + ", " + s + ", " + attribute(op, "scale") + ");");
    } else {
        const std::string quant = quantisation(op, element);
        std::string arguments;
        if (phased || !relu.empty())
            arguments = "<" + (phased ? "STPhase::" + phase + ", " : std::string()) + type_of(s) + ", decltype(" + v + ")" +
                        (relu.empty() ? "" : ", AtomicType::AtomicNone, ReluPreMode::" + relu) + ">";
        line("TSTORE" + arguments + "(" + v + ", " + s + quant + ");");
    }
    if (adds) line("set_atomic_none();");
}

void Writer::store_fp(const ir::Op& op) {
    const ir::TensorId g = std::get<ir::TensorId>(op.operands[0]);
    const ir::TileVarId t = std::get<ir::TileVarId>(op.operands[1]);
    const std::string v = view(op, g, t, 3, {});
    line("TSTORE_FP(" + v + ", " + tile(t) + ", " + operand(op.operands[2]) + ");");
}

void Writer::move(const ir::Op& op) {
    const ir::TileVarId to = std::get<ir::TileVarId>(op.operands[0]), from = std::get<ir::TileVarId>(op.operands[1]);
    const isa::TileType &d = m_f[to].type, &s = m_f[from].type;
    const std::string dn = tile(to), sn = tile(from);
    const bool has_offset = op.operands.size() > 2 && std::holds_alternative<ir::ExprList>(op.operands[2]) && !std::get<ir::ExprList>(op.operands[2]).empty();
    const std::string at = has_offset ? ", " + list_item(op.operands[2], 0) + ", " + list_item(op.operands[2], 1) : "";
    std::string mode = attribute(op, "acc_to_vec_mode"), relu = attribute(op, "relu_pre_mode");
    if (has_offset && (s.shape[0] < d.shape[0] || s.shape[1] < d.shape[1])) return line("TINSERT(" + dn + ", " + sn + at + ");");
    const bool to_mat = s.memory == isa::MemorySpace::vec && d.memory == isa::MemorySpace::mat;
    if (to_mat && !has_offset && s.layout != d.layout) return line("TINSERT(" + dn + ", " + sn + ", 0, 0);");
    const bool to_vec = s.memory == isa::MemorySpace::acc && d.memory == isa::MemorySpace::vec;
    if (to_vec && mode.empty()) mode = "SingleModeVec0";
    std::string arguments = type_of(dn) + ", " + type_of(sn), fp;
    if (const ir::AttributeValue* x = given(op, "scale"); x && std::holds_alternative<ir::TileVarId>(*x)) {
        fp = attribute(op, "scale");
        arguments += ", " + type_of(fp);
    }
    if (!mode.empty()) arguments += ", AccToVecMode::" + mode;
    if (!relu.empty()) arguments += ", ReluPreMode::" + relu;
    const bool split_m = mode == "DualModeSplitM", split_n = mode == "DualModeSplitN";
    if (split_m || split_n) { // the hardware halves whole rows or blocks of 32 columns; the accumulator's own shape comes back afterwards
        open("{");
        line("const unsigned rows = " + method(from) + "GetValidRow(), cols = " + method(from) + "GetValidCol();");
        line(method(from) + "SetValidShape(" + (split_m ? "(rows + 1) / 2 * 2, cols" : "rows, (cols + 31) / 32 * 32") + ");");
    }
    const std::string quant = quantisation(op, d.dtype);
    if (!fp.empty()) {
        const char* name = has_offset ? (mode.empty() ? "TEXTRACT_FP<" : "TEXTRACT<") : mode.empty() ? "TMOV_FP<" : "TMOV<";
        line(name + arguments + ">(" + dn + ", " + sn + ", " + fp + at + ");");
    } else if (has_offset) {
        line("TEXTRACT<" + arguments + ">(" + dn + ", " + sn + quant + at + ");");
    } else {
        line("TMOV<" + arguments + ">(" + dn + ", " + sn + quant + ");");
    }
    if (split_m || split_n) {
        line(method(from) + "SetValidShape(rows, cols);");
        close();
    }
}

} // namespace pto::emit
