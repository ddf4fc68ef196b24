"""Compares our planner with the one of an external checkout, case by case.

    run.py CHECKOUT [--count 1000] [--seed 0] [--only NAME]

Over every file of tests/cases/pipeline and `count` generated kernels at preload 0 to 3: delays, depth, edges, in-loop sites, prefire,
drain, or the refusal. Prints the differences by kind with the rule that explains each. Every generated text also goes through the checkout's own
parser, and a text that it refuses has to be refused as written, before the transform, for the same reason. Exit code 1 when something has no
explanation, 2 when the checkout cannot be read. Nothing of the checkout is copied.
"""
from __future__ import annotations

import argparse
import ast
import collections
import gc
import linecache
import logging
import re
import sys
import time
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tests" / "fuzz")]

import xpto  # noqa: E402,F401
from xpto import _engine, kernel as kernels  # noqa: E402

import ours as our_planner
import recorded  # noqa: E402
from differences import Difference, compare_acceptance, compare_plans, compare_refusals  # noqa: E402
from generate import generate  # noqa: E402
from plans import LoopPlan, Refusal  # noqa: E402
from spelling import Spelling  # noqa: E402
from stand_ins import load_planner  # noqa: E402
from their_parser import TheirParser  # noqa: E402
from theirs import Planner, kernel_tree  # noqa: E402


def case_files() -> Iterator[tuple[str, dict[str, str], list[int] | None]]:
    """(name, sections, preload in the options) of every case file."""
    for path in sorted((ROOT / "tests" / "cases" / "pipeline").glob("*.case")):
        sections: dict[str, str] = {}
        name = ""
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.startswith("--- "):
                name = line[4:].strip()
                sections[name] = ""
            elif name:
                sections[name] += line
        wanted = re.search(r"^preload\s*=\s*(.*)$", sections.get("options", ""), re.M)
        yield path.stem, sections, [int(n) for n in re.findall(r"-?\d+", wanted[1])] if wanted else None


def execute(name: str, source: str) -> dict[str, Any]:
    filename = f"<{name}>"
    linecache.clearcache()
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"__name__": name}
    exec(compile(source, filename, "exec", dont_inherit=True), space)
    kernels.created.clear()
    return space


def declared_preload(kernel: Any) -> list[int]:
    config = kernel.options["pipeline"]
    if getattr(config, "sync_only", False):
        return [0]
    return list(config.preload) if isinstance(config.preload, (tuple, list)) else [config.preload]


def context_of(source: str) -> dict[str, bool]:
    """What a difference may be due to, read off the text."""
    tree = ast.parse(source)
    stages = [n for n in tree.body if isinstance(n, ast.FunctionDef) and any("stage" in ast.unparse(d) for d in n.decorator_list)]
    kernel = kernel_tree(source)
    helpers = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)} - {s.name for s in stages} - {kernel.name}
    groups = {t.id for s in ast.walk(kernel) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and "make_tile_group" in ast.unparse(s.value.func)
              for t in s.targets if isinstance(t, ast.Name)}
    calls = [(s, c) for s in stages for c in ast.walk(kernel) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and c.func.id == s.name]
    other_names = any(isinstance(a, ast.Name) and a.id != p.arg and p.arg not in groups for s, c in calls for a, p in zip(c.args, s.args.args))
    inside = [n for s in stages for n in ast.walk(s)]
    return {
        "other names": other_names,
        "producer writes twice": any(sum(isinstance(n, ast.Call) and ast.unparse(n.func).startswith("pl.") for n in ast.walk(s)) > 1 for s in stages),
        "outer id list": bool(re.search(r"(fwd|bwd)_ids=[A-Za-z_]", source)),
        "helper touches": any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in helpers for n in inside),
        "depth": "depth=" in source,
    }


class Tally:
    def __init__(self, show: str) -> None:
        self.show = show
        self.compared = self.equal = self.same_refusal = self.loops = 0
        self.generated = self.taken = 0
        self.not_taken: collections.Counter[str] = collections.Counter()  # as written, for the same reason
        self.unknown: collections.Counter[str] = collections.Counter()
        self.language: list[str] = []
        self.kinds: collections.Counter[tuple[str, str]] = collections.Counter()
        self.examples: dict[tuple[str, str], str] = {}
        self.unexplained: list[str] = []

    def add(self, where: str, differences: list[Difference]) -> None:
        for d in differences:
            key = (d.kind, d.rule)
            self.kinds[key] += 1
            self.examples.setdefault(key, where)
            if self.show and self.show in d.kind:
                print(f"{where}: {d.kind}: {d.detail}")
            if not d.rule:
                self.unexplained.append(f"{where}: {d.kind}: {d.detail}")


def parse_there(parser: TheirParser, tally: Tally, name: str, source: str, text: str) -> None:
    tally.generated += 1
    why = parser.refusal(text)
    if not why:
        tally.taken += 1
    elif parser.refusal(source) == why:
        tally.not_taken[why] += 1
    else:
        tally.unexplained.append(f"{name}: the generated text is refused by their parser, the source is not: {why}")


