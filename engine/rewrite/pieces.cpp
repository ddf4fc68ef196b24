#include "engine/rewrite/pieces.hpp"

#include <algorithm>

namespace pto::rewrite {

Span Generated::origin(std::int32_t begin, std::int32_t end) const {
    auto at = std::upper_bound(segments.begin(), segments.end(), begin, [](std::int32_t b, const Segment& s) { return b < s.end; });
    if (at == segments.end()) return {};
    if (!at->verbatim) return at->origin;
    Span s = at->origin;
    s.begin += begin - at->begin;
    s.end = s.begin + std::max<std::int32_t>(end - begin, 0);
    // A range over several copied lines ends where its last byte came from.
    if (end > at->end) {
        auto last = std::upper_bound(at, segments.end(), end - 1, [](std::int32_t b, const Segment& x) { return b < x.end; });
        s.end = last != segments.end() && last->verbatim && last->origin.file == s.file ? last->origin.begin + (end - last->begin) : at->origin.end;
    }
    return s;
}

void Builder::put(std::string_view text, Span origin, bool verbatim) {
    if (text.empty()) return;
    m_dropped = 0;
    const std::int32_t begin = std::int32_t(m_out.text.size());
    m_out.text.append(text);
    const std::int32_t end = std::int32_t(m_out.text.size());
    if (!m_out.segments.empty()) {
        Segment& last = m_out.segments.back();
        const bool joins = last.verbatim == verbatim && (verbatim ? last.origin.file == origin.file && last.origin.end == origin.begin : last.origin == origin);
        if (joins) {
            last.end = end;
            if (verbatim) last.origin.end = origin.end;
            return;
        }
    }
    m_out.segments.push_back({begin, end, origin, verbatim});
}

/// Blanks to leave out before `text`: a line loses `column` of them in all, whether they stand in one piece of it or in several
/// (an insertion that indents a copied line is such a piece).
std::int32_t Builder::drop(std::string_view text, std::int32_t column) {
    std::int32_t n = 0;
    while (at_line_start() && m_dropped < column && std::size_t(n) < text.size() && (text[std::size_t(n)] == ' ' || text[std::size_t(n)] == '\t')) ++n, ++m_dropped;
    return n;
}

void Builder::generated(std::string_view text, Span origin) { put(text, origin, false); }

void Builder::verbatim(FileId file, std::int32_t begin, std::int32_t end, std::int32_t column) {
    const std::string& all = m_sources.file(file).text;
    while (begin < end) {
        std::int32_t line = std::int32_t(all.find('\n', std::size_t(begin)));
        const std::int32_t stop = line < 0 ? end : std::min(end, line + 1);
        begin += drop(std::string_view(all).substr(std::size_t(begin), std::size_t(stop - begin)), column);
        put(std::string_view(all).substr(std::size_t(begin), std::size_t(stop - begin)), {file, begin, stop}, true);
        begin = stop;
    }
}

void Builder::edited(FileId file, std::int32_t begin, std::int32_t end, std::vector<TextEdit> edits, std::int32_t column) {
    std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
        return std::pair(a.begin, a.end > a.begin) < std::pair(b.begin, b.end > b.begin); // at one place, insertions come first
    });
    auto emit = [&](const TextEdit& e) {
        std::size_t at = 0;
        while (at < e.text.size()) { // generated lines carry the user's indentation: drop the same columns
            std::size_t stop = e.text.find('\n', at);
            stop = stop == std::string::npos ? e.text.size() : stop + 1;
            at += std::size_t(drop(std::string_view(e.text).substr(at, stop - at), column));
            put(std::string_view(e.text).substr(at, stop - at), e.origin, false);
            at = stop;
        }
    };
    std::int32_t at = begin;
    for (const TextEdit& e : edits) {
        if (e.begin < at) continue; // inside a range that is already gone
        verbatim(file, at, std::min(e.begin, end), column);
        at = e.begin;
        if (e.begin == e.end && !e.text.empty() && e.text.back() == '\n' && !at_line_start()) put("\n", e.origin, false); // no line end in the source
        emit(e);
        at = std::max(at, e.end);
    }
    verbatim(file, at, end, column);
}

std::int32_t Text::line_start(std::int32_t at) const {
    const std::size_t found = at > 0 ? all.rfind('\n', std::size_t(at - 1)) : std::string::npos;
    return found == std::string::npos ? 0 : std::int32_t(found + 1);
}
std::int32_t Text::line_end(std::int32_t at) const {
    const std::size_t found = all.find('\n', std::size_t(at));
    return std::int32_t(found == std::string::npos ? all.size() : found);
}
std::int32_t Text::next_line(std::int32_t at) const { return std::min<std::int32_t>(line_end(at) + 1, std::int32_t(all.size())); }
std::string Text::indent(std::int32_t at) const {
    const std::int32_t begin = line_start(at);
    std::int32_t end = begin;
    while (std::size_t(end) < all.size() && (all[std::size_t(end)] == ' ' || all[std::size_t(end)] == '\t')) ++end;
    return all.substr(std::size_t(begin), std::size_t(end - begin));
}

std::string Text::one_line(const Span& s) const {
    std::string out;
    char quote = 0;
    for (std::int32_t i = s.begin; i < s.end; ++i) {
        char c = all[std::size_t(i)];
        if (quote) {
            out += c;
            if (c == '\\' && i + 1 < s.end) out += all[std::size_t(++i)];
            else if (c == quote) quote = 0;
            continue;
        }
        if (c == '"' || c == '\'') quote = c;
        if (c == '#') {
            while (i + 1 < s.end && all[std::size_t(i + 1)] != '\n') ++i;
            continue;
        }
        if (c == '\n' || c == '\\' || c == '\r') {
            while (!out.empty() && out.back() == ' ') out.pop_back();
            while (i + 1 < s.end && (all[std::size_t(i + 1)] == ' ' || all[std::size_t(i + 1)] == '\t' || all[std::size_t(i + 1)] == '\n')) ++i;
            if (!out.empty() && out.back() != '(' && out.back() != '[') out += ' ';
            continue;
        }
        out += c;
    }
    return out;
}

} // namespace pto::rewrite
