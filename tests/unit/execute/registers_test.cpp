#include "tests/support/catch.hpp"
#include "register_call.hpp"

#include "engine/execute/numerics/reference.hpp"

#include <cmath>

using namespace pto;
using namespace pto::testing;
using execute::HazardKind;
using execute::Status;
using isa::LoadDist;
using isa::MaskPattern;
using isa::StoreDist;

namespace {
std::mt19937 generator(31);
}

TEST_CASE("a loop over rows with a tail mask adds what a plain loop adds") {
    const int rows = 5, cols = 200, valid = 150;
    Matrix x = random_matrix(generator, DType::fp32, rows, cols), y = random_matrix(generator, DType::fp32, rows, cols),
           out(DType::fp32, rows, cols);
    VectorOp op;
    op.add(x, rows, valid, true, false), op.add(y, rows, valid, true, false), op.add(out, rows, valid, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        auto& b = v.b;
        const auto i = b.var("i"), j = b.var("j");
        const auto m = v.mask(), r = v.reg(DType::fp32);
        b.loop(i, b.num(rows), [&] {
            b.loop(j, b.num((valid + 63) / 64), [&] {
                const auto col = b.binary(ir::ExprOp::mul, b.get(j), b.num(64));
                v.op("vf.update_mask", {m}, {b.binary(ir::ExprOp::sub, b.num(valid), col)});
                const ir::ExprList at{b.get(i), col};
                const auto a = v.load(t[0], DType::fp32, at), c = v.load(t[1], DType::fp32, at);
                v.op("vf.add", {r}, {a, c, m});
                v.store(t[2], r, m, at);
            });
        });
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty()); // the loads pass the valid columns, nothing of it is stored
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < valid; ++c) REQUIRE(float(out.value(r, c)) == float(x.value(r, c)) + float(y.value(r, c)));
    REQUIRE(result.record.calls.size() == 1);
    CHECK(result.record.calls[0].loops == rows + rows * 3);
    CHECK(result.statistics.vector_calls == 1);
    CHECK(result.statistics.register_operations == rows * 3 * 5);
}

