/// Names and where their run-time values live. IR has mutable slots and no joins of its own: a name's run-time value stays in one
/// slot wherever two paths can meet, and constants that meet there are written into it first.

#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

int Target::intern(Frame& f, std::string_view name) {
    auto [found, inserted] = f.index.emplace(name, int(f.names.size()));
    if (inserted) {
        f.names.emplace_back();
        f.names.back().text = name;
    }
    return found->second;
}

const Value* Target::find_local(std::string_view name) {
    auto found = m_frame->index.find(name);
    if (found == m_frame->index.end()) return nullptr;
    State& s = m_frame->names[std::size_t(found->second)].state;
    if (s.value.is(Kind::unbound)) return nullptr;
    if (s.header) s.header_read = true;
    return &s.value;
}

void Target::set_state(int index, State s) {
    Name& n = m_frame->names[std::size_t(index)];
    s.header_read = n.state.header_read;
    if (m_frame->branches > 0) m_undo.push_back({index, std::move(n.state)});
    n.state = std::move(s);
}

namespace {

/// Kinds whose values need no slot: they are known now and cannot change.
bool slotless(Kind k) {
    switch (k) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::scalar:
    case Kind::pointer:
    case Kind::tile:
    case Kind::structure:
    case Kind::reg:
    case Kind::memory:
    case Kind::tuple:
    case Kind::record:
    case Kind::tensor: return false;
    default: return true;
    }
}

bool same_integer(isa::DType a, isa::DType b) {
    auto wide = [](isa::DType t) { return t == isa::DType::index || t == isa::DType::int64; };
    return a == b || (wide(a) && wide(b));
}

} // namespace

bool Target::compatible(const Value& s, const Value& v, Match match) const {
    if (slotless(v.kind)) return same(s, v);
    switch (v.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
        if (s.is_number()) return same(s, v);
        [[fallthrough]];
    case Kind::scalar:
        if (!s.is(Kind::scalar) || s.id < 0) return false;
        return same_integer(s.dtype, v.dtype) || (match == Match::convertible && isa::is_int(s.dtype) && isa::is_int(v.dtype));
    case Kind::pointer: return s.is(Kind::pointer) && s.dtype == v.dtype;
    case Kind::tile: {
        if (!s.is(Kind::tile)) return false;
        const ir::TileVar& a = m_fn.tiles[std::size_t(s.id)];
        const ir::TileVar& b = m_fn.tiles[std::size_t(v.id)];
        return a.type == b.type && (match != Match::storage || a.may_be == b.may_be);
    }
    case Kind::structure:
        if (m_copy_structs && s.is(Kind::structure)) {
            const ir::Struct &a = m_fn.structs[std::size_t(s.id)], &b = m_fn.structs[std::size_t(v.id)];
            return a.type_name == b.type_name && a.fields.size() == b.fields.size();
        }
        return s.is(Kind::structure) && s.id == v.id && s.expr.valid() == v.expr.valid();
    case Kind::memory: return s.is(Kind::memory) && s.id == v.id && s.expr.valid();
    case Kind::reg: {
        if (!s.is(Kind::reg)) return false;
        const ir::Register& a = m_fn.regs[std::size_t(s.id)];
        const ir::Register& b = m_fn.regs[std::size_t(v.id)];
        return a.kind == b.kind && (a.dtype == b.dtype || a.kind == ir::RegKind::mask);
    }
    case Kind::tensor: {
        if (!s.is(Kind::tensor)) return false;
        if (s.id == v.id) return true;
        const ir::Tensor& a = m_fn.tensors[std::size_t(s.id)];
        const ir::Tensor& b = m_fn.tensors[std::size_t(v.id)];
        if (a.is_parameter() || a.dtype != b.dtype || a.layout != b.layout || a.dims.size() != b.dims.size()) return false;
        for (std::size_t i = 0; i < a.dims.size(); ++i)
            if (!a.dims[i].dynamic && (b.dims[i].dynamic || a.dims[i].size != b.dims[i].size)) return false;
        return true;
    }
    case Kind::tuple:
    case Kind::record:
        if (s.kind != v.kind || s.size() != v.size() || s.more->names != v.more->names) return false;
        for (std::size_t i = 0; i < v.size(); ++i)
            if (!compatible(s[i], v[i], match)) return false;
        return true;
    default: return false;
    }
}

