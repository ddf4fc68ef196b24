#include "row_kernels.hpp"

#include <algorithm>
#include <functional>

namespace pto::testing {
namespace {

using D = isa::DType;
using M = isa::MemorySpace;
using K = isa::OperandKind;
using S = isa::Semantics;
using Keywords = FunctionBuilder::Keywords;

/// One kernel: declarations get fresh addresses; tensors are parameters.
class Builder {
  public:
    explicit Builder(isa::Core core) : b(core) {}
    FunctionBuilder b;
    ir::Kernel kernel;

    ir::TileVarId tile(isa::TileType t) {
        const std::int64_t at = (m_next + 511) / 512 * 512;
        m_next = at + t.byte_size();
        return b.slot(b.group("t" + std::to_string(b.f.decls.size()), t, {at}));
    }
    ir::TileVarId tile(M memory, D dtype = D::fp32, int rows = 16, int cols = 64) {
        isa::TileType t = tile_type(rows, cols, memory, dtype);
        if (memory == M::scale_left) t.layout = isa::Layout::zz, t.fractal = 32;
        if (memory == M::scale_right) t.layout = isa::Layout::nn, t.fractal = 32;
        if (memory == M::acc && isa::bytes(dtype) != 4) t.fractal = 512;
        return tile(t);
    }
    ir::TensorId tensor(std::vector<std::int64_t> dims, D dtype = D::fp32, isa::Layout layout = isa::Layout::nd) {
        const ir::ParamId id{std::int32_t(kernel.params.size())};
        ir::Param p;
        p.name = "x" + std::to_string(id.index), p.dtype = dtype, p.layout = layout;
        for (std::int64_t d : dims) p.dims.push_back({d < 0, std::max<std::int64_t>(d, 0)});
        kernel.params.push_back(p);
        const ir::TensorId t = b.tensor(p.name, dims, id, dtype);
        b.f.tensors.back().layout = layout;
        return t;
    }
    /// A run-time scalar of a type.
    ir::ExprId scalar(D t) {
        const ir::ParamId id{std::int32_t(kernel.params.size())};
        ir::Param p;
        p.name = "s" + std::to_string(id.index), p.kind = ir::ParamKind::scalar, p.dtype = t;
        kernel.params.push_back(p);
        return b.get(b.var(p.name, t, id));
    }
    ir::RegId reg(D t, ir::RegKind kind = ir::RegKind::vector) {
        b.f.regs.push_back({"r" + std::to_string(b.f.regs.size()), kind, t});
        return ir::RegId{std::int32_t(b.f.regs.size()) - 1};
    }
    ir::ExprList zeros(int n) {
        ir::ExprList l;
        for (int i = 0; i < n; ++i) l.push_back(b.num(0));
        return l;
    }

  private:
    std::int64_t m_next = 0;
};

class All {
  public:
    std::vector<RowKernel> take() {
        for (const isa::OpRow& row : isa::Catalogue::builtin().rows())
            if (!row.construct) forms(row);
        return std::move(m_out);
    }

  private:
    using Fill = std::function<void(Builder&)>;
    void add(const isa::OpRow& row, const std::string& form, isa::Core core, const Fill& fill) {
        Builder k(core);
        k.kernel.name = "r" + std::to_string(m_out.size()) + "_";
        for (char c : std::string(row.name) + (form.empty() ? "" : "_" + form)) k.kernel.name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        fill(k);
        (core == isa::Core::cube ? k.kernel.cube : k.kernel.vector) = k.b.f;
        m_out.push_back({k.kernel.name, std::string(row.name), program::assemble(k.kernel, ascend950())});
    }
    void vector(const isa::OpRow& row, const std::string& form, const Fill& fill) { add(row, form, isa::Core::vector, fill); }
    void cube(const isa::OpRow& row, const std::string& form, const Fill& fill) { add(row, form, isa::Core::cube, fill); }
    /// Inside a vector function over one UB tile.
    void function(const isa::OpRow& row, const std::string& form, D type, const std::function<void(Builder&, ir::TileVarId)>& fill) {
        vector(row, form, [&](Builder& k) {
            const ir::TileVarId t = k.tile(M::vec, type, 16, 256);
            k.b.vector_call("f", {t}, {isa::Role::read_write}, [&] { fill(k, t); });
        });
    }

