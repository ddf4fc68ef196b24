#pragma once
/// The scalar unit of one core: walks its instruction list and yields one operation after the other with every operand known.
///
/// What it owns: variables, structure storage, tile handles with their valid shapes, tensor views, loop states, stage and task.
/// What it does not own: memory. An operation whose result the scalar code needs (getval, ssbuf_load) stops it until the owner
/// supplies the value. Descriptor operations (set_validshape, set_stride) happen here and are not yielded.
/// Without data (`knows_data` false) scalars may be unknown; unknowns travel through expressions, and control that depends on one
/// becomes a Question. Source: language 1.5 to 1.10, 2.5, 2.6, 3.10.

#include "engine/program/instance.hpp"
#include "engine/program/scalar_code.hpp"

#include <functional>
#include <memory>
#include <span>

namespace pto::program {

/// Everything about a core's program that all launches share. Make one per CoreCode and reuse it for every core and block.
class Prepared;
struct PreparedInstr;
struct OperandRecipe;
std::shared_ptr<const Prepared> prepare(const Program& program, const CoreCode& core);

/// Values of one kernel parameter as the scalar unit sees them. Default: unknown.
struct ParamValue {
    bool known = false;                   // false: everything below is unknown, sizes included
    std::int64_t address = 0;             // tensors, pointers: virtual GM byte address
    std::vector<std::int64_t> shape;      // tensors: elements per axis; negative = unknown
    Scalar scalar;                        // scalars
    std::vector<std::vector<Scalar>> fields; // tiling: per field its elements
};

struct CoreSetup {
    std::int32_t block = 0, subblock = 0;
    std::int32_t block_num = 1;
    bool block_known = true;              // false: block and block_num are unknown to scalar code
    std::vector<ParamValue> params;       // aligned with Kernel::params; missing ones are unknown
};

enum class Step : std::uint8_t {
    issue,    // current() is the next operation
    question, // question() needs an answer before the next step
    budget,   // the step budget ran out, or a watched loop begins an iteration; call next() again
    fault,    // fault() says what the scalar code did wrong
    finished,
};

/// Control or an address depends on a value that nobody knows.
struct Question {
    enum class Kind : std::uint8_t {
        branch, // answer 0 or 1
        trips,  // how often the loop runs. An unknown end that is one variable or size takes the value that gives this count
        slot,   // index into the group
        choice, // ChoiceOf: 1 first tile, 0 second
    } kind = Kind::branch;
    std::int32_t instr = -1; // index into CoreCode::code
    std::int32_t loop = -1;  // trips
    std::int32_t slots = 0;  // slot: how many there are
    Span at;
};

struct Fault {
    std::string message; // "slot 3 of the 2 slots of p"
    Span at;
};

/// Bytes of one record with C alignment, as the device's struct class lays it out; ssbuf copies them in 4-byte words.
std::int64_t struct_bytes(const ir::Struct& s);
std::int64_t field_offset(const ir::Struct& s, std::int32_t field);

class Sequencer {
  public:
    Sequencer(std::shared_ptr<const Prepared> code, const CoreSetup& setup);
    ~Sequencer();
    Sequencer(Sequencer&&) noexcept;

    /// Runs scalar code until the next operation, at most `budget` scalar instructions.
    ///   requires  the previous issue's value was supplied when needs_value(), the previous question answered
    Step next(std::int64_t budget);

    /// The operation issue() stopped at. Stays valid, and unchanged, until the same instruction is issued again.
    /// `attributes` hold constants too, as scalars (enum values as their ordinal), so a reader need not look at the statement.
    const OpInstance& current() const;
    /// The operation's result goes to the scalar code.
    bool needs_value() const;
    void supply(const Scalar& value);
    /// ssbuf_load: the structure's bytes as 4-byte words.
    void supply_words(std::span<const std::uint32_t> words);
    /// Whatever the operation yields is unknown.
    void supply_unknown();
    /// AR, left by the last squeeze of a vector function.
    void set_spr(std::int64_t value, bool known = true);

    const Question& question() const { return m_question; }
    void answer(std::int64_t value);
    const Fault& fault() const { return m_fault; }

