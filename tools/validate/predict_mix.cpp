#include "tools/validate/predict_common.hpp"

#include <algorithm>

namespace pto::validate {

using isa::DType;

namespace {

/// Work of a pipe by cost alone, mean of the cores that have it: without what a unit flag makes it wait.
double work_of(const execute::Record& record, const machine::Chip& chip, isa::Pipe pipe) {
    time::Costs costs(record, chip);
    time::Ticks sum = 0;
    int cores = 0;
    for (const execute::CoreRecord& core : record.cores) {
        bool used = false;
        for (const execute::Row& row : core.rows)
            if (row.pipe == pipe && row.sync == execute::SyncKind::none) sum += costs.of(core, row).busy, used = true;
        cores += used;
    }
    return cores ? double(sum) / double(time::ticks_per_cycle) / chip.clock_mhz / cores : 0;
}

} // namespace

std::optional<Predicted> matmul_gelu(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    std::string variant = p.value("variant", "");
    if (variant == "gelu only") return elementwise_row(m, why);
    machine::Chip chip = chip_of(m);
    if (variant == "matmul only") return matmul_row(m, why);
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

std::optional<Predicted> grouped_row(const Measured& m, std::string&) {
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
    g.groups = number(p, "groups", 1);
    g.a_stays = g.base_m * g.k <= chip.of(isa::MemorySpace::mat).bytes / 2; // a block's rows of A fit L1 beside what streams
    grid_of(g, false);
    r.vectors = p["mix"] == "1:2" ? 2 : 1;
    r.depth = p["pipeline_depth"];
    // A piece of 32 KB, its result and the work's temporaries fill UB.
    r.pieces = int(std::max<std::int64_t>(1, std::int64_t(g.base_m) * g.base_n * r.in_bytes / r.vectors / 32768));
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
    Predicted answer = result(m, Run(chip, record), "vendor profiler, " + chip.name);
    answer.cube_us = work_of(record, chip, isa::Pipe::m);
    answer.vector_us = work_of(record, chip, isa::Pipe::v);
    if (m.row->contains("pipe_us")) {
        answer.measured_cube_us = (*m.row)["pipe_us"].value("aic_mac", -1.0);
        answer.measured_vector_us = (*m.row)["pipe_us"].value("aiv_vec", -1.0);
    }
    return answer;
}

std::optional<Predicted> attention_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    if (p.value("causal", false)) {
        why = "causal: which blocks are left out is not described";
        return std::nullopt;
    }
    machine::Chip chip = chip_of(m);
    const bool library = contains(m.kernel, "torch_npu");
    Attention a;
    a.columns = p["S1"];
    a.head = number(p, "head", 128);
    if (p.contains("S1_tile")) a.tile_columns = p["S1_tile"];
    const std::int64_t heads = std::int64_t(number(p, "batch", 1)) * number(p, "heads", 1);
    const std::int64_t tiles = (p["S0"].get<std::int64_t>() + a.tile_rows - 1) / a.tile_rows * heads;
    std::string harness = library ? "attention of the library " : "attention ";
    harness += m.table + (p.contains("host") ? " " + p["host"].get<std::string>() : "");
    const int places = library ? chip.cube_cores : number(p, "cores", chip.cube_cores);
    if (std::int64_t parts = library ? places / tiles : number(p, "kv_split", 1); parts > 1) {
        // Keys are split as well, so that every core has work.
        std::int64_t blocks = a.columns / a.tile_columns * tiles;
        a.cores = int(std::min<std::int64_t>(places, blocks));
        a.columns = (blocks + a.cores - 1) / a.cores * a.tile_columns;
        a.row_tiles = 1;
        execute::Record record = attention(a, chip);
        return result(m, Run(chip, record), harness);
    }
    a.cores = int(std::min<std::int64_t>(tiles, places));
    std::int64_t turns = (tiles + a.cores - 1) / a.cores;
    // Blocks of keys are alike, and so are turns: long ones are continued from shorter ones.
    auto total = [&](std::int64_t columns, int row_tiles) {
        Attention part = a;
        part.columns = columns;
        part.row_tiles = row_tiles;
        execute::Record record = attention(part, chip);
        return Run(chip, record).total();
    };
    constexpr std::int64_t most = 64; // blocks that are replayed
    const std::int64_t blocks = a.columns / a.tile_columns, fewer = std::min(blocks, most);
    const double each = blocks > most ? (total(most * a.tile_columns, 1) - total(most / 2 * a.tile_columns, 1)) / double(most / 2) : 0;
    const double more = double(blocks - fewer) * each;
    Predicted r;
    r.model = chip.name;
    r.harness = harness;
    const double one = total(fewer * a.tile_columns, 1);
    r.us = one + more;
    if (turns > 1) r.us += double(turns - 1) * (total(fewer * a.tile_columns, 2) - one + more);
    return r;
}

} // namespace pto::validate
