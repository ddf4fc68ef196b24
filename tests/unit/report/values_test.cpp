#include "engine/report/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/report/examples.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>

using namespace pto::report;

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = std::min(text.find('\n', i), text.size());
        out.push_back(text.substr(i, end - i));
        i = end + 1;
    }
    return out;
}
int widest(const std::string& text) {
    int w = 0;
    for (const std::string& l : lines(text)) w = std::max(w, columns(l));
    return w;
}
bool ascii(const std::string& text) {
    for (char c : text)
        if (static_cast<unsigned char>(c) >= 128) return false;
    return true;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a report that prints a verdict cannot be built without saying who computed and checked it") {
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Provenance>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<SyncPlan>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Timeline>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<MemoryMap>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Refusal>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Hang>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Race>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Precision>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Sweep>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<Panel>);
}

TEST_CASE("words that need a checker or a card are not printed without") {
    const Provenance nobody{"simulator (ascend950pr)", "", {}}, verifier{"nothing was run", "verifier", {}}, card{"npu:0 (ascend950pr)", "", {}};
    CHECK(honest(Status::proven, nobody) == Status::not_proven);
    CHECK(honest(Status::proven, verifier) == Status::proven);
    CHECK(honest(Status::right, nobody) == Status::warned);
    CHECK(honest(Status::measured, nobody) == Status::predicted);
    CHECK(honest(Status::measured, card) == Status::measured);
    SyncPlan plan = examples::relu_matmul_plan();
    CHECK(status(plan) == Status::proven);
    plan.provenance.checked_by.clear();
    CHECK(status(plan) == Status::not_proven);
    CHECK(has(to_text(plan), "NOT PROVEN"));
    CHECK(has(to_text(plan), "nobody checked this plan"));
    CHECK_FALSE(has(to_text(plan), "for every number of tasks"));
    plan = examples::relu_matmul_plan();
    plan.loops[0].proof.checked_tasks = 9;   // an exhaustive check of small counts is no proof
    CHECK(status(plan) == Status::not_proven);
    CHECK(has(to_text(plan), "checked to T = 9"));
}

TEST_CASE("the text of the drawn plan") {
    const std::string expected =
        R"(PROVEN  sync plan of relu_matmul, loop ki, preload 2: ring depth 4, drain beats 3
for every number of tasks, 0 included; assumes auto_mutex keeps the order inside each core
stage   core    runs   before it                        after it
stage1  cube    b      wait FIX   mm1 free   2,3        set FIX   mm1 ready  0,1
stage2  vector  b-1    wait V     mm1 ready  0,1        set V     mm1 free   2,3
                       wait MTE3  p free     6,7        set MTE3  p ready    4,5
stage3  cube    b-2    wait MTE1  p ready    4,5        set MTE1  p free     6,7
                       wait FIX   out free   10,11      set FIX   out ready  8,9
stage4  vector  b-3    wait MTE3  out ready  8,9        set MTE3  out free   10,11
prefire   cube MTE1 6 7         vector V 2 3, MTE3 10 11                    6 sets, one per id
drain     cube FIX 2 3 10 11    vector MTE3 6 7                             6 waits, one per id
buffer  where        slots  ready: producer -> consumer   free: consumer -> producer
mm1     UB 0x00000   2      stage1 -> stage2, 1 beat      stage2 -> stage1, 1 beat, 2 tasks on
p       L1 0x08000   2      stage2 -> stage3, 1 beat      stage3 -> stage2, 1 beat, 2 tasks on
out     UB 0x10000   2      stage3 -> stage4, 1 beat      stage4 -> stage3, 1 beat, 2 tasks on
beat      0     1     2         3          4         5     6     stage:task; id = list[task mod 2]
cube      1:0   1:1   1:2 3:0   1:3 3:1  | 3:2       3:3
vector          2:0   2:1       2:2 4:0  | 2:3 4:1   4:2   4:3
ids       0-11 used, at most 1 pending each (15 allowed); 12-15 unused
)";
    CHECK(to_text(examples::relu_matmul_plan()) == expected);
}

