#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace pto::validate {

using isa::DType;

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
    const Json& p = (*m.row).at("params");
    const Json& size = p.contains("eq_gemm") ? p.at("eq_gemm") : p;
    Gemm g;
    g.m = size.at("m").get<std::int64_t>();
    g.n = size.at("n").get<std::int64_t>();
    g.k = size.at("k").get<std::int64_t>();
    g.m = number(p, "m_pad", int(g.m));
    g.n = number(p, "n_pad", int(g.n));
    g.base_m = number(p, "baseM", 128);
    g.base_n = number(p, "baseN", 256);
    g.base_k = number(p, "baseK", 64);
    if (p.contains("base") && p.at("base").at(0).get<int>() > 0) g.base_m = p.at("base").at(0), g.base_n = p.at("base").at(1), g.base_k = p.at("base").at(2);
    g.step_k = number(p, "stepK", 4);
    g.cores = number(p, "cores", number(p, "aic", chip.cube_cores));
    std::string dtype = text(p, "dtype", "fp16");
    g.dtype = operand_type(dtype);
    g.mx_scales = contains(dtype, "mx");
    if (contains(dtype, "fp8 MAC rate")) g.rate_of = DType::fp8e4m3;
    g.out_bytes = contains(dtype, "->fp32") ? 4 : 2;
    // X is [N, C1, H, W, C0].
    if (begins(m.kernel, "conv2d") && contains(m.kernel, "3x3") && p.contains("X") && p.at("X").size() == 5)
        g.image = {3, std::max(1, p.at("X").at(2).get<int>()), std::max(1, p.at("X").at(3).get<int>())};
    std::string grid = text(p, "grid");
    g.deal = p.contains("tiles");
    require_sizes({{"m", g.m}, {"n", g.n}, {"k", g.k}, {"baseM", g.base_m}, {"baseN", g.base_n}, {"baseK", g.base_k}, {"stepK", g.step_k}, {"cores", g.cores}});
    if (std::sscanf(grid.c_str(), "%dx%d", &g.grid_m, &g.grid_n) != 2 || g.grid_m * g.grid_n != g.cores) grid_of(g, begins(m.table, "T11") || m.table == "T13");
    std::string variant = text(p, "variant");
    g.unit_flag = contains(variant, "unitFlag") || variant == "unitflag" || contains(variant, "Scenario") || m.kernel == "matmul_gelu";
    if (contains(variant, "depth 4")) g.step_k = 2; // K panels in rows of 256 bytes
    // The first steps of the tuning ladder, and the library's plain template, load one block at a time into one buffer.
    if ((begins(variant, "multi-core") && !contains(variant, "split-K")) || variant == "4x6" || variant == "2x12" || contains(variant, "1 core") || variant == "norm") {
        g.l1_double_buffer = false;
        g.step_k = 1;
    }
    g.preload = variant != "no_preload";
    // How the published kernels store B and walk over C.
    const bool samples = begins(m.table, "T11") || m.table == "T13";
    if (samples) g.b_order = Gemm::Order::columns;
    if (begins(m.table, "T11") && chip.arch != "a5" && g.step_k == 4) g.a_step_k = 8;
    if (m.table == "T1" || m.table == "T2" || m.table == "T3" || m.table == "T10") {
        g.b_order = Gemm::Order::columns;
        g.rows_first = true;
        if (g.mx_scales) g.scale_panels = begins(dtype, "mxfp4") ? 4 : 8;
    }
    if (m.table == "T12") { // scales of four panels at once, but for the first case, which moves them in small pieces
        g.b_order = Gemm::Order::columns;
        g.scale_panels = contains(variant, "Case 1") ? 1 : 4;
    }
    if (m.kernel == "matmul_gelu") g.out_bytes = 4;
    if (begins(m.kernel, "conv2d")) g.b_order = Gemm::Order::blocks, g.rows_first = true;
    return g;
}

Predicted gemm_result(const Measured& m, const Gemm& g, const machine::Chip& chip, std::string harness, double scale) {
    auto record_of = [&](const Gemm& one) { return gemm(one, chip); };
    constexpr std::int64_t most_steps = std::int64_t(1) << 19; // of a launch that are replayed
    const std::int64_t tiles = (g.m + g.base_m - 1) / g.base_m * ((g.n + g.base_n - 1) / g.base_n), steps = tiles * ((g.k + g.base_k - 1) / g.base_k);
    if (tiles > most_steps / 8) throw std::runtime_error(std::to_string(tiles) + " tiles are too many to replay");
    if (steps <= most_steps) {
        const execute::Record record = record_of(g);
        return result(m, Run(chip, record), std::move(harness), scale);
    }
    // Steps along K are alike.
    const std::int64_t panel = std::int64_t(g.base_k) * std::max(g.step_k, g.a_step_k), panels = std::max<std::int64_t>(2, most_steps / tiles * g.base_k / panel / 2);
    Gemm shorter = g, half = g;
    shorter.k = panel * panels;
    half.k = panel * (panels / 2);
    const execute::Record record = record_of(shorter), half_record = record_of(half);
    Predicted r = result(m, Run(chip, record), std::move(harness), scale);
    r.us += scale * double(g.k - shorter.k) * (Run(chip, record).total() - Run(chip, half_record).total()) / double(shorter.k - half.k);
    r.pipes.clear();
    return r;
}