    static D pick(std::uint32_t set) {
        for (D t : {D::fp32, D::fp16, D::int32, D::uint32, D::int16, D::uint16, D::int8, D::uint8, D::int64, D::fp8e4m3, D::fp8e8m0, D::bf16})
            if (set >> unsigned(t) & 1) return t;
        return D::fp32;
    }
    static M memory_of(std::uint32_t set) {
        for (M m : {M::vec, M::mat, M::left, M::right, M::acc, M::bias, M::scaling, M::scale_left, M::scale_right})
            if (set >> unsigned(m) & 1) return m;
        return M::vec;
    }

    void forms(const isa::OpRow& row) {
        if (row.family == "registers") return registers(row);
        if (row.family == "cube") return products(row);
        if (row.family == "movement") return movement(row);
        if (row.family == "sync") return sync(row);
        if (row.family == "debug") return debug(row);
        if (row.family == "scalar") return scalars(row);
        if (row.family == "vector") return tiles(row);
    }

    // ---------------------------------------------------------------- whole tiles

    void tiles(const isa::OpRow& row) {
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
    void columns(const isa::OpRow& row) {
        for (bool vector_only : {true, false})
            vector(row, vector_only ? "one_column" : "column_major", [&](Builder& k) {
                isa::TileType t = tile_type(16, vector_only ? 1 : 32, M::vec);
                t.layout = isa::Layout::dn;
                std::vector<ir::OperandValue> values;
                for (const isa::Operand& o : row.operands) values.push_back(o.kind == K::scalar ? ir::OperandValue(k.scalar(D::fp32)) : ir::OperandValue(k.tile(t)));
                k.b.op(row.name, std::move(values));
            });
    }

    void simt(const isa::OpRow& row) {
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

    // ---------------------------------------------------------------- cube

    void products(const isa::OpRow& row) {
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

    static isa::TileType with_layout(isa::TileType t, isa::Layout layout) {
        t.layout = layout;
        return t;
    }
    ir::ExprList order(Builder& k, int p, int q) { return {k.b.num(p), k.b.num(q)}; }

    void movement(const isa::OpRow& row) {
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

    void loads(const isa::OpRow& row) {
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

    void stores(const isa::OpRow& row) {
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

    void moves(const isa::OpRow& row) {
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

    // ---------------------------------------------------------------- synchronisation, scalar unit, debug

    void sync(const isa::OpRow& row) {
        auto pipe = [](isa::Pipe p) -> ir::AttributeValue { return isa::enum_value(p); };
        if (row.semantics == S::flag_set || row.semantics == S::flag_wait) {
            for (int id : {3, 9}) vector(row, "id" + std::to_string(id), [&](Builder& k) { k.b.op(row.name, {}, {{"set_pipe", pipe(isa::Pipe::mte2)}, {"wait_pipe", pipe(isa::Pipe::v)}, {"event_id", std::int64_t(id)}}); });
            vector(row, "runtime", [&](Builder& k) { k.b.op(row.name, {}, {{"set_pipe", pipe(isa::Pipe::v)}, {"wait_pipe", pipe(isa::Pipe::mte3)}, {"event_id", k.scalar(D::index)}}); });
            return;
        }
        if (row.semantics == S::cross_set || row.semantics == S::cross_wait) {
            for (int m = 0; m < 4; ++m)
                for (isa::Core core : {isa::Core::cube, isa::Core::vector})
                    add(row, std::string(isa::name(isa::CrossCoreSyncMode(m))) + (core == isa::Core::cube ? "_cube" : "_vector"), core, [&](Builder& k) {
                        k.b.op(row.name, {}, {{"pipe", pipe(core == isa::Core::cube ? isa::Pipe::fix : isa::Pipe::mte3)}, {"event_id", std::int64_t(2)}, {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode(m))}});
                    });
            cube(row, "runtime", [&](Builder& k) { k.b.op(row.name, {}, {{"pipe", pipe(isa::Pipe::fix)}, {"event_id", k.scalar(D::index)}}); });
            return;
        }
        if (row.semantics == S::sync_all) {
            for (int t = 0; t < 3; ++t) vector(row, std::string(isa::name(isa::SyncCoreType(t))), [&](Builder& k) { k.b.op(row.name, {}, {{"core_type", isa::enum_value(isa::SyncCoreType(t))}}); });
            vector(row, "soft", [&](Builder& k) {
                ir::MixedList list;
                list.tensors = {k.tensor({64}, D::int32)};
                list.tiles = {k.tile(M::vec, D::int32)};
                k.b.op(row.name, {list}, {{"core_type", isa::enum_value(isa::SyncCoreType::aiv_only)}, {"mode", isa::enum_value(isa::SyncAllMode::soft)}});
            });
            return;
        }
        if (row.semantics == S::mutex_lock || row.semantics == S::mutex_unlock)
            return vector(row, "", [&](Builder& k) { k.b.op(row.name, {}, {{"pipe", pipe(isa::Pipe::v)}, {"mutex_id", std::int64_t(5)}}); });
        const bool only_cube = row.pipe == isa::PipeRule::m || row.pipe == isa::PipeRule::mte1 || row.pipe == isa::PipeRule::fix;
        add(row, "", only_cube ? isa::Core::cube : isa::Core::vector, [&](Builder& k) { k.b.op(row.name, {}); });
    }

    void scalars(const isa::OpRow& row) {
        if (row.semantics == S::getval || row.semantics == S::setval) {
            for (bool of_tensor : {false, true})
                for (D t : {D::fp32, D::fp16, D::int32})
                    vector(row, std::string(of_tensor ? "tensor_" : "tile_") + std::string(isa::name(t)), [&](Builder& k) {
                        ir::OperandValue container = of_tensor ? ir::OperandValue(k.tensor({64, 64}, t)) : ir::OperandValue(k.tile(M::vec, t));
                        const auto at = k.scalar(D::index);
                        if (row.semantics == S::getval) {
                            const auto v = k.b.var("v", t);
                            k.b.op(row.name, {container, at}).results = {v};
                        } else {
                            k.b.op(row.name, {container, at, k.b.num(3)});
                        }
                    });
            return;
        }
        if (row.semantics == S::set_validshape) {
            vector(row, "tile", [&](Builder& k) {
                isa::TileType t = tile_type(16, 64, M::vec);
                t.fixed_valid = true;
                k.b.op(row.name, {k.tile(t), ir::ExprList{k.b.num(8), k.scalar(D::index)}});
            });
            vector(row, "group", [&](Builder& k) {
                const auto d = k.b.group("g", tile_type(16, 64, M::vec), {0, 4096});
                k.b.next(d);
                k.b.op(row.name, {ir::GroupRef{d}, ir::ExprList{k.b.num(8), k.b.num(64)}});
            });
            return;
        }
        if (row.semantics == S::set_stride)
            return vector(row, "", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64}), ir::ExprList{k.b.num(128), k.b.num(1)}}); });
        if (row.semantics == S::cache) {
            for (int d = 0; d < 5; ++d)
                vector(row, std::string(isa::name(isa::DcciDst(d))), [&](Builder& k) {
                    k.b.op(row.name, {k.tensor({64, 64}), k.b.num(8)}, {{"cache_line", isa::enum_value(isa::CacheLine(d % 2))}, {"dst", isa::enum_value(isa::DcciDst(d))}});
                });
            vector(row, "whole", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64})}, {{"cache_line", isa::enum_value(isa::CacheLine::entire_data_cache)}}); });
            vector(row, "tile", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec), k.b.num(8)}, {{"cache_line", isa::enum_value(isa::CacheLine::single_cache_line)}}); });
            return;
        }
        if (row.semantics == S::layout_transform) {
            for (bool on : {true, false}) cube(row, on ? "on" : "off", [&](Builder& k) { k.b.op(row.name, {}, {{"enabled", on}}); });
            return;
        }
        vector(row, "", [&](Builder& k) {
            std::vector<ir::OperandValue> values;
            for (std::size_t i = 0; i < row.operands.size(); ++i) values.push_back(k.scalar(D::uint64));
            k.b.op(row.name, std::move(values));
        });
    }

    void debug(const isa::OpRow& row) {
        if (row.semantics == S::print)
            return vector(row, "", [&](Builder& k) {
                ir::ExprList many;
                std::string format = "100%% \"\xE4\xB8\xAD\"\n";
                for (int i = 0; i < 11; ++i) many.push_back(i % 2 ? k.scalar(D::fp32) : k.scalar(D::int32)), format += i % 2 ? " %f" : " %d";
                std::vector<ir::OperandValue> values{format};
                for (ir::ExprId e : many) values.push_back(e);
                k.b.op(row.name, values, {{"loc", true}});
            });
        if (row.semantics == S::assertion)
            return vector(row, "", [&](Builder& k) {
                const auto s = k.scalar(D::int32);
                k.b.op(row.name, {k.b.binary(ir::ExprOp::lt, s, k.b.num(4)), std::string("s is %d\n"), s});
            });
        if (row.semantics == S::trap) return vector(row, "", [&](Builder& k) { k.b.op(row.name, {}); });
        vector(row, "tensor", [&](Builder& k) { k.b.op(row.name, {k.tensor({-1, 4, 64})}, {{"flag", std::string("x 100%")}}); });
        vector(row, "tensor_window", [&](Builder& k) { k.b.op(row.name, {k.tensor({64, 64}), k.zeros(2), ir::ExprList{k.b.num(2), k.b.num(8)}}); });
        vector(row, "tile", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec)}); });
        vector(row, "tile_window", [&](Builder& k) { k.b.op(row.name, {k.tile(M::vec, D::int32), k.zeros(2), ir::ExprList{k.b.num(2), k.b.num(8)}}); });
        cube(row, "acc", [&](Builder& k) { k.b.op(row.name, {k.tile(M::acc)}, {{"workspace", k.tensor({64, 64})}}); });
    }

    // ---------------------------------------------------------------- registers

    void registers(const isa::OpRow& row) {
        if (row.semantics == S::reg_load) return register_loads(row);
        if (row.semantics == S::reg_store) return register_stores(row);
        if (row.name == "vf.astype") return casts(row);
        if (row.semantics == S::reg_pack) {
            for (auto [from, to] : {std::pair{D::int32, D::int16}, {D::uint16, D::uint8}, {D::int64, D::int32}})
                for (auto part : {isa::PackPart::lower, isa::PackPart::upper}) {
                    const bool pack = row.lane == isa::LaneFn::pack;
                    const D a = pack ? from : to, z = pack ? to : from;
                    function(row, std::string(isa::name(a)) + "_" + std::string(isa::name(part)), a, [&](Builder& k, ir::TileVarId) {
                        k.b.op(row.name, {k.reg(a)}, {{"dtype", z}, {"part", isa::enum_value(part)}}).registers = {k.reg(z)};
                    });
                }
            function(row, "mask", D::fp32, [&](Builder& k, ir::TileVarId) { k.b.op(row.name, {k.reg(D::fp16, ir::RegKind::mask)}).registers = {k.reg(D::fp16, ir::RegKind::mask)}; });
            return;
        }
        for (bool with_mask_form : {false, true})
            for (bool with_scalar : {false, true}) {
                bool can_mask = false, can_scalar = false, memory_or_reg = false;
                for (const isa::Operand& o : row.operands) {
                    can_mask = can_mask || o.kind == K::reg_or_mask;
                    can_scalar = can_scalar || o.kind == K::reg_or_scalar;
                    memory_or_reg = memory_or_reg || o.kind == K::memory_or_reg;
                }
                if ((with_mask_form && !can_mask) || (with_scalar && !can_scalar && !memory_or_reg)) continue;
                D type = D::fp32;
                for (const isa::Operand& o : row.operands)
                    if (o.kind == K::reg) {
                        type = pick(o.dtypes);
                        break;
                    }
                if (row.lane == isa::LaneFn::shl || row.lane == isa::LaneFn::shr) type = D::int32;
                if (row.name == "vf.mask_gen_with_reg_tensor") type = D::uint32;
                const std::string form = std::string(with_mask_form ? "mask" : "") + (with_scalar ? "second" : "");
                function(row, form, type, [&](Builder& k, ir::TileVarId t) {
                    std::vector<ir::OperandValue> values;
                    for (const isa::Operand& o : row.operands) {
                        switch (o.kind) {
                        case K::reg: values.push_back(k.reg(o.name == "index" ? D::uint32 : o.dtypes >> unsigned(type) & 1 ? type : pick(o.dtypes))); break;
                        case K::mask: values.push_back(k.reg(type, ir::RegKind::mask)); break;
                        case K::reg_or_scalar: values.push_back(with_scalar ? ir::OperandValue(k.scalar(D::index)) : ir::OperandValue(k.reg(type))); break;
                        case K::reg_or_mask: values.push_back(k.reg(type, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)); break;
                        case K::memory: values.push_back(ir::MemoryRef{t, {}}); break;
                        case K::memory_or_reg: values.push_back(with_scalar ? ir::OperandValue(k.reg(type)) : ir::OperandValue(ir::MemoryRef{t, {}})); break;
                        case K::unaligned: values.push_back(k.reg(type, ir::RegKind::unaligned_store)); break;
                        default: values.push_back(k.scalar(D::index));
                        }
                    }
                    Keywords words;
                    D result = type;
                    if (row.name == "vf.bit_cast") words.push_back({"dtype", result = D::int32});
                    if (row.result_type == isa::ResultType::fp32) result = D::fp32;
                    if (row.name == "vf.muls_cast") result = D::fp16;
                    if (row.result_type == isa::ResultType::uint16) result = D::uint16;
                    if (row.semantics == S::reg_arange) words.push_back({"dtype", result = D::uint32});
                    const std::string_view r = row.result;
                    std::vector<ir::RegId> results;
                    if (r == "reg") results = {k.reg(result)};
                    if (r == "mask") results = {k.reg(type, ir::RegKind::mask)};
                    if (r == "reg|mask") results = {k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)};
                    if (r == "reg,reg") results = {k.reg(result), k.reg(result)};
                    if (r == "mask,reg") results = {k.reg(type, ir::RegKind::mask), k.reg(result)};
                    if (r == "reg,reg|mask,mask") results = {k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector), k.reg(result, with_mask_form ? ir::RegKind::mask : ir::RegKind::vector)};
                    if (r == "unaligned") results = {k.reg(type, ir::RegKind::unaligned_load)};
                    if (r == "address") results = {k.reg(type, ir::RegKind::address)};
                    k.b.op(row.name, std::move(values), words).registers = results;
                });
            }
        // Optional trailing operands left out: streams without a stride, masks by default.
        if (!row.operands.empty() && row.operands.back().optional)
            function(row, "short", D::fp32, [&](Builder& k, ir::TileVarId t) {
                std::vector<ir::OperandValue> values;
                for (const isa::Operand& o : row.operands) {
                    if (o.optional) break;
                    if (o.kind == K::memory || o.kind == K::memory_or_reg) values.push_back(ir::MemoryRef{t, {}});
                    else if (o.kind == K::unaligned) values.push_back(k.reg(D::fp32, ir::RegKind::unaligned_store));
                    else if (o.kind == K::mask) values.push_back(k.reg(D::int32, ir::RegKind::mask));
                    else if (o.kind == K::scalar || o.kind == K::reg_or_scalar) values.push_back(k.scalar(D::index));
                    else values.push_back(k.reg(o.name == "index" ? D::uint32 : o.dtypes >> unsigned(D::fp32) & 1 ? D::fp32 : pick(o.dtypes)));
                }
                std::vector<ir::RegId> results;
                if (row.result.rfind("reg", 0) == 0) results = {k.reg(D::fp32)};
                if (row.result == "mask,reg") results = {k.reg(D::int32, ir::RegKind::mask), k.reg(D::int32)};
                if (row.result == "address") results = {k.reg(D::fp32, ir::RegKind::address)};
                Keywords words;
                if (row.semantics == S::reg_full) words.push_back({"dtype", D::fp32});
                k.b.op(row.name, std::move(values), words).registers = results;
            });
    }

    void register_loads(const isa::OpRow& row) {
        if (row.name == "vf.load_align.blocks")
            return function(row, "", D::fp32, [&](Builder& k, ir::TileVarId t) {
                k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32, ir::RegKind::mask)}, {{"block_stride", std::int64_t(8)}, {"repeat_stride", std::int64_t(1)}}).registers = {k.reg(D::fp32)};
            });
        for (int d = 0; d <= int(isa::LoadDist::dintlv_b32); ++d) {
            const auto dist = isa::LoadDist(d);
            const std::string name(isa::name(dist));
            const bool pair = name.rfind("DINTLV", 0) == 0;
            const D type = name.find("B8") != std::string::npos ? D::uint8 : name.find("B32") != std::string::npos || name == "E2B" ? D::fp32 : D::fp16;
            function(row, name, type, [&](Builder& k, ir::TileVarId t) {
                ir::Op& op = k.b.op(row.name, {ir::MemoryRef{t, k.b.num(8)}, k.scalar(D::index)}, {{"dist", isa::enum_value(dist)}});
                op.registers = {k.reg(type)};
                if (pair) op.registers.push_back(k.reg(type));
            });
        }
        function(row, "row_and_column", D::fp32, [&](Builder& k, ir::TileVarId t) {
            k.b.op(row.name, {ir::MemoryRef{t, {}}, ir::ExprList{k.scalar(D::index), k.b.num(64)}}).registers = {k.reg(D::fp32)};
        });
        function(row, "other_type", D::fp16, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(4)}, {{"dtype", D::uint32}}).registers = {k.reg(D::uint32)}; });
        function(row, "post_update", D::fp32, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(64)}, {{"post_update", true}}).registers = {k.reg(D::fp32)}; });
        function(row, "mask", D::uint8, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.b.num(0)}).registers = {k.reg(D::fp32, ir::RegKind::mask)}; });
        function(row, "address_register", D::fp32, [&](Builder& k, ir::TileVarId t) {
            const auto a = k.reg(D::fp32, ir::RegKind::address);
            const auto j = k.b.var("j");
            k.b.loop(j, k.b.num(4), [&] {
                k.b.op("vf.create_addr_reg", {k.b.get(j), k.b.num(64)}).registers = {a};
                k.b.op(row.name, {ir::MemoryRef{t, {}}, a}).registers = {k.reg(D::fp32)};
                k.b.op("vf.store_align", {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask), a});
            });
        });
    }

    void register_stores(const isa::OpRow& row) {
        if (row.name == "vf.store_align.mask") {
            for (bool post : {false, true})
                function(row, post ? "post" : "", D::uint8, [&](Builder& k, ir::TileVarId t) {
                    k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32, ir::RegKind::mask), k.b.num(32)}, {{"post_update", post}});
                });
            return;
        }
        if (row.name == "vf.store_align.pair") {
            for (auto dist : {isa::StoreDist::intlv, isa::StoreDist::intlv_b32})
                function(row, std::string(isa::name(dist)), D::fp32, [&](Builder& k, ir::TileVarId t) {
                    k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask)}, {{"dist", isa::enum_value(dist)}});
                });
            return;
        }
        for (auto dist : {isa::StoreDist::norm, isa::StoreDist::norm_b16, isa::StoreDist::first_element, isa::StoreDist::pack, isa::StoreDist::pack4}) {
            const bool packs = dist == isa::StoreDist::pack || dist == isa::StoreDist::pack4;
            const D type = dist == isa::StoreDist::norm_b16 ? D::fp16 : packs ? D::int32 : D::fp32;
            function(row, std::string(isa::name(dist)), packs ? (dist == isa::StoreDist::pack ? D::int16 : D::int8) : type, [&](Builder& k, ir::TileVarId t) {
                k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(type), k.reg(type, ir::RegKind::mask), k.b.num(64)}, {{"dist", isa::enum_value(dist)}});
            });
        }
        function(row, "plain", D::fp32, [&](Builder& k, ir::TileVarId t) { k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32)}); });
        function(row, "post", D::fp32, [&](Builder& k, ir::TileVarId t) {
            k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask), k.b.num(64)}, {{"post_update", true}});
        });
        function(row, "blocks", D::fp32, [&](Builder& k, ir::TileVarId t) {
            k.b.op(row.name, {ir::MemoryRef{t, {}}, k.reg(D::fp32), k.reg(D::fp32, ir::RegKind::mask)}, {{"block_stride", std::int64_t(8)}});
        });
    }

    void casts(const isa::OpRow& row) {
        const std::pair<D, D> pairs[] = {
            {D::fp16, D::fp32},   {D::bf16, D::fp32},   {D::fp32, D::fp16},     {D::fp32, D::bf16},    {D::fp16, D::bf16},    {D::bf16, D::fp16},    {D::fp16, D::int8},
            {D::fp16, D::uint8},  {D::fp16, D::int16},  {D::fp16, D::int32},    {D::bf16, D::int32},   {D::fp32, D::int32},   {D::fp32, D::int16},   {D::fp32, D::int64},
            {D::int64, D::fp32},  {D::int32, D::fp32},  {D::int16, D::fp16},    {D::int16, D::fp32},   {D::int8, D::fp16},    {D::uint8, D::fp16},   {D::int8, D::int16},
            {D::uint8, D::uint16}, {D::int8, D::int32}, {D::uint8, D::uint32},  {D::int16, D::int32},  {D::int32, D::int64},  {D::int64, D::int32},  {D::int32, D::int16},
            {D::uint16, D::uint8}, {D::int32, D::uint8}, {D::int16, D::uint8},  {D::hf8, D::fp16},     {D::hf8, D::fp32},     {D::fp16, D::hf8},     {D::fp32, D::hf8},
            {D::fp8e4m3, D::fp32}, {D::fp8e5m2, D::fp32}, {D::fp32, D::fp8e4m3}, {D::fp32, D::fp8e5m2}, {D::fp8e8m0, D::bf16}, {D::bf16, D::fp8e8m0}, {D::fp4e2m1, D::bf16},
            {D::bf16, D::fp4e2m1}, {D::fp4e1m2, D::bf16}, {D::bf16, D::fp4e1m2}, {D::int4, D::fp16},    {D::int4, D::bf16},    {D::int4, D::int16},   {D::fp16, D::int4}};
        for (auto [from, to] : pairs)
            function(row, std::string(isa::name(from)) + "_" + std::string(isa::name(to)), D::fp32, [&](Builder& k, ir::TileVarId) {
                k.b.op(row.name, {k.reg(from), k.reg(from, ir::RegKind::mask)},
                       {{"dtype", to}, {"layout", isa::enum_value(isa::CastLayout::one)}, {"round_mode", isa::enum_value(isa::VfRoundMode::rint)}, {"saturate", isa::enum_value(isa::SaturateMode::on)}})
                    .registers = {k.reg(to)};
            });
    }

    std::vector<RowKernel> m_out;
};

} // namespace

const machine::Chip& ascend950() { return *machine::find_chip("ascend950"); }

std::vector<RowKernel> row_kernels() { return All().take(); }

} // namespace pto::testing
