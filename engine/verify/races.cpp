/// Conflicting accesses that no path orders (H1 to H9), and one pipe's accesses that may overlap.

#include "engine/verify/findings.hpp"

#include <algorithm>

namespace pto::verify {
namespace {

/// Accesses of one set of bytes on one pipe, in issue order.
struct Group {
    int lane = 0;
    std::vector<std::int32_t> reads, writes;
};

class RaceCheck {
  public:
    RaceCheck(const SyncIndex& x, const Firing& f, std::int64_t tasks, bool same_pipe, Findings& out)
        : m_x(x), m_t(x.trace), m_f(f), m_tasks(tasks), m_same_pipe(same_pipe), m_out(out) {}

    void run() {
        collect();
        for (auto [a, b] : overlapping()) {
            for (const Group& g : m_groups[std::size_t(a)])
                for (const Group& h : m_groups[std::size_t(b)]) {
                    if (a == b && h.lane < g.lane) continue;
                    pair(g, g.writes, h, h.reads);
                    if (a != b || g.lane != h.lane) pair(h, h.writes, g, g.reads);
                    pair(g, g.writes, h, h.writes);
                }
        }
    }

  private:
    void collect() {
        m_groups.resize(m_t.bytes.size());
        for (std::size_t i = 0; i < m_t.accesses.size(); ++i) {
            const Access& a = m_t.accesses[i];
            if (!m_f.fired[std::size_t(a.event)]) continue;
            if (!m_t.bytes[std::size_t(a.footprint)].exact && m_t.bytes[std::size_t(a.footprint)].owner < 0) continue; // A9: windows at unknown places
            const int lane = m_t.events[std::size_t(a.event)].lane();
            auto& groups = m_groups[std::size_t(a.footprint)];
            auto g = std::find_if(groups.begin(), groups.end(), [&](const Group& x) { return x.lane == lane; });
            if (g == groups.end()) groups.push_back({lane, {}, {}}), g = groups.end() - 1;
            (a.write ? g->writes : g->reads).push_back(std::int32_t(i));
        }
    }
    /// Pairs of byte sets that share a byte, each with itself included.
    std::vector<std::pair<std::int32_t, std::int32_t>> overlapping() const {
        std::vector<std::int32_t> ids(m_t.bytes.size());
        for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = std::int32_t(k);
        const auto key = [&](std::int32_t k) {
            const Bytes& b = m_t.bytes[std::size_t(k)];
            return std::tuple{b.owner, b.memory, b.first, k};
        };
        std::sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
        std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
        std::vector<std::int32_t> open;
        for (std::int32_t k : ids) {
            const Bytes& b = m_t.bytes[std::size_t(k)];
            std::erase_if(open, [&](std::int32_t o) {
                const Bytes& x = m_t.bytes[std::size_t(o)];
                return x.owner != b.owner || x.memory != b.memory || x.last <= b.first;
            });
            pairs.emplace_back(k, k);
            for (std::int32_t o : open)
                if (isa::overlap(m_t.bytes[std::size_t(o)].set, b.set)) pairs.emplace_back(o, k);
            open.push_back(k);
        }
        return pairs;
    }

    const Event& event(std::int32_t access) const { return m_t.events[std::size_t(m_t.accesses[std::size_t(access)].event)]; }
    std::int32_t knows(std::int32_t access, int lane) const { return m_f.start[std::size_t(m_t.accesses[std::size_t(access)].event)][std::size_t(lane)]; }

