#pragma once
/// The catalogue: every operation, found by its name under pl. Rows have stable addresses; IR points at rows.

#include "engine/isa/op_row.hpp"

#include <deque>
#include <map>
#include <string_view>

namespace pto::isa {

class Catalogue {
  public:
    /// Adds a row; a second row of one name replaces nothing and throws std::invalid_argument.
    const OpRow& add(OpRow row);
    /// Null when there is no such operation.
    const OpRow* find(std::string_view name) const;
    /// The form of `name` that this call means: the first form (OpRow::form) whose conditions all hold, else find(name).
    const OpRow* choose(std::string_view name, const CallShape& call) const;
    const std::deque<OpRow>& rows() const { return m_rows; }
    /// The operation names nearest to a misspelt one, best first, at most three.
    std::vector<std::string_view> nearest(std::string_view name) const;

    /// All operations of the language.
    static const Catalogue& builtin();
    /// A copy of builtin() that a test may extend.
    static Catalogue copy_of_builtin();

  private:
    std::deque<OpRow> m_rows;
    std::map<std::string_view, const OpRow*, std::less<>> m_by_name;
    std::multimap<std::string_view, const OpRow*, std::less<>> m_forms; // by written name, in order of addition
};

} // namespace pto::isa
