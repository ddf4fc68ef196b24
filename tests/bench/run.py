"""make bench: what a cell costs, as medians in one run and as ratios against things measured in the same run.

    run.py [--runs 30] [--instructions] [--json OUT]

Absolute times depend on the machine and its load; the ratios and the instruction counts (callgrind) are what to compare.
"""
from __future__ import annotations

import argparse
import ast
import json
import linecache
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "fuzz"), str(ROOT / "tests" / "bench")]

import numpy as np  # noqa: E402

from xpto import _engine  # noqa: E402
from xpto import kernel as kernels  # noqa: E402

import attention  # noqa: E402  after xpto, which stands in for pypto_pro

EXAMPLE = ROOT / "share" / "xpto" / "examples" / "relu_matmul.py"


def load(text: str, name: str) -> Any:
    filename = f"<bench {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"__name__": "bench"}
    exec(compile(text, filename, "exec"), space)
    kernels.created.clear()
    return space[name]


def median(work: Callable[[], Any], runs: int) -> float:
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def cell(text: str, data: tuple[np.ndarray, ...]) -> dict[str, float]:
    """One cell from text to picture: define, compile, verify, execute, time, render."""
    marks = [time.perf_counter()]
    _engine.forget_sources()
    kernel = load(text, "relu_matmul")
    made = kernel.compile(preload=2)
    marks.append(time.perf_counter())
    kernel.overrides = {"preload": 2}
    run = kernel.launch(data, {})
    marks.append(time.perf_counter())
    run.timeline()
    marks.append(time.perf_counter())
    made.view("panel")
    marks.append(time.perf_counter())
    names = ("define and compile", "execute", "time and draw", "panel with prediction")
    return dict(zip(names, (b - a for a, b in zip(marks, marks[1:]))))


def front_half(kernel: Any, runs: int) -> dict[str, float]:
    fresh, without_parse, unchanged, verify = [], [], [], []
    for _ in range(runs):
        _engine.forget_sources()
        kernel._compiled.clear()
        spent = kernel.compile(preload=2).native.timings()
        fresh.append(spent["frontend_s"])
        without_parse.append(spent["frontend_s"] - spent["parse_s"])
        verify.append(spent["verify_s"])
        kernel._compiled.clear()
        unchanged.append(kernel.compile(preload=2).native.timings()["frontend_s"])
    return {"front half": statistics.median(fresh), "front half without ast": statistics.median(without_parse),
            "front half, text unchanged": statistics.median(unchanged), "verify": statistics.median(verify)}


def instructions() -> dict[str, float]:
    """Instructions inside the driver's compile() and the executor, counted by callgrind on one run of the example."""
    if shutil.which("valgrind") is None:
        print("instructions: skipped, valgrind is not installed")
        return {}
    counts = {}
    for name, function in (("compile", "pto::driver::compile*"), ("execute", "pto::execute::execute*"), ("replay", "pto::time::replay*")):
        command = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--callgrind-out-file=/dev/null", sys.executable, str(EXAMPLE)]
        out = subprocess.run(command, capture_output=True, text=True, timeout=600)
        collected = [line.split(":")[-1].split()[-1].replace(",", "") for line in out.stderr.splitlines() if "Collected" in line]
        if collected and collected[0].isdigit():
            counts[f"instructions in {name}"] = float(collected[0])
    return counts


def replayed() -> dict[str, float]:
    """Timing alone: the rate of the replay, what ten times as many tasks cost, and a run of ten million instructions with its report."""
    import os
    build = Path(os.environ.get("XPTO_BUILD", ROOT / "build"))
    made = subprocess.run(["cmake", "--build", str(build), "--target", "replay_bench"], capture_output=True, text=True)
    if made.returncode:
        print("replay: skipped, replay_bench does not build")
        return {}
    program = build / "tests/bench/replay_bench"
    figures = json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    long_run = json.loads(subprocess.run([program, "--long"], capture_output=True, text=True, check=True).stdout)
    print(f"replay: {figures['rows_per_s'] / 1e6:.1f} million instructions a second of one processor, {figures['tasks']} tasks; a task of ten times as many "
          f"costs {figures['cost_of_a_task_at_10x']:.2f} times as much")
    print(f"a run of {long_run['rows'] / 1e6:.1f} million instructions: record {long_run['record_mib']:.0f} MiB, with times and report {long_run['peak_mib']:.0f} MiB, "
          f"replay {long_run['replay_s']:.1f} s, report {long_run['report_s']:.1f} s, {long_run['slices']} slices drawn")
    return {**figures, **{f"long_{k}": v for k, v in long_run.items()}}


