"""The cube family and the ways into it and out of it: products in all types, K blocks, bias, transposed loads, extraction, insertion,
fixpipe conversions, splits over both vector cores, MX; exact integers, floats within the bound of their sums."""
from __future__ import annotations

import numpy as np
import pytest
from support import load
from tile_programs import HOST, equal, near

HEAD = "import pypto_pro.language as pl\n\n\n@pl.jit()\ndef product({params}):\n"
CUBE = """    a_l1 = pl.make_tile_group(type=pl.TileType(shape=[{m}, {k}], dtype=pl.DT_{t}, target_memory=pl.MemorySpace.Mat{a_layout}), addrs=0x0, mutex_ids=[0])
    b_l1 = pl.make_tile_group(type=pl.TileType(shape=[{k}, {n}], dtype=pl.DT_{t}, target_memory=pl.MemorySpace.Mat{b_layout}), addrs=0x20000, mutex_ids=[1])
    a_l0 = pl.make_tile_group(type=pl.TileType(shape=[{m}, {kb}], dtype=pl.DT_{t}, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[2])
    b_l0 = pl.make_tile_group(type=pl.TileType(shape=[{kb}, {n}], dtype=pl.DT_{t}, target_memory=pl.MemorySpace.Right), addrs=0x0, mutex_ids=[3])
    acc_l0 = pl.make_tile_group(type=pl.TileType(shape=[{m}, {n}], dtype=pl.DT_{acc}, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[4])
"""
ZN = ", layout=pl.TensorLayout.ZN"
UNIT = 2.0 ** -24


