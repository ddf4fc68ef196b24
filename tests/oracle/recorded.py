"""Our plan as a case file records it, for texts that the language refuses for another reason than its pipeline.

`pipeline_cases` compares every section with what the engine says, so a section is the engine's word.
"""
from __future__ import annotations

import ast
import re

from ours import PLANNER_CODE
from plans import Edge, LoopPlan, Permit, Refusal, Site

_EDGE = re.compile(r"(RAW|WAR|WAW) (\w+)\.(\w+) (R|W|RW) (\w+) -> (\w+)\.(\w+) (R|W|RW) (\w+)  dist (-?\d+) off (-?\d+)(.*)")
_SITE = re.compile(r"(\w+) (?:pre|post) (wait|set) (\w+) ([\d,-]+) mod (\d+)")


def _cores(source: str) -> dict[str, str]:
    """stage -> core, from the sections that hold the calls."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.With) and len(node.body) == 1 and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Call):
            section = ast.unparse(node.items[0].context_expr)
            if "section_" in section and isinstance(node.body[0].value.func, ast.Name):
                found[node.body[0].value.func.id] = "cube" if "cube" in section else "vector"
    return found


def refusal(sections: dict[str, str]) -> Refusal | None:
    errors = [line.split()[0] for line in sections.get("diagnostics", "").splitlines() if line.startswith("PTO-") and line.split()[1] not in ("warning", "note")]
    codes = tuple(sorted({c.removeprefix("PTO-") for c in errors if PLANNER_CODE.match(c)}))
    return Refusal(sections["diagnostics"], codes) if codes else None


def plan(sections: dict[str, str]) -> LoopPlan | None:
    """The one loop's plan; None when a section is missing."""
    if not {"edges", "sites", "prefire", "drain"} <= set(sections):
        return None
    core = _cores(sections["source"])
    edges, in_place = [], False
    for line in sections["edges"].splitlines():
        if m := _EDGE.match(line):
            if " added" in m[12]:
                return None
            edges.append(Edge(m[1], m[2], m[3], m[5], m[6], m[7], m[9], int(m[10]), int(m[11]), core[m[2]] == core[m[6]]))
            in_place |= "RW" in (m[4], m[8])
    sites = [Site(m[1], m[2], m[3], tuple(int(i) for i in m[4].split(",")), int(m[5])) for m in map(_SITE.match, sections["sites"].splitlines()) if m]

    def permits(name: str) -> list[Permit]:
        return [Permit(words[0], words[1], int(words[2])) for words in map(str.split, sections[name].splitlines()) if len(words) == 3]

    delays = re.search(r"delays ([\d ]+) ring (\d+)", sections.get("schedule", ""))
    return LoopPlan([int(d) for d in delays[1].split()] if delays else [], int(delays[2]) if delays else 0, edges, sites, permits("prefire"), permits("drain"),
                    in_place=in_place)
