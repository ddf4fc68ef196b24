"""What our engine makes of the same kernel, read off its JSON report."""
from __future__ import annotations

import json
import re
from typing import Any

from plans import Edge, LoopPlan, Permit, Refusal, Site

# what the planner is about: any other error is the language's, and a planner never sees the kernel
PLANNER_CODE = re.compile(r"PTO-(K\d+|S\d+|pipeline-[\w-]+)$")


def _edges(loop: dict[str, Any], added: bool) -> list[Edge]:
    core = {s["name"]: s["section"] for s in loop["stages"]}
    return [Edge(e["kind"].upper(), e["from"], e["buffer"], e["from_pipe"], e["to"], e["to_buffer"], e["to_pipe"], e["distance"], e["task_offset"],
                 core[e["from"]] == core[e["to"]])
            for e in loop["edges"] + loop["same_core_edges"] if e["added_by_us"] == added]


def _added(loop: dict[str, Any]) -> tuple[list[Site], list[Permit], list[Permit]]:
    """What the edges beyond the peer's graph put into the program."""
    core = {s["name"]: s["section"] for s in loop["stages"]}
    sites, prefire, drain = [], [], []
    for e in loop["edges"]:
        if not e["added_by_us"] or "not_emitted" in e:
            continue
        ids = tuple(e["ids"])
        sites += [Site(e["to"], "wait", e["to_pipe"], ids, len(ids)), Site(e["from"], "set", e["from_pipe"], ids, len(ids))]
        for i in range(e["task_offset"] if e["kind"] != "raw" else 0):
            prefire.append(Permit(core[e["from"]], e["from_pipe"], ids[i % len(ids)]))
            drain.append(Permit(core[e["to"]], e["to_pipe"], ids[i % len(ids)]))
    return sites, prefire, drain


def _without(all_of: list[Any], some: list[Any], what: str) -> list[Any]:
    left = list(all_of)
    for item in some:
        if item not in left:
            raise AssertionError(f"an added edge should have put {item} into the {what}")
        left.remove(item)
    return left


def plan(made: Any) -> tuple[list[LoopPlan], Refusal | None, bool]:
    """(plans of the loops that have one, the planner's errors in check=strict terms, true when the language refused first)."""
    report = json.loads(made.native.to_json())
    errors = [d for d in report["diagnostics"] if d["severity"] == "error"]
    planner = [d for d in errors if PLANNER_CODE.match(d["code"])]
    refusal = Refusal(planner[0]["message"], tuple(sorted({d["code"].removeprefix("PTO-") for d in planner}))) if planner else None
    loops = []
    for loop in report["loops"]:
        sites, prefire, drain = _added(loop)
        loops.append(LoopPlan(
            [s["delay"] for s in loop["stages"]], loop["ring_depth"], _edges(loop, False),
            _without([Site(s["stage"], s["op"], s["pipe"], tuple(s["ids"]), s["slot_count"]) for s in loop["sites"]], sites, "sites"),
            _without([Permit(p["core"], p["pipe"], p["id"]) for p in loop["prefire"]], prefire, "prefire"),
            _without([Permit(p["core"], p["pipe"], p["id"]) for p in loop["drain"]], drain, "drain"),
            _edges(loop, True),
            any(e.get(role) == "RW" for e in loop["edges"] + loop["same_core_edges"] for role in ("from_role", "to_role"))))
    return loops, refusal, bool(errors) and not planner and not any(l.edges or l.sites for l in loops)
