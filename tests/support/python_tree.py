"""Reads a Python file with CPython's ast and prints trees and module constants as tokens for read_tree.cpp.

Output: white-space separated tokens; strings are percent-encoded behind a quote sign. Tests only: the product reads Python
through kernel/pyfront.
"""
import ast
import sys
import types


class Printer:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts = [0]
        for i, b in enumerate(data):
            if b == 10:
                self.starts.append(i + 1)
        self.out: list[str] = []

    def put(self, *items: object) -> None:
        self.out.extend(str(i) for i in items)

    def text(self, s: str) -> None:
        enc = "".join(chr(b) if 33 <= b < 127 and b not in (34, 37) else "%%%02x" % b for b in s.encode("utf-8", "surrogatepass"))
        self.out.append('"' + enc)

    def offset(self, line: int, col: int) -> int:
        return self.starts[line - 1] + col

    def span(self, n: ast.AST) -> tuple[int, int]:
        return self.offset(n.lineno, n.col_offset), self.offset(n.end_lineno, n.end_col_offset)

    def expr(self, e: ast.AST | None) -> None:
        if e is None:
            self.node("absent", (0, 0))
            return
        s = self.span(e)
        match e:
            case ast.Name():
                self.node("name", s, text=e.id)
            case ast.Constant(value=bool() as v):
                self.node("boolean", s, integer=int(v))
            case ast.Constant(value=int() as v):
                self.node("integer", s, integer=v if abs(v) < 2**63 else 0)
            case ast.Constant(value=float() as v):
                self.node("real", s, real=v)
            case ast.Constant(value=str() as v):
                self.node("string", s, text=v)
            case ast.Constant(value=None):
                self.node("none", s)
            case ast.Constant():
                self.node("ellipsis", s)
            case ast.Attribute():
                self.node("attribute", s, text=e.attr, args=[e.value])
            case ast.Subscript():
                self.node("subscript", s, args=[e.value, e.slice])
            case ast.Slice():
                self.node("slice", s, args=[e.lower, e.upper, e.step])
            case ast.Call():
                self.node("call", s, args=[e.func, *e.args], keywords=e.keywords)
            case ast.BinOp():
                self.node("binary", s, text=OPS[type(e.op)], args=[e.left, e.right])
            case ast.UnaryOp():
                self.node("unary", s, text=OPS[type(e.op)], args=[e.operand])
            case ast.Compare() if len(e.ops) == 1:
                self.node("compare", s, text=OPS[type(e.ops[0])], args=[e.left, e.comparators[0]])
            case ast.Compare():
                self.node("chain", s, args=[e.left, *e.comparators])
            case ast.BoolOp():
                self.node("logical", s, text="and" if isinstance(e.op, ast.And) else "or", args=e.values)
            case ast.IfExp():
                self.node("conditional", s, args=[e.test, e.body, e.orelse])
            case ast.Tuple():
                self.node("tuple", s, args=e.elts)
            case ast.List():
                self.node("list", s, args=e.elts)
            case ast.Starred():
                self.node("starred", s, args=[e.value])
            case _:
                self.node("other", s, text=type(e).__name__, args=[c for c in ast.iter_child_nodes(e) if isinstance(c, ast.expr)])

    def node(self, kind, span, text="", integer=0, real=0.0, args=(), keywords=()) -> None:
        self.put("(", kind, span[0], span[1])
        self.text(text)
        self.put(integer, repr(float(real)), len(args))
        for a in args:
            self.expr(a)
        self.put(len(keywords))
        for k in keywords:
            self.text(k.arg or "")
            b = self.span(k)[0]
            self.put(b, b + len((k.arg or "").encode()))
            self.expr(k.value)
        self.put(")")

    def colon_after(self, pos: int) -> int:
        i = pos
        while self.data[i] != 58:
            i += 1
            if self.data[i] == 35:
                while self.data[i] != 10:
                    i += 1
        return i + 1

    def stmt(self, st: ast.stmt, first: bool = False) -> None:
        s = self.span(st)
        kind, text, targets, value, note, body, orelse, header = "other", "", [], None, None, [], [], None
        doc = 0
        match st:
            case ast.Expr():
                kind, value = "expression", st.value
                doc = int(first and isinstance(st.value, ast.Constant) and isinstance(st.value.value, str))
            case ast.Assign():
                kind, targets, value = "assign", st.targets, st.value
            case ast.AnnAssign():
                kind, targets, value, note = "annotated", [st.target], st.value, st.annotation
            case ast.AugAssign():
                kind, targets, value, text = "augmented", [st.target], st.value, OPS[type(st.op)]
            case ast.For():
                kind, targets, value, body, orelse, header = "for", [st.target], st.iter, st.body, st.orelse, st.iter
            case ast.While():
                kind, value, body, orelse, header = "while", st.test, st.body, st.orelse, st.test
            case ast.If():
                kind, value, body, orelse, header = "if", st.test, st.body, st.orelse, st.test
            case ast.With():
                kind, targets, body, header = "with", [i.context_expr for i in st.items], st.body, st.items[-1].context_expr
            case ast.Return():
                kind, value = "return", st.value
            case ast.Break():
                kind = "break"
            case ast.Continue():
                kind = "continue"
            case ast.Pass():
                kind = "pass"
            case ast.FunctionDef():
                kind, text, body = "def", st.name, st.body
            case ast.Try():
                text, body = "Try", [*st.body, *[x for h in st.handlers for x in h.body], *st.orelse, *st.finalbody]
            case ast.ClassDef():
                text, body = "ClassDef", st.body
            case _:
                text = type(st).__name__
        h = (s[0], self.colon_after(self.span(header)[1])) if header is not None else s
        self.put("(", kind, s[0], s[1], h[0], h[1])
        self.text(text)
        self.put(doc, len(targets))
        for t in targets:
            self.expr(t)
        self.expr(value)
        self.expr(note)
        self.body(body)
        self.body(orelse)
        self.put(")")

    def body(self, stmts: list[ast.stmt]) -> None:
        self.put(len(stmts))
        for i, st in enumerate(stmts):
            self.stmt(st, i == 0)

    def function(self, f: ast.FunctionDef) -> None:
        s = self.span(f)
        begin = s[0]
        if f.decorator_list:
            begin = self.span(f.decorator_list[0])[0]
            while self.data[begin] != 64:
                begin -= 1
        name_at = self.data.index(b"def", s[0]) + 3
        while self.data[name_at] == 32:
            name_at += 1
        self.put("(")
        self.text(f.name)
        self.put(begin, s[1], name_at, name_at + len(f.name.encode()), f.col_offset)
        self.put(len(f.decorator_list))
        for d in f.decorator_list:
            self.expr(d)
        a = f.args
        positional = [*a.posonlyargs, *a.args]
        defaults = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
        params = [(p, d, 0, 0) for p, d in zip(positional, defaults)]
        if a.vararg:
            params.append((a.vararg, None, 1, 0))
        params += [(p, d, 0, 1) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        self.put(len(params))
        for p, d, star, kwonly in params:
            self.text(p.arg)
            b = self.span(p)[0]
            self.put(b, b + len(p.arg.encode()))
            self.expr(p.annotation)
            self.expr(d)
            self.put(star, kwonly)
        self.expr(f.returns)
        self.body(f.body)
        self.put(")")


OPS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
       ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**", ast.MatMult: "@", ast.UAdd: "+", ast.USub: "-", ast.Not: "not",
       ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
       ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}


