#include "engine/execute/call.hpp"

#include "engine/execute/block.hpp"

#include <cstring>

namespace pto::execute {

std::string Call::operand_name(int i) const {
    if (site.op && i >= 0 && i < int(site.op->operands.size())) {
        const ir::OperandValue& v = site.op->operands[std::size_t(i)];
        if (auto* t = std::get_if<ir::TileVarId>(&v); t && t->valid()) {
            std::string s = (*site.function)[*t].name;
            if (is_tile(i) && tile(i).decl.valid()) {
                const ir::TileDecl& d = (*site.function)[tile(i).decl];
                if (d.slots() > 1)
                    s = d.name + " slot " + std::to_string(tile(i).slot);
                else if (s.empty())
                    s = d.name;
            }
            return s;
        }
        if (auto* t = std::get_if<ir::TensorId>(&v); t && t->valid()) return (*site.function)[*t].name;
    }
    if (has(i) && is_tile(i) && tile(i).decl.valid()) {
        const ir::TileDecl& d = (*site.function)[tile(i).decl];
        return d.slots() > 1 ? d.name + " slot " + std::to_string(tile(i).slot) : d.name;
    }
    return {};
}
Span Call::operand_span(int i) const {
    if (site.op && i >= 0 && i < int(site.op->operand_spans.size()) && site.op->operand_spans[std::size_t(i)].valid())
        return site.op->operand_spans[std::size_t(i)];
    return site.at;
}

const OperandInstance* Call::runtime(Key k) const {
    const int at = site.keys[std::size_t(k)];
    if (at < 0 || at >= int(op.attributes.size()) || op.attributes[std::size_t(at)].kind == OperandInstance::Kind::none)
        return nullptr;
    return &op.attributes[std::size_t(at)];
}
const ir::AttributeValue* Call::constant(Key k) const {
    const int at = site.keys[std::size_t(k)];
    if (at < 0 || !site.op || at >= int(site.op->attributes.size())) return nullptr;
    const ir::AttributeValue& v = site.op->attributes[std::size_t(at)];
    return std::holds_alternative<std::monostate>(v) ? nullptr : &v;
}
bool Call::given(Key k) const { return runtime(k) || constant(k); }
int Call::choice(Key k, int fallback) const {
    if (auto* v = constant(k))
        if (auto* e = std::get_if<isa::EnumValue>(v)) return e->ordinal;
    return fallback;
}
std::int64_t Call::number(Key k, std::int64_t fallback) const {
    if (auto* r = runtime(k)) return r->scalar.integer;
    if (auto* v = constant(k)) {
        if (auto* i = std::get_if<std::int64_t>(v)) return *i;
        if (auto* b = std::get_if<bool>(v)) return *b;
        if (auto* e = std::get_if<isa::EnumValue>(v)) return e->ordinal;
        if (auto* x = std::get_if<ir::ExprId>(v)) return site.function->constant(*x).value_or(fallback);
    }
    return fallback;
}
double Call::real(Key k, double fallback) const {
    if (auto* r = runtime(k)) return isa::is_float(r->scalar.dtype) ? r->scalar.real : double(r->scalar.integer);
    if (auto* v = constant(k)) {
        if (auto* d = std::get_if<double>(v)) return *d;
        if (auto* i = std::get_if<std::int64_t>(v)) return double(*i);
    }
    return fallback;
}
DType Call::type(Key k, DType fallback) const {
    if (auto* v = constant(k))
        if (auto* t = std::get_if<DType>(v)) return *t;
    return fallback;
}

int Call::home(const TileValue& t) const {
    // Tiles live in the issuing core; Vec tiles named by the cube and Mat tiles named by a vector core live on the
    // other side.
    const bool on_vector = t.type->memory == MemorySpace::vec;
    const bool is_vector = machine.kind[std::size_t(core)] == isa::Core::vector;
    if (on_vector == is_vector) return core;
    const int place = on_vector ? machine.vector(0) : machine.cube();
    if (place < 0)
        refuse(std::string("a ") + std::string(isa::name(t.type->memory)) +
               " tile needs the other core of the block, which has no program");
    return place;
}

num::TileMap map_of(const isa::TileType& type, std::array<std::int32_t, 2> valid) {
    // An accumulator keeps its physical stride unless it is compact: a product of 128 rows is read back 72 rows at a
    // time by published kernels (matmul with a row tail), which no stride taken from the reader's valid shape would
    // allow.
    if (type.memory == MemorySpace::acc && type.compact != 1) return num::tile_map(type);
    return num::tile_map(type, valid);
}

TileView Call::view(const TileValue& t, int place) const {
    TileView v;
    v.value = &t;
    v.core = place;
    v.memory = &(*machine.memory[std::size_t(place)])[t.type->memory];
    v.data = v.memory->data.get() + t.address;
    v.known = v.memory->known.get() + t.address;
    v.rows = t.valid_rows;
    v.cols = t.valid_cols;
    v.dtype = t.type->dtype;
    v.map = map_of(*t.type, {t.valid_rows, t.valid_cols});
    if (t.row_stride > 0) { // a sub-view keeps the stride of the tile it was cut from
        if (t.type->layout == isa::Layout::nd && v.map.row_block == num::TileMap::unblocked)
            v.map.row_near = t.row_stride;
        else if (t.type->layout == isa::Layout::dn && v.map.col_block == num::TileMap::unblocked)
            v.map.col_near = t.row_stride;
    }
    return v;
}

void Call::require_known(const TileView& v, const num::Footprint& absolute, int operand, std::string_view use) const {
    if (!findings || !v.known) return;
    const std::byte* known = v.memory->known.get();
    std::int64_t missing = -1;
    num::for_each_interval(absolute, [&](std::int64_t first, std::int64_t n) {
        if (missing < 0)
            if (const void* hole = std::memchr(known + first, 0, std::size_t(n)))
                missing = static_cast<const std::byte*>(hole) - known;
    });
    if (missing < 0) return;
    Place place = findings->place_of(self);
    place.operand = operand_name(operand);
    bool fresh = false;
    Hazard* h = findings->find(HazardKind::uninitialised, place, v.space(), fresh);
    if (!h || !fresh) return;
    std::int64_t row = -1, col = -1;
    const std::int64_t wanted = missing - v.value->address;
    for (std::int64_t r = 0; r < v.rows && row < 0; ++r)
        for (std::int64_t c = 0; c < v.cols; ++c)
            if (std::int64_t at = v.map.byte_offset(r, c); wanted >= at && wanted < at + std::max(1, v.map.bits / 8)) {
                row = r, col = c;
                break;
            }
    h->is_error = false; // the value is poison and visible; whether anybody uses it is not known here
    h->owner = self.core;
    h->begin = missing;
    h->end = missing + 1;
    h->what = place.operand;
    h->message = std::string(use) + " uses " + (place.operand.empty() ? "a tile" : place.operand) + "[" +
                 std::to_string(row) + ", " + std::to_string(col) + "], which nobody has written (" +
                 std::string(isa::name(v.space())) + " address " + std::to_string(missing) + "; valid shape " +
                 std::to_string(v.rows) + " x " + std::to_string(v.cols) + ")";
    h->repair = "write the whole valid region first, or set the valid shape to what was written";
    h->order = "found in this order; where nothing orders a write of another pipe before it, a race says so";
}
void Call::require_known(const TileView& v, int operand, std::string_view use) const {
    if (findings && v.rows > 0 && v.cols > 0) require_known(v, v.footprint(), operand, use);
}
void Call::mark_known(const TileView& v, const num::Footprint& absolute) {
    if (!v.known) return;
    std::byte* known = v.memory->known.get();
    num::for_each_interval(absolute,
                           [&](std::int64_t first, std::int64_t n) { std::memset(known + first, 1, std::size_t(n)); });
}
void Call::work(std::int64_t units) const {
    if (launch) launch->work(units);
}
void Call::warn(HazardKind kind, int operand, std::string message, std::string repair) const {
    if (!findings) return;
    Place place = findings->place_of(self);
    place.operand = operand_name(operand);
    findings->say(kind, false, place, std::move(message), std::move(repair), "in every order");
}
void Call::refuse(std::string message, int operand) const {
    throw Stop{Status::refused, site.name + ": " + message, operand >= 0 ? operand_span(operand) : site.at};
}

void note_work(Call& c, const TileView& region) {
    if (!c.row) return;
    Row& r = *c.row;
    r.m = std::int32_t(region.rows);
    r.n = std::int32_t(region.cols);
    int bits = region.map.bits, sources = 0;
    for (int i = 0; i < int(c.op.operands.size()); ++i) {
        if (!c.is_tile(i)) continue;
        const isa::Role role =
            i < int(c.site.row->operands.size()) ? c.site.row->operands[std::size_t(i)].role : isa::Role::none;
        if (role == isa::Role::none) continue;
        bits = std::max(bits, isa::bits(c.tile(i).type->dtype));
        const auto address = std::uint16_t(c.tile(i).address / 32);
        if (isa::writes(role)) r.ub[2] = address;
        if (isa::reads(role) && sources < 2) r.ub[sources++] = address;
    }
    r.bytes = region.rows * region.cols * bits / 8;
    const bool dense = region.map.row_near == region.cols && region.map.col_near == 1;
    r.row_bytes = std::int32_t(dense ? r.bytes : region.cols * bits / 8);
}
void add_tile(AccessList& list, const TileView& v, int operand, bool write, const num::Footprint& bytes) {
    if (bytes.count) list.add(v.space(), v.core, write, operand, bytes);
}
void add_tile(const Call& c, AccessList& list, int operand, bool write) {
    const TileView v = c.view(operand);
    if (v.rows > 0 && v.cols > 0) add_tile(list, v, operand, write, v.footprint());
}
void access_by_roles(const Call& c, AccessList& list) {
    const auto& declared = c.site.row->operands;
    for (std::size_t i = 0; i < declared.size() && i < c.op.operands.size(); ++i) {
        if (!c.is_tile(int(i)) || declared[i].role == isa::Role::none) continue;
        if (isa::reads(declared[i].role)) add_tile(c, list, int(i), false);
        if (isa::writes(declared[i].role)) add_tile(c, list, int(i), true);
    }
}

} // namespace pto::execute
