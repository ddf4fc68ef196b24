#include "tools/validate/predict.hpp"

#include "engine/time/folds.hpp"
#include "tools/validate/programs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace pto::validate {
namespace {

using Json = nlohmann::json;
using isa::DType;
using isa::Pipe;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool begins(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

/// The chip of a row; 910B2 parts run at 1.8 GHz.
machine::Chip chip_of(const Measured& m) {
    bool a5 = contains(m.chip, "950") || contains(m.chip, "A5");
    machine::Chip chip = *machine::find_chip(a5 ? "ascend950pr" : contains(m.chip, "A3 ") || m.chip == "A3" ? "ascend910c" : "ascend910b");
    if (contains(m.chip, "910B2") || contains(m.chip, "910B3")) chip.clock_mhz = 1800;
    return chip;
}

struct Run {
    const machine::Chip& chip;
    const execute::Record& record;
    time::Timeline timeline;
    Run(const machine::Chip& chip, const execute::Record& record) : chip(chip), record(record), timeline(time::replay(record, chip, {{}, false})) {}
    double total() const { return timeline.us(timeline.total); }
    /// Busy time of a pipe, averaged over the cores of a kind.
    double busy(Pipe pipe, isa::Core core) const {
        double sum = 0;
        int cores = 0;
        for (const execute::CoreRecord& c : record.cores) cores += c.core == core;
        for (const time::PipeUse& u : time::pipe_use(record, timeline))
            if (u.pipe == pipe && record.cores[std::size_t(u.core)].core == core) sum += timeline.us(u.busy);
        return cores ? sum / cores : 0;
    }
};

Predicted result(const Measured& m, const Run& run, std::string harness) {
    Predicted p;
    p.us = run.total();
    p.harness = std::move(harness);
    p.model = run.chip.name;
    auto pipe = [&](const char* shown, Pipe which, isa::Core core, const char* percent, const char* us) {
        double measured = -1;
        if (m.row->contains("busy_pct") && (*m.row)["busy_pct"].contains(percent)) measured = (*m.row)["busy_pct"][percent].get<double>() / 100 * m.us;
        if (m.row->contains("pipe_us") && (*m.row)["pipe_us"].contains(us)) measured = (*m.row)["pipe_us"][us].get<double>();
        if (measured > 0.5) p.pipes[shown] = {run.busy(which, core), measured};
    };
    pipe("M", Pipe::m, isa::Core::cube, "M", "aic_mac");
    pipe("MTE1", Pipe::mte1, isa::Core::cube, "MTE1", "aic_mte1");
    pipe("MTE2", Pipe::mte2, isa::Core::cube, "MTE2", "aic_mte2");
    pipe("FIX", Pipe::fix, isa::Core::cube, "FIX", "aic_fixpipe");
    pipe("V", Pipe::v, isa::Core::vector, "V", "aiv_vec");
    pipe("vector MTE2", Pipe::mte2, isa::Core::vector, "-", "aiv_mte2");
    pipe("vector MTE3", Pipe::mte3, isa::Core::vector, "-", "aiv_mte3");
    return p;
}

int number(const Json& j, const char* key, int otherwise) { return j.contains(key) && j[key].is_number() ? j[key].get<int>() : otherwise; }

// ---------------------------------------------------------------- matmul

/// Cores as a grid over C: the published one of the tuning ladders (four rows), else the one whose fullest core has least to do.
void grid_of(Gemm& g, bool four_rows) {
    std::int64_t tiles_m = (g.m + g.base_m - 1) / g.base_m, tiles_n = (g.n + g.base_n - 1) / g.base_n, best = -1;
    for (int rows = 1; rows <= g.cores; ++rows) {
        if (g.cores % rows != 0 || (four_rows && rows != 4)) continue;
        int columns = g.cores / rows;
        std::int64_t each_m = (tiles_m + rows - 1) / rows, each_n = (tiles_n + columns - 1) / columns;
        // Among equals, the squarer share reads less.
        std::int64_t cost = each_m * each_n * 100000 + each_m * g.base_m + each_n * g.base_n;
        if (best < 0 || cost < best) best = cost, g.grid_m = rows, g.grid_n = columns;
    }
}

Gemm gemm_of(const Measured& m, const machine::Chip& chip) {
    const Json& p = (*m.row)["params"];
    const Json& size = p.contains("eq_gemm") ? p["eq_gemm"] : p;
    Gemm g;
    g.m = size["m"].get<std::int64_t>();
    g.n = size["n"].get<std::int64_t>();
    g.k = size["k"].get<std::int64_t>();
    g.base_m = number(p, "baseM", 128);
    g.base_n = number(p, "baseN", 256);
    g.base_k = number(p, "baseK", 64);
    if (p.contains("base") && p["base"][0].get<int>() > 0) g.base_m = p["base"][0], g.base_n = p["base"][1], g.base_k = p["base"][2];
    g.step_k = number(p, "stepK", 4);
    g.cores = number(p, "cores", number(p, "aic", chip.cube_cores));
    std::string dtype = p.value("dtype", "fp16");
    if (contains(dtype, "mxfp8") || contains(dtype, "fp8 MAC")) g.dtype = DType::fp8e4m3;
    else if (contains(dtype, "mxfp4")) g.dtype = DType::fp4e1m2;
    else if (contains(dtype, "int8")) g.dtype = DType::int8;
    g.mx_scales = contains(dtype, "mx");
    g.out_bytes = contains(dtype, "->fp32") ? 4 : 2;
    std::string grid = p.value("grid", "");
    if (std::sscanf(grid.c_str(), "%dx%d", &g.grid_m, &g.grid_n) != 2) {
        grid_of(g, begins(m.table, "T11") || m.table == "T13");
    }
    std::string variant = p.value("variant", "");
    g.unit_flag = contains(variant, "unitFlag") || variant == "unitflag" || contains(variant, "Scenario 2") || begins(m.id, "T13");
    if (contains(variant, "depth 4")) g.step_k = 2; // K panels in rows of 256 bytes
    if (variant == "multi-core" || variant == "4x6") {
        g.l1_double_buffer = false;
        g.step_k = 1;
    }
    return g;
}

std::optional<Predicted> matmul(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    Gemm g = gemm_of(m, chip);
    std::string variant = p.value("variant", "");
    if (g.cores == 1 && g.m > 1024) {
        why = "one core, scalar-bound library code";
        return std::nullopt;
    }
    std::string harness = m.table == "T1" || m.table == "T4" ? "PTO examples, A2/A3" : m.table == "T2" || m.table == "T3" || m.table == "T10" ? "PTO examples, 950" : "vendor profiler, " + chip.name;
    if (m.table == "T27") {
        static const std::map<std::string, bool> shown{{"mdl", true}, {"const_tiling", true}, {"k_staggered", true}, {"l2_split", true}, {"preload", true}};
        if (!shown.count(variant)) {
            why = "a library variant that the published text does not describe";
            return std::nullopt;
        }
        if (contains(p.value("metric", ""), "aic")) harness.clear();
    }
    execute::Record record = gemm(g, chip);
    return result(m, Run(chip, record), harness);
}

// ---------------------------------------------------------------- vector kernels

/// Operations for a 256-byte line of fp32, as the published formulas have them.
std::vector<Item> gelu_items(bool a5) {
    // x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), the fast form.
    if (a5) return {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 4}, {"reg.add_scalar", 3}, {"reg.special", 2}, {"reg.div", 1}}}};
    return {{"vector.unary", {}},   {"vector.add_scalar", {}}, {"vector.special", {}}, {"vector.add_scalar", {}}, {"vector.add", {}},
            {"vector.add_scalar", {}}, {"vector.special", {}}, {"vector.div", {}}, {"vector.add", {}}}; // temporaries lie where banks do not clash
}

