#pragma once
/// What prepare() compiles once per core program; private to the sequencer.

#include "engine/program/sequencer.hpp"

namespace pto::program {

/// How one operand is filled at issue.
struct OperandRecipe {
    enum class Kind : std::uint8_t { none, constant, scalar, tile, tensor, list, structure, mixed, attribute_text } kind = Kind::none;
    CompiledExpr expr;                  // scalar; record index of a structure
    isa::DType dtype = isa::DType::index;
    ir::TileVarId tile;
    ir::TensorId tensor;
    std::vector<CompiledExpr> list;
    std::vector<isa::DType> list_types;
    ir::StructRef structure;
    const ir::MixedList* mixed = nullptr;
    Scalar constant;
};

struct PreparedInstr {
    const Instr* instr = nullptr;
    CompiledExpr expr;                     // value, condition, task, slot index, address
    CompiledExpr a, b, c, d;               // loop bounds; sub-view bounds; record and element of a field
    bool has_a = false, has_b = false;
    std::vector<CompiledExpr> list, list2; // shape and strides
    std::vector<OperandRecipe> operands, attributes;
    std::int32_t guard_loop = -1;          // branch: the condition is `var < stop` of this enclosing loop, true inside it by construction
    std::int32_t bind_cell = -1;           // tile_bind of a view: its own valid-shape cell
    std::vector<std::int32_t> loops;       // issue: the loops around it, outermost first, at most Iterations::most
};

class Prepared {
  public:
    Prepared(const Program& program, const CoreCode& core);

    std::shared_ptr<const ir::Kernel> kernel;
    CoreCode core;                          // a copy: instructions stay put however the program value moves
    ScalarCode scalars;
    std::vector<PreparedInstr> instrs;
    std::vector<std::int32_t> slot_cells;   // per declaration: valid cell of its slot 0
    std::int32_t valid_cells = 0;

  private:
    OperandRecipe recipe(const ir::OperandValue& v);
    OperandRecipe recipe(const ir::AttributeValue& v);
    void prepare_instr(std::size_t index);
    bool same_expr(ir::ExprId a, ir::ExprId b) const;
    std::int32_t find_guard(std::size_t index) const;
};

} // namespace pto::program
