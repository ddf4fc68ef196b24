"""Cube and mix programs: ways into L0, products, ways out of the accumulator, over to the vector cores. A fixed list that names each way, and
generated kernels of several such programs."""
from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np


@dataclass(frozen=True)
class Movement:
    name: str
    a: str = "FP16"                        # of both factors
    out: str = "FP32"
    store: str = ""                        # further arguments of the store out of the accumulator
    transposed: bool = False               # b is read transposed
    via: str = ""                          # mode of the move to the vector cores; empty: stored by the cube
    twice: bool = False                    # the second product is added to the first
    size: tuple[int, int, int] = (64, 64, 64)

    @property
    def acc(self) -> str:
        return "INT32" if self.a == "INT8" else "FP32"


_VIAS = ("SingleModeVec0", "SingleModeVec1", "DualModeSplitM", "DualModeSplitN")
MOVEMENTS = (
    Movement("plain"), Movement("accumulated", twice=True), Movement("transposed", transposed=True), Movement("whole_numbers", a="INT8", out="INT32"),
    Movement("single_precision", a="FP32"), Movement("relu", store=", relu_pre_mode=pl.ReluPreMode.NormalRelu"), Movement("to_half", out="FP16"),
    Movement("added", store=", atomic=pl.AtomicType.AtomicAdd"), Movement("scaled_to_int8", out="INT8", store=", scale=2.5"),
    Movement("first_vector_core", via=_VIAS[0]), Movement("second_vector_core", via=_VIAS[1]), Movement("rows_split", via=_VIAS[2]), Movement("columns_split", via=_VIAS[3]),
    Movement("rows_split_relu", via=_VIAS[2], store=", relu_pre_mode=pl.ReluPreMode.NormalRelu"),
    Movement("columns_split_relu", via=_VIAS[3], store=", relu_pre_mode=pl.ReluPreMode.NormalRelu"),
)

_NUMPY = {"FP16": np.float16, "FP32": np.float32, "INT8": np.int8, "INT32": np.int32}
_SPLIT = {"DualModeSplitM": (2, 1), "DualModeSplitN": (1, 2)}


