/// Task loops of unknown length: several in a row, long periods, what the numbers of tasks may decide (docs/model/sync.md, section 4).

#include "tests/support/catch.hpp"
#include "tests/unit/verify/two_sides.hpp"

using namespace pto;
using namespace pto::testing;
using verify::HazardKind;
using verify::Status;
using M = isa::MemorySpace;
using P = isa::Pipe;
using E = ir::ExprOp;

namespace {

/// One hand-over loop: the cube fills slots of a vector-core group and sets, the vector cores wait, store and return the slot.
struct Handover {
    std::string length = "n";      // n, m: scalar parameters; half: n // 2; rows: a size
    int slots = 2;
    std::int64_t address = 0;
    int first_id = 0;              // ready ids from here, returns behind them
    bool returns = true;           // the vector cores hand slots back
    bool by_cursor = false;        // the vector cores rotate the group's own cursor, the cube counts tasks
    int uses = -1;                 // the group of an earlier loop instead of one of its own
    bool barrier = false;          // a full barrier in front of the loop
    std::int64_t row = 0;          // stores from this row of y on, one block of 64 a task; -1: row 0 always
    std::function<void(FunctionBuilder&, ir::ExprId task)> extra; // on the cube, in front of the move
};

ir::Kernel kernel_of(const std::vector<Handover>& loops, const std::function<void(FunctionBuilder&)>& behind = {}) {
    ir::Kernel k;
    k.name = "k";
    k.params = parameters(2, isa::DType::index, true);
    for (bool cube : {true, false}) {
        FunctionBuilder b(cube ? isa::Core::cube : isa::Core::vector);
        const auto x = b.tensor("x", {-1, 64}, ir::ParamId{0}), y = b.tensor("y", {-1, 64}, ir::ParamId{1});
        const auto n = b.var("n", isa::DType::index, ir::ParamId{2}), m = b.var("m", isa::DType::index, ir::ParamId{3}), half_n = b.var("half");
        b.assign(half_n, b.binary(E::floor_div, b.get(n), b.num(2)));
        std::vector<ir::TileDeclId> groups;
        for (const Handover& h : loops) {
            if (h.uses >= 0) {
                groups.push_back(groups[std::size_t(h.uses)]);
                continue;
            }
            std::vector<std::int64_t> at;
            std::vector<std::int32_t> locks;
            for (int s = 0; s < h.slots; ++s) at.push_back(h.address + 0x2000 * s), locks.push_back(int(at.size()) - 1 + h.first_id % 16);
            groups.push_back(b.group("c" + std::to_string(groups.size()), tile_type(32, 64, M::vec), at, locks));
        }
        const auto acc = b.group("acc", tile_type(64, 64, M::acc), {0}, {31});
        for (std::size_t l = 0; l < loops.size(); ++l) {
            const Handover& h = loops[l];
            std::vector<std::int32_t> ready, back;
            for (int s = 0; s < h.slots; ++s) ready.push_back((h.first_id + s) % 16), back.push_back((h.first_id + s) % 16);
            if (h.barrier) b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}});
            const auto task = b.var("task" + std::to_string(l)), i = b.var("i" + std::to_string(l));
            b.assign(task, b.num(0));
            if (!cube && h.returns)
                for (std::int32_t id : back) b.cross_set(P::mte3, b.num(id));
            b.loop(i, h.length == "n" ? b.get(n) : h.length == "m" ? b.get(m) : h.length == "half" ? b.get(half_n) : h.length == "rows" ? b.dim(x, 0) : b.num(std::stoll(h.length)), [&] {
                const auto which = b.mod(b.get(task), h.slots);
                if (cube) {
                    if (h.extra) h.extra(b, b.get(task));
                    if (h.returns) b.cross_wait(P::fix, b.pick(back, which));
                    b.op("move", {b.slot(groups[l], which), b.slot(acc)}, {{"acc_to_vec_mode", isa::enum_value(isa::AccToVecMode::split_m)}});
                    b.cross_set(P::fix, b.pick(ready, which));
                } else {
                    b.cross_wait(P::mte3, b.pick(ready, which));
                    const auto t = h.by_cursor ? b.next(groups[l]) : b.slot(groups[l], which);
                    const auto half = b.binary(E::mul, b.query(E::subblock_idx), b.num(32));
                    const auto row = h.row < 0 ? half : b.add(b.add(half, b.num(h.row)), b.binary(E::mul, b.get(task), b.num(64)));
                    b.op("store", {y, t, ir::ExprList{row, b.num(0)}});
                    if (h.returns) b.cross_set(P::mte3, b.pick(back, which));
                }
                b.assign(task, b.add(b.get(task), b.num(1)));
            });
            if (cube && h.returns)
                for (std::int32_t id : back) b.cross_wait(P::fix, b.num(id));
        }
        if (behind) behind(b);
        (cube ? k.cube : k.vector) = std::move(b.f);
    }
    return k;
}

