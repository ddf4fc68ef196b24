"""Where the time of a kernel goes: the predicted timeline of a run, with a warning when its inputs say nothing."""
from __future__ import annotations

import re
from typing import Any

from xpto.results import Report

def depends_on_data(ir: str) -> str:
    """The first loop or branch of a kernel's IR whose trip count or test was read from memory; empty when there is none."""
    tainted: set[str] = set()
    for _ in range(2):  # twice: a value carried round a loop
        for line in ir.splitlines():
            text = line.strip()
            words = set(re.findall(r"%?[A-Za-z_][\w.]*", text))
            read = "getval" in text or re.search(r"\bread\b", text) is not None
            if text.startswith(("for ", "if ", "while ")):
                head = words - {text.split()[1]} if text.startswith("for ") else words
                if read or head & tainted:
                    return text.rstrip(" {")
            elif " = " in text:
                left, right = text.split(" = ", 1)
                if read or set(re.findall(r"%?[A-Za-z_][\w.]*", right)) & tainted:
                    tainted.add(left.strip())
    return ""


def all_zero(arrays: dict[str, Any], written: set[str]) -> bool:
    import numpy as np
    given = [v for name, v in arrays.items() if name not in written and hasattr(v, "shape")]
    return bool(given) and all(not np.any(np.asarray(v)) for v in given)


def warnings(kernel: Any, run: Any) -> list[str]:
    """Sentences about a timeline that would mislead when read alone."""
    compiled = run.compiled
    written = {p["name"] for p in compiled.native.params() if p.get("written")}
    place = depends_on_data(compiled.native.ir())
    if place and all_zero(run.arguments(), written):
        return [f"every input is zero and the kernel's work depends on data ({place}): busy cycles near 0 "
                "are the inputs' doing, not speed; profile with real data"]
    return []


def profile(kernel: Any, *args: Any, block_dim: int = 1, **options: Any) -> Report:
    """Runs a kernel and returns its predicted timeline; without arguments the compiler's prediction, for inputs of zeros."""
    from xpto.kernel import OperatorKernel, run
    if not isinstance(kernel, OperatorKernel):
        raise TypeError(f"expected an operator kernel (a function decorated with @pl.jit), got {type(kernel).__name__}")
    if not args and not options:
        made = kernel.compile(tiling_key=kernel.variants()[0])
        if not made.ok:
            raise made.error()
        return made.view("timeline")
    return of_run(run(kernel, *args, block_dim=block_dim, **options))


def of_run(run: Any, view: Report | None = None) -> Report:
    """The run's timeline, or `view` of it, with its warnings in front."""
    view = view or run.timeline()
    said = warnings(run.kernel, run)
    if not said:
        return view
    from html import escape
    from textwrap import fill
    data = view.to_json()
    data["warnings"] = said
    head = "".join(fill("WARNED  " + s, 100, subsequent_indent="  ") + "\n" for s in said)
    html = "".join(f"<p><b><font color=\"#8A5A00\">&#9650; WARNED</font></b> {escape(s)}</p>" for s in said)
    return Report(head + view.text(), html + view._repr_mimebundle_()["text/html"], data)


def redrawn(view: Report, data: dict[str, Any]) -> Report:
    """The same timeline with other data in it, text and picture drawn anew."""
    import json

    from xpto import _engine, config
    text, html = _engine.render("timeline", json.dumps(data), config.values["lang"])
    return Report(text, html, data)


def ask_preload(view: Report, kernel: Any, totals: Any, *, most_us: float = 2000.0) -> Report:
    """Adds what one stage of pipeline depth less and more would bring; `totals(preload)` compiles, runs and returns the total in ticks, or None.

    A depth cannot be had by re-timing: the generated loop is another one. Long runs are not repeated.
    """
    data = view.to_json()
    if kernel.options.get("pipeline") is None or not str(data["preload"]).isdigit() or data["us"] > most_us:
        return view
    changes = []
    now = int(data["preload"])
    for depth in (now - 1, now + 1):
        total = totals(depth) if depth >= 0 else None
        if total is not None:
            changes.append({"change": f"preload {depth}", "percent": 100.0 * (total - data["total"]) / max(1, data["total"])})
    if not changes:
        return view
    if data["what_if"] and not data["what_if"][0]["label"]:
        data["what_if"][0]["changes"] += changes
    else:
        data["what_if"].insert(0, {"label": "", "changes": changes})
    return redrawn(view, data)


