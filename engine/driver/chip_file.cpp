#include "engine/driver/chip_file.hpp"

#include <fstream>
#include <iterator>

namespace pto::driver {

bool is_chip_file(const std::string& target) { return target.size() > 5 && target.compare(target.size() - 5, 5, ".json") == 0; }

std::shared_ptr<const machine::Chip> chip_of_file(const std::string& path, Diagnostics& diagnostics) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        diagnostics.push_back(diagnose(Code::chip_file, {}, "`" + path + "` cannot be read"));
        return nullptr;
    }
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    Result<machine::Chip> chip = machine::read_chip(text);
    if (!chip) {
        for (Diagnostic& d : chip.diagnostics) {
            d.advice.push_back("see docs/targets.md; `xpto calibrate` writes such a file");
            diagnostics.push_back(std::move(d));
        }
        return nullptr;
    }
    return std::make_shared<const machine::Chip>(std::move(*chip));
}

} // namespace pto::driver
