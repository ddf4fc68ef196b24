"""One vector function with an expression a row: every operation on registers that the host shim has, its result stored in a row of its own."""
from __future__ import annotations

import ast

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
