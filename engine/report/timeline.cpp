#include "engine/report/timeline.hpp"

#include "engine/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace pto::report {

std::string_view lane_role(std::string_view core, std::string_view pipe) {
    if (pipe == "MTE2") return "loads";
    if (pipe == "MTE1") return "L1 to L0";
    if (pipe == "M") return "matmul";
    if (pipe == "FIX") return "L0C out";
    if (pipe == "V") return "vector";
    if (pipe == "MTE3") return core == "AIC" ? "L1 to GM" : "stores";
    return pipe == "S" ? "scalar" : "";
}

Status status(const Timeline& t) {
    return t.provenance.computed_by.rfind("npu:", 0) == 0 ? honest(Status::measured, t.provenance) : Status::predicted;
}

double us(const Timeline& t, Ticks ticks) { return double(ticks) / double(ticks_per_cycle) / t.cycles_per_us; }

namespace {

/// One piece of a stage's time; smaller priority wins where pieces overlap.
struct Piece {
    Ticks start, end;
    int priority;                     // 0 compute, 1 paid wait, 2 move; what none of them covers is waiting inside the core
    std::int32_t for_stage;
};

struct Parts {
    Ticks compute = 0, move = 0, in_core = 0;
    std::map<std::int32_t, Ticks> paid;
};

/// Counts every instant once, for the piece of highest priority; equal priorities count for the one that began first.
void cut(std::vector<Piece>& pieces, Parts& parts) {
    std::vector<Ticks> edges;
    for (const Piece& p : pieces) edges.insert(edges.end(), {p.start, p.end});
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    Ticks covered = 0;
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return std::tie(a.priority, a.start) < std::tie(b.priority, b.start); });
    for (std::size_t i = 0; i + 1 < edges.size(); ++i)
        for (const Piece& p : pieces) {
            if (p.start > edges[i] || p.end < edges[i + 1]) continue;
            const Ticks length = edges[i + 1] - edges[i];
            if (p.priority == 0) parts.compute += length;
            else if (p.priority == 1) parts.paid[p.for_stage] += length;
            else parts.move += length;
            covered += length;
            break;
        }
    if (!edges.empty()) parts.in_core += edges.back() - edges.front() - covered;
}

void lane_totals(Lane& lane, Ticks total) {
    LaneTotals s;
    for (const Slice& x : lane.slices) s.busy += x.end - x.start;
    for (const Wait& w : lane.waits) {
        s.paid += w.paid;
        s.free += w.end - w.start - w.paid;
    }
    for (const Gap& g : lane.gaps) s.in_core += g.end - g.start;
    s.idle = total - s.busy - s.paid - s.free - s.in_core;
    lane.totals = s;
}

bool second_vector_core(const Lane& lane) { return lane.core.rfind("AIV", 0) == 0 && lane.core != "AIV" && lane.core != "AIV0"; }

void stage_table(Timeline& t) {
    // Equal vector cores do the same work at the same time, so a stage's task is counted on the first of them only.
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Piece>> pieces;
    std::map<std::tuple<std::int32_t, std::string, Direction>, Ticks> paid;
    for (const Lane& lane : t.lanes) {
        if (second_vector_core(lane)) continue;
        for (const Slice& s : lane.slices)
            if (s.stage >= 0) pieces[{s.stage, s.task}].push_back({s.start, lane.computes ? s.end : std::max(s.end, s.landed), lane.computes ? 0 : 2, -1});
        for (const Wait& w : lane.waits) {
            if (w.stage < 0 || w.fill || w.paid <= 0) continue;
            pieces[{w.stage, w.task}].push_back({w.end - w.paid, w.end, 1, w.for_stage});
            paid[{w.stage, w.buffer, w.direction}] += w.paid;
        }
    }
    std::vector<Parts> parts(t.stages.size());
    for (StageTime& s : t.stages) s.tasks = 0;
    for (auto& [key, list] : pieces) {
        const std::size_t stage = std::size_t(key.first);
        if (stage >= t.stages.size()) continue;
        ++t.stages[stage].tasks;
        cut(list, parts[stage]);
    }
    for (std::size_t i = 0; i < t.stages.size(); ++i) {
        StageTime& s = t.stages[i];
        const Ticks n = std::max(1, s.tasks);
        s.compute = parts[i].compute / n;
        s.move = parts[i].move / n;
        s.in_core = parts[i].in_core / n;
        s.paid.clear();
        s.span = s.compute + s.move + s.in_core;
        for (const auto& [for_stage, ticks] : parts[i].paid) {
            s.paid.push_back({for_stage, ticks / n});
            s.span += ticks / n;
        }
    }
    t.paid_most.clear();
    for (const auto& [key, ticks] : paid) t.paid_most.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), ticks});
    std::stable_sort(t.paid_most.begin(), t.paid_most.end(), [](const PaidTotal& a, const PaidTotal& b) { return a.ticks > b.ticks; });
}

