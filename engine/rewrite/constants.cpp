/// Values read while compiling, spelled so that the generated file means the same without its surroundings.

#include "engine/base/diagnostics.hpp"
#include "engine/rewrite/collect.hpp"

#include <charconv>
#include <cmath>

namespace pto::rewrite {
namespace {

std::string spell_real(double v) {
    if (std::isnan(v)) return "float(\"nan\")";
    if (std::isinf(v)) return v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, v);
    std::string s(buffer, end.ptr);
    if (s.find_first_of(".e") == std::string::npos) s += ".0";
    return s;
}

std::string spell_text(const std::string& s) {
    static const char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') out += '\\', out += c;
        else if (c == '\n') out += "\\n";
        else if (static_cast<unsigned char>(c) < 32) out += std::string("\\x") + digits[(c >> 4) & 15] + digits[c & 15];
        else out += c;
    }
    return out + "\"";
}

} // namespace

std::string spell_constant(const syntax::Constant& c, const std::string& pl) {
    return std::visit(on{
                          [](syntax::NoneValue) { return std::string("None"); },
                          [](bool v) { return std::string(v ? "True" : "False"); },
                          [](std::int64_t v) { return std::to_string(v); },
                          [](double v) { return spell_real(v); },
                          [](const std::string& v) { return spell_text(v); },
                          [&](isa::DType v) { return isa::language_name(v).empty() ? std::string() : pl + "." + std::string(isa::language_name(v)); },
                          [&](isa::EnumValue v) { return pl + "." + std::string(isa::name(v.kind)) + "." + std::string(isa::name(v)); },
                          [&](const syntax::LanguageName& v) { return v.path == "pl" ? pl : v.path.rfind("pl.", 0) == 0 ? pl + v.path.substr(2) : pl + "." + v.path; },
                          [&](const syntax::FunctionRef& v) { return v.name; },
                          [&](const syntax::ConstantList& list) {
                              std::string out;
                              for (const syntax::Constant& item : list) {
                                  std::string one = spell_constant(item, pl);
                                  if (one.empty()) return std::string();
                                  out += (out.empty() ? "" : ", ") + one;
                              }
                              if (c.is_tuple) return "(" + out + (list.size() == 1 ? ",)" : ")");
                              return "[" + out + "]";
                          },
                          [](const auto&) { return std::string(); },
                      },
                      c.value);
}

} // namespace pto::rewrite