std::optional<Predicted> elementwise_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    bool a5 = chip.arch == "a5";
    std::string variant = p.value("variant", "");
    Elementwise e;
    e.elements = std::int64_t(8192) * 8192;
    e.tile_elements = number(p, "tile_elems", 8192);
    e.cores = number(p, "cores", number(p, "aiv", 2 * chip.cube_cores));
    if (variant == "scalar") {
        why = "element access on the scalar unit";
        return std::nullopt;
    }
    if (contains(variant, "bypass")) {
        why = "the language cannot bypass L2";
        return std::nullopt;
    }
    if (m.table == "T15") {
        e.inputs = 2;
        e.buffers = contains(variant, "double buffer") ? 2 : 1;
        e.items = {{"vector.add", {}, 1, true}};
    } else {
        e.inputs = 1;
        e.buffers = 2;
        e.element_bytes = 4;
        e.dtype = DType::fp32;
        e.items = gelu_items(a5);
        if (m.kernel == "gelu_eltwise_fp32") {
            if (!contains(variant, "unroll") && !contains(variant, "2 loops")) {
                why = "one loop: bound by register dependencies, which are not modelled";
                return std::nullopt;
            }
            // 13 operations a line, three of them exp or div (hardware 3.1).
            e.items = {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 8}, {"reg.add_scalar", 2}, {"reg.special", 2}, {"reg.div", 1}}}};
        }
    }
    execute::Record record = elementwise(e);
    return result(m, Run(chip, record), "vendor profiler, " + chip.name);
}

