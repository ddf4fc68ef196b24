#pragma once
/// How far apart two spellings are: what "did you mean" suggestions are made with.

#include <cstddef>
#include <string_view>

namespace pto {

/// Fewest single-byte insertions, deletions and replacements that turn one name into the other. Two swapped letters count 2.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The largest distance at which a suggestion for this name still helps.
std::size_t suggestion_limit(std::string_view name);

} // namespace pto
