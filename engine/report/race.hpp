#pragma once
/// Two accesses that nothing orders: which bytes, why, whether it already hurt, how to repair.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

struct RaceAccess {
    bool writes = false;
    std::string core, pipe;            // "AIV0", "MTE3"
    std::string text;                  // "pl.insert(p_slot, nz_slot, ...)"
    Place place;
    std::string stage;
    std::int32_t task = -1, block = -1;
    std::int64_t start_cycles = -1, end_cycles = -1;   // nominal; -1: no run
    std::vector<std::string> clock;    // "AIC.M 4": the last events of other pipes that happened before it
    std::vector<std::string> awaited;  // flags that lead to it: "mm1 ready, task 2"
    std::string iteration;             // of the loops around it, outside stages: "1", "0, 3"
    bool operator==(const RaceAccess&) const = default;
};

struct RacePair {
    std::string buffer;
    std::int32_t slot = -1;
    RaceAccess first, second;          // first is the write, or the earlier of two writes
    std::string memory;                // "L1"
    std::int64_t from = -1, to = -1;   // common bytes; -1: not known before a run
    std::string bytes_note;            // "rows 0-31: 8 pieces of 1 KiB every 2 KiB (NZ); AIV1 has rows 32-63"
    std::string order;                 // why nothing orders them
    std::string luck;                  // "nominal: 636 cycles from read to write; hostile late: ..."
    std::vector<std::string> fix;
    bool same_pipe = false;            // a warning, not a refusal
    bool operator==(const RacePair&) const = default;
};

struct Race {
    Provenance provenance;
    std::string kernel, preload;
    bool before_run = false;           // a finding of the plan: NOT PROVEN
    std::string found_by = "found by order, not by timing";
    std::string values_note;           // "the nominal numbers are right"
    std::vector<RacePair> pairs;       // distinct; the first is shown in full
    std::vector<std::string> same;     // "2 pairs in 4 tasks (task 2 over 0, task 3 over 1), reported once"
    bool operator==(const Race&) const = default;
};

Status status(const Race& r);
std::string to_text(const Race& r, Language language = Language::en);
nlohmann::json json_of(const Race& r);
Race race_from_json(const nlohmann::json& j);

} // namespace pto::report
