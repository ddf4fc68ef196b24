/// Slots picked outside the pipeline loop: their index travels with the task. Pipeline reference, 12.3.

#include "engine/rewrite/kernel_text.hpp"

#include <set>

namespace pto::rewrite {

std::string outer_pick_counters(const pipeline::Model& model, const pipeline::Loop& loop, const std::string& indent) {
    std::set<std::pair<std::string, std::int32_t>> counters; // sorted by group, then slots
    for (const pipeline::OuterPick& p : loop.picks) {
        counters.insert({p.counter, model[p.group].slots});
        counters.insert({p.index, model[p.group].slots});
    }
    std::string out;
    for (const auto& [name, slots] : counters) out += indent + name + " = " + std::to_string(slots - 1) + "\n";
    return out;
}

void edit_outer_picks(KernelEdits& k, const pipeline::Loop& loop) {
    for (const pipeline::OuterPick& p : loop.picks) {
        const pipeline::Buffer& group = k.model[p.group];
        const std::string n = std::to_string(group.slots);
        std::vector<std::string> lines;
        using How = pipeline::OuterPick::How;
        if (p.how == How::next) lines.push_back(p.counter + " = (" + p.counter + " + 1) % " + n);
        std::string source;
        if (p.how == How::previous) source = "(" + p.counter + " + " + n + " - 1) % " + n; // never negative; the counter stays
        else if (p.how == How::index) source = k.text.one_line(p.index_at);
        else if (p.index != p.counter) source = p.counter;
        if (!source.empty() && source != p.index) lines.push_back(p.index + " = " + source);
        lines.push_back(p.variable + " = " + group.name + "[" + p.index + "]");
        const bool alone = k.text.all.find_first_not_of(" \t", std::size_t(k.text.line_start(p.at.begin))) == std::size_t(p.at.begin);
        const std::string separator = alone ? "\n" + k.text.indent(p.at.begin) : "; ";
        std::string out;
        for (std::size_t i = 0; i < lines.size(); ++i) out += (i ? separator : "") + lines[i];
        k.add(p.at.begin, p.at.end, std::move(out), p.at);
    }
}

} // namespace pto::rewrite
