#pragma once
/// A vector function decoded once: a flat list of register operations and scalar code over a register file. Source:
/// language 5.
///
/// The list is shared by all calls; a Frame holds what one call works on. Registers are named by place, scalars by
/// cell, tiles by argument number. Handlers get their operands ready-made: no names, no variants, no allocation.

#include "engine/execute/call.hpp"
#include "engine/execute/numerics/lanes.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pto::execute::registers {

using isa::DType;
inline constexpr int vector_bytes = 256;

/// A vector register with the shadow of its bytes; `full` says that every byte is known and the shadow is not kept.
struct alignas(64) Vector {
    std::byte data[vector_bytes];
    std::byte known[vector_bytes];
    bool full = false, written = false;
};
/// 256 bits; of a lane's group only the lowest counts.
struct Mask {
    std::array<std::uint64_t, 4> bits{};
    bool written = false;
    bool at(int bit) const { return bits[std::size_t(bit >> 6)] >> (bit & 63) & 1; }
    void set(int bit) { bits[std::size_t(bit >> 6)] |= std::uint64_t(1) << (bit & 63); }
};

struct Cell {
    std::int64_t integer = 0;
    double real = 0;
};

/// Scalar three-address code.
struct ScalarOp {
    ir::ExprOp op = ir::ExprOp::integer;
    bool real = false;          // operands are reals
    DType dtype = DType::index; // of the result
    std::int32_t dst = 0, a = 0, b = 0, c = 0;
};

enum class Control : std::uint8_t { operation, assign, jump, branch, loop_enter, loop_next, finish };

struct Frame;
struct Instr;
using Handler = void (*)(Frame&, const Instr&);

struct Instr {
    Control control = Control::operation;
    Handler run = nullptr;
    std::int32_t scalars_begin = 0, scalars_end = 0; // scalar code before it
    std::int16_t d0 = -1, d1 = -1;                   // results: vector or mask place
    std::int16_t a = -1, b = -1, m = -1, m2 = -1;    // sources and mask
    std::int16_t tile = -1, cursor = -1, stream = -1;
    std::int32_t s0 = -1, s1 = -1, s2 = -1, s3 = -1; // cells
    std::int32_t offset = -1;                        // memory operations: cell of the element offset, -1 none
    std::int32_t base = -1;                          // memory operations: cell of `tile + off`, -1 none
    std::int32_t column_stride = 0; // [row, col] offsets: elements of a row; then s2, s3 hold row and column
    std::int16_t address = -1;      // address register place
    DType type = DType::fp32, to = DType::fp32; // element type worked on; result type where it differs
    DType memory_type = DType::fp32;            // the tile's
    std::uint8_t mode = 0;                      // dist, pattern, layout ... by handler
    std::uint8_t rounding = 0, saturate = 0, part = 0, copy_mode = 0;
    bool merging = false, post_update = false, scalar = false, mask_form = false, datablock = false,
         count_given = false;
    union {
        num::UnaryKernel unary;
        num::BinaryKernel binary;
        num::TernaryKernel ternary;
        num::CompareKernel compare;
    } kernel{nullptr};
    isa::LaneFn lane = isa::LaneFn::none;
    std::int32_t target = 0, loop = -1;
    std::int32_t timing = -1;    // index into Code::timing
    std::int32_t run_index = -1; // memory operations: index into Frame::runs
    Span at;
    const isa::OpRow* row = nullptr;
};

struct Code {
    std::vector<Instr> instrs;
    std::vector<ScalarOp> scalars;
    std::vector<Cell> cells;                 // initial: literals filled in
    std::vector<std::int32_t> capture_cells; // aligned with VectorCall::captures
    std::vector<bool> capture_real;
    struct Query {
        ir::ExprOp op;
        std::int32_t cell;
        std::int32_t id = -1, axis = 0; // dim: tensor; valid_dim: tile
    };
    std::vector<Query> queries;      // block_idx and the like
    std::vector<std::string> timing; // keys, sorted at the end of decoding is not needed: the record sorts
    std::int32_t vectors = 0, masks = 0, addresses = 0, streams = 0, loops = 0, tiles = 0, memory_sites = 0;
    struct CursorSite {
        std::int16_t tile;
        std::int32_t base;
    };
    std::vector<CursorSite> cursors;        // one per tile and `tile + off`
    std::vector<std::int32_t> thread_cells; // SIMT: x, y, z of the thread
};