bool Target::made_by_last(const Value& v) const {
    if (m_out->empty()) return false;
    const auto& last = m_out->back().what;
    if (v.is(Kind::tile)) {
        const auto* bind = std::get_if<ir::TileBind>(&last);
        return bind && bind->var.index == v.id && m_fn.tiles[std::size_t(v.id)].name.empty();
    }
    if (v.is(Kind::scalar) && v.id >= 0 && !v.expr.valid()) {
        const auto* op = std::get_if<ir::Op>(&last);
        return op && op->results.size() == 1 && op->results[0].index == v.id && m_fn.vars[std::size_t(v.id)].name.empty();
    }
    return false;
}

Value Target::slots_like(const Value& v, std::string_view name, bool constants_too, Span at) {
    if (slotless(v.kind)) return v;
    auto variable = [&](isa::DType t, bool pointer = false) { return new_variable(name, t, at, pointer).index; };
    Value s = v;
    switch (v.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
        if (!constants_too) return v;
        [[fallthrough]];
    case Kind::scalar:
        s = scalar_value({}, v.dtype);
        s.id = variable(v.dtype);
        return s;
    case Kind::pointer:
        s.expr = {};
        s.id = variable(isa::DType::index, true);
        return s;
    case Kind::tile: {
        const ir::TileVar t = m_fn.tiles[std::size_t(v.id)];
        s.id = new_tile(name, t.type, t.may_be, at).index;
        return s;
    }
    case Kind::structure:
        if (m_copy_structs) {
            ir::Struct copy = m_fn.structs[std::size_t(v.id)];
            copy.name = name;
            copy.count = 1;
            copy.param = {};
            m_fn.structs.push_back(std::move(copy));
            s.id = std::int32_t(m_fn.structs.size() - 1);
            s.expr = {};
            s.read_only = false;
            return s;
        }
        [[fallthrough]];
    case Kind::memory:
        if (v.expr.valid() || v.is(Kind::memory)) s.expr = read(ir::VarId{variable(isa::DType::index)}, at);
        return s;
    case Kind::reg: {
        ir::Register r = m_fn.regs[std::size_t(v.id)];
        r.name = name;
        m_fn.regs.push_back(std::move(r));
        s.id = std::int32_t(m_fn.regs.size() - 1);
        return s;
    }
    case Kind::tensor: {
        ir::Tensor t = m_fn.tensors[std::size_t(v.id)];
        t.name = name;
        t.param = {};
        m_fn.tensors.push_back(std::move(t));
        s.id = std::int32_t(m_fn.tensors.size() - 1);
        return s;
    }
    default: { // tuple, record
        auto more = std::make_shared<More>(*v.more);
        for (std::size_t i = 0; i < more->elements.size(); ++i) {
            if (v[i].is(Kind::tensor)) continue; // a view is shared, also inside a tuple
            std::string part = std::string(name) + "_" + (v.is(Kind::record) ? more->names[i] : std::to_string(i));
            more->elements[i] = slots_like(v[i], part, constants_too, at);
        }
        s.more = std::move(more);
        return s;
    }
    }
}

Value Target::adopt(Name& n, const Value& v, bool constants_too, Span at) {
    if (made_by_last(v)) { // the name takes over what the expression made
        if (v.is(Kind::tile)) m_fn.tiles[std::size_t(v.id)].name = n.text;
        else m_fn.vars[std::size_t(v.id)].name = n.text;
        return v;
    }
    if (v.is(Kind::tensor)) return v; // a second name refers to the same view
    return slots_like(v, n.text, constants_too, at);
}

