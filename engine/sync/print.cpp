#include "engine/sync/sync_plan.hpp"

namespace pto::sync {
namespace {

std::string join(const std::vector<std::int32_t>& ids) {
    std::string out;
    for (std::size_t i = 0; i < ids.size(); ++i) out += (i ? "," : "") + std::to_string(ids[i]);
    return out.empty() ? "-" : out;
}
std::string_view role_name(isa::Role r) { return isa::reads(r) ? isa::writes(r) ? "RW" : "R" : "W"; }

} // namespace

std::string print(const pipeline::Model& model, const pipeline::Loop& loop, const LoopPlan& plan) {
    std::string out = "edges\n";
    for (const Edge& e : plan.edges) {
        auto end = [&](const EdgeEnd& x) {
            return loop.stages[std::size_t(x.stage.index)].name + "." + model[x.buffer].name + " " + std::string(role_name(x.role)) + " " + std::string(isa::name(x.pipe));
        };
        out += "  " + std::string(name(e.kind)) + " " + end(e.from) + " -> " + end(e.to) + "  dist " + std::to_string(e.distance) + " off " + std::to_string(e.task_offset);
        if (e.emitted()) out += " ids " + join(e.ids);
        else out += e.silent == Silent::same_core ? " same core" : e.silent == Silent::no_ids ? " no ids" : " redundant";
        if (e.borrowed) out += " borrowed";
        if (e.allocated && e.emitted()) out += " allocated";
        if (e.degraded) out += " degraded";
        if (e.added_by_us) out += " added";
        out += "\n";
    }
    out += "sites\n";
    for (const Site& s : plan.sites)
        out += "  " + loop.stages[std::size_t(s.stage.index)].name + " " + (s.before ? "pre wait " : "post set ") + std::string(isa::name(s.pipe)) + " " + join(s.ids) + " mod " + std::to_string(s.slot_count) + "\n";
    for (const auto& [what, list] : {std::pair{"prefire", &plan.prefire}, std::pair{"drain", &plan.drain}}) {
        out += std::string(what) + "\n";
        for (const Permit& p : *list) out += "  " + std::string(isa::name(p.core)) + " " + std::string(isa::name(p.pipe)) + " " + std::to_string(p.id) + "\n";
    }
    for (const DeclaredList& l : plan.auto_ids) out += "auto " + l.name + " " + join(l.ids) + "\n";
    return out;
}

} // namespace pto::sync