def values(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> np.ndarray:
    if dtype == "INT8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(HOST[dtype])


def launch(text: str, *arguments: np.ndarray) -> None:
    run = load(text)["product"].launch(arguments, {})
    assert run.status == "done", text + run.text()


def check(out: np.ndarray, a: np.ndarray, b: np.ndarray, extra: int = 0) -> None:
    if out.dtype == np.int32:
        equal(out, a.astype(np.int32) @ b.astype(np.int32))
        return
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    near(out, wide_a @ wide_b, (a.shape[1] + extra + 2) * UNIT * (np.abs(wide_a) @ np.abs(wide_b)) + 1e-30)


def matmul_text(m: int, k: int, n: int, kb: int, dtype: str, a_turned: bool, b_turned: bool, valid_m: int, valid_n: int) -> str:
    acc = "INT32" if dtype == "INT8" else "FP32"
    a_shape, b_shape = ([k, valid_m] if a_turned else [valid_m, k]), ([valid_n, k] if b_turned else [k, valid_n])
    params = f"a: pl.Tensor[{a_shape}, pl.DT_{dtype}], b: pl.Tensor[{b_shape}, pl.DT_{dtype}], c: pl.Tensor[[{valid_m}, {valid_n}], pl.DT_{acc}]"
    text = HEAD.format(params=params) + CUBE.format(m=m, k=k, n=n, kb=kb, t=dtype, acc=acc, a_layout=ZN if a_turned else "", b_layout=ZN if b_turned else "")
    text += f"""    with pl.section_cube():
        am = a_l1.next()
        bm = b_l1.next()
        al = a_l0.next()
        bl = b_l0.next()
        acc = acc_l0.next()
        pl.set_validshape(am, [{valid_m}, {k}])
        pl.set_validshape(bm, [{k}, {valid_n}])
        pl.set_validshape(al, [{valid_m}, {kb}])
        pl.set_validshape(bl, [{kb}, {valid_n}])
        pl.set_validshape(acc, [{valid_m}, {valid_n}])
        pl.load(am, a, [0, 0]{", order=[1, 0]" if a_turned else ""})
        pl.load(bm, b, [0, 0]{", order=[1, 0]" if b_turned else ""})
        for i in pl.range(0, {k}, {kb}):
            pl.move(al, am, [0, i])
            pl.move(bl, bm, [i, 0])
            if i == 0:
                pl.matmul(acc, al, bl)
            else:
                pl.matmul_acc(acc, acc, al, bl)
        pl.store(c, acc, [0, 0])
"""
    return text


@pytest.mark.parametrize("dtype", ["FP16", "FP32", "INT8"])
def test_products_in_k_blocks(dtype):
    for seed in range(4):
        rng = np.random.default_rng([seed, len(dtype)])
        block = {"FP16": 16, "FP32": 16, "INT8": 32}[dtype]
        m, n = (block * int(rng.integers(1, 4)) for _ in range(2))
        kb = block * int(rng.integers(1, 3))
        k = kb * int(rng.integers(1, 4))
        a_turned, b_turned = bool(rng.integers(2)), bool(rng.integers(2))
        valid_m, valid_n = (m, n) if a_turned or b_turned else (int(rng.integers(1, m + 1)), int(rng.integers(1, n + 1)))
        a, b = values(rng, dtype, (valid_m, k)), values(rng, dtype, (k, valid_n))
        out = np.zeros((valid_m, valid_n), np.int32 if dtype == "INT8" else np.float32)
        launch(matmul_text(m, k, n, kb, dtype, a_turned, b_turned, valid_m, valid_n),
               np.ascontiguousarray(a.T) if a_turned else a, np.ascontiguousarray(b.T) if b_turned else b, out)
        check(out, a, b, k // kb)


def test_bias_starts_the_sum():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        m, k, n = (16 * int(rng.integers(1, 4)) for _ in range(3))
        a, b, bias = values(rng, "FP16", (m, k)), values(rng, "FP16", (k, n)), values(rng, "FP32", (1, n))
        out = np.zeros((m, n), np.float32)
        text = HEAD.format(params=f"a: pl.Tensor[[{m}, {k}], pl.DT_FP16], b: pl.Tensor[[{k}, {n}], pl.DT_FP16], v: pl.Tensor[[1, {n}], pl.DT_FP32], "
                                  f"c: pl.Tensor[[{m}, {n}], pl.DT_FP32]")
        text += CUBE.format(m=m, k=k, n=n, kb=k, t="FP16", acc="FP32", a_layout="", b_layout="")
        text += f"""    v_l1 = pl.make_tile_group(type=pl.TileType(shape=[1, {n}], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addrs=0x40000, mutex_ids=[5])
    v_bt = pl.make_tile_group(type=pl.TileType(shape=[1, {n}], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Bias), addrs=0x0, mutex_ids=[6])
    with pl.section_cube():
        am, bm, vm = a_l1.next(), b_l1.next(), v_l1.next()
        al, bl, vb, acc = a_l0.next(), b_l0.next(), v_bt.next(), acc_l0.next()
        pl.load(am, a, [0, 0])
        pl.load(bm, b, [0, 0])
        pl.load(vm, v, [0, 0])
        pl.move(al, am)
        pl.move(bl, bm)
        pl.move(vb, vm)
        pl.matmul(acc, al, bl, vb)
        pl.store(c, acc, [0, 0])
"""
        launch(text, a, b, bias, out)
        exact = a.astype(np.float64) @ b.astype(np.float64) + bias
        near(out, exact, (k + 3) * UNIT * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(bias)))


@pytest.mark.parametrize("kind", ["FP16", "BF16 by way of FP32", "relu", "INT8 scaled", "FP32 atomic", "per channel"])
def test_ways_out_of_the_accumulator(kind):
    rng = np.random.default_rng(len(kind))
    m, k, n = (16 * int(rng.integers(1, 4)) for _ in range(3))
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float16), rng.integers(-4, 5, (k, n)).astype(np.float16)
    exact = a.astype(np.float64) @ b.astype(np.float64)  # small integers: every order of summation gives this
    target, keywords, extra_params, extra_tiles, extra_body = "FP32", "", "", "", ""
    arguments = [a, b]
    if kind == "FP16":
        target, wanted = "FP16", exact.astype(np.float16)
    elif kind == "relu":
        keywords, wanted = ", relu_pre_mode=pl.ReluPreMode.NormalRelu", np.maximum(exact, 0)
    elif kind == "INT8 scaled":
        target, keywords = "INT8", ", scale=0.25"
        wanted = np.clip(np.rint(exact * 0.25), -128, 127)
    elif kind == "FP32 atomic":
        keywords, wanted = ", atomic=pl.AtomicType.AtomicAdd", exact + 5
    elif kind == "per channel":
        factors = 2.0 ** -rng.integers(0, 5, n).astype(np.float32)
        words = factors.view(np.uint32).astype(np.int64)[None, :] | (1 << 46)
        target, keywords = "INT8", ", scale=factors"
        wanted = np.clip(np.rint(exact * factors), -128, 127)
        arguments.append(words)
        extra_params = f", f: pl.Tensor[[1, {n}], pl.DT_INT64]"
        extra_tiles = (f"    f_l1 = pl.make_tile_group(type=pl.TileType(shape=[1, {n}], dtype=pl.DT_INT64, target_memory=pl.MemorySpace.Mat, layout=pl.TensorLayout.ND), addrs=0x40000, mutex_ids=[5])\n"
                       f"    f_fb = pl.make_tile_group(type=pl.TileType(shape=[1, {n}], dtype=pl.DT_INT64, target_memory=pl.MemorySpace.Scaling), addrs=0x0, mutex_ids=[6])\n")
        extra_body = "        fm, factors = f_l1.next(), f_fb.next()\n        pl.load(fm, f, [0, 0])\n        pl.move(factors, fm)\n        pl.system.bar_fix()\n"
    else:
        wanted = exact
    out = np.full((m, n), 5 if kind == "FP32 atomic" else 0, HOST[target])
    text = HEAD.format(params=f"a: pl.Tensor[[{m}, {k}], pl.DT_FP16], b: pl.Tensor[[{k}, {n}], pl.DT_FP16]{extra_params}, c: pl.Tensor[[{m}, {n}], pl.DT_{target}]")
    text += CUBE.format(m=m, k=k, n=n, kb=k, t="FP16", acc="FP32", a_layout="", b_layout="") + extra_tiles
    text += f"""    with pl.section_cube():
        am, bm, al, bl, acc = a_l1.next(), b_l1.next(), a_l0.next(), b_l0.next(), acc_l0.next()
{extra_body}        pl.load(am, a, [0, 0])
        pl.load(bm, b, [0, 0])
        pl.move(al, am)
        pl.move(bl, bm)
        pl.matmul(acc, al, bl)
        pl.store(c, acc, [0, 0]{keywords})
"""
    launch(text, *arguments, out)
    equal(out, wanted.astype(out.dtype))


