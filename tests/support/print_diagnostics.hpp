#pragma once
/// Findings as case files show them: line and columns, code, message; labels, fixes and advice below.

#include "engine/base/diagnostics.hpp"
#include "engine/base/source_map.hpp"

#include <string>

namespace pto::test {

inline std::string place(const SourceMap& sources, Span at) {
    Position b = sources.begin(at), e = sources.end(at);
    std::string out = std::to_string(b.line) + ":" + std::to_string(b.column) + "-";
    if (e.line != b.line) out += std::to_string(e.line) + ":";
    return out + std::to_string(e.column);
}

inline std::string print_diagnostics(const SourceMap& sources, const Diagnostics& list) {
    std::string out;
    for (const Diagnostic& d : list) {
        out += place(sources, d.at) + " " + std::string(row(d.code).text) + ": " + d.message + "\n";
        for (const Label& l : d.labels) out += "  " + place(sources, l.at) + " " + l.message + "\n";
        if (d.fix) {
            out += "  fix: " + d.fix->message;
            for (const Edit& e : d.fix->edits) out += " [" + place(sources, e.at) + " -> " + e.replacement + "]";
            out += "\n";
        }
        for (const std::string& a : d.advice) out += "  or: " + a + "\n";
    }
    return out.empty() ? "(none)\n" : out;
}

} // namespace pto::test
