#include "engine/resolve/target.hpp"

#include <algorithm>

namespace pto::resolve {

const Value& Shared::look_up(syntax::ScopeId scope, const std::string& name) {
    std::size_t s = std::size_t(scope.index + 1); // an invalid scope still has a place
    if (outside.size() <= s) outside.resize(s + 1);
    if (auto found = outside[s].find(name); found != outside[s].end()) return found->second;
    key_storage.push_back(std::make_unique<std::string>(name));
    Value v;
    auto own = specialised.find(name); // inside the kernel itself these hide whatever else has the name
    if (own != specialised.end() && scope == source.scope) {
        v = own->second;
    } else if (auto c = environment.look_up(scope, name)) {
        v = value_of(*c);
        constants_used.emplace(name, std::move(*c));
    } else if (own != specialised.end()) {
        v = own->second;
    }
    return outside[s].emplace(*key_storage.back(), std::move(v)).first->second;
}

ir::Function Target::run() {
    m_fn.core = m_core;
    m_fn.exprs.reserve(512);
    m_fn.vars.reserve(128);
    ir::Body body;
    body.reserve(64);
    m_out = &body;
    Frame frame;
    frame.kind = FrameKind::kernel;
    frame.function = m_shared.source.function.get();
    frame.scope = m_shared.source.scope;
    frame.names.reserve(64);
    m_frame = &frame;
    bind_signature();
    run(frame.function->body);
    note_names();
    m_fn.body = std::move(body);
    give_mutex_ids();
    return std::move(m_fn);
}

void Target::give_mutex_ids() {
    constexpr std::int32_t most = 28; // 28 to 31 are reserved
    std::array<bool, 32> used{};
    for (const ir::TileDecl& d : m_fn.decls)
        for (const auto& slot : d.mutex)
            for (std::int32_t id : slot)
                if (id >= 0 && id < 32) used[std::size_t(id)] = true;
    // Slots on common bytes share their id, whoever gave it.
    auto shared = [&](const ir::TileDecl& d, std::int64_t begin) {
        for (const ir::TileDecl& o : m_fn.decls)
            for (std::size_t i = 0; i < o.mutex.size() && o.type.memory == d.type.memory; ++i)
                if (o.mutex[i].size() == 1 && o.mutex[i][0] >= 0 && o.addresses[i] < begin + d.slot_bytes && begin < o.addresses[i] + o.slot_bytes) return o.mutex[i][0];
        return -1;
    };
    for (ir::TileDecl& d : m_fn.decls)
        for (std::size_t i = 0; i < d.mutex.size(); ++i) {
            if (d.mutex[i].size() != 1 || d.mutex[i][0] >= 0) continue;
            std::int32_t id = shared(d, d.addresses[i]);
            if (id < 0) id = std::int32_t(std::find(used.begin(), used.begin() + most, false) - used.begin());
            if (id >= most) {
                report(Code::mutex_ids, d.at, "no mutex id is left for slot " + std::to_string(i) + " of `" + d.name + "`: " + std::to_string(most) + " are in use").fix =
                    Fix{"give slots that are never in flight together the same ids", {}};
                id = 0;
            }
            used[std::size_t(id)] = true;
            d.mutex[i][0] = id;
        }
}

ir::Stmt& Target::emit(decltype(ir::Stmt::what) what, Span at) {
    m_out->push_back(ir::Stmt{std::move(what), at});
    return m_out->back();
}

Diagnostic& Target::report(Code code, Span at, std::string message) {
    m_shared.diagnostics.push_back(diagnose(code, at, std::move(message)));
    Diagnostic& d = m_shared.diagnostics.back();
    // The chain of inlined calls that led here: without it a finding inside a helper has no kernel.
    for (const Frame* f = m_frame; f && f->caller; f = f->caller)
        if (f->call.valid()) d.labels.push_back({f->call, "called here"});
    return d;
}

Value Target::fail(Code code, Span at, std::string message) {
    report(code, at, std::move(message));
    return error_value();
}

ir::ExprId Target::literal(std::int64_t i, isa::DType t, Span at) {
    ir::Expr e;
    e.op = ir::ExprOp::integer;
    e.dtype = t;
    e.integer = i;
    e.at = at;
    return m_fn.add(std::move(e));
}

ir::ExprId Target::read(ir::VarId v, Span at) {
    ir::Expr e;
    e.op = ir::ExprOp::var;
    e.dtype = m_fn.vars[std::size_t(v.index)].dtype;
    e.var = v;
    e.at = at;
    return m_fn.add(std::move(e));
}

ir::ExprId Target::leaf(ir::Expr e) {
    Span at = e.at;
    isa::DType t = e.dtype;
    ir::ExprId id = m_fn.add(std::move(e));
    if (!m_before_vector) return id;
    // A vector function runs later than the scalar unit: what it reads of the running kernel is taken before the call.
    ir::VarId v = new_variable("", t, at);
    m_before_vector->push_back(ir::Stmt{ir::Assign{v, id}, at});
    m_hoisted.push_back(v);
    return read(v, at);
}

ir::VarId Target::new_variable(std::string_view name, isa::DType t, Span at, bool pointer) {
    ir::Variable v;
    v.name = name;
    v.dtype = t;
    v.is_pointer = pointer;
    v.at = at;
    m_fn.vars.push_back(std::move(v));
    return ir::VarId{std::int32_t(m_fn.vars.size() - 1)};
}

ir::TileVarId Target::new_tile(std::string_view name, const isa::TileType& type, std::vector<ir::TileDeclId> may_be, Span at) {
    m_fn.tiles.push_back(ir::TileVar{std::string(name), type, std::move(may_be), at});
    return ir::TileVarId{std::int32_t(m_fn.tiles.size() - 1)};
}

void Target::note_names() {
    using pipeline::ValueKind;
    for (const Name& n : m_frame->names) {
        pipeline::NameFact fact;
        const Value& v = n.state.value;
        fact.dtype = v.dtype;
        switch (v.kind) {
        case Kind::boolean:
        case Kind::integer:
        case Kind::real:
        case Kind::scalar: fact.kind = ValueKind::scalar; break;
        case Kind::tile: fact.kind = ValueKind::tile; break;
        case Kind::tensor: fact.kind = ValueKind::tensor; break;
        case Kind::group:
        case Kind::tuple:
        case Kind::record: fact.kind = ValueKind::tuple; break;
        case Kind::structure: fact.kind = ValueKind::structure; break;
        case Kind::struct_array: fact.kind = ValueKind::structure_array; break;
        case Kind::pointer: fact.kind = ValueKind::pointer; break;
        default: continue;
        }
        if (fact.kind != ValueKind::scalar) fact.dtype = isa::DType::index;
        m_facts.names[std::string(n.text)] = fact;
        if (v.kind == Kind::structure || v.kind == Kind::struct_array) {
            auto& fields = m_facts.structs[std::string(n.text)];
            fields.clear();
            for (const ir::Field& f : m_fn.structs[std::size_t(v.id)].fields) fields.push_back({f.name, f.dtype, f.length});
        }
    }
}

} // namespace pto::resolve
