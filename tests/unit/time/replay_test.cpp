#include "tests/support/catch.hpp"

#include "engine/time/folds.hpp"
#include "engine/time/replay.hpp"
#include "tests/support/record_builder.hpp"
#include "tests/unit/time/test_chip.hpp"

using namespace pto;
using namespace pto::time;
using isa::Core;
using isa::Pipe;
using support::RecordBuilder;

namespace {

double cycles(Ticks t) { return double(t) / double(ticks_per_cycle); }
double start(const Timeline& t, int row, int core = 0) { return cycles(t.cores[std::size_t(core)].start[std::size_t(row)]); }
double end(const Timeline& t, int row, int core = 0) { return cycles(t.cores[std::size_t(core)].end[std::size_t(row)]); }
bool near(double a, double b) { return a - b < 0.01 && b - a < 0.01; } // ticks round up
double visible(const Timeline& t, int row, int core = 0) { return end(t, row, core) + cycles(t.cores[std::size_t(core)].tail[std::size_t(row)]); }

} // namespace

TEST_CASE("a pipe runs its items in order, different pipes at once", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.vector("vector.add", 256);                // 0: V 0..100
    b.vector("vector.add", 256);                // 1: V 100..200
    b.load(false, 0, 1000);                     // 2: MTE2 0..100, visible at 150
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(end(t, 0) == 100);
    CHECK(start(t, 1) == 100);
    CHECK(end(t, 1) == 200);
    CHECK(start(t, 2) == 0);
    CHECK(end(t, 2) == 100);
    CHECK(visible(t, 2) == 150);
    CHECK(cycles(t.total) == 200);
    CHECK(cycles(t.launch) == 2000); // stands beside the total
    CHECK(t.us(t.total) == 0.2);
}

TEST_CASE("a flag is raised when the data is visible, not when the pipe is free", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.load(false, 0, 1000);                     // 0: MTE2 0..100, visible 150
    b.set(Pipe::mte2, Pipe::v, 0);              // 1
    b.load(false, 4096, 1000);                  // 2: MTE2 100..200: the set does not hold the pipe
    b.wait(Pipe::mte2, Pipe::v, 0);             // 3
    b.vector("vector.add", 256);                // 4: V 150..250
    Timeline t = replay(b.record, round_chip());
    CHECK(start(t, 2) == 100);
    CHECK(start(t, 3) == 0);
    CHECK(end(t, 3) == 150);
    CHECK(start(t, 4) == 150);
    REQUIRE(t.cores[0].waits.size() == 1);
    const Wait& w = t.cores[0].waits[0];
    CHECK(w.kind == WaitKind::flag);
    CHECK(cycles(w.end - w.start) == 150);
    CHECK(cycles(w.paid) == 150);
    CHECK(w.setter == RowRef{0, 1});
    CHECK(w.next == 4);
    CHECK(t.cores[0].cause[4] == 3);
    CHECK(t.cores[0].cause[3] == 1);
}

TEST_CASE("a wait is paid only as far as the next operation could have started earlier", "[time]") {
    machine::Chip chip = round_chip();
    chip.constants["scalar_instruction_cycles"].value = 1;
    RecordBuilder b;
    b.core(Core::vector);
    b.load(false, 0, 1000);                     // visible 150
    b.set(Pipe::mte2, Pipe::v, 0);
    b.wait(Pipe::mte2, Pipe::v, 0);             // waits 0..150
    b.vector("vector.add", 256).scalar_before = 120; // issued at 120 anyway
    b.record.cores[0].rows[3].scalar_before = 120;
    Timeline t = replay(b.record, chip);
    REQUIRE(t.cores[0].waits.size() == 1);
    CHECK(cycles(t.cores[0].waits[0].paid) == 30);
    RecordBuilder late = b;
    late.record.cores[0].rows[3].scalar_before = 400;
    Timeline free = replay(late.record, chip);
    CHECK(start(free, 3) == 400);
    CHECK(free.cores[0].waits[0].paid == 0);
    CHECK(free.cores[0].cause[3] == -1); // the scalar unit decided
}

TEST_CASE("locks are tickets in program order", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.locks({3}).load(false, 0, 1000);          // 0: MTE2 0..100, holds until 150
    b.locks({3}).vector("vector.add", 256);     // 1: V 150..250
    b.locks({3}).store(1 << 20, 1000);          // 2: MTE3 250..350, until 400
    b.locks({4}).load(false, 8192, 1000);       // 3: another lock: MTE2 100..200
    b.locks({3}).load(false, 4096, 1000);       // 4: 400..500
    b.vector("vector.add", 256);                // 5: no lock: 250..350
    Timeline t = replay(b.record, round_chip());
    CHECK(start(t, 1) == 150);
    CHECK(start(t, 2) == 250);
    CHECK(start(t, 3) == 100);
    CHECK(start(t, 4) == 400);
    CHECK(start(t, 5) == 250);
    for (const Wait& w : t.cores[0].waits) CHECK(w.kind == WaitKind::lock);
    CHECK(t.cores[0].cause[4] == 2);
}