void fill_and_drain(Timeline& t) {
    t.fill = t.drain = 0;
    if (t.stages.size() < 2) return;
    Ticks first_of_last = t.total, last_of_first = 0;
    const auto last = std::int32_t(t.stages.size() - 1);
    for (const Lane& lane : t.lanes)
        for (const Slice& s : lane.slices) {
            if (s.stage == last) first_of_last = std::min(first_of_last, s.start);
            if (s.stage == 0) last_of_first = std::max(last_of_first, s.end);
        }
    if (last_of_first == 0) return;
    t.fill = first_of_last;
    t.drain = t.total - last_of_first;
}

void pace(Timeline& t) {
    if (t.steady >= 0 || t.tasks <= 0) return;
    for (const Lane& lane : t.lanes) {
        Ticks busy = 0;
        for (const Slice& s : lane.slices)
            if (s.stage >= 0) busy += s.end - s.start;
        if (busy / t.tasks > t.steady) {
            t.steady = busy / t.tasks;
            t.pace_core = lane.core;
            t.pace_pipe = lane.pipe;
            t.steady_is_floor = true;
        }
    }
}

} // namespace

void summarise(Timeline& t) {
    for (Lane& lane : t.lanes) lane_totals(lane, t.total);
    stage_table(t);
    fill_and_drain(t);
    pace(t);
}

void fold_equal_cores(Timeline& t, double percent) {
    double worst = 0;
    std::vector<std::size_t> drop;
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        if (t.lanes[i].core != "AIV1") continue;
        bool matched = false;
        for (const Lane& other : t.lanes) {
            if (other.core != "AIV0" || other.pipe != t.lanes[i].pipe) continue;
            matched = true;
            const LaneTotals &a = other.totals, &b = t.lanes[i].totals;
            for (auto member : {&LaneTotals::busy, &LaneTotals::paid, &LaneTotals::free, &LaneTotals::in_core})
                worst = std::max(worst, 100.0 * double(std::abs(a.*member - b.*member)) / double(std::max<Ticks>(1, t.total)));
        }
        if (!matched) return;
        drop.push_back(i);
    }
    if (drop.empty() || worst > percent) return;
    std::vector<std::int32_t> moved(t.lanes.size());
    std::vector<Lane> kept;
    for (std::size_t i = 0; i < t.lanes.size(); ++i) {
        const bool dropped = std::find(drop.begin(), drop.end(), i) != drop.end();
        moved[i] = dropped ? -1 : std::int32_t(kept.size());
        if (!dropped) kept.push_back(std::move(t.lanes[i]));
    }
    t.lanes = std::move(kept);
    std::vector<CriticalStep> critical;
    for (CriticalStep c : t.critical)
        if (moved[std::size_t(c.lane)] >= 0) critical.push_back({moved[std::size_t(c.lane)], c.slice});
    t.critical = std::move(critical);
    for (CriticalShare& c : t.critical_shares)
        if (c.lane >= 0) c.lane = moved[std::size_t(c.lane)];
    if (t.bound.lane >= 0) t.bound.lane = moved[std::size_t(t.bound.lane)];
    t.folded = worst == 0 ? "AIV1 the same" : "AIV1 within " + fixed(std::max(0.1, std::ceil(worst * 10) / 10), 1) + " %";
}

std::vector<std::string> inconsistencies(const Timeline& t) {
    std::vector<std::string> out;
    for (const Lane& lane : t.lanes) {
        const std::string name = lane.core + " " + lane.pipe;
        const LaneTotals& s = lane.totals;
        if (s.busy + s.paid + s.free + s.in_core + s.idle != t.total) out.push_back(name + ": parts do not add up to the total");
        if (s.idle < 0) out.push_back(name + ": more time than there is");
        std::vector<std::pair<Ticks, Ticks>> all;
        for (const Slice& x : lane.slices) all.push_back({x.start, x.end});
        for (const Wait& w : lane.waits) {
            all.push_back({w.start, w.end});
            if (w.paid < 0 || w.paid > w.end - w.start) out.push_back(name + ": a wait pays more than it lasts");
        }
        for (const Gap& g : lane.gaps) all.push_back({g.start, g.end});
        std::sort(all.begin(), all.end());
        for (std::size_t i = 1; i < all.size(); ++i)
            if (all[i].first < all[i - 1].second) {
                out.push_back(name + ": two parts overlap at " + std::to_string(all[i].first));
                break;
            }
    }
    for (const StageTime& s : t.stages) {
        Ticks sum = s.compute + s.move + s.in_core;
        for (const WaitPart& w : s.paid) sum += w.ticks;
        if (sum != s.span) out.push_back(s.name + ": parts do not add up to its span");
    }
    return out;
}

