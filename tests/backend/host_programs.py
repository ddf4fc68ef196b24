"""Generated tile programs, one kernel a family: the same text runs on the simulator and as host C++, and every value is compared.

Used by test_host.py with a few programs a family; `host_programs.py --count N` runs more and prints what differs.
"""
from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROWS, COLS = 32, 64


@dataclass(frozen=True)
class Family:
    name: str
    dtype: str                      # of the tiles
    ops: tuple[str, ...]            # statements; {d} {a} {b} {c} are tiles, {k} a number
    out: str = ""                   # dtype of the result, when it differs
    numpy: str = "float32"
    ulps: int = 0                   # allowed distance; 0: the same bits
    why: str = ""                   # where the distance comes from
    domain: tuple[float, float] = (-4.0, 4.0)
    declare: str = ""               # further tiles
    steps: int = 3                  # operations a program
    only_last: bool = False         # the family's operations end a program, others lead there
    lead: tuple[str, ...] = field(default=())


_FLOAT = ("pl.add({d}, {a}, {b})", "pl.sub({d}, {a}, {b})", "pl.mul({d}, {a}, {b})", "pl.maximum({d}, {a}, {b})", "pl.minimum({d}, {a}, {b})",
          "pl.add({d}, {a}, {k})", "pl.mul({d}, {a}, {k})", "pl.maximum({d}, {a}, {k})", "pl.minimum({d}, {a}, {k})", "pl.abs({d}, {a})", "pl.neg({d}, {a})", "pl.relu({d}, {a})")
_INT = ("pl.add({d}, {a}, {b})", "pl.sub({d}, {a}, {b})", "pl.mul({d}, {a}, {b})", "pl.maximum({d}, {a}, {b})", "pl.minimum({d}, {a}, {b})", "pl.add({d}, {a}, {n})",
        "pl.and_({d}, {a}, {b})", "pl.abs({d}, {a})", "pl.relu({d}, {a})")
_COLUMN = "    v = pl.make_tile_group(type=pl.TileType(shape=[32, 1], dtype=pl.{T}, layout=pl.TensorLayout.DN), addrs=0xC000, mutex_ids=[6])\n"
_ROW = "    v = pl.make_tile_group(type=pl.TileType(shape=[1, 64], dtype=pl.{T}), addrs=0xC000, mutex_ids=[6])\n"

FAMILIES = (
    Family("float32", "DT_FP32", _FLOAT + ("pl.div({d}, {a}, {b})",), steps=4),
    Family("float16", "DT_FP16", _FLOAT, numpy="float16", steps=3),
    Family("int32", "DT_INT32", _INT, numpy="int32", domain=(-1000, 1000), steps=4),
    Family("int16", "DT_INT16", _INT, numpy="int16", domain=(-100, 100), steps=3),
    Family("elementary", "DT_FP32", ("pl.exp({d}, {a})", "pl.log({d}, {a})", "pl.sqrt({d}, {a})", "pl.rsqrt({d}, {a})", "pl.recip({d}, {a})"), ulps=2, domain=(0.1, 8.0), steps=1,
           why="exp and log are this machine's library on host; the simulator has its own, within half an ulp; rsqrt rounds twice"),
    Family("to_half", "DT_FP32", tuple(f"pl.cast({{d}}, {{a}}, mode=pl.RoundMode.CAST_{m})" for m in ("RINT",)), out="DT_FP16", steps=1),
    Family("to_int", "DT_FP32", tuple(f"pl.cast({{d}}, {{a}}, mode=pl.RoundMode.CAST_{m})" for m in ("RINT", "FLOOR", "CEIL", "TRUNC")), out="DT_INT32", steps=1, domain=(-900.0, 900.0)),
    Family("row_reduce", "DT_FP32", ("pl.sum({v}, {a}, {c}, dim=0)", "pl.maximum({v}, {a}, {c}, dim=0)", "pl.minimum({v}, {a}, {c}, dim=0)"), steps=1, declare=_COLUMN, ulps=128, domain=(0.5, 4.0),
           why="the simulator adds in a tree, the headers from left to right: 64 positive numbers, half an ulp a step at most in either"),
    Family("col_reduce", "DT_FP32", ("pl.sum({v}, {a}, {c}, dim=1)", "pl.maximum({v}, {a}, {c}, dim=1)", "pl.minimum({v}, {a}, {c}, dim=1)"), steps=1, declare=_ROW, ulps=64, domain=(0.5, 4.0),
           why="the simulator adds in a tree, the headers from top to bottom: 32 positive numbers, half an ulp a step at most in either"),
)


