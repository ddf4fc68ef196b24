#include "kernel/pyfront/convert.hpp"

#include <algorithm>
#include <unordered_map>

namespace xpto::pyfront {

namespace py = pybind11;
using namespace pto::syntax;

namespace {

enum class Node : std::uint8_t {
    name, constant, attribute, subscript, slice, call, bin_op, unary_op, compare, bool_op, if_exp, tuple, list, starred, index,
    expr, assign, ann_assign, aug_assign, for_, while_, if_, with, return_, break_, continue_, pass, function, other
};

/// Attribute names as Python strings and node classes by address: looked up once a process.
struct Names {
    std::unordered_map<PyTypeObject*, Node> nodes;
    std::unordered_map<PyTypeObject*, const char*> operators;
    std::vector<PyObject*> kept;
    PyObject *id, *value, *attr, *slice, *lower, *upper, *step, *func, *args, *keywords, *arg, *left, *right, *op, *operand, *ops,
        *comparators, *values, *test, *body, *orelse, *elts, *targets, *target, *annotation, *iter, *items, *context_expr, *name,
        *decorator_list, *returns, *posonlyargs, *kwonlyargs, *vararg, *kwarg, *defaults, *kw_defaults, *lineno, *col_offset, *end_lineno,
        *end_col_offset;

