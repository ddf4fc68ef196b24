#include "engine/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/ir_builder.hpp"

using namespace pto;
using namespace pto::testing;
using M = isa::MemorySpace;

namespace {

machine::Chip chip() { return {}; }

ir::Kernel kernel_of(FunctionBuilder& b, bool auto_mutex = true) {
    ir::Kernel k;
    k.name = "k", k.auto_mutex = auto_mutex;
    (b.f.core == isa::Core::cube ? k.cube : k.vector) = std::move(b.f);
    return k;
}

/// Lock names of the n-th issued statement.
std::vector<std::string> locks_of(const program::Program& p, std::size_t n) {
    const program::CoreCode& core = p.cores.front();
    for (const program::Instr& i : core.code) {
        if (i.kind != program::InstrKind::issue || n-- > 0) continue;
        std::vector<std::string> names;
        const auto& locks = std::holds_alternative<ir::Op>(i.stmt->what) ? std::get<ir::Op>(i.stmt->what).locks : std::get<ir::VectorCall>(i.stmt->what).locks;
        for (ir::TileVarId t : locks) {
            std::string name = (*core.function)[t].name;
            names.push_back(name.substr(0, name.find('_')));
        }
        return names;
    }
    return {"no such statement"};
}
using Names = std::vector<std::string>;

} // namespace

TEST_CASE("every operation locks its tiles with ids; ids of pipe V alone are elided") {
    FunctionBuilder b(isa::Core::vector);
    const auto type = tile_type(16, 64, M::vec);
    const auto x = b.tensor("x", {16, 64}, {}), y = b.tensor("y", {16, 64}, {});
    const auto in = b.group("in", type, {0, 4096}, {0, 1}), scratch = b.group("scratch", type, {8192}, {2}), plain = b.group("plain", type, {12288});
    const auto t = b.next(in), s = b.slot(scratch), p = b.slot(plain);
    b.op("load", {t, x, ir::ExprList{b.num(0), b.num(0)}});
    b.op("add", {s, t, p});
    b.op("mul", {p, s, s});
    b.op("store", {y, t, ir::ExprList{b.num(0), b.num(0)}});
    b.op("set_validshape", {t, ir::ExprList{b.num(8), b.num(8)}});
    const auto program = program::assemble(kernel_of(b), chip());
    CHECK(locks_of(program, 0) == Names{"in"});
    CHECK(locks_of(program, 1) == Names{"in"}); // scratch is V's alone, plain has no id
    CHECK(locks_of(program, 2) == Names{});
    CHECK(locks_of(program, 3) == Names{"in"});
    CHECK(locks_of(program, 4) == Names{});
}

TEST_CASE("elision looks at every id an operand may hold and at hand-written locks") {
    FunctionBuilder b(isa::Core::vector);
    const auto type = tile_type(16, 64, M::vec);
    const auto a = b.group("a", type, {0, 4096}, {0, 1}), c = b.group("c", type, {8192}, {1}), d = b.group("d", type, {12288}, {5});
    const auto x = b.tensor("x", {16, 64}, {});
    const auto t = b.next(a), u = b.slot(c), v = b.slot(d);
    b.op("relu", {t, t});                                       // id 1 is also taken by MTE2 through c
    b.op("load", {u, x, ir::ExprList{b.num(0), b.num(0)}});
    b.op("relu", {v, v});                                       // id 5 is locked by hand on MTE3
    b.op("system.mutex_lock", {}, {{"pipe", isa::enum_value(isa::Pipe::mte3)}, {"mutex_id", std::int64_t(5)}});
    const auto program = program::assemble(kernel_of(b), chip());
    CHECK(locks_of(program, 0) == Names{"a"});
    CHECK(locks_of(program, 2) == Names{"d"});
}

TEST_CASE("a phased matmul or store leaves its accumulator to the unit flag") {
    FunctionBuilder b(isa::Core::cube);
    const auto l = b.slot(b.group("l", tile_type(16, 16, M::left), {0}, {0})), r = b.slot(b.group("r", tile_type(16, 16, M::right), {0}, {1}));
    const auto acc = b.slot(b.group("acc", tile_type(16, 16, M::acc), {0}, {2}));
    const auto m = b.slot(b.group("m", tile_type(16, 16, M::mat), {0}, {0}));
    const auto y = b.tensor("y", {16, 16}, {});
    b.op("move", {l, m});
    b.op("matmul", {acc, l, r}, {{"phase", isa::enum_value(isa::AccPhase::final)}});
    b.op("store", {y, acc, ir::ExprList{b.num(0), b.num(0)}}, {{"phase", isa::enum_value(isa::StPhase::final)}});
    b.op("matmul", {acc, l, r}, {{"phase", isa::enum_value(isa::AccPhase::unspecified)}});
    const auto program = program::assemble(kernel_of(b), chip());
    CHECK(locks_of(program, 0) == Names{"l", "m"});
    CHECK(locks_of(program, 1) == Names{"l", "r"});
    CHECK(locks_of(program, 2) == Names{});
    CHECK(locks_of(program, 3) == Names{"acc", "l", "r"});
}

TEST_CASE("a vector call is wrapped once; auto_mutex off and chips without locks insert nothing") {
    for (int variant = 0; variant < 3; ++variant) {
        FunctionBuilder b(isa::Core::vector);
        const auto type = tile_type(16, 64, M::vec);
        const auto x = b.tensor("x", {16, 64}, {});
        const auto t = b.slot(b.group("t", type, {0}, {3})), u = b.slot(b.group("u", type, {4096}, {4}));
        b.op("load", {t, x, ir::ExprList{b.num(0), b.num(0)}});
        b.op("load", {u, x, ir::ExprList{b.num(0), b.num(0)}});
        b.vector_call("f", {t, u}, {isa::Role::write, isa::Role::read}, [] {});
        machine::Chip c = chip();
        c.has_mutex = variant != 2;
        const auto program = program::assemble(kernel_of(b, variant != 1), c);
        CHECK(locks_of(program, 2) == (variant == 0 ? Names{"t", "u"} : Names{}));
        CHECK(locks_of(program, 0) == (variant == 0 ? Names{"t"} : Names{}));
    }
}

TEST_CASE("control flow flattens to jumps that leave stages properly") {
    FunctionBuilder b(isa::Core::vector);
    const auto i = b.var("i"), n = b.var("n"), k = b.var("k");
    b.assign(n, b.num(4));
    b.loop(i, b.get(n), [&] {
        b.stage("s", b.get(i), [&] {
            b.forever([&] {
                b.when(b.binary(ir::ExprOp::ge, b.get(k), b.num(2)), [&] { b.emit(ir::Break{}); });
                b.assign(k, b.add(b.get(k), b.num(1)));
            });
            b.when(b.binary(ir::ExprOp::eq, b.get(i), b.num(1)), [&] { b.emit(ir::Continue{}); }, [&] { b.assign(k, b.num(0)); });
        });
        b.when(b.binary(ir::ExprOp::eq, b.get(i), b.num(2)), [&] { b.emit(ir::Return{}); });
    });
    const auto program = program::assemble(kernel_of(b), chip());
    CHECK(program::print(program) == R"(vector:
   0  n = 4
   1  loop 0: i in range(0, n, 1) -> 16
   2  stage s task i
   3  unless k >= 2 -> 5
   4  jump -> 7
   5  k = k + 1
   6  jump -> 3
   7  unless i == 1 -> 11
   8  leave s
   9  jump -> 15
  10  jump -> 12
  11  k = 0
  12  leave s
  13  unless i == 2 -> 15
  14  jump -> 16
  15  next 0 -> 2
  16  finish
)");
}
