// Formats and casts: every pattern of the small formats, exact rational rounding, the boundary values of the language
// page.
#include "engine/execute/numerics/cast.hpp"
#include "engine/execute/numerics/convert.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <vector>

using namespace pto;
using namespace pto::numerics;

namespace {

const DType small_formats[] = {DType::fp16,    DType::bf16,    DType::fp8e4m3, DType::fp8e5m2,
                               DType::fp4e2m1, DType::fp4e1m2, DType::hf8};
const Rounding modes[] = {Rounding::rint, Rounding::round, Rounding::floor,
                          Rounding::ceil, Rounding::trunc, Rounding::odd};

/// Finite values of a format in increasing order with their patterns; one zero.
std::map<double, std::uint32_t> values_of(DType t) {
    std::map<double, std::uint32_t> out;
    for (std::uint32_t p = 0; p < 1u << isa::bits(t); ++p) {
        const double v = double(decode(t, p));
        if (std::isfinite(v) && !(v == 0 && p != 0)) out[v] = p;
    }
    return out;
}

/// Rounding by looking at the two neighbours: exact because the sums and halves of neighbours are doubles. Finite range
/// only.
double neighbour(const std::map<double, std::uint32_t>& values, double x, Rounding mode) {
    const auto above = values.lower_bound(x);
    if (above->first == x) return x;
    const auto below = std::prev(above);
    const double low = below->first, high = above->first, middle = (low + high) / 2;
    switch (mode) {
    case Rounding::floor: return low;
    case Rounding::ceil: return high;
    case Rounding::trunc: return x < 0 ? high : low;
    case Rounding::odd: return (below->second & 1) != 0 ? low : high;
    case Rounding::round: return x < middle ? low : x > middle ? high : x < 0 ? low : high;
    default: return x < middle ? low : x > middle ? high : (below->second & 1) == 0 ? low : high;
    }
}

} // namespace

TEST_CASE("decode and encode are inverse on every pattern") {
    for (DType t : small_formats)
        for (std::uint32_t p = 0; p < 1u << isa::bits(t); ++p) {
            const float v = decode(t, p);
            const std::uint32_t back = encode(t, double(v));
            if (v != v)
                REQUIRE(decode(t, back) != decode(t, back));
            else
                REQUIRE(back == p);
            for (Rounding mode : modes)
                if (v == v) REQUIRE(encode(t, double(v), mode) == p);
        }
    for (std::uint32_t p = 0; p < 256; ++p) {
        const float v = decode(DType::fp8e8m0, p);
        if (p == 255)
            REQUIRE(v != v);
        else
            REQUIRE(double(v) == std::ldexp(1.0, int(p) - 127));
        REQUIRE(encode(DType::fp8e8m0, double(v)) == p);
    }
}

TEST_CASE("known values of the small formats") {
    CHECK(decode(DType::fp8e4m3, 0x7E) == 448.0f);
    CHECK(decode(DType::fp8e4m3, 0x01) == 0x1p-9f);
    CHECK(decode(DType::fp8e5m2, 0x7B) == 57344.0f);
    CHECK(decode(DType::fp8e5m2, 0x7C) == HUGE_VALF);
    CHECK(decode(DType::fp4e2m1, 7) == 6.0f);
    CHECK(decode(DType::fp4e2m1, 1) == 0.5f);
    CHECK(decode(DType::fp4e1m2, 7) == 1.75f);
    CHECK(decode(DType::hf8, 0x6E) == 32768.0f);
    CHECK(decode(DType::hf8, 0x6F) == HUGE_VALF);
    CHECK(decode(DType::hf8, 0x01) == 0x1p-22f);
    CHECK(decode(DType::hf8, 0x08) == 1.0f);
    CHECK(decode(DType::hf8, 0x0F) == 1.875f);
    CHECK(decode(DType::fp16, 0x7BFF) == 65504.0f);
    CHECK(decode(DType::bf16, 0x3F80) == 1.0f);
    CHECK(values_of(DType::hf8).size() == 253); // 256 less NaN and two infinities
}

