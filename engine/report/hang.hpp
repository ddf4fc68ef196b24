#pragma once
/// A run that stopped: who waits, for what, who should have come, what is only a consequence.

#include "engine/report/common.hpp"
#include "engine/report/sync_plan.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

/// One pipe that cannot go on.
struct StuckPipe {
    std::string cores, pipe;           // "AIV0, AIV1", "MTE3"
    std::string waits_for;             // "id 8 (out ready, slot 0)", or what it needs: "its tile from MTE1"
    std::string before;                // "stage4, task 0"
    std::int32_t id = -1;
    std::string stage;
    std::int32_t task = -1;
    std::int64_t sets = 0, waits = 0;  // of this id so far
    std::string expected;              // "stage3 sets id 8 on FIX after task 0"; cause only
    std::string because;               // "stage4 has not run"; consequence only
    Place place, expected_place;       // in the file that ran
    std::vector<std::string> queue;    // what waits behind it
    bool cause = false;
    std::int32_t waits_on = -1;        // index into Hang::stuck: who has to move first; -1: nobody can
    bool operator==(const StuckPipe&) const = default;
};

struct StageProgress {
    std::string stage;
    std::int64_t done = 0, tasks = 0;
    bool operator==(const StageProgress&) const = default;
};

struct CounterState {
    int id = 0;
    std::string what;                  // "out ready"
    std::int64_t sets = 0, waits = 0;
    bool awaited = false;
    bool operator==(const CounterState&) const = default;
};

struct Hang {
    Provenance provenance;
    std::string kernel;
    std::string preload;
    std::string ran;                   // "pipeline_generated.py as edited"
    double at_us = 0;
    std::int64_t at_cycles = 0;
    std::vector<StuckPipe> stuck;      // causes first
    std::vector<std::string> circle;   // when every set still exists: "stage2 waits for stage3 (p free)" ..., closing on the first
    std::string missing_cores;         // "sync_all waits for 48 cores, 24 were launched"
    std::vector<StageProgress> progress;
    std::vector<CounterState> counters;
    std::vector<std::string> fix;
    // On a card: no answer. Then `stuck` is what the simulator says of the same launch, when it was asked.
    std::string device;                // "npu:0"; empty: this is a simulator hang
    double timeout_s = 0;
    std::string device_error;          // "runtime error 507015"
    std::string simulator_says;        // "hangs here", "finishes, so look at ..."; empty: not asked
    std::string device_state;          // "answers again"
    bool operator==(const Hang&) const = default;
};

Status status(const Hang& h);
std::string to_text(const Hang& h, Language language = Language::en);
nlohmann::json json_of(const Hang& h);
Hang hang_from_json(const nlohmann::json& j);

} // namespace pto::report
