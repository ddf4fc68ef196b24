// Layout maps: bijection, the formulas of the language page, the NZ/ZN identity, footprints, copies between layouts.
#include "engine/execute/numerics/tile_copy.hpp"
#include "tests/support/catch.hpp"

#include <random>
#include <set>

using namespace pto;
using namespace pto::numerics;
using isa::DType;
using isa::Layout;
using isa::MemorySpace;

namespace {

isa::TileType tile(int rows, int cols, DType t, MemorySpace memory, Layout layout, int fractal = 512, int compact = 0) {
    isa::TileType out;
    out.shape = {rows, cols}, out.dtype = t, out.memory = memory, out.layout = layout, out.fractal = fractal;
    out.compact = std::uint8_t(compact), out.valid = out.shape;
    return out;
}

/// Sorted bytes that belong to a region, element by element.
std::set<std::int64_t> bytes_of(const TileMap& m, std::int64_t base, std::int64_t r0, std::int64_t c0,
                                std::int64_t rows, std::int64_t cols) {
    std::set<std::int64_t> out;
    for (std::int64_t r = r0; r < r0 + rows; ++r)
        for (std::int64_t c = c0; c < c0 + cols; ++c)
            for (std::int64_t b = 0; b < std::max(1, m.bits / 8); ++b) out.insert(base + m.byte_offset(r, c) + b);
    return out;
}
std::set<std::int64_t> bytes_of(const Footprint& fp) {
    std::set<std::int64_t> out;
    for_each_interval(fp, [&](std::int64_t at, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) out.insert(at + i);
    });
    return out;
}

const Layout layouts[] = {Layout::nd, Layout::dn, Layout::nz, Layout::zn, Layout::zz, Layout::nn};
const DType widths[] = {DType::int8, DType::fp16, DType::fp32, DType::int64, DType::fp4e2m1};

} // namespace

TEST_CASE("each layout is a bijection of the padded tile") {
    for (DType t : widths)
        for (Layout layout : layouts) {
            const auto type = tile(64, 128, t, MemorySpace::mat, layout);
            const TileMap m = tile_map(type);
            std::vector<char> seen(64 * 128, 0);
            for (int r = 0; r < 64; ++r)
                for (int c = 0; c < 128; ++c) {
                    const std::int64_t at = m.offset(r, c);
                    REQUIRE(at >= 0);
                    REQUIRE(at < 64 * 128);
                    REQUIRE(seen[std::size_t(at)] == 0);
                    seen[std::size_t(at)] = 1;
                }
        }
}

TEST_CASE("offsets are those of the language page") {
    const auto nz = tile_map(tile(40, 64, DType::fp16, MemorySpace::mat, Layout::nz)); // Rp = 48
    const auto acc = tile_map(tile(48, 64, DType::fp32, MemorySpace::acc, Layout::nz, 1024));
    const auto zn = tile_map(tile(64, 40, DType::fp32, MemorySpace::mat, Layout::zn)); // Cp = 48
    const auto zz = tile_map(tile(48, 64, DType::fp16, MemorySpace::mat, Layout::zz));
    const auto scale_a = tile_map(tile(48, 8, DType::fp8e8m0, MemorySpace::mat, Layout::zz, 32));
    const auto scale_b = tile_map(tile(8, 48, DType::fp8e8m0, MemorySpace::mat, Layout::nn, 32));
    const auto odd = tile_map(tile(65, 64, DType::fp16, MemorySpace::vec, Layout::nz)); // UB: the rows are the stride
    CHECK(odd.offset(3, 17) == 65 * 16 + 3 * 16 + 1);
    CHECK(tile_map(tile(1, 128, DType::fp16, MemorySpace::mat, Layout::nz)).offset(0, 100) == 100);
    const auto staging = tile_map(tile(64, 32, DType::fp32, MemorySpace::vec, Layout::nz, 512, 2));
    for (int r = 0; r < 40; ++r)
        for (int c = 0; c < 32; ++c) {
            CHECK(nz.offset(r, c) == (c / 16) * 48 * 16 + r * 16 + c % 16);
            CHECK(acc.offset(r, c) == (c / 16) * 48 * 16 + r * 16 + c % 16);
            CHECK(zn.offset(r, c) == (r / 8) * 48 * 8 + c * 8 + r % 8);
            CHECK(zz.offset(r, c) == (r / 16) * 16 * 64 + (c / 16) * 16 * 16 + (r % 16) * 16 + c % 16);
            CHECK(staging.offset(r, c) == (c / 8) * 65 * 8 + r * 8 + c % 8);
        }
    for (int r = 0; r < 48; ++r)
        for (int c = 0; c < 8; ++c) {
            CHECK(scale_a.offset(r, c) == (r / 16) * 16 * 8 + (c / 2) * 32 + (r % 16) * 2 + c % 2);
            CHECK(scale_b.offset(c, r) == (r / 16) * 16 * 8 + (c / 2) * 32 + (r % 16) * 2 + c % 2);
        }
    // A 32 x 64 fp32 staging tile has one spare 32-byte row per column block: 8448 bytes instead of 8192.
    const auto spare = tile_map(tile(32, 64, DType::fp32, MemorySpace::vec, Layout::nz, 512, 2));
    CHECK(footprint(spare, 0, 0, 0, 33, 64).last() == 8448);
}

