#pragma once
/// Which setting is fastest and safe, why others are refused, what one more slot buys.

#include "engine/report/common.hpp"

#include <nlohmann/json_fwd.hpp>

namespace pto::report {

struct SweepPoint {
    enum class State : std::uint8_t { right, predicted, refused, wrong, hang, pending } state = State::pending;
    std::int32_t preload = 0;
    std::vector<std::pair<std::string, std::string>> setting;   // swept names beyond preload: {"p", "2"}
    std::int32_t depth = -1, ids = -1, prefire = -1;
    std::int64_t l1_bytes = -1;
    double us = -1, fastest_us = -1, slowest_us = -1;
    std::string reason;                // refused: "K41: p needs 3 slots"
    std::string note;                  // "3 or 4 slots: same"
    bool operator==(const SweepPoint&) const = default;
};

struct Sweep {
    Provenance provenance;
    std::string kernel, swept;         // "preload 0-5 x slots of p 2-4"
    std::string compared;              // "bit for bit"
    std::int64_t tasks = 0;
    std::int32_t settings = 0, run = 0;         // of all settings, and how many were run
    std::vector<SweepPoint> points;    // shown rows, by preload
    std::int32_t best = -1;            // index into points; a point that ran and is right
    double serial_us = -1, floor_us = -1;
    std::string floor_note;            // "4 tasks x 520 cycles on cube M; at 64 tasks preload 2 reaches 93 % of it"
    std::string advice;
    bool interrupted = false;
    bool operator==(const Sweep&) const = default;
};

Status status(const Sweep& s);
/// "17/64, best 2.86 us (preload 2), about 12 s left"
std::string progress_line(const Sweep& s, double seconds_left, Language language);
std::string to_text(const Sweep& s, Language language = Language::en);
nlohmann::json json_of(const Sweep& s);
Sweep sweep_from_json(const nlohmann::json& j);

} // namespace pto::report
