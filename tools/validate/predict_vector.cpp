#include "tools/validate/predict_common.hpp"

#include <algorithm>
#include <cstdlib>

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
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    bool a5 = chip.arch == "a5";
    std::string variant = p.value("variant", "");
    const std::string harness = "vendor profiler, " + chip.name;
    Elementwise e;
    e.elements = std::int64_t(8192) * 8192;
    if (p.contains("shape")) e.elements = p["shape"][0].get<std::int64_t>() * p["shape"][1].get<std::int64_t>();
    e.tile_elements = number(p, "tile_elems", 8192);
    e.cores = number(p, "cores", number(p, "aiv", 2 * chip.cube_cores));
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
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    Copy c;
    c.rows = p["tensor"][0];
    c.columns = p["tensor"][1];
    c.tile_rows = p["tile"][0];
    c.tile_columns = p["tile"][1];
    c.cores = p["cores"];
    c.to_l1 = contains(m.kernel, "l1");
    c.sliced = contains(p.value("desc", ""), "sliced");
    if (p.contains("order")) {
        if (p["order"] == "same" && chip.arch != "a5") {
            why = "hot spot: all cores read the same rows in step, past L2";
            return std::nullopt;
        }
        c.everything = c.past_l2 = true;
    } else {
        c.reads = p["reads"];
    }
    execute::Record record = copy(c);
    Run run(chip, record);
    Predicted r = result(m, run, "vendor profiler, " + chip.name);
    if (m.row->contains("pipe_us") && (*m.row)["pipe_us"].contains("mte2"))
        r.pipes["MTE2"] = {run.busy(Pipe::mte2, c.to_l1 ? isa::Core::cube : isa::Core::vector), (*m.row)["pipe_us"]["mte2"].get<double>()};
    return r;
}

std::optional<Predicted> relayout_row(const Measured& m, std::string&) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    Elementwise e;
    e.elements = p["shape"][0].get<std::int64_t>() * p["shape"][1].get<std::int64_t>();
    e.tile_elements = p["tile"][0].get<int>() * p["tile"][1].get<int>();
    e.cores = p["cores"];
    e.inputs = 1;
    e.buffers = 2;
    e.items = {{"vector.copy", {}}};
    execute::Record record = elementwise(e);
    Predicted r = result(m, Run(chip, record), "vendor profiler, " + chip.name);
    r.pipes.erase("V"); // blocks of 32 bytes at a stride: their bank conflicts are not in the record
    return r;
}

std::optional<Predicted> bandwidth_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    if (!m.row->contains("gbps")) {
        why = "no measured time";
        return std::nullopt;
    }
    machine::Chip chip = chip_of(m);
    Elementwise e;
    e.elements = std::int64_t(p["elems"].get<double>());
    e.tile_elements = number(p, "tile_bytes", 16384) / 2;
    e.cores = 2 * chip.cube_cores;
    e.inputs = 1;
    e.buffers = number(p, "nbuf", 4);
    e.apart = std::int64_t(1) << 30; // of a pool larger than L2: nothing is there, nothing written stays
    if (begins(m.kernel, "fast_hadamard")) {
        double steps = 0;
        for (int n = p["N"]; n > 1; n /= 2) ++steps;
        // A step adds and subtracts two halves of a row: one operation a line and the exchange of halves.
        e.items = {{"vector_function", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", steps}, {"reg.permute", steps / 2}}}};
    }
    execute::Record record = elementwise(e);
    return result(m, Run(chip, record), "");
}

std::optional<Predicted> function_row(const Measured& m, std::string& why) {
    const Json& p = (*m.row)["params"];
    machine::Chip chip = chip_of(m);
    using Counts = std::vector<std::pair<std::string, double>>;
    double lines = 0;
    Counts per_line;
    if (begins(m.kernel, "softmax")) {
        if (p.value("variant", "") != "main/tail + unroll + ExpSub") {
            why = "bound by register dependencies: rows are not unrolled";
            return std::nullopt;
        }
        lines = p["shape"][0].get<double>() * p["shape"][1].get<double>() / 64;
        per_line = {{"reg.load", 2}, {"reg.store", 2}, {"reg.add", 1}, {"reg.reduce", 1}, {"reg.special", 1}, {"reg.div", 1}}; // max and sum: one line each two lines
    } else {
        static const std::map<std::string_view, Counts> bodies{
            {"vf_silu_", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}},
            {"vf_swiglu_", {{"reg.load", 2}, {"reg.store", 1}, {"reg.add", 1}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}},
            {"vf_gelu_i", {{"reg.load", 1}, {"reg.store", 1}, {"reg.add", 3}, {"reg.add_scalar", 2}, {"reg.special", 1}, {"reg.div", 1}}}};
        for (const auto& [kernel, counts] : bodies)
            if (begins(m.kernel, kernel)) per_line = counts;
        if (per_line.empty()) {
            why = "a probe of the vendor's cycle model whose body is not published, or a chain of dependent registers";
            return std::nullopt;
        }
        lines = std::atof(p["iters"].get<std::string>().c_str());
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
    Predicted r;
    r.model = chip.name;
    Run run(chip, record);
    r.us = run.all_busy();
    return r;
}

} // namespace pto::validate
