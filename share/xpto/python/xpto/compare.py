"""Is a difference a bug? Two derived thresholds per element, the kind of the difference, and where it lies.

    xpto.compare(out, reference)                                  thresholds from the last kernel's structure, or k=
    xpto.compare(out, lambda a, b: a @ b, args=(a, b))            thresholds from the reference's own steps (tolerance.py)

BITWISE equal; MATCH within six sigma; ROUNDING within the limit; DIFFERENT above it. NaN and infinity are compared by place.
"""
from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from xpto import chinese, config, kernel_facts, tolerance
from xpto.difference_kinds import Difference, Kind, accumulation, cancelled, cast_ties, classify
from xpto.results import Report
from xpto.tolerance import Tracked, _plain, name_of

_CAP = 1e6  # |error| / sigma is cut here: an integer that differs has no sigma


class Comparison(Report):
    """The verdict with its numbers. `status` is BITWISE, MATCH, ROUNDING or DIFFERENT; true when nothing is wrong."""

    @property
    def status(self) -> str:
        return self._data["verdict"]

    @property
    def kind(self) -> str:
        return self._data["kind"]

    def __bool__(self) -> bool:
        return self.status != "DIFFERENT"

    def png(self) -> bytes:
        """Error map and histogram as a picture; needs matplotlib."""
        from xpto import comparison_png
        return comparison_png.draw(self._data)


def compare(out: Any, ref: Any, *, name: str = "out", k: int | None = None, kernel: Any = None, rtol: float | None = None, atol: float | None = None,
            args: Sequence[Any] | Mapping[str, Any] | None = None, sums: str = "fp32", dtype: Any = None, tasks: int = 0) -> Comparison:
    """Compares an output with a reference (values, or a function of the inputs).

    k      length of the longest sum behind an element; default: from the kernel's matmuls
    sums   format in which sums are kept (fp32, fp16, bf16)
    dtype  the output's format when its array is wider ("bf16" values in a float32 array)
    args   inputs of a reference function; default: the last run's arguments of those names
    """
    got_array = _plain(out)
    out_dtype = name_of(dtype if dtype is not None else getattr(out, "dtype", got_array.dtype))
    facts = kernel_facts.of(kernel)
    tracked, source, sums_size, terms = _thresholds(ref, got_array, k, facts, args, sums)
    if tracked.value.shape != got_array.shape:
        raise ValueError(f"{name} has shape {list(got_array.shape)}, its reference {list(tracked.value.shape)}")
    reference_dtype = "fp64" if callable(ref) else name_of(getattr(ref, "dtype", _plain(ref).dtype))
    d = _difference(got_array, tracked, out_dtype, reference_dtype, terms, sums_size, facts, tasks)
    data = _report(d, out, ref, got_array.shape, name, facts, source, rtol, atol)
    text, html = _rendered(data)
    return Comparison(text, html, data)


def _thresholds(ref: Any, got: np.ndarray, k: int | None, facts: kernel_facts.Facts, args: Any, sums: str) -> tuple[Tracked, str, np.ndarray | None, int]:
    """(reference with its errors, where the thresholds come from, sizes of the sums, longest sum)."""
    if callable(ref):
        inputs = _named(ref, args, facts)
        tracked = tolerance.evaluate(ref, inputs, sums)
        return tracked, _steps(tracked, sums), _size(tracked), kernel_facts.longest(tracked.steps)
    value = _plain(ref).astype(np.float64)
    if k is None:
        found = kernel_facts.expression(facts, value, sums)
        if found is not None:
            tracked, formula = found
            return (Tracked(value, tracked.noise, tracked.limit, sums, tracked.steps), f"{formula} of the last run's arguments: {_steps(tracked, sums)}",
                    _size(tracked), kernel_facts.longest(tracked.steps))
    if got.dtype.kind in "iub" and value.size:
        return Tracked(value, sums=sums), "integers: no rounding", None, 0
    lengths = [k] if k is not None else facts.sums or [max(1, facts.operations)]
    if k is not None:
        source = f"K={k} as given"
    elif facts.sums:
        source = f"{_times([f'K={n}' for n in facts.sums])} from the kernel's matmuls"
    elif facts.operations:
        source = f"{facts.operations} operations of the kernel, one rounding each"
    elif facts.run is not None and not facts.accumulates:
        source = "no sums in the kernel, one rounding"
    else:
        source = "one rounding (nothing is known of the sums: pass k=)"
    u, scale = tolerance.unit(sums), _scale(value)
    total = sum(lengths)
    # a random walk of K equal steps to its end has partial sums of mean square (end**2) / 2, its terms an absolute sum of 0.64 sqrt(K) ends
    noise = u ** 2 / 6 * total * scale ** 2
    growth = float(np.prod([max(1.0, 0.64 * np.sqrt(n)) for n in lengths]))
    size = growth * scale
    return (Tracked(value, noise, sum(tolerance.gamma(n, u) for n in lengths) * size, sums), f"{source}, {sums} sums, sizes estimated from the reference",
            None, max(lengths))


