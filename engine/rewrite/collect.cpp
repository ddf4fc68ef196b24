/// Functions, constants and imports a kernel reaches, each with its origin. Free names of different scopes that mean different things
/// under one spelling are renamed in the copies.

#include "engine/rewrite/collect.hpp"

#include <algorithm>

namespace pto::rewrite {
namespace {

using syntax::Body;
using syntax::Expr;
using syntax::ExprKind;
using syntax::Function;
using syntax::FunctionRef;
using syntax::ScopeId;
using syntax::Stmt;
using syntax::StmtKind;

void add_targets(const Expr& t, std::set<std::string>& bound) {
    if (t.kind == ExprKind::name) bound.insert(t.text);
    if (t.kind == ExprKind::tuple || t.kind == ExprKind::list || t.kind == ExprKind::starred)
        for (const Expr& x : t.args) add_targets(x, bound);
}

struct FreeName {
    std::string name;
    std::vector<std::string> dotted; // longer paths that begin with it
};

/// Free names of a function in order of first use, decorators and annotations first.
std::vector<FreeName> free_names(const Function& f, bool skip_pipeline, const std::vector<pipeline::FoldedBranch>& folded) {
    std::set<std::string> bound;
    for (const syntax::Parameter& p : f.parameters) bound.insert(p.name);
    syntax::walk(f.body, [&](const Stmt& st) {
        if (st.kind == StmtKind::function) bound.insert(st.text);
        if (st.kind == StmtKind::assign || st.kind == StmtKind::annotated || st.kind == StmtKind::augmented || st.kind == StmtKind::loop)
            for (const Expr& t : st.targets) add_targets(t, bound);
    });
    std::vector<FreeName> out;
    std::map<std::string, std::size_t> known;
    auto note = [&](const Expr& root, const std::set<std::string>& hidden) {
        syntax::walk(root, [&](const Expr& e) {
            if (e.kind != ExprKind::name && e.kind != ExprKind::attribute) return;
            const std::string path = e.dotted();
            if (path.empty()) return;
            for (const pipeline::FoldedBranch& b : folded) // text that is gone needs nothing
                if (b.at.file == e.at.file && b.at.begin <= e.at.begin && e.at.end <= b.at.end && !(b.taken.valid() && b.taken.begin <= e.at.begin && e.at.end <= b.taken.end)) return;
            const std::string first = path.substr(0, path.find('.'));
            if (hidden.count(first)) return;
            auto [here, inserted] = known.try_emplace(first, out.size());
            if (inserted) out.push_back({first, {}});
            if (path != first) out[here->second].dotted.push_back(path);
        });
    };
    const std::set<std::string> none;
    for (const Expr& d : f.decorators) {
        if (!skip_pipeline || d.kind != ExprKind::call) {
            note(d, none);
            continue;
        }
        for (const Expr& a : d.args) note(a, none);
        for (const syntax::Keyword& k : d.keywords)
            if (k.name != "pipeline")
                for (const Expr& v : k.value) note(v, none);
    }
    for (const syntax::Parameter& p : f.parameters) note(p.annotation, none), note(p.fallback, none);
    note(f.returns, none);
    syntax::walk(f.body, [&](const Stmt& st) {
        note(st.value, bound);
        note(st.annotation, bound);
        for (const Expr& t : st.targets) note(t, bound);
    });
    return out;
}

class Collector {
  public:
    Collector(const SourceMap& sources, syntax::Environment& names, const pipeline::Model& model, Diagnostics& diagnostics)
        : m_sources(sources), m_names(names), m_model(model), m_diagnostics(diagnostics), m_pl(model.language.substr(0, model.language.find('.'))) {}

    Collected run() {
        const syntax::KernelSource& k = m_model.source;
        m_taken[k.function->name] = "kernel";
        // The kernel's own names come first: where spellings clash, its text stays as it is.
        follow(*k.function, k.scope, m_out.kernel_renamed, true);
        return std::move(m_out);
    }

  private:
    const SourceMap& m_sources;
    syntax::Environment& m_names;
    const pipeline::Model& m_model;
    Diagnostics& m_diagnostics;
    const std::string m_pl;
    Collected m_out;
    std::map<std::string, std::string> m_taken;                 // emitted name -> what it means
    std::map<const Function*, std::string> m_function_names;    // emitted functions
    std::set<const Function*> m_open;

    void follow(const Function& f, ScopeId scope, std::map<std::string, std::string>& renamed, bool is_kernel) {
        for (const FreeName& n : free_names(f, is_kernel, is_kernel ? m_model.folded : std::vector<pipeline::FoldedBranch>{})) {
            std::optional<syntax::Constant> c = m_names.look_up(scope, n.name);
            if (!c) continue; // a builtin, or a mistake the front end reports
            std::string emitted = one(n, *c, scope);
            if (!emitted.empty() && emitted != n.name) renamed[n.name] = emitted;
        }
    }

    /// A spelling nobody else uses for something different.
    std::string claim(const std::string& wanted, const std::string& meaning, bool& fresh) {
        std::string name = wanted;
        for (int n = 2;; ++n) {
            auto [here, inserted] = m_taken.try_emplace(name, meaning);
            fresh = inserted;
            if (inserted || here->second == meaning) return name;
            name = wanted + "_" + std::to_string(n);
        }
    }

    std::string place(const Span& at) const { return at.valid() ? "  # " + m_sources.place(at) : std::string(); }

