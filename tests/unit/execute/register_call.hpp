#pragma once
/// Vector functions on a builder: the harness of the register tests.

#include "vector_op.hpp"

namespace pto::testing {

using Tiles = std::vector<ir::TileVarId>;

/// Register operations on a builder.
struct Vf {
    FunctionBuilder& b;
    ir::RegId reg(DType t, ir::RegKind kind = ir::RegKind::vector) {
        b.f.regs.push_back({"r" + std::to_string(b.f.regs.size()), kind, t});
        return ir::RegId{std::int32_t(b.f.regs.size()) - 1};
    }
    ir::RegId mask(DType t = DType::fp32) { return reg(t, ir::RegKind::mask); }
    void op(std::string_view name, std::vector<ir::RegId> results, std::vector<ir::OperandValue> operands,
            const FunctionBuilder::Keywords& keywords = {}) {
        b.op(name, std::move(operands), keywords).registers = std::move(results);
    }
    ir::RegId all(DType t = DType::fp32, isa::MaskPattern p = isa::MaskPattern::all) {
        const ir::RegId m = mask(t);
        op("vf.create_mask", {m}, {}, {{"pattern", isa::enum_value(p)}, {"dtype", t}});
        return m;
    }
    ir::RegId load(ir::TileVarId tile, DType t, ir::OperandValue offset = std::monostate{},
                   const FunctionBuilder::Keywords& keywords = {}) {
        const ir::RegId r = reg(t);
        op("vf.load_align", {r}, {ir::MemoryRef{tile, {}}, std::move(offset)}, keywords);
        return r;
    }
    void store(ir::TileVarId tile, ir::RegId r, ir::RegId m, ir::OperandValue offset = std::monostate{},
               const FunctionBuilder::Keywords& keywords = {}) {
        op("vf.store_align", {}, {ir::MemoryRef{tile, {}}, r, m, std::move(offset)}, keywords);
    }
};

/// in tiles -> vector call -> out tiles; all tiles are read and written by the call.
template <class Fill>
execute::Outcome call(VectorOp& op, Fill&& fill, execute::ExecuteOptions o = {}) {
    return op.run(
        [&](FunctionBuilder& b, const Tiles& t) {
            b.vector_call("f", t, std::vector<isa::Role>(t.size(), isa::Role::read_write), [&] {
                Vf v{b};
                fill(v, t);
            });
        },
        o);
}

} // namespace pto::testing
