#include "engine/report/memory_map.hpp"

#include "engine/report/json_fields.hpp"
#include "engine/report/text.hpp"

#include <algorithm>
#include <map>

namespace pto::report {

MemoryUse use_of(const MemorySpaceMap& m) {
    std::vector<std::pair<std::int64_t, std::int64_t>> cells;
    for (const MemoryGroup& g : m.groups)
        for (std::int32_t i = 0; i < g.slots; ++i) {
            const std::int64_t at = g.address + i * (g.stride > 0 ? g.stride : g.slot_bytes);
            cells.push_back({at, at + g.slot_bytes});
        }
    std::sort(cells.begin(), cells.end());
    MemoryUse u;
    for (const auto& [from, to] : cells) {
        if (from > u.top) u.gaps.push_back({u.top, from});
        u.used += std::max<std::int64_t>(0, to - std::max(from, u.top));
        u.top = std::max(u.top, to);
    }
    return u;
}

std::vector<const MemoryGroup*> beyond(const MemorySpaceMap& m) {
    std::vector<const MemoryGroup*> out;
    for (const MemoryGroup& g : m.groups)
        if (g.end() > m.usable) out.push_back(&g);
    std::stable_sort(out.begin(), out.end(), [](const MemoryGroup* a, const MemoryGroup* b) { return a->end() > b->end(); });
    return out;
}

Status status(const MemoryMap& map) {
    Status s = Status::fits;
    for (const MemorySpaceMap& m : map.memories) {
        if (!beyond(m).empty()) return Status::refused;
        for (const MemoryOverlap& o : m.overlaps)
            if (!o.lawful) return Status::refused;
        if (use_of(m).top * 10 > m.usable * 9) s = Status::warned;
    }
    return s;
}

namespace {

std::string size_pair(std::int64_t used, std::int64_t usable) {
    if (used % 1024 == 0 && usable % 1024 == 0) return std::to_string(used / 1024) + " of " + std::to_string(usable / 1024) + " KiB";
    return kib(used) + " of " + kib(usable);
}

std::string verdict(const MemoryMap& map, Language language) {
    const bool zh = language == Language::zh;
    for (const MemorySpaceMap& m : map.memories) {
        if (const auto list = beyond(m); !list.empty()) {
            const MemoryGroup& g = *list.front();
            const std::string excess = grouped(g.end() - m.usable);
            return zh ? "已拒绝 " + g.name + " 结束于 " + hex(g.end()) + "，" + map.target + " 的 " + m.name + " 只到 " + hex(m.usable) + "：超出 " + excess + " 字节"
                      : "REFUSED  " + g.name + " ends at " + hex(g.end()) + ", " + m.name + " on " + map.target + " has " + hex(m.usable) + ": " + excess + " bytes too many";
        }
        for (const MemoryOverlap& o : m.overlaps)
            if (!o.lawful)
                return zh ? "已拒绝 " + o.first + " 与 " + o.second + " 共用 " + hex(o.from) + "-" + hex(o.to) + "，但" + (o.note.empty() ? " mutex_ids 不同" : "：" + o.note)
                          : "REFUSED  " + o.first + " and " + o.second + " share " + hex(o.from) + "-" + hex(o.to) + " but not their locks" + (o.note.empty() ? "" : ": " + o.note);
    }
    std::int64_t best = -1;
    std::vector<std::string> names;
    std::size_t shared = 0;
    for (const MemorySpaceMap& m : map.memories) {
        shared += m.overlaps.size();
        const std::int64_t percent = m.usable > 0 ? use_of(m).used * 100 / m.usable : 0;
        if (percent > best) best = percent, names.clear();
        if (percent == best) names.push_back(m.name);
    }
    const std::string state = std::string(word(status(map)));
    const std::string fullest = join(names, zh ? "、" : " and ") + (zh ? "，" : " ") + std::to_string(std::max<std::int64_t>(0, best)) + " %";
    if (zh) return std::string(status(map) == Status::fits ? "放得下" : "警告") + "：" + map.kernel + "（" + map.target + "）" + (shared ? "重叠均合法" : "无重叠") + "；最满的是 " + fullest;
    return state + "  memory of " + map.kernel + " on " + map.target + ": " + (shared ? plural(std::int64_t(shared), "lawful overlap", "lawful overlaps") : std::string("no overlap")) + "; fullest " + fullest;
}

std::string group_tail(const MemoryGroup& g) {
    std::string s;
    if (!g.locks.empty()) s += pad((g.locks.size() == 1 ? "lock  " : "locks ") + (g.locks.size() > 3 ? id_ranges(g.locks) : id_list(g.locks)), 13);
    else s += pad("no lock", 13);
    std::string who = g.channel && g.stages.size() > 1 ? g.stages[0] + " > " + join({g.stages.begin() + 1, g.stages.end()}, ", ") : join(g.stages, ", ");
    if (g.channel) s += pad(who, 17) + "ids " + (g.ready_ids.empty() ? "-" : id_list(g.ready_ids)) + " / " + (g.free_ids.empty() ? "-" : id_list(g.free_ids));
    else s += who;
    return without_trailing_blanks(s);
}

std::string kib_number(std::int64_t bytes) { return bytes % 1024 == 0 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B"; }

std::string group_line(const MemoryGroup& g, int name, int shape) {
    return "  " + hex(g.address) + "-" + hex(g.end()) + "  " + pad(g.name, name) + pad(std::to_string(g.slots) + " x " + pad_left(kib_number(g.slot_bytes), 6), 13) +
           pad(g.shape + " " + g.dtype + (g.layout.empty() ? "" : " " + g.layout), shape) + group_tail(g) + "\n";
}

} // namespace

std::string to_text(const MemoryMap& map, Language language) {
    const bool zh = language == Language::zh;
    std::string out = verdict(map, language) + "\n";
    std::string second = zh ? "依据声明，未运行" : "from the declarations, nothing was run";
    if (map.provenance.computed_by != "nothing was run") second = provenance_line(map.provenance, language);
    for (const MemorySpaceMap& m : map.memories)
        if (m.physical > m.usable) second += "; " + m.name + " counts " + std::to_string(m.usable / 1024) + " of " + std::to_string(m.physical / 1024) + " KiB as usable";
    out += wrapped(second, 2);
    int name = 6, shape = 13;
    for (const MemorySpaceMap& m : map.memories)
        for (const MemoryGroup& g : m.groups) {
            name = std::max(name, columns(g.name) + 2);
            shape = std::max(shape, columns(g.shape + g.dtype + g.layout) + 4);
        }
    std::vector<std::string> compact;
    for (const MemorySpaceMap& m : map.memories) {
        const MemoryUse u = use_of(m);
        // A memory with one lawful group needs one line only.
        if (m.groups.size() == 1 && m.overlaps.empty() && beyond(m).empty() && m.groups[0].address == 0 && !m.groups[0].channel) {
            const MemoryGroup& g = m.groups[0];
            compact.push_back(m.name + "  " + size_pair(u.used, m.usable) + "   " + g.name + "  " + std::to_string(g.slots) + " x " + kib_number(g.slot_bytes) +
                              (g.locks.empty() ? "" : "  locks " + (g.locks.size() > 3 ? id_ranges(g.locks) : id_list(g.locks))));
            continue;
        }
        std::string line = pad(m.name + (m.note.empty() ? "" : ", " + m.note), 15) + size_pair(u.used, m.usable) + ", top " + hex(u.top);
        if (u.top < m.usable) line += ", free above " + std::to_string((m.usable - u.top) / 1024) + " KiB";
        if (!u.gaps.empty()) {
            std::int64_t sum = 0;
            bool same = true;
            for (const auto& [from, to] : u.gaps) sum += to - from, same = same && to - from == u.gaps[0].second - u.gaps[0].first;
            line += ", " + plural(std::int64_t(u.gaps.size()), "gap", "gaps") + " of " + (same ? kib(u.gaps[0].second - u.gaps[0].first) : kib(sum) + " in all");
        }
        out += line + "\n";
        for (const MemoryGroup& g : m.groups) {
            out += group_line(g, name, shape);
            if (g.end() > m.usable) out += "    ends at " + hex(g.end()) + ", " + m.name + " has " + hex(m.usable) + ": " + grouped(g.end() - m.usable) + " bytes too many\n";
        }
        for (const MemoryOverlap& o : m.overlaps)
            out += "  " + hex(o.from) + "-" + hex(o.to) + "  " + o.first + " and " + o.second + " share these bytes: " + (o.lawful ? "lawful" : "NOT lawful") + (o.note.empty() ? "" : ", " + o.note) + "\n";
    }
    const std::string locks = "locks used: cube " + std::to_string(map.cube_locks) + " of " + std::to_string(map.lock_limit) + ", vector " + std::to_string(map.vector_locks) + " of " + std::to_string(map.lock_limit);
    if (map.cube_locks + map.vector_locks > 0) compact.push_back(locks);
    for (std::size_t i = 0; i < compact.size(); ++i) {
        if (i + 1 < compact.size() && columns(compact[i]) <= 49 && columns(compact[i]) + 2 + columns(compact[i + 1]) <= text_columns) {
            out += pad(compact[i], 49) + compact[i + 1] + "\n";
            ++i;
        } else out += compact[i] + "\n";
    }
    for (std::size_t i = 0; i < map.room.size(); ++i) out += wrapped(pad(i ? "" : "room", 6) + map.room[i], 6);
    return fit(out);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryGroup, name, address, slot_bytes, stride, slots, shape, dtype, layout, locks, stages, channel, ready_ids, free_ids, lifetime, place)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryOverlap, first, second, from, to, lawful, note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemorySpaceMap, name, note, usable, physical, groups, overlaps)
PTO_JSON_FIELDS(MemoryMap, kernel, target, memories, lock_limit, cube_locks, vector_locks, room)

nlohmann::json json_of(const MemoryMap& m) {
    nlohmann::json j = head(m.provenance);
    j["status"] = word(status(m));
    json_put(j, m);
    for (std::size_t i = 0; i < m.memories.size(); ++i) {
        const MemoryUse u = use_of(m.memories[i]);
        j["memories"][i]["used"] = u.used;
        j["memories"][i]["top"] = u.top;
    }
    return j;
}

MemoryMap memory_map_from_json(const nlohmann::json& j) {
    MemoryMap m{provenance_of(j), {}, {}, {}, 32, 0, 0, {}};
    json_take(j, m);
    return m;
}

} // namespace pto::report