TEST_CASE("rounding goes to the right neighbour in every mode") {
    std::mt19937_64 random(11);
    std::size_t checked = 0;
    for (DType t : {DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2, DType::fp4e2m1, DType::fp4e1m2}) {
        const auto values = values_of(t);
        const double largest = values.rbegin()->first;
        std::vector<double> inputs;
        for (auto it = values.begin(); std::next(it) != values.end(); ++it) { // ties and their surroundings
            const double middle = (it->first + std::next(it)->first) / 2;
            for (double x : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)})
                inputs.push_back(x);
        }
        for (int i = 0; i < 20000; ++i) {
            const double x = std::bit_cast<double>(random());
            if (std::abs(x) <= largest) inputs.push_back(x);
            inputs.push_back(std::ldexp(double(std::int64_t(random())), -63) *
                             std::ldexp(largest, -int(random() % 30)));
        }
        for (double x : inputs)
            for (Rounding mode : modes) {
                const double got = double(decode(t, encode(t, x, mode))), wanted = neighbour(values, x, mode);
                if (got != wanted) { // a macro for each of a million inputs costs more than the arithmetic
                    INFO(isa::name(t) << " mode " << int(mode) << " input " << x);
                    REQUIRE(got == wanted);
                }
                ++checked;
            }
    }
    CHECK(checked > 1000000);
}

TEST_CASE("HF8 rounds ties away and keeps its boundaries") {
    const auto values = values_of(DType::hf8);
    std::mt19937_64 random(12);
    for (int i = 0; i < 20000; ++i) {
        const double x =
            std::ldexp(1.0 + double(random() % 4096) / 4096, int(random() % 38) - 23) * (random() % 2 != 0 ? 1 : -1);
        if (std::abs(x) > 32768) continue;
        REQUIRE(double(decode(DType::hf8, encode(DType::hf8, x, Rounding::round, true))) ==
                neighbour(values, x, Rounding::round));
    }
    CHECK(encode(DType::hf8, 40959.0, Rounding::round) == 0x6E);
    CHECK(encode(DType::hf8, 40960.0, Rounding::round) == 0x6F);
    CHECK(encode(DType::hf8, 40960.0, Rounding::round, true) == 0x6E);
    CHECK(encode(DType::hf8, 0x1p-23, Rounding::round) == 0x01);
    CHECK(encode(DType::hf8, -0x1.fp-24, Rounding::round) == 0x00);
    CHECK(encode(DType::hf8, std::nan(""), Rounding::round) == 0x80);
    CHECK(encode(DType::hf8, std::nan(""), Rounding::round, true) == 0x00);
    for (std::uint32_t p = 0; p < 256; ++p) // HYBRID moves no exact value and never leaves the two neighbours
        if (std::isfinite(decode(DType::hf8, p)))
            CHECK(encode(DType::hf8, double(decode(DType::hf8, p)), Rounding::hybrid) == p);
    for (int i = 0; i < 5000; ++i) {
        const double x = double(std::ldexp(float(1.0 + double(random() % 8388608) / 8388608), int(random() % 36) - 21));
        if (x > 32768) continue;
        const double y = double(decode(DType::hf8, encode(DType::hf8, x, Rounding::hybrid, true)));
        REQUIRE((y == neighbour(values, x, Rounding::floor) || y == neighbour(values, x, Rounding::ceil)));
    }
}

