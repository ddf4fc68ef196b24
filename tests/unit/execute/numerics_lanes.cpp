// Lanes and reductions against the scalar reference, on edge values and random patterns, and on every vector target of
// this machine.
#include "engine/execute/numerics/convert.hpp"
#include "engine/execute/numerics/lanes.hpp"
#include "engine/execute/numerics/matmul.hpp"
#include "engine/execute/numerics/reduce.hpp"
#include "engine/execute/numerics/reference.hpp"
#include "tests/support/catch.hpp"

#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace pto;
using namespace pto::numerics;

namespace {

const DType types[] = {DType::fp32,   DType::fp16,  DType::bf16,   DType::int8,  DType::uint8, DType::int16,
                       DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64};
constexpr int fn_count = int(LaneFn::mull) + 1;

std::uint64_t get(const std::vector<std::byte>& v, DType t, std::size_t i) {
    std::uint64_t out = 0;
    std::memcpy(&out, v.data() + i * std::size_t(isa::bytes(t)), std::size_t(isa::bytes(t)));
    return out;
}

/// Edge patterns, small values, and random patterns.
std::vector<std::byte> inputs(DType t, std::size_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> out(n * std::size_t(isa::bytes(t)));
    const double edges[] = {0.0,  -0.0,   1,     -1,       0.5,       2,   -3,    7,      100,          -100,
                            88.8, -104.5, 1e-40, HUGE_VAL, -HUGE_VAL, NAN, 65504, 3.4e38, 1.1754944e-38};
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t p = random();
        if (isa::is_float(t) && p % 3 == 0)
            p = encode(t, edges[random() % std::size(edges)]);
        else if (isa::is_float(t) && p % 3 == 1)
            p = encode(t, double(std::int64_t(random() % 4001) - 2000) / 64);
        else if (p % 3 == 0)
            p = random() % 20 - 10; // also shift counts
        else if (p % 3 == 1)
            p = random() % 2 != 0 ? 1ull << (isa::bits(t) - 1) : (1ull << (isa::bits(t) - 1)) - 1;
        std::memcpy(out.data() + i * std::size_t(isa::bytes(t)), &p, std::size_t(isa::bytes(t)));
    }
    return out;
}

bool approximate(LaneFn fn) {
    return fn == LaneFn::exp || fn == LaneFn::log || fn == LaneFn::log2 || fn == LaneFn::log10 ||
           fn == LaneFn::exp_sub || fn == LaneFn::exp_dif;
}

/// Distance in units of the last place; patterns of one sign are ordered like integers.
std::int64_t ulps(DType t, std::uint64_t a, std::uint64_t b) {
    if (a == b) return 0;
    const std::uint64_t sign = 1ull << (isa::bits(t) - 1);
    auto place = [&](std::uint64_t p) { return (p & sign) != 0 ? -std::int64_t(p & ~sign) : std::int64_t(p); };
    return std::abs(place(a) - place(b));
}

} // namespace

TEST_CASE("every lane function equals the scalar reference") {
    const std::size_t n = 3000;
    int kernels = 0;
    for (DType t : types) {
        const auto a = inputs(t, n, 1), b = inputs(t, n, 2), c = inputs(t, n, 3);
        std::vector<std::byte> out(n * std::size_t(isa::bytes(t)));
        std::vector<std::uint8_t> bits(n);
        for (int f = 0; f < fn_count; ++f) {
            const LaneFn fn = LaneFn(f);
            for (bool fused : {false, true}) {
                const UnaryKernel unary = unary_kernel(fn, t);
                const BinaryKernel binary = binary_kernel(fn, t);
                const TernaryKernel ternary = ternary_kernel(fn, t, fused);
                const CompareKernel compare = compare_kernel(fn, t);
                if (unary != nullptr)
                    unary(out.data(), a.data(), n);
                else if (binary != nullptr)
                    binary(out.data(), a.data(), b.data(), n);
                else if (ternary != nullptr)
                    ternary(out.data(), a.data(), b.data(), c.data(), n);
                else if (compare != nullptr)
                    compare(bits.data(), a.data(), b.data(), n);
                else
                    continue;
                if (isa::is_float(t) &&
                    (fn == LaneFn::bit_not || fn == LaneFn::bit_and || fn == LaneFn::bit_or || fn == LaneFn::bit_xor))
                    continue;
                ++kernels;
                INFO("function " << f << " on " << isa::name(t) << (fused ? " fused" : ""));
                std::int64_t worst = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    const auto expected = reference::lane(fn, t, get(a, t, i), get(b, t, i), get(c, t, i), fused);
                    REQUIRE(expected.has_value());
                    const std::uint64_t got = compare != nullptr ? bits[i] : get(out, t, i);
                    const std::int64_t away = isa::is_float(t) && compare == nullptr ? ulps(t, got, *expected)
                                                                                     : std::int64_t(got != *expected);
                    if (away > (approximate(fn) ? 1 : 0)) {
                        INFO("lane " << i << ": a " << std::hex << get(a, t, i) << " b " << get(b, t, i) << " c "
                                     << get(c, t, i) << " got " << got << " wanted " << *expected);
                        REQUIRE(got == *expected);
                    }
                    worst = std::max(worst, away);
                }
            }
        }
    }
    CHECK(kernels > 300);
}

