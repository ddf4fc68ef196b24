#pragma once
/// What usually mends a diagnostic of a code: for messages whose place knows nothing better.

#include "engine/base/diagnostics.hpp"

namespace pto {

struct UsualFix {
    std::string_view english, chinese;
};

/// Null for codes whose places always say what to do.
const UsualFix* usual_fix(Code code);
/// Chinese of a sentence that usual_fix gives; empty for any other.
std::string_view chinese_fix(std::string_view english);
/// Gives every message without a fix and without advice the usual one.
void complete(Diagnostics& list);

} // namespace pto
