#pragma once
/// Scalar expressions of one core's program, compiled to three-address operations over one frame of cells.
///
/// The frame holds, in this order: variables, structure fields, launch constants (literals, parameters, sizes, core queries and
/// everything computed from them alone) and temporaries. A leaf costs no operation: operands name cells directly.

#include "engine/base/diagnostics.hpp"
#include "engine/program/program.hpp"

#include <map>
#include <string>
#include <vector>

namespace pto::program {

struct Cell {
    union {
        std::int64_t integer; // normalised to its type: sign- or zero-extended
        double real;          // rounded to its type
    };
    bool known = true;
    Cell() : integer(0) {}
};

enum class ScalarKind : std::uint8_t {
    move, to_real, to_integer, // between the two classes; wrap() to `dtype` follows
    neg_i, bit_not, lnot, neg_f,
    add_i, sub_i, mul_i, div_s, div_u, mod_s, mod_u, bit_and, bit_or, bit_xor, shl, shr_s, shr_u, min_s, min_u, max_s, max_u,
    eq_i, ne_i, lt_s, lt_u, le_s, le_u,
    add_f, sub_f, mul_f, div_f, floor_f, mod_f, min_f, max_f, eq_f, ne_f, lt_f, le_f,
    land, lor, select,
    load_field,  // dst = cell a + index(b) * stride(c): structure in `aux`
    dim, address, valid_dim, // of tensor or tile `aux`, axis c
};

struct ScalarOp {
    ScalarKind kind = ScalarKind::move;
    isa::DType dtype = isa::DType::index; // of the result
    std::int32_t dst = 0, a = 0, b = 0, c = 0;
    std::int32_t aux = -1;
    Span at;
};

/// A compiled expression: run [begin, end), the value is in `cell`.
struct CompiledExpr {
    std::int32_t begin = 0, end = 0, cell = -1;
    bool constant = false; // a launch constant: nothing to run
};

/// One record field in the frame.
struct FieldPlace {
    std::int32_t base = 0;   // cell of record 0, element 0
    std::int32_t record = 0; // cells from one record to the next
};

class ScalarCode {
  public:
    explicit ScalarCode(const CoreCode& core);

    /// Compiles on demand; equal ids give equal code.
    CompiledExpr compile(ir::ExprId id);
    /// Cell of a field; `cell` < 0 when the record or element index is a run-time value.
    FieldPlace field_place(ir::StructId s, std::int32_t field) const { return m_fields[std::size_t(s.index)][std::size_t(field)]; }
    std::int32_t var_cell(ir::VarId v) const { return v.index; }
    bool is_assigned(ir::VarId v) const { return m_assigned[std::size_t(v.index)]; }

    std::vector<ScalarOp> ops;     // run-time code
    std::vector<ScalarOp> prelude; // computes launch constants, once
    std::vector<Cell> literals;    // initial frame (constants filled in)
    struct Query { // launch constants that come from outside
        ir::ExprOp op;
        ir::TensorId tensor;
        std::int64_t axis = 0;
        std::int32_t cell = 0;
    };
    std::vector<Query> queries;
    std::int32_t temps_begin = 0;
    std::int32_t frame_size() const { return std::int32_t(literals.size()); }

  private:
    struct Value {
        std::int32_t cell = -1;
        bool constant = false;
        isa::DType dtype = isa::DType::index;
    };
    Value value(ir::ExprId id);
    Value binary(const ir::Expr& e);
    Value convert(Value v, isa::DType to, Span at);
    Value emit(ScalarOp op, bool constant, isa::DType dtype);
    std::int32_t new_constant();
    std::int32_t new_temp();
    Value literal_integer(std::int64_t i, isa::DType t);

    const ir::Function& m_f;
    std::vector<bool> m_assigned;      // variables the core's own code writes
    std::vector<bool> m_bound_tensors; // tensors whose view may change at run time
    std::vector<std::vector<FieldPlace>> m_fields;
    std::map<std::pair<std::int64_t, int>, std::int32_t> m_integers;
    std::map<std::int32_t, CompiledExpr> m_compiled;
    std::vector<std::int32_t> m_temps;
    std::size_t m_next_temp = 0;
};

/// Normalises an integer to its type; reals are rounded to theirs.
std::int64_t wrap_integer(std::int64_t value, isa::DType type);
double round_real(double value, isa::DType type);
/// True for types whose scalars are reals.
inline bool is_real(isa::DType t) { return isa::is_float(t); }

} // namespace pto::program
