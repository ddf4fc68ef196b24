"""What the tuning notebook promises: each depth right or refused with its slots, a result that matches, a difference with its kind."""
from __future__ import annotations

import re
from typing import Any


def rows(text: str) -> list[list[str]]:
    """The table of a sweep: the lines behind its head that begin with a number."""
    lines = text[text.index("\npreload "):].splitlines()[2:]
    return [line.split() for line in lines if re.match(r"\d", line)]


def check(shown: Any, language: str) -> None:
    depths = shown.cell("%pto_tune relu_matmul(a, b, d, y) preload=0:4").text
    assert "RIGHT  relu_matmul: best preload" in depths and "3 of 5 settings run" in depths
    table = rows(depths)
    assert [r[0] for r in table] == ["0", "1", "2", "3", "4"]
    assert [("right" in r) for r in table] == [True, True, True, False, False]
    assert "K41: p needs 3 slots" in depths and "K41: p needs 4 slots" in depths

    both = shown.cell("preload=0:5 slots=p:2-4").text
    assert "12 of 18 settings run" in both and "compared bit for bit" in both
    right = [r for r in rows(both) if "right" in r]
    assert [(r[0], r[3], r[4], r[5]) for r in right] == [("0", "12", "6", "96"), ("1", "12", "6", "96"), ("2", "12", "6", "96"), ("3", "14", "7", "112"),
                                                          ("4", "16", "8", "128")]
    serial, best = float(right[0][6]), min(float(r[6]) for r in right)
    assert best < serial
    floor = re.search(r"^floor +([\d.]+) us", both, re.MULTILINE)
    assert floor is not None and float(floor[1]) < best

    assert "output untouched: True" in shown.cell("sweep = xpto.tune").text
    assert shown.number("sweep = xpto.tune", r"at ([\d.]+) us") == best

    match = shown.cell("%pto_check y reference").text
    assert match.startswith("MATCH  y (256x64 fp32)") and "K=64 twice, fp32 sums, relu between" in match
    assert shown.number("%pto_check y reference", r"worst ([\d.]+) sigma") < 6
    wrong = shown.cell("%pto_check overtaken").text
    assert wrong.startswith("DIFFERENT  overtaken") and "equals the right" in wrong and "4,094 of 16,384 above the limit" in wrong
    assert "PREDICTED  relu_matmul" in shown.cell("xpto.profile").text
