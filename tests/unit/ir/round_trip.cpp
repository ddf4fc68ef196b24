/// Printed IR reads back to an equal value: seeded random kernels over every expression, statement, operand and keyword kind, and one
/// change at a time that equality has to notice.

#include "engine/ir/read.hpp"
#include "tests/support/catch.hpp"

#include <random>

using namespace pto;
using namespace pto::ir;

namespace {

class Generator {
  public:
    explicit Generator(std::uint32_t seed) : m_random(seed) {}

    Kernel kernel() {
        Kernel k;
        k.name = "k" + std::to_string(pick(100));
        k.auto_mutex = pick(2);
        Param x;
        x.name = "x";
        x.kind = ParamKind::tensor;
        x.dtype = dtype();
        x.layout = isa::Layout(pick(3));
        x.dims = {{true, 0}, {false, 64}};
        x.is_static = {bool(pick(2)), false};
        Param n;
        n.name = "n";
        n.kind = ParamKind::scalar;
        n.dtype = isa::DType::int32;
        n.fallback = pick(2) ? "3 + \"a\"" : "";
        Param plan;
        plan.name = "plan";
        plan.kind = ParamKind::tiling;
        plan.class_name = "Plan";
        plan.fields = {{"rows", isa::DType::index, 0}, {"offs", isa::DType::fp32, 4}};
        k.params = {x, n, plan};
        if (pick(3)) k.cube = function(isa::Core::cube, k);
        if (!k.cube || pick(2)) k.vector = function(isa::Core::vector, k);
        return k;
    }

  private:
    int pick(int n) { return int(m_random() % std::uint32_t(n)); }
    isa::DType dtype() { return isa::DType(pick(isa::dtype_count)); }
    std::string name(const char* stem) { return pick(6) ? stem + std::to_string(pick(9)) : std::string(); }
    template <class Id, class V> Id any(const V& v) { return Id{pick(int(v.size()))}; }

