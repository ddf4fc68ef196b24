/// Products, and movement between memories.
#include "row_forms.hpp"

namespace pto::testing {

void RowForms::products(const isa::OpRow& row) {
    auto one = [&](const std::string& form, bool with_bias, Keywords keywords) {
        cube(row, form, [&](Builder& k) {
            std::vector<ir::OperandValue> values;
            ir::TileVarId acc;
            const bool mx = row.shape == isa::ShapeRule::matmul_mx;
            const D in = mx ? D::fp8e4m3 : D::fp16;
            for (const isa::Operand& o : row.operands) {
                if (o.name == "dst") values.push_back(acc = k.tile(M::acc, D::fp32, 16, 32));
                if (o.name == "acc") values.push_back(acc);
                if (o.name == "lhs") values.push_back(k.tile(M::left, in, 16, 64));
                if (o.name == "rhs") values.push_back(k.tile(M::right, in, 64, 32));
                if (o.name == "bias" && (with_bias || !o.optional)) values.push_back(k.tile(M::bias, D::fp32, 1, 32));
                if (o.name == "scale_a") values.push_back(k.tile(M::scale_left, D::fp8e8m0, 16, 2));
                if (o.name == "scale_b") values.push_back(k.tile(M::scale_right, D::fp8e8m0, 2, 32));
            }
            k.b.op(row.name, std::move(values), keywords);
        });
    };
    one("", false, {});
    one("partial", false, {{"phase", isa::enum_value(isa::AccPhase::partial)}});
    one("final", false, {{"phase", isa::enum_value(isa::AccPhase::final)}});
    if (row.name == "matmul") {
        one("bias", true, {});
        one("bias_final", true, {{"phase", isa::enum_value(isa::AccPhase::final)}});
    }
}

// ---------------------------------------------------------------- movement

isa::TileType RowForms::with_layout(isa::TileType t, isa::Layout layout) {
    t.layout = layout;
    return t;
}
ir::ExprList RowForms::order(Builder& k, int p, int q) { return {k.b.num(p), k.b.num(q)}; }

void RowForms::movement(const isa::OpRow& row) {
    if (row.semantics == S::load) return loads(row);
    if (row.semantics == S::store) return stores(row);
    if (row.name == "move") return moves(row);
    if (row.name == "insert") {
        for (isa::Layout l : {isa::Layout::nz, isa::Layout::zn})
            cube(row, std::string(isa::name(l)), [&](Builder& k) {
                const auto to = k.tile(with_layout(tile_type(64, 64, M::mat, D::fp16), l)), from = k.tile(with_layout(tile_type(16, 32, M::vec, D::fp16), isa::Layout::nz));
                k.b.op(row.name, {to, from, ir::ExprList{k.b.num(16), k.scalar(D::index)}});
            });
        return;
    }
    if (row.semantics == S::ssbuf_store || row.semantics == S::ssbuf_load)
        return vector(row, "", [&](Builder& k) {
            const auto s = k.b.structure(row.semantics == S::ssbuf_store ? "Ctx" : "double", {{"task", D::int32, 0}, {"offsets", D::int32, 4}});
            k.b.set_field({s, {}}, 0, k.scalar(D::int32));
            k.b.op(row.name, {ir::StructRef{s, {}}, k.b.num(64)});
        });
    if (row.name == "move_fp")
        return cube(row, "", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec, D::fp16, 16, 64), k.tile(M::acc), k.tile(M::scaling, D::int64, 1, 64)}); });
    if (row.name == "store_fp")
        return cube(row, "", [&](Builder& k) {
            k.b.op(row.name, {k.tensor({64, 64}, D::fp16), k.tile(M::acc), k.tile(M::scaling, D::int64, 1, 64), k.zeros(2)});
        });
    vector(row, "", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec), k.tile(M::vec)}); });
}

