"""Public cases with known answers: whole kernels that must be accepted (ACC-05, ACC-07), valid shapes after a branch (PRE-05), sums whose
order is free (PRE-06)."""
from __future__ import annotations

import numpy as np
import pytest
from support import errors, load

import xpto
from xpto.errors import HazardError

SOFTMAX = '''
import pypto_pro.language as pl

ROWS, COLS = 32, 128


@pl.jit()
def softmax(x: pl.Tensor[[pl.DYNAMIC, COLS], pl.DT_FP32], y: pl.Tensor[[pl.DYNAMIC, COLS], pl.DT_FP32]):
    tile = pl.TileType(shape=[ROWS, COLS], dtype=pl.DT_FP32)
    column = pl.TileType(shape=[ROWS, 1], dtype=pl.DT_FP32, layout=pl.TensorLayout.DN)
    data = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0, 1])
    scratch = pl.make_tile_group(type=tile, addrs=0x8000, mutex_ids=[2])
    part = pl.make_tile_group(type=column, addrs=0xC000, mutex_ids=[3])
    with pl.section_vector():
        n = x.shape[0]
        for r in pl.range(pl.get_block_idx() * ROWS, n, pl.get_block_num() * ROWS):
            t = data.next()
            s = scratch.next()
            c = part.next()
            rows = pl.min(ROWS, n - r)
            pl.set_validshape(t, [rows, COLS])
            pl.set_validshape(s, [rows, COLS])
            pl.set_validshape(c, [rows, 1])
            pl.load(t, x, [r, 0])
            pl.maximum(c, t, s, dim=0)
            pl.expand_sub(t, t, c, dim=0)
            pl.exp(t, t)
            pl.sum(c, t, s, dim=0)
            pl.expand_div(t, t, c, dim=0)
            pl.store(y, t, [r, 0])
'''

LAYER_NORM = SOFTMAX.replace("softmax(x", "layer_norm(x").replace('''            pl.maximum(c, t, s, dim=0)
            pl.expand_sub(t, t, c, dim=0)
            pl.exp(t, t)
            pl.sum(c, t, s, dim=0)
            pl.expand_div(t, t, c, dim=0)
''', '''            pl.sum(c, t, s, dim=0)
            pl.mul(c, c, 1.0 / COLS)
            pl.expand_sub(t, t, c, dim=0)
            pl.mul(s, t, t)
            pl.sum(c, s, t, dim=0)
            pl.mul(c, c, 1.0 / COLS)
            pl.add(c, c, 1e-5)
            pl.rsqrt(c, c)
            pl.expand_mul(t, t, c, dim=0)
''')


@pytest.mark.parametrize("rows, blocks", [(32, 1), (129, 4), (5, 2)])
def test_acc_07_softmax_and_layer_norm(rows, blocks):
    x = (np.random.default_rng(rows).standard_normal((rows, 128)) * 5).astype(np.float32)
    wide = x.astype(np.float64)
    y = np.zeros_like(x)
    load(SOFTMAX)["softmax"][None, blocks](x, y)
    e = np.exp(wide - wide.max(1, keepdims=True))
    assert np.allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)
    load(LAYER_NORM)["layer_norm"][None, blocks](x, y)
    centred = wide - wide.mean(1, keepdims=True)
    assert np.allclose(y, centred / np.sqrt((centred ** 2).mean(1, keepdims=True) + 1e-5), rtol=1e-4, atol=1e-5)


