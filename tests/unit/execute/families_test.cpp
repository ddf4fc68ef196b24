#include "tests/support/catch.hpp"
#include "vector_op.hpp"

#include "engine/execute/numerics/cast.hpp"
#include "engine/execute/numerics/reference.hpp"

#include <cmath>

using namespace pto;
using namespace pto::testing;
using execute::HazardKind;
using execute::Status;
using isa::LaneFn;
using Tiles = std::vector<ir::TileVarId>;

namespace {

std::mt19937 generator(17);

int random_int(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }
/// Physical columns whose rows are whole 32-byte blocks.
int random_cols(DType t) { return 32 / isa::bytes(t) * random_int(1, 6); }

bool untouched(const Matrix& m, int rows, int cols) {
    for (int r = 0; r < m.rows; ++r)
        for (int c = 0; c < m.cols; ++c)
            if ((r >= rows || c >= cols) && m.get(r, c) != (Matrix(m.type, 1, 1).get(0, 0))) return false;
    return true;
}

} // namespace

TEST_CASE("elementwise operations equal the scalar oracle over types, shapes and valid shapes") {
    struct Case {
        const char* name;
        LaneFn fn;
        int inputs;
        std::vector<DType> types;
    };
    const std::vector<DType> all{DType::fp32,  DType::fp16,   DType::bf16,  DType::int8,   DType::uint8,
                                 DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64};
    const std::vector<DType> floats{DType::fp32, DType::fp16},
        wide{DType::fp32, DType::fp16, DType::bf16, DType::int16, DType::int32, DType::int64},
        ints{DType::int8, DType::int16, DType::int32};
    const Case cases[] = {{"add", LaneFn::add, 2, all},
                          {"sub", LaneFn::sub, 2, all},
                          {"mul", LaneFn::mul, 2, wide},
                          {"div", LaneFn::div, 2, floats},
                          {"maximum", LaneFn::max, 2, all},
                          {"minimum", LaneFn::min, 2, all},
                          {"and_", LaneFn::bit_and, 2, ints},
                          {"neg", LaneFn::neg, 1, wide},
                          {"abs", LaneFn::abs, 1, {DType::fp32, DType::fp16, DType::int8, DType::int32}},
                          {"relu", LaneFn::relu, 1, {DType::fp32, DType::fp16, DType::int32}},
                          {"recip", LaneFn::recip, 1, floats},
                          {"addc", LaneFn::addc, 3, {DType::fp32, DType::fp16, DType::int32}}};
    for (const Case& k : cases)
        for (DType t : k.types) {
            const int rows = random_int(1, 9), cols = random_cols(t), vr = random_int(1, rows),
                      vc = random_int(1, cols);
            INFO(k.name << " " << isa::name(t) << " " << rows << "x" << cols << " valid " << vr << "x" << vc);
            Matrix in[3], out(t, rows, cols);
            VectorOp op;
            const int o = op.add(out, vr, vc, false, true);
            std::vector<int> inputs;
            for (int i = 0; i < k.inputs; ++i) {
                in[i] = random_matrix(generator, t, rows, cols);
                inputs.push_back(op.add(in[i], vr, vc, true, false));
            }
            const auto result = op.run([&](FunctionBuilder& b, const Tiles& tiles) {
                std::vector<ir::OperandValue> operands{tiles[std::size_t(o)]};
                for (int i : inputs) operands.push_back(tiles[std::size_t(i)]);
                b.op(k.name, operands);
            });
            INFO(all_messages(result));
            REQUIRE(result.status == Status::done);
            CHECK(result.hazards.empty());
            int wrong = 0;
            for (int r = 0; r < vr; ++r)
                for (int c = 0; c < vc; ++c)
                    wrong += out.get(r, c) != *numerics::reference::lane(k.fn, t, in[0].get(r, c),
                                                                         k.inputs > 1 ? in[1].get(r, c) : 0,
                                                                         k.inputs > 2 ? in[2].get(r, c) : 0);
            CHECK(wrong == 0);
            CHECK(untouched(out, vr, vc));
        }
}

