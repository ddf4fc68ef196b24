#pragma once
/// Chinese for the free sentences of findings: which access, which flag, what to write instead. JSON keeps the English ones, since programs
/// compare those; sentences that a view makes itself have both languages where they are made.

#include "engine/report/common.hpp"

#include <string>

namespace pto::report {

/// The sentence in the language; as it is when no row knows it. Names, numbers and code in it stay.
std::string said(const std::string& sentence, Language language);

} // namespace pto::report