TEST_CASE("texts are ASCII, at most 100 columns, and Chinese ones as wide") {
    const auto check = [](const auto& value) {
        const std::string en = to_text(value), zh = to_text(value, Language::zh);
        CHECK(ascii(en));
        CHECK(widest(en) <= 100);
        CHECK(widest(zh) <= 100);
        CHECK_FALSE(ascii(zh));
    };
    for (int n = 1; n <= 8; ++n)
        for (std::int64_t tasks : {-1, 0, 1, 4, 1000}) check(examples::chain_plan(n, tasks));
    check(examples::relu_matmul_plan());
    check(examples::shared_id_plan());
    check(examples::forward_only_plan());
    check(examples::address_reuse_plan());
    check(examples::relu_matmul_timeline());
    check(examples::relu_matmul_memory());
    check(examples::bad_memory());
    check(examples::relu_matmul_panel());
    check(examples::lost_set_hang());
    check(examples::slot_race());
    check(examples::matching());
    check(examples::different());
    check(examples::preload_sweep());
}

TEST_CASE("a name of 200 characters stays whole and inside 100 columns") {
    SyncPlan plan = examples::relu_matmul_plan();
    plan.kernel = std::string(200, 'k');
    const std::string text = to_text(plan);
    CHECK(widest(text) <= 100);
    std::string joined;
    for (const std::string& l : lines(text)) joined += l.substr(l.rfind("    ", 0) == 0 ? 4 : 0);
    CHECK(has(joined, plan.kernel));
}

TEST_CASE("JSON reads back to the same value") {
    for (const SyncPlan& p : {examples::relu_matmul_plan(), examples::shared_id_plan(), examples::forward_only_plan(), examples::address_reuse_plan(), examples::chain_plan(8), examples::chain_plan(1, 0)})
        CHECK(sync_plan_from_json(nlohmann::json::parse(json_of(p).dump())) == p);
    const Timeline t = examples::relu_matmul_timeline();
    CHECK(timeline_from_json(nlohmann::json::parse(json_of(t).dump())) == t);
    for (const MemoryMap& m : {examples::relu_matmul_memory(), examples::bad_memory()}) CHECK(memory_map_from_json(nlohmann::json::parse(json_of(m).dump())) == m);
    const Refusal r = examples::slots_refusal();
    CHECK(refusal_from_json(nlohmann::json::parse(json_of(r).dump())) == r);
    const Hang h = examples::lost_set_hang();
    CHECK(hang_from_json(nlohmann::json::parse(json_of(h).dump())) == h);
    const Race race = examples::slot_race();
    CHECK(race_from_json(nlohmann::json::parse(json_of(race).dump())) == race);
    for (const Precision& p : {examples::matching(), examples::different()}) CHECK(precision_from_json(nlohmann::json::parse(json_of(p).dump())) == p);
    const Sweep s = examples::preload_sweep();
    CHECK(sweep_from_json(nlohmann::json::parse(json_of(s).dump())) == s);
    const CodeDiff d = examples::small_diff();
    CHECK(code_diff_from_json(nlohmann::json::parse(json_of(d).dump())) == d);
}

TEST_CASE("JSON uses the names of the command line's contract") {
    const nlohmann::json j = json_of(examples::relu_matmul_plan());
    CHECK(j.at("schema") == 1);
    CHECK(j.at("checked_by") == "verifier");
    const nlohmann::json& loop = j.at("loops")[0];
    for (const char* name : {"stages", "preload", "ring_depth", "drain_beats", "edges", "sites", "prefire", "drain", "auto_ids"}) CHECK(loop.contains(name));
    for (const char* name : {"name", "section", "delay"}) CHECK(loop.at("stages")[0].contains(name));
    for (const char* name : {"kind", "from", "to", "buffer", "distance", "task_offset", "ids"}) CHECK(loop.at("edges")[0].contains(name));
    for (const char* name : {"stage", "where", "op", "pipe", "ids", "slot_count"}) CHECK(loop.at("sites")[0].contains(name));
    CHECK(loop.at("sites").size() == 12);
    CHECK(json_of(examples::address_reuse_plan()).at("loops")[0].at("auto_ids").at("out > mm1") == nlohmann::json({12, 13}));
    const nlohmann::json p = json_of(examples::relu_matmul_panel());
    for (const char* name : {"kernel", "target", "diagnostics", "loops", "sync", "memory", "predicted"}) CHECK(p.contains(name));
    CHECK(p.at("predicted").at("cycles") == 4715);
}

