#include "tests/support/catch.hpp"
#include "vector_op.hpp"

#include <cmath>

using namespace pto;
using namespace pto::testing;
using M = isa::MemorySpace;
using P = isa::Pipe;
using execute::HazardKind;
using execute::Status;

namespace {

std::mt19937 generator(23);

std::vector<double> product(const Matrix& a, const Matrix& b, int m, int n, int k, bool a_turned, bool b_turned) {
    std::vector<double> out(std::size_t(m * n));
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float s = 0;
            for (int l = 0; l < k; ++l)
                s = std::fma(float(a_turned ? a.value(l, i) : a.value(i, l)),
                             float(b_turned ? b.value(j, l) : b.value(l, j)), s);
            out[std::size_t(i * n + j)] = s;
        }
    return out;
}

struct Options {
    bool a_turned = false, b_turned = false, say_strides = false;
    DType out_type = DType::fp32;
    std::vector<std::pair<std::string_view, ir::AttributeValue>> store;
    bool bias = false;
    int times = 1; // k blocks: matmul, then matmul_acc
};

execute::Outcome matmul(Matrix& a, Matrix& b, Matrix& out, int m, int n, int k, const Options& o,
                        Matrix* bias = nullptr) {
    KernelBuilder kb;
    auto& c = kb.cube;
    const DType t = a.type;
    const auto ta = kb.tensor("a", a.bytes, {a.rows, a.cols}, t), tb = kb.tensor("b", b.bytes, {b.rows, b.cols}, t),
               to = kb.tensor("out", out.bytes, {out.rows, out.cols}, out.type);
    auto up = [](int x, int to) { return (x + to - 1) / to * to; };
    const int unit = 32 / isa::bytes(t), pm = up(m, 16), pn = up(n, 16), pk = up(k, std::max(16, unit));
    auto mat_a = tile_type(o.a_turned ? up(m, unit) : pm, pk, M::mat, t),
         mat_b = tile_type(pk, up(pn, unit), M::mat, t);
    if (o.a_turned) mat_a.layout = isa::Layout::zn;
    if (o.b_turned) mat_b.layout = isa::Layout::zn;
    auto left = tile_type(mat_a.shape[0], pk, M::left, t), right = tile_type(pk, mat_b.shape[1], M::right, t);
    const auto acc = tile_type(pm, mat_b.shape[1], M::acc, t == DType::int8 ? DType::int32 : DType::fp32);
    const auto xa = c.slot(c.group("ma", mat_a, {0}, {0})), xb = c.slot(c.group("mb", mat_b, {0x20000}, {1})),
               l = c.slot(c.group("l", left, {0}, {2})), r = c.slot(c.group("r", right, {0}, {3})),
               x = c.slot(c.group("acc", acc, {0}, {4}));
    auto shape = [&](ir::TileVarId tile, int rows, int cols) {
        c.op("set_validshape", {tile, ir::ExprList{c.num(rows), c.num(cols)}});
    };
    shape(xa, m, k), shape(xb, k, n), shape(l, m, k), shape(r, k, n), shape(x, m, n);
    if (o.say_strides) { // what the strides are anyway, in the tile's rows and columns
        c.op("set_stride", {ta, ir::ExprList{c.num(o.a_turned ? 1 : k), c.num(o.a_turned ? m : 1)}});
        c.op("set_stride", {tb, ir::ExprList{c.num(o.b_turned ? 1 : n), c.num(o.b_turned ? k : 1)}});
    }
    const FunctionBuilder::Keywords turned{{"order", ir::ExprList{c.num(1), c.num(0)}}};
    c.op("load", {xa, ta, ir::ExprList{c.num(0), c.num(0)}}, o.a_turned ? turned : FunctionBuilder::Keywords{});
    c.op("load", {xb, tb, ir::ExprList{c.num(0), c.num(0)}}, o.b_turned ? turned : FunctionBuilder::Keywords{});
    c.op("move", {l, xa});
    c.op("move", {r, xb});
    if (bias) {
        const auto tbias = kb.tensor("bias", bias->bytes, {1, bias->cols}, bias->type);
        auto mat_bias = tile_type(1, pn, M::mat, bias->type);
        mat_bias.layout = isa::Layout::nd;
        auto table = tile_type(1, pn, M::bias);
        table.layout = isa::Layout::nd;
        const auto mb = c.slot(c.group("mbias", mat_bias, {0x40000}, {5})),
                   bt = c.slot(c.group("bias", table, {0}, {6}));
        shape(mb, 1, n), shape(bt, 1, n);
        c.op("load", {mb, tbias, ir::ExprList{c.num(0), c.num(0)}});
        c.op("move", {bt, mb});
        c.op("matmul", {x, l, r, bt});
    } else {
        c.op("matmul", {x, l, r});
    }
    for (int i = 1; i < o.times; ++i) c.op("matmul_acc", {x, x, l, r});
    c.op("store", {to, x, ir::ExprList{c.num(0), c.num(0)}}, o.store);
    const auto program = kb.build(true, false);
    return run(program, kb.arguments);
}

} // namespace

