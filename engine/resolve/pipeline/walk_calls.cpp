/// Calls of a walk: helpers, and the operations whose operands the catalogue describes. Pipeline reference, 9.3.

#include "engine/isa/roles.hpp"
#include "engine/resolve/pipeline/walk.hpp"

#include <algorithm>

namespace pto::pipeline {
namespace {

/// Names of the language that take a group or a tile without touching its bytes.
bool only_names_memory(std::string_view op) {
    return op == "make_tuple" || op == "struct" || op == "struct_array" || op == "reinterpret" || op == "make_tile" || op == "make_tile_group";
}

/// Reference 9.3: the pipe of a copy follows (source memory -> destination memory).
isa::Pipe pipe_of_path(isa::MemorySpace from, isa::MemorySpace to) {
    using M = isa::MemorySpace;
    if (from == M::acc && (to == M::vec || to == M::mat)) return isa::Pipe::fix;
    if (from == M::mat) {
        if (to == M::left || to == M::right || to == M::bias || to == M::scale_left || to == M::scale_right) return isa::Pipe::mte1;
        return to == M::vec ? isa::Pipe::v : isa::Pipe::fix;
    }
    return from == M::vec && to == M::mat ? isa::Pipe::mte3 : isa::Pipe::v;
}

} // namespace

void Walk::bind_arguments(const Expr& call, const syntax::Function& f, const Names& here, ScopeId scope, Names& parameters, std::map<std::string, std::int32_t>& roots,
                    const std::map<std::string, std::int32_t>& outer_roots) {
    for (std::size_t i = 1; i < call.args.size(); ++i) {
        std::size_t p = i - 1;
        if (!f.parameters.empty() && f.parameters.front().name == "self") ++p;
        if (p >= f.parameters.size()) break;
        Memory m = m_s.memory_of(call.args[i], here, scope);
        if (m.kind != Memory::Kind::none) parameters[f.parameters[p].name] = std::move(m);
        const Expr* base = &call.args[i];
        while (base->kind == ExprKind::subscript || base->kind == ExprKind::attribute) base = &base->args.front();
        if (base->kind == ExprKind::name)
            if (auto root = outer_roots.find(base->text); root != outer_roots.end()) roots[f.parameters[p].name] = root->second;
    }
    for (const syntax::Keyword& k : call.keywords)
        if (!k.value.empty())
            if (Memory m = m_s.memory_of(k.value.front(), here, scope); m.kind != Memory::Kind::none) parameters[k.name] = std::move(m);
}

void Walk::call(Frame& frame, const Expr& e) {
    const Expr& callee = e.args.front();
    if (callee.kind == ExprKind::name) {
        if (const FunctionRef* f = m_s.function(frame.scope, callee.text)) {
            FunctionRef copy = *f;
            if (copy.kind == FunctionRef::Kind::vector) return vector_call(frame, e, copy);
            if (copy.kind == FunctionRef::Kind::plain && copy.function) return helper_call(frame, e, copy);
            return assume_written(frame, e);
        }
    }
    const std::string op = m_s.operation(frame.scope, callee);
    if (op.empty()) return assume_written(frame, e);
    if (op == "make_tile_group" && m_stage) {
        Diagnostic& d = m_s.report(Code::helper_declares_group, e.at, m_chain.empty() ? "stage `" + m_stage->name + "` declares a tile group" : "`" + m_chain.back().first->name + "`, called by stage `" + m_stage->name + "`, declares a tile group");
        label_chain(d);
        d.advice.push_back("declare the group in the kernel body and pass it to the stage");
        return;
    }
    block_op(frame, e, op);
}

void Walk::assume_written(Frame& frame, const Expr& e) {
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        Memory m = m_s.memory_of(e.args[i], frame.names, frame.scope);
        if (m.kind == Memory::Kind::tile || m.kind == Memory::Kind::aggregate) wrote(root_of(frame, m, e.args[i]), m);
    }
}

void Walk::helper_call(Frame& frame, const Expr& e, const FunctionRef& f) {
    for (const auto& [walked, at] : m_chain)
        if (walked == f.function.get()) return; // recursion: the front end reports it
    Names parameters;
    std::map<std::string, std::int32_t> roots;
    bind_arguments(e, *f.function, frame.names, frame.scope, parameters, roots, frame.roots);
    Frame inner{&f, f.scope, m_s.bind_function(*f.function, f.scope, std::move(parameters)), std::move(roots), frame.conditional, frame.behind_return};
    m_chain.emplace_back(f.function.get(), e.at);
    walk(inner, f.function->body);
    m_chain.pop_back();
}

std::optional<isa::MemorySpace> Walk::space_of(const Memory& m) const {
    if (m.kind == Memory::Kind::tensor) return isa::MemorySpace::ddr;
    if (!m.groups.empty()) return m_s.model[m.groups.front()].memory;
    return m.space;
}

bool Walk::tracked(const Memory& m) const {
    return (m.kind == Memory::Kind::tile || m.kind == Memory::Kind::group) &&
           std::any_of(m.groups.begin(), m.groups.end(), [&](BufferId g) { return m_s.model[g].tracked; });
}

std::string Walk::tracked_name(const Memory& m) const {
    for (BufferId g : m.groups)
        if (m_s.model[g].tracked) return m_s.model[g].name;
    return m.object;
}