@dataclass
class Kernel:
    """Programs of one kind of tensors, one after the other, each on windows of 64 x 64."""
    name: str
    movements: list[Movement]

    @property
    def statements(self) -> list[list[str]]:
        return [[f"{m.size[0]}x{m.size[1]}x{m.size[2]} {m.a}->{m.out}{' twice' if m.twice else ''}{' transposed' if m.transposed else ''} {m.via or 'cube'}{m.store}"] for m in self.movements]

    def text(self) -> str:
        first, many = self.movements[0], len(self.movements)
        space, declared, cube, vector = "pl.MemorySpace", [], [], []
        width = {"FP16": 2, "FP32": 4, "INT8": 1}[first.a]

        def group(name: str, rows: int, cols: int, dtype: str, where: str, address: int, mutex: int) -> None:
            declared.append(f"    {name} = pl.make_tile_group(type=pl.TileType(shape=[{rows}, {cols}], dtype=pl.DT_{dtype}, target_memory={space}.{where}), addrs={address:#x}, mutex_ids=[{mutex}])")

        for i, p in enumerate(self.movements):
            m, k, n = p.size
            group(f"a{i}", m, k, p.a, "Mat", 0, 0)
            group(f"b{i}", k, n, p.a, "Mat", 64 * 64 * width, 1)
            group(f"left{i}", m, k, p.a, "Left", 0, 2)
            group(f"right{i}", k, n, p.a, "Right", 0, 3)
            group(f"acc{i}", m, n, p.acc, "Acc", 0, 4)
            if p.via:
                rows, cols = _SPLIT.get(p.via, (1, 1))
                group(f"half{i}", m // rows, n // cols, p.out, "Vec", 0x4000 * i, 5 + i)
            names = ("a", "b", "left", "right", "acc", *(("half",) if p.via else ()))
            cube += [f"        {x}{i}_slot = {x}{i}.next()" for x in names]
            cube += [f"        pl.load(a{i}_slot, a, [{64 * i}, 0])", f"        pl.load(b{i}_slot, b, [{64 * i}, 0]{', order=[1, 0]' if p.transposed else ''})",
                     f"        pl.move(left{i}_slot, a{i}_slot)", f"        pl.move(right{i}_slot, b{i}_slot)", f"        pl.matmul(acc{i}_slot, left{i}_slot, right{i}_slot)"]
            if p.twice:
                cube.append(f"        pl.matmul_acc(acc{i}_slot, acc{i}_slot, left{i}_slot, right{i}_slot)")
            if not p.via:
                cube.append(f"        pl.store(out, acc{i}_slot, [{64 * i}, 0]{p.store})")
                continue
            relu = p.store if "relu" in p.store else ""
            cube += [f"        pl.move(half{i}_slot, acc{i}_slot, acc_to_vec_mode=pl.AccToVecMode.{p.via}{relu})", f"        pl.system.set_cross_core(pipe=pl.PipeType.FIX, event_id={i})"]
            offset = {"DualModeSplitM": f"{64 * i} + sub * {m // 2}, 0", "DualModeSplitN": f"{64 * i}, sub * {n // 2}"}.get(p.via, f"{64 * i}, 0")
            vector += [f"        half{i}_slot = half{i}.next()", f"        pl.system.wait_cross_core(pipe=pl.PipeType.V, event_id={i})", f"        pl.mul(half{i}_slot, half{i}_slot, 2.0)"]
            only = {"SingleModeVec0": "0", "SingleModeVec1": "1"}.get(p.via)
            vector += ([f"        if sub == {only}:"] if only else []) + [f"{'            ' if only else '        '}pl.store(out, half{i}_slot, [{offset}])"]
        body = [*declared, "    with pl.section_cube():", *cube]
        if vector:
            body += ["    with pl.section_vector():", "        sub = pl.get_subblock_idx()", *vector]
        tensors = ", ".join(f"{x}: pl.Tensor[[{64 * many}, 64], pl.DT_{t}]" for x, t in (("a", first.a), ("b", first.a), ("out", first.out)))
        return "\nimport pypto_pro.language as pl\n\n@pl.jit(auto_mutex=True)\n" + f"def {self.name}({tensors}):\n" + "\n".join(body) + "\n"

    def data(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, len(self.name)])
        kind, shape = _NUMPY[self.movements[0].a], (64 * len(self.movements), 64)
        factors = [rng.integers(-9, 9, shape).astype(kind) if kind == np.int8 else rng.standard_normal(shape).astype(kind) for _ in range(2)]
        return factors[0], factors[1], np.full(shape, 3, _NUMPY[self.movements[0].out])


def text(m: Movement) -> str:
    return Kernel(m.name, [m]).text()


def data(m: Movement) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return Kernel(m.name, [m]).data()


def generated(count: int, per_kernel: int, seed: int) -> Iterator[Any]:
    """Kernels of random programs, as host_programs.Program."""
    from host_programs import Program
    kinds = (("FP16", "FP32"), ("FP16", "FP16"), ("FP32", "FP32"), ("INT8", "INT32"), ("FP16", "INT8"))
    per_kernel, made = min(per_kernel, 8), 0  # as many cross-core ids as programs
    while made < count:
        a, out = kinds[seed % len(kinds)]
        rng = random.Random(f"movements {seed}")
        programs = []
        for _ in range(min(per_kernel, count - made)):
            via = rng.choice(("", "", *_VIAS)) if out == "FP32" else ""
            sizes = (32, 64) if a == "INT8" or via == "DualModeSplitN" else (16, 32, 48, 64)
            m, k, n = rng.choice((32, 64) if via else sizes), rng.choice(sizes), rng.choice((64,) if via == "DualModeSplitN" else (32, 64) if via or out == "INT8" else sizes)
            stores = [", relu_pre_mode=pl.ReluPreMode.NormalRelu", ""]
            if not via and out != "INT8":
                stores += [", atomic=pl.AtomicType.AtomicAdd"]
            store = f", scale={rng.uniform(0.5, 3):.3f}" if out == "INT8" else rng.choice(stores)
            programs.append(Movement("", a, out, "" if out == "INT32" and "relu" in store else store, rng.random() < 0.4 and k == n and not via, via, rng.random() < 0.4, (m, k, n)))
        kernel = Kernel(f"cube_{a.lower()}_{out.lower()}", programs)
        x, y, empty = kernel.data(seed)
        yield Program(kernel.name, kernel.text(), kernel.statements, [x, y], empty, family=kernel.name)
        made += len(programs)
        seed += 1
