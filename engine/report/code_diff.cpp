#include "engine/report/code_diff.hpp"

#include "engine/report/json_fields.hpp"

#include <algorithm>
#include <map>

namespace pto::report {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// Matched pairs (old, new) of the shortest edit script.
std::vector<std::pair<int, int>> matches(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
    int head = 0;
    const int n = int(a.size()), m = int(b.size());
    while (head < n && head < m && a[std::size_t(head)] == b[std::size_t(head)]) ++head;
    int tail = 0;
    while (tail < n - head && tail < m - head && a[std::size_t(n - 1 - tail)] == b[std::size_t(m - 1 - tail)]) ++tail;
    const int rows = n - head - tail, cols = m - head - tail;
    std::vector<std::pair<int, int>> out;
    for (int i = 0; i < head; ++i) out.push_back({i, i});
    constexpr int most = 1500;   // 9 MB of trace at most
    const int limit = std::min(rows + cols, most);
    std::vector<std::vector<int>> trace;
    std::vector<int> v(std::size_t(2 * limit + 3), 0);
    const auto at = [&](int k) { return std::size_t(k + limit + 1); };
    int found = -1;
    for (int d = 0; d <= limit && found < 0; ++d) {
        trace.emplace_back(v.begin() + (limit + 1 - d), v.begin() + (limit + 2 + d));   // the diagonals -d..d are all that step d reads
        for (int k = -d; k <= d; k += 2) {
            int x = k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]) ? v[at(k + 1)] : v[at(k - 1)] + 1;
            int y = x - k;
            while (x < rows && y < cols && a[std::size_t(head + x)] == b[std::size_t(head + y)]) ++x, ++y;
            v[at(k)] = x;
            if (x >= rows && y >= cols) {
                found = d;
                break;
            }
        }
    }
    std::vector<std::pair<int, int>> middle;
    if (found >= 0) {
        int x = rows, y = cols;
        for (int d = found; d > 0; --d) {
            const std::vector<int>& was = trace[std::size_t(d)];
            const auto before = [&](int k) { return was[std::size_t(k + d)]; };
            const int k = x - y;
            const int from = k == -d || (k != d && before(k - 1) < before(k + 1)) ? k + 1 : k - 1;
            const int px = before(from), py = px - from;
            while (x > px && y > py) middle.push_back({head + --x, head + --y});
            x = px, y = py;
        }
        while (x > 0 && y > 0) middle.push_back({head + --x, head + --y});
    }
    out.insert(out.end(), middle.rbegin(), middle.rend());
    for (int i = tail; i > 0; --i) out.push_back({n - i, m - i});
    return out;
}

/// Share of equal three-letter pieces: enough to tell an edited line from another one.
double likeness(std::string_view a, std::string_view b) {
    const auto trim = [](std::string_view s) { return s.substr(std::min(s.find_first_not_of(" \t"), s.size())); };
    a = trim(a), b = trim(b);
    if (a.size() < 3 || b.size() < 3) return a == b ? 1 : 0;
    std::map<std::string_view, int> pieces;
    for (std::size_t i = 0; i + 3 <= a.size(); ++i) ++pieces[a.substr(i, 3)];
    int same = 0;
    for (std::size_t i = 0; i + 3 <= b.size(); ++i)
        if (auto f = pieces.find(b.substr(i, 3)); f != pieces.end() && f->second > 0) ++same, --f->second;
    const double dice = 2.0 * same / double(a.size() + b.size() - 4);
    // stage2(ki) and stage2(_pl_ctx_1.ki): a short line mostly kept inside a longer one.
    const std::size_t shorter = std::min(a.size(), b.size()) - 2;
    return shorter >= 6 ? std::max(dice, 0.8 * same / double(shorter)) : dice;
}

} // namespace