TEST_CASE("the same pipe takes a lock again without waiting", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.locks({3}).load(false, 0, 1000);
    b.locks({3}).load(false, 2000, 1000);       // 100, not 150
    b.locks({3}).vector("vector.add", 256);     // after the second load: visible 250
    Timeline t = replay(b.record, round_chip());
    CHECK(start(t, 1) == 100);
    CHECK(start(t, 2) == 250);
}

TEST_CASE("explicit locks are held until their unlock", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.lock(Pipe::mte2, 1);
    b.load(false, 0, 1000);
    b.load(false, 4096, 1000);                  // 100..200, visible 250
    b.unlock(Pipe::mte2, 1);
    b.lock(Pipe::v, 1);
    b.vector("vector.add", 256);                // 5: 250..350
    b.unlock(Pipe::v, 1);
    b.lock(Pipe::mte2, 1);
    b.load(false, 8192, 1000);                  // 8: 350
    b.unlock(Pipe::mte2, 1);
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 5) == 250);
    CHECK(start(t, 8) == 350);
}

TEST_CASE("a barrier closes a pipe, bar_all the whole core", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.load(false, 0, 1000);                     // visible 150
    b.barrier(Pipe::mte2);
    b.load(false, 4096, 1000);                  // 2: 150..250, visible 300
    b.barrier(Pipe::all);
    b.vector("vector.add", 256);                // 4: 300
    Timeline t = replay(b.record, round_chip());
    CHECK(start(t, 2) == 150);
    CHECK(start(t, 4) == 300);
}

TEST_CASE("the scalar unit issues one instruction after the other and stalls on a full queue", "[time]") {
    machine::Chip chip = round_chip();
    chip.constants["scalar_issue_cycles"].value = 2;
    chip.queue_depth = 4;
    RecordBuilder b;
    b.core(Core::vector);
    for (int i = 0; i < 6; ++i) b.vector("vector.add", 256);
    b.load(false, 0, 1000);
    Timeline t = replay(b.record, chip);
    CHECK(start(t, 0) == 2);
    CHECK(start(t, 1) == 102);
    // Entry 4 enters when entry 0 leaves (at 2), entry 5 when entry 1 leaves (102); the load comes two cycles later.
    CHECK(start(t, 6) == 104);
    machine::Chip deep = chip;
    deep.queue_depth = 32;
    CHECK(start(replay(b.record, deep), 6) == 14);
}

TEST_CASE("scalar work and locks take the scalar unit's time", "[time]") {
    machine::Chip chip = round_chip();
    chip.constants["scalar_issue_cycles"].value = 2;
    chip.constants["scalar_instruction_cycles"].value = 3;
    chip.constants["lock_issue_cycles"].value = 5;
    RecordBuilder b;
    b.core(Core::vector);
    b.locks({0, 1}).vector("vector.add", 256).scalar_before = 10;
    Timeline t = replay(b.record, chip);
    CHECK(start(t, 0) == 2 + 30 + 4 * 5); // two locks taken, two released
    CHECK(cycles(t.cores[0].scalar_busy) == 52);
}

TEST_CASE("cross-core flags arrive after their latency, a cube wait joins both vector cores", "[time]") {
    RecordBuilder b;
    b.core(Core::cube);
    b.cross_wait(Pipe::mte1, 4);
    b.move(Pipe::mte1, "path.mat_left", 100);   // 1
    b.core(Core::vector, 0, 0).vector("vector.add", 256);
    b.cross_set(Pipe::v, 4);                    // at 100
    b.core(Core::vector, 0, 1).vector("vector.add", 256);
    b.vector("vector.add", 256);
    b.cross_set(Pipe::v, 4);                    // at 200
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 1) == 230);
    REQUIRE(t.cores[0].waits.size() == 1);
    CHECK(t.cores[0].waits[0].kind == WaitKind::cross_core);
    CHECK(t.cores[0].waits[0].setter == RowRef{2, 2}); // the later setter
}

