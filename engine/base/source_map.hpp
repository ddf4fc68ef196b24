#pragma once
/// Texts (cells, files) and the one converter between byte offsets and the positions people see.

#include "engine/base/span.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pto {

/// Line and column from 1; columns count code points, not bytes.
struct Position {
    std::int32_t line = 0, column = 0;
    auto operator<=>(const Position&) const = default;
};

struct SourceFile {
    std::string name;             // "In[4]" or a path, as shown to the user
    std::string text;             // UTF-8
    std::int32_t first_line = 1;  // number of the first line of `text` (a cell's body starts at line 2: line 1 is the magic's)
    std::vector<std::int32_t> line_starts; // byte offset of each line, filled by SourceMap::add
};

/// Append-only list of texts. Adding the same name and text twice gives the same id.
class SourceMap {
  public:
    FileId add(std::string name, std::string text, std::int32_t first_line = 1);
    const SourceFile& file(FileId id) const { return m_files.at(std::size_t(id.index)); }
    std::size_t size() const { return m_files.size(); }
    /// Position of a byte offset; offsets past the end give the end.
    Position position(FileId id, std::int32_t byte) const;
    Position begin(const Span& s) const { return position(s.file, s.begin); }
    Position end(const Span& s) const { return position(s.file, s.end); }
    /// Byte offset of a line (numbered with first_line) and a byte column from 0, as CPython's `ast` gives them.
    std::int32_t offset(FileId id, std::int32_t line, std::int32_t byte_column) const;
    std::string_view text(const Span& s) const;
    /// The text of one line without its line end; empty when there is no such line.
    std::string_view line_text(FileId id, std::int32_t line) const;
    /// "In[4]:35" or "kernel.py:35"; empty for no place.
    std::string place(const Span& s) const;

  private:
    std::vector<SourceFile> m_files;
};

} // namespace pto
