#include "tests/unit/check/helper.hpp"

using namespace pto;
using namespace pto::check;
using E = ir::ExprOp;

namespace {

struct Load {
    FunctionBuilder b{isa::Core::vector};
    ir::TensorId x;
    ir::TileVarId t;
    explicit Load(std::vector<std::int64_t> dims = {256, 64}, D tensor = D::fp32, isa::TileType type = tile_type(32, 64, M::vec)) {
        x = b.tensor("x", std::move(dims), {}, tensor);
        t = b.slot(b.group("t", type, {0}));
    }
    ir::ExprList at(std::initializer_list<std::int64_t> offsets) {
        ir::ExprList list;
        for (std::int64_t o : offsets) list.push_back(b.num(o));
        return list;
    }
};

} // namespace

TEST_CASE("constant offsets lie inside the tensor", "[check]") {
    Load good;
    good.b.op("load", {good.t, good.x, good.at({224, 0})});
    CHECK(findings(good.b).empty());
    Load negative;
    negative.b.op("load", {negative.t, negative.x, negative.at({-32, 0})});
    CHECK(only(findings(negative.b), Code::load_offset_range, "offset -32 on axis 0 of `x` is negative"));
    Load outside;
    outside.b.op("load", {outside.t, outside.x, outside.at({256, 0})});
    CHECK(only(findings(outside.b), Code::load_offset_range, "offset 256 on axis 0 of `x`, which has size 256"));
    CHECK(findings(outside.b)[0].severity == Severity::error);
    Load tail;
    tail.b.op("load", {tail.t, tail.x, tail.at({240, 0})});
    Diagnostics found = findings(tail.b);
    CHECK(only(found, Code::window_range, "offset 240 on axis 0 of `x` plus 32 rows of `t` ends at 272, which is beyond its size 256"));
    CHECK(found[0].severity == Severity::warning);
    // With a valid shape that is set, where the window ends is not certain.
    Load shaped;
    shaped.b.op("set_validshape", {shaped.t, shaped.at({16, 64})});
    shaped.b.op("load", {shaped.t, shaped.x, shaped.at({240, 0})});
    CHECK(findings(shaped.b).empty());
    // A dynamic axis has no constant end.
    Load dynamic({-1, 64});
    dynamic.b.op("load", {dynamic.t, dynamic.x, dynamic.at({100000, 0})});
    CHECK(findings(dynamic.b).empty());
}

TEST_CASE("load_tile counts tiles", "[check]") {
    Load l;
    l.b.op("load_tile", {l.t, l.x, l.at({8, 0})});
    CHECK(only(findings(l.b), Code::load_offset_range, "offset 256 (8 tiles of 32) on axis 0"));
    Load last;
    last.b.op("load_tile", {last.t, last.x, last.at({7, 0})});
    CHECK(findings(last.b).empty());
}

TEST_CASE("there is one offset for each axis, and order names axes", "[check]") {
    Load l;
    l.b.op("load", {l.t, l.x, l.at({0})});
    CHECK(only(findings(l.b), Code::offset_count, "1 offsets for `x`, which has 2 axes"));
    Load twice;
    twice.b.op("load", {twice.t, twice.x, twice.at({0, 0})}, {{"order", twice.at({1, 1})}});
    CHECK(only(findings(twice.b), Code::window_order, "order names axis 1 twice"));
    Load wrong;
    wrong.b.op("load", {wrong.t, wrong.x, wrong.at({0, 0})}, {{"order", wrong.at({0, 2})}});
    CHECK(only(findings(wrong.b), Code::window_order, "order names axis 2; the tensor has axes 0 to 1"));
    Load turned;
    turned.b.op("store", {turned.x, turned.t, turned.at({0, 0})}, {{"order", turned.at({1, 0})}});
    CHECK(only(findings(turned.b), Code::window_order, "descends; a store cannot transpose"));
}

TEST_CASE("a copy keeps the element width", "[check]") {
    Load l({256, 64}, D::fp16);
    l.b.op("load", {l.t, l.x, l.at({0, 0})});
    CHECK(only(findings(l.b), Code::width_mismatch, "`t` has elements of 32 bits, `x` of 16; a load does not convert"));
    Load same({256, 64}, D::int32);
    same.b.op("load", {same.t, same.x, same.at({0, 0})});
    CHECK(findings(same.b).empty());
}

