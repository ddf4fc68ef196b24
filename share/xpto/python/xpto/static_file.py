"""Reads a file for its kernels without running it: constants, imports and definitions only.

A statement is evaluated when it can only define something: imports (absent packages become stand-ins whose every attribute is one
too), assignments, function and class definitions. Expression statements, tests and `if __name__` blocks are not run. Kernels
inside functions are found too: the function's own assignments and definitions are evaluated in order, with its parameters unknown.
"""
from __future__ import annotations

import ast
import builtins
import linecache
import sys
import types
from pathlib import Path
from typing import Any, Iterator

from xpto import kernel as kernels


class Absent:
    """Stands for a value that cannot be known without running the file. Using it in a constant makes that constant absent."""

    def __init__(self, why: str = "unknown") -> None:
        self.__dict__["why"] = why

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(self.why)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # a decorator of an absent package leaves its function alone
        if len(args) == 1 and not kwargs and (isinstance(args[0], (types.FunctionType, type)) or isinstance(args[0], kernels.OperatorKernel)):
            return args[0]
        return Absent(self.why)

    def __getitem__(self, item: Any) -> "Absent":
        return Absent(self.why)

    def __mro_entries__(self, bases: tuple) -> tuple:
        return ()

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class _Importer:
    """`import x` inside a file: the real module when it is importable, a stand-in for what is not here."""

    def __call__(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        try:
            return builtins.__import__(name, globals, locals, fromlist, level)
        except Exception:  # an absent package, or one whose import fails for want of a device
            return Absent(f"package {name} is not here")


class StaticFile:
    """The kernels of one file. `problems` maps a name to why its definition could not be evaluated."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        text = Path(path).read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        linecache.cache[self.path] = (len(text), None, lines, self.path)
        self.problems: dict[str, str] = {}
        self.kernels: list[kernels.OperatorKernel] = []
        self.names: list[str] = []
        self.tree = ast.parse(text, self.path)
        safe = dict(vars(builtins))
        safe["__import__"] = _Importer()
        safe["print"] = lambda *a, **k: None
        self.globals: dict[str, Any] = {"__name__": Path(path).stem, "__file__": self.path, "__builtins__": safe}
        folder = str(Path(path).resolve().parent)
        sys.path.insert(0, folder)
        # the module is known while its definitions run: dataclasses look themselves up there
        module = types.ModuleType(self.globals["__name__"])
        module.__dict__.update(self.globals)
        self.globals = module.__dict__
        previous = sys.modules.get(module.__name__)
        sys.modules[module.__name__] = module
        try:
            self._evaluate(self.tree.body, self.globals, None)
            self._inside_functions(self.tree.body, {})
        finally:
            sys.path.remove(folder)
            if previous is None:
                del sys.modules[module.__name__]
            else:
                sys.modules[module.__name__] = previous

    def _evaluate(self, body: list[ast.stmt], space: dict[str, Any], local: dict[str, Any] | None) -> None:
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)) and getattr(statement, "module", "") == "__future__":
                continue
            if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.ClassDef)):
                self._run(statement, space, local)
            elif isinstance(statement, ast.If) and not self._is_main(statement.test):
                self._branch(statement, space, local)
            elif isinstance(statement, ast.Try):
                self._evaluate(statement.body, space, local)
            elif isinstance(statement, (ast.With, ast.For)) and local is not None:
                pass  # runs code: not a definition

    @staticmethod
    def _is_main(test: ast.expr) -> bool:
        return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"

    def _branch(self, statement: ast.If, space: dict[str, Any], local: dict[str, Any] | None) -> None:
        try:
            taken = eval(compile(ast.Expression(statement.test), self.path, "eval"), space, local if local is not None else space)
        except Exception:
            return
        if not isinstance(taken, Absent):
            self._evaluate(statement.body if taken else statement.orelse, space, local)

    def _run(self, statement: ast.stmt, space: dict[str, Any], local: dict[str, Any] | None) -> None:
        target = getattr(statement, "name", None)
        before = len(kernels.created)
        flags = 0x1000000 if "annotations" in self._futures() else 0
        module = ast.Module([statement], [])
        try:
            exec(compile(module, self.path, "exec", flags=flags, dont_inherit=True), space, local if local is not None else space)
        except Exception as e:  # every failure is a fact about this one definition
            if target:
                self.problems[target] = f"{type(e).__name__}: {e}"
            return
        for made in kernels.created[before:]:
            self.kernels.append(made)
            self.names.append(made.__name__)
        del kernels.created[before:]

    def _futures(self) -> set[str]:
        found = getattr(self, "_future_names", None)
        if found is None:
            found = {a.name for s in self.tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__" for a in s.names}
            self._future_names = found
        return found

    def _inside_functions(self, body: list[ast.stmt], outer: dict[str, Any]) -> None:
        """Kernels that are defined inside functions: names the function itself assigns are found, its parameters are not."""
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                self._inside_functions(statement.body, outer)
            if not isinstance(statement, ast.FunctionDef):
                continue
            if not any(isinstance(s, ast.FunctionDef) for s in ast.walk(statement) if s is not statement):
                continue
            if self._is_device_function(statement):
                continue
            local: dict[str, Any] = dict(outer)
            for parameter in (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs):
                local[parameter.arg] = Absent(f"{parameter.arg} is a parameter of {statement.name}")
            defaults = statement.args.defaults
            for parameter, default in zip(statement.args.args[len(statement.args.args) - len(defaults):], defaults):
                try:
                    local[parameter.arg] = eval(compile(ast.Expression(default), self.path, "eval"), self.globals)
                except Exception:
                    pass
            # closures: definitions see the function's names as globals of their own copy, snapshots are taken by the decorators
            space = {**self.globals, **local}
            self._evaluate(statement.body, space, None)
            self._inside_functions(statement.body, {k: v for k, v in space.items() if k not in self.globals})

    @staticmethod
    def _is_device_function(statement: ast.FunctionDef) -> bool:
        text = [ast.unparse(d) for d in statement.decorator_list]
        return any(mark in t for t in text for mark in (".jit", ".kernel", "vector_function", "simt", "pipeline.stage"))
