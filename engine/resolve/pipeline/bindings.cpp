/// From names to memory: groups, their tiles, sub-views, renames, tuples, tensors. Pipeline reference, 9.1.

#include "engine/resolve/pipeline/scan.hpp"

#include <algorithm>

namespace pto::pipeline {

std::string accessor(const Expr& e) {
    if (e.kind != ExprKind::call || e.args.size() != 1 || e.args.front().kind != ExprKind::attribute) return {};
    const std::string& name = e.args.front().text;
    return name == "next" || name == "current" || name == "previous" ? name : std::string();
}

bool has_slice(const Expr& index) {
    if (index.kind == ExprKind::slice) return true;
    return index.kind == ExprKind::tuple && std::any_of(index.args.begin(), index.args.end(), [](const Expr& e) { return e.kind == ExprKind::slice; });
}

namespace {

void join(Memory& into, const Memory& from) {
    if (from.kind == Memory::Kind::none) return;
    if (into.kind == Memory::Kind::none) {
        into = from;
        return;
    }
    if (into.kind != from.kind) return; // a name with two kinds of meaning: the first one is followed
    for (BufferId g : from.groups)
        if (std::find(into.groups.begin(), into.groups.end(), g) == into.groups.end()) into.groups.push_back(g);
    if (into.object.empty()) into.object = from.object, into.space = from.space;
    for (const auto& [name, m] : from.members) join(into.members[name], m);
}

Memory tile_of(const Memory& group) {
    Memory m = group;
    m.kind = Memory::Kind::tile;
    return m;
}

} // namespace

Memory Scan::picked(const Expr& e, const Names& here, ScopeId scope) {
    const Expr* base = nullptr;
    if (!accessor(e).empty()) base = &e.args.front().args.front();
    else if (e.kind == ExprKind::subscript) base = &e.args.front();
    if (!base) return {};
    Memory m = memory_of(*base, here, scope);
    return m.kind == Memory::Kind::group ? m : Memory{};
}

Memory Scan::memory_of(const Expr& e, const Names& here, ScopeId scope, const std::string& as) {
    switch (e.kind) {
    case ExprKind::name: {
        auto found = here.find(e.text);
        return found == here.end() ? Memory{} : found->second;
    }
    case ExprKind::attribute: {
        Memory base = memory_of(e.args[0], here, scope);
        if (base.kind != Memory::Kind::aggregate) return {};
        auto found = base.members.find(e.text);
        return found == base.members.end() ? Memory{} : found->second;
    }
    case ExprKind::subscript: {
        Memory base = memory_of(e.args[0], here, scope);
        if (base.kind == Memory::Kind::group) return tile_of(base);
        if (base.kind == Memory::Kind::tile) return has_slice(e.args[1]) ? base : Memory{};
        if (base.kind == Memory::Kind::aggregate) {
            if (e.args[1].kind == ExprKind::integer) {
                auto found = base.members.find(std::to_string(e.args[1].integer));
                return found == base.members.end() ? Memory{} : found->second;
            }
            Memory all;
            for (const auto& [name, m] : base.members) join(all, m);
            if (all.kind == Memory::Kind::tile && all.groups.empty()) all.object = base.object, all.slots = std::int32_t(base.members.size());
            return all;
        }
        return {};
    }
    case ExprKind::conditional: {
        Memory m = memory_of(e.args[1], here, scope, as);
        join(m, memory_of(e.args[2], here, scope, as));
        return m;
    }
    case ExprKind::tuple:
    case ExprKind::list: {
        Memory m;
        for (std::size_t i = 0; i < e.args.size(); ++i)
            if (Memory member = memory_of(e.args[i], here, scope, as + "." + std::to_string(i)); member.kind != Memory::Kind::none)
                m.members.emplace(std::to_string(i), std::move(member));
        if (!m.members.empty()) m.kind = Memory::Kind::aggregate, m.object = as;
        return m;
    }
    case ExprKind::call: {
        if (!accessor(e).empty()) {
            Memory base = memory_of(e.args.front().args.front(), here, scope);
            return base.kind == Memory::Kind::group ? tile_of(base) : Memory{};
        }
        const std::string op = operation(scope, e.args.front());
        if (op == "make_tuple") {
            Memory m;
            m.kind = Memory::Kind::aggregate, m.object = as;
            for (const syntax::Keyword& k : e.keywords)
                if (!k.value.empty())
                    if (Memory member = memory_of(k.value.front(), here, scope, as + "." + k.name); member.kind != Memory::Kind::none) m.members.emplace(k.name, std::move(member));
            return m;
        }
        if (op == "make_tile" && !as.empty()) {
            Memory m;
            m.kind = Memory::Kind::tile, m.object = as;
            const Expr* type = e.args.size() > 1 ? &e.args[1] : e.keyword("type");
            bool literal = false;
            if (type) m.space = memory_of_type(scope, *type, literal);
            return m;
        }
        if (op == "reinterpret" && e.args.size() > 1) return memory_of(e.args[1], here, scope);
        return {};
    }
    default: return {};
    }
}

Scan::Names Scan::bind_function(const syntax::Function& f, ScopeId scope, Names here) {
    const Names parameters = here;
    for (int round = 0; round < 16; ++round) {
        Names before = here;
        walk_here(f.body, [&](const Stmt& st) {
            if ((st.kind != StmtKind::assign && st.kind != StmtKind::annotated) || st.targets.size() != 1 || st.targets[0].kind != ExprKind::name) return;
            if (st.value.kind == ExprKind::absent) return;
            join(here[st.targets[0].text], memory_of(st.value, here, scope, f.name + "." + st.targets[0].text));
        });
        if (here == before) break;
    }
    return here;
}

void Scan::bind_kernel_names() {
    for (isa::Core core : {isa::Core::cube, isa::Core::vector}) {
        Names& here = kernel_memory[int(core)];
        const Place other = core == isa::Core::cube ? Place::vector : Place::cube;
        for (const syntax::Parameter& p : kernel.function->parameters) {
            auto fact = facts.names.find(p.name);
            const bool tensor = fact != facts.names.end() ? fact->second.kind == ValueKind::tensor
                                                          : p.annotation.kind == ExprKind::subscript && operation(kernel.scope, p.annotation.args[0]) == "Tensor";
            if (tensor) here[p.name] = Memory{Memory::Kind::tensor, {}, p.name, std::nullopt, {}};
        }
        for (std::size_t i = 0; i < model.buffers.size(); ++i) {
            const Buffer& b = model.buffers[i];
            if (b.place == other) continue;
            here[b.name] = Memory{Memory::Kind::group, {BufferId{std::int32_t(i)}}, {}, std::nullopt, {}};
        }
        for (int round = 0; round < 16; ++round) {
            Names before = here;
            for (const auto& [name, statements] : assigned)
                for (const Stmt* st : statements) {
                    if (place_of(st->at) == other) continue;
                    Memory m = memory_of(st->value, here, kernel.scope, name);
                    if (m.kind != Memory::Kind::none) join(here[name], m);
                }
            if (here == before) break;
        }
    }
}

} // namespace pto::pipeline