    isa::TileType tile_type() {
        isa::TileType t;
        t.shape = {1 + pick(64), 1 + pick(64)};
        t.valid = t.shape;
        t.dtype = dtype();
        t.memory = isa::MemorySpace(1 + pick(9));
        t.layout = isa::Layout(pick(6));
        t.fractal = pick(3) ? 512 : 1024;
        t.pad = isa::TilePad(pick(4));
        t.compact = std::uint8_t(pick(3));
        if (!pick(4)) t.fixed_valid = true, t.valid = {1, 1 + pick(t.shape[1])};
        return t;
    }
    Function function(isa::Core core, const Kernel& k) {
        m_f = Function{};
        m_f.core = core;
        for (int i = 0; i < 5; ++i) m_f.vars.push_back({name("v"), dtype(), !pick(5), pick(4) ? ParamId{} : ParamId{1}, {}});
        for (int i = 0; i < 3; ++i) {
            TileDecl d;
            d.name = name("g");
            d.type = tile_type();
            int slots = 1 + pick(3);
            for (int s = 0; s < slots; ++s) d.addresses.push_back(pick(1 << 20));
            d.slot_bytes = pick(2) ? d.type.byte_size() : 1 + pick(5000);
            if (pick(2))
                for (int s = 0; s < slots; ++s) d.mutex.push_back(i ? std::vector<std::int32_t>{pick(32)} : std::vector<std::int32_t>{pick(32), pick(32)});
            if (pick(2)) d.fwd_ids = {0, 1};
            if (pick(2)) d.bwd_ids = {2};
            d.is_group = pick(2);
            if (d.is_group && slots > 1) d.cursor = any<VarId>(m_f.vars);
            m_f.decls.push_back(std::move(d));
        }
        for (int i = 0; i < 4; ++i) {
            TileDeclId of = any<TileDeclId>(m_f.decls);
            TileVar t{name("t"), pick(3) ? m_f[of].type : tile_type(), {of}, {}};
            if (!pick(3)) t.may_be.push_back(TileDeclId{2});
            m_f.tiles.push_back(std::move(t));
        }
        m_f.tensors.push_back({"x", k.params[0].dtype, k.params[0].layout, k.params[0].dims, ParamId{0}, {}});
        m_f.tensors.push_back({name("w"), dtype(), isa::Layout::nd, {{false, 4}, {true, 0}}, {}, {}});
        m_f.structs.push_back({"plan", "Plan", k.params[2].fields, 1, ParamId{2}, {}});
        m_f.structs.push_back({name("s"), "Ctx", {{"_pl_task_id", isa::DType::index, 0}, {"a", isa::DType::fp16, 3}}, 4, {}, {}});
        for (int i = 0; i < 4; ++i) m_f.regs.push_back({name("r"), RegKind(pick(5)), dtype()});
        m_f.body = body(4);
        return std::move(m_f);
    }
    double real() {
        static const double values[] = {0.0, -0.0, 1.5, 2.0, 1e-5, 1e300, 0.1, -3.25, 1.0 / 3, 123456789.25};
        return values[pick(10)];
    }
    ExprId expr(int depth = 3) {
        Expr e;
        e.dtype = dtype();
        e.op = ExprOp(depth ? pick(int(ExprOp::select) + 1) : pick(3));
        switch (e.op) {
        case ExprOp::integer:
            e.integer = e.dtype == isa::DType::boolean ? pick(2) : pick(200) - 100;
            break;
        case ExprOp::real: e.real = real(); break;
        case ExprOp::var: e.var = any<VarId>(m_f.vars); break;
        case ExprOp::field:
            e.structure = StructId{pick(2)};
            e.integer = pick(2);
            if (e.structure.index == 1) e.a = expr(depth - 1);
            if (e.integer == 1) e.b = expr(depth - 1);
            break;
        case ExprOp::dim: e.tensor = TensorId{pick(2)}, e.integer = pick(2); break;
        case ExprOp::address: e.tensor = TensorId{pick(2)}; break;
        case ExprOp::valid_dim: e.tile = any<TileVarId>(m_f.tiles), e.integer = pick(2); break;
        case ExprOp::block_idx:
        case ExprOp::block_num:
        case ExprOp::subblock_idx:
        case ExprOp::subblock_num:
        case ExprOp::spr: break;
        default:
            e.a = expr(depth - 1);
            if (e.op >= ExprOp::add) e.b = expr(depth - 1);
            if (e.op == ExprOp::select) e.c = expr(depth - 1);
        }
        return m_f.add(std::move(e));
    }
    ExprList list() {
        ExprList l;
        for (int i = pick(4); i-- > 0;) l.push_back(expr(1));
        return l;
    }
    StructRef record() { return pick(2) ? StructRef{StructId{0}, {}} : StructRef{StructId{1}, expr(1)}; }
    OperandValue operand(isa::OperandKind kind) {
        using K = isa::OperandKind;
        switch (kind) {
        case K::tile: return any<TileVarId>(m_f.tiles);
        case K::tensor: return any<TensorId>(m_f.tensors);
        case K::tile_or_tensor: return pick(2) ? OperandValue(any<TileVarId>(m_f.tiles)) : OperandValue(any<TensorId>(m_f.tensors));
        case K::tile_or_scalar: return pick(2) ? OperandValue(any<TileVarId>(m_f.tiles)) : OperandValue(expr(2));
        case K::tile_or_group: return pick(2) ? OperandValue(any<TileVarId>(m_f.tiles)) : OperandValue(GroupRef{any<TileDeclId>(m_f.decls)});
        case K::scalar_list: return list();
        case K::structure: return record();
        case K::text: return std::string("a \"b\"\\ %d\n, c");
        case K::list: return MixedList{{any<TileVarId>(m_f.tiles)}, {TensorId{0}, TensorId{1}}};
        case K::memory: return MemoryRef{any<TileVarId>(m_f.tiles), pick(2) ? expr(1) : ExprId{}};
        case K::memory_or_reg: return pick(2) ? OperandValue(MemoryRef{any<TileVarId>(m_f.tiles), {}}) : OperandValue(any<RegId>(m_f.regs));
        case K::reg:
        case K::mask:
        case K::unaligned:
        case K::reg_or_mask: return any<RegId>(m_f.regs);
        case K::reg_or_scalar: return pick(2) ? OperandValue(any<RegId>(m_f.regs)) : OperandValue(expr(1));
        case K::offset: return pick(2) ? OperandValue(list()) : OperandValue(expr(1));
        default: return expr(2);
        }
    }
    AttributeValue attribute(const isa::Keyword& k) {
        using K = isa::KeywordKind;
        if (!pick(4)) return {};
        switch (k.kind) {
        case K::enumeration: return isa::EnumValue{k.enumeration, 0};
        case K::integer: return std::int64_t(pick(9) - 4);
        case K::boolean: return bool(pick(2));
        case K::real: return real();
        case K::dtype: return dtype();
        case K::scalar: return pick(2) ? AttributeValue(std::int64_t(pick(9))) : AttributeValue(expr(2));
        case K::integer_list: return list();
        case K::scale: return pick(2) ? AttributeValue(real()) : AttributeValue(any<TileVarId>(m_f.tiles));
        case K::text: return std::string("flag \"x\"");
        case K::tensor: return TensorId{1};
        case K::scalar_or_list: return list();
        }
        return {};
    }
    Op operation() {
        const auto& rows = isa::Catalogue::builtin().rows();
        Op op;
        do op.row = &rows[std::size_t(pick(int(rows.size())))];
        while (op.row->construct);
        for (const isa::Operand& o : op.row->operands) op.operands.push_back(o.optional && pick(2) ? OperandValue() : operand(o.kind));
        if (!op.row->operands.empty() && op.row->operands.back().kind == isa::OperandKind::scalars && op.operands.back().index() && pick(2)) op.operands.push_back(expr(1));
        for (const isa::Keyword& k : op.row->keywords) op.attributes.push_back(attribute(k));
        if (op.row->result == "scalar") op.results.push_back(any<VarId>(m_f.vars));
        else
            for (std::size_t i = op.row->result.empty() ? 0 : 1 + std::size_t(pick(2)); i-- > 0;) op.registers.push_back(any<RegId>(m_f.regs));
        op.pipe = op.row->pipe == isa::PipeRule::in_vector ? isa::Pipe::v : isa::Pipe(pick(8));
        if (!pick(3)) op.locks = {any<TileVarId>(m_f.tiles), any<TileVarId>(m_f.tiles)};
        return op;
    }
    Body body(int depth) {
        Body b;
        for (int i = 1 + pick(4); i-- > 0;) b.push_back({statement(depth), {}});
        return b;
    }
    decltype(Stmt::what) statement(int depth) {
        auto tile = [&] { return any<TileVarId>(m_f.tiles); };
        switch (pick(depth ? 20 : 10)) {
        case 0: return Assign{any<VarId>(m_f.vars), expr()};
        case 1: {
            FieldAssign a{record(), pick(2), {}, expr()};
            if (a.field == 1) a.element = expr(1);
            return a;
        }
        case 2: return TileBind{tile(), SlotOf{any<TileDeclId>(m_f.decls), expr(2)}};
        case 3: return TileBind{tile(), AliasOf{tile()}};
        case 4: return TileBind{tile(), SubviewOf{tile(), expr(1), expr(1), expr(1), expr(1)}};
        case 5: return TileBind{tile(), ViewOf{tile()}};
        case 6: return TileBind{tile(), ChoiceOf{expr(1), tile(), tile()}};
        case 7: return pick(2) ? TensorBind{TensorId{1}, {}, TensorId{0}, {}, {}} : TensorBind{TensorId{1}, expr(1), {}, list(), list()};
        case 10: return Loop{any<VarId>(m_f.vars), expr(1), expr(1), expr(1), body(depth - 1)};
        case 11: return Forever{body(depth - 1)};
        case 12: return Branch{expr(2), body(depth - 1), pick(2) ? body(depth - 1) : Body{}};
        case 13: return Break{};
        case 14: return Continue{};
        case 15: return Return{};
        case 16: return VectorCall{"vf1", {tile(), tile()}, {isa::Role(pick(4)), isa::Role(pick(4))}, {any<VarId>(m_f.vars)}, body(0), {tile()}};
        case 17: return StageScope{"stage1", pick(2) ? expr(1) : ExprId{}, {}, body(depth - 1)};
        case 18: return HelperScope{"helper", {}, body(depth - 1)};
        case 19: {
            SimtLaunch l;
            l.name = "simt1";
            l.arguments = {any<TileVarId>(m_f.tiles), TensorId{0}, expr(1)};
            l.x = expr(1), l.y = expr(1), l.z = expr(1);
            l.captures = {any<VarId>(m_f.vars)};
            if (pick(2)) l.thread_x = VarId{0}, l.thread_y = VarId{1}, l.thread_z = VarId{2};
            l.body = body(0);
            return l;
        }
        default: return operation();
        }
    }

