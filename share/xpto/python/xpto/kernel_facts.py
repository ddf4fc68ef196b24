"""What the last compilation and run of a kernel say about the numbers behind its outputs."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

import numpy as np

from xpto.tolerance import Tracked, Underivable, _plain

_TILES = re.compile(r"^\s*tiles (d\d+) (\S+) (\w+) (\d+)x(\d+)")
_BINDING = re.compile(r"^\s*(%[\w.]+) = (d\d+)\[")
_STAGE = re.compile(r"^\s*stage (\S+) task ")
_MATMUL = re.compile(r"^\s*(matmul\w*) (%[\w.]+), (.*)$")
# instructions of the vector core that round
_ROUNDING = re.compile(r"^\s*(add|sub|mul|div|exp|log|sqrt|rsqrt|adds|subs|muls|divs|row_sum|col_sum|axpy)\b")
# a formula is tried on the last run's inputs only when that costs little
_TRY_WORK = 2e8


@dataclass
class Facts:
    sums: list[int] = field(default_factory=list)             # lengths of the matmuls' sums that are known
    accumulates: bool = False                                 # a matmul whose sum is longer than its tiles
    atomic: bool = False                                      # floats that cores add in no fixed order
    operations: int = 0
    slots: dict[str, int] = field(default_factory=dict)
    subblock_rows: int = 0                                    # rows of a task that each vector core stores, when they share it by rows
    tile_columns: list[int] = field(default_factory=list)
    input_columns: list[int] = field(default_factory=list)
    inputs: dict[str, Any] = field(default_factory=dict)
    computed_by: str = "values as given, no run"
    run: Any = None

    def tasks(self) -> int:
        """Tasks of the last run's pipeline loop; 0 when there is none."""
        if self.run is None or not self.slots:
            return 0
        return int(self.run.timeline().to_json().get("tasks", 0))

    def races(self) -> list[dict[str, Any]]:
        """Races of the last run between accesses of two stages."""
        hazards = self.run.to_json().get("hazards", []) if self.run is not None else []
        return [h for h in hazards if h["kind"] == "race" and h["first"]["stage"] and h["second"]["stage"]]

    def run_status(self) -> str:
        return "" if self.run is None or self.run.status == "done" else self.run.verdict


def of(kernel: Any) -> Facts:
    """Facts of a kernel, of a run, or of nothing."""
    if kernel is None:
        return Facts()
    run = kernel if hasattr(kernel, "compiled") else getattr(kernel, "last_run", None)
    compiled = run.compiled if run is not None else getattr(kernel, "last", None)
    if compiled is None or not compiled.ok:
        return Facts()
    said = compiled.to_json()
    facts = Facts(run=run, computed_by=f"simulator ({said['target']['name']})" if run is not None else "values as given, no run")
    ir = compiled.native.ir()
    facts.sums, facts.operations, facts.tile_columns = _read(ir)
    facts.subblock_rows = _subblock_rows(ir)
    facts.atomic = any(line.lstrip().startswith("store") and "AtomicAdd" in line for line in ir.splitlines())
    if facts.atomic:
        facts.sums = []  # what every core adds makes a sum longer than any one matmul says
    facts.accumulates = "matmul" in ir and not facts.sums
    for memory in said["memory"]:
        for tile in memory["tiles"]:
            if tile["fwd_ids"] or tile["bwd_ids"]:
                facts.slots[tile["name"]] = len(tile["addresses"])
    if run is not None:
        written = {p["name"] for p in compiled.native.params() if p.get("written")}
        facts.inputs = {n: v for n, v in run.arguments().items() if n not in written}
        facts.input_columns = [int(v.shape[-1]) for v in facts.inputs.values() if getattr(v, "shape", ())]
    return facts


