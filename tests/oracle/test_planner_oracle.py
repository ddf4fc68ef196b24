"""The comparison notices what it must notice; with an external checkout (UPSTREAM=dir) it runs over the cases and some kernels."""
from __future__ import annotations

import copy
import os
import sys
from pathlib import Path

import pytest

import run as oracle
from differences import compare_acceptance, compare_plans, compare_refusals, their_rule
from ours import plan
from plans import Permit, Refusal, Site
from spelling import Spelling
from their_parser import TheirParser

from xpto import kernel as kernels


def our_plan() -> LoopPlan:
    source = next(s["source"] for n, s, _ in oracle.case_files() if n == "relu_matmul_preload2")
    space = oracle.execute("relu_matmul_preload2", source)
    kernel = next(v for v in space.values() if isinstance(v, kernels.OperatorKernel))
    loops, refusal, language = plan(kernel.compile())
    assert refusal is None and not language
    return loops[0]


def test_equal_plans_have_no_difference():
    ours = our_plan()
    assert len(ours.edges) == 6 and len(ours.sites) == 12 and len(ours.prefire) == len(ours.drain) == 6
    assert compare_plans(copy.deepcopy(ours), ours) == []


@pytest.mark.parametrize("what, change", [
    ("delays", lambda p: p.delays.__setitem__(1, 2)),
    ("depth", lambda p: setattr(p, "depth", 7)),
    ("edges", lambda p: p.edges.__setitem__(0, p.edges[0]._replace(distance=9))),
    ("edges", lambda p: p.edges.pop()),
    ("sites", lambda p: p.sites.append(Site("q1", "wait", "FIX", (0, 1), 2))),
    ("sites", lambda p: p.sites.__setitem__(0, p.sites[0]._replace(modulus=1))),
    ("prefire", lambda p: p.prefire.pop()),
    ("drain", lambda p: p.drain.append(Permit("cube", "FIX", 15))),
])
def test_a_changed_plan_is_an_unexplained_difference(what, change):
    ours = our_plan()
    theirs = copy.deepcopy(ours)
    change(theirs)
    found = compare_plans(theirs, ours)
    assert [d.kind for d in found] == [what] and found[0].rule == ""


def test_refusals_are_matched_by_rule():
    cycle = Refusal("pipeline: the stage/buffer dependencies form a cycle that no cross-core sync can satisfy")
    none = {"other names": False, "producer writes twice": False, "outer id list": False, "helper touches": False, "depth": False}
    assert their_rule(cycle.message) == {"K43"}
    assert compare_refusals(cycle, Refusal("", ("K43",)), None, none) is None
    assert compare_refusals(cycle, None, None, none).rule == ""
    assert compare_refusals(cycle, Refusal("", ("K40",)), None, none).rule == ""
    assert compare_acceptance(Refusal("", ("S2",))).rule == "[S]"
    assert compare_acceptance(Refusal("", ("K46",))).rule == ""
    assert compare_acceptance(Refusal("", ("K46", "S2"))).rule == ""


def test_against_a_checkout(capsys):
    checkout = os.environ.get("UPSTREAM", "")
    if not checkout:
        pytest.skip("no external checkout: set UPSTREAM=dir to compare with its planner (make planner-oracle UPSTREAM=dir)")
    assert oracle.main([checkout, "--count", "40"]) == 0, capsys.readouterr().out


def test_their_parser_refuses_a_broken_text():
    """What the transform writes is looked at: each of these faults in a generated text is told."""
    checkout = os.environ.get("UPSTREAM", "")
    if not checkout:
        pytest.skip("no external checkout: set UPSTREAM=dir to try its parser")
    source = next(s["source"] for n, s, _ in oracle.case_files() if n == "relu_matmul_preload2")
    space = oracle.execute("relu_matmul_preload2", source)
    text = next(v for v in space.values() if isinstance(v, kernels.OperatorKernel)).compile().generated
    parser = TheirParser(Path(checkout))
    assert parser.refusal(text) == ""
    for old, new in (("_pl_task_id = _pl_task_id + 1", "_pl_task_id = _pl_task + 1"), ("_pl_is_valid", "_pl_valid"), ("event_id=", "id="), ("pl.struct_array(", "pl.struct_list("),
                     ("with pl.section_cube():", "with pl.section_matrix():")):
        assert old in text, old
        assert parser.refusal(text.replace(old, new, 1)), f"{old} -> {new} was accepted"
    broken = text.replace("pl.system.wait_cross_core(", "pl.system.await_cross_core(", 1)  # its compiled table would say so; ours of names does
    names = Spelling(Path(checkout))
    assert set(names.unknown(broken)) - set(names.unknown(text)) == {"pl.system.await_cross_core"}
    assert not [n for n, m in sys.modules.items() if checkout in str(getattr(m, "__file__", "") or "")]


def test_spelling_finds_what_a_checkout_does_not_know(tmp_path):
    language, ops = tmp_path / "python" / "pypto_pro" / "language", tmp_path / "python" / "pypto_pro" / "ir" / "op"
    language.mkdir(parents=True), ops.mkdir(parents=True)
    (language / "__init__.py").write_text('__all__ = ["struct_array", "load", "range"]\n\n\ndef struct_array(size, *args, **kwargs): pass\n\n\ndef load(out, tensor, offsets): pass\n')
    (ops / "system_ops.py").write_text("def set_cross_core(*, pipe, event_id): pass\n")
    spelling = Spelling(tmp_path)
    assert spelling.unknown('pl.struct_array(2, "C", a=0)\npl.system.set_cross_core(pipe=pl.PipeType.V, event_id=0)\nfor i in pl.range(3): pl.load(a, b, [0])') == []
    assert spelling.unknown("pl.system.set_cross_core(pipe=1, id=0)\npl.nothing()\npl.system.nothing()\npl.load(a, b, c, d)") == [
        "pl.system.set_cross_core(id=)", "pl.nothing", "pl.system.nothing", "pl.load with 4 operands"]
