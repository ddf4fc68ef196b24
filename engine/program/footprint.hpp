#pragma once
/// The bytes an operation reads and writes, by layout formulas alone: what a verifier compares. Holds no values and touches no memory.
/// Source: language 3, hardware 2.

#include "engine/isa/tile_map.hpp"
#include "engine/program/instance.hpp"

namespace pto::program {

struct ByteRegion {
    isa::MemorySpace memory = isa::MemorySpace::ddr;
    bool write = false, atomic = false;
    bool exact = true;             // false: somewhere inside `bytes` (unknown offsets, gathers)
    std::uint8_t vector_cores = 0; // Vec memory reached from the cube: bit s = AIV s. 0: the issuing core's own memory
    std::int16_t operand = -1;     // position in the operation; -1 for keyword operands
    ir::TensorId tensor;           // global memory
    ir::TileDeclId decl;           // on-chip memory
    std::int32_t slot = 0;
    isa::Footprint bytes;          // absolute addresses
};

/// Appends the regions of one operation.
///   in     op        from a sequencer; unknown scalars are allowed
///          function  the core's program (slot sizes)
///   out    one region per tile or tensor that is read or written; read and write of one operand are two regions
///   note   vector functions count as touching every byte of their tile arguments; ssbuf and cache operations have no region
void append_regions(const OpInstance& op, const ir::Function& function, std::vector<ByteRegion>& out);

} // namespace pto::program
