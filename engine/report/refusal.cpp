#include "engine/report/refusal.hpp"

#include "engine/report/text.hpp"

#include <algorithm>

namespace pto::report {

namespace {

Place place_of(const Span& at, const SourceMap& sources) {
    if (!at.valid()) return {};
    const Position p = sources.begin(at);
    return {sources.file(at.file).name, p.line, p.column};
}

/// End column on the first line of a span: a span over several lines is marked to the end of its first.
std::int32_t end_column(const Span& at, const SourceMap& sources, const Place& begin) {
    const Position end = sources.end(at);
    if (end.line == begin.line) return std::max(end.column, begin.column + 1);
    return sources.position(at.file, at.begin + std::int32_t(sources.line_text(at.file, begin.line).size())).column;
}

std::string dedented(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string{} : std::string(line.substr(first));
}

/// The whole lines an edit touches, before and after; several edits of one line give one pair.
std::vector<FixLine> fix_lines(std::vector<Edit> edits, const SourceMap& sources) {
    std::vector<FixLine> out;
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
    for (std::size_t i = 0; i < edits.size();) {
        const FileId file = edits[i].at.file;
        if (!file.valid()) {
            ++i;
            continue;
        }
        const std::string& text = sources.file(file).text;
        const std::size_t size = text.size();
        std::size_t begin = std::min<std::size_t>(std::size_t(std::max(0, edits[i].at.begin)), size);
        while (begin > 0 && text[begin - 1] != '\n') --begin;
        std::size_t end = begin, at = begin;
        std::string after;
        std::size_t j = i;
        for (; j < edits.size() && edits[j].at.file == file && (j == i || std::size_t(edits[j].at.begin) <= end); ++j) {
            const std::size_t from = std::min(std::size_t(edits[j].at.begin), size);
            if (from > at) after.append(text, at, from - at);
            after += edits[j].replacement;
            at = std::max(at, std::min(std::size_t(std::max(edits[j].at.end, edits[j].at.begin)), size));
            end = std::min(text.find('\n', at), size);
        }
        after.append(text, at, end - at);
        const std::string before = text.substr(begin, end - begin);
        const Place first = place_of({file, std::int32_t(begin), std::int32_t(begin)}, sources);
        std::vector<std::string> olds, news;
        const auto split = [](const std::string& s, std::vector<std::string>& into) {
            for (std::size_t k = 0; k <= s.size();) {
                const std::size_t e = std::min(s.find('\n', k), s.size());
                into.push_back(dedented(std::string_view(s).substr(k, e - k)));
                k = e + 1;
            }
        };
        split(before, olds);
        split(after, news);
        for (std::size_t k = 0; k < std::max(olds.size(), news.size()); ++k) {
            FixLine l{k < olds.size() ? olds[k] : "", k < news.size() ? news[k] : "", first};
            l.place.line += std::int32_t(k);
            if (l.removed != l.added) out.push_back(std::move(l));
        }
        i = j;
    }
    return out;
}

} // namespace

Refusal refusal_of(const Diagnostics& list, const SourceMap& sources, std::string kernel, Provenance provenance) {
    Refusal r{std::move(provenance), std::move(kernel), {}};
    Diagnostics sorted = list;
    sort_by_position(sorted);
    std::stable_partition(sorted.begin(), sorted.end(), [](const Diagnostic& d) { return d.severity == Severity::error; }); // what stops it comes first
    for (const Diagnostic& d : sorted) {
        if (d.severity == Severity::note) continue;
        Finding f;
        const CodeRow& rule = row(d.code);
        f.code = rule.text;
        f.rule_en = rule.english;
        f.rule_zh = rule.chinese;
        f.severity = d.severity;
        f.message = d.message;
        f.place = place_of(d.at, sources);
        if (f.place.valid()) {
            f.source = std::string(sources.line_text(d.at.file, f.place.line));
            f.end_column = end_column(d.at, sources, f.place);
            f.marks.push_back({f.place.column, f.end_column, {}});
        }
        for (const Label& l : d.labels) {
            const Place p = place_of(l.at, sources);
            if (p.valid() && p.file == f.place.file && p.line == f.place.line) f.marks.push_back({p.column, end_column(l.at, sources, p), l.message});
            else f.also.push_back({p, l.message});
        }
        if (d.fix) {
            f.fix = fix_lines(d.fix->edits, sources);
            if (f.fix.empty()) f.alternatives.push_back(d.fix->message);
            else f.fix_message = d.fix->message;
        }
        f.alternatives.insert(f.alternatives.end(), d.advice.begin(), d.advice.end());
        r.findings.push_back(std::move(f));
    }
    return r;
}

Status status(const Refusal& r) {
    for (const Finding& f : r.findings)
        if (f.severity == Severity::error) return Status::refused;
    return Status::warned;
}

std::string short_code(const std::string& code) { return code.rfind("PTO-", 0) == 0 ? code.substr(4) : code; }

namespace {

/// Code points of a line, tabs shown as one blank so that carets stand under what they mean.
std::vector<std::string> code_points(const std::string& s) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < s.size();) {
        std::size_t n = 1;
        while (i + n < s.size() && (static_cast<unsigned char>(s[i + n]) & 0xC0) == 0x80) ++n;
        out.push_back(s[i] == '\t' ? " " : s.substr(i, n));
        i += n;
    }
    return out;
}

} // namespace