void RowForms::loads(const isa::OpRow& row) {
    auto one = [&](const std::string& form, isa::Core core, isa::TileType t, std::vector<std::int64_t> dims, isa::Layout layout, int p = -1, int q = -1) {
        add(row, form, core, [&](Builder& k) {
            Keywords words;
            if (p >= 0) words.push_back({"order", order(k, p, q)});
            ir::ExprList offsets = k.zeros(int(dims.size()));
            if (form.find("runtime") != std::string::npos) offsets[0] = k.scalar(D::index);
            k.b.op(row.name, {k.tile(t), k.tensor(dims, t.dtype, layout), offsets}, words);
        });
    };
    const auto nd = isa::Layout::nd;
    one("vec", isa::Core::vector, tile_type(16, 64, M::vec), {64, 64}, nd);
    one("vec_runtime", isa::Core::vector, tile_type(16, 64, M::vec), {-1, 64}, nd);
    one("vec_half", isa::Core::vector, tile_type(16, 64, M::vec, D::fp16), {64, 64}, nd);
    one("vec_column", isa::Core::vector, tile_type(16, 1, M::vec), {64, 1}, nd);
    one("vec_dn", isa::Core::vector, with_layout(tile_type(16, 64, M::vec), isa::Layout::dn), {64, 64}, isa::Layout::dn);
    one("vec_transposed", isa::Core::vector, with_layout(tile_type(16, 64, M::vec), isa::Layout::dn), {64, 64}, nd, 1, 0);
    one("vec_rank3_runtime", isa::Core::vector, tile_type(16, 64, M::vec), {-1, 16, 64}, nd);
    one("vec_axes", isa::Core::vector, tile_type(16, 64, M::vec), {32, 4, 64}, nd, 0, 2);
    one("vec_vector", isa::Core::vector, tile_type(1, 64, M::vec), {64}, nd);
    one("mat", isa::Core::cube, tile_type(64, 64, M::mat), {128, 64}, nd);
    one("mat_transposed", isa::Core::cube, with_layout(tile_type(64, 64, M::mat), isa::Layout::zn), {64, 64}, nd, 1, 0);
    one("mat_nz", isa::Core::cube, tile_type(64, 64, M::mat, D::fp16), {64, 64}, isa::Layout::nz);
    for (bool left : {true, false}) {
        isa::TileType t = tile_type(left ? 16 : 2, left ? 2 : 16, M::mat, D::fp8e8m0);
        t.layout = left ? isa::Layout::zz : isa::Layout::nn, t.fractal = 32;
        one(left ? "scales_left" : "scales_right", isa::Core::cube, t, left ? std::vector<std::int64_t>{16, 1, 2} : std::vector<std::int64_t>{1, 16, 2}, nd);
    }
    vector(row, "view", [&](Builder& k) {
        const auto base = k.tensor({64, 64});
        const auto view = k.b.tensor("view", {-1, 64});
        k.b.emit(ir::TensorBind{view, k.b.f.add({.op = ir::ExprOp::address, .tensor = base}), {}, {k.scalar(D::index), k.b.num(64)}, {}});
        k.b.op("set_stride", {view, ir::ExprList{k.b.num(128), k.b.num(1)}});
        k.b.op(row.name, {k.tile(M::vec), view, k.zeros(2)});
    });
}

void RowForms::stores(const isa::OpRow& row) {
    auto one = [&](const std::string& form, bool from_acc, D to, isa::Layout layout, const std::function<Keywords(Builder&)>& words) {
        add(row, form, from_acc ? isa::Core::cube : isa::Core::vector, [&](Builder& k) {
            const auto g = k.tensor({64, 64}, to, layout);
            const auto t = from_acc ? k.tile(M::acc, form.find("int32") == std::string::npos ? D::fp32 : D::int32) : k.tile(M::vec, to);
            k.b.op(row.name, {g, t, k.zeros(2)}, words(k));
        });
    };
    auto none = [](Builder&) { return Keywords{}; };
    const auto nd = isa::Layout::nd;
    const ir::AttributeValue relu = isa::enum_value(isa::ReluPreMode::normal_relu), final = isa::enum_value(isa::StPhase::final);
    one("vec", false, D::fp32, nd, none);
    one("vec_atomic", false, D::fp16, nd, [](Builder&) { return Keywords{{"atomic", isa::enum_value(isa::AtomicType::add)}}; });
    one("acc", true, D::fp32, nd, none);
    one("acc_half", true, D::fp16, nd, none);
    one("acc_nz", true, D::fp16, isa::Layout::nz, none);
    one("acc_int32", true, D::int32, nd, none);
    one("acc_phase", true, D::fp32, nd, [&](Builder&) { return Keywords{{"phase", final}}; });
    one("acc_relu", true, D::fp32, nd, [&](Builder&) { return Keywords{{"relu_pre_mode", relu}}; });
    one("acc_relu_phase", true, D::fp32, nd, [&](Builder&) { return Keywords{{"relu_pre_mode", relu}, {"phase", final}}; });
    one("acc_scale", true, D::int8, nd, [](Builder&) { return Keywords{{"scale", 0.1}}; });
    one("acc_scale_runtime", true, D::fp16, nd, [](Builder& k) { return Keywords{{"scale", k.scalar(D::fp32)}}; });
    one("acc_scale_bits", true, D::int8, nd, [](Builder& k) { return Keywords{{"scale", k.scalar(D::int64)}}; });
    one("acc_scale_channels", true, D::fp16, nd, [](Builder& k) { return Keywords{{"scale", k.tile(M::scaling, D::int64, 1, 64)}}; });
    one("acc_atomic", true, D::fp32, nd, [](Builder&) { return Keywords{{"atomic", isa::enum_value(isa::AtomicType::add)}}; });
    vector(row, "column", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 1}), k.tile(M::vec, D::fp32, 16, 1), k.zeros(2)}); });
}

