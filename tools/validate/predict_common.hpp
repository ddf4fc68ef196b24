#pragma once
/// What the predictions of all kernels share; for the .cpp files of this folder only.

#include "engine/time/folds.hpp"
#include "tools/validate/predict.hpp"
#include "tools/validate/programs.hpp"

#include <nlohmann/json.hpp>

namespace pto::validate {

using Json = nlohmann::json;

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
inline bool begins(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }
inline int number(const Json& j, const char* key, int otherwise) { return j.contains(key) && j[key].is_number() ? j[key].get<int>() : otherwise; }
inline std::string text(const Json& j, const char* key, const char* otherwise = "") { return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : otherwise; }
/// A number of an optional object of the row ("pipe_us": {"aiv_vec": ..}), or -1.
double field_of(const Json& row, const char* object, const char* key);
/// fails  std::runtime_error when a size is not positive, or so large that nothing of the kind exists: the row is reported as one that cannot be read
void require_sizes(std::initializer_list<std::pair<const char*, std::int64_t>> sizes);

/// The chip of a row, with the clock and the cores of the part it names.
machine::Chip chip_of(const Measured& m);
/// "fp16->fp32", "mxfp8->bf16", "int8 x int8 -> int32": the left operand's type.
isa::DType operand_type(const std::string& text);

struct Run {
    const machine::Chip& chip;
    const execute::Record& record;
    time::Timeline timeline;
    Run(const machine::Chip& chip, const execute::Record& record) : chip(chip), record(record), timeline(time::replay(record, chip, {{}, false, {}})) {}
    double total() const { return timeline.us(timeline.total); }
    /// Busy time of a pipe, averaged over the cores of a kind.
    double busy(isa::Pipe pipe, isa::Core core) const;
    /// All pipes together: of one instruction after the other.
    double all_busy() const;
};

/// Total and busy times beside the measured ones; `scale`: how often the program stands for its part.
Predicted result(const Measured& m, const Run& run, std::string harness, double scale = 1);

/// The time of one instruction after the other: all pipes together, launch and harness apart.
Predicted busy_time(const machine::Chip& chip, const execute::Record& record);

/// Each fills `why` when it returns nothing.
std::optional<Predicted> matmul_row(const Measured& m, std::string& why);
std::optional<Predicted> catlass_row(const Measured& m, std::string& why);
std::optional<Predicted> elementwise_row(const Measured& m, std::string& why);
std::optional<Predicted> copy_row(const Measured& m, std::string& why);
std::optional<Predicted> relayout_row(const Measured& m, std::string& why);
std::optional<Predicted> bandwidth_row(const Measured& m, std::string& why);
std::optional<Predicted> function_row(const Measured& m, std::string& why);
std::optional<Predicted> matmul_gelu(const Measured& m, std::string& why);
std::optional<Predicted> grouped_row(const Measured& m, std::string& why);
std::optional<Predicted> attention_row(const Measured& m, std::string& why);
std::optional<Predicted> tile_op(const Measured& m, std::string& why);
std::optional<Predicted> old_tile_op(const Measured& m, std::string& why);
std::optional<Predicted> bank_row(const Measured& m, std::string& why);
std::optional<Predicted> matmul_series(const Measured& m, std::string& why);

/// What several kernels use.
Gemm gemm_of(const Measured& m, const machine::Chip& chip);
/// Prediction of a matmul; the time of a very deep one is continued from shorter ones.
Predicted gemm_result(const Measured& m, const Gemm& g, const machine::Chip& chip, std::string harness, double scale = 1);
void grid_of(Gemm& g, bool four_rows);
std::vector<Item> gelu_items(bool a5);
std::vector<Item> tanh_gelu_items(bool a5);

} // namespace pto::validate
