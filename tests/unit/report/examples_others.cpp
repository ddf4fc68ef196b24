#include "tests/unit/report/examples.hpp"

#include <cmath>
#include <limits>

namespace pto::report::examples {

MemoryMap relu_matmul_memory() {
    constexpr std::int64_t k = 1024;
    MemoryMap m{Provenance{"nothing was run", "checker", {}}, "relu_matmul", "ascend950pr", {}, 32, 18, 10, {"a third slot for p: move it to 0x18000 (16 KiB more, 2 more event ids, 4 are unused)"}};
    const auto group = [](const char* name, std::int64_t at, std::int64_t bytes, int slots, const char* shape, const char* layout, std::vector<int> locks, std::vector<std::string> stages) {
        MemoryGroup g;
        g.name = name, g.address = at, g.slot_bytes = bytes, g.slots = slots, g.shape = shape, g.dtype = "fp32", g.layout = layout, g.locks = std::move(locks), g.stages = std::move(stages);
        g.place = {"In[4]", 50, 5};
        return g;
    };
    const auto channel = [](MemoryGroup g, std::vector<int> ready, std::vector<int> free) {
        g.channel = true, g.ready_ids = std::move(ready), g.free_ids = std::move(free);
        return g;
    };
    m.memories = {
        {"L0A", "", 64 * k, 64 * k, {group("left", 0, 16 * k, 2, "64x64", "", {4, 5}, {"stage1", "stage3"})}, {}},
        {"L0B", "", 64 * k, 64 * k, {group("right", 0, 16 * k, 2, "64x64", "", {6, 7}, {"stage1", "stage3"})}, {}},
        {"L0C", "", 256 * k, 256 * k, {group("acc", 0, 16 * k, 4, "64x64", "", {8, 9, 10, 11}, {"stage1", "stage3"})}, {}},
        {"L1", "", 512 * k, 512 * k,
         {group("a", 0, 16 * k, 2, "64x64", "NZ", {0, 1}, {"stage1"}), channel(group("p", 0x8000, 16 * k, 2, "64x64", "NZ", {14, 15}, {"stage2", "stage3"}), {4, 5}, {6, 7}),
          group("b", 0x10000, 16 * k, 1, "64x64", "NZ", {2}, {"stage1"}), group("d", 0x14000, 16 * k, 1, "64x64", "NZ", {3}, {"stage3"})}, {}},
        {"UB", "each AIV", 248 * k, 256 * k,
         {channel(group("mm1", 0, 8 * k, 2, "32x64", "", {12, 13}, {"stage1", "stage2"}), {0, 1}, {2, 3}), group("relu", 0x8000, 8 * k, 2, "32x64", "", {18, 19}, {"stage2"}),
          channel(group("out", 0x10000, 8 * k, 2, "32x64", "", {16, 17}, {"stage3", "stage4"}), {8, 9}, {10, 11}), group("nz", 0x18000, 8 * k, 2, "32x64", "NZ", {20, 21}, {"stage2"})}, {}},
    };
    return m;
}

MemoryMap bad_memory() {
    MemoryMap m = relu_matmul_memory();
    m.memories[0].groups[0].slot_bytes = 48 * 1024;
    m.memories[3].groups[3].address = 0x12000;
    m.memories[3].overlaps = {{"b", "d", 0x12000, 0x14000, false, "locks 2 and 3"}};
    return m;
}

Refusal slots_refusal() {
    Refusal r{Provenance{"nothing was run", "checker", {}}, "relu_matmul", {}};
    Finding f;
    f.code = "PTO-K41", f.rule_en = "a buffer has a slot for every task between its write and its read", f.rule_zh = "写入与读取之间的每个任务都需要一个槽位";
    f.message = "p has 2 slots, preload 3 needs 3";
    f.place = {"In[4]", 56, 5};
    f.end_column = 6;
    f.source = "    p = pl.make_tile_group(type=tile_mat, addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7])  # 中间结果";
    f.marks = {{5, 6, ""}, {57, 75, "2 slots"}};
    f.also = {{{"In[4]", 19, 9}, "stage2 writes p, one beat after a task starts"}, {{"In[4]", 29, 9}, "stage3 reads it, three beats after"}};
    f.why = {"beat       1      2      3      4", "stage2     w0 s0  w1 s1  w2 s0  w3 s1    w, r = writes, reads; then task, slot", "stage3                   r0 s0  r1 s1    beat 3: task 2 is due in slot 0, where task 0 still is"};
    f.fix = {{"p = pl.make_tile_group(type=tile_mat, addrs=0x8000, mutex_ids=[14, 15], fwd_ids=[4, 5], bwd_ids=[6, 7])",
              "p = pl.make_tile_group(type=tile_mat, addrs=0x18000, mutex_ids=[14, 15, 22], fwd_ids=[4, 5, 12], bwd_ids=[6, 7, 13])", {"In[4]", 56, 0}}};
    f.fix_message = "three slots end at 0x24000; from 0x8000 they would run into b";
    f.alternatives = {"preload=2: the largest that works with these slots"};
    r.findings.push_back(f);
    return r;
}

CodeDiff small_diff() {
    return diff("In[4]", "def k(a):\n    for ki in pl.range(0, N):\n        with pl.section_cube():\n            stage1(ki, a)\n        with pl.section_vector():\n            stage2(ki)\n    return\n", "pipeline_generated.py",
                "def k(a):\n    _pl_task_id = 0\n    for ki in pl.range(0, N):\n        with pl.section_cube():\n            pl.system.wait_cross_core(pipe=pl.PipeType.FIX, event_id=_x[0])\n            stage1(_pl_ctx_0.ki, a)\n        "
                "with pl.section_vector():\n            stage2(_pl_ctx_1.ki)\n        _pl_task_id = _pl_task_id + 1\n    return\n");
}

Panel relu_matmul_panel() {
    Panel p{Provenance{"nothing was run", "verifier", {"time: 11 % guessed rows"}}};
    p.kernel = "relu_matmul", p.target = "ascend950pr", p.preload = "2", p.compile_ms = 3.14;
    p.plan = relu_matmul_plan();
    p.timeline = relu_matmul_timeline();
    p.memory = relu_matmul_memory();
    p.code = small_diff();
    p.cpp = "// kernel.cpp\n#include \"kernel.hpp\"\nextern \"C\" void relu_matmul(int n) { for (int i = 0; i < n; ++i) step(i, 0x8000); }\n";
    p.since = "preload 1 -> 2, predicted 3.09 -> 2.86 us, plan redrawn";
    p.checks = {"every wait has a set", "no address beyond UB"};
    p.versions = {"xpto 0.1.0"};
    return p;
}

Hang lost_set_hang() {
    Hang h{Provenance{"simulator (ascend950pr)", "execution", {}}};
    h.kernel = "relu_matmul", h.preload = "2", h.ran = "pipeline_generated.py as edited", h.at_us = 2.12, h.at_cycles = 3503;
    StuckPipe cause;
    cause.cause = true, cause.cores = "AIV0, AIV1", cause.pipe = "MTE3", cause.waits_for = "id 8 (out ready, slot 0)", cause.before = "stage4, task 0", cause.id = 8, cause.stage = "stage4", cause.task = 0, cause.sets = 0, cause.waits = 1;
    cause.expected = "stage3 sets id 8 on FIX after task 0", cause.place = {"generated", 104, 0}, cause.expected_place = {"generated", 98, 0};
    cause.queue = {"set id 10", "store out"};
    const auto follows = [](const char* pipe, const char* what, const char* before, const char* because, int id) {
        StuckPipe s;
        s.cores = "AIC", s.pipe = pipe, s.waits_for = what, s.before = before, s.because = because, s.id = id;
        return s;
    };
    h.stuck = {cause, follows("FIX", "id 10 (out free, slot 0)", "stage3, task 2", "stage4 has not run", 10), follows("MTE1", "id 5 (p ready, slot 1)", "stage3, task 3", "set queues behind the cause", 5),
               follows("M", "matmul of stage3, task 3 needs its tile from MTE1", "", "", -1)};
    h.progress = {{"stage1", 4, 4}, {"stage2", 3, 4}, {"stage3", 2, 4}, {"stage4", 0, 4}};
    h.counters = {{8, "out ready", 0, 1, true}, {10, "out free", 2, 2, true}};
    h.fix = {"after stage3 set out ready on FIX again (line 98 did), or generate the file anew"};
    return h;
}

Race slot_race() {
    Race r{Provenance{"simulator (ascend950pr)", "happens-before check", {}}};
    r.kernel = "relu_matmul", r.preload = "2", r.values_note = "the nominal numbers are right";
    RacePair p;
    p.buffer = "p", p.slot = 0, p.memory = "L1", p.from = 0x8000, p.to = 0xC000;
    p.first = {true, "AIV0", "MTE3", "pl.insert(p_slot, nz_slot, ...)", {"In[6]", 26, 5}, "stage2", 2, -1, 2961, 3025, {"AIC.FIX 6"}, {"mm1 ready, task 2"}};
    p.second = {false, "AIC", "MTE1", "pl.move(left, p_slot)", {"In[6]", 35, 5}, "stage3", 0, -1, 2231, 2295, {"AIV0.MTE3 1"}, {"p ready, task 0"}};
    p.bytes_note = "rows 0-31: 8 pieces of 1 KiB every 2 KiB (NZ); AIV1 has rows 32-63";
    p.order = "write waits for mm1 ready, task 2; read for p ready, task 0; no bwd_ids joins the two";
    p.luck = "nominal: 666 cycles from read to write; hostile late: out[0:64] becomes task 2's value";
    p.fix = {"In[6]:56  p: add bwd_ids=[6, 7] (unused): stage3 sets after the read, stage2 waits"};
    r.pairs = {p};
    r.same = {"2 pairs in 4 tasks (task 2 over 0, task 3 over 1), reported once"};
    return r;
}

Precision matching() {
    Precision p{Provenance{"simulator (ascend950pr)", "comparison with numpy float64", {}}};
    p.verdict = Status::match, p.output = "out", p.shape = "256x64", p.dtype = "fp32", p.reference = "numpy float64";
    p.elements = 16384, p.worst_sigma = 2.7, p.median_sigma = 0.45, p.p99_sigma = 1.7;
    p.sigma_low = 3.5e-6, p.sigma_high = 4.7e-5, p.limit_low = 5.3e-3, p.limit_high = 1.4e-2;
    p.derivation = "K=64 twice, fp32 sums, relu between", p.tolerance = "rtol=0.01 atol=0.01 also holds";
    p.worst = {{{41, 28}, 0, 1, -3.407, -3.40702, 2.3e-5, 8.4e-6, 9.0e-3}};
    p.largest = {{{163, 16}, 2, 1, 143.9, 143.90006, 5.6e-5, 2.5e-5, 8.5e-3}};
    p.map.rows = 32, p.map.columns = 16, p.map.element_rows = 256, p.map.element_columns = 64;
    for (int i = 0; i < 32 * 16; ++i) p.map.z.push_back(2.7 * std::abs(std::sin(0.37 * i)));
    p.map.task_rows = {0, 64, 128, 192};
    p.map.task_labels = {"task 0", "task 1", "task 2", "task 3"};
    for (int i = 0; i < 11; ++i) p.histogram.push_back({0.25 * i, 0.25 * (i + 1), std::int64_t(6000 * std::exp(-0.4 * i * i / 4))});
    return p;
}

Precision different() {
    Precision p = matching();
    p.verdict = Status::different;
    p.above_sigma = p.above_limit = 4094, p.worst_sigma = 2e6;
    p.first_wrong_stage = "stage3", p.first_wrong_task = 0;
    p.where = "out[0:64, 0:64] = one whole task tile, both AIVs", p.scope = "tasks 1-3 are within 2.7 sigma";
    p.stages = {{"stage1", "mm1", true, ""}, {"stage2", "p", true, "when written"}, {"stage3", "read of p[slot 0], task 0:", false, ""}};
    p.kind = "overtaken slot: the tile equals the right value of task 2 (distance 2 = slots of p)";
    p.see = "RACE p slot 0, stage2 task 2 over stage3 task 0 (In[6])";
    for (int i = 0; i < 8 * 16; ++i) p.map.z[std::size_t(i)] = std::numeric_limits<double>::infinity();
    p.histogram.push_back({1e4, 2e6, 4094});
    return p;
}

Sweep preload_sweep() {
    Sweep s{Provenance{"simulator (ascend950pr)", "comparison with preload 0", {"time: 11 % guessed rows"}}};
    s.kernel = "relu_matmul", s.swept = "preload 0-5 x slots of p 2-4", s.compared = "bit for bit", s.tasks = 4, s.settings = 18, s.run = 12;
    s.serial_us = 4.36, s.floor_us = 1.26, s.floor_note = "4 tasks x 520 cycles on cube M; at 64 tasks preload 2 reaches 93 % of it";
    s.advice = "stay at preload 2; deeper costs L1 and ids and gains nothing here";
    using S = SweepPoint::State;
    s.points = {{S::right, 0, {{"p", "2"}}, -1, 12, 6, 96 * 1024, 4.36, -1, -1, "", "3 or 4 slots: same"},
                {S::right, 1, {{"p", "2"}}, 3, 12, 6, 96 * 1024, 3.09, -1, -1, "", "3 or 4 slots: same"},
                {S::right, 2, {{"p", "2"}}, 4, 12, 6, 96 * 1024, 2.86, -1, -1, "", "3 or 4 slots: same"},
                {S::refused, 3, {{"p", "2"}}, 5, -1, -1, -1, -1, -1, -1, "K41: p needs 3 slots", ""},
                {S::right, 3, {{"p", "3"}}, 5, 14, 7, 112 * 1024, 2.88, -1, -1, "", "4 slots: same"},
                {S::refused, 4, {{"p", "2-3"}}, 6, -1, -1, -1, -1, -1, -1, "K41: p needs 4 slots", ""},
                {S::right, 4, {{"p", "4"}}, 6, 16, 8, 128 * 1024, 2.88, -1, -1, "", ""},
                {S::refused, 5, {{"p", "2-4"}}, 7, -1, -1, -1, -1, -1, -1, "K41: p needs 5, that is 18 ids", ""}};
    s.best = 2;
    return s;
}

} // namespace pto::report::examples
