/// Operations on whole tiles whose C++ depends on more than their operands. Source: codegen 2.3.
#include "engine/emit/writer.hpp"

namespace pto::emit {

using S = isa::Semantics;

/// Numbers counted up along every row. The library counts along one row of whole 16- or 32-bit numbers at a time: other rows are views of
/// their own, floats are counted as whole numbers, converted and moved to their start.
bool Writer::fill_index(const ir::Op& op) {
    const ir::TileVarId to = std::get<ir::TileVarId>(op.operands[0]);
    const ir::ExprId start = std::get<ir::ExprId>(op.operands[1]);
    const isa::TileType& type = m_f[to].type;
    const bool real = type.dtype == isa::DType::fp32 || type.dtype == isa::DType::fp16, wide = isa::bytes(type.dtype) == 4;
    if (type.layout != isa::Layout::nd || (!real && (!isa::is_int(type.dtype) || (isa::bytes(type.dtype) != 2 && !wide)))) return false;
    auto count = [&](const std::string& row, const std::string& from) { // the form with scratch is the vector unit's; a 950 leaves that scratch untouched
        const std::string t = type_of(row);
        line(m_a5 ? "TCI<" + t + ", " + t + ", " + t + "::DType, 0>(" + row + ", " + from + ", " + row + ");" : "TCI<" + t + ", " + t + "::DType, 0>(" + row + ", " + from + ");");
    };
    if (type.shape[0] == 1 && !real) {
        count(tile(to), expr_as(start, type.dtype));
        return true;
    }
    isa::TileType one = type, whole = type;
    one.shape[0] = whole.shape[0] = 1;
    whole.dtype = wide ? isa::DType::int32 : isa::DType::int16;
    const std::string row = temporary("row_"), numbers = temporary("numbers_"), r = temporary("r_"), cols = "(1, " + method(to) + "GetValidCol());";
    auto at = [&](const std::string& view) { line("TASSIGN(" + view + ", " + address(to) + " + " + r + " * " + std::to_string(isa::bytes(type.dtype, type.shape[1])) + ");"); };
    open("{");
    line(tile_type(one, true) + " " + row + cols);
    if (real) line(tile_type(whole, true) + " " + numbers + cols);
    open("for (uint32_t " + r + " = 0; " + r + " < (uint32_t)" + method(to) + "GetValidRow(); ++" + r + ") {");
    at(row);
    if (!real) {
        count(row, expr_as(start, type.dtype));
    } else {
        at(numbers);
        count(numbers, "0");
        if (!m_a5) line("pipe_barrier(PIPE_V);");
        line("TCVT(" + row + ", " + numbers + ", RoundMode::CAST_RINT);");
        if (!m_a5) line("pipe_barrier(PIPE_V);");
        line("TADDS(" + row + ", " + row + ", " + expr_as(start, type.dtype) + ");");
    }
    close();
    close();
    return true;
}

bool Writer::vector_tiles(const ir::Op& op, Span at) {
    auto o = [&](std::size_t i) { return i < op.operands.size() ? operand(op.operands[i]) : std::string(); };
    switch (op.row->semantics) {
    case S::fill_index: return fill_index(op);
    case S::fillpad: {
        const std::string mode = attribute(op, "mode");
        const std::string name = mode == "INPLACE" ? "TFILLPAD_INPLACE" : mode == "EXPAND" ? "TFILLPAD_EXPAND" : "TFILLPAD";
        const ir::TileVarId from = std::get<ir::TileVarId>(op.operands[1]);
        isa::TileType type = m_f[from].type;
        if (type.pad == isa::TilePad::null || type.memory == isa::MemorySpace::mat) {
            line(name + "(" + o(0) + ", " + o(1) + ");");
            return true;
        }
        type.pad = isa::TilePad::null; // the source's own padding must not be taken for data
        const std::string alias = temporary("unpadded_");
        open("{");
        line(tile_type(type, true) + " " + alias + "(" + method(from) + "GetValidRow(), " + method(from) + "GetValidCol());");
        line("TASSIGN(" + alias + ", " + address(from) + ");");
        line(name + "(" + o(0) + ", " + alias + ");");
        close();
        return true;
    }
    case S::gather_compare: {
        static constexpr const char* modes[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
        const std::int64_t mode = number(op, "cmp_mode", 0);
        if (mode != 0 && mode != 4) return false; // the library selects by equality and by greater only
        line("TGATHER<" + type_of(o(0)) + ", " + type_of(o(1)) + ", " + type_of(o(2)) + ", " + type_of(o(3)) + ", " + type_of(o(4)) + ", CmpMode::" + modes[mode] + ">(" + o(0) + ", " + o(1) +
             ", " + o(2) + ", " + o(3) + ", " + o(4) + ", " + (attribute(op, "offset").empty() ? "0" : "(int)(" + attribute(op, "offset") + ")") + ");");
        return true;
    }
    case S::gather_mask: {
        static constexpr const char* patterns[] = {"", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"};
        const std::int64_t pattern = number(op, "pattern_mode", 7);
        if (pattern < 1 || pattern > 7) return false;
        line("TGATHER<" + type_of(o(0)) + ", " + type_of(o(1)) + ", MaskPattern::" + patterns[pattern] + ">(" + o(0) + ", " + o(1) + ");");
        return true;
    }
    case S::sort32:
        line("TSORT32(" + o(0) + ", " + o(1) + ", " + o(2) + (o(3).empty() ? "" : ", " + o(3)) + ");");
        return true;
    case S::merge_sort: line("TMRGSORT(" + o(0) + ", " + o(1) + ", (uint32_t)(" + attribute(op, "block_len") + "));"); return true;
    case S::merge_sort_lists: { // src0, src1, dst, tmp, src2, src3 as documented
        std::vector<std::string> sources{o(0), o(1)};
        for (std::size_t i : {4u, 5u})
            if (!o(i).empty()) sources.push_back(o(i));
        const std::string done = temporary("executed_");
        std::string types = type_of(o(2)) + ", " + type_of(o(3)), list;
        for (const std::string& s : sources) types += ", " + type_of(s), list += ", " + s;
        line("MrgSortExecutedNumList " + done + ";");
        line("TMRGSORT<" + types + ", " + (number(op, "exhausted", 0) ? "true" : "false") + ">(" + o(2) + ", " + done + ", " + o(3) + list + ");");
        warn("the positions of mrgsort2's tiles are the documented ones (src0, src1, dst, tmp); the published generator reads dst, src0, tmp, src1", at);
        return true;
    }
    case S::histogram: {
        const auto* src = std::get_if<ir::TileVarId>(&op.operands[1]);
        const int bytes = src ? isa::bytes(m_f[*src].type.dtype) : 2; // the counted byte: the top one, or the lowest with the others as filter
        line("THISTOGRAM<HistByte::BYTE_" + std::to_string(number(op, "is_msb", 0) ? bytes - 1 : 0) + ">(" + o(0) + ", " + o(1) + ", " + o(2) + ");");
        return true;
    }
    case S::quant: {
        const bool asym = number(op, "mode", 0) == int(isa::QuantMode::asym);
        line("TQUANT<QuantType::INT8_" + std::string(asym ? "ASYM" : "SYM") + ">(" + o(0) + ", " + o(1) + ", " + o(2) + (asym && given(op, "offset") ? ", &" + attribute(op, "offset") : "") + ");");
        return true;
    }
    default: return false;
    }
}

} // namespace pto::emit