    Names() {
        py::module_ ast = py::module_::import("ast");
        auto node = [&](const char* text, Node n) { nodes.emplace(reinterpret_cast<PyTypeObject*>(keep(ast.attr(text))), n); };
        node("Name", Node::name), node("Constant", Node::constant), node("Attribute", Node::attribute), node("Subscript", Node::subscript);
        node("Slice", Node::slice), node("Call", Node::call), node("BinOp", Node::bin_op), node("UnaryOp", Node::unary_op);
        node("Compare", Node::compare), node("BoolOp", Node::bool_op), node("IfExp", Node::if_exp), node("Tuple", Node::tuple);
        node("List", Node::list), node("Starred", Node::starred), node("Expr", Node::expr), node("Assign", Node::assign);
        node("AnnAssign", Node::ann_assign), node("AugAssign", Node::aug_assign), node("For", Node::for_), node("While", Node::while_);
        node("If", Node::if_), node("With", Node::with), node("Return", Node::return_), node("Break", Node::break_);
        node("Continue", Node::continue_), node("Pass", Node::pass), node("FunctionDef", Node::function);
        auto oper = [&](const char* text, const char* sign) {
            operators.emplace(reinterpret_cast<PyTypeObject*>(keep(ast.attr(text))), sign);
        };
        oper("Add", "+"), oper("Sub", "-"), oper("Mult", "*"), oper("Div", "/"), oper("FloorDiv", "//"), oper("Mod", "%"), oper("Pow", "**");
        oper("LShift", "<<"), oper("RShift", ">>"), oper("BitOr", "|"), oper("BitXor", "^"), oper("BitAnd", "&"), oper("MatMult", "@");
        oper("UAdd", "+"), oper("USub", "-"), oper("Not", "not"), oper("Invert", "~"), oper("And", "and"), oper("Or", "or");
        oper("Eq", "=="), oper("NotEq", "!="), oper("Lt", "<"), oper("LtE", "<="), oper("Gt", ">"), oper("GtE", ">="), oper("Is", "is");
        oper("IsNot", "is not"), oper("In", "in"), oper("NotIn", "not in");
#define XPTO_INTERN(x) x = PyUnicode_InternFromString(#x);
        XPTO_INTERN(id) XPTO_INTERN(value) XPTO_INTERN(attr) XPTO_INTERN(slice) XPTO_INTERN(lower) XPTO_INTERN(upper) XPTO_INTERN(step)
        XPTO_INTERN(func) XPTO_INTERN(args) XPTO_INTERN(keywords) XPTO_INTERN(arg) XPTO_INTERN(left) XPTO_INTERN(right) XPTO_INTERN(op)
        XPTO_INTERN(operand) XPTO_INTERN(ops) XPTO_INTERN(comparators) XPTO_INTERN(values) XPTO_INTERN(test) XPTO_INTERN(body)
        XPTO_INTERN(orelse) XPTO_INTERN(elts) XPTO_INTERN(targets) XPTO_INTERN(target) XPTO_INTERN(annotation) XPTO_INTERN(iter)
        XPTO_INTERN(items) XPTO_INTERN(context_expr) XPTO_INTERN(name) XPTO_INTERN(decorator_list) XPTO_INTERN(returns)
        XPTO_INTERN(posonlyargs) XPTO_INTERN(kwonlyargs) XPTO_INTERN(vararg) XPTO_INTERN(kwarg) XPTO_INTERN(defaults)
        XPTO_INTERN(kw_defaults) XPTO_INTERN(lineno) XPTO_INTERN(col_offset) XPTO_INTERN(end_lineno) XPTO_INTERN(end_col_offset)
#undef XPTO_INTERN
    }
    PyObject* keep(py::object o) {
        kept.push_back(o.release().ptr());
        return kept.back();
    }
    Node kind(PyObject* n) const {
        auto found = nodes.find(Py_TYPE(n));
        return found == nodes.end() ? Node::other : found->second;
    }
    const char* sign(PyObject* n) const {
        auto found = operators.find(Py_TYPE(n));
        return found == operators.end() ? "?" : found->second;
    }
};

const Names& names() {
    static const Names* n = new Names; // never destroyed: its objects must not outlive the interpreter's end
    return *n;
}

/// Owned attribute; None and absence both give null.
struct Attr {
    PyObject* o;
    Attr(PyObject* node, PyObject* name) : o(PyObject_GetAttr(node, name)) {
        if (!o) PyErr_Clear();
        if (o == Py_None) {
            Py_DECREF(o);
            o = nullptr;
        }
    }
    ~Attr() { Py_XDECREF(o); }
    Attr(const Attr&) = delete;
    Attr& operator=(const Attr&) = delete;
    operator PyObject*() const { return o; }
};

std::string text_of(PyObject* unicode) {
    if (!unicode || !PyUnicode_Check(unicode)) return {};
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(unicode, &size);
    if (!data) { // a lone surrogate: keep the rest
        PyErr_Clear();
        py::object bytes = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(unicode, "utf-8", "replace"));
        return bytes ? std::string(PyBytes_AS_STRING(bytes.ptr())) : std::string{};
    }
    return std::string(data, std::size_t(size));
}

template <class F> void each(PyObject* list, F&& f) {
    if (!list || !PyList_Check(list)) return;
    for (Py_ssize_t i = 0, n = PyList_GET_SIZE(list); i < n; ++i) f(PyList_GET_ITEM(list, i));
}

std::int32_t int_of(PyObject* node, PyObject* name) {
    Attr v(node, name);
    return v.o ? std::int32_t(PyLong_AsLong(v.o)) : 0;
}

void constant(PyObject* node, Expr& e) {
    PyObject* raw = PyObject_GetAttr(node, names().value);
    py::object value = py::reinterpret_steal<py::object>(raw);
    PyObject* v = value.ptr();
    if (v == Py_None) {
        e.kind = ExprKind::none;
    } else if (v == Py_Ellipsis) {
        e.kind = ExprKind::ellipsis;
    } else if (PyBool_Check(v)) {
        e.kind = ExprKind::boolean;
        e.integer = v == Py_True;
    } else if (PyLong_Check(v)) {
        int overflow = 0;
        e.kind = ExprKind::integer;
        e.integer = PyLong_AsLongLongAndOverflow(v, &overflow);
        if (overflow) {
            std::uint64_t low = PyLong_AsUnsignedLongLongMask(v);
            e.integer = std::int64_t(low);
            e.text = "wide"; // does not fit 64 bits signed; the resolver refuses what it cannot represent
        }
    } else if (PyFloat_Check(v)) {
        e.kind = ExprKind::real;
        e.real = PyFloat_AS_DOUBLE(v);
    } else if (PyUnicode_Check(v)) {
        e.kind = ExprKind::string;
        e.text = text_of(v);
    } else {
        e.kind = ExprKind::other;
        e.text = Py_TYPE(v)->tp_name;
    }
}

} // namespace

Converter::Converter(const pto::SourceMap& sources, pto::FileId file)
    : m_lines(sources.file(file).line_starts), m_file(file), m_text(sources.file(file).text) {}

std::int32_t Converter::offset(PyObject* node, PyObject* line_name, PyObject* column_name) const {
    std::int32_t line = int_of(node, line_name), column = int_of(node, column_name);
    if (line <= 0) return 0;
    if (std::size_t(line) > m_lines.size()) return std::int32_t(m_text.size());
    return std::min(m_lines[std::size_t(line - 1)] + column, std::int32_t(m_text.size()));
}

pto::Span Converter::span(PyObject* node) const {
    const Names& n = names();
    return {m_file, offset(node, n.lineno, n.col_offset), offset(node, n.end_lineno, n.end_col_offset)};
}