TEST_CASE("operands lie where the operation can reach them", "[check]") {
    FunctionBuilder b(isa::Core::cube);
    auto x = b.tensor("x", {64, 64});
    auto left = b.slot(b.group("left", tile_type(64, 64, M::left), {0}));
    b.op("load", {left, x, ir::ExprList{b.num(0), b.num(0)}});
    Diagnostics found = findings(b);
    CHECK(only(found, Code::operand_memory, "`left` lies in Left; `dst` of load lies in Vec or Mat"));
    CHECK(found[0].severity == Severity::error);
}

TEST_CASE("moves follow the data paths of the language and of the chip", "[check]") {
    auto move = [](isa::TileType to, isa::TileType from, const char* on) {
        FunctionBuilder b(from.memory == M::vec ? isa::Core::vector : isa::Core::cube);
        auto dst = b.slot(b.group("dst", to, {0})), src = b.slot(b.group("src", from, {0x8000}));
        b.op("move", {dst, src});
        return findings(b, on);
    };
    isa::TileType nz = tile_type(32, 64, M::vec);
    nz.layout = isa::Layout::nz;
    CHECK(move(tile_type(64, 64, M::left), tile_type(64, 64, M::mat), "ascend950").empty());
    CHECK(move(tile_type(32, 64, M::vec), tile_type(32, 64, M::acc), "ascend950").empty());
    CHECK(move(tile_type(32, 64, M::mat), nz, "ascend950").empty());
    CHECK(says(move(tile_type(64, 64, M::vec), tile_type(64, 64, M::mat), "ascend950"), Code::move_path, "there is no move from Mat to Vec"));
    Diagnostics a2 = move(tile_type(32, 64, M::vec), tile_type(32, 64, M::acc), "ascend910b");
    CHECK(only(a2, Code::no_such_path, "ascend910b has no path from Acc to Vec"));
    CHECK(a2[0].advice.size() == 1);
    CHECK(only(move(tile_type(64, 64, M::left), tile_type(64, 32, M::mat), "ascend950"), Code::move_shape, "`dst` is 64x64, `src` is 64x32; without an offset"));
    CHECK(move(tile_type(32, 64, M::left), tile_type(64, 32, M::mat), "ascend950").empty()); // transposed
}

TEST_CASE("a move with an offset extracts or inserts", "[check]") {
    auto move = [](isa::TileType to, isa::TileType from, std::int64_t row, std::int64_t col) {
        FunctionBuilder b(isa::Core::cube);
        auto dst = b.slot(b.group("dst", to, {0})), src = b.slot(b.group("src", from, {0x10000}));
        b.op("move", {dst, src, ir::ExprList{b.num(row), b.num(col)}});
        return findings(b);
    };
    CHECK(move(tile_type(64, 64, M::left), tile_type(64, 256, M::mat), 0, 192).empty());
    CHECK(only(move(tile_type(64, 64, M::left), tile_type(64, 256, M::mat), 0, 257), Code::load_offset_range, "column offset 257 is outside 0 to 256"));
    CHECK(only(move(tile_type(64, 64, M::left), tile_type(64, 256, M::mat), 0, 200), Code::window_range, "column offset 200 plus 64 ends at 264, beyond 256 of `src`"));
    CHECK(only(move(tile_type(128, 64, M::left), tile_type(64, 256, M::mat), 0, 0), Code::move_shape, "one must fit into the other"));
    isa::TileType zn = tile_type(128, 64, M::mat, D::fp16), nz = tile_type(32, 128, M::vec, D::fp16); // an NZ tile lands in ZN as its transpose
    zn.layout = isa::Layout::zn, nz.layout = isa::Layout::nz;
    CHECK(move(zn, nz, 32, 0).empty());
    CHECK(only(move(zn, nz, 40, 0), Code::window_range, "row offset 40 plus 32 ends at 72, beyond 64 of `dst`"));
}

