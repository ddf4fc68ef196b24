/// Advice in its three forms.
#include "kernel/views/views.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace xpto::views;
using namespace pto::report;

namespace {

Advice example(std::int32_t loops) {
    Advice a{Provenance("simulator (ascend950pr)", "", {"time: 11 % guessed rows"}), "k"};
    a.preload.assign(std::size_t(loops), 2);
    a.largest = 2;
    for (std::int32_t p = 0; p < 5; ++p) {
        AdviceRow row{p, p < 3, p < 3 ? "" : p == 3 ? "PTO-K41" : "PTO-K44", p < 3 ? "" : "no event id is left for `out` over `mm1`"};
        row.ids = p < 3 ? 12 : 0;
        for (std::int32_t l = 0; l < loops; ++l) {
            const std::string name = "k" + std::to_string(l);
            row.ring_depths.push_back(p + 2);
            row.slots.push_back({name, "mm1", 2, 2});
            row.slots.push_back({name, "a_buffer_with_a_long_name", 2, p == 3 ? 3 : 2});
            if (p < 3) row.cycles_per_task.push_back(1234.4 - 100 * p);
        }
        a.sweep.push_back(row);
    }
    a.redundant.push_back({"k0", "p", false, 0, 0});
    a.share = {{"k0", "mm1", true, 2, 3}, {"k0", "p", true, 2, 3}, {"k0", "p", false, 1, 2}};
    return a;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("advice: every number of the value stands in text, table and JSON") {
    for (std::int32_t loops : {1, 3})
        for (Language language : {Language::en, Language::zh}) {
            const Advice a = example(loops);
            ViewOptions options;
            options.language = language;
            const nl::json bundle = mime_bundle(a, options);
            const std::string text = bundle.at("text/plain"), html = bundle.at("text/html");
            INFO(text);
            for (const std::string& form : {text, html}) {
                CHECK(has(form, "1,234"));
                CHECK(has(form, "K41"));
                CHECK(has(form, "K44"));
                if (loops == 1) CHECK(has(form, "mm1 2"));
                else CHECK(has(form, language == Language::en ? "all have enough" : "够用"));
            }
            CHECK(has(html, "<td"));
            if (language == Language::en) {
                CHECK(text.rfind("advice    largest safe preload 2; at 3 ", 0) == 0);
                CHECK(has(text, "accepted <-"));
                // Lists with one price share a sentence; what sharing frees is the sum of all of them.
                CHECK(has(text, loops == 1 ? "fwd_ids of mm1, fwd_ids of p; that frees 2 ids each" : "fwd_ids of mm1 in loop k0"));
                CHECK(has(html, "sharing these lists frees 5 of them"));
                std::size_t begin = 0;
                for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) CHECK(end - begin <= 100);
            }
            CHECK(advice_from_json(json_of(a)) == a);
        }
}

TEST_CASE("advice: names are text, whatever they hold") {
    Advice a = example(1);
    a.sweep[3].slots[1].buffer = "</table><script>alert(1)</script>";
    const std::string html = mime_bundle(a, {}).at("text/html");
    CHECK_FALSE(has(html, "<script>"));
    CHECK(has(html, "&lt;script&gt;"));
    a.largest.reset();
    CHECK(headline(a, Language::en).rfind("no preload is accepted", 0) == 0);
}
