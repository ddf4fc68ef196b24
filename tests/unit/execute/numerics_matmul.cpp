// The cube's product against plain loops: bit equality for many shapes, types and layouts.
#include "engine/execute/numerics/float_formats.hpp"
#include "engine/execute/numerics/matmul.hpp"
#include "engine/execute/numerics/tile_copy.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <cstring>
#include <random>

using namespace pto;
using namespace pto::numerics;
using isa::DType;
using isa::Layout;
using isa::MemorySpace;

namespace {

struct Buffer {
    isa::TileType type;
    std::vector<std::byte> bytes;
    TileMap map() const { return tile_map(type); }
    MatmulOperand operand() const { return {bytes.data(), type.dtype, map()}; }
    std::uint64_t at(std::int64_t r, std::int64_t c) const {
        return read_element(bytes.data(), map().bits, map().offset(r, c));
    }
};

Buffer buffer(std::int64_t rows, std::int64_t cols, DType t, MemorySpace memory, Layout layout, int fractal = 512) {
    Buffer b;
    auto up = [](std::int64_t x, int to) { return std::int32_t((x + to - 1) / to * to); };
    b.type.shape = {up(rows, 64), up(cols, 64)};
    b.type.dtype = t, b.type.memory = memory, b.type.layout = layout, b.type.fractal = fractal;
    b.type.fixed_valid = true;
    b.bytes.resize(std::size_t(b.type.byte_size()));
    return b;
}

/// Random finite patterns of moderate size, exact zeros included.
void fill(Buffer& b, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-2, 2);
    const std::int64_t n = std::int64_t(b.type.shape[0]) * b.type.shape[1];
    for (std::int64_t i = 0; i < n; ++i) {
        const float x = random() % 16 == 0 ? 0.0f : uniform(random);
        const std::uint64_t pattern =
            isa::is_float(b.type.dtype) ? encode(b.type.dtype, double(x)) : std::uint64_t(random());
        write_element(b.bytes.data(), b.map().bits, i, pattern);
    }
}

} // namespace

TEST_CASE("products are the documented fma chain, bit for bit") {
    std::mt19937 random(7);
    MatmulScratch scratch;
    const std::array<std::int64_t, 3> shapes[] = {{1, 1, 1},     {16, 16, 16},  {33, 17, 40},
                                                  {64, 64, 64},  {5, 100, 129}, {128, 48, 31},
                                                  {13, 33, 300}, {12, 32, 8},   {61, 1, 64}};
    const std::pair<DType, DType> types[] = {{DType::fp32, DType::fp32}, {DType::fp16, DType::fp16},
                                             {DType::bf16, DType::bf16}, {DType::fp8e4m3, DType::fp8e5m2},
                                             {DType::hf8, DType::hf8},   {DType::fp4e2m1, DType::fp4e1m2}};
    const std::pair<Layout, Layout> kinds[] = {{Layout::nz, Layout::zn},
                                               {Layout::nd, Layout::nd},
                                               {Layout::dn, Layout::dn},
                                               {Layout::zz, Layout::nz},
                                               {Layout::nz, Layout::nn}};
    for (auto [m, n, k] : shapes)
        for (auto [ta, tb] : types)
            for (auto [la, lb] : kinds) {
                Buffer a = buffer(m, k, ta, MemorySpace::left, la), b = buffer(k, n, tb, MemorySpace::right, lb);
                Buffer c = buffer(m, n, DType::fp32, MemorySpace::acc, Layout::nz, 1024);
                fill(a, random), fill(b, random), fill(c, random);
                const Buffer old = c;
                for (bool accumulate : {false, true}) {
                    c = old;
                    MatmulAddend addend;
                    if (accumulate) addend = {c.bytes.data(), c.map()};
                    REQUIRE(matmul(scratch, c.bytes.data(), c.map(), a.operand(), b.operand(), m, n, k, addend));
                    int wrong = 0;
                    for (std::int64_t i = 0; i < m; ++i)
                        for (std::int64_t j = 0; j < n; ++j) {
                            float p = 0;
                            for (std::int64_t x = 0; x < k; ++x)
                                p = std::fma(decode(ta, std::uint32_t(a.at(i, x))),
                                             decode(tb, std::uint32_t(b.at(x, j))), p);
                            if (accumulate) p = std::bit_cast<float>(std::uint32_t(old.at(i, j))) + p;
                            wrong += std::bit_cast<std::uint32_t>(p) != std::uint32_t(c.at(i, j)) ? 1 : 0;
                        }
                    REQUIRE(wrong == 0);
                }
            }
}

TEST_CASE("a bias is one addition and broadcasts over the rows") {
    std::mt19937 random(8);
    MatmulScratch scratch;
    Buffer a = buffer(20, 32, DType::fp16, MemorySpace::left, Layout::nz),
           b = buffer(32, 24, DType::fp16, MemorySpace::right, Layout::zn);
    Buffer c = buffer(20, 24, DType::fp32, MemorySpace::acc, Layout::nz, 1024),
           bias = buffer(1, 24, DType::fp32, MemorySpace::bias, Layout::nd);
    fill(a, random), fill(b, random), fill(bias, random);
    TileMap broadcast = bias.map();
    broadcast.row_near = 0;
    REQUIRE(
        matmul(scratch, c.bytes.data(), c.map(), a.operand(), b.operand(), 20, 24, 32, {bias.bytes.data(), broadcast}));
    for (int i = 0; i < 20; ++i)
        for (int j = 0; j < 24; ++j) {
            float p = 0;
            for (int x = 0; x < 32; ++x)
                p = std::fma(decode(DType::fp16, std::uint32_t(a.at(i, x))),
                             decode(DType::fp16, std::uint32_t(b.at(x, j))), p);
            p = std::bit_cast<float>(std::uint32_t(bias.at(0, j))) + p;
            REQUIRE(std::bit_cast<std::uint32_t>(p) == std::uint32_t(c.at(i, j)));
        }
}

