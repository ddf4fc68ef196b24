#include "tests/unit/report/examples.hpp"

namespace pto::report::examples {

namespace {

constexpr Ticks c(std::int64_t cycles) { return cycles * ticks_per_cycle; }

struct S { int start, end, landed, op, task, stage; };
struct W { int start, end, paid, stage, task, for_stage; const char* buffer; Direction direction; int id; };
struct G { int start, end, stage, task; };

Lane lane(std::string core, std::string pipe, std::string role, bool computes, std::vector<S> slices, std::vector<W> waits, std::vector<G> gaps) {
    Lane l{std::move(core), std::move(pipe), std::move(role), computes, {}, {}, {}, {}, {}};
    for (const S& s : slices) l.slices.push_back({c(s.start), c(s.end), c(s.landed), s.op, s.task, s.stage});
    for (const W& w : waits)
        l.waits.push_back({c(w.start), c(w.end), c(w.paid), w.stage, w.task, w.for_stage, w.task, w.buffer, w.direction, w.id, w.end - w.start > 1000});
    for (const G& g : gaps) l.gaps.push_back({c(g.start), c(g.end), g.stage, g.task});
    return l;
}

std::vector<StageTime> four_stages() {
    const auto stage = [](const char* name, isa::Core core, int line) {
        StageTime s;
        s.name = name, s.core = core, s.place = {"In[4]", line, 1};
        return s;
    };
    return {stage("stage1", isa::Core::cube, 5), stage("stage2", isa::Core::vector, 19), stage("stage3", isa::Core::cube, 29),
            stage("stage4", isa::Core::vector, 42)};
}

} // namespace

Timeline relu_matmul_timeline() {
    Timeline t{Provenance{"simulator (ascend950pr)", "", {"time: 11 % guessed rows"}}};
    t.provenance.stated_percent = 61, t.provenance.derived_percent = 28, t.provenance.guessed_percent = 11;
    t.kernel = "relu_matmul", t.target = "ascend950pr", t.preload = "2", t.tasks = 4;
    t.total = c(4715), t.cycles_per_us = 1650, t.serial_total = c(7194);
    t.steady = c(520), t.pace_core = "AIC", t.pace_pipe = "M";
    t.folded = "AIV1 within 0.1 %";
    t.stages = four_stages();
    const char* names[] = {"load B", "load D", "load A", "move A", "move B", "move p", "move D", "matmul", "move Acc to mm1", "move Acc to out",
                           "relu", "move ND to NZ", "insert p", "store out"};
    for (const char* n : names) t.ops.push_back({n, n[0] == 'l' ? std::string(1, n[5]) : "", {"In[4]", 35, 1}, "derived"});
    const auto ready = Direction::ready, free = Direction::free;
    t.lanes = {
        lane("AIC", "MTE2", "loads", false,
             {{7, 217, 767, 0, -1, -1}, {217, 427, 977, 1, -1, -1}, {427, 637, 1187, 2, 0, 0}, {637, 847, 1397, 2, 1, 0},
              {1281, 1491, 2041, 2, 2, 0}, {1491, 1701, 2251, 2, 3, 0}}, {}, {{847, 1281, 0, 2}}),
        lane("AIC", "MTE1", "L1 to L0", false,
             {{1187, 1251, 1251, 3, 0, 0}, {1251, 1315, 1315, 4, 0, 0}, {1397, 1461, 1461, 3, 1, 0}, {1461, 1525, 1525, 4, 1, 0},
              {2041, 2105, 2105, 3, 2, 0}, {2105, 2169, 2169, 4, 2, 0}, {2231, 2295, 2295, 5, 0, 2}, {2295, 2359, 2359, 6, 0, 2},
              {2459, 2523, 2523, 3, 3, 0}, {2523, 2587, 2587, 4, 3, 0}, {2719, 2783, 2783, 5, 1, 2}, {2783, 2847, 2847, 6, 1, 2},
              {3085, 3149, 3149, 5, 2, 2}, {3149, 3213, 3213, 6, 2, 2}, {3605, 3669, 3669, 5, 3, 2}, {3669, 3733, 3733, 6, 3, 2}},
             {{2169, 2231, 62, 2, 0, 1, "p", ready, 4}, {2587, 2592, 0, 2, 1, 1, "p", ready, 5}, {2847, 3085, 106, 2, 2, 1, "p", ready, 4},
              {3213, 3605, 366, 2, 3, 1, "p", ready, 5}},
             {{56, 1187, 0, 0}, {1315, 1397, 0, 1}, {1525, 2041, 0, 2}, {2359, 2459, 0, 3}, {2592, 2719, 2, 1}}),
        lane("AIC", "M", "matmul", true,
             {{1345, 1605, 1605, 7, 0, 0}, {1605, 1865, 1865, 7, 1, 0}, {2199, 2459, 2459, 7, 2, 0}, {2459, 2719, 2719, 7, 0, 2},
              {2719, 2979, 2979, 7, 3, 0}, {2979, 3239, 3239, 7, 1, 2}, {3243, 3503, 3503, 7, 2, 2}, {3763, 4023, 4023, 7, 3, 2}},
             {}, {{72, 1345, 0, 0}, {1865, 2199, 0, 2}, {3503, 3763, 2, 3}}),
        lane("AIC", "FIX", "L0C to UB", false,
             {{1605, 1669, 1669, 8, 0, 0}, {1865, 1929, 1929, 8, 1, 0}, {2459, 2523, 2523, 8, 2, 0}, {2719, 2783, 2783, 9, 0, 2},
              {2979, 3043, 3043, 8, 3, 0}, {3239, 3303, 3303, 9, 1, 2}, {3565, 3629, 3629, 9, 2, 2}, {4085, 4149, 4149, 9, 3, 2}},
             {{1929, 2147, 0, 0, 2, 1, "mm1", free, 2}, {3303, 3565, 63, 2, 2, 3, "out", free, 10}, {3629, 4085, 63, 2, 3, 3, "out", free, 11}},
             {{80, 1605, 0, 0}, {1669, 1865, 0, 1}, {2147, 2459, 0, 2}, {2523, 2719, 2, 0}, {2783, 2979, 0, 3}, {3043, 3239, 2, 1}}),
        lane("AIV0", "V", "vector", true,
             {{1735, 1915, 1915, 10, 0, 1}, {1915, 2095, 2095, 11, 0, 1}, {2096, 2276, 2276, 10, 1, 1}, {2276, 2456, 2456, 11, 1, 1},
              {2589, 2769, 2769, 10, 2, 1}, {2769, 2949, 2949, 11, 2, 1}, {3109, 3289, 3289, 10, 3, 1}, {3289, 3469, 3469, 11, 3, 1}},
             {{40, 1735, 1679, 1, 0, 0, "mm1", ready, 0}, {2457, 2589, 132, 1, 2, 0, "mm1", ready, 0}, {2950, 3109, 159, 1, 3, 0, "mm1", ready, 1}}, {}),
        lane("AIV0", "MTE3", "UB to out", false,
             {{2107, 2171, 2171, 12, 0, 1}, {2468, 2532, 2532, 12, 1, 1}, {2961, 3025, 3025, 12, 2, 1}, {3026, 3226, 3526, 13, 0, 3},
              {3481, 3545, 3545, 12, 3, 1}, {3546, 3746, 4046, 13, 1, 3}, {3746, 3946, 4246, 13, 2, 3}, {4215, 4415, 4715, 13, 3, 3}},
             {{3947, 4215, 268, 3, 3, 2, "out", ready, 9}}, {{72, 2107, 1, 0}, {2171, 2468, 1, 1}, {2532, 2961, 1, 2}, {3226, 3481, 1, 3}}),
    };
    t.critical = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {0, 4}, {1, 4}, {1, 5}, {2, 2}, {2, 3}, {2, 4}, {3, 4}, {4, 6}, {4, 7}, {5, 4}, {5, 5}, {3, 7}, {5, 7}};
    t.what_if = {{"", {{"20 % faster matmul", -3.3}, {"20 % faster stage2", -1.5}, {"3 slots of out", -1.3}, {"3 slots of p", 0}, {"preload 1", 8.2}}},
                 {"at 64 tasks (21.8 us)", {{"20 % faster matmul", -16}, {"preload 1", 23}}}};
    summarise(t);
    return t;
}