TEST_CASE("one cube set reaches both vector cores; unicast reaches one", "[time]") {
    RecordBuilder b;
    b.core(Core::cube).matmul(16, 16, 16);
    b.cross_set(Pipe::m, 0);
    b.matmul(16, 16, 16);
    b.cross_set(Pipe::m, 17, isa::CrossCoreSyncMode::unicast_block); // AIV1, id 1
    for (int v = 0; v < 2; ++v) {
        b.core(Core::vector, 0, v);
        b.cross_wait(Pipe::v, 0);
        b.vector("vector.add", 256);
        if (v == 1) b.cross_wait(Pipe::v, 1, isa::CrossCoreSyncMode::unicast_block);
        b.vector("vector.add", 256);
    }
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 1, 1) == 130);
    CHECK(start(t, 1, 2) == 130);
    CHECK(start(t, 2, 1) == 230);
    CHECK(start(t, 3, 2) == 230); // flag at 230, V free at 230
}

TEST_CASE("barrier-like counters wait for every core of the kind", "[time]") {
    RecordBuilder b;
    for (int block = 0; block < 3; ++block) {
        b.core(Core::cube, block);
        for (int i = 0; i <= block; ++i) b.matmul(16, 16, 16);
        b.cross_set(Pipe::m, 2, isa::CrossCoreSyncMode::inter_block);
        b.cross_wait(Pipe::mte1, 2, isa::CrossCoreSyncMode::inter_block);
        b.move(Pipe::mte1, "path.mat_left", 100);
    }
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    for (int block = 0; block < 3; ++block) CHECK(start(t, block + 3, block) == 330);
}

TEST_CASE("sync_all meets after everybody has drained", "[time]") {
    RecordBuilder b;
    b.core(Core::cube).matmul(16, 16, 16);
    b.sync_all(isa::SyncCoreType::mix);
    b.matmul(16, 16, 16);                       // 2
    b.core(Core::vector, 0, 0).load(false, 0, 1000); // visible 150
    b.sync_all(isa::SyncCoreType::mix);
    b.vector("vector.add", 256);
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 2, 0) == 350);
    CHECK(start(t, 2, 1) == 350);
    // What decided the total goes on through the meeting, on the core that came last.
    const std::vector<RowRef> path = critical_path(b.record, t);
    CHECK(path.front() == RowRef{1, 0});
    CHECK(std::find(path.begin(), path.end(), RowRef{1, 1}) != path.end());
    CHECK(path.back().row == 2);
    // The one who came last waited for nobody.
    for (const Wait& w : t.cores[1].waits) CHECK_FALSE(w.setter.valid());
    for (const Wait& w : t.cores[0].waits) CHECK(w.setter == RowRef{1, 1});
}

TEST_CASE("on A2 and A3 a pending cross-core wait stops issue to every pipe", "[time]") {
    machine::Chip chip = round_chip();
    RecordBuilder b;
    b.core(Core::cube).matmul(16, 16, 16);
    b.cross_wait(Pipe::mte2, 0);
    b.matmul(16, 16, 16);                       // 2
    b.core(Core::vector, 0, 0);
    for (int i = 0; i < 5; ++i) b.vector("vector.add", 256);
    b.cross_set(Pipe::v, 0);                    // 500
    CHECK(start(replay(b.record, chip), 2) == 100);
    chip.wait_stops_all_pipes = true;
    CHECK(start(replay(b.record, chip), 2) == 530);
}

TEST_CASE("flags to the scalar unit hold it up", "[time]") {
    RecordBuilder b;
    b.core(Core::vector).load(false, 0, 1000);
    b.set(Pipe::mte2, Pipe::s, 0);
    b.wait(Pipe::mte2, Pipe::s, 0);             // S waits until 150
    b.op(Pipe::s, "scalar.element");            // 150..250
    b.vector("vector.add", 256);                // 4: 250
    b.set(Pipe::s, Pipe::mte3, 1);
    b.wait(Pipe::s, Pipe::mte3, 1);
    b.store(1 << 20, 100);                      // 7: 250
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 3) == 150);
    CHECK(start(t, 4) == 250);
    CHECK(start(t, 7) == 250);
}

TEST_CASE("blocks beyond the places run in waves", "[time]") {
    machine::Chip chip = round_chip();
    chip.cube_cores = 2;
    RecordBuilder b;
    for (int block = 0; block < 5; ++block) b.core(Core::cube, block).matmul(16, 16, 16);
    Timeline t = replay(b.record, chip);
    CHECK(t.waves == 3);
    CHECK(start(t, 0, 1) == 0);
    CHECK(start(t, 0, 2) == 1100); // 100, then 1000 to dispatch
    CHECK(start(t, 0, 4) == 2200);
    CHECK(cycles(t.total) == 2300);
    CHECK(cycles(t.blocks[4].begin) == 2200);
    // A vector-only kernel has two places a core.
    RecordBuilder v;
    for (int block = 0; block < 5; ++block) v.core(Core::vector, block).vector("vector.add", 256);
    CHECK(replay(v.record, chip).waves == 2);
}