TEST_CASE("a split over both vector cores fits half-size tiles and converts nothing", "[check]") {
    auto move = [](isa::TileType to, isa::AccToVecMode mode, FunctionBuilder::Keywords more = {}) {
        FunctionBuilder b(isa::Core::cube);
        auto dst = b.slot(b.group("dst", to, {0})), src = b.slot(b.group("src", tile_type(64, 64, M::acc), {0}));
        more.push_back({"acc_to_vec_mode", isa::enum_value(mode)});
        b.op("move", {dst, src}, more);
        return findings(b);
    };
    CHECK(only(move(tile_type(32, 64, M::vec), isa::AccToVecMode::split_m, {{"scale", 2.0}}), Code::scale_rule, "scale= does not go with a split"));
    CHECK(move(tile_type(32, 64, M::vec), isa::AccToVecMode::split_m, {{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}}).empty());
    CHECK(move(tile_type(32, 64, M::vec), isa::AccToVecMode::split_m).empty());
    CHECK(move(tile_type(64, 32, M::vec), isa::AccToVecMode::split_n).empty());
    CHECK(only(move(tile_type(32, 64, M::vec), isa::AccToVecMode::single_vec0), Code::window_range, "64x64 of it leave Acc for each vector core and do not fit"));
    // A smaller valid region may leave for a smaller tile: what is valid is set at run time.
    FunctionBuilder tail(isa::Core::cube);
    auto to = tail.slot(tail.group("to", tile_type(64, 32, M::vec), {0})), from = tail.slot(tail.group("from", tile_type(64, 64, M::acc), {0}));
    tail.op("set_validshape", {from, ir::ExprList{tail.num(64), tail.num(16)}});
    tail.op("move", {to, from}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::single_vec0)}});
    CHECK(findings(tail).empty());
    CHECK(only(move(tile_type(32, 64, M::vec, D::fp16), isa::AccToVecMode::split_m), Code::fixpipe_conversion, "does not convert"));
}

TEST_CASE("fixpipe options", "[check]") {
    auto store = [](D to, isa::TileType from, FunctionBuilder::Keywords keywords) {
        FunctionBuilder b(from.memory == M::acc ? isa::Core::cube : isa::Core::vector);
        auto x = b.tensor("x", {64, 64}, {}, to);
        auto t = b.slot(b.group("t", from, {0}));
        b.op("store", {x, t, ir::ExprList{b.num(0), b.num(0)}}, keywords);
        return findings(b);
    };
    isa::TileType acc = tile_type(64, 64, M::acc);
    CHECK(store(D::fp16, acc, {}).empty());
    CHECK(store(D::fp16, acc, {{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}}).empty());
    CHECK(store(D::int8, acc, {{"scale", 0.5}}).empty());
    CHECK(only(store(D::int8, acc, {}), Code::fixpipe_conversion, "DT_FP32 goes to DT_INT8 only with scale="));
    CHECK(only(store(D::uint8, acc, {{"scale", 0.5}}), Code::scale_rule, "no UINT8 output"));
    CHECK(only(store(D::bf16, acc, {{"scale", 0.5}}), Code::scale_rule, "no BF16 output"));
    CHECK(says(store(D::fp32, tile_type(64, 64, M::vec), {{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}}), Code::fixpipe_option, "lies in Vec"));
    CHECK(only(store(D::fp32, acc, {{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}, {"atomic", isa::enum_value(isa::AtomicType::add)}}), Code::option_lost,
               "ignores atomic="));
}

TEST_CASE("insert takes NZ and stays inside", "[check]") {
    auto insert = [](isa::Layout layout, std::int64_t row) {
        FunctionBuilder b(isa::Core::vector);
        isa::TileType nz = tile_type(32, 64, M::vec);
        nz.layout = layout;
        auto dst = b.slot(b.group("dst", tile_type(64, 64, M::mat), {0})), src = b.slot(b.group("src", nz, {0}));
        b.op("insert", {dst, src, ir::ExprList{b.num(row), b.num(0)}});
        return findings(b);
    };
    CHECK(insert(isa::Layout::nz, 32).empty());
    CHECK(only(insert(isa::Layout::nd, 0), Code::insert_layout, "has layout ND"));
    CHECK(only(insert(isa::Layout::nz, 48), Code::window_range, "row offset 48 plus 32 of `src` ends at 80, beyond 64 of `dst`"));
}