def _scale(value: np.ndarray) -> np.ndarray:
    """A size for each element: its own, or the smaller of its row's and its column's typical one."""
    finite = np.where(np.isfinite(value), value, 0.0)
    if value.ndim < 2:
        return np.maximum(np.abs(finite), np.sqrt(np.mean(finite ** 2)) if value.size else 0)
    row = np.sqrt(np.mean(finite ** 2, axis=-1, keepdims=True))
    column = np.sqrt(np.mean(finite ** 2, axis=-2, keepdims=True))
    return np.maximum(np.abs(finite), np.minimum(row, column))


def _named(ref: Callable[..., Any], args: Any, facts: kernel_facts.Facts) -> dict[str, Any]:
    names = list(inspect.signature(ref).parameters)
    if isinstance(args, Mapping):
        return dict(args)
    if args is not None:
        return dict(zip(names, args))
    missing = [n for n in names if n not in facts.inputs]
    if missing:
        raise ValueError(f"the reference needs {', '.join(missing)}: pass args=, or name its parameters as the kernel's ({', '.join(facts.inputs) or 'no run yet'})")
    return {n: facts.inputs[n] for n in names}


def _size(tracked: Tracked) -> np.ndarray | None:
    """Sums of absolute terms, back from the limit they gave."""
    terms = kernel_facts.longest(tracked.steps)
    return tracked.limit / tolerance.gamma(terms, tracked.u) if terms else None


def _times(words: Sequence[str]) -> str:
    counted = [f"{w} {('once', 'twice', '3 times', '4 times')[words.count(w) - 1] if words.count(w) < 5 else f'{words.count(w)} times'}"
               if words.count(w) > 1 else w for w in dict.fromkeys(words)]
    return ", ".join(counted)


def _steps(tracked: Tracked, sums: str) -> str:
    long = [s for s in tracked.steps if "K=" in s or "sum of" in s]
    other = list(dict.fromkeys(s for s in tracked.steps if s not in long))
    return ", ".join(filter(None, [_times(long), f"{sums} sums" if long else f"{sums} operations", " and ".join(other) + " between" if other and long else ", ".join(other)]))


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(1, -1) if x.ndim < 2 else x.reshape(-1, x.shape[-1])


def _difference(got: np.ndarray, tracked: Tracked, dtype: str, reference_dtype: str, terms: int, size: np.ndarray | None, facts: kernel_facts.Facts,
                tasks: int) -> Difference:
    expected = tracked.value
    if dtype in tolerance.FORMATS:
        if dtype != tracked.sums and dtype != "fp64":
            tracked = tracked.astype(dtype)
            if reference_dtype == dtype:  # the reference was rounded as well
                half = tolerance.spacing(expected, dtype) / 2
                tracked = Tracked(expected, tracked.noise + half ** 2 / 3, tracked.limit + half, tracked.sums)
        elif reference_dtype == "fp32" == tracked.sums and terms > 0:
            # the reference's own sums were rounded in its own order: as large an error again
            tracked = Tracked(expected, 2 * tracked.noise, 2 * tracked.limit, tracked.sums)
        elif reference_dtype in ("fp32", dtype):
            half = tolerance.spacing(expected, "fp32") / 2
            tracked = Tracked(expected, tracked.noise + half ** 2 / 3, tracked.limit + half, tracked.sums)
        if dtype in tolerance.LARGEST:  # what overflows in the output's format is due as infinity
            largest = np.array(tolerance.LARGEST[dtype])
            top = largest + tolerance.spacing(largest, dtype) / 2
            over = np.abs(expected) >= top
            # so close to the end of the range either is right
            either = np.isfinite(expected) & (np.abs(np.abs(expected) - top) <= tracked.limit - tolerance.spacing(largest, dtype) / 2)
            over = np.where(either & np.isfinite(tracked.limit), np.isinf(got.astype(np.float64)), over)
            expected = np.where(over, np.copysign(np.inf, expected), expected)
    wide = got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(wide - expected)
    same_place = (np.isnan(wide) & np.isnan(expected)) | (wide == expected)
    special = ~np.isfinite(wide) | ~np.isfinite(expected)
    limit = np.where(np.isfinite(tracked.limit), tracked.limit, 0)
    bad = np.where(special, ~same_place, error > limit)
    return Difference(_flat(wide), _flat(expected), _flat(np.sqrt(np.where(np.isfinite(tracked.noise), tracked.noise, 0))), _flat(limit), _flat(bad), dtype,
                      reference_dtype, terms, tasks or facts.tasks(), _raced(facts), facts.tile_columns, facts.input_columns, None if size is None else _flat(size),
                      facts.subblock_rows)


