"""xeus-pto from Python: compile, run and examine PyPTO Pro kernels without a notebook.

    import xpto
    import pypto_pro.language as pl      # a stand-in unless the real toolkit is installed
    result = xpto.compile(kernel, preload=2)
"""
from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from xpto import import_hook

# function -> the module that has it, loaded at first use: starting the kernel must not wait for what a session may never call
_FUNCTIONS = {
    "compile": "xpto.kernel",
    "run": "xpto.kernel",
    "load": "xpto.sources",
    "compare": "xpto.compare",
    "compare_growth": "xpto.compare",
    "tune": "xpto.tune",
    "profile": "xpto.profile",
    "devices": "xpto.places",
    "register_op": "xpto.torch_op",
    "Stream": "xpto.device_stream",
    "PtoError": "xpto.errors",
    "CompileError": "xpto.errors",
    "LaunchError": "xpto.errors",
    "HazardError": "xpto.errors",
    "InternalError": "xpto.errors",
}

import_hook.install()


class _Package(types.ModuleType):
    """Importing xpto.compare, the file, must not hide xpto.compare, the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _FUNCTIONS and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from xpto import _engine
        return _engine.version()
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'xpto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_FUNCTIONS, "__version__"])
