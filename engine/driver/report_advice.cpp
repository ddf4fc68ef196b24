#include "engine/driver/report_advice.hpp"

#include "engine/driver/report_sync.hpp"
#include "engine/sync/advice.hpp"

#include <algorithm>
#include <set>

namespace pto::driver {
namespace {

std::optional<isa::Pipe> pipe_called(std::string_view name) {
    for (int p = 0; p < int(isa::Pipe::all); ++p)
        if (isa::name(isa::Pipe(p)) == name) return isa::Pipe(p);
    return std::nullopt;
}

/// What each stage asks of each pipe, as a mean of one task; empty when a stage has no time.
std::vector<sync::StageTimes> stage_times(const pipeline::Model& model, const report::Timeline& t) {
    std::vector<sync::StageTimes> out;
    for (const pipeline::Loop& loop : model.loops) {
        out.emplace_back();
        for (const pipeline::Stage& s : loop.stages) {
            const auto known = std::find_if(t.stages.begin(), t.stages.end(), [&](const report::StageTime& x) { return x.name == s.name && x.tasks > 0; });
            if (known == t.stages.end()) return {};
            const auto stage = std::int32_t(known - t.stages.begin());
            std::vector<std::pair<report::Ticks, sync::PipeTime>> pipes; // by first start
            std::set<std::string> seen;
            for (const report::Lane& lane : t.lanes) {
                const auto pipe = pipe_called(lane.pipe);
                report::Ticks first = -1, busy = 0, flight = 0;
                for (const report::Slice& x : lane.slices) {
                    if (x.stage != stage) continue;
                    if (first < 0) first = x.start;
                    busy += x.end - x.start;
                    flight = std::max(flight, x.landed - x.end);
                }
                if (!pipe || first < 0 || !seen.insert(lane.pipe).second) continue; // both vector cores do the same
                const double per_task = double(report::ticks_per_cycle) * double(known->tasks);
                pipes.push_back({first, {*pipe, double(busy) / per_task, double(flight) / double(report::ticks_per_cycle)}});
            }
            std::stable_sort(pipes.begin(), pipes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            out.back().emplace_back();
            for (const auto& [at, time] : pipes) out.back().back().push_back(time);
        }
    }
    return out;
}

} // namespace

std::optional<report::Advice> report_advice(const Compiled& c, const report::Timeline* timeline, const std::string& missing) {
    if (!c.model || !c.chip || c.model->loops.empty()) return std::nullopt;
    const pipeline::Model& model = *c.model;
    sync::AdviceOptions options;
    options.limits = sync_limits(*c.chip, c.source.options.auto_mutex);
    for (const pipeline::Loop& l : model.loops) options.max_preload = std::max(options.max_preload, std::int32_t(l.preload) + 1);
    if (timeline) options.times = stage_times(model, *timeline);
    const sync::Advice found = sync::advise(model, options);

    report::Advice out{timeline ? timeline->provenance : compile_provenance(c), c.name};
    for (const pipeline::Loop& l : model.loops) out.preload.push_back(std::int32_t(l.preload));
    out.largest = found.largest_preload;
    out.event_ids = options.limits.event_ids, out.pending_limit = options.limits.max_pending;
    for (const sync::SweepRow& r : found.sweep) {
        report::AdviceRow row{r.preload, r.accepted, {}, {}, r.ring_depths, {}, r.ids, r.cycles_per_task};
        for (const sync::SlotNeed& n : r.slots) row.slots.push_back({model.loops[std::size_t(n.loop)].variable, model[n.buffer].name, n.has, n.needs});
        if (!r.why_not.empty()) row.code = pto::row(r.why_not.front().code).text, row.why = r.why_not.front().message;
        out.sweep.push_back(std::move(row));
    }
    for (const sync::RedundantList& l : found.redundant) out.redundant.push_back({model.loops[std::size_t(l.loop)].variable, model[l.buffer].name, l.forward, 0, 0});
    for (const sync::ShareChoice& l : found.share) out.share.push_back({model.loops[std::size_t(l.loop)].variable, model[l.buffer].name, l.forward, l.saves, l.pending});
    if (options.times.empty()) out.not_predicted = !missing.empty() ? missing : timeline ? "a stage ran no task in the prediction" : "nothing was predicted";
    return out;
}

} // namespace pto::driver
