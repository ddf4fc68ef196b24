"""Decorators of the language. @pl.jit makes an operator kernel; the others only mark functions."""
from __future__ import annotations

import dataclasses
import sys
import types
from typing import Any, Callable

_MARK = "__xpto_kind__"


def _mark(kind: str, **facts: Any) -> Callable[[Callable], Callable]:
    def apply(function: Callable) -> Callable:
        setattr(function, _MARK, kind)
        for key, value in facts.items():
            setattr(function, f"__xpto_{key}__", value)
        _snapshot(function, sys._getframe(2))
        return function
    return apply


def _snapshot(function: Callable, frame: types.FrameType) -> None:
    """Local names of the enclosing scope as they are when the decorator runs; module globals stay live."""
    if isinstance(function, types.FunctionType) and frame.f_locals is not frame.f_globals:
        function.__xpto_locals__ = dict(frame.f_locals)


def stage(function: Callable) -> Callable:
    """Marks a stage of the automatic cube/vector pipeline."""
    setattr(function, _MARK, "stage")
    _snapshot(function, sys._getframe(1))
    return function


def vector_function(function: Callable | None = None, *, mode: str | None = None, max_threads: int | None = None) -> Any:
    """Marks a register-level vector function (or, with mode="simt", a SIMT function)."""
    if function is None:
        return _mark("simt" if mode == "simt" else "vector", max_threads=max_threads)
    setattr(function, _MARK, "vector")
    _snapshot(function, sys._getframe(1))
    return function


def simt_function(function: Callable | None = None, *, max_threads: int | None = None) -> Any:
    """Marks a SIMT function; with max_threads it can be launched."""
    if function is None:
        return _mark("simt", max_threads=max_threads)
    setattr(function, _MARK, "simt")
    _snapshot(function, sys._getframe(1))
    return function


@dataclasses.dataclass(frozen=True)
class PipelineConfig:
    """preload: an int >= 0 for every pipeline loop, or one per loop; sync_only: the older spelling of preload=0."""

    preload: Any = 2
    sync_only: bool = False

    def __post_init__(self) -> None:
        def bad(value: Any) -> bool:
            return isinstance(value, bool) or not isinstance(value, int) or value < 0

        value = self.preload
        if isinstance(value, (list, tuple)) or (hasattr(value, "__iter__") and not isinstance(value, str)):
            items = tuple(value)
            if not items:
                raise ValueError("PTO-K0: preload: an empty sequence names no loop")
            for item in items:
                if bad(item):
                    raise ValueError(f"PTO-K0: preload: every element must be an int >= 0, got {item!r}")
            object.__setattr__(self, "preload", items)
        elif bad(value):
            raise ValueError(f"PTO-K0: preload must be an int >= 0 or a sequence of such, got {value!r}")


_JIT_KEYWORDS = {"arch", "auto_mutex", "name", "pipeline", "tiling_key", "datatype", "compile_timeout"}


def jit(target: Callable | None = None, **options: Any) -> Any:
    """Declares an operator kernel, compiled at the first launch of each variant. See `%pto_help pl.jit`."""
    unknown = sorted(set(options) - _JIT_KEYWORDS)
    if unknown:
        raise TypeError(f"pl.jit() got an unexpected keyword argument {unknown[0]!r}; it knows {', '.join(sorted(_JIT_KEYWORDS))}")
    frame = sys._getframe(1)

    def make(function: Callable) -> Any:
        from xpto.kernel import OperatorKernel, is_tile_kernel
        setattr(function, _MARK, "kernel")
        _snapshot(function, frame)
        return OperatorKernel(function, options) if is_tile_kernel(function) else function

    return make if target is None else make(target)


def kernel(target: Callable | None = None, **options: Any) -> Any:
    """Like jit, for inspection: the same object."""
    frame = sys._getframe(1)

    def make(function: Callable) -> Any:
        from xpto.kernel import OperatorKernel
        setattr(function, _MARK, "kernel")
        _snapshot(function, frame)
        return OperatorKernel(function, {k: v for k, v in options.items() if k in _JIT_KEYWORDS})

    return make if target is None else make(target)


def inline(function: Callable) -> Callable:
    """Deprecated: every plain function can be inlined."""
    return function


def function(target: Callable | None = None, **options: Any) -> Any:
    return (lambda f: f) if target is None else target


def program(target: Any) -> Any:
    raise NotImplementedError("@pl.program (classes of functions) is not part of kernels; write functions and @pl.jit")


def parse(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("pl.parse is an IR-level entry point; use xpto.compile(kernel)")
