#include "engine/syntax/module_environment.hpp"

#include <limits>

namespace pto::syntax {

std::shared_ptr<const Function> Module::function(const std::string& name) const {
    for (auto it = functions.rbegin(); it != functions.rend(); ++it)
        if ((*it)->name == name) return *it;
    return nullptr;
}

namespace {

/// "pl" for the module itself, "vf" for the register namespace, "pl.x" below it; empty for other imports.
std::string language_path(const std::string& imported) {
    const std::string root = "pypto_pro.language";
    if (imported == root) return "pl";
    if (imported == root + ".Vf" || imported == root + ".vf") return "vf";
    if (imported.rfind(root + ".", 0) == 0) return "pl" + imported.substr(root.size());
    return {};
}

FunctionRef::Kind kind_of(const Function& f) {
    for (const Expr& d : f.decorators) {
        const Expr& callee = d.kind == ExprKind::call ? d.args.front() : d;
        std::string path = callee.dotted();
        std::string last = path.substr(path.rfind('.') + 1);
        if (last == "stage") return FunctionRef::Kind::stage;
        if (last == "vector_function") return FunctionRef::Kind::vector;
        if (last == "jit" || last == "kernel") return FunctionRef::Kind::kernel;
        if (path.size() > 14 && path.compare(path.size() - 13, 13, "simt.function") == 0) return FunctionRef::Kind::simt;
    }
    return FunctionRef::Kind::plain;
}

} // namespace

Constant language_constant(const std::string& path) {
    Constant c;
    std::string rest = path.rfind("pl.", 0) == 0 ? path.substr(3) : path;
    if (auto t = isa::find_dtype(rest); t && rest.rfind("DT_", 0) == 0) {
        c.value = *t;
        return c;
    }
    std::size_t dot = rest.find('.');
    if (dot == std::string::npos) {
        if (auto layout = isa::find_enum("TensorLayout", rest)) {
            c.value = *layout;
            return c;
        }
    } else if (auto value = isa::find_enum(rest.substr(0, dot), rest.substr(dot + 1))) {
        c.value = *value;
        return c;
    }
    c.value = LanguageName{path};
    return c;
}

ModuleEnvironment::ModuleEnvironment(Module module, Environment* behind, ScopeId behind_scope)
    : m_module(std::move(module)), m_behind(behind), m_behind_scope(behind_scope) {
    for (const Stmt& s : m_module.statements)
        if (s.kind == StmtKind::assign && s.targets.size() == 1 && s.targets[0].kind == ExprKind::name) m_bindings[s.targets[0].text] = &s.value;
}

std::optional<Constant> ModuleEnvironment::literal(const Expr& e) {
    Constant c;
    c.defined_at = e.at;
    switch (e.kind) {
    case ExprKind::integer: c.value = e.integer; return c;
    case ExprKind::real: c.value = e.real; return c;
    case ExprKind::boolean: c.value = e.integer != 0; return c;
    case ExprKind::string: c.value = e.text; return c;
    case ExprKind::none: c.value = NoneValue{}; return c;
    case ExprKind::name: return look_up(module_scope, e.text);
    case ExprKind::attribute: return member(module_scope, e.dotted());
    case ExprKind::unary:
        if (e.text == "-")
            if (auto inner = literal(e.args[0])) {
                if (auto* i = std::get_if<std::int64_t>(&inner->value)) c.value = -*i;
                else if (auto* r = std::get_if<double>(&inner->value)) c.value = -*r;
                else return std::nullopt;
                return c;
            }
        return std::nullopt;
    case ExprKind::tuple:
    case ExprKind::list: {
        ConstantList items;
        for (const Expr& a : e.args) {
            auto item = literal(a);
            if (!item) return std::nullopt;
            items.push_back(std::move(*item));
        }
        c.value = std::move(items);
        c.is_tuple = e.kind == ExprKind::tuple;
        return c;
    }
    case ExprKind::call:
        if (e.args[0].kind == ExprKind::name && e.args[0].text == "float" && e.args.size() == 2 && e.args[1].kind == ExprKind::string) {
            if (e.args[1].text == "inf") c.value = std::numeric_limits<double>::infinity();
            else if (e.args[1].text == "-inf") c.value = -std::numeric_limits<double>::infinity();
            else if (e.args[1].text == "nan") c.value = std::numeric_limits<double>::quiet_NaN();
            else return std::nullopt;
            return c;
        }
        if (auto callee = literal(e.args[0]))
            if (auto* name = std::get_if<LanguageName>(&callee->value); name && name->path == "pl.TileType") {
                auto call = std::make_shared<LanguageCall>();
                call->path = name->path;
                for (const Keyword& k : e.keywords) {
                    auto v = literal(k.value.front());
                    if (!v) return std::nullopt;
                    call->keywords[k.name] = std::move(*v);
                }
                c.value = std::shared_ptr<const LanguageCall>(std::move(call));
                return c;
            }
        return std::nullopt;
    default: return std::nullopt;
    }
}

std::optional<Constant> ModuleEnvironment::look_up(ScopeId, const std::string& name) {
    if (auto known = m_names.find(name); known != m_names.end()) return known->second;
    std::optional<Constant> found;
    if (auto function = m_module.function(name)) {
        FunctionRef ref;
        ref.function = function;
        ref.scope = module_scope;
        ref.name = name;
        ref.kind = kind_of(*function);
        found = Constant{ref, false, function->name_at};
    } else if (auto bound = m_bindings.find(name); bound != m_bindings.end()) {
        const Expr* value = bound->second;
        m_bindings.erase(bound); // a name defined by itself has no value
        found = literal(*value);
        if (!found && m_behind) found = m_behind->look_up(m_behind_scope, name);
    } else if (auto imported = m_module.imports.find(name); imported != m_module.imports.end()) {
        if (std::string path = language_path(imported->second); !path.empty()) found = path == "pl" || path == "vf" ? Constant{LanguageName{path}, false, {}} : language_constant(path);
    }
    if (!found && m_behind && !m_module.function(name)) found = m_behind->look_up(m_behind_scope, name);
    if (found) m_names[name] = *found;
    return found;
}

std::optional<Constant> ModuleEnvironment::member(ScopeId scope, const std::string& dotted) {
    std::size_t dot = dotted.find('.');
    if (dot == std::string::npos) return look_up(scope, dotted);
    if (auto base = look_up(scope, dotted.substr(0, dot)))
        if (auto* name = std::get_if<LanguageName>(&base->value)) return language_constant(name->path + dotted.substr(dot));
    if (m_behind) return m_behind->member(m_behind_scope, dotted);
    return std::nullopt;
}

std::optional<Constant> ModuleEnvironment::evaluate(ScopeId, const std::string& text, const std::map<std::string, Constant>& names,
                                                    std::string& error) {
    if (!m_behind) {
        error = "no evaluator";
        return std::nullopt;
    }
    std::map<std::string, Constant> all = m_names; // what this file has answered so far, then what the caller knows
    for (const auto& [name, value] : names) all[name] = value;
    return m_behind->evaluate(m_behind_scope, text, all, error);
}

} // namespace pto::syntax
