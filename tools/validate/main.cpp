/// Compares predicted with measured times: xpto_validate [MEASUREMENTS.json] [--json] [--table T11] [--rows]
#include "tools/validate/compare.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using namespace pto::validate;
using Json = nlohmann::json;

int usage() {
    std::cerr << "usage: xpto_validate [MEASUREMENTS.json] [--json] [--rows] [--table NAME]\n";
    return 2;
}

void print_rows(const Comparison& c) {
    std::printf("%-8s %-14s %12s %12s %8s   pipes, predicted / measured us\n", "id", "chip", "predicted us", "measured us", "error");
    for (const Line& l : c.lines) {
        std::printf("%-8s %-14s %12.2f %12.2f %+7.1f%%  ", l.measured.id.c_str(), l.predicted.model.c_str(), l.predicted_us, l.measured_us, l.error());
        for (const auto& [pipe, t] : l.predicted.pipes) std::printf(" %s %.1f/%.1f", pipe.c_str(), t.first, t.second);
        std::printf("\n");
    }
    std::printf("\n");
}

void print_summaries(const char* format, const std::map<std::string, Summary>& all) {
    for (const auto& [name, s] : all) std::printf(format, name.c_str(), s.rows, s.mean, s.median, s.worst, s.worst_id.c_str());
}

void print_far_rows(const Comparison& c) {
    std::map<std::string, std::string> far; // by cause: the rows
    for (const Line& l : c.lines)
        if (std::abs(l.error()) > far_off) {
            char text[64];
            std::snprintf(text, sizeof text, "%s %+.0f%%", l.measured.id.c_str(), l.error());
            std::string& list = far[cause(l.measured)];
            list += (list.empty() ? "" : ", ") + std::string(text);
        }
    if (!far.empty()) std::printf("\nrows more than %.0f %% off, by what the model does not know\n", far_off);
    for (const auto& [why, list] : far) std::printf("  %s:\n      %s\n", why.c_str(), list.c_str());
}

void print_gains(const Comparison& c) {
    bool first = true;
    for (const Line& l : c.lines) {
        if (!has_gain(l)) continue;
        if (first) std::printf("\npipeline of both sides: x in total = longer side + x * shorter side\n%-8s %-12s %9s %9s %11s\n", "id", "chip", "predicted", "measured", "difference");
        first = false;
        std::printf("%-8s %-12s %9.2f %9.2f %+11.2f\n", l.measured.id.c_str(), l.predicted.model.c_str(), predicted_gain(l), measured_gain(l), predicted_gain(l) - measured_gain(l));
    }
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
    const Json data = Json::parse(file, nullptr, false);
    if (!file || data.is_discarded() || !(data.is_array() || (data.is_object() && data.contains("rows") && data["rows"].is_array()))) {
        std::cerr << path << " is no measurements file: a JSON object with a list `rows`\n";
        return 1;
    }
    const Comparison c = compare(data, table);
    if (json) {
        std::cout << to_json(c).dump(1) << "\n";
        return 0;
    }
    if (rows || !table.empty()) print_rows(c);
    std::printf("%-8s %5s %7s %7s %7s  %s\n", "table", "rows", "mean", "median", "worst", "worst row");
    print_summaries("%-8s %5zu %6.1f%% %6.1f%% %6.1f%%  %s\n", c.tables);
    std::printf("\n%-12s %5s %7s %7s %7s\n", "busy time of", "rows", "mean", "median", "worst");
    print_summaries("%-12s %5zu %6.1f%% %6.1f%% %6.1f%%  %s\n", c.pipes);
    print_far_rows(c);
    print_gains(c);
    std::printf("\nlaunch cost added\n");
    for (const auto& [harness, l] : c.launches)
        std::printf("  %-32s %6.1f us  %s, %zu rows\n", harness.c_str(), l.us, l.from_chip ? "the chip's" : "weighted median of what is left over", l.rows);
    std::map<std::string, std::size_t> reasons;
    for (const Skipped& s : c.skipped) ++reasons[s.why];
    std::printf("\nnot predicted: %zu rows\n", c.skipped.size());
    for (const auto& [why, n] : reasons) std::printf("  %4zu  %s\n", n, why.c_str());
    return 0;
}
