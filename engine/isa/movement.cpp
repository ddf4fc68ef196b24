#include "engine/isa/catalogue.hpp"
#include "engine/isa/families.hpp"

namespace pto::isa {

void add_movement(Catalogue&) {}

} // namespace pto::isa
