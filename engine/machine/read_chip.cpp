#include "engine/machine/chip.hpp"

#include "engine/isa/dtype.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <set>

namespace pto::machine {
namespace {

using Json = nlohmann::json;

/// What was seen, said once; the door turns it into a diagnostic.
struct Refused {
    std::string message;
};

std::string ticked(std::string_view s) { return "`" + std::string(s) + "`"; }

std::string words(std::initializer_list<std::string_view> list) {
    std::string text;
    for (std::string_view w : list) text += (text.empty() ? "" : ", ") + std::string(w);
    return text;
}

void only_keys(const Json& object, const std::string& where, std::initializer_list<std::string_view> allowed) {
    if (!object.is_object()) throw Refused{where + " is no object"};
    for (const auto& [key, value] : object.items()) {
        bool known = false;
        for (std::string_view a : allowed) known = known || a == key;
        if (!known) throw Refused{where + " has the unknown key " + ticked(key) + "; known are " + words(allowed)};
    }
}

const Json& member(const Json& object, const std::string& where, const char* key) {
    auto found = object.find(key);
    if (found == object.end()) throw Refused{where + " has no " + ticked(key)};
    return *found;
}

std::string text_of(const Json& value, const std::string& where) {
    if (!value.is_string()) throw Refused{where + " is no text"};
    return value.get<std::string>();
}

double number_of(const Json& value, const std::string& where, double least, double most) {
    if (!value.is_number()) throw Refused{where + " is no number"};
    double v = value.get<double>();
    if (!std::isfinite(v) || v < least || v > most) {
        Json range{least, most};
        throw Refused{where + " is " + value.dump() + ", outside " + range.dump()};
    }
    return v;
}

std::int64_t integer_of(const Json& value, const std::string& where, std::int64_t least, std::int64_t most) {
    if (!value.is_number_integer()) throw Refused{where + " is no integer"};
    std::int64_t v = value.get<std::int64_t>();
    if (v < least || v > most) throw Refused{where + " is " + std::to_string(v) + ", outside " + std::to_string(least) + " to " + std::to_string(most)};
    return v;
}

bool boolean_of(const Json& value, const std::string& where) {
    if (!value.is_boolean()) throw Refused{where + " is neither true nor false"};
    return value.get<bool>();
}

Grade grade_of(const Json& object, const std::string& where) {
    std::string word = text_of(member(object, where, "grade"), where + ".grade");
    for (Grade g : {Grade::stated, Grade::derived, Grade::guessed})
        if (name(g) == word) return g;
    throw Refused{where + ".grade is " + ticked(word) + "; known are stated, derived, guessed"};
}

std::string source_of(const Json& object, const std::string& where) {
    std::string source = text_of(member(object, where, "source"), where + ".source");
    if (source.empty()) throw Refused{where + " has an empty source: say where the number comes from"};
    return source;
}

/// "2", "1.059", "1/128": an exact rational.
Rate rate_of(const Json& value, const std::string& where) {
    auto decimal = [&](const std::string& text) {
        Rate r;
        std::int64_t n = 0;
        bool point = false;
        for (char ch : text) {
            if (ch == '.' && !point) {
                point = true;
            } else if (ch >= '0' && ch <= '9' && n < 1'000'000'000 && r.denominator < 1'000'000) {
                n = n * 10 + (ch - '0');
                if (point) r.denominator *= 10;
            } else {
                throw Refused{where + " is " + ticked(text) + "; write a number of at most nine digits or a fraction like 1/128"};
            }
        }
        if (text.empty() || text == ".") throw Refused{where + " is empty"};
        r.numerator = n;
        return r;
    };
    std::string text = value.is_number() ? value.dump() : text_of(value, where);
    std::size_t bar = text.find('/');
    if (bar == std::string::npos) return decimal(text);
    Rate above = decimal(text.substr(0, bar)), below = decimal(text.substr(bar + 1));
    if (below.numerator == 0) throw Refused{where + " divides by zero"};
    return {above.numerator * below.denominator, above.denominator * below.numerator};
}

/// The dtype suffix of "vector.special.fp16" or "reg.special.b16" refines a required key.
std::string base_of(const std::string& key) {
    std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) return key;
    std::string last = key.substr(dot + 1);
    bool width = last == "b8" || last == "b16" || last == "b64";
    return width || (isa::find_dtype(last) && key.substr(0, dot).find('.') != std::string::npos) ? key.substr(0, dot) : key;
}

void read_memory(const Json& object, Chip& chip) {
    if (!object.is_object()) throw Refused{"memory is no object"};
    for (const auto& [key, value] : object.items()) {
        std::string where = "memory." + key;
        auto space = isa::find_enum("MemorySpace", key);
        if (!space) throw Refused{"memory has the unknown space " + ticked(key)};
        only_keys(value, where, {"bytes", "physical", "alignment", "high_water", "source"});
        source_of(value, where);
        MemoryRow row;
        row.bytes = integer_of(member(value, where, "bytes"), where + ".bytes", 0, std::int64_t(1) << 50);
        row.physical = value.contains("physical") ? integer_of(value["physical"], where + ".physical", row.bytes, std::int64_t(1) << 50) : row.bytes;
        row.alignment = std::int32_t(integer_of(member(value, where, "alignment"), where + ".alignment", 1, 4096));
        if (row.alignment & (row.alignment - 1)) throw Refused{where + ".alignment is " + std::to_string(row.alignment) + ", not a power of two"};
        if (value.contains("high_water")) row.high_water = integer_of(value["high_water"], where + ".high_water", 1, row.bytes);
        chip.memory[space->ordinal] = row;
    }
}

void read_ids(const Json& object, Chip& chip) {
    only_keys(object, "ids", {"events", "safe_events", "cross_core", "cross_core_limit", "mutex", "safe_mutex"});
    auto take = [&](const char* key, std::int32_t& into, std::int64_t least, std::int64_t most) {
        if (object.contains(key)) into = std::int32_t(integer_of(object[key], std::string("ids.") + key, least, most));
    };
    // 16 and 32 are what the record and the program can express.
    take("events", chip.event_ids, 1, 16);
    take("safe_events", chip.safe_event_ids, 1, chip.event_ids);
    take("cross_core", chip.cross_core_ids, 1, 16);
    take("cross_core_limit", chip.cross_core_limit, 1, 1 << 20);
    take("mutex", chip.mutex_ids, 0, 32);
    take("safe_mutex", chip.safe_mutex_ids, 0, chip.mutex_ids);
}

void read_constants(const Json& object, Chip& chip) {
    if (!object.is_object()) throw Refused{"constants is no object"};
    for (const auto& [key, value] : object.items()) {
        std::string where = "constants." + key;
        bool known = false;
        for (std::string_view n : constant_names()) known = known || n == key;
        if (!known) throw Refused{"constants has the unknown name " + ticked(key)};
        only_keys(value, where, {"value", "grade", "source"});
        Constant c;
        c.value = number_of(member(value, where, "value"), where + ".value", 0, 1e15);
        c.grade = grade_of(value, where);
        c.source = source_of(value, where);
        // The model divides by these.
        if (c.value <= 0 && (key == "hbm_bytes_per_us" || key == "l2_bytes_per_us" || key == "l2_write_bytes_per_us" || key == "l2_line_bytes" || key == "fix_elements_per_cycle" || key == "vector_issue_per_cycle"))
            throw Refused{where + ".value is not positive"};
        chip.constants[key] = std::move(c);
    }
}

void read_timing(const Json& list, Chip& chip, const std::set<std::string>& known) {
    if (!list.is_array()) throw Refused{"timing is no list"};
    std::set<std::string> seen;
    for (const Json& value : list) {
        TimingRow row;
        if (!value.is_object()) throw Refused{"a row of timing is no object"};
        row.key = text_of(member(value, "a row of timing", "key"), "key");
        std::string where = "timing " + ticked(row.key);
        only_keys(value, where, {"key", "startup", "latency", "per_unit", "unit", "grade", "source"});
        if (!seen.insert(row.key).second) throw Refused{where + " stands twice"};
        // Beside what the language's operations need: a path that only some chips have, a library's exact reciprocal (make validate).
        if (!known.count(base_of(row.key)) && row.key != "path.acc_mat" && base_of(row.key) != "vector.recip_precise") throw Refused{where + " costs no operation"};
        row.startup_cycles = number_of(member(value, where, "startup"), where + ".startup", 0, 1e9);
        if (value.contains("latency")) row.latency_cycles = number_of(value["latency"], where + ".latency", 0, 1e6);
        row.per_unit = rate_of(member(value, where, "per_unit"), where + ".per_unit");
        row.unit = text_of(member(value, where, "unit"), where + ".unit");
        if (row.unit.empty()) throw Refused{where + " has an empty unit"};
        if (row.key.substr(0, 5) == "cube.") {
            int m = 0, n = 0, k = 0;
            char rest = 0;
            if (std::sscanf(row.unit.c_str(), "%dx%dx%d%c", &m, &n, &k, &rest) != 3 || m < 1 || n < 1 || k < 1)
                throw Refused{where + ".unit is " + ticked(row.unit) + "; write the block of one cycle as 16x16x16"};
        } else if (row.key.substr(0, 4) != "reg." && row.unit != "byte" && row.unit != "element" && row.unit != "line" && row.unit != "call") {
            throw Refused{where + ".unit is " + ticked(row.unit) + "; known are byte, element, line, call"};
        }
        row.grade = grade_of(value, where);
        row.source = source_of(value, where);
        chip.timing[row.key] = std::move(row);
    }
}

Chip read(std::string_view text, int depth);

Chip base_chip(const std::string& wanted, int depth) {
    std::string_view text = chip_text(wanted);
    if (text.empty()) throw Refused{"based_on names " + ticked(wanted) + ", which is not built in"};
    if (depth > 4) throw Refused{"based_on goes in a circle"};
    return read(text, depth + 1);
}

Chip read(std::string_view text, int depth) {
    Json root = Json::parse(text, nullptr, false);
    if (root.is_discarded()) {
        std::string what = "the text is no JSON";
        try {
            Json ignored = Json::parse(text);
        } catch (const Json::parse_error& e) {
            what += " at byte " + std::to_string(e.byte);
        }
        throw Refused{what};
    }
    only_keys(root, "the file", {"schema", "name", "based_on", "aliases", "arch", "cube_cores", "clock_mhz", "queue_depth", "has_mutex", "wait_stops_all_pipes", "memory",
                                 "ids", "constants", "timing"});
    if (integer_of(member(root, "the file", "schema"), "schema", 0, 1 << 20) != 1) throw Refused{"schema is not 1, the one that is read here"};
    Chip chip;
    if (root.contains("based_on")) chip = base_chip(text_of(root["based_on"], "based_on"), depth);
    bool based = root.contains("based_on");
    chip.name = text_of(member(root, "the file", "name"), "name");
    if (chip.name.empty()) throw Refused{"name is empty"};
    chip.aliases.clear();
    if (root.contains("aliases")) {
        if (!root["aliases"].is_array()) throw Refused{"aliases is no list"};
        for (const Json& a : root["aliases"]) chip.aliases.push_back(text_of(a, "an alias"));
    }
    auto needed = [&](const char* key) { return !based || root.contains(key) ? &member(root, "the file", key) : nullptr; };
    if (const Json* v = needed("arch")) chip.arch = text_of(*v, "arch");
    if (chip.arch != "a2" && chip.arch != "a3" && chip.arch != "a5") throw Refused{"arch is " + ticked(chip.arch) + "; known are a2, a3, a5"};
    if (const Json* v = needed("cube_cores")) chip.cube_cores = std::int32_t(integer_of(*v, "cube_cores", 1, 4096));
    if (const Json* v = needed("clock_mhz")) chip.clock_mhz = number_of(*v, "clock_mhz", 1, 100000);
    if (root.contains("queue_depth")) chip.queue_depth = std::int32_t(integer_of(root["queue_depth"], "queue_depth", 1, 4096));
    if (root.contains("has_mutex")) chip.has_mutex = boolean_of(root["has_mutex"], "has_mutex");
    if (root.contains("wait_stops_all_pipes")) chip.wait_stops_all_pipes = boolean_of(root["wait_stops_all_pipes"], "wait_stops_all_pipes");
    if (const Json* v = needed("memory")) read_memory(*v, chip);
    if (root.contains("ids")) read_ids(root["ids"], chip);
    if (const Json* v = needed("constants")) read_constants(*v, chip);
    std::vector<std::string> required = required_timing_keys(chip.arch);
    if (const Json* v = needed("timing")) read_timing(*v, chip, {required.begin(), required.end()});

    for (isa::MemorySpace m : {isa::MemorySpace::vec, isa::MemorySpace::mat, isa::MemorySpace::left, isa::MemorySpace::right, isa::MemorySpace::acc})
        if (chip.of(m).bytes <= 0) throw Refused{"memory has no " + ticked(name(m))};
    for (std::string_view n : constant_names())
        if (!chip.constants.count(std::string(n))) throw Refused{"constants has no " + ticked(n)};
    for (const std::string& key : required)
        if (!chip.row(key)) throw Refused{"timing has no row " + ticked(key) + ": an operation would cost nothing"};
    return chip;
}

} // namespace

Result<Chip> read_chip(std::string_view text, FileId file) {
    try {
        return {read(text, 0), {}};
    } catch (const Refused& refused) {
        Span at;
        at.file = file;
        at.end = file.valid() ? std::int32_t(std::min<std::size_t>(text.size(), std::numeric_limits<std::int32_t>::max())) : 0;
        return {std::nullopt, {diagnose(Code::chip_file, at, refused.message)}};
    }
}

} // namespace pto::machine