Expr Converter::expression(PyObject* node) const {
    Expr e;
    if (!node) return e;
    const Names& n = names();
    e.at = span(node);
    auto add = [&](PyObject* child) { e.args.push_back(expression(child)); };
    switch (n.kind(node)) {
    case Node::name: e.kind = ExprKind::name, e.text = text_of(Attr(node, n.id)); break;
    case Node::constant: constant(node, e); break;
    case Node::attribute:
        e.kind = ExprKind::attribute;
        e.text = text_of(Attr(node, n.attr));
        add(Attr(node, n.value));
        break;
    case Node::subscript:
        e.kind = ExprKind::subscript;
        e.args.reserve(2);
        add(Attr(node, n.value));
        add(Attr(node, n.slice));
        break;
    case Node::slice:
        e.kind = ExprKind::slice;
        for (PyObject* part : {n.lower, n.upper, n.step}) add(Attr(node, part));
        break;
    case Node::call: {
        e.kind = ExprKind::call;
        Attr args(node, n.args), keywords(node, n.keywords);
        e.args.reserve(1 + (args.o ? std::size_t(PyList_GET_SIZE(args.o)) : 0));
        add(Attr(node, n.func));
        each(args, add);
        each(keywords, [&](PyObject* k) {
            Keyword key;
            key.name = text_of(Attr(k, n.arg));
            pto::Span whole = span(k);
            key.name_at = {m_file, whole.begin, whole.begin + std::int32_t(key.name.size())};
            key.value.push_back(expression(Attr(k, n.value)));
            e.keywords.push_back(std::move(key));
        });
        break;
    }
    case Node::bin_op:
        e.kind = ExprKind::binary;
        e.text = n.sign(Attr(node, n.op));
        e.args.reserve(2);
        add(Attr(node, n.left));
        add(Attr(node, n.right));
        break;
    case Node::unary_op:
        e.kind = ExprKind::unary;
        e.text = n.sign(Attr(node, n.op));
        add(Attr(node, n.operand));
        break;
    case Node::compare: {
        Attr ops(node, n.ops), rest(node, n.comparators);
        e.kind = PyList_GET_SIZE(ops.o) == 1 ? ExprKind::compare : ExprKind::chain;
        e.text = n.sign(PyList_GET_ITEM(ops.o, 0));
        add(Attr(node, n.left));
        each(rest, add);
        break;
    }
    case Node::bool_op:
        e.kind = ExprKind::logical;
        e.text = n.sign(Attr(node, n.op));
        each(Attr(node, n.values), add);
        break;
    case Node::if_exp:
        e.kind = ExprKind::conditional;
        for (PyObject* part : {n.test, n.body, n.orelse}) add(Attr(node, part));
        break;
    case Node::tuple: e.kind = ExprKind::tuple, each(Attr(node, n.elts), add); break;
    case Node::list: e.kind = ExprKind::list, each(Attr(node, n.elts), add); break;
    case Node::starred: e.kind = ExprKind::starred, add(Attr(node, n.value)); break;
    default:
        e.kind = ExprKind::other;
        e.text = Py_TYPE(node)->tp_name;
        if (std::size_t dot = e.text.rfind('.'); dot != std::string::npos) e.text.erase(0, dot + 1);
    }
    return e;
}

Body Converter::body(PyObject* list) const {
    Body out;
    if (list && PyList_Check(list)) out.reserve(std::size_t(PyList_GET_SIZE(list)));
    each(list, [&](PyObject* s) { out.push_back(statement(s)); });
    return out;
}