/// Empty when the operation touches no tile, or when its pipe cannot be told: a fault only where a channel is involved (`first_tracked`).
std::optional<isa::Pipe> Walk::pipe_of(Frame& frame, const Expr& e, const std::string& op, const isa::OpRow& row, const Touched* first_tracked) {
    switch (row.pipe) {
    case isa::PipeRule::s: return isa::Pipe::s;
    case isa::PipeRule::v:
    case isa::PipeRule::in_vector: return isa::Pipe::v;
    case isa::PipeRule::m: return isa::Pipe::m;
    case isa::PipeRule::mte1: return isa::Pipe::mte1;
    case isa::PipeRule::mte2: return isa::Pipe::mte2;
    case isa::PipeRule::mte3: return isa::Pipe::mte3;
    case isa::PipeRule::fix: return isa::Pipe::fix;
    case isa::PipeRule::by_path:
    case isa::PipeRule::by_source: {
        auto memory_at = [&](std::size_t i) -> std::optional<isa::MemorySpace> {
            const Expr* a = i + 1 < e.args.size() ? &e.args[i + 1] : i < row.operands.size() ? e.keyword(row.operands[i].name) : nullptr;
            return a ? space_of(m_s.memory_of(*a, frame.names, frame.scope)) : std::nullopt;
        };
        std::optional<isa::MemorySpace> dst = memory_at(0), src = memory_at(1);
        if (src && (row.pipe == isa::PipeRule::by_source || dst)) {
            return row.pipe == isa::PipeRule::by_path ? pipe_of_path(*src, *dst) : *src == isa::MemorySpace::acc ? isa::Pipe::fix : isa::Pipe::mte3;
        }
        if (!first_tracked) return std::nullopt;
        const std::size_t missing = src ? 0 : 1;
        const Expr* a = missing + 1 < e.args.size() ? &e.args[missing + 1] : nullptr;
        Diagnostic& d = m_s.report(Code::unknown_pipe, e.at, "the pipe of `" + op + "` on `" + tracked_name(first_tracked->memory) + "` depends on the memory of `" + (a ? spell(*a) : "?") + "`, which cannot be traced to a declaration");
        if (a) d.labels.push_back({a->at, "which memory is this tile in?"});
        label_chain(d);
        d.advice.push_back("take the tile from a group of the kernel body whose tile type names its memory");
        return std::nullopt;
    }
    case isa::PipeRule::by_keyword:
    case isa::PipeRule::all: return std::nullopt; // synchronisation touches no tile
    }
    return std::nullopt;
}

void Walk::block_op(Frame& frame, const Expr& e, const std::string& op) {
    const isa::OpRow* row = m_s.ops.find(op);
    if (only_names_memory(op) || (row && row->descriptor_only)) return;
    std::vector<Touched> touched;
    auto touch = [&](const Expr& argument, const isa::Operand* operand, bool is_scale) {
        Memory m = m_s.memory_of(argument, frame.names, frame.scope);
        if (m.kind == Memory::Kind::aggregate) {
            for (auto& [name, member] : m.members)
                if (member.kind == Memory::Kind::tile) touched.push_back({member, operand ? operand->role : isa::Role::read, &argument, row != nullptr});
            return;
        }
        if (argument.kind == ExprKind::list || m.kind == Memory::Kind::none) return;
        isa::Role role = operand ? operand->role : is_scale ? isa::Role::read : isa::Role::none;
        touched.push_back({std::move(m), role, &argument, row && (operand || is_scale)});
    };
    for (std::size_t i = 1; i < e.args.size(); ++i) {
        const isa::Operand* operand = nullptr;
        if (row && i - 1 < row->operands.size()) operand = &row->operands[i - 1];
        else if (row && !row->operands.empty() && (row->operands.back().kind == isa::OperandKind::scalars || row->operands.back().kind == isa::OperandKind::list)) operand = &row->operands.back();
        touch(e.args[i], operand, row && i - 1 >= row->operands.size());
    }
    for (const syntax::Keyword& k : e.keywords)
        for (const Expr& v : k.value) touch(v, row ? row->operand(k.name) : nullptr, true);

    // fillpad in place also keeps what it does not pad.
    if (row && row->semantics == isa::Semantics::fillpad)
        if (const Expr* mode = e.keyword("mode"); mode && m_s.operation(frame.scope, *mode) == "FillPadMode.INPLACE" && !touched.empty()) touched.front().role = isa::Role::read_write;

    const auto first = std::find_if(touched.begin(), touched.end(), [&](const Touched& t) { return tracked(t.memory); });
    const bool any = first != touched.end();
    if (!row) {
        if (!any) return assume_written(frame, e);
        Diagnostic& d = m_s.report(Code::unknown_roles, e.at, "what `" + spell(e.args.front()) + "` does to `" + tracked_name(first->memory) + "` is not known");
        label_chain(d);
        d.advice.push_back("copy the slot into a local tile first, or copy the result out of one");
        return;
    }
    const std::optional<isa::Pipe> pipe = pipe_of(frame, e, op, *row, any ? &*first : nullptr);
    if (!pipe) return;
    for (std::size_t i = 0; i < touched.size(); ++i) {
        Touched& t = touched[i];
        if (t.role == isa::Role::none) continue;
        // One buffer at several positions is one access with the roles united.
        for (std::size_t j = i + 1; j < touched.size(); ++j)
            if (touched[j].memory == t.memory) t.role = isa::unite(t.role, touched[j].role), touched[j].role = isa::Role::none;
        record(frame, t.memory, t.role, *pipe, op, e.at, *t.argument);
    }
}

} // namespace pto::pipeline
