/// Which accesses belong together, and the rules about channels that need the schedule. K37 to K41.

#include "engine/schedule/plan_schedule.hpp"
#include "engine/sync/advice.hpp"
#include "engine/sync/graph.hpp"

#include <algorithm>
#include <map>

namespace pto::sync {

Diagnostic& Graph::report(Code code, Span at, std::string message) {
    diagnostics.push_back(diagnose(code, at, std::move(message)));
    if (limits.unchecked && code >= Code::too_few_slots && code <= Code::skew_multiple) diagnostics.back().severity = Severity::warning;
    return diagnostics.back();
}

void build_nodes(Graph& g) {
    std::map<std::int32_t, std::int32_t> region_of;
    for (std::size_t i = 0; i < g.loop.stages.size(); ++i)
        for (const pipeline::Access& a : g.loop.stages[i].accesses) region_of[a.buffer.index] = -1;
    std::int32_t seq = 0;
    for (std::size_t i = 0; i < g.loop.stages.size(); ++i) {
        const pipeline::Stage& st = g.loop.stages[i];
        for (const pipeline::Access& a : st.accesses) {
            std::int32_t& region = region_of[a.buffer.index];
            if (region < 0) {
                region = std::int32_t(g.regions.size());
                g.regions.push_back({a.buffer});
                g.region_slots.push_back(g.model[a.buffer].slots);
                const BufferId partner = g.model[a.buffer].partner;
                if (auto other = region_of.find(partner.index); partner.valid() && other != region_of.end()) {
                    other->second = region;
                    g.regions.back().push_back(partner);
                }
            }
            Node n;
            n.end = {StageId{std::int32_t(i)}, a.buffer, a.role, a.pipe, st.core, seq++, a.at};
            n.region = region;
            n.conditional = a.conditional;
            g.nodes.push_back(n);
        }
    }
}

namespace {

std::string stage_list(const Graph& g, const std::vector<StageId>& stages) {
    std::string out;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const pipeline::Stage& st = g.stage(stages[i]);
        out += (i == 0 ? "`" : i + 1 == stages.size() ? " and `" : ", `") + st.name + "` (" + std::string(isa::name(st.core)) + ")";
    }
    return out;
}

std::string ids_text(const std::vector<std::vector<std::int32_t>>& ids) {
    std::string out = "[";
    for (std::size_t i = 0; i < ids.size(); ++i) {
        out += i ? ", " : "";
        if (ids[i].size() == 1) {
            out += std::to_string(ids[i][0]);
            continue;
        }
        out += "[";
        for (std::size_t j = 0; j < ids[i].size(); ++j) out += (j ? ", " : "") + std::to_string(ids[i][j]);
        out += "]";
    }
    return out + "]";
}

std::string shared_bytes(const pipeline::Buffer& a, const pipeline::Buffer& b) {
    static const char digits[] = "0123456789abcdef";
    auto hex = [](std::int64_t v) {
        std::string s;
        do s.insert(s.begin(), digits[v & 15]), v >>= 4; while (v > 0);
        return "0x" + s;
    };
    for (const pipeline::ByteRange& x : a.ranges)
        for (const pipeline::ByteRange& y : b.ranges)
            if (x.overlaps(y)) return hex(std::max(x.begin, y.begin)) + ".." + hex(std::min(x.end, y.end));
    return {};
}

} // namespace