/// Decodes; throws Stop for what a vector function may not contain.
std::shared_ptr<const Code> decode(const ir::Function& f, const ir::VectorCall& call);
/// The body that every thread of a SIMT launch runs.
std::shared_ptr<const Code> decode(const ir::Function& f, const ir::SimtLaunch& launch);

/// Bytes that one memory instruction touches during a call, kept as equally spaced runs.
struct Runs {
    bool write = false;
    std::int16_t tile = -1;
    std::int64_t begin = 0, end = 0; // run being built
    std::int64_t base = 0, bytes = 0, stride = 0, count = 0;
    std::vector<num::Strided> done;
    void add(std::int64_t first, std::int64_t n);
    void close();
    void flush();
    void clear() {
        begin = end = base = bytes = stride = count = 0;
        done.clear();
    }
};

struct LoopState {
    std::int64_t value = 0, step = 1, left = 0;
};

/// One call.
struct Frame {
    Call* call = nullptr;
    const Code* code = nullptr;
    std::vector<Vector> vectors;
    std::vector<Mask> masks;
    std::vector<std::int64_t> addresses;                 // element offsets of address registers
    std::vector<bool> stream_open;                       // unaligned stores not yet posted
    std::vector<std::int64_t> cursors;                   // byte addresses; -1 not used yet
    std::vector<std::int64_t> tile_address, tile_stride; // by argument
    std::vector<Cell> cells;
    std::vector<LoopState> loops;
    std::vector<std::int64_t> counts; // by timing key
    std::vector<Runs> runs;           // by memory instruction
    std::int64_t iterations = 0, operations = 0;
    Memory* ub = nullptr;
    bool check = false;                             // keep shadows and access ranges
    std::int64_t stored_first = 0, stored_last = 0; // hull of stores since the last store-to-load barrier
    bool order_said = false;

    std::byte* at(const Instr& i, std::int64_t address, std::int64_t bytes, bool write);
    /// Byte address of a memory operand, with its offset; post-update forms advance their cursor by `step` elements
    /// afterwards.
    std::int64_t address_of(const Instr& i);
};

/// Result of a lane operation into a register: selected lanes from `result`, the others zero or as they were.
void settle(Frame& f, const Instr& i, const void* result, int width);
/// The same where compute(out) writes the result: straight into the register when every lane is selected, so the
/// sources may be the register itself and nothing else of it.
template <class F>
void settle_computed(Frame& f, const Instr& i, int width, F&& compute);
/// The lanes of a mask as bytes 0 or 1.
void lanes_of(const Mask& m, int width, std::uint8_t* chosen);
/// Is every lane selected? `at`: bytes into the lane, where a narrower value in it is what counts.
inline bool all_lanes(const Mask& m, int width, int at = 0) {
    constexpr std::uint64_t significant[9] = {0, ~0ull, 0x5555555555555555ull, 0, 0x1111111111111111ull, 0, 0, 0, 0x0101010101010101ull};
    const std::uint64_t wanted = significant[width] << at;
    return (m.bits[0] & m.bits[1] & m.bits[2] & m.bits[3] & wanted) == wanted;
}
void spread_known(Vector& to, const Vector& a);
Mask mask_of_lanes(const std::uint8_t* chosen, int width);
inline int lane_width(DType t) { return isa::bits(t) < 8 ? 1 : isa::bits(t) / 8; }

template <class F>
void settle_computed(Frame& f, const Instr& i, int width, F&& compute) {
    Vector& d = f.vectors[std::size_t(i.d0)];
    if (i.m < 0 || all_lanes(f.masks[std::size_t(i.m)], width)) {
        compute(d.data);
        d.written = true;
        return;
    }
    alignas(64) std::byte out[vector_bytes];
    compute(out);
    settle(f, i, out, width);
}

/// Handlers by semantics; null when the operation does not exist.
Handler lane_handler(Instr& i);
Handler memory_handler(const Instr& i, isa::Semantics s);
Handler permute_handler(const Instr& i, isa::Semantics s);
Handler cast_handler(const Instr& i);
Handler element_handler(bool write);

/// Runs the frame's code from its beginning to its end.
void walk(Frame& f);
/// What the memory instructions touched, as accesses of the call, for the checks that follow.
void hand_over_runs(Frame& f, Call& c);
/// Storage for a call of `code`, captures and queries filled in; `first_capture` is the operand where captures begin.
void prepare(Frame& f, Call& c, const Code& code, int first_capture);

extern const Meaning call_meaning, threads_meaning;

} // namespace pto::execute::registers
