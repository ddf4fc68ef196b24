"""Runs an external checkout of the language's system tests on the simulator and prints a table.

    run.py UPSTREAM_DIR [--files PATTERN] [--seconds 60] [--json OUT] [--jobs 2]

A test passes when pytest says so, at least one launch completed in it and no hazard was reported. Everything else is counted as
refused (with the reason), wrong, too slow, "needs a newer torch" or not supported. Without a checkout it skips aloud.
"""
from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NEWER_TORCH = ("float8", "module 'torch' has no attribute", "uint16", "uint32", "uint64", "bits", "torch.compile", "_dynamo", "allow_in_graph")


def classify(row: dict[str, Any]) -> str:
    why = row.get("why", "")
    if row["outcome"] == "passed":
        if row["launches"] == 0:
            return "no launch"
        return "hazard" if row["hazards"] else "passed"
    if row["outcome"] == "skipped":
        return "skipped"
    if any(mark in why for mark in NEWER_TORCH) and "CompileError" not in why:
        return "needs newer torch"
    if "CompileError" in why or "LaunchError" in why or "LaunchTypeError" in why:
        return "refused"
    if "HazardError" in why:
        return "hazard"
    if row.get("exception") == "AssertionError" or "Mismatch" in why or "not close" in why:
        return "wrong"
    return "error"


def run_file(path: Path, root: Path, seconds: float) -> list[dict[str, Any]]:
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as log:
        env = {**os.environ, "XPTO_CONFORMANCE_LOG": log.name, "PYTHONPATH": f"{HERE}:{os.environ.get('PYTHONPATH', '')}"}
        command = [sys.executable, "-m", "pytest", "-p", "plugin", "-q", "--no-header", "--rootdir", str(path.parent),
                   "-p", "no:cacheprovider", "--noconftest", str(path)]
        timed_out = False
        try:
            done = subprocess.run(command, env=env, cwd=path.parent, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
            tail = (done.stdout + done.stderr).strip().splitlines()
        except subprocess.TimeoutExpired:
            timed_out, tail = True, []
        rows = [json.loads(line) for line in log.read().splitlines()]
    for row in rows:
        row["file"] = str(path.relative_to(root))
        row["class"] = classify(row)
    if timed_out:
        rows.append({"file": str(path.relative_to(root)), "test": path.name, "class": "too slow", "why": f"more than {seconds:.0f} s for the file"})
    elif not rows:
        rows.append({"file": str(path.relative_to(root)), "test": path.name, "class": "error", "why": tail[-1] if tail else "no test ran"})
    return rows


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("upstream", nargs="?", default=os.environ.get("UPSTREAM", ""))
    parser.add_argument("--files", default="")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args(argv)
    if not args.upstream:
        print("conformance: skipped, no checkout was given (make conformance UPSTREAM=dir)")
        return 0
    root = Path(args.upstream)
    files = sorted(p for p in root.rglob("test_*.py") if "pypto_pro" in str(p) and args.files in str(p))
    if not files:
        print(f"conformance: no test files below {root} match {args.files!r}", file=sys.stderr)
        return 2
    rows: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, found in zip(files, pool.map(lambda p: run_file(p, root, args.seconds), files)):
            rows += found
            counts = collections.Counter(r["class"] for r in found)
            print(f"{path.relative_to(root)}: " + ", ".join(f"{n} {c}" for c, n in sorted(counts.items())), flush=True)
            for r in found:
                if r["class"] not in ("passed", "skipped"):
                    print(f"    {r['class']:<18} {r['test'].split('::')[-1]}: {r.get('why', '')[:200].splitlines()[0] if r.get('why') else r.get('hazards', '')}")
    total = collections.Counter(r["class"] for r in rows)
    print("total: " + ", ".join(f"{n} {c}" for c, n in total.most_common()))
    if args.json:
        Path(args.json).write_text(json.dumps({"schema": 1, "rows": rows, "total": total}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
