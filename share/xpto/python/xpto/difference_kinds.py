"""What kind of difference it is: tests on the numbers, tried in one order, the first that explains every wrong element wins."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from xpto import tolerance


@dataclass
class Difference:
    """An output, its reference and thresholds, all float64 and of one shape, flattened to two dimensions."""
    got: np.ndarray
    expected: np.ndarray
    sigma: np.ndarray
    limit: np.ndarray
    bad: np.ndarray                       # above the limit, or NaN and infinity out of place
    dtype: str                            # of the output: fp32, fp16, bf16 ...
    reference_dtype: str
    terms: int                            # length of the longest sum
    tasks: int = 0                        # row tiles, when the kernel's loop gives them
    slots: dict[str, int] = field(default_factory=dict)   # channels between the cores
    tile_columns: list[int] = field(default_factory=list)  # widths of the kernel's tiles
    input_columns: list[int] = field(default_factory=list)
    sums_size: np.ndarray | None = None   # sum of the absolute terms of each element, when known
    subblock_rows: int = 0                # rows of a task that each vector core stores


@dataclass(frozen=True)
class Kind:
    text: str
    bug: bool
    see: str = ""


def classify(d: Difference) -> Kind | None:
    for test in TESTS:
        with np.errstate(all="ignore"):
            found = test(d)
        if found is not None:
            return found
    return None


def _row_tiles(d: Difference) -> list[int]:
    rows = d.got.shape[0]
    heights = [rows // d.tasks] if d.tasks > 1 and rows % d.tasks == 0 else []
    return heights or [h for h in (128, 64, 32, 16) if rows % h == 0 and rows > h]


def overtaken_slot(d: Difference) -> Kind | None:
    """A whole tile equals the right value of another task: its slot was written again before it was read."""
    for height in _row_tiles(d):
        count = d.got.shape[0] // height
        tiles = [slice(t * height, (t + 1) * height) for t in range(count)]
        wrong = [t for t in range(count) if d.bad[tiles[t]].any()]
        distances = set()
        for t in wrong:
            if d.bad[tiles[t]].mean() < 0.25:
                break
            # rows of one vector core may be right: only the wrong rows must be another task's
            rows = d.bad[tiles[t]].any(axis=1)
            match = [u for u in range(count) if u != t and
                     np.all(np.abs(d.got[tiles[t]][rows] - d.expected[tiles[u]][rows]) <= d.limit[tiles[u]][rows])]
            if not match:
                break
            distances.add((t, min(match, key=lambda u: abs(u - t))))
        else:
            if distances:
                first, other = min(distances)
                distance = other - first
                named = [name for name, n in d.slots.items() if n == abs(distance)]
                slots = f" (distance {abs(distance)} = slots of {', '.join(named)})" if named else f" (distance {abs(distance)})"
                what = "overtaken slot" if distance > 0 else "stale slot"
                return Kind(f"{what}: the tile of task {first} equals the right value of task {other}{slots}", True, "%pto_run with hostile=all shows the race")
    return None


def tail(d: Difference) -> Kind | None:
    """Rows or columns from one place to the end; or a maximum that padding joined."""
    bad_values, expected = d.got[d.bad], d.expected[d.bad]
    if bad_values.size and np.all(bad_values == 0) and np.all(expected < 0):
        where = ""
        for width in sorted(set(d.input_columns)):
            tiles = [w for w in d.tile_columns if width % w]
            if tiles:
                first = width - width % max(tiles)
                where = f" in the tail tile, columns {first} to {width - 1} of {width} (tiles of {max(tiles)})"
                break
        return Kind(f"padding joined a maximum: 0.0 where every expected value is negative{where}; fill with min padding "
                    "(pl.fillpad into a tile with pad=pl.TilePad.min) or set the valid shape before the reduction", True)
    for axis, word in ((0, "rows"), (1, "columns")):
        lines = d.bad.any(axis=1 - axis)
        first = int(np.argmax(lines))
        share = d.bad.mean(axis=1 - axis)[first:]
        if 0 < first and share.size and share.min() >= 0.5 and share.size <= d.got.shape[axis] // 2:
            content = np.unique(bad_values)
            holds = f", all {content[0]:g}" if content.size == 1 else ""
            return Kind(f"{word} from {first} on ({share.size} of {d.got.shape[axis]}){holds}: the tail's valid shape or padding", True)
    return None


def factor_or_sign(d: Difference) -> Kind | None:
    usable = d.bad & np.isfinite(d.got) & np.isfinite(d.expected) & (np.abs(d.expected) > 8 * d.limit)
    if usable.sum() < 2:
        return None
    factor = float(np.median(d.got[usable] / d.expected[usable]))
    whole = d.bad if usable.sum() < d.bad.sum() else usable
    if factor == 0 or not np.isfinite(factor) or np.any(np.abs(d.got[whole] - factor * d.expected[whole]) > max(1, abs(factor)) * d.limit[whole] * 1.01):
        return None
    if abs(factor + 1) < 1e-3:
        return Kind("sign: the values are the negated reference", True)
    return Kind(f"constant factor: the values are {factor:.6g} times the reference", True)


def _fractals(x: np.ndarray, columns: int) -> np.ndarray:
    rows, width = x.shape
    return x.reshape(rows // 16, 16, width // columns, columns)


def permuted(d: Difference) -> Kind | None:
    rows, width = d.got.shape
    ways: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = []
    if rows % 2 == 0:
        ways.append(("upper and lower half of the rows are exchanged (split between the vector cores)", lambda x: np.roll(x, rows // 2, axis=0)))
    if width % 2 == 0:
        ways.append(("left and right half of the columns are exchanged", lambda x: np.roll(x, width // 2, axis=1)))
    if rows == width:
        ways.append(("rows and columns are exchanged (transposed)", lambda x: x.T))
    for columns in (8, 16, 32):
        if rows % 16 == 0 and width % columns == 0:
            ways.append((f"fractals of 16x{columns}: NZ data stored as ND (layout)",
                         lambda x, c=columns: _fractals(x, c).transpose(2, 0, 1, 3).reshape(rows, width)))
            ways.append((f"fractals of 16x{columns}: ND data read as NZ (layout)",
                         lambda x, c=columns: x.reshape(width // c, rows // 16, 16, c).transpose(1, 2, 0, 3).reshape(rows, width)))
    for height in _row_tiles(d):
        if height % 2 == 0:
            ways.append((f"halves of each {height}-row tile are exchanged (split between the vector cores)",
                         lambda x, h=height: x.reshape(-1, 2, h // 2, width)[:, ::-1].reshape(rows, width)))
    for text, move in ways:
        if np.all(np.abs(d.got - move(d.expected)) <= move(d.limit)):
            return Kind(f"permuted: {text}", True)
    if np.isfinite(d.got).all() and np.isfinite(d.expected).all():
        order = np.argsort(d.expected, axis=None)
        if np.all(np.abs(np.sort(d.got, axis=None) - d.expected.flat[order]) <= d.limit.flat[order]):
            return Kind("permuted: the same values in other places (layout, split or index)", True)
    return None


def uniform_rows(d: Difference) -> Kind | None:
    due = np.isnan(d.expected).all(axis=1)
    if not due.any() or not d.bad[due].all() or d.bad[~due].any():
        return None
    rows = d.got[due]
    if np.all(rows == rows[:, :1]):
        return Kind(f"uniform rows where NaN is due ({int(due.sum())} rows of {rows[0, 0]:g}): the mask constant is finite, so a fully masked row "
                    "becomes uniform instead of NaN", True)
    return None


def cast_ties(d: Difference) -> Kind | None:
    """Every differing element lies at a tie of the output's format (or is off by one unit against a rounded reference)."""
    if d.dtype not in tolerance.FORMATS:
        return None
    differs = d.got != d.expected
    if d.reference_dtype != d.dtype:  # a wide reference: what a cast to nearest even would have given
        rounded = _nearest_even(d.expected, d.dtype)
        differs = np.isfinite(rounded) & (d.got != rounded)
    if not differs.any():
        return None
    got, wide = d.got[differs], d.expected[differs]
    step = tolerance.spacing(wide, d.dtype)
    if d.reference_dtype != d.dtype:
        if np.all(np.abs(got - wide) == step / 2):
            if np.all(np.abs(got) > np.abs(wide)):
                return Kind(f"cast ties: {got.size} elements lie halfway between two {d.dtype} numbers and went away from zero; the reference's cast goes to "
                            "even (rounding mode: CAST_ROUND against CAST_RINT)", False)
            return Kind(f"cast ties: {got.size} elements lie halfway between two {d.dtype} numbers and did not go to even (rounding mode)", False)
        off = (d.got != d.expected) & np.isfinite(d.expected)
        if np.all(np.abs(d.got[off] - d.expected[off]) < tolerance.spacing(d.expected[off], d.dtype)):
            for test, word in ((np.abs(d.got[off]) < np.abs(d.expected[off]), "toward zero (trunc)"), (d.got[off] < d.expected[off], "down (floor)"),
                               (d.got[off] > d.expected[off], "up (ceil)")):
                if off.sum() >= 4 and test.all():
                    return Kind(f"cast: every value went {word}, the reference's cast goes to nearest even (rounding mode)", False)
        return None
    if not np.all(np.abs(got - wide) <= tolerance.spacing(np.minimum(np.abs(got), np.abs(wide)), d.dtype)):
        return None
    # a tie goes to even in the reference: its last bit is 0 and the neighbour's is 1
    even = np.mod(wide / tolerance.spacing(wide, d.dtype), 2) == 0
    if even.all() and differs.mean() < 0.5 and d.dtype != "fp32":
        way = "away from zero" if np.all(np.abs(got) > np.abs(wide)) else "otherwise"
        return Kind(f"cast ties: {got.size} elements differ by one {d.dtype} unit, each where the reference is even; the output went {way} "
                    "(rounding mode: CAST_ROUND against CAST_RINT)", False)
    return None


