#pragma once
/// Flags between blocks: declared with the rest of the scalar unit.
#include <pto/pto-inst.hpp>
