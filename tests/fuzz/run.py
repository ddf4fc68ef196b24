"""Runs generated kernels and checks the laws; prints counts per rule, the acceptance rate and kernels a second.

    run.py [--count 300] [--seed 0] [--orders 3] [--json OUT]

Laws. A kernel that is accepted at some preload gives, under every order that is tried, the bits of its serial run and of the numpy
program, and no hazard. A kernel that is refused for its order (K41, K43, K45, K46, an S rule, or by the verifier) has a witness: an
order in which the unchecked program hangs, races or differs; otherwise it is listed as over-strict.
"""
from __future__ import annotations

import argparse
import collections
import json
import linecache
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from generate import Fuzz, generate  # noqa: E402

import xpto  # noqa: E402
from xpto import kernel as kernels  # noqa: E402
from xpto.errors import HazardError, PtoError  # noqa: E402

ORDER_RULES = ("PTO-K41", "PTO-K43", "PTO-K45", "PTO-K46", "PTO-S", "PTO-race", "PTO-hang", "PTO-carried", "PTO-order")


def load(fuzz: Fuzz) -> Any:
    filename = f"<{fuzz.name}>"
    linecache.cache[filename] = (len(fuzz.source), None, fuzz.source.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"__name__": fuzz.name}
    exec(compile(fuzz.source, filename, "exec"), space)
    kernels.created.clear()
    return space[fuzz.name]


def bounds(fuzz: Fuzz) -> list[int]:
    return [loop.start + loop.trips * loop.step for loop in fuzz.loops if loop.runtime_bound]


class Failure(Exception):
    pass


def run_once(kernel: Any, fuzz: Fuzz, **options: Any) -> tuple[np.ndarray, Any]:
    x, m, y = fuzz.inputs()
    run = kernel.launch((x, m, y, *bounds(fuzz)), {}, **options)
    return y, run


def check(fuzz: Fuzz, orders: int, counts: collections.Counter, codes: collections.Counter, over_strict: list[str]) -> None:
    kernel = load(fuzz)
    expected = fuzz.reference()
    accepted_once = False
    for preload in (0, 1, 2, 3):
        kernel.overrides = {"preload": preload, "check": "strict"}
        made = kernel.compile()
        counts["compiled"] += 1
        if not made.ok:
            errors = [d["code"] for d in made.diagnostics if d["severity"] == "error"]
            codes.update(set(errors))
            counts["refused"] += 1
            if any(code.startswith(ORDER_RULES) for code in errors) and not witness(kernel, fuzz, preload, expected):
                over_strict.append(f"seed {fuzz.seed} preload {preload}: {', '.join(sorted(set(errors)))}")
            continue
        accepted_once = True
        counts["accepted"] += 1
        for order in ["program", *(f"random({fuzz.seed * 7 + k})" for k in range(orders))]:
            try:
                y, run = run_once(kernel, fuzz, order=order)
            except HazardError as e:
                raise Failure(f"preload {preload}, order {order}: {str(e).splitlines()[0]}") from e
            counts["runs"] += 1
            if not np.array_equal(y, expected):
                bad = np.argwhere((y != expected).any(axis=1)).ravel()
                raise Failure(f"preload {preload}, order {order}: rows {bad[:4].tolist()}... differ from numpy")
    counts["kernels"] += 1
    counts["kernels accepted at some preload"] += accepted_once


def witness(kernel: Any, fuzz: Fuzz, preload: int, expected: np.ndarray) -> bool:
    """True when the program that check=warn lets through hangs, races or differs under some order."""
    kernel.overrides = {"preload": preload, "check": "warn"}
    made = kernel.compile()
    if not made.ok:
        return True  # refused before there is a program: nothing to run
    for order in ("program", "late(AIC.FIX)", "late(AIC.MTE1)", "late(AIV0.V)", "late(AIV0.MTE3)", "random(1)", "random(2)", "random(3)"):
        try:
            y, run = run_once(kernel, fuzz, order=order, check="warn")
        except PtoError:
            return True
        if run.status != "done" or not np.array_equal(y, expected):
            return True
    return False


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this long")
    parser.add_argument("--json", default="")
    args = parser.parse_args(argv)
    counts: collections.Counter = collections.Counter()
    codes: collections.Counter = collections.Counter()
    features: collections.Counter = collections.Counter()
    over_strict: list[str] = []
    failures: list[str] = []
    begin = time.monotonic()
    for seed in range(args.seed, args.seed + args.count):
        if args.seconds and time.monotonic() - begin > args.seconds:
            print(f"stopped at seed {seed} after {args.seconds:.0f} s")
            break
        fuzz = generate(seed, auto_mutex=seed % 5 != 4)
        features.update(fuzz.features)
        try:
            check(fuzz, args.orders, counts, codes, over_strict)
        except Failure as e:
            failures.append(f"seed {seed}: {e}")
        except Exception as e:  # a crash of ours is a failure of the law "refused or right"
            failures.append(f"seed {seed}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
    seconds = time.monotonic() - begin
    rate = counts["accepted"] / max(1, counts["compiled"])
    print(f"{counts['kernels']} kernels, {counts['compiled']} compilations, {counts['runs']} runs in {seconds:.1f} s "
          f"({counts['runs'] / max(seconds, 1e-9):.0f} runs/s); accepted {rate:.0%}")
    print("rules: " + (", ".join(f"{c} {n}" for c, n in codes.most_common()) or "none hit"))
    print("features: " + ", ".join(f"{c} {n}" for c, n in features.most_common()))
    for text in over_strict[:20]:
        print("over-strict: " + text)
    for text in failures[:20]:
        print("FAILED " + text)
    if args.json:
        Path(args.json).write_text(json.dumps({"schema": 1, "counts": counts, "rules": codes, "features": features, "over_strict": over_strict,
                                               "failures": failures, "seconds": seconds}, indent=1))
    print(f"{counts['kernels']} passed, {len(failures)} failed")
    return 1 if failures or counts["kernels"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