@pytest.mark.parametrize("mode", ["DualModeSplitM", "DualModeSplitN", "SingleModeVec0", "SingleModeVec1"])
def test_the_accumulator_is_split_over_both_vector_cores(mode):
    for seed in range(2):
        rng = np.random.default_rng([seed, len(mode)])
        m, k, n = 16 * int(rng.integers(2, 4)), 32, 64 * int(rng.integers(1, 3))
        valid_m, valid_n = int(rng.integers(2, m + 1)), 8 * int(rng.integers(5, n // 8 + 1))
        split = mode[-1] if "Split" in mode else ""
        a, b = rng.integers(-4, 5, (valid_m, k)).astype(np.float16), rng.integers(-4, 5, (k, valid_n)).astype(np.float16)
        rows = (valid_m + 1) // 2 if split == "M" else valid_m
        cols = -(-valid_n // 32) * 32 // 2 if split == "N" else valid_n
        out = np.zeros((valid_m, valid_n), np.float32)
        text = HEAD.format(params=f"a: pl.Tensor[[{valid_m}, {k}], pl.DT_FP16], b: pl.Tensor[[{k}, {valid_n}], pl.DT_FP16], c: pl.Tensor[[{valid_m}, {valid_n}], pl.DT_FP32]")
        text += CUBE.format(m=m, k=k, n=n, kb=k, t="FP16", acc="FP32", a_layout="", b_layout="")
        share = {"M": f"[{rows} - s * {rows - (valid_m - rows)}, {valid_n}]", "N": f"[{valid_m}, {cols} - s * {cols - (valid_n - cols)}]", "": f"[{valid_m}, {valid_n}]"}[split]
        place = {"M": f"[s * {rows}, 0]", "N": f"[0, s * {cols}]", "": "[0, 0]"}[split]
        guard = "" if split else f"if s == {mode[-1]}:\n    "
        work = f"pl.set_validshape(half, {share})\npl.store(c, half, {place})" if split else f"{guard}pl.set_validshape(half, {share})\n    pl.store(c, half, {place})"
        work = work.replace("\n", "\n        ")
        text += f"""    ub = pl.make_tile(pl.TileType(shape=[{m}, {n}], dtype=pl.DT_FP32), addr=0x0)
    with pl.section_cube():
        am, bm, al, bl, acc = a_l1.next(), b_l1.next(), a_l0.next(), b_l0.next(), acc_l0.next()
        pl.set_validshape(am, [{valid_m}, {k}])
        pl.set_validshape(bm, [{k}, {valid_n}])
        pl.set_validshape(al, [{valid_m}, {k}])
        pl.set_validshape(bl, [{k}, {valid_n}])
        pl.set_validshape(acc, [{valid_m}, {valid_n}])
        pl.load(am, a, [0, 0])
        pl.load(bm, b, [0, 0])
        pl.move(al, am)
        pl.move(bl, bm)
        pl.matmul(acc, al, bl)
        pl.move(ub, acc, acc_to_vec_mode=pl.AccToVecMode.{mode})
        pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id=0)
    with pl.section_vector():
        s = pl.get_subblock_idx()
        half = ub
        pl.system.wait_cross_core(pipe=pl.PipeType.MTE3, event_id=0)
        {work}
"""
        launch(text, a, b, out)
        equal(out, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


def test_insertion_and_extraction_move_single_blocks():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        size = 16 * int(rng.integers(2, 5))
        part = 16 * int(rng.integers(1, size // 16))
        row, col = (16 * int(rng.integers(0, (size - part) // 16 + 1)) for _ in range(2))
        x = rng.standard_normal((part, part)).astype(np.float16)
        base, eye = rng.standard_normal((size, size)).astype(np.float16), np.eye(size, dtype=np.float16)
        out = np.zeros((size, size), np.float16)
        text = HEAD.format(params=f"x: pl.Tensor[[{part}, {part}], pl.DT_FP16], w: pl.Tensor[[{size}, {size}], pl.DT_FP16], e: pl.Tensor[[{size}, {size}], pl.DT_FP16], "
                                  f"c: pl.Tensor[[{size}, {size}], pl.DT_FP16]")
        text += CUBE.format(m=size, k=size, n=size, kb=size, t="FP16", acc="FP32", a_layout="", b_layout="")
        text += f"""    flat = pl.make_tile(pl.TileType(shape=[{part}, {part}], dtype=pl.DT_FP16), addr=0x0)
    nz = pl.make_tile(pl.TileType(shape=[{part}, {part}], dtype=pl.DT_FP16, layout=pl.TensorLayout.NZ), addr=0x8000)
    with pl.section_cube():
        am, bm, al, bl, acc = a_l1.next(), b_l1.next(), a_l0.next(), b_l0.next(), acc_l0.next()
        pl.load(am, w, [0, 0])
        pl.system.set_cross_core(pipe=pl.PipeType.MTE2, event_id=1)
        pl.load(bm, e, [0, 0])
        pl.system.wait_cross_core(pipe=pl.PipeType.MTE1, event_id=2)
        pl.move(al, am)
        pl.move(bl, bm)
        pl.matmul(acc, al, bl)
        pl.store(c, acc, [0, 0])
    with pl.section_vector():
        pl.load(flat, x, [0, 0])
        pl.system.bar_all()
        pl.move(nz, flat)
        pl.system.bar_all()
        pl.system.wait_cross_core(pipe=pl.PipeType.MTE3, event_id=1)
        if pl.get_subblock_idx() == 0:
            pl.insert(a_l1.current(), nz, [{row}, {col}])
        pl.system.set_cross_core(pipe=pl.PipeType.MTE3, event_id=2)
"""
        launch(text, x, base, eye, out)
        wanted = base.copy()
        wanted[row:row + part, col:col + part] = x
        equal(out, wanted)


@pytest.mark.parametrize("to", ["FP32", "FP16"])
def test_an_accumulator_lands_inside_a_larger_tile(to):
    rng = np.random.default_rng(5)
    host = {"FP32": np.float32, "FP16": np.float16}[to]
    for row, col in ((0, 0), (16, 32), (3, 48)):
        a, b = rng.integers(-4, 5, (16, 32)).astype(np.float16), rng.integers(-4, 5, (32, 16)).astype(np.float16)
        out = np.ones((32, 64), host)
        text = HEAD.format(params=f"a: pl.Tensor[[16, 32], pl.DT_FP16], b: pl.Tensor[[32, 16], pl.DT_FP16], c: pl.Tensor[[32, 64], pl.DT_{to}]")
        text += CUBE.format(m=16, k=32, n=16, kb=32, t="FP16", acc="FP32", a_layout="", b_layout="")
        text += f"""    v = pl.make_tile_group(type=pl.TileType(shape=[32, 64], dtype=pl.DT_{to}), addrs=0, mutex_ids=[8])
    with pl.section_vector():
        pl.expands(v[0], 0.0)
        pl.system.set_cross_core(pipe=pl.PipeType.V, event_id=0)
    with pl.section_cube():
        am, bm, al, bl, acc = a_l1.next(), b_l1.next(), a_l0.next(), b_l0.next(), acc_l0.next()
        pl.load(am, a, [0, 0])
        pl.load(bm, b, [0, 0])
        pl.move(al, am)
        pl.move(bl, bm)
        pl.matmul(acc, al, bl)
        pl.system.wait_cross_core(pipe=pl.PipeType.FIX, event_id=0)
        pl.move(v[0], acc, [{row}, {col}])
        pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id=1)
    with pl.section_vector():
        pl.system.wait_cross_core(pipe=pl.PipeType.MTE3, event_id=1)
        if pl.get_subblock_idx() == 0:
            pl.store(c, v[0], [0, 0])
"""
        launch(text, a, b, out)
        wanted = np.zeros((32, 64), host)
        wanted[row:row + 16, col:col + 16] = a.astype(np.float32) @ b.astype(np.float32)
        equal(out, wanted)


E4M3 = np.array([(-1.0 if c & 0x80 else 1.0) * ((c & 7) * 2.0 ** -9 if (c >> 3) & 15 == 0 else (1 + (c & 7) / 8) * 2.0 ** (((c >> 3) & 15) - 7)) for c in range(256)])


@pytest.mark.parametrize("order", [False, True], ids=["default axes", "order="])
def test_mx_products(order):
    """With `order=` the scales lie between others along a further axis; rows and pairs are found by the axes that are named."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        m, k, n = 16 * int(rng.integers(1, 4)), 64 * int(rng.integers(1, 3)), 16 * int(rng.integers(1, 4))
        codes_a, codes_b = (rng.integers(0, 256, s).astype(np.uint8) & 0xF7 for s in ((m, k), (k, n)))
        ea, eb = (rng.integers(120, 134, s).astype(np.uint8) for s in ((m, k // 32), (k // 32, n)))
        sa = np.ascontiguousarray(ea.reshape(m, k // 64, 2))
        sb = np.ascontiguousarray(eb.reshape(k // 64, 2, n).transpose(0, 2, 1))
        load_a = load_b = "[0, 0, 0]"
        shape_a, shape_b = [m, k // 64, 2], [k // 64, n, 2]
        if order:
            shape_a, shape_b, load_a, load_b = [m, 3, k // 64, 2], [k // 64, 3, n, 2], "[0, 1, 0, 0], order=[0, 2]", "[0, 2, 0, 0], order=[0, 2]"
            mixed_a, mixed_b = (rng.integers(0, 255, s).astype(np.uint8) for s in (shape_a, shape_b))
            mixed_a[:, 1], mixed_b[:, 2] = sa, sb
            sa, sb = mixed_a, mixed_b
        out = np.zeros((m, n), np.float32)
        memory = "target_memory=pl.MemorySpace."
        tiles = [("am", [m, k], "FP8E4M3FN", memory + "Mat", "0x0"), ("bm", [k, n], "FP8E4M3FN", memory + "Mat", "0x10000"),
                 ("sam", [m, k // 32], "FP8E8M0", memory + "Mat, layout=pl.TensorLayout.ZZ", "0x20000"),
                 ("sbm", [k // 32, n], "FP8E8M0", memory + "Mat, layout=pl.TensorLayout.NN", "0x28000"),
                 ("al", [m, k], "FP8E4M3FN", memory + "Left", "0x0"), ("bl", [k, n], "FP8E4M3FN", memory + "Right", "0x0"),
                 ("sal", [m, k // 32], "FP8E8M0", memory + "ScaleLeft", "0x0"), ("sbl", [k // 32, n], "FP8E8M0", memory + "ScaleRight", "0x0"),
                 ("acc", [m, n], "FP32", memory + "Acc", "0x0")]
        text = HEAD.format(params=f"a: pl.Tensor[[{m}, {k}], pl.DT_FP8E4M3FN], b: pl.Tensor[[{k}, {n}], pl.DT_FP8E4M3FN], sa: pl.Tensor[{shape_a}, pl.DT_FP8E8M0], "
                                  f"sb: pl.Tensor[{shape_b}, pl.DT_FP8E8M0], c: pl.Tensor[[{m}, {n}], pl.DT_FP32]")
        text += "".join(f"    {name} = pl.make_tile(pl.TileType(shape={shape}, dtype=pl.DT_{t}, {where}), addr={addr})\n" for name, shape, t, where, addr in tiles)
        text += f"""    with pl.section_cube():
        pl.load(am, a, [0, 0])
        pl.load(bm, b, [0, 0])
        pl.load(sam, sa, {load_a})
        pl.load(sbm, sb, {load_b})
        pl.system.bar_all()
        pl.move(al, am)
        pl.move(bl, bm)
        pl.move(sal, sam)
        pl.move(sbl, sbm)
        pl.system.bar_all()
        pl.matmul_mx(acc, al, bl, sal, sbl)
        pl.system.bar_all()
        pl.store(c, acc, [0, 0])
"""
        launch(text, codes_a, codes_b, sa, sb, out)  # FP8 arguments come as bytes
        wide_a = E4M3[codes_a] * np.repeat(2.0 ** (ea.astype(np.float64) - 127), 32, axis=1)
        wide_b = E4M3[codes_b] * np.repeat(2.0 ** (eb.astype(np.float64) - 127), 32, axis=0)
        near(out, wide_a @ wide_b, (k + 8) * UNIT * (np.abs(wide_a) @ np.abs(wide_b)))