Excerpt excerpt(const Finding& f, int width) {
    const std::vector<std::string> points = code_points(f.source);
    // Columns of the terminal where each code point begins; Chinese text before the place moves carets by two.
    std::vector<int> at(points.size() + 1, 0);
    for (std::size_t i = 0; i < points.size(); ++i) at[i + 1] = at[i] + columns(points[i]);
    const auto column_at = [&](std::int32_t c) { return at[std::min(std::size_t(std::max(0, c - 1)), points.size())]; };

    int first = 0, last = 0;
    if (!f.marks.empty()) {
        first = column_at(f.marks[0].column);
        last = first;
        for (const Mark& m : f.marks) {
            const int end = std::max(column_at(m.end), column_at(m.column) + 1) + (m.note.empty() ? 0 : 1 + columns(m.note));
            if (end - std::min(first, column_at(m.column)) <= width - 6) {
                first = std::min(first, column_at(m.column));
                last = std::max(last, end);
            }
        }
    }
    int from = 0;
    if (at.back() > width && last > width - 3) from = std::max(0, std::min(first - 8, at.back() - width + 6));
    if (from > 0 && last - from > width - 6) from = std::max(0, first - 3);
    Excerpt e;
    std::size_t i = 0;
    while (i < points.size() && at[i] < from) ++i;
    const int shift = from > 0 ? 3 - at[i] : 0;
    if (from > 0) e.source = "...";
    for (; i < points.size(); ++i) {
        if (at[i + 1] + shift > width - (i + 1 < points.size() && at.back() + shift > width ? 3 : 0)) {
            e.source += "...";
            break;
        }
        e.source += points[i];
    }
    // One caret line; a mark whose note would collide with the next goes to a line of its own.
    std::vector<Mark> marks = f.marks;
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.column < b.column; });
    for (const Mark& m : marks) {
        const int begin = column_at(m.column) + shift;
        if (begin < 0 || begin >= width) continue;
        const int length = std::max(1, std::min(column_at(m.end) + shift, width) - begin);
        std::string piece(std::size_t(length), '^');
        if (!m.note.empty()) piece += " " + m.note;
        std::size_t line = 0;
        while (line < e.carets.size() && columns(e.carets[line]) >= std::max(begin, 1)) ++line;
        if (line == e.carets.size()) e.carets.emplace_back();
        if (begin > columns(e.carets[line])) e.carets[line] += std::string(std::size_t(begin - columns(e.carets[line])), ' ');
        e.carets[line] += piece;
    }
    return e;
}

} // namespace pto::report
