#pragma once
/// Kernels of a cube side and a vector side, built by hand, and what the verifier says about them.

#include "engine/verify/verify.hpp"
#include "tests/support/ir_builder.hpp"

#include <functional>

namespace pto::testing {

inline machine::Chip chip() {
    machine::Chip c;
    c.arch = "a5";
    return c;
}

using Side = std::function<void(FunctionBuilder&)>;

/// Tensors x (dynamic rows, 64 columns) and y (64 rows, or dynamic ones), and scalars of a type.
inline std::vector<ir::Param> parameters(int scalars, isa::DType type, bool dynamic_y = false) {
    std::vector<ir::Param> out;
    for (bool dynamic : {true, dynamic_y}) {
        ir::Param p;
        p.dims = {{dynamic, 64}, {false, 64}};
        out.push_back(p);
    }
    for (int i = 0; i < scalars; ++i) {
        ir::Param n;
        n.kind = ir::ParamKind::scalar, n.dtype = type;
        out.push_back(n);
    }
    return out;
}

/// A kernel of one or two sides with parameters x, y and one INT32.
inline verify::Verdict judge(const Side& cube, const Side& vector, const verify::VerifyOptions& options = {}, const machine::Chip& c = chip(), bool dynamic_y = false) {
    ir::Kernel k;
    k.name = "k";
    k.params = parameters(1, isa::DType::int32, dynamic_y);
    if (cube) {
        FunctionBuilder b(isa::Core::cube);
        cube(b);
        k.cube = std::move(b.f);
    }
    if (vector) {
        FunctionBuilder b(isa::Core::vector);
        vector(b);
        k.vector = std::move(b.f);
    }
    return verify::verify(program::assemble(std::move(k), c), c, options);
}
inline ir::TensorId x_of(FunctionBuilder& b) { return b.tensor("x", {-1, 64}, ir::ParamId{0}); }
inline ir::TensorId y_of(FunctionBuilder& b) { return b.tensor("y", {64, 64}, ir::ParamId{1}); }

} // namespace pto::testing
