#pragma once
/// Operator-kernel IR by hand: what tests of later rooms start from without a front end. Statements get increasing fake spans in file 0.

#include "engine/ir/kernel.hpp"
#include "engine/isa/catalogue.hpp"

#include <stdexcept>
#include <utility>

namespace pto::testing {

inline isa::TileType tile_type(std::int32_t rows, std::int32_t cols, isa::MemorySpace memory, isa::DType dtype = isa::DType::fp32) {
    isa::TileType t;
    t.shape = t.valid = {rows, cols};
    t.dtype = dtype;
    t.memory = memory;
    using M = isa::MemorySpace;
    t.layout = memory == M::right ? isa::Layout::zn : memory == M::mat || memory == M::left || memory == M::acc ? isa::Layout::nz : isa::Layout::nd;
    if (memory == M::acc) t.fractal = 1024;
    return t;
}

class FunctionBuilder {
  public:
    using Keywords = std::vector<std::pair<std::string_view, ir::AttributeValue>>;

    explicit FunctionBuilder(isa::Core core) { f.core = core, m_bodies.push_back(&f.body); }
    FunctionBuilder(const FunctionBuilder&) = delete;

    // ---- expressions
    ir::ExprId num(std::int64_t v, isa::DType t = isa::DType::index) { return f.add({.op = ir::ExprOp::integer, .dtype = t, .integer = v, .at = span()}); }
    ir::ExprId real(double v, isa::DType t = isa::DType::fp32) { return f.add({.op = ir::ExprOp::real, .dtype = t, .real = v, .at = span()}); }
    ir::ExprId get(ir::VarId v) { return f.add({.op = ir::ExprOp::var, .dtype = f[v].dtype, .var = v, .at = span()}); }
    ir::ExprId query(ir::ExprOp op) { return f.add({.op = op, .at = span()}); }
    ir::ExprId dim(ir::TensorId t, int axis) { return f.add({.op = ir::ExprOp::dim, .integer = axis, .tensor = t, .at = span()}); }
    ir::ExprId binary(ir::ExprOp op, ir::ExprId a, ir::ExprId b, isa::DType t) { return f.add({.op = op, .dtype = t, .a = a, .b = b, .at = span()}); }
    ir::ExprId binary(ir::ExprOp op, ir::ExprId a, ir::ExprId b) {
        const bool compare = op >= ir::ExprOp::eq && op <= ir::ExprOp::logical_or;
        return binary(op, a, b, compare ? isa::DType::boolean : f[a].dtype);
    }
    ir::ExprId add(ir::ExprId a, ir::ExprId b) { return binary(ir::ExprOp::add, a, b); }
    ir::ExprId mod(ir::ExprId a, std::int64_t n) { return binary(ir::ExprOp::mod, a, num(n)); }
    ir::ExprId field(ir::StructRef s, std::int32_t k, ir::ExprId element = {}) {
        return f.add({.op = ir::ExprOp::field, .dtype = f[s.structure].fields[std::size_t(k)].dtype, .a = s.index, .b = element, .integer = k, .structure = s.structure, .at = span()});
    }
    /// list[i] of constant integers, as nested selects.
    ir::ExprId pick(const std::vector<std::int32_t>& list, ir::ExprId i) {
        ir::ExprId e = num(list.back());
        for (std::size_t k = list.size() - 1; k-- > 0;)
            e = f.add({.op = ir::ExprOp::select, .a = binary(ir::ExprOp::eq, i, num(std::int64_t(k))), .b = num(list[k]), .c = e, .at = span()});
        return e;
    }