void check_channels(Graph& g) {
    std::map<std::int32_t, std::vector<StageId>> users; // tracked buffer -> stages, chain order
    for (const Node& n : g.nodes) {
        std::vector<StageId>& list = users[n.end.buffer.index];
        if (list.empty() || list.back() != n.end.stage) list.push_back(n.end.stage);
    }
    for (const auto& [index, stages] : users) {
        const pipeline::Buffer& b = g.model.buffers[std::size_t(index)];
        if (b.slots > 0) continue;
        Diagnostic& d = g.report(Code::channel_slots_static, b.at, "the slot count of `" + b.name + "` is not static");
        d.advice.push_back("give a literal depth, or one mutex id a slot");
    }
    for (const auto& [index, stages] : users) {
        const pipeline::Buffer& b = g.model.buffers[std::size_t(index)];
        if (!b.channel()) continue;
        std::string wrong;
        if (stages.size() == 1) wrong = "is touched by one stage only, " + stage_list(g, stages);
        else if (stages.size() > 2) wrong = "is touched by " + std::to_string(stages.size()) + " stages, " + stage_list(g, stages);
        else if (g.stage(stages[0]).core == g.stage(stages[1]).core) wrong = "is touched by two stages of one core, " + stage_list(g, stages);
        else if (stages[1].index != stages[0].index + 1) wrong = "is touched by stages that are not neighbours, " + stage_list(g, stages);
        if (!wrong.empty()) {
            Diagnostic& d = g.report(Code::channel_ends, b.name_at, "cross-core buffer `" + b.name + "` " + wrong);
            for (StageId s : stages) d.labels.push_back({g.stage(s).statement, "`" + g.stage(s).name + "`"});
            d.advice.push_back("one stage writes it and the next one, on the other core, reads it; give each further hand-over a buffer of its own");
            continue;
        }
        const Node* first = nullptr;
        for (const Node& n : g.nodes)
            if (n.end.buffer.index == index && !first) first = &n;
        if (first->end.role == isa::Role::read && std::none_of(g.nodes.begin(), g.nodes.end(), [&](const Node& n) {
                return n.end.buffer.index == index && n.end.stage == stages[0] && isa::writes(n.end.role);
            })) {
            Diagnostic& d = g.report(Code::channel_ends, first->end.at, "`" + g.stage(stages[0]).name + "` reads cross-core buffer `" + b.name + "` before any stage of the task has written it");
            d.labels.push_back({g.stage(stages[1]).statement, "`" + g.stage(stages[1]).name + "` comes later in the chain"});
            d.advice.push_back("the first of the two stages writes, the second reads");
        }
    }
    for (const auto& [index, stages] : users) {
        const pipeline::Buffer& b = g.model.buffers[std::size_t(index)];
        for (const auto& [list, direction] : {std::pair{&b.fwd, "fwd_ids"}, std::pair{&b.bwd, "bwd_ids"}}) {
            const std::int32_t n = std::int32_t(list->ids.size());
            if (!list->given || b.slots == 0 || n == 1 || n == b.slots) continue;
            Diagnostic& d = g.report(Code::id_count, list->at, std::string(direction) + " of `" + b.name + "` has " + std::to_string(n) + " ids for " + std::to_string(b.slots) + " slots");
            d.labels.push_back({b.name_at, std::to_string(b.slots) + " slots"});
            d.advice.push_back("give one id for all slots, or one for each");
        }
    }
    for (const std::vector<BufferId>& region : g.regions) {
        if (region.size() < 2) continue;
        const pipeline::Buffer &a = g.model[region[0]], &b = g.model[region[1]];
        if (a.mutex_ids.empty() || b.mutex_ids.empty() || a.mutex_ids == b.mutex_ids) continue;
        const pipeline::Buffer &first = a.at.begin <= b.at.begin ? a : b, &second = a.at.begin <= b.at.begin ? b : a;
        Diagnostic& d = g.report(Code::overlap_mutex, second.mutex_at, "`" + second.name + "` has mutex_ids " + ids_text(second.mutex_ids) + ", `" + first.name + "` on the same bytes (" + shared_bytes(a, b) + ") has " + ids_text(first.mutex_ids));
        d.labels.push_back({first.mutex_at, "the other list"});
        bool simple = true;
        for (const auto& slot : first.mutex_ids) simple = simple && slot.size() == 1;
        if (simple && first.mutex_ids.size() == second.mutex_ids.size()) d.fix = Fix{"use the mutex_ids of `" + first.name + "`", {{second.mutex_at, ids_text(first.mutex_ids)}}};
        else d.advice.push_back("a mutex locks an address: give both the same mutex_ids");
    }
    if (!g.ok()) return;
    for (const auto& [index, stages] : users) {
        const pipeline::Buffer& b = g.model.buffers[std::size_t(index)];
        if (!b.channel() || stages.size() != 2) continue;
        const std::int32_t need = g.delay(stages[1]) - g.delay(stages[0]) + 1;
        if (b.slots >= need) continue;
        std::string message = "`" + g.stage(stages[1]).name + "` runs " + std::to_string(need - 1) + (need == 2 ? " task behind `" : " tasks behind `") + g.stage(stages[0]).name + "` at preload " + std::to_string(g.schedule.preload) +
                              ": `" + b.name + "` needs " + std::to_string(need) + " slots and has " + std::to_string(b.slots);
        Diagnostic& d = g.report(Code::too_few_slots, b.name_at, std::move(message));
        d.labels.push_back({g.stage(stages[0]).statement, "`" + g.stage(stages[0]).name + "` writes it, delay " + std::to_string(g.delay(stages[0]))});
        d.labels.push_back({g.stage(stages[1]).statement, "`" + g.stage(stages[1]).name + "` reads it, delay " + std::to_string(g.delay(stages[1]))});
        if (std::vector<Edit> edits = grow_slots(g.model, b.partner.valid() ? BufferId{} : BufferId{index}, need, g.limits); !edits.empty())
            d.fix = Fix{"give `" + b.name + "` " + std::to_string(need) + " slots", std::move(edits)};
        else
            d.advice.push_back("give `" + b.name + "` " + std::to_string(need) + " slots (mutex_ids, fwd_ids and bwd_ids grow with it, and " + std::to_string((need - b.slots) * b.slot_bytes) + " more bytes behind it)");
        std::int32_t lower = g.schedule.preload - 1;
        for (; lower > 0; --lower) {
            const std::vector<std::int32_t> d2 = schedule::delays(std::int32_t(g.loop.stages.size()), lower);
            if (d2[std::size_t(stages[1].index)] - d2[std::size_t(stages[0].index)] + 1 <= b.slots) break;
        }
        d.advice.push_back("lower the preload to " + std::to_string(lower));
    }
}

} // namespace pto::sync