# Attention over key blocks of 32, four stages; the softmax works on registers and keeps its running sum in UB.
ATTENTION = '''
import pypto_pro.language as pl

S, D, BLOCK = 32, 32, 32
HALF = S // 2


@pl.vector_function
def exponentials(scores, weights, factor):
    for i in pl.range(0, HALF * BLOCK, 64):
        lanes = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
        row = vf.load_align(scores, i)
        row = vf.muls(row, factor, lanes)
        row = vf.exp(row, lanes)
        vf.store_align(weights, row, lanes, i)


@pl.pipeline.stage
def scores(ki, k, kg, q_l1, left, right, acc, s_ch):
    key = kg.next()
    l0a = left.next()
    l0b = right.next()
    c = acc.next()
    s = s_ch.next()
    pl.load(key, k, [ki * BLOCK, 0], order=[1, 0])
    pl.move(l0a, q_l1)
    pl.move(l0b, key)
    pl.matmul(c, l0a, l0b)
    pl.move(s, c, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def weigh(sub, s_ch, wg, hg, ng, tmp, part, total, p_ch):
    s = s_ch.next()
    w = wg.next()
    h = hg.next()
    z = ng.next()
    p = p_ch.next()
    exponentials(s, w, 0.17677669)
    pl.sum(part, w, tmp, dim=0)
    pl.add(total, total, part)
    pl.cast(h, w, mode=pl.RoundMode.CAST_RINT)
    pl.move(z, h)
    pl.insert(p, z, [sub * HALF, 0])


@pl.pipeline.stage
def values(ki, v, vg, p_ch, left, right, acc, o_ch):
    val = vg.next()
    p = p_ch.next()
    l0a = left.next()
    l0b = right.next()
    c = acc.next()
    o = o_ch.next()
    pl.load(val, v, [ki * BLOCK, 0])
    pl.move(l0a, p)
    pl.move(l0b, val)
    pl.matmul(c, l0a, l0b)
    pl.move(o, c, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)


@pl.pipeline.stage
def gather(o_ch, result):
    o = o_ch.next()
    pl.add(result, result, o)


@pl.jit(auto_mutex=True, pipeline=pl.pipeline.PipelineConfig(preload=PRELOAD))
def attention(q: pl.Tensor[[S, D], pl.DT_FP16], k: pl.Tensor[[pl.DYNAMIC, D], pl.DT_FP16], v: pl.Tensor[[pl.DYNAMIC, D], pl.DT_FP16],
              out: pl.Tensor[[S, D], pl.DT_FP32]):
    half = pl.TileType(shape=[HALF, BLOCK], dtype=pl.DT_FP32)
    half16 = pl.TileType(shape=[HALF, BLOCK], dtype=pl.DT_FP16)
    half_nz = pl.TileType(shape=[HALF, BLOCK], dtype=pl.DT_FP16, layout=pl.TensorLayout.NZ)
    column = pl.TileType(shape=[HALF, 1], dtype=pl.DT_FP32, layout=pl.TensorLayout.DN)
    mat = pl.TileType(shape=[S, BLOCK], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat)
    mat_t = pl.TileType(shape=[D, BLOCK], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat, layout=pl.TensorLayout.ZN)
    s_ch = pl.make_tile_group(type=half, addrs=0x0, mutex_ids=[0, 1], fwd_ids=[0, 1], bwd_ids=[2, 3])
    p_ch = pl.make_tile_group(type=mat, addrs=0x0, mutex_ids=[2, 3, 4], fwd_ids=[4, 5, 6]BACK)
    o_ch = pl.make_tile_group(type=half, addrs=0x2000, mutex_ids=[5, 6], fwd_ids=[7, 8], bwd_ids=[9, 10])
    q_group = pl.make_tile_group(type=mat, addrs=0x4000, mutex_ids=[7])
    kg = pl.make_tile_group(type=mat_t, addrs=0x6000, mutex_ids=[8, 9])
    vg = pl.make_tile_group(type=mat, addrs=0x8000, mutex_ids=[10, 11])
    left = pl.make_tile_group(type=pl.TileType(shape=[S, BLOCK], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[12, 13])
    right = pl.make_tile_group(type=pl.TileType(shape=[BLOCK, D], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Right), addrs=0x0, mutex_ids=[14, 15])
    acc = pl.make_tile_group(type=pl.TileType(shape=[S, D], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[16, 17])
    wg = pl.make_tile_group(type=half, addrs=0x4000, mutex_ids=[18, 19])
    hg = pl.make_tile_group(type=half16, addrs=0x6000, mutex_ids=[20, 21])
    ng = pl.make_tile_group(type=half_nz, addrs=0x8000, mutex_ids=[22, 23])
    tmp = pl.make_tile(half, addr=0xA000)
    part = pl.make_tile(column, addr=0xB000)
    total = pl.make_tile(column, addr=0xB100)
    result_group = pl.make_tile_group(type=half, addrs=0xC000, mutex_ids=[24])
    blocks = k.shape[0] // BLOCK
    with pl.section_cube():
        q_l1 = q_group.next()
        pl.load(q_l1, q, [0, 0])
    with pl.section_vector():
        sub = pl.get_subblock_idx()
        result = result_group.next()
        pl.expands(total, 0.0)
        pl.expands(result, 0.0)
    for ki in pl.range(blocks):
        with pl.section_cube():
            scores(ki, k, kg, q_l1, left, right, acc, s_ch)
        with pl.section_vector():
            weigh(sub, s_ch, wg, hg, ng, tmp, part, total, p_ch)
        with pl.section_cube():
            values(ki, v, vg, p_ch, left, right, acc, o_ch)
        with pl.section_vector():
            gather(o_ch, result)
    with pl.section_vector():
        pl.expand_div(result, result, total, dim=0)
        pl.store(out, result, [sub * HALF, 0])
'''
BACK = ", bwd_ids=[11, 12, 13]"