TEST_CASE("ids and beats follow from edges and schedule") {
    const PlanLoop loop = examples::relu_matmul_plan().loops[0];
    CHECK(loop.ids.size() == 16);
    CHECK(counts(loop).ids_used == 12);
    REQUIRE(loop.beats.size() == 7);
    CHECK(loop.beats[3].kind == Beat::Kind::loop);
    CHECK(loop.beats[4].kind == Beat::Kind::drain);
    std::map<std::string, int> runs;
    for (const Beat& b : loop.beats)
        for (const BeatChip& c : b.chips) ++runs[c.stage];
    for (const PlanStage& s : loop.stages) CHECK(runs[s.name] == 4);   // every stage runs every task once
    const PlanLoop open = examples::chain_plan(4, -1).loops[0];
    int gaps = 0, steady = 0;
    for (const Beat& b : open.beats) {
        gaps += b.kind == Beat::Kind::gap;
        steady += b.kind == Beat::Kind::steady;
        if (b.kind == Beat::Kind::steady) CHECK(b.chips.size() == 4);
    }
    CHECK(gaps == 1);
    CHECK(steady == 1);
    CHECK(examples::chain_plan(1, 0).loops[0].beats.empty());
}

TEST_CASE("the timeline's numbers add up and its verdict is its total") {
    Timeline t = examples::relu_matmul_timeline();
    CHECK(inconsistencies(t).empty());
    CHECK(has(to_text(t), "PREDICTED  relu_matmul preload 2: 2.86 us (4715 cycles), 1.53 times faster"));
    CHECK(t.fill == 3026 * ticks_per_cycle);
    CHECK(t.drain == (4715 - 3043) * ticks_per_cycle);
    REQUIRE(t.paid_most.size() >= 3);
    CHECK(t.paid_most[0].buffer == "p");
    CHECK(t.paid_most[0].ticks == 534 * ticks_per_cycle);
    CHECK(t.paid_most[1].ticks == 291 * ticks_per_cycle);   // the fill of stage2 is drawn, not counted
    // Breaking any law is noticed.
    Timeline broken = t;
    broken.lanes[0].totals.busy += 1;
    CHECK_FALSE(inconsistencies(broken).empty());
    broken = t;
    broken.stages[1].move += 5;
    CHECK_FALSE(inconsistencies(broken).empty());
    broken = t;
    broken.lanes[2].slices[1].start -= 10;
    summarise(broken);
    CHECK_FALSE(inconsistencies(broken).empty());
}

TEST_CASE("bins hold exactly what the slices hold") {
    for (const Timeline& t : {examples::relu_matmul_timeline(), examples::long_timeline(300, true)})
        for (const Lane& l : t.lanes)
            for (int n : {1, 7, 355, 1000}) {
                Ticks busy = 0, paid = 0, free = 0, in_core = 0;
                for (const Bin& b : bins(l, t.stages.size(), 0, t.total, n)) {
                    Ticks here = b.free + b.in_core;
                    for (Ticks v : b.busy) busy += v, here += v;
                    for (Ticks v : b.paid) paid += v, here += v;
                    free += b.free, in_core += b.in_core;
                    CHECK(here <= t.total / n + 1);
                }
                CHECK(busy == l.totals.busy);
                CHECK(paid == l.totals.paid);
                CHECK(free == l.totals.free);
                CHECK(in_core == l.totals.in_core);
            }
}

TEST_CASE("a periodic middle is found, an uneven one is not") {
    const Periodic p = periodic_middle(examples::long_timeline(1000, false));
    REQUIRE(p.found);
    CHECK(p.period == 520 * ticks_per_cycle);
    CHECK(p.beats == 997);
    CHECK(p.spread_percent == 0);
    CHECK_FALSE(periodic_middle(examples::long_timeline(1000, true)).found);
    CHECK_FALSE(periodic_middle(examples::relu_matmul_timeline()).found);
}

