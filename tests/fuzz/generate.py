"""Random pipelined kernels with an independent numpy meaning.

A kernel is a chain of alternating cube and vector stages over 32 x 16 fp32 tiles of small integers. Cube stages multiply by a
signed permutation (so that no sum rounds and every order of additions gives the same bits), vector stages are a program of one to
three of relu, doubling, adding the task number, negation, abs. Everything the transform has rules about is drawn: number of stages,
the core that starts, slots, one id for many slots, missing backward ids, address reuse, outer loops, several loops, trip counts from 0.
`flags=True` writes the same kernel without auto_mutex: explicit flags between the pipes of a stage, a barrier behind each stage.
"""
from __future__ import annotations

import dataclasses
import random

import numpy as np

ROWS, COLS, HALF = 32, 16, 16
TILE_BYTES, HALF_BYTES = ROWS * COLS * 4, HALF * COLS * 4


@dataclasses.dataclass
class Channel:
    name: str
    to_vector: bool            # producer is a cube stage: memory Vec; else Mat
    slots: int
    fwd: list[int]
    bwd: list[int] | None
    address: int = 0
    mutex: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class StagePlan:
    name: str
    cube: bool
    ops: list[str]             # vector: relu, double, add_task, negate, abs, one after the other; cube: the matrix index as text


@dataclasses.dataclass
class LoopPlan:
    stages: list[StagePlan]
    channels: list[Channel]
    outer: int | None          # trip count of the outer loop
    trips: int
    start: int
    step: int
    runtime_bound: bool
    first_row: int             # first row block of its own part of the tensors


@dataclasses.dataclass
class Fuzz:
    seed: int
    source: str
    name: str
    loops: list[LoopPlan]
    tasks: int                 # row blocks of x and y in total
    matrices: list[np.ndarray]
    features: set[str]

    def inputs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        x = rng.integers(-4, 5, (max(1, self.tasks) * ROWS, COLS)).astype(np.float32)
        m = np.concatenate(self.matrices).astype(np.float32)
        return x, m, np.zeros_like(x)

    def reference(self) -> np.ndarray:
        x, _, y = self.inputs()
        for loop in self.loops:
            count = loop.trips * (1 if loop.outer is None else loop.outer)
            for task in range(count):
                # the value stages see as their task number: the loop variable
                i = loop.start + (task % max(1, loop.trips)) * loop.step
                row = (loop.first_row + task) * ROWS
                v = x[row:row + ROWS].copy()
                for stage in loop.stages:
                    for op in stage.ops:
                        if stage.cube:
                            v = v @ self.matrices[int(op)]
                        elif op == "relu":
                            v = np.maximum(v, np.float32(0))
                        elif op == "double":
                            v = v * np.float32(2)
                        elif op == "negate":
                            v = v * np.float32(-1)
                        elif op == "abs":
                            v = np.abs(v)
                        else:
                            v = v + np.float32(i)
                y[row:row + ROWS] = v
        return y


def _permutation(rng: random.Random) -> np.ndarray:
    order = list(range(COLS))
    rng.shuffle(order)
    m = np.zeros((COLS, COLS), dtype=np.float32)
    for r, c in enumerate(order):
        m[r, c] = rng.choice((-1, 1))
    return m


class _Allocator:
    """Addresses and mutex ids of one memory, handed out upwards."""

    def __init__(self) -> None:
        self.next_address: dict[str, int] = {}
        self.next_mutex = {"cube": 0, "vector": 0}

    def address(self, memory: str, size: int) -> int:
        at = (self.next_address.get(memory, 0) + 511) // 512 * 512
        self.next_address[memory] = at + size
        return at

    def mutex(self, count: int) -> list[int]:
        """Ids are per core, but a channel is touched by both: one counter for all keeps them apart. Wraps: ids may repeat."""
        first = self.next_mutex["cube"]
        self.next_mutex["cube"] += count
        return [(first + i) % 28 for i in range(count)]


