#pragma once
/// Resolution of a kernel for one core: a partial evaluator over the tree that writes IR as it goes. Private to the room; its
/// member functions live in the file named after their subject.

#include "engine/resolve/shared.hpp"

#include <string_view>
#include <unordered_map>

namespace pto::resolve {

/// What a name is bound to now.
struct State {
    Value value;
    Span at;                  // of the binding
    bool in_slot = false;     // the run-time slot holds the value too (always so for values of the running kernel)
    bool header = false;      // still the value the innermost loop started its iteration with
    bool header_read = false; // ... and the body has read it
};

struct Name {
    std::string_view text;
    State state;
    Value slots; // where run-time values of this name live: a variable, a tile handle, a register, a tuple of such
};

enum class FrameKind : std::uint8_t { kernel, helper, stage, vector };

/// One function being resolved.
struct Frame {
    FrameKind kind = FrameKind::kernel;
    const syntax::Function* function = nullptr;
    syntax::ScopeId scope;
    Frame* caller = nullptr;
    Span call;
    std::unordered_map<std::string_view, int> index;
    std::vector<Name> names;
    int loops = 0;        // loops of this function around the current statement
    int jumpy_loops = 0;  // ... that hold a break or continue
    int branches = 0;     // run-time branches around the current statement
    // returns of an inlined function
    Value result;               // tail return: the value; otherwise where nested returns put it
    Span result_at;
    bool has_result = false, nested_return = false, return_in_loop = false;
    ir::VarId return_flag;
};

enum class Flow : std::uint8_t { next, ends }; // ends: nothing after the statement runs

/// Names a loop body writes, for one core.
struct Written {
    std::vector<std::string_view> names;
    bool jumps = false; // break, continue or return below
};

/// Where the result of a call goes: operations on registers look at it.
struct Targets {
    const syntax::Expr* target = nullptr;
    std::size_t count = 0;
};

class Target {
  public:
    Target(Shared& shared, isa::Core core) : m_shared(shared), m_core(core) {}
    ir::Function run();
    pipeline::Facts facts() { return std::move(m_facts); }

  private:
    // ---- target.cpp: emission, diagnostics, frames
    ir::Stmt& emit(decltype(ir::Stmt::what) what, Span at);
    Diagnostic& report(Code code, Span at, std::string message);
    /// Reports and gives the error value.
    Value fail(Code code, Span at, std::string message);
    ir::ExprId literal(std::int64_t i, isa::DType t, Span at);
    ir::ExprId leaf(ir::Expr e);      // reads of the running kernel's state; hoisted out of vector functions
    ir::ExprId read(ir::VarId v, Span at);
    ir::VarId new_variable(std::string_view name, isa::DType t, Span at, bool pointer = false);
    ir::TileVarId new_tile(std::string_view name, const isa::TileType& type, std::vector<ir::TileDeclId> may_be, Span at);
    std::string_view text(Span at) const { return m_shared.sources.text(at); }
    void note_names();
    /// Slots of groups with mutex_ids="auto" (id -1 until now): the lowest ids nobody wrote.
    void give_mutex_ids();

    // ---- bindings.cpp: names, slots, joins
    int intern(Frame& f, std::string_view name);
    const Value* find_local(std::string_view name);
    void bind(std::string_view name, Value v, Span at);
    void bind_argument(std::string_view name, const Value& v, Span at);
    void set_state(int index, State s);
    Value slots_like(const Value& v, std::string_view name, bool constants_too, Span at);
    Value adopt(Name& n, const Value& v, bool constants_too, Span at);
    bool made_by_last(const Value& v) const; // an unnamed result of the statement just emitted
    /// How close a value must be to what a slot holds: convertible (another integer type), of its type, or on the same storage too.
    enum class Match : std::uint8_t { convertible, type, storage };
    bool compatible(const Value& slots, const Value& v, Match match) const;
    void store(const Value& slots, const Value& v, Span at);
    Value known(const Value& v, const Value& slots) const; // slots, but constants where v has them
    std::size_t mutex_count(const Value& tile) const;

