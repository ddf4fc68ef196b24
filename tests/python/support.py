"""Helpers of the Python tests: kernels from text, the example with edits."""
from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import numpy as np

import xpto
from xpto import kernel as kernels

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "share" / "xpto" / "examples"

_serial = 0


def load(source: str, name: str = "") -> dict[str, Any]:
    """Runs kernel source as a file of its own; the namespace it leaves. `name` is how places in it read."""
    global _serial
    _serial += 1
    filename = name or f"<test {_serial}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"__name__": f"test_module_{_serial}", "__file__": filename}
    exec(compile(source, filename, "exec", dont_inherit=True), space)
    kernels.created.clear()
    return space


def example_text(name: str = "relu_matmul") -> str:
    return (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").split('if __name__ == "__main__":')[0]


def edited(*replacements: tuple[str, str], text: str | None = None) -> str:
    """The example's text with replacements; each must occur."""
    text = example_text() if text is None else text
    for old, new in replacements:
        assert old in text, f"the example no longer holds {old!r}"
        text = text.replace(old, new)
    return text


def kernel(*replacements: tuple[str, str], name: str = "relu_matmul") -> Any:
    return load(edited(*replacements))[name]


def errors(compilation: Any) -> list[dict[str, Any]]:
    return [d for d in compilation.diagnostics if d["severity"] == "error"]


def line_of(source: str, needle: str) -> int:
    for number, line in enumerate(source.splitlines(), 1):
        if needle in line:
            return number
    raise AssertionError(f"no line holds {needle!r}")


def relu_data(seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((256, 64), dtype=np.float32)
    b = rng.standard_normal((64, 64), dtype=np.float32)
    d = rng.standard_normal((64, 64), dtype=np.float32)
    return a, b, d, np.zeros((256, 64), dtype=np.float32)


def relu_reference(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.maximum(a.astype(np.float64) @ b, 0) @ d


def scalar_reference(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The documented order: one fused multiply-add per k, ascending. float64 holds the product of two floats exactly, and its
    sum with a float rounded once to float32 differs from a fused operation only by double rounding, which math.fma would settle;
    numpy has none, so products are formed in longdouble, whose 64-bit mantissa holds product and sum closely enough to round once."""
    def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        acc = np.zeros((x.shape[0], y.shape[1]), dtype=np.float32)
        for k in range(x.shape[1]):
            wide = x[:, k, None].astype(np.longdouble) * y[None, k, :].astype(np.longdouble)
            acc = (acc.astype(np.longdouble) + wide).astype(np.float32)
        return acc
    return product(np.maximum(product(a, b), np.float32(0)), d)
