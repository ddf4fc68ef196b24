#pragma once
/// The pipeline model: what the automatic cube/vector pipeline transform knows about one kernel after its analysis. Stages in chain
/// order, what each touches on which pipe, which buffers share memory, which values travel in the ring. The schedule, the sync
/// plan, the rewriter, advice and views read this value; none of them looks at the tree again for a rule.
/// Source: pipeline reference, 4 to 9, 11, 12.

#include "engine/base/diagnostics.hpp"
#include "engine/ir/pipeline_facts.hpp"
#include "engine/isa/op_row.hpp"
#include "engine/syntax/environment.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pto::pipeline {

PTO_ID(BufferId); // index into Model::buffers
PTO_ID(StageId);  // index into Loop::stages, chain order
PTO_ID(PickId);   // index into Loop::picks

// ---------------------------------------------------------------- memory

/// fwd_ids or bwd_ids as declared.
struct IdList {
    bool given = false;
    std::vector<std::int32_t> ids;
    std::string name; // the outer name the user gave; empty for a literal list
    Span at;          // the argument's value
};

struct ByteRange {
    std::int64_t begin = 0, end = 0;
    bool overlaps(const ByteRange& o) const { return begin < o.end && o.begin < end; }
};

/// Sections a statement may stand in.
enum class Place : std::uint8_t { both, cube, vector };

/// One x = pl.make_tile_group(...). Groups without event ids are here too: an operation's pipe follows the memory of all its tiles.
struct Buffer {
    std::string name;
    Span at, name_at;                     // the statement; the target
    Place place = Place::both;            // section the declaration stands in
    std::optional<isa::MemorySpace> memory;
    bool memory_literal = false;          // written as pl.MemorySpace.X (K19)
    std::int32_t slots = 0;               // 0: not static
    std::int64_t slot_bytes = 0;          // 0: not static
    std::vector<ByteRange> ranges;        // one a slot; empty when the address does not evaluate
    bool addrs_is_base = false;           // a number; slots follow each other
    std::vector<std::vector<std::int32_t>> mutex_ids; // one list a slot; empty when not static or "auto"
    bool mutex_auto = false;
    IdList fwd, bwd;
    BufferId partner;                     // the one buffer it shares bytes with (counting pairs with a channel)
    bool tracked = false;                 // a channel, or overlaps one
    Span type_at, addrs_at, mutex_at, depth_at; // argument values; invalid when absent
    bool channel() const { return fwd.given || bwd.given; }
};

/// x = pl.make_tile(...): bytes that fixes must not give away.
struct FixedTile {
    std::string name;
    std::optional<isa::MemorySpace> memory;
    std::optional<ByteRange> range;
};

// ---------------------------------------------------------------- accesses

/// One thing a stage does to a tracked buffer. Distinct by (buffer, role, pipe), first occurrence kept, in source order.
struct Access {
    BufferId buffer;
    isa::Role role = isa::Role::read;
    isa::Pipe pipe = isa::Pipe::v;
    std::string op;        // "move"
    bool conditional = false; // every occurrence stands in a branch or loop
    Span at;               // the operation
    std::vector<Span> via; // calls of helpers that lead to it, outermost first
};

/// How a stage names the slot of an untracked group.
enum class SlotChoice : std::uint8_t {
    fixed,    // one tile, or a constant subscript
    rotating, // next(), previous(), current()
    by_value, // a subscript with a run-time index
};
/// One thing a stage does to memory that no event id protects.
struct LocalAccess {
    BufferId buffer;   // a local group, or
    std::string name;  // the kernel's name of a tile, tuple or tensor
    bool is_tensor = false;
    isa::Role role = isa::Role::read;
    isa::Pipe pipe = isa::Pipe::v;
    SlotChoice slot = SlotChoice::fixed;
    std::int32_t slots = 1;   // the memory has this many; 0 not static
    bool exposed = false;     // reads what an earlier task or another stage left there
    bool conditional = false; // inside an if or while
    Span at;
};

/// One operation of a stage as the locks of auto_mutex see it: operations that share a slot keep their order across pipes.
struct StageOp {
    isa::Pipe pipe = isa::Pipe::v;
    std::vector<std::int32_t> slots; // numbers of the picked slots with mutex ids, local to the stage
    bool conditional = false;
    Span at;
};

/// How often a stage rotates a group in one task, over all paths through it.
struct Rotation {
    BufferId buffer;
    std::int32_t least = 0, most = 0; // next() calls; 2 stands for "several"
    std::int32_t other = 0;           // current(), previous()
    std::int32_t subscripts = 0;
    Span at, second_at;
};

// ---------------------------------------------------------------- values that travel