TEST_CASE("tile with scalar, in place, and over DN columns") {
    Matrix x = random_matrix(generator, DType::fp32, 5, 24);
    const Matrix before = x;
    VectorOp op;
    op.add(x, 5, 20, true, true);
    auto result = op.run([](FunctionBuilder& b, const Tiles& t) { b.op("mul", {t[0], t[0], b.real(2.5)}); });
    REQUIRE(result.status == Status::done);
    for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 24; ++c)
            CHECK(float(x.value(r, c)) == (c < 20 ? float(before.value(r, c)) * 2.5f : float(before.value(r, c))));
}

TEST_CASE("fused forms leave their intermediate in the first input") {
    Matrix out = random_matrix(generator, DType::fp32, 3, 16), lhs = random_matrix(generator, DType::fp32, 3, 16),
           rhs = random_matrix(generator, DType::fp32, 3, 16);
    const Matrix o = out, l = lhs;
    SECTION("fused_mul_add") {
        VectorOp op;
        op.add(out, 3, 16, true, true), op.add(lhs, 3, 16, true, true), op.add(rhs, 3, 16, true, false);
        REQUIRE(op.run([](FunctionBuilder& b, const Tiles& t) {
                      b.op("fused_mul_add", {t[0], t[1], t[2]});
                  }).status == Status::done);
        for (int c = 0; c < 16; ++c) {
            const float product = float(l.value(1, c)) * float(o.value(1, c));
            CHECK(lhs.value(1, c) == product);
            CHECK(out.value(1, c) == product + float(rhs.value(1, c)));
        }
    }
    SECTION("sub_relu_cast") {
        Matrix half(DType::fp16, 3, 16);
        VectorOp op;
        op.add(half, 3, 16, false, true), op.add(lhs, 3, 16, true, true), op.add(rhs, 3, 16, true, false);
        REQUIRE(op.run([](FunctionBuilder& b, const Tiles& t) {
                      b.op("sub_relu_cast", {t[0], t[1], t[2]}, {{"target_type", DType::fp16}});
                  }).status == Status::done);
        for (int c = 0; c < 16; ++c) {
            const float d = std::max(float(l.value(2, c)) - float(rhs.value(2, c)), 0.0f);
            CHECK(lhs.value(2, c) == d);
            CHECK(half.get(2, c) == numerics::encode(DType::fp16, d, numerics::Rounding::round));
        }
    }
}

TEST_CASE("compare packs bits by rows, select reads them back") {
    for (DType t : {DType::fp32, DType::int16, DType::bf16}) {
        const int rows = 4, cols = 32, vc = random_int(1, 32);
        Matrix a = random_matrix(generator, t, rows, cols, -2, 2), b = random_matrix(generator, t, rows, cols, -2, 2),
               mask(DType::uint8, rows, cols), out(t, rows, cols);
        VectorOp op;
        op.add(a, rows, vc, true, false), op.add(b, rows, vc, true, false),
            op.add(mask, rows, (vc + 7) / 8, false, true), op.add(out, rows, vc, false, true);
        const auto result = op.run([](FunctionBuilder& f, const Tiles& x) {
            f.op("ge", {x[2], x[0], x[1]});
            f.op("select", {x[3], x[2], x[0], x[1], x[3]});
        });
        INFO(isa::name(t) << " " << vc << "\n" << all_messages(result));
        REQUIRE(result.status == Status::done);
        CHECK(result.hazards.empty());
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < vc; ++c) {
                const bool ge = a.value(r, c) >= b.value(r, c);
                CHECK((mask.get(r, c / 8) >> (c % 8) & 1) == std::uint64_t(ge));
                CHECK(out.get(r, c) == (ge ? a : b).get(r, c));
            }
            for (int c = vc; c < (vc + 7) / 8 * 8; ++c) CHECK((mask.get(r, c / 8) >> (c % 8) & 1) == 0);
        }
    }
}

