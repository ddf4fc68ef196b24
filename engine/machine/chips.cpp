#include "engine/machine/chip.hpp"

#include "engine/isa/catalogue.hpp"

#include <array>
#include <deque>
#include <set>
#include <utility>

namespace pto::machine {
namespace {

/// File name without ending, text. Generated from share/xpto/targets when the build is configured.
constexpr std::pair<std::string_view, std::string_view> files[] = {
#include "chip_data.inc"
};

} // namespace

std::string_view name(Grade g) {
    switch (g) {
    case Grade::stated: return "stated";
    case Grade::derived: return "derived";
    case Grade::guessed: return "guessed";
    }
    return "";
}

const std::vector<std::string_view>& constant_names() {
    static const std::vector<std::string_view> names{
        "hbm_bytes_per_us", "l2_bytes", "l2_line_bytes", "l2_bytes_per_us", "l2_write_bytes_per_us", "gm_row_cycles", "gm_row_cycles_vec", "gm_store_row_cycles", "hbm_row_bytes", "l2_write_backlog_bytes", "hbm_latency_cycles", "fix_elements_per_cycle",
        "cross_core_latency_cycles", "sync_all_latency_cycles", "scalar_issue_cycles", "scalar_instruction_cycles", "lock_issue_cycles",
        "block_dispatch_cycles", "launch_us", "vector_issue_per_cycle", "vector_row_cycles", "partial_mask_cycles", "bank_clash_sources", "bank_clash_destination"};
    return names;
}

std::vector<std::string> required_timing_keys(std::string_view arch) {
    bool a5 = arch == "a5";
    std::set<std::string> keys{"path.gm_vec", "path.gm_mat", "path.vec_gm", "path.acc_gm", "path.mat_left", "path.mat_right", "path.mat_bias", "path.mat_scaling",
                               "path.vec_vec", "cube.fp16", "cube.bf16", "cube.fp32", "cube.int8", "vector.add_scalar", "vector.div_scalar"};
    if (a5)
        for (const char* key : {"path.acc_vec", "path.acc_vec_dual", "path.vec_mat", "path.mat_scale_left", "path.mat_scale_right", "cube.fp8e4m3", "cube.fp8e5m2",
                                "cube.hf8", "cube.fp4e2m1", "cube.fp4e1m2", "vector_function"})
            keys.insert(key);
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows()) {
        if (row.construct) continue;
        std::string key(row.timing);
        bool by_path = key == "load" || key == "store" || key == "move" || key == "insert" || key == "matmul";
        bool registers = key.substr(0, 4) == "reg.";
        if (!by_path && (a5 || !registers)) keys.insert(std::move(key));
    }
    return {keys.begin(), keys.end()};
}

std::string_view chip_text(const std::string& name) {
    for (const auto& [known, text] : files)
        if (known == name) return text;
    return {};
}

std::vector<std::string> chip_names() {
    std::vector<std::string> names;
    for (const auto& [known, text] : files) names.emplace_back(known);
    return names;
}

const Chip* find_chip(const std::string& name) {
    // Read once, together: a chip that does not read would be a mistake of ours, and a test says so for each.
    static const std::deque<Chip> chips = [] {
        std::deque<Chip> all;
        for (const auto& [known, text] : files)
            if (Result<Chip> chip = read_chip(text)) all.push_back(std::move(*chip));
        return all;
    }();
    for (const Chip& c : chips) {
        if (c.name == name) return &c;
        for (const std::string& alias : c.aliases)
            if (alias == name) return &c;
    }
    return nullptr;
}

} // namespace pto::machine
