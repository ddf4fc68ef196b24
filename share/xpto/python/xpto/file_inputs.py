"""Data for the kernels of a file: what its xpto_inputs() makes, or arrays of the declared shapes."""
from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping

_NUMPY = {"fp32": "float32", "fp16": "float16", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16",
          "uint32": "uint32", "uint64": "uint64", "bool": "bool"}


class WrongUsage(Exception):
    """What the caller of a command must change."""


@contextlib.contextmanager
def refusals_told(command: str, kernel: str) -> Iterator[None]:
    """Ends a command whose caller or kernel is at fault: a line on standard error, exit code 2 or 1. Faults of ours pass."""
    from xpto.errors import InternalError, PtoError
    try:
        yield
    except WrongUsage as e:
        print(f"xpto {command}: {e}", file=sys.stderr)
        raise SystemExit(2) from None
    except InternalError:
        raise
    except PtoError as e:
        print(f"REFUSED  {kernel}: {e}", file=sys.stderr)
        raise SystemExit(1) from None


def kernel_of(path: str, name: str | None) -> tuple[Any, dict[str, Any]]:
    """(the kernel, the file's namespace). Its only one, or the named one."""
    from xpto.static_file import StaticFile
    if not Path(path).is_file():
        raise WrongUsage(f"no file {path}")
    try:
        file = StaticFile(path)
    except SyntaxError as e:
        raise WrongUsage(f"{path}:{e.lineno}:{e.offset}: {e.msg}") from None
    known = ", ".join(dict.fromkeys(file.names)) or "no kernel"
    chosen = [k for k in file.kernels if name is None or k.__name__ == name]
    if not chosen:
        raise WrongUsage(f"{path} has no kernel {name or ''}".rstrip() + f"; it has {known}")
    if name is None and len(set(file.names)) > 1:
        raise WrongUsage(f"{path} has several kernels: {known}; choose one with --kernel")
    return chosen[-1], file.globals


def inputs_of(kernel: Any, space: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Arguments for a launch: xpto_inputs() of the file (a tuple or a dict), else normal random numbers of the declared shapes."""
    maker = space.get("xpto_inputs")
    if callable(maker):
        made = maker()
        return ((), dict(made)) if isinstance(made, Mapping) else (tuple(made), {})
    return tuple(generated(kernel)), {}


def generated(kernel: Any) -> list[Any]:
    import numpy as np
    rng = np.random.default_rng(0)
    made = kernel.compile(tiling_key=kernel.variants()[0])
    if not made.ok:
        raise made.error()
    values = []
    for p in made.native.params():
        where = f"{kernel.__name__}({p['name']})"
        if p["kind"] == "scalar":
            raise WrongUsage(f"{where} is a scalar: define xpto_inputs() in the file, which returns the arguments")
        if p["kind"] != "tensor" or any(d["dynamic"] or d["static"] for d in p["dims"]):
            raise WrongUsage(f"{where} has no constant shape: define xpto_inputs() in the file, which returns the arguments")
        if p["dtype"] not in _NUMPY:
            raise WrongUsage(f"{where} is {p['dtype']}, which numpy lacks: define xpto_inputs() in the file, which returns the arguments")
        shape, dtype = [d["size"] for d in p["dims"]], np.dtype(_NUMPY[p["dtype"]])
        if p.get("written"):
            values.append(np.zeros(shape, dtype))
        elif dtype.kind == "f":
            values.append(rng.standard_normal(shape).astype(dtype))
        else:
            values.append(rng.integers(0, 2 if dtype.kind == "b" else 8, shape).astype(dtype))
    return values
