#pragma once
/// An instruction of the program with everything that is the same each time it is issued: meaning, keywords, record
/// site.

#include "engine/execute/record.hpp"
#include "engine/program/program.hpp"

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace pto::execute {

struct Meaning;
namespace registers {
struct Code;
}

/// Keywords that a meaning reads, by their name in the catalogue.
enum class Key : std::uint8_t {
    order,
    relu_pre_mode,
    scale,
    atomic,
    phase,
    acc_to_vec_mode,
    mode,
    dim,
    target_type,
    offset,
    cmp_mode,
    pattern_mode,
    block_len,
    exhausted,
    is_msb,
    set_pipe,
    wait_pipe,
    pipe,
    event_id,
    sync_mode,
    core_type,
    mutex_id,
    workspace,
    loc,
    flag,
    op_type,
    count
};
inline constexpr int key_count = int(Key::count);
std::string_view name(Key k);

struct Instruction {
    const ir::Stmt* stmt = nullptr;
    const ir::Function* function = nullptr;
    const ir::Op* op = nullptr; // null for vector calls and SIMT launches
    const ir::VectorCall* call = nullptr;
    const ir::SimtLaunch* simt = nullptr;
    const isa::OpRow* row = nullptr;
    isa::Semantics semantics = isa::Semantics::none;
    isa::LaneFn lane = isa::LaneFn::none;
    const Meaning* meaning = nullptr;
    std::array<std::int8_t, key_count> keys{}; // index into Op::attributes, -1 when the row has no such keyword
    std::int32_t order[2] = {-1, -1};          // constant value of the `order` keyword
    std::array<std::int8_t, 8> inputs{};       // operand places that are read, in order
    std::int8_t input_count = 0;
    std::uint8_t phase = 0;                                      // AccPhase / StPhase: 0 none, 1 partial, 2 final
    isa::Pipe set_pipe = isa::Pipe::s, wait_pipe = isa::Pipe::s; // flags
    std::uint8_t sync_mode = 2, core_type = 2;                   // cross-core mode, sync_all type
    std::string name;                                            // the operation's or vector function's name
    Span at;
    std::int32_t record_site = -1;
    std::shared_ptr<const registers::Code> code; // decoded vector function
};

/// All issue instructions of a program. Addresses are stable.
class InstructionTable {
  public:
    explicit InstructionTable(const program::Program& program);
    const Instruction& of(const ir::Stmt* stmt) const { return *m_by_stmt.at(stmt); }
    const std::deque<Instruction>& sites() const { return m_sites; }
    /// Record::sites, aligned with Site::record_site.
    std::vector<Site> record_sites() const;

  private:
    std::deque<Instruction> m_sites;
    std::unordered_map<const ir::Stmt*, const Instruction*> m_by_stmt;
};

} // namespace pto::execute
