#pragma once
/// One program of a kernel under check, and what every topic asks about it. Private to this room.

#include "engine/check/check.hpp"

#include "engine/ir/walk.hpp"

#include <optional>
#include <set>
#include <string>

namespace pto::check {

class Context {
  public:
    Context(const ir::Kernel& kernel, const ir::Function& function, const machine::Chip& chip, Diagnostics& out);

    const ir::Kernel& kernel;
    const ir::Function& f;
    const machine::Chip& chip;

    /// Adds a finding; the same code, place and message is said once for both programs.
    Diagnostic& report(Code code, Span at, std::string message);

    std::optional<std::int64_t> constant(ir::ExprId e) const { return f.constant(e); }
    /// The operand's tile; null when the operand is absent or something else.
    const ir::TileVar* tile(const ir::Op& op, std::size_t operand) const;
    const ir::TileVar* tile(const ir::Op& op, std::string_view operand) const;
    const ir::Tensor* tensor(const ir::Op& op, std::size_t operand) const;
    const ir::ExprList* list(const ir::Op& op, std::size_t operand) const;
    /// Narrowest text of an operand, the statement's when unknown.
    Span at(const ir::Op& op, const ir::Stmt& stmt, std::size_t operand) const;
    const ir::AttributeValue* attribute(const ir::Op& op, std::string_view keyword) const;
    bool given(const ir::Op& op, std::string_view keyword) const;
    std::optional<std::int64_t> integer(const ir::Op& op, std::string_view keyword) const;
    template <class E> std::optional<E> enumerator(const ir::Op& op, std::string_view keyword) const {
        const ir::AttributeValue* a = attribute(op, keyword);
        const auto* e = a ? std::get_if<isa::EnumValue>(a) : nullptr;
        return e ? std::optional<E>(e->as<E>()) : std::nullopt;
    }
    /// Valid rows and columns where they are certain: declared, or never set in this program and not a view.
    std::optional<std::array<std::int32_t, 2>> known_valid(ir::TileVarId tile) const;
    std::optional<std::array<std::int32_t, 2>> known_valid(const ir::Op& op, std::size_t operand) const;

  private:
    Diagnostics& m_out;
    std::set<std::int32_t> m_set_tiles, m_set_decls; // whose valid shape is set somewhere
    std::set<std::int32_t> m_views;                  // tile variables bound to a sub-view
};

std::string hex(std::int64_t value);
std::string shape_text(std::int64_t rows, std::int64_t columns); // "32x64"
inline std::string ticked(std::string_view name) { return "`" + std::string(name) + "`"; }

// One function a topic, one file each.
void check_operands(Context& c);   // memories and types of the catalogue's rows
void check_shapes(Context& c);     // shape contracts of vector work
void check_movement(Context& c);   // load, store, move, insert
void check_cube(Context& c);       // matmul, MX, phases, accumulators
void check_memory(Context& c);     // capacity, alignment, overlap
void check_arithmetic(Context& c); // integer division of possibly negative numbers
void check_flags(Context& c);      // sync ids, pairing, subcores
void check_order(Context& c);      // valid shape after load, clobbered inputs
void check_contracts(Context& c);  // conversions, padding, permutations, sorting
void check_debug(Context& c);      // format strings, assertions, dumps
void check_scalar_cache(Context& c); // elements of global memory without dcci

} // namespace pto::check
