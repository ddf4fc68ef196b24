/// What names outside the kernel mean, and folding of the few expressions the analysis needs as numbers.

#include "engine/resolve/pipeline/scan.hpp"

namespace pto::pipeline {

const syntax::Constant* Scan::outer(ScopeId scope, const std::string& name) {
    auto [here, inserted] = m_outer.try_emplace({scope.index, name});
    if (inserted) here->second = names.look_up(scope, name);
    return here->second ? &*here->second : nullptr;
}

const FunctionRef* Scan::function(ScopeId scope, const std::string& name) {
    const syntax::Constant* c = outer(scope, name);
    return c ? std::get_if<FunctionRef>(&c->value) : nullptr;
}

bool Scan::is_stage_call(const Expr& e) {
    if (e.kind != ExprKind::call || e.args.front().kind != ExprKind::name) return false;
    const FunctionRef* f = function(kernel.scope, e.args.front().text);
    return f && f->kind == FunctionRef::Kind::stage;
}

std::string Scan::operation(ScopeId scope, const Expr& callee) {
    std::string dotted = callee.dotted();
    if (dotted.empty()) return {};
    std::size_t dot = dotted.find('.');
    const std::string first = dotted.substr(0, dot);
    std::string path;
    if (const syntax::Constant* c = outer(scope, first)) {
        const auto* language = std::get_if<syntax::LanguageName>(&c->value);
        if (!language) {
            // A module that holds the language under one of its attributes.
            if (dot == std::string::npos) return {};
            std::optional<syntax::Constant> member = names.member(scope, dotted);
            const auto* deep = member ? std::get_if<syntax::LanguageName>(&member->value) : nullptr;
            if (!deep) return {};
            path = deep->path;
        } else {
            path = language->path + (dot == std::string::npos ? "" : dotted.substr(dot));
        }
    } else if (first == "vf") {
        path = dotted; // a reserved name: vector functions use it without an import
    } else {
        return {};
    }
    if (path.rfind("pl.", 0) == 0) path.erase(0, 3);
    return path == "pl" ? std::string() : path;
}

std::optional<std::int64_t> Scan::integer(ScopeId scope, const Expr& e, bool in_kernel, int depth) {
    if (depth > 16) return std::nullopt;
    switch (e.kind) {
    case ExprKind::integer: return e.integer;
    case ExprKind::boolean: return e.integer;
    case ExprKind::name: {
        if (in_kernel && bound.count(e.text)) {
            auto found = assigned.find(e.text);
            if (found == assigned.end() || found->second.size() != 1) return std::nullopt;
            return integer(scope, found->second.front()->value, true, depth + 1);
        }
        const syntax::Constant* c = outer(scope, e.text);
        if (!c) return std::nullopt;
        if (const auto* i = std::get_if<std::int64_t>(&c->value)) return *i;
        if (const auto* b = std::get_if<bool>(&c->value)) return *b;
        return std::nullopt;
    }
    case ExprKind::attribute: {
        std::string dotted = e.dotted();
        if (dotted.empty() || (in_kernel && bound.count(dotted.substr(0, dotted.find('.'))))) return std::nullopt;
        std::optional<syntax::Constant> c = names.member(scope, dotted);
        if (!c) return std::nullopt;
        if (const auto* i = std::get_if<std::int64_t>(&c->value)) return *i;
        return std::nullopt;
    }
    case ExprKind::unary: {
        std::optional<std::int64_t> a = integer(scope, e.args[0], in_kernel, depth + 1);
        if (!a) return std::nullopt;
        if (e.text == "-") return -*a;
        if (e.text == "+") return *a;
        if (e.text == "~") return ~*a;
        return std::nullopt;
    }
    case ExprKind::binary: {
        std::optional<std::int64_t> a = integer(scope, e.args[0], in_kernel, depth + 1), b = integer(scope, e.args[1], in_kernel, depth + 1);
        if (!a || !b) return std::nullopt;
        const std::string& op = e.text;
        if (op == "+") return *a + *b;
        if (op == "-") return *a - *b;
        if (op == "*") return *a * *b;
        if (op == "<<" && *b >= 0 && *b < 62) return *a << *b;
        if (op == ">>" && *b >= 0 && *b < 63) return *a >> *b;
        if (op == "&") return *a & *b;
        if (op == "|") return *a | *b;
        if (op == "^") return *a ^ *b;
        if ((op == "//" || op == "%") && *b != 0) { // Python's floor semantics
            std::int64_t q = *a / *b, r = *a % *b;
            if (r != 0 && (r < 0) != (*b < 0)) --q, r += *b;
            return op == "%" ? r : q;
        }
        return std::nullopt;
    }
    case ExprKind::call: {
        const std::string callee = e.args[0].dotted();
        if ((callee == "min" || callee == "max") && e.args.size() == 3) {
            std::optional<std::int64_t> a = integer(scope, e.args[1], in_kernel, depth + 1), b = integer(scope, e.args[2], in_kernel, depth + 1);
            if (a && b) return callee == "min" ? std::min(*a, *b) : std::max(*a, *b);
        }
        return std::nullopt;
    }
    default: return std::nullopt;
    }
}

std::optional<isa::DType> Scan::dtype(ScopeId scope, const Expr& e, bool in_kernel) {
    if (e.kind == ExprKind::name) {
        if (in_kernel && bound.count(e.text)) {
            auto found = assigned.find(e.text);
            if (found == assigned.end() || found->second.size() != 1) return std::nullopt;
            return dtype(scope, found->second.front()->value, false);
        }
        const syntax::Constant* c = outer(scope, e.text);
        if (!c) return std::nullopt;
        if (const auto* d = std::get_if<isa::DType>(&c->value)) return *d;
    }
    std::string path = operation(scope, e);
    return path.empty() ? std::nullopt : isa::find_dtype(path);
}

std::optional<isa::MemorySpace> Scan::memory_space(ScopeId scope, const Expr& e) {
    std::string path = operation(scope, e);
    if (path.rfind("MemorySpace.", 0) == 0)
        if (auto value = isa::find_enum("MemorySpace", path.substr(12))) return value->as<isa::MemorySpace>();
    if (e.kind == ExprKind::name) {
        const syntax::Constant* c = outer(scope, e.text);
        if (c)
            if (const auto* v = std::get_if<isa::EnumValue>(&c->value); v && v->kind == isa::EnumKind::MemorySpace) return v->as<isa::MemorySpace>();
    }
    return std::nullopt;
}

const Expr* Scan::tile_type(ScopeId scope, const Expr& e) {
    if (e.kind == ExprKind::call && operation(scope, e.args.front()) == "TileType") return &e;
    if (e.kind != ExprKind::name) return nullptr;
    auto found = assigned.find(e.text);
    if (found == assigned.end() || found->second.size() != 1) return nullptr;
    const Expr& value = found->second.front()->value;
    return value.kind == ExprKind::call && operation(scope, value.args.front()) == "TileType" ? &value : nullptr;
}

std::optional<isa::MemorySpace> Scan::memory_of_type(ScopeId scope, const Expr& type, bool& literal) {
    literal = false;
    const Expr* call = tile_type(scope, type);
    if (!call) return std::nullopt;
    const Expr* space = call->keyword("target_memory");
    if (!space && call->args.size() > 3) space = &call->args[3];
    if (!space) { // the language's default, as certain as a literal
        literal = true;
        return isa::MemorySpace::vec;
    }
    std::optional<isa::MemorySpace> value = memory_space(scope, *space);
    literal = value && space->kind == ExprKind::attribute;
    return value;
}

std::string spell(const Expr& e) {
    auto list = [](const std::vector<Expr>& args, std::size_t from) {
        std::string out;
        for (std::size_t i = from; i < args.size(); ++i) out += (i == from ? "" : ", ") + spell(args[i]);
        return out;
    };
    switch (e.kind) {
    case ExprKind::name: return e.text;
    case ExprKind::integer: return std::to_string(e.integer);
    case ExprKind::real: { std::string s = std::to_string(e.real); return s.substr(0, s.find_last_not_of('0') + 1); }
    case ExprKind::boolean: return e.integer ? "True" : "False";
    case ExprKind::string: return "'" + e.text + "'";
    case ExprKind::none: return "None";
    case ExprKind::attribute: return spell(e.args[0]) + "." + e.text;
    case ExprKind::subscript: return spell(e.args[0]) + "[" + (e.args[1].kind == ExprKind::tuple ? list(e.args[1].args, 0) : spell(e.args[1])) + "]";
    case ExprKind::slice: return spell(e.args[0]) + ":" + spell(e.args[1]);
    case ExprKind::call: {
        std::string out = spell(e.args[0]) + "(" + list(e.args, 1);
        for (const syntax::Keyword& k : e.keywords) out += (out.back() == '(' ? "" : ", ") + k.name + "=" + (k.value.empty() ? "" : spell(k.value.front()));
        return out + ")";
    }
    case ExprKind::binary:
    case ExprKind::compare: return spell(e.args[0]) + " " + e.text + " " + spell(e.args[1]);
    case ExprKind::unary: return e.text + (e.text == "not" ? " " : "") + spell(e.args[0]);
    case ExprKind::logical: {
        std::string out;
        for (std::size_t i = 0; i < e.args.size(); ++i) out += (i ? " " + e.text + " " : "") + spell(e.args[i]);
        return out;
    }
    case ExprKind::tuple: return "(" + list(e.args, 0) + ")";
    case ExprKind::list: return "[" + list(e.args, 0) + "]";
    case ExprKind::absent: return "";
    default: return "...";
    }
}

} // namespace pto::pipeline
