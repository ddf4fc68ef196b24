"""Generated tile programs, many in one kernel: the same text runs on the simulator and as host C++, and every value is compared.

test_host.py runs a few; `host_programs.py --count N` runs N and prints, family by family, how many agree and what differs. --movements compares
the cube's programs (movement_programs.py), --registers vector functions (register_programs.py), both generated too.
"""
from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

from tile_families import BYTES, FAMILIES, NUMPY, Family, Tile


@dataclass
class Program:
    """One kernel that runs its programs one after the other, each on its own window of the data."""
    name: str
    text: str
    statements: list[list[str]]                          # of each program
    inputs: list[np.ndarray]
    out: np.ndarray
    allowed: Callable[[list[str]], int] = lambda statements: 0
    family: str = ""


@dataclass(frozen=True)
class Difference:
    family: str
    statements: list[str]
    elements: int
    worst_ulps: int
    simulator: float
    host: float


# ------------------------------------------------------------------ generation

def _shape(tile: Tile, rows: int, cols: int) -> tuple[int, int]:
    return eval(f"({tile.shape})", {"R": rows, "C": cols})  # noqa: S307  the families' own words


def _values(tile: Tile, family: Family, shape: tuple[int, int], base: tuple[int, int], data: np.random.Generator) -> np.ndarray:
    """One program's input of a shape; `base` is the shape of tile a."""
    kind = NUMPY[tile.dtype or family.dtype]
    low, high = tile.domain or family.domain
    size = base[0] * base[1]
    if tile.values == "indices":
        return data.integers(0, size, shape).astype(kind)
    if tile.values == "permutation":
        return data.permutation(size).reshape(shape).astype(kind)
    if tile.values == "blocks":
        return (32 * data.integers(0, size * BYTES[family.dtype] // 32, shape)).astype(kind)
    if tile.values == "columns":
        return np.tile(np.arange(shape[1]), (shape[0], 1)).astype(kind)
    if tile.values == "sorted":  # rows of records, sorted in blocks of 32
        keys = -np.sort(-data.uniform(low, high, (shape[0], shape[1] // 64, 32)), axis=2).astype(np.float32)
        records = np.zeros((*keys.shape, 2), np.float32)
        records[..., 0] = keys
        records[..., 1] = np.arange(keys.size, dtype=np.uint32).reshape(keys.shape).view(np.float32)
        return records.reshape(shape)
    if tile.values == "whole" or not kind.startswith("float"):
        return data.integers(int(low), int(high) + 1, shape).astype(kind)
    return data.uniform(low, high, shape).astype(kind)


def _statement(rng: random.Random, family: Family, op: str, d: str, tiles: list[str]) -> list[str]:
    low, high = family.domain
    whole = not NUMPY[family.dtype].startswith("float")
    k = str(rng.randint(int(low), int(high))) if whole else f"{rng.uniform(max(low, 0.25), high):.3f}"
    text = op.format(d=d, a=rng.choice(tiles), b=rng.choice(tiles), k=k, n=rng.randint(1, 7), p=rng.choice(family.words))
    return [s.strip() for s in text.split(";")]


def generate(family: Family, count: int, seed: int) -> Program:
    rng = random.Random(f"{family.name} {seed}")
    def fits(rows: int, cols: int) -> bool:  # columns of a column-major tile are whole blocks of 32 bytes
        return all(_shape(t, rows, cols)[0] * BYTES[t.dtype or family.dtype] % 32 == 0 for t in (*family.inputs.values(), *family.work.values(), family.result) if t.layout == "DN")
    rows, cols = rng.choice([s for s in family.shapes if fits(*s)])
    valid = (rows, cols)
    if family.ragged and seed % 2:
        valid = (rng.randint(max(1, rows // 2), rows), rng.choice([c for c in (cols, cols - 8, cols - 5, cols // 2) if c > 0]))
    tiles = {**family.inputs, **family.work, "r": family.result}
    lines, address = [], 0
    for n, (name, tile) in enumerate(tiles.items()):
        shape, dtype = _shape(tile, rows, cols), tile.dtype or family.dtype
        extra = (f", layout=pl.TensorLayout.{tile.layout}" if tile.layout else "") + (f", pad=pl.TilePad.{tile.pad}" if tile.pad else "")
        lines.append(f"    {name}_group = pl.make_tile_group(type=pl.TileType(shape=[{shape[0]}, {shape[1]}], dtype=pl.DT_{dtype}{extra}), addrs={address:#x}, mutex_ids=[{n}])")
        address += (shape[0] * shape[1] * BYTES[dtype] + 511) // 512 * 512
    lines.append("    with pl.section_vector():")
    lines += [f"        {name}0 = {name}_group.next()" for name in tiles]

    def resized(tile: Tile) -> tuple[int, int] | None:
        if valid == (rows, cols):
            return None
        whole, part = _shape(tile, rows, cols), _shape(tile, *valid)
        return part if whole != part else None
    for name, tile in tiles.items():
        dtype = tile.dtype or family.dtype
        if name == "m":  # a packed mask: as large as what it is of, or as its bytes
            if seed % 3 == 0:
                continue
            lines.append(f"        pl.set_validshape(m0, [{valid[0]}, {(valid[1] + 7) // 8}])")
        elif part := resized(tile):
            lines.append(f"        pl.set_validshape({name}0, [{part[0]}, {part[1]}])")
    programs = []
    for i in range(count):
        body: list[str] = []
        known = ["a0", "b0"] if "b" in family.inputs else ["a0"]
        for _ in range(family.steps):
            body += _statement(rng, family, rng.choice(family.chain), "c0", known)
            if "c0" not in known:
                known.append("c0")
        if "c" in family.work and "c0" not in known:
            body += ["pl.add(c0, a0, b0)"]
        body += _statement(rng, family, family.last[(i + seed) % len(family.last)], "r0", known)
        body = [s.replace("R", str(rows)).replace("C - ", f"{cols} - ").replace("C]", f"{cols}]") if "set_validshape" in s else s for s in body]
        programs.append(body)
        for name, tile in family.inputs.items():
            lines.append(f"        pl.load({name}0, {name}, [{i * _shape(tile, rows, cols)[0]}, 0])")
        lines += ["        " + s for s in body]
        lines.append(f"        pl.store(out, r0, [{i * _shape(family.result, rows, cols)[0]}, 0])")
    parameters, inputs = [], []
    data = np.random.default_rng([seed, len(family.name)])
    for name, tile in family.inputs.items():
        shape = _shape(tile, rows, cols)
        parameters.append(f"{name}: pl.Tensor[[{count * shape[0]}, {shape[1]}], pl.DT_{tile.dtype or family.dtype}]")
        inputs.append(np.concatenate([_values(tile, family, shape, (rows, cols), data) for _ in range(count)]))
    shape = _shape(family.result, rows, cols)
    kind = family.result.dtype or family.dtype
    parameters.append(f"out: pl.Tensor[[{count * shape[0]}, {shape[1]}], pl.DT_{kind}]")
    text = "\nimport pypto_pro.language as pl\n\n@pl.jit(auto_mutex=True)\n" + f"def {family.name}({', '.join(parameters)}):\n" + "\n".join(lines) + "\n"

    def allowed(statements: list[str]) -> int:
        return max((n for word, n in family.ulps.items() if word in statements[-1]), default=0)
    return Program(family.name, text, programs, inputs, np.zeros((count * shape[0], shape[1]), NUMPY[kind]), allowed, family.name)


# ------------------------------------------------------------------ comparison

def _ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind != "f":
        return np.where(a == b, 0, np.maximum(1, np.abs(a.astype(np.float64) - b.astype(np.float64)))).astype(np.int64)
    bits = {2: np.int16, 4: np.int32}[a.dtype.itemsize]

    def ordered(x: np.ndarray) -> np.ndarray:
        i = x.view(bits).astype(np.int64)
        return np.where(i < 0, np.int64(np.iinfo(bits).min) - i, i)
    distance = np.abs(ordered(a) - ordered(b))
    return np.where(np.isnan(a) & np.isnan(b), 0, distance)


def run(program: Program, load: Any) -> list[Difference]:
    """Both ways; what differs by more than the family allows."""
    kernel = load(program.text)[program.name]
    outputs = []
    for device in ("sim", "host"):
        out = program.out.copy()
        done = kernel.launch((*program.inputs, out), {}, device=device)
        if "[uninitialised]" in done.text():
            raise RuntimeError("the program reads what nobody wrote: " + done.text().split("\n", 1)[0])
        outputs.append(out)
    rows = program.out.shape[0] // len(program.statements)
    found = []
    for i, statements in enumerate(program.statements):
        window = slice(i * rows, (i + 1) * rows)
        distance, allowed = _ulps(outputs[0][window], outputs[1][window]), program.allowed(statements)
        if distance.max() > allowed:
            at = np.unravel_index(int(distance.argmax()), distance.shape)
            found.append(Difference(program.family, statements, int((distance > allowed).sum()), int(distance.max()), float(outputs[0][window][at]), float(outputs[1][window][at])))
    return found


# ------------------------------------------------------------------ many

def precompiled(folder: Path, flags: tuple[str, ...] = ("-O0",)) -> tuple[str, ...]:
    """The flags with which the host's compilations read one precompiled header a core kind (XPTO_HOST_CXXFLAGS): the headers are most of the work."""
    from xpto import host_build, toolchain
    compiler, tree = toolchain.host_compiler(), toolchain.pto_isa()
    if compiler is None or tree is None or "clang" in toolchain.compiler_version(compiler):
        return flags
    extra = (*flags, f"-I{folder}")
    (folder / "xpto_host.hpp.gch").mkdir(parents=True)
    (folder / "overlay").mkdir()
    host_build._overlay(tree.include, folder / "overlay")
    running = []
    for side in ("CUBE", "VEC"):
        line = [x for x in host_build.command(compiler, side, folder, tree.include, extra) if x not in ("-shared", f"{side}.cpp", "-o", f"{side}.so")]
        running.append(subprocess.Popen([*line, "-x", "c++-header", str(host_build.shim_folder() / "xpto_host.hpp"), "-o", str(folder / f"xpto_host.hpp.gch/{side}")]))
    if any([p.wait() for p in running]):
        raise RuntimeError("the host's headers do not compile")
    return extra


@dataclass
class Counts:
    programs: int = 0
    statements: int = 0
    differences: list[Difference] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def compare_many(programs: Any, load: Any, say: Callable[[str], None] = print) -> dict[str, Counts]:
    """Runs programs one after the other; counts by family."""
    counts: dict[str, Counts] = {}
    for program in programs:
        here, begin = counts.setdefault(program.family, Counts()), time.monotonic()
        try:
            found = run(program, load)
        except Exception as e:  # noqa: BLE001  one kernel's refusal must not end a long run; it is counted and printed
            here.refused.append(f"{type(e).__name__}: {str(e)[:600]}")
            say(f"{program.family:<24} refused: {here.refused[-1]}")
            continue
        here.programs += len(program.statements)
        here.statements += sum(map(len, program.statements))
        here.differences += found
        say(f"{program.family:<24} {len(program.statements):>4} programs, {len(found)} differ, {time.monotonic() - begin:.1f} s")
        for d in found[:3]:
            say(f"    {'; '.join(d.statements)}: {d.elements} elements, up to {d.worst_ulps} ulps: simulator {d.simulator!r}, host {d.host!r}")
    return counts


def _kernels(args: argparse.Namespace) -> Any:
    if args.movements:
        import movement_programs
        return movement_programs.generated(args.count, args.per_kernel, args.seed)
    if args.registers:
        import register_programs
        return register_programs.generated(args.count, args.per_kernel, args.seed)
    families = [f for f in FAMILIES if args.family is None or args.family in f.name]

    def tiles() -> Any:
        left, seed = args.count, args.seed
        while left > 0:
            for family in families:
                if left <= 0:
                    return
                yield generate(family, min(args.per_kernel, left), seed)
                left -= min(args.per_kernel, left)
            seed += 1
    return tiles()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="programs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-kernel", type=int, default=12)
    parser.add_argument("--family", help="only families whose name holds this")
    parser.add_argument("--movements", action="store_true", help="the cube's programs instead")
    parser.add_argument("--registers", action="store_true", help="vector functions instead")
    parser.add_argument("--optimised", action="store_true", help="compile as a launch does, without a precompiled header")
    args = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
    import support
    with tempfile.TemporaryDirectory() as folder:
        if not args.optimised:
            os.environ["XPTO_HOST_CXXFLAGS"] = " ".join(precompiled(Path(folder)))
        counts = compare_many(_kernels(args), support.load, lambda s: print(s, flush=True))
    print(f"\n{'family':<24} programs statements differ refused kernels")
    for name, c in counts.items():
        print(f"{name:<24} {c.programs:>8} {c.statements:>10} {len(c.differences):>6} {len(c.refused):>15}")
    programs, differences, refused = (sum(x) for x in zip(*((c.programs, len(c.differences), len(c.refused)) for c in counts.values())))
    print(f"{programs} programs of {len(counts)} families, {differences} with differences beyond the stated ones, {refused} kernels refused")
    return 1 if differences or refused else 0


if __name__ == "__main__":
    sys.exit(main())
