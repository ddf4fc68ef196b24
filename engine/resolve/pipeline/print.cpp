#include "engine/ir/pipeline.hpp"

namespace pto::pipeline {
namespace {

std::string join(const std::vector<std::int32_t>& ids) {
    std::string out;
    for (std::size_t i = 0; i < ids.size(); ++i) out += (i ? "," : "") + std::to_string(ids[i]);
    return out;
}

std::string_view role_name(isa::Role r) {
    switch (r) {
    case isa::Role::none: return "-";
    case isa::Role::read: return "R";
    case isa::Role::write: return "W";
    case isa::Role::read_write: return "RW";
    }
    return "?";
}

std::string_view place_name(Place p) { return p == Place::both ? "both" : p == Place::cube ? "cube" : "vector"; }

std::string_view argument_name(Argument::Kind k) {
    switch (k) {
    case Argument::Kind::unchanged: return "unchanged";
    case Argument::Kind::structure: return "struct";
    case Argument::Kind::scalar: return "scalar";
    case Argument::Kind::pick: return "pick";
    case Argument::Kind::expression: return "expression";
    }
    return "?";
}

} // namespace

std::string print(const Model& m) {
    std::string out;
    auto ids = [&](const char* what, const IdList& l) {
        if (!l.given) return;
        out += std::string(" ") + what + " " + (l.name.empty() ? "" : l.name + "=") + join(l.ids);
    };
    for (const Buffer& b : m.buffers) {
        out += "buffer " + b.name + " " + (b.memory ? std::string(isa::name(*b.memory)) : std::string("?")) + " slots " + std::to_string(b.slots) + " bytes " + std::to_string(b.slot_bytes);
        if (!b.ranges.empty()) {
            out += " at ";
            for (std::size_t i = 0; i < b.ranges.size(); ++i) out += (i ? "," : "") + std::to_string(b.ranges[i].begin);
        }
        ids("fwd", b.fwd);
        ids("bwd", b.bwd);
        if (b.partner.valid()) out += " over " + m[b.partner].name;
        out += "\n";
    }
    for (const Loop& l : m.loops) {
        out += "loop " + std::to_string(l.index) + " for " + l.variable + " preload " + std::to_string(l.preload) + (l.is_top_level() ? "" : " nested") + " zones " +
               std::to_string(l.zone1.size()) + "/" + std::to_string(l.zone3.size()) + "\n";
        for (const Stage& st : l.stages) {
            out += "  stage " + st.name + " " + std::string(isa::name(st.core));
            for (const Argument& a : st.arguments) out += " " + std::string(argument_name(a.kind)) + (a.field.empty() ? "" : ":" + a.field);
            out += "\n";
            for (const Access& a : st.accesses) out += "    " + std::string(role_name(a.role)) + " " + m[a.buffer].name + " " + std::string(isa::name(a.pipe)) + " " + a.op + "\n";
        }
        for (const OuterPick& p : l.picks) out += "  pick " + p.variable + " of " + m[p.group].name + " as " + p.index + (p.carried ? "" : " (not carried)") + "\n";
        for (const CtxField& f : l.fields) out += "  field " + f.name + " = " + f.zero + " " + std::string(f.in_both_sections ? "each" : place_name(f.place)) + "\n";
    }
    return out;
}

} // namespace pto::pipeline
