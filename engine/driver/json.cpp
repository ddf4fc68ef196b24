#include "engine/driver/json.hpp"

#include "engine/driver/memory.hpp"

#include <nlohmann/json.hpp>

namespace pto::driver {

using json = nlohmann::ordered_json;

namespace {

json position(const Position& p) { return {{"line", p.line}, {"column", p.column}}; }

void put_place(json& j, const Span& at, const SourceMap& sources) {
    j["file"] = at.valid() ? sources.file(at.file).name : "";
    Position begin = at.valid() ? sources.begin(at) : Position{};
    j["line"] = begin.line;
    j["column"] = begin.column;
    j["end"] = position(at.valid() ? sources.end(at) : Position{});
}

std::string_view severity_name(Severity s) {
    switch (s) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    default: return "note";
    }
}

json permits(const std::vector<sync::Permit>& list) {
    json out = json::array();
    for (const sync::Permit& p : list) out.push_back({{"core", isa::name(p.core)}, {"pipe", isa::name(p.pipe)}, {"id", p.id}});
    return out;
}

json loop_json(const Compiled& c, std::size_t index) {
    const pipeline::Loop& loop = c.model->loops[index];
    json j;
    j["variable"] = loop.variable;
    json stages = json::array();
    const schedule::LoopSchedule* s = c.schedule ? &c.schedule->loops[index] : nullptr;
    for (std::size_t i = 0; i < loop.stages.size(); ++i)
        stages.push_back({{"name", loop.stages[i].name}, {"section", isa::name(loop.stages[i].core)}, {"delay", s ? s->delays[i] : 0}});
    j["stages"] = std::move(stages);
    j["preload"] = s ? s->preload : loop.preload;
    j["ring_depth"] = s ? s->ring_depth : 1;
    j["drain_beats"] = s ? s->drain_beats : 0;
    json edges = json::array(), sites = json::array(), prefire = json::array(), drain = json::array(), auto_ids = json::object();
    json silent = json::array();
    if (c.plan) {
        const sync::LoopPlan& plan = c.plan->loops[index];
        auto end = [&](const sync::EdgeEnd& e) { return loop.stages[std::size_t(e.stage.index)].name; };
        auto pipe = [](const sync::EdgeEnd& e) { return std::string(isa::name(e.pipe)); };
        auto role = [](const sync::EdgeEnd& e) { return isa::reads(e.role) ? isa::writes(e.role) ? "RW" : "R" : "W"; };
        for (const sync::Edge& e : plan.edges) {
            json row{{"kind", sync::name(e.kind)},
                     {"from", end(e.from)},
                     {"to", end(e.to)},
                     {"buffer", (*c.model)[e.from.buffer].name},
                     {"to_buffer", (*c.model)[e.to.buffer].name},
                     {"from_pipe", pipe(e.from)},
                     {"to_pipe", pipe(e.to)},
                     {"from_role", role(e.from)},
                     {"to_role", role(e.to)},
                     {"distance", e.distance},
                     {"task_offset", e.task_offset},
                     {"ids", e.ids},
                     {"allocated", e.allocated},
                     {"added_by_us", e.added_by_us}};
            if (!e.emitted()) {
                static constexpr std::string_view why[] = {"", "same core", "no ids declared", "redundant"};
                row["not_emitted"] = why[std::size_t(e.silent)];
            }
            // same-core edges are kept by program order and by the locks: they are no hand-over between the cores
            (e.silent == sync::Silent::same_core ? silent : edges).push_back(std::move(row));
        }
        for (const sync::Site& site : plan.sites)
            sites.push_back({{"stage", loop.stages[std::size_t(site.stage.index)].name},
                             {"where", site.before ? "pre" : "post"},
                             {"op", site.is_wait ? "wait" : "set"},
                             {"pipe", isa::name(site.pipe)},
                             {"ids", site.ids},
                             {"slot_count", site.slot_count}});
        prefire = permits(plan.prefire);
        drain = permits(plan.drain);
        for (const sync::DeclaredList& l : plan.auto_ids) auto_ids[l.name] = l.ids;
    }
    j["edges"] = std::move(edges);
    j["sites"] = std::move(sites);
    j["prefire"] = std::move(prefire);
    j["drain"] = std::move(drain);
    j["auto_ids"] = std::move(auto_ids);
    j["same_core_edges"] = std::move(silent);
    return j;
}

} // namespace

json json_of(const Diagnostic& d, const SourceMap& sources) {
    json j;
    j["code"] = row(d.code).text;
    j["severity"] = severity_name(d.severity);
    j["message"] = d.message;
    put_place(j, d.at, sources);
    json labels = json::array();
    for (const Label& l : d.labels) {
        json label;
        label["message"] = l.message;
        put_place(label, l.at, sources);
        labels.push_back(std::move(label));
    }
    j["labels"] = std::move(labels);
    if (d.fix && !d.fix->edits.empty()) {
        json edits = json::array();
        for (const Edit& e : d.fix->edits) {
            json edit;
            put_place(edit, e.at, sources);
            edit["replacement"] = e.replacement;
            edits.push_back(std::move(edit));
        }
        j["fix"] = {{"message", d.fix->message}, {"edits", std::move(edits)}};
    } else {
        j["fix"] = nullptr;
    }
    json advice = json::array();
    if (d.fix && d.fix->edits.empty()) advice.push_back(d.fix->message);
    for (const std::string& a : d.advice) advice.push_back(a);
    j["advice"] = std::move(advice);
    return j;
}

json json_of(const Compiled& c, const SourceMap& sources) {
    json j;
    j["schema"] = 1;
    j["kernel"] = c.name;
    j["ok"] = c.ok();
    j["target"] = {{"name", c.chip ? c.chip->name : ""}, {"origin", c.target_origin}};
    j["check"] = c.strictness == Strictness::strict ? "strict" : "warn";
    json diagnostics = json::array();
    for (const Diagnostic& d : c.diagnostics) diagnostics.push_back(json_of(d, sources));
    j["diagnostics"] = std::move(diagnostics);
    json loops = json::array();
    if (c.model)
        for (std::size_t i = 0; i < c.model->loops.size(); ++i) loops.push_back(loop_json(c, i));
    j["loops"] = std::move(loops);
    j["sync"] = verdict_json(c);
    j["memory"] = memory_json(c);
    j["artifacts"] = json::object();
    j["predicted"] = nullptr;
    return j;
}

} // namespace pto::driver
