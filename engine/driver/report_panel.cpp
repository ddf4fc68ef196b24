#include "engine/driver/report_panel.hpp"

#include "engine/driver/memory.hpp"
#include "engine/driver/report_sync.hpp"
#include "engine/driver/report_words.hpp"

#include <algorithm>
#include <set>

namespace pto::driver {
namespace {

// cube memories first, then UB
constexpr isa::MemorySpace memory_order[] = {isa::MemorySpace::mat,     isa::MemorySpace::left,       isa::MemorySpace::right,       isa::MemorySpace::acc, isa::MemorySpace::bias,
                                             isa::MemorySpace::scaling, isa::MemorySpace::scale_left, isa::MemorySpace::scale_right, isa::MemorySpace::vec};

/// Stages that touch a buffer, in chain order; producers of a channel stand first by themselves.
std::vector<std::string> stages_of(const Compiled& c, const std::string& name) {
    std::vector<std::string> out;
    if (!c.model) return out;
    for (const pipeline::Loop& loop : c.model->loops)
        for (const pipeline::Stage& s : loop.stages) {
            bool uses = std::any_of(s.accesses.begin(), s.accesses.end(), [&](const pipeline::Access& a) { return (*c.model)[a.buffer].name == name; }) ||
                        std::any_of(s.locals.begin(), s.locals.end(), [&](const pipeline::LocalAccess& a) {
                            return a.buffer.valid() ? (*c.model)[a.buffer].name == name : a.name == name;
                        });
            if (uses && std::find(out.begin(), out.end(), s.name) == out.end()) out.push_back(s.name);
        }
    return out;
}

std::string list(const std::vector<int>& ids) {
    std::string out;
    for (int i : ids) out += (out.empty() ? "" : ",") + std::to_string(i);
    return out;
}

} // namespace

report::MemoryMap report_memory_map(const Compiled& c, const SourceMap& sources) {
    report::MemoryMap out{report::Provenance("nothing was run", "declarations", {}), c.name, c.chip ? c.chip->name : ""};
    const ir::Kernel* kernel = c.kernel();
    if (!kernel || !c.chip) return out;
    std::vector<MemoryUse> uses = memory_use(*kernel, *c.chip);
    std::set<int> cube_locks, vector_locks;
    for (isa::MemorySpace memory : memory_order) {
        auto use = std::find_if(uses.begin(), uses.end(), [&](const MemoryUse& u) { return u.memory == memory; });
        if (use == uses.end()) continue;
        report::MemorySpaceMap m;
        m.name = memory_word(memory);
        m.note = memory == isa::MemorySpace::vec && kernel->is_mix() ? "each AIV" : "";
        m.usable = c.chip->of(memory).bytes;
        m.physical = c.chip->of(memory).physical ? c.chip->of(memory).physical : m.usable;
        for (const Occupied& t : use->tiles) {
            report::MemoryGroup g;
            g.name = t.name;
            g.address = *std::min_element(t.addresses.begin(), t.addresses.end());
            g.slot_bytes = t.slot_bytes;
            g.slots = std::int32_t(t.addresses.size());
            if (t.addresses.size() > 1 && t.addresses[1] - t.addresses[0] != t.slot_bytes) g.stride = t.addresses[1] - t.addresses[0];
            g.shape = std::to_string(t.type.shape[0]) + "x" + std::to_string(t.type.shape[1]);
            g.dtype = std::string(isa::name(t.type.dtype));
            if (t.type.layout != isa::Layout::nd) g.layout = std::string(isa::name(t.type.layout));
            for (const auto& ids : t.mutex)
                for (std::int32_t id : ids) g.locks.push_back(id);
            for (int id : g.locks) {
                if (t.in_cube) cube_locks.insert(id);
                if (t.in_vector) vector_locks.insert(id);
            }
            g.stages = stages_of(c, t.name);
            g.channel = !t.fwd_ids.empty() || !t.bwd_ids.empty();
            g.ready_ids.assign(t.fwd_ids.begin(), t.fwd_ids.end());
            g.free_ids.assign(t.bwd_ids.begin(), t.bwd_ids.end());
            g.place = place_of(t.at, sources);
            m.groups.push_back(std::move(g));
        }
        for (std::size_t a = 0; a < use->tiles.size(); ++a)
            for (std::size_t b = a + 1; b < use->tiles.size(); ++b) {
                const Occupied &x = use->tiles[a], &y = use->tiles[b];
                std::int64_t from = -1, to = -1;
                bool same_locks = true;
                for (std::size_t i = 0; i < x.addresses.size(); ++i)
                    for (std::size_t k = 0; k < y.addresses.size(); ++k) {
                        std::int64_t begin = std::max(x.addresses[i], y.addresses[k]);
                        std::int64_t end = std::min(x.addresses[i] + x.slot_bytes, y.addresses[k] + y.slot_bytes);
                        if (begin >= end) continue;
                        from = from < 0 ? begin : std::min(from, begin);
                        to = std::max(to, end);
                        auto ids = [](const Occupied& t, std::size_t slot) { return slot < t.mutex.size() ? t.mutex[slot] : std::vector<std::int32_t>{}; };
                        std::vector<std::int32_t> p = ids(x, i), q = ids(y, k);
                        same_locks = same_locks && std::any_of(p.begin(), p.end(), [&](std::int32_t id) { return std::find(q.begin(), q.end(), id) != q.end(); });
                    }
                if (from < 0) continue;
                std::string note = same_locks ? "same locks" : "locks " + list(m.groups[a].locks) + " and " + list(m.groups[b].locks);
                if (!same_locks && m.groups[a].locks.empty() && m.groups[b].locks.empty()) note = "no locks: ordered by flags of the kernel's own";
                bool by_flags = m.groups[a].locks.empty() && m.groups[b].locks.empty();
                m.overlaps.push_back({x.name, y.name, from, to, same_locks || by_flags, note});
            }
        out.memories.push_back(std::move(m));
    }
    out.lock_limit = c.chip->mutex_ids;
    out.cube_locks = std::int32_t(cube_locks.size());
    out.vector_locks = std::int32_t(vector_locks.size());
    return out;
}

std::optional<report::CodeDiff> report_code_diff(const Compiled& c, const SourceMap& sources) {
    if (!c.generated || !c.source.function) return std::nullopt;
    const SourceFile& file = sources.file(c.source.function->at.file);
    return report::diff(file.name, file.text, c.generated->file_name, c.generated->text);
}

report::Panel report_panel(const Compiled& c, const SourceMap& sources, const PanelInput& input) {
    report::Panel p{compile_provenance(c)};
    p.kernel = c.name;
    p.target = c.chip ? c.chip->name + (c.target_origin == "default" ? "" : " (" + c.target_origin + ")") : "";
    p.preload = preload_text(c);
    p.compile_ms = c.timings.total_s * 1e3;
    bool noted = std::any_of(c.diagnostics.begin(), c.diagnostics.end(), [](const Diagnostic& d) { return d.severity != Severity::note; });
    if (noted) p.findings = report_refusal(c, sources);
    p.since = input.since;
    if (!input.version.empty()) p.versions.push_back(input.version);
    if (!c.ok()) return p;
    p.plan = report_sync_plan(c, sources);
    if (c.preload_origin == "override" && !p.preload.empty())
        p.decorator_line = "pipeline=pl.pipeline.PipelineConfig(preload=" + (c.preload.size() > 1 ? "[" + p.preload + "]" : p.preload) + ")";
    if (input.prediction && input.prediction->timeline) {
        p.timeline = input.prediction->timeline;
        p.provenance.stated_percent = p.timeline->provenance.stated_percent;
        p.provenance.derived_percent = p.timeline->provenance.derived_percent;
        p.provenance.guessed_percent = p.timeline->provenance.guessed_percent;
        p.provenance.estimated = p.timeline->provenance.estimated;
    } else if (input.prediction) {
        p.missing.emplace_back("timeline", input.prediction->missing);
    }
    p.memory = report_memory_map(c, sources);
    if (auto diff = report_code_diff(c, sources)) p.code = std::move(*diff);
    else p.missing.emplace_back("code", "no pipeline loop");
    p.cpp = input.cpp;
    if (c.verdict) {
        p.checks.push_back(verify::summary(*c.verdict));
        if (!c.verdict->coverage.text.empty()) p.checks.push_back(c.verdict->coverage.text);
    }
    return p;
}

} // namespace pto::driver