Stmt Converter::statement(PyObject* node) const {
    const Names& n = names();
    Stmt s;
    s.at = s.header = span(node);
    auto up_to = [&](const Expr& last) { // and including the colon, which no node holds; a comment in a bracket may hold another one
        std::size_t at = std::size_t(last.at.end);
        while (at < m_text.size() && m_text[at] != ':') at = m_text[at] == '#' ? std::min(m_text.find('\n', at), m_text.size()) : at + 1;
        s.header.end = std::int32_t(std::min(at + 1, m_text.size()));
    };
    switch (n.kind(node)) {
    case Node::expr:
        s.kind = StmtKind::expression;
        s.value = expression(Attr(node, n.value));
        s.is_docstring = s.value.kind == ExprKind::string;
        break;
    case Node::assign:
        s.kind = StmtKind::assign;
        each(Attr(node, n.targets), [&](PyObject* t) { s.targets.push_back(expression(t)); });
        s.value = expression(Attr(node, n.value));
        break;
    case Node::ann_assign:
        s.kind = StmtKind::annotated;
        s.targets.push_back(expression(Attr(node, n.target)));
        s.annotation = expression(Attr(node, n.annotation));
        s.value = expression(Attr(node, n.value));
        break;
    case Node::aug_assign:
        s.kind = StmtKind::augmented;
        s.targets.push_back(expression(Attr(node, n.target)));
        s.text = n.sign(Attr(node, n.op));
        s.value = expression(Attr(node, n.value));
        break;
    case Node::for_:
        s.kind = StmtKind::loop;
        s.targets.push_back(expression(Attr(node, n.target)));
        s.value = expression(Attr(node, n.iter));
        up_to(s.value);
        s.body = body(Attr(node, n.body));
        s.orelse = body(Attr(node, n.orelse));
        break;
    case Node::while_:
    case Node::if_:
        s.kind = n.kind(node) == Node::if_ ? StmtKind::branch : StmtKind::while_loop;
        s.value = expression(Attr(node, n.test));
        up_to(s.value);
        s.body = body(Attr(node, n.body));
        s.orelse = body(Attr(node, n.orelse));
        break;
    case Node::with:
        s.kind = StmtKind::with;
        each(Attr(node, n.items), [&](PyObject* item) { s.targets.push_back(expression(Attr(item, n.context_expr))); });
        if (!s.targets.empty()) up_to(s.targets.back());
        s.body = body(Attr(node, n.body));
        break;
    case Node::return_:
        s.kind = StmtKind::ret;
        s.value = expression(Attr(node, n.value));
        break;
    case Node::break_: s.kind = StmtKind::break_; break;
    case Node::continue_: s.kind = StmtKind::continue_; break;
    case Node::pass: s.kind = StmtKind::pass; break;
    case Node::function:
        s.kind = StmtKind::function;
        s.text = text_of(Attr(node, n.name));
        s.body = body(Attr(node, n.body));
        break;
    default:
        s.kind = StmtKind::other;
        s.text = Py_TYPE(node)->tp_name;
        if (std::size_t dot = s.text.rfind('.'); dot != std::string::npos) s.text.erase(0, dot + 1);
    }
    return s;
}

void Converter::arguments(PyObject* node, Function& f) const {
    const Names& n = names();
    Attr args(node, n.args);
    std::vector<PyObject*> plain; // borrowed, kept alive by the tree
    auto parameter = [&](PyObject* a) {
        Parameter p;
        p.name = text_of(Attr(a, n.arg));
        p.at = span(a);
        p.at.end = p.at.begin + std::int32_t(p.name.size());
        p.annotation = expression(Attr(a, n.annotation));
        return p;
    };
    each(Attr(args, n.posonlyargs), [&](PyObject* a) { f.parameters.push_back(parameter(a)); });
    each(Attr(args, n.args), [&](PyObject* a) { f.parameters.push_back(parameter(a)); });
    Attr defaults(args, n.defaults);
    if (defaults.o) {
        std::size_t count = std::size_t(PyList_GET_SIZE(defaults.o)), first = f.parameters.size() - count;
        for (std::size_t i = 0; i < count; ++i) f.parameters[first + i].fallback = expression(PyList_GET_ITEM(defaults.o, Py_ssize_t(i)));
    }
    for (PyObject* which : {n.vararg, n.kwarg})
        if (Attr a(args, which); a.o) {
            f.parameters.push_back(parameter(a));
            f.parameters.back().starred = true;
        }
    each(Attr(args, n.kwonlyargs), [&](PyObject* a) {
        f.parameters.push_back(parameter(a));
        f.parameters.back().keyword_only = true;
    });
}

Function Converter::function(PyObject* node) const {
    const Names& n = names();
    Function f;
    f.name = text_of(Attr(node, n.name));
    f.at = span(node);
    f.column = int_of(node, n.col_offset);
    f.name_at = {m_file, f.at.begin + 4, f.at.begin + 4 + std::int32_t(f.name.size())}; // behind "def "
    each(Attr(node, n.decorator_list), [&](PyObject* d) { f.decorators.push_back(expression(d)); });
    if (!f.decorators.empty()) f.at.begin = f.decorators.front().at.begin - 1; // the @ sign
    arguments(node, f);
    f.returns = expression(Attr(node, n.returns));
    f.body = body(Attr(node, n.body));
    return f;
}

} // namespace xpto::pyfront
