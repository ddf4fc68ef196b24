#pragma once
/// One function a family; each family is one file of rows.

namespace pto::isa {

class Catalogue;
void add_movement(Catalogue& c);
void add_cube(Catalogue& c);
void add_vector(Catalogue& c);
void add_scalar(Catalogue& c);
void add_sync(Catalogue& c);
void add_debug(Catalogue& c);
void add_registers(Catalogue& c);
void add_constructs(Catalogue& c);

} // namespace pto::isa
