"""Movement between global memory and UB against numpy: ranks, axes, strides, pointers, valid shapes, whole-tile indices, single elements."""
from __future__ import annotations

import numpy as np
import pytest
from support import load
from tile_programs import BITS, HOST, equal, numbers, region

HEAD = "import pypto_pro.language as pl\n\n\n@pl.jit()\ndef copy({params}):\n    T = pl.TileType(shape=[{rows}, {cols}], dtype=pl.DT_{t})\n" \
       "    g = pl.make_tile_group(type=T, addrs=0, mutex_ids=[0, 1])\n    with pl.section_vector():\n"


def run(text: str, *arguments: object) -> None:
    result = load(text)["copy"].launch(arguments, {})
    assert result.status in ("done", "warned"), f"{text}\n{result.text()}"


def tensor(shape: tuple[int, ...], dtype: str, dynamic: np.ndarray | None = None) -> str:
    dims = ", ".join("pl.DYNAMIC" if dynamic is not None and dynamic[i] else str(n) for i, n in enumerate(shape))
    return f"pl.Tensor[[{dims}], pl.DT_{dtype}]"


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT8", "INT64", "UINT16"])
def test_windows_along_any_two_axes(dtype):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(3, 12, rank))
        axes = sorted(int(a) for a in rng.choice(rank, 2, replace=False))
        (rows, cols), (vr, vc) = region(rng, BITS[dtype], 8, 12 * 8)
        vr, vc = min(vr, shape[axes[0]]), min(vc, shape[axes[1]])
        at = [int(rng.integers(0, n)) for n in shape]
        at[axes[0]] = int(rng.integers(0, shape[axes[0]] - vr + 1))
        at[axes[1]] = int(rng.integers(0, shape[axes[1]] - vc + 1))
        x = numbers(rng, dtype, shape)
        y = numbers(rng, dtype, shape)
        wanted = y.copy()
        window = tuple(slice(at[i], at[i] + (vr if i == axes[0] else vc if i == axes[1] else 1)) for i in range(rank))
        wanted[window] = x[window]
        dynamic = rng.random(rank) < 0.5
        offsets = ", ".join(f"n + {a}" if rng.random() < 0.5 else str(a) for a in at)
        text = HEAD.format(params=f"x: {tensor(shape, dtype, dynamic)}, y: {tensor(shape, dtype)}, n: pl.DT_INT32", rows=rows, cols=cols, t=dtype)
        text += f"""        t = g.next()
        pl.set_validshape(t, [{vr}, {vc}])
        pl.load(t, x, [{offsets}], order={axes})
        pl.store(y, t, [{offsets}], order={axes})
"""
        run(text, x, y, 0)
        equal(y, wanted)


def test_indices_of_whole_tiles():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, cols = int(rng.integers(1, 6)), 8 * int(rng.integers(1, 4))
        shape = (3, rows * 3, cols * 2)
        x, y = numbers(rng, "FP32", shape), np.zeros(shape, np.float32)
        i, j, k = int(rng.integers(0, 3)), int(rng.integers(0, 3)), int(rng.integers(0, 2))
        text = HEAD.format(params=f"x: {tensor(shape, 'FP32')}, y: {tensor(shape, 'FP32')}, j: pl.DT_INT32", rows=rows, cols=cols, t="FP32")
        text += f"        t = g.next()\n        pl.load_tile(t, x, [{i}, j, {k}])\n        pl.store_tile(y, t, [{2 - i}, j, {k}])\n"
        run(text, x, y, j)
        wanted = np.zeros_like(y)
        part = (slice(rows * j, rows * j + rows), slice(cols * k, cols * k + cols))
        wanted[(2 - i, *part)] = x[(i, *part)]
        equal(y, wanted)