class Lang:
    """Stands in for the language module: every attribute is a name of the language; decorators hand their function through."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __getattr__(self, name: str) -> "Lang":
        if name.startswith("__"):
            raise AttributeError(name)
        return Lang(self.path + "." + name)

    def __call__(self, *args, **kw):
        if len(args) == 1 and not kw and isinstance(args[0], types.FunctionType):
            return args[0]
        if self.path in ("pl.jit", "pl.kernel"):
            return lambda f: f
        return Lang(self.path + "()")

    def __getitem__(self, item):
        return Lang(self.path + "[]")


def constant(p: Printer, v: object, functions: dict) -> None:
    if v is None:
        p.put("none")
    elif isinstance(v, bool):
        p.put("bool", int(v))
    elif isinstance(v, int):
        p.put("int", v)
    elif isinstance(v, float):
        p.put("real", repr(v))
    elif isinstance(v, str):
        p.put("str")
        p.text(v)
    elif isinstance(v, Lang):
        p.put("lang")
        p.text(v.path)
    elif isinstance(v, types.FunctionType) and v.__name__ in functions:
        p.put("func")
        p.text(v.__name__)
    elif isinstance(v, (list, tuple)):
        p.put("list", int(isinstance(v, tuple)), len(v))
        for x in v:
            constant(p, x, functions)
    else:
        p.put("opaque")
        p.text(type(v).__name__)


def main() -> None:
    data = open(sys.argv[1], "rb").read()
    tree = ast.parse(data)
    p = Printer(data)
    functions = {st.name: st for st in tree.body if isinstance(st, ast.FunctionDef)}
    pl = Lang("pl")
    package, language = types.ModuleType("pypto_pro"), types.ModuleType("pypto_pro.language")
    language.__getattr__ = lambda name: getattr(pl, name)
    package.language = pl
    sys.modules.update({"pypto_pro": package, "pypto_pro.language": pl})
    scope: dict = {"__name__": "case"}
    sys.modules["case"] = types.ModuleType("case")  # dataclasses look their module up
    exec(compile("from __future__ import annotations\n" + data.decode(), sys.argv[1], "exec"), scope)
    p.put(len(functions))
    for f in functions.values():
        p.function(f)
    names = {k: v for k, v in scope.items() if not k.startswith("__") and k != "annotations"}
    lines = {}
    for st in tree.body:
        for t in getattr(st, "targets", []):
            if isinstance(t, ast.Name):
                lines[t.id] = p.span(st)
    p.put(len(names))
    for k, v in names.items():
        p.text(k)
        p.put(*lines.get(k, (-1, -1)))
        constant(p, v, functions)
    sys.stdout.write(" ".join(p.out))


main()