TEST_CASE("load distributions") {
    Matrix x(DType::uint8, 4, 256);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 256; ++c) x.set(r, c, std::uint64_t(generator() & 0xFF));
    struct Case {
        LoadDist dist;
        DType type;
        int (*source)(int byte, int size); // byte of the source, -1 zero
        int size;
    };
    const Case cases[] = {
        {LoadDist::norm, DType::uint8, [](int k, int) { return k; }, 1},
        {LoadDist::brc_b32, DType::int32, [](int k, int s) { return k % s; }, 4},
        {LoadDist::brc, DType::int16, [](int k, int s) { return k % s; }, 2},
        {LoadDist::us_b16, DType::int16, [](int k, int s) { return k / s / 2 * s + k % s; }, 2},
        {LoadDist::ds_b8, DType::uint8, [](int k, int s) { return k / s * 2 * s + k % s; }, 1},
        {LoadDist::unpk_b16, DType::uint32, [](int k, int s) { return k % (2 * s) < s ? k / (2 * s) * s + k % s : -1; },
         2},
        {LoadDist::unpk4, DType::uint8, [](int k, int) { return k % 4 == 0 ? k / 4 : -1; }, 1},
        {LoadDist::blk, DType::uint8, [](int k, int) { return k % 32; }, 1},
        {LoadDist::e2b_b32, DType::uint32, [](int k, int s) { return k / 32 * s + k % s; }, 4},
    };
    for (const Case& k : cases) {
        Matrix out(DType::uint8, 1, 256);
        VectorOp op;
        op.add(x, 4, 256, true, false), op.add(out, 1, 256, false, true);
        const auto result = call(op, [&](Vf& v, const Tiles& t) {
            const auto m = v.all(DType::uint8);
            const auto r = v.reg(k.type);
            v.op("vf.load_align", {r}, {ir::MemoryRef{t[0], {}}, v.b.num(32)},
                 {{"dist", isa::enum_value(k.dist)}, {"dtype", k.type}});
            const auto bytes = v.reg(DType::uint8);
            v.op("vf.bit_cast", {bytes}, {r}, {{"dtype", DType::uint8}});
            v.store(t[1], bytes, m);
        });
        INFO(isa::name(k.dist) << "\n" << all_messages(result));
        REQUIRE(result.status == Status::done);
        int wrong = 0;
        for (int b = 0; b < 256; ++b) {
            const int from = k.source(b, k.size);
            wrong += out.get(0, b) != (from < 0 ? 0 : x.get((32 + from) / 256, (32 + from) % 256));
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("store distributions, pairs and de-interleaving loads") {
    Matrix x = random_matrix(generator, DType::int32, 2, 64, -30000, 30000), packed(DType::int16, 1, 64),
           low(DType::int8, 1, 64), first(DType::int32, 1, 8), both(DType::int32, 2, 64), apart(DType::int32, 2, 64);
    VectorOp op;
    op.add(x, 2, 64, true, false), op.add(packed, 1, 64, false, true), op.add(low, 1, 64, false, true),
        op.add(first, 1, 1, false, true), op.add(both, 2, 64, false, true), op.add(apart, 2, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(DType::int32);
        const auto a = v.load(t[0], DType::int32), b = v.load(t[0], DType::int32, v.b.num(64));
        v.store(t[1], a, m, std::monostate{}, {{"dist", isa::enum_value(StoreDist::pack)}});
        v.store(t[2], a, m, std::monostate{}, {{"dist", isa::enum_value(StoreDist::pack4)}});
        v.store(t[3], b, m, std::monostate{}, {{"dist", isa::enum_value(StoreDist::first_element)}});
        v.op("vf.store_align.pair", {}, {ir::MemoryRef{t[4], {}}, a, b, m},
             {{"dist", isa::enum_value(StoreDist::intlv_b32)}});
        v.op("vf.mem_bar", {}, {});
        const auto even = v.reg(DType::int32), odd = v.reg(DType::int32);
        v.op("vf.load_align", {even, odd}, {ir::MemoryRef{t[4], {}}, v.b.num(0)},
             {{"dist", isa::enum_value(LoadDist::dintlv_b32)}});
        v.store(t[5], even, m);
        v.store(t[5], odd, m, v.b.num(64));
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
    for (int c = 0; c < 64; ++c) {
        CHECK(packed.get(0, c) == (x.get(0, c) & 0xFFFF));
        CHECK(low.get(0, c) == (x.get(0, c) & 0xFF));
        CHECK(both.get(2 * c / 64, 2 * c % 64) == x.get(0, c));
        CHECK(both.get((2 * c + 1) / 64, (2 * c + 1) % 64) == x.get(1, c));
        CHECK(apart.get(0, c) == x.get(0, c));
        CHECK(apart.get(1, c) == x.get(1, c));
    }
    CHECK(first.get(0, 0) == x.get(1, 0));
}

TEST_CASE("a store and a later load of the same bytes want a barrier") {
    for (bool barrier : {false, true}) {
        Matrix x = random_matrix(generator, DType::fp32, 1, 64), out(DType::fp32, 1, 64);
        VectorOp op;
        op.add(x, 1, 64, true, true), op.add(out, 1, 64, false, true);
        const auto result = call(op, [&](Vf& v, const Tiles& t) {
            const auto m = v.all();
            v.store(t[1], v.load(t[0], DType::fp32), m);
            if (barrier) v.op("vf.mem_bar", {}, {});
            v.store(t[0], v.load(t[1], DType::fp32), m);
        });
        INFO(all_messages(result));
        CHECK(result.status == Status::done);
        CHECK(found(result, HazardKind::register_order) == !barrier);
    }
}

TEST_CASE("astype between widths: layout places, masks select sources") {
    Matrix x = random_matrix(generator, DType::fp32, 1, 64), half(DType::fp16, 1, 128), back(DType::fp32, 1, 64),
           bytes(DType::int8, 1, 256), wide(DType::int32, 1, 64);
    for (int c = 0; c < 256; ++c) bytes.set(0, c, std::uint64_t(generator() & 0xFF));
    VectorOp op;
    op.add(x, 1, 64, true, false), op.add(half, 1, 128, false, true), op.add(back, 1, 64, false, true),
        op.add(bytes, 1, 256, true, false), op.add(wide, 1, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(), m16 = v.all(DType::fp16), quarter = v.all(DType::fp32, MaskPattern::q);
        const auto h = v.reg(DType::fp16), f = v.reg(DType::fp32), w = v.reg(DType::int32);
        v.op("vf.astype", {h}, {v.load(t[0], DType::fp32), quarter},
             {{"dtype", DType::fp16}, {"layout", isa::enum_value(isa::CastLayout::one)}});
        v.store(t[1], h, m16);
        v.op("vf.astype", {f}, {h, m16}, {{"dtype", DType::fp32}, {"layout", isa::enum_value(isa::CastLayout::one)}});
        v.store(t[2], f, m);
        v.op("vf.astype", {w}, {v.load(t[3], DType::int8), v.all(DType::int8)},
             {{"dtype", DType::int32}, {"layout", isa::enum_value(isa::CastLayout::two)}});
        v.store(t[4], w, m);
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    for (int c = 0; c < 64; ++c) {
        const std::uint64_t expected = c < 16 ? numerics::encode(DType::fp16, x.value(0, c)) : 0;
        CHECK(half.get(0, 2 * c) == 0);
        CHECK(half.get(0, 2 * c + 1) == expected);
        CHECK(back.value(0, c) == (c < 16 ? double(numerics::decode(DType::fp16, std::uint32_t(expected))) : 0.0));
        CHECK(wide.value(0, c) == bytes.value(0, 4 * c + 2));
    }
}

TEST_CASE("lane operations with masks: zeroing and merging") {
    Matrix x = random_matrix(generator, DType::fp32, 2, 64), out(DType::fp32, 4, 64);
    VectorOp op;
    op.add(x, 2, 64, true, false), op.add(out, 4, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(), half = v.all(DType::fp32, MaskPattern::h), third = v.all(DType::fp32, MaskPattern::m3);
        const auto a = v.load(t[0], DType::fp32), b = v.load(t[0], DType::fp32, v.b.num(64));
        const auto r = v.reg(DType::fp32), s = v.reg(DType::fp32), d = v.reg(DType::fp32), p = v.mask(), q = v.mask();
        v.op("vf.add", {r}, {a, b, half});
        v.store(t[1], r, m);
        v.op("vf.move", {s}, {a, m});
        v.op("vf.max", {s}, {a, b, third}, {{"mode", isa::enum_value(isa::MergeMode::merging)}});
        v.store(t[1], s, m, v.b.num(64));
        v.op("vf.full", {d}, {v.b.real(1.0), std::monostate{}}, {{"dtype", DType::fp32}});
        v.op("vf.mul_add_dst", {d}, {a, b, m});
        v.store(t[1], d, m, v.b.num(128));
        v.op("vf.gt", {p}, {a, v.b.real(0.0), m});
        v.op("vf.not_", {q}, {p, m});
        v.op("vf.select", {r}, {a, b, q});
        v.store(t[1], r, m, v.b.num(192));
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
    for (int c = 0; c < 64; ++c) {
        const float a = float(x.value(0, c)), b = float(x.value(1, c));
        CHECK(float(out.value(0, c)) == (c < 32 ? a + b : 0.0f));
        CHECK(float(out.value(1, c)) == (c % 3 == 0 ? std::max(a, b) : a));
        CHECK(float(out.value(2, c)) == std::fma(a, b, 1.0f));
        CHECK(float(out.value(3, c)) == (a > 0 ? b : a));
    }
}

TEST_CASE("reductions leave value and index in the lowest lanes") {
    Matrix x = random_matrix(generator, DType::fp32, 1, 64), out(DType::fp32, 4, 64);
    VectorOp op;
    op.add(x, 1, 64, true, false), op.add(out, 4, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(), vl = v.all(DType::fp32, MaskPattern::vl32), a = v.load(t[0], DType::fp32),
                   r = v.reg(DType::fp32);
        v.op("vf.reduce_sum", {r}, {a, m});
        v.store(t[1], r, m);
        v.op("vf.reduce_max", {r}, {a, vl});
        v.store(t[1], r, m, v.b.num(64));
        v.op("vf.reduce_min", {r}, {a, m}, {{"datablock", true}});
        v.store(t[1], r, m, v.b.num(128));
        v.op("vf.pair_reduce_sum", {r}, {a, m});
        v.store(t[1], r, m, v.b.num(192));
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    std::vector<float> row;
    int best = 0;
    for (int c = 0; c < 64; ++c) {
        row.push_back(float(x.value(0, c)));
        if (c < 32 && row[std::size_t(c)] > row[std::size_t(best)]) best = c;
    }
    CHECK(float(out.value(0, 0)) == numerics::reference::row_sum(row.data(), 64));
    CHECK(out.get(0, 1) == 0);
    CHECK(float(out.value(1, 0)) == row[std::size_t(best)]);
    CHECK(out.get(1, 1) == std::uint64_t(best));
    for (int k = 0; k < 8; ++k)
        CHECK(float(out.value(2, k)) == *std::min_element(row.begin() + 8 * k, row.begin() + 8 * k + 8));
    CHECK(out.get(2, 8) == 0);
    for (int k = 0; k < 32; ++k) CHECK(float(out.value(3, k)) == row[std::size_t(2 * k)] + row[std::size_t(2 * k + 1)]);
    CHECK(out.get(3, 32) == 0);
}

TEST_CASE("permutations: interleave, pack, unpack, squeeze, prefix count, histogram, carries") {
    Matrix x(DType::uint32, 2, 64), bytes(DType::uint8, 1, 256), out(DType::uint32, 8, 64),
        counts(DType::uint16, 1, 128);
    for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 64; ++c) x.set(r, c, generator());
    for (int c = 0; c < 256; ++c) bytes.set(0, c, std::uint64_t(generator() % 200));
    VectorOp op;
    op.add(x, 2, 64, true, false), op.add(bytes, 1, 256, true, false), op.add(out, 8, 64, false, true),
        op.add(counts, 1, 128, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        const auto m = v.all(DType::uint32), third = v.all(DType::uint32, MaskPattern::m3),
                   none = v.all(DType::uint32, MaskPattern::allf);
        const auto a = v.load(t[0], DType::uint32), b = v.load(t[0], DType::uint32, v.b.num(64));
        auto put = [&](int row, ir::RegId r) { v.store(t[2], r, m, v.b.num(64 * row)); };
        const auto l = v.reg(DType::uint32), h = v.reg(DType::uint32), p = v.reg(DType::uint16),
                   w = v.reg(DType::uint32), s = v.reg(DType::uint32), carry = v.mask(DType::uint32);
        v.op("vf.interleave", {l, h}, {a, b});
        put(0, h);
        v.op("vf.pack", {p}, {a}, {{"dtype", DType::uint16}, {"part", isa::enum_value(isa::PackPart::upper)}});
        v.op("vf.unpack", {w}, {p}, {{"dtype", DType::uint32}, {"part", isa::enum_value(isa::PackPart::upper)}});
        put(1, w);
        v.op("vf.squeeze", {s}, {a, third});
        put(2, s);
        v.op("vf.unsqueeze", {s}, {third}, {{"dtype", DType::uint32}});
        put(3, s);
        v.op("vf.addc", {carry, s}, {a, b, none, m});
        put(4, s);
        v.op("vf.full", {w}, {v.b.num(1), std::monostate{}}, {{"dtype", DType::uint32}});
        v.op("vf.move", {w}, {w, carry}, {{"mode", isa::enum_value(isa::MergeMode::zeroing)}});
        put(5, w);
        v.op("vf.mull", {l, h}, {a, b, m});
        put(6, h);
        v.op("vf.arange", {s}, {v.b.num(3)},
             {{"dtype", DType::uint32}, {"index_order", isa::enum_value(isa::IndexOrder::decrease)}});
        put(7, s);
        const auto n = v.reg(DType::uint16), m16 = v.all(DType::uint16);
        v.op("vf.full", {n}, {v.b.num(5), std::monostate{}}, {{"dtype", DType::uint16}});
        v.op("vf.histograms", {n}, {v.load(t[1], DType::uint8), v.all(DType::uint8)},
             {{"bin_type", isa::enum_value(isa::BinType::bin1)}});
        v.store(t[3], n, m16);
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.empty());
    std::vector<std::uint64_t> squeezed;
    for (int c = 0; c < 64; c += 3) squeezed.push_back(x.get(0, c));
    for (int c = 0; c < 64; ++c) {
        const std::uint64_t a = x.get(0, c), b = x.get(1, c);
        CHECK(out.get(0, c) == x.get(c % 2, 32 + c / 2));
        CHECK(out.get(1, c) == (a & 0xFFFF));
        CHECK(out.get(2, c) == (std::size_t(c) < squeezed.size() ? squeezed[std::size_t(c)] : 0));
        CHECK(out.get(3, c) == std::uint64_t((c + 2) / 3));
        CHECK(out.get(4, c) == (a + b & 0xFFFFFFFFu));
        CHECK(out.get(5, c) == (a + b) >> 32);
        CHECK(out.get(6, c) == (a * b) >> 32);
        CHECK(out.get(7, c) == std::uint64_t(3 + 63 - c));
    }
    for (int k = 0; k < 128; ++k) {
        std::uint64_t n = 5;
        for (int c = 0; c < 256; ++c) n += bytes.get(0, c) <= std::uint64_t(k + 128);
        CHECK(counts.get(0, k) == n);
    }
}

TEST_CASE("cursors, address registers, gathers, unaligned streams") {
    Matrix x = random_matrix(generator, DType::fp32, 4, 64), out(DType::fp32, 4, 64), tight(DType::fp32, 1, 128),
           turned(DType::fp32, 1, 64);
    VectorOp op;
    op.add(x, 4, 64, true, false), op.add(out, 4, 64, false, true), op.add(tight, 1, 100, false, true),
        op.add(turned, 1, 64, false, true);
    const auto result = call(op, [&](Vf& v, const Tiles& t) {
        auto& b = v.b;
        const auto m = v.all();
        const auto i = b.var("i");
        const auto r = v.reg(DType::fp32), address = v.reg(DType::fp32, ir::RegKind::address);
        b.loop(i, b.num(4), [&] { // rows in order through the cursor of the source, backwards into the destination
            v.op("vf.load_align", {r}, {ir::MemoryRef{t[0], {}}, b.num(64)}, {{"post_update", true}});
            v.op("vf.create_addr_reg", {address}, {b.binary(ir::ExprOp::sub, b.num(3), b.get(i)), b.num(64)});
            v.op("vf.store_align", {}, {ir::MemoryRef{t[1], {}}, r, m, address});
        });
        const auto u = v.reg(DType::fp32, ir::RegKind::unaligned_store), third = v.all(DType::fp32, MaskPattern::m3),
                   s = v.reg(DType::fp32);
        v.op("vf.unalign_reg_for_store", {u}, {});
        b.loop(i, b.num(4), [&] { // every third lane of each row, appended
            v.op("vf.load_align", {r}, {ir::MemoryRef{t[0], {}}, b.binary(ir::ExprOp::mul, b.get(i), b.num(64))});
            v.op("vf.squeeze", {s}, {r, third});
            v.op("vf.store_unalign", {}, {ir::MemoryRef{t[2], {}}, s, u, std::monostate{}});
        });
        v.op("vf.store_unalign_post", {}, {ir::MemoryRef{t[2], {}}, u, std::monostate{}});
        const auto index = v.reg(DType::int32), g = v.reg(DType::fp32);
        v.op("vf.arange", {index}, {b.num(64)},
             {{"dtype", DType::int32}, {"index_order", isa::enum_value(isa::IndexOrder::decrease)}});
        v.op("vf.gather", {g}, {ir::MemoryRef{t[0], {}}, index, m});
        v.store(t[3], g, m);
    });
    INFO(all_messages(result));
    REQUIRE(result.status == Status::done);
    CHECK(result.hazards.size() == 1); // 88 of the 100 valid columns of `tight` were written
    CHECK(found(result, HazardKind::uninitialised));
    for (int c = 0; c < 64; ++c) {
        for (int r = 0; r < 4; ++r) CHECK(out.get(r, c) == x.get(3 - r, c));
        CHECK(turned.get(0, c) == x.get(1, 63 - c));
    }
    for (int k = 0; k < 88; ++k) CHECK(tight.get(0, k) == x.get(k / 22, k % 22 * 3));
}

TEST_CASE("a vector call outside UB is refused; under random orders it computes the same") {
    Matrix x = random_matrix(generator, DType::fp32, 2, 64), out(DType::fp32, 2, 64);
    const auto body = [](Vf& v, const Tiles& t) {
        const auto m = v.all(), r = v.reg(DType::fp32), a = v.load(t[0], DType::fp32),
                   b = v.load(t[0], DType::fp32, v.b.num(64));
        v.op("vf.sub", {r}, {a, b, m});
        v.store(t[1], r, m);
        v.op("vf.exp_sub", {r}, {a, b, m}, {{"dtype", DType::fp32}});
        v.store(t[1], r, m, v.b.num(64));
    };
    std::vector<std::uint8_t> seen;
    for (const char* order : {"program", "random(1)", "random(2)", "late(AIV0.V)"}) {
        VectorOp op;
        op.add(x, 2, 64, true, false), op.add(out, 2, 64, false, true);
        const auto result = call(op, body, under(order));
        INFO(order << all_messages(result));
        REQUIRE(result.status == Status::done);
        CHECK(result.hazards.empty());
        if (seen.empty()) seen = out.bytes;
        CHECK(seen == out.bytes);
        std::fill(out.bytes.begin(), out.bytes.end(), std::uint8_t(0));
    }
    VectorOp op;
    op.add(x, 2, 64, true, false), op.add(out, 2, 64, false, true);
    const auto result = call(op, [](Vf& v, const Tiles& t) { v.load(t[0], DType::fp32, v.b.num(1 << 20)); });
    CHECK(result.status == Status::out_of_range);
}
