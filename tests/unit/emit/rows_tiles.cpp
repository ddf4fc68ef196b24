/// Vector work on whole tiles, and SIMT.
#include "row_forms.hpp"

namespace pto::testing {

void RowForms::tiles(const isa::OpRow& row) {
    if (row.semantics == S::simt_launch) return simt(row);
    bool either = false;
    for (const isa::Operand& o : row.operands) either = either || o.kind == K::tile_or_scalar;
    const bool dims = row.keyword("dim") != nullptr;
    auto one = [&](const std::string& form, bool with_scalar, int dim, D wanted, const Keywords& keywords = {}, int operands = 99) {
        vector(row, form, [&](Builder& k) {
            std::vector<ir::OperandValue> values;
            Keywords words = keywords;
            if (dims) words.push_back({"dim", std::int64_t(dim)});
            if (row.keyword("target_type")) words.push_back({"target_type", wanted == D::fp32 ? D::fp16 : wanted});
            for (std::size_t i = 0; i < row.operands.size() && int(i) < operands; ++i) {
                const isa::Operand& o = row.operands[i];
                auto of = [&](std::uint32_t set) { return set >> unsigned(wanted) & 1 ? wanted : pick(set); };
                if (o.kind == K::scalar || (o.kind == K::tile_or_scalar && with_scalar)) {
                    values.push_back(k.scalar(D::index));
                    continue;
                }
                int rows = 16, cols = 64;
                const bool narrow = (row.shape == isa::ShapeRule::row_reduce && i == 0) || (row.shape == isa::ShapeRule::expand && i + 1 == row.operands.size());
                const int axis = row.fixed_dim >= 0 ? row.fixed_dim : dim;
                if (narrow) (axis == 0 ? cols : rows) = 1;
                if (row.shape == isa::ShapeRule::transpose && i == 0) rows = 64, cols = 16;
                if (row.semantics == S::histogram && i == 0) cols = 256;
                if (row.semantics == S::histogram && i == 2) cols = 32;
                if ((row.semantics == S::sort32 || row.semantics == S::merge_sort) && i == 0) cols = 256;
                if (row.semantics == S::merge_sort_lists || row.semantics == S::merge_sort) rows = 1, cols = 128;
                if (row.semantics == S::merge_sort_lists && (i == 2 || i == 3)) cols = 512;
                if (row.semantics == S::gather_mask && i == 0) cols = 32;
                if (row.semantics == S::sort32 && (i == 0)) rows = 16;
                D type = of(o.dtypes);
                if (o.dtypes == isa::any_set && !values.empty() && row.name.rfind("cmp", 0) != 0) // scratch tiles have the type of what they help with
                    if (const auto* first = std::get_if<ir::TileVarId>(&values[0])) type = k.b.f[*first].type.dtype;
                if (o.kind == K::tile && o.name == "mask") type = D::uint8;
                if (row.semantics == S::arg_reduce && i == 0) type = D::int32;
                if (row.semantics == S::quant && i == 0) type = keywords.empty() ? D::int8 : D::uint8;
                if ((row.semantics == S::quant || row.semantics == S::dequant) && i >= 2) cols = 1;
                if (row.semantics == S::cast && i == 0) type = D::fp16;
                if (row.lane == isa::LaneFn::add_relu && row.name.find("cast") != std::string_view::npos && i == 0) type = D::fp16;
                if ((row.name == "sub_relu_cast" || row.name == "mul_cast") && i == 0) type = D::fp16;
                if (row.semantics == S::gather && i == 2) type = D::int32;
                if (row.semantics == S::gather_compare) type = i == 0 ? D::int32 : i == 1 || i == 2 ? D::int32 : i == 3 ? D::uint32 : D::uint8;
                if (row.semantics == S::gather_compare && (i == 2 || i == 3)) cols = 1;
                if (row.semantics == S::gather_compare && i == 4) cols = 256;
                if (row.semantics == S::gather_blocks && i == 2) cols = 8;
                if (row.semantics == S::scatter && i == 2) type = D::int32;
                if (row.semantics == S::dequant && i == 1) type = D::int8;
                if (row.semantics == S::histogram && i == 1) type = D::uint16;
                if (row.semantics == S::compare || row.name == "cmp" || row.name == "cmps") {
                    if (i == 0) type = D::uint8;
                }
                values.push_back(k.tile(M::vec, type, rows, cols));
            }
            k.b.op(row.name, std::move(values), words);
        });
    };
    if (row.semantics == S::gather_mask) {
        for (int p = 1; p <= 7; ++p) one("p" + std::to_string(p), false, 0, D::fp32, {{"pattern_mode", std::int64_t(p)}});
        return;
    }
    if (row.semantics == S::gather_compare) {
        one("eq", false, 0, D::int32, {{"cmp_mode", std::int64_t(0)}, {"offset", std::int64_t(0)}});
        one("gt", false, 0, D::int32, {{"cmp_mode", std::int64_t(4)}, {"offset", std::int64_t(3)}});
        return;
    }
    if (row.semantics == S::merge_sort) return one("", false, 0, D::fp32, {{"block_len", std::int64_t(32)}});
    if (row.semantics == S::merge_sort_lists) {
        one("two", false, 0, D::fp32, {{"exhausted", false}}, 4);
        one("four", false, 0, D::fp32, {{"exhausted", true}});
        return;
    }
    if (row.semantics == S::histogram) {
        one("low", false, 0, D::uint16, {{"is_msb", false}});
        one("top", false, 0, D::uint16, {{"is_msb", true}});
        return;
    }
    if (row.semantics == S::sort32) {
        one("whole", false, 0, D::fp32, {}, 3);
        return one("ragged", false, 0, D::fp32);
    }
    if (row.semantics == S::quant) {
        one("sym", false, 0, D::fp32);
        vector(row, "asym", [&](Builder& k) {
            const auto d = k.tile(M::vec, D::uint8), s = k.tile(M::vec), scale = k.tile(M::vec, D::fp32, 16, 1), offset = k.tile(M::vec, D::fp32, 16, 1);
            k.b.op(row.name, {d, s, scale}, {{"mode", isa::enum_value(isa::QuantMode::asym)}, {"offset", offset}});
        });
        return;
    }
    if (row.semantics == S::fillpad) {
        for (auto [form, mode] : {std::pair{"normal", isa::FillPadMode::normal}, {"expand", isa::FillPadMode::expand}, {"inplace", isa::FillPadMode::inplace}})
            for (bool padded : {false, true})
                vector(row, std::string(form) + (padded ? "_padded" : ""), [&](Builder& k) {
                    isa::TileType to = tile_type(16, 64, M::vec), from = to;
                    to.pad = isa::TilePad::zero;
                    if (padded) from.pad = isa::TilePad::max;
                    const auto s = k.tile(from);
                    k.b.op("set_validshape", {s, ir::ExprList{k.b.num(9), k.b.num(33)}});
                    k.b.op(row.name, {k.tile(to), s}, {{"mode", isa::enum_value(mode)}});
                });
        return;
    }
    if (row.name == "cmp" || row.name == "cmps") {
        for (int m = 0; m < 6; ++m) one("m" + std::to_string(m), false, 0, D::fp32, {{"cmp_type", std::int64_t(m)}});
        return;
    }
    if (row.name == "add" || row.name == "exp" || row.name == "expands" || row.name == "axpy" || row.name == "add_relu") columns(row);
    std::vector<D> types{D::fp32};
    for (D t : {D::fp16, D::bf16, D::int32, D::int16})
        if (row.semantics == S::elementwise && row.operands[0].dtypes >> unsigned(t) & 1) types.push_back(t);
    for (D t : types) {
        const std::string suffix = types.size() > 1 ? std::string(isa::name(t)) : "";
        if (either) one("scalar" + suffix, true, 0, t);
        if (dims) one("columns" + suffix, false, 1, t);
        one(suffix, false, 0, t);
    }
    if (row.semantics == S::cast)
        for (int m = 0; m < 7; ++m) one("mode" + std::to_string(m), false, 0, D::fp32, {{"mode", isa::enum_value(isa::RoundMode(m))}});
}

/// Lane by lane on column vectors and on column-major tiles.
void RowForms::columns(const isa::OpRow& row) {
    for (bool vector_only : {true, false})
        vector(row, vector_only ? "one_column" : "column_major", [&](Builder& k) {
            isa::TileType t = tile_type(16, vector_only ? 1 : 32, M::vec);
            t.layout = isa::Layout::dn;
            std::vector<ir::OperandValue> values;
            for (const isa::Operand& o : row.operands) values.push_back(o.kind == K::scalar ? ir::OperandValue(k.scalar(D::fp32)) : ir::OperandValue(k.tile(t)));
            k.b.op(row.name, std::move(values));
        });
}

void RowForms::simt(const isa::OpRow& row) {
    vector(row, "", [&](Builder& k) {
        const auto t = k.tile(M::vec);
        const auto g = k.tensor({-1, 64});
        const auto n = std::get<0>(std::tuple{k.scalar(D::int32)});
        ir::SimtLaunch l;
        l.name = "body";
        l.arguments = {t, g};
        l.x = k.b.num(32), l.y = k.b.num(2), l.z = k.b.num(1);
        l.thread_x = k.b.var("tx", D::int32), l.thread_y = k.b.var("ty", D::int32), l.thread_z = k.b.var("tz", D::int32);
        l.captures = {k.b.f[n].var};
        const auto v = k.b.var("v", D::fp32);
        const auto at = k.b.add(k.b.get(l.thread_x), n);
        ir::Op get, set;
        get.row = isa::Catalogue::builtin().find("getval");
        get.operands = {t, at};
        get.results = {v};
        set.row = isa::Catalogue::builtin().find("setval");
        set.operands = {g, k.b.get(l.thread_y), k.b.get(v)};
        l.body.push_back({get, {}});
        l.body.push_back({set, {}});
        k.b.emit(std::move(l));
    });
}

} // namespace pto::testing
