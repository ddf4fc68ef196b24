"""Some generated kernels in every run; `make fuzz N=... SEED=...` goes on from there."""
from __future__ import annotations

import json

import pytest

import generate
import run as fuzz
import toward

from xpto import _engine
from xpto.errors import HazardError


def test_laws_hold_and_enough_is_accepted(tmp_path):
    out = tmp_path / "fuzz.json"
    code = fuzz.main(["--count", "200", "--seed", "1000", "--k41", "16", "--json", str(out)])
    data = json.loads(out.read_text())
    assert code == 0, data["failures"]
    counts = data["counts"]
    assert counts["accepted"] / counts["compiled"] >= 0.4
    assert counts["runs"] >= 2 * counts["kernels"]
    assert counts["accepted without auto_mutex"] > counts["kernels"] // 3
    assert counts["refusals with a witness"] > 0
    assert counts["refusals proven needless"] > 0
    for feature in ("outer loop", "several loops", "one id for many slots", "forward only", "address reuse"):
        assert data["features"].get(feature, 0) > 0, f"the generator never drew {feature}"


@pytest.mark.parametrize("number", range(len(toward.CHANGES)), ids=[f"{n}-{rules.split()[0]}" for n, (rules, _, _) in enumerate(toward.CHANGES)])
def test_every_change_meets_its_rule(number):
    """Within a few kernels the rule speaks that the change aims at; a change aimed at several needs one of them."""
    rules = {f"PTO-{r}" for r in toward.CHANGES[number][0].split()}
    for seed in range(40):
        made = toward.change(seed, number)
        if made is None:
            continue
        kernel = fuzz.load(made[1])
        for preload in (2, 3, 1):
            kernel.overrides = {} if "PTO-K10" in rules else {"preload": preload}
            if rules & fuzz.errors_of(kernel.compile()):
                return
    raise AssertionError(f"no kernel of 40 hit {rules}")


def test_a_broken_law_is_noticed():
    """A program without a wait is not right under every order, and the runner says so."""
    seed = next(s for s in range(50) if generate.generate(s).loops[0].trips >= 5 and all(c.bwd for c in generate.generate(s).loops[0].channels))
    kernel = fuzz.load(made := generate.generate(seed))
    kernel.overrides = {"preload": 1, "check": "warn"}
    fuzz.make_all_the_same(kernel)
    assert kernel.compile().ok
    report = fuzz.Report()
    with pytest.raises((fuzz.Failure, HazardError)):
        fuzz.correct(kernel, made, made.reference() + 1, "values", report, order="program")


def test_explicit_flags_order_the_pipes_of_a_stage():
    text = generate.generate(3, flags=True).source
    assert "auto_mutex=False" in text and text.count("sync_src") == text.count("sync_dst") > 0


def test_no_option_makes_a_refused_program():
    """What K41 to K47 refuse is made for the suites only: no override, decorator option, magic or command line leads there."""
    number = next(n for n, (rules, _, _) in enumerate(toward.CHANGES) if rules == "K41")
    made = next(m for m in (toward.change(seed, number) for seed in range(40)) if m and "PTO-K41" in fuzz.errors_of(fuzz.load(m[1]).compile()))
    kernel = fuzz.load(made[1])
    with pytest.raises(TypeError, match="'unchecked' cannot be overridden; preload, target and check can"):
        kernel.compile(unchecked=True)
    kernel.overrides = {"unchecked": True}
    with pytest.raises(TypeError, match="unchecked"):
        kernel.compile()
    kernel.overrides = {"check": "warn"}
    assert not kernel.compile().ok
    assert "PTO-K41" in fuzz.errors_of(kernel.compile())
    native = _engine.compile(kernel.__xpto_function__, kernel.options, {"check": "warn", "unchecked": True})
    assert not native.ok
    fuzz.make_all_the_same(kernel)
    assert kernel.compile().ok


def test_rules_that_nothing_hit_are_printed(capsys):
    report = fuzz.Report()
    report.rules["PTO-K41"] = 3
    fuzz.show(report)
    line = next(t for t in capsys.readouterr().out.splitlines() if t.startswith("rules without a hit: "))
    rules = line.partition(": ")[2].split(", ")
    assert "K41" not in rules and len(rules) == len(set(rules)) == len(fuzz.every_rule()) - 1
    assert {"K0", "K47", "S1", "S8", "pipeline-gm-handover"} <= set(rules)