void RowForms::moves(const isa::OpRow& row) {
    auto one = [&](const std::string& form, isa::TileType to, isa::TileType from, const std::function<Keywords(Builder&)>& words, int offsets = -1) {
        const isa::Core core = from.memory == M::vec && to.memory == M::vec ? isa::Core::vector : isa::Core::cube;
        add(row, form, from.memory == M::vec ? isa::Core::vector : core, [&](Builder& k) {
            std::vector<ir::OperandValue> values{k.tile(to), k.tile(from)};
            if (offsets >= 0) values.push_back(ir::ExprList{k.b.num(offsets), k.b.num(offsets)});
            k.b.op(row.name, std::move(values), words(k));
        });
    };
    auto none = [](Builder&) { return Keywords{}; };
    const D h = D::fp16;
    one("left", tile_type(64, 64, M::left, h), tile_type(64, 64, M::mat, h), none);
    one("right", tile_type(64, 64, M::right, h), tile_type(64, 64, M::mat, h), none);
    one("left_transposed", tile_type(64, 64, M::left, h), with_layout(tile_type(64, 64, M::mat, h), isa::Layout::zn), none);
    one("right_transposed", tile_type(64, 64, M::right, h), with_layout(tile_type(64, 64, M::mat, h), isa::Layout::zn), none);
    one("left_extract", tile_type(16, 64, M::left, h), tile_type(64, 64, M::mat, h), none, 0);
    one("right_extract", tile_type(64, 32, M::right, h), tile_type(64, 64, M::mat, h), none, 0);
    isa::TileType bias_row = tile_type(1, 64, M::mat), scaling_row = tile_type(1, 64, M::mat, D::int64);
    bias_row.layout = scaling_row.layout = isa::Layout::nd;
    one("bias", tile_type(1, 64, M::bias), bias_row, none);
    one("scaling", tile_type(1, 64, M::scaling, D::int64), scaling_row, none);
    isa::TileType zz = tile_type(16, 2, M::mat, D::fp8e8m0), nn = tile_type(2, 16, M::mat, D::fp8e8m0), sl = zz, sr = nn;
    zz.layout = sl.layout = isa::Layout::zz, nn.layout = sr.layout = isa::Layout::nn;
    zz.fractal = nn.fractal = sl.fractal = sr.fractal = 32;
    sl.memory = M::scale_left, sr.memory = M::scale_right;
    one("scale_left", sl, zz, none);
    one("scale_right", sr, nn, none);
    one("vec_vec", tile_type(16, 64, M::vec), tile_type(16, 64, M::vec), none);
    one("vec_vec_nz", with_layout(tile_type(16, 64, M::vec), isa::Layout::nz), tile_type(16, 64, M::vec), none);
    one("vec_vec_extract", tile_type(8, 32, M::vec), tile_type(16, 64, M::vec), none, 0);
    one("vec_mat", tile_type(16, 64, M::mat), with_layout(tile_type(16, 64, M::vec), isa::Layout::nz), none);
    one("vec_mat_nd", tile_type(16, 64, M::mat), tile_type(16, 64, M::vec), none);
    one("vec_mat_insert", tile_type(64, 64, M::mat), with_layout(tile_type(16, 64, M::vec), isa::Layout::nz), none, 16);
    const isa::TileType acc = tile_type(16, 64, M::acc), whole = tile_type(16, 64, M::vec), half_rows = tile_type(8, 64, M::vec), half_cols = tile_type(16, 32, M::vec);
    auto mode = [](isa::AccToVecMode m) { return [m](Builder&) { return Keywords{{"acc_to_vec_mode", isa::enum_value(m)}}; }; };
    one("acc_vec", whole, acc, none);
    one("acc_vec0", whole, acc, mode(isa::AccToVecMode::single_vec0));
    one("acc_vec1", whole, acc, mode(isa::AccToVecMode::single_vec1));
    one("acc_split_m", half_rows, acc, mode(isa::AccToVecMode::split_m));
    one("acc_split_n", half_cols, acc, mode(isa::AccToVecMode::split_n));
    one("acc_half", tile_type(16, 64, M::vec, D::fp16), acc, none);
    one("acc_relu", whole, acc, [](Builder&) { return Keywords{{"relu_pre_mode", isa::enum_value(isa::ReluPreMode::normal_relu)}}; });
    one("acc_scale", tile_type(16, 64, M::vec, D::int8), acc, [](Builder&) { return Keywords{{"scale", 0.25}}; });
    one("acc_scale_channels", tile_type(16, 64, M::vec, D::fp16), acc, [](Builder& k) { return Keywords{{"scale", k.tile(M::scaling, D::int64, 1, 64)}}; });
    one("acc_extract", tile_type(16, 32, M::vec), acc, none, 0);
}

} // namespace pto::testing
