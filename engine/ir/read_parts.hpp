#pragma once
#include "engine/ir/kernel.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pto::ir {

/// The reader of IR text in three layers, each of which knows only the one below it: characters and lines, declarations, expressions.
/// Operations and statements are the last layer (read.cpp). Errors are std::invalid_argument with the line of the text.

inline bool word_char(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || (c & 0x80); }
inline bool digit(char c) { return c >= '0' && c <= '9'; }

class LineReader {
  protected:
    explicit LineReader(std::string_view text) : m_text(text) {}

    [[noreturn]] void fail(const std::string& why) const { throw std::invalid_argument("IR text, line " + std::to_string(m_line_number) + ": " + why); }
    bool next_line();
    void skip();
    bool at_end();
    char peek(std::size_t ahead = 0) const { return m_at + ahead < m_line.size() ? m_line[m_at + ahead] : '\0'; }
    bool accept(std::string_view text);
    void eat(std::string_view text);
    std::string peek_word();
    std::string word();
    std::string name(); // a declared name; - for none
    std::int64_t number();
    std::string quoted();
    static std::int32_t last_number(const std::string& w);
    static std::string stem(const std::string& w, std::size_t skip) { return w.substr(skip, w.rfind('.') - skip); }
    std::int32_t indexed(char prefix);
    template <class Id> Id reference(char prefix) {
        std::string w = word();
        std::int32_t i = last_number(w);
        if (i < 0 || (prefix && w[0] != prefix)) fail("`" + w + "` is no reference");
        return Id{i};
    }
    char peek_after(const std::string& w) { return m_at + w.size() < m_line.size() ? m_line[m_at + w.size()] : '\0'; }

    std::string_view m_text, m_line;
    std::size_t m_next = 0, m_at = 0;
    int m_line_number = 0;
};

class DeclarationReader : protected LineReader {
  protected:
    using LineReader::LineReader;

    isa::DType dtype();
    template <class E> E member(isa::EnumKind kind) {
        std::string w = word();
        auto e = isa::find_enum(isa::name(kind), w);
        if (!e) fail("`" + w + "` is no " + std::string(isa::name(kind)));
        return e->as<E>();
    }
    std::vector<Dim> dims();
    std::vector<Field> fields();
    ParamId param();
    std::array<std::int32_t, 2> extents();
    isa::TileType tile_type();
    Param parameter();
    /// Declarations of one core, into m_f; true when a line that declares nothing follows.
    bool declarations();
    std::string tensor_name();
    TileDecl declaration();

    Function* m_f = nullptr; // the core that is being read
};

class ExpressionReader : protected DeclarationReader {
  protected:
    using DeclarationReader::DeclarationReader;

    isa::DType type_of(ExprId e) const { return e.valid() ? (*m_f)[e].dtype : isa::DType::index; }
    ExprId expr();
    Expr primary();
    Expr field(const std::string& w);
    Expr literal();
    Expr parenthesised();
    ExprList list();
};

} // namespace pto::ir
