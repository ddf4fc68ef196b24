#include "kernel/views/views.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace xpto::views {

using namespace pto::report;

namespace {

constexpr std::array python_words{"and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except", "False", "finally", "for", "from", "global",
                                  "if", "import", "in", "is", "lambda", "None", "not", "or", "pass", "raise", "return", "True", "try", "while", "with", "yield"};
constexpr std::array cpp_words{"auto", "bool", "break", "case", "class", "const", "constexpr", "continue", "default", "do", "else", "enum", "extern", "false", "float", "for",
                               "if", "inline", "int", "int32_t", "int64_t", "namespace", "return", "sizeof", "static", "struct", "switch", "template", "true", "typedef",
                               "typename", "uint32_t", "uint64_t", "using", "void", "while"};

template <class Words> bool is_word(const Words& words, std::string_view s) {
    return std::find(words.begin(), words.end(), s) != words.end();
}

} // namespace

std::string highlighted(std::string_view code, CodeKind kind) {
    static const std::string word_colour = "#1F59B2", text_colour = "#8A5A00", comment_colour = "#59626E", number_colour = "#6C4C24", call_colour = "#7A3E9D";
    std::string out;
    const auto name_char = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80; };
    for (std::size_t i = 0; i < code.size();) {
        const char c = code[i];
        const bool comment = kind == CodeKind::python ? c == '#' : c == '/' && i + 1 < code.size() && (code[i + 1] == '/' || code[i + 1] == '*');
        if (comment) {
            std::size_t end = std::min(code.find('\n', i), code.size());
            if (kind == CodeKind::cpp && code[i + 1] == '*') {
                const std::size_t close = code.find("*/", i + 2);
                end = close == std::string_view::npos ? code.size() : close + 2;
            }
            out += "<i>" + font(comment_colour, code.substr(i, end - i)) + "</i>";
            i = end;
        } else if (c == '"' || c == '\'') {
            const bool triple = kind == CodeKind::python && code.substr(i, 3) == std::string(3, c);
            std::size_t end = i + (triple ? 3 : 1);
            while (end < code.size()) {
                if (code[end] == '\\') end += 2;
                else if (triple ? code.substr(end, 3) == std::string(3, c) : code[end] == c || code[end] == '\n') break;
                else ++end;
            }
            end = std::min(end + (triple ? 3 : 1), code.size());
            out += font(text_colour, code.substr(i, end - i));
            i = end;
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            std::size_t end = i;
            while (end < code.size() && (name_char(code[end]) || code[end] == '.')) ++end;
            out += font(number_colour, code.substr(i, end - i));
            i = end;
        } else if (name_char(c)) {
            std::size_t end = i;
            while (end < code.size() && name_char(code[end])) ++end;
            const std::string_view word = code.substr(i, end - i);
            if (kind == CodeKind::python ? is_word(python_words, word) : is_word(cpp_words, word)) out += "<b>" + font(word_colour, word) + "</b>";
            else if (end < code.size() && code[end] == '(') out += font(call_colour, word);
            else out += escape(word);
            i = end;
        } else if (c == '@' && kind == CodeKind::python) {
            std::size_t end = i + 1;
            while (end < code.size() && (name_char(code[end]) || code[end] == '.')) ++end;
            out += font(call_colour, code.substr(i, end - i));
            i = end;
        } else {
            out += escape(code.substr(i, 1));
            ++i;
        }
    }
    return out;
}

std::string html(const CodeDiff& d, const ViewOptions& options) {
    const bool zh = options.language == Language::zh;
    constexpr int context = 3;
    constexpr std::size_t most = 4000;
    std::string out = "<b>" + escape(d.new_name) + "</b> +" + std::to_string(d.added) + " −" + std::to_string(d.removed) + (zh ? " 行" : " lines") + "\n<table cellspacing=\"0\" cellpadding=\"1\">\n";
    const int n = int(d.lines.size());
    std::vector<bool> shown(d.lines.size(), false);
    for (int i = 0; i < n; ++i)
        if (d.lines[std::size_t(i)].kind != DiffLine::Kind::same)
            for (int k = std::max(0, i - context); k <= std::min(n - 1, i + context); ++k) shown[std::size_t(k)] = true;
    const auto row = [&](std::int32_t a, std::int32_t b, std::string_view sign, std::string_view background, const std::string& text) {
        const std::string bg = background.empty() ? "" : " bgcolor=\"" + std::string(background) + "\"";
        const std::string body = background.empty() ? escape(text) : font("#14181D", text);
        out += "<tr><td align=\"right\">" + (a ? std::to_string(a) : "") + "</td><td align=\"right\">" + (b ? std::to_string(b) : "") + "</td><td align=\"left\" style=\"text-align:left\"" + bg + "><pre style=\"margin:0;background-color:" + (background.empty() ? "transparent" : std::string(background)) + "\">" +
               (background.empty() ? std::string(sign) : font("#14181D", sign)) + " " + body + "</pre></td></tr>\n";
    };
    int hidden = 0;
    std::size_t rows = 0;
    const auto skip = [&] {
        if (hidden) out += "<tr><td></td><td></td><td align=\"left\" style=\"text-align:left\">" + font(page_muted, (zh ? "… " + std::to_string(hidden) + " 行未变" : "… " + std::to_string(hidden) + " lines unchanged")) + "</td></tr>\n";
        hidden = 0;
    };
    for (int i = 0; i < n && rows < most; ++i) {
        const DiffLine& l = d.lines[std::size_t(i)];
        if (!shown[std::size_t(i)]) {
            ++hidden;
            continue;
        }
        skip();
        rows += l.kind == DiffLine::Kind::changed ? 2 : 1;
        if (l.kind == DiffLine::Kind::same) row(l.old_line, l.new_line, "&nbsp;", "", l.old_text);
        if (l.kind == DiffLine::Kind::removed || l.kind == DiffLine::Kind::changed) row(l.old_line, 0, "-", "#FBE3E1", l.old_text);
        if (l.kind == DiffLine::Kind::added || l.kind == DiffLine::Kind::changed) row(0, l.new_line, "+", "#DDF3E2", l.new_text);
    }
    skip();
    if (rows >= most) out += "<tr><td></td><td></td><td>" + escape(zh ? "其余行见文本" : "the rest is in the text form") + "</td></tr>\n";
    return out + "</table>\n";
}

nl::json mime_bundle(const CodeDiff& d, const ViewOptions& options) { return bundle(unified(d), html(d, options)); }

nl::json code_bundle(const std::string& name, const std::string& code, CodeKind kind, const ViewOptions&) {
    return bundle(code, "<b>" + escape(name) + "</b>\n<pre>" + highlighted(code, kind) + "</pre>\n");
}

} // namespace xpto::views
