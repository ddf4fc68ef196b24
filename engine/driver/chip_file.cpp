#include "engine/driver/chip_file.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace pto::driver {

bool is_chip_file(const std::string& target) { return target.size() > 5 && target.compare(target.size() - 5, 5, ".json") == 0; }

const machine::Chip* chip_of_file(const std::string& path, Diagnostics& diagnostics) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        diagnostics.push_back(diagnose(Code::chip_file, {}, "`" + path + "` cannot be read"));
        return nullptr;
    }
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    // A compilation points at its chip, so a chip that was read stays: one entry for each text.
    static std::mutex guard;
    static std::map<std::string, machine::Chip> read;
    std::lock_guard<std::mutex> hold(guard);
    if (auto found = read.find(text); found != read.end()) return &found->second;
    Result<machine::Chip> chip = machine::read_chip(text);
    if (!chip) {
        for (Diagnostic& d : chip.diagnostics) {
            d.advice.push_back("see docs/targets.md; `xpto calibrate` writes such a file");
            diagnostics.push_back(std::move(d));
        }
        return nullptr;
    }
    return &read.emplace(text, std::move(*chip)).first->second;
}

} // namespace pto::driver