    std::mt19937 m_random;
    Function m_f;
};

/// Every kind of small change a statement or declaration can suffer; false when there is none left.
bool change(Kernel& k, int n) {
    Function& f = k.cube ? *k.cube : *k.vector;
    switch (n) {
    case 0: k.name += "x"; return true;
    case 1: k.auto_mutex = !k.auto_mutex; return true;
    case 2: k.params[0].dims[1].size++; return true;
    case 3: k.params[1].dtype = isa::DType::int64; return true;
    case 4: f.vars[0].name += "x"; return true;
    case 5: f.vars[1].is_pointer = !f.vars[1].is_pointer; return true;
    case 6: f.decls[0].addresses[0] += 32; return true;
    case 7: f.decls[1].fwd_ids.push_back(5); return true;
    case 8: f.decls[2].type.pad = f.decls[2].type.pad == isa::TilePad::null ? isa::TilePad::max : isa::TilePad::null; return true;
    case 9: f.tiles[0].may_be = {TileDeclId{0}, TileDeclId{1}, TileDeclId{2}}; return true;
    case 10: f.structs[1].count = 5; return true;
    case 11: f.regs[0].kind = f.regs[0].kind == RegKind::mask ? RegKind::vector : RegKind::mask; return true;
    case 12: f.body.push_back({Break{}, {}}); return true;
    case 13: f.body.pop_back(); return true;
    case 14: f.tensors[1].dims[0].size = 5; return true;
    default: return false;
    }
}

} // namespace

