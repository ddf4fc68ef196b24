#pragma once
/// Scalar expressions inside vector functions: compiled to three-address code over the cells of a call. Source:
/// language 1.9, 5.1.

#include "engine/execute/registers/code.hpp"

#include <map>

namespace pto::execute::registers {

class ScalarCompiler {
  public:
    ScalarCompiler(const ir::Function& f, Code& code) : m_f(f), m_code(code) {}
    /// The cell that holds the value once the code emitted meanwhile has run.
    std::int32_t compile(ir::ExprId id);
    /// The same as a real, or as an integer.
    std::int32_t compile_as(ir::ExprId id, bool real);
    std::int32_t cell_of(ir::VarId v);
    std::int32_t literal(std::int64_t integer, double real);
    bool is_real(ir::ExprId id) const { return isa::is_float(m_f[id].dtype); }
    /// var = value, with the variable's type.
    void assign(ir::VarId v, ir::ExprId value);

  private:
    std::int32_t fresh();
    std::int32_t convert(std::int32_t cell, bool from_real, DType to);
    std::int32_t emit(ir::ExprOp op, bool real, DType type, std::int32_t a, std::int32_t b = 0, std::int32_t c = 0);

    const ir::Function& m_f;
    Code& m_code;
    std::map<std::int32_t, std::int32_t> m_vars;
    std::map<std::pair<std::int64_t, double>, std::int32_t> m_literals;
};

/// Runs scalar code; throws Stop on a division by zero.
void run_scalars(const ScalarOp* begin, const ScalarOp* end, Cell* cells, Span at);

} // namespace pto::execute::registers
