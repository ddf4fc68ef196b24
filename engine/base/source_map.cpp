#include "engine/base/source_map.hpp"

#include <algorithm>

namespace pto {

FileId SourceMap::add(std::string name, std::string text, std::int32_t first_line) {
    for (std::size_t i = m_files.size(); i-- > 0;)
        if (m_files[i].name == name && m_files[i].first_line == first_line && m_files[i].text == text)
            return FileId{std::int32_t(i)};
    SourceFile f{std::move(name), std::move(text), first_line, {0}};
    for (std::size_t i = 0; i < f.text.size(); ++i)
        if (f.text[i] == '\n') f.line_starts.push_back(std::int32_t(i + 1));
    m_files.push_back(std::move(f));
    return FileId{std::int32_t(m_files.size() - 1)};
}

Position SourceMap::position(FileId id, std::int32_t byte) const {
    if (!id.valid()) return {};
    const SourceFile& f = file(id);
    byte = std::clamp<std::int32_t>(byte, 0, std::int32_t(f.text.size()));
    auto next = std::upper_bound(f.line_starts.begin(), f.line_starts.end(), byte);
    std::int32_t line = std::int32_t(next - f.line_starts.begin()) - 1;
    std::int32_t column = 1;
    for (std::int32_t i = f.line_starts[std::size_t(line)]; i < byte; ++i)
        if ((static_cast<unsigned char>(f.text[std::size_t(i)]) & 0xC0) != 0x80) ++column;
    return {line + f.first_line, column};
}

std::int32_t SourceMap::offset(FileId id, std::int32_t line, std::int32_t byte_column) const {
    const SourceFile& f = file(id);
    std::int32_t row = line - f.first_line;
    if (row < 0) return 0;
    if (row >= std::int32_t(f.line_starts.size())) return std::int32_t(f.text.size());
    return std::min<std::int32_t>(f.line_starts[std::size_t(row)] + byte_column, std::int32_t(f.text.size()));
}

std::string_view SourceMap::text(const Span& s) const {
    if (!s.valid()) return {};
    return std::string_view(file(s.file).text).substr(std::size_t(s.begin), std::size_t(s.end - s.begin));
}

std::string_view SourceMap::line_text(FileId id, std::int32_t line) const {
    if (!id.valid()) return {};
    const SourceFile& f = file(id);
    std::int32_t row = line - f.first_line;
    if (row < 0 || row >= std::int32_t(f.line_starts.size())) return {};
    std::size_t begin = std::size_t(f.line_starts[std::size_t(row)]);
    std::size_t end = f.text.find('\n', begin);
    if (end == std::string::npos) end = f.text.size();
    return std::string_view(f.text).substr(begin, end - begin);
}

std::string SourceMap::place(const Span& s) const {
    if (!s.valid()) return {};
    return file(s.file).name + ":" + std::to_string(begin(s).line);
}

} // namespace pto
