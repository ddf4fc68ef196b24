#include "engine/driver/report_sync.hpp"

#include "engine/driver/report_words.hpp"
#include "engine/ir/walk.hpp"

#include <algorithm>
#include <map>

namespace pto::driver {
namespace {

/// "load, move, matmul": the operations of a stage in order, repeats once.
std::string summary_of(const Compiled& c, const std::string& stage) {
    const ir::Kernel* k = c.kernel();
    std::string out;
    if (!k) return out;
    for (const std::optional<ir::Function>* side : {&k->cube, &k->vector}) {
        if (!*side || !out.empty()) continue;
        std::vector<std::string> seen;
        bool found = false;
        ir::for_each_statement((*side)->body, [&](const ir::Stmt& s) {
            const auto* scope = std::get_if<ir::StageScope>(&s.what);
            if (!scope || scope->stage != stage || found) return;
            found = true;
            ir::for_each_statement(scope->body, [&](const ir::Stmt& inner) {
                std::string name;
                if (const auto* op = std::get_if<ir::Op>(&inner.what); op && !op->row->descriptor_only) name = std::string(op->row->call_name());
                if (const auto* call = std::get_if<ir::VectorCall>(&inner.what)) name = call->name;
                if (!name.empty() && std::find(seen.begin(), seen.end(), name) == seen.end()) seen.push_back(name);
            });
        });
        for (const std::string& s : seen) out += (out.empty() ? "" : ", ") + s;
    }
    return out;
}

/// Number of tasks when bounds of the loop and of everything around it are constants.
std::int64_t constant_tasks(const Compiled& c, const pipeline::Loop& loop) {
    if (!c.serial) return -1;
    const ir::Kernel& k = c.serial->kernel;
    std::int64_t tasks = -1;
    for (const std::optional<ir::Function>* side : {&k.cube, &k.vector}) {
        if (!*side || tasks >= 0) continue;
        const ir::Function& f = **side;
        // walk with the product of constant trip counts above
        auto walk = [&](auto&& self, const ir::Body& body, std::int64_t above) -> void {
            for (const ir::Stmt& s : body) {
                if (const auto* l = std::get_if<ir::Loop>(&s.what)) {
                    auto a = f.constant(l->start), b = f.constant(l->stop), st = f.constant(l->step);
                    std::int64_t trips = a && b && st && *st > 0 && above >= 0 ? std::max<std::int64_t>(0, (*b - *a + *st - 1) / *st) * above : -1;
                    if (s.at.file == loop.at.file && s.at.begin == loop.at.begin) {
                        tasks = trips;
                        return;
                    }
                    self(self, l->body, trips);
                } else if (const auto* h = std::get_if<ir::HelperScope>(&s.what)) self(self, h->body, above);
                else if (const auto* b = std::get_if<ir::Branch>(&s.what)) self(self, b->then, -1), self(self, b->otherwise, -1);
                else if (const auto* w = std::get_if<ir::Forever>(&s.what)) self(self, w->body, -1);
            }
        };
        walk(walk, f.body, 1);
    }
    return tasks;
}

std::vector<report::PermitGroup> permit_groups(const std::vector<sync::Permit>& permits) {
    std::vector<report::PermitGroup> out;
    for (const sync::Permit& p : permits) {
        std::string pipe(isa::name(p.pipe));
        auto same = std::find_if(out.begin(), out.end(), [&](const report::PermitGroup& g) { return g.core == p.core && g.pipe == pipe; });
        if (same == out.end()) same = out.insert(out.end(), {p.core, pipe, {}});
        same->ids.push_back(p.id);
    }
    return out;
}

report::Direction direction_of(const sync::Edge& e) { return e.kind == sync::EdgeKind::raw ? report::Direction::ready : report::Direction::free; }

} // namespace

report::Place place_of(const Span& at, const SourceMap& sources) {
    if (!at.valid()) return {};
    Position p = sources.begin(at);
    return {sources.file(at.file).name, p.line, p.column};
}

report::Provenance compile_provenance(const Compiled& c) {
    return report::Provenance("nothing was run", c.verdict ? "verifier" : "", {});
}

report::Refusal report_refusal(const Compiled& c, const SourceMap& sources) {
    return report::refusal_of(c.diagnostics, sources, c.name, compile_provenance(c));
}

report::SyncPlan report_sync_plan(const Compiled& c, const SourceMap& sources) {
    report::SyncPlan out{compile_provenance(c), c.name, c.chip ? c.chip->name : "", {}};
    if (!c.model || !c.schedule || !c.plan) return out;
    for (std::size_t i = 0; i < c.model->loops.size(); ++i) {
        const pipeline::Loop& loop = c.model->loops[i];
        const schedule::LoopSchedule& s = c.schedule->loops[i];
        const sync::LoopPlan& plan = c.plan->loops[i];
        report::PlanLoop l;
        l.name = loop.variable;
        l.place = place_of(loop.header, sources);
        l.preload = s.preload;
        l.ring_depth = s.ring_depth;
        l.drain_beats = s.drain_beats;
        l.tasks = constant_tasks(c, loop);
        for (std::size_t k = 0; k < loop.stages.size(); ++k) {
            const pipeline::Stage& stage = loop.stages[k];
            Span def = stage.function.function ? stage.function.function->name_at : stage.statement;
            l.stages.push_back({stage.name, stage.core, s.delays[k], place_of(def, sources), summary_of(c, stage.name)});
        }
        auto stage_name = [&](pipeline::StageId id) { return loop.stages[std::size_t(id.index)].name; };
        std::vector<std::int32_t> shown; // buffers in the order of the chain
        for (const sync::Edge& e : plan.edges)
            for (pipeline::BufferId b : {e.from.buffer, e.to.buffer})
                if (std::find(shown.begin(), shown.end(), b.index) == shown.end() && (*c.model)[b].channel()) shown.push_back(b.index);
        std::stable_sort(shown.begin(), shown.end(), [&](std::int32_t a, std::int32_t b) {
            auto first = [&](std::int32_t id) {
                std::int32_t at = 1 << 30;
                for (std::size_t k = 0; k < loop.stages.size(); ++k)
                    for (const pipeline::Access& x : loop.stages[k].accesses)
                        if (x.buffer.index == id) at = std::min(at, std::int32_t(k));
                return at;
            };
            return first(a) < first(b);
        });
        for (std::int32_t id : shown) {
            const pipeline::Buffer& b = c.model->buffers[std::size_t(id)];
            report::PlanBuffer buffer;
            buffer.name = b.name;
            if (b.memory) buffer.memory = memory_word(*b.memory);
            buffer.address = b.ranges.empty() ? 0 : b.ranges.front().begin;
            if (const ir::TileDecl* d = declaration(c, b.name)) {
                buffer.shape = std::to_string(d->type.shape[0]) + "x" + std::to_string(d->type.shape[1]);
                buffer.dtype = std::string(isa::name(d->type.dtype));
                if (d->type.layout != isa::Layout::nd) buffer.layout = std::string(isa::name(d->type.layout));
            }
            buffer.slots = std::max(1, b.slots);
            buffer.index_rule = "task mod " + std::to_string(buffer.slots);
            buffer.place = place_of(b.name_at.valid() ? b.name_at : b.at, sources);
            l.buffers.push_back(std::move(buffer));
        }
        for (const sync::Edge& e : plan.edges) {
            if (e.silent == sync::Silent::same_core) continue;
            report::HandOver h;
            h.direction = direction_of(e);
            h.from = stage_name(e.from.stage);
            h.to = stage_name(e.to.stage);
            h.buffer = (*c.model)[e.to.buffer].name;
            if (e.from.buffer != e.to.buffer) h.shares_with = (*c.model)[e.from.buffer].name;
            h.set_pipe = std::string(isa::name(e.from.pipe));
            h.wait_pipe = std::string(isa::name(e.to.pipe));
            h.ids = e.ids;
            h.distance = e.distance;
            h.task_offset = e.task_offset;
            h.permits = e.kind == sync::EdgeKind::raw ? 0 : std::max(0, e.emitted() ? e.task_offset : 0);
            h.enforced = e.emitted();
            h.racy = !e.emitted() && !e.ordered;
            h.chosen = e.allocated;
            if (e.silent == sync::Silent::no_ids)
                h.note = std::string("not enforced: no ") + (e.kind == sync::EdgeKind::raw ? "fwd_ids" : "bwd_ids");
            else if (e.silent == sync::Silent::redundant) h.note = "implied by the chain of ready hand-overs";
            else if (e.degraded || (e.slots > 1 && e.ids.size() == 1)) h.note = "hand-over one at a time";
            h.set_after = place_of(e.from.at, sources);
            h.wait_before = place_of(e.to.at, sources);
            l.edges.push_back(std::move(h));
        }
        for (const sync::Site& site : plan.sites) {
            const sync::Edge& e = plan.edges[std::size_t(site.edge)];
            l.sites.push_back({stage_name(site.stage), site.is_wait, std::string(isa::name(site.pipe)), (*c.model)[e.to.buffer].name, direction_of(e),
                               site.ids, site.slot_count, 0});
        }
        l.prefire = permit_groups(plan.prefire);
        l.drain = permit_groups(plan.drain);
        fill_proof(c, l.proof);
        report::fill_ids(l, c.chip->cross_core_ids, max_pending(c));
        report::fill_beats(l);
        out.loops.push_back(std::move(l));
    }
    return out;
}

} // namespace pto::driver
