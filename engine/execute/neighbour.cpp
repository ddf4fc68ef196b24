/// Accesses that leave the tile they were made through. Source: language 8.3.
#include "engine/execute/call.hpp"

#include <algorithm>

namespace pto::execute {
namespace {

struct Extent {
    std::int64_t begin = 0, end = 0;
    bool meets(std::int64_t first, std::int64_t last) const { return first < end && begin < last; }
};

Extent slot_of(const ir::TileDecl& d, std::size_t slot) {
    // size= may be smaller than the tile: what the type covers still belongs to it, and tile-bytes has been said about it.
    const std::int64_t bytes = std::max(d.slot_bytes, num::footprint(map_of(d.type, d.type.shape), 0, 0, 0, d.type.shape[0], d.type.shape[1]).last());
    return {d.addresses[slot], d.addresses[slot] + bytes};
}

} // namespace

void warn_beyond_tile(const Call& c, int operand, const num::Footprint& bytes, bool write, Span at, bool always) {
    if (!c.findings || !c.site.function || !c.is_tile(operand)) return;
    const TileValue& t = c.tile(operand);
    const std::int64_t first = bytes.first(), last = bytes.last();
    if (!t.decl.valid() || std::size_t(t.decl.index) >= c.site.function->decls.size()) return;
    const ir::TileDecl& mine = c.site.function->decls[std::size_t(t.decl.index)];
    const Extent own = slot_of(mine, std::size_t(t.slot) % mine.addresses.size());
    if (first >= own.begin && last <= own.end) return;
    auto say = [&](const std::string& what) {
        Place place = Findings::place_of(c.self);
        place.at = at;
        c.findings->say(HazardKind::beyond_shape, false, place,
                        c.site.name + (write ? " writes" : " reads") + " bytes " + std::to_string(first) + " to " + std::to_string(last) + " through `" + mine.name + "`, which has " +
                            std::to_string(own.begin) + " to " + std::to_string(own.end) + ": " + what,
                        "make the tile as large as what is indexed, or bound the index by its valid shape");
    };
    for (const ir::TileDecl& d : c.site.function->decls) {
        if (d.type.memory != mine.type.memory) continue;
        for (std::size_t s = 0; s < d.addresses.size(); ++s) {
            const Extent other = slot_of(d, s);
            if (other.meets(own.begin, own.end) || !other.meets(first, last)) continue;
            bool touched = false;
            for (int k = 0; k < bytes.count; ++k) touched |= num::overlap(other.begin, other.end, bytes.pieces[std::size_t(k)]);
            if (!touched) continue;
            say("`" + d.name + "` lies at " + std::to_string(other.begin) + " to " + std::to_string(other.end));
            return;
        }
    }
    if (always) say("no tile lies there");
}

} // namespace pto::execute
