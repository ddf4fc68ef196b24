#pragma once
/// Private to the list of row kernels: what one kernel is built with, and the maker of all forms.

#include "row_kernels.hpp"

#include <functional>

namespace pto::testing {

using D = isa::DType;
using M = isa::MemorySpace;
using K = isa::OperandKind;
using S = isa::Semantics;
using Keywords = FunctionBuilder::Keywords;

/// One kernel: declarations get fresh addresses; tensors are parameters.
class Builder {
  public:
    explicit Builder(isa::Core core) : b(core) {}
    FunctionBuilder b;
    ir::Kernel kernel;

    ir::TileVarId tile(isa::TileType t) {
        const std::int64_t at = (m_next + 511) / 512 * 512;
        m_next = at + t.byte_size();
        return b.slot(b.group("t" + std::to_string(b.f.decls.size()), t, {at}));
    }
    ir::TileVarId tile(M memory, D dtype = D::fp32, int rows = 16, int cols = 64) {
        isa::TileType t = tile_type(rows, cols, memory, dtype);
        if (memory == M::scale_left) t.layout = isa::Layout::zz, t.fractal = 32;
        if (memory == M::scale_right) t.layout = isa::Layout::nn, t.fractal = 32;
        if (memory == M::acc && isa::bytes(dtype) != 4) t.fractal = 512;
        return tile(t);
    }
    ir::TensorId tensor(std::vector<std::int64_t> dims, D dtype = D::fp32, isa::Layout layout = isa::Layout::nd) {
        const ir::ParamId id{std::int32_t(kernel.params.size())};
        ir::Param p;
        p.name = "x" + std::to_string(id.index), p.dtype = dtype, p.layout = layout;
        for (std::int64_t d : dims) p.dims.push_back({d < 0, std::max<std::int64_t>(d, 0)});
        kernel.params.push_back(p);
        const ir::TensorId t = b.tensor(p.name, dims, id, dtype);
        b.f.tensors.back().layout = layout;
        return t;
    }
    /// A run-time scalar of a type.
    ir::ExprId scalar(D t) {
        const ir::ParamId id{std::int32_t(kernel.params.size())};
        ir::Param p;
        p.name = "s" + std::to_string(id.index), p.kind = ir::ParamKind::scalar, p.dtype = t;
        kernel.params.push_back(p);
        return b.get(b.var(p.name, t, id));
    }
    ir::RegId reg(D t, ir::RegKind kind = ir::RegKind::vector) {
        b.f.regs.push_back({"r" + std::to_string(b.f.regs.size()), kind, t});
        return ir::RegId{std::int32_t(b.f.regs.size()) - 1};
    }
    ir::ExprList zeros(int n) {
        ir::ExprList l;
        for (int i = 0; i < n; ++i) l.push_back(b.num(0));
        return l;
    }

  private:
    std::int64_t m_next = 0;
};

/// Fills a list with kernels, form by form; the members for the rows of one family stand in the file named after it.
class RowForms {
  public:
    std::vector<RowKernel> take();

  private:
    using Fill = std::function<void(Builder&)>;
    void add(const isa::OpRow& row, const std::string& form, isa::Core core, const Fill& fill);
    void vector(const isa::OpRow& row, const std::string& form, const Fill& fill) { add(row, form, isa::Core::vector, fill); }
    void cube(const isa::OpRow& row, const std::string& form, const Fill& fill) { add(row, form, isa::Core::cube, fill); }
    /// Inside a vector function over one UB tile.
    void function(const isa::OpRow& row, const std::string& form, D type, const std::function<void(Builder&, ir::TileVarId)>& fill);
    static D pick(std::uint32_t set);
    static M memory_of(std::uint32_t set);
    void forms(const isa::OpRow& row);
    // rows_tiles.cpp
    void tiles(const isa::OpRow& row);
    void columns(const isa::OpRow& row);
    void simt(const isa::OpRow& row);
    // rows_movement.cpp
    void products(const isa::OpRow& row);
    static isa::TileType with_layout(isa::TileType t, isa::Layout layout);
    ir::ExprList order(Builder& k, int p, int q);
    void movement(const isa::OpRow& row);
    void loads(const isa::OpRow& row);
    void stores(const isa::OpRow& row);
    void moves(const isa::OpRow& row);
    // rows_scalar.cpp
    void sync(const isa::OpRow& row);
    void scalars(const isa::OpRow& row);
    void debug(const isa::OpRow& row);
    // rows_registers.cpp
    void registers(const isa::OpRow& row);
    void register_loads(const isa::OpRow& row);
    void register_stores(const isa::OpRow& row);
    void casts(const isa::OpRow& row);

    std::vector<RowKernel> m_out;
};

} // namespace pto::testing
