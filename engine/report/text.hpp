#pragma once
/// Building blocks of the plain-text forms: ASCII frames, at most 100 columns, a Chinese character counts two columns.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pto::report {

inline constexpr int text_columns = 100;

/// Columns a terminal uses: 2 for East Asian wide characters, 0 for combining ones, else 1 per code point.
int columns(std::string_view utf8);
std::string pad(std::string_view s, int width);        // at least one blank follows when `s` is too long
std::string pad_left(std::string_view s, int width);
std::string without_trailing_blanks(std::string s);

std::string grouped(std::int64_t n);                   // 16,384
std::string fixed(double v, int decimals);             // never "-0.00"
std::string hex(std::int64_t n, int digits = 5);       // 0x08000
std::string kib(std::int64_t bytes);                   // "16 KiB", "16.5 KiB", "96 B" when below 1 KiB
std::string id_list(const std::vector<int>& ids, std::string_view separator = ",");   // 2,3
std::string id_ranges(std::vector<int> ids);           // 0-11, 14
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string plural(std::int64_t n, std::string_view one, std::string_view many);      // "1 beat", "2 beats"

/// `label` in a column of `indent`, then the items, broken between items so that no line is wider than 100.
std::string listed(std::string_view label, const std::vector<std::string>& items, std::string_view separator, int indent);
/// A sentence broken at blanks, each line after the first indented.
std::string wrapped(std::string_view text, int indent, int width = text_columns);
/// Last resort for names of 200 characters: cuts every line that is still too wide; nothing is lost.
std::string fit(std::string_view text, int width = text_columns);

} // namespace pto::report
