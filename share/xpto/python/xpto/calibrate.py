"""From measurements of one's own card to a chip file: start-up and rate of operations by least squares, constants as they are."""
from __future__ import annotations

import csv
import io
import json
import math
import statistics
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

COLUMNS = ("key", "units", "cycles")
CHIP_FIELDS = {"cube_cores": int, "clock_mhz": float, "queue_depth": int}


class BadMeasurements(ValueError):
    """A row that cannot be used: where it is, what it says, what it should say."""


@dataclass
class Row:
    line: int
    units: float
    cycles: float


@dataclass
class Fit:
    key: str
    startup: float
    per_unit: float
    unit: str
    latency: float
    rows: int
    worst_percent: float
    kept_startup: bool = False


@dataclass
class Calibration:
    chip: dict[str, Any]
    fits: list[Fit] = field(default_factory=list)
    constants: dict[str, float] = field(default_factory=dict)

    def text(self) -> str:
        lines = [f"{self.chip['name']}, based on {self.chip['based_on']}: {len(self.fits)} timing rows, {len(self.constants)} constants"]
        if self.fits:
            lines.append(f"{'key':<28} {'start-up':>9} {'per unit':>10} {'unit':<10} {'rows':>4} {'worst':>8}")
        for f in self.fits:
            note = "  start-up as before: one size only" if f.kept_startup else ""
            lines.append(f"{f.key:<28} {f.startup:>9.1f} {f.per_unit:>10.5g} {f.unit:<10} {f.rows:>4} {f.worst_percent:>6.1f} %{note}")
        lines += [f"{name:<28} {value:g}" for name, value in self.constants.items()]
        return "\n".join(lines) + "\n"


