/// Shape and type contracts of vector work. Only what is certain is said: valid shapes that are set at run time are not guessed at.
/// Source: language 3.5 to 3.9.
#include "engine/check/context.hpp"

namespace pto::check {
namespace {

using Shape = std::array<std::int32_t, 2>;
std::string text(const Shape& s) { return shape_text(s[0], s[1]); }

void same(Context& c, const ir::Op& op, const ir::Stmt& stmt, bool types) {
    std::optional<Shape> out = c.known_valid(op, 0);
    const ir::TileVar* dst = c.tile(op, 0);
    if (!dst) return;
    for (std::size_t i = 1; i < op.operands.size() && i < op.row->operands.size(); ++i) {
        const ir::TileVar* t = c.tile(op, i);
        if (!t || op.row->operands[i].role == isa::Role::none) continue;
        bool per_row = (op.row->semantics == isa::Semantics::quant || op.row->semantics == isa::Semantics::dequant) && i > 1;
        if (per_row) continue; // a scale or offset for each row has a shape of its own
        if (std::optional<Shape> in = c.known_valid(op, i); in && out && *in != *out)
            c.report(Code::shape_mismatch, c.at(op, stmt, i), ticked(t->name) + " is valid on " + text(*in) + ", " + ticked(dst->name) + " on " + text(*out));
        if (types && t->type.dtype != dst->type.dtype)
            c.report(Code::type_mismatch, c.at(op, stmt, i),
                     ticked(t->name) + " has dtype " + std::string(language_name(t->type.dtype)) + ", " + ticked(dst->name) + " has " +
                         std::string(language_name(dst->type.dtype)));
    }
}

std::optional<int> dimension(const Context& c, const ir::Op& op) {
    if (op.row->fixed_dim >= 0) return op.row->fixed_dim;
    if (auto d = c.integer(op, "dim")) return int(*d);
    return std::nullopt;
}

void reduction(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    std::optional<int> dim = dimension(c, op);
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (!dim || !dst || !src) return;
    if (*dim != 0 && *dim != 1) {
        c.report(Code::reduce_dim, stmt.at, "dim is " + std::to_string(*dim) + "; 0 reduces rows, 1 reduces columns");
        return;
    }
    std::optional<Shape> out = c.known_valid(op, 0), in = c.known_valid(op, 1);
    int kept = *dim, gone = 1 - *dim; // dim 0 keeps rows
    if (in && out && (*out)[std::size_t(kept)] != (*in)[std::size_t(kept)])
        c.report(Code::shape_mismatch, c.at(op, stmt, 0),
                 ticked(dst->name) + " is valid on " + text(*out) + "; reducing " + ticked(src->name) + " of " + text(*in) + " gives " +
                     (*dim == 0 ? shape_text((*in)[0], 1) : shape_text(1, (*in)[1])));
    else if (*dim == 1 && out && (*out)[std::size_t(gone)] != 1)
        c.report(Code::shape_mismatch, c.at(op, stmt, 0), ticked(dst->name) + " is valid on " + text(*out) + "; a column reduction gives one row");
}

void expansion(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    std::optional<int> dim = dimension(c, op);
    std::size_t vec_at = op.row->operands.size() - 1;
    const ir::TileVar* vec = c.tile(op, vec_at);
    if (!dim || !vec) return;
    if (*dim != 0 && *dim != 1) {
        c.report(Code::reduce_dim, stmt.at, "dim is " + std::to_string(*dim) + "; 0 repeats a column vector, 1 a row vector");
        return;
    }
    std::optional<Shape> out = c.known_valid(op, 0), v = c.known_valid(op, vec_at);
    if (out && v && (*v)[std::size_t(*dim)] != (*out)[std::size_t(*dim)])
        c.report(Code::shape_mismatch, c.at(op, stmt, vec_at),
                 ticked(vec->name) + " is valid on " + text(*v) + "; broadcasting to " + text(*out) + " with dim=" + std::to_string(*dim) + " takes " +
                     (*dim == 0 ? shape_text((*out)[0], 1) : shape_text(1, (*out)[1])));
}

void transpose(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (!dst || !src) return;
    if (dst->type.shape[0] < src->type.shape[1] || dst->type.shape[1] < src->type.shape[0])
        c.report(Code::shape_mismatch, c.at(op, stmt, 0),
                 ticked(dst->name) + " is " + text(dst->type.shape) + "; the transpose of " + ticked(src->name) + " is " + shape_text(src->type.shape[1], src->type.shape[0]));
    if (std::get<ir::TileVarId>(op.operands[0]) == std::get<ir::TileVarId>(op.operands[1]))
        c.report(Code::in_place, stmt.at, "transpose reads and writes " + ticked(dst->name) + "; the result is undefined");
}

void compare(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (!dst || !src) return;
    if (std::int64_t(dst->type.shape[1]) * 8 < src->type.shape[1])
        c.report(Code::shape_mismatch, c.at(op, stmt, 0),
                 ticked(dst->name) + " has " + std::to_string(dst->type.shape[1]) + " bytes a row; " + std::to_string(src->type.shape[1]) + " columns need " +
                     std::to_string((src->type.shape[1] + 7) / 8) + " bytes of mask bits");
}

} // namespace

void check_shapes(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        switch (op->row->shape) {
        case isa::ShapeRule::same: same(c, *op, s, true); break;
        case isa::ShapeRule::same_shape: same(c, *op, s, false); break;
        case isa::ShapeRule::row_reduce: reduction(c, *op, s); break;
        case isa::ShapeRule::expand: expansion(c, *op, s); break;
        case isa::ShapeRule::transpose: transpose(c, *op, s); break;
        default:
            if (op->row->semantics == isa::Semantics::compare) compare(c, *op, s);
        }
    });
}

} // namespace pto::check