    /// Loop `loop` (CoreCode numbering) runs exactly `trips` times, whatever its bounds say; negative removes the override.
    void force_trips(std::int32_t loop, std::int64_t trips);
    /// next() also returns (Step::budget) when an iteration of this loop, whose trips are forced, begins: before anything of it has run.
    void watch_loop(std::int32_t loop) { m_watched.at(std::size_t(loop)) = true; }
    /// The watched loop whose iteration has just begun, -1 when next() returned for another reason.
    std::int32_t begun_loop() const { return m_begun; }
    /// Completed-trip count of a running loop, -1 when it is not running.
    std::int64_t loop_trip(std::int32_t loop) const;
    /// Trips that the bounds ask for, known once the loop was entered with known bounds; -1 otherwise.
    std::int64_t bound_trips(std::int32_t loop) const;

    std::int64_t scalar_instructions() const { return m_scalar_total; }
    const CoreCode& core() const;
    const CoreSetup& setup() const { return m_setup; }
    std::int32_t instruction_pointer() const { return m_pc; }
    /// Current value of a variable; for tests, views and prints.
    Scalar variable(ir::VarId v) const;
    Scalar field(ir::StructId s, std::int32_t record, std::int32_t field, std::int32_t element = 0) const;
    /// Digest of where these handles lie and of the valid shapes of these declarations' slots: equal digests, equal tiles.
    std::size_t tiles_digest(std::span<const ir::TileVarId> handles, std::span<const ir::TileDeclId> declarations) const;

  private:
    struct LoopState {
        std::int64_t value = 0, step = 1, trips = 0, done = 0;
        std::int64_t bound = -1; // trips by the bounds
        bool running = false, known = true;
    };
    struct ValidCell {
        std::int32_t rows = 0, cols = 0;
        bool known = true;
    };
    struct Handle {
        TileValue value;
        bool bound = false;
    };
    struct StageFrame {
        std::int32_t stage = -1;
        std::int64_t task = -1;
    };

    bool run(std::span<const ScalarOp> ops);     // false: fault
    bool evaluate(const CompiledExpr& e, Cell& out);
    bool fill(const OperandRecipe& r, OperandInstance& out, bool first, Span at);
    void fill_prelude();
    bool do_issue(const PreparedInstr& p);
    bool do_tile_bind(const PreparedInstr& p);
    bool do_tensor_bind(const PreparedInstr& p);
    bool do_descriptor(const PreparedInstr& p);
    bool enter_loop(const PreparedInstr& p);
    void start_loop(const PreparedInstr& p, std::int64_t trips);
    void set_loop_var(const Instr& i, const LoopState& s);
    void read_tile(ir::TileVarId t, TileValue& out) const;
    std::int32_t fresh_valid_cell(std::int32_t own, ir::TileVarId target);
    void fill_words(const ir::StructRef& ref, std::int64_t record, std::vector<Scalar>& words) const;
    bool fail(Span at, std::string message);
    Step ask(Question::Kind kind, std::int32_t loop, std::int32_t slots, Span at);
    bool bind_slot(const PreparedInstr& p, std::int64_t slot);
    bool bind_choice(const PreparedInstr& p, bool first);
    bool take_locks(OpInstance& out, const std::vector<ir::TileVarId>& tiles, Span at);

    std::shared_ptr<const Prepared> m_code;
    CoreSetup m_setup;
    std::vector<Cell> m_frame;
    std::vector<Handle> m_tiles;
    std::vector<ValidCell> m_valid;
    std::vector<std::int32_t> m_free_valid;
    std::vector<TensorValue> m_tensors;
    std::vector<bool> m_tensor_known;            // address and strides are known
    std::vector<LoopState> m_loops;
    std::vector<std::int64_t> m_forced;
    std::vector<bool> m_watched;
    std::int32_t m_begun = -1;
    std::vector<StageFrame> m_stages;
    std::vector<std::int64_t> m_stage_entries;
    std::vector<std::unique_ptr<OpInstance>> m_instances; // one per issue site, by instruction
    Question m_question;
    Fault m_fault;
    std::int32_t m_pc = 0;
    std::int64_t m_word_record = 0;              // record an ssbuf operation names
    std::int32_t m_issued = -1;                  // instruction that current() belongs to
    std::int64_t m_sequence = 0, m_scalar_total = 0, m_scalar_since = 0;
    enum class Waiting : std::uint8_t { nothing, value, words, answer, finish } m_waiting = Waiting::nothing;
};

} // namespace pto::program
