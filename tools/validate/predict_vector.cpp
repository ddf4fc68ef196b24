#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace pto::validate {

using isa::DType;
using isa::Pipe;

std::vector<Item> gelu_items(bool a5) {
    // 950: x / (1 + exp(-1.6 (x + 0.0447 x^3))), nine operations a line. A2/A3: x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), the fast form.
    if (a5) return {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 3}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}}};
    return {{"vector.unary", {}},   {"vector.add_scalar", {}}, {"vector.special", {}}, {"vector.add_scalar", {}}, {"vector.add", {}},
            {"vector.add_scalar", {}}, {"vector.special", {}}, {"vector.div", {}}, {"vector.add", {}}}; // temporaries lie where banks do not clash
}

std::vector<Item> tanh_gelu_items(bool a5) {
    if (a5) return gelu_items(true);
    // x / (1 + exp(-1.6 (x + 0.0447 x^3))) in place of its own result: where x meets an intermediate value, both begin in one bank group.
    return {{"vector.add", {}},        {"vector.add", {}, 1, true}, {"vector.add_scalar", {}}, {"vector.add", {}, 1, true},
            {"vector.add_scalar", {}}, {"vector.special", {}},      {"vector.add_scalar", {}}, {"vector.div", {}, 1, true}};
}

std::optional<Predicted> elementwise_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    bool a5 = chip.arch == "a5";
    std::string variant = text(p, "variant");
    const std::string harness = "vendor profiler, " + chip.name;
    Elementwise e;
    e.elements = std::int64_t(8192) * 8192;
    if (p.contains("shape")) e.elements = p.at("shape").at(0).get<std::int64_t>() * p.at("shape").at(1).get<std::int64_t>();
    e.tile_elements = number(p, "tile_elems", 8192);
    e.cores = number(p, "cores", number(p, "aiv", 2 * chip.cube_cores));
    require_sizes({{"shape", e.elements}, {"tile_elems", e.tile_elements}, {"cores", e.cores}});
    if (e.elements / e.tile_elements > 8'000'000) throw std::runtime_error("too many tiles to replay");
    if (variant == "scalar") {
        constexpr int sample = 4096;
        execute::Record record = scalar_sum(sample);
        return result(m, Run(chip, record), harness, double(e.elements) / sample);
    }
    if (begins(m.kernel, "add_")) {
        e.inputs = 2;
        e.buffers = contains(variant, "double buffer") || contains(variant, "bypass") || contains(variant, "bank") ? 2 : 1;
        e.dtype = contains(m.kernel, "fp32") ? DType::fp32 : DType::fp16;
        e.element_bytes = e.dtype == DType::fp32 ? 4 : 2;
        e.items = {{"vector.add", {}, 1, !contains(variant, "bank")}};
        e.past_l2 = (contains(variant, "bypass") || contains(variant, "bank")) && double(e.elements) * e.element_bytes < chip.constant("l2_bytes");
    } else {
        e.inputs = 1;
        e.buffers = 2;
        e.element_bytes = 4;
        e.dtype = DType::fp32;
        e.items = gelu_items(a5);
        if (m.kernel == "gelu_fp32" && variant == "unfused") {
            why = "which operations are functions of their own is not published";
            return std::nullopt;
        }
        if (m.kernel == "gelu_eltwise_fp32") // 13 operations a line, three of them exp or div (hardware 3.1)
            e.items = {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 6}, {"reg.add_scalar", 2}, {"reg.special", 2}, {"reg.div", 1}}}};
        if (contains(variant, "128 B")) // half a register each time
            for (auto& [key, count] : e.items[0].per_line) count *= 2;
    }
    execute::Record record = elementwise(e);
    Predicted r = result(m, Run(chip, record), harness);
    // One loop: each line waits for the one before it, which the model of a function does not know; memory hides it in the total.
    if (contains(variant, "1 loop")) r.pipes.erase("V");
    return r;
}

std::optional<Predicted> copy_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    Copy c;
    c.rows = p.at("tensor").at(0);
    c.columns = p.at("tensor").at(1);
    c.tile_rows = p.at("tile").at(0);
    c.tile_columns = p.at("tile").at(1);
    c.cores = p.at("cores");
    require_sizes({{"tensor", c.rows}, {"tensor", c.columns}, {"tile", c.tile_rows}, {"tile", c.tile_columns}, {"cores", c.cores}});
    if (c.rows / c.tile_rows * (c.columns / c.tile_columns) > 8'000'000) throw std::runtime_error("too many tiles to replay");
    c.to_l1 = contains(m.kernel, "l1");
    c.sliced = contains(text(p, "desc"), "sliced");
    if (p.contains("order")) {
        if (p.at("order") == "same" && chip.arch != "a5") {
            why = "hot spot: all cores read the same rows in step, past L2";
            return std::nullopt;
        }
        c.everything = c.past_l2 = true;
        c.least_bytes = int(chip.constant("l2_line_bytes")) / 2; // half a line at a time: T18-23 reaches half of the streaming rate
    } else {
        c.reads = p.at("reads");
    }
    execute::Record record = copy(c);
    Run run(chip, record);
    Predicted r = result(m, run, "vendor profiler, " + chip.name);
    if (double busy = field_of(*m.row, "pipe_us", "mte2"); busy > 0) r.pipes["MTE2"] = {run.busy(Pipe::mte2, c.to_l1 ? isa::Core::cube : isa::Core::vector), busy};
    return r;
}

