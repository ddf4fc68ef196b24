"""Two heavy runs: attention of one head (S=2048, D=128, fp16) with hazards on, and a vector function that does nothing but arithmetic.

The attention is a plain one: 128 rows of Q a block step, the scores handed to both vector cores by rows, P handed back through L1.
"""
from __future__ import annotations

import math
import time

import numpy as np

import pypto_pro.language as pl
from pypto_pro.language import Vf as vf

LENGTH, WIDTH, TILE = 2048, 128, 128
LIMIT_S = 3.0
HALF = TILE // 2
SCALE = 1.0 / math.sqrt(WIDTH)
SCORES, PRODUCT, SUM, SCRATCH, P_PLAIN, P_NZ, RESULT, ROWS = 0x0, 0x8000, 0x10000, 0x18000, 0x20000, 0x24000, 0x28000, 0x2C000


@pl.jit()
def attention(
    q: pl.Tensor[[pl.DYNAMIC, WIDTH], pl.DT_FP16],
    k: pl.Tensor[[pl.DYNAMIC, WIDTH], pl.DT_FP16],
    v: pl.Tensor[[pl.DYNAMIC, WIDTH], pl.DT_FP16],
    o: pl.Tensor[[pl.DYNAMIC, WIDTH], pl.DT_FP16],
):
    block = pl.get_block_idx() // pl.get_subblock_num()
    half_fp32 = pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP32)
    scores = pl.make_tile_group(type=half_fp32, addrs=SCORES, mutex_ids=[0])
    product = pl.make_tile_group(type=half_fp32, addrs=PRODUCT, mutex_ids=[1])
    p_l1 = pl.make_tile_group(type=pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat), addrs=0x60000, mutex_ids=[20])
    s_tile = scores.next()
    pv_tile = product.next()
    p_mat = p_l1.next()
    with pl.section_cube():
        mat = pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat)
        turned = pl.TileType(shape=[WIDTH, TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Mat, layout=pl.ZN)
        q_l1 = pl.make_tile_group(type=mat, addrs=0x0, mutex_ids=[2, 3])
        k_l1 = pl.make_tile_group(type=turned, addrs=0x10000, mutex_ids=[4, 5])
        v_l1 = pl.make_tile_group(type=mat, addrs=0x20000, mutex_ids=[6, 7])
        left = pl.make_tile_group(type=pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Left), addrs=0x0, mutex_ids=[8, 9])
        right = pl.make_tile_group(type=pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Right), addrs=0x0, mutex_ids=[10, 11])
        acc = pl.make_tile_group(type=pl.TileType(shape=[TILE, TILE], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc), addrs=0x0, mutex_ids=[12, 13])
        for row in pl.range(block * TILE, q.shape[0], pl.get_block_num() * TILE):
            q_tile = q_l1.next()
            pl.load(q_tile, q, [row, 0])
            for col in pl.range(0, k.shape[0], TILE):
                k_tile = k_l1.next()
                a = left.next()
                b = right.next()
                s_acc = acc.next()
                pl.load(k_tile, k, [col, 0], order=[1, 0])
                pl.move(a, q_tile)
                pl.move(b, k_tile)
                pl.matmul(s_acc, a, b)
                pl.move(s_tile, s_acc, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)
                pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id=0)
                v_tile = v_l1.next()
                a = left.next()
                b = right.next()
                o_acc = acc.next()
                pl.load(v_tile, v, [col, 0])
                pl.move(b, v_tile)
                pl.system.wait_cross_core(pipe=pl.PipeType.MTE1, event_id=1)
                pl.move(a, p_mat)
                pl.matmul(o_acc, a, b)
                pl.move(pv_tile, o_acc, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)
                pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id=2)
    with pl.section_vector():
        column = pl.TileType(shape=[HALF, 1], dtype=pl.DT_FP32, layout=pl.DN)
        line = pl.TileType(shape=[1, HALF], dtype=pl.DT_FP32)
        total = pl.make_tile(half_fp32, addr=SUM)
        scratch = pl.make_tile(half_fp32, addr=SCRATCH)
        highest, highest_line = pl.make_tile(column, addr=ROWS), pl.make_tile(line, addr=ROWS)
        now, now_line = pl.make_tile(column, addr=ROWS + 0x100), pl.make_tile(line, addr=ROWS + 0x100)
        factor, factor_line = pl.make_tile(column, addr=ROWS + 0x200), pl.make_tile(line, addr=ROWS + 0x200)
        weight, weight_line = pl.make_tile(column, addr=ROWS + 0x300), pl.make_tile(line, addr=ROWS + 0x300)
        part, part_line = pl.make_tile(column, addr=ROWS + 0x400), pl.make_tile(line, addr=ROWS + 0x400)
        plain = pl.make_tile(pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP16), addr=P_PLAIN)
        nz = pl.make_tile_group(type=pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP16, layout=pl.NZ), addrs=P_NZ, mutex_ids=[14])
        result = pl.make_tile_group(type=pl.TileType(shape=[HALF, TILE], dtype=pl.DT_FP16), addrs=RESULT, mutex_ids=[15])
        p_tile = nz.next()
        out = result.next()
        first = pl.get_subblock_idx() * HALF
        for row in pl.range(block * TILE, q.shape[0], pl.get_block_num() * TILE):
            pl.expands(highest_line, -1.0e30)
            pl.expands(weight_line, 0.0)
            pl.expands(total, 0.0)
            for col in pl.range(0, k.shape[0], TILE):
                pl.system.wait_cross_core(pipe=pl.PipeType.V, event_id=0)
                pl.maximum(now, s_tile, scratch, dim=0)
                pl.maximum(now_line, now_line, highest_line)
                pl.sub(factor_line, highest_line, now_line)
                pl.mul(factor_line, factor_line, SCALE)
                pl.exp(factor_line, factor_line)
                pl.mul(highest_line, now_line, 1.0)
                pl.expand_sub(scratch, s_tile, now, dim=0)
                pl.mul(scratch, scratch, SCALE)
                pl.exp(scratch, scratch)
                pl.sum(part, scratch, scratch, dim=0)
                pl.mul(weight_line, weight_line, factor_line)
                pl.add(weight_line, weight_line, part_line)
                pl.cast(plain, scratch)
                pl.move(p_tile, plain)
                pl.insert(p_mat, p_tile, [first, 0])
                pl.system.set_cross_core(pipe=pl.PipeType.MTE3, event_id=1)
                pl.system.wait_cross_core(pipe=pl.PipeType.V, event_id=2)
                pl.expand_mul(total, total, factor, dim=0)
                pl.add(total, total, pv_tile)
            pl.expand_div(total, total, weight, dim=0)
            pl.cast(out, total)
            pl.store(o, out, [row + first, 0])