def _read(ir: str) -> tuple[list[int], int, list[int]]:
    """(length of each stage's matmul, rounding operations of the vector core, widths of tiles)."""
    tiles: dict[str, int] = {}
    bound: dict[str, str] = {}
    lengths: dict[tuple[str, str], int] = {}
    accumulating, stage = False, ""
    operations: set[str] = set()
    for line in ir.splitlines():
        if found := _TILES.match(line):
            tiles[found[1]] = int(found[5])
        elif found := _BINDING.match(line):
            bound[found[1]] = found[2]
        elif found := _STAGE.match(line):
            stage = found[1]
        elif found := _MATMUL.match(line):
            # the last two tiles are left and right; the left one is as wide as its sum is long
            operands = [x for x in re.findall(r"%[\w.]+", f"{found[2]}, {found[3]}") if bound.get(x) in tiles]
            accumulating = accumulating or found[1] != "matmul"
            if len(operands) >= 2:
                lengths[(stage, operands[-2].rpartition(".")[0])] = tiles[bound[operands[-2]]]
        elif _ROUNDING.match(line):
            operations.add(line.strip())
    # with an accumulating matmul a sum is longer than any one tile says
    return [] if accumulating else list(lengths.values()), len(operations), sorted(set(tiles.values()))


def _subblock_rows(ir: str) -> int:
    """n of a store whose first row is ... + subblock * n; the index travels through names and struct fields."""
    carriers: set[str] = set()
    for line in ir.splitlines():
        text = line.strip()
        left, sign, right = text.partition(" = ")
        if sign and (right == "subblock_idx" or any(right.endswith(c) for c in carriers)):
            carriers.add(left.rpartition("]")[2])  # the name, or the field of a ring slot
        elif text.startswith("store ") and "[" in text:
            row = text.partition("[")[2].split(",")[0]
            for name, rows in re.findall(r"\(([\w.]+) \* (\d+)\)", row):
                if name in carriers:
                    return int(rows)
    return 0


def longest(steps: Sequence[str]) -> int:
    return max((int(s.split("=")[1]) if "=" in s else int(s.split()[-1]) for s in steps if "K=" in s or "sum of" in s), default=0)


def expression(facts: Facts, reference: np.ndarray, sums: str) -> tuple[Tracked, str] | None:
    """A formula over the last run's inputs that gives the reference; found by trying, kept only when the values agree."""
    names = [n for n, v in facts.inputs.items() if getattr(v, "ndim", 0) == 2 and str(getattr(v, "dtype", "")).removeprefix("torch.") not in ("bool",)
             and not str(getattr(v, "dtype", "")).removeprefix("torch.").startswith(("int", "uint"))][:4]
    values = {n: _plain(facts.inputs[n]).astype(np.float64) for n in names}
    products: list[tuple[str, Callable[[dict[str, Any]], Any], tuple[int, int]]] = [(n, lambda v, n=n: v[n], values[n].shape) for n in names]
    relu = lambda x: np.maximum(x, 0)
    tried = list(products)
    for depth in (1, 2):
        longer = []
        for text, make, shape in products:
            for n in names:
                if n in text.split():
                    continue
                for word, turn, other in ((n, lambda x: x, values[n].shape), (f"{n} .T", lambda x: x.T, values[n].shape[::-1])):
                    if shape[1] != other[0] or shape[0] * shape[1] * other[1] > _TRY_WORK:
                        continue
                    longer.append((f"( {text} ) @ {word}" if " " in text and not text.startswith("relu") else f"{text} @ {word}", lambda v, m=make, n=n, t=turn: m(v) @ t(v[n]), (shape[0], other[1])))
        tried += longer
        products = [p for text, make, shape in longer for p in ((text, make, shape), (f"relu( {text} )", lambda v, m=make: relu(m(v)), shape))]
        tried += [p for p in products if p[0].startswith("relu")]
        for text, make, shape in tried:
            if shape == reference.shape and len(text.split()) > 1:
                value = make(values)
                if np.allclose(value, reference, rtol=1e-3, atol=1e-3 * max(float(np.abs(reference).max()), 1e-30)):
                    try:
                        return make({n: Tracked(x, sums=sums) for n, x in values.items()}), text.replace("( ", "(").replace(" )", ")").replace(" .T", ".T")
                    except Underivable:
                        return None
        tried = []
    for text, make in (("+", lambda x, y: x + y), ("-", lambda x, y: x - y), ("*", lambda x, y: x * y)):
        for i, a in enumerate(names):
            for b in names[i + 1:]:
                if values[a].shape == values[b].shape == reference.shape and np.allclose(make(values[a], values[b]), reference, rtol=1e-3, atol=1e-3):
                    return make(Tracked(values[a], sums=sums), Tracked(values[b], sums=sums)), f"{a} {text} {b}"
    return None