def against(data: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """This run minus an earlier one: total, stages and pipes by name, in ticks; positive is slower now."""
    def parts(timeline: dict[str, Any]) -> dict[str, dict[str, int]]:
        return {s["name"]: {"compute": s["compute"], "move": s["move"], "waits": sum(w["ticks"] for w in s["paid"]), "in_core": s["in_core"], "span": s["span"]}
                for s in timeline["stages"]}

    def lanes(timeline: dict[str, Any]) -> dict[str, dict[str, int]]:
        return {f"{lane['core']} {lane['pipe']}": {k: lane["totals"][k] for k in ("busy", "paid", "free", "in_core", "idle")} for lane in timeline["lanes"]}

    def differences(now: dict[str, dict[str, int]], then: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
        return [{"name": n, "only": "now" if n not in then else "then" if n not in now else "",
                 **{k: now.get(n, {}).get(k, 0) - then.get(n, {}).get(k, 0) for k in (now.get(n) or then[n])}} for n in {**now, **then}]

    total = data["total"] - earlier["total"]
    return {"kernel": earlier["kernel"], "preload": earlier["preload"], "target": earlier["target"], "us": earlier["us"], "total": total,
            "percent": 100.0 * total / max(1, earlier["total"]), "steady": data["steady"] - earlier["steady"] if min(data["steady"], earlier["steady"]) >= 0 else 0,
            "bound": {"now": data["bound"]["text"], "then": earlier.get("bound", {}).get("text", "")},
            "stages": differences(parts(data), parts(earlier)), "lanes": differences(lanes(data), lanes(earlier))}


def against_text(data: dict[str, Any]) -> str:
    """The comparison in words: the total, then every stage and pipe that changed by 1 % of it or more, in cycles."""
    c, per_cycle = data["against"], data["ticks_per_cycle"]
    head = f"against {c['kernel']}" + (f" preload {c['preload']}" if c["preload"] else "") + f": {c['us']:.2f} -> {data['us']:.2f} us ({c['percent']:+.1f} %)"
    if c["target"] != data["target"]:
        head += f", {c['target']} -> {data['target']}"
    lines = [head]
    if c["bound"]["now"] != c["bound"]["then"]:
        lines.append(f"  bound     {c['bound']['then']} -> {c['bound']['now']}")
    least = max(1, data["total"] // 100)
    for kind, keys in (("stages", ("compute", "move", "waits", "in_core")), ("lanes", ("busy", "paid", "free", "in_core", "idle"))):
        for row in c[kind]:
            scale = data["tasks"] if kind == "stages" else 1  # a stage's numbers are those of one task
            said = [f"{k.replace('_', ' ')} {round(row[k] / per_cycle):+d}" for k in keys if abs(row[k]) * scale >= least]
            if row["only"]:
                said.insert(0, "new" if row["only"] == "now" else "gone")
            if said:
                lines.append(f"  {row['name']:<9} " + ", ".join(said) + (" cycles a task" if kind == "stages" else " cycles"))
    return "\n".join(line[:100] for line in lines) + "\n"


def with_comparison(view: Report, earlier: dict[str, Any]) -> Report:
    """The timeline with this run and an earlier one drawn on one axis in front of it; JSON gains `against`."""
    import json

    from xpto import _engine, config
    data = view.to_json()
    text, html = _engine.render("comparison", json.dumps({"now": data, "then": earlier}), config.values["lang"])
    data["against"] = against(data, earlier)
    return Report(text + "\n" + view.text(), html + view._repr_mimebundle_()["text/html"], data)
