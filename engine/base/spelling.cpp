#include "engine/base/spelling.hpp"

#include <algorithm>
#include <vector>

namespace pto {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t previous = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = previous;
        }
    }
    return row[b.size()];
}

std::size_t suggestion_limit(std::string_view name) {
    return name.size() < 4 ? 1 : std::max<std::size_t>(2, name.size() / 3);
}

} // namespace pto