TEST_CASE("reductions of rows and columns, with their documented order") {
    const int rows = 7, cols = 136, vr = 6, vc = 130;
    Matrix x = random_matrix(generator, DType::fp32, rows, cols);
    SECTION("row sum, DN result") {
        Matrix out(DType::fp32, 8, 1), tmp(DType::fp32, rows, cols);
        VectorOp op;
        op.add(x, vr, vc, true, false);
        op.add(out, 8, 1, false, false, isa::Layout::dn);
        op.add(tmp, rows, cols, false, false);
        Matrix copy(DType::fp32, 8, 8);
        op.add(copy, vr, 8, false, true);
        const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
            b.op("sum", {t[1], t[0], t[2]}, {{"dim", std::int64_t(0)}});
            b.op("row_expand", {t[3], t[1]});
        });
        INFO(all_messages(result));
        REQUIRE(result.status == Status::done);
        for (int r = 0; r < vr; ++r) {
            std::vector<float> row;
            for (int c = 0; c < vc; ++c) row.push_back(float(x.value(r, c)));
            CHECK(float(copy.value(r, 3)) == numerics::reference::row_sum(row.data(), row.size()));
        }
    }
    SECTION("column maximum and argument") {
        Matrix best(DType::fp32, 1, cols), at(DType::int32, 1, cols);
        VectorOp op;
        op.add(x, vr, vc, true, false), op.add(best, 1, vc, false, true), op.add(at, 1, vc, false, true);
        const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
            b.op("maximum.reduce", {t[1], t[0], t[0]}, {{"dim", std::int64_t(1)}});
            b.op("argmax", {t[2], t[0], t[0]}, {{"dim", std::int64_t(1)}});
        });
        INFO(all_messages(result));
        REQUIRE(result.status == Status::done);
        for (int c = 0; c < vc; ++c) {
            int where = 0;
            for (int r = 1; r < vr; ++r)
                if (x.value(r, c) > x.value(where, c)) where = r;
            CHECK(best.value(0, c) == x.value(where, c));
            CHECK(at.value(0, c) == where);
        }
    }
    SECTION("column sum: row 0, then pairs") {
        Matrix out(DType::fp32, 1, cols);
        VectorOp op;
        op.add(x, vr, vc, true, false), op.add(out, 1, vc, false, true);
        REQUIRE(op.run([&](FunctionBuilder& b, const Tiles& t) {
                      b.op("col_sum", {t[1], t[0], t[0]});
                  }).status == Status::done);
        for (int c = 0; c < vc; ++c) {
            auto v = [&](int r) { return float(x.value(r, c)); };
            CHECK(float(out.value(0, c)) == ((v(0) + (v(1) + v(2))) + (v(3) + v(4))) + v(5));
        }
    }
}

TEST_CASE("broadcasts along rows and columns") {
    const int rows = 5, cols = 24;
    Matrix x = random_matrix(generator, DType::fp32, rows, cols), v = random_matrix(generator, DType::fp32, 8, 1),
           w = random_matrix(generator, DType::fp32, 1, cols), a(DType::fp32, rows, cols), b2(DType::fp32, rows, cols);
    Matrix column(DType::fp32, 8, 8);
    for (int r = 0; r < 8; ++r) column.set(r, 0, v.get(r, 0));
    VectorOp op;
    op.add(x, rows, cols, true, false), op.add(column, rows, 1, true, false), op.add(w, 1, cols, true, false),
        op.add(a, rows, cols, false, true), op.add(b2, rows, cols, false, true);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("expand_sub", {t[3], t[0], t[1]}, {{"dim", std::int64_t(0)}});
        b.op("expand_mul", {t[4], t[0], t[2]}, {{"dim", std::int64_t(1)}});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
            CHECK(float(a.value(r, c)) == float(x.value(r, c)) - float(v.value(r, 0)));
            CHECK(float(b2.value(r, c)) == float(x.value(r, c)) * float(w.value(0, c)));
        }
}

