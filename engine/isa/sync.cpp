/// Synchronisation. Source: language 4.2 to 4.5; codegen 2.4.
#include "engine/isa/families.hpp"
#include "engine/isa/row_parts.hpp"

namespace pto::isa {
using namespace parts;

void add_sync(Catalogue& c) {
    std::vector<Keyword> flag{choice("set_pipe", EnumKind::Pipe, {}, true), choice("wait_pipe", EnumKind::Pipe, {}, true),
                              key("event_id", KeywordKind::scalar, {}, true)};
    c.add({.name = "system.sync_src", .family = "sync", .keywords = flag, .pipe = PipeRule::by_keyword, .semantics = Semantics::flag_set,
           .timing = "sync.flag", .emit = "set_flag(PIPE_{set_pipe}, PIPE_{wait_pipe}, EVENT_ID{event_id})",
           .doc = "Raises a flag of this core once all earlier work of set_pipe is complete. The flag is binary: it must be awaited before it is set again.",
           .source = "language 4.2"});
    c.add({.name = "system.sync_dst", .family = "sync", .keywords = flag, .pipe = PipeRule::by_keyword, .semantics = Semantics::flag_wait,
           .timing = "sync.flag", .emit = "wait_flag(PIPE_{set_pipe}, PIPE_{wait_pipe}, EVENT_ID{event_id})",
           .doc = "Holds later work of wait_pipe until the flag is raised, then clears it.", .source = "language 4.2"});

    auto barrier = [&](std::string_view name, PipeRule pipe, std::string_view emit, std::string_view doc) {
        c.add({.name = name, .family = "sync", .pipe = pipe, .semantics = Semantics::barrier, .timing = "sync.barrier", .emit = emit,
               .doc = doc, .source = "language 4.3"});
    };
    barrier("system.bar_m", PipeRule::m, "pipe_barrier(PIPE_M)", "Drains the matrix pipe: what follows on it starts after everything before it is complete. Cube only.");
    barrier("system.bar_mte1", PipeRule::mte1, "pipe_barrier(PIPE_MTE1)", "Drains pipe MTE1. Cube only.");
    barrier("system.bar_fix", PipeRule::fix, "pipe_barrier(PIPE_FIX)", "Drains the fixpipe. Cube only.");
    barrier("system.bar_mte2", PipeRule::mte2, "pipe_barrier(PIPE_MTE2)", "Drains pipe MTE2: needed between two loads into the same tile without a reader in between.");
    barrier("system.bar_mte3", PipeRule::mte3, "pipe_barrier(PIPE_MTE3)", "Drains pipe MTE3.");
    barrier("system.bar_all", PipeRule::all, "pipe_barrier(PIPE_ALL)", "Drains all pipes of this core. Orders no other core.");

    std::vector<Keyword> cross{choice("pipe", EnumKind::Pipe, {}, true), key("event_id", KeywordKind::scalar, {}, true),
                               choice("sync_mode", EnumKind::CrossCoreSyncMode, "INTRA_BLOCK")};
    c.add({.name = "system.set_cross_core", .family = "sync", .keywords = cross, .pipe = PipeRule::by_keyword, .semantics = Semantics::cross_set,
           .timing = "sync.cross",
           .doc = "Signals other cores once this core's earlier work on pipe is complete. Flags count; at most 15 sets of one id may be outstanding. In "
                  "INTRA_BLOCK mode one set of the cube reaches both vector cores.",
           .source = "language 4.4"});
    c.add({.name = "system.wait_cross_core", .family = "sync", .keywords = cross, .pipe = PipeRule::by_keyword, .semantics = Semantics::cross_wait,
           .timing = "sync.cross",
           .doc = "Holds later work of pipe until another core has set the id, and consumes one set. In INTRA_BLOCK mode the cube waits for both vector cores.",
           .source = "language 4.4"});
    c.add({.name = "system.sync_all", .family = "sync", .operands = {{"workspaces", K::list, Role::none, true}},
           .keywords = {choice("core_type", EnumKind::SyncCoreType, "MIX"), choice("mode", EnumKind::SyncAllMode, "HARD")},
           .pipe = PipeRule::s, .semantics = Semantics::sync_all, .timing = "sync.all",
           .doc = "All cores of the given type meet here, with all earlier work of their pipes complete. Deadlocks when the launch has more blocks than the "
                  "chip has cores.",
           .source = "language 4.5"});

    std::vector<Keyword> mutex{choice("pipe", EnumKind::Pipe, {}, true), key("mutex_id", KeywordKind::scalar, {}, true), key("mode", KeywordKind::integer, "0"),
                               key("max_mutex_id", KeywordKind::integer, "2"), key("mutex_ids", KeywordKind::integer_list)};
    for (std::string_view prefix : {"system", "mutex"}) {
        bool alias = prefix == "mutex";
        c.add({.name = alias ? "mutex.mutex_lock" : "system.mutex_lock", .family = "sync", .keywords = mutex, .pipe = PipeRule::by_keyword,
               .semantics = Semantics::mutex_lock, .timing = "sync.mutex", .emit = "get_buf(PIPE_{pipe}, {mutex_id}, 0)",
               .doc = "Takes buffer lock mutex_id for a pipe: waits until every earlier holder on another pipe, in program order, has released it.",
               .source = "language 4.5"});
        c.add({.name = alias ? "mutex.mutex_unlock" : "system.mutex_unlock", .family = "sync", .keywords = mutex, .pipe = PipeRule::by_keyword,
               .semantics = Semantics::mutex_unlock, .timing = "sync.mutex", .emit = "rls_buf(PIPE_{pipe}, {mutex_id}, 0)",
               .doc = "Releases a buffer lock once the pipe's earlier work is complete; on the pipe that took it.", .source = "language 4.5"});
    }
}

} // namespace pto::isa