CodeDiff diff(std::string old_name, std::string_view old_text, std::string new_name, std::string_view new_text) {
    CodeDiff d{std::move(old_name), std::move(new_name), 0, 0, {}};
    const auto a = lines_of(old_text), b = lines_of(new_text);
    std::vector<std::pair<int, int>> same = matches(a, b);
    same.push_back({int(a.size()), int(b.size())});
    int i = 0, j = 0;
    for (const auto& [x, y] : same) {
        d.removed += x - i;
        d.added += y - j;
        while (i < x || j < y) {
            // A pair needs some likeness; looking a few lines ahead keeps an inserted line from shifting all pairs.
            int skip = -1;
            if (i < x)
                for (int k = j; k < std::min(y, j + 12); ++k)
                    if (likeness(a[std::size_t(i)], b[std::size_t(k)]) > 0.55) {
                        skip = k;
                        break;
                    }
            if (i < x && skip >= 0) {
                for (; j < skip; ++j) d.lines.push_back({DiffLine::Kind::added, 0, j + 1, {}, std::string(b[std::size_t(j)])});
                d.lines.push_back({DiffLine::Kind::changed, i + 1, j + 1, std::string(a[std::size_t(i)]), std::string(b[std::size_t(j)])});
                ++i, ++j;
            } else if (i < x) {
                d.lines.push_back({DiffLine::Kind::removed, i + 1, 0, std::string(a[std::size_t(i)]), {}});
                ++i;
            } else {
                d.lines.push_back({DiffLine::Kind::added, 0, j + 1, {}, std::string(b[std::size_t(j)])});
                ++j;
            }
        }
        if (x < int(a.size()) && y < int(b.size())) d.lines.push_back({DiffLine::Kind::same, x + 1, y + 1, std::string(a[std::size_t(x)]), std::string(b[std::size_t(y)])});
        i = x + 1, j = y + 1;
    }
    return d;
}

std::string unified(const CodeDiff& d, int context) {
    std::string out = "--- " + d.old_name + "\n+++ " + d.new_name + "\n";
    const int n = int(d.lines.size());
    const auto differs = [&](int i) { return d.lines[std::size_t(i)].kind != DiffLine::Kind::same; };
    for (int i = 0; i < n;) {
        if (!differs(i)) {
            ++i;
            continue;
        }
        int from = std::max(0, i - context), to = i;
        for (int quiet = 0; to < n && quiet <= 2 * context; ++to) quiet = differs(to) ? 0 : quiet + 1;
        int last = to - 1;
        while (last > i && !differs(last)) --last;
        to = std::min(n, last + 1 + context);
        int old_from = 0, new_from = 0, old_count = 0, new_count = 0;
        std::string body, minus, plus;
        const auto flush = [&] { body += minus + plus, minus.clear(), plus.clear(); };
        for (int k = from; k < to; ++k) {
            const DiffLine& l = d.lines[std::size_t(k)];
            if (l.old_line) {
                if (!old_from) old_from = l.old_line;
                ++old_count;
            }
            if (l.new_line) {
                if (!new_from) new_from = l.new_line;
                ++new_count;
            }
            if (l.kind == DiffLine::Kind::same) flush(), body += " " + l.old_text + "\n";
            else {
                if (l.old_line) minus += "-" + l.old_text + "\n";
                if (l.new_line) plus += "+" + l.new_text + "\n";
            }
        }
        flush();
        out += "@@ -" + std::to_string(old_from) + "," + std::to_string(old_count) + " +" + std::to_string(new_from) + "," + std::to_string(new_count) + " @@\n" + body;
        i = to;
    }
    return out;
}

using DiffKind = DiffLine::Kind;
NLOHMANN_JSON_SERIALIZE_ENUM(DiffKind, {{DiffKind::same, "same"}, {DiffKind::removed, "removed"}, {DiffKind::added, "added"}, {DiffKind::changed, "changed"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DiffLine, kind, old_line, new_line, old_text, new_text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CodeDiff, old_name, new_name, added, removed, lines)

nlohmann::json json_of(const CodeDiff& d) {
    nlohmann::json j = d;
    j["schema"] = 1;
    return j;
}
CodeDiff code_diff_from_json(const nlohmann::json& j) { return j.get<CodeDiff>(); }

} // namespace pto::report