@pytest.mark.parametrize("how", ["tensor", "pointer", "advanced pointer", "set_stride", "other type"])
def test_views_of_memory(how):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, cols, step = int(rng.integers(2, 7)), 8 * int(rng.integers(1, 4)), 8 * int(rng.integers(4, 7))
        flat, y = numbers(rng, "FP32", (rows * step + 64,)), np.zeros((rows, cols), np.float32)
        start = 8 * int(rng.integers(1, 5))
        view = {"tensor": f"pl.make_tensor(x, [{rows}, n], stride=[{step}, 1])", "pointer": f"pl.make_tensor(pl.make_ptr(x), [{rows}, n], stride=[{step}, 1])",
                "advanced pointer": f"pl.make_tensor(pl.addptr(pl.make_ptr(x) + {start - 1}, 1), [{rows}, n], stride=[{step}, 1])",
                "set_stride": f"pl.make_tensor(x, [{rows}, n])",
                "other type": f"pl.make_tensor(pl.make_ptr(x, dtype=pl.DT_INT32), [{rows}, n], stride=[{step}, 1])"}[how]
        t = "INT32" if how == "other type" else "FP32"
        out = y.view(np.int32) if how == "other type" else y
        text = HEAD.format(params=f"x: pl.Tensor[[pl.DYNAMIC], pl.DT_FP32], y: {tensor(y.shape, t)}, n: pl.DT_INT32", rows=rows, cols=cols, t=t)
        text += f"        v = {view}\n" + (f"        pl.set_stride(v, [{step}, 1])\n" if how == "set_stride" else "")
        text += "        t = g.next()\n        pl.load(t, v, [0, 0])\n        pl.store(y, t, [0, 0])\n"
        run(text, flat, out, cols)
        begin = start if how == "advanced pointer" else 0
        equal(y, np.stack([flat[begin + r * step: begin + r * step + cols] for r in range(rows)]))


def test_columns_first_tensors():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = 8 * int(rng.integers(1, 4))
        x, y = numbers(rng, "FP32", (1, rows)), np.zeros((1, rows), np.float32)  # [rows, 1] column by column is one run of memory
        text = (f"import pypto_pro.language as pl\n\n\n@pl.jit()\ndef copy(x: pl.Tensor[[{rows}, 1], pl.DT_FP32, pl.DN], y: pl.Tensor[[{rows}, 1], pl.DT_FP32, pl.DN]):\n"
                f"    c = pl.make_tile_group(type=pl.TileType(shape=[{rows}, 1], dtype=pl.DT_FP32, layout=pl.DN), addrs=0, mutex_ids=[0])\n"
                "    with pl.section_vector():\n        t = c.next()\n        pl.load(t, x, [0, 0])\n        pl.mul(t, t, 2.0)\n        pl.store(y, t, [0, 0])\n")
        run(text, x.reshape(rows, 1), y.reshape(rows, 1))
        equal(y, x * 2)


@pytest.mark.parametrize("dtype", ["FP32", "FP16", "INT8", "INT16", "INT64", "UINT8", "UINT32"])
def test_single_elements(dtype):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, cols = int(rng.integers(2, 6)), 256 // BITS[dtype]
        x = numbers(rng, dtype, (rows, cols))
        y = numbers(rng, dtype, (rows, cols))
        (r, c), (p, q) = ((int(rng.integers(0, rows)), int(rng.integers(0, cols))) for _ in range(2))
        text = HEAD.format(params=f"x: {tensor(x.shape, dtype)}, y: {tensor(x.shape, dtype)}, n: pl.DT_INT32", rows=rows, cols=cols, t=dtype)
        text += f"""        t = g.next()
        pl.load(t, x, [0, 0])
        a = pl.getval(t, {r * cols} + n)
        t[{p}, {q}] = a
        pl.setval(t, n, x[{r}, {q}])
        pl.store(y, t, [0, 0])
        pl.system.bar_all()
        pl.system.dcci(y)
        y[{p}, n] = t[{r}, n]
"""
        wanted = x.copy()
        wanted[p, q] = wanted[r, c]
        wanted.reshape(-1)[c] = x[r, q]
        after = wanted.copy()
        after[p, c] = wanted[r, c]
        run(text, x, y, c)
        equal(y, after)


def test_the_exchange_buffer_keeps_every_word():
    text = """
import pypto_pro.language as pl


@pl.jit()
def copy(y: pl.Tensor[[8], pl.DT_INT64], f: pl.Tensor[[8], pl.DT_FP32], n: pl.DT_INT64, r: pl.DT_FP32):
    a = pl.struct("S", big=0, part=[0, 0, 0], real=1.0)
    b = pl.struct("S", big=0, part=[0, 0, 0], real=1.0)
    with pl.section_cube():
        a.big = n
        a.part[1] = n + 1
        a.real = r
        pl.ssbuf_store(a, 16)
        pl.system.set_cross_core(pipe=pl.PipeType.S, event_id=0)
    with pl.section_vector():
        pl.system.wait_cross_core(pipe=pl.PipeType.S, event_id=0)
        pl.ssbuf_load(b, 16)
        if pl.get_subblock_idx() == 1:
            y[0] = b.big
            y[1] = b.part[1]
            y[2] = b.part[2]
            f[0] = b.real
"""
    for n, r in ((-(2 ** 40) + 5, 0.1), (2 ** 62, -1e30)):
        y, f = np.ones(8, np.int64), np.zeros(8, np.float32)
        run(text, y, f, n, r)
        assert list(y[:3]) == [n, n + 1, 0] and f[0] == np.float32(r)