TEST_CASE("products over types, transposed loads and ragged shapes") {
    for (DType t : {DType::fp32, DType::fp16, DType::bf16})
        for (bool at : {false, true})
            for (bool bt : {false, true}) {
                const int m = std::uniform_int_distribution<int>(1, 40)(generator),
                          n = std::uniform_int_distribution<int>(1, 40)(generator),
                          k = std::uniform_int_distribution<int>(1, 40)(generator);
                Matrix a = at ? random_matrix(generator, t, k, m) : random_matrix(generator, t, m, k),
                       b = bt ? random_matrix(generator, t, n, k) : random_matrix(generator, t, k, n);
                Matrix out(DType::fp32, m, n);
                Options o;
                o.a_turned = at, o.b_turned = bt, o.say_strides = t == DType::fp16;
                const auto result = matmul(a, b, out, m, n, k, o);
                INFO(isa::name(t) << " " << m << "x" << n << "x" << k << (at ? " A turned" : "")
                                  << (bt ? " B turned" : "") << "\n"
                                  << all_messages(result));
                REQUIRE(result.status == Status::done);
                CHECK(result.hazards.empty());
                const auto expected = product(a, b, m, n, k, at, bt);
                int wrong = 0;
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < n; ++j) wrong += out.value(i, j) != expected[std::size_t(i * n + j)];
                CHECK(wrong == 0);
            }
}

TEST_CASE("the fixpipe converts, clips, scales and adds atomically") {
    const int m = 20, n = 24, k = 16;
    Matrix a = random_matrix(generator, DType::fp16, m, k), b = random_matrix(generator, DType::fp16, k, n);
    const auto expected = product(a, b, m, n, k, false, false);
    Options o;
    SECTION("to fp16 with relu") {
        Matrix out(DType::fp16, m, n);
        o.store = {{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}};
        REQUIRE(matmul(a, b, out, m, n, k, o).status == Status::done);
        for (int i = 0; i < m * n; ++i)
            REQUIRE(out.get(i / n, i % n) == numerics::encode(DType::fp16, std::max(expected[std::size_t(i)], 0.0)));
    }
    SECTION("to int8 with a scale") {
        Matrix out(DType::int8, m, n);
        o.store = {{"scale", 0.25}};
        REQUIRE(matmul(a, b, out, m, n, k, o).status == Status::done);
        for (int i = 0; i < m * n; ++i)
            REQUIRE(out.value(i / n, i % n) ==
                    std::min(127.0, std::max(-128.0, std::nearbyint(double(float(expected[std::size_t(i)]) * 0.25f)))));
    }
    SECTION("atomic addition") {
        Matrix out(DType::fp32, m, n);
        for (int i = 0; i < m * n; ++i) out.set_value(i / n, i % n, 100.0);
        o.store = {{"atomic", isa::enum_value(isa::AtomicType::add)}};
        o.times = 2;
        REQUIRE(matmul(a, b, out, m, n, k, o).status == Status::done);
        for (int i = 0; i < m * n; ++i)
            REQUIRE(float(out.value(i / n, i % n)) ==
                    100.0f + (float(expected[std::size_t(i)]) + float(expected[std::size_t(i)])));
    }
    SECTION("a conversion it does not have") {
        Matrix out(DType::int8, m, n);
        const auto result = matmul(a, b, out, m, n, k, o);
        CHECK(result.status == Status::refused);
        CHECK(result.message.find("fp32 to int8 without scale") != std::string::npos);
    }
}

