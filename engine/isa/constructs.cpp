#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {

void add_constructs(Catalogue&) {}

} // namespace pto::isa
