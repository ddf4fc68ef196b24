#include "engine/driver/memory.hpp"

#include "engine/ir/walk.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace pto::driver {

using json = nlohmann::ordered_json;

namespace {

bool same_declaration(const Occupied& a, const ir::TileDecl& d) {
    return a.name == d.name && a.type == d.type && a.addresses == d.addresses;
}

/// Declarations that an operation of the function may touch.
std::set<std::int32_t> touched(const ir::Function& f) {
    std::set<std::int32_t> out;
    auto add = [&](ir::TileVarId t) {
        if (t.valid())
            for (ir::TileDeclId d : f[t].may_be) out.insert(d.index);
    };
    ir::for_each_statement(f.body, [&](const ir::Stmt& s) {
        if (const auto* op = std::get_if<ir::Op>(&s.what)) {
            for (const ir::OperandValue& o : op->operands) {
                if (const auto* t = std::get_if<ir::TileVarId>(&o)) add(*t);
                if (const auto* m = std::get_if<ir::MixedList>(&o))
                    for (ir::TileVarId t : m->tiles) add(t);
            }
        } else if (const auto* call = std::get_if<ir::VectorCall>(&s.what)) {
            for (ir::TileVarId t : call->tiles) add(t);
        }
    });
    return out;
}

} // namespace

std::vector<MemoryUse> memory_use(const ir::Kernel& kernel, const machine::Chip& chip) {
    std::map<isa::MemorySpace, MemoryUse> by_memory;
    for (const std::optional<ir::Function>* side : {&kernel.cube, &kernel.vector}) {
        if (!*side) continue;
        const ir::Function& f = **side;
        std::set<std::int32_t> used = touched(f);
        for (std::size_t i = 0; i < f.decls.size(); ++i) {
            const ir::TileDecl& d = f.decls[i];
            MemoryUse& m = by_memory[d.type.memory];
            m.memory = d.type.memory;
            m.capacity = chip.of(d.type.memory).bytes;
            auto known = std::find_if(m.tiles.begin(), m.tiles.end(), [&](const Occupied& o) { return same_declaration(o, d); });
            if (known == m.tiles.end()) {
                m.tiles.push_back({d.name, d.type, d.addresses, d.slot_bytes, d.mutex, d.fwd_ids, d.bwd_ids, d.at, false, false});
                known = m.tiles.end() - 1;
            }
            if (used.count(std::int32_t(i))) (f.core == isa::Core::cube ? known->in_cube : known->in_vector) = true;
        }
    }
    std::vector<MemoryUse> out;
    for (auto& [space, m] : by_memory) {
        std::sort(m.tiles.begin(), m.tiles.end(), [](const Occupied& a, const Occupied& b) {
            return *std::min_element(a.addresses.begin(), a.addresses.end()) < *std::min_element(b.addresses.begin(), b.addresses.end());
        });
        std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
        for (const Occupied& t : m.tiles)
            for (std::int64_t a : t.addresses) ranges.emplace_back(a, a + t.slot_bytes);
        std::sort(ranges.begin(), ranges.end());
        std::int64_t end = 0;
        for (auto [b, e] : ranges) {
            m.used += std::max<std::int64_t>(0, e - std::max(b, end));
            end = std::max(end, e);
        }
        m.top = end;
        out.push_back(std::move(m));
    }
    return out;
}

json memory_json(const Compiled& c) {
    json out = json::array();
    const ir::Kernel* kernel = c.kernel();
    if (!kernel || !c.chip) return out;
    for (const MemoryUse& m : memory_use(*kernel, *c.chip)) {
        json tiles = json::array();
        for (const Occupied& t : m.tiles)
            tiles.push_back({{"name", t.name},
                             {"shape", t.type.shape},
                             {"dtype", isa::name(t.type.dtype)},
                             {"layout", isa::name(t.type.layout)},
                             {"addresses", t.addresses},
                             {"slot_bytes", t.slot_bytes},
                             {"mutex_ids", t.mutex},
                             {"fwd_ids", t.fwd_ids},
                             {"bwd_ids", t.bwd_ids}});
        out.push_back({{"memory", isa::name(m.memory)}, {"capacity", m.capacity}, {"used", m.used}, {"top", m.top}, {"tiles", std::move(tiles)}});
    }
    return out;
}

} // namespace pto::driver
