"""Vector functions with an expression a row: every operation on registers that the host shim has, and generated ones several operations deep. Each
result is stored in a row of its own."""
from __future__ import annotations

import ast
import random
from typing import Any, Iterator

import numpy as np

# m all lanes, h some of them, a and b registers of fp32, i and j of int32
EXPRESSIONS = (
    "vf.add(a, b, m)", "vf.sub(a, b, h)", "vf.mul(a, b, m)", "vf.div(a, b, m)", "vf.max(a, b, m)", "vf.min(a, b, h)", "vf.abs_sub(a, b, m)", "vf.exp_sub(a, b, m)",
    "vf.adds(a, 1.25, m)", "vf.subs(a, 0.5, m)", "vf.muls(a, -3.0, h)", "vf.maxs(a, 0.25, m)", "vf.mins(a, 0.25, m)", "vf.leaky_relu(a, 0.125, m)", "vf.prelu(a, b, m)",
    "vf.abs(a, m)", "vf.neg(a, h)", "vf.relu(a, m)", "vf.exp(a, m)", "vf.ln(vf.abs(a, m), m)", "vf.log2(vf.abs(a, m), m)", "vf.log10(vf.abs(a, m), m)",
    "vf.sqrt(vf.abs(a, m), m)", "vf.truncate(a, m)", "vf.select(a, b, vf.gt(a, b, m))", "vf.select(a, b, vf.le(a, b, h))",
    "vf.reduce_sum(a, m)", "vf.reduce_sum(a, h)", "vf.reduce_max(a, m)", "vf.reduce_min(a, h)", "vf.reduce_sum(a, m, datablock=True)", "vf.reduce_max(a, m, datablock=True)",
    "vf.pair_reduce_sum(a, m)", "vf.astype(vf.unpack(vf.pack(i, dtype=pl.DT_UINT16), dtype=pl.DT_UINT32), m, pl.DT_FP32)", "vf.axpy(a, 0.5, m)",
    "vf.full(2.5, m)", "vf.astype(i, m, pl.DT_FP32)", "vf.astype(vf.shift_left(i, 2, m), m, pl.DT_FP32)", "vf.astype(vf.and_(i, j, m), m, pl.DT_FP32)",
    "vf.astype(vf.xor(i, j, m), m, pl.DT_FP32)", "vf.astype(vf.astype(a, m, pl.DT_FP16), m, pl.DT_FP32)", "vf.astype(vf.arange(3, pl.DT_INT32), m, pl.DT_FP32)",
    "vf.astype(vf.astype(a, m, pl.DT_INT32, round_mode=pl.VFRoundMode.CAST_FLOOR), m, pl.DT_FP32)",
)


def _statements(expression: str, number: int) -> list[str]:
    """One call a statement: what gives a register is assigned to a name. The last name is the result's."""
    lines: list[str] = []

    def named(node: ast.expr) -> str:
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("vf.")):
            return ast.unparse(node)
        arguments = [named(a) for a in node.args] + [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords]
        lines.append(f"r{number}_{len(lines)} = {ast.unparse(node.func)}({', '.join(arguments)})")
        return lines[-1].split(" ", 1)[0]

    last = named(ast.parse(expression, mode="eval").body)
    return [*lines, f"vf.store_align(to, {last}, m, {number * 64})"]


def text(expressions: tuple[str, ...] = EXPRESSIONS) -> str:
    rows = "\n".join("    " + line for n, e in enumerate(expressions) for line in _statements(e, n))
    return f'''
import pypto_pro.language as pl

@pl.vector_function
def lanes(first, second, numbers, to):
    m = vf.create_mask(pattern=pl.MaskPattern.ALL, dtype=pl.DT_FP32)
    h = vf.update_mask(23, dtype=pl.DT_FP32)
    a = vf.load_align(first, 0)
    b = vf.load_align(second, 0)
    i = vf.load_align(numbers, 0)
    j = vf.load_align(numbers, 64)
{rows}

@pl.jit(auto_mutex=True)
def registers(x: pl.Tensor[[1, 64], pl.DT_FP32], y: pl.Tensor[[1, 64], pl.DT_FP32], n: pl.Tensor[[2, 64], pl.DT_INT32],
              out: pl.Tensor[[{len(expressions)}, 64], pl.DT_FP32]):
    row = pl.TileType(shape=[1, 64], dtype=pl.DT_FP32)
    xs = pl.make_tile_group(type=row, addrs=0x0, mutex_ids=[0])
    ys = pl.make_tile_group(type=row, addrs=0x100, mutex_ids=[1])
    ns = pl.make_tile_group(type=pl.TileType(shape=[2, 64], dtype=pl.DT_INT32), addrs=0x200, mutex_ids=[2])
    outs = pl.make_tile_group(type=pl.TileType(shape=[{len(expressions)}, 64], dtype=pl.DT_FP32), addrs=0x400, mutex_ids=[3])
    with pl.section_vector():
        a = xs.next()
        b = ys.next()
        i = ns.next()
        o = outs.next()
        pl.load(a, x, [0, 0])
        pl.load(b, y, [0, 0])
        pl.load(i, n, [0, 0])
        lanes(a, b, i, o)
        pl.store(out, o, [0, 0])
'''


