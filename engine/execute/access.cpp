#include "engine/execute/access.hpp"

namespace pto::execute {

Access& AccessList::add(isa::MemorySpace space, int core, bool write, int operand, const numerics::Footprint& bytes) {
    Access a;
    a.space = space;
    a.core = std::int8_t(core);
    a.write = write;
    a.operand = std::int16_t(operand);
    a.first = bytes.first();
    a.last = bytes.last();
    a.bytes = bytes;
    items.push_back(a);
    return items.back();
}

bool covers(const Access& outer, const Access& inner) {
    if (inner.first < outer.first || inner.last > outer.last) return false;
    if (outer.bytes.count == 1 && outer.bytes.pieces[0].contiguous()) return true;
    if (outer.bytes.count != inner.bytes.count) return false;
    for (int i = 0; i < outer.bytes.count; ++i)
        if (!(outer.bytes.pieces[std::size_t(i)] == inner.bytes.pieces[std::size_t(i)])) return false;
    return true;
}

bool same_write(const Access& a, const Access& b) {
    return a.write && b.write && a.content && a.content == b.content && a.first == b.first && a.last == b.last &&
           covers(a, b) && covers(b, a);
}

void AccessLog::drop_covered(Live& live, const LoggedAccess& now, const Clock& clock) {
    for (auto it = live.lower_bound(now.access.first); it != live.end() && it->first < now.access.last;) {
        // An atomic addition does not replace what was there: an earlier plain write stays visible to later checks.
        // What races with this write may race with later ones too, whichever of the two ran first here.
        const LoggedAccess& old = it->second;
        if (!now.access.atomic && (old.pipe == now.pipe || clock.covers(old.pipe, old.tick)) &&
            covers(now.access, old.access))
            it = live.erase(it);
        else
            ++it;
    }
}

void AccessLog::record(const LoggedAccess& now, const Clock& clock) {
    Live& mine = now.access.write ? m_writes : m_reads;
    std::int64_t& longest = m_longest[now.access.write ? 0 : 1];
    longest = std::max(longest, now.access.last - now.access.first);
    if (now.access.write) {
        drop_covered(m_writes, now, clock);
        drop_covered(m_reads, now, clock);
    }
    auto [begin, end] = mine.equal_range(now.access.first);
    for (auto it = begin; it != end; ++it)
        // Whatever waits for the later access of a pipe has waited for the earlier one.
        if (it->second.pipe == now.pipe && it->second.access.atomic == now.access.atomic &&
            covers(now.access, it->second.access)) {
            it->second = now;
            return;
        }
    mine.emplace_hint(end, now.access.first, now);
}

} // namespace pto::execute
