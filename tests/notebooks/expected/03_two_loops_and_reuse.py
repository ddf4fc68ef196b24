"""What the third notebook promises: two loops of different depth, proven and right; a buffer on another's bytes, with ids chosen for it."""
from __future__ import annotations

import re
from typing import Any


def check(shown: Any, language: str) -> None:
    panel = shown.cell("def twice").text
    assert panel.startswith("PROVEN  twice  preload 1,2")
    assert re.search(r"loop +ki.*ring depth 3 +drain beats 2", panel) and re.search(r"loop +kj.*ring depth 4 +drain beats 3", panel)
    run = shown.cell("twice[None, 1]").text
    assert "h is right: True" in run and "y is right: True" in run
    timeline = shown.cell('view("timeline")').text
    assert "PREDICTED  twice" in timeline and "1 block, 8 tasks" in timeline
    # The two loops are not taken for one: no stage waits in its core for longer than a few tasks take.
    stages = {m[1]: float(m[2]) for m in re.finditer(r"^(stage\d) .* ([\d,.]+) *$", timeline.replace(",", ""), re.MULTILINE)}
    assert len(stages) == 4 and max(stages.values()) < 5000, timeline

    reused = shown.cell("def reused").text
    assert reused.startswith("PROVEN  reused  preload 1")
    memory = shown.cell("%pto_memory").text
    assert "mm1" in memory and "same locks" in memory
    sync = shown.cell("%pto_sync").text
    assert "mm1 shares bytes with out: stage4 -> stage1" in sync and "chosen for you: 12,13" in sync
    assert "largest safe preload 1; at 2 " in sync
    refused = shown.cell("reused.compile(preload=2)").text
    assert "K46" in refused and "stage2" in refused and "stage3" in refused