TEST_CASE("exp and ln over the whole range of fp32") {
    std::vector<float> x, y;
    for (std::uint64_t bits = 0; bits < 0x7F800000u; bits += 1009) {
        x.push_back(std::bit_cast<float>(std::uint32_t(bits)));
        x.push_back(-x.back());
    }
    y.resize(x.size());
    unary_kernel(LaneFn::exp, DType::fp32)(y.data(), x.data(), x.size());
    std::size_t not_nearest = 0, far = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float exact = float(std::exp(double(x[i])));
        far += ulps(DType::fp32, std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(exact)) > 1 ? 1 : 0;
        not_nearest += y[i] != exact ? 1 : 0;
    }
    CHECK(not_nearest < x.size() / 10000); // the last bit differs only near ties
    unary_kernel(LaneFn::log, DType::fp32)(y.data(), x.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] < 0x1p-126f) continue; // subnormals count as zero, negatives as NaN: the reference test above
        far += ulps(DType::fp32, std::bit_cast<std::uint32_t>(y[i]),
                    std::bit_cast<std::uint32_t>(float(std::log(double(x[i]))))) > 1
                   ? 1
                   : 0;
    }
    CHECK(far == 0);
}

TEST_CASE("special values of the elementary functions") {
    auto one = [](LaneFn fn, float v) {
        float out;
        unary_kernel(fn, DType::fp32)(&out, &v, 1);
        return std::bit_cast<std::uint32_t>(out);
    };
    const float inf = HUGE_VALF;
    CHECK(one(LaneFn::exp, inf) == 0x7F800000u);
    CHECK(one(LaneFn::exp, -inf) == 0u);
    CHECK(one(LaneFn::exp, 0) == 0x3F800000u);
    CHECK(one(LaneFn::exp, 88.72284f) == 0x7F800000u);
    CHECK(one(LaneFn::exp, NAN) == nan_fp32);
    CHECK(one(LaneFn::log, 0) == 0xFF800000u);
    CHECK(one(LaneFn::log, -0.0f) == 0xFF800000u);
    CHECK(one(LaneFn::log, 1) == 0u);
    CHECK(one(LaneFn::log, -1) == nan_fp32);
    CHECK(one(LaneFn::log, inf) == 0x7F800000u);
    CHECK(one(LaneFn::recip, 0) == 0x7F800000u);
    CHECK(one(LaneFn::rsqrt, -0.0f) == 0xFF800000u);
    CHECK(one(LaneFn::sqrt, -1) == nan_fp32);
    CHECK(one(LaneFn::relu, -0.0f) == 0u);
    CHECK(one(LaneFn::relu, NAN) == nan_fp32);
    float z[2] = {-0.0f, 0.0f}, out;
    binary_kernel(LaneFn::max, DType::fp32)(&out, &z[0], &z[1], 1);
    CHECK(std::bit_cast<std::uint32_t>(out) == 0u);
    binary_kernel(LaneFn::min, DType::fp32)(&out, &z[1], &z[0], 1);
    CHECK(std::bit_cast<std::uint32_t>(out) == 0x80000000u);
}