TEST_CASE("overflow, infinity and NaN") {
    const double inf = HUGE_VAL, nan = std::nan("");
    CHECK(encode(DType::fp16, 65519.0) == 0x7BFF);
    CHECK(encode(DType::fp16, 65520.0) == 0x7C00);
    CHECK(encode(DType::fp16, 65520.0, Rounding::rint, true) == 0x7BFF);
    CHECK(encode(DType::fp16, -1e30, Rounding::trunc) == 0xFBFF);
    CHECK(encode(DType::fp16, -1e30, Rounding::floor) == 0xFC00);
    CHECK(encode(DType::fp16, nan) == nan_fp16);
    CHECK(encode(DType::fp16, nan, Rounding::rint, true) == 0);
    CHECK(encode(DType::fp8e4m3, 464.0) == 0x7E);
    CHECK(encode(DType::fp8e4m3, 464.1) == 0x7F);
    CHECK(encode(DType::fp8e4m3, inf) == 0x7F);
    CHECK(encode(DType::fp8e4m3, -inf, Rounding::rint, true) == 0xFE);
    CHECK(encode(DType::fp8e5m2, 1e6) == 0x7C);
    CHECK(encode(DType::fp8e5m2, -1e6, Rounding::rint, true) == 0xFB);
    CHECK(encode(DType::fp4e2m1, 100.0) == 7);
    CHECK(encode(DType::fp4e1m2, -inf) == 0xF);
    CHECK(encode(DType::fp4e2m1, nan) == 0);
    CHECK(encode(DType::fp8e8m0, inf) == 0xFE);
    CHECK(encode(DType::fp8e8m0, nan) == 0xFF);
    CHECK(encode(DType::fp8e8m0, 1.9 * 0x1p127) == 0xFE);
    CHECK(encode(DType::fp32, 1e300, Rounding::rint, true) == 0x7F800000u);
    CHECK(encode(DType::fp32, 0x1p-150) == 0);
    CHECK(encode(DType::fp32, 0x1.8p-149) == 2);
}

TEST_CASE("bulk conversions equal the exact ones") {
    std::vector<std::uint16_t> halves(65536);
    for (std::uint32_t i = 0; i < 65536; ++i) halves[i] = std::uint16_t(i);
    std::vector<float> wide(65536);
    fp16_to_fp32(halves.data(), wide.data(), wide.size());
    for (std::uint32_t i = 0; i < 65536; ++i) { // an independent decoding
        const int e = int(i >> 10 & 31), f = int(i & 1023);
        const double size = e == 0    ? std::ldexp(f, -24)
                            : e == 31 ? (f != 0 ? std::nan("") : HUGE_VAL)
                                      : std::ldexp(1024 + f, e - 25);
        if (size != size)
            REQUIRE(std::bit_cast<std::uint32_t>(wide[i]) == nan_fp32);
        else
            REQUIRE(wide[i] == float((i & 0x8000) != 0 ? -size : size));
        REQUIRE(std::signbit(wide[i]) == ((i & 0x8000) != 0 && size == size));
    }
    bf16_to_fp32(halves.data(), wide.data(), wide.size());
    for (std::uint32_t i = 0; i < 65536; ++i)
        REQUIRE(std::bit_cast<std::uint32_t>(wide[i]) == std::bit_cast<std::uint32_t>(decode(DType::bf16, i)));
    std::mt19937 random(13);
    std::vector<float> x;
    for (std::uint32_t i = 0; i < 65536;
         ++i) { // every fp16 value, its upper neighbour midpoint and beyond, and random patterns
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(decode(DType::fp16, i));
        for (std::uint32_t d : {0u, 0x0FFFu, 0x1000u, 0x1001u}) x.push_back(std::bit_cast<float>(bits + d));
        x.push_back(std::bit_cast<float>(std::uint32_t(random())));
        x.push_back(std::bit_cast<float>(0x33000000u + std::uint32_t(random() % 0x06000000u))); // around the subnormals
        x.push_back(std::bit_cast<float>(i << 16 | 0x8000u));
    }
    std::vector<std::uint16_t> out(x.size());
    auto check = [&](auto convert, DType t, Rounding mode) {
        convert(x.data(), out.data(), x.size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) wrong += out[i] != encode(t, double(x[i]), mode) ? 1 : 0;
        CHECK(wrong == 0);
    };
    check([](auto... a) { fp32_to_fp16(a...); }, DType::fp16, Rounding::rint);
    check([](auto... a) { fp32_to_fp16_away(a...); }, DType::fp16, Rounding::round);
    check([](auto... a) { fp32_to_bf16(a...); }, DType::bf16, Rounding::rint);
    check([](auto... a) { fp32_to_bf16_away(a...); }, DType::bf16, Rounding::round);
}