TEST_CASE("equal vector cores fold, unequal ones do not") {
    Timeline t = examples::relu_matmul_timeline();
    t.folded.clear();
    for (std::size_t i : {4u, 5u}) {
        Lane copy = t.lanes[i];
        copy.core = "AIV1";
        t.lanes.push_back(copy);
    }
    Timeline unequal = t;
    unequal.lanes.back().totals.busy += t.total / 20;
    fold_equal_cores(unequal);
    CHECK(unequal.lanes.size() == 8);
    fold_equal_cores(t);
    CHECK(t.lanes.size() == 6);
    CHECK(t.folded == "AIV1 the same");
    CHECK(t.critical.size() == examples::relu_matmul_timeline().critical.size());
}

TEST_CASE("memory: sums, excess and overlaps decide the verdict") {
    const MemoryMap m = examples::relu_matmul_memory();
    CHECK(status(m) == Status::fits);
    const MemoryUse ub = use_of(m.memories[4]);
    CHECK(ub.used == 64 * 1024);
    CHECK(ub.top == 0x1C000);
    CHECK(ub.gaps.size() == 3);
    MemoryMap bad = examples::bad_memory();
    CHECK(status(bad) == Status::refused);
    CHECK(has(to_text(bad), "left ends at 0x18000, L0A on ascend950pr has 0x10000: 32,768 bytes too many"));
    CHECK(use_of(bad.memories[3]).used == 88 * 1024);   // shared bytes count once
    bad.memories[0] = m.memories[0];
    CHECK(status(bad) == Status::refused);
    CHECK(has(to_text(bad), "b and d share 0x12000-0x14000 but not their locks"));
    bad.memories[3].overlaps[0].lawful = true;
    CHECK(status(bad) == Status::fits);
    CHECK(has(to_text(bad), "1 lawful overlap"));
}

TEST_CASE("a diff gives back both texts and pairs edited lines") {
    const CodeDiff d = examples::small_diff();
    CHECK(d.added == 5);
    CHECK(d.removed == 2);
    int changed = 0;
    for (const DiffLine& l : d.lines) changed += l.kind == DiffLine::Kind::changed;
    CHECK(changed == 2);
    // Any two texts: the old side of the lines is the old text, the new side the new one, each line once.
    std::uint32_t seed = 7;
    const auto random = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 16; };
    for (int round = 0; round < 60; ++round) {
        INFO("round " << round);
        std::string a, b;
        for (int i = 0; i < int(random() % 40); ++i) a += "line " + std::to_string(random() % 6) + "\n";
        for (int i = 0; i < int(random() % 40); ++i) b += "line " + std::to_string(random() % 6) + "\n";
        const CodeDiff x = diff("a", a, "b", b);
        std::string old_side, new_side;
        int expected_old = 1, expected_new = 1;
        for (const DiffLine& l : x.lines) {
            if (l.old_line) {
                CHECK(l.old_line == expected_old++);
                old_side += l.old_text + "\n";
            }
            if (l.new_line) {
                CHECK(l.new_line == expected_new++);
                new_side += l.new_text + "\n";
            }
        }
        CHECK(old_side == a);
        CHECK(new_side == b);
    }
    CHECK(diff("a", "same\n", "b", "same\n").added == 0);
}

TEST_CASE("the panel speaks with the words of its parts") {
    Panel p = examples::relu_matmul_panel();
    CHECK(status(p) == Status::proven);
    CHECK(has(to_text(p), "PROVEN  relu_matmul  preload 2: predicted 2.86 us, 1.53 times faster than preload 0 (4.36 us)"));
    CHECK(has(to_text(p), "6 hand-overs: 12 sites in the loop, 6 prefire, 6 drain; event ids 12 of 16"));
    p.stale = "TILE was 64, is 32 now";
    CHECK(status(p) == Status::stale);
    CHECK(lines(to_text(p))[0] == "STALE  relu_matmul: TILE was 64, is 32 now; run the cell again");
    p.stale.clear();
    p.findings = examples::slots_refusal();
    CHECK(status(p) == Status::refused);
    p.findings.reset();
    p.plan = examples::forward_only_plan();
    CHECK(status(p) == Status::not_proven);
    p.plan->loops.clear();
    CHECK(status(p) == Status::proven);
    CHECK(has(to_text(p), "no pipeline loop"));
}
