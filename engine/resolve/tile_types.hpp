#pragma once
/// pl.TileType: its arguments and the rules between them. Source: language reference 2.3, 2.4.

#include "engine/resolve/value.hpp"

#include <array>

namespace pto::resolve {

/// In the order of the signature; unbound or None: not given.
struct TileTypeArguments {
    static constexpr std::array<std::string_view, 8> names{"shape", "dtype", "target_memory", "valid_shape", "layout", "fractal", "pad", "compact"};
    std::array<Value, 8> values;
};

/// The type, or which argument is wrong and why.
std::optional<isa::TileType> build_tile_type(const TileTypeArguments& arguments, std::size_t& wrong, std::string& why);

/// Bytes a constant address in a memory must be a multiple of; 1 where nothing checks it.
std::int64_t address_alignment(isa::MemorySpace memory);

} // namespace pto::resolve
