"""Runs generated kernels in one process and checks the laws.

    run.py [--count 300] [--seed 0] [--seconds 0] [--json OUT] [--keep DIR] [--changed 0.3]

Laws. A kernel that is accepted gives, at every preload and under every order policy, the bits of its serial run, which are those of
the numpy program: no hazard, nothing read that was never written. The same holds for the kernel written without auto_mutex, with
explicit flags. A kernel that is refused for its order (K41 to K47, an S rule, a rule of the transform, or the verifier) has a witness:
the program that is made all the same hangs, races or differs under some order, with few tasks or many. Where it does not, the refusal is listed as
over-strict, and whether the verifier proves that program for every number of tasks. A share of the kernels (--changed) is changed towards one
rule each (toward.py): that rule must speak, or the kernel be right.

Prints the acceptance rate, hits per rule with those that had none, over-strict refusals, failures and runs a second; --keep writes failing
inputs. Exit code 1 when a law is broken.
"""
from __future__ import annotations

import argparse
import collections
import gc
import json
import linecache
import random
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import toward  # noqa: E402
from generate import Fuzz, generate  # noqa: E402

import xpto  # noqa: E402,F401
from xpto import _engine, kernel as kernels  # noqa: E402
from xpto.errors import HazardError, LaunchWarning, PtoError  # noqa: E402

# refusals that claim something about the order of things, which a run can show
ORDER_RULES = re.compile(r"PTO-(K4[1-7]|S[2347]|race|hang|order|permits|pipeline-(break|return|body-pick|mixed-argument|carried-state|gm-handover|unprotected|"
                         r"cursor-mix|permits))$")
# of these, rules about which value a stage sees: order alone proves nothing about them
VALUE_RULES = re.compile(r"PTO-(S[23]|pipeline-(break|return|body-pick|mixed-argument|carried-state|cursor-mix))$")
LENGTHS = (9, 30)  # tasks of the programs that look for a witness: a few, then as many as rings and slots can need


class Failure(Exception):
    pass


class Report:
    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.rules: collections.Counter[str] = collections.Counter()      # kernels a rule refused, once each
        self.witnessed: collections.Counter[str] = collections.Counter()
        self.features: collections.Counter[str] = collections.Counter()
        self.over_strict: dict[str, list[str]] = {}
        self.failures: list[str] = []
        self.seconds = self.cpu_seconds = 0.0
        self.every_k41 = 1        # of the refusals by K41 alone, one seed in so many is looked at

    def add(self, other: dict[str, Any]) -> None:
        for name in ("counts", "rules", "witnessed", "features"):
            getattr(self, name).update(other[name])
        for rule, where in other["over_strict"].items():
            self.over_strict.setdefault(rule, []).extend(where)
        self.failures += other["failures"]
        self.seconds += other["seconds"]
        self.cpu_seconds += other["cpu_seconds"]

    def to_json(self) -> dict[str, Any]:
        return {"schema": 3, **vars(self)}


def load(fuzz: Fuzz) -> Any:
    filename = f"<{fuzz.name}>"
    linecache.cache[filename] = (len(fuzz.source), None, fuzz.source.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"__name__": fuzz.name}
    exec(compile(fuzz.source, filename, "exec"), space)
    kernels.created.clear()
    return space[fuzz.name]


def make_all_the_same(kernel: Any) -> None:
    """From here on the kernel is made also where K41 to K47 refuse it."""
    kernel._make = _engine._for_suites.compile_unchecked
    kernel._compiled.clear()


def bounds(fuzz: Fuzz) -> list[int]:
    return [loop.start + loop.trips * loop.step for loop in fuzz.loops if loop.runtime_bound]


def run_once(kernel: Any, fuzz: Fuzz, **options: Any) -> tuple[np.ndarray, Any]:
    x, m, y = fuzz.inputs()
    pointer = [np.zeros(64, dtype=np.float32)] if "(p: " in fuzz.source else []
    run = kernel.launch((*pointer, x, m, y, *bounds(fuzz)), {}, **options)
    return y, run