TEST_CASE("bias rows are added once, from fp16 or fp32") {
    const int m = 17, n = 16, k = 16;
    Matrix a = random_matrix(generator, DType::fp16, m, k), b = random_matrix(generator, DType::fp16, k, n),
           out(DType::fp32, m, n);
    for (DType t : {DType::fp32, DType::fp16}) {
        Matrix bias = random_matrix(generator, t, 1, n);
        const auto result = matmul(a, b, out, m, n, k, {}, &bias);
        INFO(all_messages(result));
        REQUIRE(result.status == Status::done);
        const auto expected = product(a, b, m, n, k, false, false);
        for (int i = 0; i < m * n; ++i)
            REQUIRE(float(out.value(i / n, i % n)) == float(expected[std::size_t(i)]) + float(bias.value(0, i % n)));
    }
}

TEST_CASE("int8 products give int32") {
    const int m = 16, n = 32, k = 32;
    Matrix a = random_matrix(generator, DType::int8, m, k, -100, 100),
           b = random_matrix(generator, DType::int8, k, n, -100, 100), out(DType::int32, m, n);
    REQUIRE(matmul(a, b, out, m, n, k, {}).status == Status::done);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double s = 0;
            for (int l = 0; l < k; ++l) s += a.value(i, l) * b.value(l, j);
            REQUIRE(out.value(i, j) == s);
        }
}

TEST_CASE("the unit flag replaces the lock of the accumulator; a store without a final product hangs") {
    for (bool final_given : {true, false}) {
        KernelBuilder kb;
        auto& c = kb.cube;
        std::vector<float> x = numbers(16 * 16), out(16 * 16, -1.0f);
        const auto tx = kb.tensor("x", x, {16, 16}), to = kb.tensor("out", out, {16, 16});
        const auto mat = c.slot(c.group("m", tile_type(16, 16, M::mat), {0}, {0})),
                   l = c.slot(c.group("l", tile_type(16, 16, M::left), {0}, {1})),
                   r = c.slot(c.group("r", tile_type(16, 16, M::right), {0}, {2})),
                   acc = c.slot(c.group("acc", tile_type(16, 16, M::acc), {0}, {3}));
        c.op("load", {mat, tx, ir::ExprList{c.num(0), c.num(0)}});
        c.op("move", {l, mat});
        c.op("move", {r, mat});
        c.op("matmul", {acc, l, r},
             {{"phase", isa::enum_value(final_given ? isa::AccPhase::final : isa::AccPhase::partial)}});
        c.op("store", {to, acc, ir::ExprList{c.num(0), c.num(0)}}, {{"phase", isa::enum_value(isa::StPhase::final)}});
        const auto program = kb.build(true, false);
        const auto result = run(program, kb.arguments, under("late(AIC.M)"));
        INFO(all_messages(result));
        CHECK(result.status == (final_given ? Status::done : Status::hang));
        CHECK_FALSE(result.has_races());
        if (!final_given) CHECK(result.hang.stuck.at(0).waits_for.find("unit flag") != std::string::npos);
    }
}
