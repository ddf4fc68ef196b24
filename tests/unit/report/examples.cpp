#include "tests/unit/report/examples.hpp"

#include <numeric>

namespace pto::report::examples {

namespace {

Provenance planned() { return {"nothing was run", "verifier", {}}; }

/// Edges, sites, prefire and drain of one channel from producer `p` to consumer `c`.
void channel(PlanLoop& loop, std::size_t p, std::size_t c, const std::string& buffer, const std::string& write_pipe, const std::string& read_pipe,
             std::vector<int> forward, std::vector<int> backward) {
    const PlanStage &from = loop.stages[p], &to = loop.stages[c];
    std::int32_t slots = 2;
    for (const PlanBuffer& b : loop.buffers)
        if (b.name == buffer) slots = b.slots;
    HandOver ready, free;
    ready.direction = Direction::ready;
    ready.from = from.name, ready.to = to.name, ready.buffer = buffer;
    ready.set_pipe = write_pipe, ready.wait_pipe = read_pipe, ready.ids = std::move(forward);
    ready.distance = to.delay - from.delay;
    free = ready;
    free.direction = Direction::free;
    free.from = to.name, free.to = from.name;
    free.set_pipe = read_pipe, free.wait_pipe = write_pipe, free.ids = std::move(backward);
    free.task_offset = free.permits = slots;
    free.distance = slots - ready.distance;
    loop.edges.push_back(ready);
    loop.edges.push_back(free);
}

/// Sites from the enforced edges: waits of a stage in order ready-in then free-out, sets likewise.
void place_sites(PlanLoop& loop) {
    for (const PlanStage& s : loop.stages) {
        for (const HandOver& e : loop.edges)
            if (e.enforced && e.to == s.name) loop.sites.push_back({s.name, true, e.wait_pipe, e.buffer, e.direction, e.ids, 2, 0});
        for (const HandOver& e : loop.edges)
            if (e.enforced && e.from == s.name) loop.sites.push_back({s.name, false, e.set_pipe, e.buffer, e.direction, e.ids, 2, 0});
    }
    const auto permit = [](std::vector<PermitGroup>& groups, isa::Core core, const std::string& pipe, const HandOver& e) {
        PermitGroup* found = nullptr;
        for (PermitGroup& g : groups)
            if (g.core == core && g.pipe == pipe) found = &g;
        if (!found) found = &groups.emplace_back(PermitGroup{core, pipe, {}});
        for (int i = 0; i < e.permits; ++i) found->ids.push_back(e.ids[std::size_t(i) % e.ids.size()]);
    };
    for (const HandOver& e : loop.edges) {
        if (!e.enforced || e.permits == 0) continue;
        for (const PlanStage& s : loop.stages) {
            if (s.name == e.from) permit(loop.prefire, s.core, e.set_pipe, e);
            if (s.name == e.to) permit(loop.drain, s.core, e.wait_pipe, e);
        }
    }
}

Proof proven() {
    Proof p;
    p.no_hang = p.no_race = p.bounded = p.balanced = true;
    p.max_pending = 1;
    p.assumes = "auto_mutex keeps the order inside each core";
    return p;
}

PlanLoop relu_loop() {
    using isa::Core;
    PlanLoop l;
    l.name = "ki";
    l.place = {"In[4]", 70, 9};
    l.preload = 2, l.ring_depth = 4, l.drain_beats = 3, l.tasks = 4;
    l.stages = {{"stage1", Core::cube, 0, {"In[4]", 5, 1}, "load A, matmul with B, move Acc to mm1"},
                {"stage2", Core::vector, 1, {"In[4]", 19, 1}, "relu of its half, ND to NZ, insert into p"},
                {"stage3", Core::cube, 2, {"In[4]", 29, 1}, "matmul of p with D, move Acc to out"},
                {"stage4", Core::vector, 3, {"In[4]", 42, 1}, "store its half to GM"}};
    l.buffers = {{"mm1", "UB", 0x0, "32x64", "fp32", "", 2, "task mod 2", {"In[4]", 50, 5}},
                 {"p", "L1", 0x8000, "64x64", "fp32", "NZ", 2, "task mod 2", {"In[4]", 56, 5}},
                 {"out", "UB", 0x10000, "32x64", "fp32", "", 2, "task mod 2", {"In[4]", 52, 5}}};
    l.proof = proven();
    return l;
}

SyncPlan finished(PlanLoop l, std::vector<std::int32_t> pending = std::vector<std::int32_t>(16, 1)) {
    place_sites(l);
    fill_ids(l, 16, pending);
    fill_beats(l);
    return {planned(), "relu_matmul", "ascend950pr", {std::move(l)}};
}

} // namespace

SyncPlan relu_matmul_plan() {
    PlanLoop l = relu_loop();
    channel(l, 0, 1, "mm1", "FIX", "V", {0, 1}, {2, 3});
    channel(l, 1, 2, "p", "MTE3", "MTE1", {4, 5}, {6, 7});
    channel(l, 2, 3, "out", "FIX", "MTE3", {8, 9}, {10, 11});
    return finished(std::move(l));
}

SyncPlan shared_id_plan() {
    PlanLoop l = relu_loop();
    channel(l, 0, 1, "mm1", "FIX", "V", {0, 1}, {2, 3});
    channel(l, 1, 2, "p", "MTE3", "MTE1", {4}, {5});
    channel(l, 2, 3, "out", "FIX", "MTE3", {8, 9}, {10, 11});
    l.edges[2].note = l.edges[3].note = "hand-over one at a time";
    std::vector<std::int32_t> pending(16, 1);
    pending[4] = pending[5] = 2;
    l.proof.max_pending = 2;
    return finished(std::move(l), pending);
}

SyncPlan forward_only_plan() {
    PlanLoop l = relu_loop();
    channel(l, 0, 1, "mm1", "FIX", "V", {0, 1}, {2, 3});
    channel(l, 1, 2, "p", "MTE3", "MTE1", {4, 5}, {});
    channel(l, 2, 3, "out", "FIX", "MTE3", {8, 9}, {10, 11});
    HandOver& missing = l.edges[3];
    missing.enforced = false, missing.racy = true, missing.permits = 0;
    missing.note = "not enforced: no bwd_ids";
    l.proof.no_race = false;
    l.proof.open = {"p may be overwritten while stage3 reads it"};
    return finished(std::move(l));
}

SyncPlan address_reuse_plan() {
    PlanLoop l = relu_loop();
    l.buffers[2].address = 0;
    channel(l, 0, 1, "mm1", "FIX", "V", {0, 1}, {2, 3});
    channel(l, 1, 2, "p", "MTE3", "MTE1", {4, 5}, {6, 7});
    channel(l, 2, 3, "out", "FIX", "MTE3", {8, 9}, {10, 11});
    HandOver e;
    e.direction = Direction::free;
    e.from = "stage4", e.to = "stage1", e.buffer = "mm1", e.shares_with = "out";
    e.set_pipe = "MTE3", e.wait_pipe = "FIX", e.ids = {12, 13};
    e.distance = 1, e.task_offset = 2, e.permits = 2, e.chosen = true;
    l.edges.push_back(e);
    return finished(std::move(l));
}

SyncPlan chain_plan(int stages, std::int64_t tasks) {
    PlanLoop l;
    l.name = "i";
    l.place = {"In[7]", 90, 5};
    l.preload = stages > 1 ? 2 : 0, l.ring_depth = stages, l.drain_beats = stages - 1, l.tasks = tasks;
    for (int i = 0; i < stages; ++i)
        l.stages.push_back({"stage" + std::to_string(i + 1), i % 2 ? isa::Core::vector : isa::Core::cube, i, {"In[7]", 4 + 8 * i, 1}, ""});
    int id = 0;
    for (int i = 0; i + 1 < stages; ++i) {
        const std::string name = "channel" + std::to_string(i + 1);
        l.buffers.push_back({name, i % 2 ? "L1" : "UB", 0x4000 * i, "64x64", "fp16", i % 2 ? "NZ" : "", 2, "task mod 2", {"In[7]", 70 + i, 5}});
        // Seven channels do not get 28 ids: one id a direction and channel.
        channel(l, std::size_t(i), std::size_t(i) + 1, name, i % 2 ? "MTE3" : "FIX", i % 2 ? "MTE1" : "V", {id}, {id + 1});
        id += 2;
    }
    l.proof = proven();
    l.proof.max_pending = stages > 1 ? 2 : 0;
    std::vector<std::int32_t> pending(16, 2);
    place_sites(l);
    fill_ids(l, 16, pending);
    fill_beats(l);
    return {planned(), "chain", "ascend950pr", {std::move(l)}};
}

} // namespace pto::report::examples