    void pair(const Group& g, const std::vector<std::int32_t>& xs, const Group& h, const std::vector<std::int32_t>& ys) {
        if (xs.empty() || ys.empty()) return;
        m_out.pairs += std::int64_t(xs.size()) * std::int64_t(ys.size());
        if (g.lane == h.lane) return one_pipe(g.lane, xs, ys);
        for (std::int32_t a : xs) {
            // On h's pipe, what a waited for is a prefix and what waits for a is a suffix: only the middle is unordered.
            const std::int32_t before = knows(a, h.lane), mine = event(a).index;
            auto first = std::partition_point(ys.begin(), ys.end(), [&](std::int32_t b) { return event(b).index <= before; });
            for (; first != ys.end() && knows(*first, g.lane) < mine; ++first) race(a, *first);
        }
    }
    void one_pipe(int lane, const std::vector<std::int32_t>& xs, const std::vector<std::int32_t>& ys) {
        const int pipe = lane % pipe_count;
        // S and V (950) are in order; M orders one accumulator by itself and reads L0 only.
        if (!m_same_pipe || pipe == int(isa::Pipe::s) || pipe == int(isa::Pipe::m) || (pipe == int(isa::Pipe::v) && m_x.in_order_v)) return;
        for (std::int32_t a : xs)
            for (auto b = std::partition_point(ys.begin(), ys.end(), [&](std::int32_t y) { return event(y).index < event(a).index; }); b != ys.end(); ++b) {
                if (event(*b).index == event(a).index) continue;
                if (knows(*b, lane) >= event(a).index) break;
                const Access &x = m_t.accesses[std::size_t(a)], &y = m_t.accesses[std::size_t(*b)];
                if (x.atomic && y.atomic) continue;
                if (Hazard* hz = m_out.open(HazardKind::same_pipe, place_key(m_t, x.event, x.operand), place_key(m_t, y.event, y.operand), 0)) {
                    hz->is_error = false;
                    describe_race(m_x, m_f, x, y, m_tasks, *hz);
                }
                break; // the nearest is enough
            }
    }
    void race(std::int32_t a, std::int32_t b) {
        const Access *x = &m_t.accesses[std::size_t(a)], *y = &m_t.accesses[std::size_t(b)];
        if (x->event == y->event || (x->atomic && y->atomic)) return;
        const Event &ex = m_t.events[std::size_t(x->event)], &ey = m_t.events[std::size_t(y->event)];
        // In the serial meaning of the program: by task, then writer before reader.
        const bool swap = ex.task != ey.task && ex.task >= 0 && ey.task >= 0 ? ey.task < ex.task
                          : ex.core == ey.core                               ? ey.order < ex.order
                                                                             : !x->write && y->write;
        if (swap) std::swap(x, y);
        const Bytes& bytes = m_t.bytes[std::size_t(x->footprint)];
        if (Hazard* h = m_out.open(HazardKind::race, place_key(m_t, x->event, x->operand), place_key(m_t, y->event, y->operand), std::int64_t(bytes.memory))) {
            describe_race(m_x, m_f, *x, *y, m_tasks, *h);
            // Outside sections both programs run one statement; what it writes is mostly the same on every core, and a run sees whether it is.
            h->is_error = !(ex.core != ey.core && x->write && y->write && ex.row == ey.row && ex.row->semantics == isa::Semantics::setval && ex.stmt->at == ey.stmt->at);
        }
    }

    const SyncIndex& m_x;
    const Trace& m_t;
    const Firing& m_f;
    std::int64_t m_tasks;
    bool m_same_pipe;
    Findings& m_out;
    std::vector<std::vector<Group>> m_groups;
};

} // namespace

Hazard* Findings::open(HazardKind kind, const std::string& first, const std::string& second, std::int64_t detail) {
    auto [it, fresh] = m_known.emplace(std::tuple{int(kind), first, second, detail}, m_list.size());
    if (!fresh) {
        if (it->second < m_list.size()) ++m_list[it->second].count;
        return nullptr;
    }
    if (m_list.size() >= std::size_t(m_limit)) return nullptr;
    m_list.emplace_back();
    m_list.back().kind = kind;
    return &m_list.back();
}

void check_races(const SyncIndex& index, const Firing& firing, std::int64_t tasks, bool same_pipe, Findings& out) {
    RaceCheck(index, firing, tasks, same_pipe, out).run();
}

} // namespace pto::verify
