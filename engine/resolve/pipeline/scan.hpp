#pragma once
/// Private to the analysis: what its steps share while one model is built.

#include "engine/resolve/pipeline/analyse.hpp"

#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace pto::pipeline {

using syntax::Body;
using syntax::Expr;
using syntax::ExprKind;
using syntax::FunctionRef;
using syntax::ScopeId;
using syntax::Stmt;
using syntax::StmtKind;

/// A loop while it is being read: tree nodes belong to Scan::body.
struct LoopNode {
    const Stmt* loop = nullptr;
    const Stmt* outer = nullptr;
    struct StageNode {
        const Stmt* section = nullptr; // null when the call stands bare (K13)
        const Stmt* statement = nullptr;
    };
    std::vector<StageNode> stages;
};

/// What a name or expression stands for as far as memory is concerned.
struct Memory {
    enum class Kind : std::uint8_t { none, group, tile, aggregate, tensor } kind = Kind::none;
    std::vector<BufferId> groups;        // group, tile: every group it may belong to
    std::string object;                  // make_tile tile, tuple of tiles, tensor: the kernel's name
    std::optional<isa::MemorySpace> space; // of `object`
    std::int32_t slots = 1;                // of `object`: a tuple of tiles chosen by a run-time index has several
    std::map<std::string, Memory> members; // aggregate
    bool operator==(const Memory&) const = default;
    bool tile_like() const { return kind == Kind::tile; }
};

class Scan {
  public:
    Scan(const syntax::KernelSource& kernel, syntax::Environment& names, const Facts& facts, const AnalyseOptions& options);

    const syntax::KernelSource& kernel;
    syntax::Environment& names;
    const Facts& facts;
    const AnalyseOptions& options;
    const isa::Catalogue& ops;
    Model model;
    Diagnostics diagnostics;
    Body body;                      // the kernel after folding
    std::vector<LoopNode> nodes;    // aligned with model.loops
    /// Names bound in the kernel, as each core sees them: [cube, vector]; names bound in the other core's sections are absent.
    std::map<std::string, Memory> kernel_memory[2];
    std::set<std::string> bound;    // names bound anywhere in the kernel, parameters included
    std::map<std::string, std::vector<const Stmt*>> assigned; // single-name assignments of the kernel, source order

    Diagnostic& report(Code code, Span at, std::string message);

    // names outside (constants.cpp)
    const syntax::Constant* outer(ScopeId scope, const std::string& name);
    /// The function a plain name is bound to, or null.
    const FunctionRef* function(ScopeId scope, const std::string& name);
    bool is_stage_call(const Expr& e); // plain name call of a tagged function, from the kernel
    /// "move", "system.set_cross_core", "vf.add" for a callee that names the language; empty otherwise.
    std::string operation(ScopeId scope, const Expr& callee);
    /// Integer value of a compile-time expression; kernel-level single assignments are followed when `in_kernel`.
    std::optional<std::int64_t> integer(ScopeId scope, const Expr& e, bool in_kernel, int depth = 0);
    std::optional<isa::DType> dtype(ScopeId scope, const Expr& e, bool in_kernel);
    std::optional<isa::MemorySpace> memory_space(ScopeId scope, const Expr& e);
    /// The TileType(...) call an expression is, directly or through one kernel variable; null otherwise.
    const Expr* tile_type(ScopeId scope, const Expr& e);
    std::optional<isa::MemorySpace> memory_of_type(ScopeId scope, const Expr& type, bool& literal);

    // steps, in order; false ends the analysis
    bool fold_constant_branches();   // fold.cpp        K1
    bool find_pipeline_loops();      // find_loops.cpp  K2 ... K7
    bool check_loops();              // loop_rules.cpp  K8 ... K18, S6
    bool read_buffers();             // buffers.cpp     K19 ... K23, S1
    void bind_kernel_names();        // bindings.cpp
    bool read_outer_picks();         // picks.cpp       K24 ... K26, S3
    bool scan_accesses();            // access_scan.cpp K27 ... K35, S2
    bool classify_arguments();       // arguments.cpp   section 11, S8
    bool check_generated_names();    // names.cpp       K36, S5, S7

    // shared by several steps
    using Names = std::map<std::string, Memory>;
    /// What an expression stands for, given the names around it. `as`: name a make_tile or a tuple gets.
    Memory memory_of(const Expr& e, const Names& here, ScopeId scope, const std::string& as = {}); // bindings.cpp
    /// The fixed point over the single-name assignments of a function's body, starting from its parameters.
    Names bind_function(const syntax::Function& f, ScopeId scope, Names parameters);
    /// g.next(), g.current(), g.previous() or g[e] of a followed group: the group's memory; kind none otherwise.
    Memory picked(const Expr& e, const Names& here, ScopeId scope);
    /// Section a kernel statement stands in (innermost section around it).
    Place place_of(const Span& at) const;
    static bool inside(const Stmt& outer, const Stmt& inner) { return outer.at.begin <= inner.at.begin && inner.at.end <= outer.at.end; }
    std::vector<std::pair<Span, Place>> sections; // every section block of the kernel

  private:
    std::map<std::pair<std::int32_t, std::string>, std::optional<syntax::Constant>> m_outer;
};

/// Cursors of outer picks used elsewhere; after the access scan, which knows what stages rotate.
void note_cursor_mix(Scan& s);
/// "section_cube" / "section_vector" when the statement is such a with; empty otherwise.
std::string section_of(const Stmt& s);
/// Core of a section statement.
std::optional<isa::Core> core_of(const Stmt& s);
/// The method name of g.next(), g.current(), g.previous(); empty otherwise.
std::string accessor(const Expr& e);
bool has_slice(const Expr& index);
/// An expression spelled out for a message; long ones are cut.
std::string spell(const Expr& e);
/// Calls f for every statement below, without entering nested function definitions.
template <class F> void walk_here(const Body& body, F&& f) {
    for (const Stmt& s : body) {
        f(s);
        if (s.kind == StmtKind::function) continue;
        walk_here(s.body, f);
        walk_here(s.orelse, f);
    }
}
/// Calls f for every expression directly held by one statement (not those of nested statements).
template <class F> void walk_exprs(const Stmt& s, F&& f) {
    syntax::walk(s.value, f);
    for (const Expr& t : s.targets) syntax::walk(t, f);
}

} // namespace pto::pipeline
