/// Premise P4: windows of global memory that move with the task.

#include "engine/verify/windows.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

struct Key {
    std::int32_t core;
    std::int16_t segment;
    const ir::Stmt* stmt;
    std::int16_t operand;
    bool write;
    std::int32_t nth; // execution inside its iteration
    auto operator<=>(const Key&) const = default;
};
struct Window {
    const Bytes* bytes = nullptr;
    int lane = 0;
    std::int32_t part = 0;
    bool atomic = false;
};

/// Per event, between task loops: full barriers since the loop before. What one of them separates is ordered.
std::vector<std::int32_t> parts_of(const Trace& t) {
    std::vector<std::int32_t> part(t.events.size(), 0);
    for (std::size_t i = 1; i < t.events.size(); ++i) {
        const Event &e = t.events[i], &before = t.events[i - 1];
        if (e.core != before.core || e.segment != before.segment || e.segment % 2) continue;
        part[i] = part[i - 1] + (before.act == Act::sync_all && before.mode == std::uint8_t(isa::SyncCoreType::mix));
    }
    return part;
}

/// Windows of known place in one iteration of a segment.
std::map<Key, Window> windows_at(const Trace& t, const Position& at) {
    std::map<Key, Window> out;
    std::map<Key, std::int32_t> nth;
    const std::vector<std::int32_t> part = parts_of(t);
    for (const Access& a : t.accesses) {
        const Bytes& b = t.bytes[std::size_t(a.footprint)];
        const Event& e = t.events[std::size_t(a.event)];
        if (b.owner >= 0 || !b.exact || e.position() != at) continue;
        Key k{e.core, e.segment, e.stmt, a.operand, a.write, 0};
        k.nth = nth[k]++;
        out[k] = {&b, e.lane(), part[std::size_t(a.event)], a.atomic};
    }
    return out;
}

std::int64_t region_of(const Bytes& b) { return (b.first + (std::int64_t(1) << 39)) >> 40; } // tensors of unknown place lie 2^40 bytes apart
bool conflict(const Key& a, const Window& x, const Key& b, const Window& y) {
    return (a.write || b.write) && !(x.atomic && y.atomic) && x.lane != y.lane && region_of(*x.bytes) == region_of(*y.bytes);
}

} // namespace

std::optional<std::string> windows_stay_close(const Trace& t, std::int16_t segment, const Rhythm& r) {
    struct Moving {
        Key key;
        Window window;
        std::int64_t delta;
    };
    std::vector<Moving> list;
    for (std::int64_t i = r.warm_up; i < r.warm_up + r.period; ++i) {
        const auto now = windows_at(t, {segment, i}), later = windows_at(t, {segment, i + r.period});
        for (const auto& [key, w] : now) {
            const auto next = later.find(key);
            if (next == later.end()) return "a transfer to global memory does not repeat";
            list.push_back({key, w, next->second.bytes->first - w.bytes->first});
        }
    }
    for (const Moving& a : list)
        for (const Moving& b : list) {
            if (!a.key.write || !conflict(a.key, a.window, b.key, b.window)) continue;
            if (a.delta != b.delta) return "windows of global memory move at different speeds";
            if (a.delta == 0) continue;
            const std::int64_t hull = std::max(a.window.bytes->last, b.window.bytes->last) - std::min(a.window.bytes->first, b.window.bytes->first);
            if (hull > 2 * std::abs(a.delta)) return "windows of global memory meet over more than one period";
        }
    return std::nullopt;
}

void OpenWindows::add(const SyncIndex& x, const Firing& f) {
    // Per region, segment, pipe and part: the first and the last access, and whether any writes.
    struct Span {
        std::int32_t first = -1, last = -1;
        bool write = false;
    };
    std::map<std::tuple<std::int64_t, std::int16_t, int, std::int32_t>, Span> spans;
    const Trace& t = x.trace;
    const std::vector<std::int32_t> part = parts_of(t);
    for (const Access& a : t.accesses) {
        const Bytes& b = t.bytes[std::size_t(a.footprint)];
        const Event& e = t.events[std::size_t(a.event)];
        if (b.owner >= 0 || !b.exact || e.segment < m_first || e.segment > m_last) continue;
        Span& s = spans[{region_of(b), e.segment, e.lane(), part[std::size_t(a.event)]}];
        if (s.first < 0) s.first = a.event;
        s.last = a.event, s.write = s.write || a.write;
    }
    for (const auto& [p, a] : spans)
        for (const auto& [q, b] : spans) {
            if (std::get<0>(p) != std::get<0>(q) || std::get<1>(p) >= std::get<1>(q) || std::get<2>(p) == std::get<2>(q) || !(a.write || b.write)) continue;
            if (f.start[std::size_t(b.first)][std::size_t(std::get<2>(p))] < t.events[std::size_t(a.last)].index)
                m_unordered.insert({{std::get<1>(p), std::get<2>(p), std::get<3>(p)}, {std::get<1>(q), std::get<2>(q), std::get<3>(q)}});
        }
}

std::optional<std::string> OpenWindows::stay_apart(const Trace& longest, const Trace& shorter, const std::vector<Rhythm>& rhythms, const std::vector<std::int64_t>& trips) const {
    const char* open = "windows of global memory that move with one task loop may meet those of another part of the program";
    // A segment between loops moves from run to run; a loop from period to period.
    const auto listed = [&](const Stretch& at) {
        const auto [segment, lane, part] = at;
        std::vector<std::tuple<Key, Window, std::int64_t>> out;
        const auto put = [&](const std::map<Key, Window>& now, const std::map<Key, Window>& before) {
            for (const auto& [key, w] : now)
                if (w.lane == lane && w.part == part)
                    if (auto b = before.find(key); b != before.end()) out.emplace_back(key, w, w.bytes->first - b->second.bytes->first);
        };
        if (segment % 2 == 0) return put(windows_at(longest, {segment, -1}), windows_at(shorter, {segment, -1})), out;
        const std::int64_t n = trips[std::size_t(segment / 2)], period = rhythms[std::size_t(segment / 2)].period;
        for (std::int64_t i = n - period; i < n; ++i) put(windows_at(longest, {segment, i}), windows_at(longest, {segment, i - period}));
        return out;
    };
    for (const auto& [a_at, b_at] : m_unordered) {
        const auto early = listed(a_at), late = listed(b_at);
        const std::int16_t s = std::get<0>(a_at), u = std::get<0>(b_at);
        for (const auto& [ka, a, da] : early)
            for (const auto& [kb, b, db] : late) {
                if (!conflict(ka, a, kb, b) || (da == 0 && db == 0)) continue;
                if (s % 2 == 0 || u != s + 1 || da != db) return open;
                const std::int64_t hull = std::max(a.bytes->last, b.bytes->last) - std::min(a.bytes->first, b.bytes->first);
                if (hull > 2 * std::abs(da)) return open;
            }
    }
    return std::nullopt;
}

} // namespace pto::verify
