"""A timeline as a Chrome trace: one process per core, one thread per pipe, one slice per instruction. Trace viewers open it."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping


def events(timeline: Mapping[str, Any]) -> list[dict[str, Any]]:
    ticks_per_us = timeline["ticks_per_cycle"] * timeline["cycles_per_us"]
    us = lambda ticks: ticks / ticks_per_us
    out: list[dict[str, Any]] = []
    cores: dict[str, int] = {}
    for thread, lane in enumerate(timeline["lanes"], 1):
        core = cores.setdefault(lane["core"], len(cores) + 1)
        out.append({"ph": "M", "name": "thread_name", "pid": core, "tid": thread, "args": {"name": lane["pipe"]}})
        for begin, end, landed, op, stage, task in lane["slices"]:
            what = timeline["ops"][op]
            where = f"{timeline['stages'][stage]['name']}:{task} " if stage >= 0 else ""
            out.append({"ph": "X", "name": where + what["name"], "cat": timeline["stages"][stage]["name"] if stage >= 0 else "outside the loop", "pid": core,
                        "tid": thread, "ts": us(begin), "dur": us(end - begin),
                        "args": {"lands_us": us(landed), "line": f"{what['place']['file']}:{what['place']['line']}", "timing": what["grade"]}})
    out += [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"{core} ({timeline['target']})"}} for core, pid in cores.items()]
    return out


def write(timeline: Mapping[str, Any], path: str | Path) -> Path:
    data = {"displayTimeUnit": "ns", "traceEvents": events(timeline),
            "otherData": {"kernel": timeline["kernel"], "preload": timeline["preload"], "computed_by": timeline["computed_by"], "status": timeline["status"],
                          "estimated": timeline["estimated"]}}
    Path(path).write_text(json.dumps(data), encoding="utf-8")
    return Path(path)