TEST_CASE("cast rounds ties away by default and to even on request") {
    Matrix x(DType::fp32, 1, 8), away(DType::bf16, 1, 16), even(DType::bf16, 1, 16);
    x.set_value(0, 0, 1.01953125);
    for (int c = 1; c < 8; ++c) x.set_value(0, c, c * 1.5);
    VectorOp op;
    op.add(x, 1, 8, true, false), op.add(away, 1, 8, false, true), op.add(even, 1, 8, false, true);
    REQUIRE(op.run([&](FunctionBuilder& b, const Tiles& t) {
                  b.op("cast", {t[1], t[0]});
                  b.op("cast", {t[2], t[0]}, {{"mode", isa::enum_value(isa::RoundMode::rint)}});
              }).status == Status::done);
    CHECK(away.value(0, 0) == 1.0234375);
    CHECK(even.value(0, 0) == 1.015625);
    CHECK(away.value(0, 3) == 4.5);
}

TEST_CASE("fillpad, transpose, fill_index") {
    Matrix x = random_matrix(generator, DType::fp16, 4, 32), padded(DType::fp16, 8, 32), turned(DType::fp16, 32, 16),
           counted(DType::int32, 3, 16);
    VectorOp op;
    op.add(x, 3, 20, true, false);
    const int p = op.add(padded, 6, 32, false, true);
    op.slots[std::size_t(p)].type.pad = isa::TilePad::min;
    op.add(turned, 20, 3, false, true), op.add(counted, 3, 16, false, true);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("fillpad", {t[1], t[0]}, {{"mode", isa::enum_value(isa::FillPadMode::expand)}});
        b.op("transpose", {t[2], t[0]});
        b.op("fill_index", {t[3], b.num(5)});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 32; ++c) CHECK(padded.get(r, c) == (r < 3 && c < 20 ? x.get(r, c) : 0xFC00u));
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 20; ++c) CHECK(turned.get(c, r) == x.get(r, c));
    CHECK(counted.value(2, 7) == 12);
}

TEST_CASE("gather, scatter, blocks and patterns") {
    Matrix x = random_matrix(generator, DType::fp32, 4, 16), index(DType::int32, 2, 8), picked(DType::fp32, 2, 8),
           spread(DType::fp32, 4, 16, 0), offsets(DType::uint32, 2, 8), blocks(DType::fp32, 2, 16),
           odd(DType::fp32, 4, 16);
    std::vector<int> places(64);
    for (int i = 0; i < 64; ++i) places[std::size_t(i)] = i;
    std::shuffle(places.begin(), places.end(), generator);
    for (int i = 0; i < 16; ++i) index.set(i / 8, i % 8, std::uint64_t(places[std::size_t(i)]));
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 2; ++c) offsets.set(r, c, std::uint64_t(32 * ((3 * r + 5 * c) % 8)));
    VectorOp op;
    op.add(x, 4, 16, true, false), op.add(index, 2, 8, true, false), op.add(picked, 2, 8, false, true),
        op.add(spread, 4, 16, true, true), op.add(offsets, 2, 2, true, false), op.add(blocks, 2, 16, false, true),
        op.add(odd, 4, 8, false, true);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("gather", {t[2], t[0], t[1], t[2]});
        b.op("scatter", {t[3], t[2], t[1]});
        b.op("gatherb", {t[5], t[0], t[4]});
        b.op("gathermask", {t[6], t[0]}, {{"pattern_mode", std::int64_t(2)}});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
    for (int i = 0; i < 16; ++i) {
        const int at = places[std::size_t(i)];
        CHECK(picked.get(i / 8, i % 8) == x.get(at / 16, at % 16));
        CHECK(spread.get(at / 16, at % 16) == x.get(at / 16, at % 16));
    }
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 16; ++c) {
            const int at = int(offsets.get(r, c / 8)) / 4 + c % 8;
            CHECK(blocks.get(r, c) == x.get(at / 16, at % 16));
        }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 8; ++c) CHECK(odd.get(r, c) == x.get(r, 2 * c + 1));
}

