#pragma once
/// Private: edits on one text, and the builder that applies them while it remembers where every byte came from.

#include "engine/rewrite/rewrite.hpp"

namespace pto::rewrite {

/// Replace [begin, end) of the source file by `text`. Insertions at one place keep the order in which they were made.
struct TextEdit {
    std::int32_t begin = 0, end = 0;
    std::string text;
    Span origin;
};

class Builder {
  public:
    explicit Builder(const SourceMap& sources) : m_sources(sources) {}

    void generated(std::string_view text, Span origin = {});
    /// Copies bytes of a file; `column` leading blanks of each line are dropped.
    void verbatim(FileId file, std::int32_t begin, std::int32_t end, std::int32_t column = 0);
    /// Copies a range with edits applied; overlapping edits: the one that begins first and reaches further wins.
    void edited(FileId file, std::int32_t begin, std::int32_t end, std::vector<TextEdit> edits, std::int32_t column);
    Generated take() { return std::move(m_out); }

  private:
    const SourceMap& m_sources;
    Generated m_out;
    std::int32_t m_dropped = 0; // blanks that pieces of the present line have lost so far
    std::int32_t drop(std::string_view text, std::int32_t column);
    bool at_line_start() const { return m_out.text.empty() || m_out.text.back() == '\n'; }
    void put(std::string_view text, Span origin, bool verbatim);
};

/// Reading positions of one file's text.
struct Text {
    const SourceMap& sources;
    FileId file;
    const std::string& all;
    Text(const SourceMap& s, FileId f) : sources(s), file(f), all(s.file(f).text) {}
    std::int32_t line_start(std::int32_t at) const;
    /// Offset of the line end ('\n' or the end of the text).
    std::int32_t line_end(std::int32_t at) const;
    /// Start of the next line; the end of the text when there is none.
    std::int32_t next_line(std::int32_t at) const;
    std::string indent(std::int32_t at) const; // blanks at the start of the line that holds `at`
    std::string text(const Span& s) const { return all.substr(std::size_t(s.begin), std::size_t(s.end - s.begin)); }
    /// As text(), on one line: line breaks and the blanks around them become one blank, comments are dropped.
    std::string one_line(const Span& s) const;
};

} // namespace pto::rewrite
