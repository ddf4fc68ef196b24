#pragma once
/// The sync plan: every hand-over between the cores of a pipeline, with the ids that carry it, where they are set and awaited.
/// Source: pipeline reference, 13 to 15.

#include "engine/base/diagnostics.hpp"
#include "engine/ir/pipeline.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pto::sync {

using pipeline::BufferId;
using pipeline::StageId;

enum class EdgeKind : std::uint8_t {
    raw, // the reader waits until the data is there
    war, // the writer waits until the slot is free
    waw, // a writer waits for an earlier writer (never drawn by the peer)
};
std::string_view name(EdgeKind k);

/// One end of a dependency: an access of a stage.
struct EdgeEnd {
    StageId stage;
    BufferId buffer;
    isa::Role role = isa::Role::read;
    isa::Pipe pipe = isa::Pipe::v;
    isa::Core core = isa::Core::cube;
    std::int32_t seq = 0; // number of the access in chain and source order
    Span at;
};

/// Why an edge has no event id.
enum class Silent : std::uint8_t {
    no,         // it is emitted
    same_core,  // program order and auto_mutex keep it
    no_ids,     // the buffer declares no ids for this direction
    redundant,  // the chain of forward ids orders it
};

struct Edge {
    EdgeKind kind = EdgeKind::raw;
    EdgeEnd from, to;
    std::int32_t distance = 0;     // beats from source to destination
    std::int32_t task_offset = 0;  // tasks from source to destination; for WAR also the permits set before the loop
    Silent silent = Silent::no;
    bool added_by_us = false;      // beyond the peer's graph
    bool borrowed = false;         // uses the lender's bwd_ids
    bool allocated = false;        // ids were chosen here
    bool degraded = false;         // one id for all slots because ids ran short
    BufferId ids_of;               // whose declared list carries it
    bool forward = false;          // its fwd_ids rather than its bwd_ids
    std::vector<std::int32_t> ids; // empty when silent
    std::string list;              // name of the list in the generated code
    bool ordered = true;           // silent and cross-core: the emitted edges order it anyway (stages taken as whole)
    std::int32_t slots = 1;        // slots of the region
    bool emitted() const { return silent == Silent::no; }
};

/// One set or wait inside the loop.
struct Site {
    StageId stage;
    bool before = true;            // waits stand before the stage call, sets after it
    bool is_wait = true;
    isa::Pipe pipe = isa::Pipe::v;
    std::vector<std::int32_t> ids; // id = ids[task mod slot_count]
    std::int32_t slot_count = 1;   // length of the list
    std::string list;
    std::int32_t edge = 0;         // index into LoopPlan::edges
};

/// One set before the outer loop, or one wait behind it.
struct Permit {
    isa::Core core = isa::Core::cube;
    isa::Pipe pipe = isa::Pipe::v;
    std::int32_t id = 0, index = 0; // id = list[index]
    std::string list;
    std::int32_t edge = 0;
};

/// An id list the generated code declares in front of the outer loop.
struct DeclaredList {
    std::string name;
    std::vector<std::int32_t> ids;
};

struct LoopPlan {
    std::vector<Edge> edges;            // in order of discovery
    std::vector<Site> sites;            // chain order; a stage's waits, then its sets
    std::vector<Permit> prefire, drain; // grouped by core in order of first appearance
    std::vector<DeclaredList> lists;    // in order of declaration
    std::vector<DeclaredList> auto_ids; // the allocated ones among them
};

struct SyncPlan {
    std::vector<LoopPlan> loops;        // aligned with Model::loops
};

/// Edges, sites, prefire, drain and lists of one loop as text.
std::string print(const pipeline::Model& model, const pipeline::Loop& loop, const LoopPlan& plan);

} // namespace pto::sync
