#include "engine/base/usual_fix.hpp"
#include "engine/report/chinese.hpp"
#include "engine/report/refusal.hpp"
#include "engine/report/text.hpp"
#include "tests/support/catch.hpp"

#include <set>

using namespace pto;
using namespace pto::report;

namespace {

Provenance nothing() { return {"nothing was run", "checker", {}}; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Span find(const SourceMap& map, FileId file, const std::string& what) {
    const std::size_t at = map.file(file).text.find(what);
    REQUIRE(at != std::string::npos);
    return {file, std::int32_t(at), std::int32_t(at + what.size())};
}

} // namespace

TEST_CASE("diagnostics become blocks in source order with carets under what they mean") {
    SourceMap map;
    const FileId cell = map.add("In[4]", "# 说明：中间结果\nx = 1\n    p = pl.make_tile_group(addrs=0x8000, mutex_ids=[14, 15])\n    q = p.next()\n", 2);
    Diagnostic late = diagnose(Code::preload_value, find(map, cell, "q"), "q is taken too early");
    Diagnostic slots = diagnose(Code::preload_value, find(map, cell, "p ="), "p has 2 slots, preload 3 needs 3");
    slots.at.end = slots.at.begin + 1;
    slots.labels = {{find(map, cell, "mutex_ids=[14, 15]"), "2 slots"}, {find(map, cell, "x = 1"), "stage2 writes p"}};
    slots.fix = Fix{"three slots end at 0x24000", {{find(map, cell, "0x8000"), "0x18000"}, {find(map, cell, "[14, 15]"), "[14, 15, 22]"}}};
    slots.advice = {"preload=2: the largest that works with these slots"};
    const Refusal r = refusal_of({late, slots}, map, "relu_matmul", nothing());
    REQUIRE(r.findings.size() == 2);
    CHECK(status(r) == Status::refused);
    const Finding& f = r.findings[0];
    CHECK(f.message == slots.message);
    CHECK(f.place == Place{"In[4]", 4, 5});
    CHECK(f.end_column == 6);
    REQUIRE(f.marks.size() == 2);
    REQUIRE(f.also.size() == 1);
    CHECK(f.also[0].place.line == 3);
    REQUIRE(f.fix.size() == 1);
    CHECK(f.fix[0].removed == "p = pl.make_tile_group(addrs=0x8000, mutex_ids=[14, 15])");
    CHECK(f.fix[0].added == "p = pl.make_tile_group(addrs=0x18000, mutex_ids=[14, 15, 22])");
    const std::string expected = "REFUSED  relu_matmul: p has 2 slots, preload 3 needs 3   [K0]\n"
                                 "In[4]:4:5\n"
                                 "   4 |     p = pl.make_tile_group(addrs=0x8000, mutex_ids=[14, 15])\n"
                                 "     |     ^                                    ^^^^^^^^^^^^^^^^^^ 2 slots\n"
                                 "also 3   stage2 writes p\n";
    const std::string text = to_text(f, "relu_matmul");
    CHECK(text.substr(0, text.find("also ")) == expected.substr(0, expected.find("also ")));
    CHECK(has(text, "also 3   stage2 writes p\n"));
    CHECK(has(text, "fix  - p = pl.make_tile_group(addrs=0x8000, mutex_ids=[14, 15])\n"));
    CHECK(has(text, "     + p = pl.make_tile_group(addrs=0x18000, mutex_ids=[14, 15, 22])\n"));
    CHECK(has(text, "or   preload=2: the largest that works with these slots\n"));
    CHECK(has(text, "why  " + std::string(row(Code::preload_value).english)));
}

TEST_CASE("columns count code points, carets count terminal columns") {
    SourceMap map;
    const FileId cell = map.add("In[1]", "变量 = 函数(坏)\n");
    const Refusal r = refusal_of({diagnose(Code::preload_value, find(map, cell, "坏"), "bad")}, map, "", nothing());
    CHECK(r.findings[0].place.column == 9);
    const Excerpt e = excerpt(r.findings[0], 90);
    REQUIRE(e.carets.size() == 1);
    CHECK(e.carets[0] == std::string(12, ' ') + "^^");   // three signs of one column, four characters of two, one bracket
    CHECK(columns(e.source.substr(0, e.source.find("坏"))) == 12);
}

TEST_CASE("a long line is cut around the mark") {
    SourceMap map;
    const FileId cell = map.add("In[1]", "x = " + std::string(300, 'a') + " + WRONG + " + std::string(300, 'b') + "\n");
    const Refusal r = refusal_of({diagnose(Code::preload_value, find(map, cell, "WRONG"), "bad")}, map, "", nothing());
    const Excerpt e = excerpt(r.findings[0], 93);
    CHECK(columns(e.source) <= 93);
    REQUIRE(e.carets.size() == 1);
    const std::size_t at = e.carets[0].find('^');
    CHECK(e.source.substr(at, 5) == "WRONG");
    CHECK(e.source.substr(0, 3) == "...");
    CHECK(e.source.substr(e.source.size() - 3) == "...");
}

TEST_CASE("marks that would collide get lines of their own") {
    SourceMap map;
    const FileId cell = map.add("In[1]", "f(a, b)\n");
    Diagnostic d = diagnose(Code::preload_value, find(map, cell, "a"), "bad");
    d.labels = {{find(map, cell, "a"), "first note, rather long"}, {find(map, cell, "b"), "second note"}};
    const Excerpt e = excerpt(refusal_of({d}, map, "", nothing()).findings[0], 90);
    REQUIRE(e.carets.size() >= 2);
    int notes = 0;
    for (const std::string& c : e.carets) notes += has(c, "first note, rather long") + has(c, "second note");
    CHECK(notes == 2);
}

TEST_CASE("five blocks at most, then a count; warnings say so; no place is no line") {
    SourceMap map;
    const FileId cell = map.add("In[1]", "aaaaaaaaaaaaaaaaaaaaaa\n");
    Diagnostics list;
    for (int i = 0; i < 17; ++i) list.push_back(diagnose(Code::preload_value, {cell, i, i + 1}, "number " + std::to_string(i)));
    const std::string text = to_text(refusal_of(list, map, "k", nothing()));
    CHECK(has(text, "and 12 more"));
    CHECK(has(text, "number 4"));
    CHECK_FALSE(has(text, "number 5 "));
    Diagnostic warning = diagnose(Code::preload_value, {}, "somewhere");
    warning.severity = Severity::warning;
    const Refusal w = refusal_of({warning}, map, "k", nothing());
    CHECK(status(w) == Status::warned);
    const std::string first = to_text(w);
    CHECK(first.substr(0, first.find('\n')) == "WARNED  k: somewhere   [K0]");
    CHECK_FALSE(has(first, " | "));
    CHECK(has(to_text(w, Language::zh), std::string(row(Code::preload_value).chinese)));
}

TEST_CASE("an edit that adds a line shows only what is new") {
    SourceMap map;
    const FileId cell = map.add("In[1]", "a = 1\nb = 2\n");
    Diagnostic d = diagnose(Code::preload_value, find(map, cell, "b"), "bad");
    d.fix = Fix{"insert a line", {{{cell, 6, 6}, "new = 3\n"}}};
    const Refusal r = refusal_of({d}, map, "", nothing());
    REQUIRE_FALSE(r.findings[0].fix.empty());
    bool found = false;
    for (const FixLine& l : r.findings[0].fix) found = found || l.added == "new = 3";
    CHECK(found);
    d.fix = Fix{"only advice", {}};
    CHECK(refusal_of({d}, map, "", nothing()).findings[0].alternatives == std::vector<std::string>{"only advice"});
}

TEST_CASE("free sentences of findings are told in Chinese too", "[report]") {
    auto zh = [](const char* s) { return said(s, Language::zh); };
    CHECK(said("rename it", Language::en) == "rename it");
    CHECK(zh("`stage3` runs 2 tasks behind `stage2` at preload 3: `p` needs 3 slots and has 2") == "preload 3 时 `stage3` 落后 `stage2` 2 个任务：`p` 需要 3 个槽位，只有 2 个");
    CHECK(zh("p slot 0: stage2 (task 2) may overwrite what stage3 (task 0) still reads") == "p slot 0：stage2（任务 2）可能覆写 stage3（任务 0）仍在读取的数据");
    CHECK(zh("cross-core id 3 may have 16 sets that nobody has awaited (iteration 4); the counter holds 15") == "跨核 id 3 可能有 16 次 set 尚无人等待；计数器上限为 15（第 4 次迭代）");
    CHECK(zh("give `p` 3 slots") == "给 `p` 3 个槽位");
    CHECK(zh("give `p` 3 slots (mutex_ids, fwd_ids and bwd_ids grow with it, and 16384 more bytes behind it)") ==
          "给 `p` 3 个槽位（mutex_ids、fwd_ids、bwd_ids 随之增加，其后另需 16384 字节）");
    CHECK(zh("set a flag V to MTE3 after the first and wait for it before the second, or give both tiles the same mutex id") ==
          "在前一个之后 set 一个 V 到 MTE3 的 flag，在后一个之前等待它；或者给两个 tile 相同的 mutex id");
    CHECK(zh("late(AIV0.MTE2) turns the two round: out differs in 64 bytes") == "late(AIV0.MTE2) 使两者颠倒：out 有 64 个字节不同");
    CHECK(zh("cross-core id 4 from AIV0 is 2 at the end: set 2 times, awaited 0") == "来自 AIV0 的跨核 id 4 在结束时为 2：set 2 次，wait 0 次");
    CHECK(zh("6 pairs (tasks 0 and 0, tasks 1 and 1), reported once") == "共 6 对（tasks 0 and 0, tasks 1 and 1），只报告一次");
    CHECK(zh("a sentence that no row knows") == "a sentence that no row knows");
    CHECK(zh("") == "");
}

TEST_CASE("every rule of the language has something to do about it, in both languages") {
    const std::set<std::string_view> at_the_place{"PTO-chip-file", "PTO-unknown-target", "PTO-preload-without-pipeline", "PTO-other-dialect", "PTO-none"};
    int rules = 0;
    for (std::uint16_t k = 0; k < std::uint16_t(Code::count); ++k) {
        const CodeRow& r = row(Code(k));
        const bool elsewhere = r.text.rfind("PTO-K", 0) == 0 || r.text.rfind("PTO-S", 0) == 0 || r.text.rfind("PTO-pipeline", 0) == 0 || r.name.rfind("verify_", 0) == 0 ||
                               r.name.rfind("run_", 0) == 0 || r.name.rfind("emit_", 0) == 0;
        if (elsewhere || at_the_place.count(r.text)) continue;
        INFO(r.text);
        const UsualFix* fix = usual_fix(Code(k));
        REQUIRE(fix);
        CHECK_FALSE(fix->english.empty());
        CHECK(said(std::string(fix->english), Language::zh) == fix->chinese);
        ++rules;
    }
    CHECK(rules > 100);
    Diagnostics list{diagnose(Code::reduce_dim, {}, "dim is 3"), diagnose(Code::reduce_dim, {}, "dim is 4")};
    list[1].advice.push_back("write dim=1");
    complete(list);
    CHECK(list[0].advice == std::vector<std::string>{"write dim=0 or dim=1"});
    CHECK(list[1].advice == std::vector<std::string>{"write dim=1"});
}