TEST_CASE("in place, scalar operands, masks") {
    std::vector<float> x(1000), y, z;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i) / 7 - 50;
    y = x, z = x;
    unary_kernel(LaneFn::exp, DType::fp32)(z.data(), x.data(), x.size());
    unary_kernel(LaneFn::exp, DType::fp32)(y.data(), y.data(), y.size());
    CHECK(std::memcmp(y.data(), z.data(), 4000) == 0);
    const float two = 2;
    apply_scalar(binary_kernel(LaneFn::mul, DType::fp32), DType::fp32, y.data(), x.data(), &two, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == x[i] * 2);
    std::vector<std::uint8_t> lanes(1000), packed(125), again(1000);
    const float zero = 0;
    apply_scalar(compare_kernel(LaneFn::gt, DType::fp32), DType::fp32, lanes.data(), x.data(), &zero, x.size());
    pack_bits(packed.data(), lanes.data(), 1000);
    unpack_bits(again.data(), packed.data(), 1000);
    CHECK(lanes == again);
    CHECK((packed[42] == 0 && packed[43] == 0x80 && packed[44] == 0xFF)); // x > 0 from lane 351 on
    select_lanes(z.data(), lanes.data(), x.data(), y.data(), 4, 1000);
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(z[i] == (x[i] > 0 ? x[i] : y[i]));
}

TEST_CASE("row and column reductions keep the documented order") {
    std::mt19937 random(21);
    std::normal_distribution<float> normal(0, 100);
    for (std::size_t n : {1u, 2u, 63u, 64u, 65u, 200u, 500u}) {
        std::vector<float> x(n);
        for (auto& v : x) v = normal(random);
        float got;
        REQUIRE(reduce_row(LaneFn::sum, DType::fp32, x.data(), n, &got));
        CHECK(std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(reference::row_sum(x.data(), n)));
        std::vector<std::uint16_t> h(n);
        fp32_to_fp16(x.data(), h.data(), n);
        std::uint16_t total = 0, sum16;
        for (std::size_t first = 0; first < n; first += 128) { // 128 halves a chunk, summed in fp32
            std::vector<float> level(128, 0.0f);
            for (std::size_t i = first; i < std::min(n, first + 128); ++i) level[i - first] = fp16_to_fp32(h[i]);
            for (std::size_t half = 64; half > 0; half /= 2)
                for (std::size_t i = 0; i < half; ++i) level[i] = level[2 * i] + level[2 * i + 1];
            total = fp32_to_fp16(fp16_to_fp32(total) + fp16_to_fp32(fp32_to_fp16(level[0])));
        }
        REQUIRE(reduce_row(LaneFn::sum, DType::fp16, h.data(), n, &sum16));
        CHECK(sum16 == total);
        float best = x[0];
        std::int32_t at = 0, index;
        for (std::size_t i = 0; i < n; ++i)
            if (x[i] > best) best = x[i], at = std::int32_t(i);
        REQUIRE(reduce_row(LaneFn::max, DType::fp32, x.data(), n, &got));
        CHECK(got == best);
        REQUIRE(arg_row(LaneFn::argmax, DType::fp32, x.data(), n, &index));
        CHECK(index == at);
        x[n / 2] = NAN;
        REQUIRE(reduce_row(LaneFn::min, DType::fp32, x.data(), n, &got));
        CHECK(std::bit_cast<std::uint32_t>(got) == nan_fp32);
        REQUIRE(arg_row(LaneFn::argmin, DType::fp32, x.data(), n, &index));
        CHECK(index == std::int32_t(n / 2));
    }
    for (std::size_t rows : {1u, 2u, 3u, 4u, 7u}) {
        const std::size_t cols = 300, stride = 320;
        std::vector<float> m(rows * stride), got(cols);
        for (auto& v : m) v = normal(random);
        REQUIRE(reduce_columns(LaneFn::sum, DType::fp32, m.data(), rows, std::int64_t(stride * 4), cols, got.data()));
        for (std::size_t c = 0; c < cols; ++c) {
            float total = m[c];
            std::size_t r = 1;
            for (; r + 1 < rows; r += 2) total = total + (m[r * stride + c] + m[(r + 1) * stride + c]);
            if (r < rows) total = total + m[r * stride + c];
            REQUIRE(got[c] == total);
        }
        std::vector<std::int32_t> index(cols);
        REQUIRE(arg_columns(LaneFn::argmin, DType::fp32, m.data(), rows, std::int64_t(stride * 4), cols, index.data()));
        for (std::size_t c = 0; c < cols; ++c)
            for (std::size_t r = 0; r < rows; ++r) REQUIRE(m[std::size_t(index[c]) * stride + c] <= m[r * stride + c]);
    }
    const std::int16_t wrapping[] = {30000, 30000, 30000};
    std::int16_t low;
    REQUIRE(reduce_row(LaneFn::sum, DType::int16, wrapping, 3, &low));
    CHECK(low == std::int16_t(90000 - 65536));
    const std::int32_t ties[] = {3, 9, 9, 1};
    std::int32_t at;
    REQUIRE(arg_row(LaneFn::argmax, DType::int32, ties, 4, &at));
    CHECK(at == 1);
    CHECK_FALSE(reduce_row(LaneFn::sum, DType::fp8e4m3, ties, 4, &at));
}

