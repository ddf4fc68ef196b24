"""Which setting is fastest and right: every point compiled, run on copies of the user's data, compared bit for bit with preload 0, timed by the model.

    xpto.tune(kernel, a, b, out, preload="0:4", slots={"p": "2-4"}, TILE=[32, 64])
"""
from __future__ import annotations

import copy
import ctypes
import itertools
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from xpto import config, kernel_text
from xpto.arguments import host_array
from xpto.errors import CompileError, HazardError, LaunchError, LaunchTypeError
from xpto.kernel import OperatorKernel
from xpto.kernel_text import NotRewritable
from xpto.results import Report
from xpto.sink import Progress


class Sweep(Report):
    """The table of a sweep. `best` is the fastest point that ran and is right; `points` are all of them, in the order tried."""

    def __init__(self, text: str, html: str, data: dict[str, Any], points: list[dict[str, Any]]) -> None:
        super().__init__(text, html, data)
        self.points = points

    @property
    def best(self) -> dict[str, Any] | None:
        at = self._data["best"]
        return self._data["points"][at] if at >= 0 else None


def _number(text: Any) -> int | float:
    try:
        return int(text) if not isinstance(text, float) else text
    except ValueError:
        return float(text)


def values_of(given: Any) -> list[Any]:
    """Values to sweep: 3, [1, 2], range(3), "0:4" and "2-4" with both ends, "1,2,8", "0.5,1.5"."""
    if isinstance(given, bool):
        raise ValueError(f"expected numbers to sweep, got {given}")
    if isinstance(given, (int, float)):
        return [given]
    if isinstance(given, str):
        text, out = given.strip("[]() "), []
        for part in filter(None, (p.strip() for p in text.split(","))):
            for sign in (":", "-"):
                first, found, last = part.partition(sign)
                if found and first:
                    if int(last) < int(first):
                        raise ValueError(f"{part}: the range ends before it begins")
                    out += range(int(first), int(last) + 1)
                    break
            else:
                out.append(_number(part))
        if not out:
            raise ValueError(f"nothing to sweep in {given!r}")
        return list(dict.fromkeys(out))
    return list(dict.fromkeys(_number(v) for v in given))


@dataclass
class _Setting:
    preload: int
    slots: dict[str, int]
    constants: dict[str, int]

    def words(self) -> list[list[str]]:
        return [[n, str(v)] for n, v in {**self.slots, **self.constants}.items()]


@dataclass
class _Job:
    """What stays the same over a sweep."""
    kernel: OperatorKernel
    arguments: Callable[[Mapping[str, Any]], tuple[tuple, dict[str, Any]]]  # from a variant's namespace
    block_dim: int
    tiling_key: Mapping[str, int] | None
    variants: dict[str, tuple[OperatorKernel, dict[str, Any]]] = field(default_factory=dict)
    references: dict[str, list[np.ndarray] | str] = field(default_factory=dict)
    compiled: dict[str, Any] = field(default_factory=dict)   # at preload 0, as the reference ran
    timeline: dict[str, Any] = field(default_factory=dict)   # of the fastest point so far

    def variant(self, setting: _Setting) -> tuple[OperatorKernel, dict[str, Any]]:
        key = repr((setting.slots, setting.constants))
        if key not in self.variants:
            if not setting.slots and not setting.constants:
                made, space = copy.copy(self.kernel), self.kernel.__xpto_function__.__globals__
                made._compiled = {}
            else:
                # addresses and ids are looked for in the map of the kernel with these constants
                base = self.variant(_Setting(0, {}, setting.constants))[0] if setting.slots and setting.constants else self.kernel
                memory, ir = ([], "")
                if setting.slots:
                    self.reference(setting)
                    known = self.compiled.get(repr(setting.constants))
                    if known is None:
                        raise NotRewritable(f"where room is cannot be known: preload 0 did not run: {self.references[repr(setting.constants)]}")
                    memory, ir = known.to_json()["memory"], known.native.ir()
                made, space = kernel_text.variant(base, {} if base is not self.kernel else setting.constants, setting.slots, memory, ir)
            self.variants[key] = made, space
        return self.variants[key]

    def outputs(self, kernel: OperatorKernel, space: Mapping[str, Any], preload: int) -> tuple[list[np.ndarray], Any, Any]:
        """(what every writable argument holds after a run on copies, the run, its compilation)."""
        args, kwargs = self.arguments(space)
        args, kwargs = tuple(_copied(a) for a in args), {k: _copied(v) for k, v in kwargs.items()}
        trial = copy.copy(kernel)
        trial.overrides = {**kernel.overrides, **({"preload": preload} if _piped(kernel) else {})}
        run = trial.launch(args, kwargs, block_dim=self.block_dim, tiling_key=self.tiling_key)
        return [_bytes(v) for v in (*args, *kwargs.values()) if hasattr(v, "shape")], run, run.compiled

    def reference(self, setting: _Setting) -> list[np.ndarray] | str:
        """Outputs at preload 0 with the text's own slots; why there are none as text."""
        key = repr(setting.constants)
        if key not in self.references:
            try:
                kernel, space = self.variant(_Setting(0, {}, setting.constants))
                self.references[key], _, self.compiled[key] = self.outputs(kernel, space, 0)
            except Exception as e:  # it may be refused for a reason of its own; the points say what theirs is
                self.references[key] = f"{type(e).__name__}: {e}".splitlines()[0]
        return self.references[key]