std::optional<Predicted> matmul_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    if (begins(m.kernel, "gemm_fp16_case") && number(p, "cores", 0) == 20) chip.clock_mhz = 1800; // 20-core parts
    Gemm g = gemm_of(m, chip);
    std::string variant = text(p, "variant");
    std::string harness = m.table == "T1" || m.table == "T4" ? "PTO examples, A2/A3" : m.table == "T2" || m.table == "T3" || m.table == "T10" ? "PTO examples, 950" : "vendor profiler, " + chip.name;
    if (m.kernel == "gemm_fp16_case") {
        static const std::map<std::string_view, const char*> unknown{
            {"mix_mode", "scalar code of the library decides a kernel of 8 us"}, {"pure_cube", "scalar code of the library decides a kernel of 8 us"},
            {"runtime_tiling", "scalar code of the library decides a kernel of 8 us"}, {"one_core", "scalar code of the library decides"},
            {"split_k_2_cores", "scalar code of the library decides"}, {"nd2nz_on_mte2", "GM rows of 8190 bytes: what unaligned rows cost is not published"},
            {"nd2nz_on_aiv", "the re-layout beside the matmul is not described"}, {"k_same_order", "hot spot: all cores read the same rows in step"},
            {"no_l2_split", "order of the tiles not described"}, {"nbuffer33", "scalar code of the library decides"}, {"no_nbuffer33", "scalar code of the library decides"}};
        if (auto found = unknown.find(variant); found != unknown.end() || contains(variant, "ibshare")) {
            why = found != unknown.end() ? found->second : "scalar code of the library decides";
            return std::nullopt;
        }
        if (contains(text(p, "metric"), "aic")) harness.clear();
        if (contains(variant, "base64") || contains(variant, "mte2_")) { // a ladder of its own: blocks of 64, then bigger ones
            g.base_m = contains(variant, "base64") ? 64 : 128;
            g.base_n = contains(variant, "base64") ? 64 : 256;
            g.base_k = 64;
            g.step_k = contains(variant, "mdl") ? 4 : 1;
            if (contains(variant, "cores4")) g.cores = 4;
            grid_of(g, false);
        }
    }
    double scale = 1;
    if (g.cores == 1 && g.m / g.base_m * (g.n / g.base_n) > 64) { // tiles are alike: a square of them stands for all
        std::int64_t all = (g.m / g.base_m) * (g.n / g.base_n);
        g.m = 4 * g.base_m;
        g.n = 4 * g.base_n;
        g.grid_m = g.grid_n = 1;
        scale = double(all) / 16;
    }
    if (begins(variant, "mte2_")) { // the time of one pipe was measured, not the kernel's
        const execute::Record record = gemm(g, chip);
        const Run run(chip, record);
        Predicted r;
        r.us = run.busy(isa::Pipe::mte2, isa::Core::cube);
        r.model = chip.name;
        return r;
    }
    return gemm_result(m, g, chip, harness, scale);
}

std::optional<Predicted> catlass_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    std::string variant = text(p, "variant");
    Gemm g = gemm_of(m, chip);
    g.cores = chip.cube_cores;
    g.deal = true;
    if (chip.arch == "a5") {
        g.base_m = g.base_n = 256;
        g.step_k = 2;
        if (p.contains("L1tile")) g.base_m = p.at("L1tile").at(0), g.base_n = p.at("L1tile").at(1), g.step_k = std::max(1, p.at("L1tile").at(2).get<int>() / g.base_k);
        g.out_bytes = m.kernel == "gemm_fp16_out_fp32" || m.kernel == "gemm_fixpipe" ? 4 : 2;
        g.cut_tail = variant == "ASWT";
        if (m.kernel == "gemm_fixpipe" && contains(variant, "baseline") && g.n % 16 != 0) {
            why = "rows of C that begin anywhere: what they cost the fixpipe is not published";
            return std::nullopt;
        }
    }
    if (m.kernel == "gemm_fp16_splitk" && variant == "baseline") {
        why = "rows of A that are no multiple of 512 bytes: what they cost is not published";
        return std::nullopt;
    }
    if (begins(m.kernel, "gmm_a8w4")) {
        if (variant != "optimised") {
            why = "the conversion of the weights is not described";
            return std::nullopt;
        }
        // Each group has weights of its own in 4 bits; they decide, and the optimised kernel hides their conversion.
        g.groups = number(p, "groups", 1);
        g.base_m = int(std::min<std::int64_t>(g.m, 256));
        g.m *= g.groups;
        g.dtype = DType::fp4e1m2;
        g.rate_of = DType::fp8e4m3;
        g.mx_scales = true;
        g.base_k = 128;
    }
    if (begins(m.kernel, "qgemm_int8")) {
        g.dtype = DType::int8;
        g.base_k = 128;
        if (contains(variant, "multi-core split-K")) {
            std::int64_t tiles = (g.m + g.base_m - 1) / g.base_m * ((g.n + g.base_n - 1) / g.base_n);
            g.k_parts = int(std::clamp<std::int64_t>(g.cores / std::max<std::int64_t>(1, tiles), 1, g.k / (g.base_k * g.step_k)));
        }
        g.a_stays = contains(variant, "full-load A");
    }
    return gemm_result(m, g, chip, "CATLASS examples, " + m.chip);
}

} // namespace pto::validate