TEST_CASE("cores that pull together share HBM, re-read data comes from L2", "[time]") {
    machine::Chip chip = round_chip();
    chip.constants["hbm_bytes_per_us"].value = 5000;    // 5 bytes a cycle for all
    chip.constants["hbm_latency_cycles"].value = 70;
    RecordBuilder b;
    b.core(Core::vector, 0).load(false, 0, 1000);
    b.load(false, 0, 1000);                     // again: L2
    b.core(Core::vector, 1).load(false, 4096, 1000);
    Timeline t = replay(b.record, chip);
    // 1000 bytes are 8 lines of 128: 1024 bytes, 204.8 cycles of HBM each.
    CHECK(near(end(t, 0), 204.8));
    CHECK(near(visible(t, 0), 204.8 + 120));
    CHECK(near(end(t, 0, 1), 409.6));
    CHECK(near(end(t, 1), 304.8));
    CHECK(t.hbm_read == 2048);
    CHECK(t.l2_bytes == 3000);
}

TEST_CASE("a sweep that exceeds L2 finds nothing again, one that fits does", "[time]") {
    machine::Chip chip = round_chip();
    chip.constants["l2_bytes"].value = 1 << 20;
    auto sweep = [&](std::int64_t bytes) {
        RecordBuilder b;
        b.core(Core::vector);
        for (int pass = 0; pass < 4; ++pass)
            for (std::int64_t at = 0; at < bytes; at += 16384) b.load(false, at, 16384);
        return double(replay(b.record, chip).hbm_read) / double(4 * bytes);
    };
    CHECK(sweep(1 << 19) == 0.25);
    CHECK(sweep(1 << 21) == 1.0);
}

TEST_CASE("the unit flag lets the fixpipe follow the matmul block by block", "[time]") {
    RecordBuilder b;
    b.core(Core::cube);
    b.matmul(16, 16, 16).phase = 1;             // 0: M 0..100
    b.matmul(16, 16, 16).phase = 2;             // 1: M 100..200
    b.fix_store(0, 16, 16, 4).phase = 2;        // 2: FIX from its issue, 1024 bytes = 102.4 cycles, ends after M's 200
    b.matmul(16, 16, 16).phase = 1;             // 3: follows the store
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.complete());
    CHECK(start(t, 2) == 0); // its busy time contains the wait, as the hardware counts it
    CHECK(near(end(t, 2), 200 + 102.4 / 2)); // two blocks of 512 bytes
    CHECK(start(t, 3) == 200);
    CHECK(near(end(t, 3), end(t, 2) + 50));
    // The final matmul is the only one that raises blocks: a store that takes longer than it ends its own time after it began.
    RecordBuilder longer;
    longer.core(Core::cube);
    longer.matmul(16, 16, 16).phase = 1;         // M 0..100
    longer.matmul(16, 16, 16).phase = 2;         // M 100..200
    longer.fix_store(0, 16, 128, 4).phase = 2;   // 8192 bytes = 819.2 cycles, none of them before M's 100
    Timeline late = replay(longer.record, round_chip());
    CHECK(near(end(late, 2), 100 + 819.2));
    // A final store without a final matmul never starts.
    RecordBuilder hangs;
    hangs.core(Core::cube).matmul(16, 16, 16).phase = 1;
    hangs.fix_store(0, 16, 16, 4).phase = 2;
    CHECK_FALSE(replay(hangs.record, round_chip()).complete());
}

TEST_CASE("a record that hangs says where", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.wait(Pipe::mte2, Pipe::v, 0);
    b.vector("vector.add", 256);
    b.load(false, 0, 1000);
    Timeline t = replay(b.record, round_chip());
    REQUIRE(t.stuck.size() == 1);
    CHECK(t.stuck[0].at == RowRef{0, 0});
    CHECK(t.stuck[0].pipe == Pipe::v);
    CHECK(t.cores[0].start[1] == -1);
    CHECK(end(t, 2) == 100);
}

TEST_CASE("what-if speeds up what is named and nothing else", "[time]") {
    RecordBuilder b;
    b.core(Core::vector);
    b.stage("one", 0).vector("vector.add", 256);
    b.stage("two", 0).vector("vector.add", 256);
    b.no_stage().vector("vector.unary", 256);
    auto total = [&](Change change) {
        ReplayOptions o;
        o.changes = {change};
        return cycles(replay(b.record, round_chip(), o).total);
    };
    CHECK(total({}) == 300);
    CHECK(total({.timing = "vector.add", .percent = 80}) == 260);
    CHECK(total({.timing = "vector", .percent = 50}) == 150);
    CHECK(total({.stage = "two", .percent = 80}) == 280);
    CHECK(total({.name = "vector.unary", .percent = 200}) == 400);
    CHECK(total({.timing = "vect", .percent = 50}) == 300);
}