    // ---- declarations
    ir::VarId var(std::string name, isa::DType t = isa::DType::index, ir::ParamId param = {}) {
        f.vars.push_back({.name = std::move(name), .dtype = t, .param = param});
        return ir::VarId{std::int32_t(f.vars.size() - 1)};
    }
    ir::TileDeclId group(std::string name, isa::TileType type, std::vector<std::int64_t> addresses, std::vector<std::int32_t> mutex = {}) {
        ir::TileDecl d;
        d.name = name, d.type = type, d.addresses = std::move(addresses), d.slot_bytes = type.byte_size(), d.is_group = d.addresses.size() > 1;
        for (std::int32_t id : mutex) d.mutex.push_back({id});
        if (d.addresses.size() > 1) d.cursor = var(name + ".cursor");
        f.decls.push_back(std::move(d));
        return ir::TileDeclId{std::int32_t(f.decls.size() - 1)};
    }
    ir::TileVarId tile(std::string name, isa::TileType type, std::vector<ir::TileDeclId> may_be) {
        f.tiles.push_back({.name = std::move(name), .type = type, .may_be = std::move(may_be)});
        return ir::TileVarId{std::int32_t(f.tiles.size() - 1)};
    }
    ir::TensorId tensor(std::string name, std::vector<std::int64_t> dims, ir::ParamId param = {}, isa::DType t = isa::DType::fp32) {
        ir::Tensor x;
        x.name = std::move(name), x.dtype = t, x.param = param;
        for (std::int64_t d : dims) x.dims.push_back({d < 0, std::max<std::int64_t>(d, 0)});
        f.tensors.push_back(std::move(x));
        return ir::TensorId{std::int32_t(f.tensors.size() - 1)};
    }
    ir::StructId structure(std::string name, std::vector<ir::Field> fields, std::int32_t count = 1) {
        f.structs.push_back({.name = name, .type_name = name, .fields = std::move(fields), .count = count});
        return ir::StructId{std::int32_t(f.structs.size() - 1)};
    }

    // ---- statements
    template <class S> ir::Stmt& emit(S s) {
        m_bodies.back()->push_back({std::move(s), span()});
        return m_bodies.back()->back();
    }
    void assign(ir::VarId v, ir::ExprId e) { emit(ir::Assign{v, e}); }
    void set_field(ir::StructRef s, std::int32_t k, ir::ExprId value, ir::ExprId element = {}) { emit(ir::FieldAssign{s, k, element, value}); }
    /// A fresh tile variable bound to one slot.
    ir::TileVarId slot(ir::TileDeclId d, ir::ExprId index = {}) {
        const ir::TileVarId t = tile(f[d].name + "_" + std::to_string(f.tiles.size()), f[d].type, {d});
        emit(ir::TileBind{t, ir::SlotOf{d, index}});
        return t;
    }
    ir::TileVarId next(ir::TileDeclId d) {
        const std::int64_t n = f[d].slots();
        if (n == 1) return slot(d);
        assign(f[d].cursor, mod(add(get(f[d].cursor), num(1)), n));
        return slot(d, get(f[d].cursor));
    }
    ir::Op& op(std::string_view name, std::vector<ir::OperandValue> operands, const Keywords& keywords = {}) {
        const isa::OpRow* row = isa::Catalogue::builtin().find(name);
        if (!row) throw std::invalid_argument("no operation " + std::string(name));
        ir::Op o;
        o.row = row, o.operands = std::move(operands);
        o.operand_spans.resize(o.operands.size());
        o.attributes.resize(row->keywords.size());
        for (const auto& [key, value] : keywords) {
            const int k = row->keyword_index(key);
            if (k < 0) throw std::invalid_argument("no keyword " + std::string(key));
            o.attributes[std::size_t(k)] = value;
        }
        o.pipe = pipe_of(o);
        return std::get<ir::Op>(emit(std::move(o)).what);
    }
    template <class F> void loop(ir::VarId v, ir::ExprId start, ir::ExprId stop, ir::ExprId step, F&& fill) {
        inside(std::get<ir::Loop>(emit(ir::Loop{v, start, stop, step, {}}).what).body, fill);
    }
    template <class F> void loop(ir::VarId v, ir::ExprId stop, F&& fill) {
        const ir::ExprId zero = num(0), one = num(1);
        loop(v, zero, stop, one, fill);
    }
    template <class F> void forever(F&& fill) { inside(std::get<ir::Forever>(emit(ir::Forever{}).what).body, fill); }
    template <class T> void when(ir::ExprId condition, T&& then) { inside(std::get<ir::Branch>(emit(ir::Branch{condition, {}, {}}).what).then, then); }
    template <class T, class E> void when(ir::ExprId condition, T&& then, E&& otherwise) {
        emit(ir::Branch{condition, {}, {}});
        ir::Body* const body = m_bodies.back();
        const std::size_t at = body->size() - 1;
        inside(std::get<ir::Branch>((*body)[at].what).then, then);
        inside(std::get<ir::Branch>((*body)[at].what).otherwise, otherwise);
    }
    template <class F> void stage(std::string name, ir::ExprId task, F&& fill) { inside(std::get<ir::StageScope>(emit(ir::StageScope{std::move(name), task, {}, {}}).what).body, fill); }
    template <class F> void vector_call(std::string name, std::vector<ir::TileVarId> tiles, std::vector<isa::Role> roles, F&& fill) {
        ir::VectorCall c;
        c.name = std::move(name), c.tiles = std::move(tiles), c.roles = std::move(roles);
        inside(std::get<ir::VectorCall>(emit(std::move(c)).what).body, fill);
    }

