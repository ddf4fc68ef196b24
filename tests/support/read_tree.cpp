#include "tests/support/read_tree.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace pto::test {
namespace {

using namespace syntax;

constexpr const char* expr_names[] = {"name",   "integer", "real",  "boolean", "string",  "none",    "ellipsis",    "attribute",
                                      "subscript", "slice", "call", "binary",  "unary",   "compare", "chain",       "logical",
                                      "conditional", "tuple", "list", "absent", "starred", "other"};
constexpr const char* stmt_names[] = {"expression", "assign", "annotated", "augmented", "for",   "while",    "if",   "with",
                                      "return",     "break",  "continue",  "pass",      "def",   "other"};

template <std::size_t N> int index_of(const char* const (&names)[N], const std::string& s) {
    for (std::size_t i = 0; i < N; ++i)
        if (s == names[i]) return int(i);
    throw std::runtime_error("unknown node " + s);
}

class Tokens {
  public:
    Tokens(const std::string& text, FileId file) : m_in(text), m_file(file) {}
    std::string word() {
        std::string s;
        if (!(m_in >> s)) throw std::runtime_error("tree ends early");
        return s;
    }
    std::int64_t number() { return std::stoll(word()); }
    std::string text() {
        std::string s = word(), out;
        for (std::size_t i = 1; i < s.size(); ++i)
            if (s[i] == '%') out += char(std::stoi(s.substr(i + 1, 2), nullptr, 16)), i += 2;
            else out += s[i];
        return out;
    }
    Span span() {
        std::int32_t b = std::int32_t(number()), e = std::int32_t(number());
        return {m_file, b, e};
    }
    void eat(const char* w) {
        if (word() != w) throw std::runtime_error(std::string("expected ") + w);
    }
    Expr expr() {
        eat("(");
        Expr e;
        e.kind = ExprKind(index_of(expr_names, word()));
        e.at = span();
        e.text = text();
        e.integer = number();
        e.real = std::strtod(word().c_str(), nullptr);
        if (e.kind == ExprKind::absent) e.at = {};
        for (std::int64_t n = number(); n-- > 0;) e.args.push_back(expr());
        for (std::int64_t n = number(); n-- > 0;) {
            Keyword k;
            k.name = text();
            k.name_at = span();
            k.value.push_back(expr());
            e.keywords.push_back(std::move(k));
        }
        eat(")");
        return e;
    }
    Body body() {
        Body b;
        for (std::int64_t n = number(); n-- > 0;) b.push_back(stmt());
        return b;
    }
    Stmt stmt() {
        eat("(");
        Stmt s;
        s.kind = StmtKind(index_of(stmt_names, word()));
        s.at = span(), s.header = span();
        s.text = text();
        s.is_docstring = number() != 0;
        for (std::int64_t n = number(); n-- > 0;) s.targets.push_back(expr());
        s.value = expr(), s.annotation = expr();
        s.body = body(), s.orelse = body();
        eat(")");
        return s;
    }
    Function function() {
        eat("(");
        Function f;
        f.name = text();
        f.at = span(), f.name_at = span();
        f.column = std::int32_t(number());
        for (std::int64_t n = number(); n-- > 0;) f.decorators.push_back(expr());
        for (std::int64_t n = number(); n-- > 0;) {
            Parameter p;
            p.name = text();
            p.at = span();
            p.annotation = expr(), p.fallback = expr();
            p.starred = number() != 0, p.keyword_only = number() != 0;
            f.parameters.push_back(std::move(p));
        }
        f.returns = expr();
        f.body = body();
        eat(")");
        return f;
    }

  private:
    std::istringstream m_in;
    FileId m_file;
};

std::string run_reader(const std::string& text) {
    char path[] = "/tmp/python_tree_XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) throw std::runtime_error("no temporary file");
    std::FILE* f = fdopen(fd, "wb");
    std::fwrite(text.data(), 1, text.size(), f);
    std::fclose(f);
    const std::string command = std::string("/usr/bin/python3 tests/support/python_tree.py ") + path + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string out;
    std::array<char, 65536> buffer;
    while (std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), n);
    const int status = pclose(pipe);
    std::remove(path);
    if (status != 0) throw std::runtime_error(out);
    return out;
}

/// A decorator's path: "pl.jit" for both @pl.jit and @pl.jit(...).
std::string decorator_path(const Expr& d) { return d.kind == ExprKind::call ? d.args.front().dotted() : d.dotted(); }

