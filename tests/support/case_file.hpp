#pragma once
/// A case file: a comment that says what it shows, then sections `--- name`. Sections the runner knows are compared, or rewritten with
/// --update so that the difference shows in the same commit.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pto::test {

struct CaseFile {
    struct Section {
        std::string name, text;
    };
    std::string path, comment;
    std::vector<Section> sections;

    static CaseFile read(const std::string& path) {
        CaseFile c;
        c.path = path;
        std::ifstream in(path);
        std::string line;
        std::string* into = &c.comment;
        while (std::getline(in, line)) {
            if (line.rfind("--- ", 0) == 0) {
                c.sections.push_back({line.substr(4), {}});
                into = &c.sections.back().text;
            } else {
                *into += line + "\n";
            }
        }
        return c;
    }
    const std::string* find(const std::string& name) const {
        for (const Section& s : sections)
            if (s.name == name) return &s.text;
        return nullptr;
    }
    void write() const {
        std::ofstream out(path);
        out << comment;
        for (const Section& s : sections) out << "--- " << s.name << "\n" << s.text;
    }
};

} // namespace pto::test