def errors_of(made: Any) -> set[str]:
    return {d["code"] for d in made.diagnostics if d["severity"] == "error"}


def preloads(fuzz: Fuzz) -> tuple[int, ...]:
    """0 to 3; chains of two stages have one schedule for every preload above 0."""
    return (0, 1, 2, 3) if any(len(loop.stages) > 2 for loop in fuzz.loops) else (0, 1)


def correct(kernel: Any, fuzz: Fuzz, expected: np.ndarray, what: str, report: Report, **options: Any) -> None:
    try:
        y, run = run_once(kernel, fuzz, **options)
    except HazardError as e:
        raise Failure(f"{what}, {options}: {str(e).splitlines()[0]}") from e
    orders = len(json.loads(run.native.to_json()).get("orders", [])) if "hostile" in options else 0
    report.counts["runs"] += 1 + orders
    if run.status != "done":
        raise Failure(f"{what}, {options}: {run.status}")
    if not np.array_equal(y, expected):
        bad = np.argwhere((y != expected).any(axis=1)).ravel()
        raise Failure(f"{what}, {options}: rows {bad[:4].tolist()}... differ")


def refused(fuzz: Fuzz, preload: int | None, codes: set[str], report: Report, number: int | None = None) -> None:
    """Looks for a witness, with enough trips: a rule speaks of any count."""
    order = sorted(c for c in codes if ORDER_RULES.match(c))
    if not order:
        return
    if order == ["PTO-K41"] and fuzz.seed % report.every_k41:  # by far the most frequent
        report.counts["refusals not looked at"] += 1
        return
    aimed = "" if number is None else toward.CHANGES[number % len(toward.CHANGES)][0]
    about_order = not any(VALUE_RULES.match(c) for c in order)
    for tasks in LENGTHS:
        made = (aimed, generate(fuzz.seed, long=tasks)) if number is None else toward.change(fuzz.seed, number, long=tasks)
        assert made is not None
        kernel = load(made[1])
        expected = made[1].reference() if number is None else serial_values(kernel, made[1])
        found = witness(kernel, made[1], preload, expected)
        proven = about_order and kernel.last is not None and kernel.last.ok and kernel.last.to_json()["sync"]["status"] == "proven"
        if found or proven:
            break
    if found and proven:
        raise Failure(f"preload {preload}: the verifier proves what a run shows wrong: {found}")
    if found:
        report.witnessed.update([found if tasks == LENGTHS[0] else f"{found} after {tasks} tasks"])
        report.counts["refusals with a witness"] += 1
        return
    report.counts["refusals proven needless" if proven else "refusals without a witness"] += 1
    report.over_strict.setdefault(", ".join(order) + (" (the program is proven)" if proven else ""), []).append(f"seed {fuzz.seed} preload {preload}{' ' + aimed if aimed else ''}")


def witness(kernel: Any, fuzz: Fuzz, preload: int | None, expected: np.ndarray | None) -> str:
    """What the program that is made all the same does wrong under some order, each pipe early and late and four random ones; empty when nothing."""
    kernel.overrides = {"check": "warn", **({} if preload is None else {"preload": preload})}
    make_all_the_same(kernel)
    made = kernel.compile()
    if not made.ok:
        return ""
    try:
        y, run = run_once(kernel, fuzz, order="program", check="warn")
        if run.status not in ("done", "warned"):  # a warning shows nothing wrong
            return run.status
        if expected is not None and not np.array_equal(y, expected):
            return "differs"
        for orders in ("all", "random"):
            y, run = run_once(kernel, fuzz, hostile=orders, check="warn")
            if run.status not in ("done", "warned"):
                return run.status
    except PtoError as e:
        return type(e).__name__
    return ""