def _piped(kernel: OperatorKernel) -> bool:
    return kernel.options.get("pipeline") is not None


def _copied(value: Any) -> Any:
    if hasattr(value, "detach"):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


def _bytes(value: Any) -> np.ndarray:
    """The bits of an array: equal bits, NaN included, are equal results."""
    host = host_array(value, "argument")
    return np.frombuffer(ctypes.string_at(host.address, host.nbytes), dtype=np.uint8) if host.nbytes else np.empty(0, np.uint8)


def _reason(diagnostic: Mapping[str, Any]) -> str:
    code, message = diagnostic["code"].removeprefix("PTO-"), diagnostic["message"].replace("`", "")
    needs = re.search(r"(\S+) needs (\d+) slots", message)
    return f"{code}: {needs[1]} needs {needs[2]} slots" if needs else f"{code}: {message}"


def _point(job: _Job, setting: _Setting) -> dict[str, Any]:
    """One setting: compiled, run, compared, timed."""
    p: dict[str, Any] = {"state": "refused", "preload": setting.preload, "setting": setting.words(), "depth": -1, "ids": -1, "prefire": -1, "l1_bytes": -1,
                         "us": -1.0, "fastest_us": -1.0, "slowest_us": -1.0, "reason": "", "note": ""}
    try:
        kernel, space = job.variant(setting)
        outputs, run, made = job.outputs(kernel, space, setting.preload)
    except NotRewritable as e:
        p["reason"] = str(e)
        return p
    except CompileError as e:
        errors = [d for d in e.diagnostics if d["severity"] == "error"]
        p["reason"] = _reason(errors[0]) if errors else str(e).splitlines()[0]
        return p
    except HazardError as e:
        status = getattr(e.report, "status", "")
        p["state"], p["reason"] = ("hang" if status == "hang" else "wrong"), str(e).splitlines()[0]
        return p
    except (LaunchError, LaunchTypeError) as e:
        # "kernel(a): axis 0 is 256 where 128 is declared (shape ...)": the row is narrow
        p["reason"] = "data: " + str(e).splitlines()[0].removeprefix(f"{job.kernel.__name__}(").replace("): ", " ", 1).partition(" (shape")[0]
        return p
    said = made.to_json()
    loops = said["loops"]
    if loops:
        p["depth"] = max(loop["ring_depth"] for loop in loops)
        p["ids"] = len({i for loop in loops for e in loop["edges"] for i in e["ids"]})
        p["prefire"] = sum(len(loop["prefire"]) for loop in loops)
    p["l1_bytes"] = sum(m["used"] for m in said["memory"] if m["memory"] == "Mat")
    timeline = run.timeline().to_json()
    p["us"] = float(timeline["us"])
    reference = job.reference(setting)
    if isinstance(reference, str):
        p["state"], p["note"] = "predicted", f"not compared, preload 0 did not run: {reference}"
    elif len(reference) != len(outputs) or any(not np.array_equal(a, b) for a, b in zip(outputs, reference)):
        off = sum(int((a != b).sum()) for a, b in zip(outputs, reference))
        p["state"], p["reason"] = "wrong", f"{off:,} bytes differ from preload 0"
    else:
        p["state"] = "right"
        if not job.timeline or p["us"] < job.timeline["us"]:
            job.timeline = timeline
    return p