def _raced(facts: kernel_facts.Facts) -> dict[str, int]:
    """Channels and their slots; only those that raced when the run says so."""
    named = {race["what"].split()[0] for race in facts.races()}
    return {n: k for n, k in facts.slots.items() if n in named} or facts.slots


def _ratios(d: Difference) -> tuple[np.ndarray, np.ndarray]:
    """(|error|, |error| / sigma), both finite."""
    with np.errstate(all="ignore"):
        error = np.abs(d.got - d.expected)
        error = np.where(np.isnan(error), np.where(d.bad, np.inf, 0), error)
        z = np.where(error == 0, 0, error / d.sigma)
    return np.minimum(error, np.finfo(np.float32).max), np.clip(np.where(np.isnan(z), 0, z), 0, _CAP)


def _report(d: Difference, out: Any, ref: Any, shape: tuple[int, ...], name: str, facts: kernel_facts.Facts, source: str, rtol: float | None,
            atol: float | None) -> dict[str, Any]:
    error, z = _ratios(d)
    noisy = (z > 6) & ~d.bad
    above_limit, above_sigma = int(d.bad.sum()), int((z > 6).sum())
    bitwise = _bitwise(out, ref)
    verdict = "BITWISE" if bitwise else "DIFFERENT" if above_limit else "ROUNDING" if noisy.any() else "MATCH"
    tolerance_text, fails = _stated_tolerance(d, error, rtol, atol)
    kind: Kind | None = None
    if verdict in ("DIFFERENT", "ROUNDING"):
        kind = classify(d) if verdict == "DIFFERENT" else _mild(d)
    elif verdict == "MATCH":
        with np.errstate(all="ignore"):
            kind = cast_ties(d) if d.dtype != "fp32" else None
        if kind is None and fails is not None and d.sums_size is not None:
            kind = cancelled(replace(d, bad=fails))
    if facts.atomic and verdict in ("MATCH", "ROUNDING") and (kind is None or verdict == "MATCH"):
        kind = Kind("order-dependent, within bound: cores add atomically in no fixed order, so bits differ from run to run", False)
    worst = np.argsort(-z, axis=None, kind="stable")[:10]
    largest = np.argsort(-np.where(np.isfinite(error), error, np.inf), axis=None, kind="stable")[:10]
    element = lambda flat: _element(d, error, int(flat), shape)
    low_high = lambda x: (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)
    sigma, limit = low_high(d.sigma), low_high(d.limit)
    stage, task, stages = _first_wrong(d, facts)
    run_status = facts.run_status()
    return {
        "schema": 1, "status": verdict, "computed_by": facts.computed_by, "checked_by": "comparison with the reference", "estimated": ["sizes of the sums"] if "estimated" in source else [],
        "timing_rows": {"stated": 0, "derived": 0, "guessed": 0},
        "verdict": verdict, "output": name, "shape": "x".join(map(str, shape)) or "scalar", "dtype": d.dtype,
        "reference": _reference_words(ref), "elements": int(d.got.size), "above_sigma": above_sigma, "above_limit": above_limit,
        "worst_sigma": float(z.max()) if z.size else 0.0, "median_sigma": float(np.median(z)) if z.size else 0.0,
        "p99_sigma": float(np.percentile(z, 99)) if z.size else 0.0,
        "sigma_low": sigma[0], "sigma_high": sigma[1], "limit_low": limit[0], "limit_high": limit[1],
        "derivation": source + (", the fp32 reference's as well" if d.reference_dtype == d.dtype == "fp32" and d.terms > 0 else "") + (f", cast to {d.dtype}" if d.dtype in tolerance.FORMATS and d.dtype not in ("fp32", "fp64") else ""), "tolerance": tolerance_text,
        "where": _where(d, name, shape) if above_limit else "", "scope": _scope(d, z) if above_limit else "",
        "first_wrong_stage": stage, "first_wrong_task": task,
        "kind": kind.text if kind else ("none of the known kinds" if verdict == "DIFFERENT" else ""),
        "see": f"the last run: {run_status}" if verdict == "DIFFERENT" and run_status else (kind.see if kind else ""),
        "stages": stages, "worst": [element(i) for i in worst] if not bitwise else [], "largest": [element(i) for i in largest] if not bitwise else [],
        "map": _map(d, z), "histogram": _histogram(z),
    }