std::optional<Predicted> relayout_row(const Measured& m, std::string&) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    Elementwise e;
    e.elements = p.at("shape").at(0).get<std::int64_t>() * p.at("shape").at(1).get<std::int64_t>();
    e.tile_elements = p.at("tile").at(0).get<int>() * p.at("tile").at(1).get<int>();
    e.cores = p.at("cores");
    require_sizes({{"shape", e.elements}, {"tile", e.tile_elements}, {"cores", e.cores}});
    e.inputs = 1;
    e.buffers = 2;
    e.items = {{"vector.copy", {}}};
    execute::Record record = elementwise(e);
    Predicted r = result(m, Run(chip, record), "vendor profiler, " + chip.name);
    r.pipes.erase("V"); // blocks of 32 bytes at a stride: their bank conflicts are not in the record
    return r;
}

std::optional<Predicted> bandwidth_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    if (!m.row->contains("gbps")) {
        why = "no measured time";
        return std::nullopt;
    }
    machine::Chip chip = chip_of(m);
    Elementwise e;
    e.elements = std::int64_t(p.at("elems").get<double>());
    e.tile_elements = number(p, "tile_bytes", 16384) / 2;
    e.cores = 2 * chip.cube_cores;
    e.inputs = 1;
    e.buffers = number(p, "nbuf", 4);
    require_sizes({{"elems", e.elements}, {"tile_bytes", e.tile_elements}, {"nbuf", e.buffers}});
    e.apart = std::int64_t(1) << 30; // of a pool larger than L2: nothing is there, nothing written stays
    if (begins(m.kernel, "fast_hadamard")) {
        double steps = 0;
        for (int n = p.at("N"); n > 1; n /= 2) ++steps;
        // A step adds and subtracts two halves of a row: one operation a line and the exchange of halves.
        e.items = {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", steps}, {"reg.permute", steps / 2}}}};
    }
    execute::Record record = elementwise(e);
    return result(m, Run(chip, record), "");
}

std::optional<Predicted> function_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row).at("params");
    machine::Chip chip = chip_of(m);
    using Counts = std::vector<std::pair<std::string, double>>;
    double lines = 0;
    Counts per_line;
    if (begins(m.kernel, "softmax")) {
        const double rows = p.at("shape").at(0).get<double>(), columns = p.at("shape").at(1).get<double>();
        lines = rows * columns / 64;
        if (text(p, "variant") == "RegBase unfused") {
            // Seven steps, each a loop over a row of its own with a memory barrier behind it: maximum; spread, subtract, exp, sum; spread, divide.
            const double each_row = 64 / columns;
            per_line = {{"reg.load", 6 + 2 * each_row}, {"reg.store", 5 + 2 * each_row}, {"reg.add", 3}, {"reg.special", 1}, {"reg.div", 1},
                        {"reg.copy", 4 * each_row}, {"reg.reduce", 2 * each_row}, {"reg.barrier", 7 * each_row}};
        } else if (text(p, "variant") == "main/tail + unroll + ExpSub") {
            per_line = {{"reg.load", 2}, {"reg.store", 2}, {"reg.add", 1}, {"reg.reduce", 1}, {"reg.special", 1}, {"reg.div", 1}}; // max and sum: one line each two lines
        } else {
            why = "bound by register dependencies: rows are not unrolled";
            return std::nullopt;
        }
    } else {
        static const std::map<std::string_view, Counts> bodies{
            {"vf_silu_", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}},
            {"vf_swiglu_", {{"reg.load", 2}, {"reg.store", 1}, {"reg.add", 1}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}},
            {"vf_gelu_i", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 3}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}}};
        for (const auto& [kernel, counts] : bodies)
            if (begins(m.kernel, kernel)) per_line = counts;
        // One register through a chain of adds, each 3 cycles after the one before (hardware 3.2), where the chain is longer than what
        // waits to be issued (58 instructions, hardware 1.4): nothing of the next iteration overlaps.
        const double chain = std::atof(text(p, "chain").c_str()), iterations = std::atof(text(p, "iters").c_str());
        if (begins(m.kernel, "vf_vadds_longchain") && chain > 58 && iterations > 0) {
            Predicted r;
            r.model = chip.name;
            r.us = (chip.row("vector_function")->startup_cycles + 3 * chain * iterations) / chip.clock_mhz;
            return r;
        }
        if (per_line.empty()) {
            why = "a probe of the vendor's cycle model whose body is not published, or a chain of dependent registers";
            return std::nullopt;
        }
        lines = std::atof(p.at("iters").get<std::string>().c_str());
    }
    execute::Record record;
    record.sites.push_back({nullptr, "function", "vector_function", DType::fp32, {}});
    record.cores.push_back({isa::Core::vector, 0, 0, {}, {}});
    execute::CallWork work;
    for (const auto& [key, count] : per_line) work.counts.emplace_back(key, std::int64_t(count * lines));
    std::sort(work.counts.begin(), work.counts.end());
    record.calls.push_back(std::move(work));
    execute::Row row;
    row.pipe = Pipe::v;
    row.k = 0;
    record.cores[0].rows.push_back(row);
    return busy_time(chip, record);
}

} // namespace pto::validate