    // ---- statements.cpp
    Flow run(const syntax::Body& body);
    Flow run(const syntax::Stmt& s);
    Flow run_with(const syntax::Stmt& s);
    Flow run_return(const syntax::Stmt& s);
    void run_assign(const syntax::Stmt& s);
    void assign_to(const syntax::Expr& target, const Value& v, Span at);
    void assign_element(const syntax::Expr& target, const Value& v, Span at);
    void run_expression(const syntax::Stmt& s);
    void report_statement(const syntax::Stmt& s);
    // ---- control.cpp
    Flow run_branch(const syntax::Stmt& s);
    Flow run_for(const syntax::Stmt& s);
    Flow run_while(const syntax::Stmt& s);
    const Written& written(const syntax::Stmt& loop);
    void collect_written(const syntax::Body& body, Written& out);
    struct LoopEntry { int index; Value slots; bool bound, header, header_read; };
    std::vector<LoopEntry> enter_loop(const Written& w, Span at);
    void close_iteration(const std::vector<LoopEntry>& entries, Span at);
    void leave_loop(const std::vector<LoopEntry>& entries);
    void after_loop_return();
    struct Undo { int index; State old; };
    std::vector<std::pair<int, State>> roll_back(std::size_t mark);
    /// Slots where the values of two paths can meet; unbound when their types differ.
    Value meeting_slots(Name& n, const State& a, const State& b);
    void merge(std::vector<std::pair<int, State>>& then, std::vector<std::pair<int, State>>& other, ir::Body& then_body, ir::Body& other_body);
    bool range_bounds(const syntax::Expr& call, Value& start, Value& stop, Value& step);
    Value condition(const syntax::Expr& e);

    // ---- expressions.cpp
    Value eval(const syntax::Expr& e);
    Value eval_node(const syntax::Expr& e);
    Value eval_name(const syntax::Expr& e);
    Value eval_attribute(const syntax::Expr& e);
    Value attribute_of(const Value& base, const syntax::Expr& e);
    Value eval_subscript(const syntax::Expr& e);
    Value subscript_tuple(const Value& base, const syntax::Expr& e);
    Value subscript_tile(const Value& base, const syntax::Expr& e);
    Value element_read(const Value& base, const syntax::Expr& e);
    Value subview(const Value& base, const syntax::Expr& e);
    ir::ExprList indices(const syntax::Expr& index);
    std::optional<ir::ExprId> linear_index(const Value& base, const syntax::Expr& subscript);
    Value group_slot(const Value& group, const Value& index, Span at);
    Value group_method(const Value& group, std::string_view method, const syntax::Expr& call);
    Value choose_element(const Value& tuple, const Value& index, Span at);
    Value eval_conditional(const syntax::Expr& e);
    Value eval_logical(const syntax::Expr& e);
    bool only_computes(const ir::Body& body) const; // scalars of the expression itself: no operation, no cursor, no field is written
    Value eval_membership(const syntax::Expr& e);
    Value unknown_name(const syntax::Expr& e);
    /// Python's value of an expression the language cannot read; nothing when a name in it is not a compile-time constant.
    std::optional<Value> by_python(const syntax::Expr& e, std::string& error);
    std::optional<std::int64_t> constant_integer(const syntax::Expr& e, std::string_view what);
    std::string path_of(const syntax::Expr& callee); // language path, empty for anything else

