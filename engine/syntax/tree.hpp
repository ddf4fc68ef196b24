#pragma once
/// The tree of the user's Python text: every node knows its bytes. Built by a SourceReader, changed by nobody.

#include "engine/base/span.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include <cstdint>

namespace pto::syntax {

enum class ExprKind : std::uint8_t {
    name,        // text
    integer,     // integer
    real,        // real
    boolean,     // integer 0 or 1
    string,      // text (decoded)
    none,
    ellipsis,
    attribute,   // args[0] . text
    subscript,   // args[0] [ args[1] ]          args[1] is a tuple node for several indices
    slice,       // args[0..2] lower upper step  absent parts are `absent`
    call,        // args[0] is the callee, args[1..] positional; keywords
    binary,      // args[0] op args[1]           text: + - * / // % & | ^ << >> ** @
    unary,       // op args[0]                   text: + - not ~
    compare,     // args[0] op args[1]           text: == != < <= > >= in "not in" is "is not"; chains are `chain`
    chain,       // a < b < c: args are the operands
    logical,     // args joined by text: and, or
    conditional, // args: condition, then, else
    tuple, list, // args
    absent,      // a missing optional part
    starred,     // * args[0]
    other,       // anything else; text is CPython's node class: "Lambda", "ListComp", "Dict" ...
};

struct Expr;
struct Keyword {
    std::string name; // empty for **kw
    Span name_at;
    std::vector<Expr> value; // exactly one
};

struct Expr {
    ExprKind kind = ExprKind::absent;
    Span at;
    std::string text;
    std::int64_t integer = 0;
    double real = 0;
    std::vector<Expr> args;
    std::vector<Keyword> keywords;

    const Expr* keyword(std::string_view name) const;
    /// "pl.system.sync_src" for a chain of attributes on a name; empty for anything else.
    std::string dotted() const;
};

enum class StmtKind : std::uint8_t {
    expression, // value
    assign,     // targets = value (several targets for a = b = c)
    annotated,  // targets[0] : annotation = value (value may be absent)
    augmented,  // targets[0] op= value           text: the operator
    loop,       // for targets[0] in value: body else orelse
    while_loop, // while value: body else orelse
    branch,     // if value: body else orelse      an elif is a branch alone in orelse
    with,       // with items: body                items in `targets`, bound names dropped
    ret,        // return value (absent when bare)
    break_, continue_, pass,
    function,   // a nested def; text is its name
    other,      // text is CPython's node class: "Try", "ClassDef", "Import", "Global" ...
};

struct Stmt {
    StmtKind kind = StmtKind::pass;
    Span at;        // the whole statement
    Span header;    // up to and including the colon for compound statements, else `at`
    std::string text;
    std::vector<Expr> targets;
    Expr value;
    Expr annotation;
    std::vector<Stmt> body, orelse;
    bool is_docstring = false;
};
using Body = std::vector<Stmt>;

struct Parameter {
    std::string name;
    Span at;
    Expr annotation; // absent when there is none
    Expr fallback;   // absent when there is none
    bool starred = false, keyword_only = false;
};

/// One function definition with its decorators: kernels, stages, helpers, vector functions.
struct Function {
    std::string name;
    Span at;      // decorators and body
    Span name_at;
    std::vector<Expr> decorators;
    std::vector<Parameter> parameters;
    Expr returns; // absent when there is none
    Body body;
    std::int32_t column = 0; // indentation of the definition, in bytes
};

/// Calls f(expr) for the expression and everything below it, parents first.
template <class F> void walk(const Expr& e, F&& f) {
    f(e);
    for (const Expr& a : e.args) walk(a, f);
    for (const Keyword& k : e.keywords)
        for (const Expr& v : k.value) walk(v, f);
}
/// Calls f(stmt) for each statement and everything below it, parents first.
template <class F> void walk(const Body& body, F&& f) {
    for (const Stmt& s : body) {
        f(s);
        walk(s.body, f);
        walk(s.orelse, f);
    }
}

/// The statement or expression as an indented outline, for tests and people.
std::string print(const Expr& e);
std::string print(const Body& body);

} // namespace pto::syntax