TEST_CASE("integer products are exact and their accumulation saturates") {
    std::mt19937 random(9);
    MatmulScratch scratch;
    Buffer a = buffer(35, 70, DType::int8, MemorySpace::left, Layout::nz),
           b = buffer(70, 18, DType::int8, MemorySpace::right, Layout::zn);
    Buffer c = buffer(35, 18, DType::int32, MemorySpace::acc, Layout::nz, 1024);
    fill(a, random), fill(b, random);
    const std::int32_t starts[] = {0, 2147483647, -2147483647 - 1, 12345};
    for (std::int32_t start : starts) {
        for (std::int64_t i = 0; i < 35; ++i)
            for (std::int64_t j = 0; j < 18; ++j)
                write_element(c.bytes.data(), 32, c.map().offset(i, j), std::uint32_t(start));
        REQUIRE(
            matmul(scratch, c.bytes.data(), c.map(), a.operand(), b.operand(), 35, 18, 70, {c.bytes.data(), c.map()}));
        for (std::int64_t i = 0; i < 35; ++i)
            for (std::int64_t j = 0; j < 18; ++j) {
                std::int64_t p = start;
                for (std::int64_t x = 0; x < 70; ++x)
                    p += std::int64_t(std::int8_t(a.at(i, x))) * std::int8_t(b.at(x, j));
                p = std::min<std::int64_t>(std::max<std::int64_t>(p, -2147483648ll), 2147483647ll);
                REQUIRE(std::int32_t(c.at(i, j)) == p);
            }
    }
    CHECK_FALSE(matmul(scratch, c.bytes.data(), c.map(), a.operand(),
                       MatmulOperand{b.bytes.data(), DType::int16, b.map()}, 1, 1, 1));
}

TEST_CASE("MX products scale groups of 32") {
    std::mt19937 random(10);
    MatmulScratch scratch;
    const std::int64_t m = 21, n = 35, k = 128;
    for (DType t : {DType::fp8e4m3, DType::fp8e5m2, DType::fp4e2m1}) {
        Buffer a = buffer(m, k, t, MemorySpace::left, Layout::nz), b = buffer(k, n, t, MemorySpace::right, Layout::zn);
        Buffer sa = buffer(m, k / 32, DType::fp8e8m0, MemorySpace::scale_left, Layout::zz, 32),
               sb = buffer(k / 32, n, DType::fp8e8m0, MemorySpace::scale_right, Layout::nn, 32);
        Buffer c = buffer(m, n, DType::fp32, MemorySpace::acc, Layout::nz, 1024);
        fill(a, random), fill(b, random);
        for (auto& x : sa.bytes) x = std::byte(117 + random() % 20);
        for (auto& x : sb.bytes) x = std::byte(117 + random() % 20);
        REQUIRE(
            matmul_mx(scratch, c.bytes.data(), c.map(), a.operand(), b.operand(), sa.operand(), sb.operand(), m, n, k));
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                float p = 0;
                for (std::int64_t g = 0; g < k / 32; ++g) {
                    float sum = 0;
                    for (std::int64_t x = g * 32; x < g * 32 + 32; ++x)
                        sum = std::fma(decode(t, std::uint32_t(a.at(i, x))), decode(t, std::uint32_t(b.at(x, j))), sum);
                    p = p + float(std::ldexp(double(sum), int(sa.at(i, g)) + int(sb.at(g, j)) - 254));
                }
                REQUIRE(std::bit_cast<std::uint32_t>(p) == std::uint32_t(c.at(i, j)));
            }
    }
}

TEST_CASE("infinities and NaN follow IEEE and a NaN is the canonical one") {
    MatmulScratch scratch;
    Buffer a = buffer(2, 2, DType::fp32, MemorySpace::left, Layout::nz),
           b = buffer(2, 2, DType::fp32, MemorySpace::right, Layout::zn),
           c = buffer(2, 2, DType::fp32, MemorySpace::acc, Layout::nz, 1024);
    auto set = [](Buffer& x, int r, int col, float v) {
        write_element(x.bytes.data(), 32, x.map().offset(r, col), std::bit_cast<std::uint32_t>(v));
    };
    const float inf = HUGE_VALF;
    set(a, 0, 0, inf), set(b, 0, 0, 0), set(b, 0, 1, -2); // inf * 0 and inf * -2
    set(a, 1, 0, 1), set(a, 1, 1, 1), set(b, 1, 0, -0.0f);
    REQUIRE(matmul(scratch, c.bytes.data(), c.map(), a.operand(), b.operand(), 2, 2, 2));
    CHECK(c.at(0, 0) == nan_fp32);
    CHECK(c.at(0, 1) == 0xFF800000u);
    CHECK(c.at(1, 0) == 0u);
}
