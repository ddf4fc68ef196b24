/// Load, store, move and insert. Source: language 3.1 to 3.3.
#include "engine/check/context.hpp"

#include "engine/isa/timing_key.hpp"
#include "engine/isa/windows.hpp"

namespace pto::check {
namespace {

using isa::MemorySpace;

std::string space(MemorySpace m) { return std::string(name(m)); }

// ---------------------------------------------------------------- load and store

/// Tensor axes that feed rows and columns; nothing when `order` is wrong or unknown.
std::optional<std::array<int, 2>> window_axes(Context& c, const ir::Op& op, const ir::Stmt& stmt, int rank, bool store) {
    std::array<int, 2> axes{rank - 2, rank - 1};
    const ir::AttributeValue* order = c.attribute(op, "order");
    const auto* list = order ? std::get_if<ir::ExprList>(order) : nullptr;
    if (!list) return rank >= 2 ? std::optional(axes) : std::nullopt;
    if (list->size() != 2) {
        c.report(Code::window_order, stmt.at, "order has " + std::to_string(list->size()) + " entries; it names the axis of the rows and the axis of the columns");
        return std::nullopt;
    }
    for (std::size_t i = 0; i < 2; ++i) {
        auto v = c.constant((*list)[i]);
        if (!v || *v < 0 || *v >= rank) {
            c.report(Code::window_order, stmt.at,
                     "order names axis " + (v ? std::to_string(*v) : std::string("(run-time value)")) + "; the tensor has axes 0 to " + std::to_string(rank - 1));
            return std::nullopt;
        }
        axes[i] = int(*v);
    }
    if (axes[0] == axes[1]) {
        c.report(Code::window_order, stmt.at, "order names axis " + std::to_string(axes[0]) + " twice");
        return std::nullopt;
    }
    if (store && axes[0] > axes[1]) {
        c.report(Code::window_order, stmt.at, "order [" + std::to_string(axes[0]) + ", " + std::to_string(axes[1]) + "] descends; a store cannot transpose");
        return std::nullopt;
    }
    return axes;
}

void window(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    bool store = op.row->semantics == isa::Semantics::store;
    std::size_t tile_at = store ? 1 : 0, tensor_at = store ? 0 : 1;
    const ir::TileVar* tile = c.tile(op, tile_at);
    const ir::Tensor* tensor = c.tensor(op, tensor_at);
    const ir::ExprList* offsets = c.list(op, 2);
    if (!tile || !tensor) return;
    int rank = int(tensor->dims.size());
    bool scales = tile->type.fractal == 32 && tile->type.dtype == isa::DType::fp8e8m0;
    if (offsets && int(offsets->size()) != rank) {
        c.report(Code::offset_count, c.at(op, stmt, 2),
                 std::to_string(offsets->size()) + " offsets for " + ticked(tensor->name) + ", which has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes"));
        return;
    }
    // MX scales lie in pairs: the last axis holds the two scales of 64 elements along K, and no window walks it.
    const bool pair = scales && rank >= 3 && !tensor->dims.back().dynamic && tensor->dims.back().size == 2;
    if (scales && !store && !pair) {
        c.report(Code::mx_rule, c.at(op, stmt, tensor_at),
                 ticked(tensor->name) + " has rank " + std::to_string(rank) + (tensor->dims.back().dynamic ? " and a dynamic last axis" : " and a last axis of " + std::to_string(tensor->dims.back().size)) +
                     "; scales are loaded from [M, K/64, 2] or [K/64, N, 2], or with the first two axes exchanged by order=");
        return;
    }
    std::optional<std::array<int, 2>> axes = window_axes(c, op, stmt, rank, store);
    if (pair && axes && !c.given(op, "order")) axes = std::array{rank - 3, rank - 2};
    if (pair && axes && std::max((*axes)[0], (*axes)[1]) == rank - 1) {
        c.report(Code::window_order, stmt.at,
                 "order [" + std::to_string((*axes)[0]) + ", " + std::to_string((*axes)[1]) + "] names the pair of scales, axis " + std::to_string(rank - 1));
        axes.reset();
    }
    // Which of the tile's directions counts pairs: K, along the columns of A's scales and the rows of B's.
    const std::array<std::int64_t, 2> per{pair && tile->type.layout == isa::Layout::nn ? 2 : 1, pair && tile->type.layout == isa::Layout::zz ? 2 : 1};
    bool by_tile = isa::counts_whole_tiles(*op.row);
    for (int axis = 0; offsets && axis < rank; ++axis) {
        auto v = c.constant((*offsets)[std::size_t(axis)]);
        if (!v) continue;
        const ir::Dim& dim = tensor->dims[std::size_t(axis)];
        std::int64_t scale = 1;
        if (by_tile && axes)
            for (int i = 0; i < 2; ++i)
                if ((*axes)[std::size_t(i)] == axis) scale = tile->type.shape[std::size_t(i)] / per[std::size_t(i)];
        std::int64_t at = *v * scale;
        std::string said = "offset " + std::to_string(at) + (scale > 1 ? " (" + std::to_string(*v) + " tiles of " + std::to_string(scale) + ")" : "") + " on axis " +
                           std::to_string(axis) + " of " + ticked(tensor->name);
        if (at < 0) {
            c.report(Code::load_offset_range, c.at(op, stmt, 2), said + " is negative");
        } else if (!dim.dynamic && dim.size > 0 && at >= dim.size) {
            c.report(Code::load_offset_range, c.at(op, stmt, 2), said + ", which has size " + std::to_string(dim.size));
        } else if (pair && axis == rank - 1 && at != 0) {
            c.report(Code::load_offset_range, c.at(op, stmt, 2), said + " splits a pair of scales");
        } else if (!dim.dynamic && axes) {
            // The window starts inside; that it also ends inside is certain only where the valid shape is.
            for (int i = 0; i < 2; ++i) {
                auto valid = (*axes)[std::size_t(i)] == axis ? c.known_valid(op, tile_at) : std::nullopt;
                const std::int64_t count = valid ? ((*valid)[std::size_t(i)] + per[std::size_t(i)] - 1) / per[std::size_t(i)] : 0;
                if (valid && at + count > dim.size) {
                    Diagnostic& d = c.report(Code::window_range, c.at(op, stmt, 2),
                                             said + " plus " + std::to_string(count) + (per[std::size_t(i)] == 2 ? " pairs" : i == 0 ? " rows" : " columns") + " of " +
                                                 ticked(tile->name) + " ends at " + std::to_string(at + count) + ", which is beyond its size " + std::to_string(dim.size));
                    d.advice.push_back("set the valid shape of `" + tile->name + "` to what is left before this line");
                }
            }
        }
    }
    if (!store && !pair && axes && (*axes)[0] > (*axes)[1] && tile->type.layout != isa::Layout::zn && tile->type.layout != isa::Layout::dn) {
        Diagnostic& d = c.report(Code::window_order, stmt.at,
                                 "order [" + std::to_string((*axes)[0]) + ", " + std::to_string((*axes)[1]) + "] reads transposed, into " + ticked(tile->name) + " in layout " +
                                     std::string(name(tile->type.layout)) + "; only ZN in Mat and DN in Vec take that");
        d.severity = Severity::warning;
        d.fix = Fix{"give the tile layout=pl.ZN (Mat) or pl.DN (Vec)", {}};
    }
    bool acc = tile->type.memory == MemorySpace::acc;
    if (!acc && isa::bits(tile->type.dtype) != isa::bits(tensor->dtype))
        c.report(Code::width_mismatch, c.at(op, stmt, tile_at),
                 ticked(tile->name) + " has elements of " + std::to_string(isa::bits(tile->type.dtype)) + " bits, " + ticked(tensor->name) + " of " +
                     std::to_string(isa::bits(tensor->dtype)) + "; " + (store ? "a store from Vec" : "a load") + " does not convert");
    if (store && acc && tile->type.shape[1] > 4095)
        c.report(Code::fixpipe_limit, c.at(op, stmt, tile_at), ticked(tile->name) + " has " + std::to_string(tile->type.shape[1]) + " columns; the fixpipe takes 4095");
    if (store && !acc && tile->type.layout == isa::Layout::nd && tile->type.shape[1] > 1 && std::int64_t(tile->type.shape[1]) * isa::bits(tile->type.dtype) % 256 != 0)
        c.report(Code::store_row_alignment, c.at(op, stmt, tile_at),
                 "a row of " + ticked(tile->name) + " has " + std::to_string(isa::bytes(tile->type.dtype, tile->type.shape[1])) + " bytes; a store from UB takes rows of whole 32-byte blocks");
}

// ---------------------------------------------------------------- fixpipe options

void fixpipe_options(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    bool store = op.row->semantics == isa::Semantics::store;
    const ir::TileVar* src = c.tile(op, 1);
    if (!src) return;
    bool acc = src->type.memory == MemorySpace::acc;
    if (!acc) {
        for (const char* keyword : {"relu_pre_mode", "scale", "acc_to_vec_mode", "phase"})
            if (c.given(op, keyword))
                c.report(Code::fixpipe_option, stmt.at, std::string(keyword) + "= works on its way out of Acc; " + ticked(src->name) + " lies in " + space(src->type.memory));
        return;
    }
    std::optional<isa::DType> to;
    if (store) {
        if (const ir::Tensor* t = c.tensor(op, 0)) to = t->dtype;
    } else if (const ir::TileVar* t = c.tile(op, 0)) {
        to = t->type.dtype;
    }
    if (!c.given(op, "scale")) {
        isa::DType from = src->type.dtype;
        bool fits = to && (*to == from || (from == isa::DType::fp32 && (*to == isa::DType::fp16 || *to == isa::DType::bf16)));
        if (to && !fits)
            c.report(Code::fixpipe_conversion, c.at(op, stmt, 0),
                     std::string(language_name(from)) + " goes to " + std::string(language_name(*to)) + " only with scale=");
    } else {
        if (to == isa::DType::uint8) c.report(Code::scale_rule, stmt.at, "scale= has no UINT8 output; use INT8");
        if (to == isa::DType::bf16) c.report(Code::scale_rule, stmt.at, "scale= has no BF16 output; use FP16 or FP32");
        const auto* value = std::get_if<ir::TileVarId>(c.attribute(op, "scale"));
        if (value) {
            const ir::TileVar& s = c.f[*value];
            if (s.type.memory != MemorySpace::scaling) c.report(Code::scale_rule, stmt.at, ticked(s.name) + " lies in " + space(s.type.memory) + "; factors per channel lie in Scaling");
            if (s.type.dtype != isa::DType::int64 && s.type.dtype != isa::DType::uint64)
                c.report(Code::scale_rule, stmt.at, ticked(s.name) + " has dtype " + std::string(language_name(s.type.dtype)) + "; factors per channel are INT64 words");
            if (s.type.shape[0] != 1 || s.type.shape[1] % 16 != 0 || s.type.shape[1] > 512)
                c.report(Code::scale_rule, stmt.at,
                         ticked(s.name) + " is " + shape_text(s.type.shape[0], s.type.shape[1]) + "; factors per channel are 1xN, N a multiple of 16 up to 512");
            if (c.given(op, "relu_pre_mode")) c.report(Code::scale_rule, stmt.at, "factors per channel and relu_pre_mode= do not go together");
            if (store && c.given(op, "phase")) c.report(Code::scale_rule, stmt.at, "factors per channel and phase= do not go together");
        }
    }
    if (!store) {
        auto mode = c.enumerator<isa::AccToVecMode>(op, "acc_to_vec_mode");
        bool split = mode == isa::AccToVecMode::split_m || mode == isa::AccToVecMode::split_n;
        if (split && to && *to != src->type.dtype)
            c.report(Code::fixpipe_conversion, c.at(op, stmt, 0),
                     "a split over both vector cores does not convert: " + std::string(language_name(src->type.dtype)) + " to " + std::string(language_name(*to)));
        if (split && c.given(op, "scale")) c.report(Code::scale_rule, stmt.at, "scale= does not go with a split over both vector cores");
        if (c.given(op, "scale") && c.list(op, 2)) c.report(Code::option_lost, stmt.at, "with an offset the generated code ignores scale=").fix =
            Fix{"move without an offset into a tile of its own, or scale in a store", {}};
    } else if (c.given(op, "relu_pre_mode") && c.enumerator<isa::AtomicType>(op, "atomic") == isa::AtomicType::add) {
        c.report(Code::option_lost, stmt.at, "with relu_pre_mode= the generated code ignores atomic=").fix =
            Fix{"move to UB with relu_pre_mode=, then store from there with atomic=", {}};
    }
}

// ---------------------------------------------------------------- move and insert

bool fractal(isa::Layout l) { return l == isa::Layout::nz || l == isa::Layout::zn; }

void move(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    if (!dst || !src) return;
    MemorySpace from = src->type.memory, to = dst->type.memory;
    bool path = (from == MemorySpace::mat && (to == MemorySpace::left || to == MemorySpace::right || to == MemorySpace::scaling || to == MemorySpace::bias ||
                                              to == MemorySpace::scale_left || to == MemorySpace::scale_right)) ||
                (from == MemorySpace::acc && to == MemorySpace::vec) || (from == MemorySpace::vec && (to == MemorySpace::vec || to == MemorySpace::mat));
    if (!path) {
        c.report(Code::move_path, stmt.at, "there is no move from " + space(from) + " to " + space(to));
        return;
    }
    std::string key = isa::timing_key(*op.row, {.source = from, .destination = to});
    if (!c.chip.has_path(key)) {
        Diagnostic& d = c.report(Code::no_such_path, stmt.at, c.chip.name + " has no path from " + space(from) + " to " + space(to));
        d.advice.push_back("go through global memory: store, then load");
        return;
    }
    const auto &a = dst->type.shape, &b = src->type.shape;
    std::string shapes = ticked(dst->name) + " is " + shape_text(a[0], a[1]) + ", " + ticked(src->name) + " is " + shape_text(b[0], b[1]);
    const ir::ExprList* offset = c.list(op, 2);
    if (!offset || offset->empty()) {
        bool transposed = a[0] == b[1] && a[1] == b[0];
        bool scale_bank = to == MemorySpace::scale_left || to == MemorySpace::scale_right;
        if (from == MemorySpace::acc) {
            // What leaves Acc is its valid region, or half of it: physical shapes may differ, the region must fit.
            auto mode = c.enumerator<isa::AccToVecMode>(op, "acc_to_vec_mode");
            std::optional<std::array<std::int32_t, 2>> valid = c.known_valid(op, 1);
            if (!valid) return;
            std::int32_t rows = (*valid)[0], columns = (*valid)[1];
            if (mode == isa::AccToVecMode::split_m) rows = (rows + 1) / 2;
            if (mode == isa::AccToVecMode::split_n) columns = (columns + 31) / 32 * 32 / 2;
            bool straight = rows <= a[0] && columns <= a[1], turned = rows <= a[1] && columns <= a[0];
            if (!straight && !turned)
                c.report(Code::window_range, stmt.at, shapes + "; " + shape_text(rows, columns) + " of it leave Acc for each vector core and do not fit");
        } else if (a != b && !transposed && !scale_bank) {
            Diagnostic& d = c.report(Code::move_shape, stmt.at, shapes + "; without an offset they are equal or transposed");
            d.advice.push_back("give the position as offset: pl.move(" + dst->name + ", " + src->name + ", [row, column])");
        }
        return;
    }
    if (offset->size() != 2) {
        c.report(Code::offset_count, c.at(op, stmt, 2), std::to_string(offset->size()) + " offsets; a move takes [row, column]");
        return;
    }
    // An NZ tile lands in a ZN one as its transpose; offsets count in the source's rows and columns then.
    const bool turns = to == MemorySpace::mat && (dst->type.layout == isa::Layout::zn) != (src->type.layout == isa::Layout::zn);
    const std::array<std::int32_t, 2> into = turns ? std::array{a[1], a[0]} : a;
    bool inside = a[0] <= b[0] && a[1] <= b[1], inserts = b[0] <= into[0] && b[1] <= into[1] && into != b;
    if (inserts) inside = false;
    if (!inside && !inserts) {
        c.report(Code::move_shape, stmt.at, shapes + "; one must fit into the other");
        return;
    }
    if (!inside)
        for (const char* keyword : {"acc_to_vec_mode", "relu_pre_mode", "scale"})
            if (c.given(op, keyword)) {
                c.report(Code::move_shape, stmt.at, shapes + "; with " + std::string(keyword) + "= an offset extracts, so the destination fits into the source");
                return;
            }
    for (std::size_t i = 0; i < 2; ++i) {
        auto v = c.constant((*offset)[i]);
        if (!v) continue;
        std::int64_t large = inside ? b[i] : into[i], small = inside ? a[i] : b[i];
        const char* what = i == 0 ? "row" : "column";
        if (*v < 0 || *v > large)
            c.report(Code::load_offset_range, c.at(op, stmt, 2), std::string(what) + " offset " + std::to_string(*v) + " is outside 0 to " + std::to_string(large));
        else if (*v + small > large)
            c.report(Code::window_range, c.at(op, stmt, 2),
                     std::string(what) + " offset " + std::to_string(*v) + " plus " + std::to_string(small) + " ends at " + std::to_string(*v + small) + ", beyond " +
                         std::to_string(large) + " of " + ticked(inside ? src->name : dst->name));
    }
}

void insert(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::TileVar *dst = c.tile(op, 0), *src = c.tile(op, 1);
    const ir::ExprList* offset = c.list(op, 2);
    if (!dst || !src) return;
    if (!c.chip.has_path("path.vec_mat")) {
        c.report(Code::no_such_path, stmt.at, c.chip.name + " has no path from Vec to Mat").advice.push_back("go through global memory: store, then load");
        return;
    }
    if (fractal(dst->type.layout) && src->type.layout != isa::Layout::nz)
        c.report(Code::insert_layout, c.at(op, stmt, 1),
                 ticked(src->name) + " has layout " + std::string(name(src->type.layout)) + "; insert copies fractals, so its source is NZ").advice.push_back(
            "convert first: pl.move into an NZ tile of the same shape");
    if (!offset || offset->size() != 2) return;
    // A ZN destination receives the transpose; the offset counts in the source's rows and columns.
    bool turned = dst->type.layout == isa::Layout::zn;
    for (std::size_t i = 0; i < 2; ++i) {
        auto v = c.constant((*offset)[i]);
        if (!v) continue;
        std::int64_t size = src->type.shape[i], limit = dst->type.shape[turned ? 1 - i : i];
        if (auto valid = c.known_valid(op, 1)) size = (*valid)[i];
        if (*v < 0 || *v + size > limit)
            c.report(Code::window_range, c.at(op, stmt, 2),
                     std::string(i == 0 ? "row" : "column") + " offset " + std::to_string(*v) + " plus " + std::to_string(size) + " of " + ticked(src->name) + " ends at " +
                         std::to_string(*v + size) + ", beyond " + std::to_string(limit) + " of " + ticked(dst->name));
    }
}

// ---------------------------------------------------------------- element access, valid shapes

void element(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    isa::DType type = isa::DType::fp32;
    std::string what;
    std::optional<std::int64_t> size;
    if (const ir::TileVar* t = c.tile(op, 0)) {
        type = t->type.dtype;
        what = t->name;
        size = std::int64_t(t->type.shape[0]) * t->type.shape[1];
    } else if (const ir::Tensor* x = c.tensor(op, 0)) {
        type = x->dtype;
        what = x->name;
        size = 1;
        for (const ir::Dim& d : x->dims) size = size && !d.dynamic ? std::optional(*size * d.size) : std::nullopt;
    } else {
        return;
    }
    if (!isa::is_scalar(type))
        c.report(Code::element_type, stmt.at, ticked(what) + " has dtype " + std::string(language_name(type)) + ", which exists in memory only: no element of it is a scalar");
    const auto* offset = op.operands.size() > 1 ? std::get_if<ir::ExprId>(&op.operands[1]) : nullptr;
    auto v = offset ? c.constant(*offset) : std::nullopt;
    if (v && (*v < 0 || (size && *v >= *size)))
        c.report(Code::element_range, c.at(op, stmt, 1),
                 "element " + std::to_string(*v) + " of " + ticked(what) + (size ? ", which has " + std::to_string(*size) : std::string()));
}

void valid_shape(Context& c, const ir::Op& op, const ir::Stmt& stmt) {
    const ir::ExprList* shape = c.list(op, 1);
    if (!shape) return;
    if (shape->size() != 2) {
        c.report(Code::valid_shape, stmt.at, "a valid shape has two entries, here " + std::to_string(shape->size()));
        return;
    }
    const isa::TileType* type = nullptr;
    std::string who;
    if (const ir::TileVar* t = c.tile(op, 0)) type = &t->type, who = t->name;
    else if (const auto* g = op.operands.empty() ? nullptr : std::get_if<ir::GroupRef>(&op.operands[0])) type = &c.f[g->decl].type, who = c.f[g->decl].name;
    if (!type) return;
    for (std::size_t i = 0; i < 2; ++i) {
        auto v = c.constant((*shape)[i]);
        if (v && (*v < 1 || *v > type->shape[i]))
            c.report(Code::valid_shape, c.at(op, stmt, 1),
                     std::to_string(*v) + (i == 0 ? " valid rows" : " valid columns") + " of " + ticked(who) + ", which is " + shape_text(type->shape[0], type->shape[1]));
    }
}

} // namespace

void check_movement(Context& c) {
    ir::for_each_statement(c.f.body, [&](const ir::Stmt& s) {
        const auto* op = std::get_if<ir::Op>(&s.what);
        if (!op) return;
        switch (op->row->semantics) {
        case isa::Semantics::load: window(c, *op, s); break;
        case isa::Semantics::store:
            window(c, *op, s);
            fixpipe_options(c, *op, s);
            break;
        case isa::Semantics::move:
            move(c, *op, s);
            if (isa::has_fixpipe_options(*op->row)) fixpipe_options(c, *op, s);
            break;
        case isa::Semantics::insert: insert(c, *op, s); break;
        case isa::Semantics::getval:
        case isa::Semantics::setval: element(c, *op, s); break;
        case isa::Semantics::set_validshape: valid_shape(c, *op, s); break;
        default: break;
        }
    });
}

} // namespace pto::check