def _mild(d: Difference) -> Kind | None:
    """A lawful kind for differences within the limit."""
    for test in (cast_ties, accumulation, cancelled):
        with np.errstate(all="ignore"):
            found = test(d)
        if found is not None:
            return found
    return None


def _bitwise(out: Any, ref: Any) -> bool:
    if callable(ref) or name_of(getattr(out, "dtype", _plain(out).dtype)) != name_of(getattr(ref, "dtype", _plain(ref).dtype)):
        return False
    a, b = np.ascontiguousarray(_plain(out)), np.ascontiguousarray(_plain(ref))
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _stated_tolerance(d: Difference, error: np.ndarray, rtol: float | None, atol: float | None) -> tuple[str, np.ndarray | None]:
    """The user's own tolerance, shown beside the derived one; and where it fails."""
    if rtol is None and atol is None:
        return "", None
    stated = " ".join(f"{n}={v:g}" for n, v in (("rtol", rtol), ("atol", atol)) if v is not None)
    finite = np.where(np.isfinite(d.expected), np.abs(d.expected), 0)
    fails = error > (rtol or 0) * finite + (atol or 0)
    if not fails.any():
        return f"{stated} also holds", None
    needed = float(np.max(error - (rtol or 0) * finite))
    digits = 10.0 ** np.ceil(np.log10(needed)) if needed > 0 else 0
    return f"{stated} fails at {int(fails.sum()):,} of {error.size:,}; atol={digits:g} would hold", fails


def _reference_words(ref: Any) -> str:
    if callable(ref):
        return f"{getattr(ref, '__name__', 'function').replace('<lambda>', 'function')} in float64"
    library = "torch" if hasattr(ref, "detach") else "numpy"
    return f"{library} {str(getattr(ref, 'dtype', _plain(ref).dtype)).removeprefix('torch.')}"


def _place(d: Difference, flat: int, shape: tuple[int, ...]) -> tuple[list[int], int]:
    index = [int(i) for i in np.unravel_index(flat, shape)] if shape else []
    rows = d.got.shape[0]
    task = flat // d.got.shape[1] // (rows // d.tasks) if d.tasks > 1 and rows % d.tasks == 0 else -1
    return index, int(task)


def _subblock(d: Difference, flat: int) -> int:
    """Which vector core stored an element; -1 when the kernel does not say."""
    n = d.subblock_rows
    return flat // d.got.shape[1] // n % 2 if n and d.got.shape[0] % (2 * n) == 0 else -1


def _finite(x: float) -> float:
    """JSON has no NaN: the text of the verdict says where they are."""
    return float(np.nan_to_num(x, nan=0.0, posinf=np.finfo(np.float32).max, neginf=-np.finfo(np.float32).max))


def _element(d: Difference, error: np.ndarray, flat: int, shape: tuple[int, ...]) -> dict[str, Any]:
    index, task = _place(d, flat, shape)
    return {"index": index, "task": task, "subblock": int(_subblock(d, flat)), "got": _finite(d.got.flat[flat]), "expected": _finite(d.expected.flat[flat]),
            "error": _finite(error.flat[flat]), "sigma": float(d.sigma.flat[flat]), "limit": float(d.limit.flat[flat])}