def generate(seed: int, flags: bool = False, stages: int = 0, loops: int = 0, outer: int = 0, long: int = 0) -> Fuzz:
    """The kernel of a seed. `stages`: one loop with that many; `loops`: that many loops; `outer`: loop 0, its length known at launch only, stands
    in an outer loop of that many trips at least. `long`: at least that many tasks a loop, enough for every delay and slot."""
    wanted = stages
    auto_mutex = not flags
    rng = random.Random(seed)
    features: set[str] = set()
    allocator = _Allocator()
    matrices = [_permutation(rng) for _ in range(2)]
    planned: list[LoopPlan] = []
    row = 0
    loop_count = rng.choices((1, 2, 3, 4), (70, 20, 6, 4))[0] if not wanted else 1
    loop_count, wanted_outer = loops or loop_count, outer
    for number in range(loop_count):
        count = rng.choices((2, 3, 4, 5, 6, 7, 8), (30, 22, 26, 9, 7, 3, 3))[0]
        count = wanted or (min(count, 4) if loop_count > 1 else count)
        cube_first = rng.random() < 0.5
        stages = []
        for s in range(count):
            cube = (s % 2 == 0) == cube_first
            ops = [str(rng.randrange(2))] if cube else rng.sample(("relu", "double", "add_task", "negate", "abs"), rng.choice((1, 1, 2, 3)))
            stages.append(StagePlan(f"s{number}_{s}", cube, ops))
        free = list(range(16))
        channels: list[Channel] = []
        for c in range(count - 1):
            left = count - 2 - c
            slots = rng.choices((1, 2, 3, 4), (10, 50, 28, 12))[0]
            width = slots if len(free) - 2 * slots >= 2 * left and rng.random() < 0.75 else 1
            if width == 1 and slots > 1:
                features.add("one id for many slots")
            fwd = [free.pop(0) for _ in range(width)]
            bwd: list[int] | None = [free.pop(0) for _ in range(width)]
            if rng.random() < 0.06:
                bwd = None
                features.add("forward only")
            ch = Channel(f"c{number}_{c}", stages[c].cube, slots, fwd, bwd)
            memory = "Vec" if ch.to_vector else "Mat"
            size = HALF_BYTES if ch.to_vector else TILE_BYTES
            same = [o for o in channels if o.to_vector == ch.to_vector and o.slots == slots]
            if same and rng.random() < 0.3:
                other = rng.choice(same)
                ch.address, ch.mutex = other.address, list(other.mutex)
                features.add("address reuse")
            else:
                ch.address = allocator.address(memory, size * slots)
                ch.mutex = allocator.mutex(slots)
            channels.append(ch)
        outer = rng.choice((None, None, 1, 2, 3))
        trips = rng.choice((0, 1, 2, 3, 4, 5, 7, 12, 20)) if outer is None else rng.choice((0, 1, 2, 3, 5))
        if wanted_outer and number == 0:
            outer = max(outer or 0, wanted_outer)
        if long:
            trips, outer = (max(trips, long), outer) if outer is None else (max(trips, long // 2 + 1), max(outer, 2))
        start, step = (rng.choice((0, 1, 3)), rng.choice((1, 2))) if rng.random() < 0.3 else (0, 1)
        runtime = rng.random() < 0.4 or bool(wanted_outer and number == 0)
        if outer is not None:
            features.add("outer loop")
        planned.append(LoopPlan(stages, channels, outer, trips, start, step, runtime, row))
        row += trips * (1 if outer is None else outer)
    if loop_count > 1:
        features.add("several loops")
    name = f"fuzz_{seed}"
    return Fuzz(seed, _text(name, planned, allocator, auto_mutex, rng), name, planned, row, matrices, features)


def _text(name: str, loops: list[LoopPlan], allocator: _Allocator, auto_mutex: bool, rng: random.Random) -> str:
    out = ["import pypto_pro.language as pl", ""]

    def ordered(body: list[str], cube: bool) -> list[str]:
        return body if auto_mutex else _with_flags(body, cube)

    for number, loop in enumerate(loops):
        for s, stage in enumerate(loop.stages):
            source = loop.channels[s - 1] if s > 0 else None
            target = loop.channels[s] if s < len(loop.channels) else None
            out.append("@pl.pipeline.stage")
            if stage.cube:
                out.append(f"def {stage.name}(row, x, y, m_l1, a_l1, left, right, acc" + (", src" if source else "") + (", dst" if target else "") + "):")
                body = []
                if source:
                    body.append("    a = src.next()")
                else:
                    body += ["    a = a_l1.next()", f"    pl.load(a, x, [row * {ROWS}, 0])"]
                body += ["    l = left.next()", "    r = right.next()", "    c = acc.next()", "    pl.move(l, a)", "    pl.move(r, m_l1)",
                         "    pl.matmul(c, l, r)"]
                if target:
                    body += ["    d = dst.next()", "    pl.move(d, c, acc_to_vec_mode=pl.AccToVecMode.DualModeSplitM)"]
                else:
                    body.append(f"    pl.store(y, c, [row * {ROWS}, 0])")
            else:
                out.append(f"def {stage.name}(i, row, sub, x, y, work, nz" + (", src" if source else "") + (", dst" if target else "") + "):")
                body = []
                if source:
                    body.append("    a = src.next()")
                else:
                    body += ["    a = nz.next()", f"    pl.load(a, x, [row * {ROWS} + sub * {HALF}, 0])"]
                body.append("    w = work.next()")
                for k, op in enumerate(stage.ops):
                    operand = "w" if k else "a"
                    body.append({"relu": f"    pl.relu(w, {operand})", "double": f"    pl.mul(w, {operand}, 2.0)", "negate": f"    pl.mul(w, {operand}, -1.0)",
                                 "abs": f"    pl.abs(w, {operand})", "add_task": f"    pl.add(w, {operand}, i * 1.0)"}[op])
                if target:
                    body += ["    z = nz_out.next()", "    d = dst.next()", "    pl.move(z, w)", f"    pl.insert(d, z, [sub * {HALF}, 0])"]
                    out[-1] = out[-1].replace("):", ", nz_out):")
                else:
                    body.append(f"    pl.store(y, w, [row * {ROWS} + sub * {HALF}, 0])")
            out += ordered(body, stage.cube) + ["", ""]
    bounds = [f"n{k}: pl.DT_INT32" for k, loop in enumerate(loops) if loop.runtime_bound]
    out += [f"@pl.jit(auto_mutex={auto_mutex}, pipeline=pl.pipeline.PipelineConfig(preload=2))",
            f"def {name}(x: pl.Tensor[[pl.DYNAMIC, {COLS}], pl.DT_FP32], m: pl.Tensor[[{2 * COLS}, {COLS}], pl.DT_FP32],",
            " " * (5 + len(name)) + f"y: pl.Tensor[[pl.DYNAMIC, {COLS}], pl.DT_FP32]" + "".join(", " + b for b in bounds) + "):"]
    space = "target_memory=pl.MemorySpace."

    def tile(var: str, rows: int, memory: str, layout: str = "", cols: int = COLS) -> str:
        extra = f", layout=pl.TensorLayout.{layout}" if layout else ""
        return f"    {var} = pl.TileType(shape=[{rows}, {cols}], dtype=pl.DT_FP32, {space}{memory}{extra})"

    out += [tile("mat", ROWS, "Mat"), tile("square", COLS, "Mat"), tile("left_t", ROWS, "Left"), tile("right_t", COLS, "Right"),
            tile("acc_t", ROWS, "Acc"), tile("half", HALF, "Vec"), tile("half_nz", HALF, "Vec", "NZ")]
    for loop in loops:
        for ch in loop.channels:
            kind = "half" if ch.to_vector else "mat"
            ids = f", fwd_ids={ch.fwd}" + (f", bwd_ids={ch.bwd}" if ch.bwd is not None else "")
            out.append(f"    {ch.name} = pl.make_tile_group(type={kind}, addrs={ch.address:#x}, mutex_ids={ch.mutex}{ids})")

    def group(var: str, kind: str, memory: str, size: int, slots: int) -> str:
        at = allocator.address(memory, size * slots)
        return f"    {var} = pl.make_tile_group(type={kind}, addrs={at:#x}, mutex_ids={allocator.mutex(slots)})"

    slots = rng.choice((2, 2, 3))
    out += [group("a_l1", "mat", "Mat", TILE_BYTES, slots), group("m0", "square", "Mat", COLS * COLS * 4, 1),
            group("m1", "square", "Mat", COLS * COLS * 4, 1), group("left", "left_t", "Left", TILE_BYTES, 2),
            group("right", "right_t", "Right", COLS * COLS * 4, 2), group("acc", "acc_t", "Acc", TILE_BYTES, 2),
            group("work", "half", "Vec", HALF_BYTES, slots), group("nz", "half", "Vec", HALF_BYTES, slots),
            group("nz_out", "half_nz", "Vec", HALF_BYTES, slots)]
    drain = ["        pl.system.bar_all()"] if not auto_mutex else []
    out += ["    with pl.section_cube():", "        k0 = m0.current()", "        k1 = m1.current()", "        pl.load(k0, m, [0, 0])",
            f"        pl.load(k1, m, [{COLS}, 0])", *drain, "    with pl.section_vector():", "        sub = pl.get_subblock_idx()"]
    for number, loop in enumerate(loops):
        if number:
            out.append("    pl.system.sync_all(core_type=pl.SyncCoreType.MIX)")
        indent = "    "
        if loop.outer is not None:
            out.append(f"{indent}for o{number} in pl.range({loop.outer}):")
            indent += "    "
        stop = f"n{number}" if loop.runtime_bound else str(loop.start + loop.trips * loop.step)
        bounds_text = stop if (loop.start, loop.step) == (0, 1) else f"{loop.start}, {stop}, {loop.step}"
        out.append(f"{indent}for i{number} in pl.range({bounds_text}):")
        inner = indent + "    "
        base = f"(i{number} - {loop.start}) // {loop.step}" if (loop.start, loop.step) != (0, 1) else f"i{number}"
        outer_part = f" + o{number} * {loop.trips}" if loop.outer is not None else ""
        out.append(f"{inner}row{number} = {loop.first_row} + {base}{outer_part}")
        for s, stage in enumerate(loop.stages):
            source = [loop.channels[s - 1].name] if s > 0 else []
            target = [loop.channels[s].name] if s < len(loop.channels) else []
            if stage.cube:
                args = [f"row{number}", "x", "y", f"k{stage.ops[0]}", "a_l1", "left", "right", "acc", *source, *target]
            else:
                args = [f"i{number}", f"row{number}", "sub", "x", "y", "work", "nz", *source, *target] + (["nz_out"] if target else [])
            out += [f"{inner}with pl.section_{'cube' if stage.cube else 'vector'}():", f"{inner}    {stage.name}({', '.join(args)})"]
    return "\n".join(out) + "\n"


def _pipe(line: str, cube: bool) -> str | None:
    """The pipe of one generated operation; None for other lines."""
    word = line.strip().partition("(")[0]
    if not word.startswith("pl."):
        return None
    if word == "pl.load":
        return "MTE2"
    if word == "pl.matmul":
        return "M"
    if word == "pl.store":
        return "FIX" if cube else "MTE3"
    if word == "pl.insert":
        return "MTE3"
    if word == "pl.move":
        return "V" if not cube else "FIX" if "acc_to_vec" in line else "MTE1"
    return "V"


def _with_flags(body: list[str], cube: bool) -> list[str]:
    """A flag from each operation to the next one of another pipe; a barrier ends the stage, so no flag is pending in the next task."""
    out: list[str] = []
    last: str | None = None
    seen: dict[tuple[str, str], int] = {}
    for line in body:
        pipe = _pipe(line, cube)
        if pipe and last and pipe != last:
            k = seen.setdefault((last, pipe), 0)
            seen[last, pipe] = k + 1
            pair = f"set_pipe=pl.PipeType.{last}, wait_pipe=pl.PipeType.{pipe}, event_id={k}"
            out += [f"    pl.system.sync_src({pair})", f"    pl.system.sync_dst({pair})"]
        last = pipe or last
        out.append(line)
    return out + ["    pl.system.bar_all()"]


if __name__ == "__main__":
    import sys
    print(generate(int(sys.argv[1]) if len(sys.argv) > 1 else 0).source)