def _nearest_even(x: np.ndarray, dtype: str) -> np.ndarray:
    step = tolerance.spacing(x, dtype)
    rounded = np.rint(x / step) * step  # numpy's rint goes to even
    return np.where(np.abs(rounded) > tolerance.LARGEST.get(dtype, np.inf), np.sign(x) * np.inf, rounded)


def accumulation(d: Difference) -> Kind | None:
    """Errors as large as sums in a narrower format make them: a choice of dtype, not a wrong value."""
    if d.terms < 8 or not np.isfinite(d.got).all():
        return None
    error, size = np.abs(d.got - d.expected), d.expected
    scale = np.maximum(np.abs(size), np.sqrt(np.mean(size ** 2)))
    for name in ("fp16", "bf16"):
        u = tolerance.unit(name)
        walk = u * scale * np.sqrt(d.terms / 6)
        typical = float(np.median(error / walk))
        if 0.05 <= typical <= 2 and np.max(error / walk) <= 12:
            return Kind(f"accumulation dtype: errors fit sums of {d.terms} terms kept in {name} (they grow with the square root of K), not a wrong value", False)
        if 0.02 <= float(np.median(error / (u * scale * d.terms))) <= 1 and np.max(error / (u * scale * d.terms)) <= 4:
            return Kind(f"accumulation dtype: errors grow with K={d.terms}, as sums kept in {name} with one-sided rounding do", False)
    return None


def cancelled(d: Difference) -> Kind | None:
    if d.sums_size is None or not d.bad.any():
        return None
    share = d.bad.mean()
    if share > 0.02:
        return None
    relative = np.abs(d.expected[d.bad]) / np.maximum(d.sums_size[d.bad], np.finfo(float).tiny)
    error = np.abs(d.got - d.expected)[d.bad] / np.maximum(d.sums_size[d.bad], np.finfo(float).tiny)
    if np.max(relative) < 0.05 and np.max(error) < 64 * d.terms * tolerance.unit("fp32"):
        return Kind(f"scattered, at cancelled sums: {int(d.bad.sum())} elements whose terms cancel to {np.max(relative):.1g} of their size or less; "
                    "the error is small against the terms (lawful)", False)
    return None


# the order matters: what stands first explains the most specific picture
TESTS: tuple[Callable[[Difference], Kind | None], ...] = (
    overtaken_slot, tail, factor_or_sign, permuted, uniform_rows, cast_ties, accumulation, cancelled)
