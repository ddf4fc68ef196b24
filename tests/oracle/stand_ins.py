"""Loads the planner of an external checkout: plain Python, once what it imports from compiled code is stood in for.

Only the package folders of the checkout are named; none of its `__init__` modules runs, so nothing else of it is needed.
"""
from __future__ import annotations

import enum
import importlib
import sys
import types
from pathlib import Path
from typing import Any

PLANNER = "pypto_pro.runtime.pipeline"
_PACKAGES = ("pypto_pro", "pypto_pro.language", "pypto_pro.language.parser", "pypto_pro.runtime", PLANNER)
_MODULES = ("_stage", "config", "_cross_core_scanner", "_sync_graph", "_validate", "_analyzer", "_transformer")

MemorySpace = enum.Enum("MemorySpace", "DDR Vec Mat Left Right Acc Bias ScaleLeft ScaleRight")
PipeType = enum.Enum("PipeType", "S V M FIX MTE1 MTE2 MTE3 ALL")


class BackendCCE:
    """The pipe of an operation that does not depend on its operands."""

    @staticmethod
    def instance() -> type["BackendCCE"]:
        return BackendCCE

    @staticmethod
    def get_op_pipe(name: str) -> PipeType:
        op = name.rpartition(".")[2]
        if op.startswith(("matmul", "gemv")):
            return PipeType.M
        if op in ("getval", "setval") or op.startswith("ssbuf"):
            return PipeType.S
        return {"load": PipeType.MTE2, "insert": PipeType.MTE3, "move_fp": PipeType.FIX, "store_fp": PipeType.FIX}.get(op, PipeType.V)


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    return module


def load_planner(checkout: Path) -> types.SimpleNamespace:
    """The planner's modules by their last name. ValueError when the checkout holds none of the shape we know."""
    root = checkout / "python" / "pypto_pro"
    if not (root / "runtime" / "pipeline" / "_sync_graph.py").is_file():
        raise ValueError(f"{checkout} holds no python/pypto_pro/runtime/pipeline/_sync_graph.py")
    kept = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in ("pypto", "pypto_pro")}
    for name in kept:
        del sys.modules[name]
    try:
        for name in _PACKAGES:
            package = _module(name)
            package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
            sys.modules[name] = package
        sys.modules["pypto"] = _module("pypto")
        sys.modules["pypto.pypto_impl"] = _module("pypto.pypto_impl")
        sys.modules["pypto.pypto_impl.ir"] = _module("pypto.pypto_impl.ir", MemorySpace=MemorySpace, PipeType=PipeType)
        sys.modules["pypto.pypto_impl.backend"] = _module("pypto.pypto_impl.backend", BackendCCE=BackendCCE)
        loaded = {m: importlib.import_module(f"{PLANNER}.{m}") for m in _MODULES}
        found = types.SimpleNamespace(**loaded)
        for module, function in (("_analyzer", "analyze_pipeline"), ("_sync_graph", "build_graph"), ("_sync_graph", "plan_sync"),
                                 ("_transformer", "_prune_const_branches"), ("_transformer", "_compute_delays")):
            if not hasattr(loaded[module], function):
                raise ValueError(f"the planner of {checkout} has no {module}.{function}: its shape is not one this comparison knows")
        # what the planner imports while it runs is looked up by these names
        kept.update({n: m for n, m in sys.modules.items() if n.startswith(PLANNER + ".")})
        return found
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] in ("pypto", "pypto_pro")]:
            del sys.modules[name]
        sys.modules.update(kept)
