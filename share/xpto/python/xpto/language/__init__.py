"""The language as Python objects: what `import pypto_pro.language as pl` gives when the real package is absent.

Nothing here computes. Annotations, tile types at module level, decorators and enumerations must exist as Python objects for a
file to be importable; the kernel's body is read from its text by the compiler and never runs as Python.
Source of names: the engine's enumerations and operation catalogue, so that this module cannot drift from them.
"""
from __future__ import annotations

import types
from typing import Any

from xpto import _engine, dialect
from xpto.language import _objects
from xpto.language._objects import DType, Name, Ptr, Tensor, Tile, TileType, TilingKeyField
from xpto.language._decorators import (function, inline, jit, kernel, parse, program, simt_function,
                                       stage, vector_function, PipelineConfig)

_TABLE = _engine.language_table()


def _namespace(name: str, **members: Any) -> types.ModuleType:
    """A module object for pl.system, pl.simt ...: attributes are members, then catalogue names below it."""
    module = types.ModuleType(name)
    module.__dict__.update(members)
    return module


def _fill(module_dict: dict[str, Any]) -> None:
    for text, bits in _TABLE["dtypes"]:
        module_dict[text] = DType(text, bits)
    for enum_name, members in _TABLE["enums"]:
        module_dict[enum_name] = _objects.make_enum(enum_name, members)
    for member in module_dict["TensorLayout"]:
        module_dict[member.name] = member
    names: dict[str, dict[str, Any]] = {}
    for op in _TABLE["operations"]:
        group, _, leaf = op.rpartition(".")
        names.setdefault(group, {})[leaf] = Name(f"pl.{op}" if group != "vf" else op)
    module_dict.update(names.pop("", {}))
    for group, members in names.items():
        if group != "vf":
            module_dict[group] = _namespace(f"pypto_pro.language.{group}", **members)
    for leaf in _TABLE["constructs"]:
        module_dict.setdefault(leaf, Name(f"pl.{leaf}"))
    module_dict["Vf"] = module_dict["vf"] = _objects.VectorNamespace(names.get("vf", {}))
    simt = module_dict.setdefault("simt", _namespace("pypto_pro.language.simt"))
    simt.function = simt_function
    for leaf in ("launch", "thread_idx", "block_dim", "block_idx", "grid_dim", "linear_thread_idx", "warp_size"):
        simt.__dict__.setdefault(leaf, Name(f"pl.simt.{leaf}"))
    module_dict["pipeline"] = _namespace("pypto_pro.language.pipeline", stage=stage, PipelineConfig=PipelineConfig)


_fill(globals())
STATIC = Name("pl.STATIC")
DYNAMIC = Name("pl.DYNAMIC")


class _Hint(Name):
    """pl.Scalar, pl.MemRef ...: accepted in annotations, otherwise without meaning here."""

    def __getitem__(self, item: Any) -> "_Hint":
        return self


Scalar = _Hint("pl.Scalar")
MemRef = _Hint("pl.MemRef")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in dialect.WORDS:
        raise dialect.missing_name(name)
    near = _engine.nearest_operation(name)
    hint = f"; did you mean pl.{near}?" if near else ""
    raise AttributeError(f"pypto_pro.language has no {name!r}{hint}")
