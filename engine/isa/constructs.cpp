/// Words of the language that are no instructions: declarations, control flow, queries. The resolver gives them their meaning; completion,
/// help and the documentation read these rows. Source: language 1 and 2.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;
namespace {

Operand value(std::string_view name, bool optional = false) { return {name, K::value, Role::none, optional}; }

} // namespace

void add_constructs(Catalogue& c) {
    auto word = [&](std::string_view name, std::vector<Operand> operands, std::vector<Keyword> keywords, std::string_view result, std::string_view doc,
                    std::string_view source) {
        c.add({.name = name, .family = "constructs", .operands = std::move(operands), .keywords = std::move(keywords), .descriptor_only = true,
               .result = result, .construct = true, .doc = doc, .source = source});
    };
    using KK = KeywordKind;

    word("jit", {value("target", true)},
         {key("arch", KK::text), key("auto_mutex", KK::boolean, "True"), key("name", KK::text), key("pipeline", KK::scalar), key("tiling_key", KK::scalar),
          key("datatype", KK::scalar), key("compile_timeout", KK::integer)},
         "", "Decorator: a device kernel, compiled at the first launch of each variant.", "language 1.2");
    word("kernel", {value("target", true)}, {}, "", "Decorator: a kernel definition without a launcher.", "language 1.2");
    word("vector_function", {value("target", true)}, {}, "", "Decorator: a function of register operations (vf.*), one item of pipe V.", "language 5.1");
    word("simt.function", {value("target", true)}, {key("max_threads", KK::integer)}, "", "Decorator: a SIMT helper, or with max_threads= a launchable function.",
         "language 5.8");
    word("pipeline.stage", {value("target")}, {}, "", "Decorator: a local helper that is a stage of the cube/vector pipeline.", "language 4.7");
    word("pipeline.PipelineConfig", {}, {key("preload", KK::integer, "2"), key("sync_only", KK::boolean, "False")}, "",
         "Options of the pipeline transform, for jit(pipeline=...).", "language 4.7");
    word("section_cube", {}, {}, "", "with pl.section_cube(): statements that only the cube core runs.", "language 1.5");
    word("section_vector", {}, {}, "", "with pl.section_vector(): statements that only the vector cores run.", "language 1.5");
    word("range", {number("start_or_stop"), number("stop", true), number("step", true)}, {}, "",
         "for v in pl.range(...): the only loop iterator. Bounds are evaluated once; the step may be negative but not zero.", "language 1.7");
    word("constexpr", {value("condition")}, {}, "scalar", "A condition that must be known while parsing.", "language 1.6");

    word("Tensor", {value("shape"), value("dtype"), value("layout", true)}, {}, "", "Annotation of a tensor parameter: pl.Tensor[[dims], dtype].", "language 1.4");
    word("Ptr", {value("dtype")}, {}, "", "Annotation of a raw pointer to global memory.", "language 1.4");
    word("Tile", {value("shape"), value("dtype")}, {}, "", "Annotation of a tile parameter of a helper.", "language 1.4");
    word("TileType",
         {numbers("shape"), value("dtype")},
         {choice("target_memory", EnumKind::MemorySpace, "Vec"), key("valid_shape", KK::integer_list), choice("layout", EnumKind::Layout), key("fractal", KK::integer),
          choice("pad", EnumKind::TilePad), key("compact", KK::integer)},
         "tile type", "The type of a tile: physical shape, dtype, memory, layout.", "language 2.4");
    word("make_tile", {value("tile_type")}, {key("addr", KK::integer, {}, true), key("size", KK::integer)}, "tile",
         "One tile at a byte address of its memory. It takes no mutex: synchronise by hand.", "language 2.5");
    word("make_tile_group", {},
         {key("type", KK::scalar, {}, true), key("addrs", KK::integer_list, {}, true), key("mutex_ids", KK::integer_list), key("depth", KK::integer),
          key("fwd_ids", KK::integer_list), key("bwd_ids", KK::integer_list)},
         "tile group", "Slots of one tile type with a cursor; mutex ids give each slot its automatic locks.", "language 2.5");
    word("group.next", {}, {}, "tile", "Advances a group's cursor and gives that slot; the first call gives slot 0.", "language 2.5");
    word("group.current", {}, {}, "tile", "The slot at a group's cursor; before any next() it is the last slot.", "language 2.5");
    word("group.previous", {}, {}, "tile", "The slot before a group's cursor.", "language 2.5");
    word("make_tensor", {value("src"), numbers("shape"), numbers("stride", true)}, {key("dtype", KK::dtype)}, "tensor",
         "A view of a pointer or tensor with its own shape and strides in elements.", "language 2.6");
    word("make_ptr", {value("src")}, {key("dtype", KK::dtype)}, "pointer", "The address of a tensor or pointer, optionally with another element type.", "language 2.6");
    word("addptr", {value("ptr"), number("off")}, {}, "pointer", "A pointer advanced by elements; ptr + off is the same.", "language 2.6");
    word("struct", {{"name", K::text, Role::none}}, {key("fields", KK::scalar)}, "struct", "A mutable record of scalars, one copy per core; lists are fixed arrays.",
         "language 1.10");
    word("struct_array", {number("count"), {"name", K::text, Role::none}}, {key("fields", KK::scalar)}, "struct array", "N records of one struct type.", "language 1.10");
    word("make_tuple", {}, {key("fields", KK::scalar)}, "tuple", "An immutable named tuple of values known while parsing: tiles, tensors, scalars.", "language 1.10");
    word("const", {number("literal"), value("dtype")}, {}, "scalar", "A scalar constant of a given type.", "language 1.9");
    word("min", {number("a"), number("b")}, {}, "scalar", "The smaller of two scalars.", "language 1.9");
    word("max", {number("a"), number("b")}, {}, "scalar", "The larger of two scalars.", "language 1.9");
    word("get_block_idx", {}, {}, "scalar", "Index of this block; in the vector program of a mixed kernel, block * 2 + subblock.", "language 1.5");
    word("get_block_num", {}, {}, "scalar", "Number of blocks of the launch.", "language 1.5");
    word("get_subblock_idx", {}, {}, "scalar", "0 or 1: which vector core of the block this is; 0 elsewhere.", "language 1.5");
    word("get_subblock_num", {}, {}, "scalar", "2 in the vector program of a mixed kernel, else 1.", "language 1.5");
    word("get_spr", {}, {}, "scalar", "The byte count that the last squeeze left in the AR register. Vector only, not inside a vector function.", "language 1.5");
    word("TilingKeyField", {}, {key("bits", KK::integer, {}, true), key("values", KK::integer_list, {}, true)}, "", "A compile-time key of a kernel's variants.",
         "language 7.2");
    word("simt.thread_idx", {}, {}, "scalar", "Thread index with components x, y, z.", "language 5.8");
    word("simt.block_dim", {}, {}, "scalar", "Threads of the launch with components x, y, z.", "language 5.8");
    word("simt.block_idx", {}, {}, "scalar", "Block index with components x, y, z.", "language 5.8");
    word("simt.grid_dim", {}, {}, "scalar", "Number of blocks with components x, y, z.", "language 5.8");
    word("simt.linear_thread_idx", {}, {}, "scalar", "x + bx * (y + by * z).", "language 5.8");
    word("simt.warp_size", {}, {}, "scalar", "Lanes of a warp: 32 on the 950.", "language 5.8");
}

} // namespace pto::isa
