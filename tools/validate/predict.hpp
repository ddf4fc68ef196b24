#pragma once
/// From a row of a measurements file to a program, and from its replay to predicted times.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace pto::validate {

/// One row of a measurements file (docs/model/time.md describes the schema).
struct Measured {
    std::string id, table, chip, kernel;
    double us = -1, cycles = -1;
    const nlohmann::json* row = nullptr;
};

struct Predicted {
    double us = 0;                          // of the kernel itself, launch excluded
    std::string harness;                    // whose launch cost is added; empty: none
    std::map<std::string, std::pair<double, double>> pipes; // name -> predicted, measured busy us
    std::string model;                      // chip and what stands for it
    /// A pipeline of both sides: its work on the cube and on the vector cores, mean of the cores, waits for each other left out; -1: none.
    double cube_us = -1, vector_us = -1, measured_cube_us = -1, measured_vector_us = -1;
};
/// Nothing, with the reason in `why`, when no program stands for the row.
std::optional<Predicted> predict(const Measured& m, std::string& why);

/// Why a prediction may be far off: what the model does not know of such a kernel, in a phrase. "not explained" when nothing is known.
std::string cause(const Measured& m);

/// Launch costs: a chip's own where its rows were measured with the vendor's profiler, else the median of what is left over on the rows
/// of one harness. Nothing else is fitted.
struct Launch {
    double us = 0;
    bool from_chip = false;
    std::size_t rows = 0;
};

} // namespace pto::validate