void Target::store(const Value& s, const Value& v, Span at) {
    switch (v.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::scalar:
        if (s.is_number() || (v.is(Kind::scalar) && !v.expr.valid() && v.id == s.id)) return;
        if (made_by_last(v)) {
            std::get<ir::Op>(m_out->back().what).results[0] = ir::VarId{s.id};
            if (v.id + 1 == std::int32_t(m_fn.vars.size())) m_fn.vars.pop_back();
            return;
        }
        emit(ir::Assign{ir::VarId{s.id}, expr_as(v, s.dtype, at)}, at);
        return;
    case Kind::pointer:
        if (!v.expr.valid() && v.id == s.id) return;
        emit(ir::Assign{ir::VarId{s.id}, expr_of(v, at)}, at);
        return;
    case Kind::tile: {
        if (v.id == s.id) return;
        auto& may_be = m_fn.tiles[std::size_t(s.id)].may_be;
        for (ir::TileDeclId d : m_fn.tiles[std::size_t(v.id)].may_be)
            if (std::find(may_be.begin(), may_be.end(), d) == may_be.end()) may_be.push_back(d);
        std::sort(may_be.begin(), may_be.end());
        if (made_by_last(v)) {
            std::get<ir::TileBind>(m_out->back().what).var = ir::TileVarId{s.id};
            if (v.id + 1 == std::int32_t(m_fn.tiles.size())) m_fn.tiles.pop_back();
            return;
        }
        emit(ir::TileBind{ir::TileVarId{s.id}, ir::AliasOf{ir::TileVarId{v.id}}}, at);
        return;
    }
    case Kind::structure:
        if (m_copy_structs && s.id != v.id) {
            ir::StructRef to{ir::StructId{s.id}, s.expr};
            for (std::size_t f = 0; f < m_fn.structs[std::size_t(s.id)].fields.size(); ++f) {
                const ir::Field field = m_fn.structs[std::size_t(s.id)].fields[f];
                for (std::int32_t i = 0; i < std::max(field.length, 1); ++i) {
                    ir::ExprId element = field.length ? literal(i, isa::DType::index, at) : ir::ExprId{};
                    ir::Expr x;
                    x.op = ir::ExprOp::field;
                    x.dtype = m_fn.structs[std::size_t(v.id)].fields[f].dtype;
                    x.structure = ir::StructId{v.id};
                    x.a = v.expr;
                    x.b = element;
                    x.integer = std::int64_t(f);
                    x.at = at;
                    emit(ir::FieldAssign{to, std::int32_t(f), element, cast(m_fn.add(std::move(x)), field.dtype, at)}, at);
                }
            }
            return;
        }
        [[fallthrough]];
    case Kind::memory:
        if (!s.expr.valid() || s.expr == v.expr) return;
        emit(ir::Assign{m_fn[s.expr].var, v.expr.valid() ? v.expr : literal(0, isa::DType::index, at)}, at);
        return;
    case Kind::reg: {
        if (v.id == s.id) return;
        const isa::OpRow* move = m_shared.catalogue.find("vf.move");
        if (!move) return;
        ir::Op op;
        op.row = move;
        op.operands.resize(move->operands.size());
        op.operand_spans.resize(move->operands.size(), at);
        op.operands[0] = ir::RegId{v.id};
        for (const isa::Keyword& k : move->keywords) op.attributes.push_back(fallback(k));
        op.registers.push_back(ir::RegId{s.id});
        op.pipe = isa::Pipe::v;
        emit(std::move(op), at);
        return;
    }
    case Kind::tensor: {
        if (v.id == s.id) return;
        ir::TensorBind bind;
        bind.tensor = ir::TensorId{s.id};
        bind.alias_of = ir::TensorId{v.id};
        emit(std::move(bind), at);
        return;
    }
    case Kind::tuple:
    case Kind::record:
        for (std::size_t i = 0; i < v.size(); ++i) store(s[i], v[i], at);
        return;
    default: return;
    }
}