@dataclass
class Program:
    family: Family
    text: str
    statements: list[list[str]]     # of each program in the kernel
    inputs: tuple[np.ndarray, np.ndarray]
    out: np.ndarray


def _statement(rng: random.Random, op: str, d: str, tiles: list[str]) -> str:
    a, b = rng.choice(tiles), rng.choice(tiles)
    return op.format(d=d, a=a, b=b, c="c2", v="v0", k=f"{rng.uniform(0.25, 3.0):.3f}", n=rng.randint(1, 9))


def generate(family: Family, count: int, seed: int) -> Program:
    """One kernel that runs `count` programs one after the other, each on its own window of the data."""
    rng = random.Random(f"{family.name} {seed}")
    converts, reduces = bool(family.out), bool(family.declare)
    result = family.out or family.dtype
    column = "32, 1" in family.declare
    shape = [ROWS, 1] if column else [1, COLS] if reduces else [ROWS, COLS]
    width = "int16" if family.dtype in ("DT_FP16", "DT_INT16") else "int32"
    size = ROWS * COLS * (2 if width == "int16" else 4)
    lines, chains = [], []
    for i in range(count):
        body: list[str] = []
        tiles = ["a0", "b0"]
        for step in range(family.steps):
            last = step == family.steps - 1
            target = "r0" if last and not reduces else "c0"
            ops = family.ops if i >= len(family.ops) or family.steps > 1 else (family.ops[i],)  # every operation once before any comes twice
            if family.steps > 1 and last:
                ops = (family.ops[i % len(family.ops)],)
            body.append(_statement(rng, rng.choice(ops), target, tiles))
            if not last and target == "c0":
                tiles = ["a0", "b0", "c0"]
        chains.append(body)
        lines += [f"        pl.load(a0, x, [{i * ROWS}, 0])", f"        pl.load(b0, y, [{i * ROWS}, 0])", *("        " + s for s in body),
                  f"        pl.store(out, {'v0' if reduces else 'r0'}, [{i * shape[0]}, 0])"]
    text = f'''
import pypto_pro.language as pl

@pl.jit(auto_mutex=True)
def {family.name}(x: pl.Tensor[[{count * ROWS}, {COLS}], pl.{family.dtype}], y: pl.Tensor[[{count * ROWS}, {COLS}], pl.{family.dtype}],
        out: pl.Tensor[[{count * shape[0]}, {shape[1]}], pl.{result}]):
    tile = pl.TileType(shape=[{ROWS}, {COLS}], dtype=pl.{family.dtype})
    a = pl.make_tile_group(type=tile, addrs=0x0, mutex_ids=[0])
    b = pl.make_tile_group(type=tile, addrs={size:#x}, mutex_ids=[1])
    ct = pl.make_tile_group(type=tile, addrs={2 * size:#x}, mutex_ids=[2])
    c2t = pl.make_tile_group(type=tile, addrs={3 * size:#x}, mutex_ids=[3])
    r = pl.make_tile_group(type=pl.TileType(shape=[{ROWS}, {COLS}], dtype=pl.{result}), addrs={4 * size:#x}, mutex_ids=[4])
{family.declare.format(T=result).replace("0xC000", hex(6 * size))}    with pl.section_vector():
        a0 = a.next()
        b0 = b.next()
        c0 = ct.next()
        c2 = c2t.next()
        r0 = r.next()
''' + ("        v0 = v.next()\n" if reduces else "") + "\n".join(lines) + "\n"
    data = np.random.default_rng(seed)
    low, high = family.domain
    inputs = tuple(data.uniform(low, high, (count * ROWS, COLS)).astype(family.numpy) for _ in range(2))
    kind = {"DT_FP32": np.float32, "DT_FP16": np.float16, "DT_INT32": np.int32, "DT_INT16": np.int16}[result]
    return Program(family, text, chains, inputs, np.zeros((count * shape[0], shape[1]), kind))


