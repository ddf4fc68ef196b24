#include "engine/base/usual_fix.hpp"

#include <algorithm>
#include <iterator>

namespace pto {
namespace {

struct Row {
    Code code;
    UsualFix fix;
};
constexpr Row rows[] = {
#define PTO_FIX(name, english, chinese) {Code::name, {english, chinese}},
#include "engine/base/usual_fixes.def"
#undef PTO_FIX
};

} // namespace

const UsualFix* usual_fix(Code code) {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.code == code; });
    return at == std::end(rows) ? nullptr : &at->fix;
}

std::string_view chinese_fix(std::string_view english) {
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.fix.english == english; });
    return at == std::end(rows) ? std::string_view() : at->fix.chinese;
}

void complete(Diagnostics& list) {
    for (Diagnostic& d : list)
        if (const UsualFix* fix = d.fix || !d.advice.empty() ? nullptr : usual_fix(d.code)) d.advice.emplace_back(fix->english);
}

} // namespace pto
