#include "engine/report/json_fields.hpp"
#include "engine/report/sync_plan.hpp"

namespace pto::report {

NLOHMANN_JSON_SERIALIZE_ENUM(Direction, {{Direction::ready, "ready"}, {Direction::free, "free"}})
using BeatKind = Beat::Kind;
NLOHMANN_JSON_SERIALIZE_ENUM(BeatKind, {{BeatKind::loop, "loop"}, {BeatKind::steady, "steady"}, {BeatKind::drain, "drain"}, {BeatKind::gap, "gap"}})

namespace {
std::string section_word(isa::Core c) { return std::string(isa::name(c)); }
}

inline void to_json(nlohmann::json& j, const PlanStage& s) {
    j = {{"name", s.name}, {"section", section_word(s.core)}, {"delay", s.delay}, {"place", s.place}, {"summary", s.summary}};
}
inline void from_json(const nlohmann::json& j, PlanStage& s) {
    j.at("name").get_to(s.name);
    s.core = j.at("section") == "cube" ? isa::Core::cube : isa::Core::vector;
    j.at("delay").get_to(s.delay);
    j.at("place").get_to(s.place);
    j.at("summary").get_to(s.summary);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlanBuffer, name, memory, address, shape, dtype, layout, slots, index_rule, place)

/// `kind` is the hazard: a slot is free after reads (WAR), data is ready after the write (RAW).
inline void to_json(nlohmann::json& j, const HandOver& e) {
    j = {{"kind", e.direction == Direction::ready ? "RAW" : "WAR"},
         {"from", e.from},
         {"to", e.to},
         {"buffer", e.buffer},
         {"shares_with", e.shares_with},
         {"set_pipe", e.set_pipe},
         {"wait_pipe", e.wait_pipe},
         {"ids", e.ids},
         {"distance", e.distance},
         {"task_offset", e.task_offset},
         {"permits", e.permits},
         {"enforced", e.enforced},
         {"racy", e.racy},
         {"chosen", e.chosen},
         {"note", e.note},
         {"set_after", e.set_after},
         {"wait_before", e.wait_before}};
}
inline void from_json(const nlohmann::json& j, HandOver& e) {
    e.direction = j.at("kind") == "RAW" ? Direction::ready : Direction::free;
    j.at("from").get_to(e.from);
    j.at("to").get_to(e.to);
    j.at("buffer").get_to(e.buffer);
    j.at("shares_with").get_to(e.shares_with);
    j.at("set_pipe").get_to(e.set_pipe);
    j.at("wait_pipe").get_to(e.wait_pipe);
    j.at("ids").get_to(e.ids);
    j.at("distance").get_to(e.distance);
    j.at("task_offset").get_to(e.task_offset);
    j.at("permits").get_to(e.permits);
    j.at("enforced").get_to(e.enforced);
    j.at("racy").get_to(e.racy);
    j.at("chosen").get_to(e.chosen);
    j.at("note").get_to(e.note);
    j.at("set_after").get_to(e.set_after);
    j.at("wait_before").get_to(e.wait_before);
}

inline void to_json(nlohmann::json& j, const PlanSite& s) {
    j = {{"stage", s.stage},         {"where", s.is_wait ? "pre" : "post"}, {"op", s.is_wait ? "wait" : "set"}, {"pipe", s.pipe},
         {"buffer", s.buffer},       {"direction", s.direction},            {"ids", s.ids},                     {"slot_count", s.slot_count},
         {"generated_line", s.generated_line}};
}
inline void from_json(const nlohmann::json& j, PlanSite& s) {
    j.at("stage").get_to(s.stage);
    s.is_wait = j.at("op") == "wait";
    j.at("pipe").get_to(s.pipe);
    j.at("buffer").get_to(s.buffer);
    j.at("direction").get_to(s.direction);
    j.at("ids").get_to(s.ids);
    j.at("slot_count").get_to(s.slot_count);
    j.at("generated_line").get_to(s.generated_line);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PermitGroup, core, pipe, ids)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IdUse, id, buffer, direction, setter, max_pending, sharers, chosen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Proof, no_hang, no_race, bounded, balanced, max_pending, limit, checked_tasks, assumes, open)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeatChip, stage, task, symbolic)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Beat, kind, label, chips)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlanLoop, name, place, preload, ring_depth, drain_beats, tasks, stages, buffers, edges, sites, prefire,
                                   drain, ids, beats, proof)

nlohmann::json json_of(const PlanLoop& loop) {
    nlohmann::json j = loop;
    // The ids that were allocated rather than declared, by pair of buffers: the command line's `auto_ids`.
    nlohmann::json chosen = nlohmann::json::object();
    for (const HandOver& e : loop.edges)
        if (e.chosen) chosen[e.shares_with + " > " + e.buffer] = e.ids;
    j["auto_ids"] = std::move(chosen);
    return j;
}

nlohmann::json json_of(const SyncPlan& plan) {
    nlohmann::json j = head(plan.provenance);
    j["kernel"] = plan.kernel;
    j["target"] = plan.target;
    j["status"] = plan.loops.empty() ? nlohmann::json(nullptr) : nlohmann::json(word(status(plan)));
    j["loops"] = nlohmann::json::array();
    for (const PlanLoop& loop : plan.loops) j["loops"].push_back(json_of(loop));
    return j;
}

SyncPlan sync_plan_from_json(const nlohmann::json& j) {
    SyncPlan plan{provenance_of(j), j.at("kernel"), j.at("target"), {}};
    j.at("loops").get_to(plan.loops);
    return plan;
}

} // namespace pto::report