Constant constant(Tokens& t, PythonFile& file) {
    Constant c;
    const std::string kind = t.word();
    if (kind == "none") c.value = NoneValue{};
    else if (kind == "bool") c.value = t.number() != 0;
    else if (kind == "int") c.value = t.number();
    else if (kind == "real") c.value = std::strtod(t.word().c_str(), nullptr);
    else if (kind == "str") c.value = t.text();
    else if (kind == "lang") {
        const std::string path = t.text();
        std::optional<isa::DType> dtype = path.rfind("pl.DT_", 0) == 0 ? isa::find_dtype(path.substr(3)) : std::nullopt;
        if (dtype) c.value = *dtype;
        else if (path.find('(') != std::string::npos || path.find('[') != std::string::npos) c.value = Opaque{"object"};
        else c.value = LanguageName{path};
    } else if (kind == "func") {
        const std::string name = t.text();
        FunctionRef f;
        f.function = file.functions.at(name);
        f.scope = ScopeId{0};
        f.name = name;
        for (const Expr& d : f.function->decorators) {
            const std::string path = decorator_path(d);
            if (path.find("pipeline.stage") != std::string::npos) f.kind = FunctionRef::Kind::stage;
            if (path.find("vector_function") != std::string::npos) f.kind = FunctionRef::Kind::vector;
            if (path == "pl.jit" || path == "pl.kernel") f.kind = FunctionRef::Kind::kernel;
        }
        c.defined_at = f.function->at;
        c.value = std::move(f);
    } else if (kind == "list") {
        c.is_tuple = t.number() != 0;
        ConstantList list;
        for (std::int64_t n = t.number(); n-- > 0;) list.push_back(constant(t, file));
        c.value = std::move(list);
    } else if (kind == "opaque") {
        c.value = Opaque{t.text()};
    } else {
        throw std::runtime_error("unknown constant " + kind);
    }
    return c;
}

std::optional<std::int64_t> integer(const Expr& e, PythonFile& file) {
    switch (e.kind) {
    case ExprKind::integer:
    case ExprKind::boolean: return e.integer;
    case ExprKind::name: {
        auto found = file.constants.find(e.text);
        if (found == file.constants.end()) return std::nullopt;
        if (const auto* i = std::get_if<std::int64_t>(&found->second.value)) return *i;
        if (const auto* b = std::get_if<bool>(&found->second.value)) return *b;
        return std::nullopt;
    }
    case ExprKind::unary: {
        auto a = integer(e.args[0], file);
        if (!a) return std::nullopt;
        return e.text == "-" ? -*a : e.text == "not" ? std::int64_t(*a == 0) : *a;
    }
    case ExprKind::compare: {
        auto a = integer(e.args[0], file), b = integer(e.args[1], file);
        if (!a || !b) return std::nullopt;
        if (e.text == "==") return *a == *b;
        if (e.text == "!=") return *a != *b;
        if (e.text == "<") return *a < *b;
        if (e.text == ">") return *a > *b;
        return std::nullopt;
    }
    case ExprKind::call:
        if (e.args[0].dotted() == "pl.constexpr" && e.args.size() == 2) return integer(e.args[1], file);
        return std::nullopt;
    default: return std::nullopt;
    }
}

} // namespace