TEST_CASE("tile casts: ties, ranges, wrapping pairs") {
    using isa::RoundMode;
    auto cast = [](DType from, double x, DType to, RoundMode mode) {
        const std::uint64_t in = isa::is_float(from) ? encode(from, x) : std::uint64_t(std::int64_t(x));
        return cast_element(from, in, to, tile_cast_rule(from, to, mode));
    };
    // 1.01953125 is a tie of bf16.
    CHECK(double(decode(DType::bf16, std::uint32_t(cast(DType::fp32, 1.01953125, DType::bf16, RoundMode::rint)))) ==
          1.015625);
    CHECK(double(decode(DType::bf16, std::uint32_t(cast(DType::fp32, 1.01953125, DType::bf16, RoundMode::round)))) ==
          1.0234375);
    for (auto [x, y] : {std::pair{65504.0, 65504.0},
                        {65505.0, 65504.0},
                        {65519.0, 65504.0},
                        {65520.0, HUGE_VAL},
                        {70000.0, HUGE_VAL}})
        for (DType from : {DType::fp32, DType::int32})
            for (double sign : {1.0, -1.0})
                CHECK(double(decode(DType::fp16, std::uint32_t(cast(from, sign * x, DType::fp16, RoundMode::round)))) ==
                      sign * y);
    CHECK(cast(DType::fp32, 2.5, DType::int32, RoundMode::rint) == 2);
    CHECK(cast(DType::fp32, 2.5, DType::int32, RoundMode::round) == 3);
    CHECK(cast(DType::fp32, -2.5, DType::int32, RoundMode::floor) == 0xFFFFFFFDu);
    CHECK(cast(DType::fp32, -2.5, DType::int32, RoundMode::none) == 0xFFFFFFFEu);
    CHECK(cast(DType::fp32, 2.7, DType::int32, RoundMode::odd) == 2); // ODD is FP32 -> FP16 only, elsewhere NONE
    CHECK(cast(DType::fp32, 3e9, DType::int32, RoundMode::rint) == 0x7FFFFFFF);
    CHECK(cast(DType::fp32, HUGE_VAL, DType::int32, RoundMode::rint) == 0x7FFFFFFF);
    CHECK(cast(DType::fp32, std::nan(""), DType::int32, RoundMode::rint) == 0);
    CHECK(cast(DType::fp16, 257.0, DType::uint8, RoundMode::rint) == 1);   // wraps
    CHECK(cast(DType::fp32, 65537.0, DType::int16, RoundMode::rint) == 1); // wraps
    CHECK(cast(DType::fp32, 300.0, DType::uint8, RoundMode::rint) == 255); // clamps
    CHECK(cast(DType::int32, 65537, DType::int16, RoundMode::rint) == 1);
    CHECK(cast(DType::int32, 300, DType::int8, RoundMode::rint) == 127);
    CHECK(cast(DType::int16, -5, DType::uint8, RoundMode::rint) == 0);
    CHECK(cast(DType::int64, 4294967297.0, DType::int32, RoundMode::rint) == 1);
    CHECK(cast(DType::fp32, 1e9, DType::fp8e4m3, RoundMode::rint) == 0x7E);
    CHECK(cast(DType::fp32, 1.0 + 0x1p-11, DType::fp16, RoundMode::odd) == 0x3C01);
    CHECK(cast(DType::fp32, -2.5, DType::fp32, RoundMode::round) == encode(DType::fp32, -3.0));
    CHECK(cast_element(DType::int64, (1ull << 53) + 1, DType::fp32, {Rounding::rint, false}) ==
          std::bit_cast<std::uint32_t>(0x1p53f));
    CHECK(cast_element(DType::uint64, ~0ull, DType::fp32, {Rounding::trunc, false}) ==
          std::bit_cast<std::uint32_t>(0x1.fffffep63f));
}

