"""Files of the toolkit's profilers, read into our own views: what was measured, never what was estimated.

  trace        trace_view.json, msprof_*.json, perf_sim_output/*.json: slices per core and pipe -> a timeline
  table        kernel_details.csv, op_summary*.csv: one row a launch, with the time of each pipe
  summary      *_pipeline_summary.csv of PTO-ISA's performance model: cycles of each unit
"""
from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Iterable, Mapping

from xpto.errors import LaunchError
from xpto.results import Report

TICKS = 1024
MHZ = 1650.0  # ticks are for drawing; measured microseconds come back out as they went in

_PIPES = {"mac": "M", "cube": "M", "mte1": "MTE1", "mte2": "MTE2", "mte3": "MTE3", "fixpipe": "FIX", "fixp": "FIX", "vec": "V", "scalar": "S"}


@dataclass
class Launch:
    """One row of a profiler's table."""
    name: str
    kind: str
    us: float
    blocks: int
    pipes: dict[str, float] = field(default_factory=dict)   # "AIC MTE2" -> us


@dataclass
class Profile:
    launches: list[Launch] = field(default_factory=list)
    timeline: dict[str, Any] | None = None
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


# ------------------------------------------------------------------ schedules of the framework's profiler

@dataclass(frozen=True)
class Schedule:
    """When the framework's profiler records: after skip_first steps, in cycles of wait, warmup and active ones."""
    skip_first: int = 0
    wait: int = 0
    warmup: int = 0
    active: int = 1

    @staticmethod
    def read(text: str) -> "Schedule":
        given = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, sign, value = part.partition("=")
            if not sign or name.strip() not in Schedule.__dataclass_fields__ or not value.strip().isdigit():
                raise LaunchError(f"a schedule reads skip_first=5,wait=0,warmup=1,active=2, not {text!r}")
            given[name.strip()] = int(value)
        return Schedule(**given)

    def recorded(self, steps: int) -> int:
        """How many of so many steps are recorded in the first cycle."""
        return max(0, min(self.active, steps - self.skip_first - self.wait - self.warmup))

    def explain(self, steps: int) -> str:
        first = self.skip_first + self.wait + self.warmup + 1
        if self.recorded(steps):
            return f"{self.recorded(steps)} of {steps} steps recorded"
        return (f"nothing was recorded: the profiler skips {self.skip_first}, waits {self.wait} and warms up {self.warmup} steps, so step {first} is the first it "
                f"records, and the program took {steps}; run at least {first + self.active - 1} steps or lower skip_first")


# ------------------------------------------------------------------ tables

def _number(text: Any) -> float:
    try:
        return float(str(text).strip())
    except ValueError:
        return 0.0


def _column(row: Mapping[str, Any], *names: str) -> str:
    lowered = {str(k).strip().lower(): v for k, v in row.items() if k}
    return next((str(lowered[n]).strip() for n in names if lowered.get(n) not in (None, "")), "")


def _pipe_times(row: Mapping[str, Any]) -> dict[str, float]:
    times = {}
    for key, value in row.items():
        found = re.fullmatch(r"(aic|aiv)_(\w+?)_time\(us\)", str(key).strip().lower())
        if found and found.group(2) in _PIPES and _number(value) > 0:
            times[f"{found.group(1).upper()} {_PIPES[found.group(2)]}"] = _number(value)
    return times


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return list(csv.DictReader(file))


def read_table(path: Path) -> list[Launch]:
    out = []
    for row in _rows(path):
        name = _column(row, "name", "op name", "op_name")
        if name:
            out.append(Launch(name, _column(row, "type", "op type"), _number(_column(row, "duration(us)", "task duration(us)")),
                              int(_number(_column(row, "block dim", "block num"))), _pipe_times(row)))
    return out


def read_summary(path: Path) -> list[Launch]:
    """Cycles of PTO-ISA's performance model: a model's, not a card's."""
    out = []
    for row in _rows(path):
        unit = _column(row, "unit")
        pipes = {}
        for key, value in row.items():
            found = re.fullmatch(r"(scalar|mte1|mte2|mte3|cube|fixp|vec)(?:_(aic|aiv))?_cycles", str(key).strip().lower())
            if found and _number(value) > 0:
                pipes[f"{unit} {_PIPES[found.group(1)]}"] = _number(value) / 1800.0
        out.append(Launch(f"{_column(row, 'op_name')} core {_column(row, 'core_id')}", "performance model, 1800 MHz", _number(_column(row, "total_cycles")) / 1800.0, 1, pipes))
    return out