@dataclass(frozen=True)
class Difference:
    family: str
    statements: list[str]
    elements: int
    worst_ulps: int
    simulator: float
    host: float


def _ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind != "f":
        return np.abs(a.astype(np.int64) - b.astype(np.int64))
    bits = {2: np.int16, 4: np.int32}[a.dtype.itemsize]
    def ordered(x: np.ndarray) -> np.ndarray:
        i = x.view(bits).astype(np.int64)
        return np.where(i < 0, np.int64(np.iinfo(bits).min) - i, i)
    distance = np.abs(ordered(a) - ordered(b))
    return np.where(np.isnan(a) & np.isnan(b), 0, distance)


def run(program: Program, load: Any) -> list[Difference]:
    """Both ways; what differs by more than the family allows."""
    kernel = load(program.text)[program.family.name]
    outputs = []
    for device in ("sim", "host"):
        out = program.out.copy()
        kernel.launch((*program.inputs, out), {}, device=device)
        outputs.append(out)
    rows = program.out.shape[0] // len(program.statements)
    found = []
    for i, statements in enumerate(program.statements):
        window = slice(i * rows, (i + 1) * rows)
        distance = _ulps(outputs[0][window], outputs[1][window])
        allowed = program.family.ulps if any(w in " ".join(statements) for w in ("sum", "exp", "log", "rsqrt", "recip", "sqrt")) else 0
        if distance.max() > allowed:
            at = np.unravel_index(int(distance.argmax()), distance.shape)
            found.append(Difference(program.family.name, statements, int((distance > allowed).sum()), int(distance.max()), float(outputs[0][window][at]),
                                    float(outputs[1][window][at])))
    return found


def _movements(load: Any) -> int:
    import movement_programs as programs
    wrong = 0
    for m in programs.MOVEMENTS:
        kernel = load(programs.text(m))[m.name]
        a, b, host = programs.data(m)
        sim = host.copy()
        kernel.launch((a, b, sim), {})
        kernel.launch((a, b, host), {}, device="host")
        wrong += not np.array_equal(sim, host)
        print(f"{m.name:<20} {'the same bits' if np.array_equal(sim, host) else f'{int((sim != host).sum())} elements differ'}", flush=True)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="programs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-kernel", type=int, default=24)
    parser.add_argument("--family")
    parser.add_argument("--movements", action="store_true", help="the cube's programs instead (movement_programs.py)")
    args = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
    import support
    if args.movements:
        return _movements(support.load)
    done, differences, seed = 0, [], args.seed
    families = [f for f in FAMILIES if args.family in (None, f.name)]
    while done < args.count:
        for family in families:
            program = generate(family, min(args.per_kernel, max(1, args.count - done)), seed)
            differences += run(program, support.load)
            done += len(program.statements)
            print(f"{family.name:<12} {done} programs, {len(differences)} differ", flush=True)
            if done >= args.count:
                break
        seed += 1
    for d in differences[:40]:
        print(f"{d.family}: {'; '.join(d.statements)}: {d.elements} elements, up to {d.worst_ulps} ulps: simulator {d.simulator!r}, host {d.host!r}")
    print(f"{done} programs, {len(differences)} with differences beyond the stated ones")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
