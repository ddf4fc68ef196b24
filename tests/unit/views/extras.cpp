/// The canvas of long timelines, roofline, two runs, hang and memory pictures: what they draw is what the values hold.
#include "kernel/views/timeline_extras.hpp"
#include "kernel/views/views.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/report/examples.hpp"

#include <numeric>

using namespace xpto::views;
namespace report = pto::report;
namespace examples = pto::report::examples;

namespace {

std::string decoded(const std::string& text) {
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (char c : text) {
        const std::size_t at = digits.find(c);
        if (at == std::string::npos) break;
        bits = bits << 6 | std::uint32_t(at), count += 6;
        if (count >= 8) out += char(bits >> (count -= 8) & 255);
    }
    return out;
}

struct Unpacked {
    std::int64_t start, end;
    int kind, stage;
};
std::vector<Unpacked> unpack(const std::string& bytes) {
    std::vector<Unpacked> out;
    std::size_t i = 0;
    std::int64_t at = 0;
    const auto varint = [&] {
        std::uint64_t v = 0;
        for (int shift = 0;; shift += 7) {
            const auto b = static_cast<unsigned char>(bytes[i++]);
            v |= std::uint64_t(b & 127) << shift;
            if (b < 128) return std::int64_t(v);
        }
    };
    while (i < bytes.size()) {
        Unpacked u{};
        u.start = at + varint();
        u.end = at = u.start + varint();
        u.kind = static_cast<unsigned char>(bytes[i]) >> 5;
        u.stage = (static_cast<unsigned char>(bytes[i++]) & 31) - 1;
        if (u.kind == 0) varint();
        out.push_back(u);
    }
    return out;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
    return n;
}

} // namespace

TEST_CASE("the canvas of a long timeline carries every bar, and its busy time is the lane's") {
    const report::Timeline t = examples::long_timeline(3000, true);
    const nl::json data = canvas_data(t, {});
    REQUIRE(data["lanes"].size() == t.lanes.size());
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        const std::vector<report::Bar> expected = report::bars(t.lanes[i]);
        const std::vector<Unpacked> got = unpack(decoded(data["lanes"][i]["raw"].get<std::string>()));
        std::int64_t busy = 0, bars = 0;
        for (const Unpacked& u : got)
            if (u.kind == 0) busy += u.end - u.start, ++bars;
        CHECK(bars == std::int64_t(expected.size()));
        const std::int64_t cycles = t.lanes[i].totals.busy / report::ticks_per_cycle;
        CHECK(std::abs(busy - cycles) <= bars); // each bar is rounded to cycles
    }
    const std::string html = timeline_canvas(t, {});
    CHECK(html.find("<script>") != std::string::npos);
    CHECK(html.size() < 1'000'000);
    CHECK(html.find("http") == std::string::npos);
    ViewOptions quiet;
    quiet.scripts = false;
    CHECK(timeline_canvas(t, quiet).empty());
    CHECK(timeline_canvas(examples::relu_matmul_timeline(), {}).empty()); // its picture holds every slice
}

TEST_CASE("beyond a hundred thousand slices the canvas carries three levels of fixed size with the same totals") {
    const report::Timeline t = examples::long_timeline(40'000, true);
    const nl::json data = canvas_data(t, {});
    CHECK(data["slices"].get<std::size_t>() > 100'000);
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        const nl::json& bins = data["lanes"][i]["bins"];
        REQUIRE(bins.size() == 3);
        for (const nl::json& level : bins) {
            const std::string bytes = decoded(level.get<std::string>());
            const std::size_t n = bytes.size() / 6;
            double busy = 0;
            for (std::size_t k = 0; k < n; ++k) busy += static_cast<unsigned char>(bytes[6 * k + 4]) / 255.0;
            CHECK(std::abs(busy / double(n) - double(t.lanes[i].totals.busy) / double(t.total)) < 0.01);
        }
    }
    CHECK(timeline_canvas(t, {}).size() < 2'000'000);
}

TEST_CASE("a hang picture dims what never ran and marks the set that is missing") {
    const std::string picture = draw(examples::lost_set_hang(), examples::relu_matmul_plan().loops[0].stages, {}).finish();
    CHECK(count(picture, "opacity=\".35\"") == 7); // 0 + 1 + 2 + 4 tasks of four stages
    CHECK(count(picture, ">missing set<") == 1);
}

TEST_CASE("two runs are drawn on one axis, with what each stage gained or lost") {
    const report::Timeline now = examples::relu_matmul_timeline();
    report::Timeline then = now;
    then.preload = "0", then.stages[1].compute += 100 * report::ticks_per_cycle, then.stages[1].span += 100 * report::ticks_per_cycle, then.total = now.serial_total;
    const nl::json both = mime_bundle(now, then, {});
    const std::string text = both["text/plain"].get<std::string>();
    CHECK(text.find("preload 0 4.36 us -> preload 2 2.86 us") != std::string::npos);
    CHECK(text.find("-100") != std::string::npos);
    const std::string picture = draw_comparison(now, then, {}).finish();
    CHECK(picture.find("−100") != std::string::npos);
}

TEST_CASE("reused memory shows who holds what at each beat") {
    report::MemoryMap m = examples::relu_matmul_memory();
    const std::vector<report::PlanStage> stages = examples::relu_matmul_plan().loops[0].stages;
    CHECK(draw(m, stages, {}).finish().find("beat b") == std::string::npos);
    for (report::MemorySpaceMap& space : m.memories)
        if (space.name == "UB") space.overlaps.push_back({"mm1", "out", 0, 0x4000, true, "same locks"});
    CHECK(count(draw(m, stages, {}).finish(), ">beat b") == 4); // one line for each of four delays
}

TEST_CASE("a roofline says for each side what it reaches and what limits it") {
    report::Timeline t = examples::relu_matmul_timeline();
    CHECK(roofline_html(t, {}).empty());
    t.roofline = {1e6, 2e6, 1.6e6, 5e6, {{"cube", 4e6, 16, 1.28e7, 2.2e8, 2.56e7, "memory"}}};
    CHECK(roofline_summary(t, report::Language::en) == "cube reaches 50 % of its roof (memory)");
    const std::string picture = draw_roofline(t, {}).finish();
    CHECK(picture.find("limited by memory") != std::string::npos);
}