std::optional<Predicted> copy_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    if (p.contains("order") || !p["reads"].is_number()) {
        why = "all cores read the same rows past L2, which the language cannot ask for";
        return std::nullopt;
    }
    machine::Chip chip = chip_of(m);
    Copy c;
    c.rows = p["tensor"][0];
    c.columns = p["tensor"][1];
    c.tile_rows = p["tile"][0];
    c.tile_columns = p["tile"][1];
    c.reads = p["reads"];
    c.cores = p["cores"];
    c.to_l1 = contains(m.kernel, "l1");
    c.sliced = contains(p.value("desc", ""), "sliced");
    execute::Record record = copy(c);
    Predicted r = result(m, Run(chip, record), "vendor profiler, " + chip.name);
    if (m.row->contains("pipe_us") && (*m.row)["pipe_us"].contains("mte2"))
        r.pipes["MTE2"] = {Run(chip, record).busy(Pipe::mte2, c.to_l1 ? isa::Core::cube : isa::Core::vector), (*m.row)["pipe_us"]["mte2"].get<double>()};
    return r;
}

// ---------------------------------------------------------------- cube with vector

std::optional<Predicted> matmul_gelu(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    std::string variant = p.value("variant", "");
    if (variant == "gelu only") return elementwise_row(m, why);
    machine::Chip chip = chip_of(m);
    if (variant == "matmul only") return matmul(m, why);
    MixRing r;
    r.gemm = gemm_of(m, chip);
    r.depth = 2;
    r.vector_buffers = 1;
    r.through_gm = !contains(variant, "L0C->UB");
    r.in_bytes = 4;
    r.items = gelu_items(chip.arch == "a5");
    if (!r.through_gm) r.gemm.base_n = 256;
    execute::Record record = mix_ring(r, chip);
    return result(m, Run(chip, record), "vendor profiler, " + chip.name);
}

std::optional<Predicted> grouped(const Measured& m, std::string&) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    bool a5 = chip.arch == "a5";
    MixRing r;
    Gemm& g = r.gemm;
    g.m = p["tokens"];
    g.n = p["n"];
    g.k = p["k"];
    g.dtype = DType::int8;
    g.base_m = a5 ? 256 : 128;
    g.base_n = 256;
    g.base_k = 128;
    g.unit_flag = a5; // its measured FIX time contains waiting
    g.step_k = 4;
    g.cores = p["aic"];
    grid_of(g, false);
    r.vectors = p["mix"] == "1:2" ? 2 : 1;
    r.depth = p["pipeline_depth"];
    r.vector_buffers = number(p, "vec_buffers", 1);
    // Dequantise by a scale per channel and per token, then gelu.
    r.items = gelu_items(a5);
    if (a5) {
        auto& work = r.items[0].per_line;
        work[0].second += 1; // the channel's scale
        work[2].second += 2;
        work.push_back({"reg.cast", 2});
    } else {
        for (const char* key : {"vector.cast", "vector.add", "vector.expand", "vector.cast"}) r.items.push_back({key, {}});
    }
    execute::Record record = mix_ring(r, chip);
    return result(m, Run(chip, record), "vendor profiler, " + chip.name);
}