# ------------------------------------------------------------------ traces

def _events(data: Any) -> list[dict[str, Any]]:
    found = data.get("traceEvents", []) if isinstance(data, dict) else data
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def _pipe_of(label: str) -> str:
    word = re.sub(r"\(.*", "", label).strip().lower()
    return _PIPES.get(word, label)


def read_trace(path: Path) -> dict[str, Any] | None:
    """A timeline of the trace's slices in our form; None when it has none. Overlapping slices of a lane move to a second one."""
    try:
        events = _events(json.loads(path.read_text(encoding="utf-8", errors="replace")))
    except ValueError as e:
        raise LaunchError(f"{path} is no trace: {e}") from None
    names: dict[tuple[str, Any, Any], str] = {}
    for e in events:
        if e.get("ph") == "M" and isinstance(e.get("args"), dict) and "name" in e["args"]:
            names[(str(e.get("name")), e.get("pid"), e.get("tid") if e.get("name") == "thread_name" else None)] = str(e["args"]["name"])
    slices = sorted((e for e in events if e.get("ph") == "X" and _number(e.get("dur")) >= 0 and "ts" in e), key=lambda e: (_number(e["ts"]), -_number(e.get("dur"))))
    if not slices:
        return None
    origin = _number(slices[0]["ts"])
    ticks = lambda us: int(round(us * MHZ * TICKS))
    ops: dict[str, int] = {}
    lanes: dict[tuple[str, str], list[list[int]]] = {}
    total = 0
    for e in slices:
        core = names.get(("process_name", e.get("pid"), None), f"core {e.get('pid')}")
        pipe = _pipe_of(names.get(("thread_name", e.get("pid"), e.get("tid")), str(e.get("tid"))))
        begin = ticks(_number(e["ts"]) - origin)
        end = max(begin + 1, ticks(_number(e["ts"]) - origin + _number(e.get("dur"))))
        n = 1
        while (key := (core, pipe if n == 1 else f"{pipe} ({n})")) in lanes and lanes[key][-1][1] > begin:
            n += 1
        lanes.setdefault(key, []).append([begin, end, end, ops.setdefault(str(e.get("name", "?")), len(ops)), -1, -1])
        total = max(total, end)
    busiest = max(lanes, key=lambda k: sum(s[1] - s[0] for s in lanes[k]))
    no_place = {"file": "", "line": 0, "column": 0}
    from xpto import _engine
    return {
        **json.loads(_engine.empty_timeline(f"the profiler that wrote {path.name}")), "kernel": path.stem, "target": "as recorded", "status": "MEASURED",
        "total": total, "us": total / TICKS / MHZ, "ticks_per_cycle": TICKS, "cycles_per_us": MHZ, "pace_core": busiest[0], "pace_pipe": busiest[1], "runs": 1,
        "ops": [{"name": name, "label": "", "place": no_place, "grade": "measured"} for name in ops],
        "lanes": [{"core": core, "pipe": pipe, "role": _engine.lane_role(core, pipe), "computes": pipe in ("M", "V"), "slices": s, "waits": [], "gaps": [], "predicted": [], "overview": [],
                   "totals": {"busy": (busy := sum(x[1] - x[0] for x in s)), "paid": 0, "free": 0, "in_core": 0, "idle": total - busy}}
                  for (core, pipe), s in lanes.items()],
    }


# ------------------------------------------------------------------ folders

