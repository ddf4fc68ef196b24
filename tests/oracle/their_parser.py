"""Runs the parser of an external checkout over texts: the checkout's own Python, with stand-ins of ours for its compiled tree and its launcher."""
from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import sys
import types
from pathlib import Path
from typing import Any, Iterator

import ir_stand_ins
from stand_ins import BackendCCE

_NAMES = ("pypto", "pypto_pro")


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


class _Numbers:
    """Error codes by any name, each a number of its own."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._given.setdefault(name, 1000 + len(self._given))


class _Error(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)


class TheirParser:
    """accepts(text) for one checkout. ImportError or ValueError when the checkout is not of the shape we know."""

    def __init__(self, checkout: Path) -> None:
        root = checkout / "python" / "pypto_pro"
        if not (root / "language" / "parser" / "_ast_parser.py").is_file():
            raise ValueError(f"{checkout} holds no python/pypto_pro/language/parser/_ast_parser.py")
        self._modules: dict[str, types.ModuleType] = {}
        with self._swapped():
            impl = _module("pypto.pypto_impl", ir=ir_stand_ins, InternalError=type("InternalError", (Exception,), {}), ExternalError=_Numbers())
            _module("pypto.error", PyptoError=_Error)
            _module("pypto", pypto_impl=impl, ir=ir_stand_ins).__path__ = []
            sys.modules["pypto.pypto_impl.ir"] = sys.modules["pypto.ir"] = ir_stand_ins
            for part in ("backend", "codegen", "logging"):
                setattr(impl, part, _module(f"pypto.pypto_impl.{part}", BackendCCE=BackendCCE))
            # the launcher asks for torch and a compiler; what it decorates with is all that a text needs
            package = _module("pypto_pro")
            package.__path__ = [str(root)]
            pipeline = _module("pypto_pro.runtime.pipeline")
            pipeline.__path__ = [str(root / "runtime" / "pipeline")]
            runtime = _module("pypto_pro.runtime", jit=self._jit, kernel=self._jit, KernelDef=type("KernelDef", (), {}), pipeline=pipeline)
            runtime.__path__ = [str(root / "runtime")]
            pipeline.stage = importlib.import_module("pypto_pro.runtime.pipeline._stage").stage
            pipeline.PipelineConfig = importlib.import_module("pypto_pro.runtime.pipeline.config").PipelineConfig
            importlib.import_module("pypto_pro.ir")
            importlib.import_module("pypto_pro.language")
            kernel = importlib.import_module("pypto_pro.runtime.kernel")
            self._extract = kernel.extract_func_source_info
            self._kernel_def = kernel.KernelDef
            self.error = importlib.import_module("pypto_pro.language.parser.diagnostics").ParserError
        self._made: list[tuple[Any, dict[str, Any]]] = []

    @contextlib.contextmanager
    def _swapped(self) -> Iterator[None]:
        """Their packages under their names, ours back afterwards."""
        kept = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in _NAMES}
        for name in kept:
            del sys.modules[name]
        sys.modules.update(self._modules)
        arch = os.environ.get("PYPTOPRO_JIT_ARCH")
        os.environ["PYPTOPRO_JIT_ARCH"] = "a5"  # its layouts depend on it; our case files are for the 950
        try:
            yield
        finally:
            os.environ.pop("PYPTOPRO_JIT_ARCH")
            if arch is not None:
                os.environ["PYPTOPRO_JIT_ARCH"] = arch
            self._modules = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in _NAMES}
            for name in self._modules:
                del sys.modules[name]
            sys.modules.update(kept)

    def _jit(self, function: Any = None, **options: Any) -> Any:
        def note(f: Any) -> Any:
            self._made.append((f, options))
            return f
        return note(function) if function is not None else note

    def refusal(self, text: str, constants: dict[str, Any] | None = None) -> str:
        """What their parser says against the text's kernels, for both cores; empty when it takes them."""
        name = f"<their parser {id(text)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"__name__": "generated"}
        self._made.clear()
        with self._swapped():
            try:
                exec(compile(text, name, "exec", dont_inherit=True), space)
                if not self._made:
                    return "the text declares no kernel"
                for f, options in self._made:
                    source = self._extract(f)
                    made = self._kernel_def(f, *source, closure_vars=space, name=None, func_type=ir_stand_ins.FunctionType.Opaque, strict_ssa=False, meta_data=None,
                                            auto_mutex=options.get("auto_mutex", False), tilingkey_consts=constants)
                    for target in (ir_stand_ins.SectionKind.Cube, ir_stand_ins.SectionKind.Vector):
                        made.parse_target_program(target)
            except Exception as e:
                return " ".join(f"{type(e).__name__}: {e}".splitlines()[0].split())
            finally:
                linecache.cache.pop(name, None)
        return ""
