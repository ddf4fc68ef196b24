#pragma once

/// One walk over a stage, or over what stands around the stages: which memory each operation touches, in which role, on which pipe.
/// Pipeline reference, 9. Private to access_scan.cpp.
///   in    the scan with its names, buffers and functions; a stage, or statements of the loop around the stages
///   out   accesses, operations and rotations in the stage; local accesses in the stage or the zone
///   fails never: what cannot be traced is a diagnostic of the scan (K27 to K35)

#include "engine/resolve/pipeline/scan.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pto::pipeline {

/// How often a stage takes slots of one buffer in a task.
struct Count {
    std::int32_t least = 0, most = 0;
    Span first, second;
    std::int32_t other = 0, subscripts = 0;
    void add(const Count& c);
};
using Counts = std::map<std::int32_t, Count>; // by buffer

class Walk {
public:
    using Names = Scan::Names;
    Walk(Scan& s, Stage* stage, isa::Core core) : m_s(s), m_stage(stage), m_core(core), m_locals(stage ? &stage->locals : nullptr) {}
    Walk(Scan& s, isa::Core core, std::vector<LocalAccess>& zone) : m_s(s), m_stage(nullptr), m_core(core), m_locals(&zone) {}

    void run_stage();
    void run_zone(const std::vector<const Stmt*>& statements);
    /// The body of the outer loop in front of the pipeline loop: once an outer iteration. Nothing here is refused, only noted.
    void run_outer(const Body& body, const Stmt* loop);
    /// K33 for a slot taken in the argument list of a stage call.
    void run_arguments(const Expr& call);

private:
    struct Frame {
        const FunctionRef* function;
        ScopeId scope;
        Names names;
        std::map<std::string, std::int32_t> roots; // which picked slot a name holds, for "read before written"
        bool conditional = false;                  // inside a branch or loop
        bool behind_return = false;                // an early return may have ended the function
    };
    struct Touched {
        Memory memory;
        isa::Role role;
        const Expr* argument;
        bool known = true;
    };

    // walk_statements.cpp
    bool outer(Frame& frame, const Body& body, const Stmt* loop);
    void walk(Frame& frame, const Body& body);
    void walk(Frame& frame, const Stmt& st);
    void branch(Frame& frame, const Stmt& st);
    void repeat(Frame& frame, const Stmt& st);
    void returned(Frame& frame, const Stmt& st);
    Counts sometimes(Frame& frame, const Body& body);
    void assign(Frame& frame, const Stmt& st);
    void pick(Frame& frame, const std::string& name, const Expr& value, const Memory& group);
    void refuse_pick_in_loop(BufferId g, Span at);
    void element(Frame& frame, const Expr& target, isa::Role role);
    void expr(Frame& frame, const Expr& e);
    void inline_pick(Frame& frame, const Expr& e, const Memory& group);

    // walk_calls.cpp
    void bind_arguments(const Expr& call, const syntax::Function& f, const Names& here, ScopeId scope, Names& parameters, std::map<std::string, std::int32_t>& roots,
                        const std::map<std::string, std::int32_t>& outer_roots);
    void call(Frame& frame, const Expr& e);
    /// Nobody knows what this call does: what it was given counts as written, so that no later read looks carried over.
    void assume_written(Frame& frame, const Expr& e);
    void helper_call(Frame& frame, const Expr& e, const FunctionRef& f);
    std::optional<isa::MemorySpace> space_of(const Memory& m) const;
    bool tracked(const Memory& m) const;
    std::string tracked_name(const Memory& m) const;
    void block_op(Frame& frame, const Expr& e, const std::string& op);
    std::optional<isa::Pipe> pipe_of(Frame& frame, const Expr& e, const std::string& op, const isa::OpRow& row, const Touched* first_tracked);

    // walk_vector.cpp
    void vector_call(Frame& frame, const Expr& e, const FunctionRef& f);
    void vector_roles(const FunctionRef& f, const std::vector<bool>& is_tile, const std::vector<bool>& watched, std::vector<isa::Role>& roles,
                      std::vector<const syntax::Function*>& chain, Span call_at);

    // walk_records.cpp
    void record(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, const std::string& op, Span at, const Expr& argument);
    /// Slots the operation locks; operands recorded at one place are one operation.
    void note_op(const Frame& frame, const Memory& m, isa::Pipe pipe, Span at, std::int32_t root);
    /// Number of the slot an operand names: what its variable was picked as, else the object itself.
    std::int32_t root_of(const Frame& frame, const Memory& m, const Expr& argument);
    void wrote(std::int32_t root, const Memory& m);
    void record_local(Frame& frame, const Memory& m, isa::Role role, isa::Pipe pipe, Span at, const Expr& argument);

    std::vector<Span> via() const {
        std::vector<Span> out;
        for (const auto& [f, at] : m_chain) out.push_back(at);
        return out;
    }
    void label_chain(Diagnostic& d) const {
        for (const auto& [f, at] : m_chain) d.labels.push_back({at, "`" + f->name + "` is called here"});
    }

    Scan& m_s;
    Stage* m_stage;
    isa::Core m_core;
    std::vector<LocalAccess>* m_locals;
    bool m_refuse = true; // K33, K34 for what stands around stages
    std::vector<std::pair<const syntax::Function*, Span>> m_chain; // helpers being walked
    Counts m_counts;
    std::int32_t m_next_root = 1;
    std::map<std::string, std::int32_t> m_object_roots; // slots named without a pick: "g[3]", tiles
    std::map<std::int32_t, SlotChoice> m_choice;        // by root
    std::set<std::int32_t> m_written, m_written_groups;
    std::set<std::int32_t> m_fresh; // slots picked by next()
    Span m_last_op;
};

} // namespace pto::pipeline
