#pragma once
/// Hand-built kernels run on host vectors: what the execute tests share.

#include "engine/execute/execute.hpp"
#include "tests/support/ir_builder.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace pto::testing {

/// A kernel under construction: parameters first, then one or two functions.
struct KernelBuilder {
    ir::Kernel kernel;
    execute::LaunchArguments arguments;
    FunctionBuilder cube{isa::Core::cube}, vector{isa::Core::vector};

    /// A tensor parameter over host memory; declared in both functions under one TensorId.
    template <class T>
    ir::TensorId tensor(const std::string& name, std::vector<T>& data, std::vector<std::int64_t> shape,
                        isa::DType type = isa::DType::fp32, isa::Layout layout = isa::Layout::nd) {
        const ir::ParamId id{std::int32_t(kernel.params.size())};
        ir::Param p;
        p.name = name;
        p.dtype = type;
        p.layout = layout;
        for (std::int64_t d : shape) p.dims.push_back({false, d});
        kernel.params.push_back(p);
        execute::Argument a;
        a.buffer = {data.data(), std::int64_t(data.size() * sizeof(T))};
        a.shape = shape;
        arguments.arguments.push_back(a);
        const ir::TensorId t = cube.tensor(name, shape, id, type);
        vector.tensor(name, shape, id, type);
        cube.f.tensors.back().layout = vector.f.tensors.back().layout = layout;
        return t;
    }
    program::Program build(bool use_cube, bool use_vector, bool auto_mutex = true) {
        kernel.name = "k";
        kernel.auto_mutex = auto_mutex;
        if (use_cube) kernel.cube = cube.f;
        if (use_vector) kernel.vector = vector.f;
        return program::assemble(kernel, chip());
    }
    static const machine::Chip& chip() { return *machine::find_chip("ascend950"); }
};

inline execute::Outcome run(const program::Program& p, const execute::LaunchArguments& a,
                            execute::ExecuteOptions o = {}) {
    return execute::execute(p, KernelBuilder::chip(), a, o);
}
inline execute::ExecuteOptions under(const std::string& order) {
    execute::ExecuteOptions o;
    o.order = *execute::parse_order(order);
    return o;
}
inline const execute::Hazard* find_hazard(const execute::Outcome& o, execute::HazardKind kind) {
    for (const execute::Hazard& h : o.hazards)
        if (h.kind == kind) return &h;
    return nullptr;
}
inline bool found(const execute::Outcome& o, execute::HazardKind kind) { return find_hazard(o, kind) != nullptr; }
inline std::string all_messages(const execute::Outcome& o) {
    std::string s = std::string(execute::name(o.status)) + ": " + o.message + "\n";
    for (const execute::Hazard& h : o.hazards)
        s += std::string(execute::name(h.kind)) + ": " + h.message + " | " + h.order + "\n";
    for (const execute::StuckPipe& p : o.hang.stuck)
        s += execute::text(p.core) + " " + std::string(isa::name(p.pipe)) + " waits for " + p.waits_for + " (" +
             p.expected + ")" + (p.is_cause ? " CAUSE" : "") + "\n";
    return s;
}

/// Small deterministic numbers.
inline std::vector<float> numbers(std::size_t n, std::uint32_t seed = 1) {
    std::vector<float> v(n);
    std::uint32_t x = seed * 2654435761u + 12345u;
    for (float& f : v) {
        x = x * 1664525u + 1013904223u;
        f = float(int(x >> 16) % 2001 - 1000) / 256.0f;
    }
    return v;
}

} // namespace pto::testing
