#pragma once
/// Every form that generated C++ uses, declared and nothing more. See README.md in this folder's parent.

#include "declared/types.hpp"

#include "declared/tiles.hpp"

#include "declared/instructions.hpp"
#include "declared/registers.hpp"
#include "declared/scalar_unit.hpp"