Value Target::known(const Value& v, const Value& slots) const {
    if (v.is_number()) return v;
    if (!v.is(Kind::tuple) && !v.is(Kind::record)) return slots;
    auto more = std::make_shared<More>(*slots.more);
    for (std::size_t i = 0; i < more->elements.size(); ++i) more->elements[i] = known(v[i], slots[i]);
    Value k = slots;
    k.more = std::move(more);
    return k;
}

void Target::bind(std::string_view name, Value v, Span at) {
    int i = intern(*m_frame, name);
    if (v.is(Kind::group)) { // the first name of a declaration is the name people know it by
        ir::TileDecl& d = m_fn.decls[std::size_t(v.id)];
        if (d.name.empty()) {
            d.name = name;
            if (d.cursor.valid()) m_fn.vars[std::size_t(d.cursor.index)].name = d.name + ".cursor";
        }
    } else if (v.is(Kind::tile) && made_by_last(v)) {
        if (const auto* slot = std::get_if<ir::SlotOf>(&std::get<ir::TileBind>(m_out->back().what).source))
            if (ir::TileDecl& d = m_fn.decls[std::size_t(slot->decl.index)]; d.name.empty()) d.name = name;
    } else if (v.is(Kind::structure) || v.is(Kind::struct_array)) {
        if (ir::Struct& s = m_fn.structs[std::size_t(v.id)]; s.name.empty()) s.name = name;
    } else if (v.is(Kind::tensor)) {
        if (ir::Tensor& t = m_fn.tensors[std::size_t(v.id)]; t.name.empty()) t.name = name;
    }
    State s;
    s.at = at;
    // Inside a loop constants are written through: whatever path leaves the iteration finds them in the slot.
    bool through = m_frame->loops > 0;
    if (slotless(v.kind) || (v.is_number() && !through)) {
        s.value = std::move(v);
        s.in_slot = slotless(s.value.kind);
        set_state(i, std::move(s));
        return;
    }
    Name& n = m_frame->names[std::size_t(i)];
    if (v.is(Kind::tensor)) {
        n.slots = s.value = v;
    } else {
        // A jump can carry a tile out of the middle of an iteration, so its handle must not move to another slot.
        bool reuse = compatible(n.slots, v, m_frame->jumpy_loops > 0 ? Match::convertible : Match::storage);
        if (!reuse) n.slots = adopt(n, v, through, at);
        store(n.slots, v, at);
        s.value = known(v, n.slots);
    }
    s.in_slot = through || !(v.is(Kind::tuple) || v.is(Kind::record));
    set_state(i, std::move(s));
}

void Target::bind_argument(std::string_view name, const Value& v, Span at) {
    // The caller's variables cannot change while the callee runs, so a plain one is shared.
    bool computed = (v.is(Kind::scalar) || v.is(Kind::pointer)) && v.expr.valid() && m_fn[v.expr].op != ir::ExprOp::var;
    if (computed) return bind(name, v, at);
    int i = intern(*m_frame, name);
    State s;
    s.value = v;
    if ((v.is(Kind::scalar) || v.is(Kind::pointer)) && v.expr.valid()) {
        s.value.id = m_fn[v.expr].var.index;
        s.value.expr = {};
    }
    s.at = at;
    set_state(i, std::move(s));
}

std::size_t Target::mutex_count(const Value& tile) const {
    const ir::TileVar& t = m_fn.tiles[std::size_t(tile.id)];
    for (ir::TileDeclId d : t.may_be)
        if (const ir::TileDecl& decl = m_fn[d]; !decl.mutex.empty()) return decl.mutex.front().size();
    return 0;
}

} // namespace pto::resolve
