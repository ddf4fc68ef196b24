#include "engine/resolve/tile_types.hpp"

namespace pto::resolve {

using isa::DType;
using isa::Layout;
using isa::MemorySpace;

namespace {

Layout default_layout(MemorySpace m) {
    switch (m) {
    case MemorySpace::mat:
    case MemorySpace::left:
    case MemorySpace::acc: return Layout::nz;
    case MemorySpace::right: return Layout::zn;
    case MemorySpace::scale_left: return Layout::zz;
    case MemorySpace::scale_right: return Layout::nn;
    default: return Layout::nd;
    }
}

bool allowed(MemorySpace m, Layout l, DType t) {
    switch (m) {
    case MemorySpace::vec: return true; // NZ stages the way to L1, other layouts depend on the operation
    case MemorySpace::mat:
        return l == Layout::nz || l == Layout::zn || (l == Layout::nd && (t == DType::int64 || t == DType::uint64)) ||
               ((l == Layout::zz || l == Layout::nn) && t == DType::fp8e8m0);
    default: return l == default_layout(m);
    }
}

std::optional<std::array<std::int32_t, 2>> pair(const Value& v) {
    if (!v.is(Kind::tuple) || v.size() != 2 || !v[0].is(Kind::integer) || !v[1].is(Kind::integer)) return std::nullopt;
    auto fits = [](std::int64_t i) { return i >= -1 && i <= 0x7FFFFFFF; };
    if (!fits(v[0].integer) || !fits(v[1].integer)) return std::nullopt;
    return std::array<std::int32_t, 2>{std::int32_t(v[0].integer), std::int32_t(v[1].integer)};
}

} // namespace

std::int64_t address_alignment(MemorySpace m) {
    switch (m) {
    case MemorySpace::vec:
    case MemorySpace::mat:
    case MemorySpace::scale_left:
    case MemorySpace::scale_right: return 32;
    case MemorySpace::left:
    case MemorySpace::right: return 512;
    case MemorySpace::acc: return 64;
    default: return 1;
    }
}

std::optional<isa::TileType> build_tile_type(const TileTypeArguments& arguments, std::size_t& wrong, std::string& why) {
    auto given = [&](std::size_t i) { return !arguments.values[i].is(Kind::unbound) && !arguments.values[i].is(Kind::none); };
    auto fail = [&](std::size_t i, std::string reason) {
        wrong = i;
        why = std::move(reason);
        return std::nullopt;
    };
    auto enumeration = [&](std::size_t i, isa::EnumKind k) -> std::optional<std::uint8_t> {
        const Value& v = arguments.values[i];
        if (!v.is(Kind::enumeration) || isa::EnumKind(v.field) != k) return std::nullopt;
        return std::uint8_t(v.integer);
    };
    auto not_a = [&](std::size_t i, std::string_view needs) {
        const Value& v = arguments.values[i];
        if (v.is(Kind::tuple) && v.size() == 2)
            for (const Value& element : v.more->elements)
                if (!element.is(Kind::integer) || element.integer > 0x7FFFFFFF || element.integer < -1)
                    return "`" + std::string(TileTypeArguments::names[i]) + "` takes " + std::string(needs) + ", one of these is " + describe(element);
        return "`" + std::string(TileTypeArguments::names[i]) + "` takes " + std::string(needs) + ", this is " + describe(arguments.values[i]);
    };
    isa::TileType t;
    auto shape = given(0) ? pair(arguments.values[0]) : std::nullopt;
    if (!shape) return fail(0, given(0) ? not_a(0, "two constant integers") : "a tile type needs `shape=`");
    if ((*shape)[0] <= 0 || (*shape)[1] <= 0) return fail(0, "the shape [" + std::to_string((*shape)[0]) + ", " + std::to_string((*shape)[1]) + "] is not positive");
    t.shape = *shape;
    if (!given(1)) return fail(1, "a tile type needs `dtype=`");
    if (!arguments.values[1].is(Kind::dtype)) return fail(1, not_a(1, "a type, pl.DT_..."));
    t.dtype = arguments.values[1].dtype;
    if (given(2)) {
        auto m = enumeration(2, isa::EnumKind::MemorySpace);
        if (!m) return fail(2, not_a(2, "a member of pl.MemorySpace"));
        t.memory = MemorySpace(*m);
        if (t.memory == MemorySpace::ddr) return fail(2, "a tile lies on chip; DDR holds tensors");
    }
    t.valid = t.shape;
    if (given(3)) {
        auto valid = pair(arguments.values[3]);
        if (!valid) return fail(3, not_a(3, "two constant integers"));
        if ((*valid)[0] != -1 || (*valid)[1] != -1) {
            for (std::size_t i = 0; i < 2; ++i)
                if ((*valid)[i] < 1 || (*valid)[i] > t.shape[i])
                    return fail(3, "valid_shape " + std::to_string((*valid)[i]) + " is not between 1 and " + std::to_string(t.shape[i]));
            t.fixed_valid = true;
            t.valid = *valid;
        }
    }
    t.layout = default_layout(t.memory);
    if (given(4)) {
        auto l = enumeration(4, isa::EnumKind::Layout);
        if (!l) return fail(4, not_a(4, "a member of pl.TensorLayout"));
        t.layout = Layout(*l);
        if (!allowed(t.memory, t.layout, t.dtype))
            return fail(4, "layout " + std::string(isa::name(t.layout)) + " in " + std::string(isa::name(t.memory)) + " for " + std::string(isa::language_name(t.dtype)));
    }
    bool scales = t.dtype == DType::fp8e8m0 && (t.layout == Layout::zz || t.layout == Layout::nn);
    if (t.memory == MemorySpace::acc && isa::bytes(t.dtype) == 4) t.fractal = 1024;
    else if (scales || t.memory == MemorySpace::scale_left || t.memory == MemorySpace::scale_right) t.fractal = 32;
    if (given(5)) {
        if (!arguments.values[5].is(Kind::integer) || arguments.values[5].integer <= 0) return fail(5, not_a(5, "a positive integer"));
        t.fractal = std::int32_t(arguments.values[5].integer);
    }
    if (given(6)) {
        const Value& pad = arguments.values[6];
        if (auto p = enumeration(6, isa::EnumKind::TilePad)) t.pad = isa::TilePad(*p);
        else if (pad.is(Kind::integer) && pad.integer >= 0 && pad.integer <= 3) t.pad = isa::TilePad(pad.integer);
        else return fail(6, not_a(6, "a member of pl.TilePad"));
    }
    if (given(7)) {
        const Value& compact = arguments.values[7];
        if (!(compact.is(Kind::integer) || compact.is(Kind::boolean)) || compact.integer < 0 || compact.integer > 2) return fail(7, not_a(7, "0, 1 or 2"));
        t.compact = std::uint8_t(compact.integer);
    }
    return t;
}

} // namespace pto::resolve
