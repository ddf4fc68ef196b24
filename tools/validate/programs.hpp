#pragma once
/// Instruction programs of published kernels, as records: the input of timing without the language in between.

#include "engine/execute/record.hpp"
#include "engine/machine/chip.hpp"

#include <string>

namespace pto::validate {

/// A double-buffered matmul C[m,n] = A[m,k] B[k,n], blocks of base_m x base_n x base_k, step_k of them a load.
struct Gemm {
    std::int64_t m = 0, n = 0, k = 0;
    int base_m = 128, base_n = 256, base_k = 64;
    int step_k = 4;                 // base_k blocks that one load into L1 brings
    int cores = 24, grid_m = 4, grid_n = 6; // cores as a grid over C
    isa::DType dtype = isa::DType::fp16;    // of A and B
    int out_bytes = 2;              // of an element of C
    bool mx_scales = false;         // one scale byte for 32 elements along K
    bool unit_flag = false;         // fixpipe follows the matmul block by block
    bool l1_double_buffer = true;   // false: one L1 slot, loads wait for the moves
    double sample = 1;              // share of each core's tiles that is built; times scale with it
};
/// The record and how much of the kernel it stands for.
struct Program {
    execute::Record record;
    double whole = 1;               // kernel's tiles / tiles built, of the most loaded core
};
Program gemm(const Gemm& g, const machine::Chip& chip);

/// Elementwise kernel over `elements`: loads `inputs` tiles, one vector item, stores one tile; `buffers` sets of buffers.
struct Elementwise {
    std::int64_t elements = 0;
    int cores = 48, tile_elements = 4096, inputs = 2, buffers = 1, element_bytes = 2;
    std::string timing = "vector.add";      // of the vector item, or "vector_function"
    isa::DType dtype = isa::DType::fp16;
    std::vector<std::pair<std::string, double>> per_line; // register operations for a 256-byte line, for "vector_function"
    bool same_bank_group = false;   // both sources start in one bank group of UB
    int row_bytes = 0;              // contiguous GM bytes; 0 = the whole tile
};
Program elementwise(const Elementwise& e, const machine::Chip& chip);

/// Copies GM to UB or L1 and nothing else.
struct Copy {
    std::int64_t rows = 0, row_elements = 0;
    int tile_rows = 0, tile_columns = 0, reads = 1, cores = 48, element_bytes = 2;
    bool to_l1 = false, sliced = false;     // sliced: all reads of one quarter before the next
};
Program copy(const Copy& c, const machine::Chip& chip);

/// Attention forward, one head: per task a cube stage (QK), a vector stage (softmax), a cube stage (PV) and a vector stage (update),
/// handed over through global memory (A2/A3), pipelined `depth` tasks deep.
struct Attention {
    std::int64_t rows = 0, columns = 0; // S0, S1
    int head = 128, tile_rows = 128, tile_columns = 256, cores = 24, depth = 2;
};
Program attention(const Attention& a, const machine::Chip& chip);

/// Matmul tiles handed to vector work through a ring of `depth` workspace slots (grouped matmul with dequant and gelu).
struct MixRing {
    std::int64_t m = 0, n = 0, k = 0;       // per launch
    int base_m = 128, base_n = 256, base_k = 128, cores = 24, vectors = 2, depth = 1, vector_buffers = 1;
    double vector_lines_factor = 1;         // vector cycles for a 256-byte fp32 line of the tile
    isa::DType dtype = isa::DType::int8;
};
Program mix_ring(const MixRing& r, const machine::Chip& chip);

} // namespace pto::validate
