"""Generated kernels for the property tests: tiles with random valid shapes, loaded, worked on and stored."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from support import load

# language type -> numpy type of the host array; BF16 has none and is reached by casts inside the kernel
HOST = {"FP32": np.float32, "FP16": np.float16, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
        "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64}
BITS = {**{name: np.dtype(t).itemsize * 8 for name, t in HOST.items()}, "BF16": 16}
INTS = [name for name in HOST if "INT" in name]


class Tiles:
    """A vector kernel over named tiles. Every tile is a group of one slot with a lock of its own, so copies and work are ordered."""

    def __init__(self) -> None:
        self._declarations: list[str] = []
        self._before: list[str] = []
        self._after: list[str] = []
        self._params: list[str] = []
        self._arguments: list[np.ndarray] = []
        self._address = self._lock = 0

    def tile(self, name: str, dtype: str, shape: Sequence[int], valid: Sequence[int] | None = None, *, load: np.ndarray | None = None,
             store: np.ndarray | None = None, **options: str) -> str:
        """Declares a tile; `load` fills its valid region from an array, `store` writes it back at the end."""
        more = "".join(f", {k}={v}" for k, v in options.items())
        size = -(-(shape[0] + 1) * shape[1] * BITS[dtype] // 8 // 32) * 32 + 1024
        self._declarations.append(f"{name}_group = pl.make_tile_group(type=pl.TileType(shape=[{shape[0]}, {shape[1]}], dtype=pl.DT_{dtype}{more}), "
                                  f"addrs={self._address:#x}, mutex_ids=[{self._lock}])")
        self._address += size
        self._lock += 1
        self._before.append(f"{name} = {name}_group.next()")
        if valid is not None:
            self._before.append(f"pl.set_validshape({name}, [{valid[0]}, {valid[1]}])")
        if load is not None:
            self._before.append(f"pl.load({name}, {self.tensor(name, 'in', dtype, load)}, [0, 0])")
        if store is not None:
            self._after.append(f"pl.store({self.tensor(name, 'out', dtype, store)}, {name}, [0, 0])")
        return name

    def tensor(self, name: str, side: str, dtype: str, array: np.ndarray) -> str:
        """A tensor parameter of its own, for copies that the body writes down itself."""
        assert array.ndim == 2 and array.dtype == HOST[dtype], (name, array.dtype, dtype)
        self._params.append(f"{name}_{side}: pl.Tensor[[{array.shape[0]}, {array.shape[1]}], pl.DT_{dtype}]")
        self._arguments.append(array)
        return f"{name}_{side}"

    def text(self, body: Sequence[str]) -> str:
        inside = "".join(f"        {line}\n" for line in [*self._before, *body, *self._after])
        return ("import pypto_pro.language as pl\n\n@pl.jit()\ndef generated(" + ", ".join(self._params) + "):\n" +
                "".join(f"    {line}\n" for line in self._declarations) + "    with pl.section_vector():\n" + inside)

    def run(self, *body: str, status: str = "done") -> Any:
        text = self.text(body)
        run = load(text)["generated"].launch(tuple(self._arguments), {})
        assert run.status == status, f"{text}\n{run.text()}"
        return run


def columns(rng: np.random.Generator, bits: int, most: int = 160) -> tuple[int, int]:
    """Physical columns, a whole number of 32-byte blocks, and a valid width in them."""
    block = 256 // bits
    physical = block * int(rng.integers(1, max(2, most // block + 1)))
    return physical, int(rng.integers(1, physical + 1))


def region(rng: np.random.Generator, bits: int, rows: int = 20, most: int = 160) -> tuple[tuple[int, int], tuple[int, int]]:
    """A random shape and a valid shape in it."""
    r = int(rng.integers(1, rows + 1))
    physical, valid = columns(rng, bits, most)
    return (r, physical), (int(rng.integers(1, r + 1)), valid)


def numbers(rng: np.random.Generator, dtype: str, shape: Sequence[int], scale: float = 8.0) -> np.ndarray:
    """Any value of an integer type; floats of both signs around `scale`, with zeros among them."""
    if "INT" in dtype:
        info = np.iinfo(HOST[dtype])
        return rng.integers(info.min, info.max, shape, HOST[dtype], endpoint=True)
    values = rng.standard_normal(shape) * scale
    values[rng.random(shape) < 0.03] = 0.0
    return values.astype(HOST[dtype])


def equal(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal values, NaN included; the first difference is shown."""
    same = (found == wanted) | ((found != found) & (wanted != wanted))
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        raise AssertionError(f"{(~same).sum()} of {same.size} differ, first at {at}: {found[at]!r}, wanted {wanted[at]!r}")


def near(found: np.ndarray, wanted: np.ndarray, bound: np.ndarray | float) -> None:
    error = np.abs(found.astype(np.float64) - wanted)
    bad = ~(error <= bound)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        limit = np.broadcast_to(bound, error.shape)[at]
        raise AssertionError(f"{bad.sum()} of {bad.size} are off, first at {at}: {found[at]!r}, wanted {wanted[at]!r} within {limit}")
