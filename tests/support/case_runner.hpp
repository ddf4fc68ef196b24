#pragma once
/// The main of a program that runs a folder of case files: `program [--update] [name part ...]`.

#include "tests/support/case_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pto::test {

/// One case at work: sections are compared with what they say now, or take it over.
struct CaseRun {
    CaseFile file;
    bool update = false;
    std::string problems; // empty when the case holds
    const std::string& need(const std::string& section) const {
        if (const std::string* text = file.find(section)) return *text;
        throw std::runtime_error("no " + section + " section");
    }
    void compare(CaseFile::Section& s, const std::string& now) {
        if (now == s.text) return;
        if (!update) problems += s.name + "\n--- expected\n" + s.text + "--- actual\n" + now;
        s.text = now, changed = true;
    }
    bool changed = false;
};

/// Runs every case of the folder, or those whose path holds one of the parts; 1 when one does not hold, or none was run.
template <class F> int run_case_files(const std::string& folder, int argc, char** argv, F&& run) {
    bool update = false;
    std::vector<std::string> only, paths;
    for (int i = 1; i < argc; ++i)
        if (std::string a = argv[i]; a == "--update") update = true;
        else only.push_back(a);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    int failed = 0, ran = 0;
    for (const std::string& path : paths) {
        if (!only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string& o) { return path.find(o) != std::string::npos; })) continue;
        ++ran;
        CaseRun c{CaseFile::read(path), update, {}};
        try {
            run(c);
        } catch (const std::exception& e) {
            c.problems += std::string(e.what()) + "\n", c.changed = false;
        }
        if (!c.problems.empty()) ++failed, std::cout << path << ": " << c.problems;
        if (!update || !c.changed) continue;
        c.file.write();
        std::cout << "updated " << path << "\n";
    }
    std::cout << ran << " cases, " << failed << " failed\n";
    return failed == 0 && ran > 0 ? 0 : 1;
}

} // namespace pto::test