TEST_CASE("NZ of [N, K] and ZN of [K, N] are the same bytes") {
    for (DType t : widths) {
        const TileMap nz = tile_map(tile(48, 128, t, MemorySpace::mat, Layout::nz)),
                      zn = tile_map(tile(128, 48, t, MemorySpace::mat, Layout::zn));
        for (int n = 0; n < 48; ++n)
            for (int k = 0; k < 128; ++k) REQUIRE(nz.offset(n, k) == zn.offset(k, n));
        CHECK(nz.transposed() == zn);
    }
}

TEST_CASE("compact tiles and dynamic accumulators follow their valid rows") {
    auto left = tile(64, 64, DType::fp16, MemorySpace::left, Layout::nz, 512, 1);
    CHECK(tile_map(left, {33, 64}).offset(0, 16) == 48 * 16);
    left.compact = 0;
    CHECK(tile_map(left, {33, 64}).offset(0, 16) == 64 * 16);
    auto mat = tile(64, 64, DType::fp16, MemorySpace::mat, Layout::nz, 512, 1); // L1 counts in declared rows
    CHECK(tile_map(mat, {40, 64}).col_far == 64 * 16);
    auto spare = tile(65, 64, DType::fp16, MemorySpace::vec, Layout::nz, 512, 2); // the spare row is declared
    CHECK(tile_map(spare, {64, 64}).col_far == 65 * 16);
    CHECK(tile_map(spare, {40, 64}).col_far == 49 * 16);
    auto acc = tile(64, 64, DType::fp32, MemorySpace::acc, Layout::nz, 1024);
    CHECK(tile_map(acc, {33, 64}).offset(0, 16) == 48 * 16);
    acc.fixed_valid = true;
    CHECK(tile_map(acc, {33, 64}).offset(0, 16) == 64 * 16);
    CHECK(tile_map(tile(64, 1, DType::fp32, MemorySpace::mat, Layout::nz)).offset(5, 0) == 5);
}

TEST_CASE("a footprint is exactly the bytes of its region") {
    std::mt19937 random(1);
    for (DType t : widths)
        for (Layout layout : layouts)
            for (int round = 0; round < 30; ++round) {
                const TileMap m = tile_map(tile(64, 128, t, MemorySpace::mat, layout));
                const bool doubly = layout == Layout::zz || layout == Layout::nn;
                // Regions start at a block border in the doubly blocked layouts, as every operation's do.
                const int r0 = doubly ? 0 : int(random() % 40), c0 = doubly ? 0 : int(random() % 60);
                const int rows = 1 + int(random() % unsigned(64 - r0)), cols = 1 + int(random() % unsigned(128 - c0));
                const Footprint fp = footprint(m, 512, r0, c0, rows, cols);
                REQUIRE(bytes_of(fp) == bytes_of(m, 512, r0, c0, rows, cols));
                if (m.bits != 4) REQUIRE(fp.bytes() == std::int64_t(rows) * cols * m.bits / 8);
            }
    CHECK(footprint(tile_map(tile(64, 64, DType::fp32, MemorySpace::mat, Layout::nz)), 0, 0, 0, 64, 64).pieces[0] ==
          Strided{0, 64 * 64 * 4});
    CHECK(footprint(tile_map(tile(64, 64, DType::fp32, MemorySpace::mat, Layout::nz)), 0, 0, 0, 0, 64).count == 0);
}

TEST_CASE("overlap agrees with the sets of bytes") {
    std::mt19937 random(2);
    int met = 0;
    for (int round = 0; round < 3000; ++round) {
        auto region = [&](std::set<std::int64_t>& bytes) {
            const Layout layout = layouts[random() % 4];
            const TileMap m = tile_map(tile(32, 32, widths[random() % 3], MemorySpace::mat, layout));
            const int r0 = int(random() % 28), c0 = int(random() % 28), rows = 1 + int(random() % unsigned(32 - r0)),
                      cols = 1 + int(random() % 4);
            const std::int64_t base = std::int64_t(random() % 512);
            bytes = bytes_of(m, base, r0, c0, rows, cols);
            return footprint(m, base, r0, c0, rows, cols);
        };
        std::set<std::int64_t> x, y;
        const Footprint a = region(x), b = region(y);
        bool expected = false;
        for (std::int64_t v : x) expected = expected || y.count(v) != 0;
        REQUIRE(overlap(a, b) == expected);
        REQUIRE(overlap(b, a) == expected);
        met += expected ? 1 : 0;
    }
    CHECK(met > 100); // both answers were exercised
    CHECK(met < 2900);
}

