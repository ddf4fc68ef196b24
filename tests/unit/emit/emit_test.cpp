#include "row_kernels.hpp"

#include "engine/emit/emit.hpp"
#include "tests/support/catch.hpp"

#include <map>
#include <set>

using namespace pto;
using namespace pto::testing;

TEST_CASE("every operation of the catalogue has a C++ form, or is one of those nobody documents") {
    // Old spellings whose operation is a number that no page explains.
    const std::set<std::string> undocumented{"row_reduce", "col_reduce", "row_expand_binop", "col_expand_binop"};
    std::set<std::string> seen;
    for (const RowKernel& k : row_kernels()) {
        seen.insert(k.row);
        const emit::Emitted e = emit::emit(k.program, ascend950());
        INFO(k.name << "\n" << e.files.front().text);
        CHECK(e.complete == !undocumented.count(k.row));
        CHECK((e.files.front().text.find("no C++ form") != std::string::npos) == !e.complete);
    }
    for (const isa::OpRow& row : isa::Catalogue::builtin().rows())
        if (!row.construct) CHECK(seen.count(std::string(row.name)) == 1);
}

namespace {

using M = isa::MemorySpace;

/// One function's kernel, assembled with locks and emitted.
std::string text_of(FunctionBuilder& b, const machine::Chip& chip = ascend950(), emit::Emitted* whole = nullptr) {
    ir::Kernel k;
    k.name = "k";
    (b.f.core == isa::Core::cube ? k.cube : k.vector) = b.f;
    const emit::Emitted e = emit::emit(program::assemble(k, chip), chip);
    if (whole) *whole = e;
    return e.files.front().text;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

} // namespace

TEST_CASE("a token that two tiles may share is taken once: the second lock is guarded, and folded away where ids are known") {
    FunctionBuilder b(isa::Core::vector);
    const isa::TileType t = tile_type(16, 64, M::vec);
    const auto x = b.group("x", t, {0, 4096}, {0, 1}), y = b.group("y", t, {8192, 12288}, {1, 2}), z = b.group("z", t, {16384}, {7});
    const auto g = b.tensor("g", {64, 64}, {});
    const auto i = b.var("i");
    b.loop(i, b.num(4), [&] {
        const auto a = b.next(x), c = b.next(y), d = b.next(z);
        for (const auto tile : {a, c, d}) b.op("load", {tile, g, ir::ExprList{b.num(0), b.num(0)}});
        b.op("add", {a, c, d});
    });
    const std::string text = text_of(b);
    INFO(text);
    CHECK(count(text, "get_buf(PIPE_V, x_0_t0_mutex0, 0);") == 1);
    CHECK(has(text, "if (y_1_t1_mutex0 != x_0_t0_mutex0) get_buf(PIPE_V, y_1_t1_mutex0, 0);"));
    CHECK(has(text, "if (y_1_t1_mutex0 != x_0_t0_mutex0) rls_buf(PIPE_V, y_1_t1_mutex0, 0);"));
    CHECK(has(text, "        get_buf(PIPE_V, 7, 0);")); // one slot, one id: no guard, no variable
    CHECK(count(text, "get_buf(") == count(text, "rls_buf("));
}

TEST_CASE("sub-views start where they start, end with what is valid, and chosen tiles bring their locks") {
    FunctionBuilder b(isa::Core::vector);
    isa::TileType t = tile_type(16, 64, M::vec);
    t.fixed_valid = true, t.valid = {9, 33};
    const auto x = b.slot(b.group("x", t, {512}, {3})), y = b.slot(b.group("y", t, {8192}, {4}));
    const auto n = b.var("n");
    b.assign(n, b.query(ir::ExprOp::block_idx));
    const auto part = b.tile("part", t, {b.f[x].may_be});
    b.emit(ir::TileBind{part, ir::SubviewOf{x, b.num(2), b.num(10), b.get(n), {}}});
    const auto either = b.tile("either", t, {b.f[x].may_be[0], b.f[y].may_be[0]});
    b.emit(ir::TileBind{either, ir::ChoiceOf{b.binary(ir::ExprOp::lt, b.get(n), b.num(2)), x, y}});
    b.op("getval", {either, b.num(0)}).results = {b.var("v", isa::DType::fp32)};
    b.op("exp", {part, either});
    const std::string text = text_of(b);
    INFO(text);
    CHECK(has(text, "512 + ((2) * 64 + (n_v0)) * 32 / 8"));
    CHECK(has(text, "SetValidShape(max((int64_t)0, min((int64_t)10, (int64_t)(x_d0.GetValidRow())) - (2)), max((int64_t)0, min((int64_t)64, (int64_t)(x_d0.GetValidCol())) - (n_v0)))"));
    CHECK(has(text, "x_d0(9, 33)")); // a valid shape that changes hands is the object's, not the type's
    CHECK(has(text, "_mutex0 = choice_"));
}

TEST_CASE("a split move rounds the accumulator up for itself only") {
    FunctionBuilder b(isa::Core::cube);
    const auto acc = b.slot(b.group("acc", tile_type(16, 64, M::acc), {0})), half = b.slot(b.group("half", tile_type(8, 64, M::vec), {0}));
    b.op("move", {half, acc}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
    const std::string text = text_of(b);
    INFO(text);
    const std::size_t up = text.find("SetValidShape((rows + 1) / 2 * 2, cols)"), move = text.find("TMOV<"), back = text.find("SetValidShape(rows, cols)");
    CHECK(up < move);
    CHECK(move < back);
    CHECK(back != std::string::npos);
}

TEST_CASE("loops in vector functions count in 16 bits and never below zero") {
    FunctionBuilder b(isa::Core::vector);
    const auto t = b.slot(b.group("t", tile_type(16, 64, M::vec), {0}));
    const auto n = b.var("n"), i = b.var("i");
    b.assign(n, b.query(ir::ExprOp::block_idx));
    b.f.regs.push_back({"r", ir::RegKind::vector, isa::DType::fp32});
    b.vector_call("f", {t}, {isa::Role::read}, [&] {
        b.loop(i, b.binary(ir::ExprOp::sub, b.get(n), b.num(1)), [&] {
            b.op("vf.load_align", {ir::MemoryRef{t, {}}, b.get(i)}).registers = {ir::RegId{0}};
        });
    });
    const std::string text = text_of(b);
    INFO(text);
    CHECK(has(text, "const uint16_t stop_0 = (uint16_t)max((int64_t)0, (int64_t)((n_v0 - 1)));"));
    CHECK(has(text, "for (uint16_t i_v1 = 0; i_v1 < stop_0; i_v1 += 1) {"));
    CHECK(!has(text, "int64_t i_v1 ="));
}

TEST_CASE("older chips: flags of the FFTS, barriers after vector work, no locks") {
    const machine::Chip& chip = *machine::find_chip("ascend910b");
    FunctionBuilder b(isa::Core::vector);
    const auto x = b.slot(b.group("x", tile_type(16, 64, M::vec), {0}, {1}));
    b.op("exp", {x, x});
    b.cross_set(isa::Pipe::v, b.num(3));
    b.cross_wait(isa::Pipe::mte2, b.num(4));
    emit::Emitted whole;
    const std::string text = text_of(b, chip, &whole);
    INFO(text);
    CHECK(!has(text, "get_buf"));
    CHECK(has(text, "set_mask_norm();"));
    CHECK(has(text, "set_ffts_base_addr((unsigned long)ffts_addr);"));
    CHECK(has(text, "ffts_cross_core_sync(PIPE_V, getFFTSMsg(2, 3));"));
    CHECK(has(text, "wait_flag_dev(4);"));
    CHECK(text.find("pipe_barrier(PIPE_V);") > text.find("TEXP("));
    CHECK(whole.parameters.back().name == "ffts_addr");
    CHECK(has(whole.file("call_kernel.cpp")->text, "rtGetC2cCtrlAddr(&ffts, &ffts_length);"));
    CHECK(whole.command[1] == "--cce-aicore-arch=dav-c220-vec");
    CHECK(whole.complete);
    FunctionBuilder v(isa::Core::vector);
    const auto t = v.slot(v.group("t", tile_type(16, 64, M::vec), {0}));
    v.vector_call("f", {t}, {isa::Role::read}, [&] {});
    text_of(v, chip, &whole);
    CHECK(!whole.complete); // no vector functions there
}

TEST_CASE("numbers and names") {
    FunctionBuilder b(isa::Core::vector);
    const auto h = b.var("h", isa::DType::fp16), w = b.var("w", isa::DType::uint64), d = b.var("\xE4\xB8\xAD", isa::DType::int64);
    b.assign(h, b.num(3));
    b.assign(w, b.num(-1, isa::DType::uint64));
    b.assign(d, b.binary(ir::ExprOp::shl, b.num(1), b.get(d)));
    const auto s = b.structure("class", {{"int", isa::DType::int32, 0}});
    b.set_field({s, {}}, 0, b.num(-5));
    const std::string text = text_of(b);
    INFO(text);
    CHECK(has(text, "h_v0 = ((half)3.0f);"));
    CHECK(has(text, "w_v1 = 18446744073709551615ULL;"));
    CHECK(has(text, "xE4xB8xAD_v2 = ((int64_t)1 << xE4xB8xAD_v2);")); // a bare 1 would be an int
    CHECK(has(text, "class class_ {"));
    CHECK(has(text, "class_s0.int_ = (-5);"));
}

TEST_CASE("a tile that the library's assertions refuse is named") {
    auto said = [](isa::TileType t) {
        FunctionBuilder b(isa::Core::vector);
        b.op("expands", {b.slot(b.group("a", t, {0})), b.num(1)});
        emit::Emitted whole;
        text_of(b, ascend950(), &whole);
        return whole.diagnostics.empty() ? std::string() : whole.diagnostics.front().message;
    };
    isa::TileType column = tile_type(5, 1, M::vec);
    column.layout = isa::Layout::dn;
    CHECK(has(said(column), "a is 5 x 1 fp32: its columns have 20 bytes"));
    CHECK(has(said(tile_type(16, 12, M::vec)), "its rows have 48 bytes"));
    column.shape[0] = 8;
    CHECK(said(column).empty());
    CHECK(said(tile_type(16, 16, M::vec)).empty());
}