def emission(runs: int) -> dict[str, float]:
    """Generated C++ of the attention kernel, and its artefact folder when it is in the cache already."""
    import os
    import tempfile
    kernel = load((ROOT / "tests/emit/attention.py").read_text(encoding="utf-8"), "attention")
    before = os.environ.get("XPTO_CACHE")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XPTO_CACHE"] = cache
        try:
            made = kernel.compile()
            made.folder  # written now
            return {"emit attention": median(made.native.emitted, 3 * runs), "artefacts found in the cache": median(lambda: made.folder, 3 * runs)}
        finally:
            os.environ.pop("XPTO_CACHE") if before is None else os.environ.__setitem__("XPTO_CACHE", before)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--instructions", action="store_true", help="also count instructions (a minute)")
    parser.add_argument("--json", default="")
    args = parser.parse_args(argv)
    text = EXAMPLE.read_text(encoding="utf-8").split('if __name__')[0]
    rng = np.random.default_rng(0)
    data = tuple(rng.standard_normal(s, dtype=np.float32) for s in ((256, 64), (64, 64), (64, 64))) + (np.zeros((256, 64), np.float32),)
    kernel = load(text, "relu_matmul")
    rows: dict[str, float] = {}
    cells = [cell(text + f"\n# {i}\n", data) for i in range(args.runs)]
    for key in cells[0]:
        rows[f"cell: {key}"] = statistics.median(c[key] for c in cells)
    rows["cell: all"] = statistics.median(sum(c.values()) for c in cells)
    rows.update(front_half(kernel, args.runs))
    rows.update(emission(args.runs))
    rows["ast.parse of the text"] = median(lambda: ast.parse(text), args.runs)
    rows["numpy of the same values"] = median(lambda: np.maximum(data[0] @ data[1], 0) @ data[2], args.runs)
    for key, value in rows.items():
        print(f"{key:<32} {value * 1e3:9.3f} ms")
    parse = rows["ast.parse of the text"]
    print(f"front half is {rows['front half'] / parse:.2f} times ast.parse; without it {rows['front half without ast'] / parse:.2f} times; "
          f"a simulated run is {rows['cell: execute'] / rows['numpy of the same values']:.0f} times numpy")
    heavy = attention.measure()
    print(f"attention, S={attention.LENGTH}, D={attention.WIDTH}, one head, hazards on: {heavy['attention_s']:.2f} s of processor time ("
          f"{'within' if heavy['attention_s'] < attention.LIMIT_S else 'BEYOND'} the {attention.LIMIT_S:.0f} s it may take), "
          f"{heavy['attention_flops'] / 1e9:.1f} GFLOP/s, {100 * heavy['share_of_gemm']:.0f} % of numpy's GEMM ({heavy['gemm_flops'] / 1e9:.0f} GFLOP/s), "
          f"largest error {heavy['attention_error']:.1e}")
    print(f"registers: {heavy['register_operations_per_s'] / 1e6:.1f} million vector operations a second ({heavy['register_operations_per_s'] * 64 / 1e9:.2f} G lanes)")
    replay = replayed()
    counts = instructions() if args.instructions else {}
    for key, value in counts.items():
        print(f"{key:<32} {value:14,.0f}")
    if args.json:
        Path(args.json).write_text(json.dumps({"schema": 1, "seconds": rows, "counts": counts, "heavy": heavy, "replay": replay}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
