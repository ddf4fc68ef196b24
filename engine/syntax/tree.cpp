#include "engine/syntax/tree.hpp"

namespace pto::syntax {

const Expr* Expr::keyword(std::string_view name) const {
    for (const Keyword& k : keywords)
        if (k.name == name && !k.value.empty()) return &k.value.front();
    return nullptr;
}

std::string Expr::dotted() const {
    if (kind == ExprKind::name) return text;
    if (kind != ExprKind::attribute) return {};
    std::string base = args.front().dotted();
    return base.empty() ? base : base + "." + text;
}

namespace {

constexpr std::string_view expr_names[] = {"name",   "integer", "real",  "boolean", "string",  "none",    "ellipsis",    "attribute",
                                           "subscript", "slice", "call", "binary",  "unary",   "compare", "chain",       "logical",
                                           "conditional", "tuple", "list", "absent", "starred", "other"};
constexpr std::string_view stmt_names[] = {"expression", "assign", "annotated", "augmented", "for",   "while",    "if",   "with",
                                           "return",     "break",  "continue",  "pass",      "def",   "other"};

void print_to(std::string& out, const Expr& e, int depth) {
    out.append(std::size_t(depth) * 2, ' ').append(expr_names[std::size_t(e.kind)]);
    if (e.kind == ExprKind::integer || e.kind == ExprKind::boolean) out.append(" ").append(std::to_string(e.integer));
    if (e.kind == ExprKind::real) out.append(" ").append(std::to_string(e.real));
    if (!e.text.empty()) out.append(" ").append(e.text);
    out.append(" [" + std::to_string(e.at.begin) + "," + std::to_string(e.at.end) + ")\n");
    for (const Expr& a : e.args) print_to(out, a, depth + 1);
    for (const Keyword& k : e.keywords) {
        out.append(std::size_t(depth + 1) * 2, ' ').append(k.name.empty() ? "**" : k.name).append("=\n");
        for (const Expr& v : k.value) print_to(out, v, depth + 2);
    }
}

void print_to(std::string& out, const Body& body, int depth) {
    for (const Stmt& s : body) {
        out.append(std::size_t(depth) * 2, ' ').append(stmt_names[std::size_t(s.kind)]);
        if (!s.text.empty()) out.append(" ").append(s.text);
        out.append(" [" + std::to_string(s.at.begin) + "," + std::to_string(s.at.end) + ")\n");
        for (const Expr& t : s.targets) print_to(out, t, depth + 1);
        if (s.value.kind != ExprKind::absent) print_to(out, s.value, depth + 1);
        print_to(out, s.body, depth + 1);
        if (!s.orelse.empty()) {
            out.append(std::size_t(depth) * 2, ' ').append("else\n");
            print_to(out, s.orelse, depth + 1);
        }
    }
}

} // namespace

std::string print(const Expr& e) {
    std::string out;
    print_to(out, e, 0);
    return out;
}
std::string print(const Body& body) {
    std::string out;
    print_to(out, body, 0);
    return out;
}

} // namespace pto::syntax