TEST_CASE("register conversions: saturation off keeps low bits") {
    using isa::SaturateMode;
    using isa::VfRoundMode;
    auto to = [](DType from, std::uint64_t in, DType t, SaturateMode s, VfRoundMode m = VfRoundMode::rint) {
        return cast_element(from, in, t, astype_rule(from, t, m, s));
    };
    const auto h257 = encode(DType::fp16, 257.0);
    CHECK(to(DType::fp16, h257, DType::uint8, SaturateMode::off) == 1);
    CHECK(to(DType::fp16, h257, DType::uint8, SaturateMode::on) == 255);
    CHECK(to(DType::fp16, 0x7C00, DType::int8, SaturateMode::off) == 127);
    CHECK(to(DType::fp16, nan_fp16, DType::int8, SaturateMode::off) == 0);
    CHECK(to(DType::fp32, encode(DType::fp32, 0x1p70), DType::int64, SaturateMode::off) == 0);
    CHECK(to(DType::fp32, encode(DType::fp32, 0x1p70), DType::int64, SaturateMode::on) == 0x7FFFFFFFFFFFFFFFull);
    CHECK(to(DType::fp32, encode(DType::fp32, 0x1.8p63), DType::int64, SaturateMode::off) == 0xC000000000000000ull);
    CHECK(to(DType::int16, 0xFFFF, DType::uint32, SaturateMode::off) == 0);
    CHECK(to(DType::int16, 0xFFFF, DType::int32, SaturateMode::off) == 0xFFFFFFFFu);
    CHECK(to(DType::int16, 0x0105, DType::uint8, SaturateMode::off) == 5);
    CHECK(to(DType::int16, 0x0105, DType::int4, SaturateMode::on) == 7);
    CHECK(to(DType::fp32, 0x7F800000, DType::fp16, SaturateMode::off) == 0x7C00);
    CHECK(to(DType::fp32, 0x7F800000, DType::fp16, SaturateMode::on) == 0x7BFF);
    CHECK(to(DType::fp32, 0x7F800000, DType::fp8e4m3, SaturateMode::off) ==
          0x7E); // the generator always saturates here
    CHECK(to(DType::bf16, 0x7F80, DType::fp4e2m1, SaturateMode::off) == 7);
    CHECK(to(DType::bf16, 0x7F80, DType::fp8e8m0, SaturateMode::off) == 0xFE);
    CHECK(to(DType::bf16, 0x7FC0, DType::fp8e8m0, SaturateMode::off) == 0xFF);
    CHECK(to(DType::fp32, encode(DType::fp32, 1.0625), DType::hf8, SaturateMode::on) == 0x09); // ties away
}

