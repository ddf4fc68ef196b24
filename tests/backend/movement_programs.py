"""Cube and mix programs: ways into L0, out of the accumulator, over to the vector cores and back."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Movement:
    name: str
    a: str = "DT_FP16"                     # of both factors
    acc: str = "DT_FP32"
    out: str = "DT_FP32"
    store: str = ""                        # further arguments of the store out of the accumulator
    order: str = ""                        # of the load of b
    via: str = ""                          # mode of the move to the vector cores; empty: stored by the cube
    half: str = "64, 64"                   # the vector cores' tile
    offset: str = "0, 0"                   # where vector core `sub` stores
    twice: bool = False                    # the second product is added to the first


MOVEMENTS = (
    Movement("plain"), Movement("accumulated", twice=True), Movement("transposed", order=", order=[1, 0]"), Movement("whole_numbers", a="DT_INT8", acc="DT_INT32", out="DT_INT32"),
    Movement("single_precision", a="DT_FP32"), Movement("relu", store=", relu_pre_mode=pl.ReluPreMode.NormalRelu"), Movement("to_half", out="DT_FP16"),
    Movement("added", store=", atomic=pl.AtomicType.AtomicAdd"), Movement("scaled_to_int8", out="DT_INT8", store=", scale=2.5"),
    Movement("first_vector_core", via="SingleModeVec0"), Movement("second_vector_core", via="SingleModeVec1"),
    Movement("rows_split", via="DualModeSplitM", half="32, 64", offset="sub * 32, 0"), Movement("columns_split", via="DualModeSplitN", half="64, 32", offset="0, sub * 32"),
)

_NUMPY = {"DT_FP16": np.float16, "DT_FP32": np.float32, "DT_INT8": np.int8, "DT_INT32": np.int32}


def text(m: Movement) -> str:
    space = "pl.MemorySpace"
    vector = ""
    if m.via:
        first = {"SingleModeVec0": "sub == 0", "SingleModeVec1": "sub == 1"}.get(m.via)
        store = f"pl.store(out, half_slot, [{m.offset}])"
        vector = f'''
    with pl.section_vector():
        sub = pl.get_subblock_idx()
        half_slot = half.next()
        pl.system.wait_cross_core(pipe=pl.PipeType.V, event_id=0)
        pl.mul(half_slot, half_slot, 2.0)
''' + (f"        if {first}:\n            {store}\n" if first else f"        {store}\n")
        leave = f"pl.move(half_slot, acc_slot, acc_to_vec_mode=pl.AccToVecMode.{m.via})\n        pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id=0)"
    else:
        leave = f"pl.store(out, acc_slot, [0, 0]{m.store})"
    again = "        pl.matmul_acc(acc_slot, acc_slot, left_slot, right_slot)\n" if m.twice else ""
    return f'''
import pypto_pro.language as pl

@pl.jit(auto_mutex=True)
def {m.name}(a: pl.Tensor[[64, 64], pl.{m.a}], b: pl.Tensor[[64, 64], pl.{m.a}], out: pl.Tensor[[64, 64], pl.{m.out}]):
    l1 = pl.TileType(shape=[64, 64], dtype=pl.{m.a}, target_memory={space}.Mat)
    a_l1 = pl.make_tile_group(type=l1, addrs=0x0, mutex_ids=[0])
    b_l1 = pl.make_tile_group(type=l1, addrs=0x4000, mutex_ids=[1])
    left = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.{m.a}, target_memory={space}.Left), addrs=0x0, mutex_ids=[2])
    right = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.{m.a}, target_memory={space}.Right), addrs=0x0, mutex_ids=[3])
    acc = pl.make_tile_group(type=pl.TileType(shape=[64, 64], dtype=pl.{m.acc}, target_memory={space}.Acc), addrs=0x0, mutex_ids=[4])
    half = pl.make_tile_group(type=pl.TileType(shape=[{m.half}], dtype=pl.{m.out}, target_memory={space}.Vec), addrs=0x0, mutex_ids=[5])
    with pl.section_cube():
        a_slot = a_l1.next()
        b_slot = b_l1.next()
        left_slot = left.next()
        right_slot = right.next()
        acc_slot = acc.next()
        half_slot = half.next()
        pl.load(a_slot, a, [0, 0])
        pl.load(b_slot, b, [0, 0]{m.order})
        pl.move(left_slot, a_slot)
        pl.move(right_slot, b_slot)
        pl.matmul(acc_slot, left_slot, right_slot)
{again}        {leave}
{vector}'''


def data(m: Movement) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(m.name))
    kind = _NUMPY[m.a]
    factors = [rng.integers(-9, 9, (64, 64)).astype(kind) if kind == np.int8 else rng.standard_normal((64, 64)).astype(kind) for _ in range(2)]
    return factors[0], factors[1], np.full((64, 64), 3, _NUMPY[m.out])
