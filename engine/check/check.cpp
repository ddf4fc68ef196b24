#include "engine/check/context.hpp"

namespace pto::check {
namespace {

/// The grid barriers of a kernel.
std::vector<const ir::Stmt*> grid_barriers(const ir::Kernel& kernel) {
    std::vector<const ir::Stmt*> found;
    for (const std::optional<ir::Function>* side : {&kernel.cube, &kernel.vector})
        if (*side)
            ir::for_each_statement((*side)->body, [&](const ir::Stmt& s) {
                const auto* op = std::get_if<ir::Op>(&s.what);
                if (op && op->row->semantics == isa::Semantics::sync_all) found.push_back(&s);
            });
    return found;
}

} // namespace

Diagnostics check(const ir::Kernel& kernel, const machine::Chip& chip) {
    Diagnostics out;
    for (const std::optional<ir::Function>* side : {&kernel.cube, &kernel.vector}) {
        if (!*side) continue;
        Context c(kernel, **side, chip, out);
        check_operands(c);
        check_movement(c);
        check_cube(c);
        check_shapes(c);
        check_memory(c);
        check_arithmetic(c);
        check_flags(c);
        check_order(c);
        check_contracts(c);
        check_debug(c);
        check_scalar_cache(c);
    }
    sort_by_position(out);
    return out;
}

Diagnostics check_launch(const ir::Kernel& kernel, const machine::Chip& chip, std::int32_t block_dim) {
    Diagnostics out;
    std::vector<const ir::Stmt*> barriers = grid_barriers(kernel);
    if (barriers.empty()) return out;
    std::int32_t places = chip.cube_cores * (kernel.vector && !kernel.cube ? 2 : 1);
    if (block_dim > places) {
        Diagnostic d = diagnose(Code::grid_barrier_launch, barriers.front()->at,
                                "sync_all waits for all " + std::to_string(block_dim) + " blocks, but only " + std::to_string(places) + " run at a time on " + chip.name +
                                    ": the launch would never end");
        d.severity = Severity::error;
        d.advice.push_back("launch at most " + std::to_string(places) + " blocks");
        out.push_back(std::move(d));
    } else if (block_dim < places) {
        out.push_back(diagnose(Code::grid_barrier_launch, barriers.front()->at,
                               "sync_all with " + std::to_string(block_dim) + " of " + std::to_string(places) +
                                   " blocks that the chip has room for: devices have been reported to wait for cores that were not launched"));
    }
    return out;
}

} // namespace pto::check
