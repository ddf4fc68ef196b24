"""Kernels that are wrong on purpose, each with the edits that repair it, through the product and under every order.

A case file (cases/KIND/NAME.case) holds
  --- source      the kernel, called k; `# (1)` at the end of a line names the place
  --- launch      `x = ramp f32 64x64`, `y = x` (the same memory), `n = 3`, `block_dim = 4`
  --- finds       `KIND (1) (2)`: found in every order; none: the kernel is clean as it stands
  --- may         what some orders find besides, or what follows from it; places may be left out
  --- text        words the reports must hold
  --- repair WHY  `- line` / `+ line`: the edited kernel is clean, and its values are the same in every order
"""
from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import xpto
from xpto import config
from xpto.errors import CompileError, HazardError

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import support  # noqa: E402

CASES = HERE / "cases"
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}


@dataclass
class Case:
    path: Path
    says: str
    source: str
    launch: list[str]
    finds: list[str]
    may: list[str]
    text: list[str]
    repairs: list[tuple[str, str]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.path.stem}"


def read(path: Path) -> Case:
    comment, *sections = re.split(r"^--- ", path.read_text(encoding="utf-8"), flags=re.M)
    parts: dict[str, str] = {}
    repairs = []
    for section in sections:
        title, _, body = section.partition("\n")
        if title.startswith("repair "):
            repairs.append((title.removeprefix("repair "), body))
        else:
            assert title in ("source", "launch", "finds", "may", "text"), f"{path.name}: section {title!r}"
            parts[title] = body
    lines = {k: [line for line in parts.get(k, "").splitlines() if line] for k in ("launch", "finds", "may", "text")}
    return Case(path, comment.lstrip("# ").strip(), parts["source"], lines["launch"], lines["finds"], lines["may"], lines["text"], repairs)


def cases() -> list[Case]:
    return [read(p) for p in sorted(CASES.glob("*/*.case"))]


def repaired(case: Case, edits: str) -> str:
    """The source after an edit: each run of `-` lines, found exactly once by its stripped text, gives way to the `+` lines behind it."""
    source = case.source.splitlines()
    rows = [row for row in edits.splitlines() if row]
    at = 0
    while at < len(rows):
        old, new = [], []
        while at < len(rows) and rows[at].startswith("- "):
            old.append(rows[at][2:])
            at += 1
        while at < len(rows) and rows[at].startswith("+ "):
            new.append(rows[at][2:])
            at += 1
        assert old, f"{case.name}: an edit begins with a line to replace: {rows[at]!r}"
        wanted = [o.strip() for o in old]
        places = [i for i in range(len(source)) if [s.strip() for s in source[i:i + len(old)]] == wanted]
        assert len(places) == 1, f"{case.name}: {wanted} occurs {len(places)} times"
        indent = len(source[places[0]]) - len(source[places[0]].lstrip()) - (len(old[0]) - len(old[0].lstrip()))
        source[places[0]:places[0] + len(old)] = [" " * indent + n for n in new]
    return "\n".join(source) + "\n"


def arguments(case: Case) -> tuple[list[Any], int]:
    values: dict[str, Any] = {}
    block_dim = 1
    for line in case.launch:
        name, _, what = (part.strip() for part in line.partition("="))
        if name == "block_dim":
            block_dim = int(what)
        elif what in values:
            values[name] = values[what]
        elif re.fullmatch(r"-?\d+", what):
            values[name] = int(what)
        else:
            fill, dtype, shape = what.split()
            size = tuple(int(n) for n in shape.split("x"))
            values[name] = np.zeros(size, DTYPES[dtype])
            if fill == "ramp":
                values[name][...] = (np.arange(values[name].size) % 7).reshape(size)
            elif fill == "ones":
                values[name][...] = 1
    return list(values.values()), block_dim


def orders(source: str) -> list[str]:
    """Program order, every pipe early and late, and a few random ones."""
    pipes = []
    if "section_cube" in source:
        pipes += [f"AIC.{p}" for p in ("S", "MTE1", "MTE2", "M", "FIX")]
    if "section_vector" in source:
        lanes = ("AIV0", "AIV1") if "section_cube" in source else ("AIV0",)
        pipes += [f"{lane}.{p}" for lane in lanes for p in ("S", "V", "MTE2", "MTE3")]
    return ["program", *(f"{word}({p})" for p in pipes for word in ("early", "late")), *(f"random({seed})" for seed in range(1, 5))]


def mark(source: str, line: int | None) -> str:
    rows = source.splitlines()
    found = re.search(r"#\s*(\(\w+\))\s*$", rows[line - 1]) if line and 0 < line <= len(rows) else None
    return found.group(1) if found else f"line{line}"


