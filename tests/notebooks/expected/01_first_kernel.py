"""The numbers that issue and notebook promise for the four-stage example."""
from __future__ import annotations

import re
from typing import Any


def sites(text: str) -> int:
    """Waits and sets inside the loop: the stage table of a plan."""
    table = text[text.index("\nstage "):text.index("\nprefire")]
    return len(re.findall(r"\b(?:wait|set) +[A-Z0-9]+ +\w+ +(?:ready|free)\b", table))


WORDS = {
    "en": {"panel": "PROVEN  relu_matmul  preload 2", "proven": "PROVEN  sync plan of relu_matmul", "shape": "preload 2: ring depth 4, drain beats 3",
           "faster": r"([\d.]+) times faster than preload 0", "predicted": "PREDICTED", "refused": "REFUSED", "slots": "`p` needs 3 slots"},
    "zh": {"panel": "已证明  relu_matmul  preload 2", "proven": "已证明 relu_matmul 的同步计划", "shape": "preload 2：环深 4，排空拍 3",
           "faster": r"相对 preload 0 提速 ([\d.]+) 倍", "predicted": "预测", "refused": "已拒绝", "slots": "`p` 需要 3 个槽位"},
}


def check(shown: Any, language: str) -> None:
    words = WORDS[language]
    panel = shown.cell("%%pto_kernel").text
    assert panel.startswith(words["panel"])
    assert re.search(r"\b12\b", panel) and "12 of 16" in panel.replace("12/16", "12 of 16")
    plan = shown.cell("%pto_sync").text
    assert plan.startswith(words["proven"]) and words["shape"] in plan and sites(plan) == 12
    assert re.search(r"^prefire .* 6 sets", plan, re.MULTILINE) and re.search(r"^drain .* 6 waits", plan, re.MULTILINE)
    assert shown.number("%%pto_kernel", words["faster"]) > 1

    assert shown.number("relu_matmul[None, 1]", r"largest error ([\d.e+-]+) of the largest value") <= 2e-6
    run = shown.cell("%pto_run").text
    assert "computed on simulator" in run and re.search(r"(\d+) of \1 further orders gave the same bits", run)
    assert words["predicted"] in shown.cell("%pto_profile").text

    refused = shown.cell("preload=3").text
    assert refused.startswith(words["refused"]) and "K41" in refused and words["slots"] in refused

    assert "output unchanged: True" in shown.cell("edited").text