    // ---- synchronisation
    void cross_set(isa::Pipe pipe, ir::ExprId id) { cross("system.set_cross_core", pipe, id); }
    void cross_wait(isa::Pipe pipe, ir::ExprId id) { cross("system.wait_cross_core", pipe, id); }
    void flag_set(isa::Pipe from, isa::Pipe to, std::int64_t id) { flag("system.sync_src", from, to, id); }
    void flag_wait(isa::Pipe from, isa::Pipe to, std::int64_t id) { flag("system.sync_dst", from, to, id); }

    ir::Function f;

  private:
    Span span() { return {FileId{0}, m_at, ++m_at}; }
    template <class F> void inside(ir::Body& body, F&& fill) {
        m_bodies.push_back(&body);
        fill();
        m_bodies.pop_back();
    }
    void cross(std::string_view name, isa::Pipe pipe, ir::ExprId id) {
        ir::AttributeValue event = id;
        if (auto c = f.constant(id)) event = *c;
        op(name, {}, {{"pipe", isa::enum_value(pipe)}, {"event_id", event}, {"sync_mode", isa::enum_value(isa::CrossCoreSyncMode::intra_block)}});
    }
    void flag(std::string_view name, isa::Pipe from, isa::Pipe to, std::int64_t id) {
        op(name, {}, {{"set_pipe", isa::enum_value(from)}, {"wait_pipe", isa::enum_value(to)}, {"event_id", id}});
    }
    isa::MemorySpace memory(const ir::Op& o, std::size_t k) const {
        auto t = std::get_if<ir::TileVarId>(&o.operands.at(k));
        return t ? f[*t].type.memory : isa::MemorySpace::ddr;
    }
    isa::Pipe pipe_of(const ir::Op& o) const {
        using M = isa::MemorySpace;
        using P = isa::Pipe;
        switch (o.row->pipe) {
        case isa::PipeRule::s: return P::s;
        case isa::PipeRule::v: return P::v;
        case isa::PipeRule::m: return P::m;
        case isa::PipeRule::mte1: return P::mte1;
        case isa::PipeRule::mte2: return P::mte2;
        case isa::PipeRule::mte3: return P::mte3;
        case isa::PipeRule::fix: return P::fix;
        case isa::PipeRule::by_source: return memory(o, 1) == M::acc ? P::fix : P::mte3;
        case isa::PipeRule::by_path: {
            const M to = memory(o, 0), from = memory(o, 1);
            if (from == M::acc) return P::fix;
            if (from == M::mat) return to == M::scaling ? P::fix : P::mte1;
            return to == M::mat ? P::mte3 : P::v;
        }
        case isa::PipeRule::by_keyword: {
            const char* key = o.row->semantics == isa::Semantics::flag_set ? "set_pipe" : o.row->semantics == isa::Semantics::flag_wait ? "wait_pipe" : "pipe";
            return std::get<isa::EnumValue>(o.attributes.at(std::size_t(o.row->keyword_index(key)))).as<P>();
        }
        case isa::PipeRule::all: return P::all;
        default: return P::v;
        }
    }

    std::vector<ir::Body*> m_bodies;
    std::int32_t m_at = 1;
};

} // namespace pto::testing
