#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <cstdio>

namespace pto::validate {

using isa::DType;
using isa::Pipe;

namespace {

/// One vector operation, `calls` times; `apart`: rows of the tile lie apart in UB.
Predicted single(const machine::Chip& chip, const std::string& timing, DType dtype, std::int64_t rows, std::int64_t columns, int calls,
                                std::uint16_t src0, std::uint16_t src1, std::uint16_t dst, bool apart) {
    execute::Site site{nullptr, timing, timing, dtype, {}};
    execute::Row row;
    row.pipe = Pipe::v;
    row.m = std::int32_t(rows);
    row.n = std::int32_t(columns);
    row.bytes = isa::bytes(dtype, rows * columns);
    row.row_bytes = std::int32_t(apart ? isa::bytes(dtype, columns) : row.bytes); // a whole tile is one stretch of UB
    row.ub[0] = src0, row.ub[1] = src1, row.ub[2] = dst;
    execute::Record record = series(row, site, isa::Core::vector, calls);
    return busy_time(chip, record);
}

DType c_type(const std::string& t) {
    return t == "float" ? DType::fp32 : t == "half" ? DType::fp16 : t == "int16_t" ? DType::int16 : t == "int32_t" ? DType::int32 : DType::int8;
}

/// Whether a profiled time is below what its data need at one line a cycle: then it is not the whole operation's.
bool impossible(const Measured& m, std::int64_t bytes, std::string& why) {
    if (m.cycles < 0 || m.cycles >= double(bytes) / 256) return false;
    why = "the profiled time is less than a cycle for each line: not the whole operation";
    return true;
}

} // namespace

std::optional<Predicted> tile_op(const Measured& m, std::string& why) {
    static const std::map<std::string, std::string> keys{
        {"TDIVS", "vector.div_scalar"}, {"TEXP", "vector.special"}, {"TSQRT", "vector.special"}, {"TLOG", "vector.special"}, {"TMINS", "vector.add_scalar"},
        {"TMAXS", "vector.add_scalar"}, {"TADDS", "vector.add_scalar"}, {"TMULS", "vector.add_scalar"}, {"TADD", "vector.add"}, {"TSUB", "vector.add"}, {"TMUL", "vector.add"},
        {"TMAX", "vector.add"}, {"TMIN", "vector.add"}, {"TDIV", "vector.div"}, {"TNEG", "vector.unary"}, {"TABS", "vector.unary"}, {"TRELU", "vector.unary"},
        {"TCVT", "vector.cast"}, {"TRECIP", "vector.recip"}, {"TRSQRT", "vector.rsqrt"}, {"TSEL", "vector.select"}};
    const Json& p = (*m.row).at("params");
    auto found = keys.find(m.kernel);
    if (found == keys.end()) {
        why = "no row of the model stands for " + m.kernel;
        return std::nullopt;
    }
    std::string type = text(p, "dtype", "fp32"), key = found->second;
    if (text(p, "op_params") == "high_precision") {
        if (m.kernel != "TRECIP") {
            why = "high-precision variant: a software sequence of unknown length";
            return std::nullopt;
        }
        key = "vector.recip_precise";
    }
    auto dtype = isa::find_dtype(type == "Int8" ? "int8" : type);
    if (!dtype) {
        why = "unknown type " + type;
        return std::nullopt;
    }
    std::int64_t rows = p.at("vr").get<std::int64_t>(), columns = p.at("vc").get<std::int64_t>();
    return single(chip_of(m), key, *dtype, rows, columns, 1, 0xFFFF, 0xFFFF, 0xFFFF, rows > 1);
}

std::optional<Predicted> old_tile_op(const Measured& m, std::string& why) {
    static const std::map<std::string, std::pair<std::string, int>> keys{ // timing key, sources
        {"tabs", {"vector.unary", 1}}, {"tadd", {"vector.add", 2}}, {"tsub", {"vector.add", 2}}, {"tmul", {"vector.add", 2}}, {"tdiv", {"vector.div", 2}},
        {"texp", {"vector.special", 1}}, {"tsqrt", {"vector.special", 1}}, {"tcvt", {"vector.cast", 1}}, {"tsel", {"vector.select", 2}}, {"ttrans", {"vector.transpose", 1}},
        {"trowmax", {"vector.reduce", 1}}, {"trowmin", {"vector.reduce", 1}}, {"trowsum", {"vector.reduce", 1}}, {"tmax", {"vector.add", 2}}, {"tmin", {"vector.add", 2}}};
    const Json& args = (*m.row).at("params").at("args");
    auto integer = [&](std::size_t i) { return std::stoll(args.at(i).get<std::string>()); };
    machine::Chip chip = chip_of(m);
    if (m.kernel == "tmatmul") {
        execute::Row row;
        row.pipe = Pipe::m;
        row.m = std::int32_t(integer(3)), row.n = std::int32_t(integer(4)), row.k = std::int32_t(integer(5));
        DType type = c_type(args.at(1));
        execute::Record record = series(row, {nullptr, "matmul", "cube." + std::string(name(type)), type, {}}, isa::Core::cube, 1);
        return busy_time(chip, record);
    }
    if (m.kernel == "tload") {
        // Outer dimensions are loads of their own, each waited for; the rows of one are a burst.
        const std::string layout = text((*m.row).at("params"), "case");
        std::int64_t parts = integer(1) * integer(2) * integer(3), bytes = isa::bytes(c_type(args.at(0)), integer(6) * integer(7));
        if (contains(layout, "_dn_") && integer(4) % 16 != 0) {
            why = "columns of a transposed load that begin anywhere: what they cost is not published";
            return std::nullopt;
        }
        // From L2, as a profile of repeated calls sees it: the second time counts.
        const int count = int(std::max<std::int64_t>(1, parts));
        execute::Record once = load_parts(bytes, count, 1), twice = load_parts(bytes, count, 2);
        Predicted r;
        r.model = chip.name;
        r.us = Run(chip, twice).total() - Run(chip, once).total();
        return r;
    }
    if (begins(m.kernel, "tcol") || m.kernel == "trowexpand") {
        why = "which sequence of instructions ran is not stated: the profile varies six-fold between types of one shape";
        return std::nullopt;
    }
    if (begins(m.kernel, "tload")) {
        why = "profiled times below the latency of one load: stand-ins";
        return std::nullopt;
    }
    auto found = keys.find(m.kernel);
    if (found == keys.end()) {
        why = "no row of the model stands for " + m.kernel;
        return std::nullopt;
    }
    std::size_t first = m.kernel == "tcvt" ? 2 : 1;
    DType dtype = c_type(args.at(0));
    if (m.kernel == "tcvt" && isa::bits(c_type(args.at(1))) > isa::bits(dtype)) dtype = c_type(args.at(1));
    std::int64_t rows = integer(first), columns = integer(first + 1);
    if (impossible(m, isa::bytes(dtype, rows * columns), why)) return std::nullopt;
    bool two = found->second.second == 2;
    bool by_row = begins(m.kernel, "trow");
    // The suite places its operands 0x4000 apart, in one bank group (hardware 3.1). A transpose writes a column: its blocks collide as a shifted
    // destination does.
    return single(chip, found->second.first, dtype, rows, columns, 1, 0, two ? 0x4000 / 32 : 0xFFFF, m.kernel == "ttrans" ? 0x8020 / 32 : 0x8000 / 32, by_row);
}

std::optional<Predicted> bank_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    auto block = [](const Json& text) { return std::uint16_t(std::stoul(text.get<std::string>(), nullptr, 0) / 32); };
    if (contains(p.at("src0").get<std::string>(), "blk")) {
        // "0 (blk 0,rep 1)": all lanes of a repeat read one block, which moves on by `rep` blocks each time. It clashes where the other
        // source, eight blocks in a row, is in its bank group.
        int block_step = -1, repeat_step = -1;
        if (std::sscanf(p.at("src0").get<std::string>().c_str(), "%*[^(](blk %d,rep %d)", &block_step, &repeat_step) != 2 || block_step != 0) {
            why = "strides inside a repeat are not in the record";
            return std::nullopt;
        }
        const machine::Chip chip = chip_of(m);
        const std::int64_t repeats = p.at("elems").get<std::int64_t>() / 64, first = block(p.at("src0")), second = block(p.at("src1"));
        require_sizes({{"elems", repeats}, {"calls", p.at("calls").get<int>()}});
        double cycles = chip.row("vector.add")->startup_cycles;
        for (std::int64_t i = 0; i < repeats; ++i) cycles += ((first + i * repeat_step - second - 8 * i) & 15) < 8 ? chip.constant("bank_clash_sources") : 1;
        Predicted r;
        r.model = chip.name;
        r.us = cycles * p.at("calls").get<int>() / chip.clock_mhz;
        return r;
    }
    return single(chip_of(m), "vector.add", DType::fp32, 1, p.at("elems").get<std::int64_t>(), p.at("calls").get<int>(), block(p.at("src0")), block(p.at("src1")), block(p.at("dst")), false);
}

std::optional<Predicted> matmul_series(const Measured& m, std::string&) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = *machine::find_chip("ascend910b");
    execute::Row row;
    row.pipe = Pipe::m;
    row.m = p.at("m");
    row.n = p.at("n");
    require_sizes({{"k", p.at("k").get<int>()}, {"loop_count", p.at("loop_count").get<int>()}});
    row.k = p.at("k").get<int>() / p.at("loop_count").get<int>();
    execute::Record record = series(row, {nullptr, "matmul", "cube.fp16", DType::fp16, {}}, isa::Core::cube, p.at("loop_count"));
    return busy_time(chip, record);
}

} // namespace pto::validate