std::vector<Bar> bars(const Lane& lane) {
    std::vector<Bar> out;
    for (std::size_t i = 0; i < lane.slices.size(); ++i) {
        const Slice& s = lane.slices[i];
        if (!out.empty()) {
            Bar& b = out.back();
            if (s.stage >= 0 && b.stage == s.stage && b.task == s.task && s.start == b.end) {
                b.end = s.end;
                b.landed = std::max(b.landed, s.landed);
                ++b.count;
                continue;
            }
        }
        out.push_back({s.start, s.end, std::max(s.end, s.landed), s.stage, s.task, i, 1});
    }
    return out;
}

std::vector<Bin> bins(const Lane& lane, std::size_t stages, Ticks from, Ticks to, int n) {
    std::vector<Bin> out(std::size_t(std::max(n, 1)));
    for (Bin& b : out) b.busy.assign(stages + 1, 0), b.paid.assign(stages + 1, 0);
    if (to <= from) return out;
    const auto slot = [&](std::int32_t stage) { return stage >= 0 && std::size_t(stage) < stages ? std::size_t(stage) : stages; };
    const Ticks count = Ticks(out.size());
    // Part k is [from + k*length/n, from + (k+1)*length/n): whole ticks, so the parts add up to the lane exactly.
    const auto edge = [&](Ticks k) { return from + k * (to - from) / count; };
    const auto spread = [&](Ticks a, Ticks b, auto&& add) {
        a = std::max(a, from);
        b = std::min(b, to);
        if (a >= b) return;
        Ticks k = std::min(count - 1, (a - from) * count / (to - from));
        while (k > 0 && edge(k) > a) --k;
        while (k + 1 < count && edge(k + 1) <= a) ++k;
        for (; k < count && edge(k) < b; ++k) add(out[std::size_t(k)], std::min(b, edge(k + 1)) - std::max(a, edge(k)));
    };
    for (const Slice& s : lane.slices) spread(s.start, s.end, [&](Bin& b, Ticks d) { b.busy[slot(s.stage)] += d; });
    for (const Wait& w : lane.waits) {
        spread(w.start, w.end - w.paid, [&](Bin& b, Ticks d) { b.free += d; });
        spread(w.end - w.paid, w.end, [&](Bin& b, Ticks d) { b.paid[slot(w.for_stage)] += d; });
    }
    for (const Gap& g : lane.gaps) spread(g.start, g.end, [&](Bin& b, Ticks d) { b.in_core += d; });
    return out;
}

Periodic periodic_middle(const Timeline& t) {
    Periodic p;
    // The first start of each task on the pacing pipe, of the stage that has most of them.
    const Lane* lane = nullptr;
    for (const Lane& l : t.lanes)
        if (l.core == t.pace_core && l.pipe == t.pace_pipe) lane = &l;
    if (!lane) return p;
    std::int32_t stage = -1;
    for (const Slice& s : lane->slices)
        if (s.stage >= 0) {
            stage = s.stage;
            break;
        }
    std::vector<Ticks> starts;
    std::int32_t last = -1;
    for (const Slice& s : lane->slices)
        if (s.stage == stage && s.task > last) starts.push_back(s.start), last = s.task;
    if (starts.size() < 12) return p;
    std::vector<Ticks> steps;
    for (std::size_t i = 1; i < starts.size(); ++i) steps.push_back(starts[i] - starts[i - 1]);
    std::vector<Ticks> sorted = steps;
    std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2), sorted.end());
    const Ticks median = sorted[sorted.size() / 2];
    const auto near = [&](Ticks d) { return std::abs(d - median) * 100 <= median * 2; };
    std::size_t best_from = 0, best_length = 0;
    for (std::size_t i = 0; i < steps.size();) {
        std::size_t j = i;
        while (j < steps.size() && near(steps[j])) ++j;
        if (j - i > best_length) best_from = i, best_length = j - i;
        i = std::max(j, i + 1);
    }
    if (best_length < 8 || best_length * 2 < steps.size()) return p;
    p.found = true;
    p.from = starts[best_from + 2];
    p.to = starts[best_from + best_length];
    p.beats = std::int64_t(best_length) - 2;
    p.period = (starts[best_from + best_length] - starts[best_from]) / Ticks(best_length);
    Ticks low = steps[best_from], high = low;
    for (std::size_t i = best_from; i < best_from + best_length; ++i) low = std::min(low, steps[i]), high = std::max(high, steps[i]);
    p.spread_percent = p.period > 0 ? 50.0 * double(high - low) / double(p.period) : 0;
    return p;
}

} // namespace pto::report
