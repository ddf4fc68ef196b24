/// Scalar pipe: element access, valid shapes, descriptors, masks of old kernels, cache. Source: language 3.10, 3.4, 2.6.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;

void add_scalar(Catalogue& c) {
    Operand container{"container", K::tile_or_tensor, Role::read, false, vec, any_set};
    c.add({.name = "getval", .family = "scalar", .operands = {container, number("off")}, .pipe = PipeRule::s, .semantics = Semantics::getval,
           .result = "scalar", .result_type = ResultType::first, .timing = "scalar.element", .emit = "{0}.GetValue({1})",
           .doc = "Element at a linear offset of a Vec tile or tensor, as a scalar; container[i, j] is the same with indices.",
           .source = "language 3.10; codegen 2.1"});
    container.role = Role::write;
    c.add({.name = "setval", .family = "scalar", .operands = {container, number("off"), number("value")}, .pipe = PipeRule::s,
           .semantics = Semantics::setval, .timing = "scalar.element", .emit = "{0}.SetValue({1}, {2})",
           .doc = "Writes a scalar, converted to the element type, at a linear offset; container[i, j] = v is the same with indices.",
           .source = "language 3.10; codegen 2.1"});
    c.add({.name = "set_validshape", .family = "scalar", .operands = {{"tile", K::tile_or_group, Role::none}, numbers("shape")},
           .semantics = Semantics::set_validshape, .descriptor_only = true, .timing = "scalar.issue", .emit = "{0}.SetValidShape({1.0}, {1.1})",
           .doc = "Changes how many rows and columns of a tile, or of every slot of a group, count as valid. Touches no data and takes no lock.",
           .source = "language 3.10"});
    c.add({.name = "set_stride", .family = "scalar", .operands = {{"tensor", K::tensor, Role::none}, numbers("strides")},
           .semantics = Semantics::set_stride, .descriptor_only = true, .timing = "scalar.issue",
           .emit = "{0}.SetStride<pto::GlobalTensorDim::DIM_3, pto::GlobalTensorDim::DIM_4>({1.0}, {1.1})",
           .doc = "Overwrites the last two strides, in elements, that later loads and stores of this tensor use.",
           .source = "language 2.6"});
    c.add({.name = "set_vec_mask", .family = "scalar", .operands = {number("hi"), number("lo")}, .semantics = Semantics::vector_mask,
           .timing = "scalar.issue", .emit = "set_vector_mask({0}, {1})",
           .doc = "Sets the 128-bit vector mask register of old kernels; tile operations manage their own masks, so only vf.get_mask_spr sees it.",
           .source = "language 3.10"});
    c.add({.name = "set_mask_count", .family = "scalar", .semantics = Semantics::vector_mask, .timing = "scalar.issue", .emit = "set_mask_count()",
           .doc = "Lets the low word of the vector mask register mean a count of elements.", .source = "language 3.10"});
    c.add({.name = "set_mask_norm", .family = "scalar", .semantics = Semantics::vector_mask, .timing = "scalar.issue", .emit = "set_mask_norm()",
           .doc = "Lets the vector mask register mean one bit per lane.", .source = "language 3.10"});
    c.add({.name = "reset_mask", .family = "scalar", .semantics = Semantics::vector_mask, .timing = "scalar.issue",
           .emit = "set_vector_mask(0xffffffffffffffff, 0xffffffffffffffff)", .doc = "Sets every bit of the vector mask register.", .source = "language 3.10"});
    c.add({.name = "system.dcci", .family = "scalar",
           .operands = {{"target", K::tile_or_tensor, Role::none, false, vec, any_set}, {"offset", K::offset, Role::read, true}},
           .keywords = {choice("cache_line", EnumKind::CacheLine, "ENTIRE_DATA_CACHE"), choice("dst", EnumKind::DcciDst, "AUTO")},
           .semantics = Semantics::cache, .descriptor_only = true, .timing = "scalar.cache",
           .doc = "Writes back and invalidates the scalar data cache, one line or all of it: required between scalar access to global memory and DMA.",
           .source = "language 3.10"});
    c.add({.name = "system.set_mm_layout_transform", .family = "scalar", .keywords = {key("enabled", KeywordKind::boolean, {}, true)},
           .semantics = Semantics::layout_transform, .descriptor_only = true, .timing = "scalar.issue",
           .doc = "Switches the order in which the matrix unit reads out along N; affects speed only.", .source = "language 3.4; codegen 2.2"});
}

} // namespace pto::isa
