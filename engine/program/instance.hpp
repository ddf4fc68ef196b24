#pragma once
/// One operation with every operand known: what a core hands to a pipe at run time.

#include "engine/machine/limits.hpp"
#include "engine/program/program.hpp"

#include <array>
#include <string>

namespace pto::program {

/// A tile as a handle: where its bytes are now and how much of it is valid.
struct TileValue {
    const isa::TileType* type = nullptr; // static type of the variable that holds it
    std::int64_t address = 0;            // bytes inside type->memory of the core's own memory
    std::int32_t valid_rows = 0, valid_cols = 0;
    std::int32_t row_stride = 0;         // physical columns (ND) or rows (DN) of the tile the address lies in: sub-views keep the parent's
    ir::TileDeclId decl;                 // storage it lies in
    std::int32_t slot = 0;
    std::int32_t valid_cell = -1;        // which valid-shape cell it shares (sequencer's numbering)
};

/// A tensor view: virtual GM byte address, sizes and strides in elements.
struct TensorValue {
    isa::DType dtype = isa::DType::fp32;
    isa::Layout layout = isa::Layout::nd;
    std::int64_t address = 0;
    std::int32_t rank = 0;
    std::array<std::int64_t, 8> shape{}, stride{};
    std::array<std::int64_t, 2> window_stride{-1, -1}; // rows and columns of the tile as set_stride left them: how a window walks. Offsets count in `stride`
    ir::TensorId tensor;
};

/// A run-time scalar; `known` is false only where a verifier runs without data.
struct Scalar {
    std::int64_t integer = 0;
    double real = 0;
    isa::DType dtype = isa::DType::index;
    bool known = true;
};

struct OperandInstance {
    enum class Kind : std::uint8_t { none, tile, tensor, scalar, list, text, structure, mixed } kind = Kind::none;
    TileValue tile;
    TensorValue tensor;
    Scalar scalar;
    std::vector<Scalar> list;          // offsets, shapes; words of a struct
    std::vector<TileValue> tiles;      // mixed
    std::vector<TensorValue> tensors;  // mixed
};

/// Which iteration of the loops around it an operation belongs to, outermost loop first.
struct Iterations {
    static constexpr int most = 4;
    std::array<std::int32_t, most> at{};
    std::int32_t count = 0;
    bool operator==(const Iterations&) const = default;
};

struct OpInstance {
    const ir::Stmt* stmt = nullptr;              // holds an ir::Op, VectorCall or SimtLaunch
    const isa::OpRow* row = nullptr;             // null for vector calls and SIMT launches
    isa::Pipe pipe = isa::Pipe::s;
    std::vector<OperandInstance> operands;       // as Op::operands; vector calls: tile arguments, then captures
    std::vector<OperandInstance> attributes;     // run-time keyword values (scale, event_id, pipe stay in stmt's attributes when constant)
    std::array<std::int32_t, machine::most_locks> locks{}; // mutex ids taken, ascending
    std::uint8_t lock_count = 0;
    std::int32_t stage = -1;                     // index into CoreCode::stages, -1 outside stages
    std::int64_t task = -1;                      // task number, -1 when unknown
    std::int64_t sequence = 0;                   // program order on its core
    Iterations iterations;
    std::int32_t scalar_instructions = 0;        // scalar work since the previous issue
};

} // namespace pto::program