TEST_CASE("lanes of a cast equal its elements") {
    std::mt19937_64 random(14);
    const DType types[] = {DType::fp32,    DType::fp16,  DType::bf16,   DType::fp8e4m3, DType::hf8,
                           DType::fp4e2m1, DType::int4,  DType::int8,   DType::uint8,   DType::int16,
                           DType::uint16,  DType::int32, DType::uint32, DType::int64,   DType::uint64};
    for (DType from : types)
        for (DType to : types)
            for (auto mode :
                 {isa::RoundMode::rint, isa::RoundMode::round, isa::RoundMode::none, isa::RoundMode::ceil}) {
                const std::size_t n = 300;
                std::vector<std::uint64_t> src(n + 1), dst(n + 1);
                for (auto& x : src) x = random();
                const CastRule rule = tile_cast_rule(from, to, mode);
                cast_lanes(from, src.data(), to, dst.data(), n, rule);
                auto at = [](const std::vector<std::uint64_t>& v, DType t, std::size_t i) {
                    const auto* b = reinterpret_cast<const std::uint8_t*>(v.data());
                    std::uint64_t out = 0;
                    if (isa::bits(t) == 4) return std::uint64_t(b[i / 2] >> (i % 2 * 4) & 0xF);
                    for (int k = 0; k < isa::bytes(t); ++k)
                        out |= std::uint64_t(b[i * std::size_t(isa::bytes(t)) + std::size_t(k)]) << (8 * k);
                    return out;
                };
                int wrong = 0;
                for (std::size_t i = 0; i < n; ++i)
                    wrong += at(dst, to, i) != cast_element(from, at(src, from, i), to, rule) ? 1 : 0;
                REQUIRE(wrong == 0);
            }
}

TEST_CASE("fixpipe and quantisation") {
    const std::int32_t acc[] = {-7, 0, 2147483647};
    std::int32_t copied[3];
    fixpipe_lanes(DType::int32, acc, DType::int32, copied, 3, {});
    CHECK(copied[0] == -7);
    fixpipe_lanes(DType::int32, acc, DType::int32, copied, 3, {true, false, 1});
    CHECK(copied[0] == 0);
    const float x[] = {-300.0f, 2.5f, 3.5f, 1000.0f};
    std::int8_t q[4];
    fixpipe_lanes(DType::fp32, x, DType::int8, q, 4, {false, true, 1.0f});
    CHECK((q[0] == -128 && q[1] == 2 && q[2] == 4 && q[3] == 127));
    std::uint16_t half[4];
    fixpipe_lanes(DType::fp32, x, DType::fp16, half, 4, {true, false, 1.0f});
    CHECK((half[0] == 0 && half[1] == 0x4100));
    CHECK(fixpipe_scale(std::bit_cast<std::uint32_t>(0x1.ffffp0f)) == 0x1.ffcp0f); // ten bits stay
    quant_sym(x, q, 4, 0.5f);
    CHECK((q[0] == -128 && q[1] == 1 && q[2] == 2 && q[3] == 127));
    std::uint8_t u[4];
    quant_asym(x, u, 4, 0.5f, 10.0f);
    CHECK((u[0] == 0 && u[1] == 11 && u[2] == 12 && u[3] == 255));
    float back[4];
    dequant(DType::int8, q, back, 4, 2.0f, -1.0f);
    CHECK(back[0] == -254.0f);
}

TEST_CASE("bulk float to integer equals the element rule on ties and ends") {
    std::vector<float> x = {HUGE_VALF, -HUGE_VALF, NAN,         2147483648.0f, -2147483648.0f, 2147483520.0f,
                            1e30f,     -1e30f,     0.49999997f, -0.49999997f,  8388607.5f,     -0.0f};
    for (int i = -1100; i <= 1100; ++i) x.push_back(float(i) / 4);
    for (DType to : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64})
        for (Rounding mode : modes)
            for (bool saturate : {false, true}) {
                std::vector<std::uint64_t> out(x.size());
                cast_lanes(DType::fp32, x.data(), to, out.data(), x.size(), {mode, saturate});
                for (std::size_t i = 0; i < x.size(); ++i) {
                    std::uint64_t got = 0;
                    std::memcpy(&got,
                                reinterpret_cast<const std::uint8_t*>(out.data()) + i * std::size_t(isa::bytes(to)),
                                std::size_t(isa::bytes(to)));
                    INFO(x[i] << " to " << isa::name(to) << " mode " << int(mode) << " saturate " << saturate);
                    REQUIRE(got == cast_element(DType::fp32, std::bit_cast<std::uint32_t>(x[i]), to, {mode, saturate}));
                }
            }
}