TEST_CASE("elements and valid shapes", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    auto t = b.slot(b.group("t", tile_type(4, 16, M::vec), {0}));
    b.op("getval", {t, b.num(64)});
    CHECK(only(findings(b), Code::element_range, "element 64 of `t`, which has 64"));
    FunctionBuilder fp8(isa::Core::vector);
    auto x = fp8.tensor("x", {16}, {}, D::fp8e4m3);
    fp8.op("getval", {x, fp8.num(0)});
    CHECK(only(findings(fp8), Code::element_type, "exists in memory only"));
    for (auto [rows, bad] : {std::pair{4, 0}, std::pair{5, 1}, std::pair{0, 1}}) {
        FunctionBuilder v(isa::Core::vector);
        auto tile = v.slot(v.group("t", tile_type(4, 16, M::vec), {0}));
        v.op("set_validshape", {tile, ir::ExprList{v.num(rows), v.num(16)}});
        INFO(rows);
        CHECK(count(findings(v), Code::valid_shape) == bad);
    }
}

TEST_CASE("vector work agrees in shape and type where both are certain", "[check]") {
    auto add = [](isa::TileType a, isa::TileType o, bool shaped) {
        FunctionBuilder b(isa::Core::vector);
        auto out = b.slot(b.group("out", o, {0})), x = b.slot(b.group("x", a, {0x4000})), y = b.slot(b.group("y", a, {0x8000}));
        if (shaped) b.op("set_validshape", {x, ir::ExprList{b.num(8), b.num(64)}});
        b.op("add", {out, x, y});
        return findings(b);
    };
    isa::TileType full = tile_type(32, 64, M::vec);
    CHECK(add(full, full, false).empty());
    Diagnostics wrong = add(tile_type(16, 64, M::vec), full, false);
    CHECK(count(wrong, Code::shape_mismatch) == 2);
    CHECK(says(wrong, Code::shape_mismatch, "`x` is valid on 16x64, `out` on 32x64"));
    CHECK(wrong[0].severity == Severity::warning);
    CHECK(count(add(tile_type(32, 64, M::vec, D::fp16), full, false), Code::type_mismatch) == 2);
    CHECK(add(full, full, true).empty()); // run-time shapes are not guessed at
}

TEST_CASE("reductions and broadcasts", "[check]") {
    auto sum = [](isa::TileType o, std::int64_t dim) {
        FunctionBuilder b(isa::Core::vector);
        auto out = b.slot(b.group("out", o, {0})), x = b.slot(b.group("x", tile_type(32, 64, M::vec), {0x4000})), tmp = b.slot(b.group("tmp", tile_type(32, 64, M::vec), {0x8000}));
        b.op("sum", {out, x, tmp}, {{"dim", dim}});
        return findings(b);
    };
    isa::TileType column = tile_type(32, 1, M::vec);
    column.layout = isa::Layout::dn;
    CHECK(sum(column, 0).empty());
    CHECK(sum(tile_type(1, 64, M::vec), 1).empty());
    CHECK(only(sum(tile_type(16, 1, M::vec), 0), Code::shape_mismatch, "reducing `x` of 32x64 gives 32x1"));
    CHECK(only(sum(tile_type(1, 32, M::vec), 1), Code::shape_mismatch, "gives 1x64"));
    CHECK(only(sum(column, 2), Code::reduce_dim, "dim is 2"));
    FunctionBuilder b(isa::Core::vector);
    auto out = b.slot(b.group("out", tile_type(32, 64, M::vec), {0})), x = b.slot(b.group("x", tile_type(32, 64, M::vec), {0x4000}));
    auto vec = b.slot(b.group("vec", tile_type(16, 1, M::vec), {0x8000}));
    b.op("expand_sub", {out, x, vec}, {{"dim", std::int64_t(0)}});
    CHECK(says(findings(b), Code::shape_mismatch, "`vec` is valid on 16x1; broadcasting to 32x64 with dim=0 takes 32x1"));
}