def attention_reference(q, k, v):
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    e = np.exp(q @ k.T / np.sqrt(q.shape[1]))
    return e / e.sum(1, keepdims=True) @ v


@pytest.mark.parametrize("preload, blocks", [(0, 3), (1, 4), (2, 5), (3, 1)])
def test_acc_05_attention_written_serially(preload, blocks):
    rng = np.random.default_rng(blocks)
    q, k, v = (rng.standard_normal((n, 32)).astype(np.float16) for n in (32, 32 * blocks, 32 * blocks))
    out = np.zeros((32, 32), np.float32)
    kernel = load(ATTENTION.replace("PRELOAD", str(preload)).replace("BACK", BACK))["attention"]
    made = kernel.compile()
    assert made.ok, made.text()
    assert [s["name"] for s in made.to_json()["loops"][0]["stages"]] == ["scores", "weigh", "values", "gather"]
    run = kernel.launch((q, k, v, out), {}, hostile="all")
    assert run.status == "done", run.text()
    assert np.abs(out - attention_reference(q, k, v)).max() < 2e-3


def test_acc_05_the_forward_only_middle_channel_is_racy_at_depth_3():
    made = load(ATTENTION.replace("PRELOAD", "3").replace("BACK", ""))["attention"].compile()
    found = errors(made)
    assert found and any("p_ch" in d["message"] for d in found), made.text()
    assert any("bwd_ids" in advice for d in found for advice in d.get("advice", [])), made.text()


TAIL = '''
import pypto_pro.language as pl

@pl.jit()
def tails(x: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_{t}], y: pl.Tensor[[pl.DYNAMIC, 64], pl.DT_{t}]):
    g = pl.make_tile_group(type=pl.TileType(shape=[32, 64], dtype=pl.DT_{t}), addrs=0x0, mutex_ids={ids})
    with pl.section_vector():
        n = x.shape[0]
        for i in pl.range(0, n, 32):
            a = g.next()
            if n - i < 32:
                pl.set_validshape(a, [n - i, 64])
{otherwise}            pl.load(a, x, [i, 0])
            pl.store(y, a, [i, 0])
'''


@pytest.mark.parametrize("dtype, numpy_type, ids", [("FP32", np.float32, "[0, 1]"), ("INT16", np.int16, "[0]")])
def test_pre_05_a_valid_shape_set_on_one_path(dtype, numpy_type, ids):
    for rows in (70, 64, 5):
        x = np.random.default_rng(rows).integers(0, 100, (rows, 64)).astype(numpy_type)
        for otherwise, warned in (("", True), ("            else:\n                pl.set_validshape(a, [32, 64])\n", False)):
            text = TAIL.format(t=dtype, ids=ids, otherwise=otherwise)
            kernel = load(text)["tails"]
            found = [d for d in kernel.compile().diagnostics if d["code"] == "PTO-valid-shape-path"]
            assert bool(found) == warned
            if warned:
                assert "set_validshape" in text.splitlines()[found[0]["line"] - 1] and "`a`" in found[0]["message"]
            y = np.full((rows + 1, 64), 7, numpy_type)
            kernel[None, 1](x, y[:rows])
            assert np.array_equal(x, y[:rows]) and (y[rows] == 7).all()