@pl.vector_function
def polynomial(target, source, rounds):
    every = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
    for row in pl.range(0, 64):
        x = vf.load_align(source, row * 64)
        y = vf.full(0.5, every)
        for _ in pl.range(0, rounds):
            y = vf.mul(y, x, every)
            y = vf.adds(y, 0.25, every)
        vf.store_align(target + row * 64, y, every)


@pl.jit()
def registers(x: pl.Tensor[[64, 64], pl.DT_FP32], y: pl.Tensor[[64, 64], pl.DT_FP32], rounds: pl.DT_INT32):
    tile = pl.TileType(shape=[64, 64], dtype=pl.DT_FP32)
    source = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0])
    target = pl.make_tile_group(type=tile, addrs=0x4000, mutex_ids=[1])
    with pl.section_vector():
        a = source.next()
        b = target.next()
        pl.load(a, x, [0, 0])
        polynomial(b, a, rounds)
        pl.store(y, b, [0, 0])


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    s = q.astype(np.float32) @ k.astype(np.float32).T * SCALE
    p = np.exp(s - s.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True)) @ v.astype(np.float32)


def gemm_peak(runs: int = 4) -> float:
    """Floating-point operations numpy's float32 matmul does in a second of one processor."""
    a = np.ones((1024, 1024), np.float32)
    best = math.inf
    for _ in range(runs):
        begin = time.process_time()
        a @ a
        best = min(best, time.process_time() - begin)
    return 2 * 1024**3 / best


def measure(runs: int = 3, length: int = LENGTH, blocks: int = 16) -> dict[str, float]:
    """Seconds of processor time, operations a second of it, and the share of numpy's peak."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((length, WIDTH)).astype(np.float16) for _ in range(3))
    o = np.zeros_like(q)
    best = math.inf
    for _ in range(runs):
        begin = time.process_time()
        run = attention.launch((q, k, v, o), {}, block_dim=blocks)
        best = min(best, time.process_time() - begin)
    error = float(np.abs(o - reference(q, k, v)).max())
    if run.status != "done" or error > 5e-3:
        raise AssertionError(f"attention: {run.status}, error {error}")
    flops = 4.0 * length * length * WIDTH
    x, y, rounds = rng.random((64, 64), np.float32), np.zeros((64, 64), np.float32), 4096
    begin = time.process_time()
    registers.launch((x, y, rounds), {})
    spent = time.process_time() - begin
    expected = np.full((64, 64), 0.5, np.float32)
    for _ in range(rounds):
        expected = expected * x + np.float32(0.25)
    if not np.array_equal(y, expected):
        raise AssertionError("registers: the values differ from numpy's")
    operations = 64 * (2 * rounds + 3)
    peak = gemm_peak()
    return {"attention_s": best, "attention_error": error, "attention_flops": flops / best, "gemm_flops": peak, "share_of_gemm": flops / best / peak,
            "register_operations_per_s": operations / spent}
