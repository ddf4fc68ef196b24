#pragma once
/// The sync plan as a reader sees it: who waits for whom, where, why, with which id. A value; nothing in it is computed by a view.

#include "engine/isa/enums.hpp"
#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

enum class Direction : std::uint8_t { ready, free };   // "data ready" and "slot free"

struct PlanStage {
    std::string name;
    isa::Core core = isa::Core::cube;
    std::int32_t delay = 0;          // beats after a task's start; "runs task b-1" is delay 1
    Place place;                     // its def line
    std::string summary;             // "load A, matmul with B, move Acc to mm1"; may be empty
    bool operator==(const PlanStage&) const = default;
};

struct PlanBuffer {
    std::string name;
    std::string memory;              // "UB", "L1", "L0C"
    std::int64_t address = 0;
    std::string shape;               // "32x64"
    std::string dtype;               // "fp32"
    std::string layout;              // "NZ"; empty for row-major
    std::int32_t slots = 1;
    std::string index_rule;          // "task mod 2"
    Place place;
    bool operator==(const PlanBuffer&) const = default;
};

/// One hand-over between two cores: a set in `from`, a wait in `to`.
struct HandOver {
    Direction direction = Direction::ready;
    std::string from, to;            // stages: the one that sets, the one that waits
    std::string buffer;              // whose slots are handed over
    std::string shares_with;         // address reuse: the buffer on the same bytes that `from` used; else empty
    std::string set_pipe, wait_pipe;
    std::vector<int> ids;            // empty when not enforced
    std::int32_t distance = 0;       // beats from the set to the wait
    std::int32_t task_offset = 0;    // tasks from the set to the wait: 0 for ready, slots for free
    std::int32_t permits = 0;        // sets before the loop, awaited after it
    bool enforced = true;
    bool racy = false;               // not enforced and nothing else orders it
    bool chosen = false;             // ids were allocated, not declared
    std::string note;                // "not enforced: no bwd_ids", "implied by mm1 ready", "hand-over one at a time"
    Place set_after, wait_before;    // the access the set follows, the access the wait guards
    bool operator==(const HandOver&) const = default;
};

/// One set or wait inside the loop, in program order of its stage.
struct PlanSite {
    std::string stage;
    bool is_wait = false;            // waits stand before the stage, sets after it
    std::string pipe;
    std::string buffer;
    Direction direction = Direction::ready;
    std::vector<int> ids;            // id = ids[task mod ids.size()]
    std::int32_t slot_count = 1;
    std::int32_t generated_line = 0; // in pipeline_generated.py; 0 unknown
    bool operator==(const PlanSite&) const = default;
};

/// The sets before the loop or the waits after it, of one pipe.
struct PermitGroup {
    isa::Core core = isa::Core::cube;
    std::string pipe;
    std::vector<int> ids;            // one entry a permit
    bool operator==(const PermitGroup&) const = default;
};

struct IdUse {
    int id = 0;
    std::string buffer;              // empty: unused
    Direction direction = Direction::ready;
    std::string setter;              // stage
    std::int32_t max_pending = 0;    // unmatched sets at most; -1 unknown
    std::int32_t sharers = 0;        // further hand-overs on the same id
    bool chosen = false;
    bool operator==(const IdUse&) const = default;
};

struct Proof {
    bool no_hang = false, no_race = false, bounded = false, balanced = false;
    std::int32_t max_pending = -1, limit = 15;
    std::int32_t checked_tasks = -1; // -1: for every number of tasks; N: exhaustively checked up to N tasks, not a proof
    std::string assumes;             // "auto_mutex keeps the order inside each core"
    std::vector<std::string> open;   // what could not be shown, one sentence each
    bool operator==(const Proof&) const = default;
};

struct BeatChip {
    std::string stage;
    std::int64_t task = 0;
    bool symbolic = false;           // task is relative to the beat b (loop) or to the trip count T (drain)
    bool operator==(const BeatChip&) const = default;
};
struct Beat {
    enum class Kind : std::uint8_t { loop, steady, drain, gap } kind = Kind::loop;
    std::string label;               // "0", "b", "T+1"; empty for a gap
    std::vector<BeatChip> chips;     // in stage order
    bool operator==(const Beat&) const = default;
};

struct PlanLoop {
    std::string name;                // the loop variable
    Place place;
    std::int32_t preload = 0, ring_depth = 1, drain_beats = 0;
    std::int64_t tasks = -1;         // trip count when known, else -1
    std::vector<PlanStage> stages;
    std::vector<PlanBuffer> buffers;
    std::vector<HandOver> edges;
    std::vector<PlanSite> sites;
    std::vector<PermitGroup> prefire, drain;
    std::vector<IdUse> ids;          // one entry per hardware id, unused ones included
    std::vector<Beat> beats;
    Proof proof;
    bool operator==(const PlanLoop&) const = default;
};

struct SyncPlan {
    Provenance provenance;
    std::string kernel;
    std::string target;
    std::vector<PlanLoop> loops;     // none: the kernel has no pipeline loop
    bool operator==(const SyncPlan&) const = default;
};

/// PROVEN only when all four ticks hold for every number of tasks and somebody checked.
Status status(const PlanLoop& loop, const Provenance& provenance);
Status status(const SyncPlan& plan);
/// The first tick that does not hold, as a phrase; empty when all hold.
std::string first_open(const Proof& proof, Language language);

/// Fills `ids` (ids_available entries) from the edges; `max_pending` by id, absent ids get -1 when used.
void fill_ids(PlanLoop& loop, int ids_available, const std::vector<std::int32_t>& max_pending);
/// Fills `beats` from stages, ring depth, drain beats and the trip count: all of them when at most `limit`, else the first
/// ring_depth beats, a gap, one steady beat and the drain.
void fill_beats(PlanLoop& loop, int limit = 9);

struct PlanCounts {
    int waits = 0, sets = 0, prefire = 0, drain = 0, ids_used = 0, hand_overs = 0;
};
PlanCounts counts(const PlanLoop& loop);

std::string to_text(const SyncPlan& plan, Language language = Language::en);
nlohmann::json json_of(const SyncPlan& plan);
nlohmann::json json_of(const PlanLoop& loop);
SyncPlan sync_plan_from_json(const nlohmann::json& j);

} // namespace pto::report