/// A slot picked between the outer loop and the pipeline loop.
struct OuterPick {
    enum class How : std::uint8_t { next, current, previous, index } how = How::next;
    std::string variable;
    BufferId group;
    Span at, value_at, index_at;
    Place place = Place::both; // section the group is declared in
    std::string counter;       // "_pl_idx_qg": stands for the group's own cursor
    std::string index;         // variable and ctx field that carry the slot; the counter itself when one variable is picked
    bool carried = false;      // reaches a stage; otherwise rewritten only because it moves a carried group's cursor
};

struct Argument {
    enum class Kind : std::uint8_t { unchanged, structure, scalar, pick, expression } kind = Kind::unchanged;
    Span at;           // as written
    std::string field; // ctx field: scalar, expression
    PickId pick;
};

/// One field of the ring slot besides _pl_is_valid and _pl_task_id.
struct CtxField {
    std::string name;
    std::string zero;    // initial value, typed: "0", "0.0", "pl.const(0, pl.DT_INT32)", "[0, 0]"
    std::string value;   // what fills it: a name or "r.k"; empty when an expression does
    Span expression;     // the argument that fills it
    std::int32_t length = 0; // fixed array: elements
    Place place = Place::both;      // where it is filled
    bool in_both_sections = false;  // bound separately in a cube and in a vector section: filled in both
    Span from;                      // the argument or binding it comes from
};

// ---------------------------------------------------------------- loops

struct Stage {
    std::string name;
    isa::Core core = isa::Core::cube;
    syntax::Expr call;
    Span statement, section, section_header;
    syntax::FunctionRef function;
    std::vector<Argument> arguments;
    std::vector<Access> accesses;
    std::vector<LocalAccess> locals;
    std::vector<Rotation> rotations;
    std::vector<StageOp> ops;      // source order
};

struct Loop {
    std::int32_t index = 0;
    std::string suffix;             // "" for loop 0, "_1", "_2" ...
    std::int32_t preload = 0;       // as asked for
    Span at, header, iterable;
    Span outer, outer_header;       // the outermost for on the path; the loop itself when top level
    std::string variable;
    Span stop;                      // the end expression
    std::vector<Stage> stages;
    std::vector<Span> zone1, zone3; // statements before the first and after the last stage section
    std::vector<LocalAccess> zone1_locals[2], zone3_locals[2]; // what they touch, by core
    std::vector<LocalAccess> outer_locals[2]; // what the outer body around the loop touches in front of it, by core
    bool barrier_before = false;    // a full barrier surely runs between the previous pipeline loop and this one
    Span last_statement;
    std::vector<BufferId> declared_channels; // channels this loop touches, breadth-first order of their declarations
    std::vector<OuterPick> picks;
    std::vector<CtxField> fields;            // sorted by name
    Diagnostics when_pipelined;              // rules that only bind when preload > 0
    std::int32_t outer_column = -1;          // indentation of the outer loop in bytes; -1 unknown
    bool is_top_level() const { return outer == at; }
};

/// An `if` whose condition is constant: only the taken branch remains.
struct FoldedBranch {
    Span at, header, condition, taken; // taken: from its first to its last statement; invalid when nothing is taken
    bool value = false;
    bool taken_is_else = false;
};

struct Model {
    syntax::KernelSource source;
    std::string language;          // how the kernel spells the language module: "pl"
    std::vector<Buffer> buffers;   // in breadth-first order of declaration
    std::vector<FixedTile> tiles;
    std::vector<Loop> loops;       // source order
    std::vector<FoldedBranch> folded;
    std::set<std::string> names;   // every name used in the kernel
    bool empty() const { return loops.empty(); }
    const Buffer& operator[](BufferId id) const { return buffers[std::size_t(id.index)]; }
};

/// Rules the peer does not check: it compiles the program, which then may hang, race or compute something else. A caller that only
/// warns may lower them; every other error means that there is nothing to emit.
inline bool is_stricter(Code c) {
    switch (c) {
    case Code::channel_space: case Code::channel_rotation: case Code::channel_cursor_one_core: case Code::missing_barrier:
    case Code::reserved_name: case Code::id_twice: case Code::struct_fields_clash: case Code::pipeline_stage_outside_loop:
    case Code::pipeline_break: case Code::pipeline_return: case Code::pipeline_body_pick: case Code::pipeline_mixed_argument:
    case Code::pipeline_carried_state: case Code::pipeline_gm_handover: case Code::pipeline_unprotected: case Code::pipeline_channel_alias:
    case Code::pipeline_cursor_mix: case Code::pipeline_permits: return true;
    default: return false;
    }
}
/// True when something other than a stricter rule was broken.
inline bool blocks(const Diagnostics& list) {
    for (const Diagnostic& d : list)
        if (d.severity == Severity::error && !is_stricter(d.code)) return true;
    return false;
}

/// The model as text: loops, stages, accesses, buffers. Deterministic.
std::string print(const Model& model);

} // namespace pto::pipeline