TEST_CASE("printed IR reads back to an equal kernel") {
    const isa::Catalogue& ops = isa::Catalogue::builtin();
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        Kernel k = Generator(seed).kernel();
        std::string text = print(k);
        INFO(text);
        Kernel again = read(text, ops);
        REQUIRE(print(again) == text);
        REQUIRE(equal(k, again));
        REQUIRE(equal(again, k));
    }
}

TEST_CASE("a change is noticed by equality and by the text") {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        Kernel k = Generator(seed).kernel();
        for (int n = 0;; ++n) {
            Kernel other = k;
            if (!change(other, n)) break;
            INFO("seed " << seed << ", change " << n);
            CHECK_FALSE(equal(k, other));
            CHECK(print(k) != print(other));
        }
    }
}

TEST_CASE("any expression that differs makes the kernels differ") {
    Kernel k = Generator(7).kernel();
    Function& f = k.cube ? *k.cube : *k.vector;
    int noticed = 0;
    for (std::size_t i = 0; i < f.exprs.size(); ++i) {
        Kernel other = k;
        Function& g = other.cube ? *other.cube : *other.vector;
        g.exprs[i].dtype = g.exprs[i].dtype == isa::DType::int4 ? isa::DType::hf4 : isa::DType::int4;
        CHECK_FALSE(equal(k, other));
        noticed += print(k) != print(other);
    }
    CHECK(noticed == int(f.exprs.size()));
}

TEST_CASE("text that is no IR is refused with its line") {
    const isa::Catalogue& ops = isa::Catalogue::builtin();
    auto message = [&](const char* text) {
        try {
            read(text, ops);
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    CHECK(message("kernel k\nvector:\n  nonsense x\n") == "IR text, line 3: no operation `nonsense`");
    CHECK(message("kernel k\nvector:\n  vars a.0: index\n  a.0 = (a.0 + \n").find("line 4") != std::string::npos);
    CHECK(message("kernel k\nvector:\n  forever {\n  break\n").find("not closed") != std::string::npos);
}
