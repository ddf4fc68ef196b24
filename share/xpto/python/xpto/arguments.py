"""Launch arguments: numpy arrays and torch CPU tensors as (address, bytes, shape, dtype), one clear rule for each misfit.

Rules, in the order they are checked (LaunchTypeError for kinds and dtypes, LaunchError for shapes and memory):
  None            a null address; dynamic sizes read as 0; only for tensors and pointers
  dtype           equal to the declared one; bfloat16 from torch or ml_dtypes; 8-bit floats from torch or as uint8; uint16 and
                  uint32 also as signed arrays of the same width, for torch had no other for long; pl.Ptr[pl.DT_UINT8] takes any
  rank, sizes     equal to the declaration; pl.DYNAMIC and pl.STATIC take what comes, STATIC must be positive
  contiguous      row-major without gaps; a view with strides is refused with the call that copies it
  read-only       accepted where the kernel only reads
  zero-size       accepted; loops over the dimension run zero times
  aliased         two arguments over the same memory are one memory for the kernel too
"""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Sequence

from xpto.errors import LaunchError, LaunchTypeError

_NUMPY_NAMES = {
    "float16": "fp16", "float32": "fp32", "bfloat16": "bf16", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "bool": "bool", "float8_e4m3fn": "fp8e4m3",
    "float8_e5m2": "fp8e5m2", "float8_e8m0fnu": "fp8e8m0",
}
# storage types that no host library spells: they travel as bytes of this type
_AS_BYTES = {"fp8e4m3", "fp8e5m2", "fp8e8m0", "fp4e2m1", "fp4e1m2", "hf8"}
_AS_SIGNED = {"uint16": "int16", "uint32": "int32"}


@dataclasses.dataclass(frozen=True)
class HostArray:
    """Memory of one tensor or pointer argument. `owner` keeps it alive."""

    address: int
    nbytes: int
    shape: tuple[int, ...]
    dtype: str
    writable: bool
    owner: Any = dataclasses.field(repr=False, compare=False)


def host_array(value: Any, where: str) -> HostArray:
    """The memory behind a numpy array or a torch tensor on the CPU. Anything else is refused."""
    if hasattr(value, "__xpto_host__"):
        value = value.__xpto_host__()
    if hasattr(value, "data_ptr") and hasattr(value, "is_contiguous"):
        if value.device.type not in ("cpu",):
            raise LaunchTypeError(f"{where}: a tensor on {value.device}; the simulator takes CPU tensors: pass x.cpu()")
        if not value.is_contiguous():
            raise LaunchError(f"{where}: the tensor is not contiguous (strides {tuple(value.stride())}); pass x.contiguous()")
        dtype = str(value.dtype).removeprefix("torch.")
        return HostArray(value.data_ptr(), value.numel() * value.element_size(), tuple(value.shape), _NUMPY_NAMES.get(dtype, dtype), True, value)
    interface = getattr(value, "__array_interface__", None)
    if interface is None:
        raise LaunchTypeError(f"{where}: expected a numpy array or a torch tensor, got {type(value).__name__}")
    if not value.flags.c_contiguous:
        raise LaunchError(f"{where}: the array is not contiguous (strides {value.strides}); pass numpy.ascontiguousarray(x)")
    if not value.dtype.isnative:
        raise LaunchTypeError(f"{where}: the array's bytes are swapped ({value.dtype}); pass x.astype(x.dtype.newbyteorder('='))")
    address, read_only = interface["data"]
    return HostArray(address, value.nbytes, tuple(value.shape), _NUMPY_NAMES.get(value.dtype.name, value.dtype.name), not read_only, value)


def _dtype_fits(declared: str, given: str) -> bool:
    if declared == given:
        return True
    if declared in _AS_BYTES:
        return given in ("uint8", "int8")
    return _AS_SIGNED.get(declared) == given