TEST_CASE("sets with common strides are compared by their difference") {
    std::mt19937 random(11);
    int met = 0;
    for (int round = 0; round < 4000; ++round) {
        const std::array<std::int64_t, 3> strides{300 + std::int64_t(random() % 60), 40 + std::int64_t(random() % 30), 8 + std::int64_t(random() % 6)};
        const auto some = [&](std::set<std::int64_t>& bytes) {
            isa::Strided s;
            s.base = std::int64_t(random() % 400), s.run_bytes = 1 + std::int64_t(random() % 4);
            for (std::size_t i = 0; i < 3; ++i) s.counts[i] = 1 + std::int64_t(random() % 4), s.strides[i] = s.counts[i] > 1 ? strides[i] : 0;
            for (std::int64_t i = 0; i < s.counts[0]; ++i)
                for (std::int64_t j = 0; j < s.counts[1]; ++j)
                    for (std::int64_t k = 0; k < s.counts[2]; ++k)
                        for (std::int64_t n = 0; n < s.run_bytes; ++n)
                            bytes.insert(s.base + i * s.strides[0] + j * s.strides[1] + k * s.strides[2] + n);
            return s;
        };
        std::set<std::int64_t> x, y;
        const isa::Strided a = some(x), b = some(y);
        bool expected = false;
        for (std::int64_t v : x) expected = expected || y.count(v) != 0;
        REQUIRE(isa::overlap(a, b) == expected);
        REQUIRE(isa::overlap(b, a) == expected);
        met += expected;
    }
    CHECK(met > 500);
    CHECK(met < 3500);
}

TEST_CASE("copies between any two layouts move every element and touch nothing else") {
    std::mt19937 random(3);
    for (DType t : widths)
        for (Layout from : layouts)
            for (Layout to : layouts)
                for (int round = 0; round < 3; ++round) {
                    const auto a = tile(64, 128, t, MemorySpace::mat, from), b = tile(80, 160, t, MemorySpace::mat, to);
                    const TileMap ma = tile_map(a), mb = tile_map(b);
                    std::vector<std::byte> src(std::size_t(64 * 128 * isa::bytes(t))),
                        dst(std::size_t(80 * 192 * isa::bytes(t)));
                    for (auto& x : src) x = std::byte(random());
                    for (auto& x : dst) x = std::byte(random());
                    const auto before = dst;
                    const int rows = 1 + int(random() % 60), cols = 1 + int(random() % 120);
                    const Place into{mb, int(random() % unsigned(80 - rows)), int(random() % unsigned(160 - cols))};
                    const Place out{ma, int(random() % unsigned(64 - rows + 1)),
                                    int(random() % unsigned(128 - cols + 1))};
                    copy_window(dst.data(), into, src.data(), out, rows, cols);
                    auto expected = before;
                    for (int i = 0; i < rows; ++i)
                        for (int j = 0; j < cols; ++j)
                            write_element(expected.data(), mb.bits, mb.offset(into.row + i, into.col + j),
                                          read_element(src.data(), ma.bits, ma.offset(out.row + i, out.col + j)));
                    REQUIRE(dst == expected);
                }
}

TEST_CASE("a fractal load completes its last 32 bytes with the pad value") {
    const TileMap m = tile_map(tile(32, 64, DType::fp16, MemorySpace::mat, Layout::nz));
    std::vector<std::byte> memory(32 * 64 * 2, std::byte{0xAA});
    const auto window = fill_fractal_tail(memory.data(), m, 0, 20, 35);
    CHECK(window == std::array<std::int64_t, 4>{0, 35, 20, 13});
    for (int r = 0; r < 32; ++r)
        for (int c = 0; c < 64; ++c)
            CHECK(read_element(memory.data(), 16, m.offset(r, c)) == (r < 20 && c >= 35 && c < 48 ? 0u : 0xAAAAu));
    CHECK(fill_fractal_tail(memory.data(), m, 0, 20, 48) == std::array<std::int64_t, 4>{});
    const TileMap zn = tile_map(tile(64, 32, DType::fp16, MemorySpace::mat, Layout::zn));
    CHECK(fill_fractal_tail(memory.data(), zn, 0, 35, 20) == std::array<std::int64_t, 4>{35, 0, 13, 20});
}

TEST_CASE("pad values") {
    CHECK(pad_value(DType::fp16, isa::TilePad::min) == 0xFC00);
    CHECK(pad_value(DType::fp32, isa::TilePad::max) == 0x7F800000);
    CHECK(pad_value(DType::int32, isa::TilePad::min) == 0x80000000);
    CHECK(pad_value(DType::int8, isa::TilePad::max) == 0x7F);
    CHECK(pad_value(DType::uint16, isa::TilePad::max) == 0xFFFF);
    CHECK(pad_value(DType::uint16, isa::TilePad::min) == 0);
    CHECK(pad_value(DType::int64, isa::TilePad::max) == 0x7FFFFFFFFFFFFFFFull);
    CHECK(pad_value(DType::bf16, isa::TilePad::zero) == 0);
}
