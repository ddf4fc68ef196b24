#pragma once
/// Instruction programs of published kernels, as records: the input of timing without the language in between.
///
/// They do what the published text says the kernel does (blocks, buffers, depth); where it says nothing they do the obvious thing, the same
/// for every table. None knows a measured time.

#include "engine/execute/record.hpp"
#include "engine/machine/chip.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pto::validate {

/// A matmul C[m,n] = A[m,k] B[k,n], blocks of base_m x base_n x base_k, step_k of them a load.
struct Gemm {
    std::int64_t m = 0, n = 0, k = 0;
    int base_m = 128, base_n = 256, base_k = 64;
    int step_k = 4;                         // base_k blocks that one load into L1 brings
    int cores = 24, grid_m = 4, grid_n = 6; // cores as a grid over C
    int a_step_k = 0;                       // the same of A alone; 0: as step_k
    isa::DType dtype = isa::DType::fp16;    // of A and B
    std::optional<isa::DType> rate_of;      // the type whose rate the cube works at, where it is not dtype's
    int out_bytes = 2;                      // of an element of C
    bool mx_scales = false;                 // one scale byte for 32 elements along K
    int scale_panels = 1;                   // loads of A and B that one load of their scales is for
    /// How B stands in memory: along N, along K (transposed), in stripes of 32 bytes of N over all of K, or in blocks of 16 of K over all of N.
    enum class Order { rows, columns, stripes, blocks } b_order = Order::rows;
    bool rows_first = false;                // all tiles of a row of tiles before the next row
    bool unit_flag = false;                 // fixpipe follows the matmul block by block
    bool l1_double_buffer = true;           // false: one L1 slot, loads wait for the moves
    bool preload = true;                    // false: a tile's first load waits until the tile before is multiplied
    bool a_stays = false;                   // the rows of A that a core works on are loaded once and stay in L1
    /// im2col: A's rows are windows of kernel x kernel over an image with 16 channels innermost; a load brings the rows of the image that
    /// a tile's windows touch, and the move to L0 spreads them.
    struct Image {
        int kernel = 1, height = 0, width = 0;
    } image;
    bool deal = false;                      // tiles dealt out one after the other instead of a grid of cores
    bool cut_tail = false;                  // of dealt tiles: the last, incomplete round is cut so that every core has a part
    int groups = 1;                         // parts of the rows of A, each with a B of its own
    int scalar_per_step = 0;                // scalar instructions of a library in each step along K
    int k_parts = 1;                        // cores that share a tile of C, each with its part of K
};
execute::Record gemm(const Gemm& g, const machine::Chip& chip);

/// One vector item of a tile: a tile operation by timing key, or a vector function by its register operations for a 256-byte line.
struct Item {
    std::string timing;                                   // "vector.add"; "vector_function"
    std::vector<std::pair<std::string, double>> per_line; // of a vector function
    double share = 1;                                     // lines of the item / lines of the tile
    bool clash = false;                                   // both sources start in one bank group of UB
};

/// Elementwise work: loads `inputs` tiles, vector items, stores one tile. `buffers` sets of buffers for the way in and the way out.
struct Elementwise {
    std::int64_t elements = 0;
    int cores = 48, tile_elements = 4096, inputs = 2, buffers = 1, element_bytes = 2;
    isa::DType dtype = isa::DType::fp16;
    std::int64_t apart = 0;                 // bytes between the input and the output
    bool past_l2 = false;                   // the way in bypasses L2, which leaves it to what is written
    std::vector<Item> items;
};
execute::Record elementwise(const Elementwise& e);

/// Copies GM to UB or L1 and nothing else.
struct Copy {
    std::int64_t rows = 0, columns = 0;
    int tile_rows = 64, tile_columns = 1024, reads = 1, cores = 48, element_bytes = 2;
    bool to_l1 = false, sliced = false;                   // sliced: all reads of one quarter of the columns before the next
    bool everything = false, past_l2 = false;             // everything: each core reads all of it; past_l2: nothing is reused
    int least_bytes = 0;                                  // that HBM delivers for a row past L2
};
execute::Record copy(const Copy& c);

/// Matmul tiles handed to vector cores through a ring of `depth` slots.
struct MixRing {
    Gemm gemm;
    int vectors = 2, depth = 1, vector_buffers = 1, pieces = 4; // a vector core works on its share of a tile in pieces
    int piece_rows = 0;                                   // > 0: pieces of so many rows are dealt out to the vector cores instead
    bool through_gm = true;                               // false: L0C to UB
    bool in_place = false;                                // the ring is C itself: every tile has its own place and nobody waits for a free slot
    bool scalar_waits = false;                            // the scalar unit waits for the other side, so nothing is issued meanwhile
    bool barriers = false;                                // of V after each vector item
    int scalar_per_piece = 0;                             // scalar instructions of a library between the vector items of a piece
    bool scales = false;                                  // a load of a row's scales for each piece, of the columns' for each tile
    int tiles_at_once = 1;                                // neighbouring tiles of a row of tiles that go to one core
    int in_bytes = 4, out_bytes = 2;                      // of an element handed over, written
    std::vector<Item> items;
};
execute::Record mix_ring(const MixRing& r, const machine::Chip& chip);

/// Attention forward, one head: per block of keys a QK stage (cube), softmax (vector), a PV stage (cube), update (vector), handed over
/// through global memory, `depth` blocks ahead. Every core works on `row_tiles` tiles of queries one after the other.
struct Attention {
    std::int64_t columns = 0;                             // S1
    int head = 128, tile_rows = 128, tile_columns = 256, cores = 24, row_tiles = 1, depth = 2;
};
execute::Record attention(const Attention& a, const machine::Chip& chip);

/// Element by element on the scalar unit: two reads, a sum, a write.
execute::Record scalar_sum(int elements);

/// Loads of `bytes` in `parts`, each complete before the next; all of it several times.
execute::Record load_parts(std::int64_t bytes, int parts, int times);

/// `count` items of one pipe back to back.
execute::Record series(const execute::Row& row, const execute::Site& site, isa::Core core, int count);

} // namespace pto::validate