def _where(d: Difference, name: str, shape: tuple[int, ...]) -> str:
    rows, columns = np.nonzero(d.bad.any(axis=1))[0], np.nonzero(d.bad.any(axis=0))[0]
    r0, r1, c0, c1 = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    area = (r1 - r0) * (c1 - c0)
    box = f"[{r0}:{r1}, {c0}:{c1}]" if len(shape) >= 2 else f"[{c0}:{c1}]"
    share = int(d.bad.sum())
    text = f"{name}{box}" + ("" if share == area else f" holds them, {share:,} of {area:,}")
    lost = int((np.isnan(d.got) != np.isnan(d.expected)).sum())
    infinite = int(((np.isinf(d.got) | np.isinf(d.expected)) & (d.got != d.expected) & ~np.isnan(d.got) & ~np.isnan(d.expected)).sum())
    if d.tasks > 1 and d.got.shape[0] % d.tasks == 0:
        height = d.got.shape[0] // d.tasks
        touched = [t for t in range(d.tasks) if d.bad[t * height:(t + 1) * height].any()]
        if (r0, r1, c0, c1) == (touched[0] * height, (touched[0] + 1) * height, 0, d.got.shape[1]):
            text += " = one whole task tile"
        text += f", task{'s' if len(touched) > 1 else ''} {', '.join(map(str, touched[:8]))}"
    for count, word in ((lost, "NaN"), (infinite, "infinity")):
        if count:
            text += f"; {word} out of place {count:,} times"
    return text


def _scope(d: Difference, z: np.ndarray) -> str:
    if d.bad.all():
        return "nothing is right"
    if d.tasks > 1 and d.got.shape[0] % d.tasks == 0:
        wrong, ratio = d.bad.reshape(d.tasks, -1).any(axis=1), z.reshape(d.tasks, -1).max(axis=1)
        if not wrong.all():
            return f"the other {int((~wrong).sum())} of {d.tasks} tasks are within {float(ratio[~wrong].max()):.1f} sigma"
    return f"all others are within {max(float(z[~d.bad].max()), 0):.1f} sigma"


def _first_wrong(d: Difference, facts: kernel_facts.Facts) -> tuple[str, int, list[dict[str, Any]]]:
    """The task of the first wrong tile; the stage only when a race of the run touches that very task."""
    if not d.bad.any() or d.tasks < 2 or d.got.shape[0] % d.tasks:
        return "", -1, []
    task = int(np.nonzero(d.bad.any(axis=1))[0][0]) // (d.got.shape[0] // d.tasks)
    for race in facts.races():
        read = next((race[end] for end in ("first", "second") if not race[end]["writes"] and race[end]["task"] == task), None)
        if read is not None:
            return read["stage"], task, [{"stage": read["stage"], "what": f"read of {race['what']}, task {task}", "right": False, "note": "a race of the run"}]
    return "", task, []


