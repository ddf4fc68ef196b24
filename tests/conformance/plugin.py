"""A pytest plugin that runs an external checkout's system tests on the simulator, unmodified.

Everything that names a device is neutralised from outside: `torch.npu` and `torch_npu` are stand-ins, a TorchFunctionMode maps
device "npu" to the CPU, markers that select hardware are accepted. Each test's launches are counted; a test that passed without
a completed launch, or in which a hazard was reported, does not count as passed (see run.py).
"""
from __future__ import annotations

import contextlib
import json
import os
import sys
import types
from typing import Any

import pytest

import xpto
from xpto import kernel as kernels
from xpto.errors import PtoError

DEVICE_NAME = "Ascend950PR (simulated)"
_NEEDED: dict[str, str] = {}


class _Anything(types.ModuleType):
    """A module whose every member may be called and does nothing: profilers and the like."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()


class _Nothing:
    def __call__(self, *args: Any, **kwargs: Any) -> "_Nothing":
        return self

    def __getattr__(self, name: str) -> "_Nothing":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *args: Any) -> bool:
        return False


def _npu_module() -> types.ModuleType:
    npu = types.ModuleType("torch.npu")
    npu.set_device = npu.synchronize = npu.empty_cache = lambda *a, **k: None
    npu.get_device_name = lambda *a, **k: DEVICE_NAME
    npu.is_available = lambda: True
    npu.device_count = lambda: 1
    npu.current_device = lambda: 0
    npu.current_stream = lambda *a, **k: None
    npu.Stream = lambda *a, **k: None
    npu.stream = lambda *a, **k: contextlib.nullcontext()
    npu.Event = _Nothing
    return npu


def _install_torch() -> Any:
    import torch
    torch.npu = _npu_module()
    sys.modules["torch.npu"] = torch.npu
    torch_npu = _Anything("torch_npu")
    torch_npu.profiler = _Anything("torch_npu.profiler")
    torch_npu.npu_trans_quant_param = _quant_parameter
    sys.modules["torch_npu"] = torch_npu
    sys.modules["torch_npu.profiler"] = torch_npu.profiler
    torch.Tensor.npu = lambda self, *a, **k: self
    from torch.overrides import TorchFunctionMode

    def mapped(value: Any) -> Any:
        return "cpu" if isinstance(value, str) and value.split(":")[0] == "npu" else value

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, kinds: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            kwargs = dict(kwargs or {})
            if "device" in kwargs:
                kwargs["device"] = mapped(kwargs["device"])
            return func(*(mapped(a) for a in args), **kwargs)

    return Mode


def _quant_parameter(scale: Any, offset: Any = None) -> Any:
    """FP32 scales as the 64-bit descriptors of the fixpipe: the bit pattern with its low 13 mantissa bits cut, offset in bits 37-45."""
    import numpy as np
    import torch
    bits = scale.detach().cpu().numpy().astype(np.float32).view(np.uint32).astype(np.int64) & 0xFFFFE000
    if offset is not None:
        bits |= (offset.detach().cpu().numpy().astype(np.int64) & 0x1FF) << 37
    return torch.from_numpy(bits | (1 << 46))


class Launches:
    """Counts launches of one test."""

    def __init__(self) -> None:
        self.completed = self.refused = 0
        self.hazards: list[str] = []
        self.seconds = 0.0


_current = Launches()
_launch = kernels.OperatorKernel.launch


def _counted(self: Any, *args: Any, **kwargs: Any) -> Any:
    import time
    begin = time.perf_counter()
    try:
        run = _launch(self, *args, **kwargs)
    except PtoError as e:
        _current.refused += 1
        _current.hazards.append(str(e).splitlines()[0])
        raise
    finally:
        _current.seconds += time.perf_counter() - begin
    _current.completed += 1
    if run.status not in ("done", "warned"):
        _current.hazards.append(run.verdict)
    return run


kernels.OperatorKernel.launch = _counted


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soc(name): hardware generation")
    try:
        config._xpto_mode = _install_torch()
    except ImportError:
        config._xpto_mode = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    global _current
    _current = Launches()
    mode = item.config._xpto_mode
    with mode() if mode else contextlib.nullcontext():
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Any:
    outcome = yield
    report = outcome.get_result()
    target = os.environ.get("XPTO_CONFORMANCE_LOG")
    if not target or (report.when != "call" and report.outcome == "passed"):
        return
    row = {"test": item.nodeid, "when": report.when, "outcome": report.outcome, "launches": _current.completed, "refused": _current.refused,
           "hazards": _current.hazards[:3], "launch_seconds": round(_current.seconds, 3), "seconds": round(report.duration, 3),
           "why": (report.longreprtext.strip().splitlines() or [""])[-1][:300] if report.outcome != "passed" else ""}
    if call.excinfo is not None:
        row["exception"] = call.excinfo.typename
        row["why"] = f"{call.excinfo.typename}: {call.excinfo.value}"[:600]
    with open(target, "a", encoding="utf-8") as log:
        log.write(json.dumps(row) + "\n")