machine::Chip chip() {
    machine::Chip c;
    c.arch = "a5";
    return c;
}
verify::Verdict judge(ir::Kernel k) { return verify::verify(program::assemble(std::move(k), chip()), chip()); }
const verify::Hazard* find(const verify::Verdict& v, HazardKind kind) {
    for (const auto& h : v.hazards)
        if (h.kind == kind && h.is_error) return &h;
    return nullptr;
}

} // namespace

TEST_CASE("loops in a row are proven: one length for both, lengths of their own, with and without a barrier") {
    for (bool barrier : {false, true})
        for (const char* second : {"n", "m", "half", "rows"}) {
            Handover a, b;
            b.length = second, b.slots = 3, b.address = 0x8000, b.first_id = 4, b.barrier = barrier;
            b.row = -1, a.row = -1;
            const auto v = judge(kernel_of({a, b}));
            INFO("barrier " << barrier << ", second over " << second << "\n" << verify::print(v));
            // Both store to row 0 of y: without a barrier MTE3 of one vector core keeps its own order, and the two cores have rows of their own.
            CHECK(v.status == Status::proven);
            CHECK(v.coverage.text.find("in each of 2 loops") != std::string::npos);
        }
}

TEST_CASE("four loops of different lengths need no product of runs when barriers stand between") {
    std::vector<Handover> loops(4);
    const char* lengths[] = {"n", "m", "rows", "n"};
    for (int l = 0; l < 4; ++l) {
        loops[std::size_t(l)].length = lengths[l], loops[std::size_t(l)].slots = 2 + l % 2;
        loops[std::size_t(l)].barrier = l > 0;
    }
    loops[3].length = "rows"; // shares its length with the third only
    const auto v = judge(kernel_of(loops));
    INFO(verify::print(v));
    CHECK(v.status == Status::proven);
    CHECK(v.coverage.runs < 400); // the product of their counts would be thousands
}

TEST_CASE("a fault that needs several tasks of the second loop is found") {
    // Five slots and no way back: the sixth task overruns the first.
    for (bool barrier : {false, true}) {
        Handover a, b;
        b.length = "m", b.slots = 5, b.address = 0x8000, b.first_id = 4, b.returns = false, b.barrier = barrier;
        const auto v = judge(kernel_of({a, b}));
        INFO(verify::print(v));
        CHECK(v.status == Status::refused);
        const auto* race = find(v, HazardKind::race);
        REQUIRE(race);
        CHECK(race->tasks == 6);
        CHECK(race->what == "c1 slot 0");
    }
}

TEST_CASE("a fault of the second loop that depends on how often the first one ran is found") {
    // One group for both loops. The vector cores rotate its cursor through both, the cube counts each loop's tasks from 0: an odd
    // number of tasks in the first loop shifts them against each other in the second.
    const auto with = [](bool cursor) {
        Handover a, b;
        a.by_cursor = b.by_cursor = cursor;
        b.length = "m", b.barrier = true, b.uses = 0;
        return judge(kernel_of({a, b}));
    };
    const auto v = with(true);
    INFO(verify::print(v));
    CHECK(v.status == Status::refused);
    CHECK(find(v, HazardKind::race));
    CHECK(with(false).status == Status::proven);
}

