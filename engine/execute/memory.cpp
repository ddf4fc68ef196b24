#include "engine/execute/memory.hpp"

#include <algorithm>
#include <cstring>

namespace pto::execute {

void Memory::allocate(std::int64_t size) {
    bytes = size;
    data.reset(new std::byte[std::size_t(size)]);
    known.reset(new std::byte[std::size_t(size)]);
}
void Memory::poison() {
    if (!bytes) return;
    std::memset(data.get(), 0xFF, std::size_t(bytes));
    std::memset(known.get(), 0, std::size_t(bytes));
}

CoreMemory::CoreMemory(const machine::Chip& chip, isa::Core kind) {
    for (MemorySpace s : {MemorySpace::vec, MemorySpace::mat, MemorySpace::left, MemorySpace::right, MemorySpace::acc,
                          MemorySpace::bias, MemorySpace::scaling, MemorySpace::scale_left, MemorySpace::scale_right}) {
        const bool on_vector = s == MemorySpace::vec;
        if (on_vector != (kind == isa::Core::vector)) continue;
        if (std::int64_t size = chip.of(s).bytes) spaces[std::size_t(s)].allocate(size);
    }
    poison();
}
void CoreMemory::poison() {
    for (Memory& m : spaces) m.poison();
}

GlobalMemory::GlobalMemory(const ir::Kernel& kernel, const LaunchArguments& arguments) {
    struct Piece {
        std::byte* begin;
        std::byte* end;
        std::int32_t parameter;
    };
    // Host ranges that share bytes become one range; its place is that of its first parameter.
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < arguments.arguments.size(); ++i) {
        const Buffer& b = arguments.arguments[i].buffer;
        if (b.data)
            pieces.push_back(
                {static_cast<std::byte*>(b.data), static_cast<std::byte*>(b.data) + b.bytes, std::int32_t(i)});
    }
    std::vector<Piece> by_host = pieces;
    std::stable_sort(by_host.begin(), by_host.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    std::vector<Range> groups;
    for (const Piece& p : by_host) {
        const bool joins = !groups.empty() && p.begin < groups.back().host + groups.back().bytes;
        if (!joins) groups.push_back({0, 0, p.begin, {}, {}, 0, false});
        groups.back().bytes = std::max<std::int64_t>(groups.back().bytes, p.end - groups.back().host);
        groups.back().parameters.push_back(p.parameter);
    }
    for (Range& g : groups) std::sort(g.parameters.begin(), g.parameters.end());
    std::sort(groups.begin(), groups.end(),
              [](const Range& a, const Range& b) { return a.parameters[0] < b.parameters[0]; });

    m_addresses.assign(arguments.arguments.size(), 0);
    std::int64_t next = first_address;
    for (Range& g : groups) {
        g.address = next;
        g.private_at = next - first_address;
        next += (g.bytes + 511) / 512 * 512 + 512; // a gap, so that a run past the end never lands in the neighbour
        for (std::int32_t p : g.parameters) {
            m_addresses[std::size_t(p)] =
                g.address + (static_cast<std::byte*>(arguments.arguments[std::size_t(p)].buffer.data) - g.host);
            if (std::size_t(p) < kernel.params.size())
                g.name += (g.name.empty() ? "" : ", ") + kernel.params[std::size_t(p)].name;
        }
    }
    m_data.reset(new std::byte[std::size_t(std::max<std::int64_t>(next - first_address, 1))]);
    m_ranges = std::move(groups);
}

GlobalMemory::Range* GlobalMemory::find(std::int64_t first, std::int64_t last) {
    auto holds = [&](const Range& r) { return first >= r.address && last <= r.address + r.bytes; };
    if (m_last < m_ranges.size() && holds(m_ranges[m_last])) return &m_ranges[m_last]; // copied when it became the last
    auto after = std::upper_bound(m_ranges.begin(), m_ranges.end(), first,
                                  [](std::int64_t a, const Range& r) { return a < r.address; });
    if (after == m_ranges.begin()) return nullptr;
    --after;
    if (!holds(*after)) return nullptr;
    m_last = std::size_t(after - m_ranges.begin());
    if (!after->copied) std::memcpy(m_data.get() + after->private_at, after->host, std::size_t(after->bytes));
    after->copied = true;
    return &*after;
}

void GlobalMemory::commit() {
    for (const Range& r : m_ranges)
        if (r.written) std::memcpy(r.host, m_data.get() + r.private_at, std::size_t(r.bytes));
}

} // namespace pto::execute
