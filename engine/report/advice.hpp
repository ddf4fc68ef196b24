#pragma once
/// What else a pipelined kernel could be: every preload with what it needs, the deepest safe one, id lists that could go or shrink.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace pto::report {

struct SlotNeed {
    std::string loop, buffer;
    std::int32_t has = 0, needs = 0;
    bool operator==(const SlotNeed&) const = default;
};

/// One preload for all loops.
struct AdviceRow {
    std::int32_t preload = 0;
    bool accepted = false;
    std::string code, why;                 // the first rule against it: "PTO-K41", one sentence
    std::vector<std::int32_t> ring_depths; // [loops]
    std::vector<SlotNeed> slots;           // every channel of every loop
    std::int32_t ids = 0;                  // event ids over both directions; 0 when refused
    std::vector<double> cycles_per_task;   // [loops]; empty: not predicted
    bool operator==(const AdviceRow&) const = default;
};

/// An id list by its buffer: "fwd_ids of mm1".
struct ListAdvice {
    std::string loop, buffer;
    bool forward = false;
    std::int32_t saves = 0;                // ids
    std::int32_t pending = 0;              // shared: unmatched sets that its one id may hold
    bool operator==(const ListAdvice&) const = default;
};

struct Advice {
    Provenance provenance;
    std::string kernel;
    std::vector<std::int32_t> preload;     // as compiled, [loops]
    std::optional<std::int32_t> largest;   // deepest accepted preload of the sweep
    std::vector<AdviceRow> sweep;
    std::vector<ListAdvice> redundant;     // other hand-overs order what these would; all can go together
    std::vector<ListAdvice> share;         // one id for all slots, largest saving first
    std::int32_t event_ids = 16, pending_limit = 15;
    std::string not_predicted;             // why there are no cycles; empty when there are
    bool operator==(const Advice&) const = default;
};

/// "largest safe preload 2; 3 needs 3 slots of p (it has 2)".
std::string headline(const Advice& advice, Language language);
/// The sweep as a table; header first.
std::vector<std::vector<std::string>> sweep_cells(const Advice& advice, Language language);
/// What could go, what could be shared and what that costs, what the cycles are; a line each.
std::vector<std::string> hints(const Advice& advice, Language language);
std::string to_text(const Advice& advice, Language language = Language::en);
nlohmann::json json_of(const Advice& advice);
Advice advice_from_json(const nlohmann::json& j);

} // namespace pto::report