def found(source: str, run: Any) -> list[str]:
    """What a run found, in the words of `--- finds`."""
    data = run.to_json()
    out = []
    for h in data["hazards"]:
        places = [mark(source, h[end]["line"]) for end in ("first", "second") if end in h]
        out.append(" ".join([h["kind"], *places]))
    if data["status"] == "hang":
        stuck = data["hang"]["stuck"]
        causes = [s for s in stuck if s["cause"]]
        out += [f"hang {mark(source, s['place']['line'])}" for s in causes] if causes else ["hang in a circle"]
    elif data["status"] in ("out of range", "refused", "limit"):
        line = re.search(r":(\d+):\d+$", run.text(), re.M)
        out.append(f"{data['status']} {mark(source, int(line.group(1)) if line else None)}")
    return out


def launch(case: Case, source: str, kernel: Any, check: str, **options: Any) -> tuple[Any, list[Any]]:
    values, block_dim = arguments(case)
    before, config.values["check"] = config.values["check"], check
    try:
        return kernel.launch(tuple(values), {}, block_dim=block_dim, **options), values
    except HazardError as refused:
        return refused.report, values
    finally:
        config.values["check"] = before


def matches(expected: str, finding: str) -> bool:
    return finding == expected or ("(" not in expected and finding.startswith(expected))


def check_bad(case: Case) -> None:
    """Found in every order, once per pair of places, nothing else, with everything a reader needs."""
    kernel = support.load(case.source, "case.py")["k"]
    try:
        strict = kernel.compile(check="strict")
        text = strict.text()
    except CompileError as refused:
        strict, text = None, str(refused)
    if strict is not None and strict.ok:
        run, _ = launch(case, case.source, kernel, "strict")
        assert run.status != "done", f"{case.name}: nothing was said\n{text}"
        text += run.text()
    run, _ = launch(case, case.source, kernel, "warn")
    text += run.text()
    for order in orders(case.source):
        run, _ = launch(case, case.source, kernel, "warn", order=order)
        findings = found(case.source, run)
        for finding in findings:
            assert findings.count(finding) == 1, f"{case.name}, {order}: {finding} is told {findings.count(finding)} times\n{run.text()}"
            assert any(matches(e, finding) for e in case.finds + case.may), f"{case.name}, {order}: {finding} is not expected\n{run.text()}"
        for expected in case.finds:
            assert any(matches(expected, f) for f in findings), f"{case.name}, {order}: {expected} is missed; found {findings}\n{run.text()}"
        for h in run.to_json()["hazards"]:
            if not any(matches(e, " ".join([h["kind"], *(mark(case.source, h[x]["line"]) for x in ("first", "second") if x in h)])) for e in case.finds):
                continue
            assert h["message"] and h["repair"] and h["order"], f"{case.name}: {h}"
    flat = re.sub(r"\s+", " ", text)
    for words in case.text:
        assert words in flat, f"{case.name}: the reports do not say {words!r}\n{text}"


def check_clean(case: Case, source: str, title: str) -> None:
    """Accepted, nothing found, and every order gives the same bits and is listed."""
    kernel = support.load(source, "case.py")["k"]
    made = kernel.compile(check="strict")
    assert made.ok, f"{case.name}, {title}: refused\n{made.text()}"
    tried = orders(source)
    run, first = launch(case, source, kernel, "strict", hostile="all")
    assert not found(source, run) and run.status == "done", f"{case.name}, {title}: {run.status} {found(source, run)}\n{run.text()}"
    listed = run.to_json()["orders"]
    assert listed and all(o["identical"] and o["status"] == "done" for o in listed), f"{case.name}, {title}: {listed}"
    assert f"{len(listed)} of {len(listed)} further orders" in run.text(), run.text()
    for chosen in ({"hostile": "random", "seed": 7}, *([{"hostile": "late:MTE2"}] if "pl.load(" in source else [])):
        run, _ = launch(case, source, kernel, "strict", **chosen)
        assert run.status == "done" and all(o["identical"] for o in run.to_json()["orders"]), f"{case.name}, {title}, {chosen}: {run.status}"
    for order in tried:
        run, values = launch(case, source, kernel, "strict", order=order)
        assert not found(source, run), f"{case.name}, {title}, {order}: {found(source, run)}\n{run.text()}"
        for a, b in zip(first, values):
            if isinstance(a, np.ndarray):
                assert a.tobytes() == b.tobytes(), f"{case.name}, {title}: {order} gives other values"
