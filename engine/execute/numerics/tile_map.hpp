#pragma once
/// Layouts and footprints under the names this room uses; verify needs the same formulas, so they live in engine/isa.

#include "engine/isa/tile_map.hpp"

namespace pto::numerics {

using isa::footprint, isa::Footprint, isa::for_each_interval, isa::for_each_run, isa::fractal_width, isa::gm_nz_map,
    isa::overlap, isa::Strided, isa::tile_map, isa::TileMap, isa::window_map;

} // namespace pto::numerics