def base(seed: int, report: Report) -> None:
    fuzz = generate(seed)
    report.features.update(fuzz.features)
    expected = fuzz.reference()
    kernel = load(fuzz)
    hostile = preloads(fuzz)[seed // 2 % len(preloads(fuzz))] if seed % 2 == 0 else -1  # every order for one preload of every other kernel
    for preload in preloads(fuzz):
        kernel.overrides = {"preload": preload}
        made = kernel.compile()
        report.counts["compiled"] += 1
        if not made.ok:
            codes = errors_of(made)
            report.rules.update(codes)
            refused(fuzz, preload, codes, report)
            continue
        report.counts["accepted"] += 1
        correct(kernel, fuzz, expected, f"preload {preload}", report, **({"hostile": "all"} if preload == hostile else {"order": f"random({seed})"}))
    kernel = load(flagged := generate(seed, flags=True))
    preload = preloads(fuzz)[seed // 2 % len(preloads(fuzz))]
    kernel.overrides = {"preload": preload}
    made = kernel.compile()
    if made.ok:
        report.counts["accepted without auto_mutex"] += 1
        correct(kernel, flagged, expected, f"explicit flags, preload {preload}", report, **({"hostile": "all"} if seed % 8 == 0 else {"order": f"random({seed})"}))


def changed(seed: int, number: int, report: Report) -> bool:
    """False when the change has no place in this kernel."""
    made = toward.change(seed, number)
    if made is None:
        return False
    rules, fuzz = made
    report.counts["changed kernels"] += 1
    aimed = {f"PTO-{r}" for r in rules.split()}
    kernel = load(fuzz)
    choices = [None] if rules == "K10" else random.Random(seed).sample((1, 2, 3), 3)
    hit = None
    for preload in choices:
        kernel.overrides = {} if preload is None else {"preload": preload}
        compiled = kernel.compile()
        if compiled.ok:
            correct_as_serial(kernel, fuzz, preload, report)
            continue
        codes = errors_of(compiled)
        report.rules.update(codes)
        if codes & aimed:
            hit = preload
            break
    if hit is None and choices != [None]:
        return True
    refused(fuzz, hit, codes & aimed, report, number)
    return True


def serial_values(kernel: Any, fuzz: Fuzz) -> np.ndarray | None:
    """What the text means in serial order; None when even that is not sure."""
    kernel.overrides = {"preload": 0, "check": "warn"}
    if not kernel.compile().ok:
        return None
    try:
        y, run = run_once(kernel, fuzz, check="warn")
    except PtoError:
        return None
    return y if run.status in ("done", "warned") else None


def correct_as_serial(kernel: Any, fuzz: Fuzz, preload: int, report: Report) -> None:
    kept = dict(kernel.overrides)
    expected = serial_values(kernel, fuzz)
    kernel.overrides = kept
    if expected is not None:
        report.counts["changed and right"] += 1
        correct(kernel, fuzz, expected, f"changed, preload {preload}", report, order=f"random({fuzz.seed})")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--changed", type=float, default=0.3, help="share of kernels that are changed towards a rule")
    parser.add_argument("--k41", type=int, default=2, help="refusals by K41 alone: one seed in so many is looked at")
    parser.add_argument("--rules", default="", help='only kernels changed towards these, "K11 S4"')
    parser.add_argument("--seconds", type=float, default=0, help="stop after this long")
    parser.add_argument("--json", default="")
    parser.add_argument("--keep", default="", help="folder for the texts of failing kernels")
    parser.add_argument("--sum", nargs="+", default=[], metavar="JSON", help="add up the reports of earlier runs and print the whole")
    args = parser.parse_args(argv)
    report = Report()
    report.every_k41 = args.k41
    if args.sum:
        for path in args.sum:
            report.add(json.loads(Path(path).read_text()))
        show(report)
        return 1 if report.failures else 0
    warnings.simplefilter("ignore", LaunchWarning)  # one block is enough here
    begin = time.monotonic()
    every = round(1 / args.changed) if args.changed > 0 else 0
    aimed = [n for n, (rules, _, _) in enumerate(toward.CHANGES) if set(rules.split()) & set(args.rules.split())]
    if args.rules and not aimed:
        parser.error(f"no change aims at {args.rules}")
    for seed in range(args.seed, args.seed + args.count):
        if args.seconds and time.monotonic() - begin > args.seconds:
            print(f"stopped before seed {seed} after {args.seconds:.0f} s")
            break
        try:
            if args.rules:
                if not changed(seed, aimed[seed % len(aimed)], report):
                    continue
            elif not (every and seed % every == every - 1 and changed(seed, seed // every, report)):
                base(seed, report)
        except Exception as e:  # a crash of ours breaks the law "refused or right" too
            report.failures.append(f"seed {seed}: {'' if isinstance(e, Failure) else type(e).__name__ + ': '}{str(e).splitlines()[0] if str(e) else ''}")
        report.counts["kernels"] += 1
        if report.counts["kernels"] % 50 == 0:
            # a compilation is a small Python object in a cycle with its kernel: the collector does not see what it weighs
            linecache.clearcache()
            gc.collect()
            _engine.forget_sources()
            report.seconds, report.cpu_seconds = time.monotonic() - begin, time.process_time()
            if args.json:
                Path(args.json).write_text(json.dumps(report.to_json(), indent=1))
    report.seconds, report.cpu_seconds = time.monotonic() - begin, time.process_time()
    show(report)
    if args.json:
        Path(args.json).write_text(json.dumps(report.to_json(), indent=1))
    if args.keep:
        keep(report, Path(args.keep), every)
    return 1 if report.failures or report.counts["kernels"] == 0 else 0


def every_rule() -> list[str]:
    """K0 to K47, S1 to S8 and the transform's own rules, in this order."""
    own = sorted({r for rules, _, _ in toward.CHANGES for r in rules.split() if r.startswith("pipeline-")})
    return [f"K{n}" for n in range(48)] + [f"S{n}" for n in range(1, 9)] + own


def show(report: Report) -> None:
    c = report.counts
    print(f"{c['kernels']} kernels ({c['changed kernels']} changed towards a rule), {c['compiled']} compilations of unchanged ones, {c['accepted']} accepted "
          f"({c['accepted'] / max(1, c['compiled']):.0%}), {c['accepted without auto_mutex']} accepted with explicit flags")
    print(f"{c['runs']} runs in {report.seconds:.1f} s ({report.cpu_seconds:.1f} s of CPU): {c['runs'] / max(report.seconds, 1e-9):.0f} runs/s "
          f"({c['runs'] / max(report.cpu_seconds, 1e-9):.0f} per CPU second), {c['kernels'] / max(report.cpu_seconds, 1e-9):.1f} kernels per CPU second")
    print("hits per rule: " + ", ".join(f"{code.removeprefix('PTO-')} {n}" for code, n in sorted(report.rules.items(), key=lambda x: -x[1])))
    print("rules without a hit: " + (", ".join(rule for rule in every_rule() if not report.rules["PTO-" + rule]) or "none"))
    print(f"order refusals: {c['refusals with a witness']} with a witness (" + ", ".join(f"{k} {n}" for k, n in report.witnessed.most_common()) +
          f"), {c['refusals proven needless']} of programs that the verifier proves, {c['refusals without a witness']} without either, "
          f"{c['refusals not looked at']} K41 not looked at")
    print("features: " + ", ".join(f"{k} {n}" for k, n in report.features.most_common()))
    for rule, where in sorted(report.over_strict.items(), key=lambda x: -len(x[1])):
        print(f"over-strict: {rule}: {len(where)} times, {'; '.join(where[:4])}")
    for text in report.failures[:30]:
        print("FAILED " + text)
    print(f"{c['kernels'] - len(report.failures)} passed, {len(report.failures)} failed")


def keep(report: Report, folder: Path, every: int) -> None:
    for text in report.failures:
        seed = int(re.match(r"seed (\d+)", text)[1])
        made = toward.change(seed, seed // every) if every and seed % every == every - 1 else None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"fuzz_{seed}.py").write_text(f"# {text}\n{made[1].source if made else generate(seed).source}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
