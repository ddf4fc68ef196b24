/// More slots for a channel, as edits of its declaration: only where ids and bytes are surely free.

#include "engine/sync/advice.hpp"

#include <algorithm>
#include <set>

namespace pto::sync {
namespace {

std::string hex(std::int64_t v) {
    static const char digits[] = "0123456789abcdef";
    std::string out;
    do out.insert(out.begin(), digits[v & 15]), v >>= 4; while (v > 0);
    return "0x" + out;
}

std::string list(const std::vector<std::int32_t>& ids) {
    std::string out = "[";
    for (std::size_t i = 0; i < ids.size(); ++i) out += (i ? ", " : "") + std::to_string(ids[i]);
    return out + "]";
}

} // namespace

std::vector<Edit> grow_slots(const pipeline::Model& model, BufferId buffer, std::int32_t slots, const SyncLimits& limits) {
    if (!buffer.valid()) return {};
    const pipeline::Buffer& b = model[buffer];
    if (b.ranges.empty() || !b.memory || b.partner.valid() || slots <= b.slots) return {};
    const std::int32_t more = slots - b.slots;
    std::vector<Edit> edits;

    if (!b.mutex_auto && !b.mutex_ids.empty()) {
        std::set<std::int32_t> used;
        for (const pipeline::Buffer& o : model.buffers) {
            if (o.mutex_at.valid() && o.mutex_ids.empty() && !o.mutex_auto) return {}; // a list that is not static
            for (const auto& slot : o.mutex_ids) used.insert(slot.begin(), slot.end());
        }
        std::vector<std::int32_t> ids;
        for (const auto& slot : b.mutex_ids) {
            if (slot.size() != 1) return {};
            ids.push_back(slot.front());
        }
        for (std::int32_t id = 0; id < 28 && std::int32_t(ids.size()) < slots; ++id)
            if (!used.count(id)) ids.push_back(id);
        if (std::int32_t(ids.size()) < slots) return {};
        edits.push_back({b.mutex_at, list(ids)});
    }
    if (b.depth_at.valid()) edits.push_back({b.depth_at, std::to_string(slots)});

    std::set<std::int32_t> used;
    for (const pipeline::Buffer& o : model.buffers)
        for (const pipeline::IdList* l : {&o.fwd, &o.bwd}) used.insert(l->ids.begin(), l->ids.end());
    for (const pipeline::IdList* l : {&b.fwd, &b.bwd}) {
        if (!l->given || l->ids.size() == 1) continue;
        if (!l->name.empty()) return {};
        std::vector<std::int32_t> ids = l->ids;
        for (std::int32_t id = 0; id < limits.event_ids && std::int32_t(ids.size()) < slots; ++id)
            if (used.insert(id).second) ids.push_back(id);
        if (std::int32_t(ids.size()) < slots) return {};
        edits.push_back({l->at, list(ids)});
    }

    // Bytes: behind the last slot when nothing stands there, else behind everything of that memory.
    const std::int64_t capacity = *b.memory == isa::MemorySpace::vec ? limits.vec_bytes : limits.mat_bytes;
    std::vector<pipeline::ByteRange> taken;
    for (const pipeline::Buffer& o : model.buffers) {
        if (o.memory && *o.memory != *b.memory) continue;
        if (o.ranges.empty()) return {};
        taken.insert(taken.end(), o.ranges.begin(), o.ranges.end());
    }
    for (const pipeline::FixedTile& t : model.tiles) {
        if (t.memory && *t.memory != *b.memory) continue;
        if (!t.range) return {};
        taken.push_back(*t.range);
    }
    std::int64_t end = 0;
    for (const pipeline::ByteRange& r : taken) end = std::max(end, r.end);
    bool contiguous = true;
    for (std::size_t j = 1; j < b.ranges.size(); ++j) contiguous = contiguous && b.ranges[j].begin == b.ranges[j - 1].end;
    const pipeline::ByteRange behind{b.ranges.back().end, b.ranges.back().end + more * b.slot_bytes};
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const pipeline::ByteRange& r) { return r.overlaps(behind); });
    if (contiguous && free && b.addrs_is_base) {
        if (behind.end > capacity) return {};
        return edits;
    }
    std::string addrs = "[";
    for (const pipeline::ByteRange& r : b.ranges) addrs += hex(r.begin) + ", ";
    std::int64_t at = free && contiguous ? behind.begin : (end + 31) / 32 * 32;
    for (std::int32_t k = 0; k < more; ++k, at += b.slot_bytes) addrs += hex(at) + (k + 1 < more ? ", " : "]");
    if (at > capacity) return {};
    edits.push_back({b.addrs_at, addrs});
    return edits;
}

} // namespace pto::sync