def _map(d: Difference, z: np.ndarray) -> dict[str, Any]:
    """Largest ratio in each cell of a grid of at most 32 x 64."""
    rows, columns = d.got.shape
    if not d.got.size:
        return {"rows": 0, "columns": 0, "element_rows": rows, "element_columns": columns, "z": [], "task_rows": [], "task_labels": []}
    down, across = max(1, -(-rows // 32)), max(1, -(-columns // 64))
    shown = np.where(d.bad, np.inf, z)
    cells = np.maximum.reduceat(np.maximum.reduceat(shown, np.arange(0, rows, down), axis=0), np.arange(0, columns, across), axis=1)
    tiles = d.tasks if d.tasks > 1 and rows % d.tasks == 0 and d.tasks <= 32 else 0
    halves = 2 if tiles and d.subblock_rows and rows // tiles == 2 * d.subblock_rows else 1
    return {"rows": cells.shape[0], "columns": cells.shape[1], "element_rows": rows, "element_columns": columns,
            "z": [float(v) if np.isfinite(v) else None for v in cells.flat],
            "task_rows": [t * rows // tiles // halves for t in range(tiles * halves)],
            "task_labels": [f"task {t // halves}" + (f", AIV{t % 2}" if halves == 2 else "") for t in range(tiles * halves)]}


def _histogram(z: np.ndarray) -> list[dict[str, Any]]:
    edges = np.concatenate([np.arange(0, 6, 0.25), np.logspace(np.log10(6), np.log10(_CAP), 24)])
    counts, _ = np.histogram(z, bins=edges)
    last = int(np.nonzero(counts)[0][-1]) + 1 if counts.any() else 0
    return [{"from": float(edges[i]), "to": float(edges[i + 1]), "count": int(counts[i])} for i in range(last)]


def _rendered(data: dict[str, Any]) -> tuple[str, str]:
    from xpto import _engine
    if hasattr(_engine, "render"):
        return _engine.render("precision", json.dumps(chinese.precision(data) if chinese.chosen() else data), config.values["lang"])
    from html import escape
    from xpto import report_text
    text = report_text.precision(data)
    return text, f"<pre>{escape(text)}</pre>"


def compare_growth(runs: Mapping[int, tuple[Any, Any]], *, sums: str = "fp32", dtype: Any = None) -> "Growth":
    """Errors of outputs with sums of several lengths: {K: (out, reference)}. Says how they grow and in which format the sums were kept."""
    return Growth({k: compare(out, ref, k=k, sums=sums, dtype=dtype, name=f"K={k}") for k, (out, ref) in sorted(runs.items())},
                  {k: _relative(out, ref) for k, (out, ref) in sorted(runs.items())}, sums)


def _relative(out: Any, ref: Any) -> float:
    expected = _plain(ref).astype(np.float64)
    return float(np.sqrt(np.mean((_plain(out).astype(np.float64) - expected) ** 2) / np.mean(expected ** 2)))


class Growth(Report):
    """Relative error against K, with what sums in fp32, bf16 and fp16 would give."""

    def __init__(self, verdicts: dict[int, Comparison], errors: dict[int, float], sums: str) -> None:
        ks, values = np.array(list(errors)), np.array(list(errors.values()))
        self.slope = float(np.polyfit(np.log(ks), np.log(np.maximum(values, 1e-300)), 1)[0]) if len(ks) > 1 else float("nan")
        model = {name: tolerance.unit(name) * np.sqrt(ks / 6) for name in ("fp32", "fp16", "bf16")}
        self.fits = min(model, key=lambda name: float(np.abs(np.log(values / model[name])).mean())) if np.all(values > 0) else sums
        worst = "DIFFERENT" if any(not v for v in verdicts.values()) and self.fits == sums else "ROUNDING" if self.fits != sums else "MATCH"
        lines = [f"{worst}  error grows as K**{self.slope:.2f}: " + (f"accumulation dtype: sums were kept in {self.fits}, the threshold is for {sums}; not a bug"
                                                                     if self.fits != sums else f"as sums in {sums} do"),
                 f"{'K':>8}  {'rms error':>10}  {'as ' + self.fits:>10}  verdict"]
        lines += [f"{k:>8}  {e:>10.2e}  {m:>10.2e}  {verdicts[k].status}" for k, e, m in zip(errors, values, model[self.fits])]
        data = {"schema": 1, "status": worst, "slope": self.slope, "sums": sums, "fits": self.fits, "k": [int(x) for x in ks], "error": [float(x) for x in values],
                "verdicts": {str(k): v.status for k, v in verdicts.items()}}
        from html import escape
        if chinese.chosen():
            status, _, sentence = lines[0].partition("  ")
            lines[0] = f"{status}  {chinese.translated(sentence)}"
        text = "\n".join(lines) + "\n"
        super().__init__(text, f"<pre>{escape(text)}</pre>{_growth_picture(data, model)}", data)


def _growth_picture(data: dict[str, Any], model: Mapping[str, np.ndarray]) -> str:
    """Error against K on logarithmic axes, as a plain drawing."""
    width, height, ks, values = 480, 260, np.log2(data["k"]), np.log10(np.maximum(data["error"], 1e-12))
    lines = {name: np.log10(m) for name, m in model.items()}
    low, high = min(values.min(), *(v.min() for v in lines.values())) - 0.3, max(values.max(), *(v.max() for v in lines.values())) + 0.3
    x = lambda k: 60 + (k - ks.min()) / max(np.ptp(ks), 1e-9) * (width - 140)
    y = lambda v: 20 + (high - v) / (high - low) * (height - 60)
    parts = [f'<polyline fill="none" stroke="#8A929C" stroke-dasharray="4 3" points="{" ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in zip(ks, row))}"/>'
             f'<text x="{width - 74}" y="{y(row[-1]) + 4:.1f}" font-size="11">{name} sums</text>' for name, row in lines.items()]
    parts += [f'<circle cx="{x(k):.1f}" cy="{y(v):.1f}" r="4" fill="#1F59B2"/><text x="{x(k):.1f}" y="{height - 18}" font-size="10.5" text-anchor="middle">{int(2 ** k + 0.5)}</text>'
              for k, v in zip(ks, values)]
    title = f"{data['status']}: relative error against K"
    import base64
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif"><title>{title}</title>'
           f'<rect width="{width}" height="{height}" fill="#FCFCFA"/><text x="8" y="14" font-size="12">{title}</text>{"".join(parts)}</svg>')
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
