#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <stdexcept>

namespace pto::validate {

using isa::DType;
using isa::Pipe;

machine::Chip chip_of(const Measured& m) {
    bool a5 = contains(m.chip, "950") || contains(m.chip, "A5");
    if (!a5 && !contains(m.chip, "910") && !contains(m.chip, "A2") && !contains(m.chip, "A3")) throw std::runtime_error("unknown chip `" + m.chip + "`");
    std::string name = a5 ? "ascend950pr" : contains(m.chip, "A3 ") || m.chip == "A3" || contains(m.chip, "910C") || contains(m.chip, "910c") ? "ascend910c" : "ascend910b";
    // A5 devices that move more than a 950PR's memory can are taken for a 950DT.
    if (contains(m.chip, "950DT") || contains(m.chip, "950dt") || contains(m.chip, ">3 TB/s")) name = "ascend950dt";
    machine::Chip chip = *machine::find_chip(name);
    if (contains(m.chip, "910B2") || contains(m.chip, "910B3")) chip.clock_mhz = 1800;
    if (contains(m.chip, "910B4")) chip.clock_mhz = 1500;
    if (begins(m.chip, "910B3") || begins(m.chip, "910B4")) chip.cube_cores = 20;
    return chip;
}

DType operand_type(const std::string& text) {
    if (contains(text, "mxfp8") || begins(text, "fp8")) return DType::fp8e4m3;
    if (contains(text, "mxfp4")) return DType::fp4e1m2;
    for (DType t : {DType::int8, DType::bf16, DType::fp16, DType::fp32})
        if (begins(text, name(t))) return t;
    return DType::fp16;
}

void require_sizes(std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
    for (const auto& [name, size] : sizes)
        if (size < 1 || size > std::int64_t(1) << 40) throw std::runtime_error("`" + std::string(name) + "` is " + std::to_string(size));
}

double field_of(const Json& row, const char* object, const char* key) {
    auto found = row.find(object);
    if (found == row.end() || !found->is_object()) return -1;
    auto value = found->find(key);
    return value != found->end() && value->is_number() ? value->get<double>() : -1;
}

double Run::busy(Pipe pipe, isa::Core core) const {
    double sum = 0;
    int cores = 0;
    for (const execute::CoreRecord& c : record.cores) cores += c.core == core;
    if (pipe == Pipe::mte2) { // profilers count it busy until what it loads is there
        for (std::size_t c = 0; c < record.cores.size(); ++c) {
            if (record.cores[c].core != core) continue;
            time::Ticks until = 0;
            for (std::size_t i = 0; i < record.cores[c].rows.size(); ++i) {
                const execute::Row& row = record.cores[c].rows[i];
                if (row.pipe != pipe || row.sync != execute::SyncKind::none) continue;
                const time::CoreTimes& t = timeline.cores[c];
                const time::Ticks there = t.end[i] + time::Ticks(t.tail[i]);
                sum += timeline.us(std::max<time::Ticks>(0, there - std::max(until, t.start[i])));
                until = std::max(until, there);
            }
        }
        return cores ? sum / cores : 0;
    }
    for (const time::PipeUse& u : time::pipe_use(record, timeline))
        if (u.pipe == pipe && record.cores[std::size_t(u.core)].core == core) sum += timeline.us(u.busy);
    return cores ? sum / cores : 0;
}

double Run::all_busy() const {
    double sum = 0;
    for (const time::PipeUse& u : time::pipe_use(record, timeline)) sum += timeline.us(u.busy);
    return sum;
}

Predicted busy_time(const machine::Chip& chip, const execute::Record& record) {
    Predicted p;
    p.us = Run(chip, record).all_busy();
    p.model = chip.name;
    return p;
}

Predicted result(const Measured& m, const Run& run, std::string harness, double scale) {
    Predicted p;
    p.us = scale * run.total();
    p.harness = std::move(harness);
    p.model = run.chip.name;
    auto pipe = [&](const char* shown, Pipe which, isa::Core core, const char* percent, const char* us) {
        double measured = -1;
        if (double share = field_of(*m.row, "busy_pct", percent); share > 0) measured = share / 100 * m.us;
        if (double busy = field_of(*m.row, "pipe_us", us); busy > 0) measured = busy;
        if (measured > 0.5) p.pipes[shown] = {scale * run.busy(which, core), measured};
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

std::string cause(const Measured& m) {
    const Json& p = (*m.row).at("params");
    const std::string variant = text(p, "variant");
    auto one_of = [&](std::initializer_list<std::string_view> list) {
        return std::any_of(list.begin(), list.end(), [&](std::string_view head) { return begins(m.kernel, head); });
    };
    if (one_of({"fa_fwd_pto_fewcores"})) return "an older kernel generation: its times fall and rise with S1";
    if (begins(m.kernel, "fa_fwd") && contains(m.kernel, "torch_npu")) return "the library's tiling and split of the keys are not published";
    if (begins(m.kernel, "fa_fwd") && number(p, "cores", 0) == 16) return "16 cores: a block takes 1.5 times as long as on 8 or on 24, which no memory limit explains";
    if (begins(m.kernel, "fa_fwd") && number(p, "S1", 0) < 8192) return "short sequence: a few microseconds of the harness decide";
    if (begins(m.kernel, "fa_fwd")) return "how the last wave of query blocks is shared out, and splits of the keys, are not published";
    if (one_of({"gemm_fp16_case"})) return "scalar code and buffering of the library template are not published";
    if ((begins(variant, "multi-core") && !contains(variant, "split-K")) || variant == "4x6" || variant == "2x12" || contains(variant, "1 core")) return "one buffer: the latency of loads under load decides";
    if (contains(variant, "depth 4")) return "short panels: the scalar unit is busy for 46 % of the time";
    if (begins(m.kernel, "add_")) return "one buffer: the latency of loads under load decides";
    if (begins(m.kernel, "datacopy_") && p.contains("order")) return "rows of 128 bytes past L2";
    if (begins(m.kernel, "datacopy_")) return "order and drift of the cores";
    if (begins(m.kernel, "nd2nz_")) return "how much of the output stays in L2 at the end";
    if (one_of({"qgemm_int8"})) return "few tiles: how the result passes the vector cores is not published";
    if (one_of({"quant_group"})) return "when a slot of the ring is released is not published";
    if (one_of({"vf_"})) return "registers that wait for each other; the vendor's cycle model, not silicon";
    if (m.kernel == "TSEL") return "the mask is set up again for each row of some types";
    if (!m.kernel.empty() && m.kernel[0] == 't') return "the profile counts start-up and drain for some operations only";
    return "not explained";
}

std::optional<Predicted> predict(const Measured& m, std::string& why) {
    using Door = std::optional<Predicted> (*)(const Measured&, std::string&);
    // By kernel, so that tables of other names are predicted too; the first that fits.
    static const std::pair<std::string_view, Door> doors[] = {
        {"gemm_fp16_splitk", catlass_row}, {"gemm_fp16_out_fp32", catlass_row}, {"gemm_fixpipe", catlass_row}, {"qgemm_int8", catlass_row}, {"gmm_a8w4", catlass_row},
        {"gemm_", matmul_row}, {"conv2d_", matmul_row}, {"matmul_gelu", matmul_gelu}, {"quant_group_matmul_gelu", grouped_row}, {"fa_fwd", attention_row},
        {"add_", elementwise_row}, {"gelu_", elementwise_row}, {"datacopy_", copy_row}, {"nd2nz_", relayout_row}, {"vadd_", bank_row}, {"mmad_", matmul_series},
        {"vf_", function_row}, {"softmax_", function_row}, {"device_copy", bandwidth_row}, {"fast_hadamard_fp16", bandwidth_row}};
    static const std::pair<std::string_view, const char*> unknown[] = {
        {"topk", "how often the sorted lists are merged is not published"},
        {"sparse_fa", "sizes and body are not published"},
        {"reduce_256", "the result is read back by the scalar unit each time: no latency of that is published"},
        {"fast_hadamard_fp16_ratio", "a ratio to a copy of unstated size"}};
    for (const auto& [kernel, reason] : unknown)
        if (begins(m.kernel, kernel)) {
            why = reason;
            return std::nullopt;
        }
    for (const auto& [kernel, door] : doors)
        if (begins(m.kernel, kernel)) return door(m, why);
    if (m.kernel.size() > 1 && m.kernel[0] == 'T') return tile_op(m, why);
    if (m.kernel.size() > 1 && m.kernel[0] == 't') return old_tile_op(m, why);
    why = "no program of ours stands for this kernel";
    return std::nullopt;
}

} // namespace pto::validate
