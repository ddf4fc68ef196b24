/// Movement between global memory, on-chip memories and the exchange buffer. Source: language 3.1 to 3.3; codegen 2.1.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;
namespace {

constexpr std::uint32_t loadable = i8_to_64 | f16_b16_32 | bit_set({D::fp8e4m3, D::fp8e5m2, D::fp8e8m0, D::fp4e2m1, D::fp4e1m2, D::hf8});

Operand gm(std::string_view name, Role role) { return {name, K::tensor, role, false, any_set, loadable}; }

std::vector<Keyword> store_keywords() {
    return {choice("relu_pre_mode", EnumKind::ReluPreMode), key("scale", KeywordKind::scale), key("order", KeywordKind::integer_list),
            choice("atomic", EnumKind::AtomicType, "AtomicNone"), choice("phase", EnumKind::StPhase)};
}

} // namespace

void add_movement(Catalogue& c) {
    c.add({.name = "load", .family = "movement",
           .operands = {out(loadable, "dst", vec_mat), gm("src", Role::read), numbers("offsets")},
           .keywords = {key("order", KeywordKind::integer_list)},
           .pipe = PipeRule::mte2, .semantics = Semantics::load, .shape = ShapeRule::window, .timing = "load", .emit = "TLOAD({0}, {1})",
           .doc = "Copies the window of a tensor that starts at `offsets` (elements, one per axis) into a Vec or Mat tile; the window is the "
                  "tile's valid shape. `order=[p, q]` names the tensor axes that feed rows and columns; a descending order reads transposed.",
           .source = "language 3.1"});
    c.add({.name = "load_tile", .family = "movement",
           .operands = {out(loadable, "dst", vec_mat), gm("src", Role::read), numbers("idx")},
           .keywords = {key("order", KeywordKind::integer_list)},
           .pipe = PipeRule::mte2, .semantics = Semantics::load, .shape = ShapeRule::window, .timing = "load", .emit = "TLOAD({0}, {1})",
           .doc = "As load, but the indices of the two selected axes count whole tiles: they are multiplied by the tile's shape.",
           .source = "language 3.1"});
    c.add({.name = "store", .family = "movement",
           .operands = {gm("dst", Role::write), in("src", any_set, vec_acc), numbers("offsets")}, .keywords = store_keywords(),
           .pipe = PipeRule::by_source, .semantics = Semantics::store, .shape = ShapeRule::window, .timing = "store", .emit = "TSTORE({0}, {1})",
           .doc = "Writes a tile's valid region to a tensor at `offsets`. From Acc the fixpipe may convert, scale, apply relu and add atomically; "
                  "from Vec element widths must agree.",
           .source = "language 3.1, 3.2"});
    c.add({.name = "store_tile", .family = "movement",
           .operands = {gm("dst", Role::write), in("src", any_set, vec_acc), numbers("idx")}, .keywords = store_keywords(),
           .pipe = PipeRule::by_source, .semantics = Semantics::store, .shape = ShapeRule::window, .timing = "store", .emit = "TSTORE({0}, {1})",
           .doc = "As store, but the indices of the two selected axes count whole tiles.",
           .source = "language 3.1, 3.2"});
    c.add({.name = "move", .family = "movement",
           .operands = {out(any_set, "dst", bit_set({M::vec, M::mat, M::left, M::right, M::bias, M::scaling, M::scale_left, M::scale_right})),
                        in("src", any_set, bit_set({M::vec, M::mat, M::acc})), numbers("offset", true)},
           .keywords = {choice("acc_to_vec_mode", EnumKind::AccToVecMode), choice("relu_pre_mode", EnumKind::ReluPreMode), key("scale", KeywordKind::scale)},
           .pipe = PipeRule::by_path, .semantics = Semantics::move, .shape = ShapeRule::move, .timing = "move",
           .emit = "TMOV<{RT0}, {RT1}>({0}, {1})",
           .doc = "Copies between on-chip memories: Mat to Left, Right, Bias, Scaling or the MX scale banks; Acc to Vec; Vec to Vec or Mat. With "
                  "`offset` it extracts a part of the source, or inserts into a larger destination. Layouts that differ are converted on the way.",
           .source = "language 3.3"});
    c.add({.name = "insert", .family = "movement",
           .operands = {out(any_set, "dst", mat), in("src"), numbers("offset")},
           .pipe = PipeRule::mte3, .semantics = Semantics::insert, .shape = ShapeRule::insert, .timing = "insert", .emit = "TINSERT({0}, {1}, {2.0}, {2.1})",
           .doc = "Writes an NZ tile of UB into a Mat tile at element position [row, col]; into a ZN destination it lands as its transpose.",
           .source = "language 3.1"});
    c.add({.name = "ssbuf_store", .family = "movement",
           .operands = {{"s", K::structure, Role::read}, number("byte_off")}, .semantics = Semantics::ssbuf_store, .timing = "scalar.ssbuf",
           .doc = "Copies a struct, word by word, to the scalar buffer that the cores of one block share. Ordering between cores is the user's job.",
           .source = "language 3.1"});
    c.add({.name = "ssbuf_load", .family = "movement",
           .operands = {{"s", K::structure, Role::write}, number("byte_off")}, .semantics = Semantics::ssbuf_load, .timing = "scalar.ssbuf",
           .doc = "Copies a struct back from the shared scalar buffer.",
           .source = "language 3.1"});

    // Reachable by name although not exported (language 3.11).
    c.add({.name = "ub_copy", .family = "movement", .operands = {out(), in("src")}, .pipe = PipeRule::v, .semantics = Semantics::move,
           .shape = ShapeRule::move, .timing = "move", .emit = "TMOV<{RT0}, {RT1}>({0}, {1})",
           .doc = "Copies a tile inside UB: move with both ends in Vec.", .source = "language 3.11; codegen 2.1", .hidden_for = "move"});
    c.add({.name = "reshape", .family = "movement", .operands = {out(), in("src")}, .pipe = PipeRule::v, .semantics = Semantics::none,
           .timing = "vector.copy", .emit = "TRESHAPE({0}, {1})",
           .doc = "Views a tile's elements with another shape. Emitted, not simulated.", .source = "language 3.11; codegen 2.1", .hidden_for = "move"});
    c.add({.name = "move_fp", .family = "movement",
           .operands = {out(any_set, "dst", vec_mat), in("src", any_set, bit_set({M::acc})), in("scale", any_set, bit_set({M::scaling}))},
           .pipe = PipeRule::fix, .semantics = Semantics::none, .timing = "move", .emit = "TMOV_FP<{RT0}, {RT1}, {RT2}>({0}, {1}, {2})",
           .doc = "Move from Acc with per-channel factors, in the older spelling of move(scale=tile). Emitted, not simulated.",
           .source = "language 3.11; codegen 2.1", .hidden_for = "move"});
    c.add({.name = "store_fp", .family = "movement",
           .operands = {gm("dst", Role::write), in("src", any_set, bit_set({M::acc})), in("scale", any_set, bit_set({M::scaling})), numbers("offsets")},
           .pipe = PipeRule::fix, .semantics = Semantics::none, .timing = "store", .emit = "TSTORE_FP({0}, {1}, {2})",
           .doc = "Store from Acc with per-channel factors, in the older spelling of store(scale=tile). Emitted, not simulated.",
           .source = "language 3.11; codegen 2.1", .hidden_for = "store"});
}

} // namespace pto::isa
