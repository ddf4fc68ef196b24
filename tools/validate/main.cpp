/// Compares predicted with measured times: xpto_validate [MEASUREMENTS.json] [--json] [--table T11] [--rows]
#include "tools/validate/predict.hpp"

#include "engine/machine/chip.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using namespace pto::validate;
using Json = nlohmann::json;

constexpr double far_off = 15; // percent, from which on a row is named with its cause

struct Line {
    Measured measured;
    Predicted predicted;
    double predicted_us = 0, measured_us = 0;
    double error() const { return 100 * (predicted_us - measured_us) / measured_us; }
};

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

struct Summary {
    std::size_t rows = 0;
    double mean = 0, median = 0, worst = 0;
    std::string worst_id;
};
Summary summary(const std::vector<std::pair<std::string, double>>& errors) {
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
    return s;
}

/// T = Tmax + x Tmin of the longer and the shorter side (hardware 3.4): 1 is one after the other, 0 is full overlap.
double gain_of(double total, double cube, double vector) { return (total - std::max(cube, vector)) / std::min(cube, vector); }
bool has_gain(const Line& l) {
    return l.predicted.cube_us > 0 && l.predicted.vector_us > 0 && l.predicted.measured_cube_us > 0 && l.predicted.measured_vector_us > 0;
}

