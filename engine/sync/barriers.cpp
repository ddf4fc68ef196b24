/// S4: a later pipeline loop may not begin while an earlier one that shares its ids, memory or tensors is still draining.

#include "engine/sync/graph.hpp"

#include <map>
#include <set>

namespace pto::sync {
namespace {

/// A tile or tensor by its name. What one core alone touches keeps its order without a barrier, or the proof on the program says where not.
struct ObjectUse {
    bool written = false;
    bool on[2] = {false, false}; // by isa::Core
    Span at;
};

struct Footprint {
    std::map<std::pair<isa::Core, std::int32_t>, Span> ids; // setting core and id
    std::map<std::int32_t, Span> buffers;
    std::map<std::string, ObjectUse> objects;
};

Footprint footprint(const pipeline::Loop& loop, const LoopPlan& plan) {
    Footprint f;
    for (const Edge& e : plan.edges)
        if (e.emitted())
            for (std::int32_t id : e.ids) f.ids.emplace(std::pair{e.from.core, id}, e.to.at);
    auto add = [&](const pipeline::LocalAccess& a, isa::Core core) {
        if (a.buffer.valid()) {
            f.buffers.emplace(a.buffer.index, a.at);
            return;
        }
        ObjectUse& use = f.objects[a.name];
        use.written |= isa::writes(a.role), use.on[int(core)] = true;
        if (!use.at.valid()) use.at = a.at;
    };
    for (const pipeline::Stage& st : loop.stages) {
        for (const pipeline::Access& a : st.accesses) f.buffers.emplace(a.buffer.index, a.at);
        for (const pipeline::LocalAccess& a : st.locals) add(a, st.core);
    }
    for (int core = 0; core < 2; ++core) {
        for (const pipeline::LocalAccess& a : loop.zone1_locals[core]) add(a, isa::Core(core));
        for (const pipeline::LocalAccess& a : loop.zone3_locals[core]) add(a, isa::Core(core));
    }
    return f;
}

/// What the two share, as a phrase; empty when provably nothing. Memory only one core can reach needs no barrier between loops.
std::string shared(const pipeline::Model& m, const Footprint& a, const Footprint& b, Span& first, Span& second) {
    for (const auto& [key, at] : a.ids)
        if (auto found = b.ids.find(key); found != b.ids.end()) {
            first = at, second = found->second;
            return "event id " + std::to_string(key.second);
        }
    auto both_cores = [&](const pipeline::Buffer& x) { return !x.memory || *x.memory == isa::MemorySpace::vec || *x.memory == isa::MemorySpace::mat; };
    auto touch = [&](const pipeline::Buffer& x, const pipeline::Buffer& y) {
        if (&x == &y) return true;
        if (x.memory && y.memory && *x.memory != *y.memory) return false;
        if (x.ranges.empty() || y.ranges.empty()) return true; // not static: cannot be ruled out
        for (const pipeline::ByteRange& r : x.ranges)
            for (const pipeline::ByteRange& s : y.ranges)
                if (r.overlaps(s)) return true;
        return false;
    };
    for (const auto& [i, at] : a.buffers)
        for (const auto& [j, there] : b.buffers) {
            const pipeline::Buffer &x = m.buffers[std::size_t(i)], &y = m.buffers[std::size_t(j)];
            if (!(x.channel() || y.channel()) || !both_cores(x) || !touch(x, y)) continue;
            first = at, second = there;
            return i == j ? "buffer `" + x.name + "`" : "bytes of `" + x.name + "` and `" + y.name + "`";
        }
    for (const auto& [name, use] : a.objects)
        if (auto found = b.objects.find(name); found != b.objects.end()) {
            const ObjectUse& later = found->second;
            if (!(use.written || later.written) || !(use.on[0] || later.on[0]) || !(use.on[1] || later.on[1])) continue;
            first = use.at, second = later.at;
            return "`" + name + "`";
        }
    return {};
}

} // namespace

void check_barriers(const pipeline::Model& model, const SyncPlan& plan, Diagnostics& out) {
    std::vector<Footprint> prints;
    for (std::size_t i = 0; i < plan.loops.size(); ++i) prints.push_back(footprint(model.loops[i], plan.loops[i]));
    std::size_t since = 0; // first loop behind the last barrier
    for (std::size_t j = 1; j < prints.size(); ++j) {
        if (model.loops[j].barrier_before) {
            since = j;
            continue;
        }
        for (std::size_t i = j; i-- > since;) {
            Span first, second;
            const std::string what = shared(model, prints[i], prints[j], first, second);
            if (what.empty()) continue;
            Diagnostic d = diagnose(Code::missing_barrier, model.loops[j].outer_header, "this pipeline loop shares " + what + " with the one before it, which may still be draining on the other core");
            d.labels.push_back({model.loops[i].outer_header, "the earlier pipeline loop"});
            if (first.valid()) d.labels.push_back({first, "used here"});
            if (second.valid()) d.labels.push_back({second, "and here"});
            const Span at{model.loops[j].outer.file, model.loops[j].outer.begin, model.loops[j].outer.begin};
            const std::string line = model.language + ".system.sync_all(core_type=" + model.language + ".SyncCoreType.MIX)";
            if (const std::int32_t column = model.loops[j].outer_column; column >= 0)
                d.fix = Fix{"put a full barrier between the loops", {{at, line + "\n" + std::string(std::size_t(column), ' ')}}};
            else
                d.advice.push_back("put `" + line + "` between the loops");
            out.push_back(std::move(d));
            break;
        }
    }
}

} // namespace pto::sync