def tune(kernel: OperatorKernel, *args: Any, preload: Any = None, slots: Mapping[str, Any] | str | None = None, block_dim: int = 1,
         tiling_key: Mapping[str, int] | None = None, inputs: Callable[..., Any] | None = None, **named: Any) -> Sweep:
    """Sweeps settings of a kernel over the given data.

    preload   depths to try, "0:4" with both ends; default 0:4 for a pipelined kernel
    slots     {"p": "2-4"} or "p:2-4": slot counts of tile groups; the text is edited where that is safe
    NAME=     values of a module constant of the kernel's text, TILE=[32, 64]
    inputs    a function that makes the arguments (tuple or dict), for sweeps of constants that change shapes; its namespace is the variant's
    """
    if not isinstance(kernel, OperatorKernel):
        raise TypeError(f"expected an operator kernel (a function decorated with @pl.jit), got {type(kernel).__name__}")
    parameters = set(kernel.__xpto_function__.__code__.co_varnames[:kernel.__xpto_function__.__code__.co_argcount])
    keywords = {k: v for k, v in named.items() if k in parameters}
    constants = {k: values_of(v) for k, v in named.items() if k not in parameters}
    if preload is not None and not _piped(kernel):
        raise LaunchError(f"{kernel.__name__} has no pipeline= option, so there is no preload to sweep")
    depths = values_of(preload if preload is not None else "0:4") if _piped(kernel) else [0]
    if any(not isinstance(p, int) or p < 0 for p in depths):
        raise ValueError(f"preload: whole numbers from 0, got {depths}")
    counts = slot_counts(slots)

    def arguments(space: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
        maker = inputs if inputs is None or inputs.__name__ not in space else space[inputs.__name__]
        if maker is None:
            return args, keywords
        made = maker()
        return ((), dict(made)) if isinstance(made, Mapping) else (tuple(made), {})

    job = _Job(kernel, arguments, block_dim, tiling_key)
    settings = [_Setting(p, dict(zip(counts, s)), dict(zip(constants, c)))
                for c in itertools.product(*constants.values()) for p in depths for s in itertools.product(*counts.values())]
    points, interrupted = _swept(job, settings)
    data = _summary(job, points, interrupted, depths, counts, constants, len(settings))
    text, html = _rendered(data)
    return Sweep(text, html, data, points)


def slot_counts(slots: Mapping[str, Any] | str | None) -> dict[str, list[int]]:
    """{"p": [2, 3, 4]} of a mapping or of "p:2-4,q:2,3"."""
    if slots is None:
        return {}
    if isinstance(slots, str):
        found: dict[str, str] = {}
        for part in slots.split(","):
            name, sign, values = part.strip().partition(":")
            if sign:
                found[name], last = values, name
            elif found:
                found[last] += "," + name
            else:
                raise ValueError(f"slots={slots}: write NAME:2-4")
        slots = found
    counts = {name: values_of(v) for name, v in slots.items()}
    for name, values in counts.items():
        if min(values) < 1:
            raise ValueError(f"slots of {name}: at least 1, got {min(values)}")
    return counts


def _swept(job: _Job, settings: Sequence[_Setting]) -> tuple[list[dict[str, Any]], bool]:
    points: list[dict[str, Any]] = []
    begin = time.monotonic()
    try:
        with Progress(f"tuning {job.kernel.__name__}", total=len(settings)) as progress:
            for setting in settings:
                points.append(_point(job, setting))
                right = [p for p in points if p["state"] == "right"]
                best = min(right, key=_rank) if right else None
                left = (time.monotonic() - begin) / len(points) * (len(settings) - len(points))
                progress.update(len(points), ", ".join(filter(None, (
                    f"best {best['us']:.2f} us (preload {best['preload']})" if best else "", f"about {left:.0f} s left" if len(points) < len(settings) else ""))))
    except KeyboardInterrupt:
        if not points:
            raise
        return points, True
    return points, False


def _rank(p: Mapping[str, Any]) -> tuple:
    """Fastest first; among equals the shallow one that takes less memory."""
    return (float(f"{p['us']:.3g}"), p["preload"], p["l1_bytes"], p["ids"])


def _summary(job: _Job, points: list[dict[str, Any]], interrupted: bool, depths: list[int], counts: Mapping[str, list[int]],
             constants: Mapping[str, list[int]], settings: int) -> dict[str, Any]:
    shown = _folded(points) if len(counts) == 1 and not constants else points
    right = [p for p in shown if p["state"] == "right"]
    best = min(right, key=_rank) if right else None
    serial = next((p["us"] for p in shown if p["preload"] == 0 and p["state"] == "right"), -1.0)
    timeline = job.timeline
    span = lambda v: str(v[0]) if len(v) == 1 else f"{v[0]}-{v[-1]}" if v == [v[0] + i for i in range(len(v))] else ",".join(map(str, v))
    swept = [f"preload {span(depths)}"] if _piped(job.kernel) else []
    swept += [f"slots of {n} {span(v)}" for n, v in counts.items()] + [f"{n} {span(v)}" for n, v in constants.items()]
    ran = sum(p["state"] in ("right", "predicted", "wrong", "hang") for p in points)
    floor, note = _floor(timeline)
    made = job.kernel.last
    target = (made.to_json()["target"]["name"] if made is not None else "") or timeline.get("target", "")
    state = ("HANG" if any(p["state"] == "hang" for p in points) else "DIFFERENT" if any(p["state"] == "wrong" for p in points) else "RIGHT" if best else
             "WARNED" if ran else "REFUSED")
    return {"schema": 1, "status": state, "computed_by": timeline.get("computed_by", f"simulator ({target})" if target else "simulator"),
            "checked_by": "comparison with preload 0", "estimated": timeline.get("estimated", ["time"]),
            "timing_rows": timeline.get("timing_rows", {"stated": 0, "derived": 0, "guessed": 0}),
            "kernel": job.kernel.__name__, "swept": " x ".join(swept), "compared": "bit for bit" if right else "", "tasks": int(timeline.get("tasks", 0)),
            "settings": settings, "run": ran, "points": shown, "best": shown.index(best) if best is not None else -1, "serial_us": serial, "floor_us": floor,
            "floor_note": note, "advice": _advice(job.kernel, shown, best), "interrupted": interrupted}


def _folded(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """More slots with the same outcome are a note on the row of fewer."""
    rows: list[dict[str, Any]] = []
    for p in points:
        same = rows[-1] if rows else None
        # 0.1 %: far below what the model's numbers mean
        if same is not None and same["preload"] == p["preload"] and same["state"] == p["state"] == "right" and abs(same["us"] - p["us"]) <= 1e-3 * p["us"]:
            same["note"] = (same["note"].removesuffix(" slots: same") + " or " if same["note"] else "") + p["setting"][0][1] + " slots: same"
        elif same is not None and same["preload"] == p["preload"] and same["state"] == p["state"] == "refused" and _needs(same) == _needs(p) and _needs(p):
            same["setting"] = [[p["setting"][0][0], same["setting"][0][1].split("-")[0] + "-" + p["setting"][0][1]]]
        else:
            rows.append({**p})
    return rows


def _needs(p: Mapping[str, Any]) -> str:
    return p["reason"] if "needs" in p["reason"] else ""


def _floor(timeline: Mapping[str, Any]) -> tuple[float, str]:
    """The pacing pipe alone."""
    if not timeline or not timeline.get("steady_is_floor") or timeline["steady"] <= 0 or not timeline["tasks"]:
        return -1.0, ""
    cycles = timeline["steady"] / timeline["ticks_per_cycle"]
    core = {"AIC": "cube"}.get(timeline["pace_core"], "vector")
    return timeline["tasks"] * cycles / timeline["cycles_per_us"], f"{timeline['tasks']} tasks x {cycles:.0f} cycles on {core} {timeline['pace_pipe']}"


def _advice(kernel: OperatorKernel, points: Iterable[Mapping[str, Any]], best: Mapping[str, Any] | None) -> str:
    points = list(points)
    if best is None:
        needs = sorted({p["reason"] for p in points if p["reason"]})
        return f"nothing ran; {needs[0]}" if needs else ""
    said = []
    setting = "".join(f", {n} {v}" for n, v in best["setting"])
    if _piped(kernel):
        now = kernel.overrides.get("preload", getattr(kernel.options["pipeline"], "preload", None))
        at = [p for p in points if p["preload"] == now and p["state"] == "right"]
        if now == best["preload"] and (not best["setting"] or at and at[0] is best):
            said.append(f"stay at preload {now}")
        elif at and at[0]["us"] <= best["us"] * 1.001:
            said.append(f"preload {best['preload']}{setting} is as fast as preload {now} and needs less")
        else:
            gain = f": {100 * (1 - best['us'] / at[0]['us']):.0f} % less time than preload {now}" if at else ""
            said.append(f"write PipelineConfig(preload={best['preload']}){setting}{gain}")
        deeper = [p for p in points if p["preload"] > best["preload"] and p["state"] == "right"]
        refused = [p for p in points if p["preload"] > best["preload"] and p["state"] == "refused"]
        if deeper:
            said.append("deeper gains nothing here")
        elif refused and _needs(refused[0]):
            said.append(f"whether deeper helps: {refused[0]['reason'].partition(': ')[2]}, try slots=")
    elif setting:
        said.append(f"write {setting.removeprefix(', ')}")
    return "; ".join(said)


def _rendered(data: dict[str, Any]) -> tuple[str, str]:
    from xpto import _engine
    if hasattr(_engine, "render"):
        return _engine.render("sweep", json.dumps(data), config.values["lang"])
    from html import escape
    from xpto import report_text
    text = report_text.sweep(data)
    return text, f"<pre>{escape(text)}</pre>"
