#pragma once
/// CPython's `ast` as the engine's SourceReader: one parse a text, one conversion a function, both remembered.

#include "engine/syntax/source_reader.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace xpto::pyfront {

namespace py = pybind11;

/// Drops the entries of a map that were used longest ago until `most` are left; entries carry the time of their last `used`.
template <class Map> void forget_oldest(Map& map, std::size_t most) {
    while (map.size() > most)
        map.erase(std::min_element(map.begin(), map.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

/// What is known of each text: its parsed module and where its functions begin. Texts used longest ago are parsed again when they
/// are asked for again. Needs the GIL for every call.
class Reader final : public pto::syntax::SourceReader {
  public:
    Reader();
    pto::Result<pto::syntax::Module> read(const pto::SourceMap& sources, pto::FileId file) override;

    /// The function whose first line (its first decorator's, counted from 1 in the text) is `line`; null when there is none.
    std::shared_ptr<const pto::syntax::Function> function_at(const pto::SourceMap& sources, pto::FileId file, std::int32_t line,
                                                             const std::string& name);
    /// Syntax error of the last failed parse of a file.
    const pto::Diagnostics& errors(pto::FileId file) const;

    void forget() { m_files.clear(); }
    std::int64_t parses() const { return m_parses; }
    /// Seconds spent in CPython's parser so far.
    double parse_seconds() const { return m_parse_seconds; }

  private:
    struct Parsed {
        py::object tree;                                     // ast.Module, None when it did not parse
        std::vector<std::pair<std::int32_t, py::object>> defs; // first line -> FunctionDef
        std::map<std::int32_t, std::shared_ptr<const pto::syntax::Function>> functions;
        pto::Diagnostics errors;
        std::int64_t used = 0;
    };
    /// Valid until the next call.
    Parsed& parsed(const pto::SourceMap& sources, pto::FileId file);

    std::map<std::int32_t, Parsed> m_files;
    std::int64_t m_clock = 0;
    py::object m_parse;
    std::int64_t m_parses = 0;
    double m_parse_seconds = 0;
};

} // namespace xpto::pyfront
