#pragma once
/// What every report value has in common: the status words, where a result comes from, the language of sentences.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pto::report {

enum class Language : std::uint8_t { en, zh };

/// The words a verdict may begin with. Nothing else is ever printed as a verdict.
enum class Status : std::uint8_t {
    proven, match, right, bitwise, fits,                 // good
    warned, rounding, order, not_proven,                 // look at it
    refused, hang, race, different, no_answer,           // bad
    predicted, measured, stale,                          // neither
};
enum class Tone : std::uint8_t { good, warn, bad, muted };

std::string_view word(Status s);   // "NOT PROVEN"
std::string_view glyph(Status s);  // "▲"; pictures and HTML only, text stays ASCII
Tone tone(Status s);

/// Where a result was computed, who checked it and what in it is an estimate. It has no default: a report that prints a
/// verdict cannot be built without saying these three.
struct Provenance {
    std::string computed_by;             // "simulator (ascend950pr)", "host C++", "npu:0 (ascend950pr)", "nothing was run"
    std::string checked_by;              // "verifier", "comparison with preload 0"; empty: nobody checked
    std::vector<std::string> estimated;  // "time: 11 % guessed rows"
    /// Shares of the timing rows used, in percent, by grade; all zero when no time was predicted.
    std::int32_t stated_percent = 0, derived_percent = 0, guessed_percent = 0;
    Provenance(std::string computed_by, std::string checked_by, std::vector<std::string> estimated)
        : computed_by(std::move(computed_by)), checked_by(std::move(checked_by)), estimated(std::move(estimated)) {}
    bool operator==(const Provenance&) const = default;
};

/// "simulator (ascend950pr), timing rows 61 % stated 28 % derived 11 % guessed"
std::string provenance_line(const Provenance& p, Language language);

/// PROVEN, MATCH, RIGHT and BITWISE need somebody who checked, MEASURED needs a card: what does not hold is not printed.
Status honest(Status wanted, const Provenance& p);

/// A place as the user sees it: cell or file, line from 1 (the magic's line is 1), column from 1 in code points.
struct Place {
    std::string file;
    std::int32_t line = 0, column = 0;
    bool valid() const { return line > 0; }
    bool operator==(const Place&) const = default;
};
/// "In[4]:35", or "In[4]:35:5" with the column; empty for no place.
std::string text_of(const Place& p, bool with_column = false);

} // namespace pto::report