def data(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [*(rng.uniform(-3, 3, (1, 64)).astype(np.float32) for _ in range(2)), rng.integers(-1000, 1000, (2, 64)).astype(np.int32)]


# ------------------------------------------------------------------ generated

def _real(rng: random.Random, depth: int) -> str:
    """An expression of fp32 lanes. Every lane of every register is written, so a mask of some lanes leaves zeros and nothing unknown."""
    if depth == 0:
        return rng.choice("ab")
    sub, mask = (lambda: _real(rng, rng.randrange(depth))), rng.choice("mmh")
    k = f"{rng.uniform(-3, 3):.3f}"
    return rng.choice((
        lambda: f"vf.{rng.choice(('add', 'sub', 'mul', 'max', 'min', 'abs_sub', 'prelu'))}({sub()}, {sub()}, {mask})",
        lambda: f"vf.{rng.choice(('adds', 'subs', 'muls', 'maxs', 'mins', 'leaky_relu'))}({sub()}, {k}, {mask})",
        lambda: f"vf.{rng.choice(('abs', 'neg', 'relu', 'truncate'))}({sub()}, {mask})",
        lambda: f"vf.div({sub()}, vf.adds(vf.abs({sub()}, m), 0.5, m), {mask})",
        lambda: f"vf.{rng.choice(('ln', 'log2', 'log10', 'sqrt'))}(vf.adds(vf.abs({sub()}, m), 0.125, m), {mask})",
        lambda: f"vf.exp(vf.mins({sub()}, 4.0, m), {mask})",
        lambda: f"vf.select({sub()}, {sub()}, vf.{rng.choice(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))}({sub()}, {sub()}, m))",
        lambda: f"vf.{rng.choice(('reduce_sum', 'reduce_max', 'reduce_min'))}({sub()}, {mask})",
        lambda: f"vf.{rng.choice(('reduce_sum', 'reduce_max', 'reduce_min'))}({sub()}, m, datablock=True)",
        lambda: f"vf.astype({_whole(rng, rng.randrange(depth))}, m, pl.DT_FP32)",
        lambda: f"vf.astype(vf.astype({sub()}, m, pl.DT_FP16, round_mode=pl.VFRoundMode.CAST_{rng.choice(('RINT', 'FLOOR', 'CEIL', 'TRUNC'))}), m, pl.DT_FP32)",
    ))()


def _whole(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice("ij")
    sub = lambda: _whole(rng, rng.randrange(depth))  # noqa: E731
    return rng.choice((
        lambda: f"vf.{rng.choice(('add', 'sub', 'mul', 'max', 'min', 'and_', 'or_', 'xor'))}({sub()}, {sub()}, {rng.choice('mmh')})",
        lambda: f"vf.{rng.choice(('shift_left', 'shift_right'))}({sub()}, {rng.randint(0, 7)}, m)",
        lambda: f"vf.{rng.choice(('adds', 'maxs', 'mins', 'muls'))}({sub()}, {rng.randint(-99, 99)}, m)",
        lambda: f"vf.{rng.choice(('abs', 'neg'))}({sub()}, m)",
        lambda: f"vf.astype(vf.mins(vf.maxs({_real(rng, rng.randrange(depth))}, -9000.0, m), 9000.0, m), m, pl.DT_INT32, round_mode=pl.VFRoundMode.CAST_{rng.choice(('RINT', 'FLOOR', 'CEIL', 'TRUNC', 'ROUND'))})",
    ))()


def generated(count: int, per_kernel: int, seed: int) -> Iterator[Any]:
    """Kernels of random expressions, as host_programs.Program."""
    from host_programs import Program
    made = 0
    while made < count:
        rng = random.Random(f"registers {seed}")
        expressions = tuple(_real(rng, rng.randint(1, 4)) for _ in range(min(per_kernel, count - made)))
        yield Program("registers", text(expressions), [[e] for e in expressions], data(seed), np.zeros((len(expressions), 64), np.float32), family="registers")
        made += len(expressions)
        seed += 1