TEST_CASE("periods of more than 48 tasks are proven") {
    Handover a; // 5 slots, and a counter that another operation looks at modulo 7 and 2
    a.slots = 5;
    a.extra = [](FunctionBuilder& b, ir::ExprId task) {
        const auto l = b.group("l", tile_type(16, 16, M::mat), {0, 0x400, 0x800, 0xC00, 0x1000, 0x1400, 0x1800}, {20, 21, 22, 23, 24, 25, 26});
        const auto r = b.group("r", tile_type(16, 16, M::left), {0, 0x400}, {18, 19});
        b.op("move", {b.slot(r, b.mod(task, 2)), b.slot(l, b.mod(task, 7))});
    };
    const auto v = judge(kernel_of({a}));
    INFO(verify::print(v));
    CHECK(v.status == Status::proven);
    CHECK(v.coverage.period == 70);
}

TEST_CASE("a condition on the number of tasks is not taken for what it was in the runs looked at") {
    Handover a;
    a.length = "half";
    const auto v = judge(kernel_of({a}, [](FunctionBuilder& b) {
        b.when(b.binary(E::gt, b.get(ir::VarId{2}), b.num(1000)), [&] { // half, which the loop's length has given a value by now
            if (b.f.core == isa::Core::cube) b.cross_set(P::fix, b.num(9));
            else b.cross_wait(P::v, b.num(9));
        });
    }));
    INFO(verify::print(v));
    CHECK(v.status == Status::checked);
    CHECK(v.reason == "the number of tasks decides what is issued in more than one way");
}

TEST_CASE("a window behind the loop that the loop reaches after many tasks is no proof") {
    const auto with = [](std::int64_t row, bool ordered) {
        Handover a;
        a.length = "m";
        return judge(kernel_of({a}, [&](FunctionBuilder& b) {
            if (ordered) b.op("system.sync_all", {}, {{"core_type", isa::enum_value(isa::SyncCoreType::mix)}});
            if (b.f.core != isa::Core::vector) return;
            const auto y = b.tensor("y", {-1, 64}, ir::ParamId{1});
            const auto t = b.slot(b.group("late", tile_type(32, 64, M::vec), {0x20000}, {30}));
            b.op("load", {t, y, ir::ExprList{b.num(row), b.num(0)}}); // what the stores of task row / 64 wrote
        }));
    };
    const auto far = with(64 * 1000, false);
    INFO(verify::print(far));
    CHECK(far.status == Status::checked);
    CHECK(far.reason == "windows of global memory that move with one task loop may meet those of another part of the program");
    CHECK(with(64 * 3, false).status == Status::refused);
    const auto safe = with(64 * 1000, true);
    INFO(verify::print(safe));
    CHECK(safe.status == Status::proven);
}

TEST_CASE("sets that run several periods ahead are proven when something bounds them") {
    // No slots: one tile, one id with five permits. The period is one task, the lead five.
    const auto with = [](int permits) {
        ir::Kernel k = kernel_of({});
        for (bool cube : {true, false}) {
            FunctionBuilder b(cube ? isa::Core::cube : isa::Core::vector);
            const auto n = b.var("n", isa::DType::index, ir::ParamId{2});
            if (!cube)
                for (int p = 0; p < permits; ++p) b.cross_set(P::mte3, b.num(1));
            b.loop(b.var("i"), b.get(n), [&] {
                if (cube) b.cross_wait(P::fix, b.num(1)), b.cross_set(P::fix, b.num(0));
                else b.cross_wait(P::mte3, b.num(0)), b.cross_set(P::mte3, b.num(1));
            });
            if (cube)
                for (int p = 0; p < permits; ++p) b.cross_wait(P::fix, b.num(1));
            (cube ? k.cube : k.vector) = std::move(b.f);
        }
        return judge(std::move(k));
    };
    for (int permits : {1, 5, 15}) {
        const auto v = with(permits);
        INFO(verify::print(v));
        CHECK(v.status == Status::proven);
        for (const auto& id : v.ids) CHECK(id.max_pending == permits);
    }
    CHECK(find(with(16), HazardKind::counter_overflow));
}