TEST_CASE("sort records are stable, descending, and merge") {
    std::mt19937 random(22);
    std::vector<float> x(64);
    std::vector<std::uint32_t> index(64);
    for (std::size_t i = 0; i < 64; ++i) x[i] = float(random() % 10), index[i] = std::uint32_t(i);
    struct Record {
        float value;
        std::uint32_t index;
    };
    std::vector<Record> out(64), merged(64);
    REQUIRE(sort32(DType::fp32, x.data(), index.data(), 64, out.data()));
    for (std::size_t i = 0; i < 64; ++i) {
        CHECK(x[out[i].index] == out[i].value);
        if (i % 32 != 0)
            CHECK((out[i - 1].value > out[i].value ||
                   (out[i - 1].value == out[i].value && out[i - 1].index < out[i].index)));
    }
    const RecordList lists[] = {{out.data(), 32}, {out.data() + 32, 32}};
    std::size_t taken[2];
    REQUIRE(merge_records(DType::fp32, lists, 2, 64, false, merged.data(), taken) == 64);
    for (std::size_t i = 1; i < 64; ++i)
        CHECK((merged[i - 1].value > merged[i].value ||
               (merged[i - 1].value == merged[i].value && merged[i - 1].index < merged[i].index)));
    CHECK(taken[0] + taken[1] == 64);
    REQUIRE(merge_records(DType::fp32, lists, 2, 64, true, merged.data(), taken) < 64);
    CHECK((taken[0] == 32 || taken[1] == 32));
    std::vector<std::uint16_t> h = {0x3C00, 0x4000, 0xBC00}, records(12, 0xFFFF);
    REQUIRE(sort32(DType::fp16, h.data(), index.data(), 3, records.data()));
    CHECK(records == std::vector<std::uint16_t>{0x4000, 0, 1, 0, 0x3C00, 0, 0, 0, 0xBC00, 0, 2, 0});
}

TEST_CASE("values do not depend on the vector target") {
    // One digest of lanes, conversions and a product per target the machine and the build have; the baseline is always
    // among them.
    auto digest = [] {
        std::uint64_t h = 1469598103934665603ull;
        auto mix = [&](const void* p, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) h = (h ^ static_cast<const std::uint8_t*>(p)[i]) * 1099511628211ull;
        };
        const std::size_t n = 777;
        for (DType t : types) {
            const auto a = inputs(t, n, 31), b = inputs(t, n, 32), c = inputs(t, n, 33);
            std::vector<std::byte> out(n * std::size_t(isa::bytes(t)));
            for (int f = 0; f < fn_count; ++f) {
                if (auto k = unary_kernel(LaneFn(f), t)) k(out.data(), a.data(), n), mix(out.data(), out.size());
                if (auto k = binary_kernel(LaneFn(f), t))
                    k(out.data(), a.data(), b.data(), n), mix(out.data(), out.size());
                if (auto k = compare_kernel(LaneFn(f), t))
                    k(reinterpret_cast<std::uint8_t*>(out.data()), a.data(), b.data(), n), mix(out.data(), n);
                for (bool fused : {false, true})
                    if (auto k = ternary_kernel(LaneFn(f), t, fused))
                        k(out.data(), a.data(), b.data(), c.data(), n), mix(out.data(), out.size());
            }
        }
        const auto a = inputs(DType::fp16, 48 * 80, 41), b = inputs(DType::fp16, 80 * 48, 42);
        std::vector<float> c(48 * 48);
        TileMap left, right, acc;
        left.bits = right.bits = 16, left.row_near = 80, right.row_near = 48, acc.row_near = 48;
        MatmulScratch scratch;
        matmul(scratch, reinterpret_cast<std::byte*>(c.data()), acc, {a.data(), DType::fp16, left},
               {b.data(), DType::fp16, right}, 45, 43, 77);
        mix(c.data(), c.size() * 4);
        return h;
    };
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::uint64_t best = digest();
    int targets = 0;
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & -left);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        CHECK(digest() == best);
        ++targets;
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    CHECK(targets >= 1);
    if (targets < 2) WARN("this machine has one vector target only: nothing was compared");
}