    std::string one(const FreeName& n, const syntax::Constant& c, ScopeId scope) {
        bool fresh = false;
        if (const auto* language = std::get_if<syntax::LanguageName>(&c.value)) {
            if (language->path == "vf" && n.name == "vf") return n.name; // reserved: no import
            const std::string name = claim(n.name, "language " + language->path, fresh);
            if (!fresh) return name;
            if (language->path == "pl") m_out.imports.push_back("import pypto_pro.language as " + name);
            else if (const std::string tail = language->path.rfind("pl.", 0) == 0 ? language->path.substr(3) : language->path; tail.find('.') == std::string::npos)
                m_out.imports.push_back("from pypto_pro.language import " + tail + (tail == name ? "" : " as " + name));
            else m_out.constants.push_back({name + " = " + m_pl + "." + tail, c.defined_at});
            return name;
        }
        if (const auto* f = std::get_if<FunctionRef>(&c.value)) return function(*f, c);
        if (const auto* tiling = std::get_if<syntax::TilingClass>(&c.value)) {
            const std::string name = claim(n.name, "tiling " + tiling->name + place(c.defined_at), fresh);
            if (fresh) tiling_class(*tiling, name, c.defined_at);
            return name;
        }
        if (const auto* key = std::get_if<syntax::TilingKeyClass>(&c.value)) {
            const std::string name = claim(n.name, "key " + key->name + place(c.defined_at), fresh);
            if (fresh) key_class(*key, name, c.defined_at);
            return name;
        }
        if (std::holds_alternative<syntax::Opaque>(c.value)) return space(n, c, scope);
        const std::string text = spell_constant(c, m_pl);
        if (text.empty()) return n.name;
        if (text.find(m_pl + ".") != std::string::npos) need_language();
        const std::string name = claim(n.name, "constant " + text, fresh);
        if (fresh) m_out.constants.push_back({name + " = " + text + place(c.defined_at), c.defined_at});
        return name;
    }

    void need_language() {
        bool fresh = false;
        if (claim(m_pl, "language pl", fresh) == m_pl && fresh) m_out.imports.push_back("import pypto_pro.language as " + m_pl);
    }

    /// An object used for its members only: its constants, kept under its name so that the text that reads them stays as it is.
    std::string space(const FreeName& n, const syntax::Constant& c, ScopeId scope) {
        std::map<std::string, std::string> members;
        for (const std::string& path : n.dotted) {
            const std::string rest = path.substr(n.name.size() + 1);
            if (rest.find('.') != std::string::npos) continue;
            std::optional<syntax::Constant> m = m_names.member(scope, path);
            if (!m) continue;
            if (const auto* f = std::get_if<FunctionRef>(&m->value)) {
                const std::string emitted = function(*f, *m);
                members.emplace(rest, "staticmethod(" + emitted + ")");
                continue;
            }
            std::string text = spell_constant(*m, m_pl);
            if (text.find(m_pl + ".") != std::string::npos) need_language();
            if (!text.empty()) members.emplace(rest, std::move(text));
        }
        if (members.empty()) return n.name;
        std::string text;
        for (const auto& [member, value] : members) text += "\n    " + member + " = " + value;
        bool fresh = false;
        const std::string name = claim(n.name, "members" + text, fresh);
        if (fresh) m_out.constants.push_back({"class " + name + ":" + (place(c.defined_at).empty() ? "  # constants read from " + n.name : place(c.defined_at)) + text, c.defined_at});
        return name;
    }

    std::string function(const FunctionRef& f, const syntax::Constant& c) {
        if (f.kind == FunctionRef::Kind::kernel) return f.name;
        if (!f.function) {
            Diagnostic d = diagnose(Code::pipeline_source_missing, c.defined_at, "the source of `" + f.name + "` cannot be read" + (f.missing.empty() ? "" : ": " + f.missing));
            m_diagnostics.push_back(std::move(d));
            return f.name;
        }
        if (auto found = m_function_names.find(f.function.get()); found != m_function_names.end()) return found->second;
        bool fresh = false;
        const std::string name = claim(f.function->name, "function " + m_sources.place(f.function->at) + ":" + std::to_string(f.function->at.begin), fresh);
        m_function_names.emplace(f.function.get(), name);
        CollectedFunction out;
        out.ref = f;
        if (name != f.function->name) out.renamed[f.function->name] = name;
        follow(*f.function, f.scope, out.renamed, false);
        m_out.functions.push_back(std::move(out));
        return name;
    }

    void tiling_class(const syntax::TilingClass& t, const std::string& name, Span at) {
        std::string text = "@dataclass\nclass " + name + ":" + place(at);
        for (const syntax::TilingField& f : t.fields) {
            const char* type = f.dtype == isa::DType::boolean ? "bool" : isa::is_float(f.dtype) ? "float" : "int";
            text += "\n    " + f.name + ": " + type;
            if (f.length > 0) text += "[" + std::to_string(f.length) + "]", m_out.future_annotations = true;
        }
        m_out.dataclasses = true;
        m_out.constants.push_back({std::move(text), at});
    }

    void key_class(const syntax::TilingKeyClass& k, const std::string& name, Span at) {
        need_language();
        // The class's own text keeps is_valid(), which is code.
        if (k.has_is_valid && at.valid() && m_sources.text(at).substr(0, 5) == "class") {
            m_out.constants.push_back({std::string(m_sources.text(at)), at});
            return;
        }
        std::string text = "class " + name + ":" + place(at);
        for (const syntax::KeyField& f : k.fields) {
            text += "\n    " + f.name + " = " + m_pl + ".TilingKeyField(bits=" + std::to_string(f.bits) + ", values=[";
            for (std::size_t i = 0; i < f.values.size(); ++i) text += (i ? ", " : "") + std::to_string(f.values[i]);
            text += "])";
        }
        m_out.constants.push_back({std::move(text), at});
    }
};

} // namespace

Collected collect(const SourceMap& sources, syntax::Environment& names, const pipeline::Model& model, Diagnostics& diagnostics) {
    return Collector(sources, names, model, diagnostics).run();
}

} // namespace pto::rewrite
