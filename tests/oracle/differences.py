"""Compares two plans of one loop. Every difference gets a kind and, where the reference states it, a rule code that explains it."""
from __future__ import annotations

import collections
import re
from typing import Any, Iterable, NamedTuple

from plans import LoopPlan, Refusal


class Difference(NamedTuple):
    kind: str
    rule: str      # empty: unexplained
    detail: str


# Ours refuses what the planner accepts. Rules that newer planners have [V]: the reference says so of the first line; of the others the
# planner's text shows it (a snapshot that warns of no changing distance, skips operations it has no roles for, knows one loop).
NEWER = {"K38", "K41", "K39", "K3", "K14", "K16", "K18", "K27", "K28", "K29", "K33", "K34",
         "K0", "K9", "K10", "K11", "K20", "K24", "K25", "K26", "K30", "K32", "K35", "K37", "K42"}
STRICTER = re.compile(r"S\d+|pipeline-.*")  # [S]

# what the planner's sentences are about, in our codes
SENTENCES = [
    (r"branch condition .* wraps a stage call", "K1"), (r"multiple stage calls", "K2"), (r"unsupported `with` block", "K4"),
    (r"no @pl.pipeline.stage functions found|no pipeline loop found", "K5"), (r"loop variable must be a simple name", "K6"),
    (r"unsupported loop iterable", "K7"), (r"comes from pl.struct_array", "K8"), (r"struct .* is bound inside", "K9"), (r"returns a value", "K12"),
    (r"appears directly in the pipeline", "K13"), (r"consecutive same-core stages", "K15"), (r"steps backwards|has step", "K17"),
    (r"no resolvable memory space", "K19"), (r"must be a non-empty tuple", "K20 K21"), (r"out-of-range event id", "K21"),
    (r"different slot counts", "K22"), (r"overlapping addresses with multiple", "K23"), (r"mutex_ids could not be resolved statically", "K26"),
    (r"slot accessor", "K27"), (r"no pipe is registered", "K30"), (r"cannot determine the pipe", "K31"), (r"collide with user-defined names", "K36"),
    (r"cannot determine the slot count", "K37"), (r"is used (only )?by", "K38"), (r"must share mutex_ids", "K40"), (r"form a cycle", "K43"),
    (r"not enough free event ids", "K44"), (r"address reuse requires", "K45"), (r"runs inverse-time", "K46"), (r"which is not a multiple", "K47"),
]


def their_rule(message: str) -> set[str]:
    for pattern, codes in SENTENCES:
        if re.search(pattern, message):
            return set(codes.split())
    return set()


def compare_refusals(theirs: Refusal, ours: Refusal | None, plan: LoopPlan | None, context: dict[str, bool]) -> Difference | None:
    """`ours` None: we accept."""
    rules = their_rule(theirs.message)
    name = "/".join(sorted(rules)) or "?"
    if ours is not None:
        if rules & set(ours.codes):
            return None
        codes = ", ".join(ours.codes)
        # both refuse, for different reasons: a rule of ours that this planner lacks speaks before the one it has, or names the same fault
        # by its cause (K41: too few slots, where it finds the cycle that follows)
        if any(c in NEWER or STRICTER.match(c) for c in ours.codes):
            return Difference(f"both refuse, {name} there, {codes} here", "[V] or [S] rule of ours speaks first", theirs.message)
        if name == "K31" and context["other names"]:
            return Difference(f"both refuse, {name} there, {codes} here", "[V] 9.1: local groups are followed through parameters", theirs.message)
        return Difference(f"both refuse, {name} there, {codes} here", "", theirs.message)
    if name == "K31" and context["other names"]:
        return Difference("refused there (K31), accepted here", "[V] 9.1: local groups are followed through parameters", theirs.message)
    if name == "K43" and plan and (plan.in_place or context["producer writes twice"]):
        return Difference("refused there (K43), accepted here", "[S] 13: a write meets readers of earlier tasks only", theirs.message)
    if name in ("K20/K21",) and context["outer id list"]:
        return Difference("refused there (K20), accepted here", "[V] K20: an outer list by name", theirs.message)
    if name == "K38" and context["helper touches"]:
        return Difference("refused there (K38), accepted here", "[V] 9.2: helpers are walked as part of the stage", theirs.message)
    if name == "K26" and context["depth"]:
        return Difference("refused there (K26), accepted here", "[V] 8: depth= gives the slot count", theirs.message)
    if name == "K37" and context["depth"]:
        return Difference("refused there (K37), accepted here", "[V] 8: depth= gives the slot count", theirs.message)
    return Difference(f"refused there ({name}), accepted here", "", theirs.message)


def compare_acceptance(ours: Refusal) -> Difference:
    """The planner accepts and we do not."""
    unexplained = [c for c in ours.codes if c not in NEWER and not STRICTER.match(c)]
    rules = ", ".join(ours.codes)
    if unexplained:
        return Difference(f"accepted there, refused here ({rules})", "", ours.message)
    return Difference(f"accepted there, refused here ({rules})", "[S]" if all(STRICTER.match(c) for c in ours.codes) else "[V] newer planners have the rule", ours.message)


def _only(a: Iterable[Any], b: Iterable[Any]) -> list[Any]:
    return list((collections.Counter(a) - collections.Counter(b)).elements())


def compare_plans(theirs: LoopPlan, ours: LoopPlan) -> list[Difference]:
    found: list[Difference] = []
    if theirs.delays != ours.delays:
        found.append(Difference("delays", "", f"{theirs.delays} there, {ours.delays} here"))
    if theirs.depth != ours.depth:
        found.append(Difference("depth", "", f"{theirs.depth} there, {ours.depth} here"))
    explained = "[V] 9.3: an operation on one buffer twice is one access" if ours.in_place else ""
    for what in ("edges", "sites", "prefire", "drain"):
        there, here = getattr(theirs, what), getattr(ours, what)
        missing, extra = _only(there, here), _only(here, there)
        if missing or extra:
            found.append(Difference(what, explained, f"only there {missing[:3]}, only here {extra[:3]}"))
    if ours.added:
        found.append(Difference("edges added here", "[S] 13: in-place first access, write after write, writes on several pipes",
                                f"{len(ours.added)} edges, first {ours.added[0]}"))
    if theirs.behind:
        found.append(Difference("one id indexed by slot there", "[S] 14.3: the modulus of a degraded list is its length", ""))
    if theirs.inside:
        found.append(Difference("edges inside one core emitted there", "[V] 14.1: program order and auto_mutex keep them", f"{theirs.inside} edges"))
    return found