def compare(planner: Planner, spelling: Spelling, parser: TheirParser, tally: Tally, name: str, source: str, preload: list[int] | None, sections: dict[str, str] | None = None) -> None:
    try:
        space = execute(name, source)
    except ValueError as e:  # PipelineConfig itself refuses
        tally.language.append(f"{name}: {e}")
        return
    kernel = next(v for v in space.values() if isinstance(v, kernels.OperatorKernel) and v.options.get("pipeline") is not None)
    chosen = preload if preload is not None else declared_preload(kernel)
    kernel.overrides = {"check": "strict"} if preload is None else {"check": "strict", "preload": chosen[0] if len(chosen) == 1 else chosen}
    strict = kernel.compile()
    loops, refusal, language = our_planner.plan(strict)
    if strict.generated:
        parse_there(parser, tally, name, source, strict.generated)
        tally.unknown.update(set(spelling.unknown(strict.generated)) - set(spelling.unknown(source)))  # what the transform wrote, not the user
    if refusal is not None:  # stricter rules leave a plan behind when they only warn
        kernel.overrides = {**kernel.overrides, "check": "warn"}
        loops, _, language = our_planner.plan(kernel.compile())
    if language:
        known = recorded.plan(sections or {})
        loops, refusal = [known] if known else [], recorded.refusal(sections or {})
        if not known and not refusal:
            tally.language.append(f"{name}: {next(d['code'] for d in strict.diagnostics if d['severity'] == 'error')}")
            return
    there = planner.plan(source, space, chosen, {})
    if language and known and not known.delays and isinstance(there[0], LoopPlan):
        known.delays, known.depth = there[0].delays, there[0].depth  # this case records none
    tally.compared += 1
    context = context_of(source)
    their_refusal = next((t for t in there if isinstance(t, Refusal)), None)
    if their_refusal is not None:
        difference = compare_refusals(their_refusal, refusal, loops[0] if loops else None, context)
        tally.same_refusal += difference is None
        tally.add(name, [difference] if difference else [])
        return
    differences: list[Difference] = []
    if refusal is not None:
        differences.append(compare_acceptance(refusal))
    planned = [l for l in loops if l.edges or l.sites or refusal is None]  # a K rule leaves no plan behind
    if planned and len(planned) == len(there):
        for theirs, mine in zip(there, loops):
            tally.loops += 1
            differences += compare_plans(theirs, mine)
    elif planned:
        differences.append(Difference("number of loops", "", f"{len(there)} there, {len(loops)} here"))
    elif [t.delays for t in there] != [l.delays for l in loops] and loops:
        differences.append(Difference("delays", "", f"{[t.delays for t in there]} there, {[l.delays for l in loops]} here"))
    tally.equal += not differences
    tally.add(name, differences)


def main(argv: list[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkout", nargs="?", default="")
    options.add_argument("--count", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="kernels whose name holds this")
    options.add_argument("--show", default="", help="print every difference whose kind holds this")
    args = options.parse_args(argv)
    if not args.checkout or not Path(args.checkout).is_dir():
        print(f"planner-oracle: SKIPPED, no checkout given (UPSTREAM=dir){f', {args.checkout} is not a folder' if args.checkout else ''}")
        return 0 if not args.checkout else 2
    try:
        planner = Planner(load_planner(Path(args.checkout)))
        spelling = Spelling(Path(args.checkout))
        parser = TheirParser(Path(args.checkout))
    except (ValueError, ImportError) as e:
        print(f"planner-oracle: cannot use this checkout: {e}")
        return 2
    logging.disable(logging.WARNING)  # what the planner warns of is in the comparison
    tallies = []
    begin = time.monotonic()
    for title, kernels_of in (("case files", ((n, s["source"], [p], s) for n, s, p in case_files())),
                              ("generated kernels", ((f"seed {k}", generate(k).source, [[q] for q in range(4)], None) for k in range(args.seed, args.seed + args.count)))):
        tally = Tally(args.show)
        count = 0
        for name, source, preloads, sections in kernels_of:
            if args.only and args.only not in name:
                continue
            count += 1
            if count % 20 == 0:
                gc.collect()  # a compilation is one small Python object in a cycle with its kernel: the collector does not see what it weighs
                _engine.forget_sources()
            for preload in preloads:
                try:
                    compare(planner, spelling, parser, tally, name if len(preloads) == 1 else f"{name} preload {preload[0]}", source, preload, sections)
                except Exception as e:  # neither side may fall over
                    tally.unexplained.append(f"{name} preload {preload}: {type(e).__name__}: {e}")
        tallies.append(tally)
        print(f"{title}: {count} kernels, {tally.compared} comparisons ({tally.loops} loop plans), {tally.equal} equal plans, {tally.same_refusal} equal refusals, "
              f"{len(tally.language)} refused by the language before any planner")
    print(f"{time.monotonic() - begin:.1f} s")
    kinds: collections.Counter[tuple[str, str]] = sum((t.kinds for t in tallies), collections.Counter())
    examples = {k: v for t in reversed(tallies) for k, v in t.examples.items()}
    print(f"\n{'times':>6}  {'difference':<62}  {'explained by':<58}  first seen in")
    for (kind, rule), n in kinds.most_common():
        print(f"{n:>6}  {kind:<62}  {rule or 'NOTHING':<58}  {examples[kind, rule]}")
    for t in tallies:
        for line in t.language:
            print(f"not compared: {line}")
    unknown = sum((t.unknown for t in tallies), collections.Counter())
    print(f"generated texts: {sum(t.generated for t in tallies)}, operations or keywords written by the transform that the checkout does not know: " +
          (", ".join(f"{name} ({n} texts)" for name, n in unknown.most_common()) or "none"))
    print(f"their parser: {sum(t.taken for t in tallies)} of {sum(t.generated for t in tallies)} generated texts accepted for both cores, "
          f"{sum(sum(t.not_taken.values()) for t in tallies)} refused as written, before the transform, for the same reason")
    for why, n in sum((t.not_taken for t in tallies), collections.Counter()).most_common():
        print(f"{n:>6}  {why}")
    unexplained = [u for t in tallies for u in t.unexplained]
    for line in unexplained[:40]:
        print(f"UNEXPLAINED {line}")
    print(f"planner-oracle: {sum(t.compared for t in tallies)} compared, {len(unexplained)} unexplained")
    return 1 if unexplained or not sum(t.compared for t in tallies) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
