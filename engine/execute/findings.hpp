#pragma once
/// Collects findings: one per kind, memory and pair of source places, the rest counted.

#include "engine/execute/access.hpp"
#include "engine/execute/hazard.hpp"
#include "engine/execute/instruction.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace pto::execute {

class Findings {
  public:
    Findings(std::int32_t limit, bool several_blocks) : m_limit(limit), m_several_blocks(several_blocks) {}

    /// The finding of this kind between two places, made on first sight; null beyond the limit (still counted).
    /// `fresh` tells whether the caller has to fill in the words.
    Hazard* find(HazardKind kind, const Place& first, const Place& second, isa::MemorySpace memory, bool& fresh);
    /// A finding at one place.
    Hazard* find(HazardKind kind, const Place& at, isa::MemorySpace memory, bool& fresh) {
        return find(kind, at, Place{}, memory, fresh);
    }
    void say(HazardKind kind, bool is_error, const Place& at, std::string message, std::string repair = {},
             std::string order = {});

    /// Who an access belongs to, in words a report can use.
    static Place place_of(const LoggedAccess& a);
    bool several_blocks() const { return m_several_blocks; }
    bool has_errors() const;
    std::vector<Hazard> take();

  private:
    using KeyType = std::tuple<HazardKind, Span, std::string, Span, std::string, isa::MemorySpace>;
    std::map<KeyType, std::size_t> m_index;
    std::vector<Hazard> m_list;
    std::int32_t m_limit;
    bool m_several_blocks;
};

} // namespace pto::execute
