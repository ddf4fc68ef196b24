#include "engine/ir/read_parts.hpp"

#include <cstdlib>

namespace pto::ir {

bool LineReader::next_line() {
    while (m_next < m_text.size()) {
        std::size_t end = m_text.find('\n', m_next);
        if (end == std::string_view::npos) end = m_text.size();
        m_line = m_text.substr(m_next, end - m_next);
        m_next = end + 1;
        ++m_line_number;
        m_at = 0;
        skip();
        if (m_at < m_line.size()) return true;
    }
    m_line = {};
    m_at = 0;
    return false;
}

void LineReader::skip() {
    while (m_at < m_line.size() && m_line[m_at] == ' ') ++m_at;
}

bool LineReader::at_end() {
    skip();
    return m_at >= m_line.size();
}

bool LineReader::accept(std::string_view text) {
    skip();
    if (m_line.substr(m_at, text.size()) != text) return false;
    if (word_char(text.back()) && word_char(peek(text.size()))) return false;
    m_at += text.size();
    return true;
}

void LineReader::eat(std::string_view text) {
    if (!accept(text)) fail("expected `" + std::string(text) + "` at `" + std::string(m_line.substr(m_at)) + "`");
}

std::string LineReader::peek_word() {
    skip();
    std::size_t end = m_at;
    if (end < m_line.size() && (m_line[end] == '%' || m_line[end] == '$' || m_line[end] == '&')) ++end;
    while (end < m_line.size() && word_char(m_line[end])) ++end;
    return std::string(m_line.substr(m_at, end - m_at));
}

std::string LineReader::word() {
    std::string w = peek_word();
    if (w.empty()) fail("expected a word at `" + std::string(m_line.substr(m_at)) + "`");
    m_at += w.size();
    return w;
}

std::string LineReader::name() {
    skip();
    if (peek() == '-' && !word_char(peek(1))) {
        ++m_at;
        return {};
    }
    return word();
}

std::int64_t LineReader::number() {
    skip();
    std::string rest(m_line.substr(m_at, 40));
    char* end = nullptr;
    std::int64_t v = std::strtoll(rest.c_str(), &end, 0);
    if (end == rest.c_str()) fail("expected a number at `" + rest + "`");
    m_at += std::size_t(end - rest.c_str());
    return v;
}

std::string LineReader::quoted() {
    eat("\"");
    std::string out;
    while (peek() != '"') {
        if (peek() == '\0') fail("unfinished string");
        if (peek() == '\\') {
            ++m_at;
            out += peek() == 'n' ? '\n' : peek();
        } else {
            out += peek();
        }
        ++m_at;
    }
    ++m_at;
    return out;
}

std::int32_t LineReader::last_number(const std::string& w) {
    std::size_t dot = w.rfind('.');
    if (dot == std::string::npos || dot + 1 >= w.size()) return -1;
    for (std::size_t i = dot + 1; i < w.size(); ++i)
        if (!digit(w[i])) return -1;
    return std::atoi(w.c_str() + dot + 1);
}

std::int32_t LineReader::indexed(char prefix) {
    std::string w = word();
    if (w.size() < 2 || w[0] != prefix) fail("expected " + std::string(1, prefix) + "N, found `" + w + "`");
    return std::atoi(w.c_str() + 1);
}

} // namespace pto::ir
