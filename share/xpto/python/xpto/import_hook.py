"""Stand-ins for `pypto_pro` and `pypto`, found only when the real packages are not: the finder stands last on sys.meta_path."""
from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any, Sequence

_ROOTS = ("pypto_pro", "pypto")


def _no_op(*args: Any, **kwargs: Any) -> Any:
    """A decorator (bare or called) that leaves its function alone."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


def _pypto() -> types.ModuleType:
    module = types.ModuleType("pypto")
    module.options = _no_op

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"pypto.{name}: the PyPTO-Tensor front end is not available here; "
                             "kernels of pypto_pro.language are")

    module.__getattr__ = missing
    return module


class _Exceptions(types.ModuleType):
    """The parser's error classes: every refusal of ours derives from the one base, so `pytest.raises` finds them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from xpto import errors
        return errors.upstream_class(name)


def _make(fullname: str) -> types.ModuleType:
    if fullname in ("pypto_pro.language", "pypto_pro.language.language"):
        return importlib.import_module("xpto.language")
    if fullname == "pypto":
        return _pypto()
    if fullname == "pypto_pro.runtime.tilingkey":
        module = types.ModuleType(fullname)
        module.TilingKeyField = importlib.import_module("xpto.language").TilingKeyField
        return module
    if fullname.endswith("_exceptions") or fullname.endswith(".diagnostics"):
        return _Exceptions(fullname)
    if fullname.startswith("pypto_pro.language."):
        member = getattr(importlib.import_module("xpto.language"), fullname.rpartition(".")[2], None)
        if isinstance(member, types.ModuleType):
            return member
    return types.ModuleType(fullname)


_KNOWN = {
    "pypto", "pypto_pro", "pypto_pro.language", "pypto_pro.language.system", "pypto_pro.language.pipeline",
    "pypto_pro.language.simt", "pypto_pro.language.parser", "pypto_pro.language.parser.diagnostics",
    "pypto_pro.language.parser.diagnostics._exceptions", "pypto_pro.runtime", "pypto_pro.runtime.tilingkey",
}


class _Loader(importlib.abc.Loader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _make(spec.name)
        if module.__name__ == spec.name:
            module.__xpto_standin__ = True
            module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class StandInFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if fullname == "pypto.language" and not _real_root(fullname):
            from xpto import dialect
            raise dialect.missing_module(fullname)
        if fullname in _KNOWN and not _real_root(fullname):
            return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=True)
        return None


def _real_root(fullname: str) -> bool:
    """True when the root package is installed for real: then a missing submodule is the installation's business."""
    root = sys.modules.get(fullname.partition(".")[0])
    return root is not None and not getattr(root, "__xpto_standin__", False)


def install() -> None:
    """Idempotent. Called by `import xpto`."""
    if not any(isinstance(f, StandInFinder) for f in sys.meta_path):
        sys.meta_path.append(StandInFinder())


def in_use() -> dict[str, str]:
    """package -> "stand-in" | "installed (version)" | "not imported", for `xpto doctor` and results."""
    found = {}
    for root in _ROOTS:
        module = sys.modules.get(root)
        if module is None:
            found[root] = "not imported"
        elif getattr(module, "__xpto_standin__", False):
            found[root] = "stand-in"
        else:
            found[root] = f"installed ({getattr(module, '__version__', 'unknown version')})"
    return found
