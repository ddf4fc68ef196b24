#pragma once
/// A kernel as one flat instruction list per core, locks inserted: what verify, execute and emit work on.

#include "engine/ir/kernel.hpp"
#include "engine/machine/chip.hpp"

#include <memory>
#include <vector>

namespace pto::program {

/// Instructions of the scalar unit. Operations go to their pipe; the rest is control and scalar work.
enum class InstrKind : std::uint8_t {
    assign,       // var = expr
    field_assign, // structure field = expr
    tile_bind,
    tensor_bind,
    issue,        // an operation or a vector call: goes to its pipe's queue (locks are taken and released around it)
    jump,         // to `target`
    branch,       // to `target` when the condition is false
    loop_enter,   // evaluate bounds once into loop state `loop`; jump to `target` when there is no trip
    loop_next,    // add the step; jump to `target` (body start) while it runs
    stage_enter,  // stage `stage`, task expression `expr`
    stage_leave,
    finish,       // end of the core's program
};

struct Instr {
    InstrKind kind = InstrKind::finish;
    std::int32_t target = 0;        // jump, branch, loop_*: instruction index
    std::int32_t loop = -1;         // loop_*: index of loop state
    ir::ExprId expr;                // condition or value
    ir::VarId var;
    const ir::Stmt* stmt = nullptr; // the statement it came from (owned by Program::kernel)
    std::int32_t stage = -1;        // index into CoreCode::stages
    Span at;
};

struct CoreCode {
    isa::Core core = isa::Core::cube;
    const ir::Function* function = nullptr; // owned by Program::kernel
    std::vector<Instr> code;
    std::vector<std::string> stages;        // stage names in order of first appearance
    std::int32_t loops = 0;                 // loop states needed
};

/// Shared, immutable: statements are pointed at.
struct Program {
    std::shared_ptr<const ir::Kernel> kernel; // with Op::locks filled
    std::vector<CoreCode> cores;              // cube first when both exist
    const CoreCode* core(isa::Core c) const {
        for (const CoreCode& k : cores)
            if (k.core == c) return &k;
        return nullptr;
    }
};

/// Inserts locks (auto_mutex, language 4.6) and flattens both targets.
///   in     kernel  checked kernel IR
///   out    one instruction list per target; operations whose ids are used by pipe V only take no lock (elision)
Program assemble(ir::Kernel kernel, const machine::Chip& chip);

std::string print(const Program& program);

} // namespace pto::program
