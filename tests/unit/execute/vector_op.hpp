#pragma once
/// One vector operation between loads and stores, on random patterns: the harness of the family tests.

#include "launch.hpp"

#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/numerics/tile_copy.hpp"

#include <memory>
#include <random>

namespace pto::testing {

using isa::DType;

/// A matrix of patterns in host memory, row-major.
struct Matrix {
    DType type = DType::fp32;
    int rows = 0, cols = 0;
    std::vector<std::uint8_t> bytes;
    Matrix() = default;
    Matrix(DType t, int r, int c, std::uint8_t fill = 0xAB)
        : type(t), rows(r), cols(c), bytes(std::size_t(isa::bytes(t, std::int64_t(r) * c)), fill) {}
    std::uint64_t get(int r, int c) const {
        return numerics::read_element(reinterpret_cast<const std::byte*>(bytes.data()), isa::bits(type),
                                      std::int64_t(r) * cols + c);
    }
    void set(int r, int c, std::uint64_t p) {
        numerics::write_element(reinterpret_cast<std::byte*>(bytes.data()), isa::bits(type), std::int64_t(r) * cols + c,
                                p);
    }
    double value(int r, int c) const {
        const std::uint64_t p = get(r, c);
        if (type == DType::fp32) return double(std::bit_cast<float>(std::uint32_t(p)));
        if (isa::is_float(type)) return double(numerics::decode(type, std::uint32_t(p)));
        const int shift = 64 - isa::bits(type);
        return isa::is_signed_int(type) ? double(std::int64_t(p << shift) >> shift) : double(p);
    }
    void set_value(int r, int c, double v) {
        if (isa::is_float(type))
            set(r, c, numerics::encode(type, v));
        else
            set(r, c, std::uint64_t(std::int64_t(v)));
    }
};

inline Matrix random_matrix(std::mt19937& g, DType t, int rows, int cols, double low = -8, double high = 8) {
    Matrix m(t, rows, cols);
    std::uniform_real_distribution<double> d(low, high);
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
            m.set_value(r, c, isa::is_float(t) ? d(g) : std::trunc(isa::is_unsigned_int(t) ? std::abs(d(g)) : d(g)));
    return m;
}

/// Runs `fill(builder, tiles, tensors)` between a load of every input and a store of every output.
struct VectorOp {
    struct Slot {
        Matrix* data;
        isa::TileType type;
        int valid_rows, valid_cols;
        bool load, store;
        std::int64_t address;
    };
    std::vector<Slot> slots;
    std::int64_t next = 0;

    int add(Matrix& m, int valid_rows, int valid_cols, bool load, bool store, isa::Layout layout = isa::Layout::nd) {
        isa::TileType t = tile_type(m.rows, m.cols, isa::MemorySpace::vec, m.type);
        t.layout = layout;
        slots.push_back({&m, t, valid_rows, valid_cols, load, store, next});
        next += (t.byte_size() + 31) / 32 * 32 + 1024;
        return int(slots.size()) - 1;
    }
    template <class Fill>
    execute::Outcome run(Fill&& fill, execute::ExecuteOptions o = {}) {
        KernelBuilder k;
        auto& b = k.vector;
        std::vector<ir::TileVarId> tiles;
        std::vector<ir::TensorId> tensors;
        std::vector<std::unique_ptr<std::vector<std::uint8_t>>> keep;
        for (Slot& s : slots) {
            tensors.push_back(k.tensor("t" + std::to_string(tensors.size()), s.data->bytes,
                                       {s.data->rows, s.data->cols}, s.data->type));
            tiles.push_back(
                b.slot(b.group("g" + std::to_string(tiles.size()), s.type, {s.address}, {std::int32_t(tiles.size())})));
            b.op("set_validshape", {tiles.back(), ir::ExprList{b.num(s.valid_rows), b.num(s.valid_cols)}});
        }
        for (std::size_t i = 0; i < slots.size(); ++i)
            if (slots[i].load) b.op("load", {tiles[i], tensors[i], ir::ExprList{b.num(0), b.num(0)}});
        fill(b, tiles);
        for (std::size_t i = 0; i < slots.size(); ++i)
            if (slots[i].store) b.op("store", {tensors[i], tiles[i], ir::ExprList{b.num(0), b.num(0)}});
        program = k.build(false, true);
        return testing::run(program, k.arguments, o);
    }
    program::Program program;
};

} // namespace pto::testing
