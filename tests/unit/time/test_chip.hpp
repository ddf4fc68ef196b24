#pragma once
/// A chip with round numbers, so that times can be computed by hand.

#include "engine/machine/chip.hpp"

namespace pto::time {

/// Every operation: busy 100 cycles, no latency; loads and stores 10 bytes a cycle with 50 cycles latency; issue costs nothing.
inline machine::Chip round_chip() {
    machine::Chip chip = *machine::find_chip("ascend950pr");
    chip.name = "round";
    chip.clock_mhz = 1000;
    for (auto& [key, row] : chip.timing) {
        row.startup_cycles = key.substr(0, 5) == "sync." ? 0 : 100;
        row.latency_cycles = 0;
        row.per_unit = {0, 1};
    }
    for (const char* key : {"path.gm_vec", "path.gm_mat", "path.vec_gm", "path.acc_gm"}) {
        chip.timing[key].startup_cycles = 0;
        chip.timing[key].latency_cycles = 50;
        chip.timing[key].per_unit = {1, 10};
    }
    for (const char* key : {"scalar_issue_cycles", "scalar_instruction_cycles", "lock_issue_cycles", "gm_row_cycles", "gm_row_cycles_vec", "gm_store_row_cycles", "hbm_row_bytes", "l2_write_backlog_bytes", "hbm_latency_cycles", "partial_mask_cycles", "vector_row_cycles"})
        chip.constants[key].value = 0;
    chip.constants["cross_core_latency_cycles"].value = 30;
    chip.constants["sync_all_latency_cycles"].value = 200;
    chip.constants["block_dispatch_cycles"].value = 1000;
    chip.constants["hbm_bytes_per_us"].value = 1e12;
    chip.constants["l2_bytes_per_us"].value = 1e12;
    chip.constants["l2_write_bytes_per_us"].value = 1e12;
    chip.constants["launch_us"].value = 2;
    return chip;
}

} // namespace pto::time
