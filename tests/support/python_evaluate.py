"""Evaluates one expression among the names of a Python file, for tests: python_evaluate.py FILE REQUEST.

REQUEST holds assignments, a line of dashes, the expression. The language module is a stand-in whose attributes are names.
"""
from __future__ import annotations

import dataclasses
import re
import sys
import types


class Lang:
    def __init__(self, path: str, keywords: dict | None = None) -> None:
        self.path, self.keywords = path, keywords

    def __getattr__(self, name: str) -> "Lang":
        if name.startswith("__"):
            raise AttributeError(name)
        return Lang(self.path + "." + name)

    def __call__(self, *args, **kw):
        if len(args) == 1 and not kw and isinstance(args[0], types.FunctionType):
            return args[0]
        if self.path in ("pl.jit", "pl.kernel", "pl.simt.function"):
            return lambda f: f
        return Lang(self.path + "()", kw)

    def __getitem__(self, item):
        return Lang(self.path + "[]")

    def __eq__(self, other):
        return isinstance(other, Lang) and self.path == other.path

    def __hash__(self):
        return hash(self.path)

    def get_bit(self):
        return int(re.search(r"\d+", self.path).group())


def show(v) -> str:
    if v is None:
        return "none"
    if isinstance(v, bool):
        return f"bool {int(v)}"
    if isinstance(v, int):
        return f"int {v}"
    if isinstance(v, float):
        return f"real {v!r}"
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, Lang) and v.path == "pl.TileType()":
        return f"call pl.TileType {len(v.keywords)} " + "\n".join(k + " " + show(x) + "\n" for k, x in v.keywords.items())
    if isinstance(v, Lang):
        return "lang " + v.path
    if isinstance(v, (list, tuple)):
        return f"list {int(isinstance(v, tuple))} {len(v)} " + "\n".join(show(x) + "\n" for x in v)
    if dataclasses.is_dataclass(v) and isinstance(v, type):
        fields, error = [], "-"
        for name, kind in v.__annotations__.items():
            m = re.fullmatch(r"(int|float|bool)(?:\[(\d+)\])?", str(getattr(kind, "__name__", kind)))
            if not m:
                error = f"field {name} is {kind}"
                continue
            fields.append(f"{name} {m[1]} {m[2] or 0}")
        return f"tiling {v.__name__} {len(fields)} " + " ".join(fields) + "\n" + error
    if isinstance(v, type):
        keys = [(n, f) for n, f in vars(v).items() if isinstance(f, Lang) and f.path == "pl.TilingKeyField()"]
        if keys:
            return f"key {v.__name__} {len(keys)} " + " ".join(
                f"{n} {f.keywords['bits']} {len(f.keywords['values'])} " + " ".join(map(str, f.keywords["values"])) for n, f in keys)
    return "opaque " + type(v).__name__


def main() -> None:
    pl = Lang("pl")
    package, language = types.ModuleType("pypto_pro"), types.ModuleType("pypto_pro.language")
    language.__getattr__ = lambda name: getattr(pl, name)
    package.language = pl
    sys.modules.update({"pypto_pro": package, "pypto_pro.language": pl})
    case = sys.modules["case"] = types.ModuleType("case")
    scope = case.__dict__
    text = open(sys.argv[1], encoding="utf-8").read()
    exec(compile("from __future__ import annotations\n" + text, sys.argv[1], "exec"), scope)
    names, expression = open(sys.argv[2], encoding="utf-8").read().split("----\n", 1)
    scope["pl"] = pl
    try:
        exec(names, scope)
        print(show(eval(expression, scope)))
    except Exception as e:
        print(f"error {type(e).__name__}: {e}")


main()
