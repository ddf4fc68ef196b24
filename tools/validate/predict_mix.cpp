#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <stdexcept>

namespace pto::validate {

using isa::DType;

std::optional<Predicted> matmul_gelu(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    std::string variant = text(p, "variant");
    if (variant == "gelu only") return elementwise_row(m, why);
    machine::Chip chip = chip_of(m);
    if (variant == "matmul only") return matmul_row(m, why);
    MixRing r;
    r.gemm = gemm_of(m, chip);
    // The sample of the vendor: C in fp32, a vector core's half of a tile at once; the tile itself is the hand-over, and the cube never waits.
    r.depth = 8; // flags in flight
    r.pieces = 1;
    r.in_place = r.scalar_waits = true;
    r.through_gm = !contains(variant, "L0C->UB");
    r.in_bytes = r.out_bytes = 4;
    r.items = tanh_gelu_items(chip.arch == "a5");
    execute::Record record = mix_ring(r, chip);
    return result(m, Run(chip, record), "vendor profiler, " + chip.name);
}

std::optional<Predicted> grouped_row(const Measured& m, std::string&) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    bool a5 = chip.arch == "a5";
    MixRing r;
    Gemm& g = r.gemm;
    g.m = p.at("tokens");
    g.n = p.at("n");
    g.k = p.at("k");
    g.dtype = DType::int8;
    g.base_m = a5 ? 256 : 128;
    g.base_n = 256;
    g.base_k = 128;
    const bool guide = p.contains("vec_buffers"); // the operator of the tuning guide: without unit flag and with pieces as one buffer allows
    g.unit_flag = !guide;
    g.step_k = 4;
    g.b_order = Gemm::Order::stripes;
    g.cores = p.at("aic");
    g.groups = number(p, "groups", 1);
    // A's panel is eight steps deep on A2 and four on 950: a tile's rows of A stay in L1 when that is all of K.
    g.a_step_k = a5 ? 4 : 8;
    g.a_stays = g.k <= std::int64_t(g.base_k) * g.a_step_k;
    r.tiles_at_once = 4;
    r.scalar_waits = r.scales = true;
    r.vectors = p.at("mix") == "1:2" ? 2 : 1;
    r.depth = p.at("pipeline_depth");
    r.vector_buffers = number(p, "vec_buffers", 2);
    r.piece_rows = guide ? 32 : 24; // what the UB of A2 holds beside four temporaries in fp32
    r.barriers = !a5; // between its operations, so that the queue of V fills
    require_sizes({{"tokens", g.m}, {"n", g.n}, {"k", g.k}, {"aic", g.cores}, {"groups", g.groups}, {"pipeline_depth", r.depth}, {"vec_buffers", r.vector_buffers}});
    if (g.m % g.groups != 0) throw std::runtime_error("groups of unequal size");
    if (r.depth > 8) throw std::runtime_error("a ring of more than 8 slots");
    // What the library's code takes on the scalar unit, from the time that it was busy in the published runs (aic_scalar, aiv_scalar of T14).
    g.scalar_per_step = a5 ? 220 : 350;
    r.scalar_per_piece = a5 ? 370 : 850;
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
    const Run run(chip, record);
    Predicted answer = result(m, run, "vendor profiler, " + chip.name);
    answer.cube_us = run.busy(isa::Pipe::m, isa::Core::cube); // with what unit flags make it wait, as a profile counts it
    answer.vector_us = run.busy(isa::Pipe::v, isa::Core::vector);
    answer.measured_cube_us = field_of(*m.row, "pipe_us", "aic_mac");
    answer.measured_vector_us = field_of(*m.row, "pipe_us", "aiv_vec");
    return answer;
}

std::optional<Predicted> attention_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    if (p.value("causal", false)) {
        why = "causal: which blocks are left out is not described";
        return std::nullopt;
    }
    machine::Chip chip = chip_of(m);
    require_sizes({{"S0", p.at("S0").get<std::int64_t>()}, {"S1", p.at("S1").get<std::int64_t>()}, {"head", number(p, "head", 128)}, {"S1_tile", number(p, "S1_tile", 256)},
                   {"cores", number(p, "cores", 1)}, {"batch", number(p, "batch", 1)}, {"heads", number(p, "heads", 1)}, {"kv_split", number(p, "kv_split", 1)}});
    const bool library = contains(m.kernel, "torch_npu");
    Attention a;
    a.columns = p.at("S1");
    a.head = number(p, "head", 128);
    a.tile_columns = int(std::min<std::int64_t>(number(p, "S1_tile", a.tile_columns), a.columns));
    const std::int64_t heads = std::int64_t(number(p, "batch", 1)) * number(p, "heads", 1);
    const std::int64_t tiles = (p.at("S0").get<std::int64_t>() + a.tile_rows - 1) / a.tile_rows * heads;
    std::string harness = library ? "attention of the library " : "attention ";
    harness += m.table + (p.contains("host") ? " " + p.at("host").get<std::string>() : "");
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