Timeline long_timeline(int tasks, bool jitter) {
    Timeline t{Provenance{"simulator (ascend950pr)", "", {"time"}}};
    t.provenance.derived_percent = 89, t.provenance.guessed_percent = 11;
    t.kernel = "relu_matmul", t.target = "ascend950pr", t.preload = "2", t.tasks = tasks;
    t.stages = four_stages();
    t.ops = {{"load A", "", {}, "derived"}, {"move", "", {}, "derived"}, {"matmul", "", {}, "derived"}, {"relu", "", {}, "derived"}, {"store", "", {}, "derived"}};
    Lane mte2{"AIC", "MTE2", "loads", false, {}, {}, {}, {}, {}}, mte1{"AIC", "MTE1", "L1 to L0", false, {}, {}, {}, {}, {}};
    Lane m{"AIC", "M", "matmul", true, {}, {}, {}, {}, {}}, fix{"AIC", "FIX", "L0C to UB", false, {}, {}, {}, {}, {}};
    Lane v{"AIV0", "V", "vector", true, {}, {}, {}, {}, {}}, mte3{"AIV0", "MTE3", "UB out", false, {}, {}, {}, {}, {}};
    Ticks at = c(600);
    for (int k = 0; k < tasks; ++k) {
        const Ticks period = c(520 + (jitter && k % 7 == 3 ? 180 : 0));
        const auto put = [&](Lane& l, Ticks from, Ticks length, int op, int task, int stage) {
            if (task >= 0 && task < tasks) l.slices.push_back({from, from + length, from + length, op, task, stage});
        };
        put(mte2, at - c(500), c(210), 0, k, 0);
        put(mte1, at - c(130), c(64), 1, k, 0);
        put(m, at, c(260), 2, k, 0);
        put(fix, at + c(260), c(64), 1, k, 0);
        v.waits.push_back({at + c(320), at + c(400), c(80), 1, k, 0, k, "mm1", Direction::ready, k % 2, false});
        put(v, at + c(400), c(100), 3, k, 1);
        put(mte3, at + c(505), c(10), 1, k, 1);
        put(m, at + c(260), c(250), 2, k, 2);
        put(fix, at + c(512), c(60), 1, k, 2);
        put(mte3, at + c(580), c(100), 4, k, 3);
        at += period;
    }
    t.total = at + c(400);
    t.lanes = {mte2, mte1, m, fix, v, mte3};
    summarise(t);
    return t;
}

} // namespace pto::report::examples
