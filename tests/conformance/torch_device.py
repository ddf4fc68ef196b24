"""What stands for the accelerator: `torch.npu`, `torch_npu`, and a TorchFunctionMode that runs everything on the CPU.

The CPU build of an older torch lacks some operations of half and bfloat16; those are computed in float32 and rounded.
"""
from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

DEVICE_NAME = "Ascend950PR (simulated)"
ND_FORMAT = 2


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


def _quant_parameter(scale: Any, offset: Any = None) -> Any:
    """FP32 scales as the 64-bit descriptors of the fixpipe: the bit pattern with its low 13 mantissa bits cut, offset in bits 37-45."""
    import numpy as np
    import torch
    bits = scale.detach().cpu().numpy().astype(np.float32).view(np.uint32).astype(np.int64) & 0xFFFFE000
    if offset is not None:
        bits |= (offset.detach().cpu().numpy().astype(np.int64) & 0x1FF) << 37
    return torch.from_numpy(bits | (1 << 46))


def _format_cast(tensor: Any, code: int) -> Any:
    """A tensor that says it has the format. Its bytes stay as they are: a kernel's NZ parameter says how they are read."""
    result = tensor.clone()
    result.npu_format = code
    return result


def _on_cpu(value: Any) -> Any:
    return "cpu" if isinstance(value, str) and value.split(":")[0] == "npu" else value


def _narrow(dtype: Any) -> bool:
    import torch
    return dtype in (torch.float16, torch.bfloat16)


def _widened(value: Any, seen: set[Any]) -> Any:
    import torch
    if isinstance(value, torch.Tensor) and _narrow(value.dtype):
        seen.add(value.dtype)
        return value.float()
    if isinstance(value, (list, tuple)):
        return type(value)(_widened(v, seen) for v in value)
    return value


def _rounded(value: Any, dtype: Any) -> Any:
    import torch
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.to(dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_rounded(v, dtype) for v in value)
    return value


def _in_float32(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The operation in float32, its result rounded to the operands' (or the asked) half type."""
    import torch
    seen: set[Any] = set()
    args = tuple(_widened(a, seen) for a in args)
    kwargs = {k: _widened(v, seen) for k, v in kwargs.items()}
    if _narrow(kwargs.get("dtype")):
        seen.add(kwargs["dtype"])
        kwargs["dtype"] = torch.float32
    result = function(*args, **kwargs)
    return _rounded(result, next(iter(seen))) if len(seen) == 1 else result


def install() -> Any:
    """Puts the stand-ins in place and returns the mode's class; ImportError without torch."""
    import torch
    torch.npu = _npu_module()
    sys.modules["torch.npu"] = torch.npu
    torch_npu = _Anything("torch_npu")
    torch_npu.profiler = _Anything("torch_npu.profiler")
    torch_npu.npu_trans_quant_param = _quant_parameter
    torch_npu.npu_format_cast = _format_cast
    torch_npu.get_npu_format = lambda tensor: getattr(tensor, "npu_format", ND_FORMAT)
    sys.modules["torch_npu"] = torch_npu
    sys.modules["torch_npu.profiler"] = torch_npu.profiler
    torch.Tensor.npu = lambda self, *a, **k: self
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, kinds: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            args = tuple(_on_cpu(a) for a in args)
            kwargs = {k: _on_cpu(v) if k == "device" else v for k, v in (kwargs or {}).items()}
            try:
                return func(*args, **kwargs)
            except RuntimeError as e:
                if "not implemented for 'Half'" not in str(e) and "not implemented for 'BFloat16'" not in str(e):
                    raise
                return _in_float32(func, args, kwargs)

    return Mode
