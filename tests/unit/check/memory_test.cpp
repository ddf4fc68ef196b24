#include "tests/unit/check/helper.hpp"

#include "tests/support/relu_matmul.hpp"

using namespace pto;
using namespace pto::check;

TEST_CASE("the pipelined example has nothing to complain about", "[check]") {
    testing::ReluMatmul example({});
    Diagnostics found = check::check(example.kernel(), chip());
    INFO(all(found));
    CHECK(found.empty());
}

// REJ-06: a Left tile at 0x10000 of 32768 bytes.
TEST_CASE("a tile past the end of its memory is refused with the numbers", "[check]") {
    FunctionBuilder b(isa::Core::cube);
    b.group("left", tile_type(64, 128, M::left), {0x10000});
    Diagnostics found = findings(b);
    INFO(all(found));
    REQUIRE(only(found, Code::memory_capacity, "`left`: end 0x18000 > 65536 bytes of Left on ascend950pr"));
    CHECK(found[0].severity == Severity::error);
    FunctionBuilder fits(isa::Core::cube);
    fits.group("left", tile_type(64, 128, M::left), {0x8000});
    CHECK(findings(fits).empty());
}

TEST_CASE("the same kernel may fit one chip and not another", "[check]") {
    FunctionBuilder b(isa::Core::cube);
    b.group("acc", tile_type(256, 256, M::acc), {0});
    CHECK(findings(b, "ascend950").empty());
    CHECK(says(findings(b, "ascend910b"), Code::memory_capacity, "end 0x40000 > 131072 bytes of Acc on ascend910b"));
}

TEST_CASE("the reserved end of UB is warned about, its physical end refused", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.group("last", tile_type(32, 64, M::vec), {0x3D000}); // ends at 0x3F000
    Diagnostics found = findings(b);
    INFO(all(found));
    REQUIRE(only(found, Code::memory_reserved, "end 0x3f000 > 253952 bytes of Vec"));
    CHECK(found[0].severity == Severity::warning);
    FunctionBuilder beyond(isa::Core::vector);
    beyond.group("last", tile_type(32, 64, M::vec), {0x3F000});
    CHECK(only(findings(beyond), Code::memory_capacity, "end 0x41000 > 262144"));
}

TEST_CASE("addresses are aligned as their memory wants", "[check]") {
    FunctionBuilder b(isa::Core::cube);
    b.group("left", tile_type(16, 16, M::left), {0x100});
    b.group("acc", tile_type(16, 16, M::acc), {0x20});
    b.group("mat", tile_type(16, 16, M::mat), {0x20});
    b.group("bias", tile_type(1, 16, M::bias), {0x8});
    Diagnostics found = findings(b);
    INFO(all(found));
    CHECK(found.size() == 2);
    CHECK(says(found, Code::memory_alignment, "`left` begins at 0x100; addresses in Left are multiples of 512"));
    CHECK(says(found, Code::memory_alignment, "`acc` begins at 0x20; addresses in Acc are multiples of 64"));
    CHECK(found[0].advice.at(0).find("0x200") != std::string::npos);
}

// LAY-03: two slots of 16 KiB from 0, the next group at 0x6000.
TEST_CASE("a group that runs into the next one shares bytes but no lock", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.group("first", tile_type(64, 64, M::vec), {0, 0x4000}, {0, 1});
    b.group("second", tile_type(64, 64, M::vec), {0x6000}, {2});
    Diagnostics found = findings(b);
    INFO(all(found));
    REQUIRE(only(found, Code::overlap_without_lock,
                 "`first` slot 1 (0x4000-0x8000, lock 1) and `second` (0x6000-0xa000, lock 2) share 0x6000-0x8000 of Vec and no lock"));
    CHECK(found[0].labels.size() == 1);
}

