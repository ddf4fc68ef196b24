#include "tests/support/catch.hpp"

#include "engine/isa/catalogue.hpp"
#include "engine/machine/chip.hpp"

#include <fstream>
#include <sstream>

using namespace pto;
using namespace pto::machine;
using isa::MemorySpace;

namespace {

std::string refusal(const std::string& text) {
    Result<Chip> chip = read_chip(text);
    if (chip) return "(accepted)";
    REQUIRE(chip.diagnostics.size() == 1);
    CHECK(chip.diagnostics[0].code == Code::chip_file);
    CHECK(chip.diagnostics[0].severity == Severity::error);
    return chip.diagnostics[0].message;
}
std::string user_file(const std::string& members) { return R"({"schema": 1, "name": "mine", "based_on": "ascend950pr")" + members + "}"; }
/// The default chip's file with one piece of text replaced.
std::string changed(const std::string& from, const std::string& to) {
    std::string text(chip_text("ascend950pr"));
    std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("every built-in chip reads", "[machine]") {
    REQUIRE(chip_names().size() == 5);
    for (const std::string& n : chip_names()) {
        INFO(n);
        Result<Chip> chip = read_chip(chip_text(n));
        REQUIRE(chip);
        CHECK(chip.diagnostics.empty());
        CHECK(chip->name == n);
        CHECK(find_chip(n) != nullptr);
        for (const auto& [key, row] : chip->timing) {
            INFO(key);
            CHECK_FALSE(row.source.empty());
        }
    }
}

// The files are compiled in when the build is configured: what is built must be what is installed.
TEST_CASE("the compiled-in text is the file's", "[machine]") {
    for (const std::string& n : chip_names()) {
        INFO(n);
        std::ifstream file("share/xpto/targets/" + n + ".json");
        std::stringstream text;
        text << file.rdbuf();
        CHECK(text.str() == chip_text(n));
    }
}

TEST_CASE("chips are found by name and alias", "[machine]") {
    CHECK(find_chip("ascend950")->name == "ascend950pr");
    CHECK(find_chip("a5")->name == "ascend950pr");
    CHECK(find_chip("a2")->name == "ascend910b");
    CHECK(find_chip("a3")->name == "ascend910c");
    CHECK(find_chip("ascend950pr-28")->cube_cores == 28);
    CHECK(find_chip("ascend950pr")->cube_cores == 32);
    CHECK(find_chip("ascend310") == nullptr);
    CHECK(find_chip("") == nullptr);
}

TEST_CASE("capacities and ids are those of the hardware reference", "[machine]") {
    const Chip& a5 = *find_chip("ascend950");
    CHECK(a5.of(MemorySpace::vec).bytes == 248 * 1024);
    CHECK(a5.of(MemorySpace::vec).physical == 256 * 1024);
    CHECK(a5.of(MemorySpace::acc).bytes == 256 * 1024);
    CHECK(a5.of(MemorySpace::left).alignment == 512);
    CHECK(a5.of(MemorySpace::scale_left).bytes == 4096);
    CHECK(a5.event_ids == 16);
    CHECK(a5.safe_event_ids == 8);
    CHECK(a5.mutex_ids == 32);
    CHECK_FALSE(a5.wait_stops_all_pipes);
    const Chip& a2 = *find_chip("a2");
    CHECK(a2.of(MemorySpace::vec).bytes == 192 * 1024);
    CHECK(a2.of(MemorySpace::acc).bytes == 128 * 1024);
    CHECK(a2.of(MemorySpace::scale_left).bytes == 0);
    CHECK(a2.wait_stops_all_pipes);
    CHECK_FALSE(a2.has_mutex);
    // Data paths: a cube-to-vector hand-over on A2 goes through global memory.
    CHECK(a5.has_path("path.acc_vec"));
    CHECK_FALSE(a2.has_path("path.acc_vec"));
    CHECK_FALSE(a2.has_path("path.vec_mat"));
    CHECK_FALSE(a5.has_path("path.mat_vec"));
    const Chip& dt = *find_chip("ascend950dt");
    CHECK(dt.constant("hbm_bytes_per_us") > a5.constant("hbm_bytes_per_us"));
    CHECK(dt.row("vector.add")->startup_cycles == a5.row("vector.add")->startup_cycles);
}

TEST_CASE("every operation has a cost on every chip that has it", "[machine]") {
    for (const std::string& n : chip_names())
        for (const std::string& key : required_timing_keys(find_chip(n)->arch)) {
            INFO(n << " " << key);
            CHECK(find_chip(n)->row(key) != nullptr);
        }
}

TEST_CASE("rates are exact", "[machine]") {
    const Chip& a5 = *find_chip("a5");
    CHECK(a5.row("path.mat_left")->per_unit == Rate{1, 256});
    CHECK(a5.row("vector.unary")->per_unit == Rate{1059, 1000});
    CHECK(a5.row("vector.add")->per_unit == Rate{2, 1});
    CHECK(a5.row("cube.fp16")->unit == "16x16x16");
}

TEST_CASE("a user's file may change a built-in chip", "[machine]") {
    Result<Chip> chip = read_chip(user_file(R"(, "cube_cores": 4, "timing": [{"key": "vector.add", "startup": 40, "per_unit": "1.5", "unit": "line",
        "grade": "derived", "source": "my card"}], "constants": {"launch_us": {"value": 3, "grade": "derived", "source": "my card"}})"));
    REQUIRE(chip);
    CHECK(chip->name == "mine");
    CHECK(chip->cube_cores == 4);
    CHECK(chip->row("vector.add")->per_unit == Rate{15, 10});
    CHECK(chip->constant("launch_us") == 3);
    CHECK(chip->row("vector.special") != nullptr);
    CHECK(chip->aliases.empty());
}

TEST_CASE("bad files are refused with the reason", "[machine]") {
    auto says = [](const std::string& text, const std::string& part) {
        std::string message = refusal(text);
        INFO(message);
        CHECK(message.find(part) != std::string::npos);
    };
    says("", "no JSON");
    says("{\"schema\": 1,", "no JSON at byte");
    says("[]", "the file is no object");
    says("{}", "has no `schema`");
    says(R"({"schema": 2})", "schema is not 1");
    says(R"({"schema": 1, "name": "x"})", "has no `arch`");
    says(R"({"schema": 1, "name": "x", "based_on": "y"})", "`y`, which is not built in");
    says(user_file(R"(, "cubecores": 4)"), "unknown key `cubecores`");
    says(user_file(R"(, "cube_cores": 0)"), "cube_cores is 0, outside 1 to 4096");
    says(user_file(R"(, "cube_cores": "32")"), "cube_cores is no integer");
    says(user_file(R"(, "arch": "a7")"), "arch is `a7`");
    says(user_file(R"(, "memory": {"UB": {}})"), "unknown space `UB`");
    says(user_file(R"(, "memory": {"Vec": {"bytes": 1024, "alignment": 32}})"), "has no `source`");
    says(user_file(R"(, "memory": {"Vec": {"bytes": 1024, "alignment": 24, "source": "me"}})"), "24, not a power of two");
    says(user_file(R"(, "memory": {"Vec": {"bytes": 1024, "physical": 512, "alignment": 32, "source": "me"}})"), "physical is 512, outside 1024");
    says(user_file(R"(, "ids": {"events": 17})"), "ids.events is 17, outside 1 to 16");
    says(user_file(R"(, "ids": {"mutex": 40})"), "ids.mutex is 40, outside 0 to 32");
    says(user_file(R"(, "constants": {"hbm": {"value": 1, "grade": "stated", "source": "me"}})"), "unknown name `hbm`");
    says(user_file(R"(, "constants": {"launch_us": {"value": -1, "grade": "stated", "source": "me"}})"), "launch_us.value is -1, outside");
    says(user_file(R"(, "constants": {"hbm_bytes_per_us": {"value": 0, "grade": "stated", "source": "me"}})"), "not positive");
    says(user_file(R"(, "constants": {"launch_us": {"value": 1, "grade": "measured", "source": "me"}})"), "grade is `measured`");
    says(user_file(R"(, "constants": {"launch_us": {"value": 1, "grade": "stated", "source": ""}})"), "empty source");
    auto row = [](const std::string& members) { return user_file(R"(, "timing": [{)" + members + "}]"); };
    says(row(R"("key": "vector.ad", "startup": 1, "per_unit": "1", "unit": "line", "grade": "stated", "source": "me")"), "`vector.ad` costs no operation");
    says(row(R"("key": "vector.add", "startup": -1, "per_unit": "1", "unit": "line", "grade": "stated", "source": "me")"), "startup is -1, outside");
    says(row(R"("key": "vector.add", "startup": 1, "per_unit": "1/0", "unit": "line", "grade": "stated", "source": "me")"), "divides by zero");
    says(row(R"("key": "vector.add", "startup": 1, "per_unit": "fast", "unit": "line", "grade": "stated", "source": "me")"), "is `fast`; write a number");
    says(row(R"("key": "vector.add", "startup": 1, "per_unit": "1", "unit": "lines", "grade": "stated", "source": "me")"), "unit is `lines`");
    says(row(R"("key": "cube.fp16", "startup": 1, "per_unit": "1", "unit": "16x16", "grade": "stated", "source": "me")"), "16x16x16");
    says(changed("\"key\": \"vector.sort\"", "\"key\": \"vector.merge_sort\""), "stands twice");
    says(changed("\"Mat\": {\"bytes\": 524288,", "\"Mat\": {\"bytes\": 0,"), "memory has no `Mat`");
    says(changed(R"("launch_us": {)", R"("launch_us_": {)"), "unknown name `launch_us_`");
}

TEST_CASE("an operation without cost is refused", "[machine]") {
    std::string text(chip_text("ascend950pr"));
    std::size_t at = text.find("    {\"key\": \"vector.histogram\"");
    text.erase(at, text.find('\n', at) + 1 - at);
    std::string message = refusal(text);
    INFO(message);
    CHECK(message.find("timing has no row `vector.histogram`") != std::string::npos);
}
