/// Contracts of single vector operations that no common shape rule covers: conversions, padding, permutations, sorting.
/// Source: language 3.5, 3.8, 3.9.
#include "engine/check/context.hpp"

#include <algorithm>

namespace pto::check {
namespace {

using isa::DType;
using isa::Semantics;
using Shape = std::array<std::int32_t, 2>;

std::string text(const Shape& s) { return shape_text(s[0], s[1]); }
std::string type_of(const ir::TileVar& t) { return std::string(language_name(t.type.dtype)); }

void casts(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *out = c.tile(op, 0), *src = c.tile(op, 1);
    if (!out || !src) return;
    if (const auto* target = std::get_if<DType>(c.attribute(op, "target_type")); target && *target != out->type.dtype)
        c.report(Code::conversion_rule, stmt.at, "target_type is " + std::string(language_name(*target)) + ", " + ticked(out->name) + " has dtype " + type_of(*out));
    if (c.enumerator<isa::RoundMode>(op, "mode") == isa::RoundMode::odd && !(src->type.dtype == DType::fp32 && out->type.dtype == DType::fp16))
        c.report(Code::conversion_rule, stmt.at, "CAST_ODD exists for DT_FP32 to DT_FP16; " + type_of(*src) + " to " + type_of(*out) + " rounds as CAST_NONE");
}

void quantise(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *out = c.tile(op, 0), *src = c.tile(op, 1), *scale = c.tile(op, 2);
    bool asym = c.enumerator<isa::QuantMode>(op, "mode").value_or(isa::QuantMode::sym) == isa::QuantMode::asym;
    if (asym && !c.given(op, "offset")) {
        Diagnostic& d = c.report(Code::quant_rule, stmt.at, "mode ASYM adds an offset of each row, and there is none");
        d.severity = Severity::error;
        if (d.advice.empty()) d.advice.push_back("offset= an FP32 tile with one value a row");
    }
    if (out && out->type.dtype != (asym ? DType::uint8 : DType::int8))
        c.report(Code::quant_rule, c.at(op, stmt, 0), ticked(out->name) + " has dtype " + type_of(*out) + "; mode " + (asym ? "ASYM gives DT_UINT8" : "SYM gives DT_INT8"));
    if (src && scale && scale->type.shape[0] * scale->type.shape[1] < src->type.shape[0])
        c.report(Code::quant_rule, c.at(op, stmt, 2), ticked(scale->name) + " is " + text(scale->type.shape) + "; there is one factor for each of " + std::to_string(src->type.shape[0]) + " rows");
}

/// Byte range of the one slot behind a tile; nothing when it is chosen at run time or cut out of another.
std::optional<std::int64_t> address(const Context& c, const ir::TileVar& t) {
    if (t.may_be.size() != 1 || c.f[t.may_be[0]].addresses.size() != 1) return std::nullopt;
    return c.f[t.may_be[0]].addresses[0];
}

void pad(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *out = c.tile(op, 0), *src = c.tile(op, 1);
    if (!out || !src) return;
    auto mode = c.enumerator<isa::FillPadMode>(op, "mode").value_or(isa::FillPadMode::normal);
    if (out->type.pad == isa::TilePad::null)
        c.report(Code::fillpad_rule, c.at(op, stmt, 0), ticked(out->name) + " has no pad value").advice.push_back("pad=pl.TilePad.zero, min or max in its TileType");
    const Shape &o = out->type.shape, &s = src->type.shape;
    if (mode == isa::FillPadMode::expand ? o[0] < s[0] || o[1] < s[1] : o != s)
        c.report(Code::fillpad_rule, stmt.at,
                 ticked(out->name) + " is " + text(o) + ", " + ticked(src->name) + " is " + text(s) + (mode == isa::FillPadMode::expand ? "; EXPAND never shrinks" : "; only EXPAND changes the shape"));
    auto to = address(c, *out), from = address(c, *src);
    if (to && from && mode == isa::FillPadMode::inplace && *to != *from)
        c.report(Code::fillpad_rule, stmt.at, "INPLACE works on one address; " + ticked(out->name) + " lies at " + hex(*to) + ", " + ticked(src->name) + " at " + hex(*from));
    if (to && from && mode == isa::FillPadMode::normal && *to == *from)
        c.report(Code::fillpad_rule, stmt.at, "NORMAL copies, and both tiles lie at " + hex(*to)).advice.push_back("mode=pl.FillPadMode.INPLACE");
    if (isa::bits(out->type.dtype) != isa::bits(src->type.dtype))
        c.report(Code::fillpad_rule, c.at(op, stmt, 1), ticked(src->name) + " has dtype " + type_of(*src) + ", " + ticked(out->name) + " has " + type_of(*out) + "; fillpad copies bits");
}

void parts(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar* out = c.tile(op, 0);
    if (!out) return;
    bool whole = false, known = true;
    std::optional<Shape> valid = c.known_valid(op, 0);
    for (std::size_t i = 1; i <= 2; ++i) {
        const ir::TileVar* t = c.tile(op, i);
        if (!t) return;
        if (t->type.shape != out->type.shape)
            c.report(Code::shape_mismatch, c.at(op, stmt, i), ticked(t->name) + " is " + text(t->type.shape) + ", " + ticked(out->name) + " is " + text(out->type.shape));
        if (t->type.dtype != out->type.dtype)
            c.report(Code::type_mismatch, c.at(op, stmt, i), ticked(t->name) + " has dtype " + type_of(*t) + ", " + ticked(out->name) + " has " + type_of(*out));
        std::optional<Shape> in = c.known_valid(op, i);
        known = known && in && valid;
        whole = whole || (in && valid && *in == *valid);
    }
    if (known && !whole) c.report(Code::shape_mismatch, stmt.at, "neither input is valid on all of " + text(*valid) + " of " + ticked(out->name));
}

void indexed(Context& c, const ir::Op& op, const ir::Stmt& stmt, std::size_t data, std::size_t index) {
    const ir::TileVar *t = c.tile(op, data), *i = c.tile(op, index), *out = c.tile(op, 0);
    if (!t || !i || !out) return;
    int width = isa::bits(t->type.dtype), have = isa::bits(i->type.dtype);
    bool scatter = op.row->semantics == Semantics::scatter;
    if (scatter ? have != (width <= 16 ? 16 : 32) : width == 64 && have != 32)
        c.report(Code::index_width, c.at(op, stmt, index),
                 ticked(i->name) + " has indices of " + std::to_string(have) + " bits; " + std::string(op.row->call_name()) + " of " + std::to_string(width) + "-bit elements takes " +
                     (width <= 16 ? "16" : "32"));
    if (out->type.dtype != c.tile(op, 1)->type.dtype)
        c.report(Code::type_mismatch, c.at(op, stmt, 1), ticked(c.tile(op, 1)->name) + " has dtype " + type_of(*c.tile(op, 1)) + ", " + ticked(out->name) + " has " + type_of(*out));
}

void sorts(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (!dst || !src) return;
    std::int64_t words = src->type.dtype == DType::fp32 ? 2 : 4;
    std::optional<Shape> valid = c.known_valid(op, 1);
    std::int64_t columns = valid ? (*valid)[1] : 0;
    if (dst->type.dtype != src->type.dtype)
        c.report(Code::type_mismatch, c.at(op, stmt, 1), ticked(src->name) + " has dtype " + type_of(*src) + ", " + ticked(dst->name) + " has " + type_of(*dst));
    if (valid && dst->type.shape[1] < columns * words)
        c.report(Code::sort_rule, c.at(op, stmt, 0),
                 ticked(dst->name) + " has " + std::to_string(dst->type.shape[1]) + " columns; " + std::to_string(columns) + " records of 8 bytes take " + std::to_string(columns * words) + " of " + type_of(*src));
    if (valid && columns % 32 != 0 && !c.tile(op, 3))
        c.report(Code::sort_rule, stmt.at, std::to_string(columns) + " columns are no multiple of 32: the last group needs tmp").advice.push_back("pass a scratch tile as the fourth operand");
}

void merges(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    auto length = c.integer(op, "block_len");
    if (!dst || !src) return;
    if (length && (*length <= 0 || *length % 64 != 0)) {
        c.report(Code::sort_rule, stmt.at, "block_len is " + std::to_string(*length) + "; sorted blocks are multiples of 64 elements");
        return;
    }
    std::optional<Shape> valid = c.known_valid(op, 1);
    if (length && valid && (*valid)[1] % (4 * *length) != 0)
        c.report(Code::sort_rule, c.at(op, stmt, 1),
                 ticked(src->name) + " is valid on " + std::to_string((*valid)[1]) + " columns; four blocks of " + std::to_string(*length) + " are merged at a time, so it takes a multiple of " +
                     std::to_string(4 * *length));
    if (valid && (*valid)[0] != 1) c.report(Code::sort_rule, c.at(op, stmt, 1), ticked(src->name) + " has " + std::to_string((*valid)[0]) + " rows; mrgsort works on one");
    if (std::get<ir::TileVarId>(op.operands[0]) == std::get<ir::TileVarId>(op.operands[1]))
        c.report(Code::in_place, stmt.at, "mrgsort reads and writes " + ticked(dst->name) + "; the result is undefined");
}

void pattern(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    auto mode = c.integer(op, "pattern_mode");
    if (mode && (*mode < 1 || *mode > 7))
        c.report(Code::gather_pattern, stmt.at, "pattern_mode is " + std::to_string(*mode) + "; 1 even, 2 odd, 3 to 6 every fourth, 7 all");
}

void histogram(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (dst && dst->type.shape[1] < 256)
        c.report(Code::shape_mismatch, c.at(op, stmt, 0), ticked(dst->name) + " has " + std::to_string(dst->type.shape[1]) + " columns; a byte has 256 values");
    if (dst && src && dst->type.shape[0] < src->type.shape[0])
        c.report(Code::shape_mismatch, c.at(op, stmt, 0), ticked(dst->name) + " has " + std::to_string(dst->type.shape[0]) + " rows, " + ticked(src->name) + " has " + std::to_string(src->type.shape[0]));
}

} // namespace

void check_contracts(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        switch (op->row->semantics) {
        case Semantics::cast:
        case Semantics::clobbering: casts(c, *op, s); break;
        case Semantics::quant: quantise(c, *op, s); break;
        case Semantics::fillpad: pad(c, *op, s); break;
        case Semantics::part: parts(c, *op, s); break;
        case Semantics::gather: indexed(c, *op, s, 1, 2); break;
        case Semantics::scatter: indexed(c, *op, s, 1, 2); break;
        case Semantics::gather_mask: pattern(c, *op, s); break;
        case Semantics::sort32: sorts(c, *op, s); break;
        case Semantics::merge_sort: merges(c, *op, s); break;
        case Semantics::histogram: histogram(c, *op, s); break;
        default: break;
        }
    });
}

} // namespace pto::check