TEST_CASE("lawful reuse is not complained about", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.group("a", tile_type(32, 64, M::vec), {0, 0x2000}, {0, 1});
    b.group("b", tile_type(32, 64, M::vec), {0, 0x2000}, {0, 1});       // the same ids
    b.group("c", tile_type(32, 64, M::vec), {0x2000}, {1});             // one of them
    b.group("touching", tile_type(32, 64, M::vec), {0x4000}, {5});      // next to it
    b.group("by_hand", tile_type(32, 64, M::vec), {0x4000});            // no ids: synchronised by hand
    CHECK(findings(b).empty());
    // Other memory, same addresses.
    FunctionBuilder other(isa::Core::cube);
    other.group("left", tile_type(32, 64, M::left), {0}, {0});
    other.group("right", tile_type(32, 64, M::right), {0}, {1});
    CHECK(findings(other).empty());
    // Without automatic locks nothing is promised that could be missed.
    FunctionBuilder off(isa::Core::vector);
    off.group("a", tile_type(32, 64, M::vec), {0}, {0});
    off.group("b", tile_type(32, 64, M::vec), {0}, {1});
    ir::Kernel k = kernel_of(off);
    CHECK(count(check::check(k, chip()), Code::overlap_without_lock) == 1);
    k.auto_mutex = false;
    CHECK(check::check(k, chip()).empty());
}

// LAY-01: an NZ staging tile with a spare row needs 8448 bytes, not 8192.
TEST_CASE("the spare row of an NZ staging tile is counted", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    isa::TileType nz = tile_type(32, 64, M::vec);
    nz.layout = isa::Layout::nz;
    nz.compact = 2;
    b.group("staged", nz, {0}, {0});
    b.group("next", tile_type(32, 64, M::vec), {0x2000}, {1});
    Diagnostics found = findings(b);
    INFO(all(found));
    CHECK(says(found, Code::tile_bytes, "needs 8448 bytes, 256 more than the 8192 of a slot: compact=2 keeps one spare row of 32 bytes in each of its 8 column blocks"));
    CHECK(says(found, Code::overlap_without_lock, "share 0x2000-0x2100 of Vec"));
    FunctionBuilder room(isa::Core::vector);
    room.group("staged", nz, {0}, {0});
    room.f.decls[0].slot_bytes = 8448;
    room.group("next", tile_type(32, 64, M::vec), {0x2100}, {1});
    CHECK(findings(room).empty());
}

// LAY-04: 183 KB of 192 is fine, 189 KB is where wrong results were reported.
TEST_CASE("the high-water mark of UB on A2 is warned about", "[check]") {
    for (auto [kib, warned] : {std::pair{183, 0}, std::pair{189, 1}}) {
        FunctionBuilder b(isa::Core::vector);
        b.group("big", tile_type(kib * 2, 128, M::vec), {0});
        Diagnostics found = findings(b, "ascend910b");
        INFO(kib << "\n" << all(found));
        CHECK(count(found, Code::memory_high_water) == warned);
        CHECK(int(found.size()) == warned);
    }
}

TEST_CASE("reserved and missing locks", "[check]") {
    FunctionBuilder b(isa::Core::vector);
    b.group("a", tile_type(32, 64, M::vec), {0}, {29});
    CHECK(only(findings(b), Code::mutex_id_reserved, "mutex id 29 of `a`; 28 to 31 are reserved"));
    FunctionBuilder ring(isa::Core::vector);
    ring.group("a", tile_type(32, 64, M::vec), {0, 0x2000, 0x4000}, {28, 29, 31});
    CHECK(only(findings(ring), Code::mutex_id_reserved, "mutex ids 28, 29 and 31 of `a`"));
    FunctionBuilder scale(isa::Core::cube);
    isa::TileType t = tile_type(16, 2, M::scale_left, D::fp8e8m0);
    t.layout = isa::Layout::zz;
    t.fractal = 32;
    scale.group("s", t, {0});
    CHECK(findings(scale, "ascend950").empty());
    CHECK(only(findings(scale, "ascend910b"), Code::memory_capacity, "ascend910b has no ScaleLeft memory"));
}

TEST_CASE("what both programs declare is said once", "[check]") {
    ir::Kernel k;
    FunctionBuilder cube(isa::Core::cube), vector(isa::Core::vector);
    cube.group("m", tile_type(512, 512, M::mat), {0});
    vector.group("m", tile_type(512, 512, M::mat), {0});
    k.cube = cube.f;
    k.vector = vector.f;
    CHECK(count(check::check(k, chip()), Code::memory_capacity) == 1);
}
