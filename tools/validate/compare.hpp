#pragma once
/// A whole measurements file against the predictions: what could be predicted, what could not and why, launch costs, summaries.

#include "tools/validate/predict.hpp"

#include <nlohmann/json.hpp>

namespace pto::validate {

inline constexpr double far_off = 15; // percent, from which on a row is named with its cause

struct Line {
    Measured measured;
    Predicted predicted;
    double predicted_us = 0, measured_us = 0; // launch included
    double error() const { return 100 * (predicted_us - measured_us) / measured_us; }
};
struct Skipped {
    std::string id, why;
    double measured_us = -1;
};
struct Summary {
    std::size_t rows = 0;
    double mean = 0, median = 0, worst = 0;
    std::string worst_id;
};

struct Comparison {
    std::vector<Line> lines;
    std::vector<Skipped> skipped;
    std::map<std::string, Launch> launches;      // by harness
    std::map<std::string, Summary> tables, pipes;
};
/// in    data    a measurements file: an object with `rows`, or the list of rows itself; a row of any shape
///       table   rows of this table only; empty: all
/// out   a line for each row that a program stands for, an entry in `skipped` with the reason for each other one; `data` must outlive it
/// fails never: a row that cannot be read is skipped
Comparison compare(const nlohmann::json& data, const std::string& table = {});
nlohmann::json to_json(const Comparison& c);

/// T = Tmax + x Tmin of the longer and the shorter side (hardware 3.4): 1 is one after the other, 0 is full overlap.
bool has_gain(const Line& l);
double predicted_gain(const Line& l);
double measured_gain(const Line& l);

} // namespace pto::validate