    // ---- scalars.cpp
    ir::ExprId expr_of(const Value& v, Span at);
    ir::ExprId expr_as(const Value& v, isa::DType t, Span at);
    ir::ExprId cast(ir::ExprId e, isa::DType t, Span at);
    Value binary(std::string_view op, const Value& a, const Value& b, Span at);
    Value compare(std::string_view op, const Value& a, const Value& b, Span at);
    Value unary(std::string_view op, const Value& a, Span at);
    Value min_max(bool is_max, const Value& a, const Value& b, Span at);
    Value truth(const Value& v, Span at);
    bool may_stop(const Value& v) const; // evaluating it can end the run: a divisor of 0, an element outside
    Value fold(std::string_view op, const Value& a, const Value& b, Span at);
    ir::ExprId make(ir::ExprOp op, isa::DType t, ir::ExprId a, ir::ExprId b, Span at);

    // ---- calls.cpp
    Value eval_call(const syntax::Expr& e, Targets targets = {});
    Value call_language(std::string_view path, const syntax::Expr& e, Targets targets);
    Value call_op(std::string_view name, const isa::OpRow& row, const syntax::Expr& e, Targets targets);
    struct Argument { const syntax::Expr* expr = nullptr; Value value; Span at; bool used = false; };
    bool fill_operand(const isa::OpRow& row, const isa::Operand& o, const Argument& a, ir::OperandValue& out);
    bool accepts(isa::OperandKind kind, const Value& v) const;
    bool fill_keyword(const isa::OpRow& row, const isa::Keyword& k, const Argument& a, ir::AttributeValue& out);
    ir::AttributeValue fallback(const isa::Keyword& k) const;
    void settle_pipe(ir::Op& op) const;
    Value results_of(ir::Op& op, const syntax::Expr& e, Targets targets);
    Value unknown_op(std::string_view path, const syntax::Expr& e);
    isa::OperandKind shape_of(const Value& v) const;

    // ---- constructs.cpp
    Value construct(std::string_view name, const syntax::Expr& e, bool& known);
    Value make_tile_type(const syntax::Expr& e);
    Value make_tile(const syntax::Expr& e);
    Value make_tile_group(const syntax::Expr& e);
    Value make_struct(const syntax::Expr& e, bool array);
    Value make_record(const syntax::Expr& e);
    Value make_tensor(const syntax::Expr& e);
    Value make_pointer(const syntax::Expr& e);
    Value add_pointer(const Value& p, const Value& offset, Span at);
    Value reinterpret(const syntax::Expr& e);
    Value typed_constant(const syntax::Expr& e);
    bool only_keywords(const syntax::Expr& e, std::initializer_list<std::string_view> allowed, std::string_view what);
    std::optional<std::vector<std::int64_t>> integer_list(const Value& v) const;

    // ---- inline.cpp
    Value call_function(const Value& f, const syntax::Expr& e);
    Value call_vector(const Value& f, const syntax::Expr& e);
    bool bind_parameters(Frame& frame, const syntax::Function& f, const syntax::Expr& e, std::vector<Value>& arguments);
    bool check_annotation(const syntax::Parameter& p, const Value& v, Frame& callee, Span at);
    void finish_vector_call(ir::VectorCall& call, std::int32_t first_variable);
    ir::ExprId stage_task(Span at);

    // ---- signature.cpp
    void bind_signature();

    Shared& m_shared;
    isa::Core m_core;
    ir::Function m_fn;
    ir::Body* m_out = nullptr;           // where statements go
    ir::Body* m_before_vector = nullptr; // inside a vector function: the body of the caller
    Frame* m_frame = nullptr;
    std::vector<Undo> m_undo;            // bindings overwritten inside run-time branches of the current frame
    pipeline::Facts m_facts;
    std::vector<Value> m_guards;         // ring slots whose _pl_is_valid guards the current statement
    std::unordered_map<const syntax::Stmt*, Written> m_written;
    std::vector<ir::VarId> m_hoisted;    // variables that a vector function's reads were moved into
    std::vector<std::string_view> m_counters; // task counters of the enclosing generated serial loops
    bool m_copy_structs = false;         // values of several returns meet: structs are copied, not referred to
    bool m_final = false;                // the last finding stands even if Python could evaluate the expression
};

} // namespace pto::resolve
