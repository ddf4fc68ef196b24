/// The verdict in words.

#include "engine/verify/verify.hpp"

#include <algorithm>

namespace pto::verify {

std::string_view name(Status s) { return s == Status::proven ? "proven" : s == Status::checked ? "checked" : "refused"; }

std::string_view name(HazardKind k) {
    switch (k) {
    case HazardKind::race: return "race";
    case HazardKind::same_pipe: return "same pipe";
    case HazardKind::hang: return "hang";
    case HazardKind::counter_overflow: return "counter overflow";
    case HazardKind::counter_left: return "counter left";
    case HazardKind::flag_twice: return "flag set twice";
    case HazardKind::flag_left: return "flag left";
    case HazardKind::lock_unbalanced: return "lock unbalanced";
    case HazardKind::lock_left: return "lock left";
    case HazardKind::scalar_fault: return "scalar fault";
    }
    return "";
}

bool Verdict::safe() const {
    return std::none_of(hazards.begin(), hazards.end(), [](const Hazard& h) { return h.is_error; });
}

std::string summary(const Verdict& v) {
    switch (v.status) {
    case Status::proven: return "proven free of races, hangs and counter overflows" + std::string(v.coverage.text.empty() ? "" : ": ") + v.coverage.text;
    case Status::checked: return "checked to T = " + std::to_string(v.checked_tasks) + ", not proven: " + v.reason;
    case Status::refused: {
        const auto errors = std::count_if(v.hazards.begin(), v.hazards.end(), [](const Hazard& h) { return h.is_error; });
        return "refused: " + std::to_string(errors) + (errors == 1 ? " hazard" : " hazards");
    }
    }
    return "";
}

std::string print(const Verdict& v) {
    std::string s = summary(v) + "\n";
    for (const Hazard& h : v.hazards) {
        s += std::string(h.is_error ? "error " : "warning ") + std::string(name(h.kind)) + ": " + h.message + "\n";
        if (!h.missing.empty()) s += "  missing: " + h.missing + "\n";
        if (!h.repair.empty()) s += "  repair: " + h.repair + "\n";
        for (const std::string& step : h.witness) s += "  . " + step + "\n";
    }
    for (const IdFacts& i : v.ids)
        s += std::string("id ") + std::to_string(i.id) + (i.to_vector ? " cube to vector" : " vector to cube") + ": set on " + i.set_pipe + ", awaited on " + i.wait_pipe + ", at most " +
             std::to_string(i.max_pending) + (i.growing ? " and growing" : "") + " pending\n";
    if (!v.assumptions.empty()) {
        s += "assumes";
        for (std::int32_t a : v.assumptions) s += " A" + std::to_string(a);
        s += "\n";
    }
    return s;
}

namespace {
Code code_of(HazardKind k) {
    switch (k) {
    case HazardKind::race: return Code::verify_race;
    case HazardKind::same_pipe: return Code::verify_same_pipe;
    case HazardKind::hang: return Code::verify_hang;
    case HazardKind::counter_overflow: return Code::verify_overflow;
    case HazardKind::counter_left: return Code::verify_left;
    case HazardKind::flag_twice: return Code::verify_flag;
    case HazardKind::flag_left: return Code::verify_flag_left;
    case HazardKind::lock_unbalanced:
    case HazardKind::lock_left: return Code::verify_lock;
    case HazardKind::scalar_fault: return Code::verify_scalar;
    }
    return Code::none;
}
} // namespace

Diagnostics diagnostics(const Verdict& v) {
    Diagnostics list;
    for (const Hazard& h : v.hazards) {
        Diagnostic d = diagnose(code_of(h.kind), h.second.valid() && h.kind == HazardKind::race ? h.second.at : h.first.at, h.message);
        d.severity = h.is_error ? Severity::error : Severity::warning;
        if (h.kind == HazardKind::race) d.labels.push_back({h.first.at, text(h.first) + (h.first.writes ? " writes here" : " reads here")});
        else if (h.second.valid()) d.labels.push_back({h.second.at, text(h.second)});
        if (!h.repair.empty()) d.fix = Fix{h.repair, {}};
        list.push_back(std::move(d));
    }
    sort_by_position(list);
    return list;
}

} // namespace pto::verify
