"""Runs an external checkout of the language's system tests on the simulator and prints a table.

    run.py UPSTREAM_DIR [--files PATTERN] [--seconds 60] [--json OUT] [--jobs 2]

Classes, of which the first two are right:
    passed                 pytest says so, at least one launch completed in it, nothing of severity error was found
    refused as expected    the test expects an error, and ours came where it was expected
    refused, other words   the same, but the test compares the text with upstream's own
    race, values right     the values are right, and the order of the kernel's operations is not ensured: each race is named
    not proven, values right  the proof refuses the kernel, and this run of it found nothing
    race, values wrong     with a race, and wrong
    wrong                  without one
    refused                a kernel or a launch that upstream accepts
    not refused            upstream refuses it, we do not
    hang, out of range     the launch was stopped
    too slow, needs newer torch, not supported (profilers), skipped (also a file without tests), no launch, error
Without a checkout it skips aloud. The tests run under the interpreter that runs this file: one of a virtual environment with a newer torch brings in
the tests that need it.
"""
from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NEWER_TORCH = ("float8", "module 'torch' has no attribute", "torch._dynamo", "torch.compile", "allow_in_graph", "numpy.uint16", "numpy.uint32",
               "numpy.uint64", "where uint64 is declared")
PYTEST_FOUND_NOTHING = 5  # its exit code
RIGHT = ("passed", "refused as expected")
REFUSALS = ("CompileError", "LaunchError", "LaunchTypeError")


def classify(row: dict[str, Any]) -> str:
    why, exception = row.get("why", ""), row.get("exception", "")
    expected = [e["what"] for e in row.get("expected", [])]
    stopped = [r["status"] for r in row.get("refused", []) if r["status"] not in ("", "refused")]
    if row["outcome"] == "skipped":
        return "skipped"
    if row["outcome"] == "passed":
        if row["launches"] == 0:
            return "refused as expected" if row.get("refused") or expected else "no launch"
        if not row["hazards"]:
            return "passed"
        return "not proven, values right" if all(h["kind"].startswith("PTO-") for h in row["hazards"]) else "race, values right"
    if expected and expected[-1] == "other words" and exception == "AssertionError" and "Regex" in why:
        return "refused, other words"
    if any(mark in why for mark in NEWER_TORCH) and exception != "CompileError":
        return "needs newer torch"
    if "DID NOT RAISE" in why:
        return "not refused"
    if exception == "HazardError":
        return {"hang": "hang", "out of range": "out of range", "out-of-range": "out of range", "refused": "refused"}.get((stopped or ["refused"])[-1], "error")
    if exception in REFUSALS:
        return "refused"
    if "profil" in row["test"]:
        return "not supported"
    if exception == "AssertionError" or "Mismatch" in why or "not close" in why:
        return "race, values wrong" if row["hazards"] else "wrong"
    return "error"


def run_file(path: Path, root: Path, seconds: float) -> list[dict[str, Any]]:
    """The rows of one file's tests. The limit is on the process's own time, so that a busy machine does not change the class."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))

    with tempfile.TemporaryDirectory() as folder:
        log, notes = Path(folder) / "rows", Path(folder) / "notes"
        log.touch(), notes.touch()
        env = {**os.environ, "XPTO_CONFORMANCE_LOG": str(log), "XPTO_CONFORMANCE_NOTES": str(notes), "OMP_NUM_THREADS": "1",
               "PYTHONPATH": f"{HERE}:{os.environ.get('PYTHONPATH', '')}"}
        command = [sys.executable, "-m", "pytest", "-p", "plugin", "-q", "--no-header", "--rootdir", str(path.parent),
                   "-p", "no:cacheprovider", "--noconftest", str(path)]
        timed_out = False
        try:
            done = subprocess.run(command, env=env, cwd=path.parent, capture_output=True, text=True, timeout=20 * seconds, stdin=subprocess.DEVNULL,
                                  preexec_fn=limit)
            tail = (done.stdout + done.stderr).strip().splitlines()
            timed_out = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        except subprocess.TimeoutExpired:
            timed_out, tail = True, []
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        launches = [json.loads(line) for line in notes.read_text().splitlines()] if timed_out else []
    for row in rows:
        row["file"] = str(path.relative_to(root))
        row["class"] = classify(row)
    if timed_out:
        done = [n for n in launches if n["what"] == "done"]
        first = f"; its first launch took {done[0]['seconds']:.1f} s, {len(done)} launches were done" if done else ""
        hazards = [h for n in done[:1] for h in n["findings"]]
        rows.append({"file": str(path.relative_to(root)), "test": path.name, "class": "too slow", "why": f"more than {seconds:.0f} s{first}",
                     "hazards": hazards, "launches": len(done)})
    elif not rows:
        why = next((line[4:] for line in tail if line.startswith("E   ")), tail[-1] if tail else "no test ran")
        kind = "needs newer torch" if any(mark in why for mark in NEWER_TORCH) else "skipped" if done.returncode == PYTEST_FOUND_NOTHING else "error"
        rows.append({"file": str(path.relative_to(root)), "test": path.name, "class": kind, "why": why})
    return rows


def versions() -> str:
    """The head of the table: what the tests compute with. In a process of its own, which no stand-in has touched."""
    asked = "import platform, numpy, torch; print('python', platform.python_version(), 'numpy', numpy.__version__, 'torch', torch.__version__)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    return done.stdout.strip() or f"python {sys.version.split()[0]}, without torch: {(done.stderr.strip().splitlines() or ['?'])[-1]}"


def reason(row: dict[str, Any]) -> str:
    """One line: the races by name, or what the exception says."""
    if row.get("hazards") and row["class"] != "too slow":
        seen = {h["message"].split(" (")[0] + (f" (lines {', '.join(str(n) for n in h['lines'] if n)})" if any(h["lines"]) else "") for h in row["hazards"]}
        return "; ".join(sorted(seen))[:400]
    lines = row.get("why", "").splitlines()
    return lines[0][:200] if lines else ""


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
    libraries = versions()
    print(libraries, flush=True)
    rows: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, found in zip(files, pool.map(lambda p: run_file(p, root, args.seconds), files)):
            rows += found
            counts = collections.Counter(r["class"] for r in found)
            print(f"{path.relative_to(root)}: " + ", ".join(f"{n} {c}" for c, n in sorted(counts.items())), flush=True)
            for r in found:
                if r["class"] not in RIGHT and r["class"] != "skipped":
                    print(f"    {r['class']:<20} {r['test'].split('::')[-1]}: {reason(r)}")
    total = collections.Counter(r["class"] for r in rows)
    print("total: " + ", ".join(f"{n} {c}" for c, n in total.most_common()))
    apart = total["needs newer torch"] + total["skipped"] + sum(r["class"] == "refused" and "simt" in r["file"] for r in rows)
    right = sum(total[c] for c in RIGHT)
    print(f"right: {right} of {len(rows) - apart} that need no SIMT and no newer torch ({100 * right / max(len(rows) - apart, 1):.1f} %)")
    if args.json:
        Path(args.json).write_text(json.dumps({"schema": 1, "libraries": libraries, "rows": rows, "total": total}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