def _tensor(param: Mapping[str, Any], value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {"kind": "tensor", "address": 0, "bytes": 0, "shape": [0] * len(param.get("dims", ())), "owner": None}
    array = host_array(value, where)
    raw = param["kind"] != "tensor" and param["dtype"] == "uint8"  # a pointer to bytes takes any memory; pl.make_tensor says what it is
    if not raw and not _dtype_fits(param["dtype"], array.dtype):
        raise LaunchTypeError(f"{where}: dtype {array.dtype} where {param['dtype']} is declared; convert it before the launch")
    if param["kind"] == "tensor":
        dims = param["dims"]
        if len(array.shape) != len(dims):
            raise LaunchError(f"{where}: rank {len(array.shape)} where {len(dims)} is declared (shape {list(array.shape)})")
        for axis, (size, dim) in enumerate(zip(array.shape, dims)):
            if dim["static"]:
                if size <= 0:
                    raise LaunchError(f"{where}: axis {axis} is pl.STATIC and must be positive, got {size}")
            elif not dim["dynamic"] and size != dim["size"]:
                raise LaunchError(f"{where}: axis {axis} is {size} where {dim['size']} is declared (shape {list(array.shape)})")
    if param.get("written") and not array.writable:
        raise LaunchError(f"{where}: the array is read-only and the kernel writes it; pass a copy")
    return {"kind": param["kind"], "address": array.address, "bytes": array.nbytes, "shape": list(array.shape), "owner": array.owner}


def _scalar(param: Mapping[str, Any], value: Any, where: str) -> dict[str, Any]:
    dtype = param["dtype"]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if dtype in ("fp16", "bf16"):
        raise LaunchTypeError(f"{where}: {dtype} scalars cannot be passed to a kernel; declare pl.DT_FP32")
    if dtype.startswith("fp"):
        if isinstance(value, bool) or not isinstance(value, (float, int)):
            raise LaunchTypeError(f"{where}: expected a float, got {type(value).__name__}")
        if isinstance(value, int):
            raise LaunchTypeError(f"{where}: expected a float for {dtype}, got the int {value}; write {value}.0")
        return {"kind": "scalar", "real": float(value)}
    if dtype == "bool" and not isinstance(value, bool):
        raise LaunchTypeError(f"{where}: expected a bool, got {type(value).__name__}")
    if not isinstance(value, (int, bool)):
        raise LaunchTypeError(f"{where}: expected an int for {dtype}, got {type(value).__name__}")
    low, high = _range(dtype)
    # Bit patterns travel in signed types (an fp32's in an INT32), and -1 as all ones in unsigned ones: what fits the bits fits.
    if not -(high + 1) // (2 if low == 0 else 1) <= value <= (high if low == 0 else 2 * high + 1):
        raise LaunchError(f"{where}: {value} does not fit {dtype} ({low} to {high})")
    bits = (high - low).bit_length()
    value = int(value) & ((1 << bits) - 1)
    return {"kind": "scalar", "integer": value - (1 << bits) if value > high else _wrapped(value)}


def _range(dtype: str) -> tuple[int, int]:
    """What an integer type holds; an index counts like an int64."""
    if dtype == "bool":
        return 0, 1
    unsigned, bits = dtype.startswith("u"), int("".join(c for c in dtype if c.isdigit()) or 64)
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _wrapped(value: int) -> int:
    """The bits of a 64-bit integer as the engine takes them."""
    return value - (1 << 64) if value >= 1 << 63 else value


def _field(dtype: str, value: Any, where: str) -> float | int:
    """One number of a tiling dataclass: an int where a float is declared is one, a float where an int is declared is a mistake."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if dtype == "fp32" and isinstance(value, (int, float)):
        return float(value)
    if dtype == "fp32" or not isinstance(value, int):
        raise LaunchTypeError(f"{where}: expected {'a float' if dtype == 'fp32' else 'a bool' if dtype == 'bool' else 'an int'}, got {value!r}")
    low, high = _range(dtype)
    if not low <= value <= high:
        raise LaunchError(f"{where}: {value} does not fit {dtype} ({low} to {high})")
    return int(value)


def _tiling(param: Mapping[str, Any], value: Any, where: str) -> dict[str, Any]:
    if type(value).__name__ != param["class_name"]:
        raise LaunchTypeError(f"{where}: expected an instance of {param['class_name']}, got {type(value).__name__}")
    fields = []
    for field in param["fields"]:
        content = getattr(value, field["name"])
        if field["length"]:
            content = list(content)
            if len(content) != field["length"]:
                raise LaunchError(f"{where}.{field['name']}: {len(content)} elements where {field['length']} are declared")
        else:
            content = [content]
        fields.append([_field(field["dtype"], v, f"{where}.{field['name']}") for v in content])
    return {"kind": "tiling", "fields": fields}


def bind(name: str, params: Sequence[Mapping[str, Any]], args: Sequence[Any], kwargs: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Any]:
    """Values in parameter order from a call's positional and keyword arguments; TypeError texts as Python gives them."""
    names = [p["name"] for p in params]
    if len(args) > len(names):
        raise LaunchTypeError(f"{name}() takes {len(names)} arguments but {len(args)} were given")
    values = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in names:
            raise LaunchTypeError(f"{name}() got an unexpected keyword argument {key!r}")
        if key in values:
            raise LaunchTypeError(f"{name}() got two values for {key!r}")
        values[key] = value
    missing = [n for n in names if n not in values and n not in defaults]
    if missing:
        raise LaunchTypeError(f"{name}() misses {', '.join(missing)}")
    return [values.get(n, defaults.get(n)) for n in names]


def convert(name: str, params: Sequence[Mapping[str, Any]], values: Sequence[Any]) -> list[dict[str, Any]]:
    """Checked values in the form the engine takes."""
    converters = {"tensor": _tensor, "pointer": _tensor, "scalar": _scalar, "tiling": _tiling}
    return [converters[p["kind"]](p, v, f"{name}({p['name']})") for p, v in zip(params, values)]
