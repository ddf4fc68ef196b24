#pragma once
/// The key under which a chip keeps the cost of an instruction: what the catalogue row says, refined by path and type.

#include "engine/isa/op_row.hpp"

#include <string>

namespace pto::isa {

/// What is known of one instruction when its key is asked for; members that its kind does not have are ignored.
struct TimingFacts {
    MemorySpace source = MemorySpace::ddr, destination = MemorySpace::ddr; // data movement; ddr = global memory
    DType dtype = DType::fp32;                                            // of the left operand of a matmul, else of the widest one
    bool dual = false;                                                    // Acc to Vec in a mode that writes both AIVs
    bool scalar = false;                                                  // the tile_or_scalar operand is a scalar
};

/// "path.gm_vec", "path.acc_vec_dual", "cube.fp16", "vector.add", "sync.flag". Paths read source_destination.
std::string timing_key(const OpRow& row, const TimingFacts& facts);
/// "gm", "vec", "scale_left".
std::string_view path_name(MemorySpace memory);

} // namespace pto::isa