TEST_CASE("sorting: groups of 32, then runs of four merged") {
    const int n = 128;
    Matrix x = random_matrix(generator, DType::fp32, 1, n), index(DType::uint32, 1, n), records(DType::fp32, 1, 2 * n),
           sorted(DType::fp32, 1, 2 * n);
    for (int c = 0; c < n; ++c) {
        x.set_value(0, c, std::round(x.value(0, c))); // many ties
        index.set(0, c, std::uint64_t(1000 + c));
    }
    VectorOp op;
    op.add(x, 1, n, true, false), op.add(index, 1, n, true, false), op.add(records, 1, 2 * n, false, false),
        op.add(sorted, 1, 2 * n, false, true);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("sort32", {t[2], t[0], t[1], std::monostate{}});
        b.op("mrgsort", {t[3], t[2]}, {{"block_len", std::int64_t(64)}});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    std::vector<std::pair<float, int>> expected;
    for (int c = 0; c < n; ++c) expected.emplace_back(float(x.value(0, c)), 1000 + c);
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (int c = 0; c < n; ++c) {
        CHECK(float(sorted.value(0, 2 * c)) == expected[std::size_t(c)].first);
        CHECK(sorted.get(0, 2 * c + 1) == std::uint64_t(expected[std::size_t(c)].second));
    }
}

TEST_CASE("cumulative histogram of a filtered byte") {
    Matrix x(DType::uint16, 2, 64), filter(DType::uint8, 32, 32), out(DType::uint32, 2, 256);
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 64; ++c) x.set(r, c, std::uint64_t((c % 3) << 8 | c));
    for (int r = 0; r < 2; ++r) filter.set(r, 0, std::uint64_t(r));
    VectorOp op;
    op.add(x, 2, 64, true, false), op.add(filter, 2, 1, true, false), op.add(out, 2, 256, false, true);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("histogram", {t[2], t[0], t[1]}, {{"is_msb", false}});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    for (int r = 0; r < 2; ++r)
        for (int bin = 0; bin < 256; ++bin) {
            std::uint64_t n = 0;
            for (int c = 0; c < 64; ++c) n += c % 3 == r && c <= bin;
            CHECK(out.get(r, bin) == n);
        }
}

TEST_CASE("quantisation by rows") {
    Matrix x = random_matrix(generator, DType::fp32, 4, 32, -20, 20), scale(DType::fp32, 1, 8),
           offset(DType::fp32, 1, 8), q(DType::int8, 4, 32), u(DType::uint8, 4, 32), back(DType::fp32, 4, 32);
    for (int r = 0; r < 4; ++r) scale.set_value(0, r, 3.5 + r), offset.set_value(0, r, 10 + r);
    VectorOp op;
    op.add(x, 4, 32, true, false), op.add(scale, 1, 8, true, false), op.add(offset, 1, 8, true, false),
        op.add(q, 4, 32, false, true), op.add(u, 4, 32, false, true), op.add(back, 4, 32, false, true);
    for (int r = 4; r < 8; ++r) scale.set_value(0, r, 1), offset.set_value(0, r, 0);
    const auto result = op.run([&](FunctionBuilder& b, const Tiles& t) {
        b.op("system.bar_all", {}); // a tile given by keyword takes no lock
        b.op("quant", {t[3], t[0], t[1]});
        b.op("quant", {t[4], t[0], t[1]}, {{"mode", isa::enum_value(isa::QuantMode::asym)}, {"offset", t[2]}});
        b.op("dequant", {t[5], t[3], t[1], t[2]});
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 32; ++c) {
            const float s = float(scale.value(0, r)), z = float(offset.value(0, r)), y = float(x.value(r, c)) * s;
            CHECK(q.value(r, c) == std::min(127.0, std::max(-128.0, std::nearbyint(double(y)))));
            CHECK(u.value(r, c) == std::min(255.0, std::max(0.0, std::nearbyint(double(y + z)))));
            CHECK(float(back.value(r, c)) == (float(q.value(r, c)) - z) * s);
        }
}