std::optional<Constant> PythonFile::look_up(ScopeId, const std::string& name) {
    auto found = constants.find(name);
    return found == constants.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Constant> PythonFile::member(ScopeId, const std::string& dotted) {
    const std::size_t dot = dotted.find('.');
    auto found = constants.find(dotted.substr(0, dot));
    if (found == constants.end() || dot == std::string::npos) return std::nullopt;
    const auto* language = std::get_if<LanguageName>(&found->second.value);
    if (!language) return std::nullopt;
    Constant c;
    c.value = LanguageName{language->path + dotted.substr(dot)};
    return c;
}

std::optional<Constant> PythonFile::evaluate(ScopeId, const std::string&, const std::map<std::string, Constant>&, std::string& error) {
    error = "tests do not evaluate Python";
    return std::nullopt;
}

KernelSource PythonFile::kernel(const std::string& wanted) const {
    KernelSource k;
    k.scope = ScopeId{0};
    for (const auto& [name, f] : functions) {
        if (!wanted.empty() && name != wanted) continue;
        for (const Expr& d : f->decorators) {
            if (decorator_path(d) != "pl.jit") continue;
            k.function = f;
            k.options.name = name;
            if (const Expr* e = d.keyword("auto_mutex")) k.options.auto_mutex = e->integer != 0;
            const Expr* p = d.keyword("pipeline");
            if (!p) continue;
            k.options.has_pipeline = true;
            k.options.pipeline_at = p->at;
            k.options.preload = {2};
            if (p->kind != ExprKind::call) continue;
            const Expr* preload = p->keyword("preload");
            if (!preload && p->args.size() > 1) preload = &p->args[1];
            if (preload && (preload->kind == ExprKind::list || preload->kind == ExprKind::tuple)) {
                k.options.preload_is_sequence = true;
                k.options.preload.clear();
                for (const Expr& e : preload->args) k.options.preload.push_back(e.kind == ExprKind::unary ? -e.args[0].integer : e.integer);
            } else if (preload) {
                k.options.preload = {preload->kind == ExprKind::unary ? -preload->args[0].integer : preload->integer};
            }
            if (const Expr* only = p->keyword("sync_only")) k.options.sync_only = only->integer != 0;
        }
        if (k.function) return k;
    }
    throw std::runtime_error("no kernel in this text");
}

std::unique_ptr<PythonFile> read_python(SourceMap& sources, const std::string& name, const std::string& text) {
    auto out = std::make_unique<PythonFile>();
    out->file = sources.add(name, text);
    Tokens t(run_reader(text), out->file);
    for (std::int64_t n = t.number(); n-- > 0;) {
        auto f = std::make_shared<Function>(t.function());
        out->functions.emplace(f->name, f);
    }
    for (std::int64_t n = t.number(); n-- > 0;) {
        const std::string key = t.text();
        Span at = t.span();
        Constant c = constant(t, *out);
        if (at.begin >= 0) c.defined_at = at;
        out->constants.emplace(key, std::move(c));
    }
    return out;
}

pipeline::Facts guess_facts(const KernelSource& kernel, PythonFile& file) {
    using pipeline::NameFact;
    using pipeline::ValueKind;
    pipeline::Facts facts;
    auto annotation = [&](const Expr& a) -> NameFact {
        if (a.kind == ExprKind::subscript) return {a.args[0].dotted() == "pl.Ptr" ? ValueKind::pointer : ValueKind::tensor, isa::DType::index};
        const std::string path = a.dotted();
        if (path.rfind("pl.DT_", 0) == 0)
            if (auto d = isa::find_dtype(path.substr(3))) return {ValueKind::scalar, *d};
        return {};
    };
    for (const Parameter& p : kernel.function->parameters) facts.names[p.name] = annotation(p.annotation);
    std::set<std::string> groups;
    auto value = [&](const Expr& e) -> NameFact {
        if (e.kind == ExprKind::call) {
            const std::string callee = e.args[0].dotted();
            if (callee == "pl.make_tile_group") return {ValueKind::tuple, isa::DType::index};
            if (callee == "pl.make_tuple") return {ValueKind::tuple, isa::DType::index};
            if (callee == "pl.make_tile") return {ValueKind::tile, isa::DType::index};
            if (callee == "pl.struct") return {ValueKind::structure, isa::DType::index};
            if (callee == "pl.struct_array") return {ValueKind::structure_array, isa::DType::index};
            if (callee == "pl.TileType") return {};
            const std::string& method = e.args[0].text;
            if (method == "next" || method == "current" || method == "previous") return {ValueKind::tile, isa::DType::index};
        }
        if (e.kind == ExprKind::subscript && e.args[0].kind == ExprKind::name) {
            auto found = facts.names.find(e.args[0].text);
            if (found != facts.names.end() && (found->second.kind == ValueKind::tuple || found->second.kind == ValueKind::tile)) return {ValueKind::tile, isa::DType::index};
        }
        if (e.kind == ExprKind::name)
            if (auto found = facts.names.find(e.text); found != facts.names.end()) return found->second;
        if (e.kind == ExprKind::tuple || e.kind == ExprKind::list) return {ValueKind::tuple, isa::DType::index};
        isa::DType d = isa::DType::index;
        walk(e, [&](const Expr& x) {
            if (x.kind == ExprKind::real) d = isa::DType::fp32;
            if (x.kind == ExprKind::name)
                if (auto found = facts.names.find(x.text); found != facts.names.end() && found->second.kind == ValueKind::scalar && isa::is_float(found->second.dtype)) d = found->second.dtype;
        });
        return {ValueKind::scalar, d};
    };
    walk(kernel.function->body, [&](const Stmt& st) {
        if (st.kind == StmtKind::loop && st.targets[0].kind == ExprKind::name) facts.names[st.targets[0].text] = {ValueKind::scalar, isa::DType::index};
        if ((st.kind == StmtKind::assign || st.kind == StmtKind::annotated || st.kind == StmtKind::augmented) && st.targets[0].kind == ExprKind::name) {
            NameFact f = value(st.value);
            auto found = facts.names.find(st.targets[0].text);
            if (found == facts.names.end()) facts.names.emplace(st.targets[0].text, f);
            if (f.kind == ValueKind::structure) {
                std::vector<pipeline::FieldFact> fields;
                for (const Keyword& k : st.value.keywords) {
                    const Expr& v = k.value.front();
                    pipeline::FieldFact field{k.name, value(v).dtype, 0};
                    if (v.kind == ExprKind::list) field.length = std::int32_t(v.args.size()), field.dtype = v.args.empty() ? isa::DType::index : value(v.args[0]).dtype;
                    if (v.kind == ExprKind::boolean) field.dtype = isa::DType::boolean;
                    fields.push_back(field);
                }
                facts.structs[st.targets[0].text] = fields;
            }
        }
        if (st.kind == StmtKind::branch) {
            auto v = integer(st.value, file);
            facts.if_const.emplace(st.value.at, v ? std::optional(*v != 0) : std::nullopt);
        }
    });
    return facts;
}

} // namespace pto::test