std::optional<Predicted> flash_attention(const Measured& m, std::string& why) {
    if (!contains(m.kernel, "pto") && !contains(m.kernel, "jit")) {
        why = "the library's fused operator, not described";
        return std::nullopt;
    }
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    Attention a;
    a.columns = p["S1"];
    std::int64_t rows = p["S0"];
    std::int64_t tiles = (rows + a.tile_rows - 1) / a.tile_rows;
    a.cores = int(std::min<std::int64_t>(tiles, number(p, "cores", chip.cube_cores)));
    std::int64_t turns = (tiles + a.cores - 1) / a.cores;
    if (m.table == "T6") {
        why = "not monotone in S1; an older kernel generation (hardware 4)";
        return std::nullopt;
    }
    // Every turn of a core is like the one before it: two are replayed, the others take what the second one adds.
    a.row_tiles = 1;
    execute::Record one = attention(a, chip);
    Run first(chip, one);
    Predicted r = result(m, first, "attention " + m.table + (p.contains("host") ? " " + p["host"].get<std::string>() : ""));
    if (turns > 1) {
        a.row_tiles = 2;
        execute::Record two = attention(a, chip);
        r.us += double(turns - 1) * (Run(chip, two).total() - first.total());
    }
    return r;
}

// ---------------------------------------------------------------- single operations

std::optional<Predicted> single(const Measured& m, const machine::Chip& chip, const std::string& timing, DType dtype, std::int64_t rows, std::int64_t columns, int calls,
                                std::uint16_t src0, std::uint16_t src1, std::uint16_t dst) {
    execute::Site site{nullptr, timing, timing, dtype, {}};
    execute::Row row;
    row.pipe = Pipe::v;
    row.m = std::int32_t(rows);
    row.n = std::int32_t(columns);
    row.bytes = isa::bytes(dtype, rows * columns);
    row.row_bytes = std::int32_t(rows == 1 ? row.bytes : isa::bytes(dtype, columns));
    row.ub[0] = src0, row.ub[1] = src1, row.ub[2] = dst;
    execute::Record record = series(row, site, isa::Core::vector, calls);
    Run run(chip, record);
    Predicted p;
    for (const time::PipeUse& u : time::pipe_use(record, run.timeline)) p.us += run.timeline.us(u.busy);
    p.model = chip.name;
    (void)m;
    return p;
}

std::optional<Predicted> tile_op(const Measured& m, std::string& why) {
    static const std::map<std::string, std::string> keys{
        {"TDIVS", "vector.div_scalar"}, {"TEXP", "vector.special"}, {"TSQRT", "vector.special"}, {"TMINS", "vector.add_scalar"}, {"TNEG", "vector.unary"},
        {"TRECIP", "vector.recip"}, {"TRSQRT", "vector.rsqrt"}, {"TSEL", "vector.select"}};
    const Json& p = (*m.row)["params"];
    std::string type = p.value("dtype", "fp32");
    if (!p.value("op_params", "").empty()) {
        why = "high-precision variant: a software sequence";
        return std::nullopt;
    }
    auto dtype = isa::find_dtype(type == "Int8" ? "int8" : type);
    if (!dtype) {
        why = "unknown type " + type;
        return std::nullopt;
    }
    return single(m, chip_of(m), keys.at(m.kernel), *dtype, p["vr"].get<std::int64_t>(), p["vc"].get<std::int64_t>(), 1, 0xFFFF, 0xFFFF, 0xFFFF);
}