def read(path: str | Path, kernel: str = "", schedule: Schedule | None = None, steps: int | None = None) -> Profile:
    """Everything a profiler left in a folder (or one file of it), rows of `kernel` only when it is named."""
    base = Path(path)
    if not base.exists():
        raise LaunchError(f"there is no {base}")
    files = [base] if base.is_file() else sorted(p for p in base.rglob("*") if p.suffix in (".csv", ".json"))
    profile = Profile()
    empty = []
    for file in files:
        name = file.name.lower()
        if name.endswith("pipeline_summary.csv"):
            rows = read_summary(file)
        elif name.startswith(("kernel_details", "op_summary", "opbasicinfo")) and file.suffix == ".csv" or base.is_file() and file.suffix == ".csv":
            rows = read_table(file)
        elif file.suffix == ".json" and (base.is_file() or name.startswith(("trace_view", "msprof")) or file.parent.name == "perf_sim_output"):
            trace = read_trace(file)
            if trace is not None:
                profile.files.append(str(file))
                if profile.timeline is None:
                    profile.timeline = trace
                else:
                    profile.notes.append(f"{file.name} is drawn when it is named: one trace at a time")
            continue
        else:
            continue
        profile.files.append(str(file))
        if not rows:
            empty.append(file.name)
        profile.launches += [r for r in rows if not kernel or kernel in r.name]
    if not profile.files:
        raise LaunchError(f"no profiler's file is in {base}: kernel_details.csv, op_summary*.csv, trace_view.json, msprof_*.json, perf_sim_output")
    for name in empty:
        why = schedule.explain(steps) if schedule is not None and steps is not None else \
            ("a profiler records from step skip_first + wait + warmup + 1 on; a program with fewer steps leaves the table empty "
             "(--schedule skip_first=5,warmup=1 --steps 3 says it for yours)")
        profile.notes.append(f"{name} has no rows: {why}")
    if kernel and not profile.launches and not empty:
        profile.notes.append(f"no row's name contains {kernel}")
    return profile


def _lines(profile: Profile, predicted_us: float | None) -> Iterable[str]:
    yield "MEASURED  " + ", ".join(Path(f).name for f in profile.files)
    groups: dict[str, list[Launch]] = {}
    for launch in profile.launches:
        groups.setdefault(launch.name, []).append(launch)
    for name, rows in groups.items():
        times = sorted(r.us for r in rows)
        median = times[len(times) // 2]
        yield (f"  {name}  {median:.2f} us" + (f" (median of {len(rows)}, {times[0]:.2f} to {times[-1]:.2f})" if len(rows) > 1 else "")
               + (f", {rows[0].blocks} blocks" if rows[0].blocks else "") + (f"; predicted {predicted_us:.2f} us by the simulator" if predicted_us is not None else ""))
        longest = max(rows[0].pipes.values(), default=0)
        for pipe, us in sorted(rows[0].pipes.items(), key=lambda p: -p[1]):
            yield f"    {pipe:<10} {us:>9.2f} us  {us / rows[0].us:>4.0%}" + ("  busiest" if us == longest else "") if rows[0].us else f"    {pipe:<10} {us:>9.2f} us"
    for note in profile.notes:
        yield f"  note: {note}"


def report(profile: Profile, predicted_us: float | None = None) -> Report:
    """Tables as text, and the trace as the timeline that simulations are shown in."""
    text = "\n".join(_lines(profile, predicted_us)) + "\n"
    html = f"<pre>{escape(text)}</pre>"
    data: dict[str, Any] = {"schema": 1, "kind": "measured", "files": profile.files, "notes": profile.notes, "predicted_us": predicted_us,
                            "launches": [vars(launch) for launch in profile.launches], "timeline": profile.timeline}
    if profile.timeline is not None:
        from xpto import _engine, config
        drawn, picture = _engine.render("timeline", json.dumps(profile.timeline), config.values["lang"])
        text += drawn
        html += picture
    return Report(text, html, data)


def show(args: Any) -> int:
    """xpto profile --import: prints what was recorded, beside the prediction when a file is named."""
    import sys
    from xpto import file_inputs, trace
    from xpto.errors import PtoError
    try:
        predicted, name = None, args.kernel or ""
        if args.file is not None:
            kernel, _ = file_inputs.kernel_of(args.file, args.kernel)
            name = kernel.__name__
            made = kernel.compile(tiling_key=kernel.variants()[0], preload=args.preload, target=args.target)
            predicted = made.view("timeline").to_json().get("us") if made.ok else None
        schedule = Schedule.read(args.schedule) if args.schedule else None
        profile = read(args.measured, name, schedule, args.steps)
    except file_inputs.WrongUsage as e:
        print(f"xpto profile: {e}", file=sys.stderr)
        return 2
    except PtoError as e:
        print(f"xpto profile: {e}", file=sys.stderr)
        return 1
    view = report(profile, predicted)
    if args.trace and profile.timeline is not None:
        trace.write(profile.timeline, args.trace)
    print(json.dumps(view.to_json(), ensure_ascii=False) if args.json else view.text(), end="\n" if args.json else "")
    return 0