int usage() {
    std::cerr << "usage: xpto_validate [MEASUREMENTS.json] [--json] [--rows] [--table NAME]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    std::string path = "tests/data/measurements.json", table;
    bool json = false, rows = false;
    for (int i = 1; i < argc; ++i) {
        std::string a = argv[i];
        if (a == "--json") json = true;
        else if (a == "--rows") rows = true;
        else if (a == "--table" && i + 1 < argc) table = argv[++i];
        else if (a.rfind("--", 0) == 0) return usage();
        else path = a;
    }
    std::ifstream file(path);
    Json data = Json::parse(file, nullptr, false);
    if (!file || data.is_discarded() || !data.contains("rows")) {
        std::cerr << path << " is no measurements file: a JSON object with `rows`\n";
        return 1;
    }
    std::vector<Line> lines;
    std::vector<std::pair<std::string, std::string>> skipped; // id, why
    for (const Json& row : data["rows"]) {
        if (!table.empty() && row.value("table", "") != table) continue;
        Measured m;
        m.id = row.value("id", "?");
        m.table = row.value("table", "");
        m.chip = row.value("chip", "");
        m.kernel = row.value("kernel", "");
        m.us = row.value("measured_us", -1.0);
        m.cycles = row.value("measured_cycles", -1.0);
        m.row = &row;
        std::string why;
        // A rate is a time for the bytes read and written.
        if (m.us <= 0 && row.contains("gbps") && row["gbps"].is_number() && row["params"].contains("elems"))
            m.us = 2 * 2 * row["params"]["elems"].get<double>() / (row["gbps"].get<double>() * 1000);
        if (m.us <= 0 && m.cycles <= 0) {
            skipped.emplace_back(m.id, "no measured time");
            continue;
        }
        std::optional<Predicted> p;
        try {
            p = predict(m, why);
        } catch (const std::exception& e) { // a row of another shape than its table's
            why = std::string("cannot read the row: ") + e.what();
        }
        if (!p) {
            skipped.emplace_back(m.id, why);
            continue;
        }
        Line l{m, *p, p->us, m.us};
        if (m.us <= 0) l.measured_us = m.cycles / pto::machine::find_chip(p->model)->clock_mhz;
        lines.push_back(std::move(l));
    }
    // One launch cost a harness, shown.
    std::map<std::string, Launch> launches;
    std::map<std::string, std::vector<std::pair<double, double>>> left;
    for (const Line& l : lines)
        if (!l.predicted.harness.empty()) left[l.predicted.harness].emplace_back(l.measured_us - l.predicted_us, l.measured_us);
    for (auto& [harness, over] : left) {
        Launch& launch = launches[harness];
        launch.rows = over.size();
        if (harness.rfind("vendor profiler, ", 0) == 0) {
            launch.from_chip = true;
            launch.us = pto::machine::find_chip(harness.substr(17))->constant("launch_us");
        } else {
            launch.us = launch_of(over);
        }
    }
    std::map<std::string, std::vector<std::pair<std::string, double>>> by_table, by_pipe;
    Json out_rows = Json::array();
    for (Line& l : lines) {
        if (!l.predicted.harness.empty()) l.predicted_us += launches[l.predicted.harness].us;
        by_table[l.measured.table].emplace_back(l.measured.id, l.error());
        Json pipes = Json::object();
        for (const auto& [pipe, times] : l.predicted.pipes) {
            by_pipe[pipe].emplace_back(l.measured.id, 100 * (times.first - times.second) / times.second);
            pipes[pipe] = {{"predicted_us", times.first}, {"measured_us", times.second}};
        }
        out_rows.push_back({{"id", l.measured.id}, {"table", l.measured.table}, {"chip", l.predicted.model}, {"harness", l.predicted.harness},
                            {"predicted_us", l.predicted_us}, {"measured_us", l.measured_us}, {"pipes", pipes}});
        if (std::abs(l.error()) > far_off) out_rows.back()["cause"] = cause(l.measured);
        if (has_gain(l))
            out_rows.back()["depth_gain"] = {{"predicted", gain_of(l.predicted_us, l.predicted.cube_us, l.predicted.vector_us)},
                                             {"measured", gain_of(l.measured_us, l.predicted.measured_cube_us, l.predicted.measured_vector_us)}};
    }
    if (json) {
        Json out{{"schema", 1}, {"rows", out_rows}, {"skipped", Json::array()}, {"launch_us", Json::object()}, {"tables", Json::object()}};
        for (const auto& [id, why] : skipped) out["skipped"].push_back({{"id", id}, {"why", why}});
        for (const auto& [harness, launch] : launches) out["launch_us"][harness] = {{"us", launch.us}, {"rows", launch.rows}, {"from_chip", launch.from_chip}};
        for (const auto& [name, errors] : by_table) {
            Summary s = summary(errors);
            out["tables"][name] = {{"rows", s.rows}, {"mean_percent", s.mean}, {"median_percent", s.median}, {"worst_percent", s.worst}, {"worst", s.worst_id}};
        }
        std::cout << out.dump(1) << "\n";
        return 0;
    }
    if (rows || !table.empty()) {
        std::printf("%-8s %-14s %12s %12s %8s   pipes, predicted / measured us\n", "id", "chip", "predicted us", "measured us", "error");
        for (const Line& l : lines) {
            std::printf("%-8s %-14s %12.2f %12.2f %+7.1f%%  ", l.measured.id.c_str(), l.predicted.model.c_str(), l.predicted_us, l.measured_us, l.error());
            for (const auto& [pipe, t] : l.predicted.pipes) std::printf(" %s %.1f/%.1f", pipe.c_str(), t.first, t.second);
            std::printf("\n");
        }
        std::printf("\n");
    }
    std::printf("%-8s %5s %7s %7s %7s  %s\n", "table", "rows", "mean", "median", "worst", "worst row");
    for (const auto& [name, errors] : by_table) {
        Summary s = summary(errors);
        std::printf("%-8s %5zu %6.1f%% %6.1f%% %6.1f%%  %s\n", name.c_str(), s.rows, s.mean, s.median, s.worst, s.worst_id.c_str());
    }
    std::printf("\n%-12s %5s %7s %7s %7s\n", "busy time of", "rows", "mean", "median", "worst");
    for (const auto& [pipe, errors] : by_pipe) {
        Summary s = summary(errors);
        std::printf("%-12s %5zu %6.1f%% %6.1f%% %6.1f%%  %s\n", pipe.c_str(), s.rows, s.mean, s.median, s.worst, s.worst_id.c_str());
    }
    std::map<std::string, std::string> far; // by cause: the rows
    for (const Line& l : lines)
        if (std::abs(l.error()) > far_off) {
            char text[64];
            std::snprintf(text, sizeof text, "%s %+.0f%%", l.measured.id.c_str(), l.error());
            std::string& list = far[cause(l.measured)];
            list += (list.empty() ? "" : ", ") + std::string(text);
        }
    if (!far.empty()) std::printf("\nrows more than %.0f %% off, by what the model does not know\n", far_off);
    for (const auto& [why, list] : far) std::printf("  %s:\n      %s\n", why.c_str(), list.c_str());
    bool first_gain = true;
    for (const Line& l : lines) {
        if (!has_gain(l)) continue;
        if (first_gain) std::printf("\npipeline of both sides: x in total = longer side + x * shorter side\n%-8s %-12s %9s %9s %11s\n", "id", "chip", "predicted", "measured", "difference");
        first_gain = false;
        double mine = gain_of(l.predicted_us, l.predicted.cube_us, l.predicted.vector_us), theirs = gain_of(l.measured_us, l.predicted.measured_cube_us, l.predicted.measured_vector_us);
        std::printf("%-8s %-12s %9.2f %9.2f %+11.2f\n", l.measured.id.c_str(), l.predicted.model.c_str(), mine, theirs, mine - theirs);
    }
    std::printf("\nlaunch cost added\n");
    for (const auto& [harness, l] : launches)
        std::printf("  %-32s %6.1f us  %s, %zu rows\n", harness.c_str(), l.us, l.from_chip ? "the chip's" : "weighted median of what is left over", l.rows);
    std::map<std::string, std::size_t> reasons;
    for (const auto& [id, why] : skipped) ++reasons[why];
    std::printf("\nnot predicted: %zu rows\n", skipped.size());
    for (const auto& [why, n] : reasons) std::printf("  %4zu  %s\n", n, why.c_str());
    return 0;
}