std::optional<Predicted> old_tile_op(const Measured& m, std::string& why) {
    static const std::map<std::string, std::pair<std::string, int>> keys{ // timing key, sources
        {"tabs", {"vector.unary", 1}}, {"tadd", {"vector.add", 2}}, {"tsub", {"vector.add", 2}}, {"tmul", {"vector.add", 2}}, {"tdiv", {"vector.div", 2}},
        {"texp", {"vector.special", 1}}, {"tsqrt", {"vector.special", 1}}, {"tcvt", {"vector.cast", 1}}, {"tsel", {"vector.select", 2}}, {"ttrans", {"vector.transpose", 1}},
        {"trowmax", {"vector.reduce", 1}}, {"trowmin", {"vector.reduce", 1}}, {"trowsum", {"vector.reduce", 1}}};
    const Json& args = (*m.row)["params"]["args"];
    auto found = keys.find(m.kernel);
    if (found == keys.end()) {
        why = "no row of the model stands for " + m.kernel;
        return std::nullopt;
    }
    auto type_of = [](const std::string& t) {
        return t == "float" ? DType::fp32 : t == "half" ? DType::fp16 : t == "int16_t" ? DType::int16 : t == "int32_t" ? DType::int32 : DType::int8;
    };
    std::size_t first = m.kernel == "tcvt" ? 2 : 1;
    DType dtype = type_of(args[0]);
    if (m.kernel == "tcvt" && isa::bits(type_of(args[1])) > isa::bits(dtype)) dtype = type_of(args[1]);
    std::int64_t rows = std::stoll(args[first].get<std::string>()), columns = std::stoll(args[first + 1].get<std::string>());
    bool two = found->second.second == 2;
    // The suite places its operands 0x4000 apart, in one bank group (hardware 3.1).
    return single(m, chip_of(m), found->second.first, dtype, rows, columns, 1, 0, two ? 0x4000 / 32 : 0xFFFF, 0x8000 / 32);
}

std::optional<Predicted> bank(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    auto block = [](const Json& text) { return std::uint16_t(std::stoul(text.get<std::string>(), nullptr, 0) / 32); };
    if (contains(p["src0"].get<std::string>(), "blk")) {
        why = "strides of the repeat are not in the record";
        return std::nullopt;
    }
    return single(m, chip_of(m), "vector.add", DType::fp32, 1, p["elems"].get<std::int64_t>(), p["calls"].get<int>(), block(p["src0"]), block(p["src1"]), block(p["dst"]));
}

std::optional<Predicted> matmul_series(const Measured& m, std::string&) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = *machine::find_chip("ascend910b");
    execute::Row row;
    row.pipe = Pipe::m;
    row.m = p["m"];
    row.n = p["n"];
    row.k = p["k"].get<int>() / p["loop_count"].get<int>();
    execute::Record record = series(row, {nullptr, "matmul", "cube.fp16", DType::fp16, {}}, isa::Core::cube, p["loop_count"]);
    Predicted r;
    r.model = chip.name;
    Run run(chip, record);
    for (const time::PipeUse& u : time::pipe_use(record, run.timeline)) r.us += run.timeline.us(u.busy);
    return r;
}

} // namespace

std::optional<Predicted> predict(const Measured& m, std::string& why) {
    const std::string& t = m.table;
    if (t == "T1" || t == "T2" || t == "T3" || t == "T4" || t == "T10" || t == "T11" || t == "T11b" || t == "T12" || t == "T27") return matmul(m, why);
    if (t == "T13") return matmul_gelu(m, why);
    if (t == "T14" || t == "T28") return grouped(m, why);
    if (t == "T5" || t == "T6" || t == "T7" || t == "T7b" || t == "T8") return flash_attention(m, why);
    if (t == "T15" || t == "T16") return elementwise_row(m, why);
    if (t == "T18") return copy_row(m, why);
    if (t == "T19b") return bank(m, why);
    if (t == "T20") return matmul_series(m, why);
    if (t == "T25") return old_tile_op(m, why);
    if (t == "T26") return tile_op(m, why);
    why = t == "T22" || t == "T22b" ? "the device is not named" : t == "T23" ? "the vendor's cycle model, bound by register dependencies" : "no program of ours stands for this table";
    return std::nullopt;
}

} // namespace pto::validate
