/// Printing and checking inside a kernel. Source: language 6; codegen 2.5.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;

void add_debug(Catalogue& c) {
    Keyword loc = key("loc", KeywordKind::boolean, "False");
    c.add({.name = "printf", .family = "debug", .operands = {{"fmt", K::text, Role::read}, {"args", K::scalars, Role::read, true}}, .keywords = {loc},
           .semantics = Semantics::print, .timing = "scalar.print",
           .doc = "Prints scalars from the device; conversions d i u x f p with flags, width and precision. loc=True prefixes file and line.",
           .source = "language 6.1"});
    c.add({.name = "pto_assert", .family = "debug",
           .operands = {number("cond"), {"fmt", K::text, Role::read, true}, {"args", K::scalars, Role::read, true}}, .keywords = {loc},
           .semantics = Semantics::assertion, .timing = "scalar.print",
           .doc = "Prints the condition's text (and a message when one is given) when a BOOL condition is false. The kernel goes on.",
           .source = "language 6.2"});
    c.add({.name = "trap", .family = "debug", .semantics = Semantics::trap, .timing = "scalar.issue", .emit = "return",
           .doc = "Leaves the program of this core; work already issued still completes.", .source = "language 6.3"});
    c.add({.name = "dump_data", .family = "debug",
           .operands = {{"data", K::tile_or_tensor, Role::read, false, vec_acc, any_set}, numbers("offsets", true), numbers("shapes", true)},
           .keywords = {key("workspace", KeywordKind::tensor), loc, key("flag", KeywordKind::text)},
           .pipe = PipeRule::v, .semantics = Semantics::dump, .timing = "scalar.print",
           .doc = "Prints a tensor, a Vec tile or (through a workspace tensor) an Acc tile, whole or a window of it.", .source = "language 6.4"});
}

} // namespace pto::isa
