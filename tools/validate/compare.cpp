#include "tools/validate/compare.hpp"

#include "engine/machine/chip.hpp"

#include <algorithm>
#include <cmath>

namespace pto::validate {
namespace {

using Json = nlohmann::json;

double median(std::vector<double> v) {
    if (v.empty()) return 0;
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

/// What is added to every row so that the sum of relative errors is least: the median of what is left over, short kernels counting more.
double launch_of(std::vector<std::pair<double, double>> left) { // left over, measured
    std::sort(left.begin(), left.end());
    double all = 0, sum = 0;
    for (const auto& [over, us] : left) all += 1 / us;
    for (const auto& [over, us] : left)
        if ((sum += 1 / us) >= all / 2) return std::max(0.0, over);
    return 0;
}

using Errors = std::map<std::string, std::vector<std::pair<std::string, double>>>;
std::map<std::string, Summary> summaries(const Errors& all) {
    std::map<std::string, Summary> found;
    for (const auto& [name, errors] : all) {
        Summary s;
        std::vector<double> absolute;
        for (const auto& [id, e] : errors) {
            double a = std::abs(e);
            absolute.push_back(a);
            s.mean += a;
            if (a > s.worst) s.worst = a, s.worst_id = id;
        }
        s.rows = errors.size();
        if (s.rows) s.mean /= double(s.rows);
        s.median = median(absolute);
        found[name] = s;
    }
    return found;
}

double gain_of(double total, double cube, double vector) { return (total - std::max(cube, vector)) / std::min(cube, vector); }

std::string text_of(const Json& row, const char* key) {
    auto found = row.find(key);
    return found == row.end() ? "" : found->is_string() ? found->get<std::string>() : found->is_null() ? "" : found->dump();
}
double number_of(const Json& row, const char* key) {
    auto found = row.find(key);
    return found != row.end() && found->is_number() ? found->get<double>() : -1.0;
}

/// One row: a line, or why there is none.
std::optional<Line> line_of(const Json& row, Skipped& skipped) {
    Measured m;
    m.id = skipped.id;
    m.table = text_of(row, "table");
    m.chip = text_of(row, "chip");
    m.kernel = text_of(row, "kernel");
    m.us = number_of(row, "measured_us");
    m.cycles = number_of(row, "measured_cycles");
    m.row = &row;
    if (!row.contains("params") || !row["params"].is_object()) {
        skipped.why = "the row has no params";
        skipped.measured_us = m.us;
        return std::nullopt;
    }
    // A rate is a time for the bytes read and written.
    if (double rate = number_of(row, "gbps"), elements = number_of(row["params"], "elems"); m.us <= 0 && rate > 0 && elements > 0) m.us = 2 * 2 * elements / (rate * 1000);
    skipped.measured_us = m.us;
    if (m.us <= 0 && m.cycles <= 0) {
        skipped.why = row.contains("ratio_to_copy") ? "a ratio to a copy of unstated size: no time was measured" : "no measured time";
        return std::nullopt;
    }
    std::optional<Predicted> p = predict(m, skipped.why);
    if (!p) return std::nullopt;
    Line l{m, *p, p->us, m.us};
    if (m.us <= 0) l.measured_us = m.cycles / machine::find_chip(p->model)->clock_mhz;
    if (!std::isfinite(l.predicted_us) || l.predicted_us <= 0) {
        skipped.why = "the program of this kernel has no work at these sizes";
        skipped.measured_us = l.measured_us;
        return std::nullopt;
    }
    return l;
}

} // namespace

bool has_gain(const Line& l) {
    return l.predicted.cube_us > 0 && l.predicted.vector_us > 0 && l.predicted.measured_cube_us > 0 && l.predicted.measured_vector_us > 0;
}
double predicted_gain(const Line& l) { return gain_of(l.predicted_us, l.predicted.cube_us, l.predicted.vector_us); }
double measured_gain(const Line& l) { return gain_of(l.measured_us, l.predicted.measured_cube_us, l.predicted.measured_vector_us); }

Comparison compare(const Json& data, const std::string& table) {
    Comparison c;
    const Json none = Json::array();
    const Json& rows = data.is_array() ? data : data.is_object() && data.contains("rows") && data["rows"].is_array() ? data["rows"] : none;
    std::size_t number = 0;
    for (const Json& row : rows) {
        ++number;
        Skipped skipped{"row " + std::to_string(number), "", -1};
        if (!row.is_object()) {
            skipped.why = "not an object";
            c.skipped.push_back(std::move(skipped));
            continue;
        }
        if (!table.empty() && text_of(row, "table") != table) continue;
        if (std::string id = text_of(row, "id"); !id.empty()) skipped.id = id;
        try {
            if (std::optional<Line> line = line_of(row, skipped)) {
                c.lines.push_back(std::move(*line));
                continue;
            }
        } catch (const std::exception& e) { // a row of another shape than its kernel's
            skipped.why = std::string("cannot read the row: ") + e.what();
        }
        c.skipped.push_back(std::move(skipped));
    }
    // One launch cost a harness, shown.
    std::map<std::string, std::vector<std::pair<double, double>>> left;
    for (const Line& l : c.lines)
        if (!l.predicted.harness.empty()) left[l.predicted.harness].emplace_back(l.measured_us - l.predicted_us, l.measured_us);
    for (auto& [harness, over] : left) {
        Launch& launch = c.launches[harness];
        launch.rows = over.size();
        if (harness.rfind("vendor profiler, ", 0) == 0) {
            launch.from_chip = true;
            launch.us = machine::find_chip(harness.substr(17))->constant("launch_us");
        } else {
            launch.us = launch_of(over);
        }
    }
    Errors by_table, by_pipe;
    for (Line& l : c.lines) {
        if (!l.predicted.harness.empty()) l.predicted_us += c.launches[l.predicted.harness].us;
        by_table[l.measured.table].emplace_back(l.measured.id, l.error());
        for (const auto& [pipe, times] : l.predicted.pipes) by_pipe[pipe].emplace_back(l.measured.id, 100 * (times.first - times.second) / times.second);
    }
    c.tables = summaries(by_table);
    c.pipes = summaries(by_pipe);
    return c;
}

Json to_json(const Comparison& c) {
    Json out{{"schema", 1}, {"rows", Json::array()}, {"skipped", Json::array()}, {"launch_us", Json::object()}, {"tables", Json::object()}, {"pipes", Json::object()}};
    for (const Line& l : c.lines) {
        Json pipes = Json::object();
        for (const auto& [pipe, times] : l.predicted.pipes) pipes[pipe] = {{"predicted_us", times.first}, {"measured_us", times.second}};
        Json row{{"id", l.measured.id}, {"table", l.measured.table}, {"chip", l.predicted.model}, {"harness", l.predicted.harness},
                 {"predicted_us", l.predicted_us}, {"measured_us", l.measured_us}, {"pipes", pipes}};
        if (std::abs(l.error()) > far_off) row["cause"] = cause(l.measured);
        if (has_gain(l)) row["depth_gain"] = {{"predicted", predicted_gain(l)}, {"measured", measured_gain(l)}};
        out["rows"].push_back(std::move(row));
    }
    for (const Skipped& s : c.skipped) {
        out["skipped"].push_back({{"id", s.id}, {"why", s.why}});
        if (s.measured_us > 0) out["skipped"].back()["measured_us"] = s.measured_us;
    }
    for (const auto& [harness, launch] : c.launches) out["launch_us"][harness] = {{"us", launch.us}, {"rows", launch.rows}, {"from_chip", launch.from_chip}};
    auto add = [](Json& to, const std::map<std::string, Summary>& all) {
        for (const auto& [name, s] : all)
            to[name] = {{"rows", s.rows}, {"mean_percent", s.mean}, {"median_percent", s.median}, {"worst_percent", s.worst}, {"worst", s.worst_id}};
    };
    add(out["tables"], c.tables);
    add(out["pipes"], c.pipes);
    return out;
}

} // namespace pto::validate