def _number(text: str, line: int, column: str, *, least: float, above: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadMeasurements(f"line {line}: {column} is {text!r}, not a number") from None
    if not math.isfinite(value) or value < least or (above and value == least):
        raise BadMeasurements(f"line {line}: {column} is {text}, it must be {'above' if above else 'at least'} {least:g}")
    return value


def read(text: str, known: dict[str, Any], constants: list[str]) -> tuple[dict[str, list[Row]], dict[str, list[float]], dict[str, float]]:
    """Rows by timing key, values by constant, members of the chip. `known` are the base chip's timing keys."""
    table = csv.reader(io.StringIO(text))
    header: list[str] | None = None
    rows: dict[str, list[Row]] = {}
    values: dict[str, list[float]] = {}
    members: dict[str, float] = {}
    for cells in table:
        line = table.line_num
        cells = [c.strip() for c in cells]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if header is None:
            header = [c.lower() for c in cells]
            missing = [c for c in COLUMNS if c not in header]
            if missing:
                raise BadMeasurements(f"line {line}: the header has no column {missing[0]!r}; it is: {','.join(COLUMNS)}")
            continue
        if len(cells) < len(header):
            raise BadMeasurements(f"line {line}: {len(cells)} cells under {len(header)} columns")
        cell = dict(zip(header, cells))
        key = cell["key"]
        kind, _, name = key.partition(".")
        if kind == "constant":
            if name not in constants:
                raise BadMeasurements(f"line {line}: no constant is called {name!r}; known are {', '.join(constants)}")
            values.setdefault(name, []).append(_number(cell["cycles"], line, "the value (column cycles)", least=0))
        elif kind == "chip":
            if name not in CHIP_FIELDS:
                raise BadMeasurements(f"line {line}: no member of a chip is called {name!r}; known are {', '.join(CHIP_FIELDS)}")
            members[name] = CHIP_FIELDS[name](_number(cell["cycles"], line, "the value (column cycles)", least=0, above=True))
        elif key in known or _refined(key) in known:
            rows.setdefault(key, []).append(Row(line, _number(cell["units"], line, "units", least=0, above=True), _number(cell["cycles"], line, "cycles", least=0, above=True)))
        else:
            import difflib
            near = difflib.get_close_matches(key, known, 1)
            raise BadMeasurements(f"line {line}: no operation costs {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if header is None:
        raise BadMeasurements("the file is empty; its first line is: " + ",".join(COLUMNS))
    if not (rows or values or members):
        raise BadMeasurements("the file has a header and no measurements")
    return rows, values, members


def _refined(key: str) -> str:
    """`vector.special.fp16` refines `vector.special`."""
    return key.rsplit(".", 1)[0] if key.count(".") > 1 else key


def fit(key: str, rows: list[Row], base: tuple[float, float, str]) -> Fit:
    """cycles = start-up + units * per unit, relative deviations squared and least; never a start-up below 0."""
    startup, latency, unit = base
    sizes = {r.units for r in rows}
    kept = len(sizes) == 1
    if kept:
        slope = statistics.median(r.cycles - startup for r in rows) / rows[0].units
        if slope <= 0:
            raise BadMeasurements(f"line {rows[0].line}: {key} takes {rows[0].cycles:g} cycles, less than the {startup:g} of its start-up; measure a second size")
    else:
        weight = [1 / r.cycles ** 2 for r in rows]
        total = sum(weight)
        x = sum(w * r.units for w, r in zip(weight, rows)) / total
        y = sum(w * r.cycles for w, r in zip(weight, rows)) / total
        slope = sum(w * (r.units - x) * (r.cycles - y) for w, r in zip(weight, rows)) / sum(w * (r.units - x) ** 2 for w, r in zip(weight, rows))
        startup = y - slope * x
        if startup < 0:  # through the origin
            startup, slope = 0.0, sum(w * r.units * r.cycles for w, r in zip(weight, rows)) / sum(w * r.units ** 2 for w, r in zip(weight, rows))
        if slope <= 0:
            raise BadMeasurements(f"lines {rows[0].line} to {rows[-1].line}: {key} does not take longer for more units")
    worst = max(abs(startup + slope * r.units - r.cycles) / r.cycles for r in rows)
    return Fit(key, round(startup, 2), slope, unit, latency, len(rows), 100 * worst, kept)


def rate(value: float) -> str:
    """A rate as a chip file writes it: a fraction when it is below 1, so that nothing is lost."""
    if value >= 1:
        return f"{value:.5f}".rstrip("0").rstrip(".")
    f = Fraction(value).limit_denominator(100000)
    return f"{f.numerator}/{f.denominator}" if f.numerator else f"1/{min(100000000, round(1 / value))}"


def calibrate(text: str, *, base: str, name: str, source: str) -> Calibration:
    """The chip that the measurements describe, checked as every chip file is.

    fails  BadMeasurements with the line, the column and the value
    """
    from xpto import _engine
    known = _engine.chip_rows(base)
    if not known:
        raise BadMeasurements(f"no chip is called {base!r}; built in are {', '.join(_engine.chips())}")
    rows, values, members = read(text, known, _engine.chip_constants())
    chip: dict[str, Any] = {"schema": 1, "name": name, "based_on": json.loads(_engine.chip_text(base))["name"], **members}
    result = Calibration(chip)
    if values:
        chip["constants"] = {}
        for constant, seen in values.items():
            result.constants[constant] = value = statistics.median(seen)
            chip["constants"][constant] = {"value": value, "grade": "derived", "source": f"{source}: median of {len(seen)}" if len(seen) > 1 else source}
    if rows:
        chip["timing"] = []
        for key, measured in rows.items():
            f = fit(key, measured, known.get(key) or known[_refined(key)])
            result.fits.append(f)
            chip["timing"].append({"key": key, "startup": f.startup, "latency": f.latency, "per_unit": rate(f.per_unit), "unit": f.unit, "grade": "derived",
                                   "source": f"{source}: {f.rows} measurements, worst {f.worst_percent:.1f} %"})
    refused = _engine.check_chip(json.dumps(chip))
    if refused:
        raise BadMeasurements(f"the chip would be refused: {refused}")
    return result