ATOMIC = '''
import pypto_pro.language as pl

@pl.jit()
def split_k(a: pl.Tensor[[16, 256], pl.DT_FP32], b: pl.Tensor[[256, 16], pl.DT_FP32], c: pl.Tensor[[16, 16], pl.DT_FP32]):
    am = pl.make_tile_group(type=pl.TileType(shape=[16, 32], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addrs=0x0, mutex_ids=[0])
    bm = pl.make_tile_group(type=pl.TileType(shape=[32, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Mat), addrs=0x4000, mutex_ids=[1])
    al = pl.make_tile_group(type=pl.TileType(shape=[16, 32], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[2])
    bl = pl.make_tile_group(type=pl.TileType(shape=[32, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Right), addrs=0x0, mutex_ids=[3])
    cl = pl.make_tile_group(type=pl.TileType(shape=[16, 16], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[4])
    with pl.section_cube():
        k = pl.get_block_idx() * 32
        x = am.next()
        y = bm.next()
        l = al.next()
        r = bl.next()
        acc = cl.next()
        pl.load(x, a, [0, k])
        pl.load(y, b, [k, 0])
        pl.move(l, x)
        pl.move(r, y)
        pl.matmul(acc, l, r)
        pl.store(c, acc, [0, 0]{atomic})
'''


def test_pre_06_atomic_sums_may_come_in_any_order():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((16, 256)).astype(np.float32), rng.standard_normal((256, 16)).astype(np.float32)
    kernel = load(ATOMIC.format(atomic=", atomic=pl.AtomicType.AtomicAdd"))["split_k"]
    c = np.zeros((16, 16), np.float32)
    run = kernel.launch((a, b, c), {}, block_dim=8)
    assert run.status == "done", run.text()  # atomic addition is no race
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert (np.abs(c - exact) <= 2 * 256 * 2.0 ** -24 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))).all()
    parts = [a[:, i:i + 32] @ b[i:i + 32] for i in range(0, 256, 32)]
    for order in (range(7, -1, -1), [3, 1, 4, 0, 5, 2, 6, 7]):  # as the cores of a device may finish
        other = np.zeros_like(c)
        for i in order:
            other += parts[i]
        verdict = xpto.compare(c, other, kernel=kernel)
        assert verdict and verdict.status == "MATCH" and "order-dependent, within bound" in verdict.kind, verdict.text()
    other[3, 3] += 1
    verdict = xpto.compare(c, other, kernel=kernel)
    assert verdict.status == "DIFFERENT" and "order-dependent" not in verdict.kind
    # A plain run repeats its bits; orders of blocks other than their numbers show what leans on them, and say why.
    again = np.zeros_like(c)
    kernel.launch((a, b, again), {}, block_dim=8)
    assert again.tobytes() == c.tobytes()
    sums = set()
    for order in ("program", "random(1)", "random(2)", "late(AIC.FIX)"):
        other = np.zeros_like(c)
        assert kernel.launch((a, b, other), {}, block_dim=8, order=order).status == "done"
        assert (np.abs(other - exact) <= 2 * 256 * 2.0 ** -24 * (np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))).all()
        sums.add(other.tobytes())
    assert len(sums) >= 3
    hostile = kernel.launch((a, b, np.zeros_like(c)), {}, block_dim=8, hostile="random")
    assert hostile.status == "differs" and "blocks add floats atomically" in hostile.text()
    whole = (rng.integers(-8, 9, (16, 256)).astype(np.float32), rng.integers(-8, 9, (256, 16)).astype(np.float32))
    assert kernel.launch((*whole, np.zeros_like(c)), {}, block_dim=8, hostile="all").status == "done"  # sums of whole numbers have one value
    plain = load(ATOMIC.format(atomic=""))["split_k"]
    with pytest.raises(HazardError, match="RACE"):  # the same text without atomic= is one
        plain.launch((a, b, np.zeros((16, 16), np.float32)), {}, block_dim=8)
