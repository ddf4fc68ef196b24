#include "engine/report/text.hpp"

#include <algorithm>
#include <cstdio>

namespace pto::report {

namespace {

/// Decodes one code point and advances; an invalid byte counts as itself, so any input ends.
char32_t next(std::string_view s, std::size_t& i) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
    const unsigned char b = byte(i);
    const int n = b < 0x80 ? 1 : (b >> 5) == 6 ? 2 : (b >> 4) == 14 ? 3 : (b >> 3) == 30 ? 4 : 1;
    if (n == 1 || i + std::size_t(n) > s.size()) return ++i, b;
    char32_t c = b & (0xFF >> (n + 1));
    for (int k = 1; k < n; ++k) c = (c << 6) | (byte(i + std::size_t(k)) & 0x3F);
    i += std::size_t(n);
    return c;
}

int columns_of(char32_t c) {
    if ((c >= 0x300 && c <= 0x36F) || c == 0x200B || c == 0x200D || c == 0xFEFF) return 0;
    const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                      (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                      (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
    return wide ? 2 : 1;
}

std::string printed(const char* format, double v, int decimals) {
    char buffer[64];
    const int n = std::snprintf(buffer, sizeof buffer, format, decimals, v);
    return {buffer, std::size_t(std::clamp(n, 0, 63))};
}

} // namespace

int columns(std::string_view s) {
    int n = 0;
    for (std::size_t i = 0; i < s.size();) n += columns_of(next(s, i));
    return n;
}

std::string pad(std::string_view s, int width) {
    std::string out(s);
    const int have = columns(s);
    out.append(std::size_t(have < width ? width - have : 1), ' ');
    return out;
}

std::string pad_left(std::string_view s, int width) {
    const int have = columns(s);
    return std::string(std::size_t(std::max(0, width - have)), ' ') + std::string(s);
}

std::string without_trailing_blanks(std::string s) {
    while (!s.empty() && s.back() == ' ') s.pop_back();
    return s;
}

std::string grouped(std::int64_t n) {
    std::string digits = std::to_string(n);
    const std::size_t first = digits[0] == '-' ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
    return digits;
}

std::string fixed(double v, int decimals) {
    std::string s = printed("%.*f", v, decimals);
    if (s.find_first_not_of("-0.") == std::string::npos && s[0] == '-') s.erase(0, 1);
    return s;
}

std::string hex(std::int64_t n, int digits) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "0x%0*llX", digits, static_cast<unsigned long long>(n));
    return buffer;
}

std::string kib(std::int64_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " B";
    if (bytes % 1024 == 0) return std::to_string(bytes / 1024) + " KiB";
    return fixed(double(bytes) / 1024, 1) + " KiB";
}

std::string id_list(const std::vector<int>& ids, std::string_view separator) {
    std::string out;
    for (int id : ids) (out += out.empty() ? std::string_view{} : separator) += std::to_string(id);
    return out;
}

std::string id_ranges(std::vector<int> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::string out;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t j = i;
        while (j + 1 < ids.size() && ids[j + 1] == ids[j] + 1) ++j;
        if (!out.empty()) out += ", ";
        out += std::to_string(ids[i]);
        if (j > i) out += (j == i + 1 ? "," : "-") + std::to_string(ids[j]);
        i = j + 1;
    }
    return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i) out += separator;
        out += parts[i];
    }
    return out;
}

std::string plural(std::int64_t n, std::string_view one, std::string_view many) {
    return grouped(n) + " " + std::string(n == 1 ? one : many);
}

std::string listed(std::string_view label, const std::vector<std::string>& items, std::string_view separator, int indent) {
    std::string out, line = pad(label, indent);
    bool empty = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string tail = i + 1 < items.size() ? std::string(separator) : std::string{};
        if (!empty && columns(line) + columns(without_trailing_blanks(items[i] + tail)) > text_columns) {
            out += without_trailing_blanks(line) + "\n";
            line = std::string(std::size_t(indent), ' ');
        }
        line += items[i] + tail;
        empty = false;
    }
    return out + without_trailing_blanks(line) + "\n";
}

std::string wrapped(std::string_view text, int indent, int width) {
    std::string out, line;
    std::size_t i = 0;
    while (i < text.size()) {
        std::size_t end = text.find(' ', i);
        if (end == std::string_view::npos) end = text.size();
        const std::string_view piece = text.substr(i, end - i);
        if (!line.empty() && columns(line) + 1 + columns(piece) > width && line.find_first_not_of(' ') != std::string::npos) {
            out += without_trailing_blanks(line) + "\n";
            line = std::string(std::size_t(indent), ' ') + std::string(piece);
        } else {
            if (i > 0) line += ' ';
            line += piece;
        }
        i = end + 1;
    }
    return out + without_trailing_blanks(line) + "\n";
}

std::string fit(std::string_view text, int width) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        bool first = true;
        do {
            const int room = first ? width : width - 4;
            std::size_t i = 0, blank = 0;
            int used = 0;
            while (i < line.size()) {
                std::size_t j = i;
                const char32_t c = next(line, j);
                if (used + columns_of(c) > room) break;
                used += columns_of(c);
                if (c == ' ') blank = j;
                i = j;
            }
            if (i < line.size() && blank > line.size() / 4 && blank > 40) i = blank;
            if (!first) out += "    ";
            out += without_trailing_blanks(std::string(line.substr(0, i))) + "\n";
            line.remove_prefix(i);
            first = false;
        } while (!line.empty());
    }
    return out;
}

} // namespace pto::report
