#pragma once
/// Text to tree. Implemented by whoever has a parser (kernel/pyfront uses CPython's); the engine only asks.

#include "engine/base/diagnostics.hpp"
#include "engine/base/source_map.hpp"
#include "engine/syntax/tree.hpp"

#include <map>
#include <memory>

namespace pto::syntax {

/// One file or cell: its functions, and its other statements in order.
struct Module {
    FileId file;
    std::vector<std::shared_ptr<const Function>> functions; // top level, in source order
    Body statements;                                        // everything else at top level
    std::map<std::string, std::string> imports;             // name -> dotted path it stands for ("pl" -> "pypto_pro.language")

    std::shared_ptr<const Function> function(const std::string& name) const; // the last one of that name, or null
};

class SourceReader {
  public:
    virtual ~SourceReader() = default;
    /// fails  PTO-syntax with the parser's place and message
    virtual Result<Module> read(const SourceMap& sources, FileId file) = 0;
};

} // namespace pto::syntax
